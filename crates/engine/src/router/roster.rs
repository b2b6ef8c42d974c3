//! Who may be chosen for what.

use tierscope_units::{Idx as _, WorkerId};

use super::ask::Stage;
use super::index::{count, set_bit};

/// The candidates of each stage.
#[derive(Clone, Debug)]
pub(super) struct Roster {
    stages: Vec<Option<Stage>>,
    candidates: [Vec<u64>; Stage::COUNT],
    /// Added to costs: 0 for candidates, infinite for others.
    handicaps: [Vec<f64>; Stage::COUNT],
}

impl Roster {
    pub(super) fn new(workers: usize, words: usize) -> Self {
        Self {
            stages: vec![None; workers],
            candidates: std::array::from_fn(|_| vec![0; words]),
            handicaps: std::array::from_fn(|_| vec![f64::INFINITY; workers]),
        }
    }

    /// A worker serves this stage from now on, and no other; or none.
    pub(super) fn set(&mut self, worker: WorkerId, stage: Option<Stage>) {
        let at = worker.index();
        let old = std::mem::replace(&mut self.stages[at], stage);
        for (stage, on) in [(old, false), (stage, true)] {
            let Some(stage) = stage else { continue };
            set_bit(&mut self.candidates[stage.index()], at, on);
            self.handicaps[stage.index()][at] = if on { 0.0 } else { f64::INFINITY };
        }
    }

    pub(super) fn candidates(&self, stage: Stage) -> &[u64] {
        &self.candidates[stage.index()]
    }

    pub(super) fn handicaps(&self, stage: Stage) -> &[f64] {
        &self.handicaps[stage.index()]
    }

    pub(super) fn count(&self, stage: Stage) -> u32 {
        count(self.candidates(stage))
    }

    /// The candidate behind `last` in the order of ids, round and round.
    pub(super) fn next(&self, stage: Stage, last: Option<u16>) -> Option<u16> {
        let candidates = self.candidates(stage);
        let from = last.map_or(0, |last| usize::from(last) + 1);
        for (at, &word) in candidates.iter().enumerate().skip(from / 64) {
            let ahead = if at == from / 64 { word & u64::MAX << (from % 64) } else { word };
            if ahead != 0 {
                return Some((at * 64 + ahead.trailing_zeros() as usize) as u16);
            }
        }
        super::wide::ones(candidates).next()
    }
}
