//! What lies below G1, as it is told to the machine once: tiers, lanes and their policies (rule P1).

use tierscope_units::Span;

use super::name::Lane;
use crate::config::EvictionPolicy;

/// The tiers below G1, and the lanes between them.
#[derive(Clone, Debug, PartialEq)]
pub struct TiersConfig {
    /// Pinned host memory.
    pub g2: TierConfig,
    /// Local disk.
    pub g3: Option<TierConfig>,
    /// Object store.
    pub g4: Option<TierConfig>,
    /// By [`Lane::index`].
    pub lanes: [LaneConfig; Lane::COUNT],
    /// Who moves blocks, and when they may be reused.
    pub flavour: Flavour,
    /// When a block of G1 is copied down.
    pub store: Store,
    /// What G2 holds beside G1.
    pub holds: Holds,
    /// Whether content below G1 is loaded or computed again.
    pub load: Load,
    /// What a request does when content that it wants is on its way already.
    pub waiters: Waiters,
    /// What must fit before a load may reserve its slots.
    pub onboard_gate: OnboardGate,
    /// What happens to blocks that wait for their copy to a slower tier.
    pub pressure: Pressure,
    /// What the engine believes that computing one block of prompt takes, for [`Load::Sooner`].
    pub recompute_estimate: Span,
    /// How long a finished request's blocks stay pinned in G1 for its follower; `None` is not at all.
    pub pin_finished: Option<Span>,
}

/// One tier below G1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierConfig {
    /// Slots, of one block each.
    pub blocks: u32,
    /// Which resident block is given up first.
    pub eviction: EvictionPolicy,
}

/// One lane's pipeline: filter, collector, queue, permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneConfig {
    /// Most batches past the queue at once (rule L1); at least 1.
    pub max_concurrent: u32,
    /// Blocks of a full batch; at least 1.
    pub batch_blocks: u32,
    /// How long a batch that is not full waits for more blocks, unless somebody waits for it.
    pub flush_after: Span,
    /// Which blocks are passed on.
    pub filter: Filter,
    /// How often a failed batch is tried again.
    pub retries: u32,
    /// From a failure to the next attempt.
    pub backoff: Span,
    /// A batch that did not end so long after its start has failed; `None` waits for ever.
    pub timeout: Option<Span>,
    /// What the engine believes of the link: a blocked request's wakeup names a deadline (rule T6). The world
    /// decides how long a copy takes.
    pub estimate: CopyEstimate,
}

/// A belief about a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CopyEstimate {
    /// Of each batch.
    pub latency: Span,
    /// Of each block behind it.
    pub per_block: Span,
}

/// Which blocks a lane passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// All of them: what is below already is copied again.
    None,
    /// Those that the lower tier neither has nor is receiving.
    Presence,
    /// Of those, the ones used at least so often lately (a TinyLFU sketch: up to 15).
    PresenceFrequency(u32),
}

/// Who moves blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// A block manager below the scheduler: a source is held until its copy ends (rule L6), G2 feeds G3 and G4.
    Kvbm,
    /// vLLM's native connector: two-phase loads and stores of whole chunks to one CPU tier; a store whose source
    /// is reused is flushed first.
    Vllm(VllmConfig),
}

/// vLLM's connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VllmConfig {
    /// Which chunk of the CPU tier is given up first.
    pub eviction: ChunkEviction,
    /// A chunk is stored when it is offered for the n-th time.
    pub store_threshold: u32,
    /// Blocks of G1 per chunk of the CPU tier; at least 1.
    pub blocks_per_chunk: u32,
    /// Whether only blocks of prompts are stored.
    pub prompt_only: bool,
    /// Tokens per pass that may be loaded within the pass that uses them; 0 is none.
    pub sync_load_budget_tokens: u32,
}

/// Which chunk of vLLM's CPU tier is given up first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkEviction {
    /// Least recently used, the tail of a request before its head.
    Lru,
    /// Adaptive replacement (Megiddo and Modha, 2003).
    Arc,
}

/// When a block of G1 is copied down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// When it is computed.
    OnCompute,
    /// When it is evicted: its slot is held until the copy ends.
    OnEviction,
    /// When it is found for the n-th time while it is in G1.
    OnHit(u32),
}

/// What G2 holds beside G1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A loaded block stays in G2 too.
    Inclusive,
    /// A loaded block leaves G2.
    Exclusive,
    /// Blocks are copied when they are among the next so many victims of G1, whatever [`Store`] says.
    Boundary(u32),
}

/// Whether content below G1 is loaded or computed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Whatever is below is loaded.
    Always,
    /// Nothing is.
    Never,
    /// Whichever the engine believes to be sooner.
    Sooner,
}

/// What a request does when content that it wants is being loaded, or written below, for somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiters {
    /// It waits for that copy; those behind it go on.
    Wait,
    /// It computes the content itself.
    Recompute,
    /// It reads what is below beside the other; what is still on its way down it computes.
    Join,
}

/// What must fit before a load may reserve its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnboardGate {
    /// The whole prompt, beside what all prompts under way still need.
    FullPrompt,
    /// The loaded blocks. Two such loads can stop each other for ever; kept to show that.
    LoadedPart,
}

/// What happens to blocks of G2 that wait for their copy to a slower tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressure {
    /// They may be evicted, and are lost below.
    Drop,
    /// They stay until they are written: what comes down waits.
    Hold,
}

impl Default for LaneConfig {
    fn default() -> Self {
        Self {
            max_concurrent: 1,
            batch_blocks: 32,
            flush_after: Span::ZERO,
            filter: Filter::Presence,
            retries: 0,
            backoff: Span::ZERO,
            timeout: None,
            estimate: CopyEstimate::default(),
        }
    }
}

impl TiersConfig {
    /// G2 of so many blocks and nothing else, with the defaults of all policies.
    pub fn with_g2(blocks: u32) -> Self {
        Self {
            g2: TierConfig { blocks, eviction: EvictionPolicy::Lru },
            g3: None,
            g4: None,
            lanes: [LaneConfig::default(); Lane::COUNT],
            flavour: Flavour::Kvbm,
            store: Store::OnEviction,
            holds: Holds::Inclusive,
            load: Load::Always,
            waiters: Waiters::Wait,
            onboard_gate: OnboardGate::FullPrompt,
            pressure: Pressure::Drop,
            recompute_estimate: Span::ZERO,
            pin_finished: None,
        }
    }
}
