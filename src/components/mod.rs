//! The components of the page. Thin: they read the state, show it, and send actions.

mod charts;
mod column;
mod compared;
mod controls;
mod density;
mod dots;
mod findings;
mod header;
mod lanes;
mod legend;
mod notices;
mod opened;
mod overview;
mod plot;
mod references;
mod resting;
mod results;
mod ruler;
mod scenario_dialog;
mod shortcuts;
mod task_panel;
mod timeline;
mod transport;
mod worker_table;

pub(crate) use controls::Controls;
pub(crate) use header::Header;
pub(crate) use notices::Notices;
pub(crate) use resting::Resting;
pub(crate) use results::Results;
pub(crate) use shortcuts::Shortcuts;
pub(crate) use timeline::Timeline;
pub(crate) use transport::Transport;

pub(crate) use column::Columns;
pub(crate) use legend::Legend;
pub(crate) use opened::{FILE_INPUT, OpenButton, OpenedFiles, open as open_file};
pub(crate) use task_panel::TaskPanel;

use parkbench_engine::{Blocking, Flavor, LockKind, Model, PoolKind, Rejection, RunSpec, Runtime, Scenario};
use parkbench_view::format;

use crate::hooks::App;
use crate::i18n::{Strings, dispatcher, fill, model, pool_kind};
use crate::state::RunLabel;

/// The name of run number `index`: the runtime beside which it stands, else its model, or, where several runs share the
/// model, what tells it apart.
fn run_name(app: &App, index: usize) -> String {
    let (locale, scenario) = (app.locale(), app.state.scenario_in_view());
    if let Some(run) = app.state.beside(index) {
        return run.variant.clone();
    }
    let Some(run) = app.state.runs_in_view().into_iter().nth(index) else { return String::new() };
    let spec = &run.spec;
    if run.measured.is_some() {
        return fill(locale.strings().measured_name, &[("variant", &run.variant)]);
    }
    if scenario.runs.iter().filter(|run| run.model == spec.model).count() < 2 {
        return model(locale, spec.model).to_owned();
    }
    let knobs = match spec.model {
        Model::ThreadPool => match spec.pool.unwrap_or_default() {
            PoolKind::Fixed => {
                format!("{} {}", model(locale, spec.model), spec.size.unwrap_or(scenario.machine.cores))
            }
            kind => pool_kind(locale, kind).to_owned(),
        },
        Model::GreenThreads => green_name(spec),
        Model::Coroutines => coroutines_name(spec),
    };
    let name = match spec.lock {
        Some(lock) => format!("{knobs}, {}", lock_name(lock)),
        None => knobs,
    };
    // Knobs that have no short name are told apart by the variant.
    let same = |run: &&RunSpec| {
        run.model == spec.model
            && (run.pool, run.size, run.jdk, run.lock) == (spec.pool, spec.size, spec.jdk, spec.lock)
            && coroutines_name(run) == coroutines_name(spec)
            && run.runtime() == spec.runtime()
    };
    if scenario.runs.iter().filter(same).count() < 2 { name } else { spec.variant(&scenario.machine) }
}

/// Runtime of green threads as people call it.
fn green_name(spec: &RunSpec) -> String {
    match spec.runtime() {
        Some(Runtime::Go) => "Go".to_owned(),
        _ => format!("Java {}", spec.jdk.unwrap_or(parkbench_engine::DEFAULT_JDK)),
    }
}

/// Dispatcher or runtime of coroutines as code names it.
fn coroutines_name(spec: &RunSpec) -> String {
    if spec.runtime() != Some(Runtime::Tokio) {
        let dispatcher = dispatcher(spec.dispatcher.unwrap_or_default());
        return match spec.parallelism {
            Some(most) => format!("{dispatcher}.limitedParallelism({most})"),
            None => dispatcher.to_owned(),
        };
    }
    let flavor = match spec.flavor.unwrap_or_default() {
        Flavor::MultiThread => "tokio",
        Flavor::CurrentThread => "tokio current_thread",
    };
    match spec.blocking.unwrap_or_default() {
        Blocking::OnWorker => flavor.to_owned(),
        Blocking::SpawnBlocking => format!("{flavor}, spawn_blocking"),
    }
}

fn lock_name(lock: LockKind) -> &'static str {
    match lock {
        LockKind::Monitor => "synchronized",
        LockKind::Reentrant => "ReentrantLock",
        LockKind::ClassInitializer => "class initialiser",
        LockKind::NativeFrame => "native frame",
    }
}

/// The machine and the knobs of a run in a few words.
fn run_detail(words: &Strings, run: &RunLabel, scenario: &Scenario) -> String {
    let spec = &run.spec;
    if let Some(measured) = &run.measured {
        return fill(words.measured_detail, &[("runtime", &measured.runtime)]);
    }
    let cores = scenario.machine.cores.to_string();
    let mut text = match spec.model {
        Model::ThreadPool => pool_detail(words, spec, scenario),
        Model::GreenThreads if spec.runtime() == Some(Runtime::Go) => {
            let workers = spec.workers.unwrap_or(scenario.machine.cores).to_string();
            fill(words.procs_cores, &[("runtime", &green_name(spec)), ("workers", &workers), ("cores", &cores)])
        }
        Model::GreenThreads => {
            let threads = spec.carriers.unwrap_or(scenario.machine.cores).to_string();
            let jdk = spec.jdk.unwrap_or(parkbench_engine::DEFAULT_JDK).to_string();
            fill(words.carriers_cores, &[("jdk", &jdk), ("threads", &threads), ("cores", &cores)])
        }
        Model::Coroutines => {
            let runtime = coroutines_name(spec);
            let (template, workers) = match spec.runtime() {
                Some(Runtime::Tokio) if spec.flavor.unwrap_or_default() == Flavor::MultiThread => {
                    (words.workers_cores, spec.workers.unwrap_or(scenario.machine.cores).to_string())
                }
                Some(Runtime::Tokio) => (words.runtime_cores, String::new()),
                _ => (words.dispatcher_cores, String::new()),
            };
            fill(template, &[("dispatcher", &runtime), ("workers", &workers), ("cores", &cores)])
        }
    };
    if let Some(lock) = spec.lock {
        text.push_str(", ");
        text.push_str(&fill(words.lock_kind, &[("lock", lock_name(lock))]));
    }
    text
}

fn pool_detail(words: &Strings, spec: &RunSpec, scenario: &Scenario) -> String {
    let cores = scenario.machine.cores.to_string();
    let mut parts = vec![match spec.pool.unwrap_or_default() {
        PoolKind::Fixed => {
            let threads = spec.size.unwrap_or(scenario.machine.cores).to_string();
            fill(words.threads_cores, &[("threads", &threads), ("cores", &cores)])
        }
        PoolKind::Cached => fill(words.threads_cached, &[("cores", &cores)]),
        PoolKind::ThreadPerTask => fill(words.threads_each, &[("cores", &cores)]),
    }];
    let number = |template, n: u32| fill(template, &[("n", &format::count(u64::from(n)))]);
    parts.extend(scenario.machine.max_threads.map(|most| number(words.threads_limit, most)));
    parts.extend(spec.queue.map(|most| number(words.queue_limit, most)));
    parts.extend((spec.rejection == Some(Rejection::CallerRuns)).then(|| words.queue_caller.to_owned()));
    parts.join(", ")
}

/// The part of the axis in view in words.
fn window_text(app: &App) -> String {
    let window = app.state.window_in_view();
    let end = app.state.result.as_ref().map_or(0, |result| result.end_ns());
    let [from, to, end] = [window.from, window.to, end].map(format::duration);
    fill(app.words().view_range, &[("from", &from), ("to", &to), ("end", &end)])
}
