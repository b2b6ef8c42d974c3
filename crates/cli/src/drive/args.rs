//! The flags of `tierscope drive`.

use std::path::PathBuf;

use crate::args::EXIT_CODES;
use crate::media::MediaArgs;

const EXAMPLES: &str = "\
Examples:
  tierscope drive tests/scenarios/drive/quickstart.toml --g3 /tmp/blocks
  tierscope drive scenario.toml --g3 /mnt/nvme/blocks --block-bytes 65536 --threads 16
  tierscope drive scenario.toml --g3 /tmp/blocks --g4 s3://bucket/prefix

Copies begin and end when the modelled world says so, and no end is passed before the bytes have arrived: the counts and the
digest are those of `tierscope run`. G1 is host memory that stands in for a GPU.
G4 is an object store; docs/TIERS.md says what it promises.";

/// The flags.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct DriveArgs {
    /// Scenario (.toml, .json), bare trace, link, or - for standard input
    #[arg(value_name = "SCENARIO|LINK")]
    pub(crate) scenario: String,
    /// Replay this trace instead of the one that the scenario names
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) media: MediaArgs,
    /// Bytes of a real block, instead of the scenario's: blocks that stand for larger ones
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(8..=1 << 30))]
    pub(crate) block_bytes: Option<u64>,
    /// Change one key of the scenario; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Change the seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,
    /// Write the report as JSON; - is standard output, instead of the table
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Print nothing but what was asked for with other flags, and errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
