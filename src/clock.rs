//! The playback clock: simulated time against real time, in integers. No browser here; frames call [`Clock::advance`].

/// [us] A longer gap between two frames is a hidden tab or a stall, and is not caught up.
const LONGEST_GAP_US: u64 = 100_000;

/// How fast simulated time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speed {
    /// One view window in [`AUTO_SECONDS`].
    Auto,
    /// An index into [`SPEEDS`].
    Fixed(usize),
}

/// [s] Real time in which automatic speed plays one window.
pub const AUTO_SECONDS: u64 = 12;

/// [ns of simulated time per real second] The positions of the speed slider: 1, 2, 5 in each decade.
pub const SPEEDS: [u64; 28] = {
    let mut speeds = [0; 28];
    let mut decade = 1_000;
    let mut i = 0;
    while i < 27 {
        speeds[i] = decade;
        speeds[i + 1] = 2 * decade;
        speeds[i + 2] = 5 * decade;
        decade *= 10;
        i += 3;
    }
    speeds[27] = decade;
    speeds
};

/// What happened during [`Clock::advance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// The clock is paused or no time passed.
    Still,
    /// Time went on.
    Moved,
    /// Time went on and has left the view window.
    LeftWindow,
    /// Time reached the end of the last run, and the clock paused.
    Ended,
}

/// One clock for all models.
#[derive(Clone, Debug)]
pub struct Clock {
    now_ns: u64,
    /// Simulated nanoseconds times 10^6 that are not a whole nanosecond yet.
    rest: u128,
    end_ns: u64,
    window: (u64, u64),
    speed: Speed,
    playing: bool,
}

impl Default for Clock {
    fn default() -> Self {
        Self { now_ns: 0, rest: 0, end_ns: 0, window: (0, 0), speed: Speed::Auto, playing: false }
    }
}

impl Clock {
    /// Goes on by this much real time.
    pub fn advance(&mut self, real_us: u64) -> Tick {
        if !self.playing || real_us == 0 {
            return Tick::Still;
        }
        let scaled = u128::from(self.rate()) * u128::from(real_us.min(LONGEST_GAP_US)) + self.rest;
        let step = u64::try_from(scaled / 1_000_000).unwrap_or(u64::MAX);
        self.rest = scaled % 1_000_000;
        self.now_ns = self.now_ns.saturating_add(step);
        if self.now_ns >= self.end_ns {
            self.now_ns = self.end_ns;
            self.playing = false;
            return Tick::Ended;
        }
        if self.now_ns > self.window.1 { Tick::LeftWindow } else { Tick::Moved }
    }

    /// [ns] The time shown.
    pub fn now(&self) -> u64 {
        self.now_ns
    }

    /// [ns] The end of the last run.
    pub fn end(&self) -> u64 {
        self.end_ns
    }

    /// Whether time passes.
    pub fn playing(&self) -> bool {
        self.playing
    }

    /// The speed as chosen.
    pub fn speed(&self) -> Speed {
        self.speed
    }

    /// [ns per real second] The speed in force.
    pub fn rate(&self) -> u64 {
        match self.speed {
            Speed::Auto => (self.window.1.saturating_sub(self.window.0) / AUTO_SECONDS).max(1),
            Speed::Fixed(index) => SPEEDS[index.min(SPEEDS.len() - 1)],
        }
    }

    /// Sets the length of the time axis, and pauses.
    pub fn load(&mut self, end_ns: u64, now_ns: u64) {
        self.end_ns = end_ns;
        self.now_ns = now_ns.min(end_ns);
        self.rest = 0;
        self.playing = false;
    }

    /// Sets the length of another time axis, and goes on at the same time as far as that has it.
    pub fn exchange(&mut self, end_ns: u64) {
        self.end_ns = end_ns;
        self.playing &= self.now_ns < end_ns;
        self.now_ns = self.now_ns.min(end_ns);
    }

    /// Sets the view window, which automatic speed follows.
    pub fn set_window(&mut self, window: (u64, u64)) {
        self.window = window;
    }

    /// Chooses the speed.
    pub fn set_speed(&mut self, speed: Speed) {
        self.speed = speed;
    }

    /// Goes to a time.
    pub fn seek(&mut self, now_ns: u64) {
        self.now_ns = now_ns.min(self.end_ns);
        self.rest = 0;
    }

    /// Starts or stops; starting at the very end starts over.
    pub fn set_playing(&mut self, playing: bool) {
        if playing && self.now_ns >= self.end_ns {
            self.now_ns = 0;
        }
        self.rest = 0;
        self.playing = playing && self.end_ns > 0;
    }
}

/// The slider position nearest to a rate, for showing automatic speed on the slider.
pub fn nearest_speed(rate: u64) -> usize {
    SPEEDS.iter().rposition(|&speed| speed <= rate).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn playing(end: u64, speed: Speed) -> Clock {
        let mut clock = Clock::default();
        clock.load(end, 0);
        clock.set_window((0, end));
        clock.set_speed(speed);
        clock.set_playing(true);
        clock
    }

    #[test]
    fn speeds_are_one_two_five() {
        assert_eq!(&SPEEDS[..4], &[1_000, 2_000, 5_000, 10_000]);
        assert_eq!(SPEEDS[27], 1_000_000_000_000);
        assert!(SPEEDS.is_sorted());
        for (rate, expect) in [(1, 0), (1_000, 0), (1_999, 0), (2_000, 1), (u64::MAX, 27)] {
            assert_eq!(nearest_speed(rate), expect, "{rate}");
        }
    }

    #[test]
    fn no_nanosecond_is_lost_between_frames() {
        // 1 us per second, frames of 16,667 us: 60 frames are 1,000 ns and 20 us' worth of rest.
        let mut clock = playing(1_000_000, Speed::Fixed(0));
        for _ in 0..60 {
            assert_eq!(clock.advance(16_667), Tick::Moved);
        }
        assert_eq!(clock.now(), 1_000);
    }

    #[test]
    fn a_hidden_tab_is_not_caught_up() {
        let mut clock = playing(1_000_000_000, Speed::Fixed(3));
        clock.advance(60_000_000);
        assert_eq!(clock.now(), 1_000);
    }

    #[test]
    fn the_clock_stops_at_the_end_and_starts_over() {
        let mut clock = playing(1_000, Speed::Fixed(27));
        assert_eq!(clock.advance(10_000), Tick::Ended);
        assert_eq!((clock.now(), clock.playing()), (1_000, false));
        clock.set_playing(true);
        assert_eq!((clock.now(), clock.playing()), (0, true));
    }

    #[test]
    fn another_result_does_not_stop_the_clock_before_its_end() {
        let mut clock = playing(1_000_000, Speed::Fixed(0));
        clock.seek(500);
        clock.exchange(2_000);
        assert_eq!((clock.now(), clock.end(), clock.playing()), (500, 2_000, true));
        clock.exchange(400);
        assert_eq!((clock.now(), clock.end(), clock.playing()), (400, 400, false));
    }

    #[test]
    fn leaving_the_window_is_told() {
        let mut clock = playing(u64::MAX, Speed::Fixed(3));
        clock.set_window((0, 500));
        assert_eq!(clock.advance(100_000), Tick::LeftWindow);
        clock.set_window((0, 5_000));
        assert_eq!(clock.advance(100_000), Tick::Moved);
    }

    #[test]
    fn an_empty_run_never_plays() {
        let mut clock = playing(0, Speed::Auto);
        assert_eq!(clock.advance(1), Tick::Still);
    }

    #[test]
    fn automatic_speed_plays_a_window_in_its_time() {
        let mut clock = playing(12_000_000_000, Speed::Auto);
        assert_eq!(clock.rate(), 1_000_000_000);
        clock.set_window((0, 12_000));
        assert_eq!(clock.rate(), 1_000);
    }
}
