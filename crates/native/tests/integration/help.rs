//! Help is what a newcomer reads first.

use parkbench_engine::PRESET_NAMES;

use crate::{json_of, parkbench, stdout_of};

#[test]
fn help_reads_well() {
    insta::assert_snapshot!("help", stdout_of(&["--help"]));
    insta::assert_snapshot!("help-short", stdout_of(&["-h"]));
    insta::assert_snapshot!("help-simulate", stdout_of(&["simulate", "--help"]));
    insta::assert_snapshot!("help-measure", stdout_of(&["measure", "--help"]));
    insta::assert_snapshot!("help-calibrate", stdout_of(&["calibrate", "--help"]));
    insta::assert_snapshot!("help-compare", stdout_of(&["compare", "--help"]));
    insta::assert_snapshot!("help-explain", stdout_of(&["explain", "--help"]));
    insta::assert_snapshot!("help-presets", stdout_of(&["presets", "--help"]));
    insta::assert_snapshot!("help-schema", stdout_of(&["schema", "--help"]));
}

#[test]
fn help_is_no_wider_than_a_table() {
    for args in [
        &["--help"][..],
        &["simulate", "--help"],
        &["measure", "--help"],
        &["schema", "--help"],
        &["calibrate", "--help"],
        &["compare", "--help"],
        &["explain", "pinning"],
        &["explain", "tool-chain"],
        &["explain", "--help"],
        &["presets"],
        &["doctor"],
    ] {
        for line in stdout_of(args).lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn the_doctor_looks_at_everything() {
    let checks = json_of(&["doctor", "--format", "json"]);
    let checks = checks.as_array().unwrap();
    let names: Vec<&str> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    let expect = "processors memory mappings threads counters stacks clock sleeps Java Maven runner Prometheus promtool \
         node_exporter Chromium";
    let expect: Vec<&str> = expect.split(' ').collect();
    assert_eq!(names[..expect.len()], expect);
    assert_eq!(names[expect.len()..], PRESET_NAMES);
    for check in checks {
        assert_eq!(check["good"] == true, check["advice"].is_null(), "{check}");
        assert!(!check["found"].as_str().unwrap().is_empty());
    }
    let text = stdout_of(&["doctor"]);
    assert!(names.iter().all(|name| text.contains(name)), "{text}");
}

#[test]
fn without_a_command_there_is_help_and_exit_code_2() {
    let output = parkbench().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("Usage: parkbench <COMMAND>"));
}
