//! When transfers over one link end, by the simulator's own model of links: for who measures real ones.

use tierscope_scenario::LinkRates;
use tierscope_units::{SimTime, Span, TransferId};

use crate::copies::spec_of;
use crate::link::{Direction, Link};

/// A transfer over a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// When it is submitted.
    pub at: SimTime,
    /// Whether it goes to the faster tier.
    pub up: bool,
    /// Its bytes.
    pub bytes: u64,
}

/// When each of these ends, on a link that is idle before the first: in the order in which they are given. `None` for one
/// that ends past the end of representable time.
pub fn forecast(rates: &LinkRates, crossings: &[Crossing]) -> Vec<Option<SimTime>> {
    let mut order: Vec<usize> = (0..crossings.len()).collect();
    order.sort_by_key(|&nth| crossings[nth].at);
    let mut link = Link::new(spec_of(rates));
    for nth in order {
        let Crossing { at, up, bytes } = crossings[nth];
        let direction = if up { Direction::Up } else { Direction::Down };
        link.start(at, TransferId(nth as u64), direction, bytes, Span::ZERO);
    }
    let mut ended = Vec::new();
    link.advance(SimTime::from_ns(u64::MAX), &mut ended);
    let mut ends = vec![None; crossings.len()];
    for (at, id) in ended {
        ends[id.0 as usize] = Some(at);
    }
    ends
}

#[cfg(test)]
mod tests {
    use tierscope_scenario::LinkRate;

    use super::*;

    #[test]
    fn transfers_share_a_direction_and_wait_for_the_latency_first() {
        let rate = |both| LinkRate {
            alone_bytes_per_s: 1_000_000_000,
            both_bytes_per_s: both,
            latency: Span::from_ns(100),
        };
        let rates = LinkRates { down: rate(1_000_000_000), up: rate(500_000_000) };
        let crossing = |ns, up, bytes| Crossing { at: SimTime::from_ns(ns), up, bytes };
        let of = |crossings: &[Crossing]| -> Vec<u64> {
            forecast(&rates, crossings).into_iter().map(|end| end.expect("it ends").as_ns()).collect()
        };
        assert_eq!(of(&[crossing(0, false, 1_000)]), [1_100]);
        // The second is given first, and each has half of the rate.
        assert_eq!(of(&[crossing(50, false, 1_000), crossing(0, false, 2_000)]), [2_150, 3_100]);
        // The upper one has half of its rate while the lower one crosses.
        assert_eq!(of(&[crossing(0, false, 1_000), crossing(0, true, 1_000)]), [1_100, 1_600]);
        assert_eq!(of(&[]), [0; 0]);
    }
}
