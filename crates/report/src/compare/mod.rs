//! Two runs compared by what they mean.
//!
//! Facts come as [`Record`]s, from a log ([`read_line`]) or from a run under way (its facts, written as lines and read
//! again: there is one program for both). A [`Comparison`] takes them from both sides in turn, puts them into a common
//! form, and compares the whole stream, the decisions in it, and each [`Aspect`]. What it finds are places; the facts there
//! are read in a second pass by an [`Excerpt`].
//!
//! Invariants:
//! - memory is bounded, whatever the length of the runs: hashes of what one side is ahead, at most a million a stream;
//! - the verdict does not depend on the order in which the two sides are read.
//!
//! Deliberately absent: judgement which of the two is better, and metrics (see [`crate::paired`]).

mod aspect;
mod excerpt;
mod fold;
mod lanes;
mod life;
mod meaning;
mod normal;
mod read;
mod record;
mod table;
mod words;

use std::collections::BTreeMap;

pub use aspect::Aspect;
pub use excerpt::{Excerpt, Line};
pub use fold::{Place, Verdict};
pub use lanes::LaneTotals;
pub use life::fact_of_life;
pub use read::{LINE_BYTES_MAX, LineProblem, read_line};
pub use record::{Block, Record, Value};
pub use table::{decision, render};
pub use words::sentence;

use aspect::Aspects;
use fold::Ordered;
use normal::{Hasher, Normalizer};

/// Facts before the first arrival that are looked through for it; past them, time begins with the first fact.
pub const ORIGIN_FACTS_MAX: u64 = 4_096;

/// One of the two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Side {
    /// The first.
    #[default]
    A = 0,
    /// The second.
    B = 1,
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }
}

/// Whether a record says where a run's time begins.
pub fn is_origin(record: &Record<'_>) -> bool {
    record.kind == "arrived"
}

/// A comparison under way.
#[derive(Debug)]
pub struct Comparison {
    sides: [Reading; 2],
    stream: Ordered,
    decisions: Ordered,
    aspects: Aspects,
    hasher: Hasher,
}

/// How far one side has been read.
#[derive(Debug)]
struct Reading {
    normalizer: Normalizer,
    facts: u64,
    at_ns: i128,
    ended: bool,
}

impl Comparison {
    /// A comparison of nothing yet; the first requests arrive at these times of the runs' clocks.
    pub fn new(origins_ns: [i128; 2]) -> Self {
        let sides = origins_ns.map(|origin| Reading {
            normalizer: Normalizer::new(origin),
            facts: 0,
            at_ns: i128::MIN,
            ended: false,
        });
        Self {
            sides,
            stream: Ordered::default(),
            decisions: Ordered::default(),
            aspects: Aspects::default(),
            hasher: Hasher::default(),
        }
    }

    /// The side that is to be read next: the one that is behind in time. `None` when both have ended.
    pub fn next(&self) -> Option<Side> {
        let open = Side::BOTH.into_iter().filter(|side| !self.sides[*side as usize].ended);
        open.min_by_key(|side| {
            let reading = &self.sides[*side as usize];
            (reading.at_ns, reading.facts)
        })
    }

    /// Takes the next fact of a side, and puts it into the common form.
    pub fn take(&mut self, side: Side, record: &mut Record<'_>) {
        let reading = &mut self.sides[side as usize];
        reading.normalizer.normalize(record);
        reading.at_ns = record.at_ns;
        let fact = reading.facts;
        reading.facts += 1;
        self.stream.take(side, self.hasher.whole(record), fact);
        if meaning::is_decision(record.kind) {
            self.decisions.take(side, self.hasher.content(record), fact);
        }
        self.aspects.take(side, record, fact);
    }

    /// Says that a side has no more facts.
    pub fn end(&mut self, side: Side) {
        self.sides[side as usize].ended = true;
    }

    /// What was found.
    pub fn finish(&self) -> Findings {
        Findings {
            stream: self.stream.finish(),
            decisions: self.decisions.finish(),
            aspects: Aspect::ALL.map(|aspect| (aspect, self.aspects.verdict(aspect))),
            lanes: self.aspects.lanes(),
        }
    }
}

/// What a comparison found.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Of all facts in the common form, their times included.
    pub stream: Verdict,
    /// Of the decisions among them, without times.
    pub decisions: Verdict,
    /// Of each aspect.
    pub aspects: [(Aspect, Verdict); Aspect::ALL.len()],
    /// What moved along each lane, in A and in B.
    pub lanes: BTreeMap<String, [LaneTotals; 2]>,
}

impl Findings {
    /// Whether both runs mean the same in everything.
    pub fn equal(&self) -> bool {
        self.stream.equal
    }
}
