//! Who waits for what: for each unfinished request its phase, its owner and its wakeup (rule R3).

use tierscope_units::{PassId, RequestId, WorkerId};

use crate::input::Leg;
use crate::lower::Dependency;
use crate::machine::Engine;
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
    /// Holds slots of G1 into which content is loaded from below.
    Loading,
    /// Its load has ended; it holds what came and waits for admission.
    Loaded,
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
            Self::Loading => "loading",
            Self::Loaded => "loaded",
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
            Phase::Loading if r.load.outstanding > 0 => CensusPhase::Loading,
            Phase::Loading => CensusPhase::Loaded,
            Phase::Running if r.output_here() == 0 && r.leg != Leg::Decode => CensusPhase::Prefill,
            Phase::Running => CensusPhase::Decode,
        };
        Some(CensusRow {
            request,
            phase,
            owner: engine.worker,
            wakeup: r
                .dependency
                .or_else(|| engine.load_under_way(live))
                .or_else(|| engine.connector_wakeup(live))
                .map(Wakeup::Transfer)
                .or(wakeup),
            held_blocks: r.blocks.len() as u32,
            needed_blocks: (r.tokens + r.drafts).div_ceil(engine.config.block_size_tokens),
        })
    };
    engine.requests.ids().filter_map(row).collect()
}

/// One request waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Who waits.
    pub request: RequestId,
    /// For whom.
    pub waits_for: RequestId,
    /// For what.
    pub reason: Reason,
}

/// Why one request waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It needs more blocks, and the other holds some.
    Blocks {
        /// Blocks that it lacks.
        lacking: u32,
        /// Blocks that the other holds.
        held: u32,
    },
    /// It stands behind the other in the line.
    Line,
}

/// A shortest cycle of requests that wait for each other, if nothing will wake them (rule R3); else nothing.
pub(crate) fn wait_cycle(engine: &Engine) -> Vec<Wait> {
    let rows = take(engine);
    let asleep: Vec<&CensusRow> = rows.iter().filter(|row| row.wakeup.is_none()).collect();
    let head = engine.holding().next().or_else(|| engine.waiting().next());
    let waits_of = |row: &CensusRow| -> Vec<Wait> {
        let request = row.request;
        let in_line =
            matches!(row.phase, CensusPhase::Waiting | CensusPhase::Preempted | CensusPhase::Loaded);
        if let Some(head) = head.filter(|&head| in_line && head != request) {
            return vec![Wait { request, waits_for: head, reason: Reason::Line }];
        }
        let others = asleep.iter().filter(|other| other.request != request && other.held_blocks > 0);
        let lacking = row.needed_blocks.saturating_sub(row.held_blocks);
        // Who has what it needs waits for something else, and for nobody's blocks.
        if lacking == 0 {
            return Vec::new();
        }
        let wait = |other: &&&CensusRow| Wait {
            request,
            waits_for: other.request,
            reason: Reason::Blocks { lacking, held: other.held_blocks },
        };
        others.map(|other| wait(&other)).collect()
    };
    let edges: Vec<Vec<Wait>> = asleep.iter().map(|row| waits_of(row)).collect();
    let place = |id: RequestId| asleep.iter().position(|row| row.request == id);
    shortest_cycle(&edges, place)
}

/// Breadth first from each request in turn.
fn shortest_cycle(edges: &[Vec<Wait>], place: impl Fn(RequestId) -> Option<usize>) -> Vec<Wait> {
    let mut best: Vec<Wait> = Vec::new();
    for start in 0..edges.len().min(CYCLE_STARTS_MAX) {
        let mut reached: Vec<Option<Wait>> = vec![None; edges.len()];
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for &wait in &edges[at] {
                let Some(next) = place(wait.waits_for) else { continue };
                if reached[next].is_none() {
                    reached[next] = Some(wait);
                    queue.push_back(next);
                }
            }
        }
        let mut cycle = Vec::new();
        let mut at = start;
        while let Some(wait) = reached[at] {
            cycle.push(wait);
            at = place(wait.request).unwrap_or(start);
            if at == start {
                break;
            }
        }
        cycle.reverse();
        if !cycle.is_empty() && (best.is_empty() || cycle.len() < best.len()) {
            best = cycle;
        }
    }
    best
}

/// A cycle, if there is one, goes through one of the first requests: the head of the line or one that holds.
const CYCLE_STARTS_MAX: usize = 64;
