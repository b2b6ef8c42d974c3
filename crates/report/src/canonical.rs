//! The canonical event stream (rule E4): each fact as 64-bit words, fed to the digest.
//!
//! Format, version 1. A fact is
//!
//! ```text
//! head    version << 48 | tag << 32 | the request (or worker, lane, tier) number
//! time    nanoseconds since the run began
//! fields  in the order of the fact's declaration; pairs of 32-bit numbers share a word, first one high
//! blocks  per block list: its length in one of the fields, then two words a block: slot, hash
//! ```
//!
//! The stream is injective: the tag fixes the number of fields, a field the number of blocks. Only its hash
//! is ever kept. A change here changes every digest, and is a change of [`VERSION`].
//!
//! Deliberately absent: allocation. A run of an hour passes some ten million blocks through here.

mod below;
pub(crate) mod fleet;

use tierscope_engine::{BlockList, Caller, Fact, FactLog, PassStart, Prepared, Rejection};
use tierscope_units::{Digester, SimTime};

/// Version of the format; part of every head word.
pub const VERSION: u64 = 1;

/// Kinds of record: one for each kind of fact, one for what an admission owes to tiers below G1, and one where the facts
/// of another worker begin. A number is
/// never used again for something else; 18 and 19 were the offloads of a time before there were lanes.
#[derive(Clone, Copy)]
enum Tag {
    Arrived = 1,
    Rejected = 2,
    Acquired = 3,
    CapacityExhausted = 4,
    Admitted = 5,
    Stored = 6,
    Removed = 7,
    Preempted = 8,
    PassStarted = 9,
    Prefilled = 10,
    PassEnded = 11,
    FirstToken = 12,
    SecondToken = 13,
    Finished = 14,
    Cancelled = 15,
    BlockedOnOffload = 16,
    RetryNow = 17,
    Unblocked = 20,
    Claimed = 21,
    ClaimRefused = 22,
    ClaimBlocked = 23,
    ClaimActivated = 24,
    ClaimAbandoned = 25,
    CopyQueued = 26,
    CopyStarted = 27,
    CopyRetried = 28,
    CopyEnded = 29,
    TierStored = 30,
    TierRemoved = 31,
    OnboardStarted = 32,
    OnboardEnded = 33,
    WaitsForCopy = 34,
    Loaded = 35,
    CopyFlushed = 36,
    Leased = 40,
    LeaseEnded = 41,
    Turn = 50,
    SourceHeld = 51,
    SourceReleased = 52,
    DestinationReserved = 53,
    ContextArrived = 54,
    Joined = 55,
    Withdrawn = 56,
    Routed = 57,
    HeldAtRouter = 58,
    HandoffReached = 59,
    HandoffCopy = 60,
    MessageIgnored = 61,
    Worker = 62,
}

/// Appends the words of one fact.
#[inline]
pub fn encode(at: SimTime, fact: &Fact, log: &FactLog, out: &mut Digester) {
    let at = at.as_ns();
    match *fact {
        Fact::Arrived { request, prompt_tokens, output_tokens } => {
            out.words(&[head(Tag::Arrived, request.0), at, pair(prompt_tokens, output_tokens)]);
        }
        Fact::Rejected { request, reason } => {
            out.words(&[head(Tag::Rejected, request.0), at]);
            out.words(&rejection(reason));
        }
        Fact::Acquired { .. }
        | Fact::CapacityExhausted { .. }
        | Fact::BlockedOnOffload { .. }
        | Fact::RetryNow { .. }
        | Fact::Unblocked { .. } => transaction(at, fact, log, out),
        Fact::CopyQueued { .. }
        | Fact::CopyStarted { .. }
        | Fact::CopyRetried { .. }
        | Fact::CopyFlushed { .. }
        | Fact::CopyEnded { .. } => below::copy(at, fact, log, out),
        Fact::TierStored { .. }
        | Fact::TierRemoved { .. }
        | Fact::OnboardStarted { .. }
        | Fact::OnboardEnded { .. }
        | Fact::Leased { .. }
        | Fact::LeaseEnded { .. }
        | Fact::WaitsForCopy { .. } => below::tier_or_load(at, fact, log, out),
        Fact::Claimed { .. }
        | Fact::ClaimRefused { .. }
        | Fact::ClaimBlocked { .. }
        | Fact::ClaimActivated { .. }
        | Fact::ClaimAbandoned { .. } => claim(at, fact, log, out),
        Fact::SourceHeld { .. }
        | Fact::SourceReleased { .. }
        | Fact::DestinationReserved { .. }
        | Fact::ContextArrived { .. }
        | Fact::Joined { .. }
        | Fact::Withdrawn { .. } => fleet::side(at, fact, log, out),
        Fact::Route(_) | Fact::Handoff(_) | Fact::Worker { .. } => fleet::between(at, fact, out),
        Fact::Admitted { request, cached_tokens, loaded, readmission } => {
            out.words(&[head(Tag::Admitted, request.0), at, pair(cached_tokens, u32::from(readmission))]);
            below::loaded(at, request.0, loaded, out);
        }
        Fact::Stored { request, parent, blocks: list } => {
            out.words(&[head(Tag::Stored, request.0), at, parent.0, u64::from(list.len())]);
            blocks(list, log, out);
        }
        Fact::Removed { blocks: list } => {
            out.words(&[head(Tag::Removed, 0), at, u64::from(list.len())]);
            blocks(list, log, out);
        }
        Fact::Preempted { request, lost_tokens, released } => {
            out.words(&[head(Tag::Preempted, request.0), at, pair(lost_tokens, released)]);
        }
        Fact::PassStarted(start) => pass_started(at, &start, out),
        Fact::Prefilled { request, tokens, computed_before, recomputed } => {
            let head = head(Tag::Prefilled, request.0);
            out.words(&[head, at, pair(tokens, computed_before), u64::from(recomputed)]);
        }
        Fact::PassEnded { worker, pass } => {
            out.words(&[head(Tag::PassEnded, u32::from(worker.0)), at, pass.0]);
        }
        Fact::FirstToken { request } => out.words(&[head(Tag::FirstToken, request.0), at]),
        Fact::SecondToken { request } => out.words(&[head(Tag::SecondToken, request.0), at]),
        Fact::Finished { request, output_tokens } => {
            out.words(&[head(Tag::Finished, request.0), at, u64::from(output_tokens)]);
        }
        Fact::Cancelled { request, output_tokens } => {
            out.words(&[head(Tag::Cancelled, request.0), at, u64::from(output_tokens)]);
        }
    }
}

/// The facts of transactions, and the end of the wait that one may have led to.
fn transaction(at: u64, fact: &Fact, log: &FactLog, out: &mut Digester) {
    match *fact {
        Fact::Acquired { txn, request, caller: by, active_hits, cached_hits, missing, victims } => {
            out.words(&[head(Tag::Acquired, request.0), at, txn.0, pair(caller(by), missing.len())]);
            out.words(&[pair(active_hits, cached_hits), u64::from(victims)]);
            blocks(missing, log, out);
        }
        Fact::CapacityExhausted { txn, request, caller: by, needed, obtainable, prepared } => {
            let head = head(Tag::CapacityExhausted, request.0);
            out.words(&[head, at, txn.0, u64::from(caller(by)), pair(needed, obtainable)]);
            out.words(&found(prepared));
        }
        Fact::BlockedOnOffload { txn, request, caller: by, needed, transfer, deadline, prepared } => {
            let head = head(Tag::BlockedOnOffload, request.0);
            out.words(&[head, at, txn.0, pair(caller(by), needed), transfer.0, deadline.as_ns()]);
            out.words(&found(prepared));
        }
        Fact::RetryNow { txn, request, caller: by, generation, released } => {
            let head = head(Tag::RetryNow, request.0);
            out.words(&[head, at, txn.0, pair(caller(by), released), generation]);
        }
        Fact::Unblocked { request, transfer } => {
            out.words(&[head(Tag::Unblocked, request.0), at, transfer.0]);
        }
        _ => unreachable!("only facts of transactions are sent here"),
    }
}

fn found(prepared: Prepared) -> [u64; 3] {
    let Prepared { active_hits, cached_hits, missing, keep_free, free } = prepared;
    [pair(active_hits, cached_hits), pair(missing, keep_free), u64::from(free)]
}

/// The facts of claims.
fn claim(at: u64, fact: &Fact, log: &FactLog, out: &mut Digester) {
    match *fact {
        Fact::Claimed { txn, claim, caller: by, blocks: list, victims } => {
            out.words(&[head(Tag::Claimed, caller(by)), at, txn.0, claim.0, pair(list.len(), victims)]);
            blocks(list, log, out);
        }
        Fact::ClaimRefused { txn, claim, caller: by, needed, obtainable } => {
            out.words(&[head(Tag::ClaimRefused, caller(by)), at, txn.0, claim.0, pair(needed, obtainable)]);
        }
        Fact::ClaimBlocked { txn, claim, caller: by, transfer, deadline } => {
            let head = head(Tag::ClaimBlocked, caller(by));
            out.words(&[head, at, txn.0, claim.0, transfer.0, deadline.as_ns()]);
        }
        Fact::ClaimActivated { claim, parent, blocks: list } => {
            out.words(&[head(Tag::ClaimActivated, 0), at, claim.0, parent.0, u64::from(list.len())]);
            blocks(list, log, out);
        }
        Fact::ClaimAbandoned { claim, released } => {
            out.words(&[head(Tag::ClaimAbandoned, 0), at, claim.0, u64::from(released)]);
        }
        _ => unreachable!("only facts of claims are sent here"),
    }
}

fn pass_started(at: u64, start: &PassStart, out: &mut Digester) {
    let PassStart { worker, pass, prefill_rows, prefill_tokens, decode_rows, decode_tokens, waiting, g1 } =
        *start;
    out.words(&[
        head(Tag::PassStarted, u32::from(worker.0)),
        at,
        pass.0,
        pair(prefill_rows, prefill_tokens),
        pair(decode_rows, decode_tokens),
        pair(waiting, g1.source_hold),
        pair(g1.free, g1.reserved),
        pair(g1.active, g1.cached),
    ]);
}

fn blocks(list: BlockList, log: &FactLog, out: &mut Digester) {
    out.pairs(log.blocks(list), |block| [u64::from(block.slot.0), block.hash.0]);
}

fn head(tag: Tag, who: u32) -> u64 {
    VERSION << 48 | (tag as u64) << 32 | u64::from(who)
}

fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn caller(caller: Caller) -> u32 {
    match caller {
        Caller::Admission => 1,
        Caller::PrefillChunk => 2,
        Caller::DecodeGrowth => 3,
        Caller::Speculation => 4,
        Caller::Destination => 5,
        Caller::Onboard => 6,
    }
}

/// Reason, then its two numbers.
fn rejection(reason: Rejection) -> [u64; 3] {
    let (kind, needed, limit) = match reason {
        Rejection::PromptExceedsG1 { needed_blocks, capacity_blocks } => {
            (1, u64::from(needed_blocks), capacity_blocks)
        }
        Rejection::OutputExceedsG1 { needed_blocks, capacity_blocks } => {
            (2, u64::from(needed_blocks), capacity_blocks)
        }
        Rejection::ExceedsModelLen { needed_tokens, max_model_len } => (3, needed_tokens, max_model_len),
        Rejection::ExceedsPass { tokens, tokens_per_pass } => (4, u64::from(tokens), tokens_per_pass),
        Rejection::Empty => (5, 0, 0),
    };
    [kind, needed, u64::from(limit)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tierscope_engine::Occupancy;
    use tierscope_units::{PassId, RequestId, WorkerId};

    fn digest(facts: &[(u64, Fact)]) -> String {
        let log = FactLog::default();
        let mut digester = Digester::default();
        for (at, fact) in facts {
            encode(SimTime::from_ns(*at), fact, &log, &mut digester);
        }
        digester.finish().to_string()
    }

    /// Every field counts: changing one, or the time, or the order, changes the digest.
    #[test]
    fn every_field_counts() {
        let request = RequestId(3);
        let arrived = |prompt_tokens, output_tokens| Fact::Arrived { request, prompt_tokens, output_tokens };
        let streams = [
            digest(&[(1, arrived(5, 6))]),
            digest(&[(2, arrived(5, 6))]),
            digest(&[(1, arrived(6, 5))]),
            digest(&[(1, arrived(5, 6)), (1, Fact::FirstToken { request })]),
            digest(&[(1, Fact::FirstToken { request }), (1, arrived(5, 6))]),
            digest(&[(1, Fact::SecondToken { request }), (1, arrived(5, 6))]),
        ];
        for (i, one) in streams.iter().enumerate() {
            assert!(!streams[..i].contains(one), "stream {i} repeats an earlier digest");
        }
    }

    /// The format is a promise: the digest of a fixed stream never changes within a version.
    #[test]
    fn a_fixed_stream_keeps_its_digest() {
        let request = RequestId(0);
        let start = PassStart {
            worker: WorkerId(0),
            pass: PassId(9),
            prefill_rows: 1,
            prefill_tokens: 2,
            decode_rows: 3,
            decode_tokens: 3,
            waiting: 4,
            g1: Occupancy { free: 5, reserved: 6, active: 7, cached: 8, source_hold: 9 },
        };
        let facts = [
            (0, Fact::Arrived { request, prompt_tokens: 100, output_tokens: 10 }),
            (1, Fact::PassStarted(start)),
            (2, Fact::Finished { request, output_tokens: 10 }),
        ];
        assert_eq!(digest(&facts), "bf0cfbfa85bf9de0951f8b508d2bfe01");
    }
}
