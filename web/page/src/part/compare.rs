//! Two runs beside each other: what B changes, where they part, and what came of both.

mod form;
mod seeds;
mod table;

use std::rc::Rc;

use yew::prelude::*;

use crate::state::fork::Fork;
use crate::state::jobs::{JobEvent, Jobs, Slot};
use crate::state::rival::{Rival, RivalEvent};
use crate::state::{Action, Ended, Phase, driven, duel, format};
use form::Form;
use seeds::Seeds;
use table::Table;

#[derive(Properties, PartialEq)]
pub(crate) struct CompareProps {
    /// The text of A.
    pub(crate) text: Rc<str>,
    pub(crate) ended: Option<Rc<Ended>>,
    pub(crate) cursor_ns: f64,
    pub(crate) fork: Option<Fork>,
    pub(crate) rival: Rival,
    /// A was driven.
    pub(crate) driven: bool,
    pub(crate) jobs: Jobs,
    pub(crate) act: Callback<Action>,
}

#[component]
pub(crate) fn Compare(props: &CompareProps) -> Html {
    let refused = matches!(props.rival.phase, Phase::Refused(_));
    // Refused changes are mended where they were made.
    let form = props.rival.form || props.fork.is_none() || refused;
    html! {
        <div class="compare panel__scroll" tabindex="0">
            if let Some(fork) = &props.fork {
                { head(props, fork) }
            }
            if refused { { refusal(&props.rival.phase) } }
            if form {
                <Form text={Rc::clone(&props.text)} driven={props.driven} fork={props.fork.clone()} cursor_ns={props.cursor_ns}
                    end_ns={props.ended.as_ref().map(|ended| ended.result.end_ns)} act={props.act.clone()} />
            }
            if props.fork.is_some() && !refused {
                { parting(props) }
                { results(props) }
                <Seeds jobs={props.jobs.clone()} driven={props.driven} ready={both(props).is_some()} act={props.act.clone()} />
            }
        </div>
    }
}

fn head(props: &CompareProps, fork: &Fork) -> Html {
    let end_ns = props.ended.as_ref().map_or(1e9, |ended| ended.result.end_ns);
    let from = match fork.at_ns {
        _ if driven::is_simulation(fork) => "the simulation of A, which was driven".to_owned(),
        Some(at_ns) => format!("from {} on", format::clock(at_ns, end_ns)),
        None => "from the beginning".to_owned(),
    };
    let open = props.rival.form;
    html! {
        <header class="compare__head">
            <p id="compare-b"><b class="duel__side">{ "B" }</b>
                for change in &fork.changes { <code>{ change }</code> }
                <span>{ format!("{from}: {}", duel::standing(&props.rival.phase)) }</span></p>
            <div class="compare__buttons">
                <button type="button" id="compare-change" class="button button--small" aria-expanded={open.to_string()}
                    onclick={props.act.reform(move |_: MouseEvent| Action::Rival(RivalEvent::Form(!open)))}>
                    { if open { "Close the form" } else { "Change" } }</button>
                <button type="button" id="compare-end" class="button button--small"
                    onclick={props.act.reform(|_: MouseEvent| Action::SetFork(None))}>{ "End comparison" }</button>
            </div>
        </header>
    }
}

fn refusal(phase: &Phase) -> Html {
    let Phase::Refused(problems) = phase else { return html!() };
    faults(problems)
}

/// What stands in the way, and how to mend it.
pub(crate) fn faults(problems: &[tierscope_worker::protocol::ProblemView]) -> Html {
    html! {
        <ul class="faults" role="alert">
            for problem in problems.iter().take(5) {
                <li>
                    if !problem.key.is_empty() { <code>{ problem.key.clone() }</code>{ ": " } }
                    { format!("found {}, expected {}. ", problem.found, problem.expected) }
                    <b>{ format!("Mend: {}.", problem.mend.trim_end_matches('.')) }</b>
                </li>
            }
        </ul>
    }
}

fn both(props: &CompareProps) -> Option<(&Rc<Ended>, &Rc<Ended>)> {
    props.ended.as_ref().zip(props.rival.ended())
}

fn parting(props: &CompareProps) -> Html {
    let end_ns = both(props).map_or(0.0, |(a, b)| a.result.end_ns.max(b.result.end_ns));
    if let Some(difference) = &props.jobs.difference {
        let at_ns = duel::parting(difference).and_then(|parting| parting.at_ns());
        let differing = difference.aspects.iter().filter(|aspect| !aspect.equal);
        return html! {
            <section class="compare__parting" aria-label="Where they part">
                <h3>{ if difference.equal { "No difference" } else { "Where they part" } }</h3>
                <p id="parting" aria-live="polite">{ duel::in_words(difference, end_ns) }</p>
                if let Some(at_ns) = at_ns {
                    <button type="button" id="go-there" class="button button--small"
                        onclick={props.act.reform(move |_: MouseEvent| Action::MoveTo(at_ns))}>{ "Go there" }</button>
                }
                if !difference.equal {
                    <p class="compare__aspects">{ "Differs in: " }
                        { differing.map(|aspect| aspect.name.clone()).collect::<Vec<_>>().join(", ") }
                        if !difference.same_work { { ". Their requests are not the same." } }
                    </p>
                }
            </section>
        };
    }
    match props.jobs.of(Slot::Meeting) {
        Some(job) if job.is_under_way() => html! {
            <div class="compare__parting">
                { progress("Looking for the first difference", job.share(), Slot::Meeting, &props.act) }
            </div>
        },
        Some(job) if !job.problems().is_empty() => faults(job.problems()),
        Some(_) => html! { <p class="empty">{ "The first difference was not looked for to the end." }</p> },
        None => html!(),
    }
}

/// How far something is, and a way to stop it.
pub(crate) fn progress(what: &str, share: f64, slot: Slot, act: &Callback<Action>) -> Html {
    html! {
        <div class="progress" role="group" aria-label={what.to_owned()}>
            <label>{ what.to_owned() }
                <progress max="1" value={format!("{share:.3}")}>{ format::percent(share) }</progress></label>
            <button type="button" class="button button--small" data-cancel={format!("{slot:?}").to_lowercase()}
                onclick={act.reform(move |_: MouseEvent| Action::Job(JobEvent::Cancel(slot)))}>{ "Cancel" }</button>
        </div>
    }
}

fn results(props: &CompareProps) -> Html {
    match both(props) {
        Some((a, b)) => html! { <Table a={Rc::clone(a)} b={Rc::clone(b)} /> },
        None => {
            html! { <p class="empty">{ "The table of differences appears when both runs have ended." }</p> }
        }
    }
}
