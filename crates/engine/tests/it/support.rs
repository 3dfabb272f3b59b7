//! Helpers of the tests: short scenarios, and when each task did what.

use parkbench_engine::{Recording, Scenario, Simulation, TaskState, TaskTag};

/// Runs the only run of a scenario under no costs but those given.
#[track_caller]
pub(crate) fn run(cores: u32, run: &str, costs: &str, tasks: &str) -> Recording {
    let text = format!(
        "version = 1\nname = \"test\"\nprofile = \"zero\"\ntasks = {tasks}\nruns = [{run}]\n\
         [machine]\ncores = {cores}\n[costs]\n{costs}"
    );
    let scenario = Scenario::from_toml(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Simulation::new(&scenario, 0).unwrap().run()
}

/// [ns] When the task was first in this state.
pub(crate) fn first(recording: &Recording, task: u32, state: TaskState) -> Option<u64> {
    let records = &recording.tasks;
    (0..records.len())
        .find(|&i| records.subject[i] == task && TaskTag::unpack(records.tag[i]).unwrap().state == state)
        .map(|i| records.time[i])
}

/// [ns] When each of so many tasks ended, done or failed; 0 for one that did not.
pub(crate) fn ends(recording: &Recording, tasks: u32) -> Vec<u64> {
    let records = &recording.tasks;
    let mut ends = vec![0; tasks as usize];
    for i in 0..records.len() {
        if matches!(TaskTag::unpack(records.tag[i]).unwrap().state, TaskState::Done | TaskState::Failed) {
            ends[records.subject[i] as usize] = records.time[i];
        }
    }
    ends
}

/// Milliseconds in nanoseconds.
pub(crate) const MS: u64 = 1_000_000;
