//! Help is what a newcomer reads first.

use parkbench_engine::{PRESET_NAMES, preset};

use crate::{parkbench, stdout_of};

#[test]
fn help_reads_well() {
    insta::assert_snapshot!("help", stdout_of(&["--help"]));
    insta::assert_snapshot!("help-short", stdout_of(&["-h"]));
    insta::assert_snapshot!("help-simulate", stdout_of(&["simulate", "--help"]));
    insta::assert_snapshot!("help-measure", stdout_of(&["measure", "--help"]));
}

#[test]
fn presets_are_listed_with_a_sentence_each() {
    let text = stdout_of(&["presets"]);
    let words: Vec<&str> = text.split_whitespace().collect();
    for name in PRESET_NAMES {
        let mut entry = vec![name];
        let scenario = preset(name).unwrap();
        entry.extend(scenario.description.split_whitespace());
        assert!(words.windows(entry.len()).any(|window| window == entry), "{name}: {text}");
    }
}

#[test]
fn help_is_no_wider_than_a_table() {
    for args in [&["--help"][..], &["simulate", "--help"], &["measure", "--help"], &["presets"]] {
        for line in stdout_of(args).lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn without_a_command_there_is_help_and_exit_code_2() {
    let output = parkbench().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("Usage: parkbench <COMMAND>"));
}
