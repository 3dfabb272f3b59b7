//! A canvas as a rectangle of RGBA bytes in device pixels.

use wasm_bindgen::{Clamped, JsCast as _};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

/// A canvas and its pixels.
pub(crate) struct Surface {
    canvas: HtmlCanvasElement,
    context: Option<CanvasRenderingContext2d>,
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Surface {
    /// Takes a canvas; without a 2D context, nothing is ever drawn.
    pub(crate) fn new(canvas: HtmlCanvasElement) -> Self {
        let context = canvas.get_context("2d").ok().flatten().and_then(|context| context.dyn_into().ok());
        Self { canvas, context, width: 0, height: 0, pixels: Vec::new() }
    }

    /// Sets the size in device pixels and, for the style, the ratio of device to CSS pixels.
    pub(crate) fn resize(&mut self, width: u32, height: u32, ratio: f64) {
        if (self.width, self.height) != (width, height) {
            (self.width, self.height) = (width, height);
            self.canvas.set_width(width);
            self.canvas.set_height(height);
            self.pixels = vec![0; width as usize * height as usize * 4];
        }
        let style = self.canvas.style();
        let _ = style.set_property("width", &format!("{}px", f64::from(width) / ratio));
        let _ = style.set_property("height", &format!("{}px", f64::from(height) / ratio));
    }

    /// [device px]
    pub(crate) fn width(&self) -> u32 {
        self.width
    }

    /// [device px]
    pub(crate) fn height(&self) -> u32 {
        self.height
    }

    /// RGBA, row by row.
    pub(crate) fn pixels(&mut self) -> &mut [u8] {
        &mut self.pixels
    }

    /// Shows the pixels.
    pub(crate) fn put(&self) {
        if self.width == 0 || self.height == 0 {
            return;
        }
        let data = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&self.pixels), self.width, self.height);
        if let (Some(context), Ok(data)) = (&self.context, data) {
            let _ = context.put_image_data(&data, 0.0, 0.0);
        }
    }
}
