//! The list of keys, and what the words mean.

use web_sys::HtmlDialogElement;
use yew::prelude::*;

use crate::state::glossary::WORDS;

const KEYS: &[(&str, &str)] = &[
    ("Space", "play or pause"),
    (",", "back to the previous instant"),
    (".", "on to the next instant"),
    ("[", "back to the previous transaction"),
    ("]", "on to the next transaction"),
    ("Home, End", "to the beginning, to the end"),
    ("← →", "move the time slider, when it has the focus"),
    ("Ctrl+Enter", "run the text, from within the editor"),
    ("W S", "zoom the timeline in and out, at the pointer; with Shift in larger steps (also the wheel)"),
    ("A D", "pan it; with Shift by most of what is seen (also Shift and the wheel)"),
    ("f", "fit the timeline to what is selected, and again to the whole run"),
    ("< >", "through the facts of the instant, and on to its neighbours"),
    ("/", "search: Enter for the next answer, Shift+Enter for the one before"),
    ("n, N", "to the next worker, to the previous one, where there are several"),
    ("Shift+F", "what if: compare with the same scenario changed"),
    ("i", "import: paste a command, choose or drop a file"),
    ("?", "this list"),
    ("Click, or arrows and Enter", "on the board: select a block, and read its life"),
    ("Esc", "clear the selection; close this list, or what is told below the timeline; end the tour"),
];

#[derive(Properties, PartialEq)]
pub(crate) struct HelpProps {
    pub(crate) on_close: Callback<()>,
    pub(crate) on_tour: Callback<()>,
}

#[component]
pub(crate) fn Help(props: &HelpProps) -> Html {
    let dialog = use_node_ref();
    use_effect_with(dialog.clone(), |dialog| {
        if let Some(dialog) = dialog.cast::<HtmlDialogElement>() {
            // Refused only when it is open already.
            let _ = dialog.show_modal();
            // The focus goes to the first button, which is the last thing in it.
            dialog.set_scroll_top(0);
        }
    });
    html! {
        <dialog ref={dialog} id="help-dialog" class="help" aria-label="Keys and words"
            onclose={props.on_close.reform(|_: Event| ())}>
            <h2>{ "Keys" }</h2>
            <dl class="help__list">
                for (key, meaning) in KEYS.iter() {
                    <dt><kbd>{ *key }</kbd></dt>
                    <dd>{ *meaning }</dd>
                }
            </dl>
            <h2>{ "Words" }</h2>
            <dl class="help__list">
                for word in WORDS.iter() {
                    <dt>{ word.word }</dt>
                    <dd>{ word.meaning }</dd>
                }
            </dl>
            <button type="button" id="start-tour" class="button" onclick={props.on_tour.reform(|_: MouseEvent| ())}>
                { "Show the first steps again" }
            </button>
            { " " }
            <button type="button" class="button" onclick={props.on_close.reform(|_: MouseEvent| ())}>{ "Close" }</button>
        </dialog>
    }
}
