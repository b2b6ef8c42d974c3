//! How objects are called. A name says when it was first used: in which life, and which use of that life. It is never used
//! again once a request about it was given up.

use crate::medium::Slot;

/// The object of a block: `b-SLOT-LIFE-USE`, in hex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct BlockName {
    pub(super) slot: Slot,
    pub(super) life: u64,
    pub(super) usage: u64,
}

/// The object that says what was persisted: `i-LIFE-USE-BYTES-SLOTS`, in hex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IndexName {
    pub(super) life: u64,
    pub(super) usage: u64,
    pub(super) block_bytes: u64,
    pub(super) slots: u32,
}

/// An object of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Block(BlockName),
    Index(IndexName),
}

/// What names of blocks begin with.
pub(super) const BLOCK: &str = "b-";
/// What names of indexes begin with.
pub(super) const INDEX: &str = "i-";

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Block(BlockName { slot, life, usage }) => {
                write!(f, "{BLOCK}{:08x}-{life:016x}-{usage:016x}", slot.0)
            }
            Self::Index(IndexName { life, usage, block_bytes, slots }) => {
                write!(f, "{INDEX}{life:016x}-{usage:016x}-{block_bytes:016x}-{slots:08x}")
            }
        }
    }
}

impl Name {
    /// The name of these words; `None` for what somebody else put there.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_at_checked(2)?;
        let words: Vec<u64> =
            rest.split('-').map(|word| u64::from_str_radix(word, 16).ok()).collect::<Option<_>>()?;
        let name = match (kind, &words[..]) {
            (BLOCK, &[slot, life, usage]) => {
                Self::Block(BlockName { slot: Slot(slot.try_into().ok()?), life, usage })
            }
            (INDEX, &[life, usage, block_bytes, slots]) => {
                Self::Index(IndexName { life, usage, block_bytes, slots: slots.try_into().ok()? })
            }
            _ => return None,
        };
        // What is written in another way than ours is not ours, and must not be taken for it.
        (name.to_string() == text).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written_and_nothing_else_is() {
        let block = Name::Block(BlockName { slot: Slot(7), life: 3, usage: u64::MAX });
        let index = Name::Index(IndexName { life: 3, usage: 0, block_bytes: 4_096, slots: 24 });
        for name in [block, index] {
            let text = name.to_string();
            assert_eq!(Name::of(&text), Some(name));
            for wrong in
                [text.to_uppercase(), format!("{text}-0"), text.replace("-0", "-+"), text[..9].to_owned()]
            {
                assert_eq!(Name::of(&wrong), None, "{wrong}");
            }
        }
        for foreign in ["", "b", "b-", "é", "readme.txt", "b-7-3-1", "i-0-0-0-0"] {
            assert_eq!(Name::of(foreign), None, "{foreign}");
        }
    }
}
