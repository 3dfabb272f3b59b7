//! A second, slow and obvious implementation of the rules under no costs, and the engine held against it.
//!
//! It knows nothing of cores, so it stands only for runs with a core for every thread. Ties are avoided by drawing
//! durations to the nanosecond; what is left of them goes first come, first served, as in the engine.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use parkbench_engine::{BlockKind, GuardKind, ModelPlan, Op, Plan, PoolKind, Scenario, Simulation, TaskState, TaskTag};
use proptest::prelude::*;

use crate::support::{MS, first, run};

/// What the reference knows of a lock.
#[derive(Default)]
struct Lock {
    holder: Option<u32>,
    waiters: VecDeque<u32>,
    woken: bool,
}

impl Lock {
    fn take(&mut self, task: u32) -> bool {
        let first = self.waiters.front() == Some(&task);
        if first {
            self.woken = false;
        }
        if self.holder.is_some() {
            if !first {
                self.waiters.push_back(task);
            }
            return false;
        }
        if first {
            self.waiters.pop_front();
        }
        self.holder = Some(task);
        true
    }

    fn give_back(&mut self) -> Option<u32> {
        self.holder = None;
        if self.woken {
            return None;
        }
        let heir = self.waiters.front().copied();
        self.woken = heir.is_some();
        heir
    }
}

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

struct Reference {
    plan: Plan,
    now: u64,
    events: BTreeMap<(u64, u64), Event>,
    sequence: u64,
    step: Vec<usize>,
    monitors: Vec<u32>,
    /// The worker that the task holds while it waits.
    held: Vec<Option<usize>>,
    locks: Vec<Lock>,
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
    tie: bool,
}

impl Reference {
    /// [ns] When each task ends; `None` if that depends on the order of events of the same instant.
    fn run(plan: &Plan) -> Option<Vec<u64>> {
        let tasks = plan.tasks as usize;
        let (workers, queues, jdk) = match plan.model {
            ModelPlan::ThreadPool { .. } => (0, 1, Jdk::default()),
            ModelPlan::GreenThreads { jdk, carriers, max_pool, min_runnable } => {
                // 128 cores: a quarter of them is a power of two already.
                let timers = if jdk == 24 { plan.cores as usize / 4 } else { 1 };
                let parallelism = carriers as usize;
                let (max_pool, min_runnable) = (max_pool as usize, min_runnable as usize);
                let jdk = Jdk { number: jdk, parallelism, max_pool, min_runnable, timers };
                (parallelism, parallelism + timers + 2, jdk)
            }
            _ => unreachable!("see `event_loop`"),
        };
        let mut this = Self {
            plan: plan.clone(),
            now: 0,
            events: BTreeMap::new(),
            sequence: 0,
            step: vec![0; tasks],
            monitors: vec![0; tasks],
            held: vec![None; tasks],
            locks: plan.guards.iter().map(|_| Lock::default()).collect(),
            workers: vec![Worker::default(); workers],
            idle: (0..workers).rev().collect(),
            alive: 0,
            jdk,
            active: 0,
            queues: vec![VecDeque::new(); queues],
            done: vec![0; tasks],
            times: BTreeSet::new(),
            tie: false,
        };
        let order: Vec<(u64, u32)> = plan.submissions().collect();
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

    fn submit(&mut self, task: u32) {
        let ModelPlan::ThreadPool { kind, size, queue, .. } = self.plan.model else {
            self.push(0, task);
            return;
        };
        let creates = kind != PoolKind::Fixed || self.alive < size;
        // Without a queue in between, the last to be idle is the first to be given something.
        let hands_over = kind == PoolKind::Cached || kind == PoolKind::Fixed && !creates && queue == 0;
        if hands_over && let Some(worker) = self.idle.pop_back() {
            self.workers[worker].task = Some(task);
            self.at(self.now, Event::Worker(worker));
            return;
        }
        // Main is a thread too.
        if creates && self.alive + 1 < self.plan.max_threads {
            self.alive += 1;
            self.workers.push(Worker { task: Some(task), ..Worker::default() });
            self.at(self.now, Event::Worker(self.workers.len() - 1));
            return;
        }
        if creates || self.queues[0].len() >= queue as usize {
            // It fails, now.
            self.done[task as usize] = self.now;
            return;
        }
        self.queues[0].push_back(task);
        if self.queues[0].len() == 1
            && let Some(worker) = self.idle.pop_front()
        {
            self.at(self.now, Event::Worker(worker));
        }
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
        let own = self.jdk.timers + 2 + worker;
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
                    return false;
                }
                Op::Cpu(span) | Op::Iterations(_, span) | Op::Io(span) | Op::Block(_, span) => {
                    self.step[task as usize] += 1;
                    let end = self.now + self.plan.duration(task, step, span);
                    if end == self.now {
                        continue;
                    }
                    let pinned = !unmounts && self.monitors[task as usize] > 0;
                    let suspends = match self.plan.class_of(task).ops[step] {
                        Op::Io(_) => !pool && !pinned,
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
                        let holds = pool || !unmounts && (monitor || self.monitors[task as usize] > 0);
                        self.held[task as usize] = holds.then_some(worker);
                        return holds;
                    }
                    self.come_back(worker);
                    self.monitors[task as usize] += u32::from(monitor);
                    self.step[task as usize] += 1;
                }
                Op::Unlock(lock) => {
                    self.step[task as usize] += 1;
                    self.monitors[task as usize] -= u32::from(lock.kind == GuardKind::Monitor);
                    let heir = lock.shared.and_then(|number| self.locks[number as usize].give_back());
                    if let Some(heir) = heir {
                        match self.held[heir as usize] {
                            Some(holder) => self.at(self.now, Event::Worker(holder)),
                            None if lock.kind == GuardKind::Monitor => self.at(self.now, Event::Unblock(heir)),
                            None => self.push(self.jdk.timers + 2 + worker, heir),
                        }
                    }
                }
                op => panic!("{op:?} is not known here"),
            }
        }
    }
}

/// The event loop of `runBlocking` has one thread, so a clock that is moved on by hand is enough.
/// [ns] When each task ends.
fn event_loop(plan: &Plan) -> Vec<u64> {
    /// `None` stands for the body, which launches.
    type Ready = Option<u32>;
    let tasks = plan.tasks as usize;
    let mut launches: VecDeque<(u64, u32)> = plan.submissions().collect();
    let (mut now, mut arrivals) = (0, 0);
    let mut queue: VecDeque<Ready> = VecDeque::from([None]);
    let mut delays: BTreeMap<(u64, u64), Ready> = BTreeMap::new();
    let mut locks: Vec<Lock> = plan.guards.iter().map(|_| Lock::default()).collect();
    let (mut step, mut monitors, mut done) = (vec![0; tasks], vec![0; tasks], vec![None; tasks]);
    while done.iter().any(Option::is_none) {
        while let Some(entry) = delays.first_entry().filter(|entry| entry.key().0 <= now) {
            queue.push_back(entry.remove());
        }
        let Some(ready) = queue.pop_front() else {
            now = delays.first_key_value().unwrap().0.0;
            continue;
        };
        let Some(task) = ready else {
            while let Some((_, task)) = launches.pop_front_if(|(at, _)| *at <= now) {
                queue.push_back(Some(task));
            }
            if let Some((at, _)) = launches.front() {
                delays.insert((*at, arrivals), None);
                arrivals += 1;
            }
            continue;
        };
        let index = task as usize;
        loop {
            let op = &plan.class_of(task).ops[step[index]];
            if *op == Op::End {
                break;
            }
            step[index] += 1;
            match op {
                Op::Cpu(span) | Op::Iterations(_, span) | Op::Io(span) | Op::Block(_, span) => {
                    let ns = plan.duration(task, step[index] - 1, span);
                    if matches!(op, Op::Io(_)) && monitors[index] == 0 && ns > 0 {
                        delays.insert((now + ns, arrivals), ready);
                        arrivals += 1;
                        break;
                    }
                    now += ns;
                }
                Op::Lock(lock) => {
                    monitors[index] += u32::from(lock.kind == GuardKind::Monitor);
                    if lock.shared.is_some_and(|number| !locks[number as usize].take(task)) {
                        break;
                    }
                }
                Op::Unlock(lock) => {
                    monitors[index] -= u32::from(lock.kind == GuardKind::Monitor);
                    if let Some(lock) = lock.shared.map(|number| &mut locks[number as usize]) {
                        lock.holder = lock.waiters.pop_front();
                        queue.extend(lock.holder.map(Some));
                    }
                }
                op => panic!("{op:?} is not known here"),
            }
        }
        let waits =
            delays.values().any(|&waiter| waiter == ready) || locks.iter().any(|lock| lock.waiters.contains(&task));
        if step[index] == usize::from(plan.class_of(task).end) && !waits {
            done[index] = Some(now);
        }
    }
    done.into_iter().flatten().collect()
}

/// A step as text. Locks come in pairs around one or two steps, and nest in one order, so nothing can deadlock
/// for want of a lock alone.
fn step() -> impl Strategy<Value = String> {
    let wait = || {
        ("(cpu|io|block|file|fsync|object-wait)", 2_u32..2_000).prop_map(|(what, us)| {
            let time = format!("{{ uniform = [\"1 us\", \"{us} us\"] }}");
            match what.as_str() {
                "cpu" | "io" | "block" => format!("{{ {what} = {time} }}"),
                kind => format!("{{ block = {{ time = {time}, kind = \"{kind}\" }} }}"),
            }
        })
    };
    let lock = |name: &'static str, kind: &'static str, scope: &'static str| {
        (wait(), wait()).prop_map(move |(a, b)| {
            format!(
                "{{ lock = {{ name = \"{name}\", kind = \"{kind}\", scope = \"{scope}\" }} }}, {a}, {b}, {{ unlock = \"{name}\" }}"
            )
        })
    };
    prop_oneof![
        6 => wait(),
        1 => lock("m", "monitor", "shared"),
        1 => lock("r", "reentrant", "shared"),
        1 => lock("own", "monitor", "task"),
    ]
}

fn model() -> impl Strategy<Value = String> {
    prop_oneof![
        (1_u32..12).prop_map(|size| format!("{{ model = \"thread-pool\", size = {size} }}")),
        (1_u32..12, 0_u32..12)
            .prop_map(|(size, queue)| format!("{{ model = \"thread-pool\", size = {size}, queue = {queue} }}")),
        Just("{ model = \"thread-pool\", pool = \"cached\" }".to_owned()),
        Just("{ model = \"thread-pool\", pool = \"thread-per-task\" }".to_owned()),
        (21_u32..26, 1_u32..8)
            .prop_map(|(jdk, carriers)| format!("{{ model = \"green-threads\", jdk = {jdk}, carriers = {carriers} }}")),
        (21_u32..26, 1_u32..8, 0_u32..4, 0_u32..8).prop_map(|(jdk, carriers, more, least)| {
            let max = carriers + more;
            format!(
                "{{ model = \"green-threads\", jdk = {jdk}, carriers = {carriers}, max_pool = {max}, min_runnable = {least} }}"
            )
        }),
        Just("{ model = \"coroutines\", dispatcher = \"event-loop\" }".to_owned()),
    ]
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let class = (1_u64..12, prop_oneof![Just(0_u64), 0_u64..20_000_000], prop::collection::vec(step(), 1..5));
    let limit =
        prop_oneof![3 => Just(String::new()), 1 => (2_u32..30).prop_map(|most| format!("max_threads = {most}"))];
    (any::<u32>(), prop::collection::vec(class, 1..5), model(), limit).prop_map(|(seed, classes, model, limit)| {
        let class = |(count, at, steps): &(u64, u64, Vec<String>)| {
            format!("{{ count = {count}, at = \"{at} ns\", steps = [{}] }}", steps.join(", "))
        };
        let tasks: Vec<String> = classes.iter().map(class).collect();
        let text = format!(
            "version = 1\nname = \"random\"\nprofile = \"zero\"\nseed = {seed}\ntasks = [{}]\nruns = [{model}]\n[machine]\ncores = 128\n{limit}",
            tasks.join(", ")
        );
        Scenario::from_toml(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_engine_ends_every_task_when_the_reference_does(scenario in scenario()) {
        let plan = Plan::new(&scenario, 0).unwrap();
        let recording = Simulation::new(&scenario, 0).unwrap().run();
        let mut ends = vec![0; plan.tasks as usize];
        for index in 0..recording.tasks.len() {
            if matches!(TaskTag::unpack(recording.tasks.tag[index]).unwrap().state, TaskState::Done | TaskState::Failed) {
                ends[recording.tasks.subject[index] as usize] = recording.tasks.time[index];
            }
        }
        let expect = match plan.model {
            ModelPlan::Coroutines { .. } => Some(event_loop(&plan)),
            _ => Reference::run(&plan),
        };
        if let Some(expect) = expect {
            prop_assert_eq!(ends, expect);
        }
    }
}

/// [ns] When each hog would end if cores could be shared out perfectly: work and arrival of each, both in ns.
fn fair_shares(cores: u64, hogs: &[(u64, u64)]) -> Vec<u64> {
    let mut left: Vec<f64> = hogs.iter().map(|(_, work)| *work as f64).collect();
    let mut done = vec![0; hogs.len()];
    let mut now = 0.0_f64;
    loop {
        let active: Vec<usize> = (0..hogs.len()).filter(|&i| hogs[i].0 as f64 <= now && left[i] > 0.0).collect();
        let rate = (cores as f64 / active.len() as f64).min(1.0);
        let ends = active.iter().map(|&i| now + left[i] / rate);
        let arrivals = hogs.iter().map(|(at, _)| *at as f64).filter(|&at| at > now);
        let Some(next) = ends.chain(arrivals).min_by(f64::total_cmp) else { return done };
        for i in active {
            left[i] -= (next - now) * rate;
            if left[i] < 1.0 {
                left[i] = 0.0;
                done[i] = next as u64;
            }
        }
        now = next;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn cores_are_shared_as_by_a_perfect_scheduler(
        cores in 1_u64..5,
        hogs in prop::collection::vec((0_u64..400, 5_u64..200), 1..12),
    ) {
        let tasks: Vec<String> = hogs
            .iter()
            .map(|(at, work)| format!("{{ count = 1, at = \"{at} ms\", steps = [{{ cpu = \"{work} ms\" }}] }}"))
            .collect();
        let model = format!("{{ model = \"thread-pool\", size = {} }}", hogs.len());
        let recording = run(cores as u32, &model, "base_slice = \"2.8 ms\"\ntick = \"4 ms\"", &format!("[{}]", tasks.join(",")));
        let start = hogs.iter().map(|(at, _)| *at).min().unwrap();
        let hogs: Vec<(u64, u64)> = hogs.iter().map(|(at, work)| ((at - start) * MS, work * MS)).collect();
        for (task, expect) in fair_shares(cores, &hogs).into_iter().enumerate() {
            let end = first(&recording, task as u32, TaskState::Done).unwrap();
            // Nobody is ahead or behind by more than a slice and a tick for each thread that shares the cores.
            let slack = 8 * MS * (hogs.len() as u64).div_ceil(cores);
            prop_assert!(end.abs_diff(expect) <= slack, "task {} ends at {}, fair is {}", task, end, expect);
        }
    }
}
