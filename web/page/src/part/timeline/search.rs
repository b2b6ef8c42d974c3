//! The search box: a question in words, and the way through its answers.

use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::glue::dom;
use crate::state::format;
use crate::state::known::{Answer, next_hit};

#[derive(Properties, PartialEq)]
pub(super) struct SearchProps {
    pub(super) off: bool,
    pub(super) answer: Option<Answer>,
    /// A question.
    pub(super) on_ask: Callback<String>,
    /// The user goes to an answer.
    pub(super) on_pick: Callback<usize>,
}

#[component]
pub(super) fn Search(props: &SearchProps) -> Html {
    let (on_ask, on_pick, answer) = (props.on_ask.clone(), props.on_pick.clone(), props.answer.clone());
    let onkeydown = Callback::from(move |event: KeyboardEvent| {
        let input: HtmlInputElement = event.target_unchecked_into();
        let text = input.value().trim().to_owned();
        match event.key().as_str() {
            "Enter" if !text.is_empty() => {
                let same = answer.as_ref().filter(|answer| *answer.query == *text);
                match same.map(|answer| next_hit(answer, event.shift_key())) {
                    Some(Some(next)) => on_pick.emit(next),
                    Some(None) => {}
                    None => on_ask.emit(text),
                }
                event.prevent_default();
            }
            "Escape" => dom::focus("tracks-canvas"),
            _ => {}
        }
    });
    html! {
        <span class="search" role="search">
            <input id="search" class="input search__input" type="search" autocomplete="off" spellcheck="false"
                disabled={props.off} placeholder="Search  /" aria-label="Search the run"
                title="request 17, outcome:blocked, preempted, a block's hash, transfer 5, worker 2 (/)"
                {onkeydown} />
            if let Some(answer) = &props.answer {
                <output class="search__place" id="search-place">{ place(answer) }</output>
            }
        </span>
    }
}

/// `3 of 41`.
pub(super) fn place(answer: &Answer) -> String {
    let total = format::count(answer.hits.total.into());
    match answer.chosen {
        _ if answer.hits.total == 0 => "none".to_owned(),
        None => total,
        Some(at) => format!("{} of {total}", format::count(at as u64 + 1)),
    }
}
