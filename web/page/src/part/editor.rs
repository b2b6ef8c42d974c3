//! The scenario as text: a text area over its own coloured copy, with line numbers beside it.

use std::rc::Rc;

use tierscope_worker::protocol::ProblemView;
use web_sys::{HtmlElement, HtmlTextAreaElement};
use yew::prelude::*;

use super::highlight;

/// The id of the text area: problems move its cursor.
pub(crate) const TEXT_ID: &str = "scenario-text";

#[derive(Properties, PartialEq)]
pub(crate) struct EditorProps {
    /// Whether something else is seen in its place.
    pub(crate) hidden: bool,
    pub(crate) text: Rc<str>,
    pub(crate) problems: Rc<[ProblemView]>,
    pub(crate) on_edit: Callback<String>,
    pub(crate) on_run: Callback<()>,
}

#[component]
pub(crate) fn Editor(props: &EditorProps) -> Html {
    let gutter = use_node_ref();
    let copy = use_node_ref();
    let oninput = props.on_edit.reform(|event: InputEvent| {
        let area: HtmlTextAreaElement = event.target_unchecked_into();
        area.value()
    });
    // The gutter and the coloured copy follow the text area's scroll position.
    let onscroll = {
        let (gutter, copy) = (gutter.clone(), copy.clone());
        Callback::from(move |event: Event| {
            let area: HtmlTextAreaElement = event.target_unchecked_into();
            let (left, top) = (area.scroll_left(), area.scroll_top());
            shift(&gutter, 0, top);
            shift(&copy, left, top);
        })
    };
    let onkeydown = {
        let on_run = props.on_run.clone();
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
                event.prevent_default();
                on_run.emit(());
            }
        })
    };
    let invalid = !props.problems.is_empty();
    html! {
        <div class={classes!("editor", invalid.then_some("editor--invalid"))} hidden={props.hidden}>
            <div class="editor__gutter" aria-hidden="true">
                <div ref={gutter}>{ for line_numbers(&props.text, &props.problems) }</div>
            </div>
            <div class="editor__body">
                <pre class="editor__copy" aria-hidden="true"><code ref={copy}>{ for coloured(&props.text, &props.problems) }</code></pre>
                <textarea
                    id={TEXT_ID}
                    class="editor__text"
                    aria-label="Scenario (TOML)"
                    aria-describedby="problems"
                    aria-invalid={invalid.to_string()}
                    spellcheck="false"
                    autocapitalize="off"
                    autocomplete="off"
                    wrap="off"
                    value={props.text.to_string()}
                    {oninput}
                    {onscroll}
                    {onkeydown}
                />
            </div>
        </div>
    }
}

fn shift(node: &NodeRef, left: i32, top: i32) {
    if let Some(element) = node.cast::<HtmlElement>() {
        let _ = element.style().set_property("transform", &format!("translate({}px, {}px)", -left, -top));
    }
}

fn is_marked(problems: &[ProblemView], line: usize) -> bool {
    problems.iter().any(|problem| problem.line as usize == line)
}

fn line_numbers<'a>(text: &'a str, problems: &'a [ProblemView]) -> impl Iterator<Item = Html> + 'a {
    (1..=text.split('\n').count()).map(move |line| {
        let marked = is_marked(problems, line);
        let class = classes!("editor__number", marked.then_some("editor__number--marked"));
        html! {
            <span {class}>{ if marked { format!("✕ {line}") } else { line.to_string() } }</span>
        }
    })
}

fn coloured<'a>(text: &'a str, problems: &'a [ProblemView]) -> impl Iterator<Item = Html> + 'a {
    text.split('\n').enumerate().map(move |(at, line)| {
        let class = classes!("editor__line", is_marked(problems, at + 1).then_some("editor__line--marked"));
        let pieces = highlight::pieces(line).into_iter().map(|(kind, piece)| {
            html! {
                <span class={kind.class()}>{ piece.to_owned() }</span>
            }
        });
        html! {
            <span {class}>{ for pieces }{ "\n" }</span>
        }
    })
}
