//! A canvas as wide as its place, painted when its input changes, with the cursor line over it. Dragging on it seeks.

use std::rc::Rc;

use parkbench_view::{Surface as Pixels, Theme};
use web_sys::{HtmlCanvasElement, HtmlElement, PointerEvent};
use yew::prelude::*;

use crate::canvas::Surface;
use crate::hooks::{use_app, use_line, use_width};
use crate::state::{RunSet, Shared, Window};

/// Draws a part of the axis. Must depend on nothing but its arguments and what [`Props::subject`] stands for.
pub(super) type Painter = Rc<dyn Fn(&RunSet, Window, Theme, &mut Pixels)>;

#[derive(Clone, Properties)]
pub(super) struct Props {
    /// [CSS px]
    pub height: u32,
    /// The picture in words.
    pub label: AttrValue,
    /// Draws.
    pub paint: Painter,
    /// What is drawn: the number of a run or of a task.
    pub subject: u32,
}

impl PartialEq for Props {
    fn eq(&self, other: &Self) -> bool {
        (self.height, &self.label, self.subject) == (other.height, &other.label, other.subject)
    }
}

/// What a painted picture depends on.
type Drawn = (Option<Shared<RunSet>>, Window, bool, u32, u64, u32, u32);

/// See the module.
#[component]
pub(super) fn Plot(props: &Props) -> Html {
    let app = use_app();
    let (host, canvas, line) = (use_node_ref(), use_node_ref(), use_node_ref());
    let (width, ratio) = use_width(&host);
    let surface = use_mut_ref(|| None::<Surface>);
    let window = app.state.window_in_view();
    use_line(&line);
    use_effect_with(
        (app.state.result.clone(), window, app.dark, width, ratio.to_bits(), props.height, props.subject),
        {
            let (canvas, paint, theme) = (canvas.clone(), Rc::clone(&props.paint), app.theme());
            move |(result, window, _, width, ratio, height, _): &Drawn| {
                let ratio = f64::from_bits(*ratio);
                let mut surface = surface.borrow_mut();
                if surface.is_none() {
                    *surface = canvas.cast::<HtmlCanvasElement>().map(Surface::new);
                }
                if let (Some(surface), Some(result)) = (&mut *surface, result)
                    && *width > 0
                {
                    let device = |css: u32| (f64::from(css) * ratio).round() as u32;
                    surface.resize(device(*width), device(*height), ratio);
                    let (width, height) = (surface.width() as usize, surface.height() as usize);
                    let unit = (ratio.round() as usize).max(1);
                    paint(result, *window, theme, &mut Pixels::new(surface.pixels(), width, height, unit));
                    surface.put();
                }
            }
        },
    );
    let seek = {
        let (player, host) = (app.player.clone(), host.clone());
        move |event: &PointerEvent| {
            if let Some(host) = host.cast::<HtmlElement>() {
                let place = host.get_bounding_client_rect();
                if place.width() > 0.0 {
                    player.seek(window.at((f64::from(event.client_x()) - place.left()) / place.width()));
                }
            }
        }
    };
    let down = {
        let (seek, host) = (seek.clone(), host.clone());
        Callback::from(move |event: PointerEvent| {
            if event.button() == 0 && event.pointer_type() == "mouse" {
                if let Some(host) = host.cast::<HtmlElement>() {
                    let _ = host.set_pointer_capture(event.pointer_id());
                }
                seek(&event);
            }
        })
    };
    let moved = {
        let seek = seek.clone();
        Callback::from(move |event: PointerEvent| {
            if event.buttons() & 1 == 1 && event.pointer_type() == "mouse" {
                seek(&event);
            }
        })
    };
    // A finger that scrolls the page must not move the clock, so touch seeks on a tap only.
    let tapped = Callback::from(move |event: PointerEvent| {
        if event.pointer_type() != "mouse" {
            seek(&event);
        }
    });
    html! {
        <div class="plot" ref={host} onpointerdown={down} onpointermove={moved} onpointerup={tapped}>
            <canvas ref={canvas} role="img" aria-label={props.label.clone()}></canvas>
            <div class="now" ref={line} aria-hidden="true"></div>
        </div>
    }
}
