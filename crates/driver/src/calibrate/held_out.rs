//! How well what was fitted predicts what was not, by the model of links that a run of the simulator has.

use tierscope_engine::Lane;
use tierscope_scenario::import::merge_hardware;
use tierscope_scenario::{LinkRates, Links, Problem, parse_any};
use tierscope_sim::{Crossing, forecast};
use tierscope_units::SimTime;

use super::fit::LinkFit;
use super::mixed::Flown;
use super::point::{Sample, quantile};
use super::profile::lanes_toml;
use crate::media::LINKS;

/// How well a lane's times were predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The lane.
    pub lane: Lane,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Whether these are batches of the mixed load, or batches by themselves of a size that was not fitted.
    pub mixed: bool,
    /// Batches; of a size, points.
    pub batches: u32,
    /// How far the prediction is off, as a share of what was measured: the median.
    pub error: f64,
    /// The same with its sign: above zero, more was predicted than it took.
    pub bias: f64,
    /// The share of them that is off by at most 15 %.
    pub within: f64,
}

impl Prediction {
    /// What counts as predicted.
    pub const BOUND: f64 = 0.15;

    /// Of predicted and measured times of a lane; `None` of none.
    fn of(lane: Lane, block_bytes: u64, mixed: bool, times: &[(f64, f64)]) -> Option<Self> {
        let mut signed: Vec<f64> =
            times.iter().map(|(predicted, measured)| predicted / measured.max(1.0) - 1.0).collect();
        signed.sort_by(f64::total_cmp);
        let mut errors: Vec<f64> = signed.iter().map(|error| error.abs()).collect();
        errors.sort_by(f64::total_cmp);
        let within =
            errors.iter().filter(|&&error| error <= Self::BOUND).count() as f64 / errors.len() as f64;
        Some(Self {
            lane,
            block_bytes,
            mixed,
            batches: times.len() as u32,
            error: quantile(&errors, 0.5)?,
            bias: quantile(&signed, 0.5)?,
            within,
        })
    }
}

/// The links of a scenario with blocks of this size, once the figures are put into it. An error where the reader of
/// scenarios does not take them.
pub(super) fn links_of(links: &[Option<LinkFit>; 3], block_bytes: u64) -> Result<Links, String> {
    let scenario = format!(
        "tierscope = 1\n[engine]\nblock_size_tokens = 8\ng1_blocks = 16\n[hardware]\nkv_bytes_per_token = {}\n\
         [g2]\nblocks = 16\n[g3]\nblocks = 16\n[g4]\nblocks = 16\n[timing]\nmodel = \"fixed\"\n\
         [workload]\nkind = \"synthetic\"\nrequests = 1\nprompt_tokens = 16\noutput_tokens = 1\narrival = \"poisson\"\nrate_per_s = 1.0\n",
        block_bytes / 8
    );
    let hardware = format!("tierscope_hardware = 1\n{}", lanes_toml(links));
    let words = |problems: Vec<Problem>| problems.first().map(ToString::to_string).unwrap_or_default();
    let (text, _) = merge_hardware(&scenario, &hardware).map_err(words)?;
    Ok(parse_any(&text).map_err(words)?.links)
}

fn rates_of(links: &Links, nth: usize) -> LinkRates {
    [links.pcie, links.disk, links.object][nth]
}

/// Of batches by themselves, of one size.
pub(super) fn of_samples(
    links: &[Option<LinkFit>; 3],
    block_bytes: u64,
    samples: &[Sample],
) -> Result<Vec<Prediction>, String> {
    let rates = links_of(links, block_bytes)?;
    let time = |nth: usize, up: bool, sample: &Sample| -> Option<(f64, f64)> {
        let bytes = block_bytes * u64::from(sample.point.blocks);
        let one = Crossing { at: SimTime::ZERO, up, bytes };
        let crossings = vec![one; sample.point.in_flight as usize];
        let ends = forecast(&rates_of(&rates, nth), &crossings);
        Some((ends.into_iter().max()??.as_ns() as f64, sample.median_ns))
    };
    let of = |nth, up, lane| {
        let own = samples.iter().filter(|sample| sample.point.lane == lane);
        let times: Vec<(f64, f64)> = own.filter_map(|sample| time(nth, up, sample)).collect();
        Prediction::of(lane, block_bytes, false, &times)
    };
    Ok(of_lanes(links, of))
}

/// Of the batches of a load, all lanes of a link together.
pub(super) fn of_load(
    links: &[Option<LinkFit>; 3],
    block_bytes: u64,
    flown: &[Flown],
) -> Result<Vec<Prediction>, String> {
    let rates = links_of(links, block_bytes)?;
    let mut predicted = vec![None; flown.len()];
    for (nth, lanes) in LINKS.iter().enumerate() {
        let own: Vec<usize> = (0..flown.len()).filter(|&at| lanes.contains(&flown[at].lane)).collect();
        let crossing = |&at: &usize| {
            let Flown { lane, submitted, blocks, .. } = flown[at];
            let at = SimTime::from_ns(u64::try_from(submitted.as_nanos()).unwrap_or(u64::MAX));
            Crossing { at, up: lane == lanes[1], bytes: block_bytes * u64::from(blocks) }
        };
        let crossings: Vec<Crossing> = own.iter().map(crossing).collect();
        let ends = forecast(&rates_of(&rates, nth), &crossings);
        for ((&at, crossing), end) in own.iter().zip(&crossings).zip(ends) {
            predicted[at] = end.map(|end| end.since(crossing.at).as_ns() as f64);
        }
    }
    let of = |_, _, lane| {
        let own = flown.iter().zip(&predicted).filter(|(flown, _)| flown.lane == lane);
        let times: Vec<(f64, f64)> =
            own.filter_map(|(flown, predicted)| Some(((*predicted)?, flown.took_ns))).collect();
        Prediction::of(lane, block_bytes, true, &times)
    };
    Ok(of_lanes(links, of))
}

fn of_lanes(
    links: &[Option<LinkFit>; 3],
    of: impl Fn(usize, bool, Lane) -> Option<Prediction>,
) -> Vec<Prediction> {
    let lanes =
        LINKS.iter().enumerate().flat_map(|(nth, lanes)| [(nth, false, lanes[0]), (nth, true, lanes[1])]);
    let fitted =
        lanes.filter(|(nth, _, lane)| links[*nth].as_ref().is_some_and(|link| link.lane(*lane).is_some()));
    fitted.filter_map(|(nth, up, lane)| of(nth, up, lane)).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::calibrate::fit::LaneFit;

    fn links() -> [Option<LinkFit>; 3] {
        let fit = |lane| LaneFit {
            lane,
            per_block_ns: 2_000.0,
            ns_per_byte: 0.5,
            with_opposite_ns_per_byte: Some(1.0),
            residual: 0.0,
            residual_max: 0.0,
            spread: 0.0,
            points: 9,
        };
        let disk = LinkFit { latency_ns: 50_000.0, lanes: LINKS[1].map(|lane| Some(fit(lane))) };
        [None, Some(disk), None]
    }

    fn flown(lane: Lane, us: u64, blocks: u32, took_ns: f64) -> Flown {
        Flown { lane, submitted: Duration::from_micros(us), blocks, took_ns }
    }

    #[test]
    fn what_behaves_like_the_fit_is_predicted_by_the_simulators_links() {
        let block = 65_536.0 * 0.5 + 2_000.0;
        let load = [
            flown(Lane::G2ToG3, 0, 4, 50_000.0 + 4.0 * block),
            flown(Lane::G2ToG3, 5_000, 1, 50_000.0 + block),
            flown(Lane::G3ToG2, 9_000, 2, 2.0 * (50_000.0 + 2.0 * block)),
        ];
        let found = of_load(&links(), 65_536, &load).expect("the reader takes them");
        assert_eq!(found.len(), 2, "the lanes of the disk");
        assert!(found[0].batches == 2 && found[0].error < 1e-3 && found[0].within == 1.0, "{:?}", found[0]);
        // It took twice as long as was predicted.
        assert!((found[1].error - 0.5).abs() < 1e-3 && (found[1].bias + 0.5).abs() < 1e-3, "{:?}", found[1]);
        assert_eq!(found[1].within, 0.0);
    }

    #[test]
    fn the_figures_of_a_scenario_are_those_of_the_fit() {
        let found = links_of(&links(), 65_536).expect("the reader takes them").disk;
        assert_eq!(found.down.latency.as_ns(), 50_000);
        let expected = 65_536.0 / (65_536.0 * 0.5 + 2_000.0) * 1e9;
        assert!((found.down.alone_bytes_per_s as f64 / expected - 1.0).abs() < 1e-4, "{found:?}");
        assert!(found.down.both_bytes_per_s < found.down.alone_bytes_per_s);
    }
}
