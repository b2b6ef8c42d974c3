//! Which hash id was seen under which parent, and what token ids it stands for.
//!
//! Ids that are about as dense as they come (all published traces) lie in a flat table, others in a map; the
//! table never grows beyond a small multiple of the ids seen, so that one large id takes no memory.

use std::collections::BTreeMap;

/// The parent of a first block.
pub(super) const ROOT: u64 = u64::MAX;
const UNSEEN: u64 = u64::MAX - 1;
/// Largest id: the two above are taken.
pub(super) const LARGEST: u64 = u64::MAX - 2;
/// Ids below become token ids by multiplication.
const SMALL: u64 = 1 << 40;
/// Where the token ids of larger ones begin.
const LARGE_TOKENS: u64 = 1 << 59;

// The token ids of small ids stay below those of large ones.
const _: () = assert!(SMALL * crate::limit::BLOCK_TOKENS <= LARGE_TOKENS);

/// The id of the block that begins with a token: one that is read as the same token again. `None` where no block begins.
pub(super) fn block_id(token: u64, block_tokens: u64) -> Option<u64> {
    let (first_token, first_id) = if token < LARGE_TOKENS { (0, 0) } else { (LARGE_TOKENS, SMALL) };
    let in_range = token < crate::limit::RAW_TOKEN_IDS;
    let from = token - first_token;
    (in_range && from.is_multiple_of(block_tokens)).then(|| first_id + from / block_tokens)
}

#[derive(Default)]
pub(super) struct Ids {
    dense: Vec<u64>,
    sparse: BTreeMap<u64, u64>,
    large: BTreeMap<u64, u64>,
    seen: u64,
}

impl Ids {
    /// Notes that `id` follows `parent`; an earlier, other parent is the error.
    pub(super) fn link(&mut self, id: u64, parent: u64) -> Result<(), u64> {
        self.seen += 1;
        if id >= self.dense.len() as u64 && id <= self.seen.saturating_mul(4).saturating_add(4_096) {
            self.grow(id);
        }
        let slot = match usize::try_from(id).ok().and_then(|index| self.dense.get_mut(index)) {
            Some(slot) => slot,
            None => self.sparse.entry(id).or_insert(UNSEEN),
        };
        if *slot == UNSEEN {
            *slot = parent;
        }
        if *slot == parent { Ok(()) } else { Err(*slot) }
    }

    #[cold]
    fn grow(&mut self, id: u64) {
        let len = (id + 1).max(self.dense.len() as u64 * 3 / 2);
        let above = self.sparse.split_off(&len);
        let moved = std::mem::replace(&mut self.sparse, above);
        self.dense.resize(len as usize, UNSEEN);
        for (id, parent) in moved {
            self.dense[id as usize] = parent;
        }
    }

    /// The first token id of block `id`.
    pub(super) fn token(&mut self, id: u64, block_tokens: u32) -> u64 {
        if id < SMALL {
            return id * u64::from(block_tokens);
        }
        let next = self.large.len() as u64;
        LARGE_TOKENS + *self.large.entry(id).or_insert(next) * u64::from(block_tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_keeps_its_parent_when_the_table_grows_over_it() {
        let mut ids = Ids::default();
        assert_eq!(ids.link(9_000, 7), Ok(()));
        for id in 0..3_000 {
            assert_eq!(ids.link(id, ROOT), Ok(()));
        }
        assert_eq!(ids.link(12_000, 7), Ok(()));
        assert!(ids.dense.len() > 12_000 && ids.sparse.is_empty());
        assert_eq!(ids.link(9_000, 8), Err(7));
    }

    #[test]
    fn a_large_id_takes_no_memory_and_has_tokens_of_its_own() {
        let mut ids = Ids::default();
        assert_eq!(ids.link(LARGEST, ROOT), Ok(()));
        assert_eq!(ids.link(1 << 50, ROOT), Ok(()));
        assert!(ids.dense.capacity() < 10_000);
        assert_eq!(ids.token(LARGEST, 512), LARGE_TOKENS);
        assert_eq!(ids.token(1 << 50, 512), LARGE_TOKENS + 512);
        assert_eq!(ids.token(LARGEST, 512), LARGE_TOKENS);
    }
}
