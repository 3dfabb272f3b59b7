//! How a child process is started: with pipes, apart from the terminal's signals, and never left behind.

use std::ffi::OsStr;
use std::io;
use std::process::{Output, Stdio};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

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

/// Runs a child of [`child`] that may start others, to its end; none of them is left, however this ends.
pub(crate) async fn output(command: &mut Command) -> io::Result<Output> {
    let child = command.spawn()?;
    let _group = Group::of(&child);
    child.wait_with_output().await
}

/// The child with all that it starts; killed when this is dropped.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().map(|id| Pid::from_raw(id.cast_signed())))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // Where all have ended there is none.
            let _ = killpg(leader, Signal::SIGKILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    /// Waits until no process has this number, or one that has ended and waits to be reaped.
    fn await_end(process: &str) {
        let stat = || fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        while stat().rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z')) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_a_child_has_started_ends_with_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        // A child that ends and leaves another, and one that is dropped while it waits for another.
        for (end, limit) in [("", Duration::from_hours(1)), ("wait", Duration::ZERO)] {
            fs::write(path, "").unwrap();
            let script = format!("sleep 1000 >/dev/null 2>&1 </dev/null & echo $! >{path}; {end}");
            runtime.block_on(async {
                let mut command = child("sh");
                command.args(["-c", &script]);
                let running = output(&mut command);
                tokio::pin!(running);
                let named = async {
                    while fs::read_to_string(path).unwrap().is_empty() {
                        tokio::task::yield_now().await;
                    }
                };
                // The child has named what it has started when it is dropped.
                let mut ended = None;
                tokio::select! {
                    output = &mut running => ended = Some(output),
                    () = named => {}
                }
                if ended.is_none() && !limit.is_zero() {
                    ended = Some(running.await);
                }
                assert_eq!(ended.is_some(), !limit.is_zero());
            });
            await_end(fs::read_to_string(path).unwrap().trim());
        }
    }
}
