//! What became of each request and when: a flat, bounded log built from the facts as the run goes on. A life is read
//! by looking through it.

use std::collections::VecDeque;

use tierscope_engine::{Fact, FactLog, RouteFact, TRANSFERS_PER_WORKER};
use tierscope_units::{RequestId, TransferId, WorkerId};

use crate::protocol::{LifePhase, LifeSpan};

/// The newest events in all lives, in order of time.
#[derive(Debug, Default)]
pub struct Lives {
    events: VecDeque<Event>,
    dropped: u64,
}

/// An event: 24 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// When, in nanoseconds.
    pub at: u64,
    /// Whose.
    pub request: RequestId,
    /// A number that belongs to it: tokens of an admission, or a transfer without its worker's share.
    number: u32,
    /// At which worker.
    pub worker: WorkerId,
    /// What.
    pub what: What,
}

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It arrived.
    Arrived,
    /// It was refused.
    Rejected,
    /// The router could not place it.
    AtRouter,
    /// The router sent it to the worker.
    Chosen,
    /// It waits for a copy.
    Blocked,
    /// That copy has ended.
    Unblocked,
    /// Content is loaded for it.
    Loading,
    /// All of that came, or failed.
    LoadEnded,
    /// It entered the batch.
    Admitted,
    /// It entered the batch with a context from elsewhere.
    Joined,
    /// Its first token is visible.
    FirstToken,
    /// It gave its blocks back.
    Preempted,
    /// Its prompt is held for another worker.
    SourceHeld,
    /// That is over.
    SourceReleased,
    /// Slots are promised for its context.
    Reserved,
    /// It left the worker.
    Withdrawn,
    /// Its blocks stay for its follower.
    Leased,
    /// That is over.
    LeaseEnded,
    /// Done.
    Finished,
    /// Given up.
    Cancelled,
}

/// Most events kept: less than 10 MB.
const KEPT_MAX: usize = 400_000;

impl Lives {
    /// Enters what the facts say of requests.
    pub fn take(&mut self, log: &FactLog) {
        let worker = log.worker().unwrap_or_default();
        for (at, fact) in log.iter() {
            if let Some((request, what, number)) = read(fact) {
                let worker =
                    if let Fact::Route(RouteFact::Chosen { worker, .. }) = fact { *worker } else { worker };
                self.enter(Event { at: at.as_ns(), request, number, worker, what });
            }
        }
    }

    fn enter(&mut self, event: Event) {
        if self.events.len() == KEPT_MAX {
            self.events.pop_front();
            self.dropped += 1;
        }
        self.events.push_back(event);
    }

    /// All events, in order.
    pub fn all(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }

    /// The events of one request, in order.
    pub fn of(&self, request: RequestId) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(move |event| event.request == request)
    }

    /// Its life in parts that follow each other without a gap; the last one is open unless the request ended.
    pub fn spans(&self, request: RequestId) -> Vec<LifeSpan> {
        let mut spans: Vec<LifeSpan> = Vec::new();
        // What it goes back to when the copy that it waits for has ended.
        let mut before = LifePhase::Waiting;
        let mut answered = false;
        for event in self.of(request) {
            let now = spans.last().map(|span| span.phase);
            answered |= event.what == What::FirstToken;
            let Some(phase) = after(event.what, now, before) else { continue };
            // What it computes anew after its first token is behind its answer.
            let phase = if answered && phase == LifePhase::Prefill { LifePhase::Decode } else { phase };
            let transfer = (phase == LifePhase::Blocked).then(|| event.transfer().0 as f64);
            if phase == LifePhase::Blocked && now != Some(LifePhase::Blocked) {
                before = now.unwrap_or(LifePhase::Waiting);
            }
            let (at_ns, worker) = (event.at as f64, u32::from(event.worker.0));
            if let Some(last) = spans.last_mut() {
                if (last.phase, last.worker, last.transfer) == (phase, worker, transfer) {
                    continue;
                }
                last.until_ns = Some(at_ns);
                // What lasted no time was not seen by anybody.
                if last.from_ns == at_ns {
                    spans.pop();
                }
            }
            let until_ns = is_end(phase).then_some(at_ns);
            spans.push(LifeSpan { phase, worker, from_ns: at_ns, until_ns, transfer });
        }
        spans
    }
}

impl Event {
    /// The transfer that it speaks of.
    pub fn transfer(&self) -> TransferId {
        TransferId(u64::from(self.worker.0) * TRANSFERS_PER_WORKER + u64::from(self.number))
    }

    /// Tokens that an admission found cached.
    pub fn tokens(&self) -> u32 {
        self.number
    }
}

fn is_end(phase: LifePhase) -> bool {
    matches!(phase, LifePhase::Finished | LifePhase::Cancelled | LifePhase::Rejected)
}

/// The phase after an event; `None` where it changes nothing.
fn after(what: What, now: Option<LifePhase>, before: LifePhase) -> Option<LifePhase> {
    let now = now.unwrap_or(LifePhase::Waiting);
    let phase = match what {
        What::Arrived => LifePhase::Waiting,
        What::Rejected => LifePhase::Rejected,
        What::AtRouter => LifePhase::AtRouter,
        // A request whose prompt is held elsewhere is handed on until it joins.
        What::Chosen | What::Withdrawn if now == LifePhase::Handoff => return None,
        What::Chosen | What::Withdrawn => LifePhase::Waiting,
        What::Blocked => LifePhase::Blocked,
        What::Unblocked if now == LifePhase::Blocked => before,
        What::Loading => LifePhase::Loading,
        What::LoadEnded => LifePhase::Loaded,
        What::Admitted => LifePhase::Prefill,
        What::Joined | What::FirstToken => LifePhase::Decode,
        What::Preempted => LifePhase::Preempted,
        What::SourceHeld => LifePhase::Handoff,
        What::Finished => LifePhase::Finished,
        What::Cancelled => LifePhase::Cancelled,
        What::Unblocked | What::SourceReleased | What::Reserved | What::Leased | What::LeaseEnded => {
            return None;
        }
    };
    Some(phase)
}

fn read(fact: &Fact) -> Option<(RequestId, What, u32)> {
    let low = |transfer: TransferId| (transfer.0 % TRANSFERS_PER_WORKER) as u32;
    Some(match *fact {
        Fact::Arrived { request, .. } => (request, What::Arrived, 0),
        Fact::Rejected { request, .. } => (request, What::Rejected, 0),
        Fact::Route(RouteFact::Held { request, .. }) => (request, What::AtRouter, 0),
        Fact::Route(RouteFact::Chosen { request, .. }) => (request, What::Chosen, 0),
        Fact::BlockedOnOffload { request, transfer, .. } | Fact::WaitsForCopy { request, transfer, .. } => {
            (request, What::Blocked, low(transfer))
        }
        Fact::Unblocked { request, transfer } => (request, What::Unblocked, low(transfer)),
        Fact::OnboardStarted { request, .. } => (request, What::Loading, 0),
        Fact::OnboardEnded { request, .. } => (request, What::LoadEnded, 0),
        Fact::Admitted { request, cached_tokens, .. } => (request, What::Admitted, cached_tokens),
        Fact::Joined { request, context_tokens } => (request, What::Joined, context_tokens),
        Fact::FirstToken { request } => (request, What::FirstToken, 0),
        Fact::Preempted { request, .. } => (request, What::Preempted, 0),
        Fact::SourceHeld { request, .. } => (request, What::SourceHeld, 0),
        Fact::SourceReleased { request, .. } => (request, What::SourceReleased, 0),
        Fact::DestinationReserved { request, .. } => (request, What::Reserved, 0),
        Fact::Withdrawn { request, .. } => (request, What::Withdrawn, 0),
        Fact::Leased { request, .. } => (request, What::Leased, 0),
        Fact::LeaseEnded { request, .. } => (request, What::LeaseEnded, 0),
        Fact::Finished { request, .. } => (request, What::Finished, 0),
        Fact::Cancelled { request, .. } => (request, What::Cancelled, 0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(events: &[(u64, What, u32)]) -> Lives {
        let mut lives = Lives::default();
        for &(at, what, number) in events {
            let (request, worker) = (RequestId(3), WorkerId(0));
            lives.enter(Event { at, request, number, worker, what });
            lives.enter(Event { at, request: RequestId(9), number, worker, what });
        }
        lives
    }

    #[test]
    fn a_life_is_a_row_of_phases_without_gaps() {
        let lives = told(&[
            (0, What::Arrived, 0),
            (5, What::Blocked, 7),
            (9, What::Unblocked, 7),
            (12, What::Admitted, 16),
            (12, What::FirstToken, 0),
            (30, What::Preempted, 0),
            (40, What::Admitted, 0),
            (60, What::Finished, 0),
        ]);
        let spans = lives.spans(RequestId(3));
        let phases: Vec<_> = spans.iter().map(|span| (span.phase, span.from_ns)).collect();
        assert_eq!(
            phases,
            [
                (LifePhase::Waiting, 0.0),
                (LifePhase::Blocked, 5.0),
                (LifePhase::Waiting, 9.0),
                (LifePhase::Decode, 12.0),
                (LifePhase::Preempted, 30.0),
                (LifePhase::Decode, 40.0),
                (LifePhase::Finished, 60.0),
            ]
        );
        assert_eq!(spans[1].transfer, Some(7.0));
        assert!(spans.windows(2).all(|pair| pair[0].until_ns == Some(pair[1].from_ns)));
        assert!(lives.spans(RequestId(1)).is_empty());
    }

    #[test]
    fn a_running_request_that_is_blocked_goes_on_where_it_was() {
        let lives = told(&[
            (0, What::Arrived, 0),
            (1, What::Admitted, 0),
            (2, What::FirstToken, 0),
            (3, What::Blocked, 4),
            (6, What::Unblocked, 4),
        ]);
        let last = *lives.spans(RequestId(3)).last().expect("a life");
        assert_eq!((last.phase, last.from_ns, last.until_ns), (LifePhase::Decode, 6.0, None));
    }

    #[test]
    fn the_oldest_make_room() {
        let mut lives = Lives::default();
        for at in 0..KEPT_MAX as u64 + 3 {
            let (request, worker) = (RequestId(1), WorkerId(0));
            lives.enter(Event { at, request, number: 0, worker, what: What::Blocked });
        }
        assert_eq!((lives.events.len(), lives.dropped), (KEPT_MAX, 3));
        assert!(size_of::<Event>() <= 24);
    }
}
