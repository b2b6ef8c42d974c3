//! From the node tree to a [`Scenario`]: one decoder for both notations, which goes on after a problem so that
//! all of them are reported at once.

pub(crate) mod engine;
pub(crate) mod expect;
pub(crate) mod faults;
pub(crate) mod fields;
pub(crate) mod fleet;
pub(crate) mod hardware;
pub(crate) mod lanes;
pub(crate) mod links;
pub(crate) mod requests;
pub(crate) mod synthetic;
pub(crate) mod tiers;
pub(crate) mod timing;
pub(crate) mod workload;

use tierscope_engine::EngineConfig;

use crate::hardware::Hardware;
use crate::node::{Node, Value};
use crate::problem::Problems;
use crate::scenario::{Scenario, Slo, TraceSpec, WorkloadSpec};
use crate::{SCHEMA_VERSION, limit};

use fields::Fields;

/// What the tables of a scenario share while they are decoded.
pub(crate) struct Notes(pub(crate) Vec<String>);

impl Notes {
    /// Notes a default that was taken.
    pub(crate) fn default(&mut self, key: &str, value: impl std::fmt::Display, why: &str) {
        self.0.push(format!("{key} = {value} ({why})"));
    }
}

/// The scenario of a tree; `None` when problems were reported.
pub(crate) fn scenario(root: &Node, problems: &Problems<'_>) -> Option<Scenario> {
    let fields = Fields::open(root, "", problems)?;
    version(&fields);
    let mut notes = Notes(Vec::new());
    let title = fields.text("title").unwrap_or_default().to_owned();
    let lesson = fields.text("lesson").unwrap_or_default().to_owned();
    let seed = fields.whole("seed", 0, limit::WHOLE_NUMBER).unwrap_or(1);
    let engine_table = fields.entry("engine").and_then(|entry| Fields::open(&entry.node, "engine", problems));
    let hardware_table =
        fields.entry("hardware").and_then(|entry| Fields::open(&entry.node, "hardware", problems));
    let hardware = hardware::decode(hardware_table, &mut notes);
    let engine::Decoded { mut engine, g1_written, draft_acceptance } =
        engine::decode(engine_table, &mut notes);
    if !g1_written {
        let at = fields.entry("hardware").map_or(fields.at, |entry| entry.at);
        engine::derive_g1(&mut engine, &hardware, problems, at, &mut notes);
    }
    let kv_bytes_per_block = hardware.kv_bytes_per_token.saturating_mul(u64::from(engine.block_size_tokens));
    let workers = fleet::Workers::decode(&fields, &engine, &mut notes);
    let handoffs = workers.as_ref().is_some_and(|workers| workers.has_handoffs);
    let tiers::Decoded { tiers, links, faults, handoff_link } =
        tiers::decode(&fields, kv_bytes_per_block, handoffs, &mut notes);
    engine.tiers = tiers;
    let timing_table = fields.entry("timing").and_then(|entry| Fields::open(&entry.node, "timing", problems));
    let timing = timing::decode(timing_table, &hardware, &mut notes);
    let workload = workload_table(&fields, &engine, &mut notes);
    let slo = fields.entry("slo").and_then(|entry| Fields::open(&entry.node, "slo", problems)).map(slo);
    let expect_table = fields.entry("expect").and_then(|entry| Fields::open(&entry.node, "expect", problems));
    let requests = workload.as_ref().and_then(workload::request_count);
    let beside = fleet::Beside { link: handoff_link, model: hardware.model, requests };
    let fleet = fleet::decode(&fields, workers, beside, &mut notes);
    let expect = expect_table.map(|table| expect::decode(table, requests)).unwrap_or_default();
    fields.close();
    if problems.any() {
        return None;
    }
    let (timing, workload) = (timing?, workload?);
    let defaults = notes.0;
    if let Some(tiers) = &mut engine.tiers {
        tiers.recompute_estimate = timing.recompute_per_block(engine.block_size_tokens);
    }
    Some(Scenario {
        title,
        lesson,
        seed,
        engine,
        draft_acceptance,
        fleet,
        links,
        faults,
        kv_bytes_per_block,
        timing,
        hardware,
        workload,
        slo,
        expect,
        defaults,
    })
}

fn version(fields: &Fields<'_>) {
    const KEY: &str = "tierscope";
    let understood = format!("{SCHEMA_VERSION}, the only schema version that this release understands");
    match fields.entry(KEY) {
        None => fields.missing(KEY, understood, format!("add {KEY} = {SCHEMA_VERSION} at the top")),
        Some(entry) if entry.node.value == Value::Int(i128::from(SCHEMA_VERSION)) => {}
        Some(entry) => fields.refuse(
            entry,
            understood,
            format!("write {KEY} = {SCHEMA_VERSION}, or use the release that wrote it"),
        ),
    }
}

fn workload_table(fields: &Fields<'_>, engine: &EngineConfig, notes: &mut Notes) -> Option<WorkloadSpec> {
    let Some(entry) = fields.entry("workload") else {
        let mend = "add [workload] with kind = \"synthetic\", \"requests\" or \"trace\"";
        fields.missing("workload", "a table that says which requests arrive", mend);
        return None;
    };
    let spec = workload::decode(Fields::open(&entry.node, "workload", fields.problems)?, notes)?;
    if let WorkloadSpec::Trace(trace) = &spec {
        let block = engine.block_size_tokens;
        if let Some(tokens) = least_known_block(trace)
            && !tokens.is_multiple_of(block.max(1))
        {
            let (expected, mend) = workload::divisors(tokens);
            fields.problems.report(
                place_of_block_size(fields),
                "engine.block_size_tokens",
                block.to_string(),
                expected,
                mend,
            );
        }
    }
    Some(spec)
}

/// The block that the engine's has to divide, as far as is known without the file; expansion checks the file's own. Nothing for a
/// format without hashes. Of a format that is not known yet, the largest: all others divide it.
fn least_known_block(trace: &TraceSpec) -> Option<u32> {
    let hashed = match trace.format {
        Some(format) => format.block_tokens().is_some(),
        None => !trace.file.ends_with(".csv") && !trace.file.ends_with(".csv.gz"),
    };
    let of_format = || workload::default_block(trace.format).map(|(tokens, _)| tokens);
    trace.trace_block_tokens.or_else(of_format).filter(|_| hashed)
}

fn place_of_block_size(fields: &Fields<'_>) -> usize {
    let engine = fields.entry("engine");
    let inner = engine.and_then(|entry| entry.node.entries()).unwrap_or_default();
    let block = inner.iter().find(|entry| entry.key == "block_size_tokens");
    block.map(|entry| entry.node.at).or(engine.map(|entry| entry.at)).unwrap_or(fields.at)
}

fn slo(fields: Fields<'_>) -> Slo {
    let slo = Slo {
        ttft: fields.milliseconds("ttft_ms"),
        itl: fields.milliseconds("itl_ms"),
        e2e: fields.milliseconds("e2e_ms"),
    };
    fields.close();
    slo
}

/// The hardware of a scenario that names none.
pub(crate) fn bare_hardware() -> Hardware {
    Hardware {
        model: None,
        gpu: None,
        tensor_parallel: 1,
        fp8_cache: false,
        gpu_memory_utilization: 0.9,
        kv_bytes_per_token: crate::hardware::DEFAULT_KV_BYTES_PER_TOKEN,
        kv_bytes_per_token_per_rank: crate::hardware::DEFAULT_KV_BYTES_PER_TOKEN,
    }
}
