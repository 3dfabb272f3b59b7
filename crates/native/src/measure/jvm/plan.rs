//! The plan as the runner reads it: one line of JSON in which every draw is made.

use parkbench_engine::{GuardKind, Op, Plan, Span};
use serde_json::{Value, json};

use crate::measure::kind::Kind;
use crate::measure::runtime::{Admission, Jvm};

/// The version of the format; `Plan.kt` compares it.
const VERSION: u32 = 1;
/// Most runs before the first repetition, so that the compiler has seen the code: more than the shortest that wait fit in.
const WARMUP_RUNS: u64 = 1_000;
/// [ms] No further warm-up run starts after so long.
const WARMUP_LIMIT_MS: u64 = 2_000;
/// [ns] How long one warm-up run should take: as many tasks as that allows.
const WARMUP_RUN_NS: u64 = 250_000_000;

/// The line for this workload; a repetition should take about `estimate_ns`.
pub(super) fn line(plan: &Plan, jvm: &Jvm, estimate_ns: u64) -> String {
    let ops = |class: &parkbench_engine::Class| class.ops[..usize::from(class.end)].to_vec();
    let classes: Vec<Vec<Value>> =
        plan.classes.iter().map(|class| ops(class).iter().filter_map(step).collect()).collect();
    let (mut class_of, mut values, mut due, mut parents) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let arriving = arriving(plan);
    due.extend(arriving.iter().map(|&(_, at)| at));
    let roots = due.len();
    let order = order(plan);
    let mut places = vec![0_u32; plan.tasks as usize];
    for (place, &task) in (0..).zip(&order) {
        places[task as usize] = place;
    }
    for &task in &order {
        let number = plan.classes.partition_point(|class| class.first + class.count <= task);
        let class = &plan.classes[number];
        class_of.push(number);
        parents.extend(plan.parent(task).map(|parent| places[parent as usize]));
        for (step, op) in class.ops[..usize::from(class.end)].iter().enumerate() {
            match op {
                Op::Cpu(span) | Op::Io(span) | Op::Block(_, span) if !matches!(span, Span::Constant(_)) => {
                    values.push(plan.duration(task, step, span));
                }
                Op::Spawn(child) => values.push(places[plan.child(task, number, *child) as usize].into()),
                _ => {}
            }
        }
    }
    if due.iter().all(|&at| at == 0) {
        due.clear();
    }
    let loops: Vec<Value> = plan
        .submissions()
        .loops()
        .into_iter()
        .map(|users| {
            let tasks: Vec<u32> = users.tasks.iter().map(|&task| places[task as usize]).collect();
            json!({ "users": users.users, "due": users.due, "tasks": tasks, "think": users.think })
        })
        .collect();
    let permits: Vec<u32> = plan.guards.iter().map(|guard| guard.permits).collect();
    let fair: Vec<bool> = plan.guards.iter().map(|guard| guard.fair).collect();
    // Room for so many; null where it is not bounded. A cached pool has no room and any number of threads.
    let capacity = match jvm.admission {
        Admission::Unbounded => None,
        Admission::Bounded { capacity, .. } => Some(capacity),
        Admission::Cached => Some(0),
    };
    // The published benchmark has `async` on a dispatcher and `launch` in the loop of `runBlocking`.
    let builder = if jvm.kind == Kind::KotlinEventLoop { "launch" } else { "async" };
    json!({
        "version": VERSION,
        "runtime": jvm.kind.as_str(),
        // `Integer.MAX_VALUE` for any number.
        "threads": jvm.threads.min(i32::MAX as u32),
        "parallelism": jvm.parallelism,
        "queue_capacity": capacity,
        "caller_runs": jvm.admission.caller_runs(),
        "builder": builder,
        "permits": permits,
        "fair": fair,
        "classes": classes,
        "class_of": class_of,
        "values": values,
        "due": due,
        "loops": loops,
        "parents": parents,
        "warmup_runs": WARMUP_RUNS,
        "warmup_tasks": warmup_tasks(roots as u32, estimate_ns),
        "warmup_limit_ms": WARMUP_LIMIT_MS,
    })
    .to_string()
}

/// The tasks in the runner's order: those that arrive as they arrive, then those that others start.
pub(super) fn order(plan: &Plan) -> Vec<u32> {
    // A class stands after the class that starts its tasks.
    let spawned = (0..plan.tasks).filter(|&task| plan.parent(task).is_some());
    arriving(plan).into_iter().map(|(task, _)| task).chain(spawned).collect()
}

/// The tasks that arrive, in the order in which they do, and when [ns]; those of a closed loop as if each ended at once.
fn arriving(plan: &Plan) -> Vec<(u32, u64)> {
    let mut submissions = plan.submissions();
    let mut tasks = Vec::new();
    while let Some(due) = submissions.due() {
        let Some(task) = submissions.next_by(due) else { break };
        submissions.ended(plan.classes.partition_point(|class| class.first <= task) - 1, due);
        tasks.push((task, due));
    }
    tasks
}

/// What the runner calls the step, and its value; null where each task has one of its own.
fn step(op: &Op) -> Option<Value> {
    let length = |span: &Span| match span {
        Span::Constant(ns) => Some(*ns),
        _ => None,
    };
    Some(match op {
        Op::Iterations(iterations, _) => json!(["SPIN", iterations]),
        Op::Cpu(span) => json!(["CPU", length(span)]),
        Op::Io(span) => json!(["IO", length(span)]),
        Op::Block(_, span) => json!(["BLOCK", length(span)]),
        Op::Lock(lock) if lock.kind == GuardKind::Semaphore => json!(["ACQUIRE", lock.shared]),
        Op::Unlock(lock) if lock.kind == GuardKind::Semaphore => json!(["RELEASE", lock.shared]),
        Op::Yield => json!(["YIELD", null]),
        Op::Spawn(_) => json!(["SPAWN", null]),
        Op::Join => json!(["JOIN", null]),
        Op::Lock(lock) => {
            let kind = match lock.kind {
                GuardKind::Reentrant => "REENTRANT",
                GuardKind::ClassInitializer => "INITIALIZER",
                GuardKind::NativeFrame => "NATIVE",
                GuardKind::Monitor | GuardKind::Semaphore => "MONITOR",
            };
            json!([kind, lock.shared])
        }
        Op::Unlock(_) => json!(["UNLOCK", null]),
        // To make a task is a part of starting it; `check` refuses the scenarios that have others.
        _ => return None,
    })
}

/// As many tasks as take [`WARMUP_RUN_NS`], at least one.
fn warmup_tasks(tasks: u32, estimate_ns: u64) -> u64 {
    let share = u128::from(tasks) * u128::from(WARMUP_RUN_NS) / u128::from(estimate_ns.max(1));
    (share as u64).clamp(1, u64::from(tasks))
}

#[cfg(test)]
mod tests {
    use parkbench_engine::{RunSpec, Scenario};

    use super::*;
    use crate::measure::jvm::Version;
    use crate::measure::runtime::Runtime;

    #[test]
    fn the_line_has_every_draw_and_every_arrival() {
        let text = r#"{"version":1,"name":"x","machine":{"cores":4},"runs":[{"model":"green-threads"}],"tasks":[
            {"count":2,"at":"5 ms","steps":[{"lock":{"name":"a","scope":"task"}},{"lock":{"name":"b","kind":"reentrant"}},
                {"cpu":"20 us"},{"unlock":"b"},{"unlock":"a"},{"io":{"uniform":["2 s","2.2 s"]}}]},
            {"count":1,"at":"1 ms","steps":[{"acquire":{"name":"s","permits":3,"fair":true}},{"cpu":{"iterations":7}},
                {"release":"s"},"yield",{"block":"3 ms"}]}]}"#;
        let scenario = Scenario::from_json(text).unwrap();
        let plan = Plan::new(&scenario, 0).unwrap();
        let java = Version { feature: 25, text: "25".to_owned() };
        let run: &RunSpec = &scenario.runs[0];
        let Some(Runtime::Jvm(jvm)) = Runtime::new(Kind::JavaVirtual, run, 4, Some(&java)) else { panic!() };
        let line: Value = serde_json::from_str(&line(&plan, &jvm, 1_000_000_000)).unwrap();
        assert_eq!(
            line["classes"],
            json!([
                [
                    ["MONITOR", null],
                    ["REENTRANT", 0],
                    ["CPU", 20_000],
                    ["UNLOCK", null],
                    ["UNLOCK", null],
                    ["IO", null]
                ],
                [["ACQUIRE", 1], ["SPIN", 7], ["RELEASE", 1], ["YIELD", null], ["BLOCK", 3_000_000]],
            ])
        );
        assert_eq!(line["class_of"], json!([1, 0, 0]));
        assert_eq!(line["due"], json!([0, 4_000_000, 4_000_000]));
        let Op::Io(span) = &plan.classes[0].ops[5] else { panic!() };
        assert_eq!(line["values"], json!([plan.duration(0, 5, span), plan.duration(1, 5, span)]));
        assert_eq!((&line["threads"], &line["builder"]), (&json!(4), &json!("async")));
        assert_eq!((&line["permits"], &line["fair"]), (&json!([1, 3]), &json!([false, true])));
    }

    #[test]
    fn tasks_that_others_start_follow_those_that_arrive() {
        let text = r#"{"version":1,"name":"x","machine":{"cores":4},"runs":[{"model":"green-threads"}],"tasks":[
            {"count":2,"steps":[{"spawn":{"count":2,"steps":[{"io":"1 ms"}]}},"join"]},
            {"count":1,"steps":[{"io":"1 ms"}]}]}"#;
        let scenario = Scenario::from_json(text).unwrap();
        let java = Version { feature: 25, text: "25".to_owned() };
        let runtime = Runtime::new(Kind::JavaVirtual, &scenario.runs[0], 4, Some(&java));
        let Some(Runtime::Jvm(jvm)) = runtime else { panic!() };
        let line: Value = serde_json::from_str(&line(&Plan::new(&scenario, 0).unwrap(), &jvm, 1)).unwrap();
        assert_eq!(line["classes"][0], json!([["SPAWN", null], ["SPAWN", null], ["JOIN", null]]));
        assert_eq!(line["class_of"], json!([0, 0, 2, 1, 1, 1, 1]));
        assert_eq!((&line["values"], &line["parents"]), (&json!([3, 4, 5, 6]), &json!([0, 0, 1, 1])));
    }

    #[test]
    fn closed_loops_are_in_the_line() {
        let text = r#"{"version":1,"name":"x","machine":{"cores":4},"runs":[{"model":"thread-pool"}],"tasks":[
            {"count":2,"arrival":{"every":"2 ms"},"steps":["yield"]},
            {"count":3,"at":"1 ms","arrival":{"closed-loop":{"users":2,"think":"7 ms"}},"steps":["yield"]}]}"#;
        let scenario = Scenario::from_json(text).unwrap();
        let Some(Runtime::Jvm(jvm)) =
            Runtime::new(Kind::JavaPool, &scenario.runs[0], 4, Some(&Version { feature: 25, text: "25".to_owned() }))
        else {
            panic!()
        };
        let line: Value = serde_json::from_str(&line(&Plan::new(&scenario, 0).unwrap(), &jvm, 1)).unwrap();
        assert_eq!(line["class_of"], json!([0, 1, 1, 0, 1]));
        assert_eq!(line["due"], json!([0, 1_000_000, 1_000_000, 2_000_000, 8_000_000]));
        assert_eq!(
            line["loops"],
            json!([{ "users": 2, "due": 1_000_000, "tasks": [1, 2, 4], "think": [0, 0, 7_000_000] }])
        );
    }

    #[test]
    fn a_warm_up_run_is_short() {
        for (tasks, estimate_ns, expect) in
            [(10_000, 41_700_000_000, 59), (10_000, 50_000_000, 10_000), (100, 0, 100), (3, u64::MAX, 1)]
        {
            assert_eq!(warmup_tasks(tasks, estimate_ns), expect);
        }
    }
}
