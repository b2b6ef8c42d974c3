//! Where scenarios come from: a file, a bare trace, a link, standard input.
//!
//! Everything is read with a limit that is checked before memory is taken. Every refusal names the file, and
//! what to do.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow};
use tierscope_scenario::{Problem, Recording, Scenario, Workload, import, limit, link, recording, trace};
use tierscope_sim::{Run, RunOptions};

use crate::args::ScenarioArgs;

/// Bytes of a file that are looked at to tell what it is.
const HEAD_BYTES: u64 = 1 << 16;
/// Most bytes of a recording.
const RECORDING_BYTES_MAX: u64 = 1 << 30;
/// Most bytes of a scenario text.
const SCENARIO_BYTES_MAX: u64 = limit::SCENARIO_TEXT_BYTES as u64;

/// A scenario as it was given, with the changes of the command line.
pub(crate) struct Input {
    /// What to call it in messages.
    pub(crate) name: String,
    /// The parsed scenario.
    pub(crate) scenario: Scenario,
    /// Its text, changes included.
    pub(crate) text: String,
    /// Whether only a trace was given, so that the rest is defaults.
    pub(crate) bare_trace: bool,
    /// What was told, where a recording of a driven run was given.
    pub(crate) recording: Option<Recording>,
    /// Where the trace lies, if it needs one.
    trace: Option<PathBuf>,
}

/// What the command line changes in a scenario.
#[derive(Default)]
pub(crate) struct Changes<'a> {
    /// Replay this trace.
    pub(crate) trace: Option<&'a Path>,
    /// Figures of a machine.
    pub(crate) hardware: Option<&'a Path>,
    /// `key=value` each.
    pub(crate) set: &'a [String],
    /// The seed.
    pub(crate) seed: Option<u64>,
}

impl<'a> Changes<'a> {
    /// Those of `run` and `drive`.
    pub(crate) fn of(what: &'a ScenarioArgs) -> Self {
        Self {
            trace: what.trace.as_deref(),
            hardware: what.hardware.as_deref(),
            set: &what.set,
            seed: what.seed,
        }
    }
}

/// A text before it is parsed.
pub(crate) struct Source {
    /// What to call it in messages.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
    /// Paths in the scenario are relative to this folder.
    pub(crate) folder: PathBuf,
    bare_trace: bool,
    recording: Option<Recording>,
}

/// Finds, changes and parses a scenario.
pub(crate) fn read(argument: &str, changes: &Changes<'_>) -> Result<Input> {
    let (source, place) = changed(argument, changes)?;
    let scenario = tierscope_scenario::parse_any(&source.text)
        .map_err(|problems| explain(&place, Some(&place), problems))?;
    let named = scenario.trace_path().map(|path| source.folder.join(path));
    let trace = match (changes.trace, named) {
        (Some(_), None) => return Err(no_trace(&source.name)),
        (Some(given), Some(_)) => Some(given.to_owned()),
        (None, named) => named,
    };
    let Source { name, text, bare_trace, recording, .. } = source;
    Ok(Input { name, scenario, text, bare_trace, recording, trace })
}

/// Finds and changes a scenario; says what to call it in messages about its text.
pub(crate) fn changed(argument: &str, changes: &Changes<'_>) -> Result<(Source, String)> {
    let mut source = find(argument)?;
    if source.recording.is_some()
        && (changes.seed.is_some() || changes.hardware.is_some() || !changes.set.is_empty())
    {
        return Err(anyhow!(
            "error: {} is a recording: what happened cannot be changed\n  mend: change its scenario and run that \
             (`tierscope link {0} | tierscope run - --set …`), or leave --set, --seed and --hardware out",
            source.name
        ));
    }
    let mut assignments: Vec<String> = Vec::new();
    let replays = !source.bare_trace && changes.trace.is_some();
    if replays && tierscope_scenario::parse_any(&source.text).is_ok_and(|found| found.trace_path().is_none())
    {
        return Err(no_trace(&source.name));
    }
    if let Some(trace) = changes.trace {
        assignments.push(format!("workload.file={}", toml_string(&trace.display().to_string())));
    }
    assignments.extend(changes.seed.map(|seed| format!("seed={seed}")));
    assignments.extend(changes.set.iter().cloned());
    if let Some(path) = changes.hardware {
        source.text = with_hardware(&source, path)?;
    }
    for assignment in &assignments {
        source.text = tierscope_scenario::set(&source.text, assignment)
            .map_err(|problem| explain("--set", None, vec![problem]))?;
    }
    let place = match assignments.is_empty() && changes.hardware.is_none() {
        true => source.name.clone(),
        false => format!("{} as changed by the command line", source.name),
    };
    Ok((source, place))
}

/// The text with a machine's figures; what became of them goes to standard error.
fn with_hardware(source: &Source, path: &Path) -> Result<String> {
    let name = path.display().to_string();
    let figures = utf8(read_file(path, SCENARIO_BYTES_MAX)?, &name)?;
    // A fault of the scenario is told as always, when it is read.
    if tierscope_scenario::parse_any(&source.text).is_err() {
        return Ok(source.text.clone());
    }
    let (text, notes) = import::merge_hardware(&source.text, &figures)
        .map_err(|problems| explain(&name, Some(&name), problems))?;
    notes.iter().for_each(|note| crate::output::complain(&crate::import::line(note)));
    Ok(text)
}

fn no_trace(name: &str) -> anyhow::Error {
    anyhow!(
        "error: --trace is given, but {name} replays no trace\n  mend: leave --trace out, or set [workload] kind = \
         \"trace\""
    )
}

impl Input {
    /// A run of it before its first instant: of the scenario, or of what was recorded.
    pub(crate) fn run(&self, workload: Arc<Workload>) -> Run {
        match &self.recording {
            Some(recording) => Run::replay(&self.scenario, workload, RunOptions::default(), recording),
            None => Run::new(&self.scenario, workload, RunOptions::default()),
        }
    }

    /// Makes the requests, reading the trace if there is one.
    pub(crate) fn expand(&self) -> Result<Workload> {
        let bytes = self.trace.as_deref().map(read_trace).transpose()?;
        let place = self.trace.as_ref().map_or(self.name.clone(), |trace| trace.display().to_string());
        tierscope_scenario::expand(&self.scenario, bytes.as_deref())
            .map_err(|problems| explain(&place, Some(&place), problems))
    }
}

fn find(argument: &str) -> Result<Source> {
    if argument == "-" {
        return from_stdin();
    }
    let path = Path::new(argument);
    if looks_like_link(argument) && !path.exists() {
        return from_link(argument);
    }
    if let Some(source) = recording(path)? {
        return Ok(source);
    }
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "toml" => from_file(path),
        // A recorded session is one JSON object, as a scenario is.
        "json" => bare_trace(path)?.map_or_else(|| from_file(path), Ok),
        _ => bare_trace(path)?.ok_or_else(|| {
            anyhow!(
                "error: {argument} is neither a scenario nor a trace by its name and its content\n  expected: .toml or \
                 .json for a scenario, .jsonl, .json or .csv for a bare trace, packed as .gz or not\n  mend: rename \
                 the file, or name the format of the trace in a scenario"
            )
        }),
    }
}

/// The scenario of a driven run, if a file begins as recordings do. One that cannot be read is told of by whoever reads it
/// next.
fn recording(path: &Path) -> Result<Option<Source>> {
    let mut start = [0; recording::START.len()];
    let begun = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    if begun.is_err() || start != recording::START.as_bytes() {
        return Ok(None);
    }
    let name = path.display().to_string();
    let text = utf8(read_file(path, RECORDING_BYTES_MAX)?, &name)?;
    let recording = Recording::parse(&text).map_err(|problem| explain(&name, Some(&name), vec![*problem]))?;
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    let text = recording.scenario.clone();
    Ok(Some(Source { name, text, folder, bare_trace: false, recording: Some(recording) }))
}

fn looks_like_link(argument: &str) -> bool {
    let version =
        argument.strip_prefix('v').and_then(|rest| rest.split_once('.')).map(|(version, _)| version);
    let versioned = version.is_some_and(|version| version.parse::<u32>().is_ok());
    versioned
        || ["#", "http://", "https://"].iter().any(|start| argument.starts_with(start))
        || (argument.contains('#') && holds_link(argument))
}

/// Whether a link of a known version is all there is, or stands behind a `#`.
fn holds_link(text: &str) -> bool {
    text.trim().rsplit('#').next().is_some_and(link::is_link)
}

fn from_link(argument: &str) -> Result<Source> {
    let text = decode(argument)?;
    Ok(Source { name: "link".to_owned(), text, folder: PathBuf::new(), bare_trace: false, recording: None })
}

/// The scenario text that a link holds.
pub(crate) fn decode(argument: &str) -> Result<String> {
    link::decode(argument.trim()).map_err(|error| anyhow!("{error}"))
}

fn from_stdin() -> Result<Source> {
    let name = "standard input".to_owned();
    let bytes = read_limited(io::stdin().lock(), SCENARIO_BYTES_MAX).map_err(|error| {
        anyhow!("error: cannot read standard input: {error}\n  mend: pipe a scenario of at most 1 MiB")
    })?;
    let text = utf8(bytes, &name)?;
    if looks_like_link(text.trim()) && text.trim().lines().count() == 1 && holds_link(&text) {
        return from_link(&text);
    }
    Ok(Source { name, text, folder: PathBuf::new(), bare_trace: false, recording: None })
}

fn from_file(path: &Path) -> Result<Source> {
    let bytes = read_file(path, SCENARIO_BYTES_MAX)?;
    let name = path.display().to_string();
    let text = utf8(bytes, &name)?;
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    Ok(Source { name, text, folder, bare_trace: false, recording: None })
}

/// The defaults around a trace, if the file is one by its beginning or its name.
fn bare_trace(path: &Path) -> Result<Option<Source>> {
    let mut head = Vec::new();
    // A missing file is said before anything else.
    let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
    if !file.metadata().is_ok_and(|found| found.is_dir()) {
        file.take(HEAD_BYTES).read_to_end(&mut head).map_err(|error| cannot_read(path, &error))?;
    }
    let name = path.display().to_string();
    let Some(format) = trace::detect(&head, &name) else { return Ok(None) };
    let block = trace::block_tokens(&head, format);
    let text = tierscope_scenario::default_text_for_trace(&name, format, block);
    Ok(Some(Source { name, text, folder: PathBuf::new(), bare_trace: true, recording: None }))
}

/// The bytes of a trace, packed or not.
pub(crate) fn read_trace(path: &Path) -> Result<Vec<u8>> {
    read_file(path, limit::TRACE_BYTES)
}

pub(crate) fn read_file(path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
    let found = file.metadata().map_err(|error| cannot_read(path, &error))?;
    if found.is_dir() {
        return Err(anyhow!("error: {} is a folder\n  mend: name a file in it", path.display()));
    }
    if found.len() > most {
        return Err(too_large(path, most));
    }
    read_limited(file, most).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(path, most),
        _ => cannot_read(path, &error),
    })
}

/// Reads all, or refuses with `FileTooLarge` what is longer than `most` bytes.
fn read_limited(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {most} bytes")));
    }
    Ok(bytes)
}

pub(crate) fn utf8(bytes: Vec<u8>, name: &str) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count();
        anyhow!(
            "error: {name}:{line}: found bytes that are not UTF-8, expected text\n  mend: save the file as UTF-8; a \
             scenario is TOML or JSON"
        )
    })
}

fn too_large(path: &Path, most: u64) -> anyhow::Error {
    let most = tierscope_units::Bytes(most);
    anyhow!("error: {} is larger than {most}\n  mend: cut it into smaller files", path.display())
}

fn cannot_read(path: &Path, error: &io::Error) -> anyhow::Error {
    let mend = match error.kind() {
        io::ErrorKind::NotFound => {
            "check the path; a scenario is a .toml or .json file, a bare trace .jsonl, .json or .csv, a link, or - for \
             standard input"
        }
        io::ErrorKind::PermissionDenied => "make it readable for you",
        _ => "check that it is a readable file",
    };
    anyhow!("error: cannot read {}: {error}\n  mend: {mend}", path.display())
}

/// All problems of an input, with the file they are in.
pub(crate) fn explain(place: &str, file: Option<&str>, problems: Vec<Problem>) -> anyhow::Error {
    let count = problems.len();
    let mut text = String::new();
    for mut problem in problems {
        if problem.file.is_none() {
            problem.file = file.map(str::to_owned);
        }
        text.push_str(&format!("{problem}\n"));
    }
    let noun = if count == 1 { "problem" } else { "problems" };
    anyhow!("{text}{count} {noun} in {place}")
}

/// A TOML basic string: a path may hold any character.
fn toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
