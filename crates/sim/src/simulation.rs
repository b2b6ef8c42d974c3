//! The loop: apply what happens at an instant until nothing is left to do at it, then jump to the next
//! (rule R1).

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use tierscope_engine::{
    Arrival, Command, Engine, Entry, FactLog, Fleet, FleetCommand, FleetInput, Input, Leg, Message, PassPlan,
    Rank, WorkerChange,
};
use tierscope_scenario::{Scenario, Timing, Told, Workload};
use tierscope_units::{Idx, RandomStream, RequestId, SimTime, Span, TransferId, WorkerId};

use crate::acceptance::Acceptance;
use crate::copies::{Copies, Ended, LinkUse};
use crate::error::RunError;
use crate::messages::Messages;
use crate::progress::{Circles, Outside};
use crate::queue::{Event, Queue};
use crate::seen::Seen;
use crate::source::Source;
use crate::timing;
use crate::told::Ears;

/// A run at an instant. Cloning one forks it.
#[derive(Clone)]
pub struct Simulation {
    pub(crate) fleet: Fleet,
    pub(crate) queue: Queue,
    source: Source,
    workload: Arc<Workload>,
    pub(crate) timing: Arc<Timing>,
    pub(crate) acceptance: Option<Acceptance>,
    pub(crate) copies: Copies,
    messages: Messages,
    /// Numbers for the router's draws.
    draws: RandomStream,
    machines: Vec<Machine>,
    pub(crate) now: SimTime,
    pub(crate) seen: Seen,
}

/// What the world knows of a worker.
#[derive(Clone, Default)]
struct Machine {
    /// Copies that have to end before the passes that are held begin, in order.
    awaited: BTreeSet<TransferId>,
    held_passes: VecDeque<PassPlan>,
    /// When it is done with the passes that were started.
    busy_until: SimTime,
    /// How often it was lost: passes of former lives do not end.
    life: u32,
    /// Passes under way or held.
    passes: u32,
}

/// What became of one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something happened; more is to come.
    Advanced,
    /// Every request has ended.
    Finished,
    /// Requests are unfinished and nothing will happen any more (rule R3).
    DeadEnd,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Requests that have ended.
    pub ended: u32,
    /// Requests of the workload.
    pub total: u32,
    /// The instant.
    pub now: SimTime,
}

impl Simulation {
    /// A run before its first instant.
    pub fn new(scenario: &Scenario, workload: Arc<Workload>) -> Self {
        let fleet = Fleet::new(scenario.fleet_config());
        let workers = fleet.workers().len();
        let mut queue = Queue::default();
        for change in scenario.fleet.iter().flat_map(|fleet| &fleet.changes) {
            queue.push(SimTime::from_ns(change.at.as_ns()), Event::Changes(change.worker, change.change));
        }
        Self {
            fleet,
            queue,
            source: Source::new(workload.clone()),
            timing: Arc::new(scenario.timing.clone()),
            workload,
            acceptance: Acceptance::of(scenario),
            copies: Copies::new(scenario),
            messages: Messages::of(scenario.fleet.as_ref()),
            draws: RandomStream::named(scenario.seed, "router"),
            machines: vec![Machine::default(); workers],
            now: SimTime::ZERO,
            seen: Seen {
                circles: vec![Circles::default(); workers],
                unsettled: Vec::new(),
                endless: false,
                ended: 0,
                just_ended: Vec::new(),
            },
        }
        .with_loop_started()
    }

    fn with_loop_started(mut self) -> Self {
        // A delay from the beginning of time cannot pass the end of time.
        let started: Vec<_> = self.source.fill_loop().collect();
        for (request, delay) in started {
            self.queue.push(SimTime::from_ns(delay.as_ns()), Event::Arrives(request));
        }
        self
    }

    /// The same run, whose copies somebody else makes: they end as they are told to ([`Simulation::copy_ended`]), and
    /// as they were told before. Only before the first instant.
    pub fn listening(mut self, told: Arc<Vec<Told>>) -> Self {
        self.copies.listen(Ears::of(told));
        self
    }

    /// Somebody who makes the copies tells that one has ended. A time that has passed means the next nanosecond;
    /// what was made of it is given back.
    pub fn copy_ended(&mut self, told: Told) -> Told {
        self.copies.hear(self.now, told)
    }

    /// Copies that somebody else makes, and whose ends were not told yet.
    pub fn copies_elsewhere(&self) -> impl Iterator<Item = TransferId> {
        self.copies.elsewhere()
    }

    /// The instant that was applied last.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// All workers, with what is between them.
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// The first worker: the only one, where there are not several.
    pub fn engine(&self) -> &Engine {
        self.fleet.worker(WorkerId(0))
    }

    /// The workload.
    pub fn workload(&self) -> &Arc<Workload> {
        &self.workload
    }

    /// How far the run is.
    pub fn progress(&self) -> Progress {
        Progress { ended: self.seen.ended, total: self.workload.requests.len() as u32, now: self.now }
    }

    /// Roughly the memory that a copy of this state takes, in bytes.
    pub(crate) fn state_bytes(&self) -> usize {
        self.fleet.state_bytes() + size_of::<Self>()
    }

    /// Whether requests preempt each other, or themselves, without anybody's progress (rule R2).
    pub fn is_going_in_circles(&self) -> bool {
        self.seen.endless
    }

    /// Whether something is still to come that does not follow from the machine's own state: requests, cancellations,
    /// the end of a lease, a change of what goes wrong.
    fn may_change(&self) -> bool {
        self.source.next_time().is_some()
            || self.queue.has_news()
            || self.fleet.workers().any(Engine::has_leases)
            || self.fleet.is_between()
            || self.copies.has_handoffs()
            || self.copies.may_change(self.now)
    }

    /// When the next instant is; `None` when nothing will happen any more, or nothing new.
    pub fn next_time(&self) -> Option<SimTime> {
        if self.is_going_in_circles() {
            return None;
        }
        let times = [
            self.queue.next_time(),
            self.source.next_time(),
            self.copies.next_time(),
            self.fleet.next_wake(),
        ];
        // What was due in the past is due now.
        times.into_iter().flatten().min().map(|next| next.max(self.now))
    }

    /// How the links are used: each worker's PCIe, each host's disk, the object store, those of handoffs.
    pub fn links(&self) -> Vec<LinkUse> {
        self.copies.use_of_links()
    }

    /// Whether the copy of a request's handoff will be heard to end.
    pub(crate) fn handoff_copy_ends(&self, request: RequestId) -> bool {
        self.copies.handoff_of_ends(request)
    }

    /// Requests that are scheduled to arrive, with the time of each, in order; not those that follow others.
    pub fn arrivals_to_come(&self) -> impl Iterator<Item = (SimTime, RequestId)> {
        self.queue.iter().filter_map(|(at, event)| match event {
            Event::Arrives(request) => Some((at, request)),
            _ => None,
        })
    }

    /// Workers that are to start, with the time of each, in order.
    pub(crate) fn starts_to_come(&self) -> impl Iterator<Item = (SimTime, WorkerId)> {
        self.queue.iter().filter_map(|(at, event)| match event {
            Event::Changes(worker, WorkerChange::Start) => Some((at, worker)),
            _ => None,
        })
    }

    /// Messages about the handoff of a request that are on their way, with the time when each comes, in order.
    pub(crate) fn messages_to_come(&self, request: RequestId) -> impl Iterator<Item = (SimTime, Message)> {
        self.queue.iter().filter_map(move |(at, event)| match event {
            Event::Message(number) => {
                let message = self.messages.under_way(number)?;
                (message.request == request).then_some((at, message))
            }
            _ => None,
        })
    }

    /// Applies the next instant to its stable boundary and shows its facts to `sink`, perhaps in several parts.
    ///
    /// # Errors
    ///
    /// When time would leave the representable range.
    pub fn step(&mut self, mut sink: impl FnMut(&FactLog)) -> Result<Step, RunError> {
        if self.is_going_in_circles() {
            return Ok(Step::DeadEnd);
        }
        let Some(now) = self.next_time() else {
            if let Some(transfer) = self.copies.endless() {
                return Err(RunError::TransferPastEndOfTime(transfer));
            }
            return Ok(match self.progress() {
                Progress { ended, total, .. } if ended == total => Step::Finished,
                _ => Step::DeadEnd,
            });
        };
        self.now = now;
        loop {
            while self.apply_next(&mut sink)? {
                self.start_followers()?;
            }
            while let Some(command) = self.poll(&mut sink) {
                self.obey(command)?;
            }
            self.start_followers()?;
            self.look_for_circles();
            if self.next_time() != Some(now) || self.is_going_in_circles() {
                return Ok(Step::Advanced);
            }
        }
    }

    /// The fleet's next command. What is shown is counted.
    fn poll(&mut self, sink: &mut impl FnMut(&FactLog)) -> Option<FleetCommand> {
        self.fleet.poll_command(self.now, &mut self.seen.before(sink))
    }

    fn tell(&mut self, input: FleetInput<'_>, sink: &mut impl FnMut(&FactLog)) {
        self.fleet
            .handle(self.now, input, &mut self.seen.before(sink))
            .expect("the world reports what it was asked for, once");
    }

    /// Whether a worker is where it was before, after preemptions.
    fn look_for_circles(&mut self) {
        if self.seen.unsettled.is_empty() {
            return;
        }
        let may_change = self.may_change();
        let busy = self.machines.iter().filter(|machine| machine.passes > 0).count();
        for worker in std::mem::take(&mut self.seen.unsettled) {
            let others_move = busy > usize::from(self.machines[worker.index()].passes > 0);
            let outside = Outside { now: self.now, may_change: may_change || others_move };
            let circles = &mut self.seen.circles[worker.index()];
            circles.look_at(self.fleet.worker(worker), outside);
            self.seen.endless |= circles.are_endless();
        }
    }

    /// Applies the next thing at this instant: passes end first, then copies, then workers come and go and messages
    /// come, then requests arrive, then cancellations are heard.
    fn apply_next(&mut self, sink: &mut impl FnMut(&FactLog)) -> Result<bool, RunError> {
        if !self.queue.pass_ends_at(self.now)
            && let Some(ended) = self.copies.pop_at(self.now)
        {
            match ended {
                Ended::Copy(worker, transfer, end) => {
                    let input = Input::TransferEnded { transfer, end };
                    self.tell(FleetInput::Worker { worker, input }, sink);
                    self.release_pass(worker, transfer)?;
                }
                Ended::Handoff(copy, end) => {
                    let (request, handoff, generation) = (copy.request, copy.handoff, copy.generation);
                    self.tell(FleetInput::HandoffCopyEnded { request, handoff, generation, end }, sink);
                }
            }
            return Ok(true);
        }
        match self.pop_event() {
            Some(event) => self.apply(event, sink).map(|()| true),
            None => Ok(false),
        }
    }

    fn pop_event(&mut self) -> Option<Event> {
        if let Some(at) = self.source.next_time()
            && at <= self.now
            && !self.queue.precedes_arrivals_at(self.now)
        {
            return self.source.pop_at(self.now).map(Event::Arrives);
        }
        self.queue.pop_at(self.now)
    }

    fn apply(&mut self, event: Event, sink: &mut impl FnMut(&FactLog)) -> Result<(), RunError> {
        match event {
            Event::PassEnds { worker, life, pass } if self.machines[worker.index()].life == life => {
                self.machines[worker.index()].passes -= 1;
                let fleet = &self.fleet;
                let sample = |model| Acceptance::sample(model, fleet.worker(worker).rows_of(pass));
                let sampled = self.acceptance.as_mut().map_or(&[][..], sample);
                let input = FleetInput::Worker { worker, input: Input::PassEnded { pass, sampled } };
                self.fleet
                    .handle(self.now, input, &mut self.seen.before(sink))
                    .expect("the world reports what it was asked for, once");
                self.copies.pass_ended(self.now, worker, pass);
            }
            // Its worker was lost meanwhile.
            Event::PassEnds { .. } => {}
            // They were told when it was decided; this is their turn.
            Event::Retuned => {}
            Event::Changes(worker, change) => {
                let input = FleetInput::Change { worker, change };
                // A worker that is not there cannot go; whoever wrote the scenario was told so.
                let _told = self.fleet.handle(self.now, input, &mut self.seen.before(sink));
            }
            Event::Message(number) => {
                if let Some(message) = self.messages.receive(number) {
                    self.tell(FleetInput::Message(message), sink);
                }
            }
            Event::Cancels(request) => self.tell(FleetInput::Cancel(request), sink),
            Event::Arrives(request) => self.arrive(request, sink)?,
        }
        Ok(())
    }

    fn arrive(&mut self, request: RequestId, sink: &mut impl FnMut(&FactLog)) -> Result<(), RunError> {
        let now = self.now;
        let workload = self.workload.clone();
        let plan = &workload.requests[request.index()];
        if let Some(span) = plan.cancel_after {
            let at = now.checked_add(span).ok_or(RunError::ArrivalPastEndOfTime(request))?;
            self.queue.push(at, Event::Cancels(request));
        }
        let arrival = Arrival {
            request,
            prompt: workload.prompt(plan),
            output_start: plan.output_start,
            output_tokens: plan.output_tokens,
            salt: plan.salt,
            rank: Rank { priority: plan.priority, sent: now, tie: request.0 },
            leg: Leg::Whole,
            entry: Entry::New,
        };
        let draw = if self.machines.len() > 1 { self.draws.word() } else { 0 };
        self.tell(FleetInput::Arrive { arrival, draw }, sink);
        Ok(())
    }

    fn obey(&mut self, command: FleetCommand) -> Result<(), RunError> {
        match command {
            FleetCommand::Worker { worker, command } => return self.obey_worker(worker, command),
            FleetCommand::Send(message) => self.send(message),
            FleetCommand::StartHandoffCopy(copy) => self.copies.start_handoff(self.now, copy),
            FleetCommand::CancelHandoffCopy { handoff } => self.copies.cancel_handoff(self.now, handoff),
            FleetCommand::Forget(worker) => {
                self.copies.forget(self.now, worker);
                let machine = &mut self.machines[worker.index()];
                *machine = Machine { life: machine.life + 1, ..Machine::default() };
            }
        }
        Ok(())
    }

    fn send(&mut self, message: Message) {
        let (number, times) = self.messages.send(self.now, message);
        for at in times.into_iter().flatten() {
            self.queue.push(at, Event::Message(number));
        }
    }

    fn obey_worker(&mut self, worker: WorkerId, command: Command) -> Result<(), RunError> {
        let machine = &mut self.machines[worker.index()];
        match command {
            Command::StartPass(plan) => {
                machine.passes += 1;
                if machine.awaited.is_empty() {
                    return self.start_pass(plan);
                }
                machine.held_passes.push_back(plan);
            }
            Command::StartCopy(plan) => self.copies.start(self.now, &plan),
            Command::CancelCopy(transfer) => {
                self.copies.cancel(self.now, transfer);
                return self.release_pass(worker, transfer);
            }
            Command::AwaitCopy(transfer) => {
                if self.copies.is_under_way(transfer) {
                    machine.awaited.insert(transfer);
                }
            }
            Command::FetchContext(_) | Command::PollAgain => {}
        }
        Ok(())
    }

    /// A copy is over: the passes that waited for it begin, if they wait for nothing else.
    fn release_pass(&mut self, worker: WorkerId, transfer: TransferId) -> Result<(), RunError> {
        self.machines[worker.index()].awaited.remove(&transfer);
        while self.machines[worker.index()].awaited.is_empty()
            && let Some(plan) = self.machines[worker.index()].held_passes.pop_front()
        {
            self.start_pass(plan)?;
        }
        Ok(())
    }

    fn start_pass(&mut self, plan: PassPlan) -> Result<(), RunError> {
        let (worker, pass) = (plan.worker, plan.pass);
        let machine = &mut self.machines[worker.index()];
        // Under asynchronous scheduling a pass is handed over while another runs; it begins when that ends.
        let begins = self.now.max(machine.busy_until);
        let ends = timing::duration(&self.timing, &plan).and_then(|span| begins.checked_add(span));
        let ends = ends.ok_or(RunError::PassPastEndOfTime(pass))?;
        machine.busy_until = ends;
        self.queue.push(ends, Event::PassEnds { worker, life: machine.life, pass });
        Ok(())
    }

    /// Starts what waited for the requests that just ended.
    fn start_followers(&mut self) -> Result<(), RunError> {
        if self.seen.just_ended.is_empty() {
            return Ok(());
        }
        let mut started: Vec<(RequestId, Span)> = Vec::new();
        for request in std::mem::take(&mut self.seen.just_ended) {
            self.seen.ended += 1;
            started.extend(self.source.ended(request));
        }
        started.extend(self.source.fill_loop());
        for (request, delay) in started {
            let at = self.now.checked_add(delay).ok_or(RunError::ArrivalPastEndOfTime(request))?;
            self.queue.push(at, Event::Arrives(request));
        }
        Ok(())
    }
}
