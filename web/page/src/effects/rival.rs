//! The other run: a web worker of its own, started when two runs are compared and ended with the comparison.

use std::rc::Rc;

use tierscope_worker::protocol::{FromWorker, ToWorker};
use yew::prelude::*;

use super::{Seeker, Shared, State};
use crate::glue::worker::Line;
use crate::glue::{dom, worker};
use crate::state::Action;
use crate::state::rival::RivalEvent;

/// Keeps B's worker alive as long as there is a B, and B beside A.
#[hook]
pub(crate) fn use_rival(state: &State, first: &Shared) {
    let seeker = use_mut_ref(Seeker::default);
    // The trace that B's worker has.
    let has = use_state_eq(|| None::<u32>);
    use_its_worker(state, &seeker, first, &has);
    let kept = state.kept_trace();
    use_effect_with((state.rival.ready, kept), {
        let (seeker, first) = (Rc::clone(&seeker), Rc::clone(first));
        move |&(ready, kept)| {
            let parcel = kept.filter(|_| ready).and_then(|number| super::parcel(&first, number));
            if let (Some(parcel), Some(line)) = (parcel, &seeker.borrow().line) {
                parcel.begin(line);
            }
        }
    });
    // What is to be replayed is waited for.
    let coming = kept.is_none() && state.has_trace();
    let prepared = state.rival.ready && !coming && (kept.is_none() || *has == kept);
    let rival = &state.rival;
    let (run, worker) = (rival.run, state.worker());
    use_effect_with((run, prepared && rival.is_running()), {
        let (seeker, duel) = (Rc::clone(&seeker), state.duel());
        move |&(run, wanted)| {
            if let Some(duel) = duel.filter(|_| wanted) {
                seeker.borrow_mut().forget();
                seeker.borrow().send(&ToWorker::Fork { run, duel, worker });
            }
        }
    });
    use_effect_with(rival.asked, |&asked| {
        if asked > 0 {
            dom::focus("what-if-form");
        }
    });
    // The cursor of A is B's too.
    let wanted = rival.ended().map(|_| (worker, state.playback.cursor_ns));
    let shown = rival.board.as_ref().map(|board| (board.worker, board.asked_ns));
    use_effect_with((run, wanted, shown), move |_| {
        if let Some((worker, at_ns)) = wanted.filter(|_| wanted != shown) {
            seeker.borrow_mut().want(run, worker, at_ns);
        }
    });
}

#[hook]
fn use_its_worker(state: &State, seeker: &Shared, first: &Shared, has: &UseStateHandle<Option<u32>>) {
    let dispatcher = state.dispatcher();
    let (seeker, first, has) = (Rc::clone(seeker), Rc::clone(first), has.setter());
    use_effect_with(state.fork.is_some(), move |&wanted| {
        let event = Callback::from(move |event| dispatcher.dispatch(Action::Rival(event)));
        let heard = {
            let (event, seeker, has) = (event.clone(), Rc::clone(&seeker), has.clone());
            Callback::from(move |message: FromWorker| {
                match &message {
                    FromWorker::Board { run, board } => {
                        seeker.borrow_mut().answered(*run, board.worker, board.asked_ns);
                    }
                    FromWorker::Trace { trace, said } => {
                        let own = super::parcel(&first, *trace);
                        if own.is_some_and(|parcel| parcel.go_on(said, with_line(&seeker))) {
                            has.set(Some(*trace));
                        }
                    }
                    _ => {}
                }
                event.emit(RivalEvent::Heard(message));
            })
        };
        let line = wanted.then(|| worker::start(heard, event.reform(RivalEvent::Died))).flatten();
        *seeker.borrow_mut() = Seeker { line, ..Seeker::default() };
        has.set(None);
        move || *seeker.borrow_mut() = Seeker::default()
    });
}

/// Does something with B's line, if it still has one.
fn with_line(seeker: &Shared) -> impl FnOnce(&dyn Fn(&Line)) + 'static {
    let seeker = Rc::downgrade(seeker);
    move |say| {
        let Some(seeker) = seeker.upgrade() else { return };
        if let Some(line) = &seeker.borrow().line {
            say(line);
        }
    }
}
