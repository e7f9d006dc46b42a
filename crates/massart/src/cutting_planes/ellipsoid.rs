//! Localisation by ellipsoids.

use margins_optim::method::Limits;
use margins_optim::problem::summation::dot;

use super::{Cut, Localizer};

/// The ellipsoid `{c + B z : ||z|| <= 1}`, its centre c in the unit ball. The factor B, in the
/// place of `P = B B'`, keeps P positive definite however thin the ellipsoid is.
pub(super) struct Ellipsoid {
    centre: Vec<f64>,
    /// The factor B, by rows.
    factor: Vec<f64>,
}

impl Ellipsoid {
    pub(super) fn unit_ball(columns: usize) -> Self {
        let mut factor = vec![0.0; columns * columns];
        factor.iter_mut().step_by(columns + 1).for_each(|diagonal| *diagonal = 1.0);
        Ellipsoid { centre: vec![0.0; columns], factor }
    }

    /// Returns `B'normal`.
    fn map(&self, normal: &[f64]) -> Vec<f64> {
        let mut mapped = vec![0.0; normal.len()];
        for (row, n) in self.factor.chunks_exact(normal.len()).zip(normal) {
            mapped.iter_mut().zip(row).for_each(|(m, b)| *m += n * b);
        }
        mapped
    }

    /// Replaces the ellipsoid by the smallest one around its part beyond the cut; returns false if
    /// nothing is left.
    fn shrink(&mut self, cut: &Cut) -> bool {
        let n = self.centre.len() as f64;
        let mut direction = self.map(&cut.normal);
        let width = dot(&direction, &direction).sqrt();
        let depth = cut.depth / width;
        // A width of 0, or a depth that leaves at most a point, ends the search.
        if width.is_nan() || width <= f64::MIN_POSITIVE || depth.is_nan() || depth >= 1.0 {
            return false;
        }
        direction.iter_mut().for_each(|m| *m /= width);
        // P becomes `stretch (P - squeeze a a')` with a = B direction.
        let (shift, stretch, squeeze) = if self.centre.len() == 1 {
            ((1.0 + depth) / 2.0, ((1.0 - depth) / 2.0).powi(2), 0.0)
        } else {
            (
                (1.0 + n * depth) / (n + 1.0),
                n * n / (n * n - 1.0) * (1.0 - depth * depth),
                2.0 * (1.0 + n * depth) / ((n + 1.0) * (1.0 + depth)),
            )
        };
        let (scale, lean) = (stretch.sqrt(), (1.0 - squeeze).max(0.0).sqrt() - 1.0);
        for (row, c) in self.factor.chunks_exact_mut(direction.len()).zip(&mut self.centre) {
            let along = dot(row, &direction);
            *c -= shift * along;
            row.iter_mut().zip(&direction).for_each(|(b, m)| *b = scale * (*b + lean * along * m));
        }
        true
    }
}

impl Localizer for Ellipsoid {
    fn centre(&self) -> Vec<f64> {
        self.centre.clone()
    }

    fn width(&self, normal: &[f64]) -> f64 {
        let mapped = self.map(normal);
        dot(&mapped, &mapped).sqrt()
    }

    fn cut(&mut self, cut: &Cut, _: &Limits<'_>) -> bool {
        if !self.shrink(cut) {
            return false;
        }
        // Cuts of the ball itself bring the centre back into the ball.
        loop {
            let norm = dot(&self.centre, &self.centre).sqrt();
            if norm <= 1.0 {
                return true;
            }
            let normal: Vec<f64> = self.centre.iter().map(|c| c / norm).collect();
            if !self.shrink(&Cut { normal, depth: norm - 1.0 }) {
                return false;
            }
        }
    }
}
