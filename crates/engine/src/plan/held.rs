//! What a task has at each of its steps: read off the steps, so that no run keeps books of it.

use super::{Class, LockRef, Op};

impl Class {
    /// What the steps before this one have taken and not given back.
    pub(crate) fn held(&self, step: usize) -> Vec<LockRef> {
        if step <= usize::from(self.end) {
            return net(&self.ops[..step]);
        }
        // After the end stands what to do when a lock could not be taken: give back what is held, wait, start again.
        let rest = self.ops[step..].iter();
        let before_jump = rest.clone().take_while(|op| !matches!(op, Op::Jump(_)));
        let mut held: Vec<LockRef> =
            before_jump.filter_map(|op| if let Op::Unlock(lock) = op { Some(*lock) } else { None }).collect();
        if let Some(again) = rest.clone().find_map(|op| if let Op::Jump(again) = op { Some(*again) } else { None }) {
            held.extend(net(&self.ops[..usize::from(again)]));
        }
        held
    }
}

fn net(ops: &[Op]) -> Vec<LockRef> {
    let mut held: Vec<LockRef> = Vec::new();
    for op in ops {
        match op {
            Op::Lock(lock) | Op::TryLock(lock, _) => held.push(*lock),
            Op::Unlock(lock) => {
                if let Some(place) = held.iter().rposition(|other| other.shared == lock.shared) {
                    held.remove(place);
                }
            }
            _ => {}
        }
    }
    held
}
