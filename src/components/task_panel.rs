//! One task under every model: its state at the clock, why, on which worker, and its whole life as a strip.

use std::rc::Rc;

use parkbench_engine::{NO_WORKER, TaskState};
use parkbench_trace::TaskRecord;
use parkbench_view::palette::state_pattern;
use parkbench_view::{Surface, Theme, format};
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::plot::{Painter, Plot};
use super::run_name;
use crate::hooks::{use_app, use_snapshot};
use crate::i18n::{fill, reason, state_under};
use crate::state::{Action, Finished, RunSet, Window};

/// [CSS px]
const STRIP: u32 = 16;

/// See the module.
#[component]
pub(crate) fn TaskPanel() -> Html {
    let app = use_app();
    let words = app.words();
    let task = app.state.task_in_view();
    let scenario = app.state.scenario_in_view();
    let planned = || u32::try_from(scenario.task_count()).unwrap_or(u32::MAX);
    let last = app.state.result.as_ref().map_or_else(planned, |result| result.tasks()).saturating_sub(1);
    let runs = app.state.runs_in_view().len();
    let typed = {
        let dispatch = app.dispatch.clone();
        Callback::from(move |event: Event| {
            let number =
                event.target_dyn_into::<HtmlInputElement>().and_then(|input| input.value().parse::<u32>().ok());
            if let Some(number) = number {
                dispatch.emit(Action::Select(number.min(last)));
            }
        })
    };
    html! {
        <section class="task" aria-labelledby="task-title">
            <div class="bar">
                <h2 id="task-title">{words.task_section}</h2>
                <label for="task-number">{ fill(words.task_number, &[("last", &format::count(u64::from(last)))]) }</label>
                <input id="task-number" type="number" min="0" max={last.to_string()} step="1" value={task.to_string()} onchange={typed} />
            </div>
            <div class={classes!("columns", format!("runs-{}", runs.min(6)))} tabindex="0" role="group" aria-labelledby="task-title">
                { for (0..runs).map(|run| html! { <TaskCell key={run} {run} {task} /> }) }
            </div>
        </section>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct Props {
    run: usize,
    task: u32,
}

#[component]
fn TaskCell(props: &Props) -> Html {
    let app = use_app();
    let (words, locale) = (app.words(), app.locale());
    let now = use_snapshot().now;
    let result = app.state.result.clone();
    let history = use_memo((result.clone(), props.run, props.task), |(result, run, task)| {
        result.as_ref().and_then(|result| result.runs.get(*run)).map(|run| run.trace.history(*task)).unwrap_or_default()
    });
    let Some(run) = app.state.runs_in_view().into_iter().nth(props.run) else { return Html::default() };
    let (name, spec) = (run_name(&app, props.run), &run.spec);
    let label = fill(words.task_strip, &[("task", &format::count(u64::from(props.task))), ("model", &name)]);
    let current = history.iter().rfind(|record| record.start_ns <= now);
    let item = current.map_or(TaskState::Pending, |record| record.tag.state);
    let why = current.map_or(parkbench_engine::Reason::NotSubmitted, |record| record.tag.reason);
    let finished = result.as_ref().and_then(|result| result.runs.get(props.run));
    let worker = current.filter(|record| record.tag.worker != NO_WORKER).and_then(|record| {
        finished.and_then(|run| run.trace.thread_info().get(record.tag.worker as usize)).map(|info| info.name.clone())
    });
    let since = current.filter(|_| item != TaskState::Done).map(|record| {
        fill(
            words.task_since,
            &[("start", &format::duration(record.start_ns)), ("end", &format::duration(record.end_ns))],
        )
    });
    if finished.is_some_and(|run| !run.has_picture()) {
        return html! { <div class="task-cell"><h3>{name}</h3><p class="detail">{words.no_picture_task}</p></div> };
    }
    html! {
        <div class="task-cell">
            <h3>{name}</h3>
            <p class="task-state">
                <span class={classes!("swatch", item.as_str())} aria-hidden="true"></span>
                <strong>{state_under(locale, spec.runtime(), item)}</strong>
                if let Some(worker) = worker { {" "}{ fill(words.task_on, &[("worker", &worker)]) } }
            </p>
            <Plot height={STRIP} subject={props.task} {label} paint={painter(props.run, props.task)} />
            <p class="task-why">{reason(locale, why)}</p>
            <p class="detail">{since.unwrap_or_default()}</p>
            <p class="detail life">{finished.and_then(|run| life(words, &history, run)).unwrap_or_default()}</p>
        </div>
    }
}

/// What the whole life consisted of.
fn life(words: &crate::i18n::Strings, history: &[TaskRecord], run: &Finished) -> Option<String> {
    let sum = |states: &[TaskState]| {
        let part = |record: &&TaskRecord| states.contains(&record.tag.state);
        history.iter().filter(part).map(|record| record.end_ns - record.start_ns).sum::<u64>()
    };
    let submitted = history.iter().find(|record| record.tag.state != TaskState::Pending)?.start_ns;
    let ended = history.iter().find(|record| matches!(record.tag.state, TaskState::Done | TaskState::Failed));
    let ended = ended.map_or(run.trace.end_ns(), |record| record.start_ns);
    Some(fill(
        words.task_life,
        &[
            ("queued", &format::duration(sum(&[TaskState::Queued]))),
            ("run", &format::duration(sum(&[TaskState::Running, TaskState::Preempted]))),
            ("waited", &format::duration(sum(&[TaskState::Waiting, TaskState::Blocked, TaskState::LockWait]))),
            ("response", &format::duration(ended.saturating_sub(submitted))),
        ],
    ))
}

fn painter(run: usize, task: u32) -> Painter {
    Rc::new(move |result: &RunSet, window: Window, theme: Theme, surface: &mut Surface| {
        let (width, height) = (surface.width(), surface.height());
        surface.fill(0..width, 0..height, theme.background());
        let Some(run) = result.runs.get(run) else { return };
        let history = run.trace.history(task);
        let column = |at: u64| (window.share(at).clamp(0.0, 1.0) * width as f64).floor() as usize;
        let first = history.first().map_or(run.trace.end_ns(), |record| record.start_ns);
        let records = history.iter().map(|record| (record.tag.state, record.start_ns, record.end_ns));
        for (state, start, stop) in std::iter::once((TaskState::Pending, 0, first)).chain(records) {
            if stop < window.from || start > window.to || start >= stop {
                continue;
            }
            let (left, right) = (column(start), column(stop).max(column(start) + 1));
            surface.fill_pattern(left..right, 0..height, theme.state(state), state_pattern(state), theme.background());
        }
    })
}
