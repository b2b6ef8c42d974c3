//! The recording of a driven run that this worker keeps, and its replay.

use std::sync::Arc;

use tierscope_scenario::{Problem, Recording, Told};

use super::begin::{Asked, Prepared, prepare};
use super::coming::{Coming, of_file};
use super::problem_view;
use super::traces::Traces;
use crate::protocol::{MEDIA_SHOWN, MediumView, ProblemView, RecordingView, TraceSaid};

/// Longest name of a medium that is shown, in characters.
const NAME_CHARS_SHOWN: usize = 200;

/// At most one is kept: until another was read, for one that cannot be read is no reason to lose it.
#[derive(Default)]
pub(super) struct Recordings {
    kept: Option<(u32, Arc<Recording>)>,
    coming: Option<Coming>,
}

impl Recordings {
    pub(super) fn begin(&mut self, number: u32, name: &str, bytes: f64) -> TraceSaid {
        self.coming = None;
        match Coming::begin(number, name, bytes) {
            Ok(coming) => {
                self.coming = Some(coming);
                TraceSaid::Heard { bytes: 0.0 }
            }
            Err(problem) => refused(&problem),
        }
    }

    /// Whether this one is on its way.
    pub(super) fn awaits(&self, number: u32) -> bool {
        self.coming.as_ref().is_some_and(|coming| coming.number == number)
    }

    pub(super) fn slice(&mut self, number: u32, slice: &[u8]) -> Option<TraceSaid> {
        let coming = self.coming.as_mut().filter(|coming| coming.number == number)?;
        Some(TraceSaid::Heard { bytes: coming.take(slice) })
    }

    pub(super) fn end(&mut self, number: u32) -> Option<TraceSaid> {
        let coming = self.coming.take_if(|coming| coming.number == number)?;
        let read = text_of(coming.bytes).and_then(|text| Recording::parse(&text));
        Some(match read {
            Ok(recording) => {
                let recording = Arc::new(recording);
                self.kept = Some((number, Arc::clone(&recording)));
                TraceSaid::Recorded { recording: Box::new(view(&recording)) }
            }
            Err(problem) => refused(&problem),
        })
    }

    /// Forgets one, on its way or kept.
    pub(super) fn forget(&mut self, number: u32) {
        self.coming.take_if(|coming| coming.number == number);
        self.kept.take_if(|(kept, _)| *kept == number);
    }

    /// The recording of a number.
    pub(super) fn get(&self, number: u32) -> Result<Arc<Recording>, Vec<Problem>> {
        let kept = self.kept.as_ref().filter(|(kept, _)| *kept == number);
        kept.map(|(_, recording)| Arc::clone(recording)).ok_or_else(|| {
            vec![of_file(
                "no recording".to_owned(),
                "the recording of the driven run".to_owned(),
                "drop its file on this page again",
            )]
        })
    }

    /// Its replay, before the first instant.
    pub(super) fn replay(&self, number: u32, traces: &Traces) -> Result<Prepared, Vec<Problem>> {
        let recording = self.get(number)?;
        prepare(Asked::Recording(&recording), traces)
    }
}

/// Why a driven run cannot be turned at its cursor.
pub(super) fn not_turned() -> Vec<ProblemView> {
    vec![ProblemView {
        found: "a change of a driven run from a time on".to_owned(),
        expected:
            "one from the beginning: copies end as real tiers told, and nobody told what they would have done"
                .to_owned(),
        mend: "fork from the beginning: B is simulated then".to_owned(),
        ..ProblemView::default()
    }]
}

fn text_of(bytes: Vec<u8>) -> Result<String, Box<Problem>> {
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let problem = of_file(
            "bytes that are not UTF-8".to_owned(),
            "the text of a recording".to_owned(),
            "drive the run again with --record: a recording is written whole",
        );
        Box::new(Problem { line: u32::try_from(line).unwrap_or(u32::MAX), ..problem })
    })
}

fn view(recording: &Recording) -> RecordingView {
    let shown = |name: &str| name.chars().take(NAME_CHARS_SHOWN).collect();
    let media = recording.media.iter().take(MEDIA_SHOWN).map(|medium| MediumView {
        tier: shown(&medium.tier),
        kind: shown(&medium.kind),
        name: shown(&medium.name),
    });
    let failed = |told: &&Told| told.end.is_err();
    RecordingView {
        version: shown(&recording.version),
        scenario: recording.scenario.clone(),
        block_bytes: recording.block_bytes as f64,
        media: media.collect(),
        ends: recording.told.len() as u32,
        failed: recording.told.iter().filter(failed).count() as u32,
        stopped_ns: recording.stopped.map(|at| at.as_ns() as f64),
        digest: shown(&recording.digest),
    }
}

fn refused(problem: &Problem) -> TraceSaid {
    TraceSaid::Refused { problems: vec![problem_view(problem)] }
}
