//! The bad day of a lane: which copy fails, stalls, slows down, is lost or is corrupted (rule L9).
//!
//! Chance has one stream per fault, drawn once for every copy of the fault's lane, whatever else befalls it: so a
//! fault that is added at the end, or changed, moves no other.

use tierscope_scenario::fault::{AS_EVER_MILLI, FaultKind, FaultSpec, LANES, When};
use tierscope_units::{RandomStream, SimTime, Span};

/// How a copy ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// As it should.
    Completes,
    /// In an error.
    Fails,
    /// With content that is found to be wrong.
    Corrupt,
    /// It is lost on the way: nothing arrives, and nothing says so.
    Lost,
}

/// What befalls a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// How it ends: the first fault in the order of the scenario decides.
    pub(crate) fate: Fate,
    /// What it waits before its bytes begin to cross: the sum of all stalls.
    pub(crate) stall: Span,
    /// Its time in thousandths of the undisturbed one, 1000 or more. What slow-downs add to that adds up: with
    /// two of 2000 it is 3000.
    pub(crate) slow_milli: u32,
}

impl Verdict {
    /// Nothing befalls it.
    pub(crate) const SPARED: Self =
        Self { fate: Fate::Completes, stall: Span::ZERO, slow_milli: AS_EVER_MILLI };

    fn with(self, kind: FaultKind) -> Self {
        match kind {
            FaultKind::Stall(span) => {
                let stall = Span::from_ns(self.stall.as_ns().saturating_add(span.as_ns()));
                Self { stall, ..self }
            }
            FaultKind::SlowDown { times_milli } => {
                let added = times_milli.saturating_sub(AS_EVER_MILLI);
                Self { slow_milli: self.slow_milli.saturating_add(added), ..self }
            }
            FaultKind::Fail => self.ending(Fate::Fails),
            FaultKind::Lose => self.ending(Fate::Lost),
            FaultKind::Corrupt => self.ending(Fate::Corrupt),
        }
    }

    fn ending(self, fate: Fate) -> Self {
        if self.fate == Fate::Completes { Self { fate, ..self } } else { self }
    }
}

/// The faults of a run.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    /// Each with its stream.
    specs: Vec<(FaultSpec, RandomStream)>,
    /// Copies so far, by lane.
    copies: [u64; LANES],
}

impl Faults {
    /// The faults `specs` of a run with `seed`. One whose lane does not exist befalls nothing.
    pub(crate) fn new(specs: &[FaultSpec], seed: u64) -> Self {
        let with_stream = |(index, spec): (usize, &FaultSpec)| {
            (*spec, RandomStream::named(seed, &format!("faults {index}")))
        };
        Self { specs: specs.iter().enumerate().map(with_stream).collect(), copies: [0; LANES] }
    }

    /// Whether later copies may fare otherwise than those that begin at `now`.
    pub(crate) fn may_change(&self, now: SimTime) -> bool {
        self.specs.iter().any(|(spec, _)| match spec.when {
            When::Nth(nth) => self.copies.get(usize::from(spec.lane)).is_some_and(|&copies| copies <= nth),
            When::Every(step) => step > 1,
            When::From { at, until } => at > now || until.is_some_and(|until| now < until),
            When::Rate { per_million } => (1..1_000_000).contains(&per_million),
        })
    }

    /// What befalls the next copy of `lane`, which begins at `now`.
    pub(crate) fn next(&mut self, lane: u8, now: SimTime) -> Verdict {
        let Some(copies) = self.copies.get_mut(usize::from(lane)) else {
            return Verdict::SPARED;
        };
        *copies = copies.saturating_add(1);
        let copy = *copies;
        let of_lane = self.specs.iter_mut().filter(|(spec, _)| spec.lane == lane);
        of_lane.fold(Verdict::SPARED, |verdict, (spec, stream)| {
            if befalls(spec.when, copy, now, stream) { verdict.with(spec.kind) } else { verdict }
        })
    }
}

fn befalls(when: When, copy: u64, now: SimTime, stream: &mut RandomStream) -> bool {
    match when {
        When::Nth(nth) => copy == nth,
        When::Every(step) => step > 0 && copy.is_multiple_of(step),
        When::From { at, until } => at <= now && until.is_none_or(|until| now < until),
        When::Rate { per_million } => stream.between(0, 999_999) < u64::from(per_million),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANE: u8 = 2;

    fn fault(kind: FaultKind, when: When) -> FaultSpec {
        FaultSpec { lane: LANE, kind, when }
    }

    fn at(ns: u64) -> SimTime {
        SimTime::from_ns(ns)
    }

    /// The fates of the first `copies` copies of the lane, all at time zero.
    fn fates(specs: &[FaultSpec], copies: usize) -> Vec<Fate> {
        let mut faults = Faults::new(specs, 7);
        (0..copies).map(|_| faults.next(LANE, SimTime::ZERO).fate).collect()
    }

    #[test]
    fn copies_are_counted_from_one_and_by_lane() {
        let mut faults = Faults::new(&[fault(FaultKind::Fail, When::Nth(2))], 7);
        assert_eq!(faults.next(LANE, SimTime::ZERO), Verdict::SPARED);
        assert_eq!(faults.next(LANE + 1, SimTime::ZERO), Verdict::SPARED);
        assert_eq!(faults.next(LANE, SimTime::ZERO).fate, Fate::Fails);
        assert_eq!(faults.next(LANE, SimTime::ZERO), Verdict::SPARED);
    }

    #[test]
    fn every_third_copy_is_the_third_the_sixth_and_so_on() {
        use Fate::{Completes, Lost};
        let every = |step| [fault(FaultKind::Lose, When::Every(step))];
        assert_eq!(fates(&every(3), 6), [Completes, Completes, Lost, Completes, Completes, Lost]);
        assert_eq!(fates(&every(1), 2), [Lost, Lost]);
        assert_eq!(fates(&every(0), 2), [Completes, Completes]);
    }

    #[test]
    fn a_stretch_of_time_has_its_first_instant_and_not_its_last() {
        let fate_at = |until, ns| {
            let spec = fault(FaultKind::Corrupt, When::From { at: at(10), until });
            Faults::new(&[spec], 7).next(LANE, at(ns)).fate
        };
        assert_eq!(
            [9, 10, 19, 20].map(|ns| fate_at(Some(at(20)), ns)),
            [Fate::Completes, Fate::Corrupt, Fate::Corrupt, Fate::Completes]
        );
        assert_eq!([9, u64::MAX].map(|ns| fate_at(None, ns)), [Fate::Completes, Fate::Corrupt]);
    }

    #[test]
    fn the_first_fault_that_ends_a_copy_decides_how() {
        let always = When::Every(1);
        let [fail, lose, corrupt] =
            [FaultKind::Fail, FaultKind::Lose, FaultKind::Corrupt].map(|kind| fault(kind, always));
        assert_eq!(fates(&[lose, fail, corrupt], 1), [Fate::Lost]);
        assert_eq!(fates(&[corrupt, lose, fail], 1), [Fate::Corrupt]);
        let second = fault(FaultKind::Corrupt, When::Nth(2));
        assert_eq!(fates(&[second, fail], 2), [Fate::Fails, Fate::Corrupt]);
    }

    #[test]
    fn stalls_and_slow_downs_add_up_and_leave_the_fate_alone() {
        let always = When::Every(1);
        let stall = |ns| fault(FaultKind::Stall(Span::from_ns(ns)), always);
        let slow = |times_milli| fault(FaultKind::SlowDown { times_milli }, always);
        let next = |specs: &[FaultSpec]| Faults::new(specs, 7).next(LANE, SimTime::ZERO);

        let both = next(&[stall(5), slow(2000), fault(FaultKind::Fail, always), slow(1500), stall(7)]);
        assert_eq!(both, Verdict { fate: Fate::Fails, stall: Span::from_ns(12), slow_milli: 2500 });
        assert_eq!(next(&[slow(400), slow(1000)]), Verdict::SPARED, "nothing makes a copy faster");
        let hostile = next(&[stall(u64::MAX), stall(1), slow(u32::MAX), slow(u32::MAX)]);
        assert_eq!(hostile.stall, Span::from_ns(u64::MAX));
        assert_eq!(hostile.slow_milli, u32::MAX);
    }

    #[test]
    fn a_rate_is_met_and_its_ends_are_certain() {
        let failed = |per_million| {
            let drawn = fates(&[fault(FaultKind::Fail, When::Rate { per_million })], 20_000);
            drawn.iter().filter(|&&fate| fate == Fate::Fails).count()
        };
        assert_eq!(failed(0), 0);
        assert_eq!(failed(1_000_000), 20_000);
        // 5000 expected; three standard deviations are 184.
        assert!((4816..5184).contains(&failed(250_000)), "{}", failed(250_000));
    }

    #[test]
    fn two_faults_draw_each_for_itself() {
        let half = When::Rate { per_million: 500_000 };
        let specs = [fault(FaultKind::Fail, half), fault(FaultKind::Stall(Span::from_ns(1)), half)];
        let mut faults = Faults::new(&specs, 7);
        let both = (0..1000).map(|_| faults.next(LANE, SimTime::ZERO));
        let both = both.filter(|verdict| verdict.fate == Fate::Fails && verdict.stall > Span::ZERO).count();
        // 250 expected; three standard deviations are 41.
        assert!((209..291).contains(&both), "{both}");
    }

    #[test]
    fn a_fault_elsewhere_moves_no_draw() {
        let chance = fault(FaultKind::Fail, When::Rate { per_million: 300_000 });
        let other_chance = fault(FaultKind::Lose, When::Rate { per_million: 500_000 });
        let other_lane = FaultSpec { lane: 0, ..other_chance };
        let failed = |specs: &[FaultSpec]| -> Vec<bool> {
            fates(specs, 200).into_iter().map(|fate| fate == Fate::Fails).collect()
        };
        let alone = failed(&[chance]);
        assert_eq!(alone, failed(&[chance, other_chance]));
        assert_eq!(alone, failed(&[chance, other_lane]));
        // A fault that always ends the copy first hides the draw, but takes it all the same.
        let mut hidden = Faults::new(&[fault(FaultKind::Stall(Span::ZERO), When::Every(1)), chance], 7);
        let mut hiding = Faults::new(&[fault(FaultKind::Lose, When::Nth(1)), chance], 7);
        assert_eq!(hiding.next(LANE, SimTime::ZERO).fate, Fate::Lost);
        hidden.next(LANE, SimTime::ZERO);
        for _ in 0..200 {
            assert_eq!(hidden.next(LANE, SimTime::ZERO), hiding.next(LANE, SimTime::ZERO));
        }
    }

    #[test]
    fn a_clone_goes_on_the_same_and_a_seed_draws_its_own() {
        let specs = [fault(FaultKind::Fail, When::Rate { per_million: 500_000 })];
        let mut faults = Faults::new(&specs, 7);
        faults.next(LANE, SimTime::ZERO);
        let mut copy = faults.clone();
        let drawn = |faults: &mut Faults| -> Vec<Fate> {
            (0..100).map(|_| faults.next(LANE, SimTime::ZERO).fate).collect()
        };
        assert_eq!(drawn(&mut faults), drawn(&mut copy));
        assert_ne!(drawn(&mut Faults::new(&specs, 7)), drawn(&mut Faults::new(&specs, 8)));
    }

    #[test]
    fn a_lane_that_does_not_exist_is_spared() {
        let specs = [FaultSpec { lane: u8::MAX, kind: FaultKind::Fail, when: When::Every(1) }];
        assert_eq!(Faults::new(&specs, 7).next(u8::MAX, SimTime::ZERO), Verdict::SPARED);
    }
}
