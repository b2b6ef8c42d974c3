//! The loop: apply what happens at an instant until nothing is left to do at it, then jump to the next
//! (rule R1).

use std::sync::Arc;

use std::collections::{BTreeSet, VecDeque};

use tierscope_engine::{Arrival, Command, Engine, Fact, FactLog, Input, PassPlan, Rank};
use tierscope_scenario::{Scenario, Timing, Workload};
use tierscope_units::{Idx, RequestId, SimTime, Span, TransferId};

use crate::acceptance::Acceptance;
use crate::copies::{Copies, LinkUse};
use crate::error::RunError;
use crate::progress::{Circles, Outside};
use crate::queue::{Event, Queue};
use crate::source::Source;
use crate::timing;

/// A run at an instant. Cloning one forks it.
#[derive(Clone)]
pub struct Simulation {
    engine: Engine,
    queue: Queue,
    source: Source,
    workload: Arc<Workload>,
    timing: Arc<Timing>,
    acceptance: Option<Acceptance>,
    copies: Copies,
    /// Copies that have to end before the passes that are held begin, in order.
    awaited: BTreeSet<TransferId>,
    held_passes: VecDeque<PassPlan>,
    now: SimTime,
    /// When the worker is done with the passes that were started.
    busy_until: SimTime,
    circles: Circles,
    ended: u32,
    /// Requests that ended at this instant and whose followers are not started yet.
    just_ended: Vec<RequestId>,
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
        Self {
            engine: Engine::new(scenario.engine.clone()),
            queue: Queue::default(),
            source: Source::new(workload.clone()),
            timing: Arc::new(scenario.timing.clone()),
            workload,
            acceptance: Acceptance::of(scenario),
            copies: Copies::new(scenario),
            awaited: BTreeSet::new(),
            held_passes: VecDeque::new(),
            now: SimTime::ZERO,
            busy_until: SimTime::ZERO,
            circles: Circles::default(),
            ended: 0,
            just_ended: Vec::new(),
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

    /// The instant that was applied last.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// The machine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The workload.
    pub fn workload(&self) -> &Arc<Workload> {
        &self.workload
    }

    /// How far the run is.
    pub fn progress(&self) -> Progress {
        Progress { ended: self.ended, total: self.workload.requests.len() as u32, now: self.now }
    }

    /// Roughly the memory that a copy of this state takes, in bytes.
    pub(crate) fn state_bytes(&self) -> usize {
        self.engine.state_bytes() + size_of::<Self>()
    }

    /// Whether requests preempt each other, or themselves, without anybody's progress (rule R2).
    pub fn is_going_in_circles(&self) -> bool {
        self.circles.are_endless()
    }

    /// Whether something is still to come that does not follow from the machine's own state: requests, cancellations,
    /// the end of a lease, a change of what goes wrong.
    fn may_change(&self) -> bool {
        self.source.next_time().is_some()
            || self.queue.has_news()
            || self.engine.has_leases()
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
            self.engine.next_wake(),
        ];
        // What was due in the past is due now.
        times.into_iter().flatten().min().map(|next| next.max(self.now))
    }

    /// How the links are used: PCIe, disk, object store.
    pub fn links(&self) -> [LinkUse; 3] {
        self.copies.use_of_links()
    }

    /// Requests that are scheduled to arrive, with the time of each, in order; not those that follow others.
    pub fn arrivals_to_come(&self) -> impl Iterator<Item = (SimTime, RequestId)> {
        self.queue.iter().filter_map(|(at, event)| match event {
            Event::Arrives(request) => Some((at, request)),
            Event::PassEnds(_) | Event::Cancels(_) => None,
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
            while self.apply_next()? {
                self.show_facts(&mut sink);
                self.start_followers()?;
            }
            while let Some(command) = self.engine.poll_command(now) {
                self.obey(command)?;
            }
            self.show_facts(&mut sink);
            let outside = Outside { now, may_change: self.may_change() };
            self.circles.look_at(&self.engine, outside);
            if self.next_time() != Some(now) || self.is_going_in_circles() {
                return Ok(Step::Advanced);
            }
        }
    }

    /// Applies the next thing at this instant: passes end first, then copies, then requests arrive, then
    /// cancellations are heard.
    fn apply_next(&mut self) -> Result<bool, RunError> {
        if !self.queue.pass_ends_at(self.now)
            && let Some((transfer, end)) = self.copies.pop_at(self.now)
        {
            self.engine
                .handle(self.now, Input::TransferEnded { transfer, end })
                .expect("the world reports what the engine asked for, once");
            self.release_pass(transfer)?;
            return Ok(true);
        }
        match self.pop_event() {
            Some(event) => self.apply(event).map(|()| true),
            None => Ok(false),
        }
    }

    fn pop_event(&mut self) -> Option<Event> {
        if let Some(at) = self.source.next_time()
            && at <= self.now
            && !self.queue.pass_ends_at(self.now)
        {
            return self.source.pop_at(self.now).map(Event::Arrives);
        }
        self.queue.pop_at(self.now)
    }

    fn apply(&mut self, event: Event) -> Result<(), RunError> {
        let now = self.now;
        let input = match event {
            Event::PassEnds(pass) => {
                let rows = self.engine.rows_of(pass);
                let sampled = self.acceptance.as_mut().map_or(&[][..], |model| model.sample(rows));
                Input::PassEnded { pass, sampled }
            }
            Event::Cancels(request) => Input::Cancel(request),
            Event::Arrives(request) => {
                let plan = &self.workload.requests[request.index()];
                if let Some(span) = plan.cancel_after {
                    let at = now.checked_add(span).ok_or(RunError::ArrivalPastEndOfTime(request))?;
                    self.queue.push(at, Event::Cancels(request));
                }
                Input::Arrive(Arrival {
                    request,
                    prompt: &self.workload.runs[plan.runs.start as usize..plan.runs.end as usize],
                    output_start: plan.output_start,
                    output_tokens: plan.output_tokens,
                    salt: plan.salt,
                    rank: Rank { priority: plan.priority, sent: now, tie: request.0 },
                })
            }
        };
        self.engine.handle(now, input).expect("the world reports what the engine asked for, once");
        Ok(())
    }

    fn obey(&mut self, command: Command) -> Result<(), RunError> {
        match command {
            Command::StartPass(plan) if self.awaited.is_empty() => return self.start_pass(plan),
            Command::StartPass(plan) => self.held_passes.push_back(plan),
            Command::StartCopy(plan) => self.copies.start(self.now, &plan),
            Command::CancelCopy(transfer) => {
                self.copies.cancel(self.now, transfer);
                return self.release_pass(transfer);
            }
            Command::AwaitCopy(transfer) => {
                if self.copies.is_under_way(transfer) {
                    self.awaited.insert(transfer);
                }
            }
            Command::PollAgain => {}
        }
        Ok(())
    }

    /// A copy is over: the passes that waited for it begin, if they wait for nothing else.
    fn release_pass(&mut self, transfer: TransferId) -> Result<(), RunError> {
        self.awaited.remove(&transfer);
        while self.awaited.is_empty()
            && let Some(plan) = self.held_passes.pop_front()
        {
            self.start_pass(plan)?;
        }
        Ok(())
    }

    fn start_pass(&mut self, plan: PassPlan) -> Result<(), RunError> {
        // Under asynchronous scheduling a pass is handed over while another runs; it begins when that ends.
        let begins = self.now.max(self.busy_until);
        let ends = timing::duration(&self.timing, &plan).and_then(|span| begins.checked_add(span));
        let ends = ends.ok_or(RunError::PassPastEndOfTime(plan.pass))?;
        self.busy_until = ends;
        self.queue.push(ends, Event::PassEnds(plan.pass));
        Ok(())
    }

    fn show_facts(&mut self, sink: &mut impl FnMut(&FactLog)) {
        let log = self.engine.facts();
        if log.is_empty() {
            return;
        }
        for (_, fact) in log.iter() {
            self.circles.note(fact);
            if let Fact::Finished { request, .. }
            | Fact::Rejected { request, .. }
            | Fact::Cancelled { request, .. } = fact
            {
                self.just_ended.push(*request);
            }
        }
        sink(log);
        self.engine.clear_facts();
    }

    /// Starts what waited for the requests that just ended.
    fn start_followers(&mut self) -> Result<(), RunError> {
        if self.just_ended.is_empty() {
            return Ok(());
        }
        let mut started: Vec<(RequestId, Span)> = Vec::new();
        for request in std::mem::take(&mut self.just_ended) {
            self.ended += 1;
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
