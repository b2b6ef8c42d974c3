//! Sizing: what each capacity buys, beside what no policy can beat, and how fast a tier must be to be worth it.
//!
//! **Break-even bandwidth.** Loading a block from below takes its bytes ÷ the rate of its path; computing it takes
//! its share of a pass of prefill. They take equally long at
//!
//! ```text
//! break-even = bytes of a block ÷ time to compute it  (= bytes per token × tokens computed per second)
//! ```
//!
//! The time is `Timing::recompute_per_block`: a block's share of a pass of 2,048 prompt tokens, what the engine
//! itself believes under `offload.load = "sooner"`. What lies in G3 or G4 comes through G2, one copy after the
//! other: the rate of the path is `1 ÷ (1 ÷ disk + 1 ÷ pcie)`. Latencies, and copies that share a link, are left out:
//! a tier that is below its break-even never pays, one that is far above it mostly does.

mod table;

use tierscope_engine::Lane;
use tierscope_scenario::Scenario;

pub use table::{break_even, render};

/// The way of a block from a tier to G1.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The tier.
    pub tier: &'static str,
    /// Its own link, the first that a block crosses.
    pub link: &'static str,
    /// The rate of that link to the faster tier while nothing else moves, in GB/s (10⁹).
    pub link_gb_per_s: f64,
    /// The rate of the whole path.
    pub gb_per_s: f64,
    /// What that link would have to reach so that loading is as fast as computing; `None` where no rate is enough,
    /// because the rest of the path takes longer already.
    pub link_break_even_gb_per_s: Option<f64>,
}

/// Bytes per nanosecond, which are GB/s, at which loading a block takes as long as computing it; `None` where
/// computing takes no time.
pub fn break_even_gb_per_s(scenario: &Scenario) -> Option<f64> {
    let ns = scenario.timing.recompute_per_block(scenario.engine.block_size_tokens).as_ns();
    (ns > 0).then(|| scenario.kv_bytes_per_block as f64 / ns as f64)
}

/// The paths from G2, G3 and G4 where the scenario has them.
pub fn paths(scenario: &Scenario) -> [Option<Path>; 3] {
    let Some(tiers) = &scenario.engine.tiers else { return [None, None, None] };
    let rate = |lane: Lane| scenario.links.of(lane).alone_bytes_per_s as f64 / 1e9;
    let needed = break_even_gb_per_s(scenario);
    let pcie = rate(Lane::G2ToG1);
    let through = |tier, link, lane| {
        let own = rate(lane);
        // What is left of the time of computing when the second copy has taken its part.
        let left = needed.map(|needed| 1.0 / needed - 1.0 / pcie);
        let link_break_even_gb_per_s = left.filter(|&left| left > 0.0).map(|left| 1.0 / left);
        let gb_per_s = 1.0 / (1.0 / own + 1.0 / pcie);
        Path { tier, link, link_gb_per_s: own, gb_per_s, link_break_even_gb_per_s }
    };
    let g2 = Path {
        tier: "G2",
        link: "pcie",
        link_gb_per_s: pcie,
        gb_per_s: pcie,
        link_break_even_gb_per_s: needed,
    };
    [
        Some(g2),
        tiers.g3.map(|_| through("G3", "disk", Lane::G3ToG2)),
        tiers.g4.map(|_| through("G4", "object", Lane::G4ToG2)),
    ]
}

/// Blocks of all tiers together: G1 and G2 of each worker, G3 of each host, one G4.
pub fn total_blocks(scenario: &Scenario) -> u64 {
    scenario.fleet_config().tier_blocks().iter().sum()
}

/// The same in GiB of one copy of the KV.
pub fn total_gib(scenario: &Scenario) -> f64 {
    let bytes = u128::from(total_blocks(scenario)) * u128::from(scenario.kv_bytes_per_block);
    bytes as f64 / f64::from(1 << 30)
}

/// How many workers there are.
pub fn workers(scenario: &Scenario) -> u64 {
    scenario.fleet.as_ref().map_or(1, |fleet| fleet.roles.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(text: &str) -> Scenario {
        let base = "tierscope = 1\n[workload]\nkind = \"requests\"\n[[workload.request]]\nat_ms = 0\n\
            prompt_tokens = 1\noutput_tokens = 1\n";
        tierscope_scenario::parse_any(&format!("{base}{text}")).expect("a scenario")
    }

    /// Field figures: Llama-3.1-8B computes 28,000 tokens/s on an H100, at 131,072 bytes each: 3.6 GB/s.
    #[test]
    fn break_even_is_bytes_per_token_by_tokens_per_second() {
        let fixed = "[timing]\nmodel = \"fixed\"\nprefill_per_token_ns = 36_000\n[g2]\nblocks = 100\n[g3]\nblocks = 900\n\
            [links.pcie]\nup_gb_per_s = 25.0\n[links.disk]\nup_gb_per_s = 6.5\n[engine]\ng1_blocks = 24\n";
        let scenario = scenario(fixed);
        let needed = break_even_gb_per_s(&scenario).expect("computing takes time");
        assert!((needed - 131_072.0 / 36_000.0).abs() < 1e-9, "{needed}");
        let [g2, g3, g4] = paths(&scenario);
        let (g2, g3) = (g2.expect("there is one"), g3.expect("there is one"));
        assert_eq!((g4, g2.gb_per_s, total_blocks(&scenario)), (None, 25.0, 1_024));
        assert!((g3.gb_per_s - 1.0 / (1.0 / 6.5 + 1.0 / 25.0)).abs() < 1e-12);
        // With a disk of that rate both ways take equally long.
        let disk = g3.link_break_even_gb_per_s.expect("some rate is enough");
        assert!((1.0 / (1.0 / disk + 1.0 / 25.0) - needed).abs() < 1e-9, "{disk}");
        assert_eq!(total_gib(&scenario), 2.0, "1,024 blocks of 16 tokens of 128 KiB");
    }

    #[test]
    fn a_fleet_has_the_tiers_of_all_its_workers_and_hosts() {
        let fleet = "[engine]\ng1_blocks = 100\n[g2]\nblocks = 10\n[g3]\nblocks = 1000\n[g4]\nblocks = 7\n\
            [workers]\ncount = 5\nper_host = 2\n";
        let scenario = scenario(fleet);
        assert_eq!(workers(&scenario), 5);
        assert_eq!(total_blocks(&scenario), 5 * 100 + 5 * 10 + 3 * 1_000 + 7);
    }

    #[test]
    fn a_path_can_be_too_slow_whatever_the_disk_and_computing_can_be_free() {
        let slow = "[timing]\nmodel = \"fixed\"\nprefill_per_token_ns = 36_000\n[g2]\nblocks = 1\n[g3]\nblocks = 1\n\
            [links.pcie]\nup_gb_per_s = 2.0\nup_with_down_gb_per_s = 2.0\n";
        assert_eq!(paths(&scenario(slow))[1].as_ref().expect("G3").link_break_even_gb_per_s, None);
        let free = "[timing]\nmodel = \"fixed\"\nprefill_per_token_ns = 0\noverhead_ns = 0\n";
        assert_eq!(break_even_gb_per_s(&scenario(free)), None);
    }
}
