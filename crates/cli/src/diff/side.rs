//! The two sides of a comparison: scenarios that are run, and logs that are read. Both give lines of facts.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow};
use flate2::read::MultiGzDecoder;
use tierscope_report::compare::{LINE_BYTES_MAX, Record, fact_of_life, read_line};
use tierscope_report::{FoldSetup, Folds, Header, InfiniteCache, Outcome, Report, jsonl};
use tierscope_scenario::Workload;
use tierscope_sim::{Run, RunState};
use tierscope_units::SimTime;

use crate::args::DiffArgs;
use crate::input::{self, Changes, Input};
use crate::interrupt;

/// What a fact log begins with, and a trace does not.
const LOG_START: &[u8] = b"{\"fact\":";
/// Lines between two looks whether the user asked to stop.
const LINES_BETWEEN_CHECKS: u64 = 4_096;

/// One side.
pub(crate) enum Contestant {
    /// A scenario, with what the command line changes in it.
    Scenario { argument: String, set: Vec<String> },
    /// A log of facts.
    Log(PathBuf),
}

impl Contestant {
    /// Finds out what was named.
    pub(crate) fn find(argument: &str, args: &DiffArgs, own: &[String]) -> Result<Self> {
        let path = Path::new(argument);
        let set: Vec<String> = args.set.iter().chain(own).cloned().collect();
        let is_log = path.is_file() && begins_as_log(path);
        if argument == "-" {
            return Err(anyhow!(
                "error: standard input can be read once, and a comparison reads twice\n  mend: save it in a file"
            ));
        }
        if is_log && !own.is_empty() {
            return Err(anyhow!(
                "error: {argument} is a fact log: what happened cannot be changed with --set\n  mend: name the scenario that \
                 it came from"
            ));
        }
        Ok(match is_log {
            true => Self::Log(path.to_owned()),
            false => Self::Scenario { argument: argument.to_owned(), set },
        })
    }

    pub(crate) fn is_log(&self) -> bool {
        matches!(self, Self::Log(_))
    }

    /// What to call it in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Scenario { argument, .. } if argument.len() > 80 => "link".to_owned(),
            Self::Scenario { argument, .. } => argument.clone(),
            Self::Log(path) => path.display().to_string(),
        }
    }

    /// What it is, with what was changed.
    pub(crate) fn told(&self) -> String {
        let name = self.name();
        match self {
            Self::Scenario { set, .. } if !set.is_empty() => format!("{name} with {}", set.join(", ")),
            Self::Scenario { .. } => name,
            Self::Log(_) => format!("{name} (fact log)"),
        }
    }

    /// The scenario with a seed of its own or the given one, and its requests; `None` of a log. `known` are its requests
    /// under another seed: those of a trace are the same.
    pub(crate) fn load(
        &self,
        seed: Option<u64>,
        known: Option<&Arc<Workload>>,
    ) -> Result<Option<(Input, Arc<Workload>)>> {
        let Self::Scenario { argument, set } = self else { return Ok(None) };
        let input: Input = input::read(argument, &Changes { set, seed, ..Changes::default() })?;
        let workload = match known {
            Some(known) if input.scenario.trace_path().is_some() => known.clone(),
            _ => Arc::new(input.expand()?),
        };
        Ok(Some((input, workload)))
    }

    /// Its facts from the beginning.
    pub(crate) fn open(&self, loaded: Option<&(Input, Arc<Workload>)>) -> Result<Lines> {
        match (self, loaded) {
            (Self::Log(path), _) => Ok(Lines::Log(Box::new(Log::open(path)?))),
            (Self::Scenario { .. }, Some((input, workload))) => {
                Ok(Lines::Live(Box::new(Live::new(input.run(workload.clone())))))
            }
            (Self::Scenario { .. }, None) => unreachable!("a scenario is loaded before it is opened"),
        }
    }
}

/// Whether a file, unzipped where it is, begins as fact logs do. A file that cannot be read is no log here: whoever
/// reads it next says why.
fn begins_as_log(path: &Path) -> bool {
    let mut start = [0; LOG_START.len()];
    let read = reader(path).and_then(|mut reader| reader.read_exact(&mut start));
    read.is_ok() && start == LOG_START
}

fn reader(path: &Path) -> std::io::Result<Box<dyn BufRead>> {
    let mut file = BufReader::new(File::open(path)?);
    let zipped = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(if zipped { Box::new(BufReader::new(MultiGzDecoder::new(file))) } else { Box::new(file) })
}

/// Facts as lines, one after the other.
pub(crate) enum Lines {
    Log(Box<Log>),
    Live(Box<Live>),
}

impl Lines {
    /// The next line with its fact; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>> {
        match self {
            Self::Log(log) => log.next(),
            Self::Live(live) => live.next(),
        }
    }

    /// What the facts so far came to.
    pub(crate) fn report(&self) -> Report {
        match self {
            Self::Log(log) => {
                log.folds.report(Header::default(), Outcome::Finished, InfiniteCache::default(), None)
            }
            Self::Live(live) => live.run.report(),
        }
    }
}

/// A log that is read.
pub(crate) struct Log {
    name: String,
    reader: Box<dyn BufRead>,
    line: String,
    number: u64,
    folds: Folds,
}

impl Log {
    fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let reader = reader(path).map_err(|error| unreadable(&name, 1, &error))?;
        let folds = Folds::new(&FoldSetup::default());
        Ok(Self { name, reader, line: String::new(), number: 0, folds })
    }

    fn next(&mut self) -> Result<Option<Record<'_>>> {
        self.line.clear();
        self.number += 1;
        if self.number.is_multiple_of(LINES_BETWEEN_CHECKS) {
            interrupt::check()?;
        }
        let most = LINE_BYTES_MAX as u64 + 2;
        let mut limited = self.reader.as_mut().take(most);
        let read =
            limited.read_line(&mut self.line).map_err(|error| unreadable(&self.name, self.number, &error))?;
        if read == 0 {
            return Ok(None);
        }
        let line = self.line.trim_end_matches(['\n', '\r']);
        let record =
            read_line(line, self.number).map_err(|problem| anyhow!("error: {}:{problem}", self.name))?;
        if let (Some(fact), Ok(at)) = (fact_of_life(&record), u64::try_from(record.at_ns)) {
            self.folds.take_fact(SimTime::from_ns(at), &fact, &Default::default());
        }
        Ok(Some(record))
    }
}

fn unreadable(name: &str, line: u64, error: &std::io::Error) -> anyhow::Error {
    anyhow!(
        "error: cannot read {name}, line {line}: {error}\n  mend: check that the file is whole: a fact log as `tierscope run \
         --events` writes it, gzipped or not"
    )
}

/// A run whose facts are told as lines.
pub(crate) struct Live {
    run: Run,
    lines: String,
    /// Where the next line begins.
    at: usize,
    number: u64,
}

impl Live {
    pub(crate) fn new(run: Run) -> Self {
        Self { run, lines: String::new(), at: 0, number: 0 }
    }

    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>> {
        if self.at == self.lines.len() {
            self.lines.clear();
            self.at = 0;
            interrupt::check()?;
        }
        while self.lines.is_empty() {
            if self.run.state() != RunState::Running {
                return Ok(None);
            }
            let lines = &mut self.lines;
            self.run.advance(1, |log| {
                for (at, fact) in log.iter() {
                    jsonl::write_fact(lines, at, fact, log);
                }
            })?;
        }
        let rest = &self.lines[self.at..];
        let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
        self.at = (self.at + line.len() + 1).min(self.lines.len());
        self.number += 1;
        Ok(Some(read_line(line, self.number)?))
    }
}
