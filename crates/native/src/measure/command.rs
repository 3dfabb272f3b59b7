//! How a child process is started: with pipes, apart from the terminal's signals, and never left behind.

use std::ffi::OsStr;
use std::process::Stdio;

use tokio::process::Command;

/// A child whose input, output and errors are pipes; dropping it kills it.
pub(crate) fn child(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C is for the parent, which keeps what is finished and ends the child itself.
        .process_group(0)
        .kill_on_drop(true);
    command
}
