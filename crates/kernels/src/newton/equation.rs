//! The linear equation of a Newton step in sample space, by preconditioned conjugate gradients.

use std::time::Instant;

use margins_optim::method::{ConjugateGradients, Exactness, is_over};
use margins_optim::problem::summation::dot;

use crate::gram::Entries;
use crate::newton::preconditioner::Preconditioner;

/// The equation `(I + W^(1/2) K W^(1/2)) v + db W^(1/2) 1 = right`, `1'W^(1/2) v = 0`.
pub(crate) struct Equation {
    /// The diagonal of `W^(1/2)`.
    pub(crate) roots: Vec<f64>,
    pub(crate) right: Vec<f64>,
    /// True if there is an intercept, and with it the constraint.
    pub(crate) constrained: bool,
    /// The time at which steps end.
    pub(crate) deadline: Option<Instant>,
}

/// The solution so far as `z = W^(1/2) v` with `K z`: these do not depend on W, so that the
/// solution for one W is a start for another.
pub(crate) struct Moves {
    pub(crate) coef: Vec<f64>,
    pub(crate) products: Vec<f64>,
    pub(crate) precision: Precision,
}

impl Moves {
    pub(crate) fn none(n: usize) -> Self {
        Moves { coef: vec![0.0; n], products: vec![0.0; n], precision: Precision::Double }
    }

    /// Computes the products in double precision.
    pub(crate) fn refine(&mut self, entries: &Entries) {
        entries.multiply_sparse(&self.coef, &mut self.products);
        self.precision = Precision::Double;
    }
}

/// The smallest share of a residual, and the smallest order, for products in single precision.
const LEAST_SHARE: f64 = 1e-5;
const LEAST_ORDER: usize = 1000;

/// The precision of the products with K of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precision {
    Single,
    Double,
}

impl Precision {
    /// Computes `out = K x`, in which few entries of x may be other than 0.
    fn multiply(self, entries: &Entries, x: &[f64], out: &mut [f64]) {
        match self {
            Precision::Single => entries.multiply_roughly(x, out),
            Precision::Double => entries.multiply_sparse(x, out),
        }
    }
}

/// The solution after some steps of conjugate gradients.
pub(crate) struct Solution {
    /// The step `db` of the intercept.
    pub(crate) intercept: f64,
    pub(crate) steps: usize,
    /// The share of the preconditioned residual that is left.
    pub(crate) residual: f64,
}

impl Equation {
    /// Returns the precision of products that serves best for steps to a share of the residual:
    /// single where rounding allows it and the matrix is too large for the processor's memory.
    pub(crate) fn precision(&self, entries: &Entries, share: f64) -> Precision {
        let single = share >= LEAST_SHARE && entries.order() >= LEAST_ORDER && entries.is_held();
        if single { Precision::Single } else { Precision::Double }
    }

    /// Moves on until the preconditioned residual has shrunk to `share` of that of no move at all,
    /// or the preconditioner has lost patience.
    pub(crate) fn iterate(
        &self,
        entries: &Entries,
        preconditioner: &Preconditioner<'_>,
        share: f64,
        precision: Precision,
        moves: &mut Moves,
    ) -> Solution {
        let n = self.roots.len();
        let most = preconditioner.patience(&self.roots);
        if self.roots.iter().zip(&moves.coef).any(|(&w, &z)| w == 0.0 && z != 0.0) {
            // A sample that has lost its curvature must not move, which changes all products.
            *moves = Moves::none(n);
        }
        let moved = moves.coef.iter().zip(&moves.products).zip(&self.roots);
        let residual: Vec<f64> = (self.right.iter().zip(moved))
            .map(|(right, ((z, p), &w))| if w > 0.0 { right - z / w - w * p } else { *right })
            .collect();
        let [normal, whole, rest] =
            preconditioner.apply(&self.roots, [&self.roots, &self.right, &residual]);
        let projection = Projection::new(self, preconditioner, normal);
        let first = dot(&self.right, &projection.project(whole));
        let conditioned = projection.project(rest);
        let mut state = ConjugateGradients::new(residual, conditioned);
        let mut weighted = vec![0.0; n];
        let mut product = vec![0.0; n];
        let mut steps = 0;
        moves.precision = moves.precision.min(precision);
        while state.energy > share * share * first && steps < most && !is_over(self.deadline) {
            let direction = &state.direction;
            for ((p, w), d) in weighted.iter_mut().zip(&self.roots).zip(direction) {
                *p = w * d;
            }
            precision.multiply(entries, &weighted, &mut product);
            steps += 1;
            for i in 0..n {
                state.image[i] = direction[i] + self.roots[i] * product[i];
            }
            let curvature = dot(direction, direction) + dot(&weighted, &product);
            let Some(step) = state.along(curvature) else { break };
            for i in 0..n {
                moves.coef[i] += step * weighted[i];
                moves.products[i] += step * product[i];
            }
            state.turn(&projection.apply(&state.residual), Exactness::Exact);
        }
        let ConjugateGradients { residual, energy, .. } = state;
        let left = if first > 0.0 { (energy.max(0.0) / first).sqrt() } else { 0.0 };
        Solution { intercept: projection.multiplier(&residual), steps, residual: left }
    }
}

/// The preconditioner on the constraint `w'v = 0`: `P r = M r - q (w'M r)/(w'q)`, `q = M w`.
struct Projection<'a> {
    preconditioner: &'a Preconditioner<'a>,
    roots: &'a [f64],
    /// The vector `q`.
    normal: Vec<f64>,
    /// The product `w'q`; 0 without a constraint.
    square: f64,
}

impl<'a> Projection<'a> {
    fn new(
        equation: &'a Equation,
        preconditioner: &'a Preconditioner<'a>,
        normal: Vec<f64>,
    ) -> Self {
        let roots = &equation.roots;
        let square = if equation.constrained { dot(&normal, roots) } else { 0.0 };
        Projection { preconditioner, roots, normal, square }
    }

    fn apply(&self, residual: &[f64]) -> Vec<f64> {
        let [out] = self.preconditioner.apply(self.roots, [residual]);
        self.project(out)
    }

    fn project(&self, mut out: Vec<f64>) -> Vec<f64> {
        if self.square > 0.0 {
            let share = dot(self.roots, &out) / self.square;
            for (o, q) in out.iter_mut().zip(&self.normal) {
                *o -= share * q;
            }
        }
        out
    }

    /// Returns `db`, the multiplier that takes the most out of the residual.
    fn multiplier(&self, residual: &[f64]) -> f64 {
        if self.square > 0.0 { dot(&self.normal, residual) / self.square } else { 0.0 }
    }
}
