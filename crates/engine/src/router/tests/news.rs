//! What is believed, and from when on.

use tierscope_units::time::NS_PER_S;
use tierscope_units::{RequestId, WorkerId};

use super::*;

/// The worker that `replica` of two sends an empty request to: that with less load. Nothing stays booked.
fn lighter(router: &mut Router, now: u64, replica: u32) -> u16 {
    let nothing = [];
    let probe = ask(1_000 + replica, &nothing);
    let chosen = router.route(at(now), &probe).expect("two candidates").worker.0;
    router.ended(at(now), probe.request);
    chosen
}

#[test]
fn events_are_believed_when_they_arrive() {
    let event_delay = Span::from_ns(50);
    let mut router = router(RouterConfig { event_delay, ..RouterConfig::of(RouterKind::KvAware) }, 2);
    let prompt = chain(1, 3);
    store(&mut router, at(10), 1, (Tier::G1, &prompt));
    router.publish(at(20), WorkerId(1), CacheEvent::Removed { tier: Tier::G1, hashes: &prompt[2..] });
    router.publish(at(30), WorkerId(1), CacheEvent::Cleared);
    let truth = || std::iter::empty();
    let seen = [59, 60, 69, 70, 79, 80].map(|now| {
        let check = router.check(at(now), truth());
        assert_eq!(check.missing, 0);
        assert_eq!(router.check_settled(truth()).phantom, 0);
        (router.believed(at(now), WorkerId(1), &prompt).blocks(), check.phantom, check.pending)
    });
    assert_eq!(seen, [(0, 0, 3), (3, 3, 2), (3, 3, 2), (2, 2, 1), (2, 2, 1), (0, 0, 0)]);
}

#[test]
fn a_replica_knows_its_own_at_once_and_others_after_the_delay() {
    let sync_delay = Span::from_ns(100);
    let config = RouterConfig { replicas: 2, sync_delay, ..RouterConfig::of(RouterKind::LeastLoaded) };
    let mut router = router(config, 2);
    assert_eq!(send(&mut router, at(0), 0, 5).worker.0, 0);
    assert_eq!([lighter(&mut router, 0, 0), lighter(&mut router, 99, 1)], [1, 0]);
    // The probes of both replicas are news for each other too; they have ended again when they are heard.
    assert_eq!(lighter(&mut router, 100, 1), 1);
    router.ended(at(200), RequestId(0));
    assert_eq!([lighter(&mut router, 200, 0), lighter(&mut router, 250, 1)], [0, 1]);
    assert_eq!(lighter(&mut router, 300, 1), 0);
    assert_eq!(router.futile().unknown_request, 0);
}

#[test]
fn silence_expires_under_the_wall_clock_and_never_in_replay() {
    let load_at = |expiry, heard: Option<u64>, now: u64| {
        let mut router = router(RouterConfig { expiry, ..RouterConfig::of(RouterKind::LeastLoaded) }, 2);
        send(&mut router, at(0), 0, 5);
        if let Some(heard) = heard {
            router.prefilled(at(heard * NS_PER_S), RequestId(0));
        }
        let lighter = lighter(&mut router, now, 0);
        (lighter == 1, router.futile().expired)
    };
    let after = 300 * NS_PER_S;
    assert_eq!(load_at(Expiry::WALL_CLOCK, None, after - 1), (true, 0));
    assert_eq!(load_at(Expiry::WALL_CLOCK, None, after), (false, 1));
    // News keeps it for as long again.
    assert_eq!(load_at(Expiry::WALL_CLOCK, Some(200), 200 * NS_PER_S + after - 1), (true, 0));
    assert_eq!(load_at(Expiry::WALL_CLOCK, Some(200), 200 * NS_PER_S + after), (false, 1));
    // News that comes too late keeps nothing.
    assert_eq!(load_at(Expiry::WALL_CLOCK, Some(300), 301 * NS_PER_S), (false, 1));
    assert_eq!(load_at(Expiry::REPLAY, None, u64::MAX), (true, 0));
}

#[test]
fn a_lost_worker_takes_its_content_and_bookings_with_it_and_may_return() {
    let (sync_delay, event_delay) = (Span::from_ns(100), Span::from_ns(10));
    let config =
        RouterConfig { replicas: 2, sync_delay, event_delay, ..RouterConfig::of(RouterKind::LeastLoaded) };
    let mut router = router(config, 2);
    let prompt = chain(1, 2);
    send(&mut router, at(0), 0, 5);
    store(&mut router, at(0), 0, (Tier::G1, &prompt));
    store(&mut router, at(15), 0, (Tier::G2, &prompt));
    store(&mut router, at(15), 0, (Tier::G4, &prompt));
    assert_eq!(router.believed(at(20), WorkerId(0), &prompt).g1_blocks, 2);
    router.forget(at(20), WorkerId(0));
    // What was under way to the index about its own tiers never comes; the object store lives on.
    let overlap = router.believed(at(30), WorkerId(0), &prompt);
    assert_eq!((overlap.blocks(), overlap.g4_blocks), (2, 2));
    assert_eq!(send(&mut router, at(30), 2, 1).worker.0, 1);
    router.join(at(40), WorkerId(0), Stage::Whole);
    // Neither replica has request 0 on it, not even the one that was about to hear of it.
    assert_eq!([lighter(&mut router, 40, 0), lighter(&mut router, 200, 1)], [0, 0]);
    router.ended(at(200), RequestId(0));
    assert_eq!(router.futile().unknown_request, 1);
}

#[test]
fn a_handed_off_request_is_booked_at_both_workers() {
    let mut router = Router::new(RouterConfig::of(RouterKind::LeastLoaded), 4, Vec::new());
    for (worker, stage) in [Stage::Prefill, Stage::Prefill, Stage::Decode, Stage::Decode].iter().enumerate() {
        router.join(at(0), WorkerId(worker as u16), *stage);
    }
    let prompt = chain(1, 4);
    let next = |router: &mut Router, request, stage| {
        router.route(at(0), &Ask { stage, ..ask(request, &prompt) }).map(|choice| choice.worker.0)
    };
    assert_eq!(next(&mut router, 0, Stage::Prefill), Some(0));
    assert_eq!(next(&mut router, 0, Stage::Decode), Some(2));
    assert_eq!(next(&mut router, 1, Stage::Prefill), Some(1));
    router.prefilled(at(0), RequestId(0));
    // The prefill worker is done with it, the decode worker is not.
    assert_eq!(next(&mut router, 2, Stage::Prefill), Some(0));
    assert_eq!(next(&mut router, 1, Stage::Decode), Some(3));
    router.ended(at(0), RequestId(0));
    assert_eq!(next(&mut router, 2, Stage::Decode), Some(2));
    assert_eq!(next(&mut router, 3, Stage::Whole), None);
}
