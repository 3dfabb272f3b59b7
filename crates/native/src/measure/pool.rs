//! A pool of OS threads: the thread pool that is measured.
//!
//! It follows `ThreadPoolExecutor` (P-1): while there are fewer threads than the pool's size, a submission starts a
//! thread with the task as its first; every other task goes to the tail of one queue behind one mutex. What a bounded
//! queue has no room for is refused: it is dropped and counted (`AbortPolicy`), or run by the thread that submits it
//! (`CallerRunsPolicy`). With a capacity of 0 a task goes to an idle thread or is refused, and a cached pool starts a
//! thread where none is idle.
//! A thread for each task is the same without the queue: a thread ends with its task.
//! Every wait, `io` or `block`, is `std::thread::sleep` and holds the thread (P-2); locks are `std::sync::Mutex`, which a
//! task that its caller runs enters again where the caller has it, and a semaphore is one with a condition variable.

mod work_queue;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope, Thread};

use anyhow::Context as _;

use super::arrivals::Next;
use super::runtime::Admission;
use super::slots::Slots;
use super::workload::{Action, Which, Workload};
use work_queue::WorkQueue;

/// [bytes] Address space for the stack of a pool thread: the JVM's default on Linux.
const STACK: usize = 1 << 20;

/// Runs the workload to its end on `threads` threads, or on one for each task; [ns] from the first submission until the
/// submitter has seen the last task end.
pub(crate) fn run(
    workload: &Workload,
    slots: &Slots,
    threads: Option<u32>,
    admission: Admission,
) -> anyhow::Result<u64> {
    let parents = if workload.spawns() { workload.task_count() } else { 0 };
    let pool = &Pool {
        workload,
        slots,
        threads,
        started: AtomicU32::new(0),
        admission,
        queue: WorkQueue::new(admission),
        shared: workload.permits().map(Guard::new).collect(),
        children: (0..parents).map(|_| Latch::default()).collect(),
        failure: Mutex::new(None),
        submitter: thread::current(),
    };
    thread::scope(|scope| {
        // Closes the queue on every way out, so that the threads end and with them the scope.
        let _closer = Closer(&pool.queue);
        let mut agenda = slots.agenda(workload);
        loop {
            match agenda() {
                Next::Submit(task) => {
                    pool.submit(scope, task, &[])?;
                    continue;
                }
                _ if slots.all_ended() => return Ok(slots.since_first_submission()),
                next => next.park(),
            }
            if let Some(error) = lock_of(&pool.failure).take() {
                return Err(error);
            }
        }
    })
}

/// The pool while it runs.
struct Pool<'a> {
    workload: &'a Workload,
    slots: &'a Slots,
    /// Its size; `None` for a thread for each task.
    threads: Option<u32>,
    started: AtomicU32,
    /// What becomes of a task for which there is no thread.
    admission: Admission,
    queue: WorkQueue,
    shared: Vec<Guard>,
    /// The tasks that each task has started; empty where none does.
    children: Vec<Latch>,
    /// Why a task could not start another.
    failure: Mutex<Option<anyhow::Error>>,
    submitter: Thread,
}

impl Pool<'_> {
    /// Hands the task to a new thread while there are fewer than the pool's size, else to the queue (P-1); a cached pool
    /// to an idle thread, else to a new one. The thread that submits it has the locks `held`.
    fn submit<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        task: u32,
        held: &[usize],
    ) -> anyhow::Result<()> {
        self.slots.submitted(task);
        if self.admission == Admission::Cached && self.queue.offer(task) {
            return Ok(());
        }
        let most = self.threads.unwrap_or(u32::MAX);
        let next = |started: u32| (started < most).then(|| started + 1);
        let Ok(started) = self.started.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) else {
            match self.queue.offer(task) {
                true => {}
                false if self.admission.caller_runs() => self.execute(scope, task, held),
                false => self.reject(task),
            }
            return Ok(());
        };
        let worker = move || {
            self.execute(scope, task, &[]);
            while let Some(task) = self.threads.and_then(|_| self.queue.take()) {
                self.execute(scope, task, &[]);
            }
        };
        thread::Builder::new()
            .name(format!("pool-{started}"))
            .stack_size(STACK)
            .spawn_scoped(scope, worker)
            .with_context(|| format!("thread {} could not be created", started + 1))?;
        Ok(())
    }

    /// The task never begins: nobody waits for it any more, nor for what it would have started.
    fn reject(&self, task: u32) {
        let wakes = self.slots.rejected(task, self.workload.family(task));
        self.gone(task, wakes);
    }

    /// The task has ended or never begins; the submitter must be woken where it `wakes` it.
    fn gone(&self, task: u32, wakes: bool) {
        if let Some(children) = self.workload.parent(task).and_then(|parent| self.children.get(parent as usize)) {
            children.down();
        }
        if wakes {
            self.submitter.unpark();
        }
    }

    /// Runs the task on this thread, which has the locks `held` of the tasks that have called it.
    fn execute<'scope, 'env>(&'env self, scope: &'scope Scope<'scope, 'env>, task: u32, held: &[usize]) {
        self.slots.began(task);
        if let Err(error) = self.perform(scope, task, held) {
            *lock_of(&self.failure) = Some(error);
            self.submitter.unpark();
        }
        let wakes = self.slots.ended(task);
        self.gone(task, wakes);
    }

    /// The body of a task.
    fn perform<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        task: u32,
        by_callers: &[usize],
    ) -> anyhow::Result<()> {
        let own: Vec<Mutex<()>> = (0..self.workload.own_locks(task)).map(|_| Mutex::new(())).collect();
        let mut held: Vec<Held<'_>> = Vec::new();
        for action in self.workload.actions(task) {
            self.slots.mark(task, action);
            match action {
                Action::Spin(_) | Action::Compute(_) => action.compute(),
                Action::Io(wait) | Action::Block(wait) => thread::sleep(wait),
                Action::Lock(Which::Shared(lock)) => {
                    // The thread that has a lock enters it again.
                    let guard = (!by_callers.contains(&lock)).then(|| lock_of(&self.shared[lock].lock));
                    held.push(Held { shared: Some(lock), _guard: guard });
                }
                Action::Lock(Which::Own(lock)) => held.push(Held { shared: None, _guard: Some(lock_of(&own[lock])) }),
                Action::Unlock => drop(held.pop()),
                Action::Acquire(number) => self.shared[number].acquire(),
                Action::Release(number) => self.shared[number].release(),
                Action::Yield => thread::yield_now(),
                Action::Spawn(child) => {
                    self.children[task as usize].up();
                    let shared = held.iter().filter_map(|held| held.shared);
                    let by_caller: Vec<usize> = by_callers.iter().copied().chain(shared).collect();
                    self.submit(scope, child, &by_caller)?;
                }
                Action::Join => self.children[task as usize].wait(),
            }
            self.slots.mark(task, action);
        }
        Ok(())
    }
}

/// A lock that a task has taken.
struct Held<'a> {
    /// Its number, unless it is the task's own.
    shared: Option<usize>,
    /// Gives it back; none where the thread had it before.
    _guard: Option<MutexGuard<'a, ()>>,
}

/// Counts tasks that have not ended.
#[derive(Default)]
struct Latch {
    open: Mutex<u32>,
    none: Condvar,
}

impl Latch {
    fn up(&self) {
        *lock_of(&self.open) += 1;
    }

    fn down(&self) {
        let mut open = lock_of(&self.open);
        *open -= 1;
        if *open == 0 {
            self.none.notify_all();
        }
    }

    fn wait(&self) {
        let mut open = lock_of(&self.open);
        while *open > 0 {
            open = self.none.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A lock and a semaphore of one number, of which a scenario uses one.
struct Guard {
    lock: Mutex<()>,
    permits: Mutex<u32>,
    free: Condvar,
}

impl Guard {
    fn new(permits: u32) -> Self {
        Self { lock: Mutex::new(()), permits: Mutex::new(permits), free: Condvar::new() }
    }

    fn acquire(&self) {
        let mut permits = lock_of(&self.permits);
        while *permits == 0 {
            permits = self.free.wait(permits).unwrap_or_else(PoisonError::into_inner);
        }
        *permits -= 1;
    }

    fn release(&self) {
        *lock_of(&self.permits) += 1;
        self.free.notify_one();
    }
}

/// Closes the queue when it is dropped.
struct Closer<'a>(&'a WorkQueue);

impl Drop for Closer<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Takes a mutex whose data cannot be left half-changed by a panic.
fn lock_of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
