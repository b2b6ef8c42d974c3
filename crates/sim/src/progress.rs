//! When preemption goes round in circles (rule R2): requests give their blocks back and compute them again, and
//! nobody gets anywhere. Such a run would never end, and is a dead end like one in which nothing happens.
//!
//! What tells is the state itself: a machine that comes back to a state in which it was, with nothing new from outside
//! and nobody's progress in between, will do so for ever.

use std::collections::BTreeMap;

use tierscope_engine::{Engine, Fact};

/// States in which the machine was left after preemptions, since somebody last made progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Circles {
    preempted: bool,
    /// By fingerprint, how often.
    seen: BTreeMap<u128, u32>,
    endless: bool,
}

/// A fingerprint leaves out what hardly matters, such as the order of cached blocks: once more makes sure.
const TIMES_SEEN: u32 = 3;

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

    /// The machine has nothing more to do at this instant, or at this turn of it.
    pub(crate) fn look_at(&mut self, engine: &Engine) {
        if !std::mem::take(&mut self.preempted) {
            return;
        }
        let times = self.seen.entry(engine.fingerprint().0).or_default();
        *times += 1;
        self.endless |= *times >= TIMES_SEEN;
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
