//! Livelocks with the exact tasks, locks and periods, and retries that succeed at last.

use parkbench_engine::{FindingKind, Scenario, Simulation};

use super::*;

/// Two tasks that take two locks in opposite orders, politely: who cannot have the second gives the first back. The
/// first has a from 0 to 4 ms, the second b from 2 to 6 ms, and so on every 5 ms, if both wait 1 ms.
fn polite(retry: [&str; 2]) -> String {
    let class = |index: usize, first: &str, second: &str| {
        format!(
            "{{ count = 1, at = \"{} ms\", steps = [{{ lock = {{ name = \"{first}\", kind = \"reentrant\" }} }}, {{ io = \"4 ms\" }}, \
             {{ lock = {{ name = \"{second}\", kind = \"reentrant\", retry = \"{}\" }} }}, \
             {{ unlock = \"{second}\" }}, {{ unlock = \"{first}\" }}] }}",
            2 * index,
            retry[index]
        )
    };
    format!("[{}, {}]", class(0, "a", "b"), class(1, "b", "a"))
}

#[test]
fn two_who_give_way_to_each_other() {
    let expect = "livelock 4000 us, 2 tasks, period 5000 us: 0 [lock a] -> lock b (1) x1; 1 [lock b] -> lock a (0) x1";
    for spec in ALL {
        let recording = check(8, spec, &polite(["1 ms"; 2]), expect);
        assert_eq!(recording.totals.unfinished, 2, "{spec}");
        // The trace shows it often enough to be seen, and ends there.
        let end = recording.totals.makespan_ns;
        assert!((100 * MS..12_000 * MS).contains(&end), "{spec}: {end}");
        assert_eq!(recording.findings[0].to_ns, end, "{spec}");
    }
}

#[test]
fn who_tries_a_lock_that_its_parent_keeps_until_it_ends() {
    let tasks = r#"[{ count = 1, steps = [{ lock = { name = "x", kind = "reentrant" } },
        { spawn = { name = "helper", steps = [{ lock = { name = "y", kind = "reentrant" } },
            { lock = { name = "x", kind = "reentrant", retry = "1 ms" } }, { unlock = "x" }, { unlock = "y" }] } },
        "join", { unlock = "x" }] }]"#
        .replace(r#"{ name = "x", kind = "reentrant" } }"#, r#"{ name = "x", kind = "reentrant", retry = "1 ms" } }"#);
    for spec in ALL {
        let recording = check(8, spec, &tasks, "livelock 0 us, 1 tasks, period 1000 us: 1 [lock y] -> lock x (0) x1");
        assert_eq!(recording.findings[0].waits[0].task.class, "helper");
    }
}

#[test]
fn the_deadlock_behind_a_livelock_comes_first() {
    let tasks = r#"[
        { count = 1, steps = [{ lock = { name = "a", kind = "reentrant" } }, { io = "1 ms" },
            { lock = { name = "b", kind = "reentrant" } }, { unlock = "b" }, { unlock = "a" }] },
        { count = 1, steps = [{ lock = { name = "b", kind = "reentrant" } }, { io = "1 ms" },
            { lock = { name = "a", kind = "reentrant" } }, { unlock = "a" }, { unlock = "b" }] },
        { count = 1, at = "2 ms", steps = [{ lock = { name = "b", kind = "reentrant", retry = "5 ms" } }, { unlock = "b" }] },
        { count = 1, at = "1500 us", steps = [{ lock = { name = "a", kind = "reentrant" } }, { unlock = "a" }] },
    ]"#;
    for spec in ALL {
        let worker = if spec == POOL { "*" } else { "" };
        let expect = format!(
            "deadlock 1000 us, 3 tasks, circle 2: 0{worker} [lock a] -> lock b (1); 1{worker} [lock b] -> lock a (0)\n\
             livelock 2000 us, 1 tasks, period 5000 us: 2 [] -> lock b (1) x1"
        );
        check(8, spec, tasks, &expect);
    }
}

#[test]
fn retries_that_succeed_at_last() {
    for tasks in [
        // Different patience.
        polite(["1 ms", "4 ms"]),
        // Ten thousand retries while the owner sleeps.
        r#"[{ count = 1, steps = [{ lock = { name = "a", kind = "reentrant" } }, { io = "10 s" }, { unlock = "a" }] },
            { count = 3, at = "1 ms", steps = [{ lock = { name = "a", kind = "reentrant", retry = "1 ms" } }, { unlock = "a" }] }]"#
            .to_owned(),
        // Two thousand rounds that drift apart by a microsecond each.
        polite(["1 ms", "1001 us"]),
        // Somebody who comes later holds one of the locks just long enough to put them out of step.
        polite(["1 ms"; 2]).replace(
            "}] }]",
            r#"}] }, { count = 1, at = "60001 ms", steps = [{ lock = { name = "a", kind = "reentrant" } }, { io = "2500 us" }, { unlock = "a" }] }]"#,
        ),
    ] {
        for spec in ALL {
            check(8, spec, &tasks, "");
        }
    }
}

#[test]
fn an_owner_that_comes_back_while_others_try_is_waited_for() {
    // The owner's sleep is over just when the retries are looked at, and the one carrier is taken by who tries.
    for us in (500..40_000).step_by(97) {
        let tasks = format!(
            "[{{ count = 5, steps = [{{ lock = {{ name = \"t\", kind = \"reentrant\", retry = \"560 us\" }} }}, \
             {{ io = \"{us} us\" }}, {{ unlock = \"t\" }}] }}]"
        );
        for spec in [
            r#"{ model = "green-threads", jdk = 21, carriers = 1 }"#,
            r#"{ model = "coroutines", dispatcher = "event-loop" }"#,
        ] {
            let recording = run(2, spec, "vt_spawn = \"1 us\"\nvt_resume = \"900 ns\"\nloop_resume = \"1 us\"", &tasks);
            assert_eq!(text(&recording.findings), "", "{spec}: {us}");
        }
    }
}

#[test]
fn tasks_in_the_queue_of_a_pool_never_get_a_thread() {
    let tasks = polite(["1 ms"; 2]).replace("}] }]", r#"}] }, { count = 5, at = "3 ms", steps = [{ io = "1 ms" }] }]"#);
    let expect = "livelock 4000 us, 2 tasks, period 5000 us: 0 [lock a] -> lock b (1) x1; 1 [lock b] -> lock a (0) x1";
    let recording = check(8, r#"{ model = "thread-pool", size = 2 }"#, &tasks, expect);
    assert_eq!(recording.totals.unfinished, 7);
    assert_eq!(check(8, JAVA_25, &tasks, expect).totals.unfinished, 2);
}

/// T-2 and T-8: the first has the lock while the others try; who takes it then goes into another queue by a yield, and
/// the only carrier stays with that of the timer, which 9 that try again every 70 us and take 10 us each keep full. On a
/// JDK 25 with one carrier, 100 that spin for 50 us at each try do the same for as long as one looks.
#[test]
fn who_yields_with_the_lock_is_starved_by_those_who_try_it() {
    let tasks = r#"[{ count = 1, steps = [{ lock = { name = "t", kind = "reentrant" } }, { io = "1 ms" }, { unlock = "t" }] },
        { count = 10, steps = [{ lock = { name = "t", kind = "reentrant", retry = "70 us" } }, "yield", { unlock = "t" }] }]"#;
    for jdk in [21, 24, 25] {
        let with = |carriers: u32| {
            let spec = format!("{{ model = \"green-threads\", jdk = {jdk}, carriers = {carriers} }}");
            run(2, &spec, "vt_resume = \"10 us\"", tasks)
        };
        let alone = with(1);
        let [finding] = &alone.findings[..] else { panic!("{jdk}: {:?}", alone.findings) };
        assert_eq!((finding.kind, finding.tasks, finding.period_ns), (FindingKind::Livelock, 9, Some(90_000)), "{jdk}");
        assert!(finding.waits.iter().all(|wait| wait.held_by.len() == 1), "{jdk}: {finding:?}");
        assert_eq!(alone.totals.unfinished, 10, "{jdk}");
        assert_eq!(with(2).findings, [], "{jdk}: the other carrier finds the other queue");
    }
}

/// Each child waits as long as it has drawn, so that nothing repeats; but whoever has the lock waits for its child, which
/// tries it for ever, and the others wait behind them.
#[test]
fn who_tries_at_random_times_what_its_parent_keeps() {
    let tasks = r#"[
        { count = 2, steps = [{ lock = { name = "x", kind = "reentrant", retry = { exponential = "1 ms" } } },
            { spawn = { name = "helper", steps = [{ lock = { name = "x", kind = "reentrant", retry = { exponential = "1 ms" } } },
                { unlock = "x" }] } },
            "join", { unlock = "x" }] },
        { count = 1, steps = [{ io = "50 ms" }] }]"#;
    // Not tokio, whose clock counts whole milliseconds, after which all repeats.
    for spec in ALL.into_iter().filter(|spec| !spec.contains("tokio")) {
        let recording = run(8, spec, "", tasks);
        let found = text(&recording.findings);
        let (_, what) = found.split_once(" us, ").unwrap_or_default();
        assert_eq!(what, "2 tasks: 1 [] -> lock x (0); 2 [] -> lock x (0)", "{spec}: {found}");
        assert_eq!(recording.findings[0].kind, FindingKind::Livelock);
        assert_eq!(recording.totals.unfinished, 4, "{spec}: with the child that was never spawned");
    }
}

#[test]
fn with_costs_a_livelock_is_found_in_every_model_and_budget() {
    // Not tokio, whose clock counts whole milliseconds: the costs put the two out of step.
    for spec in ALL.into_iter().filter(|spec| !spec.contains("tokio")) {
        let text = format!(
            "version = 1\nname = \"test\"\nprofile = \"linux-default\"\ntasks = {}\nruns = [{spec}]\n[machine]\ncores = 2\n",
            polite(["1 ms"; 2])
        );
        let scenario = Scenario::from_toml(&text).unwrap();
        let whole = Simulation::new(&scenario, 0).unwrap().run();
        let kinds: Vec<FindingKind> = whole.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::Livelock], "{spec} {:?}", whole.totals);
        let mut split = Simulation::new(&scenario, 0).unwrap();
        let end = loop {
            let progress = split.step(7);
            if progress.finished {
                break progress;
            }
        };
        assert!(!end.given_up, "{spec}");
        assert_eq!(split.into_recording(), whole, "{spec}");
    }
}
