//! How a run looks: palette, layout, pixels and charts as pure functions without a browser.
//!
//! Everything draws into a slice of RGBA bytes or into a `plotters` backend that the caller owns, and is tested
//! natively. No state, no events, and no words but those beside a number: its unit, `p95`, `seed`, `log scale`.

pub mod axis;
pub mod charts;
pub mod density;
pub mod format;
pub mod grid;
pub mod lanes;
pub mod minimap;
pub mod palette;
pub mod pattern;
pub mod ruler;
pub mod surface;

pub use axis::TimeView;
pub use grid::GridLayout;
pub use palette::{Rgb, Theme};
pub use pattern::Pattern;
pub use ruler::{Tick, ticks};
pub use surface::Surface;
