//! A second, slow and obvious implementation of the rules under no costs, and the engine held against it.
//!
//! It knows nothing of cores, so it stands only for runs with a core for every thread. Ties are avoided by drawing
//! durations to the nanosecond; what is left of them goes first come, first served, as in the engine.

mod event_loop;
mod parts;
mod workers;

use parkbench_engine::{ModelPlan, Plan, Scenario, Simulation};
use proptest::prelude::*;

use self::event_loop::event_loop;
use self::workers::Reference;
use crate::support::ends;

/// Steps as text. Locks and permits come in pairs around one or two steps and do not nest, so nothing can deadlock for
/// want of a lock alone; a pool whose threads all wait for tasks in its queue can.
fn step() -> impl Strategy<Value = String> {
    let wait = || {
        ("(cpu|io|block|file|fsync|object-wait)", 2_u32..2_000).prop_map(|(what, us)| {
            let time = format!("{{ uniform = [\"1 us\", \"{us} us\"] }}");
            match what.as_str() {
                "cpu" | "io" | "block" => format!("{{ {what} = {time} }}"),
                kind => format!("{{ block = {{ time = {time}, kind = \"{kind}\" }} }}"),
            }
        })
    };
    let lock = |name: &'static str, kind: &'static str, scope: &'static str| {
        (wait(), wait()).prop_map(move |(a, b)| {
            format!(
                "{{ lock = {{ name = \"{name}\", kind = \"{kind}\", scope = \"{scope}\" }} }}, {a}, {b}, {{ unlock = \"{name}\" }}"
            )
        })
    };
    let permit = (wait(), wait())
        .prop_map(|(a, b)| format!("{{ acquire = {{ name = \"s\", permits = 2 }} }}, {a}, {b}, {{ release = \"s\" }}"));
    let retry = (wait(), 1_u32..300).prop_map(|(a, us)| {
        let again = format!("{{ uniform = [\"1 us\", \"{us} us\"] }}");
        format!("{{ lock = {{ name = \"t\", kind = \"reentrant\", retry = {again} }} }}, {a}, {{ unlock = \"t\" }}")
    });
    let flat = prop_oneof![
        6 => wait(),
        1 => lock("m", "monitor", "shared"),
        1 => lock("r", "reentrant", "shared"),
        1 => lock("own", "monitor", "task"),
        1 => permit,
        1 => retry,
        1 => Just("\"yield\"".to_owned()),
        1 => ("(cpu|io|block)", 2_u32..900).prop_map(|(what, us)| format!(
            "{{ repeat = {{ times = 3, steps = [{{ {what} = {{ uniform = [\"1 us\", \"{us} us\"] }} }}] }} }}"
        )),
    ]
    .boxed();
    let spawn = (1_u32..4, flat.clone(), flat.clone(), any::<bool>()).prop_map(|(count, a, b, join)| {
        let join = if join { ", \"join\"" } else { "" };
        format!("{{ spawn = {{ name = \"child\", count = {count}, steps = [{a}] }} }}, {b}{join}")
    });
    prop_oneof![8 => flat, 1 => spawn]
}

fn model() -> impl Strategy<Value = String> {
    prop_oneof![
        (1_u32..12).prop_map(|size| format!("{{ model = \"thread-pool\", size = {size} }}")),
        (1_u32..12, 0_u32..12)
            .prop_map(|(size, queue)| format!("{{ model = \"thread-pool\", size = {size}, queue = {queue} }}")),
        Just("{ model = \"thread-pool\", pool = \"cached\" }".to_owned()),
        Just("{ model = \"thread-pool\", pool = \"thread-per-task\" }".to_owned()),
        (21_u32..26, 1_u32..8)
            .prop_map(|(jdk, carriers)| format!("{{ model = \"green-threads\", jdk = {jdk}, carriers = {carriers} }}")),
        (21_u32..26, 1_u32..8, 0_u32..4, 0_u32..8).prop_map(|(jdk, carriers, more, least)| {
            let max = carriers + more;
            format!(
                "{{ model = \"green-threads\", jdk = {jdk}, carriers = {carriers}, max_pool = {max}, min_runnable = {least} }}"
            )
        }),
        Just("{ model = \"coroutines\", dispatcher = \"event-loop\" }".to_owned()),
    ]
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let class = (1_u64..12, prop_oneof![Just(0_u64), 0_u64..20_000_000], prop::collection::vec(step(), 1..5));
    let limit =
        prop_oneof![3 => Just(String::new()), 1 => (2_u32..30).prop_map(|most| format!("max_threads = {most}"))];
    (any::<u32>(), prop::collection::vec(class, 1..5), model(), limit).prop_map(|(seed, classes, model, limit)| {
        let class = |(count, at, steps): &(u64, u64, Vec<String>)| {
            format!("{{ count = {count}, at = \"{at} ns\", steps = [{}] }}", steps.join(", "))
        };
        let tasks: Vec<String> = classes.iter().map(class).collect();
        let text = format!(
            "version = 1\nname = \"random\"\nprofile = \"zero\"\nseed = {seed}\ntasks = [{}]\nruns = [{model}]\n[machine]\ncores = 512\n{limit}",
            tasks.join(", ")
        );
        Scenario::from_toml(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_engine_ends_every_task_when_the_reference_does(scenario in scenario()) {
        let plan = Plan::new(&scenario, 0).unwrap();
        let recording = Simulation::new(&scenario, 0).unwrap().run();
        let expect = match plan.model {
            ModelPlan::Coroutines { .. } => Some(event_loop(&plan)),
            _ => Reference::run(&plan),
        };
        if let Some(expect) = expect {
            prop_assert_eq!(ends(&recording, plan.tasks), expect);
        }
    }
}
