//! A link between tiers or workers: what moves over it shares it fairly (rule L7).
//!
//! A link has two directions. In each, n transfers get an n-th of the direction's rate, after a latency that each
//! spends first. A direction has one rate for when it is alone and one for when the other direction is busy too:
//! the rate changes at the very instant at which the other direction becomes busy or idle.
//!
//! Whatever happens, happens at a whole nanosecond: a transfer ends at the first one at which its last byte has
//! crossed, and holds its share until then. State changes only there (a latency ends, a transfer ends or is
//! cancelled), so the answer does not depend on how often the link is asked. Each change costs O(log n).

mod share;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;

use tierscope_units::{SimTime, Span, TransferId};

use share::{End, Share};

/// How fast a direction of a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Bytes per second while the other direction is idle.
    pub(crate) alone_bytes_per_s: NonZeroU64,
    /// Bytes per second while the other direction is busy.
    pub(crate) both_bytes_per_s: NonZeroU64,
    /// What a transfer waits before its bytes begin to cross.
    pub(crate) latency: Span,
}

impl Rate {
    /// A direction that does not mind the other one.
    #[cfg(test)]
    pub(crate) const fn uncoupled(bytes_per_s: NonZeroU64, latency: Span) -> Self {
        Self { alone_bytes_per_s: bytes_per_s, both_bytes_per_s: bytes_per_s, latency }
    }
}

/// How fast a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkSpec {
    /// Away from the GPU: offloads.
    pub(crate) down: Rate,
    /// Towards the GPU: onboards.
    pub(crate) up: Rate,
}

/// Which way a transfer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    /// Away from the GPU.
    Down,
    /// Towards the GPU.
    Up,
}

/// A transfer that is not over.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    direction: Direction,
    bytes: u64,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Its latency ends then; `None` is past the end of representable time.
    Waits(Option<SimTime>),
    /// Its bytes are crossing.
    Shares(End),
}

/// A link and the transfers on it.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    spec: LinkSpec,
    clock: SimTime,
    down: Share,
    up: Share,
    transfers: BTreeMap<TransferId, Transfer>,
    /// The transfers whose latency ends within representable time, by its end.
    waiting: BTreeSet<(SimTime, TransferId)>,
    /// What has ended and was not told yet.
    ended: Vec<(SimTime, TransferId)>,
}

impl Link {
    /// An idle link.
    pub(crate) fn new(spec: LinkSpec) -> Self {
        Self {
            spec,
            clock: SimTime::ZERO,
            down: Share::new(spec.down.alone_bytes_per_s),
            up: Share::new(spec.up.alone_bytes_per_s),
            transfers: BTreeMap::new(),
            waiting: BTreeSet::new(),
            ended: Vec::new(),
        }
    }

    /// Other rates from `now` on, also for what is crossing; the latency only for transfers to come.
    pub(crate) fn set_spec(&mut self, now: SimTime, spec: LinkSpec) {
        self.run_until(now);
        self.spec = spec;
        self.couple(self.clock);
    }

    /// A transfer begins: `bytes` cross after the direction's latency and `extra_latency`. False, and nothing
    /// changes, when `id` is on the link already. A transfer whose end is past representable time never ends.
    ///
    /// `now` before an instant that the link has been told of counts as that instant, here and below.
    pub(crate) fn start(
        &mut self,
        now: SimTime,
        id: TransferId,
        direction: Direction,
        bytes: u64,
        extra_latency: Span,
    ) -> bool {
        self.run_until(now);
        if self.transfers.contains_key(&id) {
            return false;
        }
        let latency = self.rate(direction).latency.checked_add(extra_latency);
        let joins = latency.and_then(|latency| self.clock.checked_add(latency));
        self.transfers.insert(id, Transfer { direction, bytes, phase: Phase::Waits(joins) });
        if let Some(at) = joins {
            self.waiting.insert((at, id));
            self.run_until(self.clock);
        }
        true
    }

    /// A transfer leaves at `now` and its share is free at once. The bytes of it that had crossed, in whole and
    /// in part; `None` when it is not on the link, also when it ended at or before `now`: that is told as an end.
    pub(crate) fn cancel(&mut self, now: SimTime, id: TransferId) -> Option<u64> {
        self.run_until(now);
        let transfer = self.transfers.remove(&id)?;
        match transfer.phase {
            Phase::Waits(joins) => {
                if let Some(at) = joins {
                    self.waiting.remove(&(at, id));
                }
                Some(0)
            }
            Phase::Shares(end) => {
                let now = self.clock;
                let crossed = self.share_mut(transfer.direction).leave(now, id, transfer.bytes, end);
                self.couple(now);
                Some(crossed)
            }
        }
    }

    /// The next instant at which a latency or a transfer ends; that of an end that [`Link::advance`] has still
    /// to tell, if there is one.
    pub(crate) fn next_time(&self) -> Option<SimTime> {
        self.ended.first().map(|(at, _)| *at).or_else(|| self.next_change())
    }

    /// Adds to `ended` every transfer that ended at or before `now` and was not told yet, by time and then id.
    pub(crate) fn advance(&mut self, now: SimTime, ended: &mut Vec<(SimTime, TransferId)>) {
        self.run_until(now);
        // By time already; at one instant both directions may have ended something, in several changes.
        self.ended.sort_unstable();
        ended.append(&mut self.ended);
    }

    /// Transfers whose bytes are crossing.
    pub(crate) fn in_flight(&self, direction: Direction) -> u32 {
        self.share(direction).count()
    }

    /// Bytes that have crossed: those of the transfers that ended, what [`Link::cancel`] returned, and what has
    /// crossed of the others up to the last instant that the link was told of, rounded down in the end.
    /// `u64::MAX` if there are more.
    pub(crate) fn moved_bytes(&self, direction: Direction) -> u64 {
        self.share(direction).moved_bytes(self.clock)
    }

    /// How long bytes have been crossing, up to the last instant that the link was told of.
    pub(crate) fn busy(&self, direction: Direction) -> Span {
        self.share(direction).busy(self.clock)
    }

    /// Applies every change up to `now`, each at its own instant.
    fn run_until(&mut self, now: SimTime) {
        while let Some(at) = self.next_change().filter(|at| *at <= now) {
            self.change(at);
        }
        self.clock = self.clock.max(now);
    }

    fn next_change(&self) -> Option<SimTime> {
        let joins = self.waiting.first().map(|(at, _)| *at);
        [joins, self.down.next_end(), self.up.next_end()].into_iter().flatten().min()
    }

    /// What changes at `at`, which is the instant of the next change: joins first, so that a transfer without
    /// bytes ends as it joins.
    fn change(&mut self, at: SimTime) {
        while let Some((_, id)) = self.waiting.first().copied().filter(|(joins, _)| *joins <= at) {
            self.waiting.pop_first();
            self.join(at, id);
        }
        for share in [&mut self.down, &mut self.up] {
            while let Some(id) = share.pop_ended(at) {
                self.transfers.remove(&id);
                self.ended.push((at, id));
            }
        }
        self.couple(at);
    }

    fn join(&mut self, at: SimTime, id: TransferId) {
        if let Some(transfer) = self.transfers.get_mut(&id) {
            let share = match transfer.direction {
                Direction::Down => &mut self.down,
                Direction::Up => &mut self.up,
            };
            transfer.phase = Phase::Shares(share.join(at, id, transfer.bytes));
        }
    }

    /// Each direction gets the rate that fits what the other one does.
    fn couple(&mut self, at: SimTime) {
        let pick = |rate: Rate, other: &Share| match other.count() {
            0 => rate.alone_bytes_per_s,
            _ => rate.both_bytes_per_s,
        };
        let (down, up) = (pick(self.spec.down, &self.up), pick(self.spec.up, &self.down));
        self.down.set_rate(at, down);
        self.up.set_rate(at, up);
    }

    fn rate(&self, direction: Direction) -> Rate {
        match direction {
            Direction::Down => self.spec.down,
            Direction::Up => self.spec.up,
        }
    }

    fn share(&self, direction: Direction) -> &Share {
        match direction {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        }
    }

    fn share_mut(&mut self, direction: Direction) -> &mut Share {
        match direction {
            Direction::Down => &mut self.down,
            Direction::Up => &mut self.up,
        }
    }
}
