//! The whole time axis in a narrow strip, with the part in view as a frame that can be dragged.

use parkbench_trace::density;
use parkbench_view::minimap::{self, Grip};
use parkbench_view::{Surface as Pixels, Theme, TimeView, density as picture};
use web_sys::{HtmlCanvasElement, HtmlElement, PointerEvent};
use yew::prelude::*;

use super::window_text;
use crate::canvas::Surface;
use crate::hooks::{use_app, use_width};
use crate::state::{Action, Axis, RunSet, Shared, Window};

/// [CSS px] Height of one run's band.
const BAND: u32 = 10;
/// [CSS px] The gap below it.
const GAP: u32 = 1;

/// A drag in progress: what is held, where it began, and the view then.
type Drag = (Grip, f64, TimeView);

/// See the module.
#[component]
pub(super) fn Overview() -> Html {
    let app = use_app();
    let (host, canvas) = (use_node_ref(), use_node_ref());
    let (width, ratio) = use_width(&host);
    let surface = use_mut_ref(|| None::<Surface>);
    // The bands cost more than the frame, so they are kept while the frame is dragged.
    let bands = use_mut_ref(Vec::<u8>::new);
    let drag = use_mut_ref(|| None::<Drag>);
    let window = app.state.window_in_view();
    let runs = app.state.runs_in_view().len() as u32;
    let end = app.state.result.as_ref().map_or(0, |result| result.end_ns());
    use_effect_with((app.state.result.clone(), app.dark, width, ratio.to_bits()), {
        let (canvas, surface, bands, theme) = (canvas.clone(), surface.clone(), bands.clone(), app.theme());
        move |(result, _, width, ratio): &(Option<Shared<RunSet>>, bool, u32, u64)| {
            let ratio = f64::from_bits(*ratio);
            let mut surface = surface.borrow_mut();
            if surface.is_none() {
                *surface = canvas.cast::<HtmlCanvasElement>().map(Surface::new);
            }
            if let (Some(surface), Some(result)) = (&mut *surface, result)
                && *width > 0
            {
                let device = |css: u32| (f64::from(css) * ratio).round() as u32;
                surface.resize(device(*width), device(runs * (BAND + GAP)), ratio);
                paint_bands(result, theme, surface, ratio);
                bands.borrow_mut().clear();
                bands.borrow_mut().extend_from_slice(surface.pixels());
            }
        }
    });
    use_effect_with((app.state.result.clone(), app.dark, width, ratio.to_bits(), window), {
        let theme = app.theme();
        move |(_, _, width, ratio, window): &(Option<Shared<RunSet>>, bool, u32, u64, Window)| {
            if let Some(surface) = &mut *surface.borrow_mut()
                && surface.pixels().len() == bands.borrow().len()
            {
                surface.pixels().copy_from_slice(&bands.borrow());
                let view = TimeView { from_ns: window.from, to_ns: window.to, width_px: *width };
                let (w, h) = (surface.width() as usize, surface.height() as usize);
                let unit = (f64::from_bits(*ratio).round() as usize).max(1);
                minimap::paint_window(&mut Pixels::new(surface.pixels(), w, h, unit), &view, end, theme);
                surface.put();
            }
        }
    });
    let view = TimeView { from_ns: window.from, to_ns: window.to, width_px: width };
    let place = {
        let host = host.clone();
        move |event: &PointerEvent| {
            let left = host.cast::<HtmlElement>().map_or(0.0, |host| host.get_bounding_client_rect().left());
            f64::from(event.client_x()) - left
        }
    };
    let down = {
        let (drag, place, host) = (drag.clone(), place.clone(), host.clone());
        Callback::from(move |event: PointerEvent| {
            let at = place(&event);
            *drag.borrow_mut() = Some((minimap::grip(&view, end, width, at, 1), at, view));
            if let Some(host) = host.cast::<HtmlElement>() {
                let _ = host.set_pointer_capture(event.pointer_id());
            }
        })
    };
    let moved = {
        let (drag, dispatch) = (drag.clone(), app.dispatch.clone());
        Callback::from(move |event: PointerEvent| {
            if let Some((grip, from, start)) = &*drag.borrow() {
                let view = minimap::drag(start, end, width, *grip, *from, place(&event));
                dispatch.emit(Action::View(Axis::Window(Window { from: view.from_ns, to: view.to_ns })));
            }
        })
    };
    let up = Callback::from(move |_: PointerEvent| *drag.borrow_mut() = None);
    let label = format!("{}. {}", app.words().overview, window_text(&app));
    html! {
        <div class="track">
            <div class="gutter"><span class="detail">{app.words().overview}</span></div>
            <div class={classes!("overview", format!("bands-{}", runs.min(6)))} ref={host}
                onpointerdown={down} onpointermove={moved} onpointerup={up.clone()} onpointercancel={up}>
                <canvas ref={canvas} role="img" aria-label={label}></canvas>
            </div>
        </div>
    }
}

fn paint_bands(result: &RunSet, theme: Theme, surface: &mut Surface, ratio: f64) {
    let (width, end) = (surface.width() as usize, result.end_ns());
    let device = |css: u32| (f64::from(css) * ratio).round() as usize;
    let (band, pitch) = (device(BAND), device(BAND + GAP));
    let height = surface.height() as usize;
    Pixels::new(surface.pixels(), width, height, 1).fill(0..width, 0..height, theme.background());
    for (index, run) in result.runs.iter().enumerate() {
        let stop = run.trace.end_ns();
        let shown = ((Window::all(end).share(stop) * width as f64).ceil() as usize).clamp(1, width);
        let columns = density(&run.trace, 0, stop, shown);
        let start = index * pitch * width * 4;
        if let Some(rows) = surface.pixels().get_mut(start..start + band * width * 4) {
            picture::paint(&mut Pixels::new(rows, width, band, device(1).max(1)), &columns, theme);
        }
    }
}
