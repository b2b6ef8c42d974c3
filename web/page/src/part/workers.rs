//! Which of several workers the board shows, and how they all are: a list that the keyboard reaches.

use std::rc::Rc;

use tierscope_worker::protocol::{WorkerState, WorkerView};
use web_sys::HtmlSelectElement;
use yew::prelude::*;

use crate::state::workers::{name, summary};

#[derive(Properties, PartialEq)]
pub(crate) struct WorkersProps {
    pub(crate) workers: Rc<[WorkerView]>,
    pub(crate) chosen: u32,
    pub(crate) on_choose: Callback<u32>,
}

#[component]
pub(crate) fn Workers(props: &WorkersProps) -> Html {
    let onchange = props.on_choose.reform(|event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        select.selected_index().max(0) as u32
    });
    let away = props.workers.get(props.chosen as usize).and_then(|worker| away(worker.state));
    html! {
        <div class="workers">
            <label>
                <span class="visually-hidden">{ "Worker" }</span>
                <select id="worker" class="select" {onchange} title="The worker that is shown (w, W)">
                    for (number, worker) in props.workers.iter().enumerate() {
                        <option selected={number == props.chosen as usize}>{ name(number, *worker) }</option>
                    }
                </select>
            </label>
            <span>{ summary(&props.workers) }</span>
            if let Some(away) = away {
                <strong class="workers__away">{ away }</strong>
            }
        </div>
    }
}

/// What it means that a worker is not ready.
fn away(state: WorkerState) -> Option<&'static str> {
    match state {
        WorkerState::Ready => None,
        WorkerState::Absent => Some("It is not there."),
        WorkerState::Starting => Some("It takes nothing yet."),
        WorkerState::Draining => Some("It takes nothing new."),
        WorkerState::Lost => Some("What it held is gone."),
    }
}
