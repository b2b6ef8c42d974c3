//! Lines about a request's own life, and about what can be matched.

use tierscope_engine::Fact;

use super::Line;

impl Line<'_> {
    /// From a request's arrival to its end.
    pub(super) fn life(&mut self, fact: &Fact) {
        match *fact {
            Fact::Arrived { request, prompt_tokens, output_tokens } => {
                self.number("request", request.0);
                self.number("prompt_tokens", prompt_tokens);
                self.number("output_tokens", output_tokens);
            }
            Fact::Rejected { request, reason } => {
                self.number("request", request.0);
                self.rejection(reason);
            }
            Fact::Admitted { request, cached_tokens, loaded, readmission } => {
                self.number("request", request.0);
                self.number("cached_tokens", cached_tokens);
                self.loaded(loaded);
                self.number("readmission", readmission);
            }
            Fact::Preempted { request, lost_tokens, released } => {
                self.number("request", request.0);
                self.number("lost_tokens", lost_tokens);
                self.number("released_blocks", released);
            }
            Fact::FirstToken { request } | Fact::SecondToken { request } => self.number("request", request.0),
            Fact::Finished { request, output_tokens } | Fact::Cancelled { request, output_tokens } => {
                self.number("request", request.0);
                self.number("output_tokens", output_tokens);
            }
            _ => {}
        }
    }

    /// What is matchable now, or no more.
    pub(super) fn registration(&mut self, fact: &Fact) {
        match *fact {
            Fact::TierStored { tier, blocks } | Fact::TierRemoved { tier, blocks } => {
                self.word("tier", tier.name());
                self.blocks("blocks", blocks);
            }
            Fact::Stored { request, parent, blocks } => {
                self.number("request", request.0);
                self.word("parent", parent);
                self.blocks("blocks", blocks);
            }
            Fact::Removed { blocks } => self.blocks("blocks", blocks),
            _ => {}
        }
    }
}
