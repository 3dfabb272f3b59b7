//! Canvases of the page: size in device pixels, pixels put at once. What is drawn is decided in `parkbench-view`.

pub(crate) mod grid;
mod surface;

pub(crate) use surface::Surface;
