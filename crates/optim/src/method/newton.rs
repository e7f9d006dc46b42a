//! Semismooth Newton with line search, on a dense system or by conjugate gradients.
//!
//! Where `L'` has a kink, as the leaky hockey stick's at the margin 1, any element of its
//! generalised derivative serves (Qi and Sun 1993); the line search makes the method globally
//! convergent and the exact intercept after every step keeps the dual point feasible.

mod by_class;
mod curved;
mod equation;
mod sampled;
mod system;

use std::time::Instant;

use crate::certificate::{Evaluator, dual};
use crate::method::Ending;
use crate::method::descent::{Descent, descend};
use crate::problem::summation::dot;
use crate::problem::{MarginSummary, Point, Products};
use crate::space::Samples;
use crate::{Certificate, Lambda, Options};
use equation::Equation;

pub(crate) use system::{LARGEST_DENSE_ORDER, System};

const DEFAULT_ITERATIONS: usize = 200;

pub(crate) struct Newton<'e, S: Samples> {
    evaluator: &'e mut Evaluator<S>,
    system: &'e mut System,
    /// The duals that certify the last point, if they are not the slopes there.
    witness: Option<S::Duals>,
    /// The time at which directions are left as they are.
    deadline: Option<Instant>,
}

impl<'e, S: Samples> Newton<'e, S> {
    /// Returns the method for samples, with the system that its steps solve.
    pub(crate) fn new(evaluator: &'e mut Evaluator<S>, system: &'e mut System) -> Self {
        Newton { evaluator, system, witness: None, deadline: None }
    }

    /// Returns the duals that certify the point reached, if they are not the slopes there.
    pub(crate) fn into_witness(self) -> Option<S::Duals> {
        self.witness
    }

    /// Returns the duals that certify the point reached: feasible ones.
    pub(crate) fn into_duals(self) -> S::Duals {
        let Newton { evaluator: Evaluator { samples, .. }, witness, .. } = self;
        let mut duals = witness.unwrap_or_else(|| samples.duals());
        samples.balance(&mut duals);
        duals
    }

    /// Returns true if rounding may keep the gap by the gradient above a tolerance. In memory that is
    /// not asked, for other duals cost little there; elsewhere they cost rounds of messages, and where
    /// a loss was smoothed it is mostly a kink that keeps up the gap.
    fn rounding_shows(&mut self, lambda: Lambda, tolerance: f64) -> bool {
        /// The share of the tolerance from which on rounding is in the way.
        const SHARE: f64 = 0.01;
        let samples = &mut self.evaluator.samples;
        if !samples.is_smoothed() {
            return true;
        }
        let sums = samples.sums();
        let error = samples.extent().pull_error(sums.slopes);
        0.25 * error * error / lambda.get() > SHARE * tolerance * sums.risk.abs()
    }

    /// Returns the ridges in the equation of a step, where the curvatures are kept. Those of free columns
    /// are in proportion to the gradient in the free part (Levenberg and Marquardt), so that they fade
    /// towards the minimum, but small beside the curvature in their column if it has any.
    ///
    /// Where every margin is on a straight part of the loss, no column has curvature, and H would be
    /// singular: the intercept is settled exactly, but free columns are not.
    fn ridges(&mut self, ridge: f64, gradient: &[f64]) -> Vec<f64> {
        /// The factor in units of slope and size, with which the first steps move scores by at most about
        /// 30.
        const SHARE: f64 = 0.03;
        /// The factor beside the curvature in a column: more would slow down steps where columns are
        /// nearly dependent on the samples with curvature.
        const TINY: f64 = 1e-12;
        let mut ridges = vec![ridge; gradient.len()];
        let Evaluator { samples, free, passes, .. } = &mut *self.evaluator;
        if free.is_empty() {
            return ridges;
        }
        let mut diagonal = vec![0.0; gradient.len() + 1];
        samples.diagonal(&mut diagonal);
        *passes += 1;
        let size = |j: usize| samples.extent().size(j);
        let relative = |&j: &usize| if size(j) > 0.0 { gradient[j].abs() / size(j) } else { 0.0 };
        let slope = free.get().iter().map(relative).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        for &j in free.get() {
            let damping = SHARE * slope * size(j) * size(j);
            let curvature = diagonal[j + 1];
            let most = if curvature > 0.0 { TINY * curvature } else { f64::INFINITY };
            ridges[j] = damping.min(most);
        }
        ridges
    }

    /// Returns the duals that the equations of the step ask for, given the distance of w from the
    /// `v/(2 lambda)` of other duals: the equations are solved once more for the residual that
    /// rounding left.
    fn correct(&mut self, lambda: Lambda, duals: S::Duals, apart: &[f64]) -> S::Duals {
        let ridge = 2.0 * lambda.get();
        let gradient: Vec<f64> = apart.iter().map(|a| ridge * a).collect();
        let ridges = &*self.ridges(ridge, &gradient);
        let has_free = !self.evaluator.free.is_empty();
        let Evaluator { samples, passes, .. } = &mut *self.evaluator;
        let (gradient, deadline, enough) = (&*gradient, self.deadline, 0.0);
        let mut equation =
            Equation { samples, ridge, ridges, has_free, gradient, enough, deadline };
        let (intercept, coef) = self.system.solve_again(&mut equation, passes);
        let products = samples.products(&coef);
        *passes += 1;
        let mut corrected = samples.predict(duals, &Point { intercept, coef, products });
        samples.balance(&mut corrected);
        corrected
    }

    /// Minimises F from a point, in place.
    pub(crate) fn minimize(
        &mut self,
        lambda: Lambda,
        point: &mut Point<S::Products>,
        options: &Options,
    ) -> Ending {
        /// The number of times that the search continues with recomputed products.
        const ROUNDS: usize = 2;
        let limit = options.max_iterations.unwrap_or(DEFAULT_ITERATIONS);
        self.deadline = options.deadline;
        let mut ending = descend(self, lambda, point, options, limit);
        for _ in 0..ROUNDS {
            if !self.evaluator.has_drifted(point) {
                return ending;
            }
            self.evaluator.refresh(point);
            let left = limit.saturating_sub(ending.iterations);
            let options = Options { max_iterations: Some(left), ..*options };
            ending = descend(self, lambda, point, &options, left).after(ending);
        }
        if self.evaluator.has_drifted(point) {
            self.evaluator.refresh(point);
            ending = ending.certified_by(self.certify(lambda, point), options.tolerance);
        }
        ending
    }
}

impl<S: Samples> Descent for Newton<'_, S> {
    type Products = S::Products;

    fn certify(&mut self, lambda: Lambda, point: &mut Point<S::Products>) -> Certificate {
        self.witness = None;
        self.evaluator.settle_intercept(point);
        dual::certificate_of(self.evaluator, lambda, point)
    }

    fn certify_step(
        &mut self,
        lambda: Lambda,
        point: &Point<S::Products>,
        direction: &Point<S::Products>,
        t: f64,
    ) -> (Point<()>, Certificate) {
        self.witness = None;
        let next = self.evaluator.settle_step(point, direction, t);
        let certificate = dual::certificate_of(self.evaluator, lambda, &next);
        (next, certificate)
    }

    fn certify_by_model(
        &mut self,
        lambda: Lambda,
        from: &Point<S::Products>,
        direction: &Point<S::Products>,
        next: &Point<()>,
        tolerance: f64,
    ) -> Option<Certificate> {
        /// The largest number of corrections of the duals, each at the cost of three products with
        /// the data.
        const MOST_CORRECTIONS: usize = 3;
        if !self.rounding_shows(lambda, tolerance) {
            return None;
        }
        // What conjugate gradients leave of the equations is in their duals: worth it only where
        // rounding is worse.
        if !self.system.is_factorised() && !self.evaluator.samples.extent().is_wide(lambda) {
            return None;
        }
        self.evaluator.intercept_slope(from);
        let samples = &mut self.evaluator.samples;
        samples.keep_curvatures();
        let slopes = samples.duals();
        let mut duals = samples.predict(slopes, direction);
        samples.balance(&mut duals);
        let products = from.products.plus(1.0, &direction.products);
        let next = &Point { intercept: next.intercept, coef: next.coef.clone(), products };
        let (mut certificate, mut apart) = dual::certify(self.evaluator, lambda, next, &duals);
        for _ in 0..MOST_CORRECTIONS {
            if certificate.relative_gap() <= tolerance {
                break;
            }
            let corrected = self.correct(lambda, duals.clone(), &apart);
            let (next, next_apart) = dual::certify(self.evaluator, lambda, next, &corrected);
            if next.duality_gap >= certificate.duality_gap || next.duality_gap.is_nan() {
                break;
            }
            (duals, certificate, apart) = (corrected, next, next_apart);
        }
        self.evaluator.samples.forget_curvatures();
        self.witness = Some(duals);
        Some(certificate)
    }

    fn slope_along(
        &mut self,
        lambda: Lambda,
        point: &Point<S::Products>,
        direction: &Point<S::Products>,
        t: f64,
    ) -> f64 {
        self.evaluator.slope_along(lambda, point, direction, t)
    }

    fn direction(
        &mut self,
        lambda: Lambda,
        certificate: &Certificate,
        tolerance: f64,
    ) -> (Point<S::Products>, f64) {
        let ridge = 2.0 * lambda.get();
        self.evaluator.samples.keep_curvatures();
        let gradient = std::mem::take(&mut self.evaluator.gradient);
        let ridges = &*self.ridges(ridge, &gradient);
        self.evaluator.gradient = gradient;
        let has_free = !self.evaluator.free.is_empty();
        let Evaluator { samples, gradient, passes, .. } = &mut *self.evaluator;
        // This is half of the gradient norm at which the gap reaches the tolerance; a gradient in the
        // free part has no such bound.
        let enough = (tolerance * certificate.objective.abs() * lambda.get()).sqrt();
        let enough = if has_free { 0.0 } else { enough };
        let deadline = self.deadline;
        let mut equation =
            Equation { samples, ridge, ridges, has_free, gradient, enough, deadline };
        let (intercept, coef) = self.system.solve(&mut equation, passes);
        samples.forget_curvatures();
        let products = samples.products(&coef);
        *passes += 1;
        let direction = Point { intercept, coef, products };
        let slope = dot(gradient, &direction.coef);
        (direction, slope)
    }

    fn passes(&self) -> usize {
        self.evaluator.passes
    }

    fn margins(&mut self) -> MarginSummary {
        self.evaluator.samples.summary()
    }
}

#[cfg(test)]
mod tests {
    use margins_data::{Design, Labels};
    use margins_losses::{LeakyHockeyStick, MarginLoss};

    use super::{Newton, System};
    use crate::certificate::Evaluator;
    use crate::problem::Point;
    use crate::{Lambda, Objective, Options, Status};

    /// The dense system and conjugate gradients reach the same minimum, with and without intercept.
    #[test]
    fn conjugate_gradients_agree_with_the_dense_system() {
        let rows: Vec<Vec<f64>> = (0..40)
            .map(|i| (0..12).map(|j| ((i * j + 3 * i + j) as f64 * 0.37).sin()).collect())
            .collect();
        let signs = (0..40).map(|i| if (i * i) % 7 < 3 { 1.0 } else { -1.0 }).collect();
        let design = Design::from_rows(&rows).expect("finite");
        let labels = Labels::from_signs(signs).expect("two classes");
        let with =
            Objective::new(&LeakyHockeyStick as &dyn MarginLoss, &design, &labels).expect("fits");
        let without = with.clone().without_intercept();
        for objective in [with, without] {
            for lambda in [1.0, 1e-2, 1e-5] {
                let lambda = Lambda::new(lambda).expect("positive");
                let solve = |mut system: System| {
                    let mut point = Point::zero(40, 12);
                    let mut evaluator = Evaluator::in_memory(&objective);
                    let options = Options { tolerance: 1e-9, ..Options::default() };
                    Newton::new(&mut evaluator, &mut system).minimize(lambda, &mut point, &options)
                };
                let dense = solve(System::dense(12));
                let iterative = solve(System::conjugate_gradients());
                for ending in [&dense, &iterative] {
                    assert_eq!(ending.status, Status::Converged, "{lambda} {ending:?}");
                }
                let difference = dense.certificate.objective - iterative.certificate.objective;
                assert!(difference.abs() <= 2e-9 * dense.certificate.objective.abs());
            }
        }
    }

    /// A loss with two methods and nothing else: all the rest is numerical.
    #[derive(Debug)]
    struct Bare;

    impl MarginLoss for Bare {
        fn value(&self, u: f64) -> f64 {
            LeakyHockeyStick.value(u)
        }
        fn derivative(&self, u: f64) -> f64 {
            LeakyHockeyStick.derivative(u)
        }
    }

    #[test]
    fn a_loss_with_two_methods_is_fitted() {
        let design =
            Design::from_rows(&[[0.0, 1.0], [1.0, 3.0], [2.0, 0.5], [3.0, 1.0]]).expect("ok");
        let labels = Labels::from_signs(vec![-1.0, -1.0, 1.0, 1.0]).expect("two classes");
        let lambda = Lambda::new(0.1).expect("positive");
        let solve = |loss: &dyn MarginLoss| {
            let objective = Objective::new(loss, &design, &labels).expect("fits");
            crate::fit(&objective, lambda, &Options::default()).expect("convex").report
        };
        let (bare, full) = (solve(&Bare), solve(&LeakyHockeyStick));
        assert!(bare.converged() && full.converged());
        assert!((bare.objective - full.objective).abs() < 1e-6 * full.objective.abs());
    }
}
