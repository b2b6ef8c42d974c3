//! Who waits for what: for each unfinished request its phase, its owner and its wakeup (rule R3).

use tierscope_units::{PassId, RequestId, WorkerId};

use crate::machine::Engine;
use crate::offload::Dependency;
use crate::request::Phase;

/// One unfinished request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CensusRow {
    /// The request.
    pub request: RequestId,
    /// Where it is.
    pub phase: CensusPhase,
    /// The worker that holds or queues it.
    pub owner: WorkerId,
    /// What will move it on; `None` is a request that nothing will wake.
    pub wakeup: Option<Wakeup>,
    /// Blocks that it holds.
    pub held_blocks: u32,
    /// Blocks that all its known tokens need.
    pub needed_blocks: u32,
}

/// Where an unfinished request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CensusPhase {
    /// Waits for its first admission.
    Waiting,
    /// Computes its prompt.
    Prefill,
    /// Generates.
    Decode,
    /// Waits for readmission.
    Preempted,
}

/// What will move a request on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wakeup {
    /// The end of this pass.
    PassEnd(PassId),
    /// The end of this transfer, believed at the deadline.
    Transfer(Dependency),
    /// The next scheduling, at this instant.
    Scheduling,
}

impl CensusPhase {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Preempted => "preempted",
        }
    }
}

pub(crate) fn take(engine: &Engine) -> Vec<CensusRow> {
    let wakeup = match engine.pass_under_way() {
        Some(pass) => Some(Wakeup::PassEnd(pass)),
        None if engine.has_stirred() => Some(Wakeup::Scheduling),
        None => None,
    };
    let row = |request: RequestId| {
        let live = engine.requests.find(request)?;
        let r = engine.requests.get(live);
        let phase = match r.phase {
            Phase::Waiting => CensusPhase::Waiting,
            Phase::Preempted => CensusPhase::Preempted,
            Phase::Running if r.output_tokens() == 0 => CensusPhase::Prefill,
            Phase::Running => CensusPhase::Decode,
        };
        Some(CensusRow {
            request,
            phase,
            owner: engine.worker,
            wakeup: r.dependency.map(Wakeup::Transfer).or(wakeup),
            held_blocks: r.blocks.len() as u32,
            needed_blocks: r.tokens.div_ceil(engine.config.block_size_tokens),
        })
    };
    engine.requests.ids().filter_map(row).collect()
}
