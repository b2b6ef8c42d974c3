//! The form of a block's object: a header that says whose content it is, then the content.

use crate::fault::Fault;
use crate::medium::Key;

/// Bytes of the header.
pub(super) const HEADER_BYTES: usize = 32;

const MAGIC: u32 = 0x3454_5354;
const VERSION: u32 = 1;

/// CRC-32C (Castagnoli).
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, bytes) as u32
}

/// The header of a block.
pub(super) fn header_of(key: Key, block: &[u8]) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
    bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
    bytes[8..16].copy_from_slice(&key.0.to_le_bytes());
    bytes[16..24].copy_from_slice(&(block.len() as u64).to_le_bytes());
    bytes[24..28].copy_from_slice(&checksum(block).to_le_bytes());
    let own = checksum(&bytes[..28]);
    bytes[28..].copy_from_slice(&own.to_le_bytes());
    bytes
}

/// Whether a header and a block belong together, and to this key.
///
/// # Errors
///
/// [`Fault::Corrupt`] when anything of it is not as it was written; [`Fault::Missing`] when all of it is, and it is
/// another key's.
pub(super) fn check(header: &[u8; HEADER_BYTES], key: Key, block: &[u8]) -> Result<(), Fault> {
    let word32 = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let word64 = |at: usize| u64::from(word32(at)) | u64::from(word32(at + 4)) << 32;
    let written = (word32(0), word32(4)) == (MAGIC, VERSION) && word32(28) == checksum(&header[..28]);
    if !written || word64(16) != block.len() as u64 || word32(24) != checksum(block) {
        return Err(Fault::Corrupt);
    }
    if word64(8) == key.0 { Ok(()) } else { Err(Fault::Missing) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_flipped_bit_and_any_cut_is_seen() {
        let key = Key(0x0123_4567_89ab_cdef);
        let mut block: Vec<u8> = (0..96).collect();
        let mut header = header_of(key, &block);
        assert_eq!(check(&header, key, &block), Ok(()));
        for bit in 0..8 * HEADER_BYTES {
            header[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(check(&header, key, &block), Err(Fault::Corrupt), "bit {bit} of the header");
            header[bit / 8] ^= 1 << (bit % 8);
        }
        for bit in 0..8 * block.len() {
            block[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(check(&header, key, &block), Err(Fault::Corrupt), "bit {bit} of the block");
            block[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(check(&header, key, &block[..95]), Err(Fault::Corrupt));
        assert_eq!(check(&header, Key(key.0 + 1), &block), Err(Fault::Missing), "whole, and another's");
    }
}
