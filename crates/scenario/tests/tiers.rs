//! What lies below G1, from its text: tiers, policies, lanes, links and faults, what is refused and with which words.

use expect_test::{Expect, expect};
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

#[track_caller]
fn refused(tables: &str, expected: Expect) {
    let problems = parse_any(&format!("{HEAD}{tables}")).expect_err("the text is refused");
    let printed: Vec<String> = problems.iter().map(ToString::to_string).collect();
    expected.assert_eq(&printed.join("\n"));
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

/// Each key changes the hash, and `set` reaches it.
#[test]
fn every_key_can_be_set_and_changes_the_hash() {
    let full = [
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
    let vllm = [
        "offload.chunk_eviction=lru",
        "offload.store_threshold=3",
        "offload.blocks_per_chunk=5",
        "offload.prompt_only=true",
        "offload.sync_load_budget_tokens=0",
    ];
    let mut hashes = Vec::new();
    for (base, assignments) in [(FULL, &full[..]), (VLLM, &vllm[..])] {
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

#[test]
fn tables_below_g1_need_their_tiers() {
    refused(
        "[g3]\nblocks = 1\n[g4]\nblocks = 1\n[offload]\n[lanes.g1_g2]\n[links.pcie]\n[[fault]]\nlane = 'g1_g2'\n",
        expect![[r#"
            error: g3: found the key g3, expected it only beside g2
              --> scenario:7:2
              mend: add [g2] with blocks = 1000, or remove it
            error: g4: found the key g4, expected it only beside g2
              --> scenario:9:2
              mend: add [g2] with blocks = 1000, or remove it
            error: offload: found the key offload, expected it only beside g2
              --> scenario:11:2
              mend: add [g2] with blocks = 1000, or remove it
            error: lanes: found the key lanes, expected it only beside g2
              --> scenario:12:2
              mend: add [g2] with blocks = 1000, or remove it
            error: links: found the key links, expected it only beside g2
              --> scenario:13:2
              mend: add [g2] with blocks = 1000, or remove it
            error: fault: found the key fault, expected it only beside g2
              --> scenario:14:3
              mend: add [g2] with blocks = 1000, or remove it"#]],
    );
    refused(
        "[g2]\nblocks = 1\n[lanes.g2_g3]\n[lanes.g4_g2]\n[links.disk]\n[links.object]\n\
         [[fault]]\nlane = 'g2_g3'\nkind = 'fail'\nnth = 1\n",
        expect![[r#"
            error: lanes.g2_g3: found the key g2_g3, expected it only beside g3
              --> scenario:9:8
              mend: add [g3], or remove it
            error: lanes.g4_g2: found the key g4_g2, expected it only beside g4
              --> scenario:10:8
              mend: add [g4], or remove it
            error: links.disk: found the key disk, expected it only beside g3
              --> scenario:11:8
              mend: add [g3], or remove it
            error: links.object: found the key object, expected it only beside g4
              --> scenario:12:8
              mend: add [g4], or remove it
            error: fault[0].lane: found "g2_g3", expected a lane between tiers of the scenario
              --> scenario:14:8
              mend: add [g3], or name another lane"#]],
    );
}

#[test]
fn sizes_of_tiers_are_checked() {
    refused(
        "[g2]\n[g3]\nblocks = 1\ngib = 2\n[g4]\nblocks = 16777217\n",
        expect![[r#"
        error: g2.blocks: found no such key, expected how large the tier is
          --> scenario:7:1
          mend: add blocks = 1000, or gib = 64.0
        error: g3.gib: found the key gib, expected either blocks or gib
          --> scenario:10:1
          mend: remove one of the two
        error: g4.blocks: found 16777217, expected a whole number from 1 to 16777216
          --> scenario:12:10
          mend: write 16777216 or less"#]],
    );
    refused(
        "[g2]\ngib = 0.0001\neviction = 'lfu'\n[g3]\ngib = 1e9\n[g4]\nblocks = 0\n",
        expect![[r#"
        error: g2.gib: found 0.0001, expected room for 1 to 16777216 blocks of 512.0 KiB
          --> scenario:8:7
          mend: write a larger number, or blocks
        error: g2.eviction: found "lfu", expected "lru", "lineage" or "tinylfu"
          --> scenario:9:12
          mend: did you mean "lru"?
        error: g3.gib: found 1000000000.0, expected room for 1 to 16777216 blocks of 512.0 KiB
          --> scenario:11:7
          mend: write a smaller number, or blocks
        error: g4.blocks: found 0, expected a whole number from 1 to 16777216
          --> scenario:13:10
          mend: write 1 or more"#]],
    );
}

#[test]
fn policies_without_meaning_are_refused() {
    refused(
        "[g2]\nblocks = 2\n[offload]\nstore = 'on_compute'\nstore_hits = 2\nholds = 'exclusive'\nboundary_blocks = 3\n\
         load = 'allways'\nwaiters = 1\npin_finished_ms = -1\nchunk_eviction = 'arc'\nprompt_only = 'no'\nzebra = 1\n",
        expect![[r#"
            error: offload.store_hits: found the key store_hits, expected it only beside store = "on_hit"
              --> scenario:11:1
              mend: write store = "on_hit", or remove it
            error: offload.boundary_blocks: found the key boundary_blocks, expected it only beside holds = "boundary"
              --> scenario:13:1
              mend: write holds = "boundary", or remove it
            error: offload.load: found "allways", expected "always", "never" or "sooner"
              --> scenario:14:8
              mend: did you mean "always"?
            error: offload.waiters: found 1, expected text
              --> scenario:15:11
              mend: put it in quotation marks: waiters = "…"
            error: offload.pin_finished_ms: found -1, expected a number from 0 to 86400000
              --> scenario:16:19
              mend: write 0 or more
            error: offload.chunk_eviction: found the key chunk_eviction, expected it only beside flavour = "vllm"
              --> scenario:17:1
              mend: write flavour = "vllm", or remove it
            error: offload.prompt_only: found the key prompt_only, expected it only beside flavour = "vllm"
              --> scenario:18:1
              mend: write flavour = "vllm", or remove it
            error: offload.prompt_only: found "no", expected true or false
              --> scenario:18:15
              mend: write prompt_only = true or prompt_only = false, without quotation marks
            error: offload.zebra: found the unknown key "zebra", expected a key of [offload]
              --> scenario:19:1
              mend: remove it; the keys here are flavour, chunk_eviction, store_threshold, blocks_per_chunk, prompt_only, sync_load_budget_tokens, store_hits, store, boundary_blocks, holds, load, waiters, onboard_gate, pressure, pin_finished_ms"#]],
    );
    refused(
        "[g2]\nblocks = 2\n[g3]\nblocks = 2\n[offload]\nflavour = 'vllm'\nstore = 'on_eviction'\nholds = 'exclusive'\n\
         blocks_per_chunk = 3\n",
        expect![[r#"
            error: g3: found the key g3, expected one tier, g2, under the flavour "vllm"
              --> scenario:9:2
              mend: remove it, or write flavour = "kvbm"
            error: offload.store: found "on_eviction", expected "on_compute" under the flavour "vllm"
              --> scenario:13:9
              mend: remove it, or write flavour = "kvbm"
            error: offload.holds: found "exclusive", expected "inclusive" under the flavour "vllm"
              --> scenario:14:9
              mend: remove it, or write flavour = "kvbm"
            error: offload.blocks_per_chunk: found 3, expected at most the 2 blocks of g2
              --> scenario:15:20
              mend: lower it, or enlarge g2"#]],
    );
}

#[test]
fn lanes_and_links_are_checked() {
    refused(
        "[g2]\nblocks = 2\n[lanes.g1_g2]\nmax_concurrent = 0\nbatch_blocks = 0\nmin_uses = 3\nbackoff_ms = 3\ntimeout_ms = 0\n\
         [lanes.g1_g3]\n[lanes.g2_g1]\nfilter = 'frequency'\nmin_uses = 16\nflush_after_ms = 1e9\nretries = -1\n",
        expect![[r#"
            error: lanes.g1_g2.max_concurrent: found 0, expected a whole number from 1 to 1024
              --> scenario:10:18
              mend: write 1 or more
            error: lanes.g1_g2.batch_blocks: found 0, expected a whole number from 1 to 65536
              --> scenario:11:16
              mend: write 1 or more
            error: lanes.g1_g2.min_uses: found the key min_uses, expected it only beside filter = "frequency"
              --> scenario:12:1
              mend: write filter = "frequency", or remove it
            error: lanes.g1_g2.backoff_ms: found the key backoff_ms, expected it only beside retries
              --> scenario:13:1
              mend: add retries = 3, or remove it
            error: lanes.g1_g2.timeout_ms: found 0, expected a number from 0.000001 to 86400000
              --> scenario:14:14
              mend: write 0.000001 or more
            error: lanes.g1_g3: found the unknown key "g1_g3", expected a key of [lanes]
              --> scenario:15:8
              mend: did you mean g1_g2?
            error: lanes.g2_g1.min_uses: found 16, expected a whole number from 1 to 15
              --> scenario:18:12
              mend: write 15 or less
            error: lanes.g2_g1.flush_after_ms: found 1000000000.0, expected a number from 0 to 86400000
              --> scenario:19:18
              mend: write 86400000 or less
            error: lanes.g2_g1.retries: found -1, expected a whole number from 0 to 1000
              --> scenario:20:11
              mend: write 0 or more"#]],
    );
    refused(
        "[g2]\nblocks = 2\n[links.pcie]\npreset = 'pcie6'\ndown_gb_per_s = 0\nup_gb_per_s = 10\nup_with_down_gb_per_s = 11\n\
         latency_us = -1\n[links.nic]\n",
        expect![[r#"
            error: links.pcie.preset: found "pcie6", expected the name of a preset of this link
              --> scenario:10:10
              mend: did you mean "pcie5"? There are pcie4, pcie5, c2c
            error: links.pcie.down_gb_per_s: found 0, expected a number from 0.000001 to 1000000
              --> scenario:11:17
              mend: write 0.000001 or more
            error: links.pcie.up_with_down_gb_per_s: found 11, expected at most up_gb_per_s, which is 10
              --> scenario:13:25
              mend: lower it, or raise up_gb_per_s
            error: links.pcie.latency_us: found -1, expected a number from 0 to 60000000
              --> scenario:14:14
              mend: write 0 or more
            error: links.nic: found the unknown key "nic", expected a key of [links]
              --> scenario:15:8
              mend: remove it; the keys here are pcie, disk, object"#]],
    );
}

#[test]
fn faults_say_what_goes_wrong_and_when() {
    refused(
        "[g2]\nblocks = 2\n[[fault]]\n[[fault]]\nlane = 'g1_g2'\nkind = 'stall'\nnth = 1\nevery = 2\nuntil_ms = 3\n\
         [[fault]]\nlane = 'g2_g1'\nkind = 'slow'\nfrom_ms = 5\nuntil_ms = 5\n\
         [[fault]]\nlane = 'g1'\nkind = 'fails'\nrate = 1e-9\nfactor = 2\nstall_ms = 1\n\
         [[fault]]\nlane = 'g1_g2'\nkind = 'slow'\nfactor = 0.5\nnth = 0\n",
        expect![[r#"
            error: fault[0].lane: found no such key, expected the lane whose copies it strikes
              --> scenario:9:1
              mend: add lane = "g1_g2"
            error: fault[0].kind: found no such key, expected what goes wrong
              --> scenario:9:1
              mend: add kind = "fail"
            error: fault[0].nth: found no such key, expected one of nth, every, from_ms and rate
              --> scenario:9:1
              mend: add nth = 1, every = 10, from_ms = 0 or rate = 0.01
            error: fault[1].stall_ms: found no such key, expected how much later the copy begins
              --> scenario:10:1
              mend: add stall_ms = 100
            error: fault[1].every: found the key every, expected one of nth, every, from_ms and rate
              --> scenario:14:1
              mend: keep one of them
            error: fault[1].until_ms: found the key until_ms, expected it only beside from_ms
              --> scenario:15:1
              mend: add from_ms = 0, or remove it
            error: fault[2].factor: found no such key, expected how many times as long the copy takes
              --> scenario:16:1
              mend: add factor = 2.0
            error: fault[2].until_ms: found 5, expected a time after from_ms
              --> scenario:20:12
              mend: raise it, or lower from_ms
            error: fault[3].lane: found "g1", expected "g1_g2", "g2_g3", "g2_g4", "g2_g1", "g3_g2" or "g4_g2"
              --> scenario:22:8
              mend: did you mean "g1_g2"?
            error: fault[3].kind: found "fails", expected "fail", "stall", "slow", "lose" or "corrupt"
              --> scenario:23:8
              mend: did you mean "fail"?
            error: fault[3].rate: found 1e-9, expected 0, or 0.000001 to 1
              --> scenario:24:8
              mend: write 0.000001 or more
            error: fault[3].factor: found the key factor, expected it only beside kind = "slow"
              --> scenario:25:1
              mend: write kind = "slow", or remove it
            error: fault[3].stall_ms: found the key stall_ms, expected it only beside kind = "stall"
              --> scenario:26:1
              mend: write kind = "stall", or remove it
            error: fault[4].factor: found 0.5, expected a number from 1 to 1000000
              --> scenario:30:10
              mend: write 1 or more
            error: fault[4].nth: found 0, expected a whole number from 1 to 9223372036854775807
              --> scenario:31:7
              mend: write 1 or more"#]],
    );
    let many = "[[fault]]\nlane = 'g1_g2'\nkind = 'fail'\nnth = 1\n".repeat(257);
    refused(
        &format!("[g2]\nblocks = 2\n{many}"),
        expect![[r#"
        error: fault: found an array of 257, expected at most 256 faults
          --> scenario:9:1
          mend: use every, rate or from_ms"#]],
    );
}
