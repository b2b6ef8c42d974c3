//! The end of a pass: sampling rows gain a token, finished requests leave.

use tierscope_units::{PassId, SimTime};

use crate::fact::Fact;
use crate::machine::Engine;
use crate::request::Live;

impl Engine {
    /// Applies the pass under way. Rows whose request was cancelled meanwhile are void.
    pub(crate) fn finish_pass(&mut self, now: SimTime, pass: PassId) {
        self.facts.push(now, Fact::PassEnded { worker: self.worker, pass });
        let rows = std::mem::take(&mut self.rows);
        let mut finished = 0;
        for row in &rows {
            let r = self.requests.get_mut(row.live);
            if r.id != row.request || r.computed < r.tokens || r.blocks.is_empty() {
                continue;
            }
            r.tokens += 1;
            let (request, outputs) = (r.id, r.output_tokens());
            let done = r.tokens >= r.tokens_max;
            match outputs {
                1 => self.facts.push(now, Fact::FirstToken { request }),
                2 => self.facts.push(now, Fact::SecondToken { request }),
                _ => {}
            }
            if done {
                finished += 1;
                self.finish(now, row.live, outputs);
            }
        }
        if finished > 0 {
            let requests = &self.requests;
            self.running.retain(|&live| !requests.get(live).blocks.is_empty());
        }
        self.rows = rows;
        self.rows.clear();
    }

    fn finish(&mut self, now: SimTime, live: Live, output_tokens: u32) {
        let request = self.requests.get(live).id;
        self.release_blocks(live);
        self.requests.remove(live);
        self.facts.push(now, Fact::Finished { request, output_tokens });
    }
}
