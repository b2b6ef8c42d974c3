//! Sheets behind each other, of which one is seen.

use yew::html::ChildrenRenderer;
use yew::prelude::*;

use crate::glue::dom;

#[derive(Properties, PartialEq)]
pub(crate) struct TabsProps {
    /// What they are together, for those who hear it.
    pub(crate) label: AttrValue,
    /// An id and a name for each sheet.
    pub(crate) names: Vec<(&'static str, &'static str)>,
    /// The sheets.
    pub(crate) children: ChildrenRenderer<Html>,
}

#[component]
pub(crate) fn Tabs(props: &TabsProps) -> Html {
    let chosen = use_state_eq(|| 0usize);
    let count = props.names.len();
    let onkeydown = {
        let (chosen, names) = (chosen.clone(), props.names.clone());
        Callback::from(move |event: KeyboardEvent| {
            let to = match event.key().as_str() {
                "ArrowRight" => (*chosen + 1) % count,
                "ArrowLeft" => (*chosen + count - 1) % count,
                _ => return,
            };
            event.prevent_default();
            chosen.set(to);
            dom::focus(&format!("tab-{}", names[to].0));
        })
    };
    let tab = |(place, (id, name)): (usize, &(&'static str, &'static str))| {
        let (now, chosen) = (place == *chosen, chosen.clone());
        html! {
            <button type="button" role="tab" id={format!("tab-{id}")} class="tab" aria-selected={now.to_string()}
                aria-controls={format!("sheet-{id}")} tabindex={if now { "0" } else { "-1" }}
                onclick={Callback::from(move |_: MouseEvent| chosen.set(place))}>{ *name }</button>
        }
    };
    let sheet = |(place, (sheet, (id, _))): (usize, (Html, &(&'static str, &'static str)))| {
        html! {
            <div role="tabpanel" id={format!("sheet-{id}")} class="sheet" aria-labelledby={format!("tab-{id}")}
                hidden={place != *chosen}>{ sheet }</div>
        }
    };
    html! {
        <>
            <div class="tabs" role="tablist" aria-label={props.label.clone()} {onkeydown}>
                { for props.names.iter().enumerate().map(tab) }
            </div>
            { for props.children.iter().zip(&props.names).enumerate().map(sheet) }
        </>
    }
}
