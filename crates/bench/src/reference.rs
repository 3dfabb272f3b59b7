//! The loop that the engine is compared with: one hard-coded task program on FIFO lanes, and nothing else.
//!
//! Every task runs for 2 us, waits 50 ms without a worker, runs for 1 us and ends. No costs, no operating system, no
//! steps to interpret, no digest: the least that gives the same schedule.

use std::collections::VecDeque;

/// [ns] The three constants of the program.
pub(crate) const FIRST: u64 = 2_000;
pub(crate) const WAIT: u64 = 50_000_000;
pub(crate) const SECOND: u64 = 1_000;
/// Workers.
pub(crate) const WORKERS: usize = 12;

/// What comes out of a run of the loop.
pub(crate) struct Outcome {
    /// [ns] When the last task has ended.
    pub(crate) makespan: u64,
    /// [ns] Start and end of each task.
    pub(crate) lives: Vec<(u64, u64)>,
    /// The transitions, if they were asked for.
    pub(crate) records: Vec<Record>,
}

/// One transition: 16 bytes, as in the engine.
pub(crate) struct Record {
    pub(crate) time: u64,
    pub(crate) task: u32,
    pub(crate) state: u32,
}

/// A pending event: 16 bytes; the sequence makes equal times first in, first out.
#[derive(Clone, Copy)]
struct Entry {
    time: u64,
    sequence: u32,
    task: u32,
}

/// Runs the program for `tasks` tasks that are all submitted at time 0.
pub(crate) fn run<const TRACE: bool>(tasks: u32) -> Outcome {
    let mut lives = vec![(0, 0); tasks as usize];
    let mut records = Vec::with_capacity(if TRACE { 6 * tasks as usize } else { 0 });
    let mut note = |time: u64, task: u32, state: u32| {
        if TRACE {
            records.push(Record { time, task, state });
        }
    };
    // Run 2 us, wait 50 ms, run 1 us: times in each lane never fall.
    let mut lanes: [VecDeque<Entry>; 3] = Default::default();
    let mut ready: VecDeque<(u32, usize)> = VecDeque::with_capacity(tasks as usize);
    for task in 0..tasks {
        note(0, task, 1);
        ready.push_back((task, 0));
    }
    let (mut now, mut idle, mut sequence) = (0, WORKERS, 0);
    loop {
        while idle > 0
            && let Some((task, lane)) = ready.pop_front()
        {
            idle -= 1;
            let length = if lane == 0 { FIRST } else { SECOND };
            if lane == 0 {
                lives[task as usize].0 = now;
            }
            note(now, task, 2);
            lanes[lane].push_back(Entry { time: now + length, sequence, task });
            sequence += 1;
        }
        let mut first = (u64::MAX, u32::MAX, 0);
        for (lane, entries) in lanes.iter().enumerate() {
            if let Some(head) = entries.front()
                && (head.time, head.sequence) < (first.0, first.1)
            {
                first = (head.time, head.sequence, lane);
            }
        }
        let lane = first.2;
        let Some(Entry { time, task, .. }) = lanes[lane].pop_front() else { break };
        now = time;
        match lane {
            0 => {
                idle += 1;
                note(now, task, 4);
                lanes[1].push_back(Entry { time: now + WAIT, sequence, task });
                sequence += 1;
            }
            1 => {
                note(now, task, 1);
                ready.push_back((task, 2));
            }
            _ => {
                idle += 1;
                note(now, task, 7);
                lives[task as usize].1 = now;
            }
        }
    }
    Outcome { makespan: now, lives, records }
}
