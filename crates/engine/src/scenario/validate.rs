//! Checking a scenario before anything is allocated: ranges, arrivals, sums that must fit the clock.
//!
//! Steps are checked in `steps`, runs in `run`, how many events a run takes at least in `size`.

mod run;
mod size;
mod steps;

use self::run::check_run;
use self::size::check_size;
pub(super) use self::steps::count_children;
use self::steps::{Seen, Steps, check_duration, count_classes};
use super::{Arrival, CpuWork, Duration, Mix, SCENARIO_VERSION, Scenario, Step, TaskClass};
use crate::draw::Span;
use crate::error::{FieldError, ScenarioError};
use crate::profile::CostProfile;

/// Most tasks in one scenario.
pub const MAX_TASKS: u64 = 1_000_000;
/// Most cores of a machine.
pub const MAX_CORES: u32 = 1_024;
/// Most threads of a pool or carriers.
pub const MAX_THREADS: u32 = 32_768;
/// Most threads that Linux can have: its largest `pid_max`.
pub(super) const MAX_OS_THREADS: u32 = 1 << 22;
/// Most steps in one list.
pub const MAX_STEPS: usize = 256;
/// Most runs and task classes.
pub const MAX_RUNS: usize = 16;
/// Longest name of a scenario.
const MAX_NAME: usize = 64;
const NAME_ALLOWED: &str = "up to 64 lower-case letters, digits and hyphens";
/// Most values of an empirical distribution.
pub(super) const MAX_VALUES: usize = 100_000;
/// Most iterations of a `cpu` step.
pub(super) const MAX_ITERATIONS: u64 = 1_000_000_000_000;
/// Most levels of tasks that tasks spawn, and of repetitions in each other.
pub const MAX_DEPTH: usize = 4;
/// Most steps of a task with every repetition and every spawned task counted.
pub const MAX_OPS: usize = 60_000;
/// Most classes together with those of spawned tasks.
const MAX_CLASSES: usize = 64;
/// Most weight of a class in a mix.
const MAX_WEIGHT: u32 = 1_000_000;
/// All tasks one after the other must end within this, so that no sum of times can overflow.
const MAX_SERIAL_NS: u128 = u64::MAX as u128 / 8;

/// The least and the most that a field of this name may hold, where that depends on its name alone.
pub(super) fn whole(field: &str) -> Option<(u64, u64)> {
    let (owner, name) = field.rsplit_once('.').unwrap_or(("", field));
    let (least, most) = match name {
        "size" if owner.ends_with("bursts") => (1, u64::MAX),
        "count" | "users" => (1, MAX_TASKS),
        "weight" => (1, MAX_WEIGHT.into()),
        "times" => (1, MAX_OPS as u64),
        "cores" => (1, MAX_CORES.into()),
        "max_threads" => (1, MAX_OS_THREADS.into()),
        "permits" => (1, MAX_THREADS.into()),
        "iterations" => (0, MAX_ITERATIONS),
        "version" => (SCENARIO_VERSION.into(), SCENARIO_VERSION.into()),
        _ => return run::whole(name),
    };
    Some((least, most))
}

/// Refuses a value that its field may not hold.
fn check_whole(field: String, value: impl Into<u64>, refuse: &mut impl FnMut(String, String, String)) {
    let value = value.into();
    if let Some((least, most)) = whole(&field)
        && !(least..=most).contains(&value)
    {
        refuse(field, value.to_string(), format!("{least} to {most}"));
    }
}

impl Scenario {
    /// Checks every rule and lists every field that breaks one.
    pub fn validate(&self) -> Result<(), ScenarioError> {
        let mut profile = CostProfile::named(&self.profile)?;
        let mut errors = profile.replace(&self.costs);
        let mut slowest_ps = profile.costs.cpu_iteration;
        for (index, run) in self.runs.iter().enumerate() {
            let mut of_run = profile.clone();
            errors.extend(of_run.replace(&run.costs).into_iter().map(|mut error| {
                error.field = format!("runs[{index}].{}", error.field);
                error
            }));
            slowest_ps = slowest_ps.max(of_run.costs.cpu_iteration);
        }
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
        check_whole("machine.cores".into(), self.machine.cores, &mut refuse);
        if !(1..=MAX_RUNS).contains(&self.tasks.len()) {
            refuse("tasks".into(), format!("{} classes", self.tasks.len()), format!("1 to {MAX_RUNS} classes"));
        }
        if !(1..=MAX_RUNS).contains(&self.runs.len()) {
            refuse("runs".into(), format!("{} runs", self.runs.len()), format!("1 to {MAX_RUNS} runs"));
        }
        check_counts(self, &mut refuse);
        let mut seen = Seen::default();
        for (index, class) in self.tasks.iter().enumerate() {
            let field = format!("tasks[{index}].arrival");
            if self.mix.is_none() {
                check_arrival(&field, &class.arrival, class.count, &mut refuse);
            } else if class.arrival != Arrival::AtOnce || class.at.0 > 0 {
                refuse(field, "an arrival".into(), "no arrival here, for the mix has one for all classes".into());
            }
            let mut steps = Steps { seen: &mut seen, refuse: &mut refuse };
            steps.check(&format!("tasks[{index}].steps"), &class.steps, 0);
        }
        if let Some(mix) = &self.mix {
            check_arrival("mix.arrival", &mix.arrival, mix.count, &mut refuse);
        }
        for (index, run) in self.runs.iter().enumerate() {
            check_run(index, run, &mut refuse);
        }
        if let Some(most) = self.machine.max_threads {
            check_whole("machine.max_threads".into(), most, &mut refuse);
        }
        if self.machine.memory.is_some_and(|memory| memory.0 == 0) {
            refuse("machine.memory".into(), "0 B".into(), "1 B or more".into());
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
        let serial = self.serial_ns(slowest_ps);
        if serial > MAX_SERIAL_NS {
            refuse(
                "tasks".into(),
                format!("{} years of work in all", serial / (365 * 24 * 3_600 * 1_000_000_000)),
                "up to 73 years of work, all tasks one after the other".into(),
            );
        }
        if errors.is_empty() {
            check_size(self, &mut |field, value, allowed| errors.push(FieldError { field, value, allowed }));
        }
        if errors.is_empty() { Ok(()) } else { Err(ScenarioError::Invalid(errors)) }
    }

    /// Every wait and computation of every task, one after the other, at its longest.
    fn serial_ns(&self, iteration_ps: u64) -> u128 {
        let (count, at, arrival) = match &self.mix {
            Some(Mix { count, at, arrival }) => (*count, at.0, Some(arrival)),
            None => (0, 0, None),
        };
        let mixed = self.tasks.iter().map(|class| work_ns(&class.steps, iteration_ps)).max().unwrap_or(0);
        let stream = u128::from(at)
            + arrival.map_or(0, |arrival| arrivals_ns(arrival, count))
            + u128::from(count).saturating_mul(mixed);
        let class = |class: &TaskClass| {
            u128::from(class.at.0)
                + arrivals_ns(&class.arrival, class.count)
                + u128::from(class.count).saturating_mul(work_ns(&class.steps, iteration_ps))
        };
        self.tasks.iter().map(class).fold(stream, u128::saturating_add)
    }
}

/// [ns] What a task with these steps does, and everything that it spawns, one after the other, at its longest.
fn work_ns(steps: &[Step], iteration_ps: u64) -> u128 {
    let longest = |duration: &Duration| u128::from(Span::from(duration).longest());
    let step = |step: &Step| match step {
        Step::Cpu(CpuWork::Iterations(n)) => u128::from(n.iterations) * u128::from(iteration_ps) / 1_000,
        Step::Cpu(CpuWork::Time(duration)) | Step::Io(duration) => longest(duration),
        Step::Block(block) => longest(&block.time),
        Step::Lock(lock) => lock.retry.as_ref().map_or(0, longest),
        Step::Spawn(spawn) => u128::from(spawn.count).saturating_mul(work_ns(&spawn.steps, iteration_ps)),
        Step::Repeat(repeat) => u128::from(repeat.times).saturating_mul(work_ns(&repeat.steps, iteration_ps)),
        Step::Unlock(_) | Step::Acquire(_) | Step::Release(_) | Step::Yield | Step::Join => 0,
    };
    steps.iter().map(step).fold(0, u128::saturating_add)
}

/// [ns] The longest time until the last of `count` tasks arrives.
fn arrivals_ns(arrival: &Arrival, count: u64) -> u128 {
    let count = u128::from(count);
    match arrival {
        Arrival::AtOnce => 0,
        Arrival::Every(gap) => count * u128::from(gap.0),
        Arrival::Poisson(mean) => count * u128::from(Span::Exponential(mean.0).longest()),
        Arrival::Bursts(bursts) => count / u128::from(bursts.size.max(1)) * u128::from(bursts.every.0),
        Arrival::ClosedLoop(closed) => {
            count / u128::from(closed.users.max(1)) * u128::from(Span::from(&closed.think).longest())
        }
        Arrival::Times(times) => times.iter().map(|time| u128::from(time.0)).max().unwrap_or(0),
    }
}

/// Counts, weights, and what they make together.
fn check_counts(scenario: &Scenario, refuse: &mut impl FnMut(String, String, String)) {
    for (index, class) in scenario.tasks.iter().enumerate() {
        let field = |name: &str| format!("tasks[{index}].{name}");
        if scenario.mix.is_some() {
            match class.weight {
                Some(weight) if (1..=MAX_WEIGHT).contains(&weight) => {}
                weight => {
                    let value = weight.map_or_else(|| "none".to_owned(), |weight| weight.to_string());
                    refuse(field("weight"), value, format!("1 to {MAX_WEIGHT}"));
                }
            }
            if class.count > 0 {
                refuse(field("count"), class.count.to_string(), "no count here, for the mix has one".into());
            }
            continue;
        }
        if !(1..=MAX_TASKS).contains(&class.count) {
            // One that is missing reads as 0.
            let value = if class.count == 0 { "0, or none at all,".to_owned() } else { class.count.to_string() };
            refuse(field("count"), value, format!("1 to {MAX_TASKS}"));
        }
        if let Some(weight) = class.weight {
            refuse(field("weight"), weight.to_string(), "no weight here without a mix".into());
        }
    }
    if let Some(mix) = &scenario.mix {
        check_whole("mix.count".into(), mix.count, refuse);
    }
    let classes = scenario.tasks.iter().map(|class| 1 + count_classes(&class.steps)).sum::<usize>();
    if classes > MAX_CLASSES {
        refuse(
            "tasks".into(),
            format!("{classes} classes with those of spawned tasks"),
            format!("up to {MAX_CLASSES} classes"),
        );
    }
    let all = match &scenario.mix {
        Some(mix) => {
            let most = scenario.tasks.iter().map(|class| count_children(&class.steps)).max().unwrap_or(0);
            mix.count.saturating_mul(most.saturating_add(1))
        }
        None => scenario.tasks.iter().fold(0_u64, |sum, class| {
            sum.saturating_add(class.count.saturating_mul(count_children(&class.steps).saturating_add(1)))
        }),
    };
    let alone = scenario.tasks.len() == 1 && classes == 1;
    if !alone && all > MAX_TASKS {
        refuse("tasks".into(), format!("{all} tasks in all classes"), format!("1 to {MAX_TASKS}"));
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

/// Refuses what is wrong with the arrival of `count` tasks.
fn check_arrival(field: &str, arrival: &Arrival, count: u64, refuse: &mut impl FnMut(String, String, String)) {
    match arrival {
        Arrival::Bursts(bursts) if bursts.size == 0 => {
            refuse(format!("{field}.bursts.size"), "0".into(), "1 or more tasks in a burst".into());
        }
        Arrival::ClosedLoop(closed) => {
            check_whole(format!("{field}.closed-loop.users"), closed.users, refuse);
            check_duration(&format!("{field}.closed-loop.think"), &closed.think, refuse);
        }
        Arrival::Times(times) if times.len() as u64 != count => {
            refuse(
                format!("{field}.times"),
                format!("{} times", times.len()),
                format!("{count} times, one for each task"),
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
