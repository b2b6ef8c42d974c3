//! The second version's packing: raw deflate that begins behind a dictionary, so that what is usual costs little.
//!
//! The dictionary is text that scenarios are made of: the gallery as it was when links of this version began, without
//! what repeats, and last, since near is cheapest, the usual keys with their usual values. It is part of the format: a
//! link holds distances into it. **It is never changed**; a test holds its digest. A better one is another version.

use miniz_oxide::deflate::core::{CompressorOxide, TDEFLFlush, TDEFLStatus, compress_to_output};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use crate::limit;

/// At most the 32,768 bytes that a distance reaches.
pub(super) const DICTIONARY: &[u8] = include_bytes!("dictionary.txt");

/// The most searches for a match: the dictionary's early parts are found too. The text is short, so it takes some
/// milliseconds.
const SEARCHES: u32 = 0xfff;

/// The text as deflate that begins behind the dictionary.
pub(super) fn pack(text: &[u8]) -> Vec<u8> {
    let mut compressor = CompressorOxide::new(SEARCHES);
    // A flushed block ends at a whole byte: what follows is a stream of its own for who knows what came before.
    let (flushed, _) = compress_to_output(&mut compressor, DICTIONARY, TDEFLFlush::Sync, |_| true);
    debug_assert_eq!(flushed, TDEFLStatus::Okay, "the sink takes everything");
    let mut packed = Vec::with_capacity(text.len() / 8 + 64);
    let (done, _) = compress_to_output(&mut compressor, text, TDEFLFlush::Finish, |bytes| {
        packed.extend_from_slice(bytes);
        true
    });
    debug_assert_eq!(done, TDEFLStatus::Done, "the sink takes everything");
    packed
}

/// The text of what [`pack`] made; otherwise whether it is too large, or damaged.
pub(super) fn unpack(packed: &[u8]) -> Result<Vec<u8>, Damage> {
    const LONGEST: usize = DICTIONARY.len() + limit::SCENARIO_TEXT_BYTES;
    let mut inflater = DecompressorOxide::new();
    // The dictionary lies where the text's beginning looks for it, as if it had just been inflated.
    let mut out = DICTIONARY.to_vec();
    let (mut read, mut written) = (0, out.len());
    loop {
        // Room grows with what is inflated, up to one byte more than a text may have.
        let room = (out.len() * 2).min(LONGEST + 1);
        out.resize(room, 0);
        let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, taken, made) = decompress(&mut inflater, &packed[read..], &mut out, written, flags);
        read += taken;
        written += made;
        match status {
            _ if written > LONGEST => return Err(Damage::TooLarge),
            TINFLStatus::Done => break,
            TINFLStatus::HasMoreOutput => {}
            _ => return Err(Damage::Broken),
        }
    }
    out.truncate(written);
    Ok(out.split_off(DICTIONARY.len()))
}

/// Why nothing can be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// The text would be longer than a scenario may be.
    TooLarge,
    /// No whole stream.
    Broken,
}
