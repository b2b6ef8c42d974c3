//! The `[timing]` table.

use tierscope_units::Span;

use super::Notes;
use super::fields::Fields;
use crate::hardware::Hardware;
use crate::timing::{Polynomial, Roofline, Timing};

#[derive(Clone, Copy)]
enum Kind {
    Fixed,
    Polynomial,
    Roofline,
}

/// Largest coefficient: far above anything physical, far below where arithmetic loses meaning.
const COEFFICIENT: f64 = 1e12;

/// Prefill of an 8-billion-parameter model on an H100 at 45 % of its rate: 36 µs a token.
const PREFILL_PER_TOKEN: Span = Span::from_ns(36_000);
/// The weights of that model read once: 16 GB at 3.35 TB/s.
const DECODE: Span = Span::from_ns(4_800_000);

pub(crate) fn decode(table: Option<Fields<'_>>, hardware: &Hardware, notes: &mut Notes) -> Option<Timing> {
    let Some(fields) = table else {
        notes.default("timing.model", "\"polynomial\"", "the coefficients of Dynamo's mocker, uncalibrated");
        return Some(Timing::Polynomial(Polynomial::default()));
    };
    let kinds = [("fixed", Kind::Fixed), ("polynomial", Kind::Polynomial), ("roofline", Kind::Roofline)];
    let kind = match fields.word("model", &kinds) {
        Some(kind) => kind,
        None if fields.has("model") => return None,
        None => {
            fields.missing(
                "model",
                "\"fixed\", \"polynomial\" or \"roofline\"",
                "add model = \"polynomial\"",
            );
            return None;
        }
    };
    let timing = match kind {
        Kind::Fixed => Some(fixed(&fields, notes)),
        Kind::Polynomial => Some(Timing::Polynomial(polynomial(&fields))),
        Kind::Roofline => roofline(&fields, hardware).map(Timing::Roofline),
    };
    fields.close();
    timing
}

fn fixed(fields: &Fields<'_>, notes: &mut Notes) -> Timing {
    let mut take = |name: &'static str, otherwise: Span, why: &str| match fields.nanoseconds(name) {
        Some(span) => span,
        None => {
            notes.default(&fields.key(name), otherwise.as_ns(), why);
            otherwise
        }
    };
    Timing::Fixed {
        prefill_per_token: take("prefill_per_token_ns", PREFILL_PER_TOKEN, "8B parameters on an H100"),
        decode: take("decode_ns", DECODE, "the weights of 8B parameters read once on an H100"),
        overhead: take("overhead_ns", Span::ZERO, "none"),
    }
}

fn polynomial(fields: &Fields<'_>) -> Polynomial {
    let standard = Polynomial::default();
    let take = |name, otherwise| fields.number(name, -COEFFICIENT, COEFFICIENT).unwrap_or(otherwise);
    Polynomial {
        prefill_quadratic_ms: take("prefill_quadratic_ms", standard.prefill_quadratic_ms),
        prefill_linear_ms: take("prefill_linear_ms", standard.prefill_linear_ms),
        prefill_constant_ms: take("prefill_constant_ms", standard.prefill_constant_ms),
        decode_quadratic_ms: take("decode_quadratic_ms", standard.decode_quadratic_ms),
        decode_linear_ms: take("decode_linear_ms", standard.decode_linear_ms),
        decode_constant_ms: take("decode_constant_ms", standard.decode_constant_ms),
        decode_floor_ms: take("decode_floor_ms", standard.decode_floor_ms),
    }
}

fn roofline(fields: &Fields<'_>, hardware: &Hardware) -> Option<Roofline> {
    let share = |name| fields.number(name, 0.001, 1.0);
    let (prefill, decode, bandwidth) =
        (share("mfu_prefill"), share("mfu_decode"), share("bandwidth_efficiency"));
    let overhead = fields.nanoseconds("overhead_ns").unwrap_or(Span::ZERO);
    let (Some(model), Some(gpu)) = (hardware.model, hardware.gpu) else {
        if let Some(entry) = fields.entry("model") {
            let mend =
                "add [hardware] with model = \"llama-3.1-8b\" and gpu = \"h100-sxm\", or name another pair";
            fields.refuse(entry, "a roofline only where hardware.model and hardware.gpu are named", mend);
        }
        return None;
    };
    let ranks = f64::from(hardware.tensor_parallel);
    Some(Roofline {
        active_params: f64::from(model.active_mparams) * 1e6,
        weight_bytes: model.weight_bytes() as f64,
        active_weight_bytes: model.active_weight_bytes() as f64,
        attention_flops_per_pair: 4.0 * f64::from(model.growing_layers()) * f64::from(model.hidden),
        kv_bytes_per_token: hardware.kv_bytes_per_token_all_ranks() as f64,
        flops_per_s: gpu.bf16_tflops * 1e12 * ranks,
        bytes_per_s: gpu.memory_gbps * 1e9 * ranks,
        mfu_prefill: prefill.unwrap_or(gpu.mfu_prefill),
        mfu_decode: decode.unwrap_or(gpu.mfu_decode),
        bandwidth_efficiency: bandwidth.unwrap_or(0.8),
        overhead_ns: overhead.as_ns() as f64,
    })
}
