//! Claims: slots of G1 that are promised before the bytes come (rule T7). The destination of a handoff and the
//! destination of an onboarding copy reserve real slots first; they are neither free nor matchable until they
//! are activated, and an abandoned claim gives every slot back (rule T5).
//!
//! A claim goes through the same transaction as a request's acquire, with the same outcomes. One that finds no
//! room waits its turn: it wakes when the transfer that it depends on ends, or when slots come free, even if
//! nothing else happens on the worker (rule H5). It never preempts.

use std::collections::BTreeMap;

use tierscope_units::{ClaimId, SequenceHash, SimTime, SlotId, TransferId};

use crate::block::transaction::Exhausted;
use crate::fact::{BlockRef, Caller, Fact};
use crate::lower::{Below, Dependency};
use crate::machine::{Engine, Scratch};

/// Who claims, and how far it is.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    caller: Caller,
    blocks: u32,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Not reserved. `seen` is the capacity generation of the last refusal: no sooner is it tried again.
    Waiting { dependency: Option<Dependency>, seen: Option<u64> },
    /// The slots, in the order of the blocks.
    Reserved(Vec<SlotId>),
}

/// All claims, by number: the order in which they are tried.
pub(crate) type Claims = BTreeMap<ClaimId, Claim>;

impl Claim {
    pub(crate) fn new(caller: Caller, blocks: u32) -> Self {
        Self { caller, blocks, state: State::Waiting { dependency: None, seen: None } }
    }

    /// The slots that it holds.
    pub(crate) fn slots(&self) -> &[SlotId] {
        match &self.state {
            State::Waiting { .. } => &[],
            State::Reserved(slots) => slots,
        }
    }

    /// The transfer that it waits for.
    pub(crate) fn dependency(&self) -> Option<Dependency> {
        match self.state {
            State::Waiting { dependency, .. } => dependency,
            State::Reserved(_) => None,
        }
    }

    fn may_try(&self, generation: u64) -> bool {
        match self.state {
            State::Waiting { dependency, seen } => dependency.is_none() && seen != Some(generation),
            State::Reserved(_) => false,
        }
    }
}

impl Engine {
    /// Tries the claims that wait, in order.
    pub(crate) fn try_claims(&mut self, now: SimTime) {
        let waiting: Vec<ClaimId> = self.claims.keys().copied().collect();
        for id in waiting {
            if self.claims.get(&id).is_some_and(|claim| claim.may_try(self.pool.generation)) {
                self.try_claim(now, id);
            }
        }
    }

    fn try_claim(&mut self, now: SimTime, id: ClaimId) {
        let Claim { caller, blocks, .. } = self.claims[&id];
        let txn = self.next_txn();
        self.scratch.hits.slots.clear();
        self.scratch.hits.cached = 0;
        let mut retried = false;
        let state = loop {
            let Exhausted { needed, obtainable } = match self.promise(blocks) {
                Ok((slots, victims)) => {
                    let list =
                        self.facts.list(slots.iter().map(|&slot| BlockRef { slot, hash: SequenceHash(0) }));
                    self.log_removed(now);
                    self.facts.push(now, Fact::Claimed { txn, claim: id, caller, blocks: list, victims });
                    break State::Reserved(slots);
                }
                Err(exhausted) => exhausted,
            };
            match self.make_room_below(now, blocks, needed.saturating_sub(obtainable)) {
                None => {
                    self.facts.push(now, Fact::ClaimRefused { txn, claim: id, caller, needed, obtainable });
                    break State::Waiting { dependency: None, seen: Some(self.pool.generation) };
                }
                Some(Below::Pending(dependency)) => {
                    let Dependency { transfer, deadline } = dependency;
                    self.facts.push(now, Fact::ClaimBlocked { txn, claim: id, caller, transfer, deadline });
                    break State::Waiting { dependency: Some(dependency), seen: None };
                }
                Some(Below::Released(released)) => {
                    assert!(!retried && released > 0, "{txn:?} retries without a gain");
                    retried = true;
                }
            }
        };
        if let Some(claim) = self.claims.get_mut(&id) {
            claim.state = state;
        }
    }

    /// Reserves new slots for longer than this instant; with how many victims.
    fn promise(&mut self, blocks: u32) -> Result<(Vec<SlotId>, u32), Exhausted> {
        self.offer_first(blocks)?;
        let Scratch { hits, slots, removed, .. } = &mut self.scratch;
        let reservation = self.pool.reserve(hits, blocks, 0, slots)?;
        let victims = reservation.victims();
        Ok((self.pool.keep(reservation, removed), victims))
    }

    /// The bytes of a claim have come: its blocks become matchable, in order, behind `parent`. Content that
    /// became resident meanwhile keeps the slot that it has, and the claim's is freed (rule T4); so are slots
    /// without content. `false` when nothing is reserved under this number.
    pub(crate) fn activate(
        &mut self,
        now: SimTime,
        id: ClaimId,
        parent: SequenceHash,
        hashes: &[SequenceHash],
    ) -> bool {
        if self.claims.get(&id).is_none_or(|claim| claim.slots().is_empty()) {
            return false;
        }
        let Some(claim) = self.claims.remove(&id) else { return false };
        let filled = self.pool.activate(claim.slots(), hashes);
        let blocks = self.facts.list(filled);
        self.blocked.clear();
        self.facts.push(now, Fact::ClaimActivated { claim: id, parent, blocks });
        true
    }

    /// Gives a claim up, reserved or not. `false` when there is none of this number.
    pub(crate) fn abandon(&mut self, now: SimTime, id: ClaimId) -> bool {
        let Some(claim) = self.claims.remove(&id) else { return false };
        self.pool.give_back(claim.slots());
        self.blocked.clear();
        let released = claim.slots().len() as u32;
        self.facts.push(now, Fact::ClaimAbandoned { claim: id, released });
        true
    }

    /// Wakes the claims that waited for a transfer (rule T8).
    pub(crate) fn wake_claims(&mut self, transfer: TransferId) {
        for claim in self.claims.values_mut() {
            if claim.dependency().is_some_and(|dependency| dependency.transfer == transfer) {
                claim.state = State::Waiting { dependency: None, seen: None };
            }
        }
    }

    /// Slots that all claims hold.
    pub(crate) fn claimed(&self) -> usize {
        self.claims.values().map(|claim| claim.slots().len()).sum()
    }
}
