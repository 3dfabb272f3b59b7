//! Sliders beside the form's fields: which round values one has, and where on it a text stands. No browser here; what a
//! value does is the form's business.

use parkbench_engine::Nanos;

use super::field::Field;

/// Numbers of a decade, times ten: a step is a fifth at least and a third at most.
const DECADE: [u64; 11] = [10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100];

/// Cores that machines have.
const CORES: [u64; 19] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64];

/// The round values of a field, and the one that is nearest to its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slide {
    values: Vec<u64>,
    is_time: bool,
    place: usize,
}

impl Slide {
    /// The slider of a field with this text; `None` for fields that are no single number, and for texts that are none,
    /// such as ranges.
    pub fn of(field: Field, text: &str) -> Option<Self> {
        // A time may be none at all.
        let from_none = |least, most| [0].into_iter().chain(round(least, most)).collect();
        let (values, is_time): (Vec<u64>, _) = match field {
            Field::Tasks => (round(1, 100_000), false),
            Field::Wait => (from_none(10_000, 10_000_000_000), true),
            Field::Cpu => (from_none(1_000, 100_000_000), true),
            Field::Pool => (round(1, 2_000), false),
            Field::Cores | Field::Workers | Field::Carriers => (CORES.to_vec(), false),
            Field::Parallelism => (round(1, 500), false),
            _ => return None,
        };
        let value = if is_time { Nanos::parse(text).ok()?.0 } else { text.parse().ok()? };
        let place = nearest(&values, value);
        Some(Self { values, is_time, place })
    }

    /// The place of the text, from 0 to [`Self::last`].
    pub fn place(&self) -> usize {
        self.place
    }

    /// The last place.
    pub fn last(&self) -> usize {
        self.values.len() - 1
    }

    /// The text at a place; places past the end are the last.
    pub fn text(&self, place: usize) -> String {
        let value = self.values[place.min(self.last())];
        if self.is_time { Nanos(value).to_string() } else { value.to_string() }
    }
}

/// The round numbers from `least` to `most`.
fn round(least: u64, most: u64) -> Vec<u64> {
    let mut values = Vec::new();
    let mut scale = 1;
    while scale <= most {
        for tenths in DECADE {
            // Below ten only whole numbers are round.
            let value = scale * tenths / 10;
            if (scale * tenths).is_multiple_of(10) && (least..=most).contains(&value) && values.last() < Some(&value) {
                values.push(value);
            }
        }
        scale *= 10;
    }
    values
}

/// Where the value is, or the first greater one, or the last.
fn nearest(values: &[u64], value: u64) -> usize {
    values.partition_point(|&other| other < value).min(values.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use parkbench_engine::{PRESET_NAMES, preset};

    use super::*;

    #[track_caller]
    fn check(field: Field, text: &str, expect: Option<(usize, &str)>) {
        let slide = Slide::of(field, text);
        let found = slide.map(|slide| (slide.place(), slide.text(slide.place())));
        assert_eq!(found, expect.map(|(place, text)| (place, text.to_owned())), "{field:?} {text:?}");
    }

    #[test]
    fn a_text_has_its_place() {
        check(Field::Cores, "1", Some((0, "1")));
        check(Field::Cores, "12", Some((8, "12")));
        check(Field::Cores, "32", Some((14, "32")));
        check(Field::Pool, "13", Some((9, "15")));
        check(Field::Pool, "99999", Some((30, "2000")));
        check(Field::Wait, "0 ns", Some((0, "0 ns")));
        check(Field::Wait, "50ms", Some((38, "50 ms")));
        check(Field::Wait, "9 h", Some((61, "10 s")));
        check(Field::Cpu, "20 us", Some((14, "20 us")));
    }

    #[test]
    fn what_is_no_single_number_has_no_slider() {
        check(Field::Wait, "2 s .. 2.2 s", None);
        check(Field::Wait, "", None);
        check(Field::Cpu, "100 iterations", None);
        check(Field::Parallelism, "none", None);
        check(Field::Tasks, "many", None);
        check(Field::Jdk, "21", None);
        check(Field::Seed, "1", None);
    }

    #[test]
    fn every_place_is_a_text_that_the_field_takes() {
        for name in PRESET_NAMES {
            let scenario = preset(name).unwrap();
            for field in Field::ALL {
                let Some(slide) = field.read(&scenario).and_then(|text| Slide::of(field, &text)) else { continue };
                let mut before = None;
                for place in 0..=slide.last() {
                    let text = slide.text(place);
                    let again = Slide::of(field, &text).unwrap();
                    assert_eq!(again.place(), place, "{field:?} {text}");
                    field.write(&mut scenario.clone(), &text).unwrap();
                    assert!(before < Some(slide.values[place]), "{field:?} {text}");
                    before = Some(slide.values[place]);
                }
            }
        }
    }
}
