//! The simulation beside the page: the messages, the work itself, and who does it (workers, or slices in the page).

mod job;
pub mod protocol;
mod shares;

#[cfg(target_arch = "wasm32")]
mod buffer;
#[cfg(target_arch = "wasm32")]
pub mod client;
#[cfg(target_arch = "wasm32")]
mod link;
#[cfg(target_arch = "wasm32")]
pub mod server;

pub use job::{Broken, Job, JobEvent, Keep};
pub use shares::{Shares, unchanged, workers_for};
