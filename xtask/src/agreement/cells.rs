//! What is compared: the seeds' workloads by runtimes, and how often each is repeated. Nothing is run here.

use super::Options;

/// [ms] Repetitions that take so long are few, and nothing warms up.
const LONG_MS: u32 = 2_000;
/// [ms] ... and at most one in a turn, in two turns.
const VERY_LONG_MS: u32 = 8_000;

/// One workload of the seeds; the presets have the same steps.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Workload {
    /// The preset's name.
    pub(super) name: &'static str,
    /// The step of each task, as the preset has it; the last is none of a preset.
    pub(super) steps: &'static str,
    /// What the independent programs call it.
    pub(super) argument: &'static str,
    /// [ms] How long each task waits, about.
    wait_ms: u32,
    /// Tasks for a pool of two threads, which would need minutes for 10,000.
    tasks_of_two: u32,
}

impl Workload {
    /// Whether it is one of waits.
    pub(super) const fn waits(&self) -> bool {
        self.wait_ms > 0
    }
}

pub(super) const WORKLOADS: [Workload; 5] = [
    Workload { name: "io-bound", steps: r#"[{ io = "50 ms" }]"#, argument: "io", wait_ms: 50, tasks_of_two: 100 },
    Workload {
        name: "cpu-bound",
        steps: "[{ cpu = { iterations = 100000 } }]",
        argument: "cpu",
        wait_ms: 0,
        tasks_of_two: TASKS,
    },
    Workload {
        name: "high-concurrency",
        steps: r#"[{ io = "1 ms" }]"#,
        argument: "high",
        wait_ms: 1,
        tasks_of_two: 1_000,
    },
    Workload {
        name: "llm-agents",
        steps: r#"[{ io = { uniform = ["2 s", "2.2 s"] } }]"#,
        argument: "agents",
        wait_ms: 2_100,
        tasks_of_two: 20,
    },
    // What it costs to start and to join tasks that do nothing.
    Workload {
        name: "spawn-and-join",
        steps: "[{ cpu = { iterations = 1 } }]",
        argument: "spawn",
        wait_ms: 0,
        tasks_of_two: TASKS,
    },
];

/// Tasks of the seeds.
const TASKS: u32 = 10_000;

/// A runtime that an independent program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runtime {
    Pool,
    JavaPool,
    JavaThreadPerTask,
    JavaVirtual,
    KotlinDefault,
    KotlinIo,
    KotlinEventLoop,
    Tokio,
    TokioCurrent,
}

pub(super) const RUNTIMES: [Runtime; 9] = [
    Runtime::Pool,
    Runtime::JavaPool,
    Runtime::JavaThreadPerTask,
    Runtime::JavaVirtual,
    Runtime::KotlinDefault,
    Runtime::KotlinIo,
    Runtime::KotlinEventLoop,
    Runtime::Tokio,
    Runtime::TokioCurrent,
];

impl Runtime {
    /// The word of `parkbench measure --runtime`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::JavaPool => "java-pool",
            Self::JavaThreadPerTask => "java-thread-per-task",
            Self::JavaVirtual => "java-virtual",
            Self::KotlinDefault => "kotlin-default",
            Self::KotlinIo => "kotlin-io",
            Self::KotlinEventLoop => "kotlin-event-loop",
            Self::Tokio => "tokio",
            Self::TokioCurrent => "tokio-current",
        }
    }

    /// Whether it has a size that the cells differ in.
    const fn is_sized(self) -> bool {
        matches!(self, Self::Pool | Self::JavaPool)
    }

    /// Whether the program has this workload.
    fn has(self, workload: &Workload) -> bool {
        workload.argument != "spawn" || matches!(self, Self::Tokio | Self::TokioCurrent)
    }
}

/// One line of the table.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) workload: &'static Workload,
    pub(super) runtime: Runtime,
    pub(super) cores: u32,
    /// Threads of a pool; the cores for what is none.
    pub(super) threads: u32,
    pub(super) tasks: u32,
}

/// Every cell that the options ask for; a pool twice, as large as there are cores and of 500.
pub(super) fn cells(cores: u32, options: &Options) -> Vec<Cell> {
    let wanted = |names: &[String], name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let mut cells = Vec::new();
    for workload in WORKLOADS.iter().filter(|workload| wanted(&options.only, workload.name)) {
        for runtime in RUNTIMES.into_iter().filter(|runtime| runtime.has(workload)) {
            if !wanted(&options.runtimes, runtime.name()) {
                continue;
            }
            let sizes: &[u32] = if runtime.is_sized() { &[cores, 500] } else { &[cores] };
            for &threads in sizes {
                let is_small = runtime.is_sized() && threads == cores;
                let tasks = if is_small { (workload.tasks_of_two * cores / 2).clamp(1, TASKS) } else { TASKS };
                cells.push(Cell { workload, runtime, cores, threads, tasks });
            }
        }
    }
    cells
}

impl Cell {
    /// The runtime with the size of a pool.
    pub(super) fn variant(&self) -> String {
        match self.runtime {
            sized if sized.is_sized() => format!("{}-{}", sized.name(), self.threads),
            other => other.name().to_owned(),
        }
    }

    /// [ms] About what one repetition waits.
    fn waits_ms(&self) -> u32 {
        let rounds = if self.runtime.is_sized() { self.tasks.div_ceil(self.threads) } else { 1 };
        rounds * self.workload.wait_ms
    }

    pub(super) fn is_long(&self) -> bool {
        self.waits_ms() >= LONG_MS
    }

    /// Repetitions, where so many are wanted.
    pub(super) fn reps(&self, wanted: u32) -> u32 {
        wanted.min(match self.waits_ms() {
            VERY_LONG_MS.. => 2,
            LONG_MS.. => 4,
            _ => u32::MAX,
        })
    }

    /// A scenario of this workload at the cores of this machine, with one run for this runtime.
    pub(super) fn scenario(&self) -> String {
        let run = match self.runtime {
            Runtime::Pool | Runtime::JavaPool => format!("{{ model = \"thread-pool\", size = {} }}", self.threads),
            Runtime::JavaThreadPerTask => "{ model = \"thread-pool\", pool = \"thread-per-task\" }".to_owned(),
            Runtime::JavaVirtual => "{ model = \"green-threads\" }".to_owned(),
            Runtime::KotlinDefault => "{ model = \"coroutines\" }".to_owned(),
            Runtime::KotlinIo => "{ model = \"coroutines\", dispatcher = \"io\" }".to_owned(),
            Runtime::KotlinEventLoop => "{ model = \"coroutines\", dispatcher = \"event-loop\" }".to_owned(),
            Runtime::Tokio => "{ model = \"coroutines\", runtime = \"tokio\" }".to_owned(),
            Runtime::TokioCurrent => {
                "{ model = \"coroutines\", runtime = \"tokio\", flavor = \"current-thread\" }".to_owned()
            }
        };
        format!(
            "version = 1\nname = \"{}\"\nseed = 1\nmachine = {{ cores = {} }}\ntasks = [{{ count = {}, steps = {} }}]\n\
             runs = [{run}]\n",
            self.workload.name, self.cores, self.tasks, self.workload.steps
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_are_those_of_the_presets() {
        for (workload, preset) in WORKLOADS.iter().zip([
            include_str!("../../../crates/engine/presets/io-bound.toml"),
            include_str!("../../../crates/engine/presets/cpu-bound.toml"),
            include_str!("../../../crates/engine/presets/high-concurrency.toml"),
            include_str!("../../../crates/engine/presets/llm-agents.toml"),
        ]) {
            assert!(preset.contains(&format!("\nname = \"{}\"\n", workload.name)), "{}", workload.name);
            assert!(preset.contains(&format!("\nsteps = {}\n", workload.steps)), "{}", workload.name);
        }
    }

    #[test]
    fn a_cell_is_repeated_as_often_as_its_length_allows() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let options = Options {
            only: names(&["high-concurrency", "llm-agents"]),
            runtimes: names(&["java-pool", "tokio"]),
            reps: None,
        };
        let cells = cells(2, &options);
        let got: Vec<_> =
            cells.iter().map(|cell| (cell.variant(), cell.tasks, cell.reps(20), cell.is_long())).collect();
        let expect = [
            ("java-pool-2", 1_000, 20, false),
            ("java-pool-500", 10_000, 20, false),
            ("tokio", 10_000, 20, false),
            ("java-pool-2", 20, 2, true),
            ("java-pool-500", 10_000, 2, true),
            ("tokio", 10_000, 4, true),
        ];
        assert_eq!(got, expect.map(|(name, tasks, reps, long)| (name.to_owned(), tasks, reps, long)));
    }
}
