//! What a completion sets off on other lanes is part of a settlement that asks for it (rule L3).

use super::world::{World, of, one_by_one, span, tier};
use crate::{
    Awaits, CopyFailure, Lane, LaneFault, Rest, Settlement, SettlementError, SettlementTarget, TierConfig,
    TiersConfig,
};

const DOWN: Lane = Lane::G1ToG2;

/// A block comes to G2, and the token is from before.
fn fed(g3: Option<TierConfig>, g4: Option<TierConfig>) -> (World, crate::SettlementToken) {
    let mut world = World::new(8, TiersConfig { g3, g4, ..one_by_one(8) });
    world.compute(0, 1);
    let token = world.engine.capture();
    world.complete(DOWN);
    (world, token)
}

fn chained(lane: Lane) -> Result<Settlement, SettlementError> {
    Ok(Settlement::Pending { lane: Some(lane), missing: 1, why: Awaits::Chains })
}

#[test]
fn a_chain_to_both_slower_tiers_settles_when_both_have_ended() {
    let (mut world, token) = fed(tier(8), tier(8));
    let target = of(DOWN, 1);
    assert_eq!(world.settled(&token, target).lane(Lane::G2ToG3).in_flight, 1, "its own lane is done");
    assert_eq!(world.ask(&token, target.with_chains()), chained(Lane::G2ToG3));
    world.complete(Lane::G2ToG3);
    assert_eq!(world.ask(&token, target.with_chains()), chained(Lane::G2ToG4));
    world.complete(Lane::G2ToG4);
    let settled = world.settled(&token, target.completed(Lane::G2ToG4, 1).with_chains());
    assert_eq!([DOWN, Lane::G2ToG3, Lane::G2ToG4].map(|lane| settled.released(lane)), [1, 1, 1]);
}

#[test]
fn a_chain_to_one_slower_tier_is_closed_over_too() {
    for (g3, g4, lane) in [(tier(8), None, Lane::G2ToG3), (None, tier(8), Lane::G2ToG4)] {
        let (mut world, token) = fed(g3, g4);
        assert_eq!(world.ask(&token, of(DOWN, 1).with_chains()), chained(lane));
        world.complete(lane);
        world.settled(&token, of(DOWN, 1).with_chains());
    }
}

#[test]
fn a_chain_ends_badly_and_the_settlement_says_so_when_it_was_asked_for() {
    let (mut world, token) = fed(tier(8), tier(8));
    world.complete(Lane::G2ToG4);
    world.fail(Lane::G2ToG3, CopyFailure::Executor);
    let settled = world.settled(&token, of(DOWN, 1).with_chains());
    assert_eq!(
        settled.lane(Lane::G2ToG3).failed,
        1,
        "it has ended, and nobody asked that it should complete"
    );
    let failed = SettlementError::LaneFailed { lane: Lane::G2ToG3, kind: LaneFault::Executor };
    assert_eq!(world.ask(&token, of(Lane::G2ToG3, 1)), Err(failed));
    world.settled(&token, of(Lane::G2ToG4, 1));
}

#[test]
fn what_earlier_completions_set_off_is_not_of_this_settlement() {
    let (mut world, before) = fed(tier(8), None);
    let token = world.engine.capture();
    world.settled(&token, SettlementTarget::new().with_chains());
    assert_eq!(world.ask(&before, SettlementTarget::new().with_chains()), chained(Lane::G2ToG3));
    world.complete(Lane::G2ToG3);
    world.settled(&before, SettlementTarget::new().with_chains());
}

#[test]
fn a_chain_that_is_still_collected_is_not_overlooked() {
    let mut tiers = TiersConfig { g3: tier(8), ..one_by_one(8) };
    tiers.lanes[Lane::G2ToG3.index()].batch_blocks = 4;
    tiers.lanes[Lane::G2ToG3.index()].flush_after = span(100);
    let mut world = World::new(8, tiers);
    world.compute(0, 2);
    let first = world.engine.capture();
    world.complete(DOWN);
    let second = world.engine.capture();
    assert_eq!(world.settled(&first, of(DOWN, 1)).rest(Lane::G2ToG3), Rest::Collecting);
    assert_eq!(world.ask(&first, of(DOWN, 1).with_chains()), chained(Lane::G2ToG3));
    // The second block joins the first: the batch is of both completions now.
    world.settled(&second, SettlementTarget::new().with_chains());
    world.complete(DOWN);
    assert_eq!(world.ask(&second, of(DOWN, 1).with_chains()), chained(Lane::G2ToG3));
    world.wake();
    world.complete(Lane::G2ToG3);
    let settled = world.settled(&first, of(DOWN, 2).with_chains());
    assert_eq!((settled.lane(Lane::G2ToG3).completed, settled.released(Lane::G2ToG3)), (1, 2));
}

#[test]
fn staging_sets_off_the_way_up() {
    let mut world = World::new(8, TiersConfig { g3: tier(8), ..one_by_one(1) });
    // The first block goes down to G3; the second takes its place in G2.
    for first in [0, 1] {
        world.compute(first, 1);
        world.drain();
    }
    world.forget_g1();
    let request = world.arrive(0, 1, 1);
    world.rest();
    let token = world.engine.capture();
    world.complete(Lane::G3ToG2);
    let target = of(Lane::G3ToG2, 1);
    assert_eq!(world.ask(&token, target.with_chains()), chained(Lane::G2ToG1));
    world.complete(Lane::G2ToG1);
    let settled = world.settled(&token, target.completed(Lane::G2ToG1, 1).with_chains());
    assert_eq!([Lane::G3ToG2, Lane::G2ToG1].map(|lane| settled.released(lane)), [1, 1]);
    world.drain();
    assert!(!world.engine.is_live(request));
}
