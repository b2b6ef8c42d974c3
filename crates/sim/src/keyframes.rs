//! Kept states of a run, so that any time can be sought: the nearest earlier one is cloned and run forward.
//!
//! States are kept at equal numbers of instants. When there are too many, every second one is dropped and the
//! distance doubles, so that memory is bounded however long the run.

use tierscope_units::SimTime;

use crate::simulation::Simulation;

/// Memory that the kept states may take together.
const KEYFRAME_BYTES_MAX: usize = 256 << 20;
/// Most states kept.
const KEYFRAMES_MAX: usize = 128;
/// Instants between the first states.
const FIRST_DISTANCE: u64 = 256;

/// The kept states, in the order of their times.
pub(crate) struct Keyframes {
    kept: Vec<Simulation>,
    distance: u64,
    instants: u64,
    most: usize,
}

impl Keyframes {
    pub(crate) fn new(start: &Simulation) -> Self {
        let most = (KEYFRAME_BYTES_MAX / start.state_bytes().max(1)).clamp(2, KEYFRAMES_MAX);
        Self { kept: vec![start.clone()], distance: FIRST_DISTANCE, instants: 0, most }
    }

    /// Takes note of one more instant of the run.
    pub(crate) fn instant(&mut self, state: &Simulation) {
        self.instants += 1;
        if !self.instants.is_multiple_of(self.distance) {
            return;
        }
        self.kept.push(state.clone());
        if self.kept.len() > self.most {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.distance *= 2;
        }
    }

    /// A copy of the last kept state at or before `at`.
    pub(crate) fn before(&self, at: SimTime) -> Simulation {
        let after = self.kept.partition_point(|state| state.now() <= at);
        self.kept[after.saturating_sub(1)].clone()
    }
}
