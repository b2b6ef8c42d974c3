//! The tracks: their names, the picture, what lies over it, and what the pointer does there.

use std::ops::Range;
use std::rc::Rc;

use web_sys::{Element, HtmlCanvasElement};
use yew::prelude::*;

use super::labels::Labels;
use super::paint::{self, AXIS_PX, Picture};
use super::pointer::{Let, Pointer, use_scroll, use_wheel};
use super::tip::{Spot, span_at, tip};
use crate::chart::palette::Palette;
use crate::chart::tracks::layout::{Group, Layout};
use crate::chart::tracks::model::Shared;
use crate::glue::dom::{now_ms, use_size, window};
use crate::state::known::Drawer;
use crate::state::scene::{Scene, Stir};
use crate::state::selection::Selection;
use crate::state::track_words::exact;
use crate::state::{Action, format};

#[derive(Properties, PartialEq)]
pub(super) struct RoomProps {
    pub(super) model: Shared,
    pub(super) layout: Rc<Layout>,
    pub(super) scene: Scene,
    pub(super) selection: Option<Selection>,
    pub(super) cursor_ns: f64,
    pub(super) parting_ns: Option<f64>,
    pub(super) capacity: u32,
    pub(super) several: bool,
    pub(super) palette: Palette,
    pub(super) folded: Rc<[Group]>,
    pub(super) hover: Option<Spot>,
    pub(super) act: Callback<Action>,
    pub(super) stir: Callback<Stir>,
    pub(super) on_hover: Callback<Option<Spot>>,
    pub(super) on_width: Callback<f64>,
}

#[component]
pub(super) fn Room(props: &RoomProps) -> Html {
    let (plot, canvas, names, bar) = (use_node_ref(), use_node_ref(), use_node_ref(), use_node_ref());
    let pointer = use_memo((), |()| Pointer::default());
    let size = use_size(&plot);
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    let scene = &props.scene;
    let selected = use_memo((props.model.clone(), props.selection.clone()), |(model, selection)| {
        selection.as_ref().and_then(|selection| model.0.shown(selection))
    });
    let room = (height as u32).saturating_sub(AXIS_PX as u32 + props.layout.pinned_height);
    let most = props.layout.height.saturating_sub(room);
    let scrolled = scene.scrolled.min(most);
    use_effect_with(width, {
        let on_width = props.on_width.clone();
        move |&width| on_width.emit(width)
    });
    use_paint(props, &canvas, *size, scrolled, selected.as_ref().clone());
    use_wheel(&plot, scene.view, width, &props.stir);
    use_scroll(&names, scrolled, most, &props.stir);
    use_reveal(props, &selected, room);
    use_bar(&bar, scrolled);
    let on_select = {
        let act = props.act.clone();
        Callback::from(move |selection| act.emit(Action::Select(Some(selection))))
    };
    let on_bar = {
        let (bar, stir) = (bar.clone(), props.stir.clone());
        Callback::from(move |_: Event| {
            if let Some(bar) = bar.cast::<Element>() {
                stir.emit(Stir::Scroll(bar.scroll_top().max(0) as u32));
            }
        })
    };
    let inner = props.layout.height + height as u32 - room.min(height as u32);
    html! {
        <div class="tracks" id="tracks" role="group" aria-label="Tracks">
            <div class="tracks__names" ref={names}>
                <div class="tracks__corner">{ corner(scene) }</div>
                <Labels model={props.model.clone()} layout={Rc::clone(&props.layout)} {scrolled} height={size.1}
                    several={props.several} folded={Rc::clone(&props.folded)}
                    selected={selected.as_ref().as_ref().map(|(place, _)| *place)} cursor_ns={props.cursor_ns}
                    stir={props.stir.clone()} {on_select} />
            </div>
            <div class="tracks__plot" ref={plot}>
                { picture(props, (canvas, &pointer), width, scrolled, most) }
                { over(props, width) }
                if let Some(spot) = props.hover {
                    { tip(&props.model.0, &props.layout, spot, (scene.view, scrolled, (width, height)), props.several) }
                }
            </div>
            <div class="tracks__bar" ref={bar} onscroll={on_bar} tabindex="-1" aria-hidden="true">
                <div style={format!("height:{inner}px")} />
            </div>
        </div>
    }
}

/// How much is seen.
fn corner(scene: &Scene) -> String {
    let length = scene.view.length_ns().min(scene.end_ns.max(0.0));
    if length > 0.0 { format::time(length) } else { String::new() }
}

/// Pixels that an arrow key scrolls.
const SCROLL_PX: u32 = 17;

/// The picture with what the pointer and the arrow keys do.
fn picture(
    props: &RoomProps,
    (canvas, pointer): (NodeRef, &Pointer),
    width: f64,
    scrolled: u32,
    most: u32,
) -> Html {
    let view = props.scene.view;
    let onpointerdown = {
        let pointer = pointer.clone();
        Callback::from(move |event: PointerEvent| pointer.down(&event, view))
    };
    let onpointermove = {
        let (pointer, stir, on_hover) = (pointer.clone(), props.stir.clone(), props.on_hover.clone());
        Callback::from(move |event: PointerEvent| {
            if let Some(dragged) = pointer.drag(&event, width) {
                stir.emit(dragged);
                on_hover.emit(None);
            } else if event.buttons() == 0 {
                on_hover.emit(Some((f64::from(event.offset_x()), f64::from(event.offset_y()))));
            }
        })
    };
    let onpointerup = {
        let (act, stir, pointer) = (props.act.clone(), props.stir.clone(), pointer.clone());
        let (model, layout) = (props.model.clone(), Rc::clone(&props.layout));
        Callback::from(move |event: PointerEvent| match pointer.up(&event) {
            Some(Let::Spanned) => act.emit(Action::ShowDrawer(Some(Drawer::Span))),
            Some(Let::Clicked(x, y)) => {
                stir.emit(Stir::Span(None));
                click(&model, &layout, (x, y), (view, scrolled, width), &act);
            }
            None => {}
        })
    };
    let onkeydown = {
        let stir = props.stir.clone();
        Callback::from(move |event: KeyboardEvent| {
            let to = match event.key().as_str() {
                "ArrowLeft" => Stir::Pan(-0.1),
                "ArrowRight" => Stir::Pan(0.1),
                "ArrowUp" => Stir::Scroll(scrolled.saturating_sub(SCROLL_PX)),
                "ArrowDown" => Stir::Scroll((scrolled + SCROLL_PX).min(most)),
                "PageUp" => Stir::Scroll(scrolled.saturating_sub(8 * SCROLL_PX)),
                "PageDown" => Stir::Scroll((scrolled + 8 * SCROLL_PX).min(most)),
                _ => return,
            };
            event.prevent_default();
            stir.emit(to);
        })
    };
    let tracks = format::counted(props.model.0.tracks.list.len() as u32, "track", "tracks");
    html! {
        <canvas ref={canvas} id="tracks-canvas" class="tracks__canvas" tabindex="0" role="img"
            aria-label={format!("{tracks} over time. The button “As table” tells what is seen.")}
            {onpointerdown} {onpointermove} {onpointerup} {onkeydown}
            onpointerleave={props.on_hover.reform(|_: PointerEvent| None)} />
    }
}

/// A click moves the cursor, to the instant of a mark, and picks out what is there.
fn click(
    model: &Shared,
    layout: &Layout,
    spot: Spot,
    (view, scrolled, width): (crate::chart::tracks::view::View, u32, f64),
    act: &Callback<Action>,
) {
    let found = span_at(&model.0, layout, spot, (view, scrolled, width));
    let span = found.map(|(_, span)| model.0.tracks.spans.get(span));
    let at = match span {
        Some(span) if span.kind.is_mark() => span.start_ns,
        _ => view.ns(spot.0, width),
    };
    act.emit(Action::MoveTo(at));
    if let Some((place, span)) = found {
        let about = model.0.about(model.0.tracks.list.get(place), span);
        if about.is_some() {
            act.emit(Action::Select(about));
        }
    }
}

/// The cursor, the stretch that was dragged over, and where another run parts from this one.
fn over(props: &RoomProps, width: f64) -> Html {
    let view = props.scene.view;
    let at = view.px(props.cursor_ns, width);
    let seen = (-1.0..=width + 1.0).contains(&at);
    let side = if at > width - 90.0 { "tracks__cursor tracks__cursor--left" } else { "tracks__cursor" };
    let span = props.scene.span.map(|(from, to)| {
        let (left, right) =
            (view.px(from, width).clamp(-2.0, width + 2.0), view.px(to, width).clamp(-2.0, width + 2.0));
        html! {
            <div class="tracks__span" style={format!("left:{left:.1}px;width:{:.1}px", right - left)}>
                <span>{ exact(to - from) }</span>
            </div>
        }
    });
    let parting = props.parting_ns.map(|at_ns| view.px(at_ns, width)).filter(|at| (0.0..=width).contains(at));
    html! {
        <>
            { span.unwrap_or_default() }
            if let Some(at) = parting {
                <div class="tracks__parting" style={format!("transform:translateX({at:.1}px)")}><span>{ "A | B" }</span></div>
            }
            if seen {
                <div class={side} style={format!("transform:translateX({at:.1}px)")}>
                    <span>{ exact(props.cursor_ns.round()) }</span>
                </div>
            }
        </>
    }
}

type Selected = Option<(usize, Range<usize>)>;

#[hook]
fn use_paint(props: &RoomProps, canvas: &NodeRef, size: (u32, u32), scrolled: u32, selected: Selected) {
    let canvas = canvas.clone();
    let deps = (
        props.model.clone(),
        Rc::clone(&props.layout),
        (props.scene.view, scrolled, size),
        selected,
        props.capacity,
        props.palette,
    );
    use_effect_with(deps, move |(model, layout, (view, scrolled, size), selected, capacity, palette)| {
        let Some(canvas) = canvas.cast::<HtmlCanvasElement>().filter(|_| size.0 > 0) else { return };
        let begun = now_ms();
        paint::paint(
            &canvas,
            &Picture {
                model: &model.0,
                layout,
                view: *view,
                scrolled: *scrolled,
                selected: selected.clone(),
                capacity: *capacity,
                palette,
                size: *size,
                ratio: window().device_pixel_ratio().max(1.0),
            },
        );
        // For the test of frame times.
        let _ = canvas.set_attribute("data-paint-ms", &format!("{:.3}", now_ms() - begun));
    });
}

/// Scrolls to the row of what is picked out anew, and keeps it in sight when the room changes: answers of a search take some
/// of it just then.
#[hook]
fn use_reveal(props: &RoomProps, selected: &Rc<Selected>, room: u32) {
    let (layout, stir, scrolled) = (Rc::clone(&props.layout), props.stir.clone(), props.scene.scrolled);
    let model = props.model.clone();
    let place = selected.as_ref().as_ref().map(|(place, _)| *place);
    let row = place.and_then(|place| layout.row_of(place));
    let folded = place.is_some() && row.is_none();
    use_effect_with((props.selection.clone(), place, folded, room), move |(_, place, _, _)| {
        let Some(place) = *place else { return };
        match row {
            Some(row) if row.top < scrolled || row.top + row.height > scrolled + room => {
                stir.emit(Stir::Scroll((row.top + row.height / 2).saturating_sub(room / 2)));
            }
            Some(_) => {}
            // Pinned, or in a folded group.
            None => stir.emit(Stir::Unfold(Group::of(model.0.tracks.list.get(place).kind))),
        }
    });
}

/// The scroll bar follows.
#[hook]
fn use_bar(bar: &NodeRef, scrolled: u32) {
    let bar = bar.clone();
    use_effect_with(scrolled, move |&scrolled| {
        if let Some(bar) = bar.cast::<Element>().filter(|bar| bar.scroll_top() != scrolled as i32) {
            bar.set_scroll_top(scrolled as i32);
        }
    });
}
