//! A small world for several workers: passes and copies take a while, messages too, and any of it can go wrong.

use std::collections::{BTreeMap, BTreeSet};

use tierscope_engine::{
    Arrival, Command, CopyFailure, EngineConfig, Entry, Fact, FactLog, Fleet, FleetCommand, FleetConfig,
    FleetInput, HandoffBytes, HandoffConfig, HandoffCopy, HandoffFact, HandoffOrder, HandoffPhase, Input,
    Leg, Message, Rank, Role, RouterConfig, RouterKind, WorkerChange,
};
use tierscope_units::{HandoffId, Idx, PassId, RequestId, SimTime, Span, TokenRun, TransferId, WorkerId};

/// How long things take.
const PASS: u64 = 100;
const COPY: u64 = 70;
const MESSAGE: u64 = 10;
/// How long a side holds blocks for the other.
pub(crate) const LEASE: u64 = 5_000;

/// Something to come. The order of the variants is their rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    PassEnds { worker: WorkerId, life: u32, pass: PassId },
    CopyEnds(WorkerId, TransferId),
    HandoffCopyEnds { request: RequestId, handoff: HandoffId, generation: u32, well: bool },
    Message(Message),
    Arrives(RequestId),
}

/// What becomes of messages and of handoffs' copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mishap {
    None,
    MessageLost,
    MessageDoubled,
    MessageLate,
    CopyFails,
    CopyLost,
}

/// The fleet, what the world owes it, and what has been seen.
pub(crate) struct World {
    pub(crate) fleet: Fleet,
    pub(crate) now: u64,
    events: BTreeSet<(u64, Event, u64)>,
    seq: u64,
    lives: Vec<u32>,
    prompts: BTreeMap<RequestId, (Vec<TokenRun>, u32)>,
    /// What befalls the next message or handoff copy, and how many of them.
    pub(crate) mishap: Mishap,
    pub(crate) mishaps_left: u32,
    pub(crate) seen: Seen,
}

/// What the facts said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// All of them; block lists mean nothing any more.
    pub(crate) facts: Vec<(SimTime, Fact)>,
    /// By request: how often it ended.
    pub(crate) ends: BTreeMap<RequestId, u32>,
    pub(crate) finished: BTreeMap<RequestId, u32>,
    pub(crate) first_tokens: BTreeMap<RequestId, u32>,
    pub(crate) arrivals: BTreeMap<RequestId, u32>,
    /// By request: the phases that its handoffs reached.
    pub(crate) phases: Vec<(RequestId, HandoffPhase)>,
    pub(crate) ignored: u32,
    pub(crate) stale: u32,
    pub(crate) messages: u32,
}

impl Seen {
    fn note(&mut self, log: &FactLog) {
        for (at, fact) in log.iter() {
            self.facts.push((at, *fact));
            match *fact {
                Fact::Arrived { request, .. } => *self.arrivals.entry(request).or_default() += 1,
                Fact::FirstToken { request } => *self.first_tokens.entry(request).or_default() += 1,
                Fact::Finished { request, output_tokens } => {
                    *self.ends.entry(request).or_default() += 1;
                    self.finished.insert(request, output_tokens);
                }
                Fact::Cancelled { request, .. } | Fact::Rejected { request, .. } => {
                    *self.ends.entry(request).or_default() += 1;
                }
                Fact::Handoff(HandoffFact::Reached { request, phase, .. }) => {
                    self.phases.push((request, phase));
                }
                Fact::Handoff(HandoffFact::MessageIgnored { stale, .. }) => {
                    self.ignored += 1;
                    self.stale += u32::from(stale);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn has_reached(&self, request: RequestId, phase: HandoffPhase) -> bool {
        self.phases.contains(&(request, phase))
    }
}

/// Two workers that prefill and two that answer.
pub(crate) fn config(order: HandoffOrder, pipelined: bool, kind: RouterKind) -> FleetConfig {
    let engine = EngineConfig {
        block_size_tokens: 4,
        g1_blocks: 24,
        max_num_seqs: 8,
        max_num_batched_tokens: 16,
        ..EngineConfig::default()
    };
    let roles = vec![Role::Prefill, Role::Prefill, Role::Decode, Role::Decode];
    let lease = Some(Span::from_ns(LEASE));
    FleetConfig {
        roles,
        present: vec![true; 4],
        workers_per_host: 2,
        startup: Span::from_ns(50),
        router: Some(RouterConfig::of(kind)),
        handoff: HandoffConfig { order, bytes: HandoffBytes::DestinationMissing, lease, pipelined },
        ..FleetConfig::single(engine)
    }
}

impl World {
    pub(crate) fn new(config: FleetConfig) -> Self {
        let workers = config.roles.len();
        Self {
            fleet: Fleet::new(config),
            now: 0,
            events: BTreeSet::new(),
            seq: 0,
            lives: vec![0; workers],
            prompts: BTreeMap::new(),
            mishap: Mishap::None,
            mishaps_left: 0,
            seen: Seen::default(),
        }
    }

    fn time(&self) -> SimTime {
        SimTime::from_ns(self.now)
    }

    fn push(&mut self, after: u64, event: Event) {
        self.seq += 1;
        self.events.insert((self.now + after, event, self.seq));
    }

    /// A request of so many tokens comes: the first `shared` are those of everybody else.
    pub(crate) fn send(&mut self, request: u32, prompt: u32, shared: u32, output: u32) {
        let own = TokenRun { start: 1_000_000 * u64::from(request + 1), len: prompt - shared };
        let mut runs = vec![TokenRun { start: 0, len: shared }, own];
        runs.retain(|run| run.len > 0);
        self.prompts.insert(RequestId(request), (runs, output));
        self.push(0, Event::Arrives(RequestId(request)));
    }

    /// Tells the fleet something now, and does what it wants done.
    pub(crate) fn tell(&mut self, input: FleetInput<'_>) -> bool {
        let (now, seen) = (self.time(), &mut self.seen);
        let told = self.fleet.handle(now, input, &mut |log| seen.note(log)).is_ok();
        self.obey();
        told
    }

    pub(crate) fn cancel(&mut self, request: u32) {
        self.tell(FleetInput::Cancel(RequestId(request)));
    }

    pub(crate) fn change(&mut self, worker: u16, change: WorkerChange) -> bool {
        self.tell(FleetInput::Change { worker: WorkerId(worker), change })
    }

    fn obey(&mut self) {
        loop {
            let (now, seen) = (self.time(), &mut self.seen);
            let Some(command) = self.fleet.poll_command(now, &mut |log| seen.note(log)) else { break };
            match command {
                FleetCommand::Worker { worker, command: Command::StartPass(plan) } => {
                    let life = self.lives[worker.index()];
                    self.push(PASS, Event::PassEnds { worker, life, pass: plan.pass });
                }
                FleetCommand::Worker { worker, command: Command::StartCopy(plan) } => {
                    self.push(COPY, Event::CopyEnds(worker, plan.transfer));
                }
                FleetCommand::Worker { command: Command::CancelCopy(transfer), .. } => {
                    self.events.retain(
                        |(_, event, _)| !matches!(event, Event::CopyEnds(_, other) if *other == transfer),
                    );
                }
                FleetCommand::Worker { .. } => {}
                FleetCommand::Send(message) => self.carry(message),
                FleetCommand::StartHandoffCopy(copy) => self.move_blocks(copy),
                FleetCommand::CancelHandoffCopy { handoff } => self.events.retain(|(_, event, _)| {
                    !matches!(event, Event::HandoffCopyEnds { handoff: other, .. } if *other == handoff)
                }),
                FleetCommand::Forget(worker) => {
                    self.lives[worker.index()] += 1;
                    self.events.retain(
                        |(_, event, _)| !matches!(event, Event::CopyEnds(of, _) if *of == worker),
                    );
                }
            }
        }
        self.fleet.check().unwrap_or_else(|broken| panic!("at {}: {broken}", self.now));
    }

    fn strikes(&mut self, mishaps: &[Mishap]) -> bool {
        let struck = self.mishaps_left > 0 && mishaps.contains(&self.mishap);
        self.mishaps_left -= u32::from(struck);
        struck
    }

    fn carry(&mut self, message: Message) {
        self.seen.messages += 1;
        let messages = [Mishap::MessageLost, Mishap::MessageDoubled, Mishap::MessageLate];
        match self.strikes(&messages).then_some(self.mishap) {
            Some(Mishap::MessageLost) => {}
            Some(Mishap::MessageDoubled) => {
                self.push(MESSAGE, Event::Message(message));
                self.push(3 * MESSAGE, Event::Message(message));
            }
            // So late that the handoff has been given up.
            Some(_) => self.push(3 * LEASE, Event::Message(message)),
            None => self.push(MESSAGE, Event::Message(message)),
        }
    }

    fn move_blocks(&mut self, copy: HandoffCopy) {
        let HandoffCopy { request, handoff, generation, .. } = copy;
        let struck = self.strikes(&[Mishap::CopyFails, Mishap::CopyLost]);
        if struck && self.mishap == Mishap::CopyLost {
            return;
        }
        // What moves with a pass is there when the pass has ended.
        let after = if copy.within.is_some() { PASS + COPY / 2 } else { COPY };
        self.push(after, Event::HandoffCopyEnds { request, handoff, generation, well: !struck });
    }

    /// When something happens next.
    pub(crate) fn next_time(&self) -> Option<u64> {
        let event = self.events.first().map(|&(at, ..)| at);
        let wake = self.fleet.next_wake().map(|at| at.as_ns().max(self.now));
        [event, wake].into_iter().flatten().min()
    }

    /// Lets the next thing happen; `false` when nothing is to come.
    pub(crate) fn step(&mut self) -> bool {
        let Some(next) = self.next_time() else { return false };
        self.now = next;
        match self.events.first().copied().filter(|&(at, ..)| at <= next) {
            Some(entry) => {
                self.events.remove(&entry);
                self.apply(entry.1);
            }
            None => self.obey(),
        }
        true
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::PassEnds { worker, life, pass } if self.lives[worker.index()] == life => {
                let input = Input::PassEnded { pass, sampled: &[] };
                assert!(self.tell(FleetInput::Worker { worker, input }));
            }
            Event::PassEnds { .. } => {}
            Event::CopyEnds(worker, transfer) => {
                let struck = self.strikes(&[Mishap::CopyFails]);
                let end = if struck { Err(CopyFailure::Executor) } else { Ok(()) };
                let input = Input::TransferEnded { transfer, end };
                assert!(self.tell(FleetInput::Worker { worker, input }));
            }
            Event::HandoffCopyEnds { request, handoff, generation, well } => {
                let end = if well { Ok(()) } else { Err(CopyFailure::Executor) };
                assert!(self.tell(FleetInput::HandoffCopyEnded { request, handoff, generation, end }));
            }
            Event::Message(message) => assert!(self.tell(FleetInput::Message(message))),
            Event::Arrives(request) => {
                let (prompt, output_tokens) = self.prompts[&request].clone();
                let arrival = Arrival {
                    request,
                    prompt: &prompt,
                    output_start: 1_000_000 * u64::from(request.0 + 1) + 500_000,
                    output_tokens,
                    salt: 0,
                    rank: Rank::default(),
                    leg: Leg::Whole,
                    entry: Entry::New,
                };
                assert!(self.tell(FleetInput::Arrive { arrival, draw: u64::from(request.0) }));
            }
        }
    }

    /// Until nothing is to come.
    pub(crate) fn run(&mut self) {
        let mut steps = 0;
        while self.step() {
            steps += 1;
            assert!(steps < 200_000, "it goes on for ever");
        }
    }

    /// Who waits for what, for the message of a failure.
    fn who_waits(&self) -> String {
        let rows = self.fleet.workers().flat_map(|worker| worker.census());
        let rows = rows
            .map(|row| format!("{row:?}\n"))
            .chain(self.fleet.between().map(|wait| format!("{wait:?}\n")));
        rows.collect()
    }

    /// Every request has ended once, with all its tokens if it finished, and nothing is held (rules H3, T9).
    pub(crate) fn assert_all_over(&mut self, what: &str) {
        for (request, (_, output)) in &self.prompts {
            let ends = self.seen.ends.get(request).copied().unwrap_or(0);
            assert_eq!(ends, 1, "{what}: {request:?} ended {ends} times\n{}", self.who_waits());
            let arrivals = self.seen.arrivals.get(request).copied().unwrap_or(0);
            assert_eq!(arrivals, 1, "{what}: {request:?} arrived {arrivals} times");
            if let Some(tokens) = self.seen.finished.get(request) {
                assert_eq!(tokens, output, "{what}: {request:?} has {tokens} of {output} tokens");
                assert_eq!(self.seen.first_tokens.get(request), Some(&1), "{what}: first tokens");
            }
        }
        assert_eq!(self.fleet.handoffs_under_way(), 0, "{what}: handoffs are not over");
        assert_eq!(self.fleet.held_for_handoffs(), 0, "{what}: blocks are held for handoffs");
        for worker in self.fleet.workers() {
            let g1 = worker.g1().occupancy();
            assert_eq!((g1.active, g1.reserved, g1.source_hold), (0, 0, 0), "{what}: {g1:?}");
            assert_eq!(worker.unfinished(), 0, "{what}: requests are left");
        }
        let index = self.fleet.check_index(self.time(), true);
        assert_eq!((index.phantom, index.missing), (0, 0), "{what}: the router's index is wrong");
    }
}
