//! One repetition in a process of its own, so that no run sees the memory, threads or caches of another.
//!
//! The parent starts this binary again with the hidden command `exec-one`, writes a [`Job`] as JSON to its standard
//! input and reads an [`Outcome`] as one line of JSON from its standard output. After that of a traced repetition comes
//! the recording, in the container of `parkbench-trace`.

use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use parkbench_engine::{Recording, Scenario};
use parkbench_trace::Summary;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt as _;

use super::arrivals::ClosedArrivals;
use super::command;
use super::counters::{Counters, Counting};
use super::histogram::Histograms;
use super::jvm::JvmReadings;
use super::probe::{Probe, Readings};
use super::runtime::{Admission, Runtime};
use super::slots::Slots;
use super::trace::{self, Traced};
use super::workload::Workload;
use super::{coroutine, green, pool};

/// What a child process is to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The tasks and the seed.
    pub(crate) scenario: Scenario,
    /// Which of its runs.
    pub(crate) run: usize,
    /// On what.
    pub(crate) runtime: Runtime,
    /// Whether every task takes down what it does.
    pub(crate) trace: bool,
    /// Whether the processor's counters are on, which costs time.
    pub(crate) count: bool,
    /// Process that the child must not outlive.
    pub(crate) parent: u32,
}

/// What came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// It ran to its end.
    Measured(Box<Repetition>),
    /// It ran to its end; its recording follows.
    Traced { repetition: Box<Repetition>, events: u64, event_ps: u64 },
    /// Why it did not.
    Failed(String),
}

/// The figures of one repetition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Repetition {
    /// [ns] From the first submission until the submitter has seen the last task end.
    pub(crate) makespan_ns: u64,
    /// Tasks that ended.
    pub(crate) tasks_done: u64,
    /// Tasks that a pool refused.
    pub(crate) tasks_rejected: u64,
    /// Tasks that those would have started.
    pub(crate) tasks_orphaned: u64,
    /// Start of the body to its end.
    pub(crate) latency_ns: Summary,
    /// Submission to end.
    pub(crate) response_ns: Summary,
    /// How both are distributed.
    pub(crate) histograms: Histograms,
    /// Tasks started and not ended, at the peak.
    pub(crate) in_flight_peak: u32,
    /// Memory, context switches, CPU time.
    pub(crate) readings: Readings,
    /// What the JVM says, where there is one.
    #[serde(default)]
    pub(crate) jvm: Option<JvmReadings>,
    /// What the processor has counted, where it was asked to.
    #[serde(default)]
    pub(crate) counters: Option<Counters>,
}

/// The command `exec-one`.
pub(crate) fn exec_one() -> anyhow::Result<()> {
    // Ends with the parent, whatever ends the parent.
    prctl::set_pdeathsig(Signal::SIGKILL).context("cannot tie this process to its parent")?;
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text).context("cannot read the job from standard input")?;
    let job: Job = serde_json::from_str(&text).context("standard input is no job")?;
    if nix::unistd::getppid().as_raw().cast_unsigned() != job.parent {
        bail!("the process that gave this job has ended");
    }
    let (outcome, recording) = match repetition(&job) {
        Ok((repetition, None)) => (Outcome::Measured(Box::new(repetition)), Vec::new()),
        Ok((repetition, Some((recording, events)))) => {
            let repetition = Box::new(repetition);
            (Outcome::Traced { repetition, events, event_ps: trace::cost_ps() }, parkbench_trace::encode(&recording))
        }
        Err(error) => (Outcome::Failed(format!("{error:#}")), Vec::new()),
    };
    let text = serde_json::to_string(&outcome).context("cannot write the outcome")? + "\n";
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.write_all(&recording)).context("cannot write the outcome")
}

/// The figures, and where it is traced the recording with the number of times that were taken down.
fn repetition(job: &Job) -> anyhow::Result<(Repetition, Option<(Recording, u64)>)> {
    let workload = Arc::new(Workload::new(&job.scenario, job.run)?);
    let slots = if job.trace {
        Slots::traced(trace::mark_counts(workload.plan(), job.runtime.kind()))
    } else {
        Slots::new(workload.task_count() as usize)
    };
    let slots = Arc::new(slots.with_arrivals(ClosedArrivals::of(workload.plan())));
    let probe = Probe::start();
    let counting = job.count.then(Counting::here);
    let makespan_ns = match job.runtime {
        Runtime::Pool { threads, admission } => pool::run(&workload, &slots, Some(threads), admission),
        Runtime::ThreadPerTask => pool::run(&workload, &slots, None, Admission::default()),
        Runtime::May { workers } => green::run(&workload, &slots, workers),
        Runtime::Tokio { workers, blocks } => coroutine::run_tokio(&workload, &slots, Some(workers), blocks),
        Runtime::TokioCurrentThread { blocks } => coroutine::run_tokio(&workload, &slots, None, blocks),
        Runtime::Smol { workers, blocks } => coroutine::run_smol(&workload, &slots, workers, blocks),
        Runtime::Jvm(_) => bail!("a runtime of the JVM has a process of its own"),
    }?;
    let counters = counting.map(Counting::finish);
    let readings = probe.finish();
    let times = slots.times();
    let traced = slots.lives().map(|(lives, events)| {
        let totals = trace::totals(makespan_ns, events, &readings);
        (trace::record(workload.plan(), &job.runtime, &lives, &totals), events)
    });
    let repetition = Repetition {
        makespan_ns,
        tasks_done: times.latency.len() as u64,
        tasks_rejected: times.rejected,
        tasks_orphaned: times.orphaned,
        histograms: Histograms::of(&times.latency, &times.response),
        latency_ns: Summary::of(times.latency),
        response_ns: Summary::of(times.response),
        in_flight_peak: times.in_flight_peak,
        readings,
        jvm: None,
        counters,
    };
    Ok((repetition, traced))
}

/// Runs the job in a child process; kills the child when the future is dropped or `limit` has passed.
pub(crate) async fn run(job: &Job, limit: Duration) -> anyhow::Result<Repetition> {
    match answer(job, limit).await? {
        (Outcome::Measured(repetition), _) => Ok(*repetition),
        (Outcome::Traced { .. }, _) => bail!("the repetition was traced, though nobody had asked for it"),
        (Outcome::Failed(reason), _) => bail!(reason),
    }
}

/// As [`run`]; what the processor has counted, and nothing else, for to count costs time.
pub(crate) async fn run_counted(job: &Job, limit: Duration) -> anyhow::Result<Counters> {
    let repetition = run(&Job { count: true, ..job.clone() }, limit).await?;
    repetition.counters.context("the repetition was not counted")
}

/// As [`run`], with everything that each task does.
pub(crate) async fn run_traced(job: &Job, limit: Duration) -> anyhow::Result<Traced> {
    match answer(&Job { trace: true, ..job.clone() }, limit).await? {
        (Outcome::Traced { repetition, events, event_ps }, bytes) => {
            let recording = parkbench_trace::decode(&bytes).context("the recording cannot be read")?;
            Ok(Traced { repetition: *repetition, recording, events, event_ps })
        }
        (Outcome::Measured(_), _) => bail!("the repetition was not traced"),
        (Outcome::Failed(reason), _) => bail!(reason),
    }
}

/// What the child process says, and the bytes after it.
async fn answer(job: &Job, limit: Duration) -> anyhow::Result<(Outcome, Vec<u8>)> {
    let binary = std::env::current_exe().context("cannot find this binary to start it again")?;
    let mut child =
        command::child(binary).arg("exec-one").spawn().context("cannot start a process for the repetition")?;
    let text = serde_json::to_string(job).context("cannot write the job")?;
    if let Some(mut stdin) = child.stdin.take() {
        // A child that ends before it has read the job says why below.
        let _ = stdin.write_all(text.as_bytes()).await;
    }
    let Ok(output) = tokio::time::timeout(limit, child.wait_with_output()).await else {
        bail!("the repetition was ended after {} s, five times what it should take and two minutes", limit.as_secs());
    };
    let output = output.context("cannot wait for the process of the repetition")?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("the process of the repetition ended with {}: {}", output.status, reason(&stderr));
    }
    let mut bytes = output.stdout;
    let line = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let after = bytes.split_off((line + 1).min(bytes.len()));
    Ok((serde_json::from_slice(&bytes).context("the outcome of the repetition cannot be read")?, after))
}

/// The line that says why a process ended: the first, or the message of a panic.
fn reason(stderr: &str) -> &str {
    let mut lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("thread '"));
    lines.next().unwrap_or("it said nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_found() {
        for (stderr, expect) in [
            ("", "it said nothing"),
            ("\nerror: no\nmore\n", "error: no"),
            ("\nthread 'main' (7) panicked at lib.rs:5:4:\nout of memory\nstack backtrace:\n", "out of memory"),
        ] {
            assert_eq!(reason(stderr), expect);
        }
    }
}
