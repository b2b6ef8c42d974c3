//! The form of the log: records of 64 bytes, each with a checksum of its own and with its place, so that the log ends
//! at the first record that is torn, lost or older than the log.

use crate::medium::{Key, Slot};

/// Bytes of a record: a power of two, so that none crosses a sector.
pub(crate) const RECORD_BYTES: usize = 64;

const MAGIC: u32 = 0x3354_5354;
const VERSION: u8 = 1;

/// One line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// The first: whose log this is.
    Header {
        /// Bytes of a slot.
        block_bytes: u64,
        /// Slots.
        slots: u32,
    },
    /// A slot holds this content, with this checksum.
    Put {
        /// The content.
        key: Key,
        /// Where.
        slot: Slot,
        /// CRC-32C of the block.
        checksum: u32,
    },
    /// A slot holds nothing any more.
    Forget {
        /// Which.
        slot: Slot,
    },
}

/// Where a record stands: in which log, and at which place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) generation: u64,
    pub(crate) position: u64,
}

/// CRC-32C (Castagnoli), the checksum of iSCSI.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, bytes) as u32
}

impl Record {
    /// Its bytes at a place.
    pub(crate) fn encode(self, place: Place) -> [u8; RECORD_BYTES] {
        let (kind, word, slot, sum) = match self {
            Self::Header { block_bytes, slots } => (0u8, block_bytes, slots, 0),
            Self::Put { key, slot, checksum } => (1, key.0, slot.0, checksum),
            Self::Forget { slot } => (2, 0, slot.0, 0),
        };
        let mut bytes = [0; RECORD_BYTES];
        bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4] = VERSION;
        bytes[5] = kind;
        bytes[8..16].copy_from_slice(&place.generation.to_le_bytes());
        bytes[16..24].copy_from_slice(&place.position.to_le_bytes());
        bytes[24..32].copy_from_slice(&word.to_le_bytes());
        bytes[32..36].copy_from_slice(&slot.to_le_bytes());
        bytes[36..40].copy_from_slice(&sum.to_le_bytes());
        let own = checksum(&bytes[..60]);
        bytes[60..].copy_from_slice(&own.to_le_bytes());
        bytes
    }

    /// The record of these bytes, with its place; `None` for anything else.
    pub(crate) fn decode(bytes: &[u8; RECORD_BYTES]) -> Option<(Place, Self)> {
        let word32 = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let word64 = |at: usize| u64::from(word32(at)) | u64::from(word32(at + 4)) << 32;
        if word32(0) != MAGIC || bytes[4] != VERSION || word32(60) != checksum(&bytes[..60]) {
            return None;
        }
        let place = Place { generation: word64(8), position: word64(16) };
        let (word, slot) = (word64(24), word32(32));
        let record = match bytes[5] {
            0 => Self::Header { block_bytes: word, slots: slot },
            1 => Self::Put { key: Key(word), slot: Slot(slot), checksum: word32(36) },
            2 => Self::Forget { slot: Slot(slot) },
            _ => return None,
        };
        Some((place, record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { generation: 1 << 40, position: 77 };

    #[test]
    fn a_record_is_read_as_it_was_written_and_any_flipped_bit_is_seen() {
        let records = [
            Record::Header { block_bytes: 1 << 33, slots: 9 },
            Record::Put { key: Key(u64::MAX - 1), slot: Slot(8), checksum: 0xdead_beef },
            Record::Forget { slot: Slot(3) },
        ];
        for record in records {
            let mut bytes = record.encode(PLACE);
            assert_eq!(Record::decode(&bytes), Some((PLACE, record)));
            for bit in 0..8 * RECORD_BYTES {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Record::decode(&bytes), None, "bit {bit}");
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }

    #[test]
    fn nothing_is_no_record() {
        assert_eq!(Record::decode(&[0; RECORD_BYTES]), None);
        assert_eq!(Record::decode(&[0xff; RECORD_BYTES]), None);
    }
}
