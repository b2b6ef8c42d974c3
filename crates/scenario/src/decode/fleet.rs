//! Several workers: `[workers]`, `[router]`, `[handoff]`, `[links.handoff]`, `[[worker]]` and `[[message_fault]]`.

mod changes;
mod handoff;
pub(crate) mod link;
mod messages;
mod router;
mod workers;

pub(crate) use workers::Workers;

use super::Notes;
use super::fields::Fields;
use crate::fleet::{FleetSpec, HandoffLink};
use crate::preset::ModelPreset;

/// What tables that mean nothing without handoffs are told.
pub(crate) const WITH_HANDOFFS: (&str, &str) = (
    "it only beside workers.prefill and workers.decode",
    "write these two instead of workers.count, or remove it",
);

/// What other tables say that these depend on.
pub(crate) struct Beside {
    /// The links that handoffs cross.
    pub(crate) link: link::Decoded,
    /// The model, when one is named.
    pub(crate) model: Option<&'static ModelPreset>,
    /// How many requests there are, where that is known.
    pub(crate) requests: Option<u64>,
}

/// The fleet of a scenario with `[workers]`; `None` without, or when its size was refused.
pub(crate) fn decode(
    root: &Fields<'_>,
    workers: Option<Workers>,
    beside: Beside,
    notes: &mut Notes,
) -> Option<FleetSpec> {
    let Some(workers) = workers else {
        for name in ["router", "handoff", "worker", "message_fault"] {
            // A key of workers that is no table has been refused.
            if root.has(name) && !root.has("workers") {
                root.misplaced(name, "it only beside workers", "add [workers] with count = 2, or remove it");
            }
        }
        return None;
    };
    let router = router::decode(root.table("router"), workers.total(), notes);
    let (handoff, message_faults) = if workers.has_handoffs {
        let handoff = handoff::decode(root.table("handoff"), beside.model, notes);
        (handoff, messages::decode(root, beside.requests))
    } else {
        let (expected, mend) = WITH_HANDOFFS;
        root.misplaced("handoff", expected, mend);
        root.misplaced("message_fault", expected, mend);
        (handoff::Decoded::default(), Vec::new())
    };
    let changes = changes::decode(root, &workers);
    Some(FleetSpec {
        roles: workers.roles()?,
        present: workers.present()?,
        workers_per_host: workers.per_host,
        decode_g1_blocks: workers.decode_g1_blocks,
        startup: workers.startup,
        router,
        handoff: handoff.config,
        handoff_link: HandoffLink {
            rate: beside.link.rate,
            shared_by: beside.link.shared_by,
            layers: handoff.layers,
        },
        message_delay: handoff.message_delay,
        message_faults,
        changes,
    })
}
