//! What a block of a key holds, when its bytes stand for nothing but themselves: every byte follows from the key, so that a
//! block that arrives can be checked wherever it has been.

use crate::medium::Key;

/// Fills a block with the bytes of its key.
pub fn fill(key: Key, block: &mut [u8]) {
    let mut word = Words::of(key);
    let mut chunks = block.chunks_exact_mut(8);
    for chunk in &mut chunks {
        chunk.copy_from_slice(&word.next().to_le_bytes());
    }
    let rest = chunks.into_remainder();
    let last = word.next().to_le_bytes();
    let length = rest.len();
    rest.copy_from_slice(&last[..length]);
}

/// Whether a block holds the bytes of its key.
pub fn is_of(key: Key, block: &[u8]) -> bool {
    let mut word = Words::of(key);
    let mut chunks = block.chunks_exact(8);
    let whole = chunks.by_ref().all(|chunk| *chunk == word.next().to_le_bytes());
    whole && *chunks.remainder() == word.next().to_le_bytes()[..chunks.remainder().len()]
}

/// SplitMix64 (Steele, Lea and Flood, 2014): quick, and any two keys differ in nearly every word.
struct Words(u64);

impl Words {
    fn of(key: Key) -> Self {
        Self(key.0)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_of_its_key_and_of_no_other_and_any_flipped_bit_is_seen() {
        for length in [0, 1, 7, 8, 9, 64, 100] {
            let mut block = vec![0; length];
            fill(Key(7), &mut block);
            assert!(is_of(Key(7), &block), "{length}");
            for byte in 0..length {
                block[byte] ^= 1;
                assert!(!is_of(Key(7), &block), "{length}, byte {byte}");
                block[byte] ^= 1;
            }
            assert!(length < 8 || !is_of(Key(8), &block));
        }
    }
}
