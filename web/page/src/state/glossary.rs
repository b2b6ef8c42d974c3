//! What the words mean: one list for the help, and for the tips beside the words themselves.

/// A word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its name in the code and in the page's ids.
    pub key: &'static str,
    /// As it is written.
    pub word: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

macro_rules! words {
    ($($key:literal $word:literal $meaning:literal)*) => {
        &[$(Word { key: $key, word: $word, meaning: $meaning }),*]
    };
}

/// All words, in the order of the help.
pub const WORDS: &[Word] = words! {
    "block" "Block" "a fixed number of tokens' keys and values: what is allocated, shared, copied and evicted"
    "g1" "G1" "the GPU's KV cache: blocks that requests compute with"
    "g2" "G2" "pinned host memory, below G1: larger, and a copy away"
    "g3" "G3" "local disk, below G2"
    "g4" "G4" "an object store, below G2: the largest and the slowest"
    "active" "Active" "a request holds the block; shared, if two or more do"
    "cached" "Cached" "no request holds it; its content can still be hit, or evicted"
    "reserved" "Reserved" "promised to a request that is about to take it; below G1: a copy is on its way into it"
    "source-hold" "Source hold" "evicted, but a copy to the tier below still reads it: neither free nor cached"
    "hash" "Hash" "a block's identity: its tokens and all before them; equal beginnings have equal hashes"
    "lane" "Lane" "one direction between two tiers; batches are queued, start, are in flight, and settle"
    "transfer" "Transfer" "a batch of blocks that moves along a lane together"
    "transaction" "Transaction" "one request for blocks: prepare, reserve, then commit all or nothing"
    "instant" "Instant" "a point in simulated time at which something happens"
    "census" "Census" "who waits for what at an instant: each unfinished request, its owner, and what will wake it"
    "preempted" "Preempted" "a request that gave its blocks back for others, and waits again"
    "handoff" "Handoff" "a prompt's blocks go from the worker that computed it to the one that answers"
    "ttft" "TTFT" "time to first token: from arrival until the first token of the answer"
    "itl" "ITL" "inter-token latency: the time between two tokens of an answer"
    "e2e" "E2E" "end to end: from arrival until the last token"
    "goodput" "Goodput" "completed requests per second that met the scenario's [slo]"
    "hit-ratio" "Hit ratio" "share of prompt tokens that were found cached when a request was first admitted"
    "recomputed" "Recomputed" "tokens computed once more, because what a preempted request had computed was gone"
    "slo" "SLO" "service level objective: the latencies that an answer shall keep to"
    "digest" "Digest" "a fingerprint of all events: the same here and on the command line"
};

/// A word by its key.
pub fn word(key: &str) -> Option<Word> {
    WORDS.iter().copied().find(|word| word.key == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_and_meanings_short() {
        for (place, one) in WORDS.iter().enumerate() {
            assert_eq!(WORDS.iter().position(|other| other.key == one.key), Some(place), "{}", one.key);
            assert!(one.meaning.len() <= 110 && !one.meaning.ends_with('.'), "{}", one.key);
        }
        assert_eq!(word("ttft").map(|word| word.word), Some("TTFT"));
        assert_eq!(word("nonsense"), None);
    }
}
