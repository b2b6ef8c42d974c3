//! Lines about what lies below G1: batches on lanes, and loads.

use tierscope_engine::{CopyEnd, Fact, Loaded};

use super::Line;

impl Line<'_> {
    /// A batch, and the end of a wait for one.
    pub(super) fn copy(&mut self, fact: &Fact) {
        match *fact {
            Fact::CopyQueued { transfer, lane, cause, request, blocks } => {
                self.number("transfer", transfer.0);
                self.word("lane", lane.name());
                self.word("cause", cause.name());
                match request {
                    Some(request) => self.number("request", request.0),
                    None => self.number("request", "null"),
                }
                self.blocks("source_blocks", blocks);
            }
            Fact::CopyStarted { transfer, lane, blocks } => {
                self.number("transfer", transfer.0);
                self.word("lane", lane.name());
                self.blocks("destination_blocks", blocks);
            }
            Fact::CopyRetried { transfer, failure, attempt, at } => {
                self.number("transfer", transfer.0);
                self.word("failure", failure.name());
                self.number("attempt", attempt);
                self.number("again_at_ns", at.as_ns());
            }
            Fact::CopyFlushed { transfer } => self.number("transfer", transfer.0),
            Fact::CopyEnded { transfer, lane, end, released } => {
                self.number("transfer", transfer.0);
                self.word("lane", lane.name());
                match end {
                    CopyEnd::Completed => self.word("end", "completed"),
                    CopyEnd::Cancelled => self.word("end", "cancelled"),
                    CopyEnd::Failed(failure) => {
                        self.word("end", "failed");
                        self.word("failure", failure.name());
                    }
                }
                self.number("released_blocks", released);
            }
            Fact::Unblocked { request, transfer } => {
                self.number("transfer", transfer.0);
                self.number("request", request.0);
            }
            _ => {}
        }
    }

    /// A request that loads, or waits for somebody else's copy.
    pub(super) fn load(&mut self, fact: &Fact) {
        match *fact {
            Fact::OnboardStarted { request, hit_blocks, g2_blocks, g3_blocks, g4_blocks } => {
                self.number("request", request.0);
                self.number("hit_blocks", hit_blocks);
                self.number("g2_blocks", g2_blocks);
                self.number("g3_blocks", g3_blocks);
                self.number("g4_blocks", g4_blocks);
            }
            Fact::OnboardEnded { request, loaded_blocks, failed_blocks } => {
                self.number("request", request.0);
                self.number("loaded_blocks", loaded_blocks);
                self.number("failed_blocks", failed_blocks);
            }
            Fact::WaitsForCopy { request, transfer, deadline } => {
                self.number("request", request.0);
                self.number("transfer", transfer.0);
                self.number("deadline_ns", deadline.as_ns());
            }
            Fact::Leased { request, blocks, until } => {
                self.number("request", request.0);
                self.blocks("blocks", blocks);
                self.number("until_ns", until.as_ns());
            }
            Fact::LeaseEnded { request, released, expired } => {
                self.number("request", request.0);
                self.number("released_blocks", released);
                self.number("expired", expired);
            }
            _ => {}
        }
    }

    /// What an admission owes to the tiers below; nothing where it owes them nothing.
    pub(super) fn loaded(&mut self, loaded: Loaded) {
        if loaded != Loaded::default() {
            self.number("loaded_g2_tokens", loaded.g2_tokens);
            self.number("loaded_g3_tokens", loaded.g3_tokens);
            self.number("loaded_g4_tokens", loaded.g4_tokens);
        }
    }
}
