//! Deadlocks of random scenarios where two locks are taken in either order: exactly those that a naive graph of waits
//! has.

use proptest::prelude::*;

use crate::support::run;

/// One task: waits, takes its first lock, waits, takes the second.
#[derive(Clone, Copy, Debug)]
struct Taker {
    /// [us] Before the first.
    before: u64,
    /// [us] Between the two.
    between: u64,
    /// a and b, or b and a.
    in_order: bool,
}

/// The tasks one after the other by their times, and who owns and wants which lock.
struct Naive<'a> {
    takers: &'a [Taker],
    /// 0 before, 1 wants its first lock, 2 between, 3 wants its second, 4 done.
    place: Vec<u32>,
    /// [us]
    until: Vec<u64>,
    owner: [Option<usize>; 2],
    lines: [Vec<usize>; 2],
}

impl Naive<'_> {
    fn lock(&self, task: usize) -> usize {
        usize::from(self.takers[task].in_order == (self.place[task] == 3))
    }

    fn serve(&mut self, now: u64) {
        while let Some(lock) = (0..2).find(|&lock| self.owner[lock].is_none() && !self.lines[lock].is_empty()) {
            let task = self.lines[lock].remove(0);
            self.owner[lock] = Some(task);
            self.place[task] += 1;
            self.until[task] = now + self.takers[task].between;
            if self.place[task] == 4 {
                self.owner = [None, None];
            }
        }
    }
}

/// The tasks that never end and those that own the locks then; `None` if two things happen at one time, where the order
/// is the scheduler's.
fn naive(takers: &[Taker]) -> Option<(usize, Vec<usize>)> {
    let mut state = Naive {
        takers,
        place: vec![0; takers.len()],
        until: takers.iter().map(|taker| taker.before).collect(),
        owner: [None, None],
        lines: [Vec::new(), Vec::new()],
    };
    loop {
        let moving: Vec<usize> = (0..takers.len()).filter(|&task| matches!(state.place[task], 0 | 2)).collect();
        let Some(now) = moving.iter().map(|&task| state.until[task]).min() else { break };
        let due: Vec<usize> = moving.into_iter().filter(|&task| state.until[task] == now).collect();
        let [task] = due[..] else { return None };
        state.place[task] += 1;
        let lock = state.lock(task);
        state.lines[lock].push(task);
        state.serve(now);
    }
    let stuck = state.place.iter().filter(|&&place| place != 4).count();
    Some((stuck, state.owner.into_iter().flatten().collect()))
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, max_local_rejects: 100_000, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn two_locks_as_a_naive_graph_of_waits_has_them(
        takers in prop::collection::vec((0_u64..12, 0_u64..6, any::<bool>()), 1..6),
        model in 0_usize..7,
        monitor in any::<bool>(),
    ) {
        let takers: Vec<Taker> = (0..).zip(takers).map(|(index, (before, between, in_order))| Taker {
            before: before * 1_000 + index,
            between: between * 1_000 + (10 << index),
            in_order,
        }).collect();
        let expect = naive(&takers);
        prop_assume!(expect.is_some());
        let (stuck, mut owners) = expect.unwrap();
        // Not tokio, which sleeps whole milliseconds. A loop and the workers of coroutines do not suspend in a monitor; green threads and pools are the same there.
        let kind = if monitor && model < 4 { "monitor" } else { "reentrant" };
        let class = |taker: &Taker| {
            let (first, second) = if taker.in_order { ("a", "b") } else { ("b", "a") };
            format!(
                "{{ count = 1, steps = [{{ io = \"{} us\" }}, {{ lock = {{ name = \"{first}\", kind = \"{kind}\" }} }}, \
                 {{ io = \"{} us\" }}, {{ lock = {{ name = \"{second}\", kind = \"{kind}\" }} }}, \
                 {{ unlock = \"{second}\" }}, {{ unlock = \"{first}\" }}] }}",
                taker.before, taker.between
            )
        };
        let classes: Vec<String> = takers.iter().map(class).collect();
        let recording = run(8, super::ALL[model], "", &format!("[{}]", classes.join(", ")));
        prop_assert_eq!(recording.totals.unfinished as usize, stuck);
        let circles: Vec<Vec<usize>> = recording.findings.iter()
            .map(|finding| finding.waits.iter().map(|wait| wait.task.id as usize).collect())
            .collect();
        owners.sort_unstable();
        prop_assert_eq!(circles, if stuck > 0 { vec![owners] } else { vec![] });
        if let Some(finding) = recording.findings.first() {
            prop_assert_eq!(finding.tasks as usize, stuck);
        }
    }
}
