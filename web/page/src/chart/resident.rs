//! How full the tiers below G1 are over time: each as a share of its capacity, since a disk holds a hundred times what
//! host memory does.

use plotters::prelude::*;
use tierscope_worker::protocol::BelowSample;

use super::palette::Palette;
use super::plot;
use crate::state::format;

const LEFT_PX: u32 = 40;
const RIGHT_PX: u32 = 16;
const BOTTOM_PX: u32 = 22;

/// What the chart shows.
pub struct Resident<'a> {
    /// Over time, oldest first.
    pub samples: &'a [BelowSample],
    /// The end of the run.
    pub end_ns: f64,
    /// Blocks of G2, G3 and G4; 0 where there is no such tier.
    pub capacity: [u32; 3],
}

/// Draws the chart as SVG. G2 is solid, G3 dashed, G4 dotted, in the palette's latency colours.
pub fn svg(chart: &Resident<'_>, palette: &Palette, size: (u32, u32)) -> Result<String, String> {
    let mut out = String::new();
    draw(&mut out, chart, palette, size).map_err(|error| error.to_string())?;
    Ok(out)
}

fn draw(
    out: &mut String,
    chart: &Resident<'_>,
    palette: &Palette,
    size: (u32, u32),
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let area = SVGBackend::with_string(out, size).into_drawing_area();
    let end_s = (chart.end_ns / 1e9).max(1e-9);
    let mut plot = ChartBuilder::on(&area)
        .margin_top(8)
        .margin_right(RIGHT_PX)
        .y_label_area_size(LEFT_PX)
        .x_label_area_size(BOTTOM_PX)
        .build_cartesian_2d(0.0..end_s, 0.0..1.05)?;
    let mut mesh = plot.configure_mesh();
    plot::grid(&mut mesh, palette);
    mesh.x_labels(5)
        .y_labels(3)
        .x_label_formatter(&|s| format::tick(s * 1e9, chart.end_ns))
        .y_label_formatter(&|share| format!("{:.0} %", share * 100.0))
        .draw()?;
    for place in (0..3).filter(|&place| chart.capacity[place] > 0) {
        let style = plot::stroke(palette, place);
        let points = steps(chart, place).into_iter();
        match place {
            0 => plot.draw_series(LineSeries::new(points, style))?,
            1 => plot.draw_series(DashedLineSeries::new(points, 7, 4, style))?,
            _ => plot.draw_series(DashedLineSeries::new(points, 2, 3, style))?,
        };
    }
    area.present()
}

/// A sample holds until the next one: two points each.
fn steps(chart: &Resident<'_>, place: usize) -> Vec<(f64, f64)> {
    let capacity = f64::from(chart.capacity[place].max(1));
    let mut points = vec![(0.0, 0.0)];
    let mut last = 0.0;
    for sample in chart.samples {
        let (at_s, share) = (sample.at_ns / 1e9, f64::from(sample.resident[place]) / capacity);
        // A tier that does not change adds no points.
        if share != last {
            points.extend([(at_s, last), (at_s, share)]);
            last = share;
        }
    }
    points.push((chart.end_ns / 1e9, last));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_fills_in_steps() {
        let sample = |at_ns, g2| BelowSample { at_ns, resident: [g2, 0, 0] };
        let samples = [sample(1e9, 5), sample(2e9, 5), sample(3e9, 10)];
        let chart = Resident { samples: &samples, end_ns: 4e9, capacity: [10, 0, 7] };
        let filled = [(0.0, 0.0), (1.0, 0.0), (1.0, 0.5), (3.0, 0.5), (3.0, 1.0), (4.0, 1.0)];
        assert_eq!(steps(&chart, 0), filled);
        assert_eq!(steps(&chart, 2), [(0.0, 0.0), (4.0, 0.0)]);
        assert!(svg(&chart, &Palette::default(), (300, 120)).expect("an SVG").starts_with("<svg"));
    }

    #[test]
    fn nothing_in_no_room_is_drawn_too() {
        let chart = Resident { samples: &[], end_ns: 0.0, capacity: [1, 1, 1] };
        for size in [(300, 120), (1, 1)] {
            svg(&chart, &Palette::default(), size).expect("an SVG");
        }
    }
}
