//! Any bytes as a scenario, and any step budget: no panic, no hang, no more memory than the limits allow.

#![no_main]

#[path = "../../crates/engine/tests/corpus/one.rs"]
mod one;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    one::run(data);
});
