//! A word with its meaning: shown while it is pointed at or has the focus, heard as its description.

use web_sys::{DomRect, HtmlElement};
use yew::prelude::*;

use crate::glue::dom;
use crate::state::glossary;

#[derive(Properties, PartialEq)]
pub(crate) struct TermProps {
    /// The word's key in the glossary.
    pub(crate) word: &'static str,
    /// Where it stands: a word may stand in several places.
    pub(crate) place: &'static str,
    /// How it is written here; else as the glossary does.
    #[prop_or_default]
    pub(crate) text: Option<AttrValue>,
}

#[component]
pub(crate) fn Term(props: &TermProps) -> Html {
    let button = use_node_ref();
    // Where the tip stands while it is seen: fixed, since what scrolls would cut it.
    let seen = use_state_eq(|| None::<(i32, i32)>);
    let Some(word) = glossary::word(props.word) else { return html!() };
    let show = {
        let (seen, button) = (seen.clone(), button.clone());
        Callback::from(move |()| {
            if let Some(element) = button.cast::<HtmlElement>() {
                seen.set(Some(below(&element.get_bounding_client_rect())));
            }
        })
    };
    let hide = {
        let seen = seen.clone();
        Callback::from(move |()| seen.set(None))
    };
    let onkeydown = {
        let seen = seen.clone();
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Escape" && seen.is_some() {
                event.prevent_default();
                seen.set(None);
            }
        })
    };
    let id = format!("term-{}-{}", props.place, word.key);
    let text = props.text.clone().unwrap_or(AttrValue::Static(word.word));
    html! {
        <>
            <button type="button" class="term" ref={button} aria-description={word.meaning} data-term={id.clone()}
                onfocus={show.reform(|_: FocusEvent| ())} onclick={show.reform(|_: MouseEvent| ())}
                onpointerenter={show.reform(|_: PointerEvent| ())}
                onblur={hide.reform(|_: FocusEvent| ())} onpointerleave={hide.reform(|_: PointerEvent| ())}
                {onkeydown}>{ text }</button>
            if let Some((x, y)) = *seen {
                <span class="term__tip" {id} style={format!("--x:{x}px;--y:{y}px")} aria-hidden="true">{ word.meaning }</span>
            }
        </>
    }
}

/// The left and the top of a tip below a word, within the window.
fn below(word: &DomRect) -> (i32, i32) {
    const WIDTH_PX: f64 = 240.0;
    let left = word.left().min(dom::window_size().0 - WIDTH_PX - 12.0).max(8.0);
    (left as i32, word.bottom() as i32 + 4)
}
