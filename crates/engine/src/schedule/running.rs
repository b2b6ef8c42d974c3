//! The running requests' share of a pass.

use tierscope_units::SimTime;

use super::Draft;
use super::acquire::Outcome;
use crate::fact::Caller;
use crate::machine::Engine;
use crate::request::{Live, Request};

/// How a running request got room to grow.
enum Room {
    Made,
    /// It was preempted itself.
    Preempted,
    /// Not now: it keeps its place until a transfer ends (rules S2, T8), or until others release.
    Awaited,
}

impl Engine {
    /// Gives every running request its tokens, in order.
    pub(crate) fn schedule_running(&mut self, now: SimTime, draft: &mut Draft) {
        let slots = self.config.draft_slots();
        let mut at = 0;
        while at < self.running.len() && draft.budget > 0 && draft.input > slots {
            let live = self.running[at];
            let r = self.requests.get(live);
            let tokens = self.tokens_of(r, draft);
            if tokens == 0 {
                at += 1;
                continue;
            }
            let end = (r.computed + tokens + self.config.lookahead_tokens()).min(self.config.max_model_len);
            if end > r.room {
                let (caller, owned) = (caller_of(r), r.blocks.len() as u32);
                // Under FCFS the victim was the last; under priority the next row has taken its place.
                match self.make_room(now, (live, &mut at), end, caller, draft) {
                    Room::Made if self.lower.is_some() => self.connector_grown(live, owned),
                    Room::Made => {}
                    Room::Preempted => continue,
                    Room::Awaited => {
                        at += 1;
                        continue;
                    }
                }
            }
            let r = self.requests.get_mut(live);
            draft.prefill_scheduled |= r.prefill_chunk;
            let verified = (tokens + r.computed).saturating_sub(r.tokens + r.placeholders).min(r.drafts);
            r.drafts = 0;
            self.add_row(now, live, tokens, verified, draft);
            at += 1;
        }
    }

    /// Tokens of a running request in this pass; 0 passes it over.
    fn tokens_of(&self, r: &Request, draft: &Draft) -> u32 {
        let enough = r.placeholders > 0 && r.computed + 2 - r.placeholders >= r.limit_tokens;
        if enough || r.dependency.is_some() || (draft.defer && r.prefill_chunk) {
            return 0;
        }
        (r.tokens + r.drafts + r.placeholders - r.computed)
            .min(draft.row_tokens)
            .min(draft.budget)
            .min(draft.input - self.config.draft_slots())
            .min((self.config.max_model_len - 1).saturating_sub(r.computed))
    }

    /// Grows a running request to `end` tokens, at the cost of others and at last of itself. Only a want of
    /// capacity leads here to preemption (rule S2).
    fn make_room(
        &mut self,
        now: SimTime,
        (live, at): (Live, &mut usize),
        end: u32,
        caller: Caller,
        draft: &mut Draft,
    ) -> Room {
        loop {
            match self.acquire(now, live, end, caller) {
                Outcome::Ready => return Room::Made,
                Outcome::BlockedOnOffload => return Room::Awaited,
                Outcome::CapacityExhausted => {}
            }
            let Some(place) = self.victim() else { return Room::Awaited };
            draft.preempted = true;
            if place < *at {
                *at -= 1;
            }
            if self.preempt_at(now, place, draft) == live {
                return Room::Preempted;
            }
        }
    }
}

fn caller_of(r: &Request) -> Caller {
    if !super::is_decode(r) {
        Caller::PrefillChunk
    } else if r.drafts > 0 {
        Caller::Speculation
    } else {
        Caller::DecodeGrowth
    }
}
