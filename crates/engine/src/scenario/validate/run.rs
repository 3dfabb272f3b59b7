//! Checking a run: knobs that belong to its model and runtime, within their ranges.

use super::{MAX_THREADS, check_whole};
use crate::scenario::{Dispatcher, Flavor, LockKind, Model, PoolKind, RunSpec, Runtime};

/// Refuses what is wrong with run number `index`.
pub(super) fn check_run(index: usize, run: &RunSpec, refuse: &mut impl FnMut(String, String, String)) {
    let field = |name: &str| format!("runs[{index}].{name}");
    check_owners(index, run, refuse);
    for (name, value) in [
        ("size", run.size),
        ("carriers", run.carriers),
        ("max_pool", run.max_pool),
        ("parallelism", run.parallelism),
        ("workers", run.workers),
        ("jdk", run.jdk),
        ("min_runnable", run.min_runnable),
    ] {
        if let Some(value) = value {
            check_whole(field(name), value, refuse);
        }
    }
    if let (Some(carriers), Some(max)) = (run.carriers, run.max_pool)
        && max < carriers
    {
        // The JDK would lower the parallelism in silence (section 1.1 of the runtime facts).
        refuse(field("max_pool"), max.to_string(), format!("{carriers}, the carriers, or more"));
    }
    if let Some(most) = run.parallelism.filter(|_| run.dispatcher == Some(Dispatcher::EventLoop)) {
        refuse(field("parallelism"), most.to_string(), "no parallelism on the event loop, which is one thread".into());
    }
    if run.rejection.is_some() && run.queue.is_none() {
        let value = run.rejection.unwrap_or_default().as_str().to_owned();
        refuse(field("rejection"), value, "no rejection without a queue, for a queue without limit takes all".into());
    }
    if run.poll_interval.is_some_and(|v| v.0 < 1_000) {
        refuse(field("poll_interval"), run.poll_interval.unwrap_or_default().to_string(), "1 us or more".into());
    }
    if let Some(kind) = run.lock.filter(|kind| !kind.is_replaceable()) {
        let value = if kind == LockKind::NativeFrame { "native-frame" } else { "class-initializer" };
        refuse(field("lock"), value.to_owned(), "monitor, reentrant".into());
    }
}

/// The least and the most of the knob of this name, if it is a whole number with limits of its own.
pub(super) fn whole(name: &str) -> Option<(u64, u64)> {
    match name {
        "size" | "carriers" | "max_pool" | "parallelism" | "workers" => Some((1, MAX_THREADS.into())),
        "min_runnable" => Some((0, MAX_THREADS.into())),
        "jdk" => Some((21, 25)),
        _ => None,
    }
}

/// A knob stands only where its model and runtime have it.
fn check_owners(index: usize, run: &RunSpec, refuse: &mut impl FnMut(String, String, String)) {
    let runtime = run.runtime();
    let fixed = run.model == Model::ThreadPool && run.pool.unwrap_or_default() == PoolKind::Fixed;
    let text = |value: Option<u32>| value.map(|v| v.to_string());
    let word = |value: Option<&'static str>| value.map(str::to_owned);
    let pools = run.model == Model::ThreadPool;
    let java = runtime == Some(Runtime::Java);
    let kotlin = runtime == Some(Runtime::Kotlin);
    let tokio = runtime == Some(Runtime::Tokio);
    let threads = run.flavor.unwrap_or_default() == Flavor::MultiThread;
    let several = runtime == Some(Runtime::Go) || tokio && threads;
    let knobs = [
        ("pool", word(run.pool.map(PoolKind::as_str)), pools, "thread-pool"),
        ("size", text(run.size), fixed, "thread-pool of a fixed size"),
        ("queue", text(run.queue), fixed, "thread-pool of a fixed size"),
        (
            "rejection",
            word(run.rejection.map(super::super::run::Rejection::as_str)),
            fixed,
            "thread-pool of a fixed size",
        ),
        ("poll_interval", run.poll_interval.map(|v| v.to_string()), pools, "thread-pool"),
        ("jdk", text(run.jdk), java, "green-threads on java"),
        ("carriers", text(run.carriers), java, "green-threads on java"),
        ("max_pool", text(run.max_pool), java, "green-threads on java"),
        ("min_runnable", text(run.min_runnable), java, "green-threads on java"),
        ("dispatcher", word(run.dispatcher.map(Dispatcher::as_str)), kotlin, "coroutines on kotlin"),
        ("parallelism", text(run.parallelism), kotlin, "coroutines on kotlin"),
        ("workers", text(run.workers), several, "green-threads on go and of coroutines on tokio multi-thread"),
        ("flavor", word(run.flavor.map(Flavor::as_str)), tokio, "coroutines on tokio"),
        ("blocking", word(run.blocking.map(super::super::run::Blocking::as_str)), tokio, "coroutines on tokio"),
    ];
    for (name, value, owned, owner) in knobs {
        if let Some(value) = value.filter(|_| !owned) {
            refuse(format!("runs[{index}].{name}"), value, format!("no {name} here, for it is a knob of {owner}"));
        }
    }
    let allowed: &[Runtime] = match run.model {
        Model::ThreadPool => &[],
        Model::GreenThreads => &[Runtime::Java, Runtime::Go],
        Model::Coroutines => &[Runtime::Kotlin, Runtime::Tokio],
    };
    if let Some(runtime) = run.runtime.filter(|runtime| !allowed.contains(runtime)) {
        let words: Vec<&str> = allowed.iter().map(|runtime| runtime.as_str()).collect();
        let allowed = if words.is_empty() {
            "no runtime here, for it is a knob of green-threads and coroutines".to_owned()
        } else {
            words.join(", ")
        };
        refuse(format!("runs[{index}].runtime"), runtime.as_str().to_owned(), allowed);
    }
}
