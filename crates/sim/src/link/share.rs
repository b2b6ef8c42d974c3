//! One direction of a link: processor sharing in virtual time.
//!
//! Virtual time is what each transfer has received since the direction became busy, in bytes. A transfer that
//! joins at virtual time v with b bytes ends at v + b, whatever others do: they change only how fast virtual time
//! runs. So the transfers stand in the order of their ends, and a change moves none of them.
//!
//! Virtual time is fixed point and computed from the last change: it is rounded at changes alone, and up, so that
//! an end that falls on a whole nanosecond is not pushed to the next. It gains less than 2⁻⁶² byte per change.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use tierscope_units::time::NS_PER_S;
use tierscope_units::{SimTime, Span, TransferId};

/// Binary places of virtual time. With them the largest size, 2⁶⁴ bytes, is below 2¹²⁶.
const PLACES: u32 = 62;
const ONE_BYTE: u128 = 1 << PLACES;
const FRACTION: u128 = ONE_BYTE - 1;
/// A join at or past this virtual time starts it anew, so that no end is past 2¹²⁷.
const TOO_LATE: u128 = 1 << 126;

/// When a transfer ends in the virtual time of its direction, had that never been set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End(u128);

/// The transfers of one direction whose bytes are crossing.
#[derive(Clone, Debug)]
pub(super) struct Share {
    bytes_per_s: NonZeroU64,
    /// When something last changed.
    changed: SimTime,
    /// Virtual time then.
    received: u128,
    /// By the virtual time of their end.
    transfers: BTreeSet<(u128, TransferId)>,
    /// By how much virtual time was set back, all in all; it wraps.
    set_back: u128,
    /// What had crossed at the last change, in 2⁻⁶² byte.
    moved: u128,
    /// How long bytes had been crossing at the last change.
    busy_ns: u64,
}

impl Share {
    pub(super) fn new(bytes_per_s: NonZeroU64) -> Self {
        Self {
            bytes_per_s,
            changed: SimTime::ZERO,
            received: 0,
            transfers: BTreeSet::new(),
            set_back: 0,
            moved: 0,
            busy_ns: 0,
        }
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.transfers.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn join(&mut self, now: SimTime, id: TransferId, bytes: u64) -> End {
        self.settle(now);
        if self.transfers.is_empty() {
            self.received = 0;
        } else if self.received >= TOO_LATE {
            self.start_anew();
        }
        let end = self.received + size(bytes);
        self.transfers.insert((end, id));
        End(end.wrapping_add(self.set_back))
    }

    /// The transfer `id` of `bytes` leaves before its end: how much of it has crossed. A byte that has crossed in
    /// part counts in full, here and in what has moved, so that the two agree and neither ever shrinks.
    pub(super) fn leave(&mut self, now: SimTime, id: TransferId, bytes: u64, end: End) -> u64 {
        self.settle(now);
        let end = end.0.wrapping_sub(self.set_back);
        if !self.transfers.remove(&(end, id)) {
            return 0;
        }
        let left = end.saturating_sub(self.received);
        self.moved = self.moved.saturating_add(left & FRACTION);
        bytes.saturating_sub((left >> PLACES) as u64)
    }

    /// Takes a transfer whose end has come, the lowest id first among equal ends.
    pub(super) fn pop_ended(&mut self, now: SimTime) -> Option<TransferId> {
        self.settle(now);
        let (end, id) = self.transfers.first().copied().filter(|(end, _)| *end <= self.received)?;
        self.transfers.pop_first();
        // The share that it held after its last byte, until the nanosecond was over, moved nothing.
        self.moved = self.moved.saturating_sub(self.received - end);
        Some(id)
    }

    pub(super) fn set_rate(&mut self, now: SimTime, bytes_per_s: NonZeroU64) {
        if self.bytes_per_s != bytes_per_s {
            self.settle(now);
            self.bytes_per_s = bytes_per_s;
        }
    }

    /// The first nanosecond at which virtual time has reached the first end; `None` when nothing is in flight or
    /// that is past the end of time.
    pub(super) fn next_end(&self) -> Option<SimTime> {
        let (end, _) = self.transfers.first()?;
        let Some(before) = end.checked_sub(self.received).and_then(|left| left.checked_sub(1)) else {
            return Some(self.changed);
        };
        // The first whole `ns` with `received_in(ns) > before`. As `received_in` rounds up, that is the first with
        // `rate × ns ÷ slowness > before`. Whole bytes and fraction apart, no product leaves u128.
        let byte_ns =
            (before >> PLACES) * self.slowness() + (((before & FRACTION) * self.slowness()) >> PLACES);
        let ns = byte_ns / u128::from(self.bytes_per_s.get()) + 1;
        self.changed.checked_add(Span::from_ns(u64::try_from(ns).ok()?))
    }

    pub(super) fn moved_bytes(&self, now: SimTime) -> u64 {
        let received = self.received_in(now.since(self.changed));
        let moved = self.moved.saturating_add(self.by_all(received));
        u64::try_from(moved >> PLACES).unwrap_or(u64::MAX)
    }

    pub(super) fn busy(&self, now: SimTime) -> Span {
        let since = if self.transfers.is_empty() { Span::ZERO } else { now.since(self.changed) };
        Span::from_ns(self.busy_ns.saturating_add(since.as_ns()))
    }

    /// Brings virtual time to `now`. Only a change may call this: here it is rounded.
    fn settle(&mut self, now: SimTime) {
        let since = now.since(self.changed);
        if since == Span::ZERO {
            return;
        }
        let received = self.received_in(since);
        self.busy_ns = self.busy(now).as_ns();
        self.moved = self.moved.saturating_add(self.by_all(received));
        self.received = self.received.saturating_add(received);
        self.changed = now;
    }

    /// What all transfers together receive when each receives so much.
    fn by_all(&self, received: u128) -> u128 {
        received.saturating_mul(u128::from(self.count()))
    }

    /// What each transfer receives in `span` after the last change, in 2⁻⁶² byte, rounded up.
    fn received_in(&self, span: Span) -> u128 {
        if self.transfers.is_empty() || span == Span::ZERO {
            return 0;
        }
        let byte_ns = u128::from(self.bytes_per_s.get()) * u128::from(span.as_ns());
        let whole = byte_ns / self.slowness();
        let rest = byte_ns - whole * self.slowness();
        let fraction = (rest << PLACES).div_ceil(self.slowness());
        whole.saturating_mul(ONE_BYTE).saturating_add(fraction)
    }

    /// How many times more slowly than a byte per nanosecond a transfer receives, per byte per second of the
    /// direction. Below 2⁶².
    fn slowness(&self) -> u128 {
        u128::from(self.count()) * u128::from(NS_PER_S)
    }

    /// Makes this instant the zero of virtual time. The order of the ends stays.
    fn start_anew(&mut self) {
        let passed = std::mem::take(&mut self.received);
        self.set_back = self.set_back.wrapping_add(passed);
        let transfers = std::mem::take(&mut self.transfers);
        self.transfers = transfers.into_iter().map(|(end, id)| (end.saturating_sub(passed), id)).collect();
    }
}

const fn size(bytes: u64) -> u128 {
    (bytes as u128) << PLACES
}
