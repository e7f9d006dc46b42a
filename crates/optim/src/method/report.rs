//! The report on a fit: its values, its gap and its history.

use std::ops::Add;
use std::time::Duration;

use margins_data::{Design, Sample};
use margins_losses::MarginLoss;

use crate::certificate::{DualSolution, Evaluator, dual};
use crate::method::{Choice, Status};
use crate::problem::{EmpiricalRisk, MarginSummary, Point};
use crate::space::InMemory;
use crate::{Certificate, Lambda, Objective};

/// A time that was measured. All such times compare as equal, so that results do not differ by the
/// time they took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Elapsed(pub Duration);

impl PartialEq for Elapsed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Add for Elapsed {
    type Output = Elapsed;

    fn add(self, other: Elapsed) -> Elapsed {
        Elapsed(self.0 + other.0)
    }
}

/// The evidence for the result of a solver: its objective, a lower bound, and the gap.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// `F` at the result.
    pub objective: f64,
    /// A lower bound on the minimum of `F`: the value of a feasible point of the dual.
    pub dual_objective: f64,
    /// An upper bound on the distance of `objective` to the minimum: `objective - dual_objective`,
    /// computed without their cancellation, with the rounding added.
    pub duality_gap: f64,
    /// The gap, less twice the rounding, relative to the larger size of the two objectives: see
    /// [`Certificate::relative_gap`].
    pub relative_gap: f64,
    /// A bound on the distance between `F` and its computed value.
    pub rounding: f64,
    /// Euclidean norm of the gradient of `F`.
    pub gradient_norm: f64,
    /// Iterations of the solver; 0 on the closed-form ray.
    pub iterations: usize,
    /// Products of the design or its transpose with a vector, a Gram matrix counting as one.
    pub passes: usize,
    /// Rounds of messages since the previous fit to distributed samples, on disk or on workers; 0 for
    /// samples in memory.
    pub rounds: usize,
    /// The reason why the solver stopped.
    pub status: Status,
    /// The time that the solver took; work shared with other fits is not counted.
    pub elapsed: Elapsed,
    /// The method that was chosen, with the prediction; `None` if the solver was given.
    pub choice: Option<Choice>,
    /// One entry per iteration where [`Options::history`](crate::Options::history) asks for it.
    pub history: Vec<HistoryEntry>,
    /// The duals `s_i` that certify the result, one per sample, in the domain of the conjugate and with
    /// `sum c_i s_i y_i = 0` to rounding if there is an intercept. They are kept for a linear fit where
    /// [`Options::keep_duals`](crate::Options::keep_duals) asks for them.
    pub duals: Option<Vec<f64>>,
    /// A bound on the share of rows that are misclassified if they are left out one at a time and the
    /// moments of all margins are kept: of the large-margin distribution machine with the hinge.
    pub fixed_moments_leave_one_out_bound: Option<f64>,
}

impl Report {
    /// Returns twice the rounding, relative to the larger size of the two objectives: what the relative
    /// gap leaves out. See [`Certificate::relative_rounding`].
    pub fn relative_rounding(&self) -> f64 {
        self.certificate().relative_rounding()
    }

    /// Returns the certificate.
    pub fn certificate(&self) -> Certificate {
        Certificate {
            objective: self.objective,
            duality_gap: self.duality_gap,
            rounding: self.rounding,
            gradient_norm: self.gradient_norm,
            contradicted: false,
        }
    }

    /// Replaces the certificate, except the gradient norm. It decides whether the fit has converged; if not,
    /// a fit that had converged is `otherwise`.
    pub fn certify_by(&mut self, certificate: &Certificate, tolerance: f64, otherwise: Status) {
        self.objective = certificate.objective;
        self.dual_objective = certificate.dual_objective();
        self.duality_gap = certificate.duality_gap;
        self.relative_gap = certificate.relative_gap();
        self.rounding = certificate.rounding;
        self.passes += 1;
        let status = match self.status {
            _ if self.relative_gap <= tolerance => Status::Converged,
            Status::Converged => otherwise,
            other => other,
        };
        self.status = status.under(certificate, tolerance);
    }

    /// Returns true if the fit is certified to the tolerance.
    pub fn converged(&self) -> bool {
        self.status == Status::Converged
    }

    /// Makes it the report of a solver for this tolerance that has aimed at a smaller gap: it has
    /// converged if the gap is within the tolerance and rounding leaves that visible, unless something
    /// has stopped it.
    pub fn converge_to(&mut self, tolerance: f64) {
        let stopped = matches!(self.status, Status::Interrupted | Status::Contradicted);
        if !stopped && self.relative_gap <= tolerance {
            self.status = Status::Converged.under(&self.certificate(), tolerance);
        }
    }
}

/// The state of a solver after an iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HistoryEntry {
    /// The number of iterations so far.
    pub iteration: usize,
    /// The number of passes over the data so far.
    pub passes: usize,
    /// The objective `F`.
    pub objective: f64,
    /// The relative duality gap.
    pub relative_gap: f64,
    /// The summary of the margins.
    pub margins: MarginSummary,
}

impl HistoryEntry {
    pub(crate) fn new(
        iteration: usize,
        passes: usize,
        certificate: &Certificate,
        margins: MarginSummary,
    ) -> Self {
        HistoryEntry {
            iteration,
            passes,
            objective: certificate.objective,
            relative_gap: certificate.relative_gap(),
            margins,
        }
    }
}

/// The end of a solver, beside the point that it improved.
#[derive(Debug, Clone)]
pub struct Ending {
    /// The number of iterations taken.
    pub iterations: usize,
    /// The reason why the solver stopped.
    pub status: Status,
    /// The certificate of the point.
    pub certificate: Certificate,
    /// The time that the solver took.
    pub elapsed: Elapsed,
    /// One entry per iteration where the options ask for it.
    pub history: Vec<HistoryEntry>,
}

impl Ending {
    /// Returns the end of a solver that went on from where another one had ended: with the
    /// iterations, the time and the history of both.
    #[must_use]
    pub fn after(self, earlier: Ending) -> Self {
        let mut history = earlier.history;
        history.extend(self.history.into_iter().map(|entry| HistoryEntry {
            iteration: earlier.iterations + entry.iteration,
            ..entry
        }));
        let iterations = earlier.iterations + self.iterations;
        Ending { iterations, elapsed: earlier.elapsed + self.elapsed, history, ..self }
    }

    /// Returns the end with another certificate, which decides whether the fit has converged.
    #[must_use]
    pub fn certified_by(self, certificate: Certificate, tolerance: f64) -> Self {
        Ending { certificate, ..self }.judged(tolerance)
    }

    /// Returns the end with the status that its certificate allows.
    #[must_use]
    pub fn judged(self, tolerance: f64) -> Self {
        let tight = self.certificate.relative_gap() <= tolerance;
        let status = match self.status {
            _ if tight => Status::Converged,
            Status::Converged => Status::Stalled,
            other => other,
        };
        Ending { status, ..self }
    }

    /// Takes over the certificate of a point that is [clear of kinks](dual::clear_of_kinks), and returns
    /// that point, where the rounding at kinks is above the tolerance.
    pub(crate) fn clear_of_kinks<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        point: &Point,
        duals: &Vec<f64>,
        tolerance: f64,
    ) -> Option<Point> {
        let known = self.certificate;
        let has_kinks = !evaluator.samples.objective.risk.loss.is_differentiable();
        if !has_kinks || known.relative_rounding() <= tolerance {
            return None;
        }
        let (point, certificate) = dual::clear_of_kinks(evaluator, lambda, point, duals, known)?;
        *self = self.clone().certified_by(certificate, tolerance);
        Some(point)
    }

    /// Returns the end without a bound if the loss contradicts itself at the margins of these
    /// scores: a certificate believes it to be convex and its derivatives to be those of its
    /// values. A caller asks this last before a report. It takes no more than some hundred
    /// evaluations of the loss, and cannot see what the loss does elsewhere.
    #[must_use]
    pub fn examined<L: MarginLoss + ?Sized>(
        self,
        risk: &EmpiricalRisk<'_, L>,
        scores: &[f64],
        intercept: f64,
    ) -> Self {
        self.examined_by(|| risk.is_contradicted(scores, intercept))
    }

    /// Returns the end without a bound if there is one and evidence contradicts the loss.
    #[must_use]
    pub fn examined_by(self, contradicted: impl FnOnce() -> bool) -> Self {
        if self.certificate.duality_gap.is_finite() && contradicted() {
            let certificate = Certificate { duality_gap: f64::INFINITY, ..self.certificate };
            return Ending { certificate, status: Status::Contradicted, ..self };
        }
        self
    }

    /// Returns the end of a solver that has not begun, because the objective, of this value at the
    /// origin, has no minimum.
    pub fn unbounded(value: f64) -> Self {
        Self::without_bound(Status::Unbounded, value)
    }

    /// Returns the end of a solver that has not begun for this reason, with the value of the objective
    /// at the origin.
    pub(crate) fn without_bound(status: Status, value: f64) -> Self {
        let certificate = Certificate::without_bound(value, f64::NAN);
        let (elapsed, history) = (Elapsed::default(), Vec::new());
        Ending { iterations: 0, status, certificate, elapsed, history }
    }

    /// Returns the report on a solution that took this number of passes, for a caller who asked for
    /// this tolerance: an end that counts the rounding as none has not converged where the rounding is
    /// above the tolerance.
    pub fn report(self, passes: usize, tolerance: f64) -> Report {
        let certificate = self.certificate;
        Report {
            objective: certificate.objective,
            dual_objective: certificate.dual_objective(),
            duality_gap: certificate.duality_gap,
            relative_gap: certificate.relative_gap(),
            rounding: certificate.rounding,
            gradient_norm: certificate.gradient_norm,
            iterations: self.iterations,
            passes,
            rounds: 0,
            status: self.status.under(&certificate, tolerance),
            elapsed: self.elapsed,
            choice: None,
            history: self.history,
            duals: None,
            fixed_moments_leave_one_out_bound: None,
        }
    }
}

impl From<Report> for Ending {
    fn from(report: Report) -> Self {
        Ending {
            certificate: report.certificate(),
            iterations: report.iterations,
            status: report.status,
            elapsed: report.elapsed,
            history: report.history,
        }
    }
}

/// A fit as it is made, for an [observer](crate::Training::observer).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Observed<'a> {
    /// The regularisation.
    pub lambda: Lambda,
    /// The fold that was held out, counted from 0; `None` for a fit to all rows given.
    pub fold: Option<usize>,
    /// The report of the fit.
    pub report: &'a Report,
}

impl<'a> Observed<'a> {
    /// Returns the notice of a fit to all rows given.
    pub fn new(lambda: Lambda, report: &'a Report) -> Self {
        Observed { lambda, fold: None, report }
    }

    /// Returns the notice with a fold held out.
    #[must_use]
    pub fn without(self, fold: usize) -> Self {
        Observed { fold: Some(fold), ..self }
    }
}

/// A callback that sees every fit as it is made, from any thread that makes one.
pub type Observer<'a> = dyn Fn(&Observed<'_>) + Sync + 'a;

/// A linear classifier with the certificate of its fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The regularisation.
    pub lambda: Lambda,
    /// The intercept `b`, 0 where the objective has none.
    pub intercept: f64,
    /// The coefficients `w`, one per feature.
    pub coef: Vec<f64>,
    /// The evidence of how good the fit is.
    pub report: Report,
}

impl Fit {
    /// Returns `b + <w, x>`.
    pub fn score(&self, x: &Sample<'_>) -> f64 {
        self.intercept + x.dot(&self.coef)
    }

    /// Returns the dual variables of a fit to this objective with its constrained form: by the duals that
    /// the report [keeps](crate::Options::keep_duals), else by the slopes at the margins, which take one
    /// side of every kink.
    ///
    /// ```
    /// use margins_data::generate::{Example, GaussianMixture};
    /// use margins_losses::LeakyHockeyStick;
    /// use margins_optim::{Lambda, Objective, Options, fit};
    ///
    /// let data = GaussianMixture::example(Example::One, 1)?.sample(30, 2)?;
    /// let objective = Objective::of(&LeakyHockeyStick, &data)?;
    /// let options = Options { tolerance: 1e-12, ..Options::default() };
    /// let fit = fit(&objective, Lambda::new(0.05)?, &options)?;
    /// let form = fit.dual_solution(&objective).constrained.expect("coefficients other than 0");
    /// // Problems (3) and (4) of Kwon and Zou, whose values differ by n.
    /// let (c, n) = (form.norm, 30.0);
    /// let logarithms: f64 = form.multipliers.iter().map(|sigma| sigma.ln()).sum();
    /// let dual = logarithms - 2.0 * n * 0.05 * c * c;
    /// assert!((form.primal - dual - n).abs() < 1e-6 * n);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// The method panics if the objective has another number of features.
    pub fn dual_solution<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
    ) -> DualSolution {
        let Fit { lambda, intercept, coef, report } = self;
        objective.dual_solution(*lambda, *intercept, coef, report.duals.as_deref())
    }

    /// Returns the scores of all samples.
    ///
    /// # Panics
    /// The method panics if the design has another number of features.
    pub fn decision_function(&self, design: &Design) -> Vec<f64> {
        let mut scores = vec![0.0; design.rows()];
        design.multiply(&self.coef, &mut scores);
        for score in &mut scores {
            *score += self.intercept;
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_within_the_tolerance_is_enough_unless_something_stopped_the_solver() {
        let mut report = Ending::unbounded(1.0).report(0, 1e-6);
        for (status, gap, expected) in [
            (Status::Stalled, 1e-7, Status::Converged),
            (Status::IterationLimit, 1e-6, Status::Converged),
            (Status::Converged, 1e-9, Status::Converged),
            (Status::Stalled, 2e-6, Status::Stalled),
            (Status::Interrupted, 1e-7, Status::Interrupted),
            (Status::Contradicted, 1e-7, Status::Contradicted),
        ] {
            (report.status, report.relative_gap) = (status, gap);
            report.converge_to(1e-6);
            assert_eq!(report.status, expected);
        }
    }
}
