//! The list of keys, and what the words mean.

use web_sys::HtmlDialogElement;
use yew::prelude::*;

const KEYS: &[(&str, &str)] = &[
    ("Space", "play or pause"),
    (",", "back to the previous instant"),
    (".", "on to the next instant"),
    ("[", "back to the previous transaction"),
    ("]", "on to the next transaction"),
    ("Home, End", "to the beginning, to the end"),
    ("← →", "move the time slider, when it has the focus"),
    ("Ctrl+Enter", "run the text, from within the editor"),
    ("w, W", "to the next worker, to the previous one, where there are several"),
    ("?", "this list"),
    ("Esc", "close it"),
];

const WORDS: &[(&str, &str)] = &[
    ("G1", "the GPU's KV cache: blocks of a fixed number of tokens"),
    ("Active", "a request holds the block; shared, if two or more do"),
    ("Cached", "no request holds it; its content can still be hit, or evicted"),
    ("Reserved", "promised to a request that is about to take it"),
    ("Source hold", "evicted, but a copy to the tier below still reads it: neither free nor cached"),
    ("Transaction", "one request for blocks: prepare, reserve, then commit all or nothing"),
    ("Instant", "a point in simulated time at which something happens"),
    ("Preempted", "a request that gave its blocks back for others, and waits again"),
    ("Digest", "a fingerprint of all events: the same here and on the command line"),
];

#[derive(Properties, PartialEq)]
pub(crate) struct HelpProps {
    pub(crate) on_close: Callback<()>,
}

#[component]
pub(crate) fn Help(props: &HelpProps) -> Html {
    let dialog = use_node_ref();
    use_effect_with(dialog.clone(), |dialog| {
        if let Some(dialog) = dialog.cast::<HtmlDialogElement>() {
            // Refused only when it is open already.
            let _ = dialog.show_modal();
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
                for (word, meaning) in WORDS.iter() {
                    <dt>{ *word }</dt>
                    <dd>{ *meaning }</dd>
                }
            </dl>
            <button type="button" class="button" onclick={props.on_close.reform(|_: MouseEvent| ())}>{ "Close" }</button>
        </dialog>
    }
}
