//! Throughput and response time of every run as charts.

use parkbench_engine::Metric;
use parkbench_view::charts::{Bar, Beside, LatencyRow};
use parkbench_view::format;
use web_sys::HtmlCanvasElement;
use yew::prelude::*;

use super::run_name;
use crate::charts::Chart;
use crate::hooks::{use_app, use_width};
use crate::i18n::fill;
use crate::state::Figure;

/// See the module.
#[component]
pub(super) fn Charts() -> Html {
    let app = use_app();
    let words = app.words();
    let Some(result) = &app.state.result else { return Html::default() };
    let named = || result.runs.iter().enumerate().map(|(index, run)| (index, run_name(&app, index), run));
    let bars: Vec<Bar> = named()
        .map(|(index, label, run)| {
            let published = run.comparisons.iter().find(|comparison| comparison.metric == Metric::Throughput);
            let published = published.map(|comparison| (words.mark_seed, comparison.reference as f64 / 1_000.0));
            let measured = app.state.beside(index).and_then(|run| run.figures.get(&Figure::Throughput)?.measured);
            let beside = measured.map(|value| (words.mark_measured, value)).or(published);
            Bar {
                label,
                simulated: run.metrics.throughput_per_s,
                reference: beside.map(|(word, value)| Beside { word: word.to_owned(), value }),
            }
        })
        .collect();
    let rows: Vec<LatencyRow> = named()
        .map(|(_, label, run)| {
            let summary = &run.metrics.response_ns;
            LatencyRow { label, p50: summary.p50, p95: summary.p95, p99: summary.p99 }
        })
        .collect();
    let throughput: Vec<String> = bars
        .iter()
        .map(|bar| [format!("{} {}", bar.label, format::rate(bar.simulated)), beside(bar)].concat())
        .collect();
    let latency: Vec<String> = rows
        .iter()
        .map(|row| {
            let [p50, p95, p99] = [row.p50, row.p95, row.p99].map(format::duration);
            format!("{} {p50}, {p95}, {p99}", row.label)
        })
        .collect();
    html! {
        <div class="charts">
            <figure>
                <figcaption><h3>{words.chart_throughput}</h3></figcaption>
                <ChartCanvas chart={Chart::Throughput(bars)}
                    label={fill(words.chart_throughput_label, &[("what", &throughput.join("; "))])} />
            </figure>
            <figure>
                <figcaption><h3>{words.chart_latency}</h3></figcaption>
                <ChartCanvas chart={Chart::Latency(rows)}
                    label={fill(words.chart_latency_label, &[("what", &latency.join("; "))])} />
            </figure>
        </div>
    }
}

/// The figure to compare with, in words.
fn beside(bar: &Bar) -> String {
    bar.reference
        .as_ref()
        .map_or_else(String::new, |beside| format!(", {} {}", beside.word, format::rate(beside.value)))
}

#[derive(Clone, PartialEq, Properties)]
struct Props {
    chart: Chart,
    label: AttrValue,
}

#[component]
fn ChartCanvas(props: &Props) -> Html {
    let app = use_app();
    let (host, canvas) = (use_node_ref(), use_node_ref());
    let (width, ratio) = use_width(&host);
    use_effect_with((props.chart.clone(), width, ratio.to_bits(), app.dark), {
        let (canvas, theme) = (canvas.clone(), app.theme());
        move |(chart, width, ratio, _): &(Chart, u32, u64, bool)| {
            if let Some(canvas) = canvas.cast::<HtmlCanvasElement>()
                && *width > 0
            {
                chart.draw(&canvas, *width, f64::from_bits(*ratio), theme);
            }
        }
    });
    html! {
        <div class="chart" ref={host}><canvas ref={canvas} role="img" aria-label={props.label.clone()}></canvas></div>
    }
}
