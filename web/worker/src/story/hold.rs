//! Who held a content, from when until when.

use std::collections::{BTreeMap, BTreeSet};

use tierscope_units::{RequestId, WorkerId};

use crate::lives::{Lives, What};

/// A request that took a content: when, at which worker, and whether it found it there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Take {
    pub(super) at: u64,
    pub(super) found: bool,
    pub(super) worker: WorkerId,
    pub(super) request: RequestId,
}

/// A take, and when the request let go of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) take: Take,
    pub(super) until: Option<u64>,
}

/// One after the other, by worker and request.
type Ends = BTreeMap<(WorkerId, RequestId), Vec<(u64, What)>>;

/// The holds that takes begin. What is taken by one who holds it already begins none.
pub(super) fn holds(mut takes: Vec<Take>, lives: &Lives) -> Vec<Hold> {
    takes.sort_by_key(|take| take.at);
    let ends = ends(&takes, lives);
    let mut open: BTreeMap<(WorkerId, RequestId), Option<u64>> = BTreeMap::new();
    let mut holds = Vec::new();
    for take in takes {
        let key = (take.worker, take.request);
        if open.get(&key).is_some_and(|until| until.is_none_or(|until| until > take.at)) {
            continue;
        }
        let until = ends.get(&key).and_then(|ends| let_go(ends, take.at));
        open.insert(key, until);
        holds.push(Hold { take, until });
    }
    holds
}

/// Everything at which the takers may let go: the lives are looked through once.
fn ends(takes: &[Take], lives: &Lives) -> Ends {
    let takers: BTreeSet<RequestId> = takes.iter().map(|take| take.request).collect();
    let mut ends = Ends::new();
    for event in lives.all().filter(|event| takers.contains(&event.request)) {
        let ends_hold = matches!(
            event.what,
            What::Finished
                | What::Preempted
                | What::Cancelled
                | What::Withdrawn
                | What::SourceReleased
                | What::Leased
                | What::LeaseEnded
        );
        if ends_hold {
            ends.entry((event.worker, event.request)).or_default().push((event.at, event.what));
        }
    }
    ends
}

/// The first end after a time. What is kept for a follower is let go of when that came.
fn let_go(ends: &[(u64, What)], since: u64) -> Option<u64> {
    let leased = |at: u64| ends.contains(&(at, What::Leased));
    let end = |&&(at, what): &&(u64, What)| match what {
        What::Finished => at >= since && !leased(at),
        What::Leased => false,
        _ => at > since,
    };
    ends.iter().find(end).map(|&(at, _)| at)
}

/// Which of the holds were the last of their worker to end: nobody else held on.
pub(super) fn last_of(holds: &[Hold]) -> Vec<bool> {
    let mut begins: BTreeMap<WorkerId, Vec<u64>> = BTreeMap::new();
    let mut ends: BTreeMap<WorkerId, Vec<u64>> = BTreeMap::new();
    for hold in holds {
        begins.entry(hold.take.worker).or_default().push(hold.take.at);
        ends.entry(hold.take.worker).or_default().extend(hold.until);
    }
    ends.values_mut().for_each(|times| times.sort_unstable());
    let last = |hold: &Hold| {
        let (Some(until), worker) = (hold.until, &hold.take.worker) else { return false };
        let begun = begins[worker].partition_point(|&at| at < until);
        begun == ends[worker].partition_point(|&at| at <= until)
    };
    holds.iter().map(last).collect()
}
