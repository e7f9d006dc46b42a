use std::time::Instant;

use margins_losses::MarginLoss;

use crate::Error;
use crate::problem::{EmpiricalRisk, Need};
use crate::solve::Watch;

/// A method with its own settings.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Solver {
    /// Newton where one of its two systems is small enough to be dense, and for paths of several lambdas;
    /// else, and for a loss with a kink, stochastic dual coordinate ascent.
    #[default]
    Auto,
    /// Majorisation-minimisation (Kwon and Zou 2023, appendix C), one eigendecomposition for all lambdas. Needs a finite
    /// [`curvature`](margins_losses::MarginLoss::curvature). [`Solver::MM`] is the published form.
    Mm {
        /// True for Nesterov's extrapolation with restarts; it never increases the objective either.
        accelerated: bool,
        /// When it may stop.
        stopping: StoppingRule,
    },
    /// Accelerated majorisation-minimisation for ten lambdas at a time, which advance together as products of matrices;
    /// with a kernel, those of all folds of a cross-validation at once.
    MmBatched,
    /// Semismooth Newton with line search.
    Newton,
    /// Stochastic dual coordinate ascent, for every convex loss, with kinks or without; of linear
    /// classifiers only.
    Sdca {
        /// The seed of the order in which samples are visited.
        seed: u64,
    },
    /// Cutting planes with line search, for every convex loss; of linear classifiers only.
    Bundle,
    /// Gradient descent (Holland 2019, algorithm 1), the intercept settled after every step; of linear
    /// classifiers only.
    GradientDescent {
        /// The lengths of its steps.
        step: StepRule,
    },
}

impl Solver {
    /// Majorisation-minimisation as published, but ended by the duality gap.
    pub const MM: Solver = Solver::Mm { accelerated: false, stopping: StoppingRule::RelativeGap };
    /// Majorisation-minimisation with extrapolation.
    pub const MM_ACCELERATED: Solver =
        Solver::Mm { accelerated: true, stopping: StoppingRule::RelativeGap };
    /// Dual coordinate ascent with the seed 1.
    pub const SDCA: Solver = Solver::Sdca { seed: 1 };
    /// Gradient descent with a line search.
    pub const GRADIENT_DESCENT: Solver = Solver::GradientDescent { step: StepRule::LineSearch };

    /// Returns what the method needs of a loss.
    pub fn needs(&self) -> &'static [Need] {
        const CONVEX: &[Need] = &[Need::Convexity];
        const SMOOTH: &[Need] = &[Need::Convexity, Need::Differentiability];
        const BOUNDED: &[Need] = &[Need::Convexity, Need::Differentiability, Need::Curvature];
        match self {
            Solver::Auto | Solver::Sdca { .. } | Solver::Bundle => CONVEX,
            Solver::Mm { .. }
            | Solver::MmBatched
            | Solver::GradientDescent { step: StepRule::Smooth } => BOUNDED,
            Solver::Newton | Solver::GradientDescent { .. } => SMOOTH,
        }
    }

    /// Returns true if the method is for linear classifiers only.
    pub fn is_linear_only(&self) -> bool {
        matches!(self, Solver::Sdca { .. } | Solver::Bundle | Solver::GradientDescent { .. })
    }

    /// Returns the solver itself, or the one that the automatic choice comes to, where a Newton system is dense or
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
        self.needs().iter().try_for_each(|need| need.check(risk.loss))?;
        Ok(match self {
            Solver::Auto if risk.loss.is_differentiable() && (dense || lambdas > 1) => {
                Solver::Newton
            }
            Solver::Auto => Solver::SDCA,
            chosen => chosen,
        })
    }

    /// Refuses settings out of their range.
    fn check(&self) -> Result<(), Error> {
        match *self {
            Solver::GradientDescent { step: StepRule::Fixed(step) } => {
                Error::check_positive("the step of gradient descent", step).map(drop)
            }
            Solver::Mm { stopping: StoppingRule::CoefficientChange(change), .. } => {
                check_tolerance(change)
            }
            _ => Ok(()),
        }
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

/// When majorisation-minimisation may stop.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum StoppingRule {
    /// When the relative duality gap is at most [`Options::tolerance`].
    #[default]
    RelativeGap,
    /// When the squared change of intercept and coefficients in one step is at most this, the
    /// rule of the R package of the leaky hockey stick paper (which takes 1e-5). It certifies
    /// nothing and is here for comparisons.
    CoefficientChange(f64),
}

/// What every solver is told.
#[derive(Debug, Clone, Copy)]
pub struct Options<'w> {
    /// The method.
    pub solver: Solver,
    /// Relative duality gap to reach.
    pub tolerance: f64,
    /// Most iterations at one lambda; `None` for the default of the solver (10000 for MM and gradient
    /// descent, 200 for Newton, 1000 for dual ascent, 2000 for the bundle method).
    pub max_iterations: Option<usize>,
    /// When to give up, looked at between iterations (between rounds of them by dual ascent and the support vector
    /// machine): what is not certified by then ends as [`Status::TimeLimit`](crate::Status::TimeLimit), every further
    /// lambda of a path at once. A fit that it has cut short depends on the machine; one that it has not does not. The
    /// stochastic and the robust learners do not look at it.
    pub deadline: Option<Instant>,
    /// True if a path may follow the ray in closed form once every margin is on the homogeneous tail
    /// of the loss. The result is the same, only sooner.
    pub closed_form_ray: bool,
    /// True if reports keep one [`HistoryEntry`](crate::HistoryEntry) an iteration.
    pub history: bool,
    /// A callback that sees every iteration and may stop the solver.
    pub watch: Option<Watch<'w>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            solver: Solver::Auto,
            tolerance: 1e-6,
            max_iterations: None,
            deadline: None,
            closed_form_ray: true,
            history: false,
            watch: None,
        }
    }
}

impl Options<'_> {
    /// Returns true if the deadline has passed.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Refuses settings out of their range.
    ///
    /// # Errors
    /// A tolerance or a fixed step that is not a positive number.
    pub fn check(&self) -> Result<(), Error> {
        check_tolerance(self.tolerance)?;
        self.solver.check()
    }
}

fn check_tolerance(tolerance: f64) -> Result<(), Error> {
    if tolerance.is_finite() && tolerance > 0.0 { Ok(()) } else { Err(Error::Tolerance(tolerance)) }
}
