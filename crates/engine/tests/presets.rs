//! The seeds' tables: every preset against its references (issue: within 5 %).

use parkbench_engine::{Metric, PRESET_NAMES, Simulation, preset};

#[test]
fn print() {
    for name in PRESET_NAMES {
        let scenario = preset(name).unwrap();
        for (index, run) in scenario.runs.iter().enumerate() {
            let start = std::time::Instant::now();
            let recording = Simulation::new(&scenario, index).unwrap().run();
            let t = &recording.totals;
            let want = scenario.references.iter().find(|r| r.run == index && r.metric == Metric::Makespan);
            let residual = want.map(|r| (t.makespan_ns as f64 / r.value as f64 - 1.0) * 100.0);
            println!(
                "{name} {} {:.3} ms residual {residual:.2?} events {} unfinished {} switches {}+{} rss {} {:?} digest {:x}",
                run.variant(&scenario.machine),
                t.makespan_ns as f64 / 1e6,
                t.events,
                t.unfinished,
                t.voluntary_switches,
                t.involuntary_switches,
                t.resident_bytes,
                start.elapsed(),
                t.digest
            );
        }
    }
}
