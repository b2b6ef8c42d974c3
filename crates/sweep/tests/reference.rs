//! The cache-only model against reference figures of a real trace, to the printed digit. The figures and the trace
//! (`conversation_trace.jsonl` of kvcache-ai/Mooncake, FAST25-release) lie beside the project, in `shared/`.

use std::path::PathBuf;

use tierscope_scenario::Workload;
use tierscope_sweep::cache::{CacheModel, Hits, INFINITE};

const CAPACITIES: [u64; 10] = [500, 1_000, 2_000, 3_000, 5_000, 10_000, 20_000, 30_000, 50_000, INFINITE];

#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test reads its data, or says that it is absent"
)]
fn shared(path: &str) -> Option<Vec<u8>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/traces").join(path);
    match std::fs::read(&path) {
        Ok(bytes) => Some(bytes),
        Err(_) => {
            println!("skipped: {} is absent", path.display());
            None
        }
    }
}

fn workload(bytes: &[u8]) -> Workload {
    let text = "tierscope = 1\n[engine]\nblock_size_tokens = 512\n[workload]\nkind = \"trace\"\nfile = \"trace.jsonl\"\n";
    let scenario = tierscope_scenario::parse_any(text).expect("a scenario");
    tierscope_scenario::expand(&scenario, Some(bytes)).expect("a trace")
}

/// The cells of the row of a table in Markdown that begins with these words.
fn row<'a>(table: &'a str, words: &str) -> Vec<&'a str> {
    let line = table.lines().find(|line| line.starts_with(&format!("| {words}"))).expect("the row is there");
    line.trim_matches('|').split('|').map(str::trim).skip(1).collect()
}

#[test]
fn every_row_of_the_reference_table_is_reproduced_to_the_printed_digit() {
    let Some(bytes) = shared("mooncake/conversation_trace.jsonl") else { return };
    let Some(reference) = shared("README.md") else { return };
    let reference = String::from_utf8(reference).expect("text");
    let workload = workload(&bytes);
    let model = CacheModel::of(&workload);

    let capacities: Vec<String> =
        row(&reference, "capacity").iter().map(|cell| cell.replace(',', "")).collect();
    let ours = CAPACITIES
        .map(|capacity| if capacity == INFINITE { "infinite".to_owned() } else { capacity.to_string() });
    assert_eq!(capacities, ours);
    let printed =
        |of: &dyn Fn(u64) -> Hits| CAPACITIES.map(|capacity| format!("{:.2}", 100.0 * of(capacity).ratio()));
    assert_eq!(printed(&|capacity| model.lru_blocks(capacity)).to_vec(), row(&reference, "LRU, every id"));
    assert_eq!(printed(&|capacity| model.lru_tokens(capacity)).to_vec(), row(&reference, "LRU, full blocks"));
    assert_eq!(printed(&|capacity| model.optimal_blocks(capacity)).to_vec(), row(&reference, "optimal"));

    let totals = model.totals();
    let found = [totals.references, totals.distinct_blocks, totals.input_tokens, totals.output_tokens];
    assert_eq!(found, [288_500, 182_790, 144_793_823, 4_122_048]);
}

/// Two programs, one definition: the report's "speed of light" walks a tree of tokens and knows no blocks.
#[test]
fn an_infinite_cache_is_the_reports_speed_of_light() {
    let Some(bytes) = shared("mooncake/conversation_trace.jsonl") else { return };
    let workload = workload(&bytes);
    let prompts = workload.requests.iter().map(|plan| {
        let output = tierscope_units::TokenRun { start: plan.output_start, len: plan.output_tokens };
        (plan.salt, workload.prompt(plan), output)
    });
    let light = tierscope_report::infinite_cache(prompts, workload.content_block_tokens);
    let model = CacheModel::of(&workload).lru_tokens(INFINITE);
    assert_eq!((light.hit_tokens, light.input_tokens), (model.hit, model.of));
}
