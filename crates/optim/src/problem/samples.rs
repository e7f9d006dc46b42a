//! The trait by which solvers access samples, in memory or distributed.

use std::sync::Arc;
use std::time::Instant;

use margins_data::Design;
use margins_losses::{HomogeneousTail, MarginLoss};
use nalgebra::DMatrix;

use crate::Error;
use crate::problem::summation::{SUM_ERROR, UNIT};
use crate::problem::{Extent, FenchelYoung, FreeColumns, Lambda, MarginSummary, Point, Products};

/// The samples of a problem `F(b, w) = (1/n) sum_i c_i L(y_i (b + <w, x_i>)) + lambda ||w||^2`,
/// wherever they are.
///
/// Newton's method and the certificate know samples through this trait alone, so that one solver
/// serves data in memory ([`InMemory`](crate::problem::InMemory)), in blocks of a file and on other
/// machines. Little crosses the seam: p numbers down for [`products`](Self::products), p numbers up
/// for [`gradient`](Self::gradient), and a few scalars for every trial step. A vector with one
/// number per sample stays where the samples are.
///
/// Samples are in a state: their margins `u_i = y_i (b + f_i)` and the slopes `L'(u_i)` there, set
/// by [`set`](Self::set), [`settle`](Self::settle) or [`along`](Self::along). Sums must not depend
/// on the number of threads or workers: implementations add up fixed parts in a fixed order.
pub trait Samples {
    /// The products of the samples with coefficients.
    type Products: Products;
    /// The duals `s_i`, one per sample.
    type Duals: Clone;

    /// Returns n and p, the numbers of samples and of features.
    fn shape(&self) -> (usize, usize);

    /// Returns true if the samples are stored sparsely, so that a Gram matrix of features is expensive.
    fn is_sparse(&self) -> bool;

    /// Returns true if the problem has an intercept.
    fn has_intercept(&self) -> bool;

    /// Returns the features that no penalty acts on.
    fn free(&self) -> FreeColumns {
        FreeColumns::default()
    }

    /// Returns the tail on which the loss is homogeneous, if there is one.
    fn tail(&self) -> Option<HomogeneousTail>;

    /// Returns whether the loss falls as margins grow, and to what.
    fn decline(&self) -> Decline;

    /// Returns the largest margin of the wrong sign along a direction in the free part, relative to the
    /// size of its terms: 0 for a direction that separates the classes.
    fn violation(&mut self, intercept: f64, coef: &[f64]) -> f64;

    /// Returns how large the samples are.
    fn extent(&self) -> &Extent;

    /// Returns `X w`.
    fn products(&mut self, coef: &[f64]) -> Self::Products;

    /// Sets the margins and returns the derivative of the risk in the intercept.
    fn set(&mut self, products: &Self::Products, intercept: f64) -> f64;

    /// Sets the margins to those at a point, computed in twice the working precision and rounded once;
    /// returns false, and does nothing, where that is not possible.
    fn set_accurately(&mut self, _intercept: f64, _coef: &[f64]) -> bool {
        false
    }

    /// Sets the margins to those at the intercept that minimises the risk, searched for from a
    /// given one, and returns it; 0 if the problem has no intercept.
    fn settle(&mut self, products: &Self::Products, intercept: f64) -> f64;

    /// Does what [`settle`](Self::settle) does at `point + t direction`, from the intercept there.
    fn settle_step(
        &mut self,
        point: &Point<Self::Products>,
        direction: &Point<Self::Products>,
        t: f64,
    ) -> f64 {
        let products = point.products.plus(t, &direction.products);
        self.settle(&products, point.intercept + t * direction.intercept)
    }

    /// Sets the margins to those at `point + t direction` and returns the derivative of the risk in
    /// t.
    fn along(
        &mut self,
        point: &Point<Self::Products>,
        direction: &Point<Self::Products>,
        t: f64,
    ) -> f64;

    /// Returns the risk `(1/n) sum c_i L(u_i)` at a point; the slopes are not set.
    fn risk_at(&mut self, products: &Self::Products, intercept: f64) -> f64;

    /// Returns the sums at the margins that are set.
    fn sums(&mut self) -> Sums;

    /// Writes the gradient of the risk in the coefficients at the margins that are set,
    /// `(1/n) sum c_i y_i L'(u_i) x_i`.
    fn gradient(&mut self, out: &mut [f64]);

    /// Keeps the curvatures `D_i = c_i L''(u_i)/n` at the margins that are set, for the next six
    /// methods.
    fn keep_curvatures(&mut self);

    /// Forgets the curvatures, whose memory others need.
    fn forget_curvatures(&mut self);

    /// Returns the features and the curvatures of the samples, if these are in memory.
    fn curved(&mut self) -> Option<(&Design, &[f64])> {
        None
    }

    /// Returns a subsample that is in memory, if the samples are distributed.
    fn sampled(&mut self) -> Option<SampledCurvatures> {
        None
    }

    /// Returns `sum D_i`.
    fn curvature(&mut self) -> f64;

    /// Writes `X' D (X v + shift)` and returns the sum of `D (X v + shift)`.
    fn normal(&mut self, shift: f64, v: &[f64], out: &mut [f64]) -> f64;

    /// Writes `Z' D Z` with `Z = [1 X]`, of order p + 1, in the lower triangle.
    fn gram(&mut self, out: &mut DMatrix<f64>);

    /// Writes the diagonal of `Z' D Z`, the intercept's entry first.
    fn diagonal(&mut self, out: &mut [f64]);

    /// Returns duals moved by `-L''(u_i) y_i d_i` for a change d of the scores, and kept in the
    /// domain of the conjugate.
    fn predict(&mut self, duals: Self::Duals, change: &Point<Self::Products>) -> Self::Duals;

    /// Returns the duals `s_i = -L'(u_i)` at the margins that are set.
    fn duals(&mut self) -> Self::Duals;

    /// Moves duals in the domain of the conjugate to where `sum c_i s_i y_i = 0`, if the problem
    /// has an intercept, and `sum c_i s_i y_i x_ij = 0` for every free column j.
    fn balance(&mut self, duals: &mut Self::Duals);

    /// Returns `(1/n) sum c_i |s_i|`.
    fn total_dual(&mut self, duals: &Self::Duals) -> f64;

    /// Writes `v = (1/n) sum c_i s_i y_i x_i`, in twice the working precision if that is asked for.
    fn pull(&mut self, duals: &Self::Duals, accurately: bool, out: &mut [f64]);

    /// Returns `(1/n) sum c_i s_i y_i`.
    fn imbalance(&mut self, duals: &Self::Duals) -> f64;

    /// Returns the Fenchel-Young sum of the margins that are set and of duals.
    fn fenchel_young(&mut self, duals: &Self::Duals) -> FenchelYoung;

    /// Returns `(1/n) sum c_i ||x_i||^2`.
    fn mean_square(&self) -> f64;

    /// Refuses a loss that Newton's method cannot take.
    ///
    /// # Errors
    /// [`Error::Unsuitable`]: the loss is not convex, or has a kink and these samples cannot
    /// [smooth](Self::smooth) it.
    fn check_loss(&self) -> Result<(), Error>;

    /// Returns true if the loss has a kink, and these samples can [smooth](Self::smooth) it.
    fn is_smoothed(&self) -> bool {
        false
    }

    /// Returns the intercept and the coefficients to begin with at a lambda, if they are known.
    fn known(&self, _lambda: Lambda) -> Option<(f64, Vec<f64>)> {
        None
    }

    /// Is notified of the intercept and the coefficients of a certified point, from which a later
    /// search can continue.
    fn reached(&mut self, _lambda: Lambda, _intercept: f64, _coef: &[f64]) {}

    /// Replaces the loss with `max_s -L*(-s) - s u - (strength/2) (s - a)^2` in all further calls; a
    /// strength of 0 restores the loss. The duals a are zeros until a [centre](Self::centre) is set.
    /// Samples that are [never smoothed](Self::is_smoothed) ignore the call.
    fn smooth(&mut self, _strength: f64) {}

    /// Sets the centre of the smoothing to the duals at a point, which are the slopes of the loss as it
    /// is smoothed now; without a point, to zeros.
    fn centre(&mut self, _at: Option<&Point<Self::Products>>) {}

    /// Returns intercept, coefficients and duals of the minimum of a merged problem; `None` if it is not far
    /// smaller than F. Of a share of the samples below 1 the duals say nothing.
    fn solve_merged(
        &mut self,
        _lambda: Lambda,
        _merged: &MergedProblem<'_>,
    ) -> Option<(f64, Vec<f64>, Self::Duals)> {
        None
    }

    /// Returns the largest of some radii about the margins at a point for which the samples that stay
    /// unmerged, because their loss is not linear within the radius, take at most half of what a
    /// [merged problem](Self::solve_merged) may; `None` if no radius does.
    fn widest_radius(&mut self, _about: &Point<Self::Products>) -> Option<f64> {
        None
    }

    /// Returns the largest change of a margin between two points.
    fn farthest(&mut self, _one: &Point<Self::Products>, _other: &Point<Self::Products>) -> f64 {
        f64::INFINITY
    }

    /// Returns true if no dual is feasible, so that F falls without bound along the intercept,
    /// for any lambda.
    fn is_unbounded(&self) -> bool;

    /// Returns true if the loss says that it is convex, and contradicts that at the margins of a
    /// point.
    fn is_contradicted(&mut self, point: &Point<Self::Products>) -> bool;

    /// Returns a summary of the margins that are set, of the samples of positive weight.
    fn summary(&mut self) -> MarginSummary;

    /// Returns true if every margin at a point, of the samples of positive weight, is at least
    /// `from`.
    fn all_beyond(&mut self, point: &Point<Self::Products>, from: f64) -> bool;

    /// Returns the number of rounds of messages to distributed samples so far.
    fn rounds(&self) -> usize {
        0
    }

    /// Returns, once, the reason why distributed samples no longer answer. From then on every sum is
    /// NaN, which ends a solver immediately.
    fn failure(&mut self) -> Option<Error> {
        None
    }
}

/// How a loss goes on as the margin grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decline {
    /// It has a minimum at some margin.
    Ends,
    /// It falls for ever, to a bound.
    Bounded,
    /// It has no lower bound.
    Unbounded,
}

impl Decline {
    /// Returns how a loss goes on.
    pub fn of<L: MarginLoss + ?Sized>(loss: &L) -> Self {
        /// A margin at which losses with a minimum have reached it, and others can still be seen to
        /// fall.
        const FAR: f64 = 30.0;
        match loss.lower_bound() {
            None => Decline::Unbounded,
            Some(_) if loss.derivative(FAR) < 0.0 => Decline::Bounded,
            Some(_) => Decline::Ends,
        }
    }
}

/// The problem in which the samples are merged whose margins are on a line of the loss within a radius
/// about a point, and on the same line at other points.
pub struct MergedProblem<'m> {
    /// The point.
    pub about: &'m Point<()>,
    /// The radius.
    pub radius: f64,
    /// The other points.
    pub left: &'m [Point<()>],
    /// The share of the samples that it is about, drawn at random; 1 for all.
    pub of: f64,
    /// The relative gap to which it is solved.
    pub tolerance: f64,
    /// The time at which the solver gives up.
    pub deadline: Option<Instant>,
    /// Returns true if the solver is to give up.
    pub stop: &'m (dyn Fn() -> bool + Sync),
}

impl MergedProblem<'_> {
    /// A radius within which every loss has left its line, so that no sample is merged.
    pub const ALL: f64 = 1e100;
}

/// Some of the samples, weighted to stand for all.
#[derive(Debug, Clone)]
pub struct SampledCurvatures {
    /// The features.
    pub design: Arc<Design>,
    /// The curvatures where those of all samples are kept.
    pub curvatures: Vec<f64>,
    /// The share of all samples, by weight.
    pub share: f64,
}

/// The units of roundoff to which a loss is taken to compute its value, relative to that value, and
/// to see its argument, relative to the larger of that argument and 1.
const LOSS_ERROR: f64 = 4.0;

/// Sums over the samples at one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sums {
    /// The risk `(1/n) sum c_i L(u_i)`.
    pub risk: f64,
    /// The mean size `(1/n) sum c_i |L(u_i)|`.
    pub size: f64,
    /// The derivative of the risk in the intercept, which a settled intercept leaves to rounding; 0
    /// without one.
    pub residual: f64,
    /// The mean slope `(1/n) sum c_i |L'(u_i)|`, to which the rounding of sums of slopes is
    /// relative.
    pub slopes: f64,
    /// The sum `(1/n) sum c_i |L'(u_i)| (1 + |u_i|)`.
    pub arguments: f64,
    /// The curvature `(1/n) sum c_i L''(u_i)`.
    pub curvature: f64,
    /// The largest `|u_i|`.
    pub largest: f64,
}

impl Sums {
    /// Returns how far rounding can have moved an objective that consists of the risk and a
    /// penalty, if every score is right to `score_error`.
    ///
    /// With the unit roundoff `u` and sums that lose at most `k u` of the sizes of their terms, the
    /// bound is
    ///
    /// `u (k + 4) ((1/n) sum c_i |L(u_i)| + penalty) + (1/n) sum c_i |L'(u_i)| (4 u (1 + |u_i|) +
    /// score_error)`.
    pub fn rounding(&self, objective: f64, score_error: f64) -> f64 {
        let terms = self.size + (objective.abs() + self.size);
        let rounding = UNIT * ((SUM_ERROR + LOSS_ERROR) * terms + LOSS_ERROR * self.arguments);
        rounding + score_error * self.slopes
    }
}
