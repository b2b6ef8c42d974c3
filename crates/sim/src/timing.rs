//! How long a pass takes. Only `+ − × ÷` on floats, rounded once to whole nanoseconds (rule E3).

use tierscope_engine::PassPlan;
use tierscope_scenario::timing::{Polynomial, Roofline, Timing};
use tierscope_units::Span;

/// The duration of a pass under a model; the formulas are documented at the models.
pub fn duration(timing: &Timing, pass: &PassPlan) -> Option<Span> {
    match timing {
        Timing::Fixed { prefill_per_token, decode, overhead } => {
            let prefill = prefill_per_token.as_ns().checked_mul(u64::from(pass.prefill_tokens))?;
            let decode = if pass.decode_rows > 0 { decode.as_ns() } else { 0 };
            Some(Span::from_ns(overhead.as_ns().checked_add(prefill)?.checked_add(decode)?))
        }
        Timing::Polynomial(model) => Some(Span::from_ms_f64(polynomial_ms(model, pass))),
        Timing::Roofline(model) => Some(Span::from_ms_f64(roofline_s(model, pass) * 1e3)),
    }
}

fn polynomial_ms(model: &Polynomial, pass: &PassPlan) -> f64 {
    let mut ms = 0.0;
    if pass.prefill_tokens > 0 {
        let t = f64::from(pass.prefill_tokens);
        ms += (model.prefill_quadratic_ms * t + model.prefill_linear_ms) * t + model.prefill_constant_ms;
    }
    if pass.decode_rows > 0 {
        let u = f64::from(pass.active_blocks) / f64::from(pass.capacity_blocks.max(1));
        let decode = (model.decode_quadratic_ms * u + model.decode_linear_ms) * u + model.decode_constant_ms;
        ms += decode.max(model.decode_floor_ms);
    }
    ms
}

fn roofline_s(model: &Roofline, pass: &PassPlan) -> f64 {
    let (prefill, decode) = (f64::from(pass.prefill_tokens), f64::from(pass.decode_tokens));
    let pairs = pass.prefill_attention_pairs as f64;
    let token_flops = 2.0 * model.active_params;
    let prefill_flops = prefill * token_flops + pairs * model.attention_flops_per_pair;
    let compute =
        (prefill_flops / model.mfu_prefill + decode * token_flops / model.mfu_decode) / model.flops_per_s;
    let weights = ((prefill + decode) * model.active_weight_bytes).min(model.weight_bytes);
    let kv = pass.decode_context_tokens as f64 * model.kv_bytes_per_token;
    let memory = (weights + kv) / (model.bytes_per_s * model.bandwidth_efficiency);
    model.overhead_ns * 1e-9 + compute.max(memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(prefill_tokens: u32, decode_rows: u32) -> PassPlan {
        PassPlan {
            prefill_tokens,
            decode_rows,
            active_blocks: 50,
            capacity_blocks: 100,
            ..PassPlan::default()
        }
    }

    #[test]
    fn the_polynomial_gives_the_documented_figures() {
        let timing = Timing::Polynomial(Polynomial::default());
        let ns = |p: &PassPlan| duration(&timing, p).expect("in range").as_ns();
        // 4.209989e-07·1000² + 1.518344e-02·1000 + 16.50142 = 32.1058589 ms
        assert_eq!(ns(&pass(1000, 0)), 32_105_859);
        // −25.74·0.25 + 54.01·0.5 + 5.74 = 26.31 ms
        assert_eq!(ns(&pass(0, 7)), 26_310_000);
        assert_eq!(ns(&pass(1000, 7)), 32_105_859 + 26_310_000);
    }

    #[test]
    fn a_fixed_pass_adds_up_and_says_when_it_cannot() {
        let timing = Timing::Fixed {
            prefill_per_token: Span::from_ns(10),
            decode: Span::from_ns(5),
            overhead: Span::from_ns(1),
        };
        assert_eq!(duration(&timing, &pass(3, 0)), Some(Span::from_ns(31)));
        assert_eq!(duration(&timing, &pass(3, 2)), Some(Span::from_ns(36)));
        let endless = Timing::Fixed {
            prefill_per_token: Span::from_ns(u64::MAX),
            decode: Span::ZERO,
            overhead: Span::ZERO,
        };
        assert_eq!(duration(&endless, &pass(2, 0)), None);
    }
}
