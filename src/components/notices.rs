//! What a reader has to know and may put away: ignored parts of a link, errors without a control, a missing worker.

use yew::prelude::*;

use crate::hooks::use_app;
use crate::i18n::fill;
use crate::state::Action;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct Props {
    /// Why there is no worker.
    pub on_page: Option<AttrValue>,
}

/// See the module.
#[component]
pub(crate) fn Notices(props: &Props) -> Html {
    let app = use_app();
    let words = app.words();
    let dispatch = app.dispatch.clone();
    let forget = Callback::from(move |_| dispatch.emit(Action::ForgetIgnored));
    // What belongs to a control is said beside it.
    let messages: Vec<_> = app.state.messages.iter().filter(|message| message.field.is_none()).collect();
    html! {
        <div class="notices" role="status">
            if !app.state.ignored.is_empty() {
                <div class="notice">
                    { for app.state.ignored.iter().map(|what| html! {
                        <span class="chip">{ fill(words.ignored, &[("what", what)]) }</span>
                    }) }
                    <button type="button" class="quiet" onclick={forget}>{words.dismiss}</button>
                </div>
            }
            if let Some(why) = &props.on_page {
                <p class="notice">{ fill(words.on_page, &[("why", why)]) }</p>
            }
            if !messages.is_empty() {
                <div class="notice wrong" id="errors">
                    <p>{ fill(words.errors, &[("n", &messages.len().to_string())]) }</p>
                    <ul>
                        { for messages.iter().map(|message| html! {
                            <li lang="en"><strong>{&message.path}</strong>{": "}{&message.text}</li>
                        }) }
                    </ul>
                </div>
            }
        </div>
    }
}
