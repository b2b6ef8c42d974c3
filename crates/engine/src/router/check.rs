//! The index against the truth (rule T9).

use std::cmp::Ordering;

use tierscope_units::{SequenceHash, SimTime, WorkerId};

use super::Router;
use super::ask::{Futile, IndexCheck};
use super::index::Index;
use crate::lower::Tier;

impl Router {
    /// Compares what the router believes now with what workers hold. `truth` names each block in each tier at least once;
    /// of shared tiers any worker that reaches it may tell.
    pub fn check(
        &mut self,
        now: SimTime,
        truth: impl IntoIterator<Item = (WorkerId, Tier, SequenceHash)>,
    ) -> IndexCheck {
        self.receive(now);
        IndexCheck { pending: self.backlog.pending(), ..compare(&self.index, truth) }
    }

    /// The same, as if all events had arrived. Nothing may be phantom or missing then, unless a lost worker's
    /// content lives on or events were lost.
    pub fn check_settled(
        &self,
        truth: impl IntoIterator<Item = (WorkerId, Tier, SequenceHash)>,
    ) -> IndexCheck {
        let (mut index, mut backlog) = (self.index.clone(), self.backlog.clone());
        backlog.deliver(SimTime::from_ns(u64::MAX), &mut index, &mut Futile::default());
        compare(&index, truth)
    }
}

fn compare(index: &Index, truth: impl IntoIterator<Item = (WorkerId, Tier, SequenceHash)>) -> IndexCheck {
    let mut believed = index.entries();
    believed.sort_unstable();
    let known = truth.into_iter().filter(|(worker, ..)| index.hosts.has(*worker));
    let mut held: Vec<_> =
        known.map(|(worker, tier, hash)| (hash, index.hosts.place(worker, tier))).collect();
    held.sort_unstable();
    held.dedup();
    let mut check = IndexCheck::default();
    let (mut believed, mut held) = (believed.into_iter().peekable(), held.into_iter().peekable());
    loop {
        let order = match (believed.peek(), held.peek()) {
            (None, None) => return check,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(believed), Some(held)) => believed.cmp(held),
        };
        check.phantom += u64::from(order == Ordering::Less);
        check.missing += u64::from(order == Ordering::Greater);
        if order != Ordering::Greater {
            believed.next();
        }
        if order != Ordering::Less {
            held.next();
        }
    }
}
