//! The flags of `tierscope calibrate`.

use std::path::PathBuf;

use crate::args::EXIT_CODES;
use crate::media::MediaArgs;

const EXAMPLES: &str = "\
Examples:
  tierscope calibrate --g3 /mnt/nvme --out hw.toml
  tierscope calibrate --g3 /mnt/nvme --block-bytes 2097152 --seconds 120 --out hw.toml --json hw.json
  tierscope run scenario.toml --hardware hw.toml       with what was measured

G3 is measured in a folder of its own, made inside the one of --g3 (or the current one) and removed afterwards.
docs/CALIBRATE.md says what is measured, how the figures are fitted, and what the table means.";

/// The flags.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct CalibrateArgs {
    #[command(flatten)]
    pub(crate) media: MediaArgs,
    /// Write the figures here, as hardware.toml; - is standard output, instead of the table
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How long it may take
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(2..=86_400))]
    pub(crate) seconds: u64,
    /// Only around this size of block, instead of 4 KiB to 8 MiB: nearer to the truth for scenarios with such blocks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(4_096..=64 << 20))]
    pub(crate) block_bytes: Option<u64>,
    /// Of the order of slots and of the mixed load
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write all that was measured and fitted as JSON; - is standard output, instead of the table
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Print nothing but what was asked for with other flags, and errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
