//! A message across the page.

use yew::prelude::*;

use crate::state;

#[derive(Properties, PartialEq)]
pub(crate) struct NoticeProps {
    pub(crate) notice: state::Notice,
    pub(crate) on_dismiss: Callback<()>,
}

#[component]
pub(crate) fn Notice(props: &NoticeProps) -> Html {
    let trouble = props.notice.trouble;
    html! {
        <div id="notice" class={classes!("notice", trouble.then_some("notice--trouble"))}
            role={if trouble { "alert" } else { "status" }}>
            <span class="notice__text">{ &props.notice.text }</span>
            <button type="button" class="button" onclick={props.on_dismiss.reform(|_: MouseEvent| ())}>
                { if trouble { "Go on with this case" } else { "Dismiss" } }
            </button>
        </div>
    }
}
