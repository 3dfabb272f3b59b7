//! The runner in `jvm`: builds its jar with Maven, and runs its tests and those of `measure` on a real JVM.

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::paths::Paths;
use crate::process;
use crate::tools::{Tool, java_home};

/// What the build needs.
pub(crate) const TOOLS: &[Tool] = &[Tool::Java, Tool::Maven];
/// The first build downloads the compiler.
pub(crate) const LIMIT: Duration = Duration::from_mins(15);

/// Maven in the folder of the runner, without what it is to do; what it builds goes to `build`.
pub(crate) fn maven(paths: &Paths, home: &Path, build: &Path) -> Command {
    let mut maven = Command::new("mvn");
    maven.args(["--batch-mode", "--no-transfer-progress"]).arg(format!("-DbuildDirectory={}", build.display()));
    maven.env("JAVA_HOME", home).current_dir(paths.root.join("jvm"));
    maven
}

pub(crate) fn verify(paths: &Paths) -> Result<()> {
    let home = java_home(paths).context("no Java that is new enough")?;
    println!("on {}", home.display());
    // As cargo's, the output of a build lies in the target directory of the clone.
    process::run(maven(paths, &home, &paths.target().join("jvm")).arg("verify"), LIMIT)?;
    let mut tests = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    tests.args(["test", "--locked", "-p", "parkbench-native", "--test", "jvm", "--", "--ignored"]);
    process::run(tests.env("JAVA_HOME", &home).env("PARKBENCH_CACHE", &paths.cache).current_dir(&paths.root), LIMIT)
}
