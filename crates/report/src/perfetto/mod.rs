//! A run on one axis of time, as Perfetto and Chrome's tracing read it: JSON with `traceEvents`.
//!
//! - Process "requests": each request as an asynchronous span, within it what it was in (waiting, prefill, decode, …).
//! - A process for each worker: its passes, a track for each copy that a lane has under way at once, and the counters
//!   of its tiers and queues.
//! - Where there are several workers, a process for what belongs to none alone.
//!
//! A sink over the fact log: what is written does not depend on how the log was cut, and what is kept is bounded by
//! the requests, passes and copies under way. Begin and end are balanced on each track, and times never go back.

mod events;
mod lives;
#[cfg(test)]
mod tests;
mod tracks;

use tierscope_engine::{CopyEnd, Fact, FactLog, HandoffFact, Lane, PassStart, RouteFact, Tier, WorkerState};
use tierscope_units::{Idx, PassId, SimTime, TransferId, WorkerId};

use events::{Events, Process};
use lives::{Lives, Phase};
use tracks::Tracks;

/// The trace under way.
#[derive(Clone, Debug)]
pub struct Perfetto {
    workers: usize,
    lives: Lives,
    passes: Tracks<PassId>,
    copies: Tracks<TransferId>,
    /// By process and tier below G1: blocks that are matchable there.
    resident: Vec<[i64; Tier::COUNT]>,
    /// By process: what the counters said last.
    counted: Vec<Option<[u32; 6]>>,
}

impl Perfetto {
    /// The trace of a run with so many workers, and how it begins.
    pub fn new(title: &str, workers: usize, out: &mut String) -> Self {
        let workers = workers.max(1);
        Events::begin(out, title, workers);
        Self {
            workers,
            lives: Lives::default(),
            passes: Tracks::default(),
            copies: Tracks::default(),
            resident: vec![[0; Tier::COUNT]; workers + 1],
            counted: vec![None; workers + 1],
        }
    }

    /// Writes what a log says.
    pub fn take(&mut self, log: &FactLog, out: &mut String) {
        for (at, fact) in log.iter() {
            self.take_one(at, fact, log, out);
        }
    }

    /// Writes what one fact says; whose it is, the log knows.
    fn take_one(&mut self, at: SimTime, fact: &Fact, log: &FactLog, out: &mut String) {
        let process = self.process(log.worker());
        let events = &mut Events { out, at };
        match fact {
            Fact::PassStarted(start) => self.pass_started(start, events),
            Fact::PassEnded { worker, pass } => self.pass_ended(self.process(Some(*worker)), *pass, events),
            Fact::CopyStarted { .. } | Fact::CopyRetried { .. } | Fact::CopyEnded { .. } => {
                self.copy(process, fact, events);
            }
            Fact::TierStored { tier, blocks } => self.stored(process, *tier, i64::from(blocks.len()), events),
            Fact::TierRemoved { tier, blocks } => {
                self.stored(process, *tier, -i64::from(blocks.len()), events)
            }
            Fact::Worker { worker, state } => self.worker(*worker, *state, events),
            fact => self.life(fact, events),
        }
    }

    /// Ends all that is still open at the run's last instant, and the trace.
    pub fn finish(mut self, end: SimTime, out: &mut String) {
        let mut events = Events { out, at: end };
        for (process, track) in self.passes.drain(None).into_iter().chain(self.copies.drain(None)) {
            events.end(process, track, "");
        }
        self.lives.end_all(&mut events);
        Events::finish(out);
    }

    /// Where a worker's facts go; those that belong to none alone have a process behind the workers'.
    fn process(&self, worker: Option<WorkerId>) -> Process {
        match worker {
            Some(worker) => Process(worker.index().min(self.workers)),
            None if self.workers == 1 => Process(0),
            None => Process(self.workers),
        }
    }

    fn pass_started(&mut self, start: &PassStart, events: &mut Events<'_>) {
        let process = self.process(Some(start.worker));
        let name = match (start.prefill_rows, start.decode_rows) {
            (0, _) => "decode",
            (_, 0) => "prefill",
            _ => "prefill and decode",
        };
        let opened = self.passes.open(process, 0, start.pass, "passes");
        events.name_track(&opened);
        let args = format!(
            r#""pass":{},"prefill_rows":{},"prefill_tokens":{},"decode_rows":{},"decode_tokens":{}"#,
            start.pass.0, start.prefill_rows, start.prefill_tokens, start.decode_rows, start.decode_tokens
        );
        events.begin_span(process, opened.track, name, &args);
        let running = start.prefill_rows + start.decode_rows;
        let g1 = start.g1;
        let counts = [g1.active, g1.cached, g1.free, g1.source_hold, running, start.waiting];
        if self.counted[process.0].replace(counts) != Some(counts) {
            let [active, cached, free, held, running, waiting] = counts;
            let blocks = format!(r#""active":{active},"cached":{cached},"source hold":{held},"free":{free}"#);
            events.counter(process, "G1 blocks", &blocks);
            events.counter(process, "requests", &format!(r#""running":{running},"waiting":{waiting}"#));
        }
    }

    fn pass_ended(&mut self, process: Process, pass: PassId, events: &mut Events<'_>) {
        if let Some(track) = self.passes.close(process, 0, pass) {
            events.end(process, track, "");
        }
    }

    fn copy(&mut self, process: Process, fact: &Fact, events: &mut Events<'_>) {
        match *fact {
            Fact::CopyStarted { transfer, lane, blocks } => {
                self.stop_copy(process, lane, transfer, "started again", events);
                let opened = self.copies.open(process, 1 + lane.index(), transfer, lane.name());
                events.name_track(&opened);
                let args = format!(r#""transfer":{},"blocks":{}"#, transfer.0, blocks.len());
                events.begin_span(process, opened.track, copy_name(lane), &args);
            }
            Fact::CopyRetried { transfer, failure, .. } => {
                let lane = Lane::ALL
                    .into_iter()
                    .find(|lane| self.copies.is_open(process, 1 + lane.index(), transfer));
                if let Some(lane) = lane {
                    self.stop_copy(process, lane, transfer, failure.name(), events);
                }
            }
            Fact::CopyEnded { transfer, lane, end, .. } => {
                let how = match end {
                    CopyEnd::Completed => "completed",
                    CopyEnd::Failed(failure) => failure.name(),
                    CopyEnd::Cancelled => "cancelled",
                };
                self.stop_copy(process, lane, transfer, how, events);
            }
            _ => {}
        }
    }

    fn stop_copy(
        &mut self,
        process: Process,
        lane: Lane,
        transfer: TransferId,
        how: &str,
        events: &mut Events<'_>,
    ) {
        if let Some(track) = self.copies.close(process, 1 + lane.index(), transfer) {
            events.end(process, track, &format!(r#""end":"{how}""#));
        }
    }

    fn stored(&mut self, process: Process, tier: Tier, blocks: i64, events: &mut Events<'_>) {
        let resident = &mut self.resident[process.0][tier.index()];
        *resident += blocks;
        events.counter(process, &format!("{} blocks", upper(tier)), &format!(r#""resident":{resident}"#));
    }

    /// A worker comes or goes; who goes leaves nothing open.
    fn worker(&mut self, worker: WorkerId, state: WorkerState, events: &mut Events<'_>) {
        let process = self.process(Some(worker));
        if matches!(state, WorkerState::Lost | WorkerState::Absent) {
            let left = self.passes.drain(Some(process)).into_iter().chain(self.copies.drain(Some(process)));
            for (process, track) in left {
                events.end(process, track, r#""end":"worker gone""#);
            }
        }
        events.instant(process, state.name());
    }

    /// A fact about one request's life.
    fn life(&mut self, fact: &Fact, events: &mut Events<'_>) {
        let lives = &mut self.lives;
        match *fact {
            Fact::Arrived { request, prompt_tokens, output_tokens } => {
                lives.arrive(
                    request,
                    &format!(r#""prompt_tokens":{prompt_tokens},"output_tokens":{output_tokens}"#),
                    events,
                );
            }
            Fact::Rejected { request, reason } => {
                lives.mark(
                    request,
                    "rejected",
                    &format!(r#""reason":"{}""#, crate::rejection::name(reason)),
                    events,
                );
                lives.end(request, "rejected", events);
            }
            Fact::Route(RouteFact::Chosen { request, worker, .. }) => {
                lives.mark(request, "routed", &format!(r#""worker":{}"#, worker.0), events);
            }
            Fact::WaitsForCopy { request, transfer, .. }
            | Fact::BlockedOnOffload { request, transfer, .. } => {
                lives.enter(request, Phase::Blocked, &format!(r#""transfer":{}"#, transfer.0), events);
            }
            Fact::Unblocked { request, .. } => lives.unblocked(request, events),
            Fact::OnboardStarted { request, .. } => lives.enter(request, Phase::Loading, "", events),
            Fact::OnboardEnded { request, .. } => lives.enter(request, Phase::Waiting, "", events),
            Fact::Admitted { request, cached_tokens, .. } => {
                lives.admitted(request, &format!(r#""cached_tokens":{cached_tokens}"#), events);
            }
            Fact::Preempted { request, lost_tokens, .. } => {
                lives.enter(request, Phase::Preempted, &format!(r#""lost_tokens":{lost_tokens}"#), events);
            }
            Fact::FirstToken { request } => lives.first_token(request, events),
            Fact::SourceHeld { request, .. } => lives.enter(request, Phase::Handoff, "", events),
            Fact::Joined { request, .. } => lives.joined(request, events),
            Fact::Withdrawn { request, .. } => lives.enter(request, Phase::Waiting, "", events),
            Fact::Finished { request, .. } => lives.end(request, "completed", events),
            Fact::Cancelled { request, .. } => lives.end(request, "cancelled", events),
            Fact::Handoff(HandoffFact::Reached { request, phase, .. }) => {
                lives.mark(request, phase.name(), "", events);
            }
            _ => {}
        }
    }
}

/// What a copy is called: by where it goes.
fn copy_name(lane: Lane) -> &'static str {
    if lane.is_down() { "offload" } else { "load" }
}

fn upper(tier: Tier) -> &'static str {
    match tier {
        Tier::G1 => "G1",
        Tier::G2 => "G2",
        Tier::G3 => "G3",
        Tier::G4 => "G4",
    }
}
