//! A measurement for people, and as CSV.

use parkbench_trace::RunResult;

use super::report::{Report, Run};
use crate::figures::{self, WIDTH, or_absent};
use crate::text::wrap;
use crate::{flat, human, simulate};

/// The measurement as aligned columns, the machine, and what limits the figures.
pub(crate) fn render(report: &Report) -> String {
    let mut out = simulate::heading(&report.scenario);
    out.push('\n');
    for run in &report.runs {
        let line = format!("{}, measured in place of {}", run.runtime, run.stands_for.join(", "));
        out.push_str(&wrap(&line, WIDTH, &format!("{:16}", run.result.variant), &" ".repeat(16)));
    }
    out.push('\n');
    let results: Vec<&RunResult> = report.runs.iter().map(|run| &run.result).collect();
    out.push_str(&figures::render(&results, |grid, chunk| {
        let mut row = |label: &str, cell: &dyn Fn(&Run) -> String| {
            let cells = chunk.iter().map(|&run| cell(&report.runs[run]));
            grid.row(std::iter::once(label.to_owned()).chain(cells));
        };
        row("Resident, growth", &|run| or_absent(run.resident_growth_bytes, human::bytes));
        row("CPU time", &|run| or_absent(run.cpu_ns, human::duration));
        row("", &|_| String::new());
        row("Repetitions", &|run| human::count(run.makespans_ns.len() as u64));
        row("  shortest", &|run| human::duration(run.makespan_range_ns().0));
        row("  longest", &|run| human::duration(run.makespan_range_ns().1));
    }));
    out.push_str("\nFigures are those of the repetition with the median total time.\n");
    out.push_str(&machine(report));
    out.push_str(&absent(report));
    for warning in &report.warnings {
        out.push_str(&wrap(&warning.message(), WIDTH, "! ", "  "));
    }
    out
}

/// Where it was measured.
fn machine(report: &Report) -> String {
    let here = &report.environment;
    let mut parts = vec![here.platform.clone()];
    parts.extend(here.kernel.as_ref().map(|kernel| format!("kernel {kernel}")));
    parts.extend(here.cores.map(|cores| format!("{cores} cores")));
    parts.extend(here.cpu.clone());
    parts.extend(here.memory_bytes.map(human::bytes));
    parts.push(format!("parkbench {} ({} build)", here.parkbench, here.build));
    let after = here.cpu_iteration_after_ps.map_or_else(String::new, |ps| format!(" before and {ps} ps after"));
    parts.push(format!("CPU loop {} ps per iteration{after}", here.cpu_iteration_ps));
    wrap(&format!("Machine: {}", parts.join(", ")), WIDTH, "", "  ")
}

/// Why figures are absent that this machine could have given.
fn absent(report: &Report) -> String {
    let mut reasons: Vec<String> = Vec::new();
    for run in &report.runs {
        for (field, reason) in &run.result.unavailable {
            let line = format!("{field} unavailable: {reason}");
            // Figures that no measurement has are not shown, and need no explanation.
            if !reason.contains("measurement") && !reasons.contains(&line) {
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
        add("repetitions", run.makespans_ns.len().to_string());
        add("makespan_shortest_ns", shortest.to_string());
        add("makespan_longest_ns", longest.to_string());
        add("resident_growth_bytes", optional(run.resident_growth_bytes));
        add("cpu_ns", optional(run.cpu_ns));
        columns
    }))
}
