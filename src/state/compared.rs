//! A comparison of `parkbench compare --format json`: what was simulated and what was measured on a real machine, figure
//! by figure. Reading and checking only; how it is shown is the components'.

use std::collections::BTreeMap;
use std::rc::Rc;

use parkbench_engine::Scenario;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::form::Form;

/// The version of the format that the page reads.
const COMPARISON_VERSION: u64 = 1;

/// A comparison from a file.
#[derive(Debug)]
pub struct ComparedSet {
    /// What the file is called.
    pub name: String,
    /// Where it was measured.
    pub place: Place,
    /// The costs that were simulated with.
    pub profile: ProfileName,
    /// What limits the figures, in sentences.
    pub warnings: Vec<String>,
    /// What was not measured.
    pub absent: Vec<Absent>,
    /// What was simulated: a run for each of `runs`, in their order.
    pub simulated: Scenario,
    /// Each runtime that was measured.
    pub runs: Vec<ComparedRun>,
}

/// Where something was measured; what the machine did not say is absent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Place {
    /// Version of parkbench.
    pub parkbench: String,
    /// `release` or `debug`.
    pub build: String,
    /// Processors that could be used.
    pub cores: Option<u32>,
    /// Model of the processor.
    pub cpu: Option<String>,
    /// Operating system and architecture.
    pub platform: String,
    /// Version of the kernel.
    pub kernel: Option<String>,
    /// The Java that runtimes of the JVM ran on.
    pub java: Option<String>,
}

/// A cost profile.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileName {
    /// Its name.
    pub name: String,
    /// Its file, if it is one.
    pub file: Option<String>,
}

/// A runtime that was not measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// The runtime in one word.
    pub variant: String,
    /// The variants of the scenario that it would stand for.
    pub stands_for: Vec<String>,
    /// Why.
    pub reason: String,
}

/// One runtime, simulated and measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparedRun {
    /// The runtime in one word.
    pub variant: String,
    /// The runtime in full.
    pub runtime: String,
    /// The variant of the simulated run.
    pub simulated_variant: String,
    /// Each figure of both.
    pub figures: BTreeMap<Figure, Pair>,
    /// [ns] Total of every repetition.
    pub makespans_ns: Vec<u64>,
    /// What is off.
    pub findings: Vec<Off>,
}

/// What is compared, in the order in which it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Figure {
    /// [ns]
    #[serde(rename = "makespan_ns")]
    Makespan,
    /// [tasks/s]
    #[serde(rename = "throughput_per_s")]
    Throughput,
    /// [ns]
    #[serde(rename = "latency_mean_ns")]
    LatencyMean,
    /// [ns]
    #[serde(rename = "latency_p95_ns")]
    LatencyP95,
    /// [bytes]
    #[serde(rename = "memory_resident_bytes")]
    Resident,
    /// OS context switches of both kinds.
    #[serde(rename = "os_switches")]
    Switches,
}

/// One figure of both; absent where it could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// What the simulation gave.
    pub simulated: Option<f64>,
    /// What the measurement gave.
    pub measured: Option<f64>,
    /// [%] How far the simulation is above the measurement.
    pub error_percent: Option<f64>,
}

/// What is off in the simulation, and what would explain it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Off {
    /// One word.
    pub kind: String,
    /// A sentence.
    pub message: String,
}

/// What every version of the format has.
#[derive(Deserialize)]
struct Versioned {
    version: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "version")]
    _version: u64,
    /// As it was asked for; the runs of `simulated` are those that were measured.
    #[serde(rename = "scenario")]
    _scenario: IgnoredAny,
    environment: Place,
    profile: ProfileName,
    warnings: Vec<String>,
    absent: Vec<Absent>,
    /// Read by the engine, which has the one reader of scenarios.
    simulated: Option<Box<RawValue>>,
    runs: Vec<ComparedRun>,
}

impl ComparedSet {
    /// Reads a file and checks that what it simulated can be simulated here; an error names the field, its value and
    /// what is allowed.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let wrong = |error| format!("file: {error}; allowed: what parkbench compare --format json prints");
        let Versioned { version } = serde_json::from_str(text).map_err(wrong)?;
        if version.is_some_and(|version| version != COMPARISON_VERSION) {
            return Err(format!("version: {}; allowed: {COMPARISON_VERSION}", version.unwrap_or_default()));
        }
        let File { environment, profile, warnings, absent, simulated, runs, .. } =
            serde_json::from_str(text).map_err(wrong)?;
        let Some(simulated) = simulated.filter(|_| !runs.is_empty()) else {
            return Err("runs: none; allowed: at least one runtime that was measured".to_owned());
        };
        let simulated = Scenario::from_json(simulated.get()).map_err(|error| format!("simulated: {error}"))?;
        if simulated.runs.len() != runs.len() {
            let (value, allowed) = (simulated.runs.len(), runs.len());
            return Err(format!("simulated.runs: {value} runs; allowed: {allowed}, as many as were measured"));
        }
        Ok(Self { name: name.to_owned(), place: environment, profile, warnings, absent, simulated, runs })
    }

    /// The form of what was simulated.
    pub fn form(&self) -> Form {
        Form::custom(self.simulated.clone())
    }

    /// The runtime that was measured beside run `index` of a scenario; `None` where that run is another.
    pub fn beside(&self, scenario: &Scenario, index: usize) -> Option<&ComparedRun> {
        let own = &self.simulated;
        let same_tasks = (&own.tasks, &own.mix, own.seed) == (&scenario.tasks, &scenario.mix, scenario.seed);
        let same_machine =
            (&own.machine, &own.profile, &own.costs) == (&scenario.machine, &scenario.profile, &scenario.costs);
        let same = own.runs.get(index)? == scenario.runs.get(index)?;
        self.runs.get(index).filter(|_| same_tasks && same_machine && same)
    }
}

impl Place {
    /// Processor, cores, kernel: what tells this machine from others, in a few words.
    pub fn text(&self) -> String {
        let cores = self.cores.map(|cores| format!("{cores} × "));
        let cpu = self.cpu.clone().unwrap_or_else(|| self.platform.clone());
        let kernel = self.kernel.as_ref().map(|kernel| format!(", kernel {kernel}"));
        let java = self.java.as_ref().map(|java| format!(", Java {java}"));
        [cores.unwrap_or_default(), cpu, kernel.unwrap_or_default(), java.unwrap_or_default()].concat()
    }
}

/// The comparison, as far as there is one.
#[derive(Clone, Debug, Default)]
pub struct Compared(pub Option<Rc<ComparedSet>>);

impl PartialEq for Compared {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(own), Some(other)) => Rc::ptr_eq(own, other),
            _ => false,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use parkbench_engine::preset;
    use serde_json::{Value, json};

    use super::*;

    /// A file as the binary writes it, of two runtimes.
    pub(crate) fn file() -> Value {
        let mut simulated = preset("io-bound").unwrap();
        (simulated.tasks[0].count, simulated.machine.cores) = (40, 2);
        simulated.references.clear();
        simulated.runs.truncate(2);
        simulated.runs[1].costs.insert("vt_spawn".to_owned(), "2 us".to_owned());
        let pair = json!({"simulated": 110.0, "measured": 100.0, "error_percent": 10.0});
        let none = json!({"simulated": 5.0, "measured": null, "error_percent": null});
        let run = |variant: &str| {
            json!({"variant": variant, "runtime": "a runtime", "simulated_variant": "fixed-12",
                "figures": {"os_switches": none, "makespan_ns": pair}, "makespans_ns": [100], "findings": []})
        };
        json!({
            "version": 1, "scenario": simulated, "profile": {"name": "here", "file": null}, "warnings": [], "absent": [],
            "environment": {"parkbench": "0.1.0", "build": "release", "cores": 2, "cpu": "Fast 1", "platform": "linux",
                "kernel": "6.1", "java": null, "load": 0.5},
            "simulated": simulated, "runs": [run("pool-12"), run("java-virtual")],
        })
    }

    fn read(file: &Value) -> Result<ComparedSet, String> {
        ComparedSet::read("a.json", &file.to_string())
    }

    #[test]
    fn a_comparison_stands_beside_what_it_simulated() {
        let set = read(&file()).unwrap();
        assert_eq!(set.place.text(), "2 × Fast 1, kernel 6.1");
        assert_eq!(set.runs[0].figures.keys().collect::<Vec<_>>(), [&Figure::Makespan, &Figure::Switches]);
        let variant = |scenario: &Scenario, index| set.beside(scenario, index).map(|run| run.variant.as_str());
        let mut scenario = set.form().scenario().unwrap();
        assert_eq!([0, 1, 2].map(|index| variant(&scenario, index)), [Some("pool-12"), Some("java-virtual"), None]);
        scenario.runs[0].size = Some(3);
        assert_eq!([0, 1].map(|index| variant(&scenario, index)), [None, Some("java-virtual")]);
        scenario.tasks[0].count = 41;
        assert_eq!(variant(&scenario, 1), None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |spoil: &dyn Fn(&mut Value), expect: &str| {
            let mut file = file();
            spoil(&mut file);
            let error = read(&file).unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        check(&|file| file["version"] = json!(9), "version: 9; allowed: 1");
        check(&|file| file["colour"] = json!("red"), "unknown field `colour`");
        check(&|file| file["runs"][0]["figures"]["speed"] = json!(1), "unknown variant `speed`");
        check(&|file| file["simulated"] = Value::Null, "runs: none");
        check(&|file| file["simulated"]["machine"]["cores"] = json!(0), "simulated: ");
        check(&|file| _ = file["runs"].as_array_mut().unwrap().pop(), "simulated.runs: 2 runs; allowed: 1");
        check(&|file| *file = json!({"name": "io-bound"}), "allowed: what parkbench compare");
        assert!(ComparedSet::read("a", "{").unwrap_err().contains("line 1"));
    }
}
