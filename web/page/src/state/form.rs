//! The scenario as a form: which keys it shows, what stands in them, and what an edit makes of the text.
//!
//! The text is the truth: the form reads its values from it, and each edit sets or removes one key in it, so that comments and
//! everything that the form does not show stay as they are.

mod fields;

use tierscope_scenario::{Values, interconnect, preset};
use tierscope_worker::protocol::ProblemView;

pub use fields::SECTIONS;

use super::edit::Outline;
use super::intake::grouped;

/// A table of the scenario.
#[derive(Debug, PartialEq)]
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// The table whose presence it shows; empty for one that is always there.
    pub table: &'static str,
    /// What adding it writes.
    pub adds: &'static [(&'static str, &'static str)],
    /// What goes with it.
    pub removes: &'static [&'static str],
    /// The table without which it makes no sense.
    pub needs: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

/// A key.
#[derive(Debug, PartialEq)]
pub struct Field {
    /// Its path.
    pub key: &'static str,
    /// What it is called.
    pub label: &'static str,
    /// Its unit; may be empty.
    pub unit: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What counts when it is absent.
    pub default: &'static str,
    /// When it matters.
    pub when: When,
}

/// What a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Number,
    /// A TOML value, such as a number or `{ min = 1, max = 9 }`.
    Value,
    /// True or false.
    Flag,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A preset of a model.
    Model,
    /// A preset of a GPU.
    Gpu,
    /// A preset of a link: of these rows.
    Link(Rows),
}

/// Presets of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Between G1 and G2.
    Pcie,
    /// Between G2 and G3.
    Disk,
    /// Between G2 and G4.
    Object,
}

/// When a field matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// When another key has this value, or has it by default.
    Is(&'static str, &'static str),
    /// When another key is written.
    Written(&'static str),
    /// When it is not.
    Absent(&'static str),
}

/// A choice, and where its figures come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The word in the text.
    pub word: String,
    /// What it stands for, and its source.
    pub source: String,
}

impl Section {
    /// Whether it is in the text.
    pub fn is_there(&self, values: &Values) -> bool {
        self.table.is_empty() || values.has(self.table)
    }

    /// Whether it can be.
    pub fn can_be(&self, values: &Values) -> bool {
        self.needs.is_empty() || values.has(self.needs) || values.has(self.table)
    }
}

impl Field {
    /// Whether it matters now, or is written although it does not.
    pub fn is_shown(&self, values: &Values) -> bool {
        let matters = match self.when {
            When::Always => true,
            When::Written(key) => values.has(key),
            When::Absent(key) => !values.has(key),
            When::Is(key, word) => values.get(key).map_or(word.is_empty(), |written| written.text == word),
        };
        matters || values.has(self.key)
    }

    /// The choices that there are; none where anything can be typed.
    pub fn choices(&self) -> Vec<Choice> {
        let plain = |word: &str| Choice { word: word.to_owned(), source: String::new() };
        match self.kind {
            Kind::Number | Kind::Value => Vec::new(),
            Kind::Flag => ["true", "false"].map(plain).to_vec(),
            Kind::Word(words) => words.iter().copied().map(plain).collect(),
            Kind::Model => preset::models().iter().map(model).collect(),
            Kind::Gpu => preset::gpus().iter().map(gpu).collect(),
            Kind::Link(rows) => rows_of(rows).iter().map(link).collect(),
        }
    }

    /// The value as TOML: words in quotation marks.
    fn toml(&self, value: &str) -> String {
        match self.kind {
            Kind::Number | Kind::Value | Kind::Flag => value.trim().to_owned(),
            _ => format!("{:?}", value.trim()),
        }
    }

    /// The text after an edit of this field; an empty value removes the key.
    ///
    /// # Errors
    /// What stands in the way, in words.
    pub fn edited(&self, text: &str, value: &str) -> Result<String, String> {
        let changed = if value.trim().is_empty() {
            tierscope_scenario::unset(text, self.key)
        } else {
            tierscope_scenario::set(text, &format!("{}={}", self.key, self.toml(value)))
        };
        changed.map_err(|problem| problem.to_string())
    }
}

impl Section {
    /// The text with the section in it.
    ///
    /// # Errors
    /// What stands in the way, in words.
    pub fn added(&self, text: &str) -> Result<String, String> {
        let mut text = text.to_owned();
        for (key, value) in self.adds {
            let set = tierscope_scenario::set(&text, &format!("{key}={value}"));
            text = set.map_err(|problem| problem.to_string())?;
        }
        Ok(text)
    }

    /// The text without it, and without what makes no sense then.
    ///
    /// # Errors
    /// What stands in the way, in words.
    pub fn removed(&self, text: &str) -> Result<String, String> {
        let mut text = text.to_owned();
        for key in self.removes {
            text = tierscope_scenario::unset(&text, key).map_err(|problem| problem.to_string())?;
        }
        Ok(text)
    }
}

fn rows_of(rows: Rows) -> &'static [interconnect::LinkPreset] {
    match rows {
        Rows::Pcie => interconnect::PCIE,
        Rows::Disk => interconnect::DISK,
        Rows::Object => interconnect::OBJECT,
    }
}

fn model(model: &preset::ModelPreset) -> Choice {
    let source = format!(
        "{} bytes of KV per token, {} layers, {} of weights; {}",
        grouped(u32::try_from(model.kv_bytes_per_token()).unwrap_or(u32::MAX)),
        model.layers,
        bytes(model.weight_bytes()),
        model.source
    );
    Choice { word: model.name.to_owned(), source }
}

fn gpu(gpu: &preset::GpuPreset) -> Choice {
    let source = format!(
        "{}, {} GB/s, {} TFLOP/s; {}",
        bytes(gpu.hbm_bytes),
        gpu.memory_gbps,
        gpu.bf16_tflops,
        gpu.source
    );
    Choice { word: gpu.name.to_owned(), source }
}

fn link(row: &interconnect::LinkPreset) -> Choice {
    let source = format!(
        "{} GB/s down, {} up, {} µs; {}",
        row.down_gb_per_s, row.up_gb_per_s, row.latency_us, row.source
    );
    Choice { word: row.name.to_owned(), source }
}

/// A size in words.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [(&str, f64); 4] =
        [("TiB", 1_099_511_627_776.0), ("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1_024.0)];
    let size = bytes as f64;
    match UNITS.iter().find(|(_, unit)| size >= *unit) {
        Some((name, unit)) => format!("{:.1} {name}", size / unit),
        None => format!("{bytes} bytes"),
    }
}

/// What a field is told beside its value: capacities in the other unit.
pub fn hint(key: &str, outline: Option<&Outline>) -> String {
    let Some(outline) = outline else { return String::new() };
    let tier = match key {
        "engine.g1_blocks" => Some(0),
        "g2.blocks" | "g2.gib" => Some(1),
        "g3.blocks" | "g3.gib" => Some(2),
        "g4.blocks" | "g4.gib" => Some(3),
        _ => None,
    };
    if key == "engine.block_size_tokens" {
        return format!("a block is {}", bytes(outline.block_bytes));
    }
    match tier.map(|tier| outline.capacities[tier]).filter(|&blocks| blocks > 0) {
        Some(blocks) => {
            let size = bytes(u64::from(blocks).saturating_mul(outline.block_bytes));
            format!("{} blocks, {size}", grouped(blocks))
        }
        None => String::new(),
    }
}

/// The problems of a key.
pub fn problems_of<'p>(problems: &'p [ProblemView], key: &str) -> Vec<&'p ProblemView> {
    let inside =
        |found: &str| found == key || found.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
    problems.iter().filter(|problem| inside(&problem.key)).collect()
}

/// The field of a key.
pub fn field(key: &str) -> Option<&'static Field> {
    SECTIONS.iter().flat_map(|section| section.fields).find(|field| field.key == key)
}

/// The section of a table.
pub fn section(title: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.title == title)
}

#[cfg(test)]
mod tests;
