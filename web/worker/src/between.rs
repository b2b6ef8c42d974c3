//! What goes on between workers: an index of routes, handoffs, and workers that come and go, flat and bounded, built
//! from the facts as the run goes on.

use std::collections::{BTreeMap, VecDeque};

use tierscope_engine::{
    Fact, FactLog, Fleet, HandoffFact, HandoffFailure as Failure, HandoffPhase as Phase, Leg, Role,
    RouteFact, WorkerState as State,
};
use tierscope_units::{HandoffId, RequestId, SimTime, WorkerId};

use crate::protocol::{
    HANDOFFS_SHOWN, HandoffFailure, HandoffPhase, HandoffView, Happening, NEWS_SHOWN, News, RequestLeg,
    Totals, WorkerRole, WorkerState, WorkerView,
};

/// The newest happenings of a run, and the newest copies of its handoffs, both in order of time.
#[derive(Debug, Default)]
pub struct Between {
    news: VecDeque<News>,
    copies: VecDeque<Copy>,
    /// Copies that were dropped, so that places can be counted from the first.
    dropped: u64,
    /// Copies under way: their places.
    open: BTreeMap<HandoffId, u64>,
    /// Whose handoffs those are that are not over.
    requests: BTreeMap<HandoffId, RequestId>,
}

/// The blocks of one handoff on their way; times in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Copy {
    handoff: HandoffId,
    request: Option<RequestId>,
    source: WorkerId,
    destination: WorkerId,
    blocks: u32,
    started_at: u64,
    ended_at: u64,
}

/// No such time yet.
const NEVER: u64 = u64::MAX;
/// Most happenings kept: less than 10 MB.
const NEWS_MAX: usize = 100_000;
/// Most copies kept: less than 3 MB.
const COPIES_MAX: usize = 50_000;

impl Between {
    /// Enters what the facts say.
    pub fn take(&mut self, log: &FactLog) {
        for (at, fact) in log.iter() {
            self.take_fact(at, fact);
        }
    }

    fn take_fact(&mut self, at: SimTime, fact: &Fact) {
        let what = match *fact {
            Fact::Route(route) => routed(route),
            Fact::Handoff(handoff) => match self.handoff(at, handoff) {
                // The start of its copy is told next, and says more.
                Happening::Handoff { phase: HandoffPhase::Transferring, .. } => return,
                happening => happening,
            },
            Fact::Worker { worker, state } => {
                Happening::Worker { worker: worker.0.into(), state: state_view(state) }
            }
            _ => return,
        };
        if self.news.len() == NEWS_MAX {
            self.news.pop_front();
        }
        self.news.push_back(News { at_ns: at.as_ns() as f64, what });
    }

    fn handoff(&mut self, at: SimTime, fact: HandoffFact) -> Happening {
        match fact {
            HandoffFact::Reached { handoff, request, phase, .. } => {
                if phase == Phase::Activated || phase.is_over() {
                    self.copy_ended(at, handoff);
                }
                if phase.is_over() {
                    self.requests.remove(&handoff);
                } else {
                    self.requests.insert(handoff, request);
                }
                Happening::Handoff { request: request.0, phase: phase_view(phase) }
            }
            HandoffFact::CopyStarted { handoff, source, destination, blocks, .. } => {
                let request = self.requests.get(&handoff).copied();
                // A further attempt: the earlier one has not ended by itself.
                self.copy_ended(at, handoff);
                let started_at = at.as_ns();
                self.enter(Copy {
                    handoff,
                    request,
                    source,
                    destination,
                    blocks,
                    started_at,
                    ended_at: NEVER,
                });
                Happening::HandoffCopy {
                    request: request.map(|request| request.0),
                    source: source.0.into(),
                    destination: destination.0.into(),
                    blocks,
                }
            }
            HandoffFact::MessageIgnored { handoff, stale, .. } => {
                let request = self.requests.get(&handoff).map(|request| request.0);
                Happening::MessageIgnored { request, stale }
            }
        }
    }

    fn enter(&mut self, copy: Copy) {
        if self.copies.len() == COPIES_MAX
            && let Some(oldest) = self.copies.pop_front()
        {
            self.open.retain(|_, place| *place != self.dropped);
            self.dropped += 1;
            debug_assert!(oldest.started_at <= copy.started_at);
        }
        self.open.insert(copy.handoff, self.dropped + self.copies.len() as u64);
        self.copies.push_back(copy);
    }

    fn copy_ended(&mut self, at: SimTime, handoff: HandoffId) {
        let place = self.open.remove(&handoff).and_then(|place| place.checked_sub(self.dropped));
        if let Some(copy) = place.and_then(|place| self.copies.get_mut(place as usize)) {
            copy.ended_at = at.as_ns();
        }
    }

    /// All happenings that are kept, the oldest first.
    pub fn all(&self) -> impl Iterator<Item = News> {
        self.news.iter().copied()
    }

    /// The newest happenings at or before a time, the newest first.
    pub fn news_at(&self, at: SimTime) -> Vec<News> {
        let until = self.news.partition_point(|news| news.at_ns <= at.as_ns() as f64);
        self.news.range(..until).rev().take(NEWS_SHOWN).copied().collect()
    }

    /// The handoffs whose blocks are on their way at a time, the oldest first.
    pub fn moving_at(&self, at: SimTime) -> Vec<HandoffView> {
        let at = at.as_ns();
        let until = self.copies.partition_point(|copy| copy.started_at <= at);
        let moving = self.copies.range(..until).filter(|copy| copy.ended_at > at);
        moving.take(HANDOFFS_SHOWN).map(Copy::view).collect()
    }
}

impl Copy {
    fn view(&self) -> HandoffView {
        HandoffView {
            handoff: self.handoff.0 as f64,
            request: self.request.map(|request| request.0),
            source: self.source.0.into(),
            destination: self.destination.0.into(),
            blocks: self.blocks,
            started_ns: self.started_at as f64,
            ended_ns: (self.ended_at != NEVER).then_some(self.ended_at as f64),
        }
    }
}

/// The workers of a fleet; none for a machine that is the only one.
pub fn workers(fleet: &Fleet) -> Vec<WorkerView> {
    let count = fleet.workers().len();
    if fleet.config().router.is_none() {
        return Vec::new();
    }
    (0..count).map(|number| worker(fleet, WorkerId(number as u16))).collect()
}

/// One worker.
pub fn worker(fleet: &Fleet, worker: WorkerId) -> WorkerView {
    let engine = fleet.worker(worker);
    let ((running, waiting), g1) = (engine.queue_lengths(), engine.g1().occupancy());
    WorkerView {
        role: match fleet.role_of(worker) {
            Role::Whole => WorkerRole::Whole,
            Role::Prefill => WorkerRole::Prefill,
            Role::Decode => WorkerRole::Decode,
        },
        state: state_view(fleet.state_of(worker)),
        running: running as u32,
        waiting: waiting as u32,
        g1: Totals {
            free: g1.free,
            reserved: g1.reserved,
            active: g1.active,
            shared: 0,
            cached: g1.cached,
            source_hold: g1.source_hold,
        },
    }
}

fn routed(route: RouteFact) -> Happening {
    match route {
        RouteFact::Chosen {
            request,
            worker,
            leg,
            candidates,
            cost_milliblocks,
            believed,
            resident_g1_blocks,
            ..
        } => Happening::Routed {
            request: request.0,
            worker: worker.0.into(),
            leg: leg_view(leg),
            candidates,
            believed_blocks: [
                believed.g1_blocks,
                (believed.blocks() - u64::from(believed.g1_blocks)).min(u32::MAX.into()) as u32,
            ],
            resident_blocks: resident_g1_blocks,
            cost_milliblocks: cost_milliblocks as f64,
        },
        RouteFact::Held { request, leg } => Happening::Held { request: request.0, leg: leg_view(leg) },
    }
}

fn leg_view(leg: Leg) -> RequestLeg {
    match leg {
        Leg::Whole => RequestLeg::Whole,
        Leg::Prefill => RequestLeg::Prefill,
        Leg::Decode => RequestLeg::Decode,
    }
}

fn state_view(state: State) -> WorkerState {
    match state {
        State::Absent => WorkerState::Absent,
        State::Starting => WorkerState::Starting,
        State::Ready => WorkerState::Ready,
        State::Draining => WorkerState::Draining,
        State::Lost => WorkerState::Lost,
    }
}

fn phase_view(phase: Phase) -> HandoffPhase {
    match phase {
        Phase::Preparing => HandoffPhase::Preparing,
        Phase::SourceHeld => HandoffPhase::SourceHeld,
        Phase::DestinationReserved => HandoffPhase::DestinationReserved,
        Phase::Transferring => HandoffPhase::Transferring,
        Phase::Activated => HandoffPhase::Activated,
        Phase::SourceReleased => HandoffPhase::SourceReleased,
        Phase::Cancelled => HandoffPhase::Cancelled,
        Phase::Failed(Failure::WorkerLost) => HandoffPhase::Failed(HandoffFailure::WorkerLost),
        Phase::Failed(Failure::Copy) => HandoffPhase::Failed(HandoffFailure::Copy),
        Phase::Failed(Failure::LeaseExpired) => HandoffPhase::Failed(HandoffFailure::LeaseExpired),
        Phase::Failed(Failure::Refused) => HandoffPhase::Failed(HandoffFailure::Refused),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> SimTime {
        SimTime::from_ns(ns)
    }

    fn reached(handoff: u64, phase: Phase) -> Fact {
        let (handoff, request) = (HandoffId(handoff), RequestId(handoff as u32 + 10));
        Fact::Handoff(HandoffFact::Reached { handoff, generation: 0, request, phase })
    }

    fn copies(handoff: u64, destination: u16) -> Fact {
        let (handoff, destination) = (HandoffId(handoff), WorkerId(destination));
        let source = WorkerId(0);
        Fact::Handoff(HandoffFact::CopyStarted { handoff, generation: 0, source, destination, blocks: 4 })
    }

    fn told(facts: &[(u64, Fact)]) -> Between {
        let mut between = Between::default();
        facts.iter().for_each(|(ns, fact)| between.take_fact(at(*ns), fact));
        between
    }

    #[test]
    fn blocks_move_until_they_are_matchable_or_given_up() {
        let between = told(&[
            (5, reached(1, Phase::Preparing)),
            (10, copies(1, 2)),
            (12, reached(2, Phase::Preparing)),
            (12, copies(2, 3)),
            (20, reached(1, Phase::Activated)),
            (25, reached(2, Phase::Failed(Failure::WorkerLost))),
            (30, reached(1, Phase::SourceReleased)),
        ]);
        let moving = |ns| between.moving_at(at(ns)).iter().map(|copy| copy.handoff).collect::<Vec<_>>();
        assert_eq!([9, 10, 12, 19].map(moving), [vec![], vec![1.0], vec![1.0, 2.0], vec![1.0, 2.0]]);
        assert_eq!([20, 25].map(moving), [vec![2.0], vec![]]);
        let first = between.moving_at(at(10))[0];
        assert_eq!((first.request, first.source, first.destination, first.blocks), (Some(11), 0, 2, 4));
        assert_eq!((first.started_ns, first.ended_ns), (10.0, Some(20.0)));
        assert!(between.requests.is_empty() && between.open.is_empty(), "nothing is kept of what is over");
    }

    #[test]
    fn a_second_attempt_takes_the_place_of_the_first() {
        let between = told(&[(1, reached(1, Phase::Preparing)), (2, copies(1, 2)), (6, copies(1, 3))]);
        let moving = between.moving_at(at(6));
        assert_eq!(moving.iter().map(|copy| copy.destination).collect::<Vec<_>>(), [3]);
        assert_eq!(moving[0].ended_ns, None);
    }

    #[test]
    fn news_are_those_up_to_the_cursor_the_newest_first() {
        let held = |request| Fact::Route(RouteFact::Held { request: RequestId(request), leg: Leg::Whole });
        let facts: Vec<(u64, Fact)> = (0..40).map(|n| (u64::from(n), held(n))).collect();
        let between = told(&facts);
        let newest = between.news_at(at(5));
        assert_eq!(newest.len(), 6);
        assert_eq!(newest[0].what, Happening::Held { request: 5, leg: RequestLeg::Whole });
        assert_eq!(between.news_at(at(99)).len(), NEWS_SHOWN);
        assert!(size_of::<News>() <= 80, "{}", size_of::<News>());
    }

    #[test]
    fn the_oldest_make_room() {
        let mut between = Between::default();
        for handoff in 0..COPIES_MAX as u64 + 2 {
            between.take_fact(at(handoff), &copies(handoff, 1));
        }
        assert_eq!((between.copies.len(), between.open.len()), (COPIES_MAX, COPIES_MAX));
        between.take_fact(at(1 << 40), &reached(COPIES_MAX as u64 + 1, Phase::Activated));
        assert_eq!(between.copies.back().map(|copy| copy.ended_at), Some(1 << 40));
    }
}
