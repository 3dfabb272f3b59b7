//! What a measurement refuses, though the engine can simulate it: steps that no real runtime here has yet, and what might
//! never end.

use parkbench_engine::{FieldError, LockKind, LockScope, Op, Plan, Scenario, ScenarioError, Step};

/// Refuses what no runtime can measure, or might never end.
pub(crate) fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    let invalid = |error: FieldError| ScenarioError::Invalid(vec![error]);
    check_known(scenario).map_err(invalid)?;
    check_order(&Plan::new(scenario, 0)?).map_err(invalid)
}

/// Refuses what the engine can simulate and a measurement cannot do yet.
fn check_known(scenario: &Scenario) -> Result<(), FieldError> {
    for (index, class) in scenario.tasks.iter().enumerate() {
        check_steps(&format!("tasks[{index}]"), &class.steps)?;
    }
    Ok(())
}

fn check_steps(parent: &str, steps: &[Step]) -> Result<(), FieldError> {
    for (number, step) in steps.iter().enumerate() {
        let field = format!("{parent}.steps[{number}]");
        let (name, value, allowed) = match step {
            Step::Lock(lock) if lock.retry.is_some() => {
                (format!("{field}.lock.retry"), "a retry", "locks without retry in a measurement")
            }
            Step::Lock(lock) if lock.kind == LockKind::ClassInitializer && lock.scope == LockScope::Shared => {
                let allowed = "\"task\" for a class initialiser in a measurement, for a class is initialised once";
                (format!("{field}.lock.scope"), "\"shared\"", allowed)
            }
            Step::Spawn(spawn) => {
                check_steps(&format!("{field}.spawn"), &spawn.steps)?;
                continue;
            }
            Step::Repeat(repeat) => {
                check_steps(&format!("{field}.repeat"), &repeat.steps)?;
                continue;
            }
            _ => continue,
        };
        return Err(FieldError::new(name, value, allowed));
    }
    Ok(())
}

/// Real tasks that take two locks or permits in both orders may wait for each other without end.
fn check_order(plan: &Plan) -> Result<(), FieldError> {
    let mut orders: Vec<(u32, u32)> = Vec::new();
    for class in &plan.classes {
        let mut held: Vec<u32> = Vec::new();
        for op in &class.ops {
            match op {
                Op::Lock(lock) => {
                    if let Some(number) = lock.shared {
                        orders.extend(held.iter().map(|&outer| (outer, number)));
                        orders.dedup();
                        held.push(number);
                    }
                }
                Op::Unlock(lock) => {
                    if let Some(last) = held.iter().rposition(|&number| Some(number) == lock.shared) {
                        held.remove(last);
                    }
                }
                _ => {}
            }
        }
    }
    orders.sort_unstable();
    orders.dedup();
    // Takes away every lock that no other precedes; what cannot be taken away is in a circle.
    while let Some(&(free, _)) = orders.iter().find(|(outer, _)| !orders.iter().any(|(_, inner)| inner == outer)) {
        orders.retain(|(outer, _)| *outer != free);
    }
    let Some(&(first, second)) = orders.first() else { return Ok(()) };
    let name = |number: u32| plan.guards.get(number as usize).map_or("", |guard| guard.name.as_str());
    Err(FieldError::new(
        "tasks",
        format!("taking {:?} before {:?} in one place and after it in another", name(first), name(second)),
        "the same order of locks and permits everywhere in a measurement, for real tasks could wait for each other without \
         end",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_tasks(tasks: &str, expect: Option<&str>) {
        let text = format!(
            r#"{{"version":1,"name":"x","machine":{{"cores":4}},"tasks":[{tasks}],"runs":[{{"model":"thread-pool"}}]}}"#
        );
        let error = check(&Scenario::from_json(&text).unwrap()).err().map(|error| error.to_string());
        match expect {
            None => assert_eq!(error, None),
            Some(text) => assert!(error.as_ref().is_some_and(|error| error.contains(text)), "{error:?}"),
        }
    }

    fn class(steps: &str) -> String {
        format!(r#"{{"count":10,"steps":[{steps}]}}"#)
    }

    #[test]
    fn locks_and_permits_in_both_orders_are_refused() {
        let two = |a: &str, b: &str| {
            class(&format!(
                r#"{{"lock":{{"name":"{a}"}}}},{{"lock":{{"name":"{b}"}}}},{{"unlock":"{b}"}},{{"unlock":"{a}"}}"#
            ))
        };
        check_tasks(&[two("a", "b"), two("a", "b"), two("b", "c")].join(","), None);
        check_tasks(&[two("a", "b"), two("b", "c"), two("c", "a")].join(","), Some("order of locks"));
        let acquire = r#"{"acquire":{"name":"s","permits":3}}"#;
        let release = r#"{"release":"s"}"#;
        check_tasks(&class(&[acquire, release, acquire, release].join(",")), None);
    }

    #[test]
    fn what_cannot_be_measured_yet_is_named() {
        check_tasks(&class(r#"{"spawn":{"count":2,"steps":[{"io":"1 ms"}]}},"join""#), None);
        let retry = r#"{"lock":{"name":"a","kind":"reentrant","retry":"1 ms"}},{"unlock":"a"}"#;
        check_tasks(&class(retry), Some("tasks[0].steps[0].lock.retry"));
        let inner = format!(r#"{{"repeat":{{"times":2,"steps":[{retry}]}}}}"#);
        check_tasks(&class(&inner), Some("tasks[0].steps[0].repeat.steps[0].lock.retry"));
        check_tasks(&class(r#"{"repeat":{"times":2,"steps":["yield",{"io":"1 ms"}]}}"#), None);
        let inner = format!(r#"{{"spawn":{{"count":2,"steps":[{retry}]}}}}"#);
        check_tasks(&class(&inner), Some("tasks[0].steps[0].spawn.steps[0].lock.retry"));
        let frame = |kind: &str, scope: &str| {
            class(&format!(r#"{{"lock":{{"name":"a","kind":"{kind}","scope":"{scope}"}}}},{{"unlock":"a"}}"#))
        };
        check_tasks(&frame("native-frame", "task"), None);
        check_tasks(&frame("class-initializer", "task"), None);
        check_tasks(
            &frame("class-initializer", "shared"),
            Some("tasks[0].steps[0].lock.scope: \"shared\" is not allowed; allowed: \"task\""),
        );
        let closed = r#"{"count":10,"arrival":{"closed-loop":{"users":2,"think":"1 ms"}},"steps":[{"io":"1 ms"}]}"#;
        check_tasks(closed, None);
    }
}
