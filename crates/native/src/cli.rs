//! The command line: what can be written, and its help; nothing is run from here.

mod monitor;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use parkbench_engine::{MAX_TASKS, Model};

use crate::measure::{Cores, TraceFormat, Wanted};
pub(crate) use monitor::MonitorArgs;

/// How tasks run on a thread pool, on green threads and as coroutines: simulated, and measured here
#[derive(Debug, Parser)]
#[command(name = "parkbench", version, max_term_width = 100, after_help = EXAMPLES, after_long_help = AFTER_LONG)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  parkbench presets                              What can be run
  parkbench simulate io-bound                    10,000 waits of 50 ms under three models, simulated
  parkbench explain io-bound --model coroutines  Why it takes that long: bounds, rules, costs
  parkbench doctor                               What can be measured here, and what to change
  parkbench measure io-bound --tasks 1000        The same workload on real runtimes, smaller
  parkbench simulate ./mine.toml --format json   Your own scenario, for another program

Run `parkbench simulate --help` for the formats and `parkbench --help` for scenario files.";

const AFTER_LONG: &str = "\
Examples:
  parkbench presets                              What can be run
  parkbench simulate io-bound                    10,000 waits of 50 ms under three models, simulated
  parkbench explain io-bound --model coroutines  Why it takes that long: bounds, rules, costs
  parkbench doctor                               What can be measured here, and what to change
  parkbench measure io-bound --tasks 1000        The same workload on real runtimes, smaller
  parkbench simulate ./mine.toml --format json   Your own scenario, for another program
  parkbench simulate - < mine.json               A scenario from standard input

Scenario files:
  A scenario is TOML (name ends in .toml) or JSON (name ends in .json).
  Under any other name, and on standard input, JSON is told by its first character, {.
  An argument without a slash or a dot is the name of a preset; ./name is a file of that name.

  version = 1
  name = \"two-calls\"
  machine = { cores = 4 }
  tasks = [{ count = 10000, steps = [{ io = \"20 ms\" }, { cpu = \"30 us\" }, { io = \"20 ms\" }] }]
  runs = [{ model = \"thread-pool\", size = 200 }, { model = \"coroutines\" }]

Exit codes:
  0  The command did what was asked; a simulated run that cannot finish, for a deadlock or a livelock, is an answer too
  1  It could not be done here, such as a thread that could not be created, or was interrupted
  2  The command line or the scenario is wrong: the message says where, and what is allowed";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Simulate a scenario and print what each model does with it
    ///
    /// The result depends on the scenario and the seed alone: the same digest means the same schedule, event by event.
    /// Where the scenario holds published figures, each is printed beside the simulated one with the difference.
    Simulate(SimulateArgs),
    /// Run a scenario on real runtimes on this machine and print what they did
    ///
    /// Thread pools run on OS threads, green threads on may, coroutines on tokio; and each on the JVM, where there is a
    /// Java 21 or newer and, once, Maven: platform threads, virtual threads, Kotlin's dispatchers.
    /// Waits are real sleeps and CPU steps are real work, so a run takes as long as it says: the pool of 12 threads in
    /// io-bound needs 42 s for each of 20 repetitions. Use --tasks and --reps for less.
    /// What cannot be measured here is listed with the reason, and the rest is measured; an interrupt (Ctrl-C) keeps the
    /// repetitions that are finished.
    Measure(MeasureArgs),
    /// Measure what the simulation's costs are on this machine, and write them as a profile
    ///
    /// Small workloads run on each real runtime, as `measure` runs them, and the costs are solved so that their
    /// simulation takes as long. `compare` uses the profile, and so does `simulate --profile`.
    /// That takes a few minutes, or less than half a minute with --quick.
    Calibrate(CalibrateArgs),
    /// Simulate a scenario with this machine's costs and measure it, side by side, with the error of the simulation
    ///
    /// The runs are the scenario's with the cores of this machine; costs that the scenario itself sets are left out.
    /// Without --profile the costs are those of the file that `calibrate` has written here, else the defaults.
    Compare(CompareArgs),
    /// Say what this machine allows, what is installed, which presets it can measure, and what to change
    Doctor(DoctorArgs),
    /// Say in words what made the result: what bounds the total, the rules, the costs and their sources
    ///
    /// Simulates each run, and again without each of its costs, so that what a cost has to do with the total is found and
    /// not guessed.
    Explain(ExplainArgs),
    /// List the scenarios that come with parkbench
    ///
    /// Each with its tasks, its machine, the runs that it compares, and what to see in them.
    Presets(PresetsArgs),
    /// Print the JSON Schema of a file, for editors and other programs
    ///
    /// An editor that knows it completes names, shows what each field means and marks most mistakes while you type.
    /// parkbench itself checks more than a schema can say, such as locks that are not given back.
    #[command(after_long_help = SCHEMA_HELP)]
    Schema(SchemaArgs),
    /// Measures one repetition: a job as JSON on standard input, its outcome as JSON on standard output.
    #[command(hide = true)]
    ExecOne,
}

/// Options of `simulate`.
#[derive(Args, Debug)]
#[command(after_long_help = FORMATS)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// Costs instead of the scenario's: a profile's name, or a file of `parkbench calibrate` such as ./profile.toml
    #[arg(long, value_name = "PROFILE|FILE")]
    pub(crate) profile: Option<String>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Keep only the figures, and no record of each event, so that a run of any length fits into memory
    ///
    /// Starvation at the workers is then not looked for, and the result says how many records were dropped.
    #[arg(long)]
    pub(crate) aggregate: bool,
    /// Events per step of the simulation; no result depends on it.
    #[arg(long, value_name = "N", default_value_t = 1 << 20, hide = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) step_budget: u64,
}

/// Options of `measure`.
#[derive(Args, Debug)]
#[command(after_long_help = MEASURE_FORMATS)]
pub(crate) struct MeasureArgs {
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// How often each run is repeated, 1 to 1000
    ///
    /// The printed figures are those of the repetition with the median total time, then the statistics of all.
    /// Fewer than 6 have no 95 % intervals.
    #[arg(long, value_name = "N", default_value = "20", value_parser = parse_reps, allow_negative_numbers = true)]
    pub(crate) reps: u32,
    /// Unmeasured runs of each runtime before the measured ones, 0 to 1000; without it 1, or 3 on a JVM
    ///
    /// On a JVM it is 1 as well where a run takes more than 2 s. For its compiler a JVM also runs a part of the tasks up to
    /// 20 times before them.
    #[arg(long, value_name = "N", value_parser = parse_warm_up, allow_negative_numbers = true)]
    pub(crate) warm_up: Option<u32>,
    /// Measure on these cores only, by their numbers from 0: 0,2 or 0-3 or 0-7:2, as taskset has it
    ///
    /// Every process of the measurement is held to them, the JVM's too. Without it they may use every core that parkbench
    /// may.
    #[arg(long, value_name = "CORES", allow_hyphen_values = true)]
    pub(crate) pin: Option<Cores>,
    /// Only these real runtimes, separated by commas, such as pool,tokio
    ///
    /// Without this option each run of the scenario is measured on every runtime that can stand for it: a pool on a pool,
    /// coroutines of Kotlin on Kotlin and on tokio. A runtime that is named here is measured in any case.
    #[arg(long, value_name = "RUNTIME", value_enum, value_delimiter = ',')]
    pub(crate) runtime: Vec<Wanted>,
    #[allow(clippy::doc_markdown, reason = "the text is shown as it is")]
    /// Home of the Java to measure with, 21 or newer; without it that of JAVA_HOME, of PATH, or the newest in the usual
    /// places
    #[arg(long, value_name = "PATH")]
    pub(crate) java: Option<PathBuf>,
    /// Also trace one more repetition of each run into this file: start, waits and end of every task with its thread
    ///
    /// The page of Parkbench opens the file. Its times are in none of the other figures, for to trace costs time, which is
    /// printed.
    #[arg(long, value_name = "FILE", conflicts_with = "watch")]
    pub(crate) trace: Option<PathBuf>,
    /// What the trace is for
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t, requires = "trace")]
    pub(crate) trace_format: TraceFormat,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = MeasureFormat::Table)]
    pub(crate) format: MeasureFormat,
    /// Also write result.json, runs.csv, report.md and its charts into this directory, which must be new or empty
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) monitor: MonitorArgs,
}

/// How a measurement is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeasureFormat {
    Table,
    Json,
    Csv,
    Markdown,
}

/// Options of `calibrate`.
#[derive(Args, Debug)]
pub(crate) struct CalibrateArgs {
    /// Only these real runtimes, separated by commas
    #[arg(long, value_name = "RUNTIME", value_enum, value_delimiter = ',')]
    pub(crate) runtime: Vec<Wanted>,
    #[allow(clippy::doc_markdown, reason = "the text is shown as it is")]
    /// The file to write; without it profile.toml in the folder PARKBENCH_CACHE, else ~/.cache/parkbench
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// In less than half a minute: fewer probes and repetitions, and of the JVM only three runtimes
    #[arg(long)]
    pub(crate) quick: bool,
    #[allow(clippy::doc_markdown, reason = "the text is shown as it is")]
    /// Home of the Java to measure with, 21 or newer; without it that of JAVA_HOME, of PATH, or the newest in the usual
    /// places
    #[arg(long, value_name = "PATH")]
    pub(crate) java: Option<PathBuf>,
}

/// Options of `compare`.
#[derive(Args, Debug)]
#[command(after_long_help = FORMATS)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// More scenarios: all of them in turn, then what the errors of each runtime come to
    #[arg(value_name = "PRESET|FILE")]
    pub(crate) more: Vec<String>,
    /// Costs to simulate with: a file of `parkbench calibrate` such as ./profile.toml, or a profile's name
    #[arg(long, value_name = "PROFILE|FILE")]
    pub(crate) profile: Option<String>,
    /// How often each run is repeated, 1 to 1000; the median is compared
    #[arg(long, value_name = "N", default_value = "5", value_parser = parse_reps, allow_negative_numbers = true)]
    pub(crate) reps: u32,
    /// Only these real runtimes, separated by commas, such as pool,tokio
    ///
    /// Without this option each run of the scenario is measured on every runtime that can stand for it: a pool on a pool,
    /// coroutines of Kotlin on Kotlin and on tokio. A runtime that is named here is measured in any case.
    #[arg(long, value_name = "RUNTIME", value_enum, value_delimiter = ',')]
    pub(crate) runtime: Vec<Wanted>,
    #[allow(clippy::doc_markdown, reason = "the text is shown as it is")]
    /// Home of the Java to measure with, 21 or newer; without it that of JAVA_HOME, of PATH, or the newest in the usual
    /// places
    #[arg(long, value_name = "PATH")]
    pub(crate) java: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Options of `doctor`.
#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = DoctorFormat::Text)]
    pub(crate) format: DoctorFormat,
}

/// How the checks of `doctor` are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DoctorFormat {
    /// For people
    Text,
    /// For programs: a list of objects with section, name, found, good and advice
    Json,
}

/// Options of `explain`.
#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// Costs instead of the scenario's: a profile's name, or a file of `parkbench calibrate` such as ./profile.toml
    #[arg(long, value_name = "PROFILE|FILE")]
    pub(crate) profile: Option<String>,
}

/// Options of `presets`.
#[derive(Args, Debug)]
pub(crate) struct PresetsArgs {
    /// How to print the list
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub(crate) format: ListFormat,
}

/// How a list is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    Table,
    Json,
}

/// Options of `schema`.
#[derive(Args, Debug)]
pub(crate) struct SchemaArgs {
    /// Which kind of file: a scenario, or a profile of costs
    #[arg(value_enum)]
    pub(crate) file: FileKind,
}

/// A file that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileKind {
    Scenario,
    Profile,
}

const SCHEMA_HELP: &str = "\
Example:
  parkbench schema scenario > scenario.schema.json

  Then begin a TOML scenario with this line, which taplo and the editors that use it understand:
  #:schema ./scenario.schema.json";

const FORMATS: &str = "\
Formats:
  table  For people: aligned columns, 100 wide at most
  json   For programs: version, scenario, runs; docs/results.md says what each field is
  csv    For spreadsheets: one row per run, the unit at the end of each column's name";

const MEASURE_FORMATS: &str = "\
Formats:
  table     For people: aligned columns, 100 wide at most
  json      For programs: docs/results.md says what each field is
  csv       For spreadsheets: one row per runtime, the unit at the end of each column's name
  markdown  A report; --out writes it with its charts

What is printed is printed as well where --out cannot be written.";

/// What is to be run.
#[derive(Args, Clone, Debug)]
pub(crate) struct Choice {
    /// A preset (`parkbench presets` lists them), a scenario file (.toml or .json), or - for standard input
    #[arg(value_name = "PRESET|FILE")]
    pub(crate) scenario: String,
    /// Only the runs of this model
    #[arg(long, value_enum)]
    pub(crate) model: Option<ModelArg>,
    /// Number of tasks instead of the scenario's, 1 to 1000000
    #[arg(long, value_name = "N", value_parser = parse_tasks, allow_negative_numbers = true)]
    pub(crate) tasks: Option<u64>,
    /// Seed of every random draw instead of the scenario's, a whole number from 0
    #[arg(long, value_name = "N", value_parser = parse_seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
}

/// [`Model`] as clap reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelArg {
    ThreadPool,
    GreenThreads,
    Coroutines,
}

impl From<ModelArg> for Model {
    fn from(arg: ModelArg) -> Self {
        match arg {
            ModelArg::ThreadPool => Self::ThreadPool,
            ModelArg::GreenThreads => Self::GreenThreads,
            ModelArg::Coroutines => Self::Coroutines,
        }
    }
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Json,
    Csv,
}

fn parse_tasks(text: &str) -> Result<u64, String> {
    parse_whole(text, 1, MAX_TASKS)
}

fn parse_reps(text: &str) -> Result<u32, String> {
    parse_whole(text, 1, 1_000).map(|n| n as u32)
}

fn parse_warm_up(text: &str) -> Result<u32, String> {
    parse_whole(text, 0, 1_000).map(|n| n as u32)
}

fn parse_seed(text: &str) -> Result<u64, String> {
    parse_whole(text, 0, u64::MAX)
}

fn parse_whole(text: &str, least: u64, most: u64) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(n) if (least..=most).contains(&n) => Ok(n),
        _ => Err(format!("allowed: a whole number from {least} to {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }

    #[test]
    fn every_model_can_be_named() {
        let values: Vec<_> = ModelArg::value_variants().iter().map(|arg| arg.to_possible_value().unwrap()).collect();
        let names: Vec<_> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
        assert_eq!(names, Model::ALL.map(Model::as_str));
        for (arg, model) in ModelArg::value_variants().iter().zip(Model::ALL) {
            assert_eq!(Model::from(*arg), model);
        }
    }

    #[test]
    fn the_example_in_the_help_is_a_scenario() {
        let text: String = AFTER_LONG
            .lines()
            .skip_while(|line| !line.contains("version = 1"))
            .take_while(|line| !line.is_empty())
            .flat_map(|line| [line, "\n"])
            .collect();
        assert_eq!(parkbench_engine::Scenario::from_toml(&text).unwrap().runs.len(), 2);
    }
}
