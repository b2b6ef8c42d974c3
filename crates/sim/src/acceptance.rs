//! The model under speculation: how many drafts of a verification it accepts.
//!
//! Each draft behind accepted ones is accepted with the same probability, drawn from a stream of its own.

use tierscope_engine::{Row, Sampled};
use tierscope_scenario::Scenario;
use tierscope_units::RandomStream;

/// The draws, and room for a pass's rows.
#[derive(Clone, Debug)]
pub(crate) struct Acceptance {
    stream: RandomStream,
    probability: f64,
    draft_tokens: u32,
    sampled: Vec<Sampled>,
}

impl Acceptance {
    /// `None` when the engine does not speculate: then every sampling row brings one token.
    pub(crate) fn of(scenario: &Scenario) -> Option<Self> {
        Some(Self {
            stream: RandomStream::named(scenario.seed, "draft acceptance"),
            probability: scenario.draft_acceptance,
            draft_tokens: scenario.engine.speculation?.tokens,
            sampled: Vec::new(),
        })
    }

    /// Drafts to come are accepted with another probability.
    pub(crate) fn set_probability(&mut self, probability: f64) {
        self.probability = probability;
    }

    /// What the rows of a pass bring.
    pub(crate) fn sample(&mut self, rows: &[Row]) -> &[Sampled] {
        self.sampled.clear();
        for row in rows.iter().filter(|row| row.samples && row.drafts > 0) {
            let mut accepted = 0;
            // The placeholders of a padded row are no drafts: nothing is drawn for them.
            while !row.padded && accepted < row.drafts && self.stream.unit() < self.probability {
                accepted += 1;
            }
            self.sampled.push(Sampled {
                request: row.request,
                tokens: accepted + 1,
                stop_after: 0,
                drafts: self.draft_tokens,
            });
        }
        &self.sampled
    }
}
