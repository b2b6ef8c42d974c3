//! Several workers: *where does a request go, and who hands it to whom?*
//!
//! A fleet is its workers, each an [`Engine`], the router that sends requests to them (rule H6), and the handoffs
//! between those that compute prompts and those that answer (rules H1–H5). One worker alone is a fleet whose router
//! has no choice. A worker that does both, prefill and decode, is a handoff whose two sides are one: nothing moves.
//!
//! Like a worker it is told what happened ([`FleetInput`]) and says what to do ([`FleetCommand`]). Facts are shown
//! to a sink as they come, log by log: each log is one worker's, or the fleet's own ([`FactLog::worker`]).

mod census;
mod change;
mod check;
mod config;
mod handoff;
mod journey;
mod observe;
mod route;
mod shared;
mod words;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use tierscope_units::{HandoffId, Idx, RequestId, SimTime, WorkerId};

pub use census::FleetWait;
pub use config::{
    FleetConfig, HandoffBytes, HandoffConfig, HandoffOrder, Role, TRANSFERS_PER_WORKER, WORKERS_MAX,
};
use journey::{Journey, Journeys, Place};
use observe::{Outgoing, Reaction};
pub use words::{FleetCommand, FleetInput, HandoffCopy, Message, WorkerChange};

use crate::command::Command;
use crate::config::EngineConfig;
use crate::fact::{Fact, FactLog, Rejection, WorkerState};
use crate::input::{Arrival, Input, Leg};
use crate::machine::{Engine, InputError};
use crate::router::Router;
use route::Scratch;
use shared::Shared;

/// Shows facts to whoever keeps or counts them.
pub type Sink<'a> = &'a mut dyn FnMut(&FactLog);

/// Workers, their router, and the handoffs between them: a pure state machine (rules E1, E2).
#[derive(Clone)]
pub struct Fleet {
    pub(crate) config: FleetConfig,
    workers: Vec<Worker>,
    router: Option<Router>,
    journeys: Journeys,
    /// Requests that no worker can take, the oldest first.
    held: VecDeque<RequestId>,
    next_handoff: HandoffId,
    /// When handoffs are given up.
    leases: BTreeSet<(SimTime, RequestId)>,
    /// When workers want to be asked again.
    wakes: BTreeSet<(SimTime, WorkerId)>,
    /// When workers have started.
    starts: BTreeSet<(SimTime, WorkerId)>,
    /// Workers that may have something to say, in the order in which they were told something.
    stirred: VecDeque<WorkerId>,
    outbox: VecDeque<FleetCommand>,
    reactions: VecDeque<Reaction>,
    facts: FactLog,
    /// Memory for the facts of whichever worker is told something.
    spare_log: FactLog,
    scratch: Scratch,
    shared: Shared,
    #[cfg(debug_assertions)]
    inputs: u64,
}

/// One worker.
#[derive(Clone)]
struct Worker {
    engine: Engine,
    state: WorkerState,
    /// Whether it is among those that may have something to say.
    stirs: bool,
    wake: Option<SimTime>,
    /// Events of its cache that the router does not know yet.
    outgoing: Outgoing,
}

/// An input that cannot be: the caller is at fault, and nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FleetError {
    /// A worker cannot take it.
    Worker(InputError),
    /// There is no worker of this number.
    UnknownWorker(WorkerId),
    /// The worker is there already, or not there.
    WrongState(WorkerId, WorkerState),
}

impl std::fmt::Display for FleetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Worker(error) => error.fmt(f),
            Self::UnknownWorker(worker) => write!(f, "there is no {worker:?}: they are numbered from 0"),
            Self::WrongState(worker, state) => {
                write!(f, "{worker:?} is {}: a worker starts when it is not there", state.name())
            }
        }
    }
}

impl std::error::Error for FleetError {}

impl From<InputError> for FleetError {
    fn from(error: InputError) -> Self {
        Self::Worker(error)
    }
}

impl Fleet {
    /// A fleet whose caches are empty.
    pub fn new(config: FleetConfig) -> Self {
        let count = config.roles.len();
        let host_of = (0..count).map(|worker| config.host_of(worker) as u32).collect();
        let router = config.router.as_ref().map(|router| Router::new(router.clone(), count as u32, host_of));
        let mut workers = Worker::all_of(&config);
        let mut fleet = Self {
            shared: Shared::of(&config, &mut workers),
            workers,
            config,
            router,
            journeys: Journeys::new(),
            held: VecDeque::new(),
            next_handoff: HandoffId(0),
            leases: BTreeSet::new(),
            wakes: BTreeSet::new(),
            starts: BTreeSet::new(),
            stirred: VecDeque::new(),
            outbox: VecDeque::new(),
            reactions: VecDeque::new(),
            facts: FactLog::of(None),
            spare_log: FactLog::default(),
            scratch: Scratch::default(),
            #[cfg(debug_assertions)]
            inputs: 0,
        };
        for worker in 0..count {
            if fleet.config.present[worker] {
                fleet.workers[worker].state = WorkerState::Ready;
                fleet.join_router(SimTime::ZERO, WorkerId(worker as u16));
            }
        }
        fleet
    }

    /// Takes in what happened at `now`, and shows what is so by that.
    ///
    /// # Errors
    ///
    /// When the input cannot be; then nothing has changed. A message that means nothing any more is no error.
    pub fn handle(&mut self, now: SimTime, input: FleetInput<'_>, sink: Sink<'_>) -> Result<(), FleetError> {
        match input {
            FleetInput::Arrive { arrival, draw } => self.arrive(now, &arrival, draw, sink)?,
            FleetInput::Cancel(request) => self.cancel(now, request, sink)?,
            FleetInput::Worker { worker, input } => {
                if worker.index() >= self.workers.len() {
                    return Err(FleetError::UnknownWorker(worker));
                }
                self.tell(now, worker, input, sink)?;
            }
            FleetInput::Message(message) => self.message(now, message, sink),
            FleetInput::HandoffCopyEnded { request, handoff, generation, end } => {
                self.handoff_copy_ended(now, (request, handoff, generation), end, sink);
            }
            FleetInput::Change { worker, change } => self.change(now, worker, change, sink)?,
        }
        self.react(now, sink);
        #[cfg(debug_assertions)]
        self.check_in_debug();
        Ok(())
    }

    /// The next thing to do at `now`, or `None`: then the state is stable until something happens.
    pub fn poll_command(&mut self, now: SimTime, sink: Sink<'_>) -> Option<FleetCommand> {
        self.fire_timers(now, sink);
        loop {
            if let Some(command) = self.outbox.pop_front() {
                return Some(command);
            }
            let &worker = self.stirred.front()?;
            let at = worker.index();
            self.lend(worker);
            let command = self.workers[at].engine.poll_command(now);
            self.show(now, worker, sink);
            self.take_back(worker);
            match command {
                Some(Command::FetchContext(plan)) => {
                    self.destination_reserved(now, worker, plan, sink);
                    self.react(now, sink);
                }
                Some(command) => {
                    self.react(now, sink);
                    return Some(FleetCommand::Worker { worker, command });
                }
                None => {
                    self.stirred.pop_front();
                    self.workers[at].stirs = false;
                    self.rest(now, worker, sink);
                    self.react(now, sink);
                }
            }
        }
    }

    /// When the fleet wants to be asked again, if nothing else happens before.
    pub fn next_wake(&self) -> Option<SimTime> {
        let first = |set: &BTreeSet<(SimTime, WorkerId)>| set.first().map(|&(at, _)| at);
        let lease = self.leases.first().map(|&(at, _)| at);
        [first(&self.wakes), first(&self.starts), lease].into_iter().flatten().min()
    }

    /// A worker has nothing more to say: notes when it wants to be asked again, and whether it is done.
    fn rest(&mut self, now: SimTime, worker: WorkerId, sink: Sink<'_>) {
        let state = &mut self.workers[worker.index()];
        let wake = state.engine.next_wake();
        if wake != state.wake {
            if let Some(old) = state.wake {
                self.wakes.remove(&(old, worker));
            }
            if let Some(new) = wake {
                self.wakes.insert((new, worker));
            }
            state.wake = wake;
        }
        if state.state == WorkerState::Draining {
            self.leave_if_done(now, worker, sink);
        }
    }

    /// What was to happen at this instant by itself.
    fn fire_timers(&mut self, now: SimTime, sink: Sink<'_>) {
        while let Some(&(at, worker)) = self.wakes.first()
            && at <= now
        {
            self.wakes.remove(&(at, worker));
            self.workers[worker.index()].wake = None;
            self.stir(worker);
        }
        while let Some(&(at, worker)) = self.starts.first()
            && at <= now
        {
            self.starts.remove(&(at, worker));
            self.ready(now, worker, sink);
        }
        while let Some(&(at, request)) = self.leases.first()
            && at <= now
        {
            self.leases.remove(&(at, request));
            self.lease_expired(now, request, sink);
        }
        self.react(now, sink);
    }

    fn stir(&mut self, worker: WorkerId) {
        let state = &mut self.workers[worker.index()];
        if !state.stirs {
            state.stirs = true;
            self.stirred.push_back(worker);
        }
    }

    /// Tells a worker something, and shows what is so by that.
    fn tell(
        &mut self,
        now: SimTime,
        worker: WorkerId,
        input: Input<'_>,
        sink: Sink<'_>,
    ) -> Result<(), InputError> {
        self.lend(worker);
        let told = self.workers[worker.index()].engine.handle(now, input);
        self.show(now, worker, sink);
        self.take_back(worker);
        if told.is_ok() {
            self.stir(worker);
        }
        told
    }

    fn arrive(
        &mut self,
        now: SimTime,
        arrival: &Arrival<'_>,
        draw: u64,
        sink: Sink<'_>,
    ) -> Result<(), FleetError> {
        let request = arrival.request;
        if self.router.is_none() {
            return Ok(self.tell(now, WorkerId(0), Input::Arrive(*arrival), sink)?);
        }
        if self.journeys.contains_key(&request) {
            return Err(InputError::DuplicateRequest(request).into());
        }
        let journey = Journey::new(arrival, draw);
        let refused = self.answerable(&journey).err();
        self.journeys.insert(request, journey);
        match refused {
            None => self.send_out(now, request, sink),
            Some(reason) => {
                self.announce(now, request, sink);
                self.journeys.remove(&request);
                self.say(now, Fact::Rejected { request, reason }, sink);
            }
        }
        Ok(())
    }

    /// Whether a worker that answers could ever hold a request: if not, its prompt need not be computed (rule S4).
    fn answerable(&self, journey: &Journey) -> Result<(), Rejection> {
        match self.config.roles.iter().position(|&role| role == Role::Decode) {
            None => Ok(()),
            Some(decode) => {
                let engine = &self.workers[decode].engine;
                engine.servable(u64::from(journey.prompt_tokens), journey.output_tokens)
            }
        }
    }

    fn cancel(&mut self, now: SimTime, request: RequestId, sink: Sink<'_>) -> Result<(), FleetError> {
        if self.router.is_none() {
            return Ok(self.tell(now, WorkerId(0), Input::Cancel(request), sink)?);
        }
        // A request that ended before its cancellation came is not an error: messages cross.
        let Some(journey) = self.journeys.get(&request) else { return Ok(()) };
        match journey.place {
            Place::Ended => {}
            Place::At(worker) => {
                // Its end is seen among the facts, and ends the journey.
                self.tell(now, worker, Input::Cancel(request), sink)?;
            }
            Place::AtRouter(_) | Place::Between => {
                let output_tokens = journey.produced;
                self.abandon_handoff(now, request, true, sink);
                self.held.retain(|&other| other != request);
                self.say(now, Fact::Cancelled { request, output_tokens }, sink);
                self.end_journey(now, request);
            }
        }
        Ok(())
    }

    /// Says what belongs to no worker alone.
    fn say(&mut self, now: SimTime, fact: Fact, sink: Sink<'_>) {
        self.facts.push(now, fact);
        sink(&self.facts);
        self.facts.clear();
    }

    /// The workers.
    pub fn workers(&self) -> impl ExactSizeIterator<Item = &Engine> {
        self.workers.iter().map(|worker| &worker.engine)
    }

    /// One worker.
    pub fn worker(&self, worker: WorkerId) -> &Engine {
        &self.workers[worker.index()].engine
    }

    /// Whether a worker is there.
    pub fn state_of(&self, worker: WorkerId) -> WorkerState {
        self.workers[worker.index()].state
    }

    /// What a worker does.
    pub fn role_of(&self, worker: WorkerId) -> Role {
        self.config.roles[worker.index()]
    }

    /// The configuration.
    pub fn config(&self) -> &FleetConfig {
        &self.config
    }

    /// Whether a request has arrived and not ended.
    pub fn is_live(&self, request: RequestId) -> bool {
        match &self.router {
            None => self.workers[0].engine.is_live(request),
            Some(_) => self.journeys.get(&request).is_some_and(|journey| journey.place != Place::Ended),
        }
    }

    /// Number of handoffs that are not over.
    pub fn handoffs_under_way(&self) -> usize {
        self.journeys.values().filter(|journey| journey.handoff.is_some()).count()
    }

    /// Whether something that was begun between workers is still to come.
    pub fn is_between(&self) -> bool {
        !self.leases.is_empty() || !self.starts.is_empty()
    }

    /// Roughly the memory that a copy of this state takes, in bytes.
    pub fn state_bytes(&self) -> usize {
        let workers: usize = self.workers.iter().map(|worker| worker.engine.state_bytes()).sum();
        let router = self.router.as_ref().map_or(0, Router::state_bytes);
        workers
            + router
            + self.shared_bytes()
            + self.journeys.len() * size_of::<Journey>()
            + size_of::<Self>()
    }

    /// Every worker, and what they share, with the sizes and policies of `config`.
    pub(crate) fn retune_workers(&mut self, config: &FleetConfig) {
        for (worker, own) in engine_configs(config).into_iter().enumerate() {
            if self.workers[worker].engine.retune(own) {
                self.stir(WorkerId(worker as u16));
            }
        }
        if let Some(tiers) = &config.engine.tiers {
            self.shared.grow(tiers);
        }
    }
}

/// Each worker's configuration; those of one role share theirs.
fn engine_configs(config: &FleetConfig) -> Vec<Arc<EngineConfig>> {
    let mut by_g1: BTreeMap<u32, Arc<EngineConfig>> = BTreeMap::new();
    let own = |worker: usize| {
        let own = by_g1.entry(config.g1_blocks_of(worker));
        own.or_insert_with(|| Arc::new(config.engine_of(worker))).clone()
    };
    (0..config.roles.len()).map(own).collect()
}

impl Worker {
    /// The workers of a fleet.
    fn all_of(config: &FleetConfig) -> Vec<Self> {
        if config.router.is_none() {
            return vec![Self::with(Engine::new(config.engine.clone()))];
        }
        let own = engine_configs(config).into_iter().enumerate();
        own.map(|(worker, own)| Self::new(own, worker, 0)).collect()
    }

    /// One of several, with nothing in it.
    fn new(own: Arc<EngineConfig>, worker: usize, first_transfer: u64) -> Self {
        let base = worker as u64 * TRANSFERS_PER_WORKER;
        Self::with(Engine::one_of_several(own, WorkerId(worker as u16), base.max(first_transfer)))
    }

    fn with(engine: Engine) -> Self {
        let (state, stirs, wake) = (WorkerState::Absent, false, None);
        Self { engine, state, stirs, wake, outgoing: Outgoing::default() }
    }
}

impl Leg {
    /// The first leg of a request.
    fn first(config: &FleetConfig) -> Self {
        if config.roles.contains(&Role::Prefill) { Self::Prefill } else { Self::Whole }
    }
}
