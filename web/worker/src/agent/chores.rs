//! Chores of the pool: each a function of its message, so that any worker may do it, in any order.

mod compare;
mod pairs;
mod sizing;
mod supply;
mod sweep;

use tierscope_sweep::Refusal;

use super::begin::Files;
use super::problem_view;
use crate::protocol::{Answer, Chore, ProblemView};
use supply::{Shelf, Supply};

/// Where chores are done; keeps nothing but what would be made again.
#[derive(Default)]
pub(super) struct Chores {
    shelf: Shelf,
}

/// Why a chore cannot be done.
type Problems = Vec<ProblemView>;

impl Chores {
    /// Forgets what was made of a trace: another one comes.
    pub(super) fn forget_traces(&mut self) {
        self.shelf.forget_traces();
    }

    /// Does a chore, and says what came of it.
    pub(super) fn work(&mut self, chore: Chore, files: &Files, say: &mut dyn FnMut(Answer)) {
        let Files { traces, recordings } = files;
        let supply = &mut Supply { shelf: &mut self.shelf, traces, recordings };
        let answer = match chore {
            Chore::Plan { plan } => sweep::plan(&plan).map(|plan| Answer::Plan { plan }),
            Chore::Point { plan, index } => {
                sweep::point(supply, &plan, index).map(|row| Answer::Point { row })
            }
            Chore::Rows { plan, rows, form } => {
                sweep::rows(supply, &plan, &rows, form).map(|text| Answer::Rows { text })
            }
            Chore::Size { text, share, of } => sizing::share(supply, &text, (share, of))
                .map(|sizing| Answer::Size { sizing: Box::new(sizing) }),
            Chore::Compare { duel } => compare::compare(supply, &duel, say)
                .map(|difference| Answer::Compare { difference: Box::new(difference) }),
            Chore::Pair { duel, seed } => pairs::pair(supply, &duel, seed).map(|pair| Answer::Pair { pair }),
            Chore::Spread { pairs } => Ok(Answer::Spread { spread: pairs::spread(&pairs) }),
        };
        say(answer.unwrap_or_else(|problems| Answer::Refused { problems }));
    }
}

/// A problem that has no place in a text.
fn trouble(key: &str, found: impl Into<String>, expected: &str, mend: &str) -> Problems {
    vec![ProblemView {
        line: 0,
        column: 0,
        key: key.to_owned(),
        found: found.into(),
        expected: expected.to_owned(),
        mend: mend.to_owned(),
    }]
}

fn refusal(refusal: &Refusal) -> Problems {
    // The page has fields, not flags.
    trouble(refusal.place.trim_start_matches('-'), &refusal.found, &refusal.expected, &refusal.mend)
}

fn problems(problems: &[tierscope_scenario::Problem]) -> Problems {
    problems.iter().map(problem_view).collect()
}

#[cfg(test)]
mod tests;
