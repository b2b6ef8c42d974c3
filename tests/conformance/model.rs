//! The fabricated model of the golden files: how many drafts are accepted, where an answer stops, how many
//! drafts come next.

use tierscope_engine::{Row, Sampled};
use tierscope_units::RequestId;

use crate::golden::Case;

struct Fate {
    eos_at: Option<u32>,
    accept: Vec<u32>,
    draft_lens: Vec<u32>,
    verifications: usize,
    samplings: usize,
}

pub(crate) struct Model {
    requests: Vec<Fate>,
}

impl Model {
    pub(crate) fn of(case: &Case) -> Self {
        let drafts = case.number("num_spec_tokens").unwrap_or(0);
        let numbers = |value: &serde_json::Value| -> Option<Vec<u32>> {
            Some(value.as_array()?.iter().map(|n| n.as_u64().expect("a number") as u32).collect())
        };
        let requests = case.scenario["requests"].as_array().expect("a scenario has requests");
        let list = |r: &serde_json::Value, key: &str| {
            numbers(&r[key]).or_else(|| numbers(&case.scenario[key])).unwrap_or_else(|| vec![drafts])
        };
        let fate = |r: &serde_json::Value| Fate {
            eos_at: r["eos_at"].as_u64().map(|at| at as u32),
            accept: list(r, "accept"),
            draft_lens: list(r, "draft_lens"),
            verifications: 0,
            samplings: 0,
        };
        Self { requests: requests.iter().map(fate).collect() }
    }

    /// What a row brings to a request that has `outputs` output tokens.
    pub(crate) fn sample(&mut self, row: &Row, outputs: u32, is_async: bool) -> Sampled {
        let fate = &mut self.requests[row.request.0 as usize];
        let mut accepted = 0;
        let mut drafts = 0;
        if row.samples {
            if row.drafts > 0 {
                let wanted = fate.accept[fate.verifications % fate.accept.len()];
                fate.verifications += 1;
                accepted = if row.padded && !is_async { 0 } else { wanted.min(row.drafts) };
            }
            drafts = fate.draft_lens[fate.samplings % fate.draft_lens.len()];
            fate.samplings += usize::from(!is_async);
        }
        let tokens = accepted + 1;
        let stop_after = match fate.eos_at {
            Some(at) if row.samples && (outputs..outputs + tokens).contains(&at) => at - outputs + 1,
            _ => 0,
        };
        Sampled { request: row.request, tokens, stop_after, drafts }
    }

    /// Why a request ended with so many output tokens.
    pub(crate) fn reason(&self, request: RequestId, output_tokens: u32) -> &'static str {
        match self.requests[request.0 as usize].eos_at {
            Some(at) if at + 1 == output_tokens => "stop",
            _ => "length",
        }
    }
}
