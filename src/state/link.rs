//! The link: everything that is shared, as a flat, versioned, readable URL fragment. Reading and writing it again gives
//! the same text. What is unknown is collected and told, and never stops the rest.

use std::fmt::Write as _;

use parkbench_engine::{Nanos, Scenario};

use super::field::Field;
use super::form::{Base, Form, messages_of};
use super::window::Window;

/// The version of the link format.
pub const LINK_VERSION: u32 = 1;

/// The scenario that the page opens with.
pub const FIRST_PRESET: &str = "io-bound";

/// What a link holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Scenario and parameters.
    pub form: Form,
    /// The part of the time axis in view; `None` is the opening window.
    pub window: Option<Window>,
    /// [ns] The time shown; `None` is the opening still.
    pub at: Option<u64>,
    /// The selected task; `None` is the one in the middle.
    pub task: Option<u32>,
    /// The place in a file of comparisons, from 0; in the text from 1, and absent for the first.
    pub comparison: usize,
}

/// A link as it was read, with what could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLink {
    /// What could be used.
    pub link: Link,
    /// What could not, as short texts for chips.
    pub ignored: Vec<String>,
}

impl Link {
    /// A preset as it opens; the name must be one of the shipped.
    fn opening() -> Self {
        let form = Form::preset(FIRST_PRESET).unwrap_or_else(|e| unreachable!("{FIRST_PRESET} ships: {e}"));
        Self { form, window: None, at: None, task: None, comparison: 0 }
    }

    /// The fragment, without `#`.
    pub fn write(&self) -> String {
        let mut text = format!("v={LINK_VERSION}");
        let mut put = |key: &str, value: &str| {
            let _ = write!(text, "&{key}={}", encode(value));
        };
        match self.form.base() {
            Base::Preset(name) => put("preset", name),
            Base::Custom => put("scenario", &self.form.base_scenario().to_json()),
        }
        for (field, value) in self.form.canonical().changes() {
            put(field.key(), &squeeze(value));
        }
        if let Some(window) = self.window {
            put("from", &squeeze(&Nanos(window.from).to_string()));
            put("to", &squeeze(&Nanos(window.to).to_string()));
        }
        if let Some(at) = self.at {
            put("t", &squeeze(&Nanos(at).to_string()));
        }
        if let Some(task) = self.task {
            put("task", &task.to_string());
        }
        if self.comparison > 0 {
            put("comparison", &self.comparison.saturating_add(1).to_string());
        }
        text
    }

    /// Reads a fragment, with or without `#`. Whatever it says, there is something to show.
    pub fn read(fragment: &str) -> ReadLink {
        let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
        let mut ignored = Vec::new();
        let mut pairs: Vec<(String, String)> = Vec::new();
        for part in fragment.split('&').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            match (decode(key), decode(value)) {
                (Some(key), Some(value)) if !pairs.iter().any(|(known, _)| *known == key) => pairs.push((key, value)),
                _ => ignored.push(chip(key, value)),
            }
        }
        let mut take = |key: &str| pairs.iter().position(|(known, _)| known == key).map(|index| pairs.remove(index).1);
        if let Some(version) = take("v").filter(|version| version.parse() != Ok(LINK_VERSION)) {
            ignored.push(chip("v", &version));
        }
        let mut link = Self::opening();
        let (preset, custom) = (take("preset"), take("scenario"));
        match (&preset, &custom) {
            (_, Some(json)) => match Scenario::from_json(json) {
                Ok(scenario) => {
                    link.form = Form::custom(scenario);
                    ignored.extend(preset.map(|name| chip("preset", &name)));
                }
                Err(error) => ignored.extend(
                    messages_of(&error)
                        .into_iter()
                        .map(|message| format!("scenario: {}: {}", message.path, message.text)),
                ),
            },
            (Some(name), None) => match Form::preset(name) {
                Ok(form) => link.form = form,
                Err(error) => ignored.push(error.to_string()),
            },
            (None, None) => {}
        }
        for field in Field::ALL {
            let Some(value) = take(field.key()) else { continue };
            if link.form.applies(field) {
                link.form = link.form.with(field, &value).canonical();
            } else {
                ignored.push(chip(field.key(), &value));
            }
        }
        let mut time = |key: &str, ignored: &mut Vec<String>| {
            let text = take(key)?;
            let time = Nanos::parse(&text).ok();
            if time.is_none() {
                ignored.push(chip(key, &text));
            }
            time.map(|time| (time.0, text))
        };
        let (from, to) = (time("from", &mut ignored), time("to", &mut ignored));
        link.at = time("t", &mut ignored).map(|(at, _)| at);
        match (from, to) {
            (Some((from, _)), Some((to, _))) if from < to => link.window = Some(Window { from, to }),
            (from, to) => {
                ignored.extend(from.map(|(_, text)| chip("from", &text)));
                ignored.extend(to.map(|(_, text)| chip("to", &text)));
            }
        }
        if let Some(text) = take("task") {
            link.task = text.parse().ok();
            if link.task.is_none() {
                ignored.push(chip("task", &text));
            }
        }
        if let Some(text) = take("comparison") {
            match text.parse::<u32>() {
                Ok(number) if number > 0 => link.comparison = number as usize - 1,
                _ => ignored.push(chip("comparison", &text)),
            }
        }
        ignored.extend(pairs.iter().map(|(key, value)| chip(key, value)));
        ReadLink { link, ignored }
    }
}

fn chip(key: &str, value: &str) -> String {
    let mut text = if value.is_empty() { key.to_owned() } else { format!("{key}={value}") };
    if text.chars().count() > 60 {
        text = text.chars().take(59).chain(['…']).collect();
    }
    text
}

/// `50 ms` is `50ms` in a link, and `2 s .. 2.2 s` is `2s..2.2s`.
fn squeeze(text: &str) -> String {
    text.replace(' ', "")
}

/// Percent-encodes everything that a URL fragment or a chat program may change.
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~:,[]{}/*".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The reverse of [`encode`]; `None` for a broken escape or bytes that are not UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push((high * 16 + low) as u8);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads, expects these chips, and expects the text that is written back, which must be a fixed point.
    #[track_caller]
    fn check(fragment: &str, expect: &str, ignored: &[&str]) {
        let read = Link::read(fragment);
        assert_eq!(read.link.write(), expect);
        assert_eq!(read.ignored, ignored);
        let again = Link::read(expect);
        assert_eq!((again.link.write().as_str(), again.ignored.len()), (expect, 0));
        assert_eq!(again.link, read.link);
    }

    #[test]
    fn links_are_fixed_points() {
        check("", "v=1&preset=io-bound", &[]);
        check("#v=1&preset=pinning", "v=1&preset=pinning", &[]);
        check(
            "#v=1&preset=io-bound&tasks=20000&wait=1.5ms&cores=4&t=20ms&from=0ns&to=147ms&task=17",
            "v=1&preset=io-bound&tasks=20000&wait=1.5ms&cores=4&from=0ns&to=147ms&t=20ms&task=17",
            &[],
        );
        check("comparison=1&task=2", "v=1&preset=io-bound&task=2", &[]);
        check("comparison=3", "v=1&preset=io-bound&comparison=3", &[]);
        check("wait=2s..2.2s&cpu=5000iterations", "v=1&preset=io-bound&wait=2s..2.2s&cpu=5000iterations", &[]);
        check("tasks=10000&wait=50%20ms", "v=1&preset=io-bound", &[]);
    }

    #[test]
    fn a_value_out_of_range_stays_to_be_shown_beside_its_field() {
        check("cores=0&tasks=many", "v=1&preset=io-bound&tasks=many&cores=0", &[]);
    }

    #[test]
    fn what_is_unknown_is_told() {
        check("v=2&preset=io-bound&colour=red", "v=1&preset=io-bound", &["v=2", "colour=red"]);
        check(
            "preset=nope",
            "v=1&preset=io-bound",
            &[&format!("preset: \"nope\" is unknown; allowed: {}", parkbench_engine::PRESET_NAMES.join(", "))],
        );
        check("preset=pinning&pool=7", "v=1&preset=pinning", &["pool=7"]);
        check("t=soon&from=5ms", "v=1&preset=io-bound", &["t=soon", "from=5ms"]);
        check("from=9ms&to=5ms", "v=1&preset=io-bound", &["from=9ms", "to=5ms"]);
        check("tasks=%zz&cores=%ff", "v=1&preset=io-bound", &["tasks=%zz", "cores=%ff"]);
        check("comparison=0", "v=1&preset=io-bound", &["comparison=0"]);
        check("comparison=two", "v=1&preset=io-bound", &["comparison=two"]);
        check("cores=4&cores=5&task=x", "v=1&preset=io-bound&cores=4", &["cores=5", "task=x"]);
    }

    #[test]
    fn a_scenario_of_ones_own_survives() {
        let mut scenario = parkbench_engine::preset("pinning").unwrap();
        scenario.title = "잠금 & \"queues\" = 100%".to_owned();
        let link = Link { form: Form::custom(scenario.clone()), window: None, at: Some(1), task: None, comparison: 2 };
        let text = link.write();
        assert!(!text.contains(['"', ' ', '<', '#']), "{text}");
        let read = Link::read(&text);
        assert_eq!(read.link, link);
        assert_eq!(read.link.form.base_scenario(), &scenario);
    }

    #[test]
    fn a_broken_scenario_says_which_field() {
        let read = Link::read("scenario=%7B%22version%22%3A1%2C%22nam%22%3A%22x%22%7D");
        assert_eq!(read.link.write(), "v=1&preset=io-bound");
        assert!(read.ignored[0].contains("nam"), "{:?}", read.ignored);
    }
}
