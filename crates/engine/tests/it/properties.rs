//! Laws that hold for every scenario and every model (design, section 6), over random scenarios.

use parkbench_engine::{Activity, Dispatcher, Recording, Role, Scenario, Simulation, TaskState, TaskTag, ThreadTag};
use proptest::prelude::*;

/// A step as text, with the CPU time and the wait in it [ns]. Locks come in pairs around a step.
fn step() -> impl Strategy<Value = (String, u64, u64)> {
    let time = 0_u64..3_000;
    prop_oneof![
        3 => time.clone().prop_map(|us| (format!("{{ cpu = \"{us} us\" }}"), us * 1_000, 0)),
        3 => time.clone().prop_map(|us| (format!("{{ io = \"{us} us\" }}"), 0, us * 1_000)),
        1 => time.clone().prop_map(|us| (format!("{{ block = \"{us} us\" }}"), 0, us * 1_000)),
        1 => (time, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(us, monitor, own, cpu)| {
            let kind = if monitor { "monitor" } else { "reentrant" };
            let scope = if own { "task" } else { "shared" };
            let what = if cpu { "cpu" } else { "io" };
            let text = format!(
                "{{ lock = {{ name = \"{kind}-{scope}\", kind = \"{kind}\", scope = \"{scope}\" }} }}, \
                 {{ {what} = \"{us} us\" }}, {{ unlock = \"{kind}-{scope}\" }}"
            );
            if cpu { (text, us * 1_000, 0) } else { (text, 0, us * 1_000) }
        }),
    ]
}

fn model() -> impl Strategy<Value = String> {
    prop_oneof![
        (1_u32..20).prop_map(|size| format!("{{ model = \"thread-pool\", size = {size} }}")),
        (prop_oneof![Just(21), Just(25)], 1_u32..6)
            .prop_map(|(jdk, carriers)| format!("{{ model = \"green-threads\", jdk = {jdk}, carriers = {carriers} }}")),
        prop_oneof![Just("default"), Just("io"), Just("event-loop")]
            .prop_map(|dispatcher| format!("{{ model = \"coroutines\", dispatcher = \"{dispatcher}\" }}")),
    ]
}

#[derive(Debug, Clone)]
struct Case {
    scenario: Scenario,
    cores: u32,
    /// By task: [ns] CPU time and waits.
    work: Vec<(u64, u64)>,
}

fn case() -> impl Strategy<Value = Case> {
    let class = (1_u64..40, 0_u64..5_000, prop::collection::vec(step(), 1..4));
    let profile = prop_oneof![Just("zero"), Just("linux-default"), Just("seed-2")];
    (1_u32..5, prop::collection::vec(class, 1..4), model(), profile).prop_map(|(cores, classes, model, profile)| {
        let mut work = Vec::new();
        let mut tasks = Vec::new();
        for (count, at, steps) in &classes {
            let cpu: u64 = steps.iter().map(|(_, cpu, _)| cpu).sum();
            let wait: u64 = steps.iter().map(|(_, _, wait)| wait).sum();
            work.extend((0..*count).map(|_| (cpu, wait)));
            let steps: Vec<&str> = steps.iter().map(|(text, ..)| text.as_str()).collect();
            tasks.push(format!("{{ count = {count}, at = \"{at} us\", steps = [{}] }}", steps.join(", ")));
        }
        let text = format!(
            "version = 1\nname = \"random\"\nprofile = \"{profile}\"\ntasks = [{}]\nruns = [{model}]\n[machine]\ncores = {cores}\n",
            tasks.join(", ")
        );
        let scenario = Scenario::from_toml(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        Case { scenario, cores, work }
    })
}

/// Walks both streams and checks every record against the laws.
fn check_laws(case: &Case, recording: &Recording) {
    let totals = &recording.totals;
    assert_eq!(totals.unfinished, 0, "single locks cannot deadlock");
    let cpu: u64 = case.work.iter().map(|(cpu, _)| cpu).sum();
    assert!(totals.makespan_ns >= cpu / u64::from(case.cores), "work needs cores");
    assert!(case.work.iter().all(|(cpu, wait)| totals.makespan_ns >= cpu + wait), "no task is faster than its steps");

    // Tasks: one start, one end, nothing after it, CPU time exactly as ordered.
    let count = case.work.len();
    let mut state = vec![TaskState::Pending; count];
    let mut since = vec![0; count];
    let mut running = vec![0_u64; count];
    let mut waited = vec![0_u64; count];
    let mut last = 0;
    for i in 0..recording.tasks.len() {
        let (time, task) = (recording.tasks.time[i], recording.tasks.subject[i] as usize);
        let tag = TaskTag::unpack(recording.tasks.tag[i]).unwrap();
        assert!(time >= last && time <= totals.makespan_ns, "time runs forward");
        last = time;
        assert_ne!(state[task], TaskState::Done, "nothing happens after the end");
        assert!(state[task] != TaskState::Pending || tag.state == TaskState::Queued, "submitted first");
        match state[task] {
            TaskState::Running => running[task] += time - since[task],
            TaskState::Waiting | TaskState::Blocked => waited[task] += time - since[task],
            _ => {}
        }
        state[task] = tag.state;
        since[task] = time;
    }
    for (task, (cpu, wait)) in case.work.iter().enumerate() {
        assert_eq!(state[task], TaskState::Done);
        assert!(running[task] >= *cpu, "task {task} ran {} of {cpu}", running[task]);
        assert!(
            waited[task] >= *wait,
            "task {task} waited {} of {wait}: a sleep is never early (P-2, T-7)",
            waited[task]
        );
    }

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
    }
    assert_eq!(code, cpu, "threads run exactly the tasks' code");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(700))]

    #[test]
    fn every_run_obeys_the_laws(case in case()) {
        let recording = Simulation::new(&case.scenario, 0).unwrap().run();
        check_laws(&case, &recording);
    }

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
    #![proptest_config(ProptestConfig::with_cases(700))]

    /// While a worker is idle and a core is free, no task stays queued: longer than a slot may keep it from thieves
    /// (K-5) under no costs, and than a few wake-ups take with costs.
    #[test]
    fn no_worker_idles_beside_a_queue(case in case()) {
        let recording = Simulation::new(&case.scenario, 0).unwrap().run();
        // The limit of `Dispatchers.IO` leaves workers idle on purpose.
        prop_assume!(case.scenario.runs[0].dispatcher != Some(Dispatcher::Io) || case.work.len() <= 64);
        let slack = if case.scenario.profile == "zero" { 100_000 } else { 400_000 };
        let (tasks, threads) = (&recording.tasks, &recording.threads);
        let mut times: Vec<u64> = tasks.time.iter().chain(&threads.time).copied().collect();
        times.sort_unstable();
        times.dedup();
        let workers: Vec<bool> = recording.thread_info.iter().map(|info| info.role == Role::Worker).collect();
        let mut state = vec![TaskState::Pending; case.work.len()];
        let mut activity = vec![Activity::Absent; workers.len()];
        let (mut task, mut thread, mut since) = (0, 0, None);
        for time in times {
            while task < tasks.len() && tasks.time[task] == time {
                state[tasks.subject[task] as usize] = TaskTag::unpack(tasks.tag[task]).unwrap().state;
                task += 1;
            }
            while thread < threads.len() && threads.time[thread] == time {
                activity[threads.subject[thread] as usize] = ThreadTag::unpack(threads.tag[thread]).unwrap().activity;
                thread += 1;
            }
            let idle = activity.iter().zip(&workers).any(|(a, worker)| *worker && *a == Activity::Idle);
            let queued = state.contains(&TaskState::Queued);
            let on_core = activity.iter().filter(|a| matches!(a, Activity::Running | Activity::Overhead)).count();
            if let Some(start) = since {
                prop_assert!(time - start <= slack, "queued beside an idle worker from {} to {}", start, time);
            }
            let wasted = idle && queued && on_core < case.cores as usize;
            since = if wasted { since.or(Some(time)) } else { None };
        }
    }
}
