//! Hash ids of any kind, numbered by what stands before them.
//!
//! A number stands for a block and everything before it: the same id behind two different beginnings has two numbers. So
//! numbers always have one parent, whether or not the ids of the trace had, and a workload can be written as
//! Mooncake's lines. They are given as they come, from 0: number n is token ids n × block tokens … (see [`super::id`]).

use std::collections::BTreeMap;

/// The number before a first block, of files whose ids mean the same; what a file's own ids stand behind is
/// `ROOT - 1`, `ROOT - 2` …
pub(super) const ROOT: u64 = u64::MAX;

#[derive(Default)]
pub(super) struct Numbers {
    known: BTreeMap<(u64, u128), u64>,
    next: u64,
}

impl Numbers {
    /// The number of block `key` behind block `parent`.
    pub(super) fn of(&mut self, parent: u64, key: u128) -> u64 {
        let next = self.next;
        let number = *self.known.entry((parent, key)).or_insert(next);
        self.next += u64::from(number == next);
        number
    }

    /// A number that no other block has.
    pub(super) fn own(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_that_of_a_block_and_its_beginning() {
        let mut numbers = Numbers::default();
        let first = numbers.of(ROOT, 7);
        let second = numbers.of(first, 8);
        assert_eq!((first, second, numbers.own()), (0, 1, 2));
        assert_eq!(numbers.of(ROOT, 8), 3, "the same id elsewhere is another block");
        assert_eq!((numbers.of(ROOT, 7), numbers.of(first, 8)), (first, second));
        assert_eq!(numbers.of(ROOT - 1, 7), 4, "an id of another file");
    }
}
