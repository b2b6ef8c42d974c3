//! Facts as JSON lines: one object a fact, its kind under `fact`, its time under `at_ns`.
//!
//! Numbers carry their units in their names; a block list is `[[slot, "hash"], …]` with the hash in 16
//! hexadecimal digits, because 64-bit numbers are not safe in every JSON reader. Every line ends with a
//! newline. The output of equal runs is equal, byte for byte. Lanes and tiers go by their names (`g1_g2`, `g2`).
//!
//! The reader is in [`crate::compare`]. Deliberately absent: `serde` (the shape is fixed, and a run writes millions of lines).

mod below;
mod fleet;
mod life;

use std::fmt::Write;

use tierscope_engine::{BlockList, Fact, FactLog, PassStart, Prepared, Rejection};
use tierscope_units::SimTime;

use crate::rejection;

/// Appends one fact as a line.
pub fn write_fact(out: &mut String, at: SimTime, fact: &Fact, log: &FactLog) {
    let mut line = Line { out, log };
    line.open(kind(fact), at);
    // Facts of passes name their worker themselves.
    let names_worker = matches!(fact, Fact::PassStarted(_) | Fact::PassEnded { .. });
    if let Some(worker) = log.worker().filter(|_| !names_worker) {
        line.number("worker", worker.0);
    }
    match fact {
        Fact::Acquired { .. }
        | Fact::CapacityExhausted { .. }
        | Fact::BlockedOnOffload { .. }
        | Fact::RetryNow { .. } => line.transaction(fact),
        Fact::Claimed { .. }
        | Fact::ClaimRefused { .. }
        | Fact::ClaimBlocked { .. }
        | Fact::ClaimActivated { .. }
        | Fact::ClaimAbandoned { .. } => line.claim(fact),
        Fact::CopyQueued { .. }
        | Fact::CopyStarted { .. }
        | Fact::CopyRetried { .. }
        | Fact::CopyFlushed { .. }
        | Fact::CopyEnded { .. }
        | Fact::Unblocked { .. } => line.copy(fact),
        Fact::OnboardStarted { .. }
        | Fact::OnboardEnded { .. }
        | Fact::Leased { .. }
        | Fact::LeaseEnded { .. }
        | Fact::WaitsForCopy { .. } => line.load(fact),
        Fact::SourceHeld { .. }
        | Fact::SourceReleased { .. }
        | Fact::DestinationReserved { .. }
        | Fact::ContextArrived { .. }
        | Fact::Joined { .. }
        | Fact::Withdrawn { .. } => line.side(fact),
        Fact::Route(_) | Fact::Handoff(_) | Fact::Worker { .. } => line.between(fact),
        Fact::PassStarted(_) | Fact::Prefilled { .. } | Fact::PassEnded { .. } => line.pass(fact),
        Fact::TierStored { .. } | Fact::TierRemoved { .. } | Fact::Stored { .. } | Fact::Removed { .. } => {
            line.registration(fact);
        }
        Fact::Arrived { .. }
        | Fact::Rejected { .. }
        | Fact::Admitted { .. }
        | Fact::Preempted { .. }
        | Fact::FirstToken { .. }
        | Fact::SecondToken { .. }
        | Fact::Finished { .. }
        | Fact::Cancelled { .. } => line.life(fact),
    }
    line.close();
}

fn kind(fact: &Fact) -> &'static str {
    match fact {
        Fact::Arrived { .. } => "arrived",
        Fact::Rejected { .. } => "rejected",
        Fact::Acquired { .. } => "acquired",
        Fact::CapacityExhausted { .. } => "capacity_exhausted",
        Fact::BlockedOnOffload { .. } => "blocked_on_offload",
        Fact::RetryNow { .. } => "retry_now",
        Fact::CopyQueued { .. } => "copy_queued",
        Fact::CopyStarted { .. } => "copy_started",
        Fact::CopyRetried { .. } => "copy_retried",
        Fact::CopyFlushed { .. } => "copy_flushed",
        Fact::CopyEnded { .. } => "copy_ended",
        Fact::TierStored { .. } => "tier_stored",
        Fact::TierRemoved { .. } => "tier_removed",
        Fact::OnboardStarted { .. } => "onboard_started",
        Fact::OnboardEnded { .. } => "onboard_ended",
        Fact::WaitsForCopy { .. } => "waits_for_copy",
        Fact::Leased { .. } => "leased",
        Fact::LeaseEnded { .. } => "lease_ended",
        Fact::Unblocked { .. } => "unblocked",
        Fact::Claimed { .. } => "claimed",
        Fact::ClaimRefused { .. } => "claim_refused",
        Fact::ClaimBlocked { .. } => "claim_blocked",
        Fact::ClaimActivated { .. } => "claim_activated",
        Fact::ClaimAbandoned { .. } => "claim_abandoned",
        Fact::Admitted { .. } => "admitted",
        Fact::Stored { .. } => "stored",
        Fact::Removed { .. } => "removed",
        Fact::Preempted { .. } => "preempted",
        Fact::PassStarted(_) => "pass_started",
        Fact::Prefilled { .. } => "prefilled",
        Fact::PassEnded { .. } => "pass_ended",
        Fact::FirstToken { .. } => "first_token",
        Fact::SecondToken { .. } => "second_token",
        Fact::Finished { .. } => "finished",
        Fact::Cancelled { .. } => "cancelled",
        Fact::SourceHeld { .. } => "source_held",
        Fact::SourceReleased { .. } => "source_released",
        Fact::DestinationReserved { .. } => "destination_reserved",
        Fact::ContextArrived { .. } => "context_arrived",
        Fact::Joined { .. } => "joined",
        Fact::Withdrawn { .. } => "withdrawn",
        Fact::Route(fact) => fleet::route(fact),
        Fact::Handoff(fact) => fleet::handoff(fact),
        Fact::Worker { .. } => "worker",
    }
}

/// A line under way. Writing into a `String` cannot fail, so results of `write!` are dropped.
struct Line<'a> {
    out: &'a mut String,
    log: &'a FactLog,
}

impl Line<'_> {
    fn open(&mut self, kind: &str, at: SimTime) {
        let _ = write!(self.out, r#"{{"fact":"{kind}","at_ns":{}"#, at.as_ns());
    }

    fn close(&mut self) {
        self.out.push_str("}\n");
    }

    /// Anything that prints as a JSON number or truth value.
    fn number(&mut self, key: &str, value: impl std::fmt::Display) {
        let _ = write!(self.out, r#","{key}":{value}"#);
    }

    /// Anything that prints without characters that JSON would escape.
    fn word(&mut self, key: &str, value: impl std::fmt::Display) {
        let _ = write!(self.out, r#","{key}":"{value}""#);
    }

    fn blocks(&mut self, key: &str, list: BlockList) {
        let _ = write!(self.out, r#","{key}":["#);
        for (index, block) in self.log.blocks(list).iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(self.out, r#"{comma}[{},"{}"]"#, block.slot.0, block.hash);
        }
        self.out.push(']');
    }

    /// A transaction: its number, its request and its caller, then what it came to.
    fn transaction(&mut self, fact: &Fact) {
        let (Fact::Acquired { txn, request, caller, .. }
        | Fact::CapacityExhausted { txn, request, caller, .. }
        | Fact::BlockedOnOffload { txn, request, caller, .. }
        | Fact::RetryNow { txn, request, caller, .. }) = *fact
        else {
            return;
        };
        self.number("txn", txn.0);
        self.number("request", request.0);
        self.word("caller", caller.name());
        self.outcome(fact);
    }

    /// What a transaction came to.
    fn outcome(&mut self, fact: &Fact) {
        match *fact {
            Fact::Acquired { active_hits, cached_hits, missing, victims, .. } => {
                self.number("active_hit_blocks", active_hits);
                self.number("cached_hit_blocks", cached_hits);
                self.number("victim_blocks", victims);
                self.blocks("missing_blocks", missing);
            }
            Fact::CapacityExhausted { needed, obtainable, prepared, .. } => {
                self.number("needed_blocks", needed);
                self.number("obtainable_blocks", obtainable);
                self.prepared(prepared);
            }
            Fact::BlockedOnOffload { needed, transfer, deadline, prepared, .. } => {
                self.number("needed_blocks", needed);
                self.prepared(prepared);
                self.number("transfer", transfer.0);
                self.number("deadline_ns", deadline.as_ns());
            }
            Fact::RetryNow { generation, released, .. } => {
                self.number("generation", generation);
                self.number("released_blocks", released);
            }
            _ => {}
        }
    }

    fn prepared(&mut self, prepared: Prepared) {
        self.number("active_hit_blocks", prepared.active_hits);
        self.number("cached_hit_blocks", prepared.cached_hits);
        self.number("missing_blocks", prepared.missing);
        self.number("keep_free_blocks", prepared.keep_free);
        self.number("free_blocks", prepared.free);
    }

    /// A claim: its number, then what became of it.
    fn claim(&mut self, fact: &Fact) {
        let (Fact::Claimed { claim, .. }
        | Fact::ClaimRefused { claim, .. }
        | Fact::ClaimBlocked { claim, .. }
        | Fact::ClaimActivated { claim, .. }
        | Fact::ClaimAbandoned { claim, .. }) = *fact
        else {
            return;
        };
        self.number("claim", claim.0);
        match *fact {
            Fact::Claimed { txn, caller, blocks, victims, .. } => {
                self.number("txn", txn.0);
                self.word("caller", caller.name());
                self.number("victim_blocks", victims);
                self.blocks("blocks", blocks);
            }
            Fact::ClaimRefused { txn, caller, needed, obtainable, .. } => {
                self.number("txn", txn.0);
                self.word("caller", caller.name());
                self.number("needed_blocks", needed);
                self.number("obtainable_blocks", obtainable);
            }
            Fact::ClaimBlocked { txn, caller, transfer, deadline, .. } => {
                self.number("txn", txn.0);
                self.word("caller", caller.name());
                self.number("transfer", transfer.0);
                self.number("deadline_ns", deadline.as_ns());
            }
            Fact::ClaimActivated { parent, blocks, .. } => {
                self.word("parent", parent);
                self.blocks("blocks", blocks);
            }
            Fact::ClaimAbandoned { released, .. } => self.number("released_blocks", released),
            _ => {}
        }
    }

    /// A pass and its rows.
    fn pass(&mut self, fact: &Fact) {
        match *fact {
            Fact::PassStarted(start) => self.pass_started(start),
            Fact::Prefilled { request, tokens, computed_before, recomputed } => {
                self.number("request", request.0);
                self.number("tokens", tokens);
                self.number("computed_before_tokens", computed_before);
                self.number("recomputed_tokens", recomputed);
            }
            Fact::PassEnded { worker, pass } => {
                self.number("worker", worker.0);
                self.number("pass", pass.0);
            }
            _ => {}
        }
    }

    fn pass_started(&mut self, start: PassStart) {
        self.number("worker", start.worker.0);
        self.number("pass", start.pass.0);
        self.number("prefill_rows", start.prefill_rows);
        self.number("prefill_tokens", start.prefill_tokens);
        self.number("decode_rows", start.decode_rows);
        self.number("decode_tokens", start.decode_tokens);
        self.number("waiting_requests", start.waiting);
        self.number("g1_free_blocks", start.g1.free);
        self.number("g1_reserved_blocks", start.g1.reserved);
        self.number("g1_active_blocks", start.g1.active);
        self.number("g1_cached_blocks", start.g1.cached);
        self.number("g1_source_hold_blocks", start.g1.source_hold);
    }

    fn rejection(&mut self, reason: Rejection) {
        self.word("reason", rejection::name(reason));
        match reason {
            Rejection::PromptExceedsG1 { needed_blocks, capacity_blocks }
            | Rejection::OutputExceedsG1 { needed_blocks, capacity_blocks } => {
                self.number("needed_blocks", needed_blocks);
                self.number("capacity_blocks", capacity_blocks);
            }
            Rejection::ExceedsModelLen { needed_tokens, max_model_len } => {
                self.number("needed_tokens", needed_tokens);
                self.number("max_model_len_tokens", max_model_len);
            }
            Rejection::ExceedsPass { tokens, tokens_per_pass } => {
                self.number("tokens", tokens);
                self.number("tokens_per_pass", tokens_per_pass);
            }
            Rejection::Empty => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use tierscope_engine::{Caller, Loaded, Occupancy};
    use tierscope_units::{PassId, RequestId, SequenceHash, TxnId, WorkerId};

    fn check(fact: Fact, expected: Expect) {
        let mut out = String::new();
        write_fact(&mut out, SimTime::from_ns(1_500), &fact, &FactLog::default());
        let value: serde_json::Value = serde_json::from_str(&out).expect("a line is JSON");
        assert_eq!(value["at_ns"], 1_500);
        expected.assert_eq(&out);
    }

    #[test]
    fn facts_are_lines_of_json() {
        let request = RequestId(7);
        let blocks = BlockList::default();
        check(
            Fact::Arrived { request, prompt_tokens: 512, output_tokens: 8 },
            expect![[r#"
            {"fact":"arrived","at_ns":1500,"request":7,"prompt_tokens":512,"output_tokens":8}
        "#]],
        );
        check(
            Fact::Rejected {
                request,
                reason: Rejection::PromptExceedsG1 { needed_blocks: 221, capacity_blocks: 200 },
            },
            expect![[r#"
                {"fact":"rejected","at_ns":1500,"request":7,"reason":"prompt_exceeds_g1","needed_blocks":221,"capacity_blocks":200}
            "#]],
        );
        let (txn, caller) = (TxnId(3), Caller::DecodeGrowth);
        let acquired = Fact::Acquired {
            txn,
            request,
            caller,
            active_hits: 1,
            cached_hits: 2,
            missing: blocks,
            victims: 2,
        };
        check(
            acquired,
            expect![[r#"
                {"fact":"acquired","at_ns":1500,"txn":3,"request":7,"caller":"decode_growth","active_hit_blocks":1,"cached_hit_blocks":2,"victim_blocks":2,"missing_blocks":[]}
            "#]],
        );
        check(
            Fact::Admitted { request, cached_tokens: 64, loaded: Loaded::default(), readmission: true },
            expect![[r#"
            {"fact":"admitted","at_ns":1500,"request":7,"cached_tokens":64,"readmission":true}
        "#]],
        );
        check(
            Fact::Stored { request, parent: SequenceHash(0xabc), blocks },
            expect![[r#"
            {"fact":"stored","at_ns":1500,"request":7,"parent":"0000000000000abc","blocks":[]}
        "#]],
        );
        check(
            Fact::PassStarted(PassStart {
                worker: WorkerId(0),
                pass: PassId(12),
                prefill_rows: 1,
                prefill_tokens: 512,
                decode_rows: 3,
                decode_tokens: 5,
                waiting: 2,
                g1: Occupancy { free: 1, reserved: 0, active: 5, cached: 4, source_hold: 0 },
            }),
            expect![[r#"
                {"fact":"pass_started","at_ns":1500,"worker":0,"pass":12,"prefill_rows":1,"prefill_tokens":512,"decode_rows":3,"decode_tokens":5,"waiting_requests":2,"g1_free_blocks":1,"g1_reserved_blocks":0,"g1_active_blocks":5,"g1_cached_blocks":4,"g1_source_hold_blocks":0}
            "#]],
        );
        check(
            Fact::Finished { request, output_tokens: 8 },
            expect![[r#"
            {"fact":"finished","at_ns":1500,"request":7,"output_tokens":8}
        "#]],
        );
    }
}
