//! Whole-state invariants below G1 (rules L1, L5, L6, L8, T6, T9).

use tierscope_units::{Idx as _, TransferId};

use super::batch::{Batch, Hold, NO_SLOT};
use super::lane::Phase;
use super::name::{Lane, Tier};
use super::settle::LaneFault;
use super::{Lower, LowerTier};
use crate::machine::Engine;
use crate::request::Context;

impl Engine {
    /// The part of [`Engine::check`] about tiers below G1 and copies.
    pub(crate) fn check_lower(&self) -> Result<(), String> {
        let dependencies = self.requests.ids().filter_map(|id| {
            let live = self.requests.find(id)?;
            Some((format!("{id:?}"), self.requests.get(live).dependency?))
        });
        let claims =
            self.claims.iter().filter_map(|(id, claim)| Some((format!("{id:?}"), claim.dependency()?)));
        for (who, dependency) in dependencies.chain(claims) {
            let known = |lower: &Lower| lower.batches.contains(dependency.transfer);
            if !self.lower.as_deref().is_some_and(known) {
                return Err(format!("{who} waits for {:?}, which has ended (rule T6)", dependency.transfer));
            }
        }
        let Some(lower) = self.lower.as_deref() else {
            let held = self.pool.source_hold + self.pool.reading;
            return if held == 0 {
                Ok(())
            } else {
                Err(format!("{held} slots are read and nothing is below"))
            };
        };
        lower.check_whole()?;
        if lower.connector.is_some() {
            return self.check_connector();
        }
        lower.check_tiers()?;
        lower.check_lanes()?;
        self.check_sources(lower)?;
        self.check_loads(lower)
    }

    /// Each held or read slot of G1 is the source of exactly one batch.
    fn check_sources(&self, lower: &Lower) -> Result<(), String> {
        let mut read = vec![0_u32; self.pool.slots.len()];
        let moves = lower.all_batches().filter(|batch| batch.lane == Lane::G1ToG2);
        for block in moves.flat_map(|batch| &batch.moves) {
            read[block.from.index()] += 1;
        }
        for (at, slot) in self.pool.slots.iter().enumerate() {
            let held = slot.read > 0 || slot.tag == crate::block::pool::Tag::SourceHold;
            if read[at] != u32::from(held) {
                return Err(format!("slot {at} is read by {} copies, and held: {held} (rule L6)", read[at]));
            }
        }
        Ok(())
    }

    /// A load that has not ended has as many blocks on their way as it counts.
    fn check_loads(&self, lower: &Lower) -> Result<(), String> {
        for live in self.requests.lives() {
            let r = self.requests.get(live);
            let id = r.id;
            // A context that comes from another worker counts as one.
            let outstanding = r.load.outstanding - u32::from(r.context == Context::OnItsWay);
            let mine = lower.batches.values().filter(|batch| batch.request == Some((live, id)));
            let moving: usize = mine.map(|batch| batch.moves.len()).sum();
            if outstanding as usize != moving {
                return Err(format!(
                    "{id:?} waits for {outstanding} blocks, {moving} are on their way (rule L5)"
                ));
            }
        }
        Ok(())
    }
}

impl Lower {
    /// Batches in the queues and under way, and those that still grow.
    fn all_batches(&self) -> impl Iterator<Item = &Batch> {
        let open = self.lanes.iter().filter_map(|lane| Some(&*lane.open.as_ref()?.batch));
        self.batches.values().chain(open)
    }

    fn check_tiers(&self) -> Result<(), String> {
        for tier in [Tier::G2, Tier::G3, Tier::G4] {
            // What several workers share is swept over all of them.
            let is_own = tier == Tier::G2 || !self.are_shared;
            if let Some(lower_tier) = self.tier(tier).filter(|_| is_own) {
                Self::check_tier(tier, lower_tier, &[self])?;
            }
        }
        Ok(())
    }

    /// One tier, and the copies of all who use it.
    pub(crate) fn check_tier(tier: Tier, lower_tier: &LowerTier, users: &[&Self]) -> Result<(), String> {
        let name = tier.name();
        lower_tier.pool.check().map_err(|broken| format!("{name}: {broken}"))?;
        let slots = &lower_tier.pool.slots;
        let (mut pins, mut reads) = (vec![0_u32; slots.len()], vec![0_u8; slots.len()]);
        let all = || users.iter().flat_map(|user| user.all_batches());
        for block in all().filter(|batch| batch.lane.from() == tier).flat_map(|batch| &batch.moves) {
            match block.hold {
                Hold::Pin => pins[block.from.index()] += 1,
                Hold::Read => reads[block.from.index()] += 1,
                Hold::Source | Hold::Unheld => {}
            }
        }
        if let Some(at) = slots.iter().zip(&reads).position(|(slot, &reads)| slot.read != reads) {
            return Err(format!("{name}: slot {at} counts {} readers, copies {}", slots[at].read, reads[at]));
        }
        if let Some(at) = slots.iter().zip(&pins).position(|(slot, &pins)| slot.refs != pins) {
            let (refs, pins) = (slots[at].refs, pins[at]);
            return Err(format!("{name}: slot {at} is pinned {refs} times, copies pin it {pins}"));
        }
        let to_here = all().filter(|batch| batch.lane.to() == tier).flat_map(|batch| &batch.moves);
        let promised = to_here.filter(|block| block.to != NO_SLOT).count() as u32;
        if promised != lower_tier.pool.reserved {
            let reserved = lower_tier.pool.reserved;
            return Err(format!("{name}: {reserved} slots are promised, copies go to {promised}"));
        }
        Ok(())
    }

    /// Every batch made steps that batches make, and nothing waits on a lane that was shut down.
    fn check_whole(&self) -> Result<(), String> {
        for lane in Lane::ALL {
            let (state, name) = (&self.lanes[lane.index()], lane.name());
            if let Some(fault @ LaneFault::Invariant) = state.fault {
                return Err(format!("{name}: {fault} (rules L2, L5)"));
            }
            if state.shut && !self.stirred && (state.open.is_some() || state.snapshot.queued > 0) {
                return Err(format!("{name}: it is closed, and batches wait (rule L5)"));
            }
        }
        Ok(())
    }

    fn check_lanes(&self) -> Result<(), String> {
        for lane in Lane::ALL {
            let state = &self.lanes[lane.index()];
            let name = lane.name();
            let count =
                |phase| self.batches.values().filter(|b| b.lane == lane && b.phase == phase).count() as u32;
            let snapshot = state.snapshot;
            let told = [
                ("queued", count(Phase::Queued), snapshot.queued),
                ("starting", count(Phase::Starting), snapshot.starting),
                ("in flight", count(Phase::InFlight), snapshot.in_flight),
                ("settling", count(Phase::Settling), snapshot.settling),
            ];
            if let Some((phase, found, told)) = told.into_iter().find(|(_, found, told)| found != told) {
                return Err(format!(
                    "{name}: {found} batches are {phase}, the snapshot says {told} (rule L2)"
                ));
            }
            if snapshot.past_queue() > state.config.max_concurrent {
                return Err(format!(
                    "{name}: {} batches are past the queue (rule L1)",
                    snapshot.past_queue()
                ));
            }
            let blocks: usize = self.all_batches().filter(|b| b.lane == lane).map(|b| b.moves.len()).sum();
            if blocks as u64 != state.backlog_blocks {
                return Err(format!(
                    "{name}: {blocks} blocks wait or move, it counts {}",
                    state.backlog_blocks
                ));
            }
            let lost = |id: &TransferId| !self.batches.contains(*id);
            if let Some(id) = state.queue.iter().find(|id| lost(id)) {
                return Err(format!("{name}: {id:?} is queued and has ended"));
            }
        }
        Ok(())
    }
}
