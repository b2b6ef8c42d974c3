//! The object that outlives us: what was in which slot, and by which name, when it was persisted. A slot may be stored into
//! afterwards: then its object says that it is another key's, and the entry serves nothing.

use super::frame::checksum;
use super::name::BlockName;
use crate::medium::{Key, Slot};

const MAGIC: u32 = 0x3449_5354;
const HEADER_BYTES: usize = 16;
const ENTRY_BYTES: usize = 28;

/// A slot that holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: BlockName,
    pub(super) key: Key,
}

/// The most bytes of an index of so many slots.
pub(super) fn bytes_max(slots: u32) -> u64 {
    HEADER_BYTES as u64 + ENTRY_BYTES as u64 * u64::from(slots)
}

/// The bytes of these entries: magic, their number, a checksum of them, one of the header; then they.
pub(super) fn encode(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER_BYTES];
    bytes.reserve_exact(entries.len() * ENTRY_BYTES);
    for Entry { name, key } in entries {
        bytes.extend_from_slice(&name.slot.0.to_le_bytes());
        for word in [name.life, name.usage, key.0] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }
    let sum = checksum(&bytes[HEADER_BYTES..]);
    bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
    bytes[4..8].copy_from_slice(&(entries.len() as u32).to_le_bytes());
    bytes[8..12].copy_from_slice(&sum.to_le_bytes());
    let own = checksum(&bytes[..12]);
    bytes[12..16].copy_from_slice(&own.to_le_bytes());
    bytes
}

/// The entries of these bytes; `None` when they are not an index of at most so many slots, as it was written.
pub(super) fn decode(bytes: &[u8], slots: u32) -> Option<Vec<Entry>> {
    let word32 = |bytes: &[u8]| bytes.first_chunk().map(|word| u32::from_le_bytes(*word));
    let word64 = |bytes: &[u8]| bytes.first_chunk().map(|word| u64::from_le_bytes(*word));
    let (header, rest) = bytes.split_at_checked(HEADER_BYTES)?;
    let whole = word32(header)? == MAGIC
        && word32(&header[12..])? == checksum(&header[..12])
        && word32(&header[8..])? == checksum(rest)
        && rest.len() == (word32(&header[4..])? as usize).checked_mul(ENTRY_BYTES)?;
    if !whole {
        return None;
    }
    let entry = |bytes: &[u8]| {
        let slot = Slot(word32(bytes)?);
        let name = BlockName { slot, life: word64(&bytes[4..])?, usage: word64(&bytes[12..])? };
        (slot.0 < slots).then_some(Entry { name, key: Key(word64(&bytes[20..])?) })
    };
    rest.chunks_exact(ENTRY_BYTES).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_read_as_it_was_written_and_any_flipped_bit_or_cut_is_seen() {
        let entry = |slot, key| Entry {
            name: BlockName { slot: Slot(slot), life: 2, usage: 1 << 50 },
            key: Key(key),
        };
        for entries in [vec![], vec![entry(0, 1), entry(9, u64::MAX)]] {
            let mut bytes = encode(&entries);
            assert!(bytes.len() as u64 <= bytes_max(10));
            assert_eq!(decode(&bytes, 10), Some(entries.clone()));
            for bit in 0..8 * bytes.len() {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(decode(&bytes, 10), None, "bit {bit}");
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            for length in 0..bytes.len() {
                assert_eq!(decode(&bytes[..length], 10), None, "cut to {length}");
            }
        }
        assert_eq!(decode(&encode(&[entry(10, 1)]), 10), None, "there is no such slot");
    }
}
