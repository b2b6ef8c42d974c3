//! What a driven run says of its real side: in words, and in the report's JSON.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tierscope_driver::{LaneTotals, Mirror, Totals};
use tierscope_engine::{Lane, Tier};
use tierscope_report::Report;
use tierscope_scenario::recording::OnMedium;
use tierscope_tiers::Medium;

/// What the tiers were.
pub(crate) fn media(mirror: &Mirror) -> Vec<OnMedium> {
    let on = |(tier, medium): (Tier, &dyn Medium)| {
        let capability = medium.capability();
        let (kind, name) = (capability.kind.name().to_owned(), capability.name.clone());
        OnMedium { tier: tier.name().to_owned(), kind, name }
    };
    mirror.media().map(on).collect()
}

/// What moved, in words.
pub(crate) fn moved(mirror: &Mirror, block_bytes: u64) -> String {
    let Totals { lanes, computed_blocks, verified_blocks, lost } = mirror.totals();
    let mut text = format!(
        "\nreal blocks of {block_bytes} bytes: {computed_blocks} computed, {verified_blocks} verified where they arrived and at \
         the end\n"
    );
    for ((tier, fault), count) in lost {
        text += &format!("  {tier}: {count} blocks could not be had any more at the end: {fault}\n");
    }
    for on in media(mirror) {
        text += &format!("  {} is {}: {}\n", on.tier, on.kind, on.name);
    }
    for lane in Lane::ALL {
        let totals = &lanes[lane.index()];
        if totals.blocks > 0 || !totals.faults.is_empty() {
            text += &line(lane, totals, block_bytes);
        }
    }
    text
}

fn line(lane: Lane, totals: &LaneTotals, block_bytes: u64) -> String {
    let rate = rate_gbps(totals.blocks * block_bytes, totals.copied);
    let median_us = totals.median_ns().unwrap_or(0) as f64 / 1e3;
    let (name, batches, blocks) = (lane.name(), totals.batches, totals.blocks);
    let mut text = format!(
        "  {name:6} {batches:>8} batches {blocks:>9} blocks {rate:>8.2} GB/s while copying, {median_us:>9.0} us a batch (median)"
    );
    for (fault, count) in &totals.faults {
        text += &format!("; {count} blocks not copied: {fault}");
    }
    text + "\n"
}

fn rate_gbps(bytes: u64, copied: Duration) -> f64 {
    bytes as f64 / copied.as_secs_f64().max(1e-9) / 1e9
}

/// The report with a part more: `driven`.
pub(crate) fn with_driven(report: &Report, mirror: &Mirror, clock: &str, block_bytes: u64) -> Result<String> {
    let Totals { lanes, computed_blocks, verified_blocks, lost } = mirror.totals();
    let lost = lost
        .iter()
        .map(|((tier, fault), count)| json!({ "tier": tier, "why": fault.name(), "blocks": count }));
    let lanes = Lane::ALL.into_iter().map(|lane| {
        let totals = &lanes[lane.index()];
        let faults = totals.faults.iter().map(|(fault, count)| (fault.name().to_owned(), json!(count)));
        let of_lane = json!({
            "batches": totals.batches,
            "blocks": totals.blocks,
            "bytes": totals.blocks * block_bytes,
            "copied_ns": u64::try_from(totals.copied.as_nanos()).unwrap_or(u64::MAX),
            "batch_median_ns": totals.median_ns(),
            "failed_blocks": faults.collect::<serde_json::Map<String, Value>>(),
        });
        (lane.name().to_owned(), of_lane)
    });
    let driven = json!({
        "clock": clock,
        "block_bytes": block_bytes,
        "computed_blocks": computed_blocks,
        "verified_blocks": verified_blocks,
        "lost_at_the_end": lost.collect::<Vec<Value>>(),
        "media": media(mirror),
        "lanes": lanes.collect::<serde_json::Map<String, Value>>(),
    });
    // The rest stays as it is written, to the last digit.
    let all = report.to_json();
    let open = all.trim_end().strip_suffix('}').context("the report is a JSON object")?.trim_end();
    let driven = format!("{driven:#}").replace('\n', "\n  ");
    Ok(format!("{open},\n  \"driven\": {driven}\n}}\n"))
}
