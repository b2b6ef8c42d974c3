//! The keys about several workers: each of them, their router, and the handoffs between them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Tiers;
use crate::statistics::Summary;

/// What one worker did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkerCounts {
    /// Its number.
    pub worker: u32,
    /// What it does: `whole`, `prefill` or `decode`.
    pub role: &'static str,
    /// Whether it is there at the end: `ready`, `starting`, `draining`, `absent` or `lost`.
    pub state: &'static str,
    /// How often it was lost.
    pub lost: u64,
    /// How often the router chose it, for whatever part of a request.
    pub routed: u64,
    /// Requests that it finished.
    pub finished: u64,
    /// Prompts that it computed and held for another worker.
    pub prompts_held: u64,
    /// Requests that went on here with a context from elsewhere.
    pub joined: u64,
    /// Requests that left it unfinished.
    pub withdrawn: u64,
    /// Forward passes.
    pub passes: u64,
    /// Time with a pass under way.
    pub busy_ns: u64,
    /// That time as a share of the makespan.
    pub busy_share: f64,
    /// Tokens of prefill rows.
    pub prefill_tokens: u64,
    /// Tokens of decode rows.
    pub decode_tokens: u64,
    /// Preemptions.
    pub preemptions: u64,
    /// Hit ratio of first admissions at it, all tiers together; the definition is that of the report.
    pub hit_ratio: f64,
    /// Its tiers.
    pub tiers: Tiers,
}

/// What the router decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RouterCounts {
    /// `round_robin`, `least_loaded` or `kv_aware`.
    pub kind: &'static str,
    /// Decisions: one for each leg of a request, and again after a loss or a failed handoff.
    pub decisions: u64,
    /// Of those, by leg: `whole`, `prefill`, `decode`.
    pub by_leg: BTreeMap<&'static str, u64>,
    /// Of those, by the replica that decided, for replicas that decided something.
    pub by_replica: Vec<u64>,
    /// How often a request had to wait at the router because no worker could take it.
    pub held: u64,
    /// Requests that wait there at the end.
    pub held_at_end: u64,
    /// How long they waited.
    pub held_ns: Summary,
    /// What it believed of the workers' caches; absent where it does not look at them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub belief: Option<RouterBelief>,
    /// How its decisions lie over the workers, by leg.
    pub spread: BTreeMap<&'static str, RouterSpread>,
}

/// What a router believed that the worker of its choice holds of the prompt, and what that had (rule H6).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RouterBelief {
    /// Blocks believed in G1, over all decisions.
    pub believed_g1_blocks: u64,
    /// In G2, and not above.
    pub believed_g2_blocks: u64,
    /// In G3, and not above.
    pub believed_g3_blocks: u64,
    /// In G4, and not above.
    pub believed_g4_blocks: u64,
    /// Blocks believed in all tiers, of a decision on average.
    pub believed_blocks_mean: f64,
    /// Blocks that really were in G1, over all decisions.
    pub resident_g1_blocks: u64,
    /// The same of a decision on average.
    pub resident_g1_blocks_mean: f64,
    /// Blocks of G1 that were believed and not there.
    pub phantom_blocks: u64,
    /// Blocks of G1 that were there and not believed.
    pub missing_blocks: u64,
    /// Share of decisions with phantom blocks.
    pub phantom_share: f64,
    /// Share of decisions with missing blocks.
    pub missing_share: f64,
}

/// How decisions lie over the workers that they could go to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RouterSpread {
    /// Workers with the role that is asked for, whether or not they were there.
    pub workers: u64,
    /// Decisions for the worker with the fewest.
    pub min: u64,
    /// Decisions for the worker with the most.
    pub max: u64,
    /// Decisions per worker.
    pub mean: f64,
    /// Their standard deviation by their mean: 0 when all have the same.
    pub coefficient_of_variation: f64,
    /// Share of the worker with the most.
    pub largest_share: f64,
}

/// How handoffs went. Times are exact as those of lanes are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HandoffCounts {
    /// Handoffs that began.
    pub started: u64,
    /// Those that came to their end: the source's blocks are free.
    pub completed: u64,
    /// Those given up because the request was.
    pub cancelled: u64,
    /// Those that failed.
    pub failed: u64,
    /// Of those, by reason: `worker_lost`, `copy`, `lease_expired`, `refused`.
    pub failures: BTreeMap<&'static str, u64>,
    /// Not over at the end.
    pub under_way_at_end: u64,
    /// Most under way at once, with the prompts that are still computed.
    pub under_way_max: u64,
    /// How often a destination was lost, and another was found while the source held the prompt.
    pub destinations_replaced: u64,
    /// Blocks that crossed.
    pub blocks: u64,
    /// Bytes of those blocks.
    pub bytes: u64,
    /// Messages that came a second time, and changed nothing (rule H2).
    pub duplicate_messages: u64,
    /// Messages of an older generation, or about a handoff that was over.
    pub stale_messages: u64,
    /// Prompt tokens that were computed for requests after their handoff had failed.
    pub prefilled_after_failure_tokens: u64,
    /// From the computed prompt to its activation at the destination: what a handoff adds to the first token's time.
    pub delay_ns: Summary,
    /// From the computed prompt to the release of its source: how long blocks are held on both sides.
    pub held_ns: Summary,
    /// How long each step took.
    pub steps: HandoffSteps,
}

/// From the phase before to the one that is named (rule H1). Under destination-first the destination is reserved
/// before the prompt is computed; where layers move as they are computed, there is no step to `source_held`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct HandoffSteps {
    /// Until the prompt was computed and held.
    pub source_held_ns: Summary,
    /// Until the destination had its slots.
    pub destination_reserved_ns: Summary,
    /// Until blocks began to move.
    pub transferring_ns: Summary,
    /// Until they were matchable at the destination.
    pub activated_ns: Summary,
    /// Until the source's blocks were free.
    pub source_released_ns: Summary,
}
