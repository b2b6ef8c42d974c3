//! The canonical form of a scenario: every value resolved, as JSON that [`crate::parse`] reads back, and its hash.
//!
//! Two texts of equal meaning have equal forms, whatever their notation, order and comments. The title and the
//! lesson are in the form but not in the hash; nor are the folders of a trace's path, so that the same file has
//! the same hash in another folder and in the page.

mod fleet;
mod tiers;

use serde_json::{Map, Value, json};
use tierscope_engine::{
    Acquisition, Admission, DraftMethod, EvictionPolicy, Fidelity, HashDeletion, SchedulingPolicy, Victim,
};
use tierscope_units::{Digest, Span};

use crate::SCHEMA_VERSION;
use crate::expectation::Expectation;
use crate::scenario::{
    ArrivalProcess, InlinePrompt, InlineRequest, InlineStart, Lengths, Scenario, Synthetic, TraceSpec,
    WorkloadSpec,
};
use crate::timing::Timing;
use crate::trace::{DEFAULT_MOONCAKE_BLOCK, TraceFormat};

impl Scenario {
    /// The canonical form.
    pub fn to_json(&self) -> Value {
        let mut form = object([
            ("tierscope", json!(SCHEMA_VERSION)),
            ("title", json!(self.title)),
            ("lesson", json!(self.lesson)),
            ("seed", json!(self.seed)),
            ("engine", self.engine_json()),
            ("hardware", self.hardware_json()),
            ("timing", timing_json(&self.timing)),
            ("workload", workload_json(&self.workload)),
        ]);
        form.extend(self.tiers_json());
        form.extend(self.fleet_json());
        if let Some(slo) = &self.slo {
            let limits = [("ttft_ms", slo.ttft), ("itl_ms", slo.itl), ("e2e_ms", slo.e2e)];
            let set = limits.into_iter().filter_map(|(key, span)| Some((key, ms(span?))));
            form.insert("slo".into(), Value::Object(object(set)));
        }
        if !self.expect.is_empty() {
            form.insert("expect".into(), expect_json(&self.expect));
        }
        Value::Object(form)
    }

    /// The hash of what the scenario means.
    pub fn hash(&self) -> Digest {
        let mut form = self.to_json();
        if let Value::Object(form) = &mut form {
            form.remove("title");
            form.remove("lesson");
        }
        if let Some(Value::String(file)) = form.pointer_mut("/workload/file") {
            *file = file.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        }
        if let (WorkloadSpec::Trace(trace), Some(Value::Object(form))) =
            (&self.workload, form.get_mut("workload"))
            && matches!(trace.format, None | Some(TraceFormat::Mooncake | TraceFormat::AzureCsv))
        {
            // Absent means the usual block, and hashes as if it were written.
            form.entry("trace_block_tokens").or_insert(json!(DEFAULT_MOONCAKE_BLOCK));
        }
        let mut text = String::new();
        write_sorted(&form, &mut text);
        Digest::of(text.as_bytes())
    }

    fn engine_json(&self) -> Value {
        let engine = &self.engine;
        let mut form = json!({
            "block_size_tokens": engine.block_size_tokens,
            "g1_blocks": engine.g1_blocks,
            "max_num_seqs": engine.max_num_seqs,
            "max_num_batched_tokens": engine.max_num_batched_tokens,
            "max_model_len": engine.max_model_len,
            "prefix_caching": engine.prefix_caching,
            "chunked_prefill": engine.chunked_prefill,
            "long_prefill_token_threshold": engine.long_prefill_token_threshold,
            "admission": match engine.admission {
                Admission::FullPrompt => "full_prompt",
                Admission::NextChunk => "next_chunk",
            },
            "watermark": engine.watermark,
            "eviction": eviction_word(engine.eviction),
            "policy": match engine.policy {
                SchedulingPolicy::Fcfs => "fcfs",
                SchedulingPolicy::Priority => "priority",
            },
            "victim": match engine.victim {
                Victim::ByPolicy => "by_policy",
                Victim::LeastComputed => "least_computed",
                Victim::Nobody => "nobody",
            },
            "acquisition": match engine.acquisition {
                Acquisition::AllOrNothing => "all_or_nothing",
                Acquisition::Partial => "partial",
            },
            "hash_deletion": match engine.hash_deletion {
                HashDeletion::OnReuse => "on_reuse",
                HashDeletion::OnEviction => "on_eviction",
            },
            "fidelity": match engine.fidelity {
                Fidelity::Mended => "mended",
                Fidelity::Exact => "exact",
            },
            "async_scheduling": engine.async_scheduling,
            "long_prefill_token_threshold_adaptive": engine.long_prefill_token_threshold_adaptive,
            "prefill_schedule_interval": engine.prefill_schedule_interval,
        });
        if let Value::Object(form) = &mut form {
            form.extend(self.optional_engine_json());
        }
        form
    }

    /// Keys that are there only when they say something.
    fn optional_engine_json(&self) -> Map<String, Value> {
        let engine = &self.engine;
        let limits = [
            ("max_num_active_seqs", engine.max_num_active_seqs),
            ("max_num_scheduled_tokens", engine.max_num_scheduled_tokens),
        ];
        let mut form = object(limits.into_iter().filter_map(|(key, limit)| Some((key, json!(limit?)))));
        if let Some(speculation) = engine.speculation {
            form.extend(object([
                ("draft_tokens", json!(speculation.tokens)),
                ("draft_method", json!(method_word(speculation.method))),
                ("draft_acceptance", json!(self.draft_acceptance)),
            ]));
        }
        form
    }

    fn hardware_json(&self) -> Value {
        let hardware = &self.hardware;
        let mut form = object([
            ("tensor_parallel", json!(hardware.tensor_parallel)),
            ("gpu_memory_utilization", json!(hardware.gpu_memory_utilization)),
        ]);
        match hardware.model {
            Some(model) => form.insert("model".into(), json!(model.name)),
            None => form.insert("kv_bytes_per_token".into(), json!(hardware.kv_bytes_per_token)),
        };
        if hardware.fp8_cache {
            form.insert("kv_cache_dtype".into(), json!("fp8"));
        }
        if let Some(gpu) = hardware.gpu {
            form.insert("gpu".into(), json!(gpu.name));
        }
        Value::Object(form)
    }
}

/// JSON text with sorted keys and no space, whatever order the map keeps.
fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            out.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write_sorted(&map[key], out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_sorted(item, out);
            }
            out.push(']');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

fn eviction_word(policy: EvictionPolicy) -> &'static str {
    match policy {
        EvictionPolicy::Lru => "lru",
        EvictionPolicy::Lineage => "lineage",
        EvictionPolicy::TinyLfu => "tinylfu",
    }
}

fn method_word(method: DraftMethod) -> &'static str {
    match method {
        DraftMethod::Ngram => "ngram",
        DraftMethod::DraftModel => "draft_model",
        DraftMethod::Eagle => "eagle",
        DraftMethod::EagleDrop => "eagle_drop",
    }
}

fn object(entries: impl IntoIterator<Item = (&'static str, Value)>) -> Map<String, Value> {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn ms(span: Span) -> Value {
    json!(span.as_ms_f64())
}

fn timing_json(timing: &Timing) -> Value {
    match timing {
        Timing::Fixed { prefill_per_token, decode, overhead } => json!({
            "model": "fixed",
            "prefill_per_token_ns": prefill_per_token.as_ns(),
            "decode_ns": decode.as_ns(),
            "overhead_ns": overhead.as_ns(),
        }),
        Timing::Polynomial(p) => json!({
            "model": "polynomial",
            "prefill_quadratic_ms": p.prefill_quadratic_ms,
            "prefill_linear_ms": p.prefill_linear_ms,
            "prefill_constant_ms": p.prefill_constant_ms,
            "decode_quadratic_ms": p.decode_quadratic_ms,
            "decode_linear_ms": p.decode_linear_ms,
            "decode_constant_ms": p.decode_constant_ms,
            "decode_floor_ms": p.decode_floor_ms,
        }),
        // The rest follows from the presets, which belong to the version of the program.
        Timing::Roofline(r) => json!({
            "model": "roofline",
            "mfu_prefill": r.mfu_prefill,
            "mfu_decode": r.mfu_decode,
            "bandwidth_efficiency": r.bandwidth_efficiency,
            "overhead_ns": r.overhead_ns as u64,
        }),
    }
}

fn workload_json(workload: &WorkloadSpec) -> Value {
    match workload {
        WorkloadSpec::Synthetic(synthetic) => synthetic_json(synthetic),
        WorkloadSpec::Requests(list) => {
            json!({ "kind": "requests", "request": list.iter().map(request_json).collect::<Vec<_>>() })
        }
        WorkloadSpec::Trace(trace) => trace_json(trace),
    }
}

fn synthetic_json(synthetic: &Synthetic) -> Value {
    let mut form = object([
        ("kind", json!("synthetic")),
        ("requests", json!(synthetic.requests)),
        ("prompt_tokens", lengths_json(&synthetic.prompt_tokens)),
        ("output_tokens", lengths_json(&synthetic.output_tokens)),
        ("turns", json!(synthetic.turns)),
        ("turn_delay_ms", ms(synthetic.turn_delay)),
    ]);
    if let Some(shared) = synthetic.shared_prefix {
        form.insert("shared_prefix".into(), json!({ "tokens": shared.tokens, "groups": shared.groups }));
    }
    form.extend(match synthetic.arrival {
        ArrivalProcess::Poisson { rate_per_s } => {
            object([("arrival", json!("poisson")), ("rate_per_s", json!(rate_per_s))])
        }
        ArrivalProcess::FixedRate { rate_per_s } => {
            object([("arrival", json!("fixed_rate")), ("rate_per_s", json!(rate_per_s))])
        }
        ArrivalProcess::ClosedLoop { concurrency, think_time } => object([
            ("arrival", json!("closed_loop")),
            ("concurrency", json!(concurrency)),
            ("think_time_ms", ms(think_time)),
        ]),
    });
    Value::Object(form)
}

fn lengths_json(lengths: &Lengths) -> Value {
    match *lengths {
        Lengths::Fixed(tokens) => json!(tokens),
        Lengths::Uniform { min, max } => json!({ "distribution": "uniform", "min": min, "max": max }),
        Lengths::Normal { mean, stddev } => {
            json!({ "distribution": "normal", "mean": mean, "stddev": stddev })
        }
        Lengths::LogNormal { mean, stddev } => {
            json!({ "distribution": "lognormal", "mean": mean, "stddev": stddev })
        }
    }
}

fn request_json(request: &InlineRequest) -> Value {
    let mut form = object([("output_tokens", json!(request.output_tokens)), ("salt", json!(request.salt))]);
    if request.priority != 0 {
        form.insert("priority".into(), json!(request.priority));
    }
    match request.start {
        InlineStart::At(at) => form.extend(object([("at_ms", ms(at))])),
        InlineStart::After { request, delay } => {
            form.extend(object([("after", json!(request.0)), ("delay_ms", ms(delay))]))
        }
    }
    match &request.prompt {
        InlinePrompt::Tokens { tokens, prefix } => {
            form.insert("prompt_tokens".into(), json!(tokens));
            if let Some((name, shared)) = prefix {
                form.extend(object([("prefix", json!(name)), ("prefix_tokens", json!(shared))]));
            }
        }
        InlinePrompt::Runs(runs) => {
            let pairs: Vec<Value> = runs.iter().map(|run| json!([run.start, run.len])).collect();
            form.insert("prompt".into(), Value::Array(pairs));
        }
    }
    if let Some(cancel) = request.cancel_after {
        form.insert("cancel_after_ms".into(), ms(cancel));
    }
    Value::Object(form)
}

fn trace_json(trace: &TraceSpec) -> Value {
    let mut form = object([("kind", json!("trace")), ("file", json!(trace.file))]);
    if let Some(tokens) = trace.trace_block_tokens {
        form.insert("trace_block_tokens".into(), json!(tokens));
    }
    if let Some(tokens) = trace.output_tokens {
        form.insert("output_tokens".into(), json!(tokens));
    }
    if trace.session_gap != Span::ZERO {
        form.insert("session_gap_ms".into(), ms(trace.session_gap));
    }
    if let Some(format) = trace.format {
        form.insert("format".into(), json!(format.word()));
    }
    if let Some(limit) = trace.limit {
        form.insert("limit".into(), json!(limit));
    }
    if let Some(concurrency) = trace.concurrency {
        form.extend(object([("concurrency", json!(concurrency)), ("think_time_ms", ms(trace.think_time))]));
    }
    Value::Object(form)
}

fn expect_json(list: &[Expectation]) -> Value {
    let mut form = Map::new();
    for expectation in list {
        let (key, source) = match expectation {
            Expectation::Outcome { kind, .. } => {
                form.insert("outcome".into(), json!(kind.word()));
                continue;
            }
            Expectation::Report { source, .. } => ("report", source),
            Expectation::Fact { source, .. } => ("facts", source),
        };
        if let Value::Array(sources) = form.entry(key).or_insert(json!([])) {
            sources.push(json!(source));
        }
    }
    Value::Object(form)
}
