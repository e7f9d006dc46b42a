//! Steps within the face of free coefficients.

use margins_optim::Lambda;
use margins_optim::method::GrowingCholesky;
use margins_optim::problem::summation::dot;

use super::problem::Problem;
use super::values::Values;
use crate::room::{is_free, matrices};

/// The largest order of a face: its factor takes 128 MiB and half a second.
const MOST_MEMBERS: usize = 4096;

/// The share of the largest diagonal entry that is added to the diagonal of the matrix of a face.
const DAMPING: f64 = 1e-12;

/// The set of points of the dual that differ in the coefficients between their bounds alone, the
/// free ones.
///
/// There the dual is a concave quadratic function. One system of equations leads to its largest
/// value, unless a bound is met on the way: then that coefficient leaves the face, and the next
/// system is smaller by one.
pub(super) struct Face<'p, 'a> {
    problem: &'p Problem<'a>,
    lambda: Lambda,
    members: Vec<usize>,
    coef: Vec<f64>,
    gradient: Vec<f64>,
    damping: f64,
    factor: GrowingCholesky<f64>,
}

impl<'p, 'a> Face<'p, 'a> {
    /// Returns the face that a point lies in; `None` if no step in it is possible, if it is too large
    /// for the memory, or if its matrix has no factor.
    pub(super) fn of(
        problem: &'p Problem<'a>,
        values: Values<'_>,
        lambda: Lambda,
        members: Vec<usize>,
        (coef, gradient): (&[f64], &[f64]),
    ) -> Option<Self> {
        let order = members.len();
        // The matrix, and its factor.
        let has_room = || is_free(matrices(2, order));
        if order <= usize::from(problem.intercept) || order > MOST_MEMBERS || !has_room() {
            return None;
        }
        let matrix = values.among(&members);
        let damping = DAMPING * matrix.diagonal().iter().copied().fold(0.0, f64::max);
        let mut factor = GrowingCholesky::new(order);
        let definite =
            factor.extend(order, |k, l| matrix[(k, l)] + if k == l { damping } else { 0.0 });
        definite.then(|| Face {
            problem,
            lambda,
            coef: members.iter().map(|&i| coef[i]).collect(),
            gradient: members.iter().map(|&i| gradient[i]).collect(),
            members,
            damping,
            factor,
        })
    }

    /// Climbs towards the top of the face, or of the one that it ends in, writes the coefficients,
    /// and returns the number of steps. It stops where more of them would cost more than a new
    /// factor, or after `most` steps.
    pub(super) fn climb(mut self, coef: &mut [f64], most: usize) -> usize {
        let most = most.min(10 + self.members.len() / 16);
        let mut steps = 0;
        while steps < most && self.members.len() > usize::from(self.problem.intercept) {
            steps += 1;
            let (step, slope) = self.direction();
            let Some((bound, share)) = self.bound_met(&step) else {
                self.advance(&step, &slope, 1.0);
                break;
            };
            self.advance(&step, &slope, share);
            self.leave(bound, step[bound] > 0.0, coef);
        }
        self.members.iter().zip(&self.coef).for_each(|(&i, &a)| coef[i] = a);
        steps
    }

    /// Returns the step to the top of the face, and the gradient less the threshold that it then
    /// has everywhere.
    fn direction(&self) -> (Vec<f64>, Vec<f64>) {
        let mut slope = self.gradient.clone();
        if self.problem.intercept {
            let mut answer = vec![1.0; slope.len()];
            self.factor.solve(&mut answer);
            let sum: f64 = answer.iter().sum();
            let threshold = dot(&answer, &self.gradient) / sum;
            slope.iter_mut().for_each(|g| *g -= threshold);
        }
        let mut step = slope.clone();
        self.factor.solve(&mut step);
        (step, slope)
    }

    /// Returns the coefficient that first meets a bound, and the share of the step up to there, if
    /// it is not the whole.
    fn bound_met(&self, step: &[f64]) -> Option<(usize, f64)> {
        let room = |k: usize| {
            let (lower, upper) = self.problem.bounds(self.members[k], self.lambda);
            let bound = if step[k] > 0.0 { upper } else { lower };
            if step[k] == 0.0 { f64::INFINITY } else { (bound - self.coef[k]) / step[k] }
        };
        (0..step.len())
            .map(|k| (k, room(k)))
            .filter(|&(_, share)| share < 1.0)
            .min_by(|one, other| one.1.total_cmp(&other.1))
    }

    fn advance(&mut self, step: &[f64], slope: &[f64], share: f64) {
        for k in 0..step.len() {
            self.coef[k] += share * step[k];
            // The matrix without damping takes the step to this.
            self.gradient[k] -= share * (slope[k] - self.damping * step[k]);
        }
    }

    /// Takes member k, which has met a bound, out of the face.
    fn leave(&mut self, k: usize, at_upper: bool, coef: &mut [f64]) {
        let i = self.members.remove(k);
        let (lower, upper) = self.problem.bounds(i, self.lambda);
        coef[i] = if at_upper { upper } else { lower };
        self.coef.remove(k);
        self.gradient.remove(k);
        self.factor.remove(k);
    }
}

#[cfg(test)]
mod tests {
    use margins_optim::Lambda;
    use nalgebra::DMatrix;

    use super::super::point::SvmPoint;
    use super::super::problem::Problem;
    use super::super::values::Values;
    use super::Face;
    use crate::Gram;

    /// With few samples at bounds at first, many meet one on the way.
    #[test]
    fn at_the_top_the_free_coefficients_have_one_gradient() {
        let n = 40;
        let x = |i: usize| (7.0 * i as f64).sin();
        let gram = DMatrix::from_fn(n, n, |i, j| (-4.0 * (x(i) - x(j)).powi(2)).exp());
        let gram = Gram::precomputed(gram).expect("positive semidefinite");
        let values = Values::of(gram.entries()).expect("held");
        let signs: Vec<f64> =
            (0..n).map(|i| if i.is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
        let lambda = Lambda::new(1e-3).expect("positive");
        for intercept in [true, false] {
            let problem = Problem::new(&gram, &signs, None, intercept).expect("a problem");
            let size = 0.5 / (2.0 * n as f64 * lambda.get());
            let start: Vec<f64> = signs.iter().map(|y| y * size).collect();
            let before = SvmPoint::of(&problem, lambda, start.clone());
            let mut coef = start;
            let mut gradient = before.gradient.clone();
            // Each face ends after some steps; the next one begins with those that are free still.
            for _ in 0..10 {
                let free = free(&problem, lambda, &coef);
                let start = (&*coef.clone(), &*gradient);
                let face = Face::of(&problem, values, lambda, free, start).expect("a factor");
                assert!(face.climb(&mut coef, usize::MAX) > 0);
                gradient = SvmPoint::of(&problem, lambda, coef.clone()).gradient;
            }
            let after = SvmPoint::of(&problem, lambda, coef.clone());
            assert!(after.objective - after.gap > before.objective - before.gap);
            let free = free(&problem, lambda, &coef);
            assert!(free.len() > 2 && free.len() < n - 10, "{} free", free.len());
            let level = if intercept { after.gradient[free[0]] } else { 0.0 };
            for i in free {
                let g = after.gradient[i];
                assert!((g - level).abs() < 1e-8, "sample {i}: {g} {level}");
            }
            for (i, a) in coef.iter().enumerate() {
                let (lower, upper) = problem.bounds(i, lambda);
                assert!(lower <= *a && *a <= upper, "coefficient {i}: {a}");
            }
        }
    }

    fn free(problem: &Problem<'_>, lambda: Lambda, coef: &[f64]) -> Vec<usize> {
        let inside = |&i: &usize| {
            let (lower, upper) = problem.bounds(i, lambda);
            lower < coef[i] && coef[i] < upper
        };
        (0..coef.len()).filter(inside).collect()
    }
}
