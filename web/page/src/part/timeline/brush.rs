//! What bars, marks and areas are drawn with. Bars are collected and drawn colour by colour: changing the colour is
//! what takes time.

use tierscope_worker::protocol::SpanKind;
use web_sys::CanvasRenderingContext2d;

use super::look;
use super::paint::has_word;
use crate::chart::palette::{Colour, Palette};
use crate::chart::tracks::lod::Bar;
use crate::state::track_words;

const FONT: &str = "10.5px system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";
/// Between the lines of a hatch.
const HATCH_PX: f64 = 5.0;
/// Half of a mark's width.
const MARK_PX: f64 = 4.0;

/// Left, top, width, height.
type Rect = [f64; 4];

pub(super) struct Brush<'a> {
    context: &'a CanvasRenderingContext2d,
    palette: &'a Palette,
    /// By kind.
    bars: [Vec<Rect>; SpanKind::ALL.len()],
    words: Vec<(SpanKind, &'static str, [f64; 2])>,
    /// By kind: where lines cross bars, beside their words.
    crossed: [Vec<Rect>; SpanKind::ALL.len()],
}

impl<'a> Brush<'a> {
    pub(super) fn new(context: &'a CanvasRenderingContext2d, palette: &'a Palette) -> Self {
        context.set_font(FONT);
        context.set_text_baseline("middle");
        context.set_line_width(1.0);
        Self { context, palette, bars: Default::default(), words: Vec::new(), crossed: Default::default() }
    }

    pub(super) fn fill(&self, colour: &Colour, [left, top, width, height]: Rect) {
        self.context.set_fill_style_str(&colour.css());
        self.context.fill_rect(left, top, width, height);
    }

    /// A breath of colour.
    pub(super) fn tint(&self, colour: &Colour, rect: Rect) {
        self.context.set_global_alpha(0.16);
        self.fill(colour, rect);
        self.context.set_global_alpha(1.0);
    }

    pub(super) fn line(&self, colour: &Colour, [x, y]: [f64; 2], [to_x, to_y]: [f64; 2]) {
        self.context.set_stroke_style_str(&colour.css());
        self.context.begin_path();
        self.context.move_to(x, y);
        self.context.line_to(to_x, to_y);
        self.context.stroke();
    }

    pub(super) fn frame(&self, colour: &Colour, [left, top, width, height]: Rect) {
        self.context.set_stroke_style_str(&colour.css());
        self.context.set_line_width(2.0);
        self.context.stroke_rect(left, top, width, height);
        self.context.set_line_width(1.0);
    }

    pub(super) fn text(&self, text: &str, [x, y]: [f64; 2], colour: &Colour) {
        self.context.set_fill_style_str(&colour.css());
        let _ = self.context.fill_text(text, x, y);
    }

    /// Draws nothing outside of a rectangle, until the context is restored.
    pub(super) fn clip(&self, [left, top, width, height]: Rect) {
        self.context.save();
        self.context.begin_path();
        self.context.rect(left, top, width, height);
        self.context.clip();
    }

    /// A stepped area down to a ground line, which ends at a pixel.
    pub(super) fn area(
        &self,
        colour: &Colour,
        steps: impl Iterator<Item = (f64, f64)>,
        [end, ground]: [f64; 2],
    ) {
        self.context.set_fill_style_str(&colour.css());
        self.context.begin_path();
        let mut last = None;
        for (x, y) in steps {
            match last {
                None => self.context.move_to(x, ground),
                Some(before) => self.context.line_to(x, before),
            }
            self.context.line_to(x, y);
            last = Some(y);
        }
        let Some(last) = last else { return };
        self.context.line_to(end, last);
        self.context.line_to(end, ground);
        self.context.fill();
    }

    /// A bar in a row's room; drawn by [`Brush::flush`].
    pub(super) fn bar(&mut self, bar: &Bar, top: f64, height: f64) {
        let width = bar.to_px - bar.from_px;
        let (from, to) = look::extent(bar.kind);
        let rect =
            [bar.from_px, top + (from * height).round(), width, ((to - from) * height).round().max(1.0)];
        // A line of the ground between neighbours.
        let gap = if bar.alone && width > 3.0 { 1.0 } else { 0.0 };
        self.bars[bar.kind as usize].push([rect[0], rect[1], rect[2] - gap, rect[3]]);
        let word = track_words::word(bar.kind);
        let mut crossed = rect;
        if bar.alone && has_word(bar.kind, width, word) {
            let y = if look::bears_words(bar.kind) { top + height / 2.0 + 0.5 } else { top + height * 0.33 };
            self.words.push((bar.kind, word, [bar.from_px.max(0.0) + 4.0, y]));
            let taken = word.len() as f64 * 5.6 + 8.0;
            crossed = [rect[0] + taken, rect[1], rect[2] - gap - taken, rect[3]];
        }
        if look::hatch(bar.kind).is_some() && crossed[2] >= HATCH_PX {
            self.crossed[bar.kind as usize].push(crossed);
        }
    }

    /// Draws what was collected.
    pub(super) fn flush(&mut self) {
        for kind in SpanKind::ALL {
            let mut rects = std::mem::take(&mut self.bars[kind as usize]);
            if !rects.is_empty() {
                self.context.set_fill_style_str(&look::colour(kind, self.palette).css());
                if kind.is_mark() {
                    self.marks(kind, &rects);
                } else {
                    for &[left, top, width, height] in &rects {
                        self.context.fill_rect(left, top, width, height);
                    }
                    if let Some(lean) = look::hatch(kind) {
                        self.hatch(kind, lean);
                    }
                }
                rects.clear();
                // Its memory serves the next rows.
                self.bars[kind as usize] = rects;
            }
        }
        for (kind, word, [x, y]) in std::mem::take(&mut self.words) {
            let on = look::bears_words(kind);
            self.context.set_fill_style_str(&if on { self.palette.on_state } else { self.palette.ink }.css());
            let _ = self.context.fill_text(word, x, y);
        }
    }

    /// Lines in the ground's colour across bars that are wide enough.
    fn hatch(&mut self, kind: SpanKind, lean: f64) {
        self.context.set_stroke_style_str(&self.palette.surface.css());
        self.context.set_global_alpha(0.6);
        self.context.begin_path();
        for [left, top, width, height] in self.crossed[kind as usize].drain(..) {
            let across = lean * height / 4.0;
            let mut x = left + HATCH_PX / 2.0;
            while x < left + width {
                let within = |x: f64| x.clamp(left, left + width);
                self.context.move_to(within(x - across), top + height);
                self.context.line_to(within(x + across), top);
                x += HATCH_PX;
            }
        }
        self.context.stroke();
        self.context.set_global_alpha(1.0);
    }

    /// Each a shape of its own; where many stand side by side, a band.
    fn marks(&self, kind: SpanKind, rects: &[Rect]) {
        self.context.set_stroke_style_str(&look::colour(kind, self.palette).css());
        self.context.set_line_width(2.0);
        for &[left, top, width, height] in rects {
            if width > 3.0 * MARK_PX {
                self.context.fill_rect(left, top + height * 0.25, width, height * 0.5);
                continue;
            }
            let (x, y, r) = (left + width / 2.0, top + height / 2.0, MARK_PX);
            let outline: &[(f64, f64)] = match kind {
                SpanKind::MarkPreempted => &[(-1.0, -0.9), (1.0, -0.9), (0.0, 1.0)],
                SpanKind::MarkWorker | SpanKind::MarkLost => {
                    &[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)]
                }
                SpanKind::MarkRejected => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
                _ => &[],
            };
            self.context.begin_path();
            for &(right, down) in outline {
                self.context.line_to(x + right * r, y + down * r);
            }
            self.context.fill();
            let strokes: &[[f64; 4]] = match kind {
                SpanKind::MarkExhausted | SpanKind::MarkCopyFailed => {
                    &[[-0.8, -0.8, 0.8, 0.8], [-0.8, 0.8, 0.8, -0.8]]
                }
                SpanKind::MarkBlocked => &[[-0.5, -1.0, -0.5, 1.0], [0.5, -1.0, 0.5, 1.0]],
                SpanKind::MarkCancelled => &[[-0.9, 0.0, 0.9, 0.0]],
                _ => &[],
            };
            self.context.begin_path();
            for &[from_x, from_y, to_x, to_y] in strokes {
                self.context.move_to(x + from_x * r, y + from_y * r);
                self.context.line_to(x + to_x * r, y + to_y * r);
            }
            self.context.stroke();
        }
        self.context.set_line_width(1.0);
    }
}
