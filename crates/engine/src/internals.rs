//! The engine's event queue in the hands of the benchmark; no other crate may use it.

use crate::queue::{Event, EventQueue};

/// Pending events, each with a number.
#[derive(Clone, Debug, Default)]
pub struct Pending(EventQueue);

impl Pending {
    /// An event at a time [ns].
    pub fn push(&mut self, time: u64, number: u32) {
        self.0.push_late(time, Event::Deadline(number));
    }

    /// The earliest event; of equal times the one that was pushed first.
    pub fn pop(&mut self) -> Option<(u64, u32)> {
        self.0.pop().map(|(time, event)| match event {
            Event::Deadline(number) => (time, number),
            _ => (time, u32::MAX),
        })
    }
}
