//! Where a content lies in a prompt, and which requests have the same beginning.

use tierscope_scenario::{RequestPlan, Workload};
use tierscope_units::{SequenceHash, TokenRun};

/// The tokens of a request: its prompt, then its answer.
fn tokens<'a>(workload: &'a Workload, plan: &'a RequestPlan) -> impl Iterator<Item = TokenRun> + 'a {
    let answer = TokenRun { start: plan.output_start, len: plan.output_tokens };
    workload.prompt(plan).iter().copied().chain([answer]).filter(|run| run.len > 0)
}

/// The number of a content's block among those of a request, from 0; `None` where the request has no such block, or
/// where a block's identity covers more than its own tokens.
pub(super) fn place_of(
    workload: &Workload,
    plan: &RequestPlan,
    block_tokens: u32,
    hash: SequenceHash,
) -> Option<u32> {
    let mut parent = SequenceHash::root(plan.salt);
    let (mut place, mut block, mut room) = (0, Vec::new(), block_tokens.max(1));
    for mut run in tokens(workload, plan) {
        while run.len >= room {
            block.push(TokenRun { start: run.start, len: room });
            run = TokenRun { start: run.start.wrapping_add(u64::from(room)), len: run.len - room };
            parent = parent.then(block.drain(..));
            if parent == hash {
                return Some(place);
            }
            (place, room) = (place + 1, block_tokens.max(1));
        }
        if run.len > 0 {
            block.push(run);
            room -= run.len;
        }
    }
    None
}

/// Whether two requests have the same first tokens.
pub(super) fn begin_alike(
    workload: &Workload,
    one: &RequestPlan,
    other: &RequestPlan,
    tokens_alike: u64,
) -> bool {
    if one.salt != other.salt {
        return false;
    }
    let (mut ours, mut theirs) = (tokens(workload, one), tokens(workload, other));
    let empty = TokenRun { start: 0, len: 0 };
    let (mut left, mut a, mut b) = (tokens_alike, empty, empty);
    while left > 0 {
        if a.len == 0 {
            let Some(next) = ours.next() else { return false };
            a = next;
        }
        if b.len == 0 {
            let Some(next) = theirs.next() else { return false };
            b = next;
        }
        if a.start != b.start {
            return false;
        }
        let step = a.len.min(b.len);
        let on = |run: TokenRun| TokenRun { start: run.start.wrapping_add(step.into()), len: run.len - step };
        (a, b, left) = (on(a), on(b), left.saturating_sub(step.into()));
    }
    true
}
