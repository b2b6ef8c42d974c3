//! When preemption goes round in circles (rule R2): requests give their blocks back and compute them again, and
//! nobody gets anywhere. Such a run would never end, and is a dead end like one in which nothing happens.
//!
//! What tells is the state itself: a machine that comes back to a state in which it was, with nobody's progress in
//! between, will do so for ever, unless something is to come that was on its way before, or from outside.

use std::collections::BTreeMap;

use tierscope_engine::{Engine, Fact};
use tierscope_units::SimTime;

/// States in which the machine was left after preemptions, since somebody last made progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Circles {
    preempted: bool,
    /// By fingerprint.
    seen: BTreeMap<u128, Seen>,
    endless: bool,
}

/// How often a state came back.
#[derive(Clone, Copy, Debug)]
struct Seen {
    times: u32,
    /// When it was first seen, and how many copies had been queued by then.
    first: SimTime,
    copies: u64,
}

/// What the world has in store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside {
    pub(crate) now: SimTime,
    /// Something is still to come that does not follow from the machine's own state.
    pub(crate) may_change: bool,
}

/// A fingerprint leaves out what hardly matters, such as the order of cached blocks: once more makes sure.
const TIMES_SEEN: u32 = 3;
/// What is to come may break the circle; but who has gone round so often and is still waiting for it would keep
/// everybody waiting who looks on.
const TIMES_SEEN_OPEN: u32 = 20_000;

impl Circles {
    /// Takes note of a fact.
    pub(crate) fn note(&mut self, fact: &Fact) {
        match fact {
            Fact::Preempted { .. } => self.preempted = true,
            fact if is_progress(fact) => {
                self.preempted = false;
                self.seen.clear();
            }
            _ => {}
        }
    }

    /// Whether somebody was preempted since it was looked at last.
    pub(crate) fn wants_a_look(&self) -> bool {
        self.preempted
    }

    /// The machine has nothing more to do at this instant, or at this turn of it.
    pub(crate) fn look_at(&mut self, engine: &Engine, outside: Outside) {
        if !std::mem::take(&mut self.preempted) {
            return;
        }
        let new = Seen { times: 0, first: outside.now, copies: engine.copies_queued() };
        let seen = self.seen.entry(engine.fingerprint().0).or_insert(new);
        seen.times += 1;
        // A copy that was on its way when the state was first seen still is: the circle has not closed yet.
        let awaits = engine.copies().next().is_some_and(|copy| copy.transfer.0 < seen.copies);
        let is_open = outside.now > seen.first && (outside.may_change || awaits);
        self.endless |= seen.times >= if is_open { TIMES_SEEN_OPEN } else { TIMES_SEEN };
    }

    /// Whether the machine goes round in circles.
    pub(crate) fn are_endless(&self) -> bool {
        self.endless
    }
}

/// Something that cannot be undone or repeated for ever: a new token, new computed context, a change of who is
/// there.
fn is_progress(fact: &Fact) -> bool {
    match fact {
        Fact::PassStarted(start) => start.decode_rows > 0,
        Fact::Prefilled { tokens, recomputed, .. } => tokens > recomputed,
        Fact::Arrived { .. }
        | Fact::FirstToken { .. }
        | Fact::Finished { .. }
        | Fact::Rejected { .. }
        | Fact::Cancelled { .. } => true,
        _ => false,
    }
}
