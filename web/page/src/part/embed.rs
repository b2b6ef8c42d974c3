//! The line above an embedded run: what it is, and the way to the whole page.

use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub(crate) struct EmbedProps {
    pub(crate) title: AttrValue,
    /// The whole page with the same scenario and cursor.
    pub(crate) href: AttrValue,
}

#[component]
pub(crate) fn Embed(props: &EmbedProps) -> Html {
    html! {
        <header class="embed">
            <svg class="header__mark" viewBox="0 0 20 20" aria-hidden="true">
                <rect x="2" y="2" width="16" height="3" rx="1" />
                <rect x="2" y="6.5" width="12" height="3" rx="1" opacity="0.75" />
                <rect x="2" y="11" width="8" height="3" rx="1" opacity="0.55" />
                <rect x="2" y="15.5" width="4" height="3" rx="1" opacity="0.4" />
            </svg>
            <h1>{ props.title.clone() }</h1>
            <a id="open-whole" href={props.href.clone()} target="_blank" rel="noopener">{ "Open in Tierscope" }</a>
        </header>
    }
}
