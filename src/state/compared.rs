//! The comparisons of a file of `parkbench compare --format json`: what was simulated and what was measured on a real
//! machine, figure by figure. Reading and checking only; how it is shown is the components'.

use std::collections::BTreeMap;
use std::rc::Rc;

use parkbench_engine::Scenario;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::form::Form;

/// The version of the format that the page reads.
const COMPARISON_VERSION: u64 = 1;

/// A file with one comparison, or with several.
#[derive(Debug)]
pub struct ComparedFile {
    /// What the file is called.
    pub name: String,
    /// In the order of the file; at least one of them has a set.
    pub all: Vec<Listed>,
}

/// One comparison of a file.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The name of its scenario.
    pub scenario: String,
    /// The title of its scenario; the name where it has none.
    pub title: String,
    /// What is shown of it; none where no runtime could be measured.
    pub set: Option<Rc<ComparedSet>>,
}

/// What was simulated and measured of one scenario.
#[derive(Debug)]
pub struct ComparedSet {
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
    /// A sentence, which names the cause too.
    pub message: String,
    /// The cost that would explain it.
    pub cause: Option<Cause>,
}

/// A cost that would explain why a total is off.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// Its name.
    pub cost: String,
    /// [its unit] What it is.
    pub is: u64,
    /// [its unit] What it would have to be.
    pub would_be: u64,
    /// [%] How far the CPU time would be off then.
    pub cpu_error_percent: Option<f64>,
}

/// What every version of the format has, and what tells whether there are several.
#[derive(Deserialize)]
struct Versioned {
    version: Option<u64>,
    #[serde(default)]
    comparisons: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Together {
    #[serde(rename = "version")]
    _version: u64,
    comparisons: Vec<File>,
    /// Follows from the comparisons.
    #[serde(rename = "summary")]
    _summary: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u64,
    /// As it was asked for; the runs of `simulated` are those that were measured.
    scenario: Named,
    environment: Place,
    profile: ProfileName,
    warnings: Vec<String>,
    absent: Vec<Absent>,
    /// Read by the engine, which has the one reader of scenarios.
    simulated: Option<Box<RawValue>>,
    runs: Vec<ComparedRun>,
}

/// What is read of a scenario that is not simulated.
#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default)]
    title: String,
}

impl ComparedFile {
    /// Reads a file and checks that what it simulated can be simulated here; an error names the field, its value and
    /// what is allowed.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let wrong = |error| format!("file: {error}; allowed: what parkbench compare --format json prints");
        let Versioned { version, comparisons } = serde_json::from_str(text).map_err(wrong)?;
        if let Some(version) = version {
            check_version(version)?;
        }
        let all = if comparisons.is_some() {
            let Together { comparisons, .. } = serde_json::from_str(text).map_err(wrong)?;
            let listed = |(index, file)| Listed::of(file).map_err(|why| format!("comparisons[{index}].{why}"));
            comparisons.into_iter().enumerate().map(listed).collect::<Result<_, _>>()?
        } else {
            vec![Listed::of(serde_json::from_str(text).map_err(wrong)?)?]
        };
        let file = Self { name: name.to_owned(), all };
        match file.first() {
            Some(_) => Ok(file),
            None => Err("runs: none; allowed: at least one runtime that was measured".to_owned()),
        }
    }

    /// The first comparison that can be shown.
    fn first(&self) -> Option<usize> {
        self.all.iter().position(|listed| listed.set.is_some())
    }

    /// The comparison at this place, where there is one that can be shown.
    pub fn get(&self, place: usize) -> Option<&Rc<ComparedSet>> {
        self.all.get(place)?.set.as_ref()
    }
}

fn check_version(version: u64) -> Result<(), String> {
    if version == COMPARISON_VERSION {
        return Ok(());
    }
    Err(format!("version: {version}; allowed: {COMPARISON_VERSION}"))
}

impl Listed {
    fn of(file: File) -> Result<Self, String> {
        check_version(file.version)?;
        let Named { name, title } = file.scenario;
        let title = if title.is_empty() { name.clone() } else { title };
        let (environment, profile, warnings, absent, runs) =
            (file.environment, file.profile, file.warnings, file.absent, file.runs);
        let Some(simulated) = file.simulated.filter(|_| !runs.is_empty()) else {
            return Ok(Self { scenario: name, title, set: None });
        };
        let simulated = Scenario::from_json(simulated.get()).map_err(|error| format!("simulated: {error}"))?;
        if simulated.runs.len() != runs.len() {
            let (value, allowed) = (simulated.runs.len(), runs.len());
            return Err(format!("simulated.runs: {value} runs; allowed: {allowed}, as many as were measured"));
        }
        let set = ComparedSet { place: environment, profile, warnings, absent, simulated, runs };
        Ok(Self { scenario: name, title, set: Some(Rc::new(set)) })
    }
}

impl ComparedSet {
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

/// The file of comparisons, as far as there is one, and which of them is shown.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// The file.
    pub file: Option<Rc<ComparedFile>>,
    /// The place in the file, from 0; without a file the place that a link asks for.
    pub place: usize,
}

impl Compared {
    /// A file was opened: a place that a link asks for counts for the first file alone.
    #[must_use]
    pub fn open(&self, file: Rc<ComparedFile>) -> Self {
        let wanted = Some(self.place).filter(|&place| self.file.is_none() && file.get(place).is_some());
        let place = wanted.or_else(|| file.first()).unwrap_or_default();
        Self { file: Some(file), place }
    }

    /// The comparison that is shown.
    pub fn set(&self) -> Option<&Rc<ComparedSet>> {
        self.file.as_ref()?.get(self.place)
    }
}

impl PartialEq for Compared {
    fn eq(&self, other: &Self) -> bool {
        let same_file = match (&self.file, &other.file) {
            (None, None) => true,
            (Some(own), Some(other)) => Rc::ptr_eq(own, other),
            _ => false,
        };
        same_file && self.place == other.place
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
            "figures": {"os_switches": none, "makespan_ns": pair}, "makespans_ns": [100], "findings": [
                {"kind": "noisy", "message": "says little"},
                {"kind": "waiting", "message": "is off", "cause": {"cost": "vt_spawn", "is": 1, "would_be": 2, "cpu_error_percent": null}},
            ]})
        };
        json!({
            "version": 1, "scenario": simulated, "profile": {"name": "here", "file": null}, "warnings": [], "absent": [],
            "environment": {"parkbench": "0.1.0", "build": "release", "cores": 2, "cpu": "Fast 1", "platform": "linux",
                "kernel": "6.1", "java": null, "load": 0.5},
            "simulated": simulated, "runs": [run("pool-12"), run("java-virtual")],
        })
    }

    /// A file of several: one that could not be measured first, then `count` whose scenarios have 40, 41 … tasks.
    pub(crate) fn several(count: u64) -> Value {
        let mut none = file();
        (none["simulated"], none["runs"]) = (Value::Null, json!([]));
        let one = |index: u64| {
            let mut file = file();
            file["simulated"]["tasks"][0]["count"] = json!(40 + index);
            file["scenario"]["title"] = json!(format!("Number {index}"));
            file
        };
        let all: Vec<Value> = std::iter::once(none).chain((0..count).map(one)).collect();
        json!({"version": 1, "comparisons": all, "summary": [{"runtime": "pool-12"}]})
    }

    fn read_file(file: &Value) -> Result<ComparedFile, String> {
        ComparedFile::read("a.json", &file.to_string())
    }

    fn read(file: &Value) -> Result<Rc<ComparedSet>, String> {
        read_file(file).map(|file| Rc::clone(file.get(0).unwrap()))
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
    fn several_comparisons_are_in_one_file() {
        let file = Rc::new(read_file(&several(3)).unwrap());
        let titles: Vec<_> = file.all.iter().map(|listed| listed.title.as_str()).collect();
        assert_eq!(titles, ["I/O bound", "Number 0", "Number 1", "Number 2"]);
        let tasks = |compared: &Compared| compared.set().unwrap().simulated.tasks[0].count;
        let check = |compared: Compared, expect| {
            let opened = compared.open(Rc::clone(&file));
            assert_eq!((opened.place, tasks(&opened)), expect);
        };
        check(Compared::default(), (1, 40));
        check(Compared { file: None, place: 3 }, (3, 42));
        check(Compared { file: None, place: 9 }, (1, 40));
        check(Compared { file: Some(Rc::clone(&file)), place: 3 }, (1, 40));
    }

    #[test]
    fn what_is_wrong_in_one_of_several_is_named() {
        let check = |spoil: &dyn Fn(&mut Value), expect: &str| {
            let mut file = several(2);
            spoil(&mut file);
            let error = read_file(&file).unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        check(&|file| file["version"] = json!(9), "version: 9; allowed: 1");
        check(&|file| file["comparisons"] = json!([]), "runs: none");
        check(&|file| file["comparisons"] = json!([file["comparisons"][0]]), "runs: none");
        check(&|file| file["comparisons"][2]["version"] = json!(2), "comparisons[2].version: 2; allowed: 1");
        check(&|file| file["comparisons"][1]["simulated"]["machine"]["cores"] = json!(0), "comparisons[1].simulated: ");
        check(&|file| file["colour"] = json!("red"), "unknown field `colour`");
        check(&|file| file["comparisons"][1]["colour"] = json!("red"), "unknown field `colour`");
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
        assert!(ComparedFile::read("a", "{").unwrap_err().contains("line 1"));
    }
}
