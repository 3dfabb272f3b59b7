//! Where things are: the clone, its build output, and the cache for tools, which is outside the clone.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

pub(crate) struct Paths {
    /// The root of the clone.
    pub(crate) root: PathBuf,
    /// Tools and npm packages, shared by all clones of this user.
    pub(crate) cache: PathBuf,
}

impl Paths {
    pub(crate) fn find() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().context("xtask has no parent directory")?.to_owned();
        let cache = match (env::var_os("PARKBENCH_CACHE"), env::var_os("XDG_CACHE_HOME"), env::home_dir()) {
            (Some(dir), _, _) => PathBuf::from(dir),
            (None, Some(dir), _) => PathBuf::from(dir).join("parkbench"),
            (None, None, Some(home)) => home.join(".cache/parkbench"),
            (None, None, None) => anyhow::bail!("no home directory: set PARKBENCH_CACHE to where tools may be kept"),
        };
        Ok(Self { root, cache })
    }

    /// The built page.
    pub(crate) fn dist(&self) -> PathBuf {
        self.root.join("dist")
    }

    pub(crate) fn target(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.root.join("target"), PathBuf::from)
    }

    /// Where one version of one tool is installed.
    pub(crate) fn tool(&self, name: &str, version: &str) -> PathBuf {
        self.cache.join("tools").join(format!("{name}-{version}"))
    }

    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.cache.join("log").join(format!("{name}.log"))
    }
}
