//! The scenario as a form. Each control shows what stands in the text, or, greyed, what counts without it.

use std::rc::Rc;

use tierscope_scenario::Values;
use tierscope_worker::protocol::ProblemView;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use crate::state::edit::Outline;
use crate::state::form::{self, Field, Kind, SECTIONS, Section};

#[derive(Properties, PartialEq)]
pub(crate) struct FormProps {
    pub(crate) text: Rc<str>,
    pub(crate) problems: Rc<[ProblemView]>,
    pub(crate) outline: Option<Rc<Outline>>,
    pub(crate) on_edit: Callback<String>,
    /// Something stands in the way of an edit.
    pub(crate) on_trouble: Callback<String>,
    /// To a line of the text.
    pub(crate) on_line: Callback<u32>,
}

#[component]
pub(crate) fn Form(props: &FormProps) -> Html {
    let values = use_memo(Rc::clone(&props.text), |text| Values::of(text));
    let values = match &*values {
        Ok(values) => values,
        Err(problems) => {
            let line = problems.first().map_or(1, |problem| problem.line);
            return html! {
                <div id="scenario-form" class="form form--broken">
                    <p>{ format!("The text cannot be read: line {line} has to be mended first.") }</p>
                    <button type="button" class="button" onclick={props.on_line.reform(move |_: MouseEvent| line)}>
                        { "Go to the line" }
                    </button>
                </div>
            };
        }
    };
    html! {
        <div id="scenario-form" class="form" role="region" aria-label="Scenario as a form">
            for one in SECTIONS.iter().filter(|one| one.can_be(values)) {
                { section(props, one, values) }
            }
            { elsewhere(props, values) }
        </div>
    }
}

fn section(props: &FormProps, one: &'static Section, values: &Values) -> Html {
    let there = one.is_there(values);
    let change = |text: Rc<str>, adds: bool| {
        let (on_edit, on_trouble) = (props.on_edit.clone(), props.on_trouble.clone());
        Callback::from(move |_: MouseEvent| match if adds { one.added(&text) } else { one.removed(&text) } {
            Ok(text) => on_edit.emit(text),
            Err(trouble) => on_trouble.emit(trouble),
        })
    };
    let shown = one.fields.iter().filter(|_| there).filter(|field| field.is_shown(values));
    html! {
        <section class="form__section" aria-label={one.title}>
            <h3 class="form__title">
                { one.title }
                if !one.table.is_empty() {
                    <button type="button" class="form__switch" data-table={one.table}
                        onclick={change(Rc::clone(&props.text), !there)}>
                        { if there { "Remove" } else { "Add" } }
                    </button>
                }
            </h3>
            for field in shown {
                { row(props, field, values) }
            }
        </section>
    }
}

fn row(props: &FormProps, field: &'static Field, values: &Values) -> Html {
    let written = values.get(field.key).map(|written| written.text);
    let faults = form::problems_of(&props.problems, field.key);
    let id = format!("form-{}", field.key.replace('.', "-"));
    let note_id = format!("{id}-note");
    let edit = {
        let (text, on_edit, on_trouble) =
            (Rc::clone(&props.text), props.on_edit.clone(), props.on_trouble.clone());
        Callback::from(move |value: String| match field.edited(&text, &value) {
            Ok(text) => on_edit.emit(text),
            Err(trouble) => on_trouble.emit(trouble),
        })
    };
    let invalid = !faults.is_empty();
    let choices = field.choices();
    let source = choices
        .iter()
        .find(|choice| Some(&choice.word) == written.as_ref())
        .map(|choice| choice.source.clone());
    let hint = form::hint(
        field.key,
        props.outline.as_deref().filter(|_| written.is_some() || field.key.ends_with("g1_blocks")),
    );
    html! {
        <div class={classes!("form__row", invalid.then_some("form__row--invalid"))}>
            <label class="form__label" for={id.clone()} title={field.key}>{ field.label }</label>
            <div class="form__control">
                if choices.is_empty() {
                    { input(field, &id, &note_id, written.as_deref(), invalid, edit) }
                } else {
                    { select(field, &id, &note_id, written.as_deref(), invalid, edit) }
                }
                if !field.unit.is_empty() {
                    <span class="form__unit">{ field.unit }</span>
                }
            </div>
            <div id={note_id} class="form__note">
                for fault in faults.iter() {
                    <span class="form__fault" role="alert">
                        { format!("found {}; expected {} → {}", fault.found, fault.expected, fault.mend) }
                    </span>
                }
                if let Some(source) = source.filter(|source| !source.is_empty()) {
                    <span>{ source }</span>
                }
                if !hint.is_empty() && !invalid {
                    <span>{ hint }</span>
                }
            </div>
        </div>
    }
}

fn input(
    field: &Field,
    id: &str,
    note_id: &str,
    written: Option<&str>,
    invalid: bool,
    edit: Callback<String>,
) -> Html {
    let oninput = edit.reform(|event: InputEvent| {
        let input: HtmlInputElement = event.target_unchecked_into();
        input.value()
    });
    let mode = if matches!(field.kind, Kind::Number) { "decimal" } else { "text" };
    html! {
        <input id={id.to_owned()} class="input form__input" type="text" inputmode={mode} autocomplete="off" spellcheck="false"
            placeholder={field.default} aria-invalid={invalid.to_string()} aria-describedby={note_id.to_owned()}
            value={written.unwrap_or_default().to_owned()} {oninput} />
    }
}

fn select(
    field: &Field,
    id: &str,
    note_id: &str,
    written: Option<&str>,
    invalid: bool,
    edit: Callback<String>,
) -> Html {
    let onchange = edit.reform(|event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        select.value()
    });
    let choices = field.choices();
    let strange = written.filter(|word| choices.iter().all(|choice| choice.word != *word));
    html! {
        <select id={id.to_owned()} class={classes!("select", "form__select", written.is_none().then_some("form__select--default"))}
            aria-invalid={invalid.to_string()} aria-describedby={note_id.to_owned()} {onchange}>
            <option value="" selected={written.is_none()}>{ format!("default: {}", field.default) }</option>
            if let Some(word) = strange {
                <option value={word.to_owned()} selected=true>{ word.to_owned() }</option>
            }
            for choice in choices.iter() {
                <option value={choice.word.clone()} selected={written == Some(choice.word.as_str())} title={choice.source.clone()}>
                    { choice.word.clone() }
                </option>
            }
        </select>
    }
}

/// What the form only counts: lists that are better written.
fn elsewhere(props: &FormProps, values: &Values) -> Html {
    const LISTS: [(&str, &str, &str); 4] = [
        ("workload.request", "request written out", "requests written out"),
        ("fault", "fault of a lane", "faults of lanes"),
        ("worker", "worker that comes or goes", "workers that come or go"),
        ("message_fault", "fault of a message", "faults of messages"),
    ];
    let rows = LISTS.iter().filter_map(|(key, one, many)| {
        let (count, line) = values.items(key)?;
        let words = if count == 1 { *one } else { *many };
        Some(html! {
            <li>
                { format!("{count} {words}: ") }
                <button type="button" class="fault__place" onclick={props.on_line.reform(move |_: MouseEvent| line)}>
                    { format!("line {line} of the text") }
                </button>
            </li>
        })
    });
    let tables = ["workers", "router", "handoff", "expect"].iter().filter_map(|table| {
        let line = values.get(table)?.line;
        Some(html! {
            <li>
                { format!("[{table}]: ") }
                <button type="button" class="fault__place" onclick={props.on_line.reform(move |_: MouseEvent| line)}>
                    { format!("line {line} of the text") }
                </button>
            </li>
        })
    });
    let all: Vec<Html> = rows.chain(tables).collect();
    if all.is_empty() {
        return html!();
    }
    html! {
        <section class="form__section" aria-label="In the text">
            <h3 class="form__title">{ "In the text" }</h3>
            <ul class="form__elsewhere">{ for all }</ul>
        </section>
    }
}

#[derive(Properties, PartialEq)]
pub(crate) struct ToggleProps {
    pub(crate) form: bool,
    pub(crate) on_toggle: Callback<bool>,
}

/// Which of the two is seen.
#[component]
pub(crate) fn Toggle(props: &ToggleProps) -> Html {
    let button = |form: bool, id: &'static str, words: &'static str| {
        html! {
            <button type="button" {id} class="toggle__one" aria-pressed={(props.form == form).to_string()}
                onclick={props.on_toggle.reform(move |_: MouseEvent| form)}>{ words }</button>
        }
    };
    html! {
        <div class="toggle" role="group" aria-label="Scenario as">
            { button(false, "show-text", "Text") }
            { button(true, "show-form", "Form") }
        </div>
    }
}
