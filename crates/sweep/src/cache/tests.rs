//! Against dumber programs that do what the definitions say, literally.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tierscope_scenario::{RequestPlan, Start, Workload};
use tierscope_units::{SimTime, TokenRun};

use super::*;

const BLOCK: u32 = 4;

/// Requests that walk a small tree, as traces of ids: a request is a path and the tokens in its last block.
fn workload(paths: &[(Vec<u8>, u32)]) -> (Workload, Vec<Vec<u64>>) {
    let mut ids: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    let mut workload = Workload { content_block_tokens: BLOCK, ..Workload::default() };
    let mut sequences = Vec::new();
    for (path, last) in paths {
        let first = workload.runs.len() as u32;
        let mut sequence = Vec::new();
        for depth in 1..=path.len() {
            // A block is what it begins with: partial or full is one id.
            let fresh = ids.len() as u64;
            let id = *ids.entry(path[..depth].to_vec()).or_insert(fresh);
            let len = if depth == path.len() { *last } else { BLOCK };
            workload.runs.push(TokenRun { start: id * 100, len });
            sequence.push(id);
        }
        let prompt_tokens = (path.len() as u32 - 1) * BLOCK + last;
        workload.requests.push(RequestPlan {
            start: Start::At(SimTime::ZERO),
            runs: first..workload.runs.len() as u32,
            prompt_tokens,
            output_tokens: 1,
            output_start: 1 << 62,
            salt: 0,
            priority: 0,
            cancel_after: None,
        });
        sequences.push(sequence);
    }
    (workload, sequences)
}

/// A list with the most recent last; what is too much goes from its front.
fn lru(sequences: &[Vec<u64>], capacity: usize, mut hit: impl FnMut(usize, usize)) {
    let mut list: Vec<u64> = Vec::new();
    for (request, ids) in sequences.iter().enumerate() {
        hit(request, ids.iter().take_while(|id| list.contains(id)).count());
        for id in ids.iter().rev() {
            list.retain(|other| other != id);
            list.push(*id);
        }
        list.drain(..list.len().saturating_sub(capacity));
    }
}

/// Looks ahead for each block, again and again.
fn optimal(sequences: &[Vec<u64>], capacity: usize) -> u64 {
    let mut held: Vec<u64> = Vec::new();
    let mut hits = 0;
    for (request, ids) in sequences.iter().enumerate() {
        hits += ids.iter().take_while(|id| held.contains(id)).count() as u64;
        held.extend(ids.iter().filter(|id| !held.contains(id)).copied().collect::<Vec<_>>());
        let next = |id: &u64| {
            let later = sequences[request + 1..].iter().flatten();
            later.clone().position(|other| other == id).unwrap_or(usize::MAX)
        };
        while held.len() > capacity {
            let worst = (0..held.len()).max_by_key(|&at| next(&held[at])).expect("not empty");
            held.swap_remove(worst);
        }
    }
    hits
}

fn paths() -> impl Strategy<Value = Vec<(Vec<u8>, u32)>> {
    prop::collection::vec((prop::collection::vec(0..3_u8, 1..6), 1..=BLOCK), 1..40)
}

proptest! {
    #[test]
    fn every_capacity_at_once_is_each_capacity_alone(paths in paths(), capacity in 0..30_usize) {
        let (workload, sequences) = workload(&paths);
        let model = CacheModel::of(&workload);
        let mut blocks = 0;
        lru(&sequences, capacity, |_, hit| blocks += hit as u64);
        prop_assert_eq!(model.lru_blocks(capacity as u64).hit, blocks);

        let full: Vec<Vec<u64>> = sequences.iter().zip(&workload.requests)
            .map(|(ids, plan)| ids[..(plan.prompt_tokens / BLOCK) as usize].to_vec()).collect();
        let mut tokens = 0;
        lru(&full, capacity, |request, hit| {
            let usable = (hit as u32 * BLOCK).min(workload.requests[request].prompt_tokens - 1);
            tokens += u64::from(usable / BLOCK * BLOCK);
        });
        prop_assert_eq!(model.lru_tokens(capacity as u64).hit, tokens);
        prop_assert_eq!(model.optimal_blocks(capacity as u64).hit, optimal(&sequences, capacity));
    }

    #[test]
    fn the_optimum_is_never_worse_and_all_meet_in_an_infinite_cache(paths in paths(), capacity in 0..30_u64) {
        let (workload, _) = workload(&paths);
        let model = CacheModel::of(&workload);
        prop_assert!(model.optimal_blocks(capacity).hit >= model.lru_blocks(capacity).hit);
        prop_assert!(model.optimal_tokens(capacity).hit >= model.lru_tokens(capacity).hit);
        prop_assert_eq!(model.optimal_blocks(INFINITE), model.lru_blocks(INFINITE));
        prop_assert_eq!(model.optimal_tokens(INFINITE), model.lru_tokens(INFINITE));
        prop_assert_eq!(model.lru_blocks(INFINITE).hit, model.totals().references - model.totals().distinct_blocks);
        prop_assert_eq!(model.lru_blocks(0).hit, 0);
    }
}

/// A conversation: the second turn begins with the first one's prompt and answer.
#[test]
fn an_answer_that_the_next_turn_repeats_is_kept() {
    let text = "tierscope = 1\n[engine]\nblock_size_tokens = 4\n[workload]\nkind = \"synthetic\"\nrequests = 1\n\
        turns = 2\nturn_delay_ms = 1\narrival = \"fixed_rate\"\nrate_per_s = 1.0\nprompt_tokens = 6\noutput_tokens = 7\n";
    let scenario = tierscope_scenario::parse_any(text).expect("a scenario");
    let workload = tierscope_scenario::expand(&scenario, None).expect("a workload");
    let model = CacheModel::of(&workload);
    // Turn 2 has 6 + 7 + 6 = 19 tokens; of them 6 + 6 were computed before, in full blocks 12.
    assert_eq!(model.lru_tokens(INFINITE), Hits { hit: 12, of: 6 + 19 });
    assert_eq!(model.optimal_tokens(3), Hits { hit: 12, of: 6 + 19 });
    assert_eq!(model.optimal_tokens(2), Hits { hit: 8, of: 6 + 19 });
}

#[test]
fn nothing_is_a_workload_too() {
    let model = CacheModel::of(&Workload::default());
    assert_eq!(model.totals(), Totals::default());
    assert_eq!(model.lru_blocks(10).ratio(), 0.0);
    assert_eq!(model.optimal_tokens(INFINITE).ratio(), 0.0);
}
