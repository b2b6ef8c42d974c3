//! What a fleet is told once.

use tierscope_units::Span;

use crate::config::EngineConfig;
use crate::lower::Tier;
use crate::lower::config::TierConfig;
use crate::router::RouterConfig;

/// Several workers with one router.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetConfig {
    /// Every worker's sizes and policies.
    pub engine: EngineConfig,
    /// G1 of decode workers, where it differs, in blocks.
    pub decode_g1_blocks: Option<u32>,
    /// By worker: what it does. Prefill and decode workers come together.
    pub roles: Vec<Role>,
    /// Workers that share a host, with its disk (G3).
    pub workers_per_host: u32,
    /// By worker: whether it is there from the beginning.
    pub present: Vec<bool>,
    /// From a worker's start until it takes requests.
    pub startup: Span,
    /// The router; `None` for one worker that needs none: then nothing is said about routing.
    pub router: Option<RouterConfig>,
    /// How prompts go from prefill to decode workers.
    pub handoff: HandoffConfig,
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Prefill and decode.
    Whole,
    /// Prompts.
    Prefill,
    /// Answers to prompts that were computed elsewhere.
    Decode,
}

impl Role {
    /// The word for it in exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Prefill => "prefill",
            Self::Decode => "decode",
        }
    }
}

/// How prompts go from prefill to decode workers (rules H1, H4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandoffConfig {
    /// Which side holds its blocks first.
    pub order: HandoffOrder,
    /// What crosses the link.
    pub bytes: HandoffBytes,
    /// How long a side holds blocks for the other. vLLM's NIXL connector gives up after 480 s.
    pub lease: Option<Span>,
    /// Whether layers move while the prompt's last pass computes the next ones. The destination has to be there
    /// before: only under [`HandoffOrder::DestinationFirst`].
    pub pipelined: bool,
}

/// Which side of a handoff holds its blocks first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoffOrder {
    /// The prompt is computed and held, then the destination is chosen and reserves (vLLM).
    SourceFirst,
    /// The destination reserves, then the prompt is computed.
    DestinationFirst,
}

/// What a handoff moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoffBytes {
    /// Every block of the prompt.
    FullPrompt,
    /// The blocks that the destination does not have.
    DestinationMissing,
}

/// The most workers of a fleet: their transfers are numbered apart.
pub const WORKERS_MAX: u32 = 4_096;

/// Room for the transfer numbers of one worker.
pub const TRANSFERS_PER_WORKER: u64 = 1 << 40;

impl HandoffConfig {
    /// What vLLM does.
    pub const VLLM: Self = Self {
        order: HandoffOrder::SourceFirst,
        bytes: HandoffBytes::DestinationMissing,
        lease: Some(Span::from_ns(480_000_000_000)),
        pipelined: false,
    };
}

impl FleetConfig {
    /// One worker, which needs no router.
    pub fn single(engine: EngineConfig) -> Self {
        Self {
            engine,
            decode_g1_blocks: None,
            roles: vec![Role::Whole],
            workers_per_host: 1,
            present: vec![true],
            startup: Span::ZERO,
            router: None,
            handoff: HandoffConfig::VLLM,
        }
    }

    /// Blocks of G1 of one worker.
    pub fn g1_blocks_of(&self, worker: usize) -> u32 {
        match self.roles[worker] {
            Role::Decode => self.decode_g1_blocks.unwrap_or(self.engine.g1_blocks),
            Role::Whole | Role::Prefill => self.engine.g1_blocks,
        }
    }

    /// Hosts, the last of which may have fewer workers.
    pub fn hosts(&self) -> usize {
        self.roles.len().div_ceil(self.workers_per_host.max(1) as usize)
    }

    /// The host of a worker.
    pub(crate) fn host_of(&self, worker: usize) -> usize {
        worker / self.workers_per_host.max(1) as usize
    }

    /// Blocks of G1 to G4 over all workers and hosts: G1 and G2 of each worker, G3 of each host, one G4. 0 where there is
    /// no such tier.
    pub fn tier_blocks(&self) -> [u64; Tier::COUNT] {
        let workers = self.roles.len();
        let g1 = (0..workers).map(|worker| u64::from(self.g1_blocks_of(worker))).sum();
        let Some(tiers) = &self.engine.tiers else { return [g1, 0, 0, 0] };
        let blocks = |tier: Option<TierConfig>| tier.map_or(0, |tier| u64::from(tier.blocks));
        let (workers, hosts) = (workers as u64, self.hosts() as u64);
        [g1, workers * blocks(Some(tiers.g2)), hosts * blocks(tiers.g3), blocks(tiers.g4)]
    }

    /// The configuration of one worker.
    pub fn engine_of(&self, worker: usize) -> EngineConfig {
        EngineConfig { g1_blocks: self.g1_blocks_of(worker), ..self.engine.clone() }
    }
}
