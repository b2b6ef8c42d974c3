//! A report as tables for a terminal, in the layout of AIPerf's.
//!
//! Plain text without colour codes, made for [`WIDTH`] columns. Numbers are rounded for the eye; the exact ones
//! are in the JSON. Whatever text comes from outside stays on its line.

mod below;
mod fleet;

use std::fmt::Write;

use comfy_table::{CellAlignment, ColumnConstraint, ContentLineStyle, LineStyle, Table, TableStyle, Width};
use tierscope_units::Span;

use crate::numbers::{group, milliseconds, percent, percent_of, printable, rate};
use crate::report::{Outcome, Report};
use crate::statistics::Summary;

/// Widest line, in columns, save for times beyond ten thousand seconds.
pub const WIDTH: usize = 103;
/// Refused requests and census rows that are named; the rest are counted.
const NAMED: usize = 10;
/// Columns of one cell of the lower table, without its margins.
const CELL: usize = (WIDTH - 7) / 2;

/// The tables, ending with a newline.
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    header(&mut out, report);
    let _ = writeln!(out, "{}\n{}", latencies(report), totals(report));
    out.push_str(&below::render(report));
    out.push_str(&fleet::render(report));
    refused(&mut out, report);
    census(&mut out, report);
    out
}

// Writing into a `String` cannot fail, so results of `write!` are dropped.

fn header(out: &mut String, report: &Report) {
    let title = if report.title.is_empty() { "untitled" } else { &report.title };
    let _ = writeln!(out, "tierscope {} · {}\n", report.tierscope, printable(title, WIDTH - 24));
    let _ = writeln!(out, "  outcome   {}", outcome(report));
    let _ = writeln!(out, "  timing    {}", printable(&report.timing_model, WIDTH - 24));
    let _ = writeln!(out, "  scenario  {}   seed {}", report.scenario_hash, report.seed);
    let _ = writeln!(out, "  digest    {}\n", report.digest);
}

fn outcome(report: &Report) -> String {
    let counts = &report.requests;
    let word = match report.outcome {
        Outcome::Finished => "finished",
        Outcome::DeadEnd => "DEAD END",
        Outcome::Cancelled => "cancelled",
    };
    let mut text =
        format!("{word}: {} of {} requests completed", group(counts.completed), group(counts.total));
    let others = [
        (counts.rejected, "refused"),
        (counts.cancelled, "cancelled"),
        (counts.failed, "failed"),
        (counts.unfinished, "unfinished"),
    ];
    for (count, name) in others.into_iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, ", {} {name}", group(count));
    }
    text
}

fn latencies(report: &Report) -> Table {
    let latency = &report.latency;
    let mut table = plain(["latency, ms", "avg", "min", "max", "p99", "p90", "p75", "p50", "std"]);
    let rows = [
        ("TTFT", &latency.ttft_ns),
        ("TTST", &latency.ttst_ns),
        ("ITL", &latency.itl_ns),
        ("E2E", &latency.e2e_ns),
    ];
    for (name, summary) in rows {
        table.add_row(std::iter::once(name.to_owned()).chain(statistics(summary)));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
        column.set_padding((0, 1));
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(NUMBER_WIDTH)));
    }
    table
}

/// Columns of a number in the upper table, with its margins.
const NUMBER_WIDTH: u16 = 10;

/// Lines of a table; the characters are those where a line between columns meets a border.
fn style(content: ContentLineStyle, top: char, middle: char, bottom: char) -> TableStyle {
    TableStyle::new()
        .top_border(LineStyle::new('╭', '─', top, '╮'))
        .header_lines(content)
        .header_separator(LineStyle::new('├', '─', middle, '┤'))
        .content_lines(content)
        .bottom_border(LineStyle::new('╰', '─', bottom, '╯'))
}

/// A table of columns without lines between them, with these headings.
pub(crate) fn plain<const N: usize>(headings: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(style(ContentLineStyle::none().left('│').right('│'), '─', '─', '─'));
    table.set_header(headings);
    table
}

fn statistics(summary: &Summary) -> [String; 8] {
    let Summary { avg, min, max, p99, p90, p75, p50, std, count, .. } = *summary;
    let columns = [avg, min, max, p99, p90, p75, p50, std];
    columns.map(|ns| if count == 0 { "–".to_owned() } else { milliseconds(ns, max) })
}

fn totals(report: &Report) -> Table {
    let mut table = Table::new();
    table.load_style(style(ContentLineStyle::new('│', '│', '│'), '┬', '┼', '┴'));
    table.set_header(["work", "KV cache"]);
    for (left, right) in work(report).into_iter().zip(cache(report)) {
        table.add_row([pair(left), pair(right)]);
    }
    table
}

/// Numbers behind a first column of names stand at the right.
pub(crate) fn aligned(mut table: Table) -> Table {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
        column.set_padding((1, 1));
    }
    table
}

/// A label and its value at the two ends of a cell.
fn pair((label, value): (&str, String)) -> String {
    let gap = CELL.saturating_sub(label.chars().count() + value.chars().count()).max(1);
    format!("{label}{:gap$}{value}", "")
}

type Line = (&'static str, String);

fn work(report: &Report) -> [Line; 8] {
    let throughput = &report.throughput;
    let goodput = if report.slo.is_some() { "goodput under the SLO" } else { "goodput (no SLO stated)" };
    [
        ("output throughput", format!("{} tokens/s", rate(throughput.output_tokens_per_s))),
        ("request throughput", format!("{} requests/s", rate(throughput.requests_per_s))),
        (goodput, format!("{} requests/s", rate(throughput.goodput_requests_per_s))),
        ("makespan", Span::from_ns(report.makespan_ns).to_string()),
        ("input", format!("{} tokens", group(report.tokens.input))),
        ("output", format!("{} tokens", group(report.tokens.output))),
        ("passes", group(report.passes)),
        ("preemptions", group(report.preemptions)),
    ]
}

fn cache(report: &Report) -> [Line; 8] {
    let (hits, tokens, g1) = (&report.hit_ratio, &report.tokens, &report.tiers.g1);
    let capacity = u64::from(g1.capacity_blocks);
    let most = |blocks: u32| {
        let blocks = u64::from(blocks);
        format!("{} blocks, {}", group(blocks), percent_of(blocks, capacity))
    };
    [
        ("hit ratio, first admission", percent(hits.first_admission.total)),
        ("of an infinite cache", percent(hits.infinite_cache)),
        ("at readmission", percent(hits.readmission)),
        ("cached, recomputed", format!("{}, {} tokens", group(tokens.cached), group(tokens.recomputed))),
        ("G1", format!("{} blocks of {} tokens", group(capacity), group(report.block_size_tokens.into()))),
        ("active at most", most(g1.active_max)),
        ("cached at most", most(g1.cached_max)),
        ("stored, removed", format!("{}, {} blocks", group(g1.stored), group(g1.removed))),
    ]
}

fn refused(out: &mut String, report: &Report) {
    if report.requests.rejected == 0 {
        return;
    }
    let _ = writeln!(out, "\nrefused at arrival");
    for rejected in report.rejected.iter().take(NAMED) {
        let _ = writeln!(out, "  request {}: {}", rejected.request, rejected.explanation);
    }
    rest(out, report.requests.rejected);
}

fn census(out: &mut String, report: &Report) {
    if report.census.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nwho waits for what");
    for row in report.census.iter().take(NAMED) {
        let wakeup = row.wakeup.as_deref().unwrap_or("nothing");
        let _ = writeln!(
            out,
            "  request {}: {} at {}, holds {} of {} blocks, will be woken by {wakeup}",
            row.request,
            row.phase,
            row.owner,
            group(row.held_blocks.into()),
            group(row.needed_blocks.into()),
        );
    }
    rest(out, report.census.len() as u64);
    if !report.wait_cycle.is_empty() {
        let _ = writeln!(out, "  they wait for each other: {}", report.wait_cycle.join(" → "));
    }
}

/// Says how many rows were left out.
fn rest(out: &mut String, count: u64) {
    if count > NAMED as u64 {
        let _ = writeln!(out, "  … and {} more", group(count - NAMED as u64));
    }
}
