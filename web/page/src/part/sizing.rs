//! Many runs: a knob's curve, the sizing chart.

use yew::prelude::*;

#[component]
pub(crate) fn Sizing() -> Html {
    html! {
        <p class="empty">{ "Nothing was swept yet." }</p>
    }
}
