//! What a pasted or dropped text was taken for.

use tierscope_scenario::Problem;
use tierscope_scenario::import::{self, Imported, Kind, Note, NoteKind, Source};

use super::super::edit::{self, Draft};
use super::super::format;
use super::Seen;

impl Seen {
    /// Recognizes a text.
    pub fn of(text: &str, name: &str, scenario: &str) -> Self {
        match import::detect(text.as_bytes(), name) {
            Some(Kind::Scenario) => Self::Scenario(Draft::new(text)),
            Some(Kind::Link) => match edit::text_of(text.trim()) {
                Ok(text) => Self::Scenario(Draft::new(&text)),
                Err(why) => Self::Unknown(format!("This link cannot be opened. {why}")),
            },
            Some(Kind::Source(source)) => Self::made(text, source),
            Some(Kind::Hardware) => match import::merge_hardware(scenario, text) {
                Ok((text, notes)) => {
                    let imported = Imported { text, notes, problems: Vec::new() };
                    Self::Made { source: "figures of a machine, put into the present scenario", imported }
                }
                Err(problems) => Self::faulty("figures of a machine (hardware.toml)", &problems),
            },
            Some(Kind::Trace(_)) => Self::Unknown(
                "This is a trace. Drop its file on the page instead of pasting it: files are read in pieces."
                    .to_owned(),
            ),
            Some(Kind::Recording) => Self::Unknown(
                "This is the recording of a driven run. Drop its file on the page instead of pasting it."
                    .to_owned(),
            ),
            None => Self::Unknown(unknown(text)),
        }
    }

    fn made(text: &str, source: Source) -> Self {
        match import::import(text, source) {
            Ok(imported) => Self::Made { source: source.name(), imported },
            Err(problems) => Self::faulty(source.name(), &problems),
        }
    }

    fn faulty(what: &'static str, problems: &[Problem]) -> Self {
        Self::Faulty { what, problems: problems.iter().map(edit::problem_view).collect() }
    }

    /// The scenario's text, if there is one.
    pub fn scenario(&self) -> Option<&str> {
        match self {
            Self::Scenario(draft) => Some(&draft.text),
            Self::Made { imported, .. } => Some(&imported.text),
            Self::Faulty { .. } | Self::Unknown(_) => None,
        }
    }

    /// One line that says what it is.
    pub fn sentence(&self) -> String {
        match self {
            Self::Scenario(draft) if draft.problems.is_empty() => "A scenario.".to_owned(),
            Self::Scenario(draft) => {
                let count = draft.problems.len() as u32;
                format!("A scenario, with {} to mend.", format::counted(count, "problem", "problems"))
            }
            Self::Made { source, imported } => {
                let of = |kind| imported.notes.iter().filter(|note| note.kind == kind).count();
                let (taken, assumed, left) = (of(NoteKind::Taken), of(NoteKind::Assumed), of(NoteKind::Left));
                format!("Recognized: {source}. {taken} taken, {assumed} assumed, {left} left out.")
            }
            Self::Faulty { what, problems } => {
                let count = format::counted(problems.len() as u32, "problem", "problems");
                format!("Recognized: {what}. It has {count}.")
            }
            Self::Unknown(why) => why.clone(),
        }
    }

    /// What became of each thing.
    pub fn notes(&self) -> &[Note] {
        match self {
            Self::Made { imported, .. } => &imported.notes,
            _ => &[],
        }
    }
}

fn unknown(text: &str) -> String {
    if text.trim().is_empty() {
        return "There is nothing in it. Expected: a vllm serve command, Dynamo engine arguments (JSON), an LMCache file (YAML), a hardware.toml, a scenario, a link, or the file of a trace or of a driven run.".to_owned();
    }
    "Not recognized. Expected: a vllm serve command, Dynamo engine arguments (JSON), an LMCache file (YAML), a hardware.toml, a scenario, a link, or the file of a trace or of a driven run."
        .to_owned()
}
