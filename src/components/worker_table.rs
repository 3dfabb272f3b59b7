//! The time of every thread as a table, folded until it is asked for.

use parkbench_view::format;
use yew::prelude::*;

use crate::hooks::use_app;

/// Rows shown at most; a pool may have thousands of threads.
const MOST: usize = 100;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct Props {
    /// Index of the run.
    pub run: usize,
}

/// See the module.
#[component]
pub(super) fn WorkerTable(props: &Props) -> Html {
    let app = use_app();
    let words = app.words();
    let open = use_state_eq(|| false);
    let toggle = {
        let open = open.clone();
        Callback::from(move |event: Event| {
            if let Some(details) = event.target_dyn_into::<web_sys::HtmlDetailsElement>() {
                open.set(details.open());
            }
        })
    };
    let Some(run) = app.state.result.as_ref().and_then(|result| result.runs.get(props.run)) else {
        return html! { <details class="worker-table"><summary>{words.worker_table}</summary></details> };
    };
    // A task does not see these from inside.
    let measured = run.label.measured.is_some();
    let unless_measured = |ns: u64| if measured { "–".to_owned() } else { format::duration(ns) };
    html! {
        <details class="worker-table" ontoggle={toggle}>
            <summary>{words.worker_table}</summary>
            if *open {
                <div class="scroll" tabindex="0" role="group" aria-label={words.worker_table}>
                    <table>
                        <thead><tr>
                            <th scope="col">{words.col_worker}</th><th scope="col">{words.col_busy}</th>
                            <th scope="col">{words.col_blocked}</th><th scope="col">{words.col_overhead}</th>
                            <th scope="col">{words.col_preempted}</th><th scope="col">{words.col_idle}</th>
                        </tr></thead>
                        <tbody>
                            { for run.metrics.workers.iter().take(MOST).map(|worker| html! {
                                <tr>
                                    <th scope="row" translate="no">{&worker.name}</th>
                                    <td>{format::duration(worker.busy_ns)}</td>
                                    <td>{format::duration(worker.blocked_ns)}</td>
                                    <td>{unless_measured(worker.overhead_ns)}</td>
                                    <td>{unless_measured(worker.preempted_ns)}</td>
                                    <td>{format::duration(worker.idle_ns)}</td>
                                </tr>
                            }) }
                        </tbody>
                    </table>
                    if run.metrics.workers.len() > MOST {
                        <p class="hint">{ crate::i18n::fill(words.table_of, &[
                            ("shown", &MOST.to_string()), ("total", &run.metrics.workers.len().to_string()),
                        ]) }</p>
                    }
                </div>
            }
        </details>
    }
}
