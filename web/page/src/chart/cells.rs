//! Where the board's cells lie.

/// Cells in rows, filled from the left and the top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Cells in a row.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
    /// From one cell to the next.
    pub pitch_px: f64,
    /// Space between two cells.
    pub gap_px: f64,
    /// Number of cells.
    pub cells: usize,
}

/// Cells do not grow beyond this: a pool of a dozen blocks should still look like a pool.
const LARGEST_PX: f64 = 88.0;
/// Cells do not shrink below this; the board grows in height instead.
const SMALLEST_PX: f64 = 3.0;

impl Grid {
    /// The largest square cells that fit into a rectangle.
    pub fn fit(cells: usize, width_px: f64, height_px: f64) -> Self {
        let width = width_px.max(SMALLEST_PX);
        let fits = |pitch: f64| {
            let columns = (width / pitch).floor().max(1.0);
            let rows = (cells as f64 / columns).ceil();
            rows * pitch <= height_px
        };
        let mut pitch = LARGEST_PX;
        while pitch > SMALLEST_PX && !fits(pitch) {
            pitch -= 0.5;
        }
        let most = ((width / pitch).floor() as usize).max(1);
        let rows = cells.div_ceil(most).max(1);
        // Even rows look better than a nearly empty last one, as long as the pool is small.
        let columns = if cells <= 256 { cells.div_ceil(rows).max(1) } else { most };
        let gap_px = if pitch >= 24.0 {
            4.0
        } else if pitch >= 12.0 {
            2.0
        } else if pitch >= 5.0 {
            1.0
        } else {
            0.5
        };
        Self { columns, rows: cells.div_ceil(columns).max(1), pitch_px: pitch, gap_px, cells }
    }

    /// The upper left corner of a cell.
    pub fn corner(&self, cell: usize) -> (f64, f64) {
        ((cell % self.columns) as f64 * self.pitch_px, (cell / self.columns) as f64 * self.pitch_px)
    }

    /// The side of a cell.
    pub fn side_px(&self) -> f64 {
        self.pitch_px - self.gap_px
    }

    /// The height of all rows.
    pub fn height_px(&self) -> f64 {
        self.rows as f64 * self.pitch_px
    }

    /// The cell at a point, if there is one.
    pub fn cell_at(&self, x: f64, y: f64) -> Option<usize> {
        if x < 0.0 || y < 0.0 {
            return None;
        }
        let (column, row) = ((x / self.pitch_px) as usize, (y / self.pitch_px) as usize);
        let cell = row * self.columns + column;
        (column < self.columns && cell < self.cells).then_some(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_lies_inside_and_is_found_again() {
        for cells in [1, 12, 200, 4_096] {
            let grid = Grid::fit(cells, 560.0, 240.0);
            assert!(grid.height_px() <= 240.0, "{cells} cells: {grid:?}");
            for cell in 0..cells {
                let (x, y) = grid.corner(cell);
                assert!(x + grid.side_px() <= 560.0);
                assert_eq!(grid.cell_at(x + 1.0, y + 1.0), Some(cell));
            }
        }
    }

    #[test]
    fn outside_there_is_no_cell() {
        let grid = Grid::fit(5, 560.0, 240.0);
        assert_eq!(grid.cell_at(-1.0, 5.0), None);
        assert_eq!(grid.cell_at(5.0 * grid.pitch_px + 1.0, 5.0), None);
        assert_eq!(grid.cell_at(5.0, 1e9), None);
    }

    #[test]
    fn a_narrow_board_still_has_a_column() {
        let grid = Grid::fit(3, 0.0, 0.0);
        assert_eq!((grid.columns, grid.rows), (1, 3));
    }
}
