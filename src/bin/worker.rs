//! The module worker: serves the engine to the page.

#[cfg(target_arch = "wasm32")]
fn main() {
    parkbench_web::worker::server::serve();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("the worker runs in a browser; build it with `cargo xtask serve`");
}
