//! One worker of the page: its start, its listeners and what it is doing. Dropping it ends it.

use gloo_timers::callback::Timeout;
use js_sys::{Array, ArrayBuffer};
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use web_sys::{ErrorEvent, Event, MessageEvent, Worker, WorkerOptions, WorkerType};

use super::protocol::ToWorker;
use crate::platform;

/// [ms] A worker that has not said ready by then is given up.
const READY_MS: u32 = 10_000;

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// It has not said ready yet.
    Starting,
    /// It takes a run.
    Nothing,
    /// This run of the current request.
    Run(usize),
}

/// What is heard of a worker.
pub(super) enum Heard {
    /// It said something.
    Message(MessageEvent),
    /// It broke, or could not be loaded.
    Error(String),
    /// Its time to say ready is over.
    Late,
}

/// See the module.
pub(super) struct Link {
    /// Tells it from the others, those that have ended included.
    pub(super) key: u32,
    /// What it does.
    pub(super) doing: Doing,
    worker: Worker,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _error: Closure<dyn FnMut(Event)>,
    _late: Timeout,
}

impl Link {
    /// Starts a worker; `heard` is told all about it, with its key.
    pub(super) fn start(key: u32, heard: impl Fn(u32, Heard) + Clone + 'static) -> Result<Self, String> {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        // Relative to the page's base, so that the page works under any path.
        let worker = Worker::new_with_options("./worker_loader.js", &options).map_err(|why| platform::reason(&why))?;
        let told = heard.clone();
        let message = Closure::<dyn FnMut(MessageEvent)>::new(move |event| told(key, Heard::Message(event)));
        let told = heard.clone();
        let error = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
            event.prevent_default();
            let why = event.dyn_ref::<ErrorEvent>().map(ErrorEvent::message).filter(|text| !text.is_empty());
            told(key, Heard::Error(why.unwrap_or_else(|| "the worker could not be loaded".to_owned())));
        });
        worker.set_onmessage(Some(message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(error.as_ref().unchecked_ref()));
        let late = Timeout::new(READY_MS, move || heard(key, Heard::Late));
        Ok(Self { key, doing: Doing::Starting, worker, _message: message, _error: error, _late: late })
    }

    /// Why a worker is given up that has not said ready in time.
    pub(super) fn too_late() -> String {
        format!("no answer within {} s", READY_MS / 1_000)
    }

    /// Hands a run to it, and a buffer that may take the records.
    pub(super) fn hand(&mut self, run: usize, message: &ToWorker, spare: Option<ArrayBuffer>) {
        self.doing = Doing::Run(run);
        let Ok(text) = serde_json::to_string(message) else { return };
        let _ = match spare {
            Some(spare) => {
                self.worker.post_message_with_transfer(&Array::of2(&text.into(), &spare), &Array::of1(&spare))
            }
            None => self.worker.post_message(&Array::of1(&text.into())),
        };
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}
