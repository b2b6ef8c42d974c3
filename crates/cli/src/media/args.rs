//! The flags that name real media, of `drive` and `calibrate` alike.

use std::path::PathBuf;

/// The flags.
#[derive(Debug, clap::Args)]
pub(crate) struct MediaArgs {
    /// The folder that is G3; what an earlier run left there is taken over
    #[arg(long, value_name = "DIR")]
    pub(crate) g3: Option<PathBuf>,
    /// The object store that is G4: s3://bucket/prefix (endpoint and keys from AWS_*), file:///folder, memory:///
    #[arg(long, value_name = "URL")]
    pub(crate) g4: Option<String>,
    /// Threads that copy, for each medium
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) threads: u32,
    /// Take more than 8 GiB of memory where the blocks of G1 and G2 need it
    #[arg(long)]
    pub(crate) memory: bool,
}
