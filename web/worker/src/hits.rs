//! Prompt tokens that were found cached when requests were first admitted, over time.

use std::collections::BTreeMap;

use tierscope_engine::{Fact, FactLog};
use tierscope_report::{Thinned, Timed};
use tierscope_units::RequestId;

use crate::protocol::HitSample;

/// The sums so far, and the samples of them.
#[derive(Debug, Default)]
pub struct Hits {
    /// Prompts of those who wait for their first admission.
    prompts: BTreeMap<RequestId, u32>,
    asked: u64,
    found: [u64; 4],
    series: Thinned<Sum>,
}

#[derive(Clone, Copy, Debug)]
struct Sum {
    at: u64,
    asked: u64,
    found: [u64; 4],
}

impl Timed for Sum {
    fn at_ns(&self) -> u64 {
        self.at
    }
}

impl Hits {
    /// Enters what the facts say.
    pub fn take(&mut self, log: &FactLog) {
        for (at, fact) in log.iter() {
            match *fact {
                Fact::Arrived { request, prompt_tokens, .. } => {
                    self.prompts.insert(request, prompt_tokens);
                }
                Fact::Admitted { request, cached_tokens, loaded, readmission: false } => {
                    // A second worker's first admission is not the request's.
                    let Some(prompt) = self.prompts.remove(&request) else { continue };
                    let below = [loaded.g2_tokens, loaded.g3_tokens, loaded.g4_tokens].map(u64::from);
                    let above = u64::from(cached_tokens).saturating_sub(below.iter().sum());
                    self.asked += u64::from(prompt);
                    let new = [above, below[0], below[1], below[2]];
                    self.found.iter_mut().zip(new).for_each(|(sum, new)| *sum += new);
                    self.series.push(Sum { at: at.as_ns(), asked: self.asked, found: self.found });
                }
                Fact::Cancelled { request, .. } | Fact::Rejected { request, .. } => {
                    self.prompts.remove(&request);
                }
                _ => {}
            }
        }
    }

    /// The samples, oldest first.
    pub fn samples(&self) -> Vec<HitSample> {
        let sample = |sum: &Sum| HitSample {
            at_ns: sum.at as f64,
            asked: sum.asked as f64,
            found: sum.found.map(|tokens| tokens as f64),
        };
        self.series.samples().iter().map(sample).collect()
    }
}
