//! All that was measured and fitted, as JSON.

use serde_json::{Value, json};
use tierscope_driver::calibrate::{Calibration, LinkFit, Point, Sample};

/// The version of the form.
const VERSION: u32 = 1;

/// The text, ending with a newline.
pub(super) fn render(found: &Calibration, machine: &str, measured: &str) -> String {
    let subjects = found
        .subjects
        .iter()
        .map(|it| json!({ "tier": it.tier.name(), "name": it.name, "remarks": it.remarks }));
    let missed = found
        .missed
        .iter()
        .map(|it| json!({ "what": it.what, "block_bytes": it.block_bytes, "why": it.why }));
    let repeated = found.repeated.iter().map(|it| {
        json!({
            "point": point(&it.before.point),
            "before_ns": it.before.median_ns,
            "after_ns": it.after.median_ns,
            "difference": it.difference(),
        })
    });
    let predictions = found.predictions.iter().map(|it| {
        json!({
            "lane": it.lane.name(),
            "block_bytes": it.block_bytes,
            "mixed": it.mixed,
            "batches": it.batches,
            "error_median": it.error,
            "bias_median": it.bias,
            "within_15_percent": it.within,
        })
    });
    let value = json!({
        "tierscope_calibration": VERSION,
        "machine": machine,
        "measured": measured,
        "took_s": found.took_s,
        "working_set_bytes": found.working_set_bytes,
        "noticed_ns": found.noticed_ns,
        "media": subjects.collect::<Vec<Value>>(),
        "lanes": found.links.iter().flatten().flat_map(|link| lanes(found, link)).collect::<Vec<Value>>(),
        "held_out": predictions.collect::<Vec<Value>>(),
        "repeated": repeated.collect::<Vec<Value>>(),
        "points": found.samples.iter().map(|it| sample(found, it)).collect::<Vec<Value>>(),
        "not_measured": missed.collect::<Vec<Value>>(),
    });
    format!("{value:#}\n")
}

fn lanes(found: &Calibration, link: &LinkFit) -> Vec<Value> {
    let fits = link.lanes.iter().flatten();
    fits.map(|fit| {
        json!({
            "lane": fit.lane.name(),
            "bandwidth_gbps": 1.0 / fit.ns_per_byte,
            "with_opposite_gbps": fit.with_opposite_ns_per_byte.map(|it| 1.0 / it),
            "latency_us": link.latency_ns / 1e3,
            "per_block_us": fit.per_block_ns / 1e3,
            "points": fit.points,
            "residual_median": fit.residual,
            "residual_max": fit.residual_max,
            "spread_median": fit.spread,
            "repeat_difference": found.repeat_difference(fit.lane),
            "unsteady": found.unsteady(fit.lane).is_some(),
        })
    })
    .collect()
}

fn point(point: &Point) -> Value {
    json!({
        "lane": point.lane.name(),
        "block_bytes": point.block_bytes,
        "blocks": point.blocks,
        "in_flight": point.in_flight,
        "with_opposite": point.with_opposite,
    })
}

fn sample(found: &Calibration, sample: &Sample) -> Value {
    let fitted = found.links.iter().flatten().find_map(|link| link.predict_ns(&sample.point));
    let mut value = point(&sample.point);
    value["median_ns"] = json!(sample.median_ns);
    value["quartiles_ns"] = json!(sample.quartiles_ns);
    value["repeats"] = json!(sample.repeats);
    value["fitted_ns"] = json!(fitted);
    value
}
