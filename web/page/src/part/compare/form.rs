//! What if: the knobs of the scenario with what they stand at, to be turned; and a line for any other key.

use std::rc::Rc;

use tierscope_worker::protocol::ProblemView;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use crate::part::compare::faults;
use crate::state::fork::{CHANGES_MAX, Fork};
use crate::state::knobs::{self, Knob};
use crate::state::rival::{self, RivalEvent};
use crate::state::{Action, format};

#[derive(Properties, PartialEq)]
pub(super) struct FormProps {
    /// The text of A.
    pub(super) text: Rc<str>,
    /// What is compared already.
    pub(super) fork: Option<Fork>,
    pub(super) cursor_ns: f64,
    /// A was driven.
    pub(super) driven: bool,
    /// The end of A, once it has one.
    pub(super) end_ns: Option<f64>,
    pub(super) act: Callback<Action>,
}

/// What the user wrote, in the order of the knobs, and in the free line.
#[derive(Clone, Debug, Default, PartialEq)]
struct Written {
    values: Vec<String>,
    free: String,
    /// From the cursor on.
    late: bool,
    problems: Vec<ProblemView>,
}

#[component]
pub(super) fn Form(props: &FormProps) -> Html {
    let knobs = use_memo(Rc::clone(&props.text), |text| knobs::knobs(text));
    let written = use_state_eq(|| begin(&knobs, props.fork.as_ref()));
    use_effect_with((Rc::clone(&props.text), props.fork.clone()), {
        let (written, knobs) = (written.clone(), Rc::clone(&knobs));
        move |(_, fork)| written.set(Written { late: written.late, ..begin(&knobs, fork.as_ref()) })
    });
    let edit = {
        let written = written.clone();
        Callback::from(move |(at, value): (usize, String)| {
            let mut next = Written { problems: Vec::new(), ..(*written).clone() };
            if let Some(place) = next.values.get_mut(at) {
                *place = value;
            }
            written.set(next);
        })
    };
    let onsubmit = {
        let (written, knobs, props) = (
            written.clone(),
            Rc::clone(&knobs),
            (Rc::clone(&props.text), props.cursor_ns, props.act.clone(), props.driven),
        );
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            let (text, cursor_ns, act, driven) = &props;
            let late = written.late && !driven;
            let fork = Fork { at_ns: late.then(|| cursor_ns.floor()), changes: changes(&knobs, &written) };
            let problems = problems(text, &fork);
            if problems.is_empty() {
                act.emit(Action::SetFork(Some(fork)));
                act.emit(Action::Rival(RivalEvent::Form(false)));
            } else {
                written.set(Written { problems, ..(*written).clone() });
            }
        })
    };
    html! {
        <form class="what-if" id="what-if-form" tabindex="-1" aria-label="What if" {onsubmit}>
            <h3>{ "What if…" }</h3>
            <p class="compare__aspects">
                { "Turn something. B runs beside A with it, and both are compared." }
                if props.driven { { " A was driven; B is simulated." } }
            </p>
            <div class="what-if__knobs">
                for (at, knob) in knobs.iter().enumerate() {
                    { field(at, knob, written.values.get(at).unwrap_or(&knob.value), &edit) }
                }
            </div>
            { free(&written) }
            { when(props, &written) }
            if !written.problems.is_empty() { { faults(&written.problems) } }
            <button type="submit" id="what-if-go" class="button button--run">{ "Compare" }</button>
        </form>
    }
}

fn begin(knobs: &[Knob], fork: Option<&Fork>) -> Written {
    let changes = fork.map_or(&[][..], |fork| &fork.changes);
    let split = |change: &String| {
        change
            .split_once('=')
            .map(|(key, value)| (key.trim().to_owned(), value.trim().trim_matches('"').to_owned()))
    };
    let value = |knob: &Knob| {
        let own = changes.iter().rev().filter_map(split).find(|(key, _)| key == knob.key);
        own.map_or_else(|| knob.value.clone(), |(_, value)| value)
    };
    let known =
        |change: &&String| split(change).is_some_and(|(key, _)| knobs.iter().any(|knob| knob.key == key));
    let free: Vec<&str> = changes.iter().filter(|change| !known(change)).map(String::as_str).collect();
    Written {
        values: knobs.iter().map(value).collect(),
        free: free.join("; "),
        late: fork.is_some_and(|fork| fork.at_ns.is_some()),
        problems: Vec::new(),
    }
}

/// What differs from what the knobs stand at, and what the free line says.
fn changes(knobs: &[Knob], written: &Written) -> Vec<String> {
    let turned = knobs.iter().zip(&written.values).filter(|(knob, value)| knob.value != value.trim());
    let turned = turned.map(|(knob, value)| format!("{}={}", knob.key, value.trim()));
    let free = written.free.split(';').map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned);
    turned.chain(free).collect()
}

fn problems(text: &str, fork: &Fork) -> Vec<ProblemView> {
    let bare = |found: String, expected: String, mend: &str| {
        vec![ProblemView { found, expected, mend: mend.to_owned(), ..ProblemView::default() }]
    };
    match fork.changes.len() {
        0 => bare("no change".to_owned(), "one at least".to_owned(), "turn a knob, or write key=value"),
        n if n > CHANGES_MAX => {
            bare(format!("{n} changes"), format!("at most {CHANGES_MAX}"), "change the scenario itself")
        }
        _ => rival::changed(text, &fork.changes).err().unwrap_or_default(),
    }
}

fn field(at: usize, knob: &Knob, value: &str, edit: &Callback<(usize, String)>) -> Html {
    let id = format!("what-if-{}", knob.key.replace('.', "-"));
    let turned = value.trim() != knob.value;
    let scale = |factor: f64, shown: &'static str, what: &'static str| {
        let scaled = Knob::scaled(value, factor);
        let onclick = edit.reform({
            let scaled = scaled.clone().unwrap_or_default();
            move |_: MouseEvent| (at, scaled.clone())
        });
        html! {
            <button type="button" class="button button--small" disabled={scaled.is_none()} {onclick}
                aria-label={format!("{}: {what}", knob.name)}>{ shown }</button>
        }
    };
    let class = if turned { "what-if__knob what-if__knob--turned" } else { "what-if__knob" };
    let now = if knob.unit.is_empty() { knob.value.clone() } else { format!("{} {}", knob.value, knob.unit) };
    html! {
        <div {class} data-key={knob.key}>
            <label for={id.clone()} title={knob.key}>{ knob.name }
                <small>{ if turned { format!("was {now}") } else { knob.unit.to_owned() } }</small></label>
            if knob.words.is_empty() {
                <input {id} class="input input--small" type="text" inputmode="decimal" autocomplete="off" value={value.to_owned()}
                    oninput={edit.reform(move |event: InputEvent| {
                        let input: HtmlInputElement = event.target_unchecked_into();
                        (at, input.value())
                    })} />
                if knob.key != "seed" {
                    { scale(0.5, "÷2", "half of it") }
                    { scale(2.0, "×2", "twice as much") }
                }
            } else {
                <select {id} class="select select--small what-if__words"
                    onchange={edit.reform(move |event: Event| {
                        let select: HtmlSelectElement = event.target_unchecked_into();
                        (at, select.value())
                    })}>
                    for word in knob.words { <option value={*word} selected={*word == value}>{ word.replace('_', " ") }</option> }
                </select>
            }
        </div>
    }
}

fn free(written: &UseStateHandle<Written>) -> Html {
    let oninput = {
        let written = written.clone();
        Callback::from(move |event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            written.set(Written { free: input.value(), problems: Vec::new(), ..(*written).clone() });
        })
    };
    html! {
        <label class="what-if__free">{ "Any other keys" }
            <input id="what-if-free" class="input input--small" type="text" autocomplete="off" spellcheck="false"
                placeholder="key=value; key=value" value={written.free.clone()} {oninput} /></label>
    }
}

fn when(props: &FormProps, written: &UseStateHandle<Written>) -> Html {
    let choose = |late: bool| {
        let written = written.clone();
        Callback::from(move |_: Event| {
            written.set(Written { late, problems: Vec::new(), ..(*written).clone() })
        })
    };
    let at =
        props.end_ns.map_or(String::new(), |end_ns| format!(" ({})", format::clock(props.cursor_ns, end_ns)));
    html! {
        <fieldset class="what-if__when">
            <legend class="visually-hidden">{ "From when on" }</legend>
            <label><input type="radio" name="what-if-when" id="what-if-beginning" checked={!written.late || props.driven} onchange={choose(false)} />
                { " from the beginning" }</label>
            <label><input type="radio" name="what-if-when" id="what-if-cursor" checked={written.late && !props.driven}
                disabled={props.end_ns.is_none() || props.driven} onchange={choose(true)} />{ format!(" from the cursor{at}") }</label>
            if props.driven {
                <p class="compare__aspects" id="not-from-cursor">
                    { "Not from the cursor: the copies of a driven run end as real tiers told, and nobody told what they would have done from there on." }
                </p>
            }
        </fieldset>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "tierscope = 1\n[engine]\ng1_blocks = 40\n[workload]\nkind = \"requests\"\n[[workload.request]]\n\
        at_ms = 0\nprompt_tokens = 10\noutput_tokens = 2\n";

    #[test]
    fn what_is_turned_becomes_a_change_and_comes_back_into_the_form() {
        let knobs = knobs::knobs(TEXT);
        let mut written = begin(&knobs, None);
        assert!(changes(&knobs, &written).is_empty());
        written.values[0] = " 80 ".to_owned();
        written.free = "engine.watermark=0.1; ;seed=3".to_owned();
        let fork = Fork { at_ns: Some(5.0), changes: changes(&knobs, &written) };
        assert_eq!(fork.changes, ["engine.g1_blocks=80", "engine.watermark=0.1", "seed=3"]);
        assert!(problems(TEXT, &fork).is_empty());
        let again = begin(&knobs, Some(&fork));
        assert_eq!(
            (again.values[0].as_str(), again.free.as_str(), again.late),
            ("80", "engine.watermark=0.1", true)
        );
    }

    #[test]
    fn faults_are_told_before_anything_runs() {
        let told = |changes: &[&str]| {
            let changes = changes.iter().map(|change| (*change).to_owned()).collect();
            problems(TEXT, &Fork { at_ns: None, changes })
                .first()
                .map_or(String::new(), |problem| problem.mend.clone())
        };
        assert!(told(&[]).contains("turn a knob"));
        assert!(!told(&["engine.g1_blocks=none"]).is_empty());
        assert!(!told(&["nonsense"]).is_empty());
        assert!(told(&["seed=1"; 17]).contains("scenario itself"));
    }
}
