//! A lane that is shut down: what waits there ends, what is under way may still report, nothing new comes, and
//! nobody waits for it (rule L5).

use super::world::{World, of, one_by_one, span, tier};
use crate::{
    Awaits, ChunkEviction, CopyEnd, CopyFailure, Fact, Flavour, Input, Lane, LaneFault, LaneSnapshot, Rest,
    Settlement, SettlementError, SettlementTarget, Store, TiersConfig, VllmConfig,
};

const DOWN: Lane = Lane::G1ToG2;

/// vLLM's connector on the same two lanes.
fn connected() -> World {
    let vllm = VllmConfig {
        eviction: ChunkEviction::Lru,
        store_threshold: 1,
        blocks_per_chunk: 1,
        prompt_only: false,
        sync_load_budget_tokens: 0,
    };
    World::new(8, TiersConfig { flavour: Flavour::Vllm(vllm), ..one_by_one(8) })
}

fn close(world: &mut World, lane: Lane) {
    world.tell(Input::CloseLane { lane });
    world.rest();
}

#[test]
fn what_waits_has_failed_and_what_is_under_way_may_end() {
    let mut tiers = one_by_one(8);
    tiers.lanes[DOWN.index()].retries = 3;
    let mut world = World::new(8, tiers);
    world.compute(0, 3);
    let token = world.engine.capture();
    close(&mut world, DOWN);
    let after = world.engine.lane(DOWN);
    assert_eq!((after.queued, after.in_flight, after.failed), (0, 1, 2));
    assert_eq!(world.engine.released_sources(DOWN), 2);
    let shutdown = Err(SettlementError::LaneFailed { lane: DOWN, kind: LaneFault::Shutdown });
    assert_eq!(world.ask(&token, of(DOWN, 1)), shutdown);
    let late = world.engine.capture();
    let pending = Settlement::Pending { lane: Some(DOWN), missing: 1, why: Awaits::Completions };
    assert_eq!(world.ask(&late, of(DOWN, 1)), Ok(pending), "one is under way");
    assert_eq!(world.ask(&late, of(DOWN, 2)), Err(SettlementError::ProgressClosed(DOWN)));
    world.complete(DOWN);
    world.settled(&token, of(DOWN, 1));
    assert_eq!(world.ask(&world.engine.capture(), of(DOWN, 1)), Err(SettlementError::ProgressClosed(DOWN)));
    world.settled(&token, SettlementTarget::new().with_chains());
}

#[test]
fn what_was_under_way_is_not_tried_again() {
    let mut tiers = one_by_one(8);
    tiers.lanes[DOWN.index()].retries = 3;
    let mut world = World::new(8, tiers);
    world.compute(0, 1);
    close(&mut world, DOWN);
    world.fail(DOWN, CopyFailure::Aborted);
    assert_eq!((world.engine.lane(DOWN).failed, world.engine.next_wake()), (1, None));
    assert_eq!(world.engine.released_sources(DOWN), 1);
}

#[test]
fn a_batch_in_backoff_or_in_the_collector_ends_too() {
    let mut tiers = TiersConfig { g3: tier(8), ..one_by_one(8) };
    tiers.lanes[DOWN.index()].retries = 1;
    tiers.lanes[DOWN.index()].backoff = span(50);
    tiers.lanes[Lane::G2ToG3.index()].batch_blocks = 4;
    tiers.lanes[Lane::G2ToG3.index()].flush_after = span(100);
    let mut world = World::new(8, tiers);
    world.compute(0, 2);
    world.complete(DOWN);
    world.fail(DOWN, CopyFailure::Executor);
    close(&mut world, Lane::G2ToG3);
    close(&mut world, DOWN);
    assert_eq!([DOWN, Lane::G2ToG3].map(|lane| world.engine.lane(lane).failed), [1, 1]);
    assert_eq!((world.engine.next_wake(), world.copies.len()), (None, 0));
    assert_eq!(world.engine.released_sources(DOWN), 2);
}

#[test]
fn nothing_new_is_stored_and_victims_go_without_a_copy() {
    for store in [Store::OnCompute, Store::OnEviction] {
        let mut world = World::new(2, TiersConfig { store, ..one_by_one(8) });
        close(&mut world, DOWN);
        for first in [0, 2, 4] {
            world.compute(first, 2);
        }
        assert_eq!(world.engine.unfinished(), 0);
        assert!(!world.facts.iter().any(|fact| matches!(fact, Fact::CopyQueued { .. })), "{store:?}");
    }
}

#[test]
fn what_is_below_is_computed_when_the_way_up_is_shut() {
    for lane in [Lane::G2ToG1, Lane::G3ToG2] {
        // One block lies in G2 or, where staging is tested, in G3 only.
        let g2 = if lane == Lane::G2ToG1 { 8 } else { 1 };
        let mut world = World::new(8, TiersConfig { g3: tier(8), ..one_by_one(g2) });
        for first in [0, 1] {
            world.compute(first, 1);
            world.drain();
        }
        world.forget_g1();
        close(&mut world, lane);
        world.facts.clear();
        let request = world.arrive(0, 1, 1);
        world.rest();
        assert!(
            !world.facts.iter().any(|fact| matches!(fact, Fact::OnboardStarted { .. })),
            "{}",
            lane.name()
        );
        world.drain();
        assert!(!world.engine.is_live(request));
    }
}

#[test]
fn a_staged_block_whose_way_up_was_shut_meanwhile_is_computed() {
    let mut world = World::new(8, TiersConfig { g3: tier(8), ..one_by_one(1) });
    for first in [0, 1] {
        world.compute(first, 1);
        world.drain();
    }
    world.forget_g1();
    let request = world.arrive(0, 1, 1);
    world.rest();
    close(&mut world, Lane::G2ToG1);
    world.complete(Lane::G3ToG2);
    let ended = Fact::OnboardEnded { request, loaded_blocks: 0, failed_blocks: 1 };
    assert!(world.facts.contains(&ended));
    assert_eq!(world.engine.lane(Lane::G2ToG1), LaneSnapshot::default(), "nothing new came to the lane");
    world.drain();
    assert!(!world.engine.is_live(request));
}

#[test]
fn whoever_waits_for_a_queued_copy_is_woken_at_once() {
    let mut tiers = TiersConfig { store: Store::OnEviction, ..one_by_one(8) };
    tiers.lanes[DOWN.index()].batch_blocks = 2;
    let mut world = World::new(4, tiers);
    world.compute(0, 4);
    // Two wait: the first for the copy under way, the second for the one behind it.
    world.arrive(10, 4, 0);
    world.rest();
    let queued = world.engine.lane(DOWN);
    assert_eq!((queued.in_flight, queued.queued), (1, 1));
    let waits = world.facts.iter().find_map(|fact| match fact {
        Fact::BlockedOnOffload { transfer, .. } => Some(*transfer),
        _ => None,
    });
    world.facts.clear();
    close(&mut world, DOWN);
    let end = CopyEnd::Failed(CopyFailure::Shutdown);
    let ended = world.facts.iter().find_map(|fact| match fact {
        Fact::CopyEnded { transfer, end: how, .. } if *how == end => Some(*transfer),
        _ => None,
    });
    assert_eq!(ended, waits, "what the request waits for has failed");
    assert!(world.facts.iter().any(|fact| matches!(fact, Fact::Unblocked { .. })), "and it was told");
    world.drain();
    assert_eq!((world.engine.unfinished(), world.engine.g1().occupancy().source_hold), (0, 0));
}

#[test]
fn a_store_of_the_connector_that_has_not_started_ends_too() {
    let mut world = connected();
    world.arrive(0, 2, 0);
    world.rest();
    let token = world.engine.capture();
    let settled = world.settled(&token, SettlementTarget::new());
    assert_eq!((settled.rest(DOWN), settled.lane(DOWN).queued), (Rest::Pass, 1));
    close(&mut world, DOWN);
    assert_eq!((world.engine.lane(DOWN).queued, world.engine.lane(DOWN).failed), (0, 1));
    assert_eq!(world.engine.released_sources(DOWN), 2);
    let shutdown = Err(SettlementError::LaneFailed { lane: DOWN, kind: LaneFault::Shutdown });
    assert_eq!(world.ask(&token, of(DOWN, 1)), shutdown);
    world.end_pass();
    world.compute(4, 2);
    world.drain();
    assert_eq!((world.copies.len(), world.engine.unfinished()), (0, 0), "and nothing new is stored");
}

#[test]
fn the_connector_computes_what_it_cannot_load() {
    let mut world = connected();
    world.compute(0, 2);
    let token = world.engine.capture();
    assert_eq!(token.lane(DOWN).in_flight, 1);
    world.complete(DOWN);
    assert_eq!(world.settled(&token, of(DOWN, 1)).released(DOWN), 2);
    world.forget_g1();
    close(&mut world, Lane::G2ToG1);
    let request = world.arrive(0, 2, 1);
    world.rest();
    assert!(!world.facts.iter().any(|fact| matches!(fact, Fact::OnboardStarted { .. })));
    world.drain();
    assert!(!world.engine.is_live(request));
}
