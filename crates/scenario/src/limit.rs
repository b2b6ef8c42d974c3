//! The limits on everything that comes from outside. Each is checked before memory is taken for what it bounds.

/// Longest scenario text in bytes, as written or as inflated from a link.
pub const SCENARIO_TEXT_BYTES: usize = 1 << 20;
/// Most requests of a workload, every turn of every session counted.
pub const REQUESTS: u64 = 10_000_000;
/// Most prompt tokens, and most output tokens, of one request (16 Mi).
pub const TOKENS_PER_REQUEST: u64 = 1 << 24;
/// Longest line of a trace in bytes (16 MiB).
pub const TRACE_LINE_BYTES: usize = 1 << 24;
/// Most keys of one object of a trace line.
pub const TRACE_ROW_KEYS: usize = 64;
/// Deepest nesting of a value that a trace line carries besides the known fields.
pub const TRACE_ROW_DEPTH: usize = 32;
/// Most requests that a request of a trace waits for.
pub const TRACE_ROW_WAITS: usize = 4_096;
/// Longest trace in bytes, unpacked (4 GiB).
pub const TRACE_BYTES: u64 = 4 << 30;
/// Most files that are read as one trace.
pub const TRACE_FILES: usize = 10_000;
/// Most tokens that are assumed for an answer whose length a trace does not tell.
pub const ASSUMED_OUTPUT_TOKENS: u64 = 1 << 20;
/// Most token runs of a workload (4 GiB of them).
pub const RUNS: usize = 1 << 28;
/// Longest time anywhere in a scenario or trace: ten years of 365 days, in milliseconds.
pub const TIME_MS: f64 = 10.0 * 365.0 * 86_400_000.0;
/// The same in nanoseconds.
pub const TIME_NS: u64 = 10 * 365 * 86_400 * 1_000_000_000;
/// Most blocks of G1.
pub const G1_BLOCKS: u64 = 1 << 25;
/// Most blocks of each tier below G1.
pub const TIER_BLOCKS: u64 = 1 << 24;
/// Most batches of a lane under way at once.
pub const LANE_CONCURRENCY: u64 = 1_024;
/// Most blocks of a batch.
pub const BATCH_BLOCKS: u64 = 1 << 16;
/// Most attempts after a copy has failed.
pub const RETRIES: u64 = 1_000;
/// Longest wait of a copy, its stalls and its pins: a day, in milliseconds.
pub const COPY_TIME_MS: f64 = 86_400_000.0;
/// Slowest and fastest link, in GB/s (10⁹).
pub const LINK_GB_PER_S: (f64, f64) = (1e-6, 1e6);
/// Longest latency of a link: a minute, in microseconds.
pub const LINK_LATENCY_US: f64 = 6e7;
/// Most blocks of a chunk of vLLM's CPU tier.
pub const CHUNK_BLOCKS: u64 = 1_024;
/// Most hits, or uses, that a policy waits for before it stores a block.
pub const STORE_HITS: u64 = 1_000;
/// The TinyLFU sketch counts to here.
pub const SKETCH_USES: u64 = 15;
/// Most scheduled faults.
pub const FAULTS: usize = 256;
/// Most that a fault slows a copy down.
pub const SLOW_FACTOR: f64 = 1e6;
/// Most blocks of G1 of all workers together (64 Mi): each takes some 64 bytes at once.
pub const FLEET_G1_BLOCKS: u64 = 1 << 26;
/// Most workers times replicas of their router (1 Mi): each replica keeps some 128 bytes on each worker.
pub const ROUTER_BOOKS: u64 = 1 << 20;
/// Most times that workers come or go.
pub const WORKER_CHANGES: usize = 4_096;
/// Most scheduled faults of messages.
pub const MESSAGE_FAULTS: usize = 256;
/// Largest weight of a term of the router's cost, and highest temperature.
pub const ROUTER_WEIGHT: f64 = 1e9;
/// Most layers that a handoff moves one by one.
pub const LAYERS: u64 = 1_024;
/// Longest lease, and longest time without news of a request: a day, in seconds.
pub const LEASE_S: f64 = 86_400.0;
/// Most tokens of a block.
pub const BLOCK_TOKENS: u64 = 1 << 16;
/// Most draft tokens of one verification.
pub const DRAFT_TOKENS: u64 = 64;
/// Most requests that run, or are in flight in a closed loop, at once.
pub const CONCURRENCY: u64 = 1 << 20;
/// Most tokens of one pass.
pub const BATCHED_TOKENS: u64 = 1 << 24;
/// Longest sequence, prompt and output together, in tokens.
pub const MODEL_LEN: u64 = 1 << 25;
/// Most ranks that share a model.
pub const TENSOR_PARALLEL: u64 = 1_024;
/// Most problems that one reading reports; the last then says that there are more.
pub const PROBLEMS: usize = 100;
/// Token ids written in a scenario are below this; ids above are made by the generators.
pub const RAW_TOKEN_IDS: u64 = 1 << 60;
/// Largest whole number that a scenario can hold: TOML integers have 63 bits.
pub const WHOLE_NUMBER: u64 = i64::MAX as u64;
