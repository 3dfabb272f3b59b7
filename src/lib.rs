//! The Parkbench page: state, links, words and playback as plain Rust, components and browser access for wasm32 only.

pub mod clock;
pub mod i18n;
pub mod json;
pub mod state;
pub mod worker;

#[cfg(target_arch = "wasm32")]
pub mod app;
#[cfg(target_arch = "wasm32")]
mod canvas;
#[cfg(target_arch = "wasm32")]
mod charts;
#[cfg(target_arch = "wasm32")]
mod components;
#[cfg(target_arch = "wasm32")]
mod hooks;
#[cfg(target_arch = "wasm32")]
pub mod platform;
#[cfg(target_arch = "wasm32")]
mod player;
