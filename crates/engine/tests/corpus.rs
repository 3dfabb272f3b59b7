//! Every input that fuzzing has kept, as a plain test; see `fuzz/README.md`.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(unreachable_pub, reason = "the fuzz target uses the same module")]

#[path = "corpus/one.rs"]
mod one;

#[test]
fn no_input_that_fuzzing_has_kept_panics() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/scenario");
    let mut inputs: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    let mut silent = Vec::new();
    for input in &inputs {
        let ran = one::run(&std::fs::read(input).unwrap_or_else(|e| panic!("{}: {e}", input.display())));
        // The inputs written by hand have names, and each is there for what it runs.
        let written = input.file_name().is_some_and(|name| name.to_string_lossy().contains('-'));
        if written && ran == 0 {
            silent.push(input);
        }
    }
    assert!(inputs.len() >= 20, "the corpus is there");
    assert!(silent.is_empty(), "they run nothing: {silent:?}");
}
