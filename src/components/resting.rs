//! A part of the page that rests while a slider is dragged and the part is out of view: nothing of it is computed or
//! drawn, and it shows what it showed before. It follows when it comes into view, or when the slider is let go.

use yew::prelude::*;

use crate::hooks::{App, use_app, use_in_view};

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct Props {
    /// The part.
    pub children: Html,
}

/// See the module.
#[component]
pub(crate) fn Resting(props: &Props) -> Html {
    let app = use_app();
    let host = use_node_ref();
    let rests = !use_in_view(&host) && app.state.live.dragging;
    let shown = use_mut_ref(|| app.clone());
    if !rests {
        *shown.borrow_mut() = app;
    }
    html! {
        <div ref={host}>
            <ContextProvider<App> context={shown.borrow().clone()}>{props.children.clone()}</ContextProvider<App>>
        </div>
    }
}
