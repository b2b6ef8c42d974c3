//! Loads: content of the CPU tier comes into slots that a request holds already (rule T7).

use tierscope_units::SimTime;

use super::job::{Job, Kind};
use super::of;
use crate::config::Fidelity;
use crate::fact::{BlockRef, Fact};
use crate::lower::LoadState;
use crate::machine::Engine;
use crate::request::{Live, Phase};

impl Engine {
    /// Starts to load `blocks` blocks behind the `hits` that a request found in G1; it has the slots of both. When
    /// the pass at hand is to wait for it, `is_sync`, else the request waits.
    pub(crate) fn open_load(&mut self, now: SimTime, live: Live, (hits, blocks): (u32, u32), is_sync: bool) {
        self.stops_waiting(now, live);
        self.use_leases(now, live, hits as usize);
        let identity = self.identity();
        let r = self.requests.get_mut(live);
        let Some(connector) = of(&mut self.lower) else { return };
        let size = connector.chunk_blocks();
        let (first, until) = (hits / size, (hits + blocks) / size);
        let hashes = r.content.hashes((until * size) as usize, identity);
        let mut job = Job::new(r.id, Kind::Load { live, hits, is_sync });
        job.keys.extend((first..until).map(|chunk| hashes[((chunk + 1) * size - 1) as usize]));
        job.skipped = hits % size;
        let loaded = hits as usize..(hits + blocks) as usize;
        let slots = r.blocks[loaded.clone()].iter().zip(&hashes[loaded]);
        job.blocks.extend(slots.map(|(&slot, &hash)| BlockRef { slot, hash }));
        connector.place(r.id, first, &job.keys, identity.block_size_tokens);
        let chunks = connector.manager.prepare_load(r.id, &job.keys);
        job.chunks = chunks.expect("what was found at this instant is readable");
        connector.mine(live).stored = until;
        if !is_sync {
            connector.filling.push(live);
            connector.attempt.allocated.extend(r.blocks.iter().copied());
            if self.pool.caching {
                connector.loading.extend(job.keys.iter().copied());
            }
            r.phase = Phase::Loading;
            r.computed = hits * identity.block_size_tokens;
            r.next_full = r.computed + identity.block_size_tokens;
        }
        let outstanding = if is_sync { 0 } else { blocks };
        let tokens = [blocks * identity.block_size_tokens, 0, 0];
        r.load = LoadState { outstanding, from: hits, until: hits + blocks, tokens, ..LoadState::default() };
        let request = r.id;
        let started =
            Fact::OnboardStarted { request, hit_blocks: hits, g2_blocks: blocks, g3_blocks: 0, g4_blocks: 0 };
        self.facts.push(now, started);
        let transfer = self.open_job(now, job);
        self.blocked.clear();
        let Some(connector) = of(&mut self.lower) else { return };
        match is_sync {
            true => connector.start_and_await(transfer),
            false => connector.errands.start(transfer),
        }
    }

    /// Whether a pass waits for a load into a running request's slots: they stay until it has ended. vLLM gives
    /// them back at once, which does no harm while no slot is given away before the pass begins.
    pub(crate) fn is_loading_within_pass(&self, live: Live) -> bool {
        let r = self.requests.get(live);
        let is_mended = self.config.fidelity == Fidelity::Mended && r.phase == Phase::Running;
        is_mended && self.connector().is_some_and(|connector| connector.loads_within_pass(r.id))
    }

    /// The load of the next in line has ended: what came is matchable from now on. Of a load that brought
    /// everything the last token is computed again, so that there is something to sample from.
    pub(crate) fn settle_load(&mut self, now: SimTime, live: Live) {
        let r = self.requests.get_mut(live);
        if !std::mem::take(&mut r.load.has_arrived) {
            return;
        }
        let computed = r.computed;
        self.register_full(now, live, computed);
        let r = self.requests.get_mut(live);
        if r.computed == r.tokens {
            r.computed -= 1;
            r.load.tokens[0] -= 1;
        }
    }
}
