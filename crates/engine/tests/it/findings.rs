//! Deadlock, livelock and starvation: found with the exact tasks and resources, in every model where they can happen.

use std::fmt::Write as _;

use parkbench_engine::{Finding, Recording, ResourceKind, Wait};

use crate::support::{MS, run};

pub(crate) const POOL: &str = r#"{ model = "thread-pool", size = 8 }"#;
pub(crate) const JAVA_21: &str = r#"{ model = "green-threads", jdk = 21 }"#;
pub(crate) const JAVA_25: &str = r#"{ model = "green-threads", jdk = 25 }"#;
pub(crate) const DEFAULT: &str = r#"{ model = "coroutines", dispatcher = "default" }"#;
pub(crate) const IO: &str = r#"{ model = "coroutines", dispatcher = "io" }"#;
pub(crate) const LOOP: &str = r#"{ model = "coroutines", dispatcher = "event-loop" }"#;
pub(crate) const TOKIO: &str = r#"{ model = "coroutines", runtime = "tokio" }"#;
pub(crate) const TOKIO_1: &str = r#"{ model = "coroutines", runtime = "tokio", flavor = "current-thread" }"#;
pub(crate) const GO: &str = r#"{ model = "green-threads", runtime = "go" }"#;
pub(crate) const ALL: [&str; 9] = [POOL, JAVA_21, JAVA_25, GO, DEFAULT, IO, LOOP, TOKIO, TOKIO_1];

/// `deadlock 10 ms, 2 tasks, circle 2: 0 [lock a] -> lock b (1); 1 [lock b] -> lock a (0)`; workers are left out of what
/// a task holds, but for a mark `*`.
pub(crate) fn text(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let Finding { kind, from_ns, tasks, circle, period_ns, .. } = finding;
        write!(out, "{} {} us, {tasks} tasks", kind.as_str(), from_ns / 1_000).unwrap();
        if *circle > 0 {
            write!(out, ", circle {circle}").unwrap();
        }
        if let Some(period) = period_ns {
            write!(out, ", period {} us", period / 1_000).unwrap();
        }
        let waits: Vec<String> = finding.waits.iter().map(wait).collect();
        writeln!(out, ": {}", waits.join("; ")).unwrap();
    }
    out.trim_end().to_owned()
}

fn wait(wait: &Wait) -> String {
    let mut holds: Vec<String> = Vec::new();
    let mut worker = "";
    for resource in &wait.holds {
        match resource.kind {
            ResourceKind::Worker => worker = "*",
            kind => holds.push(format!("{} {}", word(kind), resource.name)),
        }
    }
    let by: Vec<String> = wait.held_by.iter().map(|task| task.id.to_string()).collect();
    let wants = format!("{} {}", word(wait.wants.kind), wait.wants.name);
    let times = if wait.times > 0 { format!(" x{}", wait.times) } else { String::new() };
    format!("{}{worker} [{}] -> {} ({}){times}", wait.task.id, holds.join(", "), wants.trim_end(), by.join(" "))
}

const fn word(kind: ResourceKind) -> &'static str {
    match kind {
        ResourceKind::Lock => "lock",
        ResourceKind::Permit => "permit",
        ResourceKind::Turn => "turn",
        ResourceKind::Worker => "worker",
        ResourceKind::Children => "children",
    }
}

/// Runs the tasks on `cores` cores and compares what was found.
#[track_caller]
pub(crate) fn check(cores: u32, spec: &str, tasks: &str, expect: &str) -> Recording {
    let recording = run(cores, spec, "", tasks);
    assert_eq!(text(&recording.findings), expect, "{spec}: {tasks}");
    let ends = !recording.findings.is_empty();
    assert_eq!(recording.totals.unfinished > 0, ends, "{spec}: {tasks}");
    recording
}

mod deadlock;
mod livelock;
mod overtaken;
#[cfg(not(target_arch = "wasm32"))]
mod random;
mod starvation;
