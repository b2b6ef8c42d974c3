//! What the simulator reads off the facts as they pass: who has ended, and who may go in circles.

use tierscope_engine::{Fact, FactLog};
use tierscope_units::{Idx, RequestId, WorkerId};

use crate::progress::Circles;

/// What is read off the facts as they are shown.
#[derive(Clone)]
pub(crate) struct Seen {
    /// By worker.
    pub(crate) circles: Vec<Circles>,
    /// Workers at which somebody was preempted since they were looked at.
    pub(crate) unsettled: Vec<WorkerId>,
    /// Whether one of them goes in circles.
    pub(crate) endless: bool,
    pub(crate) ended: u32,
    /// Requests that ended at this instant and whose followers are not started yet.
    pub(crate) just_ended: Vec<RequestId>,
}

impl Seen {
    /// Looks at each log before `sink` does.
    pub(crate) fn before<'a>(&'a mut self, sink: &'a mut impl FnMut(&FactLog)) -> impl FnMut(&FactLog) + 'a {
        move |log| {
            self.look_at(log);
            sink(log);
        }
    }

    fn look_at(&mut self, log: &FactLog) {
        let worker = log.worker().unwrap_or_default();
        let circles = &mut self.circles[worker.index()];
        let was_settled = !circles.wants_a_look();
        for (_, fact) in log.iter() {
            circles.note(fact);
            if let Fact::Finished { request, .. }
            | Fact::Rejected { request, .. }
            | Fact::Cancelled { request, .. } = fact
            {
                self.just_ended.push(*request);
            }
        }
        if was_settled && circles.wants_a_look() {
            self.unsettled.push(worker);
        }
    }
}
