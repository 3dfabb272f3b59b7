//! Colours, letters and patterns of the task states and thread activities, for light and dark.
//!
//! Colour means a state and nothing else; only the accent marks what can be pressed. The values were optimised
//! together; `tests/palette.rs` measures contrast and distances, so change none without running it.

use parkbench_engine::{Activity, TaskState};

use crate::pattern::Pattern;

/// An opaque colour in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Theme {
    /// Dark marks on a white page.
    #[default]
    Light,
    /// Light marks on a dark page.
    Dark,
}

impl Rgb {
    /// From `0xrrggbb`.
    pub const fn hex(number: u32) -> Self {
        Self((number >> 16) as u8, (number >> 8) as u8, number as u8)
    }

    /// As CSS writes it: `#rrggbb`.
    pub fn css(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// Four bytes for image data.
    pub const fn rgba(self) -> [u8; 4] {
        [self.0, self.1, self.2, 255]
    }

    /// This colour laid over another with an opacity of `alpha` / 255.
    #[must_use]
    pub const fn over(self, under: Self, alpha: u8) -> Self {
        const fn mix(top: u8, bottom: u8, alpha: u8) -> u8 {
            ((top as u32 * alpha as u32 + bottom as u32 * (255 - alpha as u32) + 127) / 255) as u8
        }
        Self(mix(self.0, under.0, alpha), mix(self.1, under.1, alpha), mix(self.2, under.2, alpha))
    }
}

impl Theme {
    /// Both themes.
    pub const ALL: [Self; 2] = [Self::Light, Self::Dark];

    /// The page.
    pub const fn background(self) -> Rgb {
        self.pick(0xff_ff_ff, 0x0f_13_17)
    }

    /// A panel on the page.
    pub const fn panel(self) -> Rgb {
        self.pick(0xf6_f8_fa, 0x17_1c_22)
    }

    /// Text.
    pub const fn text(self) -> Rgb {
        self.pick(0x11_14_18, 0xf4_f6_f8)
    }

    /// Text of less weight.
    pub const fn muted(self) -> Rgb {
        self.pick(0x57_60_6a, 0x9a_a4_ae)
    }

    /// What can be pressed, and the cursor line.
    pub const fn accent(self) -> Rgb {
        self.pick(0x3b_5b_db, 0x8e_a2_ff)
    }

    /// Borders and grid lines.
    pub const fn hairline(self) -> Rgb {
        self.pick(0xd0_d7_de, 0x30_36_3d)
    }

    /// The colour of a task state.
    pub const fn state(self, state: TaskState) -> Rgb {
        match state {
            TaskState::Pending => self.pick(0xdf_e3_e8, 0x2b_31_38),
            TaskState::Queued => self.pick(0xdb_7e_00, 0xfb_ca_2f),
            TaskState::Running => self.pick(0x1c_76_4e, 0x44_cf_89),
            TaskState::Preempted => self.pick(0x7d_4c_b7, 0xa8_7c_ff),
            TaskState::Waiting => self.pick(0x00_9b_f3, 0x1e_69_ab),
            TaskState::Blocked => self.pick(0xca_1b_00, 0xf2_48_35),
            TaskState::LockWait => self.pick(0xae_71_a3, 0xeb_7f_b6),
            TaskState::Done => self.pick(0x86_99_89, 0x76_79_7b),
            TaskState::Failed => self.pick(0x11_14_18, 0xf4_f6_f8),
        }
    }

    /// The colour of a thread's activity: the state of the task that it is about, where there is one.
    ///
    /// Overhead and waking are the runtime's own doing and belong to no task state, so they are greys: a strong one, and
    /// one between that and the background. Idle recedes like a pending task; an absent thread is nothing.
    pub const fn activity(self, activity: Activity) -> Rgb {
        match activity {
            Activity::Running => self.state(TaskState::Running),
            Activity::Blocked => self.state(TaskState::Blocked),
            Activity::Preempted => self.state(TaskState::Preempted),
            Activity::Overhead => self.pick(0x39_41_4a, 0xc9_d1_d9),
            Activity::Waking => self.pick(0x8c_95_9f, 0x6b_75_7f),
            Activity::Idle => self.state(TaskState::Pending),
            Activity::Absent => self.background(),
        }
    }

    const fn pick(self, light: u32, dark: u32) -> Rgb {
        match self {
            Self::Light => Rgb::hex(light),
            Self::Dark => Rgb::hex(dark),
        }
    }
}

/// The letter that stands for a state where colour and pattern cannot be seen.
pub const fn letter(state: TaskState) -> char {
    match state {
        TaskState::Pending => '-',
        TaskState::Queued => 'Q',
        TaskState::Running => 'R',
        TaskState::Preempted => 'P',
        TaskState::Waiting => 'W',
        TaskState::Blocked => 'B',
        TaskState::LockWait => 'L',
        TaskState::Done => 'D',
        TaskState::Failed => 'X',
    }
}

/// The pattern of a state.
pub const fn state_pattern(state: TaskState) -> Pattern {
    match state {
        TaskState::Pending => Pattern::Outline,
        TaskState::Queued => Pattern::Dots,
        TaskState::Running | TaskState::Done => Pattern::Solid,
        TaskState::Preempted => Pattern::Diagonal,
        TaskState::Waiting => Pattern::Horizontal,
        TaskState::Blocked => Pattern::CrossHatch,
        TaskState::LockWait => Pattern::Vertical,
        TaskState::Failed => Pattern::Cross,
    }
}

/// The pattern of an activity: that of the task state with the same colour, and one of its own for each grey.
pub const fn activity_pattern(activity: Activity) -> Pattern {
    match activity {
        Activity::Blocked => Pattern::CrossHatch,
        Activity::Preempted => Pattern::Diagonal,
        Activity::Waking => Pattern::Dots,
        Activity::Overhead => Pattern::Vertical,
        Activity::Running | Activity::Idle | Activity::Absent => Pattern::Solid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn css_is_what_the_design_says() {
        assert_eq!(Theme::Light.state(TaskState::Queued).css(), "#db7e00");
        assert_eq!(Theme::Dark.state(TaskState::Waiting).css(), "#1e69ab");
        assert_eq!(Theme::Light.background().css(), "#ffffff");
    }

    #[test]
    fn letters_are_distinct() {
        let mut letters: Vec<_> = TaskState::ALL.map(letter).to_vec();
        letters.sort_unstable();
        letters.dedup();
        assert_eq!(letters.len(), TaskState::ALL.len());
    }

    #[test]
    fn mixing_keeps_its_ends() {
        let (black, white) = (Rgb(0, 0, 0), Rgb(255, 255, 255));
        assert_eq!([0, 128, 255].map(|alpha| white.over(black, alpha).0), [0, 128, 255]);
    }
}
