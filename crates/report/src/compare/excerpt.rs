//! The facts at the places that a comparison found, with those around them, in words: a second reading of both runs.

use std::collections::BTreeMap;

use super::fold::Place;
use super::normal::Normalizer;
use super::record::Record;
use super::{Findings, Side, words};

/// Most facts around a place, on each side of it.
const CONTEXT_MAX: u64 = 1_000;

/// One fact in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number in its run, from 0.
    pub fact: u64,
    /// Nanoseconds since the first arrival.
    pub at_ns: i128,
    /// What happened.
    pub words: String,
}

/// Reads both runs again and keeps what is wanted.
#[derive(Debug)]
pub struct Excerpt {
    sides: [Reading; 2],
    context: u64,
}

#[derive(Debug)]
struct Reading {
    normalizer: Normalizer,
    facts: u64,
    /// First and last number of each stretch, ascending by first.
    wanted: Vec<(u64, u64)>,
    found: BTreeMap<u64, Line>,
}

impl Excerpt {
    /// An excerpt of all places of `findings`, with `context` facts around the first difference and the first other decision.
    /// The origins are those of the comparison.
    pub fn new(findings: &Findings, origins_ns: [i128; 2], context: u64) -> Self {
        let context = context.min(CONTEXT_MAX);
        let around = [findings.stream.first, findings.decisions.first];
        let alone = findings.aspects.iter().map(|(_, verdict)| verdict.first);
        let sides = Side::BOTH.map(|side| {
            let fact = |place: Option<Place>| place.and_then(|place| place.of(side));
            let wide = around.into_iter().filter_map(fact);
            // Where one run has ended, its last facts are shown: they lie before the other's place.
            let other =
                around.into_iter().flatten().filter_map(|place| place.of(side).xor(place.a.or(place.b)));
            let wide = wide.chain(other).map(|at| (at.saturating_sub(context), at.saturating_add(context)));
            let narrow = alone.clone().filter_map(fact).map(|at| (at, at));
            let mut wanted: Vec<(u64, u64)> = wide.chain(narrow).collect();
            wanted.sort_unstable();
            Reading {
                normalizer: Normalizer::new(origins_ns[side as usize]),
                facts: 0,
                wanted,
                found: BTreeMap::new(),
            }
        });
        Self { sides, context }
    }

    /// Whether more facts of a side are wanted.
    pub fn wants(&self, side: Side) -> bool {
        let reading = &self.sides[side as usize];
        reading.wanted.iter().any(|(_, last)| *last >= reading.facts)
    }

    /// Takes the next fact of a side.
    pub fn take(&mut self, side: Side, record: &mut Record<'_>) {
        let reading = &mut self.sides[side as usize];
        reading.normalizer.normalize(record);
        let fact = reading.facts;
        reading.facts += 1;
        if reading.wanted.iter().any(|(first, last)| (*first..=*last).contains(&fact)) {
            let line = Line { fact, at_ns: record.at_ns, words: words::sentence(record) };
            reading.found.insert(fact, line);
        }
    }

    /// A fact in words, where it was wanted and there is one.
    pub fn line(&self, side: Side, fact: Option<u64>) -> Option<&Line> {
        self.sides[side as usize].found.get(&fact?)
    }

    /// The facts before a place: the same in both runs, where the place is the first difference of all.
    pub fn before(&self, side: Side, place: Place) -> impl Iterator<Item = &Line> {
        let at = place.of(side).or(place.a).or(place.b).unwrap_or(0);
        self.sides[side as usize].found.range(at.saturating_sub(self.context)..at).map(|(_, line)| line)
    }

    /// The facts from a place on, of the same stretch of time in both runs: until one of them has told all its context.
    pub fn from(&self, side: Side, place: Place) -> impl Iterator<Item = &Line> {
        let end =
            Side::BOTH.into_iter().filter_map(|side| self.stretch(side, place).last()).map(|line| line.at_ns);
        let end = end.min().unwrap_or(i128::MAX);
        let own = place.of(side);
        self.stretch(side, place).filter(move |line| line.at_ns <= end || Some(line.fact) == own)
    }

    fn stretch(&self, side: Side, place: Place) -> impl Iterator<Item = &Line> {
        let at = place.of(side).unwrap_or(u64::MAX);
        let last = at.saturating_add(self.context.max(1) - 1);
        self.sides[side as usize].found.range(at..=last).map(|(_, line)| line)
    }
}
