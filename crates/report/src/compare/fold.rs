//! Two streams of hashes, compared as they come: in order, or as heaps.
//!
//! Each keeps only what one side has said and the other has not yet. That is bounded: past the bound a stream is
//! still compared by sums of its hashes, and only the place of the first difference is given up.

use std::collections::{BTreeMap, VecDeque};

use super::Side;

/// Entries that one side may be ahead of the other.
const AHEAD_MAX: usize = 1 << 20;

/// Where two streams differ first: the number of the fact in each, from 0; `None` where that one has no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Place {
    /// In A.
    pub a: Option<u64>,
    /// In B.
    pub b: Option<u64>,
}

impl Place {
    /// The fact in one of them.
    pub fn of(self, side: Side) -> Option<u64> {
        match side {
            Side::A => self.a,
            Side::B => self.b,
        }
    }

    fn one(side: Side, fact: u64) -> Self {
        match side {
            Side::A => Self { a: Some(fact), b: None },
            Side::B => Self { a: None, b: Some(fact) },
        }
    }

    /// Smallest first.
    pub(super) fn rank(self) -> u64 {
        self.a.unwrap_or(u64::MAX).min(self.b.unwrap_or(u64::MAX))
    }
}

/// What came of comparing two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Verdict {
    /// Whether both said the same.
    pub equal: bool,
    /// Entries of A and of B.
    pub entries: [u64; 2],
    /// The first difference, where it could be found in bounded memory.
    pub first: Option<Place>,
}

/// Sums over one side of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    entries: u64,
    chain: u64,
}

/// Two streams that should say the same in the same order.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    sums: [Sum; 2],
    /// What one side has said and the other has not yet; hash and fact.
    ahead: VecDeque<(u64, u64)>,
    leader: Side,
    first: Option<Place>,
    overflowed: bool,
}

impl Ordered {
    pub(super) fn take(&mut self, side: Side, hash: u64, fact: u64) {
        let sum = &mut self.sums[side as usize];
        sum.entries += 1;
        sum.chain = (sum.chain.rotate_left(5) ^ hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if self.first.is_some() || self.overflowed {
            return;
        }
        if self.ahead.is_empty() {
            self.leader = side;
        }
        if self.leader == side {
            self.ahead.push_back((hash, fact));
            self.overflowed = self.ahead.len() > AHEAD_MAX;
        } else if let Some((other, other_fact)) = self.ahead.pop_front()
            && other != hash
        {
            self.first = Some(match side {
                Side::A => Place { a: Some(fact), b: Some(other_fact) },
                Side::B => Place { a: Some(other_fact), b: Some(fact) },
            });
        }
        if self.first.is_some() || self.overflowed {
            self.ahead = VecDeque::new();
        }
    }

    pub(super) fn finish(&self) -> Verdict {
        let left = self.ahead.front().map(|(_, fact)| Place::one(self.leader, *fact));
        let [a, b] = self.sums;
        Verdict { equal: a == b, entries: [a.entries, b.entries], first: self.first.or(left) }
    }
}

/// Two streams that should say the same in any order.
#[derive(Debug, Default)]
pub(super) struct Heap {
    sums: [Sum; 2],
    /// By hash: how often A said it more than B, and the fact that began the imbalance.
    balance: BTreeMap<u64, (i64, u64)>,
    overflowed: bool,
}

impl Heap {
    pub(super) fn take(&mut self, side: Side, hash: u64, fact: u64) {
        let sum = &mut self.sums[side as usize];
        sum.entries += 1;
        sum.chain = sum.chain.wrapping_add(hash);
        if self.overflowed {
            return;
        }
        let (balance, _) = self.balance.entry(hash).or_insert((0, fact));
        *balance += if side == Side::A { 1 } else { -1 };
        if *balance == 0 {
            self.balance.remove(&hash);
        }
        if self.balance.len() > AHEAD_MAX {
            self.overflowed = true;
            self.balance = BTreeMap::new();
        }
    }

    pub(super) fn finish(&self) -> Verdict {
        let least = |positive: bool| {
            let more = self.balance.values().filter(|(balance, _)| (*balance > 0) == positive);
            more.map(|(_, fact)| *fact).min()
        };
        let [a, b] = self.sums;
        let first = (!self.balance.is_empty()).then(|| Place { a: least(true), b: least(false) });
        Verdict { equal: a == b, entries: [a.entries, b.entries], first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(a: &[u64], b: &[u64], a_first: bool) -> Verdict {
        let mut fold = Ordered::default();
        let sides = if a_first { [(Side::A, a), (Side::B, b)] } else { [(Side::B, b), (Side::A, a)] };
        for (side, hashes) in sides {
            hashes.iter().enumerate().for_each(|(fact, hash)| fold.take(side, *hash, fact as u64));
        }
        fold.finish()
    }

    #[test]
    fn order_counts_and_who_comes_first_does_not() {
        for (a, b, first) in [
            (vec![1, 2, 3], vec![1, 2, 3], None),
            (vec![1, 2, 3], vec![1, 3, 2], Some(Place { a: Some(1), b: Some(1) })),
            (vec![1, 2], vec![1, 2, 3], Some(Place { a: None, b: Some(2) })),
            (vec![], vec![], None),
        ] {
            for a_first in [true, false] {
                let verdict = ordered(&a, &b, a_first);
                assert_eq!(verdict.first, first, "{a:?} {b:?}");
                assert_eq!(verdict.equal, first.is_none(), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_heap_has_no_order_but_counts() {
        let mut fold = Heap::default();
        for (side, hash, fact) in [(Side::A, 7, 0), (Side::A, 8, 1), (Side::B, 8, 0), (Side::B, 7, 1)] {
            fold.take(side, hash, fact);
        }
        assert!(fold.finish().equal);
        fold.take(Side::B, 7, 2);
        let verdict = fold.finish();
        assert!(!verdict.equal);
        assert_eq!(verdict.first, Some(Place { a: None, b: Some(2) }));
        assert_eq!(verdict.entries, [2, 3]);
    }

    #[test]
    fn past_the_bound_the_verdict_stands_and_the_place_is_given_up() {
        let many: Vec<u64> = (0..AHEAD_MAX as u64 + 2).collect();
        assert!(ordered(&many, &many, true).equal);
        let mut other = many.clone();
        other[3] = 0;
        let verdict = ordered(&many, &other, true);
        assert_eq!((verdict.equal, verdict.first), (false, None));
    }
}
