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
    /// A bar for so many repetitions of each of these estimates and the runs before them; hidden where standard error is no terminal.
    pub(crate) fn new(estimates: &[Duration], warm_ups: &[u32], reps: u32) -> Self {
        let total = estimates.iter().zip(warm_ups).fold(Duration::ZERO, |sum, (estimate, warm_up)| {
            sum.saturating_add(estimate.saturating_add(START_UP).saturating_mul(reps + warm_up))
        });
        let bar = ProgressBar::new(millis(total));
        // The default style, which holds where this one is refused, shows the bar without the message.
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {percent:>3} %, about {eta} left  {wide_msg}") {
            bar.set_style(style);
        }
        Self { bar, reps, ended: Duration::ZERO, current: Duration::ZERO }
    }

    /// A repetition begins, or a run to warm up, which has no number.
    pub(crate) fn begin(&mut self, name: &str, rep: Option<u32>, estimate: Duration) {
        self.current = estimate.saturating_add(START_UP);
        let what = rep.map_or_else(|| "warm-up".to_owned(), |rep| format!("{rep} of {}", self.reps));
        self.bar.set_message(format!("{what}: {name}"));
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
