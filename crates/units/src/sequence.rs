//! Content identity without content: runs of consecutive token ids, and chained block hashes.
//!
//! A prompt is a list of [`TokenRun`]s. Two prompts share a prefix exactly where their token ids agree, so
//! no per-token memory is needed, whatever the block size. A block's [`SequenceHash`] covers its tokens and
//! its parent's hash: equal prefix ⇔ equal chain.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// `len` consecutive token ids beginning with `start`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TokenRun {
    /// First token id.
    pub start: u64,
    /// Number of tokens.
    pub len: u32,
}

/// A block's identity: hash(parent, the block's tokens, salt). Zero is never a hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SequenceHash(pub u64);

impl SequenceHash {
    /// The parent of a first block, by salt. Requests with different salts share nothing.
    pub fn root(salt: u64) -> Self {
        Self(salt ^ 0x7469_6572_7363_6f70)
    }

    /// The hash of the block that follows `self` and holds the tokens of `runs`.
    ///
    /// Runs that continue each other count as one, so the split of a prompt into runs has no influence.
    pub fn then(self, runs: impl IntoIterator<Item = TokenRun>) -> Self {
        let mut hash = self.0;
        let mut open: Option<TokenRun> = None;
        for run in runs {
            match &mut open {
                Some(last) if last.start.wrapping_add(u64::from(last.len)) == run.start => {
                    last.len += run.len
                }
                Some(last) => {
                    hash = absorb(hash, *last);
                    open = Some(run);
                }
                None => open = Some(run),
            }
        }
        if let Some(last) = open {
            hash = absorb(hash, last);
        }
        Self(hash.max(1))
    }
}

fn absorb(hash: u64, run: TokenRun) -> u64 {
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&run.start.to_le_bytes());
    bytes[8..].copy_from_slice(&run.len.to_le_bytes());
    xxh3_64_with_seed(&bytes, hash)
}

impl fmt::Debug for SequenceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Display for SequenceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: u64, len: u32) -> TokenRun {
        TokenRun { start, len }
    }

    #[test]
    fn the_split_into_runs_has_no_influence() {
        let root = SequenceHash::root(0);
        assert_eq!(root.then([run(10, 4)]), root.then([run(10, 1), run(11, 3)]));
        assert_ne!(root.then([run(10, 4)]), root.then([run(10, 3), run(14, 1)]));
    }

    #[test]
    fn salt_and_parent_are_part_of_the_identity() {
        let block = [run(1, 4)];
        assert_ne!(SequenceHash::root(0).then(block), SequenceHash::root(1).then(block));
        let parent = SequenceHash::root(0).then(block);
        assert_ne!(parent.then(block), SequenceHash::root(0).then(block));
    }
}
