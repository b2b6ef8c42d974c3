//! The first five minutes: four steps that point at the page's parts. They block nothing: whoever goes on by himself may.

use super::AppState;

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it points at: the first of these that is there.
    pub target: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// What to know.
    pub words: &'static str,
    /// What it can do for the user, and how that is called.
    pub offer: Option<(Offer, &'static str)>,
}

/// What a step can do for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Play the run from its beginning.
    Play,
    /// Go to the first transaction that found too little, of a case that has one.
    Reason,
    /// Show the sheet on which two runs are compared.
    Compare,
}

/// The steps.
pub const STEPS: [Step; 4] = [
    Step {
        target: "#case",
        title: "1. A scenario is a text",
        words: "Choose a case here, or change a number in the text on the left: Ctrl+Enter runs it. It ran already, in \
                this page, without a server.",
        offer: None,
    },
    Step {
        target: "#board",
        title: "2. The board shows every block",
        words: "Each cell is a block of the KV cache, coloured and shaped by its state; batches move along the lanes \
                between tiers. Play, or drag the time. A click on a block tells its life.",
        offer: Some((Offer::Play, "Play")),
    },
    Step {
        target: "#sheet-inspector",
        title: "3. Ask why",
        words: "Each request for blocks is a transaction: prepare, reserve, commit or abort, with its reason in words. \
                Below it stands who waits for what: a click on a row tells why that one waits.",
        offer: Some((Offer::Reason, "Show one that failed")),
    },
    Step {
        target: "#tab-compare",
        title: "4. What if, and share",
        words: "Shift+F runs it once more with a knob turned, from the beginning or from the cursor, and Compare shows both. Share gives a \
                colleague exactly this run. Now it is yours.",
        offer: Some((Offer::Compare, "Show Compare")),
    },
];

impl AppState {
    /// The step that is shown.
    pub fn tour_step(&self) -> Option<Step> {
        STEPS.get(self.tour?).copied()
    }

    /// On or back by one; behind the last step the tour is over, before the first it stays.
    pub(super) fn with_tour_step(self, forward: bool) -> Self {
        let tour = match self.tour {
            Some(step) if forward => Some(step + 1).filter(|&next| next < STEPS.len()),
            Some(step) => Some(step.saturating_sub(1)),
            None => None,
        };
        Self { tour, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Theme;

    #[test]
    fn four_steps_lead_to_free_play() {
        let mut state = AppState { tour: Some(0), ..AppState::opening("", Theme::System, false) };
        let mut seen = Vec::new();
        while let Some(step) = state.tour_step() {
            seen.push(step.target);
            state = state.with_tour_step(true);
        }
        assert_eq!((seen.len(), state.tour), (4, None));
        assert_eq!(state.with_tour_step(true).tour, None);
        let back = AppState { tour: Some(0), ..AppState::opening("", Theme::System, false) };
        assert_eq!(back.with_tour_step(false).tour, Some(0));
    }
}
