//! The page: mounts the root component.

#[cfg(target_arch = "wasm32")]
fn main() {
    console_error_panic_hook::set_once();
    parkbench_web::platform::mark_started();
    yew::Renderer::<parkbench_web::app::App>::new().render();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("the page runs in a browser; build it with `cargo xtask serve`");
}
