//! Small machines in every state that they can reach: each step of a transaction, a copy and a claim is followed by
//! cancellation, failure or success, in every order, and nothing is left held (rules T5, T9, L5).

use std::collections::BTreeSet;

use tierscope_engine::{Arrival, Below, Command, Engine, EngineConfig, Input, Presence, Purpose, Rank};
use tierscope_units::{ClaimId, PassId, RequestId, SequenceHash, SimTime, Span, TokenRun, TransferId};

/// A state with what the world owes it.
#[derive(Clone)]
struct World {
    engine: Engine,
    passes: Vec<PassId>,
    transfers: Vec<TransferId>,
    arrived: u32,
    claims: u64,
}

/// What can happen next.
#[derive(Clone, Copy, Debug)]
enum Move {
    Arrive,
    Cancel(u32),
    EndPass,
    EndTransfer { which: usize, succeeded: bool },
    Claim,
    Activate,
    Abandon,
}

const REQUESTS: u32 = 3;
/// More moves than any history has: the exploration ends because no new state is left.
const DEPTH: usize = 200;

impl World {
    fn new(presence: Option<Presence>) -> Self {
        let config = EngineConfig {
            block_size_tokens: 2,
            g1_blocks: 4,
            max_num_seqs: 2,
            max_num_batched_tokens: 8,
            below: presence.map(|presence| Below { presence, copy_estimate: Span::from_ns(1) }),
            ..EngineConfig::default()
        };
        Self { engine: Engine::new(config), passes: Vec::new(), transfers: Vec::new(), arrived: 0, claims: 0 }
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
        match self.claims {
            0 => moves.push(Move::Claim),
            1 => moves.extend([Move::Activate, Move::Abandon]),
            _ => {}
        }
        moves
    }

    fn play(&mut self, step: Move) {
        let now = SimTime::ZERO;
        match step {
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
                self.engine
                    .handle(now, Input::TransferEnded { transfer, succeeded })
                    .expect("it is under way");
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
            match self.engine.poll_command(SimTime::ZERO) {
                Some(Command::StartPass(plan)) => self.passes.push(plan.pass),
                Some(Command::StartOffload(plan)) => self.transfers.push(plan.transfer),
                Some(Command::PollAgain) => {}
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
        while !self.passes.is_empty() || !self.transfers.is_empty() {
            let step = match self.transfers.is_empty() {
                true => Move::EndPass,
                false => Move::EndTransfer { which: 0, succeeded: false },
            };
            self.play(step);
        }
        assert_eq!(self.engine.unfinished(), 0, "R3: {:?}", self.engine.census());
        let held = self.engine.g1().occupancy();
        assert_eq!((held.active, held.reserved, held.source_hold), (0, 0, 0), "nothing is held");
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
        let owed = (self.passes.len(), &self.transfers, self.claims, self.arrived);
        let rows: Vec<_> = self.engine.rows().iter().map(|row| (row.request, row.tokens)).collect();
        let order = pool.take_order();
        format!("{shown:?}{held:?}{outputs:?}{queues:?}{owed:?}{rows:?}{order:?}{:?}", self.engine.census())
    }
}

/// Explores every order of moves until no state is new, each state once.
fn explore(presence: Option<Presence>) -> usize {
    let mut seen = BTreeSet::new();
    let mut layer = vec![World::new(presence)];
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
fn every_reachable_state_of_a_small_machine_is_sound() {
    let kinds = [None, Some(Presence::Copied), Some(Presence::Never), Some(Presence::Always)];
    for presence in kinds {
        let states = explore(presence);
        println!("{states} states with below = {presence:?}");
        assert!(states > 500, "the exploration reaches few states: {states}");
    }
}
