//! Who is chosen, by each kind.

use tierscope_units::{RandomStream, RequestId, WorkerId};

use super::*;

fn spread(router: &mut Router, requests: std::ops::Range<u32>, workers: usize) -> Vec<u32> {
    let mut counts = vec![0; workers];
    for request in requests {
        counts[usize::from(send(router, at(1_000), request, 10).worker.0)] += 1;
    }
    counts
}

#[test]
fn round_robin_goes_by_id_among_whoever_is_there() {
    let mut router = router(RouterConfig::of(RouterKind::RoundRobin), 130);
    for worker in (0..130).filter(|worker| ![1, 63, 64, 129].contains(worker)) {
        router.leave(at(0), WorkerId(worker));
    }
    let next = |router: &mut Router| send(router, at(0), 0, 1).worker.0;
    assert_eq!([(); 6].map(|()| next(&mut router)), [1, 63, 64, 129, 1, 63]);
    router.leave(at(0), WorkerId(64));
    router.join(at(0), WorkerId(100), Stage::Whole);
    router.join(at(0), WorkerId(1), Stage::Decode);
    assert_eq!([(); 4].map(|()| next(&mut router)), [100, 129, 63, 100]);
    for worker in [63, 100, 129] {
        router.leave(at(0), WorkerId(worker));
    }
    let prompt = chain(1, 1);
    assert_eq!(router.route(at(0), &ask(0, &prompt)), None);
    let decode = Ask { stage: Stage::Decode, ..ask(0, &prompt) };
    assert_eq!(router.route(at(0), &decode).map(|choice| (choice.worker.0, choice.candidates)), Some((1, 1)));
}

#[test]
fn least_loaded_looks_at_requests_then_blocks_then_ids() {
    let mut router = router(RouterConfig::of(RouterKind::LeastLoaded), 3);
    // Sizes so that the order of blocks is not that of ids.
    let chosen = [30, 10, 20, 5, 5, 5].iter().zip(0..);
    let chosen: Vec<u16> =
        chosen.map(|(&blocks, request)| send(&mut router, at(0), request, blocks).worker.0).collect();
    assert_eq!(chosen, [0, 1, 2, 1, 2, 0]);
    router.ended(at(0), RequestId(2));
    assert_eq!(send(&mut router, at(0), 9, 1).worker.0, 2);
}

#[test]
fn equal_costs_go_to_fewer_requests_then_to_the_lower_id() {
    // Nothing weighs but overlap, so all costs are equal.
    let cost = CostTerms { prefill_load_scale: 0.0, ..CostTerms::default() };
    let mut router = router(RouterConfig { cost, ..RouterConfig::of(RouterKind::KvAware) }, 3);
    let nothing = [];
    let mut next = |request| router.route(at(0), &ask(request, &nothing)).map(|choice| choice.worker.0);
    assert_eq!([0, 1, 2, 3].map(&mut next), [0, 1, 2, 0].map(Some));
}

#[test]
fn a_held_prefix_draws_until_load_outweighs_it() {
    let mut router = router(RouterConfig::of(RouterKind::KvAware), 4);
    let system = chain(1, 8);
    store(&mut router, at(0), 2, (Tier::G1, &system));
    let chosen: Vec<u16> = (0..5)
        .filter_map(|request| router.route(at(0), &ask(request, &system)))
        .map(|choice| choice.worker.0)
        .collect();
    // A worker without the prefix has 8 blocks to prefill, as much as the second request at worker 2 finds booked there:
    // equal costs, and fewer requests elsewhere. Then the others have one too, and its prefill waits there.
    assert_eq!(chosen, [2, 0, 1, 3, 2]);
}

/// Field notes A-54: routers that do not hear of each other within a cycle all see the same idle worker.
#[test]
fn replicas_that_hear_late_herd_and_those_that_hear_at_once_spread() {
    let herd = |sync_delay| {
        let config = RouterConfig { replicas: 16, sync_delay, ..RouterConfig::of(RouterKind::KvAware) };
        spread(&mut router(config, 8), 0..16, 8)
    };
    assert_eq!(herd(Span::from_ns(1)), [16, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(herd(Span::ZERO), [2; 8]);
}

/// The same with load hidden: with the published terms a shared prefix pulls everything to one worker.
#[test]
fn without_load_terms_a_shared_prefix_takes_all() {
    let cost = CostTerms { prefill_load_scale: 0.0, ..CostTerms::default() };
    let mut router = router(RouterConfig { cost, ..RouterConfig::of(RouterKind::KvAware) }, 2);
    let mut counts = [0; 2];
    for request in 0..448 {
        counts[usize::from(send(&mut router, at(0), request, 10).worker.0)] += 1;
        // Paced sessions: each ends before the next begins, so every decision sees no load.
        router.ended(at(0), RequestId(request));
    }
    assert_eq!(counts, [448, 0]);
}

#[test]
fn a_temperature_draws_by_the_share_of_the_spread() {
    let drawn = |temperature, unit: u64| {
        let cost = CostTerms { temperature, ..CostTerms::default() };
        let mut router = router(RouterConfig { cost, ..RouterConfig::of(RouterKind::KvAware) }, 3);
        let prompt = chain(1, 20);
        store(&mut router, at(0), 1, (Tier::G1, &prompt[..10]));
        store(&mut router, at(0), 2, (Tier::G1, &prompt));
        let draw = Ask { draw: unit, ..ask(0, &prompt) };
        router.route(at(0), &draw).map(|choice| usize::from(choice.worker.0))
    };
    let mut words = RandomStream::named(1, "router");
    let mut counts = [0_u32; 3];
    for _ in 0..20_000 {
        if let Some(worker) = drawn(0.5, words.word()) {
            counts[worker] += 1;
        }
    }
    // Costs lie at 1, ½ and 0 of their spread: weights e⁻², e⁻¹ and 1, of 1.5032 together.
    for (count, share) in counts.iter().zip([0.0900, 0.2447, 0.6652]) {
        assert!((f64::from(*count) / 20_000.0 - share).abs() < 0.01, "{counts:?}");
    }
    // The ends of the draw, and temperatures that are nearly none.
    assert_eq!((drawn(0.5, 0), drawn(0.5, u64::MAX)), (Some(0), Some(2)));
    for nearly in [1e-320, 1e-3] {
        assert_eq!((drawn(nearly, 1 << 11), drawn(nearly, u64::MAX)), (Some(2), Some(2)));
    }
    // Equal costs draw evenly.
    let cost = CostTerms { temperature: 1.0, ..CostTerms::default() };
    let mut even = router(RouterConfig { cost, ..RouterConfig::of(RouterKind::KvAware) }, 4);
    even.leave(at(0), WorkerId(1));
    let nothing = [];
    let mut draw = |word| {
        even.ended(at(0), RequestId(0));
        even.route(at(0), &Ask { draw: word, ..ask(0, &nothing) }).map(|choice| choice.worker.0)
    };
    assert_eq!([0, u64::MAX / 2, u64::MAX].map(&mut draw), [0, 2, 3].map(Some));
}
