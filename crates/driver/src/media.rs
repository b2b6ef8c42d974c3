//! Which medium is which: all of them stand beside host memory, which is one side of every copy.

use tierscope_engine::{Lane, Tier};
use tierscope_tiers::Way;

/// The tiers of the media, in their order.
pub(crate) const TIERS: [Tier; 3] = [Tier::G1, Tier::G3, Tier::G4];

/// The lanes of each medium, down and up.
pub(crate) const LINKS: [[Lane; 2]; 3] =
    [[Lane::G1ToG2, Lane::G2ToG1], [Lane::G2ToG3, Lane::G3ToG2], [Lane::G2ToG4, Lane::G4ToG2]];

/// The medium of a lane, by its place in that order, and which way its batches go.
pub(crate) fn medium_of(lane: Lane) -> (usize, Way) {
    match lane {
        Lane::G1ToG2 => (0, Way::Load),
        Lane::G2ToG1 => (0, Way::Store),
        Lane::G2ToG3 => (1, Way::Store),
        Lane::G3ToG2 => (1, Way::Load),
        Lane::G2ToG4 => (2, Way::Store),
        Lane::G4ToG2 => (2, Way::Load),
    }
}

/// The lane on which a medium's batches go. G1 is above host memory, the others are below.
pub(crate) fn lane_of(nth: usize, way: Way) -> Lane {
    let [down, up] = LINKS[nth];
    let goes_up = (nth == 0) == (way == Way::Store);
    if goes_up { up } else { down }
}

/// The place of a tier's medium; `None` of host memory, which is none.
pub(crate) fn place_of(tier: Tier) -> Option<usize> {
    TIERS.iter().position(|&other| other == tier)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_and_its_medium_lead_to_each_other() {
        for lane in Lane::ALL {
            let (nth, way) = medium_of(lane);
            assert_eq!(lane_of(nth, way), lane);
            let other = if lane.from() == Tier::G2 { lane.to() } else { lane.from() };
            assert_eq!(place_of(other), Some(nth), "{}", lane.name());
        }
        assert_eq!(place_of(Tier::G2), None);
    }
}
