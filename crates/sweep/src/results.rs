//! The forms in which rows are handed on: CSV for spreadsheets, JSON with the plan. (Parquet: `crates/columns`.)
//!
//! Numbers are written as the shortest text that reads back as the same number, with a point, whatever the locale.

use serde_json::{Map, Value as Json, json};
use tierscope_scenario::Scenario;

use crate::plan::Plan;
use crate::row::{Row, Value, columns};
use crate::sizing;

/// Rows as CSV with a line of names; what was not measured is empty.
pub fn csv(plan: &Plan, rows: &[Row]) -> String {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let names = columns(plan).into_iter().map(|column| column.name);
    // Writing to memory does not fail, and all records are equally long.
    let mut written = writer.write_record(names);
    for row in rows {
        written = written.and_then(|()| writer.write_record(row.0.iter().map(cell)));
    }
    let bytes = written.ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn cell(value: &Value) -> String {
    match value {
        Value::None => String::new(),
        Value::Whole(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text.clone(),
    }
}

/// Rows as JSON: the plan's digest, the break-even figures of `scenario` (the first point's), and an object a row.
pub fn json(plan: &Plan, rows: &[Row], scenario: Option<&Scenario>) -> String {
    let columns = columns(plan);
    let rows = rows.iter().map(|row| {
        let cells = columns.iter().zip(&row.0).map(|(column, value)| (column.name.clone(), json_of(value)));
        Json::Object(cells.collect::<Map<_, _>>())
    });
    let whole = json!({
        "tierscope": tierscope_sim::VERSION,
        "plan": plan.digest().to_string(),
        "mode": plan.mode.word(),
        "break_even": scenario.map(break_even),
        "rows": rows.collect::<Vec<_>>(),
    });
    let mut text = serde_json::to_string_pretty(&whole).unwrap_or_default();
    text.push('\n');
    text
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::None => Json::Null,
        Value::Whole(number) => json!(number),
        Value::Real(number) => json!(number),
        Value::Text(text) => json!(text),
    }
}

fn break_even(scenario: &Scenario) -> Json {
    let tiers = sizing::paths(scenario).into_iter().flatten().map(|path| {
        json!({
            "tier": path.tier,
            "link": path.link,
            "link_gb_per_s": path.link_gb_per_s,
            "load_gb_per_s": path.gb_per_s,
            "link_break_even_gb_per_s": path.link_break_even_gb_per_s,
        })
    });
    json!({
        "break_even_gb_per_s": sizing::break_even_gb_per_s(scenario),
        "timing_model": scenario.timing.name(),
        "tiers": tiers.collect::<Vec<_>>(),
    })
}
