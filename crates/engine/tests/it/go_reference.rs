//! A second implementation of Go's scheduler for one P under no costs, written from the runtime's source and without
//! the model's code, and the engine held against it; and a law for several Ps.
//!
//! It walks from instant to instant: the end of what runs, the return of a call, a timer, a round of `sysmon`.

use std::collections::VecDeque;

use parkbench_engine::{Op, Plan, Scenario, Simulation, TaskState, TaskTag};
use proptest::prelude::*;

use crate::support::ends;

/// Never.
const NEVER: u64 = u64::MAX;

/// What the only P does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum P {
    Idle,
    /// Runs the goroutine until then.
    Runs(usize, u64),
    /// Its M is in a call of the goroutine.
    Call(usize),
}

#[derive(Clone, Debug, Default)]
struct Mutex {
    locked: bool,
    starving: bool,
    waiters: VecDeque<usize>,
    /// A waiter that has been woken and has not tried again.
    woken: Option<usize>,
}

struct OneP<'a> {
    plan: &'a Plan,
    now: u64,
    p: P,
    runnext: Option<usize>,
    runq: VecDeque<usize>,
    globq: VecDeque<usize>,
    schedtick: u64,
    syscalltick: u64,
    /// Deadline and goroutine, in order of insertion.
    timers: Vec<(u64, usize)>,
    /// Return and goroutine of calls.
    calls: Vec<(u64, usize)>,
    mutexes: Vec<Mutex>,
    since: Vec<u64>,
    owner: Vec<Option<usize>>,
    pc: Vec<usize>,
    left: Vec<u64>,
    end: Vec<u64>,
    arrivals: VecDeque<(u64, u32)>,
    // sysmon
    wakes: u64,
    idle: u32,
    delay: u64,
    deep: bool,
    seen: (u64, u64),
    seen_call: (u64, u64),
    tie: bool,
}

impl<'a> OneP<'a> {
    /// [ns] When each task ends; `None` if a call returns at the very instant of a round of `sysmon`, for then either
    /// may come first.
    fn run(plan: &'a Plan) -> Option<Vec<u64>> {
        let tasks = plan.tasks as usize;
        let mut go = Self {
            plan,
            now: 0,
            p: P::Idle,
            runnext: None,
            runq: VecDeque::new(),
            globq: VecDeque::new(),
            schedtick: 1,
            syscalltick: 0,
            timers: Vec::new(),
            calls: Vec::new(),
            mutexes: vec![Mutex::default(); plan.guards.len()],
            since: vec![NEVER; tasks],
            owner: vec![None; tasks],
            pc: vec![0; tasks],
            left: vec![0; tasks],
            end: vec![NEVER; tasks],
            arrivals: plan.submissions().collect(),
            wakes: 20_000,
            idle: 0,
            delay: 20_000,
            deep: false,
            seen: (0, 0),
            seen_call: (0, 0),
            tie: false,
        };
        go.main();
        go.schedule();
        while go.end.contains(&NEVER) {
            go.step();
        }
        (!go.tie).then_some(go.end)
    }

    /// The goroutine `main`, which has the number after the last task.
    fn main(&mut self) {
        while let Some(&(due, task)) = self.arrivals.front() {
            if due > self.now {
                self.timers.push((due, self.end.len()));
                return;
            }
            self.arrivals.pop_front();
            self.ready(task as usize);
        }
    }

    fn ready(&mut self, g: usize) {
        if let Some(kicked) = self.runnext.replace(g) {
            self.runq.push_back(kicked);
        }
        assert!(self.runq.len() < 256, "small cases only");
    }

    fn timer(&self) -> u64 {
        self.timers.iter().map(|&(when, _)| when).min().unwrap_or(NEVER)
    }

    fn step(&mut self) {
        let run_end = if let P::Runs(_, until) = self.p { until } else { NEVER };
        let call = self.calls.iter().map(|&(when, _)| when).min().unwrap_or(NEVER);
        let timer = if self.p == P::Idle { self.timer() } else { NEVER };
        self.now = run_end.min(call).min(timer).min(self.wakes);
        assert!(self.now < NEVER, "nothing left to happen");
        self.tie |= call == self.now && self.wakes == self.now;
        if self.deep && self.wakes == self.now {
            // Where all sleep until a timer, `sysmon` wakes first.
            self.sysmon();
        } else if run_end == self.now {
            if let P::Runs(g, _) = self.p {
                self.execute(g);
            }
        } else if timer == self.now {
            self.schedule();
        } else if call == self.now {
            self.returned();
        } else {
            self.sysmon();
        }
    }

    /// `schedule` and `findRunnable`.
    fn schedule(&mut self) {
        loop {
            let due = |&(_, timer): &(usize, &(u64, usize))| timer.0 <= self.now;
            let first = self.timers.iter().enumerate().filter(due).min_by_key(|&(index, timer)| (timer.0, index));
            if let Some((index, _)) = first {
                let (_, g) = self.timers.remove(index);
                self.ready(g);
                continue;
            }
            let g = if self.schedtick.is_multiple_of(61) && !self.globq.is_empty() {
                self.schedtick += 1;
                self.globq.pop_front()
            } else if self.runnext.is_some() {
                self.runnext.take()
            } else if let Some(g) = self.runq.pop_front() {
                self.schedtick += 1;
                Some(g)
            } else if let Some(g) = self.globq.pop_front() {
                self.schedtick += 1;
                let batch = self.globq.len().min(127);
                self.runq.extend(self.globq.drain(..batch));
                Some(g)
            } else {
                None
            };
            match g {
                None => {
                    self.p = P::Idle;
                    return;
                }
                Some(g) if g == self.end.len() => self.main(),
                Some(g) => return self.execute(g),
            }
        }
    }

    /// Runs a goroutine up to where it needs time, or leaves.
    fn execute(&mut self, g: usize) {
        let left = std::mem::take(&mut self.left[g]);
        if left > 0 {
            self.p = P::Runs(g, self.now + left);
            return;
        }
        loop {
            let step = self.pc[g];
            let op = &self.plan.class_of(g as u32).ops[step];
            self.pc[g] += 1;
            match op {
                Op::Cpu(span) => {
                    let ns = self.plan.duration(g as u32, step, span);
                    if ns > 0 {
                        self.p = P::Runs(g, self.now + ns);
                        return;
                    }
                }
                Op::Io(span) => {
                    let ns = self.plan.duration(g as u32, step, span);
                    self.timers.push((self.now + ns, g));
                    return self.schedule();
                }
                Op::Block(_, span) => {
                    let ns = self.plan.duration(g as u32, step, span);
                    self.calls.push((self.now + ns, g));
                    self.p = P::Call(g);
                    if std::mem::take(&mut self.deep) {
                        self.wake_sysmon();
                    }
                    return;
                }
                Op::Yield => {
                    self.globq.push_back(g);
                    return self.schedule();
                }
                Op::Lock(lock) => {
                    if let Some(m) = lock.shared
                        && !self.lock(m as usize, g)
                    {
                        self.pc[g] = step;
                        return self.schedule();
                    }
                }
                Op::Unlock(lock) => {
                    if let Some(m) = lock.shared
                        && self.unlock(m as usize)
                    {
                        self.runq.push_back(g);
                        return self.schedule();
                    }
                }
                Op::End => {
                    self.end[g] = self.now;
                    return self.schedule();
                }
                other => panic!("{other:?} is not in the small cases"),
            }
        }
    }

    fn lock(&mut self, m: usize, g: usize) -> bool {
        let mutex = &mut self.mutexes[m];
        let starved = self.now.saturating_sub(self.since[g]) > 1_000_000;
        if self.owner[g].take() == Some(m) {
            if !starved || mutex.waiters.is_empty() {
                mutex.starving = false;
            }
            self.since[g] = NEVER;
            return true;
        }
        let was_woken = mutex.woken == Some(g);
        if was_woken {
            mutex.woken = None;
        }
        if !mutex.locked {
            mutex.locked = true;
            self.since[g] = NEVER;
            return true;
        }
        if was_woken {
            mutex.starving |= starved;
            mutex.waiters.push_front(g);
        } else {
            self.since[g] = self.now;
            mutex.waiters.push_back(g);
        }
        false
    }

    /// Whether the mutex was handed over, so that its new owner runs at once.
    fn unlock(&mut self, m: usize) -> bool {
        let mutex = &mut self.mutexes[m];
        if mutex.starving {
            let heir = mutex.waiters.pop_front().expect("a starving mutex has waiters");
            self.owner[heir] = Some(m);
            self.ready(heir);
            return true;
        }
        mutex.locked = false;
        if mutex.woken.is_none()
            && let Some(heir) = mutex.waiters.pop_front()
        {
            mutex.woken = Some(heir);
            self.ready(heir);
        }
        false
    }

    /// `exitsyscall`.
    fn returned(&mut self) {
        let index = self.calls.iter().position(|&(when, _)| when == self.now).unwrap();
        let (_, g) = self.calls.remove(index);
        match self.p {
            P::Call(other) if other == g => self.syscalltick += 1,
            P::Call(_) => self.syscalltick += 2,
            P::Idle => {
                self.syscalltick += 1;
                self.p = P::Call(g);
                if std::mem::take(&mut self.deep) {
                    self.wake_sysmon();
                }
            }
            P::Runs(..) => {
                self.globq.push_back(g);
                return;
            }
        }
        self.execute(g);
    }

    fn wake_sysmon(&mut self) {
        self.idle = 0;
        self.delay = 20_000;
        self.wakes = self.now;
    }

    fn sysmon(&mut self) {
        if self.p == P::Idle && !self.deep && self.timer() > self.now {
            self.deep = true;
            self.wakes = self.timer();
            return;
        }
        self.deep = false;
        if self.retake() {
            self.idle = 0;
        } else {
            self.idle += 1;
        }
        self.delay = match self.idle {
            0 => 20_000,
            1..=50 => self.delay,
            _ => (2 * self.delay).min(10_000_000),
        };
        self.wakes = self.now + self.delay;
    }

    fn retake(&mut self) -> bool {
        if self.p == P::Idle {
            return false;
        }
        let long = self.seen.0 == self.schedtick && self.now >= self.seen.1 + 10_000_000;
        if self.seen.0 != self.schedtick {
            self.seen = (self.schedtick, self.now);
        }
        match self.p {
            P::Runs(g, until) if long => {
                self.left[g] = until - self.now;
                self.globq.push_back(g);
                self.schedule();
                false
            }
            P::Call(_) if !long && self.seen_call.0 != self.syscalltick => {
                self.seen_call = (self.syscalltick, self.now);
                false
            }
            // With one P nobody else is idle or spins, so an empty queue is no reason to leave it.
            P::Call(_) => {
                self.syscalltick += 1;
                self.schedule();
                true
            }
            _ => false,
        }
    }
}

/// A step as text, with times drawn to the nanosecond, so that ties are rare.
fn step() -> impl Strategy<Value = String> {
    let time = |what: &'static str, most: u32| {
        (2..most).prop_map(move |us| format!("{{ {what} = {{ uniform = [\"1 us\", \"{us} us\"] }} }}"))
    };
    let lock = (time("cpu", 3_000), prop_oneof![time("io", 3_000), time("block", 3_000), time("cpu", 3_000)]);
    prop_oneof![
        3 => time("cpu", 3_000),
        1 => time("cpu", 50_000),
        3 => time("io", 5_000),
        2 => time("block", 5_000),
        1 => time("block", 50),
        1 => Just("\"yield\"".to_owned()),
        3 => lock.prop_map(|(a, b)| {
            format!("{{ lock = {{ name = \"m\", kind = \"reentrant\" }} }}, {a}, {b}, {{ unlock = \"m\" }}")
        }),
    ]
}

fn scenario(workers: impl Strategy<Value = u32>, blocks: bool) -> impl Strategy<Value = Scenario> {
    let class = (1_u64..9, prop_oneof![Just(0_u64), 0_u64..20_000_000], prop::collection::vec(step(), 1..6));
    (any::<u32>(), prop::collection::vec(class, 1..4), workers).prop_map(move |(seed, classes, workers)| {
        let class = |(count, at, steps): &(u64, u64, Vec<String>)| {
            format!("{{ count = {count}, at = \"{at} ns\", steps = [{}] }}", steps.join(", "))
        };
        let mut tasks = classes.iter().map(class).collect::<Vec<_>>().join(", ");
        if !blocks {
            tasks = tasks.replace("block", "io").replace("unio", "unlock");
        }
        let text = format!(
            "version = 1\nname = \"random\"\nprofile = \"zero\"\nseed = {seed}\ntasks = [{tasks}]\n\
             runs = [{{ model = \"green-threads\", runtime = \"go\", workers = {workers} }}]\n[machine]\ncores = 32\n"
        );
        Scenario::from_toml(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn one_p_ends_every_task_when_the_reference_does(scenario in scenario(Just(1), true)) {
        let plan = Plan::new(&scenario, 0).unwrap();
        let recording = Simulation::new(&scenario, 0).unwrap().run();
        if let Some(expect) = OneP::run(&plan) {
            prop_assert_eq!(ends(&recording, plan.tasks), expect);
        }
    }

    /// Without calls that block, a goroutine is queued beside an idle P only while a thief leaves `runnext` to its P
    /// for 3 us; another one may have to wait for the same thief.
    #[test]
    fn no_p_idles_beside_a_queue(scenario in scenario(1_u32..6, false)) {
        let recording = Simulation::new(&scenario, 0).unwrap().run();
        let workers = scenario.runs[0].workers.unwrap() as usize;
        let records = &recording.tasks;
        let mut state = vec![TaskState::Pending; recording.totals.tasks as usize];
        let (mut index, mut since) = (0, None);
        while index < records.len() {
            let time = records.time[index];
            while index < records.len() && records.time[index] == time {
                state[records.subject[index] as usize] = TaskTag::unpack(records.tag[index]).unwrap().state;
                index += 1;
            }
            if let Some(start) = since {
                prop_assert!(time - start <= 10_000, "queued beside an idle P from {} to {}", start, time);
            }
            let running = state.iter().filter(|&&state| state == TaskState::Running).count();
            let wasted = running < workers && state.contains(&TaskState::Queued);
            since = if wasted { since.or(Some(time)) } else { None };
        }
    }
}
