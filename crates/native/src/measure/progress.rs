//! The progress bar of a measurement: on standard error, and only where that is a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How often the bar moves.
const TICK: Duration = Duration::from_millis(100);

/// What a repetition takes besides its estimate: starting a process.
const START_UP: Duration = Duration::from_millis(20);

/// A bar as long as all repetitions together should take.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    reps: u32,
    ended: Duration,
    current: Duration,
}

impl Progress {
    /// A bar for so many repetitions of each of these estimates; hidden where standard error is no terminal.
    pub(crate) fn new(estimates: &[Duration], reps: u32) -> Self {
        let total = estimates.iter().fold(Duration::ZERO, |sum, estimate| sum.saturating_add(*estimate + START_UP));
        let bar = ProgressBar::new(millis(total.saturating_mul(reps)));
        // The default style, which holds where this one is refused, shows the bar without the message.
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {percent:>3} %, about {eta} left  {wide_msg}") {
            bar.set_style(style);
        }
        Self { bar, reps, ended: Duration::ZERO, current: Duration::ZERO }
    }

    /// A repetition begins.
    pub(crate) fn begin(&mut self, name: &str, rep: u32, estimate: Duration) {
        self.current = estimate.saturating_add(START_UP);
        self.bar.set_message(format!("{rep} of {}: {name}", self.reps));
    }

    /// Moves the bar with the clock for as long as it is awaited, up to the end of the present repetition.
    pub(crate) async fn advance(&self) {
        let begin = Instant::now();
        let mut ticks = tokio::time::interval(TICK);
        loop {
            ticks.tick().await;
            self.bar.set_position(millis(self.ended.saturating_add(begin.elapsed().min(self.current))));
        }
    }

    /// The repetition has ended.
    pub(crate) fn end(&mut self) {
        self.ended = self.ended.saturating_add(self.current);
        self.bar.set_position(millis(self.ended));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
