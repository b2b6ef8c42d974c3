//! The link twice more, dumber: what the fast one must agree with.
//!
//! [`stepwise`] takes the rules word for word and gives every transfer its bytes at every change, in exact
//! integers. [`fluid`] knows no nanoseconds: transfers end at the fractions of one at which they would.

use std::collections::BTreeMap;

use tierscope_units::time::NS_PER_S;
use tierscope_units::{SimTime, TransferId};

use super::{Direction, LinkSpec, Rate};

/// What is done to a link. Transfers are numbered in the order of their starts, from 0.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Start { direction: Direction, bytes: u64, extra_ns: u64 },
    Cancel { id: u64 },
}

/// By time.
pub(super) type Script = Vec<(u64, Act)>;

/// At most this many transfers at once: each of 1 to 10 divides [`PARTS`].
pub(super) const MOST: usize = 10;
const PARTS: u128 = 2520;

struct Transfer {
    direction: Direction,
    joins: Option<u64>,
    shares: bool,
    /// In bytes ÷ (PARTS × 10⁹), so that an n-th of what a rate gives in a nanosecond is a whole number.
    left: u128,
}

/// Every end of a script, by time and then id, by the rules of the link: an end is seen at a whole nanosecond.
pub(super) fn stepwise(spec: LinkSpec, script: &Script) -> Vec<(SimTime, TransferId)> {
    let mut world = World { spec, now: 0, on: BTreeMap::new(), ended: Vec::new() };
    let mut started = 0;
    for &(at, act) in script {
        world.run_until(at);
        match act {
            Act::Start { direction, bytes, extra_ns } => {
                world.start(started, direction, bytes, extra_ns);
                started += 1;
            }
            Act::Cancel { id } => {
                world.on.remove(&id);
            }
        }
    }
    world.run_until(u64::MAX);
    let mut ended: Vec<_> =
        world.ended.iter().map(|&(at, id)| (SimTime::from_ns(at), TransferId(id))).collect();
    ended.sort_unstable();
    ended
}

struct World {
    spec: LinkSpec,
    now: u64,
    on: BTreeMap<u64, Transfer>,
    ended: Vec<(u64, u64)>,
}

impl World {
    fn start(&mut self, id: u64, direction: Direction, bytes: u64, extra_ns: u64) {
        let latency = self.rate(direction).latency.as_ns().checked_add(extra_ns);
        let joins = latency.and_then(|latency| self.now.checked_add(latency));
        let left = u128::from(bytes) * PARTS * u128::from(NS_PER_S);
        self.on.insert(id, Transfer { direction, joins, shares: false, left });
        self.run_until(self.now);
    }

    fn run_until(&mut self, until: u64) {
        while let Some(at) = self.next().filter(|at| *at <= until) {
            self.pass(at);
            for transfer in self.on.values_mut() {
                transfer.shares |= transfer.joins.is_some_and(|joins| joins <= at);
            }
            let over = |transfer: &Transfer| transfer.shares && transfer.left == 0;
            self.ended.extend(self.on.iter().filter(|(_, t)| over(t)).map(|(id, _)| (at, *id)));
            self.on.retain(|_, transfer| !over(transfer));
        }
        self.pass(until);
    }

    fn next(&self) -> Option<u64> {
        let of = |transfer: &Transfer| match transfer.shares {
            false => transfer.joins,
            true => {
                let ns = u64::try_from(transfer.left.div_ceil(self.each_per_ns(transfer.direction)));
                self.now.checked_add(ns.ok()?)
            }
        };
        self.on.values().filter_map(of).min()
    }

    fn pass(&mut self, until: u64) {
        let ns = u128::from(until.max(self.now) - self.now);
        let each =
            [Direction::Down, Direction::Up].map(|direction| ns.saturating_mul(self.each_per_ns(direction)));
        for transfer in self.on.values_mut().filter(|transfer| transfer.shares) {
            transfer.left = transfer.left.saturating_sub(each[transfer.direction as usize]);
        }
        self.now = self.now.max(until);
    }

    fn each_per_ns(&self, direction: Direction) -> u128 {
        let sharing = |one| self.on.values().filter(|t| t.shares && t.direction == one).count();
        let (down, up) = (sharing(Direction::Down), sharing(Direction::Up));
        let rate = self.rate(direction);
        let bytes_per_s = if down > 0 && up > 0 { rate.both_bytes_per_s } else { rate.alone_bytes_per_s };
        let count = if direction == Direction::Down { down } else { up };
        assert!(count <= MOST);
        u128::from(bytes_per_s.get()) * PARTS / (count.max(1) as u128)
    }

    fn rate(&self, direction: Direction) -> Rate {
        if direction == Direction::Down { self.spec.down } else { self.spec.up }
    }
}

/// When each transfer ends that begins to share at a given nanosecond, with a given size: in nanoseconds, rounded
/// to the next whole one in the end only.
pub(super) fn fluid(bytes_per_s: u64, transfers: &[(u64, u64)]) -> Vec<u64> {
    // What each lacks, in bytes × 10⁹, and the time in nanoseconds × bytes per second: one direction moves one of
    // the former in one of the latter.
    let mut left: Vec<Fraction> = transfers
        .iter()
        .map(|(_, bytes)| Fraction::whole(i128::from(*bytes) * i128::from(NS_PER_S)))
        .collect();
    let joins: Vec<Fraction> =
        transfers.iter().map(|(at, _)| Fraction::whole(i128::from(*at) * i128::from(bytes_per_s))).collect();
    let mut ends: Vec<Option<Fraction>> = vec![None; transfers.len()];
    let mut now = Fraction::whole(0);
    while ends.contains(&None) {
        let sharing: Vec<usize> =
            (0..left.len()).filter(|&i| ends[i].is_none() && joins[i].at_most(now)).collect();
        let count = sharing.len() as i128;
        let end = sharing.iter().map(|&i| now.plus(left[i].times(count))).reduce(Fraction::lesser);
        let join = joins.iter().copied().filter(|join| !join.at_most(now)).reduce(Fraction::lesser);
        let next = [end, join].into_iter().flatten().reduce(Fraction::lesser).expect("not all have ended");
        let each = next.minus(now);
        for i in sharing {
            left[i] = left[i].minus(each.over(count));
            if left[i].at_most(Fraction::whole(0)) {
                ends[i] = Some(next);
            }
        }
        now = next;
    }
    ends.into_iter().flatten().map(|end| end.over(i128::from(bytes_per_s)).rounded_up()).collect()
}

/// An exact fraction, reduced, with a positive denominator. Out of range is a failed test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction(i128, i128);

impl Fraction {
    fn whole(number: i128) -> Self {
        Self(number, 1)
    }

    fn reduced(upper: Option<i128>, lower: Option<i128>) -> Self {
        let (upper, lower) = upper.zip(lower).expect("fractions stay in range");
        let (mut a, mut b) = (upper.abs(), lower);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Self(upper / a, lower / a)
    }

    fn plus(self, other: Self) -> Self {
        let cross = self.0.checked_mul(other.1).zip(other.0.checked_mul(self.1));
        Self::reduced(cross.and_then(|(a, b)| a.checked_add(b)), self.1.checked_mul(other.1))
    }

    fn minus(self, other: Self) -> Self {
        self.plus(Self(-other.0, other.1))
    }

    fn times(self, factor: i128) -> Self {
        Self::reduced(self.0.checked_mul(factor), Some(self.1))
    }

    fn over(self, divisor: i128) -> Self {
        Self::reduced(Some(self.0), self.1.checked_mul(divisor))
    }

    fn at_most(self, other: Self) -> bool {
        self.minus(other).0 <= 0
    }

    fn lesser(self, other: Self) -> Self {
        if self.at_most(other) { self } else { other }
    }

    fn rounded_up(self) -> u64 {
        u64::try_from((self.0 + self.1 - 1) / self.1).expect("times stay in range")
    }
}
