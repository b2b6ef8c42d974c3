//! `[router]`: how a worker is chosen, and how late the router's news is (rules H6, R4).

use tierscope_engine::{CostTerms, Expiry, Publish, REPLICAS_MAX, RouterConfig, RouterKind};
use tierscope_units::Span;

use crate::decode::Notes;
use crate::decode::fields::Fields;
use crate::fleet::COST_TERMS;
use crate::limit;

/// What a router is unless something is written.
const STANDARD: RouterKind = RouterKind::RoundRobin;

/// Least time without news that something expires after, in seconds.
const EXPIRY_LEAST_S: f64 = 0.001;

/// The router of so many workers, where that is known.
pub(super) fn decode(table: Option<Fields<'_>>, workers: Option<u32>, notes: &mut Notes) -> RouterConfig {
    let Some(fields) = table else {
        note_kind(notes);
        return RouterConfig::of(STANDARD);
    };
    let kinds = [RouterKind::RoundRobin, RouterKind::LeastLoaded, RouterKind::KvAware];
    let kind = fields.word("kind", &kinds.map(|kind| (kind.name(), kind)));
    if !fields.has("kind") {
        note_kind(notes);
    }
    let kind = kind.unwrap_or(STANDARD);
    let expiry = fields.number("expiry_s", EXPIRY_LEAST_S, limit::LEASE_S);
    let config = RouterConfig {
        kind,
        replicas: fields.count("replicas", 1, u64::from(REPLICAS_MAX)).unwrap_or(1),
        sync_delay: fields.copy_milliseconds("sync_ms").unwrap_or(Span::ZERO),
        publish: publish(&fields, kind, notes),
        event_delay: fields.copy_milliseconds("event_delay_ms").unwrap_or(Span::ZERO),
        cost: cost(&fields, kind, notes),
        expiry: expiry.map_or(Expiry::REPLAY, |s| Expiry { after: Some(Span::from_ms_f64(s * 1e3)) }),
    };
    if config.replicas == 1 {
        fields.misplaced("sync_ms", "it only beside replicas", "add replicas = 2, or remove it");
    }
    let workers = u64::from(workers.unwrap_or(1));
    if let (true, Some(entry)) =
        (u64::from(config.replicas) * workers > limit::ROUTER_BOOKS, fields.entry("replicas"))
    {
        let expected = format!("at most {} replicas for {workers} workers", limit::ROUTER_BOOKS / workers);
        fields.refuse(entry, expected, "lower it, or write fewer workers");
    }
    fields.close();
    config
}

fn note_kind(notes: &mut Notes) {
    notes.default(
        "router.kind",
        format!("\"{}\"", STANDARD.name()),
        "the plainest; \"kv_aware\" looks at caches",
    );
}

/// At the end of the pass, as what a pass does shows then (rule R1): at its start the router would count on blocks
/// that are still to be computed.
fn publish(fields: &Fields<'_>, kind: RouterKind, notes: &mut Notes) -> Publish {
    let words = [Publish::PassStart, Publish::PassEnd].map(|publish| (publish.name(), publish));
    let written = fields.word("publish", &words);
    if !fields.has("publish") && kind == RouterKind::KvAware {
        let why = "a block is news when it has been computed";
        notes.default("router.publish", format!("\"{}\"", Publish::PassEnd.name()), why);
    }
    written.unwrap_or(Publish::PassEnd)
}

/// The weights, which only the KV-aware router looks at.
fn cost(fields: &Fields<'_>, kind: RouterKind, notes: &mut Notes) -> CostTerms {
    let mut cost = CostTerms::default();
    let mut is_written = false;
    for (name, term) in COST_TERMS {
        is_written |= fields.has(name);
        if let Some(weight) = fields.number(name, 0.0, limit::ROUTER_WEIGHT) {
            *term(&mut cost) = weight;
        }
        if kind != RouterKind::KvAware {
            let mend = "write kind = \"kv_aware\", or remove it";
            fields.misplaced(name, "it only beside kind = \"kv_aware\"", mend);
        }
    }
    if kind != RouterKind::KvAware {
        return CostTerms::default();
    }
    if !is_written {
        let credits = [cost.overlap_score_credit, cost.host_cache_hit_weight, cost.disk_cache_hit_weight]
            .map(|c| c.to_string());
        let why = "blocks credited for one in G1, G2 and G3, as Dynamo publishes them";
        notes.default("router's credits", credits.join(", "), why);
    }
    cost
}
