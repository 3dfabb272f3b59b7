//! The figures: metric by run, each with its unit; published figures beside them; charts.

use parkbench_trace::{AboutRun, Metrics, RunResult, Summary};
use parkbench_view::format;
use yew::prelude::*;

use super::charts::Charts;
use super::compared::ComparedFigures;
use super::references::References;
use super::run_name;
use crate::hooks::use_app;
use crate::i18n::{Strings, fill};
use crate::state::Finished;

/// A row: the metric and the figure of a run.
type Row = (&'static str, Box<dyn Fn(&Finished) -> String>);

/// See the module.
#[component]
pub(crate) fn Results() -> Html {
    let app = use_app();
    let words = app.words();
    let Some(result) = &app.state.result else {
        return html! {
            <section class="results" aria-labelledby="results-title">
                <h2 id="results-title">{words.results}</h2>
                <p class="hint">{words.no_result}</p>
            </section>
        };
    };
    let scenario = &result.scenario;
    let mixed = result.runs.iter().any(|run| run.label.measured.is_some());
    let (title, note) =
        if mixed { (words.results_mixed, words.results_mixed_note) } else { (words.results, words.results_note) };
    let note = fill(note, &[("profile", &scenario.profile), ("seed", &scenario.seed.to_string())]);
    html! {
        <section class="results" aria-labelledby="results-title" data-sim-ms={(result.wall_us as f64 / 1_000.0).to_string()}>
            <h2 id="results-title">{title}</h2>
            <p class="note">{note}</p>
            <div class={classes!("results-body", (result.runs.len() > 3).then_some("many"))}>
            <div class="scroll" tabindex="0" role="group" aria-labelledby="results-title">
                <table class="figures">
                    <thead><tr>
                        <th scope="col">{words.col_metric}</th>
                        { for (0..result.runs.len()).map(|run| html! {
                            <th scope="col">{run_name(&app, run)}</th>
                        }) }
                    </tr></thead>
                    <tbody>
                        { for rows(words, scenario.machine.cores).into_iter().map(|(name, figure)| html! {
                            <tr><th scope="row">{name}</th>{ for result.runs.iter().map(|run| html! { <td>{figure(run)}</td> }) }</tr>
                        }) }
                        <tr>
                            <th scope="row">{words.m_digest}</th>
                            { for result.runs.iter().map(|run| html! { <td>{
                                if run.label.measured.is_some() { html! { "–" } } else { html! { <code>{&run.metrics.digest}</code> } }
                            }</td> }) }
                        </tr>
                    </tbody>
                </table>
            </div>
            <Charts />
            </div>
            { for result.runs.iter().filter_map(|run| Some(cost(words, &run.label.variant, run.label.measured.as_ref()?))) }
            <ComparedFigures />
            <References />
        </section>
    }
}

fn rows(words: &'static Strings, cores: u32) -> Vec<Row> {
    fn time(name: &'static str, of: impl Fn(&Metrics) -> u64 + 'static) -> Row {
        (name, Box::new(move |run: &Finished| format::duration(of(&run.metrics))))
    }
    fn count(name: &'static str, of: impl Fn(&Metrics) -> u64 + 'static) -> Row {
        (name, Box::new(move |run: &Finished| format::count(of(&run.metrics))))
    }
    fn tail(names: [&'static str; 5], of: fn(&Metrics) -> &Summary) -> [Row; 5] {
        let [mean, p50, p95, p99, max] = names;
        [
            time(mean, move |metrics| of(metrics).mean),
            time(p50, move |metrics| of(metrics).p50),
            time(p95, move |metrics| of(metrics).p95),
            time(p99, move |metrics| of(metrics).p99),
            time(max, move |metrics| of(metrics).max),
        ]
    }
    /// A figure that a measurement may not have: [`None`] where that is so.
    fn known(name: &'static str, of: impl Fn(&Finished) -> Option<String> + 'static) -> Row {
        (name, Box::new(move |run: &Finished| of(run).unwrap_or_else(|| "–".to_owned())))
    }
    /// As it was read in a measurement, as it follows from the records in a simulation.
    fn either<T: 'static>(
        read: fn(&RunResult) -> Option<T>,
        simulated: fn(&Metrics) -> T,
        show: fn(T) -> String,
    ) -> impl Fn(&Finished) -> Option<String> {
        move |run| match &run.label.measured {
            Some(measured) => read(&measured.result).map(show),
            None => Some(show(simulated(&run.metrics))),
        }
    }
    let mut rows = vec![
        known(words.m_origin, |run| {
            Some(if run.label.measured.is_some() { words.measured } else { words.simulated }.to_owned())
        }),
        time(words.m_makespan, |metrics| metrics.makespan_ns),
        (words.m_throughput, Box::new(|run: &Finished| format::rate(run.metrics.throughput_per_s)) as Box<_>),
    ];
    rows.extend(tail(
        [words.m_latency_mean, words.m_latency_p50, words.m_latency_p95, words.m_latency_p99, words.m_latency_max],
        |metrics| &metrics.latency_ns,
    ));
    rows.extend(tail(
        [words.m_response_mean, words.m_response_p50, words.m_response_p95, words.m_response_p99, words.m_response_max],
        |metrics| &metrics.response_ns,
    ));
    rows.push(known(words.m_queue_mean, either(|_| None, |metrics| metrics.queue_ns.mean, format::duration)));
    let tasks = words.unit_tasks;
    rows.push((
        words.m_in_flight,
        Box::new(move |run: &Finished| format!("{} {tasks}", format::count(u64::from(run.metrics.in_flight_peak)))),
    ));
    rows.push(known(
        words.m_resident,
        either(|read| read.memory_bytes.resident, |metrics| metrics.memory_bytes.resident, format::bytes),
    ));
    rows.push(known(
        words.m_reserved,
        either(|read| read.memory_bytes.reserved, |metrics| metrics.memory_bytes.reserved, format::bytes),
    ));
    rows.push(known(words.m_switches, either(|read| read.os_switches, |metrics| metrics.os_switches, format::count)));
    rows.push(known(
        words.m_switch_rate,
        either(|read| read.switches_per_second, |metrics| metrics.switches_per_second, format::rate),
    ));
    // What a core does is seen in a simulation only.
    rows.push(known(words.m_busy, move |run| {
        let share = if run.label.measured.is_some() { None } else { run.metrics.core_busy_share(cores) };
        share.map(format::share)
    }));
    rows.push(count(words.m_failed, |metrics| u64::from(metrics.tasks_failed)));
    rows.push(known(words.m_events, either(|read| read.events, |metrics| metrics.events, format::count)));
    rows
}

/// What it has cost to trace a measured run.
fn cost(words: &Strings, variant: &str, measured: &AboutRun) -> Html {
    let cost = measured.cost;
    let text = fill(
        words.measured_cost,
        &[
            ("variant", variant),
            ("traced", &format::duration(measured.result.makespan_ns)),
            ("untraced", &format::duration(cost.untraced_makespan_ns)),
            ("n", &format::count(cost.events)),
            ("each", &format::duration(cost.event_ps.div_ceil(1_000))),
        ],
    );
    html! { <p class="hint">{text}</p> }
}
