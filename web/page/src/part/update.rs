//! Another version of the page is ready: it is taken when the user says so.

use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub(crate) struct UpdateProps {
    pub(crate) on_reload: Callback<()>,
    pub(crate) on_later: Callback<()>,
}

#[component]
pub(crate) fn Update(props: &UpdateProps) -> Html {
    html! {
        <div id="update" class="update" role="status">
            <span>{ "A new version of this page is ready. Your scenario stays in the address." }</span>
            <button type="button" id="reload" class="button" onclick={props.on_reload.reform(|_: MouseEvent| ())}>
                { "Reload" }
            </button>
            <button type="button" class="button" onclick={props.on_later.reform(|_: MouseEvent| ())}>{ "Later" }</button>
        </div>
    }
}
