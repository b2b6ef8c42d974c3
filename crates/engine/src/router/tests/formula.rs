//! The cost by hand.

use tierscope_units::{RequestId, WorkerId};

use super::*;
use crate::router::Overlap;

/// Worker 0 holds 10 blocks of a prompt of 16: 4 in G1, 3 in G2, 2 in G3, 1 in G4; it has 8 blocks to prefill and 20 booked.
fn prepared(cost: CostTerms) -> Router {
    let mut router = router(RouterConfig { cost, ..RouterConfig::of(RouterKind::RoundRobin) }, 2);
    let other = chain(9, 8);
    let whole = Ask { output_blocks_hint: 12, ..ask(100, &other) };
    assert_eq!(router.route(at(0), &whole).map(|choice| choice.worker), Some(WorkerId(0)));
    assert_eq!(send(&mut router, at(0), 101, 3).worker, WorkerId(1));
    let prompt = chain(1, 16);
    for (tier, blocks) in [(Tier::G1, 0..4), (Tier::G2, 2..7), (Tier::G3, 7..9), (Tier::G4, 9..10)] {
        store(&mut router, at(0), 0, (tier, &prompt[blocks]));
    }
    router
}

fn cost_of(mut router: Router, stage: Stage) -> i64 {
    let prompt = chain(1, 16);
    // The next in turn is worker 0, if it serves the stage.
    router.join(at(0), WorkerId(0), stage);
    let choice = router.route(at(0), &Ask { output_blocks_hint: 5, stage, ..ask(7, &prompt) });
    let choice = choice.expect("worker 0 serves it");
    assert_eq!(choice.worker, WorkerId(0));
    let overlap = Overlap { g1_blocks: 4, g2_blocks: 3, g3_blocks: 2, g4_blocks: 1 };
    assert_eq!(choice.overlap, overlap);
    choice.cost_milliblocks
}

#[test]
fn each_term_counts_as_published() {
    let published = CostTerms::default();
    // (8 + 16 − (4 + 0.75 × 3 + 0.25 × 2)) + (20 + 16 + 5)
    let cases = [
        (published, 17_250 + 41_000),
        (CostTerms { overlap_score_credit: 0.0, ..published }, 21_250 + 41_000),
        (CostTerms { host_cache_hit_weight: 0.0, ..published }, 19_500 + 41_000),
        (CostTerms { disk_cache_hit_weight: 1.0, ..published }, 15_750 + 41_000),
        (CostTerms { shared_cache_multiplier: 0.5, ..published }, 16_750 + 41_000),
        (CostTerms { prefill_load_scale: 2.0, ..published }, 34_500 + 41_000),
        (CostTerms { decode_active_request_weight: 7.0, ..published }, 17_250 + 41_000 + 7_000),
        // Worker 1 has 3 blocks to prefill, so worker 0 has 5 more: decay 1 / (1 + 2 × 5 / 16).
        (CostTerms { overlap_score_credit_decay: 2.0, ..published }, 24_000 - 2_462 - 2_750 + 41_000),
        // The credit never makes a prefill negative.
        (CostTerms { overlap_score_credit: 1000.0, ..published }, 41_000),
        (CostTerms { overlap_score_credit: f64::NAN, ..published }, 21_250 + 41_000),
    ];
    for (terms, expected) in cases {
        assert_eq!(cost_of(prepared(terms), Stage::Whole), expected, "{terms:?}");
    }
}

#[test]
fn a_decode_worker_has_nothing_to_prefill_and_a_prefill_worker_no_output() {
    assert_eq!(cost_of(prepared(CostTerms::default()), Stage::Decode), 20_000 + 16_000 + 5_000);
    assert_eq!(cost_of(prepared(CostTerms::default()), Stage::Prefill), 17_250 + 20_000 + 16_000);
}

#[test]
fn what_is_reached_is_not_booked_as_prefill() {
    let mut router = prepared(CostTerms::default());
    let prompt = chain(1, 16);
    let first = router.route(at(0), &ask(7, &prompt)).expect("a worker");
    assert_eq!(first.worker, WorkerId(0));
    router.route(at(0), &ask(8, &prompt)).expect("worker 1 is next");
    let second = router.route(at(0), &ask(9, &prompt)).expect("a worker");
    // 16 − round(4 + 2.25 + 0.5) = 9 to prefill, and 16 blocks.
    assert_eq!(second.cost_milliblocks - first.cost_milliblocks, 9_000 + 16_000);
    router.prefilled(at(0), RequestId(7));
    let third = {
        router.route(at(0), &ask(10, &prompt)).expect("worker 1 is next");
        router.route(at(0), &ask(11, &prompt)).expect("a worker")
    };
    // Request 9 has come with 9 and 16; request 7 has lost its 9.
    assert_eq!(third.cost_milliblocks - second.cost_milliblocks, 16_000);
}

#[test]
fn overlap_is_the_contiguous_prefix_in_the_highest_tier() {
    let mut router = router(RouterConfig::of(RouterKind::KvAware), 2);
    let prompt = chain(1, 6);
    store(&mut router, at(0), 1, (Tier::G1, &prompt[..2]));
    store(&mut router, at(0), 1, (Tier::G1, &prompt[3..]));
    let overlap = |router: &mut Router| router.believed(at(0), WorkerId(1), &prompt);
    assert_eq!(overlap(&mut router), Overlap { g1_blocks: 2, ..Overlap::default() });
    // The gap closes from a lower tier, and what lies behind counts again.
    store(&mut router, at(0), 0, (Tier::G4, &prompt[2..4]));
    assert_eq!(overlap(&mut router), Overlap { g1_blocks: 5, g4_blocks: 1, ..Overlap::default() });
    assert_eq!(router.believed(at(0), WorkerId(0), &prompt), Overlap::default());
    assert_eq!(router.believed(at(0), WorkerId(0), &prompt[2..]).blocks(), 2);
}

#[test]
fn a_hosts_disk_is_shared_and_a_repeated_event_changes_nothing() {
    let mut router = Router::new(RouterConfig::of(RouterKind::KvAware), 4, vec![5, 9, 5, 9]);
    let prompt = chain(1, 3);
    store(&mut router, at(0), 0, (Tier::G3, &prompt));
    store(&mut router, at(0), 2, (Tier::G3, &prompt[..1]));
    store(&mut router, at(0), 3, (Tier::G1, &prompt));
    store(&mut router, at(0), 3, (Tier::G1, &prompt));
    let reach =
        |router: &mut Router| [0, 1, 2, 3].map(|w| router.believed(at(0), WorkerId(w), &prompt).blocks());
    assert_eq!(reach(&mut router), [3, 0, 3, 3]);
    // A set, not a count: once removed is gone, whoever of the host says so.
    for (worker, tier) in [(2, Tier::G3), (3, Tier::G1), (3, Tier::G1)] {
        let hashes = &prompt[1..];
        router.publish(at(0), WorkerId(worker), CacheEvent::Removed { tier, hashes });
    }
    assert_eq!(reach(&mut router), [1, 0, 1, 1]);
    let futile = router.futile();
    assert_eq!((futile.stored_again, futile.removed_unknown), (1 + 3, 2));
}
