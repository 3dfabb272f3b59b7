//! What differs from JDK to JDK, as a table of answers. No state, and no other file of the model asks for a number.

use crate::scenario::BlockKind;

/// The rules of one JDK from 21 to 25.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    jdk: u32,
}

impl Rules {
    pub(super) const fn of(jdk: u32) -> Self {
        Self { jdk }
    }

    /// JDK 24 and later: to hold, enter or wait on a monitor lets the green thread leave its carrier (T-12 to T-14).
    pub(super) const fn monitors_unmount(self) -> bool {
        self.jdk >= 24
    }

    /// JDK 24 and later: a green thread starts another through an outside queue, not through its carrier's own (T-1).
    pub(super) const fn starts_outside(self) -> bool {
        self.jdk >= 24
    }

    /// JDK 25: the timer thread puts deadlines in itself and lets a carrier run each expiry (T-10); before that, carriers
    /// put them in under a lock, and the timer threads resubmit the sleepers (T-9).
    pub(super) const fn delay_scheduler(self) -> bool {
        self.jdk >= 25
    }

    /// Whether the scheduler makes up for a carrier that waits in such a call (T-17).
    pub(super) const fn compensates(self, kind: BlockKind) -> bool {
        match kind {
            BlockKind::Native => false,
            BlockKind::File => self.jdk <= 22,
            BlockKind::Fsync => true,
            BlockKind::ObjectWait => !self.monitors_unmount(),
        }
    }

    /// Timer threads on a machine of so many cores: a power of two (section 1.1, `vt.timer_threads`).
    pub(super) const fn timers(self, cores: u32) -> usize {
        match (cores / 4).checked_ilog2() {
            Some(exponent) if self.jdk == 24 => 1 << exponent,
            _ => 1,
        }
    }

    /// The name of timer thread number `index` of `count`.
    pub(super) fn timer_name(self, index: usize, count: usize) -> String {
        match (self.delay_scheduler(), count) {
            (true, _) => "ForkJoinPool-1-delayScheduler".to_owned(),
            (false, 1) => "VirtualThread-unparker".to_owned(),
            (false, _) => format!("VirtualThread-unparker-{}", index + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of native, file, fsync and object-wait are made up for.
    #[track_caller]
    fn check_compensated(jdk: u32, expect: [bool; 4]) {
        let kinds = [BlockKind::Native, BlockKind::File, BlockKind::Fsync, BlockKind::ObjectWait];
        assert_eq!(kinds.map(|kind| Rules::of(jdk).compensates(kind)), expect, "{jdk}");
    }

    #[test]
    fn each_jdk_makes_up_for_its_own_calls() {
        check_compensated(21, [false, true, true, true]);
        check_compensated(22, [false, true, true, true]);
        check_compensated(23, [false, false, true, true]);
        check_compensated(24, [false, false, true, false]);
        check_compensated(25, [false, false, true, false]);
    }

    #[test]
    fn only_24_has_several_timers_a_power_of_two() {
        for (cores, expect) in [(1, 1), (3, 1), (4, 1), (8, 2), (12, 2), (16, 4), (32, 8), (63, 8), (64, 16)] {
            assert_eq!(Rules::of(24).timers(cores), expect, "{cores} cores");
            for jdk in [21, 22, 23, 25] {
                assert_eq!(Rules::of(jdk).timers(cores), 1, "{jdk}");
            }
        }
    }
}
