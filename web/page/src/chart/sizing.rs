//! What caches of every size would hit: LRU, the best possible, and no limit at all; with the scenario's tiers.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use tierscope_worker::protocol::{CapacityView, SizingView};

use super::palette::Palette;
use super::plot;

const LEFT_PX: u32 = 40;
const RIGHT_PX: u32 = 14;
const TOP_PX: u32 = 20;
const BOTTOM_PX: u32 = 24;
/// Marks of tiers that are nearer than this share a label.
const NEAR_PX: i32 = 24;

/// Draws the chart. LRU is solid, the best dashed, the limit dotted; tiers are upright lines with a dot on LRU's curve.
pub fn svg(sizing: &SizingView, palette: &Palette, size: (u32, u32)) -> Result<String, String> {
    let mut out = String::new();
    draw(&mut out, sizing, palette, size).map_err(|error| error.to_string())?;
    Ok(out)
}

fn draw(
    out: &mut String,
    sizing: &SizingView,
    palette: &Palette,
    size: (u32, u32),
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let area = SVGBackend::with_string(out, size).into_drawing_area();
    let (low, high) = ends(sizing);
    let top = (sizing.infinite * 1.1).clamp(0.05, 1.0);
    let mut plot = ChartBuilder::on(&area)
        .margin_top(TOP_PX)
        .margin_right(RIGHT_PX)
        .y_label_area_size(LEFT_PX)
        .x_label_area_size(BOTTOM_PX)
        .build_cartesian_2d(low.ln()..high.ln(), 0.0..top)?;
    let mut mesh = plot.configure_mesh();
    plot::grid(&mut mesh, palette);
    mesh.x_labels(0).y_labels(4).y_label_formatter(&|share| format!("{:.0} %", share * 100.0)).draw()?;
    let style = |place: usize| plot::stroke(palette, place);
    let curve = |read: fn(&CapacityView) -> f64| {
        sizing.points.iter().map(|point| (point.blocks.max(1.0).ln(), read(point))).collect::<Vec<_>>()
    };
    let limit = [(low.ln(), sizing.infinite), (high.ln(), sizing.infinite)];
    plot.draw_series(DashedLineSeries::new(limit, 2, 3, style(2)))?;
    plot.draw_series(DashedLineSeries::new(curve(|point| point.optimal), 7, 4, style(1)))?;
    plot.draw_series(LineSeries::new(curve(|point| point.lru), style(0)))?;
    let marks = sizing.tiers.iter().map(|tier| (tier, tier.cache.blocks.clamp(low, high).ln()));
    let mut labels: Vec<(i32, String)> = Vec::new();
    for (tier, x) in marks {
        let upright = ShapeStyle::from(palette.ink.rgb()).stroke_width(1);
        plot.draw_series([PathElement::new([(x, 0.0), (x, top)], upright)])?;
        plot.draw_series([Circle::new((x, tier.cache.lru), 4, palette.latencies[0].rgb().filled())])?;
        let px = plot.backend_coord(&(x, top)).0;
        let own = tier.name.rsplit('+').next().unwrap_or_default();
        let name = if tier.name.contains('+') { format!("+{own}") } else { own.to_owned() };
        match labels.last_mut().filter(|(last, _)| px - *last < NEAR_PX) {
            Some((_, label)) => label.push_str(&name),
            None => labels.push((px, name)),
        }
    }
    let font = plot::font(palette);
    for (px, label) in labels {
        let half = label.chars().count() as i32 * 4;
        let px = px.clamp(half, (size.0 as i32 - half).max(half));
        let centred = font.clone().pos(Pos::new(HPos::Center, VPos::Top));
        area.draw(&Text::new(label, (px, 3), centred))?;
    }
    for (blocks, label) in ticks(low, high) {
        let (x, y) = plot.backend_coord(&(blocks.ln(), 0.0));
        let centred = font.clone().pos(Pos::new(HPos::Center, VPos::Top));
        area.draw(&PathElement::new([(x, y), (x, y + 4)], ShapeStyle::from(palette.ink.rgb())))?;
        area.draw(&Text::new(label, (x, y + 6), centred))?;
    }
    area.present()
}

/// The ends of the axis, in blocks.
fn ends(sizing: &SizingView) -> (f64, f64) {
    let low = sizing.points.first().map_or(1.0, |point| point.blocks.max(1.0));
    let high = sizing.points.last().map_or(10.0, |point| point.blocks);
    (low, high.max(low * 2.0))
}

/// Numbers of blocks worth a label: powers of ten, and 2 and 5 between them where those are few.
fn ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let decades = (high / low).log10();
    let steps: &[u32] = match decades {
        _ if decades < 1.5 => &[1, 2, 5],
        _ if decades < 3.0 => &[1, 3],
        _ => &[1],
    };
    let powers = (0..9).map(|exponent| 10_f64.powi(exponent));
    let all = powers.flat_map(|power| steps.iter().map(move |step| power * f64::from(*step)));
    all.filter(|blocks| (low..=high).contains(blocks)).map(|blocks| (blocks, label(blocks))).collect()
}

fn label(blocks: f64) -> String {
    match blocks {
        _ if blocks >= 1e6 => format!("{}M", blocks / 1e6),
        _ if blocks >= 1e3 => format!("{}k", blocks / 1e3),
        _ => format!("{blocks}"),
    }
}

/// Of what any cache could hit, the share behind which more memory hardly pays.
const ENOUGH: f64 = 0.95;

/// The smallest cache that comes near to one without limits under LRU; nothing where no prompt block comes twice.
pub fn enough(sizing: &SizingView) -> Option<CapacityView> {
    let near = |point: &&CapacityView| point.lru >= ENOUGH * sizing.infinite;
    (sizing.infinite > 0.0)
        .then(|| sizing.points.iter().find(near).or(sizing.points.last()).copied())
        .flatten()
}

#[cfg(test)]
mod tests {
    use tierscope_worker::protocol::{CapacityView, TierMark};

    use super::*;

    fn sizing() -> SizingView {
        let point = |blocks, lru, optimal| CapacityView { blocks, lru, optimal };
        let tier = |name: &str, blocks| TierMark { name: name.to_owned(), cache: point(blocks, 0.2, 0.3) };
        SizingView {
            infinite: 0.5,
            points: vec![point(2.0, 0.0, 0.1), point(200.0, 0.3, 0.4), point(20_000.0, 0.5, 0.5)],
            tiers: vec![tier("G1", 100.0), tier("G1+G2", 110.0), tier("G1+G2+G3", 19_000.0)],
            ..SizingView::default()
        }
    }

    #[test]
    fn tiers_are_marked_and_near_ones_share_a_label() {
        let svg = svg(&sizing(), &Palette::default(), (320, 180)).expect("an SVG");
        for label in ["G1+G2", "+G3", "10k", "40 %"] {
            assert!(svg.contains(label), "{label} in {svg}");
        }
    }

    #[test]
    fn an_axis_has_a_few_labels_whatever_its_length() {
        for (low, high) in [(1.0, 10.0), (7.0, 300.0), (20.0, 100_000.0), (1.0, 1e7)] {
            let count = ticks(low, high).len();
            assert!((2..=8).contains(&count), "{low} to {high}: {count}");
        }
        assert_eq!(ticks(1.0, 1.0).len(), 1);
    }

    #[test]
    fn nothing_in_no_room_is_drawn_too() {
        for size in [(320, 180), (4, 4)] {
            svg(&SizingView::default(), &Palette::default(), size).expect("an SVG");
        }
    }

    #[test]
    fn enough_is_where_the_curve_flattens() {
        let point = |blocks, lru| CapacityView { blocks, lru, optimal: lru };
        let points = vec![point(10.0, 0.1), point(20.0, 0.38), point(40.0, 0.39), point(80.0, 0.4)];
        let sizing = SizingView { infinite: 0.4, points, ..SizingView::default() };
        assert_eq!(enough(&sizing).map(|point| point.blocks), Some(20.0));
        assert_eq!(enough(&SizingView { infinite: 0.0, ..sizing.clone() }), None);
        assert_eq!(enough(&SizingView { infinite: 0.9, ..sizing }).map(|point| point.blocks), Some(80.0));
    }
}
