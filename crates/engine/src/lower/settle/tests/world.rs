//! A world that does what it is told: passes and copies end when a test says so.

use tierscope_units::{PassId, RequestId, SimTime, Span, TokenRun, TransferId};

use crate::{
    Arrival, Command, CopyFailure, CopyPlan, Engine, EngineConfig, Fact, Input, Lane, LaneConfig, MachineId,
    Rank, Settlement, SettlementError, SettlementTarget, SettlementToken, Store, TierConfig, TiersConfig,
};

pub(super) const BLOCK: u32 = 4;

pub(super) struct World {
    pub(super) engine: Engine,
    pub(super) now: u64,
    /// Copies under way, in the order of their starts.
    pub(super) copies: Vec<CopyPlan>,
    pub(super) passes: Vec<PassId>,
    /// Copies that have to end before the newest pass does.
    pub(super) awaited: Vec<TransferId>,
    /// All facts so far that their reader has.
    pub(super) facts: Vec<Fact>,
    next: u32,
}

/// G2 of so many blocks; blocks go down as they are computed, one a batch, one batch at a time.
pub(super) fn one_by_one(g2_blocks: u32) -> TiersConfig {
    let lane = LaneConfig { batch_blocks: 1, ..LaneConfig::default() };
    TiersConfig { store: Store::OnCompute, lanes: [lane; Lane::COUNT], ..TiersConfig::with_g2(g2_blocks) }
}

/// A tier of so many blocks.
pub(super) fn tier(blocks: u32) -> Option<TierConfig> {
    Some(TierConfig { blocks, ..TiersConfig::with_g2(1).g2 })
}

pub(super) fn config(g1_blocks: u32, tiers: TiersConfig) -> EngineConfig {
    EngineConfig {
        block_size_tokens: BLOCK,
        g1_blocks,
        max_num_seqs: 8,
        max_num_batched_tokens: 1_024,
        tiers: Some(tiers),
        ..EngineConfig::default()
    }
}

pub(super) const MACHINE: MachineId = MachineId(7);

impl World {
    pub(super) fn new(g1_blocks: u32, tiers: TiersConfig) -> Self {
        Self::of(Engine::named(config(g1_blocks, tiers), MACHINE))
    }

    pub(super) fn of(engine: Engine) -> Self {
        Self {
            engine,
            now: 0,
            copies: Vec::new(),
            passes: Vec::new(),
            awaited: Vec::new(),
            facts: Vec::new(),
            next: 0,
        }
    }

    pub(super) fn time(&self) -> SimTime {
        SimTime::from_ns(self.now)
    }

    /// A request for one token, behind the contents `first..first + blocks` and `more` tokens.
    pub(super) fn arrive(&mut self, first: u64, blocks: u32, more: u32) -> RequestId {
        let request = RequestId(self.next);
        self.next += 1;
        let start = 1_000_000 * u64::from(self.next);
        let prompt = [
            TokenRun { start: first * u64::from(BLOCK), len: blocks * BLOCK },
            TokenRun { start, len: more },
        ];
        let arrival = Arrival {
            request,
            prompt: if more == 0 { &prompt[..1] } else { &prompt },
            output_start: start + 500_000,
            output_tokens: 1,
            salt: 0,
            rank: Rank::default(),
            leg: crate::Leg::Whole,
            entry: crate::Entry::New,
        };
        self.tell(Input::Arrive(arrival));
        request
    }

    /// Something happens, and nothing is polled yet.
    pub(super) fn tell(&mut self, input: Input<'_>) {
        self.engine.handle(self.time(), input).expect("the world reports what it was asked for, once");
    }

    /// Polls commands until there are none; the facts stay in the log.
    pub(super) fn poll(&mut self) {
        while let Some(command) = self.engine.poll_command(self.time()) {
            match command {
                Command::StartPass(plan) => self.passes.push(plan.pass),
                Command::StartCopy(plan) => self.copies.push(plan),
                Command::CancelCopy(transfer) => {
                    self.copies.retain(|plan| plan.transfer != transfer);
                    self.awaited.retain(|&other| other != transfer);
                }
                Command::AwaitCopy(transfer) => self.awaited.push(transfer),
                Command::FetchContext(_) | Command::PollAgain => {}
            }
        }
    }

    /// The reader takes the facts.
    pub(super) fn read(&mut self) {
        self.facts.extend(self.engine.facts().iter().map(|(_, fact)| *fact));
        self.engine.clear_facts();
    }

    /// To the stable boundary, with everything published.
    pub(super) fn rest(&mut self) {
        self.poll();
        self.read();
        self.engine.check().expect("T9");
    }

    /// Computes the contents `first..first + blocks`.
    pub(super) fn compute(&mut self, first: u64, blocks: u32) -> RequestId {
        let request = self.arrive(first, blocks, 0);
        self.rest();
        self.end_pass();
        request
    }

    pub(super) fn end_pass(&mut self) {
        let pass = self.passes.remove(0);
        self.tell(Input::PassEnded { pass, sampled: &[] });
        self.rest();
    }

    /// The oldest copy of a lane ends, and nothing is polled yet.
    pub(super) fn tell_end(&mut self, lane: Lane, end: Result<(), CopyFailure>) -> TransferId {
        let at = self.copies.iter().position(|plan| plan.lane == lane).expect("such a copy is under way");
        let transfer = self.copies.remove(at).transfer;
        self.awaited.retain(|&other| other != transfer);
        self.tell(Input::TransferEnded { transfer, end });
        transfer
    }

    pub(super) fn complete(&mut self, lane: Lane) {
        self.tell_end(lane, Ok(()));
        self.rest();
    }

    pub(super) fn fail(&mut self, lane: Lane, failure: CopyFailure) {
        self.tell_end(lane, Err(failure));
        self.rest();
    }

    /// Ends everything that is under way, well, until nothing is.
    pub(super) fn drain(&mut self) {
        loop {
            if let Some(plan) = self.copies.first() {
                self.complete(plan.lane);
            } else if !self.passes.is_empty() {
                self.end_pass();
            } else if !self.wake() {
                return;
            }
        }
    }

    /// Time passes until the machine wants to be asked again; `false` when it does not.
    pub(super) fn wake(&mut self) -> bool {
        let Some(at) = self.engine.next_wake() else { return false };
        self.now = self.now.max(at.as_ns());
        self.rest();
        true
    }

    /// Everything of G1 that is cached is dropped.
    pub(super) fn forget_g1(&mut self) {
        self.tell(Input::ResetPrefixCache { preempt_running: false });
        self.rest();
    }

    pub(super) fn ask(
        &self,
        token: &SettlementToken,
        target: SettlementTarget,
    ) -> Result<Settlement, SettlementError> {
        self.engine.settlement(token, &target)
    }

    /// The settled state.
    pub(super) fn settled(&self, token: &SettlementToken, target: SettlementTarget) -> crate::Settled {
        match self.ask(token, target) {
            Ok(Settlement::Settled(settled)) => settled,
            other => panic!("settled, and not {other:?}"),
        }
    }
}

/// So many completions of a lane.
pub(super) fn of(lane: Lane, batches: u64) -> SettlementTarget {
    SettlementTarget::new().completed(lane, batches)
}

pub(super) fn span(ns: u64) -> Span {
    Span::from_ns(ns)
}
