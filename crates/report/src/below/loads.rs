//! Requests that load content from below, and requests that wait for a copy.

use std::collections::BTreeMap;

use tierscope_engine::Fact;
use tierscope_units::{RequestId, WorkerId};

use crate::report::LoadCounts;
use crate::spread::Spread;

/// Whose load or wait: a request that is handed on is at two workers for a while.
type Place = (Option<WorkerId>, RequestId);

/// Loads and waits so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loads {
    started: u64,
    ended: u64,
    cancelled: u64,
    loaded_blocks: u64,
    failed_blocks: u64,
    waits_for_copy: u64,
    blocked_on_offload: u64,
    leases: u64,
    leases_expired: u64,
    load: Spread,
    wait: Spread,
    blocked: Spread,
    /// Loads under way, with the time of their start.
    loading: BTreeMap<Place, u64>,
    /// Requests that wait for a copy.
    waiting: BTreeMap<Place, Waiting>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: u64,
    /// For a copy that reads the slots that it needs, and not for one that brings content.
    on_offload: bool,
}

impl Loads {
    /// Reads a fact; those about something else change nothing.
    pub(crate) fn take(&mut self, at: u64, worker: Option<WorkerId>, fact: &Fact) {
        match *fact {
            Fact::OnboardStarted { request, .. } => {
                self.started += 1;
                self.loading.insert((worker, request), at);
            }
            Fact::OnboardEnded { request, loaded_blocks, failed_blocks } => {
                self.loaded_blocks += u64::from(loaded_blocks);
                self.failed_blocks += u64::from(failed_blocks);
                // That of a cancelled request counts as cancelled.
                if let Some(since) = self.loading.remove(&(worker, request)) {
                    self.ended += 1;
                    self.load.add(at.saturating_sub(since));
                }
            }
            Fact::WaitsForCopy { request, .. } => {
                self.waits_for_copy += 1;
                self.waiting.entry((worker, request)).or_insert(Waiting { since: at, on_offload: false });
            }
            Fact::BlockedOnOffload { request, .. } => {
                self.blocked_on_offload += 1;
                self.waiting.entry((worker, request)).or_insert(Waiting { since: at, on_offload: true });
            }
            Fact::Unblocked { request, .. } => {
                if let Some(Waiting { since, on_offload }) = self.waiting.remove(&(worker, request)) {
                    let spread = if on_offload { &mut self.blocked } else { &mut self.wait };
                    spread.add(at.saturating_sub(since));
                }
            }
            Fact::Leased { .. } => self.leases += 1,
            Fact::LeaseEnded { expired, .. } => self.leases_expired += u64::from(expired),
            // What it waited for does not concern it any more.
            Fact::Cancelled { request, .. } | Fact::Withdrawn { request, .. } => {
                self.cancelled += u64::from(self.loading.remove(&(worker, request)).is_some());
                self.waiting.remove(&(worker, request));
            }
            _ => {}
        }
    }

    pub(crate) fn counts(&self) -> LoadCounts {
        LoadCounts {
            started: self.started,
            ended: self.ended,
            cancelled: self.cancelled,
            loaded_blocks: self.loaded_blocks,
            failed_blocks: self.failed_blocks,
            wait_ns: self.load.summary(),
            waits_for_copy: self.waits_for_copy,
            waits_for_copy_ns: self.wait.summary(),
            blocked_on_offload: self.blocked_on_offload,
            blocked_ns: self.blocked.summary(),
            leases: self.leases,
            leases_expired: self.leases_expired,
        }
    }
}
