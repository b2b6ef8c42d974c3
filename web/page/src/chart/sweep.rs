//! A knob's curve with the spread of its seeds, and a map of two knobs. Both also say where their points lie, so that
//! they can be pointed at.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::palette::{Colour, Palette};
use super::plot;
use crate::state::sweep::{Measure, Setting};

const LEFT_PX: u32 = 62;
const RIGHT_PX: u32 = 14;
const TOP_PX: u32 = 8;
const BOTTOM_PX: u32 = 24;
/// Values that are this far apart are shown on a logarithmic axis.
const LOG_FROM: f64 = 10.0;
/// Width of a label on the axis, for each of its characters.
const LETTER_PX: f64 = 6.6;
/// Of a map: its labels are short, and so are the values in its cells.
const MAP_LEFT_PX: u32 = 44;
const CELL_FONT_PX: u32 = 10;
const CELL_LETTER_PX: f64 = 5.8;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Fault = DrawingAreaErrorKind<std::io::Error>;

/// A drawing, and where its settings lie.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// The SVG.
    pub svg: String,
    /// The settings that have a value: number, left, top, width, height in pixels.
    pub spots: Vec<(usize, [f64; 4])>,
}

/// What a curve shows.
pub struct Curve<'a> {
    /// Settings of one knob, in its order.
    pub settings: &'a [Setting],
    /// The knob's values.
    pub values: &'a [String],
    /// Those as numbers; `None` for words.
    pub numbers: Option<&'a [f64]>,
    /// What is shown of them.
    pub measure: Measure,
}

/// Draws a curve: the median over the seeds, and a band from the least to the greatest.
pub fn curve(chart: &Curve<'_>, palette: &Palette, size: (u32, u32)) -> Result<Drawn, String> {
    let mut svg = String::new();
    let spots = draw_curve(&mut svg, chart, palette, size).map_err(|error| error.to_string())?;
    Ok(Drawn { svg, spots })
}

/// Where the values of a knob stand on their axis.
fn places(chart: &Curve<'_>) -> Vec<f64> {
    let Some(numbers) = chart.numbers else { return (0..chart.values.len()).map(|at| at as f64).collect() };
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log = least > 0.0 && most / least >= LOG_FROM;
    numbers.iter().map(|number| if log { number.ln() } else { *number }).collect()
}

/// A range around values, with some air; from 0 where that is near.
fn range(values: impl Iterator<Item = f64> + Clone) -> std::ops::Range<f64> {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(f64::NEG_INFINITY, f64::max);
    if !least.is_finite() || !most.is_finite() {
        return 0.0..1.0;
    }
    let air = if most > least { (most - least) * 0.08 } else { most.abs().max(1.0) * 0.1 };
    let bottom = if least >= 0.0 && least <= 0.4 * most { 0.0 } else { least - air };
    bottom..most + air
}

fn draw_curve(
    out: &mut String,
    chart: &Curve<'_>,
    palette: &Palette,
    size: (u32, u32),
) -> Result<Vec<(usize, [f64; 4])>, Fault> {
    let area = SVGBackend::with_string(out, size).into_drawing_area();
    let places = places(chart);
    let spreads = chart.settings.iter().filter_map(|setting| setting.value);
    let heights = range(spreads.flat_map(|[least, _, most]| [least, most]));
    let widths = match range(places.iter().copied()) {
        // Logarithms and numbers of words have no natural 0.
        _ if places.len() == 1 => places[0] - 1.0..places[0] + 1.0,
        range => {
            let least = places.iter().copied().fold(f64::INFINITY, f64::min);
            least - (range.end - least) * 0.06..range.end
        }
    };
    let mut plot = ChartBuilder::on(&area)
        .margin_top(TOP_PX)
        .margin_right(RIGHT_PX)
        .y_label_area_size(LEFT_PX)
        .x_label_area_size(BOTTOM_PX)
        .build_cartesian_2d(widths, heights.clone())?;
    let mut mesh = plot.configure_mesh();
    plot::grid(&mut mesh, palette);
    mesh.x_labels(0).y_labels(4).y_label_formatter(&|value| (chart.measure.print)(*value)).draw()?;
    let point = |setting: &Setting| {
        let place = places.get(*setting.at.first()?)?;
        setting.value.map(|value| (*place, value))
    };
    let points: Vec<(f64, [f64; 3])> = chart.settings.iter().filter_map(point).collect();
    let colour = palette.latencies[0].rgb();
    if points.iter().any(|(_, [least, _, most])| least < most) {
        let lower = points.iter().map(|(x, value)| (*x, value[0]));
        let upper = points.iter().rev().map(|(x, value)| (*x, value[2]));
        plot.draw_series([Polygon::new(lower.chain(upper).collect::<Vec<_>>(), colour.mix(0.22).filled())])?;
    }
    if chart.numbers.is_some() {
        let line = ShapeStyle::from(colour).stroke_width(2);
        plot.draw_series(LineSeries::new(points.iter().map(|(x, value)| (*x, value[1])), line))?;
    }
    plot.draw_series(points.iter().map(|(x, value)| Circle::new((*x, value[1]), 4, colour.filled())))?;
    let mut spots = Vec::new();
    for (number, setting) in chart.settings.iter().enumerate() {
        if let Some((x, value)) = point(setting) {
            let (x, y) = plot.backend_coord(&(x, value[1]));
            spots.push((number, [f64::from(x) - 12.0, f64::from(y) - 12.0, 24.0, 24.0]));
        }
    }
    let ticks: Vec<(i32, &str)> = places
        .iter()
        .zip(chart.values)
        .map(|(place, value)| (plot.backend_coord(&(*place, heights.start)).0, value.as_str()))
        .collect();
    axis(&area, &ticks, size.1 as i32 - BOTTOM_PX as i32 + 5, palette)?;
    area.present()?;
    Ok(spots)
}

/// Writes values below an axis, leaving out those for which there is no room.
fn axis(area: &Area<'_>, ticks: &[(i32, &str)], top: i32, palette: &Palette) -> Result<(), Fault> {
    let style = plot::font(palette);
    let style = style.pos(Pos::new(HPos::Center, VPos::Top));
    let mut free_from = f64::NEG_INFINITY;
    for (x, value) in ticks {
        let shown = short(value);
        let half = shown.chars().count() as f64 * LETTER_PX / 2.0;
        if f64::from(*x) - half >= free_from {
            area.draw(&Text::new(shown, (*x, top), style.clone()))?;
            free_from = f64::from(*x) + half + 6.0;
        }
    }
    Ok(())
}

/// A value as an axis has room for: `64k`, without quotes, at most twelve characters.
pub fn short(value: &str) -> String {
    let bare = value.trim_matches(['"', '\'']);
    if let Ok(number) = bare.replace('_', "").parse::<u64>() {
        return match number {
            n if n >= 1_000_000 && n % 100_000 == 0 => format!("{}M", n as f64 / 1e6),
            n if n >= 10_000 && n % 100 == 0 => format!("{}k", n as f64 / 1e3),
            n => n.to_string(),
        };
    }
    let mut cut: String = bare.chars().take(12).collect();
    if bare.chars().nth(12).is_some() {
        cut.push('…');
    }
    cut
}

/// What a map shows.
pub struct Map<'a> {
    /// Settings of two knobs; the second turns faster.
    pub settings: &'a [Setting],
    /// Values of both.
    pub values: [&'a [String]; 2],
    /// What is shown of them.
    pub measure: Measure,
}

/// Draws a map: the first knob to the right, the second upward; the darker the more, with the number in each cell.
pub fn map(chart: &Map<'_>, palette: &Palette, size: (u32, u32)) -> Result<Drawn, String> {
    let mut svg = String::new();
    let spots = draw_map(&mut svg, chart, palette, size).map_err(|error| error.to_string())?;
    Ok(Drawn { svg, spots })
}

fn draw_map(
    out: &mut String,
    chart: &Map<'_>,
    palette: &Palette,
    size: (u32, u32),
) -> Result<Vec<(usize, [f64; 4])>, Fault> {
    let area = SVGBackend::with_string(out, size).into_drawing_area();
    let (columns, rows) = (chart.values[0].len().max(1), chart.values[1].len().max(1));
    let room = |all: u32, margins: u32, parts: usize| f64::from(all.saturating_sub(margins)) / parts as f64;
    let (width, height) =
        (room(size.0, MAP_LEFT_PX + RIGHT_PX, columns), room(size.1, TOP_PX + BOTTOM_PX, rows));
    let medians = chart.settings.iter().filter_map(|setting| setting.value.map(|value| value[1]));
    let (least, most) =
        medians.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(it), high.max(it)));
    let mut spots = Vec::new();
    for (number, setting) in chart.settings.iter().enumerate() {
        let [Some(column), Some(row)] = [0, 1].map(|knob| setting.at.get(knob).copied()) else { continue };
        let left = f64::from(MAP_LEFT_PX) + column as f64 * width;
        let top = f64::from(TOP_PX) + (rows - 1 - row.min(rows - 1)) as f64 * height;
        let corners =
            [(left, top), (left + width - 1.0, top + height - 1.0)].map(|(x, y)| (x as i32, y as i32));
        let Some([_, value, _]) = setting.value else {
            area.draw(&Rectangle::new(corners, ShapeStyle::from(palette.line.rgb())))?;
            continue;
        };
        let share = if most > least { (value - least) / (most - least) } else { 0.5 };
        let colour = blend(palette.surface, palette.latencies[0], 0.1 + 0.9 * share);
        area.draw(&Rectangle::new(corners, colour.rgb().filled()))?;
        let words = (chart.measure.print)(value);
        if width >= words.chars().count() as f64 * CELL_LETTER_PX && height >= 14.0 {
            let style = ("sans-serif", CELL_FONT_PX).into_font().color(&readable(colour, palette).rgb());
            let middle = ((left + width / 2.0) as i32, (top + height / 2.0) as i32);
            let style = style.pos(Pos::new(HPos::Center, VPos::Center));
            area.draw(&Text::new(words, middle, style))?;
        }
        spots.push((number, [left, top, width - 1.0, height - 1.0]));
    }
    let middle = |at: usize| (f64::from(MAP_LEFT_PX) + (at as f64 + 0.5) * width) as i32;
    let ticks: Vec<(i32, &str)> =
        chart.values[0].iter().enumerate().map(|(at, value)| (middle(at), value.as_str())).collect();
    axis(&area, &ticks, size.1 as i32 - BOTTOM_PX as i32 + 5, palette)?;
    let style = plot::font(palette);
    let style = style.pos(Pos::new(HPos::Right, VPos::Center));
    let every = (16.0 / height).ceil().max(1.0) as usize;
    for (at, value) in chart.values[1].iter().enumerate().step_by(every) {
        let y = f64::from(TOP_PX) + ((rows - 1 - at) as f64 + 0.5) * height;
        area.draw(&Text::new(short(value), (MAP_LEFT_PX as i32 - 5, y as i32), style.clone()))?;
    }
    area.present()?;
    Ok(spots)
}

/// A colour between two.
fn blend(from: Colour, to: Colour, share: f64) -> Colour {
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round() as u8;
    Colour(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// The one of two inks that is easier to read on a ground.
fn readable(ground: Colour, palette: &Palette) -> Colour {
    let contrast = |ink: Colour| {
        let (a, b) = (luminance(ink), luminance(ground));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    };
    if contrast(palette.mark) >= contrast(palette.on_state) { palette.mark } else { palette.on_state }
}

/// Relative luminance as WCAG has it.
fn luminance(Colour(r, g, b): Colour) -> f64 {
    let linear = |channel: u8| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(at: &[usize], value: Option<[f64; 3]>) -> Setting {
        Setting { at: at.to_vec(), value, seeds: 1, remark: String::new() }
    }

    fn words(values: &[&str]) -> Vec<String> {
        values.iter().map(|value| (*value).to_owned()).collect()
    }

    #[test]
    fn a_curve_has_a_spot_for_each_setting_with_a_value() {
        let settings =
            [setting(&[0], Some([1e6, 2e6, 3e6])), setting(&[1], None), setting(&[2], Some([1e6, 1e6, 1e6]))];
        let values = words(&["1000", "10000", "100000"]);
        let numbers = [1e3, 1e4, 1e5];
        let chart = Curve {
            settings: &settings,
            values: &values,
            numbers: Some(&numbers),
            measure: Measure::of("ttft_p99_ns"),
        };
        let drawn = curve(&chart, &Palette::default(), (320, 200)).expect("an SVG");
        assert!(drawn.svg.starts_with("<svg") && drawn.svg.contains("<polygon"), "with a band");
        assert_eq!(drawn.spots.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 2]);
        // On a logarithmic axis the middle value would stand in the middle.
        assert!((places(&chart)[1] * 2.0 - places(&chart)[0] - places(&chart)[2]).abs() < 1e-9);
        let of_words = Curve { numbers: None, ..chart };
        assert_eq!(places(&of_words), [0.0, 1.0, 2.0]);
        curve(&of_words, &Palette::default(), (320, 200)).expect("an SVG");
    }

    #[test]
    fn a_map_has_the_second_knob_upward() {
        let settings = [
            setting(&[0, 0], Some([1.0; 3])),
            setting(&[0, 1], Some([2.0; 3])),
            setting(&[1, 0], Some([3.0; 3])),
            setting(&[1, 1], None),
        ];
        let (a, b) = (words(&["1", "2"]), words(&["x", "y"]));
        let chart = Map { settings: &settings, values: [&a, &b], measure: Measure::of("preemptions") };
        let drawn = map(&chart, &Palette::default(), (320, 200)).expect("an SVG");
        let tops: Vec<f64> = drawn.spots.iter().map(|(_, [_, top, ..])| *top).collect();
        assert!(tops[0] > tops[1] && tops[0] == tops[2], "{tops:?}");
    }

    #[test]
    fn nothing_in_no_room_is_drawn_too() {
        let chart = Curve { settings: &[], values: &[], numbers: Some(&[]), measure: Measure::of("") };
        let none = Map { settings: &[], values: [&[], &[]], measure: Measure::of("") };
        for size in [(320, 200), (10, 10)] {
            curve(&chart, &Palette::default(), size).expect("an SVG");
            map(&none, &Palette::default(), size).expect("an SVG");
        }
    }

    #[test]
    fn values_are_short_and_ink_is_readable() {
        assert_eq!(["64000", "1500000", "\"lru\"", "0.25"].map(short), ["64k", "1.5M", "lru", "0.25"]);
        let palette =
            Palette { mark: Colour(0, 0, 0), on_state: Colour(255, 255, 255), ..Palette::default() };
        assert_eq!(readable(Colour(250, 250, 200), &palette), Colour(0, 0, 0));
        assert_eq!(readable(Colour(10, 40, 90), &palette), Colour(255, 255, 255));
    }
}
