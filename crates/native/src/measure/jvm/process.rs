//! One process of the runner: started with a plan, asked for one repetition after the other, ended when it is dropped.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use parkbench_engine::Plan;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::find::Java;
use super::plan;
use crate::measure::child::Repetition;
use crate::measure::command;
use crate::measure::counters::{Counters, Counting};
use crate::measure::histogram::Histograms;
use crate::measure::kind::Kind;
use crate::measure::probe::Readings;
use crate::measure::runtime::{Jvm, Runtime};
use crate::measure::slots::{self, Times};
use crate::measure::trace::{self, Lives, Traced};
use parkbench_trace::Summary;

/// How much longer than the estimate everything may take, for a machine that is busy with other things.
pub(crate) const SLACK: Duration = Duration::from_mins(2);
/// The same for a JVM that lacks a thread.
const STARVED_SLACK: Duration = Duration::from_secs(10);
/// [bytes] Of what a JVM says besides its answers, so much is kept.
const MOST_NOISE: usize = 1 << 16;

/// What only a JVM can say about a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JvmReadings {
    /// [ns] Time in which the collector worked.
    pub(crate) gc_ns: u64,
    /// Collections.
    pub(crate) gc_count: u64,
    /// [bytes] Heap in use: the sum of the peaks of its pools.
    pub(crate) heap_peak_bytes: u64,
    /// Threads of the process at the peak, those of the JVM that Java knows included.
    pub(crate) threads_peak: u64,
}

/// A line of the runner.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Ready(Ready),
    Measured(Box<Measured>),
    Traced(Box<RunnerTrace>),
    Pinned(u64),
    /// A run whose times are nobody's has ended.
    Ran,
    Failed(String),
}

#[derive(Debug, Deserialize)]
struct Ready {
    /// [ps] To note the times of one task.
    task_ps: u64,
}

#[derive(Debug, Deserialize)]
struct Measured {
    makespan_ns: u64,
    readings: Readings,
    jvm: JvmReadings,
    /// [ns] Of every task; -1 for not yet.
    submitted: Vec<i64>,
    began: Vec<i64>,
    ended: Vec<i64>,
}

/// A repetition in which every task has taken down its times; tasks are in the runner's order.
#[derive(Debug, Deserialize)]
struct RunnerTrace {
    measured: Measured,
    /// How many times each task has.
    taken: Vec<usize>,
    /// [ns] The times of all tasks, one task after the other.
    times: Vec<u64>,
    /// The thread of each.
    threads: Vec<u32>,
    /// What the threads are called.
    names: Vec<String>,
    /// [ps] To take down one time.
    event_ps: u64,
}

impl Measured {
    fn repetition(self) -> Repetition {
        let times = Times::of(ns(self.submitted).zip(ns(self.began).zip(ns(self.ended))));
        Repetition {
            makespan_ns: self.makespan_ns,
            tasks_done: times.latency.len() as u64,
            tasks_rejected: times.rejected,
            tasks_orphaned: times.orphaned,
            histograms: Histograms::of(&times.latency, &times.response),
            latency_ns: Summary::of(times.latency),
            response_ns: Summary::of(times.response),
            in_flight_peak: times.in_flight_peak,
            readings: self.readings,
            jvm: Some(self.jvm),
            counters: None,
        }
    }
}

/// The times as slots have them.
fn ns(times: Vec<i64>) -> impl Iterator<Item = u64> {
    times.into_iter().map(|time| u64::try_from(time).unwrap_or(slots::ABSENT))
}

/// The runner, ready for a repetition.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What it says on standard error, up to its end.
    complaints: JoinHandle<String>,
    /// [ns] What it takes to note the times of one task.
    task_ns: f64,
}

impl Process {
    /// Starts a JVM for this runtime, gives it the plan and waits until it is warm.
    pub(crate) async fn start(
        java: &Java,
        jar: &Path,
        jvm: &Jvm,
        plan: &Plan,
        estimate: Duration,
    ) -> anyhow::Result<Self> {
        let mut child = command::child(java.home.join("bin/java"))
            .args(options(jvm))
            .arg("-jar")
            .arg(jar)
            .spawn()
            .with_context(|| format!("cannot start {}", java.home.join("bin/java").display()))?;
        let commands = child.stdin.take().context("the JVM has no standard input")?;
        let answers = BufReader::new(child.stdout.take().context("the JVM has no standard output")?);
        let complaints = tokio::spawn(complaints(child.stderr.take().context("the JVM has no standard error")?));
        let mut process = Self { child, commands, answers, complaints, task_ns: 0.0 };
        let line = plan::line(plan, jvm, u64::try_from(estimate.as_nanos()).unwrap_or(u64::MAX));
        let limit = SLACK.saturating_add(estimate.saturating_mul(5));
        match process.ask(&line, limit).await? {
            Answer::Ready(Ready { task_ps }) => Ok(Self { task_ns: task_ps as f64 / 1e3, ..process }),
            other => bail!("the runner answered its plan with {other:?}"),
        }
    }

    /// [ns] What it takes to note the times of one task.
    pub(crate) const fn task_ns(&self) -> f64 {
        self.task_ns
    }

    /// Measures one repetition.
    pub(crate) async fn repetition(&mut self, limit: Duration) -> anyhow::Result<Repetition> {
        let Answer::Measured(measured) = self.ask("run", limit).await? else {
            bail!("the runner measured nothing");
        };
        Ok(measured.repetition())
    }

    /// One repetition in which every task takes down what it does.
    pub(crate) async fn traced(&mut self, plan: &Plan, jvm: &Jvm, limit: Duration) -> anyhow::Result<Traced> {
        let Answer::Traced(traced) = self.ask("trace", limit).await? else {
            bail!("the runner traced nothing");
        };
        let RunnerTrace { measured, taken, times, threads, names, event_ps } = *traced;
        let tasks = plan.tasks as usize;
        let whole = measured.submitted.len() == tasks && taken.len() == tasks && threads.len() == times.len();
        if !whole || taken.iter().sum::<usize>() != times.len() {
            bail!("the runner's trace is not whole");
        }
        let mut lives = Lives {
            submitted: vec![u64::MAX; tasks],
            marks: vec![Vec::new(); tasks],
            names: names.into_iter().map(Some).collect(),
        };
        let mut marks = times.iter().copied().zip(threads);
        for ((&task, submitted), count) in plan::order(plan).iter().zip(ns(measured.submitted.clone())).zip(taken) {
            lives.submitted[task as usize] = submitted;
            lives.marks[task as usize] = marks.by_ref().take(count).collect();
        }
        let events = times.len() as u64;
        let totals = trace::totals(measured.makespan_ns, events, &measured.readings);
        let recording = trace::record(plan, &Runtime::Jvm(jvm.clone()), &lives, &totals);
        Ok(Traced { repetition: measured.repetition(), recording, events, event_ps })
    }

    /// How often a virtual thread was pinned in a run of its own, whose times do not count.
    pub(crate) async fn pinned(&mut self, limit: Duration) -> anyhow::Result<u64> {
        match self.ask("pinning", limit).await? {
            Answer::Pinned(count) => Ok(count),
            other => bail!("the runner answered with {other:?}"),
        }
    }

    /// What the processor counts in a run of its own: of all the JVM's threads, its collector and compiler included.
    pub(crate) async fn counted(&mut self, limit: Duration) -> anyhow::Result<Counters> {
        let process = self.child.id().context("the JVM has ended")?;
        let counting = Counting::process(process).context("the threads of the JVM cannot be listed")?;
        let answer = self.ask("count", limit).await;
        let counters = counting.finish();
        match answer? {
            Answer::Ran => Ok(counters),
            other => bail!("the runner answered with {other:?}"),
        }
    }

    /// Ends the JVM and waits until it is gone.
    pub(crate) async fn end(mut self) {
        // One that has ended already cannot be ended again.
        let _ = self.child.kill().await;
    }

    async fn ask(&mut self, command: &str, limit: Duration) -> anyhow::Result<Answer> {
        let mut deadline = Instant::now() + limit;
        let line = format!("{command}\n");
        let told = async {
            // A JVM that has ended says why below.
            let _ = self.commands.write_all(line.as_bytes()).await;
            let _ = self.commands.flush().await;
        };
        let late = || format!("the JVM was ended: it gave no answer for {} s", limit.as_secs());
        timeout_at(deadline, told).await.with_context(late)?;
        let mut noise = String::new();
        loop {
            let mut line = String::new();
            let Ok(read) = timeout_at(deadline, self.answers.read_line(&mut line)).await else {
                match noise.lines().find(|line| is_starved(line)) {
                    Some(line) => bail!("the JVM was ended: it got no thread and gave no answer ({line})"),
                    None => bail!(late()),
                }
            };
            if read.context("cannot read what the runner answers")? == 0 {
                return Err(self.ended(&noise).await);
            }
            match serde_json::from_str::<Answer>(&line) {
                Ok(Answer::Failed(reason)) => return Err(anyhow!(reason)),
                Ok(answer) => return Ok(answer),
                Err(error) if line.starts_with('{') => {
                    return Err(anyhow!(error).context("what the runner answers cannot be read"));
                }
                // The JVM's own last words come this way too.
                Err(_) if noise.len() < MOST_NOISE => noise += &line,
                Err(_) => {}
            }
            if is_starved(&line) {
                // Without that thread the run may have no end: then nobody waits for it as for a slow machine.
                deadline = deadline.min(Instant::now() + limit.saturating_sub(SLACK) + STARVED_SLACK);
            }
        }
    }

    /// Why the JVM has ended.
    async fn ended(&mut self, noise: &str) -> anyhow::Error {
        match self.child.wait().await {
            Ok(status) => {
                let stderr = (&mut self.complaints).await.unwrap_or_default();
                anyhow!(last_words(status, noise, &stderr))
            }
            Err(error) => anyhow!(error).context("cannot wait for the JVM"),
        }
    }
}

/// Whether the JVM says that it could not start a thread.
fn is_starved(line: &str) -> bool {
    line.contains("unable to create native thread") || line.contains("pthread_create failed")
}

/// Reads all that the JVM says, so that it never waits for a reader, and keeps the beginning.
async fn complaints(mut pipe: ChildStderr) -> String {
    let (mut kept, mut buffer) = (Vec::new(), [0_u8; 4_096]);
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        let room = MOST_NOISE.saturating_sub(kept.len());
        kept.extend_from_slice(&buffer[..read.min(room)]);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// How this runtime's JVM is started.
fn options(jvm: &Jvm) -> Vec<String> {
    // A task without memory would leave the run without an end.
    let mut options = vec!["-XX:+ExitOnOutOfMemoryError".to_owned()];
    // In a traced repetition a virtual thread asks for the carrier that it is on.
    options.push("--add-opens=java.base/java.lang=ALL-UNNAMED".to_owned());
    let mut set = |name: &str, value: u32| options.push(format!("-D{name}={value}"));
    match jvm.kind {
        Kind::JavaVirtual => {
            set("jdk.virtualThreadScheduler.parallelism", jvm.threads);
            let most = jvm.max_pool.unwrap_or_else(|| jvm.threads.max(256));
            set("jdk.virtualThreadScheduler.maxPoolSize", most);
            if let Some(least) = jvm.min_runnable {
                set("jdk.virtualThreadScheduler.minRunnable", least);
            }
        }
        Kind::KotlinDefault => set("kotlinx.coroutines.scheduler.core.pool.size", jvm.threads),
        Kind::KotlinIo => set("kotlinx.coroutines.io.parallelism", jvm.threads),
        _ => {}
    }
    options
}

/// Why the JVM has ended: what it said itself, else how.
fn last_words(status: ExitStatus, noise: &str, stderr: &str) -> String {
    let lines = || noise.lines().chain(stderr.lines()).map(str::trim).filter(|line| !line.starts_with("Picked up "));
    if let Some(line) = lines().find(|line| is_starved(line)) {
        return format!("the JVM got no thread ({line})");
    }
    let memory = lines().find(|line| line.contains("OutOfMemoryError"));
    if let Some(line) = memory {
        return format!(
            "the JVM ran out of memory ({line}); give it more by JAVA_TOOL_OPTIONS=-Xmx2g, or use --tasks for fewer"
        );
    }
    let mut said: Vec<&str> = lines().filter(|line| !line.is_empty()).take(2).collect();
    // Alone the first line of a virtual machine that cannot start says nothing.
    if !said.first().is_some_and(|line| line.contains("initialization of VM")) {
        said.truncate(1);
    }
    let said = if said.is_empty() { String::new() } else { format!(": {}", said.join(": ")) };
    format!("the JVM ended with {status}{said}")
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn the_last_words_are_found() {
        for (code, noise, stderr, expect) in [
            (9, "", "", "the JVM ended with signal: 9 (SIGKILL)"),
            (
                1 << 8,
                "",
                "Picked up JAVA_TOOL_OPTIONS: -Xmx1k\nError: too small\n",
                "the JVM ended with exit status: 1: Error: too small",
            ),
            (
                1 << 8,
                "Error occurred during initialization of VM\nToo small maximum heap\n",
                "",
                "the JVM ended with exit status: 1: Error occurred during initialization of VM: Too small maximum heap",
            ),
            (
                1 << 8,
                "",
                "java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory\n",
                "the JVM got no thread (java.lang.OutOfMemoryError: unable to create native thread",
            ),
            (
                3 << 8,
                "Terminating due to java.lang.OutOfMemoryError: Java heap space\n",
                "",
                "the JVM ran out of memory (Terminating due to java.lang.OutOfMemoryError: Java heap space); give",
            ),
        ] {
            let words = last_words(ExitStatus::from_raw(code), noise, stderr);
            assert!(words.starts_with(expect), "{words}");
        }
    }

    #[test]
    fn answers_of_the_runner_are_read() {
        let readings = r#"{"resident":{"Ok":1},"resident_growth":{"Ok":1},"reserved":{"Ok":1},"voluntary_switches":{"Err":"x"},"involuntary_switches":{"Err":"x"},"cpu_ns":{"Ok":1}}"#;
        let line = format!(
            r#"{{"measured":{{"makespan_ns":5,"readings":{readings},"jvm":{{"gc_ns":1,"gc_count":2,"heap_peak_bytes":3,"threads_peak":4}},"submitted":[0],"began":[1],"ended":[4]}}}}"#
        );
        let Answer::Measured(measured) = serde_json::from_str(&line).unwrap() else { panic!("{line}") };
        assert_eq!((measured.makespan_ns, measured.jvm.threads_peak), (5, 4));
        let ready = r#"{"ready":{"java":"25","vendor":"x","kotlin":"2.3.0","iteration_ps":300,"task_ps":75000,"warmup_runs":4}}"#;
        assert!(matches!(serde_json::from_str(ready).unwrap(), Answer::Ready(Ready { task_ps: 75_000 })));
        assert!(matches!(serde_json::from_str(r#"{"pinned":3}"#).unwrap(), Answer::Pinned(3)));
        assert!(matches!(serde_json::from_str("\"ran\"\n").unwrap(), Answer::Ran));
        assert!(
            matches!(serde_json::from_str(r#"{"failed":"no"}"#).unwrap(), Answer::Failed(reason) if reason == "no")
        );
    }
}
