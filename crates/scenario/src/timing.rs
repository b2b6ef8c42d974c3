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
}

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
