//! System packages, installed only where that is safe to do unasked: as root on Debian.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

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

/// Unpacks the packages into a directory and leaves the system as it is; needs Debian, but not root.
///
/// What they depend on is not fetched, so this is for programs that need nothing but the C library.
pub(crate) fn unpack(paths: &Paths, packages: &[&str], dir: &Path) -> Result<()> {
    let list = packages.join(" ");
    if !is_debian() {
        bail!("only on Debian packages are fetched; install these programs yourself: {list}");
    }
    eprintln!("setup: unpacking by apt-get download and dpkg-deb: {list}");
    let log = paths.log("apt-get-download");
    if is_root() {
        // The lists may be empty, as in a fresh container; without new ones the old ones decide.
        let _ = process::run_logged(apt().args(["update", "--quiet"]), &paths.log("apt-get-update"), LIMIT);
    }
    // Beside the final place, so that a half-done unpacking is never used.
    let part = dir.with_extension(format!("part-{}", std::process::id()));
    fs::create_dir_all(&part).with_context(|| format!("cannot make {}", part.display()))?;
    process::run_logged(apt().arg("download").args(packages).current_dir(&part), &log, LIMIT)?;
    for entry in fs::read_dir(&part)? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "deb") {
            process::run_logged(Command::new("dpkg-deb").arg("--extract").arg(&file).arg(&part), &log, LIMIT)?;
            fs::remove_file(&file)?;
        }
    }
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    }
    fs::rename(&part, dir).with_context(|| format!("cannot move {} into place", part.display()))
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
