//! The engine from outside: one binary, one file for each behaviour.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cores;
mod endings;
mod errors;
mod findings;
mod go;
#[cfg(not(target_arch = "wasm32"))]
mod go_real;
#[cfg(not(target_arch = "wasm32"))]
mod go_reference;
mod java;
#[cfg(not(target_arch = "wasm32"))]
mod metamorphic;
mod pools;
#[cfg(not(target_arch = "wasm32"))]
mod properties;
#[cfg(not(target_arch = "wasm32"))]
mod reference;
mod seeds;
#[cfg(not(target_arch = "wasm32"))]
mod shares;

mod steps;
mod support;
mod theory;
mod tokio;
mod vectors;
