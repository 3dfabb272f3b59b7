//! The runner in `jvm`: builds its jar with Maven, and runs its tests and those of `measure` on a real JVM.

use std::env;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::paths::Paths;
use crate::process;
use crate::tools::{Tool, java_home};

/// What the build needs.
pub(crate) const TOOLS: &[Tool] = &[Tool::Java, Tool::Maven];
/// The first build downloads the compiler.
const LIMIT: Duration = Duration::from_mins(15);

pub(crate) fn verify(paths: &Paths) -> Result<()> {
    let home = java_home(paths).context("no Java that is new enough")?;
    println!("on {}", home.display());
    let mut maven = Command::new("mvn");
    maven.args(["--batch-mode", "--no-transfer-progress", "verify"]).env("JAVA_HOME", &home);
    // As cargo's, the output of a build lies in the target directory of the clone.
    maven.arg(format!("-DbuildDirectory={}", paths.target().join("jvm").display()));
    process::run(maven.current_dir(paths.root.join("jvm")), LIMIT)?;
    let mut tests = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    tests.args(["test", "--locked", "-p", "parkbench-native", "--test", "jvm", "--", "--ignored"]);
    process::run(tests.env("JAVA_HOME", &home).env("PARKBENCH_CACHE", &paths.cache).current_dir(&paths.root), LIMIT)
}
