//! The processor's own counters: instructions, cycles and cache misses of all threads of a run.
//!
//! To count costs something at every switch between threads, so a run that is counted is one of its own, whose times do
//! not count. What the machine does not allow is absent with its reason, never zero.

use std::fs;
use std::io;

use perf_event::events::{Event, Hardware};
use perf_event::{Builder, Counter, ReadFormat};
use serde::{Deserialize, Serialize};

use super::probe::Reading;

/// Where the kernel says who may count.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// What the processor has counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counters {
    /// Whether the kernel's part is in the figures.
    pub(crate) with_kernel: bool,
    /// Instructions that were carried out.
    pub(crate) instructions: Reading,
    /// Cycles of the cores.
    pub(crate) cycles: Reading,
    /// Accesses to memory that no cache could answer.
    pub(crate) cache_misses: Reading,
}

/// Counters that count.
#[derive(Debug)]
pub(crate) struct Counting {
    with_kernel: bool,
    /// By event, its counter on each thread.
    events: [Result<Vec<Counter>, String>; 3],
}

/// Whether any of the counters can be had here, or why not.
pub(crate) fn allowed() -> Result<(), String> {
    let Counting { events, .. } = Counting::of(&[0]);
    match events {
        [Err(reason), Err(_), Err(_)] => Err(reason),
        _ => Ok(()),
    }
}

impl Counting {
    /// Counts from now on what this thread does, and every thread that it will start.
    pub(crate) fn here() -> Self {
        Self::of(&[0])
    }

    /// Counts from now on what this process does, with every thread that it will start.
    pub(crate) fn process(process: u32) -> io::Result<Self> {
        let threads = fs::read_dir(format!("/proc/{process}/task"))?;
        let number = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
        Ok(Self::of(&threads.filter_map(number).collect::<Vec<i32>>()))
    }

    fn of(threads: &[i32]) -> Self {
        let events = [Hardware::INSTRUCTIONS, Hardware::CPU_CYCLES, Hardware::CACHE_MISSES];
        let with_kernel = events.iter().any(|event| open(event, threads, true).is_ok());
        Self {
            with_kernel,
            events: events.map(|event| open(&event, threads, with_kernel).map_err(|error| refusal(&error))),
        }
    }

    /// What was counted.
    pub(crate) fn finish(self) -> Counters {
        let [instructions, cycles, cache_misses] =
            self.events.map(|event| event.and_then(|counters| read(counters).map_err(|error| refusal(&error))));
        Counters { with_kernel: self.with_kernel, instructions, cycles, cache_misses }
    }
}

/// A counter of this event on each of the threads.
fn open<E: Event + Clone>(event: &E, threads: &[i32], with_kernel: bool) -> io::Result<Vec<Counter>> {
    let mut counters = Vec::with_capacity(threads.len());
    for &thread in threads {
        let mut builder = Builder::new(event.clone());
        builder
            .observe_pid(thread)
            .any_cpu()
            .inherit(true)
            .exclude_kernel(!with_kernel)
            .read_format(ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING)
            .enabled(true);
        match builder.build() {
            Ok(counter) => counters.push(counter),
            // A thread that has just ended counts no more.
            Err(error) if error.raw_os_error() == Some(nix::errno::Errno::ESRCH as i32) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(counters)
}

/// The sum over all threads.
///
/// Where the processor has fewer counters than are asked for, they take turns, and each count is extended to the whole
/// time.
fn read(counters: Vec<Counter>) -> io::Result<u64> {
    let mut sum = 0_u64;
    for mut counter in counters {
        let data = counter.read_full()?;
        let (enabled, running) = (data.time_enabled().unwrap_or_default(), data.time_running().unwrap_or_default());
        sum = sum.saturating_add(extended(data.count(), enabled.as_nanos(), running.as_nanos()));
    }
    Ok(sum)
}

fn extended(count: u64, enabled_ns: u128, running_ns: u128) -> u64 {
    if running_ns == 0 || running_ns >= enabled_ns {
        return count;
    }
    u64::try_from(u128::from(count) * enabled_ns / running_ns).unwrap_or(u64::MAX)
}

/// Why there is no counter, and what can be done.
fn refusal(error: &io::Error) -> String {
    use nix::errno::Errno;
    let paranoid = fs::read_to_string(PARANOID).ok();
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT | Errno::ENODEV | Errno::EOPNOTSUPP) => {
            "the processor shows no such counter here, as in many virtual machines".to_owned()
        }
        Some(Errno::EACCES | Errno::EPERM) => {
            let level = paranoid.map_or_else(String::new, |level| format!(" is {} and", level.trim()));
            format!(
                "kernel.perf_event_paranoid{level} does not allow it: sysctl -w kernel.perf_event_paranoid=2, or a container that may call perf_event_open"
            )
        }
        Some(Errno::ENOSYS) => {
            "the kernel has no perf_event_open, or the container does not let it be called".to_owned()
        }
        _ => format!("perf_event_open: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::thread;

    use perf_event::events::Software;

    use super::*;

    /// Where even the kernel's own counters cannot be had, the reason must say so.
    fn page_faults() -> Option<Vec<Counter>> {
        open(&Software::PAGE_FAULTS, &[0], false).map_err(|error| assert!(!refusal(&error).is_empty())).ok()
    }

    #[test]
    fn threads_that_are_started_are_counted_too() {
        let touch = || drop(black_box(vec![1_u8; 16 << 20]));
        let Some(counters) = page_faults() else { return };
        thread::spawn(touch).join().unwrap();
        let other = read(counters).unwrap();
        // 16 MiB are 4,096 pages of 4 KiB, or 8 of 2 MiB.
        assert!(other >= 8, "{other}");
    }

    #[test]
    fn what_could_not_be_counted_has_a_reason() {
        let counters = Counting::here().finish();
        let readings = [&counters.instructions, &counters.cycles, &counters.cache_misses];
        assert_eq!(allowed().is_ok(), readings.iter().any(|reading| reading.is_ok()));
        for reading in readings {
            match reading {
                Ok(count) => assert!(*count > 0),
                Err(reason) => assert!(reason.contains("counter") || reason.contains("perf_event"), "{reason}"),
            }
        }
    }

    #[test]
    fn counters_that_took_turns_are_extended() {
        for (count, enabled, running, expect) in
            [(10, 5, 5, 10), (10, 9, 3, 30), (10, 5, 0, 10), (u64::MAX, 9, 1, u64::MAX)]
        {
            assert_eq!(extended(count, enabled, running), expect);
        }
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        for (number, words) in
            [(2, "virtual machines"), (13, "perf_event_paranoid"), (38, "container"), (5, "perf_event_open: ")]
        {
            assert!(refusal(&io::Error::from_raw_os_error(number)).contains(words));
        }
    }
}
