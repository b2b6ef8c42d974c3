//! A scenario in an address: a version, and in base64url (no padding) the packed text.
//!
//! - `v2.`: deflate that begins behind a dictionary (`pack.rs`); what [`encode`] writes.
//! - `v1.`: deflate alone; read for ever.
//!
//! Decoding takes what people paste: a whole address with `#`, the fragment with its `#`, or the bare link; what
//! follows an `&` is not part of it. The inflated text is bounded, so that a small link cannot fill the memory.

mod error;
mod pack;
#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

pub use error::LinkError;
use pack::Damage;

use crate::limit;
use crate::problem::quote;

/// A version of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    First,
    Second,
}

/// How links begin, and which version that is; the newest first.
const PREFIXES: [(&str, Version); 2] = [("v2.", Version::Second), ("v1.", Version::First)];

/// The link of a text, without an address before it.
pub fn encode(text: &str) -> String {
    let mut link = String::from(PREFIXES[0].0);
    BASE64.encode_string(pack::pack(text.as_bytes()), &mut link);
    link
}

/// Whether a word begins as a link of a known version does.
pub fn is_link(word: &str) -> bool {
    PREFIXES.iter().any(|(prefix, _)| word.starts_with(prefix))
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
    let (version, payload) = version_of(fragment)?;
    let packed = BASE64
        .decode(payload.trim_end_matches('='))
        .map_err(|error| LinkError::NotBase64 { found: error.to_string().to_lowercase() })?;
    let bytes = match version {
        Version::First => inflate(&packed)?,
        Version::Second => pack::unpack(&packed).map_err(|damage| match damage {
            Damage::TooLarge => LinkError::TooLarge,
            Damage::Broken => LinkError::NotDeflate,
        })?,
    };
    String::from_utf8(bytes).map_err(|_| LinkError::NotText)
}

fn inflate(packed: &[u8]) -> Result<Vec<u8>, LinkError> {
    decompress_to_vec_with_limit(packed, limit::SCENARIO_TEXT_BYTES).map_err(|error| match error.status {
        TINFLStatus::HasMoreOutput => LinkError::TooLarge,
        _ => LinkError::NotDeflate,
    })
}

fn version_of(fragment: &str) -> Result<(Version, &str), LinkError> {
    for (prefix, version) in PREFIXES {
        if let Some(payload) = fragment.strip_prefix(prefix) {
            return Ok((version, payload));
        }
    }
    match fragment.split_once('.') {
        Some((version, _)) if version.len() < 8 && version.starts_with('v') => {
            Err(LinkError::UnknownVersion { found: quote(version) })
        }
        _ => Err(LinkError::NoVersion { found: quote(fragment) }),
    }
}
