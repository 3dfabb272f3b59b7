//! Looking for programs that people install themselves.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// Names under which distributions ship a Chromium.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

pub(crate) fn chromium() -> Option<PathBuf> {
    named_by("PARKBENCH_CHROMIUM").or_else(|| BROWSERS.iter().find_map(|name| on_path(name)))
}

pub(crate) fn chromedriver() -> Option<PathBuf> {
    named_by("CHROMEDRIVER").or_else(|| on_path("chromedriver"))
}

/// The first file of this name in the directories of PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// `found`, or an error with the advice and, if there is one, why the package manager did not help.
pub(crate) fn required(found: Option<PathBuf>, advice: &str, reason: &str) -> Result<()> {
    match (found, reason) {
        (Some(_), _) => Ok(()),
        (None, "") => bail!("missing; {advice}"),
        (None, reason) => bail!("missing; {advice} ({reason})"),
    }
}

fn named_by(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| Path::is_file(path))
}
