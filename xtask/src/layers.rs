//! The direction of dependencies: engine <- trace <- view <- {page, native}.
//! `cargo tree` says what each crate really builds on; the table below says what it must never build on.

use anyhow::{Context as _, Result};

use crate::paths::Paths;
use crate::process;

const NATIVE: &str = "x86_64-unknown-linux-gnu";
const WASM: &str = "wasm32-unknown-unknown";

/// What the browser's side is made of.
const BROWSER: &[&str] = &["yew", "web-sys", "js-sys", "wasm-bindgen", "gloo-timers", "plotters-canvas"];
/// What the operating system's side is made of.
const SYSTEM: &[&str] = &["tokio", "nix", "may", "procfs", "clap", "rustix", "libc", "mio"];
/// What could give the engine a clock, a thread or entropy of its own.
const OUTSIDE: &[&str] = &["getrandom", "rand", "chrono", "time", "rayon", "crossbeam-channel", "instant", "web-time"];

/// One crate, built for one target, and what it must not depend on.
struct Rule {
    package: &'static str,
    target: &'static str,
    never: &'static [&'static [&'static str]],
}

const RULES: &[Rule] = &[
    Rule {
        package: "parkbench-engine",
        target: NATIVE,
        never: &[
            BROWSER,
            SYSTEM,
            OUTSIDE,
            &["parkbench-trace", "parkbench-view", "parkbench-native", "parkbench", "plotters"],
        ],
    },
    Rule {
        package: "parkbench-engine",
        target: WASM,
        never: &[
            BROWSER,
            SYSTEM,
            OUTSIDE,
            &["parkbench-trace", "parkbench-view", "parkbench-native", "parkbench", "plotters"],
        ],
    },
    Rule {
        package: "parkbench-trace",
        target: NATIVE,
        never: &[BROWSER, SYSTEM, OUTSIDE, &["parkbench-view", "parkbench-native", "parkbench", "plotters"]],
    },
    Rule { package: "parkbench-view", target: NATIVE, never: &[BROWSER, SYSTEM, &["parkbench-native", "parkbench"]] },
    Rule { package: "parkbench", target: WASM, never: &[SYSTEM, &["parkbench-native"]] },
    Rule { package: "parkbench-native", target: NATIVE, never: &[BROWSER, &["parkbench"]] },
];

/// Sentences about every dependency that points the wrong way.
pub(crate) fn problems(paths: &Paths) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for rule in RULES {
        let manifest = paths.root.join("Cargo.toml");
        let manifest = manifest.to_str().context("the path of the clone is not UTF-8")?;
        let args =
            ["tree", "--locked", "--manifest-path", manifest, "--package", rule.package, "--target", rule.target];
        let format = ["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"];
        let tree = process::output_of("cargo", &[&args[..], &format].concat())
            .with_context(|| format!("`cargo tree --package {}` failed", rule.package))?;
        problems.extend(check(rule, &tree));
    }
    Ok(problems)
}

fn check(rule: &Rule, tree: &str) -> Vec<String> {
    let mut found: Vec<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    found.sort_unstable();
    found.dedup();
    let never = |name: &&str| *name != rule.package && rule.never.iter().any(|group| group.contains(name));
    found
        .into_iter()
        .filter(never)
        .map(|name| format!("{} depends on {name} on {}", rule.package, rule.target))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forbidden_crate_is_named_once() {
        let rule = Rule { package: "a", target: "t", never: &[&["tokio", "a"], &["nix"]] };
        let tree = "a v0.1.0 (path)\nserde v1.0.0\ntokio v1.0.0\ntokio v1.0.0 (*)\nnix-like v1.0.0\n";
        assert_eq!(check(&rule, tree), ["a depends on tokio on t"]);
        assert_eq!(check(&rule, "a v0.1.0\nserde v1.0.0\n"), Vec::<String>::new());
    }
}
