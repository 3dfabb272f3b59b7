//! The workloads of the seeds on a pool of std threads, in a program that does nothing else, to hold `parkbench measure`
//! against:
//!
//! `minimal-pool THREADS io|cpu|high|agents TASKS`
//!
//! Prints the total in nanoseconds. It uses nothing of parkbench; `cargo xtask agreement` runs both in turn.

use std::env;
use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [threads, workload, tasks] = arguments.as_slice() else {
        bail!("usage: minimal-pool THREADS io|cpu|high|agents TASKS");
    };
    let (threads, tasks) = (threads.parse()?, tasks.parse()?);
    let total = match workload.as_str() {
        "cpu" => all(threads, tasks, |_| compute()),
        "io" => all(threads, tasks, |_| wait(50)),
        "high" => all(threads, tasks, |_| wait(1)),
        "agents" => all(threads, tasks, |task| wait(2_000 + task * 7_919 % 200)),
        _ => bail!("the workload is io, cpu, high or agents"),
    }?;
    println!("{}", total.as_nanos());
    Ok(())
}

/// From the first thread's start until the last task has ended; a thread starts with each of the first tasks.
fn all(threads: usize, tasks: u64, run: fn(u64)) -> anyhow::Result<Duration> {
    let (queue, waiting) = mpsc::channel();
    let waiting = Arc::new(Mutex::new(waiting));
    let (end, ended) = mpsc::channel();
    let begin = Instant::now();
    let mut workers = Vec::with_capacity(threads);
    for task in 0..tasks {
        if workers.len() == threads {
            queue.send(task)?;
            continue;
        }
        let (waiting, end) = (Arc::clone(&waiting), end.clone());
        workers.push(thread::spawn(move || {
            let mut next = Some(task);
            while let Some(task) = next {
                run(task);
                // Whoever waits for it is gone only where the program has failed.
                let _ = end.send(());
                next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
            }
        }));
    }
    for _ in 0..tasks {
        ended.recv()?;
    }
    let total = begin.elapsed();
    drop(queue);
    for worker in workers {
        worker.join().map_err(|_| anyhow!("a thread has panicked"))?;
    }
    Ok(total)
}

fn wait(ms: u64) {
    thread::sleep(Duration::from_millis(ms));
}

fn compute() {
    let mut sum = 0_u64;
    for i in 0..100_000 {
        // Without it the compiler puts the closed formula in place of the loop.
        let i = black_box(i);
        sum = sum.wrapping_add(i * i);
    }
    black_box(sum);
}
