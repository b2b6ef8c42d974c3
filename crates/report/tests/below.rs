//! What lies below G1, through the public calls: facts made by hand, and what they come to.

use expect_test::{Expect, expect};
use tierscope_engine::{
    BlockList, Caller, Cause, CopyEnd, CopyFailure, Fact, FactLog, Lane, Loaded, Prepared, Tier,
};
use tierscope_report::{
    FoldSetup, Folds, Header, InfiniteCache, LaneCounts, LoadCounts, Outcome, Report, canonical, jsonl, table,
};
use tierscope_units::{Digester, RequestId, SimTime, TransferId, TxnId};

const MS: u64 = 1_000_000;
const FIRST: RequestId = RequestId(0);
const SECOND: RequestId = RequestId(1);

/// Facts with their times in ms. Only the machine makes lists of blocks: here they are empty, and what is counted in
/// blocks is tested where it is counted.
#[derive(Default)]
struct Story {
    facts: Vec<(u64, Fact)>,
}

impl Story {
    fn queue(&mut self, at: u64, transfer: u64, lane: Lane, cause: Cause) {
        let request = (cause == Cause::Wanted).then_some(FIRST);
        let (transfer, blocks) = (TransferId(transfer), BlockList::default());
        self.push(at, Fact::CopyQueued { transfer, lane, cause, request, blocks });
    }

    fn start(&mut self, at: u64, transfer: u64, lane: Lane) {
        let (transfer, blocks) = (TransferId(transfer), BlockList::default());
        self.push(at, Fact::CopyStarted { transfer, lane, blocks });
    }

    fn end(&mut self, at: u64, transfer: u64, lane: Lane, end: CopyEnd) {
        self.push(at, Fact::CopyEnded { transfer: TransferId(transfer), lane, end, released: 0 });
    }

    fn store(&mut self, at: u64, tier: Tier) {
        self.push(at, Fact::TierStored { tier, blocks: BlockList::default() });
    }

    fn remove(&mut self, at: u64, tier: Tier) {
        self.push(at, Fact::TierRemoved { tier, blocks: BlockList::default() });
    }

    fn push(&mut self, at: u64, fact: Fact) {
        self.facts.push((at, fact));
    }

    fn folds(&self, tier_blocks: [u32; 3]) -> Folds {
        let setup = FoldSetup {
            block_size_tokens: 16,
            g1_blocks: 100,
            requests: 2,
            tier_blocks,
            kv_bytes_per_block: 1_000,
            ..FoldSetup::default()
        };
        let mut folds = Folds::new(&setup);
        for (at_ms, fact) in &self.facts {
            folds.take_fact(SimTime::from_ns(at_ms * MS), fact, &FactLog::default());
        }
        folds
    }

    fn report(&self, tier_blocks: [u32; 3]) -> Report {
        let (header, infinite) = (Header::default(), InfiniteCache::default());
        self.folds(tier_blocks).report(header, Outcome::Finished, infinite, None)
    }

    fn lane(&self, name: &str) -> LaneCounts {
        self.report([100, 0, 0]).lanes.get(name).cloned().unwrap_or_default()
    }

    fn loads(&self) -> LoadCounts {
        self.report([100, 0, 0]).loads.unwrap_or_default()
    }
}

fn arrived(request: RequestId) -> Fact {
    Fact::Arrived { request, prompt_tokens: 1_000, output_tokens: 5 }
}

#[track_caller]
fn check(found: &str, expected: Expect) {
    expected.assert_eq(found);
}

/// Two batches overlap, then the lane is idle, then one more: busy is the time with at least one under way.
#[test]
fn a_lane_is_busy_while_a_copy_is_under_way() {
    let lane = Lane::G1ToG2;
    let mut story = Story::default();
    story.push(0, arrived(FIRST));
    story.queue(10, 0, lane, Cause::Evicted);
    story.start(10, 0, lane);
    story.queue(11, 1, lane, Cause::Evicted);
    story.start(14, 1, lane);
    story.end(20, 0, lane, CopyEnd::Completed);
    story.end(22, 1, lane, CopyEnd::Completed);
    story.queue(30, 2, lane, Cause::Computed);
    story.start(30, 2, lane);
    story.end(38, 2, lane, CopyEnd::Completed);
    story.push(40, Fact::Cancelled { request: FIRST, output_tokens: 0 });
    let counts = story.lane("g1_g2");
    assert_eq!((counts.batches, counts.completed), (3, 3));
    assert_eq!((counts.busy_ns, counts.utilisation), (20 * MS, 0.5));
    assert_eq!((counts.queued_max, counts.in_flight_max), (1, 2));
    let wait = &counts.queue_wait_ns;
    assert_eq!((wait.count, wait.min, wait.max), (3, 0, 3 * MS));
    assert_eq!((counts.copy_ns.count, counts.copy_ns.p50), (3, 8 * MS));
    assert!(counts.failures.is_empty());
    let report = story.report([100, 0, 0]);
    assert_eq!(report.lanes.keys().collect::<Vec<_>>(), [&"g1_g2"], "only lanes that had a batch appear");
    assert_eq!(report.value("lanes.g1_g2.failed"), Some(0.into()));
}

/// What is under way at the end counts until the end.
#[test]
fn a_copy_that_never_ended_is_busy_until_the_end() {
    let lane = Lane::G2ToG1;
    let mut story = Story::default();
    story.push(0, arrived(FIRST));
    story.queue(5, 0, lane, Cause::Wanted);
    story.start(5, 0, lane);
    story.push(20, arrived(SECOND));
    let counts = story.lane("g2_g1");
    assert_eq!((counts.busy_ns, counts.completed), (15 * MS, 0));
    assert_eq!(counts.copy_ns.count, 0);
}

/// A failed attempt is counted by what went wrong; a batch waits once and ends once.
#[test]
fn attempts_fail_and_batches_end_once() {
    let lane = Lane::G2ToG3;
    let mut story = Story::default();
    story.queue(0, 0, lane, Cause::Chained);
    story.start(2, 0, lane);
    let (transfer, at) = (TransferId(0), SimTime::from_ns(5 * MS));
    story.push(4, Fact::CopyRetried { transfer, failure: CopyFailure::TimedOut, attempt: 1, at });
    story.start(5, 0, lane);
    story.end(9, 0, lane, CopyEnd::Completed);
    story.queue(9, 1, lane, Cause::Chained);
    story.start(9, 1, lane);
    story.end(10, 1, lane, CopyEnd::Failed(CopyFailure::Corrupt));
    story.queue(10, 2, lane, Cause::Chained);
    story.end(10, 2, lane, CopyEnd::Failed(CopyFailure::DestinationFull));
    story.queue(10, 3, lane, Cause::Chained);
    story.end(11, 3, lane, CopyEnd::Cancelled);
    let counts = story.lane("g2_g3");
    assert_eq!((counts.batches, counts.completed, counts.failed, counts.cancelled), (4, 1, 2, 1));
    assert_eq!((counts.retried, counts.busy_ns), (1, 5 * MS + 2 * MS));
    let failures: Vec<(&str, u64)> = counts.failures.iter().map(|(&kind, &count)| (kind, count)).collect();
    assert_eq!(failures, [("corrupt", 1), ("destination_full", 1), ("timed_out", 1)]);
    assert_eq!(
        (counts.queue_wait_ns.count, counts.queue_wait_ns.max),
        (2, 2 * MS),
        "the first start ends the wait"
    );
    assert_eq!((counts.copy_ns.count, counts.copy_ns.max), (1, 4 * MS), "of the attempt that succeeded");
}

#[test]
fn tiers_that_there_are_not_are_absent() {
    let mut story = Story::default();
    story.store(1, Tier::G2);
    let tiers = story.report([64, 500, 0]).tiers;
    assert_eq!(tiers.g2.map(|g2| g2.capacity_blocks), Some(64));
    assert_eq!((tiers.g3.map(|g3| g3.capacity_blocks), tiers.g4), (Some(500), None));
    let nothing = Story::default().report([0, 0, 0]);
    let keys = ["tiers.g2", "tiers.g3", "tiers.g4", "loads"];
    assert_eq!(keys.map(|key| nothing.value(key)), [const { None }; 4], "absent, not null");
}

/// Each cached token counts for the tier that it came from, at the first admission only (rule P2).
#[test]
fn hits_are_told_apart_by_tier() {
    let mut story = Story::default();
    story.push(0, arrived(FIRST));
    story.push(0, arrived(SECOND));
    let loaded = Loaded { g2_tokens: 160, g3_tokens: 32, g4_tokens: 8 };
    story.push(1, Fact::Admitted { request: FIRST, cached_tokens: 400, loaded, readmission: false });
    story.push(2, Fact::Preempted { request: FIRST, lost_tokens: 999, released: 63 });
    story.push(3, Fact::Admitted { request: FIRST, cached_tokens: 500, loaded, readmission: true });
    let g1_only = Loaded::default();
    story
        .push(4, Fact::Admitted { request: SECOND, cached_tokens: 600, loaded: g1_only, readmission: false });
    let report = story.report([64, 64, 64]);
    let hits = report.hit_ratio.first_admission;
    assert_eq!([hits.g1, hits.g2, hits.g3, hits.g4, hits.total], [0.4, 0.08, 0.016, 0.004, 0.5]);
    assert_eq!(report.hit_ratio.readmission, 0.5);
    let tokens = report.tokens;
    assert_eq!([tokens.cached, tokens.loaded_g2, tokens.loaded_g3, tokens.loaded_g4], [1_000, 160, 32, 8]);
}

#[test]
fn loads_and_waits_are_timed() {
    let mut story = Story::default();
    let load =
        |request| Fact::OnboardStarted { request, hit_blocks: 1, g2_blocks: 3, g3_blocks: 1, g4_blocks: 0 };
    story.push(1, load(FIRST));
    story.push(2, load(SECOND));
    story.push(8, Fact::OnboardEnded { request: FIRST, loaded_blocks: 3, failed_blocks: 1 });
    story.push(9, Fact::Cancelled { request: SECOND, output_tokens: 0 });
    let loads = story.loads();
    assert_eq!((loads.started, loads.ended, loads.cancelled), (2, 1, 1));
    assert_eq!((loads.loaded_blocks, loads.failed_blocks), (3, 1));
    assert_eq!((loads.wait_ns.count, loads.wait_ns.max), (1, 7 * MS));
}

#[test]
fn leases_are_counted_by_how_they_ended() {
    let mut story = Story::default();
    let (blocks, until) = (BlockList::default(), SimTime::from_ns(9 * MS));
    story.push(1, Fact::Leased { request: FIRST, blocks, until });
    story.push(2, Fact::Leased { request: SECOND, blocks, until });
    story.push(5, Fact::LeaseEnded { request: SECOND, released: 3, expired: false });
    story.push(9, Fact::LeaseEnded { request: FIRST, released: 4, expired: true });
    assert_eq!((story.loads().leases, story.loads().leases_expired), (2, 1));
}

/// Both kinds of wait end with the same fact, and are told apart by how they began.
#[test]
fn a_wait_for_content_is_not_a_wait_for_room() {
    let (transfer, deadline) = (TransferId(4), SimTime::from_ns(9 * MS));
    let blocked = Fact::BlockedOnOffload {
        txn: TxnId(0),
        request: FIRST,
        caller: Caller::Admission,
        needed: 3,
        transfer,
        deadline,
        prepared: Prepared::default(),
    };
    let mut story = Story::default();
    story.push(1, blocked);
    story.push(2, Fact::WaitsForCopy { request: SECOND, transfer, deadline });
    story.push(5, Fact::Unblocked { request: FIRST, transfer });
    story.push(5, Fact::Unblocked { request: SECOND, transfer });
    story.push(6, Fact::WaitsForCopy { request: SECOND, transfer: TransferId(5), deadline });
    story.push(7, Fact::Cancelled { request: SECOND, output_tokens: 0 });
    let loads = story.loads();
    assert_eq!((loads.blocked_on_offload, loads.blocked_ns.count, loads.blocked_ns.max), (1, 1, 4 * MS));
    let waits = &loads.waits_for_copy_ns;
    assert_eq!((loads.waits_for_copy, waits.count, waits.max), (2, 1, 3 * MS));
}

#[test]
fn what_lies_below_is_sampled_as_it_changes() {
    let mut story = Story::default();
    story.queue(1, 0, Lane::G1ToG2, Cause::Evicted);
    story.start(1, 0, Lane::G1ToG2);
    story.push(2, arrived(FIRST));
    story.end(3, 0, Lane::G1ToG2, CopyEnd::Completed);
    story.store(3, Tier::G2);
    let folds = story.folds([64, 0, 0]);
    let lane = Lane::G1ToG2.index();
    let seen: Vec<_> = folds
        .below()
        .iter()
        .map(|sample| (sample.at_ns / MS, sample.queued[lane], sample.in_flight[lane]))
        .collect();
    assert_eq!(seen, [(1, 0, 1), (3, 0, 0)]);
    assert!(Story::default().folds([64, 0, 0]).below().is_empty());
}

/// However many batches: the series stays bounded, and only open batches are kept.
#[test]
fn a_long_run_is_kept_small() {
    let mut story = Story::default();
    for transfer in 0..40_000 {
        let at = transfer * 3;
        story.queue(at, transfer, Lane::G1ToG2, Cause::Evicted);
        story.start(at + 1, transfer, Lane::G1ToG2);
        story.end(at + 2, transfer, Lane::G1ToG2, CopyEnd::Completed);
    }
    let folds = story.folds([64, 0, 0]);
    assert!(folds.below().len() <= tierscope_report::series::MAX_SAMPLES);
    assert_eq!(story.lane("g1_g2").busy_ns, 40_000 * MS);
}

#[test]
fn the_table_has_tiers_and_lanes_where_there_are_some() {
    let mut story = Story::default();
    story.push(0, arrived(FIRST));
    story.queue(1, 0, Lane::G1ToG2, Cause::Evicted);
    story.start(2, 0, Lane::G1ToG2);
    story.end(4, 0, Lane::G1ToG2, CopyEnd::Completed);
    story.store(4, Tier::G2);
    story.queue(5, 1, Lane::G2ToG1, Cause::Wanted);
    let load =
        Fact::OnboardStarted { request: FIRST, hit_blocks: 0, g2_blocks: 4, g3_blocks: 0, g4_blocks: 0 };
    story.push(5, load);
    story.end(6, 1, Lane::G2ToG1, CopyEnd::Failed(CopyFailure::Executor));
    story.push(6, Fact::OnboardEnded { request: FIRST, loaded_blocks: 0, failed_blocks: 4 });
    let loaded = Loaded { g2_tokens: 250, ..Loaded::default() };
    story.push(7, Fact::Admitted { request: FIRST, cached_tokens: 500, loaded, readmission: false });
    story.push(8, Fact::Cancelled { request: FIRST, output_tokens: 0 });
    let printed = table::render(&story.report([64, 0, 128]));
    let from = printed.find("│ tier").expect("there is a table of tiers");
    check(
        &printed[from..],
        expect![[r#"
            │ tier, blocks   capacity   resident at most   at the end   stored   removed   hit ratio │
            ├────────────────────────────────────────────────────────────────────────────────────────┤
            │ G1                  100                                        0         0     25.00 % │
            │ G2                   64                  0            0        0         0     25.00 % │
            │ G4                  128                  0            0        0         0      0.00 % │
            ╰────────────────────────────────────────────────────────────────────────────────────────╯
            ╭─────────────────────────────────────────────────────────────────────────────────────────────╮
            │ lane      batches   failed   blocks   copied      busy   wait p50, ms   copy p50, ms    p99 │
            ├─────────────────────────────────────────────────────────────────────────────────────────────┤
            │ G1 → G2         1        0        0      0 B   25.00 %           1.00           2.00   2.00 │
            │ G2 → G1         1        1        0      0 B    0.00 %              –              –      – │
            ╰─────────────────────────────────────────────────────────────────────────────────────────────╯
            loads: 1, 0 blocks loaded, 4 failed and computed; waits for another's copy: 0; blocked on an offload: 0
            G2 → G1: attempts that failed: executor 1; tried again: 0
        "#]],
    );
    assert!(printed.lines().all(|line| line.chars().count() <= table::WIDTH), "too wide:\n{printed}");
    let bare = table::render(&Story::default().report([0, 0, 0]));
    assert!(!bare.contains("tier,") && !bare.contains("lane"), "{bare}");
}

#[test]
fn facts_below_g1_are_lines_of_json() {
    let mut story = Story::default();
    let transfer = TransferId(7);
    story.queue(1, 7, Lane::G3ToG2, Cause::Wanted);
    story.queue(1, 7, Lane::G1ToG2, Cause::Evicted);
    story.start(1, 7, Lane::G3ToG2);
    let at = SimTime::from_ns(MS);
    story.push(1, Fact::CopyRetried { transfer, failure: CopyFailure::Executor, attempt: 2, at });
    story.end(1, 7, Lane::G3ToG2, CopyEnd::Completed);
    story.end(1, 7, Lane::G3ToG2, CopyEnd::Failed(CopyFailure::Shutdown));
    story.store(1, Tier::G4);
    story.remove(1, Tier::G4);
    let load =
        Fact::OnboardStarted { request: FIRST, hit_blocks: 1, g2_blocks: 2, g3_blocks: 3, g4_blocks: 4 };
    story.push(1, load);
    story.push(1, Fact::OnboardEnded { request: FIRST, loaded_blocks: 5, failed_blocks: 4 });
    story.push(1, Fact::WaitsForCopy { request: SECOND, transfer, deadline: at });
    story.push(1, Fact::Unblocked { request: SECOND, transfer });
    let loaded = Loaded { g2_tokens: 16, g3_tokens: 0, g4_tokens: 32 };
    story.push(1, Fact::Admitted { request: SECOND, cached_tokens: 64, loaded, readmission: false });
    let mut lines = String::new();
    for (at_ms, fact) in &story.facts {
        jsonl::write_fact(&mut lines, SimTime::from_ns(at_ms * MS), fact, &FactLog::default());
    }
    for line in lines.lines() {
        let parsed: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        assert_eq!(parsed["at_ns"], MS, "{line}");
    }
    check(
        &lines,
        expect![[r#"
        {"fact":"copy_queued","at_ns":1000000,"transfer":7,"lane":"g3_g2","cause":"wanted","request":0,"source_blocks":[]}
        {"fact":"copy_queued","at_ns":1000000,"transfer":7,"lane":"g1_g2","cause":"evicted","request":null,"source_blocks":[]}
        {"fact":"copy_started","at_ns":1000000,"transfer":7,"lane":"g3_g2","destination_blocks":[]}
        {"fact":"copy_retried","at_ns":1000000,"transfer":7,"failure":"executor","attempt":2,"again_at_ns":1000000}
        {"fact":"copy_ended","at_ns":1000000,"transfer":7,"lane":"g3_g2","end":"completed","released_blocks":0}
        {"fact":"copy_ended","at_ns":1000000,"transfer":7,"lane":"g3_g2","end":"failed","failure":"shutdown","released_blocks":0}
        {"fact":"tier_stored","at_ns":1000000,"tier":"g4","blocks":[]}
        {"fact":"tier_removed","at_ns":1000000,"tier":"g4","blocks":[]}
        {"fact":"onboard_started","at_ns":1000000,"request":0,"hit_blocks":1,"g2_blocks":2,"g3_blocks":3,"g4_blocks":4}
        {"fact":"onboard_ended","at_ns":1000000,"request":0,"loaded_blocks":5,"failed_blocks":4}
        {"fact":"waits_for_copy","at_ns":1000000,"request":1,"transfer":7,"deadline_ns":1000000}
        {"fact":"unblocked","at_ns":1000000,"transfer":7,"request":1}
        {"fact":"admitted","at_ns":1000000,"request":1,"cached_tokens":64,"loaded_g2_tokens":16,"loaded_g3_tokens":0,"loaded_g4_tokens":32,"readmission":false}
    "#]],
    );
}

/// Every fact and each of its fields counts for the digest.
#[test]
fn facts_below_g1_count_for_the_digest() {
    let mut streams: Vec<Story> = Vec::new();
    let mut tell = |tell: &dyn Fn(&mut Story)| {
        let mut story = Story::default();
        tell(&mut story);
        streams.push(story);
    };
    for cause in [Cause::Evicted, Cause::Computed, Cause::Hit, Cause::Boundary, Cause::Chained, Cause::Wanted]
    {
        tell(&|story| story.queue(1, 7, Lane::G1ToG2, cause));
    }
    for lane in Lane::ALL {
        tell(&|story| story.start(1, 7, lane));
        tell(&|story| story.end(1, 7, lane, CopyEnd::Completed));
    }
    for tier in [Tier::G2, Tier::G3, Tier::G4] {
        tell(&|story| story.store(1, tier));
        tell(&|story| story.remove(1, tier));
    }
    let at = SimTime::from_ns(MS);
    let transfer = TransferId(7);
    for failure in [CopyFailure::Executor, CopyFailure::Corrupt, CopyFailure::TimedOut, CopyFailure::Aborted]
    {
        tell(&|story| story.push(1, Fact::CopyRetried { transfer, failure, attempt: 1, at }));
        tell(&|story| story.push(1, Fact::CopyRetried { transfer, failure, attempt: 2, at }));
        tell(&|story| story.end(1, 7, Lane::G1ToG2, CopyEnd::Failed(failure)));
    }
    tell(&|story| story.end(1, 7, Lane::G1ToG2, CopyEnd::Cancelled));
    for place in 0..4 {
        let blocks = |of| u32::from(of == place);
        let [hit_blocks, g2_blocks, g3_blocks, g4_blocks] = [0, 1, 2, 3].map(blocks);
        let load = Fact::OnboardStarted { request: FIRST, hit_blocks, g2_blocks, g3_blocks, g4_blocks };
        tell(&|story| story.push(1, load));
        let loaded = Loaded { g2_tokens: g2_blocks, g3_tokens: g3_blocks, g4_tokens: g4_blocks };
        let admitted = Fact::Admitted { request: FIRST, cached_tokens: 9, loaded, readmission: false };
        tell(&|story| story.push(1, admitted));
    }
    tell(&|story| story.push(1, Fact::OnboardEnded { request: FIRST, loaded_blocks: 1, failed_blocks: 0 }));
    tell(&|story| story.push(1, Fact::OnboardEnded { request: FIRST, loaded_blocks: 0, failed_blocks: 1 }));
    for until in [at, SimTime::ZERO] {
        tell(&|story| story.push(1, Fact::Leased { request: FIRST, blocks: BlockList::default(), until }));
    }
    for (released, expired) in [(0, false), (0, true), (1, false)] {
        tell(&|story| story.push(1, Fact::LeaseEnded { request: FIRST, released, expired }));
    }
    tell(&|story| story.push(1, Fact::WaitsForCopy { request: FIRST, transfer, deadline: at }));
    tell(&|story| story.push(1, Fact::WaitsForCopy { request: FIRST, transfer, deadline: SimTime::ZERO }));
    let digest = |story: &Story| {
        let mut digester = Digester::default();
        for (at_ms, fact) in &story.facts {
            canonical::encode(SimTime::from_ns(at_ms * MS), fact, &FactLog::default(), &mut digester);
        }
        digester.finish().to_string()
    };
    let mut digests: Vec<String> = streams.iter().map(digest).collect();
    let told = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), told, "two streams have one digest");
}
