//! The command line: names, help, examples.

use std::path::{Path, PathBuf};

use clap::builder::styling::Styles;
use clap::{ArgGroup, Parser, Subcommand};
use tierscope_scenario::import::Source;
use tierscope_scenario::{TraceFormat, limit, trace};

use crate::calibrate::CalibrateArgs;
use crate::conform::ConformArgs;
use crate::drive::DriveArgs;
use crate::sweep::SweepArgs;

pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  an expectation failed, or two runs differ
  2  bad usage or input, or interrupted
  3  dead end, or an invariant violated";

const EXAMPLES: &str = "\
Examples:
  tierscope run scenario.toml                          a table of what came of it
  tierscope run conversation_trace.jsonl               a bare trace, with defaults that are named
  tierscope run scenario.toml --set engine.g1_blocks=200 --json report.json
  tierscope test tests/scenarios                       every scenario with its expectations
  tierscope diff a.toml b.toml --seeds 20              where two runs part, and what that does to the metrics
  tierscope link scenario.toml                         the scenario in one line, to share
  tierscope convert session.json --out trace.jsonl     any trace as Mooncake's lines
  tierscope sweep scenario.toml --knob engine.g1_blocks=500..64000*2";

const RUN_EXAMPLES: &str = "\
Examples:
  tierscope run scenario.toml
  tierscope run scenario.toml --set engine.g1_blocks=200 --set timing.model=fixed --seed 7
  tierscope run scenario.toml --trace other_trace.jsonl --json report.json --events facts.jsonl
  tierscope run conversation_trace.jsonl --json - | jq .hit_ratio
  tierscope run scenario.toml --perfetto trace.json --requests requests.csv
  tierscope run '#v2.…' --digest                       a shared link: the same digest for everybody
  generate-scenario | tierscope run -

A bare trace is told by its first line, packed (.gz) or not; docs/SCENARIOS.md lists the formats. Where the scenario has [expect], it is checked.";

const TEST_EXAMPLES: &str = "\
Examples:
  tierscope test tests/scenarios
  tierscope test tests/scenarios gallery/one.toml --junit junit.xml
  tierscope test tests/scenarios --repeat 3            also fails where two runs differ

Folders are walked for .toml and .json files in sorted order. The last line is 'N passed, N failed'.";

const DIFF_EXAMPLES: &str = "\
Examples:
  tierscope diff scenario.toml scenario.toml --set-b engine.victim=least_computed
  tierscope diff before.jsonl scenario.toml            a log of `run --events` (.jsonl, .jsonl.gz) and a run
  tierscope diff a.toml b.toml --seeds 20 --json -     metrics paired over seeds 1 to 20
  tierscope diff a.toml b.toml --seeds 101..200 --quiet || echo they differ

Numbers that only count things, slots, and the origin of the clock are no differences (docs/COMPARING.md).

Exit codes:
  0  both mean the same
  1  they differ
  2  bad usage or input
  3  an invariant violated";

const LINK_EXAMPLES: &str = "\
Examples:
  tierscope link scenario.toml                         prints the link
  tierscope link scenario.toml | xargs tierscope run   the same run
  tierscope link --decode '#v2.…' > scenario.toml      and back";

const CONVERT_EXAMPLES: &str = "\
Examples:
  tierscope convert session.json --out trace.jsonl
  tierscope convert sessions/*.json --session-gap-s 30 --out all.jsonl.gz
  tierscope convert requests.000*.jsonl.gz --limit 1000 --out - | head
  tierscope convert lookup_hashes_*.jsonl --output-tokens 300 --out lookups.jsonl

The result is Mooncake's JSON lines with sessions, delays and wait_for: read again, it is the same workload, and a run of
it has the same digest. Several files are joined: sessions of weka with ids of their own, shards of dynamo and lmcache by
their times. A summary goes to standard error.";

const IMPORT_EXAMPLES: &str = "\
Examples:
  tierscope import serve.sh -o scenario.toml           the vllm serve command in a script
  tierscope import engine-args.json | tierscope run -  arguments of Dynamo's mocker
  tierscope import lmcache.yaml                        the tiers that LMCache would keep
  pbpaste | tierscope import - --from vllm

The scenario goes to standard output, and what was taken, assumed and left out to standard error (docs/IMPORT.md).";

/// Deterministic laboratory for the KV-cache tiers of LLM serving: replays a scenario or a trace and reports.
#[derive(Debug, Parser)]
#[command(name = "tierscope", version, after_help = EXAMPLES, styles = Styles::plain(), max_term_width = 110)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario, a bare trace or a link, and report what came of it
    Run(RunArgs),
    /// Run scenarios and check their expectations
    Test(TestArgs),
    /// Compare two runs or fact logs by what they mean
    Diff(DiffArgs),
    /// Pack a scenario into a link, or unpack one
    Link(LinkArgs),
    /// Write a trace of any format as Mooncake's JSON lines
    Convert(ConvertArgs),
    /// Make a scenario of a vllm serve command, Dynamo engine arguments or an LMCache file
    Import(ImportArgs),
    /// Turn one to three knobs of a scenario, and compare what comes of it
    Sweep(Box<SweepArgs>),
    /// Run a scenario with real blocks in GPU, host memory, disk and object store, and verify each of them
    Drive(Box<DriveArgs>),
    /// Measure the tiers of this machine, and write figures that scenarios take (--hardware)
    Calibrate(Box<CalibrateArgs>),
    /// Check on this machine that the media named do what every medium has to
    Conform(ConformArgs),
    /// Serve the page from inside this program, for this machine only
    Serve(ServeArgs),
    /// Print completions for a shell
    #[command(hide = true)]
    Completions(CompletionsArgs),
    /// Print the manual page
    #[command(hide = true)]
    Man,
}

/// Which scenario, and what is changed in it: of `run` and `drive` alike.
#[derive(Debug, clap::Args)]
pub(crate) struct ScenarioArgs {
    /// Scenario (.toml, .json), bare trace (.jsonl, .json, .csv, packed as .gz or not), link, recording of a driven
    /// run, or - for standard input
    #[arg(value_name = "SCENARIO|LINK")]
    pub(crate) scenario: String,
    /// Replay this trace instead of the one that the scenario names
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Put the figures of a machine into the scenario, as tierscope calibrate wrote them (docs/HARDWARE.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) hardware: Option<PathBuf>,
    /// Change one key of the scenario, for example engine.g1_blocks=200; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Change the seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,
}

/// Where a run's outputs go, of `run` and `drive` alike.
#[derive(Debug, clap::Args)]
pub(crate) struct LogOutputs {
    /// Write the report as JSON; - is standard output, instead of the table
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write every fact as a line of JSON; - is standard output, instead of the table
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Write the run on one axis of time, for ui.perfetto.dev or chrome://tracing; - is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) perfetto: Option<PathBuf>,
    /// Write a row for each request as CSV; - is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) requests: Option<PathBuf>,
}

impl LogOutputs {
    /// Each that was asked for, with its flag.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let all = [
            ("--json", &self.json),
            ("--events", &self.events),
            ("--perfetto", &self.perfetto),
            ("--requests", &self.requests),
        ];
        all.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)))
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = format!("{RUN_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) what: ScenarioArgs,
    #[command(flatten)]
    pub(crate) outputs: LogOutputs,
    /// Print the digest of the run alone, instead of the table
    #[arg(long)]
    pub(crate) digest: bool,
    /// Print nothing but what was asked for with other flags, and errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = format!("{TEST_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct TestArgs {
    /// Scenarios, or folders of scenarios
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Run each scenario N times; differing digests are a failure
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) repeat: u32,
}

#[derive(Debug, clap::Args)]
#[command(after_help = DIFF_EXAMPLES)]
pub(crate) struct DiffArgs {
    /// Scenario (.toml, .json), bare trace, link, or fact log (.jsonl, .jsonl.gz)
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// What it is compared with
    #[arg(value_name = "B")]
    pub(crate) b: String,
    /// Change one key of both scenarios; may be repeated, as may the next two
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Change one key of A
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set_a: Vec<String>,
    /// Change one key of B
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set_b: Vec<String>,
    /// Change the seed of both
    #[arg(long, value_name = "N", conflicts_with = "seeds", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,
    /// Pair metrics over seeds 1 to N, or a to b with both ends; facts are compared at the first
    #[arg(long, value_name = "N|a..b", value_parser = crate::diff::seeds)]
    pub(crate) seeds: Option<std::ops::RangeInclusive<u64>>,
    /// Write the comparison as JSON; - is standard output, instead of the text
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Facts to show before and from the first difference on
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(..=1_000))]
    pub(crate) context: u64,
    /// Print nothing but what was asked for with other flags, and errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = LINK_EXAMPLES)]
#[command(group = ArgGroup::new("what").required(true).args(["scenario", "decode"]))]
pub(crate) struct LinkArgs {
    /// Scenario (.toml, .json), or - for standard input
    pub(crate) scenario: Option<String>,
    /// Print the scenario that a link holds
    #[arg(long, value_name = "LINK")]
    pub(crate) decode: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = format!("{CONVERT_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct ConvertArgs {
    /// Traces, packed (.gz) or not
    #[arg(value_name = "IN", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write here; - is standard output, a name that ends in .gz is packed
    #[arg(long, short, value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// The format, instead of finding it out
    #[arg(long, value_name = "FORMAT", value_parser = clap::builder::PossibleValuesParser::new(
        TraceFormat::WORDS.map(|(word, _)| word)))]
    pub(crate) from: Option<String>,
    /// Only the first N requests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=limit::REQUESTS as i64))]
    pub(crate) limit: Option<u32>,
    /// Tokens per hash id, where the file does not say so; of a trace without hashes, what is written
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=limit::BLOCK_TOKENS as i64))]
    pub(crate) block_tokens: Option<u32>,
    /// Tokens of every answer, of a format that does not tell them (lmcache)
    #[arg(long, value_name = "N", default_value_t = trace::ASSUMED_OUTPUT_TOKENS,
        value_parser = clap::value_parser!(u32).range(1..=limit::ASSUMED_OUTPUT_TOKENS as i64))]
    pub(crate) output_tokens: u32,
    /// Seconds from the beginning of one recorded session to that of the next (weka)
    #[arg(long, value_name = "S", default_value_t = 0.0, value_parser = seconds)]
    pub(crate) session_gap_s: f64,
    /// No summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = format!("{IMPORT_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct ImportArgs {
    /// A command line, arguments as JSON, or a configuration; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// What it is, instead of finding it out
    #[arg(long, value_name = "SOURCE", value_parser = clap::builder::PossibleValuesParser::new(
        Source::WORDS.map(|(word, _)| word)))]
    pub(crate) from: Option<String>,
    /// Write the scenario here; without it, or with -, to standard output
    #[arg(long, short, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    /// No notes on what was taken, assumed and left out
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let most = limit::TIME_MS / 1e3;
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=most).contains(number));
    number.ok_or_else(|| format!("expected seconds from 0 to {most:.0} (ten years)"))
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ServeArgs {
    /// Listen here instead of at 8080; 0 is any port that is free
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}
