//! Settlement: has everything come about that certain completions set off? A matter of state, never of time
//! (rules L2–L4).
//!
//! A driver captures a token, reports completions, polls commands until there are none, hands the facts on, and asks.
//! In this machine the answer at such a stable boundary (rule R1) is a fixed point: permits are handed over, blocks
//! registered and facts logged before [`Engine::poll_command`] gives `None`. What the answer adds is the proof,
//! lane by lane, with the counts that it rests on, and a typed reason where it is not so.

mod answer;
#[cfg(test)]
mod tests;
mod token;

pub use answer::{Awaits, LaneFault, Rest, Settled, Settlement, SettlementError};
pub use token::{MachineId, SettlementTarget, SettlementToken};

use super::Lower;
use super::lane::{LaneSnapshot, LaneState};
use super::name::Lane;
use crate::machine::Engine;

impl Engine {
    /// Remembers the state from which a settlement will count. Taken before the completions that it is to cover.
    pub fn capture(&self) -> SettlementToken {
        SettlementToken {
            machine: self.machine,
            lanes: Lane::ALL.map(|lane| self.lane(lane)),
            released_sources: Lane::ALL.map(|lane| self.released_sources(lane)),
            completions: self.lower.as_deref().map_or(0, |lower| lower.completions),
            watermark: self.facts.logged(),
        }
    }

    /// Whether everything is so that `target` asks for since `token`.
    ///
    /// # Errors
    ///
    /// When that cannot be said, or will not come: see [`SettlementError`].
    pub fn settlement(
        &self,
        token: &SettlementToken,
        target: &SettlementTarget,
    ) -> Result<Settlement, SettlementError> {
        self.recognize(token)?;
        let lacking = self.lacking(token, target)?;
        if let Some(pending) = lacking.or_else(|| self.unsaid()) {
            return Ok(pending);
        }
        let mut rests = [Rest::Idle; Lane::COUNT];
        for (rest, lane) in rests.iter_mut().zip(Lane::ALL) {
            let Some(lower) = self.lower.as_deref() else { continue };
            // Nothing is left to poll: what could start has started.
            let broken = SettlementError::LaneFailed { lane, kind: LaneFault::Invariant };
            *rest = lower.rest(lane).ok_or(broken)?;
        }
        if target.covers_chains()
            && let Some(pending) = self.lower.as_deref().and_then(|lower| lower.chained_since(token))
        {
            return Ok(pending);
        }
        let watermark = self.facts.logged();
        let unread = watermark - self.facts.published();
        if unread > 0 {
            return Ok(Settlement::Pending { lane: None, missing: unread, why: Awaits::Publication });
        }
        let lanes = Lane::ALL.map(|lane| self.lane(lane));
        let released_sources =
            Lane::ALL.map(|lane| self.released_sources(lane) - token.released_sources[lane.index()]);
        Ok(Settlement::Settled(Settled { watermark, lanes, rests, released_sources }))
    }

    /// Source slots that batches of a lane have released so far, each when its last reader ended (rule L6).
    pub fn released_sources(&self, lane: Lane) -> u64 {
        self.lane_state(lane).map_or(0, |state| state.released_sources)
    }

    fn lane_state(&self, lane: Lane) -> Option<&LaneState> {
        Some(&self.lower.as_deref()?.lanes[lane.index()])
    }

    /// The token is of this machine, and of a state that it has been in, as far as counts can tell: none of them
    /// ever falls.
    fn recognize(&self, token: &SettlementToken) -> Result<(), SettlementError> {
        if token.machine != self.machine {
            return Err(SettlementError::ForeignToken { token: token.machine, machine: self.machine });
        }
        let now = self.capture();
        let fell = |before: LaneSnapshot, now: LaneSnapshot| {
            now.epoch < before.epoch
                || now.completed < before.completed
                || now.failed < before.failed
                || now.cancelled < before.cancelled
        };
        let stale = now.watermark < token.watermark
            || now.completions < token.completions
            || token.lanes.iter().zip(now.lanes).any(|(&before, now)| fell(before, now))
            || token.released_sources.iter().zip(now.released_sources).any(|(&before, now)| now < before);
        if stale { Err(SettlementError::StaleToken) } else { Ok(()) }
    }

    /// The first lane that lacks completions, with how many; an error where they will not come.
    fn lacking(
        &self,
        token: &SettlementToken,
        target: &SettlementTarget,
    ) -> Result<Option<Settlement>, SettlementError> {
        let mut first = None;
        for lane in Lane::ALL {
            let demanded = target.demands(lane);
            let is_there = self.lower.as_deref().is_some_and(|lower| lower.has_lane(lane));
            if demanded && !is_there {
                return Err(SettlementError::LaneUnavailable(lane));
            }
            let goal = target.goal(lane, token.lane(lane).completed)?;
            let Some(state) = self.lane_state(lane) else { continue };
            if let Some(kind) = state.fault {
                return Err(SettlementError::LaneFailed { lane, kind });
            }
            let missing = goal.saturating_sub(state.snapshot.completed);
            if missing == 0 {
                continue;
            }
            if state.snapshot.failed > token.lane(lane).failed
                && let Some(failure) = state.last_failure
            {
                return Err(SettlementError::LaneFailed { lane, kind: failure.into() });
            }
            let coming = state.snapshot.live();
            if state.shut && coming < missing {
                return Err(SettlementError::ProgressClosed(lane));
            }
            let why = match coming == 0 && state.open.is_none() {
                true => Awaits::Batches,
                false => Awaits::Completions,
            };
            first = first.or(Some(Settlement::Pending { lane: Some(lane), missing, why }));
        }
        Ok(first)
    }

    /// Commands that have not been polled.
    fn unsaid(&self) -> Option<Settlement> {
        let pending = Settlement::Pending { lane: None, missing: 0, why: Awaits::Commands };
        (!self.at_rest).then_some(pending)
    }
}

impl Lower {
    /// On what a lane rests; `None` when it is not stable (rule L2).
    fn rest(&self, lane: Lane) -> Option<Rest> {
        let state = &self.lanes[lane.index()];
        let LaneSnapshot { queued, starting, settling, .. } = state.snapshot;
        match self.connector.is_some() && queued > 0 {
            true => (starting == 0 && settling == 0).then_some(Rest::Pass),
            false => state.rest(),
        }
    }

    /// The first lane with batches that completions since the token have set off.
    ///
    /// A batch carries the number of the newest completion that fed it. What it sets off in turn carries its own,
    /// later number: so the whole chain is found by comparing with the token's.
    fn chained_since(&self, token: &SettlementToken) -> Option<Settlement> {
        let open = self.lanes.iter().filter_map(|lane| Some(&*lane.open.as_ref()?.batch));
        let set_off = |lane: Lane| {
            let live = self.batches.values().chain(open.clone()).filter(|batch| batch.lane == lane);
            live.filter(|batch| batch.set_off_by > token.completions).count() as u64
        };
        let counted = Lane::ALL.into_iter().map(|lane| (lane, set_off(lane)));
        let (lane, missing) = counted.into_iter().find(|&(_, count)| count > 0)?;
        Some(Settlement::Pending { lane: Some(lane), missing, why: Awaits::Chains })
    }
}
