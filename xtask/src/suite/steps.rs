//! The steps of `cargo xtask test`, in the order in which they run when every tool is there.

use std::env;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::paths::Paths;
use crate::tools::{Environment, Tool};
use crate::{deny, jvm, layers, metrics, page, process, tidy, versions};

pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) needs: &'static [Tool],
    /// Steps whose result this one uses.
    pub(super) after: &'static [&'static str],
    pub(super) run: fn(&Paths) -> Result<Outcome>,
}

pub(super) enum Outcome {
    /// With a note for the summary; may be empty.
    Passed(String),
    Skipped(String),
}

/// Ends a step that hangs.
const LIMIT: Duration = Duration::from_mins(30);
const WASM: &str = "wasm32-unknown-unknown";

pub(super) const STEPS: &[Step] = &[
    Step { name: "fmt", about: "formatting", needs: &[], after: &[], run: fmt },
    Step { name: "tidy", about: "rules of the house that no lint knows", needs: &[], after: &[], run: tidy_step },
    Step { name: "layers", about: "direction of dependencies", needs: &[], after: &[], run: layers_step },
    Step { name: "clippy", about: "lints, native", needs: &[], after: &[], run: clippy },
    Step { name: "unit", about: "unit, property and command-line tests, native", needs: &[], after: &[], run: unit },
    Step {
        name: "golden-release",
        about: "golden digests in an optimised build",
        needs: &[],
        after: &[],
        run: golden_release,
    },
    Step {
        name: "clippy-wasm",
        about: "lints for the browser",
        needs: &[Tool::WasmTarget],
        after: &[],
        run: clippy_wasm,
    },
    Step {
        name: "jvm",
        about: "the runner for Java and Kotlin, on a real JVM",
        needs: jvm::TOOLS,
        after: &[],
        run: jvm_step,
    },
    Step {
        name: "metrics",
        about: "the metrics of measurements, on a real Prometheus and node_exporter",
        needs: metrics::TOOLS,
        after: &[],
        run: metrics_step,
    },
    Step { name: "page", about: "the page as it is shipped", needs: page::TOOLS, after: &[], run: page_step },
    Step { name: "size", about: "size of its WebAssembly", needs: &[], after: &["page"], run: size },
    Step {
        name: "wasm",
        about: "golden digests and page tests as WebAssembly in Chromium",
        needs: &[Tool::WasmTarget, Tool::WasmBindgen, Tool::Chromium, Tool::Chromedriver],
        after: &[],
        run: wasm,
    },
    Step {
        name: "e2e",
        about: "the shipped page in Chromium, against the native binary and axe",
        needs: &[Tool::NodePackages, Tool::Chromium],
        after: &["page"],
        run: e2e,
    },
    Step { name: "deny", about: "licences, sources and banned crates", needs: &[], after: &[], run: deny_step },
];

fn fmt(paths: &Paths) -> Result<Outcome> {
    cargo(paths, &["fmt", "--all", "--check"])
}

fn tidy_step(paths: &Paths) -> Result<Outcome> {
    let mut problems = tidy::problems(paths)?;
    problems.extend(versions::problems(paths));
    none_of(&problems)
}

fn layers_step(paths: &Paths) -> Result<Outcome> {
    none_of(&layers::problems(paths)?)
}

fn clippy(paths: &Paths) -> Result<Outcome> {
    cargo(paths, &["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

/// A commit that has passed passes again: unless the caller asks for others, its random cases are the same each time.
fn unit(paths: &Paths) -> Result<Outcome> {
    let seed = env::var_os("PROPTEST_RNG_SEED").unwrap_or_else(|| "1".into());
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    finish(paths, command.args(["test", "--locked", "--workspace"]).env("PROPTEST_RNG_SEED", seed))
}

fn golden_release(paths: &Paths) -> Result<Outcome> {
    cargo(paths, &["test", "--locked", "--release", "-p", "parkbench-engine", "--test", "golden"])
}

fn clippy_wasm(paths: &Paths) -> Result<Outcome> {
    cargo(
        paths,
        &["clippy", "--locked", "--target", WASM, "-p", "parkbench", "--all-targets", "--", "-D", "warnings"],
    )?;
    let crates = ["-p", "parkbench-engine", "-p", "parkbench-trace", "-p", "parkbench-view"];
    let before = ["clippy", "--locked", "--target", WASM];
    cargo(paths, &[&before[..], &crates, &["--lib", "--", "-D", "warnings"]].concat())
}

fn jvm_step(paths: &Paths) -> Result<Outcome> {
    jvm::verify(paths)?;
    Ok(Outcome::Passed(String::new()))
}

fn metrics_step(paths: &Paths) -> Result<Outcome> {
    metrics::verify(paths)?;
    Ok(Outcome::Passed(String::new()))
}

fn page_step(paths: &Paths) -> Result<Outcome> {
    page::build(paths, false)?;
    Ok(Outcome::Passed(String::new()))
}

fn size(paths: &Paths) -> Result<Outcome> {
    let weights = page::weigh(&paths.dist())?;
    for page::Weight { name, raw, gzip } in &weights {
        println!("{name}: {raw} bytes, {gzip} bytes as gzip");
    }
    none_of(&page::over_budget(&weights))?;
    let sum = |part: fn(&page::Weight) -> u64| weights.iter().map(part).sum::<u64>() / 1000;
    Ok(Outcome::Passed(format!("wasm {} kB, {} kB as gzip", sum(|weight| weight.raw), sum(|weight| weight.gzip))))
}

fn wasm(paths: &Paths) -> Result<Outcome> {
    let mut command = Environment::of(paths)?.command("cargo");
    command
        .args(["test", "--locked", "--target", WASM, "-p", "parkbench", "--lib", "--test", "*"])
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", "wasm-bindgen-test-runner")
        .env("WASM_BINDGEN_TEST_TIMEOUT", "300");
    finish(paths, &mut command)
}

fn e2e(paths: &Paths) -> Result<Outcome> {
    cargo(paths, &["build", "--locked", "-p", "parkbench-native"])?;
    let mut node = Environment::of(paths)?.command("node");
    node.args(["--test", "--test-concurrency=1", "--test-reporter=spec", "tests/*.test.mjs"])
        .env("PARKBENCH_DIST", paths.dist())
        .env("PARKBENCH_SERVER", env::current_exe()?)
        .env("PARKBENCH_BINARY", paths.target().join("debug/parkbench"))
        .current_dir(paths.root.join("e2e"));
    process::run(&mut node, LIMIT)?;
    Ok(Outcome::Passed(String::new()))
}

fn deny_step(paths: &Paths) -> Result<Outcome> {
    if !deny::is_installed(paths) {
        return Ok(Outcome::Skipped(format!("cargo-deny is not installed; `{}` installs it", deny::advice())));
    }
    deny::deny(paths)?;
    Ok(Outcome::Passed("advisories skipped: their database needs a network".to_owned()))
}

fn cargo(paths: &Paths, args: &[&str]) -> Result<Outcome> {
    finish(paths, Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into())).args(args))
}

fn finish(paths: &Paths, command: &mut Command) -> Result<Outcome> {
    process::run(command.current_dir(&paths.root), LIMIT)?;
    Ok(Outcome::Passed(String::new()))
}

fn none_of(problems: &[String]) -> Result<Outcome> {
    for problem in problems {
        println!("{problem}");
    }
    if let [first, ..] = problems {
        bail!("{} problems, the first: {first}", problems.len());
    }
    Ok(Outcome::Passed(String::new()))
}
