//! How far margins move, and the problem merged within that radius.

use margins_losses::MarginLoss;

use crate::Objective;
use crate::problem::{Merged, Point};

/// Returns the problem merged about given margins, with a radius that grows until the merged
/// problem has several samples for each coefficient: few ones leave it all but unbounded. Returns
/// `None` unless that halves the samples; of very many an eighth must do, because they are copied.
pub(super) fn merged<'a, L: MarginLoss + ?Sized>(
    objective: &Objective<'a, L>,
    margins: &[f64],
    radius: &mut f64,
    left_alone: &[bool],
) -> Option<Merged<'a, L>> {
    const SEVERAL: usize = 8;
    const GROWTH: f64 = 4.0;
    /// The stored features, 128 MB of them, from which on samples are very many.
    const MANY: usize = 1 << 24;
    let least = SEVERAL * (objective.design.columns() + 1);
    let rows = objective.design.rows();
    let many = (MANY as f64 / objective.design.stored().max(1) as f64 * rows as f64) as usize;
    let most = (rows / 2).min(many.max(rows / 8));
    if least > most || radius.is_infinite() {
        return None;
    }
    loop {
        let lines = objective.risk.lines(margins, *radius, left_alone);
        if lines.len() > most {
            return None;
        }
        if lines.len() >= least {
            return objective.merged(lines);
        }
        *radius = (GROWTH * *radius).max(f64::MIN_POSITIVE);
    }
}

/// Returns the largest change of a margin between two points.
pub(super) fn farthest(one: &Point, other: &Point) -> f64 {
    let shift = other.intercept - one.intercept;
    let changes = one.products.iter().zip(&other.products).map(|(f, g)| (g - f + shift).abs());
    changes.fold(0.0, f64::max)
}

/// Returns how far margins at the minimiser for m samples may be from those for all, given the variance of
/// scores: those of `p + 1` coefficients are expected to be off by `sqrt((p + 1)/m)` of their standard
/// deviation. `None` if that is 0, or if there are fewer samples than coefficients.
pub(crate) fn radius_near(variance: f64, coefficients: usize, m: usize) -> Option<f64> {
    /// The largest of many errors, in units of the one that is expected.
    const LARGEST: f64 = 6.0;
    let radius = LARGEST * (variance * coefficients as f64 / m as f64).sqrt();
    (radius > 0.0 && coefficients <= m).then_some(radius)
}
