//! The bare shape: zero costs, "run 2 us, wait 50 ms, run 1 us" on 12 carriers, against the hand-written loop.

use anyhow::{Result, ensure};
use parkbench_engine::{NO_TASK, Recording, Scenario, Simulation, TaskState};

use crate::alternate::{ratio, times};
use crate::reference::{self, Outcome};

const TASKS: u32 = 1_000_000;
const ROUNDS: usize = 7;

/// The scenario. Two cores more than carriers, so that the submitter and the timer thread take none from them, as in
/// the loop, which has neither.
pub(crate) fn scenario(tasks: u32) -> Result<Scenario> {
    let text = format!(
        "version = 1\nname = \"bare\"\nprofile = \"zero\"\n[machine]\ncores = 14\n\
         [[tasks]]\ncount = {tasks}\nsteps = [{{ cpu = \"2 us\" }}, {{ io = \"50 ms\" }}, {{ cpu = \"1 us\" }}]\n\
         [[runs]]\nmodel = \"green-threads\"\njdk = 25\ncarriers = 12\n"
    );
    Ok(Scenario::from_toml(&text)?)
}

pub(crate) fn print() -> Result<()> {
    let scenario = scenario(TASKS)?;
    let start = || Simulation::new(&scenario, 0).map_err(anyhow::Error::from);
    agree(&start()?.run(), &reference::run::<true>(TASKS))?;
    let totals = start()?.without_records().run().totals;
    println!("bare shape, {TASKS} tasks, {} events of the engine", totals.events);
    let mut engine = || start().map_or(0, |simulation| simulation.without_records().run().totals.makespan_ns);
    let mut engine_trace = || start().map_or(0, |simulation| simulation.run().totals.makespan_ns);
    let mut lanes = || reference::run::<false>(TASKS).makespan;
    let mut lanes_trace = || reference::run::<true>(TASKS).makespan;
    let times = times(ROUNDS, &mut [&mut engine, &mut lanes, &mut engine_trace, &mut lanes_trace]);
    for (name, engine, lanes) in [("without a trace", times[0], times[1]), ("with a trace", times[2], times[3])] {
        println!(
            "  {name:16} engine {:4} ns per task, loop {:4} ns per task, ratio {} (of the least {})",
            engine.per(u64::from(TASKS)).median,
            lanes.per(u64::from(TASKS)).median,
            ratio(engine.median, lanes.median),
            ratio(engine.least, lanes.least)
        );
    }
    Ok(())
}

/// Both must have simulated the same thing: each task starts and ends when it does in the loop.
fn agree(recording: &Recording, outcome: &Outcome) -> Result<()> {
    let ended = outcome.records.iter().filter(|record| record.state == TaskState::Done as u32);
    ensure!(
        ended.map(|record| outcome.lives[record.task as usize].1 - record.time).sum::<u64>() == 0,
        "the loop's records are wrong"
    );
    let mut lives = vec![(u64::MAX, 0); outcome.lives.len()];
    let mut last = 0;
    for ((&time, &task), &tag) in recording.tasks.time.iter().zip(&recording.tasks.subject).zip(&recording.tasks.tag) {
        ensure!(task != NO_TASK, "a record of no task");
        let life = &mut lives[task as usize];
        match tag >> 28 {
            state if state == TaskState::Running as u32 => life.0 = life.0.min(time),
            state if state == TaskState::Done as u32 => (life.1, last) = (time, time),
            _ => {}
        }
    }
    ensure!(last == outcome.makespan, "the engine ends at {last} ns, the loop at {} ns", outcome.makespan);
    // Which of the tasks of one instant runs first is each one's own business, so the times are compared in order.
    let sorted = |mut times: Vec<(u64, u64)>| {
        times.sort_unstable();
        times
    };
    ensure!(sorted(lives) == sorted(outcome.lives.clone()), "starts and ends differ");
    Ok(())
}
