//! The legend: every state with colour, pattern and letter. An entry lights only its state in the grids.

use parkbench_engine::TaskState;
use parkbench_view::palette::letter;
use yew::prelude::*;

use crate::hooks::use_app;
use crate::i18n::{fill, state};
use crate::state::Action;

/// See the module.
#[component]
pub(crate) fn Legend() -> Html {
    let app = use_app();
    let (words, locale) = (app.words(), app.locale());
    html! {
        <ul class="legend" aria-label={words.legend}>
            { for TaskState::ALL.into_iter().map(|item| {
                let name = state(locale, item);
                let dispatch = app.dispatch.clone();
                let lit = app.state.lit == Some(item);
                html! {
                    <li>
                        <button type="button" aria-pressed={lit.to_string()} title={fill(words.legend_only, &[("state", name)])}
                            onclick={Callback::from(move |_| dispatch.emit(Action::Light(item)))}>
                            <span class={classes!("swatch", item.as_str())} aria-hidden="true">{letter(item)}</span>
                            {name}
                        </button>
                    </li>
                }
            }) }
        </ul>
    }
}
