//! When preemption goes round in circles (rule R2): requests give their blocks back and compute them again, and
//! nobody gets anywhere. Such a run would never end, and is a dead end like one in which nothing happens.

use tierscope_engine::Fact;

/// Preemptions since somebody last made progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Circles {
    preemptions: u32,
}

impl Circles {
    /// Takes note of a fact.
    pub(crate) fn note(&mut self, fact: &Fact) {
        match fact {
            Fact::Preempted { .. } => self.preemptions += 1,
            fact if self.preemptions > 0 && is_progress(fact) => self.preemptions = 0,
            _ => {}
        }
    }

    /// Whether so many live requests cannot have needed so many preemptions: each may be preempted once by each
    /// other without progress in between, and by itself.
    pub(crate) fn are_endless(&self, live: usize) -> bool {
        let bound = (live + 1).saturating_mul(live + 1);
        self.preemptions as usize > bound
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
