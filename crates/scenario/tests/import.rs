//! What people have, as a scenario: every flag and key is taken, assumed or left out with a note; hostile sources end in problems.

use proptest::prelude::*;
use proptest::sample::Index;
use tierscope_scenario::import::{Imported, Kind, NoteKind, Source, detect, import, merge_hardware};
use tierscope_scenario::{TraceFormat, link, parse_any, set};

const VLLM: &str = r#"# how we serve it
export LMCACHE_CHUNK_SIZE=512
CUDA_VISIBLE_DEVICES=0,1 VLLM_LOGGING_LEVEL=INFO vllm serve meta-llama/Llama-3.1-70B-Instruct \
    --tensor_parallel_size=4 -dp 2 \  
    --max-model-len 32k --max-num-seqs 64 --max-num-batched-tokens 4K \
    --block-size 32 --gpu-memory-utilization 0.85 --no-enable-prefix-caching \
    --kv-cache-dtype fp8_e4m3 --swap-space 8 --port 8000 --api-key secret \
    --speculative-config '{"method": "eagle3", "model": "x", "num_speculative_tokens": 3}' \
    --kv-transfer-config '{"kv_connector": "OffloadingConnector", "kv_role": "kv_both",
      "kv_connector_extra_config": {"cpu_bytes_to_use": 68719476736, "block_size": 128, "eviction_policy": "arc"}}'
"#;

const DYNAMO: &str = r#"{"engine_type": "vllm", "num_gpu_blocks": 8192, "block_size": 64, "max_num_seqs": 128,
  "max_num_batched_tokens": 4096, "enable_prefix_caching": true, "speedup_ratio": 2.0, "num_g2_blocks": 20000,
  "offload_batch_size": 16, "bandwidth_g1_to_g2_gbps": 40.0, "bandwidth_g2_to_g1_gbps": 0, "kv_bytes_per_token": 98304,
  "dp_size": 1, "preemption_mode": "lifo", "startup_time": null}"#;

const LMCACHE: &str = "# mine\nchunk_size: 256\nlocal_cpu: true\nmax_local_cpu_size: 40  # GB\nlocal_disk: \"file:///ssd/\"\n\
    max_local_disk_size: 500.5\nremote_url: \"redis://:pass@host:6379\"\nremote_serde: naive\ncache_policy: LFU\n\
    extra_config:\n  a: [1, 2]\n";

const HARDWARE: &str = "tierscope_hardware = 1\nmachine = \"node 17\"\nmeasured = \"2026-11-30\"\ngpu = \"h200\"\n[tiers.g2]\ngib = 256.0\n\
    [tiers.g3]\ngib = 3000\n[lanes.g1_g2]\nbandwidth_gbps = 50.0\nwith_opposite_gbps = 40.0\nlatency_us = 12.5\nper_block_us = 1.5\n\
    [lanes.g2_g1]\nbandwidth_gbps = 48.0\nlatency_us = 10\n[lanes.g2_g3]\nbandwidth_gbps = 5.0\n";

fn taken(imported: &Imported) -> Vec<String> {
    let taken = imported.notes.iter().filter(|note| note.kind == NoteKind::Taken);
    taken.map(|note| format!("{}:{} {}", note.line, note.column, note.words)).collect()
}

fn words(imported: &Imported, kind: NoteKind) -> String {
    let notes = imported.notes.iter().filter(|note| note.kind == kind);
    notes.map(|note| format!("{} -> {}\n", note.what, note.words)).collect()
}

#[test]
fn a_vllm_command_becomes_a_scenario() {
    let made = import(VLLM, Source::Vllm).expect("a command");
    assert_eq!(made.problems, []);
    let read = parse_any(&made.text).unwrap_or_else(|problems| panic!("{problems:?}\n{}", made.text));
    let (engine, hardware) = (&read.engine, &read.hardware);
    assert_eq!((hardware.model_name(), hardware.tensor_parallel), ("llama-3.1-70b", 4));
    assert_eq!(hardware.kv_bytes_per_token, 163_840, "one byte an element");
    assert_eq!(
        (engine.max_model_len, engine.max_num_seqs, engine.max_num_batched_tokens),
        (32_000, 64, 4_096)
    );
    assert_eq!((engine.block_size_tokens, engine.prefix_caching), (32, false));
    assert_eq!(read.fleet.as_ref().map(|fleet| fleet.roles.len()), Some(2));
    assert!(
        made.text.contains("flavour = \"vllm\"\n") && made.text.contains("blocks_per_chunk = 4\n"),
        "{}",
        made.text
    );
    assert!(
        made.text.contains("gib = 64.0\n") && made.text.contains("chunk_eviction = \"arc\"\n"),
        "{}",
        made.text
    );
    assert!(made.text.contains("draft_method = \"eagle\"\n") && made.text.contains("draft_tokens = 3\n"));
    let left = words(&made, NoteKind::Left);
    assert!(left.contains("--swap-space 8 -> vLLM V1 does not swap"), "{left}");
    assert!(left.contains("--port --api-key -> ") && !left.contains("secret"), "{left}");
    assert!(
        taken(&made).contains(&"5:21 engine.max_num_seqs = 64".into())
            || taken(&made)
                .iter()
                .any(|note| note.starts_with("5:") && note.ends_with("engine.max_num_seqs = 64"))
    );
    let assumed = words(&made, NoteKind::Assumed);
    assert!(assumed.contains("hardware.gpu = \"h100-sxm\"") && assumed.contains("[workload]"), "{assumed}");
}

#[test]
fn commands_in_other_clothes() {
    let python =
        "python3 -m vllm.entrypoints.openai.api_server --model Qwen/Qwen3-8B --kv-offloading-size 32";
    let made = import(python, Source::Vllm).expect("a command");
    assert!(
        made.text.contains("model = \"qwen3-8b\"") && made.text.contains("flavour = \"vllm\""),
        "{}",
        made.text
    );
    let docker = "sudo docker run --gpus all -p 8000:8000 -e LMCACHE_MAX_LOCAL_CPU_SIZE=20 vllm/vllm-openai:latest --model openai/gpt-oss-20b \
        --kv-transfer-config '{\"kv_connector\":\"LMCacheConnectorV1\",\"kv_role\":\"kv_both\"}'";
    let made = import(docker, Source::Vllm).expect("a command");
    assert!(
        made.text.contains("[g2]\ngib = 20.0") && made.text.contains("store = \"on_compute\""),
        "{}",
        made.text
    );
    let pair = "vllm serve Qwen/Qwen3-32B --kv-transfer-config '{\"kv_connector\":\"NixlConnector\",\"kv_role\":\"kv_producer\"}' --num-gpu-blocks-override 2000";
    let made = import(pair, Source::Vllm).expect("a command");
    assert!(
        made.text.contains("prefill = 1\ndecode = 1") && made.text.contains("g1_blocks = 1999"),
        "{}",
        made.text
    );
    let big = import("vllm serve deepseek-ai/DeepSeek-V3", Source::Vllm).expect("a command");
    assert!(!big.problems.is_empty(), "671 GB of weights fit no single GPU, and the parser says so");
    let unknown = import("vllm serve facebook/opt-125m", Source::Vllm).expect("a command");
    assert_eq!(unknown.problems, []);
    assert!(words(&unknown, NoteKind::Assumed).contains("no preset has this name"));
}

#[test]
fn faults_of_a_command_have_their_place_and_a_mend() {
    for (text, place, found) in [
        ("ls -l", (1, 1), "no vllm serve"),
        ("vllm serve m --max-num-seqs many", (1, 29), "\"many\""),
        ("vllm serve m \\\n  --block-size 0", (2, 16), "\"0\""),
        ("vllm serve m --kv-transfer-config '{\"a\": '", (1, 35), "syntax error"),
        ("vllm serve 'm", (1, 12), "a quotation that never ends"),
        ("vllm serve m --max-num-seqs 4 stray", (1, 31), "\"stray\""),
    ] {
        let problems = import(text, Source::Vllm).expect_err(text);
        let first = &problems[0];
        assert!(first.found.contains(found) && !first.mend.is_empty(), "{text}: {problems:?}");
        assert_eq!((first.line, first.column), place, "{text}: {first:?}");
    }
}

#[test]
fn dynamos_arguments_become_a_scenario() {
    let made = import(DYNAMO, Source::Dynamo).expect("arguments");
    assert_eq!(made.problems, [], "{}", made.text);
    let read = parse_any(&made.text).expect("valid");
    assert_eq!((read.engine.g1_blocks, read.engine.block_size_tokens), (8_192, 64));
    assert_eq!(read.kv_bytes_per_block, 98_304 * 64);
    assert!(made.text.contains("prefill_constant_ms = 8.25071\n"), "{}", made.text);
    assert!(made.text.contains("down_gb_per_s = 40.0\nup_gb_per_s = 1000000.0\n"), "{}", made.text);
    let sides = import(
        r#"{"worker_type": "prefill", "kv_transfer_bandwidth": 64.0, "handoff_session_timeout_ms": 1000, "enable_g4_storage": true}"#,
        Source::Dynamo,
    );
    let made = sides.expect("arguments");
    assert_eq!(made.problems, [], "{}", made.text);
    assert!(
        made.text.contains("lease_s = 1.0\n") && made.text.contains("gb_per_s = 64.0\n"),
        "{}",
        made.text
    );
    let wrong = import("{\"num_gpu_blocks\": -3}", Source::Dynamo).expect_err("negative");
    assert_eq!((wrong[0].column, wrong[0].key.as_str()), (20, "num_gpu_blocks"));
}

#[test]
fn an_lmcache_file_becomes_tiers() {
    let made = import(LMCACHE, Source::LmCache).expect("settings");
    assert_eq!(made.problems, [], "{}", made.text);
    assert!(made.text.contains("[g2]\ngib = 40.0\neviction = \"tinylfu\"\n"), "{}", made.text);
    assert!(
        made.text.contains("[g3]\ngib = 500.5\n") && made.text.contains("[g4]\nblocks = 1048576\n"),
        "{}",
        made.text
    );
    assert!(made.text.contains("batch_blocks = 16\n"), "{}", made.text);
    assert!(!format!("{made:?}").contains("pass@"), "no secrets in notes");
    let line =
        made.notes.iter().find(|note| note.what.starts_with("max_local_cpu_size")).map(|note| note.line);
    assert_eq!(line, Some(4));
    let bomb = "a: &a [1]\nb: [*a, *a]\n";
    assert!(import(bomb, Source::LmCache).expect_err("aliases")[0].found.contains("an anchor"));
    let nested = "[".repeat(10_000);
    assert!(import(&nested, Source::LmCache).is_err());
    assert!(import("chunk_size: [", Source::LmCache).is_err());
    assert!(import("- a\n", Source::LmCache).is_err());
}

#[test]
fn a_machines_figures_go_into_a_scenario() {
    let (made, _) = (import(DYNAMO, Source::Dynamo).expect("arguments"), ());
    let base = set(&made.text, "links.pcie.preset=\"pcie4\"").expect("TOML");
    let (text, notes) = merge_hardware(&base, HARDWARE).expect("figures");
    let read = parse_any(&text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    let pcie = read.links.pcie;
    // 6,291,456 bytes take 125.83 µs at 50 GB/s, and 1.5 µs more for the block.
    assert_eq!(pcie.down.alone_bytes_per_s, 49_410_975_000);
    assert_eq!(pcie.up.alone_bytes_per_s, 48_000_000_000);
    assert_eq!(pcie.down.latency.as_ns(), 12_500);
    assert!(!text.contains("preset") && text.contains("[g2]\ngib = 256.0"), "{text}");
    let left: Vec<_> =
        notes.iter().filter(|note| note.kind == NoteKind::Left).map(|note| note.what.as_str()).collect();
    assert_eq!(left, ["g3 of 3000 GiB", "g2_g3"]);
    let wrong = merge_hardware(
        &base,
        "tierscope_hardware = 1\n[lanes.g1_g2]\nbandwidth_gbps = 5\nwith_opposite_gbps = 6\n[lanes.g9]\n",
    );
    let wrong = wrong.expect_err("faster with the other direction");
    assert_eq!((wrong.len(), wrong[0].line, wrong[1].line), (2, 4, 5), "{wrong:?}");
}

#[test]
fn what_it_is_shows_by_its_content() {
    let scenario = import(DYNAMO, Source::Dynamo).expect("arguments").text;
    let link = link::encode(&scenario);
    let cases: Vec<(&str, &str, Option<Kind>)> = vec![
        (&scenario, "", Some(Kind::Scenario)),
        ("{\"tierscope\": 1, \"workload\": {}}", "x.json", Some(Kind::Scenario)),
        (&link, "", Some(Kind::Link)),
        ("https://example.org/t/#v1.abc\n", "", Some(Kind::Link)),
        (VLLM, "", Some(Kind::Source(Source::Vllm))),
        (DYNAMO, "", Some(Kind::Source(Source::Dynamo))),
        (LMCACHE, "lmcache.yaml", Some(Kind::Source(Source::LmCache))),
        ("{\"chunk_size\": 256, \"local_cpu\": true}", "", Some(Kind::Source(Source::LmCache))),
        (HARDWARE, "hardware.toml", Some(Kind::Hardware)),
        ("{\"tierscope_recording\":1,\"version\":\"0.1.0\"", "run.jsonl", Some(Kind::Recording)),
        (
            "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 3, \"hash_ids\": [1]}\n",
            "t",
            Some(Kind::Trace(TraceFormat::Mooncake)),
        ),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\n", "t", Some(Kind::Trace(TraceFormat::AzureCsv))),
        ("what is this?", "notes.txt", None),
        ("", "", None),
        ("\u{0}PNG", "a.png", None),
    ];
    for (text, name, kind) in cases {
        assert_eq!(detect(text.as_bytes(), name), kind, "{text:.60}");
    }
    assert_eq!(detect(b"\x89PNG\r\n\x1a\n\x00\xff", "a.png"), None);
}

/// Cuts, repeats, overwrites and inserts.
fn mutate(text: &str, changes: &[(Index, Index, u8)]) -> String {
    const SEEDS: [&str; 16] =
        ["\"", "'", "{", "}", "[", "]", "\\", "\n", "--", "=", ": ", "\t", "&a ", "1e999", "\u{feff}", "é"];
    let mut characters: Vec<char> = text.chars().collect();
    for (place, length, kind) in changes {
        let at = place.index(characters.len() + 1);
        let end = (at + length.index(12)).min(characters.len());
        match kind % 4 {
            0 => drop(characters.drain(at..end)),
            1 => {
                let again: Vec<char> = characters[at..end].to_vec();
                characters.splice(at..at, again);
            }
            2 => characters.truncate(at),
            _ => drop(characters.splice(at..end, SEEDS[usize::from(*kind) % SEEDS.len()].chars())),
        }
    }
    characters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_sources_end_in_a_scenario_or_in_problems(
        which in 0_usize..3,
        changes in prop::collection::vec((any::<Index>(), any::<Index>(), any::<u8>()), 1..6),
    ) {
        let source = Source::WORDS[which].1;
        let text = mutate([VLLM, DYNAMO, LMCACHE][which], &changes);
        let _ = detect(text.as_bytes(), "");
        match import(&text, source) {
            Ok(made) => {
                prop_assert_eq!(parse_any(&made.text).err().unwrap_or_default(), made.problems);
                prop_assert!(made.notes.iter().all(|note| !note.words.is_empty()));
            }
            Err(problems) => {
                prop_assert!(!problems.is_empty());
                let placed = problems.iter().all(|problem| problem.line > 0 && problem.column > 0 && !problem.mend.is_empty());
                prop_assert!(placed, "{:?}", problems);
            }
        }
    }

    #[test]
    fn mutated_figures_end_in_a_scenario_or_in_problems(
        changes in prop::collection::vec((any::<Index>(), any::<Index>(), any::<u8>()), 1..6),
    ) {
        let base = "tierscope = 1\n[g2]\nblocks = 9\n[workload]\nkind = \"trace\"\nfile = \"t\"\n";
        match merge_hardware(base, &mutate(HARDWARE, &changes)) {
            Ok((text, _)) => prop_assert!(parse_any(&text).is_ok(), "{}", text),
            Err(problems) => prop_assert!(problems.iter().all(|problem| problem.line > 0 && !problem.mend.is_empty())),
        }
    }
}
