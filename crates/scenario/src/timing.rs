//! How long a forward pass takes: three models and their numbers. The durations are computed by the simulator;
//! here stand the coefficients, their units and their sources.
//!
//! None is calibrated against a machine, and the names say so. Only `+ − × ÷` and `libm` are needed.

use tierscope_units::Span;

/// The model of pass durations.
#[derive(Clone, Debug, PartialEq)]
pub enum Timing {
    /// `overhead + prefill_per_token × (prompt tokens computed in the pass) + decode` (the last only in a
    /// pass that has at least one decoding request).
    Fixed {
        /// Per prompt token computed.
        prefill_per_token: Span,
        /// Once per pass with decoding requests.
        decode: Span,
        /// Once per pass.
        overhead: Span,
    },
    /// Polynomials in the size of the pass and the load of the pool.
    Polynomial(Polynomial),
    /// The slower of compute and memory traffic, from the data sheet.
    Roofline(Roofline),
}

impl Timing {
    /// The name as reports print it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fixed { .. } => "fixed",
            Self::Polynomial(_) => "polynomial (uncalibrated)",
            Self::Roofline(_) => "roofline (uncalibrated)",
        }
    }

    /// What computing one block of prompt is believed to take, where loading it is weighed against that: its
    /// share of a pass that computes [`PREFILL_OF_BELIEF`] prompt tokens, or one block where that is longer, and
    /// nothing else.
    pub fn recompute_per_block(&self, block_size_tokens: u32) -> Span {
        let block = block_size_tokens.max(1);
        let tokens = PREFILL_OF_BELIEF.max(block);
        let pass = self.prefill_alone_ns(tokens);
        // Rounded up: tokens × block stays far below 128 bits.
        let share = (u128::from(pass) * u128::from(block)).div_ceil(u128::from(tokens));
        Span::from_ns(u64::try_from(share).unwrap_or(u64::MAX))
    }

    /// A pass of prefill from the beginning of a prompt, by the formulas at the models.
    fn prefill_alone_ns(&self, tokens: u32) -> u64 {
        let t = f64::from(tokens);
        let ms = match self {
            Self::Fixed { prefill_per_token, overhead, .. } => {
                let prefill = prefill_per_token.as_ns().saturating_mul(u64::from(tokens));
                return prefill.saturating_add(overhead.as_ns());
            }
            Self::Polynomial(p) => {
                (p.prefill_quadratic_ms * t + p.prefill_linear_ms) * t + p.prefill_constant_ms
            }
            Self::Roofline(r) => {
                let flops = t * 2.0 * r.active_params + t * (t + 1.0) / 2.0 * r.attention_flops_per_pair;
                let compute = flops / r.mfu_prefill / r.flops_per_s;
                let weights = (t * r.active_weight_bytes).min(r.weight_bytes);
                let memory = weights / (r.bytes_per_s * r.bandwidth_efficiency);
                r.overhead_ns * 1e-6 + compute.max(memory) * 1e3
            }
        };
        Span::from_ms_f64(ms).as_ns()
    }
}

/// Prompt tokens of the pass that [`Timing::recompute_per_block`] divides: a usual chunk.
pub const PREFILL_OF_BELIEF: u32 = 2_048;

/// Prefill: `quadratic × t² + linear × t + constant` milliseconds, where t is the prompt tokens that the pass
/// computes; zero when t is zero. Decode: `max(floor, quadratic × u² + linear × u + constant)` milliseconds,
/// where u is active blocks ÷ all blocks of G1; zero when nothing decodes. A pass takes the sum.
///
/// The default is what the mocker of ai-dynamo/dynamo documents as an uncalibrated baseline (its
/// `perf_model.rs`).
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial {
    /// Milliseconds per squared prompt token.
    pub prefill_quadratic_ms: f64,
    /// Milliseconds per prompt token.
    pub prefill_linear_ms: f64,
    /// Milliseconds per pass with prompt tokens.
    pub prefill_constant_ms: f64,
    /// Milliseconds at full squared load.
    pub decode_quadratic_ms: f64,
    /// Milliseconds at full load.
    pub decode_linear_ms: f64,
    /// Milliseconds at no load.
    pub decode_constant_ms: f64,
    /// The shortest decode, in milliseconds.
    pub decode_floor_ms: f64,
}

impl Default for Polynomial {
    fn default() -> Self {
        Self {
            prefill_quadratic_ms: 4.209989e-07,
            prefill_linear_ms: 1.518344e-02,
            prefill_constant_ms: 16.50142,
            decode_quadratic_ms: -25.74,
            decode_linear_ms: 54.01,
            decode_constant_ms: 5.74,
            decode_floor_ms: 1.0,
        }
    }
}

/// A pass that computes `p` prompt tokens and `d` decode tokens, makes `pairs` query-key pairs, and reads the KV
/// of `k` tokens takes, in seconds,
///
/// ```text
/// compute = ((p × 2 × active_params + pairs × attention_flops_per_pair) ÷ mfu_prefill + d × 2 × active_params ÷ mfu_decode)
///           ÷ flops_per_s
/// memory  = (min(weight_bytes, (p + d) × active_weight_bytes) + k × kv_bytes_per_token) ÷ (bytes_per_s × bandwidth_efficiency)
/// pass    = overhead + max(compute, memory)
/// ```
///
/// All numbers are sums over the tensor-parallel ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Roofline {
    /// Parameters that one token passes through.
    pub active_params: f64,
    /// Bytes of all weights.
    pub weight_bytes: f64,
    /// Bytes of the weights that one token passes through.
    pub active_weight_bytes: f64,
    /// Floating-point operations per query-key pair: 4 × layers with full attention × hidden size.
    pub attention_flops_per_pair: f64,
    /// Bytes of KV read per token of context, over all ranks (replicas included).
    pub kv_bytes_per_token: f64,
    /// Dense peak rate at the preset's precision.
    pub flops_per_s: f64,
    /// Nominal memory bandwidth.
    pub bytes_per_s: f64,
    /// Share of the peak rate reached in prefill (source: inference-sim's tables).
    pub mfu_prefill: f64,
    /// Share of the peak rate reached in decode (same source).
    pub mfu_decode: f64,
    /// Share of the memory bandwidth reached; 0.8 by default (AIConfigurator's empirical factor).
    pub bandwidth_efficiency: f64,
    /// Nanoseconds per pass that are neither: launches, scheduling, sampling.
    pub overhead_ns: f64,
}
