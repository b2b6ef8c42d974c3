//! The loop: apply what happens at an instant until nothing is left to do at it, then jump to the next
//! (rule R1).

use std::sync::Arc;

use tierscope_engine::{Arrival, Command, Engine, Fact, FactLog, Input, OffloadPlan, Rank};
use tierscope_scenario::{BelowScript, Scenario, Timing, Workload};
use tierscope_units::{Idx, RequestId, SimTime, Span};

use crate::acceptance::Acceptance;
use crate::error::RunError;
use crate::progress::Circles;
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
    below: Option<BelowScript>,
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
            below: scenario.below,
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
        self.circles.are_endless(self.engine.unfinished())
    }

    /// When the next instant is.
    pub fn next_time(&self) -> Option<SimTime> {
        match (self.queue.next_time(), self.source.next_time()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Requests that are scheduled to arrive, with the time of each, in order; not those that follow others.
    pub fn arrivals_to_come(&self) -> impl Iterator<Item = (SimTime, RequestId)> {
        self.queue.iter().filter_map(|(at, event)| match event {
            Event::Arrives(request) => Some((at, request)),
            Event::PassEnds(_) | Event::TransferEnds { .. } | Event::Cancels(_) => None,
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
            return Ok(match self.progress() {
                Progress { ended, total, .. } if ended == total => Step::Finished,
                _ => Step::DeadEnd,
            });
        };
        self.now = now;
        loop {
            while let Some(event) = self.pop_event() {
                self.apply(event)?;
                self.show_facts(&mut sink);
                self.start_followers()?;
            }
            while let Some(command) = self.engine.poll_command(now) {
                self.obey(command)?;
            }
            self.show_facts(&mut sink);
            if self.next_time() != Some(now) || self.is_going_in_circles() {
                return Ok(Step::Advanced);
            }
        }
    }

    /// The next event at this instant: passes end first, then requests arrive, then cancellations are heard.
    fn pop_event(&mut self) -> Option<Event> {
        if let Some(at) = self.source.next_time()
            && at <= self.now
            && !self.queue.precedes_arrivals_at(self.now)
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
            Event::TransferEnds { transfer, succeeded } => Input::TransferEnded { transfer, succeeded },
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
        let plan = match command {
            Command::StartPass(plan) => plan,
            Command::StartOffload(plan) => return self.start_offload(plan),
            Command::PollAgain => return Ok(()),
        };
        // Under asynchronous scheduling a pass is handed over while another runs; it begins when that ends.
        let begins = self.now.max(self.busy_until);
        let ends = timing::duration(&self.timing, &plan).and_then(|span| begins.checked_add(span));
        let ends = ends.ok_or(RunError::PassPastEndOfTime(plan.pass))?;
        self.busy_until = ends;
        self.queue.push(ends, Event::PassEnds(plan.pass));
        Ok(())
    }

    fn start_offload(&mut self, plan: OffloadPlan) -> Result<(), RunError> {
        let below = self.below.expect("copies go to a tier below");
        let ends = self.now.checked_add(below.copy).ok_or(RunError::TransferPastEndOfTime(plan.transfer))?;
        let fails = below.fail_every > 0 && (plan.transfer.0 + 1).is_multiple_of(u64::from(below.fail_every));
        self.queue.push(ends, Event::TransferEnds { transfer: plan.transfer, succeeded: !fails });
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
