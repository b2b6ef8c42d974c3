//! A scenario in the making: the keys that a source gives, and the notes on where each came from.

use std::collections::BTreeMap;

use toml_edit::Value as Toml;

use super::{Imported, Note, NoteKind, kv};
use crate::preset::ModelPreset;
use crate::problem::{Problems, quote};

/// Tables in the order in which they are written.
const TABLES: [&str; 19] = [
    "",
    "hardware",
    "engine",
    "g2",
    "g3",
    "g4",
    "offload",
    "lanes.g1_g2",
    "lanes.g2_g1",
    "links.pcie",
    "links.disk",
    "links.object",
    "workers",
    "router",
    "handoff",
    "links.handoff",
    "timing",
    "workload",
    "slo",
];
/// Most notes; a source with more flags than that is no command that anybody runs.
const NOTES: usize = 2_000;

pub(super) struct Draft<'p> {
    pub(super) problems: &'p Problems<'p>,
    /// Values by their path; a path is `table.key`.
    keys: BTreeMap<String, Toml>,
    /// The order in which they came.
    order: Vec<String>,
    notes: Vec<Note>,
    /// The preset of the model, where it is known.
    pub(super) model: Option<&'static ModelPreset>,
    /// What the GPU is assumed to be when the source does not name one.
    pub(super) gpu_named: bool,
    /// Whether a GPU is to be assumed for a known model.
    pub(super) wants_gpu: bool,
}

impl<'p> Draft<'p> {
    pub(super) fn new(problems: &'p Problems<'p>) -> Self {
        Self {
            problems,
            keys: BTreeMap::new(),
            order: Vec::new(),
            notes: Vec::new(),
            model: None,
            gpu_named: false,
            wants_gpu: true,
        }
    }

    /// Sets a key without a note.
    pub(super) fn set(&mut self, key: &str, value: impl Into<Toml>) {
        if self.keys.insert(key.to_owned(), value.into()).is_none() {
            self.order.push(key.to_owned());
        }
    }

    pub(super) fn unset(&mut self, key: &str) {
        self.keys.remove(key);
        self.order.retain(|one| one != key);
    }

    /// Removes all keys that begin so; says whether there were some.
    pub(super) fn drop_table(&mut self, prefix: &str) -> bool {
        let before = self.order.len();
        self.order.retain(|key| !key.starts_with(prefix));
        self.keys.retain(|key, _| !key.starts_with(prefix));
        self.order.len() < before
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    pub(super) fn whole(&self, key: &str) -> Option<u64> {
        self.keys.get(key).and_then(Toml::as_integer).and_then(|number| u64::try_from(number).ok())
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        let value = self.keys.get(key)?;
        value.as_float().or_else(|| value.as_integer().map(|number| number as f64))
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.keys.get(key).and_then(Toml::as_str)
    }

    /// A thing of the source becomes a key.
    pub(super) fn take(&mut self, at: usize, what: &str, key: &str, value: impl Into<Toml>) {
        let value = value.into();
        let words = format!("{key} = {}", shown(&value));
        self.set(key, value);
        self.note(NoteKind::Taken, Some(at), what, &words);
    }

    /// A key that the source does not say.
    pub(super) fn assume(&mut self, key: &str, value: impl Into<Toml>, why: &str) {
        let value = value.into();
        let words = format!("{key} = {} ({why})", shown(&value));
        self.set(key, value);
        self.note(NoteKind::Assumed, None, "", &words);
    }

    pub(super) fn leave(&mut self, at: usize, what: &str, why: &str) {
        self.note(NoteKind::Left, Some(at), what, why);
    }

    pub(super) fn note(&mut self, kind: NoteKind, at: Option<usize>, what: &str, words: &str) {
        if self.notes.len() < NOTES {
            let (line, column) = at.map_or((0, 0), |at| self.problems.place(at));
            self.notes.push(Note { kind, line, column, what: clean(what), words: words.to_owned() });
        }
    }

    pub(super) fn refuse(&self, at: usize, key: &str, found: &str, expected: &str, mend: &str) {
        self.problems.report(at, key, quote(found), expected, mend);
    }

    /// Ranks that share the model.
    pub(super) fn ranks(&self) -> u32 {
        self.whole("hardware.tensor_parallel").unwrap_or(1).clamp(1, 1 << 20) as u32
    }

    pub(super) fn block_tokens(&self) -> u64 {
        self.whole("engine.block_size_tokens").unwrap_or(16).max(1)
    }

    /// The whole scenario, with what it needs beyond the source.
    pub(super) fn finish(mut self) -> Imported {
        self.set("tierscope", i64::from(crate::SCHEMA_VERSION));
        kv::complete(&mut self);
        let text = self.written();
        let problems = crate::parse_any(&text).err().unwrap_or_default();
        self.notes.sort_by_key(|note| (note.line == 0, note.line, note.column));
        Imported { text, notes: self.notes, problems }
    }

    fn written(&self) -> String {
        let mut text = String::new();
        for table in TABLES {
            let keys: Vec<&String> = self.order.iter().filter(|key| split(key).0 == table).collect();
            if keys.is_empty() {
                continue;
            }
            if !table.is_empty() {
                text.push_str(&format!("\n[{table}]\n"));
            }
            for key in keys {
                text.push_str(&format!("{} = {}\n", split(key).1, shown(&self.keys[key])));
            }
        }
        text
    }
}

fn split(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

fn shown(value: &Toml) -> String {
    value.to_string().trim().to_owned()
}

/// One line without control characters, not too long.
fn clean(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut shown: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}
