//! A link was opened whose run is heavy: what there is to do, and a button that begins it.

use yew::prelude::*;

use crate::state::size::Size;

#[derive(Properties, PartialEq)]
pub(crate) struct ReadyProps {
    pub(crate) size: Size,
    pub(crate) can_run: bool,
    /// The trace that it replays and that is not here: nothing can run before that.
    pub(crate) missing: Option<AttrValue>,
    pub(crate) on_run: Callback<()>,
}

#[component]
pub(crate) fn Ready(props: &ReadyProps) -> Html {
    html! {
        <div id="ready" class="ready">
            <svg class="ready__mark" viewBox="0 0 20 20" aria-hidden="true">
                <rect x="2" y="2" width="16" height="3" rx="1" />
                <rect x="2" y="6.5" width="12" height="3" rx="1" opacity="0.75" />
                <rect x="2" y="11" width="8" height="3" rx="1" opacity="0.55" />
                <rect x="2" y="15.5" width="4" height="3" rx="1" opacity="0.4" />
            </svg>
            <h2>{ "Ready to run" }</h2>
            <p>{ props.size.words() }</p>
            <p class="ready__note">
                { "It came by a link, so nothing has been computed yet. You can read and change the scenario first; a run can be cancelled at any time." }
            </p>
            if let Some(file) = &props.missing {
                <p class="ready__note" id="ready-missing">{ format!("It replays {file}, which a link cannot carry: drop that file onto the page, and it runs.") }</p>
            } else {
                <button type="button" id="ready-run" class="button button--run" disabled={!props.can_run}
                    onclick={props.on_run.reform(|_: MouseEvent| ())}>{ "Run it" }</button>
            }
        </div>
    }
}
