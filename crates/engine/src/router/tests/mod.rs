//! Tests of the router, and what they share.

mod bounds;
mod choice;
mod formula;
mod history;
mod model;
mod news;

use tierscope_units::{RequestId, SequenceHash, SimTime, Span, WorkerId};

use super::{Ask, CacheEvent, Choice, CostTerms, Expiry, Router, RouterConfig, RouterKind, Stage};
use crate::lower::Tier;

/// A router whose workers have all joined for whole requests, each on a host of its own.
pub(super) fn router(config: RouterConfig, workers: u16) -> Router {
    let mut router = Router::new(config, u32::from(workers), Vec::new());
    for worker in 0..workers {
        router.join(SimTime::ZERO, WorkerId(worker), Stage::Whole);
    }
    router
}

pub(super) fn at(ns: u64) -> SimTime {
    SimTime::from_ns(ns)
}

/// The first `len` blocks of a chain.
pub(super) fn chain(name: u64, len: u64) -> Vec<SequenceHash> {
    (0..len).map(|block| SequenceHash((name << 32) + block + 1)).collect()
}

pub(super) fn ask(request: u32, hashes: &[SequenceHash]) -> Ask<'_> {
    Ask {
        request: RequestId(request),
        hashes,
        prompt_blocks: hashes.len() as u32,
        output_blocks_hint: 0,
        stage: Stage::Whole,
        draw: 0,
    }
}

pub(super) fn store(router: &mut Router, now: SimTime, worker: u16, (tier, hashes): (Tier, &[SequenceHash])) {
    router.publish(now, WorkerId(worker), CacheEvent::Stored { tier, hashes });
}

/// Routes a request whose prompt is `blocks` blocks that nobody holds.
pub(super) fn send(router: &mut Router, now: SimTime, request: u32, blocks: u64) -> Choice {
    let hashes = chain(1_000 + u64::from(request), blocks);
    router.route(now, &ask(request, &hashes)).expect("there are candidates")
}
