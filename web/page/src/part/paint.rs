//! Draws the board's cells. Each state has a shape of its own besides its colour: free is hollow, reserved is
//! hatched, active is solid, shared is solid with a second edge, cached is solid with a hole, source hold is solid with an
//! arrow down. The slots of a transaction are ringed and lettered.

use tierscope_worker::protocol::{BlockState, Cells, Totals};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::legend;
use crate::chart::cells::Grid;
use crate::chart::palette::Palette;
use crate::state::inspector::{Mark, Part};

/// Everything that one picture shows.
pub(crate) struct Picture<'a> {
    pub(crate) cells: Option<&'a Cells>,
    /// What stands in each cell; may be empty.
    pub(crate) labels: &'a [String],
    pub(crate) grid: Grid,
    pub(crate) palette: &'a Palette,
    pub(crate) pointed: Option<usize>,
    /// Slots of the transaction that is shown.
    pub(crate) marks: &'a [Mark],
    /// Slots of what is picked out.
    pub(crate) rings: &'a [u32],
    pub(crate) size: (u32, u32),
    /// Device pixels for each pixel of the layout.
    pub(crate) ratio: f64,
}

/// Cells below this side are too small for shapes: their colour and place must do.
const SHAPES_FROM_PX: f64 = 7.0;
/// Cells from this side on say who holds them.
const LABELS_FROM_PX: f64 = 18.0;

/// Draws the picture.
pub(crate) fn paint(canvas: &HtmlCanvasElement, picture: &Picture<'_>) {
    let height = f64::from(picture.size.1).max(picture.grid.height_px());
    canvas.set_width((f64::from(picture.size.0) * picture.ratio) as u32);
    canvas.set_height((height * picture.ratio) as u32);
    let _ = canvas.style().set_property("height", &format!("{height}px"));
    let Some(context) = context(canvas) else { return };
    let _ = context.scale(picture.ratio, picture.ratio);
    let Some(cells) = picture.cells else { return };
    let brush = Brush { context: &context, palette: picture.palette, side: picture.grid.side_px() };
    // Thousands of tiny cells: all of one colour at once.
    let mut tiny = [const { Vec::new() }; BlockState::ALL.len()];
    for (cell, totals) in cells.iter().enumerate() {
        let at = picture.grid.corner(cell);
        match legend::state_of(totals) {
            Some(state) if brush.is_tiny() && totals.capacity() == totals.of(state) => {
                tiny[state as usize].push(at)
            }
            Some(state) if totals.capacity() == totals.of(state) => brush.block(at, state),
            Some(_) => brush.shares(at, totals),
            None => {}
        }
        if let Some(label) = picture.labels.get(cell)
            && brush.side >= LABELS_FROM_PX
        {
            brush.label(at, label);
        }
    }
    for state in BlockState::ALL {
        brush.squares(&tiny[state as usize], state);
    }
    for mark in picture.marks {
        let cell = (mark.slot / cells.per_cell.max(1)) as usize;
        if let Some(totals) = cells.get(cell) {
            brush.mark(picture.grid.corner(cell), mark.part, legend::state_of(totals));
        }
    }
    for slot in picture.rings {
        let cell = (slot / cells.per_cell.max(1)) as usize;
        if cell < cells.len() {
            brush.pick(picture.grid.corner(cell));
        }
    }
    if let Some(cell) = picture.pointed {
        brush.ring(picture.grid.corner(cell));
    }
}

fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

struct Brush<'a> {
    context: &'a CanvasRenderingContext2d,
    palette: &'a Palette,
    side: f64,
}

impl Brush<'_> {
    fn colour(&self, state: BlockState) -> String {
        self.palette.state(state).css()
    }

    fn rect(&self, (x, y): (f64, f64), side: f64) {
        let radius = if side >= 14.0 {
            3.0
        } else if side >= SHAPES_FROM_PX {
            1.5
        } else {
            0.0
        };
        self.context.begin_path();
        if self.context.round_rect_with_f64(x, y, side, side, radius).is_err() {
            self.context.rect(x, y, side, side);
        }
    }

    fn is_tiny(&self) -> bool {
        self.side < SHAPES_FROM_PX
    }

    /// Plain squares of one state.
    fn squares(&self, corners: &[(f64, f64)], state: BlockState) {
        if corners.is_empty() {
            return;
        }
        self.context.set_fill_style_str(&self.colour(state));
        self.context.begin_path();
        for &(x, y) in corners {
            self.context.rect(x, y, self.side, self.side);
        }
        self.context.fill();
    }

    /// A cell of one state, large enough for its shape.
    fn block(&self, at: (f64, f64), state: BlockState) {
        let colour = self.colour(state);
        self.context.set_fill_style_str(&colour);
        self.context.set_stroke_style_str(&colour);
        match state {
            BlockState::Free => self.hollow(at),
            BlockState::Reserved => self.hatched(at),
            _ => {
                self.rect(at, self.side);
                self.context.fill();
            }
        }
        let surface = self.palette.surface.css();
        match state {
            BlockState::Shared => {
                let inset = (self.side * 0.14).max(1.5);
                self.context.set_stroke_style_str(&surface);
                self.context.set_line_width((self.side * 0.06).max(1.0));
                self.rect((at.0 + inset, at.1 + inset), self.side - 2.0 * inset);
                self.context.stroke();
            }
            BlockState::Cached => {
                let hole = (self.side * 0.3).max(2.0);
                let inset = (self.side - hole) / 2.0;
                self.context.set_fill_style_str(&surface);
                self.rect((at.0 + inset, at.1 + inset), hole);
                self.context.fill();
            }
            BlockState::SourceHold => self.arrow_down(at, &surface),
            BlockState::Free | BlockState::Reserved | BlockState::Active => {}
        }
    }

    fn hollow(&self, (x, y): (f64, f64)) {
        self.context.set_line_width(1.0);
        self.rect((x + 0.5, y + 0.5), self.side - 1.0);
        self.context.stroke();
    }

    fn hatched(&self, (x, y): (f64, f64)) {
        self.hollow((x, y));
        self.context.begin_path();
        let step = (self.side / 4.0).max(3.0);
        let mut offset = step;
        while offset < 2.0 * self.side {
            let (from, to) = (offset.min(self.side), (offset - self.side).max(0.0));
            self.context.move_to(x + to, y + from);
            self.context.line_to(x + from, y + to);
            offset += step;
        }
        self.context.stroke();
    }

    /// A cell of many blocks: bands as high as their shares, from the bottom: active, shared, cached,
    /// source hold, reserved.
    fn shares(&self, (x, y): (f64, f64), totals: Totals) {
        use BlockState::{Active, Cached, Free, Reserved, Shared, SourceHold};
        let capacity = f64::from(totals.capacity().max(1));
        let mut bottom = y + self.side;
        for state in [Active, Shared, Cached, SourceHold, Reserved, Free] {
            if totals.of(state) == 0 {
                continue;
            }
            let height = self.side * f64::from(totals.of(state)) / capacity;
            self.context.set_fill_style_str(&self.colour(state));
            self.context.fill_rect(x, bottom - height, self.side, height);
            bottom -= height;
        }
    }

    fn label(&self, (x, y): (f64, f64), label: &str) {
        if label.is_empty() {
            return;
        }
        let size = (self.side * 0.36).clamp(9.0, 17.0);
        self.context.set_font(&format!("600 {size:.0}px system-ui, sans-serif"));
        self.context.set_text_align("center");
        self.context.set_text_baseline("middle");
        self.context.set_fill_style_str(&self.palette.on_state.css());
        // Too narrow a cell squeezes the text; nothing is cut.
        let width = self.side - 4.0;
        let _ = self.context.fill_text_with_max_width(
            label,
            x + self.side / 2.0,
            y + self.side / 2.0 + 1.0,
            width,
        );
    }

    /// What is on its way down.
    fn arrow_down(&self, (x, y): (f64, f64), colour: &str) {
        let at = |right: f64, down: f64| (x + self.side * right, y + self.side * down);
        let outline =
            [(0.42, 0.2), (0.58, 0.2), (0.58, 0.5), (0.78, 0.5), (0.5, 0.82), (0.22, 0.5), (0.42, 0.5)];
        self.context.set_fill_style_str(colour);
        self.context.begin_path();
        for (right, down) in outline {
            let (x, y) = at(right, down);
            self.context.line_to(x, y);
        }
        self.context.fill();
    }

    /// A slot of the transaction that is shown: a ring, and a letter where there is room for one.
    fn mark(&self, (x, y): (f64, f64), part: Part, state: Option<BlockState>) {
        self.frame((x, y), if self.side >= LABELS_FROM_PX { 2.5 } else { 1.5 });
        if self.side < LABELS_FROM_PX {
            return;
        }
        let size = (self.side * 0.26).clamp(9.0, 14.0);
        let on_ground = matches!(state, None | Some(BlockState::Free | BlockState::Reserved));
        self.context.set_font(&format!("700 {size:.0}px system-ui, sans-serif"));
        self.context.set_text_align("left");
        self.context.set_text_baseline("top");
        self.context.set_fill_style_str(&if on_ground {
            self.palette.mark.css()
        } else {
            self.palette.on_state.css()
        });
        let _ = self.context.fill_text(part.letter(), x + self.side * 0.09, y + self.side * 0.1);
    }

    /// What is picked out: a double frame, dark within light, that is seen on every ground.
    fn pick(&self, at: (f64, f64)) {
        self.frame(at, if self.is_tiny() { 2.0 } else { 3.0 });
        if !self.is_tiny() {
            self.context.set_stroke_style_str(&self.palette.surface.css());
            self.context.set_line_width(1.5);
            let inset = 1.5;
            self.context.stroke_rect(
                at.0 + inset,
                at.1 + inset,
                self.side - 2.0 * inset,
                self.side - 2.0 * inset,
            );
        }
    }

    fn ring(&self, at: (f64, f64)) {
        self.frame(at, 2.0);
    }

    /// A frame in the gap around a cell; at the board's own edge it lies on the cell.
    fn frame(&self, (x, y): (f64, f64), width: f64) {
        let (left, top) = ((x - 1.0).max(width / 2.0), (y - 1.0).max(width / 2.0));
        self.context.set_stroke_style_str(&self.palette.mark.css());
        self.context.set_line_width(width);
        self.context.stroke_rect(left, top, x + self.side + 1.0 - left, y + self.side + 1.0 - top);
    }
}
