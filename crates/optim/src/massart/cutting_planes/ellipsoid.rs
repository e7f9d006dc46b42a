use super::{Cut, Localizer, dot};

/// `{v : (v - c)' P^{-1} (v - c) <= 1}`, with its centre in the unit ball.
pub(super) struct Ellipsoid {
    centre: Vec<f64>,
    /// P, by rows; symmetric.
    shape: Vec<f64>,
}

impl Ellipsoid {
    pub(super) fn unit_ball(columns: usize) -> Self {
        let mut shape = vec![0.0; columns * columns];
        shape.iter_mut().step_by(columns + 1).for_each(|diagonal| *diagonal = 1.0);
        Ellipsoid { centre: vec![0.0; columns], shape }
    }

    /// `P normal`.
    fn map(&self, normal: &[f64]) -> Vec<f64> {
        self.shape.chunks_exact(normal.len()).map(|row| dot(row, normal)).collect()
    }

    /// The smallest ellipsoid around the part of this one beyond the cut.
    fn shrink(&mut self, cut: &Cut) -> bool {
        let n = self.centre.len() as f64;
        let mapped = self.map(&cut.normal);
        let width = dot(&mapped, &cut.normal).max(0.0).sqrt();
        let depth = cut.depth / width;
        // A width of 0, or a depth that leaves at most a point.
        if width.is_nan() || width <= f64::MIN_POSITIVE || depth.is_nan() || depth >= 1.0 {
            return false;
        }
        let along: Vec<f64> = mapped.iter().map(|m| m / width).collect();
        let (shift, stretch, squeeze) = if self.centre.len() == 1 {
            ((1.0 + depth) / 2.0, ((1.0 - depth) / 2.0).powi(2), 0.0)
        } else {
            (
                (1.0 + n * depth) / (n + 1.0),
                n * n / (n * n - 1.0) * (1.0 - depth * depth),
                2.0 * (1.0 + n * depth) / ((n + 1.0) * (1.0 + depth)),
            )
        };
        self.centre.iter_mut().zip(&along).for_each(|(c, a)| *c -= shift * a);
        for (row, a) in self.shape.chunks_exact_mut(along.len()).zip(&along) {
            row.iter_mut().zip(&along).for_each(|(p, b)| *p = stretch * (*p - squeeze * a * b));
        }
        true
    }
}

impl Localizer for Ellipsoid {
    fn centre(&self) -> Vec<f64> {
        self.centre.clone()
    }

    fn width(&self, normal: &[f64]) -> f64 {
        dot(&self.map(normal), normal).max(0.0).sqrt()
    }

    fn cut(&mut self, cut: &Cut) -> bool {
        if !self.shrink(cut) {
            return false;
        }
        // Back to a centre in the ball, by cuts that the ball itself gives.
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
