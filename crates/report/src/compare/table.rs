//! What a comparison found, for people.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};

use super::excerpt::{Excerpt, Line};
use super::fold::Place;
use super::{Findings, LaneTotals, Side};
use crate::numbers::{group, printable};
use crate::table::plain;

/// Characters of a fact that are shown in the table of aspects.
const WORDS_SHOWN: usize = 50;

/// The findings in words and tables, ending with a newline. For equal runs it is one line.
pub fn render(findings: &Findings, excerpt: &Excerpt) -> String {
    let [a, b] = findings.stream.entries;
    if findings.equal() {
        return format!("equal: {} facts, all of the same meaning\n", group(a));
    }
    let mut out = format!("different: {} facts in A, {} in B", group(a), group(b));
    if let Some(first) = findings.stream.first {
        let common = first.a.or(first.b).unwrap_or(0);
        let _ = write!(out, "; the first {} mean the same", group(common));
    }
    out.push_str("\n\n");
    first_difference(&mut out, findings, excerpt);
    first_decision(&mut out, findings, excerpt);
    let _ = writeln!(out, "{}", aspects(findings, excerpt));
    if !findings.lanes.is_empty() {
        let _ = writeln!(out, "{}", lanes(findings));
    }
    out
}

// Writing into a `String` cannot fail, so results of `write!` are dropped.

fn first_difference(out: &mut String, findings: &Findings, excerpt: &Excerpt) {
    let Some(first) = findings.stream.first else { return };
    out.push_str("first difference\n");
    // What precedes it is the same in both; the side that has not ended tells it.
    let teller = if first.a.is_some() { Side::A } else { Side::B };
    for line in excerpt.before(teller, first) {
        let _ = writeln!(out, "   both  {}", told(line));
    }
    for side in Side::BOTH {
        let name = side.name();
        for line in excerpt.from(side, first) {
            let mark = if Some(line.fact) == first.of(side) { '>' } else { ' ' };
            let _ = writeln!(out, "  {mark}{name}     {}", told(line));
        }
        if first.of(side).is_none() {
            let _ = writeln!(out, "  >{name}     has no more facts");
        }
    }
    out.push('\n');
}

fn told(line: &Line) -> String {
    format!("{:>9}  {:>14}  {}", format!("#{}", line.fact), time(line.at_ns), line.words)
}

/// Milliseconds since the first arrival, exact.
fn time(at_ns: i128) -> String {
    let sign = if at_ns < 0 { "-" } else { "" };
    let ns = at_ns.unsigned_abs();
    format!("{sign}{}.{:06} ms", ns / 1_000_000, ns % 1_000_000)
}

fn first_decision(out: &mut String, findings: &Findings, excerpt: &Excerpt) {
    match decision(findings, excerpt) {
        Some(words) => {
            let _ = writeln!(out, "first other decision: {words}\n");
        }
        None if findings.decisions.equal => {
            out.push_str("every decision is the same; when they fell, or what followed, is not\n\n");
        }
        None => out.push_str("decisions differ, too far apart for the first of them to be named\n\n"),
    }
}

/// The first decision that differs, in words; `None` where none does, or none is known.
pub fn decision(findings: &Findings, excerpt: &Excerpt) -> Option<String> {
    let place = findings.decisions.first?;
    let side = |side: Side| match excerpt.line(side, place.of(side)) {
        Some(line) => (Some(line.at_ns), format!("{} {}", side.name(), line.words)),
        None => (None, format!("{} decides nothing more", side.name())),
    };
    let ((at_a, a), (at_b, b)) = (side(Side::A), side(Side::B));
    Some(match (at_a, at_b) {
        (Some(at_a), Some(at_b)) if at_a != at_b => {
            format!("at {} {a}, at {} {b}", time(at_a), time(at_b))
        }
        (Some(at), _) | (None, Some(at)) => format!("at {} {a}, {b}", time(at)),
        (None, None) => format!("{a}, {b}"),
    })
}

fn aspects(findings: &Findings, excerpt: &Excerpt) -> Table {
    let mut table = plain(["aspect", "", "in A", "in B", "first difference"]);
    for (aspect, verdict) in &findings.aspects {
        let [a, b] = verdict.entries;
        if a + b == 0 {
            continue;
        }
        let word = if verdict.equal { "same" } else { "DIFFERS" };
        let first = match verdict.first {
            None if verdict.equal => String::new(),
            None => "too far apart to be found".to_owned(),
            Some(place) => pair(place, excerpt),
        };
        table.add_row([aspect.name(), word, &group(a), &group(b), &first]);
    }
    right(&mut table, &[2, 3]);
    table
}

fn pair(place: Place, excerpt: &Excerpt) -> String {
    let side = |side: Side| {
        let line = excerpt.line(side, place.of(side))?;
        Some(format!("{} {}: {}", side.name(), time(line.at_ns), printable(&line.words, WORDS_SHOWN)))
    };
    let told: Vec<String> = Side::BOTH.into_iter().filter_map(side).collect();
    told.join("\n")
}

fn lanes(findings: &Findings) -> Table {
    let mut table = plain(["lane", "", "ended", "completed", "blocks", "retried", "queued, ms", "took, ms"]);
    for (lane, totals) in &findings.lanes {
        for side in Side::BOTH {
            let name = if side == Side::A { lane.as_str() } else { "" };
            let LaneTotals { ended, completed, blocks, retried, waited_ns, took_ns } = totals[side as usize];
            let ms = |ns: u64| crate::numbers::milliseconds(ns, ns);
            let [ended, completed, blocks, retried] = [ended, completed, blocks, retried].map(group);
            let row =
                [name, side.name(), &ended, &completed, &blocks, &retried, &ms(waited_ns), &ms(took_ns)];
            table.add_row(row);
        }
    }
    right(&mut table, &[2, 3, 4, 5, 6, 7]);
    table
}

/// Sets columns to the right.
fn right(table: &mut Table, columns: &[usize]) {
    for column in columns {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
