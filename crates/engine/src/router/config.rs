//! What a router is told once: its kind, its terms, and how late its news is.

use tierscope_units::Span;
use tierscope_units::time::NS_PER_S;

/// The most replicas that a router has; more asked for count as this many.
pub const REPLICAS_MAX: u32 = 1024;

/// The largest weight of a cost term, so that no sum of hostile weights overflows.
const WEIGHT_MAX: f64 = 1e9;

/// What the router is told once.
#[derive(Clone, Debug, PartialEq)]
pub struct RouterConfig {
    /// How a worker is chosen (rule H6).
    pub kind: RouterKind,
    /// Router processes side by side, from 1 to [`REPLICAS_MAX`]. Request `r` is decided by replica `r` modulo this.
    pub replicas: u32,
    /// How late a replica hears what another one decided, or heard about its requests.
    pub sync_delay: Span,
    /// When events leave a worker. The fleet holds them back; the router does not look at it.
    pub publish: Publish,
    /// How long an event travels from its worker to the router; all replicas see it at the same time.
    pub event_delay: Span,
    /// Weights of the KV-aware cost.
    pub cost: CostTerms,
    /// When bookkeeping is dropped for want of news (rule R4).
    pub expiry: Expiry,
}

impl RouterConfig {
    /// One router of this kind: its news comes at once, when a pass has ended (rule R1), its weights are the published
    /// ones, and nothing expires.
    pub fn of(kind: RouterKind) -> Self {
        Self {
            kind,
            replicas: 1,
            sync_delay: Span::ZERO,
            publish: Publish::PassEnd,
            event_delay: Span::ZERO,
            cost: CostTerms::default(),
            expiry: Expiry::REPLAY,
        }
    }
}

/// How a worker is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouterKind {
    /// In the order of ids, each replica on its own count.
    RoundRobin,
    /// Fewest active requests, then fewest blocks, then the lowest id.
    LeastLoaded,
    /// Lowest cost by [`CostTerms`], then fewest active requests, then the lowest id.
    KvAware,
}

impl RouterKind {
    /// The word for it in scenarios and exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoundRobin => "round_robin",
            Self::LeastLoaded => "least_loaded",
            Self::KvAware => "kv_aware",
        }
    }
}

/// When a worker's events leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publish {
    /// When the pass begins that makes them so: the router sees blocks before they are computed.
    PassStart,
    /// When that pass ends.
    PassEnd,
}

impl Publish {
    /// The word for it in scenarios and exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PassStart => "pass_start",
            Self::PassEnd => "pass_end",
        }
    }
}

/// Weights of the KV-aware cost. In blocks:
///
/// ```text
/// cost   = prefill_load_scale × max(0, waiting prefill + prompt − credit)
///        + decode blocks + the request's own blocks
///        + decode_active_request_weight × active requests
/// credit = overlap_score_credit × decay × g1 + host_cache_hit_weight × g2
///        + disk_cache_hit_weight × g3 + shared_cache_multiplier × g4
/// decay  = 1 / (1 + overlap_score_credit_decay × (waiting prefill − the least of all candidates) / prompt)
/// ```
///
/// Terms and defaults are those that Dynamo publishes (`lib/kv-router/src/scheduling/selector/default.rs` and
/// `config.rs`, as in wxsms/dynamo at 2a6da14c8). It differs in two things: Dynamo counts blocks that active
/// requests share once, this counts each request's own; and Dynamo's overlap of a tier begins where that of the
/// tier above ends, while here each block of the prefix counts in the highest tier that holds it.
///
/// A weight that is negative or no number counts as 0, one above 10⁹ as that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostTerms {
    /// Blocks saved by a block in G1.
    pub overlap_score_credit: f64,
    /// How fast that credit fades with prefill waiting above the least loaded candidate's, per prompt's length.
    pub overlap_score_credit_decay: f64,
    /// Blocks saved by a block in G2.
    pub host_cache_hit_weight: f64,
    /// Blocks saved by a block in G3.
    pub disk_cache_hit_weight: f64,
    /// Blocks saved by a block in G4.
    pub shared_cache_multiplier: f64,
    /// Weight of the prefill part.
    pub prefill_load_scale: f64,
    /// Blocks that an active request counts as.
    pub decode_active_request_weight: f64,
    /// 0: the lowest cost wins. Above: a draw with weights exp(−(cost − least) / (greatest − least) / temperature).
    pub temperature: f64,
}

impl Default for CostTerms {
    fn default() -> Self {
        Self {
            overlap_score_credit: 1.0,
            overlap_score_credit_decay: 0.0,
            host_cache_hit_weight: 0.75,
            disk_cache_hit_weight: 0.25,
            shared_cache_multiplier: 0.0,
            prefill_load_scale: 1.0,
            decode_active_request_weight: 0.0,
            temperature: 0.0,
        }
    }
}

impl CostTerms {
    /// The same with every weight a number from 0 to [`WEIGHT_MAX`].
    pub(super) fn bounded(self) -> Self {
        let bounded = |weight: f64| if weight > 0.0 { weight.min(WEIGHT_MAX) } else { 0.0 };
        Self {
            overlap_score_credit: bounded(self.overlap_score_credit),
            overlap_score_credit_decay: bounded(self.overlap_score_credit_decay),
            host_cache_hit_weight: bounded(self.host_cache_hit_weight),
            disk_cache_hit_weight: bounded(self.disk_cache_hit_weight),
            shared_cache_multiplier: bounded(self.shared_cache_multiplier),
            prefill_load_scale: bounded(self.prefill_load_scale),
            decode_active_request_weight: bounded(self.decode_active_request_weight),
            temperature: bounded(self.temperature),
        }
    }
}

/// How long a booking lives without news (rule R4): one policy, two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// Time since the last news of a request after which its booking is dropped; `None`: never.
    pub after: Option<Span>,
}

impl Expiry {
    /// In replay nothing expires.
    pub const REPLAY: Self = Self { after: None };
    /// Under the wall clock: 300 s.
    pub const WALL_CLOCK: Self = Self { after: Some(Span::from_ns(300 * NS_PER_S)) };
}
