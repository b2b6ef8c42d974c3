//! One worker of several: what it served, how busy it was, what it found in its caches.

use tierscope_engine::{Fact, WorkerState};

use super::is_gone;
use crate::folds::WorkerSetup;
use crate::report::TierCounts;
use crate::requests::Hits;

/// One worker so far.
#[derive(Clone, Debug)]
pub(crate) struct WorkerFold {
    pub(crate) state: WorkerState,
    pub(crate) lost: u64,
    pub(crate) finished: u64,
    pub(crate) prompts_held: u64,
    pub(crate) joined: u64,
    pub(crate) withdrawn: u64,
    pub(crate) passes: u64,
    pub(crate) prefill_tokens: u64,
    pub(crate) decode_tokens: u64,
    pub(crate) preemptions: u64,
    pub(crate) first_admission: Hits,
    pub(crate) g1: TierCounts,
    busy_ns: u64,
    /// Since when a pass is under way; only while one is.
    busy_since: u64,
    passes_under_way: u32,
}

impl WorkerFold {
    pub(super) fn new(setup: &WorkerSetup) -> Self {
        Self {
            state: if setup.present { WorkerState::Ready } else { WorkerState::Absent },
            lost: 0,
            finished: 0,
            prompts_held: 0,
            joined: 0,
            withdrawn: 0,
            passes: 0,
            prefill_tokens: 0,
            decode_tokens: 0,
            preemptions: 0,
            first_admission: Hits::default(),
            g1: TierCounts { capacity_blocks: setup.g1_blocks, ..TierCounts::default() },
            busy_ns: 0,
            busy_since: 0,
            passes_under_way: 0,
        }
    }

    /// Reads one of its facts.
    pub(super) fn take(&mut self, at: u64, fact: &Fact, asked_tokens: u32) {
        match *fact {
            Fact::PassStarted(start) => {
                if self.passes_under_way == 0 {
                    self.busy_since = at;
                }
                self.passes_under_way += 1;
                self.passes += 1;
                self.prefill_tokens += u64::from(start.prefill_tokens);
                self.decode_tokens += u64::from(start.decode_tokens);
                self.g1.active_max = self.g1.active_max.max(start.g1.active);
                self.g1.cached_max = self.g1.cached_max.max(start.g1.cached);
                self.g1.source_hold_max = self.g1.source_hold_max.max(start.g1.source_hold);
            }
            Fact::PassEnded { .. } => {
                self.passes_under_way = self.passes_under_way.saturating_sub(1);
                if self.passes_under_way == 0 {
                    self.busy_ns += at.saturating_sub(self.busy_since);
                }
            }
            Fact::Admitted { cached_tokens, loaded, readmission: false, .. } => {
                self.first_admission.add(cached_tokens, loaded, asked_tokens);
            }
            Fact::Stored { blocks, .. } | Fact::ClaimActivated { blocks, .. } => {
                self.g1.stored += u64::from(blocks.len());
            }
            Fact::Removed { blocks } => self.g1.removed += u64::from(blocks.len()),
            Fact::Preempted { .. } => self.preemptions += 1,
            Fact::SourceHeld { .. } => self.prompts_held += 1,
            Fact::Joined { .. } => self.joined += 1,
            Fact::Withdrawn { .. } => self.withdrawn += 1,
            Fact::Finished { .. } => self.finished += 1,
            _ => {}
        }
    }

    /// It comes or goes. The passes of one that is gone do not end.
    pub(super) fn becomes(&mut self, at: u64, state: WorkerState) {
        self.state = state;
        self.lost += u64::from(state == WorkerState::Lost);
        if is_gone(state) && std::mem::take(&mut self.passes_under_way) > 0 {
            self.busy_ns += at.saturating_sub(self.busy_since);
        }
    }

    /// Time with a pass under way, until `last_ns`.
    pub(crate) fn busy_ns(&self, last_ns: u64) -> u64 {
        let under_way = match self.passes_under_way {
            0 => 0,
            _ => last_ns.saturating_sub(self.busy_since),
        };
        self.busy_ns + under_way
    }
}
