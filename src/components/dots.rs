//! The grid of one run: 10,000 tasks as dots. Click or arrow keys select a task.

use parkbench_view::{GridLayout, format};
use web_sys::{HtmlCanvasElement, HtmlElement};
use yew::prelude::*;

use crate::canvas::grid::Grid;
use crate::hooks::{use_app, use_width};
use crate::i18n::fill;
use crate::player::Attached;
use crate::state::{Action, RunSet, Shared};

#[derive(Clone, PartialEq, Properties)]
pub(super) struct Props {
    /// Index of the run.
    pub run: usize,
    /// What the picture shows, in words.
    pub summary: AttrValue,
    /// The name of the picture.
    pub name: AttrValue,
}

/// Tasks whose grid is about as high as it is wide, so that its room can be kept before they are there.
const EVEN: u32 = 2_500;

/// See the module.
#[component]
pub(super) fn Dots(props: &Props) -> Html {
    let app = use_app();
    let words = app.words();
    let (host, canvas, ring) = (use_node_ref(), use_node_ref(), use_node_ref());
    let attached = use_mut_ref(|| None::<Attached>);
    let (width, ratio) = use_width(&host);
    let result = app.state.result.clone();
    let tasks = result.as_ref().map_or(0, |result| result.tasks());
    let task = app.state.task_in_view();
    use_effect_with((result.clone(), props.run), {
        let (app, canvas, ring, attached) = (app.clone(), canvas.clone(), ring.clone(), attached.clone());
        move |(result, run): &(Option<Shared<RunSet>>, usize)| {
            let elements = canvas.cast::<HtmlCanvasElement>().zip(ring.cast::<HtmlElement>());
            *attached.borrow_mut() = result.as_ref().zip(elements).map(|(result, (canvas, ring))| {
                let lit = app.state.lit.map(|state| state as u8);
                let mut grid = Grid::new(canvas, ring, result.tasks() as usize, app.state.task_in_view(), lit);
                grid.resize(f64::from(width), f64::from(width), ratio);
                app.player.attach_grid(*run, grid)
            });
            let attached = attached.clone();
            move || *attached.borrow_mut() = None
        }
    });
    use_effect_with((width, ratio.to_bits()), {
        let (app, attached) = (app.clone(), attached.clone());
        move |&(width, ratio)| {
            if let Some(attached) = &*attached.borrow() {
                app.player.resize_grid(attached, f64::from(width), f64::from(width), f64::from_bits(ratio));
            }
        }
    });
    let click = {
        let (app, attached, canvas) = (app.clone(), attached.clone(), canvas.clone());
        Callback::from(move |event: MouseEvent| {
            let Some(canvas) = canvas.cast::<HtmlElement>() else { return };
            let place = canvas.get_bounding_client_rect();
            let (x, y) = (f64::from(event.client_x()) - place.left(), f64::from(event.client_y()) - place.top());
            if let Some(task) = attached.borrow().as_ref().and_then(|attached| app.player.task_at(attached, x, y)) {
                app.dispatch.emit(Action::Select(task));
            }
        })
    };
    let keys = {
        let (app, attached) = (app.clone(), attached.clone());
        Callback::from(move |event: KeyboardEvent| {
            if event.ctrl_key() || event.meta_key() || event.alt_key() || tasks == 0 {
                return;
            }
            let row = attached.borrow().as_ref().map_or(1, |attached| app.player.grid_columns(attached));
            let step = match event.key().as_str() {
                "ArrowLeft" => -1,
                "ArrowRight" => 1,
                "ArrowUp" => -i64::from(row),
                "ArrowDown" => i64::from(row),
                _ => return,
            };
            event.prevent_default();
            event.stop_propagation();
            let next = i64::from(task) + step;
            if (0..i64::from(tasks)).contains(&next) {
                app.dispatch.emit(Action::Select(next as u32));
            }
        })
    };
    let side = (f64::from(width) * ratio) as usize;
    let per_dot = if side == 0 { 1 } else { GridLayout::fit(tasks as usize, side, side).tasks_per_dot as u64 };
    html! {
        <div class="dots" role="group" tabindex="0" aria-label={format!("{}. {}", props.name, words.grid_help)} onkeydown={keys}>
            <div class={classes!("square", (tasks == 0 || tasks >= EVEN).then_some("even"))} ref={host} onclick={click}>
                <div class="sheet">
                    <canvas ref={canvas} role="img" aria-label={format!("{}: {}", props.name, props.summary)}></canvas>
                    <span class="ring" ref={ring} hidden={tasks == 0}></span>
                </div>
            </div>
            if per_dot > 1 {
                <p class="hint">{ fill(words.per_dot, &[("n", &format::count(per_dot))]) }</p>
            }
        </div>
    }
}
