//! The operating system's part: sharing cores, slices, wake-ups (P-3).

use parkbench_engine::TaskState::{Done, Running};

use crate::support::{MS, first, run};

const LINUX: &str = "base_slice = \"2.8 ms\"\ntick = \"4 ms\"";

#[test]
fn threads_share_cores_fairly() {
    // Three threads of 40 ms on two cores: 60 ms if shared perfectly; a slice and a tick of unfairness at most.
    let recording =
        run(2, r#"{ model = "thread-pool", size = 3 }"#, LINUX, r#"[{ count = 3, steps = [{ cpu = "40 ms" }] }]"#);
    assert!((60 * MS..=68 * MS).contains(&recording.totals.makespan_ns), "{}", recording.totals.makespan_ns);
    for task in 0..3 {
        assert!(first(&recording, task, Done).unwrap() >= 50 * MS, "nobody runs ahead");
    }
}

#[test]
fn a_late_thread_gets_a_fair_share_and_no_more() {
    let tasks = r#"[
        { name = "hog", count = 4, steps = [{ cpu = "400 ms" }] },
        { name = "late", count = 1, at = "200 ms", steps = [{ cpu = "100 ms" }] },
    ]"#;
    let recording = run(4, r#"{ model = "thread-pool", size = 5 }"#, LINUX, tasks);
    let start = first(&recording, 4, Running).unwrap();
    assert!((200 * MS..=208 * MS).contains(&start), "within a slice and a tick: {start}");
    // Four fifths of a core from 200 ms on: 325 ms; it must not make up for the time before it existed.
    let end = first(&recording, 4, Done).unwrap();
    assert!((318 * MS..=332 * MS).contains(&end), "{end}");
}

#[test]
fn nobody_is_preempted_while_cores_suffice() {
    let recording =
        run(4, r#"{ model = "thread-pool", size = 4 }"#, LINUX, r#"[{ count = 40, steps = [{ cpu = "5 ms" }] }]"#);
    assert_eq!(recording.totals.involuntary_switches, 0);
    assert_eq!(recording.totals.makespan_ns, 50 * MS);
}

#[test]
fn switches_take_the_cores_time() {
    let costs = format!("{LINUX}\ncontext_switch = \"1 ms\"");
    let recording =
        run(1, r#"{ model = "thread-pool", size = 1 }"#, &costs, r#"[{ count = 2, steps = [{ io = "10 ms" }] }]"#);
    // To the submitter, to the worker, and back to it after each wait; then to the submitter, which sees the end.
    assert_eq!(recording.totals.makespan_ns, 25 * MS);
}
