//! `tierscope convert`: a trace of any format as Mooncake's JSON lines.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, anyhow};
use flate2::Compression;
use flate2::write::GzEncoder;
use tierscope_report::infinite_cache;
use tierscope_scenario::trace::{self, Writer};
use tierscope_scenario::{Start, TraceFile, TraceFormat, TraceOptions, Workload, limit};
use tierscope_units::{RequestId, Span, TokenRun};

use crate::args::ConvertArgs;
use crate::exit::Exit;
use crate::input;
use crate::interrupt;
use crate::output::{self, Output};

/// What a trace without hashes is said to have, unless the command line says otherwise: vLLM's default.
const BLOCK_TOKENS: u32 = 16;
/// Most bytes of lines that are kept before they are written.
const LINES_BYTES_MAX: usize = 1 << 20;

pub(crate) fn convert(args: &ConvertArgs) -> Result<Exit> {
    if args.inputs.len() > limit::TRACE_FILES {
        return Err(anyhow!(
            "error: found {} files, expected at most {}\n  mend: convert them in parts",
            args.inputs.len(),
            limit::TRACE_FILES
        ));
    }
    let names: Vec<String> = args.inputs.iter().map(|path| path.display().to_string()).collect();
    let bytes = read_all(args)?;
    let files: Vec<TraceFile<'_>> =
        names.iter().zip(&bytes).map(|(name, bytes)| TraceFile { name, bytes }).collect();
    let format = format(args, &files)?;
    let options = TraceOptions {
        rows: args.limit.map_or(usize::MAX, |rows| rows as usize),
        block_tokens: args.block_tokens.filter(|_| format.block_tokens().is_some()),
        output_tokens: args.output_tokens,
        session_gap: Span::from_ns((args.session_gap_s * 1e9).round() as u64),
    };
    let workload = trace::read(format, &files, &options)
        .map_err(|problems| input::explain(&names[0], Some(&names[0]), problems))?;
    write(&workload, args)?;
    if !args.quiet {
        output::complain(&summary(format, &workload));
    }
    Ok(Exit::Done)
}

/// The bytes of all files; together they are within the limit of one.
fn read_all(args: &ConvertArgs) -> Result<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    let mut sum = 0;
    for path in &args.inputs {
        let bytes = input::read_trace(path)?;
        sum += bytes.len() as u64;
        if sum > limit::TRACE_BYTES {
            let most = tierscope_units::Bytes(limit::TRACE_BYTES);
            return Err(anyhow!(
                "error: the files are larger than {most} together\n  mend: convert them in parts"
            ));
        }
        all.push(bytes);
    }
    Ok(all)
}

/// The format of all files: as it was given, or as each of them shows it.
fn format(args: &ConvertArgs, files: &[TraceFile<'_>]) -> Result<TraceFormat> {
    let given = args.from.as_deref();
    if let Some((_, format)) = TraceFormat::WORDS.into_iter().find(|(word, _)| Some(*word) == given) {
        return Ok(format);
    }
    let mut known: Option<(TraceFormat, &str)> = None;
    for file in files {
        let Some(format) = trace::detect(file.bytes, file.name) else {
            return Err(anyhow!(
                "error: {} is no trace by its beginning or its name\n  mend: name its format with --from",
                file.name
            ));
        };
        match known {
            Some((other, name)) if other != format => {
                return Err(anyhow!(
                    "error: found {} of format {} beside {name} of format {}, expected files of one format\n  mend: \
                     convert them apart, or name the format of all with --from",
                    file.name,
                    format.word(),
                    other.word()
                ));
            }
            _ => known = Some((format, file.name)),
        }
    }
    known.map(|(format, _)| format).ok_or_else(|| anyhow!("error: no file is given\n  mend: name a trace"))
}

fn write(workload: &Workload, args: &ConvertArgs) -> Result<()> {
    let mut sink = Sink::create(&args.out)?;
    let mut writer = Writer::new(workload, args.block_tokens.unwrap_or(BLOCK_TOKENS));
    let mut lines = String::new();
    for id in (0..workload.requests.len() as u32).map(RequestId) {
        writer.line(id, &mut lines).map_err(|unwritable| anyhow!("error: {unwritable}"))?;
        if lines.len() > LINES_BYTES_MAX {
            sink.write(&lines)?;
            lines.clear();
            interrupt::check()?;
        }
    }
    sink.write(&lines)?;
    sink.commit()
}

/// An output that is packed where its name says so.
enum Sink {
    Plain(Output),
    Packed(GzEncoder<Bytes>),
}

impl Sink {
    fn create(path: &Path) -> Result<Self> {
        let output = Output::create(path)?;
        let packed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
        Ok(match packed {
            true => Self::Packed(GzEncoder::new(Bytes(output), Compression::default())),
            false => Self::Plain(output),
        })
    }

    fn write(&mut self, text: &str) -> Result<()> {
        match self {
            Self::Plain(output) => output.write(text),
            Self::Packed(encoder) => encoder.write_all(text.as_bytes()).map_err(reason),
        }
    }

    fn commit(self) -> Result<()> {
        match self {
            Self::Plain(output) => output.commit(),
            Self::Packed(encoder) => encoder.finish().map_err(reason)?.0.commit(),
        }
    }
}

/// The refusal that an output gave, through the encoder and back.
fn reason(error: io::Error) -> anyhow::Error {
    anyhow!("{error}")
}

struct Bytes(Output);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_bytes(bytes).map_err(|error| io::Error::other(format!("{error:#}")))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the trace holds, in one line.
fn summary(format: TraceFormat, workload: &Workload) -> String {
    let plans = &workload.requests;
    let sum = |tokens: fn(&tierscope_scenario::RequestPlan) -> u32| {
        plans.iter().map(|plan| u64::from(tokens(plan))).sum::<u64>()
    };
    let sessions = workload.sessions.iter().flatten().max().map_or(0, |last| u64::from(*last) + 1);
    let follow = plans.iter().filter(|plan| matches!(plan.start, Start::After { .. })).count();
    let last = plans.iter().filter_map(|plan| match plan.start {
        Start::At(at) => Some(at),
        Start::After { .. } | Start::WhenFree { .. } => None,
    });
    let span = last.max().map_or(0.0, |last| last.as_secs_f64());
    let mut text = format!(
        "{}: {} requests, {sessions} sessions, {} tokens in, {} out, {follow} requests follow others, the rest come \
         within {span:.3} s",
        format.word(),
        plans.len(),
        sum(|plan| plan.prompt_tokens),
        sum(|plan| plan.output_tokens),
    );
    if workload.content_block_tokens > 0 {
        let block = workload.content_block_tokens;
        let prompts = plans.iter().map(|plan| {
            let answer = TokenRun { start: plan.output_start, len: plan.output_tokens };
            (plan.salt, workload.prompt(plan), answer)
        });
        let ratio = infinite_cache(prompts, block).ratio() * 100.0;
        text.push_str(&format!(", a cache without limits hits {ratio:.2} % (blocks of {block})"));
    }
    text
}
