//! The machine and the build that a measurement belongs to.

use std::fs;
use std::thread;

use serde::Serialize;

use super::limits::Limits;

/// Default of `vm.max_map_count`, where it cannot be read.
const DEFAULT_MAPPINGS: u64 = 65_530;

/// Where the figures were measured; what cannot be read is absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Environment {
    /// Version of parkbench.
    pub(crate) parkbench: String,
    /// `release` or `debug`.
    pub(crate) build: &'static str,
    /// Processors that this process may use.
    pub(crate) cores: Option<u32>,
    /// Model of the processor.
    pub(crate) cpu: Option<String>,
    /// [bytes] Memory of the machine.
    pub(crate) memory_bytes: Option<u64>,
    /// Operating system and architecture.
    pub(crate) platform: String,
    /// Version of the kernel.
    pub(crate) kernel: Option<String>,
    /// The Java that runtimes of the JVM ran on.
    pub(crate) java: Option<String>,
    /// [ps] One iteration of `sum += i * i` before the measurement.
    pub(crate) cpu_iteration_ps: u64,
    /// [ps] The same after it.
    pub(crate) cpu_iteration_after_ps: Option<u64>,
}

impl Environment {
    /// Reads what this machine says about itself.
    pub(crate) fn here(cpu_iteration_ps: u64) -> Self {
        Self {
            parkbench: env!("CARGO_PKG_VERSION").to_owned(),
            build: if cfg!(debug_assertions) { "debug" } else { "release" },
            cores: cores(),
            cpu: line_value("/proc/cpuinfo", "model name"),
            memory_bytes: line_value("/proc/meminfo", "MemTotal").and_then(|text| parse_kib(&text)),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned()),
            java: None,
            cpu_iteration_ps,
            cpu_iteration_after_ps: None,
        }
    }
}

/// What this machine allows.
pub(crate) fn limits() -> Limits {
    let mappings = fs::read_to_string("/proc/sys/vm/max_map_count").ok().and_then(|text| text.trim().parse().ok());
    Limits { cores: cores().unwrap_or(1), mappings: mappings.unwrap_or(DEFAULT_MAPPINGS) }
}

/// [1/100 threads] Mean number of threads that ran or wanted to in the last minute.
pub(crate) fn load_percent() -> Option<u64> {
    parse_load(&fs::read_to_string("/proc/loadavg").ok()?)
}

fn parse_load(text: &str) -> Option<u64> {
    let (whole, hundredths) = text.split_whitespace().next()?.split_once('.')?;
    whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(hundredths.parse().ok()?)
}

fn cores() -> Option<u32> {
    thread::available_parallelism().ok().map(|n| n.get() as u32)
}

/// The value after the colon of the first line that starts with this key.
fn line_value(path: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn parse_kib(text: &str) -> Option<u64> {
    text.strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_of_proc_are_read() {
        for (text, expect) in [("0.52 0.58 0.59 1/389 12345\n", Some(52)), ("12.07 1 1", Some(1_207)), ("", None)] {
            assert_eq!(parse_load(text), expect, "{text}");
        }
    }

    #[test]
    fn sizes_of_proc_are_read() {
        for (text, expect) in [("24682648 kB", Some(24_682_648 * 1_024)), ("12", None), ("x kB", None)] {
            assert_eq!(parse_kib(text), expect, "{text}");
        }
    }
}
