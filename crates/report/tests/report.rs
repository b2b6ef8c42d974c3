//! Reports through the public calls: a short run told in facts, and what it comes to.

use expect_test::{Expect, expect, expect_file};
use tierscope_engine::{Fact, FactLog, Loaded, Occupancy, PassStart, Rejection};
use tierscope_report::{
    Census, CensusRow, FoldSetup, Folds, Header, InfiniteCache, Outcome, Report, RequestFate, SloLimits,
    table,
};
use tierscope_units::{PassId, RequestId, SimTime, WorkerId};

const MS: u64 = 1_000_000;
const FIRST: RequestId = RequestId(0);
const REFUSED: RequestId = RequestId(1);
const GIVEN_UP: RequestId = RequestId(2);

/// One request preempted after its first token and served again, one refused, one given up; times in ms.
fn run() -> Vec<(u64, Fact)> {
    let too_long = Rejection::PromptExceedsG1 { needed_blocks: 625, capacity_blocks: 100 };
    vec![
        (5, Fact::Arrived { request: FIRST, prompt_tokens: 1_000, output_tokens: 5 }),
        (
            5,
            Fact::Admitted {
                request: FIRST,
                cached_tokens: 256,
                loaded: Loaded::default(),
                readmission: false,
            },
        ),
        (5, Fact::PassStarted(pass(0, 40, 8))),
        (5, Fact::Prefilled { request: FIRST, tokens: 744, computed_before: 256, recomputed: 0 }),
        (6, Fact::Arrived { request: REFUSED, prompt_tokens: 9_999, output_tokens: 5 }),
        (6, Fact::Rejected { request: REFUSED, reason: too_long }),
        (25, Fact::PassEnded { worker: WorkerId(0), pass: PassId(0) }),
        (25, Fact::FirstToken { request: FIRST }),
        (25, Fact::Preempted { request: FIRST, lost_tokens: 1_000, released: 63 }),
        (26, Fact::Arrived { request: GIVEN_UP, prompt_tokens: 1_000, output_tokens: 9 }),
        (
            30,
            Fact::Admitted {
                request: FIRST,
                cached_tokens: 992,
                loaded: Loaded::default(),
                readmission: true,
            },
        ),
        (30, Fact::PassStarted(pass(1, 63, 30))),
        (30, Fact::Prefilled { request: FIRST, tokens: 9, computed_before: 992, recomputed: 8 }),
        (35, Fact::SecondToken { request: FIRST }),
        (55, Fact::Finished { request: FIRST, output_tokens: 5 }),
        (105, Fact::Cancelled { request: GIVEN_UP, output_tokens: 0 }),
    ]
}

fn pass(pass: u64, active: u32, cached: u32) -> PassStart {
    PassStart {
        worker: WorkerId(0),
        pass: PassId(pass),
        prefill_rows: 1,
        prefill_tokens: 744,
        decode_rows: 0,
        decode_tokens: 0,
        waiting: 1,
        g1: Occupancy { free: 100 - active - cached, reserved: 0, active, cached, source_hold: 0 },
    }
}

fn folds(facts: &[(u64, Fact)], slo: Option<SloLimits>) -> Folds {
    let setup = FoldSetup { slo, block_size_tokens: 16, g1_blocks: 100, requests: 3, ..FoldSetup::default() };
    let mut folds = Folds::new(&setup);
    for (at_ms, fact) in facts {
        folds.take_fact(SimTime::from_ns(at_ms * MS), fact, &FactLog::default());
    }
    folds
}

fn report(folds: &Folds) -> Report {
    let header = Header {
        version: "0.1.0".to_owned(),
        scenario_hash: "0123456789abcdef0123456789abcdef".to_owned(),
        seed: 7,
        timing_model: "fixed".to_owned(),
        title: "three requests".to_owned(),
    };
    folds.report(header, Outcome::Finished, InfiniteCache { hit_tokens: 500, input_tokens: 2_000 }, None)
}

#[track_caller]
fn check(found: &str, expected: Expect) {
    expected.assert_eq(found);
}

#[test]
fn the_keys_of_the_report_are_stable() {
    expect_file!["report.json"].assert_eq(&report(&folds(&run(), None)).to_json());
}

#[test]
fn the_table_fits_a_terminal() {
    let printed = table::render(&report(&folds(&run(), None)));
    check(
        &printed,
        expect![[r#"
            tierscope 0.1.0 · three requests

              outcome   finished: 1 of 3 requests completed, 1 refused, 1 cancelled
              timing    fixed
              scenario  0123456789abcdef0123456789abcdef   seed 7
              digest    0b62d1a80257daadad593c8072071fe1

            ╭─────────────────────────────────────────────────────────────────────────────────────────────────────╮
            │ latency, ms        avg        min        max        p99        p90        p75        p50        std │
            ├─────────────────────────────────────────────────────────────────────────────────────────────────────┤
            │ TTFT             20.00      20.00      20.00      20.00      20.00      20.00      20.00       0.00 │
            │ TTST             10.00      10.00      10.00      10.00      10.00      10.00      10.00       0.00 │
            │ ITL               7.50       7.50       7.50       7.50       7.50       7.50       7.50       0.00 │
            │ E2E              50.00      50.00      50.00      50.00      50.00      50.00      50.00       0.00 │
            ╰─────────────────────────────────────────────────────────────────────────────────────────────────────╯
            ╭──────────────────────────────────────────────────┬──────────────────────────────────────────────────╮
            │ work                                             │ KV cache                                         │
            ├──────────────────────────────────────────────────┼──────────────────────────────────────────────────┤
            │ output throughput                 50.00 tokens/s │ hit ratio, first admission               25.60 % │
            │ request throughput              10.00 requests/s │ of an infinite cache                     25.00 % │
            │ goodput (no SLO stated)         10.00 requests/s │ at readmission                           99.10 % │
            │ makespan                              100.000 ms │ cached, recomputed                 256, 8 tokens │
            │ input                               2,000 tokens │ G1                       100 blocks of 16 tokens │
            │ output                                  5 tokens │ active at most                63 blocks, 63.00 % │
            │ passes                                         2 │ cached at most                30 blocks, 30.00 % │
            │ preemptions                                    1 │ stored, removed                      0, 0 blocks │
            ╰──────────────────────────────────────────────────┴──────────────────────────────────────────────────╯

            refused at arrival
              request 1: its prompt alone needs 625 blocks; G1 has 100
        "#]],
    );
    assert!(printed.lines().all(|line| line.chars().count() <= table::WIDTH), "too wide:\n{printed}");
}

/// The largest numbers that can be: no overflow, no line broken in the middle of a number.
#[test]
fn absurd_numbers_print_too() {
    let mut late = folds(&[], None);
    let log = FactLog::default();
    let request = RequestId(0);
    let arrived = Fact::Arrived { request, prompt_tokens: u32::MAX, output_tokens: u32::MAX };
    late.take_fact(SimTime::ZERO, &arrived, &log);
    late.take_fact(SimTime::from_ns(1), &Fact::FirstToken { request }, &log);
    let finished = Fact::Finished { request, output_tokens: u32::MAX };
    late.take_fact(SimTime::from_ns(u64::MAX - 1), &finished, &log);
    let printed = table::render(&report(&late));
    assert!(printed.contains("18,446,744,073,710"), "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 200), "{printed}");
}

#[test]
fn a_dead_end_names_who_waits_for_what() {
    let folds = folds(&run()[..13], None);
    let census = Census {
        rows: vec![CensusRow {
            request: 2,
            phase: "waiting".to_owned(),
            owner: "worker 0".to_owned(),
            wakeup: None,
            held_blocks: 0,
            needed_blocks: 63,
        }],
        wait_cycle: vec!["request 2".to_owned(), "request 0".to_owned()],
    };
    let report = folds.report(Header::default(), Outcome::DeadEnd, InfiniteCache::default(), Some(&census));
    let printed = table::render(&report);
    let census = printed.find("who waits for what").map(|at| &printed[at..]);
    check(
        census.unwrap_or_default(),
        expect![[r#"
        who waits for what
          request 2: waiting at worker 0, holds 0 of 63 blocks, will be woken by nothing
          they wait for each other: request 2 → request 0
    "#]],
    );
    assert_eq!(report.value("census.0.wakeup"), Some(serde_json::Value::Null));
    assert_eq!(report.value("outcome"), Some("dead_end".into()));
    assert_eq!(report.requests.unfinished, 2);
}

#[test]
fn goodput_counts_who_met_the_slo() {
    let good = |slo| report(&folds(&run(), Some(slo))).throughput.goodput_requests_per_s;
    let (met, missed) = (Some(20 * MS), Some(20 * MS - 1));
    assert_eq!(good(SloLimits { ttft_ns: met, ..SloLimits::default() }), 10.0);
    assert_eq!(good(SloLimits { ttft_ns: missed, ..SloLimits::default() }), 0.0);
    assert_eq!(good(SloLimits { itl_ns: Some(7_500_000), e2e_ns: Some(50 * MS), ttft_ns: met }), 10.0);
    assert_eq!(good(SloLimits { itl_ns: Some(7_499_999), ..SloLimits::default() }), 0.0);
}

#[test]
fn expectations_can_ask_about_requests_and_values() {
    let folds = folds(&run(), None);
    let summary = folds.summary();
    let fates: Vec<RequestFate> = summary.requests().iter().map(|request| request.fate).collect();
    assert_eq!(fates, [RequestFate::Completed, RequestFate::Rejected, RequestFate::Cancelled]);
    assert_eq!(
        summary.request(FIRST).map(|r| (r.start_order, r.finish_order, r.preemptions)),
        Some((Some(0), Some(0), 1))
    );
    assert_eq!(summary.request(RequestId(99)), None);
    let report = report(&folds);
    assert_eq!(report.value("latency.ttft_ns.p99"), Some((20 * MS).into()));
    assert_eq!(report.value("latency.nothing"), None);
}

/// Wherever a run is cut and continued from a clone, the answer is the same.
#[test]
fn folds_can_be_cut_anywhere() {
    let facts = run();
    let whole = folds(&facts, None);
    for cut in 0..facts.len() {
        let mut resumed = folds(&facts[..cut], None).clone();
        for (at_ms, fact) in &facts[cut..] {
            resumed.take_fact(SimTime::from_ns(at_ms * MS), fact, &FactLog::default());
        }
        assert_eq!(report(&resumed), report(&whole));
    }
    assert_ne!(folds(&facts[1..], None).digest(), whole.digest());
}

#[test]
fn a_run_of_nothing_has_a_report() {
    let report = report(&Folds::new(&FoldSetup::default()));
    assert_eq!((report.makespan_ns, report.requests.total, report.throughput.requests_per_s), (0, 0, 0.0));
    assert!(table::render(&report).contains('–'));
}
