//! What somebody brings to the page: a pasted text, a dropped file, a trace, a driven run; and what it was taken for.

mod seen;
mod words;

use std::rc::Rc;

use tierscope_scenario::TraceFormat;
use tierscope_scenario::import::{self, FoundTrace, Imported};
use tierscope_worker::protocol::{FileKind, ProblemView, TRACE_SLICE_BYTES, TraceSaid};

pub use words::{grouped, size, unfit_size};

use super::driven::Driven;
use super::edit::{self, Draft};
use super::{AppState, Notice, Origin};

/// Longest text that is taken from a file which is no trace.
pub const TEXT_BYTES: f64 = 1_048_576.0;

/// The import dialog and what lies in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intake {
    /// Whether the dialog is open.
    pub open: bool,
    /// Whether something is held over the page.
    pub over: bool,
    /// What was pasted or dropped as text.
    pub text: Rc<str>,
    /// Where it came from; empty for a pasted text.
    pub name: Rc<str>,
    /// What it was taken for.
    pub seen: Option<Rc<Seen>>,
    /// The trace that was handed over last.
    pub trace: Option<Rc<HandedFile>>,
    /// The recording of a driven run that is handed over; it stays only as long as it is not read.
    pub recording: Option<Rc<HandedFile>>,
    /// The driven run that was read last.
    pub driven: Option<Rc<Driven>>,
    /// Files that were handed over, each with a number.
    pub files: u32,
    /// Whether the trace takes the place of the present scenario's workload, or comes with defaults.
    pub keep_scenario: bool,
}

/// What a text was taken for.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// A scenario, ready to be used.
    Scenario(Draft),
    /// A scenario that was made of something else.
    Made {
        /// Of what.
        source: &'static str,
        /// The result.
        imported: Imported,
    },
    /// It was recognized, and cannot be read.
    Faulty {
        /// What it was recognized as.
        what: &'static str,
        /// Why not.
        problems: Vec<ProblemView>,
    },
    /// It was not recognized.
    Unknown(String),
}

/// A trace or a recording on its way, or there.
#[derive(Clone, Debug, PartialEq)]
pub struct HandedFile {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: Rc<str>,
    /// Its length.
    pub bytes: f64,
    /// How far it is.
    pub phase: FilePhase,
}

/// How far a file is.
#[derive(Clone, Debug, PartialEq)]
pub enum FilePhase {
    /// So many bytes are in the worker.
    Reading(f64),
    /// All are there, and are read.
    Checking,
    /// It is a trace, and can be replayed.
    Ready(FoundTrace),
    /// It cannot be read.
    Refused(Vec<ProblemView>),
    /// It is not wanted any more.
    Cancelled,
}

/// What can happen to all this.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The dialog opens.
    Open,
    /// The dialog closes.
    Close,
    /// Something is held over the page, or no longer.
    Over(bool),
    /// A text was pasted, or read from a file of that name.
    Text { name: String, text: String },
    /// A file cannot be taken; why, in words.
    Unfit { name: String, why: String },
    /// What was seen becomes the scenario.
    Use,
    /// A trace is about to be handed over.
    Trace { name: String, bytes: f64 },
    /// A recording is about to be handed over.
    Recording { name: String, bytes: f64 },
    /// All bytes of the file of this number are in the worker.
    Sent(u32),
    /// The file of this number is not wanted.
    Cancel(u32),
    /// The present scenario's engine and tiers stay, or defaults are taken.
    KeepScenario(bool),
    /// The trace becomes the workload.
    Replay,
    /// The driven run is replayed once more.
    ReplayDriven,
}

impl HandedFile {
    /// Share that is done, of reading.
    pub fn share(&self) -> f64 {
        match self.phase {
            FilePhase::Reading(bytes) => (bytes / self.bytes.max(1.0)).clamp(0.0, 1.0),
            _ => 1.0,
        }
    }

    /// Whether it is on its way.
    pub fn is_coming(&self) -> bool {
        matches!(self.phase, FilePhase::Reading(_) | FilePhase::Checking)
    }

    /// One line that says how far it is.
    pub fn sentence(&self) -> String {
        match &self.phase {
            FilePhase::Reading(bytes) => {
                format!("Reading {}: {} of {}.", self.name, size(*bytes), size(self.bytes))
            }
            FilePhase::Checking => format!("Checking {} ({}).", self.name, size(self.bytes)),
            FilePhase::Ready(found) => {
                format!(
                    "{}: a {} trace of {} requests.",
                    self.name,
                    words::format(found.format),
                    grouped(found.requests)
                )
            }
            FilePhase::Refused(_) => format!("{} cannot be replayed.", self.name),
            FilePhase::Cancelled => format!("{}: cancelled; nothing was kept.", self.name),
        }
    }
}

impl AppState {
    /// The state after a step.
    pub(super) fn taken_in(self, step: Step) -> Self {
        match step {
            Step::Open => self.with_intake(|intake| intake.open = true),
            Step::Close => self.with_intake(|intake| intake.open = false),
            Step::Over(over) => self.with_intake(|intake| intake.over = over),
            Step::Text { name, text } => {
                let blank = text.is_empty() && name.is_empty();
                let seen = (!blank).then(|| Rc::new(Seen::of(&text, &name, &self.draft.text)));
                self.with_intake(|intake| {
                    (intake.open, intake.over) = (true, false);
                    (intake.text, intake.name, intake.seen) = (text.into(), name.into(), seen);
                })
            }
            Step::Unfit { name, why } => self.with_intake(|intake| {
                (intake.open, intake.over) = (true, false);
                (intake.text, intake.name) = ("".into(), name.into());
                intake.seen = Some(Rc::new(Seen::Unknown(why)));
            }),
            Step::Use => self.using(),
            Step::Trace { name, bytes } => self.with_trace(name, bytes),
            Step::Recording { name, bytes } => self.with_recording_file(name, bytes),
            Step::Sent(number) => self.in_phase(number, FilePhase::Checking),
            Step::Cancel(number) => self.in_phase(number, FilePhase::Cancelled),
            Step::KeepScenario(keep) => self.with_intake(|intake| intake.keep_scenario = keep),
            Step::Replay => self.replaying(),
            Step::ReplayDriven => self.replaying_driven(),
        }
    }

    fn with_intake(mut self, change: impl FnOnce(&mut Intake)) -> Self {
        change(&mut self.intake);
        self
    }

    fn using(self) -> Self {
        let Some(text) = self.intake.seen.as_ref().and_then(|seen| seen.scenario()).map(str::to_owned) else {
            return self;
        };
        let next = self.with_intake(|intake| *intake = Intake { seen: None, open: false, ..intake.clone() });
        next.brought(&text)
    }

    fn with_trace(self, name: String, bytes: f64) -> Self {
        // Who replays a trace already, or came with a scenario of their own, means to keep it.
        let own = !matches!(self.origin, Origin::Gallery(_) | Origin::BrokenLink(_))
            && self.draft.scenario.is_some();
        let file = self.next_file(name, bytes);
        let named = self.wanted_trace().is_some_and(|wanted| *wanted.file == *file.name);
        self.with_intake(|intake| {
            (intake.open, intake.over) = (!named, false);
            intake.keep_scenario = own;
            intake.seen = None;
            intake.files = file.number;
            intake.trace = Some(Rc::new(file));
        })
    }

    fn with_recording_file(self, name: String, bytes: f64) -> Self {
        let file = self.next_file(name, bytes);
        // What is there at once is not worth a dialog.
        let long = bytes > f64::from(2 * TRACE_SLICE_BYTES);
        self.with_intake(|intake| {
            (intake.open, intake.over) = (intake.open || long, false);
            intake.seen = None;
            intake.files = file.number;
            intake.recording = Some(Rc::new(file));
        })
    }

    fn next_file(&self, name: String, bytes: f64) -> HandedFile {
        let number = self.intake.files + 1;
        HandedFile { number, name: name.into(), bytes, phase: FilePhase::Reading(0.0) }
    }

    /// The file of a kind.
    pub fn file(&self, kind: FileKind) -> Option<&Rc<HandedFile>> {
        match kind {
            FileKind::Trace => self.intake.trace.as_ref(),
            FileKind::Recording => self.intake.recording.as_ref(),
        }
    }

    fn in_phase(self, number: u32, phase: FilePhase) -> Self {
        let coming =
            |kind: &FileKind| self.file(*kind).is_some_and(|file| file.number == number && file.is_coming());
        let Some(kind) = [FileKind::Trace, FileKind::Recording].into_iter().find(coming) else { return self };
        let file = self.file(kind).map(|file| Rc::new(HandedFile { phase, ..(**file).clone() }));
        self.with_intake(|intake| match kind {
            FileKind::Trace => intake.trace = file,
            FileKind::Recording => intake.recording = file,
        })
    }

    /// The worker spoke of a file.
    pub(super) fn told_of_file(self, number: u32, said: TraceSaid) -> Self {
        let own = |kind| self.file(kind).filter(|file| file.number == number && file.is_coming());
        let Some(file) = own(FileKind::Trace).or_else(|| own(FileKind::Recording)) else { return self };
        match said {
            TraceSaid::Heard { bytes } => match file.phase {
                FilePhase::Reading(_) => self.in_phase(number, FilePhase::Reading(bytes)),
                _ => self,
            },
            TraceSaid::Refused { problems } => {
                self.in_phase(number, FilePhase::Refused(problems)).with_intake(|intake| intake.open = true)
            }
            TraceSaid::Kept { format, requests, block_tokens } => self.kept(&format, requests, block_tokens),
            TraceSaid::Recorded { recording } => {
                let driven = Driven { number, name: Rc::clone(&file.name), recording: *recording };
                self.with_intake(|intake| (intake.recording, intake.driven) = (None, Some(Rc::new(driven))))
                    .replaying_driven()
            }
        }
    }

    fn kept(self, format: &str, requests: u32, block_tokens: Option<u32>) -> Self {
        let Some(trace) = self.intake.trace.clone() else { return self };
        let format = TraceFormat::WORDS.iter().find(|(word, _)| *word == format).map(|(_, format)| *format);
        let found = FoundTrace {
            file: trace.name.to_string(),
            format: format.unwrap_or(TraceFormat::Mooncake),
            block_tokens,
            requests,
        };
        let was_wanted = self.wanted_trace().is_some_and(|wanted| *wanted.file == *trace.name);
        let next = self.in_phase(trace.number, FilePhase::Ready(found));
        // A scenario that named the file has waited for it.
        if was_wanted && !next.intake.open { next.started() } else { next }
    }

    fn replaying(self) -> Self {
        let Some(FilePhase::Ready(found)) = self.intake.trace.as_ref().map(|trace| trace.phase.clone())
        else {
            return self;
        };
        let text = if self.intake.keep_scenario {
            match import::replay(&self.draft.text, &found) {
                Ok((text, _)) => text,
                Err(problems) => {
                    let first = problems.first().map_or(String::new(), ToString::to_string);
                    let text = format!("The present scenario cannot take the trace: {first}");
                    return Self { notice: Some(Notice { text, trouble: true }), ..self };
                }
            }
        } else {
            import::bare_trace(&found)
        };
        self.with_intake(|intake| intake.open = false).brought(&text)
    }

    /// A run of what somebody brings. A comparison is one of the scenario that it was made for.
    fn brought(self, text: &str) -> Self {
        Self { fork: None, ..self.edited(text) }.without_recording().started()
    }

    /// What replaying the trace on the present scenario would replace, in words.
    pub fn replaced(&self) -> Vec<String> {
        let Some(FilePhase::Ready(found)) = self.intake.trace.as_ref().map(|trace| &trace.phase) else {
            return Vec::new();
        };
        match import::replay(&self.draft.text, found) {
            Ok((_, notes)) => notes.into_iter().map(|note| note.words).collect(),
            Err(problems) => problems
                .first()
                .map(|problem| format!("it cannot: found {}, expected {}", problem.found, problem.expected))
                .into_iter()
                .collect(),
        }
    }

    /// The file that the scenario names and that is not here.
    pub fn wanted_trace(&self) -> Option<&edit::Wanted> {
        let wanted = self.draft.scenario.as_ref()?.trace.as_ref()?;
        let trace = self.intake.trace.as_ref();
        let there = trace
            .is_some_and(|trace| *trace.name == *wanted.file && matches!(trace.phase, FilePhase::Ready(_)));
        (!there).then_some(wanted)
    }

    /// The number of the trace that can be replayed.
    pub fn kept_trace(&self) -> Option<u32> {
        let trace = self.intake.trace.as_ref()?;
        matches!(trace.phase, FilePhase::Ready(_)).then_some(trace.number)
    }

    /// Whether there is a trace, or one on its way.
    pub fn has_trace(&self) -> bool {
        self.intake
            .trace
            .as_ref()
            .is_some_and(|trace| trace.is_coming() || matches!(trace.phase, FilePhase::Ready(_)))
    }

    /// The numbers of the files that the worker should have: the trace, the recording on its way, and the one that was read.
    pub fn wanted_files(&self) -> [Option<u32>; 3] {
        let coming = self.intake.recording.as_ref().filter(|file| file.is_coming());
        [
            self.intake.trace.as_ref().filter(|_| self.has_trace()).map(|file| file.number),
            coming.map(|file| file.number),
            self.intake.driven.as_ref().map(|driven| driven.number),
        ]
    }
}

#[cfg(test)]
mod tests;
