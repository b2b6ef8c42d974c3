//! The lanes beside a tier, each as a strip: what is queued, what moves and how far it is at the cursor, how much of the
//! link is in use, and every phase in numbers.

use std::rc::Rc;

use tierscope_worker::protocol::{Board, CopyView, LaneView, TierName};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};
use yew::prelude::*;

use crate::chart::lane::{Kind, Mark, Strip};
use crate::chart::palette::Palette;
use crate::glue::dom::{self, use_size};
use crate::state::format::{count, counted, percent};
use crate::state::selection::Selection;
use crate::state::{moves, picked};

/// What all lanes are drawn with.
#[derive(Clone, PartialEq)]
pub(crate) struct Moving {
    /// The cursor: marks move with it, board by board or not.
    pub(crate) cursor_ns: f64,
    /// Nothing moves by itself.
    pub(crate) still: bool,
    pub(crate) palette: Palette,
    pub(crate) selection: Option<Selection>,
    pub(crate) on_select: Callback<Option<Selection>>,
}

/// The lanes that join `tier` to the tier above it.
pub(crate) fn lanes(board: &Rc<Board>, tier: TierName, moving: &Moving) -> Html {
    let beside = (0..board.lanes.len()).filter(|&place| {
        let lane = &board.lanes[place];
        lane.from.max(lane.to) == tier
    });
    html! {
        <ul class="lanes" aria-label={format!("Lanes beside {}", tier.as_str())}>
            for place in beside {
                <Lane key={place} board={Rc::clone(board)} {place} moving={moving.clone()} />
            }
        </ul>
    }
}

#[derive(Properties, PartialEq)]
struct LaneProps {
    board: Rc<Board>,
    /// Which of the board's lanes.
    place: usize,
    moving: Moving,
}

#[component]
fn Lane(props: &LaneProps) -> Html {
    let room = use_node_ref();
    let canvas = use_node_ref();
    let size = use_size(&room);
    let (board, moving) = (&props.board, &props.moving);
    let strip = Strip { width_px: f64::from(size.0) };
    let lane = board.lanes.get(props.place).copied();
    let marks = lane.map_or(Vec::new(), |lane| {
        strip.marks(&lane, &board.copies, board.at_ns, moving.cursor_ns, moving.still)
    });
    let chosen = match moving.selection {
        Some(Selection::Transfer(number)) => Some(number as f64),
        _ => None,
    };
    use_effect_with((marks.clone(), lane.map(|lane| lane.rate), moving.palette, *size, chosen), {
        let canvas = canvas.clone();
        move |(marks, _, palette, size, chosen)| {
            if let (Some(canvas), Some(lane)) = (canvas.cast::<HtmlCanvasElement>(), lane) {
                paint(&canvas, strip, marks, &lane, palette, *size, *chosen);
            }
        }
    });
    let Some(lane) = lane else { return html!() };
    let onclick = {
        let on_select = moving.on_select.clone();
        Callback::from(move |event: MouseEvent| {
            if let Some(transfer) = Strip::mark_at(&marks, f64::from(event.offset_x())) {
                on_select.emit(Some(picked::transfer(transfer)));
            }
        })
    };
    let key = format!("{}-{}", lane.from.as_str(), lane.to.as_str());
    let busy = if lane.in_flight > 0 { "lane lane--busy" } else { "lane" };
    html! {
        <li class={busy} data-lane={key}>
            <span class="lane__name">{ moves::lane(lane.from, lane.to) }</span>
            <span class="lane__room" ref={room}>
                <canvas ref={canvas} class="lane__strip" role="img" aria-label={heard(board, &lane, moving.cursor_ns)} {onclick} />
            </span>
            { counts(&lane, board.at_ns) }
        </li>
    }
}

/// Every phase; those without a batch are heard, not seen, and what is done is seen while nothing goes on.
fn counts(lane: &LaneView, at_ns: f64) -> Html {
    let quiet = lane.queued + lane.starting + lane.in_flight + lane.settling == 0;
    let phase = |what, n: u32, word| number(what, n.into(), word, n > 0);
    let (share, limit) = moves::link_use(lane);
    html! {
        <span class="lane__counts" title={in_full(lane, at_ns)}>
            { phase("queued", lane.queued, "queued") }
            { phase("starting", lane.starting, "starting") }
            { phase("moving", lane.in_flight, "moving") }
            { phase("settling", lane.settling, "settling") }
            { number("completed", lane.completed as u64, "done", quiet) }
            if lane.failed > 0.0 {
                <span class="lane__failed">{ number("failed", lane.failed as u64, "failed", true) }</span>
            }
            <span class="lane__use" data-count="use">{ share }<span class="lane__limit">{ limit }</span></span>
        </span>
    }
}

fn number(what: &'static str, n: u64, word: &'static str, seen: bool) -> Html {
    let class = if seen { "" } else { "visually-hidden" };
    html! {
        <span {class}><b data-count={what}>{ count(n) }</b>{ format!(" {word}") }</span>
    }
}

/// Every phase, for those who point at the lane.
fn in_full(lane: &LaneView, at_ns: f64) -> String {
    format!(
        "{} queued, {} starting, {} in flight ({}), {} settling, of {} at once; {} completed, {} failed, {} cancelled; \
         {} moved, its link in use {} of the time so far, {}/s at most",
        lane.queued,
        lane.starting,
        lane.in_flight,
        counted(lane.moving_blocks, "block", "blocks"),
        lane.settling,
        lane.permits,
        count(lane.completed as u64),
        count(lane.failed as u64),
        count(lane.cancelled as u64),
        moves::bytes(lane.moved_bytes),
        percent(lane.busy_ns / at_ns.max(1.0)),
        moves::bytes(lane.limit_bytes_per_s)
    )
}

/// The strip in words: which batches are under way, and how far.
fn heard(board: &Board, lane: &LaneView, cursor_ns: f64) -> String {
    const NAMED: usize = 4;
    let own = |copy: &&CopyView| (copy.from, copy.to) == (lane.from, lane.to) && copy.is_moving(board.at_ns);
    let moving: Vec<String> = board
        .copies
        .iter()
        .filter(own)
        .take(NAMED)
        .map(|copy| match copy.progress(cursor_ns) {
            Some(share) => format!("transfer {} at {:.0} %", copy.transfer, share * 100.0),
            None => format!("transfer {}", copy.transfer),
        })
        .collect();
    let name = format!("{} to {}", lane.from.as_str(), lane.to.as_str());
    if moving.is_empty() {
        format!("{name}: nothing in flight")
    } else {
        format!("{name}: {}", moving.join(", "))
    }
}

fn paint(
    canvas: &HtmlCanvasElement,
    strip: Strip,
    marks: &[Mark],
    lane: &LaneView,
    palette: &Palette,
    (width, height): (u32, u32),
    chosen: Option<f64>,
) {
    let ratio = dom::window().device_pixel_ratio();
    canvas.set_width((f64::from(width) * ratio) as u32);
    canvas.set_height((f64::from(height) * ratio) as u32);
    let context = canvas.get_context("2d").ok().flatten();
    let Some(context) = context.and_then(|context| context.dyn_into::<CanvasRenderingContext2d>().ok())
    else {
        return;
    };
    let _ = context.scale(ratio, ratio);
    let (from, to, middle) = (strip.from_px(), strip.to_px(), f64::from(height) / 2.0);
    // The link: its whole width is what it can carry, the filled part what is carried now.
    context.set_fill_style_str(&palette.line.css());
    context.fill_rect(from, middle - 2.0, to - from, 4.0);
    let moving = palette.state(tierscope_worker::protocol::BlockState::SourceHold).css();
    if let Some(rate) = lane.rate {
        context.set_fill_style_str(&moving);
        context.set_global_alpha(0.55);
        context.fill_rect(from, middle - 2.0, (to - from) * rate.share.clamp(0.0, 1.0), 4.0);
        context.set_global_alpha(1.0);
    }
    // Which way.
    context.set_fill_style_str(&palette.ink.css());
    context.begin_path();
    context.move_to(to + 1.0, middle - 4.0);
    context.line_to(to + 8.0, middle);
    context.line_to(to + 1.0, middle + 4.0);
    context.fill();
    for mark in marks {
        batch(&context, mark, middle, palette, &moving);
        if chosen == Some(mark.transfer) {
            context.set_stroke_style_str(&palette.mark.css());
            context.set_line_width(1.5);
            context.stroke_rect(mark.x_px - 2.0, middle - 7.0, mark.width_px + 4.0, 14.0);
        }
    }
}

fn batch(context: &CanvasRenderingContext2d, mark: &Mark, middle: f64, palette: &Palette, moving: &str) {
    let tall = if mark.kind == Kind::Queued { 8.0 } else { 10.0 };
    let (x, y) = (mark.x_px, middle - tall / 2.0);
    context.begin_path();
    if context.round_rect_with_f64(x, y, mark.width_px, tall, 2.0).is_err() {
        context.rect(x, y, mark.width_px, tall);
    }
    context.set_line_width(1.0);
    match mark.kind {
        Kind::Queued | Kind::Unknown => {
            context.set_fill_style_str(&palette.surface.css());
            context.fill();
            context.set_stroke_style_str(moving);
            context.stroke();
            if mark.kind == Kind::Unknown {
                context.set_fill_style_str(moving);
                context.fill_rect(x + mark.width_px / 2.0 - 1.5, middle - 1.5, 3.0, 3.0);
            }
        }
        Kind::Flying | Kind::Landed => {
            context.set_fill_style_str(moving);
            context.fill();
            context.set_stroke_style_str(&palette.surface.css());
            context.stroke();
        }
    }
}
