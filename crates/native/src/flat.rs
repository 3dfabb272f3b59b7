//! Results as CSV: one row per run, the unit at the end of each column's name, an absent figure as an empty cell.

use anyhow::Context as _;
use parkbench_engine::Scenario;
use parkbench_trace::{ResultFile, RunResult};

use crate::figures::SUMMARY;

/// The columns of a simulated result.
pub(crate) fn simulated(result: &ResultFile) -> anyhow::Result<String> {
    write(result.runs.iter().map(|run| columns(&result.scenario, run)))
}

/// Name and text of every column that all results have.
pub(crate) fn columns(scenario: &Scenario, run: &RunResult) -> Vec<(String, String)> {
    let mut columns = Vec::new();
    let mut add = |name: &str, value: Option<String>| columns.push((name.to_owned(), value.unwrap_or_default()));
    let number = |value: u64| Some(value.to_string());
    add("scenario", Some(scenario.name.clone()));
    add("seed", number(scenario.seed));
    add("origin", serde_json::to_value(run.origin).ok().and_then(|value| value.as_str().map(str::to_owned)));
    add("model", Some(run.model.as_str().to_owned()));
    add("variant", Some(run.variant.clone()));
    add("tasks", number(run.tasks));
    add("tasks_done", number(run.tasks_done));
    add("tasks_failed", number(run.tasks_failed));
    add("tasks_unfinished", number(run.tasks_unfinished));
    add("makespan_ns", number(run.makespan_ns));
    add("throughput_per_s", run.throughput_per_s.map(|value| value.to_string()));
    for (name, summary) in
        [("latency", Some(&run.latency_ns)), ("response", Some(&run.response_ns)), ("queue", run.queue_ns.as_ref())]
    {
        for (part, of) in SUMMARY {
            let value = summary.filter(|summary| summary.count > 0).map(|summary| of(summary).to_string());
            add(&format!("{name}_{part}_ns"), value);
        }
    }
    let optional = |value: Option<u64>| value.map(|value| value.to_string());
    add("memory_reserved_bytes", optional(run.memory_bytes.reserved));
    add("memory_resident_bytes", optional(run.memory_bytes.resident));
    add("os_switches", optional(run.os_switches));
    add("voluntary_switches", optional(run.voluntary_switches));
    add("involuntary_switches", optional(run.involuntary_switches));
    add("switches_per_s", run.switches_per_second.map(|value| value.to_string()));
    add("in_flight_peak", optional(run.in_flight_peak));
    add("core_busy_share", run.core_busy_share.map(|value| value.to_string()));
    add("core_overhead_share", run.core_overhead_share.map(|value| value.to_string()));
    add("digest", run.digest.clone());
    add("events", optional(run.events));
    columns
}

/// The header of the first row, then every row.
pub(crate) fn write(rows: impl Iterator<Item = Vec<(String, String)>>) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut first = true;
    for row in rows {
        if std::mem::take(&mut first) {
            writer.write_record(row.iter().map(|(name, _)| name))?;
        }
        writer.write_record(row.iter().map(|(_, value)| value))?;
    }
    let bytes = writer.into_inner().context("the result cannot be written as CSV")?;
    String::from_utf8(bytes).context("the result cannot be written as CSV")
}
