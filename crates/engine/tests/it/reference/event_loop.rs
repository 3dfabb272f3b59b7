//! The reference of the event loop of `runBlocking`.

use std::collections::{BTreeMap, VecDeque};

use parkbench_engine::{GuardKind, Op, Plan};

use super::parts::{Families, Lock, child_of};

/// The event loop of `runBlocking` has one thread, so a clock that is moved on by hand is enough.
/// [ns] When each task ends.
pub(super) fn event_loop(plan: &Plan) -> Vec<u64> {
    /// `None` stands for the body, which launches.
    type Ready = Option<u32>;
    let tasks = plan.tasks as usize;
    let mut launches: VecDeque<(u64, u32)> = plan.submissions().collect();
    let (mut now, mut arrivals) = (0, 0);
    let mut queue: VecDeque<Ready> = VecDeque::from([None]);
    let mut delays: BTreeMap<(u64, u64), Ready> = BTreeMap::new();
    let (mut locks, mut families) = (Lock::of(plan), Families::new(tasks));
    let (mut step, mut monitors, mut done) = (vec![0; tasks], vec![0; tasks], vec![0; tasks]);
    loop {
        while let Some(entry) = delays.first_entry().filter(|entry| entry.key().0 <= now) {
            queue.push_back(entry.remove());
        }
        let Some(ready) = queue.pop_front() else {
            let Some(((next, _), _)) = delays.first_key_value() else { return done };
            now = *next;
            continue;
        };
        let Some(task) = ready else {
            while let Some((_, task)) = launches.pop_front_if(|(at, _)| *at <= now) {
                queue.push_back(Some(task));
            }
            if let Some((at, _)) = launches.front() {
                delays.insert((*at, arrivals), None);
                arrivals += 1;
            }
            continue;
        };
        let index = task as usize;
        loop {
            let op = &plan.class_of(task).ops[step[index]];
            step[index] += 1;
            match op {
                Op::End => {
                    done[index] = now;
                    queue.extend(families.ended(plan, task).map(Some));
                    break;
                }
                Op::Cpu(span) | Op::Iterations(_, span) | Op::Io(span) | Op::Backoff(span) | Op::Block(_, span) => {
                    let ns = plan.duration(task, step[index] - 1, span);
                    if matches!(op, Op::Io(_) | Op::Backoff(_)) && monitors[index] == 0 && ns > 0 {
                        delays.insert((now + ns, arrivals), ready);
                        arrivals += 1;
                        break;
                    }
                    now += ns;
                }
                Op::Lock(lock) => {
                    monitors[index] += u32::from(lock.kind == GuardKind::Monitor);
                    if lock.shared.is_some_and(|number| !locks[number as usize].take(task)) {
                        break;
                    }
                }
                Op::Unlock(lock) => {
                    monitors[index] -= u32::from(lock.kind == GuardKind::Monitor);
                    let heir = lock.shared.and_then(|number| locks[number as usize].hand_over());
                    queue.extend(heir.map(Some));
                }
                Op::TryLock(lock, otherwise) => {
                    if !lock.shared.is_none_or(|number| locks[number as usize].try_take()) {
                        step[index] = usize::from(*otherwise);
                    }
                }
                Op::Jump(target) => step[index] = usize::from(*target),
                Op::Yield => {
                    if monitors[index] == 0 {
                        queue.push_back(ready);
                        break;
                    }
                }
                Op::Prepare(_) => {}
                Op::Spawn(child) => {
                    families.open[index] += 1;
                    queue.push_back(Some(child_of(plan, task, *child)));
                }
                Op::Join => {
                    if !families.join(task) {
                        step[index] -= 1;
                        break;
                    }
                }
            }
        }
    }
}
