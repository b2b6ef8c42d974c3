//! The facts of what lies below G1: batches on lanes, blocks in tiers, loads.

use tierscope_engine::{Cause, CopyEnd, CopyFailure, Fact, FactLog, Lane, Loaded, Tier};
use tierscope_units::Digester;

use super::{Tag, blocks, head, pair};

/// The facts of a batch on its way along a lane.
pub(super) fn copy(at: u64, fact: &Fact, log: &FactLog, out: &mut Digester) {
    match *fact {
        Fact::CopyQueued { transfer, lane: on, cause: why, request, blocks: list } => {
            let head = head(Tag::CopyQueued, request.map_or(0, |request| request.0));
            let wanted = u32::from(request.is_some());
            out.words(&[head, at, transfer.0, pair(lane(on), cause(why)), pair(wanted, list.len())]);
            blocks(list, log, out);
        }
        Fact::CopyStarted { transfer, lane: on, blocks: list } => {
            out.words(&[head(Tag::CopyStarted, lane(on)), at, transfer.0, u64::from(list.len())]);
            blocks(list, log, out);
        }
        Fact::CopyRetried { transfer, failure: why, attempt, at: next } => {
            out.words(&[
                head(Tag::CopyRetried, 0),
                at,
                transfer.0,
                pair(failure(why), attempt),
                next.as_ns(),
            ]);
        }
        Fact::CopyFlushed { transfer } => out.words(&[head(Tag::CopyFlushed, 0), at, transfer.0]),
        Fact::CopyEnded { transfer, lane: on, end: how, released } => {
            out.words(&[head(Tag::CopyEnded, lane(on)), at, transfer.0, pair(end(how), released)]);
        }
        _ => unreachable!("only facts of copies are sent here"),
    }
}

/// The facts of tiers, and of requests that load from them.
pub(super) fn tier_or_load(at: u64, fact: &Fact, log: &FactLog, out: &mut Digester) {
    match *fact {
        Fact::TierStored { tier: of, blocks: list } => {
            out.words(&[head(Tag::TierStored, tier(of)), at, u64::from(list.len())]);
            blocks(list, log, out);
        }
        Fact::TierRemoved { tier: of, blocks: list } => {
            out.words(&[head(Tag::TierRemoved, tier(of)), at, u64::from(list.len())]);
            blocks(list, log, out);
        }
        Fact::OnboardStarted { request, hit_blocks, g2_blocks, g3_blocks, g4_blocks } => {
            let head = head(Tag::OnboardStarted, request.0);
            out.words(&[head, at, pair(hit_blocks, g2_blocks), pair(g3_blocks, g4_blocks)]);
        }
        Fact::OnboardEnded { request, loaded_blocks, failed_blocks } => {
            out.words(&[head(Tag::OnboardEnded, request.0), at, pair(loaded_blocks, failed_blocks)]);
        }
        Fact::WaitsForCopy { request, transfer, deadline } => {
            out.words(&[head(Tag::WaitsForCopy, request.0), at, transfer.0, deadline.as_ns()]);
        }
        Fact::Leased { request, blocks: list, until } => {
            out.words(&[head(Tag::Leased, request.0), at, u64::from(list.len()), until.as_ns()]);
            blocks(list, log, out);
        }
        Fact::LeaseEnded { request, released, expired } => {
            out.words(&[head(Tag::LeaseEnded, request.0), at, pair(released, u32::from(expired))]);
        }
        _ => unreachable!("only facts of tiers and loads are sent here"),
    }
}

/// What an admission owes to the tiers below: a record of its own, and none where it owes them nothing. So the
/// digest of a run without such tiers is what it was before there were any.
pub(super) fn loaded(at: u64, request: u32, loaded: Loaded, out: &mut Digester) {
    let Loaded { g2_tokens, g3_tokens, g4_tokens } = loaded;
    if loaded != Loaded::default() {
        out.words(&[head(Tag::Loaded, request), at, pair(g2_tokens, g3_tokens), u64::from(g4_tokens)]);
    }
}

fn tier(tier: Tier) -> u32 {
    match tier {
        Tier::G1 => 1,
        Tier::G2 => 2,
        Tier::G3 => 3,
        Tier::G4 => 4,
    }
}

/// From and to, as the digits of a number.
fn lane(lane: Lane) -> u32 {
    tier(lane.from()) * 10 + tier(lane.to())
}

fn cause(cause: Cause) -> u32 {
    match cause {
        Cause::Evicted => 1,
        Cause::Computed => 2,
        Cause::Hit => 3,
        Cause::Boundary => 4,
        Cause::Chained => 5,
        Cause::Wanted => 6,
    }
}

fn end(end: CopyEnd) -> u32 {
    match end {
        CopyEnd::Completed => 1,
        CopyEnd::Cancelled => 2,
        CopyEnd::Failed(why) => 10 + failure(why),
    }
}

pub(super) fn failure(failure: CopyFailure) -> u32 {
    match failure {
        CopyFailure::Executor => 1,
        CopyFailure::Corrupt => 2,
        CopyFailure::Aborted => 3,
        CopyFailure::Panicked => 4,
        CopyFailure::TimedOut => 5,
        CopyFailure::DestinationFull => 6,
        CopyFailure::Shutdown => 7,
    }
}
