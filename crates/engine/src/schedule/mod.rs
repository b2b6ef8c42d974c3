//! One pass: which requests compute how many tokens (rules S1–S3, semantics of vLLM's V1 scheduler).
//!
//! Running requests come first, in order; then, if nobody was preempted, waiting ones while the token budget
//! and the pool allow. There is no prefill or decode phase: a request wants the tokens that it knows, and its
//! drafts, and has not computed.

mod acquire;
mod admit;
mod blocked;
mod connected;
mod destination;
mod finish;
mod preempt;
mod reset;
mod running;

use tierscope_units::{PassId, RequestId, SimTime};

pub(crate) use blocked::BlockedHead;

use crate::command::PassPlan;
use crate::fact::{Fact, PassStart};
use crate::machine::Engine;
use crate::request::{Live, Request};

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
    /// Drafts among the tokens.
    pub drafts: u32,
    /// Whether those drafts only pad the row: their output is known to be void.
    pub padded: bool,
    /// Whether the row brings output.
    pub samples: bool,
    /// The first block that the row registered.
    pub(crate) registered_from: u32,
}

/// A pass under way.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) pass: PassId,
    pub(crate) rows: Vec<Row>,
}

/// A pass being built.
pub(crate) struct Draft {
    pub(crate) plan: PassPlan,
    /// Tokens left to hand out.
    pub(crate) budget: u32,
    /// Tokens of batch left, draft slots included.
    pub(crate) input: u32,
    /// Most tokens of one row; `u32::MAX` without a threshold.
    pub(crate) row_tokens: u32,
    /// Prefill is held back in this pass.
    pub(crate) defer: bool,
    pub(crate) preempted: bool,
    /// A request that ran before has a row.
    pub(crate) running_rows: bool,
    pub(crate) prefill_scheduled: bool,
    pub(crate) prefill_admitted: bool,
    /// Content is on its way down that was not before: who waits may find something else now.
    pub(crate) stores: bool,
}

/// When prefill may be scheduled again (`prefill_schedule_interval`).
#[derive(Clone, Debug)]
pub(crate) struct PrefillPace {
    /// Passes that computed something.
    executed: i64,
    /// The last of them that carried prefill.
    last_prefill: i64,
    /// The last scan left requests waiting for room: then nothing is held back.
    capacity_bound: bool,
}

impl PrefillPace {
    pub(crate) fn new(interval: u32) -> Self {
        Self { executed: 0, last_prefill: -i64::from(interval), capacity_bound: false }
    }
}

impl Engine {
    /// Builds the next pass into `self.rows`. Without rows it is no pass; then `preempted` says whether the
    /// attempt changed anything.
    pub(crate) fn schedule(&mut self, now: SimTime) -> Draft {
        self.rows.clear();
        let mut draft = self.draft();
        self.schedule_running(now, &mut draft);
        draft.running_rows = !self.rows.is_empty();
        if !draft.preempted {
            self.schedule_waiting(now, &mut draft);
        }
        if self.lower.is_some() {
            let pass = (!self.rows.is_empty()).then_some(draft.plan.pass);
            draft.stores = self.close_attempt(now, pass);
        }
        if self.rows.is_empty() {
            return draft;
        }
        self.pace.executed += 1;
        if self.config.prefill_schedule_interval > 1 && (draft.prefill_scheduled || draft.prefill_admitted) {
            self.pace.last_prefill = self.pace.executed;
        }
        self.commit_rows(now, &mut draft.plan);
        if self.lower.is_some() {
            self.connector_committed();
        }
        draft.plan.active_blocks = self.pool.active;
        self.log_pass(now, &draft.plan);
        draft
    }

    fn draft(&self) -> Draft {
        let config = &self.config;
        let eligible = (self.running.len() + self.waiting.len() + self.holding.len()) as u32;
        let mut row_tokens = config.long_prefill_token_threshold;
        if row_tokens > 0 && config.long_prefill_token_threshold_adaptive && eligible > 0 {
            row_tokens = row_tokens.max(config.max_num_batched_tokens / eligible);
        }
        if row_tokens == 0 || eligible <= 1 {
            row_tokens = u32::MAX;
        }
        Draft {
            plan: PassPlan {
                worker: self.worker,
                pass: self.next_pass,
                capacity_blocks: self.pool.capacity(),
                ..PassPlan::default()
            },
            budget: config.max_num_scheduled_tokens.unwrap_or(config.max_num_batched_tokens),
            input: config.max_num_batched_tokens,
            row_tokens,
            defer: self.defers_prefill(),
            preempted: false,
            running_rows: false,
            prefill_scheduled: false,
            prefill_admitted: false,
            stores: false,
        }
    }

    fn defers_prefill(&self) -> bool {
        let interval = i64::from(self.config.prefill_schedule_interval);
        interval > 1
            && !self.pace.capacity_bound
            && self.pace.executed + 1 - self.pace.last_prefill < interval
            && self.running.iter().any(|&live| !self.requests.get(live).prefill_chunk)
    }

    /// Schedules `tokens` of a request whose blocks suffice. The row may still lose its place.
    pub(crate) fn add_row(&mut self, now: SimTime, live: Live, tokens: u32, drafts: u32, draft: &mut Draft) {
        let r = self.requests.get(live);
        let (request, computed) = (r.id, r.computed);
        draft.budget -= tokens;
        draft.input -= tokens + self.config.draft_slots();
        self.rows.push(Row {
            live,
            request,
            tokens,
            computed_before: computed,
            drafts,
            padded: false,
            samples: false,
            registered_from: r.next_full / self.config.block_size_tokens - 1,
        });
        if computed + tokens >= r.next_full {
            self.register_full(now, live, computed + tokens);
        }
    }

    /// The rows are final: their tokens count as computed, since a pass is committed when it starts (rule R1),
    /// and the plan says what they are.
    fn commit_rows(&mut self, now: SimTime, plan: &mut PassPlan) {
        let draft_tokens = self.config.draft_tokens();
        for row in &mut self.rows {
            let r = self.requests.get_mut(row.live);
            if is_decode(r) {
                plan.decode_rows += 1;
                plan.decode_tokens += row.tokens;
                plan.decode_context_tokens += u64::from(r.computed);
            } else {
                // Padding makes rows alike; it is no prompt.
                let tokens = if row.padded { row.tokens - row.drafts } else { row.tokens };
                let prefilled = prefilled(r, row.request, tokens);
                plan.prefill_rows += 1;
                plan.prefill_tokens += tokens;
                plan.prefill_attention_pairs += attention_pairs(r.computed, tokens);
                self.facts.push(now, prefilled);
            }
            r.computed += row.tokens;
            r.in_flight += row.tokens;
            r.prefill_chunk = r.computed < r.tokens + r.placeholders;
            row.samples = !r.prefill_chunk;
            if self.config.async_scheduling && row.samples {
                r.placeholders += 1 + row.drafts;
                r.drafts = draft_tokens;
            }
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
                decode_tokens: plan.decode_tokens,
                waiting: (self.waiting.len() + self.holding.len()) as u32,
                g1: self.pool.occupancy(),
            }),
        );
    }
}

fn prefilled(r: &Request, request: RequestId, tokens: u32) -> Fact {
    let computed_before = r.computed;
    let recomputed = r.high_water.min(computed_before + tokens).saturating_sub(computed_before);
    Fact::Prefilled { request, tokens, computed_before, recomputed }
}

/// Query-key pairs of `tokens` tokens behind `computed` others.
fn attention_pairs(computed: u32, tokens: u32) -> u64 {
    let n = u64::from(tokens);
    n * u64::from(computed) + n * (n + 1) / 2
}

/// Whether a row of this request generates: it has output, and nothing but the newest token is uncomputed.
fn is_decode(r: &Request) -> bool {
    let known = r.tokens + r.placeholders;
    known > r.prompt_tokens && r.computed + 1 >= known
}
