//! The figures of several runs side by side, simulated or measured: one column per run, one row per figure.

use parkbench_engine::Role;
use parkbench_trace::{Failures, RunResult, Summary, WorkerUse};
use parkbench_view::format;

use crate::text::{Grid, wrap};

/// Widest line of a table, in characters.
pub(crate) const WIDTH: usize = 100;

/// Most runs side by side.
const RUNS_ACROSS: usize = 4;

/// Stands for a figure that could not be had.
const ABSENT: &str = "\u{2014}";

/// All figures of all runs; as many runs side by side as fit.
pub(crate) fn render(runs: &[&RunResult], extra: impl Fn(&mut Grid, &[usize])) -> String {
    let all: Vec<usize> = (0..runs.len()).collect();
    for across in (1..=RUNS_ACROSS.min(runs.len())).rev() {
        let tables: Vec<String> = all
            .chunks(across)
            .map(|chunk| {
                let some: Vec<&RunResult> = chunk.iter().map(|&index| runs[index]).collect();
                let mut grid = grid(&some);
                extra(&mut grid, chunk);
                grid.render()
            })
            .collect();
        let text = tables.join("\n");
        if across == 1 || text.lines().all(|line| line.chars().count() <= WIDTH) {
            return text;
        }
    }
    String::new()
}

fn grid(runs: &[&RunResult]) -> Grid {
    let mut grid = Grid::default();
    grid.figure("", runs, |run| run.model.as_str().to_owned());
    grid.figure("", runs, |run| run.variant.clone());
    grid.figure("Total time", runs, |run| format::duration(run.makespan_ns));
    grid.figure("Throughput", runs, |run| or_absent(run.throughput_per_s, format::rate));
    grid.figure("Tasks in flight, peak", runs, |run| or_absent(run.in_flight_peak, format::count));
    if runs.iter().any(|run| run.tasks_done != run.tasks) {
        grid.figure("Tasks finished", runs, |run| format::count(run.tasks_done));
        grid.figure("  failed", runs, |run| format::count(run.tasks_failed));
        grid.figure("  wait for each other", runs, |run| format::count(run.tasks_unfinished));
    }
    summary_rows(&mut grid, "Latency, start of a task to its end", runs, |run| &run.latency_ns);
    summary_rows(&mut grid, "Response time, submission of a task to its end", runs, |run| &run.response_ns);
    grid.row([""]);
    grid.figure("Resident memory, peak", runs, |run| or_absent(run.memory_bytes.resident, format::bytes));
    grid.figure("Reserved memory, peak", runs, |run| or_absent(run.memory_bytes.reserved, format::bytes));
    grid.figure("OS context switches", runs, |run| or_absent(run.os_switches, format::count));
    grid.figure("  by blocking", runs, |run| or_absent(run.voluntary_switches, format::count));
    grid.figure("  by preemption", runs, |run| or_absent(run.involuntary_switches, format::count));
    grid.figure("  per second", runs, |run| or_absent(run.switches_per_second, format::rate));
    if runs.iter().any(|run| !run.workers.is_empty()) {
        worker_rows(&mut grid, runs);
    }
    grid
}

/// Reads one figure off a summary or a thread.
type Part<T> = fn(&T) -> u64;

/// The figures of a summary, by the names that they have in files.
pub(crate) const SUMMARY: [(&str, Part<Summary>); 5] = [
    ("mean", |summary| summary.mean),
    ("p50", |summary| summary.p50),
    ("p95", |summary| summary.p95),
    ("p99", |summary| summary.p99),
    ("max", |summary| summary.max),
];

/// The reasons for which tasks of a run have failed, a paragraph each.
pub(crate) fn failures(run: &RunResult) -> String {
    let note = |failures: &Failures| {
        let reason = failures.reason.as_str().replace('-', " ");
        let note = format!("{} tasks of {} failed: {reason}.", format::count(failures.tasks.into()), run.variant);
        format!("\n{}", wrap(&note, WIDTH, "! ", "  "))
    };
    run.failures.iter().map(note).collect()
}

fn summary_rows(grid: &mut Grid, heading: &str, runs: &[&RunResult], of: impl Fn(&RunResult) -> &Summary) {
    grid.section(heading);
    for (name, part) in SUMMARY {
        grid.figure(&format!("  {name}"), runs, |run| match of(run) {
            summary if summary.count == 0 => ABSENT.to_owned(),
            summary => format::duration(part(summary)),
        });
    }
}

/// What workers do with their time; the shares add up to 100 %.
const WORKER: [(&str, Part<WorkerUse>); 5] = [
    ("  busy with tasks", |worker| worker.busy_ns),
    ("  held by tasks that wait", |worker| worker.blocked_ns),
    ("  overhead", |worker| worker.overhead_ns),
    ("  without a core", |worker| worker.preempted_ns),
    ("  idle", |worker| worker.idle_ns),
];

fn worker_rows(grid: &mut Grid, runs: &[&RunResult]) {
    let of_role = |run: &RunResult, role: Role| -> Vec<WorkerUse> {
        run.workers.iter().filter(|worker| worker.role == role).cloned().collect()
    };
    grid.section("Workers' time");
    grid.figure("  number of workers", runs, |run| format::count(of_role(run, Role::Worker).len() as u64));
    for (label, part) in WORKER {
        grid.figure(label, runs, |run| share(&of_role(run, Role::Worker), run.makespan_ns, part));
    }
    for (label, role) in [
        ("Submitter at work", Role::Submitter),
        ("Timer thread at work", Role::Timer),
        ("Unblocker at work", Role::Unblocker),
    ] {
        if runs.iter().any(|run| run.workers.iter().any(|worker| worker.role == role)) {
            let work = |worker: &WorkerUse| worker.busy_ns + worker.overhead_ns;
            grid.figure(label, runs, |run| share(&of_role(run, role), run.makespan_ns, work));
        }
    }
}

/// `12.3 %` of the time of these threads. Nothing at all is `0 %`, and a little of something is never rounded to that.
fn share(threads: &[WorkerUse], makespan_ns: u64, part: impl Fn(&WorkerUse) -> u64) -> String {
    let whole = threads.len() as u128 * u128::from(makespan_ns);
    let sum: u128 = threads.iter().map(|worker| u128::from(part(worker))).sum();
    part_of(sum, whole)
}

/// `12.3 %`, at most 100. Nothing at all is `0 %`, and a little of something is never rounded to that.
pub(crate) fn part_of(sum: u128, whole: u128) -> String {
    match sum {
        _ if whole == 0 => ABSENT.to_owned(),
        0 => "0 %".to_owned(),
        sum if sum >= whole => "100 %".to_owned(),
        sum if sum * 2_000 < whole => "<0.1 %".to_owned(),
        sum if (whole - sum) * 2_000 <= whole => ">99.9 %".to_owned(),
        sum => format::share(sum as f64 / whole as f64),
    }
}

/// The figure, or the sign for none.
pub(crate) fn or_absent<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| ABSENT.to_owned(), show)
}
