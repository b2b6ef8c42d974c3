//! The machine under random configurations and histories: rule T9 over all tiers after every input, what facts say
//! against what is so, and that every request ends once the world answers (rule R3). The number and the kinds of the
//! faults that the world made are printed.
//!
//! `TIERSCOPE_CASES` sets the number of histories; a failure prints the history itself, shrunk.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use std::sync::Mutex;

use tierscope_engine::vllm::{ChunkOrder, OffloadManager};
use tierscope_engine::{
    Admission, Arrival, BlockPool, BlockRef, ChunkEviction, Command, CopyEnd, CopyFailure, DraftMethod,
    Engine, EngineConfig, Entry, EvictionPolicy, Fact, Filter, Flavour, Holds, Input, Lane, LaneConfig, Leg,
    Load, OnboardGate, Pressure, Purpose, Rank, Sampled, SchedulingPolicy, SlotState, Speculation, Store,
    Tier, TierConfig, TiersConfig, VllmConfig, Waiters,
};
use tierscope_units::{
    ClaimId, PassId, RequestId, SequenceHash, SimTime, SlotId, Span, TokenRun, TransferId,
};

/// What happens next; choices are taken modulo what there is.
#[derive(Clone, Debug)]
enum Step {
    Arrive {
        family: u64,
        shared: u32,
        own: u32,
        output: u32,
        priority: i32,
    },
    Cancel(usize),
    EndPass {
        accepted: u32,
    },
    EndTransfer {
        which: usize,
        failure: Option<CopyFailure>,
    },
    /// Time passes until the machine wants to be asked again.
    Wake,
    Reset {
        preempt: bool,
    },
    Claim {
        blocks: u32,
        handoff: bool,
    },
    Activate {
        which: usize,
        family: u64,
        contents: usize,
    },
    Abandon {
        which: usize,
    },
    /// A lane is shut down; most numbers are of none.
    Close(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let arrive = (0..3_u64, 0..14_u32, 1..14_u32, 1..16_u32, 0..3_i32).prop_map(
        |(family, shared, own, output, priority)| Step::Arrive { family, shared, own, output, priority },
    );
    let failure = prop::sample::select(vec![
        None,
        None,
        None,
        Some(CopyFailure::Executor),
        Some(CopyFailure::Corrupt),
        Some(CopyFailure::Aborted),
        Some(CopyFailure::Panicked),
        Some(CopyFailure::Shutdown),
    ]);
    let transfer = (0..4_usize, failure).prop_map(|(which, failure)| Step::EndTransfer { which, failure });
    let one = prop_oneof![
        4 => arrive,
        1 => (0..8_usize).prop_map(Step::Cancel),
        8 => (0..5_u32).prop_map(|accepted| Step::EndPass { accepted }),
        5 => transfer,
        1 => Just(Step::Wake),
        1 => any::<bool>().prop_map(|preempt| Step::Reset { preempt }),
        1 => (1..5_u32, any::<bool>()).prop_map(|(blocks, handoff)| Step::Claim { blocks, handoff }),
        2 => (0..4_usize, 0..3_u64, 0..5_usize)
            .prop_map(|(which, family, contents)| Step::Activate { which, family, contents }),
        1 => (0..4_usize).prop_map(|which| Step::Abandon { which }),
        1 => (0..60_usize).prop_map(Step::Close),
    ];
    prop::collection::vec(one, 1..60)
}

fn lanes() -> impl Strategy<Value = LaneConfig> {
    let filter = prop::sample::select(vec![
        Filter::Presence,
        Filter::Presence,
        Filter::None,
        Filter::PresenceFrequency(2),
    ]);
    let times = (0..4_u64, 0..3_u32, 0..9_u64, prop::option::of(3..40_u64));
    (1..4_u32, 1..5_u32, filter, times).prop_map(|(max_concurrent, batch_blocks, filter, times)| LaneConfig {
        max_concurrent,
        batch_blocks,
        filter,
        flush_after: Span::from_ns(times.0),
        retries: times.1,
        backoff: Span::from_ns(times.2),
        timeout: times.3.map(Span::from_ns),
        ..LaneConfig::default()
    })
}

fn connectors() -> impl Strategy<Value = VllmConfig> {
    let eviction = prop::sample::select(vec![ChunkEviction::Lru, ChunkEviction::Arc]);
    let sizes = (1..4_u32, 1..3_u32, prop::sample::select(vec![0, 0, 8, 30]));
    (eviction, sizes, any::<bool>()).prop_map(|(eviction, sizes, prompt_only)| VllmConfig {
        eviction,
        store_threshold: sizes.1,
        blocks_per_chunk: sizes.0,
        prompt_only,
        sync_load_budget_tokens: sizes.2,
    })
}

fn tiers() -> impl Strategy<Value = TiersConfig> {
    let sizes = (1..24_u32, prop::option::of(1..30_u32), prop::option::of(1..40_u32));
    let store =
        prop::sample::select(vec![Store::OnEviction, Store::OnCompute, Store::OnHit(1), Store::OnHit(2)]);
    let holds =
        prop::sample::select(vec![Holds::Inclusive, Holds::Inclusive, Holds::Exclusive, Holds::Boundary(3)]);
    let load = prop::sample::select(vec![Load::Always, Load::Always, Load::Never, Load::Sooner]);
    let waiters = prop::sample::select(vec![Waiters::Wait, Waiters::Recompute, Waiters::Join]);
    let pressure = prop::sample::select(vec![Pressure::Drop, Pressure::Hold]);
    let pins = prop::option::weighted(0.3, 1..60_u64);
    let lanes = [lanes(), lanes(), lanes(), lanes(), lanes(), lanes()];
    let connector = prop::option::weighted(0.3, connectors());
    (sizes, store, holds, (load, waiters, pressure, pins, connector), lanes).prop_map(
        |(sizes, store, holds, on, lanes)| {
            let tier = |blocks| TierConfig { blocks, eviction: EvictionPolicy::Lru };
            TiersConfig {
                g3: sizes.1.filter(|_| on.4.is_none()).map(tier),
                g4: sizes.2.filter(|_| on.4.is_none()).map(tier),
                lanes,
                flavour: on.4.map_or(Flavour::Kvbm, Flavour::Vllm),
                store,
                holds,
                load: on.0,
                waiters: on.1,
                pressure: on.2,
                onboard_gate: OnboardGate::FullPrompt,
                recompute_estimate: Span::from_ns(1),
                pin_finished: on.3.map(Span::from_ns),
                ..TiersConfig::with_g2(sizes.0)
            }
        },
    )
}

fn configs() -> impl Strategy<Value = EngineConfig> {
    let sizes = (prop::sample::select(vec![1, 2, 4, 8]), 3..24_u32, 1..6_u32, 4..40_u32);
    let speculation = prop::option::of((1..4_u32, 0..4_usize));
    let below = prop::option::weighted(0.8, tiers());
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
            async_scheduling: on[2] && on[3] && below.is_none(),
            tiers: below,
            admission: if on[0] { Admission::FullPrompt } else { Admission::NextChunk },
            policy: if on[1] { SchedulingPolicy::Fcfs } else { SchedulingPolicy::Priority },
            prefix_caching: on[2] || on[3],
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
    /// Copies that have to end before the newest pass begins.
    awaited: BTreeSet<TransferId>,
    claims: Vec<ClaimId>,
    live: BTreeSet<RequestId>,
    prompts: BTreeMap<RequestId, u32>,
    /// By slot, what the events say that it holds.
    stored: [BTreeMap<SlotId, SequenceHash>; Tier::COUNT],
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
            awaited: BTreeSet::new(),
            claims: Vec::new(),
            live: BTreeSet::new(),
            prompts: BTreeMap::new(),
            stored: Default::default(),
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
                let arrival = Arrival {
                    request,
                    prompt: &prompt,
                    output_start,
                    output_tokens: output,
                    salt: 0,
                    rank,
                    leg: Leg::Whole,
                    entry: Entry::New,
                };
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
            Step::EndTransfer { which, failure } if !self.transfers.is_empty() => {
                let transfer = self.transfers.swap_remove(which % self.transfers.len());
                self.awaited.remove(&transfer);
                if let Some(failure) = failure {
                    count_fault(failure.name());
                    // Rows that computed on what never came are void, and their requests start again.
                    self.was_reset |= self.engine.cpu_tier().is_some();
                }
                let end = failure.map_or(Ok(()), Err);
                self.engine.handle(now, Input::TransferEnded { transfer, end }).expect("it is under way");
            }
            Step::Wake => {
                if let Some(at) = self.engine.next_wake() {
                    self.now = self.now.max(at.as_ns());
                }
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
            // A lane that is not there, or that is closed, is refused; that is an answer.
            Step::Close(which) => {
                if let Some(&lane) = Lane::ALL.get(which)
                    && self.engine.handle(now, Input::CloseLane { lane }).is_ok()
                {
                    count_seen("closed lanes", 1);
                }
            }
            // A reset that finds blocks in use is refused; that is an answer.
            Step::Reset { preempt } => {
                let _ = self.engine.handle(now, Input::ResetPrefixCache { preempt_running: preempt });
            }
            Step::EndTransfer { .. } => {}
        }
        let now = SimTime::from_ns(self.now);
        self.resetting = matches!(step, Step::Reset { .. });
        self.was_reset |= self.resetting;
        self.read_facts()?;
        self.resetting = false;
        self.poll(now)?;
        self.engine.check().map_err(TestCaseError::fail)
    }

    fn end_pass(&mut self, now: SimTime, accepted: u32) -> Result<(), TestCaseError> {
        if self.passes.is_empty() || !self.awaited.is_empty() {
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
                Command::StartCopy(plan) => {
                    prop_assert!(plan.blocks > 0);
                    self.transfers.push(plan.transfer);
                }
                Command::CancelCopy(transfer) => {
                    count_fault("timed_out");
                    self.transfers.retain(|&other| other != transfer);
                    self.awaited.remove(&transfer);
                }
                Command::AwaitCopy(transfer) => {
                    prop_assert!(
                        self.transfers.contains(&transfer),
                        "{transfer:?} is awaited and not under way"
                    );
                    count_seen("awaited", 1);
                    self.awaited.insert(transfer);
                }
                Command::FetchContext(_) | Command::PollAgain => {}
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
                    note_stored(&mut self.stored[0], log.blocks(*blocks))?;
                }
                Fact::TierStored { tier, blocks } => {
                    note_stored(&mut self.stored[tier.index()], log.blocks(*blocks))?;
                }
                Fact::Removed { blocks } => note_removed(&mut self.stored[0], log.blocks(*blocks))?,
                Fact::TierRemoved { tier, blocks } => {
                    note_removed(&mut self.stored[tier.index()], log.blocks(*blocks))?;
                }
                Fact::CopyEnded { end: CopyEnd::Failed(failure), .. } => count_fault(match failure {
                    CopyFailure::DestinationFull => "destination_full",
                    _ => "failed_for_good",
                }),
                Fact::CopyRetried { .. } => count_fault("retried"),
                Fact::CopyFlushed { .. } => count_seen("flushed", 1),
                Fact::OnboardStarted { g2_blocks, g3_blocks, g4_blocks, .. } => {
                    count_seen("loads", 1);
                    count_seen("loaded from g2", *g2_blocks);
                    count_seen("staged from g3", *g3_blocks);
                    count_seen("staged from g4", *g4_blocks);
                }
                Fact::CopyEnded { end: CopyEnd::Cancelled, .. } => count_fault("cancelled"),
                Fact::Preempted { request, .. } => {
                    prop_assert!(
                        self.resetting || !self.blocked.contains(request),
                        "T8: preempted while blocked"
                    );
                    self.blocked.remove(request);
                    self.preemptions += 1;
                }
                Fact::BlockedOnOffload { request, .. } | Fact::WaitsForCopy { request, .. } => {
                    count_seen(
                        if matches!(fact, Fact::WaitsForCopy { .. }) {
                            "waits for a load"
                        } else {
                            "blocked"
                        },
                        1,
                    );
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
        if let Some(tier) = self.engine.cpu_tier() {
            let readable = readable(tier, self.engine.config());
            prop_assert_eq!(&self.stored[1], &readable, "T9: stored less removed is readable in g2");
        }
        for tier in Tier::ALL {
            let Some(pool) = self.engine.tier(tier) else { continue };
            let stored = &self.stored[tier.index()];
            prop_assert_eq!(
                stored,
                &matchable(pool),
                "T9: stored less removed is matchable in {}",
                tier.name()
            );
        }
        Ok(())
    }

    /// The world answers everything, and nothing else happens: every request ends.
    fn settle(&mut self) -> Result<(), TestCaseError> {
        while !self.claims.is_empty() {
            self.play(&Step::Abandon { which: 0 })?;
        }
        for _ in 0..20_000 {
            let timer = self.engine.next_wake().is_some();
            let step = match (self.transfers.is_empty(), self.passes.is_empty()) {
                (false, _) => Step::EndTransfer { which: 0, failure: None },
                (true, false) => Step::EndPass { accepted: 1 },
                (true, true) if timer => Step::Wake,
                (true, true) => break,
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
        let copied = self.engine.cpu_tier().map_or(0, |tier| tier.writing() + tier.pinned());
        prop_assert_eq!(copied, 0, "no chunk is written or read");
        for tier in [Tier::G2, Tier::G3, Tier::G4] {
            let held = self.engine.tier(tier).map(BlockPool::occupancy).unwrap_or_default();
            prop_assert_eq!((held.active, held.reserved), (0, 0), "nothing is held in {}", tier.name());
        }
        Ok(())
    }
}

/// What a lookup could find: content that is announced and has not come is not among it.
fn matchable(pool: &BlockPool) -> BTreeMap<SlotId, SequenceHash> {
    let slots = (0..pool.capacity()).map(SlotId);
    slots
        .filter(|&slot| pool.slot_state(slot) != SlotState::Reserved)
        .filter_map(|slot| Some((slot, pool.slot_hash(slot)?)))
        .collect()
}

/// The same of vLLM's CPU tier: the blocks of its chunks, each under the content at its chunk's end.
fn readable(tier: &OffloadManager, config: &EngineConfig) -> BTreeMap<SlotId, SequenceHash> {
    let Some(Flavour::Vllm(vllm)) = config.tiers.as_ref().map(|tiers| tiers.flavour) else {
        return BTreeMap::new();
    };
    let chunks = match tier.order() {
        ChunkOrder::Lru(chunks) => chunks,
        ChunkOrder::Arc { once, again, .. } => [once, again].concat(),
    };
    let size = vllm.blocks_per_chunk;
    let readable = chunks.into_iter().filter(|chunk| chunk.refs >= 0);
    readable
        .flat_map(|chunk| (0..size).map(move |at| (SlotId(chunk.slot.0 * size + at), chunk.key)))
        .collect()
}

fn note_stored(
    stored: &mut BTreeMap<SlotId, SequenceHash>,
    blocks: &[BlockRef],
) -> Result<(), TestCaseError> {
    for block in blocks {
        prop_assert_eq!(stored.insert(block.slot, block.hash), None, "stored twice");
    }
    Ok(())
}

fn note_removed(
    stored: &mut BTreeMap<SlotId, SequenceHash>,
    blocks: &[BlockRef],
) -> Result<(), TestCaseError> {
    for block in blocks {
        prop_assert_eq!(stored.remove(&block.slot), Some(block.hash), "removed, never stored");
    }
    Ok(())
}

/// Faults so far, by kind.
static FAULTS: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

fn count_fault(kind: &'static str) {
    *FAULTS.lock().expect("no test panics while it counts").entry(kind).or_default() += 1;
}

/// What else happened.
static SEEN: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

fn count_seen(what: &'static str, count: u32) {
    *SEEN.lock().expect("no test panics while it counts").entry(what).or_default() += u64::from(count);
}

fn cases() -> u32 {
    std::env::var("TIERSCOPE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(20_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    fn play_random_histories(config in configs(), history in steps()) {
        let mut world = World::new(config);
        for step in &history {
            world.play(step)?;
        }
        world.settle()?;
    }
}

#[test]
fn random_histories_keep_every_rule() {
    play_random_histories();
    let faults = FAULTS.lock().expect("no test panics while it counts");
    println!("{} random histories, faults by kind: {faults:?}", cases());
    println!("blocks by the way they went: {:?}", SEEN.lock().expect("no test panics while it counts"));
    let seen = faults.len();
    assert!(seen >= 8 || cases() < 10_000, "the world made few kinds of faults: {faults:?}");
}
