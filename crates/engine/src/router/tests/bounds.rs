//! Memory follows what is there, and odd input is answered, not obeyed.

use tierscope_units::{RequestId, WorkerId};

use super::*;
use crate::router::REPLICAS_MAX;

#[test]
fn vacated_nodes_are_used_again() {
    let mut router = router(RouterConfig::of(RouterKind::KvAware), 70);
    for round in 0..20 {
        let prompt = chain(round, 100);
        for worker in [0, 1, 2, 3, 60, 64, 69, 65] {
            store(&mut router, at(round), worker, (Tier::G1, &prompt));
        }
        assert_eq!(router.index.room(), (100, 100));
        for worker in [64, 69, 0, 1, 2, 3, 65, 60] {
            let removed = CacheEvent::Removed { tier: Tier::G1, hashes: &prompt };
            router.publish(at(round), WorkerId(worker), removed);
        }
        assert_eq!(router.index.room(), (0, 100));
    }
}

#[test]
fn the_log_between_replicas_is_cut_and_bookings_are_used_again() {
    let sync_delay = Span::from_ns(10);
    let config = RouterConfig { replicas: 3, sync_delay, ..RouterConfig::of(RouterKind::LeastLoaded) };
    let mut router = router(config, 4);
    for request in 0..30_000_u32 {
        send(&mut router, at(u64::from(request)), request, 1);
        router.ended(at(u64::from(request)), RequestId(request));
    }
    let (log, views) = router.replicas.room();
    assert!(log <= 4096, "{log} lines");
    for (booked, room) in views {
        assert!(booked <= 1 && room <= 2, "{booked} bookings in {room} places");
    }
}

#[test]
fn odd_input_changes_nothing_and_is_counted() {
    let odd = RouterConfig { replicas: 0, ..RouterConfig::of(RouterKind::KvAware) };
    let mut router = router(odd, 2);
    assert_eq!(router.config().replicas, 1);
    let prompt = chain(1, 2);
    store(&mut router, at(0), 7, (Tier::G4, &prompt));
    router.join(at(0), WorkerId(2), Stage::Whole);
    router.leave(at(0), WorkerId(u16::MAX));
    router.forget(at(0), WorkerId(3));
    assert_eq!(router.believed(at(0), WorkerId(9), &prompt).blocks(), 0);
    router.prefilled(at(0), RequestId(5));
    router.ended(at(0), RequestId(5));
    assert_eq!((router.futile().unknown_worker, router.futile().unknown_request), (5, 2));
    let huge = Ask { prompt_blocks: u32::MAX, output_blocks_hint: u32::MAX, ..ask(3, &prompt) };
    let choices = [3, 4, 5].map(|request| router.route(at(0), &Ask { request: RequestId(request), ..huge }));
    assert_eq!(
        choices.map(|choice| choice.map(|choice| (choice.worker.0, choice.candidates))),
        [Some((0, 2)), Some((1, 2)), Some((0, 2))]
    );
    // Time that runs backwards stands still.
    router.ended(at(9), RequestId(3));
    assert_eq!(send(&mut router, at(2), 6, 1).worker.0, 0);
    let mut many = RouterConfig { replicas: u32::MAX, ..RouterConfig::of(RouterKind::RoundRobin) };
    many.event_delay = Span::from_ns(u64::MAX);
    let mut late = Router::new(many, 1, Vec::new());
    assert_eq!(late.config().replicas, REPLICAS_MAX);
    store(&mut late, at(5), 0, (Tier::G1, &prompt));
    assert_eq!(late.check(at(6), std::iter::empty()).pending, 1);
    assert_eq!(
        Router::new(RouterConfig::of(RouterKind::KvAware), 0, Vec::new()).route(at(0), &ask(0, &prompt)),
        None
    );
}
