//! Two runs beside each other.

use yew::prelude::*;

#[component]
pub(crate) fn Compare() -> Html {
    html! {
        <p class="empty">{ "Nothing is compared yet." }</p>
    }
}
