//! The times at which each task began, waited, went on and ended, each with its thread, taken down by the task itself.
//!
//! Every task has its own stretch of memory, made and touched before the run, so that nothing is locked or allocated
//! during it, except once for each thread. What the times mean is read off the plan afterwards, in `recording`.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use parkbench_engine::NO_WORKER;

use crate::measure::clock::Clock;

/// Times for [`cost_ps`].
const COST_MARKS: u32 = 100_000;

/// Counts the sets of marks of this process, so that a thread knows in which it has a number.
static SETS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The set of marks in which this thread has a number, and the number.
    static THREAD: Cell<(u32, u32)> = const { Cell::new((u32::MAX, 0)) };
}

/// The marks of all tasks of a run.
#[derive(Debug)]
pub(crate) struct Marks {
    set: u32,
    /// Where the stretch of each task begins; the last is where the last one ends.
    offsets: Vec<usize>,
    /// How many marks each task has.
    taken: Vec<AtomicU32>,
    /// [ns] since the origin of the slots.
    times: Vec<AtomicU64>,
    threads: Vec<AtomicU32>,
    /// What the threads are called, by number; `None` for one without a name.
    names: Mutex<Vec<Option<String>>>,
}

impl Marks {
    /// Room for so many marks of each task.
    pub(crate) fn new(counts: impl IntoIterator<Item = usize>) -> Self {
        let mut offsets = vec![0];
        let mut sum = 0;
        for count in counts {
            sum += count;
            offsets.push(sum);
        }
        let touched = |_| AtomicU64::new(u64::MAX);
        Self {
            set: SETS.fetch_add(1, Ordering::Relaxed),
            taken: (1..offsets.len()).map(|_| AtomicU32::new(0)).collect(),
            times: (0..sum).map(touched).collect(),
            threads: (0..sum).map(|_| AtomicU32::new(NO_WORKER)).collect(),
            offsets,
            names: Mutex::default(),
        }
    }

    /// Takes this time down for the task, on the present thread.
    pub(crate) fn take(&self, task: u32, now_ns: u64) {
        self.store(task, now_ns, self.thread());
    }

    /// Takes this time down for the task, on a thread that is no worker.
    pub(crate) fn take_elsewhere(&self, task: u32, now_ns: u64) {
        self.store(task, now_ns, NO_WORKER);
    }

    /// A task is on one thread at a time, and whoever moves it to another orders its accesses.
    fn store(&self, task: u32, now_ns: u64, thread: u32) {
        let task = task as usize;
        let number = self.taken[task].load(Ordering::Relaxed);
        let place = self.offsets[task] + number as usize;
        if place < self.offsets[task + 1] {
            self.taken[task].store(number + 1, Ordering::Relaxed);
            self.times[place].store(now_ns, Ordering::Relaxed);
            self.threads[place].store(thread, Ordering::Relaxed);
        }
    }

    /// The number of the present thread. Not inlined: a green thread may be on another thread the next time, so no
    /// caller may keep the place of this thread's data.
    #[inline(never)]
    fn thread(&self) -> u32 {
        let (set, number) = THREAD.get();
        if set == self.set {
            return number;
        }
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let number = names.len() as u32;
        names.push(thread::current().name().map(str::to_owned));
        THREAD.set((self.set, number));
        number
    }

    /// [ns] The times of a task with their threads, in order.
    pub(crate) fn of(&self, task: u32) -> impl Iterator<Item = (u64, u32)> + '_ {
        let task = task as usize;
        let from = self.offsets[task];
        let places = from..from + self.taken[task].load(Ordering::Relaxed) as usize;
        places.map(|place| (self.times[place].load(Ordering::Relaxed), self.threads[place].load(Ordering::Relaxed)))
    }

    /// How many times were taken down.
    pub(crate) fn count(&self) -> u64 {
        self.taken.iter().map(|taken| u64::from(taken.load(Ordering::Relaxed))).sum()
    }

    /// What the threads are called.
    pub(crate) fn names(&self) -> Vec<Option<String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// [ps] To read the clock and take the time down, on one thread here and now.
pub(crate) fn cost_ps() -> u64 {
    let marks = Marks::new([COST_MARKS as usize]);
    let clock = Clock::start();
    for _ in 0..COST_MARKS {
        marks.take(0, clock.now());
    }
    clock.now() * 1_000 / u64::from(COST_MARKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_has_its_own_times_in_order() {
        let marks = Marks::new([2, 0, 3]);
        for (task, now) in [(2, 5), (0, 6), (2, 7), (0, 9), (2, 9)] {
            marks.take(task, now);
        }
        marks.take_elsewhere(2, 11);
        let times = |task| marks.of(task).map(|(time, _)| time).collect::<Vec<_>>();
        assert_eq!((times(0), times(1), times(2)), (vec![6, 9], vec![], vec![5, 7, 9]));
        assert_eq!(marks.count(), 5);
    }

    #[test]
    fn threads_are_told_apart() {
        let marks = Marks::new([4]);
        marks.take(0, 1);
        thread::scope(|scope| {
            let named = thread::Builder::new().name("b".to_owned());
            named.spawn_scoped(scope, || marks.take(0, 2)).unwrap().join().unwrap();
        });
        marks.take_elsewhere(0, 3);
        marks.take(0, 4);
        let threads: Vec<u32> = marks.of(0).map(|(_, thread)| thread).collect();
        assert_eq!(threads, [0, 1, NO_WORKER, 0]);
        assert_eq!(marks.names()[1].as_deref(), Some("b"));
        let other = Marks::new([1]);
        other.take(0, 1);
        assert_eq!((other.of(0).count(), other.names().len()), (1, 1));
    }
}
