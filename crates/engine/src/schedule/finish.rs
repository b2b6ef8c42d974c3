//! The end of a pass: sampling rows gain tokens, rejected drafts are rolled back, finished requests leave.

use tierscope_units::SimTime;

use super::{Batch, Row};
use crate::config::Fidelity;
use crate::fact::Fact;
use crate::input::{Leg, Sampled};
use crate::machine::Engine;
use crate::request::{Live, NOBODY, Phase};

impl Engine {
    /// Applies a pass. Rows whose request has ended meanwhile are void.
    pub(crate) fn finish_pass(&mut self, now: SimTime, mut batch: Batch, sampled: &[Sampled]) {
        self.facts.push(now, Fact::PassEnded { worker: self.worker, pass: batch.pass });
        let mut told = sampled.iter().peekable();
        let mut finished = false;
        for row in &batch.rows {
            let sampled = told.next_if(|sampled| sampled.request == row.request).copied();
            let plain = Sampled {
                request: row.request,
                tokens: 1,
                stop_after: 0,
                drafts: self.config.draft_tokens(),
            };
            let is_void = self.requests.get(row.live).first_pass > batch.pass;
            finished |= !is_void && self.finish_row(now, row, sampled.unwrap_or(plain));
        }
        if finished {
            let requests = &self.requests;
            self.running.retain(|&live| requests.get(live).id != NOBODY);
        }
        if self.lower.is_some() {
            self.connector_computed(batch.pass);
        }
        batch.rows.clear();
        self.scratch.rows = batch.rows;
    }

    /// Applies one row; whether its request is done and was running.
    fn finish_row(&mut self, now: SimTime, row: &Row, sampled: Sampled) -> bool {
        let r = self.requests.get_mut(row.live);
        if r.id != row.request {
            return false;
        }
        r.in_flight -= row.tokens;
        let stale = r.stale > 0;
        if stale {
            r.stale -= row.tokens;
            if r.drop_stale {
                return false;
            }
        }
        if !stale {
            self.store_row(now, row);
        }
        let r = self.requests.get_mut(row.live);
        if !row.samples {
            r.drafts = if self.config.async_scheduling { r.drafts } else { 0 };
            return false;
        }
        let given = sampled.tokens.clamp(1, row.drafts + 1);
        let rejected = row.drafts + 1 - given;
        if !stale && r.computed > 0 {
            r.computed -= rejected;
        }
        let had_placeholders = r.placeholders > 0;
        if had_placeholders && !stale {
            r.placeholders -= rejected + given;
        }
        let room = r.tokens_max - r.tokens;
        let stop = if sampled.stop_after == 0 { u32::MAX } else { sampled.stop_after };
        let kept = given.min(room).min(stop);
        let done = kept == room || kept == stop;
        if done && !stale {
            r.computed -= given - kept;
        }
        let (before, elsewhere) = (r.output_here(), r.produced);
        r.tokens += kept;
        if kept == stop {
            r.content.end_at(before + kept - 1);
        }
        let was_running = r.phase == Phase::Running;
        if !self.config.async_scheduling {
            r.drafts = if r.prefill_chunk { 0 } else { sampled.drafts };
        }
        let verified = r.computed.saturating_sub(r.in_flight);
        let late = !stale && was_running && (had_placeholders || self.config.speculation.is_some());
        self.log_tokens(now, row, elsewhere + before, elsewhere + before + kept);
        if late {
            self.register_full(now, row.live, verified);
        }
        if done {
            self.finish(now, row, elsewhere + before + kept);
        } else if row.drafts > 0 && self.config.fidelity == Fidelity::Mended {
            self.return_unused(row.live);
        }
        done && was_running
    }

    /// What a row computed may go down (rule P1). Drafts are not registered before they are verified.
    fn store_row(&mut self, now: SimTime, row: &Row) {
        if self.lower.is_none() || self.requests.get(row.live).phase != Phase::Running {
            return;
        }
        let block = self.config.block_size_tokens;
        let r = self.requests.get(row.live);
        let registered = (r.next_full / block - 1).min(r.blocks.len() as u32);
        let until = ((row.computed_before + row.tokens) / block).min(registered);
        self.store_computed(now, row.live, row.computed_before / block, until);
    }

    /// Slots that only rejected drafts needed go back (rule T7); vLLM leaves them with the request. Not while
    /// another pass is under way, which may be writing into them.
    fn return_unused(&mut self, live: Live) {
        let block = self.config.block_size_tokens;
        let r = self.requests.get_mut(live);
        let used = r.tokens.div_ceil(block) as usize;
        if r.in_flight > 0 || used >= r.blocks.len() {
            return;
        }
        self.pool.release(&r.blocks[used..]);
        r.blocks.truncate(used);
        r.room = used as u32 * block;
        self.blocked.clear();
    }

    fn log_tokens(&mut self, now: SimTime, row: &Row, before: u32, after: u32) {
        let request = row.request;
        // What a prefill worker samples is nobody's.
        if self.requests.get(row.live).leg == Leg::Prefill {
            return;
        }
        if before == 0 {
            self.facts.push(now, Fact::FirstToken { request });
        }
        if before < 2 && after >= 2 {
            self.facts.push(now, Fact::SecondToken { request });
        }
    }

    fn finish(&mut self, now: SimTime, row: &Row, output_tokens: u32) {
        let r = self.requests.get(row.live);
        let (phase, rank) = (r.phase, r.rank);
        if phase != Phase::Running {
            self.leave_line(row.live, rank);
        }
        if self.lower.is_some() {
            self.connector_ended(row.live, false);
        }
        if self.requests.get(row.live).leg == Leg::Prefill {
            return self.hold_source(now, row.live);
        }
        self.lease_blocks(now, row.live);
        self.release_blocks(row.live);
        self.requests.remove(row.live);
        self.facts.push(now, Fact::Finished { request: row.request, output_tokens });
    }
}
