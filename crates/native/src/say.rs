//! Messages on standard error, and the only place that writes there.
//!
//! A message that cannot be written, as on a full disk or to a reader that has left, is lost; what it is about goes on.

use std::fmt::Display;
use std::io::{self, Write as _};

/// Writes one line.
pub(crate) fn say(message: impl Display) {
    let line = format!("{message}\n");
    let _ = io::stderr().lock().write_all(line.as_bytes());
}
