//! Deadlocks, livelocks and starvation in words: who has what, and who waits for what. A few lines each.

use parkbench_engine::{Finding, FindingKind, Resource, ResourceKind, TaskName, Wait};
use parkbench_view::format;

use crate::figures::WIDTH;
use crate::text;

/// Most tasks that get a line.
const LINES: usize = 4;

/// What is wrong with a run of this variant, or the empty text.
pub(crate) fn render(findings: &[Finding], variant: &str) -> String {
    findings.iter().map(|finding| one(finding, variant)).collect()
}

fn one(finding: &Finding, variant: &str) -> String {
    let mut out = text::wrap(&heading(finding, variant), WIDTH, "! ", "  ");
    for wait in finding.waits.iter().take(LINES) {
        out.push_str(&text::wrap(&sentence(wait, finding.kind), WIDTH, "  - ", "    "));
    }
    out
}

fn heading(finding: &Finding, variant: &str) -> String {
    let from = format::duration(finding.from_ns);
    let count = |n: u32| format!("{} task{}", format::count(n.into()), if n == 1 { "" } else { "s" });
    match finding.kind {
        FindingKind::Deadlock => {
            let circle = match finding.circle {
                0 => String::new(),
                1 => ", one of which waits for itself".to_owned(),
                n => format!(", {} of which wait for each other in a circle", format::count(n.into())),
            };
            format!("Deadlock in {variant} after {from}: {} cannot go on{circle}.", count(finding.tasks))
        }
        FindingKind::Livelock => {
            let why = finding.period_ns.map_or_else(
                || "for what they try is never given back".to_owned(),
                |ns| format!("everything again every {}", format::duration(ns)),
            );
            format!("Livelock in {variant} from {from} on: {} without progress, {why}.", count(finding.tasks))
        }
        FindingKind::Starvation => {
            let to = format::duration(finding.to_ns);
            let lock = finding.waits.first().filter(|wait| wait.wants.kind != ResourceKind::Worker);
            if let Some(wait) = lock {
                return format!(
                    "Starvation in {variant} from {from} to {to}: {} waited for {}, and others took it {} times.",
                    count(finding.tasks),
                    wanted(&wait.wants),
                    format::count(wait.times.into())
                );
            }
            let were = if finding.tasks == 1 { "was" } else { "were" };
            format!(
                "Starvation in {variant} from {from} to {to}: {} {were} ready, and no ready task got a worker.",
                count(finding.tasks)
            )
        }
    }
}

fn sentence(wait: &Wait, kind: FindingKind) -> String {
    let has: Vec<String> = wait.holds.iter().map(held).collect();
    let has = if has.is_empty() { String::new() } else { format!("has {} and ", has.join(", ")) };
    let verb = match kind {
        FindingKind::Deadlock => "waits for",
        FindingKind::Livelock => "tries",
        FindingKind::Starvation => "waited for",
    };
    let by: Vec<String> = wait.held_by.iter().map(task).collect();
    let wants = match (wait.wants.kind, by.is_empty()) {
        (ResourceKind::Children, _) => format!("the end of {}", by.join(", ")),
        (_, true) => wanted(&wait.wants),
        _ => format!("{}, taken by {}", wanted(&wait.wants), by.join(", ")),
    };
    format!("{} {has}{verb} {wants}.", task(&wait.task))
}

fn task(task: &TaskName) -> String {
    format!("{} {}", task.class, task.id)
}

fn held(resource: &Resource) -> String {
    match resource.kind {
        ResourceKind::Turn => format!("the turn at {}", resource.name),
        ResourceKind::Permit => format!("a permit of {}", resource.name),
        ResourceKind::Lock => format!("lock {}", resource.name),
        ResourceKind::Worker | ResourceKind::Children => resource.name.clone(),
    }
}

fn wanted(resource: &Resource) -> String {
    match resource.kind {
        ResourceKind::Worker => "a worker".to_owned(),
        _ => held(resource),
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::{Scenario, Simulation};

    use super::*;

    #[track_caller]
    fn check(run: &str, tasks: &str, expect: &str) {
        let text = format!(
            "version = 1\nname = \"test\"\nprofile = \"zero\"\ntasks = {tasks}\nruns = [{run}]\nmachine = {{ cores = 2 }}\n"
        );
        let scenario = Scenario::from_toml(&text).unwrap();
        let findings = Simulation::new(&scenario, 0).unwrap().run().findings;
        let got: String = findings.iter().map(|finding| one(finding, "v")).collect();
        assert_eq!(got, expect);
    }

    #[test]
    fn a_starvation_in_words() {
        let tasks = |hogs: &str| {
            format!(
                "[{{ name = \"hog\", count = {hogs}, steps = [{{ cpu = \"1 s\" }}] }}, {{ name = \"call\", count = 9, steps = [{{ cpu = \"10 us\" }}] }}]"
            )
        };
        check(
            r#"{ model = "green-threads" }"#,
            &tasks("2"),
            "! Starvation in v from 0 ns to 1.00 s: 9 tasks were ready, and no ready task got a worker.\n  \
             - call 2 waited for a worker, taken by hog 0, hog 1.\n  \
             - call 3 waited for a worker, taken by hog 0, hog 1.\n  \
             - call 4 waited for a worker, taken by hog 0, hog 1.\n  \
             - call 5 waited for a worker, taken by hog 0, hog 1.\n",
        );
        check(r#"{ model = "green-threads" }"#, &tasks("1"), "");
        check(
            r#"{ model = "thread-pool" }"#,
            r#"[{ name = "job", count = 2, steps = [{ repeat = { times = 200, steps = [
                { lock = { name = "x" } }, { cpu = "1 ms" }, { unlock = "x" }] } }] }]"#,
            "! Starvation in v from 0 ns to 200 ms: 1 task waited for lock x, and others took it 199 times.\n  \
             - job 1 waited for lock x, taken by job 0.\n",
        );
    }

    #[test]
    fn a_deadlock_and_a_livelock_in_words() {
        check(
            r#"{ model = "thread-pool" }"#,
            r#"[{ name = "job", count = 2, steps = [{ spawn = { steps = [{ io = "1 ms" }] } }, "join"] }]"#,
            "! Deadlock in v after 0 ns: 4 tasks cannot go on, 2 of which wait for each other in a circle.\n  \
             - job 0 has pool-1-thread-1 and waits for the end of child 2.\n  \
             - child 2 waits for a worker, taken by job 0, job 1.\n",
        );
        check(
            r#"{ model = "green-threads" }"#,
            r#"[{ count = 1, steps = [{ lock = { name = "x" } }, { spawn = { name = "helper", steps = [
                { acquire = { name = "c", permits = 2 } }, { lock = { name = "x" } }, { unlock = "x" }, { release = "c" }] } },
                "join", { unlock = "x" }] }]"#,
            "! Deadlock in v after 0 ns: 2 tasks cannot go on, 2 of which wait for each other in a circle.\n  \
             - task 0 has lock x and waits for the end of helper 1.\n  \
             - helper 1 has a permit of c and waits for lock x, taken by task 0.\n",
        );
        check(
            r#"{ model = "green-threads" }"#,
            r#"[{ count = 1, steps = [{ lock = { name = "x", kind = "reentrant" } }, { spawn = { name = "helper", steps = [
                { lock = { name = "y", kind = "reentrant" } }, { lock = { name = "z", kind = "reentrant", retry = "1 ms" } },
                { unlock = "z" }, { unlock = "y" }] } },
                { lock = { name = "z", kind = "reentrant" } }, { io = "2 ms" }, "join", { unlock = "z" }, { unlock = "x" }] }]"#,
            "! Livelock in v from 0 ns on: 1 task without progress, everything again every 1.00 ms.\n  \
             - helper 1 has lock y and tries lock z, taken by task 0.\n",
        );
        let tries = r#"{ lock = { name = "x", kind = "reentrant", retry = { exponential = "1 ms" } } }"#;
        check(
            r#"{ model = "thread-pool", size = 4 }"#,
            &format!(
                "[{{ count = 2, steps = [{tries}, {{ spawn = {{ name = \"helper\", steps = [{tries}, {{ unlock = \"x\" }}] }} }}, \
                 \"join\", {{ unlock = \"x\" }}] }}]"
            ),
            "! Livelock in v from 0 ns on: 2 tasks without progress, for what they try is never given back.\n  \
             - task 1 tries lock x, taken by task 0.\n  - helper 2 tries lock x, taken by task 0.\n",
        );
    }
}
