//! The sizing table for people: a line for each setting of the knobs, the seeds averaged.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use tierscope_report::numbers;
use tierscope_scenario::Scenario;

use super::{break_even_gb_per_s, paths};
use crate::plan::{Mode, Plan};
use crate::row::{Column, Row, Value, columns};

/// Most lines of a printed table; files have all of them.
const LINES_MAX: usize = 100;

/// A printed column: what it is called, the column that it shows, how.
type Shown = (&'static str, &'static str, fn(f64) -> String);

const RUN: &[Shown] = &[
    ("GiB", "total_gib", gib),
    ("G1 %", "hit_ratio_g1", percent),
    ("G2 %", "hit_ratio_g2", percent),
    ("G3 %", "hit_ratio_g3", percent),
    ("G4 %", "hit_ratio_g4", percent),
    ("all %", "hit_ratio_total", percent),
    ("LRU %", "hit_ratio_lru_only", percent),
    ("best %", "hit_ratio_optimal", percent),
    ("inf. %", "hit_ratio_infinite", percent),
    ("TTFT ms", "ttft_avg_ns", milliseconds),
    ("p99 ms", "ttft_p99_ns", milliseconds),
    ("good/s", "goodput_requests_per_s", numbers::rate),
];

/// What the headings of whole runs stand for.
const RUN_LEGEND: &str = "GiB: all tiers. G1 to all: hits of the run. LRU, best: hits of one cache of that size by the order of \
    requests alone, evicting by LRU and with foresight (Belady); inf.: of one without limits, the speed of light. TTFT: mean \
    and 99th percentile. good: requests that met the SLO.\n";

const CACHE: &[Shown] = &[
    ("capacity, blocks", "capacity_blocks", whole),
    ("LRU, by blocks %", "lru_block_ratio", percent),
    ("by tokens %", "lru_token_ratio", percent),
    ("optimal, by blocks %", "optimal_block_ratio", percent),
    ("by tokens %", "optimal_token_ratio", percent),
];

/// The table of rows that stand in the order of their points; ends with a newline.
pub fn render(plan: &Plan, rows: &[Row]) -> String {
    let columns = columns(plan);
    let shown = match plan.mode {
        Mode::Run => RUN,
        Mode::CacheOnly => CACHE,
    };
    let seeds = plan.seeds.len().max(1);
    let groups: Vec<&[Row]> = rows.chunks(seeds).collect();
    let mut table = Table::new();
    let line = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().top_border(line).header_separator(line).bottom_border(line));
    let shown: Vec<&Shown> = shown.iter().filter(|shown| is_used(rows, &columns, shown.1)).collect();
    let knobs = plan.knobs.iter().map(|knob| knob.key.clone());
    // A column of remarks only where there is something to remark.
    let remarks: Vec<String> = groups.iter().map(|group| remark(group, &columns)).collect();
    let remarked = remarks.iter().any(|remark| !remark.is_empty());
    let last = remarked.then(String::new);
    table.set_header(knobs.chain(shown.iter().map(|shown| shown.0.to_owned())).chain(last));
    for (group, remark) in groups.iter().zip(remarks).take(LINES_MAX) {
        let knobs = (1..=plan.knobs.len()).map(|at| knob(group, at));
        let cells =
            shown.iter().map(|shown| mean(group, at(&columns, shown.1)).map_or("–".to_owned(), shown.2));
        table.add_row(knobs.chain(cells).chain(remarked.then_some(remark)).collect::<Vec<_>>());
    }
    let last = plan.knobs.len() + shown.len();
    table.column_iter_mut().take(last).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    let mut out = format!("{table}\n");
    if groups.len() > LINES_MAX {
        let _ = writeln!(out, "… and {} lines more", groups.len() - LINES_MAX);
    }
    if plan.mode == Mode::CacheOnly {
        totals(&mut out, rows, &columns);
    } else {
        out.push_str(RUN_LEGEND);
        if seeds > 1 {
            let _ = writeln!(out, "Means over {seeds} seeds.");
        }
    }
    out
}

fn at(columns: &[Column], name: &str) -> usize {
    columns.iter().position(|column| column.name == name).unwrap_or(usize::MAX)
}

/// A tier that no scenario has needs no column.
fn is_used(rows: &[Row], columns: &[Column], name: &str) -> bool {
    let tier = ["g2", "g3", "g4"].into_iter().find(|tier| name == format!("hit_ratio_{tier}"));
    tier.is_none_or(|tier| {
        let blocks = at(columns, &format!("{tier}_blocks"));
        rows.iter().any(|row| number(row, blocks).is_some())
    })
}

fn number(row: &Row, at: usize) -> Option<f64> {
    match row.0.get(at)? {
        Value::Whole(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        Value::None | Value::Text(_) => None,
    }
}

/// The mean over those rows that have it.
fn mean(group: &[Row], at: usize) -> Option<f64> {
    let numbers: Vec<f64> = group.iter().filter_map(|row| number(row, at)).collect();
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

fn knob(group: &[Row], at: usize) -> String {
    match group.first().and_then(|row| row.0.get(at)) {
        Some(Value::Whole(number)) => numbers::group(*number),
        Some(Value::Real(number)) => number.to_string(),
        Some(Value::Text(text)) => numbers::printable(text, 40),
        Some(Value::None) | None => "–".to_owned(),
    }
}

/// What did not end as it should, and the first reason.
fn remark(group: &[Row], columns: &[Column]) -> String {
    let (state, detail) = (at(columns, "state"), at(columns, "detail"));
    let text = |row: &Row, at: usize| match row.0.get(at) {
        Some(Value::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let bad = group.iter().filter(|row| text(row, state) != "finished");
    let count = bad.clone().count();
    let Some(first) = bad.clone().next() else { return String::new() };
    let of = if group.len() > 1 { format!("{count} of {}: ", group.len()) } else { String::new() };
    let reason = numbers::printable(&text(first, detail), 60);
    format!("{of}{}: {reason}", text(first, state).replace('_', " "))
}

fn totals(out: &mut String, rows: &[Row], columns: &[Column]) {
    let Some(row) = rows.iter().find(|row| number(row, at(columns, "references")).is_some()) else { return };
    let count = |name: &str| number(row, at(columns, name)).map_or("–".to_owned(), whole);
    let share = |name: &str| number(row, at(columns, name)).map_or("–".to_owned(), percent);
    let _ = writeln!(
        out,
        "Infinite cache: {} % by blocks, {} % by tokens. {} requests, {} references, {} distinct blocks of {} tokens, {} \
         input tokens, {} output tokens.",
        share("infinite_block_ratio"),
        share("infinite_token_ratio"),
        count("requests"),
        count("references"),
        count("distinct_blocks"),
        count("block_size_tokens"),
        count("input_tokens"),
        count("output_tokens"),
    );
}

/// Which bandwidth each tier of a scenario needs to be worth it, in words; ends with a newline.
pub fn break_even(scenario: &Scenario) -> String {
    let bytes = scenario.kv_bytes_per_block as f64 / f64::from(scenario.engine.block_size_tokens.max(1));
    let Some(needed) = break_even_gb_per_s(scenario) else {
        return "Break-even: computing takes no time here, so no tier is worth loading from.\n".to_owned();
    };
    let mut out = format!(
        "Break-even bandwidth: {needed:.2} GB/s ({} bytes per token × {} tokens/s computed, {}).\n",
        whole(bytes),
        whole(needed * 1e9 / bytes),
        scenario.timing.name(),
    );
    for path in paths(scenario).into_iter().flatten() {
        let times = path.gb_per_s / needed;
        let verdict = if times >= 1.0 {
            format!("{times:.1} times as fast as computing")
        } else {
            format!("slower than computing ({times:.2} times as fast)")
        };
        let link = match path.link_break_even_gb_per_s {
            Some(rate) => format!("breaks even at {rate:.2} GB/s"),
            None => "cannot break even: the PCIe link behind it takes longer than computing".to_owned(),
        };
        let _ = writeln!(
            out,
            "  {}: loads at {:.2} GB/s, {verdict}; its {} link gives {:.2} GB/s and {link}",
            path.tier, path.gb_per_s, path.link, path.link_gb_per_s,
        );
    }
    out
}

fn percent(share: f64) -> String {
    format!("{:.2}", share * 100.0)
}

fn milliseconds(ns: f64) -> String {
    numbers::rate(ns / 1e6)
}

fn gib(gib: f64) -> String {
    if gib < 100.0 { format!("{gib:.1}") } else { whole(gib) }
}

fn whole(number: f64) -> String {
    numbers::group(libm::round(number) as u64)
}
