//! Which real runtimes a scenario is measured on: by its runs, by `--runtime`, and by what this machine has.
//!
//! What is left out is left out with a reason, never in silence.

use std::fmt;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use parkbench_engine::{BlockKind, GuardKind, LockRef, Model, Op, Plan, RunSpec, Scenario, ScenarioError};
use serde::Serialize;

use super::jvm::Version;
use super::kind::Kind;
use super::runtime::{Admission, Runtime};

/// A word of `--runtime`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Every runtime that stands for a run of the scenario.
    All,
    /// Those of them that are built in.
    Rust,
    /// Those of them that run on the JVM.
    Jvm,
    /// This one, whether it stands for a run or not.
    Named(Kind),
}

impl ValueEnum for Wanted {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Wanted; 15] = {
            let mut all = [Wanted::All; 15];
            all[1] = Wanted::Rust;
            all[2] = Wanted::Jvm;
            let mut index = 0;
            while index < Kind::ALL.len() {
                all[index + 3] = Wanted::Named(Kind::ALL[index]);
                index += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::All => Some(PossibleValue::new("all").help("All that fit, as without this option")),
            Self::Rust => Some(PossibleValue::new("rust").help("Those of them that are built into parkbench")),
            Self::Jvm => Some(PossibleValue::new("jvm").help("Those of them that run on the JVM")),
            Self::Named(kind) => kind.to_possible_value(),
        }
    }
}

/// A runtime and the runs of the scenario that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    /// What is measured.
    pub(crate) runtime: Runtime,
    /// The run whose workload it gets.
    pub(crate) workload: usize,
    /// Indices in the scenario's `runs`; empty for one that was asked for by its name only.
    pub(crate) runs: Vec<usize>,
}

impl Planned {
    /// This runtime, not measured after all.
    pub(crate) fn absent(&self, scenario: &Scenario, reason: String) -> Absent {
        let stands_for = self.runs.iter().map(|&run| scenario.runs[run].variant(&scenario.machine)).collect();
        Absent { variant: self.runtime.variant(), stands_for, reason, failed: true }
    }
}

/// What was not measured, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Absent {
    /// The runtime in one word; where none fits, the run's own variant.
    pub(crate) variant: String,
    /// The variants of the scenario that it would stand for.
    pub(crate) stands_for: Vec<String>,
    /// Why, and what to do about it.
    pub(crate) reason: String,
    /// Whether the measurement counts as failed because of it.
    #[serde(skip)]
    pub(crate) failed: bool,
}

impl fmt::Display for Absent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} is not measured: {}", self.variant, self.reason)
    }
}

/// The runtimes to measure, in the order of the runs, and what is left out.
///
/// Runs that a runtime cannot tell apart share one. `java` is the Java that was found, or why there is none.
pub(crate) fn plan(
    scenario: &Scenario,
    wanted: &[Wanted],
    java: Result<&Version, &str>,
) -> Result<(Vec<Planned>, Vec<Absent>), ScenarioError> {
    let mut choice = Selection { scenario, java, planned: Vec::new(), absent: Vec::new() };
    let all = wanted.is_empty() || wanted.contains(&Wanted::All);
    let named = |kind: Kind| wanted.contains(&Wanted::Named(kind));
    for (index, run) in scenario.runs.iter().enumerate() {
        let kinds = || Kind::ALL.into_iter().filter(|kind| kind.stands_for(run));
        for kind in kinds() {
            let group = if kind.is_jvm() { Wanted::Jvm } else { Wanted::Rust };
            if all || named(kind) || wanted.contains(&group) {
                choice.add(kind, index, true, named(kind))?;
            }
        }
        if kinds().next().is_none() {
            let reason = "no real runtime that can be measured has all knobs of this run";
            choice.leave_out(run.variant(&scenario.machine), Some(index), reason, false);
        }
    }
    for kind in Kind::ALL.into_iter().filter(|&kind| named(kind)) {
        if !scenario.runs.iter().any(|run| kind.stands_for(run)) {
            let same_model = scenario.runs.iter().position(|run| run.model == kind.model());
            choice.add(kind, same_model.unwrap_or(0), false, true)?;
        }
    }
    Ok((choice.planned, choice.absent))
}

struct Selection<'a> {
    scenario: &'a Scenario,
    java: Result<&'a Version, &'a str>,
    planned: Vec<Planned>,
    absent: Vec<Absent>,
}

impl Selection<'_> {
    /// Plans this runtime with the workload of run `index`, for which it stands or not.
    fn add(&mut self, kind: Kind, index: usize, stands: bool, by_name: bool) -> Result<(), ScenarioError> {
        let run = &self.scenario.runs[index];
        let stood = Some(index).filter(|_| stands);
        let Some(runtime) = Runtime::new(kind, run, self.scenario.machine.cores, self.java.ok()) else {
            let reason = self.java.err().unwrap_or_default().to_owned();
            self.leave_out(kind.as_str().to_owned(), stood, &reason, by_name);
            return Ok(());
        };
        let workload = Plan::new(self.scenario, index)?;
        let framed = || frameless(&runtime, &workload);
        if let Some(reason) = starved(&runtime, &workload).or_else(|| entangled(&runtime, &workload)).or_else(framed) {
            self.leave_out(runtime.variant(), stood, &reason, by_name);
            return Ok(());
        }
        if let Runtime::Jvm(jvm) = &runtime {
            let refused = match other_jdk(kind, run, &jvm.java).filter(|_| stands) {
                Some(jdk) if tells_jdks_apart(&workload) => Some(format!(
                    "the run is of JDK {jdk}, where its steps behave otherwise than on the Java here, {}; --java takes \
                     the home of another",
                    jvm.java.text
                )),
                _ => refusal(kind, &workload),
            };
            if let Some(reason) = refused {
                self.leave_out(runtime.variant(), stood, &reason, by_name);
                return Ok(());
            }
        }
        let runs = Vec::from_iter(stood);
        match self.planned.iter_mut().find(|planned| planned.runtime == runtime) {
            Some(planned) => planned.runs.extend(runs),
            None => self.planned.push(Planned { runtime, workload: index, runs }),
        }
        Ok(())
    }

    fn leave_out(&mut self, variant: String, run: Option<usize>, reason: &str, failed: bool) {
        let stands_for = run.map(|run| self.scenario.runs[run].variant(&self.scenario.machine));
        let known = |absent: &&mut Absent| absent.variant == variant && absent.reason == reason;
        if let Some(absent) = self.absent.iter_mut().find(known) {
            absent.stands_for.extend(stands_for);
        } else {
            let stands_for = Vec::from_iter(stands_for);
            self.absent.push(Absent { variant, stands_for, reason: reason.to_owned(), failed });
        }
    }
}

/// The JDK of a run of virtual threads, where the Java here is another.
pub(crate) fn other_jdk(kind: Kind, run: &RunSpec, java: &Version) -> Option<u32> {
    // From 25 on they are alike, as far as the simulation knows.
    run.jdk.filter(|jdk| kind == Kind::JavaVirtual && (*jdk).min(25) != java.feature.min(25))
}

/// Whether the workload has what JDKs do differently: waits at or inside monitors, and calls that add carriers
/// (T-12 to T-17).
fn tells_jdks_apart(plan: &Plan) -> bool {
    plan.classes.iter().flat_map(|class| &class.ops).any(|op| match op {
        Op::Lock(lock) => lock.is_scoped(),
        Op::Block(kind, _) => *kind != BlockKind::Native,
        _ => false,
    })
}

/// Why this runtime has no frame of the kind that the workload has (T-15).
fn frameless(runtime: &Runtime, plan: &Plan) -> Option<String> {
    let has = |kind: GuardKind| {
        plan.classes.iter().flat_map(|class| &class.ops).any(|op| matches!(op, Op::Lock(lock) if lock.kind == kind))
    };
    let (initializer, native) = (has(GuardKind::ClassInitializer), has(GuardKind::NativeFrame));
    match runtime {
        Runtime::Jvm(jvm) => (native && jvm.java.feature < 22).then(|| {
            format!(
                "a call from native code needs Java 22 or newer, and the Java here is {}; --java takes the home of another",
                jvm.java.text
            )
        }),
        _ => (initializer || native).then(|| "class initialisers and native frames are of the JVM".to_owned()),
    }
}

/// Why the tasks of a pool could wait for each other without end: those that join may hold all of its threads.
fn starved(runtime: &Runtime, plan: &Plan) -> Option<String> {
    let has_pool = matches!(runtime.kind(), Kind::Pool | Kind::JavaPool);
    // Where no task waits in the queue, none waits for a thread.
    let has_queue = !matches!(runtime.admission(), Admission::Bounded { capacity: 0, .. } | Admission::Cached);
    let joins = plan.classes.iter().filter(|class| class.ops.contains(&Op::Join));
    let joining = joins.fold(0_u32, |sum, class| sum.saturating_add(class.count));
    (has_pool && has_queue && joining >= runtime.threads()).then(|| {
        format!(
            "{joining} tasks that join can hold all of its {} threads and wait for ever; use more threads, or --tasks for \
             fewer",
            runtime.threads()
        )
    })
}

/// Why a thread could wait for itself, or for one that waits for it: where the caller runs what is refused, the thread
/// has what the tasks hold that it has called from. It enters a lock again that it has; everything else may be waited for.
fn entangled(runtime: &Runtime, plan: &Plan) -> Option<String> {
    if !runtime.admission().caller_runs() {
        return None;
    }
    let mut arrive = (0..plan.classes.len()).filter(|&class| plan.classes[class].parent.is_none());
    let lock = arrive.find_map(|class| waited_for_by_callers(plan, class, &[]))?;
    let name = &plan.guards[lock as usize].name;
    Some(format!(
        "{name:?} is taken by tasks that may be run by a thread that has another lock or a permit, which may wait for ever; \
         spawn them before it is taken, or use rejection = \"abort\""
    ))
}

/// The lock or semaphore for which a task of this class, or one that it starts, may wait while its thread has `held`.
fn waited_for_by_callers(plan: &Plan, class: usize, held: &[LockRef]) -> Option<u32> {
    let class = &plan.classes[class];
    let mut own: Vec<LockRef> = Vec::new();
    for op in &class.ops[..usize::from(class.end)] {
        match op {
            Op::Lock(lock) if lock.shared.is_some() => {
                let enters_again = lock.kind != GuardKind::Semaphore && held.contains(lock);
                if !held.is_empty() && !enters_again {
                    return lock.shared;
                }
                own.push(*lock);
            }
            Op::Unlock(lock) => {
                if let Some(at) = own.iter().rposition(|other| other == lock) {
                    own.remove(at);
                }
            }
            Op::Spawn(child) => {
                let found = waited_for_by_callers(plan, usize::from(child.class), &[held, &own].concat());
                if found.is_some() {
                    return found;
                }
            }
            _ => {}
        }
    }
    None
}

/// Why this runtime of the JVM cannot run the workload.
fn refusal(kind: Kind, plan: &Plan) -> Option<String> {
    for class in &plan.classes {
        let mut monitors = 0_u32;
        for op in &class.ops[..usize::from(class.end)] {
            match op {
                Op::Lock(lock) if lock.is_scoped() => monitors += 1,
                // To wait for it, a body that cannot suspend has to hold its event loop, and the coroutine that has the
                // Mutex may need that loop to go on.
                Op::Lock(_) if monitors > 0 && kind.model() == Model::Coroutines => {
                    return Some(
                        "a Mutex or Semaphore inside a monitor may hold its event loop for ever; lock in the other order, or use \
                         locks of one kind"
                            .to_owned(),
                    );
                }
                Op::Join if monitors > 0 && kind.model() == Model::Coroutines => {
                    return Some("a join inside a monitor may hold its event loop for ever; join outside".to_owned());
                }
                Op::Unlock(lock) if lock.is_scoped() => monitors = monitors.saturating_sub(1),
                Op::Block(block, _) if *block != BlockKind::Native && kind == Kind::JavaVirtual => {
                    return Some(
                        "of the kinds of block steps, only native is measured on virtual threads, which tell them apart"
                            .to_owned(),
                    );
                }
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use parkbench_engine::preset;

    use super::*;

    fn java(feature: u32) -> Version {
        Version { feature, text: format!("{feature}.0.1") }
    }

    #[track_caller]
    fn check(name: &str, wanted: &[Wanted], feature: u32, expect: &[(&str, &[usize])], absent: &[&str]) {
        let java = java(feature);
        let found = if feature == 0 { Err("no Java") } else { Ok(&java) };
        let (plan, left) = plan(&preset(name).unwrap(), wanted, found).unwrap();
        let got: Vec<_> = plan.iter().map(|planned| (planned.runtime.variant(), planned.runs.as_slice())).collect();
        let got: Vec<_> = got.iter().map(|(variant, runs)| (variant.as_str(), *runs)).collect();
        assert_eq!(got, expect);
        assert_eq!(left.iter().map(|absent| absent.variant.as_str()).collect::<Vec<_>>(), absent);
    }

    #[test]
    fn each_run_has_its_runtimes() {
        let rust = [Wanted::Rust];
        check("io-bound", &rust, 0, &[("pool-12", &[0]), ("may-12", &[1]), ("tokio-64", &[2])], &[]);
        check("cpu-bound", &rust, 0, &[("pool-12", &[0]), ("may-12", &[1]), ("tokio-12", &[2])], &[]);
        check("pinning", &rust, 0, &[("may-8", &[0, 1, 2, 3])], &[]);
        let jvm = [Wanted::Jvm];
        let expect: &[(&str, &[usize])] =
            &[("java-pool-12", &[0]), ("java-virtual-jdk25", &[1]), ("kotlin-event-loop", &[2])];
        check("high-concurrency", &jvm, 25, expect, &[]);
        check(
            "io-bound",
            &[],
            0,
            &[("pool-12", &[0]), ("may-12", &[1]), ("tokio-64", &[2])],
            &["java-pool", "java-virtual", "kotlin-io"],
        );
    }

    #[test]
    fn a_named_runtime_is_measured_whether_it_stands_for_a_run_or_not() {
        let named = [Wanted::Named(Kind::KotlinDefault), Wanted::Named(Kind::JavaThreadPerTask)];
        check("io-bound", &named, 25, &[("java-thread-per-task", &[]), ("kotlin-default", &[])], &[]);
    }

    #[test]
    fn the_java_decides_which_runs_of_virtual_threads_it_stands_for() {
        let check_pinning = |feature, expect: &[(&str, &[usize])], absent: &[&str]| {
            check("pinning", &[Wanted::Jvm], feature, expect, absent);
        };
        // A ReentrantLock pins on no JDK, so that any JDK stands for any.
        let (monitor, reentrant) = ("java-virtual-jdk25-monitor", "java-virtual-jdk25-reentrant");
        check_pinning(25, &[(reentrant, &[1, 3]), (monitor, &[2])], &[monitor]);
        let (monitor, reentrant) = ("java-virtual-jdk21-monitor", "java-virtual-jdk21-reentrant");
        check_pinning(21, &[(monitor, &[0]), (reentrant, &[1, 3])], &[monitor]);
        let (monitor, reentrant) = ("java-virtual-jdk26-monitor", "java-virtual-jdk26-reentrant");
        check_pinning(26, &[(reentrant, &[1, 3]), (monitor, &[2])], &[monitor]);
    }

    #[test]
    fn a_pool_needs_a_thread_beside_those_that_join() {
        let mut scenario = preset("tool-chain").unwrap();
        let variants = |scenario: &Scenario| {
            let (planned, absent) = plan(scenario, &[Wanted::Rust], Err("none")).unwrap();
            (planned.iter().map(|planned| planned.runtime.variant()).collect::<Vec<_>>(), absent.len())
        };
        assert_eq!(variants(&scenario), (vec!["pool-3000".to_owned(), "may-8".into(), "tokio-8".into()], 0));
        scenario.tasks[0].count = 3_000;
        assert_eq!(variants(&scenario), (vec!["may-8".to_owned(), "tokio-8".into()], 1));
    }

    #[test]
    fn where_no_task_waits_for_a_thread_all_may_join() {
        let text = r#"{"version":1,"name":"x","machine":{"cores":2},
            "tasks":[{"count":2,"steps":[{"spawn":{"count":1,"steps":["yield"]}},"join"]}],
            "runs":[{"model":"thread-pool"},{"model":"thread-pool","queue":0},{"model":"thread-pool","queue":1},
                {"model":"thread-pool","pool":"cached"}]}"#;
        let (planned, absent) = plan(&Scenario::from_json(text).unwrap(), &[Wanted::Rust], Err("none")).unwrap();
        assert_eq!(planned.iter().flat_map(|planned| planned.runs.clone()).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(absent.len(), 2);
    }

    #[test]
    fn a_caller_that_could_wait_for_itself_is_refused() {
        let scenario = |before: &str, child: &str, after: &str| {
            let text = format!(
                r#"{{"version":1,"name":"x","machine":{{"cores":2}},"tasks":[{{"count":2,
                "steps":[{before}{{"spawn":{{"count":1,"steps":[{child}]}}}}{after}]}}],
                "runs":[{{"model":"thread-pool","queue":0,"rejection":"caller-runs"}},{{"model":"thread-pool"}}]}}"#
            );
            Scenario::from_json(&text).unwrap()
        };
        let lock = |name: &str| format!(r#"{{"lock":{{"name":"{name}"}}}}"#);
        let unlock = |name: &str| format!(r#"{{"unlock":"{name}"}}"#);
        let (acquire, release) = (r#"{"acquire":{"name":"p","permits":1}}"#, r#"{"release":"p"}"#);
        let of = |before: &str, child: &str, after: &str| {
            let scenario = scenario(before, child, after);
            let (planned, absent) = plan(&scenario, &[Wanted::Rust], Err("none")).unwrap();
            assert_eq!(planned.len() + absent.len(), 2);
            absent.first().map(|absent| absent.reason.split(' ').next().unwrap().to_owned())
        };
        let a = format!("{},{}", lock("a"), unlock("a"));
        let b = format!("{},{}", lock("b"), unlock("b"));
        let p = format!("{acquire},{release}");
        let inside = |taken: &str, child: &str, given: &str| of(&format!("{taken},"), child, &format!(",{given}"));
        // It enters the lock again that its caller has.
        assert_eq!(inside(&lock("a"), &a, &unlock("a")), None);
        assert_eq!(inside(&lock("a"), &b, &unlock("a")).as_deref(), Some("\"b\""));
        assert_eq!(inside(acquire, &p, release).as_deref(), Some("\"p\""));
        // Nothing is held where it is started.
        assert_eq!(of(&format!("{a},"), &p, ""), None);
    }

    #[test]
    fn what_could_wait_for_ever_is_refused() {
        let scenario = |inner: &str, outer: &str| {
            let steps = format!(
                r#"{{"lock":{{"name":"a","kind":"{outer}"}}}},{{"lock":{{"name":"b","kind":"{inner}"}}}},{{"unlock":"b"}},{{"unlock":"a"}}"#
            );
            let text = format!(
                r#"{{"version":1,"name":"x","machine":{{"cores":4}},"tasks":[{{"count":3,"steps":[{steps}]}}],
                "runs":[{{"model":"green-threads"}},{{"model":"coroutines"}}]}}"#
            );
            Scenario::from_json(&text).unwrap()
        };
        for (inner, outer, refused) in
            [("reentrant", "monitor", true), ("monitor", "reentrant", false), ("monitor", "monitor", false)]
        {
            let (planned, absent) = plan(&scenario(inner, outer), &[Wanted::Jvm], Ok(&java(25))).unwrap();
            let reasons: Vec<_> = absent.iter().map(ToString::to_string).collect();
            assert_eq!(planned.len(), 2 - usize::from(refused));
            let expect = "kotlin-default is not measured: a Mutex or Semaphore inside a monitor may hold its event loop for ever";
            assert_eq!(reasons.iter().any(|reason| reason.starts_with(expect)), refused, "{reasons:?}");
        }
    }
}
