//! Runs the binary as a person would.

// The helpers of a test may unwrap as the test itself does; clippy's own exception covers test functions only.
#![allow(clippy::unwrap_used)]

mod bad_input;
mod calibrate;
mod docs;
mod hard;
mod help;
mod measure;
mod monitor;
mod presets;
mod schema;
mod simulate;
mod trace;

use assert_cmd::Command;

/// The binary, with nothing in its environment that changes what it prints.
fn parkbench() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parkbench"));
    command.env_remove("COLUMNS").env_remove("CLICOLOR_FORCE");
    command
}

/// What the binary prints for these arguments, which must be good.
#[track_caller]
fn stdout_of(args: &[&str]) -> String {
    let output = parkbench().args(args).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {} {stderr}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// The JSON that the binary prints for these arguments.
#[track_caller]
fn json_of(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout_of(args)).unwrap()
}
