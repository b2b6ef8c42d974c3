//! The first five minutes: their keys, what they do for the user, and that they were seen.

use yew::prelude::*;

use super::{Shared, State, find};
use crate::glue::visit;
use crate::state::tour::Offer;
use crate::state::{Action, gallery};
use tierscope_worker::protocol::{OutcomeFilter, Way};

/// A key while the tour is open; whether it was one of its own.
pub(super) fn key(state: &State, key: &str) -> bool {
    match key {
        "Enter" | "ArrowRight" => state.dispatch(Action::TourStep(true)),
        "ArrowLeft" => state.dispatch(Action::TourStep(false)),
        "Escape" => state.dispatch(Action::ShowTour(false)),
        _ => return false,
    }
    true
}

/// Remembers that the tour is over; gives what it offers.
#[hook]
pub(crate) fn use_tour(state: &State, seeker: &Shared) -> Callback<Offer> {
    let open = state.tour.is_some();
    let was_open = use_mut_ref(|| false);
    use_effect_with(open, move |&open| {
        if was_open.replace(open) && !open {
            visit::remember_tour();
        }
    });
    // A transaction that failed is wanted: of a case that has one, as soon as it has run.
    let wanted = use_mut_ref(|| false);
    let found = state.inspector.found.as_ref();
    let failed = found.is_some_and(|found| found.counts[OutcomeFilter::Exhausted as usize] > 0);
    use_effect_with((state.run, failed), {
        let (state, seeker, wanted) = (state.clone(), seeker.clone(), wanted.clone());
        move |&(_, failed)| {
            if failed && wanted.replace(false) {
                find(&state, &seeker, Way::FirstExhausted);
            }
        }
    });
    let (state, seeker) = (state.clone(), seeker.clone());
    Callback::from(move |offer: Offer| match offer {
        Offer::Play => {
            state.dispatch(Action::MoveTo(0.0));
            state.dispatch(Action::TogglePlay);
        }
        Offer::Reason if failed => find(&state, &seeker, Way::FirstExhausted),
        Offer::Reason => {
            *wanted.borrow_mut() = true;
            let case = gallery::CASES.iter().position(|case| case.name == "twelve-blocks");
            state.dispatch(Action::Choose(case.unwrap_or_default()));
        }
        Offer::Compare => state.dispatch(Action::ShowSheet(crate::state::sheet::Sheet::Compare)),
    })
}
