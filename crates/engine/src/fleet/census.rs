//! Who waits between the workers, and for what (rule R3).

use tierscope_units::{RequestId, SimTime, WorkerId};

use super::{Fleet, Place};
use crate::fact::HandoffPhase;
use crate::input::Leg;

/// A request that is at no worker, or at two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FleetWait {
    /// It is at the router: no worker can take it.
    AtRouter {
        /// The request.
        request: RequestId,
        /// The part of its life that it waits for.
        leg: Leg,
    },
    /// It is handed from one worker to another.
    HandedOff {
        /// The request.
        request: RequestId,
        /// How far the handoff is.
        phase: HandoffPhase,
        /// The worker that computes or holds its prompt.
        source: WorkerId,
        /// The worker that will answer it, once it is known.
        destination: Option<WorkerId>,
        /// When the handoff is given up.
        lease_until: Option<SimTime>,
    },
}

impl FleetWait {
    /// The request.
    pub fn request(&self) -> RequestId {
        match *self {
            Self::AtRouter { request, .. } | Self::HandedOff { request, .. } => request,
        }
    }
}

impl Fleet {
    /// Requests that are at the router or handed off, in the order of their numbers.
    pub fn between(&self) -> impl Iterator<Item = FleetWait> {
        self.journeys.iter().filter_map(|(&request, journey)| match (journey.place, journey.handoff) {
            (Place::AtRouter(leg), _) => Some(FleetWait::AtRouter { request, leg }),
            (Place::Between, Some(handoff)) => Some(FleetWait::HandedOff {
                request,
                phase: handoff.phase,
                source: handoff.source,
                destination: handoff.destination,
                lease_until: handoff.lease_until,
            }),
            _ => None,
        })
    }
}
