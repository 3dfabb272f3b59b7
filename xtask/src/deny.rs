//! `cargo xtask deny`: licences, sources and banned crates, by cargo-deny where it is installed.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::paths::Paths;
use crate::tools::{Environment, find_tool};
use crate::{process, versions};

const LIMIT: Duration = Duration::from_mins(10);

/// How to get what [`deny`] needs.
pub(crate) fn advice() -> String {
    format!("cargo install cargo-deny --version {} --locked", versions::CARGO_DENY)
}

pub(crate) fn is_installed(paths: &Paths) -> bool {
    find_tool(paths, "cargo-deny", "cargo-deny", versions::CARGO_DENY).is_some()
}

/// Advisories are left out: their database is a git clone that a closed network does not reach.
pub(crate) fn deny(paths: &Paths) -> Result<()> {
    let Some(dir) = find_tool(paths, "cargo-deny", "cargo-deny", versions::CARGO_DENY) else {
        bail!("cargo-deny {} is not installed; `{}` installs it", versions::CARGO_DENY, advice());
    };
    let mut command = Environment::of(paths)?.command(&dir.join("cargo-deny").to_string_lossy());
    command.args([
        "--offline",
        "--locked",
        "--workspace",
        "check",
        "--hide-inclusion-graph",
        "bans",
        "licenses",
        "sources",
    ]);
    process::run(command.current_dir(&paths.root), LIMIT)
}
