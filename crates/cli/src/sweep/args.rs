//! The flags of `tierscope sweep`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

/// A sweep judges no expectations, and a dead end is a row of it.
const EXIT_CODES: &str = "\
Exit codes:
  0  done
  2  bad usage or input, every point refused, or interrupted
  3  an invariant violated";

const EXAMPLES: &str = "\
Examples:
  tierscope sweep scenario.toml --knob engine.g1_blocks=500..64000*2 --out capacity.parquet
  tierscope sweep scenario.toml --knob g2.blocks=1000..8000*2 --knob 'offload.load=\"always\",\"sooner\"' --seeds 1..20
  tierscope sweep conversation_trace.jsonl --cache-only --knob engine.g1_blocks=500,1000,2000,5000
  tierscope sweep scenario.toml --knob … --shard 3/20 --out parts   one share, to be run anywhere
  tierscope sweep merge parts --out capacity.parquet                and all of them together
  tierscope sweep scenario.toml --knob … --engine hq --out capacity.parquet

Values of a knob: V,V,… and ranges: LO..HI:N (N values), LO..HI*F (times F), LO..HI+S (plus S). An interrupted or killed
sweep goes on where it stopped when the same command is given again. docs/SWEEPS.md has the columns and the clusters.";

/// The flags.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct SweepArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SweepCommand>,
    /// Scenario (.toml, .json), bare trace (of any format that `convert` reads), link, or - for standard input
    #[arg(value_name = "SCENARIO|LINK", required = true)]
    pub(crate) scenario: Option<String>,
    /// A key and its values, for example engine.g1_blocks=500..8000*2; once to three times
    #[arg(long, value_name = "KEY=VALUES", required = true)]
    pub(crate) knob: Vec<String>,
    /// Run every combination with each of these seeds, for example 1..20
    #[arg(long, value_name = "SEEDS")]
    pub(crate) seeds: Option<String>,
    /// Change one key of the scenario for all points; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Replay this trace instead of the one that the scenario names
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// No scheduler and no time: what a cache of the capacity of all tiers hits, LRU and optimal
    #[arg(long)]
    pub(crate) cache_only: bool,
    /// Write FILE.parquet and FILE.csv; with --shard the folder of the parts
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write everything as JSON; - is standard output, instead of the table
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    pub(crate) json: Option<PathBuf>,
    /// Points at once [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4_096))]
    pub(crate) jobs: Option<u32>,
    /// Only the i-th of n shares, as one part in the folder --out
    #[arg(long, value_name = "I/N", requires = "out", conflicts_with = "engine")]
    pub(crate) shard: Option<String>,
    /// Who runs the shares
    #[arg(long, value_enum, default_value_t = Engine::Local)]
    pub(crate) engine: Engine,
    /// With --engine hq or slurm: into how many shares
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) shards: Option<u32>,
    /// With --engine hq or slurm: the folder of the parts, which is kept [default: FILE.parts, removed afterwards]
    #[arg(long, value_name = "DIR")]
    pub(crate) parts: Option<PathBuf>,
    /// With --engine hq: a running server's folder, for its command hq; without it a cluster of this machine is started
    #[arg(long, value_name = "DIR")]
    pub(crate) server_dir: Option<PathBuf>,
    /// With --engine hq: the Python that has the package hyperqueue
    #[arg(long, value_name = "FILE")]
    pub(crate) python: Option<PathBuf>,
    /// With --engine slurm: print the array script instead of submitting it
    #[arg(long)]
    pub(crate) print_script: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What else there is to do with a sweep.
#[derive(Debug, Subcommand)]
pub(crate) enum SweepCommand {
    /// Check the parts in a folder and write them as one file
    Merge(MergeArgs),
}

/// The flags of `merge`.
#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// The folder of the parts
    #[arg(value_name = "DIR")]
    pub(crate) parts: PathBuf,
    /// Write FILE.parquet and FILE.csv
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write everything as JSON; - is standard output, instead of the table
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Who runs the shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// The cores of this machine, in this process
    Local,
    /// HyperQueue
    Hq,
    /// A Slurm array
    Slurm,
}
