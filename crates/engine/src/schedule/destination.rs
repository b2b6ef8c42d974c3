//! The destination of a handoff reserves its slots (rules H1, T7): real ones, for the whole prompt, before the first
//! byte moves. They hold nothing that a lookup could find until everything has come.

use tierscope_units::SimTime;

use super::admit::Tried;
use crate::command::ContextPlan;
use crate::config::SchedulingPolicy;
use crate::fact::{Caller, Fact};
use crate::lower::LoadState;
use crate::machine::Engine;
use crate::request::{Context, Live, Phase};

impl Engine {
    /// Reserves slots for the part of the prompt that is not here, behind the hits; the request then waits for its
    /// context among those that hold blocks.
    pub(super) fn try_reserve_destination(&mut self, now: SimTime, live: Live) -> Tried {
        if !self.has_seat() {
            return Tried::Refused;
        }
        let block = self.config.block_size_tokens;
        let hits = self.scratch.hits.slots.len() as u32;
        let missing = self.requests.get(live).tokens.div_ceil(block) - hits;
        let watermark = if self.running.is_empty() { 0 } else { self.watermark_blocks };
        let others = self.still_needed();
        // Those that hold blocks already have to be able to end beside it.
        let keep_free = match self.config.policy {
            SchedulingPolicy::Fcfs => watermark.max(others),
            SchedulingPolicy::Priority => watermark + others,
        };
        if !self.take_seat(now, live, (missing, Caller::Destination), (keep_free, others > 0)) {
            return Tried::Refused;
        }
        let r = self.requests.get_mut(live);
        r.phase = Phase::Loading;
        r.context = Context::OnItsWay;
        r.load = LoadState { outstanding: 1, ..LoadState::default() };
        r.computed = hits * block;
        r.next_full = r.computed + block;
        let request = r.id;
        let plan = ContextPlan { request, hit_blocks: hits, missing_blocks: missing };
        self.to_fetch.push_back(plan);
        self.facts
            .push(now, Fact::DestinationReserved { request, hit_blocks: hits, reserved_blocks: missing });
        Tried::Admitted
    }
}
