//! Starvation at the workers: who is starved, for how long and by whom, and what looks like it and is none.

use parkbench_engine::{FindingKind, NO_WORKER, PRESET_NAMES, Simulation, TaskState, TaskTag, preset};

use super::*;

/// The third core is free for the thread that submits.
const CARRIERS: &str = r#"{ model = "green-threads", carriers = 2 }"#;
const SECOND: u64 = 1_000 * MS;

#[track_caller]
fn starvation(cores: u32, spec: &str, tasks: &str) -> Option<Finding> {
    let recording = run(cores, spec, "", tasks);
    assert_eq!(recording.totals.unfinished, 0, "{spec}: {tasks}");
    let mut findings = recording.findings;
    assert!(findings.len() <= 1 && findings.iter().all(|finding| finding.kind == FindingKind::Starvation), "{spec}");
    findings.pop()
}

/// Runs the tasks on three cores; `(from, to, tasks)` in ms.
#[track_caller]
fn check_times(spec: &str, tasks: &str, expect: Option<(u64, u64, u32)>) {
    let got = starvation(3, spec, tasks).map(|found| (found.from_ns / MS, found.to_ns / MS, found.tasks));
    assert_eq!(got, expect, "{spec}: {tasks}");
}

/// Three computations and a short request every millisecond from 10 ms on.
fn hogs(cpu: &str, request: &str) -> String {
    format!(
        "[{{ name = \"hog\", count = 3, steps = [{{ cpu = \"{cpu}\" }}] }},
        {{ name = \"request\", count = 1500, at = \"10 ms\", arrival = {{ every = \"1 ms\" }}, steps = [{{ cpu = \"{request}\" }}] }}]"
    )
}

#[test]
fn hogs_on_every_carrier_starve_who_is_ready() {
    // Requests that came at 10 to 900 ms, and the third hog, which finds no carrier either.
    check_times(CARRIERS, &hogs("1 s", "100 us"), Some((0, 1_000, 892)));
    let found = starvation(3, CARRIERS, &hogs("1 s", "100 us")).unwrap();
    assert!(
        text(std::slice::from_ref(&found)).starts_with(
            "starvation 0 us, 892 tasks: 2 [] -> worker (0 1); 3 [] -> worker (0 1); 4 [] -> worker (0 1)"
        )
    );
    let names: Vec<&str> = found.waits.iter().map(|wait| wait.task.class.as_str()).collect();
    assert_eq!(names, ["hog", "request", "request", "request", "request", "request", "request", "request"]);
    // T-4, K-1, R-1: nothing takes a worker away from a task that computes; G-1: Go does.
    for spec in [
        r#"{ model = "green-threads", jdk = 21, carriers = 2 }"#,
        r#"{ model = "coroutines", parallelism = 2 }"#,
        r#"{ model = "coroutines", runtime = "tokio", workers = 2 }"#,
        r#"{ model = "thread-pool", size = 2 }"#,
    ] {
        check_times(spec, &hogs("1 s", "100 us"), Some((0, 1_000, 892)));
    }
    check_times(GO, &hogs("1 s", "100 us"), None);
    // A thread for each hog, and the OS shares the cores out.
    check_times(POOL, &hogs("1 s", "100 us"), None);
}

#[test]
fn both_limits_hold() {
    check_times(CARRIERS, &hogs("99999 us", "100 us"), None);
    check_times(CARRIERS, &hogs("100 ms", "100 us"), Some((0, 100, 1)));
    // A hundred medians are 200 ms, rounded down by an eighth at most.
    check_times(CARRIERS, &hogs("170 ms", "2 ms"), None);
    check_times(CARRIERS, &hogs("200 ms", "2 ms"), Some((0, 200, 1)));
}

#[test]
fn a_wait_for_ones_turn_is_none() {
    let one = r#"{ model = "thread-pool", size = 1 }"#;
    let two = r#"{ model = "thread-pool", size = 2 }"#;
    // A slow queue in order: the last of them waits for 10 s.
    check_times(two, r#"[{ count = 200, steps = [{ io = "150 ms" }] }]"#, None);
    check_times(one, r#"[{ count = 20, steps = [{ cpu = "500 ms" }] }]"#, None);
    // A fair lock that is held for long.
    let fair = r#"[{ count = 40, steps = [{ cpu = "1 us" }, { lock = { name = "x", kind = "reentrant", fair = true } },
        { io = "150 ms" }, { unlock = "x" }] }]"#;
    for spec in ALL.into_iter().filter(|&spec| spec != POOL) {
        check_times(spec, fair, None);
    }
    // All workers are taken for long after many short tasks, and nobody is ready.
    let alone =
        r#"[{ count = 300, steps = [{ cpu = "100 us" }] }, { count = 3, at = "50 ms", steps = [{ cpu = "1 s" }] }]"#;
    for spec in ALL.into_iter().filter(|&spec| spec != LOOP && spec != TOKIO_1) {
        check_times(spec, alone, None);
    }
    // With one worker, the second and the third of them are.
    check_times(LOOP, alone, Some((50, 1_050, 2)));
}

#[test]
fn of_the_presets_only_hogs_on_carriers_starve_tasks() {
    for name in PRESET_NAMES {
        let scenario = preset(name).unwrap();
        for index in 0..scenario.runs.len() {
            let recording = Simulation::new(&scenario, index).unwrap().run();
            let Some(finding) = recording.findings.first() else {
                assert_ne!((name, index), ("cpu-hog", 1));
                continue;
            };
            assert_eq!((name, index, recording.findings.len()), ("cpu-hog", 1, 1));
            // The first eight hogs compute for a second; the others, and who came until 0.9 s, wait for all of it.
            let (from, to) = (finding.from_ns, finding.to_ns);
            assert!(from < MS && (SECOND..SECOND + MS).contains(&to), "{from} {to}");
            assert_eq!(finding.tasks, ready_throughout(&recording, to - 100 * MS, to));
            assert!((4_300..4_600).contains(&finding.tasks), "{}", finding.tasks);
            for (wait, id) in finding.waits.iter().zip([8, 9, 10]) {
                assert_eq!(wait.task.id, id);
                let mut by: Vec<u32> = wait.held_by.iter().map(|task| task.id).collect();
                by.sort_unstable();
                assert_eq!(by, [0, 1, 2, 3, 4, 5, 6, 7]);
                assert!(wait.held_by.iter().all(|task| task.class == "hog"));
            }
            let bare = Simulation::new(&scenario, index).unwrap().without_records().run();
            assert_eq!((bare.findings, bare.totals.digest), (Vec::new(), recording.totals.digest));
        }
    }
}

/// Tasks whose last record before `to` says queued, and is not after `from`.
fn ready_throughout(recording: &Recording, from: u64, to: u64) -> u32 {
    let records = &recording.tasks;
    let mut last = vec![None; recording.totals.tasks as usize];
    for i in (0..records.len()).filter(|&i| records.time[i] < to) {
        last[records.subject[i] as usize] = Some((records.time[i], TaskTag::unpack(records.tag[i]).unwrap()));
    }
    let ready =
        |(time, tag): &(u64, TaskTag)| *time <= from && tag.state == TaskState::Queued && tag.worker == NO_WORKER;
    last.iter().flatten().filter(|last| ready(last)).count() as u32
}

#[cfg(not(target_arch = "wasm32"))]
mod random {
    use parkbench_engine::Scenario;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// However long equal tasks wait for the threads of a pool, its queue moves.
        #[test]
        fn equal_tasks_in_a_queue_in_order_are_never_starved(
            size in 1_u32..9,
            cores in 1_u32..5,
            count in 1_u32..200,
            cpu in 0_u64..300,
            io in 0_u64..300,
            every in 1_u64..100,
            costs in any::<bool>(),
        ) {
            let text = format!(
                "version = 1\nname = \"test\"\nprofile = \"{}\"\nmachine = {{ cores = {cores} }}\n\
                 runs = [{{ model = \"thread-pool\", size = {size} }}]\n\
                 tasks = [{{ count = {count}, arrival = {{ every = \"{every} ms\" }}, \
                 steps = [{{ cpu = \"{cpu} ms\" }}, {{ io = \"{io} ms\" }}] }}]\n",
                if costs { "linux-default" } else { "zero" }
            );
            let recording = Simulation::new(&Scenario::from_toml(&text).unwrap(), 0).unwrap().run();
            prop_assert_eq!(recording.findings, Vec::new(), "{}", text);
        }
    }
}
