//! One pass: which requests compute how many tokens (rules S1–S3, semantics of vLLM's V1 scheduler).
//!
//! Running requests come first, in order; then, if nobody was preempted, waiting ones while the token budget
//! and the pool allow. There is no prefill or decode phase: a request wants the tokens that it knows and has
//! not computed.

mod acquire;
mod admit;
mod blocked;
mod finish;
mod preempt;

use tierscope_units::{RequestId, SimTime};

pub(crate) use blocked::BlockedHead;

use crate::command::PassPlan;
use crate::fact::{Caller, Fact, PassStart};
use crate::machine::Engine;
use crate::request::Live;

/// A request's share of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub(crate) live: Live,
    /// The request.
    pub request: RequestId,
    /// Tokens that it computes.
    pub tokens: u32,
    /// Tokens that it had computed before.
    pub computed_before: u32,
}

/// What is left while a pass is being built.
pub(crate) struct Budget {
    pub(crate) tokens: u32,
    /// Most tokens of one row; `u32::MAX` without a threshold.
    pub(crate) row_tokens: u32,
}

/// How a running request got room to grow.
enum Room {
    /// There was enough.
    Made,
    /// Others were preempted for it.
    MadeByPreemption,
    /// Not at all: it was preempted itself.
    Preempted,
}

impl Engine {
    /// Builds the next pass. A plan without rows is no pass; then `preempted` says whether the attempt
    /// changed anything.
    pub(crate) fn schedule(&mut self, now: SimTime) -> (PassPlan, bool) {
        self.rows.clear();
        let mut budget = self.budget();
        let mut plan = PassPlan {
            worker: self.worker,
            pass: self.next_pass,
            capacity_blocks: self.pool.capacity(),
            ..PassPlan::default()
        };
        let preempted = self.schedule_running(now, &mut budget, &mut plan);
        if !preempted {
            self.schedule_waiting(now, &mut budget, &mut plan);
        }
        for row in &self.rows {
            self.requests.get_mut(row.live).computed += row.tokens;
        }
        plan.active_blocks = self.pool.active;
        if !self.rows.is_empty() {
            self.log_pass(now, &plan);
        }
        (plan, preempted)
    }

    fn budget(&self) -> Budget {
        let threshold = self.config.long_prefill_token_threshold;
        let alone = self.running.len() + self.waiting.len() <= 1;
        Budget {
            tokens: self.config.max_num_batched_tokens,
            row_tokens: if threshold == 0 || alone { u32::MAX } else { threshold },
        }
    }

    /// Gives every running request its tokens. Returns whether somebody was preempted for them.
    fn schedule_running(&mut self, now: SimTime, budget: &mut Budget, plan: &mut PassPlan) -> bool {
        let mut preempted = false;
        let mut at = 0;
        while at < self.running.len() && budget.tokens > 0 {
            let live = self.running[at];
            let r = self.requests.get(live);
            let (computed, wanted) = (r.computed, r.tokens - r.computed);
            let tokens = wanted
                .min(budget.row_tokens)
                .min(budget.tokens)
                .min((self.config.max_model_len - computed).saturating_sub(1));
            at += 1;
            if tokens == 0 {
                continue;
            }
            let end = computed + tokens;
            if end > r.room {
                let caller = if wanted == 1 { Caller::DecodeGrowth } else { Caller::PrefillChunk };
                match self.make_room(now, live, end, caller) {
                    Room::Made => {}
                    Room::MadeByPreemption => preempted = true,
                    Room::Preempted => return true,
                }
            }
            self.add_row(now, live, tokens, plan);
            budget.tokens -= tokens;
        }
        preempted
    }

    /// Grows a running request to `end` tokens, at the cost of those behind it and at last of itself.
    fn make_room(&mut self, now: SimTime, live: Live, end: u32, caller: Caller) -> Room {
        let mut room = Room::Made;
        while !self.acquire(now, live, end, caller) {
            room = Room::MadeByPreemption;
            if self.preempt_last(now) == live {
                return Room::Preempted;
            }
        }
        room
    }

    /// Schedules `tokens` of a request whose blocks suffice.
    pub(crate) fn add_row(&mut self, now: SimTime, live: Live, tokens: u32, plan: &mut PassPlan) {
        let r = self.requests.get_mut(live);
        let (request, computed) = (r.id, r.computed);
        let known = r.tokens;
        let decode = tokens == 1 && known - computed == 1 && r.output_tokens() > 0;
        self.rows.push(Row { live, request, tokens, computed_before: computed });
        if decode {
            plan.decode_rows += 1;
            plan.decode_context_tokens += u64::from(computed);
        } else {
            plan.prefill_rows += 1;
            plan.prefill_tokens += tokens;
            let n = u64::from(tokens);
            plan.prefill_attention_pairs += n * u64::from(computed) + n * (n + 1) / 2;
            let recomputed = r.high_water.min(computed + tokens).saturating_sub(computed);
            self.facts.push(now, Fact::Prefilled { request, tokens, computed_before: computed, recomputed });
        }
        let end = computed + tokens;
        let r = self.requests.get_mut(live);
        r.high_water = r.high_water.max(end);
        if end >= r.next_full {
            self.register_full(now, live, end);
        }
    }

    fn log_pass(&mut self, now: SimTime, plan: &PassPlan) {
        self.facts.push(
            now,
            Fact::PassStarted(PassStart {
                worker: plan.worker,
                pass: plan.pass,
                prefill_rows: plan.prefill_rows,
                prefill_tokens: plan.prefill_tokens,
                decode_rows: plan.decode_rows,
                waiting: self.waiting.len() as u32,
                g1: self.pool.occupancy(),
            }),
        );
    }
}
