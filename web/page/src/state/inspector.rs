//! Which transaction is shown, and which ones are looked at.

use std::rc::Rc;

use tierscope_worker::protocol::{Find, Found, Transaction, TxnFilter, TxnOutcome, Way};

use super::AppState;
use super::play::Playback;

/// The inspector's part of the state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspector {
    /// Which transactions are looked at.
    pub filter: TxnFilter,
    /// The newest answer.
    pub found: Option<Rc<Found>>,
    /// What it answers: it stands as long as the cursor and the filter do.
    answered: Option<Answered>,
}

impl Inspector {
    /// Looks at others.
    pub fn with(self, filter: TxnFilter) -> Self {
        Self { filter, ..self }
    }
}

/// The cursor and the filter of an answer, and whether it has details.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Answered {
    at_ns: f64,
    filter: TxnFilter,
    details: bool,
}

/// A slot that a transaction touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The slot.
    pub slot: u32,
    /// What it was to the transaction.
    pub part: Part,
}

/// What a slot was to a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its block was hit.
    Hit,
    /// It was taken free.
    New,
    /// It was taken from a victim.
    Victim,
    /// It is held as the source of an offload.
    Held,
}

impl Part {
    /// Its letter on the board.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Hit => "H",
            Self::New => "N",
            Self::Victim => "V",
            Self::Held => "S",
        }
    }
}

impl AppState {
    /// The transaction that is shown.
    pub fn transaction(&self) -> Option<&Transaction> {
        self.inspector.found.as_ref()?.transaction.as_ref()
    }

    /// The question that is open: nothing when the shown transaction is the cursor's.
    pub fn open_question(&self) -> Option<Find> {
        let wanted = self.find(Way::AtCursor);
        self.ended().filter(|_| !self.is_answered(wanted)).map(|_| wanted)
    }

    /// A question from where the cursor stands.
    pub fn find(&self, way: Way) -> Find {
        Find {
            way,
            at_ns: self.playback.cursor_ns,
            txn: self.transaction().map(|shown| shown.txn),
            filter: self.inspector.filter,
            details: way != Way::AtCursor || !self.playback.playing,
        }
    }

    fn is_answered(&self, wanted: Find) -> bool {
        self.inspector.answered.is_some_and(|answered| {
            answered.at_ns == wanted.at_ns
                && answered.filter == wanted.filter
                && (answered.details || !wanted.details)
        })
    }

    pub(super) fn found(self, asked: Find, found: Found) -> Self {
        if asked.filter != self.inspector.filter || self.ended().is_none() {
            return self;
        }
        let moves = asked.way != Way::AtCursor;
        let at_ns = match &found.transaction {
            Some(transaction) if moves => transaction.at_ns,
            // Nothing lies that way: what is shown stays.
            None if moves => return self,
            // A late answer; the right one is under way or here.
            _ if asked.at_ns != self.playback.cursor_ns || self.is_answered(asked) => return self,
            _ => asked.at_ns,
        };
        let answered = Some(Answered { at_ns, filter: asked.filter, details: asked.details });
        let inspector = Inspector { found: Some(Rc::new(found)), answered, ..self.inspector };
        let playing = self.playback.playing && !moves;
        Self { inspector, playback: Playback { cursor_ns: at_ns, playing, ..self.playback }, ..self }
    }

    /// The slots of the shown transaction, while the board shows its instant.
    pub fn marks(&self) -> Rc<[Mark]> {
        let Some(shown) = self.transaction() else { return Rc::from([]) };
        let here = self.board.as_ref().is_some_and(|board| board.at_ns == shown.at_ns);
        let Some(detail) = shown.detail.as_ref().filter(|_| here) else { return Rc::from([]) };
        let of = |blocks: &[tierscope_worker::protocol::TxnBlock], part: Part| -> Vec<Mark> {
            blocks.iter().map(|block| Mark { slot: block.slot, part }).collect()
        };
        let mut marks = of(&detail.hits, Part::Hit);
        marks.extend(detail.taken.iter().map(|block| {
            let victim = detail.victims.iter().any(|victim| victim.slot == block.slot);
            Mark { slot: block.slot, part: if victim { Part::Victim } else { Part::New } }
        }));
        marks.extend(of(&detail.held, Part::Held));
        marks.into()
    }
}

/// What an outcome is called.
pub fn outcome_name(outcome: TxnOutcome) -> &'static str {
    match outcome {
        TxnOutcome::Ready { .. } => "ready",
        TxnOutcome::Exhausted { .. } => "capacity exhausted",
        TxnOutcome::Blocked { .. } => "blocked on offload",
    }
}
