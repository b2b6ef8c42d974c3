//! vLLM's native offloading connector: which chunks are stored to the CPU tier and loaded from it, and when (the
//! version named in `../conformance/`).
//!
//! - A chunk is some blocks of one request, known by the hash at its end. The tier itself is [`crate::vllm`]'s.
//! - *Stores* are offered by the attempt that schedules a chunk's tokens, before they are computed. Their copy starts
//!   when that pass has ended. The blocks of a request that ended or was preempted are free at once: the copy that
//!   still reads them is *flushed*, it has to end before the next pass begins, and until then nothing is computed.
//! - *Loads* are found at admission, behind the hits in G1. Most run beside passes, into slots that the request holds
//!   while it waits; a short one, within a budget, runs before the pass that uses it.
//!
//! One copy is one job; each is bound to one request. Permits and retries of lanes do not apply here: vLLM's worker
//! takes every copy at once, and a copy that failed is a miss.

mod check;
mod end;
mod errand;
mod job;
mod load;
mod lookup;
mod offer;
mod request;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tierscope_units::{RequestId, SequenceHash, SlotId, TransferId};

use crate::lower::Lower;
use crate::lower::config::{Flavour, TiersConfig, VllmConfig};
use crate::request::Live;
use crate::vllm::{ManagerConfig, OffloadManager};
use errand::Errands;
use job::Job;
use offer::Offer;
use request::Mine;

pub(crate) use lookup::Match;

/// The connector of one worker.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) config: VllmConfig,
    pub(crate) manager: OffloadManager,
    /// Copies that have not ended, the oldest first.
    jobs: BTreeMap<TransferId, Job>,
    pub(crate) created: u64,
    /// By [`Live`].
    mine: Vec<Mine>,
    /// How many copies of a request have not ended: of live requests, and of ended ones.
    open: BTreeMap<RequestId, u32>,
    /// Which copy writes a chunk to the tier, or loads it.
    carriers: BTreeMap<SequenceHash, TransferId>,
    /// Chunks that are being loaded beside passes.
    loading: BTreeSet<SequenceHash>,
    /// Blocks of ended requests that copies still read.
    fenced: BTreeMap<SlotId, Vec<TransferId>>,
    /// Requests that ended since the last attempt, with what they still offer.
    ended: Vec<Offer>,
    /// Ended requests that the manager knows to be done, and whose copies have not ended.
    told: BTreeSet<RequestId>,
    /// Requests whose prompt is being computed or loaded: others leave room for them.
    filling: Vec<Live>,
    /// Requests that were preempted since the last attempt.
    preempted: Vec<RequestId>,
    attempt: Attempt,
    errands: Errands,
    /// Stores whose blocks are computed by a pass under way.
    uncomputed: VecDeque<(tierscope_units::PassId, TransferId)>,
}

/// What the attempt at hand did so far.
#[derive(Clone, Default)]
struct Attempt {
    /// Slots that somebody got.
    allocated: BTreeSet<SlotId>,
    /// Running requests that grew, and how many blocks each had before.
    grown: Vec<(Live, u32)>,
    /// Tokens of loads that run before the pass.
    sync_tokens: u32,
    /// The number of the first copy that it created.
    first_job: u64,
}

impl Connector {
    /// The connector, where the flavour has one.
    pub(crate) fn new(tiers: &TiersConfig, first_transfer: u64) -> Option<Box<Self>> {
        let Flavour::Vllm(config) = tiers.flavour else { return None };
        let manager = OffloadManager::new(ManagerConfig {
            chunks: tiers.g2.blocks / config.blocks_per_chunk.max(1),
            policy: config.eviction,
            store_threshold: config.store_threshold,
            tracker_max: ManagerConfig::TRACKER_MAX,
        });
        Some(Box::new(Self {
            config,
            manager,
            jobs: BTreeMap::new(),
            created: first_transfer,
            mine: Vec::new(),
            open: BTreeMap::new(),
            carriers: BTreeMap::new(),
            loading: BTreeSet::new(),
            fenced: BTreeMap::new(),
            ended: Vec::new(),
            told: BTreeSet::new(),
            filling: Vec::new(),
            preempted: Vec::new(),
            attempt: Attempt::default(),
            errands: Errands::default(),
            uncomputed: VecDeque::new(),
        }))
    }

    /// Requests whose prompt is being computed or loaded.
    pub(crate) fn filling(&self) -> &[Live] {
        &self.filling
    }

    fn chunk_blocks(&self) -> u32 {
        self.config.blocks_per_chunk.max(1)
    }

    /// The oldest copy of a request that has not ended.
    fn oldest_of(&self, request: RequestId) -> Option<TransferId> {
        self.open.get(&request)?;
        self.jobs.iter().find(|(_, job)| job.request == request).map(|(&transfer, _)| transfer)
    }

    /// Roughly the memory of a copy, in bytes.
    pub(crate) fn state_bytes(&self) -> usize {
        let blocks: usize = self.jobs.values().map(|job| job.blocks.len()).sum();
        (self.manager.used() as usize + blocks) * CHUNK_BYTES + self.mine.len() * size_of::<Mine>()
    }
}

/// What a resident chunk takes in the manager and in the records of requests, about.
const CHUNK_BYTES: usize = 128;

/// The connector, where there is one.
fn of(lower: &mut Option<Box<Lower>>) -> Option<&mut Connector> {
    lower.as_deref_mut()?.connector.as_deref_mut()
}

impl crate::machine::Engine {
    /// The CPU tier of vLLM's connector, under that flavour.
    pub fn cpu_tier(&self) -> Option<&OffloadManager> {
        self.connector().map(|connector| &connector.manager)
    }

    pub(crate) fn connector(&self) -> Option<&Connector> {
        self.lower.as_deref()?.connector.as_deref()
    }
}
