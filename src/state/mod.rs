//! What the page knows, apart from any browser: the form, the run, the view, and the one function that changes them.

mod compared;
mod field;
mod form;
mod link;
mod measured;
mod model;
mod opened;
mod reduce;
mod runs;
mod slide;
mod window;

pub use compared::{
    Absent, Compared, ComparedFile, ComparedRun, ComparedSet, Figure, Listed, Off, Pair, Place, ProfileName,
};
pub use field::{Field, NO_LIMIT};
pub use form::{Absence, Base, Form, Message, messages_of};
pub use link::{FIRST_PRESET, LINK_VERSION, Link, ReadLink};
pub use measured::{Measured, MeasuredSet};
pub use model::{AppState, Axis, Live, Request, RunState, Shared, Theme};
pub use opened::{MAX_FILE_BYTES, Opened};
pub use reduce::Action;
pub use runs::{Finished, RunLabel, RunSet};
pub use slide::Slide;
pub use window::Window;
