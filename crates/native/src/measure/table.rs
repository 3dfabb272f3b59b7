//! A measurement for people, and as CSV.

pub(crate) mod spread;

use parkbench_trace::RunResult;
use parkbench_view::format;

use super::report::{CounterFigures, JvmRun, Report, Run};
use super::stats::Spread;
use super::trace::TraceFigures;
use crate::figures::{self, WIDTH, or_absent};
use crate::text::wrap;
use crate::{flat, simulate};

/// The measurement as aligned columns, the machine, and what limits the figures.
pub(crate) fn render(report: &Report) -> String {
    let mut out = wrap(&simulate::title(&report.scenario), WIDTH, "", "");
    out.push('\n');
    let longest = report.runs.iter().map(|run| run.result.variant.len()).max().unwrap_or(0);
    let width = (longest + 2).max(16);
    for run in &report.runs {
        let place = match run.stands_for.as_slice() {
            [] => String::new(),
            variants => format!(", measured in place of {}", variants.join(", ")),
        };
        let line = run.runtime.clone() + &place;
        out.push_str(&wrap(&line, WIDTH, &format!("{:width$}", run.result.variant), &" ".repeat(width)));
    }
    out.push('\n');
    let results: Vec<&RunResult> = report.runs.iter().map(|run| &run.result).collect();
    out.push_str(&figures::render(&results, |grid, chunk| {
        let run = |&index: &usize| &report.runs[index];
        grid.row([""]);
        grid.figure("Repetitions", chunk, |index| format::count(run(index).makespans_ns.len() as u64));
        grid.figure("  shortest", chunk, |index| format::duration(run(index).makespan_range_ns().0));
        grid.figure("  longest", chunk, |index| format::duration(run(index).makespan_range_ns().1));
        grid.figure("CPU time of the median one", chunk, |index| or_absent(run(index).cpu_ns, format::duration));
        grid.figure("Its growth in resident memory", chunk, |index| {
            or_absent(run(index).resident_growth_bytes, format::bytes)
        });
        if report.runs.iter().any(|run| run.counters.is_some_and(|counters| counters.with_kernel.is_some())) {
            let counter = |index: &usize, of: fn(&CounterFigures) -> Option<u64>| {
                or_absent(run(index).counters.as_ref().and_then(of), format::count)
            };
            grid.figure("Instructions, of one more run", chunk, |index| counter(index, |of| of.instructions));
            grid.figure("  cycles", chunk, |index| counter(index, |of| of.cycles));
            grid.figure("  cache misses", chunk, |index| counter(index, |of| of.cache_misses));
        }
        if report.runs.iter().any(|run| run.trace.is_some()) {
            let trace =
                |index: &usize, show: &dyn Fn(&TraceFigures) -> String| or_absent(run(index).trace.as_ref(), show);
            grid.figure("Traced repetition", chunk, |index| {
                trace(index, &|traced| format::duration(traced.makespan_ns))
            });
            grid.figure("  against the median one", chunk, |index| {
                trace(index, &|traced| against(traced.makespan_ns, run(index).result.makespan_ns))
            });
            grid.figure("  times taken down", chunk, |index| trace(index, &|traced| format::count(traced.events)));
            grid.figure("  cost of each", chunk, |index| {
                trace(index, &|traced| format!("{} ns", traced.event_ps.div_ceil(1_000)))
            });
        }
        if report.runs.iter().any(|run| run.jvm.is_some()) {
            let jvm = |index: &usize, of: fn(&JvmRun) -> Option<u64>| run(index).jvm.as_ref().and_then(of);
            grid.figure("Java heap, peak", chunk, |index| {
                or_absent(jvm(index, |jvm| Some(jvm.readings.heap_peak_bytes)), format::bytes)
            });
            grid.figure("  time of its collector", chunk, |index| {
                or_absent(jvm(index, |jvm| Some(jvm.readings.gc_ns)), format::duration)
            });
            grid.figure("Virtual threads pinned", chunk, |index| {
                or_absent(jvm(index, |jvm| jvm.pinned), format::count)
            });
        }
    }));
    for run in &results {
        out.push_str(&figures::failures(run));
    }
    out.push_str("\nThe figures above are those of the repetition with the median total time.\n\n");
    out.push_str(&spread::render(report));
    out.push_str(&machine(report));
    out.push_str(&absent(report));
    for absent in &report.absent {
        out.push_str(&wrap(&absent.to_string(), WIDTH, "- ", "  "));
    }
    if !report.warnings.is_empty() {
        out.push('\n');
    }
    for warning in &report.warnings {
        out.push_str(&wrap(&warning.message(), WIDTH, "! ", "  "));
    }
    out
}

/// How much longer or shorter it is.
fn against(ns: u64, median_ns: u64) -> String {
    format::percent_signed((ns as f64 / median_ns.max(1) as f64 - 1.0) * 100.0)
}

/// Where it was measured.
pub(crate) fn machine(report: &Report) -> String {
    let here = &report.environment;
    let mut parts = vec![here.platform.clone()];
    parts.extend(here.kernel.as_ref().map(|kernel| format!("kernel {kernel}")));
    parts.extend(here.cores.map(|cores| format!("{cores} cores")));
    parts.extend(here.cpu.clone());
    parts.extend(here.java.as_ref().map(|java| format!("Java {java}")));
    parts.extend(here.memory_bytes.map(format::bytes));
    parts.push(format!("parkbench {} ({} build)", here.parkbench, here.build));
    let after = here.cpu_iteration_after_ps.map_or_else(String::new, |ps| format!(" before and {ps} ps after"));
    parts.push(format!("CPU loop {} ps per iteration{after}", here.cpu_iteration_ps));
    if let Some(pinned) = &here.pinned {
        parts.push(format!("pinned to cores {pinned}"));
    }
    parts.extend(here.governor.as_ref().map(|governor| format!("governor {governor}")));
    parts.extend(here.load.map(|load| format!("load {load:.2} before")));
    let mut out = wrap(&format!("Machine: {}", parts.join(", ")), WIDTH, "", "  ");
    let harness = &here.harness;
    let share = |run: &Run| format!("{} {}", run.result.variant, percent(run.harness_share));
    let shares: Vec<String> = report.runs.iter().map(share).collect();
    let of_totals = if shares.is_empty() { String::new() } else { format!(": at most {}", shares.join(", ")) };
    let text = format!(
        "Measuring: the clock counts in steps of {} ns, a reading takes {:.0} ns, noting the times of a task {:.0} \
         ns{of_totals} of the total",
        harness.clock_resolution_ns, harness.clock_read_ns, harness.task_ns
    );
    out.push_str(&wrap(&text, WIDTH, "", "  "));
    out
}

/// `0.12 %`; a little of something is never `0`.
fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.000_05 { "<0.01 %".to_owned() } else { format!("{:.2} %", share * 100.0) }
}

/// Why figures are absent that this machine could have given.
pub(crate) fn absent(report: &Report) -> String {
    let mut reasons: Vec<String> = Vec::new();
    for run in &report.runs {
        for (field, reason) in &run.result.unavailable {
            // All of them for one reason.
            let field = if field.starts_with("counters.") { "counters" } else { field };
            let line = format!("{field} unavailable: {reason}");
            // Figures that no measurement has are not shown, and need no explanation.
            let shown = !reason.contains("measurement") && !["jvm.pinned", "statistics.sd"].contains(&field);
            if shown && !reasons.contains(&line) {
                reasons.push(line);
            }
        }
    }
    reasons.iter().map(|reason| wrap(reason, WIDTH, "- ", "  ")).collect()
}

/// One row per runtime; the common columns, then those of measurements.
pub(crate) fn csv(report: &Report) -> anyhow::Result<String> {
    flat::write(report.runs.iter().map(|run| {
        let mut columns = flat::columns(&report.scenario, &run.result);
        let mut add = |name: &str, value: String| columns.push((name.to_owned(), value));
        let optional = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let (shortest, longest) = run.makespan_range_ns();
        add("runtime", run.runtime.clone());
        add("stands_for", run.stands_for.join(" "));
        add("warm_ups", run.warm_ups.to_string());
        add("harness_share", run.harness_share.to_string());
        add("repetitions", run.makespans_ns.len().to_string());
        add("makespan_shortest_ns", shortest.to_string());
        add("makespan_longest_ns", longest.to_string());
        add("resident_growth_bytes", optional(run.resident_growth_bytes));
        add("cpu_ns", optional(run.cpu_ns));
        let counter = |of: fn(&CounterFigures) -> Option<u64>| optional(run.counters.as_ref().and_then(of));
        add("counter_instructions", counter(|counters| counters.instructions));
        add("counter_cycles", counter(|counters| counters.cycles));
        add("counter_cache_misses", counter(|counters| counters.cache_misses));
        let jvm = |of: fn(&JvmRun) -> Option<u64>| optional(run.jvm.as_ref().and_then(of));
        for figure in &spread::FIGURES {
            statistics(&mut add, figure, (figure.of)(&run.statistics));
        }
        add("stat_throughput_rate_of_means_per_s", run.statistics.throughput.rate_of_means.to_string());
        add("jvm_heap_peak_bytes", jvm(|jvm| Some(jvm.readings.heap_peak_bytes)));
        add("jvm_gc_ns", jvm(|jvm| Some(jvm.readings.gc_ns)));
        add("jvm_pinned", jvm(|jvm| jvm.pinned));
        columns
    }))
}

/// The columns of one figure of the statistics.
fn statistics(add: &mut impl FnMut(&str, String), figure: &spread::Figure, spread: Option<&Spread>) {
    let (name, unit) = (figure.name, figure.unit);
    let mut number = |part: &str, value: Option<f64>| {
        add(&format!("stat_{name}_{part}_{unit}"), value.map(|value| value.to_string()).unwrap_or_default());
    };
    number("mean", spread.map(|spread| spread.mean));
    number("mean_low", spread.and_then(|spread| spread.mean_interval).map(|interval| interval.low));
    number("mean_high", spread.and_then(|spread| spread.mean_interval).map(|interval| interval.high));
    number("median", spread.map(|spread| spread.median));
    number("median_low", spread.and_then(|spread| spread.median_interval).map(|interval| interval.low));
    number("median_high", spread.and_then(|spread| spread.median_interval).map(|interval| interval.high));
    number("sd", spread.and_then(|spread| spread.sd));
    let outliers = spread.map_or(&[][..], |spread| spread.outliers.as_slice());
    let numbers: Vec<_> = outliers.iter().map(|outlier| outlier.repetition.to_string()).collect();
    add(&format!("stat_{name}_outliers"), numbers.join(" "));
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use parkbench_engine::preset;
    use parkbench_trace::Summary;

    use super::*;
    use crate::measure::child::Repetition;
    use crate::measure::environment::{Environment, SystemLimits};
    use crate::measure::histogram::Histograms;
    use crate::measure::overhead::Harness;
    use crate::measure::probe::Readings;
    use crate::measure::repeat::Finished;
    use crate::measure::select::{Wanted, plan};
    use crate::measure::warning::Warning;

    pub(crate) fn report() -> Report {
        let mut scenario = preset("pinning").unwrap();
        scenario.runs.extend(preset("high-concurrency").unwrap().runs);
        let environment = Environment {
            parkbench: "0.1.0".to_owned(),
            build: "release",
            cores: Some(8),
            pinned: Some("0-3".to_owned()),
            governor: Some("performance".to_owned()),
            load: Some(0.25),
            cpu: None,
            java: None,
            memory_bytes: Some(16_000_000_000),
            platform: "linux x86_64".to_owned(),
            kernel: Some("6.18.0".to_owned()),
            cpu_iteration_ps: 300,
            cpu_iteration_after_ps: Some(301),
            harness: Harness { clock_resolution_ns: 10, clock_read_ns: 25.0, task_ns: 90.0 },
            limits: SystemLimits::default(),
            unavailable: BTreeMap::new(),
        };
        let repetition = |makespan_ns: u64| Repetition {
            makespan_ns,
            tasks_done: 10_000,
            tasks_rejected: 0,
            tasks_orphaned: 0,
            latency_ns: Summary::of(vec![makespan_ns / 2, makespan_ns / 3]),
            response_ns: Summary::of(vec![makespan_ns, makespan_ns / 2]),
            histograms: Histograms::default(),
            in_flight_peak: 10_000,
            readings: Readings {
                resident: Ok(18_000_000),
                resident_growth: Ok(9_000_000),
                reserved: Ok(900_000_000),
                voluntary_switches: Err("getrusage: not here".to_owned()),
                involuntary_switches: Err("getrusage: not here".to_owned()),
                cpu_ns: Ok(12_000_000),
            },
            jvm: None,
            counters: None,
        };
        let repetitions: [Vec<u64>; 4] = [
            vec![
                2_300_000_000,
                2_200_000_000,
                2_250_000_000,
                2_260_000_000,
                2_240_000_000,
                3_500_000_000,
                2_245_000_000,
            ],
            vec![1_013_000_000],
            vec![],
            vec![7_600_000],
        ];
        let finished = |times: Vec<u64>| Finished {
            repetitions: times.into_iter().map(repetition).collect(),
            ..Finished::default()
        };
        let (planned, absent) = plan(&scenario, &[Wanted::Rust], Err("none")).unwrap();
        let results: Vec<_> = planned.into_iter().zip(repetitions.map(finished)).collect();
        let warnings =
            vec![Warning::OtherCores { scenario: 8, here: 2 }, Warning::Interrupted { finished: 9, planned: 28 }];
        Report::new(&scenario, environment, warnings, absent, &results)
    }

    #[test]
    fn the_table_reads_well() {
        insta::assert_snapshot!(render(&report()));
    }

    #[test]
    fn rows_of_csv_are_complete() {
        insta::assert_snapshot!(csv(&report()).unwrap());
    }
}
