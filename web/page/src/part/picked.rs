//! The thing that is picked out: what it is, why it waits, and its story. Whatever is named is a button that picks that
//! out in turn; times are buttons that move the cursor there.

mod block;
mod request;
mod transfer;
mod worker;

use std::rc::Rc;

use tierscope_worker::protocol::{Told, Transaction};
use yew::prelude::*;

use crate::glue::dom;
use crate::state::format;
use crate::state::picked::{Picked as Answer, Piece, name};
use crate::state::selection::Selection;

/// What the user does here.
#[derive(Clone, PartialEq)]
pub(crate) struct Hands {
    /// Picks something else out, or nothing any more.
    pub(crate) on_select: Callback<Option<Selection>>,
    /// Moves the cursor.
    pub(crate) on_move: Callback<f64>,
    /// Goes to a transaction.
    pub(crate) on_txn: Callback<Transaction>,
}

#[derive(Properties, PartialEq)]
pub(crate) struct PickedProps {
    pub(crate) selection: Selection,
    pub(crate) answer: Option<Answer>,
    /// Whether a run has ended: before, nothing is told.
    pub(crate) ended: bool,
    pub(crate) end_ns: f64,
    pub(crate) hands: Hands,
}

/// Its parts draw with these.
struct View<'a> {
    at_ns: f64,
    end_ns: f64,
    hands: &'a Hands,
}

#[component]
pub(crate) fn Picked(props: &PickedProps) -> Html {
    // What was picked out elsewhere comes into view.
    use_effect_with(props.selection.clone(), |_| dom::show("picked"));
    use_effect_with(props.answer.clone(), |_| {
        dom::show_current("#picked-story");
        dom::show_current("#picked-life");
    });
    let hands = &props.hands;
    let close = hands.on_select.reform(|_: MouseEvent| None);
    let answer = props.answer.as_ref().filter(|answer| answer.about == props.selection);
    html! {
        <section class="picked" id="picked" aria-label={format!("Selected: {}", name(&props.selection))}>
            <div class="picked__head">
                <h2 id="picked-name">{ title(&props.selection) }</h2>
                <button type="button" id="picked-close" class="button button--small" onclick={close}
                    title="Clear the selection (Esc)">{ "Clear" }</button>
            </div>
            if let Some(answer) = answer {
                { told(&answer.told, &View { at_ns: answer.at_ns, end_ns: props.end_ns, hands }) }
            } else {
                <p class="empty">{ if props.ended { "Looking it up…" } else { "It is told of when the run has ended." } }</p>
            }
        </section>
    }
}

fn title(selection: &Selection) -> Html {
    match selection {
        Selection::Block(hash) => html! { <>{ "Block " }<code>{ format!("{hash:016x}") }</code></> },
        other => {
            let name = name(other);
            let (first, rest) = name.split_at(1);
            html! { { format!("{}{rest}", first.to_uppercase()) } }
        }
    }
}

fn told(told: &Rc<Told>, view: &View<'_>) -> Html {
    match &**told {
        Told::Request(told) => request::request(told, view),
        Told::Block(told) => block::block(told, view),
        Told::Transfer(told) => transfer::transfer(told, view),
        Told::Worker(told) => worker::worker(told, view),
        Told::Unknown => html! {
            <p class="empty" id="picked-unknown">{ "This run has no such thing, or it is too long ago to be kept." }</p>
        },
    }
}

impl View<'_> {
    /// A sentence whose names are buttons.
    fn sentence(&self, pieces: &[Piece]) -> Html {
        pieces.iter().map(|piece| self.piece(piece)).collect()
    }

    fn piece(&self, piece: &Piece) -> Html {
        match piece {
            Piece::Text(text) => html! { { text.clone() } },
            Piece::Pick(selection) => pick(&self.hands.on_select, selection.clone()),
        }
    }

    /// A time that moves the cursor.
    fn time(&self, at_ns: f64) -> Html {
        let onclick = self.hands.on_move.reform(move |_: MouseEvent| at_ns);
        let later = if at_ns > self.at_ns { "picked__time picked__time--later" } else { "picked__time" };
        html! {
            <button type="button" class={later} {onclick} title="Move the cursor here">
                { format::clock(at_ns, self.end_ns) }
            </button>
        }
    }

    /// Several things, as buttons with spaces between.
    fn names(&self, names: impl IntoIterator<Item = Selection>) -> Html {
        let one = |name: Selection| html! { <>{ pick(&self.hands.on_select, name) }{ " " }</> };
        names.into_iter().map(one).collect()
    }
}

/// The name of a thing, as a button that picks it out.
pub(crate) fn pick(on_select: &Callback<Option<Selection>>, selection: Selection) -> Html {
    let (name, word) = (name(&selection), selection.to_string());
    let onclick = on_select.reform(move |_: MouseEvent| Some(selection.clone()));
    html! {
        <button type="button" class="pick" data-pick={word} {onclick}>{ name }</button>
    }
}

/// A list of names and values.
fn facts(lines: Vec<(&'static str, Html)>) -> Html {
    html! {
        <dl class="picked__facts">
            for (name, value) in lines {
                <div><dt>{ name }</dt><dd>{ value }</dd></div>
            }
        </dl>
    }
}
