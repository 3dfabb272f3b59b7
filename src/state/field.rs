//! The controls of the form: what each is called in a link, how its value is read from a scenario and written into one.

use parkbench_engine::{
    Block, Blocking, CpuWork, Dispatcher, Distribution, Duration, Flavor, Iterations, Model, Nanos, PROFILE_NAMES,
    PoolKind, Rejection, RunSpec, Runtime, Scenario, Step,
};

/// A control that changes one thing in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// How many tasks of the first class, or of the mix.
    Tasks,
    /// The first wait of the first class.
    Wait,
    /// The first computation of the first class.
    Cpu,
    /// Cores of the machine.
    Cores,
    /// Kind of the thread pools.
    PoolKind,
    /// Threads of the fixed pools.
    Pool,
    /// Room in the queue of the fixed pools.
    Queue,
    /// What becomes of a task that finds no room there.
    Rejection,
    /// Runtime of the green threads.
    Green,
    /// Runtime of the coroutines.
    Coroutine,
    /// Which runtime of tokio.
    Flavor,
    /// JDK of the virtual threads.
    Jdk,
    /// Carriers of the virtual threads.
    Carriers,
    /// Most carriers, with those that make up for blocked ones.
    MaxPool,
    /// Carriers that must not be blocked.
    MinRunnable,
    /// `GOMAXPROCS` of the goroutines, `worker_threads` of tokio.
    Workers,
    /// Dispatcher of Kotlin's coroutines.
    Dispatcher,
    /// A limited view of that dispatcher.
    Parallelism,
    /// Where calls that block run on tokio.
    Blocking,
    /// Seed of the random draws.
    Seed,
    /// Cost profile.
    Profile,
}

/// A value that a field refuses: what is allowed instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What may be written.
    pub allowed: String,
}

impl Field {
    /// Every field, in the order of the form and of links.
    pub const ALL: [Self; 21] = [
        Self::Tasks,
        Self::Wait,
        Self::Cpu,
        Self::Cores,
        Self::PoolKind,
        Self::Pool,
        Self::Queue,
        Self::Rejection,
        Self::Green,
        Self::Coroutine,
        Self::Flavor,
        Self::Jdk,
        Self::Carriers,
        Self::MaxPool,
        Self::MinRunnable,
        Self::Workers,
        Self::Dispatcher,
        Self::Parallelism,
        Self::Blocking,
        Self::Seed,
        Self::Profile,
    ];

    /// The key in links, which is also the id of the control.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Tasks => "tasks",
            Self::Wait => "wait",
            Self::Cpu => "cpu",
            Self::Cores => "cores",
            Self::PoolKind => "pool-kind",
            Self::Pool => "pool",
            Self::Queue => "queue",
            Self::Rejection => "rejection",
            Self::Green => "green",
            Self::Jdk => "jdk",
            Self::Carriers => "carriers",
            Self::MaxPool => "max-pool",
            Self::MinRunnable => "min-runnable",
            Self::Workers => "workers",
            Self::Coroutine => "coroutine",
            Self::Flavor => "flavor",
            Self::Dispatcher => "dispatcher",
            Self::Parallelism => "parallelism",
            Self::Blocking => "blocking",
            Self::Seed => "seed",
            Self::Profile => "profile",
        }
    }

    /// The field with this key.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.key() == key)
    }

    /// The choices, for fields that are chosen and not typed.
    pub fn choices(self) -> Option<Vec<&'static str>> {
        match self {
            Self::PoolKind => Some(PoolKind::ALL.map(PoolKind::as_str).to_vec()),
            Self::Rejection => Some(Rejection::ALL.map(Rejection::as_str).to_vec()),
            Self::Green => Some(vec![Runtime::Java.as_str(), Runtime::Go.as_str()]),
            Self::Jdk => Some(vec!["21", "22", "23", "24", "25"]),
            Self::Coroutine => Some(vec![Runtime::Kotlin.as_str(), Runtime::Tokio.as_str()]),
            Self::Flavor => Some(Flavor::ALL.map(Flavor::as_str).to_vec()),
            Self::Blocking => Some(Blocking::ALL.map(Blocking::as_str).to_vec()),
            Self::Dispatcher => Some(vec!["default", "io", "event-loop"]),
            Self::Profile => Some(PROFILE_NAMES.to_vec()),
            _ => None,
        }
    }

    /// The value in a scenario as text without spaces between number and unit; `None` where the scenario has no such
    /// thing, or several that differ.
    pub fn read(self, scenario: &Scenario) -> Option<String> {
        let steps = scenario.tasks.first().map(|class| class.steps.as_slice()).unwrap_or_default();
        match self {
            Self::Tasks => match &scenario.mix {
                Some(mix) => Some(mix.count.to_string()),
                None => scenario.tasks.first().map(|class| class.count.to_string()),
            },
            Self::Wait => Some(match steps.iter().find_map(wait_of) {
                Some(duration) => duration_text(duration),
                None => "0 ns".to_owned(),
            }),
            Self::Cpu => Some(match steps.iter().find_map(cpu_of) {
                Some(CpuWork::Iterations(n)) => format!("{} iterations", n.iterations),
                Some(CpuWork::Time(duration)) => duration_text(duration),
                None => "0 ns".to_owned(),
            }),
            Self::Cores => Some(scenario.machine.cores.to_string()),
            Self::PoolKind => one(scenario, is_pool, |run| run.pool.unwrap_or_default().as_str().to_owned()),
            Self::Pool => one(scenario, is_fixed, |run| run.size.unwrap_or(scenario.machine.cores).to_string()),
            Self::Queue => one(scenario, is_fixed, |run| match run.queue {
                Some(most) => most.to_string(),
                None => NO_LIMIT.to_owned(),
            }),
            Self::Rejection => one(scenario, is_fixed, |run| run.rejection.unwrap_or_default().as_str().to_owned()),
            Self::Jdk => one(scenario, runs_on(Runtime::Java), |run| {
                run.jdk.unwrap_or(parkbench_engine::DEFAULT_JDK).to_string()
            }),
            Self::Carriers => one(scenario, runs_on(Runtime::Java), |run| carriers(scenario, run).to_string()),
            Self::MaxPool => one(scenario, runs_on(Runtime::Java), |run| max_pool(scenario, run).to_string()),
            Self::MinRunnable => one(scenario, runs_on(Runtime::Java), |run| {
                let half = carriers(scenario, run) / 2;
                run.min_runnable.unwrap_or(half.max(1)).to_string()
            }),
            Self::Green => runtime(scenario, Model::GreenThreads),
            Self::Coroutine => runtime(scenario, Model::Coroutines),
            Self::Flavor => {
                one(scenario, runs_on(Runtime::Tokio), |run| run.flavor.unwrap_or_default().as_str().to_owned())
            }
            Self::Parallelism => one(scenario, is_viewable, |run| match run.parallelism {
                Some(most) => most.to_string(),
                None => NO_LIMIT.to_owned(),
            }),
            Self::Blocking => {
                one(scenario, runs_on(Runtime::Tokio), |run| run.blocking.unwrap_or_default().as_str().to_owned())
            }
            Self::Workers => {
                one(scenario, has_workers, |run| run.workers.unwrap_or(scenario.machine.cores).to_string())
            }
            Self::Dispatcher => {
                one(scenario, runs_on(Runtime::Kotlin), |run| run.dispatcher.unwrap_or_default().as_str().to_owned())
            }
            Self::Seed => Some(scenario.seed.to_string()),
            Self::Profile => Some(scenario.profile.clone()),
        }
    }

    /// Writes a value into a scenario, or says what is allowed. Ranges are the engine's to check.
    pub fn write(self, scenario: &mut Scenario, text: &str) -> Result<(), Refused> {
        let text = text.trim();
        match self {
            Self::Tasks => {
                let count = whole(text, "1 to 1000000")?;
                if let Some(mix) = &mut scenario.mix {
                    mix.count = count;
                } else if let Some(class) = scenario.tasks.first_mut() {
                    class.count = count;
                }
            }
            Self::Wait => {
                let value = parse_duration(text)?;
                if let Some(class) = scenario.tasks.first_mut() {
                    match class.steps.iter_mut().find(|step| wait_of(step).is_some()) {
                        Some(Step::Io(duration) | Step::Block(Block { time: duration, .. })) => *duration = value,
                        _ if is_zero(&value) => {}
                        _ => class.steps.push(Step::Io(value)),
                    }
                }
            }
            Self::Cpu => {
                let value = parse_cpu(text)?;
                if let Some(class) = scenario.tasks.first_mut() {
                    match class.steps.iter_mut().find(|step| cpu_of(step).is_some()) {
                        Some(Step::Cpu(work)) => *work = value,
                        _ if matches!(&value, CpuWork::Time(time) if is_zero(time)) => {}
                        _ => class.steps.insert(0, Step::Cpu(value)),
                    }
                }
            }
            Self::Cores => scenario.machine.cores = small(text, "1 to 1024")?,
            Self::Pool => {
                let size = small(text, "1 to 32768")?;
                each(scenario, is_fixed, |run| run.size = Some(size));
            }
            Self::PoolKind => {
                let kind = word(text, &PoolKind::ALL, PoolKind::as_str)?;
                let named = kind != PoolKind::default();
                // A scenario of one's own may name the default.
                each(scenario, is_pool, |run| run.pool = (named || run.pool.is_some()).then_some(kind));
                each(
                    scenario,
                    |run| is_pool(run) && !is_fixed(run),
                    |run| {
                        (run.size, run.queue, run.rejection) = (None, None, None);
                    },
                );
            }
            Self::Queue => {
                let most = if text == NO_LIMIT { None } else { Some(small(text, QUEUE_ALLOWED)?) };
                each(scenario, is_fixed, |run| run.queue = most);
            }
            Self::Rejection => {
                let rejection = word(text, &Rejection::ALL, Rejection::as_str)?;
                let named = rejection != Rejection::default();
                each(scenario, is_fixed, |run| run.rejection = (named || run.rejection.is_some()).then_some(rejection));
            }
            Self::Jdk => {
                let jdk = small(text, "21 to 25")?;
                each(scenario, runs_on(Runtime::Java), |run| run.jdk = Some(jdk));
            }
            Self::Carriers => {
                let carriers = small(text, "1 to 32768")?;
                each(scenario, runs_on(Runtime::Java), |run| run.carriers = Some(carriers));
            }
            Self::MaxPool => {
                let most = small(text, "1 to 32768")?;
                each(scenario, runs_on(Runtime::Java), |run| run.max_pool = Some(most));
            }
            Self::MinRunnable => {
                let least = small(text, "0 to 32768")?;
                each(scenario, runs_on(Runtime::Java), |run| run.min_runnable = Some(least));
            }
            Self::Green => {
                let runtime = match text {
                    "java" => Runtime::Java,
                    "go" => Runtime::Go,
                    _ => return Err(Refused { allowed: "java, go".to_owned() }),
                };
                for run in scenario.runs.iter_mut().filter(|run| run.runtime() != Some(runtime)) {
                    change_green(run, runtime);
                }
            }
            Self::Workers => {
                let workers = small(text, "1 to 32768")?;
                each(scenario, has_workers, |run| run.workers = Some(workers));
            }
            Self::Dispatcher => {
                let dispatcher = match text {
                    "default" => Dispatcher::Default,
                    "io" => Dispatcher::Io,
                    "event-loop" => Dispatcher::EventLoop,
                    _ => return Err(Refused { allowed: "default, io, event-loop".to_owned() }),
                };
                each(scenario, runs_on(Runtime::Kotlin), |run| run.dispatcher = Some(dispatcher));
                each(scenario, |run| !is_viewable(run), |run| run.parallelism = None);
            }
            Self::Parallelism => {
                let most = if text == NO_LIMIT { None } else { Some(small(text, "1 to 32768, or none")?) };
                each(scenario, is_viewable, |run| run.parallelism = most);
            }
            Self::Coroutine => {
                let runtime = word(text, &[Runtime::Kotlin, Runtime::Tokio], Runtime::as_str)?;
                for run in scenario.runs.iter_mut().filter(|run| run.model == Model::Coroutines) {
                    if run.runtime() != Some(runtime) {
                        let named = (runtime != Runtime::Kotlin).then_some(runtime);
                        *run = RunSpec { lock: run.lock, runtime: named, ..RunSpec::new(Model::Coroutines) };
                    }
                }
            }
            Self::Flavor => {
                let flavor = word(text, &Flavor::ALL, Flavor::as_str)?;
                let named = flavor != Flavor::default();
                each(scenario, runs_on(Runtime::Tokio), |run| {
                    run.flavor = (named || run.flavor.is_some()).then_some(flavor);
                    run.workers = run.workers.filter(|_| flavor == Flavor::MultiThread);
                });
            }
            Self::Blocking => {
                let blocking = word(text, &Blocking::ALL, Blocking::as_str)?;
                let named = blocking != Blocking::default();
                each(scenario, runs_on(Runtime::Tokio), |run| {
                    run.blocking = (named || run.blocking.is_some()).then_some(blocking);
                });
            }
            Self::Seed => scenario.seed = whole(text, "0 to 18446744073709551615")?,
            Self::Profile => {
                if !PROFILE_NAMES.contains(&text) {
                    return Err(Refused { allowed: PROFILE_NAMES.join(", ") });
                }
                text.clone_into(&mut scenario.profile);
            }
        }
        Ok(())
    }

    /// The field that shows an error about this path of a scenario.
    pub fn for_path(path: &str) -> Option<Self> {
        let last = path.rsplit('.').next().unwrap_or(path);
        let class = path.starts_with("tasks[0]");
        match path {
            "machine.cores" => Some(Self::Cores),
            "mix.count" => Some(Self::Tasks),
            "seed" => Some(Self::Seed),
            "profile" => Some(Self::Profile),
            _ if class && last == "count" => Some(Self::Tasks),
            _ if class && (path.contains(".io") || path.contains(".block")) => Some(Self::Wait),
            _ if class && path.contains(".cpu") => Some(Self::Cpu),
            _ if path.starts_with("runs[") => match last {
                "pool" => Some(Self::PoolKind),
                "size" => Some(Self::Pool),
                "queue" => Some(Self::Queue),
                "rejection" => Some(Self::Rejection),
                "jdk" => Some(Self::Jdk),
                "carriers" => Some(Self::Carriers),
                "max_pool" => Some(Self::MaxPool),
                "min_runnable" => Some(Self::MinRunnable),
                "workers" => Some(Self::Workers),
                "dispatcher" => Some(Self::Dispatcher),
                "flavor" => Some(Self::Flavor),
                "parallelism" => Some(Self::Parallelism),
                "blocking" => Some(Self::Blocking),
                _ => None,
            },
            _ => None,
        }
    }
}

fn wait_of(step: &Step) -> Option<&Duration> {
    match step {
        Step::Io(duration) | Step::Block(Block { time: duration, .. }) => Some(duration),
        _ => None,
    }
}

fn cpu_of(step: &Step) -> Option<&CpuWork> {
    match step {
        Step::Cpu(work) => Some(work),
        _ => None,
    }
}

/// The value that all runs of a kind share.
fn one(scenario: &Scenario, kind: impl Fn(&RunSpec) -> bool, value: impl Fn(&RunSpec) -> String) -> Option<String> {
    let mut values = scenario.runs.iter().filter(|run| kind(run)).map(value);
    let first = values.next()?;
    values.all(|other| other == first).then_some(first)
}

fn each(scenario: &mut Scenario, kind: impl Fn(&RunSpec) -> bool, change: impl Fn(&mut RunSpec)) {
    scenario.runs.iter_mut().filter(|run| kind(run)).for_each(change);
}

/// How many carriers a run of Java has, as the engine resolves it.
fn carriers(scenario: &Scenario, run: &RunSpec) -> u32 {
    run.carriers.unwrap_or(scenario.machine.cores)
}

/// How many it may have at most.
fn max_pool(scenario: &Scenario, run: &RunSpec) -> u32 {
    run.max_pool.unwrap_or_else(|| carriers(scenario, run).max(256))
}

pub(super) fn runs_on(runtime: Runtime) -> impl Fn(&RunSpec) -> bool {
    move |run| run.runtime() == Some(runtime)
}

/// The runtime that all runs of a model share.
fn runtime(scenario: &Scenario, model: Model) -> Option<String> {
    let name = |run: &RunSpec| run.runtime().map_or("", Runtime::as_str).to_owned();
    one(scenario, |run| run.model == model, name)
}

/// Whether it has a number of workers that is not a number of carriers.
pub(super) fn has_workers(run: &RunSpec) -> bool {
    let threads = run.flavor.unwrap_or_default() == Flavor::MultiThread;
    runs_on(Runtime::Go)(run) || runs_on(Runtime::Tokio)(run) && threads
}

/// Whether it has a dispatcher of which there are limited views.
pub(super) fn is_viewable(run: &RunSpec) -> bool {
    runs_on(Runtime::Kotlin)(run) && run.dispatcher.unwrap_or_default() != Dispatcher::EventLoop
}

pub(super) fn is_pool(run: &RunSpec) -> bool {
    run.model == Model::ThreadPool
}

/// Whether it is a pool with a size.
pub(super) fn is_fixed(run: &RunSpec) -> bool {
    is_pool(run) && run.pool.unwrap_or_default() == PoolKind::Fixed
}

/// Stands for a queue that takes all tasks.
pub const NO_LIMIT: &str = "none";
const QUEUE_ALLOWED: &str = "0 to 4294967295, or none";

/// One of the words of a closed list.
fn word<T: Copy>(text: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, Refused> {
    let words = || all.iter().map(|&item| name(item)).collect::<Vec<_>>().join(", ");
    all.iter().copied().find(|&item| name(item) == text).ok_or_else(|| Refused { allowed: words() })
}

/// Gives a run of green threads another runtime; of its knobs the number of carriers or workers stays.
fn change_green(run: &mut RunSpec, runtime: Runtime) {
    if run.model != Model::GreenThreads {
        return;
    }
    let threads = run.carriers.or(run.workers);
    let plain = RunSpec { lock: run.lock, ..RunSpec::new(Model::GreenThreads) };
    *run = match runtime {
        Runtime::Go => RunSpec { runtime: Some(Runtime::Go), workers: threads, ..plain },
        _ => RunSpec { carriers: threads, ..plain },
    };
}

fn is_zero(duration: &Duration) -> bool {
    matches!(duration, Duration::Constant(Nanos(0)))
}

fn duration_text(duration: &Duration) -> String {
    match duration {
        Duration::Constant(nanos) => nanos.to_string(),
        Duration::Drawn(Distribution::Uniform(from, to)) => format!("{from} .. {to}"),
        // The other distributions have names and numbers: they are shown, and may be typed, as in a scenario file.
        Duration::Drawn(_) => serde_json::to_string(duration).unwrap_or_default(),
    }
}

const DURATION_ALLOWED: &str = "a time such as 50 ms, or a range such as 2 s .. 2.2 s, from 0 ns to 8760 h";

fn parse_duration(text: &str) -> Result<Duration, Refused> {
    let nanos = |text: &str| {
        Nanos::parse(text).map_err(|error| Refused { allowed: format!("{DURATION_ALLOWED} ({})", error.problem) })
    };
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text)
            .map_err(|error| Refused { allowed: format!("{DURATION_ALLOWED} ({error})") });
    }
    match text.split_once("..") {
        Some((from, to)) => Ok(Duration::Drawn(Distribution::Uniform(nanos(from)?, nanos(to)?))),
        None => Ok(Duration::Constant(nanos(text)?)),
    }
}

fn parse_cpu(text: &str) -> Result<CpuWork, Refused> {
    if let Some(number) = text.strip_suffix("iterations") {
        let allowed = "a time such as 20 us, or a count such as 100000 iterations";
        return Ok(CpuWork::Iterations(Iterations { iterations: whole(number.trim(), allowed)? }));
    }
    parse_duration(text).map(CpuWork::Time)
}

/// A whole number; thousands may be separated by commas or underscores.
fn whole(text: &str, allowed: &str) -> Result<u64, Refused> {
    let refused = || Refused { allowed: allowed.to_owned() };
    if !text.starts_with(|c: char| c.is_ascii_digit()) || !text.chars().all(|c| c.is_ascii_digit() || ",_".contains(c))
    {
        return Err(refused());
    }
    text.replace([',', '_'], "").parse().map_err(|_| refused())
}

fn small(text: &str, allowed: &str) -> Result<u32, Refused> {
    u32::try_from(whole(text, allowed)?).map_err(|_| Refused { allowed: allowed.to_owned() })
}

#[cfg(test)]
mod tests {
    use parkbench_engine::{PRESET_NAMES, preset};

    use super::*;

    #[test]
    fn what_a_field_reads_it_can_write_back() {
        for name in PRESET_NAMES {
            let scenario = preset(name).unwrap();
            for field in Field::ALL {
                let Some(text) = field.read(&scenario) else { continue };
                let mut copy = scenario.clone();
                field.write(&mut copy, &text).unwrap();
                assert_eq!(field.read(&copy), Some(text), "{name} {field:?}");
                assert_eq!(copy.task_count(), scenario.task_count());
                assert_eq!(copy.tasks, scenario.tasks, "{name} {field:?}");
            }
        }
    }

    #[track_caller]
    fn check(field: Field, text: &str, expect: Result<&str, &str>) {
        let mut scenario = preset("io-bound").unwrap();
        match (field.write(&mut scenario, text), expect) {
            (Ok(()), Ok(want)) => assert_eq!(field.read(&scenario).as_deref(), Some(want), "{text}"),
            (Err(refused), Err(want)) => assert!(refused.allowed.contains(want), "{text}: {}", refused.allowed),
            (got, want) => panic!("{text}: got {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn values_as_people_type_them() {
        check(Field::Tasks, "20,000", Ok("20000"));
        check(Field::Tasks, "-1", Err("1 to 1000000"));
        check(Field::Tasks, "ten", Err("1 to 1000000"));
        check(Field::Tasks, "99999999999999999999", Err("1 to 1000000"));
        check(Field::Wait, "1.5ms", Ok("1.5 ms"));
        check(Field::Wait, "2s..2.2s", Ok("2 s .. 2.2 s"));
        check(Field::Wait, "-5 ms", Err("negative"));
        check(Field::Wait, "5", Err("unit is missing"));
        check(Field::Cpu, "20 us", Ok("20 us"));
        check(Field::Cpu, "100000 iterations", Ok("100000 iterations"));
        check(Field::Cpu, "0 ns", Ok("0 ns"));
        check(Field::Cores, "4294967296", Err("1 to 1024"));
        check(Field::PoolKind, "cached", Ok("cached"));
        check(Field::PoolKind, "work-stealing", Err("fixed, cached, thread-per-task"));
        check(Field::Queue, "1,000", Ok("1000"));
        check(Field::Queue, "none", Ok("none"));
        check(Field::Queue, "-1", Err("0 to 4294967295, or none"));
        check(Field::Rejection, "caller-runs", Ok("caller-runs"));
        check(Field::Rejection, "discard", Err("abort, caller-runs"));
        check(Field::Jdk, "21", Ok("21"));
        check(Field::Carriers, "4", Ok("4"));
        check(Field::Carriers, "", Err("1 to 32768"));
        check(Field::MaxPool, "512", Ok("512"));
        check(Field::MinRunnable, "0", Ok("0"));
        check(Field::MinRunnable, "-1", Err("0 to 32768"));
        check(Field::Green, "go", Ok("go"));
        check(Field::Green, "erlang", Err("java, go"));
        check(Field::Dispatcher, "event-loop", Ok("event-loop"));
        check(Field::Parallelism, "128", Ok("128"));
        check(Field::Parallelism, "none", Ok("none"));
        check(Field::Parallelism, "all", Err("1 to 32768, or none"));
        check(Field::Coroutine, "tokio", Ok("tokio"));
        check(Field::Coroutine, "kotlin", Ok("kotlin"));
        check(Field::Coroutine, "go", Err("kotlin, tokio"));
        check(Field::Dispatcher, "unconfined", Err("event-loop"));
        check(Field::Seed, "18446744073709551615", Ok("18446744073709551615"));
        check(Field::Profile, "seed-3", Err("linux-default"));
    }

    #[test]
    fn a_field_that_differs_between_runs_is_absent() {
        assert_eq!(Field::Jdk.read(&preset("pinning").unwrap()), None);
        assert_eq!(Field::Pool.read(&preset("pinning").unwrap()), None);
        let threads = preset("native-threads").unwrap();
        assert_eq!((Field::PoolKind.read(&threads), Field::Pool.read(&threads)), (None, Some("500".to_owned())));
    }

    #[test]
    fn a_pool_that_is_not_fixed_has_no_size_and_no_queue() {
        let mut scenario = preset("llm-agents").unwrap();
        Field::Queue.write(&mut scenario, "20").unwrap();
        Field::PoolKind.write(&mut scenario, "cached").unwrap();
        Field::Pool.write(&mut scenario, "300").unwrap();
        assert_eq!(
            [Field::Pool, Field::Queue, Field::Rejection].map(|field| field.read(&scenario)),
            [None, None, None]
        );
        scenario.references.clear();
        assert_eq!(scenario.validate(), Ok(()));
    }

    #[test]
    fn another_runtime_keeps_the_number_of_threads() {
        let mut scenario = preset("io-bound").unwrap();
        scenario.runs[1].carriers = Some(3);
        let before = scenario.clone();
        Field::Green.write(&mut scenario, "go").unwrap();
        assert_eq!((Field::Jdk.read(&scenario), Field::Workers.read(&scenario)), (None, Some("3".to_owned())));
        scenario.validate().unwrap();
        Field::Green.write(&mut scenario, "java").unwrap();
        assert_eq!(scenario.runs[1].carriers, before.runs[1].carriers);
        assert_eq!(Field::Green.read(&preset("cpu-hog").unwrap()), None);
    }

    #[test]
    fn carriers_that_are_not_given_are_those_of_the_engine() {
        let read = |scenario: &Scenario| {
            [Field::Carriers, Field::MaxPool, Field::MinRunnable].map(|field| field.read(scenario).unwrap())
        };
        let mut scenario = preset("io-bound").unwrap();
        assert_eq!(read(&scenario), ["12", "256", "6"]);
        Field::Carriers.write(&mut scenario, "600").unwrap();
        assert_eq!(read(&scenario), ["600", "600", "300"]);
        Field::Carriers.write(&mut scenario, "1").unwrap();
        assert_eq!(read(&scenario), ["1", "256", "1"]);
        scenario.validate().unwrap();
    }

    #[test]
    fn the_tasks_of_a_mix_are_those_of_the_mix() {
        let mut scenario = preset("io-bound").unwrap();
        scenario.mix = serde_json::from_str(r#"{"count": 70}"#).unwrap();
        (scenario.tasks[0].count, scenario.tasks[0].weight) = (0, Some(1));
        scenario.references.clear();
        assert_eq!(Field::Tasks.read(&scenario).as_deref(), Some("70"));
        Field::Tasks.write(&mut scenario, "90").unwrap();
        assert_eq!((scenario.task_count(), scenario.tasks[0].count), (90, 0));
        scenario.validate().unwrap();
    }

    #[test]
    fn engine_paths_find_their_control() {
        for (path, expect) in [
            ("tasks[0].count", Some(Field::Tasks)),
            ("tasks[1].count", None),
            ("tasks[0].steps[0].io", Some(Field::Wait)),
            ("tasks[0].steps[2].io.uniform", Some(Field::Wait)),
            ("tasks[0].steps[0].cpu.iterations", Some(Field::Cpu)),
            ("machine.cores", Some(Field::Cores)),
            ("runs[0].size", Some(Field::Pool)),
            ("runs[1].pool", Some(Field::PoolKind)),
            ("runs[1].queue", Some(Field::Queue)),
            ("runs[1].rejection", Some(Field::Rejection)),
            ("runs[3].jdk", Some(Field::Jdk)),
            ("runs[3].carriers", Some(Field::Carriers)),
            ("runs[3].max_pool", Some(Field::MaxPool)),
            ("runs[3].min_runnable", Some(Field::MinRunnable)),
            ("mix.count", Some(Field::Tasks)),
            ("tasks[0].steps[0].unlock", None),
            ("tasks", None),
        ] {
            assert_eq!(Field::for_path(path), expect, "{path}");
        }
    }
}
