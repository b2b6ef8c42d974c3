//! The two sides of a handoff within one worker (rule H1): blocks of a computed prompt that are held for the worker
//! that goes on with it, and slots that are reserved for a prompt that was computed elsewhere.
//!
//! Who hands what to whom, and when, is the fleet's business (`fleet/`). A worker only keeps, reserves, and lets go.

use tierscope_units::{RequestId, SimTime, SlotId};

use crate::fact::{BlockRef, CopyFailure, Fact};
use crate::machine::Engine;
use crate::request::{Context, Live};

impl Engine {
    /// A prompt is computed: the request is over here, and its blocks stay until they are released.
    pub(crate) fn hold_source(&mut self, now: SimTime, live: Live) {
        // Slots that only drafts would have needed are nobody's any more (rule T7).
        let block = self.config.block_size_tokens;
        let r = self.requests.get_mut(live);
        let request = r.id;
        let used = (r.prompt_tokens.div_ceil(block) as usize).min(r.blocks.len());
        self.pool.release(&r.blocks[used..]);
        r.blocks.truncate(used);
        let slots = std::mem::take(&mut r.blocks);
        self.requests.remove(live);
        let held =
            slots.iter().map(|&slot| BlockRef { slot, hash: self.pool.slot_hash(slot).unwrap_or_default() });
        let blocks = self.facts.list(held);
        self.sources.insert(request, slots);
        self.facts.push(now, Fact::SourceHeld { request, blocks });
    }

    /// Blocks of a computed prompt that are held for another worker; 0 for a request that has none here.
    pub fn source_blocks(&self, request: RequestId) -> u32 {
        self.sources.get(&request).map_or(0, |slots| slots.len() as u32)
    }

    /// The handoff is over. A second word of it means nothing (rule H2).
    pub(crate) fn release_source(&mut self, now: SimTime, request: RequestId) {
        let Some(slots) = self.sources.remove(&request) else { return };
        self.pool.release(&slots);
        self.blocked.clear();
        let released = slots.len() as u32;
        self.facts.push(now, Fact::SourceReleased { request, released });
    }

    /// Slots that are held for handoffs.
    pub(crate) fn held_for_handoffs(&self) -> impl Iterator<Item = SlotId> {
        self.sources.values().flatten().copied()
    }

    /// Whether blocks of this request's prompt are held for a handoff.
    pub fn holds_source(&self, request: RequestId) -> bool {
        self.sources.contains_key(&request)
    }

    /// A request goes, in whatever state it is: nothing is held for it any more, or will be when what is written
    /// into its slots has ended.
    pub(crate) fn withdraw(&mut self, now: SimTime, request: RequestId) {
        self.release_source(now, request);
        self.to_fetch.retain(|plan| plan.request != request);
        let Some(live) = self.requests.find(request) else { return };
        let released = self.requests.get(live).blocks.len() as u32;
        self.leave(live);
        self.facts.push(now, Fact::Withdrawn { request, released });
        self.give_up(now, live);
    }

    /// What a request waited for has come, or has not; `false` when it waits for nothing.
    pub(crate) fn context_arrived(
        &mut self,
        now: SimTime,
        request: RequestId,
        end: Result<(), CopyFailure>,
    ) -> bool {
        let Some(live) = self.requests.find(request) else { return false };
        let r = self.requests.get_mut(live);
        match r.context {
            Context::OnItsWay => {}
            // It has no slots yet, and need not wait for a context any more.
            Context::Elsewhere if end.is_err() => {
                r.context = Context::Own;
                self.facts.push(now, Fact::ContextArrived { request, end });
                self.blocked.clear();
                return true;
            }
            _ => return false,
        }
        r.load.outstanding = 0;
        self.facts.push(now, Fact::ContextArrived { request, end });
        match end {
            Ok(()) => {
                let tokens = r.tokens;
                r.context = Context::Here;
                // The last token is computed once more: the next one is sampled from it.
                r.computed = tokens - 1;
                self.register_full(now, live, tokens);
            }
            Err(_) => r.context = Context::Own,
        }
        self.blocked.clear();
        true
    }
}
