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
    buffer: Vec<u8>,
}

/// Words are gathered to this many bytes before they are hashed: the hash is fastest on long input.
const BUFFER_BYTES: usize = 4096;

impl Default for Digester {
    fn default() -> Self {
        Self { state: Xxh3::new(), buffer: Vec::with_capacity(BUFFER_BYTES + 256) }
    }
}

impl Digester {
    /// Appends a word, little-endian.
    #[inline]
    pub fn word(&mut self, word: u64) {
        self.buffer.extend_from_slice(&word.to_le_bytes());
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush();
        }
    }

    /// Appends words.
    #[inline]
    pub fn words(&mut self, words: &[u64]) {
        for &word in words {
            self.word(word);
        }
    }

    #[cold]
    fn flush(&mut self) {
        self.state.update(&self.buffer);
        self.buffer.clear();
    }

    /// The digest of all words so far.
    pub fn finish(&self) -> Digest {
        let mut state = self.state.clone();
        state.update(&self.buffer);
        Digest(state.digest128())
    }
}

impl fmt::Debug for Digester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digester({})", self.finish())
    }
}
