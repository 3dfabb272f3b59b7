//! The Go scheduler (G-1) under no costs: cases computed by hand, and orders seen on Go 1.26.
//!
//! `sysmon` wakes each 20 us up to 1.02 ms, then after twice as long each time, up to 10 ms: at 1.06, 1.14, 1.3, 1.62,
//! 2.26, 3.54, 6.1, 11.22, 21.22, 31.22 ms.

use parkbench_engine::{Reason, Recording, TaskState, TaskTag};

use crate::support::{MS, first, run};

fn go(workers: u32, more: &str, tasks: &str) -> Recording {
    let spec = format!("{{ model = \"green-threads\", runtime = \"go\", workers = {workers} }}");
    run(workers, &spec, more, tasks)
}

/// [us] When the task began or went on to run.
fn runs(recording: &Recording, task: u32) -> Vec<u64> {
    let records = &recording.tasks;
    (0..records.len())
        .filter(|&i| records.subject[i] == task)
        .filter(|&i| TaskTag::unpack(records.tag[i]).unwrap().state == TaskState::Running)
        .map(|i| records.time[i] / 1_000)
        .collect()
}

/// Runs the tasks and compares when each begins or goes on to run, in us.
#[track_caller]
fn check(workers: u32, tasks: &str, expect: &[&[u64]]) {
    let recording = go(workers, "", tasks);
    assert_eq!(recording.totals.unfinished, 0, "{tasks}");
    let got: Vec<Vec<u64>> = (0..recording.totals.tasks).map(|task| runs(&recording, task)).collect();
    assert_eq!(got, expect, "{tasks}");
}

/// Numbers and ranges of them, in order.
fn numbers(text: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        from.parse::<u32>().unwrap()..=to.parse().unwrap()
    };
    text.split_whitespace().flat_map(range).collect()
}

/// The order in which tasks first run.
fn order(recording: &Recording) -> Vec<u32> {
    let mut order: Vec<(u64, usize, u32)> = Vec::new();
    for i in 0..recording.tasks.len() {
        let task = recording.tasks.subject[i];
        if TaskTag::unpack(recording.tasks.tag[i]).unwrap().state == TaskState::Running
            && !order.iter().any(|&(_, _, seen)| seen == task)
        {
            order.push((recording.tasks.time[i], i, task));
        }
    }
    order.into_iter().map(|(_, _, task)| task).collect()
}

#[test]
fn the_newest_goroutine_runs_first() {
    // As Go 1.26.8 ran them, with GOMAXPROCS=1.
    let recording = go(1, "", r#"[{ count = 10, steps = [{ cpu = "1 ms" }] }]"#);
    assert_eq!(order(&recording), [9, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn queues_overflow_and_the_global_queue_comes_first_at_each_61st_tick() {
    // 600 goroutines as Go 1.26.8 ran them with GOMAXPROCS=1; its P was at tick 2 modulo 61 by then.
    let seen = "599 386-444 0 445-504 1 505-513 515-565 2 566-598 3-29 130 30-89 131 90-127 256 128-129 132-150 260 \
        151-210 261 211-255 385 257-259 262-384 514";
    let before = 2;
    let tasks = format!(
        r#"[{{ count = {before}, steps = [{{ cpu = "1 ns" }}] }}, {{ count = 600, at = "1 us", steps = [{{ cpu = "1 ns" }}] }}]"#
    );
    let got: Vec<u32> = order(&go(1, "", &tasks)).into_iter().skip(before).map(|task| task - before as u32).collect();
    assert_eq!(got, numbers(seen));
}

#[test]
fn sysmon_preempts_whoever_has_run_for_10_ms() {
    // It has seen the second at 20 us, and the first at 21.22 ms.
    check(1, r#"[{ count = 2, steps = [{ cpu = "30 ms" }] }]"#, &[&[11_220, 50_000], &[0, 31_220]]);
    let recording = go(1, "", r#"[{ count = 2, steps = [{ cpu = "30 ms" }] }]"#);
    let reasons: Vec<(u64, Reason)> = (0..recording.tasks.len())
        .map(|i| (recording.tasks.time[i], TaskTag::unpack(recording.tasks.tag[i]).unwrap()))
        .filter(|(time, tag)| *time > 0 && tag.state == TaskState::Queued)
        .map(|(time, tag)| (time, tag.reason))
        .collect();
    assert_eq!(reasons, [(11_220_000, Reason::TimeSlice), (31_220_000, Reason::TimeSlice)]);
}

#[test]
fn a_busy_p_fires_its_timers_when_it_next_looks_for_work() {
    let tasks =
        r#"[{ count = 1, steps = [{ cpu = "30 ms" }] }, { count = 1, steps = [{ io = "1 ms" }, { cpu = "1 ms" }] }]"#;
    check(1, tasks, &[&[0, 12_220], &[0, 11_220]]);
    let recording = go(1, "", tasks);
    let late = (0..recording.tasks.len())
        .find(|&i| TaskTag::unpack(recording.tasks.tag[i]).unwrap().reason == Reason::TimerBacklog)
        .map(|i| recording.tasks.time[i]);
    assert_eq!(late, Some(MS));
    // An idle P steals the timer, or its M polls for it.
    check(2, tasks, &[&[0, 11_220], &[0, 1_000]]);
}

#[test]
fn sysmon_hands_the_p_of_a_blocked_m_to_another() {
    let tasks = r#"[{ count = 2, steps = [{ block = "5 ms" }] }]"#;
    let recording = go(1, "", tasks);
    let ends = [0, 1].map(|task| first(&recording, task, TaskState::Done).unwrap());
    assert_eq!(ends, [5_020_000, 5_000_000]);
    // The second call is taken for idle work at 60 us: one M each, and one that has found nothing.
    assert_eq!(recording.thread_info.len(), 3);
    // Who returns and finds no P waits in the global queue.
    let tasks =
        r#"[{ count = 1, steps = [{ cpu = "5 ms" }] }, { count = 1, steps = [{ block = "1 ms" }, { cpu = "1 ms" }] }]"#;
    check(1, tasks, &[&[20], &[0, 5_020]]);
    // Who returns before sysmon comes keeps its P.
    let tasks = r#"[{ count = 1, steps = [{ cpu = "5 ms" }] }, { count = 1, steps = [{ block = "10 us" }, { cpu = "1 ms" }] }]"#;
    check(1, tasks, &[&[1_010], &[0, 10]]);
}

#[test]
fn gosched_goes_to_the_end_of_the_global_queue() {
    let tasks = r#"[{ count = 3, steps = [{ cpu = "1 ms" }, "yield", { cpu = "1 ms" }] }]"#;
    check(1, tasks, &[&[1_000, 4_000], &[2_000, 5_000], &[0, 3_000]]);
}

#[test]
fn a_waiter_that_starves_is_handed_the_mutex() {
    // The first is stolen from `main` after 3 us and takes the mutex again and again for 0.5 ms. The second waits since
    // 0.1 ms; it is woken at each unlock, by a P that steals it after 3 us, and is too late. At 1.506 ms it has waited
    // for more than 1 ms: the unlock at 2.003 ms hands over. Go 1.26.8 handed over at 2.06 ms.
    let tasks = r#"[
        { count = 1, steps = [{ repeat = { times = 8, steps = [
            { lock = { name = "m", kind = "reentrant" } }, { cpu = "500 us" }, { unlock = "m" },
        ] } }] },
        { count = 1, steps = [{ cpu = "100 us" }, { lock = { name = "m", kind = "reentrant" } }, { cpu = "500 us" }, { unlock = "m" }] },
    ]"#;
    check(2, tasks, &[&[3, 2_003, 2_503], &[0, 506, 1_006, 1_506, 2_003]]);
}

#[test]
fn a_channel_hands_over_in_order() {
    let tasks =
        r#"[{ count = 3, steps = [{ acquire = { name = "s", permits = 1 } }, { io = "1 ms" }, { release = "s" }] }]"#;
    let recording = go(1, "", tasks);
    let ends = [0, 1, 2].map(|task| first(&recording, task, TaskState::Done).unwrap() / MS);
    assert_eq!(ends, [2, 3, 1]);
}

#[test]
fn a_program_without_threads_dies() {
    let text = "version = 1\nname = \"test\"\nprofile = \"zero\"\nmachine = { cores = 1, max_threads = 4 }\n\
        tasks = [{ count = 10, steps = [{ block = \"10 ms\" }] }]\n\
        runs = [{ model = \"green-threads\", runtime = \"go\" }]\n";
    let scenario = parkbench_engine::Scenario::from_toml(text).unwrap();
    let recording = parkbench_engine::Simulation::new(&scenario, 0).unwrap().run();
    let records = &recording.tasks;
    let failed = (0..records.len())
        .map(|i| TaskTag::unpack(records.tag[i]).unwrap())
        .filter(|tag| (tag.state, tag.reason) == (TaskState::Failed, Reason::NativeThreads))
        .count();
    assert_eq!((failed, recording.totals.unfinished), (10, 0));
    assert!(recording.totals.makespan_ns < MS, "{}", recording.totals.makespan_ns);
}
