//! A 128-bit digest of a stream of words (rule E4). XXH3 by the `xxhash-rust` crate: fast, portable, and
//! specified, so that natively and in wasm the same stream gives the same digits. Not cryptographic.

use std::fmt;

use xxhash_rust::xxh3::Xxh3;

/// A finished digest; prints as 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub u128);

impl Digest {
    /// The digest of one byte string.
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxhash_rust::xxh3::xxh3_128(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A digest under way.
#[derive(Clone)]
pub struct Digester {
    state: Xxh3,
    buffer: Box<[u8; BUFFER_BYTES]>,
    /// Bytes of the buffer that are filled.
    len: usize,
}

/// Words are gathered to this many bytes before they are hashed: the hash is fastest on long input.
const BUFFER_BYTES: usize = 4096;

impl Default for Digester {
    fn default() -> Self {
        Self { state: Xxh3::new(), buffer: Box::new([0; BUFFER_BYTES]), len: 0 }
    }
}

impl Digester {
    /// Appends a word, little-endian.
    #[inline]
    pub fn word(&mut self, word: u64) {
        self.room(8).copy_from_slice(&word.to_le_bytes());
    }

    /// Appends words.
    #[inline]
    pub fn words(&mut self, words: &[u64]) {
        for part in words.chunks(BUFFER_BYTES / 8) {
            let room = self.room(part.len() * 8);
            for (bytes, word) in room.chunks_exact_mut(8).zip(part) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
    }

    /// Appends pairs of words: what [`Digester::words`] does for one pair after the other, faster.
    #[inline]
    pub fn pairs<T: Copy>(&mut self, items: &[T], pair: impl Fn(T) -> [u64; 2]) {
        for part in items.chunks(BUFFER_BYTES / 16) {
            let room = self.room(part.len() * 16);
            for (bytes, &item) in room.chunks_exact_mut(16).zip(part) {
                let [first, second] = pair(item);
                bytes[..8].copy_from_slice(&first.to_le_bytes());
                bytes[8..].copy_from_slice(&second.to_le_bytes());
            }
        }
    }

    /// The next `bytes` of the buffer, at most all of it.
    #[inline]
    fn room(&mut self, bytes: usize) -> &mut [u8] {
        if self.len + bytes > BUFFER_BYTES {
            self.flush();
        }
        let at = self.len;
        self.len += bytes;
        &mut self.buffer[at..at + bytes]
    }

    #[cold]
    fn flush(&mut self) {
        self.state.update(&self.buffer[..self.len]);
        self.len = 0;
    }

    /// The digest of all words so far.
    pub fn finish(&self) -> Digest {
        let mut state = self.state.clone();
        state.update(&self.buffer[..self.len]);
        Digest(state.digest128())
    }
}

impl fmt::Debug for Digester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digester({})", self.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_does_not_depend_on_how_words_are_handed_over() {
        let words: Vec<u64> = (0..3_000).map(|n: u64| n.wrapping_mul(0x9e37_79b9)).collect();
        let mut one_by_one = Digester::default();
        words.iter().for_each(|&word| one_by_one.word(word));
        let mut at_once = Digester::default();
        at_once.word(words[0]);
        at_once.words(&words[1..1_000]);
        let pairs: Vec<[u64; 2]> = words[1_000..].chunks(2).map(|two| [two[0], two[1]]).collect();
        at_once.pairs(&pairs, |pair| pair);
        assert_eq!(one_by_one.finish(), at_once.finish());
    }
}
