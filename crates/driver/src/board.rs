//! Keeps what other threads may read of a driven run: what is registered where, and how far each lane is.

use std::collections::BTreeMap;
use std::sync::Arc;

use tierscope_engine::{BlockRef, CopyEnd, Fact, FactLog, Lane, Tier};
use tierscope_scenario::Scenario;
use tierscope_sim::Run;
use tierscope_units::{Idx, TransferId, WorkerId};

use crate::layout::Layout;
use crate::publish::{Orders, Published};

/// Numbers that are published beside what is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gauge {
    /// Batches of a lane that have ended well; what they registered is seen by who has read this.
    Completed(Lane),
    /// Their blocks.
    Blocks(Lane),
    /// Batches of a lane that wait.
    Queued(Lane),
    /// Batches of a lane whose copy is under way.
    InFlight(Lane),
    /// Requests that wait.
    Waiting,
    /// Requests that run.
    Running,
    /// Requests that have ended.
    Ended,
    /// The instant, in nanoseconds.
    NowNs,
}

impl Gauge {
    const COUNT: usize = 4 * Lane::COUNT + 4;

    fn index(self) -> usize {
        match self {
            Self::Completed(lane) => lane.index(),
            Self::Blocks(lane) => Lane::COUNT + lane.index(),
            Self::Queued(lane) => 2 * Lane::COUNT + lane.index(),
            Self::InFlight(lane) => 3 * Lane::COUNT + lane.index(),
            Self::Waiting => 4 * Lane::COUNT,
            Self::Running => 4 * Lane::COUNT + 1,
            Self::Ended => 4 * Lane::COUNT + 2,
            Self::NowNs => 4 * Lane::COUNT + 3,
        }
    }
}

/// What is read: shared with as many threads as like to.
#[derive(Clone)]
pub struct Readout {
    published: Arc<Published>,
    /// By tier, its first slot among the published ones, and how many there are.
    tiers: [(usize, usize); Tier::COUNT],
}

impl Readout {
    /// A number.
    pub fn gauge(&self, gauge: Gauge) -> u64 {
        self.published.gauge(gauge.index())
    }

    /// Blocks that are matchable in a tier.
    pub fn matchable(&self, tier: Tier) -> usize {
        let (first, count) = self.tiers[tier.index()];
        (first..first + count).filter(|&slot| self.published.is_taken(slot)).count()
    }

    /// Whether a hash is matchable in a slot of a tier.
    pub fn holds(&self, tier: Tier, slot: u32, hash: u64) -> bool {
        let (first, count) = self.tiers[tier.index()];
        (slot as usize) < count && self.published.holds(first + slot as usize, hash)
    }
}

/// Who writes it.
pub struct Board {
    readout: Readout,
    layout: Layout,
    completed: [u64; Lane::COUNT],
    blocks: [u64; Lane::COUNT],
    /// Blocks of batches under way.
    under_way: BTreeMap<TransferId, u32>,
}

impl Board {
    /// Nothing has happened yet.
    pub fn new(scenario: &Scenario) -> Self {
        let layout = Layout::of(scenario);
        let mut first = 0;
        let tiers = Tier::ALL.map(|tier| {
            let range = (first, layout.slots(tier) as usize);
            first += range.1;
            range
        });
        let published = Arc::new(Published::new(Gauge::COUNT, first, Orders::SOUND));
        Self {
            readout: Readout { published, tiers },
            layout,
            completed: [0; Lane::COUNT],
            blocks: [0; Lane::COUNT],
            under_way: BTreeMap::new(),
        }
    }

    /// What other threads read.
    pub fn readout(&self) -> Readout {
        self.readout.clone()
    }

    /// Takes the facts of an instant. Registrations go before the batches that made them.
    pub fn take(&mut self, log: &FactLog) {
        let worker = log.worker().unwrap_or(WorkerId(0));
        for (_, fact) in log.iter() {
            match *fact {
                Fact::Stored { blocks, .. } | Fact::ClaimActivated { blocks, .. } => {
                    self.register((Tier::G1, worker), log.blocks(blocks));
                }
                Fact::Removed { blocks } => self.remove((Tier::G1, worker), log.blocks(blocks)),
                Fact::TierStored { tier, blocks } => self.register((tier, worker), log.blocks(blocks)),
                Fact::TierRemoved { tier, blocks } => self.remove((tier, worker), log.blocks(blocks)),
                Fact::CopyStarted { transfer, blocks, .. } => {
                    self.under_way.insert(transfer, blocks.len());
                }
                Fact::CopyEnded { transfer, lane, end, .. } => {
                    let blocks = self.under_way.remove(&transfer).unwrap_or(0);
                    if end == CopyEnd::Completed {
                        self.completed[lane.index()] += 1;
                        self.blocks[lane.index()] += u64::from(blocks);
                    }
                }
                _ => {}
            }
        }
    }

    /// Publishes how far the run is, once all facts of its instant have been taken.
    pub fn publish(&self, run: &Run) {
        let published = &self.readout.published;
        let fleet = run.simulation().fleet();
        let progress = run.progress();
        let gauge = |gauge: Gauge, value: u64| published.publish(gauge.index(), value);
        for lane in Lane::ALL {
            gauge(Gauge::Completed(lane), self.completed[lane.index()]);
            gauge(Gauge::Blocks(lane), self.blocks[lane.index()]);
            let snapshots = fleet.workers().map(|engine| engine.lane(lane));
            let sums = snapshots.fold((0, 0), |(queued, moving), lane| {
                (queued + u64::from(lane.queued), moving + u64::from(lane.past_queue()))
            });
            gauge(Gauge::Queued(lane), sums.0);
            gauge(Gauge::InFlight(lane), sums.1);
        }
        let lengths = fleet.workers().map(|engine| engine.queue_lengths());
        let (waiting, running) = lengths.fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
        gauge(Gauge::Waiting, waiting as u64);
        gauge(Gauge::Running, running as u64);
        gauge(Gauge::Ended, progress.ended.into());
        gauge(Gauge::NowNs, progress.now.as_ns());
    }

    fn register(&self, place: (Tier, WorkerId), blocks: &[BlockRef]) {
        let first = self.first(place);
        let register =
            |block: &BlockRef| self.readout.published.register(first + block.slot.index(), block.hash.0);
        blocks.iter().for_each(register);
    }

    fn remove(&self, place: (Tier, WorkerId), blocks: &[BlockRef]) {
        let first = self.first(place);
        blocks.iter().for_each(|block| self.readout.published.remove(first + block.slot.index()));
    }

    /// The first published slot of what a worker sees as a tier.
    fn first(&self, (tier, worker): (Tier, WorkerId)) -> usize {
        let place = self.layout.places()[self.layout.index(tier, worker)];
        self.readout.tiers[tier.index()].0 + place.first as usize
    }
}
