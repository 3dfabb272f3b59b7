//! Starvation at a lock: who takes it again before those that it has woken arrive, and which locks let it.

use super::*;

/// Two tasks that take the lock over and over.
fn greedy(lock: &str, times: u32, held: &str) -> String {
    format!(
        r#"[{{ name = "greedy", count = 2, steps = [
            {{ repeat = {{ times = {times}, steps = [{{ lock = {{ name = "m", {lock} }} }}, {{ cpu = "{held}" }}, {{ unlock = "m" }}] }} }},
        ] }}]"#
    )
}

#[track_caller]
fn check_text(spec: &str, tasks: &str, expect: &str) {
    let recording = run(4, spec, "", tasks);
    assert_eq!(recording.totals.unfinished, 0, "{spec}: {tasks}");
    assert_eq!(text(&recording.findings), expect, "{spec}: {tasks}");
}

#[test]
fn who_takes_a_lock_again_starves_who_waits_for_it() {
    let expect = "starvation 0 us, 1 tasks: 1 [] -> lock m (0) x199";
    for kind in ["kind = \"monitor\"", "kind = \"reentrant\""] {
        for spec in [POOL, JAVA_21, JAVA_25] {
            check_text(spec, &greedy(kind, 200, "1 ms"), expect);
        }
    }
    let recording = run(4, POOL, "", &greedy("kind = \"monitor\"", 200, "1 ms"));
    assert_eq!(recording.findings[0].to_ns, 200 * MS);
    // A monitor holds the thread of a coroutine, so it is Java's there too; G-1: Go hands over after 1 ms.
    for spec in [DEFAULT, IO] {
        check_text(spec, &greedy("kind = \"monitor\"", 200, "1 ms"), expect);
    }
    for spec in ALL.into_iter().filter(|&spec| ![POOL, JAVA_21, JAVA_25].contains(&spec)) {
        check_text(spec, &greedy("kind = \"reentrant\"", 200, "1 ms"), "");
    }
}

#[test]
fn both_limits_of_a_lock_hold() {
    let monitor = "kind = \"monitor\"";
    check_text(POOL, &greedy(monitor, 101, "1 ms"), "starvation 0 us, 1 tasks: 1 [] -> lock m (0) x100");
    check_text(POOL, &greedy(monitor, 100, "2 ms"), "");
    check_text(POOL, &greedy(monitor, 1000, "99 us"), "");
    check_text(POOL, &greedy("kind = \"reentrant\", fair = true", 200, "1 ms"), "");
}

#[test]
fn the_longest_of_several_is_told_and_who_has_waited_long_enough_is_counted() {
    let tasks = format!(
        r#"[{}, {{ count = 3, at = "20 ms", steps = [{{ lock = {{ name = "m", kind = "monitor" }} }}, {{ unlock = "m" }}] }},
        {{ count = 1, at = "150 ms", steps = [{{ lock = {{ name = "m", kind = "monitor" }} }}, {{ unlock = "m" }}] }}]"#,
        greedy("kind = \"monitor\"", 200, "1 ms").trim_start_matches('[').trim_end_matches(']')
    );
    let by = "-> lock m (0) x199";
    let expect = format!("starvation 0 us, 4 tasks: 1 [] {by}; 2 [] {by}; 3 [] {by}; 4 [] {by}");
    check_text(POOL, &tasks, &expect);
}
