//! What is told below the tracks: a span's numbers, an instant's facts, answers, or the tracks as a table.

use std::rc::Rc;

use yew::prelude::*;

use super::search::place;
use crate::chart::tracks::layout::Layout;
use crate::chart::tracks::model::Shared;
use crate::chart::tracks::summary::{self, Summary};
use crate::chart::tracks::view::View;
use crate::state::known::{Answer, Drawer, Facts};
use crate::state::track_words::{exact, name, sentence};
use crate::state::{Action, format};

#[derive(Properties, PartialEq)]
pub(super) struct DrawerProps {
    pub(super) drawer: Drawer,
    pub(super) model: Shared,
    pub(super) layout: Rc<Layout>,
    pub(super) view: View,
    pub(super) scrolled: u32,
    pub(super) span: Option<(f64, f64)>,
    pub(super) several: bool,
    pub(super) answer: Option<Answer>,
    pub(super) facts: Facts,
    pub(super) playing: bool,
    pub(super) end_ns: f64,
    pub(super) act: Callback<Action>,
    pub(super) on_zoom: Callback<()>,
}

/// Most rows of the table.
const ROWS_MAX: usize = 300;

#[component]
pub(super) fn DrawerView(props: &DrawerProps) -> Html {
    let (title, more, body) = match props.drawer {
        Drawer::Span => span(props),
        Drawer::Facts => facts(props),
        Drawer::Hits => hits(props),
        Drawer::Table => table(props),
    };
    html! {
        <section class="drawer" id="drawer" aria-label={title.clone()}>
            <header class="drawer__head">
                <h3>{ title }</h3>
                { more }
                <button type="button" class="drawer__close" id="drawer-close" aria-label="Close" title="Close"
                    onclick={props.act.reform(|_: MouseEvent| Action::ShowDrawer(None))}>{ "✕" }</button>
            </header>
            <div class="drawer__body" tabindex="0">{ body }</div>
        </section>
    }
}

type Told = (String, Html, Html);

fn span(props: &DrawerProps) -> Told {
    let Some((from, to)) = props.span else {
        let hint = html! { <p class="empty">{ "Drag over the tracks to select a span of time." }</p> };
        return ("No span".to_owned(), html!(), hint);
    };
    let Summary { passes, begun, ended, preempted, moved } = summary::summary(&props.model.0, from, to);
    let title = format!("{} selected", format::time(to - from));
    let zoom = html! {
        <button type="button" class="drawer__tool" id="span-zoom" onclick={props.on_zoom.reform(|_: MouseEvent| ())}>{ "Zoom to it (f)" }</button>
    };
    let item = |what: &'static str, number: u64| {
        html! {
            <div><dt>{ what }</dt><dd>{ format::count(number) }</dd></div>
        }
    };
    let body = html! {
        <>
            <p class="drawer__when">{ format!("{} to {}: {}", exact(from), exact(to), exact(to - from)) }</p>
            <dl class="drawer__numbers" id="span-summary">
                { item("passes ended", passes) }
                { item("requests begun", begun) }
                { item("requests ended", ended) }
                { item("preemptions", preempted) }
                for (from, to, blocks) in moved {
                    <div><dt>{ format!("blocks moved {from} → {to}") }</dt><dd>{ format::count(blocks) }</dd></div>
                }
            </dl>
        </>
    };
    (title, zoom, body)
}

fn facts(props: &DrawerProps) -> Told {
    let wait = |words: &str| html! { <p class="empty">{ words }</p> };
    if props.playing {
        return ("At this instant".to_owned(), html!(), wait("Pause to see the facts of the instant."));
    }
    let Some(instant) = &props.facts.instant else {
        return ("At this instant".to_owned(), html!(), wait("Repeating the instant…"));
    };
    let title = format!("At {}: the facts in their order", exact(instant.at_ns));
    let shown = instant.facts.len();
    let where_ = html! {
        <output class="drawer__place" id="fact-place">
            { if shown == 0 { "none".to_owned() } else { format!("{} of {}", props.facts.place + 1, format::count(instant.total.into())) } }
        </output>
    };
    let body = html! {
        <>
            <p class="drawer__note">{ "The machine…  The board shows the end of the instant. < and > step." }</p>
            <ol class="drawer__list" id="facts">
                for (place, words) in instant.facts.iter().enumerate() {
                    <li key={place} class={(place == props.facts.place).then_some("drawer__chosen")}
                        aria-current={(place == props.facts.place).then_some("step")}>
                        <button type="button" onclick={props.act.reform(move |_: MouseEvent| Action::TellFact(place))}>{ words }</button>
                    </li>
                }
            </ol>
            if instant.total as usize > shown {
                <p class="drawer__note">{ format!("and {} more", format::count(u64::from(instant.total) - shown as u64)) }</p>
            }
        </>
    };
    (title, where_, body)
}

fn hits(props: &DrawerProps) -> Told {
    let Some(answer) = &props.answer else { return ("Nothing was asked".to_owned(), html!(), html!()) };
    let hits = &answer.hits;
    if !hits.understood {
        let body = html! {
            <div id="search-help">
                <p>{ format!("“{}” is not understood. What can be asked:", answer.query) }</p>
                <p class="drawer__note">
                    <code>{ "request 17" }</code>{ ", " }<code>{ "outcome:blocked" }</code>{ " (or exhausted, ready, retried), " }
                    <code>{ "outcome:exhausted request 3" }</code>{ ", " }<code>{ "preempted" }</code>{ ", " }<code>{ "cancelled" }</code>{ ", " }
                    <code>{ "failed" }</code>{ ", " }<code>{ "transfer 5" }</code>{ ", " }<code>{ "worker 2" }</code>
                    { ", or a block's hash: its 16 hex digits, or the first few." }
                </p>
            </div>
        };
        return ("Search".to_owned(), html!(), body);
    }
    let title = format!("{} for “{}”", format::counted(hits.total, "answer", "answers"), answer.query);
    let where_ = html! { <output class="drawer__place">{ place(answer) }</output> };
    let rest = u64::from(hits.total) - hits.hits.len() as u64;
    let body = html! {
        <>
            if hits.total == 0 {
                <p class="empty" id="search-none">{ "Nothing of the kind happened in this run." }</p>
            }
            <ol class="drawer__list" id="hits">
                for (at, hit) in hits.hits.iter().enumerate() {
                    <li key={at} class={(answer.chosen == Some(at)).then_some("drawer__chosen")}
                        aria-current={(answer.chosen == Some(at)).then_some("true")}>
                        <button type="button" onclick={props.act.reform(move |_: MouseEvent| Action::PickHit(at))}>
                            <time>{ format::clock(hit.at_ns, props.end_ns) }</time>{ &hit.words }
                        </button>
                    </li>
                }
            </ol>
            if rest > 0 {
                <p class="drawer__note">{ format!("and {} more, later", format::count(rest)) }</p>
            }
            if let Some(caveat) = &hits.caveat {
                <p class="drawer__note">{ caveat }</p>
            }
        </>
    };
    (title, where_, body)
}

fn table(props: &DrawerProps) -> Told {
    let model = &props.model.0;
    let view = (props.view.from_ns, props.view.to_ns);
    let listed = summary::listed(model, &props.layout, props.scrolled, view, ROWS_MAX);
    let seen = view.1.min(props.end_ns);
    let title = format!("From {} to {}", exact(view.0.round()), exact(seen.round()));
    let row = |(place, span): &(u32, u32)| {
        let track = model.tracks.list.get(*place as usize);
        let found = model.tracks.spans.get(*span as usize);
        html! {
            <tr key={*span}>
                <th scope="row">{ name(track, props.several) }</th>
                <td>{ sentence(track, found, model.transfer(track, *span as usize)) }</td>
                <td>{ exact(found.start_ns) }</td>
                <td>{ exact(found.end_ns) }</td>
                <td>{ exact(found.end_ns - found.start_ns) }</td>
            </tr>
        }
    };
    let body = html! {
        <>
            <table class="table drawer__table" id="tracks-table">
                <caption class="visually-hidden">{ "What the tracks show in the visible span" }</caption>
                <thead>
                    <tr>
                        for head in ["Track", "What", "From", "To", "Length"] {
                            <th scope="col">{ head }</th>
                        }
                    </tr>
                </thead>
                <tbody>
                    for one in &listed.rows {
                        { row(one) }
                    }
                </tbody>
            </table>
            if listed.rest > 0 {
                <p class="drawer__note" id="tracks-rest">{ format!("and {} more in this span: zoom in to list them", format::count(listed.rest)) }</p>
            }
        </>
    };
    (title, html!(), body)
}
