//! Which step runs next: a pure function of what is done and of what is installed.

use super::steps::Step;
use crate::tools::{State, Tool};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Open,
    /// Passed or skipped.
    Passed,
    Failed,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Run(usize),
    /// The step cannot run, for this reason.
    Impossible(usize, String),
    /// The step is left out, for this reason.
    Skip(usize, String),
    /// Every open step waits for a tool.
    Wait,
    Finished,
}

/// The named steps and, transitively, those they come after; all when no name is given. Keeps the order.
pub(super) fn with_requirements<'a>(steps: &'a [Step], names: &[String]) -> Vec<&'a Step> {
    let mut chosen: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut next = 0;
    while let Some(name) = chosen.get(next).copied() {
        chosen.extend(steps.iter().filter(|step| step.name == name).flat_map(|step| step.after));
        next += 1;
    }
    steps.iter().filter(|step| names.is_empty() || chosen.contains(&step.name)).collect()
}

/// The first open step that can be settled now, in the order given.
pub(super) fn choose(steps: &[&Step], statuses: &[Status], state: impl Fn(Tool) -> State) -> Choice {
    let status_of = |name: &str| {
        let index = steps.iter().position(|step| step.name == name);
        index.map_or(Status::Passed, |index| statuses[index])
    };
    let mut waiting = false;
    for (index, step) in steps.iter().enumerate() {
        if statuses[index] != Status::Open {
            continue;
        }
        if let Some(name) = step.after.iter().find(|name| status_of(name) == Status::Failed) {
            return Choice::Impossible(index, format!("needs `{name}`, which failed"));
        }
        for &tool in step.needs {
            if let State::Missing(reason) = state(tool) {
                let make = if tool.is_optional() { Choice::Skip } else { Choice::Impossible };
                return make(index, format!("{tool}: {reason}"));
            }
        }
        let ready = step.needs.iter().all(|&tool| state(tool) == State::Ready)
            && step.after.iter().all(|name| status_of(name) == Status::Passed);
        if ready {
            return Choice::Run(index);
        }
        waiting = true;
    }
    if waiting { Choice::Wait } else { Choice::Finished }
}

#[cfg(test)]
mod tests {
    use super::super::steps::Outcome;
    use super::*;

    const fn step(name: &'static str, needs: &'static [Tool], after: &'static [&'static str]) -> Step {
        Step { name, about: "", needs, after, run: |_| Ok(Outcome::Passed(String::new())) }
    }

    static STEPS: [Step; 4] = [
        step("page", &[Tool::Trunk], &[]),
        step("unit", &[], &[]),
        step("e2e", &[Tool::Chromium], &["page"]),
        step("report", &[], &["e2e"]),
    ];

    #[track_caller]
    fn check(statuses: &str, trunk: &State, expect: &Choice) {
        let steps: Vec<&Step> = STEPS.iter().collect();
        let statuses: Vec<Status> = statuses
            .chars()
            .map(|letter| match letter {
                'p' => Status::Passed,
                'f' => Status::Failed,
                _ => Status::Open,
            })
            .collect();
        let state = |tool| if tool == Tool::Trunk { trunk.clone() } else { State::Ready };
        assert_eq!(&choose(&steps, &statuses, state), expect);
    }

    #[test]
    fn steps_run_in_order_but_never_wait_in_vain() {
        check("....", &State::Ready, &Choice::Run(0));
        check("....", &State::Installing, &Choice::Run(1));
        check(".p..", &State::Installing, &Choice::Wait);
        check("pp..", &State::Ready, &Choice::Run(2));
        check("ppp.", &State::Ready, &Choice::Run(3));
        check("pppp", &State::Ready, &Choice::Finished);
        check("fp..", &State::Ready, &Choice::Impossible(2, "needs `page`, which failed".to_owned()));
        check("....", &State::Missing("gone".to_owned()), &Choice::Impossible(0, "Trunk: gone".to_owned()));
    }

    #[test]
    fn a_step_without_an_optional_tool_is_skipped() {
        let jvm = step("jvm", &[Tool::Java], &[]);
        let choice = choose(&[&jvm], &[Status::Open], |_| State::Missing("gone".to_owned()));
        assert_eq!(choice, Choice::Skip(0, "Java: gone".to_owned()));
    }

    #[test]
    fn a_named_step_brings_what_it_comes_after() {
        let names = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
            with_requirements(&STEPS, &only).iter().map(|step| step.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["report"]), ["page", "e2e", "report"]);
        assert_eq!(names(&["unit"]), ["unit"]);
        assert_eq!(names(&[]), ["page", "unit", "e2e", "report"]);
    }

    #[test]
    fn every_requirement_is_an_earlier_step() {
        for (index, step) in super::super::STEPS.iter().enumerate() {
            for name in step.after {
                let earlier = super::super::STEPS[..index].iter().any(|other| other.name == *name);
                assert!(earlier, "{} comes after {name}", step.name);
            }
        }
    }
}
