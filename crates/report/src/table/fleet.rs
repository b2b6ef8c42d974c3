//! Tables of several workers, their router and their handoffs; only where there are several.

use std::fmt::Write;

use comfy_table::Table;

use super::{aligned, plain};
use crate::numbers::{bytes, group, milliseconds, percent, rate};
use crate::report::{HandoffCounts, Report, RouterBelief, RouterCounts, WorkerCounts};
use crate::statistics::{Summary, percentile};

/// Workers that are shown one by one; of more the least, the median and the most of each column.
const SHOWN: usize = 8;
/// Parts of a share, which is a whole number while its median is sought.
const SHARE: f64 = 1e6;

/// The tables that the report has something for, each with a line break behind it.
pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    if !report.workers.is_empty() {
        let _ = writeln!(out, "{}", worker_table(&report.workers));
    }
    if let Some(router) = &report.router {
        out.push_str(&routed(router));
    }
    if let Some(handoffs) = &report.handoffs {
        out.push_str(&handed_off(handoffs));
    }
    out
}

/// Numbers of a worker, in the order of the columns: counts, and shares in millionths.
fn figures(worker: &WorkerCounts) -> [u64; COLUMNS] {
    let share = |share: f64| (share * SHARE) as u64;
    let g1 = &worker.tiers.g1;
    let active =
        if g1.capacity_blocks == 0 { 0.0 } else { f64::from(g1.active_max) / f64::from(g1.capacity_blocks) };
    [
        worker.routed,
        worker.finished,
        worker.passes,
        share(worker.busy_share),
        worker.prefill_tokens,
        worker.decode_tokens,
        worker.preemptions,
        share(worker.hit_ratio),
        share(active),
    ]
}

const COLUMNS: usize = 9;
/// Columns that are shares.
const SHARES: [usize; 3] = [3, 7, 8];

fn worker_table(workers: &[WorkerCounts]) -> Table {
    let mut table = plain([
        "worker", "routed", "done", "passes", "busy", "prefill", "decode", "preempt", "hits", "G1 most",
    ]);
    let shown = |name: String, figures: [u64; COLUMNS]| {
        let mut row = vec![name];
        row.extend(figures.iter().enumerate().map(|(place, &figure)| match SHARES.contains(&place) {
            true => percent(figure as f64 / SHARE),
            false => group(figure),
        }));
        row
    };
    if workers.len() <= SHOWN {
        for worker in workers {
            let gone = if worker.state == "ready" { String::new() } else { format!(", {}", worker.state) };
            table.add_row(shown(format!("{} {}{gone}", worker.worker, worker.role), figures(worker)));
        }
        return tight(table);
    }
    for role in ["whole", "prefill", "decode"] {
        let of_role: Vec<_> = workers.iter().filter(|worker| worker.role == role).map(figures).collect();
        if of_role.is_empty() {
            continue;
        }
        for (name, percent) in [("least", 0), ("median", 50), ("most", 100)] {
            let column = |place: usize| {
                let mut values: Vec<u64> = of_role.iter().map(|figures| figures[place]).collect();
                values.sort_unstable();
                percentile(&values, percent)
            };
            let row = std::array::from_fn(column);
            table.add_row(shown(format!("{} {role} {name}", group(of_role.len() as u64)), row));
        }
    }
    tight(table)
}

/// Aligned, with fewer blanks: there are many columns.
fn tight(table: Table) -> Table {
    let mut table = aligned(table);
    for column in table.column_iter_mut().skip(1) {
        column.set_padding((0, 1));
    }
    table
}

fn routed(router: &RouterCounts) -> String {
    let mut out = String::new();
    let legs: Vec<String> =
        router.by_leg.iter().map(|(leg, &count)| format!("{leg} {}", group(count))).collect();
    let _ =
        writeln!(out, "router {}: decisions: {} ({})", router.kind, group(router.decisions), legs.join(", "));
    for (leg, spread) in router.spread.iter().filter(|(_, spread)| spread.workers > 1) {
        let _ = writeln!(
            out,
            "  {leg}: {} to {} for each of {} workers, variation {}, largest share {}",
            group(spread.min),
            group(spread.max),
            group(spread.workers),
            rate(spread.coefficient_of_variation),
            percent(spread.largest_share)
        );
    }
    if let Some(belief) = &router.belief {
        out.push_str(&believed(belief));
    }
    if router.held > 0 {
        let _ = write!(out, "  held at the router: {}", group(router.held));
        if router.held_ns.count > 0 {
            let _ = write!(out, ", {}", times(&router.held_ns));
        }
        if router.held_at_end > 0 {
            let _ = write!(out, "; still there: {}", group(router.held_at_end));
        }
        out.push('\n');
    }
    out
}

fn believed(belief: &RouterBelief) -> String {
    format!(
        "  believed {} blocks of a prompt, {} of them in G1 were: phantom {} ({} of decisions), missing {} ({})\n",
        rate(belief.believed_blocks_mean),
        rate(belief.resident_g1_blocks_mean),
        group(belief.phantom_blocks),
        percent(belief.phantom_share),
        group(belief.missing_blocks),
        percent(belief.missing_share)
    )
}

fn handed_off(handoffs: &HandoffCounts) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "handoffs: {}, completed {}, failed {}, cancelled {}, at once {}; {} blocks, {}",
        group(handoffs.started),
        group(handoffs.completed),
        group(handoffs.failed),
        group(handoffs.cancelled),
        group(handoffs.under_way_max),
        group(handoffs.blocks),
        bytes(handoffs.bytes)
    );
    let rows = [
        ("from the prompt to its activation", &handoffs.delay_ns),
        ("from the prompt to its release", &handoffs.held_ns),
        ("step: queue and prefill, until source held", &handoffs.steps.source_held_ns),
        ("step: until destination reserved", &handoffs.steps.destination_reserved_ns),
        ("step: until blocks move", &handoffs.steps.transferring_ns),
        ("step: blocks cross, until activated", &handoffs.steps.activated_ns),
        ("step: until source released", &handoffs.steps.source_released_ns),
    ];
    let mut table = plain(["handoff, ms", "avg", "p50", "p99", "max"]);
    for (name, summary) in rows.into_iter().filter(|(_, summary)| summary.count > 0) {
        let ms = |ns: u64| milliseconds(ns, summary.max);
        table.add_row([name.to_owned(), ms(summary.avg), ms(summary.p50), ms(summary.p99), ms(summary.max)]);
    }
    let _ = writeln!(out, "{}", aligned(table));
    for (reason, &count) in &handoffs.failures {
        let _ = writeln!(out, "  failed, {}: {}", reason.replace('_', " "), group(count));
    }
    let oddities = [
        (handoffs.destinations_replaced, "destinations replaced"),
        (handoffs.duplicate_messages, "duplicate messages ignored"),
        (handoffs.stale_messages, "stale messages ignored"),
        (handoffs.prefilled_after_failure_tokens, "tokens prefilled after a failure"),
    ];
    for (count, name) in oddities.into_iter().filter(|(count, _)| *count > 0) {
        let _ = writeln!(out, "  {name}: {}", group(count));
    }
    out
}

fn times(summary: &Summary) -> String {
    let ms = |ns: u64| milliseconds(ns, summary.max);
    format!("p50 {} ms, p99 {} ms, at most {} ms", ms(summary.p50), ms(summary.p99), ms(summary.max))
}
