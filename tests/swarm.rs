//! The machine under random configurations and histories: rule T9 after every input, what facts say against
//! what is so, and that every request ends once the world answers (rule R3).
//!
//! `TIERSCOPE_CASES` sets the number of histories; a failure prints the history itself, shrunk.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tierscope_engine::{
    Admission, Arrival, Below, Command, DraftMethod, Engine, EngineConfig, EvictionPolicy, Fact, Input,
    Presence, Purpose, Rank, Sampled, SchedulingPolicy, Speculation,
};
use tierscope_units::{
    ClaimId, PassId, RequestId, SequenceHash, SimTime, SlotId, Span, TokenRun, TransferId,
};

/// What happens next; choices are taken modulo what there is.
#[derive(Clone, Debug)]
enum Step {
    Arrive { family: u64, shared: u32, own: u32, output: u32, priority: i32 },
    Cancel(usize),
    EndPass { accepted: u32 },
    EndTransfer { which: usize, succeeded: bool },
    Reset { preempt: bool },
    Claim { blocks: u32, handoff: bool },
    Activate { which: usize, family: u64, contents: usize },
    Abandon { which: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let arrive = (0..3_u64, 0..14_u32, 1..14_u32, 1..16_u32, 0..3_i32).prop_map(
        |(family, shared, own, output, priority)| Step::Arrive { family, shared, own, output, priority },
    );
    let transfer =
        (0..4_usize, any::<bool>()).prop_map(|(which, succeeded)| Step::EndTransfer { which, succeeded });
    let one = prop_oneof![
        4 => arrive,
        1 => (0..8_usize).prop_map(Step::Cancel),
        8 => (0..5_u32).prop_map(|accepted| Step::EndPass { accepted }),
        3 => transfer,
        1 => any::<bool>().prop_map(|preempt| Step::Reset { preempt }),
        1 => (1..5_u32, any::<bool>()).prop_map(|(blocks, handoff)| Step::Claim { blocks, handoff }),
        2 => (0..4_usize, 0..3_u64, 0..5_usize)
            .prop_map(|(which, family, contents)| Step::Activate { which, family, contents }),
        1 => (0..4_usize).prop_map(|which| Step::Abandon { which }),
    ];
    prop::collection::vec(one, 1..60)
}

fn configs() -> impl Strategy<Value = EngineConfig> {
    let sizes = (prop::sample::select(vec![1, 2, 4, 8]), 3..24_u32, 1..6_u32, 4..40_u32);
    let speculation = prop::option::of((1..4_u32, 0..4_usize));
    let below =
        prop::option::of(prop::sample::select(vec![Presence::Copied, Presence::Always, Presence::Never]));
    let eviction =
        prop::sample::select(vec![EvictionPolicy::Lru, EvictionPolicy::Lineage, EvictionPolicy::TinyLfu]);
    let switches = prop::collection::vec(any::<bool>(), 4);
    (sizes, speculation, below, eviction, switches).prop_map(|(sizes, speculation, below, eviction, on)| {
        let methods =
            [DraftMethod::Ngram, DraftMethod::DraftModel, DraftMethod::Eagle, DraftMethod::EagleDrop];
        EngineConfig {
            block_size_tokens: sizes.0,
            g1_blocks: sizes.1,
            max_num_seqs: sizes.2,
            max_num_batched_tokens: sizes.3.max(8),
            eviction,
            below: below.map(|presence| Below { presence, copy_estimate: Span::from_ns(5) }),
            admission: if on[0] { Admission::FullPrompt } else { Admission::NextChunk },
            policy: if on[1] { SchedulingPolicy::Fcfs } else { SchedulingPolicy::Priority },
            prefix_caching: on[2] || on[3],
            async_scheduling: on[2] && on[3] && below.is_none(),
            speculation: speculation.map(|(tokens, method)| Speculation { tokens, method: methods[method] }),
            ..EngineConfig::default()
        }
    })
}

struct World {
    engine: Engine,
    now: u64,
    next: u32,
    passes: Vec<PassId>,
    transfers: Vec<TransferId>,
    claims: Vec<ClaimId>,
    live: BTreeSet<RequestId>,
    prompts: BTreeMap<RequestId, u32>,
    /// By slot, what the events say that it holds.
    stored: BTreeMap<SlotId, SequenceHash>,
    preemptions: u32,
    /// Requests that wait for a transfer.
    blocked: BTreeSet<RequestId>,
    resetting: bool,
    was_reset: bool,
}

impl World {
    fn new(config: EngineConfig) -> Self {
        Self {
            engine: Engine::new(config),
            now: 0,
            next: 0,
            passes: Vec::new(),
            transfers: Vec::new(),
            claims: Vec::new(),
            live: BTreeSet::new(),
            prompts: BTreeMap::new(),
            stored: BTreeMap::new(),
            preemptions: 0,
            blocked: BTreeSet::new(),
            resetting: false,
            was_reset: false,
        }
    }

    fn play(&mut self, step: &Step) -> Result<(), TestCaseError> {
        self.now += 1;
        let now = SimTime::from_ns(self.now);
        match *step {
            Step::Arrive { family, shared, own, output, priority } => {
                let request = RequestId(self.next);
                self.next += 1;
                let unique = 1_000_000 * u64::from(request.0 + 1);
                let prompt =
                    [TokenRun { start: family * 1000, len: shared }, TokenRun { start: unique, len: own }];
                // Many are sent at one time: ties have to be broken somehow.
                let sent = SimTime::from_ns(self.now / 4);
                let rank = Rank { priority, sent, tie: request.0 };
                let output_start = unique + 500_000;
                let arrival =
                    Arrival { request, prompt: &prompt, output_start, output_tokens: output, salt: 0, rank };
                self.live.insert(request);
                self.prompts.insert(request, shared + own);
                self.engine.handle(now, Input::Arrive(arrival)).expect("a new number");
            }
            Step::Cancel(which) => {
                if let Some(&request) = self.live.iter().nth(which) {
                    self.engine.handle(now, Input::Cancel(request)).expect("it has arrived");
                }
            }
            Step::EndPass { accepted } => self.end_pass(now, accepted)?,
            Step::EndTransfer { which, succeeded } if !self.transfers.is_empty() => {
                let transfer = self.transfers.swap_remove(which % self.transfers.len());
                self.engine
                    .handle(now, Input::TransferEnded { transfer, succeeded })
                    .expect("it is under way");
            }
            Step::Claim { blocks, handoff } => {
                let claim = ClaimId(self.now);
                let purpose = if handoff { Purpose::Handoff } else { Purpose::Onboard };
                if self.engine.handle(now, Input::Claim { claim, purpose, blocks }).is_ok() {
                    self.claims.push(claim);
                }
            }
            Step::Activate { which, family, contents } if !self.claims.is_empty() => {
                let claim = self.claims[which % self.claims.len()];
                let hashes: Vec<SequenceHash> =
                    (1..=contents as u64).map(|n| SequenceHash(family * 7 + n)).collect();
                let input = Input::Activate { claim, parent: SequenceHash(1), hashes: &hashes };
                // A claim that still waits for slots cannot be activated; that is an answer.
                if self.engine.handle(now, input).is_ok() {
                    self.claims.retain(|&other| other != claim);
                }
            }
            Step::Abandon { which } if !self.claims.is_empty() => {
                let claim = self.claims.swap_remove(which % self.claims.len());
                self.engine.handle(now, Input::Abandon(claim)).expect("it was made and has not ended");
            }
            Step::Activate { .. } | Step::Abandon { .. } => {}
            // A reset that finds blocks in use is refused; that is an answer.
            Step::Reset { preempt } => {
                let _ = self.engine.handle(now, Input::ResetPrefixCache { preempt_running: preempt });
            }
            Step::EndTransfer { .. } => {}
        }
        self.resetting = matches!(step, Step::Reset { .. });
        self.was_reset |= self.resetting;
        self.read_facts()?;
        self.resetting = false;
        self.poll(now)?;
        self.engine.check().map_err(TestCaseError::fail)
    }

    fn end_pass(&mut self, now: SimTime, accepted: u32) -> Result<(), TestCaseError> {
        if self.passes.is_empty() {
            return Ok(());
        }
        let pass = self.passes.remove(0);
        let drafts = self.engine.config().speculation.map_or(0, |speculation| speculation.tokens);
        let rows = self.engine.rows_of(pass).iter();
        let sampled: Vec<Sampled> = rows
            .filter(|row| row.samples && row.drafts > 0)
            .map(|row| Sampled {
                request: row.request,
                tokens: 1 + accepted.min(if row.padded { 0 } else { row.drafts }),
                stop_after: 0,
                drafts,
            })
            .collect();
        let visible: Vec<Option<u32>> =
            sampled.iter().map(|row| self.engine.output_tokens(row.request)).collect();
        self.engine.handle(now, Input::PassEnded { pass, sampled: &sampled }).expect("it is the oldest");
        for (row, before) in sampled.iter().zip(visible) {
            self.check_verified(row, before)?;
        }
        Ok(())
    }

    /// T7: after a verification exactly the accepted tokens and one more are visible, and no slot is left that
    /// only a rejected draft needed.
    fn check_verified(&self, row: &Sampled, before: Option<u32>) -> Result<(), TestCaseError> {
        let (Some(before), Some(after)) = (before, self.engine.output_tokens(row.request)) else {
            return Ok(());
        };
        // A reset drops the output of passes under way.
        let dropped = self.was_reset && after == before;
        prop_assert!(
            dropped || after == before + row.tokens,
            "{after} tokens of {:?} are visible",
            row.request
        );
        if !self.engine.config().async_scheduling {
            let tokens = self.prompts[&row.request] + after;
            let needed = tokens.div_ceil(self.engine.config().block_size_tokens);
            let held = self.engine.blocks_of(row.request).len() as u32;
            prop_assert!(held <= needed, "{held} blocks for {tokens} tokens of {:?}", row.request);
        }
        Ok(())
    }

    fn poll(&mut self, now: SimTime) -> Result<(), TestCaseError> {
        for round in 0.. {
            prop_assert!(round < 200, "R2: iteration at one instant does not end");
            let Some(command) = self.engine.poll_command(now) else { break };
            match command {
                Command::StartPass(plan) => self.passes.push(plan.pass),
                Command::StartOffload(plan) => {
                    prop_assert!(plan.blocks > 0);
                    self.transfers.push(plan.transfer);
                }
                Command::PollAgain => {}
            }
            self.read_facts()?;
        }
        Ok(())
    }

    /// Stored less removed is what is matchable (rule T9).
    fn read_facts(&mut self) -> Result<(), TestCaseError> {
        let log = self.engine.facts();
        for (_, fact) in log.iter() {
            match fact {
                Fact::Stored { blocks, .. } | Fact::ClaimActivated { blocks, .. } => {
                    for block in log.blocks(*blocks) {
                        prop_assert_eq!(self.stored.insert(block.slot, block.hash), None, "stored twice");
                    }
                }
                Fact::Removed { blocks } => {
                    for block in log.blocks(*blocks) {
                        prop_assert_eq!(
                            self.stored.remove(&block.slot),
                            Some(block.hash),
                            "removed, never stored"
                        );
                    }
                }
                Fact::Preempted { request, .. } => {
                    prop_assert!(
                        self.resetting || !self.blocked.contains(request),
                        "T8: preempted while blocked"
                    );
                    self.blocked.remove(request);
                    self.preemptions += 1;
                }
                Fact::BlockedOnOffload { request, .. } => {
                    prop_assert!(self.blocked.insert(*request), "T8: tried again before its wakeup");
                }
                Fact::Unblocked { request, .. } => {
                    prop_assert!(self.blocked.remove(request), "unblocked, never blocked");
                }
                Fact::Finished { request, .. }
                | Fact::Rejected { request, .. }
                | Fact::Cancelled { request, .. } => {
                    prop_assert!(self.live.remove(request), "a request ends once");
                    self.blocked.remove(request);
                }
                _ => {}
            }
        }
        self.engine.clear_facts();
        let pool = self.engine.g1();
        let matchable: BTreeMap<SlotId, SequenceHash> =
            (0..pool.capacity()).map(SlotId).filter_map(|slot| Some((slot, pool.slot_hash(slot)?))).collect();
        prop_assert_eq!(&self.stored, &matchable, "T9: stored less removed is the matchable set");
        Ok(())
    }

    /// The world answers everything, and nothing else happens: every request ends.
    fn settle(&mut self) -> Result<(), TestCaseError> {
        while !self.claims.is_empty() {
            self.play(&Step::Abandon { which: 0 })?;
        }
        for _ in 0..20_000 {
            if self.passes.is_empty() && self.transfers.is_empty() {
                break;
            }
            let step = match self.transfers.is_empty() {
                true => Step::EndPass { accepted: 1 },
                false => Step::EndTransfer { which: 0, succeeded: true },
            };
            self.play(&step)?;
        }
        prop_assert!(
            self.live.is_empty(),
            "R3: nothing will wake {:?}: {:?}",
            self.live,
            self.engine.census()
        );
        // R2: who is preempted comes back after somebody's progress or with more capacity: this is finite.
        let (preemptions, requests) = (self.preemptions, self.next);
        prop_assert!(preemptions <= 60 * requests, "{preemptions} preemptions of {requests} requests");
        let occupancy = self.engine.g1().occupancy();
        prop_assert_eq!(
            (occupancy.active, occupancy.reserved, occupancy.source_hold),
            (0, 0, 0),
            "nothing is held"
        );
        Ok(())
    }
}

fn cases() -> u32 {
    std::env::var("TIERSCOPE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(20_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_histories_keep_every_rule(config in configs(), history in steps()) {
        let mut world = World::new(config);
        for step in &history {
            world.play(step)?;
        }
        world.settle()?;
    }
}
