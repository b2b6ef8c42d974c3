//! What caches of every size would hit, by the order of requests alone, and how fast a tier must be to pay.

use tierscope_scenario::Scenario;
use tierscope_sweep::cache::{CacheModel, INFINITE};
use tierscope_sweep::sizing;

use super::Problems;
use super::supply::{Supply, read};
use crate::protocol::{CapacityView, PathView, SizingView, TierMark};

/// Sizes on the chart, evenly spaced on a logarithmic axis.
const SIZES: u32 = 36;
/// The axis begins at the largest size divided by this.
const SPAN: f64 = 4_096.0;

/// One of several equal shares: every n-th size. The tiers are in the first.
pub(super) fn share(
    supply: &mut Supply<'_>,
    text: &str,
    (share, of): (u32, u32),
) -> Result<SizingView, Problems> {
    let scenario = read(text)?;
    let (_, cache) = supply.ready(&scenario)?;
    let totals = cache.totals();
    let sums = tiers(&scenario);
    let ratio = f64::from(cache.block_tokens()) / f64::from(scenario.engine.block_size_tokens);
    let largest = sums.last().map_or(0.0, |(_, blocks)| *blocks as f64 / ratio);
    let sizes = ladder((totals.distinct_blocks as f64).max(largest));
    let own = sizes.into_iter().enumerate().filter(|(at, _)| *at as u32 % of.max(1) == share);
    let marks = sums.into_iter().filter(|_| share == 0).map(|(name, blocks)| TierMark {
        name,
        cache: CapacityView {
            blocks: blocks as f64,
            ..capacity(&cache, (blocks as f64 / ratio) as u64, ratio)
        },
    });
    Ok(SizingView {
        requests: totals.requests as f64,
        distinct_blocks: totals.distinct_blocks as f64 * ratio,
        block_tokens: scenario.engine.block_size_tokens,
        block_bytes: scenario.kv_bytes_per_block as f64,
        infinite: cache.lru_tokens(INFINITE).ratio(),
        points: own.map(|(_, blocks)| capacity(&cache, blocks, ratio)).collect(),
        tiers: marks.collect(),
        break_even_gb_per_s: sizing::break_even_gb_per_s(&scenario),
        paths: sizing::paths(&scenario).into_iter().flatten().map(path).collect(),
        timing: scenario.timing.name().to_owned(),
        workers: sizing::workers(&scenario) as u32,
    })
}

/// Each tier with those above it, of all workers together.
fn tiers(scenario: &Scenario) -> Vec<(String, u64)> {
    let (mut name, mut sum) = (String::new(), 0);
    let mut tiers = Vec::new();
    for (tier, blocks) in ["G1", "G2", "G3", "G4"].into_iter().zip(scenario.fleet_config().tier_blocks()) {
        if blocks > 0 {
            name = if name.is_empty() { tier.to_owned() } else { format!("{name}+{tier}") };
            sum += blocks;
            tiers.push((name.clone(), sum));
        }
    }
    tiers
}

/// Sizes from a small one to somewhat more than `largest`, ascending, each once.
fn ladder(largest: f64) -> Vec<u64> {
    let high = (largest * 1.25).max(2.0);
    let low = (high / SPAN).max(1.0);
    let step = (high / low).powf(1.0 / f64::from(SIZES - 1));
    let mut sizes: Vec<u64> =
        (0..SIZES).map(|at| (low * step.powi(at as i32)).round().max(1.0) as u64).collect();
    sizes.dedup();
    sizes
}

fn capacity(cache: &CacheModel, blocks: u64, ratio: f64) -> CapacityView {
    CapacityView {
        blocks: blocks as f64 * ratio,
        lru: cache.lru_tokens(blocks).ratio(),
        optimal: cache.optimal_tokens(blocks).ratio(),
    }
}

fn path(path: sizing::Path) -> PathView {
    PathView {
        tier: path.tier.to_owned(),
        link: path.link.to_owned(),
        link_gb_per_s: path.link_gb_per_s,
        gb_per_s: path.gb_per_s,
        link_break_even_gb_per_s: path.link_break_even_gb_per_s,
    }
}
