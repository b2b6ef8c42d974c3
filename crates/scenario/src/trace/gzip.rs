//! Packed traces: gzip by its first bytes, whatever the file is called.
//!
//! All members of a file are read, and their checksums are checked. What comes out is bounded while it comes out, so that a small file
//! cannot fill the memory.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use flate2::read::MultiGzDecoder;

use super::line::{self, Fault};
use crate::problem::Problem;

const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Whether the bytes are packed.
pub(super) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The bytes themselves, or what they hold packed: at most `most` bytes.
///
/// # Errors
/// One problem, for a file that is cut or corrupt, or that holds more.
pub(super) fn unpack(bytes: &[u8], most: u64) -> Result<Cow<'_, [u8]>, Vec<Problem>> {
    if !is_packed(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(most.saturating_add(1)).read_to_end(&mut unpacked);
    let refused = |found: String, expected: String, mend: &str| {
        Err(vec![line::of_file(Fault::new(0, "", found, expected, mend))])
    };
    if unpacked.len() as u64 > most {
        let found = format!("a packed file that holds more than {most} bytes");
        return refused(found, "no more than that".into(), "unpack it and cut it into smaller files");
    }
    match read {
        Ok(_) => Ok(Cow::Owned(unpacked)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => refused(
            format!("a gzip file that is cut after {} bytes", bytes.len()),
            "a whole gzip file".into(),
            "copy or download it again",
        ),
        Err(error) => {
            let words: String = error.to_string().chars().filter(|c| !c.is_control()).take(100).collect();
            refused(
                format!("a gzip file that is corrupt ({words}) after {} unpacked bytes", unpacked.len()),
                "a sound gzip file".into(),
                "copy or download it again; `gzip -t FILE` checks it",
            )
        }
    }
}

/// The bytes themselves, or what they hold packed, for who has little memory: what a packed file holds is counted first, and only then is memory
/// taken for it.
///
/// # Errors
/// As those of reading: one problem, for a file that is cut or corrupt, or that holds more than `most` bytes.
pub fn unpacked(bytes: Vec<u8>, most: u64) -> Result<Vec<u8>, Vec<Problem>> {
    if !is_packed(&bytes) {
        return Ok(bytes);
    }
    let counted = std::io::copy(
        &mut MultiGzDecoder::new(&bytes[..]).take(most.saturating_add(1)),
        &mut std::io::sink(),
    );
    let whole = match counted {
        Ok(whole) if whole <= most => whole,
        // What is wrong with it takes no memory to be said.
        Ok(_) => return unpack(&bytes, 0).map(Cow::into_owned).map_err(|problems| larger(problems, most)),
        Err(_) => return unpack(&bytes, most).map(Cow::into_owned),
    };
    let mut unpacked = Vec::with_capacity(whole as usize);
    match MultiGzDecoder::new(&bytes[..]).read_to_end(&mut unpacked) {
        Ok(_) => Ok(unpacked),
        Err(_) => unpack(&bytes, most).map(Cow::into_owned),
    }
}

fn larger(mut problems: Vec<Problem>, most: u64) -> Vec<Problem> {
    for problem in &mut problems {
        problem.found = format!("a packed file that holds more than {most} bytes");
    }
    problems
}

/// The first bytes, unpacked where they are packed; what can be had of a file that is cut.
pub(super) fn head(bytes: &[u8], most: usize) -> Cow<'_, [u8]> {
    if !is_packed(bytes) {
        return Cow::Borrowed(&bytes[..bytes.len().min(most)]);
    }
    let mut unpacked = Vec::new();
    // Whatever is wrong with the file is said when all of it is read.
    let _ = MultiGzDecoder::new(bytes).take(most as u64).read_to_end(&mut unpacked);
    Cow::Owned(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use std::io::Write;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("a vector takes all");
        encoder.finish().expect("a vector takes all")
    }

    #[test]
    fn members_are_joined_and_plain_bytes_stay() {
        let two = [packed(b"one\n"), packed(b"two\n")].concat();
        assert_eq!(unpack(&two, 100).expect("sound")[..], *b"one\ntwo\n");
        assert_eq!(unpack(b"plain", 1).expect("nothing to unpack")[..], *b"plain");
        assert_eq!(head(&two, 5)[..], *b"one\nt");
    }

    #[test]
    fn a_bomb_a_cut_and_a_flipped_bit_end_in_a_message() {
        let zeros = packed(&vec![0; 1 << 20]);
        expect_test::expect![[r#"
            error: found a packed file that holds more than 1000 bytes, expected no more than that
              --> scenario:1:1
              mend: unpack it and cut it into smaller files"#]]
        .assert_eq(&unpack(&zeros, 1_000).expect_err("a bomb")[0].to_string());
        assert!(unpack(&zeros, 1 << 20).is_ok(), "exactly at the limit");
        assert!(unpack(&zeros, (1 << 20) - 1).is_err());
        let text = packed(b"a line of text\n");
        expect_test::expect![[r#"
            error: found a gzip file that is cut after 30 bytes, expected a whole gzip file
              --> scenario:1:1
              mend: copy or download it again"#]]
        .assert_eq(&unpack(&text[..30], 1_000).expect_err("cut")[0].to_string());
        let mut wrong = text.clone();
        let sum = wrong.len() - 8;
        wrong[sum] ^= 1;
        let message = unpack(&wrong, 1_000).expect_err("the checksum differs")[0].to_string();
        assert!(message.contains("a gzip file that is corrupt"), "{message}");
        let trailing = [text, b"garbage behind it".to_vec()].concat();
        assert!(unpack(&trailing, 1_000).is_err());
    }

    proptest! {
        #[test]
        fn any_cut_and_any_change_is_unpacked_or_refused(at in any::<prop::sample::Index>(), value: u8, cut: bool) {
            let mut bytes = packed(&b"{\"timestamp\": 0}\n".repeat(50));
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at); } else { bytes[at] = value; }
            if let Err(problems) = unpack(&bytes, 10_000) {
                prop_assert!(problems[0].to_string().lines().count() == 3);
            }
        }
    }
}
