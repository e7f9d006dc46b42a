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

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Fact B.4 by ellipsoids: a cut through the centre, or deeper, leaves an ellipsoid of at most
        /// `exp(-1/(2 (d+1)))` of the volume, which holds every point of the old one beyond the cut.
        #[test]
        fn a_cut_takes_its_share_of_the_volume_and_no_point_beyond_it(
            d in 1usize..7,
            numbers in proptest::collection::vec(-1.0..1.0f64, 6 * 8),
            depths in proptest::collection::vec(0.0..0.3f64, 8),
            points in proptest::collection::vec(-1.0..1.0f64, 6 * 40),
        ) {
            let mut ellipsoid = Ellipsoid::unit_ball(d);
            let volume = |ellipsoid: &Ellipsoid| {
                DMatrix::from_row_slice(d, d, &ellipsoid.factor).determinant().abs()
            };
            for (normal, depth) in numbers.chunks_exact(6).zip(&depths) {
                let mut normal = normal[..d].to_vec();
                normal[0] += 1e-3;
                let old = Ellipsoid {
                    centre: ellipsoid.centre.clone(),
                    factor: ellipsoid.factor.clone(),
                };
                let cut = Cut { depth: depth * old.width(&normal), normal };
                prop_assert!(ellipsoid.shrink(&cut));
                let share = volume(&ellipsoid) / volume(&old);
                prop_assert!(share <= (-0.5 / (d as f64 + 1.0)).exp() + 1e-9, "{share}");
                let factor = DMatrix::from_row_slice(d, d, &ellipsoid.factor);
                let inverse = factor.try_inverse().expect("a volume above 0");
                for z in points.chunks_exact(6) {
                    let norm = dot(&z[..d], &z[..d]).sqrt().max(1e-3);
                    // On the surface, and in some cases inside.
                    let length = if z[0] > 0.0 { 1.0 } else { -z[0] };
                    let offset: Vec<f64> = old
                        .factor
                        .chunks_exact(d)
                        .map(|row| dot(row, &z[..d]) * length / norm)
                        .collect();
                    if dot(&cut.normal, &offset) > -cut.depth {
                        continue;
                    }
                    let from_new = (0..d).map(|k| old.centre[k] + offset[k] - ellipsoid.centre[k]);
                    let from_new = DMatrix::from_iterator(d, 1, from_new);
                    let distance = (&inverse * from_new).norm();
                    prop_assert!(distance <= 1.0 + 1e-7, "{distance}");
                }
            }
        }
    }
}
