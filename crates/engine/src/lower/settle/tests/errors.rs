//! Why a settlement cannot be judged or will not come, each by its name (rule L4).

use super::world::{MACHINE, World, config, of, one_by_one, tier};
use crate::lower::lane::Phase;
use crate::{
    Awaits, CopyFailure, Engine, EngineConfig, Input, InputError, Lane, LaneFault, MachineId, Settlement,
    SettlementError, SettlementTarget, TiersConfig,
};

const DOWN: Lane = Lane::G1ToG2;

fn failed(kind: LaneFault) -> Result<Settlement, SettlementError> {
    Err(SettlementError::LaneFailed { lane: DOWN, kind })
}

#[test]
fn a_token_of_another_machine_is_foreign() {
    let world = World::new(8, one_by_one(8));
    let other = Engine::named(config(8, one_by_one(8)), MachineId(8));
    let foreign = SettlementError::ForeignToken { token: MachineId(8), machine: MACHINE };
    assert_eq!(world.ask(&other.capture(), SettlementTarget::new()), Err(foreign));
    let unnamed = Engine::new(config(8, one_by_one(8)));
    assert_eq!(unnamed.capture().machine(), MachineId::default());
}

#[test]
fn a_token_of_a_later_state_is_stale() {
    let mut world = World::new(8, one_by_one(8));
    world.compute(0, 2);
    let kept = world.engine.clone();
    world.complete(DOWN);
    let token = world.engine.capture();
    let stale = Err(SettlementError::StaleToken);
    assert_eq!(kept.settlement(&token, &SettlementTarget::new()), stale, "the copy went on from before");
    let anew = Engine::named(config(8, one_by_one(8)), MACHINE);
    assert_eq!(anew.settlement(&token, &SettlementTarget::new()), stale, "the machine was made anew");
    // The watermark alone tells it too: no lane has moved.
    let mut fresh = World::new(8, one_by_one(8));
    let before = fresh.engine.clone();
    fresh.arrive(0, 1, 0);
    fresh.rest();
    assert_eq!(before.settlement(&fresh.engine.capture(), &SettlementTarget::new()), stale);
}

#[test]
fn a_copy_that_went_another_way_does_not_know_the_token() {
    let mut world = World::new(8, one_by_one(8));
    world.compute(0, 3);
    let mut other = World::of(world.engine.clone());
    other.copies = world.copies.clone();
    world.complete(DOWN);
    let token = world.engine.capture();
    // The other is further in every epoch, and has fewer completions.
    for _ in 0..3 {
        other.fail(DOWN, CopyFailure::Executor);
    }
    assert_eq!(other.ask(&token, SettlementTarget::new()), Err(SettlementError::StaleToken));
}

#[test]
fn a_copy_with_as_many_completions_on_other_lanes_does_not_know_it_either() {
    let mut world = World::new(8, TiersConfig { g3: tier(8), ..one_by_one(8) });
    world.compute(0, 2);
    world.complete(DOWN);
    let mut other = World::of(world.engine.clone());
    other.copies = world.copies.clone();
    world.complete(DOWN);
    let token = world.engine.capture();
    other.fail(DOWN, CopyFailure::Executor);
    other.complete(Lane::G2ToG3);
    assert_eq!(other.ask(&token, SettlementTarget::new()), Err(SettlementError::StaleToken));
}

#[test]
fn a_lane_to_a_tier_that_is_not_there_is_unavailable() {
    let g2_only = World::new(8, one_by_one(8));
    let token = g2_only.engine.capture();
    for lane in [Lane::G2ToG3, Lane::G2ToG4, Lane::G3ToG2, Lane::G4ToG2] {
        assert_eq!(g2_only.ask(&token, of(lane, 1)), Err(SettlementError::LaneUnavailable(lane)));
        g2_only.settled(&token, of(lane, 0));
    }
    let bare = World::of(Engine::new(EngineConfig::default()));
    let token = bare.engine.capture();
    assert_eq!(bare.ask(&token, of(DOWN, 1)), Err(SettlementError::LaneUnavailable(DOWN)));
    bare.settled(&token, SettlementTarget::new().with_chains());
}

#[test]
fn a_target_past_the_end_of_numbers_is_told() {
    let mut world = World::new(8, one_by_one(8));
    let token = world.engine.capture();
    let overflow = Err(SettlementError::TargetOverflow(DOWN));
    let most = of(DOWN, u64::MAX);
    assert!(matches!(world.ask(&token, most), Ok(Settlement::Pending { missing: u64::MAX, .. })));
    assert_eq!(world.ask(&token, most.completed(DOWN, 1)), overflow, "the sum of the demands");
    assert_eq!(world.ask(&token, most.completed(DOWN, 1).completed(DOWN, 0)), overflow);
    world.compute(0, 1);
    world.complete(DOWN);
    assert_eq!(world.ask(&world.engine.capture(), most), overflow, "the sum with what has completed");
}

#[test]
fn a_failure_for_good_is_told_by_its_kind() {
    for (failure, kind) in [
        (CopyFailure::Aborted, LaneFault::TaskAborted),
        (CopyFailure::Panicked, LaneFault::TaskPanicked),
        (CopyFailure::Executor, LaneFault::Executor),
        (CopyFailure::Corrupt, LaneFault::Executor),
        (CopyFailure::Shutdown, LaneFault::Shutdown),
    ] {
        let mut world = World::new(8, one_by_one(8));
        world.compute(0, 2);
        let token = world.engine.capture();
        world.fail(DOWN, failure);
        assert_eq!(world.ask(&token, of(DOWN, 1)), failed(kind), "{failure:?}");
        let settled = world.settled(&token, SettlementTarget::new());
        assert_eq!(
            (settled.lane(DOWN).failed, settled.released(DOWN)),
            (1, 1),
            "nothing was asked of the lane"
        );
        // The other batch brings what was asked for after all.
        world.complete(DOWN);
        world.settled(&token, of(DOWN, 1));
        assert_eq!(world.ask(&token, of(DOWN, 2)), failed(kind), "{failure:?}");
        // Who counts from after the failure has not seen it.
        let later = world.engine.capture();
        assert!(matches!(world.ask(&later, of(DOWN, 1)), Ok(Settlement::Pending { .. })));
    }
}

#[test]
fn a_load_that_nobody_wants_any_more_is_cancelled_and_never_completes() {
    let mut tiers = one_by_one(8);
    tiers.lanes[Lane::G2ToG1.index()].max_concurrent = 1;
    let mut world = World::new(8, tiers);
    world.compute(0, 2);
    world.drain();
    world.forget_g1();
    let request = world.arrive(0, 2, 1);
    world.rest();
    let token = world.engine.capture();
    let up = token.lane(Lane::G2ToG1);
    assert_eq!((up.queued, up.in_flight), (1, 1));
    world.tell(Input::Cancel(request));
    world.rest();
    world.complete(Lane::G2ToG1);
    let settled = world.settled(&token, of(Lane::G2ToG1, 1).with_chains());
    assert_eq!((settled.lane(Lane::G2ToG1).completed, settled.lane(Lane::G2ToG1).cancelled), (1, 1));
    assert_eq!(settled.released(Lane::G2ToG1), 2, "the cancelled one's source too (rule L5)");
    let never = Settlement::Pending { lane: Some(Lane::G2ToG1), missing: 1, why: Awaits::Batches };
    assert_eq!(world.ask(&token, of(Lane::G2ToG1, 2)), Ok(never));
}

#[test]
fn a_count_at_the_end_of_numbers_fails_the_lane_and_moves_nothing_wrong() {
    let mut world = World::new(8, one_by_one(8));
    world.compute(0, 2);
    let lower = world.engine.lower.as_deref_mut().expect("there is a G2");
    lower.lane(DOWN).snapshot.completed = u64::MAX;
    let token = world.engine.capture();
    assert_eq!(world.ask(&token, of(DOWN, 1)), Err(SettlementError::TargetOverflow(DOWN)));
    world.settled(&token, SettlementTarget::new());
    world.complete(DOWN);
    assert_eq!(world.ask(&token, SettlementTarget::new()), failed(LaneFault::CounterOverflow));
    assert_eq!(world.engine.lane(DOWN).completed, u64::MAX, "it does not start again from nothing");
    assert_eq!(world.engine.lane(DOWN).in_flight, 1, "the successor has started all the same");
    assert_eq!(world.engine.released_sources(DOWN), 1);
    let mut world = World::new(8, one_by_one(8));
    world.engine.lower.as_deref_mut().expect("there is a G2").lane(DOWN).snapshot.epoch = u64::MAX;
    let token = world.engine.capture();
    world.compute(0, 1);
    world.drain();
    assert_eq!(
        world.ask(&token, of(DOWN, 1)),
        failed(LaneFault::CounterOverflow),
        "the epoch is a count too"
    );
}

#[test]
fn a_step_that_no_batch_makes_fails_the_lane() {
    let broken = |tamper: fn(&mut crate::lower::LaneState)| {
        let mut world = World::new(8, one_by_one(8));
        let token = world.engine.capture();
        tamper(world.engine.lower.as_deref_mut().expect("there is a G2").lane(DOWN));
        world.ask(&token, SettlementTarget::new())
    };
    let invariant = failed(LaneFault::Invariant);
    assert_eq!(broken(|lane| lane.pass_on(Phase::Completed, Phase::Failed)), invariant, "it ends once");
    assert_eq!(broken(|lane| lane.pass_on(Phase::Settling, Phase::Completed)), invariant, "there is none");
    assert_eq!(broken(|lane| lane.pass_on(Phase::Collecting, Phase::Collecting)), invariant);
    assert_eq!(broken(|lane| lane.snapshot.starting = 1), invariant, "nothing is left to poll");
    let startable = |lane: &mut crate::lower::LaneState| {
        lane.snapshot.queued = 1;
        lane.queue.push_back(tierscope_units::TransferId(0));
    };
    assert_eq!(broken(startable), invariant, "a batch that could start has not");
}

#[test]
fn a_machine_says_which_lane_it_cannot_close() {
    let mut world = World::new(8, TiersConfig { g3: tier(8), ..one_by_one(8) });
    let mut close = |lane| world.engine.handle(tierscope_units::SimTime::ZERO, Input::CloseLane { lane });
    assert_eq!(close(Lane::G2ToG3), Ok(()));
    assert_eq!(close(Lane::G2ToG3), Err(InputError::LaneClosed(Lane::G2ToG3)));
    assert_eq!(close(Lane::G2ToG4), Err(InputError::LaneUnavailable(Lane::G2ToG4)));
    assert!(world.engine.is_lane_closed(Lane::G2ToG3) && !world.engine.is_lane_closed(Lane::G3ToG2));
}
