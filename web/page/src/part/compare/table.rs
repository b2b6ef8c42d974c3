//! The numbers of both runs and what lies between them. Better and worse are words and shapes, not colours alone.

use std::rc::Rc;

use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::state::Ended;
use crate::state::differences::{self, Line, Verdict};

#[derive(Properties, PartialEq)]
pub(super) struct TableProps {
    pub(super) a: Rc<Ended>,
    pub(super) b: Rc<Ended>,
}

#[component]
pub(super) fn Table(props: &TableProps) -> Html {
    let only = use_state_eq(|| false);
    let groups = use_memo((Rc::clone(&props.a), Rc::clone(&props.b)), |(a, b)| {
        differences::groups(&a.report, &b.report)
    });
    let onchange = {
        let only = only.clone();
        Callback::from(move |event: Event| {
            let input: HtmlInputElement = event.target_unchecked_into();
            only.set(input.checked());
        })
    };
    let shown = |line: &&Line| !*only || line.verdict != Verdict::Same;
    html! {
        <section aria-label="Differences">
            <div class="compare__title">
                <h3>{ "Differences" }</h3>
                <label><input type="checkbox" id="only-differences" checked={*only} {onchange} />{ " only what differs" }</label>
            </div>
            <table class="table differences" id="differences">
                <caption class="visually-hidden">{ "Results of A and B, and B less A" }</caption>
                <thead><tr><th scope="col"><span class="visually-hidden">{ "Number" }</span></th>
                    <th scope="col">{ "A" }</th><th scope="col">{ "B" }</th>
                    <th scope="col">{ "B − A" }</th><th scope="col">{ "By A" }</th></tr></thead>
                for group in groups.iter().filter(|group| group.lines.iter().any(|line| shown(&line))) {
                    <tbody>
                        <tr class="differences__group"><th scope="rowgroup" colspan="5">{ group.name }</th></tr>
                        { for group.lines.iter().filter(shown).map(row) }
                    </tbody>
                }
            </table>
        </section>
    }
}

fn row(line: &Line) -> Html {
    let [a, b] = line.sides.clone();
    html! {
        <tr data-line={line.name.clone()} class={format!("differences__line odds--{}", line.verdict.word())}>
            <th scope="row">{ mark(line.verdict) }{ line.name.clone() }</th>
            <td>{ a }</td>
            <td>{ b }</td>
            <td>{ line.difference.clone() }</td>
            <td>{ line.relative.clone() }</td>
        </tr>
    }
}

/// A shape for those who see it, a word for those who hear it, and both for those who point at it.
pub(super) fn mark(verdict: Verdict) -> Html {
    let shape = match verdict {
        Verdict::Same => "=",
        Verdict::Better => "✓",
        Verdict::Worse => "✗",
        Verdict::Other => "≠",
    };
    html! {
        <span class={format!("odds odds--{}", verdict.word())} title={verdict.word()}>
            <span aria-hidden="true">{ shape }</span><span class="visually-hidden">{ format!(" {}", verdict.word()) }</span>
        </span>
    }
}
