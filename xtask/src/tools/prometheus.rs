//! Prometheus and `node_exporter` to test the metrics against: the system's, else Debian's packages, unpacked into the
//! cache.
//!
//! They are not installed, for an installation would start their services.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::debian;
use super::search::on_path;
use super::turn;
use crate::paths::Paths;

/// Debian's packages with these programs.
const PACKAGES: &[&str] = &["prometheus", "prometheus-node-exporter"];

/// The programs that the tests start.
pub(crate) struct Programs {
    pub(crate) prometheus: PathBuf,
    pub(crate) promtool: PathBuf,
    pub(crate) node_exporter: PathBuf,
}

/// Those on PATH, else those of the cache; `None` unless all are there.
pub(crate) fn find(paths: &Paths) -> Option<Programs> {
    let cache = cached(paths).join("usr/bin");
    let program = |names: &[&str]| {
        let known = names.iter().find_map(|name| on_path(name));
        known.or_else(|| names.iter().map(|name| cache.join(name)).find(|file| file.is_file()))
    };
    Some(Programs {
        prometheus: program(&["prometheus"])?,
        promtool: program(&["promtool"])?,
        node_exporter: program(&["prometheus-node-exporter", "node_exporter"])?,
    })
}

pub(crate) fn ensure(paths: &Paths) -> Result<()> {
    if find(paths).is_some() {
        return Ok(());
    }
    let _turn = turn::take(paths, "prometheus")?;
    if find(paths).is_some() {
        return Ok(());
    }
    debian::unpack(paths, PACKAGES, &cached(paths))?;
    if find(paths).is_none() {
        bail!("Debian's packages hold no prometheus, promtool and prometheus-node-exporter for this machine");
    }
    Ok(())
}

fn cached(paths: &Paths) -> PathBuf {
    paths.tool("prometheus", "debian")
}
