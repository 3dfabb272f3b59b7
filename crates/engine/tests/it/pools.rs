//! Kinds of thread pools, the limit of native threads, bounded queues: every expectation is computed by hand from P-1
//! to P-7 under no costs but those named.

use parkbench_engine::TaskState::{Blocked, Done, Failed, Queued, Running};
use parkbench_engine::{Activity, FindingKind, Reason, Recording, Scenario, Simulation, TaskTag, ThreadTag};

use crate::support::{MS, first};

const CACHED: &str = r#"pool = "cached""#;
const PER_TASK: &str = r#"pool = "thread-per-task""#;
const MIB: u64 = 1 << 20;

#[track_caller]
fn run(machine: &str, pool: &str, costs: &str, tasks: &str) -> Recording {
    let text = format!(
        "version = 1\nname = \"test\"\nprofile = \"zero\"\ntasks = {tasks}\n\
         runs = [{{ model = \"thread-pool\", {pool} }}]\nmachine = {{ {machine} }}\ncosts = {{ {costs} }}"
    );
    let scenario = Scenario::from_toml(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Simulation::new(&scenario, 0).unwrap().run()
}

/// The tasks that failed, and why.
fn failures(recording: &Recording) -> Vec<(u32, Reason)> {
    let records = (0..recording.tasks.len())
        .map(|i| (recording.tasks.subject[i], TaskTag::unpack(recording.tasks.tag[i]).unwrap()));
    let mut failed: Vec<_> =
        records.filter(|(_, tag)| tag.state == Failed).map(|(task, tag)| (task, tag.reason)).collect();
    failed.sort_unstable();
    failed
}

/// [ns] When the thread did this for the last time.
fn last(recording: &Recording, thread: u32, activity: Activity) -> Option<u64> {
    let records = &recording.threads;
    (0..records.len())
        .rfind(|&i| records.subject[i] == thread && ThreadTag::unpack(records.tag[i]).unwrap().activity == activity)
        .map(|i| records.time[i])
}

/// The thread on which the task ran first.
fn runner(recording: &Recording, task: u32) -> u32 {
    let tags = (0..recording.tasks.len()).filter(|&i| recording.tasks.subject[i] == task);
    let mut tags = tags.map(|i| TaskTag::unpack(recording.tasks.tag[i]).unwrap());
    tags.find(|tag| tag.state == Running).unwrap().worker
}

/// Compares the makespan and the tasks that failed.
#[track_caller]
fn check(machine: &str, pool: &str, costs: &str, tasks: &str, makespan_ns: u64, failed: &[(u32, Reason)]) {
    let recording = run(machine, pool, costs, tasks);
    assert_eq!(recording.totals.unfinished, 0, "{pool}: {tasks}");
    assert_eq!(failures(&recording), failed, "{pool}: {tasks}");
    assert_eq!(recording.totals.makespan_ns, makespan_ns, "{pool}: {tasks}");
}

fn all(tasks: impl IntoIterator<Item = u32>, reason: Reason) -> Vec<(u32, Reason)> {
    tasks.into_iter().map(|task| (task, reason)).collect()
}

const TEN: &str = r#"[{ count = 10, steps = [{ io = "10 ms" }] }]"#;

#[test]
fn the_submitter_pays_for_each_thread() {
    // P-5: created at 1, 2, …, 10 ms; the last waits from 10 to 20 ms.
    let create = r#"thread_create = "1 ms", pool_dispatch = "3 ms""#;
    check("cores = 20", PER_TASK, create, TEN, 20 * MS, &[]);
    // What a pool runs it wraps up first.
    check("cores = 20", CACHED, create, TEN, 23 * MS, &[]);
    check("cores = 20", "size = 10", create, TEN, 23 * MS, &[]);
    // Who spawns is who creates: main until 1 ms, the parent until 3 ms; the children end at 7 and 8 ms.
    let fan_out = r#"[{ count = 1, steps = [{ spawn = { count = 2, steps = [{ io = "5 ms" }] } }, "join"] }]"#;
    check("cores = 20", PER_TASK, r#"thread_create = "1 ms""#, fan_out, 8 * MS, &[]);
}

#[test]
fn a_thread_ends_with_its_task_and_gives_its_stack_back() {
    // One each ms that lives for 10.5 ms: 11 at a time, and main.
    let tasks = r#"[{ count = 100, steps = [{ io = "10500 us" }] }]"#;
    let costs = r#"thread_create = "1 ms", stack_reserved = "1 MiB", thread_resident = "64 KiB""#;
    let recording = run("cores = 2", PER_TASK, costs, tasks);
    assert_eq!(recording.totals.makespan_ns, 110_500_000);
    assert_eq!(recording.totals.reserved_bytes, 12 * MIB);
    assert_eq!(recording.totals.resident_bytes, 12 * MIB / 16);
    // The 12th takes the place of the first.
    assert_eq!(recording.thread_info.len(), 12);
    assert_eq!((runner(&recording, 0), runner(&recording, 10), runner(&recording, 11)), (1, 11, 1));
    for thread in 1..12 {
        assert!(last(&recording, thread, Activity::Absent).is_some(), "thread {thread} ends");
    }
    // A thread of a cached pool does not end, and is used again.
    let recording = run("cores = 2", CACHED, &format!("{costs}, pool_submit = \"1 ms\""), tasks);
    // Who submits looks for an idle thread first and then takes its time: at 0, 1, …, 11 ms there is none.
    assert_eq!((recording.thread_info.len(), recording.totals.reserved_bytes), (13, 13 * MIB));
    assert_eq!(last(&recording, 1, Activity::Absent), None);
}

#[test]
fn a_cached_pool_reuses_who_became_idle_last_and_lets_go_after_60_s() {
    let times = r#"["0 ms", "5 ms", "20 ms", "59 s", "200 s"]"#;
    let tasks = format!(
        "[{{ count = 5, arrival = {{ times = {times} }}, steps = [{{ io = \"10 ms\" }}, {{ cpu = \"1 ns\" }}] }}]"
    );
    let recording = run("cores = 4", CACHED, "", &tasks);
    // Thread 1 is idle from 10 ms, thread 2 from 15 ms; after 60 s both have ended, and the last task has a new one.
    assert_eq!([0, 1, 2, 3, 4].map(|task| runner(&recording, task)), [1, 2, 2, 2, 1]);
    assert_eq!(last(&recording, 1, Activity::Absent), Some(60_010 * MS + 1));
    assert_eq!(last(&recording, 2, Activity::Absent), Some(119_010 * MS + 1));
    assert_eq!(first(&recording, 4, Done), Some(200_010 * MS + 1));
}

#[test]
fn the_os_refuses_threads_beyond_its_limit() {
    let native = |tasks: std::ops::Range<u32>| all(tasks, Reason::NativeThreads);
    // P-6: main and four more.
    check("cores = 8, max_threads = 5", PER_TASK, "", TEN, 10 * MS, &native(4..10));
    check("cores = 8, max_threads = 5", CACHED, "", TEN, 10 * MS, &native(4..10));
    // A fixed pool fails at growth, and tries again with each submission; tasks in its queue need no thread.
    check("cores = 8, max_threads = 5", "size = 6", "", TEN, 10 * MS, &native(4..10));
    check("cores = 8, max_threads = 5", "size = 4", "", TEN, 30 * MS, &[]);
    check("cores = 8, max_threads = 1", "size = 4", "", TEN, 0, &native(0..10));
    // Threads that end make room: two live from 0 to 10 and 4 to 14 ms, so the one at 8 ms has no place, and so on.
    let every = r#"[{ count = 10, arrival = { every = "4 ms" }, steps = [{ io = "10 ms" }] }]"#;
    check("cores = 8, max_threads = 3", PER_TASK, "", every, 46 * MS, &all([2, 5, 8], Reason::NativeThreads));
    check("cores = 8, max_threads = 4", PER_TASK, "", every, 46 * MS, &[]);
    // Memory holds five threads besides the base.
    let resident = r#"base_resident = "10 MiB", thread_resident = "1 MiB""#;
    check(r#"cores = 8, memory = "15 MiB""#, PER_TASK, resident, TEN, 10 * MS, &native(4..10));
    check(r#"cores = 8, memory = "15 MiB", max_threads = 3"#, PER_TASK, resident, TEN, 10 * MS, &native(2..10));
    // By default there are 32,764 besides main, half of 65,530 mappings.
    let many = r#"[{ count = 32770, steps = [{ io = "10 ms" }] }]"#;
    check("cores = 8", PER_TASK, "", many, 10 * MS, &native(32_764..32_770));
}

#[test]
fn what_a_failed_task_would_have_spawned_fails_too() {
    let fan_out =
        r#"[{ count = 2, steps = [{ spawn = { count = 1, steps = [{ io = "5 ms" }] } }, "join", { io = "1 ms" }] }]"#;
    let expect = [(1, Reason::NativeThreads), (2, Reason::NativeThreads), (3, Reason::ParentFailed)];
    // One thread besides main: the first parent's child has none, so its join is over at once.
    check("cores = 8, max_threads = 2", PER_TASK, "", fan_out, MS, &expect);
}

#[test]
fn a_full_queue_refuses() {
    // Two run, three wait, the others do not fit: two rounds and one task more.
    check("cores = 8", "size = 2, queue = 3", "", TEN, 30 * MS, &all(5..10, Reason::Rejected));
    check("cores = 8", r#"size = 2, queue = 3, rejection = "abort""#, "", TEN, 30 * MS, &all(5..10, Reason::Rejected));
    check("cores = 8", "size = 2, queue = 8", "", TEN, 50 * MS, &[]);
    // Without a queue a task needs an idle worker: 0 to 10, not at 6, 12 to 22, not at 18, …, 48 to 58, not at 54 ms.
    check("cores = 8", "size = 2, queue = 0", "", TEN, 10 * MS, &all(2..10, Reason::Rejected));
    let every = r#"[{ count = 10, arrival = { every = "6 ms" }, steps = [{ io = "10 ms" }] }]"#;
    check("cores = 8", "size = 1, queue = 0", "", every, 58 * MS, &all([1, 3, 5, 7, 9], Reason::Rejected));
    // A refusal costs the submitter a call: 2 ms for the thread, then 1 ms each, the last at 11 ms.
    let costs = r#"thread_create = "2 ms", pool_submit = "1 ms""#;
    let long = TEN.replace("10 ms", "20 ms");
    let recording = run("cores = 8", "size = 1, queue = 0", costs, &long);
    assert_eq!(first(&recording, 9, Failed), Some(11 * MS));
    assert_eq!(recording.totals.makespan_ns, 22 * MS);
}

#[test]
fn the_caller_runs_what_is_refused_and_submits_nothing_meanwhile() {
    let caller = r#"size = 1, queue = 1, rejection = "caller-runs""#;
    let tasks = r#"[{ count = 2, steps = [{ io = "10 ms" }] }, { count = 2, steps = [{ io = "15 ms" }] }]"#;
    let recording = run("cores = 8", caller, "", tasks);
    // Worker: the first until 10, the second until 20 ms. Main: the third until 15 ms; then it submits the fourth, which
    // waits for the worker.
    assert_eq!(runner(&recording, 2), 0, "main runs it");
    assert_eq!([0, 1, 2, 3].map(|task| first(&recording, task, Done).unwrap() / MS), [10, 20, 15, 35]);
    assert_eq!(first(&recording, 3, Queued), Some(15 * MS));
    assert_eq!((failures(&recording), recording.totals.makespan_ns), (vec![], 35 * MS));

    // The last is run by main, while the worker is idle from 10 ms on.
    let tasks = r#"[{ count = 1, steps = [{ io = "10 ms" }] }, { count = 1, steps = [{ cpu = "40 ms" }] }]"#;
    check("cores = 8", r#"size = 1, queue = 0, rejection = "caller-runs""#, "", tasks, 40 * MS, &[]);
}

#[test]
fn a_task_whose_child_is_refused_runs_it_itself() {
    let fan_out = r#"[{ count = 1, steps = [
        { spawn = { count = 2, steps = [{ spawn = { steps = [{ io = "2 ms" }] } }, { io = "5 ms" }] } }, "join", { io = "1 ms" },
    ] }]"#;
    // All five on one thread: each child first runs its own, 2 + 5 and 2 + 5, and 1 ms at the end.
    let pool = r#"size = 1, queue = 0, rejection = "caller-runs""#;
    let recording = run("cores = 8", pool, "", fan_out);
    assert_eq!(recording.totals.makespan_ns, 15 * MS);
    assert_eq!([1, 2, 3, 4].map(|task| runner(&recording, task)), [1; 4]);
    assert_eq!(first(&recording, 0, Blocked), Some(0), "it is in the middle of its call");
    assert_eq!([1, 2, 3, 4].map(|task| first(&recording, task, Done).unwrap() / MS), [7, 14, 2, 9]);
    // Refused with an error, they are gone at once, and so are theirs.
    let expect = [(1, Reason::Rejected), (2, Reason::Rejected), (3, Reason::ParentFailed), (4, Reason::ParentFailed)];
    check("cores = 8", "size = 1, queue = 0", "", fan_out, MS, &expect);
}

#[test]
fn a_thread_enters_again_what_it_holds() {
    let pool = r#"size = 1, queue = 0, rejection = "caller-runs""#;
    let nested = |lock: &str| {
        format!(
            r#"[{{ count = 1, steps = [
                {{ lock = {lock} }}, {{ spawn = {{ steps = [
                    {{ lock = {lock} }}, {{ io = "2 ms" }}, {{ spawn = {{ steps = [{{ lock = {lock} }}, {{ io = "3 ms" }}, {{ unlock = "a" }}] }} }}, {{ unlock = "a" }},
                ] }} }}, {{ io = "5 ms" }}, {{ unlock = "a" }},
            ] }}, {{ count = 1, at = "1 ms", steps = [{{ lock = {lock} }}, {{ unlock = "a" }}] }}]"#
        )
    };
    for lock in [r#"{ name = "a", kind = "monitor" }"#, r#"{ name = "a", kind = "reentrant", fair = true }"#] {
        let recording = run("cores = 8", pool, "", &nested(lock));
        // 2 + 3 + 5 ms on one thread; main, which runs the last, waits for it to the end.
        assert_eq!(
            [0, 1, 2, 3].map(|task| first(&recording, task, Done)),
            [10, 5, 5, 10].map(|ms| Some(ms * MS)),
            "{lock}"
        );
    }
    // A permit belongs to nobody, and the thread waits for itself.
    let permits = r#"[{ count = 1, steps = [{ acquire = { name = "a", permits = 1 } }, { spawn = { steps = [
        { acquire = { name = "a", permits = 1 } }, { release = "a" },
    ] } }, { release = "a" }] }]"#;
    let recording = run("cores = 8", pool, "", permits);
    assert_eq!(recording.findings[0].kind, FindingKind::Deadlock);
    assert_eq!((recording.findings[0].circle, recording.totals.unfinished), (2, 2));
}

#[test]
fn context_switches_are_counted_to_the_last() {
    // P-4, three tasks that wait once: each thread gives its core up to wait and to end, and main to wait for the last.
    let tasks = r#"[{ count = 3, steps = [{ io = "10 ms" }, { cpu = "1 ms" }] }]"#;
    for (pool, expect) in [
        (PER_TASK, 7),
        (CACHED, 7),
        ("size = 3", 7),
        // Waiting three times, and being idle once.
        ("size = 1", 5),
        ("size = 1, queue = 0", 3),
        // The second is run by main; at 11 ms the worker, which began first, is idle before main submits the third to it:
        // two waits and two times idle, and main waits with its task and for the last.
        (r#"size = 1, queue = 0, rejection = "caller-runs""#, 6),
    ] {
        let totals = run("cores = 8", pool, "", tasks).totals;
        assert_eq!((totals.voluntary_switches, totals.involuntary_switches), (expect, 0), "{pool}");
    }
}

#[test]
fn slices_and_preemption_to_the_nanosecond() {
    // P-3, two hogs of 10 ms on one core. Noticed at ticks of 4 ms: A to 4, B to 8, a tie, B to 12, A to 16, a tie, and
    // its last 2 ms to 18; B the rest. In slices of 3 ms without ticks: A to 3, B to 9, A to 15, B to 19, A the rest.
    let hogs = r#"[{ count = 2, steps = [{ cpu = "10 ms" }] }]"#;
    for (slice, ends, switches) in [
        (r#"base_slice = "3 ms", tick = "4 ms""#, [18, 20], 2),
        (r#"base_slice = "3 ms""#, [20, 19], 3),
        // Without slices each keeps its core.
        ("", [10, 20], 0),
    ] {
        let recording = run("cores = 1", "size = 2", slice, hogs);
        assert_eq!([0, 1].map(|task| first(&recording, task, Done).unwrap() / MS), ends, "{slice}");
        assert_eq!(recording.totals.involuntary_switches, switches, "{slice}");
    }

    // A thread that wakes preempts who has the latest deadline. Slices of 10 ms, two cores, D sleeps, A, B and C compute
    // for 24 ms. At 10 ms C takes A's core, and B goes on, for A has had as much. At 15 ms D wakes with C's 5 ms, before
    // B's 10: it takes B's core until 17 ms, then A. At 27 ms A has had 20 and B 15 ms: B goes on. C ends at 34, B at 36.
    let tasks = r#"[
        { count = 1, steps = [{ io = "15 ms" }, { cpu = "2 ms" }] },
        { count = 3, steps = [{ cpu = "24 ms" }] },
    ]"#;
    let recording = run("cores = 2", "size = 4", r#"base_slice = "10 ms""#, tasks);
    assert_eq!([0, 1, 2, 3].map(|task| first(&recording, task, Done).unwrap() / MS), [17, 38, 36, 34]);
    assert_eq!(recording.totals.involuntary_switches, 3);
}

#[test]
fn a_new_thread_owes_and_is_owed_nothing_of_the_one_whose_number_it_has() {
    // Slices of 1 ms on one core. The hog's thread gets the core two slices after 40 ms, sleeps until 57 and has had 3 ms
    // when the late task comes. That has thread 1, whose last task had 50 ms: if it owed them, it would come last.
    let tasks = r#"[
        { count = 1, steps = [{ cpu = "50 ms" }] },
        { count = 1, at = "40 ms", steps = [{ io = "15 ms" }, { cpu = "15 ms" }] },
        { count = 1, at = "60 ms", steps = [{ cpu = "5 ms" }] },
    ]"#;
    let recording = run("cores = 1", PER_TASK, r#"base_slice = "1 ms""#, tasks);
    assert_eq!(runner(&recording, 2), 1);
    let ends = [1, 2].map(|task| first(&recording, task, Done).unwrap() / MS);
    // Turns of 1 ms each from 60 or 61 ms on, then the hog alone.
    assert!(ends[0] == 77 && (70..=72).contains(&ends[1]), "{ends:?}");
}
