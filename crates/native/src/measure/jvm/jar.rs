//! The runner's jar: its sources are in this binary, and Maven builds them once into the cache, outside any clone.

use std::env;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};

use super::find::{Java, maven};
use crate::measure::command;
use crate::say::say;

/// How often a process that waits for another's build looks.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

macro_rules! sources {
    ($($path:literal),* $(,)?) => {
        /// The Maven project without its tests, by path.
        const SOURCES: &[(&str, &str)] = &[$(($path, include_str!(concat!("../../../../../jvm/", $path)))),*];
    };
}

sources! {
    "pom.xml",
    "src/main/kotlin/parkbench/Arrivals.kt",
    "src/main/kotlin/parkbench/Coroutines.kt",
    "src/main/kotlin/parkbench/Frames.kt",
    "src/main/kotlin/parkbench/Initialised.kt",
    "src/main/kotlin/parkbench/Json.kt",
    "src/main/kotlin/parkbench/Main.kt",
    "src/main/kotlin/parkbench/Marks.kt",
    "src/main/kotlin/parkbench/Pinning.kt",
    "src/main/kotlin/parkbench/Plan.kt",
    "src/main/kotlin/parkbench/Probe.kt",
    "src/main/kotlin/parkbench/Slots.kt",
    "src/main/kotlin/parkbench/Threads.kt",
    "src/main/kotlin/parkbench/Work.kt",
}

/// Where built things are kept, as `cargo xtask` has it; `None` without a home directory.
pub(crate) fn cache() -> Option<PathBuf> {
    let xdg = || env::var_os("XDG_CACHE_HOME").map(|dir| PathBuf::from(dir).join("parkbench"));
    let home = || env::home_dir().map(|home| home.join(".cache/parkbench"));
    env::var_os("PARKBENCH_CACHE").map(PathBuf::from).or_else(xdg).or_else(home)
}

/// Whether the runner of this very version is there.
pub(crate) fn built() -> bool {
    path().is_ok_and(|jar| jar.is_file())
}

/// Whether the runner is there, or can be built; else what to install.
pub(crate) fn can_build() -> Result<(), String> {
    if built() { Ok(()) } else { maven().map(|_| ()) }
}

fn path() -> anyhow::Result<PathBuf> {
    let cache = cache().context("no home directory: set PARKBENCH_CACHE to where the runner for Java may be kept")?;
    Ok(cache.join("jvm").join(format!("parkbench-runner-{:016x}.jar", fingerprint())))
}

/// The runner of this very version; builds it where it is missing.
///
/// A build that is dropped ends Maven and all that it has started with it. One process builds, and others wait for it.
pub(crate) async fn jar(java: &Java) -> anyhow::Result<PathBuf> {
    let jar = path()?;
    if jar.is_file() {
        return Ok(jar);
    }
    let shelf = jar.parent().context("the cache has a directory")?;
    let advice = "set PARKBENCH_CACHE to a directory that can be written";
    fs::create_dir_all(shelf).with_context(|| format!("cannot make {} ({advice})", shelf.display()))?;
    let lock = File::create(shelf.join("build.lock"))
        .with_context(|| format!("cannot write into {} ({advice})", shelf.display()))?;
    while let Err(error) = lock.try_lock() {
        if let TryLockError::Error(error) = error {
            return Err(anyhow!(error).context("cannot lock the cache"));
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    if jar.is_file() {
        return Ok(jar);
    }
    let maven = maven().map_err(|advice| anyhow!(advice))?;
    say("building the runner for Java and Kotlin with Maven, once: a minute or two, with downloads");
    let dir = shelf.join(format!("build-{}", std::process::id()));
    let _cleaner = Cleaner(&dir);
    let write = |path: PathBuf, text: &str| {
        fs::create_dir_all(path.parent().unwrap_or(&dir)).and_then(|()| fs::write(&path, text))
    };
    for (path, text) in SOURCES {
        write(dir.join(path), text).with_context(|| format!("cannot write the runner into {}", dir.display()))?;
    }
    build(&maven, java, &dir).await?;
    fs::rename(dir.join("target/parkbench-runner.jar"), &jar)
        .with_context(|| format!("cannot keep the runner as {}", jar.display()))?;
    Ok(jar)
}

async fn build(maven: &Path, java: &Java, dir: &Path) -> anyhow::Result<()> {
    let mut build = command::child(maven);
    build
        .args(["--batch-mode", "--no-transfer-progress", "--quiet", "-Dmaven.test.skip=true", "package"])
        .env("JAVA_HOME", &java.home)
        // They are for the JVM that is measured.
        .env_remove("JAVA_TOOL_OPTIONS")
        .current_dir(dir)
        .stdin(Stdio::null());
    // Maven may start others, such as the daemon of Kotlin's compiler, which would disturb what is measured.
    let output = command::output(&mut build).await.with_context(|| format!("cannot start {}", maven.display()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stdout);
        let reason = text.lines().find(|line| line.starts_with("[ERROR]")).unwrap_or("it said nothing");
        bail!("Maven could not build the runner ({}): {}", output.status, reason.trim_start_matches("[ERROR] "));
    }
    Ok(())
}

/// Removes the build when it is done, however it ends.
struct Cleaner<'a>(&'a Path);

impl Drop for Cleaner<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0);
    }
}

/// FNV-1a over paths and texts.
fn fingerprint() -> u64 {
    let bytes = SOURCES.iter().flat_map(|(path, text)| path.bytes().chain([0]).chain(text.bytes()).chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_of_the_runner_is_in_this_binary() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../jvm/src/main/kotlin/parkbench");
        let entries = fs::read_dir(dir).unwrap();
        let mut files: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        let known: Vec<&str> = SOURCES[1..].iter().map(|(path, _)| path.rsplit('/').next().unwrap()).collect();
        assert_eq!(files, known);
    }
}
