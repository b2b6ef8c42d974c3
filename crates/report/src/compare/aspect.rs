//! The aspects in which two runs are compared, and what each fact says to each of them.
//!
//! All but one say nothing of when: a run that does the same later differs in "times" and in "transfers" (how long
//! they took), and in nothing else.

use std::collections::BTreeMap;

use super::Side;
use super::fold::{Heap, Ordered, Verdict};
use super::lanes::{LaneTotals, Lanes};
use super::meaning::{self, PASS_FIELDS, worker};
use super::normal::Hasher;
use super::record::Record;

/// Streams of their own within an aspect (workers, lanes, tiers); past this many they share one.
const STREAMS_MAX: usize = 1 << 16;

/// One way to look at a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// Which requests came, with how many tokens: the same work?
    Arrivals,
    /// Which requests finished, were cancelled or refused, with how many tokens.
    Outputs,
    /// In which order requests finished.
    CompletionOrder,
    /// When tokens became visible and requests ended, from the first arrival on.
    Times,
    /// Where requests were sent, in order.
    Routes,
    /// Who was admitted, with how many cached tokens, and who was preempted, in order.
    Schedule,
    /// Rows and tokens of each pass, and the tokens of each prefill row, in order.
    Batches,
    /// Which content was acquired, stored and removed, in each tier, in any order.
    Blocks,
    /// What became matchable and ceased to be, per tier, in order.
    Events,
    /// The batches of each lane in the order of their ends: how many blocks, how they ended, how long they took.
    Transfers,
    /// The steps of handoffs between workers, in order.
    Handoffs,
    /// The slots that ends of copies and leases set free, per lane, in order.
    Releases,
    /// Facts of other kinds: waits, refusals, loads, and whatever later versions add.
    Others,
}

impl Aspect {
    /// All, in the order in which they are told.
    pub const ALL: [Self; 13] = [
        Self::Arrivals,
        Self::Outputs,
        Self::CompletionOrder,
        Self::Times,
        Self::Routes,
        Self::Schedule,
        Self::Batches,
        Self::Blocks,
        Self::Events,
        Self::Transfers,
        Self::Handoffs,
        Self::Releases,
        Self::Others,
    ];

    /// The key for it in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Arrivals => "arrivals",
            Self::Outputs => "outputs",
            Self::CompletionOrder => "completion_order",
            Self::Times => "times",
            Self::Routes => "routes",
            Self::Schedule => "schedule",
            Self::Batches => "batches",
            Self::Blocks => "blocks",
            Self::Events => "events",
            Self::Transfers => "transfers",
            Self::Handoffs => "handoffs",
            Self::Releases => "releases",
            Self::Others => "others",
        }
    }

    /// The words for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrivals => "requests that came",
            Self::Outputs => "outputs of requests",
            Self::CompletionOrder => "completion order",
            Self::Times => "times of tokens and ends",
            Self::Routes => "router decisions",
            Self::Schedule => "admissions, preemptions",
            Self::Batches => "batches of passes",
            Self::Blocks => "blocks by content",
            Self::Events => "events in order",
            Self::Transfers => "transfers per lane",
            Self::Handoffs => "handoffs between workers",
            Self::Releases => "slots released",
            Self::Others => "other facts",
        }
    }
}

/// The folds of all aspects.
#[derive(Debug, Default)]
pub(super) struct Aspects {
    ordered: BTreeMap<(Aspect, u64), Ordered>,
    heaps: BTreeMap<Aspect, Heap>,
    lanes: [Lanes; 2],
    hasher: Hasher,
}

/// One fact on its way into the folds.
#[derive(Clone, Copy)]
struct Said {
    side: Side,
    fact: u64,
}

impl Aspects {
    /// Takes a normalized record, the fact `fact` of its side.
    pub(super) fn take(&mut self, side: Side, record: &Record<'_>, fact: u64) {
        let said = Said { side, fact };
        if let Some(aspect) = meaning::aspect(record.kind) {
            self.whole(said, aspect, record);
        }
        let request = record.number("request").unwrap_or(-1);
        match record.kind {
            "finished" | "cancelled" | "rejected" => {
                if record.kind == "finished" {
                    let hash = self.hasher.of("finished", &[request]);
                    self.in_order(said, Aspect::CompletionOrder, 0, hash);
                }
                self.time(said, record, request);
            }
            "first_token" | "second_token" => self.time(said, record, request),
            "pass_started" => {
                let numbers = PASS_FIELDS.map(|key| record.number(key).unwrap_or(-1));
                let hash = self.hasher.of(record.kind, &numbers);
                let stream = self.hasher.of(record.kind, &[worker(record)]);
                self.in_order(said, Aspect::Batches, stream, hash);
            }
            "acquired" | "claimed" => {
                for block in record.blocks() {
                    let hash = self.hasher.of("acquired", &[block.hash.into()]);
                    self.in_any_order(said, Aspect::Blocks, hash);
                }
            }
            "stored" | "claim_activated" | "tier_stored" => self.event(said, record, "stored"),
            "removed" | "tier_removed" => self.event(said, record, "removed"),
            "copy_queued" | "copy_started" | "copy_retried" => self.lanes[side as usize].take(record),
            "copy_ended" => self.transfer(said, record),
            _ => {}
        }
    }

    /// A fact that belongs to an aspect with all its content.
    fn whole(&mut self, said: Said, aspect: Aspect, record: &Record<'_>) {
        let hash = self.hasher.content(record);
        if matches!(aspect, Aspect::Arrivals | Aspect::Outputs) {
            return self.in_any_order(said, aspect, hash);
        }
        // Facts of other kinds each have a stream, so that the first difference of each is seen.
        let stream = match aspect {
            Aspect::Others | Aspect::Batches | Aspect::Releases | Aspect::Handoffs => record.kind,
            _ => "",
        };
        let stream = self.hasher.of(stream, &[worker(record)]);
        self.in_order(said, aspect, stream, hash);
    }

    fn time(&mut self, said: Said, record: &Record<'_>, request: i128) {
        let hash = self.hasher.of(record.kind, &[request, record.at_ns]);
        self.in_any_order(said, Aspect::Times, hash);
    }

    /// Blocks that became matchable, or ceased to be.
    fn event(&mut self, said: Said, record: &Record<'_>, word: &str) {
        let tier = meaning::tier(record);
        let stream = self.hasher.of(tier, &[worker(record)]);
        let place = stream.into();
        for block in record.blocks() {
            let hash = self.hasher.of(word, &[block.hash.into(), place]);
            self.in_any_order(said, Aspect::Blocks, hash);
            self.in_order(said, Aspect::Events, stream, hash);
        }
    }

    fn transfer(&mut self, said: Said, record: &Record<'_>) {
        let ended = self.lanes[said.side as usize].end(record);
        let stream = self.hasher.of(record.word("lane").unwrap_or(""), &[worker(record)]);
        let end = record.word("failure").or(record.word("end")).unwrap_or("");
        let released = record.number("released_blocks").unwrap_or(0);
        let hash = self.hasher.of(end, &[ended.blocks, ended.retries, ended.waited_ns, ended.took_ns]);
        self.in_order(said, Aspect::Transfers, stream, hash);
        let hash = self.hasher.of("released", &[released]);
        self.in_order(said, Aspect::Releases, stream, hash);
    }

    fn in_order(&mut self, said: Said, aspect: Aspect, stream: u64, hash: u64) {
        let room = self.ordered.len() < STREAMS_MAX || self.ordered.contains_key(&(aspect, stream));
        let stream = if room { stream } else { 0 };
        self.ordered.entry((aspect, stream)).or_default().take(said.side, hash, said.fact);
    }

    fn in_any_order(&mut self, said: Said, aspect: Aspect, hash: u64) {
        self.heaps.entry(aspect).or_default().take(said.side, hash, said.fact);
    }

    /// The verdict of an aspect, over all of its streams.
    pub(super) fn verdict(&self, aspect: Aspect) -> Verdict {
        let streams = self.ordered.range((aspect, 0)..=(aspect, u64::MAX)).map(|(_, fold)| fold.finish());
        let all = streams.chain(self.heaps.get(&aspect).map(Heap::finish));
        let none = Verdict { equal: true, ..Verdict::default() };
        all.fold(none, |sum, one| Verdict {
            equal: sum.equal && one.equal,
            entries: [sum.entries[0] + one.entries[0], sum.entries[1] + one.entries[1]],
            first: [sum.first, one.first].into_iter().flatten().min_by_key(|place| place.rank()),
        })
    }

    /// What moved along each lane, in A and in B.
    pub(super) fn lanes(&self) -> BTreeMap<String, [LaneTotals; 2]> {
        let mut lanes: BTreeMap<String, [LaneTotals; 2]> = BTreeMap::new();
        for (side, totals) in self.lanes.iter().enumerate() {
            for (lane, totals) in totals.totals() {
                lanes.entry(lane.clone()).or_default()[side] = *totals;
            }
        }
        lanes
    }
}
