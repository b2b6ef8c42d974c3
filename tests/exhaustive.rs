//! Small machines in every state that they can reach: each step of a transaction, a copy and a claim is followed by
//! cancellation, failure or success, in every order, and nothing is left held (rules T5, T9, L5).

use std::collections::BTreeSet;

use tierscope_engine::{
    Arrival, Command, CopyFailure, CopyView, Engine, EngineConfig, EvictionPolicy, Input, Lane, LaneConfig,
    Purpose, Rank, Store, Tier, TierConfig, TiersConfig, Wakeup,
};
use tierscope_units::{ClaimId, PassId, RequestId, SequenceHash, SimTime, Span, TokenRun, TransferId};

/// A state with what the world owes it.
#[derive(Clone)]
struct World {
    engine: Engine,
    passes: Vec<PassId>,
    transfers: Vec<TransferId>,
    arrived: u32,
    claims: u64,
    now: SimTime,
}

/// What can happen next.
#[derive(Clone, Copy, Debug)]
enum Move {
    Arrive,
    Cancel(u32),
    EndPass,
    EndTransfer {
        which: usize,
        succeeded: bool,
    },
    /// Time passes until the machine wants to be asked again.
    Wake,
    Claim,
    Activate,
    Abandon,
}

const REQUESTS: u32 = 3;
/// More moves than any history has: the exploration ends because no new state is left.
const DEPTH: usize = 200;

/// What lies below the machine.
#[derive(Clone, Copy, Debug)]
enum Below {
    /// Nothing.
    Nothing,
    /// G2, fed by evictions; so many batches of a lane at once.
    Evictions { concurrent: u32 },
    /// G2, fed as blocks are computed; G3 behind it.
    Computed { concurrent: u32 },
    /// The same, and a failed batch is tried once more after a while; a copy may also take too long.
    Patient { concurrent: u32 },
}

impl Below {
    fn tiers(self) -> Option<TiersConfig> {
        let lane = |concurrent, batch_blocks| {
            let one = LaneConfig { max_concurrent: concurrent, batch_blocks, ..LaneConfig::default() };
            [one; Lane::COUNT]
        };
        match self {
            Self::Nothing => None,
            Self::Evictions { concurrent } => {
                Some(TiersConfig { lanes: lane(concurrent, 1), ..TiersConfig::with_g2(3) })
            }
            Self::Patient { concurrent } => {
                let patient = LaneConfig {
                    max_concurrent: concurrent,
                    batch_blocks: 1,
                    retries: 1,
                    backoff: Span::from_ns(1),
                    timeout: Some(Span::from_ns(3)),
                    ..LaneConfig::default()
                };
                Some(TiersConfig { lanes: [patient; Lane::COUNT], ..TiersConfig::with_g2(3) })
            }
            Self::Computed { concurrent } => Some(TiersConfig {
                lanes: lane(concurrent, 2),
                store: Store::OnCompute,
                g3: Some(TierConfig { blocks: 3, eviction: EvictionPolicy::Lru }),
                ..TiersConfig::with_g2(2)
            }),
        }
    }
}

impl World {
    fn new(below: Below) -> Self {
        let config = EngineConfig {
            block_size_tokens: 2,
            g1_blocks: 4,
            max_num_seqs: 2,
            max_num_batched_tokens: 8,
            tiers: below.tiers(),
            ..EngineConfig::default()
        };
        // With tiers the claims stay out: the copies make states enough.
        let claims = if config.tiers.is_some() { 2 } else { 0 };
        Self {
            engine: Engine::new(config),
            passes: Vec::new(),
            transfers: Vec::new(),
            arrived: 0,
            claims,
            now: SimTime::ZERO,
        }
    }

    fn moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        if self.arrived < REQUESTS {
            moves.push(Move::Arrive);
        }
        let live = (0..self.arrived).filter(|&id| self.engine.is_live(RequestId(id)));
        moves.extend(live.map(Move::Cancel));
        if !self.passes.is_empty() {
            moves.push(Move::EndPass);
        }
        for which in 0..self.transfers.len() {
            moves.extend([true, false].map(|succeeded| Move::EndTransfer { which, succeeded }));
        }
        if self.engine.next_wake().is_some() {
            moves.push(Move::Wake);
        }
        match self.claims {
            0 => moves.push(Move::Claim),
            1 => moves.extend([Move::Activate, Move::Abandon]),
            _ => {}
        }
        moves
    }

    fn play(&mut self, step: Move) {
        let now = self.now;
        match step {
            Move::Wake => self.now = self.engine.next_wake().unwrap_or(now).max(now),
            Move::Arrive => {
                // The first and the third share their beginning.
                let start = 100 * u64::from(self.arrived % 2);
                let prompt =
                    [TokenRun { start, len: 4 }, TokenRun { start: 1_000 + u64::from(self.arrived), len: 1 }];
                let arrival = Arrival {
                    request: RequestId(self.arrived),
                    prompt: &prompt,
                    output_start: 10_000 * u64::from(self.arrived + 1),
                    output_tokens: 2,
                    salt: 0,
                    rank: Rank::default(),
                    leg: tierscope_engine::Leg::Whole,
                    entry: tierscope_engine::Entry::New,
                };
                self.arrived += 1;
                self.engine.handle(now, Input::Arrive(arrival)).expect("a new number");
            }
            Move::Cancel(id) => self.engine.handle(now, Input::Cancel(RequestId(id))).expect("it arrived"),
            Move::EndPass => {
                let pass = self.passes.remove(0);
                self.engine.handle(now, Input::PassEnded { pass, sampled: &[] }).expect("it is under way");
            }
            Move::EndTransfer { which, succeeded } => {
                let transfer = self.transfers.remove(which);
                let end = if succeeded { Ok(()) } else { Err(CopyFailure::Executor) };
                self.engine.handle(now, Input::TransferEnded { transfer, end }).expect("it is under way");
            }
            Move::Claim => {
                self.claims = 1;
                let claim = Input::Claim { claim: ClaimId(0), purpose: Purpose::Onboard, blocks: 2 };
                self.engine.handle(now, claim).expect("a new number");
            }
            Move::Activate => {
                let hashes = [SequenceHash(7), SequenceHash(8)];
                let input = Input::Activate { claim: ClaimId(0), parent: SequenceHash(1), hashes: &hashes };
                // One that still waits cannot be activated, and goes on waiting.
                if self.engine.handle(now, input).is_ok() {
                    self.claims = 2;
                }
            }
            Move::Abandon => {
                self.claims = 2;
                self.engine.handle(now, Input::Abandon(ClaimId(0))).expect("it was made");
            }
        }
        self.settle_instant();
    }

    fn settle_instant(&mut self) {
        for round in 0.. {
            assert!(round < 50, "R2: iteration at one instant does not end");
            match self.engine.poll_command(self.now) {
                Some(Command::StartPass(plan)) => self.passes.push(plan.pass),
                Some(Command::StartCopy(plan)) => self.transfers.push(plan.transfer),
                Some(Command::CancelCopy(transfer)) => self.transfers.retain(|&other| other != transfer),
                Some(Command::AwaitCopy(_) | Command::FetchContext(_) | Command::PollAgain) => {}
                None => break,
            }
        }
        self.engine.clear_facts();
        self.engine.check().unwrap_or_else(|broken| panic!("T9: {broken}"));
    }

    /// The world answers everything that it owes: then nothing is held and nobody is left.
    fn drain(mut self) {
        if self.claims == 1 {
            self.play(Move::Abandon);
        }
        loop {
            let step = match (self.transfers.is_empty(), self.passes.is_empty()) {
                (false, _) => Move::EndTransfer { which: 0, succeeded: false },
                (true, false) => Move::EndPass,
                (true, true) if self.engine.next_wake().is_some() => Move::Wake,
                (true, true) => break,
            };
            self.play(step);
        }
        assert_eq!(self.engine.unfinished(), 0, "R3: {:?}", self.engine.census());
        let held = self.engine.g1().occupancy();
        assert_eq!((held.active, held.reserved, held.source_hold), (0, 0, 0), "nothing is held");
        for tier in [Tier::G2, Tier::G3] {
            let held = self.engine.tier(tier).map(|pool| pool.occupancy()).unwrap_or_default();
            assert_eq!((held.active, held.reserved), (0, 0), "nothing is held in {}", tier.name());
        }
    }

    /// What tells states apart: the pool, who holds what, and what is owed.
    fn key(&self) -> String {
        let pool = self.engine.g1();
        let slots: Vec<_> = (0..pool.capacity()).map(tierscope_units::SlotId).collect();
        let shown: Vec<_> = slots.iter().map(|&slot| (pool.slot_state(slot), pool.slot_hash(slot))).collect();
        let held: Vec<_> =
            (0..self.arrived).map(|id| self.engine.blocks_of(RequestId(id)).to_vec()).collect();
        let outputs: Vec<_> = (0..self.arrived).map(|id| self.engine.output_tokens(RequestId(id))).collect();
        let queues: (Vec<_>, Vec<_>) = (self.engine.running().collect(), self.engine.waiting().collect());
        // Numbers of copies only count: what matters is which copy is where, and who waits for which.
        let copies: Vec<_> = self.engine.copies().collect();
        let rank = |id: TransferId| copies.iter().position(|copy| copy.transfer == id);
        let under_way: Vec<_> = self.transfers.iter().map(|&id| rank(id)).collect();
        let moving: Vec<_> =
            copies.iter().map(|copy| CopyView { transfer: TransferId(0), ..copy.clone() }).collect();
        let below: Vec<_> = [Tier::G2, Tier::G3].iter().filter_map(|&tier| self.engine.tier(tier)).collect();
        let below: Vec<_> = below
            .iter()
            .map(|pool| {
                let slots = (0..pool.capacity()).map(tierscope_units::SlotId);
                let shown: Vec<_> = slots.map(|slot| (pool.slot_state(slot), pool.slot_hash(slot))).collect();
                (shown, pool.take_order())
            })
            .collect();
        let wake = self.engine.next_wake().map(|at| at.since(self.now));
        let owed = (self.passes.len(), under_way, self.claims, self.arrived, (moving, below, wake));
        let rows: Vec<_> = self.engine.rows().iter().map(|row| (row.request, row.tokens)).collect();
        let order = pool.take_order();
        let waits: Vec<_> = self
            .engine
            .census()
            .iter()
            .map(|row| match row.wakeup {
                Some(Wakeup::Transfer(dependency)) => (row.phase, rank(dependency.transfer), false),
                wakeup => (row.phase, None, wakeup.is_some()),
            })
            .collect();
        let holding: Vec<_> = self.engine.holding().collect();
        format!("{shown:?}{held:?}{outputs:?}{queues:?}{owed:?}{rows:?}{order:?}{waits:?}{holding:?}")
    }
}

/// Explores every order of moves until no state is new, each state once.
fn explore(below: Below) -> usize {
    let mut seen = BTreeSet::new();
    let mut layer = vec![World::new(below)];
    for depth in 0.. {
        assert!(depth < DEPTH, "the exploration does not end");
        if layer.is_empty() {
            break;
        }
        let mut next = Vec::new();
        for world in layer {
            for step in world.moves() {
                let mut after = world.clone();
                after.play(step);
                if seen.insert(after.key()) {
                    after.clone().drain();
                    next.push(after);
                }
            }
        }
        layer = next;
    }
    seen.len()
}

#[test]
fn exhaustive_walks_of_small_machines_find_every_state_sound() {
    let kinds = [
        Below::Nothing,
        Below::Evictions { concurrent: 1 },
        Below::Evictions { concurrent: 2 },
        Below::Computed { concurrent: 1 },
        Below::Computed { concurrent: 2 },
        Below::Patient { concurrent: 1 },
        Below::Patient { concurrent: 2 },
    ];
    let mut all = 0;
    for below in kinds {
        let states = explore(below);
        println!("{states} states with {below:?} below");
        assert!(states > 300, "the exploration reaches few states: {states}");
        all += states;
    }
    println!("{all} states in all");
}
