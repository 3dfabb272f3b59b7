//! The simulation beside the page: the messages, the work itself, and who does it (a worker, or slices in the page).

mod job;
pub mod protocol;

#[cfg(target_arch = "wasm32")]
pub mod client;
#[cfg(target_arch = "wasm32")]
pub mod server;

pub use job::{Broken, Job, JobEvent, Keep};
