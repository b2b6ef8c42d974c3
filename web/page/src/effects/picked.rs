//! Questions about the thing that is picked out: one at a time, the newest next.

use std::rc::Rc;

use tierscope_worker::protocol::ToWorker;
use yew::prelude::*;

use super::{Seeker, Shared, State};
use crate::state::picked::subject;
use crate::state::selection::Selection;

/// The question under way, and the one to come.
#[derive(Default)]
pub(super) struct Tells {
    wanted: Option<(u32, Selection, f64)>,
    under_way: bool,
}

impl Seeker {
    fn want_told(&mut self, wanted: (u32, Selection, f64)) {
        self.tells.wanted = Some(wanted);
        if !self.tells.under_way {
            self.ask_told();
        }
    }

    /// An answer came; what is wanted by now is asked for.
    pub(super) fn told(&mut self) {
        self.tells.under_way = false;
        self.ask_told();
    }

    fn ask_told(&mut self) {
        if let Some((run, about, at_ns)) = self.tells.wanted.take() {
            self.tells.under_way = true;
            self.send(&ToWorker::Tell { run, at_ns, about: subject(&about) });
        }
    }
}

/// Asks about the thing that is picked out, as it is at the cursor.
#[hook]
pub(crate) fn use_picked(state: &State, seeker: &Shared) {
    let (run, question) = (state.run, state.picked_question());
    let seeker = Rc::clone(seeker);
    use_effect_with((run, question), move |(run, question)| {
        if let Some((about, at_ns)) = question.clone() {
            seeker.borrow_mut().want_told((*run, about, at_ns));
        }
    });
}
