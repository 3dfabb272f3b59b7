//! Bad scenarios: each error names the field, the value and what is allowed.

use parkbench_engine::{Scenario, Simulation, preset};

/// A valid scenario with one replacement; the error must hold every word.
#[track_caller]
fn check(from: &str, to: &str, words: &[&str]) {
    let valid = r#"version = 1
name = "test"
tasks = [{ count = 10, steps = [{ io = "50 ms" }] }]
runs = [{ model = "thread-pool", size = 2 }]
[machine]
cores = 2
"#;
    assert!(Scenario::from_toml(valid).is_ok());
    let text = valid.replacen(from, to, 1);
    assert_ne!(text, valid, "{from} is not in the scenario");
    let error = Scenario::from_toml(&text).unwrap_err().to_string();
    for word in words {
        assert!(error.contains(word), "no {word:?} in:\n{error}");
    }
}

#[test]
fn a_loop_of_one_thread_has_no_views() {
    check(
        r#"model = "thread-pool", size = 2"#,
        r#"model = "coroutines", dispatcher = "event-loop", parallelism = 2"#,
        &["runs[0].parallelism", "2", "event loop"],
    );
}

#[test]
fn out_of_range() {
    check("cores = 2", "cores = 0", &["machine.cores", "0", "1 to 1024"]);
    check("cores = 2", "cores = 2000", &["machine.cores", "2000", "1 to 1024"]);
    check("cores = 2", "cores = 2\nmax_threads = 0", &["machine.max_threads", "0", "1 to 4194304"]);
    check("cores = 2", "cores = 2\nmax_threads = 4194305", &["machine.max_threads", "4194305", "1 to 4194304"]);
    check("count = 10", "count = 0", &["tasks[0].count", "0", "1 to 1000000"]);
    check("count = 10", "count = 1000000000000", &["tasks[0].count", "1000000000000", "1 to 1000000"]);
    check("count = 10", "count = -1", &["tasks[0].count", "-1"]);
    check("50 ms", "-50 ms", &["tasks[0].steps[0].io", "-50 ms", "negative", "0 ns to 8760 h"]);
    check("50 ms", "9999999999 h", &["tasks[0].steps[0].io", "too long", "8760 h"]);
    check("50 ms", "50", &["tasks[0].steps[0].io", "unit", "50 ms"]);
    check("size = 2", "size = 0", &["runs[0].size", "0", "1 to 32768"]);
    check("version = 1", "version = 2", &["version", "2", "1"]);
    check("name = \"test\"", "name = \"Test!\"", &["name", "Test!", "lower-case"]);
}

#[test]
fn what_is_no_whole_number_is_told_what_is_allowed() {
    for value in ["-1", "1.5", "1e2", "\"ten\"", "true"] {
        let expect = |field: &str, allowed: &str| [field.to_owned(), format!("a whole number from {allowed}")];
        let check = |from: &str, to: &str, field: &str, allowed: &str| {
            let words = expect(field, allowed);
            check(from, &to.replacen("= _", &format!("= {value}"), 1), &words.each_ref().map(String::as_str));
        };
        check("count = 10", "count = _", "tasks[0].count", "1 to 1000000");
        check("cores = 2", "cores = _", "machine.cores", "1 to 1024");
        check("cores = 2", "cores = 2\nmax_threads = _", "max_threads", "1 to 4194304");
        check("size = 2", "size = _", "runs[0].size", "1 to 32768");
        check("size = 2", "jdk = _", "runs[0].jdk", "21 to 25");
        check("size = 2", "queue = _", "runs[0].queue", "0 to 4294967295");
        let step = r#"{ io = "50 ms" }"#;
        check(step, r#"{ acquire = { name = "a", permits = _ } }"#, "acquire.permits", "1 to 32768");
        check(step, r#"{ spawn = { count = _, steps = ["yield"] } }"#, "spawn.count", "1 to 1000000");
        check(step, r#"{ repeat = { times = _, steps = ["yield"] } }"#, "repeat.times", "1 to 60000");
        let arrival = r#"arrival = { bursts = { size = _, every = "1 ms" } }, steps"#;
        check("steps", arrival, "arrival.bursts.size", "1 to 18446744073709551615");
    }
}

#[test]
fn texts() {
    let long = format!("name = \"{}\"", "a".repeat(65));
    check("name = \"test\"", &long, &["name", "65 characters", "up to 64"]);
    check("[machine]", "title = \"a\\u001b[31m\"\n[machine]", &["title", "\\u{1b}", "one line"]);
    let unknown = format!("{}x = 1\n[machine]", "y".repeat(300_000));
    let text = format!("version = 1\nname = \"test\"\n{unknown}\ncores = 1\n");
    let message = Scenario::from_toml(&text).unwrap_err().to_string();
    assert!(message.len() < 3_000, "{} bytes", message.len());
}

#[test]
fn unknown_names() {
    check("cores = 2", "cores = 2\nsockets = 1", &["machine", "sockets", "cores"]);
    check("io = ", "iow = ", &["tasks[0].steps[0]", "iow", "io", "block"]);
    check("thread-pool", "threads", &["runs[0].model", "threads", "thread-pool", "coroutines"]);
    check("name = \"test\"", "name = \"test\"\nprofile = \"fast\"", &["profile", "fast", "linux-default"]);
    check("[machine]", "[costs]\nvt_span = \"1 us\"\n[machine]", &["costs.vt_span", "vt_spawn"]);
    check("[machine]", "[costs]\nvt_spawn = \"-1 us\"\n[machine]", &["costs.vt_spawn", "-1 us", "negative"]);
}

#[test]
fn knobs_of_other_models() {
    check("size = 2", "jdk = 21", &["runs[0].jdk", "21", "green-threads"]);
    for kind in ["cached", "thread-per-task"] {
        let with = |knob: &str| format!("pool = \"{kind}\", {knob}");
        check("size = 2", &with("size = 2"), &["runs[0].size", "2", "fixed size"]);
        check("size = 2", &with("queue = 7"), &["runs[0].queue", "7", "fixed size"]);
        check("size = 2", &with("rejection = \"abort\""), &["runs[0].rejection", "abort", "fixed size"]);
    }
    check(
        "size = 2",
        "rejection = \"caller-runs\"",
        &["runs[0].rejection", "caller-runs", "no rejection without a queue"],
    );
    check("size = 2", "pool = \"forked\"", &["runs[0].pool", "forked", "fixed", "cached", "thread-per-task"]);
    check(
        "model = \"thread-pool\", size = 2",
        "model = \"green-threads\", jdk = 17",
        &["runs[0].jdk", "17", "21 to 25"],
    );
}

#[test]
fn locks() {
    let steps = "steps = [{ io = \"50 ms\" }]";
    check(steps, "steps = [{ unlock = \"a\" }]", &["tasks[0].steps[0].unlock", "\"a\"", "holds no lock"]);
    check(steps, "steps = [{ lock = { name = \"a\" } }]", &["tasks[0].steps[0].lock.name", "\"a\"", "unlock"]);
    check(
        steps,
        "steps = [{ lock = { name = \"a\" } }, { lock = { name = \"a\" } }, { unlock = \"a\" }]",
        &["tasks[0].steps[1].lock.name", "\"a\"", "already"],
    );
    check(
        steps,
        "steps = [{ lock = { name = \"a\" } }, { lock = { name = \"b\" } }, { unlock = \"a\" }, { unlock = \"b\" }]",
        &["tasks[0].steps[2].unlock", "\"a\"", "reverse order"],
    );
    for other in ["kind = \"reentrant\"", "scope = \"task\""] {
        let class = |lock: &str| format!("{{ count = 1, steps = [{{ lock = {{ {lock} }} }}, {{ unlock = \"a\" }}] }}");
        check(
            "{ count = 10, steps = [{ io = \"50 ms\" }] }",
            &format!("{}, {}", class("name = \"a\""), class(&format!("name = \"a\", {other}"))),
            &["tasks[1].steps[0].lock", "\"a\"", "the same kind, scope and fairness", "all classes"],
        );
    }
}

#[test]
fn sums_that_do_not_fit_the_clock() {
    check(
        "count = 10, steps = [{ io = \"50 ms\" }]",
        "count = 1000000, steps = [{ io = \"8760 h\" }]",
        &["tasks", "years"],
    );
}

#[test]
fn runs_that_would_fill_the_memory_are_given_up() {
    // Two threads that take turns on one core for a year: 8 * 10^9 slices.
    let text = r#"version = 1
name = "hogs"
tasks = [{ count = 2, steps = [{ cpu = "8760 h" }] }]
runs = [{ model = "thread-pool", size = 2 }]
machine = { cores = 1 }
"#;
    let scenario = Scenario::from_toml(text).unwrap();
    let simulation = Simulation::new(&scenario, 0).unwrap().with_max_events(10_000);
    for budget in [1_000, u64::MAX] {
        let mut simulation = simulation.clone();
        let progress = loop {
            let progress = simulation.step(budget);
            if progress.finished {
                break progress;
            }
        };
        let error = progress.check(0).unwrap_err().to_string();
        for word in ["runs[0]", "more than 10000 events", "0 of 2 tasks", "up to 10000 events", "share a core"] {
            assert!(error.contains(word), "no {word:?} in:\n{error}");
        }
    }
    let small = simulation.clone().with_max_records(2_000);
    for budget in [1_000, u64::MAX] {
        let mut simulation = small.clone();
        while !simulation.step(budget).finished {}
        let error = simulation.step(budget).check(0).unwrap_err().to_string();
        assert!(error.contains("runs[0]: more than 2000 records (0 of 2 tasks"), "{error}");
        assert!(error.contains("up to 2000 records"), "{error}");
    }
    assert!(small.without_records().step(5_000).check(0).is_ok(), "what is not kept fills no memory");
    let whole = simulation.with_max_events(u64::MAX).step(9_999);
    assert!(!whole.finished && whole.check(0).is_ok());
}

#[test]
fn arrivals_and_distributions() {
    let count = "count = 10";
    let arrival = |text: &str| format!("count = 10, arrival = {text}");
    check(count, &arrival("\"sometimes\""), &["tasks[0].arrival", "sometimes", "at-once", "poisson"]);
    check(count, &arrival("{ rate = 5 }"), &["tasks[0].arrival", "rate", "every"]);
    check(count, &arrival("{ every = \"-1 ms\" }"), &["tasks[0].arrival.every", "-1 ms", "negative"]);
    check(count, &arrival("{ bursts = { size = 0, every = \"1 ms\" } }"), &["tasks[0].arrival.bursts.size", "0"]);
    check(count, &arrival("{ times = [\"1 ms\"] }"), &["tasks[0].arrival.times", "1 times", "10 times"]);
    let falling = format!("{{ times = [\"2 ms\"{}] }}", ", \"1 ms\"".repeat(9));
    check(count, &arrival(&falling), &["tasks[0].arrival.times", "\"1 ms\" after \"2 ms\"", "fall"]);

    let wait = "\"50 ms\"";
    check(wait, "{ normal = \"1 ms\" }", &["tasks[0].steps[0].io", "normal", "lognormal"]);
    check(wait, "{ lognormal = { median = \"1 ms\", sigma = 9.5 } }", &["io.lognormal.sigma", "9.5", "0 to 4"]);
    check(
        wait,
        "{ lognormal = { median = \"1 ms\", sigma = -1 } }",
        &["io.lognormal.sigma", "-1", "a number from 0 with at most three decimals"],
    );
    check(wait, "{ lognormal = { median = \"1 ms\", sigma = nan } }", &["io.lognormal.sigma", "NaN"]);
    check(wait, "{ pareto = { min = \"2 s\", max = \"1 s\", shape = 1 } }", &["io.pareto.min", "2 s", "1 s"]);
    check(wait, "{ pareto = { min = \"1 s\", max = \"2 s\", shape = 0 } }", &["io.pareto.shape", "0.1 to 10"]);
    check(wait, "{ empirical = [] }", &["io.empirical", "0 values"]);
}

#[test]
fn json_errors_name_the_field_too() {
    let json = preset("io-bound").unwrap().to_json();
    for (from, to, words) in [
        ("\"cores\":12", "\"cores\":0", ["machine.cores", "1 to 1024"]),
        ("\"cores\":12", "\"cores\":12,\"x\":1", ["machine", "`x`"]),
        ("\"io\":\"50 ms\"", "\"io\":\"-50 ms\"", ["tasks[0].steps[0].io", "0 ns to 8760 h"]),
        ("\"io\":\"50 ms\"", "\"io\":50", ["tasks[0].steps[0].io", "50 ms"]),
    ] {
        let text = json.replacen(from, to, 1);
        assert_ne!(text, json);
        let error = Scenario::from_json(&text).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
    for text in ["", "{", "[]", "null", "{\"version\":1}"] {
        assert!(Scenario::from_json(text).is_err());
    }
}

#[test]
fn a_cost_that_stands_twice() {
    let json = preset("io-bound").unwrap().to_json();
    let text = json.replacen("\"machine\"", r#""costs":{"tick":"1 us","tick":"2 us"},"machine""#, 1);
    let error = Scenario::from_json(&text).unwrap_err().to_string();
    assert!(error.contains("costs") && error.contains("\"tick\" stands twice"), "{error}");
}

#[test]
fn amounts_that_are_tables() {
    let steps = "{ io = \"50 ms\" }";
    check(steps, "{ cpu = { iterations = -1 } }", &["tasks[0].steps[0].cpu.iterations", "-1"]);
    check(steps, "{ cpu = { loops = 5 } }", &["tasks[0].steps[0].cpu", "loops", "iterations", "uniform"]);
    check(steps, "{ io = { uniform = [\"2 s\", \"1 s\"] } }", &["tasks[0].steps[0].io.uniform", "shorter"]);
    check(steps, "{ io = { uniform = [\"2 s\", \"x\"] } }", &["tasks[0].steps[0].io.uniform", "\"x\""]);
    check(steps, "{ io = { uniform = [\"1 s\", \"2 s\"], x = 1 } }", &["tasks[0].steps[0].io", "\"x\"", "uniform"]);
    check(steps, "{ io = \"1 s\", cpu = \"1 s\" }", &["tasks[0].steps[0]", "\"cpu\"", "one key"]);
    check(steps, "{ }", &["tasks[0].steps[0]", "empty", "one key"]);
    check(steps, "\"io\"", &["tasks[0].steps[0]", "\"io\"", "one key"]);
    check(steps, "{ lock = \"a\" }", &["tasks[0].steps[0].lock", "\"a\"", "{ name ="]);
    check(steps, "{ cpu = 5 }", &["tasks[0].steps[0].cpu", "5", "iterations"]);
}

#[test]
fn runs_that_are_certain_to_be_too_long_are_refused_at_once() {
    let text = |steps: &str, runs: &str| {
        format!(
            "version = 1\nname = \"long\"\ntasks = [{{ count = 1000000, steps = [{steps}] }}]\nruns = [{runs}]\n\
             machine = {{ cores = 1 }}\n"
        )
    };
    let check = |steps: &str, runs: &str, expect: &[&str]| {
        let result = Scenario::from_toml(&text(steps, runs));
        let error = result.err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(error.matches("events: fewer").count(), expect.len(), "{steps} {runs}: {error}");
        assert_eq!(error.is_empty(), expect.is_empty(), "{steps} {runs}: {error}");
        for word in expect {
            assert!(error.contains(word), "no {word:?} in:\n{error}");
        }
    };
    let sixty = "{ repeat = { times = 30, steps = [{ cpu = \"1 us\" }, { block = \"1 us\" }] } }";
    check(sixty, "{ model = \"green-threads\" }", &["runs[0]: at least 60000000 events"]);
    check(sixty, "{ model = \"coroutines\" }, { model = \"thread-pool\" }", &["runs[0]: at", "runs[1]: at"]);
    // Tasks that are refused, that take no time or that wait for each other may need fewer events.
    check(sixty, "{ model = \"thread-pool\", queue = 1 }", &[]);
    check(sixty, "{ model = \"thread-pool\", size = 32768 }", &[]);
    check(sixty, "{ model = \"green-threads\", runtime = \"go\" }", &[]);
    check("{ repeat = { times = 60, steps = [{ cpu = \"0 ns\" }] } }", "{ model = \"green-threads\" }", &[]);
    let locked = format!("{{ lock = {{ name = \"a\" }} }}, {sixty}, {{ unlock = \"a\" }}");
    check(&locked, "{ model = \"green-threads\" }", &[]);
}

#[test]
fn what_cannot_be_done_twice_does_not_stand_before_a_retry() {
    let steps = |step: &str| {
        format!(
            r#"[{{ lock = {{ name = "a", kind = "reentrant" }} }}, {step}, {{ lock = {{ name = "b", kind = "reentrant", retry = "1 ms" }} }}, {{ unlock = "b" }}, {{ unlock = "a" }}"#
        )
    };
    for (step, rest) in [
        (r#"{ spawn = { steps = [{ io = "1 ms" }] } }"#, r#", "join"]"#),
        (r#"{ acquire = { name = "c", permits = 3 } }"#, r#", { release = "c" }]"#),
    ] {
        let to = format!("steps = {}{rest}", steps(step));
        check(
            r#"steps = [{ io = "50 ms" }]"#,
            &to,
            &["tasks[0].steps[2].lock.retry", "starts again at its first lock"],
        );
    }
}
