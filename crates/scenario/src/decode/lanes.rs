//! `[lanes.g1_g2]` and its siblings: the pipeline of each lane.

use tierscope_engine::{Filter, Lane, LaneConfig};
use tierscope_units::Span;

use super::Notes;
use super::fields::Fields;
use super::tiers::Present;
use crate::limit;

/// Batches under way at once: enough to keep a link busy between two batches.
const MAX_CONCURRENT: u32 = 4;

/// The lanes by index; the beliefs about their links are still to be set.
pub(crate) fn decode(
    table: Option<Fields<'_>>,
    present: Present,
    notes: &mut Notes,
) -> [LaneConfig; Lane::COUNT] {
    let mut lanes = [LaneConfig { max_concurrent: MAX_CONCURRENT, ..LaneConfig::default() }; Lane::COUNT];
    let Some(fields) = table else {
        notes.default("lanes.*.max_concurrent", MAX_CONCURRENT, "a round figure");
        return lanes;
    };
    for lane in Lane::ALL {
        if let Some(tier) = present.lacking(lane) {
            let (expected, mend) =
                (format!("it only beside {}", tier.name()), format!("add [{}], or remove it", tier.name()));
            fields.misplaced(lane.name(), &expected, &mend);
            continue;
        }
        let config = &mut lanes[lane.index()];
        if let Some(table) = fields.table(lane.name()) {
            *config = lane_of(table, *config);
        }
    }
    fields.close();
    lanes
}

fn lane_of(fields: Fields<'_>, standard: LaneConfig) -> LaneConfig {
    let config = LaneConfig {
        max_concurrent: fields
            .count("max_concurrent", 1, limit::LANE_CONCURRENCY)
            .unwrap_or(standard.max_concurrent),
        batch_blocks: fields.count("batch_blocks", 1, limit::BATCH_BLOCKS).unwrap_or(standard.batch_blocks),
        flush_after: fields.copy_milliseconds("flush_after_ms").unwrap_or(Span::ZERO),
        filter: filter(&fields),
        retries: fields.count("retries", 0, limit::RETRIES).unwrap_or(0),
        backoff: fields.copy_milliseconds("backoff_ms").unwrap_or(Span::ZERO),
        timeout: fields.copy_limit_milliseconds("timeout_ms"),
        estimate: standard.estimate,
    };
    if config.retries == 0 {
        fields.misplaced("backoff_ms", "it only beside retries", "add retries = 3, or remove it");
    }
    fields.close();
    config
}

fn filter(fields: &Fields<'_>) -> Filter {
    let uses = fields.count("min_uses", 1, limit::SKETCH_USES).unwrap_or(2);
    let words = [
        ("presence", Filter::Presence),
        ("none", Filter::None),
        ("frequency", Filter::PresenceFrequency(uses)),
    ];
    let filter = fields.word("filter", &words).unwrap_or(Filter::Presence);
    if !matches!(filter, Filter::PresenceFrequency(_)) {
        let mend = "write filter = \"frequency\", or remove it";
        fields.misplaced("min_uses", "it only beside filter = \"frequency\"", mend);
    }
    filter
}
