mod asked;
mod exports;
mod recordings;
mod several;
mod told;
mod traces;

use std::cell::Cell;

use super::*;
use crate::protocol::{
    BlockState, CopyCause, CopyOutcome, OutcomeFilter, PreemptedRequest, Room, TierName, Totals, TxnCaller,
    TxnFilter, TxnOutcome, Way,
};

const SCENARIO: &str = r#"
tierscope = 1
title = "test"
seed = 1
[engine]
block_size_tokens = 16
g1_blocks = 32
[timing]
model = "fixed"
prefill_per_token_ns = 1000
decode_ns = 1000000
[workload]
kind = "synthetic"
requests = 30
arrival = "poisson"
rate_per_s = 100.0
prompt_tokens = 40
output_tokens = 20
shared_prefix = { tokens = 32, groups = 1 }
"#;

/// A clock on which every look takes a millisecond.
fn clock() -> impl Fn() -> f64 {
    let ms = Cell::new(0.0);
    move || {
        ms.set(ms.get() + 1.0);
        ms.get()
    }
}

fn run(agent: &mut Agent, id: u32, text: &str) -> Vec<FromWorker> {
    let mut said = agent.hear(ToWorker::Run { run: id, text: text.to_owned(), worker: 0 });
    let now = clock();
    while agent.is_running() {
        said.extend(agent.slice(&now, 8.0));
    }
    said
}

fn done(said: &[FromWorker]) -> &RunResult {
    match said.last() {
        Some(FromWorker::Done { result, .. }) => result,
        other => panic!("expected the result of a run, got {other:?}"),
    }
}

fn board_at(agent: &mut Agent, at_ns: f64) -> Board {
    match agent.hear(ToWorker::Seek { run: 1, worker: 0, at_ns }).pop() {
        Some(FromWorker::Board { board, .. }) => *board,
        other => panic!("expected a board, got {other:?}"),
    }
}

fn stepped(agent: &mut Agent, from_ns: f64, direction: Direction) -> Board {
    match agent.hear(ToWorker::Step { run: 1, worker: 0, from_ns, direction }).pop() {
        Some(FromWorker::Stepped { board, .. }) => *board,
        other => panic!("expected a step, got {other:?}"),
    }
}

#[test]
fn a_run_ends_with_a_report() {
    let mut agent = Agent::default();
    let said = run(&mut agent, 1, SCENARIO);
    let result = done(&said);
    assert!(result.report.contains("\"outcome\":\"finished\""), "{}", result.report);
    assert!(result.end_ns > 0.0 && result.latency.iter().all(|line| !line.points.is_empty()));
    assert!(result.occupancy.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
}

#[test]
fn a_faulty_scenario_is_refused_with_places() {
    let said = Agent::default().hear(ToWorker::Run {
        run: 1,
        text: "tierscope = 1\nnonsense = 2".to_owned(),
        worker: 0,
    });
    assert!(matches!(&said[..], [FromWorker::Refused { run: 1, problems }] if !problems.is_empty()));
}

#[test]
fn a_cancelled_run_reports_what_it_had() {
    let mut agent = Agent::default();
    agent.hear(ToWorker::Run { run: 1, text: SCENARIO.to_owned(), worker: 0 });
    agent.slice(&clock(), 1.0);
    assert!(agent.is_running());
    let said = agent.hear(ToWorker::Cancel { run: 1 });
    assert!(done(&said).report.contains("\"outcome\":\"cancelled\""));
    assert!(!agent.is_running());
    assert_eq!(agent.hear(ToWorker::Cancel { run: 1 }), []);
}

#[test]
fn any_time_can_be_sought_in_any_order() {
    let mut agent = Agent::default();
    let end = done(&run(&mut agent, 1, SCENARIO)).end_ns;
    let forward: Vec<_> = (0..=20).map(|i| board_at(&mut agent, end * f64::from(i) / 20.0)).collect();
    let back: Vec<_> = (0..=20).rev().map(|i| board_at(&mut agent, end * f64::from(i) / 20.0)).collect();
    assert!(forward.iter().eq(back.iter().rev()), "the way to a time has no influence");
    for board in &forward {
        let mut sum = Totals::default();
        for cell in board.cells.iter() {
            for state in BlockState::ALL {
                (0..cell.of(state)).for_each(|_| sum.count(state));
            }
        }
        assert_eq!(sum, board.totals);
        assert_eq!(board.totals.capacity(), 32);
    }
    assert!(forward.iter().any(|board| board.totals.shared > 0), "the prefix is shared at some time");
    assert_eq!(board_at(&mut agent, f64::NAN).at_ns, 0.0);
    assert_eq!(board_at(&mut agent, 1e300).at_ns, end);
}

#[test]
fn steps_go_to_instants_and_back_again() {
    let mut agent = Agent::default();
    let end = done(&run(&mut agent, 1, SCENARIO)).end_ns;
    let mut times = vec![0.0];
    while let Some(&last) = times.last()
        && last < end
    {
        times.push(stepped(&mut agent, last, Direction::Forward).at_ns);
        assert!(times.len() < 10_000);
    }
    assert_eq!(stepped(&mut agent, end, Direction::Forward).at_ns, end);
    let mut at = end;
    for &time in times.iter().rev().skip(1) {
        at = stepped(&mut agent, at, Direction::Back).at_ns;
        assert_eq!(at, time);
    }
    assert_eq!(stepped(&mut agent, 0.0, Direction::Back).at_ns, 0.0);
}

#[test]
fn a_block_tells_its_owners() {
    let mut agent = Agent::default();
    let end = done(&run(&mut agent, 1, SCENARIO)).end_ns;
    let owned = (0..32).any(|slot| {
        let said = agent.hear(ToWorker::Inspect {
            run: 1,
            worker: 0,
            at_ns: end / 2.0,
            tier: TierName::G1,
            slot,
            among: 1,
        });
        matches!(&said[..], [FromWorker::Slot { slot, .. }] if !slot.owners.is_empty())
    });
    assert!(owned, "somebody holds a block in the middle of the run");
    assert_eq!(
        agent.hear(ToWorker::Inspect {
            run: 1,
            worker: 0,
            at_ns: 0.0,
            tier: TierName::G1,
            slot: 32,
            among: 1
        }),
        []
    );
    assert_eq!(agent.hear(ToWorker::Seek { run: 9, worker: 0, at_ns: 0.0 }), []);
}

/// JSON has no bytes: the cells' own reader takes a list of numbers as well.
#[test]
fn a_board_survives_json() {
    let mut agent = Agent::default();
    run(&mut agent, 1, SCENARIO);
    let board = board_at(&mut agent, 1e8);
    let text = serde_json::to_string(&board).expect("a board has a JSON form");
    assert_eq!(serde_json::from_str::<Board>(&text).expect("and is read back"), board);
}

const TWELVE_BLOCKS: &str = include_str!("../../../gallery/twelve-blocks.toml");
const BLOCKED: &str = include_str!("../../../gallery/blocked-on-offload.toml");

fn found(agent: &mut Agent, way: Way, at_ns: f64, txn: Option<f64>, outcome: OutcomeFilter) -> Found {
    let find =
        Find { way, at_ns, txn, filter: TxnFilter { worker: 0, outcome, request: None }, details: true };
    match agent.hear(ToWorker::Find { run: 1, find }).pop() {
        Some(FromWorker::Found { asked, found, .. }) if asked == find => *found,
        other => panic!("expected a transaction, got {other:?}"),
    }
}

#[test]
fn the_first_exhausted_transaction_tells_its_numbers_and_what_followed() {
    let mut agent = Agent::default();
    run(&mut agent, 1, TWELVE_BLOCKS);
    let first = found(&mut agent, Way::FirstExhausted, 0.0, None, OutcomeFilter::All);
    let shown = first.transaction.expect("there is one");
    assert_eq!((shown.request, shown.caller), (0, TxnCaller::DecodeGrowth));
    assert_eq!(shown.outcome, TxnOutcome::Exhausted { needed: 1, obtainable: 0 });
    let detail = shown.detail.expect("details");
    assert_eq!((detail.capacity, detail.room), (12, Some(Room { free: 0, cached: 0 })));
    assert_eq!(detail.preempted, Some(PreemptedRequest { request: 3, released: 3, lost_tokens: 1_534 }));
    let next = found(&mut agent, Way::Next, shown.at_ns, Some(shown.txn), OutcomeFilter::All);
    let next = next.transaction.expect("the second try");
    assert_eq!(next.at_ns, shown.at_ns, "at the same instant");
    let detail = next.detail.expect("details");
    assert_eq!(detail.taken.iter().map(|block| block.slot).collect::<Vec<_>>(), [11]);
    let back = found(&mut agent, Way::Previous, next.at_ns, Some(next.txn), OutcomeFilter::Exhausted);
    assert_eq!((back.transaction.map(|found| found.txn), back.place), (Some(shown.txn), 1));
}

#[test]
fn a_blocked_transaction_tells_the_slots_that_are_held() {
    let mut agent = Agent::default();
    run(&mut agent, 1, BLOCKED);
    let blocked = found(&mut agent, Way::AtCursor, 110e6, None, OutcomeFilter::Blocked);
    let detail = blocked.transaction.and_then(|found| found.detail).expect("details");
    assert_eq!(detail.held.iter().map(|block| block.slot).collect::<Vec<_>>(), [5, 4, 3, 2]);
    assert_eq!(detail.room, Some(Room { free: 2, cached: 6 }));
    let transfer = detail.transfer.expect("it waits for a copy");
    assert_eq!((transfer.transfer, transfer.deadline_ns), (0.0, 120e6));
    let story = transfer.story.expect("the copy is kept");
    assert_eq!((story.from, story.to, story.cause), (TierName::G1, TierName::G2, CopyCause::Evicted));
    assert_eq!((story.queued_ns, story.started_ns, story.ended_ns), (100e6, Some(100e6), Some(120e6)));
    assert_eq!((story.blocks, story.waiting, story.end), (4, vec![1], Some(CopyOutcome::Completed)));
    let board = board_at(&mut agent, 110e6);
    assert_eq!((board.totals.source_hold, board.totals.capacity()), (4, 8));
    let [g2] = &board.tiers[..] else { panic!("G2 alone lies below: {:?}", board.tiers) };
    assert_eq!((g2.tier, g2.totals.reserved, g2.totals.capacity()), (TierName::G2, 4, 100));
    let lane = board.lanes[0];
    assert_eq!((lane.from, lane.to), (TierName::G1, TierName::G2));
    assert_eq!((lane.queued, lane.in_flight, lane.moving_blocks), (0, 1, 4));
    let rate = lane.rate.expect("its end is known");
    assert!((rate.bytes_per_s - 104_857_600.0).abs() < 1.0 && (rate.share - 1.0).abs() < 1e-9, "{rate:?}");
    assert_eq!(board.copies.len(), 1);
    assert_eq!(board.copies[0].progress(110e6), Some(0.5));
    let waiting = board.census.iter().find(|row| row.request == 1).expect("request 1 waits");
    assert_eq!(waiting.transfer, Some(0.0));
    let after = board_at(&mut agent, 120e6);
    assert_eq!((after.copies.len(), after.tiers[0].totals.cached, after.totals.source_hold), (0, 4, 0));
}

/// All four tiers: what leaves G1 goes down to G2 and on to G3 and G4, and comes up again.
const FOUR_TIERS: &str = r#"
tierscope = 1
title = "four tiers"
seed = 1
[engine]
block_size_tokens = 16
g1_blocks = 24
max_num_seqs = 4
[g2]
blocks = 12
[g3]
blocks = 40
[g4]
blocks = 5_000
[timing]
model = "fixed"
prefill_per_token_ns = 100000
decode_ns = 1000000
[workload]
kind = "synthetic"
requests = 40
arrival = "poisson"
rate_per_s = 40.0
prompt_tokens = 160
output_tokens = 4
shared_prefix = { tokens = 128, groups = 6 }
"#;

#[test]
fn the_connectors_tier_is_shown_in_blocks() {
    let (from, until) = (FOUR_TIERS.find("[g2]").expect("g2"), FOUR_TIERS.find("[timing]").expect("timing"));
    let below = "[g2]\nblocks = 41\n[offload]\nflavour = \"vllm\"\nblocks_per_chunk = 2\n";
    let mut agent = Agent::default();
    let text = format!("{}{below}{}", &FOUR_TIERS[..from], &FOUR_TIERS[until..]);
    let end = done(&run(&mut agent, 1, &text)).end_ns;
    let mut seen = Totals::default();
    for step in 0..=1_000 {
        let board = board_at(&mut agent, end * f64::from(step) / 1_000.0);
        let [g2] = &board.tiers[..] else { panic!("G2 alone lies below: {:?}", board.tiers) };
        let mut sum = Totals::default();
        for cell in g2.cells.iter() {
            BlockState::ALL.iter().for_each(|&state| (0..cell.of(state)).for_each(|_| sum.count(state)));
        }
        assert_eq!((sum, sum.capacity()), (g2.totals, 41), "at {}", board.at_ns);
        seen.reserved = seen.reserved.max(sum.reserved);
        seen.cached = seen.cached.max(sum.cached);
    }
    assert!(seen.reserved > 0 && seen.cached > 20, "{seen:?}");
}

#[test]
fn a_block_tells_where_else_it_is() {
    let mut agent = Agent::default();
    let end = done(&run(&mut agent, 1, FOUR_TIERS)).end_ns;
    let mut seen = std::collections::BTreeSet::new();
    for slot in 0..24 {
        match agent
            .hear(ToWorker::Inspect { run: 1, worker: 0, at_ns: end, tier: TierName::G1, slot, among: 1 })
            .pop()
        {
            Some(FromWorker::Slot { slot, .. }) => seen.extend(slot.also_in),
            other => panic!("expected a slot, got {other:?}"),
        }
    }
    assert!(seen.contains(&TierName::G4), "what was loaded is still below: {seen:?}");
}

#[test]
fn every_tier_and_lane_adds_up_at_every_time() {
    let mut agent = Agent::default();
    let said = run(&mut agent, 1, FOUR_TIERS);
    let end = done(&said).end_ns;
    assert!(done(&said).below.iter().any(|sample| sample.resident.iter().all(|&blocks| blocks > 0)));
    let (mut moved, mut loading) = ([false; 6], false);
    for step in 0..=2_000 {
        let board = board_at(&mut agent, end * f64::from(step) / 2_000.0);
        let names: Vec<_> = board.tiers.iter().map(|tier| tier.tier.as_str()).collect();
        assert_eq!((names, board.lanes.len()), (vec!["G2", "G3", "G4"], 6));
        for tier in &board.tiers {
            let mut sum = Totals::default();
            for cell in tier.cells.iter() {
                BlockState::ALL.iter().for_each(|&state| (0..cell.of(state)).for_each(|_| sum.count(state)));
            }
            assert_eq!(sum, tier.totals, "{:?} at {}", tier.tier, board.at_ns);
        }
        assert_eq!(
            board.tiers.iter().map(|tier| tier.totals.capacity()).collect::<Vec<_>>(),
            [12, 40, 5_000]
        );
        assert!(board.tiers[2].cells.len() <= 1_024 && board.tiers[2].cells.per_cell == 5);
        let count =
            |moving| board.copies.iter().filter(|copy| copy.is_moving(board.at_ns) == moving).count() as u32;
        let under_way: u32 = board.lanes.iter().map(|lane| lane.in_flight).sum();
        let queued: u32 = board.lanes.iter().map(|lane| lane.queued).sum();
        assert_eq!((count(true), count(false)), (under_way, queued), "at {}", board.at_ns);
        for (seen, lane) in moved.iter_mut().zip(&board.lanes) {
            *seen |= lane.completed > 0.0 && lane.moved_bytes > 0.0;
        }
        loading |= board.census.iter().any(|row| row.phase == "loading" && row.transfer.is_some());
    }
    assert_eq!(moved, [true; 6], "every lane was used");
    assert!(loading, "somebody loads, and it is said for which copy it waits");
}

/// From the first instant to the last, in any scenario: what the index has is found again by repeating it.
#[test]
fn every_transaction_has_details_that_agree_with_the_index() {
    for text in [SCENARIO, TWELVE_BLOCKS, BLOCKED, FOUR_TIERS] {
        let mut agent = Agent::default();
        run(&mut agent, 1, text);
        let (mut at_ns, mut shown, mut seen) = (0.0, None, 0);
        let mut next = found(&mut agent, Way::AtCursor, 0.0, None, OutcomeFilter::All);
        while let Some(transaction) = next
            .transaction
            .take()
            .or_else(|| found(&mut agent, Way::Next, at_ns, shown, OutcomeFilter::All).transaction)
        {
            let detail = transaction.detail.expect("details");
            if let TxnOutcome::Ready { active_hits, cached_hits, missing, victims } = transaction.outcome {
                // Victims that were below already came free before the second try.
                let evicted = victims + detail.released;
                assert_eq!((detail.taken.len(), detail.victims.len()), (missing as usize, evicted as usize));
                let hits = detail.hits.len();
                assert!(hits == 0 || hits == (active_hits + cached_hits) as usize);
            }
            seen += 1;
            (at_ns, shown) = (transaction.at_ns, Some(transaction.txn));
        }
        let counts = found(&mut agent, Way::AtCursor, 1e300, None, OutcomeFilter::All).counts;
        assert_eq!((seen, counts[1] + counts[2] + counts[3]), (counts[0], counts[0]));
    }
}

#[test]
fn what_rests_is_sampled_too_so_that_the_timeline_agrees_with_the_board() {
    let mut agent = Agent::default();
    let said = run(&mut agent, 1, include_str!("../../../gallery/disk-hit.toml"));
    let result = said.into_iter().find_map(|said| match said {
        FromWorker::Done { result, .. } => Some(result),
        _ => None,
    });
    let samples = result.expect("it ends").occupancy;
    for at_s in [12.7, 23.5, 33.9, 58.7] {
        let at_ns = at_s * 1e9;
        let sample = samples.iter().rev().find(|sample| sample.at_ns <= at_ns).expect("a sample");
        let board = match agent.hear(ToWorker::Seek { run: 1, worker: 0, at_ns }).pop() {
            Some(FromWorker::Board { board, .. }) => *board,
            other => panic!("expected a board, got {other:?}"),
        };
        let active = board.totals.active + board.totals.shared;
        let told = (sample.running, sample.waiting, sample.active, sample.cached);
        assert_eq!(told, (board.running, board.waiting, active, board.totals.cached), "at {at_s} s");
    }
}
