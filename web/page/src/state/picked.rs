//! The thing that the user picked out, and what the worker tells of it: which question is open, and the answer in words.
//! Words are pieces: text, and names of other things that can be picked out in turn.

mod block;
mod request;

use std::rc::Rc;

use tierscope_worker::protocol::{CopyView, Subject, TierName, Told};

use super::AppState;
use super::selection::Selection;
use super::sheet::Sheet;

pub use block::{event, here};
pub use request::{first_line, life, phase};

/// What the worker told of a thing as it was at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Picked {
    /// Of what.
    pub about: Selection,
    /// At which time.
    pub at_ns: f64,
    /// What it told.
    pub told: Rc<Told>,
}

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Words.
    Text(String),
    /// The name of a thing, which can be picked out.
    Pick(Selection),
}

impl From<&str> for Piece {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Selection> for Piece {
    fn from(selection: Selection) -> Self {
        Self::Pick(selection)
    }
}

/// A sentence as it is read aloud.
pub fn plain(pieces: &[Piece]) -> String {
    let word = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Pick(selection) => name(selection),
    };
    pieces.iter().map(word).collect()
}

/// What a thing is called.
pub fn name(selection: &Selection) -> String {
    match selection {
        Selection::Request(number) => format!("request {number}"),
        // Enough to tell it from others; the whole hash stands in its own inspector.
        Selection::Block(hash) => format!("block {:08x}…", hash >> 32),
        Selection::Transfer(number) => format!("transfer {number}"),
        Selection::Worker(number) => format!("worker {number}"),
    }
}

/// The block of a hash as the worker writes it.
pub fn block(hash: &str) -> Option<Selection> {
    u64::from_str_radix(hash, 16).ok().map(Selection::Block)
}

/// A copy as a thing.
pub fn transfer(number: f64) -> Selection {
    Selection::Transfer(number as u64)
}

/// Whom a copy concerns: the one that wants its blocks, then those that wait for it.
pub fn concerned(copy: &CopyView) -> Vec<Selection> {
    let mut all: Vec<u32> = copy.request.into_iter().collect();
    all.extend(copy.waiting.iter().filter(|&&other| Some(other) != copy.request));
    all.into_iter().map(Selection::Request).collect()
}

/// The question for a thing, as the worker reads it.
pub fn subject(selection: &Selection) -> Subject {
    match *selection {
        Selection::Request(number) => Subject::Request(number),
        Selection::Block(hash) => Subject::Block(format!("{hash:016x}")),
        Selection::Transfer(number) => Subject::Transfer(number as f64),
        Selection::Worker(number) => Subject::Worker(number),
    }
}

impl AppState {
    /// Picks something out, or nothing any more. What is picked out is told of on the inspector's sheet.
    pub(super) fn with_selection(self, selection: Option<Selection>) -> Self {
        let Some(selection) = selection else { return Self { selection: None, picked: None, ..self } };
        let sheet = if self.sheet == Sheet::Compare { self.sheet } else { Sheet::Inspector };
        let worker = if let Selection::Worker(worker) = selection { worker } else { self.worker() };
        let picked = self.picked.clone().filter(|picked| picked.about == selection);
        Self { selection: Some(selection), picked, sheet, ..self }.with_worker(worker)
    }

    /// What is to be asked about the thing that is picked out: nothing when the answer is here.
    pub fn picked_question(&self) -> Option<(Selection, f64)> {
        let (selection, at_ns) = (self.selection.clone()?, self.playback.cursor_ns);
        self.ended()?;
        let here = |picked: &Picked| picked.about == selection && picked.at_ns == at_ns;
        (!self.picked.as_ref().is_some_and(here)).then_some((selection, at_ns))
    }

    /// The slots of what is picked out, at the worker that is shown.
    pub fn rings(&self) -> Rc<[(TierName, u32)]> {
        let shown = |worker: Option<u32>| worker.is_none_or(|worker| worker == self.worker());
        match self.picked.as_ref().map(|picked| &*picked.told) {
            Some(Told::Request(told)) if shown(told.worker) => {
                told.slots.iter().map(|&slot| (TierName::G1, slot)).collect()
            }
            Some(Told::Block(told)) => {
                let here = told.here.iter().filter(|resident| shown(resident.worker));
                here.map(|resident| (resident.tier, resident.slot)).collect()
            }
            _ => Rc::from([]),
        }
    }

    /// An answer came.
    pub(super) fn told_of(self, about: &Subject, at_ns: f64, told: Told) -> Self {
        match self.selection.clone().filter(|selection| subject(selection) == *about) {
            Some(about) => Self { picked: Some(Picked { about, at_ns, told: Rc::new(told) }), ..self },
            None => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_and_its_question_have_the_same_name() {
        let hash = Selection::Block(0xff00_0000_0000_0001);
        assert_eq!(subject(&hash), Subject::Block("ff00000000000001".to_owned()));
        assert_eq!(block("ff00000000000001"), Some(hash.clone()));
        let said =
            plain(&["It is ".into(), hash.into(), ", wanted by ".into(), Selection::Request(4).into()]);
        assert_eq!(said, "It is block ff000000…, wanted by request 4");
    }

    #[test]
    fn an_answer_about_something_else_is_dropped() {
        let state = AppState::opening("", super::super::Theme::System, false);
        let state = state.with_selection(Some(Selection::Request(3)));
        assert_eq!(state.sheet, Sheet::Inspector);
        let state = state.told_of(&Subject::Request(4), 0.0, Told::Unknown);
        assert_eq!(state.picked, None);
        let state = state.told_of(&Subject::Request(3), 5.0, Told::Unknown);
        assert_eq!(state.picked.as_ref().map(|picked| picked.at_ns), Some(5.0));
        assert_eq!(state.with_selection(None).picked, None);
    }
}
