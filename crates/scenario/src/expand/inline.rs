//! Requests written in the scenario.

use std::collections::BTreeMap;

use tierscope_units::SimTime;

use super::{RequestPlan, Start, Workload, output_start, prefix_run, text_run};
use crate::scenario::{InlinePrompt, InlineRequest, InlineStart, Scenario};

pub(super) fn expand(list: &[InlineRequest], scenario: &Scenario) -> Workload {
    let mut workload =
        Workload { content_block_tokens: scenario.engine.block_size_tokens, ..Workload::default() };
    let mut names = BTreeMap::new();
    for (index, request) in list.iter().enumerate() {
        let first = workload.runs.len();
        push_prompt(&mut workload, index, &request.prompt, &mut names);
        let runs = first as u32..workload.runs.len() as u32;
        let prompt_tokens = workload.runs[first..].iter().map(|run| run.len).sum();
        let start = match request.start {
            InlineStart::At(span) => Start::At(SimTime::from_ns(span.as_ns())),
            InlineStart::After { request, delay } => Start::After { request, delay },
        };
        workload.requests.push(RequestPlan {
            start,
            runs,
            prompt_tokens,
            output_tokens: request.output_tokens,
            output_start: output_start(index),
            salt: request.salt,
            priority: request.priority,
            cancel_after: request.cancel_after,
        });
    }
    workload
}

fn push_prompt<'s>(
    workload: &mut Workload,
    index: usize,
    prompt: &'s InlinePrompt,
    names: &mut BTreeMap<&'s str, u64>,
) {
    let first = workload.runs.len();
    match prompt {
        InlinePrompt::Runs(runs) => runs.iter().for_each(|&run| workload.push_run(first, run)),
        InlinePrompt::Tokens { tokens, prefix: None } => workload.push_run(first, text_run(index, *tokens)),
        InlinePrompt::Tokens { tokens, prefix: Some((name, shared)) } => {
            let next = names.len() as u64;
            let group = *names.entry(name.as_str()).or_insert(next);
            workload.push_run(first, prefix_run(group, *shared));
            workload.push_run(first, text_run(index, tokens - shared));
        }
    }
}
