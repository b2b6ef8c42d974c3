//! Where a store is, as a URL says it.

use std::path::PathBuf;

use object_store::path::Path;
use url::Url;

use super::error::ObjectError;

/// A place that has been understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// `memory:///`: nothing outlives the medium.
    Memory,
    /// `file:///path`.
    File(PathBuf),
    /// `s3://bucket/prefix`.
    S3 { bucket: String, prefix: Path },
}

impl Address {
    pub(super) fn of(text: &str) -> Result<Self, ObjectError> {
        let bad = |found: String| ObjectError::BadUrl { url: text.to_owned(), found };
        let url = Url::parse(text).map_err(|error| bad(error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("it has a user or a password in it".to_owned()));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(bad("it has a query or a fragment".to_owned()));
        }
        match url.scheme() {
            "memory" if matches!(url.path(), "" | "/") => Ok(Self::Memory),
            "memory" => Err(bad("memory has no folders".to_owned())),
            "file" => url
                .to_file_path()
                .map(Self::File)
                .map_err(|()| bad("its path is not one of this machine".to_owned())),
            "s3" => {
                let bucket = url.host_str().filter(|host| !host.is_empty());
                let bucket = bucket.ok_or_else(|| bad("it names no bucket".to_owned()))?;
                let prefix = Path::from_url_path(url.path()).map_err(|error| bad(error.to_string()))?;
                Ok(Self::S3 { bucket: bucket.to_owned(), prefix })
            }
            other => Err(bad(format!("the scheme `{other}` is not known"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_kinds_of_place_are_understood() {
        let s3 = |prefix: &str| Address::S3 { bucket: "kvblocks".to_owned(), prefix: Path::from(prefix) };
        assert_eq!(Address::of("memory:///").ok(), Some(Address::Memory));
        assert_eq!(Address::of("file:///var/kv%20blocks").ok(), Some(Address::File("/var/kv blocks".into())));
        assert_eq!(Address::of("s3://kvblocks").ok(), Some(s3("")));
        assert_eq!(Address::of("s3://kvblocks/a/b/").ok(), Some(s3("a/b")));
    }

    #[test]
    fn what_is_no_place_is_refused_with_a_mend() {
        let bad = [
            "",
            "kvblocks",
            "http://host/x",
            "s3:///prefix",
            "memory:///x",
            "file://host/x",
            "s3://k:s@bucket",
            "s3://b?x=1",
        ];
        for text in bad {
            let refused = Address::of(text).expect_err(text);
            assert!(matches!(refused, ObjectError::BadUrl { .. }), "{text}");
            assert!(refused.to_string().contains("mend: "), "{refused}");
        }
    }
}
