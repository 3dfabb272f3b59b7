//! The style sheet says the same colours as the canvases, in both themes.

use parkbench_engine::TaskState;
use parkbench_view::{Rgb, Theme};

const STYLE: &str = include_str!("../static/style.css");

/// The declarations of a block.
fn block(selector: &str) -> &'static str {
    let start = STYLE.find(&format!("{selector} {{")).expect(selector) + selector.len() + 2;
    &STYLE[start..start + STYLE[start..].find('}').expect("a closed block")]
}

#[track_caller]
fn check(block: &str, name: &str, colour: Rgb) {
    let wanted = format!("--{name}: {}", colour.css());
    assert!(block.split(';').any(|part| part.trim() == wanted), "{wanted} is not in {block}");
}

#[test]
fn colours_are_those_of_the_canvases() {
    for (theme, selector) in [(Theme::Light, ":root"), (Theme::Dark, ":root[data-theme=\"dark\"]")] {
        let block = block(selector);
        for state in TaskState::ALL {
            check(block, &format!("st-{}", state.as_str()), theme.state(state));
        }
        check(block, "background", theme.background());
        check(block, "panel", theme.panel());
        check(block, "text", theme.text());
        check(block, "muted", theme.muted());
        check(block, "accent", theme.accent());
        check(block, "hairline", theme.hairline());
        check(block, "overhead", theme.activity(parkbench_engine::Activity::Overhead));
        check(block, "waking", theme.activity(parkbench_engine::Activity::Waking));
    }
}
