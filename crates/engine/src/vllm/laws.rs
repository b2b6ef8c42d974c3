//! The manager's laws on random histories, of callers that keep the contract and of those that do not.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tierscope_units::{RequestId, SequenceHash, SlotId};

use crate::lower::config::ChunkEviction;

use super::{ChunkOrder, Found, ManagerConfig, ManagerEvent, OffloadManager, Resident};

const REQUESTS: u32 = 4;
const KEYS: u64 = 16;

#[derive(Clone, Debug)]
enum Move {
    New { request: u32, first: u64, positions: u32 },
    Place { request: u32, key: u64, position: u32 },
    Forget(u32),
    Touch(Vec<u64>),
    PrepareLoad { request: u32, keys: Vec<u64> },
    CompleteLoad(Vec<u64>),
    PrepareStore { request: u32, keys: Vec<u64> },
    CompleteStore { keys: Vec<u64>, is_ok: bool },
    Finish(u32),
    Reset,
}

fn keys() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::btree_set(1..=KEYS, 0..8).prop_map(|keys| keys.into_iter().collect())
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let request = 0..REQUESTS;
    let one = prop_oneof![
        1 => (request.clone(), 1..=KEYS, 0..8u32)
            .prop_map(|(request, first, positions)| Move::New { request, first, positions }),
        1 => (request.clone(), 1..=KEYS, 0..20u32)
            .prop_map(|(request, key, position)| Move::Place { request, key, position }),
        1 => request.clone().prop_map(Move::Forget),
        2 => keys().prop_map(Move::Touch),
        4 => (request.clone(), keys()).prop_map(|(request, keys)| Move::PrepareLoad { request, keys }),
        3 => keys().prop_map(Move::CompleteLoad),
        8 => (request.clone(), keys()).prop_map(|(request, keys)| Move::PrepareStore { request, keys }),
        6 => (keys(), any::<bool>()).prop_map(|(keys, is_ok)| Move::CompleteStore { keys, is_ok }),
        2 => request.prop_map(Move::Finish),
        1 => Just(Move::Reset),
    ];
    prop::collection::vec(one, 1..60)
}

fn configs() -> impl Strategy<Value = ManagerConfig> {
    let policy = prop_oneof![Just(ChunkEviction::Lru), Just(ChunkEviction::Arc)];
    (0..10u32, policy, 0..3u32, 0..6u32).prop_map(|(chunks, policy, store_threshold, tracker_max)| {
        ManagerConfig { chunks, policy, store_threshold, tracker_max }
    })
}

fn hashes(keys: &[u64]) -> Vec<SequenceHash> {
    keys.iter().copied().map(SequenceHash).collect()
}

/// Which content is where and how it is referenced, without its order.
fn contents(manager: &OffloadManager) -> BTreeMap<SequenceHash, Resident> {
    let chunks = match manager.order() {
        ChunkOrder::Lru(order) => order,
        ChunkOrder::Arc { once, again, .. } => once.into_iter().chain(again).collect(),
    };
    chunks.into_iter().map(|chunk| (chunk.key, chunk)).collect()
}

fn store(manager: &mut OffloadManager, request: RequestId, keys: &[SequenceHash]) {
    let before = contents(manager);
    let free = manager.free();
    let offered_idle = keys.iter().filter(|key| before.get(key).is_some_and(|chunk| chunk.refs == 0)).count();
    let room = free + manager.evictable() - offered_idle as u32;
    let Some(store) = manager.prepare_store(request, keys) else {
        // What was wanted is at most what is missing.
        let missing = keys.iter().filter(|key| !before.contains_key(key)).count() as u32;
        assert!(missing > room, "{missing} chunks were refused, and {room} had room");
        assert_eq!(contents(manager), before, "a refused offer changed the tier");
        return;
    };
    let wanted = store.keys.len() as u32;
    assert!(wanted <= room);
    assert_eq!(store.evicted.len() as u32, wanted.saturating_sub(free), "no chunk goes without need");
    assert!(store.evicted.iter().all(|key| !keys.contains(key)), "the whole offer is protected");
    assert!(store.evicted.iter().all(|key| before[key].refs == 0), "a chunk in use went");
    for (&key, &slot) in store.keys.iter().zip(&store.chunks) {
        assert_eq!(manager.content(slot), Some(key));
        assert_eq!(manager.lookup(key), Found::HitPending);
    }
}

fn load(manager: &mut OffloadManager, request: RequestId, keys: &[SequenceHash]) {
    let before = (contents(manager), manager.victims());
    match manager.prepare_load(request, keys) {
        Ok(slots) => {
            let held = |&slot: &SlotId| manager.content(slot);
            let held: Option<Vec<SequenceHash>> = slots.iter().map(held).collect();
            assert_eq!(held.as_deref(), Some(keys));
        }
        Err(error) => {
            assert_ne!(manager.lookup(error.0), Found::Hit);
            assert_eq!((contents(manager), manager.victims()), before, "a refused load changed the tier");
        }
    }
}

fn play(manager: &mut OffloadManager, one: &Move) {
    match one {
        Move::New { request, first, positions } => {
            let positions: Vec<_> =
                (0..*positions).map(|nth| (SequenceHash(first + u64::from(nth)), 16 * nth)).collect();
            manager.new_request(RequestId(*request), &positions);
        }
        Move::Place { request, key, position } => {
            manager.place(RequestId(*request), SequenceHash(*key), *position);
        }
        Move::Forget(request) => manager.forget(RequestId(*request)),
        Move::Touch(keys) => manager.touch(&hashes(keys)),
        Move::PrepareLoad { request, keys } => load(manager, RequestId(*request), &hashes(keys)),
        Move::CompleteLoad(keys) => manager.complete_load(&hashes(keys)),
        Move::PrepareStore { request, keys } => store(manager, RequestId(*request), &hashes(keys)),
        Move::CompleteStore { keys, is_ok } => manager.complete_store(&hashes(keys), *is_ok),
        Move::Finish(request) => manager.finish(RequestId(*request)),
        Move::Reset => manager.reset(),
    }
}

proptest! {
    /// Whatever the caller does, slots are conserved, and what was stored less what was removed is readable.
    #[test]
    fn the_tier_is_conserved(config in configs(), moves in moves()) {
        let mut manager = OffloadManager::new(config);
        let mut readable = std::collections::BTreeSet::new();
        for one in &moves {
            play(&mut manager, one);
            if let Err(broken) = manager.check() {
                panic!("after {one:?}: {broken}");
            }
            let sum = manager.free() + manager.evictable() + manager.writing() + manager.pinned();
            prop_assert_eq!(sum, config.chunks);
            if matches!(one, Move::Reset) {
                readable.clear();
            }
            for event in manager.take_events() {
                match event {
                    ManagerEvent::Stored(blocks) => readable.extend(blocks.iter().map(|block| block.hash)),
                    ManagerEvent::Removed(blocks) => {
 blocks.iter().for_each(|block| assert!(readable.remove(&block.hash)));
 },
                    ManagerEvent::StoreFailed(blocks) => {
                        blocks.iter().for_each(|block| assert!(!readable.contains(&block.hash)));
                    }
                }
            }
            let found: Vec<u64> =
                (1..=KEYS).filter(|&key| manager.lookup(SequenceHash(key)) == Found::Hit).collect();
            prop_assert_eq!(found, readable.iter().map(|key| key.0).collect::<Vec<_>>());
        }
    }

    /// Victims go in the order that is shown.
    #[test]
    fn the_next_victim_is_first(config in configs(), moves in moves()) {
        let mut manager = OffloadManager::new(ManagerConfig { store_threshold: 1, ..config });
        moves.iter().for_each(|one| play(&mut manager, one));
        let victims: Vec<_> = manager.victims().iter().map(|&slot| manager.content(slot)).collect();
        let wanted: Vec<_> = (1000..).map(SequenceHash).take((manager.free() as usize) + victims.len()).collect();
        let store = manager.prepare_store(RequestId(0), &wanted).expect("there is room for as much");
        prop_assert_eq!(store.evicted.into_iter().map(Some).collect::<Vec<_>>(), victims);
        prop_assert!(manager.check().is_ok());
    }
}
