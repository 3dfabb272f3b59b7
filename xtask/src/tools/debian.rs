//! System packages, installed only where that is safe to do unasked: as root on Debian.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::paths::Paths;
use crate::process;

const LIMIT: Duration = Duration::from_mins(20);

/// Installs the packages; on other systems an error says which ones to install by hand.
pub(crate) fn install(paths: &Paths, packages: &[&str]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.join(" ");
    if !is_debian() || !is_root() {
        bail!("only root on Debian gets system packages installed; this needs: {list}");
    }
    eprintln!("setup: installing by apt-get: {list}");
    let log = paths.log("apt-get");
    process::run_logged(apt().args(["update", "--quiet"]), &log, LIMIT)?;
    process::run_logged(apt().args(["install", "--yes", "--no-install-recommends"]).args(packages), &log, LIMIT)
}

/// The first of these packages that this system's repositories have; `None` where nothing is to be installed unasked.
pub(crate) fn first_available(paths: &Paths, packages: &[&'static str]) -> Option<&'static str> {
    if !is_debian() || !is_root() {
        return None;
    }
    // The lists may be empty, as in a fresh container; without new ones the old ones decide.
    let _ = process::run_logged(apt().args(["update", "--quiet"]), &paths.log("apt-get-update"), LIMIT);
    let has =
        |package: &&&str| process::output_of("apt-cache", &["show", package]).is_some_and(|text| !text.is_empty());
    packages.iter().find(has).copied()
}

fn apt() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").args(["-o", "DPkg::Lock::Timeout=300"]);
    command
}

fn is_debian() -> bool {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    release.lines().any(|line| line == "ID=debian") && Path::new("/usr/bin/apt-get").exists()
}

fn is_root() -> bool {
    process::output_of("id", &["-u"]).as_deref() == Some("0")
}
