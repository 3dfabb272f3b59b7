//! The environment in which the installed tools find each other.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::{cargo, npm, search};
use crate::paths::Paths;
use crate::versions;

/// PATH with the wanted versions first; computed after the tools are there.
pub(crate) struct Environment {
    path: OsString,
}

impl Environment {
    pub(crate) fn of(paths: &Paths) -> Result<Self> {
        let tools = [
            cargo::find_tool(paths, "trunk", "trunk", versions::TRUNK),
            cargo::find_tool(paths, "wasm-bindgen-cli", "wasm-bindgen", &versions::wasm_bindgen(paths)?),
            npm::node_dir(paths),
            npm::bin_dir(paths),
        ];
        let old = env::var_os("PATH").unwrap_or_default();
        let dirs: Vec<PathBuf> = tools.into_iter().flatten().chain(env::split_paths(&old)).collect();
        Ok(Self { path: env::join_paths(dirs).context("a directory on PATH has a colon in its name")? })
    }

    /// A command that finds the tools; found on the same PATH itself.
    pub(crate) fn command(&self, program: &str) -> Command {
        let found = env::split_paths(&self.path).map(|dir| dir.join(program)).find(|file| file.is_file());
        let mut command = Command::new(found.unwrap_or_else(|| program.into()));
        command.env("PATH", &self.path);
        if let Some(chromium) = search::chromium() {
            command.env("PARKBENCH_CHROMIUM", chromium);
        }
        if let Some(chromedriver) = search::chromedriver() {
            command.env("CHROMEDRIVER", chromedriver);
        }
        command
    }
}
