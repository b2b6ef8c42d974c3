//! What the connector keeps of a request.

use tierscope_units::{RequestId, SimTime, TransferId};

use super::offer::Offer;
use super::{Connector, of};
use crate::fact::Fact;
use crate::lower::Dependency;
use crate::machine::Engine;
use crate::request::{Live, Phase};

/// What the connector keeps of a live request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mine {
    /// The first chunk that is not stored or offered yet.
    pub(super) stored: u32,
    /// The copy for whose end it waits, as it was said.
    pub(super) waits_for: Option<TransferId>,
}

impl Connector {
    pub(super) fn mine(&mut self, live: Live) -> &mut Mine {
        let at = live as usize;
        if self.mine.len() <= at {
            self.mine.resize(at + 1, Mine::default());
        }
        &mut self.mine[at]
    }

    fn forget_filling(&mut self, live: Live) {
        self.filling.retain(|&other| other != live);
    }
}

impl Engine {
    /// A request arrived.
    pub(crate) fn connector_arrived(&mut self, live: Live) {
        if let Some(connector) = of(&mut self.lower) {
            connector.manager.new_request(self.requests.get(live).id, &[]);
            *connector.mine(live) = Mine::default();
        }
    }

    /// A running request has more blocks than the `owned` that it had.
    pub(crate) fn connector_grown(&mut self, live: Live, owned: u32) {
        if let Some(connector) = of(&mut self.lower) {
            connector.attempt.grown.push((live, owned));
        }
    }

    /// A request was admitted and computes `tokens` tokens in this pass.
    pub(crate) fn connector_admitted(&mut self, now: SimTime, live: Live, tokens: u32) {
        if self.connector().is_none() {
            return;
        }
        self.stops_waiting(now, live);
        let Some(connector) = of(&mut self.lower) else { return };
        let r = self.requests.get(live);
        connector.attempt.allocated.extend(r.blocks.iter().copied());
        if r.computed + tokens < r.tokens && !connector.filling.contains(&live) {
            connector.filling.push(live);
        }
    }

    /// The rows of the pass are final: whose prompt is done needs no room any more.
    pub(crate) fn connector_committed(&mut self) {
        let requests = &self.requests;
        if let Some(connector) = of(&mut self.lower) {
            connector.filling.retain(|&live| {
                let r = requests.get(live);
                r.phase != Phase::Running || r.prefill_chunk
            });
        }
    }

    /// A running request is preempted, and still has its blocks.
    pub(crate) fn connector_preempted(&mut self, live: Live) {
        let Some(connector) = of(&mut self.lower) else { return };
        let request = self.requests.get(live).id;
        connector.forget_filling(live);
        connector.attempt.grown.retain(|&(other, _)| other != live);
        if connector.open.contains_key(&request) {
            connector.preempted.push(request);
        }
    }

    /// A request ends, and still has its blocks: what it may still store is what it has computed, and copies that
    /// read its blocks go on.
    pub(crate) fn connector_ended(&mut self, live: Live, is_cancelled: bool) {
        if self.connector().is_none() {
            return;
        }
        let r = self.requests.get(live);
        let end = match is_cancelled {
            true => r.computed,
            false => r.prompt_tokens.max(r.tokens - 1),
        };
        let offer = match r.phase {
            Phase::Running if !self.is_loading_within_pass(live) => self.offer_of(live, end),
            _ => Offer::nothing(r.id),
        };
        let Some(connector) = of(&mut self.lower) else { return };
        connector.forget_filling(live);
        let request = offer.request;
        connector.ended.push(offer);
        if connector.open.contains_key(&request) {
            let stores = connector.jobs.iter().filter(|(_, job)| job.request == request && job.is_store());
            for (&transfer, job) in stores {
                for block in &job.blocks {
                    connector.fenced.entry(block.slot).or_default().push(transfer);
                }
            }
        }
    }

    /// A waiting request wants what `transfer` carries, and those behind it go on.
    pub(crate) fn waits_below(&mut self, now: SimTime, live: Live, transfer: TransferId) {
        if of(&mut self.lower).is_none_or(|connector| connector.mine(live).waits_for == Some(transfer)) {
            return;
        }
        self.stops_waiting(now, live);
        let Some(connector) = of(&mut self.lower) else { return };
        let Some(Dependency { transfer, deadline }) = connector.dependency_on(transfer) else { return };
        connector.mine(live).waits_for = Some(transfer);
        let request = self.requests.get(live).id;
        if let Some(job) = connector.jobs.get_mut(&transfer) {
            job.waiters.push((live, request));
        }
        self.facts.push(now, Fact::WaitsForCopy { request, transfer, deadline });
    }

    /// It waits for no copy any more.
    pub(super) fn stops_waiting(&mut self, now: SimTime, live: Live) {
        let Some(connector) = of(&mut self.lower) else { return };
        if let Some(transfer) = connector.mine(live).waits_for.take() {
            let request = self.requests.get(live).id;
            self.facts.push(now, Fact::Unblocked { request, transfer });
        }
    }

    /// Tells those who waited for a copy that it has ended (rule T8).
    pub(super) fn tell_waiters(&mut self, now: SimTime, transfer: TransferId, waiters: &[(Live, RequestId)]) {
        for &(live, request) in waiters {
            let waits = of(&mut self.lower).and_then(|connector| connector.mine(live).waits_for);
            // Its entry may be another's by now.
            if self.requests.get(live).id == request && waits == Some(transfer) {
                self.stops_waiting(now, live);
            }
        }
    }

    /// The copy that will move a waiting request on.
    pub(crate) fn connector_wakeup(&self, live: Live) -> Option<Dependency> {
        let connector = self.connector()?;
        let r = self.requests.get(live);
        let transfer = match r.phase {
            Phase::Running => return None,
            Phase::Loading if r.load.outstanding == 0 => return None,
            Phase::Loading => connector.oldest_of(r.id),
            Phase::Waiting | Phase::Preempted => {
                connector.oldest_of(r.id).or_else(|| connector.mine.get(live as usize)?.waits_for)
            }
        };
        connector.dependency_on(transfer?)
    }
}
