//! The cost profile: every cost of the model as a named parameter with unit, range and meaning.
//!
//! Values and their sources are data in `profiles/`; only names, units, ranges and meanings are code. How a file of
//! them is read is in `file`.

mod file;

use std::collections::BTreeMap;
use std::sync::OnceLock;

pub use self::file::{CostEntry, ProfileFile, ProfileMachine};
use crate::error::{FieldError, ScenarioError};
use crate::near::nearest;
use crate::quantity::{Bytes, Nanos};

include!(concat!(env!("OUT_DIR"), "/profiles.rs"));

/// The unit of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Time in whole nanoseconds.
    Nanos,
    /// Time in whole picoseconds, for costs far below a nanosecond.
    Picos,
    /// Bytes.
    Bytes,
}

/// What a cost is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostInfo {
    /// Its name in profiles.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// The largest value allowed, in the unit.
    pub max: u64,
    /// What it means.
    pub meaning: &'static str,
}

macro_rules! costs {
    ($($name:ident: $unit:ident <= $max:expr, $meaning:literal;)*) => {
        /// Every cost as an integer in its unit.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Costs {
            $(#[doc = $meaning] pub $name: u64,)*
        }

        /// What each cost is, in the order of the struct.
        pub const COSTS: &[CostInfo] = &[
            $(CostInfo { name: stringify!($name), unit: Unit::$unit, max: $max, meaning: $meaning },)*
        ];

        impl Costs {
            /// The cost of this name.
            pub fn get(&self, name: &str) -> Option<u64> {
                match name { $(stringify!($name) => Some(self.$name),)* _ => None }
            }

            fn slot(&mut self, name: &str) -> Option<&mut u64> {
                match name { $(stringify!($name) => Some(&mut self.$name),)* _ => None }
            }
        }
    };
}

/// Ten seconds: no single cost is longer.
const TOP: u64 = 10_000_000_000;
/// One tebibyte: no single size is larger.
const TOP_BYTES: u64 = 1 << 40;

costs! {
    cpu_iteration: Picos <= 1_000_000_000, "[ps] One iteration of the seed's loop, `sum += i * i`.";
    thread_create: Nanos <= TOP, "[ns] Creating an OS thread; paid by the creator (P-5).";
    thread_end: Nanos <= TOP, "[ns] A core's time for the end of an OS thread, where each task has one of its own.";
    thread_end_cold: Nanos <= TOP, "[ns] The same more while there are more threads than cores: what it had has left the caches.";
    thread_wake: Nanos <= TOP, "[ns] From waking a parked thread until it may take a core.";
    context_switch: Nanos <= TOP, "[ns] A core's time for taking up another thread.";
    sleep_lateness_1ms: Nanos <= TOP, "[ns] Lateness of a thread's sleep of 1 ms or less (P-2: never early).";
    sleep_lateness_10ms: Nanos <= TOP, "[ns] Lateness of a thread's sleep of 10 ms; linear in between.";
    sleep_lateness_50ms: Nanos <= TOP, "[ns] Lateness of a thread's sleep of 50 ms or more.";
    sleep_cpu: Nanos <= TOP, "[ns] A core's time for a thread's own wait, its timer and its wake-up, besides the switch.";
    timer_lateness: Nanos <= TOP, "[ns] Lateness of a runtime's timer thread or event loop that parks until a deadline.";
    base_slice: Nanos <= TOP, "[ns] CPU time after which a thread may be preempted when others wait for a core (P-3).";
    tick: Nanos <= TOP, "[ns] The end of a slice is noticed at multiples of this; 0 notices at once (P-3).";
    stack_reserved: Bytes <= TOP_BYTES, "[bytes] Address space reserved for the stack of an OS thread.";
    thread_resident: Bytes <= TOP_BYTES, "[bytes] Resident memory of an OS thread: touched stack, kernel stack, bookkeeping.";
    base_resident: Bytes <= TOP_BYTES, "[bytes] Resident memory of the runtime before the first task.";
    pool_submit: Nanos <= TOP, "[ns] `execute` on the submitter (P-5).";
    pool_unpark: Nanos <= TOP, "[ns] The submitter's cost of waking an idle pool thread.";
    pool_dispatch: Nanos <= TOP, "[ns] A pool thread takes a task and wraps it up.";
    pool_task_bytes: Bytes <= TOP_BYTES, "[bytes] Heap of a task that has not ended, in a pool.";
    vt_spawn: Nanos <= TOP, "[ns] Creating and starting a green thread; serial on the submitter.";
    vt_stack: Nanos <= TOP, "[ns] Submitter: mapping a stack for a green thread where none of the 1,000 kept is left (R-6, `may`).";
    vt_unmap: Nanos <= TOP, "[ns] Carrier: the end of a green thread whose stack is not kept (R-6, `may`).";
    vt_first_run: Nanos <= TOP, "[ns] Carrier: first mount and run up to the task's code.";
    vt_spin: Nanos <= TOP, "[ns] Carrier: how long an idle one looks for work before it parks (`ForkJoinPool.deactivate`).";
    vt_resume: Nanos <= TOP, "[ns] Carrier: unmounting at a park and mounting again, paid at the mount.";
    vt_timer_insert: Nanos <= TOP, "[ns] Putting one deadline into the timer (T-9: by the carrier under a lock; T-10: by the timer thread).";
    vt_timer_fire: Nanos <= TOP, "[ns] Timer thread: one expiry.";
    vt_unblock: Nanos <= TOP, "[ns] Unblocker thread: resubmitting one green thread that may take a monitor (T-14).";
    vt_join: Nanos <= TOP, "[ns] From the last end until the submitter has seen it.";
    vt_parked_bytes: Bytes <= TOP_BYTES, "[bytes] Resident memory of a green thread that has started and not ended.";
    kt_launch: Nanos <= TOP, "[ns] Submitter: creating a coroutine, before its dispatch.";
    kt_dispatch: Nanos <= TOP, "[ns] Handing a coroutine to the dispatcher when no worker is parked (K-3).";
    kt_unpark: Nanos <= TOP, "[ns] What a dispatch costs more when it wakes a parked worker (K-3).";
    kt_io_extra: Nanos <= TOP, "[ns] What a dispatch to `Dispatchers.IO`, or to another limited view, costs more (K-6, K-7).";
    kt_run: Nanos <= TOP, "[ns] Worker: taking one coroutine up to its code.";
    kt_timer_insert: Nanos <= TOP, "[ns] Worker: putting one delay into the timer heap, under its lock (K-8).";
    kt_timer_fire: Nanos <= TOP, "[ns] `DefaultExecutor` thread: one expiry, before its dispatch (K-8).";
    kt_bytes: Bytes <= TOP_BYTES, "[bytes] Resident memory of a coroutine that has been launched and not ended.";
    loop_launch: Nanos <= TOP, "[ns] Event loop: launching one coroutine (K-1).";
    loop_delay: Nanos <= TOP, "[ns] Event loop: running a coroutine up to its delay and putting that into the heap (K-1).";
    loop_resume: Nanos <= TOP, "[ns] Event loop: one expiry and resuming its coroutine (K-1).";
    tokio_spawn: Nanos <= TOP, "[ns] Spawning one task: making it and putting it into a queue (R-1).";
    tokio_unpark: Nanos <= TOP, "[ns] Waking a parked worker, or a thread of `spawn_blocking`.";
    tokio_poll: Nanos <= TOP, "[ns] Worker: taking one task up to its code.";
    tokio_timer_insert: Nanos <= TOP, "[ns] Worker: putting one deadline into the timer wheel, under its lock (R-2).";
    tokio_timer_fire: Nanos <= TOP, "[ns] Worker: one expiry while it polls the driver (R-2).";
    tokio_driver: Nanos <= TOP, "[ns] Worker: one poll of the driver, without expiries (R-2).";
    tokio_bytes: Bytes <= TOP_BYTES, "[bytes] Resident memory of a tokio task that has been spawned and not ended.";
    tokio_base_resident: Bytes <= TOP_BYTES, "[bytes] Resident memory of a program with the tokio runtime before the first task.";
    tokio_thread_resident: Bytes <= TOP_BYTES, "[bytes] Resident memory of a thread of tokio: touched stack, kernel stack, bookkeeping.";
    tokio_stack_reserved: Bytes <= TOP_BYTES, "[bytes] Address space reserved for the stack of a thread of tokio.";
    go_spawn: Nanos <= TOP, "[ns] A `go` statement, by whoever makes it (G-1).";
    go_switch: Nanos <= TOP, "[ns] M: taking a goroutine and switching to it (G-1).";
    go_unpark: Nanos <= TOP, "[ns] What waking a stopped M costs whoever wakes it.";
    go_timer_insert: Nanos <= TOP, "[ns] M: putting one timer into the heap of its P.";
    go_timer_fire: Nanos <= TOP, "[ns] M: one expiry.";
    go_poll_tick: Nanos <= TOP, "[ns] An idle M that polls for the first timer waits whole multiples of this; 0 waits exactly.";
    go_usleep: Nanos <= TOP, "[ns] Lateness of the runtime's own sleeps of microseconds: sysmon's, and a thief's before it takes runnext.";
    go_bytes: Bytes <= TOP_BYTES, "[bytes] Resident memory of a goroutine that has not ended.";
    go_thread_resident: Bytes <= TOP_BYTES, "[bytes] Resident memory of an M: its own stack, kernel stack, bookkeeping.";
    go_resident: Bytes <= TOP_BYTES, "[bytes] Resident memory of a Go program before the first task.";
}

impl Costs {
    /// Lateness of an OS thread's own wait of `duration` ns: linear between the three points, constant outside.
    pub fn sleep_lateness(&self, duration: u64) -> u64 {
        const POINTS: [u64; 3] = [1_000_000, 10_000_000, 50_000_000];
        let values = [self.sleep_lateness_1ms, self.sleep_lateness_10ms, self.sleep_lateness_50ms];
        if duration == 0 {
            return 0;
        }
        for i in 0..2 {
            if duration <= POINTS[i] {
                return values[i];
            }
            if duration < POINTS[i + 1] {
                let (part, whole) = (i128::from(duration - POINTS[i]), i128::from(POINTS[i + 1] - POINTS[i]));
                let rise = i128::from(values[i + 1]) - i128::from(values[i]);
                return (i128::from(values[i]) + rise * part / whole) as u64;
            }
        }
        values[2]
    }
}

/// A profile with every cost resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostProfile {
    /// Its name.
    pub name: String,
    /// A few words for a person.
    pub title: String,
    /// What machine, date or source it stands for.
    pub description: String,
    /// The values.
    pub costs: Costs,
    /// Where each value is from, by the name of the cost.
    pub sources: BTreeMap<String, String>,
    /// The machine that it was measured on, if it was.
    pub machine: Option<ProfileMachine>,
    /// What is other than `costs` on a real runtime, by its name in [`PROFILE_RUNTIMES`], then by that of the cost.
    pub runtimes: BTreeMap<String, BTreeMap<String, CostEntry>>,
}

/// Real runtimes for which a profile can have costs of their own, as `parkbench measure --runtime` names them.
pub const PROFILE_RUNTIMES: [&str; 11] = [
    "pool",
    "thread-per-task",
    "java-pool",
    "java-thread-per-task",
    "may",
    "java-virtual",
    "tokio",
    "tokio-current",
    "kotlin-default",
    "kotlin-io",
    "kotlin-event-loop",
];

impl CostProfile {
    /// The shipped profile of this name.
    pub fn named(name: &str) -> Result<Self, ScenarioError> {
        // Each is read once: every run of every scenario asks for one.
        static READ: [OnceLock<CostProfile>; PROFILES.len()] = [const { OnceLock::new() }; PROFILES.len()];
        let Some(((_, json), read)) = PROFILES.iter().zip(&READ).find(|((known, _), _)| *known == name) else {
            return Err(ScenarioError::UnknownProfile { name: name.to_owned(), allowed: PROFILE_NAMES.join(", ") });
        };
        if let Some(profile) = read.get() {
            return Ok(profile.clone());
        }
        let profile = Self::from_json(json)?;
        Ok(read.get_or_init(|| profile).clone())
    }

    /// No cost at all: what the rules alone give. For test vectors.
    pub fn zero() -> Self {
        Self {
            name: "zero".to_owned(),
            title: "No costs".to_owned(),
            description: "Every cost is zero.".to_owned(),
            costs: Costs::default(),
            sources: BTreeMap::new(),
            machine: None,
            runtimes: BTreeMap::new(),
        }
    }

    /// This profile as the real runtime of this name has it.
    #[must_use]
    pub fn of_runtime(&self, runtime: &str) -> Self {
        let mut profile = self.clone();
        for (name, entry) in self.runtimes.get(runtime).into_iter().flatten() {
            // Was checked when the file was read.
            if profile.set(name, &entry.value).is_ok() {
                profile.sources.insert(name.clone(), entry.source.clone());
            }
        }
        profile
    }

    /// Replaces costs by name; returns what is wrong with the names and values.
    pub fn replace(&mut self, costs: &BTreeMap<String, String>) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for (name, value) in costs {
            match self.set(name, value) {
                Ok(()) => {
                    self.sources.insert(name.clone(), "the scenario".to_owned());
                }
                Err(error) => errors.push(error),
            }
        }
        errors
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), FieldError> {
        let field = format!("costs.{name}");
        let Some((info, slot)) = COSTS.iter().find(|info| info.name == name).zip(self.costs.slot(name)) else {
            let names: Vec<_> = COSTS.iter().map(|info| info.name).collect();
            let value = match nearest(name, names.iter().copied()) {
                Some(near) => format!("an unknown cost, {near:?} is near,"),
                None => "an unknown cost".to_owned(),
            };
            return Err(FieldError::new(field, value, names.join(", ")));
        };
        let value = match info.unit {
            Unit::Nanos => Nanos::parse(text).map(|v| v.0),
            Unit::Picos => Nanos::parse_picos(text),
            Unit::Bytes => Bytes::parse(text).map(|v| v.0),
        };
        match value {
            Ok(value) if value <= info.max => {
                *slot = value;
                Ok(())
            }
            Ok(_) => Err(FieldError::new(field, format!("{text:?}"), "up to 10 s, 1 ms for one iteration, 1024 GiB")),
            Err(error) => Err(FieldError::new(field, format!("{text:?} ({})", error.problem), error.allowed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_profile_names_every_cost_with_a_source() {
        let profile = CostProfile::named("linux-default").unwrap();
        for info in COSTS {
            assert!(profile.sources.contains_key(info.name), "{} has no value", info.name);
        }
        for name in PROFILE_NAMES {
            assert_eq!(CostProfile::named(name).unwrap().name, name);
        }
    }

    #[test]
    fn lateness_is_linear_between_its_points() {
        let costs =
            Costs { sleep_lateness_1ms: 70, sleep_lateness_10ms: 90, sleep_lateness_50ms: 50, ..Costs::default() };
        for (ms, expect) in [(0, 0), (1, 70), (10, 90), (30, 70), (50, 50), (2_000, 50)] {
            assert_eq!(costs.sleep_lateness(ms * 1_000_000), expect, "{ms} ms");
        }
        assert_eq!(costs.sleep_lateness(5_500_000), 80);
    }

    #[test]
    fn a_wrong_cost_is_named() {
        let text = r#"{"version":1,"name":"x","title":"","description":"","base":null,
            "costs":{"vt_span":{"value":"1 us","source":""},"vt_spawn":{"value":"-1 us","source":""}}}"#;
        let error = CostProfile::from_json(text).unwrap_err().to_string();
        assert!(
            error.contains("costs.vt_span") && error.contains("costs.vt_spawn") && error.contains("negative"),
            "{error}"
        );
    }
}
