//! Questions for transactions: one at a time, the newest next.

use std::rc::Rc;

use tierscope_worker::protocol::{Find, OutcomeFilter, ToWorker, TxnFilter, Way};
use yew::prelude::*;

use super::{Seeker, Shared, State};
use crate::state::Action;

/// The questions under way and to come.
#[derive(Default)]
pub(super) struct Finds {
    wanted: Option<(u32, Find)>,
    under_way: bool,
}

impl Seeker {
    fn want_find(&mut self, run: u32, find: Find) {
        self.finds.wanted = Some((run, find));
        if !self.finds.under_way {
            self.ask_find();
        }
    }

    /// A transaction came; what is wanted by now is asked for.
    pub(super) fn found(&mut self) {
        self.finds.under_way = false;
        self.ask_find();
    }

    fn ask_find(&mut self) {
        if let Some((run, find)) = self.finds.wanted.take() {
            self.finds.under_way = true;
            self.send(&ToWorker::Find { run, find });
        }
    }
}

/// Asks for the transaction at the cursor.
#[hook]
pub(crate) fn use_inspector(state: &State, seeker: &Shared) {
    let (run, open) = (state.run, state.open_question());
    // The transaction that is shown has no influence on this question.
    let open = open.map(|find| Find { txn: None, ..find });
    let seeker = Rc::clone(seeker);
    use_effect_with((run, open), move |&(run, open)| {
        if let Some(find) = open {
            seeker.borrow_mut().want_find(run, find);
        }
    });
}

/// Goes to another transaction; the cursor follows.
pub(crate) fn find(state: &State, seeker: &Shared, way: Way) {
    if state.ended().is_none() {
        return;
    }
    let mut find = state.find(way);
    // A pause first: otherwise the next frame would overtake the step.
    state.dispatch(Action::MoveTo(state.playback.cursor_ns));
    if way == Way::FirstExhausted {
        // Among all, so that one can go on to what followed.
        find.filter = TxnFilter { outcome: OutcomeFilter::All, request: None, ..find.filter };
        state.dispatch(Action::SetFilter(find.filter));
    }
    seeker.borrow().send(&ToWorker::Find { run: state.run, find });
}
