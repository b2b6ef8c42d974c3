//! A driven run: what it was driven on, and a button that sets its simulation beside it; or that it was left behind.

use yew::prelude::*;

use crate::state::driven::Line;

#[derive(Properties, PartialEq)]
pub(crate) struct DrivenProps {
    pub(crate) line: Line,
    pub(crate) on_compare: Callback<()>,
    /// The driven run is wanted again.
    pub(crate) on_back: Callback<()>,
}

#[component]
pub(crate) fn Driven(props: &DrivenProps) -> Html {
    let line = &props.line;
    html! {
        <div id="driven" class={classes!("driven", (!line.shown).then_some("driven--left"))} role="status">
            <p id="driven-sentence" class="driven__sentence" title={line.details.clone()}>{ line.sentence.clone() }</p>
            if !line.compared {
                <p id="driven-details" class="driven__details">{ line.details.clone() }</p>
                { button(props) }
            }
        </div>
    }
}

fn button(props: &DrivenProps) -> Html {
    if props.line.shown {
        return html! {
            <button type="button" id="driven-compare" class="button button--small" disabled={!props.line.can_compare}
                onclick={props.on_compare.reform(|_: MouseEvent| ())}
                title="A is what real tiers did, B what the model says, under one cursor">
                { "Compare with its simulation" }
            </button>
        };
    }
    html! {
        <button type="button" id="driven-back" class="button button--small"
            onclick={props.on_back.reform(|_: MouseEvent| ())}>{ "Back to the driven run" }</button>
    }
}
