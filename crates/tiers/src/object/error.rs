//! Why a store cannot be a tier.

use std::fmt;
use std::io;

/// Why a store cannot be a tier.
#[derive(Debug)]
pub enum ObjectError {
    /// The URL is not understood.
    BadUrl {
        /// The URL.
        url: String,
        /// What is wrong with it.
        found: String,
    },
    /// No slots, or a block of no bytes, or more than one object can have.
    BadSizes {
        /// Slots asked for.
        slots: u32,
        /// Bytes of each.
        block_bytes: usize,
    },
    /// The environment has no keys.
    NoKeys {
        /// The URL.
        url: String,
        /// The variable that is not set.
        variable: &'static str,
    },
    /// The endpoint is not encrypted, and nobody said that this is meant.
    PlainHttp {
        /// The URL.
        url: String,
        /// The endpoint.
        endpoint: String,
    },
    /// There is no such bucket.
    NoBucket {
        /// The URL.
        url: String,
        /// What the store says.
        said: String,
    },
    /// The keys are wrong, or may not do what is needed.
    Refused {
        /// The URL.
        url: String,
        /// What the store says.
        said: String,
    },
    /// It does not answer, or not as a store does.
    Unreachable {
        /// The URL.
        url: String,
        /// What happened.
        said: String,
    },
    /// It holds blocks of other sizes.
    OtherSizes {
        /// The URL.
        url: String,
        /// Bytes of a block there.
        block_bytes: u64,
        /// Slots there.
        slots: u32,
    },
    /// Another process opens the same place at the same time.
    InUse {
        /// The URL.
        url: String,
    },
    /// The system refuses.
    Io {
        /// What was tried, in words.
        doing: &'static str,
        /// The URL.
        url: String,
        /// What it says.
        error: io::Error,
    },
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadUrl { url, found } => write!(
                f,
                "`{url}` names no store: {found}\n  mend: s3://bucket/prefix, file:///folder, or memory:///"
            ),
            Self::BadSizes { slots, block_bytes } => write!(
                f,
                "{slots} slots of {block_bytes} bytes make no store\n  mend: at least one slot, blocks of a positive multiple of \
                 8 bytes and at most 4 GiB"
            ),
            Self::NoKeys { url, variable } => write!(
                f,
                "{url}: the environment has no {variable}\n  mend: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
                 AWS_SKIP_SIGNATURE=true for a store that asks for none"
            ),
            Self::PlainHttp { url, endpoint } => write!(
                f,
                "{url}: the endpoint {endpoint} is not encrypted\n  mend: an https endpoint in AWS_ENDPOINT_URL, or \
                 AWS_ALLOW_HTTP=true where that is meant"
            ),
            Self::NoBucket { url, said } => {
                write!(f, "{url}: there is no such bucket: {said}\n  mend: make the bucket, or name another")
            }
            Self::Refused { url, said } => write!(
                f,
                "{url}: the store refuses these keys: {said}\n  mend: keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY that may \
                 list, read, write and delete there"
            ),
            Self::Unreachable { url, said } => write!(
                f,
                "{url}: the store does not answer as it should: {said}\n  mend: look at AWS_ENDPOINT_URL and AWS_REGION, and whether \
                 the server runs"
            ),
            Self::OtherSizes { url, block_bytes, slots } => write!(
                f,
                "{url}: it holds {slots} slots of {block_bytes} bytes\n  mend: the same sizes, or another prefix"
            ),
            Self::InUse { url } => write!(
                f,
                "{url}: another process opens this place as a tier\n  mend: another prefix, or end that process"
            ),
            Self::Io { doing, url, error } => {
                write!(f, "{url}: cannot {doing}: {error}\n  mend: {}", mend_of(error))
            }
        }
    }
}

fn mend_of(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "a folder that this user may write to"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "a place with more room",
        _ => "look at the folder, or at the limits of this process",
    }
}

impl std::error::Error for ObjectError {}
