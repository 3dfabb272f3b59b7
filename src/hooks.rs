//! Hooks of the components: numbers from the player, the size of an element.

use std::rc::Rc;

use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use web_sys::{
    AddEventListenerOptions, Element, HtmlElement, IntersectionObserver, IntersectionObserverEntry, ResizeObserver,
};
use yew::prelude::*;

use crate::i18n::{Locale, Strings};
use crate::platform;
use crate::player::{Player, Snapshot};
use crate::state::{Action, AppState};

/// What every component may use.
#[derive(Clone, PartialEq)]
pub(crate) struct App {
    /// The state.
    pub state: Rc<AppState>,
    /// Changes the state.
    pub dispatch: Callback<Action>,
    /// Playback.
    pub player: Player,
    /// Whether colours are dark.
    pub dark: bool,
}

impl App {
    /// The words.
    pub(crate) fn words(&self) -> &'static Strings {
        self.state.locale.strings()
    }

    /// The language.
    pub(crate) fn locale(&self) -> Locale {
        self.state.locale
    }

    /// Colours for the canvases.
    pub(crate) fn theme(&self) -> parkbench_view::palette::Theme {
        if self.dark { parkbench_view::palette::Theme::Dark } else { parkbench_view::palette::Theme::Light }
    }
}

/// What every component may use, from the context.
#[hook]
pub(crate) fn use_app() -> App {
    use_context::<App>().unwrap_or_else(|| unreachable!("the root provides the context"))
}

/// The player's numbers, at most ten times a second.
#[hook]
pub(crate) fn use_snapshot() -> Snapshot {
    let player = use_app().player;
    let snapshot = use_state_eq(|| player.snapshot());
    let setter = snapshot.setter();
    use_effect_with(player, move |player| {
        let attached = player.subscribe(Callback::from(move |new| setter.set(new)));
        move || drop(attached)
    });
    (*snapshot).clone()
}

/// [CSS px] Width of an element and the pixel ratio, in whole pixels; zero before it is laid out.
#[hook]
pub(crate) fn use_width(node: &NodeRef) -> (u32, f64) {
    let size = use_state_eq(|| (0, 1.0));
    let setter = size.setter();
    use_effect_with(node.clone(), move |node| {
        let watch = node
            .cast::<Element>()
            .and_then(|element| Watch::new(&element, move |width| setter.set((width, platform::pixel_ratio()))));
        move || drop(watch)
    });
    *size
}

/// A resize observer and its callback.
struct Watch {
    observer: ResizeObserver,
    _closure: Closure<dyn FnMut()>,
}

impl Watch {
    fn new(element: &Element, changed: impl Fn(u32) + 'static) -> Option<Self> {
        let watched = element.clone();
        let closure = Closure::<dyn FnMut()>::new(move || changed(watched.client_width().max(0) as u32));
        let observer = ResizeObserver::new(closure.as_ref().unchecked_ref()).ok()?;
        observer.observe(element);
        Some(Self { observer, _closure: closure })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Whether an element is in view; so it is where the browser cannot tell.
#[hook]
pub(crate) fn use_in_view(node: &NodeRef) -> bool {
    let in_view = use_state_eq(|| true);
    let setter = in_view.setter();
    use_effect_with(node.clone(), move |node| {
        let watch = node.cast::<Element>().and_then(|element| {
            let closure = Closure::<dyn FnMut(Vec<IntersectionObserverEntry>)>::new(
                move |entries: Vec<IntersectionObserverEntry>| {
                    if let Some(last) = entries.last() {
                        setter.set(last.is_intersecting());
                    }
                },
            );
            let observer = IntersectionObserver::new(closure.as_ref().unchecked_ref()).ok()?;
            observer.observe(&element);
            Some((observer, closure))
        });
        move || {
            if let Some((observer, closure)) = watch {
                observer.disconnect();
                drop(closure);
            }
        }
    });
    *in_view
}

/// Calls back with every wheel event on an element; the callback may keep the page from scrolling.
#[hook]
pub(crate) fn use_wheel(node: &NodeRef, turned: Callback<WheelEvent>) {
    use_effect_with((node.clone(), turned), |(node, turned)| {
        let turned = turned.clone();
        let listener = node.cast::<Element>().map(|element| {
            let closure = Closure::<dyn FnMut(WheelEvent)>::new(move |event| turned.emit(event));
            let options = AddEventListenerOptions::new();
            options.set_passive(false);
            let _ = element.add_event_listener_with_callback_and_add_event_listener_options(
                "wheel",
                closure.as_ref().unchecked_ref(),
                &options,
            );
            (element, closure)
        });
        move || {
            if let Some((element, closure)) = listener {
                let _ = element.remove_event_listener_with_callback("wheel", closure.as_ref().unchecked_ref());
            }
        }
    });
}

/// Moves an element with the clock: see [`Player::attach_line`].
#[hook]
pub(crate) fn use_line(node: &NodeRef) {
    let player = use_app().player;
    use_effect_with((player, node.clone()), |(player, node)| {
        let attached = node.cast::<HtmlElement>().map(|line| player.attach_line(line));
        move || drop(attached)
    });
}
