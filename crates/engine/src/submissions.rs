//! When tasks are due for submission, in one order for every model and for measurements.
//!
//! What a submission costs, and whether the submitter is late, is not known here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_pcg::Pcg32;

use crate::draw::{Span, exponential};
use crate::plan::Plan;
use crate::rng::{Purpose, stream};

/// When the tasks of a class arrive, counted from the class's `at`.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// All at once.
    AtOnce,
    /// [ns] One after each gap.
    Every(u64),
    /// [ns] Gaps drawn from an exponential distribution with this mean.
    Poisson(u64),
    /// Several at a time.
    Bursts {
        /// Tasks in a burst.
        size: u64,
        /// [ns] From one burst to the next.
        every: u64,
    },
    /// Each user sends the next a while after its last has ended.
    ClosedLoop {
        /// Users.
        users: u32,
        /// From an end to the next arrival.
        think: Span,
    },
    /// [ns] At these times.
    Times(Vec<u64>),
}

/// The tasks of a plan by the time at which they are due; ties go by the order of the classes in the file.
///
/// As an iterator it gives the tasks whose times do not depend on the run; of a closed loop only each user's first.
#[derive(Clone, Debug)]
pub struct Submissions {
    streams: Vec<Stream>,
    /// [ns] When the first task is due, counted as in the scenario: the clock of the run starts there.
    start: u64,
    seed: u64,
    /// Arrivals depend on the ends of tasks.
    closed: bool,
}

/// One closed loop with every draw made, for those who run it elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopPlan {
    /// [ns] When its users send their first tasks.
    pub due: u64,
    /// Users; no more than there are tasks.
    pub users: u32,
    /// Its tasks, in the order in which they are sent.
    pub tasks: Vec<u32>,
    /// [ns] For each of them how long its user thinks before it is sent, from the end of the user's last; 0 for a first.
    pub think: Vec<u64>,
}

/// The arrivals of one class, or of a mix of classes.
#[derive(Clone, Debug)]
struct Stream {
    /// [ns] When the next task is due; `None` if that depends on the run, or after the last.
    due: Option<u64>,
    at: u64,
    /// Tasks that have been due.
    next: u32,
    count: u32,
    arrivals: Arrivals,
    rng: Pcg32,
    /// Closed loop: when the users that have thought of their next task send it.
    sends: BinaryHeap<Reverse<u64>>,
    /// Closed loop: tasks due or in `sends`.
    released: u32,
    /// The next task of each class, and for a mix the order of the classes.
    tasks: Vec<u32>,
    order: Option<Vec<u8>>,
    /// The class, where it is one.
    class: usize,
}

impl Submissions {
    pub(crate) fn new(plan: &Plan) -> Self {
        let streams: Vec<Stream> = if let Some(mix) = &plan.mix {
            let tasks = plan.classes.iter().map(|class| class.first).collect();
            let count = mix.order.len() as u32;
            vec![Stream::new(plan.seed, 0, (mix.at, count, &mix.arrivals), tasks, Some(mix.order.clone()))]
        } else {
            let roots = plan.classes.iter().enumerate().filter(|(_, class)| class.parent.is_none());
            roots
                .map(|(index, class)| {
                    let times = (class.at, class.count, &class.arrivals);
                    Stream::new(plan.seed, index, times, vec![class.first], None)
                })
                .collect()
        };
        let start = streams.iter().filter_map(|stream| stream.due).min().unwrap_or(0);
        let closed = streams.iter().any(|stream| matches!(stream.arrivals, Arrivals::ClosedLoop { .. }));
        Self { streams, start, seed: plan.seed, closed }
    }

    /// [ns] When the next task is due; `None` after the last, or if the next depends on the end of another task.
    pub fn due(&self) -> Option<u64> {
        self.earliest().and_then(|index| self.streams[index].due).map(|due| due - self.start)
    }

    /// A task of class number `class`, which no other has started, has ended at `now` [ns]: in a closed loop its user thinks
    /// and sends another.
    pub fn ended(&mut self, class: usize, now: u64) {
        let (start, seed) = (self.start, self.seed);
        let Some(stream) = self.streams.iter_mut().find(|stream| stream.order.is_some() || stream.class == class)
        else {
            return;
        };
        let Arrivals::ClosedLoop { think, .. } = &stream.arrivals else { return };
        if stream.released == stream.count {
            return;
        }
        let think = stream.think(think, stream.released, seed);
        stream.released += 1;
        stream.sends.push(Reverse(start + now + think));
        stream.due = stream.sends.peek().map(|Reverse(due)| *due);
    }

    /// Whether arrivals depend on the ends of tasks.
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// The next task, if it is due by `now` [ns].
    pub fn next_by(&mut self, now: u64) -> Option<u32> {
        let index = self.earliest()?;
        let due = self.streams[index].due.filter(|due| due - self.start <= now)?;
        Some(self.streams[index].advance(due))
    }

    /// The closed loops among the arrivals, as they are before the first task is due.
    pub fn loops(&self) -> Vec<LoopPlan> {
        self.streams.iter().filter_map(|stream| stream.closed_loop(self.start, self.seed)).collect()
    }

    #[inline]
    fn earliest(&self) -> Option<usize> {
        if let [only] = self.streams.as_slice() {
            return only.due.is_some().then_some(0);
        }
        let pending = (0..self.streams.len()).filter(|&index| self.streams[index].due.is_some());
        pending.min_by_key(|&index| self.streams[index].due)
    }
}

impl Stream {
    fn new(
        seed: u64,
        class: usize,
        (at, count, arrivals): (u64, u32, &Arrivals),
        tasks: Vec<u32>,
        order: Option<Vec<u8>>,
    ) -> Self {
        let mut rng = stream(seed, Purpose::Arrival, class as u64);
        let mut sends = BinaryHeap::new();
        let mut released = 0;
        let due = match arrivals {
            // The first of a Poisson process comes after a gap too.
            Arrivals::Poisson(mean) => at + exponential(&mut rng, *mean),
            Arrivals::Times(times) => at + times.first().copied().unwrap_or(0),
            Arrivals::ClosedLoop { users, .. } => {
                released = count.min(*users);
                sends.extend((0..released).map(|_| Reverse(at)));
                at
            }
            _ => at,
        };
        let due = (count > 0).then_some(due);
        Self { due, at, next: 0, count, arrivals: arrivals.clone(), rng, sends, released, tasks, order, class }
    }

    /// [ns] How long the user thinks who sends task number `number` of this stream. The draw belongs to that task, whoever
    /// sends it.
    fn think(&self, think: &Span, number: u32, seed: u64) -> u64 {
        let subject = (self.class as u64) << 32 | u64::from(number);
        think.draw(&mut stream(seed, Purpose::Think, subject))
    }

    /// As the closed loop that it is, if it is one.
    fn closed_loop(&self, start: u64, seed: u64) -> Option<LoopPlan> {
        let Arrivals::ClosedLoop { think, .. } = &self.arrivals else { return None };
        let users = self.released;
        let mut sent = self.clone();
        let tasks = (0..self.count).map(|_| sent.take()).collect();
        let think =
            (0..self.count).map(|number| if number < users { 0 } else { self.think(think, number, seed) }).collect();
        Some(LoopPlan { due: self.at.saturating_sub(start), users, tasks, think })
    }

    /// The next task, whenever it is due.
    fn take(&mut self) -> u32 {
        let class = self.order.as_ref().map_or(0, |order| usize::from(order[self.next as usize]));
        let task = self.tasks[class];
        self.tasks[class] += 1;
        self.next += 1;
        task
    }

    /// The next task, which is due now, and when the one after it is.
    fn advance(&mut self, due: u64) -> u32 {
        let task = self.take();
        let number = u64::from(self.next);
        self.due = match &self.arrivals {
            Arrivals::AtOnce => Some(due),
            Arrivals::Every(gap) => Some(due + gap),
            Arrivals::Poisson(mean) => Some(due + exponential(&mut self.rng, *mean)),
            Arrivals::Bursts { size, every } => Some(self.at + number / size * every),
            Arrivals::ClosedLoop { .. } => {
                self.sends.pop();
                self.sends.peek().map(|Reverse(due)| *due)
            }
            Arrivals::Times(times) => Some(self.at + times.get(self.next as usize).copied().unwrap_or(0)),
        };
        self.due = self.due.filter(|_| self.next < self.count);
        task
    }
}

impl Iterator for Submissions {
    /// [ns] When it is due, and the task.
    type Item = (u64, u32);

    fn next(&mut self) -> Option<(u64, u32)> {
        let index = self.earliest()?;
        let stream = &mut self.streams[index];
        let due = stream.due?;
        Some((due - self.start, stream.advance(due)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[track_caller]
    fn check(tasks: &str, expect: &[(u64, u32)]) {
        let text = format!(
            "version = 1\nname = \"test\"\ntasks = {tasks}\nruns = [{{ model = \"thread-pool\" }}]\n[machine]\ncores = 1\n"
        );
        let scenario = Scenario::from_toml(&text).unwrap_or_else(|e| panic!("{e}"));
        let got: Vec<(u64, u32)> = Plan::new(&scenario, 0).unwrap().submissions().collect();
        assert_eq!(got, expect, "{tasks}");
    }

    #[test]
    fn arrivals() {
        let steps = "steps = [{ cpu = \"1 us\" }]";
        check(&format!("[{{ count = 2, {steps} }}]"), &[(0, 0), (0, 1)]);
        check(
            &format!("[{{ count = 3, at = \"5 ns\", arrival = {{ every = \"2 ns\" }}, {steps} }}]"),
            &[(0, 0), (2, 1), (4, 2)],
        );
        check(
            &format!("[{{ count = 5, arrival = {{ bursts = {{ size = 2, every = \"10 ns\" }} }}, {steps} }}]"),
            &[(0, 0), (0, 1), (10, 2), (10, 3), (20, 4)],
        );
        check(
            &format!(
                "[{{ count = 3, at = \"1 ns\", arrival = {{ times = [\"0 ns\", \"4 ns\", \"4 ns\"] }}, {steps} }}]"
            ),
            &[(0, 0), (4, 1), (4, 2)],
        );
        check(&format!("[{{ count = 2, arrival = {{ times = [\"5 ns\", \"6 ns\"] }}, {steps} }}]"), &[(0, 0), (1, 1)]);
        // The clock starts with the first task.
        check(
            &format!("[{{ count = 1, at = \"7 ns\", {steps} }}, {{ count = 1, at = \"5 ns\", {steps} }}]"),
            &[(0, 1), (2, 0)],
        );
        // Classes mix by time; ties go by the order in the file.
        check(
            &format!(
                "[{{ count = 2, arrival = {{ every = \"4 ns\" }}, {steps} }}, {{ count = 3, arrival = {{ every = \"2 ns\" }}, {steps} }}]"
            ),
            &[(0, 0), (0, 2), (2, 3), (4, 1), (4, 4)],
        );
    }

    #[test]
    fn a_closed_loop_is_the_same_elsewhere() {
        let text = "version = 1\nname = \"test\"\nruns = [{ model = \"thread-pool\" }]\n[machine]\ncores = 1\n\
            [[tasks]]\ncount = 2\nsteps = [\"yield\"]\n\
            [[tasks]]\ncount = 5\nat = \"3 ns\"\nsteps = [\"yield\"]\n\
            arrival = { closed-loop = { users = 2, think = { uniform = [\"10 ns\", \"20 ns\"] } } }\n";
        let mut submissions = Plan::new(&Scenario::from_toml(text).unwrap(), 0).unwrap().submissions();
        let loops = submissions.loops();
        let [LoopPlan { due: 3, users: 2, tasks, think }] = loops.as_slice() else { panic!("{loops:?}") };
        assert_eq!((tasks.as_slice(), &think[..2]), (&[2, 3, 4, 5, 6][..], &[0, 0][..]));
        // Each ends when it is sent, so that the users send in the order in which they have thought.
        let mut sent = Vec::new();
        while let Some(now) = submissions.due() {
            let task = submissions.next_by(now).unwrap();
            sent.push((now, task));
            submissions.ended(usize::from(task > 1), now);
        }
        let mut due = vec![3, 3];
        let mut expect = vec![(0, 0), (0, 1)];
        for (place, &task) in tasks.iter().enumerate() {
            due.sort_unstable();
            let now = due.remove(0);
            expect.push((now, task));
            due.extend(think.get(place + 2).map(|think| now + think));
        }
        assert_eq!(sent, expect);
    }

    #[test]
    fn a_poisson_process_has_its_rate() {
        let text = "version = 1\nname = \"test\"\nruns = [{ model = \"thread-pool\" }]\n\
            tasks = [{ count = 100000, arrival = { poisson = \"1 us\" }, steps = [{ cpu = \"1 us\" }] }]\n\
            [machine]\ncores = 1\n";
        let plan = Plan::new(&Scenario::from_toml(text).unwrap(), 0).unwrap();
        let times: Vec<u64> = plan.submissions().map(|(due, _)| due).collect();
        assert!(times.is_sorted());
        let mean = *times.last().unwrap() as f64 / 100_000.0;
        assert!((mean - 1_000.0).abs() < 4.0 * 1_000.0 / 100_000_f64.sqrt(), "{mean}");
        // In a Poisson process the count of a window has its mean as variance.
        let mut counts = vec![0_u32; (times.last().unwrap() / 10_000) as usize];
        for time in &times {
            if let Some(count) = counts.get_mut((time / 10_000) as usize) {
                *count += 1;
            }
        }
        let n = counts.len() as f64;
        let mean = f64::from(counts.iter().sum::<u32>()) / n;
        let variance = counts.iter().map(|&c| (f64::from(c) - mean) * (f64::from(c) - mean)).sum::<f64>() / n;
        assert!((variance / mean - 1.0).abs() < 0.06, "{variance} and {mean}");
    }
}
