//! Traces as trace events in JSON, which Perfetto and Chrome open: a process for each run, a thread for each thread,
//! and the waits of tasks that hold no thread as events of their own.

use std::io::{self, Write};

use parkbench_engine::{Activity, NO_TASK, TaskState};
use parkbench_trace::{Lanes, Trace, TraceFile};
use serde_json::json;

/// Writes all runs.
pub(super) fn write(traces: &TraceFile, out: &mut impl Write) -> io::Result<()> {
    let mut events = Events { out, first: true };
    write!(events.out, "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    for (process, run) in (1_u32..).zip(&traces.runs) {
        let result = &run.about.result;
        let name = json!({ "name": format!("{} ({})", result.variant, run.about.runtime) });
        events.write(&json!({ "ph": "M", "name": "process_name", "pid": process, "args": name }))?;
        // A recording that is written here was made here, and is sound.
        let Ok(trace) = Trace::new(run.recording.clone()) else { continue };
        let lanes = Lanes::new(&trace);
        for (thread, info) in (0_u32..).zip(trace.thread_info()) {
            let name = json!({ "name": info.name });
            events
                .write(&json!({ "ph": "M", "name": "thread_name", "pid": process, "tid": thread + 1, "args": name }))?;
            for span in lanes.lane(thread).iter().filter(|span| span.task != NO_TASK) {
                let name = match span.activity {
                    Activity::Running => format!("task {}", span.task),
                    other => format!("task {}: {}", span.task, other.as_str()),
                };
                let (ts, dur) = (us(span.start_ns), us(span.end_ns - span.start_ns));
                let args = json!({ "task": span.task });
                events.write(&json!({
                    "ph": "X", "name": name, "cat": span.activity.as_str(), "pid": process, "tid": thread + 1,
                    "ts": ts, "dur": dur, "args": args,
                }))?;
            }
        }
        for task in 0..trace.task_count() as u32 {
            for record in trace.history(task) {
                let state = record.tag.state;
                if !matches!(state, TaskState::Queued | TaskState::Waiting | TaskState::LockWait) {
                    continue;
                }
                let reason = json!({ "reason": record.tag.reason.as_str() });
                for (phase, at) in [("b", record.start_ns), ("e", record.end_ns)] {
                    events.write(&json!({
                        "ph": phase, "name": state.as_str(), "cat": "task", "pid": process, "tid": 0,
                        "id": format!("{process}.{task}"), "ts": us(at), "args": reason,
                    }))?;
                }
            }
        }
    }
    writeln!(events.out, "]}}")
}

/// [us], which is what the format has.
fn us(ns: u64) -> f64 {
    ns as f64 / 1_000.0
}

struct Events<'a, W> {
    out: &'a mut W,
    first: bool,
}

impl<W: Write> Events<'_, W> {
    fn write(&mut self, event: &serde_json::Value) -> io::Result<()> {
        let between = if std::mem::take(&mut self.first) { "\n" } else { ",\n" };
        write!(self.out, "{between}{event}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parkbench_engine::{Simulation, preset};
    use parkbench_trace::{AboutRun, Metrics, RunResult, TraceCost, TracedRun};

    #[test]
    fn every_task_is_on_its_thread_and_in_its_queue() {
        let mut scenario = preset("io-bound").unwrap();
        scenario.tasks[0].count = 3;
        let run = |index| {
            let recording = Simulation::new(&scenario, index).unwrap().run();
            let metrics = Metrics::of(&Trace::new(recording.clone()).unwrap());
            let result = RunResult::simulated(&scenario, index, &metrics).unwrap();
            let cost = TraceCost { events: 0, event_ps: 0, untraced_makespan_ns: 0 };
            TracedRun { about: AboutRun { result, runtime: "x".to_owned(), stands_for: Vec::new(), cost }, recording }
        };
        let runs = vec![run(0), run(1)];
        let traces = TraceFile { scenario, runs };
        let mut out = Vec::new();
        write(&traces, &mut out).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        let count = |phase: &str, name: &str| {
            events.iter().filter(|event| event["ph"] == phase && event["name"] == name).count()
        };
        assert_eq!((count("M", "process_name"), count("b", "waiting")), (2, count("e", "waiting")));
        // A task whose timer is late has one event more.
        assert!(count("b", "waiting") >= 3);
        assert!(count("M", "thread_name") > 1);
        for task in 0..3 {
            assert_eq!(count("X", &format!("task {task}: blocked")), 1);
        }
    }
}
