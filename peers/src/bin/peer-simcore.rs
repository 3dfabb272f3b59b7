//! The bare shape on simcore: run for 2 us, wait 50 ms without a worker, run for 1 us, on 12 workers.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use serde::Serialize;
use simcore::{Event, EventHandler, Simulation, SimulationContext, cast};

#[derive(Clone, Serialize)]
struct BurstEnd {
    task: u32,
    second: bool,
}

#[derive(Clone, Serialize)]
struct Wake {
    task: u32,
}

struct Pool {
    context: SimulationContext,
    idle: u32,
    ready: VecDeque<(u32, bool)>,
}

impl Pool {
    fn dispatch(&mut self) {
        while self.idle > 0 {
            let Some((task, second)) = self.ready.pop_front() else { return };
            self.idle -= 1;
            self.context.emit_self(BurstEnd { task, second }, if second { 1e-6 } else { 2e-6 });
        }
    }
}

impl EventHandler for Pool {
    fn on(&mut self, event: Event) {
        cast!(match event.data {
            BurstEnd { task, second } => {
                self.idle += 1;
                if !second {
                    self.context.emit_self(Wake { task }, 50e-3);
                }
            }
            Wake { task } => {
                self.ready.push_back((task, true));
            }
        });
        self.dispatch();
    }
}

fn main() {
    parkbench_peers::measure(|tasks| {
        let mut simulation = Simulation::new(1);
        let context = simulation.create_context("pool");
        let ready = (0..tasks).map(|task| (task, false)).collect();
        let pool = Rc::new(RefCell::new(Pool { context, idle: 12, ready }));
        simulation.add_handler("pool", pool.clone());
        pool.borrow_mut().dispatch();
        simulation.step_until_no_events();
        (simulation.time() * 1e9).round() as u64
    });
}
