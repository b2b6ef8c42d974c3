//! A scenario in an address: `v1.` and the base64url (no padding) of the raw deflate of its text.
//!
//! Decoding takes what people paste: a whole address with `#`, the fragment with its `#`, or the bare link; what
//! follows an `&` is not part of it. The inflated text is bounded, so that a small link cannot fill the memory.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

use crate::limit;
use crate::problem::quote;

const PREFIX: &str = "v1.";
const LEVEL: u8 = 9;

/// Why a link cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// Nothing stands after the `#`, or nothing at all.
    Empty,
    /// Longer than any link can be.
    TooLong {
        /// Bytes found.
        bytes: usize,
    },
    /// It does not begin with a version.
    NoVersion {
        /// Its beginning.
        found: String,
    },
    /// A version that this release does not understand.
    UnknownVersion {
        /// The version.
        found: String,
    },
    /// A character that is not base64url, or a length that cannot be.
    NotBase64 {
        /// What the decoder says.
        found: String,
    },
    /// The bytes are not a whole deflate stream: the link was cut or changed.
    NotDeflate,
    /// The text would be longer than [`limit::SCENARIO_TEXT_BYTES`].
    TooLarge,
    /// The inflated bytes are no text.
    NotText,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = format!("a link such as {PREFIX}q1YqSi0u…");
        let longest = limit::SCENARIO_TEXT_BYTES;
        let (found, expected, mend) = match self {
            Self::Empty => ("an empty link".into(), form, "copy the whole address, with what follows #"),
            Self::TooLong { bytes } => (
                format!("a link of {bytes} bytes"),
                format!("at most {longest} bytes"),
                "send the scenario as a file instead",
            ),
            Self::NoVersion { found } => (found.clone(), form, "copy the whole address, with what follows #"),
            Self::UnknownVersion { found } => (
                format!("link version {found}"),
                format!("{PREFIX}…, the only version understood"),
                "open it with the release that made it",
            ),
            Self::NotBase64 { found } => (
                found.clone(),
                "letters, digits, - and _ after the version".into(),
                "copy the link again, without line breaks or added marks",
            ),
            Self::NotDeflate => (
                "data that does not inflate".into(),
                "a whole link".into(),
                "copy the link again: it was cut or changed",
            ),
            Self::TooLarge => (
                "a text that is too long when inflated".into(),
                format!("at most {longest} bytes"),
                "send the scenario as a file instead",
            ),
            Self::NotText => (
                "data that is no UTF-8 text".into(),
                "a scenario".into(),
                "copy the link again: it was changed, or made by another program",
            ),
        };
        write!(f, "error: link: found {found}, expected {expected}\n  mend: {mend}")
    }
}

impl std::error::Error for LinkError {}

/// The link of a text, without an address before it.
pub fn encode(text: &str) -> String {
    let mut link = String::from(PREFIX);
    BASE64.encode_string(compress_to_vec(text.as_bytes(), LEVEL), &mut link);
    link
}

/// The text of a link.
///
/// # Errors
/// See [`LinkError`]; its text has what was found, what was expected and a mend.
pub fn decode(link: &str) -> Result<String, LinkError> {
    let link = link.trim();
    let fragment = link.rsplit_once('#').map_or(link, |(_, fragment)| fragment);
    let fragment = fragment.split_once('&').map_or(fragment, |(link, _)| link).trim();
    if fragment.is_empty() {
        return Err(LinkError::Empty);
    }
    // Deflate never makes a text longer by more than a few bytes per block, base64 by a third.
    if fragment.len() > limit::SCENARIO_TEXT_BYTES * 3 / 2 {
        return Err(LinkError::TooLong { bytes: fragment.len() });
    }
    let payload = payload(fragment)?.trim_end_matches('=');
    let packed = BASE64
        .decode(payload)
        .map_err(|error| LinkError::NotBase64 { found: error.to_string().to_lowercase() })?;
    let bytes =
        decompress_to_vec_with_limit(&packed, limit::SCENARIO_TEXT_BYTES).map_err(|error| {
            match error.status {
                TINFLStatus::HasMoreOutput => LinkError::TooLarge,
                _ => LinkError::NotDeflate,
            }
        })?;
    String::from_utf8(bytes).map_err(|_| LinkError::NotText)
}

fn payload(fragment: &str) -> Result<&str, LinkError> {
    if let Some(payload) = fragment.strip_prefix(PREFIX) {
        return Ok(payload);
    }
    match fragment.split_once('.') {
        Some((version, _)) if version.len() < 8 && version.starts_with('v') => {
            Err(LinkError::UnknownVersion { found: quote(version) })
        }
        _ => Err(LinkError::NoVersion { found: quote(fragment) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "tierscope = 1\ntitle = \"Ünïcode\"\n";

    #[test]
    fn whatever_people_paste_decodes() {
        let link = encode(TEXT);
        assert!(
            link.starts_with("v1.") && link.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b))
        );
        for pasted in [
            link.clone(),
            format!("#{link}"),
            format!("https://example.org/t/?x=1#{link}"),
            format!(" {link}&t=5 \n"),
            format!("{link}=="),
        ] {
            assert_eq!(decode(&pasted).as_deref(), Ok(TEXT), "{pasted}");
        }
    }

    #[test]
    fn what_is_no_link_says_why() {
        let link = encode(TEXT);
        let errors = [
            "",
            "https://example.org/#",
            "hello",
            "v9.abc",
            "v1.a",
            "v1.%%%",
            &link[..link.len() - 4],
            "v1.AAAA",
        ]
        .map(decode);
        for error in errors {
            let message = error.expect_err("no link").to_string();
            assert!(
                message.contains("found") && message.contains("expected") && message.contains("mend: "),
                "{message}"
            );
        }
        expect_test::expect![[r##"
            error: link: found link version "v9", expected v1.…, the only version understood
              mend: open it with the release that made it"##]]
        .assert_eq(&decode("v9.abc").expect_err("no link").to_string());
    }

    #[test]
    fn a_bomb_is_refused() {
        let bomb = encode(&"a".repeat(limit::SCENARIO_TEXT_BYTES + 1));
        assert!(bomb.len() < 4_000);
        assert_eq!(decode(&bomb), Err(LinkError::TooLarge));
        let largest = "a".repeat(limit::SCENARIO_TEXT_BYTES);
        assert_eq!(decode(&encode(&largest)), Ok(largest));
        assert_eq!(decode(&"x".repeat(1 << 21)), Err(LinkError::TooLong { bytes: 1 << 21 }));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let mut link = String::from(PREFIX);
        BASE64.encode_string(compress_to_vec(&[0xff, 0xfe], LEVEL), &mut link);
        assert_eq!(decode(&link), Err(LinkError::NotText));
    }
}
