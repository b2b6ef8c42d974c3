//! What is wrong with the scenario, in words; or what the parser filled in when nothing is.

use std::rc::Rc;

use tierscope_worker::protocol::ProblemView;
use web_sys::HtmlTextAreaElement;
use yew::prelude::*;

use super::editor::TEXT_ID;
use crate::glue::dom;
use crate::state::edit::Outline;
use crate::state::format;

#[derive(Properties, PartialEq)]
pub(crate) struct ProblemsProps {
    pub(crate) text: Rc<str>,
    pub(crate) problems: Rc<[ProblemView]>,
    pub(crate) outline: Option<Rc<Outline>>,
    /// The text is to be seen: a line of it is gone to.
    pub(crate) on_show_text: Callback<()>,
}

#[component]
pub(crate) fn Problems(props: &ProblemsProps) -> Html {
    let faults = props.problems.iter().map(|problem| fault(problem, &props.text, &props.on_show_text));
    html! {
        <div id="problems" class="problems" aria-live="polite">
            if let (true, Some(outline)) = (props.problems.is_empty(), &props.outline) {
                <p class="problems__fine">
                    <span class="problems__mark">{ "✓" }</span>
                    { format!("Valid. Timing: {}.", outline.timing) }
                </p>
                if !outline.defaults.is_empty() {
                    <details class="problems__defaults">
                        <summary>{ format::counted(outline.defaults.len() as u32, "default in use", "defaults in use") }</summary>
                        <ul>
                            for default in outline.defaults.iter() {
                                <li>{ default.clone() }</li>
                            }
                        </ul>
                    </details>
                }
            } else {
                <p class="problems__count">
                    { format::counted(props.problems.len() as u32, "problem", "problems") }
                    { " to mend before it can run" }
                </p>
                <ul class="problems__list">{ for faults }</ul>
            }
        </div>
    }
}

fn fault(problem: &ProblemView, text: &Rc<str>, on_show_text: &Callback<()>) -> Html {
    let (line, column) = (problem.line, problem.column);
    let (text, on_show_text) = (Rc::clone(text), on_show_text.clone());
    let onclick = Callback::from(move |_: MouseEvent| {
        on_show_text.emit(());
        go_to(&text, line, column);
    });
    let key = if problem.key.is_empty() {
        html!()
    } else {
        html! { <code>{ &problem.key }</code> }
    };
    html! {
        <li class="fault">
            <button type="button" class="fault__place" {onclick} title="Go to this line">
                { format!("line {line}") }
            </button>
            <span class="fault__words">
                { key }
                { format!(" found {}; expected {}.", problem.found, problem.expected) }
                if !problem.mend.is_empty() {
                    <span class="fault__mend">{ format!(" → {}", problem.mend) }</span>
                }
            </span>
        </li>
    }
}

/// Puts the text area's cursor at the beginning of a line.
pub(crate) fn go_to_line(text: &str, line: u32) {
    go_to(text, line, 1);
}

/// Puts the text area's cursor at a place, which also scrolls there.
fn go_to(text: &str, line: u32, column: u32) {
    use wasm_bindgen::JsCast;
    let Some(area) = dom::by_id(TEXT_ID).and_then(|element| element.dyn_into::<HtmlTextAreaElement>().ok())
    else {
        return;
    };
    // What is hidden takes no focus, and what was asked for is drawn only later.
    if let Ok(Some(editor)) = area.closest(".editor") {
        let _ = editor.remove_attribute("hidden");
    }
    let at = offset_utf16(text, line, column);
    let _ = area.focus();
    let _ = area.set_selection_range(at, at);
}

/// Where a place is, counted as the browser counts.
fn offset_utf16(text: &str, line: u32, column: u32) -> u32 {
    let before = text.split('\n').take(line.saturating_sub(1) as usize);
    let whole: usize = before.map(|line| line.encode_utf16().count() + 1).sum();
    let this = text.split('\n').nth(line.saturating_sub(1) as usize).unwrap_or_default();
    let within: usize = this.chars().take(column.saturating_sub(1) as usize).map(char::len_utf16).sum();
    (whole + within) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_as_the_browser_does() {
        let text = "a = 1\n\u{1f600}b = 2\nc";
        assert_eq!(offset_utf16(text, 1, 1), 0);
        assert_eq!(offset_utf16(text, 2, 2), 8);
        assert_eq!(offset_utf16(text, 3, 1), 14);
        assert_eq!(offset_utf16(text, 99, 9), 15 + 1);
    }
}
