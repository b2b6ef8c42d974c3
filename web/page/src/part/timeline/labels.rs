//! The names of the rows: headers fold their group, and each track can be pinned.

use std::rc::Rc;

use tierscope_worker::protocol::{Track, TrackKind};
use yew::prelude::*;

use super::paint::AXIS_PX;
use crate::chart::tracks::counter;
use crate::chart::tracks::layout::{Group, Layout, Row, Shows, TrackId};
use crate::chart::tracks::model::Shared;
use crate::state::format;
use crate::state::scene::Stir;
use crate::state::selection::Selection;
use crate::state::track_words::{counts, label, name};

#[derive(Properties, PartialEq)]
pub(super) struct LabelsProps {
    pub(super) model: Shared,
    pub(super) layout: Rc<Layout>,
    pub(super) scrolled: u32,
    pub(super) height: u32,
    /// Whether there are several workers.
    pub(super) several: bool,
    pub(super) folded: Rc<[Group]>,
    /// The place of the track that is picked out.
    pub(super) selected: Option<usize>,
    pub(super) cursor_ns: f64,
    pub(super) stir: Callback<Stir>,
    pub(super) on_select: Callback<Selection>,
}

#[component]
pub(super) fn Labels(props: &LabelsProps) -> Html {
    let top = AXIS_PX as u32 + props.layout.pinned_height;
    let seen = props.layout.seen(props.scrolled, props.scrolled + props.height.saturating_sub(top));
    html! {
        <>
            for row in &props.layout.pinned {
                { one(props, row, i64::from(row.top) + AXIS_PX as i64, true) }
            }
            <div class="tracks__below" style={format!("top:{top}px")}>
                for row in seen {
                    { one(props, row, i64::from(row.top) - i64::from(props.scrolled), false) }
                }
            </div>
        </>
    }
}

fn one(props: &LabelsProps, row: &Row, top: i64, pinned: bool) -> Html {
    let style = format!("top:{top}px;height:{}px", row.height);
    match row.shows {
        Shows::Header(group, tracks) => header(props, group, tracks, style),
        Shows::Track(place) => track(props, place as usize, style, pinned),
    }
}

fn header(props: &LabelsProps, group: Group, tracks: u32, style: String) -> Html {
    let open = !props.folded.contains(&group);
    html! {
        <button type="button" class="tracks__header" {style} key={group.name()} aria-expanded={open.to_string()}
            data-group={group.name()} onclick={props.stir.reform(move |_: MouseEvent| Stir::Fold(group))}>
            <svg class="tracks__chevron" viewBox="0 0 10 10" aria-hidden="true">
                <path d={if open { "M1.5 3l3.5 4 3.5-4z" } else { "M3 1.5l4 3.5-4 3.5z" }} />
            </svg>
            { group.name() }
            <span>{ format::count(tracks.into()) }</span>
        </button>
    }
}

fn track(props: &LabelsProps, place: usize, style: String, pinned: bool) -> Html {
    let model = &props.model.0;
    let track = model.tracks.list.get(place);
    let id = TrackId::of(track);
    let selected = props.selected == Some(place);
    let text = label(track, props.several);
    let pin = if pinned { format!("Unpin {text}") } else { format!("Pin {text} on top") };
    html! {
        <div class={classes!("tracks__label", pinned.then_some("tracks__label--pinned"), selected.then_some("tracks__label--chosen"))}
            {style} key={format!("{pinned} {place}")} title={name(track, props.several)} data-track={text.clone()}>
            { caption(props, track, text) }
            <button type="button" class="tracks__pin" aria-pressed={pinned.to_string()} aria-label={pin.clone()} title={pin}
                onclick={props.stir.reform(move |_: MouseEvent| Stir::Pin(id))}>
                <svg viewBox="0 0 12 12" aria-hidden="true"><path d="M4 1h4v1l-.6.6.4 2.9L9.5 7v.9H6.6V11h-1.2V7.9H2.5V7l1.7-1.5.4-2.9L4 2z" /></svg>
            </button>
        </div>
    }
}

fn caption(props: &LabelsProps, track: Track, text: String) -> Html {
    match track.kind {
        TrackKind::Request => {
            let selection = Selection::Request(track.number);
            html! {
                <button type="button" class="tracks__name"
                    onclick={props.on_select.reform(move |_: MouseEvent| selection.clone())}>{ text }</button>
            }
        }
        kind if kind.is_counter() => html! {
            <span class="tracks__counter">
                <span>{ text }</span>
                { counted(props, track) }
            </span>
        },
        _ => html! { <span class="tracks__name">{ text }</span> },
    }
}

/// The counts at the cursor; their colours are the key of the area beside them.
fn counted(props: &LabelsProps, track: Track) -> Html {
    let points = &props.model.0.tracks.points;
    let now = counter::at(points, track.range(), props.cursor_ns).unwrap_or([0, 0]);
    let [lower, upper] = match track.kind {
        TrackKind::Queues => ["swatch swatch--running", "swatch swatch--waiting"],
        _ => ["swatch swatch--active", "swatch swatch--cached-area"],
    };
    let number = |n: u32| format::count(n.into());
    html! {
        <span class="tracks__counts" title={counts(track.kind, now)}>
            if track.kind != TrackKind::Below {
                <i class={lower} />{ number(now[0]) }
            }
            <i class={upper} />{ number(now[1]) }
        </span>
    }
}
