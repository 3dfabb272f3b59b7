//! Semaphores, yields, spawned tasks, repetitions, retries, closed loops and mixes, under no costs, in every model.

use parkbench_engine::{Recording, Scenario, Simulation, TaskState};

use crate::support::{MS, first, run};

const POOL: &str = r#"{ model = "thread-pool", size = 8 }"#;
const JAVA_21: &str = r#"{ model = "green-threads", jdk = 21 }"#;
const JAVA_25: &str = r#"{ model = "green-threads", jdk = 25 }"#;
const DEFAULT: &str = r#"{ model = "coroutines", dispatcher = "default" }"#;
const IO: &str = r#"{ model = "coroutines", dispatcher = "io" }"#;
const LOOP: &str = r#"{ model = "coroutines", dispatcher = "event-loop" }"#;
const TOKIO: &str = r#"{ model = "coroutines", runtime = "tokio" }"#;
const TOKIO_CURRENT: &str = r#"{ model = "coroutines", runtime = "tokio", flavor = "current-thread" }"#;
const GO: &str = r#"{ model = "green-threads", runtime = "go" }"#;
const ALL: [&str; 9] = [POOL, JAVA_21, JAVA_25, DEFAULT, IO, LOOP, TOKIO, TOKIO_CURRENT, GO];

/// Runs the tasks on 8 cores in every one of the models and compares the makespan.
#[track_caller]
fn check(runs: &[&str], tasks: &str, makespan_ms: u64) {
    for spec in runs {
        let recording = run(8, spec, "", tasks);
        assert_eq!(recording.totals.unfinished, 0, "{spec}: {tasks}");
        assert_eq!(recording.totals.makespan_ns, makespan_ms * MS, "{spec}: {tasks}");
    }
}

#[test]
fn a_semaphore_lets_in_as_many_as_it_has_permits() {
    // 8 calls of 10 ms through 2 connections.
    let steps = r#"[{ acquire = { name = "c", permits = 2 } }, { io = "10 ms" }, { release = "c" }]"#;
    check(&ALL, &format!("[{{ count = 8, steps = {steps} }}]"), 40);
    let fair = r#"[{ acquire = { name = "c", permits = 3, fair = true } }, { io = "10 ms" }, { release = "c" }]"#;
    check(&ALL, &format!("[{{ count = 8, steps = {fair} }}]"), 30);
}

#[test]
fn spawned_tasks_run_beside_their_parent_until_it_joins() {
    let fan_out =
        r#"[{ spawn = { count = 3, steps = [{ io = "10 ms" }] } }, { io = "4 ms" }, "join", { io = "1 ms" }]"#;
    check(&ALL, &format!("[{{ count = 2, steps = {fan_out} }}]"), 11);
    // Who does not join ends before its children, and the run waits for them.
    let orphans = r#"[{ spawn = { steps = [{ io = "10 ms" }] } }, { io = "4 ms" }]"#;
    check(&ALL, &format!("[{{ count = 2, steps = {orphans} }}]"), 10);
    let levels = r#"[{ spawn = { count = 2, steps = [{ spawn = { steps = [{ io = "5 ms" }] } }, "join", { io = "2 ms" }] } }, "join"]"#;
    check(&ALL, &format!("[{{ count = 1, steps = {levels} }}]"), 7);
    // Children that have ended before the join are not waited for.
    let early = r#"[{ spawn = { steps = [{ io = "1 ms" }] } }, { io = "4 ms" }, "join"]"#;
    check(&ALL, &format!("[{{ count = 1, steps = {early} }}]"), 4);
}

#[test]
fn a_pool_whose_threads_wait_for_tasks_in_its_queue_stands_still() {
    // All 8 threads have a task when these spawn.
    let fan_out = r#"[{ cpu = "1 ms" }, { spawn = { steps = [{ io = "10 ms" }] } }, "join"]"#;
    let recording = run(8, POOL, "", &format!("[{{ count = 8, steps = {fan_out} }}]"));
    assert_eq!(recording.totals.unfinished, 16);
    check(&[JAVA_21, JAVA_25, DEFAULT, IO], &format!("[{{ count = 8, steps = {fan_out} }}]"), 11);
    // The newest goroutine stays where it is made, unless a P that has nothing to do has waited for 3 us (G-1).
    assert_eq!(run(8, GO, "", &format!("[{{ count = 8, steps = {fan_out} }}]")).totals.makespan_ns, 11 * MS + 3_000);
}

#[test]
fn repeated_steps_draw_anew_and_spawn_anew() {
    let steps = r#"[{ repeat = { times = 3, steps = [{ io = "2 ms" }, { repeat = { times = 2, steps = [{ io = "1 ms" }] } }] } }]"#;
    check(&ALL, &format!("[{{ count = 2, steps = {steps} }}]"), 12);
    let spawns =
        r#"[{ repeat = { times = 3, steps = [{ spawn = { count = 2, steps = [{ io = "2 ms" }] } }, "join"] } }]"#;
    for spec in ALL {
        let recording = run(8, spec, "", &format!("[{{ count = 1, steps = {spawns} }}]"));
        assert_eq!((recording.totals.tasks, recording.totals.makespan_ns), (7, 6 * MS), "{spec}");
    }
    let drawn = r#"[{ repeat = { times = 2, steps = [{ io = { uniform = ["1 ms", "9 ms"] } }] } }]"#;
    let recording = run(8, JAVA_25, "", &format!("[{{ count = 1, steps = {drawn} }}]"));
    let records = &recording.tasks;
    let waits: Vec<u64> = (1..records.len())
        .filter(|&i| parkbench_engine::TaskTag::unpack(records.tag[i - 1]).unwrap().state == TaskState::Waiting)
        .map(|i| records.time[i] - records.time[i - 1])
        .collect();
    assert_eq!(waits.len(), 2);
    assert_ne!(waits[0], waits[1]);
}

#[test]
fn who_yields_lets_others_run_first() {
    let tasks = r#"[
        { count = 1, steps = [{ cpu = "1 ms" }, "yield", { cpu = "1 ms" }] },
        { count = 1, steps = [{ cpu = "1 ms" }] },
    ]"#;
    for (spec, expect) in [
        (r#"{ model = "green-threads", jdk = 25 }"#, [3, 2]),
        (r#"{ model = "green-threads", jdk = 21 }"#, [3, 2]),
        // The second is the newer one, so it runs first.
        (r#"{ model = "green-threads", runtime = "go" }"#, [3, 1]),
        (r#"{ model = "coroutines", dispatcher = "event-loop" }"#, [3, 2]),
        // A thread of a pool gives its core up, but keeps its task.
        (r#"{ model = "thread-pool", size = 1 }"#, [2, 3]),
        (r#"{ model = "thread-pool", size = 2 }"#, [3, 2]),
    ] {
        let recording = run(1, spec, "", tasks);
        let ends = [0, 1].map(|task| first(&recording, task, TaskState::Done).unwrap() / MS);
        assert_eq!(ends, expect, "{spec}");
    }
}

#[test]
fn who_cannot_take_a_lock_gives_its_locks_back_and_tries_again() {
    // The first holds b for 10 ms; the second tries every 3 ms, from its first lock on: at 0, 3, 6, 9 and 12 ms.
    let tasks = r#"[
        { count = 1, steps = [{ lock = { name = "b", kind = "reentrant" } }, { io = "10 ms" }, { unlock = "b" }] },
        { count = 1, at = "1 ns", steps = [
            { lock = { name = "a", kind = "reentrant" } },
            { lock = { name = "b", kind = "reentrant", retry = "3 ms" } },
            { io = "1 ms" },
            { unlock = "b" },
            { unlock = "a" },
        ] },
        { count = 1, at = "2 ns", steps = [{ lock = { name = "a", kind = "reentrant" } }, { unlock = "a" }] },
    ]"#;
    // The wheel of tokio knows no nanoseconds.
    for spec in ALL.into_iter().filter(|spec| !spec.contains("tokio")) {
        let recording = run(8, spec, "", tasks);
        let ends = [0, 1, 2].map(|task| first(&recording, task, TaskState::Done).unwrap());
        assert_eq!(ends, [10 * MS, 13 * MS + 1, 2], "{spec}");
    }
}

#[test]
fn users_of_a_closed_loop_think_between_their_tasks() {
    // 2 users, 3 tasks each of 4 ms with 6 ms of thinking.
    let closed =
        r#"[{ count = 6, arrival = { closed-loop = { users = 2, think = "6 ms" } }, steps = [{ io = "4 ms" }] }]"#;
    check(&ALL, closed, 24);
    // A pool of one thread serves one user while the other waits: 0 to 4 and 4 to 8, then at 10 and 14.
    check(&[r#"{ model = "thread-pool", size = 1 }"#], closed, 28);
}

fn mixed(text: &str) -> Recording {
    let text = format!("version = 1\nname = \"test\"\nprofile = \"zero\"\n{text}\nruns = [{POOL}]\n");
    Simulation::new(&Scenario::from_toml(&text).unwrap_or_else(|e| panic!("{e}")), 0).unwrap().run()
}

#[test]
fn a_mix_draws_the_class_of_each_arrival_by_weight() {
    let recording = mixed(
        r#"machine = { cores = 8 }
        mix = { count = 10000, arrival = { every = "1 us" } }
        tasks = [
            { name = "read", weight = 9, steps = [{ io = "1 ns" }] },
            { name = "write", weight = 1, steps = [{ io = "3 ns" }] },
        ]"#,
    );
    assert_eq!(recording.totals.tasks, 10_000);
    let blocked = |i: usize| parkbench_engine::TaskTag::unpack(recording.tasks.tag[i]).unwrap();
    let long = (1..recording.tasks.len())
        .filter(|&i| blocked(i - 1).state == TaskState::Blocked && blocked(i).state != TaskState::Preempted)
        .filter(|&i| recording.tasks.time[i] - recording.tasks.time[i - 1] == 3)
        .count();
    // Binomial with 10,000 draws of 0.1: four standard deviations are 120.
    assert!((880..=1_120).contains(&long), "{long}");
}
