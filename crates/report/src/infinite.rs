//! The speed of light of prefix caching: what a cache without limits would have hit (rule P2).
//!
//! A radix tree over token runs, one root per salt. Each prompt is matched against everything before it, then
//! it is inserted with its output (all but the last output token, which nobody computes). A hit is the longest
//! common prefix in full blocks, the prompt's last token always recomputed.
//!
//! Invariants: the edges that leave a node begin with different tokens; an edge is never empty. Splitting an
//! edge copies no tokens: both halves point into the runs as they were inserted.
//!
//! Deliberately absent: time, capacity, eviction. Requests count in the order given.

use std::collections::BTreeMap;

use tierscope_units::TokenRun;

/// What an infinite cache would have hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct InfiniteCache {
    /// Prompt tokens found cached.
    pub hit_tokens: u64,
    /// Prompt tokens in all.
    pub input_tokens: u64,
}

impl InfiniteCache {
    /// Hit tokens by input tokens, 0 to 1; zero without input.
    pub fn ratio(&self) -> f64 {
        crate::assemble::ratio(self.hit_tokens, self.input_tokens)
    }
}

/// The hits of prompts in order. An item is a request's salt, its prompt and its output; `block_tokens` is
/// the granularity of hits.
pub fn infinite_cache<'a>(
    prompts: impl IntoIterator<Item = (u64, &'a [TokenRun], TokenRun)>,
    block_tokens: u32,
) -> InfiniteCache {
    let block = u64::from(block_tokens.max(1));
    let mut tree = Tree::default();
    let mut found = InfiniteCache::default();
    for (salt, prompt, output) in prompts {
        let prompt_tokens: u64 = prompt.iter().map(|run| u64::from(run.len)).sum();
        let kept = TokenRun { start: output.start, len: output.len.saturating_sub(1) };
        let common = tree.insert(salt, prompt.iter().copied().chain([kept]));
        let usable = common.min(prompt_tokens.saturating_sub(1));
        found.hit_tokens += usable / block * block;
        found.input_tokens += prompt_tokens;
    }
    found
}

/// Index of a node; the edge into it is stored with it.
type Node = u32;

/// The edge into a node: `tokens` tokens from `skip` tokens into run `run`.
#[derive(Clone, Copy)]
struct Edge {
    run: u32,
    skip: u32,
    tokens: u64,
}

#[derive(Default)]
struct Tree {
    /// Runs as inserted; edges point into them.
    runs: Vec<TokenRun>,
    edges: Vec<Edge>,
    roots: BTreeMap<u64, Node>,
    /// (node, first token of the edge) → child.
    children: BTreeMap<(Node, u64), Node>,
}

impl Tree {
    /// Inserts a sequence; tells how many of its first tokens were there before.
    fn insert(&mut self, salt: u64, sequence: impl Iterator<Item = TokenRun>) -> u64 {
        let mut rest = Rest::of(sequence);
        let mut node = self.root(salt);
        let mut common = 0;
        while let Some(run) = rest.head() {
            let Some(&child) = self.children.get(&(node, run.start)) else {
                self.grow(node, rest);
                break;
            };
            let matched = self.follow(child, &mut rest);
            common += matched;
            node = match matched < self.edges[child as usize].tokens {
                true => self.split(node, run.start, child, matched),
                false => child,
            };
        }
        common
    }

    fn root(&mut self, salt: u64) -> Node {
        if let Some(&root) = self.roots.get(&salt) {
            return root;
        }
        let root = self.node(Edge { run: 0, skip: 0, tokens: 0 });
        self.roots.insert(salt, root);
        root
    }

    fn node(&mut self, edge: Edge) -> Node {
        self.edges.push(edge);
        self.edges.len() as Node - 1
    }

    /// Takes from `rest` what it has in common with the edge into `child`; at least one token.
    fn follow(&self, child: Node, rest: &mut Rest<impl Iterator<Item = TokenRun>>) -> u64 {
        let Edge { run, skip, tokens } = self.edges[child as usize];
        let (mut at, mut skip, mut left) = (run as usize, skip, tokens);
        while let Some(wanted) = rest.head()
            && left > 0
        {
            let here = self.runs[at];
            if here.start.wrapping_add(u64::from(skip)) != wanted.start {
                break;
            }
            let step = (here.len - skip).min(wanted.len).min(left.min(u64::from(u32::MAX)) as u32);
            rest.take(step);
            left -= u64::from(step);
            skip += step;
            if skip == here.len {
                (at, skip) = (at + 1, 0);
            }
        }
        tokens - left
    }

    /// Cuts the edge `parent → child` after `tokens` tokens; gives the node between.
    fn split(&mut self, parent: Node, first_token: u64, child: Node, tokens: u64) -> Node {
        let whole = self.edges[child as usize];
        let (run, skip) = self.advance(whole, tokens);
        self.edges[child as usize] = Edge { run, skip, tokens: whole.tokens - tokens };
        let middle = self.node(Edge { tokens, ..whole });
        self.children.insert((parent, first_token), middle);
        let second_token = self.runs[run as usize].start.wrapping_add(u64::from(skip));
        self.children.insert((middle, second_token), child);
        middle
    }

    /// The run and the place in it, `tokens` tokens into an edge.
    fn advance(&self, edge: Edge, tokens: u64) -> (u32, u32) {
        let (mut run, mut skip) = (edge.run, u64::from(edge.skip) + tokens);
        while skip >= u64::from(self.runs[run as usize].len) {
            skip -= u64::from(self.runs[run as usize].len);
            run += 1;
        }
        (run, skip as u32)
    }

    /// A new leaf under `parent` that holds all of `rest`, which is not empty.
    fn grow(&mut self, parent: Node, mut rest: Rest<impl Iterator<Item = TokenRun>>) {
        let run = self.runs.len() as u32;
        let mut tokens = 0;
        while let Some(head) = rest.head() {
            self.runs.push(head);
            tokens += u64::from(head.len);
            rest.take(head.len);
        }
        let first_token = self.runs[run as usize].start;
        let leaf = self.node(Edge { run, skip: 0, tokens });
        self.children.insert((parent, first_token), leaf);
    }
}

/// What is left of a sequence.
struct Rest<I> {
    head: Option<TokenRun>,
    tail: I,
}

impl<I: Iterator<Item = TokenRun>> Rest<I> {
    fn of(mut tail: I) -> Self {
        let head = tail.find(|run| run.len > 0);
        Self { head, tail }
    }

    /// The tokens that come next; never an empty run.
    fn head(&self) -> Option<TokenRun> {
        self.head
    }

    /// Drops `tokens` tokens of the head.
    fn take(&mut self, tokens: u32) {
        let Some(head) = &mut self.head else { return };
        head.start = head.start.wrapping_add(u64::from(tokens));
        head.len -= tokens;
        if head.len == 0 {
            self.head = self.tail.find(|run| run.len > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Request = (u64, Vec<TokenRun>, TokenRun);

    fn run(start: u64, len: u32) -> TokenRun {
        TokenRun { start, len }
    }

    fn fast(requests: &[Request], block: u32) -> InfiniteCache {
        infinite_cache(requests.iter().map(|(salt, prompt, output)| (*salt, &prompt[..], *output)), block)
    }

    /// The definition, token by token.
    fn naive(requests: &[Request], block: u64) -> InfiniteCache {
        let tokens = |runs: &[TokenRun]| -> Vec<u64> {
            runs.iter().flat_map(|run| run.start..run.start + u64::from(run.len)).collect()
        };
        let mut seen: Vec<(u64, Vec<u64>)> = Vec::new();
        let mut found = InfiniteCache::default();
        for (salt, prompt, output) in requests {
            let prompt = tokens(prompt);
            let common = |old: &[u64]| old.iter().zip(&prompt).take_while(|(a, b)| a == b).count() as u64;
            let best = seen.iter().filter(|(s, _)| s == salt).map(|(_, old)| common(old)).max().unwrap_or(0);
            found.hit_tokens += best.min((prompt.len() as u64).saturating_sub(1)) / block * block;
            found.input_tokens += prompt.len() as u64;
            let mut whole = prompt;
            whole.extend(tokens(&[run(output.start, output.len.saturating_sub(1))]));
            seen.push((*salt, whole));
        }
        found
    }

    #[test]
    fn the_last_token_is_always_recomputed() {
        let prompt = vec![run(0, 8)];
        let requests = [(0, prompt.clone(), run(100, 1)), (0, prompt, run(200, 1))];
        assert_eq!(fast(&requests, 4), InfiniteCache { hit_tokens: 4, input_tokens: 16 });
        assert_eq!(fast(&requests, 1), InfiniteCache { hit_tokens: 7, input_tokens: 16 });
    }

    /// A second turn's prompt is the first prompt, its answer, and new text.
    #[test]
    fn an_answer_is_cached_but_for_its_last_token() {
        let first = (0, vec![run(0, 10)], run(100, 6));
        let second = (0, vec![run(0, 10), run(100, 6), run(50, 4)], run(200, 1));
        assert_eq!(fast(&[first, second], 1), InfiniteCache { hit_tokens: 15, input_tokens: 30 });
    }

    #[test]
    fn salts_share_nothing_and_empty_prompts_do_no_harm() {
        let prompt = vec![run(0, 8)];
        let requests = [(1, prompt.clone(), run(0, 0)), (2, prompt, run(0, 0)), (3, vec![], run(0, 0))];
        assert_eq!(fast(&requests, 1), InfiniteCache { hit_tokens: 0, input_tokens: 16 });
        assert_eq!(fast(&[], 0), InfiniteCache::default());
    }

    /// Few tokens, short runs: prefixes are shared, edges split in the middle of runs and between them.
    fn requests() -> impl Strategy<Value = Vec<Request>> {
        let runs = || (0u64..4, 0u32..4).prop_map(|(start, len)| run(start, len));
        proptest::collection::vec((0u64..2, proptest::collection::vec(runs(), 0..8), runs()), 0..24)
    }

    proptest! {
        #[test]
        fn the_tree_agrees_with_the_definition(requests in requests(), block in 1u32..5) {
            prop_assert_eq!(fast(&requests, block), naive(&requests, u64::from(block)));
        }
    }
}
