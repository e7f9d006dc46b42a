//! Scores, and the sums over the samples at them.

use crate::problem::{Lambda, MarginSummary, Point, Products, Sums};
use crate::space::Space;

/// The scores of the samples and the sums over them.
///
/// Samples are in a state: their margins `u_i = y_i (b + f_i)` and the slopes `L'(u_i)` there, set
/// by [`set`](Self::set), [`settle`](Self::settle) or [`along`](Self::along). Sums must not depend
/// on the number of threads or workers: implementations add up fixed parts in a fixed order.
pub trait Scores: Space {
    /// The products of the samples with coefficients.
    type Products: Products;

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

    /// Returns the largest margin of the wrong sign along a direction in the free part, relative to the
    /// size of its terms: 0 for a direction that separates the classes.
    fn violation(&mut self, intercept: f64, coef: &[f64]) -> f64;

    /// Writes the gradient of the risk in the coefficients at the margins that are set,
    /// `(1/n) sum c_i y_i L'(u_i) x_i`.
    fn gradient(&mut self, out: &mut [f64]);

    /// Returns true if the loss says that it is convex, and contradicts that at the margins of a
    /// point.
    fn is_contradicted(&mut self, point: &Point<Self::Products>) -> bool;

    /// Returns a summary of the margins that are set, of the samples of positive weight.
    fn summary(&mut self) -> MarginSummary;

    /// Returns true if every margin at a point, of the samples of positive weight, is at least
    /// `from`.
    fn all_beyond(&mut self, point: &Point<Self::Products>, from: f64) -> bool;

    /// Returns the intercept and the coefficients to begin with at a lambda, if they are known.
    fn known(&self, _lambda: Lambda) -> Option<(f64, Vec<f64>)> {
        None
    }

    /// Is notified of the intercept and the coefficients of a certified point, from which a later
    /// search can continue.
    fn reached(&mut self, _lambda: Lambda, _intercept: f64, _coef: &[f64]) {}
}
