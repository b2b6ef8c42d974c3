//! Latency distributions: the share of requests at or below each latency, over a logarithmic axis, since a
//! gap between tokens and a whole answer lie a thousandfold apart.

use plotters::prelude::*;
use tierscope_worker::protocol::Distribution;

use super::palette::Palette;
use super::plot;
use crate::state::format;

const LEFT_PX: u32 = 40;
const RIGHT_PX: u32 = 16;
const BOTTOM_PX: u32 = 22;

/// Draws the chart as SVG. The lines take the palette's latency colours in order.
pub fn svg(lines: &[Distribution], palette: &Palette, size: (u32, u32)) -> Result<String, String> {
    let mut out = String::new();
    draw(&mut out, lines, palette, size).map_err(|error| error.to_string())?;
    Ok(out)
}

fn draw(
    out: &mut String,
    lines: &[Distribution],
    palette: &Palette,
    size: (u32, u32),
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let area = SVGBackend::with_string(out, size).into_drawing_area();
    let (low, high) = range(lines);
    let mut plot = ChartBuilder::on(&area)
        .margin_top(8)
        .margin_right(RIGHT_PX)
        .y_label_area_size(LEFT_PX)
        .x_label_area_size(BOTTOM_PX)
        .build_cartesian_2d((low..high).log_scale(), 0.0..1.0)?;
    plot.configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(palette.line.rgb())
        .axis_style(palette.line.rgb())
        .label_style(plot::font(palette))
        .x_labels(5)
        .y_labels(5)
        .x_label_formatter(&|ns| format::power(*ns))
        .y_label_formatter(&|share| format!("{:.0} %", share * 100.0))
        .draw()?;
    for (place, line) in lines.iter().enumerate().take(palette.latencies.len()) {
        let style = plot::stroke(palette, place);
        let points = steps(line, low, high).into_iter();
        match place {
            0 => plot.draw_series(LineSeries::new(points, style))?,
            1 => plot.draw_series(DashedLineSeries::new(points, 7, 4, style))?,
            _ => plot.draw_series(DashedLineSeries::new(points, 2, 3, style))?,
        };
    }
    area.present()
}

/// The whole decades around all points.
fn range(lines: &[Distribution]) -> (f64, f64) {
    let values = || lines.iter().flat_map(|line| &line.points).map(|(ns, _)| ns.max(1.0));
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(1.0, f64::max);
    if !low.is_finite() {
        return (1e6, 1e9);
    }
    let decade = |value: f64| 10f64.powi(value.log10().floor() as i32);
    (decade(low), decade(high) * 10.0)
}

/// The distribution as steps from 0 to 1, over the whole axis.
fn steps(line: &Distribution, low: f64, high: f64) -> Vec<(f64, f64)> {
    if line.points.is_empty() {
        return Vec::new();
    }
    let mut steps = vec![(low, 0.0)];
    let mut last = 0.0;
    for &(ns, share) in &line.points {
        steps.push((ns.max(1.0), last));
        steps.push((ns.max(1.0), share));
        last = share;
    }
    steps.push((high, last));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[(f64, f64)]) -> Distribution {
        Distribution { name: "TTFT".to_owned(), points: points.to_vec() }
    }

    #[test]
    fn the_axis_covers_whole_decades() {
        assert_eq!(range(&[line(&[(2.5e6, 0.5), (4e8, 1.0)])]), (1e6, 1e9));
        assert_eq!(range(&[line(&[(0.0, 1.0)])]), (1.0, 10.0));
        assert_eq!(range(&[]), (1e6, 1e9));
    }

    #[test]
    fn a_distribution_is_a_staircase_from_nothing_to_all() {
        let steps = steps(&line(&[(2.0, 0.5), (4.0, 1.0)]), 1.0, 10.0);
        assert_eq!(steps, [(1.0, 0.0), (2.0, 0.0), (2.0, 0.5), (4.0, 0.5), (4.0, 1.0), (10.0, 1.0)]);
    }

    #[test]
    fn nothing_and_little_room_are_drawn_too() {
        for size in [(300, 160), (1, 1)] {
            svg(&[], &Palette::default(), size).expect("an SVG");
            svg(&[line(&[(1.0, 1.0)]), line(&[]), line(&[(5.0, 1.0)])], &Palette::default(), size)
                .expect("an SVG");
        }
    }
}
