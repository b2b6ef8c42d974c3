//! What a driven run was told: the scenario, and when and how each of its copies ended.
//!
//! Nothing else of the world comes into a driven run, so that this is all of it: told again to a simulation it gives the
//! same facts, on any machine. JSON lines: a head with the scenario and what it was driven on, a line for each end of a
//! copy, in the order of telling, and a last line without which a recording is no whole one.

use serde::{Deserialize, Serialize};
use tierscope_engine::CopyFailure;
use tierscope_units::{SimTime, TransferId};

use crate::limit;
use crate::problem::{Problem, quote};

/// What a recording begins with.
pub const START: &str = "{\"tierscope_recording\":";
/// The version of the format.
const VERSION: u32 = 1;
/// Most copies of a recording.
const ENDS_MAX: usize = 1 << 24;
/// Longest line behind the head.
const LINE_BYTES_MAX: usize = 1 << 10;
/// What an end is called where nothing failed.
const COMPLETED: &str = "completed";

/// A copy that has ended, as a machine was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// When.
    pub at: SimTime,
    /// Which.
    pub transfer: TransferId,
    /// How.
    pub end: Result<(), CopyFailure>,
}

/// On what a tier was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnMedium {
    /// `g1`, `g2`, `g3` or `g4`.
    pub tier: String,
    /// Of what kind: `host`, `cuda`, `disk`, …
    pub kind: String,
    /// What it says of itself.
    pub name: String,
}

/// A driven run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The version of the program that drove it.
    pub version: String,
    /// The scenario, changes of the command line included.
    pub scenario: String,
    /// Bytes of the blocks that were moved; those of the scenario may be larger.
    pub block_bytes: u64,
    /// What the tiers were.
    pub media: Vec<OnMedium>,
    /// The ends of its copies.
    pub told: Vec<Told>,
    /// Its last instant, where it was stopped before its end.
    pub stopped: Option<SimTime>,
    /// The digest of its facts.
    pub digest: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    tierscope_recording: u32,
    version: String,
    block_bytes: u64,
    media: Vec<OnMedium>,
    scenario: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct End<'a> {
    at_ns: u64,
    transfer: u64,
    end: &'a str,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Foot {
    ends: u64,
    stopped_ns: Option<u64>,
    digest: String,
}

impl Recording {
    /// The recording as JSON lines.
    pub fn to_text(&self) -> String {
        let head = Head {
            tierscope_recording: VERSION,
            version: self.version.clone(),
            block_bytes: self.block_bytes,
            media: self.media.clone(),
            scenario: self.scenario.clone(),
        };
        let mut text = line(&head);
        for told in &self.told {
            let end = told.end.map_or_else(CopyFailure::name, |()| COMPLETED);
            text += &line(&End { at_ns: told.at.as_ns(), transfer: told.transfer.0, end });
        }
        text + &line(&Foot {
            ends: self.told.len() as u64,
            stopped_ns: self.stopped.map(SimTime::as_ns),
            digest: self.digest.clone(),
        })
    }

    /// Reads a recording.
    ///
    /// # Errors
    ///
    /// The first line that is none of a recording, or the one that is missing.
    pub fn parse(text: &str) -> Result<Self, Box<Problem>> {
        let mut lines = (1..).zip(text.lines());
        let first = lines.next().map_or("", |(_, line)| line);
        if first.len() > 2 * limit::SCENARIO_TEXT_BYTES {
            return Err(problem(1, "a head that is too long", "one with a scenario of at most 1 MiB"));
        }
        let head: Head = serde_json::from_str(first)
            .map_err(|error| not_read(1, first, &error, "the head of a recording"))?;
        if head.tierscope_recording != VERSION {
            let found = format!("version {} of the format", head.tierscope_recording);
            return Err(problem(1, &found, "version 1"));
        }
        let mut told: Vec<Told> = Vec::new();
        while let Some((number, line)) = lines.next() {
            if line.len() > LINE_BYTES_MAX {
                return Err(problem(number, "a line that is too long", "the end of a copy"));
            }
            let Ok(end) = serde_json::from_str::<End<'_>>(line) else {
                let recording = foot(number, line, head, told)?;
                return match lines.next() {
                    None => Ok(recording),
                    Some((number, _)) => Err(problem(number, "more lines", "the end of the recording")),
                };
            };
            if told.len() == ENDS_MAX {
                return Err(problem(number, "more copies than a recording may have", "at most 16 Mi"));
            }
            let earliest = told.last().map_or(SimTime::ZERO, |last| last.at);
            told.push(end.told(number, earliest)?);
        }
        Err(problem(told.len() + 2, "the end of the text", "the last line of a recording, with its digest"))
    }
}

impl End<'_> {
    fn told(&self, number: usize, earliest: SimTime) -> Result<Told, Box<Problem>> {
        let at = SimTime::from_ns(self.at_ns);
        if at < earliest || self.at_ns > limit::TIME_NS {
            return Err(problem(
                number,
                &format!("at_ns = {}", self.at_ns),
                "times in order, within ten years",
            ));
        }
        let failed = CopyFailure::ALL.into_iter().find(|failure| failure.name() == self.end);
        let end = match failed {
            Some(failure) => Err(failure),
            None if self.end == COMPLETED => Ok(()),
            None => {
                return Err(problem(
                    number,
                    &format!("end = {}", quote(self.end)),
                    "\"completed\", or how a copy fails",
                ));
            }
        };
        Ok(Told { at, transfer: TransferId(self.transfer), end })
    }
}

fn foot(number: usize, line: &str, head: Head, told: Vec<Told>) -> Result<Recording, Box<Problem>> {
    let expected = "the end of a copy, or the last line of a recording";
    let foot: Foot = serde_json::from_str(line).map_err(|error| not_read(number, line, &error, expected))?;
    if foot.ends != told.len() as u64 {
        let found = format!("{} ends of copies", told.len());
        return Err(problem(number, &found, &format!("{}, as its last line says", foot.ends)));
    }
    Ok(Recording {
        version: head.version,
        scenario: head.scenario,
        block_bytes: head.block_bytes,
        media: head.media,
        told,
        stopped: foot.stopped_ns.map(SimTime::from_ns),
        digest: foot.digest,
    })
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

fn not_read(number: usize, line: &str, error: &serde_json::Error, expected: &str) -> Box<Problem> {
    let column = u32::try_from(error.column()).unwrap_or(u32::MAX).max(1);
    let mut problem = problem(number, &quote(line), expected);
    problem.column = column;
    problem
}

fn problem(line: usize, found: &str, expected: &str) -> Box<Problem> {
    Box::new(Problem {
        file: None,
        line: u32::try_from(line).unwrap_or(u32::MAX),
        column: 1,
        key: String::new(),
        found: found.to_owned(),
        expected: expected.to_owned(),
        mend: "drive the run again with --record: a recording is written whole".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> Recording {
        let told = |at, transfer, end| Told { at: SimTime::from_ns(at), transfer: TransferId(transfer), end };
        Recording {
            version: "0.1.0".to_owned(),
            scenario: "tierscope = 1\ntitle = \"x\"\n".to_owned(),
            block_bytes: 4_096,
            media: vec![OnMedium { tier: "g3".into(), kind: "disk".into(), name: "/tmp/\"blocks\"".into() }],
            told: vec![told(5, 1, Ok(())), told(5, 0, Err(CopyFailure::Corrupt)), told(9, 3, Ok(()))],
            stopped: Some(SimTime::from_ns(12)),
            digest: "0123".to_owned(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let text = recording().to_text();
        assert!(text.starts_with(START), "{text}");
        assert_eq!(Recording::parse(&text), Ok(recording()));
    }

    #[test]
    fn every_way_to_fail_has_its_word() {
        for failure in CopyFailure::ALL {
            let told = Told { at: SimTime::ZERO, transfer: TransferId(0), end: Err(failure) };
            let recording = Recording { told: vec![told], ..recording() };
            assert_eq!(Recording::parse(&recording.to_text()), Ok(recording));
        }
    }

    #[test]
    fn what_is_no_whole_recording_is_refused_with_its_line() {
        let text = recording().to_text();
        let lines: Vec<&str> = text.lines().collect();
        let refused = |text: &str| {
            let problem = Recording::parse(text).expect_err("it is spoilt");
            (problem.line, problem.found)
        };
        assert_eq!(refused("").0, 1);
        assert_eq!(refused(&lines[..3].join("\n")), (4, "the end of the text".to_owned()));
        assert_eq!(refused(&text.replace("\"ends\":3", "\"ends\":4")), (5, "3 ends of copies".to_owned()));
        assert_eq!(refused(&format!("{text}{text}")), (6, "more lines".to_owned()));
        assert_eq!(refused(&text.replace("\"at_ns\":9", "\"at_ns\":4")), (4, "at_ns = 4".to_owned()));
        assert_eq!(refused(&text.replace("corrupt", "curropt")), (3, "end = \"curropt\"".to_owned()));
        assert_eq!(refused(&text.replace("recording\":1", "recording\":2")).0, 1);
        assert_eq!(refused(&text.replace("{\"at_ns\":9", "{\"bt_ns\":9")).0, 4);
        assert_eq!(refused(&format!("{}\n{}\n", lines[0], "x".repeat(2_000))).0, 2);
    }
}
