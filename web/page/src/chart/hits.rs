//! How much of the prompts was found cached over time: since the beginning, and lately.

use plotters::prelude::*;
use tierscope_worker::protocol::HitSample;

use super::palette::Palette;
use super::plot;
use crate::state::format;

const LEFT_PX: u32 = 40;
const RIGHT_PX: u32 = 16;
const BOTTOM_PX: u32 = 22;
/// "Lately" is so much of the run.
const WINDOW: f64 = 0.1;

/// The ratio at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// When.
    pub at_ns: f64,
    /// Since the run began.
    pub so_far: f64,
    /// Of those admitted lately.
    pub lately: f64,
}

/// The ratios at all samples.
pub fn ratios(samples: &[HitSample], end_ns: f64) -> Vec<Ratio> {
    let mut begin = 0;
    let ratio = |sample: &HitSample| {
        while samples[begin].at_ns < sample.at_ns - WINDOW * end_ns {
            begin += 1;
        }
        // The last sample before the window: what came since is the window's.
        let before = begin.checked_sub(1).map_or(HitSample::default(), |place| samples[place]);
        let found = |sample: &HitSample| sample.found.iter().sum::<f64>();
        let share = |found: f64, asked: f64| if asked > 0.0 { found / asked } else { 0.0 };
        Ratio {
            at_ns: sample.at_ns,
            so_far: share(found(sample), sample.asked),
            lately: share(found(sample) - found(&before), sample.asked - before.asked),
        }
    };
    samples.iter().map(ratio).collect()
}

/// Draws the chart as SVG: since the beginning solid, lately dashed.
pub fn svg(ratios: &[Ratio], end_ns: f64, palette: &Palette, size: (u32, u32)) -> Result<String, String> {
    let mut out = String::new();
    draw(&mut out, ratios, end_ns, palette, size).map_err(|error| error.to_string())?;
    Ok(out)
}

fn draw(
    out: &mut String,
    ratios: &[Ratio],
    end_ns: f64,
    palette: &Palette,
    size: (u32, u32),
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let area = SVGBackend::with_string(out, size).into_drawing_area();
    let mut plot = ChartBuilder::on(&area)
        .margin_top(8)
        .margin_right(RIGHT_PX)
        .y_label_area_size(LEFT_PX)
        .x_label_area_size(BOTTOM_PX)
        .build_cartesian_2d(0.0..(end_ns / 1e9).max(1e-9), 0.0..1.05)?;
    let mut mesh = plot.configure_mesh();
    plot::grid(&mut mesh, palette);
    mesh.x_labels(5)
        .y_labels(3)
        .x_label_formatter(&|s| format::tick(s * 1e9, end_ns))
        .y_label_formatter(&|share| format!("{:.0} %", share * 100.0))
        .draw()?;
    let line = |value: fn(&Ratio) -> f64| -> Vec<(f64, f64)> {
        ratios.iter().map(|ratio| (ratio.at_ns / 1e9, value(ratio))).collect()
    };
    let style = |place: usize| plot::stroke(palette, place);
    plot.draw_series(LineSeries::new(line(|ratio| ratio.so_far), style(0)))?;
    plot.draw_series(DashedLineSeries::new(line(|ratio| ratio.lately), 7, 4, style(1)))?;
    area.present()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_ns: f64, asked: f64, g1: f64, g2: f64) -> HitSample {
        HitSample { at_ns, asked, found: [g1, g2, 0.0, 0.0] }
    }

    #[test]
    fn lately_is_a_window_and_so_far_is_all() {
        let samples =
            [sample(0.0, 100.0, 0.0, 0.0), sample(50.0, 200.0, 50.0, 0.0), sample(55.0, 300.0, 50.0, 100.0)];
        let ratios = ratios(&samples, 100.0);
        assert_eq!(ratios.iter().map(|ratio| ratio.so_far).collect::<Vec<_>>(), [0.0, 0.25, 0.5]);
        assert_eq!(ratios.iter().map(|ratio| ratio.lately).collect::<Vec<_>>(), [0.0, 0.5, 0.75]);
        assert!(svg(&ratios, 100.0, &Palette::default(), (300, 120)).expect("an SVG").starts_with("<svg"));
    }

    #[test]
    fn nothing_in_no_room_is_drawn_too() {
        for size in [(300, 120), (1, 1)] {
            svg(&ratios(&[], 0.0), 0.0, &Palette::default(), size).expect("an SVG");
        }
    }
}
