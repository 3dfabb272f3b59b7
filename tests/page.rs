//! The page in a browser: mounts, shows every run, says what is wrong with a parameter, and computes the golden digests.

#![cfg(target_arch = "wasm32")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;

use gloo_timers::future::TimeoutFuture;
use parkbench_engine::{PRESET_NAMES, preset};
use parkbench_web::app::App;
use parkbench_web::worker::{Job, JobEvent, Keep};
use wasm_bindgen::JsCast as _;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{Document, Element, Event, EventInit, HtmlElement, HtmlInputElement};

wasm_bindgen_test_configure!(run_in_browser);

/// `preset run digest` for each run of each preset, shared with the engine's own tests.
const GOLDEN: &str = include_str!("../crates/engine/tests/golden.txt");

/// [ms] The page must have answered by then.
const PATIENCE: u32 = 30_000;

fn document() -> Document {
    web_sys::window().unwrap().document().unwrap()
}

/// A page of its own in a fresh element; its worker cannot be found here, so the page does the work.
fn mount() -> Element {
    let root = document().create_element("div").unwrap();
    document().body().unwrap().append_child(&root).unwrap();
    yew::Renderer::<App>::with_root(root.clone()).render();
    root
}

/// Waits until something is there; each turn gives the page time to work.
async fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..PATIENCE / 10 {
        if let Some(found) = look() {
            return found;
        }
        TimeoutFuture::new(10).await;
    }
    panic!("{what} did not happen within {PATIENCE} ms");
}

async fn finished(root: &Element) {
    eventually("the run", || root.query_selector("[data-run-state=done]").unwrap()).await;
}

fn all(root: &Element, selector: &str) -> Vec<HtmlElement> {
    let list = root.query_selector_all(selector).unwrap();
    (0..list.length()).map(|i| list.item(i).unwrap().unchecked_into()).collect()
}

#[wasm_bindgen_test]
async fn the_page_opens_with_three_finished_models() {
    let root = mount();
    finished(&root).await;
    let golden: Vec<&str> = GOLDEN.lines().filter_map(|line| line.strip_prefix("io-bound ")).collect();
    let columns = all(&root, "section[data-model]");
    assert_eq!(columns.len(), golden.len());
    for (index, (column, golden)) in columns.iter().zip(&golden).enumerate() {
        let data = |name: &str| column.get_attribute(name).unwrap();
        assert_eq!(format!("{index} {}", data("data-digest")), *golden);
        let makespan: u64 = data("data-makespan-ns").parse().unwrap();
        assert!(makespan > 50_000_000, "{makespan}");
        assert!(column.text_content().unwrap().contains("done in"), "{:?}", column.text_content());
    }
    root.remove();
}

#[wasm_bindgen_test]
async fn a_bad_value_is_told_beside_its_field_and_the_run_stays() {
    let root = mount();
    finished(&root).await;
    let digests =
        || all(&root, "section[data-digest]").iter().map(|e| e.get_attribute("data-digest")).collect::<Vec<_>>();
    let before = digests();
    let input: HtmlInputElement = root.query_selector("#cores").unwrap().unwrap().unchecked_into();
    let bubbles = EventInit::new();
    bubbles.set_bubbles(true);
    let type_in = |text: &str| {
        input.set_value(text);
        input.dispatch_event(&Event::new_with_event_init_dict("input", &bubbles).unwrap()).unwrap();
    };
    type_in("0");
    let note = eventually("the message", || root.query_selector(".field.wrong .message").unwrap()).await;
    assert_eq!(note.text_content().unwrap(), "0 is not allowed; allowed: 1 to 1024");
    assert_eq!(input.get_attribute("aria-invalid").as_deref(), Some("true"));
    assert_eq!(input.get_attribute("aria-describedby").as_deref(), Some(note.id().as_str()));
    root.query_selector("#run").unwrap().unwrap().unchecked_into::<HtmlElement>().click();
    TimeoutFuture::new(50).await;
    assert_eq!(digests(), before);
    assert!(root.query_selector("[data-run-state=done]").unwrap().is_some());
    type_in("12");
    eventually("the correction", || root.query_selector(".field.wrong").unwrap().is_none().then_some(())).await;
    root.remove();
}

#[wasm_bindgen_test]
fn digests_are_golden_whatever_the_budget() {
    let mut got = String::new();
    for name in PRESET_NAMES {
        let mut job = Job::new(preset(name).unwrap(), 4_099, Keep::Records).unwrap();
        loop {
            match job.step().unwrap() {
                JobEvent::Progress { .. } => {}
                JobEvent::Run(run, recording, _) => {
                    writeln!(got, "{name} {run} {:016x}", recording.totals.digest).unwrap();
                }
                JobEvent::Finished => break,
            }
        }
    }
    // The file also has scenarios of the engine's own tests.
    let presets = GOLDEN.lines().filter(|line| PRESET_NAMES.contains(&line.split(' ').next().unwrap()));
    assert_eq!(got.lines().collect::<Vec<_>>(), presets.collect::<Vec<_>>());
}
