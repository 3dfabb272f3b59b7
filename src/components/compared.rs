//! A comparison from a file: every figure of every runtime simulated and measured, the error, and what explains it.

use parkbench_view::format;
use yew::prelude::*;

use crate::hooks::use_app;
use crate::i18n::{Strings, fill};
use crate::state::{ComparedRun, ComparedSet, Figure, Pair};

const FIGURES: [Figure; 6] =
    [Figure::Makespan, Figure::Throughput, Figure::LatencyMean, Figure::LatencyP95, Figure::Resident, Figure::Switches];

/// See the module; nothing without a comparison.
#[component]
pub(super) fn ComparedFigures() -> Html {
    let app = use_app();
    let words = app.words();
    let Some(set) = app.state.compared.set() else { return Html::default() };
    let here = |run: usize| {
        let result = app.state.result.as_ref().filter(|_| app.state.beside(run).is_some())?;
        Some(result.runs.get(run)?.trace.end_ns())
    };
    html! {
        <section class="compared" aria-labelledby="compared-title">
            <h3 id="compared-title">{words.compared_title}</h3>
            <p class="note">{source(words, set)}</p>
            <div class="scroll" tabindex="0" role="group" aria-labelledby="compared-title">
                <table class="figures">
                    <thead><tr>
                        <th scope="col">{words.col_runtime}</th>
                        <th scope="col" class="text">{words.m_origin}</th>
                        { for FIGURES.map(|figure| html! { <th scope="col">{name(words, figure)}</th> }) }
                    </tr></thead>
                    { for set.runs.iter().map(|run| rows(words, run)) }
                </table>
            </div>
            { for set.runs.iter().enumerate().filter_map(|(index, run)| {
                let file = pair(run, Figure::Makespan).simulated?;
                let other = here(index).filter(|&here| (here as f64 - file).abs() >= 1.0)?;
                let (here, file) = (format::duration(other), format::duration(file as u64));
                let text = fill(words.compared_engine, &[("variant", &run.variant), ("here", &here), ("file", &file)]);
                Some(html! { <p class="message">{text}</p> })
            }) }
            { notes(set) }
        </section>
    }
}

/// Where each half of the figures is from.
fn source(words: &Strings, set: &ComparedSet) -> String {
    let place = &set.place;
    let values = [
        ("place", place.text()),
        ("version", place.parkbench.clone()),
        ("build", place.build.clone()),
        ("profile", set.profile.name.clone()),
    ];
    fill(words.compared_source, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
}

fn rows(words: &Strings, run: &ComparedRun) -> Html {
    let shortest = run.makespans_ns.iter().min().copied().unwrap_or(0);
    let longest = run.makespans_ns.iter().max().copied().unwrap_or(0);
    let spread = fill(
        words.compared_spread,
        &[
            ("n", &run.makespans_ns.len().to_string()),
            ("shortest", &format::duration(shortest)),
            ("longest", &format::duration(longest)),
        ],
    );
    let row = |value: &dyn Fn(Figure, Pair) -> String| {
        html! { { for FIGURES.map(|figure| html! { <td>{value(figure, pair(run, figure))}</td> }) } }
    };
    html! {
        <tbody data-compared={run.variant.clone()}>
            <tr>
                <th scope="rowgroup" rowspan="3">
                    <strong>{&run.variant}</strong>
                    <span class="detail" lang="en">{&run.runtime}</span>
                    <span class="detail">{spread}</span>
                </th>
                <th scope="row" class="text">{words.simulated}</th>
                { row(&|figure, pair| shown(figure, pair.simulated)) }
            </tr>
            <tr>
                <th scope="row" class="text">{words.measured}</th>
                { row(&|figure, pair| shown(figure, pair.measured)) }
            </tr>
            <tr class="error">
                <th scope="row" class="text">{words.col_error}</th>
                { row(&|_, pair| pair.error_percent.map_or_else(absent, format::percent_signed)) }
            </tr>
        </tbody>
    }
}

/// What the binary has to say about it, in its own words.
fn notes(set: &ComparedSet) -> Html {
    let findings = set.runs.iter().flat_map(|run| &run.findings).map(|off| off.message.clone());
    let missing = set.absent.iter().map(|absent| format!("{}: {}", absent.variant, absent.reason));
    let all: Vec<String> = findings.chain(missing).chain(set.warnings.iter().cloned()).collect();
    if all.is_empty() {
        return Html::default();
    }
    html! { <ul class="remarks" lang="en">{ for all.into_iter().map(|text| html! { <li>{text}</li> }) }</ul> }
}

fn pair(run: &ComparedRun, figure: Figure) -> Pair {
    run.figures.get(&figure).copied().unwrap_or(Pair { simulated: None, measured: None, error_percent: None })
}

const fn name(words: &Strings, figure: Figure) -> &'static str {
    match figure {
        Figure::Makespan => words.m_makespan,
        Figure::Throughput => words.m_throughput,
        Figure::LatencyMean => words.m_latency_mean,
        Figure::LatencyP95 => words.m_latency_p95,
        Figure::Resident => words.m_resident,
        Figure::Switches => words.m_switches,
    }
}

fn shown(figure: Figure, value: Option<f64>) -> String {
    let Some(value) = value else { return absent() };
    match figure {
        Figure::Makespan | Figure::LatencyMean | Figure::LatencyP95 => format::duration(value as u64),
        Figure::Throughput => format::rate(value),
        Figure::Resident => format::bytes(value as u64),
        Figure::Switches => format::count(value as u64),
    }
}

fn absent() -> String {
    "–".to_owned()
}
