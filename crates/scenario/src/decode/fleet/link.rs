//! `[links.handoff]`: what handoffs cross from worker to worker, in one direction (rule H4).

use tierscope_units::Span;

use crate::decode::Notes;
use crate::decode::fields::Fields;
use crate::decode::links::named;
use crate::fleet::SharedBy;
use crate::interconnect::{self, HANDOFF, LinkRate};
use crate::limit;

/// What `[links.handoff]` says.
#[derive(Clone, Copy)]
pub(crate) struct Decoded {
    pub(crate) rate: LinkRate,
    pub(crate) shared_by: SharedBy,
}

impl Default for Decoded {
    fn default() -> Self {
        Self { rate: HANDOFF[0].rates().down, shared_by: SharedBy::Source }
    }
}

pub(crate) fn decode(table: Option<Fields<'_>>, notes: &mut Notes) -> Decoded {
    let Some(fields) = table else {
        note(notes);
        return Decoded::default();
    };
    let preset = named(&fields, HANDOFF);
    if preset.is_none() && !(fields.has("gb_per_s") && fields.has("latency_us")) {
        note(notes);
    }
    let mut rate = preset.unwrap_or(&HANDOFF[0]).rates().down;
    let (low, high) = limit::LINK_GB_PER_S;
    if let Some(gb_per_s) = fields.number("gb_per_s", low, high) {
        rate.alone_bytes_per_s = interconnect::bytes_per_s(gb_per_s);
        rate.both_bytes_per_s = rate.alone_bytes_per_s;
    }
    if let Some(us) = fields.number("latency_us", 0.0, limit::LINK_LATENCY_US) {
        rate.latency = Span::from_ms_f64(us / 1e3);
    }
    let words =
        [("source", SharedBy::Source), ("destination", SharedBy::Destination), ("all", SharedBy::All)];
    let shared_by = fields.word("shared_by", &words).unwrap_or(SharedBy::Source);
    fields.close();
    Decoded { rate, shared_by }
}

fn note(notes: &mut Notes) {
    let preset = &HANDOFF[0];
    let figures = format!("{} GB/s, {} µs", preset.down_gb_per_s, preset.latency_us);
    notes.default("links.handoff.preset", format!("\"{}\"", preset.name), &figures);
}
