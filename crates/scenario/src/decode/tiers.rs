//! The tiers below G1: `[g2]`, `[g3]`, `[g4]` and `[offload]`. Their lanes, links and faults are decoded beside.

use tierscope_engine::{
    ChunkEviction, EvictionPolicy, Flavour, Holds, Lane, Load, OnboardGate, Pressure, Store, Tier,
    TierConfig, TiersConfig, VllmConfig, Waiters,
};
use tierscope_units::{Bytes, Span};

use super::engine::EVICTIONS;
use super::fields::Fields;
use super::{Notes, faults, fleet, lanes, links};
use crate::fault::FaultSpec;
use crate::interconnect::Links;
use crate::limit;

/// The least that `gib` can ask for.
const LEAST_GIB: f64 = 1e-9;
/// The most: limits on blocks are checked behind it.
const MOST_GIB: f64 = 1e9;

/// What the tables say together.
#[derive(Default)]
pub(crate) struct Decoded {
    pub(crate) tiers: Option<TiersConfig>,
    pub(crate) links: Links,
    pub(crate) faults: Vec<FaultSpec>,
    /// The links that handoffs cross.
    pub(crate) handoff_link: fleet::link::Decoded,
}

/// Which tiers a scenario has, and whether it has handoffs.
#[derive(Clone, Copy)]
pub(crate) struct Present {
    tiers: [bool; 4],
    pub(crate) handoffs: bool,
}

impl Present {
    fn has(self, tier: Tier) -> bool {
        self.tiers[tier as usize]
    }

    /// The tier at an end of the lane that is not there.
    pub(crate) fn lacking(self, lane: Lane) -> Option<Tier> {
        [lane.from(), lane.to()].into_iter().find(|&tier| !self.has(tier))
    }
}

/// The tables below G1. `bytes_per_block` is of one block of KV; handoffs have a link and a lane for faults, too.
pub(crate) fn decode(root: &Fields<'_>, bytes_per_block: u64, handoffs: bool, notes: &mut Notes) -> Decoded {
    let present = Present { tiers: [true, root.has("g2"), root.has("g3"), root.has("g4")], handoffs };
    if !present.has(Tier::G2) {
        return without_g2(root, present, notes);
    }
    let mut tier = |name| root.table(name).and_then(|table| tier_of(table, bytes_per_block, notes));
    let (g2, g3, g4) = (tier("g2"), tier("g3"), tier("g4"));
    let mut tiers = TiersConfig { g3, g4, ..TiersConfig::with_g2(1) };
    // A placeholder, in which every chunk fits, where [g2] was refused.
    tiers.g2 = g2.unwrap_or(TierConfig { blocks: limit::TIER_BLOCKS as u32, ..tiers.g2 });
    offload(root, &mut tiers, handoffs, notes);
    tiers.lanes = lanes::decode(root.table("lanes"), present, notes);
    let (links, handoff_link) = links::decode(root.table("links"), present, notes);
    for lane in Lane::ALL {
        tiers.lanes[lane.index()].estimate = links.of(lane).estimate(bytes_per_block);
    }
    let faults = faults::decode(root, present);
    Decoded { tiers: Some(tiers), links, faults, handoff_link }
}

/// Links and faults are there for handoffs alone.
fn without_g2(root: &Fields<'_>, present: Present, notes: &mut Notes) -> Decoded {
    const MEND: &str = "add [g2] with blocks = 1000, or remove it";
    for name in ["g3", "g4", "offload", "lanes"] {
        root.misplaced(name, "it only beside g2", MEND);
    }
    if !present.handoffs {
        for name in ["links", "fault"] {
            let mend =
                "add [g2] with blocks = 1000, or [workers] with prefill = 1 and decode = 1, or remove it";
            root.misplaced(name, "it only beside g2, or prefill and decode workers", mend);
        }
        return Decoded::default();
    }
    let (links, handoff_link) = links::decode(root.table("links"), present, notes);
    Decoded { tiers: None, links, faults: faults::decode(root, present), handoff_link }
}

fn tier_of(fields: Fields<'_>, bytes_per_block: u64, notes: &mut Notes) -> Option<TierConfig> {
    let blocks = fields.count("blocks", 1, limit::TIER_BLOCKS);
    let gib = fields.number("gib", LEAST_GIB, MOST_GIB);
    let eviction = fields.word("eviction", &EVICTIONS).unwrap_or(EvictionPolicy::Lru);
    let size = match (fields.has("blocks"), fields.has("gib")) {
        (false, false) => {
            fields.missing("blocks", "how large the tier is", "add blocks = 1000, or gib = 64.0");
            None
        }
        (true, true) => {
            fields.misplaced("gib", "either blocks or gib", "remove one of the two");
            None
        }
        (true, false) => blocks,
        (false, true) => gib.and_then(|gib| blocks_in(&fields, gib, bytes_per_block, notes)),
    };
    fields.close();
    size.map(|blocks| TierConfig { blocks, eviction })
}

fn blocks_in(fields: &Fields<'_>, gib: f64, bytes_per_block: u64, notes: &mut Notes) -> Option<u32> {
    let bytes = libm::floor(gib * (1u64 << 30) as f64) as u64;
    let blocks = bytes / bytes_per_block.max(1);
    if (1..=limit::TIER_BLOCKS).contains(&blocks) {
        let why = format!("of {} each in {}", Bytes(bytes_per_block), Bytes(bytes));
        notes.default(&fields.key("blocks"), blocks, &why);
        return Some(blocks as u32);
    }
    let expected = format!("room for 1 to {} blocks of {}", limit::TIER_BLOCKS, Bytes(bytes_per_block));
    let mend =
        if blocks == 0 { "write a larger number, or blocks" } else { "write a smaller number, or blocks" };
    fields.refuse(fields.entry("gib")?, expected, mend);
    None
}

/// The policies.
fn offload(root: &Fields<'_>, tiers: &mut TiersConfig, handoffs: bool, notes: &mut Notes) {
    let Some(fields) = root.table("offload") else {
        if !root.has("offload") {
            notes.default("offload.store", "\"on_eviction\"", "as KVBM does");
        }
        return;
    };
    let is_vllm = fields.word("flavour", &[("kvbm", false), ("vllm", true)]).unwrap_or(false);
    if let (true, true, Some(entry)) = (is_vllm, handoffs, fields.entry("flavour")) {
        let expected = "\"kvbm\" beside prefill and decode workers: what a decode worker has comes by handoff, \
                        not through the connector";
        fields.refuse(entry, expected, "write flavour = \"kvbm\", or workers.count");
    }
    let vllm = vllm(&fields, is_vllm);
    tiers.store = store(&fields, is_vllm, notes);
    tiers.holds = holds(&fields, is_vllm);
    if is_vllm {
        tiers.flavour = Flavour::Vllm(vllm);
        if let (true, Some(entry)) =
            (vllm.blocks_per_chunk > tiers.g2.blocks, fields.entry("blocks_per_chunk"))
        {
            let expected = format!("at most the {} blocks of g2", tiers.g2.blocks);
            fields.refuse(entry, expected, "lower it, or enlarge g2");
        }
        for name in ["g3", "g4"] {
            root.misplaced(
                name,
                "one tier, g2, under the flavour \"vllm\"",
                "remove it, or write flavour = \"kvbm\"",
            );
        }
    }
    let loads = [("always", Load::Always), ("never", Load::Never), ("sooner", Load::Sooner)];
    tiers.load = fields.word("load", &loads).unwrap_or(tiers.load);
    let waiters = [("wait", Waiters::Wait), ("recompute", Waiters::Recompute), ("join", Waiters::Join)];
    tiers.waiters = fields.word("waiters", &waiters).unwrap_or(tiers.waiters);
    let gates = [("full_prompt", OnboardGate::FullPrompt), ("loaded_part", OnboardGate::LoadedPart)];
    tiers.onboard_gate = fields.word("onboard_gate", &gates).unwrap_or(tiers.onboard_gate);
    let pressures = [("drop", Pressure::Drop), ("hold", Pressure::Hold)];
    tiers.pressure = fields.word("pressure", &pressures).unwrap_or(tiers.pressure);
    tiers.pin_finished = fields.copy_milliseconds("pin_finished_ms").filter(|pin| *pin > Span::ZERO);
    fields.close();
}

fn store(fields: &Fields<'_>, is_vllm: bool, notes: &mut Notes) -> Store {
    let hits = fields.count("store_hits", 1, limit::STORE_HITS).unwrap_or(2);
    let stores = [
        ("on_eviction", Store::OnEviction),
        ("on_compute", Store::OnCompute),
        ("on_hit", Store::OnHit(hits)),
    ];
    let written = fields.word("store", &stores);
    if !matches!(written, Some(Store::OnHit(_))) {
        fields.misplaced(
            "store_hits",
            "it only beside store = \"on_hit\"",
            "write store = \"on_hit\", or remove it",
        );
    }
    match (written, fields.entry("store")) {
        (Some(Store::OnCompute), _) => Store::OnCompute,
        (None, None) if is_vllm => Store::OnCompute,
        (Some(_), Some(entry)) if is_vllm => {
            let mend = "remove it, or write flavour = \"kvbm\"";
            fields.refuse(entry, "\"on_compute\" under the flavour \"vllm\"", mend);
            Store::OnCompute
        }
        (Some(store), _) => store,
        (None, entry) => {
            if entry.is_none() {
                notes.default("offload.store", "\"on_eviction\"", "as KVBM does");
            }
            Store::OnEviction
        }
    }
}

fn holds(fields: &Fields<'_>, is_vllm: bool) -> Holds {
    let blocks = fields.count("boundary_blocks", 1, limit::G1_BLOCKS).unwrap_or(64);
    let words = [
        ("inclusive", Holds::Inclusive),
        ("exclusive", Holds::Exclusive),
        ("boundary", Holds::Boundary(blocks)),
    ];
    let holds = fields.word("holds", &words).unwrap_or(Holds::Inclusive);
    if !matches!(holds, Holds::Boundary(_)) {
        let mend = "write holds = \"boundary\", or remove it";
        fields.misplaced("boundary_blocks", "it only beside holds = \"boundary\"", mend);
    }
    if let (true, false, Some(entry)) = (is_vllm, holds == Holds::Inclusive, fields.entry("holds")) {
        let mend = "remove it, or write flavour = \"kvbm\"";
        fields.refuse(entry, "\"inclusive\" under the flavour \"vllm\"", mend);
    }
    holds
}

fn vllm(fields: &Fields<'_>, is_vllm: bool) -> VllmConfig {
    let evictions = [("lru", ChunkEviction::Lru), ("arc", ChunkEviction::Arc)];
    let vllm = VllmConfig {
        eviction: fields.word("chunk_eviction", &evictions).unwrap_or(ChunkEviction::Lru),
        store_threshold: fields.count("store_threshold", 1, limit::STORE_HITS).unwrap_or(1),
        blocks_per_chunk: fields.count("blocks_per_chunk", 1, limit::CHUNK_BLOCKS).unwrap_or(1),
        prompt_only: fields.flag("prompt_only").unwrap_or(true),
        sync_load_budget_tokens: fields
            .count("sync_load_budget_tokens", 0, limit::BATCHED_TOKENS)
            .unwrap_or(0),
    };
    if !is_vllm {
        let keys = [
            "chunk_eviction",
            "store_threshold",
            "blocks_per_chunk",
            "prompt_only",
            "sync_load_budget_tokens",
        ];
        for key in keys {
            let mend = "write flavour = \"vllm\", or remove it";
            fields.misplaced(key, "it only beside flavour = \"vllm\"", mend);
        }
    }
    vllm
}
