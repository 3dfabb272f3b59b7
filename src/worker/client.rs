//! The page's side: module workers where they can start, slices of the page's own time where none can.
//!
//! One worker starts with the page. Others follow when there is more work than it can take at once, and take the runs
//! that nobody has begun. What the page shows does not depend on how many there are.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use gloo_timers::future::TimeoutFuture;
use js_sys::{Array, ArrayBuffer};
use parkbench_engine::{Recording, Scenario};
use parkbench_trace::{Metrics, Trace};
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::MessageEvent;
use yew::Callback;

use super::buffer;
use super::job::{Broken, Job, JobEvent, Keep};
use super::link::{Doing, Heard, Link};
use super::protocol::{FromWorker, ToWorker};
use super::shares::{Shares, unchanged, workers_for};
use crate::platform;
use crate::state::{Finished, Request, RunSet};

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

/// How the simulator works.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Workers at most; without any, the page does the work from the start.
    pub(crate) workers: usize,
    /// Events per step.
    pub(crate) budget: u64,
    /// Most records of all runs together.
    pub(crate) most_records: u64,
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
    settings: Settings,
    who: Who,
    last_key: u32,
    current: Option<Current>,
    /// Events of each run of the last request that ended: a guess at what those of the next one take.
    work: Vec<u64>,
    /// The scenario of that request and its runs, for as long as the page shows them.
    last: Option<(Scenario, Vec<Weak<Finished>>)>,
    /// Buffers that have been read.
    spare: Vec<ArrayBuffer>,
}

enum Who {
    /// These workers; none only while there is nothing to do for them.
    Workers(Vec<Link>),
    /// The page itself.
    Page,
}

/// A request in progress.
struct Current {
    id: u32,
    scenario: Scenario,
    keep: Keep,
    follows: bool,
    shares: Shares<Rc<Finished>>,
    /// [ms] When its first run was handed out.
    since: Option<f64>,
}

impl Client {
    /// A simulator that tells its news to `news`.
    pub(crate) fn new(settings: Settings, news: Callback<News>) -> Self {
        let who = if settings.workers == 0 { Who::Page } else { Who::Workers(Vec::new()) };
        let client = Self(Rc::new(RefCell::new(Inner {
            news,
            settings,
            who,
            last_key: 0,
            current: None,
            work: Vec::new(),
            last: None,
            spare: Vec::new(),
        })));
        client.have_one();
        client
    }

    /// Starts a request; one in progress is given up.
    pub(crate) fn run(&self, request: &Request) {
        self.cancel();
        let (ready, page) = {
            let mut inner = self.0.borrow_mut();
            inner.current = Some(Current {
                id: request.id,
                scenario: request.scenario.clone(),
                keep: request.keep,
                follows: request.follows,
                shares: Shares::new(request.scenario.runs.len(), inner.settings.most_records, &inner.work),
                since: None,
            });
            if request.follows {
                inner.keep_unchanged();
            }
            inner.hand_out();
            let ready = |link: &Link| link.doing != Doing::Starting;
            (inner.links().iter().any(ready), matches!(inner.who, Who::Page))
        };
        if page {
            self.run_on_page();
        } else if ready {
            // While the page is still starting, other workers would only take time from the first.
            self.grow();
        }
        self.settle();
    }

    /// Gives up the request in progress. Workers in the middle of it are ended.
    pub(crate) fn cancel(&self) {
        {
            let mut inner = self.0.borrow_mut();
            if inner.current.take().is_some() {
                inner.end_busy();
            }
        }
        self.have_one();
    }

    /// Sees to it that there is a worker, where there can be any.
    fn have_one(&self) {
        let none = matches!(&self.0.borrow().who, Who::Workers(links) if links.is_empty());
        if none && let Err(why) = self.spawn() {
            self.fall_back(why);
        }
    }

    /// As many workers as there is work for.
    fn grow(&self) {
        loop {
            {
                let inner = self.0.borrow();
                let Some(Current { scenario, shares, .. }) = &inner.current else { return };
                let wanted = workers_for(scenario.runs.len(), scenario.task_count(), inner.settings.workers);
                if !shares.waiting() || inner.links().len() >= wanted {
                    return;
                }
            }
            if self.spawn().is_err() {
                return self.0.borrow_mut().enough();
            }
        }
    }

    fn spawn(&self) -> Result<(), String> {
        let key = {
            let mut inner = self.0.borrow_mut();
            inner.last_key += 1;
            inner.last_key
        };
        let client = self.clone();
        let link = Link::start(key, move |key, heard| client.hear(key, heard))?;
        if let Who::Workers(links) = &mut self.0.borrow_mut().who {
            links.push(link);
        }
        Ok(())
    }

    fn hear(&self, key: u32, heard: Heard) {
        // One that has been given up may still have something to say.
        let Some(doing) = self.0.borrow().links().iter().find(|link| link.key == key).map(|link| link.doing) else {
            return;
        };
        match heard {
            Heard::Message(event) => self.hear_message(key, doing, &event),
            Heard::Error(why) => self.give_up(key, doing, &Broken::Other { why }),
            Heard::Late if doing == Doing::Starting => {
                self.give_up(key, doing, &Broken::Other { why: Link::too_late() });
            }
            Heard::Late => {}
        }
    }

    fn hear_message(&self, key: u32, doing: Doing, event: &MessageEvent) {
        let data: Array = event.data().unchecked_into();
        let text = data.get(0).as_string().unwrap_or_default();
        let message = match serde_json::from_str::<FromWorker>(&text) {
            Ok(message) => message,
            Err(error) => {
                return self.give_up(key, doing, &Broken::other(&format!("a message that is none: {error}")));
            }
        };
        if doing == Doing::Starting {
            match message.refuse() {
                Some(why) => self.give_up(key, doing, &Broken::Other { why }),
                None => self.0.borrow_mut().free(key),
            }
            return;
        }
        let current = self.0.borrow().current.as_ref().map(|current| current.id);
        match message {
            FromWorker::Progress { id, index, done } if Some(id) == current => {
                self.progress(index, done);
                self.grow();
            }
            FromWorker::Run { id, index, figures, bytes } if Some(id) == current => {
                platform::mark("heard", index);
                // It goes on with the next run while the page reads this one.
                self.0.borrow_mut().free(key);
                self.take_up(index, data.get(1), bytes, figures.as_deref());
            }
            FromWorker::Failed { broken, .. } => self.give_up(key, doing, &broken),
            // Nothing of a request that was given up.
            FromWorker::Ready { .. } | FromWorker::Progress { .. } | FromWorker::Run { .. } => {}
        }
    }

    /// A worker is no use any more. What it was doing has failed; one that never was ready leaves the work to the others,
    /// or to the page.
    fn give_up(&self, key: u32, doing: Doing, why: &Broken) {
        let alone = {
            let mut inner = self.0.borrow_mut();
            if let Who::Workers(links) = &mut inner.who {
                links.retain(|link| link.key != key);
            }
            if let (Doing::Run(run), Some(current)) = (doing, &mut inner.current) {
                current.shares.fail(run, why.clone());
            }
            inner.links().is_empty()
        };
        match doing {
            Doing::Starting if alone => self.fall_back(why.to_string()),
            Doing::Starting => self.0.borrow_mut().enough(),
            Doing::Nothing | Doing::Run(_) => {
                self.have_one();
                self.settle();
            }
        }
    }

    fn progress(&self, run: usize, done: u64) {
        let news = {
            let mut inner = self.0.borrow_mut();
            inner.current.as_mut().map(|Current { id, scenario, shares, .. }| {
                shares.progress(run, done);
                News::Progress(*id, shares.done(), scenario.task_count() * scenario.runs.len() as u64)
            })
        };
        if let Some(news) = news {
            self.tell(news);
        }
    }

    /// Reads a run that a worker has sent.
    fn take_up(&self, index: usize, buffer: JsValue, bytes: u32, figures: Option<&str>) {
        let read = || {
            let figures = figures.map(serde_json::from_str::<Box<Metrics>>).transpose();
            let figures = figures.map_err(|error| Broken::other(&error))?;
            let recording = buffer::read(&buffer, bytes).map_err(|error| Broken::other(&error))?;
            self.0.borrow_mut().spare.extend(buffer::keep(buffer));
            platform::mark("decoded", index);
            self.keep(index, recording, figures)
        };
        let read = read();
        if let (Err(why), Some(current)) = (read, &mut self.0.borrow_mut().current) {
            current.shares.fail(index, why);
        }
        self.settle();
    }

    fn keep(&self, index: usize, recording: Recording, figures: Option<Box<Metrics>>) -> Result<(), Broken> {
        let trace = Trace::new(recording).map_err(|error| Broken::other(&error))?;
        let mut inner = self.0.borrow_mut();
        if let Some(current) = &mut inner.current
            && let Some(run) = Finished::new(&current.scenario, index, trace, figures)
        {
            // The next place of the slider may replace it before it is looked at.
            let run = if current.follows { run } else { run.with_lanes() };
            platform::mark("derived", index);
            current.end(index, Rc::new(run));
        }
        Ok(())
    }

    /// Tells what has come of the current request, if that is certain.
    fn settle(&self) {
        let news = {
            let mut inner = self.0.borrow_mut();
            let Some(current) = inner.current.take() else { return };
            if let Some(why) = current.shares.broken() {
                inner.end_busy();
                News::Failed(current.id, why)
            } else if current.shares.complete() {
                let wall_us = current.since.map_or(0.0, |since| (platform::now_ms() - since) * 1_000.0) as u64;
                let Current { id, scenario, shares, .. } = current;
                let runs = shares.into_values();
                inner.work = runs.iter().map(|run| run.metrics.events).collect();
                inner.last = Some((scenario.clone(), runs.iter().map(Rc::downgrade).collect()));
                News::Finished(id, Rc::new(RunSet { scenario, runs, wall_us }))
            } else {
                inner.current = Some(current);
                return;
            }
        };
        self.have_one();
        self.tell(news);
    }

    /// There is no worker; the page does the work from now on.
    fn fall_back(&self, why: String) {
        self.0.borrow_mut().who = Who::Page;
        self.tell(News::OnPage(why));
        if self.0.borrow().current.is_some() {
            self.run_on_page();
        }
    }

    fn run_on_page(&self) {
        let client = self.clone();
        wasm_bindgen_futures::spawn_local(async move {
            let prepared = {
                let mut inner = client.0.borrow_mut();
                let Settings { budget, most_records, .. } = inner.settings;
                inner.current.as_mut().map(|current| {
                    // What workers may have begun is done again.
                    current.shares = Shares::new(current.scenario.runs.len(), most_records, &[]);
                    let job = Job::new(current.scenario.clone(), budget, current.keep);
                    (current.id, job.map(|job| job.with_max_records(most_records)))
                })
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
        let mut told = platform::now_ms();
        loop {
            TimeoutFuture::new(0).await;
            let start = platform::now_ms();
            match &mut self.0.borrow_mut().current {
                Some(current) if current.id == id => _ = current.since.get_or_insert(start),
                _ => return Ok(()),
            }
            loop {
                let event = job.step()?;
                let now = platform::now_ms();
                match event {
                    JobEvent::Progress { run, done } => {
                        if now - told >= PROGRESS_MS {
                            told = now;
                            self.progress(run, done);
                        }
                    }
                    JobEvent::Run(index, recording, figures) => self.keep(index, *recording, figures)?,
                    JobEvent::Finished => {
                        self.settle();
                        return Ok(());
                    }
                }
                if now - start >= SLICE_MS {
                    break;
                }
            }
        }
    }

    fn tell(&self, news: News) {
        let callback = self.0.borrow().news.clone();
        callback.emit(news);
    }
}

impl Current {
    fn end(&mut self, index: usize, run: Rc<Finished>) {
        let (tasks, records) = (u64::from(run.metrics.tasks), run.records);
        self.shares.end(index, run, tasks, records);
    }
}

impl Inner {
    fn links(&self) -> &[Link] {
        match &self.who {
            Who::Workers(links) => links,
            Who::Page => &[],
        }
    }

    /// A worker has nothing to do: it gets the next run, if there is one.
    fn free(&mut self, key: u32) {
        if let Who::Workers(links) = &mut self.who
            && let Some(link) = links.iter_mut().find(|link| link.key == key)
        {
            link.doing = Doing::Nothing;
        }
        self.hand_out();
    }

    /// Takes up the runs of the last request that this one would only repeat.
    fn keep_unchanged(&mut self) {
        let (Some(current), Some((scenario, runs))) = (&mut self.current, &self.last) else { return };
        for run in unchanged(scenario, &current.scenario) {
            if let Some(known) = runs.get(run).and_then(Weak::upgrade).filter(|known| known.has_picture()) {
                current.end(run, known);
            }
        }
    }

    /// Hands runs that nobody has begun to workers that have nothing to do.
    fn hand_out(&mut self) {
        let (Who::Workers(links), Some(current)) = (&mut self.who, &mut self.current) else { return };
        for link in links.iter_mut().filter(|link| link.doing == Doing::Nothing) {
            let most_records = current.shares.room();
            let Some(index) = current.shares.take() else { return };
            current.since.get_or_insert_with(platform::now_ms);
            platform::mark("asked for", index);
            let message = ToWorker::Run {
                id: current.id,
                index,
                scenario: current.scenario.to_json(),
                budget: self.settings.budget,
                keep: current.keep,
                most_records,
            };
            link.hand(index, &message, self.spare.pop());
        }
    }

    /// Ends the workers that are in the middle of a run.
    fn end_busy(&mut self) {
        if let Who::Workers(links) = &mut self.who {
            links.retain(|link| !matches!(link.doing, Doing::Run(_)));
        }
    }

    /// No more workers than there are now can be had.
    fn enough(&mut self) {
        self.settings.workers = self.links().len();
    }
}
