//! Questions about a run that is over: its tracks once, and the facts of the instant at the cursor.

use std::rc::Rc;

use tierscope_worker::protocol::{Direction, ToWorker};
use yew::prelude::*;

use super::{Shared, State, step};
use crate::state::Action;
use crate::state::known::{Drawer, FactStep};

/// Asks for the tracks when a run is over, and for facts where the cursor rests.
#[hook]
pub(crate) fn use_known(state: &State, seeker: &Shared) {
    let (run, over) = (state.run, state.ended().is_some());
    use_effect_with((run, over), {
        let seeker = Rc::clone(seeker);
        move |&(run, over)| {
            if over {
                seeker.borrow().send(&ToWorker::Tracks { run });
            }
        }
    });
    use_effect_with((run, state.open_facts()), {
        let (state, seeker) = (state.clone(), Rc::clone(seeker));
        move |&(run, open)| {
            if let Some(at_ns) = open {
                state.dispatch(Action::AskFacts(at_ns));
                seeker.borrow().send(&ToWorker::Facts { run, at_ns });
            }
        }
    });
}

/// To another fact of the instant, and from its ends to the next instant or the one before.
pub(crate) fn step_fact(state: &State, seeker: &Shared, direction: Direction) {
    if state.ended().is_none() {
        return;
    }
    let back = direction == Direction::Back;
    if state.known.drawer != Some(Drawer::Facts) {
        // A pause first: facts are of an instant.
        state.dispatch(Action::MoveTo(state.playback.cursor_ns));
        state.dispatch(Action::ShowDrawer(Some(Drawer::Facts)));
        return;
    }
    match state.fact_step(back) {
        Some(FactStep::Within(place)) => state.dispatch(Action::TellFact(place)),
        Some(FactStep::Beyond) => {
            state.dispatch(Action::LeaveInstant(back));
            step(state, seeker, direction);
        }
        None => {}
    }
}
