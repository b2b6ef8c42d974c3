//! What the world does with copies: between the tiers of a worker, and from worker to worker. They cross contended
//! links, and some of them go wrong.
//!
//! Links, by number: a PCIe link for each worker, a disk for each host, the object store, and those that handoffs
//! cross, which are shared as the scenario says (rules H4, L7).

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;

use tierscope_engine::{CopyFailure, CopyPlan, HandoffCopy, Lane, TRANSFERS_PER_WORKER};
use tierscope_scenario::fault::HANDOFF_LANE;
use tierscope_scenario::fleet::{HandoffLink, SharedBy};
use tierscope_scenario::{LinkRate, LinkRates, Scenario, Told};
use tierscope_units::{HandoffId, Idx, PassId, RequestId, SimTime, Span, TransferId, WorkerId};

use crate::fault::{Fate, Faults};
use crate::link::{Direction, Link, LinkSpec, Rate};
use crate::told::Ears;

/// Copies under way and the links that they cross.
#[derive(Clone)]
pub(crate) struct Copies {
    links: Vec<Link>,
    /// By link, when something changes on it next: asked far more often than it changes.
    next: Vec<Option<SimTime>>,
    by_next: BTreeSet<(SimTime, usize)>,
    layout: Layout,
    faults: Faults,
    bytes_per_block: u64,
    handoff_link: Option<HandoffLink>,
    /// By copy: its link, and how it will end.
    under_way: BTreeMap<TransferId, (usize, Fate)>,
    /// Handoffs under way.
    handoffs: BTreeMap<HandoffId, Crossing>,
    /// Copies that have ended and are not reported yet, the next one last.
    ended: Vec<TransferId>,
    /// Where copies are made by somebody else: no link is crossed, and no fault is drawn.
    ears: Option<Ears>,
}

/// Which link is which.
#[derive(Clone, Copy, Debug)]
struct Layout {
    workers: usize,
    hosts: usize,
    workers_per_host: usize,
}

/// A handoff's blocks on their way.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    copy: HandoffCopy,
    /// Of a pipelined one: what is left for after the pass, and what has happened.
    last_layer: Option<LastLayer>,
}

/// The last layer of a pipelined handoff moves when the others have, and the pass that computes it has ended.
#[derive(Clone, Copy, Debug)]
struct LastLayer {
    pass: PassId,
    bytes: u64,
    others_crossed: bool,
    pass_ended: bool,
}

/// What has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// A copy between tiers of a worker.
    Copy(WorkerId, TransferId, Result<(), CopyFailure>),
    /// The blocks of a handoff.
    Handoff(HandoffCopy, Result<(), CopyFailure>),
}

/// How a link is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkUse {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Which of that name: the worker, the host, or the worker at whose side it is.
    pub number: u32,
    /// To the slower tier; of a handoff's link the only one.
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

/// Transfers of handoffs are numbered apart from all others.
const HANDOFF_TRANSFERS: u64 = 1 << 63;

impl Layout {
    fn pcie(self, worker: WorkerId) -> usize {
        worker.index()
    }

    fn disk(self, worker: WorkerId) -> usize {
        self.workers + worker.index() / self.workers_per_host
    }

    fn object(self) -> usize {
        self.workers + self.hosts
    }

    fn handoff(self, side: usize) -> usize {
        self.object() + 1 + side
    }

    /// The link that a lane of a worker crosses.
    fn of(self, lane: Lane, worker: WorkerId) -> usize {
        match lane {
            Lane::G1ToG2 | Lane::G2ToG1 => self.pcie(worker),
            Lane::G2ToG3 | Lane::G3ToG2 => self.disk(worker),
            Lane::G2ToG4 | Lane::G4ToG2 => self.object(),
        }
    }
}

pub(crate) fn spec_of(rates: &LinkRates) -> LinkSpec {
    LinkSpec { down: rate_of(rates.down), up: rate_of(rates.up) }
}

fn rate_of(rate: LinkRate) -> Rate {
    Rate {
        alone_bytes_per_s: NonZeroU64::new(rate.alone_bytes_per_s).unwrap_or(NonZeroU64::MIN),
        both_bytes_per_s: NonZeroU64::new(rate.both_bytes_per_s).unwrap_or(NonZeroU64::MIN),
        latency: rate.latency,
    }
}

impl Copies {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let rates = scenario.links;
        let fleet = scenario.fleet.as_ref();
        let workers = fleet.map_or(1, |fleet| fleet.roles.len());
        let workers_per_host = fleet.map_or(1, |fleet| fleet.workers_per_host.max(1) as usize);
        let hosts = workers.div_ceil(workers_per_host);
        let link = |rates: &LinkRates| Link::new(spec_of(rates));
        let mut links: Vec<Link> = (0..workers).map(|_| link(&rates.pcie)).collect();
        links.extend((0..hosts).map(|_| link(&rates.disk)));
        links.push(link(&rates.object));
        if let Some(fleet) = fleet {
            let rate = rate_of(fleet.handoff_link.rate);
            links.extend((0..workers).map(|_| Link::new(LinkSpec { down: rate, up: rate })));
        }
        Self {
            next: vec![None; links.len()],
            by_next: BTreeSet::new(),
            links,
            layout: Layout { workers, hosts, workers_per_host },
            faults: Faults::new(&scenario.faults, scenario.seed),
            bytes_per_block: scenario.kv_bytes_per_block,
            handoff_link: fleet.map(|fleet| fleet.handoff_link),
            under_way: BTreeMap::new(),
            handoffs: BTreeMap::new(),
            ended: Vec::new(),
            ears: None,
        }
    }

    /// From the beginning, copies end as somebody tells.
    pub(crate) fn listen(&mut self, ears: Ears) {
        self.ears = Some(ears);
    }

    /// Somebody tells that a copy has ended. Where copies are modelled, nobody listens.
    pub(crate) fn hear(&mut self, now: SimTime, told: Told) -> Told {
        match &mut self.ears {
            Some(ears) => ears.hear(now, told),
            None => told,
        }
    }

    /// Whether copies end as somebody tells.
    pub(crate) fn is_told(&self) -> bool {
        self.ears.is_some()
    }

    /// Copies that somebody else makes and has not told the end of.
    pub(crate) fn elsewhere(&self) -> impl Iterator<Item = TransferId> {
        self.ears.iter().flat_map(Ears::under_way)
    }

    /// The links have other rates from `now` on; copies under way keep the latency that they began with.
    pub(crate) fn retune(&mut self, now: SimTime, scenario: &Scenario) {
        let (rates, layout) = (scenario.links, self.layout);
        self.handoff_link = scenario.fleet.as_ref().map(|fleet| fleet.handoff_link);
        for at in 0..self.links.len() {
            let spec = match at {
                at if at < layout.workers => spec_of(&rates.pcie),
                at if at < layout.object() => spec_of(&rates.disk),
                at if at == layout.object() => spec_of(&rates.object),
                _ => match self.handoff_link {
                    Some(link) => LinkSpec { down: rate_of(link.rate), up: rate_of(link.rate) },
                    None => continue,
                },
            };
            self.links[at].set_spec(now, spec);
            self.look_ahead(at);
        }
    }

    /// Whether a copy is under way.
    pub(crate) fn is_under_way(&self, transfer: TransferId) -> bool {
        self.under_way.contains_key(&transfer)
            || self.ears.as_ref().is_some_and(|ears| ears.is_under_way(transfer))
    }

    fn bytes_of(&self, blocks: u32) -> u128 {
        u128::from(blocks) * u128::from(self.bytes_per_block)
    }

    /// A copy begins.
    pub(crate) fn start(&mut self, now: SimTime, plan: &CopyPlan) {
        if let Some(ears) = &mut self.ears {
            return ears.start(plan.transfer);
        }
        let verdict = self.faults.next(plan.lane.index() as u8, now);
        let bytes = slowed(self.bytes_of(plan.blocks), verdict.slow_milli);
        let direction = if plan.lane.is_down() { Direction::Down } else { Direction::Up };
        let link = self.layout.of(plan.lane, plan.worker);
        self.links[link].start(now, plan.transfer, direction, bytes, verdict.stall);
        self.under_way.insert(plan.transfer, (link, verdict.fate));
        self.look_ahead(link);
    }

    /// The blocks of a handoff begin to cross. Layer by layer, all but the last one may go before the pass that
    /// computes the prompt's last part has ended, and each costs the link's latency.
    pub(crate) fn start_handoff(&mut self, now: SimTime, copy: HandoffCopy) {
        let Some(spec) = self.handoff_link else { return };
        let verdict = self.faults.next(HANDOFF_LANE, now);
        let side = match spec.shared_by {
            SharedBy::Source => copy.source.index(),
            SharedBy::Destination => copy.destination.index(),
            SharedBy::All => 0,
        };
        let link = self.layout.handoff(side);
        let bytes = slowed(self.bytes_of(copy.blocks), verdict.slow_milli);
        let layers = u64::from(spec.layers.max(1));
        let mut stall = verdict.stall;
        let mut first = bytes;
        let last_layer = copy.within.filter(|_| layers > 1).map(|pass| {
            let last = bytes / layers;
            first = bytes - last;
            let between = spec.rate.latency.as_ns().saturating_mul(layers - 2);
            stall = Span::from_ns(stall.as_ns().saturating_add(between));
            LastLayer { pass, bytes: last, others_crossed: false, pass_ended: false }
        });
        let transfer = transfer_of(copy.handoff);
        self.links[link].start(now, transfer, Direction::Down, first, stall);
        self.under_way.insert(transfer, (link, verdict.fate));
        self.handoffs.insert(copy.handoff, Crossing { copy, last_layer });
        self.look_ahead(link);
    }

    /// A pass has ended: the last layers of handoffs that moved with it may go.
    pub(crate) fn pass_ended(&mut self, now: SimTime, worker: WorkerId, pass: PassId) {
        if self.handoffs.is_empty() {
            return;
        }
        let mut ready = Vec::new();
        for (&handoff, crossing) in &mut self.handoffs {
            let Some(last) = &mut crossing.last_layer else { continue };
            if crossing.copy.source == worker && last.pass == pass {
                last.pass_ended = true;
                if last.others_crossed {
                    ready.push(handoff);
                }
            }
        }
        for handoff in ready {
            self.send_last_layer(now, handoff);
        }
    }

    fn send_last_layer(&mut self, now: SimTime, handoff: HandoffId) {
        let transfer = transfer_of(handoff);
        let Some(&(link, _)) = self.under_way.get(&transfer) else { return };
        let Some(crossing) = self.handoffs.get_mut(&handoff) else { return };
        let Some(last) = crossing.last_layer.take() else { return };
        self.links[link].start(now, transfer, Direction::Down, last.bytes, Span::ZERO);
        self.look_ahead(link);
    }

    /// Nobody wants a handoff's blocks any more.
    pub(crate) fn cancel_handoff(&mut self, now: SimTime, handoff: HandoffId) {
        self.handoffs.remove(&handoff);
        self.cancel(now, transfer_of(handoff));
    }

    /// A worker is lost, and its copies with it.
    pub(crate) fn forget(&mut self, now: SimTime, worker: WorkerId) {
        let first = worker.index() as u64 * TRANSFERS_PER_WORKER;
        let range = TransferId(first)..TransferId(first + TRANSFERS_PER_WORKER);
        if let Some(ears) = &mut self.ears {
            ears.forget(&range);
        }
        let lost: Vec<TransferId> = self.under_way.range(range).map(|(&transfer, _)| transfer).collect();
        for transfer in lost {
            self.cancel(now, transfer);
        }
    }

    /// Whether blocks of a handoff are on their way, and their end will be reported.
    pub(crate) fn has_handoffs(&self) -> bool {
        self.handoffs.keys().any(|&handoff| self.handoff_ends(handoff))
    }

    /// Whether the end of the copy of this request's handoff will be reported.
    pub(crate) fn handoff_of_ends(&self, request: RequestId) -> bool {
        let mut handoffs = self.handoffs.iter().filter(|(_, crossing)| crossing.copy.request == request);
        handoffs.any(|(&handoff, _)| self.handoff_ends(handoff))
    }

    /// Whether the end of a handoff's copy will be reported.
    pub(crate) fn handoff_ends(&self, handoff: HandoffId) -> bool {
        self.under_way.get(&transfer_of(handoff)).is_some_and(|&(_, fate)| fate != Fate::Lost)
    }

    /// A copy that is under way when nothing will happen any more: its end is past the end of representable time.
    pub(crate) fn endless(&self) -> Option<TransferId> {
        let waits = |transfer: &&TransferId| {
            // The others wait for a pass.
            transfer.0 < HANDOFF_TRANSFERS
                || self
                    .handoffs
                    .get(&HandoffId(transfer.0 - HANDOFF_TRANSFERS))
                    .is_none_or(|crossing| crossing.last_layer.is_none())
        };
        self.under_way.keys().find(waits).copied()
    }

    /// Whether what goes wrong with copies may change by itself.
    pub(crate) fn may_change(&self, now: SimTime) -> bool {
        self.faults.may_change(now)
    }

    /// Nobody wants a copy's end any more.
    pub(crate) fn cancel(&mut self, now: SimTime, transfer: TransferId) {
        if self.ears.as_mut().is_some_and(|ears| ears.cancel(transfer)) {
            return;
        }
        if let Some((link, _)) = self.under_way.remove(&transfer) {
            self.links[link].cancel(now, transfer);
            self.look_ahead(link);
        }
    }

    /// When something changes on a link.
    pub(crate) fn next_time(&self) -> Option<SimTime> {
        let told = self.ears.as_ref().and_then(Ears::next_time);
        let crossed = self.by_next.first().map(|&(at, _)| at);
        told.into_iter().chain(crossed).min()
    }

    fn look_ahead(&mut self, link: usize) {
        let new = self.links[link].next_time();
        let old = std::mem::replace(&mut self.next[link], new);
        if old == new {
            return;
        }
        if let Some(old) = old {
            self.by_next.remove(&(old, link));
        }
        if let Some(new) = new {
            self.by_next.insert((new, link));
        }
    }

    /// The next copy that has ended at `now`, in the order of their numbers, with how.
    pub(crate) fn pop_at(&mut self, now: SimTime) -> Option<Ended> {
        if let Some(told) = self.ears.as_mut().and_then(|ears| ears.pop_at(now)) {
            return Some(Ended::Copy(worker_of(told.transfer), told.transfer, told.end));
        }
        if self.ended.is_empty() && self.next_time().is_some_and(|next| next <= now) {
            let mut ended = Vec::new();
            let mut due: Vec<usize> =
                self.by_next.iter().take_while(|&&(at, _)| at <= now).map(|&(_, link)| link).collect();
            due.sort_unstable();
            for link in due {
                self.links[link].advance(now, &mut ended);
                self.look_ahead(link);
            }
            ended.sort_unstable();
            self.ended.extend(ended.iter().rev().map(|(_, transfer)| *transfer));
        }
        while let Some(transfer) = self.ended.pop() {
            if self.waits_for_last_layer(now, transfer) {
                continue;
            }
            let end = match self.under_way.remove(&transfer) {
                Some((_, Fate::Completes)) => Ok(()),
                Some((_, Fate::Fails)) => Err(CopyFailure::Executor),
                Some((_, Fate::Corrupt)) => Err(CopyFailure::Corrupt),
                // Its end is never reported; a time-out has to notice.
                Some((_, Fate::Lost)) | None => continue,
            };
            if transfer.0 < HANDOFF_TRANSFERS {
                return Some(Ended::Copy(worker_of(transfer), transfer, end));
            }
            let handoff = HandoffId(transfer.0 - HANDOFF_TRANSFERS);
            if let Some(crossing) = self.handoffs.remove(&handoff) {
                return Some(Ended::Handoff(crossing.copy, end));
            }
        }
        None
    }

    /// Whether the last layer of what has crossed is still to go.
    fn waits_for_last_layer(&mut self, now: SimTime, transfer: TransferId) -> bool {
        let Some(handoff) = transfer.0.checked_sub(HANDOFF_TRANSFERS).map(HandoffId) else { return false };
        let Some(last) = self.handoffs.get_mut(&handoff).and_then(|crossing| crossing.last_layer.as_mut())
        else {
            return false;
        };
        last.others_crossed = true;
        if last.pass_ended {
            self.send_last_layer(now, handoff);
        }
        true
    }

    /// How the links are used, for charts: those that a copy may cross.
    pub(crate) fn use_of_links(&self) -> Vec<LinkUse> {
        let of = |link: &Link, direction| DirectionUse {
            copies: link.in_flight(direction),
            moved_bytes: link.moved_bytes(direction),
            busy: link.busy(direction),
        };
        let layout = self.layout;
        let name = |at: usize| match at {
            at if at < layout.workers => ("pcie", at),
            at if at < layout.object() => ("disk", at - layout.workers),
            at if at == layout.object() => ("object", 0),
            at => ("handoff", at - layout.object() - 1),
        };
        let links = self.links.iter().enumerate();
        let used = links.map(|(at, link)| {
            let (name, number) = name(at);
            let (down, up) = (of(link, Direction::Down), of(link, Direction::Up));
            LinkUse { name, number: number as u32, down, up }
        });
        used.collect()
    }
}

fn worker_of(transfer: TransferId) -> WorkerId {
    WorkerId((transfer.0 / TRANSFERS_PER_WORKER) as u16)
}

fn transfer_of(handoff: HandoffId) -> TransferId {
    TransferId(HANDOFF_TRANSFERS + handoff.0)
}

fn slowed(bytes: u128, milli: u32) -> u64 {
    u64::try_from(bytes * u128::from(milli) / 1_000).unwrap_or(u64::MAX)
}
