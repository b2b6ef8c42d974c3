//! What is told of one thing agrees with the state of the machine at that time.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::protocol::{BlockTold, BlockWhat, LifePhase, RequestTold, Subject, Told, WorkerRole};

const HANDED_ON: &str = include_str!("../../../../../tests/browser/scenarios/handed-on.toml");
const CHATS: &str = include_str!("../../../../gallery/chat-sessions.toml");
const PREEMPTION: &str = include_str!("../../../../gallery/preemption.toml");

fn tell(agent: &mut Agent, at_ns: f64, about: Subject) -> Told {
    match agent.hear(ToWorker::Tell { run: 1, at_ns, about: about.clone() }).pop() {
        Some(FromWorker::Told { about: asked, told, .. }) if asked == about => told,
        other => panic!("expected something told, got {other:?}"),
    }
}

fn block(agent: &mut Agent, at_ns: f64, hash: &str) -> BlockTold {
    match tell(agent, at_ns, Subject::Block(hash.to_owned())) {
        Told::Block(told) => told,
        other => panic!("expected a block, got {other:?}"),
    }
}

fn request(agent: &mut Agent, at_ns: f64, request: u32) -> RequestTold {
    match tell(agent, at_ns, Subject::Request(request)) {
        Told::Request(told) => *told,
        other => panic!("expected a request, got {other:?}"),
    }
}

/// Contents that are in G1 at a time, and who holds each.
fn contents(agent: &mut Agent, worker: u32, at_ns: f64, slots: u32) -> BTreeMap<String, BTreeSet<u32>> {
    let mut found = BTreeMap::new();
    for slot in 0..slots {
        let inspect = ToWorker::Inspect { run: 1, worker, at_ns, tier: TierName::G1, slot, among: 1 };
        if let Some(FromWorker::Slot { slot, .. }) = agent.hear(inspect).pop()
            && let Some(hash) = slot.hash
        {
            found.entry(hash).or_insert_with(BTreeSet::new).extend(slot.owners);
        }
    }
    found
}

/// Who holds a content at a worker at a time, by its story.
fn holders(told: &BlockTold, worker: u32, at_ns: f64) -> BTreeSet<u32> {
    let mut holders = BTreeSet::new();
    for event in told.events.iter().filter(|event| event.worker == worker && event.at_ns <= at_ns) {
        match event.what {
            BlockWhat::Stored { request } | BlockWhat::Hit { request } => {
                holders.insert(request);
            }
            BlockWhat::Released { request, .. } => {
                holders.remove(&request);
            }
            _ => {}
        }
    }
    holders
}

#[test]
fn a_story_says_at_each_time_who_holds_the_content() {
    for (text, slots) in
        [(SCENARIO, 32), (TWELVE_BLOCKS, 12), (FOUR_TIERS, 24), (CHATS, 64), (PREEMPTION, 64)]
    {
        let mut agent = Agent::default();
        let end = done(&run(&mut agent, 1, text)).end_ns;
        let (mut seen, mut shared) = (0, 0);
        for step in 1..=12 {
            let at_ns = (end * f64::from(step) / 13.0).floor();
            for (hash, owners) in contents(&mut agent, 0, at_ns, slots) {
                let told = block(&mut agent, at_ns, &hash);
                if told.cut || told.events_before + told.events_more > 0 {
                    continue;
                }
                assert_eq!(holders(&told, 0, at_ns), owners, "{hash} at {at_ns} of {text}: {told:?}");
                assert!(told.here.iter().any(|here| here.tier == TierName::G1));
                seen += 1;
                shared += usize::from(owners.len() > 1);
            }
        }
        assert!(seen > 20, "{seen} contents were looked at");
        assert!(text != SCENARIO || shared > 0, "some are shared");
    }
}

#[test]
fn a_story_goes_down_and_up_again() {
    let mut agent = Agent::default();
    let end = done(&run(&mut agent, 1, FOUR_TIERS)).end_ns;
    let (mut loaded, mut removed) = (false, false);
    for (hash, _) in contents(&mut agent, 0, end, 24) {
        let told = block(&mut agent, end, &hash);
        assert!(told.place.is_some() && told.events.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
        for event in &told.events {
            if let BlockWhat::Started { transfer, to, .. } = event.what {
                loaded |= to == TierName::G1;
                let Told::Transfer(copy) = tell(&mut agent, end, Subject::Transfer(transfer)) else {
                    panic!("a copy that a story names is known");
                };
                assert!(copy.hashes.contains(&hash), "and carries the block");
            }
            removed |= matches!(event.what, BlockWhat::Evicted | BlockWhat::RemovedBelow { .. });
        }
    }
    assert!(loaded && removed);
    assert_eq!(tell(&mut agent, end, Subject::Block("00000000000000ff".to_owned())), Told::Unknown);
    assert_eq!(tell(&mut agent, end, Subject::Block("nonsense".to_owned())), Told::Unknown);
    assert_eq!(tell(&mut agent, end, Subject::Transfer(1e300)), Told::Unknown);
    assert_eq!(tell(&mut agent, end, Subject::Request(u32::MAX)), Told::Unknown);
    assert_eq!(tell(&mut agent, end, Subject::Worker(7)), Told::Unknown);
}

/// The phase of the census is the phase of the life at that time.
#[test]
fn a_life_agrees_with_the_census_at_each_time() {
    for text in [SCENARIO, TWELVE_BLOCKS, BLOCKED, FOUR_TIERS, PREEMPTION] {
        let mut agent = Agent::default();
        let end = done(&run(&mut agent, 1, text)).end_ns;
        for step in 0..=40 {
            let board = board_at(&mut agent, (end * f64::from(step) / 41.0).floor());
            for row in board.census.iter().filter(|row| row.phase != "not arrived") {
                let told = request(&mut agent, board.asked_ns, row.request);
                assert!(told.rows.contains(row));
                let now = told.spans.iter().rev().find(|span| span.from_ns <= board.at_ns).expect("a phase");
                let agrees = match now.phase {
                    LifePhase::Waiting => row.phase == "waiting",
                    LifePhase::Blocked => row.transfer == now.transfer,
                    LifePhase::Loading => row.phase == "loading",
                    LifePhase::Loaded => row.phase == "loaded",
                    LifePhase::Prefill => row.phase == "prefill",
                    LifePhase::Decode => row.phase == "decode",
                    LifePhase::Preempted => row.phase == "preempted",
                    _ => false,
                };
                assert!(agrees, "{row:?} at {}: {:?}", board.at_ns, told.spans);
                assert_eq!(told.slots.len(), row.held_blocks as usize);
            }
        }
    }
}

#[test]
fn a_blocked_request_names_the_copy_its_lane_and_its_end() {
    let mut agent = Agent::default();
    run(&mut agent, 1, BLOCKED);
    let told = request(&mut agent, 110e6, 1);
    let why = told.why.expect("it waits");
    assert_eq!(why.until, Some((0.0, 120e6)));
    assert_eq!(why.copy.map(|copy| (copy.from, copy.to, copy.blocks)), Some((TierName::G1, TierName::G2, 4)));
    assert!(matches!(why.refused.map(|txn| txn.outcome), Some(TxnOutcome::Blocked { needed: 6 })));
    assert_eq!(told.copies.iter().map(|copy| copy.transfer).collect::<Vec<_>>(), [0.0]);
    assert!(told.spans.iter().any(|span| span.phase == LifePhase::Blocked && span.transfer == Some(0.0)));
    let after = request(&mut agent, 125e6, 1);
    assert!(after.why.is_none() && after.arrived_ns == Some(100e6));
}

#[test]
fn a_worker_tells_its_queues_and_a_life_goes_over_two() {
    let mut agent = Agent::default();
    let end = done(&run(&mut agent, 1, HANDED_ON)).end_ns;
    let Told::Worker(told) = tell(&mut agent, end / 2.0, Subject::Worker(1)) else { panic!("a worker") };
    assert_eq!((told.view.role, told.running.len() as u32), (WorkerRole::Decode, told.view.running));
    assert_eq!(told.totals.capacity(), 24);
    let life = request(&mut agent, end, 0);
    let phases: Vec<_> = life.spans.iter().map(|span| (span.phase, span.worker > 0)).collect();
    let wanted = [(LifePhase::Prefill, false), (LifePhase::Handoff, false), (LifePhase::Decode, true)];
    assert!(wanted.iter().all(|phase| phases.contains(phase)), "{phases:?}");
    assert_eq!(phases.last().map(|phase| phase.0), Some(LifePhase::Finished));
}

#[test]
fn slots_below_tell_their_content_too() {
    let mut agent = Agent::default();
    let end = done(&run(&mut agent, 1, FOUR_TIERS)).end_ns;
    let below = |tier, slot, among| ToWorker::Inspect { run: 1, worker: 0, at_ns: end, tier, slot, among };
    let mut asked = |tier, slot, among| match agent.hear(below(tier, slot, among)).pop() {
        Some(FromWorker::Slot { slot, .. }) => slot,
        other => panic!("expected a slot, got {other:?}"),
    };
    let first = asked(TierName::G2, 0, 12);
    assert!(first.tier == TierName::G2 && first.hash.is_some() && first.last_ns.is_some_and(|at| at <= end));
    assert!(!first.also_in.contains(&TierName::G2));
    let never_used = asked(TierName::G4, 4_999, 1);
    assert_eq!((never_used.state, never_used.hash), (BlockState::Free, None));
}
