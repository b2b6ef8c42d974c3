//! One copy between G1 and the CPU tier.

use tierscope_units::{RequestId, SequenceHash, SimTime, SlotId, TransferId};

use super::Connector;
use crate::fact::{BlockRef, Fact};
use crate::lower::{Cause, CopyView, Dependency, Lane, Phase};
use crate::machine::Engine;
use crate::request::Live;

/// Which way a job copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Store,
    /// A load into slots of a request, behind its `hits` in G1; `is_sync` when the pass at hand waits for it.
    Load {
        live: Live,
        hits: u32,
        is_sync: bool,
    },
}

/// A copy that has not ended.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) request: RequestId,
    pub(super) kind: Kind,
    /// The chunks, and where each is in the tier.
    pub(super) keys: Vec<SequenceHash>,
    pub(super) chunks: Vec<SlotId>,
    /// The blocks of G1 that it reads or fills.
    pub(super) blocks: Vec<BlockRef>,
    /// Blocks of the first chunk that it leaves out: they were found in G1.
    pub(super) skipped: u32,
    pub(super) is_started: bool,
    /// What it stores was computed on content that never came.
    pub(super) is_void: bool,
    /// The next pass waits for it.
    pub(super) is_awaited: bool,
    pub(super) deadline: SimTime,
    /// When it has taken too long.
    pub(super) timer: Option<SimTime>,
    /// Requests that wait for what it carries.
    pub(super) waiters: Vec<(Live, RequestId)>,
}

impl Job {
    pub(super) fn new(request: RequestId, kind: Kind) -> Self {
        Self {
            request,
            kind,
            keys: Vec::new(),
            chunks: Vec::new(),
            blocks: Vec::new(),
            skipped: 0,
            is_started: false,
            is_void: false,
            is_awaited: false,
            deadline: SimTime::ZERO,
            timer: None,
            waiters: Vec::new(),
        }
    }

    pub(super) fn lane(&self) -> Lane {
        match self.kind {
            Kind::Store => Lane::G1ToG2,
            Kind::Load { .. } => Lane::G2ToG1,
        }
    }

    fn cause(&self) -> Cause {
        if self.is_store() { Cause::Computed } else { Cause::Wanted }
    }

    pub(super) fn is_store(&self) -> bool {
        self.kind == Kind::Store
    }

    /// The job's blocks as they lie in the tier: a chunk is that many slots of one block.
    pub(super) fn below(&self, chunk_blocks: u32) -> impl Iterator<Item = BlockRef> {
        (self.skipped..).zip(&self.blocks).map(move |(at, block)| {
            let chunk = self.chunks[(at / chunk_blocks) as usize];
            BlockRef { slot: SlotId(chunk.0 * chunk_blocks + at % chunk_blocks), hash: block.hash }
        })
    }
}

impl Connector {
    /// Copies that have not ended, as observers see them.
    pub(crate) fn copies(&self) -> impl Iterator<Item = CopyView> {
        self.jobs.iter().map(|(&transfer, job)| CopyView {
            transfer,
            lane: job.lane(),
            cause: job.cause(),
            phase: if job.is_started { Phase::InFlight } else { Phase::Queued },
            attempts: 0,
            request: Some(job.request),
            waiters: job.waiters.iter().map(|&(_, request)| request).collect(),
            contents: job.blocks.iter().map(|block| block.hash).collect(),
        })
    }

    /// Whether a pass waits for a load of this request.
    pub(super) fn loads_within_pass(&self, request: RequestId) -> bool {
        let within =
            |job: &Job| job.request == request && matches!(job.kind, Kind::Load { is_sync: true, .. });
        self.open.contains_key(&request) && self.jobs.values().any(within)
    }

    /// A waiting request's wakeup, if it is the end of a copy.
    pub(super) fn dependency_on(&self, transfer: TransferId) -> Option<Dependency> {
        let job = self.jobs.get(&transfer)?;
        Some(Dependency { transfer, deadline: job.deadline })
    }
}

impl Engine {
    /// Numbers a job, and says that it is queued.
    pub(super) fn open_job(&mut self, now: SimTime, mut job: Job) -> TransferId {
        let lower = self.lower.as_deref_mut().expect("a job has a tier below");
        let connector = lower.connector.as_deref_mut().expect("a job has a connector");
        let transfer = TransferId(connector.created);
        connector.created += 1;
        let lane = job.lane();
        let state = &mut lower.lanes[lane.index()];
        state.pass_on(Phase::Collecting, Phase::Queued);
        state.backlog_blocks += job.blocks.len() as u64;
        job.deadline = state.believed_end(now);
        *connector.open.entry(job.request).or_default() += 1;
        connector.carriers.extend(job.keys.iter().map(|&key| (key, transfer)));
        let blocks = match job.kind {
            Kind::Store => self.facts.list(job.blocks.iter().copied()),
            Kind::Load { .. } => self.facts.list(job.below(connector.config.blocks_per_chunk.max(1))),
        };
        let cause = job.cause();
        let request = Some(job.request);
        connector.jobs.insert(transfer, job);
        self.facts.push(now, Fact::CopyQueued { transfer, lane, cause, request, blocks });
        transfer
    }
}
