//! What can be asked of a run that is over.

use super::*;
use crate::protocol::{About, Hits, Instant, SpanKind, TierName, TrackKind, Tracks};

fn tracks(agent: &mut Agent) -> Tracks {
    match agent.hear(ToWorker::Tracks { run: 1 }).pop() {
        Some(FromWorker::Tracks { tracks, .. }) => *tracks,
        other => panic!("expected tracks, got {other:?}"),
    }
}

fn hits(agent: &mut Agent, query: &str) -> Hits {
    match agent.hear(ToWorker::Search { run: 1, query: query.to_owned() }).pop() {
        Some(FromWorker::Hits { hits, .. }) => *hits,
        other => panic!("expected hits, got {other:?}"),
    }
}

fn facts(agent: &mut Agent, at_ns: f64) -> Instant {
    match agent.hear(ToWorker::Facts { run: 1, at_ns }).pop() {
        Some(FromWorker::Facts { instant, .. }) => *instant,
        other => panic!("expected facts, got {other:?}"),
    }
}

/// A pool that is too small, with a tier below.
const TIGHT: &str = r#"
tierscope = 1
title = "tight"
seed = 1
[engine]
block_size_tokens = 16
g1_blocks = 12
[g2]
blocks = 64
[timing]
model = "fixed"
prefill_per_token_ns = 100000
decode_ns = 1000000
[workload]
kind = "synthetic"
requests = 40
arrival = "poisson"
rate_per_s = 100.0
prompt_tokens = 60
output_tokens = 40
"#;

#[test]
fn the_tracks_are_those_of_the_report() {
    let mut agent = Agent::default();
    let said = run(&mut agent, 1, TIGHT);
    let result = done(&said);
    let report: serde_json::Value = serde_json::from_str(&result.report).expect("a report is JSON");
    let tracks = tracks(&mut agent);
    assert_eq!((tracks.end_ns, tracks.left_out), (result.end_ns, [0; 4]));
    let count = |kind| tracks.list.iter().filter(|track| track.kind == kind).count();
    assert_eq!((count(TrackKind::Request), count(TrackKind::Passes)), (40, 1));
    assert!(count(TrackKind::Copies) > 0 && count(TrackKind::Below) == 1 && count(TrackKind::Blocks) == 1);
    let mut marked = 0;
    for track in tracks.list.iter().filter(|track| !track.kind.is_counter()) {
        let spans: Vec<_> = track.range().map(|place| tracks.spans.get(place)).collect();
        assert!(spans.iter().all(|span| span.start_ns <= span.end_ns && !span.open), "{track:?}");
        assert!(spans.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns), "{track:?}");
        if track.kind == TrackKind::Passes {
            assert_eq!(report["passes"], spans.len());
        }
        if track.kind == TrackKind::Request {
            assert!(
                spans.windows(2).all(|pair| pair[0].end_ns == pair[1].start_ns),
                "without a gap: {spans:?}"
            );
            // Who computes again what was lost may get the last token with it.
            let last = spans.last().map(|span| span.kind);
            assert!(matches!(last, Some(SpanKind::Decode | SpanKind::Prefill)), "{last:?}");
        }
        marked += spans.iter().filter(|span| span.kind == SpanKind::MarkPreempted).count();
    }
    assert_eq!(report["preemptions"], marked);
    assert!(marked > 0);
}

#[test]
fn answers_agree_with_the_index_they_come_from() {
    let mut agent = Agent::default();
    run(&mut agent, 1, TIGHT);
    let all = hits(&mut agent, "outcome:all");
    let parts: Vec<u32> = ["outcome:ready", "outcome:exhausted", "outcome:blocked"]
        .map(|query| hits(&mut agent, query).total)
        .to_vec();
    assert!(parts.iter().all(|&count| count > 0) && parts.iter().sum::<u32>() == all.total, "{parts:?}");
    assert!(all.hits.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
    let one = hits(&mut agent, "request 3");
    assert!(one.hits.iter().all(|hit| hit.about == About::Request(3)) && one.hits.len() >= 3);
    let copy = hits(&mut agent, "transfer 0");
    assert_eq!((copy.total, &copy.hits[0].about), (3, &About::Transfer(0.0)));
    let worker = hits(&mut agent, "worker 0");
    assert_eq!((worker.total, &worker.hits[0].about), (2, &About::Worker(0)));
    for (query, understood) in [("worker 9", true), ("request 999", true), ("why", false), ("", false)] {
        let none = hits(&mut agent, query);
        assert_eq!((none.understood, none.total), (understood, 0), "{query}");
    }
    assert!(!hits(&mut agent, &"x".repeat(1_000)).understood);
}

#[test]
fn a_block_is_found_by_its_hash_and_by_its_beginning() {
    let mut agent = Agent::default();
    run(&mut agent, 1, TIGHT);
    let block = (0..12).find_map(|slot| {
        match agent
            .hear(ToWorker::Inspect { run: 1, worker: 0, at_ns: 5e7, tier: TierName::G1, slot, among: 1 })
            .pop()
        {
            Some(FromWorker::Slot { slot, .. }) => slot.hash,
            other => panic!("expected a slot, got {other:?}"),
        }
    });
    let hash = block.expect("a block is full by then");
    let whole = hits(&mut agent, &hash);
    assert!(whole.total > 0 && whole.hits.iter().all(|hit| hit.about == About::Block(hash.clone())));
    assert_eq!(hits(&mut agent, &format!("block {}", &hash[..9])).hits, whole.hits);
}

#[test]
fn facts_of_an_instant_are_told_wherever_one_asks() {
    let mut agent = Agent::default();
    let end = done(&run(&mut agent, 1, TIGHT)).end_ns;
    let first = facts(&mut agent, 0.0);
    let mut at = stepped(&mut agent, 0.0, Direction::Forward).at_ns;
    let mut instants = 1;
    while instants < 40 {
        let here = facts(&mut agent, at);
        assert_eq!((here.at_ns, here.total as usize), (at, here.facts.len()));
        assert_eq!(facts(&mut agent, at + 0.4), here, "between instants the one before is told");
        let next = stepped(&mut agent, at, Direction::Forward).at_ns;
        at = next;
        instants += 1;
    }
    let last = facts(&mut agent, end);
    assert!(last.facts.iter().any(|words| words.starts_with("finishes request")), "{last:?}");
    assert_eq!(facts(&mut agent, 0.0), first, "the way to an instant has no influence");
    assert_eq!(agent.hear(ToWorker::Facts { run: 2, at_ns: 0.0 }), []);
}

#[test]
fn a_run_under_way_has_no_tracks_yet() {
    let mut agent = Agent::default();
    agent.hear(ToWorker::Run { run: 1, text: TIGHT.to_owned(), worker: 0 });
    agent.slice(&clock(), 1.0);
    assert_eq!(agent.hear(ToWorker::Tracks { run: 1 }), []);
    agent.hear(ToWorker::Cancel { run: 1 });
    let tracks = tracks(&mut agent);
    let open = (0..tracks.spans.len()).filter(|&place| tracks.spans.get(place).open).count();
    assert!(open > 0, "what was under way is open");
}
