//! Tables of the tiers and of the lanes between them; only where something lies below G1.

use comfy_table::Table;

use super::{aligned, plain};
use crate::numbers::{bytes, group, milliseconds, percent};
use crate::report::{LaneCounts, LoadCounts, Report};

/// The tables that the report has something for, each with a line break behind it.
pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    let tiers = &report.tiers;
    if tiers.g2.is_some() || tiers.g3.is_some() || tiers.g4.is_some() {
        out.push_str(&format!("{}\n", tier_table(report)));
    }
    if !report.lanes.is_empty() {
        out.push_str(&format!("{}\n", lane_table(report)));
    }
    if let Some(loads) = report.loads.filter(|loads| *loads != LoadCounts::default()) {
        out.push_str(&loaded(&loads));
    }
    out.extend(report.lanes.iter().filter_map(|(name, lane)| went_wrong(name, lane)));
    out
}

fn tier_table(report: &Report) -> Table {
    let (tiers, hits) = (&report.tiers, &report.hit_ratio.first_admission);
    let mut table = plain([
        "tier, blocks",
        "capacity",
        "resident at most",
        "at the end",
        "stored",
        "removed",
        "hit ratio",
    ]);
    let g1 = &tiers.g1;
    table.add_row([
        "G1".to_owned(),
        group(g1.capacity_blocks.into()),
        String::new(),
        String::new(),
        group(g1.stored),
        group(g1.removed),
        percent(hits.g1),
    ]);
    let below = [("G2", tiers.g2, hits.g2), ("G3", tiers.g3, hits.g3), ("G4", tiers.g4, hits.g4)];
    for (name, counts, hit) in below {
        let Some(counts) = counts else { continue };
        table.add_row([
            name.to_owned(),
            group(counts.capacity_blocks.into()),
            group(counts.resident_max.into()),
            group(counts.resident_end.into()),
            group(counts.stored),
            group(counts.removed),
            percent(hit),
        ]);
    }
    aligned(table)
}

fn lane_table(report: &Report) -> Table {
    let mut table = plain([
        "lane",
        "batches",
        "failed",
        "blocks",
        "copied",
        "busy",
        "wait p50, ms",
        "copy p50, ms",
        "p99",
    ]);
    for (name, lane) in &report.lanes {
        table.add_row(lane_row(name, lane));
    }
    aligned(table)
}

fn lane_row(name: &str, lane: &LaneCounts) -> [String; 9] {
    let (wait, copy) = (&lane.queue_wait_ns, &lane.copy_ns);
    let ms =
        |count: u64, ns: u64, max: u64| if count == 0 { "–".to_owned() } else { milliseconds(ns, max) };
    [
        name.to_uppercase().replace('_', " → "),
        group(lane.batches),
        group(lane.failed),
        group(lane.blocks),
        bytes(lane.bytes),
        percent(lane.utilisation),
        ms(wait.count, wait.p50, wait.max),
        ms(copy.count, copy.p50, copy.max),
        ms(copy.count, copy.p99, copy.max),
    ]
}

/// What went wrong on a lane, where something did: how often what failed, and how often it was tried again.
fn went_wrong(name: &str, lane: &LaneCounts) -> Option<String> {
    if lane.failures.is_empty() {
        return None;
    }
    let kinds: Vec<String> =
        lane.failures.iter().map(|(kind, &times)| format!("{kind} {}", group(times))).collect();
    let name = name.to_uppercase().replace('_', " → ");
    Some(format!(
        "{name}: attempts that failed: {}; tried again: {}\n",
        kinds.join(", "),
        group(lane.retried)
    ))
}

fn loaded(loads: &LoadCounts) -> String {
    let LoadCounts { started, loaded_blocks, failed_blocks, waits_for_copy, blocked_on_offload, .. } = *loads;
    format!(
        "loads: {}, {} blocks loaded, {} failed and computed; waits for another's copy: {}; blocked on an offload: {}\n",
        group(started),
        group(loaded_blocks),
        group(failed_blocks),
        group(waits_for_copy),
        group(blocked_on_offload)
    )
}
