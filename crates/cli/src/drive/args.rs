//! The flags of `tierscope drive`.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::args::{EXIT_CODES, LogOutputs, ScenarioArgs};
use crate::media::MediaArgs;

const EXAMPLES: &str = "\
Examples:
  tierscope drive tests/scenarios/drive/quickstart.toml --g3 /tmp/blocks --g4 file:///tmp/objects
  tierscope drive scenario.toml --g3 /mnt/nvme/blocks --g4 s3://bucket/blocks --clock wall --record run.jsonl
  tierscope run run.jsonl                              the same run again, without any tier
  tierscope diff run.jsonl scenario.toml               where the driven run and the simulated one part
  tierscope drive scenario.toml --g3 /mnt/nvme/blocks --block-bytes 65536 --threads 16
  tierscope drive scenario.toml --g1 wgpu:llvmpipe --g3 /tmp/blocks --block-bytes 65536

Under --clock lockstep copies begin and end when the modelled world says so, and no end is passed before the bytes have arrived:
the counts and the digest are those of `tierscope run`. Under wall and skip a copy ends when its medium says so.";

/// The flags.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct DriveArgs {
    #[command(flatten)]
    pub(crate) what: ScenarioArgs,
    #[command(flatten)]
    pub(crate) media: MediaArgs,
    /// Who says when a copy ends, and whether time passes between events
    #[arg(long, value_enum, default_value_t = ClockChoice::Lockstep)]
    pub(crate) clock: ClockChoice,
    /// How long a pass takes
    #[arg(long, value_enum, default_value_t = Passes::Modelled)]
    pub(crate) passes: Passes,
    /// Bytes of a real block, instead of the scenario's: blocks that stand for larger ones
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(8..=1 << 30))]
    pub(crate) block_bytes: Option<u64>,
    /// Write the scenario and the end of every copy, for `run`, `diff` and the page (wall and skip only)
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) outputs: LogOutputs,
    /// Print nothing but what was asked for with other flags, and errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Who says when a copy ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClockChoice {
    /// The modelled world; real tiers keep up with it
    Lockstep,
    /// Real tiers, on the wall clock
    Wall,
    /// Real tiers; time in which no copy is under way is skipped
    Skip,
}

impl ClockChoice {
    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lockstep => "lockstep",
            Self::Wall => "wall",
            Self::Skip => "skip",
        }
    }
}

/// How long a pass takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Passes {
    /// As long as the scenario's timing says
    Modelled,
    /// A microsecond: as fast as tiers allow
    None,
}
