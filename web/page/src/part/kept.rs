//! A field of text that keeps what is being typed into it, however often the page around it is drawn: while a run plays
//! that is sixty times a second, and a value that is written back each time would erase every key.

use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub(crate) struct KeptProps {
    pub(crate) id: &'static str,
    /// Written into the field whenever it becomes another.
    pub(crate) value: AttrValue,
    pub(crate) size: &'static str,
    #[prop_or_default]
    pub(crate) placeholder: &'static str,
    #[prop_or_default]
    pub(crate) disabled: bool,
    /// What was typed, once the field is left or Enter pressed.
    pub(crate) on_change: Callback<String>,
}

#[component]
pub(crate) fn Kept(props: &KeptProps) -> Html {
    let node = use_node_ref();
    use_effect_with((node.clone(), props.value.clone()), |(node, value)| {
        if let Some(input) = node.cast::<HtmlInputElement>() {
            input.set_value(value);
        }
    });
    let onchange = {
        let (on_change, value) = (props.on_change.clone(), props.value.clone());
        Callback::from(move |event: Event| {
            let input: HtmlInputElement = event.target_unchecked_into();
            let typed = input.value();
            // What comes of it is written back when it is taken; what is refused does not stay.
            input.set_value(&value);
            on_change.emit(typed);
        })
    };
    html! {
        <input id={props.id} ref={node} class="input" type="text" inputmode="numeric" pattern="[0-9]*" size={props.size}
            placeholder={props.placeholder} disabled={props.disabled} {onchange} />
    }
}
