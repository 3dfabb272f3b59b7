//! Building the page with Trunk and weighing the result.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::paths::Paths;
use crate::process;
use crate::tools::{Environment, Tool};

/// What an optimised build needs.
pub(crate) const TOOLS: &[Tool] = &[Tool::WasmTarget, Tool::WasmBindgen, Tool::Trunk, Tool::NodePackages];
/// Without optimisation there is no wasm-opt, so nothing of npm.
pub(crate) const DEBUG_TOOLS: &[Tool] = &[Tool::WasmTarget, Tool::WasmBindgen, Tool::Trunk];

const LIMIT: Duration = Duration::from_mins(30);

/// Upper bounds in bytes, before compression, by the beginning of the file's name.
const BUDGETS: &[(&str, u64)] = &[("app", 1_700_000), ("worker", 800_000)];

/// Builds the page into `dist`.
pub(crate) fn build(paths: &Paths, debug: bool) -> Result<()> {
    let environment = Environment::of(paths)?;
    // Trunk passes its --offline on to cargo, so everything has to be there before.
    let mut fetch = environment.command("cargo");
    fetch.args(["fetch", "--locked", "--quiet"]).current_dir(&paths.root);
    process::run(&mut fetch, LIMIT)?;
    let mut trunk = environment.command("trunk");
    // Trunk 0.21 does not start when NO_COLOR is 1.
    trunk.env_remove("NO_COLOR").env("TRUNK_SKIP_VERSION_CHECK", "true").current_dir(&paths.root);
    // Relative addresses, so that the result works under any path of a host.
    trunk.args(["build", "--offline", "true", "--public-url", "./"]);
    if !debug {
        trunk.arg("--release");
    }
    process::run(&mut trunk, LIMIT)
}

/// One WebAssembly file of the built page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) name: String,
    /// [bytes] as it lies on the disk.
    pub(crate) raw: u64,
    /// [bytes] as most servers send it.
    pub(crate) gzip: u64,
}

/// The weights of all WebAssembly files, by name.
pub(crate) fn weigh(dist: &Path) -> Result<Vec<Weight>> {
    let mut weights = Vec::new();
    let entries = fs::read_dir(dist).with_context(|| format!("cannot read {}", dist.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "wasm") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&bytes)?;
            weights.push(Weight { name, raw: bytes.len() as u64, gzip: encoder.finish()?.len() as u64 });
        }
    }
    weights.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(weights)
}

/// Sentences about files that are too heavy or that nobody set a bound for.
pub(crate) fn over_budget(weights: &[Weight]) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, budget) in BUDGETS {
        if !weights.iter().any(|weight| weight.name.starts_with(name)) {
            problems.push(format!("no {name}*.wasm in the built page (its budget is {budget} bytes)"));
        }
    }
    for Weight { name, raw, .. } in weights {
        match BUDGETS.iter().find(|(prefix, _)| name.starts_with(prefix)) {
            Some((_, budget)) if budget < raw => problems.push(format!("{name} has {raw} bytes, {budget} are allowed")),
            Some(_) => {}
            None => problems.push(format!("{name} has no size budget")),
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(weights: &[(&str, u64)], expect: &[&str]) {
        let weights: Vec<Weight> =
            weights.iter().map(|&(name, raw)| Weight { name: name.to_owned(), raw, gzip: raw / 2 }).collect();
        assert_eq!(over_budget(&weights), expect);
    }

    #[test]
    fn budgets() {
        check(&[("app-0123_bg.wasm", 1_700_000), ("worker_bg.wasm", 1)], &[]);
        check(
            &[("app-0123_bg.wasm", 1_700_001), ("worker_bg.wasm", 1)],
            &["app-0123_bg.wasm has 1700001 bytes, 1700000 are allowed"],
        );
        check(
            &[("app-0123_bg.wasm", 1), ("other.wasm", 1)],
            &["no worker*.wasm in the built page (its budget is 800000 bytes)", "other.wasm has no size budget"],
        );
    }
}
