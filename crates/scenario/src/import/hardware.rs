//! `hardware.toml`: what was measured on a machine, put into a scenario. `docs/HARDWARE.md` has the format.

use super::{Note, NoteKind};
use crate::decode::fields::Fields;
use crate::node::Entry;
use crate::preset::{self, GpuPreset};
use crate::problem::{Problem, Problems};
use crate::{SourceFormat, limit};

/// The version of the format.
const VERSION: u64 = 1;
/// Longest overhead for each block: a second, in microseconds.
const PER_BLOCK_US: f64 = 1e6;

/// A lane, the link that it crosses, and the keys of its direction.
const LANES: [(&str, &str, &str, &str); 6] = [
    ("g1_g2", "links.pcie", "down_gb_per_s", "down_with_up_gb_per_s"),
    ("g2_g1", "links.pcie", "up_gb_per_s", "up_with_down_gb_per_s"),
    ("g2_g3", "links.disk", "down_gb_per_s", "down_with_up_gb_per_s"),
    ("g3_g2", "links.disk", "up_gb_per_s", "up_with_down_gb_per_s"),
    ("g2_g4", "links.object", "down_gb_per_s", "down_with_up_gb_per_s"),
    ("g4_g2", "links.object", "up_gb_per_s", "up_with_down_gb_per_s"),
];
const TIERS: [&str; 3] = ["g2", "g3", "g4"];

/// What the file says.
struct Measured {
    machine: String,
    gpu: Option<(usize, &'static GpuPreset)>,
    /// GiB of each tier.
    tiers: Vec<(usize, &'static str, f64)>,
    lanes: Vec<LaneFigures>,
}

struct LaneFigures {
    at: usize,
    /// Its row in [`LANES`].
    row: usize,
    gb_per_s: f64,
    with_opposite_gb_per_s: Option<f64>,
    latency_us: f64,
    per_block_us: f64,
}

/// The scenario text with the machine's figures in it, and what became of them.
///
/// # Errors
/// Problems of the hardware file, or those of a scenario that cannot be read.
pub fn merge(scenario: &str, hardware: &str) -> Result<(String, Vec<Note>), Vec<Problem>> {
    let read = crate::parse_any(scenario)?;
    let hardware = crate::text::without_bom(hardware);
    let problems = Problems::of(hardware);
    let measured = measure(hardware, &problems);
    let Some(measured) = measured.filter(|_| !problems.any()) else { return Err(problems.finish()) };
    let mut merge = Merge { text: scenario.to_owned(), notes: Vec::new(), problems: &problems };
    merge.apply(&measured, &read).map_err(|problem| vec![*problem])?;
    let Merge { text, notes, .. } = merge;
    Ok((text, notes))
}

fn measure(text: &str, problems: &Problems<'_>) -> Option<Measured> {
    let root = crate::text::read(text, SourceFormat::Toml, problems)?;
    let fields = Fields::open(&root, "", problems)?;
    if fields.whole("tierscope_hardware", VERSION, VERSION).is_none() && !fields.has("tierscope_hardware") {
        fields.missing(
            "tierscope_hardware",
            "the version of the format",
            "add tierscope_hardware = 1 at the top",
        );
    }
    let machine =
        fields.text("machine").unwrap_or_default().chars().filter(|c| !c.is_control()).take(100).collect();
    fields.text("measured");
    let gpu = fields.text("gpu").and_then(|name| {
        let entry = fields.entry("gpu")?;
        match preset::find(preset::gpus(), name, |row| row.name) {
            Ok(row) => Some((entry.at, row)),
            Err(mend) => {
                fields.refuse(entry, "the name of a gpu preset", mend);
                None
            }
        }
    });
    let measured = Measured { machine, gpu, tiers: tiers(&fields), lanes: lanes(&fields) };
    fields.close();
    Some(measured)
}

fn tiers(fields: &Fields<'_>) -> Vec<(usize, &'static str, f64)> {
    let Some(table) = fields.table("tiers") else { return Vec::new() };
    let mut found = Vec::new();
    for name in TIERS {
        let Some(tier) = table.table(name) else { continue };
        if !tier.has("gib") {
            tier.missing("gib", "its size in GiB", "add gib = 512");
        }
        found.extend(tier.number("gib", 1e-6, 1e9).map(|gib| (tier.at, name, gib)));
        tier.close();
    }
    table.close();
    found
}

fn lanes(fields: &Fields<'_>) -> Vec<LaneFigures> {
    let Some(table) = fields.table("lanes") else { return Vec::new() };
    let mut found = Vec::new();
    for (row, (name, ..)) in LANES.iter().enumerate() {
        found.extend(table.table(name).and_then(|lane| lane_figures(lane, row)));
    }
    table.close();
    found
}

fn lane_figures(lane: Fields<'_>, row: usize) -> Option<LaneFigures> {
    let (low, high) = limit::LINK_GB_PER_S;
    if !lane.has("bandwidth_gbps") {
        lane.missing("bandwidth_gbps", "its rate alone, in GB/s", "add bandwidth_gbps = 25.0");
    }
    let gb_per_s = lane.number("bandwidth_gbps", low, high);
    let with_opposite_gb_per_s = lane.number("with_opposite_gbps", low, high);
    let latency_us = lane.number("latency_us", 0.0, limit::LINK_LATENCY_US).unwrap_or(0.0);
    let per_block_us = lane.number("per_block_us", 0.0, PER_BLOCK_US).unwrap_or(0.0);
    if let (Some(alone), Some(both), Some(entry)) =
        (gb_per_s, with_opposite_gb_per_s, lane.entry("with_opposite_gbps") as Option<&Entry>)
        && both > alone
    {
        lane.refuse(entry, format!("at most bandwidth_gbps, which is {alone}"), "measure again, or lower it");
    }
    let at = lane.at;
    lane.close();
    Some(LaneFigures { at, row, gb_per_s: gb_per_s?, with_opposite_gb_per_s, latency_us, per_block_us })
}

struct Merge<'p> {
    text: String,
    notes: Vec<Note>,
    problems: &'p Problems<'p>,
}

impl Merge<'_> {
    fn apply(&mut self, measured: &Measured, read: &crate::Scenario) -> Result<(), Box<Problem>> {
        if let Some((at, gpu)) = measured.gpu {
            self.set("hardware.gpu", &format!("\"{}\"", gpu.name))?;
            self.note(
                NoteKind::Taken,
                at,
                format!("gpu {}", gpu.name),
                format!("hardware.gpu = \"{}\"", gpu.name),
            );
        }
        let tiers = read.engine.tiers.as_ref();
        let has = |name: &str| match name {
            "g2" => tiers.is_some(),
            "g3" => tiers.is_some_and(|tiers| tiers.g3.is_some()),
            _ => tiers.is_some_and(|tiers| tiers.g4.is_some()),
        };
        for &(at, name, gib) in &measured.tiers {
            let what = format!("{name} of {gib} GiB");
            if !has(name) {
                self.note(
                    NoteKind::Left,
                    at,
                    what,
                    format!("the scenario has no [{name}]: add it to use what the machine has"),
                );
                continue;
            }
            // A size in blocks would stand beside it.
            self.drop(&format!("{name}.blocks"))?;
            self.set(&format!("{name}.gib"), &float(gib))?;
            self.note(NoteKind::Taken, at, what, format!("{name}.gib = {gib}"));
        }
        for lane in &measured.lanes {
            let lower = match LANES[lane.row].1 {
                "links.pcie" => "g2",
                "links.disk" => "g3",
                _ => "g4",
            };
            self.lane(lane, has(lower).then_some(read.kv_bytes_per_block), lower)?;
        }
        self.latencies(measured, &has)?;
        if !measured.machine.is_empty() {
            let words = format!("figures of {}", measured.machine);
            self.notes
                .insert(0, Note { kind: NoteKind::Taken, line: 1, column: 1, what: "machine".into(), words });
        }
        Ok(())
    }

    /// Rates of one direction. What each block costs on its own is folded into them, at the scenario's block.
    fn lane(
        &mut self,
        lane: &LaneFigures,
        block_bytes: Option<u64>,
        lower: &str,
    ) -> Result<(), Box<Problem>> {
        let (name, link, alone_key, both_key) = LANES[lane.row];
        let Some(block_bytes) = block_bytes else {
            self.note(NoteKind::Left, lane.at, name.into(), format!("the scenario has no [{lower}]"));
            return Ok(());
        };
        let effective = |gb_per_s: f64| {
            let seconds = block_bytes as f64 / (gb_per_s * 1e9) + lane.per_block_us * 1e-6;
            let gb_per_s = block_bytes as f64 / seconds / 1e9;
            // Nobody measures finer than that.
            libm::round(gb_per_s * 1e6).max(1.0) / 1e6
        };
        let alone = effective(lane.gb_per_s);
        self.drop(&format!("{link}.preset"))?;
        self.set(&format!("{link}.{alone_key}"), &float(alone))?;
        let mut words = format!("{link}.{alone_key} = {alone}");
        let both = lane.with_opposite_gb_per_s.map(effective);
        match both {
            Some(both) => {
                self.set(&format!("{link}.{both_key}"), &float(both))?;
                words.push_str(&format!(", {both_key} = {both}"));
            }
            None => self.drop(&format!("{link}.{both_key}"))?,
        }
        if lane.per_block_us > 0.0 {
            words.push_str(&format!(", {} µs a block folded in", lane.per_block_us));
        }
        self.note(NoteKind::Taken, lane.at, format!("lane {name}: {} GB/s", lane.gb_per_s), words);
        Ok(())
    }

    /// A link has one latency: the longer of its two directions.
    fn latencies(&mut self, measured: &Measured, has: &dyn Fn(&str) -> bool) -> Result<(), Box<Problem>> {
        for (link, tier) in [("links.pcie", "g2"), ("links.disk", "g3"), ("links.object", "g4")] {
            let lanes: Vec<&LaneFigures> =
                measured.lanes.iter().filter(|lane| LANES[lane.row].1 == link).collect();
            let Some(longest) =
                lanes.iter().map(|lane| lane.latency_us).reduce(f64::max).filter(|_| has(tier))
            else {
                continue;
            };
            self.set(&format!("{link}.latency_us"), &float(longest))?;
            let differ = lanes.iter().any(|lane| lane.latency_us < longest);
            let kind = if differ { NoteKind::Assumed } else { NoteKind::Taken };
            let which = if differ { " (the longer of the two directions: a link has one)" } else { "" };
            self.note(kind, lanes[0].at, "latency".into(), format!("{link}.latency_us = {longest}{which}"));
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), Box<Problem>> {
        self.text = crate::set(&self.text, &format!("{key}={value}")).map_err(Box::new)?;
        Ok(())
    }

    fn drop(&mut self, key: &str) -> Result<(), Box<Problem>> {
        self.text = crate::unset(&self.text, key).map_err(Box::new)?;
        Ok(())
    }

    fn note(&mut self, kind: NoteKind, at: usize, what: String, words: String) {
        let (line, column) = self.problems.place(at);
        self.notes.push(Note { kind, line, column, what, words });
    }
}

/// A number as TOML writes it, so that it stays one with a point.
fn float(number: f64) -> String {
    format!("{number:?}")
}
