//! A measurement as a report in Markdown: tables that every viewer shows, and the charts where there are files of them.

use parkbench_view::format;

use super::chart::Chart;
use super::report::{Report, Run};
use super::stats::{Bootstrap, Spread};
use super::table::{self, spread};
use crate::figures::or_absent;
use crate::simulate;

/// A row of a table: its label, and its cell of each run.
type Row = (&'static str, fn(&Run) -> String);

/// The figures of the repetition with the median total.
const ROWS: [Row; 12] = [
    ("Total time", |run| format::duration(run.result.makespan_ns)),
    ("Throughput", |run| or_absent(run.result.throughput_per_s, format::rate)),
    ("Latency, mean", |run| format::duration(run.result.latency_ns.mean)),
    ("Latency, p50", |run| format::duration(run.result.latency_ns.p50)),
    ("Latency, p95", |run| format::duration(run.result.latency_ns.p95)),
    ("Latency, p99", |run| format::duration(run.result.latency_ns.p99)),
    ("Response time, p95", |run| format::duration(run.result.response_ns.p95)),
    ("Tasks in flight, peak", |run| or_absent(run.result.in_flight_peak, format::count)),
    ("Resident memory, peak", |run| or_absent(run.result.memory_bytes.resident, format::bytes)),
    ("OS context switches", |run| or_absent(run.result.os_switches, format::count)),
    ("CPU time", |run| or_absent(run.cpu_ns, format::duration)),
    ("Repetitions", |run| format::count(run.makespans_ns.len() as u64)),
];

/// Where tasks have failed, these too.
const OF_FAILURES: [Row; 2] = [
    ("Tasks finished", |run| format::count(run.result.tasks_done)),
    ("Tasks failed: refused, or to be started by one that was", |run| format::count(run.result.tasks_failed)),
];

/// The rows that this report needs.
fn rows(report: &Report) -> impl Iterator<Item = &'static Row> {
    let failed = report.runs.iter().any(|run| run.result.tasks_failed > 0);
    ROWS.iter().chain(OF_FAILURES.iter().filter(move |_| failed))
}

/// The report, with these charts beside it.
pub(crate) fn render(report: &Report, charts: &[Chart]) -> String {
    let mut parts = vec![format!("# {}", escape(&simulate::title(&report.scenario)))];
    if !report.warnings.is_empty() {
        let list =
            report.warnings.iter().map(|warning| format!("- **{}**: {}", warning.kind(), escape(&warning.message())));
        parts.push(format!("## Warnings\n\n{}", list.collect::<Vec<_>>().join("\n")));
    }
    parts.push(format!("## Runtimes\n\n{}", runtimes(report)));
    parts.push(format!(
        "## Figures\n\nOf the repetition with the median total time.\n\n{}",
        table(
            std::iter::once(String::new()).chain(report.runs.iter().map(|run| run.result.variant.clone())),
            rows(report).map(|(label, cell)| {
                std::iter::once((*label).to_owned()).chain(report.runs.iter().map(cell)).collect()
            })
        )
    ));
    parts.push(format!("## Statistics\n\n{}", statistics(report)));
    if !charts.is_empty() {
        let images = charts.iter().map(|chart| format!("![{}]({})", chart.title, chart.file));
        parts.push(format!("## Charts\n\n{}", images.collect::<Vec<_>>().join("\n\n")));
    }
    if !report.absent.is_empty() {
        let list = report.absent.iter().map(|absent| format!("- {}", escape(&absent.to_string())));
        parts.push(format!("## Not measured\n\n{}", list.collect::<Vec<_>>().join("\n")));
    }
    let unavailable = table::absent(report);
    if !unavailable.is_empty() {
        parts.push(format!("## Absent figures\n\n{}", unavailable.trim_end()));
    }
    let machine = table::machine(report).lines().fold(String::new(), |mut text, line| {
        // A line that is not indented begins a paragraph.
        text.push_str(if line.starts_with(' ') || text.is_empty() { " " } else { "\n\n" });
        text.push_str(line.trim());
        text
    });
    parts.push(format!("## Machine\n\n{}", escape(machine.trim())));
    parts.join("\n\n") + "\n"
}

fn runtimes(report: &Report) -> String {
    let header = ["", "runtime", "in place of", "runs to warm up"].map(str::to_owned);
    table(
        header.into_iter(),
        report.runs.iter().map(|run| {
            vec![run.result.variant.clone(), run.runtime.clone(), run.stands_for.join(", "), run.warm_ups.to_string()]
        }),
    )
}

fn statistics(report: &Report) -> String {
    let mut parts = vec![Bootstrap::HERE.sentence()];
    let header = ["", "mean", "95 % interval", "sd", "median", "95 % interval", "min", "max"].map(str::to_owned);
    for figure in &spread::FIGURES {
        let row = |run: &Run| {
            let cell = |show: &dyn Fn(&Spread) -> String| or_absent((figure.of)(&run.statistics), show);
            let interval = |interval| or_absent(interval, |interval| spread::between(figure, interval));
            vec![
                run.result.variant.clone(),
                cell(&|spread| (figure.show)(spread.mean)),
                cell(&|spread| interval(spread.mean_interval)),
                cell(&|spread| or_absent(spread.cv(), format::share)),
                cell(&|spread| (figure.show)(spread.median)),
                cell(&|spread| interval(spread.median_interval)),
                cell(&|spread| (figure.show)(spread.min)),
                cell(&|spread| (figure.show)(spread.max)),
            ]
        };
        parts.push(format!("### {}\n\n{}", figure.label, table(header.iter().cloned(), report.runs.iter().map(row))));
    }
    let header = ["", "mean of rates", "rate of means", "ratio", "1 + c²"].map(str::to_owned);
    let row = |run: &Run| {
        let both = &run.statistics.throughput;
        vec![
            run.result.variant.clone(),
            format::rate(both.mean_of_rates),
            format::rate(both.rate_of_means),
            format!("{:.4}", both.ratio),
            format!("{:.4}", both.one_plus_cv_squared),
        ]
    };
    let rates = table(header.into_iter(), report.runs.iter().map(row));
    parts.push(format!(
        "### Throughput in one number\n\nThe mean of rates is never below the rate of the means; to second order it is \
         1 + c² times as high, where c is the standard deviation of the total time by its mean.\n\n{rates}"
    ));
    let outliers = report.runs.iter().map(spread::outlier_list).filter(|text| !text.is_empty());
    let outliers: Vec<String> = outliers.map(|text| format!("- {text}")).collect();
    if !outliers.is_empty() {
        parts.push(format!("### Outliers\n\n{}", outliers.join("\n")));
    }
    parts.join("\n\n")
}

/// A table; the first column to the left, the others to the right.
fn table(header: impl Iterator<Item = String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let line =
        |cells: Vec<String>| format!("| {} |", cells.iter().map(|cell| escape(cell)).collect::<Vec<_>>().join(" | "));
    let header: Vec<String> = header.collect();
    let rule = (0..header.len()).map(|column| if column == 0 { "---" } else { "---:" }).collect::<Vec<_>>().join(" | ");
    let lines = [line(header), format!("| {rule} |")].into_iter().chain(rows.map(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Text as it is, whatever Markdown would make of it.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::chart;
    use crate::measure::table::tests::report;

    #[test]
    fn the_report_reads_well() {
        let report = report();
        insta::assert_snapshot!(render(&report, &chart::charts(&report)));
    }

    #[test]
    fn text_is_shown_as_it_is() {
        for (text, expect) in [("a_b", "a\\_b"), ("1 | 2", "1 \\| 2"), ("<b>", "\\<b\\>"), ("plain 5 %", "plain 5 %")] {
            assert_eq!(escape(text), expect);
        }
    }
}
