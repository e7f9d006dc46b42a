//! The dual variables of a fit, and its constrained form: the same classifier as the solution of a
//! problem whose coefficients have a norm of at most 1.

use std::borrow::Cow;

use margins_losses::{MarginLoss, SpecialCase};

use crate::problem::summation::dot;
use crate::problem::{EmpiricalRisk, weighted};
use crate::{Lambda, Objective};

/// A function f of any space with its duals, by what the samples see of both.
#[derive(Debug, Clone, Copy)]
pub struct PrimalDual<'a> {
    /// The weight of the squared norm.
    pub lambda: Lambda,
    /// The intercept `b`.
    pub intercept: f64,
    /// The scores `f(x_i)`, without the intercept.
    pub scores: &'a [f64],
    /// The squared norm `||f||^2`.
    pub square_norm: f64,
    /// The duals `s_i`, `-s_i` a subgradient of the loss at the margin.
    pub duals: &'a [f64],
    /// The scores of `v = (1/n) sum c_i s_i y_i x_i`.
    pub images: &'a [f64],
}

/// The dual variables of a fit, with its constrained form.
#[derive(Debug, Clone, PartialEq)]
pub struct DualSolution {
    /// The samples in their order.
    pub samples: Vec<DualVariables>,
    /// The norm that the duals give the coefficients, `||v||/(2 lambda)`.
    pub norm: f64,
    /// The intercept that the duals give for the leaky hockey stick: `y_i/s_i - <x_i, v>/(2 lambda)` at
    /// the sample with the largest dual below 1. `None` for other losses, without an intercept, or if all
    /// duals are 1.
    pub intercept: Option<f64>,
    /// The constrained form; `None` if all coefficients are 0.
    pub constrained: Option<ConstrainedForm>,
}

/// The variables of one sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DualVariables {
    /// The sign of its class.
    pub sign: f64,
    /// Its weight `c_i`.
    pub weight: f64,
    /// Its margin `u_i = y_i (b + f(x_i))`.
    pub margin: f64,
    /// Its dual `s_i`, which is `-L'(u_i)` at the minimum where the loss has a derivative.
    pub dual: f64,
}

/// The constrained form of a fit with coefficients `beta` other than 0. With `C = ||beta||`, `w =
/// beta/C` and `w_0 = b/C` minimise
///
/// `sum c_i L(C y_i (w_0 + <x_i, w>))` subject to `||w|| <= 1`,
///
/// of which the dual is to maximise, with `sum c_i sigma_i y_i = 0` if there is an intercept,
///
/// `- sum c_i L*(-sigma_i/C) - ||sum c_i sigma_i y_i x_i||`,
///
/// and `sigma_i = C s_i`. For the leaky hockey stick this is the problem with slacks and its dual, up to
/// constants: with `d_i = max(u_i, 1)/C` and the slack `eta_i = d_i - u_i/C`
///
/// `primal = sum c_i (C eta_i - log d_i)`, `dual = sum c_i (1 + log sigma_i) - ||...||`,
///
/// and `sigma_i = 1/d_i` at the minimum. The paper leaves the constant `sum c_i`, n without weights, out
/// of the dual.
///
/// Source: Kwon and Zou, *Leaky hockey stick loss*, JMLR 24 (2023), lemmas 1 and 2, (17) and appendix B.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstrainedForm {
    /// The constant `C = ||beta||`, the norm of the fit.
    pub norm: f64,
    /// The intercept `w_0`.
    pub intercept: f64,
    /// The multipliers `sigma_i`.
    pub multipliers: Vec<f64>,
    /// The distances `d_i` and the slacks `eta_i`, for the leaky hockey stick.
    pub slacks: Option<Vec<(f64, f64)>>,
    /// The value of the primal problem; with `log C` added to each loss for the leaky hockey stick.
    pub primal: f64,
    /// The value of the dual problem, with the same constants.
    pub dual: f64,
    /// The difference of both values, computed without cancellation.
    pub gap: f64,
    /// The violations of the conditions of optimality.
    pub violations: Violations,
    /// The classes as the dual sees them; `None` without an intercept.
    pub hulls: Option<Hulls>,
}

/// How far a point and its duals are from the conditions of optimality; all are 0 at the minimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Violations {
    /// `|sum c_i sigma_i y_i| / sum c_i sigma_i`; 0 without an intercept.
    pub balance: f64,
    /// The norm of `w - v/||v||`.
    pub direction: f64,
    /// The largest `L(u_i) + L*(-s_i) + s_i u_i`. For the leaky hockey stick it is `eta_i (C - sigma_i)`
    /// to first order where there is a slack, and `(sigma_i d_i - 1)^2/2` beyond.
    pub slackness: f64,
}

/// The points of the convex hulls of the two classes with the weights `c_i sigma_i / t`, which sum to 1
/// in each class: their difference has the direction of w.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hulls {
    /// The total t of the multipliers of a class.
    pub total: f64,
    /// The distance of the two points.
    pub distance: f64,
    /// The geometric mean of `sigma_i / t`. The dual maximises its logarithm less that of the distance,
    /// if C is no bound.
    pub geometric_mean: f64,
}

impl<L: MarginLoss + ?Sized> EmpiricalRisk<'_, L> {
    /// Returns the dual variables of a function with its constrained form, for a loss that is convex.
    pub fn dual_solution(&self, point: &PrimalDual<'_>) -> DualSolution {
        let n = self.sample_count() as f64;
        let margins = self.margins_of(point.scores, point.intercept);
        let variables = |(i, (&margin, &dual)): (usize, (&f64, &f64))| DualVariables {
            sign: self.signs.get(i),
            weight: n * self.weights.get(i),
            margin,
            dual,
        };
        let samples = margins.iter().zip(point.duals).enumerate().map(variables).collect();
        let pulls = self.pulls(point.duals);
        let norm_of_duals = dot(&pulls, point.images).max(0.0).sqrt();
        DualSolution {
            samples,
            norm: norm_of_duals / (2.0 * point.lambda.get()),
            intercept: self.intercept_of_duals(point),
            constrained: self.constrained_form(point, &margins, &pulls, norm_of_duals),
        }
    }

    /// Returns true if the loss is the leaky hockey stick.
    fn has_slacks(&self) -> bool {
        self.loss.special_case() == Some(SpecialCase::LeakyHockeyStick)
    }

    /// Returns the intercept that the duals of the leaky hockey stick give.
    fn intercept_of_duals(&self, point: &PrimalDual<'_>) -> Option<f64> {
        // A dual of 1, up to rounding, says of its margin no more than that it is at most 1.
        const BELOW_ONE: f64 = 1.0 - 1e-6;
        let is_inside = |i: &usize| {
            self.weights.get(*i) > 0.0 && point.duals[*i] > 0.0 && point.duals[*i] <= BELOW_ONE
        };
        let usable = self.intercept && self.has_slacks();
        let inside = (0..point.duals.len()).filter(|i| usable && is_inside(i));
        let i = inside.max_by(|&i, &j| point.duals[i].total_cmp(&point.duals[j]))?;
        let score = point.images[i] / (2.0 * point.lambda.get());
        Some(self.signs.get(i) / point.duals[i] - score)
    }

    fn constrained_form(
        &self,
        point: &PrimalDual<'_>,
        margins: &[f64],
        pulls: &[f64],
        norm_of_duals: f64,
    ) -> Option<ConstrainedForm> {
        let norm = point.square_norm.sqrt();
        if norm.is_nan() || norm <= 0.0 {
            return None;
        }
        let (n, duals) = (self.sample_count() as f64, point.duals);
        let each = |of: &dyn Fn(usize) -> f64| -> f64 {
            (0..duals.len()).map(|i| weighted(self.weights.get(i), of(i))).sum()
        };
        let constant = if self.has_slacks() { norm.ln() * each(&|_| 1.0) } else { 0.0 };
        let product = dot(pulls, point.scores);
        let apart = (norm_of_duals * norm - product).max(0.0);
        let imbalance = if self.intercept { self.imbalance(duals) } else { 0.0 };
        let fenchel_young = self.fenchel_young(margins, duals);
        let slackness = |i: usize| {
            let (u, s) = (margins[i], duals[i]);
            let term = self.loss.value(u) + self.loss.conjugate(s) + s * u;
            if self.weights.get(i) > 0.0 { term.max(0.0) } else { 0.0 }
        };
        let slack = |&u: &f64| (u.max(1.0) / norm, (1.0 - u).max(0.0) / norm);
        Some(ConstrainedForm {
            norm,
            intercept: point.intercept / norm,
            multipliers: duals.iter().map(|s| norm * s).collect(),
            slacks: self.has_slacks().then(|| margins.iter().map(slack).collect()),
            primal: n * (each(&|i| self.loss.value(margins[i])) + constant),
            dual: n * (self.dual_value(duals) - norm * norm_of_duals + constant),
            gap: n * (fenchel_young.sum + apart + (imbalance * point.intercept).abs()),
            violations: Violations {
                balance: imbalance.abs() / each(&|i| duals[i].abs()),
                direction: (2.0 * apart / (norm_of_duals * norm)).sqrt(),
                slackness: (0..duals.len()).map(slackness).fold(0.0, f64::max),
            },
            hulls: self.hulls(duals, norm, norm_of_duals),
        })
    }

    /// Returns the classes as these duals see them.
    fn hulls(&self, duals: &[f64], norm: f64, norm_of_duals: f64) -> Option<Hulls> {
        let n = self.sample_count() as f64;
        let (mut of_class, mut weights, mut logarithms) = (0.0, 0.0, 0.0);
        for (i, s) in duals.iter().enumerate().filter(|(i, _)| self.weights.get(*i) > 0.0) {
            let c = self.weights.get(i);
            of_class += if self.signs.get(i) > 0.0 { c * s } else { 0.0 };
            weights += c;
            logarithms += c * s.ln();
        }
        (self.intercept && of_class > 0.0).then(|| Hulls {
            total: n * of_class * norm,
            distance: norm_of_duals / of_class,
            geometric_mean: (logarithms / weights).exp() / (n * of_class),
        })
    }
}

impl<L: MarginLoss + ?Sized> Objective<'_, L> {
    /// Returns the dual variables of a point with its constrained form, by these duals, or by the
    /// [settled](crate::problem::Margins::settled_duals) slopes at its margins.
    ///
    /// # Panics
    /// If there are not as many coefficients as features, or as many duals as samples.
    pub fn dual_solution(
        &self,
        lambda: Lambda,
        intercept: f64,
        coef: &[f64],
        duals: Option<&[f64]>,
    ) -> DualSolution {
        let scores_of = |coef: &[f64]| {
            let mut scores = vec![0.0; self.design.rows()];
            self.design.multiply(coef, &mut scores);
            scores
        };
        let scores = scores_of(coef);
        let duals = match duals {
            Some(duals) => Cow::Borrowed(duals),
            None => Cow::Owned(self.risk.margins().settled_duals(&scores, intercept)),
        };
        let mut v = vec![0.0; self.design.columns()];
        self.design.multiply_transposed(&self.risk.pulls(&duals), &mut v);
        self.risk.dual_solution(&PrimalDual {
            lambda,
            intercept,
            scores: &scores,
            square_norm: dot(coef, coef),
            duals: &duals,
            images: &scores_of(&v),
        })
    }
}
