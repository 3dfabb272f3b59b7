//! Test vectors of the runtime facts, by number, under no costs, where they are exact.

use parkbench_engine::Role;
use parkbench_engine::TaskState::{Done, Running};

use crate::support::{MS, first, run};

#[track_caller]
fn check(cores: u32, model: &str, tasks: &str, expect_ms: u64) {
    let recording = run(cores, model, "", tasks);
    assert_eq!(recording.totals.unfinished, 0);
    assert_eq!(recording.totals.makespan_ns, expect_ms * MS, "{model} {tasks}");
}

#[test]
fn vector_1_rounds_of_the_pool_and_one_wave_of_green_threads() {
    let io = |wait: &str| format!("[{{ count = 10000, steps = [{{ io = \"{wait}\" }}] }}]");
    check(12, r#"{ model = "thread-pool", size = 12 }"#, &io("50 ms"), 41_700);
    check(8, r#"{ model = "thread-pool", size = 500 }"#, &io("2 s"), 40_000);
    for jdk in [21, 25] {
        check(12, &format!(r#"{{ model = "green-threads", jdk = {jdk} }}"#), &io("2 s"), 2_000);
    }
    for dispatcher in ["default", "io", "event-loop"] {
        check(12, &format!(r#"{{ model = "coroutines", dispatcher = "{dispatcher}" }}"#), &io("2 s"), 2_000);
    }
}

#[test]
fn vector_2_hogs_starve_green_threads_but_not_os_threads() {
    let tasks = r#"[
        { name = "hog", count = 4, steps = [{ cpu = "300 ms" }] },
        { name = "late", count = 1, at = "20 ms", steps = [{ cpu = "1 ms" }] },
    ]"#;
    for jdk in [21, 25] {
        let green = run(4, &format!(r#"{{ model = "green-threads", jdk = {jdk} }}"#), "", tasks);
        assert_eq!(first(&green, 4, Running), Some(300 * MS), "T-4: exactly when a hog ends");
    }
    let slice = "base_slice = \"2.8 ms\"\ntick = \"4 ms\"";
    let pool = run(4, r#"{ model = "thread-pool", size = 5 }"#, slice, tasks);
    let start = first(&pool, 4, Running).unwrap();
    assert!((20 * MS..=24 * MS).contains(&start), "P-3: within one slice, noticed at a tick: {start}");
    assert!(pool.totals.involuntary_switches > 0);
}

#[test]
fn vector_3_monitors_pin_before_24() {
    let tasks = |kind: &str| {
        format!(
            "[{{ count = 5000, steps = [{{ lock = {{ name = \"own\", kind = \"{kind}\", scope = \"task\" }} }}, \
             {{ io = \"100 ms\" }}, {{ unlock = \"own\" }}] }}]"
        )
    };
    for (jdk, monitor_ms) in [(21, 125_000), (22, 125_000), (23, 125_000), (24, 100), (25, 100)] {
        let model = format!(r#"{{ model = "green-threads", jdk = {jdk}, carriers = 4 }}"#);
        check(4, &model, &tasks("monitor"), monitor_ms);
        check(4, &model, &tasks("reentrant"), 100);
    }
}

#[test]
fn vector_4_class_initialisers_pin_on_every_jdk() {
    let tasks = r#"[{ count = 4, steps = [
        { lock = { name = "own", kind = "class-initializer", scope = "task" } }, { io = "200 ms" }, { unlock = "own" },
    ] }]"#;
    for jdk in 21..=25 {
        for (carriers, expect_ms) in [(1, 800), (2, 400), (4, 200), (8, 200)] {
            check(
                8,
                &format!(r#"{{ model = "green-threads", jdk = {jdk}, carriers = {carriers} }}"#),
                tasks,
                expect_ms,
            );
        }
    }
}

#[test]
fn vector_5_one_monitor_serialises_and_frees_the_carrier_from_24_on() {
    let tasks = r#"[
        { name = "queue", count = 20, steps = [{ lock = { name = "one" } }, { io = "10 ms" }, { unlock = "one" }] },
        { name = "other", count = 1, steps = [{ cpu = "1 ms" }] },
    ]"#;
    for jdk in [24, 25] {
        let unmounts = run(1, &format!(r#"{{ model = "green-threads", jdk = {jdk} }}"#), "", tasks);
        assert_eq!(unmounts.totals.makespan_ns, 200 * MS);
        assert_eq!(first(&unmounts, 20, Done), Some(MS), "the other thread is not delayed");
    }
    // Before that the holder pins the only carrier, so the other thread waits for the whole queue.
    for jdk in [21, 22, 23] {
        let pins = run(1, &format!(r#"{{ model = "green-threads", jdk = {jdk} }}"#), "", tasks);
        assert_eq!(pins.totals.makespan_ns, 201 * MS);
        assert_eq!(first(&pins, 20, Done), Some(201 * MS));
    }
}

/// Makespan and number of carriers at the end.
#[track_caller]
fn check_carriers(model: &str, tasks: &str, expect_ms: u64, carriers: usize) {
    let recording = run(32, model, "", tasks);
    let workers = recording.thread_info.iter().filter(|info| info.role == Role::Worker).count();
    assert_eq!((recording.totals.makespan_ns, workers), (expect_ms * MS, carriers), "{model}");
}

#[test]
fn vector_6_compensation_adds_carriers_up_to_the_largest_pool() {
    let tasks = r#"[{ count = 10, steps = [{ block = { time = "100 ms", kind = "fsync" } }] }]"#;
    for jdk in 21..=25 {
        let model = |more: &str| format!(r#"{{ model = "green-threads", jdk = {jdk}, carriers = 4{more} }}"#);
        check_carriers(&model(""), tasks, 100, 12);
        check_carriers(&model(", max_pool = 4"), tasks, 300, 4);
    }
}

#[test]
fn vector_7_object_wait_adds_carriers_before_24() {
    let tasks = r#"[{ count = 100, steps = [{ block = { time = "100 ms", kind = "object-wait" } }] }]"#;
    for (jdk, carriers) in [(21, 101), (22, 101), (23, 101), (24, 2), (25, 2)] {
        let model = format!(r#"{{ model = "green-threads", jdk = {jdk}, carriers = 2 }}"#);
        check_carriers(&model, tasks, 100, carriers);
    }
}

#[test]
fn vector_8_the_order_of_a_workers_own_dispatches() {
    // One core, so that nobody steals while the parent's worker has work: 1 to 4 are its children.
    let spawns = |count: u32| {
        format!(r#"[{{ count = 1, steps = [{{ spawn = {{ count = {count}, steps = [{{ cpu = "1 us" }}] }} }}] }}]"#)
    };
    let default = r#"{ model = "coroutines" }"#;
    let recording = run(1, default, "", &spawns(4));
    let mut order = [1, 2, 3, 4];
    order.sort_by_key(|&child| first(&recording, child, Running));
    assert_eq!(order, [4, 1, 2, 3], "K-4");
    // The slot and 127 in the ring; 128 to 130 overflow to the global queue, which the coin looks at first now and then.
    let recording = run(1, default, "", &spawns(131));
    let start = |child: u32| first(&recording, child, Running).unwrap();
    assert_eq!(start(131), 0);
    assert!((1..127).all(|child| start(child) < start(child + 1)), "the ring is first in, first out");
    assert!(start(130) < start(127), "one in four looks at the global queue first");
}

#[test]
fn a_thief_that_waits_for_a_young_slot_is_not_woken_by_the_next_dispatch() {
    // K-5: the second child pushes the first into the ring, and a third worker is woken for it; the thief that waits for
    // the slot to be 100 us old finds another one in it, and waits for that.
    let tasks = r#"[{ count = 1, steps = [
        { spawn = { steps = [{ cpu = "1 ms" }] } }, { cpu = "50 us" },
        { spawn = { steps = [{ cpu = "1 ms" }] } }, { cpu = "10 ms" },
    ] }]"#;
    let recording = run(12, r#"{ model = "coroutines" }"#, "", tasks);
    let starts = [1, 2].map(|child| first(&recording, child, Running).map(|ns| ns / 1_000));
    assert_eq!(starts, [Some(50), Some(150)]);
}

#[test]
fn views_of_the_dispatchers_limit_what_runs_at_once() {
    let block = r#"[{ count = 640, steps = [{ block = "50 ms" }] }]"#;
    let delay = r#"[{ count = 640, steps = [{ io = "50 ms" }] }]"#;
    let model = |dispatcher: &str, most: u32| {
        format!(r#"{{ model = "coroutines", dispatcher = "{dispatcher}", parallelism = {most} }}"#)
    };
    for (dispatcher, most, expect_ms) in [
        // K-7: of IO as many as it says, be it more than 64.
        ("io", 10, 3_200),
        ("io", 64, 500),
        ("io", 128, 250),
        ("io", 640, 50),
        // Of Default no more than its workers.
        ("default", 1, 32_000),
        ("default", 4, 8_000),
        ("default", 12, 2_700),
        ("default", 128, 2_700),
    ] {
        check(12, &model(dispatcher, most), block, expect_ms);
        check(12, &model(dispatcher, most), delay, 50);
    }
    // More calls than cores leave the cores to others: a view of IO needs no permit.
    let tasks = r#"[{ count = 128, steps = [{ block = "50 ms" }, { cpu = "1 ms" }] }]"#;
    check(2, &model("io", 128), tasks, 50 + 64);
}

#[test]
fn vector_9_the_limits_of_the_dispatchers() {
    let block = r#"[{ count = 640, steps = [{ block = "50 ms" }] }]"#;
    let delay = r#"[{ count = 640, steps = [{ io = "50 ms" }] }]"#;
    let model = |dispatcher: &str| format!(r#"{{ model = "coroutines", dispatcher = "{dispatcher}" }}"#);
    check(12, &model("io"), block, 500);
    check(12, &model("io"), delay, 50);
    check(12, &model("default"), block, 2_700);
    check(100, &model("io"), block, 350);
}

#[test]
fn vector_10_a_spinning_coroutine_holds_every_timer_of_its_loop_up() {
    let tasks = r#"[
        { name = "sleeper", count = 10, steps = [{ io = "20 ms" }] },
        { name = "spinner", count = 1, steps = [{ cpu = "100 ms" }] },
        { name = "later", count = 1, steps = [{ io = "120 ms" }] },
    ]"#;
    let recording = run(4, r#"{ model = "coroutines", dispatcher = "event-loop" }"#, "", tasks);
    for sleeper in 0..10 {
        assert_eq!(first(&recording, sleeper, Done), Some(100 * MS));
    }
    // It registered its delay only when the loop got to it.
    assert_eq!(first(&recording, 11, Done), Some(220 * MS));
}

#[test]
fn vector_11_expiries_wait_for_a_carrier_on_25() {
    let tasks = r#"[
        { name = "sleeper", count = 5, steps = [{ io = "10 ms" }] },
        { name = "hog", count = 2, steps = [{ cpu = "80 ms" }] },
    ]"#;
    for jdk in [21, 25] {
        let recording = run(2, &format!(r#"{{ model = "green-threads", jdk = {jdk} }}"#), "", tasks);
        for sleeper in 0..5 {
            assert_eq!(first(&recording, sleeper, Done), Some(80 * MS), "T-10 on {jdk}");
        }
    }
}

#[test]
fn starts_follow_submissions_on_one_carrier() {
    let recording = run(1, r#"{ model = "green-threads" }"#, "", r#"[{ count = 10, steps = [{ cpu = "1 ms" }] }]"#);
    for task in 0..10 {
        assert_eq!(first(&recording, task, Running), Some(u64::from(task) * MS), "T-2");
    }
}

#[test]
fn contended_monitors_block_carriers_on_21() {
    // T-13: with 2 carriers, one task sleeps in the monitor and one waits for it; nobody is left for the third.
    let tasks = r#"[
        { name = "holder", count = 2, steps = [{ lock = { name = "m" } }, { io = "10 ms" }, { unlock = "m" }] },
        { name = "other", count = 1, steps = [{ cpu = "1 ms" }] },
    ]"#;
    let on_21 = run(2, r#"{ model = "green-threads", jdk = 21 }"#, "", tasks);
    assert_eq!(first(&on_21, 2, Running), Some(10 * MS));
    let on_25 = run(2, r#"{ model = "green-threads", jdk = 25 }"#, "", tasks);
    assert_eq!(first(&on_25, 2, Running), Some(0));
}

#[test]
fn a_deadlock_ends_the_run() {
    let tasks = r#"[
        { count = 1, steps = [{ lock = { name = "a" } }, { io = "1 ms" }, { lock = { name = "b" } }, { unlock = "b" }, { unlock = "a" }] },
        { count = 1, steps = [{ lock = { name = "b" } }, { io = "1 ms" }, { lock = { name = "a" } }, { unlock = "a" }, { unlock = "b" }] },
        { count = 1, steps = [{ io = "5 ms" }] },
    ]"#;
    for model in
        [r#"{ model = "thread-pool" }"#, r#"{ model = "green-threads" }"#, r#"{ model = "green-threads", jdk = 21 }"#]
    {
        let recording = run(4, model, "", tasks);
        assert_eq!(recording.totals.unfinished, 2, "{model}");
        assert_eq!(recording.totals.makespan_ns, 5 * MS, "{model}");
    }
    // The end of a slice that nobody waits for any more is no part of the run.
    let slices = "base_slice = \"2.8 ms\"\ntick = \"4 ms\"";
    let tasks = tasks.replace("count = 1, steps = [{ io = \"5 ms\" }]", "count = 2, steps = [{ cpu = \"5 ms\" }]");
    let recording = run(1, r#"{ model = "thread-pool", size = 4 }"#, slices, &tasks);
    assert_eq!((recording.totals.unfinished, recording.totals.makespan_ns), (2, 10 * MS));
}

#[test]
fn the_clock_starts_with_the_first_submission() {
    let tasks = r#"[
        { count = 1, at = "30 ms", steps = [{ io = "10 ms" }] },
        { count = 1, at = "20 ms", steps = [{ io = "5 ms" }] },
    ]"#;
    for model in [
        r#"{ model = "thread-pool" }"#,
        r#"{ model = "green-threads" }"#,
        r#"{ model = "coroutines" }"#,
        r#"{ model = "coroutines", dispatcher = "event-loop" }"#,
    ] {
        check(2, model, tasks, 20);
    }
}
