//! The driven run that was brought to the page: what it was driven on, whether it is what is shown, and what it is
//! compared with.

use std::rc::Rc;

use tierscope_worker::protocol::RecordingView;

use super::fork::Fork;
use super::format::clock;
use super::intake::grouped;
use super::moves::bytes;
use super::report::Outcome;
use super::rival::Rival;
use super::sheet::Sheet;
use super::view::VERSION;
use super::{AppState, Notice};

/// A driven run whose recording was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Driven {
    /// The number of its file.
    pub number: u32,
    /// The name of its file.
    pub name: Rc<str>,
    /// What was recorded.
    pub recording: RecordingView,
}

impl Driven {
    /// One line that says what it is.
    pub fn sentence(&self) -> String {
        let ends = grouped(self.recording.ends);
        format!("{}: a driven run in which {ends} copies ended.", self.name)
    }
}

/// What is said of it above the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Whether the run that is shown is the driven one: a simulation otherwise, for the scenario was changed.
    pub shown: bool,
    /// The main thing.
    pub sentence: String,
    /// And more.
    pub details: String,
    /// Whether it can be compared with its simulation now.
    pub can_compare: bool,
    /// Whether it is compared: then there is less room.
    pub compared: bool,
}

/// What a driven run is compared with: the same scenario, simulated.
pub fn simulation() -> Fork {
    Fork::default()
}

/// Whether a fork changes nothing: then it stands for the simulation of a driven run.
pub fn is_simulation(fork: &Fork) -> bool {
    fork.changes.is_empty()
}

/// What A and B of a comparison are.
pub fn sides(fork: &Fork, driven: bool) -> [String; 2] {
    let changes = fork.changes.join(", ");
    match driven {
        false => ["as it is".to_owned(), changes],
        true if is_simulation(fork) => ["as driven".to_owned(), "its simulation".to_owned()],
        true => ["as driven".to_owned(), format!("simulated, {changes}")],
    }
}

/// What the tiers were: `host memory, disk /tmp/blocks`.
fn media(recording: &RecordingView) -> String {
    let names: Vec<String> = recording
        .media
        .iter()
        .map(|medium| match medium.name.starts_with(medium.kind.as_str()) {
            true => shortened(&medium.name),
            false => format!("{} {}", medium.kind, shortened(&medium.name)),
        })
        .collect();
    if names.is_empty() { "host memory".to_owned() } else { names.join(", ") }
}

/// The end of a long name: of paths it is what tells them apart.
fn shortened(name: &str) -> String {
    const CHARS: usize = 24;
    match name.chars().count() {
        count if count > CHARS => format!("…{}", name.chars().skip(count - CHARS).collect::<String>()),
        _ => name.to_owned(),
    }
}

impl AppState {
    /// The number of the recording that a run of this text replays: the one whose scenario it is.
    pub(super) fn driven_by(&self, text: &str) -> Option<u32> {
        let driven = self.intake.driven.as_ref()?;
        (driven.recording.scenario == text).then_some(driven.number)
    }

    /// Another scenario was chosen: the recording goes with its own.
    pub(super) fn without_recording(mut self) -> Self {
        self.intake.driven = None;
        self
    }

    /// The driven run, from its beginning.
    pub(super) fn replaying_driven(self) -> Self {
        let Some(driven) = self.intake.driven.clone() else { return self };
        let mut next = Self { fork: None, ..self.edited(&driven.recording.scenario) };
        next.intake.open = false;
        next.started()
    }

    /// B is the simulation of the driven run.
    pub(super) fn compared_with_simulation(self) -> Self {
        if self.driven.is_none() {
            return self;
        }
        let rival = Rival { form: false, ..self.rival };
        Self { fork: Some(simulation()), sheet: Sheet::Compare, rival, ..self }
    }

    /// What of a comparison a run can take along: none from a time on of a driven run, and no simulation of what is one.
    pub(super) fn fork_of(fork: Option<Fork>, driven: bool) -> Option<Fork> {
        fork.filter(|fork| if driven { fork.at_ns.is_none() } else { !is_simulation(fork) })
    }

    /// What is said of the driven run above the board.
    pub fn driven_line(&self) -> Option<Line> {
        let recording = &self.intake.driven.as_ref()?.recording;
        let media = media(recording);
        if self.driven.is_none() {
            return Some(Line {
                shown: false,
                sentence: "The scenario was changed: this is a simulation.".to_owned(),
                details: format!("What was driven on {media} is left behind."),
                can_compare: false,
                compared: false,
            });
        }
        let copies = if recording.ends == 1 { "copy" } else { "copies" };
        let mut details = vec![self.blocks(recording.block_bytes)];
        if recording.failed > 0 {
            details.push(format!("{} of the copies failed", grouped(recording.failed)));
        }
        if let Some(stopped_ns) = recording.stopped_ns {
            details.push(format!("stopped at {}", clock(stopped_ns, stopped_ns)));
        }
        details.extend(self.digest_in_words(recording));
        if self.is_stale() {
            details.push("the text has changed since: Run simulates it".to_owned());
        }
        Some(Line {
            shown: true,
            sentence: format!(
                "Driven on {media}: {} {copies} ended as real tiers told.",
                grouped(recording.ends)
            ),
            details: details.join(" · "),
            can_compare: self.ended().is_some(),
            compared: self.fork.is_some(),
        })
    }

    /// How large the blocks were that moved; a run may be driven with small stand-ins for large ones.
    fn blocks(&self, driven: f64) -> String {
        let own = self.draft.scenario.as_ref().map_or(driven, |outline| outline.block_bytes as f64);
        match own == driven {
            true => format!("blocks of {}", bytes(driven)),
            false => format!("blocks of {} for the scenario's {}", bytes(driven), bytes(own)),
        }
    }

    fn digest_in_words(&self, recording: &RecordingView) -> Option<String> {
        let report = &self.ended()?.report;
        let same = report.digest == recording.digest;
        match (report.outcome == Outcome::Cancelled, same) {
            (true, _) => None,
            (false, true) => Some("digest as recorded".to_owned()),
            (false, false) => Some("not the recorded digest".to_owned()),
        }
    }

    /// A recording holds the digest of what happened: another one is another version's doing, or a fault.
    pub(super) fn with_digest_compared(self) -> Self {
        let text = {
            let Some((driven, ended)) = self
                .intake
                .driven
                .as_ref()
                .filter(|driven| self.driven == Some(driven.number))
                .zip(self.ended())
            else {
                return self;
            };
            let (recording, report) = (&driven.recording, &ended.report);
            if report.outcome == Outcome::Cancelled || report.digest == recording.digest {
                return self;
            }
            let [here, there] = [&report.digest, &recording.digest].map(|digest| beginning(digest));
            match recording.version.as_str() {
                VERSION => format!(
                    "The replay is not what was driven: its digest begins {here}, the recording has {there}. Has the \
                     recording, or the trace that it replays, been changed?"
                ),
                version => format!(
                    "It was driven by Tierscope {version}, and this is {VERSION}: the same ends of copies give the digest \
                     {here}… here, not {there}…. What you see may not be what happened."
                ),
            }
        };
        Self { notice: Some(Notice { text, trouble: true }), ..self }
    }

    /// What is added where something is shared that cannot hold a recording.
    pub fn left_out_of_links(&self) -> &'static str {
        match self.driven {
            Some(_) => " It has the scenario alone: a link cannot hold a recording, send its file along.",
            None => "",
        }
    }

    /// The name of the recording's file, while its run is what is shown.
    pub fn driven_file(&self) -> Option<&str> {
        self.driven?;
        self.intake.driven.as_ref().map(|driven| &*driven.name)
    }
}

fn beginning(digest: &str) -> &str {
    digest.get(..8).unwrap_or(digest)
}

#[cfg(test)]
mod tests;
