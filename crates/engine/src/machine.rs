//! The machine: composes the parts. Its methods are of four kinds.
//!
//! - [`Engine::handle`]: something happened. Call it for everything that happens at an instant.
//! - [`Engine::poll_command`]: what should be done? Call it until it gives `None`, when nothing more happens at
//!   this instant (a stable boundary, rule R1).
//! - [`Engine::next_wake`]: when does the machine want to be asked again, if nothing else happens?
//! - getters, and [`Engine::facts`] with [`Engine::clear_facts`]: what is now so.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tierscope_units::{ClaimId, PassId, RequestId, SimTime, SlotId, TransferId, TxnId, WorkerId};

use crate::block::BlockPool;
use crate::block::transaction::Hits;
use crate::claim::{Claim, Claims};
use crate::command::{Command, ContextPlan};
use crate::config::{EngineConfig, Fidelity};
use crate::fact::{BlockRef, Caller, Fact, FactLog, Rejection};
use crate::input::{Arrival, Entry, Input, Purpose, Rank};
use crate::lease::Leases;
use crate::line::Line;
use crate::lower::{FoundBelow, Lane, Lower, MachineId};
use crate::request::{Context, Live, NOBODY, Phase, Requests};
use crate::schedule::{Batch, BlockedHead, PrefillPace, Row};

/// One worker with its G1 and its scheduler, as a pure state machine (rules E1, E2).
#[derive(Clone)]
pub struct Engine {
    /// Shared by all workers that are alike: what each of them reads all the time is near.
    pub(crate) config: Arc<EngineConfig>,
    pub(crate) machine: MachineId,
    pub(crate) worker: WorkerId,
    pub(crate) watermark_blocks: u32,
    pub(crate) pool: BlockPool,
    pub(crate) requests: Requests,
    pub(crate) waiting: Line,
    /// Waiting requests that an admission scan has passed over.
    pub(crate) deferred: u32,
    pub(crate) running: Vec<Live>,
    /// The pass being built; empty between calls.
    pub(crate) rows: Vec<Row>,
    /// Passes under way, the oldest first: one, or two under asynchronous scheduling.
    pub(crate) in_flight: VecDeque<Batch>,
    pub(crate) pace: PrefillPace,
    pub(crate) next_pass: PassId,
    pub(crate) txns: u64,
    /// Whether anything happened since the last attempt that scheduled nothing (rule R2).
    pub(crate) stirred: bool,
    /// Whether it has nothing more to say about what it was told (rule R1).
    pub(crate) at_rest: bool,
    pub(crate) blocked: BlockedHead,
    /// Tiers below G1.
    pub(crate) lower: Option<Box<Lower>>,
    /// Requests that hold blocks and wait: their loads are under way, or have ended.
    pub(crate) holding: Line,
    /// Blocks of finished requests that are kept for their followers.
    pub(crate) leases: Leases,
    /// Cancelled requests whose slots are still written into.
    pub(crate) doomed: u32,
    pub(crate) claims: Claims,
    /// Blocks of computed prompts that are held for other workers (rule H1).
    pub(crate) sources: BTreeMap<RequestId, Vec<SlotId>>,
    /// Requests that have slots for a context that is elsewhere, and have not said so.
    pub(crate) to_fetch: VecDeque<ContextPlan>,
    pub(crate) scratch: Scratch,
    pub(crate) facts: FactLog,
    #[cfg(debug_assertions)]
    pub(crate) inputs: u64,
}

/// Buffers that are empty between calls.
#[derive(Clone, Default)]
pub(crate) struct Scratch {
    pub(crate) hits: Hits,
    pub(crate) slots: Vec<SlotId>,
    pub(crate) removed: Vec<BlockRef>,
    pub(crate) passed_over: Vec<Live>,
    pub(crate) rows: Vec<Row>,
    pub(crate) found: Vec<FoundBelow>,
    pub(crate) lower_removed: Vec<BlockRef>,
}

/// An input that cannot be: the caller is at fault, and the machine has not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputError {
    /// This request arrived before.
    DuplicateRequest(RequestId),
    /// This request never arrived.
    UnknownRequest(RequestId),
    /// This pass is not the oldest under way.
    StalePass(PassId),
    /// This transfer is not under way.
    StaleTransfer(TransferId),
    /// This claim was made before, or asks for no slot or for more than there are.
    UnservableClaim(ClaimId),
    /// Nothing is reserved under this number.
    NotReserved(ClaimId),
    /// No context of this request is on its way.
    StaleContext(RequestId),
    /// The prefix cache cannot be dropped while blocks are in use. Preemptions asked for have happened.
    CacheInUse,
    /// No tier is at the other end of this lane.
    LaneUnavailable(Lane),
    /// This lane was closed before.
    LaneClosed(Lane),
}

impl std::fmt::Display for InputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::DuplicateRequest(id) => write!(f, "{id:?} arrived before: each number arrives once"),
            Self::UnknownRequest(id) => {
                write!(f, "{id:?} never arrived: only requests that arrived can be cancelled")
            }
            Self::StalePass(id) => write!(f, "{id:?} is not the oldest under way: passes end once, in order"),
            Self::StaleTransfer(id) => write!(f, "{id:?} is not under way: each transfer ends once"),
            Self::UnservableClaim(id) => {
                write!(f, "{id:?} was made before, asks for no slot, or for more than G1 has")
            }
            Self::NotReserved(id) => {
                write!(f, "{id:?} holds nothing: claims end once, in activation or abandonment")
            }
            Self::StaleContext(id) => write!(f, "no context of {id:?} is on its way: it arrives once"),
            Self::LaneUnavailable(lane) => write!(f, "{} leads to no tier of this machine", lane.name()),
            Self::LaneClosed(lane) => write!(f, "{} was closed before: a lane is closed once", lane.name()),
            Self::CacheInUse => write!(f, "blocks are in use: the prefix cache can be dropped when none is"),
        }
    }
}

impl std::error::Error for InputError {}

impl Engine {
    /// A worker with an empty pool.
    pub fn new(config: EngineConfig) -> Self {
        Self::named(config, MachineId::default())
    }

    /// A worker with an empty pool, by a name that its caller knows it by: settlement tokens of machines with other
    /// names are refused.
    pub fn named(config: EngineConfig, machine: MachineId) -> Self {
        Self::numbered(Arc::new(config), machine, (WorkerId(0), 0))
    }

    /// One worker of several: its facts are marked with its number. Its transfers are numbered from `first_transfer`
    /// on, so that no two workers share one.
    pub(crate) fn one_of_several(config: Arc<EngineConfig>, worker: WorkerId, first_transfer: u64) -> Self {
        let mut engine = Self::numbered(config, MachineId(u64::from(worker.0)), (worker, first_transfer));
        engine.facts = FactLog::of(Some(worker));
        engine
    }

    fn numbered(
        config: Arc<EngineConfig>,
        machine: MachineId,
        (worker, first_transfer): (WorkerId, u64),
    ) -> Self {
        let watermark_blocks = (config.watermark * f64::from(config.g1_blocks)) as u32;
        let lower =
            config.tiers.as_ref().map(|tiers| Box::new(Lower::new(tiers, config.g1_blocks, first_transfer)));
        let holding = Line::new(config.policy);
        Self {
            machine,
            worker,
            watermark_blocks,
            pool: BlockPool::new(config.g1_blocks, config.prefix_caching, config.eviction),
            requests: Requests::default(),
            waiting: Line::new(config.policy),
            deferred: 0,
            running: Vec::new(),
            rows: Vec::new(),
            in_flight: VecDeque::new(),
            pace: PrefillPace::new(config.prefill_schedule_interval),
            config,
            next_pass: PassId(0),
            txns: 0,
            stirred: false,
            at_rest: true,
            blocked: BlockedHead::default(),
            lower,
            holding,
            leases: Leases::default(),
            doomed: 0,
            claims: Claims::default(),
            sources: BTreeMap::new(),
            to_fetch: VecDeque::new(),
            scratch: Scratch::default(),
            facts: FactLog::default(),
            #[cfg(debug_assertions)]
            inputs: 0,
        }
    }

    /// Takes in what happened at `now`.
    pub fn handle(&mut self, now: SimTime, input: Input<'_>) -> Result<(), InputError> {
        match input {
            Input::Arrive(arrival) => self.arrive(now, &arrival)?,
            Input::Cancel(request) => self.cancel(now, request)?,
            Input::Withdraw(request) => self.withdraw(now, request),
            Input::ReleaseSource(request) => self.release_source(now, request),
            Input::ContextArrived { request, end } => {
                if !self.context_arrived(now, request, end) {
                    return Err(InputError::StaleContext(request));
                }
            }
            Input::PassEnded { pass, sampled } => {
                if self.in_flight.front().is_none_or(|batch| batch.pass != pass) {
                    return Err(InputError::StalePass(pass));
                }
                if let Some(batch) = self.in_flight.pop_front() {
                    self.finish_pass(now, batch, sampled);
                }
            }
            Input::TransferEnded { transfer, end } => {
                if !self.end_copy(now, transfer, end) {
                    return Err(InputError::StaleTransfer(transfer));
                }
            }
            Input::Claim { claim, purpose, blocks } => self.claim(claim, purpose, blocks)?,
            Input::Activate { claim, parent, hashes } => {
                if !self.activate(now, claim, parent, hashes) {
                    return Err(InputError::NotReserved(claim));
                }
            }
            Input::Abandon(claim) => {
                if !self.abandon(now, claim) {
                    return Err(InputError::NotReserved(claim));
                }
            }
            Input::CloseLane { lane } => self.close_lane(now, lane)?,
            Input::ResetPrefixCache { preempt_running } => {
                if !self.reset_prefix_cache(now, preempt_running) {
                    return Err(InputError::CacheInUse);
                }
            }
        }
        self.stirred = true;
        self.at_rest = false;
        #[cfg(debug_assertions)]
        self.check_in_debug();
        Ok(())
    }

    /// The next thing to do at `now`, or `None`: then the state is stable until something happens.
    pub fn poll_command(&mut self, now: SimTime) -> Option<Command> {
        let command = self.next_command(now);
        self.at_rest = command.is_none();
        command
    }

    fn next_command(&mut self, now: SimTime) -> Option<Command> {
        let most = if self.config.async_scheduling { 2 } else { 1 };
        loop {
            if let Some(plan) = self.to_fetch.pop_front() {
                return Some(Command::FetchContext(plan));
            }
            if let Some(command) = self.poll_copies(now) {
                return Some(command);
            }
            if self.stirred && !self.claims.is_empty() {
                self.try_claims(now);
                if let Some(command) = self.poll_copies(now) {
                    return Some(command);
                }
            }
            if self.in_flight.len() >= most || !self.stirred {
                return None;
            }
            let draft = self.schedule(now);
            if !self.rows.is_empty() {
                let spare = std::mem::take(&mut self.scratch.rows);
                let rows = std::mem::replace(&mut self.rows, spare);
                self.in_flight.push_back(Batch { pass: draft.plan.pass, rows });
                self.next_pass.0 += 1;
                return Some(self.after_errands(now, Command::StartPass(draft.plan)));
            }
            self.stirred = draft.preempted || draft.stores;
            if self.stirred {
                return Some(self.after_errands(now, Command::PollAgain));
            }
            if !self.to_fetch.is_empty() {
                continue;
            }
            // An attempt that set off copies hands them out; one that gains room by that tries once more.
            if !self.lower.as_deref().is_some_and(|lower| lower.stirred || lower.has_errands()) {
                return None;
            }
        }
    }

    /// The next copy to start or to stop.
    fn poll_copies(&mut self, now: SimTime) -> Option<Command> {
        self.lower.as_ref()?;
        self.expire_leases(now);
        if self.connector().is_some() {
            return self.poll_connector(now);
        }
        if self.stirred {
            self.store_boundary(now);
        }
        self.fire_timers(now);
        if let Some(transfer) = self.lower.as_mut().and_then(|lower| lower.to_cancel.pop()) {
            return Some(Command::CancelCopy(transfer));
        }
        self.pump(now).map(Command::StartCopy)
    }

    /// When the machine wants to be asked again, if nothing else happens before: a batch is due for its next
    /// attempt, has taken too long, or has waited long enough for more blocks; or a lease ends.
    pub fn next_wake(&self) -> Option<SimTime> {
        let lower = self.lower.as_deref().and_then(Lower::next_wake);
        [lower, self.leases.next_end()].into_iter().flatten().min()
    }

    fn claim(&mut self, claim: ClaimId, purpose: Purpose, blocks: u32) -> Result<(), InputError> {
        if self.claims.contains_key(&claim) || blocks == 0 || blocks > self.pool.capacity() {
            return Err(InputError::UnservableClaim(claim));
        }
        let caller = match purpose {
            Purpose::Handoff => Caller::Destination,
            Purpose::Onboard => Caller::Onboard,
        };
        self.claims.insert(claim, Claim::new(caller, blocks));
        Ok(())
    }

    fn arrive(&mut self, now: SimTime, arrival: &Arrival<'_>) -> Result<(), InputError> {
        let request = arrival.request;
        let again = match arrival.entry {
            Entry::New => self.requests.has_arrived(request),
            // It may come back to a worker where it was before.
            Entry::Announced | Entry::Moved { .. } => {
                self.requests.find(request).is_some() || self.sources.contains_key(&request)
            }
        };
        if again || request == NOBODY {
            return Err(InputError::DuplicateRequest(request));
        }
        self.requests.mark_arrived(request);
        let prompt: u64 = arrival.prompt.iter().map(|run| u64::from(run.len)).sum();
        let shown = u32::try_from(prompt).unwrap_or(u32::MAX);
        if arrival.entry == Entry::New {
            let output_tokens = arrival.output_tokens;
            self.facts.push(now, Fact::Arrived { request, prompt_tokens: shown, output_tokens });
        }
        if let Err(reason) = self.servable(prompt, arrival.output_tokens) {
            self.facts.push(now, Fact::Rejected { request, reason });
            return Ok(());
        }
        let tokens_max =
            (prompt + u64::from(arrival.output_tokens)).min(u64::from(self.config.max_model_len));
        let live = self.requests.insert(arrival, shown, tokens_max as u32, self.config.block_size_tokens);
        self.requests.get_mut(live).first_pass = self.next_pass;
        self.waiting.join(live, arrival.rank);
        if self.lower.is_some() {
            self.connector_arrived(live);
        }
        Ok(())
    }

    /// Whether the request can ever be served; if not, the numbers that show it (rule S4).
    pub(crate) fn servable(&self, prompt: u64, output: u32) -> Result<(), Rejection> {
        let max_model_len = self.config.max_model_len;
        if prompt == 0 || output == 0 {
            return Err(Rejection::Empty);
        }
        if prompt >= u64::from(max_model_len) {
            return Err(Rejection::ExceedsModelLen { needed_tokens: prompt + 1, max_model_len });
        }
        if self.config.fidelity == Fidelity::Exact {
            return Ok(());
        }
        // Without chunks whatever is to be computed at once must fit into a pass: after a preemption that is
        // the prompt with all of its answer but the last token.
        let most = self.config.tokens_per_pass();
        let whole = (prompt + u64::from(output)).min(u64::from(max_model_len)) - 1;
        let at_once = if self.config.chunked_prefill { 1 } else { whole };
        if at_once > u64::from(most) {
            let tokens = u32::try_from(at_once).unwrap_or(u32::MAX);
            return Err(Rejection::ExceedsPass { tokens, tokens_per_pass: most });
        }
        let capacity_blocks = self.pool.capacity();
        let blocks = |tokens: u64| tokens.div_ceil(u64::from(self.config.block_size_tokens)) as u32;
        let needed_blocks = blocks(prompt);
        if needed_blocks > capacity_blocks {
            return Err(Rejection::PromptExceedsG1 { needed_blocks, capacity_blocks });
        }
        // The last output token is sampled and never computed: it needs no room. Drafts need theirs to the end.
        let ahead = u64::from(self.config.draft_tokens() + self.config.lookahead_tokens());
        let computed = (prompt + u64::from(output)).min(u64::from(max_model_len)) - 1;
        let longest = (computed + ahead).min(u64::from(max_model_len));
        let needed_blocks = blocks(longest);
        if needed_blocks > capacity_blocks {
            return Err(Rejection::OutputExceedsG1 { needed_blocks, capacity_blocks });
        }
        Ok(())
    }

    fn cancel(&mut self, now: SimTime, request: RequestId) -> Result<(), InputError> {
        let Some(live) = self.requests.find(request) else {
            // A request that ended before its cancellation came is not an error: messages cross.
            return match self.requests.has_arrived(request) {
                true => Ok(()),
                false => Err(InputError::UnknownRequest(request)),
            };
        };
        if self.requests.get(live).load.doomed {
            return Ok(());
        }
        let output_tokens = self.requests.get(live).output_tokens();
        self.leave(live);
        self.facts.push(now, Fact::Cancelled { request, output_tokens });
        self.give_up(now, live);
        Ok(())
    }

    /// Takes a request out of the batch or the line that it is in, for good.
    pub(crate) fn leave(&mut self, live: Live) {
        let r = self.requests.get(live);
        let (phase, rank) = (r.phase, r.rank);
        match phase {
            Phase::Running => self.running.retain(|&other| other != live),
            Phase::Waiting | Phase::Preempted => self.leave_line(live, rank),
            Phase::Loading => {
                self.deferred -= u32::from(self.requests.get(live).deferred);
                self.holding.leave(live, rank);
            }
        }
        if self.lower.is_some() {
            self.connector_ended(live, true);
        }
    }

    /// Frees what a request holds that has left its line: at once, or when what is written into its slots has ended.
    pub(crate) fn give_up(&mut self, now: SimTime, live: Live) {
        let r = self.requests.get(live);
        // What comes from another worker is stopped by whoever gives the request up.
        let is_loading = r.load.outstanding > 0 && r.context != Context::OnItsWay;
        if is_loading || self.is_loading_within_pass(live) {
            self.doom(now, live);
        } else {
            self.release_blocks(live);
            self.requests.remove(live);
        }
    }

    /// Takes a request out of the line for good.
    pub(crate) fn leave_line(&mut self, live: Live, rank: Rank) {
        self.deferred -= u32::from(self.requests.get(live).deferred);
        self.waiting.leave(live, rank);
    }

    pub(crate) fn next_txn(&mut self) -> TxnId {
        self.txns += 1;
        TxnId(self.txns - 1)
    }
}
