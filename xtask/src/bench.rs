//! The benchmarks. Here `cargo xtask bench-page`: how long a frame takes while the page plays; printed, never asserted.

mod engine;

use std::env;
use std::time::Duration;

use anyhow::Result;

pub(crate) use engine::bench_engine;

use crate::paths::Paths;
use crate::tools::{Environment, Tool, Toolbox};
use crate::{page, process};

const LIMIT: Duration = Duration::from_mins(10);

pub(crate) fn bench_page(paths: &Paths) -> Result<()> {
    let tools = [page::TOOLS, &[Tool::Chromium]].concat();
    Toolbox::start(paths, &tools).wait_for(&tools)?;
    page::build(paths, false)?;
    let mut node = Environment::of(paths)?.command("node");
    node.arg("bench.mjs").current_dir(paths.root.join("e2e"));
    node.env("PARKBENCH_DIST", paths.dist()).env("PARKBENCH_SERVER", env::current_exe()?);
    process::run(&mut node, LIMIT)
}
