//! Several workers, from their text: sizes, router, handoffs, and who comes and goes.

use expect_test::expect;
use tierscope_engine::{
    CostTerms, Expiry, HandoffBytes, HandoffConfig, HandoffOrder, MessageKind, Publish, Role, RouterConfig,
    RouterKind, WorkerChange,
};
use tierscope_scenario::fault::HANDOFF_LANE;
use tierscope_scenario::fleet::{Change, FleetSpec, HandoffLink, MessageFate, MessageFault, SharedBy};
use tierscope_scenario::{
    FaultKind, FaultSpec, LinkRate, Scenario, SourceFormat, When, parse, parse_any, set,
};
use tierscope_units::{RequestId, Span, WorkerId};

const HEAD: &str =
    "tierscope = 1\n[engine]\nblock_size_tokens = 4\n[workload]\nkind = 'trace'\nfile = 't.jsonl'\n";

/// Every key of workers that hand prompts to each other.
const SPLIT: &str = r#"
tierscope = 1

[workload]
kind = "trace"
file = "t.jsonl"

[workers]
prefill = 2
decode = 3
per_host = 2
absent = [4, 1]
startup_ms = 20
decode_g1_blocks = 2048

[router]
kind = "kv_aware"
replicas = 3
sync_ms = 1.5
publish = "pass_start"
event_delay_ms = 2
expiry_s = 300
overlap_score_credit = 0.9
overlap_score_credit_decay = 0.1
host_cache_hit_weight = 0.5
disk_cache_hit_weight = 0.2
shared_cache_multiplier = 0.15
prefill_load_scale = 2
decode_active_request_weight = 3
temperature = 0.7

[handoff]
order = "destination_first"
bytes = "full_prompt"
transfer = "layers"
layers = 48
lease_s = 30.5
message_delay_ms = 0.25

[links.handoff]
gb_per_s = 12.5
latency_us = 3
shared_by = "destination"

[[fault]]
lane = "handoff"
kind = "fail"
nth = 2

[[worker]]
at_ms = 50
worker = 2
change = "lose"

[[worker]]
at_ms = 10
worker = 1
change = "start"

[[worker]]
at_ms = 40
worker = 1
change = "drain"

[[message_fault]]
message = "reserved"
request = 7
after = 2
count = 3
fate = "late"
delay_ms = 5

[[message_fault]]
fate = "doubled"
delay_ms = 6

[[message_fault]]
message = "prefilled"
count = 1
fate = "lost"
"#;

/// Workers that do both, in the other notation.
const WHOLE: &str = r#"{
  "tierscope": 1,
  "workload": { "kind": "trace", "file": "t.jsonl" },
  "workers": { "count": 4, "per_host": 4 },
  "router": { "kind": "least_loaded", "event_delay_ms": 1 },
  "worker": [{ "at_ms": 1, "worker": 3, "change": "drain" }]
}"#;

fn scenario(text: &str) -> Scenario {
    parse_any(text).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn fleet(text: &str) -> FleetSpec {
    scenario(text).fleet.expect("the scenario has several workers")
}

fn us(count: u64) -> Span {
    Span::from_ns(count * 1_000)
}

fn ms(count: u64) -> Span {
    us(count * 1_000)
}

#[test]
fn every_key_is_read() {
    let change = |at, worker, change| Change { at: ms(at), worker: WorkerId(worker), change };
    let fault = |kind, request, after, count, fate| MessageFault { kind, request, after, count, fate };
    let gb = 12_500_000_000;
    let written = FleetSpec {
        roles: vec![Role::Prefill, Role::Prefill, Role::Decode, Role::Decode, Role::Decode],
        present: vec![true, false, true, true, false],
        workers_per_host: 2,
        decode_g1_blocks: Some(2_048),
        startup: ms(20),
        router: RouterConfig {
            kind: RouterKind::KvAware,
            replicas: 3,
            sync_delay: us(1_500),
            publish: Publish::PassStart,
            event_delay: ms(2),
            cost: CostTerms {
                overlap_score_credit: 0.9,
                overlap_score_credit_decay: 0.1,
                host_cache_hit_weight: 0.5,
                disk_cache_hit_weight: 0.2,
                shared_cache_multiplier: 0.15,
                prefill_load_scale: 2.0,
                decode_active_request_weight: 3.0,
                temperature: 0.7,
            },
            expiry: Expiry { after: Some(ms(300_000)) },
        },
        handoff: HandoffConfig {
            order: HandoffOrder::DestinationFirst,
            bytes: HandoffBytes::FullPrompt,
            lease: Some(ms(30_500)),
            pipelined: true,
        },
        handoff_link: HandoffLink {
            rate: LinkRate { alone_bytes_per_s: gb, both_bytes_per_s: gb, latency: us(3) },
            shared_by: SharedBy::Destination,
            layers: 48,
        },
        message_delay: us(250),
        message_faults: vec![
            fault(Some(MessageKind::Reserved), Some(RequestId(7)), 2, Some(3), MessageFate::Late(ms(5))),
            fault(None, None, 0, None, MessageFate::Doubled(ms(6))),
            fault(Some(MessageKind::Prefilled), None, 0, Some(1), MessageFate::Lost),
        ],
        // By time, whatever their order in the text.
        changes: vec![
            change(10, 1, WorkerChange::Start),
            change(40, 1, WorkerChange::Drain),
            change(50, 2, WorkerChange::Lose),
        ],
    };
    assert_eq!(fleet(SPLIT), written);
    let read = scenario(SPLIT);
    assert_eq!(read.faults, [FaultSpec { lane: HANDOFF_LANE, kind: FaultKind::Fail, when: When::Nth(2) }]);
    let config = read.fleet_config();
    assert_eq!((config.roles, config.router), (written.roles, Some(written.router)));
}

#[test]
fn defaults_are_named() {
    let standard = RouterConfig {
        kind: RouterKind::RoundRobin,
        replicas: 1,
        sync_delay: Span::ZERO,
        publish: Publish::PassEnd,
        event_delay: Span::ZERO,
        cost: CostTerms::default(),
        expiry: Expiry::REPLAY,
    };
    let one = fleet(&format!("{HEAD}[workers]\ncount = 1\n"));
    assert_eq!((one.roles, one.present, one.workers_per_host), (vec![Role::Whole], vec![true], 1));
    assert_eq!((one.router, one.startup, one.decode_g1_blocks), (standard, Span::ZERO, None));
    let text = format!(
        "{HEAD}[g2]\nblocks = 9\n[g3]\nblocks = 9\n[workers]\nprefill = 1\ndecode = 1\n[router]\nkind = 'kv_aware'\n\
         [handoff]\norder = 'destination_first'\ntransfer = 'layers'\n"
    );
    let read = scenario(&text);
    let fleet = read.fleet.expect("two workers");
    let pipelined =
        HandoffConfig { order: HandoffOrder::DestinationFirst, pipelined: true, ..HandoffConfig::VLLM };
    let rate =
        LinkRate { alone_bytes_per_s: 45_000_000_000, both_bytes_per_s: 45_000_000_000, latency: us(10) };
    assert_eq!(fleet.handoff, pipelined);
    assert_eq!(fleet.handoff_link, HandoffLink { rate, shared_by: SharedBy::Source, layers: 32 });
    expect![[r#"
        hardware.kv_bytes_per_token = 131072 (as Llama-3.1-8B; no model is named)
        engine.g1_blocks = 16384 (the pool of Dynamo's mocker; hardware.model and .gpu would derive it)
        workers.per_host = 1 (each has a host and its disk to itself)
        offload.store = "on_eviction" (as KVBM does)
        lanes.*.max_concurrent = 4 (a round figure)
        links.pcie.preset = "pcie4" (25 GB/s down, 25 up, 10 µs)
        links.disk.preset = "nvme_gen4" (4 GB/s down, 6.5 up, 80 µs)
        links.handoff.preset = "nic_400g" (45 GB/s, 10 µs)
        timing.model = "polynomial" (the coefficients of Dynamo's mocker, uncalibrated)
        workload.trace_block_tokens = 512 (Mooncake's)
        router.publish = "pass_end" (a block is news when it has been computed)
        router's credits = 1, 0.75, 0.25 (blocks credited for one in G1, G2 and G3, as Dynamo publishes them)
        handoff.layers = 32 (as Llama-3.1-8B; no model is named)
        handoff.lease_s = 480 (as vLLM's NIXL connector)"#]]
    .assert_eq(&read.defaults.join("\n"));
    let bare = scenario(&format!("{HEAD}[workers]\nprefill = 1\ndecode = 1\n"));
    assert_eq!(bare.fleet.map(|fleet| fleet.handoff), Some(HandoffConfig::VLLM));
    expect![[r#"
        hardware.kv_bytes_per_token = 131072 (as Llama-3.1-8B; no model is named)
        engine.g1_blocks = 16384 (the pool of Dynamo's mocker; hardware.model and .gpu would derive it)
        links.handoff.preset = "nic_400g" (45 GB/s, 10 µs)
        timing.model = "polynomial" (the coefficients of Dynamo's mocker, uncalibrated)
        workload.trace_block_tokens = 512 (Mooncake's)
        router.kind = "round_robin" (the plainest; "kv_aware" looks at caches)
        handoff.order = "source_first" (as vLLM does)
        handoff.lease_s = 480 (as vLLM's NIXL connector)"#]]
    .assert_eq(&bare.defaults.join("\n"));
}

#[test]
fn layers_are_those_of_the_model_whose_cache_grows() {
    let layers = |tables: &str| {
        let pipelined = "[handoff]\norder = 'destination_first'\ntransfer = 'layers'\n";
        fleet(&format!("{HEAD}[workers]\nprefill = 1\ndecode = 1\n{tables}{pipelined}")).handoff_link.layers
    };
    assert_eq!(layers(""), 32);
    assert_eq!(layers("[hardware]\nmodel = 'llama-3.1-70b'\n"), 80);
    // Half of its layers slide over a short window.
    assert_eq!(layers("[hardware]\nmodel = 'gpt-oss-120b'\n"), 18);
}

#[test]
fn a_lease_can_be_none() {
    let lease = |lease: &str| {
        fleet(&format!("{HEAD}[workers]\nprefill = 1\ndecode = 1\n[handoff]\nlease_s = {lease}\n"))
            .handoff
            .lease
    };
    assert_eq!([lease("0"), lease("0.0"), lease("'never'")], [None; 3]);
    assert_eq!(lease("0.5"), Some(ms(500)));
}

/// Workers go and come again; what the run alone can know is not refused.
#[test]
fn changes_that_can_be_are_taken() {
    let changes = |list: &[(u64, u16, &str)]| {
        let tables: String = list
            .iter()
            .map(|(at, worker, change)| {
                format!("[[worker]]\nat_ms = {at}\nworker = {worker}\nchange = '{change}'\n")
            })
            .collect();
        fleet(&format!("{HEAD}[workers]\ncount = 3\nabsent = [2]\nstartup_ms = 5\n{tables}")).changes.len()
    };
    assert_eq!(changes(&[(0, 2, "start"), (1, 2, "lose"), (1, 2, "start"), (7, 2, "drain")]), 4);
    assert_eq!(changes(&[(9, 0, "start"), (5, 0, "drain")]), 2);
    assert_eq!(changes(&[(5, 0, "drain"), (6, 0, "lose"), (7, 0, "start")]), 3);
}

#[test]
fn the_canonical_form_is_read_back() {
    let lone = format!("{HEAD}[workers]\ncount = 1\n[g2]\nblocks = 4\n[g3]\nblocks = 5\n");
    let split =
        format!("{HEAD}[workers]\nprefill = 1\ndecode = 1\n[g2]\nblocks = 4\n[handoff]\nlease_s = 0\n");
    for text in [SPLIT, WHOLE, &lone, &split] {
        let first = scenario(text);
        let second = parse(&first.to_json().to_string(), SourceFormat::Json)
            .unwrap_or_else(|problems| panic!("{}\n{problems:#?}", first.to_json()));
        assert_eq!((first.to_json(), first.hash()), (second.to_json(), second.hash()));
        assert_eq!((first.fleet, first.faults), (second.fleet, second.faults));
    }
}

/// Two ways to say one thing have one hash; no workers have the hash that they had before there were any.
#[test]
fn equal_fleets_have_equal_hashes() {
    let hash = |tables: &str| scenario(&format!("{HEAD}{tables}")).hash();
    let plain = hash("[workers]\nprefill = 1\ndecode = 1\n");
    let written = "[workers]\nprefill = 1\ndecode = 1\nper_host = 1\nabsent = []\nstartup_ms = 0\ndecode_g1_blocks = 16384\n\
        [router]\nkind = 'round_robin'\nreplicas = 1\npublish = 'pass_end'\nevent_delay_ms = 0\n\
        [handoff]\norder = 'source_first'\nbytes = 'destination_missing'\ntransfer = 'whole'\nlease_s = 480\nmessage_delay_ms = 0\n\
        [links.handoff]\npreset = 'nic_400g'\nshared_by = 'source'\n";
    assert_eq!(plain, hash(written));
    assert_eq!(
        plain,
        hash("[workers]\nprefill = 1\ndecode = 1\n[links.handoff]\ngb_per_s = 45\nlatency_us = 10\n")
    );
    assert_ne!(plain, hash(""));
    expect!["cd763b575e758a98aa2b6b05bcbbb19d"].assert_eq(&hash("").to_string());
    expect!["f1cc2106c4d5589add9f714f0477654f"]
        .assert_eq(&hash("[g2]\nblocks = 9\n[g3]\nblocks = 9\n").to_string());
}

/// One assignment for each key that [`SPLIT`] may have.
const OF_SPLIT: &[&str] = &[
    "workers.prefill=3",
    "workers.decode=4",
    "workers.per_host=1",
    "workers.absent=[1]",
    "workers.startup_ms=21",
    "workers.decode_g1_blocks=2049",
    "router.replicas=4",
    "router.sync_ms=2",
    "router.publish=pass_end",
    "router.event_delay_ms=3",
    "router.expiry_s=301",
    "router.overlap_score_credit=0.8",
    "router.overlap_score_credit_decay=0.2",
    "router.host_cache_hit_weight=0.6",
    "router.disk_cache_hit_weight=0.3",
    "router.shared_cache_multiplier=0.25",
    "router.prefill_load_scale=3",
    "router.decode_active_request_weight=4",
    "router.temperature=0.8",
    "handoff.bytes=destination_missing",
    "handoff.layers=49",
    "handoff.lease_s=31",
    "handoff.lease_s=never",
    "handoff.message_delay_ms=0.5",
    "links.handoff.gb_per_s=13",
    "links.handoff.latency_us=4",
    "links.handoff.shared_by=all",
    "links.handoff.shared_by=source",
    "fault[0].nth=3",
    "worker[0].at_ms=51",
    "worker[0].worker=3",
    "worker[0].change=drain",
    "message_fault[0].message=received",
    "message_fault[0].request=8",
    "message_fault[0].after=3",
    "message_fault[0].count=4",
    "message_fault[0].fate=doubled",
    "message_fault[0].delay_ms=6",
];

/// The same of [`WHOLE`].
const OF_WHOLE: &[&str] =
    &["workers.count=5", "router.kind=round_robin", "router.kind=kv_aware", "worker[0].worker=2"];

/// Each key changes the hash, and `set` reaches it.
#[test]
fn every_key_can_be_set_and_changes_the_hash() {
    let mut hashes = Vec::new();
    for (base, assignments) in [(SPLIT, OF_SPLIT), (WHOLE, OF_WHOLE)] {
        hashes.push((scenario(base).hash(), "the base"));
        for assignment in assignments {
            let text = set(base, assignment).unwrap_or_else(|problem| panic!("{problem}"));
            let read = parse_any(&text).unwrap_or_else(|problems| panic!("{assignment}: {problems:#?}"));
            hashes.push((read.hash(), assignment));
        }
    }
    for (at, (hash, assignment)) in hashes.iter().enumerate() {
        let same = hashes[..at].iter().find(|(earlier, _)| earlier == hash);
        assert_eq!(same, None, "{assignment} changes nothing");
    }
}
