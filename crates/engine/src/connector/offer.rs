//! Stores: what each attempt offers to the CPU tier, and which copies the next pass has to wait for.

use std::collections::BTreeSet;

use tierscope_units::{PassId, RequestId, SequenceHash, SimTime, TransferId};

use super::job::{Job, Kind};
use super::{Connector, of};
use crate::fact::{BlockRef, Fact};
use crate::lower::{Lane, Tier};
use crate::machine::Engine;
use crate::request::Live;
use crate::vllm::ManagerEvent;

/// Whole chunks of a request that are not stored or offered yet.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) request: RequestId,
    /// The first chunk.
    first: u32,
    /// The blocks of all chunks, in order.
    blocks: Vec<BlockRef>,
}

impl Offer {
    pub(super) fn nothing(request: RequestId) -> Self {
        Self { request, first: 0, blocks: Vec::new() }
    }

    /// A chunk is known by the content at its end.
    fn keys(&self, chunk_blocks: u32) -> Vec<SequenceHash> {
        let size = chunk_blocks as usize;
        self.blocks.chunks_exact(size).map(|chunk| chunk[size - 1].hash).collect()
    }
}

impl Engine {
    /// What a request has to offer once `end` tokens are computed.
    pub(super) fn offer_of(&mut self, live: Live, end: u32) -> Offer {
        let identity = self.identity();
        let behind = self.config.hash_lookahead_tokens();
        let r = self.requests.get_mut(live);
        let Some(connector) = of(&mut self.lower) else { return Offer::nothing(r.id) };
        let most = if connector.config.prompt_only { r.prompt_tokens } else { u32::MAX };
        let known = r.tokens - behind.min(r.tokens);
        let tokens = end.min(known).min(most);
        let size = connector.chunk_blocks();
        let chunks = (tokens / identity.block_size_tokens).min(r.blocks.len() as u32) / size;
        let first = connector.mine(live).stored;
        if chunks <= first {
            return Offer::nothing(r.id);
        }
        let hashes = &r.content.hashes((chunks * size) as usize, identity)[(first * size) as usize..];
        let slots = &r.blocks[(first * size) as usize..];
        let blocks = slots.iter().zip(hashes).map(|(&slot, &hash)| BlockRef { slot, hash }).collect();
        Offer { request: r.id, first, blocks }
    }

    /// Ends an attempt to schedule, with its pass if it made one: the tokens of its rows and those of requests that
    /// ended are offered, and what still reads slots that somebody got now is flushed. Whether anything is stored.
    pub(crate) fn close_attempt(&mut self, now: SimTime, pass: Option<PassId>) -> bool {
        let requests = &self.requests;
        let Some(connector) = of(&mut self.lower) else { return false };
        for (live, owned) in connector.attempt.grown.drain(..) {
            let grown = requests.get(live).blocks.iter().skip(owned as usize);
            connector.attempt.allocated.extend(grown.copied());
        }
        let mut flushed = connector.to_flush();
        let created = connector.created;
        let rows = std::mem::take(&mut self.rows);
        for row in &rows {
            let offer = self.offer_of(row.live, row.computed_before + row.tokens);
            if let Some((transfer, chunks)) = self.store(now, offer)
                && let Some(connector) = of(&mut self.lower)
            {
                connector.mine(row.live).stored = chunks;
                self.start_after(transfer, pass);
            }
        }
        self.rows = rows;
        self.offer_ended(now, pass, &mut flushed);
        for &transfer in &flushed {
            self.facts.push(now, Fact::CopyFlushed { transfer });
        }
        let Some(connector) = of(&mut self.lower) else { return false };
        for transfer in flushed {
            connector.start_and_await(transfer);
        }
        connector.preempted.clear();
        connector.attempt.allocated.clear();
        connector.attempt.sync_tokens = 0;
        connector.attempt.first_job = connector.created;
        connector.created > created
    }

    /// Requests that ended offer the rest of what they computed; then the tier puts what they met in order.
    fn offer_ended(&mut self, now: SimTime, pass: Option<PassId>, flushed: &mut BTreeSet<TransferId>) {
        let ended =
            of(&mut self.lower).map(|connector| std::mem::take(&mut connector.ended)).unwrap_or_default();
        let requests: Vec<RequestId> = ended.iter().map(|offer| offer.request).collect();
        for offer in ended {
            let Some((Some(transfer), _)) = self.store(now, offer) else { continue };
            self.start_after(Some(transfer), pass);
            let Some(connector) = of(&mut self.lower) else { return };
            for block in &connector.jobs[&transfer].blocks {
                connector.fenced.entry(block.slot).or_default().push(transfer);
                if connector.attempt.allocated.contains(&block.slot) {
                    flushed.insert(transfer);
                }
            }
        }
        let Some(connector) = of(&mut self.lower) else { return };
        for request in requests {
            connector.manager.finish(request);
            match connector.open.contains_key(&request) {
                true => {
                    connector.told.insert(request);
                }
                false => connector.manager.forget(request),
            }
        }
    }

    /// Offers chunks: those that are not in the tier, and worth it, are stored. The job, if there is anything to
    /// copy, and how many chunks of the request are stored or offered then. `None` when the tier has no room, or
    /// the way down is shut: the same chunks are offered again.
    fn store(&mut self, now: SimTime, offer: Offer) -> Option<(Option<TransferId>, u32)> {
        if self.is_lane_closed(Lane::G1ToG2) {
            return None;
        }
        let connector = of(&mut self.lower)?;
        if offer.blocks.is_empty() {
            return None;
        }
        let size = connector.chunk_blocks();
        let keys = offer.keys(size);
        connector.place(offer.request, offer.first, &keys, self.config.block_size_tokens);
        let store = connector.manager.prepare_store(offer.request, &keys)?;
        let offered = offer.first + keys.len() as u32;
        self.log_chunks(now);
        if store.keys.is_empty() {
            return Some((None, offered));
        }
        let mut job = Job::new(offer.request, Kind::Store);
        let mut wanted = store.keys.iter().peekable();
        for (key, blocks) in keys.iter().zip(offer.blocks.chunks_exact(size as usize)) {
            if wanted.next_if_eq(&key).is_some() {
                job.blocks.extend_from_slice(blocks);
            }
        }
        (job.keys, job.chunks) = (store.keys, store.chunks);
        // What was missing is pending now: the head of the line may find something else than before.
        self.blocked.clear();
        Some((Some(self.open_job(now, job)), offered))
    }

    /// A store reads what a pass computes: its copy starts when that has ended, or at once where there is none.
    fn start_after(&mut self, transfer: Option<TransferId>, pass: Option<PassId>) {
        let (Some(transfer), Some(connector)) = (transfer, of(&mut self.lower)) else { return };
        match pass {
            Some(pass) => connector.uncomputed.push_back((pass, transfer)),
            None => connector.errands.start(transfer),
        }
    }

    /// Tells what became of the tier's chunks, as blocks: all blocks of a chunk are known by its end.
    pub(super) fn log_chunks(&mut self, now: SimTime) {
        let Some(connector) = of(&mut self.lower) else { return };
        let size = connector.chunk_blocks();
        for event in connector.manager.take_events() {
            let (chunks, is_stored) = match event {
                ManagerEvent::Stored(chunks) => (chunks, true),
                ManagerEvent::Removed(chunks) => (chunks, false),
                ManagerEvent::StoreFailed(_) => continue,
            };
            let each = |chunk: BlockRef| {
                (0..size).map(move |at| BlockRef {
                    slot: tierscope_units::SlotId(chunk.slot.0 * size + at),
                    ..chunk
                })
            };
            let blocks = self.facts.list(chunks.into_iter().flat_map(each));
            let tier = Tier::G2;
            let fact = match is_stored {
                true => Fact::TierStored { tier, blocks },
                false => Fact::TierRemoved { tier, blocks },
            };
            self.facts.push(now, fact);
        }
    }
}

impl Connector {
    /// Copies that read slots which somebody got in this attempt, or slots of requests that were preempted. Loads
    /// that began in this attempt are not among them.
    fn to_flush(&self) -> BTreeSet<TransferId> {
        let fenced = |slot| self.fenced.get(slot).into_iter().flatten().copied();
        let mut flushed: BTreeSet<TransferId> = self.attempt.allocated.iter().flat_map(fenced).collect();
        if !self.preempted.is_empty() {
            let old = self.jobs.range(..TransferId(self.attempt.first_job));
            let mine = old.filter(|(_, job)| self.preempted.contains(&job.request));
            flushed.extend(mine.map(|(&transfer, _)| transfer));
        }
        flushed
    }

    /// Tells the manager where chunks end in their request.
    pub(super) fn place(
        &mut self,
        request: RequestId,
        first: u32,
        keys: &[SequenceHash],
        block_size_tokens: u32,
    ) {
        let tokens = block_size_tokens * self.chunk_blocks();
        for (chunk, &key) in (first + 1..).zip(keys) {
            self.manager.place(request, key, chunk * tokens);
        }
    }
}
