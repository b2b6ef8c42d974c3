//! What the scenario expects of its run, and whether it is so.

use tierscope_worker::protocol::Verdict;
use yew::prelude::*;

/// The expectations, judged; nothing where there are none.
pub(super) fn verdicts(all: &[Verdict]) -> Html {
    if all.is_empty() {
        return html!();
    }
    let failed = all.iter().filter(|verdict| verdict.found.is_some()).count();
    html! {
        <section class="verdicts" id="verdicts" aria-label="Expectations">
            <h3>{ format!("Expected: {} passed, {failed} failed", all.len() - failed) }</h3>
            <ul>
                for verdict in all.iter() {
                    { one(verdict) }
                }
            </ul>
        </section>
    }
}

fn one(verdict: &Verdict) -> Html {
    let (mark, word, class) = match verdict.found {
        None => ("✓", "passed", "verdicts__one"),
        Some(_) => ("✕", "failed", "verdicts__one verdicts__one--failed"),
    };
    html! {
        <li {class}>
            <span aria-hidden="true">{ mark }</span>
            <span class="visually-hidden">{ word }</span>
            <code>{ &verdict.expected }</code>
            if let Some(found) = &verdict.found {
                <span>{ format!("found: {found} (line {})", verdict.line) }</span>
            }
        </li>
    }
}
