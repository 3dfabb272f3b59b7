//! Cores are shared as fairly as by a perfect scheduler, to within a slice and a tick.

use parkbench_engine::TaskState;
use proptest::prelude::*;

use crate::support::{MS, first, run};

/// [ns] When each hog would end if cores could be shared out perfectly: work and arrival of each, both in ns.
fn fair_shares(cores: u64, hogs: &[(u64, u64)]) -> Vec<u64> {
    let mut left: Vec<f64> = hogs.iter().map(|(_, work)| *work as f64).collect();
    let mut done = vec![0; hogs.len()];
    let mut now = 0.0_f64;
    loop {
        let active: Vec<usize> = (0..hogs.len()).filter(|&i| hogs[i].0 as f64 <= now && left[i] > 0.0).collect();
        let rate = (cores as f64 / active.len() as f64).min(1.0);
        let ends = active.iter().map(|&i| now + left[i] / rate);
        let arrivals = hogs.iter().map(|(at, _)| *at as f64).filter(|&at| at > now);
        let Some(next) = ends.chain(arrivals).min_by(f64::total_cmp) else { return done };
        for i in active {
            left[i] -= (next - now) * rate;
            if left[i] < 1.0 {
                left[i] = 0.0;
                done[i] = next as u64;
            }
        }
        now = next;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn cores_are_shared_as_by_a_perfect_scheduler(
        cores in 1_u64..5,
        hogs in prop::collection::vec((0_u64..400, 5_u64..200), 1..12),
    ) {
        let tasks: Vec<String> = hogs
            .iter()
            .map(|(at, work)| format!("{{ count = 1, at = \"{at} ms\", steps = [{{ cpu = \"{work} ms\" }}] }}"))
            .collect();
        let model = format!("{{ model = \"thread-pool\", size = {} }}", hogs.len());
        let recording = run(cores as u32, &model, "base_slice = \"2.8 ms\"\ntick = \"4 ms\"", &format!("[{}]", tasks.join(",")));
        let start = hogs.iter().map(|(at, _)| *at).min().unwrap();
        let hogs: Vec<(u64, u64)> = hogs.iter().map(|(at, work)| ((at - start) * MS, work * MS)).collect();
        for (task, expect) in fair_shares(cores, &hogs).into_iter().enumerate() {
            let end = first(&recording, task as u32, TaskState::Done).unwrap();
            // Nobody is ahead or behind by more than a slice and a tick for each thread that shares the cores.
            let slack = 8 * MS * (hogs.len() as u64).div_ceil(cores);
            prop_assert!(end.abs_diff(expect) <= slack, "task {} ends at {}, fair is {}", task, end, expect);
        }
    }
}
