//! The machine and the build that a measurement belongs to.

use std::collections::BTreeMap;
use std::fs;
use std::thread;

use serde::Serialize;

use super::limits::{Limits, ThreadLimit};
use super::overhead::Harness;
use super::surroundings;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use nix::unistd::getuid;

/// Default of `vm.max_map_count`, where it cannot be read.
const DEFAULT_MAPPINGS: u64 = 65_530;

/// What the kernel does with the processor's clock.
const GOVERNOR: &str = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

/// How parkbench itself was built.
pub(crate) const BUILD: &str = if cfg!(debug_assertions) { "debug" } else { "release" };

/// Where the figures were measured; what cannot be read is absent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Environment {
    /// Version of parkbench.
    pub(crate) parkbench: String,
    /// `release` or `debug`.
    pub(crate) build: &'static str,
    /// Processors that this process may use.
    pub(crate) cores: Option<u32>,
    /// The cores of `--pin`.
    pub(crate) pinned: Option<String>,
    /// What the kernel does with the processor's clock.
    pub(crate) governor: Option<String>,
    /// [threads] That ran or wanted to, on average in the minute before.
    pub(crate) load: Option<f64>,
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
    /// What measuring costs here.
    pub(crate) harness: Harness,
    /// What the system allows.
    pub(crate) limits: SystemLimits,
    /// Why a figure is absent, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) unavailable: BTreeMap<&'static str, String>,
}

/// What the system allows; absent where there is no limit, or where it cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct SystemLimits {
    /// Threads of this user (`RLIMIT_NPROC`).
    pub(crate) user_threads: Option<u64>,
    /// Threads of the control group (`pids.max`).
    pub(crate) group_threads: Option<u64>,
    /// Threads of the machine (`kernel.threads-max`).
    pub(crate) threads: Option<u64>,
    /// The largest number of a thread (`kernel.pid_max`).
    pub(crate) pid_max: Option<u64>,
    /// Memory mappings of a process (`vm.max_map_count`).
    pub(crate) mappings: Option<u64>,
    /// [cores] CPU time by time that the control group may use (`cpu.max`).
    pub(crate) group_cores: Option<f64>,
}

impl SystemLimits {
    fn here(unavailable: &mut BTreeMap<&'static str, String>) -> Self {
        let mut figure =
            |name, found: Result<u64, &str>| found.map_err(|reason| unavailable.insert(name, reason.to_owned())).ok();
        let read = |path: &'static str| whole(path).ok_or("the kernel does not say");
        let user = match getrlimit(Resource::RLIMIT_NPROC) {
            Ok((RLIM_INFINITY, _)) => Err("no limit"),
            Ok((soft, _)) => Ok(soft),
            Err(_) => Err("the kernel does not say"),
        };
        let group = |file: &str| group_file(file).ok_or("no such limit for this control group");
        let group_threads = group("pids.max").and_then(|text| text.trim().parse().map_err(|_| "no limit"));
        let group_cores = group("cpu.max").and_then(|text| parse_cpu_max(&text).ok_or("no limit"));
        Self {
            user_threads: figure("limits.user_threads", user),
            group_threads: figure("limits.group_threads", group_threads),
            threads: figure("limits.threads", read("/proc/sys/kernel/threads-max")),
            pid_max: figure("limits.pid_max", read("/proc/sys/kernel/pid_max")),
            mappings: figure("limits.mappings", read("/proc/sys/vm/max_map_count")),
            group_cores: group_cores.map_err(|reason| unavailable.insert("limits.group_cores", reason.to_owned())).ok(),
        }
    }
}

impl Environment {
    /// Reads what this machine says about itself.
    pub(crate) fn here(cpu_iteration_ps: u64, harness: Harness) -> Self {
        let mut unavailable = BTreeMap::new();
        let governor = fs::read_to_string(GOVERNOR).ok().map(|text| text.trim().to_owned());
        if governor.is_none() {
            unavailable.insert("governor", format!("no {GOVERNOR}: a virtual machine, or a fixed clock"));
        }
        let load = load_percent().map(|percent| percent as f64 / 100.0);
        let limits = SystemLimits::here(&mut unavailable);
        Self {
            parkbench: env!("CARGO_PKG_VERSION").to_owned(),
            build: BUILD,
            cores: cores(),
            pinned: None,
            governor,
            load,
            cpu: cpu_model(),
            memory_bytes: line_value("/proc/meminfo", "MemTotal").and_then(|text| parse_kib(&text)),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: kernel(),
            java: None,
            cpu_iteration_ps,
            cpu_iteration_after_ps: None,
            harness,
            limits,
            unavailable,
        }
    }
}

/// The number in a file of the kernel.
fn whole(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// A file of this process's control group; of the innermost one that has it.
fn group_file(name: &str) -> Option<String> {
    surroundings::groups().iter().find_map(|group| fs::read_to_string(group.join(name)).ok())
}

/// [cores] The quota by the period of `cpu.max`; `None` where there is no limit.
fn parse_cpu_max(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period) = (quota.parse::<u64>().ok()?, period.parse::<u64>().ok()?);
    (period > 0).then(|| quota as f64 / period as f64)
}

/// Model of the processor.
pub(crate) fn cpu_model() -> Option<String> {
    line_value("/proc/cpuinfo", "model name")
}

/// Version of the kernel.
pub(crate) fn kernel() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned())
}

/// What this machine allows.
pub(crate) fn limits() -> Limits {
    let mappings = whole("/proc/sys/vm/max_map_count");
    Limits {
        cores: cores().unwrap_or(1),
        mappings: mappings.unwrap_or(DEFAULT_MAPPINGS),
        most_threads: thread_limits().into_iter().min(),
    }
}

/// Every limit on threads that holds for this process (P-6).
fn thread_limits() -> Vec<ThreadLimit> {
    // No limit of a user holds for root.
    let user = getrlimit(Resource::RLIMIT_NPROC).ok().map(|(soft, _)| soft);
    let user = user.filter(|&soft| soft != RLIM_INFINITY && !getuid().is_root());
    let groups = surroundings::groups();
    let of_group = groups.iter().filter_map(|group| whole(group.join("pids.max").to_str()?)).min();
    [
        (user, "RLIMIT_NPROC (ulimit -u)"),
        (of_group, "pids.max of the control group"),
        (whole("/proc/sys/kernel/threads-max"), "kernel.threads-max"),
        (whole("/proc/sys/kernel/pid_max"), "kernel.pid_max"),
    ]
    .into_iter()
    .filter_map(|(threads, name)| Some(ThreadLimit { threads: threads?, name }))
    .collect()
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
    fn limits_of_control_groups_are_read() {
        for (text, expect) in [
            ("max 100000\n", None),
            ("150000 100000\n", Some(1.5)),
            ("1 0", None),
            ("", None),
            ("50000 100000", Some(0.5)),
        ] {
            assert_eq!(parse_cpu_max(text), expect, "{text}");
        }
    }

    #[test]
    fn an_absent_limit_has_a_reason() {
        let mut unavailable = BTreeMap::new();
        let limits = serde_json::to_value(SystemLimits::here(&mut unavailable)).unwrap();
        for (name, value) in limits.as_object().unwrap() {
            assert_eq!(value.is_null(), unavailable.contains_key(format!("limits.{name}").as_str()), "{name}");
        }
    }

    #[test]
    fn sizes_of_proc_are_read() {
        for (text, expect) in [("24682648 kB", Some(24_682_648 * 1_024)), ("12", None), ("x kB", None)] {
            assert_eq!(parse_kib(text), expect, "{text}");
        }
    }
}
