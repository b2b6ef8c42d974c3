//! Several workers: how many, which router, how prompts go from one to another, and what becomes of them on the way.

use tierscope_engine::{
    CostTerms, FleetConfig, HandoffConfig, MessageKind, Role, RouterConfig, WorkerChange,
};
use tierscope_units::{RequestId, Span, WorkerId};

use crate::interconnect::LinkRate;
use crate::scenario::Scenario;

/// Several workers and their router.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetSpec {
    /// By worker: what it does. Either all do both, or some prefill and the others decode.
    pub roles: Vec<Role>,
    /// By worker: whether it is there from the beginning.
    pub present: Vec<bool>,
    /// Workers that share a host, with its disk and G3.
    pub workers_per_host: u32,
    /// G1 of decode workers in blocks, where it differs.
    pub decode_g1_blocks: Option<u32>,
    /// From a worker's start until it takes requests.
    pub startup: Span,
    /// The router.
    pub router: RouterConfig,
    /// How prompts go from prefill to decode workers; without meaning unless there are some.
    pub handoff: HandoffConfig,
    /// The links that they cross.
    pub handoff_link: HandoffLink,
    /// From the sending to the coming of a message about a handoff.
    pub message_delay: Span,
    /// What goes wrong with these messages.
    pub message_faults: Vec<MessageFault>,
    /// Workers that come and go.
    pub changes: Vec<Change>,
}

/// The links that handoffs cross (rule H4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandoffLink {
    /// Its rate in the direction from prefill to decode; `both_bytes_per_s` is without meaning.
    pub rate: LinkRate,
    /// Which handoffs share one.
    pub shared_by: SharedBy,
    /// Layers of the model, each of which moves by itself, with the link's latency, when handoffs are pipelined.
    pub layers: u32,
}

/// Which handoffs share a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedBy {
    /// Those from the same worker: its network card sends them.
    Source,
    /// Those to the same worker: its network card receives them.
    Destination,
    /// All of them: one network.
    All,
}

/// Something that goes wrong with messages about handoffs (rule H2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageFault {
    /// Which messages.
    pub kind: Option<MessageKind>,
    /// Of which request; `None` is of all.
    pub request: Option<RequestId>,
    /// How many of those that fit are let through before the first that is struck.
    pub after: u32,
    /// How many are struck; `None` is all from then on.
    pub count: Option<u32>,
    /// What becomes of them.
    pub fate: MessageFate,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageFate {
    /// It never comes.
    Lost,
    /// It comes twice, the second time so much later.
    Doubled(Span),
    /// It comes so much later.
    Late(Span),
}

/// A worker comes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When, since the beginning.
    pub at: Span,
    /// Which.
    pub worker: WorkerId,
    /// What becomes of it.
    pub change: WorkerChange,
}

/// The place of a term in the router's cost.
pub(crate) type CostTerm = fn(&mut CostTerms) -> &mut f64;

/// The terms of the KV-aware cost by their keys.
pub(crate) const COST_TERMS: [(&str, CostTerm); 8] = [
    ("overlap_score_credit", |cost| &mut cost.overlap_score_credit),
    ("overlap_score_credit_decay", |cost| &mut cost.overlap_score_credit_decay),
    ("host_cache_hit_weight", |cost| &mut cost.host_cache_hit_weight),
    ("disk_cache_hit_weight", |cost| &mut cost.disk_cache_hit_weight),
    ("shared_cache_multiplier", |cost| &mut cost.shared_cache_multiplier),
    ("prefill_load_scale", |cost| &mut cost.prefill_load_scale),
    ("decode_active_request_weight", |cost| &mut cost.decode_active_request_weight),
    ("temperature", |cost| &mut cost.temperature),
];

impl FleetSpec {
    /// Whether prompts are computed by some workers and answered by others.
    pub fn has_handoffs(&self) -> bool {
        self.roles.contains(&Role::Prefill)
    }
}

impl Scenario {
    /// What the machine is told: several workers, or one that needs no router.
    pub fn fleet_config(&self) -> FleetConfig {
        let Some(fleet) = &self.fleet else { return FleetConfig::single(self.engine.clone()) };
        FleetConfig {
            engine: self.engine.clone(),
            decode_g1_blocks: fleet.decode_g1_blocks,
            roles: fleet.roles.clone(),
            workers_per_host: fleet.workers_per_host,
            present: fleet.present.clone(),
            startup: fleet.startup,
            router: Some(fleet.router.clone()),
            handoff: fleet.handoff,
        }
    }
}
