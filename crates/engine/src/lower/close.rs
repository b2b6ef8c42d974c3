//! A lane whose executor was shut down (rule L5): what waits there ends, and nothing new comes.
//!
//! Everything that would wait there asks first whether the lane is open: filters say no, loads are computed instead.
//! What reaches its queue all the same has failed when its turn comes.

use tierscope_units::{SimTime, TransferId};

use super::lane::Phase;
use super::name::Lane;
use crate::fact::{CopyEnd, CopyFailure};
use crate::machine::{Engine, InputError};

impl Engine {
    /// Ends what is queued or collected on a lane, and lets nothing new in.
    pub(crate) fn close_lane(&mut self, now: SimTime, lane: Lane) -> Result<(), InputError> {
        let Some(lower) = self.lower.as_deref_mut().filter(|lower| lower.has_lane(lane)) else {
            return Err(InputError::LaneUnavailable(lane));
        };
        if lower.lane(lane).shut {
            return Err(InputError::LaneClosed(lane));
        }
        lower.flush(lane);
        lower.lane(lane).shut = true;
        lower.lane(lane).queue.clear();
        lower.stirred |= lower.connector.is_none();
        self.close_jobs(now, lane);
        self.announce_batches(now, lane);
        for transfer in self.queued_on(lane) {
            self.end_batch(now, transfer, CopyEnd::Failed(CopyFailure::Shutdown));
        }
        // What it needs, and what it could get, is another now.
        self.blocked.clear();
        Ok(())
    }

    /// The batches of a lane that wait for a permit or for their next attempt, in the order of their numbers.
    fn queued_on(&self, lane: Lane) -> Vec<TransferId> {
        let batches = self.lower.iter().flat_map(|lower| lower.batches.iter());
        let queued = batches.filter(|(_, batch)| batch.lane == lane && batch.phase == Phase::Queued);
        queued.map(|(transfer, _)| transfer).collect()
    }

    /// Whether a lane was closed.
    pub fn is_lane_closed(&self, lane: Lane) -> bool {
        self.lower.as_deref().is_some_and(|lower| lower.lanes[lane.index()].shut)
    }
}
