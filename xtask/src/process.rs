//! Running other programs: nothing waits forever, and a failure says which command failed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// How often a running child is looked at.
const POLL: Duration = Duration::from_millis(50);

/// Runs the command with this terminal's output; an error unless it succeeds within `limit`.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<()> {
    let line = line_of(command);
    let child = command.spawn().with_context(|| format!("cannot start `{line}`"))?;
    finish(child, &line, limit)
}

/// As [`run`], with the output in a file, whose end is part of the error.
pub(crate) fn run_logged(command: &mut Command, log: &Path, limit: Duration) -> Result<()> {
    if let Some(dir) = log.parent() {
        fs::create_dir_all(dir)?;
    }
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    run(command, limit).with_context(|| {
        let text = fs::read_to_string(log).unwrap_or_default();
        let tail: Vec<&str> = text.lines().rev().take(15).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        format!("{}\n(whole log: {})", tail.join("\n"), log.display())
    })
}

/// The standard output of a quick command, or `None` when it is missing or fails.
pub(crate) fn output_of(program: impl AsRef<OsStr>, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn finish(mut child: Child, line: &str, limit: Duration) -> Result<()> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            if status.success() {
                return Ok(());
            }
            bail!("`{line}` failed ({status})");
        }
        if limit <= start.elapsed() {
            end_tree(&mut child);
            bail!("`{line}` was stopped: it took longer than {} s", limit.as_secs());
        }
        thread::sleep(POLL);
    }
}

/// Ends a child together with what it started, as far as /proc tells.
fn end_tree(child: &mut Child) {
    for pid in descendants(child.id()) {
        let _ = Command::new("sh").arg("-c").arg(format!("kill -9 {pid}")).stderr(Stdio::null()).status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn descendants(root: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            for child in children.split_whitespace().filter_map(|pid| pid.parse().ok()) {
                found.push(child);
                open.push(child);
            }
        }
    }
    found
}

fn line_of(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_names_the_command() {
        let err = run(&mut Command::new("false"), Duration::from_secs(10)).expect_err("false fails");
        assert_eq!(err.to_string(), "`false` failed (exit status: 1)");
    }

    #[test]
    fn missing_program_is_named() {
        let err = run(&mut Command::new("no-such-program"), Duration::from_secs(10)).expect_err("it is missing");
        assert_eq!(err.to_string(), "cannot start `no-such-program`");
    }

    #[test]
    fn limit_ends_the_command_and_its_children() {
        let start = Instant::now();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & wait"]);
        let err = run(&mut command, Duration::from_millis(200)).expect_err("it takes too long");
        assert!(err.to_string().contains("was stopped"), "{err}");
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
