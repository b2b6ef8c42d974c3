//! What to sweep: one or two knobs, their values, and seeds.

use std::rc::Rc;

use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use crate::part::compare::{faults, progress};
use crate::state::Action;
use crate::state::jobs::{JobEvent, Jobs, Slot, Standing};
use crate::state::knobs::{self, Knob};
use crate::state::sweep;

#[derive(Properties, PartialEq)]
pub(super) struct FieldsProps {
    pub(super) text: Rc<str>,
    pub(super) valid: bool,
    pub(super) jobs: Jobs,
    pub(super) act: Callback<Action>,
}

/// What the user wrote.
#[derive(Clone, Debug, Default, PartialEq)]
struct Written {
    keys: [String; 2],
    values: [String; 2],
    seeds: String,
    /// Whether the user chose them: what is suggested follows the scenario until then.
    own: bool,
}

#[component]
pub(super) fn Fields(props: &FieldsProps) -> Html {
    let knobs = use_memo(Rc::clone(&props.text), |text| knobs::knobs(text));
    let written = use_state_eq(Written::default);
    // The first knob is that which people ask about first; what they wrote stays while the scenario still has it.
    use_effect_with(Rc::clone(&knobs), {
        let written = written.clone();
        move |knobs| {
            let there = written.own && knobs.iter().any(|knob| knob.key == written.keys[0]);
            if let Some(first) = knobs.iter().find(|knob| knob.key.starts_with("g2.")).or(knobs.first())
                && !there
            {
                let values = [sweep::suggestion(&first.value, first.words), String::new()];
                written.set(Written {
                    keys: [first.key.to_owned(), String::new()],
                    values,
                    ..(*written).clone()
                });
            }
        }
    });
    let onsubmit = {
        let (written, text, act) = (written.clone(), Rc::clone(&props.text), props.act.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            let knobs = [0, 1].map(|at| (written.keys[at].as_str(), written.values[at].as_str()));
            act.emit(Action::Job(JobEvent::Sweep(sweep::plan(&text, knobs, &written.seeds))));
        })
    };
    let job = props.jobs.of(Slot::Sweep);
    let busy = job.is_some_and(|job| job.is_under_way());
    html! {
        <form class="sweep" id="sweep-form" aria-label="Sweep" {onsubmit}>
            <h3>{ "Sweep: turn a knob, or two" }</h3>
            { field(0, &knobs, &written) }
            { field(1, &knobs, &written) }
            { seeds(&written) }
            <div class="compare__buttons">
                <button type="submit" id="run-sweep" class="button button--small" disabled={busy || !props.valid}>{ "Run sweep" }</button>
            </div>
            if let Some(job) = job {
                if busy {
                    { progress(&format!("{} of {} points", job.progress().0, job.progress().1), job.share(), Slot::Sweep, &props.act) }
                }
                if job.standing == Standing::Cancelled { <p class="empty">{ "Stopped; what was finished is shown." }</p> }
                if !job.problems().is_empty() { { faults(job.problems()) } }
            }
        </form>
    }
}

fn field(at: usize, knobs: &Rc<Vec<Knob>>, written: &UseStateHandle<Written>) -> Html {
    let choose = {
        let (written, knobs) = (written.clone(), Rc::clone(knobs));
        Callback::from(move |event: Event| {
            let select: HtmlSelectElement = event.target_unchecked_into();
            let mut next = (*written).clone();
            next.keys[at] = select.value();
            next.own = true;
            let knob = knobs.iter().find(|knob| knob.key == next.keys[at]);
            next.values[at] = knob.map_or(String::new(), |knob| sweep::suggestion(&knob.value, knob.words));
            written.set(next);
        })
    };
    let write = {
        let written = written.clone();
        Callback::from(move |event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            let mut next = (*written).clone();
            next.values[at] = input.value();
            next.own = true;
            written.set(next);
        })
    };
    let (key, other) = (&written.keys[at], &written.keys[1 - at]);
    let ordinal = ["First knob", "Second knob"][at];
    html! {
        <div class="sweep__field">
            <select id={format!("sweep-key-{at}")} class="select select--small" aria-label={ordinal} onchange={choose}>
                if at == 1 { <option value="" selected={key.is_empty()}>{ "no second knob" }</option> }
                for knob in knobs.iter().filter(|knob| *other != knob.key) {
                    <option value={knob.key} selected={*key == knob.key}>{ title(knob) }</option>
                }
            </select>
            <input id={format!("sweep-values-{at}")} class="input input--small" type="text" autocomplete="off" spellcheck="false"
                aria-label={format!("{ordinal}: values")} placeholder="500,1000 or 500..8000*2" disabled={key.is_empty()}
                title="Values with commas, or a range: 500..2000:4 (four), 500..4000*2 (doubling), 500..2000+500 (steps)"
                value={written.values[at].clone()} oninput={write} />
        </div>
    }
}

fn title(knob: &Knob) -> String {
    if knob.unit.is_empty() { knob.name.to_owned() } else { format!("{} ({})", knob.name, knob.unit) }
}

fn seeds(written: &UseStateHandle<Written>) -> Html {
    const CHOICES: [(&str, &str); 4] = [
        ("", "the scenario's seed"),
        ("1..3", "seeds 1 to 3"),
        ("1..5", "seeds 1 to 5"),
        ("1..10", "seeds 1 to 10"),
    ];
    let choose = {
        let written = written.clone();
        Callback::from(move |event: Event| {
            let select: HtmlSelectElement = event.target_unchecked_into();
            written.set(Written { seeds: select.value(), ..(*written).clone() });
        })
    };
    html! {
        <div class="sweep__field sweep__field--one">
            <select id="sweep-seeds" class="select select--small" aria-label="Seeds" onchange={choose}>
                for (value, name) in CHOICES { <option {value} selected={written.seeds == value}>{ name }</option> }
            </select>
        </div>
    }
}
