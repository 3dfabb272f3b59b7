//! The figures of several runs side by side, simulated or measured: one column per run, one row per figure.

use parkbench_engine::Role;
use parkbench_trace::{RunResult, Summary, WorkerUse};

use crate::human;
use crate::text::Grid;

/// Widest line of a table, in characters.
pub(crate) const WIDTH: usize = 100;

/// Most runs side by side.
const RUNS_ACROSS: usize = 4;

/// Stands for a figure that could not be had.
const ABSENT: &str = "-";

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
    let mut row = |label: &str, cell: &dyn Fn(&RunResult) -> String| {
        grid.row(std::iter::once(label.to_owned()).chain(runs.iter().map(|run| cell(run))));
    };
    row("", &|run| run.model.as_str().to_owned());
    row("", &|run| run.variant.clone());
    row("Total time", &|run| human::duration(run.makespan_ns));
    row("Throughput", &|run| or_absent(run.throughput_per_s, human::rate));
    row("Tasks in flight, peak", &|run| or_absent(run.in_flight_peak, human::count));
    if runs.iter().any(|run| run.tasks_done != run.tasks) {
        row("Tasks finished", &|run| human::count(run.tasks_done));
        row("Tasks failed", &|run| human::count(run.tasks_failed));
    }
    summary_rows(&mut grid, "Latency, start of a task to its end", runs, |run| &run.latency_ns);
    summary_rows(&mut grid, "Response time, submission of a task to its end", runs, |run| &run.response_ns);

    let mut row = |label: &str, cell: &dyn Fn(&RunResult) -> String| {
        grid.row(std::iter::once(label.to_owned()).chain(runs.iter().map(|run| cell(run))));
    };
    row("", &|_| String::new());
    row("Resident memory, peak", &|run| or_absent(run.memory_bytes.resident, human::bytes));
    row("Reserved memory, peak", &|run| or_absent(run.memory_bytes.reserved, human::bytes));
    row("OS context switches", &|run| or_absent(run.os_switches, human::count));
    row("  by blocking", &|run| or_absent(run.voluntary_switches, human::count));
    row("  by preemption", &|run| or_absent(run.involuntary_switches, human::count));
    row("  per second", &|run| or_absent(run.switches_per_second, human::rate));
    if runs.iter().any(|run| !run.workers.is_empty()) {
        worker_rows(&mut grid, runs);
    }
    grid
}

fn summary_rows(grid: &mut Grid, heading: &str, runs: &[&RunResult], of: impl Fn(&RunResult) -> &Summary) {
    grid.section(heading);
    let parts: [(&str, fn(&Summary) -> u64); 5] = [
        ("  mean", |summary| summary.mean),
        ("  p50", |summary| summary.p50),
        ("  p95", |summary| summary.p95),
        ("  p99", |summary| summary.p99),
        ("  max", |summary| summary.max),
    ];
    for (label, part) in parts {
        let cell = |run: &&RunResult| match of(run) {
            summary if summary.count == 0 => ABSENT.to_owned(),
            summary => human::duration(part(summary)),
        };
        grid.row(std::iter::once(label.to_owned()).chain(runs.iter().map(cell)));
    }
}

/// Shares of the workers' time, which add up to 100 %, and of the other threads' that work.
fn worker_rows(grid: &mut Grid, runs: &[&RunResult]) {
    grid.section("Workers' time");
    let of_role = |run: &RunResult, role: Role| -> Vec<WorkerUse> {
        run.workers.iter().filter(|worker| worker.role == role).cloned().collect()
    };
    grid.row(
        std::iter::once("  number of workers".to_owned())
            .chain(runs.iter().map(|run| human::count(of_role(run, Role::Worker).len() as u64))),
    );
    let parts: [(&str, fn(&WorkerUse) -> u64); 5] = [
        ("  busy with tasks", |worker| worker.busy_ns),
        ("  held by tasks that wait", |worker| worker.blocked_ns),
        ("  overhead", |worker| worker.overhead_ns),
        ("  without a core", |worker| worker.preempted_ns),
        ("  idle", |worker| worker.idle_ns),
    ];
    for (label, part) in parts {
        let cell = |run: &&RunResult| share(&of_role(run, Role::Worker), run.makespan_ns, part);
        grid.row(std::iter::once(label.to_owned()).chain(runs.iter().map(cell)));
    }
    let others = [
        ("Submitter at work", Role::Submitter),
        ("Timer thread at work", Role::Timer),
        ("Unblocker at work", Role::Unblocker),
    ];
    for (label, role) in others {
        if runs.iter().any(|run| run.workers.iter().any(|worker| worker.role == role)) {
            let work = |worker: &WorkerUse| worker.busy_ns + worker.overhead_ns;
            let cell = |run: &&RunResult| share(&of_role(run, role), run.makespan_ns, work);
            grid.row(std::iter::once(label.to_owned()).chain(runs.iter().map(cell)));
        }
    }
}

/// `12.3 %` of the time of these threads.
fn share(threads: &[WorkerUse], makespan_ns: u64, part: impl Fn(&WorkerUse) -> u64) -> String {
    let whole = threads.len() as f64 * makespan_ns as f64;
    if whole <= 0.0 {
        return ABSENT.to_owned();
    }
    let sum: u128 = threads.iter().map(|worker| u128::from(part(worker))).sum();
    format!("{:.1} %", sum as f64 / whole * 100.0)
}

/// The figure, or a dash.
pub(crate) fn or_absent<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| ABSENT.to_owned(), show)
}
