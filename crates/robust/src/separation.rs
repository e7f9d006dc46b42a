//! Directions along which a mean loss without a penalty decreases without end.

use margins_losses::MarginLoss;
use margins_optim::Objective;
use margins_optim::method::least_squares;
use margins_optim::problem::summation::norm;

/// Returns true if every margin of a sample that counts is positive at a point `(b, w)`.
pub(super) fn separates<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    point: &[f64],
) -> bool {
    margins(objective, point).iter().all(|&(_, margin)| margin > 0.0)
}

/// Returns true if a point `(b, w)` far out leads to a direction `d` with `y_i <d, (1, x_i)> >= 0` for
/// every sample that counts, and above 0 for some of them. A loss that falls for ever then falls for
/// ever along d, so that its mean has no minimum.
///
/// Samples at which the loss is steep are taken to lie on the boundary. The direction is the part of
/// the point that is orthogonal to them, and is tested on all samples, up to a share of 1e-10 of the
/// terms of their scores at the point. A wrong choice of the samples therefore finds no direction, but never a false one.
pub(super) fn quasi_separates<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    point: &[f64],
) -> bool {
    /// Shares of the slope at 0 from which on the loss is steep.
    const STEEP: [f64; 3] = [1e-2, 1e-3, 1e-4];
    let loss = objective.risk().loss();
    let margins = margins(objective, point);
    STEEP.iter().any(|share| {
        let least = share * loss.derivative(0.0).abs();
        let is_steep = |&&(_, margin): &&(usize, f64)| loss.derivative(margin).abs() > least;
        let boundary: Vec<usize> = margins.iter().filter(is_steep).map(|&(row, _)| row).collect();
        boundary.len() < margins.len()
            && orthogonal_part(objective, &boundary, point)
                .is_some_and(|direction| never_falls_back(objective, &direction, point))
    })
}

/// Returns the samples that count, with their margins.
fn margins<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    point: &[f64],
) -> Vec<(usize, f64)> {
    let (risk, design) = (objective.risk(), objective.design());
    let mut scores = vec![0.0; design.rows()];
    design.multiply(&point[1..], &mut scores);
    let margin = |i: usize| risk.signs()[i] * (scores[i] + point[0]);
    let counted = (0..design.rows()).filter(|&i| risk.weights()[i] > 0.0);
    counted.map(|i| (i, margin(i))).collect()
}

/// Returns the part of a point that is orthogonal to the samples of these rows, by conjugate gradients
/// for the part in their span; `None` if nothing is left of it.
fn orthogonal_part<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    rows: &[usize],
    point: &[f64],
) -> Option<Vec<f64>> {
    const ITERATIONS: usize = 500;
    const TOLERANCE: f64 = 1e-15;
    const NOTHING: f64 = 1e-8;
    let design = objective.design();
    let one = f64::from(u8::from(objective.risk().has_intercept()));
    let products = |of: &[f64]| -> Vec<f64> {
        rows.iter().map(|&i| one * of[0] + design.sample(i).dot(&of[1..])).collect()
    };
    let pulled = |factors: &[f64]| {
        let mut sum = vec![0.0; point.len()];
        for (&i, &factor) in rows.iter().zip(factors) {
            sum[0] += one * factor;
            design.sample(i).add_to(factor, &mut sum[1..]);
        }
        sum
    };
    let span = least_squares(&products(point), products, pulled, TOLERANCE, ITERATIONS, || false);
    let left: Vec<f64> = point.iter().zip(span).map(|(x, s)| x - s).collect();
    (norm(&left) > NOTHING * norm(point)).then_some(left)
}

/// Returns true if no margin falls along a direction and some rises, both beyond the rounding of scores
/// at the point that the direction is a part of.
fn never_falls_back<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    direction: &[f64],
    point: &[f64],
) -> bool {
    const ZERO: f64 = 1e-10;
    const RISES: f64 = 1e-6;
    let mut rises = false;
    margins(objective, direction).into_iter().all(|(row, margin)| {
        let mut size = point[0].abs();
        let sample = objective.design().sample(row);
        sample.for_each(|column, value| size += (point[1 + column] * value).abs());
        rises |= margin > RISES * size;
        margin >= -ZERO * size
    }) && rises
}
