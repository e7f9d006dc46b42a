//! Localisation by analytic centres of the unit ball and the cuts.

use margins_optim::method::Limits;
use margins_optim::problem::summation::dot;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::{Cut, Localizer};

/// The unit ball without the parts that the cuts take away, in coordinates of an orthonormal basis
/// of the normals.
pub(super) struct AnalyticCentre {
    columns: usize,
    basis: Vec<Vec<f64>>,
    /// The cuts `<normal, v> <= offset`, with normals of norm 1.
    cuts: Vec<HalfSpace>,
    centre: DVector<f64>,
    /// True if the point is near the analytic centre.
    is_centred: bool,
}

struct HalfSpace {
    /// The normal in the coordinates of its time; its later coordinates are 0.
    normal: DVector<f64>,
    offset: f64,
}

/// The derivatives of the barrier at a point.
struct Barrier {
    gradient: DVector<f64>,
    hessian: Cholesky<f64, Dyn>,
}

impl AnalyticCentre {
    pub(super) fn unit_ball(columns: usize) -> Self {
        let (basis, cuts, centre) = (Vec::new(), Vec::new(), DVector::zeros(0));
        AnalyticCentre { columns, basis, cuts, centre, is_centred: true }
    }

    /// Returns the coordinates of a vector, the rest outside the span, and the norm of the rest.
    fn coordinates(&self, vector: &[f64]) -> (DVector<f64>, Vec<f64>, f64) {
        let mut rest = vector.to_vec();
        let mut coordinates = DVector::zeros(self.basis.len());
        // Two passes are enough (Giraud, Langou and Rozloznik 2005).
        for _ in 0..2 {
            for (coordinate, axis) in coordinates.iter_mut().zip(&self.basis) {
                let along = dot(&rest, axis);
                rest.iter_mut().zip(axis).for_each(|(r, a)| *r -= along * a);
                *coordinate += along;
            }
        }
        let norm = dot(&rest, &rest).sqrt();
        (coordinates, rest, norm)
    }

    /// Returns the coordinates of a unit normal, after a new axis for it if it needs one.
    fn admit(&mut self, normal: &[f64]) -> DVector<f64> {
        let (coordinates, rest, norm) = self.coordinates(normal);
        // A smaller rest is rounding.
        if norm < 1e-9 || self.basis.len() == self.columns {
            return coordinates;
        }
        self.basis.push(rest.iter().map(|r| r / norm).collect());
        let order = self.basis.len();
        self.centre = std::mem::take(&mut self.centre).insert_row(order - 1, 0.0);
        for cut in &mut self.cuts {
            cut.normal = std::mem::take(&mut cut.normal).insert_row(order - 1, 0.0);
        }
        coordinates.insert_row(order - 1, norm)
    }

    fn value(&self, at: &DVector<f64>) -> Option<f64> {
        let ball = 1.0 - at.norm_squared();
        let mut value = -ball.ln();
        for cut in &self.cuts {
            value -= (cut.offset - cut.normal.dot(at)).ln();
        }
        value.is_finite().then_some(value)
    }

    fn barrier(&self, at: &DVector<f64>) -> Option<Barrier> {
        let order = at.len();
        let ball = 1.0 - at.norm_squared();
        let mut gradient = at * (2.0 / ball);
        let mut hessian = DMatrix::from_diagonal_element(order, order, 2.0 / ball);
        hessian.syger(4.0 / (ball * ball), at, at, 1.0);
        for cut in &self.cuts {
            let inverse = (cut.offset - cut.normal.dot(at)).recip();
            gradient.axpy(inverse, &cut.normal, 1.0);
            hessian.syger(inverse * inverse, &cut.normal, &cut.normal, 1.0);
        }
        Some(Barrier { gradient, hessian: Cholesky::new(hessian)? })
    }

    /// Takes Newton steps from a point inside; returns false if rounding, the number of steps or an
    /// interruption stops them.
    fn recentre(&mut self, limits: &Limits<'_>) -> bool {
        self.is_centred = false;
        const STEPS: usize = 50;
        // The Newton decrement at which a point serves as the centre.
        const NEAR: f64 = 1e-2;
        for _ in 0..STEPS {
            if limits.is_interrupted() {
                return false;
            }
            let (Some(barrier), Some(before)) =
                (self.barrier(&self.centre), self.value(&self.centre))
            else {
                return false;
            };
            let direction = barrier.hessian.solve(&barrier.gradient);
            let decrement = barrier.gradient.dot(&direction).max(0.0).sqrt();
            if decrement <= NEAR {
                self.is_centred = true;
                return true;
            }
            // The damped step stays inside and lowers a self-concordant function; longer ones may
            // do more.
            let damped = 1.0 / (1.0 + decrement);
            let mut length = 1.0;
            loop {
                let next = &self.centre - &direction * length;
                let enough = before - 0.1 * length * decrement * decrement;
                if length <= damped || self.value(&next).is_some_and(|value| value <= enough) {
                    self.centre = &self.centre - &direction * length.max(damped);
                    break;
                }
                length /= 2.0;
            }
        }
        false
    }
}

impl Localizer for AnalyticCentre {
    fn centre(&self) -> Vec<f64> {
        let mut centre = vec![0.0; self.columns];
        for (coordinate, axis) in self.centre.iter().zip(&self.basis) {
            centre.iter_mut().zip(axis).for_each(|(c, a)| *c += coordinate * a);
        }
        centre
    }

    /// Returns a bound on the width of the set along a normal.
    ///
    /// The set is within `theta + 2 sqrt theta` times the Dikin ellipsoid at its centre, where
    /// theta = cuts + 1 is the parameter of the barrier (Nesterov and Nemirovskii 1994); the bound
    /// is a little larger because the point is only near the centre.
    fn width(&self, normal: &[f64]) -> f64 {
        let (coordinates, _, rest) = self.coordinates(normal);
        let theta = self.cuts.len() as f64 + 1.0;
        let Some(barrier) = self.barrier(&self.centre).filter(|_| self.is_centred) else {
            return f64::INFINITY;
        };
        let dual_norm = coordinates.dot(&barrier.hessian.solve(&coordinates)).max(0.0).sqrt();
        1.1 * (theta + 2.0 * theta.sqrt()) * dual_norm + rest
    }

    fn cut(&mut self, cut: &Cut, limits: &Limits<'_>) -> bool {
        let norm = dot(&cut.normal, &cut.normal).sqrt();
        if norm.is_nan() || norm <= f64::MIN_POSITIVE {
            return false;
        }
        let unit: Vec<f64> = cut.normal.iter().map(|n| n / norm).collect();
        let normal = self.admit(&unit);
        let here = normal.dot(&self.centre);
        let target = here - cut.depth / norm;
        // The cut comes in from behind the centre and moves up as the centre retreats from it.
        const ROUNDS: usize = 200;
        const THIN: f64 = 1e-9;
        let behind = (1.0 - self.centre.norm_squared()).sqrt();
        self.cuts.push(HalfSpace { normal, offset: here + 0.5 * behind });
        for _ in 0..ROUNDS {
            if !self.recentre(limits) {
                return false;
            }
            let Some(last) = self.cuts.last_mut() else { return false };
            let slack = last.offset - last.normal.dot(&self.centre);
            if last.offset <= target {
                return slack > THIN;
            }
            if slack <= THIN {
                return false;
            }
            last.offset = target.max(last.offset - 0.75 * slack);
        }
        false
    }
}
