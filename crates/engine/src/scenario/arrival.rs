//! When tasks arrive: the types of the file. Drawing the times is in `submissions`.

use serde::{Deserialize, Serialize};

use super::steps::Duration;
use crate::quantity::Nanos;

/// When the tasks of a class arrive, counted from the class's `at`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// All at once.
    #[default]
    AtOnce,
    /// One after each gap of this length.
    Every(Nanos),
    /// A Poisson process: gaps drawn from an exponential distribution with this mean.
    Poisson(Nanos),
    /// Several at a time.
    Bursts(Bursts),
    /// Each user sends the next task a while after its last has ended.
    ClosedLoop(ClosedLoop),
    /// At these times, which do not fall; as many as there are tasks.
    Times(Vec<Nanos>),
}

impl Arrival {
    /// [ns] About when the last of `count` tasks arrives, counted from the first's earliest time; for a closed loop
    /// as if no task took any time.
    pub fn mean_end_ns(&self, count: u64) -> u64 {
        match self {
            Self::AtOnce => 0,
            Self::Every(gap) => gap.0.saturating_mul(count.saturating_sub(1)),
            Self::Poisson(mean) => mean.0.saturating_mul(count),
            Self::Bursts(bursts) => bursts.every.0.saturating_mul(count.saturating_sub(1) / bursts.size.max(1)),
            Self::ClosedLoop(closed) => {
                let rounds = count.saturating_sub(1) / u64::from(closed.users.max(1));
                crate::draw::Span::from(&closed.think).mean().saturating_mul(rounds)
            }
            Self::Times(times) => times.last().map_or(0, |time| time.0),
        }
    }

    pub(super) fn is_at_once(&self) -> bool {
        *self == Self::AtOnce
    }
}

/// Several tasks at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "bursts such as { size = 100, every = \"10 ms\" }")]
pub struct Bursts {
    /// Tasks in a burst.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub size: u64,
    /// From one burst to the next.
    pub every: Nanos,
}

/// A fixed number of users, each of whom waits for the last task before it sends the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a closed loop such as { users = 100, think = \"1 s\" }")]
pub struct ClosedLoop {
    /// Users; each has one task in the system at most. All send their first at once.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = super::MAX_TASKS)))]
    pub users: u32,
    /// From the end of a user's task to the arrival of its next.
    pub think: Duration,
}

/// Classes that share one stream of arrivals: which class an arriving task is of is drawn by the classes' weights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a mix such as { count = 1000, arrival = { poisson = \"1 ms\" } }")]
pub struct Mix {
    /// Tasks of all classes together.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = super::MAX_TASKS)))]
    pub count: u64,
    /// The first arrives no earlier than this.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub at: Nanos,
    /// When the others follow.
    #[serde(default, skip_serializing_if = "Arrival::is_at_once")]
    pub arrival: Arrival,
}
