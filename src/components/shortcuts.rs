//! The list of keys as a modal dialog.

use web_sys::HtmlDialogElement;
use yew::prelude::*;

use crate::hooks::use_app;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct Props {
    /// Called when the dialog is closed.
    pub close: Callback<()>,
}

/// See the module.
#[component]
pub(crate) fn Shortcuts(props: &Props) -> Html {
    let words = use_app().words();
    let dialog = use_node_ref();
    use_effect_with(dialog.clone(), |dialog| {
        if let Some(dialog) = dialog.cast::<HtmlDialogElement>() {
            let _ = dialog.show_modal();
        }
    });
    let closed = props.close.reform(|_: Event| ());
    let press = {
        let dialog = dialog.clone();
        Callback::from(move |_: MouseEvent| {
            if let Some(dialog) = dialog.cast::<HtmlDialogElement>() {
                dialog.close();
            }
        })
    };
    let rows: [(&[&str], &str); 9] = [
        (&[words.key_space], words.key_play),
        (&[",", "."], words.key_step),
        (&["Home", "End"], words.key_ends),
        (&["W", "S"], words.key_zoom),
        (&["A", "D"], words.key_pan),
        (&["0"], words.key_fit),
        (&[words.key_arrows], words.key_dots),
        (&["O"], words.open_measured),
        (&["?"], words.key_help),
    ];
    html! {
        <dialog ref={dialog} onclose={closed} aria-labelledby="shortcuts-title">
            <h2 id="shortcuts-title">{words.shortcuts}</h2>
            <p>{words.keys_where}</p>
            <dl class="keys">
                { for rows.into_iter().map(|(keys, what)| html! {
                    <div><dt>{ for keys.iter().map(|key| html! { <kbd>{*key}</kbd> }) }</dt><dd>{what}</dd></div>
                }) }
            </dl>
            <button type="button" class="primary" onclick={press}>{words.close}</button>
        </dialog>
    }
}
