//! What lies below G1, from its text: tiers, policies, lanes, links and faults.

use expect_test::expect;
use tierscope_engine::{
    ChunkEviction, CopyEstimate, EvictionPolicy, Filter, Flavour, Holds, Lane, LaneConfig, Load, OnboardGate,
    Pressure, Store, TierConfig, TiersConfig, VllmConfig, Waiters,
};
use tierscope_scenario::{
    FaultKind, FaultSpec, LinkRate, LinkRates, Scenario, SourceFormat, When, parse, parse_any, set,
};
use tierscope_units::{SimTime, Span};

const HEAD: &str =
    "tierscope = 1\n[engine]\nblock_size_tokens = 4\n[workload]\nkind = 'trace'\nfile = 't.jsonl'\n";

const FULL: &str = r#"
tierscope = 1

[engine]
block_size_tokens = 4

[workload]
kind = "trace"
file = "t.jsonl"

[g2]
blocks = 1000
eviction = "tinylfu"

[g3]
blocks = 20_000
eviction = "lineage"

[g4]
gib = 0.5

[offload]
flavour = "kvbm"
store = "on_hit"
store_hits = 3
holds = "boundary"
boundary_blocks = 8
load = "sooner"
waiters = "join"
onboard_gate = "loaded_part"
pressure = "hold"
pin_finished_ms = 1.5

[lanes.g1_g2]
max_concurrent = 2
batch_blocks = 16
flush_after_ms = 3
filter = "frequency"
min_uses = 4
retries = 5
backoff_ms = 6
timeout_ms = 70

[lanes.g4_g2]
filter = "none"

[links.pcie]
preset = "pcie5"
latency_us = 7.5

[links.disk]
down_gb_per_s = 2
up_gb_per_s = 3
up_with_down_gb_per_s = 2.5

[[fault]]
lane = "g1_g2"
kind = "stall"
stall_ms = 4
nth = 3

[[fault]]
lane = "g2_g4"
kind = "slow"
factor = 2.5
every = 2

[[fault]]
lane = "g2_g1"
kind = "lose"
from_ms = 10
until_ms = 20

[[fault]]
lane = "g3_g2"
kind = "corrupt"
rate = 0.01
"#;

const VLLM: &str = r#"{
  "tierscope": 1,
  "workload": { "kind": "trace", "file": "t.jsonl" },
  "g2": { "blocks": 64 },
  "offload": {
    "flavour": "vllm", "chunk_eviction": "arc", "store_threshold": 2, "blocks_per_chunk": 4, "prompt_only": false,
    "sync_load_budget_tokens": 512
  },
  "lanes": { "g2_g1": { "max_concurrent": 1 } },
  "links": { "pcie": { "preset": "c2c" } },
  "fault": [{ "lane": "g1_g2", "kind": "fail", "every": 1 }]
}"#;

fn scenario(text: &str) -> Scenario {
    parse_any(text).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn tiers(scenario: &Scenario) -> &TiersConfig {
    scenario.engine.tiers.as_ref().expect("the scenario has tiers")
}

fn ms(count: u64) -> Span {
    Span::from_ns(count * 1_000_000)
}

#[test]
fn every_table_is_read() {
    let read = scenario(FULL);
    let tiers = tiers(&read);
    assert_eq!(tiers.g2, TierConfig { blocks: 1_000, eviction: EvictionPolicy::TinyLfu });
    assert_eq!(tiers.g3, Some(TierConfig { blocks: 20_000, eviction: EvictionPolicy::Lineage }));
    // 2^29 bytes ÷ (4 × 131,072)
    assert_eq!(tiers.g4, Some(TierConfig { blocks: 1_024, eviction: EvictionPolicy::Lru }));
    assert_eq!(
        (tiers.flavour, tiers.store, tiers.holds, tiers.load),
        (Flavour::Kvbm, Store::OnHit(3), Holds::Boundary(8), Load::Sooner)
    );
    assert_eq!(
        (tiers.waiters, tiers.onboard_gate, tiers.pressure),
        (Waiters::Join, OnboardGate::LoadedPart, Pressure::Hold)
    );
    assert_eq!(tiers.pin_finished, Some(Span::from_ns(1_500_000)));
    let lane = tiers.lanes[Lane::G1ToG2.index()];
    let written = LaneConfig {
        max_concurrent: 2,
        batch_blocks: 16,
        flush_after: ms(3),
        filter: Filter::PresenceFrequency(4),
        retries: 5,
        backoff: ms(6),
        timeout: Some(ms(70)),
        estimate: lane.estimate,
    };
    assert_eq!(lane, written);
    let other = tiers.lanes[Lane::G4ToG2.index()];
    assert_eq!(
        (other.filter, other.max_concurrent, other.batch_blocks, other.timeout),
        (Filter::None, 4, 32, None)
    );
}

#[test]
fn links_are_read_in_bytes_and_nanoseconds() {
    let read = scenario(FULL);
    let rate = |alone_bytes_per_s, both_bytes_per_s, ns| LinkRate {
        alone_bytes_per_s,
        both_bytes_per_s,
        latency: Span::from_ns(ns),
    };
    let fifty = rate(50_000_000_000, 50_000_000_000, 7_500);
    assert_eq!(read.links.pcie, LinkRates { down: fifty, up: fifty });
    // A rate that is written stands for both: the other direction slows it only where that is written too.
    let (down, up) = (rate(2_000_000_000, 2_000_000_000, 80_000), rate(3_000_000_000, 2_500_000_000, 80_000));
    assert_eq!(read.links.disk, LinkRates { down, up });
    let object = rate(1_000_000_000, 1_000_000_000, 30_000_000);
    assert_eq!(read.links.object, LinkRates { down: object, up: object });
    let bare = scenario(&format!("{HEAD}[g2]\nblocks = 1\n"));
    let pcie = rate(25_000_000_000, 18_600_000_000, 10_000);
    assert_eq!(bare.links.pcie, LinkRates { down: pcie, up: pcie });
}

#[test]
fn faults_are_read_in_their_order() {
    let instant = |count: u64| SimTime::from_ns(count * 1_000_000);
    let spec = |lane: Lane, kind, when| FaultSpec { lane: lane.index() as u8, kind, when };
    let expected = [
        spec(Lane::G1ToG2, FaultKind::Stall(ms(4)), When::Nth(3)),
        spec(Lane::G2ToG4, FaultKind::SlowDown { times_milli: 2_500 }, When::Every(2)),
        spec(Lane::G2ToG1, FaultKind::Lose, When::From { at: instant(10), until: Some(instant(20)) }),
        spec(Lane::G3ToG2, FaultKind::Corrupt, When::Rate { per_million: 10_000 }),
    ];
    assert_eq!(scenario(FULL).faults, expected);
}

#[test]
fn vllms_connector_stores_what_it_computes_in_one_tier() {
    let read = scenario(VLLM);
    let tiers = tiers(&read);
    let vllm = VllmConfig {
        eviction: ChunkEviction::Arc,
        store_threshold: 2,
        blocks_per_chunk: 4,
        prompt_only: false,
        sync_load_budget_tokens: 512,
    };
    assert_eq!((tiers.flavour, tiers.store), (Flavour::Vllm(vllm), Store::OnCompute));
    let short = scenario(&format!("{HEAD}[g2]\nblocks = 1\n[offload]\nflavour = 'vllm'\n"));
    let standard = VllmConfig {
        eviction: ChunkEviction::Lru,
        store_threshold: 1,
        blocks_per_chunk: 1,
        prompt_only: true,
        sync_load_budget_tokens: 0,
    };
    assert_eq!(self::tiers(&short).flavour, Flavour::Vllm(standard));
}

#[test]
fn defaults_below_g1_are_named() {
    let read = scenario(&format!("{HEAD}[g2]\ngib = 64.0\n[g3]\nblocks = 9\n[g4]\nblocks = 9\n"));
    let tiers = tiers(&read);
    let standard = TiersConfig {
        g2: TierConfig { blocks: 131_072, eviction: EvictionPolicy::Lru },
        g3: tiers.g3,
        g4: tiers.g4,
        lanes: tiers.lanes,
        recompute_estimate: tiers.recompute_estimate,
        ..TiersConfig::with_g2(0)
    };
    assert_eq!(*tiers, standard);
    for lane in tiers.lanes {
        let standard = LaneConfig {
            max_concurrent: 4,
            batch_blocks: 32,
            estimate: lane.estimate,
            ..LaneConfig::default()
        };
        assert_eq!(lane, standard);
    }
    expect![[r#"
        hardware.kv_bytes_per_token = 131072 (as Llama-3.1-8B; no model is named)
        engine.g1_blocks = 16384 (the pool of Dynamo's mocker; hardware.model and .gpu would derive it)
        g2.blocks = 131072 (of 512.0 KiB each in 64.0 GiB)
        offload.store = "on_eviction" (as KVBM does)
        lanes.*.max_concurrent = 4 (a round figure)
        links.pcie.preset = "pcie4" (25 GB/s down, 25 up, 10 µs)
        links.disk.preset = "nvme_gen4" (4 GB/s down, 6.5 up, 80 µs)
        links.object.preset = "s3" (1 GB/s down, 1 up, 30000 µs)
        timing.model = "polynomial" (the coefficients of Dynamo's mocker, uncalibrated)
        workload.trace_block_tokens = 512 (Mooncake's)"#]]
    .assert_eq(&read.defaults.join("\n"));
    let none = scenario(HEAD);
    assert!(none.engine.tiers.is_none() && none.faults.is_empty());
}

/// The engine is told what the world will do when nothing else moves, rounded up.
#[test]
fn beliefs_follow_from_links_and_timing() {
    let read = scenario(FULL);
    assert_eq!(read.kv_bytes_per_block, 524_288);
    let estimate = |lane: Lane| tiers(&read).lanes[lane.index()].estimate;
    let of = |latency, per_block| CopyEstimate {
        latency: Span::from_ns(latency),
        per_block: Span::from_ns(per_block),
    };
    // 524,288 B ÷ 50 GB/s = 10,485.76 ns
    assert_eq!(estimate(Lane::G1ToG2), of(7_500, 10_486));
    assert_eq!(estimate(Lane::G2ToG1), of(7_500, 10_486));
    // ÷ 2 GB/s = 262,144 ns; ÷ 3 GB/s = 174,762.67 ns
    assert_eq!(estimate(Lane::G2ToG3), of(80_000, 262_144));
    assert_eq!(estimate(Lane::G3ToG2), of(80_000, 174_763));
    assert_eq!(estimate(Lane::G4ToG2), of(30_000_000, 524_288));
    let recompute = |text: &str| tiers(&scenario(text)).recompute_estimate.as_ns();
    // (4.209989e-07·2048² + 1.518344e-02·2048 + 16.50142) ms ÷ 512 blocks = 49.362902… ms ÷ 512
    assert_eq!(recompute(FULL), 96_412);
    let fixed =
        "[timing]\nmodel = 'fixed'\nprefill_per_token_ns = 100\noverhead_ns = 2048\n[g2]\nblocks = 1\n";
    // (2048 + 2048·100) ns ÷ 512 blocks
    assert_eq!(recompute(&format!("{HEAD}{fixed}")), 404);
    // A block of 4,096 tokens is computed in one pass: 2048 + 4096·100.
    let large = HEAD.replace(
        "kind = 'trace'\nfile = 't.jsonl'",
        "kind = 'requests'\nrequest = [{ prompt_tokens = 1, output_tokens = 1 }]",
    );
    let large = large.replace("block_size_tokens = 4\n", "block_size_tokens = 4096\n");
    assert_eq!(recompute(&format!("{large}{fixed}")), 411_648);
    let roofline = "[hardware]\nmodel = 'llama-3.1-8b'\ngpu = 'h100-sxm'\n[timing]\nmodel = 'roofline'\n[g2]\nblocks = 1\n";
    // (2048·2·8.03e9 + 2048·2049÷2·4·32·4096) FLOP ÷ 0.45 ÷ 989e12 per s ÷ 512 blocks; the weights are read sooner.
    assert_eq!(recompute(&format!("{HEAD}{roofline}")), 149_171);
}

#[test]
fn the_canonical_form_is_read_back() {
    for text in [FULL, VLLM] {
        let first = scenario(text);
        let second = parse(&first.to_json().to_string(), SourceFormat::Json).expect("the form is valid");
        assert_eq!((first.to_json(), first.hash()), (second.to_json(), second.hash()));
        assert_eq!(
            (&first.engine, first.links, &first.faults, first.kv_bytes_per_block),
            (&second.engine, second.links, &second.faults, second.kv_bytes_per_block)
        );
    }
}

/// Two ways to say one thing have one hash.
#[test]
fn presets_and_sizes_are_resolved_in_the_hash() {
    let hash = |tables: &str| scenario(&format!("{HEAD}{tables}")).hash();
    let plain = hash("[g2]\nblocks = 2048\n");
    assert_eq!(
        plain,
        hash("[g2]\ngib = 1\neviction = 'lru'\n[offload]\nflavour = 'kvbm'\npin_finished_ms = 0\n")
    );
    assert_eq!(
        plain,
        hash("[g2]\nblocks = 2048\n[links.pcie]\npreset = 'pcie4'\n[lanes.g2_g1]\nbatch_blocks = 32\n")
    );
    let figures = "[links.pcie]\ndown_gb_per_s = 25\nup_gb_per_s = 25\ndown_with_up_gb_per_s = 18.6\n\
        up_with_down_gb_per_s = 18.6\nlatency_us = 10\n";
    assert_eq!(plain, hash(&format!("[g2]\nblocks = 2048\n{figures}")));
    assert_ne!(plain, scenario(HEAD).hash());
}

/// One assignment for each key that [`FULL`] may have.
const OF_FULL: &[&str] = &[
    "g2.blocks=1001",
    "g2.eviction=lru",
    "g3.blocks=3",
    "g3.eviction=lru",
    "g4.gib=0.25",
    "g4.eviction=lineage",
    "offload.store=on_compute",
    "offload.store_hits=4",
    "offload.holds=exclusive",
    "offload.boundary_blocks=9",
    "offload.load=never",
    "offload.load=always",
    "offload.waiters=wait",
    "offload.waiters=recompute",
    "offload.onboard_gate=full_prompt",
    "offload.pressure=drop",
    "offload.pin_finished_ms=2",
    "lanes.g1_g2.max_concurrent=3",
    "lanes.g1_g2.batch_blocks=17",
    "lanes.g1_g2.flush_after_ms=4",
    "lanes.g1_g2.filter=none",
    "lanes.g1_g2.min_uses=5",
    "lanes.g1_g2.retries=6",
    "lanes.g1_g2.backoff_ms=7",
    "lanes.g1_g2.timeout_ms=71",
    "lanes.g2_g3.max_concurrent=3",
    "lanes.g2_g4.max_concurrent=3",
    "lanes.g2_g1.max_concurrent=3",
    "lanes.g3_g2.max_concurrent=3",
    "lanes.g4_g2.max_concurrent=3",
    "links.pcie.preset=c2c",
    "links.pcie.up_gb_per_s=51",
    "links.pcie.down_gb_per_s=51",
    "links.pcie.down_with_up_gb_per_s=31",
    "links.pcie.up_with_down_gb_per_s=31",
    "links.pcie.latency_us=8",
    "links.disk.preset=sata",
    "links.disk.up_gb_per_s=4",
    "links.object.up_gb_per_s=4",
    "fault[0].lane=g2_g1",
    "fault[0].stall_ms=5",
    "fault[0].nth=4",
    "fault[1].factor=2.6",
    "fault[1].every=3",
    "fault[2].kind=fail",
    "fault[2].from_ms=11",
    "fault[2].until_ms=21",
    "fault[3].rate=0.02",
];

/// The same of [`VLLM`].
const OF_VLLM: &[&str] = &[
    "offload.chunk_eviction=lru",
    "offload.store_threshold=3",
    "offload.blocks_per_chunk=5",
    "offload.prompt_only=true",
    "offload.sync_load_budget_tokens=0",
];

/// Each key changes the hash, and `set` reaches it.
#[test]
fn every_key_can_be_set_and_changes_the_hash() {
    let mut hashes = Vec::new();
    for (base, assignments) in [(FULL, OF_FULL), (VLLM, OF_VLLM)] {
        hashes.push(scenario(base).hash());
        for assignment in assignments {
            let mut text = set(base, assignment).unwrap_or_else(|problem| panic!("{problem}"));
            // What means nothing beside the new value goes.
            let orphans: &[&str] = match *assignment {
                "offload.store=on_compute" => &["store_hits = 3\n"],
                "offload.holds=exclusive" => &["boundary_blocks = 8\n"],
                "lanes.g1_g2.filter=none" => &["min_uses = 4\n"],
                _ => &[],
            };
            for orphan in orphans {
                text = text.replace(orphan, "");
            }
            hashes.push(
                parse_any(&text).unwrap_or_else(|problems| panic!("{assignment}: {problems:#?}")).hash(),
            );
        }
    }
    for (at, hash) in hashes.iter().enumerate() {
        let same = hashes[..at].iter().position(|earlier| earlier == hash);
        assert_eq!(same, None, "assignment {at} has the hash of an earlier one");
    }
}

/// Tables that are missing are made.
#[test]
fn a_bare_text_is_given_tiers() {
    let mut text = HEAD.to_owned();
    let assignments = [
        "g2.blocks=100",
        "g3.gib=1",
        "offload.store=on_compute",
        "lanes.g1_g2.max_concurrent=1",
        "links.pcie.up_gb_per_s=12.5",
    ];
    for assignment in assignments {
        text = set(&text, assignment).unwrap_or_else(|problem| panic!("{problem}"));
    }
    let read = scenario(&text);
    let tiers = tiers(&read);
    assert_eq!((tiers.g2.blocks, tiers.store), (100, Store::OnCompute));
    assert_eq!(tiers.lanes[Lane::G1ToG2.index()].max_concurrent, 1);
    assert_eq!(read.links.pcie.up.alone_bytes_per_s, 12_500_000_000);
}
