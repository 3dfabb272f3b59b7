//! `cargo xtask fidelity`: how far the calibrated simulation is from this machine, printed, never asserted.
//!
//! The measuring is done by the binary; here it is built, calibrates, and compares scenarios that no cost was fitted to.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::paths::Paths;
use crate::process;

/// For the build, the calibration and the comparison, each.
const LIMIT: Duration = Duration::from_mins(30);
/// Scenarios that no cost was fitted to, and the seeds' workloads at the cores of this machine.
const HELD_OUT: &str = "crates/native/tests/data/held-out";
const SEEDS: &str = "crates/native/tests/data/seeds-here";

/// What to compare.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// As for `parkbench compare --runtime`; `None` for every runtime.
    pub(crate) runtime: Option<String>,
    /// The seeds' workloads instead of the held-out scenarios.
    pub(crate) seeds: bool,
    /// As for `parkbench compare --reps`.
    pub(crate) reps: Option<String>,
    /// A profile that has been calibrated before.
    pub(crate) profile: Option<PathBuf>,
}

/// Every runtime by its name, so that each is compared on every scenario, whichever runs that has.
const RUNTIMES: &str = "pool,thread-per-task,java-pool,java-thread-per-task,may,java-virtual,tokio,tokio-current,\
                        kotlin-default,kotlin-io,kotlin-event-loop";

pub(crate) fn fidelity(paths: &Paths, options: &Options) -> Result<()> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--locked", "--release", "-p", "parkbench-native"]).current_dir(&paths.root);
    process::run(&mut cargo, LIMIT)?;
    let binary = paths.target().join("release/parkbench");
    let profile = if let Some(profile) = &options.profile {
        profile.clone()
    } else {
        let folder = paths.target().join("fidelity");
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let profile = folder.join("profile.toml");
        let mut calibrate = Command::new(&binary);
        calibrate.arg("calibrate").arg("--out").arg(&profile);
        calibrate.args(["--runtime", options.runtime.as_deref().unwrap_or(RUNTIMES)]);
        process::run(&mut calibrate, LIMIT)?;
        profile
    };
    let folder = paths.root.join(if options.seeds { SEEDS } else { HELD_OUT });
    let mut scenarios = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        scenarios.push(entry?.path());
    }
    scenarios.sort();
    let mut compare = Command::new(&binary);
    compare.arg("compare").args(&scenarios).arg("--profile").arg(profile);
    // The seeds' workloads have runs of their own: pools of several sizes.
    match &options.runtime {
        Some(runtime) => drop(compare.args(["--runtime", runtime])),
        None if options.seeds => {}
        None => drop(compare.args(["--runtime", RUNTIMES])),
    }
    if let Some(reps) = &options.reps {
        compare.args(["--reps", reps]);
    }
    process::run(&mut compare, LIMIT)
}
