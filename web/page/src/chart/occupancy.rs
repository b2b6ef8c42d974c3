//! Occupancy over time: active and cached blocks stacked, and below them the requests running and waiting.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use tierscope_worker::protocol::Sample;

use super::palette::{Colour, Palette};
use super::scale::Scale;
use crate::state::format;

/// Room for the labels at the left.
pub const LEFT_PX: u32 = 52;
/// Room at the right, so that the last time label is whole.
pub const RIGHT_PX: u32 = 16;
const TIME_LABELS_PX: u32 = 22;
/// Room above each plot for its legend, which the page writes.
const TOP_PX: u32 = 18;
const FONT_PX: u32 = 11;
/// Share of the height that the blocks take; the queues have the rest.
pub const BLOCKS_SHARE: f64 = 0.58;

/// What the chart shows.
pub struct Occupancy<'a> {
    /// Over time, oldest first.
    pub samples: &'a [Sample],
    /// The end of the run.
    pub end_ns: f64,
    /// Blocks in the pool.
    pub capacity: u32,
}

/// The time axis of a chart of this width: the cursor and the slider follow it.
pub fn time_scale(width_px: f64, end_ns: f64) -> Scale {
    let length_px = (width_px - f64::from(LEFT_PX + RIGHT_PX)).max(0.0);
    Scale { from_px: f64::from(LEFT_PX), length_px, end: end_ns }
}

/// Draws the chart as SVG.
pub fn svg(chart: &Occupancy<'_>, palette: &Palette, (width, height): (u32, u32)) -> Result<String, String> {
    let mut out = String::new();
    {
        let area = SVGBackend::with_string(&mut out, (width, height)).into_drawing_area();
        let (upper, lower) = area.split_vertically((f64::from(height) * BLOCKS_SHARE) as i32);
        blocks(&upper, chart, palette).map_err(|error| error.to_string())?;
        queues(&lower, chart, palette).map_err(|error| error.to_string())?;
        area.present().map_err(|error| error.to_string())?;
    }
    Ok(out)
}

type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

fn blocks<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    chart: &Occupancy<'_>,
    palette: &Palette,
) -> Drawn<DB> {
    let end_s = seconds(chart.end_ns).max(1e-9);
    let top = f64::from(chart.capacity.max(1));
    let mut plot = ChartBuilder::on(area)
        .margin_top(TOP_PX)
        .margin_right(RIGHT_PX)
        .y_label_area_size(LEFT_PX)
        .build_cartesian_2d(0.0..end_s, Counts { end: top, marks: [0.0, (top / 2.0).floor(), top] })?;
    mesh(&mut plot, palette, false, chart.end_ns)?;
    let [active, cached] = [palette.states[2], palette.states[4]];
    let stacked = steps(chart, |sample| sample.active + sample.cached);
    plot.draw_series(AreaSeries::new(stacked, 0.0, cached.rgb().mix(0.75)).border_style(line(cached)))?;
    let lower = steps(chart, |sample| sample.active);
    plot.draw_series(AreaSeries::new(lower, 0.0, active.rgb().mix(0.9)).border_style(line(active)))?;
    Ok(())
}

fn queues<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    chart: &Occupancy<'_>,
    palette: &Palette,
) -> Drawn<DB> {
    let end_s = seconds(chart.end_ns).max(1e-9);
    let most = chart.samples.iter().map(|sample| sample.running.max(sample.waiting)).max().unwrap_or(0);
    let top = f64::from(most.max(1));
    let mut plot = ChartBuilder::on(area)
        .margin_top(TOP_PX)
        .margin_right(RIGHT_PX)
        .y_label_area_size(LEFT_PX)
        .x_label_area_size(TIME_LABELS_PX)
        .build_cartesian_2d(0.0..end_s, Counts { end: top * 1.08, marks: [0.0, 0.0, top] })?;
    mesh(&mut plot, palette, true, chart.end_ns)?;
    let [running, waiting] = palette.queues;
    plot.draw_series(LineSeries::new(steps(chart, |sample| sample.running), line(running).stroke_width(2)))?;
    let dashed = steps(chart, |sample| sample.waiting);
    plot.draw_series(DashedLineSeries::new(dashed, 5, 3, line(waiting).stroke_width(2)))?;
    Ok(())
}

fn mesh<DB: DrawingBackend>(
    plot: &mut ChartContext<'_, DB, Cartesian2d<RangedCoordf64, Counts>>,
    palette: &Palette,
    times: bool,
    end_ns: f64,
) -> Drawn<DB> {
    let style = ("sans-serif", FONT_PX).into_font().color(&palette.ink.rgb());
    let time = |s: &f64| format::tick(s * 1e9, end_ns);
    plot.configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(palette.line.rgb())
        .axis_style(palette.line.rgb())
        .label_style(style)
        .x_labels(if times { 7 } else { 0 })
        .y_labels(3)
        .x_label_formatter(&time)
        .y_label_formatter(&|value| {
            if value.fract() == 0.0 { format::count(*value as u64) } else { String::new() }
        })
        .draw()
}

/// An axis of counts from zero, marked where it says something: at the capacity, not at round numbers.
struct Counts {
    end: f64,
    marks: [f64; 3],
}

impl Ranged for Counts {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (value / self.end * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.marks.to_vec()
    }

    fn range(&self) -> std::ops::Range<f64> {
        0.0..self.end
    }
}

/// A sample holds until the next one: two points each.
fn steps(
    chart: &Occupancy<'_>,
    of: impl Fn(&Sample) -> u32 + 'static,
) -> impl Iterator<Item = (f64, f64)> + Clone {
    let mut points = Vec::with_capacity(2 * chart.samples.len() + 1);
    let mut last = 0.0;
    for sample in chart.samples {
        let at_s = seconds(sample.at_ns);
        points.push((at_s, last));
        last = f64::from(of(sample));
        points.push((at_s, last));
    }
    points.push((seconds(chart.end_ns), last));
    points.into_iter()
}

fn line(colour: Colour) -> ShapeStyle {
    ShapeStyle::from(colour.rgb()).stroke_width(1)
}

fn seconds(ns: f64) -> f64 {
    ns / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_ns: f64, active: u32, waiting: u32) -> Sample {
        Sample { at_ns, active, cached: 1, free: 9 - active, waiting, running: active }
    }

    #[test]
    fn a_run_is_drawn() {
        let samples = [sample(0.0, 2, 0), sample(5e8, 8, 3)];
        let chart = Occupancy { samples: &samples, end_ns: 1e9, capacity: 10 };
        let drawn = svg(&chart, &Palette::default(), (600, 180)).expect("an SVG");
        assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"));
    }

    #[test]
    fn an_empty_run_in_no_room_is_drawn_too() {
        let chart = Occupancy { samples: &[], end_ns: 0.0, capacity: 0 };
        for size in [(600, 180), (1, 1), (80, 20)] {
            svg(&chart, &Palette::default(), size).expect("an SVG");
        }
    }
}
