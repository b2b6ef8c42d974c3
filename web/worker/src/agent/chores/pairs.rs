//! Two settings over several seeds: pairs of runs, and how sure their differences are.

use tierscope_report::paired::{self, METRICS, Unit};
use tierscope_sim::RunState;

use super::Problems;
use super::compare::{Course, same_work};
use super::supply::Supply;
use crate::agent::stopped;
use crate::protocol::{Duel, MetricUnit, MetricView, PairView, SpreadView};

/// Instants of a run at a time.
const SLICE_INSTANTS: u32 = 8_192;

/// Runs both sides with a seed.
pub(super) fn pair(supply: &mut Supply<'_>, duel: &Duel, seed: u32) -> Result<PairView, Problems> {
    let courses = Course::both(supply, duel, Some(seed))?;
    let report = |course: &Course| -> Result<_, Problems> {
        let mut run = course.run()?;
        loop {
            match run.advance(SLICE_INSTANTS, |_| {}) {
                Ok(RunState::Running) => {}
                Ok(_) => return Ok(run.report()),
                Err(error) => return Err(vec![stopped(&error.to_string())]),
            }
        }
    };
    let [a, b] = [report(&courses[0])?, report(&courses[1])?];
    Ok(PairView {
        seed,
        same_work: same_work(&courses),
        digests: [a.digest.clone(), b.digest.clone()],
        values: METRICS.iter().map(|metric| [(metric.read)(&a), (metric.read)(&b)]).collect(),
    })
}

/// How sure the differences of several pairs are.
pub(super) fn spread(pairs: &[PairView]) -> SpreadView {
    let without_chance = pairs.len() > 1 && pairs.iter().all(|pair| pair.digests == pairs[0].digests);
    let taken = if without_chance { &pairs[..1] } else { pairs };
    let metrics = METRICS.iter().enumerate().filter_map(|(at, metric)| {
        let both = |pair: &PairView| {
            let [a, b] = *pair.values.get(at)?;
            Some([a?, b?])
        };
        let values: Vec<[f64; 2]> = taken.iter().filter_map(both).collect();
        let paired = paired::of_values(metric, &values)?;
        Some(MetricView {
            name: metric.name.to_owned(),
            unit: match metric.unit {
                Unit::Ns => MetricUnit::Ns,
                Unit::PerSecond => MetricUnit::PerSecond,
                Unit::Share => MetricUnit::Share,
                Unit::Count => MetricUnit::Count,
            },
            medians: paired.medians,
            difference: paired.difference,
            relative: paired.relative,
            same: paired.same,
            interval: paired.interval.map(|interval| [interval.low, interval.high]),
            stands_out: paired.stands_out(),
        })
    });
    SpreadView {
        pairs: taken.len() as u32,
        without_chance,
        other_work: pairs.iter().filter(|pair| !pair.same_work).count() as u32,
        metrics: metrics.collect(),
    }
}
