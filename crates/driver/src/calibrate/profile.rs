//! `hardware.toml`: what was fitted, in the form that scenarios and the page take, with comments that say what it is worth.

use std::fmt::Write;

use tierscope_engine::Lane;

use super::fit::{LaneFit, LinkFit};
use super::point::Calibration;

/// The file. `machine` and `measured` are for people, and go into it without quotes and control characters.
pub fn hardware_toml(calibration: &Calibration, machine: &str, measured: &str) -> String {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).take(100).collect()
    };
    let mut out = String::from(
        "# Measured by tierscope calibrate; docs/CALIBRATE.md says how, docs/HARDWARE.md what each key means.\n",
    );
    for subject in &calibration.subjects {
        let _ = write!(out, "# {}: {}", subject.tier.name(), plain(&subject.name));
        for remark in &subject.remarks {
            let _ = write!(out, "; {}", plain(remark));
        }
        out.push('\n');
    }
    for missed in calibration.missed.iter().filter(|missed| missed.block_bytes.is_none()) {
        let _ = writeln!(out, "# not measured: {}: {}", plain(&missed.what), plain(&missed.why));
    }
    let _ = write!(
        out,
        "tierscope_hardware = 1\nmachine = \"{}\"\nmeasured = \"{}\"\n",
        plain(machine),
        plain(measured)
    );
    for link in calibration.links.iter().flatten() {
        for fit in link.lanes.iter().flatten() {
            out.push('\n');
            out.push_str(&worth(calibration, fit));
            out.push_str(&lane_toml(link, fit));
        }
    }
    out
}

/// The tables of the lanes alone.
pub(super) fn lanes_toml(links: &[Option<LinkFit>; 3]) -> String {
    let fits =
        links.iter().flatten().flat_map(|link| link.lanes.iter().flatten().map(move |fit| (link, fit)));
    fits.map(|(link, fit)| lane_toml(link, fit)).collect()
}

fn lane_toml(link: &LinkFit, fit: &LaneFit) -> String {
    let rate = |ns_per_byte: f64| significant((1.0 / ns_per_byte).clamp(1e-6, 1e6));
    let mut out = format!("[lanes.{}]\nbandwidth_gbps = {}\n", fit.lane.name(), rate(fit.ns_per_byte));
    if let Some(both) = fit.with_opposite_ns_per_byte {
        let _ = writeln!(out, "with_opposite_gbps = {}", rate(both.max(fit.ns_per_byte)));
    }
    let _ = writeln!(out, "latency_us = {}", significant((link.latency_ns / 1e3).min(6e7)));
    let _ = writeln!(out, "per_block_us = {}", significant((fit.per_block_ns / 1e3).min(1e6)));
    out
}

/// Four digits: nobody measures finer.
fn significant(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = 3 - value.log10().floor() as i32;
    let text = format!("{:.*}", digits.clamp(0, 12) as usize, value);
    text.parse().unwrap_or(value)
}

/// What a lane's figures are worth, as comments.
fn worth(calibration: &Calibration, fit: &LaneFit) -> String {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let mut out = format!(
        "# {} points, off by {} (median), at most {}\n",
        fit.points,
        percent(fit.residual),
        percent(fit.residual_max)
    );
    for prediction in calibration.predictions.iter().filter(|it| it.lane == fit.lane) {
        let what = if prediction.mixed { "a mixed load on all lanes" } else { "a size held out" };
        let _ = writeln!(
            out,
            "# {what}, blocks of {} KiB: predicted within {} (median of {}), {} of them within 15 %",
            prediction.block_bytes / 1024,
            percent(prediction.error),
            prediction.batches,
            percent(prediction.within)
        );
    }
    if let Some(difference) = calibration.unsteady(fit.lane) {
        let _ = writeln!(out, "# unsteady: measured again, it differed by {}", percent(difference));
    }
    if cached(calibration, fit.lane) {
        out.push_str("# page cache, not the disk\n");
    }
    out
}

/// Whether a lane's times may be those of the page cache.
fn cached(calibration: &Calibration, lane: Lane) -> bool {
    matches!(lane, Lane::G2ToG3 | Lane::G3ToG2)
        && calibration
            .subjects
            .iter()
            .flat_map(|it| &it.remarks)
            .any(|words| words == super::campaign::CACHED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_and_stay_numbers() {
        let given = [0.0, -1.0, f64::NAN, 12.345_678, 123_456.7, 0.000_123_456, 9.999_96];
        assert_eq!(given.map(significant), [0.0, 0.0, 0.0, 12.35, 123_457.0, 0.000_123_5, 10.0]);
    }
}
