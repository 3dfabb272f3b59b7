//! Every bad input gives one error that names the field, the value and what is allowed, and exit code 2.

use parkbench_engine::PRESET_NAMES;

use crate::parkbench;

/// Runs with `stdin` and expects exit code 2, no output, and one error that holds every text.
#[track_caller]
fn check(args: &[&str], stdin: &[u8], expect: &[&str]) {
    let output = parkbench().args(args).write_stdin(stdin).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{args:?}");
    assert_eq!(stderr.matches("error:").count(), 1, "{stderr}");
    for text in expect {
        assert!(stderr.contains(text), "{args:?}: {text:?} is not in {stderr}");
    }
}

#[test]
fn arguments() {
    let presets = &PRESET_NAMES.join(", ")[..];
    for command in ["simulate", "measure"] {
        check(&[command, "io-bond"], b"", &["preset: \"io-bond\"", presets, "./io-bond"]);
        check(&[command, "./no-such-file.toml"], b"", &["./no-such-file.toml", "cannot be read", presets]);
        check(&[command, "./src"], b"", &["./src", "directory", ".toml or .json"]);
        check(&[command, "io-bound", "--tasks", "0"], b"", &["--tasks", "'0'", "1 to 1000000"]);
        check(&[command, "io-bound", "--tasks", "1000000000000"], b"", &["--tasks", "1000000000000", "1 to 1000000"]);
        check(&[command, "io-bound", "--tasks=-1"], b"", &["--tasks", "'-1'", "1 to 1000000"]);
        check(&[command, "io-bound", "--tasks", "-1"], b"", &["--tasks", "'-1'", "1 to 1000000"]);
        check(&[command, "io-bound", "--seed", "-1"], b"", &["--seed", "'-1'", "0 to 18446744073709551615"]);
        check(&[command, "io-bound", "--seed", "x"], b"", &["--seed", "'x'", "0 to 18446744073709551615"]);
        check(&[command, "io-bound", "--model", "fibers"], b"", &["--model", "'fibers'", "green-threads"]);
        check(&[command, "pinning", "--model", "coroutines"], b"", &["--model: coroutines", "green-threads"]);
        check(&[command, "io-bound", "--format", "xml"], b"", &["--format", "'xml'", "table, json, csv"]);
    }
    check(&["measure", "io-bound", "--reps", "0"], b"", &["--reps", "'0'", "1 to 1000"]);
    check(&["measure", "io-bound", "--warm-up", "-1"], b"", &["--warm-up", "'-1'", "0 to 1000"]);
    check(&["measure", "io-bound", "--pin", "3-1"], b"", &["--pin", "'3-1'", "such as 0,2 or 0-3"]);
    check(&["measure", "io-bound", "--pin", "0,1023"], b"", &["--pin", "1023", "cores that this process may use: 0"]);
    check(
        &["measure", "io-bound", "--runtime", "java"],
        b"",
        &["--runtime", "'java'", "java-pool, java-thread-per-task"],
    );
    check(&["measure", "io-bound", "--java", "./src"], b"", &["--java: ./src (no Java)", "a Java 21 or newer"]);
    for address in ["9464", "localhost:9464", "127.0.0.1", "127.0.0.1:65536"] {
        check(
            &["measure", "io-bound", "--metrics-listen", address],
            b"",
            &["--metrics-listen", &format!("'{address}'"), "an IP address and a port from 0 to 65535"],
        );
    }
    for interval in ["5", "-1 s", "25 h"] {
        check(
            &["measure", "io-bound", "--watch", "--interval", interval],
            b"",
            &["--interval", &format!("'{interval}'"), "a time from 0 s to 24 h"],
        );
    }
    check(&["measure", "io-bound", "--interval", "5 s"], b"", &["--watch"]);
    check(&["measure", "io-bound", "--watch", "--out", "x"], b"", &["--watch", "--out"]);
    for (path, why) in [
        ("./src", "is a directory"),
        ("./no-such-directory/a.prom", "is in no directory"),
        ("/dev/full", "is no regular file"),
        ("..", "names no file"),
    ] {
        check(
            &["measure", "io-bound", "--metrics-file", path],
            b"",
            &["--metrics-file", path, why, "allowed: a file in a directory that exists"],
        );
    }
    check(&["simulate", "io-bound", "--step-budget", "0"], b"", &["--step-budget", "'0'"]);
}

#[test]
fn profiles() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let head = "version = 1\nname = \"x\"\ntitle = \"\"\ndescription = \"\"\n";
    let no_toml = file("a.toml", "what = ");
    let unknown = file("b.toml", &format!("{head}colour = 1\n[costs]\n"));
    let cost = file("c.toml", &format!("{head}[costs]\nvt_span = {{ value = \"1 us\", source = \"\" }}\n"));
    let runtime = file("d.toml", &format!("{head}costs = {{}}\n[runtimes.tokyo]\n"));
    let version = file("e.toml", &format!("{}costs = {{}}\n", head.replace("= 1", "= 7")));
    for command in ["simulate", "compare", "explain"] {
        check(&[command, "io-bound", "--profile", "fast"], b"", &["\"fast\"", "linux-default", "./fast"]);
        check(&[command, "io-bound", "--profile", "./none.toml"], b"", &["none.toml", "cannot be read", "seed-1"]);
        check(&[command, "io-bound", "--profile", &no_toml], b"", &["a.toml", "profile"]);
        check(&[command, "io-bound", "--profile", &unknown], b"", &["colour", "version", "runtimes"]);
        check(&[command, "io-bound", "--profile", &cost], b"", &["costs.vt_span", "\"vt_spawn\" is near"]);
        check(&[command, "io-bound", "--profile", &runtime], b"", &["runtimes.tokyo", "\"tokio\" is near"]);
        check(&[command, "io-bound", "--profile", &version], b"", &["version: 7", "1"]);
    }
    let costs = r#"[{"model":"thread-pool","costs":{"pool_submitt":"1 us"}}]"#;
    check(&["simulate", "-"], &scenario(MACHINE, TASKS, costs), &["runs[0].costs.pool_submitt", "pool_submit"]);
    check(&["calibrate", "--out", "./no-such-folder/x.toml"], b"", &["--out", "no-such-folder", "can be written"]);
    check(&["calibrate", "--runtime", "fibers"], b"", &["--runtime", "'fibers'", "java-pool"]);
    check(&["calibrate", "--java", "./src"], b"", &["--java: ./src (no Java)", "a Java 21 or newer"]);
}

/// A scenario with these parts in place of the good ones.
fn scenario(machine: &str, tasks: &str, runs: &str) -> Vec<u8> {
    format!(r#"{{"version":1,"name":"x","machine":{machine},"tasks":{tasks},"runs":{runs}}}"#).into_bytes()
}

const MACHINE: &str = r#"{"cores":4}"#;
const TASKS: &str = r#"[{"count":10,"steps":[{"io":"1 ms"}]}]"#;
const RUNS: &str = r#"[{"model":"thread-pool"}]"#;

#[test]
fn scenarios() {
    let tasks =
        |count: &str, steps: &str| scenario(MACHINE, &format!(r#"[{{"count":{count},"steps":[{steps}]}}]"#), RUNS);
    let lock = r#"{"lock":{"name":"a"}}"#;
    for (text, expect) in [
        (scenario(r#"{"cores":0}"#, TASKS, RUNS), &["machine.cores", "0", "1 to 1024"][..]),
        (scenario(r#"{"cores":4,"speed":2}"#, TASKS, RUNS), &["machine.speed", "unknown field `speed`", "cores"]),
        (tasks("0", r#"{"io":"1 ms"}"#), &["tasks[0].count", "0", "1 to 1000000"]),
        (tasks("1000000000000", r#"{"io":"1 ms"}"#), &["tasks[0].count", "1000000000000", "1 to 1000000"]),
        (tasks("-1", r#"{"io":"1 ms"}"#), &["tasks[0].count", "-1"]),
        (tasks("1", r#"{"io":"-5 ms"}"#), &["tasks[0].steps[0].io", "\"-5 ms\" is not allowed", "from 0 ns to 8760 h"]),
        (
            tasks("1", r#"{"io":"99999999 h"}"#),
            &["tasks[0].steps[0].io", "\"99999999 h\" is not allowed", "from 0 ns to 8760 h"],
        ),
        (tasks("1", r#"{"unlock":"a"}"#), &["tasks[0].steps[0].unlock", "\"a\"", "allowed"]),
        (tasks("1", lock), &["tasks[0].steps[0].lock.name", "\"a\"", "unlock"]),
        (tasks("1", ""), &["tasks[0].steps", "0 steps", "1 to"]),
        (scenario(MACHINE, TASKS, r#"[{"model":"thread-pool","size":0}]"#), &["runs[0].size", "0", "1 to 32768"]),
        (scenario(MACHINE, TASKS, r#"[{"model":"fibers"}]"#), &["runs[0].model", "fibers", "thread-pool"]),
        (b"{".to_vec(), &["standard input", "EOF"]),
        (b"".to_vec(), &["standard input", "version"]),
        (b"{\"version\":1,\xff}".to_vec(), &["standard input", "byte 13 is 0xff", "UTF-8"]),
    ] {
        check(&["simulate", "-"], &text, expect);
    }
}

#[test]
fn files() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content, expect) in [
        ("latin.toml", b"name = \"caf\xe9\"".to_vec(), &["latin.toml", "byte 11 is 0xe9", "UTF-8"][..]),
        ("large.json", vec![b' '; (16 << 20) + 1], &["large.json", "16777216 bytes"]),
        ("no.toml", b"version = ".to_vec(), &["no.toml", "scenario"]),
        ("toml-inside.json", b"version = 1".to_vec(), &["toml-inside.json", "scenario"]),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        check(&["simulate", path.to_str().unwrap()], b"", expect);
    }
}

#[test]
fn a_measurement_that_could_hang_is_refused() {
    let class = |a: &str, b: &str| {
        format!(
            r#"{{"count":1,"steps":[{{"lock":{{"name":"{a}"}}}},{{"lock":{{"name":"{b}"}}}},{{"unlock":"{b}"}},{{"unlock":"{a}"}}]}}"#
        )
    };
    let tasks = format!("[{},{}]", class("a", "b"), class("b", "a"));
    check(&["measure", "-"], &scenario(MACHINE, &tasks, RUNS), &["tasks", "\"a\"", "\"b\"", "same order"]);
}
