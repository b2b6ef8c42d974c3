//! What handoffs and routing leave as it was, and what wakes whom.

use tierscope_engine::{
    Caller, CopyFailure, Fact, FleetConfig, FleetInput, HandoffBytes, HandoffFact, HandoffOrder,
    HandoffPhase, LaneConfig, Role, RouterKind, Store, TiersConfig, WorkerChange,
};
use tierscope_units::{HandoffId, RequestId};

use super::world::{World, config};

/// A destination that is idle and full of cached content makes room by offloading it, and wakes when that has ended,
/// though nothing else happens at that worker (rule H5).
#[test]
fn an_idle_destination_wakes_when_its_offload_ends() {
    let mut config = config(HandoffOrder::SourceFirst, false, RouterKind::RoundRobin);
    config.roles = vec![Role::Prefill, Role::Decode];
    config.present = vec![true; 2];
    let lane = LaneConfig { batch_blocks: 1, ..LaneConfig::default() };
    config.engine.tiers =
        Some(TiersConfig { store: Store::OnEviction, lanes: [lane; 6], ..TiersConfig::with_g2(64) });
    let mut world = World::new(config);
    world.send(0, 80, 0, 9);
    world.run();
    world.send(1, 40, 0, 2);
    world.run();
    world.assert_all_over("an idle destination");
    let blocked = world.seen.facts.iter().position(|(_, fact)| {
        matches!(fact, Fact::BlockedOnOffload { request: RequestId(1), caller: Caller::Destination, .. })
    });
    let reserved = world
        .seen
        .facts
        .iter()
        .position(|(_, fact)| matches!(fact, Fact::DestinationReserved { request: RequestId(1), .. }));
    assert!(blocked.is_some() && blocked < reserved, "{blocked:?} {reserved:?}");
}

/// A request that moves on from a lost worker keeps the tokens that it had: the client sees one answer.
#[test]
fn tokens_that_were_made_at_a_lost_worker_are_kept() {
    let mut config = config(HandoffOrder::SourceFirst, false, RouterKind::LeastLoaded);
    config.roles = vec![Role::Whole; 4];
    let mut world = World::new(config);
    world.send(0, 20, 0, 30);
    for _ in 0..12 {
        world.step();
    }
    let before = world.fleet.worker(tierscope_units::WorkerId(0)).output_tokens(RequestId(0));
    assert!(before.is_some_and(|tokens| (5..25).contains(&tokens)), "{before:?}");
    world.change(0, WorkerChange::Lose);
    world.run();
    world.assert_all_over("a lost worker");
    let prompt = world.seen.facts.iter().filter_map(|(_, fact)| match fact {
        Fact::Admitted { readmission, .. } => Some(*readmission),
        _ => None,
    });
    assert_eq!(prompt.collect::<Vec<_>>(), [false, true]);
}

/// `full_prompt` moves every block, `destination_missing` those that the destination lacks.
#[test]
fn what_a_handoff_moves_is_what_its_policy_says() {
    let moved = |bytes| {
        let mut config = config(HandoffOrder::SourceFirst, false, RouterKind::RoundRobin);
        config.roles = vec![Role::Prefill, Role::Decode];
        config.present = vec![true; 2];
        config.handoff.bytes = bytes;
        let mut world = World::new(config);
        world.send(0, 41, 32, 2);
        world.run();
        world.send(1, 41, 32, 2);
        world.run();
        world.assert_all_over("alike");
        let blocks = world.seen.facts.iter().filter_map(|(_, fact)| match fact {
            Fact::Handoff(HandoffFact::CopyStarted { blocks, .. }) => Some(*blocks),
            _ => None,
        });
        blocks.collect::<Vec<_>>()
    };
    // 41 tokens are eleven blocks of 4, of which eight are shared.
    assert_eq!(moved(HandoffBytes::FullPrompt), [11, 11]);
    assert_eq!(moved(HandoffBytes::DestinationMissing), [11, 3]);
}

/// What was computed elsewhere is not computed again, save the last token, from which the next one is sampled.
#[test]
fn a_context_that_came_is_used() {
    for (order, pipelined) in [(HandoffOrder::SourceFirst, false), (HandoffOrder::DestinationFirst, true)] {
        let mut world = World::new(config(order, pipelined, RouterKind::RoundRobin));
        world.send(0, 42, 0, 5);
        world.run();
        world.assert_all_over("a context");
        let joined = world.seen.facts.iter().filter_map(|(_, fact)| match fact {
            Fact::Joined { context_tokens, .. } => Some(*context_tokens),
            _ => None,
        });
        assert_eq!(joined.collect::<Vec<_>>(), [41]);
        let prefilled = world.seen.facts.iter().filter_map(|(_, fact)| match fact {
            Fact::Prefilled { tokens, .. } => Some(*tokens),
            _ => None,
        });
        assert_eq!(prefilled.sum::<u32>(), 42 + 1, "{order:?}");
    }
}

/// The end of a copy of another generation, or of one that nobody waits for, means nothing (rule H2).
#[test]
fn the_end_of_an_older_copy_means_nothing() {
    let mut world = World::new(config(HandoffOrder::SourceFirst, false, RouterKind::RoundRobin));
    world.send(0, 42, 0, 5);
    let transferring = HandoffPhase::Transferring;
    while !world.seen.has_reached(RequestId(0), transferring) {
        assert!(world.step());
    }
    let phases = world.seen.phases.len();
    let (request, handoff) = (RequestId(0), HandoffId(0));
    for (handoff, generation) in [(handoff, 1), (HandoffId(7), 0)] {
        for end in [Ok(()), Err(CopyFailure::Executor)] {
            assert!(world.tell(FleetInput::HandoffCopyEnded { request, handoff, generation, end }));
        }
    }
    assert_eq!(world.seen.phases.len(), phases);
    world.run();
    world.assert_all_over("older copies");
    // Its own end again.
    let phases = world.seen.phases.len();
    assert!(world.tell(FleetInput::HandoffCopyEnded { request, handoff, generation: 0, end: Ok(()) }));
    assert_eq!(world.seen.phases.len(), phases);
}

/// A worker that waits for the end of a start-up gets the requests that came meanwhile, in order.
#[test]
fn requests_wait_at_the_router_for_a_worker_that_starts() {
    let mut config = config(HandoffOrder::SourceFirst, false, RouterKind::RoundRobin);
    config.roles = vec![Role::Whole; 2];
    config.present = vec![false; 2];
    let mut world = World::new(config);
    for request in 0..3 {
        world.send(request, 9, 0, 2);
    }
    world.run();
    assert_eq!(world.fleet.between().count(), 3, "they wait");
    world.change(1, WorkerChange::Start);
    world.run();
    world.assert_all_over("a start");
    let routed: Vec<u32> = world
        .seen
        .facts
        .iter()
        .filter_map(|(_, fact)| match fact {
            Fact::Route(tierscope_engine::RouteFact::Chosen { request, .. }) => Some(request.0),
            _ => None,
        })
        .collect();
    assert_eq!(routed, [0, 1, 2]);
}

/// A fleet of one does what its worker does alone: routing adds facts, and changes nothing.
#[test]
fn a_fleet_of_one_is_its_worker() {
    let facts = |routed: bool| {
        let mut config = config(HandoffOrder::SourceFirst, false, RouterKind::KvAware);
        config.roles = vec![Role::Whole];
        config.present = vec![true];
        if !routed {
            config = FleetConfig { router: None, ..config };
        }
        let mut world = World::new(config);
        for request in 0..12 {
            world.send(request, 10 + 5 * request, 8, 3 + request);
        }
        world.run();
        let own = world.seen.facts.iter().filter(|(_, fact)| !matches!(fact, Fact::Route(_)));
        own.map(|(at, fact)| format!("{at} {fact:?}")).collect::<Vec<_>>()
    };
    assert_eq!(facts(true), facts(false));
}

/// A late message of a handoff that was given up means nothing (rule H2).
#[test]
fn a_phase_after_the_end_is_never_reached() {
    let mut world = World::new(config(HandoffOrder::SourceFirst, false, RouterKind::RoundRobin));
    world.send(0, 42, 0, 40);
    while !world.seen.has_reached(RequestId(0), HandoffPhase::DestinationReserved) {
        assert!(world.step());
    }
    world.cancel(0);
    let phases = world.seen.phases.len();
    world.run();
    assert_eq!(world.seen.phases.len(), phases, "the message that was under way moved it on");
    assert_eq!(world.seen.stale, 1);
    world.assert_all_over("cancelled");
}
