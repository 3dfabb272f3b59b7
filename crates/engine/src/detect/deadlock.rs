//! Deadlock: no event is left, so nothing can happen any more, and tasks that have been submitted have not ended.
//!
//! Each of them waits for something that another one has, so following any of them leads into a circle of waits
//! (Coffman et al., 1971: with one instance of each resource a circle is a deadlock; where there are several, as
//! permits, workers and children, the circle is one of those among tasks that are stuck anyway, because no event is
//! left). The shortest of the circles that the first blocker of each task leads into is reported; of circles of one
//! length, the one with the lowest task.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Finding, FindingKind, MAX_NAMED, Wait};
use crate::recording::Records;

use super::Waits;
use super::waits::Want;

/// The deadlock in which a run has stopped at `end` that has no event left; `None` where no task waits.
pub(crate) fn deadlock(waits: &Waits<'_>, records: &Records, end: u64) -> Option<Finding> {
    report(waits, waits.waiting().collect(), records, end)
}

/// The deadlock of some tasks while others go on: those that wait for locks and children which only they themselves
/// could give back or end.
pub(super) fn among_others(waits: &Waits<'_>, records: &Records, now: u64) -> Option<Finding> {
    report(waits, stuck(waits, &BTreeMap::new()), records, now)
}

/// Tasks that can never go on, ascending: those that wait for locks and children which only they themselves could give
/// back or end, and those that try (`tries`: each its locks) what such a one has that waits. Who tries in vain gives
/// back what it has taken, so that nobody is stuck behind it, but for those that wait for its end.
pub(super) fn stuck(waits: &Waits<'_>, tries: &BTreeMap<u32, BTreeSet<u32>>) -> Vec<u32> {
    let waiting = waits.waiting().filter(|&task| waits.want(task) != Want::Worker);
    let mut stuck: BTreeSet<u32> = waiting.chain(tries.keys().copied()).collect();
    loop {
        let keeps = |task: &u32| stuck.contains(task) && !tries.contains_key(task);
        let stays = |task: u32| match (tries.get(&task), waits.want(task)) {
            (Some(locks), _) => locks.iter().any(|&lock| {
                let holders = waits.holders(lock);
                !holders.is_empty() && holders.iter().all(keeps)
            }),
            (None, Want::Children) => waits.blockers(task).iter().any(|child| stuck.contains(child)),
            (None, Want::Call(child)) => stuck.contains(&child),
            (None, _) => waits.blockers(task).iter().all(keeps),
        };
        let kept: BTreeSet<u32> = stuck.iter().copied().filter(|&task| stays(task)).collect();
        if kept.len() == stuck.len() {
            return kept.into_iter().collect();
        }
        stuck = kept;
    }
}

fn report(waits: &Waits<'_>, stuck: Vec<u32>, records: &Records, end: u64) -> Option<Finding> {
    if stuck.is_empty() {
        return None;
    }
    let circle = circle(waits, &stuck);
    let count = stuck.len() as u32;
    let named: Vec<u32> = if circle.is_empty() { stuck } else { circle.clone() };
    let next = |place: usize| (!circle.is_empty()).then(|| circle[(place + 1) % circle.len()]);
    let described: Vec<Wait> =
        named.iter().enumerate().take(MAX_NAMED).map(|(place, &task)| waits.describe(task, next(place))).collect();
    Some(Finding {
        kind: FindingKind::Deadlock,
        from_ns: last_record_of(records, &named).unwrap_or(end),
        to_ns: end,
        tasks: count,
        circle: circle.len() as u32,
        period_ns: None,
        waits: described,
    })
}

/// The tasks of the circle, from its lowest on; empty where there is none.
fn circle(waits: &Waits<'_>, stuck: &[u32]) -> Vec<u32> {
    let most = stuck.last().map_or(0, |&task| task as usize + 1);
    // 0: not seen; otherwise the number of the walk that has been there.
    let mut seen = vec![0_u32; most];
    let mut best: Vec<u32> = Vec::new();
    for (walk, &start) in (1..).zip(stuck) {
        let mut path = Vec::new();
        let mut at = Some(start);
        while let Some(task) = at {
            if seen[task as usize] == walk {
                let place = path.iter().position(|&other| other == task).unwrap_or(0);
                let found = &path[place..];
                if best.is_empty() || found.len() < best.len() {
                    best = found.to_vec();
                }
            }
            if seen[task as usize] != 0 {
                break;
            }
            seen[task as usize] = walk;
            path.push(task);
            at = waits.first_stuck_blocker(task, stuck);
        }
    }
    let lowest = best.iter().enumerate().min_by_key(|(_, task)| **task).map_or(0, |(place, _)| place);
    best.rotate_left(lowest);
    best
}

/// [ns] When the last of these tasks came into the state in which it is.
fn last_record_of(records: &Records, tasks: &[u32]) -> Option<u64> {
    let place = records.subject.iter().rposition(|task| tasks.contains(task))?;
    records.time.get(place).copied()
}
