//! Random histories of a small machine: what counts and settlements say at every stable boundary.

use proptest::prelude::*;
use tierscope_units::{RequestId, SimTime};

use super::world::{MACHINE, World, config, span, tier};
use crate::{
    Awaits, Cause, ChunkEviction, CopyFailure, Engine, Fact, Filter, Flavour, Holds, Input, Lane, LaneConfig,
    LaneSnapshot, Pressure, Settlement, SettlementTarget, SettlementToken, Store, TiersConfig, VllmConfig,
    Waiters,
};

#[derive(Clone, Debug)]
enum Step {
    Arrive { first: u64, blocks: u32, more: u32 },
    Cancel(u32),
    EndPass,
    EndCopy { which: usize, failure: Option<CopyFailure> },
    Wake,
    Forget,
    Close(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let failures = vec![
        None,
        None,
        None,
        Some(CopyFailure::Executor),
        Some(CopyFailure::Aborted),
        Some(CopyFailure::Panicked),
        Some(CopyFailure::Shutdown),
    ];
    let copy = (0..4_usize, prop::sample::select(failures));
    let one = prop_oneof![
        4 => (0..6_u64, 1..4_u32, 0..3_u32).prop_map(|(first, blocks, more)| Step::Arrive { first, blocks, more }),
        1 => (0..10_u32).prop_map(Step::Cancel),
        6 => Just(Step::EndPass),
        9 => copy.prop_map(|(which, failure)| Step::EndCopy { which, failure }),
        2 => Just(Step::Wake),
        2 => Just(Step::Forget),
        // One in five is of a lane.
        1 => (0..30_usize).prop_map(Step::Close),
    ];
    prop::collection::vec(one, 1..50)
}

fn lanes() -> impl Strategy<Value = LaneConfig> {
    let filter = prop::sample::select(vec![Filter::Presence, Filter::Presence, Filter::None]);
    let times = (0..3_u64, 0..2_u32, 0..9_u64, prop::option::of(3..40_u64));
    (1..3_u32, 1..4_u32, filter, times).prop_map(|(max_concurrent, batch_blocks, filter, times)| LaneConfig {
        max_concurrent,
        batch_blocks,
        filter,
        flush_after: span(times.0),
        retries: times.1,
        backoff: span(times.2),
        timeout: times.3.map(span),
        ..LaneConfig::default()
    })
}

/// vLLM's connector, in one machine of four.
fn flavours() -> impl Strategy<Value = Flavour> {
    let eviction = prop::sample::select(vec![ChunkEviction::Lru, ChunkEviction::Arc]);
    let sync = prop::sample::select(vec![0, 0, 8, 30]);
    let vllm =
        (eviction, 1..3_u32, 1..3_u32, sync).prop_map(|(eviction, store_threshold, size, sync)| VllmConfig {
            eviction,
            store_threshold,
            blocks_per_chunk: size,
            prompt_only: false,
            sync_load_budget_tokens: sync,
        });
    prop::option::weighted(0.25, vllm).prop_map(|vllm| vllm.map_or(Flavour::Kvbm, Flavour::Vllm))
}

fn tiers() -> impl Strategy<Value = TiersConfig> {
    let sizes = (1..7_u32, prop::option::of(1..8_u32), prop::option::of(1..8_u32));
    let store = prop::sample::select(vec![Store::OnEviction, Store::OnCompute, Store::OnHit(1)]);
    let holds = prop::sample::select(vec![Holds::Inclusive, Holds::Exclusive]);
    let waiters = prop::sample::select(vec![Waiters::Wait, Waiters::Recompute, Waiters::Join]);
    let pressure = prop::sample::select(vec![Pressure::Drop, Pressure::Hold]);
    let lanes = [lanes(), lanes(), lanes(), lanes(), lanes(), lanes()];
    (sizes, store, holds, (waiters, pressure, flavours()), lanes).prop_map(
        |(sizes, store, holds, on, lanes)| TiersConfig {
            g3: sizes.1.filter(|_| on.2 == Flavour::Kvbm).and_then(tier),
            g4: sizes.2.filter(|_| on.2 == Flavour::Kvbm).and_then(tier),
            lanes,
            store,
            holds,
            waiters: on.0,
            pressure: on.1,
            flavour: on.2,
            ..TiersConfig::with_g2(sizes.0)
        },
    )
}

/// A token with what was so when it was captured.
struct Kept {
    token: SettlementToken,
    /// Transfers that had a number.
    numbered: u64,
}

struct Observer {
    world: World,
    seen: [LaneSnapshot; Lane::COUNT],
    kept: Vec<Kept>,
}

/// Tokens kept in one history.
const TOKENS: usize = 6;

impl Observer {
    fn new(g1_blocks: u32, tiers: TiersConfig) -> Self {
        let world = World::of(Engine::named(config(g1_blocks, tiers), MACHINE));
        Self { world, seen: Default::default(), kept: Vec::new() }
    }

    fn play(&mut self, step: &Step) -> Result<(), TestCaseError> {
        self.world.now += 1;
        match *step {
            Step::Arrive { first, blocks, more } => {
                self.world.arrive(first, blocks, more);
            }
            // One that has not arrived cannot be cancelled; that is an answer.
            Step::Cancel(request) => {
                let _ = self.try_tell(Input::Cancel(RequestId(request)));
            }
            Step::EndPass if !self.world.passes.is_empty() && self.world.awaited.is_empty() => {
                let pass = self.world.passes.remove(0);
                self.world.tell(Input::PassEnded { pass, sampled: &[] });
            }
            Step::EndCopy { which, failure } if !self.world.copies.is_empty() => {
                let lane = self.world.copies[which % self.world.copies.len()].lane;
                self.world.tell_end(lane, failure.map_or(Ok(()), Err));
            }
            Step::Wake => {
                let at = self.world.engine.next_wake().map_or(0, SimTime::as_ns);
                self.world.now = self.world.now.max(at);
            }
            Step::Forget => {
                let _ = self.try_tell(Input::ResetPrefixCache { preempt_running: false });
            }
            Step::Close(which) => {
                if let Some(&lane) = Lane::ALL.get(which) {
                    let _ = self.try_tell(Input::CloseLane { lane });
                }
            }
            Step::EndPass | Step::EndCopy { .. } => {}
        }
        self.world.poll();
        self.world.read();
        self.world.engine.check().map_err(TestCaseError::fail)?;
        self.look()?;
        if self.kept.len() < TOKENS && self.world.now.is_multiple_of(5) {
            let numbered = self.world.engine.lower.as_deref().map_or(0, |lower| lower.started);
            self.kept.push(Kept { token: self.world.engine.capture(), numbered });
        }
        Ok(())
    }

    fn try_tell(&mut self, input: Input<'_>) -> Result<(), crate::InputError> {
        let now = self.world.time();
        self.world.engine.handle(now, input)
    }

    fn look(&mut self) -> Result<(), TestCaseError> {
        for lane in Lane::ALL {
            let now = self.world.engine.lane(lane);
            let before = std::mem::replace(&mut self.seen[lane.index()], now);
            let ended = now.completed + now.failed + now.cancelled;
            let made = self.world.facts.iter();
            let made =
                made.filter(|fact| matches!(fact, Fact::CopyQueued { lane: on, .. } if *on == lane)).count();
            prop_assert_eq!(now.live() + ended, made as u64, "{}: each batch is somewhere", lane.name());
            prop_assert!(now.epoch >= before.epoch, "{}: epochs never fall", lane.name());
            prop_assert!(now == before || now.epoch > before.epoch, "{}: and grow with changes", lane.name());
        }
        for kept in &self.kept {
            self.look_back(kept)?;
        }
        Ok(())
    }

    /// What has completed since a token is settled, one more is not, and chains are what was set off since.
    fn look_back(&self, kept: &Kept) -> Result<(), TestCaseError> {
        let engine = &self.world.engine;
        let done = |lane: Lane| engine.lane(lane).completed - kept.token.lane(lane).completed;
        let target = Lane::ALL
            .into_iter()
            .fold(SettlementTarget::new(), |target, lane| target.completed(lane, done(lane)));
        let settled = engine.settlement(&kept.token, &target);
        prop_assert!(matches!(settled, Ok(Settlement::Settled(_))), "what completed: {settled:?}");
        for lane in Lane::ALL {
            let more = engine.settlement(&kept.token, &target.completed(lane, 1));
            prop_assert!(!matches!(more, Ok(Settlement::Settled(_))), "one more on {}", lane.name());
        }
        let chained = engine.settlement(&kept.token, &target.with_chains());
        let Some(lower) = engine.lower.as_deref() else { return Ok(()) };
        let open = lower.lanes.iter().filter_map(|lane| lane.open.as_ref());
        let open: Vec<_> = open.map(|open| (open.transfer, &*open.batch)).collect();
        let live = || lower.batches.iter().chain(open.clone());
        // Numbered since the token and fed by a completion: by one since the token.
        let new =
            live().any(|(transfer, batch)| transfer.0 >= kept.numbered && batch.cause == Cause::Chained);
        let none = !live().any(|(_, batch)| matches!(batch.lane, Lane::G2ToG3 | Lane::G2ToG4 | Lane::G2ToG1));
        let pends = matches!(chained, Ok(Settlement::Pending { why: Awaits::Chains, .. }));
        prop_assert!(pends || !new, "a chain goes on: {chained:?}");
        prop_assert!(!pends || !none, "no chain goes on: {chained:?}");
        Ok(())
    }

    /// The world answers everything: then everything is settled.
    fn end(&mut self) -> Result<(), TestCaseError> {
        for _ in 0..5_000 {
            let step = match (self.world.copies.is_empty(), self.world.passes.is_empty()) {
                (false, _) => Step::EndCopy { which: 0, failure: None },
                (true, false) => Step::EndPass,
                (true, true) if self.world.engine.next_wake().is_some() => Step::Wake,
                (true, true) => break,
            };
            self.play(&step)?;
        }
        prop_assert_eq!(self.world.engine.unfinished(), 0, "R3: {:?}", self.world.engine.census());
        for kept in &self.kept {
            let settled = self.world.engine.settlement(&kept.token, &SettlementTarget::new().with_chains());
            prop_assert!(matches!(settled, Ok(Settlement::Settled(_))), "{settled:?}");
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counts_and_settlements_agree_at_every_boundary(g1 in 3..9_u32, tiers in tiers(), history in steps()) {
        let mut observer = Observer::new(g1, tiers);
        for step in &history {
            observer.play(step)?;
        }
        observer.end()?;
    }
}
