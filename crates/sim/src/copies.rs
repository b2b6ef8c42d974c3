//! What the world does with copies between tiers: they cross contended links, and some of them go wrong.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use tierscope_engine::{CopyFailure, CopyPlan, Lane};
use tierscope_scenario::{LinkRate, LinkRates, Scenario};
use tierscope_units::{SimTime, Span, TransferId};

use crate::fault::{Fate, Faults};
use crate::link::{Direction, Link, LinkSpec, Rate};

/// Links between tiers, by [`link_of`].
const LINKS: usize = 3;

/// Copies under way and the links that they cross.
#[derive(Clone)]
pub(crate) struct Copies {
    links: [Link; LINKS],
    faults: Faults,
    bytes_per_block: u64,
    /// By copy: its link, and how it will end.
    under_way: BTreeMap<TransferId, (usize, Fate)>,
    /// Copies that have ended and are not reported yet, the next one last.
    ended: Vec<TransferId>,
    /// By link, when something changes on it next: asked far more often than it changes.
    next: [Option<SimTime>; LINKS],
}

/// How a link is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkUse {
    /// Its name in scenarios.
    pub name: &'static str,
    /// To the slower tier.
    pub down: DirectionUse,
    /// To the faster tier.
    pub up: DirectionUse,
}

/// How one direction of a link is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectionUse {
    /// Copies whose bytes are crossing.
    pub copies: u32,
    /// Bytes that have crossed so far.
    pub moved_bytes: u64,
    /// Time during which something crossed so far.
    pub busy: Span,
}

/// The link that a lane crosses: PCIe, disk, object store.
const fn link_of(lane: Lane) -> usize {
    match lane {
        Lane::G1ToG2 | Lane::G2ToG1 => 0,
        Lane::G2ToG3 | Lane::G3ToG2 => 1,
        Lane::G2ToG4 | Lane::G4ToG2 => 2,
    }
}

fn spec_of(rates: &LinkRates) -> LinkSpec {
    let rate = |rate: LinkRate| Rate {
        alone_bytes_per_s: NonZeroU64::new(rate.alone_bytes_per_s).unwrap_or(NonZeroU64::MIN),
        both_bytes_per_s: NonZeroU64::new(rate.both_bytes_per_s).unwrap_or(NonZeroU64::MIN),
        latency: rate.latency,
    };
    LinkSpec { down: rate(rates.down), up: rate(rates.up) }
}

impl Copies {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let links = scenario.links;
        Self {
            links: [links.pcie, links.disk, links.object].map(|rates| Link::new(spec_of(&rates))),
            faults: Faults::new(&scenario.faults, scenario.seed),
            bytes_per_block: scenario.kv_bytes_per_block,
            under_way: BTreeMap::new(),
            ended: Vec::new(),
            next: [None; LINKS],
        }
    }

    /// Whether a copy is under way.
    pub(crate) fn is_under_way(&self, transfer: TransferId) -> bool {
        self.under_way.contains_key(&transfer)
    }

    /// A copy begins.
    pub(crate) fn start(&mut self, now: SimTime, plan: &CopyPlan) {
        let verdict = self.faults.next(plan.lane.index() as u8, now);
        let bytes = u128::from(plan.blocks) * u128::from(self.bytes_per_block);
        let slowed = bytes * u128::from(verdict.slow_milli) / 1_000;
        let bytes = u64::try_from(slowed).unwrap_or(u64::MAX);
        let direction = if plan.lane.is_down() { Direction::Down } else { Direction::Up };
        let link = link_of(plan.lane);
        self.links[link].start(now, plan.transfer, direction, bytes, verdict.stall);
        self.under_way.insert(plan.transfer, (link, verdict.fate));
        self.look_ahead(link);
    }

    /// A copy that is under way when nothing will happen any more: its end is past the end of representable time.
    pub(crate) fn endless(&self) -> Option<TransferId> {
        self.under_way.keys().next().copied()
    }

    /// Whether what goes wrong with copies may change by itself.
    pub(crate) fn may_change(&self, now: SimTime) -> bool {
        self.faults.may_change(now)
    }

    /// Nobody wants a copy's end any more.
    pub(crate) fn cancel(&mut self, now: SimTime, transfer: TransferId) {
        if let Some((link, _)) = self.under_way.remove(&transfer) {
            self.links[link].cancel(now, transfer);
            self.look_ahead(link);
        }
    }

    /// When something changes on a link.
    pub(crate) fn next_time(&self) -> Option<SimTime> {
        self.next.iter().copied().flatten().min()
    }

    fn look_ahead(&mut self, link: usize) {
        self.next[link] = self.links[link].next_time();
    }

    /// The next copy that has ended at `now`, in the order of their numbers, with how.
    pub(crate) fn pop_at(&mut self, now: SimTime) -> Option<(TransferId, Result<(), CopyFailure>)> {
        if self.ended.is_empty() && self.next_time().is_some_and(|next| next <= now) {
            let mut ended = Vec::new();
            for link in 0..LINKS {
                if self.next[link].is_some_and(|next| next <= now) {
                    self.links[link].advance(now, &mut ended);
                    self.look_ahead(link);
                }
            }
            ended.sort_unstable();
            self.ended.extend(ended.iter().rev().map(|(_, transfer)| *transfer));
        }
        while let Some(transfer) = self.ended.pop() {
            match self.under_way.remove(&transfer) {
                Some((_, Fate::Completes)) => return Some((transfer, Ok(()))),
                Some((_, Fate::Fails)) => return Some((transfer, Err(CopyFailure::Executor))),
                Some((_, Fate::Corrupt)) => return Some((transfer, Err(CopyFailure::Corrupt))),
                // Its end is never reported; the lane's time-out has to notice.
                Some((_, Fate::Lost)) | None => {}
            }
        }
        None
    }

    /// How the links are used, for charts.
    pub(crate) fn use_of_links(&self) -> [LinkUse; LINKS] {
        let of = |link: &Link, direction| DirectionUse {
            copies: link.in_flight(direction),
            moved_bytes: link.moved_bytes(direction),
            busy: link.busy(direction),
        };
        let names = ["pcie", "disk", "object"];
        [0, 1, 2].map(|at: usize| LinkUse {
            name: names[at],
            down: of(&self.links[at], Direction::Down),
            up: of(&self.links[at], Direction::Up),
        })
    }
}
