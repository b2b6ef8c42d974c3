//! The KV-aware cost, and the choice by it.
//!
//! Costs are made anew for each decision, in blocks, of + − × ÷ only; a draw uses `libm`'s exponential (rule E3).

use super::ask::{Ask, Overlap, Stage};
use super::config::CostTerms;
use super::view::View;
use super::wide::ones;

/// Costs are looked at in this many lanes, so that the least is found without waiting for each comparison.
const LANES: usize = 8;

/// One decision's part of the formula.
#[derive(Clone, Copy, Debug)]
pub(super) struct Formula {
    terms: CostTerms,
    /// 0 where nothing is left to prefill.
    prefill_scale: f64,
    prompt: f64,
    /// Blocks that the request will hold.
    own: f64,
    /// The least prefill that waits at a candidate; looked for only if the credit decays.
    least_prefill: f64,
}

/// The blocks that a request will hold at its worker.
pub(super) fn own_blocks(ask: &Ask<'_>) -> u64 {
    let output = if ask.stage == Stage::Prefill { 0 } else { ask.output_blocks_hint };
    u64::from(ask.prompt_blocks) + u64::from(output)
}

/// The blocks that a request has to prefill at a worker that reaches some: what Dynamo calls its effective prefill.
pub(super) fn own_prefill(terms: &CostTerms, ask: &Ask<'_>, overlap: Overlap) -> u32 {
    if ask.stage == Stage::Decode {
        return 0;
    }
    let saved = f64::from(overlap.g1_blocks) + below(terms, overlap);
    // A cast saturates.
    ask.prompt_blocks.saturating_sub(libm::round(saved) as u32)
}

/// Blocks saved by what lies below G1.
fn below(terms: &CostTerms, overlap: Overlap) -> f64 {
    terms.host_cache_hit_weight * f64::from(overlap.g2_blocks)
        + terms.disk_cache_hit_weight * f64::from(overlap.g3_blocks)
        + terms.shared_cache_multiplier * f64::from(overlap.g4_blocks)
}

impl Formula {
    /// The formula for a question among these candidates.
    pub(super) fn new(terms: CostTerms, ask: &Ask<'_>, view: &View, candidates: &[u64]) -> Self {
        let decays = ask.stage != Stage::Decode && terms.overlap_score_credit_decay > 0.0;
        let least = |least: f64, worker: u16| least.min(view.prefill[usize::from(worker)]);
        Self {
            terms,
            prefill_scale: if ask.stage == Stage::Decode { 0.0 } else { terms.prefill_load_scale },
            prompt: f64::from(ask.prompt_blocks),
            own: own_blocks(ask) as f64,
            least_prefill: if decays { ones(candidates).fold(f64::INFINITY, least) } else { 0.0 },
        }
    }

    /// Blocks that the overlap saves at a worker.
    pub(super) fn credit(&self, view: &View, worker: u16, overlap: Overlap) -> f64 {
        let decay = if self.terms.overlap_score_credit_decay > 0.0 {
            let excess = view.prefill[usize::from(worker)] - self.least_prefill;
            let excess = if excess > 0.0 { excess } else { 0.0 };
            1.0 / (1.0 + self.terms.overlap_score_credit_decay * (excess / self.prompt.max(1.0)))
        } else {
            1.0
        };
        self.terms.overlap_score_credit * decay * f64::from(overlap.g1_blocks) + below(&self.terms, overlap)
    }

    fn cost(&self, (prefill, blocks, active): (f64, f64, f64), credit: f64) -> f64 {
        let uncovered = prefill + self.prompt - credit;
        let uncovered = if uncovered > 0.0 { uncovered } else { 0.0 };
        self.prefill_scale * uncovered
            + (blocks + self.own)
            + self.terms.decode_active_request_weight * active
    }

    /// What one worker costs.
    pub(super) fn cost_of(&self, view: &View, worker: u16, credit: f64) -> f64 {
        let at = usize::from(worker);
        self.cost((view.prefill[at], view.blocks[at], view.active[at]), credit)
    }

    /// What every worker costs: one pass over flat arrays. `handicap` is infinite for who is no candidate.
    pub(super) fn costs(&self, view: &View, credit: &[f64], handicap: &[f64], costs: &mut [f64]) {
        let loads = view.prefill.iter().zip(&view.blocks).zip(&view.active);
        for (((cost, ((prefill, blocks), active)), credit), handicap) in
            costs.iter_mut().zip(loads).zip(credit).zip(handicap)
        {
            *cost = self.cost((*prefill, *blocks, *active), *credit) + handicap;
        }
    }
}

/// Thousandths of a block.
pub(super) fn milliblocks(cost: f64) -> i64 {
    // A cast saturates.
    libm::round(cost * 1000.0) as i64
}

/// The least of the costs.
fn least(costs: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; LANES];
    let chunks = costs.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, &cost) in lanes.iter_mut().zip(chunk) {
            *lane = if cost < *lane { cost } else { *lane };
        }
    }
    lanes.iter().chain(rest).fold(f64::INFINITY, |least, &cost| if cost < least { cost } else { least })
}

/// The worker of the lowest cost; of equal ones that with the fewest active requests, then with the lowest id.
pub(super) fn lowest(costs: &[f64], view: &View) -> Option<u16> {
    let least = least(costs);
    if least == f64::INFINITY {
        return None;
    }
    let mut best: Option<(u32, u16)> = None;
    for (at, chunk) in costs.chunks(LANES).enumerate() {
        // Most have none that is equal; this is found without a branch for each.
        if !chunk.iter().fold(false, |any, cost| any | (*cost == least)) {
            continue;
        }
        for (lane, _) in chunk.iter().enumerate().filter(|(_, cost)| **cost == least) {
            let worker = (at * LANES + lane) as u16;
            let active = view.load(worker).active;
            if best.is_none_or(|(fewest, _)| active < fewest) {
                best = Some((active, worker));
            }
        }
    }
    best.map(|(_, worker)| worker)
}

/// A worker drawn with weights that fall exponentially with its cost.
///
/// As in Dynamo (`softmax_sample_index` in the file that [`CostTerms`] names, as in wxsms/dynamo at 052c1e28), costs are
/// first scaled so that the greatest is 1 above the least: the temperature is a share of their spread, whatever it is.
pub(super) fn drawn(costs: &[f64], temperature: f64, draw: u64, weights: &mut Vec<f64>) -> Option<u16> {
    let least = least(costs);
    let finite = || costs.iter().copied().filter(|cost| cost.is_finite());
    let spread = finite().fold(least, |most, cost| if cost > most { cost } else { most }) - least;
    weights.clear();
    weights.extend(costs.iter().map(|&cost| match cost {
        cost if cost == f64::INFINITY => 0.0,
        _ if spread == 0.0 => 1.0,
        cost => libm::exp(-((cost - least) / spread / temperature)),
    }));
    let sum: f64 = weights.iter().sum();
    // A multiple of 2⁻⁵³ below 1.
    let target = (draw >> 11) as f64 * (1.0 / (1u64 << 53) as f64) * sum;
    let mut reached = 0.0;
    let mut last = None;
    for (worker, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        reached += weight;
        last = Some(worker as u16);
        if target < reached {
            break;
        }
    }
    last
}
