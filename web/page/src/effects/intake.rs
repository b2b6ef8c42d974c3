//! Files on their way to the worker: one at a time, a slice after each answer.

use std::rc::Rc;

use tierscope_scenario::import::{self, Kind};
use tierscope_worker::protocol::{
    FileKind, FromWorker, ProblemView, TRACE_SLICE_BYTES, ToWorker, TraceSaid, TraceStep,
};
use web_sys::File;
use yew::prelude::*;

use super::{Shared, State};
use crate::glue::files;
use crate::glue::parcel::Parcel;
use crate::state::Action;
use crate::state::intake::{FilePhase, Step, TEXT_BYTES, size, unfit_size};

type Dispatcher = UseReducerDispatcher<crate::state::AppState>;

/// The files that the worker has or gets; kept, so that a worker which is started anew gets them too.
#[derive(Default)]
pub(super) struct Bag(Vec<Parcel>);

impl Bag {
    /// The file of a number.
    pub(super) fn get(&self, number: u32) -> Option<&Parcel> {
        self.0.iter().find(|parcel| parcel.trace == number)
    }

    fn forget(&mut self, number: u32) {
        self.0.retain(|parcel| parcel.trace != number);
    }
}

/// So many bytes tell what a file is.
const HEAD_BYTES: f64 = 65_536.0;

/// Hands the files over to each worker that is new to them. Stands before the hook that starts runs: a run waits for a file whose
/// beginning was heard.
#[hook]
pub(crate) fn use_files(state: &State, seeker: &Shared) {
    let (wanted, given) = (state.wanted_files(), state.intake.files);
    let seeker = Rc::clone(seeker);
    use_effect_with((state.worker_ready, wanted), move |&(ready, wanted)| {
        let mut seeker = seeker.borrow_mut();
        let bag = Rc::clone(&seeker.bag);
        // Those of higher numbers are about to be told to the state.
        let left: Vec<u32> = bag.borrow().0.iter().map(|parcel| parcel.trace).collect();
        for number in left.into_iter().filter(|&number| number <= given && !wanted.contains(&Some(number))) {
            bag.borrow_mut().forget(number);
            seeker.send(&ToWorker::Trace { trace: number, step: TraceStep::Drop });
        }
        if !ready {
            return;
        }
        for parcel in wanted.into_iter().flatten().filter_map(|number| bag.borrow().get(number).cloned()) {
            if !seeker.announced.contains(&parcel.trace) {
                seeker.announced.push(parcel.trace);
                seeker.send(&parcel.announcement());
            }
        }
    });
}

/// Takes what is dropped anywhere on the page.
#[hook]
pub(crate) fn use_drop(state: &State, seeker: &Shared) {
    let (state, seeker) = (state.clone(), Rc::clone(seeker));
    use_effect_with(state.intake.files, move |_| {
        let over = {
            let dispatcher = state.dispatcher();
            move |over: bool| dispatcher.dispatch(Action::Intake(Step::Over(over)))
        };
        let listeners = files::on_drop(over, move |file| accept(&state, &seeker, file));
        move || drop(listeners)
    });
}

/// Takes a file: a trace or a driven run goes to the worker, everything else is read as text.
pub(crate) fn accept(state: &State, seeker: &Shared, file: File) {
    let (dispatcher, seeker, trace) = (state.dispatcher(), Rc::clone(seeker), state.intake.files + 1);
    let (name, bytes) = (file.name(), file.size());
    if let Some(why) = unfit_size(bytes) {
        return dispatcher.dispatch(Action::Intake(Step::Unfit { name, why }));
    }
    js_sys::futures::spawn_local(async move {
        let step = match files::read(&file, 0.0, HEAD_BYTES).await.map(|head| head.to_vec()) {
            None => Step::Unfit { name, why: "The browser cannot read it.".to_owned() },
            Some(head) => match import::detect(&head, &name) {
                Some(Kind::Trace(_)) => {
                    seeker.borrow().bag.borrow_mut().0.push(Parcel { trace, kind: FileKind::Trace, file });
                    Step::Trace { name, bytes }
                }
                Some(Kind::Recording) => {
                    seeker.borrow().bag.borrow_mut().0.push(Parcel {
                        trace,
                        kind: FileKind::Recording,
                        file,
                    });
                    Step::Recording { name, bytes }
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
            "It has {}, and is neither a trace nor a driven run by its first line; a scenario or a configuration has at most 1 MiB.",
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
            why: "It is no text: a picture, a program, or packed in another way than gzip. Expected: a trace (JSON lines or CSV, packed as .gz or not), a driven run, a scenario, or a configuration.".to_owned(),
        },
    }
}

/// The worker has so many bytes: the next follow.
pub(super) fn go_on(seeker: &Shared, dispatcher: &Dispatcher, trace: u32, from: f64) {
    let bag = Rc::clone(&seeker.borrow().bag);
    let Some(Parcel { file, .. }) = bag.borrow().get(trace).cloned() else { return };
    if from >= file.size() {
        seeker.borrow().send(&ToWorker::Trace { trace, step: TraceStep::End });
        return dispatcher.dispatch(Action::Intake(Step::Sent(trace)));
    }
    let (seeker, dispatcher) = (Rc::clone(seeker), dispatcher.clone());
    js_sys::futures::spawn_local(async move {
        let slice = files::read(&file, from, from + f64::from(TRACE_SLICE_BYTES)).await;
        // It may have been cancelled meanwhile, or another one dropped.
        let current = bag.borrow().get(trace).is_some();
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

/// Gives up a file that is on its way. A worker that is reading it does not hear: it is ended, and another one started.
pub(crate) fn cancel_file(state: &State, seeker: &Shared, number: u32) {
    let file = [FileKind::Trace, FileKind::Recording].into_iter().filter_map(|kind| state.file(kind));
    let reads = file.into_iter().any(|file| file.number == number && file.phase == FilePhase::Checking);
    seeker.borrow().bag.borrow_mut().forget(number);
    state.dispatch(Action::Intake(Step::Cancel(number)));
    if reads {
        state.dispatch(Action::RestartWorker);
        seeker.borrow().restart.emit(());
    } else {
        seeker.borrow().send(&ToWorker::Trace { trace: number, step: TraceStep::Drop });
    }
}
