//! What happens beside a measurement: how much of the cores other programs used, and whether a limit held it back.
//!
//! Two readings, before and after; their difference is judged in `judge`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nix::sys::resource::{Usage, UsageWho, getrusage};

use super::cores::Cores;

/// Where the control groups are.
const GROUPS: &str = "/sys/fs/cgroup";

/// The state of the machine at one time.
#[derive(Debug)]
pub(crate) struct Surroundings {
    at: Instant,
    /// [ns] Time of the cores that this process may use.
    cores: Option<CoreTime>,
    /// [ns] CPU time of this process and of the children that have ended.
    own_ns: Option<u64>,
    /// What the control groups say about their limit of CPU time, the innermost first.
    throttled: Vec<Throttled>,
}

/// [ns] What cores did since the machine started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CoreTime {
    /// Ran a program or the kernel.
    pub(crate) busy_ns: u64,
    /// Was kept from this machine by others on the same hardware.
    pub(crate) stolen_ns: u64,
}

/// How often and for how long a control group was held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Throttled {
    /// Periods in which it was.
    pub(crate) periods: u64,
    /// [ns] For how long.
    pub(crate) ns: u64,
}

/// What changed between two states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// [ns] The time between.
    pub(crate) elapsed_ns: u64,
    /// Cores that this process may use.
    pub(crate) cores: u32,
    /// What they did; absent where the kernel does not say.
    pub(crate) of_cores: Option<CoreTime>,
    /// [ns] CPU time of this process and its children.
    pub(crate) own_ns: Option<u64>,
    /// By the control group that was held back most.
    pub(crate) throttled: Throttled,
}

impl Surroundings {
    /// Reads the present state.
    pub(crate) fn now() -> Self {
        let text = fs::read_to_string("/proc/stat").ok();
        let tick_ns = 1_000_000_000 / procfs::ticks_per_second().max(1);
        let own = |who| getrusage(who).ok().map(|usage| cpu_ns(&usage));
        Self {
            at: Instant::now(),
            cores: text.zip(Cores::allowed()).and_then(|(text, cores)| core_time(&text, &cores, tick_ns)),
            own_ns: own(UsageWho::RUSAGE_SELF)
                .zip(own(UsageWho::RUSAGE_CHILDREN))
                .map(|(own, children)| own + children),
            throttled: stats()
                .iter()
                .map(|path| fs::read_to_string(path).map_or_else(|_| Throttled::default(), |text| throttled(&text)))
                .collect(),
        }
    }

    /// What has changed since `before`, on so many cores.
    pub(crate) fn since(&self, before: &Self, cores: u32) -> Change {
        let difference = |now: CoreTime, then: CoreTime| CoreTime {
            busy_ns: now.busy_ns.saturating_sub(then.busy_ns),
            stolen_ns: now.stolen_ns.saturating_sub(then.stolen_ns),
        };
        let throttled = self.throttled.iter().zip(&before.throttled).map(|(now, then)| Throttled {
            periods: now.periods.saturating_sub(then.periods),
            ns: now.ns.saturating_sub(then.ns),
        });
        Change {
            elapsed_ns: self.at.duration_since(before.at).as_nanos() as u64,
            cores,
            of_cores: self.cores.zip(before.cores).map(|(now, then)| difference(now, then)),
            own_ns: self.own_ns.zip(before.own_ns).map(|(now, then)| now.saturating_sub(then)),
            throttled: throttled.max_by_key(|throttled| throttled.periods).unwrap_or_default(),
        }
    }
}

fn cpu_ns(usage: &Usage) -> u64 {
    let ns = |time: nix::sys::time::TimeVal| {
        time.tv_sec().unsigned_abs() * 1_000_000_000 + time.tv_usec().unsigned_abs() * 1_000
    };
    ns(usage.user_time()) + ns(usage.system_time())
}

/// The time of these cores from `/proc/stat`, whose columns are user, nice, system, idle, iowait, irq, softirq, steal.
fn core_time(text: &str, cores: &Cores, tick_ns: u64) -> Option<CoreTime> {
    let mut sum = None;
    for line in text.lines() {
        let Some((number, columns)) = line.strip_prefix("cpu").and_then(|rest| rest.split_once(' ')) else { continue };
        if !number.parse().is_ok_and(|core| cores.contains(core)) {
            continue;
        }
        let ticks: Vec<u64> = columns.split_whitespace().map_while(|column| column.parse().ok()).collect();
        let [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = ticks[..] else { return None };
        let of_all = sum.get_or_insert(CoreTime::default());
        of_all.busy_ns += (user + nice + system + irq + softirq) * tick_ns;
        of_all.stolen_ns += steal * tick_ns;
    }
    sum
}

/// The files that say how often the control groups of this process were held back.
fn stats() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = groups().iter().map(|group| group.join("cpu.stat")).collect();
    // Version 1 of the interface.
    files.push(Path::new(GROUPS).join("cpu/cpu.stat"));
    files
}

/// The control groups of this process: its own, then those around it.
pub(crate) fn groups() -> Vec<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let path = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let root = Path::new(GROUPS);
    root.join(path).ancestors().take_while(|path| path.starts_with(root)).map(Path::to_owned).collect()
}

/// From `cpu.stat` of a control group, of either version.
fn throttled(text: &str) -> Throttled {
    let value = |key: &str| {
        text.lines()
            .find_map(|line| line.split_once(' ').filter(|(name, _)| *name == key)?.1.trim().parse::<u64>().ok())
    };
    Throttled {
        periods: value("nr_throttled").unwrap_or(0),
        ns: value("throttled_usec").map(|us| us * 1_000).or_else(|| value("throttled_time")).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_cores_that_are_allowed_is_read() {
        let text = "cpu  30 0 9 900 1 0 2 3 0 0\ncpu0 10 1 4 400 1 2 1 1 0 0\ncpu1 20 0 5 500 0 0 1 2 0 0\nintr 1\n";
        for (cores, expect) in [
            ("0", Some(CoreTime { busy_ns: 18_000, stolen_ns: 1_000 })),
            ("0-1", Some(CoreTime { busy_ns: 44_000, stolen_ns: 3_000 })),
            ("7", None),
        ] {
            assert_eq!(core_time(text, &cores.parse().unwrap(), 1_000), expect, "{cores}");
        }
        assert_eq!(core_time("cpu0 1 2\n", &"0".parse().unwrap(), 1_000), None);
    }

    #[test]
    fn both_versions_of_control_groups_are_read() {
        for (text, periods, ns) in [
            ("usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 70\n", 3, 70_000),
            ("nr_periods 9\nnr_throttled 2\nthrottled_time 500\n", 2, 500),
            ("usage_usec 5\n", 0, 0),
        ] {
            assert_eq!(throttled(text), Throttled { periods, ns }, "{text}");
        }
    }

    #[test]
    fn own_work_is_seen() {
        let before = Surroundings::now();
        let begin = Instant::now();
        // The kernel counts CPU time as it passes, so the loop ends.
        while Surroundings::now().since(&before, 1).own_ns.unwrap() < 20_000_000 {
            std::hint::black_box(begin.elapsed());
        }
        let change = Surroundings::now().since(&before, 1);
        assert!(change.elapsed_ns > 0 && change.of_cores.is_some(), "{change:?}");
    }
}
