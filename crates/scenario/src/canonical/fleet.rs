//! The canonical form of several workers: none for one worker that needs no router. What the scenario's router or
//! roles do not look at is left out.

use serde_json::{Map, Value, json};
use tierscope_engine::{HandoffBytes, HandoffOrder, Role, RouterConfig, RouterKind, WorkerChange};
use tierscope_units::{Idx, Span};

use super::{ms, object};
use crate::fleet::{COST_TERMS, Change, FleetSpec, HandoffLink, MessageFate, MessageFault, SharedBy};
use crate::interconnect::gb_per_s;
use crate::scenario::Scenario;

impl Scenario {
    /// The tables of several workers; links and faults are beside those of tiers.
    pub(super) fn fleet_json(&self) -> Map<String, Value> {
        let Some(fleet) = &self.fleet else { return Map::new() };
        let mut form = object([("workers", workers_json(fleet)), ("router", router_json(&fleet.router))]);
        if fleet.has_handoffs() {
            form.insert("handoff".into(), handoff_json(fleet));
        }
        if !fleet.changes.is_empty() {
            form.insert("worker".into(), fleet.changes.iter().map(change_json).collect());
        }
        if !fleet.message_faults.is_empty() {
            form.insert(
                "message_fault".into(),
                fleet.message_faults.iter().map(message_fault_json).collect(),
            );
        }
        form
    }
}

fn workers_json(fleet: &FleetSpec) -> Value {
    let count = |role| fleet.roles.iter().filter(|&&one| one == role).count();
    let mut form = if fleet.has_handoffs() {
        object([("prefill", json!(count(Role::Prefill))), ("decode", json!(count(Role::Decode)))])
    } else {
        object([("count", json!(count(Role::Whole)))])
    };
    form.extend(object([("per_host", json!(fleet.workers_per_host)), ("startup_ms", ms(fleet.startup))]));
    let absent = fleet.present.iter().enumerate().filter(|&(_, &is_there)| !is_there);
    let absent: Vec<usize> = absent.map(|(worker, _)| worker).collect();
    if !absent.is_empty() {
        form.insert("absent".into(), json!(absent));
    }
    if let Some(blocks) = fleet.decode_g1_blocks {
        form.insert("decode_g1_blocks".into(), json!(blocks));
    }
    Value::Object(form)
}

fn router_json(router: &RouterConfig) -> Value {
    let mut form = object([
        ("kind", json!(router.kind.name())),
        ("replicas", json!(router.replicas)),
        ("publish", json!(router.publish.name())),
        ("event_delay_ms", ms(router.event_delay)),
    ]);
    if router.replicas > 1 {
        form.insert("sync_ms".into(), ms(router.sync_delay));
    }
    if let Some(after) = router.expiry.after {
        form.insert("expiry_s".into(), seconds(after));
    }
    if router.kind == RouterKind::KvAware {
        let mut cost = router.cost;
        form.extend(object(COST_TERMS.map(|(name, term)| (name, json!(*term(&mut cost))))));
    }
    Value::Object(form)
}

fn handoff_json(fleet: &FleetSpec) -> Value {
    let handoff = &fleet.handoff;
    let mut form = object([
        (
            "order",
            json!(match handoff.order {
                HandoffOrder::SourceFirst => "source_first",
                HandoffOrder::DestinationFirst => "destination_first",
            }),
        ),
        (
            "bytes",
            json!(match handoff.bytes {
                HandoffBytes::DestinationMissing => "destination_missing",
                HandoffBytes::FullPrompt => "full_prompt",
            }),
        ),
        ("transfer", json!(if handoff.pipelined { "layers" } else { "whole" })),
        ("lease_s", handoff.lease.map_or(json!("never"), seconds)),
        ("message_delay_ms", ms(fleet.message_delay)),
    ]);
    if handoff.pipelined {
        form.insert("layers".into(), json!(fleet.handoff_link.layers));
    }
    Value::Object(form)
}

pub(super) fn handoff_link_json(link: &HandoffLink) -> Value {
    json!({
        "gb_per_s": gb_per_s(link.rate.alone_bytes_per_s),
        "latency_us": link.rate.latency.as_ns() as f64 / 1e3,
        "shared_by": match link.shared_by {
            SharedBy::Source => "source",
            SharedBy::Destination => "destination",
            SharedBy::All => "all",
        },
    })
}

fn change_json(change: &Change) -> Value {
    json!({
        "at_ms": ms(change.at),
        "worker": change.worker.index(),
        "change": match change.change {
            WorkerChange::Start => "start",
            WorkerChange::Drain => "drain",
            WorkerChange::Lose => "lose",
        },
    })
}

fn message_fault_json(fault: &MessageFault) -> Value {
    let mut form = object([("after", json!(fault.after))]);
    if let Some(kind) = fault.kind {
        form.insert("message".into(), json!(kind.name()));
    }
    if let Some(request) = fault.request {
        form.insert("request".into(), json!(request.0));
    }
    if let Some(count) = fault.count {
        form.insert("count".into(), json!(count));
    }
    form.extend(match fault.fate {
        MessageFate::Lost => object([("fate", json!("lost"))]),
        MessageFate::Doubled(later) => object([("fate", json!("doubled")), ("delay_ms", ms(later))]),
        MessageFate::Late(later) => object([("fate", json!("late")), ("delay_ms", ms(later))]),
    });
    Value::Object(form)
}

/// Exact to the nanosecond: leases end within a day.
fn seconds(span: Span) -> Value {
    json!(span.as_ns() as f64 / 1e9)
}
