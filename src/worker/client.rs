//! The page's side: a module worker where one can start, slices of the page's own time where none can.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use gloo_timers::future::TimeoutFuture;
use js_sys::{Array, Uint8Array};
use parkbench_engine::{Recording, Scenario};
use parkbench_trace::{Metrics, Trace, decode};
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use web_sys::{ErrorEvent, Event, MessageEvent, Worker, WorkerOptions, WorkerType};
use yew::Callback;

use super::job::{Broken, Job, JobEvent, Keep};
use super::protocol::{FromWorker, ToWorker};
use crate::platform;
use crate::state::{Finished, Request, RunSet};

/// [ms] A worker that has not said ready by then is given up.
const READY_MS: u32 = 10_000;
/// [ms] A slice of the page's time.
const SLICE_MS: f64 = 8.0;
/// [ms] Progress is told no more often.
const PROGRESS_MS: f64 = 50.0;

/// What the page hears.
pub(crate) enum News {
    /// Request, tasks ended, tasks in all.
    Progress(u32, u64, u64),
    /// All runs of a request.
    Finished(u32, Rc<RunSet>),
    /// A request broke off.
    Failed(u32, Broken),
    /// There is no worker, for this reason; the page does the work.
    OnPage(String),
}

/// The one simulator of the page.
#[derive(Clone)]
pub(crate) struct Client(Rc<RefCell<Inner>>);

impl PartialEq for Client {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

struct Inner {
    news: Callback<News>,
    budget: u64,
    most_records: u64,
    who: Who,
    /// Counts up with every worker, so that an event of an old one is told apart.
    generation: u32,
    current: Option<Current>,
}

enum Who {
    /// Nobody yet.
    Nobody,
    /// A worker; it takes requests once it is ready.
    Worker { link: WorkerLink, ready: bool },
    /// The page itself.
    Page,
}

/// A request in progress.
struct Current {
    id: u32,
    scenario: Scenario,
    keep: Keep,
    runs: Vec<Finished>,
}

/// A worker and its listeners; dropping it ends the worker.
struct WorkerLink {
    worker: Worker,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _error: Closure<dyn FnMut(Event)>,
    _late: Option<Timeout>,
}

impl Drop for WorkerLink {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

impl Client {
    /// A simulator that tells its news to `news`, in steps of `budget` events and with this many records at most; with
    /// `worker` off, the page does the work from the start.
    pub(crate) fn new(worker: bool, budget: u64, most_records: u64, news: Callback<News>) -> Self {
        let who = Who::Nobody;
        let inner = Inner { news, budget, most_records, who, generation: 0, current: None };
        let client = Self(Rc::new(RefCell::new(inner)));
        if worker {
            client.spawn();
        } else {
            client.0.borrow_mut().who = Who::Page;
        }
        client
    }

    /// Starts a request; one in progress is given up.
    pub(crate) fn run(&self, request: &Request) {
        if self.0.borrow().current.is_some() {
            self.cancel();
        }
        let page = {
            let mut inner = self.0.borrow_mut();
            inner.current = Some(Current {
                id: request.id,
                scenario: request.scenario.clone(),
                keep: request.keep,
                runs: Vec::new(),
            });
            match &inner.who {
                Who::Worker { ready: true, .. } => {
                    inner.post();
                    false
                }
                Who::Worker { ready: false, .. } | Who::Nobody => false,
                Who::Page => true,
            }
        };
        if page {
            self.run_on_page();
        }
    }

    /// Gives up the request in progress. A worker in the middle of it is ended, and another one starts.
    pub(crate) fn cancel(&self) {
        let respawn = {
            let mut inner = self.0.borrow_mut();
            inner.current.take().is_some() && matches!(inner.who, Who::Worker { ready: true, .. })
        };
        if respawn {
            self.spawn();
        }
    }

    fn spawn(&self) {
        let generation = {
            let mut inner = self.0.borrow_mut();
            inner.generation += 1;
            inner.who = Who::Nobody;
            inner.generation
        };
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        // Relative to the page's base, so that the page works under any path.
        match Worker::new_with_options("./worker_loader.js", &options) {
            Ok(worker) => {
                let link = self.listen(worker, generation);
                self.0.borrow_mut().who = Who::Worker { link, ready: false };
            }
            Err(error) => self.fall_back(platform::reason(&error)),
        }
    }

    fn listen(&self, worker: Worker, generation: u32) -> WorkerLink {
        let client = self.clone();
        let message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            if client.0.borrow().generation == generation {
                client.hear(&event);
            }
        });
        let client = self.clone();
        let error = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
            if client.0.borrow().generation == generation {
                event.prevent_default();
                let why = event.dyn_ref::<ErrorEvent>().map(ErrorEvent::message).filter(|text| !text.is_empty());
                client.break_off(why.unwrap_or_else(|| "the worker could not be loaded".to_owned()));
            }
        });
        worker.set_onmessage(Some(message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(error.as_ref().unchecked_ref()));
        let client = self.clone();
        let late = Timeout::new(READY_MS, move || {
            let waiting = {
                let inner = client.0.borrow();
                inner.generation == generation && matches!(inner.who, Who::Worker { ready: false, .. })
            };
            if waiting {
                client.fall_back(format!("no answer within {} s", READY_MS / 1_000));
            }
        });
        WorkerLink { worker, _message: message, _error: error, _late: Some(late) }
    }

    fn hear(&self, event: &MessageEvent) {
        let data: Array = event.data().unchecked_into();
        let text = data.get(0).as_string().unwrap_or_default();
        let message = match serde_json::from_str::<FromWorker>(&text) {
            Ok(message) => message,
            Err(error) => return self.break_off(format!("a message that is none: {error}")),
        };
        let waiting = matches!(self.0.borrow().who, Who::Worker { ready: false, .. });
        if waiting {
            if let Some(why) = message.refuse() {
                return self.fall_back(why);
            }
            let mut inner = self.0.borrow_mut();
            if let Who::Worker { ready, .. } = &mut inner.who {
                *ready = true;
            }
            inner.post();
            return;
        }
        let current = self.0.borrow().current.as_ref().map(|current| current.id);
        match message {
            FromWorker::Progress { id, done, total } => self.tell(News::Progress(id, done, total)),
            FromWorker::Run { id, index, figures } if Some(id) == current => {
                let bytes = Uint8Array::new(&data.get(1)).to_vec();
                let kept = || {
                    let figures = figures.as_deref().map(serde_json::from_str::<Box<Metrics>>).transpose();
                    let figures = figures.map_err(|error| error.to_string())?;
                    self.keep(index, decode(&bytes).map_err(|error| error.to_string())?, figures)
                };
                if let Err(why) = kept() {
                    self.break_off(why);
                }
            }
            FromWorker::Finished { id, wall_us } if Some(id) == current => {
                if self.is_complete() {
                    self.finish(wall_us);
                } else {
                    self.break_off("the worker ended without all of its runs".to_owned());
                }
            }
            FromWorker::Failed { id, broken } if id == 0 || Some(id) == current => self.break_off_with(broken),
            // Late answers to a request that was given up.
            FromWorker::Ready { .. }
            | FromWorker::Run { .. }
            | FromWorker::Finished { .. }
            | FromWorker::Failed { .. } => {}
        }
    }

    fn keep(&self, index: usize, recording: Recording, figures: Option<Box<Metrics>>) -> Result<(), String> {
        let trace = Trace::new(recording).map_err(|error| error.to_string())?;
        let mut inner = self.0.borrow_mut();
        if let Some(current) = &mut inner.current
            && let Some(run) = Finished::new(&current.scenario, index, trace, figures)
        {
            current.runs.push(run);
        }
        Ok(())
    }

    /// Whether every run of the current request has arrived.
    fn is_complete(&self) -> bool {
        self.0.borrow().current.as_ref().is_some_and(|current| current.runs.len() == current.scenario.runs.len())
    }

    fn finish(&self, wall_us: u64) {
        let current = self.0.borrow_mut().current.take();
        if let Some(Current { id, scenario, runs, .. }) = current {
            self.tell(News::Finished(
                id,
                Rc::new(RunSet { scenario, runs: runs.into_iter().map(Rc::new).collect(), wall_us }),
            ));
        }
    }

    fn break_off(&self, why: String) {
        self.break_off_with(Broken::Other { why });
    }

    /// The request in progress failed; the worker is replaced, for its memory is in an unknown state.
    fn break_off_with(&self, why: Broken) {
        let (current, ready) = {
            let mut inner = self.0.borrow_mut();
            let ready = matches!(inner.who, Who::Worker { ready: true, .. });
            if ready { (inner.current.take(), true) } else { (None, false) }
        };
        if !ready {
            return self.fall_back(why.to_string());
        }
        if let Some(current) = current {
            self.tell(News::Failed(current.id, why));
        }
        self.spawn();
    }

    /// There is no worker; the page does the work from now on.
    fn fall_back(&self, why: String) {
        {
            let mut inner = self.0.borrow_mut();
            inner.generation += 1;
            inner.who = Who::Page;
        }
        self.tell(News::OnPage(why));
        if self.0.borrow().current.is_some() {
            self.run_on_page();
        }
    }

    fn run_on_page(&self) {
        let client = self.clone();
        wasm_bindgen_futures::spawn_local(async move {
            let prepared = {
                let inner = client.0.borrow();
                let job = |current: &Current| {
                    let job = Job::new(current.scenario.clone(), inner.budget, current.keep);
                    (current.id, job.map(|job| job.with_max_records(inner.most_records)))
                };
                inner.current.as_ref().map(job)
            };
            let Some((id, job)) = prepared else { return };
            let done = match job {
                Ok(job) => client.slices(id, job).await,
                Err(why) => Err(why),
            };
            if let Err(why) = done {
                client.0.borrow_mut().current = None;
                client.tell(News::Failed(id, why));
            }
        });
    }

    async fn slices(&self, id: u32, mut job: Job) -> Result<(), Broken> {
        let mut worked_ms = 0.0;
        let mut told = platform::now_ms();
        loop {
            TimeoutFuture::new(0).await;
            if self.0.borrow().current.as_ref().map(|current| current.id) != Some(id) {
                return Ok(());
            }
            let start = platform::now_ms();
            loop {
                let event = job.step()?;
                let now = platform::now_ms();
                match event {
                    JobEvent::Progress { done, total } => {
                        if now - told >= PROGRESS_MS {
                            told = now;
                            self.tell(News::Progress(id, done, total));
                        }
                    }
                    JobEvent::Run(index, recording, figures) => {
                        self.keep(index, *recording, figures).map_err(|why| Broken::Other { why })?;
                    }
                    JobEvent::Finished => {
                        worked_ms += now - start;
                        self.finish((worked_ms * 1_000.0) as u64);
                        return Ok(());
                    }
                }
                if now - start >= SLICE_MS {
                    break;
                }
            }
            worked_ms += platform::now_ms() - start;
        }
    }

    fn tell(&self, news: News) {
        let callback = self.0.borrow().news.clone();
        callback.emit(news);
    }
}

impl Inner {
    /// Hands the current request to a worker that is ready.
    fn post(&self) {
        if let (Who::Worker { link, ready: true }, Some(current)) = (&self.who, &self.current) {
            let message = ToWorker::Run {
                id: current.id,
                scenario: current.scenario.to_json(),
                budget: self.budget,
                keep: current.keep,
                most_records: self.most_records,
            };
            if let Ok(text) = serde_json::to_string(&message) {
                let _ = link.worker.post_message(&text.into());
            }
        }
    }
}
