//! One column per run: name, machine, time to finish, grid, numbers by state.

use parkbench_engine::{Runtime, TaskState};
use parkbench_trace::STATES;
use parkbench_view::format;
use yew::prelude::*;

use super::dots::Dots;
use super::findings::Findings;
use super::{run_detail, run_name};
use crate::hooks::{use_app, use_snapshot};
use crate::i18n::{Locale, Strings, fill, state_under};
use crate::state::{Action, Axis, Figure, Finished, Pair, RunLabel};

/// The columns of all runs.
#[component]
pub(crate) fn Columns() -> Html {
    let app = use_app();
    let runs = app.state.runs_in_view().len();
    html! {
        <>
        <dl class="summary" aria-label={app.words().summary}>
            { for (0..runs).map(|run| html! {
                <div key={run}>
                    <dt>{run_name(&app, run)}</dt>
                    <dd>{ app.state.result.as_ref().and_then(|result| result.runs.get(run))
                        .map_or_else(|| "–".to_owned(), |run| time_text(app.words(), run)) }</dd>
                </div>
            }) }
        </dl>
        <div class={classes!("columns", format!("runs-{}", runs.min(6)))}>
            { for (0..runs).map(|run| html! { <Column key={run} {run} /> }) }
        </div>
        </>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct Props {
    run: usize,
}

#[component]
fn Column(props: &Props) -> Html {
    let app = use_app();
    let (words, locale) = (app.words(), app.locale());
    let snapshot = use_snapshot();
    let result = app.state.result.as_ref();
    let run = result.and_then(|result| result.runs.get(props.run));
    let scenario = app.state.scenario_in_view();
    let Some(label) = app.state.runs_in_view().into_iter().nth(props.run) else { return Html::default() };
    let RunLabel { spec, variant, measured } = &label;
    let name = run_name(&app, props.run);
    let heading = format!("run-{}", props.run);
    let counts = snapshot.counts.get(props.run).copied();
    let planned = || scenario.task_count_with_spawned().unwrap_or_else(|| scenario.task_count());
    let tasks = run.map_or_else(planned, |run| u64::from(run.metrics.tasks));
    let pictured = run.is_none_or(|run| run.has_picture());
    let done = counts.filter(|_| pictured).map(|counts| counts[TaskState::Done as usize]);
    let failed = run.is_some_and(|run| run.metrics.tasks_failed > 0);
    let makespan = run.map(|run| run.trace.end_ns());
    let finished = makespan.is_some_and(|makespan| snapshot.now >= makespan);
    let summary =
        counts.map_or_else(|| words.waiting_for_run.to_owned(), |counts| counts_text(locale, spec.runtime(), &counts));
    let show = {
        let (dispatch, run) = (app.dispatch.clone(), props.run);
        Callback::from(move |_| dispatch.emit(Action::View(Axis::Run(run))))
    };
    html! {
        <section class={classes!("column", finished.then_some("finished"), measured.as_ref().map(|_| "measured"))} aria-labelledby={heading.clone()}
            data-model={spec.model.as_str()} data-variant={variant.clone()}
            data-makespan-ns={makespan.map(|ns| ns.to_string())}
            data-origin={if measured.is_some() { "measured" } else { "simulated" }}
            data-digest={run.filter(|_| measured.is_none()).map(|run| run.metrics.digest.clone())}
            data-events={run.map(|run| run.metrics.events.to_string())}>
            <div class="column-head">
                <div class="head">
                <h3 id={heading}>{name.clone()}</h3>
                <p class="detail">{run_detail(words, &label, scenario)}</p>
                <button type="button" class="finish" disabled={makespan.is_none()} onclick={show}
                    title={if makespan.is_some() { fill(words.show_until_done, &[("model", &name)]) } else { words.not_yet.to_owned() }}>
                    <span class="finish-label">{
                        match (measured.is_some(), failed, finished) {
                            (false, true, _) => words.ended_at,
                            (false, false, true) => words.done_at,
                            (false, false, false) => words.done_in,
                            (true, true, _) => words.measured_ended_at,
                            (true, false, true) => words.measured_done_at,
                            (true, false, false) => words.measured_done_in,
                        }
                    }</span>
                    <span class="finish-time">{ makespan.map_or_else(|| "–".to_owned(), format::duration) }</span>
                </button>
                <p class="share">{
                    done.map(|done| {
                        let share = if tasks == 0 { 1.0 } else { f64::from(done) / tasks as f64 };
                        fill(words.still_running, &[("percent", &format::share(floor_share(share)))])
                    }).unwrap_or_default()
                }</p>
                if let Some(pair) = app.state.beside(props.run).and_then(|run| run.figures.get(&Figure::Makespan).copied()) {
                    <p class="beside" data-measured-ns={pair.measured.map(|ns| ns.to_string())}>
                        { for beside(words, pair).map(|part| html! { <><span>{part}</span>{" "}</> }) }
                    </p>
                }
                <Findings run={props.run} />
                </div>
            </div>
            if let Some(run) = run.filter(|run| !run.has_picture()) {
                <p class="no-picture" data-dropped={run.metrics.records_dropped.to_string()}>
                    { fill(words.no_picture, &[("n", &format::count(run.metrics.records_dropped))]) }
                </p>
            } else {
            <Dots run={props.run} summary={summary}
                name={fill(words.grid_label, &[("model", &name), ("variant", variant), ("n", &format::count(tasks))])} />
            <ul class="counts" aria-label={words.legend}>
                { for counts.iter().flat_map(listed).map(|(item, count)| html! {
                    <li>
                        <span class={classes!("swatch", item.as_str())} aria-hidden="true"></span>
                        <strong>{format::count(u64::from(count))}</strong>{" "}{state_under(locale, spec.runtime(), item)}
                    </li>
                }) }
                if counts.is_none() { <li class="hint">{words.waiting_for_run}</li> }
            </ul>
            }
        </section>
    }
}

/// What was measured beside the simulated time to the end.
fn beside(words: &Strings, pair: Pair) -> [String; 2] {
    let absent = || "–".to_owned();
    let measured = pair.measured.map_or_else(absent, |ns| format::duration(ns as u64));
    let error = pair.error_percent.map_or_else(absent, format::percent_signed);
    [fill(words.beside_measured, &[("measured", &measured)]), fill(words.beside_error, &[("error", &error)])]
}

/// The time to the end, and how many tasks failed on the way.
fn time_text(words: &Strings, run: &Finished) -> String {
    let time = format::duration(run.trace.end_ns());
    match run.metrics.tasks_failed {
        0 => time,
        failed => format!("{time}, {}", fill(words.failed_count, &[("n", &format::count(u64::from(failed)))])),
    }
}

/// 9,999 of 10,000 are not 100 %.
fn floor_share(share: f64) -> f64 {
    if share < 1.0 { share.min(0.999) } else { share }
}

/// The states that tasks are in, the loud ones first.
fn listed(counts: &[u32; STATES]) -> Vec<(TaskState, u32)> {
    const ORDER: [TaskState; STATES] = [
        TaskState::Running,
        TaskState::Blocked,
        TaskState::LockWait,
        TaskState::Preempted,
        TaskState::Waiting,
        TaskState::Queued,
        TaskState::Pending,
        TaskState::Done,
        TaskState::Failed,
    ];
    ORDER.into_iter().map(|state| (state, counts[state as usize])).filter(|(_, count)| *count > 0).collect()
}

fn counts_text(locale: Locale, runtime: Option<Runtime>, counts: &[u32; STATES]) -> String {
    let parts: Vec<String> = listed(counts)
        .into_iter()
        .map(|(item, count)| format!("{} {}", format::count(u64::from(count)), state_under(locale, runtime, item)))
        .collect();
    parts.join(", ")
}
