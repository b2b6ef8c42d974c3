//! What lies under the pointer, in words with exact times.

use yew::prelude::*;

use super::paint::AXIS_PX;
use crate::chart::tracks::counter;
use crate::chart::tracks::layout::{Layout, Shows};
use crate::chart::tracks::model::Model;
use crate::chart::tracks::pick;
use crate::chart::tracks::view::View;
use crate::state::track_words::{counts, exact, name, sentence};

/// A place on the picture.
pub(super) type Spot = (f64, f64);

/// The track under a spot.
pub(super) fn track_at(layout: &Layout, (_, y): Spot, scrolled: u32) -> Option<usize> {
    match layout.row_at(y - AXIS_PX, scrolled)?.shows {
        Shows::Track(place) => Some(place as usize),
        Shows::Header(..) => None,
    }
}

/// The track and the span under a spot.
pub(super) fn span_at(
    model: &Model,
    layout: &Layout,
    spot: Spot,
    (view, scrolled, width): (View, u32, f64),
) -> Option<(usize, usize)> {
    let place = track_at(layout, spot, scrolled)?;
    let track = model.tracks.list.get(place);
    if track.kind.is_counter() {
        return None;
    }
    let span = pick::span_at(&model.tracks.spans, track.range(), spot.0, (view, width))?;
    Some((place, span))
}

/// The words under a spot: what, and when.
pub(super) fn tip(
    model: &Model,
    layout: &Layout,
    spot: Spot,
    (view, scrolled, (width, height)): (View, u32, (f64, f64)),
    several: bool,
) -> Html {
    let Some(place) = track_at(layout, spot, scrolled) else { return html!() };
    let track = model.tracks.list.get(place);
    let (title, lines) = if track.kind.is_counter() {
        let ns = view.ns(spot.0, width).round();
        let Some(now) = counter::at(&model.tracks.points, track.range(), ns) else { return html!() };
        (name(track, several), vec![counts(track.kind, now), format!("at {}", exact(ns))])
    } else {
        let Some((_, span)) = span_at(model, layout, spot, (view, scrolled, width)) else { return html!() };
        let found = model.tracks.spans.get(span);
        let what = sentence(track, found, model.transfer(track, span));
        let when = if found.kind.is_mark() {
            vec![format!("at {}", exact(found.start_ns))]
        } else {
            let until = if found.open { ", where the run ends" } else { "" };
            vec![
                format!("{} to {}{until}", exact(found.start_ns), exact(found.end_ns)),
                format!("for {}", exact(found.end_ns - found.start_ns)),
            ]
        };
        (format!("{}: {what}", name(track, several)), when)
    };
    let side = if spot.0 > width * 0.55 { "tracks__tip tracks__tip--left" } else { "tracks__tip" };
    let up = if spot.1 > height * 0.55 { "tracks__tip--up" } else { "" };
    html! {
        <div class={classes!(side, up)} style={format!("--x:{:.0}px;--y:{:.0}px", spot.0, spot.1)} aria-hidden="true">
            <strong>{ title }</strong>
            for line in lines {
                <span>{ line }</span>
            }
        </div>
    }
}
