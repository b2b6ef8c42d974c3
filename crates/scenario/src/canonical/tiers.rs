//! The canonical form of what lies below G1, and of links and faults. Sizes are in blocks and rates are figures, whatever the text said;
//! lanes and links that the scenario's tiers do not have are left out.

use serde_json::{Map, Value, json};
use tierscope_engine::{
    ChunkEviction, Filter, Flavour, Holds, Lane, LaneConfig, Load, OnboardGate, Pressure, Store, TierConfig,
    TiersConfig, VllmConfig, Waiters,
};
use tierscope_units::Span;

use super::fleet::handoff_link_json;
use super::{eviction_word, ms, object};
use crate::fault::{FaultKind, FaultSpec, HANDOFF_LANE, When};
use crate::interconnect::{LinkRates, gb_per_s};
use crate::scenario::Scenario;

impl Scenario {
    /// The tables below G1, links and faults: none without tiers and handoffs.
    pub(super) fn tiers_json(&self) -> Map<String, Value> {
        let mut form = self.engine.tiers.as_ref().map(tiers_json).unwrap_or_default();
        let links = self.links_json();
        if !links.is_empty() {
            form.insert("links".into(), Value::Object(links));
        }
        if !self.faults.is_empty() {
            form.insert("fault".into(), self.faults.iter().map(fault_json).collect());
        }
        form
    }

    fn links_json(&self) -> Map<String, Value> {
        let tiers = self.engine.tiers.as_ref();
        let links = [
            ("pcie", tiers.map(|_| self.links.pcie)),
            ("disk", tiers.and_then(|tiers| tiers.g3).map(|_| self.links.disk)),
            ("object", tiers.and_then(|tiers| tiers.g4).map(|_| self.links.object)),
        ];
        let mut form = object(links.into_iter().filter_map(|(key, rates)| Some((key, link_json(rates?)))));
        if let Some(fleet) = self.fleet.as_ref().filter(|fleet| fleet.has_handoffs()) {
            form.insert("handoff".into(), handoff_link_json(&fleet.handoff_link));
        }
        form
    }
}

fn tiers_json(tiers: &TiersConfig) -> Map<String, Value> {
    let sizes = [("g2", Some(tiers.g2)), ("g3", tiers.g3), ("g4", tiers.g4)];
    let mut form = object(sizes.into_iter().filter_map(|(key, tier)| Some((key, tier_json(tier?)))));
    form.insert("offload".into(), Value::Object(offload_json(tiers)));
    let has = |lane: Lane| match lane {
        Lane::G1ToG2 | Lane::G2ToG1 => true,
        Lane::G2ToG3 | Lane::G3ToG2 => tiers.g3.is_some(),
        Lane::G2ToG4 | Lane::G4ToG2 => tiers.g4.is_some(),
    };
    let lanes = Lane::ALL.into_iter().filter(|&lane| has(lane));
    let lanes = lanes.map(|lane| (lane.name(), lane_json(&tiers.lanes[lane.index()])));
    form.insert("lanes".into(), Value::Object(object(lanes)));
    form
}

fn tier_json(tier: TierConfig) -> Value {
    json!({ "blocks": tier.blocks, "eviction": eviction_word(tier.eviction) })
}

fn offload_json(tiers: &TiersConfig) -> Map<String, Value> {
    let mut form = object([
        (
            "load",
            json!(match tiers.load {
                Load::Always => "always",
                Load::Never => "never",
                Load::Sooner => "sooner",
            }),
        ),
        (
            "waiters",
            json!(match tiers.waiters {
                Waiters::Wait => "wait",
                Waiters::Recompute => "recompute",
                Waiters::Join => "join",
            }),
        ),
        (
            "onboard_gate",
            json!(match tiers.onboard_gate {
                OnboardGate::FullPrompt => "full_prompt",
                OnboardGate::LoadedPart => "loaded_part",
            }),
        ),
        (
            "pressure",
            json!(match tiers.pressure {
                Pressure::Drop => "drop",
                Pressure::Hold => "hold",
            }),
        ),
        ("pin_finished_ms", ms(tiers.pin_finished.unwrap_or(Span::ZERO))),
    ]);
    form.extend(match tiers.store {
        Store::OnEviction => object([("store", json!("on_eviction"))]),
        Store::OnCompute => object([("store", json!("on_compute"))]),
        Store::OnHit(hits) => object([("store", json!("on_hit")), ("store_hits", json!(hits))]),
    });
    form.extend(match tiers.holds {
        Holds::Inclusive => object([("holds", json!("inclusive"))]),
        Holds::Exclusive => object([("holds", json!("exclusive"))]),
        Holds::Boundary(blocks) => object([("holds", json!("boundary")), ("boundary_blocks", json!(blocks))]),
    });
    form.extend(match tiers.flavour {
        Flavour::Kvbm => object([("flavour", json!("kvbm"))]),
        Flavour::Vllm(vllm) => vllm_json(vllm),
    });
    form
}

fn vllm_json(vllm: VllmConfig) -> Map<String, Value> {
    let eviction = match vllm.eviction {
        ChunkEviction::Lru => "lru",
        ChunkEviction::Arc => "arc",
    };
    object([
        ("flavour", json!("vllm")),
        ("chunk_eviction", json!(eviction)),
        ("store_threshold", json!(vllm.store_threshold)),
        ("blocks_per_chunk", json!(vllm.blocks_per_chunk)),
        ("prompt_only", json!(vllm.prompt_only)),
        ("sync_load_budget_tokens", json!(vllm.sync_load_budget_tokens)),
    ])
}

/// The estimate is derived from the link.
fn lane_json(lane: &LaneConfig) -> Value {
    let mut form = object([
        ("max_concurrent", json!(lane.max_concurrent)),
        ("batch_blocks", json!(lane.batch_blocks)),
        ("flush_after_ms", ms(lane.flush_after)),
        ("retries", json!(lane.retries)),
    ]);
    if lane.retries > 0 {
        form.insert("backoff_ms".into(), ms(lane.backoff));
    }
    if let Some(timeout) = lane.timeout {
        form.insert("timeout_ms".into(), ms(timeout));
    }
    form.extend(match lane.filter {
        Filter::None => object([("filter", json!("none"))]),
        Filter::Presence => object([("filter", json!("presence"))]),
        Filter::PresenceFrequency(uses) => {
            object([("filter", json!("frequency")), ("min_uses", json!(uses))])
        }
    });
    Value::Object(form)
}

fn link_json(rates: LinkRates) -> Value {
    json!({
        "down_gb_per_s": gb_per_s(rates.down.alone_bytes_per_s),
        "up_gb_per_s": gb_per_s(rates.up.alone_bytes_per_s),
        "down_with_up_gb_per_s": gb_per_s(rates.down.both_bytes_per_s),
        "up_with_down_gb_per_s": gb_per_s(rates.up.both_bytes_per_s),
        "latency_us": rates.down.latency.as_ns() as f64 / 1e3,
    })
}

fn fault_json(fault: &FaultSpec) -> Value {
    let lane = match fault.lane {
        HANDOFF_LANE => Some("handoff"),
        lane => Lane::ALL.get(usize::from(lane)).map(|lane| lane.name()),
    };
    let mut form = object([("lane", json!(lane))]);
    form.extend(match fault.kind {
        FaultKind::Fail => object([("kind", json!("fail"))]),
        FaultKind::Stall(span) => object([("kind", json!("stall")), ("stall_ms", ms(span))]),
        FaultKind::SlowDown { times_milli } => {
            object([("kind", json!("slow")), ("factor", json!(f64::from(times_milli) / 1e3))])
        }
        FaultKind::Lose => object([("kind", json!("lose"))]),
        FaultKind::Corrupt => object([("kind", json!("corrupt"))]),
    });
    let instant = |at: tierscope_units::SimTime| ms(Span::from_ns(at.as_ns()));
    form.extend(match fault.when {
        When::Nth(count) => object([("nth", json!(count))]),
        When::Every(count) => object([("every", json!(count))]),
        When::From { at, until: None } => object([("from_ms", instant(at))]),
        When::From { at, until: Some(until) } => {
            object([("from_ms", instant(at)), ("until_ms", instant(until))])
        }
        When::Rate { per_million } => object([("rate", json!(f64::from(per_million) / 1e6))]),
    });
    Value::Object(form)
}
