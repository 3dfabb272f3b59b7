//! What is wrong with a run as a whole, in words, under the run's heading: its tasks are buttons that select them.

use parkbench_engine::{Finding, FindingKind, Resource, ResourceKind, TaskName, Wait};
use parkbench_view::format;
use yew::prelude::*;

use crate::hooks::use_app;
use crate::i18n::{Strings, fill};
use crate::state::Action;

/// Most tasks that get a line.
const LINES: usize = 4;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct Props {
    /// Index of the run.
    pub run: usize,
}

/// See the module. The region is there before its text is, so that the text is announced.
#[component]
pub(crate) fn Findings(props: &Props) -> Html {
    let app = use_app();
    let words = app.words();
    let run = app.state.result.as_ref().and_then(|result| result.runs.get(props.run));
    let findings = run.map_or(&[][..], |run| &run.metrics.findings);
    html! {
        <div class="findings" role="status">
            { for findings.iter().map(|finding| html! {
                <div data-finding={finding.kind.as_str()}>
                    <p><strong>{heading(words, finding)}</strong></p>
                    <ul>
                        { for together(&finding.waits).map(|waits| html! {
                            <li>
                                { for waits.iter().map(|wait| {
                                    let (dispatch, id) = (app.dispatch.clone(), wait.task.id);
                                    let select = Callback::from(move |_| dispatch.emit(Action::Select(id)));
                                    html! {
                                        <><button type="button" class="quiet" onclick={select}>{name(words, &wait.task)}</button>{" "}</>
                                    }
                                }) }
                                { others(words, finding, waits).unwrap_or_default() }
                                { waits.first().map(|wait| sentence(words, wait, finding.kind)) }
                            </li>
                        }) }
                    </ul>
                </div>
            }) }
        </div>
    }
}

/// The first of the waits, those that are the same but for their task in one line.
fn together(waits: &[Wait]) -> impl Iterator<Item = &[Wait]> {
    let same = |a: &Wait, b: &Wait| (&a.wants, &a.holds, &a.held_by) == (&b.wants, &b.holds, &b.held_by);
    waits[..waits.len().min(LINES)].chunk_by(same)
}

/// How many more there are, where all that are named are in one line.
fn others(words: &Strings, finding: &Finding, waits: &[Wait]) -> Option<String> {
    let named = finding.waits.len().min(LINES);
    let more = (finding.tasks as usize).checked_sub(named).filter(|&more| more > 0 && waits.len() == named)?;
    let starves = finding.kind == FindingKind::Starvation;
    starves.then(|| format!("{} ", fill(words.finding_others, &[("n", &format::count(more as u64))])))
}

fn heading(words: &Strings, finding: &Finding) -> String {
    let lock = finding.waits.first().filter(|wait| wait.wants.kind != ResourceKind::Worker);
    let template = match (finding.kind, lock) {
        (FindingKind::Deadlock, _) => words.finding_deadlock,
        (FindingKind::Livelock, _) => words.finding_livelock,
        (FindingKind::Starvation, None) => words.finding_starvation,
        (FindingKind::Starvation, Some(_)) => words.finding_overtaken,
    };
    let what = lock.map_or_else(String::new, |wait| resource(words, &wait.wants, ""));
    let times = format::count(lock.map_or(0, |wait| u64::from(wait.times)));
    let n = format::count(u64::from(finding.tasks));
    let (from, to) = (format::duration(finding.from_ns), format::duration(finding.to_ns));
    fill(template, &[("n", &n), ("from", &from), ("to", &to), ("what", &what), ("times", &times)])
}

fn sentence(words: &Strings, wait: &Wait, kind: FindingKind) -> String {
    let who: Vec<String> = wait.held_by.iter().map(|task| name(words, task)).collect();
    let who = who.join(", ");
    let what = resource(words, &wait.wants, &who);
    let template = match kind {
        FindingKind::Livelock => words.finding_tries,
        FindingKind::Starvation => words.finding_waited_by,
        FindingKind::Deadlock if who.is_empty() || wait.wants.kind == ResourceKind::Children => words.finding_waits,
        FindingKind::Deadlock => words.finding_waits_by,
    };
    let waits = fill(template, &[("what", &what), ("who", &who)]);
    if wait.holds.is_empty() {
        return waits;
    }
    let holds: Vec<String> = wait.holds.iter().map(|held| resource(words, held, "")).collect();
    format!("{}, {waits}", fill(words.finding_has, &[("what", &holds.join(", "))]))
}

fn name(words: &Strings, task: &TaskName) -> String {
    fill(words.finding_task, &[("class", &task.class), ("id", &task.id.to_string())])
}

fn resource(words: &Strings, resource: &Resource, who: &str) -> String {
    let template = match resource.kind {
        ResourceKind::Lock => words.resource_lock,
        ResourceKind::Permit => words.resource_permit,
        ResourceKind::Turn => words.resource_turn,
        ResourceKind::Worker if resource.name.is_empty() => words.resource_worker,
        ResourceKind::Worker => return resource.name.clone(),
        ResourceKind::Children => words.resource_children,
    };
    fill(template, &[("name", &resource.name), ("who", who)])
}
