//! `--pin`: the cores that a measurement may use, and holding this thread and its children to them.
//!
//! The mask of a thread is inherited by what it starts, so the processes of the repetitions need nothing of their own.

use std::fmt;
use std::str::FromStr;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use parkbench_engine::FieldError;

use crate::Failure;
use crate::input::InputError;

/// What a list may look like.
const ALLOWED: &str = "a list as taskset has it, such as 0,2 or 0-3 or 0-7:2";

/// Numbers of cores, rising.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cores(Vec<usize>);

impl FromStr for Cores {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("allowed: {ALLOWED}");
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|&core| core < CpuSet::count());
        let mut cores = Vec::new();
        for part in text.split(',') {
            let (range, step) = part.split_once(':').unwrap_or((part, "1"));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (Some(first), Some(last), Some(step)) = (number(first), number(last), number(step)) else {
                return Err(wrong());
            };
            if first > last || step == 0 || (part.contains(':') && !range.contains('-')) {
                return Err(wrong());
            }
            cores.extend((first..=last).step_by(step));
        }
        cores.sort_unstable();
        cores.dedup();
        Ok(Self(cores))
    }
}

impl fmt::Display for Cores {
    /// `0-3,6`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for run in self.0.chunk_by(|before, after| before + 1 == *after) {
            match run {
                [first, .., last] => parts.push(format!("{first}-{last}")),
                [only] => parts.push(only.to_string()),
                [] => {}
            }
        }
        f.write_str(&parts.join(","))
    }
}

impl Cores {
    /// The cores that this thread may use; `None` where the kernel does not say.
    pub(crate) fn allowed() -> Option<Self> {
        sched_getaffinity(Pid::from_raw(0)).ok().map(|set| Self::of(&set))
    }

    /// The first and the last of them, each alone; `None` if there is only one.
    pub(crate) fn ends(&self) -> Option<(Self, Self)> {
        match self.0.as_slice() {
            [first, .., last] => Some((Self(vec![*first]), Self(vec![*last]))),
            _ => None,
        }
    }

    fn of(set: &CpuSet) -> Self {
        Self((0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).collect())
    }

    fn set(&self) -> nix::Result<CpuSet> {
        let mut set = CpuSet::new();
        self.0.iter().try_for_each(|&core| set.set(core))?;
        Ok(set)
    }

    /// Whether this core is one of them.
    pub(crate) fn contains(&self, core: usize) -> bool {
        self.0.binary_search(&core).is_ok()
    }
}

/// This thread and what it starts are held to some cores until this is dropped.
#[derive(Debug)]
pub(crate) struct Pinned {
    before: CpuSet,
}

impl Pinned {
    /// Holds this thread to these cores; an error names those that it may not use.
    pub(crate) fn to(cores: &Cores) -> Result<Self, Failure> {
        let this = Pid::from_raw(0);
        let failed =
            |error| Failure::Runtime(anyhow::Error::new(error).context(format!("cannot pin to cores {cores}")));
        let before = sched_getaffinity(this).map_err(failed)?;
        let allowed = Cores::of(&before);
        // The kernel passes over cores that are not there as long as one is.
        if let Some(missing) = cores.0.iter().find(|&&core| !allowed.contains(core)) {
            let among = format!("cores that this process may use: {allowed}");
            return Err(InputError::Field(FieldError::new("--pin", missing.to_string(), among)).into());
        }
        sched_setaffinity(this, &cores.set().map_err(failed)?).map_err(failed)?;
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // A thread may always go back to cores that it had.
        let _ = sched_setaffinity(Pid::from_raw(0), &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_taskset_reads_them() {
        for (text, expect) in [
            ("0", Some("0")),
            ("3,1,2,1", Some("1-3")),
            ("0-3", Some("0-3")),
            ("0-7:2", Some("0,2,4,6")),
            ("0, 5-6", Some("0,5-6")),
            ("", None),
            ("a", None),
            ("3-1", None),
            ("0-3:0", None),
            ("1:2", None),
            ("-1", None),
            ("0,", None),
            ("99999999", None),
        ] {
            let cores = text.parse::<Cores>().ok().map(|cores| cores.to_string());
            assert_eq!(cores.as_deref(), expect, "{text}");
        }
    }

    #[test]
    fn a_thread_is_pinned_and_let_go() {
        let before = Cores::allowed().unwrap();
        let first = Cores(vec![before.0[0]]);
        let pinned = Pinned::to(&first).unwrap();
        assert_eq!(Cores::allowed().unwrap(), first);
        drop(pinned);
        assert_eq!(Cores::allowed().unwrap(), before);
        let beyond = Cores(vec![before.0[0], CpuSet::count() - 1]);
        assert!(matches!(Pinned::to(&beyond), Err(Failure::Input(_))));
        assert_eq!(Cores::allowed().unwrap(), before);
    }
}
