//! What every medium has to do, whatever it is: the same checks for memory, disks, GPUs and stores, none of which is
//! treated apart. They run in tests and on the machines of users, so they return what they found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::arena::Arena;
use crate::content;
use crate::fault::Fault;
use crate::medium::{Batch, BatchId, Ended, Key, Medium, Move, Slot, Way};

/// Fewest slots of the medium and of the arena that the checks need.
pub const SLOTS_MIN: u32 = 16;

/// A batch that has not ended by then never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// What came of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What has to be so.
    pub name: &'static str,
    /// What was found instead.
    pub failure: Option<String>,
}

type Found = Result<(), String>;
type Named = (&'static str, fn(&mut Bench<'_>) -> Found);

/// Runs every check, in order; the last one closes the medium.
pub fn run(arena: &Arena, medium: &mut dyn Medium) -> Vec<Check> {
    let enough = arena.slots() >= SLOTS_MIN && medium.capability().slots >= SLOTS_MIN;
    if !enough || arena.block_bytes() != medium.capability().block_bytes {
        let failure = Some(format!("there are fewer than {SLOTS_MIN} slots, or blocks differ in size"));
        return vec![Check { name: "medium and arena fit each other", failure }];
    }
    let mut bench = Bench { arena, medium, next: 0, early: BTreeMap::new() };
    let checks: [Named; 13] = [
        ("what was stored is loaded, also elsewhere and in another order", stored_is_loaded),
        ("a slot holds what was stored last, and nothing else is served", last_store_counts),
        ("an empty slot serves nothing", empty_serves_nothing),
        ("what is forgotten is served no more", forgotten_is_missing),
        ("slots that are not there are refused, each block by itself", out_of_range_is_refused),
        ("a slot of the arena that is in use is not touched", busy_is_refused),
        ("what is looked at and is not what its key says is seen, both ways", wrong_is_seen),
        ("the bell is rung for every end", bell_is_rung),
        ("a batch of nothing ends", nothing_ends),
        ("each of many batches ends once", each_ends_once),
        ("a cancelled batch ends, with what was done and what was not", cancelled_ends),
        ("what is persisted is still there", persisted_is_there),
        ("a closed medium ends everything, and takes nothing more", closed_takes_nothing),
    ];
    checks.into_iter().map(|(name, check)| Check { name, failure: check(&mut bench).err() }).collect()
}

/// A medium under test. Keys are never used twice.
struct Bench<'a> {
    arena: &'a Arena,
    medium: &'a mut dyn Medium,
    next: u64,
    /// Ends that came while another was waited for.
    early: BTreeMap<BatchId, Ended>,
}

impl Bench<'_> {
    fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn key(&mut self) -> Key {
        Key(self.fresh().wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn put_into_arena(&self, key: Key, here: Slot) -> Found {
        let mut slot = self.arena.write(here).ok_or("a slot of the arena is still in use")?;
        content::fill(key, &mut slot);
        Ok(())
    }

    fn arena_holds(&self, key: Key, here: Slot) -> Result<bool, String> {
        let slot = self.arena.read(here).ok_or("a slot of the arena is still in use")?;
        Ok(content::is_of(key, &slot))
    }

    fn submit(&mut self, way: Way, moves: Vec<Move>) -> BatchId {
        let id = BatchId(self.fresh());
        self.medium.submit(Batch { id, way, moves, look: false });
        id
    }

    fn end_of(&mut self, id: BatchId) -> Result<Ended, String> {
        // Bounds the patience with a medium that never ends a batch.
        let begun = Instant::now();
        loop {
            if let Some(ended) = self.early.remove(&id) {
                return Ok(ended);
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("batch {} did not end", id.0));
            }
            if let Some(ended) = self.medium.next_ended(Duration::from_millis(100))
                && let Some(twice) = self.early.insert(ended.id, ended)
            {
                return Err(format!("batch {} ended twice", twice.id.0));
            }
        }
    }

    fn copy(&mut self, way: Way, moves: Vec<Move>) -> Result<Vec<Result<(), Fault>>, String> {
        let count = moves.len();
        let id = self.submit(way, moves);
        let results = self.end_of(id)?.results;
        if results.len() == count {
            Ok(results)
        } else {
            Err(format!("{} results of {count} blocks", results.len()))
        }
    }

    /// Stores fresh content into these slots, by way of the arena's slots of the same places.
    fn store(&mut self, there: &[u32]) -> Result<Vec<Key>, String> {
        let mut moves = Vec::new();
        for (&there, here) in there.iter().zip(0..) {
            let key = self.key();
            self.put_into_arena(key, Slot(here))?;
            moves.push(Move { key, there: Slot(there), here: Slot(here) });
        }
        let keys = moves.iter().map(|block| block.key).collect();
        match self.copy(Way::Store, moves)?.into_iter().find_map(Result::err) {
            None => Ok(keys),
            Some(fault) => Err(format!("a store failed: {fault}")),
        }
    }

    fn load_one(&mut self, key: Key, there: u32) -> Result<Result<(), Fault>, String> {
        let here = Slot(0);
        let results = self.copy(Way::Load, vec![Move { key, there: Slot(there), here }])?;
        if results[0].is_ok() && !self.arena_holds(key, here)? {
            return Err("a load said that it succeeded, and brought other bytes".to_owned());
        }
        Ok(results[0])
    }

    fn expect(&mut self, key: Key, there: u32, expected: Result<(), Fault>) -> Found {
        let found = self.load_one(key, there)?;
        if found == expected {
            Ok(())
        } else {
            Err(format!("slot {there}: expected {expected:?}, found {found:?}"))
        }
    }
}

fn stored_is_loaded(bench: &mut Bench<'_>) -> Found {
    // A permutation: neighbours do not stay neighbours.
    let there: Vec<u32> = (0..SLOTS_MIN).map(|at| at * 7 % SLOTS_MIN).collect();
    let keys = bench.store(&there)?;
    for here in 0..SLOTS_MIN {
        bench.put_into_arena(Key(0), Slot(here))?;
    }
    let backwards = keys.iter().zip(&there).rev().zip(0..);
    let moves: Vec<Move> =
        backwards.map(|((&key, &there), here)| Move { key, there: Slot(there), here: Slot(here) }).collect();
    let results = bench.copy(Way::Load, moves.clone())?;
    for (block, result) in moves.iter().zip(results) {
        result.map_err(|fault| format!("slot {}: {fault}", block.there.0))?;
        if !bench.arena_holds(block.key, block.here)? {
            return Err(format!("slot {} brought other bytes", block.there.0));
        }
    }
    Ok(())
}

fn last_store_counts(bench: &mut Bench<'_>) -> Found {
    let first = bench.store(&[3, 4])?;
    let second = bench.store(&[3])?;
    bench.expect(first[0], 3, Err(Fault::Missing))?;
    bench.expect(second[0], 3, Ok(()))?;
    bench.expect(first[1], 4, Ok(()))
}

fn empty_serves_nothing(bench: &mut Bench<'_>) -> Found {
    bench.medium.forget(Slot(9));
    for key in [Key(0), Key(u64::MAX), bench.key()] {
        bench.expect(key, 9, Err(Fault::Missing))?;
    }
    Ok(())
}

fn forgotten_is_missing(bench: &mut Bench<'_>) -> Found {
    let keys = bench.store(&[5, 6])?;
    bench.medium.forget(Slot(5));
    bench.medium.forget(Slot(u32::MAX));
    bench.expect(keys[0], 5, Err(Fault::Missing))?;
    bench.expect(keys[1], 6, Ok(()))
}

fn out_of_range_is_refused(bench: &mut Bench<'_>) -> Found {
    let (slots, own) = (bench.medium.capability().slots, bench.arena.slots());
    let key = bench.key();
    bench.put_into_arena(key, Slot(1))?;
    let block = |there: u32, here: u32| Move { key, there: Slot(there), here: Slot(here) };
    for way in [Way::Store, Way::Load] {
        let moves = vec![block(slots, 1), block(2, 1), block(2, own), block(u32::MAX, u32::MAX)];
        let found = bench.copy(way, moves)?;
        let refused = Err(Fault::OutOfRange);
        if found != [refused, Ok(()), refused, refused] {
            return Err(format!("{way:?}: {found:?}"));
        }
    }
    Ok(())
}

fn busy_is_refused(bench: &mut Bench<'_>) -> Found {
    let keys = bench.store(&[7])?;
    let held = bench.arena.write(Slot(2)).ok_or("a slot of the arena is still in use")?;
    let block = Move { key: keys[0], there: Slot(7), here: Slot(2) };
    let loaded = bench.copy(Way::Load, vec![block])?;
    drop(held);
    if loaded != [Err(Fault::Busy)] {
        return Err(format!("{loaded:?}"));
    }
    bench.expect(keys[0], 7, Ok(()))
}

fn wrong_is_seen(bench: &mut Bench<'_>) -> Found {
    let (right, wrong, other) = (bench.key(), bench.key(), bench.key());
    bench.put_into_arena(right, Slot(0))?;
    bench.put_into_arena(other, Slot(1))?;
    let block = |key, at| Move { key, there: Slot(at), here: Slot(at) };
    let moves = vec![block(right, 0), block(wrong, 1)];
    for way in [Way::Store, Way::Load] {
        let id = BatchId(bench.fresh());
        bench.medium.submit(Batch { id, way, moves: moves.clone(), look: true });
        let found = bench.end_of(id)?.results;
        if found != [Ok(()), Err(Fault::Corrupt)] {
            return Err(format!("{way:?}: {found:?}"));
        }
    }
    Ok(())
}

fn bell_is_rung(bench: &mut Bench<'_>) -> Found {
    let keys = bench.store(&[0, 1, 2])?;
    let rung = Arc::new(AtomicU32::new(0));
    let counts = Arc::clone(&rung);
    bench.medium.ring(Arc::new(move || {
        counts.fetch_add(1, Ordering::SeqCst);
    }));
    for at in 0..3 {
        bench.expect(keys[at as usize], at, Ok(()))?;
    }
    let found = rung.load(Ordering::SeqCst);
    if found == 3 { Ok(()) } else { Err(format!("3 batches ended, the bell rang {found} times")) }
}

fn nothing_ends(bench: &mut Bench<'_>) -> Found {
    bench.copy(Way::Store, Vec::new())?;
    bench.copy(Way::Load, Vec::new()).map(|_| ())
}

fn each_ends_once(bench: &mut Bench<'_>) -> Found {
    let there: Vec<u32> = (0..SLOTS_MIN).collect();
    let keys = bench.store(&there)?;
    let mut waited: BTreeSet<BatchId> = BTreeSet::new();
    // Each slot of the arena has one load at a time.
    for _round in 0..16 {
        for (&key, slot) in keys.iter().zip(0..) {
            let id = bench.submit(Way::Load, vec![Move { key, there: Slot(slot), here: Slot(slot) }]);
            waited.insert(id);
        }
        for id in std::mem::take(&mut waited) {
            let ended = bench.end_of(id)?;
            if ended.results != [Ok(())] {
                return Err(format!("{:?}", ended.results));
            }
        }
    }
    match bench.medium.next_ended(Duration::from_millis(1)) {
        None => Ok(()),
        Some(more) => Err(format!("batch {} ended twice", more.id.0)),
    }
}

fn cancelled_ends(bench: &mut Bench<'_>) -> Found {
    let there: Vec<u32> = (0..SLOTS_MIN).collect();
    let keys = bench.store(&there)?;
    let mut ids = Vec::new();
    for slot in 0..SLOTS_MIN {
        let block = Move { key: keys[slot as usize], there: Slot(slot), here: Slot(slot) };
        ids.push(bench.submit(Way::Load, vec![block]));
    }
    for &id in ids.iter().rev().chain([&BatchId(u64::MAX)]) {
        bench.medium.cancel(id);
    }
    for (id, slot) in ids.into_iter().zip(0..) {
        match bench.end_of(id)?.results[..] {
            [Ok(())] if bench.arena_holds(keys[slot as usize], Slot(slot))? => {}
            [Err(Fault::Cancelled)] => {}
            ref other => return Err(format!("{other:?}")),
        }
    }
    bench.expect(keys[0], 0, Ok(()))
}

fn persisted_is_there(bench: &mut Bench<'_>) -> Found {
    let keys = bench.store(&[1, 8])?;
    bench.medium.persist().map_err(|fault| fault.to_string())?;
    if bench.medium.capability().outlives_process {
        let survivors = bench.medium.survivors();
        if !survivors.contains(&(keys[1], Slot(8))) {
            return Err("what was persisted is not among the survivors".to_owned());
        }
    }
    bench.expect(keys[0], 1, Ok(()))?;
    bench.expect(keys[1], 8, Ok(()))
}

fn closed_takes_nothing(bench: &mut Bench<'_>) -> Found {
    let keys = bench.store(&[0, 1])?;
    let block = |at: u32| Move { key: keys[at as usize], there: Slot(at), here: Slot(at) };
    let before = bench.submit(Way::Load, vec![block(0)]);
    bench.medium.close();
    let after = bench.submit(Way::Load, vec![block(1)]);
    match bench.end_of(before)?.results[..] {
        [Ok(()) | Err(Fault::Gone | Fault::Cancelled)] => {}
        ref other => return Err(format!("under way: {other:?}")),
    }
    match bench.end_of(after)?.results[..] {
        [Err(Fault::Gone)] => Ok(()),
        ref other => Err(format!("after it was closed: {other:?}")),
    }
}
