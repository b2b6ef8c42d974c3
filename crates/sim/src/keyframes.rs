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
/// Fewest instants between the first states.
const DISTANCE_MIN: u64 = 256;
/// Bytes of state per instant between two of them: copying a state costs a small part of the run that it saves.
const BYTES_PER_INSTANT: u64 = 512;

/// The kept states, in the order of their times.
pub(crate) struct Keyframes {
    kept: Vec<Simulation>,
    distance: u64,
    instants: u64,
    most: usize,
    /// States from which a run went on under other conditions: no state before one leads past it. Never dropped.
    turns: Vec<Simulation>,
}

impl Keyframes {
    pub(crate) fn new(start: &Simulation) -> Self {
        let bytes = start.state_bytes();
        let most = (KEYFRAME_BYTES_MAX / bytes.max(1)).clamp(2, KEYFRAMES_MAX);
        let distance = (bytes as u64 / BYTES_PER_INSTANT).max(DISTANCE_MIN);
        Self { kept: vec![start.clone()], distance, instants: 0, most, turns: Vec::new() }
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

    /// From this state on, other conditions hold.
    pub(crate) fn turn(&mut self, state: &Simulation) {
        self.turns.push(state.clone());
    }

    /// A copy of the last kept state at or before `at`.
    pub(crate) fn before(&self, at: SimTime) -> Simulation {
        let last = |states: &[Simulation]| states.partition_point(|state| state.now() <= at).checked_sub(1);
        let kept = &self.kept[last(&self.kept).unwrap_or(0)];
        match last(&self.turns).map(|place| &self.turns[place]) {
            // At one instant the turn comes last, or is all that lies between.
            Some(turn) if turn.now() >= kept.now() => turn.clone(),
            _ => kept.clone(),
        }
    }
}
