//! The reference of a thread pool and of green threads: workers, their queues, and who is woken.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use parkbench_engine::{BlockKind, GuardKind, ModelPlan, Op, Plan, PoolKind};

use super::parts::{Families, Lock, child_of};

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The submitter hands over the task at this place in the order of submission.
    Submit(usize),
    /// The worker goes on.
    Worker(usize),
    /// The task's wait is over; the timer thread with this number notices.
    Due(u32, usize),
    /// The unblocker thread gets to the task.
    Unblock(u32),
}

/// A worker of the reference: what it runs.
#[derive(Clone, Default)]
struct Worker {
    task: Option<u32>,
    /// The queue that it took from last.
    source: usize,
    activated: bool,
    /// It is in a call that has been made up for.
    away: bool,
}

/// What the reference knows of a JDK.
#[derive(Clone, Copy, Default)]
struct Jdk {
    number: u32,
    parallelism: usize,
    max_pool: usize,
    min_runnable: usize,
    timers: usize,
}

impl Jdk {
    fn compensates(self, kind: BlockKind) -> bool {
        kind == BlockKind::Fsync
            || self.number < 24 && kind == BlockKind::ObjectWait
            || self.number < 23 && kind == BlockKind::File
    }
}

pub(super) struct Reference {
    plan: Plan,
    now: u64,
    events: BTreeMap<(u64, u64), Event>,
    sequence: u64,
    step: Vec<usize>,
    monitors: Vec<u32>,
    /// The worker that the task holds while it waits.
    held: Vec<Option<usize>>,
    locks: Vec<Lock>,
    families: Families,
    workers: Vec<Worker>,
    idle: VecDeque<usize>,
    /// Workers that have not ended.
    alive: u32,
    jdk: Jdk,
    active: usize,
    /// The pool has one; green threads have those of the submitter, the timers, the unblocker, and one for each carrier.
    queues: Vec<VecDeque<u32>>,
    done: Vec<u64>,
    /// Times of events that lie ahead, and whether two have fallen on the same nanosecond.
    times: BTreeSet<u64>,
    /// [ns] When the submitter is at work.
    submits: BTreeSet<u64>,
    tie: bool,
}

impl Reference {
    /// [ns] When each task ends; `None` if that depends on the order of events of the same instant.
    pub(super) fn run(plan: &Plan) -> Option<Vec<u64>> {
        let tasks = plan.tasks as usize;
        let (workers, queues, jdk) = match plan.model {
            ModelPlan::ThreadPool { .. } => (0, 1, Jdk::default()),
            ModelPlan::GreenThreads { jdk, carriers, max_pool, min_runnable } => {
                // 512 cores: a quarter of them is a power of two already.
                let timers = if jdk == 24 { plan.cores as usize / 4 } else { 1 };
                let parallelism = carriers as usize;
                let (max_pool, min_runnable) = (max_pool as usize, min_runnable as usize);
                let jdk = Jdk { number: jdk, parallelism, max_pool, min_runnable, timers };
                (parallelism, parallelism + timers + 2, jdk)
            }
            _ => unreachable!("see `event_loop`"),
        };
        let order: Vec<(u64, u32)> = plan.submissions().collect();
        let mut this = Self {
            plan: plan.clone(),
            now: 0,
            events: BTreeMap::new(),
            sequence: 0,
            step: vec![0; tasks],
            monitors: vec![0; tasks],
            held: vec![None; tasks],
            locks: Lock::of(plan),
            families: Families::new(tasks),
            workers: vec![Worker::default(); workers],
            idle: (0..workers).rev().collect(),
            alive: 0,
            jdk,
            active: 0,
            queues: vec![VecDeque::new(); queues],
            done: vec![0; tasks],
            times: BTreeSet::new(),
            submits: order.iter().map(|(at, _)| *at).collect(),
            tie: false,
        };
        this.at(order[0].0, Event::Submit(0));
        while let Some(((time, _), event)) = this.events.pop_first() {
            this.now = time;
            match event {
                Event::Submit(index) => {
                    this.submit(order[index].1);
                    if let Some((at, _)) = order.get(index + 1) {
                        this.at(time.max(*at), Event::Submit(index + 1));
                    }
                }
                Event::Worker(worker) => this.go_on(worker),
                Event::Due(task, timer) => this.push(1 + timer, task),
                Event::Unblock(task) => this.push(1 + this.jdk.timers, task),
            }
        }
        (!this.tie).then_some(this.done)
    }

    fn at(&mut self, time: u64, event: Event) {
        self.tie |= time > self.now && !self.times.insert(time);
        self.events.insert((time, self.sequence), event);
        self.sequence += 1;
    }

    fn is_pool(&self) -> bool {
        matches!(self.plan.model, ModelPlan::ThreadPool { .. })
    }

    fn submit(&mut self, task: u32) -> Option<u32> {
        let ModelPlan::ThreadPool { kind, size, queue, .. } = self.plan.model else {
            self.push(0, task);
            return None;
        };
        let creates = kind != PoolKind::Fixed || self.alive < size;
        // Without a queue in between, the last to be idle is the first to be given something.
        let hands_over = kind == PoolKind::Cached || kind == PoolKind::Fixed && !creates && queue == 0;
        if hands_over && let Some(worker) = self.idle.pop_back() {
            self.workers[worker].task = Some(task);
            self.at(self.now, Event::Worker(worker));
            return None;
        }
        // Main is a thread too.
        if creates && self.alive + 1 < self.plan.max_threads {
            self.alive += 1;
            self.workers.push(Worker { task: Some(task), ..Worker::default() });
            self.at(self.now, Event::Worker(self.workers.len() - 1));
            return None;
        }
        if creates || self.queues[0].len() >= queue as usize {
            return self.fail(task);
        }
        self.queues[0].push_back(task);
        if self.queues[0].len() == 1
            && let Some(worker) = self.idle.pop_front()
        {
            self.at(self.now, Event::Worker(worker));
        }
        None
    }

    /// The task has ended without running, and so has everything that it would have spawned. The parent to wake, if any.
    fn fail(&mut self, task: u32) -> Option<u32> {
        let mut failed = vec![task];
        while let Some(task) = failed.pop() {
            self.done[task as usize] = self.now;
            for op in &self.plan.class_of(task).ops {
                if let Op::Spawn(child) = op {
                    failed.push(child_of(&self.plan, task, *child));
                }
            }
        }
        self.families.ended(&self.plan, task)
    }

    /// Green threads: the last to park is woken first.
    fn push(&mut self, queue: usize, task: u32) {
        self.queues[queue].push_back(task);
        if self.queues[queue].len() == 1 {
            self.signal();
        }
    }

    fn signal(&mut self) {
        if self.active < self.jdk.parallelism
            && let Some(worker) = self.idle.pop_back()
        {
            self.active += 1;
            self.workers[worker].activated = true;
            self.at(self.now, Event::Worker(worker));
        }
    }

    /// The worker is about to block in a call that T-17 names.
    fn compensate(&mut self, worker: usize) {
        let Jdk { parallelism, max_pool, min_runnable, .. } = self.jdk;
        let total = self.workers.len();
        // Main, the timers, and from 24 on the unblocker are threads too.
        let beside = 1 + self.jdk.timers + usize::from(self.jdk.number >= 24);
        if !self.idle.is_empty() && self.active <= parallelism {
            self.active -= 1;
            self.signal();
        } else if self.active > min_runnable && total >= parallelism {
            self.active -= 1;
        } else if total < max_pool && total + beside < self.plan.max_threads as usize {
            self.workers.push(Worker { activated: true, ..Worker::default() });
            self.queues.push(VecDeque::new());
            self.at(self.now, Event::Worker(total));
        } else {
            return;
        }
        self.workers[worker].away = true;
    }

    fn come_back(&mut self, worker: usize) {
        self.active += usize::from(std::mem::take(&mut self.workers[worker].away));
    }

    /// The queue of a carrier.
    fn own(&self, worker: usize) -> usize {
        self.jdk.timers + 2 + worker
    }

    fn take(&mut self, worker: usize) -> Option<u32> {
        if self.is_pool() {
            let task = self.queues[0].pop_front()?;
            if !self.queues[0].is_empty()
                && let Some(next) = self.idle.pop_front()
            {
                self.at(self.now, Event::Worker(next));
            }
            return Some(task);
        }
        let count = self.queues.len();
        let source = self.workers[worker].source;
        let own = self.own(worker);
        let mut candidates = vec![own];
        candidates.extend((0..count).map(|offset| (source + offset) % count));
        let queue = candidates.into_iter().find(|&queue| !self.queues[queue].is_empty());
        let activated = std::mem::take(&mut self.workers[worker].activated);
        let queue = queue?;
        if queue != own {
            self.workers[worker].source = queue;
        }
        let task = self.queues[queue].pop_front();
        if activated && self.queues.iter().any(|queue| !queue.is_empty()) {
            self.signal();
        }
        task
    }

    fn go_on(&mut self, worker: usize) {
        loop {
            let Some(task) = self.workers[worker].task else {
                if matches!(self.plan.model, ModelPlan::ThreadPool { kind: PoolKind::ThreadPerTask, .. }) {
                    self.alive -= 1;
                    return;
                }
                self.workers[worker].task = self.take(worker);
                if self.workers[worker].task.is_none() {
                    self.idle.push_back(worker);
                    self.active = self.active.saturating_sub(1);
                    return;
                }
                continue;
            };
            if self.run_task(worker, task) {
                return;
            }
            self.workers[worker].task = None;
        }
    }

    /// Whether the worker is taken until an event.
    fn run_task(&mut self, worker: usize, task: u32) -> bool {
        let pool = self.is_pool();
        let unmounts = self.jdk.number >= 24;
        self.held[task as usize] = None;
        // `Object.wait` is over when it has its monitor again.
        let (ops, step) = (&self.plan.class_of(task).ops, self.step[task as usize]);
        let waited = step > 1 && matches!(ops[step - 1], Op::Block(BlockKind::ObjectWait, _));
        if !waited
            || !matches!((&ops[step - 2], &ops[step]), (Op::Unlock(left), Op::Lock(taken)) if left == taken && left.kind == GuardKind::Monitor)
        {
            self.come_back(worker);
        }
        loop {
            let step = self.step[task as usize];
            match &self.plan.class_of(task).ops[step] {
                Op::End => {
                    self.done[task as usize] = self.now;
                    // Whether it is free already when the submitter comes to the next task is not said.
                    self.tie |= pool && self.submits.contains(&self.now);
                    if let Some(parent) = self.families.ended(&self.plan, task) {
                        self.wake(worker, parent);
                    }
                    return false;
                }
                Op::Cpu(span) | Op::Iterations(_, span) | Op::Io(span) | Op::Backoff(span) | Op::Block(_, span) => {
                    self.step[task as usize] += 1;
                    let end = self.now + self.plan.duration(task, step, span);
                    if end == self.now {
                        continue;
                    }
                    let pinned = !unmounts && self.monitors[task as usize] > 0;
                    let suspends = match self.plan.class_of(task).ops[step] {
                        Op::Io(_) | Op::Backoff(_) => !pool && !pinned,
                        Op::Block(kind, _) => {
                            if !pool && self.jdk.compensates(kind) {
                                self.compensate(worker);
                            }
                            unmounts && kind == BlockKind::ObjectWait
                        }
                        _ => false,
                    };
                    if suspends {
                        self.at(end, Event::Due(task, worker % self.jdk.timers));
                        return false;
                    }
                    self.at(end, Event::Worker(worker));
                    return true;
                }
                Op::Lock(lock) => {
                    let monitor = lock.kind == GuardKind::Monitor;
                    if let Some(number) = lock.shared
                        && !self.locks[number as usize].take(task)
                    {
                        return self.wait(worker, task, monitor);
                    }
                    self.come_back(worker);
                    self.monitors[task as usize] += u32::from(monitor);
                    self.step[task as usize] += 1;
                }
                Op::Unlock(lock) => {
                    self.step[task as usize] += 1;
                    self.monitors[task as usize] -= u32::from(lock.kind == GuardKind::Monitor);
                    let monitor = lock.kind == GuardKind::Monitor;
                    match lock.shared.and_then(|number| self.locks[number as usize].give_back()) {
                        Some(heir) if monitor && self.held[heir as usize].is_none() => {
                            self.at(self.now, Event::Unblock(heir));
                        }
                        Some(heir) => self.wake(worker, heir),
                        None => {}
                    }
                }
                Op::TryLock(lock, otherwise) => {
                    let taken = lock.shared.is_none_or(|number| self.locks[number as usize].try_take());
                    self.step[task as usize] = if taken { step + 1 } else { usize::from(*otherwise) };
                }
                Op::Jump(target) => self.step[task as usize] = usize::from(*target),
                Op::Yield => {
                    self.step[task as usize] += 1;
                    if !pool && (unmounts || self.monitors[task as usize] == 0) {
                        // Behind the others of its carrier; from an empty queue onto that of the submitters.
                        let own = self.own(worker);
                        let queue = if self.queues[own].is_empty() { 0 } else { own };
                        self.push(queue, task);
                        return false;
                    }
                }
                Op::Prepare(_) => self.step[task as usize] += 1,
                Op::Spawn(child) => {
                    self.step[task as usize] += 1;
                    let child = child_of(&self.plan, task, *child);
                    self.families.open[task as usize] += 1;
                    // Who comes first, it or the submitter, is not said.
                    self.tie |= self.submits.contains(&self.now);
                    if pool || unmounts {
                        if let Some(parent) = self.submit(child) {
                            self.wake(worker, parent);
                        }
                    } else {
                        self.push(self.own(worker), child);
                    }
                }
                Op::Join => {
                    if !self.families.join(task) {
                        return self.wait(worker, task, false);
                    }
                    self.step[task as usize] += 1;
                }
            }
        }
    }

    /// The task waits until it is woken. Whether it keeps its worker.
    fn wait(&mut self, worker: usize, task: u32, monitor: bool) -> bool {
        let holds = self.is_pool() || self.jdk.number < 24 && (monitor || self.monitors[task as usize] > 0);
        self.held[task as usize] = holds.then_some(worker);
        holds
    }

    /// A task that this worker runs lets the other go on.
    fn wake(&mut self, worker: usize, task: u32) {
        match self.held[task as usize] {
            Some(holder) => self.at(self.now, Event::Worker(holder)),
            None => self.push(self.own(worker), task),
        }
    }
}
