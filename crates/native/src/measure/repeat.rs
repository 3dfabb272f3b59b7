//! The repetitions of a measurement: every runtime runs once before any runs again, and what is finished is kept,
//! whatever ends the rest.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use parkbench_engine::{Plan, Scenario};

use super::child::{self, Job, Repetition};
use super::counters::{self, Counters};
use super::jvm::{self, Java, Process};
use super::kind::Kind;
use super::metrics::Metrics;
use super::progress::Progress;
use super::runtime::{Jvm, Runtime};
use super::select::Planned;
use super::stop;
use super::trace::Traced;

/// A run with the flight recorder, and one with the processor's counters, are added where a repetition takes no longer.
const LONGEST_EXTRA: Duration = Duration::from_secs(2);

/// What is to be repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) planned: &'a [Planned],
    /// How long a repetition of each should take.
    pub(crate) estimates: &'a [Duration],
    pub(crate) reps: u32,
    /// Unmeasured runs of each before the first repetition.
    pub(crate) warm_ups: &'a [u32],
    pub(crate) java: Option<&'a Java>,
    /// Who is told of each repetition as it ends.
    pub(crate) metrics: Option<&'a Metrics>,
    /// Whether one more repetition of each is traced.
    pub(crate) trace: bool,
    /// Whether the processor counts what one more repetition of each does, where it can.
    pub(crate) count: bool,
}

/// What one runtime gave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finished {
    /// The repetitions that ran to their ends.
    pub(crate) repetitions: Vec<Repetition>,
    /// Unmeasured runs before them.
    pub(crate) warm_ups: u32,
    /// [ns] What it takes a JVM to note the times of one task.
    pub(crate) task_ns: Option<f64>,
    /// How often a virtual thread was pinned, or why that is not known.
    pub(crate) pinned: Option<Result<u64, String>>,
    /// The traced repetition, or why there is none; `None` where none was asked for.
    pub(crate) traced: Option<Result<Box<Traced>, String>>,
    /// What the processor has counted in one more run, or why that is not known; `None` where nobody has asked.
    pub(crate) counters: Option<Result<Counters, String>>,
    /// Why there are no more repetitions.
    pub(crate) failure: Option<String>,
}

/// Runs everything; the second value says whether the user has ended it early.
pub(crate) fn repeat(order: Order<'_>) -> anyhow::Result<(Vec<Finished>, bool)> {
    let stop = stop::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime that waits for the repetitions")?;
    runtime.block_on(async {
        let mut finished = vec![Finished::default(); order.planned.len()];
        let mut drivers = Vec::new();
        let outcome = tokio::select! {
            // The user first: a signal that reaches a child that has just started ends that too.
            biased;
            () = stop.requested() => Ok(true),
            done = run(order, &mut drivers, &mut finished) => done.map(|()| false),
        };
        for driver in &mut drivers {
            driver.end().await;
        }
        Ok((finished, outcome?))
    })
}

async fn run<'a>(order: Order<'a>, drivers: &mut Vec<Driver<'a>>, finished: &mut [Finished]) -> anyhow::Result<()> {
    *drivers = prepare(order).await?;
    if let Some(metrics) = order.metrics {
        order.planned.iter().for_each(|planned| metrics.planned(&planned.runtime.variant()));
    }
    let most = order.warm_ups.iter().max().copied().unwrap_or(0);
    let mut progress = Progress::new(order.estimates, order.warm_ups, order.reps);
    for round in 1..=most + order.reps {
        for (index, driver) in drivers.iter_mut().enumerate() {
            let (of_one, estimate) = (&mut finished[index], order.estimates[index]);
            // All have warmed up when the first is measured.
            if of_one.failure.is_some() || round + order.warm_ups[index] <= most {
                continue;
            }
            let measured = round.checked_sub(most).filter(|&rep| rep > 0);
            progress.begin(&order.planned[index].runtime.variant(), measured, estimate);
            let outcome = tokio::select! {
                outcome = driver.repetition(estimate) => outcome,
                () = progress.advance() => unreachable!("progress has no end"),
            };
            match outcome {
                Ok(_) if measured.is_none() => of_one.warm_ups += 1,
                Ok(repetition) => {
                    if let Some(metrics) = order.metrics {
                        metrics.repetition(&order.planned[index].runtime.variant(), &repetition);
                    }
                    of_one.repetitions.push(repetition);
                    of_one.task_ns = driver.task_ns();
                }
                Err(error) => {
                    if let Some(metrics) = order.metrics {
                        metrics.failure(&order.planned[index].runtime.variant());
                    }
                    of_one.failure = Some(format!("{error:#}"));
                    driver.end().await;
                }
            }
            progress.end();
        }
    }
    let countable = order.count.then(counters::allowed);
    for ((driver, of_one), estimate) in drivers.iter_mut().zip(finished).zip(order.estimates) {
        if of_one.failure.is_none() {
            of_one.counters = match &countable {
                Some(Ok(())) => Some(driver.counted(*estimate).await),
                Some(Err(reason)) => Some(Err(reason.clone())),
                None => None,
            };
            if order.trace {
                let traced = driver.traced(*estimate).await;
                of_one.traced = Some(traced.map(Box::new).map_err(|error| format!("{error:#}")));
            }
            of_one.pinned = driver.pinned(*estimate).await;
        }
    }
    Ok(())
}

/// What runs the repetitions of one runtime.
enum Driver<'a> {
    /// A process for each.
    Fresh(Box<Job>),
    /// One JVM for all, so that its compiler has seen the code; started with the first.
    Jvm { java: &'a Java, jar: PathBuf, jvm: &'a Jvm, plan: Box<Plan>, process: Option<Box<Process>> },
    /// Nothing can run them.
    Broken(String),
}

/// One driver for each planned runtime; the runner of the JVM is built here if one needs it.
async fn prepare(order: Order<'_>) -> anyhow::Result<Vec<Driver<'_>>> {
    let wants_jvm = order.planned.iter().any(|planned| planned.runtime.kind().is_jvm());
    let jar = match order.java.filter(|_| wants_jvm) {
        Some(java) => jvm::jar(java).await.map_err(|error| format!("{error:#}")),
        None => Err("no Java".to_owned()),
    };
    let mut drivers = Vec::new();
    for planned in order.planned {
        drivers.push(match (&planned.runtime, order.java, &jar) {
            (Runtime::Jvm(jvm), Some(java), Ok(jar)) => {
                let plan = Box::new(Plan::new(order.scenario, planned.workload)?);
                Driver::Jvm { java, jar: jar.clone(), jvm, plan, process: None }
            }
            (Runtime::Jvm(_), _, jar) => Driver::Broken(jar.clone().err().unwrap_or_default()),
            (runtime, ..) => Driver::Fresh(Box::new(Job {
                scenario: order.scenario.clone(),
                run: planned.workload,
                runtime: runtime.clone(),
                trace: false,
                count: false,
                parent: std::process::id(),
            })),
        });
    }
    Ok(drivers)
}

impl Driver<'_> {
    async fn repetition(&mut self, estimate: Duration) -> anyhow::Result<Repetition> {
        // Time for overhead that the estimate leaves out, and for a machine that is busy with other things.
        let limit = limit(estimate);
        match self {
            Self::Fresh(job) => child::run(job, limit).await,
            Self::Jvm { java, jar, jvm, plan, process } => {
                if process.is_none() {
                    *process = Some(Box::new(Process::start(java, jar, jvm, plan, estimate).await?));
                }
                process.as_mut().context("the JVM was started")?.repetition(limit).await
            }
            Self::Broken(reason) => Err(anyhow!(reason.clone())),
        }
    }

    /// [ns] What it takes a JVM that has started to note the times of one task.
    fn task_ns(&self) -> Option<f64> {
        match self {
            Self::Jvm { process: Some(process), .. } => Some(process.task_ns()),
            _ => None,
        }
    }

    /// One more repetition, in which every task takes down what it does.
    async fn traced(&mut self, estimate: Duration) -> anyhow::Result<Traced> {
        match self {
            Self::Fresh(job) => child::run_traced(job, limit(estimate)).await,
            Self::Jvm { process, plan, jvm, .. } => {
                process.as_mut().context("the JVM was started")?.traced(plan, jvm, limit(estimate)).await
            }
            Self::Broken(reason) => Err(anyhow!(reason.clone())),
        }
    }

    /// Counts pinned virtual threads, where there are any and one more run is short.
    async fn pinned(&mut self, estimate: Duration) -> Option<Result<u64, String>> {
        let Self::Jvm { jvm: Jvm { kind: Kind::JavaVirtual, .. }, process: Some(process), .. } = self else {
            return None;
        };
        if let Err(reason) = is_short(estimate) {
            return Some(Err(reason));
        }
        Some(process.pinned(limit(estimate)).await.map_err(|error| format!("{error:#}")))
    }

    /// What the processor counts in one more run, where that is short.
    async fn counted(&mut self, estimate: Duration) -> Result<Counters, String> {
        is_short(estimate)?;
        let limit = limit(estimate);
        let counted = match self {
            Self::Fresh(job) => child::run_counted(job, limit).await,
            Self::Jvm { process: Some(process), .. } => process.counted(limit).await,
            Self::Jvm { process: None, .. } => Err(anyhow!("no JVM was started")),
            Self::Broken(reason) => Err(anyhow!(reason.clone())),
        };
        counted.map_err(|error| format!("{error:#}"))
    }

    /// Ends what it has started; a process that is measured alone ends with its repetition.
    async fn end(&mut self) {
        if let Self::Jvm { process, .. } = self
            && let Some(process) = process.take()
        {
            process.end().await;
        }
    }
}

/// Whether one more run may be added.
fn is_short(estimate: Duration) -> Result<(), String> {
    let seconds = LONGEST_EXTRA.as_secs();
    let reason = || format!("counted in one more run, and only where that takes {seconds} s at most");
    (estimate <= LONGEST_EXTRA).then_some(()).ok_or_else(reason)
}

fn limit(estimate: Duration) -> Duration {
    estimate.saturating_mul(5).saturating_add(jvm::SLACK)
}
