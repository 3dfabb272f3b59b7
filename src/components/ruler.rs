//! The time ruler above the strips: text in its place, moved there by the browser's own layout.

use parkbench_view::ticks;
use web_sys::HtmlElement;
use yew::prelude::*;

use crate::hooks::{use_app, use_width};

/// [CSS px] Room for one label.
const LABEL: u32 = 96;

/// See the module.
#[component]
pub(super) fn Ruler() -> Html {
    let app = use_app();
    let host = use_node_ref();
    let (width, _) = use_width(&host);
    let window = app.state.window_in_view();
    let marks = use_memo((window, width), |&(window, width)| {
        if width == 0 || window.width() == 0 {
            return Vec::new();
        }
        ticks(window.from, window.to, (width / LABEL).max(2) as usize)
    });
    use_effect_with((host.clone(), marks.clone(), window), |(host, marks, window)| {
        let Some(host) = host.cast::<HtmlElement>() else { return };
        let children = host.children();
        for (index, mark) in (0_u32..).zip(marks.iter()) {
            let child =
                children.item(index).and_then(|child| wasm_bindgen::JsCast::dyn_into::<HtmlElement>(child).ok());
            if let Some(child) = child {
                let _ = child.style().set_property("left", &format!("{:.3}%", window.share(mark.at_ns) * 100.0));
            }
        }
    });
    html! {
        <div class="track ruler-track" aria-hidden="true">
            <div class="gutter"></div>
            <div class="ruler" ref={host}>
                { for marks.iter().enumerate().map(|(index, mark)| html! { <span key={index}>{&mark.label}</span> }) }
            </div>
        </div>
    }
}
