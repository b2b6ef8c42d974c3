//! Runs of several workers: what is shown is one worker's.

use super::*;
use crate::protocol::{Happening, WorkerRole, WorkerState};

const HANDED_ON: &str = include_str!("../../../../../tests/browser/scenarios/handed-on.toml");
const ROUTED: &str = include_str!("../../../../../tests/browser/scenarios/routed.toml");

fn seen(agent: &mut Agent, worker: u32, at_ns: f64) -> Board {
    match agent.hear(ToWorker::Seek { run: 1, worker, at_ns }).pop() {
        Some(FromWorker::Board { board, .. }) => *board,
        other => panic!("expected a board, got {other:?}"),
    }
}

fn asked(agent: &mut Agent, worker: u32, way: Way, from: Option<&Transaction>) -> Found {
    let filter = TxnFilter { worker, ..TxnFilter::default() };
    let (at_ns, txn) = (from.map_or(0.0, |from| from.at_ns), from.map(|from| from.txn));
    match agent.hear(ToWorker::Find { run: 1, find: Find { way, at_ns, txn, filter, details: true } }).pop() {
        Some(FromWorker::Found { found, .. }) => *found,
        other => panic!("expected a transaction, got {other:?}"),
    }
}

#[test]
fn a_machine_alone_is_not_one_of_several() {
    let mut agent = Agent::default();
    run(&mut agent, 1, SCENARIO);
    let board = board_at(&mut agent, 1e8);
    assert!(board.workers.is_empty() && board.handoffs.is_empty() && board.news.is_empty());
    assert_eq!(seen(&mut agent, 7, 1e8), board, "a worker that is not there is the first");
}

#[test]
fn each_worker_has_a_board_of_its_own() {
    let mut agent = Agent::default();
    let end = done(&run(&mut agent, 1, HANDED_ON)).end_ns;
    let (mut differed, mut moved) = (false, false);
    for step in 0..=400 {
        let at_ns = end * f64::from(step) / 400.0;
        let boards = [0, 1, 2].map(|worker| seen(&mut agent, worker, at_ns));
        for (worker, board) in (0..).zip(&boards) {
            assert_eq!((board.worker, board.totals.capacity()), (worker, if worker == 0 { 32 } else { 24 }));
            assert_eq!((&board.news, &board.census), (&boards[0].news, &boards[0].census));
            let roles = board.workers.iter().map(|worker| worker.role).collect::<Vec<_>>();
            assert_eq!(roles, [WorkerRole::Prefill, WorkerRole::Decode, WorkerRole::Decode]);
        }
        differed |= boards[0].totals.active != boards[1].totals.active;
        for copy in &boards[0].handoffs {
            moved = true;
            assert!(copy.source == 0 && copy.destination > 0 && copy.request.is_some());
            assert!(copy.started_ns <= at_ns && copy.ended_ns.is_none_or(|ended| ended > boards[0].at_ns));
        }
    }
    assert!(differed && moved);
}

#[test]
fn transactions_and_their_details_are_those_of_one_worker() {
    for (text, workers) in [(HANDED_ON, 3), (ROUTED, 2)] {
        let mut agent = Agent::default();
        run(&mut agent, 1, text);
        for worker in 0..workers {
            let first = asked(&mut agent, worker, Way::AtCursor, None).transaction;
            let mut next = first.or_else(|| asked(&mut agent, worker, Way::Next, None).transaction);
            let mut count = 0;
            while let Some(transaction) = next {
                let detail = transaction.detail.as_ref().expect("details");
                assert_eq!(detail.capacity, seen(&mut agent, worker, 0.0).totals.capacity());
                if let TxnOutcome::Ready { missing, .. } = transaction.outcome {
                    assert_eq!(detail.taken.len(), missing as usize, "worker {worker}, {transaction:?}");
                }
                count += 1;
                next = asked(&mut agent, worker, Way::Next, Some(&transaction)).transaction;
            }
            assert!(count > 0, "worker {worker}");
            assert_eq!(count, asked(&mut agent, worker, Way::AtCursor, None).counts[0]);
        }
    }
}

#[test]
fn the_selected_worker_has_the_chart_and_the_boards_of_a_run_under_way() {
    let mut agent = Agent::default();
    agent.hear(ToWorker::Run { run: 1, text: ROUTED.to_owned(), worker: 1 });
    let now = clock();
    let mut said = Vec::new();
    while agent.is_running() {
        said.extend(agent.slice(&now, 1.0));
    }
    for one in &said {
        assert!(!matches!(one, FromWorker::Board { board, .. } if board.worker != 1));
    }
    let of_one = done(&said).occupancy.clone();
    let select = |agent: &mut Agent, worker| match agent.hear(ToWorker::Select { run: 1, worker }).pop() {
        Some(FromWorker::Occupancy { occupancy, .. }) => occupancy,
        other => panic!("expected occupancy, got {other:?}"),
    };
    let of_zero = select(&mut agent, 0);
    assert_ne!(of_zero, of_one);
    assert_eq!(select(&mut agent, 1), of_one);
}

#[test]
fn a_worker_that_is_lost_says_so_and_who_was_routed_is_told() {
    let mut agent = Agent::default();
    let end = done(&run(&mut agent, 1, ROUTED)).end_ns;
    let states = |agent: &mut Agent, at_ns| {
        seen(agent, 0, at_ns).workers.iter().map(|worker| worker.state).collect::<Vec<_>>()
    };
    assert_eq!(states(&mut agent, 0.0), [WorkerState::Ready; 2]);
    assert_eq!(states(&mut agent, 60e6), [WorkerState::Ready, WorkerState::Lost]);
    assert_eq!(states(&mut agent, end), [WorkerState::Ready; 2]);
    let lost = seen(&mut agent, 1, 60e6);
    assert_eq!(lost.totals.free, 32, "with all that it held");
    let mut told = [false; 2];
    for step in 0..=200 {
        for news in seen(&mut agent, 0, end * f64::from(step) / 200.0).news {
            told[0] |= matches!(news.what, Happening::Routed { worker: 1, candidates: 2, .. });
            told[1] |= matches!(news.what, Happening::Worker { worker: 1, state: WorkerState::Lost });
        }
    }
    assert_eq!(told, [true; 2]);
}
