//! The command `doctor`: what this machine allows, what is installed, which presets it can measure, what to change.
//!
//! Nothing is changed here, and no figure is guessed: what cannot be read is absent with its reason.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use parkbench_engine::{PRESET_NAMES, Scenario, preset};
use parkbench_view::format;
use serde::Serialize;

use super::check;
use super::counters;
use super::environment::{self, Environment};
use super::jvm::{self, OLDEST};
use super::limits::{self, Limits, ThreadLimit};
use super::overhead::Harness;
use super::select;
use crate::cli::DoctorFormat;
use crate::figures::WIDTH;
use crate::text::wrap;

/// Naps whose lateness is measured.
const NAPS: usize = 21;
/// How long each is.
const NAP: Duration = Duration::from_millis(1);
/// Readings of the clock in a row.
const TICKS: usize = 1_000;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Check {
    /// What it is about: `limits`, `clocks`, `java`, `tools` or `presets`.
    section: &'static str,
    /// What was looked at.
    name: String,
    /// What was found.
    found: String,
    /// Whether all that it is about can be done here as it is.
    good: bool,
    /// What to change; absent where nothing needs to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Check {
    fn good(section: &'static str, name: &str, found: impl Into<String>) -> Self {
        Self { section, name: name.to_owned(), found: found.into(), good: true, advice: None }
    }

    fn bad(section: &'static str, name: &str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        let advice = Some(advice.into());
        Self { section, name: name.to_owned(), found: found.into(), good: false, advice }
    }
}

/// Looks at everything and writes it in the format that was asked for.
pub(crate) fn doctor(form: DoctorFormat) -> anyhow::Result<String> {
    let limits = environment::limits();
    let mut checks = machine(limits);
    checks.extend(clocks());
    let java = super::collect::java(None).ok();
    let found = java.as_ref().map_or(Err("no Java"), |java| java.as_ref().map_err(String::as_str));
    checks.extend(tools(found));
    checks.extend(others());
    for name in PRESET_NAMES {
        let scenario = preset(name).with_context(|| format!("the preset {name} cannot be read"))?;
        checks.push(fits(&scenario, found.map(|java| &java.version), limits));
    }
    Ok(match form {
        DoctorFormat::Text => render(&checks),
        DoctorFormat::Json => {
            serde_json::to_string_pretty(&checks).context("the checks cannot be written as JSON")? + "\n"
        }
    })
}

/// Processors, memory, threads, mappings, stacks.
fn machine(limits: Limits) -> Vec<Check> {
    let here = Environment::here(0, Harness::measure());
    let absent = || "could not be read".to_owned();
    let mut checks = vec![
        Check::good("limits", "processors", here.cores.map_or_else(absent, |cores| cores.to_string())),
        Check::good("limits", "memory", here.memory_bytes.map_or_else(absent, format::bytes)),
    ];
    let mappings = format!(
        "vm.max_map_count {}: up to {} std threads, {} threads of Java or green threads of may",
        limits.mappings,
        format::count(limits.threads()),
        format::count(limits.green_threads())
    );
    checks.push(if limits.green_threads() < 10_000 {
        let advice = "sysctl -w vm.max_map_count=65530, so that 10,000 tasks can have a stack each";
        Check::bad("limits", "mappings", mappings, advice)
    } else {
        Check::good("limits", "mappings", mappings)
    });
    checks.push(threads(limits.most_threads));
    let stack = match getrlimit(Resource::RLIMIT_STACK) {
        Ok((soft, _)) if soft == RLIM_INFINITY => "unlimited for the main thread".to_owned(),
        Ok((soft, _)) => format!("{} for the main thread", format::bytes(soft)),
        Err(error) => format!("could not be read: {error}"),
    };
    checks.push(match counters::allowed() {
        Ok(()) => {
            Check::good("limits", "counters", "instructions, cycles and cache misses, as far as the processor has them")
        }
        Err(reason) => Check::bad("limits", "counters", "none of the processor's", reason),
    });
    checks.push(Check::good("limits", "stacks", format!("{stack}; threads of a measurement reserve 1 MiB each")));
    checks
}

/// The smallest of the limits on threads decides (P-6).
fn threads(limit: Option<ThreadLimit>) -> Check {
    let Some(ThreadLimit { threads: most, name }) = limit else {
        return Check::good("limits", "threads", "no limit could be read");
    };
    let found = format!("up to {}, by {name}", format::count(most));
    if most < 12_000 {
        let advice = format!("raise {name}, for a thread for each of 10,000 tasks needs more");
        return Check::bad("limits", "threads", found, advice);
    }
    Check::good("limits", "threads", found)
}

fn number_in(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// How fine the clock is, and how late a sleep ends.
fn clocks() -> Vec<Check> {
    let mut readings = [Duration::MAX; TICKS];
    for reading in &mut readings {
        let begin = Instant::now();
        *reading = begin.elapsed();
    }
    let step = median(&mut readings);
    let mut naps = [Duration::ZERO; NAPS];
    for nap in &mut naps {
        let begin = Instant::now();
        thread::sleep(NAP);
        *nap = begin.elapsed().saturating_sub(NAP);
    }
    let late = median(&mut naps);
    let nanos = |time: Duration| format::duration(time.as_nanos() as u64);
    let found = format!("{} between two readings", nanos(step));
    let source = fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource").ok();
    let found = source.map_or(found.clone(), |source| format!("{found}, from {}", source.trim()));
    let slack =
        number_in("/proc/self/timerslack_ns").map_or(String::new(), |ns| format!(", slack {}", format::duration(ns)));
    let sleeps = format!("a sleep of 1 ms ends {} late{slack}", nanos(late));
    vec![
        if step > Duration::from_micros(1) {
            let advice = "choose the clock source tsc or kvm-clock, for each task reads the clock three times";
            Check::bad("clocks", "clock", found, advice)
        } else {
            Check::good("clocks", "clock", found)
        },
        if late > Duration::from_millis(1) {
            Check::bad("clocks", "sleeps", sleeps, "end what else runs here, and repeat on a quiet machine")
        } else {
            Check::good("clocks", "sleeps", sleeps)
        },
    ]
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Java, Maven, and the runner that they build.
fn tools(java: Result<&jvm::Java, &str>) -> Vec<Check> {
    let mut checks = vec![match java {
        Ok(java) => {
            let found = format!("{} in {}", java.version.text, java.home.display());
            Check::good("java", "Java", java.note().unwrap_or(found))
        }
        Err(reason) => Check::bad("java", "Java", reason, format!("install a JDK {OLDEST} or newer")),
    }];
    let built = jvm::built();
    checks.push(match (jvm::maven(), built) {
        (Ok(maven), _) => Check::good("java", "Maven", maven.display().to_string()),
        (Err(_), true) => Check::good("java", "Maven", "missing, and not needed: the runner is built"),
        (Err(reason), false) => Check::bad("java", "Maven", "missing", reason),
    });
    let runner = if built { "built" } else { "not built yet; the first measurement on the JVM builds it" };
    checks.push(Check::good("java", "runner", runner));
    checks
}

/// Programs that no measurement needs, and what each is for.
const OTHERS: &[(&str, &[&str], &str)] = &[
    (
        "Prometheus",
        &["prometheus"],
        "to collect the metrics of --metrics-listen, install it, such as the package prometheus (https://prometheus.io)",
    ),
    ("promtool", &["promtool"], "to check metrics and rules, install Prometheus, which brings it"),
    (
        "node_exporter",
        &["node_exporter", "prometheus-node-exporter"],
        "to collect the file of --metrics-file, install it, such as the package prometheus-node-exporter",
    ),
    (
        "Chromium",
        &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"],
        "any browser shows the page; for its tests install this one, such as the package chromium",
    ),
];

/// What goes with a measurement, and is not part of it.
fn others() -> Vec<Check> {
    // `cargo xtask test` may have unpacked Debian's packages there.
    let unpacked = jvm::cache().map(|cache| cache.join("tools/prometheus-debian/usr/bin"));
    let find = |name: &str| {
        let kept = unpacked.as_ref().map(|dir| dir.join(name)).filter(|file| file.is_file());
        jvm::on_path(name).or(kept)
    };
    OTHERS
        .iter()
        .map(|&(name, programs, advice)| other(name, programs.iter().copied().find_map(find), advice))
        .collect()
}

fn other(name: &str, found: Option<PathBuf>, advice: &str) -> Check {
    match found {
        // The folder alone, for the whole path may be wider than a table.
        Some(path) => Check::good("tools", name, format!("in {}", path.parent().unwrap_or(&path).display())),
        None => Check::bad("tools", name, "missing", advice),
    }
}

/// Which of the real runtimes can measure this scenario.
fn fits(scenario: &Scenario, java: Result<&jvm::Version, &str>, limits: Limits) -> Check {
    let name = scenario.name.as_str();
    if let Err(error) = check::check(scenario) {
        return Check::bad("presets", name, "cannot be measured yet", error.to_string());
    }
    let (planned, absent) = match select::plan(scenario, &[], java) {
        Ok(plan) => plan,
        Err(error) => return Check::bad("presets", name, "cannot be measured", error.to_string()),
    };
    let (mut fit, mut reasons) = (Vec::new(), Vec::new());
    for planned in &planned {
        match limits::too_large(scenario, &planned.runtime, limits) {
            None => fit.push(planned.runtime.variant()),
            Some(reason) => reasons.push(format!("{}: {reason}", planned.runtime.variant())),
        }
    }
    reasons.extend(absent.iter().map(|absent| format!("{}: {}", absent.variant, absent.reason)));
    let found = if fit.is_empty() { "nothing here can measure it".to_owned() } else { fit.join(", ") };
    if reasons.is_empty() {
        return Check::good("presets", name, found);
    }
    Check::bad("presets", name, found, reasons.join("; "))
}

/// For people: a line for each check, and below it what to change.
fn render(checks: &[Check]) -> String {
    let width = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0) + 4;
    let (mut out, mut section) = (String::new(), "");
    for check in checks {
        if check.section != section {
            section = check.section;
            let title = match section {
                "limits" => "What this machine allows",
                "clocks" => "\nIts clocks",
                "java" => "\nThe JVM",
                "tools" => "\nWhat goes with it",
                _ => "\nWhat it can measure",
            };
            out.push_str(title);
            out.push('\n');
        }
        let mark = if check.good { ' ' } else { '!' };
        let begin = format!("{mark} {:1$}", check.name, width - 2);
        let indent = " ".repeat(width);
        out.push_str(&wrap(&check.found, WIDTH, &begin, &indent));
        if let Some(advice) = &check.advice {
            out.push_str(&wrap(advice, WIDTH, &format!("{indent}-> "), &format!("{indent}   ")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_on_threads_says_its_name() {
        for (limit, expect, good) in [
            (Some(32_768), "up to 32,768, by b", true),
            (Some(500), "up to 500, by b", false),
            (None, "no limit could be read", true),
        ] {
            let check = threads(limit.map(|threads| ThreadLimit { threads, name: "b" }));
            assert_eq!((check.found.as_str(), check.good, check.advice.is_some()), (expect, good, !good));
        }
    }

    #[test]
    fn a_program_is_found_or_has_advice() {
        let there = other("Prometheus", Some(PathBuf::from("/usr/bin/prometheus")), "install it");
        assert_eq!((there.found.as_str(), there.good, there.advice), ("in /usr/bin", true, None));
        let missing = other("Prometheus", None, "install it");
        assert_eq!(
            (missing.found.as_str(), missing.good, missing.advice.as_deref()),
            ("missing", false, Some("install it"))
        );
    }

    #[test]
    fn a_preset_names_what_fits_and_what_does_not() {
        let limits = Limits { cores: 2, mappings: 20_000, most_threads: None };
        let java = jvm::Version { feature: 25, text: "25.0.3".to_owned() };
        let check = |name: &str, java| fits(&preset(name).unwrap(), java, limits);
        let all = check("high-concurrency", Ok(&java));
        assert_eq!(all.found, "pool-12, java-pool-12, java-virtual-jdk25, tokio-current, kotlin-event-loop");
        assert!(all.advice.unwrap().starts_with("may-12: 10000 tasks are more than this machine holds, up to 8000"));
        let none = check("cpu-bound", Err("no Java; install one"));
        assert!(none.advice.unwrap().contains("kotlin-default: no Java; install one"));
    }

    #[test]
    fn what_needs_a_change_stands_out() {
        let checks = [Check::good("limits", "processors", "2"), Check::bad("java", "Maven", "missing", "install it")];
        insta::assert_snapshot!(render(&checks));
    }
}
