//! What a change of the scenario must do to the run: nothing, a known factor, or not the wrong direction.

use parkbench_engine::{
    Arrival, Block, COSTS, CostProfile, CpuWork, Duration, Nanos, RunSpec, Scenario, Simulation, Span, Step, Unit,
};
use proptest::prelude::*;

use crate::properties::tasks;
use crate::support::run;

fn makespan(scenario: &Scenario) -> u64 {
    Simulation::new(scenario, 0).unwrap().run().totals.makespan_ns
}

fn each(steps: &mut [Step], constant: &impl Fn(&mut Duration)) {
    for step in steps {
        match step {
            Step::Cpu(CpuWork::Time(time)) | Step::Io(time) | Step::Block(Block { time, .. }) => constant(time),
            Step::Lock(lock) => lock.retry.iter_mut().for_each(constant),
            Step::Spawn(spawn) => each(&mut spawn.steps, constant),
            Step::Repeat(repeat) => each(&mut repeat.steps, constant),
            _ => {}
        }
    }
}

/// Every length of time in the scenario as a constant, `k` times as long.
fn scale(scenario: &Scenario, k: u64) -> Scenario {
    let constant = |duration: &mut Duration| *duration = Duration::Constant(Nanos(Span::from(&*duration).mean() * k));
    let arrival = |arrival: &mut Arrival| match arrival {
        Arrival::Every(gap) => gap.0 *= k,
        // The gaps of a Poisson process are rounded one by one.
        Arrival::Poisson(mean) => *arrival = Arrival::Every(Nanos(mean.0 * k)),
        Arrival::ClosedLoop(closed) => constant(&mut closed.think),
        _ => {}
    };
    let mut scaled = scenario.clone();
    for class in &mut scaled.tasks {
        class.at.0 *= k;
        arrival(&mut class.arrival);
        each(&mut class.steps, &constant);
    }
    if let Some(mix) = &mut scaled.mix {
        arrival(&mut mix.arrival);
    }
    let profile = CostProfile::named(&scenario.profile).unwrap();
    for cost in COSTS.iter().filter(|cost| cost.unit == Unit::Nanos) {
        // Lateness depends on the length of the sleep, so it is one number here.
        let name = if cost.name.starts_with("sleep_lateness") { "sleep_lateness_1ms" } else { cost.name };
        let value = profile.costs.get(name).unwrap() * k;
        scaled.costs.insert(cost.name.to_owned(), format!("{value} ns"));
    }
    scaled
}

fn scenario(tasks: &str, cores: u32, profile: &str, model: &str) -> Scenario {
    let text = format!(
        "version = 1\nname = \"random\"\nprofile = \"{profile}\"\n{tasks}\nruns = [{{ {model} }}]\n[machine]\ncores = {cores}\n"
    );
    Scenario::from_toml(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// In the models without a constant of nature: Kotlin's workers do not steal from slots younger than 100 us, tokio's
    /// wheel turns every millisecond, Go's sysmon has its own periods.
    #[test]
    fn time_has_no_scale(
        tasks in tasks(),
        cores in 1_u32..5,
        k in 2_u64..9,
        profile in prop_oneof![Just("zero"), Just("linux-default"), Just("seed-2")],
        model in prop_oneof![
            (1_u32..20).prop_map(|size| format!("model = \"thread-pool\", size = {size}")),
            (prop_oneof![Just(21), Just(25)], 1_u32..6)
                .prop_map(|(jdk, carriers)| format!("model = \"green-threads\", jdk = {jdk}, carriers = {carriers}")),
            Just("model = \"coroutines\", dispatcher = \"event-loop\"".to_owned()),
        ],
    ) {
        let scenario = scenario(&tasks, cores, profile, &model);
        let (one, many) = (scale(&scenario, 1), scale(&scenario, k));
        prop_assert_eq!(makespan(&one) * k, makespan(&many));
    }

    /// Under no costs, and for tasks that do one thing and all come at once.
    #[test]
    fn more_cores_never_lengthen_a_batch(
        lengths in prop::collection::vec(1_u64..3_000, 1..60),
        cores in 1_u32..9,
        model in prop_oneof![
            Just("{ model = \"thread-pool\" }"),
            Just("{ model = \"thread-pool\", size = 7 }"),
            Just("{ model = \"green-threads\", jdk = 21 }"),
            Just("{ model = \"green-threads\" }"),
            Just("{ model = \"coroutines\" }"),
            Just("{ model = \"coroutines\", dispatcher = \"io\" }"),
            Just("{ model = \"coroutines\", dispatcher = \"event-loop\" }"),
        ],
    ) {
        let class = |us: &u64| format!("{{ cpu = \"{us} us\" }}");
        // A scenario has at most 16 classes.
        let tasks: Vec<String> = lengths
            .chunks(lengths.len().div_ceil(16))
            .map(|chunk| format!("{{ count = {}, steps = [{}] }}", chunk.len(), class(&chunk[0])))
            .collect();
        let tasks = format!("[{}]", tasks.join(", "));
        let fewer = run(cores, model, "", &tasks).totals.makespan_ns;
        let more = run(cores + 1, model, "", &tasks).totals.makespan_ns;
        prop_assert!(more <= fewer, "{} on {} cores, {} on {}", fewer, cores, more, cores + 1);
    }

    /// A run knows nothing of the runs beside it.
    #[test]
    fn another_run_changes_no_digest(tasks in tasks(), cores in 1_u32..5) {
        let alone = scenario(&tasks, cores, "linux-default", "model = \"green-threads\"");
        let mut beside = alone.clone();
        beside.runs.insert(0, RunSpec::new(parkbench_engine::Model::ThreadPool));
        beside.runs.push(RunSpec::new(parkbench_engine::Model::Coroutines));
        let digest = |scenario, run| Simulation::new(scenario, run).unwrap().run().totals.digest;
        prop_assert_eq!(digest(&alone, 0), digest(&beside, 1));
    }
}

#[test]
fn scaling_reaches_every_length_of_time() {
    let tasks = r#"tasks = [{ count = 2, at = "1 ms", arrival = { every = "2 ms" }, steps = [
        { spawn = { steps = [{ io = "3 ms" }] } },
        { repeat = { times = 2, steps = [{ cpu = { uniform = ["1 ms", "3 ms"] } }] } },
        { block = { time = "4 ms", kind = "file" } },
        "join",
    ] }]"#;
    let scaled = scale(&scenario(tasks, 2, "zero", "model = \"green-threads\""), 5);
    let text = scaled.to_json();
    for want in ["\"5 ms\"", "\"10 ms\"", "\"15 ms\"", "\"20 ms\""] {
        assert!(text.contains(want), "{want} in {text}");
    }
    assert!(!text.contains("uniform"));
}
