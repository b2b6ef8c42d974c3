//! Least squares with weights, coefficients that are not negative, and little regard for outliers.

/// Most coefficients.
pub(super) const COLUMNS: usize = 5;

/// One equation: the sum of `terms` times their coefficients is to be 1, a right side that every row is divided by before.
/// So residuals are shares of what was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) terms: [f64; COLUMNS],
    pub(super) weight: f64,
}

/// No ratio of what is found to what was measured is taken to be smaller.
const RATIO_MIN: f64 = 0.01;
/// Rounds of weighing anew; it settles long before.
const ROUNDS: u32 = 40;
/// Residuals up to so many deviations count in full (Huber's constant, 95 % efficient where errors are normal).
const HUBER: f64 = 1.345;
/// A median absolute deviation times this is a standard deviation where errors are normal.
const MAD_TO_DEVIATION: f64 = 1.4826;
/// No deviation is taken to be smaller than this: rows that agree to the last digit are no reason to call others outliers.
const DEVIATION_MIN: f64 = 0.01;

/// The coefficients, by iteratively reweighted least squares with Huber's weights. Columns that are not `used` have 0; those
/// that are `needed` must be positive. `None` when the rows do not determine such coefficients.
pub(super) fn solve(rows: &[Row], used: u32, needed: u32) -> Option<[f64; COLUMNS]> {
    let mut weights: Vec<f64> = rows.iter().map(|row| row.weight).collect();
    let mut found = nonnegative(rows, &weights, used, needed)?;
    for _ in 0..ROUNDS {
        let ratios: Vec<f64> = rows.iter().map(|row| (1.0 + residual(row, &found)).max(RATIO_MIN)).collect();
        let mut sizes: Vec<f64> = ratios.iter().map(|ratio| ratio.ln().abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let bound = HUBER * (MAD_TO_DEVIATION * sizes[sizes.len() / 2]).max(DEVIATION_MIN);
        for ((weight, row), &ratio) in weights.iter_mut().zip(rows).zip(&ratios) {
            *weight = row.weight * even(ratio) * (bound / ratio.ln().abs().max(bound));
        }
        found = nonnegative(rows, &weights, used, needed)?;
    }
    Some(found)
}

/// The weight with which the square of a residual pulls as hard as that of the logarithm of the ratio does: half of what
/// was measured is as far off as twice of it.
fn even(ratio: f64) -> f64 {
    let residual = ratio - 1.0;
    // Near 1 the two are the same.
    if residual.abs() < 1e-6 { 1.0 } else { ratio.ln() / (ratio * residual) }
}

fn residual(row: &Row, found: &[f64; COLUMNS]) -> f64 {
    row.terms.iter().zip(found).map(|(term, coefficient)| term * coefficient).sum::<f64>() - 1.0
}

/// The best of all choices of columns that give no negative coefficient. With five columns that is few.
fn nonnegative(rows: &[Row], weights: &[f64], used: u32, needed: u32) -> Option<[f64; COLUMNS]> {
    let mut best: Option<(f64, [f64; COLUMNS])> = None;
    for columns in (1..1u32 << COLUMNS).filter(|it| it & !used == 0 && it & needed == needed) {
        let Some(found) = normal_equations(rows, weights, columns) else { continue };
        let positive = (0..COLUMNS).all(|at| columns >> at & 1 == 0 || found[at] > 0.0);
        let sum: f64 =
            rows.iter().zip(weights).map(|(row, weight)| weight * residual(row, &found).powi(2)).sum();
        if positive && best.is_none_or(|(least, _)| sum < least) {
            best = Some((sum, found));
        }
    }
    best.map(|(_, found)| found)
}

fn normal_equations(rows: &[Row], weights: &[f64], columns: u32) -> Option<[f64; COLUMNS]> {
    let chosen: Vec<usize> = (0..COLUMNS).filter(|at| columns >> at & 1 == 1).collect();
    // Columns differ by many orders of magnitude: each is divided by its length.
    let length = |at: usize| {
        let squares = rows.iter().zip(weights).map(|(row, weight)| weight * row.terms[at] * row.terms[at]);
        squares.sum::<f64>().sqrt()
    };
    let lengths: Vec<f64> = chosen.iter().map(|&at| length(at)).collect();
    if rows.len() < chosen.len() || lengths.iter().any(|length| !length.is_normal()) {
        return None;
    }
    let count = chosen.len();
    let mut matrix = [[0.0; COLUMNS + 1]; COLUMNS];
    for (row, weight) in rows.iter().zip(weights) {
        for (i, &at) in chosen.iter().enumerate() {
            let scaled = weight * row.terms[at] / lengths[i];
            for (j, &other) in chosen.iter().enumerate() {
                matrix[i][j] += scaled * row.terms[other] / lengths[j];
            }
            matrix[i][count] += scaled;
        }
    }
    let solved = eliminate(&mut matrix, count)?;
    let mut found = [0.0; COLUMNS];
    for (i, &at) in chosen.iter().enumerate() {
        found[at] = solved[i] / lengths[i];
    }
    Some(found)
}

/// Gauss, with the largest pivot. `None` when one is next to nothing: the columns say the same.
fn eliminate(matrix: &mut [[f64; COLUMNS + 1]; COLUMNS], count: usize) -> Option<[f64; COLUMNS]> {
    const PIVOT_MIN: f64 = 1e-10;
    for at in 0..count {
        let pivot = (at..count).max_by(|&a, &b| matrix[a][at].abs().total_cmp(&matrix[b][at].abs()))?;
        matrix.swap(at, pivot);
        if matrix[at][at].abs() < PIVOT_MIN {
            return None;
        }
        let row = matrix[at];
        for other in (0..count).filter(|&other| other != at) {
            let factor = matrix[other][at] / row[at];
            for (cell, above) in matrix[other].iter_mut().zip(row) {
                *cell -= factor * above;
            }
        }
    }
    let mut solved = [0.0; COLUMNS];
    for at in 0..count {
        solved[at] = matrix[at][count] / matrix[at][at];
    }
    Some(solved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(x: f64, y: f64) -> Row {
        Row { terms: [1.0 / y, x / y, 0.0, 0.0, 0.0], weight: 1.0 }
    }

    #[test]
    fn a_line_is_found_and_one_outlier_hardly_moves_it() {
        let mut rows: Vec<Row> = (1..=12).map(|x| row(f64::from(x), 7.0 + 3.0 * f64::from(x))).collect();
        let exact = solve(&rows, 0b11, 0b10).expect("two points are enough");
        assert!((exact[0] - 7.0).abs() < 1e-6 && (exact[1] - 3.0).abs() < 1e-6, "{exact:?}");
        rows.push(row(6.0, 250.0));
        let found = solve(&rows, 0b11, 0b10).expect("as before");
        assert!((found[0] - 7.0).abs() < 0.3 && (found[1] - 3.0).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn what_would_be_negative_is_nothing_and_what_is_needed_is_there_or_there_is_no_answer() {
        let rows: Vec<Row> = (2..=9).map(|x| row(f64::from(x), 3.0 * f64::from(x) - 4.0)).collect();
        let found = solve(&rows, 0b11, 0b10).expect("a line through nothing");
        assert_eq!(found[0], 0.0);
        assert!(found[1] > 2.0 && found[1] < 3.0, "{found:?}");
        let same = [row(1.0, 5.0), row(1.0, 5.0)];
        assert_eq!(solve(&same, 0b11, 0b11), None, "they say the same");
        assert_eq!(solve(&[], 0b11, 0b10), None);
        let falls: Vec<Row> = (1..=9).map(|x| row(f64::from(x), 100.0 - f64::from(x))).collect();
        assert!(solve(&falls, 0b11, 0b11).is_none());
    }
}
