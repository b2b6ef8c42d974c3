//! The index that the timeline is drawn from: passes, the phases of requests, marks, and the content of blocks; flat and
//! bounded, built from the facts as the run goes on. Copies have an index of their own ([`Copies`](crate::copies::Copies)).

mod contents;
mod gather;
mod lanes;
mod marks;
mod passes;
mod phases;

use tierscope_engine::{Fact, FactLog};
use tierscope_units::{Idx as _, SimTime, WorkerId};

pub use contents::{Content, Contents};
pub use gather::{Sources, gather};
pub use marks::Marks;
pub use passes::Passes;
pub use phases::Phases;

use crate::protocol::{AUX_MAX, Span, SpanKind};

/// No such time yet.
pub const NEVER: u64 = u64::MAX;

/// A span as it is kept: 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Nanoseconds.
    pub start: u64,
    /// Nanoseconds; [`NEVER`] while it goes on.
    pub end: u64,
    /// What it is.
    pub kind: SpanKind,
    aux: [u8; 3],
    /// See [`Span::number`].
    pub number: u32,
}

impl Kept {
    /// A span that is open until its end is known.
    pub fn new(kind: SpanKind, start: u64, aux: u32, number: u32) -> Self {
        let [a, b, c, _] = aux.min(AUX_MAX).to_le_bytes();
        Self { start, end: start, kind, aux: [a, b, c], number }
    }

    /// See [`Span::aux`].
    pub fn aux(self) -> u32 {
        let [a, b, c] = self.aux;
        u32::from_le_bytes([a, b, c, 0])
    }

    /// As the page gets it, of a run that is over by then.
    pub fn span(self, run_end: u64) -> Span {
        Span {
            start_ns: self.start as f64,
            end_ns: self.end.min(run_end) as f64,
            kind: self.kind,
            open: self.end == NEVER,
            aux: self.aux(),
            number: self.number,
        }
    }
}

/// What the timeline knows of a run.
#[derive(Debug)]
pub struct Index {
    /// By worker.
    pub passes: Vec<Passes>,
    /// Of all requests.
    pub phases: Phases,
    /// By worker.
    pub marks: Vec<Marks>,
    /// Of all workers.
    pub contents: Contents,
}

/// Most passes kept of all workers together: 24 MB.
const PASSES_MAX: usize = 1_000_000;
/// Most marks kept of all workers together: less than 5 MB.
const MARKS_MAX: usize = 200_000;

impl Index {
    /// Of a run of so many workers.
    pub fn new(workers: usize) -> Self {
        let workers = workers.max(1);
        Self {
            passes: vec![Passes::of_most(PASSES_MAX / workers); workers],
            phases: Phases::new(workers),
            marks: vec![Marks::of_most(MARKS_MAX / workers); workers],
            contents: Contents::default(),
        }
    }

    /// Enters what the facts say.
    pub fn take(&mut self, log: &FactLog) {
        let worker = log.worker().unwrap_or_default();
        for (at, fact) in log.iter() {
            self.take_fact(at, worker, fact);
            self.contents.take(at, fact, log);
        }
    }

    fn take_fact(&mut self, at: SimTime, worker: WorkerId, fact: &Fact) {
        match *fact {
            Fact::PassStarted(start) => {
                if let Some(passes) = self.passes.get_mut(worker.index()) {
                    passes.started(at.as_ns(), &start);
                }
            }
            Fact::PassEnded { .. } => {
                if let Some(passes) = self.passes.get_mut(worker.index()) {
                    passes.ended(at.as_ns());
                }
            }
            _ => {}
        }
        self.phases.take(at.as_ns(), worker, fact);
        // What is said of a worker is said by none.
        let whose = if let Fact::Worker { worker, .. } = *fact { worker } else { worker };
        if let Some(marks) = self.marks.get_mut(whose.index()) {
            marks.take(at.as_ns(), fact);
        }
    }
}

#[cfg(test)]
mod tests;
