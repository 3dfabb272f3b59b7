//! The workloads of the seeds as a program on tokio that does nothing else, to hold `parkbench measure` against:
//!
//! `minimal-tokio multi|current WORKERS spawn|io|cpu|high|agents TASKS`
//!
//! Prints the total in nanoseconds. It uses nothing of parkbench; `cargo xtask agreement` runs both in turn.

use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::bail;
use tokio::runtime::Builder;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [flavor, workers, workload, tasks] = arguments.as_slice() else {
        bail!("usage: minimal-tokio multi|current WORKERS spawn|io|cpu|high|agents TASKS");
    };
    let runtime = match flavor.as_str() {
        "multi" => Builder::new_multi_thread().worker_threads(workers.parse()?).enable_time().build()?,
        "current" => Builder::new_current_thread().enable_time().build()?,
        _ => bail!("the flavor is multi or current"),
    };
    let tasks = tasks.parse()?;
    let total = match workload.as_str() {
        "spawn" => runtime.block_on(all((0..tasks).map(|_| async {}))),
        "cpu" => runtime.block_on(all((0..tasks).map(|_| async { compute() }))),
        "io" => runtime.block_on(all((0..tasks).map(|_| wait(50)))),
        "high" => runtime.block_on(all((0..tasks).map(|_| wait(1)))),
        "agents" => runtime.block_on(all((0..tasks).map(|task| wait(2_000 + task * 7_919 % 200)))),
        _ => bail!("the workload is spawn, io, cpu, high or agents"),
    }?;
    println!("{}", total.as_nanos());
    Ok(())
}

/// From the first spawn until the last task has been joined.
async fn all<T>(tasks: impl Iterator<Item = T>) -> anyhow::Result<Duration>
where
    T: Future<Output: Send> + Send + 'static,
{
    let begin = Instant::now();
    let tasks: Vec<_> = tasks.map(tokio::spawn).collect();
    for task in tasks {
        task.await?;
    }
    Ok(begin.elapsed())
}

async fn wait(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

fn compute() -> u64 {
    let mut sum = 0_u64;
    for i in 0..100_000 {
        // Without it the compiler puts the closed formula in place of the loop.
        let i = black_box(i);
        sum = sum.wrapping_add(i * i);
    }
    black_box(sum)
}
