//! What came of a calibration, for people.

use std::fmt::Write;

use tierscope_driver::calibrate::{Calibration, LinkFit, Missed, Sample};
use tierscope_engine::Lane;

/// Reasons of one kind that are told; the rest are counted.
const MISSED_TOLD: usize = 12;

/// The text, ending with a newline.
pub(super) fn render(found: &Calibration) -> String {
    let mut out = String::new();
    header(&mut out, found);
    points(&mut out, found);
    fits(&mut out, found);
    predictions(&mut out, found);
    missed(&mut out, &found.missed);
    out
}

// Writing into a `String` cannot fail, so results of `write!` are dropped.

fn header(out: &mut String, found: &Calibration) {
    let set = found.working_set_bytes >> 20;
    let _ = writeln!(
        out,
        "calibrated in {:.0} s, {} points, {set} MiB gone through each way\n",
        found.took_s,
        found.samples.len()
    );
    for subject in &found.subjects {
        let _ = write!(out, "  {}  {}", subject.tier.name(), subject.name);
        for remark in &subject.remarks {
            let _ = write!(out, "; {remark}");
        }
        out.push('\n');
    }
}

/// For each lane and size of block, the shortest batch and the one that moved most in a second.
fn points(out: &mut String, found: &Calibration) {
    let _ = writeln!(out, "\nmeasured: medians, in brackets the range of the middle half of the repeats");
    let _ = writeln!(
        out,
        "  {:6} {:>9} {:>26} {:>34} {:>12}",
        "lane", "block", "one block alone", "most at once", "both ways"
    );
    for lane in Lane::ALL {
        let mut sizes: Vec<u64> = of_lane(found, lane).map(|it| it.point.block_bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for size in sizes {
            let own: Vec<&Sample> = of_lane(found, lane).filter(|it| it.point.block_bytes == size).collect();
            let single = own.iter().find(|it| it.point.moved_blocks() == 1.0 && !it.point.with_opposite);
            let rate = |a: &&&Sample, b: &&&Sample| a.gb_per_s().total_cmp(&b.gb_per_s());
            let fastest = own.iter().filter(|it| !it.point.with_opposite).max_by(rate);
            let both = own.iter().filter(|it| it.point.with_opposite).max_by(rate);
            let single = single.map_or_else(dash, |it| format!("{} [{}]", micros(it.median_ns), range(it)));
            let fastest = fastest.map_or_else(dash, |it| {
                format!("{} ({} x {} blocks)", gb(it.gb_per_s()), it.point.in_flight, it.point.blocks)
            });
            let both = both.map_or_else(dash, |it| gb(it.gb_per_s()));
            let _ =
                writeln!(out, "  {:6} {:>9} {single:>26} {fastest:>34} {both:>12}", lane.name(), bytes(size));
        }
    }
}

fn fits(out: &mut String, found: &Calibration) {
    let _ = writeln!(
        out,
        "\nfitted: latency + blocks x (overhead + bytes / rate); off by: at the points it was made from"
    );
    let _ = writeln!(
        out,
        "  {:6} {:>10} {:>12} {:>10} {:>12} {:>7} {:>14} {:>7} {:>7}",
        "lane", "GB/s", "both ways", "latency", "per block", "points", "off by (most)", "spread", "again"
    );
    for lane in Lane::ALL {
        let link = found.links.iter().flatten().find(|link: &&LinkFit| link.lane(lane).is_some());
        let Some((link, fit)) = link.and_then(|link| Some((link, link.lane(lane)?))) else { continue };
        let both = fit.with_opposite_ns_per_byte.map_or_else(dash, |it| gb(1.0 / it));
        let off = format!("{} ({})", percent(fit.residual), percent(fit.residual_max));
        let again = found.repeat_difference(lane).map_or_else(dash, percent);
        let _ = writeln!(
            out,
            "  {:6} {:>10} {both:>12} {:>10} {:>12} {:>7} {off:>14} {:>7} {again:>7}",
            lane.name(),
            gb(1.0 / fit.ns_per_byte),
            micros(link.latency_ns),
            micros(fit.per_block_ns),
            fit.points,
            percent(fit.spread),
        );
    }
    for lane in Lane::ALL {
        if let Some(difference) = found.unsteady(lane) {
            let _ = writeln!(
                out,
                "  {} is unsteady: measured again at the end, it differed by {}",
                lane.name(),
                percent(difference)
            );
        }
    }
    let _ = writeln!(
        out,
        "  the driver hears of an end {} after it (median); that is in none of the figures",
        micros(found.noticed_ns)
    );
}

fn predictions(out: &mut String, found: &Calibration) {
    if found.predictions.is_empty() {
        let _ = writeln!(out, "\nnothing was held out: how well this predicts is not known");
        return;
    }
    let _ = writeln!(out, "\nheld out, predicted by the simulator's links");
    let _ = writeln!(
        out,
        "  {:6} {:>9} {:12} {:>8} {:>12} {:>8} {:>12}",
        "lane", "block", "load", "batches", "off by", "bias", "within 15 %"
    );
    for it in &found.predictions {
        let load = if it.mixed { "mixed" } else { "by itself" };
        let _ = writeln!(
            out,
            "  {:6} {:>9} {load:12} {:>8} {:>12} {:>8} {:>12}",
            it.lane.name(),
            bytes(it.block_bytes),
            it.batches,
            percent(it.error),
            format!("{:+.0} %", 100.0 * it.bias),
            percent(it.within),
        );
    }
}

fn missed(out: &mut String, missed: &[Missed]) {
    if missed.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nnot measured");
    for it in missed.iter().take(MISSED_TOLD) {
        let block = it.block_bytes.map_or_else(String::new, |size| format!(", blocks of {}", bytes(size)));
        let _ = writeln!(out, "  {}{block}: {}", it.what, it.why);
    }
    if missed.len() > MISSED_TOLD {
        let _ = writeln!(out, "  and {} more (--json has them all)", missed.len() - MISSED_TOLD);
    }
}

fn of_lane(found: &Calibration, lane: Lane) -> impl Iterator<Item = &Sample> {
    found.samples.iter().filter(move |it| it.point.lane == lane)
}

fn dash() -> String {
    "-".to_owned()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn gb(gb_per_s: f64) -> String {
    let places = if gb_per_s < 1.0 { 3 } else { 2 };
    format!("{gb_per_s:.places$} GB/s")
}

fn micros(ns: f64) -> String {
    match ns {
        ns if ns < 1e5 => format!("{:.1} µs", ns / 1e3),
        ns if ns < 1e7 => format!("{:.0} µs", ns / 1e3),
        ns => format!("{:.1} ms", ns / 1e6),
    }
}

fn range(sample: &Sample) -> String {
    let [low, high] = sample.quartiles_ns.map(|ns| ns / 1e3);
    let places = if high < 100.0 { 1 } else { 0 };
    format!("{low:.places$}-{high:.places$}")
}

fn bytes(size: u64) -> String {
    if size >= 1 << 20 { format!("{} MiB", size >> 20) } else { format!("{} KiB", size >> 10) }
}

#[cfg(test)]
mod tests;
