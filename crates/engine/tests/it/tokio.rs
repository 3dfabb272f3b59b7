//! tokio (R-1 to R-4, test vector 12), under no costs, where order and times are exact.

use parkbench_engine::TaskState::{Blocked, Done, Queued, Running};
use parkbench_engine::{Recording, TaskTag};

use crate::support::{MS, first, run};

const CURRENT: &str = r#"{ model = "coroutines", runtime = "tokio", flavor = "current-thread" }"#;

fn workers(count: u32) -> String {
    format!(r#"{{ model = "coroutines", runtime = "tokio", workers = {count} }}"#)
}

fn spawning(count: u32) -> String {
    format!(r#"{{ model = "coroutines", runtime = "tokio", workers = {count}, blocking = "spawn-blocking" }}"#)
}

/// The tasks in the order in which they got to run, again after every wait.
fn order(recording: &Recording) -> Vec<u32> {
    let records = &recording.tasks;
    let runs = (0..records.len()).filter(|&i| TaskTag::unpack(records.tag[i]).unwrap().state == Running);
    runs.map(|i| records.subject[i]).collect()
}

#[track_caller]
fn check_order(model: &str, tasks: &str, expect: &[u32]) {
    let recording = run(4, model, "", tasks);
    assert_eq!(recording.totals.unfinished, 0);
    assert_eq!(order(&recording), expect, "{model} {tasks}");
}

#[track_caller]
fn check(model: &str, tasks: &str, expect_us: u64) {
    let recording = run(64, model, "", tasks);
    assert_eq!(recording.totals.unfinished, 0);
    assert_eq!(recording.totals.makespan_ns, expect_us * 1_000, "{model} {tasks}");
}

/// A task that computes for 1 ms, so that all others are in the injection queue when it ends.
const HOG: &str = r#"{ name = "hog", count = 1, steps = [{ cpu = "1 ms" }] }"#;

#[test]
fn vector_12_a_chain_uses_the_slot_three_times_and_then_the_queue() {
    // The hog is 0; 1 spawns 2, which spawns 3, and so on to 5; 6, 7 and 8 are in the ring meanwhile.
    let link = |next: &str| format!(r#"[{{ cpu = "1 us" }}, {{ spawn = {{ steps = {next} }} }}]"#);
    let chain = (0..4).fold(r#"[{ cpu = "1 us" }]"#.to_owned(), |next, _| link(&next));
    let tasks = format!(r#"[{HOG}, {{ count = 1, steps = {chain} }}, {{ count = 3, steps = [{{ cpu = "1 us" }}] }}]"#);
    check_order(&workers(1), &tasks, &[0, 1, 2, 3, 4, 6, 7, 8, 5]);
    // R-4: no slot.
    check_order(CURRENT, &tasks, &[0, 1, 6, 7, 8, 2, 3, 4, 5]);
}

#[test]
fn vector_12_timers_wait_for_61_turns_of_a_busy_worker() {
    let tasks = format!(
        r#"[{HOG}, {{ count = 1, steps = [{{ io = "1 ms" }}] }}, {{ count = 100, steps = [{{ cpu = "100 us" }}] }}]"#
    );
    // The hog is turn 1, the sleeper turn 2, due at 2 ms; turns 3 to 60 compute, and turn 61 begins with the driver.
    let recording = run(4, &workers(1), "", &tasks);
    assert_eq!(first(&recording, 1, Done), Some(MS + 58 * MS / 10), "R-2");
}

#[test]
fn who_yields_is_ready_again_after_the_driver_and_the_last_first() {
    let tasks = r#"[{ count = 3, steps = [{ cpu = "1 us" }, "yield", { cpu = "1 us" }] },
        { count = 1, steps = [{ cpu = "1 us" }] }]"#;
    check_order(CURRENT, tasks, &[0, 1, 2, 3, 2, 1, 0]);
    // Ready again in the order 3, 2, 1, each in the slot for a moment, so that 1 is in it at the end.
    let tasks = format!("[{HOG}, {}", tasks.trim_start_matches('['));
    check_order(&workers(1), &tasks, &[0, 1, 2, 3, 4, 1, 3, 2]);
}

#[test]
fn timers_that_fire_together_run_from_the_last_on() {
    // R-2, R-3: each wakes its task into the slot.
    let sleepers = r#"{ count = 3, steps = [{ io = "2 ms" }, { cpu = "1 us" }] }"#;
    check_order(&workers(1), &format!("[{HOG}, {sleepers}]"), &[0, 1, 2, 3, 3, 1, 2]);
    check_order(CURRENT, &format!("[{HOG}, {sleepers}]"), &[0, 1, 2, 3, 1, 2, 3]);
}

#[test]
fn a_timer_is_rounded_up_to_a_millisecond_of_the_run() {
    let sleep = |us: u64| format!(r#"[{{ count = 1, steps = [{{ cpu = "300 us" }}, {{ io = "{us} us" }}] }}]"#);
    // Due in the 1st, 51st and 51st millisecond; the worker parks for whole milliseconds from 0.3 ms on.
    for (us, expect_us) in [(600, 1_300), (50_000, 51_300), (50_200, 51_300)] {
        check(&workers(1), &sleep(us), expect_us);
        check(CURRENT, &sleep(us), expect_us);
    }
    check(&workers(4), r#"[{ count = 10000, steps = [{ io = "50 ms" }] }]"#, 50_000);
    check(CURRENT, r#"[{ count = 10000, steps = [{ io = "50 ms" }] }]"#, 50_000);
}

#[test]
fn blocking_calls_hold_workers_unless_they_are_spawned() {
    // R-2: 128 calls of 10 ms on 4 workers; on threads of their own, of which there are up to 512.
    let calls = |count: u32| format!(r#"[{{ count = {count}, steps = [{{ block = "10 ms" }}] }}]"#);
    check(&workers(4), &calls(128), 320_000);
    check(CURRENT, &calls(128), 1_280_000);
    for model in [
        spawning(4),
        r#"{ model = "coroutines", runtime = "tokio", flavor = "current-thread", blocking = "spawn-blocking" }"#
            .to_owned(),
    ] {
        check(&model, &calls(128), 10_000);
        check(&model, &calls(512), 10_000);
        check(&model, &calls(513), 20_000);
    }
    let recording = run(64, &spawning(4), "", &calls(600));
    let threads = recording.thread_info.iter().filter(|info| info.name.starts_with("tokio-rt-blocking")).count();
    assert_eq!(threads, 512);
    assert_eq!(first(&recording, 599, Queued), Some(0));
    assert_eq!(first(&recording, 599, Blocked), Some(10 * MS));
}

#[test]
fn nobody_takes_the_driver_over_from_a_worker_that_is_in_a_task() {
    // The worker that had the driver runs what its timer woke, for 80 ms; three others are parked, and nobody has told
    // them of the driver.
    let tasks = r#"[
        { count = 1, steps = [{ io = "10 ms" }, { cpu = "80 ms" }] },
        { count = 1, steps = [{ io = "20 ms" }] },
    ]"#;
    let recording = run(4, &workers(4), "", tasks);
    assert_eq!(first(&recording, 1, Done), Some(90 * MS), "R-2");
    // With two tasks at a time it wakes another worker, which steals one, and parks on the driver when that is over.
    let tasks = r#"[
        { count = 2, steps = [{ io = "10 ms" }, { cpu = "80 ms" }] },
        { count = 1, steps = [{ io = "10 ms" }] },
        { count = 1, steps = [{ io = "20 ms" }] },
    ]"#;
    let recording = run(4, &workers(4), "", tasks);
    assert_eq!(first(&recording, 3, Done), Some(20 * MS));
}

#[test]
fn thieves_share_what_one_worker_has_spawned() {
    // R-1: 8 children of 10 ms beside a parent that goes on for 10 ms.
    let tasks =
        r#"[{ count = 1, steps = [{ spawn = { count = 8, steps = [{ cpu = "10 ms" }] } }, { cpu = "10 ms" }] }]"#;
    // The child in the slot is not stolen: it waits for the parent, and a worker of 9 has nothing.
    check(&workers(9), tasks, 20_000);
    check(&workers(1), tasks, 90_000);
}

#[test]
fn a_poll_ends_after_128_operations() {
    let tasks = r#"[{ count = 1, steps = [
            { repeat = { times = 100, steps = [{ lock = { name = "a", kind = "reentrant" } }, { unlock = "a" }] } },
            { repeat = { times = 28, steps = [{ lock = { name = "a", kind = "reentrant" } }, { unlock = "a" }] } },
            { lock = { name = "a", kind = "reentrant" } }, { unlock = "a" },
        ] }, { count = 1, steps = [{ cpu = "1 us" }] }]"#;
    check_order(CURRENT, tasks, &[0, 1, 0]);
}
