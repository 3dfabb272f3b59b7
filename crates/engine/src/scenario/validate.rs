//! Checking a scenario before anything is allocated: ranges, locks, sums that must fit the clock.

use super::{
    Arrival, CpuWork, Distribution, Duration, LockKind, LockScope, Model, RunSpec, SCENARIO_VERSION, Scenario, Step,
};
use crate::draw::Span;
use crate::error::{FieldError, ScenarioError};
use crate::profile::CostProfile;
use crate::quantity::Milli;

/// Most tasks in one scenario.
pub const MAX_TASKS: u64 = 1_000_000;
/// Most cores of a machine.
pub const MAX_CORES: u32 = 1_024;
/// Most threads of a pool or carriers.
pub const MAX_THREADS: u32 = 32_768;
/// Most steps of a task class.
pub const MAX_STEPS: usize = 256;
/// Most runs and task classes.
pub const MAX_RUNS: usize = 16;
/// Longest name of a scenario.
const MAX_NAME: usize = 64;
const NAME_ALLOWED: &str = "up to 64 lower-case letters, digits and hyphens";
/// Most values of an empirical distribution.
const MAX_VALUES: usize = 100_000;
/// Most iterations of a `cpu` step.
const MAX_ITERATIONS: u64 = 1_000_000_000_000;
/// All tasks one after the other must end within this, so that no sum of times can overflow.
const MAX_SERIAL_NS: u128 = u64::MAX as u128 / 8;

impl Scenario {
    /// Checks every rule and lists every field that breaks one.
    pub fn validate(&self) -> Result<(), ScenarioError> {
        let mut profile = CostProfile::named(&self.profile)?;
        let mut errors = profile.replace(&self.costs);
        let mut refuse =
            |field: String, value: String, allowed: String| errors.push(FieldError { field, value, allowed });

        if self.version != SCENARIO_VERSION {
            refuse("version".into(), self.version.to_string(), SCENARIO_VERSION.to_string());
        }
        if self.name.is_empty() || !self.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        {
            refuse("name".into(), shown(&self.name), NAME_ALLOWED.into());
        } else if self.name.len() > MAX_NAME {
            refuse("name".into(), format!("{} characters", self.name.len()), NAME_ALLOWED.into());
        }
        for (field, text, most) in [("title", &self.title, 200), ("description", &self.description, 2_000)] {
            if text.chars().count() > most || text.chars().any(char::is_control) {
                refuse(field.into(), shown(text), format!("up to {most} characters on one line"));
            }
        }
        if !(1..=MAX_CORES).contains(&self.machine.cores) {
            refuse("machine.cores".into(), self.machine.cores.to_string(), format!("1 to {MAX_CORES}"));
        }
        if !(1..=MAX_RUNS).contains(&self.tasks.len()) {
            refuse("tasks".into(), format!("{} classes", self.tasks.len()), format!("1 to {MAX_RUNS} classes"));
        }
        if !(1..=MAX_RUNS).contains(&self.runs.len()) {
            refuse("runs".into(), format!("{} runs", self.runs.len()), format!("1 to {MAX_RUNS} runs"));
        }
        for (index, class) in self.tasks.iter().enumerate() {
            if !(1..=MAX_TASKS).contains(&class.count) {
                refuse(format!("tasks[{index}].count"), class.count.to_string(), format!("1 to {MAX_TASKS}"));
            }
        }
        if self.tasks.len() > 1 && self.task_count() > MAX_TASKS {
            refuse("tasks".into(), format!("{} tasks in all classes", self.task_count()), format!("1 to {MAX_TASKS}"));
        }
        let mut seen = Vec::new();
        for (index, class) in self.tasks.iter().enumerate() {
            check_arrival(index, class, &mut refuse);
            check_steps(index, &class.steps, &mut seen, &mut refuse);
        }
        for (index, run) in self.runs.iter().enumerate() {
            check_run(index, run, &mut refuse);
        }
        for (index, reference) in self.references.iter().enumerate() {
            if reference.run >= self.runs.len() {
                refuse(
                    format!("references[{index}].run"),
                    reference.run.to_string(),
                    format!("0 to {}", self.runs.len().saturating_sub(1)),
                );
            }
        }
        let serial = self.serial_ns(profile.costs.cpu_iteration);
        if serial > MAX_SERIAL_NS {
            refuse(
                "tasks".into(),
                format!("{} years of work in all", serial / (365 * 24 * 3_600 * 1_000_000_000)),
                "up to 73 years of work, all tasks one after the other".into(),
            );
        }
        if errors.is_empty() { Ok(()) } else { Err(ScenarioError::Invalid(errors)) }
    }

    /// Every wait and computation of every task, one after the other, at its longest.
    fn serial_ns(&self, iteration_ps: u64) -> u128 {
        let longest = |duration: &Duration| u128::from(Span::from(duration).longest());
        let step = |step: &Step| match step {
            Step::Cpu(CpuWork::Iterations(n)) => u128::from(n.iterations) * u128::from(iteration_ps) / 1_000,
            Step::Cpu(CpuWork::Time(duration)) | Step::Io(duration) | Step::Block(duration) => longest(duration),
            Step::Lock(_) | Step::Unlock(_) => 0,
        };
        let arrivals = |class: &super::TaskClass| match &class.arrival {
            Arrival::AtOnce => 0,
            Arrival::Every(gap) => u128::from(class.count) * u128::from(gap.0),
            Arrival::Poisson(mean) => u128::from(class.count) * u128::from(Span::Exponential(mean.0).longest()),
            Arrival::Bursts(bursts) => u128::from(class.count / bursts.size.max(1)) * u128::from(bursts.every.0),
            Arrival::Times(times) => times.iter().map(|time| u128::from(time.0)).max().unwrap_or(0),
        };
        let class = |class: &super::TaskClass| {
            u128::from(class.at.0)
                + arrivals(class)
                + u128::from(class.count) * class.steps.iter().map(step).sum::<u128>()
        };
        self.tasks.iter().map(class).sum()
    }
}

/// The text in quotes, with control characters written out, and cut where it is long.
fn shown(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        return format!("{text:?}");
    }
    format!("{:?}…", text.chars().take(MOST).collect::<String>())
}

fn check_arrival(index: usize, class: &super::TaskClass, refuse: &mut impl FnMut(String, String, String)) {
    let field = format!("tasks[{index}].arrival");
    match &class.arrival {
        Arrival::Bursts(bursts) if bursts.size == 0 => {
            refuse(format!("{field}.bursts.size"), "0".into(), "1 or more tasks in a burst".into());
        }
        Arrival::Times(times) if times.len() as u64 != class.count => {
            refuse(
                format!("{field}.times"),
                format!("{} times", times.len()),
                format!("{} times, one for each task", class.count),
            );
        }
        Arrival::Times(times) => {
            if let Some(&[before, after]) = times.array_windows().find(|[before, after]| before > after) {
                refuse(
                    format!("{field}.times"),
                    format!("\"{after}\" after \"{before}\""),
                    "times that do not fall".into(),
                );
            }
        }
        _ => {}
    }
}

/// `seen` holds the locks of the classes before, for a lock is of one kind for all tasks.
fn check_steps<'a>(
    class: usize,
    steps: &'a [Step],
    seen: &mut Vec<(&'a str, LockKind, LockScope)>,
    refuse: &mut impl FnMut(String, String, String),
) {
    if !(1..=MAX_STEPS).contains(&steps.len()) {
        refuse(format!("tasks[{class}].steps"), format!("{} steps", steps.len()), format!("1 to {MAX_STEPS} steps"));
    }
    let mut held: Vec<(&str, usize)> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let field = |name: &str| format!("tasks[{class}].steps[{index}].{name}");
        match step {
            Step::Cpu(CpuWork::Iterations(n)) => {
                if n.iterations > MAX_ITERATIONS {
                    refuse(field("cpu.iterations"), n.iterations.to_string(), format!("0 to {MAX_ITERATIONS}"));
                }
            }
            Step::Cpu(CpuWork::Time(duration)) => check_duration(&field("cpu"), duration, refuse),
            Step::Io(duration) => check_duration(&field("io"), duration, refuse),
            Step::Block(duration) => check_duration(&field("block"), duration, refuse),
            Step::Lock(lock) => {
                if lock.name.is_empty() {
                    refuse(field("lock.name"), "\"\"".into(), "a name".into());
                } else if held.iter().any(|(name, _)| *name == lock.name) {
                    refuse(
                        field("lock.name"),
                        format!("{:?}", lock.name),
                        "a lock that the task does not hold already".into(),
                    );
                } else {
                    held.push((&lock.name, index));
                }
                match seen.iter().find(|(name, ..)| *name == lock.name) {
                    Some(&(_, kind, scope)) if (kind, scope) != (lock.kind, lock.scope) => {
                        refuse(
                            field("lock"),
                            format!("{:?} of another kind or scope", lock.name),
                            "the same kind and scope wherever a name is used, in all classes".into(),
                        );
                    }
                    Some(_) => {}
                    None => seen.push((&lock.name, lock.kind, lock.scope)),
                }
            }
            Step::Unlock(name) => match held.last() {
                Some((top, _)) if top == name => {
                    held.pop();
                }
                Some((top, _)) if held.iter().any(|(held, _)| held == name) => {
                    refuse(
                        field("unlock"),
                        format!("{name:?}"),
                        format!("{top:?}, the lock taken last (locks are given back in reverse order)"),
                    );
                }
                Some((top, _)) => {
                    refuse(field("unlock"), format!("{name:?}"), format!("{top:?}, the lock that the task holds"));
                }
                None => {
                    refuse(field("unlock"), format!("{name:?}"), "no unlock here, for the task holds no lock".into());
                }
            },
        }
    }
    for (name, index) in held {
        refuse(
            format!("tasks[{class}].steps[{index}].lock.name"),
            format!("{name:?}"),
            format!("a lock that a later step gives back with {{ unlock = {name:?} }}"),
        );
    }
}

fn check_duration(field: &str, duration: &Duration, refuse: &mut impl FnMut(String, String, String)) {
    let Duration::Drawn(distribution) = duration else { return };
    match distribution {
        Distribution::Uniform(from, to) if from > to => {
            refuse(format!("{field}.uniform"), format!("[\"{from}\", \"{to}\"]"), "the shorter duration first".into());
        }
        Distribution::Lognormal(l) if l.sigma > Milli(4_000) => {
            refuse(format!("{field}.lognormal.sigma"), l.sigma.to_string(), "0 to 4".into());
        }
        Distribution::Pareto(p) => {
            if !(Milli(100)..=Milli(10_000)).contains(&p.shape) {
                refuse(format!("{field}.pareto.shape"), p.shape.to_string(), "0.1 to 10".into());
            }
            if p.min.0 == 0 || p.min > p.max {
                let allowed = format!("1 ns to {}, the max", p.max);
                refuse(format!("{field}.pareto.min"), format!("{:?}", p.min.to_string()), allowed);
            }
        }
        Distribution::Empirical(values) if !(1..=MAX_VALUES).contains(&values.len()) => {
            refuse(
                format!("{field}.empirical"),
                format!("{} values", values.len()),
                format!("1 to {MAX_VALUES} values"),
            );
        }
        _ => {}
    }
}

fn check_run(index: usize, run: &RunSpec, refuse: &mut impl FnMut(String, String, String)) {
    let field = |name: &str| format!("runs[{index}].{name}");
    let mut knob = |name: &str, value: Option<String>, model: Model| {
        if let Some(value) = value
            && run.model != model
        {
            refuse(field(name), value, format!("no {name} here, for it is a knob of {}", model.as_str()));
        }
    };
    knob("size", run.size.map(|v| v.to_string()), Model::ThreadPool);
    knob("poll_interval", run.poll_interval.map(|v| v.to_string()), Model::ThreadPool);
    knob("jdk", run.jdk.map(|v| v.to_string()), Model::GreenThreads);
    knob("carriers", run.carriers.map(|v| v.to_string()), Model::GreenThreads);
    knob("dispatcher", run.dispatcher.map(|v| v.as_str().to_owned()), Model::Coroutines);
    for (name, value) in [("size", run.size), ("carriers", run.carriers)] {
        if let Some(value) = value.filter(|v| !(1..=MAX_THREADS).contains(v)) {
            refuse(field(name), value.to_string(), format!("1 to {MAX_THREADS}"));
        }
    }
    if let Some(jdk) = run.jdk.filter(|jdk| !matches!(jdk, 21 | 25)) {
        refuse(field("jdk"), jdk.to_string(), "21 or 25".into());
    }
    if run.poll_interval.is_some_and(|v| v.0 < 1_000) {
        refuse(field("poll_interval"), run.poll_interval.unwrap_or_default().to_string(), "1 us or more".into());
    }
}
