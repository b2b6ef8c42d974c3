//! Draws the timeline: axis, counters, bars and marks, each row from what is seen of its track.

use std::ops::Range;

use tierscope_worker::protocol::{SpanKind, Track};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::brush::Brush;
use super::look;
use crate::chart::palette::Palette;
use crate::chart::tracks::layout::{Layout, Row, Shows};
use crate::chart::tracks::lod::{self, Bar};
use crate::chart::tracks::model::Model;
use crate::chart::tracks::ticks::ticks;
use crate::chart::tracks::view::View;
use crate::chart::tracks::{counter, pick};

/// Height of the time axis.
pub(super) const AXIS_PX: f64 = 18.0;
/// Room above and below the bars of a row.
const GAP_PX: f64 = 2.0;

/// Everything that one picture shows.
pub(super) struct Picture<'a> {
    pub(super) model: &'a Model,
    pub(super) layout: &'a Layout,
    pub(super) view: View,
    pub(super) scrolled: u32,
    /// The track of what is picked out, and its spans.
    pub(super) selected: Option<(usize, Range<usize>)>,
    /// Blocks in G1.
    pub(super) capacity: u32,
    pub(super) palette: &'a Palette,
    pub(super) size: (u32, u32),
    /// Device pixels for each pixel of the layout.
    pub(super) ratio: f64,
}

/// Draws the picture.
pub(super) fn paint(canvas: &HtmlCanvasElement, picture: &Picture<'_>) {
    let (width, height) = (f64::from(picture.size.0), f64::from(picture.size.1));
    let device = |px: f64| (px * picture.ratio).round() as u32;
    // Setting a size clears the canvas and takes memory anew: only where it changed.
    if (canvas.width(), canvas.height()) != (device(width), device(height)) {
        canvas.set_width(device(width));
        canvas.set_height(device(height));
    }
    let Some(context) = context(canvas) else { return };
    let _ = context.set_transform(picture.ratio, 0.0, 0.0, picture.ratio, 0.0, 0.0);
    let mut brush = Brush::new(&context, picture.palette);
    brush.fill(&picture.palette.surface, [0.0, 0.0, width, height]);
    axis(&mut brush, picture, width, height);
    let mut bars = Vec::new();
    for row in &picture.layout.pinned {
        draw(&mut brush, picture, row, AXIS_PX + f64::from(row.top), &mut bars);
    }
    brush.flush();
    let top = AXIS_PX + f64::from(picture.layout.pinned_height);
    brush.clip([0.0, top, width, (height - top).max(0.0)]);
    let seen = picture.layout.seen(picture.scrolled, picture.scrolled + height as u32);
    for row in seen {
        draw(&mut brush, picture, row, top + f64::from(row.top) - f64::from(picture.scrolled), &mut bars);
    }
    brush.flush();
    context.restore();
    if picture.layout.pinned_height > 0 {
        brush.line(&picture.palette.still, [0.0, top - 0.5], [width, top - 0.5]);
    }
}

fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

fn axis(brush: &mut Brush<'_>, picture: &Picture<'_>, width: f64, height: f64) {
    brush.fill(&picture.palette.raised, [0.0, 0.0, width, AXIS_PX]);
    for tick in ticks(picture.view, width) {
        let x = tick.px.floor() + 0.5;
        brush.line(&picture.palette.line, [x, 0.0], [x, height]);
        if tick.px < width - 24.0 {
            brush.text(&tick.label, [x + 4.0, AXIS_PX / 2.0 + 0.5], &picture.palette.ink);
        }
    }
    brush.line(&picture.palette.line, [0.0, AXIS_PX - 0.5], [width, AXIS_PX - 0.5]);
}

fn draw(brush: &mut Brush<'_>, picture: &Picture<'_>, row: &Row, top: f64, bars: &mut Vec<Bar>) {
    let (width, height) = (f64::from(picture.size.0), f64::from(row.height));
    let place = match row.shows {
        Shows::Header(..) => {
            brush.fill(&picture.palette.raised, [0.0, top, width, height]);
            return;
        }
        Shows::Track(place) => place as usize,
    };
    let track = picture.model.tracks.list.get(place);
    let selected = picture.selected.as_ref().filter(|(whose, _)| *whose == place);
    if selected.is_some() {
        brush.tint(&picture.palette.accent, [0.0, top, width, height]);
    }
    let bottom = top + height - 0.5;
    brush.line(&picture.palette.line, [0.0, bottom], [width, bottom]);
    if track.kind.is_counter() {
        levels(brush, picture, track, [top, height]);
        return;
    }
    bars.clear();
    let scale = (picture.view, width);
    lod::bars(&picture.model.tracks.spans, &picture.model.pyramid, track.range(), scale, bars);
    for bar in bars.iter() {
        brush.bar(bar, top + GAP_PX, height - 2.0 * GAP_PX - 1.0);
    }
    if let Some((_, spans)) = selected.filter(|(_, spans)| spans.len() < track.count as usize) {
        outline(brush, picture, spans.clone(), [top, height]);
    }
}

/// A frame around the spans that are picked out among others of their track.
fn outline(brush: &mut Brush<'_>, picture: &Picture<'_>, spans: Range<usize>, [top, height]: [f64; 2]) {
    let width = f64::from(picture.size.0);
    let seen = pick::within(&picture.model.tracks.spans, spans, picture.view.from_ns, picture.view.to_ns);
    if let (Some(first), Some(last)) = (seen.clone().next(), seen.last()) {
        let from = picture.view.px(picture.model.tracks.spans.start_ns(first), width).max(-2.0);
        let to = picture.view.px(picture.model.tracks.spans.end_ns(last), width).min(width + 2.0);
        brush.frame(&picture.palette.mark, [from - 1.0, top + 1.0, (to - from).max(2.0) + 2.0, height - 3.0]);
    }
}

/// A counter: its two counts on top of each other.
fn levels(brush: &mut Brush<'_>, picture: &Picture<'_>, track: Track, [top, height]: [f64; 2]) {
    use tierscope_worker::protocol::TrackKind::{Blocks, Queues};
    let width = f64::from(picture.size.0);
    let points = &picture.model.tracks.points;
    let (_, both) = counter::most(points, track.range());
    let full = if track.kind == Blocks { both.max(picture.capacity.into()) } else { both };
    let levels = counter::levels(points, track.range(), (picture.view, width));
    let room = height - 2.0 * GAP_PX - 1.0;
    let end = picture.view.px(picture.model.tracks.end_ns, width).clamp(0.0, width);
    let palette = picture.palette;
    let [lower, upper] = match track.kind {
        Queues => [palette.queues[0], palette.queues[1]],
        _ => [palette.states[2], palette.states[4]],
    };
    let y = |count: u64| top + GAP_PX + room * (1.0 - count as f64 / full.max(1) as f64);
    let heights = |of: fn([u32; 2]) -> u64| levels.iter().map(move |level| (level.px, y(of(level.counts))));
    brush.area(&upper, heights(|[a, b]| u64::from(a) + u64::from(b)), [end, y(0)]);
    brush.area(&lower, heights(|[a, _]| a.into()), [end, y(0)]);
}

/// Whether a bar of this kind has a word on it or above it, when it is so wide.
pub(super) fn has_word(kind: SpanKind, width: f64, word: &str) -> bool {
    look::has_words(kind) && width > word.len() as f64 * 5.4 + 8.0
}
