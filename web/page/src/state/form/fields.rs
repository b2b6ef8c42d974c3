//! The keys that the form shows, in their order.

use super::{Field, Kind, Rows, Section, When};

const EVICTIONS: Kind = Kind::Word(&["lru", "lineage", "tinylfu"]);

const fn field(
    key: &'static str,
    label: &'static str,
    unit: &'static str,
    kind: Kind,
    default: &'static str,
) -> Field {
    Field { key, label, unit, kind, default, when: When::Always }
}

const fn when(field: Field, when: When) -> Field {
    Field { when, ..field }
}

/// A section that is always there.
const fn fixed(title: &'static str, fields: &'static [Field]) -> Section {
    Section { title, table: "", adds: &[], removes: &[], needs: "", fields }
}

/// Everything that the form shows.
pub const SECTIONS: &[Section] = &[
    fixed(
        "Hardware",
        &[
            field("hardware.model", "Model", "", Kind::Model, "none: KV as Llama-3.1-8B"),
            field("hardware.gpu", "GPU", "", Kind::Gpu, "none"),
            field("hardware.tensor_parallel", "Tensor-parallel ranks", "", Kind::Number, "1"),
            field("hardware.gpu_memory_utilization", "GPU memory used", "share", Kind::Number, "0.9"),
            when(
                field("hardware.kv_cache_dtype", "KV elements", "", Kind::Word(&["auto", "fp8"]), "auto"),
                When::Written("hardware.model"),
            ),
            when(
                field("hardware.kv_bytes_per_token", "KV per token", "bytes", Kind::Number, "131072"),
                When::Absent("hardware.model"),
            ),
        ],
    ),
    fixed(
        "Engine",
        &[
            field("engine.block_size_tokens", "Block", "tokens", Kind::Number, "16"),
            field("engine.g1_blocks", "G1", "blocks", Kind::Number, "from the hardware, else 16384"),
            field("engine.max_num_seqs", "Most requests running", "", Kind::Number, "256"),
            field("engine.max_num_batched_tokens", "Most tokens in a pass", "tokens", Kind::Number, "8192"),
            field("engine.max_model_len", "Longest sequence", "tokens", Kind::Number, "1048576"),
            field("engine.prefix_caching", "Prefix caching", "", Kind::Flag, "true"),
            field("engine.chunked_prefill", "Chunked prefill", "", Kind::Flag, "true"),
            field("engine.eviction", "Evict first", "", EVICTIONS, "lru"),
            field("engine.policy", "Order of waiting", "", Kind::Word(&["fcfs", "priority"]), "fcfs"),
            field(
                "engine.victim",
                "Preempted",
                "",
                Kind::Word(&["by_policy", "least_computed", "nobody"]),
                "by_policy",
            ),
            field(
                "engine.admission",
                "Admitted when there is room for",
                "",
                Kind::Word(&["full_prompt", "next_chunk"]),
                "full_prompt",
            ),
            field("engine.watermark", "Left free at admission", "share", Kind::Number, "0"),
            field("engine.draft_tokens", "Draft tokens", "tokens", Kind::Number, "none"),
        ],
    ),
    Section {
        title: "G2, host memory",
        table: "g2",
        adds: &[("g2.blocks", "1024")],
        removes: &["g2", "g3", "g4", "offload", "lanes", "links.pcie", "links.disk", "links.object", "fault"],
        needs: "",
        fields: &[
            field("g2.blocks", "Size", "blocks", Kind::Number, "or in GiB"),
            field("g2.gib", "Size", "GiB", Kind::Number, "or in blocks"),
            field("g2.eviction", "Evict first", "", EVICTIONS, "lru"),
            field("links.pcie.preset", "Link to G1", "", Kind::Link(Rows::Pcie), "pcie4"),
            field("links.pcie.down_gb_per_s", "Rate down", "GB/s", Kind::Number, "of the preset"),
            field("links.pcie.up_gb_per_s", "Rate up", "GB/s", Kind::Number, "of the preset"),
            field("links.pcie.latency_us", "Latency", "µs", Kind::Number, "of the preset"),
            field("lanes.g1_g2.max_concurrent", "Batches at once, down", "", Kind::Number, "4"),
            field("lanes.g1_g2.batch_blocks", "Batch, down", "blocks", Kind::Number, "32"),
            field("lanes.g2_g1.max_concurrent", "Batches at once, up", "", Kind::Number, "4"),
            field("lanes.g2_g1.batch_blocks", "Batch, up", "blocks", Kind::Number, "32"),
        ],
    },
    Section {
        title: "Offload and onboard",
        table: "",
        adds: &[],
        removes: &[],
        needs: "g2",
        fields: &[
            field("offload.flavour", "Who moves blocks", "", Kind::Word(&["kvbm", "vllm"]), "kvbm"),
            field(
                "offload.store",
                "Copied down",
                "",
                Kind::Word(&["on_eviction", "on_compute", "on_hit"]),
                "on_eviction",
            ),
            when(
                field("offload.store_hits", "After hits", "", Kind::Number, "2"),
                When::Is("offload.store", "on_hit"),
            ),
            field("offload.load", "Loaded", "", Kind::Word(&["always", "never", "sooner"]), "always"),
            field(
                "offload.holds",
                "A loaded block in G2",
                "",
                Kind::Word(&["inclusive", "exclusive", "boundary"]),
                "inclusive",
            ),
            field(
                "offload.waiters",
                "Content on its way for others",
                "",
                Kind::Word(&["wait", "recompute", "join"]),
                "wait",
            ),
            when(
                field("offload.blocks_per_chunk", "Blocks in a chunk", "", Kind::Number, "1"),
                When::Is("offload.flavour", "vllm"),
            ),
            when(
                field("offload.chunk_eviction", "Chunks evicted", "", Kind::Word(&["lru", "arc"]), "lru"),
                When::Is("offload.flavour", "vllm"),
            ),
        ],
    },
    Section {
        title: "G3, local disk",
        table: "g3",
        adds: &[("g3.blocks", "16384")],
        removes: &["g3", "links.disk", "lanes.g2_g3", "lanes.g3_g2"],
        needs: "g2",
        fields: &[
            field("g3.blocks", "Size", "blocks", Kind::Number, "or in GiB"),
            field("g3.gib", "Size", "GiB", Kind::Number, "or in blocks"),
            field("g3.eviction", "Evict first", "", EVICTIONS, "lru"),
            field("links.disk.preset", "Link to G2", "", Kind::Link(Rows::Disk), "nvme_gen4"),
            field("links.disk.down_gb_per_s", "Rate down", "GB/s", Kind::Number, "of the preset"),
            field("links.disk.up_gb_per_s", "Rate up", "GB/s", Kind::Number, "of the preset"),
        ],
    },
    Section {
        title: "G4, object store",
        table: "g4",
        adds: &[("g4.blocks", "262144")],
        removes: &["g4", "links.object", "lanes.g2_g4", "lanes.g4_g2"],
        needs: "g2",
        fields: &[
            field("g4.blocks", "Size", "blocks", Kind::Number, "or in GiB"),
            field("g4.gib", "Size", "GiB", Kind::Number, "or in blocks"),
            field("links.object.preset", "Link to G2", "", Kind::Link(Rows::Object), "s3"),
            field("links.object.down_gb_per_s", "Rate down", "GB/s", Kind::Number, "of the preset"),
            field("links.object.up_gb_per_s", "Rate up", "GB/s", Kind::Number, "of the preset"),
        ],
    },
    fixed(
        "Timing",
        &[
            field(
                "timing.model",
                "Pass times",
                "",
                Kind::Word(&["fixed", "polynomial", "roofline"]),
                "polynomial",
            ),
            when(
                field("timing.prefill_per_token_ns", "Prefill of a token", "ns", Kind::Number, "36000"),
                When::Is("timing.model", "fixed"),
            ),
            when(
                field("timing.decode_ns", "Decode of a pass", "ns", Kind::Number, "4800000"),
                When::Is("timing.model", "fixed"),
            ),
            when(
                field("timing.overhead_ns", "Every pass", "ns", Kind::Number, "0"),
                When::Is("timing.model", "fixed"),
            ),
        ],
    ),
    fixed(
        "Workload",
        &[
            field(
                "workload.kind",
                "Requests",
                "",
                Kind::Word(&["synthetic", "requests", "trace"]),
                "required",
            ),
            when(field("workload.requests", "Sessions", "", Kind::Number, "required"), SYNTHETIC),
            when(
                field(
                    "workload.arrival",
                    "Arrival",
                    "",
                    Kind::Word(&["poisson", "fixed_rate", "closed_loop"]),
                    "required",
                ),
                SYNTHETIC,
            ),
            when(
                field(
                    "workload.rate_per_s",
                    "Begun per second",
                    "1/s",
                    Kind::Number,
                    "required but in a closed loop",
                ),
                SYNTHETIC,
            ),
            when(
                field("workload.concurrency", "In flight at once", "", Kind::Number, "none"),
                When::Is("workload.arrival", "closed_loop"),
            ),
            when(field("workload.prompt_tokens", "Prompt", "tokens", Kind::Value, "required"), SYNTHETIC),
            when(field("workload.output_tokens", "Answer", "tokens", Kind::Value, "required"), SYNTHETIC),
            when(
                field("workload.shared_prefix.tokens", "Shared beginning", "tokens", Kind::Number, "none"),
                SYNTHETIC,
            ),
            when(
                field("workload.shared_prefix.groups", "Different beginnings", "", Kind::Number, "1"),
                When::Written("workload.shared_prefix"),
            ),
            when(field("workload.turns", "Turns of a session", "", Kind::Number, "1"), SYNTHETIC),
            when(
                field("workload.turn_delay_ms", "Pause between turns", "ms", Kind::Number, "0"),
                When::Written("workload.turns"),
            ),
            when(
                field("workload.limit", "Only the first", "requests", Kind::Number, "all"),
                When::Is("workload.kind", "trace"),
            ),
        ],
    ),
    fixed(
        "Good enough (SLO)",
        &[
            field("slo.ttft_ms", "First token within", "ms", Kind::Number, "none"),
            field("slo.itl_ms", "Between tokens", "ms", Kind::Number, "none"),
            field("slo.e2e_ms", "Last token within", "ms", Kind::Number, "none"),
        ],
    ),
];

const SYNTHETIC: When = When::Is("workload.kind", "synthetic");
