//! Each policy against its definition, stated over all cached slots at once, on random histories.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tierscope_units::{Idx, SequenceHash, SlotId};

use super::{Evict, Evictor, NONE};
use crate::block::pool::{Slot, Tag};
use crate::config::EvictionPolicy;

const SLOTS: u32 = 12;

/// A move of the history; slots are taken modulo what is possible.
#[derive(Clone, Copy, Debug)]
enum Move {
    /// A free slot is registered behind a resident one (or behind none) and becomes active.
    Register { slot: u32, parent: u32 },
    /// An active slot becomes cached.
    Release(u32),
    /// A cached slot is hit.
    Hit(u32),
    /// So many cached slots are hit by a transaction that aborts.
    Abort(usize),
    /// Victims are chosen, and given up.
    Evict(u32),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let slot = 0..SLOTS;
    let one = prop_oneof![
        (slot.clone(), 0..2 * SLOTS).prop_map(|(slot, parent)| Move::Register { slot, parent }),
        slot.clone().prop_map(Move::Release),
        slot.clone().prop_map(Move::Hit),
        (1..6_usize).prop_map(Move::Abort),
        (1..4_u32).prop_map(Move::Evict),
    ];
    prop::collection::vec(one, 1..80)
}

/// What the oracles know: plain facts about every slot.
#[derive(Default)]
struct Truth {
    entered: BTreeMap<u32, u64>,
    parent: BTreeMap<u32, u32>,
    uses: BTreeMap<u64, u64>,
    clock: u64,
}

/// The next victim by definition: given the truth, the slots already chosen, and the cached ones.
type Oracle = fn(&Truth, &BTreeSet<u32>, &BTreeSet<u32>, &[Slot]) -> u32;

fn least_recent(truth: &Truth, _: &BTreeSet<u32>, cached: &BTreeSet<u32>, _: &[Slot]) -> u32 {
    *cached.iter().min_by_key(|slot| truth.entered[slot]).expect("one is cached")
}

fn least_recent_leaf(truth: &Truth, gone: &BTreeSet<u32>, cached: &BTreeSet<u32>, _: &[Slot]) -> u32 {
    let continued =
        |slot: &u32| truth.parent.iter().any(|(child, parent)| parent == slot && !gone.contains(child));
    let leaf = cached.iter().filter(|slot| !continued(slot)).min_by_key(|slot| truth.entered[slot]);
    *leaf.or_else(|| cached.iter().min_by_key(|slot| truth.entered[slot])).expect("one is cached")
}

fn least_frequent(truth: &Truth, _: &BTreeSet<u32>, cached: &BTreeSet<u32>, slots: &[Slot]) -> u32 {
    let key = |slot: &&u32| (truth.uses[&slots[slot.index_of()].hash.0].min(15), truth.entered[slot]);
    *cached.iter().min_by_key(key).expect("one is cached")
}

trait IndexOf {
    fn index_of(&self) -> usize;
}

impl IndexOf for &u32 {
    fn index_of(&self) -> usize {
        **self as usize
    }
}

struct World {
    slots: Vec<Slot>,
    evictor: Evictor,
    truth: Truth,
    next_hash: u64,
}

impl World {
    fn new(policy: EvictionPolicy) -> Self {
        Self {
            slots: vec![Slot::EMPTY; SLOTS as usize],
            evictor: Evictor::new(policy, SLOTS),
            truth: Truth::default(),
            next_hash: 1,
        }
    }

    fn is(&self, slot: u32, tag: Tag) -> bool {
        self.slots[slot as usize].tag == tag
    }

    fn play(&mut self, step: Move, oracle: Oracle) -> Result<(), TestCaseError> {
        match step {
            Move::Register { slot, parent } if self.is(slot, Tag::Free) => self.register(slot, parent),
            Move::Release(slot) if self.is(slot, Tag::Active) => {
                self.slots[slot as usize].tag = Tag::Cached;
                self.evictor.enter(&mut self.slots, SlotId(slot));
                self.truth.entered.insert(slot, self.truth.clock);
                self.truth.clock += 1;
            }
            Move::Hit(slot) if self.is(slot, Tag::Cached) => {
                self.evictor.leave(&mut self.slots, SlotId(slot));
                self.slots[slot as usize].tag = Tag::Active;
                self.used(slot);
            }
            Move::Abort(hits) => self.abort(hits)?,
            Move::Evict(count) => self.evict(count, oracle)?,
            Move::Register { .. } | Move::Release(_) | Move::Hit(_) => {}
        }
        Ok(())
    }

    fn register(&mut self, slot: u32, parent: u32) {
        // A block follows one that its request holds, so an active one.
        let parent = Some(parent).filter(|&p| p < SLOTS && p != slot && self.is(p, Tag::Active));
        self.slots[slot as usize].hash = SequenceHash(self.next_hash);
        self.slots[slot as usize].tag = Tag::Active;
        self.next_hash += 1;
        self.evictor.registered(&self.slots, SlotId(slot), parent.map(SlotId));
        if let Some(parent) = parent {
            self.truth.parent.insert(slot, parent);
        }
        self.used(slot);
    }

    fn abort(&mut self, hits: usize) -> Result<(), TestCaseError> {
        let before = self.evictor.order(&self.slots);
        let hits = (0..SLOTS).filter(|&slot| self.is(slot, Tag::Cached)).take(hits);
        let hits: Vec<SlotId> = hits.map(SlotId).collect();
        for &slot in &hits {
            self.evictor.leave(&mut self.slots, slot);
        }
        for &slot in hits.iter().rev() {
            self.evictor.rejoin(&mut self.slots, slot);
        }
        prop_assert_eq!(self.evictor.order(&self.slots), before, "T5: the order is what it was");
        Ok(())
    }

    fn used(&mut self, slot: u32) {
        let hash = self.slots[slot as usize].hash;
        self.evictor.used(hash);
        *self.truth.uses.entry(hash.0).or_default() += 1;
    }

    fn evict(&mut self, count: u32, oracle: Oracle) -> Result<(), TestCaseError> {
        let mut cached: BTreeSet<u32> = (0..SLOTS).filter(|&slot| self.is(slot, Tag::Cached)).collect();
        let count = (count as usize).min(cached.len());
        let mut picked = Vec::new();
        self.evictor.pick(&self.slots, count, &mut picked);
        let mut gone = BTreeSet::new();
        for victim in &picked {
            let wanted = oracle(&self.truth, &gone, &cached, &self.slots);
            prop_assert_eq!(victim.0, wanted, "of {:?}", cached);
            cached.remove(&wanted);
            gone.insert(wanted);
        }
        prop_assert_eq!(picked.len(), count);
        for victim in picked {
            self.evictor.leave(&mut self.slots, victim);
            self.slots[victim.index()].tag = Tag::Free;
            self.evictor.unregistered(&self.slots, victim);
            self.slots[victim.index()].hash = SequenceHash(0);
            self.truth.parent.remove(&victim.0);
            self.truth.parent.retain(|_, parent| *parent != victim.0);
        }
        Ok(())
    }
}

fn check(policy: EvictionPolicy, history: &[Move], oracle: Oracle) -> Result<(), TestCaseError> {
    let mut world = World::new(policy);
    for &step in history {
        world.play(step, oracle)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lru_gives_up_the_least_recently_used(history in moves()) {
        check(EvictionPolicy::Lru, &history, least_recent)?;
    }

    #[test]
    fn lineage_gives_up_leaves_before_parents(history in moves()) {
        check(EvictionPolicy::Lineage, &history, least_recent_leaf)?;
    }
}

/// Few enough uses that no halving happens, and few enough contents that the sketch has no collision: then its
/// counts are exact.
#[test]
fn tinylfu_gives_up_the_least_often_used() {
    let mut world = World::new(EvictionPolicy::TinyLfu);
    let plan = [
        Move::Register { slot: 0, parent: NONE },
        Move::Register { slot: 1, parent: NONE },
        Move::Register { slot: 2, parent: NONE },
        Move::Release(2),
        Move::Release(0),
        Move::Release(1),
        Move::Abort(3),
        Move::Hit(2),
        Move::Release(2),
        Move::Hit(2),
        Move::Release(2),
        Move::Hit(0),
        Move::Release(0),
        Move::Evict(3),
    ];
    for step in plan {
        world.play(step, least_frequent).expect("the oracle agrees");
    }
    assert!(world.slots[..3].iter().all(|slot| slot.tag == Tag::Free));
}

#[test]
fn old_fame_fades() {
    let mut sketch = super::tinylfu::TinyLfu::new(4);
    for _ in 0..20 {
        sketch.used(SequenceHash(7));
    }
    let famous = sketch.frequency(SequenceHash(7));
    for hash in 100..160 {
        sketch.used(SequenceHash(hash * 0x9e37_79b9));
    }
    assert!(sketch.frequency(SequenceHash(7)) < famous, "counts are halved as uses go on");
}
