//! The bare shape on NeXosim with one thread, its fastest setting for this program: run for 2 us, wait 50 ms without a
//! worker, run for 1 us, on 12 workers.

use std::collections::VecDeque;
use std::time::Duration;

use nexosim::model::{Context, Model, schedulable};
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Pool {
    idle: u32,
    ready: VecDeque<(u32, bool)>,
}

#[Model]
impl Pool {
    #[nexosim(init)]
    async fn init(&mut self, context: &Context<Self>) {
        self.dispatch(context);
    }

    #[nexosim(schedulable)]
    async fn burst_end(&mut self, (task, second): (u32, bool), context: &Context<Self>) {
        self.idle += 1;
        if !second {
            context.schedule_event(Duration::from_millis(50), schedulable!(Self::wake), task).expect("not in the past");
        }
        self.dispatch(context);
    }

    #[nexosim(schedulable)]
    async fn wake(&mut self, task: u32, context: &Context<Self>) {
        self.ready.push_back((task, true));
        self.dispatch(context);
    }

    fn dispatch(&mut self, context: &Context<Self>) {
        while self.idle > 0 {
            let Some((task, second)) = self.ready.pop_front() else { return };
            self.idle -= 1;
            let length = Duration::from_micros(if second { 1 } else { 2 });
            context.schedule_event(length, schedulable!(Self::burst_end), (task, second)).expect("not in the past");
        }
    }
}

fn main() {
    parkbench_peers::measure(|tasks| {
        let pool = Pool { idle: 12, ready: (0..tasks).map(|task| (task, false)).collect() };
        let bench = SimInit::with_num_threads(1).add_model(pool, Mailbox::new(), "pool");
        let mut simulation = bench.init(MonotonicTime::EPOCH).expect("starts");
        simulation.run().expect("runs to the end");
        simulation.time().duration_since(MonotonicTime::EPOCH).as_nanos() as u64
    });
}
