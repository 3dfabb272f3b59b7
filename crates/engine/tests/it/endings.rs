//! What ends cost: of threads that have one task (P-5), and of `may`'s green threads whose stacks are not kept (R-6).

use crate::support::{MS, ends, run};

/// [ms] Ends of the last tasks of a run.
#[track_caller]
fn check(cores: u32, model: &str, costs: &str, tasks: &str, count: u32, last_ms: &[u64]) {
    let ends = ends(&run(cores, model, costs, tasks), count);
    let last: Vec<u64> = ends[ends.len() - last_ms.len()..].iter().map(|ns| ns / MS).collect();
    assert_eq!(last, last_ms, "{model} {costs} {tasks}");
}

const PER_TASK: &str = r#"{ model = "thread-pool", pool = "thread-per-task" }"#;

#[test]
fn the_end_of_a_thread_takes_a_core_and_longer_while_there_are_more_threads_than_cores() {
    let costs = "thread_end = \"2 ms\"\nthread_end_cold = \"3 ms\"";
    let tasks = |count: u32| format!(r#"[{{ count = {count}, steps = [{{ cpu = "10 ms" }}] }}]"#);
    check(1, PER_TASK, "", &tasks(2), 2, &[10, 20]);
    check(1, PER_TASK, "thread_end = \"2 ms\"", &tasks(2), 2, &[10, 22]);
    check(1, r#"{ model = "thread-pool", size = 2 }"#, "thread_end = \"2 ms\"", &tasks(2), 2, &[10, 20]);
    check(1, PER_TASK, costs, &tasks(3), 3, &[10, 25, 40]);
    check(2, PER_TASK, costs, &tasks(3), 3, &[10, 10, 25]);
    // The second ends with as many threads as cores, so from 25 to 27 ms.
    let later =
        r#"[{ count = 2, steps = [{ cpu = "10 ms" }] }, { count = 1, at = "26 ms", steps = [{ cpu = "1 ms" }] }]"#;
    check(1, PER_TASK, costs, later, 3, &[10, 25, 28]);
}

#[test]
fn may_keeps_a_thousand_stacks() {
    let model = r#"{ model = "green-threads", carriers = 1 }"#;
    let tasks = |count: u32| format!(r#"[{{ count = {count}, steps = [{{ io = "10 ms" }}] }}]"#);
    check(2, model, "vt_stack = \"1 ms\"", &tasks(1_000), 1_000, &[10, 10]);
    check(2, model, "vt_stack = \"1 ms\"", &tasks(1_002), 1_002, &[10, 11, 12]);
    // The thousand and first has no place to put its stack, and its carrier goes on after unmapping it.
    let costs = "vt_stack = \"1 ms\"\nvt_unmap = \"3 ms\"";
    check(2, model, costs, &tasks(1_002), 1_002, &[10, 11, 14]);
}
