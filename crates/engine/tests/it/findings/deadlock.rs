//! One scenario for each cause of a deadlock, in every model where it can happen, and what looks like one and is none.

use super::*;

/// Two tasks that take two locks, the second in the opposite order, with a wait in between; and one that takes none.
fn inversion(kind: &str) -> String {
    let class = |first: &str, second: &str| {
        format!(
            "{{ count = 1, steps = [{{ lock = {{ name = \"{first}\", kind = \"{kind}\" }} }}, {{ io = \"10 ms\" }}, \
             {{ lock = {{ name = \"{second}\", kind = \"{kind}\" }} }}, \
             {{ unlock = \"{second}\" }}, {{ unlock = \"{first}\" }}] }}"
        )
    };
    format!("[{}, {}, {{ count = 1, steps = [{{ io = \"1 ms\" }}] }}]", class("a", "b"), class("b", "a"))
}

/// A circle of locks a and b, each task with its worker or without.
fn crossed(worker: &str) -> String {
    format!("deadlock 10000 us, 2 tasks, circle 2: 0{worker} [lock a] -> lock b (1); 1{worker} [lock b] -> lock a (0)")
}

#[test]
fn locks_taken_in_opposite_orders() {
    for (spec, kind, worker) in [
        (POOL, "reentrant", "*"),
        (JAVA_21, "reentrant", ""),
        (JAVA_25, "reentrant", ""),
        (DEFAULT, "reentrant", ""),
        (IO, "reentrant", ""),
        (LOOP, "reentrant", ""),
        (POOL, "monitor", "*"),
        // T-12, T-13: pinned.
        (JAVA_21, "monitor", "*"),
        (JAVA_25, "monitor", ""),
        // Nothing suspends inside a critical section.
        (DEFAULT, "monitor", "*"),
        (IO, "monitor", "*"),
        // T-15: class initialisers that need each other.
        (JAVA_21, "class-initializer", "*"),
        (JAVA_25, "class-initializer", "*"),
    ] {
        let recording = check(8, spec, &inversion(kind), &crossed(worker));
        assert_eq!((recording.totals.unfinished, recording.totals.makespan_ns), (2, 10 * MS), "{spec}");
        assert_eq!(recording.findings[0].to_ns, 10 * MS, "{spec}");
        let names: Vec<&str> = recording.findings[0].waits.iter().map(|wait| wait.task.class.as_str()).collect();
        assert_eq!(names, ["task", "task"]);
    }
    // The loop blocks in the first critical section until that is over, so no other task comes between.
    check(8, LOOP, &inversion("monitor"), "");
    // A pool of one thread runs one after the other.
    check(8, r#"{ model = "thread-pool", size = 1 }"#, &inversion("monitor"), "");
    // With two threads the third task is stuck behind the circle.
    let behind = crossed("*").replace("2 tasks", "3 tasks");
    check(8, r#"{ model = "thread-pool", size = 2 }"#, &inversion("monitor"), &behind);
}

#[test]
fn three_locks_in_a_ring_and_a_task_that_only_waits_behind() {
    let class = |first: &str, second: &str| {
        format!(
            "{{ count = 1, steps = [{{ lock = {{ name = \"{first}\", kind = \"reentrant\" }} }}, {{ io = \"2 ms\" }}, \
             {{ lock = {{ name = \"{second}\", kind = \"reentrant\" }} }}, \
             {{ unlock = \"{second}\" }}, {{ unlock = \"{first}\" }}] }}"
        )
    };
    let behind =
        r#"{ count = 1, at = "5 ms", steps = [{ lock = { name = "a", kind = "reentrant" } }, { unlock = "a" }] }"#;
    let tasks = format!("[{}, {}, {}, {behind}]", class("a", "b"), class("b", "c"), class("c", "a"));
    for spec in ALL {
        let worker = if spec == POOL { "*" } else { "" };
        let expect = format!(
            "deadlock 2000 us, 4 tasks, circle 3: 0{worker} [lock a] -> lock b (1); \
             1{worker} [lock b] -> lock c (2); 2{worker} [lock c] -> lock a (0)"
        );
        check(8, spec, &tasks, &expect);
    }
}

#[test]
fn a_pool_whose_threads_all_wait_for_tasks_in_its_queue() {
    let fan_out = r#"{ cpu = "1 ms" }, { spawn = { count = 2, steps = [{ io = "10 ms" }] } }, "join""#;
    let tasks = format!("[{{ count = 2, steps = [{fan_out}] }}]");
    let spec = r#"{ model = "thread-pool", size = 2 }"#;
    check(2, spec, &tasks, "deadlock 1000 us, 6 tasks, circle 2: 0* [] -> children (2 3); 2 [] -> worker (0 1)");
    check(2, r#"{ model = "thread-pool", size = 3 }"#, &tasks, "");
    // A coroutine that joins, and a green thread that does, gives its worker up.
    for spec in [JAVA_21, JAVA_25, DEFAULT, IO, LOOP] {
        check(2, spec, &tasks, "");
    }
    // Inside a monitor it cannot, on one carrier of JDK 21 and on the loop.
    let pinned = r#"[{ count = 1, steps = [{ lock = { name = "m", scope = "task" } },
        { spawn = { steps = [{ io = "1 ms" }] } }, "join", { unlock = "m" }] }]"#;
    let expect = "deadlock 0 us, 2 tasks, circle 2: 0* [] -> children (1); 1 [] -> worker (0)";
    check(1, JAVA_21, pinned, expect);
    check(1, LOOP, pinned, expect);
    check(1, JAVA_25, pinned, "");
    check(2, JAVA_21, pinned, "");
    // On every JDK with a native frame.
    let frame = pinned.replace("scope = \"task\"", "scope = \"task\", kind = \"native-frame\"");
    check(1, JAVA_25, &frame, expect);
}

#[test]
fn a_permit_or_lock_that_is_given_back_only_after_the_children_that_need_it() {
    let tasks = |take: &str, give: &str| {
        format!(
            "[{{ count = 1, steps = [{{ {take} }}, {{ spawn = {{ name = \"call\", count = 2, \
             steps = [{{ io = \"3 ms\" }}, {{ {take} }}, {{ {give} }}] }} }}, \"join\", {{ {give} }}] }}]"
        )
    };
    let semaphore = tasks(r#"acquire = { name = "c", permits = 1 }"#, r#"release = "c""#);
    let lock = tasks(r#"lock = { name = "c", kind = "reentrant" }"#, r#"unlock = "c""#);
    for spec in ALL {
        let worker = if spec == POOL { "*" } else { "" };
        for (tasks, word) in [(&semaphore, "permit"), (&lock, "lock")] {
            let expect = format!(
                "deadlock 3000 us, 3 tasks, circle 2: 0{worker} [{word} c] -> children (1 2); \
                 1{worker} [] -> {word} c (0)"
            );
            let recording = check(8, spec, tasks, &expect);
            assert_eq!(recording.findings[0].waits[1].task.class, "call");
        }
        // With a second permit they take turns.
        check(8, spec, &semaphore.replace("permits = 1", "permits = 2"), "");
    }
}

#[test]
fn two_permits_each_and_three_in_all() {
    // Both take one, wait, and take another: the third permit lets one of them finish.
    let steps = r#"[{ acquire = { name = "c", permits = P } }, { io = "1 ms" },
        { acquire = { name = "c", permits = P } }, { release = "c" }, { release = "c" }]"#;
    let tasks = |permits: &str| format!("[{{ count = 2, steps = {} }}]", steps.replace('P', permits));
    for spec in ALL {
        check(8, spec, &tasks("3"), "");
        let worker = if spec == POOL { "*" } else { "" };
        let expect = format!(
            "deadlock 1000 us, 2 tasks, circle 2: 0{worker} [permit c] -> permit c (1 0); 1{worker} [permit c] -> permit c (0 1)"
        );
        check(8, spec, &tasks("2"), &expect);
        // Alone with one permit it waits for itself.
        let alone = tasks("1").replace("count = 2", "count = 1");
        check(8, spec, &alone, &format!("deadlock 1000 us, 1 tasks, circle 1: 0{worker} [permit c] -> permit c (0)"));
    }
}

#[test]
fn carriers_pinned_by_waiters_of_a_lock_whose_next_owner_has_no_carrier() {
    // T-12: the waiters hold a monitor of their own, so they pin; who is next for r has unmounted and waits for a carrier.
    let tasks = r#"[
        { name = "owner", count = 1, steps = [{ lock = { name = "r", kind = "reentrant" } }, { io = "10 ms" }, { unlock = "r" }] },
        { name = "waiter", count = 2, at = "1 ms", steps = [
            { lock = { name = "m", scope = "task" } }, { lock = { name = "r", kind = "reentrant" } },
            { unlock = "r" }, { unlock = "m" }] },
    ]"#;
    let expect = "deadlock 10000 us, 3 tasks, circle 2: 0 [lock r] -> worker (1 2); 1* [] -> lock r (0)";
    check(2, JAVA_21, tasks, expect);
    check(3, JAVA_21, tasks, "");
    check(2, JAVA_25, tasks, "");
    // T-15: native frames pin on every JDK.
    let frames = tasks.replace("scope = \"task\"", "scope = \"task\", kind = \"native-frame\"");
    check(2, JAVA_25, &frames, expect);
    // Coroutines inside a monitor hold their worker as well.
    check(2, DEFAULT, tasks, expect);
    check(3, DEFAULT, tasks, "");
    // The pool's owner keeps its thread.
    check(2, r#"{ model = "thread-pool", size = 3 }"#, tasks, "");

    // The lock is free, and fair: who has been woken to take it waits for a carrier, and nobody may overtake it.
    let turn = r#"[
        { name = "owner", count = 1, steps = [
            { lock = { name = "r", kind = "reentrant", fair = true } }, { cpu = "10 ms" }, { unlock = "r" },
            { lock = { name = "m", scope = "task" } }, { lock = { name = "r", kind = "reentrant", fair = true } },
            { unlock = "r" }, { unlock = "m" }] },
        { name = "next", count = 1, at = "1 ms", steps = [
            { lock = { name = "r", kind = "reentrant", fair = true } }, { unlock = "r" }] },
        { name = "waiter", count = 1, at = "2 ms", steps = [
            { lock = { name = "m", scope = "task" } }, { lock = { name = "r", kind = "reentrant", fair = true } },
            { unlock = "r" }, { unlock = "m" }] },
    ]"#;
    let expect = "deadlock 10000 us, 3 tasks, circle 2: 0* [] -> lock r (1); 1 [turn r] -> worker (0 2)";
    check(2, JAVA_21, turn, expect);
    check(2, JAVA_25, turn, "");
    // A Mutex is handed over.
    check(2, DEFAULT, turn, &expect.replace("turn r", "lock r"));
}

#[test]
fn a_loop_that_blocks_in_a_monitor_that_a_suspended_coroutine_holds() {
    let tasks = r#"[
        { count = 1, steps = [{ lock = { name = "r", kind = "reentrant" } }, { io = "10 ms" }, { unlock = "r" }] },
        { count = 1, at = "1 ms", steps = [
            { lock = { name = "m", scope = "task" } }, { lock = { name = "r", kind = "reentrant" } },
            { unlock = "r" }, { unlock = "m" }] },
    ]"#;
    let expect = "deadlock 1000 us, 2 tasks, circle 2: 0 [lock r] -> worker (1); 1* [] -> lock r (0)";
    check(2, LOOP, tasks, expect);
}

#[test]
fn ends_without_a_finding() {
    for tasks in [
        // One order everywhere.
        r#"[{ count = 20, steps = [{ lock = { name = "a" } }, { io = "1 ms" }, { lock = { name = "b" } }, { io = "1 ms" },
            { unlock = "b" }, { unlock = "a" }] }]"#,
        // Fair.
        r#"[{ count = 20, steps = [{ lock = { name = "a", kind = "reentrant", fair = true } }, { io = "5 ms" }, { unlock = "a" }] }]"#,
        // Slow.
        r#"[{ count = 3, steps = [{ lock = { name = "a" } }, { io = "3 h" }, { unlock = "a" }] }]"#,
        // Parents and children that take turns.
        r#"[{ count = 2, steps = [{ spawn = { count = 3, steps = [{ lock = { name = "a" } }, { io = "1 ms" }, { unlock = "a" }] } }, "join"] }]"#,
    ] {
        for spec in ALL {
            check(8, spec, tasks, "");
        }
    }
}
