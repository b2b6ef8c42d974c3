use tierscope_engine::{Caller, Cause, CopyEnd, Lane, Loaded, PassStart, Prepared};
use tierscope_units::{PassId, RequestId, TransferId, TxnId};

use super::*;
use crate::copies::Copies;
use crate::protocol::{TrackKind, Tracks};

const R: RequestId = RequestId(2);

fn told(facts: &[(u64, Fact)]) -> Index {
    let mut index = Index::new(1);
    for (at, fact) in facts {
        index.take_fact(SimTime::from_ns(*at), WorkerId(0), fact);
    }
    index
}

fn phases(index: &Index, run_end: u64) -> Vec<(SpanKind, u64, u64)> {
    let of = index.phases.all().filter(|(request, _)| *request == R);
    of.map(|(_, phase)| (phase.kind, phase.start, phase.end.min(run_end))).collect()
}

fn pass(prefill_rows: u32, decode_rows: u32) -> Fact {
    Fact::PassStarted(PassStart {
        worker: WorkerId(0),
        pass: PassId(0),
        prefill_rows,
        prefill_tokens: prefill_rows * 10,
        decode_rows,
        decode_tokens: decode_rows,
        waiting: 0,
        g1: tierscope_engine::Occupancy::default(),
    })
}

fn ended() -> Fact {
    Fact::PassEnded { worker: WorkerId(0), pass: PassId(0) }
}

fn blocked(transfer: u64) -> Fact {
    Fact::BlockedOnOffload {
        txn: TxnId(0),
        request: R,
        caller: Caller::Admission,
        needed: 1,
        transfer: TransferId(transfer),
        deadline: SimTime::from_ns(99),
        prepared: Prepared::default(),
    }
}

fn admitted(readmission: bool) -> Fact {
    Fact::Admitted { request: R, cached_tokens: 0, loaded: Loaded::default(), readmission }
}

fn prefilled() -> Fact {
    Fact::Prefilled { request: R, tokens: 1, computed_before: 0, recomputed: 0 }
}

const ARRIVED: Fact = Fact::Arrived { request: R, prompt_tokens: 40, output_tokens: 5 };
const PREEMPTED: Fact = Fact::Preempted { request: R, lost_tokens: 9, released: 1 };

#[test]
fn a_request_goes_through_its_phases() {
    use SpanKind::{Blocked, Decode, Prefill, Waiting};
    let index = told(&[
        (5, ARRIVED),
        (10, blocked(3)),
        (12, blocked(3)),
        (20, Fact::Unblocked { request: R, transfer: TransferId(3) }),
        (20, admitted(false)),
        (30, Fact::FirstToken { request: R }),
        (40, Fact::Finished { request: R, output_tokens: 5 }),
    ]);
    let all = [(Waiting, 5, 10), (Blocked, 10, 20), (Prefill, 20, 30), (Decode, 30, 40)];
    assert_eq!(phases(&index, 99), all, "what takes no time is not told");
}

#[test]
fn who_computes_again_has_caught_up_when_a_pass_has_no_row_of_its_own() {
    use SpanKind::{Decode, Preempted, Prefill};
    let index = told(&[
        (0, ARRIVED),
        (0, admitted(false)),
        (10, Fact::FirstToken { request: R }),
        (20, PREEMPTED),
        (30, admitted(true)),
        (30, prefilled()),
        (30, pass(1, 0)),
        (40, ended()),
        (40, prefilled()),
        (40, pass(1, 0)),
        (50, ended()),
        (50, pass(0, 1)),
    ]);
    let all = [(Prefill, 0, 10), (Decode, 10, 20), (Preempted, 20, 30), (Prefill, 30, 50), (Decode, 50, 60)];
    assert_eq!(phases(&index, 60), all);
    let passes: Vec<_> =
        index.passes[0].all().map(|pass| (pass.kind, pass.start, pass.end.min(60))).collect();
    let [first, second] = [30, 40].map(|start| (SpanKind::PrefillPass, start, start + 10));
    assert_eq!(passes, [first, second, (SpanKind::DecodePass, 50, 60)]);
}

#[test]
fn a_streak_of_the_same_want_is_one_mark() {
    let short = Fact::CapacityExhausted {
        txn: TxnId(0),
        request: R,
        caller: Caller::Admission,
        needed: 2,
        obtainable: 1,
        prepared: Prepared::default(),
    };
    let index = told(&[(1, short), (2, short), (3, PREEMPTED), (4, short)]);
    let marks: Vec<_> = index.marks[0].iter().map(|mark| (mark.kind, mark.start, mark.number)).collect();
    assert_eq!(marks, [(SpanKind::MarkExhausted, 1, 2), (SpanKind::MarkPreempted, 3, 2)]);
}

fn gathered(index: &Index, copies: &Copies, end: u64) -> Tracks {
    let occupancies = vec![&[][..]];
    gather(&Sources { index, copies, occupancies, below: &[], has_below: [false; 3], end })
}

/// Spans of each track: in order, apart, with their lengths.
fn check(tracks: &Tracks) {
    for track in tracks.list.iter().filter(|track| !track.kind.is_counter()) {
        let spans: Vec<_> = track.range().map(|place| tracks.spans.get(place)).collect();
        assert!(spans.iter().all(|span| span.start_ns <= span.end_ns), "{track:?}");
        assert!(spans.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns), "{track:?}");
    }
}

#[test]
fn copies_that_overlap_lie_in_rows_of_their_own() {
    let lane = Lane::G1ToG2;
    let blocks = tierscope_engine::BlockList::default();
    let queued =
        |n| Fact::CopyQueued { transfer: TransferId(n), lane, cause: Cause::Evicted, request: None, blocks };
    let started = |n| Fact::CopyStarted { transfer: TransferId(n), lane, blocks };
    let ended = |n| Fact::CopyEnded { transfer: TransferId(n), lane, end: CopyEnd::Completed, released: 0 };
    let mut copies = Copies::default();
    // A hundred at once, one after the other on one permit.
    for n in 0..100 {
        copies.take_fact(SimTime::from_ns(0), WorkerId(0), &queued(n));
    }
    for n in 0..100 {
        copies.take_fact(SimTime::from_ns(n * 10), WorkerId(0), &started(n));
        copies.take_fact(SimTime::from_ns(n * 10 + 10), WorkerId(0), &ended(n));
    }
    let tracks = gathered(&told(&[]), &copies, 2_000);
    check(&tracks);
    let rows = tracks.list.iter().filter(|track| track.kind == TrackKind::Copies).count();
    assert_eq!((rows, tracks.left_out), (3, [0; 4]));
    let moving = (0..tracks.spans.len()).filter(|&place| tracks.spans.get(place).kind == SpanKind::Moving);
    assert_eq!(moving.count(), 100);
}

#[test]
fn tracks_of_requests_are_sorted() {
    let mut facts = Vec::new();
    for n in 0..50u32 {
        let request = RequestId((n * 7) % 50);
        facts.push((u64::from(n), Fact::Arrived { request, prompt_tokens: n, output_tokens: 1 }));
    }
    facts.push((60, Fact::Finished { request: RequestId(3), output_tokens: 1 }));
    let tracks = gathered(&told(&facts), &Copies::default(), 100);
    check(&tracks);
    let requests: Vec<_> = tracks.list.iter().filter(|track| track.kind == TrackKind::Request).collect();
    assert!(requests.iter().enumerate().all(|(number, track)| track.number as usize == number));
    assert_eq!(tracks.spans.get(requests[3].range().start).end_ns, 60.0);
    assert_eq!(tracks.spans.get(requests[4].range().start).end_ns, 100.0, "until the end of the run");
}
