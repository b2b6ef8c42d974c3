//! `[links]`: those between tiers here, that of handoffs beside the other tables of several workers.

use tierscope_engine::Lane;
use tierscope_units::Span;

use super::Notes;
use super::fields::Fields;
use super::fleet::{WITH_HANDOFFS, link as handoff_link};
use super::tiers::Present;
use crate::interconnect::{self, LinkPreset, LinkRate, LinkRates, Links};
use crate::limit;
use crate::preset;

/// The links between tiers, and that which handoffs cross.
pub(crate) fn decode(
    table: Option<Fields<'_>>,
    present: Present,
    notes: &mut Notes,
) -> (Links, handoff_link::Decoded) {
    let mut links = Links::default();
    let rows = [
        ("pcie", Lane::G1ToG2, interconnect::PCIE, &mut links.pcie),
        ("disk", Lane::G2ToG3, interconnect::DISK, &mut links.disk),
        ("object", Lane::G2ToG4, interconnect::OBJECT, &mut links.object),
    ];
    for (name, lane, presets, rates) in rows {
        if let Some(tier) = present.lacking(lane) {
            if let Some(fields) = &table {
                let (tier, expected) = (tier.name(), format!("it only beside {}", tier.name()));
                fields.misplaced(name, &expected, &format!("add [{tier}], or remove it"));
            }
            continue;
        }
        match table.as_ref().and_then(|fields| fields.table(name)) {
            Some(fields) => *rates = link(fields, presets, notes),
            None => note(&format!("links.{name}"), &presets[0], notes),
        }
    }
    let handoff = handoff(table.as_ref(), present, notes);
    if let Some(fields) = table {
        fields.close();
    }
    (links, handoff)
}

fn handoff(table: Option<&Fields<'_>>, present: Present, notes: &mut Notes) -> handoff_link::Decoded {
    const NAME: &str = "handoff";
    if present.handoffs {
        return handoff_link::decode(table.and_then(|fields| fields.table(NAME)), notes);
    }
    if let Some(fields) = table {
        let (expected, mend) = WITH_HANDOFFS;
        fields.misplaced(NAME, expected, mend);
    }
    handoff_link::Decoded::default()
}

fn note(path: &str, preset: &LinkPreset, notes: &mut Notes) {
    let figures =
        format!("{} GB/s down, {} up, {} µs", preset.down_gb_per_s, preset.up_gb_per_s, preset.latency_us);
    notes.default(&format!("{path}.preset"), format!("\"{}\"", preset.name), &figures);
}

/// The preset that is named.
pub(crate) fn named(fields: &Fields<'_>, presets: &'static [LinkPreset]) -> Option<&'static LinkPreset> {
    match preset::find(presets, fields.text("preset")?, |row| row.name) {
        Ok(row) => Some(row),
        Err(mend) => {
            fields.refuse(fields.entry("preset")?, "the name of a preset of this link", mend);
            None
        }
    }
}

fn link(fields: Fields<'_>, presets: &'static [LinkPreset], notes: &mut Notes) -> LinkRates {
    let named = named(&fields, presets);
    let written = ["down_gb_per_s", "up_gb_per_s", "latency_us"].iter().all(|&key| fields.has(key));
    if named.is_none() && !written {
        note(&fields.path, &presets[0], notes);
    }
    let standard = named.unwrap_or(&presets[0]).rates();
    let latency = fields.number("latency_us", 0.0, limit::LINK_LATENCY_US);
    let latency = latency.map_or(standard.down.latency, |us| Span::from_ms_f64(us / 1e3));
    let rates = LinkRates {
        down: direction(&fields, "down_gb_per_s", "down_with_up_gb_per_s", standard.down),
        up: direction(&fields, "up_gb_per_s", "up_with_down_gb_per_s", standard.up),
    };
    fields.close();
    LinkRates { down: LinkRate { latency, ..rates.down }, up: LinkRate { latency, ..rates.up } }
}

/// One direction: a rate that is written stands for both, unless the one beside the other direction is written too.
fn direction(fields: &Fields<'_>, alone: &'static str, both: &'static str, standard: LinkRate) -> LinkRate {
    let (low, high) = limit::LINK_GB_PER_S;
    let rate = |name| fields.number(name, low, high).map(interconnect::bytes_per_s);
    let (written_alone, written_both) = (rate(alone), rate(both));
    let alone_bytes_per_s = written_alone.unwrap_or(standard.alone_bytes_per_s);
    let otherwise = if written_alone.is_some() { alone_bytes_per_s } else { standard.both_bytes_per_s };
    let both_bytes_per_s = written_both.unwrap_or(otherwise);
    if let (true, Some(entry)) = (both_bytes_per_s > alone_bytes_per_s, fields.entry(both)) {
        let expected = format!("at most {alone}, which is {}", interconnect::gb_per_s(alone_bytes_per_s));
        fields.refuse(entry, expected, format!("lower it, or raise {alone}"));
    }
    LinkRate { alone_bytes_per_s, both_bytes_per_s, ..standard }
}
