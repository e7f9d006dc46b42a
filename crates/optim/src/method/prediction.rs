//! The prediction of the processor seconds of a method. The constants are fits to
//! `benches/peers/methods.py`.

use margins_data::Design;
use margins_losses::MarginLoss;

use crate::method::costs::{Shape, cholesky, eigendecomposition, reflections};
use crate::method::{Coordinates, LARGEST_DENSE_ORDER, Method, READ_ONCE};
use crate::problem::summation::norm;
use crate::problem::{MOST_OF_A_PART, Objective, part_of};
use crate::space::Extent;
use crate::{Lambda, Solver};

/// A margin at which losses that have a flat part are flat, and those that rise again rise.
const FAR: f64 = 10.0;

/// The properties of a problem on which predictions depend.
pub(super) struct Problem {
    pub(super) shape: Shape,
    /// The number of lambdas, and the least of them.
    pub(super) count: f64,
    pub(super) lambda: f64,
    /// The mean squared norm of a sample.
    pub(super) mean_square: f64,
    /// About the largest eigenvalue of `X'X/n`.
    pub(super) steepness: f64,
    /// About the number of features over which the squares of values spread.
    pub(super) spread: f64,
    /// The largest second derivative of the loss; `None` if it has a kink.
    pub(super) curvature: Option<f64>,
    /// True if the loss falls at every margin, as the logistic one does.
    pub(super) falls_everywhere: bool,
    /// True if features are of very different sizes.
    pub(super) is_wide: bool,
    /// True if they are, and are brought to one size by dense systems.
    pub(super) reflects: bool,
    /// True if Newton's method begins at the minimiser for a part of the samples.
    pub(super) begins_on_part: bool,
    pub(super) has_intercept: bool,
}

impl Problem {
    /// Returns a problem whose values have [not been inspected](Self::by_values) yet.
    pub(super) fn new<L: MarginLoss + ?Sized>(
        objective: &Objective<'_, L>,
        lambdas: &[Lambda],
    ) -> Self {
        let (design, loss) = (&objective.design, objective.risk.loss);
        let (n, p) = (design.rows() as f64, design.columns() as f64);
        let mean_square = objective.mean_square();
        Problem {
            shape: Shape { n, p, stored: design.stored() as f64, is_sparse: design.is_sparse() },
            count: lambdas.len() as f64,
            lambda: lambdas.last().map_or(1.0, |lambda| lambda.get()),
            mean_square,
            steepness: mean_square,
            spread: p,
            curvature: loss.is_differentiable().then(|| loss.curvature().unwrap_or(1.0)),
            falls_everywhere: loss.derivative(FAR) < 0.0,
            is_wide: false,
            reflects: false,
            begins_on_part: part_of(
                (design.rows(), design.columns()),
                design.stored(),
                MOST_OF_A_PART,
            )
            .is_some(),
            has_intercept: objective.risk.intercept,
        }
    }

    /// Returns the problem with what the values of its features say about predictions for the
    /// candidates of a solver: only conjugate gradients depend on the steepness, which are none for the
    /// automatic one and a loss with a kink.
    pub(super) fn by_values(self, design: &Design, extent: &Extent, asked: Solver) -> Self {
        let (sum, squares) = extent.squares().fold((0.0, 0.0), |(a, b), x| (a + x, b + x * x));
        let spread = if squares > 0.0 { sum * sum / squares } else { self.spread };
        let has_gradients = asked != Solver::Auto || self.curvature.is_some();
        let steepness = if has_gradients { steepness(design, extent) } else { self.steepness };
        Problem { steepness, spread, ..self }
    }

    /// Returns `(1/n) sum c_i ||x_i||^2 / (n lambda)`, to which the epochs of dual ascent are proportional.
    pub(super) fn ascent_condition(&self) -> f64 {
        self.mean_square / (self.shape.n * self.lambda)
    }

    /// Returns true if F is flat but for the penalty near its minimum: with no fewer features than samples
    /// and a loss that has a flat part, margins reach that part.
    pub(super) fn is_flat(&self) -> bool {
        !self.falls_everywhere && self.shape.p >= self.shape.n
    }

    /// Returns about the condition number of the Hessian, beside the penalty alone.
    pub(super) fn condition(&self) -> f64 {
        0.5 * self.curvature.unwrap_or(f64::INFINITY) * self.steepness / self.lambda
    }

    /// Returns the seconds of a step of L-BFGS: two products with the data, in one reading if they are
    /// many, the derivatives at the two or three places of a search, and the vectors that it remembers.
    pub(super) fn step_of_lbfgs(&self) -> f64 {
        const VECTORS: f64 = 20e-9;
        const TWO_IN_ONE: f64 = 1.4;
        let products = if self.shape.stored >= READ_ONCE as f64 { TWO_IN_ONE } else { 2.0 };
        products * self.shape.product() + 2.5 * self.shape.derivatives() + VECTORS * self.shape.p
    }

    /// Returns the seconds before the first step of a method, which nothing interrupts.
    pub(super) fn before_first_step(
        &self,
        Method { solver, coordinates, is_dense }: Method,
    ) -> f64 {
        let Shape { n, p, .. } = self.shape;
        let is_newton = matches!(solver, Solver::Newton | Solver::ProximalNewton);
        match coordinates {
            Coordinates::RowSpace if self.is_wide => reflections(n, p),
            Coordinates::RowSpace => self.shape.sample_gram() + eigendecomposition(n),
            Coordinates::Features if is_newton && is_dense => {
                self.shape.feature_gram() + cholesky(p)
            }
            Coordinates::Features => 0.0,
        }
    }

    pub(super) fn seconds(&self, method: Method) -> f64 {
        /// What a product takes sample by sample, as in dual ascent, beside one with all samples.
        const ROW_BY_ROW: f64 = 1.5;
        /// The products with the data of the start and the certificates of dual ascent.
        const CERTIFICATES: f64 = 10.0;
        /// The vectors of a step of conjugate gradients, for a feature and each of two products; a
        /// certificate has twice as many.
        const VECTORS: f64 = 2e-9;
        let Shape { n, .. } = self.shape;
        let (product, derivatives) = (self.shape.product(), self.shape.derivatives());
        let is_path = self.count > 1.0;
        match method.solver {
            Solver::Sdca { .. } => {
                let an_epoch = ROW_BY_ROW * product + self.shape.dual_steps();
                let a_certificate = product + derivatives + 2.0 * VECTORS * self.shape.p;
                self.count * (CERTIFICATES * a_certificate + self.epochs(is_path) * an_epoch)
            }
            solver => {
                // Each proximal step is a minimisation. Along a path most factors are reused.
                let steps = match (is_path, solver == Solver::ProximalNewton) {
                    (false, false) if self.begins_on_part => 2.5,
                    (false, false) => 6.0,
                    (false, true) => 36.0,
                    (true, false) => 2.5 * self.count,
                    (true, true) => 1.5 * self.count,
                };
                let in_rows = Shape { n, p: n, stored: n * n, is_sparse: false };
                let (shape, before) = match method.coordinates {
                    Coordinates::RowSpace => (in_rows, self.before_first_step(method)),
                    Coordinates::Features => (self.shape, 0.0),
                };
                let solving = if method.is_dense {
                    shape.feature_gram() + cholesky(shape.p)
                } else {
                    2.0 * self.gradients_a_step() * (product + VECTORS * self.shape.p)
                        + self.preconditioner()
                };
                before + steps * (solving + 6.0 * shape.product() + derivatives)
            }
        }
    }

    /// Returns the epochs of dual ascent at a lambda. The fewer samples there are beside the features, the
    /// farther their inner products are from singular, and epochs are few; the constraint of an intercept
    /// makes them more, and so do kinks on dense samples.
    fn epochs(&self, is_path: bool) -> f64 {
        const MOST: f64 = 1000.0;
        let Shape { n, p, is_sparse, .. } = self.shape;
        let has_kink = self.curvature.is_none();
        let curvature = 0.5 * self.curvature.unwrap_or(2.0);
        let is_slow = (self.has_intercept && p >= n) || (has_kink && !is_sparse);
        // Along a path dense systems share their factors, which the prediction for them leaves out.
        let most = match is_path && !is_sparse && p <= n {
            true => MOST,
            false => 50.0 * (n / self.spread + if is_slow { 1.0 } else { 0.0 }),
        };
        let epochs = 5.0 + (5.0 * curvature * self.ascent_condition()).min(most).min(MOST);
        let share = match (has_kink, is_path) {
            (true, _) => 2.0,
            (false, true) => 0.4,
            (false, false) => 1.0,
        };
        share * epochs
    }

    /// Returns the seconds of the factor that conjugate gradients on dense samples are preconditioned by.
    fn preconditioner(&self) -> f64 {
        let Shape { n, p, is_sparse, .. } = self.shape;
        let (least, most) = (n.min(p), n.max(p));
        if is_sparse || least > LARGEST_DENSE_ORDER as f64 {
            return 0.0;
        }
        Shape { n: most, p: least, ..self.shape }.feature_gram() + cholesky(least)
    }

    fn gradients_a_step(&self) -> f64 {
        let condition = self.curvature.unwrap_or(1.0) * self.steepness / self.lambda;
        let by_flatness = if self.is_flat() { 3.0 } else { 1.0 };
        by_flatness * (3.0 + (0.12 * condition.sqrt()).min(self.shape.n.min(self.shape.p)))
    }
}

/// Returns about the largest eigenvalue of `X'X/n`, from below: the Rayleigh quotient on some of the
/// samples after a step of the power method from the squared sizes of the features.
fn steepness(design: &Design, extent: &Extent) -> f64 {
    /// The samples, and their stored values, that are enough.
    const SAMPLES: usize = 1000;
    const VALUES: usize = 100_000;
    let enough = SAMPLES.max(VALUES * design.rows() / design.stored().max(1));
    let some = || design.samples().step_by((design.rows() / enough).max(1));
    // Among features of one size no direction is likelier than another, and the first one must not be
    // orthogonal to the eigenvector: each is multiplied by a number between 0.5 and 1.5 of its own.
    let factor = |j: usize| 0.5 + f64::from((j as u32).wrapping_mul(0x9E37_79B9)) * 2f64.powi(-32);
    let first: Vec<f64> = extent.squares().enumerate().map(|(j, x)| x * factor(j)).collect();
    let mut next = vec![0.0; first.len()];
    let length_of = |v: &[f64]| norm(v).max(f64::MIN_POSITIVE);
    let length = length_of(&first);
    for sample in some() {
        sample.add_to(sample.dot(&first) / length, &mut next);
    }
    let length = length_of(&next);
    let squares: f64 = some().map(|sample| (sample.dot(&next) / length).powi(2)).sum();
    squares / some().count() as f64
}
