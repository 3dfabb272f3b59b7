//! Java virtual threads rule by rule, computed by hand, under no costs but those given.

use parkbench_engine::{Recording, Role, Scenario, Simulation, TaskState};

use crate::support::{MS, first, run};

/// Enough cores for every thread.
const CORES: u32 = 32;

fn workers(recording: &Recording) -> usize {
    recording.thread_info.iter().filter(|info| info.role == Role::Worker).count()
}

/// The makespan and the number of carriers at the end, on each of these JDKs.
#[track_caller]
fn check(jdks: &[u32], knobs: &str, tasks: &str, expect_ms: u64, carriers: usize) {
    for jdk in jdks {
        let model = format!("{{ model = \"green-threads\", jdk = {jdk}, {knobs} }}");
        let recording = run(CORES, &model, "", tasks);
        let got = (recording.totals.unfinished, recording.totals.makespan_ns, workers(&recording));
        assert_eq!(got, (0, expect_ms * MS, carriers), "{model} {tasks}");
    }
}

/// [ms] When each task ends, on each of these JDKs.
#[track_caller]
fn check_ends<const N: usize>(jdks: &[u32], cores: u32, knobs: &str, costs: &str, tasks: &str, expect: [u64; N]) {
    for jdk in jdks {
        let model = format!("{{ model = \"green-threads\", jdk = {jdk}, {knobs} }}");
        let recording = run(cores, &model, costs, tasks);
        let ends = std::array::from_fn(|task| first(&recording, task as u32, TaskState::Done).unwrap() / MS);
        assert_eq!(ends, expect, "{model} {tasks}");
    }
}

const ALL: [u32; 5] = [21, 22, 23, 24, 25];

fn blocks(count: u32, kind: &str, ms: u32) -> String {
    format!("[{{ count = {count}, steps = [{{ block = {{ time = \"{ms} ms\", kind = \"{kind}\" }} }}] }}]")
}

#[test]
fn each_jdk_makes_up_for_its_own_calls() {
    // T-17, 8 calls on 2 carriers. Made up for: the first lowers the active count, each of the others adds a carrier.
    check(&ALL, "carriers = 2", &blocks(8, "native", 10), 40, 2);
    check(&ALL, "carriers = 2", &blocks(8, "fsync", 10), 10, 9);
    check(&[21, 22], "carriers = 2", &blocks(8, "file", 10), 10, 9);
    check(&[23, 24, 25], "carriers = 2", &blocks(8, "file", 10), 40, 2);
    check(&[21, 22, 23], "carriers = 2", &blocks(8, "object-wait", 10), 10, 9);
    check(&[24, 25], "carriers = 2", &blocks(8, "object-wait", 10), 10, 2);
}

#[test]
fn compensation_stops_at_its_two_knobs() {
    // T-16. Four carriers are active when the first calls begin, at 1 ms; whoever is created computes for 1 ms first.
    let calls = r#"[{ count = 10, steps = [{ cpu = "1 ms" }, { block = { time = "100 ms", kind = "fsync" } }] }]"#;
    // Two of the four that are created at 2 ms find nothing to run, and take over from the last two calls.
    check(&ALL, "carriers = 4, min_runnable = 4", calls, 103, 12);
    check(&ALL, "carriers = 4, min_runnable = 3", calls, 103, 13);
    check(&ALL, "carriers = 4, min_runnable = 1", calls, 107, 11);
    // All four lower the active count, and nobody is left to take the fifth call before the first is over.
    check(&ALL, "carriers = 4, min_runnable = 0", calls, 303, 4);
    check(&ALL, "carriers = 4, max_pool = 5", calls, 203, 5);
    check(&ALL, "carriers = 4, max_pool = 10", calls, 104, 10);
    // The default of max_pool is 256.
    check(&ALL, "carriers = 1", &blocks(300, "fsync", 10), 20, 256);
    // A parallelism above max_pool is lowered to it, as the JDK does.
    check(&ALL, "max_pool = 2", &blocks(10, "fsync", 100), 500, 2);
}

#[test]
fn the_os_may_refuse_the_carrier_that_would_make_up() {
    // P-6, T-16 (d): a submitter, 2 carriers and a timer thread leave room for 2 more.
    let text = format!(
        "version = 1\nname = \"test\"\nprofile = \"zero\"\ntasks = {}\n\
         runs = [{{ model = \"green-threads\", jdk = 21, carriers = 2 }}]\n[machine]\ncores = 8\nmax_threads = 6\n",
        blocks(8, "fsync", 10)
    );
    let recording = Simulation::new(&Scenario::from_toml(&text).unwrap(), 0).unwrap().run();
    assert_eq!((recording.totals.makespan_ns, workers(&recording)), (20 * MS, 4));
}

#[test]
fn a_carrier_is_created_on_the_one_that_blocks() {
    // 1 ms for each: the first call lasts from 1 to 11 ms, the second, on the new carrier, from 2 to 12.
    let costs = "thread_create = \"1 ms\"";
    check_ends(&ALL, CORES, "carriers = 1", costs, &blocks(2, "fsync", 10), [11, 12]);
}

#[test]
fn carriers_that_come_back_are_too_many_until_they_are_idle() {
    // All 6 compute at once after their calls, on 2 carriers and 5 that made up for blocked ones.
    let steps = r#"[{ block = { time = "10 ms", kind = "fsync" } }, { cpu = "10 ms" }]"#;
    check(&ALL, "carriers = 2", &format!("[{{ count = 6, steps = {steps} }}]"), 20, 7);
    // Afterwards no more are woken than the parallelism.
    let later = format!(
        "[{{ count = 6, steps = {steps} }}, {{ count = 8, at = \"100 ms\", steps = [{{ cpu = \"10 ms\" }}] }}]"
    );
    check(&ALL, "carriers = 2", &later, 140, 7);
}

#[test]
fn pinned_carriers_count_as_active_so_spares_stay_idle() {
    // T-12: 2 calls leave 3 carriers. Then 4 sleep in a frame that pins: 2 at a time, though a third carrier is idle.
    let tasks = r#"[
        { count = 2, steps = [{ block = { time = "1 ms", kind = "fsync" } }] },
        { count = 4, at = "10 ms", steps = [
            { lock = { name = "f", kind = "native-frame", scope = "task" } }, { io = "10 ms" }, { unlock = "f" },
        ] },
    ]"#;
    check(&ALL, "carriers = 2", tasks, 30, 3);
}

#[test]
fn frames_pin_on_every_jdk_and_monitors_before_24() {
    let sleep = |kind: &str, step: &str| {
        format!(
            "[{{ count = 4, steps = [{{ lock = {{ name = \"own\", kind = \"{kind}\", scope = \"task\" }} }}, {step}, \
             {{ unlock = \"own\" }}] }}]"
        )
    };
    let io = "{ io = \"10 ms\" }";
    let wait = "{ block = { time = \"10 ms\", kind = \"object-wait\" } }";
    for kind in ["native-frame", "class-initializer"] {
        check(&ALL, "carriers = 2", &sleep(kind, io), 20, 2);
        // T-13: made up for; T-15: not made up for.
        check(&[21, 22, 23], "carriers = 2", &sleep(kind, wait), 10, 5);
        check(&[24, 25], "carriers = 2", &sleep(kind, wait), 20, 2);
    }
    check(&[21, 22, 23], "carriers = 2", &sleep("monitor", io), 20, 2);
    check(&[24, 25], "carriers = 2", &sleep("monitor", io), 10, 2);
    check(&[21, 22, 23], "carriers = 2", &sleep("monitor", wait), 10, 5);
    check(&[24, 25], "carriers = 2", &sleep("monitor", wait), 10, 2);
    check(&ALL, "carriers = 2", &sleep("reentrant", io), 10, 2);
}

#[test]
fn who_waits_for_a_class_or_before_24_for_a_monitor_keeps_its_carrier() {
    // T-13, T-15: one task sleeps inside, one waits to get in, and 2 carriers leave nobody for the third.
    let tasks = |kind: &str| {
        format!(
            "[{{ count = 2, steps = [{{ lock = {{ name = \"m\", kind = \"{kind}\" }} }}, {{ io = \"10 ms\" }}, \
             {{ unlock = \"m\" }}] }}, {{ count = 1, steps = [{{ cpu = \"1 ms\" }}] }}]"
        )
    };
    // The carrier of the first looks for work when it has handed over.
    check_ends(&ALL, CORES, "carriers = 2", "", &tasks("class-initializer"), [10, 20, 11]);
    check_ends(&[21, 22, 23], CORES, "carriers = 2", "", &tasks("monitor"), [10, 20, 11]);
    check_ends(&[24, 25], CORES, "carriers = 2", "", &tasks("monitor"), [10, 20, 1]);
    check_ends(&ALL, CORES, "carriers = 2", "", &tasks("reentrant"), [10, 20, 1]);
}

#[test]
fn object_wait_gives_its_monitor_up_and_takes_it_back() {
    // While the first waits, the second computes in the monitor. Before 24 on a carrier that makes up for it.
    let tasks = r#"[
        { count = 1, steps = [{ lock = { name = "m" } }, { block = { time = "10 ms", kind = "object-wait" } }, { unlock = "m" }] },
        { count = 1, steps = [{ lock = { name = "m" } }, { cpu = "30 ms" }, { unlock = "m" }] },
        { count = 1, at = "20 ms", steps = [{ cpu = "5 ms" }] },
    ]"#;
    // The first blocks in wait and then to get back in, all of it made up for; so the third waits for the spare.
    check_ends(&[21, 22, 23], CORES, "carriers = 1", "", tasks, [30, 30, 35]);
    check_ends(&[24, 25], CORES, "carriers = 1", "", tasks, [35, 30, 35]);
    check_ends(&[24, 25], CORES, "carriers = 2", "", tasks, [30, 30, 25]);
}

#[test]
fn a_green_thread_starts_another_on_its_own_queue_before_24() {
    // T-1: one carrier; the first starts a third when the second has long been submitted.
    let tasks = r#"[
        { count = 1, steps = [{ cpu = "1 ms" }, { spawn = { steps = [{ cpu = "1 ms" }] } }] },
        { count = 1, steps = [{ cpu = "1 ms" }] },
    ]"#;
    // Tasks in order of their numbers: the first, the one it starts, the second.
    check_ends(&[21, 22, 23], CORES, "carriers = 1", "", tasks, [1, 2, 3]);
    check_ends(&[24, 25], CORES, "carriers = 1", "", tasks, [1, 3, 2]);
}

#[test]
fn only_24_fires_on_several_timer_threads() {
    // T-9, T-10: 2 carriers run 2 tasks each for 1 ms, then they sleep for 10 ms; an expiry takes 1 ms.
    let tasks = r#"[{ count = 4, steps = [{ cpu = "1 ms" }, { io = "10 ms" }] }]"#;
    let costs = "vt_timer_fire = \"1 ms\"";
    check_ends(&[21, 22, 23, 25], 32, "carriers = 2", costs, tasks, [12, 13, 14, 15]);
    check_ends(&[24], 32, "carriers = 2", costs, tasks, [12, 12, 13, 13]);
    check_ends(&[24], 4, "carriers = 2", costs, tasks, [12, 13, 14, 15]);
}

#[test]
fn the_lock_of_a_timer_is_paid_by_carriers_before_25() {
    // T-9: inserts of 2 carriers at 0 wait for each other at the one lock; T-10: the timer thread inserts.
    let tasks = r#"[{ count = 2, steps = [{ cpu = "1 ms" }, { io = "10 ms" }] }, { count = 1, at = "1 ns", steps = [{ cpu = "1 ms" }] }]"#;
    let costs = "vt_timer_insert = \"3 ms\"";
    // The first carrier inserts from 1 to 4 ms, the second from 1 to 7, and the third task starts at 4 or 1 ms.
    check_ends(&[21, 22, 23], 32, "carriers = 2", costs, tasks, [11, 11, 5]);
    check_ends(&[24], 32, "carriers = 2", costs, tasks, [11, 11, 5]);
    check_ends(&[25], 32, "carriers = 2", costs, tasks, [11, 11, 2]);
}
