//! Counts, permits and snapshots (rules L1–L3, L6).

use super::world::{World, of, one_by_one, span, tier};
use crate::{Awaits, CopyFailure, Lane, Pressure, Rest, Settlement, SettlementTarget};

const DOWN: Lane = Lane::G1ToG2;

#[test]
fn a_completion_settles_when_it_is_polled_and_read() {
    let mut world = World::new(8, one_by_one(8));
    world.compute(0, 1);
    let token = world.engine.capture();
    let pending = |lane, missing, why| Ok(Settlement::Pending { lane, missing, why });
    assert_eq!(world.ask(&token, of(DOWN, 1)), pending(Some(DOWN), 1, Awaits::Completions));
    world.tell_end(DOWN, Ok(()));
    assert_eq!(world.ask(&token, of(DOWN, 1)), pending(None, 0, Awaits::Commands));
    world.poll();
    let unread = world.engine.facts().iter().count() as u64;
    assert_eq!(world.ask(&token, of(DOWN, 1)), pending(None, unread, Awaits::Publication));
    world.read();
    let settled = world.settled(&token, of(DOWN, 1));
    assert_eq!((settled.rest(DOWN), settled.released(DOWN)), (Rest::Idle, 1));
    assert_eq!(settled.watermark, world.facts.len() as u64, "the reader can count for itself");
    assert_eq!(settled.watermark, token.watermark() + unread);
    // There was no successor, and there is no other completion to come.
    assert_eq!(world.ask(&token, of(DOWN, 2)), pending(Some(DOWN), 1, Awaits::Batches));
}

#[test]
fn a_permit_goes_to_the_next_batch_at_the_same_instant() {
    let mut world = World::new(8, one_by_one(8));
    world.compute(0, 3);
    let token = world.engine.capture();
    let before = token.lane(DOWN);
    assert_eq!((before.queued, before.in_flight), (2, 1));
    world.complete(DOWN);
    let settled = world.settled(&token, of(DOWN, 1));
    let after = settled.lane(DOWN);
    assert_eq!((after.queued, after.in_flight, after.completed), (1, 1, 1), "the successor is not lost");
    // In flight, settling, completed; queued, starting, in flight: four steps, four epochs.
    assert_eq!(after.epoch, before.epoch + 4);
    assert_eq!(settled.rest(DOWN), Rest::Permits);
    world.complete(DOWN);
    world.complete(DOWN);
    assert_eq!(world.settled(&token, of(DOWN, 3)).lane(DOWN).epoch, before.epoch + 10);
}

#[test]
fn several_completions_at_one_instant_are_one_settlement() {
    let mut tiers = one_by_one(8);
    tiers.lanes[DOWN.index()].max_concurrent = 3;
    let mut world = World::new(8, tiers);
    world.compute(0, 5);
    let token = world.engine.capture();
    assert_eq!((token.lane(DOWN).queued, token.lane(DOWN).in_flight), (2, 3));
    for _ in 0..3 {
        world.tell_end(DOWN, Ok(()));
    }
    world.rest();
    let after = world.settled(&token, of(DOWN, 3)).lane(DOWN);
    assert_eq!((after.queued, after.in_flight, after.completed), (0, 2, 3));
}

#[test]
fn completions_between_capture_and_question_count() {
    let mut world = World::new(8, one_by_one(8));
    world.compute(0, 3);
    let token = world.engine.capture();
    world.complete(DOWN);
    world.complete(DOWN);
    assert_eq!(world.settled(&token, of(DOWN, 1)).released(DOWN), 2, "a target is a least number");
    let later = world.engine.capture();
    assert_eq!(world.settled(&later, SettlementTarget::new()).released(DOWN), 0);
    let pending = Settlement::Pending { lane: Some(DOWN), missing: 1, why: Awaits::Completions };
    assert_eq!(world.ask(&token, of(DOWN, 1).completed(DOWN, 2)), Ok(pending), "targets of one lane add up");
}

#[test]
fn a_target_of_nothing_asks_for_stability_only() {
    let mut world = World::new(8, one_by_one(8));
    let token = world.engine.capture();
    world.settled(&token, SettlementTarget::new());
    world.arrive(0, 2, 0);
    let pending = Settlement::Pending { lane: None, missing: 0, why: Awaits::Commands };
    assert_eq!(world.ask(&token, SettlementTarget::new()), Ok(pending));
    world.rest();
    world.end_pass();
    assert_eq!(world.settled(&token, SettlementTarget::new()).rest(DOWN), Rest::Permits);
}

/// The peer's figures: 101 drained transfers of one block, of which each releases one source slot.
#[test]
fn each_of_101_transfers_of_one_block_releases_one_source() {
    let mut world = World::new(128, one_by_one(128));
    world.compute(0, 101);
    for drained in 0..101 {
        let token = world.engine.capture();
        world.complete(DOWN);
        let settled = world.settled(&token, of(DOWN, 1));
        assert_eq!(settled.released(DOWN), 1, "transfer {drained}");
    }
    assert_eq!(world.engine.released_sources(DOWN), 101);
    assert_eq!(world.engine.g1().occupancy().source_hold, 0);
}

#[test]
fn a_batch_that_is_not_full_rests_in_the_collector() {
    let mut tiers = one_by_one(8);
    tiers.lanes[DOWN.index()].batch_blocks = 4;
    tiers.lanes[DOWN.index()].flush_after = span(50);
    let mut world = World::new(8, tiers);
    world.compute(0, 2);
    let token = world.engine.capture();
    assert_eq!(world.settled(&token, SettlementTarget::new()).rest(DOWN), Rest::Collecting);
    let pending = Settlement::Pending { lane: Some(DOWN), missing: 1, why: Awaits::Completions };
    assert_eq!(world.ask(&token, of(DOWN, 1)), Ok(pending));
    world.wake();
    world.complete(DOWN);
    assert_eq!(world.settled(&token, of(DOWN, 1)).released(DOWN), 2, "a batch of two blocks");
}

#[test]
fn a_batch_that_waits_for_its_next_attempt_is_said_to() {
    let mut tiers = one_by_one(8);
    tiers.lanes[DOWN.index()].retries = 1;
    tiers.lanes[DOWN.index()].backoff = span(9);
    let mut world = World::new(8, tiers);
    world.compute(0, 1);
    let token = world.engine.capture();
    world.fail(DOWN, CopyFailure::Executor);
    let settled = world.settled(&token, SettlementTarget::new());
    assert_eq!((settled.rest(DOWN), settled.lane(DOWN).queued), (Rest::Backoff, 1));
    assert_eq!(settled.released(DOWN), 0, "it still has its source");
    let pending = Settlement::Pending { lane: Some(DOWN), missing: 1, why: Awaits::Completions };
    assert_eq!(world.ask(&token, of(DOWN, 1)), Ok(pending), "it has not failed for good");
    world.wake();
    world.complete(DOWN);
    assert_eq!(world.settled(&token, of(DOWN, 1)).released(DOWN), 1);
}

#[test]
fn a_batch_that_waits_for_room_is_said_to() {
    let tiers = crate::TiersConfig { g3: tier(8), pressure: Pressure::Hold, ..one_by_one(1) };
    let mut world = World::new(8, tiers);
    world.compute(0, 2);
    let token = world.engine.capture();
    world.complete(DOWN);
    let settled = world.settled(&token, of(DOWN, 1));
    assert_eq!((settled.rest(DOWN), settled.lane(DOWN).queued), (Rest::Room, 1));
    assert_eq!(settled.lane(DOWN).in_flight, 0, "a permit is free");
    world.complete(Lane::G2ToG3);
    assert_eq!(world.engine.lane(DOWN).in_flight, 1, "and the room has come");
    world.drain();
    world.settled(&token, of(DOWN, 2).completed(Lane::G2ToG3, 2).with_chains());
}
