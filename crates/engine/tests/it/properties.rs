//! Laws that hold for every scenario and every model (design, section 6), over random scenarios.

use parkbench_engine::{
    Activity, Dispatcher, FindingKind, Model, ModelPlan, Op, Plan, PoolKind, Reason, Recording, Rejection, Role,
    Runtime, Scenario, Simulation, Step, TaskState, TaskTag, ThreadTag,
};
use proptest::prelude::*;

/// Steps as text, none of which can make tasks wait for each other for ever.
fn steps() -> impl Strategy<Value = String> {
    let time = || (0_u64..3_000).prop_map(|us| format!("\"{us} us\""));
    let single = prop_oneof![
        3 => time().prop_map(|t| format!("{{ cpu = {t} }}")),
        3 => time().prop_map(|t| format!("{{ io = {t} }}")),
        1 => time().prop_map(|t| format!("{{ block = {t} }}")),
        1 => (time(), prop_oneof![Just("native"), Just("file"), Just("fsync"), Just("object-wait")])
            .prop_map(|(t, kind)| format!("{{ block = {{ time = {t}, kind = \"{kind}\" }} }}")),
        1 => Just("\"yield\"".to_owned()),
        1 => (1_u64..3_000).prop_map(|us| format!("{{ io = {{ exponential = \"{us} us\" }} }}")),
    ];
    let lock = prop_oneof![
        Just(r#"name = "m", kind = "monitor""#),
        Just(r#"name = "n", kind = "monitor", scope = "task""#),
        Just(r#"name = "r", kind = "reentrant""#),
        Just(r#"name = "f", kind = "reentrant", fair = true"#),
        Just(r#"name = "t", kind = "reentrant", retry = "70 us""#),
        Just(r#"name = "c", kind = "class-initializer""#),
        Just(r#"name = "d", kind = "class-initializer", scope = "task""#),
        Just(r#"name = "e", kind = "native-frame", scope = "task""#),
    ];
    let guarded = prop_oneof![
        2 => (lock, single.clone()).prop_map(|(lock, step)| {
            let name = lock.split('"').nth(1).unwrap_or_default();
            format!("{{ lock = {{ {lock} }} }}, {step}, {{ unlock = \"{name}\" }}")
        }),
        1 => (1_u32..4, any::<bool>(), single.clone()).prop_map(|(permits, fair, step)| {
            let name = format!("s{permits}{fair}");
            format!(
                "{{ acquire = {{ name = \"{name}\", permits = {permits}, fair = {fair} }} }}, {step}, \
                 {{ release = \"{name}\" }}"
            )
        }),
    ];
    let leaf = prop_oneof![4 => single, 2 => guarded].boxed();
    let list = prop::collection::vec(leaf.clone(), 1..3).prop_map(|steps| steps.join(", "));
    let repeated =
        (1_u32..4, list.clone()).prop_map(|(n, steps)| format!("{{ repeat = {{ times = {n}, steps = [{steps}] }} }}"));
    let spawned = (1_u32..4, list, any::<bool>()).prop_map(|(n, steps, joins)| {
        let join = if joins { ", \"join\"" } else { "" };
        format!("{{ spawn = {{ count = {n}, steps = [{steps}] }} }}{join}")
    });
    let step = prop_oneof![6 => leaf, 1 => repeated, 1 => spawned];
    prop::collection::vec(step, 1..4).prop_map(|steps| steps.join(", "))
}

fn model() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (1_u32..20).prop_map(|size| format!("model = \"thread-pool\", size = {size}")),
        2 => (1_u32..8, 0_u32..20, any::<bool>()).prop_map(|(size, queue, abort)| {
            let rejection = if abort { "abort" } else { "caller-runs" };
            format!("model = \"thread-pool\", size = {size}, queue = {queue}, rejection = \"{rejection}\"")
        }),
        1 => Just("model = \"thread-pool\", pool = \"cached\"".to_owned()),
        1 => Just("model = \"thread-pool\", pool = \"thread-per-task\"".to_owned()),
        5 => (21_u32..26, 1_u32..6)
            .prop_map(|(jdk, carriers)| format!("model = \"green-threads\", jdk = {jdk}, carriers = {carriers}")),
        2 => (21_u32..26, 1_u32..6, 0_u32..3, 0_u32..6).prop_map(|(jdk, carriers, more, least)| {
            let max = carriers + more;
            format!(
                "model = \"green-threads\", jdk = {jdk}, carriers = {carriers}, max_pool = {max}, min_runnable = {least}"
            )
        }),
        3 => (1_u32..6).prop_map(|workers| format!("model = \"green-threads\", runtime = \"go\", workers = {workers}")),
        4 => prop_oneof![Just("default"), Just("io"), Just("event-loop")]
            .prop_map(|dispatcher| format!("model = \"coroutines\", dispatcher = \"{dispatcher}\"")),
        2 => (prop_oneof![Just("default"), Just("io")], 1_u32..80).prop_map(|(dispatcher, most)| {
            format!("model = \"coroutines\", dispatcher = \"{dispatcher}\", parallelism = {most}")
        }),
        3 => (1_u32..6, any::<bool>()).prop_map(|(workers, spawns)| {
            let blocking = if spawns { "spawn-blocking" } else { "on-worker" };
            format!("model = \"coroutines\", runtime = \"tokio\", workers = {workers}, blocking = \"{blocking}\"")
        }),
        1 => Just("model = \"coroutines\", runtime = \"tokio\", flavor = \"current-thread\"".to_owned()),
    ]
}

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) scenario: Scenario,
    cores: u32,
}

/// The tasks of one class: how many, when, and what.
fn class() -> impl Strategy<Value = String> {
    let arrival = prop_oneof![
        4 => Just(String::new()),
        1 => (1_u32..500).prop_map(|us| format!("arrival = {{ every = \"{us} us\" }}, ")),
        1 => (1_u32..500).prop_map(|us| format!("arrival = {{ poisson = \"{us} us\" }}, ")),
        1 => (1_u32..5, 0_u32..900).prop_map(|(users, us)| {
            format!("arrival = {{ closed-loop = {{ users = {users}, think = \"{us} us\" }} }}, ")
        }),
    ];
    (1_u64..30, 0_u64..5_000, arrival, steps()).prop_map(|(count, at, arrival, steps)| {
        format!("count = {count}, at = \"{at} us\", {arrival}steps = [{steps}]")
    })
}

pub(crate) fn tasks() -> impl Strategy<Value = String> {
    let mixed = prop::collection::vec((1_u32..9, steps()), 1..3).prop_map(|classes| {
        let class = |(weight, steps)| format!("{{ weight = {weight}, steps = [{steps}] }}");
        let classes: Vec<String> = classes.into_iter().map(class).collect();
        format!("mix = {{ count = 40, arrival = {{ poisson = \"50 us\" }} }}\ntasks = [{}]", classes.join(", "))
    });
    let counted = prop::collection::vec(class(), 1..4).prop_map(|classes| {
        format!("tasks = [{}]", classes.iter().map(|class| format!("{{ {class} }}")).collect::<Vec<_>>().join(", "))
    });
    prop_oneof![5 => counted, 1 => mixed]
}

pub(crate) fn case() -> impl Strategy<Value = Case> {
    let profile = prop_oneof![Just("zero"), Just("linux-default"), Just("seed-2")];
    let limit =
        prop_oneof![3 => Just(String::new()), 1 => (1_u32..30).prop_map(|most| format!("max_threads = {most}\n"))];
    let parts = (1_u32..5, tasks(), model(), profile, limit);
    parts.prop_map(|(cores, tasks, model, profile, limit)| {
        // Where other programs have no thread to be had, they end.
        let limit = if model.contains("thread-pool") { limit } else { String::new() };
        let text = format!(
            "version = 1\nname = \"random\"\nprofile = \"{profile}\"\n{tasks}\nruns = [{{ {model} }}]\n[machine]\ncores = {cores}\n{limit}"
        );
        let scenario = Scenario::from_toml(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        Case { scenario, cores }
    })
}

/// What a task must do: [ns] CPU time and waits; and whether it may do some of it more than once.
fn work(plan: &Plan, task: u32) -> (u64, u64, bool) {
    let (mut cpu, mut wait, mut again) = (0, 0, false);
    let class = plan.class_of(task);
    for (step, op) in class.ops[..usize::from(class.end)].iter().enumerate() {
        match op {
            Op::Cpu(span) | Op::Iterations(_, span) => cpu += plan.duration(task, step, span),
            Op::Io(span) | Op::Block(_, span) => wait += plan.duration(task, step, span),
            Op::TryLock(..) => again = true,
            _ => {}
        }
    }
    (cpu, wait, again)
}

/// How a run may end before all of its tasks do, where it may.
///
/// - Deadlock: pool threads join what is in their queue.
/// - Livelock: carriers stay with the outside queue that they took from last while there is something in it (T-2). Tasks
///   that try a lock again keep it full, and who has the lock is in another one, by a yield (T-8) or another timer thread.
fn may_end_by(scenario: &Scenario) -> Option<FindingKind> {
    let run = &scenario.runs[0];
    let fixed = run.model == Model::ThreadPool && run.pool.unwrap_or_default() == PoolKind::Fixed;
    if fixed && scenario.tasks.iter().any(|class| class.steps.contains(&Step::Join)) {
        return Some(FindingKind::Deadlock);
    }
    let java = run.model == Model::GreenThreads && run.runtime != Some(Runtime::Go);
    let plan = Plan::new(scenario, 0).unwrap();
    let retries = plan.classes.iter().any(|class| class.ops.iter().any(|op| matches!(op, Op::TryLock(..))));
    (java && retries).then_some(FindingKind::Livelock)
}

/// Whether a task may fail for this reason: a limit that the scenario has, or a parent that has failed.
fn may_fail(case: &Case, plan: &Plan, state: &[TaskState], task: u32, reason: Reason) -> bool {
    let run = &case.scenario.runs[0];
    let pool = run.model == Model::ThreadPool;
    match reason {
        Reason::NativeThreads => pool && case.scenario.machine.max_threads.is_some(),
        Reason::Rejected => pool && run.queue.is_some() && run.rejection != Some(Rejection::CallerRuns),
        Reason::ParentFailed => plan.parent(task).is_some_and(|parent| state[parent as usize] == TaskState::Failed),
        _ => false,
    }
}

/// Walks both streams and checks every record against the laws.
fn check_laws(case: &Case, recording: &Recording) {
    let totals = &recording.totals;
    let plan = Plan::new(&case.scenario, 0).unwrap();
    let ends = recording.findings.iter().map(|finding| finding.kind).find(|&kind| kind != FindingKind::Starvation);
    assert_eq!(ends.is_some(), totals.unfinished > 0);
    assert!(ends.is_none() || ends == may_end_by(&case.scenario), "single locks cannot deadlock: {ends:?}");
    assert_eq!(totals.tasks, plan.tasks);

    // Tasks: one start, one end, nothing after it, CPU time exactly as ordered.
    let count = plan.tasks as usize;
    let mut state = vec![TaskState::Pending; count];
    let mut reason = vec![Reason::None; count];
    let mut since = vec![0; count];
    let mut running = vec![0_u64; count];
    let mut waited = vec![0_u64; count];
    let mut last = 0;
    for i in 0..recording.tasks.len() {
        let (time, task) = (recording.tasks.time[i], recording.tasks.subject[i] as usize);
        let tag = TaskTag::unpack(recording.tasks.tag[i]).unwrap();
        assert!(time >= last && time <= totals.makespan_ns, "time runs forward");
        last = time;
        assert!(!matches!(state[task], TaskState::Done | TaskState::Failed), "nothing happens after the end");
        let first = matches!(tag.state, TaskState::Queued | TaskState::Pending | TaskState::Failed);
        assert!(state[task] != TaskState::Pending || first, "submitted first");
        match state[task] {
            TaskState::Running => running[task] += time - since[task],
            TaskState::Waiting | TaskState::Blocked => waited[task] += time - since[task],
            _ => {}
        }
        state[task] = tag.state;
        reason[task] = tag.reason;
        since[task] = time;
    }
    let (mut all_cpu, mut exact) = (0, ends.is_none());
    let mut ended = 0;
    for task in 0..count {
        if state[task] == TaskState::Failed {
            assert_eq!(running[task], 0, "a task fails before it begins");
            assert!(may_fail(case, &plan, &state, task as u32, reason[task]), "task {task}: {:?}", reason[task]);
            ended += 1;
            continue;
        }
        if state[task] != TaskState::Done {
            continue;
        }
        ended += 1;
        let (cpu, wait, again) = work(&plan, task as u32);
        exact &= !again;
        all_cpu += cpu;
        assert!(running[task] >= cpu, "task {task} ran {} of {cpu}", running[task]);
        let slept = waited[task];
        assert!(slept >= wait, "task {task} waited {slept} of {wait}: a sleep is never early (P-2, T-7)");
        assert!(totals.makespan_ns >= cpu + wait, "no task is faster than its steps");
    }
    assert_eq!(ended + totals.unfinished as usize, count, "no task is lost");
    assert!(totals.makespan_ns >= all_cpu / u64::from(case.cores), "work needs cores");

    // Threads: no more on cores than there are cores; the time of all tasks' code is exactly the threads' running time.
    let threads = recording.thread_info.len();
    let mut activity = vec![Activity::Absent; threads];
    let mut since = vec![0; threads];
    let mut code = 0;
    let records = &recording.threads;
    for i in 0..records.len() {
        let (time, thread) = (records.time[i], records.subject[i] as usize);
        if activity[thread] == Activity::Running {
            code += time - since[thread];
        }
        activity[thread] = ThreadTag::unpack(records.tag[i]).unwrap().activity;
        since[thread] = time;
        let instant_over = records.time.get(i + 1).is_none_or(|&next| next > time);
        let on_core = activity.iter().filter(|a| matches!(a, Activity::Running | Activity::Overhead)).count();
        assert!(!instant_over || on_core <= case.cores as usize, "{on_core} threads on {} cores at {time}", case.cores);
        let alive = activity.iter().filter(|&&a| a != Activity::Absent).count();
        let limited = matches!(plan.model, ModelPlan::ThreadPool { .. });
        assert!(!limited || alive <= plan.max_threads as usize, "{alive} threads of {}", plan.max_threads);
    }
    // Where the submitter runs the last task itself, the run ends with that.
    let open = (0..threads).filter(|&thread| activity[thread] == Activity::Running);
    code += open.map(|thread| totals.makespan_ns - since[thread]).sum::<u64>();
    if exact {
        assert_eq!(code, all_cpu, "threads run exactly the tasks' code");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, max_local_rejects: 100_000, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn every_run_obeys_the_laws(case in case()) {
        let recording = Simulation::new(&case.scenario, 0).unwrap().run();
        check_laws(&case, &recording);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, max_local_rejects: 100_000, ..ProptestConfig::with_cases(700) })]

    #[test]
    fn splitting_a_run_changes_nothing(case in case(), budgets in prop::collection::vec(1_u64..50, 1..20)) {
        let whole = Simulation::new(&case.scenario, 0).unwrap().run();
        let mut simulation = Simulation::new(&case.scenario, 0).unwrap();
        let mut budgets = budgets.iter().cycle();
        while !simulation.step(*budgets.next().unwrap()).finished {}
        prop_assert_eq!(simulation.into_recording(), whole);
    }

    #[test]
    fn reading_never_panics(text in "\\PC{0,200}") {
        let _ = Scenario::from_json(&text);
        let _ = Scenario::from_toml(&text);
    }

    #[test]
    fn mutated_scenarios_never_panic(case in case(), at in any::<prop::sample::Index>(), byte in 32_u8..127) {
        let mut bytes = case.scenario.to_json().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(scenario) = Scenario::from_json(&String::from_utf8(bytes).unwrap())
            && scenario.task_count() < 10_000
        {
            Simulation::new(&scenario, 0).unwrap().step(10_000);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, max_local_rejects: 100_000, ..ProptestConfig::with_cases(700) })]

    /// While a worker is idle and a core is free, no task stays queued: longer than a slot may keep it from thieves
    /// (K-5) under no costs, and than a few wake-ups take with costs.
    #[test]
    fn no_worker_idles_beside_a_queue(case in case()) {
        let recording = Simulation::new(&case.scenario, 0).unwrap().run();
        let run = &case.scenario.runs[0];
        // The limit of `Dispatchers.IO` and views of it leave workers idle on purpose; so do carriers and Ms that have
        // made up for blocked ones.
        prop_assume!(run.dispatcher != Some(Dispatcher::Io) || recording.totals.tasks <= 64);
        prop_assume!(run.parallelism.is_none() && run.runtime.is_none() && run.queue.is_none());
        if let ModelPlan::GreenThreads { carriers, .. } = Plan::new(&case.scenario, 0).unwrap().model {
            let workers = recording.thread_info.iter().filter(|info| info.role == Role::Worker).count();
            prop_assume!(workers == carriers as usize);
        }
        let slack = if case.scenario.profile == "zero" { 100_000 } else { 400_000 };
        let (tasks, threads) = (&recording.tasks, &recording.threads);
        let mut times: Vec<u64> = tasks.time.iter().chain(&threads.time).copied().collect();
        times.sort_unstable();
        times.dedup();
        let workers: Vec<bool> = recording.thread_info.iter().map(|info| info.role == Role::Worker).collect();
        let mut queued_since = vec![u64::MAX; recording.totals.tasks as usize];
        let mut activity = vec![Activity::Absent; workers.len()];
        let (mut task, mut thread, mut since, mut waited_since) = (0, 0, None, 0);
        for time in times {
            while task < tasks.len() && tasks.time[task] == time {
                let queued = TaskTag::unpack(tasks.tag[task]).unwrap().state == TaskState::Queued;
                queued_since[tasks.subject[task] as usize] = if queued { time } else { u64::MAX };
                task += 1;
            }
            while thread < threads.len() && threads.time[thread] == time {
                activity[threads.subject[thread] as usize] = ThreadTag::unpack(threads.tag[thread]).unwrap().activity;
                thread += 1;
            }
            let idle = activity.iter().zip(&workers).any(|(a, worker)| *worker && *a == Activity::Idle);
            // One that has waited; others may have come and gone meanwhile.
            let oldest = queued_since.iter().copied().min().unwrap_or(u64::MAX);
            let queued = oldest != u64::MAX;
            let on_core = activity.iter().filter(|a| matches!(a, Activity::Running | Activity::Overhead)).count();
            if let Some(start) = since {
                let start = Ord::max(start, waited_since).min(time);
                prop_assert!(time <= start + slack, "queued beside an idle worker from {} to {}", start, time);
            }
            let wasted = idle && queued && on_core < case.cores as usize;
            since = if wasted { since.or(Some(time)) } else { None };
            waited_since = oldest;
        }
    }
}
