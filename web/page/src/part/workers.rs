//! Several workers at a glance: a chip each, with what it does, how it is, how full its G1 is, and its queues. A click
//! shows that worker; a click on the one that is shown tells all of it.

use std::rc::Rc;

use tierscope_worker::protocol::{BlockState, WorkerState, WorkerView};
use yew::prelude::*;

use crate::state::selection::Selection;
use crate::state::workers::{name, role, summary};

#[derive(Properties, PartialEq)]
pub(crate) struct WorkersProps {
    pub(crate) workers: Rc<[WorkerView]>,
    pub(crate) chosen: u32,
    pub(crate) on_choose: Callback<u32>,
    pub(crate) on_select: Callback<Option<Selection>>,
}

#[component]
pub(crate) fn Workers(props: &WorkersProps) -> Html {
    let away = props.workers.get(props.chosen as usize).and_then(|worker| away(worker.state));
    html! {
        <div class="workers" id="workers">
            <ul class="workers__row" aria-label={summary(&props.workers)}>
                for (number, worker) in props.workers.iter().enumerate() {
                    <li key={number}>{ chip(props, number, *worker) }</li>
                }
            </ul>
            if let Some(away) = away {
                <strong class="workers__away">{ away }</strong>
            }
        </div>
    }
}

fn chip(props: &WorkersProps, number: usize, worker: WorkerView) -> Html {
    let (chosen, which) = (number == props.chosen as usize, number as u32);
    let (on_choose, on_select) = (props.on_choose.clone(), props.on_select.clone());
    let onclick = Callback::from(move |_: MouseEvent| {
        if chosen {
            on_select.emit(Some(Selection::Worker(which)));
        } else {
            on_choose.emit(which);
        }
    });
    let ready = worker.state == WorkerState::Ready;
    let class = if ready { "worker" } else { "worker worker--away" };
    let heard = format!("{}: {} running, {} waiting", name(number, worker), worker.running, worker.waiting);
    let title =
        if chosen { "Tell all about this worker" } else { "Show this worker (n, N: the next, the previous)" };
    let share = |state: BlockState| {
        let capacity = f64::from(worker.g1.capacity().max(1));
        format!("width:{:.1}%", f64::from(worker.g1.of(state)) / capacity * 100.0)
    };
    html! {
        <button type="button" id={format!("worker-{number}")} {class} aria-pressed={chosen.to_string()} aria-label={heard}
            {title} {onclick}>
            <span class="worker__name"><b>{ number }</b>{ role(worker.role) }</span>
            <span class="worker__queues">
                if ready || worker.running > 0 {
                    { format!("{} run", worker.running) }
                    if worker.waiting > 0 {
                        { format!(" +{}", worker.waiting) }
                    }
                } else {
                    { crate::state::workers::state(worker.state) }
                }
            </span>
            <span class="worker__g1">
                <i class="worker__active" style={share(BlockState::Active)} />
                <i class="worker__cached" style={share(BlockState::Cached)} />
            </span>
        </button>
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
