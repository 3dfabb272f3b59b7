//! Rules of the house that no lint knows: how files begin, how long they are, what they must not name.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::paths::Paths;
use crate::process;

/// No file of code is longer.
const LONGEST: usize = 700;

/// Written in parts, so that this file passes its own rule.
/// Machine paths and package hosts: a clone has to work on any machine and behind any mirror.
const FORBIDDEN: &[&[&str]] = &[
    &["/wor", "k/"],
    &["/tm", "p/"],
    &["/ro", "ot/"],
    &["registry.np", "mjs"],
    &["index.crat", "es.io"],
    &["static.crat", "es.io"],
];

/// Files that an invariant of ARCHITECTURE.md depends on.
const REQUIRED: &[&str] = &[
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "crates/engine/tests/golden.txt",
    "deny.toml",
    "e2e/package-lock.json",
];

/// Sentences about every file under version control that breaks a rule.
pub(crate) fn problems(paths: &Paths) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for name in REQUIRED {
        let has_text = fs::metadata(paths.root.join(name)).is_ok_and(|found| found.is_file() && found.len() > 0);
        if !has_text {
            problems.push(format!("{name}: missing or empty"));
        }
    }
    for name in tracked(&paths.root)? {
        // Something that is no text has no lines to look at.
        if let Ok(text) = fs::read_to_string(paths.root.join(&name)) {
            problems.extend(check_file(&name, &text));
        }
    }
    for dir in fs::read_dir(paths.root.join("crates"))? {
        problems.extend(check_readme(&dir?.path()));
    }
    problems.sort();
    Ok(problems)
}

fn tracked(root: &Path) -> Result<Vec<String>> {
    let root = root.to_str().context("the path of the clone is not UTF-8")?;
    let args = ["-C", root, "ls-files", "--cached", "--others", "--exclude-standard"];
    let list = process::output_of("git", &args).context("`git ls-files` failed")?;
    Ok(list.lines().map(str::to_owned).collect())
}

fn check_file(name: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let has = |extensions: &[&str]| Path::new(name).extension().is_some_and(|own| extensions.iter().any(|e| own == *e));
    if has(&["rs"]) && !text.starts_with("//! ") {
        problems.push(format!("{name}: does not begin with a `//!` paragraph"));
    }
    if has(&["rs", "mjs", "js", "css", "java", "kt"]) && LONGEST < text.lines().count() {
        problems.push(format!("{name}: {} lines, {LONGEST} are allowed", text.lines().count()));
    }
    if !name.ends_with("-lock.json") && has(&["sh", ""]) && 20 < text.lines().count() {
        problems.push(format!("{name}: a shell script over 20 lines"));
    }
    for parts in FORBIDDEN {
        let word = parts.concat();
        if let Some(line) = text.lines().position(|line| names(line, &word)) {
            problems.push(format!("{name}:{}: names {word:?}", line + 1));
        }
    }
    problems
}

/// Whether the line has the word as the beginning of a path or host, not in the middle of a longer one.
fn names(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|letter| letter.is_alphanumeric() || "._-".contains(letter)) || !word.starts_with('/')
    })
}

/// A crate's README says in one sentence what its manifest says.
fn check_readme(dir: &Path) -> Vec<String> {
    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_default();
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let manifest = read("Cargo.toml");
    let description = manifest.lines().find_map(|line| line.strip_prefix("description = ")).unwrap_or_default();
    let readme = read("README.md");
    if description.is_empty() || !readme.contains(description.trim_matches('"')) {
        return vec![format!("crates/{name}/README.md: does not have the description of its Cargo.toml")];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, text: &str, expect: &[&str]) {
        assert_eq!(check_file(name, text), expect);
    }

    #[test]
    fn files() {
        check("src/a.rs", "//! What is here.\n", &[]);
        check("src/a.rs", "use std;\n", &["src/a.rs: does not begin with a `//!` paragraph"]);
        check("src/a.rs", &format!("//! A.\n{}", "\n".repeat(699)), &[]);
        check("src/a.rs", &format!("//! A.\n{}", "\n".repeat(700)), &["src/a.rs: 701 lines, 700 are allowed"]);
        check("a.css", &"\n".repeat(701), &["a.css: 701 lines, 700 are allowed"]);
        check("a.sh", &"\n".repeat(21), &["a.sh: a shell script over 20 lines"]);
    }

    #[test]
    fn forbidden_words() {
        let path = format!("see {}/x", "/tmp");
        check("a.md", &format!("fine\n{path}\n"), &[&format!("a.md:2: names {:?}", format!("{}/", "/tmp"))]);
        check("a.md", &format!("src{}/x and ~{}/", "/tmp", "x"), &[]);
        check(
            "a.json",
            &format!("https://{}.org/", ["registry.np", "mjs"].concat()),
            &[&format!("a.json:1: names {:?}", ["registry.np", "mjs"].concat())],
        );
    }
}
