//! The metrics of `measure`, tested against a real Prometheus and a real `node_exporter`.

use std::env;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::paths::Paths;
use crate::process;
use crate::tools::{Tool, prometheus};

/// What the tests start.
pub(crate) const TOOLS: &[Tool] = &[Tool::Prometheus];
const LIMIT: Duration = Duration::from_mins(15);

pub(crate) fn verify(paths: &Paths) -> Result<()> {
    let programs = prometheus(paths).context("no Prometheus")?;
    println!("on {}", programs.prometheus.display());
    let mut tests = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    tests.args(["test", "--locked", "-p", "parkbench-native", "--test", "metrics", "--", "--ignored"]);
    tests.env("PARKBENCH_PROMETHEUS", programs.prometheus);
    tests.env("PARKBENCH_PROMTOOL", programs.promtool);
    tests.env("PARKBENCH_NODE_EXPORTER", programs.node_exporter);
    process::run(tests.current_dir(&paths.root), LIMIT)
}
