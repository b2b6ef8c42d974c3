//! Sheets behind each other, of which one is seen.

use yew::html::ChildrenRenderer;
use yew::prelude::*;

use crate::glue::dom;
use crate::state::sheet::Sheet;

#[derive(Properties, PartialEq)]
pub(crate) struct TabsProps {
    /// What they are together, for those who hear it.
    pub(crate) label: AttrValue,
    /// The sheet that is seen.
    pub(crate) chosen: Sheet,
    pub(crate) on_choose: Callback<Sheet>,
    /// The sheets, in the order of [`Sheet::ALL`].
    pub(crate) children: ChildrenRenderer<Html>,
}

#[component]
pub(crate) fn Tabs(props: &TabsProps) -> Html {
    let (chosen, on_choose) = (props.chosen, props.on_choose.clone());
    let onkeydown = Callback::from(move |event: KeyboardEvent| {
        let (here, count) = (chosen as usize, Sheet::ALL.len());
        let to = match event.key().as_str() {
            "ArrowRight" => (here + 1) % count,
            "ArrowLeft" => (here + count - 1) % count,
            _ => return,
        };
        event.prevent_default();
        on_choose.emit(Sheet::ALL[to]);
        dom::focus(&format!("tab-{}", Sheet::ALL[to].word()));
    });
    let tab = |sheet: Sheet| {
        let now = sheet == chosen;
        html! {
            <button type="button" role="tab" id={format!("tab-{}", sheet.word())} class="tab" aria-selected={now.to_string()}
                aria-controls={format!("sheet-{}", sheet.word())} tabindex={if now { "0" } else { "-1" }}
                onclick={props.on_choose.reform(move |_: MouseEvent| sheet)}>{ sheet.name() }</button>
        }
    };
    let place = |(content, sheet): (Html, Sheet)| {
        html! {
            <div role="tabpanel" id={format!("sheet-{}", sheet.word())} class="sheet"
                aria-labelledby={format!("tab-{}", sheet.word())} hidden={sheet != chosen}>
                <h2 class="visually-hidden">{ sheet.name() }</h2>
                { content }
            </div>
        }
    };
    html! {
        <>
            <div class="tabs" role="tablist" aria-label={props.label.clone()} {onkeydown}>
                { for Sheet::ALL.into_iter().map(tab) }
            </div>
            { for props.children.iter().zip(Sheet::ALL).map(place) }
        </>
    }
}
