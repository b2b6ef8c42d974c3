//! What the plots have in common: their grid, their type, the look of each line.

use plotters::chart::MeshStyle;
use plotters::coord::ranged1d::Ranged;
use plotters::prelude::*;

use super::palette::Palette;

/// Height of the type in plots.
const FONT_PX: u32 = 11;

/// The type in plots.
pub fn font<'f>(palette: &Palette) -> TextStyle<'f> {
    ("sans-serif", FONT_PX).into_font().color(&palette.ink.rgb())
}

/// Lines across at the marks of the upright axis, and nothing else behind the curves.
pub fn grid<X: Ranged, Y: Ranged, DB: DrawingBackend>(
    mesh: &mut MeshStyle<'_, '_, X, Y, DB>,
    palette: &Palette,
) {
    mesh.disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(palette.line.rgb())
        .axis_style(palette.line.rgb())
        .label_style(font(palette));
}

/// The line of the n-th series.
pub fn stroke(palette: &Palette, place: usize) -> ShapeStyle {
    ShapeStyle::from(palette.latencies[place].rgb()).stroke_width(2)
}
