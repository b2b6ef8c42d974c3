//! Files on their way to the worker: one at a time, a slice after each answer.

use std::rc::Rc;

use tierscope_scenario::import::{self, Kind};
use tierscope_worker::protocol::{
    FromWorker, ProblemView, TRACE_SLICE_BYTES, ToWorker, TraceSaid, TraceStep,
};
use web_sys::File;
use yew::prelude::*;

use super::{Shared, State};
use crate::glue::files;
use crate::glue::parcel::Parcel;
use crate::state::Action;
use crate::state::intake::{Step, TEXT_BYTES, TracePhase, size, unfit_size};

type Dispatcher = UseReducerDispatcher<crate::state::AppState>;

/// The file that the worker has or gets; kept, so that a worker which is started anew gets it too.
#[derive(Default)]
pub(super) struct Bag {
    file: Option<File>,
    /// Its number.
    trace: u32,
}

impl Bag {
    /// The file, for other workers.
    pub(super) fn parcel(&self) -> Option<Parcel> {
        Some(Parcel { trace: self.trace, file: self.file.clone()? })
    }
}

/// So many bytes tell what a file is.
const HEAD_BYTES: f64 = 65_536.0;

/// Hands the trace over to each worker that is new to it. Stands before the hook that starts runs: a run waits for a trace whose
/// beginning was heard.
#[hook]
pub(crate) fn use_trace(state: &State, seeker: &Shared) {
    let deps = (state.worker_ready, state.intake.traces);
    let alive = state.trace_is_alive();
    let (seeker, traces) = (Rc::clone(seeker), state.intake.traces);
    use_effect_with(deps, move |&(ready, _)| {
        let seeker = seeker.borrow();
        let bag = seeker.bag.borrow();
        let file = bag.file.as_ref().filter(|_| ready && alive && bag.trace == traces);
        if let Some(file) = file {
            let step = TraceStep::Begin { name: file.name(), bytes: file.size() };
            seeker.send(&ToWorker::Trace { trace: bag.trace, step });
        }
    });
}

/// Takes what is dropped anywhere on the page.
#[hook]
pub(crate) fn use_drop(state: &State, seeker: &Shared) {
    let (state, seeker) = (state.clone(), Rc::clone(seeker));
    let traces = state.intake.traces;
    use_effect_with(traces, move |_| {
        let over = {
            let dispatcher = state.dispatcher();
            move |over: bool| dispatcher.dispatch(Action::Intake(Step::Over(over)))
        };
        let listeners = files::on_drop(over, move |file| accept(&state, &seeker, file));
        move || drop(listeners)
    });
}

/// Takes a file: a trace goes to the worker, everything else is read as text.
pub(crate) fn accept(state: &State, seeker: &Shared, file: File) {
    let (dispatcher, seeker, trace) = (state.dispatcher(), Rc::clone(seeker), state.intake.traces + 1);
    let (name, bytes) = (file.name(), file.size());
    if let Some(why) = unfit_size(bytes) {
        return dispatcher.dispatch(Action::Intake(Step::Unfit { name, why }));
    }
    js_sys::futures::spawn_local(async move {
        let step = match files::read(&file, 0.0, HEAD_BYTES).await.map(|head| head.to_vec()) {
            None => Step::Unfit { name, why: "The browser cannot read it.".to_owned() },
            Some(head) => match import::detect(&head, &name) {
                Some(Kind::Trace(_)) => {
                    *seeker.borrow().bag.borrow_mut() = Bag { file: Some(file), trace };
                    Step::Trace { name, bytes }
                }
                _ => text(&file, name).await,
            },
        };
        dispatcher.dispatch(Action::Intake(step));
    });
}

/// The text of a file, or why there is none.
async fn text(file: &File, name: String) -> Step {
    if file.size() > TEXT_BYTES {
        let why = format!(
            "It has {}, and is no trace by its first line; a scenario or a configuration has at most 1 MiB.",
            size(file.size())
        );
        return Step::Unfit { name, why };
    }
    let Some(bytes) = files::read(file, 0.0, TEXT_BYTES).await else {
        return Step::Unfit { name, why: "The browser cannot read it.".to_owned() };
    };
    match String::from_utf8(bytes.to_vec()) {
        Ok(text) => Step::Text { name, text },
        Err(_) => Step::Unfit {
            name,
            why: "It is no text: a picture, a program, or packed in another way than gzip. Expected: a trace (JSON lines or CSV, packed as .gz or not), a scenario, or a configuration.".to_owned(),
        },
    }
}

/// The worker has so many bytes: the next follow.
pub(super) fn go_on(seeker: &Shared, dispatcher: &Dispatcher, trace: u32, from: f64) {
    let bag = Rc::clone(&seeker.borrow().bag);
    let file = bag.borrow().file.clone().filter(|_| bag.borrow().trace == trace);
    let Some(file) = file else { return };
    if from >= file.size() {
        seeker.borrow().send(&ToWorker::Trace { trace, step: TraceStep::End });
        return dispatcher.dispatch(Action::Intake(Step::Sent));
    }
    let (seeker, dispatcher) = (Rc::clone(seeker), dispatcher.clone());
    js_sys::futures::spawn_local(async move {
        let slice = files::read(&file, from, from + f64::from(TRACE_SLICE_BYTES)).await;
        // It may have been cancelled meanwhile, or another one dropped.
        let current = bag.borrow().trace == trace && bag.borrow().file.is_some();
        match slice.filter(|slice| slice.length() > 0) {
            _ if !current => {}
            Some(slice) => seeker.borrow().send_slice(trace, &slice),
            None => dispatcher.dispatch(Action::Worker(FromWorker::Trace { trace, said: lost() })),
        }
    });
}

fn lost() -> TraceSaid {
    let problem = ProblemView {
        line: 1,
        column: 1,
        found: "a file that cannot be read any more".to_owned(),
        expected: "one that stays where it is until it is read".to_owned(),
        mend: "drop it again".to_owned(),
        ..ProblemView::default()
    };
    TraceSaid::Refused { problems: vec![problem] }
}

/// Gives up the trace that is on its way. A worker that is reading it does not hear: it is ended, and another one started.
pub(crate) fn cancel_trace(state: &State, seeker: &Shared) {
    let reads = state.intake.trace.as_ref().is_some_and(|trace| trace.phase == TracePhase::Checking);
    let trace = {
        let seeker = seeker.borrow();
        let mut bag = seeker.bag.borrow_mut();
        bag.file = None;
        bag.trace
    };
    state.dispatch(Action::Intake(Step::CancelTrace));
    if reads {
        state.dispatch(Action::RestartWorker);
        seeker.borrow().restart.emit(());
    } else {
        seeker.borrow().send(&ToWorker::Trace { trace, step: TraceStep::Drop });
    }
}
