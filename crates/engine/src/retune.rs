//! What of a configuration may change while machines run: a fork asks "what if it were so from now on?".
//!
//! Tiers may grow, limits and policies of decisions to come may change. What describes blocks that exist already (their
//! size, their identity, the order in which they are given up) is fixed when the machine is built.

use std::sync::Arc;

use crate::config::{EngineConfig, Speculation};
use crate::fleet::{Fleet, FleetConfig};
use crate::lower::config::{Flavour, Holds, LaneConfig, TierConfig, TiersConfig};
use crate::lower::{Lower, Tier};
use crate::machine::Engine;

/// The first thing that differs and cannot change while machines run, in words.
pub(crate) fn fixed_change(old: &FleetConfig, new: &FleetConfig) -> Option<&'static str> {
    let fixed = [
        ("the number and roles of workers", old.roles != new.roles),
        ("which workers share a host", old.workers_per_host != new.workers_per_host),
        ("which workers are there from the beginning", old.present != new.present),
        ("how long a worker takes to start", old.startup != new.startup),
        ("the router", old.router != new.router),
        ("the order of handoffs", old.handoff != new.handoff),
    ];
    let shrinks = (0..new.roles.len().min(old.roles.len()))
        .any(|worker| new.g1_blocks_of(worker) < old.g1_blocks_of(worker));
    first(&fixed)
        .or_else(|| fixed_in_engine(&old.engine, &new.engine))
        .or(shrinks.then_some("fewer blocks of G1"))
}

fn first(fixed: &[(&'static str, bool)]) -> Option<&'static str> {
    fixed.iter().find(|(_, differs)| *differs).map(|(name, _)| *name)
}

fn fixed_in_engine(old: &EngineConfig, new: &EngineConfig) -> Option<&'static str> {
    // Every field is named here, so that a new one has to be decided about.
    let EngineConfig {
        block_size_tokens,
        g1_blocks: _,
        max_num_seqs: _,
        max_num_active_seqs: _,
        max_num_batched_tokens: _,
        max_num_scheduled_tokens: _,
        max_model_len,
        prefix_caching,
        eviction,
        chunked_prefill,
        long_prefill_token_threshold: _,
        long_prefill_token_threshold_adaptive: _,
        prefill_schedule_interval,
        admission: _,
        policy,
        victim: _,
        acquisition,
        hash_deletion,
        async_scheduling,
        speculation,
        tiers,
        fidelity,
        watermark: _,
    } = new;
    let drafts = |speculation: &Option<Speculation>| speculation.map(|it| (it.method, it.tokens));
    let fixed = [
        ("the block size", *block_size_tokens != old.block_size_tokens),
        ("the longest sequence", *max_model_len != old.max_model_len),
        ("prefix caching", *prefix_caching != old.prefix_caching),
        ("G1's order of eviction", *eviction != old.eviction),
        ("chunked prefill", *chunked_prefill != old.chunked_prefill),
        ("the interval of prefill passes", *prefill_schedule_interval != old.prefill_schedule_interval),
        ("the order of the line", *policy != old.policy),
        ("what a refused admission keeps", *acquisition != old.acquisition),
        ("when a preempted request's content is forgotten", *hash_deletion != old.hash_deletion),
        ("asynchronous scheduling", *async_scheduling != old.async_scheduling),
        ("speculation", drafts(speculation) != drafts(&old.speculation)),
        ("the fidelity", *fidelity != old.fidelity),
    ];
    first(&fixed).or_else(|| match (&old.tiers, tiers) {
        (None, None) => None,
        (Some(old), Some(new)) => fixed_in_tiers(old, new),
        _ => Some("whether there are tiers below G1"),
    })
}

fn fixed_in_tiers(old: &TiersConfig, new: &TiersConfig) -> Option<&'static str> {
    let TiersConfig {
        g2,
        g3,
        g4,
        lanes,
        flavour,
        store: _,
        holds,
        load: _,
        waiters: _,
        onboard_gate: _,
        pressure,
        recompute_estimate: _,
        pin_finished: _,
    } = new;
    let tiers = [(Some(*g2), Some(old.g2)), (*g3, old.g3), (*g4, old.g4)];
    let changed = |how: fn(TierConfig, TierConfig) -> bool| {
        tiers.iter().any(|(new, old)| matches!((new, old), (Some(new), Some(old)) if how(*new, *old)))
    };
    let lane_differs = |how: fn(&LaneConfig, &LaneConfig) -> bool| {
        lanes.iter().zip(&old.lanes).any(|(new, old)| how(new, old))
    };
    let fixed = [
        ("which tiers there are", tiers.iter().any(|(new, old)| new.is_some() != old.is_some())),
        ("a tier's order of eviction", changed(|new, old| new.eviction != old.eviction)),
        ("fewer blocks of a tier", changed(|new, old| new.blocks < old.blocks)),
        ("who moves blocks", *flavour != old.flavour),
        // Its pool of chunks has one size.
        (
            "the size of the CPU tier of vLLM's connector",
            matches!(flavour, Flavour::Vllm(_)) && *g2 != old.g2,
        ),
        ("what G2 holds beside G1", kind(*holds) != kind(old.holds)),
        ("whether blocks that wait for a slower tier are held", *pressure != old.pressure),
        ("what a lane passes on", lane_differs(|new, old| new.filter != old.filter)),
        // Batches under way have their permits, and their size.
        ("fewer batches at once", lane_differs(|new, old| new.max_concurrent < old.max_concurrent)),
        ("smaller batches", lane_differs(|new, old| new.batch_blocks < old.batch_blocks)),
    ];
    first(&fixed)
}

fn kind(holds: Holds) -> u8 {
    match holds {
        Holds::Inclusive => 0,
        Holds::Exclusive => 1,
        Holds::Boundary(_) => 2,
    }
}

impl Engine {
    /// Goes on with another configuration, which differs in nothing that is fixed. Whether it differs at all: then
    /// the machine has to be asked what it does now.
    pub(crate) fn retune(&mut self, config: Arc<EngineConfig>) -> bool {
        if config == self.config {
            return false;
        }
        let more = config.g1_blocks.saturating_sub(self.pool.capacity());
        if more > 0 {
            self.pool.grow(more);
            self.pool.evictor.grow(config.g1_blocks);
        }
        self.watermark_blocks = (config.watermark * f64::from(config.g1_blocks)) as u32;
        if let (Some(lower), Some(tiers)) = (self.lower.as_deref_mut(), &config.tiers) {
            lower.retune(tiers);
        }
        self.config = config;
        // Who was refused is looked at again, also where the machine had found that nothing more can be done.
        self.blocked.clear();
        self.stirred = true;
        self.at_rest = false;
        true
    }
}

impl Lower {
    /// Lanes and policies of what is to come, and larger tiers. Tiers that workers share are the fleet's to grow.
    fn retune(&mut self, tiers: &TiersConfig) {
        for (state, lane) in self.lanes.iter_mut().zip(tiers.lanes) {
            state.config = lane;
        }
        for (tier, config) in [(Tier::G2, Some(tiers.g2)), (Tier::G3, tiers.g3), (Tier::G4, tiers.g4)] {
            if let (Some(tier), Some(config)) = (self.tier_mut(tier), config) {
                tier.grow_to(config.blocks);
            }
        }
        self.config = tiers.clone();
        self.stirred |= self.connector.is_none();
    }
}

impl Fleet {
    /// Goes on with another configuration, which must differ in nothing that is fixed when machines are built: else
    /// nothing changes, and what differs is said in words.
    ///
    /// # Errors
    ///
    /// What cannot change while machines run.
    pub fn retune(&mut self, config: FleetConfig) -> Result<(), &'static str> {
        if let Some(fixed) = fixed_change(&self.config, &config) {
            return Err(fixed);
        }
        self.retune_workers(&config);
        self.config = config;
        Ok(())
    }
}
