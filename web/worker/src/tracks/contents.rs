//! When the content of a block became matchable, and when it was no longer: the newest of both, found by hash.

use std::collections::VecDeque;

use tierscope_engine::{BlockList, Fact, FactLog, Tier};
use tierscope_units::{SequenceHash, SimTime};

/// What happened to a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// Nanoseconds.
    pub at: u64,
    /// Which.
    pub hash: SequenceHash,
    /// Where.
    pub tier: Tier,
    /// Whether it became matchable, or is no longer.
    pub stored: bool,
}

/// The newest of them, oldest first.
#[derive(Debug, Default)]
pub struct Contents {
    kept: VecDeque<Content>,
    dropped: u64,
}

/// Most of them kept: 12 MB.
const KEPT_MAX: usize = 500_000;

impl Contents {
    pub(super) fn take(&mut self, at: SimTime, fact: &Fact, log: &FactLog) {
        match *fact {
            Fact::Stored { blocks, .. } | Fact::ClaimActivated { blocks, .. } => {
                self.enter(at, log, blocks, Tier::G1, true);
            }
            Fact::Removed { blocks } => self.enter(at, log, blocks, Tier::G1, false),
            Fact::TierStored { tier, blocks } => self.enter(at, log, blocks, tier, true),
            Fact::TierRemoved { tier, blocks } => self.enter(at, log, blocks, tier, false),
            _ => {}
        }
    }

    fn enter(&mut self, at: SimTime, log: &FactLog, blocks: BlockList, tier: Tier, stored: bool) {
        for block in log.blocks(blocks) {
            if self.kept.len() == KEPT_MAX {
                self.kept.pop_front();
                self.dropped += 1;
            }
            self.kept.push_back(Content { at: at.as_ns(), hash: block.hash, tier, stored });
        }
    }

    /// Those that are kept.
    pub fn iter(&self) -> impl Iterator<Item = Content> {
        self.kept.iter().copied()
    }

    /// How many were dropped to keep the newest.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}
