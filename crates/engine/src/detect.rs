//! Finding what is wrong with a run. Pure functions of the state in which a run has stopped, and of its records.
//!
//! - Deadlock (`deadlock`): no event is left, and tasks have not ended.
//! - Livelock (`livelock`): tasks try their locks again and again, and everything that happens has happened before.
//! - Starvation (`starvation`): a few tasks keep the workers for long, while others are ready. It ends no run.
//!   At a lock (`overtaken`): it is taken again and again, and for long not by those that wait for it.
//! - What each task has and waits for is read off the steps and the locks in `waits`, when it is asked for: a run that
//!   ends well pays nothing for it.

mod deadlock;
mod livelock;
mod overtaken;
mod retries;
mod starvation;
mod waits;

pub(crate) use deadlock::deadlock;
pub(crate) use livelock::livelock;
pub(crate) use overtaken::overtaken;
pub(crate) use retries::{Retry, RetryLog};
pub(crate) use starvation::{Standstill, starvation};
pub(crate) use waits::Waits;
