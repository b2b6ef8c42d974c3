//! Mutated input of every reader: never a panic, always a value or problems that have a place and a mend.

mod trace_samples;

use proptest::prelude::*;
use proptest::sample::Index;
use tierscope_scenario::{
    Problem, SourceFormat, Start, TraceFormat, default_for_trace, expand, link, parse, parse_any, set,
};

const TOML: &str = "tierscope = 1\nseed = 3\n[engine]\nblock_size_tokens = 16\ng1_blocks = 64\n[hardware]\nmodel = \"qwen3-8b\"\ngpu = \"h200\"\n\
    [timing]\nmodel = \"roofline\"\nmfu_prefill = 0.4\n[workload]\nkind = \"requests\"\n[[workload.request]]\nat_ms = 0\nprompt = [[0, 5], [7, 9]]\n\
    output_tokens = 4\n[[workload.request]]\nafter = 0\nprompt_tokens = 8\nprefix = \"p\"\nprefix_tokens = 4\noutput_tokens = 4\n\
    [slo]\nttft_ms = 5\n[expect]\noutcome = \"finished\"\nfacts = [\"no preemption\"]\nreport = [\"hit_ratio.g1 >= 0.5\"]\n";

const SYNTHETIC: &str = "{\"tierscope\": 1, \"workload\": {\"kind\": \"synthetic\", \"requests\": 12, \"arrival\": \"poisson\", \"rate_per_s\": 2.5,\n\
    \"prompt_tokens\": {\"min\": 5, \"max\": 9}, \"output_tokens\": {\"mean\": 5, \"stddev\": 2}, \"turns\": 3, \"turn_delay_ms\": 1,\n\
    \"shared_prefix\": {\"tokens\": 40, \"groups\": 2}}, \"timing\": {\"model\": \"fixed\", \"decode_ns\": 5}}";

const TIERS: &str = "tierscope = 1\n[workload]\nkind = \"trace\"\nfile = \"t\"\n[g2]\nblocks = 100\neviction = \"tinylfu\"\n[g3]\ngib = 1.5\n\
    [g4]\nblocks = 5\n[offload]\nstore = \"on_hit\"\nstore_hits = 2\nholds = \"boundary\"\nboundary_blocks = 9\nload = \"sooner\"\n\
    pin_finished_ms = 3.5\n[lanes.g1_g2]\nmax_concurrent = 2\nfilter = \"frequency\"\nmin_uses = 3\nretries = 2\nbackoff_ms = 1.25\ntimeout_ms = 9\n\
    [links.pcie]\npreset = \"pcie5\"\n[links.disk]\ndown_gb_per_s = 3.7\nup_gb_per_s = 6.1\nup_with_down_gb_per_s = 2.3\nlatency_us = 81.5\n\
    [[fault]]\nlane = \"g1_g2\"\nkind = \"stall\"\nstall_ms = 2\nnth = 3\n[[fault]]\nlane = \"g2_g1\"\nkind = \"slow\"\nfactor = 2.5\nrate = 0.01\n\
    [[fault]]\nlane = \"g3_g2\"\nkind = \"lose\"\nfrom_ms = 5\nuntil_ms = 6.5\n";

const VLLM: &str = "{\"tierscope\": 1, \"workload\": {\"kind\": \"trace\", \"file\": \"t\"}, \"g2\": {\"gib\": 2.5},\n\
    \"offload\": {\"flavour\": \"vllm\", \"chunk_eviction\": \"arc\", \"store_threshold\": 2, \"blocks_per_chunk\": 4, \"prompt_only\": true},\n\
    \"lanes\": {\"g2_g1\": {\"flush_after_ms\": 1}}, \"fault\": [{\"lane\": \"g1_g2\", \"kind\": \"corrupt\", \"every\": 5}]}";

const FLEET: &str = "tierscope = 1\n[workload]\nkind = \"trace\"\nfile = \"t\"\n[workers]\nprefill = 2\ndecode = 3\nper_host = 2\nabsent = [4, 1]\n\
    startup_ms = 7.5\ndecode_g1_blocks = 2048\n[router]\nkind = \"kv_aware\"\nreplicas = 3\nsync_ms = 1.3\npublish = \"pass_start\"\nexpiry_s = 300.7\n\
    overlap_score_credit = 0.9\ntemperature = 0.7\n[handoff]\norder = \"destination_first\"\ntransfer = \"layers\"\nlayers = 48\nlease_s = 30.3\n\
    message_delay_ms = 0.25\n[links.handoff]\ngb_per_s = 12.7\nlatency_us = 3.1\nshared_by = \"all\"\n[[fault]]\nlane = \"handoff\"\nkind = \"lose\"\nevery = 2\n\
    [[worker]]\nat_ms = 50.3\nworker = 2\nchange = \"lose\"\n[[worker]]\nat_ms = 10\nworker = 1\nchange = \"start\"\n\
    [[message_fault]]\nmessage = \"reserved\"\nrequest = 7\nafter = 2\ncount = 3\nfate = \"late\"\ndelay_ms = 5.3\n";

const WHOLE: &str = "{\"tierscope\": 1, \"workload\": {\"kind\": \"trace\", \"file\": \"t\"}, \"workers\": {\"count\": 4, \"absent\": [3]},\n\
    \"router\": {\"kind\": \"least_loaded\", \"event_delay_ms\": 1.7}, \"g2\": {\"blocks\": 9}, \"worker\": [{\"at_ms\": 1, \"worker\": 3, \"change\": \"start\"}]}";

/// What mutations insert.
const SEEDS: [&str; 28] = [
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\n",
    "\r\n",
    "=",
    ":",
    "-",
    "1e999",
    "nan",
    "-0",
    "9223372036854775807",
    "18446744073709551616",
    "null",
    "true",
    "\u{feff}",
    "é",
    "\u{0}",
    "\\",
    "'''",
    "#",
    "0.0",
    "hash_ids",
    "[[workload.request]]",
    "tierscope",
];

/// Cuts, repeats, overwrites and inserts.
fn mutate(text: &str, changes: &[(Index, Index, u8)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (place, length, kind) in changes {
        let at = place.index(bytes.len() + 1);
        let end = (at + length.index(12)).min(bytes.len());
        match kind % 5 {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            2 if at < bytes.len() => bytes[at] = *kind,
            _ => {
                bytes.splice(at..at, SEEDS[length.index(SEEDS.len())].bytes());
            }
        }
    }
    bytes
}

fn changes() -> impl Strategy<Value = Vec<(Index, Index, u8)>> {
    prop::collection::vec(any::<(Index, Index, u8)>(), 1..6)
}

fn sound(problems: &[Problem]) -> Result<(), TestCaseError> {
    prop_assert!(!problems.is_empty());
    for problem in problems {
        prop_assert!(problem.line >= 1 && problem.column >= 1 && !problem.mend.is_empty(), "{problem:?}");
        prop_assert!(!problem.found.is_empty() && !problem.expected.is_empty(), "{problem:?}");
        prop_assert!(problem.to_string().lines().count() == 3, "{problem}");
    }
    Ok(())
}

/// A scenario text, whatever it is: read, expanded where it is small, hashed, set.
fn scenario(text: &str) -> Result<(), TestCaseError> {
    for format in [SourceFormat::Toml, SourceFormat::Json] {
        match parse(text, format) {
            Ok(scenario) => {
                let again = parse(&scenario.to_json().to_string(), SourceFormat::Json);
                prop_assert_eq!(again.map(|again| again.hash()), Ok(scenario.hash()));
                if let Err(problems) = expand(&scenario, None) {
                    sound(&problems)?;
                }
            }
            Err(problems) => sound(&problems)?,
        }
    }
    for assignment in ["workload.request[0].at_ms = 5", "lanes.g1_g2.max_concurrent = 2", "fault[0].nth = 1"]
    {
        if let Err(problem) = set(text, assignment) {
            sound(&[problem])?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_scenarios_are_read_or_refused(changes in changes()) {
        for text in [TOML, SYNTHETIC, TIERS, VLLM, FLEET, WHOLE] {
            scenario(&String::from_utf8_lossy(&mutate(text, &changes)))?;
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}") {
        scenario(&text)?;
        if let Err(problem) = set(TOML, &text) {
            sound(&[problem])?;
        }
    }

    #[test]
    fn mutated_links_are_read_or_refused(changes in changes()) {
        let link = mutate(&link::encode(TOML), &changes);
        if let Err(error) = link::decode(&String::from_utf8_lossy(&link)) {
            prop_assert!(error.to_string().contains("mend: "));
        }
    }

    #[test]
    fn mutated_traces_are_read_or_refused(changes in changes()) {
        for (format, text) in trace_samples::ALL {
            match expand(&default_for_trace("t", format), Some(&mutate(text, &changes))) {
                Ok(workload) => {
                    for (index, plan) in workload.requests.iter().enumerate() {
                        let sum: u64 = workload.prompt(plan).iter().map(|run| u64::from(run.len)).sum();
                        prop_assert_eq!(sum, u64::from(plan.prompt_tokens));
                        if let Start::After { request, .. } = plan.start {
                            prop_assert!((request.0 as usize) < index);
                        }
                    }
                    prop_assert!(workload.joins.is_sorted() && workload.joins.iter().all(|(who, whom)| whom < who));
                    prop_assert!(workload.sessions.is_empty() || workload.sessions.len() == workload.requests.len());
                }
                Err(problems) => sound(&problems)?,
            }
        }
    }

    #[test]
    fn a_bare_trace_of_any_name_has_a_scenario(name in any::<String>()) {
        let scenario = default_for_trace(&name, TraceFormat::Mooncake);
        prop_assert_eq!(scenario.trace_path(), Some(name.as_str()));
    }

    #[test]
    fn a_text_survives_its_link(text in "\\PC{0,400}") {
        prop_assert_eq!(link::decode(&link::encode(&text)), Ok(text));
    }
}

#[test]
fn deep_nesting_is_refused_without_a_crash() {
    for text in [
        format!("a = {}", "[".repeat(100_000)),
        format!("{{\"a\": {}", "[".repeat(100_000)),
        "[a.".repeat(50_000),
        format!("a{} = 1", ".b".repeat(100_000)),
    ] {
        let problems = parse_any(&text).expect_err("too deep");
        assert!(!problems.is_empty() && problems[0].line == 1);
    }
}

#[test]
fn a_flood_of_problems_is_cut() {
    let text: String =
        (0..5_000).fold("tierscope = 1\n".into(), |text, key| text + &format!("key{key} = 1\n"));
    let problems = parse_any(&text).expect_err("unknown keys");
    assert_eq!(problems.len(), tierscope_scenario::limit::PROBLEMS);
    assert!(problems.last().is_some_and(|last| last.mend.ends_with("mend these first)")));
}

#[test]
fn a_name_of_any_length_has_a_scenario() {
    let scenario = default_for_trace(&"é".repeat(1 << 20), TraceFormat::AzureCsv);
    assert!(scenario.trace_path().is_some_and(|path| path.chars().count() == 4_096));
}
