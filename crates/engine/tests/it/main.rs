//! The engine from outside: one binary, one file for each behaviour.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cores;
mod errors;
mod go;
mod go_reference;
mod java;
#[cfg(not(target_arch = "wasm32"))]
mod metamorphic;
mod pools;
mod properties;
#[cfg(not(target_arch = "wasm32"))]
mod reference;
mod seeds;
mod steps;
mod support;
mod theory;
mod tokio;
mod vectors;
