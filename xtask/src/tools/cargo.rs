//! The wasm32 target and the tools that cargo compiles.
//! Each version of a tool has its own directory in the cache, so a user's own installation is never replaced.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::search::on_path;
use super::turn;
use crate::paths::Paths;
use crate::{process, versions};

const TARGET: &str = "wasm32-unknown-unknown";
/// A tool compiles in some minutes on two cores; other work may run beside it.
const LIMIT: Duration = Duration::from_mins(40);

pub(crate) fn ensure_wasm_target(paths: &Paths) -> Result<()> {
    let sysroot = process::output_of("rustc", &["--print", "sysroot"]).context("`rustc` does not run")?;
    if Path::new(&sysroot).join("lib/rustlib").join(TARGET).is_dir() {
        return Ok(());
    }
    eprintln!("setup: adding the target {TARGET}");
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", TARGET]).current_dir(&paths.root);
    process::run_logged(&mut rustup, &paths.log("rustup"), LIMIT)
        .with_context(|| format!("the target {TARGET} is missing and could not be added"))
}

pub(crate) fn ensure_trunk(paths: &Paths) -> Result<()> {
    ensure(paths, "trunk", "trunk", versions::TRUNK, &["--locked"])
}

/// Without `--locked`: the lock file inside that package names versions that were withdrawn.
pub(crate) fn ensure_wasm_bindgen(paths: &Paths) -> Result<()> {
    ensure(paths, "wasm-bindgen-cli", "wasm-bindgen", &versions::wasm_bindgen(paths)?, &[])
}

/// The directory that holds this version of the program: the cache's or one of PATH.
pub(crate) fn find_tool(paths: &Paths, package: &str, program: &str, version: &str) -> Option<PathBuf> {
    let cached = paths.tool(package, version).join("bin").join(program);
    let file = if cached.is_file() { Some(cached) } else { on_path(program) }?;
    let says = process::output_of(&file, &["--version"])?;
    let fits = says.split_whitespace().any(|word| word == version);
    fits.then(|| file.parent().map(Path::to_owned)).flatten()
}

fn ensure(paths: &Paths, package: &str, program: &str, version: &str, flags: &[&str]) -> Result<()> {
    if find_tool(paths, package, program, version).is_some() {
        return Ok(());
    }
    let _turn = turn::take(paths, package)?;
    if find_tool(paths, package, program, version).is_some() {
        // Another process has installed it meanwhile.
        return Ok(());
    }
    eprintln!("setup: compiling {package} {version}");
    // Kept until the installation is complete, so that an interrupted one goes on where it was.
    let target = paths.cache.join("build").join(package);
    let mut install = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    install
        .args(["install", package, "--force", "--version"])
        .arg(format!("={version}"))
        .args(flags)
        .arg("--root")
        .arg(paths.tool(package, version))
        .arg("--target-dir")
        .arg(&target);
    process::run_logged(&mut install, &paths.log(package), LIMIT)
        .with_context(|| format!("{package} {version} could not be installed"))?;
    if let Err(error) = fs::remove_dir_all(&target) {
        // It only takes space.
        eprintln!("setup: cannot remove {}: {error}", target.display());
    }
    Ok(())
}
