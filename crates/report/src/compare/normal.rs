//! Normalization: what two runs may say differently and mean the same.
//!
//! Numbers that only count are renumbered by first appearance, slots by first use in their tier, times are moved to the first
//! arrival, what the host wrote is dropped. Renumbering keeps a window of the newest numbers, so memory is bounded: a
//! number that comes again after a million others is a new one, in both runs alike.

use std::collections::{BTreeMap, VecDeque};

use tierscope_engine::Tier;
use tierscope_units::Digest;

use super::meaning::{COUNTERS_LEN, Meaning, decided, meaning, tier, worker};
use super::record::{Record, Value};

/// Numbers of one kind that are remembered: more than there are transfers under way, or slots in use.
const REMEMBERED_MAX: usize = 1 << 20;

/// Tiers of workers whose slots are told apart; past this many they share their numbers.
const PLACES_MAX: usize = 1 << 16;

/// Puts the records of one run into the common form, in order.
#[derive(Debug)]
pub(super) struct Normalizer {
    origin_ns: i128,
    counters: [Renumbering; COUNTERS_LEN],
    places: BTreeMap<(i128, usize), Renumbering>,
}

impl Normalizer {
    /// For a run whose first request arrived at `origin_ns` of its clock.
    pub(super) fn new(origin_ns: i128) -> Self {
        Self { origin_ns, counters: Default::default(), places: BTreeMap::new() }
    }

    /// Puts a record into the common form.
    pub(super) fn normalize(&mut self, record: &mut Record<'_>) {
        let (worker, tier) = (worker(record), tier(record));
        record.at_ns -= self.origin_ns;
        record.fields.retain(|(key, _)| meaning(key) != Meaning::Outside);
        for (key, value) in &mut record.fields {
            match (meaning(key), value) {
                (Meaning::Counter(counter), Value::Number(number)) => {
                    *number = self.counters[counter].number((worker, *number)).into();
                }
                // The end of time is no instant.
                (Meaning::Instant, Value::Number(at)) if *at < i128::from(u64::MAX) => *at -= self.origin_ns,
                (_, Value::Blocks(blocks)) if !blocks.is_empty() => {
                    let slots = self.slots(worker, tier);
                    blocks.iter_mut().for_each(|block| block.slot = slots.number((0, block.slot.into())));
                }
                _ => {}
            }
        }
    }

    fn slots(&mut self, worker: i128, tier: &str) -> &mut Renumbering {
        // Hostile logs name workers and tiers without end.
        let known = self.places.len() < PLACES_MAX || self.places.contains_key(&(worker, tier_number(tier)));
        let place = if known { (worker, tier_number(tier)) } else { (0, 0) };
        self.places.entry(place).or_default()
    }
}

/// A tier as a number: its place among the known ones, or 0.
fn tier_number(tier: &str) -> usize {
    Tier::ALL.iter().position(|known| known.name() == tier).map_or(0, |place| place + 1)
}

/// Numbers by first appearance.
#[derive(Debug, Default)]
struct Renumbering {
    known: BTreeMap<(i128, i128), u64>,
    order: VecDeque<(i128, i128)>,
    next: u64,
}

impl Renumbering {
    fn number(&mut self, name: (i128, i128)) -> u64 {
        if let Some(number) = self.known.get(&name) {
            return *number;
        }
        if self.order.len() == REMEMBERED_MAX {
            let oldest = self.order.pop_front();
            oldest.map(|oldest| self.known.remove(&oldest));
        }
        let number = self.next;
        self.next += 1;
        self.order.push_back(name);
        self.known.insert(name, number);
        number
    }
}

/// Hashes of records, made in one buffer that is used again.
#[derive(Debug, Default)]
pub(super) struct Hasher {
    bytes: Vec<u8>,
}

impl Hasher {
    /// Of all that a normalized record says, its time included.
    pub(super) fn whole(&mut self, record: &Record<'_>) -> u64 {
        self.start(record.kind);
        self.number(record.at_ns);
        for (key, value) in &record.fields {
            self.word(key);
            self.value(value, true);
        }
        self.finish()
    }

    /// Of what a normalized record means wherever and whenever it is said: no times, no counters, no slots, and of a decision
    /// what was decided.
    pub(super) fn content(&mut self, record: &Record<'_>) -> u64 {
        self.start(record.kind);
        let decided = decided(record.kind);
        let plain =
            |key: &str| meaning(key) == Meaning::Plain && decided.is_none_or(|keys| keys.contains(&key));
        for (key, value) in record.fields.iter().filter(|(key, _)| plain(key)) {
            self.word(key);
            self.value(value, false);
        }
        self.finish()
    }

    /// Of a word and numbers.
    pub(super) fn of(&mut self, word: &str, numbers: &[i128]) -> u64 {
        self.start(word);
        numbers.iter().for_each(|number| self.number(*number));
        self.finish()
    }

    fn start(&mut self, word: &str) {
        self.bytes.clear();
        self.word(word);
    }

    fn finish(&self) -> u64 {
        Digest::of(&self.bytes).0 as u64
    }

    fn number(&mut self, number: i128) {
        self.bytes.extend(number.to_le_bytes());
    }

    /// With its length, so that no two sequences of words have the same bytes.
    fn word(&mut self, word: &str) {
        self.bytes.extend((word.len() as u64).to_le_bytes());
        self.bytes.extend(word.as_bytes());
    }

    fn value(&mut self, value: &Value<'_>, slots: bool) {
        match value {
            Value::Number(number) => {
                self.bytes.push(0);
                self.number(*number);
            }
            Value::Real(real) => {
                self.bytes.push(1);
                self.bytes.extend(real.to_bits().to_le_bytes());
            }
            Value::Flag(flag) => self.bytes.extend([2, u8::from(*flag)]),
            Value::Word(word) => {
                self.bytes.push(3);
                self.word(word);
            }
            Value::Nothing => self.bytes.push(4),
            Value::Blocks(blocks) => {
                self.bytes.push(5);
                self.number(blocks.len() as i128);
                for block in blocks {
                    self.bytes.extend(if slots { block.slot } else { 0 }.to_le_bytes());
                    self.bytes.extend(block.hash.to_le_bytes());
                }
            }
            Value::List(items) => {
                self.bytes.push(6);
                self.number(items.len() as i128);
                items.iter().for_each(|item| self.value(item, slots));
            }
        }
    }
}
