use std::time::Instant;

use margins_losses::MarginLoss;

use crate::Error;
use crate::problem::EmpiricalRisk;
use crate::solve::Status;

/// How to minimise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Solver {
    /// Newton where one of its two systems is small enough to be dense, and for paths of several lambdas;
    /// else, and for a loss with a kink, stochastic dual coordinate ascent.
    #[default]
    Auto,
    /// Majorisation-minimisation as published (Kwon and Zou 2023, appendix C), one
    /// eigendecomposition for all lambdas. Needs a finite [`curvature`].
    ///
    /// [`curvature`]: margins_losses::MarginLoss::curvature
    Mm,
    /// The same with Nesterov extrapolation and restarts; never increases the objective.
    MmAccelerated,
    /// The same for ten lambdas at a time, which advance together as products of matrices; with a kernel,
    /// those of all folds of a cross-validation at once.
    MmBatched,
    /// Semismooth Newton with line search.
    Newton,
    /// Stochastic dual coordinate ascent, for every convex loss, with kinks or without; of linear
    /// classifiers only.
    Sdca,
    /// Cutting planes with line search, for every convex loss; of linear classifiers only.
    Bundle,
    /// Gradient descent (Holland 2019, algorithm 1), the intercept settled after every step; of linear
    /// classifiers only.
    GradientDescent,
}

impl Solver {
    /// The solver itself, or the one that the automatic choice comes to, where a Newton system is dense or
    /// is not, for one lambda or several: of a path Newton gains more from the fits before, and the ray is
    /// its own.
    ///
    /// # Errors
    /// A loss that it cannot take.
    pub(crate) fn resolve<L: MarginLoss + ?Sized>(
        self,
        risk: &EmpiricalRisk<'_, L>,
        dense: bool,
        lambdas: usize,
    ) -> Result<Self, Error> {
        risk.check_convex()?;
        let solver = match self {
            Solver::Auto if risk.loss().is_differentiable() && (dense || lambdas > 1) => {
                Solver::Newton
            }
            Solver::Auto => Solver::Sdca,
            chosen => chosen,
        };
        if !matches!(solver, Solver::Sdca | Solver::Bundle) {
            risk.check_loss()?;
        }
        Ok(solver)
    }
}

/// The steps of gradient descent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum StepRule {
    /// This step length, whether F decreases or not.
    Fixed(f64),
    /// `2/(kappa + v)` with `kappa = 2 lambda` and `v = L''_max (1/n) sum c_i ||x_i||^2 + 2 lambda`, at which
    /// the distance to the minimiser shrinks by `(v - kappa)/(v + kappa)` or more a step. Needs a finite
    /// [`curvature`](margins_losses::MarginLoss::curvature).
    Smooth,
    /// A search along the gradient for a step that decreases F.
    #[default]
    LineSearch,
}

/// When a solver may stop.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum StoppingRule {
    /// When the relative duality gap is at most [`Options::tolerance`].
    #[default]
    RelativeGap,
    /// When the squared change of intercept and coefficients in one MM step is at most this, the
    /// rule of the R package of the leaky hockey stick paper (which takes 1e-5). It certifies
    /// nothing and is here for comparisons; MM alone knows it.
    CoefficientChange(f64),
}

/// What a solver is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The method.
    pub solver: Solver,
    /// Relative duality gap to reach.
    pub tolerance: f64,
    /// The steps of gradient descent; no other solver looks at them.
    pub step: StepRule,
    /// Most iterations at one lambda; `None` for the default of the solver (10000 for MM and gradient
    /// descent, 200 for Newton, 1000 for dual ascent, 2000 for the bundle method).
    pub max_iterations: Option<usize>,
    /// When to give up, looked at between iterations (between rounds of them by dual ascent and the support vector
    /// machine): what is not certified by then ends as [`Status::TimeLimit`], every further lambda of a path
    /// at once. A fit that it has cut short depends on the machine; one that it has not does not. The
    /// stochastic and the robust learners do not look at it.
    pub deadline: Option<Instant>,
    /// When to stop.
    pub stopping: StoppingRule,
    /// Whether a path may follow the ray in closed form once every margin is on the homogeneous tail
    /// of the loss. The result is the same, only sooner.
    pub closed_form_ray: bool,
    /// Whether reports keep one [`HistoryEntry`](crate::HistoryEntry) an iteration.
    pub history: bool,
    /// Seed of the order in which stochastic solvers visit the samples, and of the part of many samples that Newton
    /// starts from.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            solver: Solver::Auto,
            tolerance: 1e-6,
            step: StepRule::default(),
            max_iterations: None,
            deadline: None,
            stopping: StoppingRule::RelativeGap,
            closed_form_ray: true,
            history: false,
            seed: 1,
        }
    }
}

impl Options {
    /// Why a solver must give up after so many iterations, of `limit` at most; `None` if it may go on.
    pub fn exhausted(&self, iterations: usize, limit: usize) -> Option<Status> {
        if iterations >= limit {
            Some(Status::IterationLimit)
        } else {
            self.is_late().then_some(Status::TimeLimit)
        }
    }

    /// Whether the deadline has passed.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether the options make sense.
    ///
    /// # Errors
    /// A tolerance or a fixed step that is not a positive number.
    pub fn check(&self) -> Result<(), Error> {
        if let StepRule::Fixed(step) = self.step {
            Error::check_positive("the step of gradient descent", step)?;
        }
        let change = match self.stopping {
            StoppingRule::CoefficientChange(change) => change,
            StoppingRule::RelativeGap => self.tolerance,
        };
        match [self.tolerance, change].into_iter().find(|t| !(t.is_finite() && *t > 0.0)) {
            Some(wrong) => Err(Error::Tolerance(wrong)),
            None => Ok(()),
        }
    }
}
