//! The stretch of time that is seen.

/// From when to when; a little beyond the end of the run, so that its last instant is not at the very edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// At the left edge.
    pub from_ns: f64,
    /// At the right edge.
    pub to_ns: f64,
}

/// Shortest view: below, nothing new is to be seen, as times are whole nanoseconds.
const SHORTEST_NS: f64 = 40.0;
/// What is seen beyond the end, as a share of the run.
const BEYOND: f64 = 0.01;

impl View {
    /// The whole run.
    pub fn whole(end_ns: f64) -> Self {
        Self { from_ns: 0.0, to_ns: longest(end_ns) }
    }

    /// A stretch with some room on both sides.
    pub fn around(from_ns: f64, to_ns: f64, end_ns: f64) -> Self {
        let room = 0.05 * (to_ns - from_ns).max(0.0) + SHORTEST_NS / 4.0;
        Self { from_ns: from_ns - room, to_ns: to_ns + room }.within(end_ns)
    }

    /// Nanoseconds that are seen.
    pub fn length_ns(self) -> f64 {
        self.to_ns - self.from_ns
    }

    /// The pixel of a time; outside of the view also outside of the pixels.
    pub fn px(self, ns: f64, width: f64) -> f64 {
        (ns - self.from_ns) / self.length_ns() * width
    }

    /// The time at a pixel.
    pub fn ns(self, px: f64, width: f64) -> f64 {
        if width > 0.0 { self.from_ns + px / width * self.length_ns() } else { self.from_ns }
    }

    /// Whether a time is seen.
    pub fn shows(self, ns: f64) -> bool {
        (self.from_ns..=self.to_ns).contains(&ns)
    }

    /// Longer (a factor above one) or shorter, with one time staying where it is.
    pub fn zoomed(self, factor: f64, at_ns: f64, end_ns: f64) -> Self {
        let length = (self.length_ns() * factor).clamp(SHORTEST_NS, longest(end_ns));
        let share = ((at_ns - self.from_ns) / self.length_ns()).clamp(0.0, 1.0);
        let from_ns = self.from_ns + share * (self.length_ns() - length);
        Self { from_ns, to_ns: from_ns + length }.within(end_ns)
    }

    /// Moved by a share of what is seen: to later times when positive.
    pub fn panned(self, share: f64, end_ns: f64) -> Self {
        let by = share * self.length_ns();
        Self { from_ns: self.from_ns + by, to_ns: self.to_ns + by }.within(end_ns)
    }

    /// Moved as little as is needed, or not at all, so that a time is seen, and not at the very edge.
    pub fn showing(self, ns: f64, end_ns: f64) -> Self {
        if self.shows(ns) {
            return self;
        }
        let share = if ns < self.from_ns { 0.15 } else { 0.85 };
        let from_ns = ns - share * self.length_ns();
        Self { from_ns, to_ns: from_ns + self.length_ns() }.within(end_ns)
    }

    /// The next page, once a time that goes on has left this one.
    pub fn following(self, ns: f64, end_ns: f64) -> Self {
        if self.shows(ns) {
            return self;
        }
        let from_ns = ns - 0.05 * self.length_ns();
        Self { from_ns, to_ns: from_ns + self.length_ns() }.within(end_ns)
    }

    fn within(self, end_ns: f64) -> Self {
        let most = longest(end_ns);
        let length = self.length_ns().clamp(SHORTEST_NS.min(most), most);
        if most - length < 1.0 {
            return Self::whole(end_ns);
        }
        let from_ns = self.from_ns.clamp(0.0, most - length);
        Self { from_ns, to_ns: from_ns + length }
    }
}

fn longest(end_ns: f64) -> f64 {
    (end_ns * (1.0 + BEYOND)).max(SHORTEST_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: f64 = 1e9;

    #[test]
    fn zooming_keeps_the_time_under_the_pointer() {
        let view = View::whole(END);
        let near = view.zoomed(0.25, 4e8, END);
        assert!((near.px(4e8, 500.0) - view.px(4e8, 500.0)).abs() < 1e-6);
        assert!((near.length_ns() - view.length_ns() / 4.0).abs() < 1e-3);
        let back = near.zoomed(4.0, 4e8, END);
        assert!((back.from_ns - view.from_ns).abs() < 1e-3 && (back.to_ns - view.to_ns).abs() < 1e-3);
    }

    #[test]
    fn a_view_stays_within_the_run() {
        let mut view = View::whole(END);
        for _ in 0..200 {
            view = view.zoomed(0.5, 1e9, END);
        }
        assert_eq!(view.length_ns(), SHORTEST_NS);
        assert!(view.shows(1e9));
        for share in [-1e6, 1e6, -0.5, 3.0] {
            let panned = view.panned(share, END);
            assert!(panned.from_ns >= 0.0 && panned.to_ns <= longest(END) + 1.0, "{panned:?}");
            assert!((panned.length_ns() - SHORTEST_NS).abs() < 1e-6);
        }
        assert_eq!(view.zoomed(1e30, 0.0, END), View::whole(END));
    }

    #[test]
    fn a_time_is_brought_into_view() {
        let view = View { from_ns: 1e8, to_ns: 2e8 };
        assert_eq!(view.showing(1.5e8, END), view);
        for ns in [0.0, 5e7, 9e8, 1e9] {
            assert!(view.showing(ns, END).shows(ns) && view.following(ns, END).shows(ns), "{ns}");
        }
        assert!(View::around(3e8, 3e8, END).shows(3e8));
    }

    #[test]
    fn an_empty_run_has_a_view() {
        let view = View::whole(0.0);
        assert!(view.length_ns() > 0.0 && view.zoomed(0.1, 0.0, 0.0).px(0.0, 100.0).is_finite());
        assert_eq!(view.ns(50.0, 0.0), 0.0);
    }
}
