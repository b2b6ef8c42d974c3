//! Who waited for whom, from recorded times: agents ask again when they have an answer, so a gap that was measured between an end
//! and a beginning is a pause, and what the pause followed is who was waited for.
//!
//! A request of a session waits for
//! - the request of its session that ended last before it began;
//! - each session that its own set off, if all of that had ended by then and nobody waited for it before: an agent that goes on while
//!   a subagent works did not wait for it, one that goes on afterwards did;
//! - if it is the first of a session that another one set off: the request of that one which ended last before it.
//!
//! Its pause counts from the last of these ends. Who waits for nobody begins at the time at which it was recorded.

use std::collections::BTreeSet;

use tierscope_units::{RequestId, SimTime, Span};

use crate::expand::Start;

/// A request's beginning and end, in nanoseconds from the beginning of the trace.
#[derive(Clone, Copy)]
pub(super) struct Recorded {
    pub(super) session: u32,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
}

#[derive(Default)]
struct Session {
    /// Who set it off, until its first request.
    parent: Option<u32>,
    /// When the last of its requests ends, and whom it set off, by that time; until somebody waited for them.
    children: BTreeSet<(u64, u32)>,
    /// Its requests so far by their ends.
    ended: BTreeSet<(u64, RequestId)>,
    latest: Option<(u64, RequestId)>,
}

/// How a request is found that was waited for within a session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// The one that ended last before: requests of a session may overlap.
    EndedLast,
    /// The one before: requests of a session follow each other, and where their times say otherwise they are rounded.
    TheOneBefore,
}

/// The requests so far.
pub(super) struct Sessions {
    within: Within,
    list: Vec<Session>,
    count: u32,
}

impl Sessions {
    pub(super) fn new(within: Within) -> Self {
        Self { within, list: Vec::new(), count: 0 }
    }

    /// A new session, set off by `parent`, whose last end is `end_ns`; its number.
    pub(super) fn open(&mut self, parent: Option<u32>, end_ns: u64) -> u32 {
        let number = self.list.len() as u32;
        self.list.push(Session { parent, ..Session::default() });
        if let Some(parent) = parent {
            self.list[parent as usize].children.insert((end_ns, number));
        }
        number
    }

    /// The start of the next request, which gets the next number; whom else it waits for goes into `joins`, in order. Requests come
    /// in the order of their beginnings, at least within a session, and after those that they may have waited for.
    pub(super) fn start(&mut self, recorded: Recorded, joins: &mut Vec<RequestId>) -> Start {
        let id = RequestId(self.count);
        self.count += 1;
        let mut waits = self.finished_children(recorded);
        waits.extend(self.before(recorded));
        let session = &mut self.list[recorded.session as usize];
        session.parent = None;
        session.latest = Some((recorded.end_ns, id));
        session.ended.insert((recorded.end_ns, id));
        joins.clear();
        joins.extend(waits.iter().map(|&(_, request)| request));
        joins.sort_unstable();
        let Some(&(last_end, _)) = waits.iter().max() else {
            return Start::At(SimTime::from_ns(recorded.begin_ns));
        };
        let request = joins.remove(0);
        Start::After { request, delay: Span::from_ns(recorded.begin_ns.saturating_sub(last_end)) }
    }

    /// What a request follows in its own session, or for the first in the one that set it off.
    fn before(&self, recorded: Recorded) -> Option<(u64, RequestId)> {
        let session = &self.list[recorded.session as usize];
        match (session.latest, self.within) {
            (Some(latest), Within::TheOneBefore) => Some(latest),
            (Some(_), Within::EndedLast) => session.ended_before(recorded.begin_ns),
            (None, _) => {
                session.parent.and_then(|parent| self.list[parent as usize].ended_before(recorded.begin_ns))
            }
        }
    }

    /// The last request of each session that this one set off and that had ended; none of them is waited for again.
    fn finished_children(&mut self, recorded: Recorded) -> Vec<(u64, RequestId)> {
        let later = (recorded.begin_ns.saturating_add(1), 0);
        let open = self.list[recorded.session as usize].children.split_off(&later);
        let finished = std::mem::replace(&mut self.list[recorded.session as usize].children, open);
        finished.iter().filter_map(|&(_, child)| self.list[child as usize].ended.last().copied()).collect()
    }
}

impl Session {
    fn ended_before(&self, ns: u64) -> Option<(u64, RequestId)> {
        self.ended.range(..(ns.saturating_add(1), RequestId(0))).next_back().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(request: u32, delay_ns: u64) -> Start {
        Start::After { request: RequestId(request), delay: Span::from_ns(delay_ns) }
    }

    #[test]
    fn an_agent_waits_for_the_subagents_that_had_ended_and_no_others() {
        let mut sessions = Sessions::new(Within::EndedLast);
        let root = sessions.open(None, 100);
        let (short, long) = (sessions.open(Some(root), 40), sessions.open(Some(root), 80));
        let mut joins = Vec::new();
        let mut next = |session, begin_ns, end_ns| {
            let start = sessions.start(Recorded { session, begin_ns, end_ns }, &mut joins);
            (start, joins.clone())
        };
        assert_eq!(next(root, 5, 10), (Start::At(SimTime::from_ns(5)), vec![]));
        assert_eq!(next(short, 12, 20), (after(0, 2), vec![]));
        assert_eq!(next(long, 13, 80), (after(0, 3), vec![]));
        assert_eq!(next(short, 25, 40), (after(1, 5), vec![]));
        assert_eq!(next(root, 42, 50), (after(0, 2), vec![RequestId(3)]), "the long one works on");
        assert_eq!(next(root, 90, 100), (after(2, 10), vec![RequestId(4)]));
    }

    #[test]
    fn overlapping_requests_do_not_wait_for_each_other_unless_times_are_rounded() {
        let mut joins = Vec::new();
        let mut second = |within| {
            let mut sessions = Sessions::new(within);
            let session = sessions.open(None, 30);
            sessions.start(Recorded { session, begin_ns: 0, end_ns: 20 }, &mut joins);
            sessions.start(Recorded { session, begin_ns: 15, end_ns: 30 }, &mut joins)
        };
        assert_eq!(second(Within::EndedLast), Start::At(SimTime::from_ns(15)));
        assert_eq!(second(Within::TheOneBefore), after(0, 0));
    }
}
