//! `[workers]`: how many, what each does, and which are there.

use tierscope_engine::{EngineConfig, Role, WORKERS_MAX};
use tierscope_units::Span;

use crate::decode::Notes;
use crate::decode::fields::{Fields, whole_of};
use crate::limit;

/// What `[workers]` says.
pub(crate) struct Workers {
    /// Whether some prefill and the others decode.
    pub(crate) has_handoffs: bool,
    /// From a start to readiness.
    pub(crate) startup: Span,
    pub(super) per_host: u32,
    pub(super) decode_g1_blocks: Option<u32>,
    /// All of them; `None` when it was refused.
    total: Option<u32>,
    /// Those at the beginning of the numbers that prefill only.
    prefill: u32,
    /// The numbers of those that are not there from the beginning.
    absent: Vec<u32>,
}

impl Workers {
    /// The workers of a scenario; `None` where it has no such table.
    pub(crate) fn decode(root: &Fields<'_>, engine: &EngineConfig, notes: &mut Notes) -> Option<Self> {
        let fields = root.table("workers")?;
        let has_handoffs = fields.has("prefill") || fields.has("decode");
        let (total, prefill) = if has_handoffs { split(&fields) } else { (whole(&fields), 0) };
        let per_host = fields.count("per_host", 1, u64::from(WORKERS_MAX));
        if !fields.has("per_host") && root.has("g3") && total != Some(1) {
            notes.default("workers.per_host", 1, "each has a host and its disk to itself");
        }
        let written = fields.count("decode_g1_blocks", 1, limit::G1_BLOCKS);
        if !has_handoffs {
            let (expected, mend) = super::WITH_HANDOFFS;
            fields.misplaced("decode_g1_blocks", expected, mend);
        }
        let workers = Self {
            has_handoffs,
            startup: fields.copy_milliseconds("startup_ms").unwrap_or(Span::ZERO),
            per_host: per_host.unwrap_or(1),
            decode_g1_blocks: written.filter(|&blocks| has_handoffs && blocks != engine.g1_blocks),
            total,
            prefill,
            absent: absent(&fields, total),
        };
        workers.fit(&fields, engine);
        fields.close();
        Some(workers)
    }

    /// How many there are; `None` when that was refused.
    pub(super) fn total(&self) -> Option<u32> {
        self.total
    }

    /// By worker: what it does.
    pub(super) fn roles(&self) -> Option<Vec<Role>> {
        let role = |worker| match (self.has_handoffs, worker < self.prefill) {
            (false, _) => Role::Whole,
            (true, true) => Role::Prefill,
            (true, false) => Role::Decode,
        };
        Some((0..self.total?).map(role).collect())
    }

    /// By worker: whether it is there from the beginning.
    pub(super) fn present(&self) -> Option<Vec<bool>> {
        let mut present = vec![true; self.total? as usize];
        for &worker in &self.absent {
            present[worker as usize] = false;
        }
        Some(present)
    }

    /// All workers' blocks of G1 are made at once.
    fn fit(&self, fields: &Fields<'_>, engine: &EngineConfig) {
        let Some(total) = self.total else { return };
        let decode = if self.has_handoffs { total - self.prefill } else { 0 };
        let each = u64::from(engine.g1_blocks);
        let other = self.decode_g1_blocks.map_or(each, u64::from);
        let blocks = u64::from(total - decode) * each + u64::from(decode) * other;
        if blocks <= limit::FLEET_G1_BLOCKS {
            return;
        }
        let name = if self.has_handoffs { "prefill" } else { "count" };
        let at = fields.entry(name).map_or(fields.at, |entry| entry.node.at);
        let found = format!("{total} workers with {blocks} blocks of G1 in all");
        let expected = format!("at most {} blocks", limit::FLEET_G1_BLOCKS);
        let mend = "write fewer workers, or lower engine.g1_blocks";
        fields.problems.report(at, &fields.key(name), found, expected, mend);
    }
}

fn whole(fields: &Fields<'_>) -> Option<u32> {
    if !fields.has("count") {
        fields.missing("count", "how many workers there are", "add count = 4, or prefill = 2 and decode = 2");
    }
    fields.count("count", 1, u64::from(WORKERS_MAX))
}

/// All workers, and those that prefill.
fn split(fields: &Fields<'_>) -> (Option<u32>, u32) {
    fields.misplaced("count", "either count, or prefill and decode", "keep one of the two ways");
    let rows =
        [("prefill", "decode", "to compute prompts"), ("decode", "prefill", "to answer what is computed")];
    for (name, other, why) in rows {
        if !fields.has(name) {
            let mend = format!("add {name} = 1, or write count instead of {other}");
            fields.missing(name, format!("some {name} workers beside those of {other}, {why}"), mend);
        }
    }
    let side = |name| fields.count(name, 1, u64::from(WORKERS_MAX) - 1);
    let (Some(prefill), Some(decode)) = (side("prefill"), side("decode")) else { return (None, 0) };
    let total = prefill + decode;
    if let (true, Some(entry)) = (total > WORKERS_MAX, fields.entry("decode")) {
        fields.refuse(entry, format!("at most {WORKERS_MAX} workers in all"), "lower it, or prefill");
        return (None, 0);
    }
    (Some(total), prefill)
}

/// The numbers of absent workers, each once, in order.
fn absent(fields: &Fields<'_>, total: Option<u32>) -> Vec<u32> {
    let last = total.unwrap_or(WORKERS_MAX) - 1;
    let mut seen = vec![false; last as usize + 1];
    for (index, item) in fields.items("absent").unwrap_or_default().iter().enumerate() {
        let key = format!("{}[{index}]", fields.key("absent"));
        let refuse = |expected: String, mend: String| {
            fields.problems.report(item.at, &key, item.describe(), expected, mend);
        };
        match whole_of(item, 0, u64::from(last)) {
            Ok(worker) if seen[worker as usize] => refuse("each worker once".into(), "remove it".into()),
            Ok(worker) => seen[worker as usize] = true,
            Err(mend) => refuse(format!("a worker's number from 0 to {last}"), mend),
        }
    }
    (0..=last).filter(|&worker| seen[worker as usize]).collect()
}
