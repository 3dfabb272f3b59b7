//! Published figures beside simulated ones, with residuals; a cell that contradicts itself is marked and explained.

use parkbench_engine::Metric;
use parkbench_trace::Comparison;
use parkbench_view::format;
use yew::prelude::*;

use super::run_name;
use crate::hooks::use_app;
use crate::i18n::{fill, metric};

/// See the module.
#[component]
pub(super) fn References() -> Html {
    let app = use_app();
    let (words, locale) = (app.words(), app.locale());
    let Some(result) = &app.state.result else { return Html::default() };
    let rows: Vec<(String, &Comparison)> = result
        .runs
        .iter()
        .enumerate()
        .flat_map(|(index, run)| {
            let name = run_name(&app, index);
            run.comparisons.iter().map(move |comparison| (name.clone(), comparison))
        })
        .collect();
    // The same explanation is given once, and its cells refer to it.
    let mut notes: Vec<&str> = Vec::new();
    for (_, comparison) in &rows {
        if let Some(why) = &comparison.contradiction
            && !notes.contains(&why.as_str())
        {
            notes.push(why);
        }
    }
    if rows.is_empty() {
        return html! { <><h3>{words.seed_table}</h3><p class="hint">{words.seed_none}</p></> };
    }
    html! {
        <>
            <h3 id="seed-title">{words.seed_table}</h3>
            <div class="scroll" tabindex="0" role="group" aria-labelledby="seed-title">
                <table class="figures seeds">
                    <thead><tr>
                        <th scope="col">{words.col_metric}</th><th scope="col" class="text">{words.col_model}</th>
                        <th scope="col">{words.col_seed}</th><th scope="col">{words.col_simulated}</th>
                        <th scope="col">{words.col_residual}</th>
                    </tr></thead>
                    <tbody>
                        { for rows.iter().map(|(name, comparison)| {
                            let note = comparison.contradiction.as_deref()
                                .and_then(|why| notes.iter().position(|known| *known == why));
                            let consistent = comparison.consistent_value.map(|value| fill(words.consistent, &[
                                ("value", &figure(comparison.metric, value)),
                                ("residual", &residual(comparison.residual_to_consistent_percent)),
                            ]));
                            html! {
                                <tr class={classes!(note.is_some().then_some("contradicts"))}>
                                    <th scope="row">{metric(locale, comparison.metric)}</th>
                                    <td class="text">{name}</td>
                                    <td>
                                        {&comparison.printed}
                                        if let Some(note) = note {
                                            {" "}<a href={format!("#note-{}", note + 1)} class="flag" onclick={jump(note)}
                                                aria-label={format!("{}: {}", fill(words.contradiction_note, &[("n", &(note + 1).to_string())]), words.contradicts)}>
                                                { fill(words.contradiction_note, &[("n", &(note + 1).to_string())]) }
                                            </a>
                                        }
                                    </td>
                                    <td>{ comparison.simulated.map_or_else(|| "–".to_owned(), |value| figure(comparison.metric, value)) }</td>
                                    <td>
                                        {residual(comparison.residual_percent)}
                                        if let Some(consistent) = consistent { <span class="detail">{consistent}</span> }
                                    </td>
                                </tr>
                            }
                        }) }
                    </tbody>
                </table>
            </div>
            if !notes.is_empty() {
                <div class="contradictions">
                    <h4>{words.contradicts}</h4>
                    <ol>
                        { for notes.iter().enumerate().map(|(index, why)| html! {
                            <li id={format!("note-{}", index + 1)} tabindex="-1" lang="en">{*why}</li>
                        }) }
                    </ol>
                </div>
            }
        </>
    }
}

/// A figure in the unit of its metric, as [`parkbench_engine::Reference::value`] has it.
fn figure(metric: Metric, value: u64) -> String {
    match metric {
        Metric::Makespan => format::duration(value),
        Metric::Throughput => format::rate(value as f64 / 1_000.0),
        Metric::Resident => format::bytes(value),
        Metric::SwitchesPerSecond => format::rate(value as f64),
        Metric::InFlight => format::count(value),
    }
}

fn residual(percent: Option<f64>) -> String {
    percent.map_or_else(|| "–".to_owned(), format::percent_signed)
}

/// Puts the focus on an explanation without touching the address.
fn jump(note: usize) -> Callback<MouseEvent> {
    Callback::from(move |event: MouseEvent| {
        event.prevent_default();
        crate::platform::focus(&format!("note-{}", note + 1));
    })
}
