//! The solvers and the options that they share.

use std::time::Instant;

use margins_losses::{MarginLoss, OutOfRange};

use crate::Error;
use crate::method::watch::is_over;
use crate::method::{Requirements, SpaceKind, Watch};
use crate::problem::Need;

/// A method with its own settings.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Solver {
    /// The solver that is predicted to take the fewest processor seconds, from the shape of the data,
    /// the loss and the lambdas: Newton, proximal Newton or dual coordinate ascent, after a trial of
    /// L-BFGS if the loss is differentiable.
    /// [`Report::choice`](crate::Report::choice) names it, with the prediction.
    #[default]
    Auto,
    /// Majorisation-minimisation (Kwon and Zou 2023, appendix C), with one eigendecomposition for
    /// all lambdas. It needs a finite [`curvature`](margins_losses::MarginLoss::curvature).
    Mm {
        /// True for Nesterov's extrapolation with restarts, with which the method never increases
        /// the objective either.
        accelerated: bool,
    },
    /// Majorisation-minimisation with the stopping rule of the R package of its authors:
    /// [`Solver::MM_PUBLISHED`]. Each lambda starts from the last point of the one before, and ends when
    /// the sum of the squared changes of the coefficients in a step is below a number. The path ends at
    /// the lambda at which the iterations of all lambdas together reach a limit: that lambda and the
    /// smaller ones have no fit, unless it is the first. The rule certifies nothing; reports have the
    /// gap that it leaves.
    ///
    /// The coefficients are the intercept with `w`, and with a kernel the intercept with one
    /// coefficient per sample.
    MmPublished {
        /// The sum of squared changes below which a lambda ends.
        change: f64,
        /// The number of iterations at all lambdas together after which the path ends.
        path_iterations: usize,
    },
    /// Semismooth Newton with line search.
    Newton,
    /// The proximal point method on the dual with Newton for its steps, for every convex loss, with
    /// kinks or without, and linear classifiers only.
    ProximalNewton,
    /// Stochastic dual coordinate ascent, for every convex loss, with kinks or without, and linear
    /// classifiers only.
    Sdca {
        /// The seed of the order in which samples are visited.
        seed: u64,
    },
    /// Cutting planes with line search, for every convex loss and linear classifiers only.
    Bundle,
    /// Limited-memory BFGS (Liu and Nocedal 1989), with the intercept minimised after every step, for
    /// linear classifiers only.
    Lbfgs,
    /// Gradient descent (Holland 2019, algorithm 1), with the intercept minimised after every step,
    /// for linear classifiers only.
    GradientDescent {
        /// The rule for the lengths of its steps.
        step: StepRule,
    },
}

impl Solver {
    /// Majorisation-minimisation as published, but ended by the duality gap.
    pub const MM: Solver = Solver::Mm { accelerated: false };
    /// Majorisation-minimisation with extrapolation.
    pub const MM_ACCELERATED: Solver = Solver::Mm { accelerated: true };
    /// Majorisation-minimisation as published, ended by a change of 1e-5 and 10,000 iterations per path.
    pub const MM_PUBLISHED: Solver = Solver::MmPublished { change: 1e-5, path_iterations: 10_000 };
    /// Dual coordinate ascent with the seed 1.
    pub const SDCA: Solver = Solver::Sdca { seed: 1 };
    /// Gradient descent with a line search.
    pub const GRADIENT_DESCENT: Solver = Solver::GradientDescent { step: StepRule::LineSearch };

    /// The methods by their names on the command line and in Python, each with its default settings.
    pub const NAMED: [(&'static str, Solver); 9] = [
        ("auto", Solver::Auto),
        ("mm", Solver::MM),
        ("mm-accelerated", Solver::MM_ACCELERATED),
        ("newton", Solver::Newton),
        ("proximal-newton", Solver::ProximalNewton),
        ("sdca", Solver::SDCA),
        ("bundle", Solver::Bundle),
        ("lbfgs", Solver::Lbfgs),
        ("gd", Solver::GRADIENT_DESCENT),
    ];

    /// Returns the method of a name, which [`NAMED`](Self::NAMED) lists.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, solver)| solver)
    }

    /// Returns the method with the published stopping rule: [`MM_PUBLISHED`](Self::MM_PUBLISHED) for
    /// [`MM`](Self::MM) and [`Auto`](Self::Auto), `None` for others, which have no such rule.
    ///
    /// ```
    /// use margins_optim::Solver;
    ///
    /// assert_eq!(Solver::Auto.with_published_rule(), Some(Solver::MM_PUBLISHED));
    /// assert_eq!(Solver::Newton.with_published_rule(), None);
    /// ```
    pub fn with_published_rule(self) -> Option<Self> {
        matches!(self, Solver::Auto | Solver::MM).then_some(Solver::MM_PUBLISHED)
    }

    /// Returns the method with another seed, if it draws anything.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        match self {
            Solver::Sdca { .. } => Solver::Sdca { seed },
            other => other,
        }
    }

    /// Returns the name of the method, one for all of its settings.
    pub fn name(&self) -> &'static str {
        let is_it = |named: &Solver| std::mem::discriminant(named) == std::mem::discriminant(self);
        match self {
            Solver::MmPublished { .. } => Solver::MM.name(),
            _ => Self::NAMED.iter().find(|(_, named)| is_it(named)).map_or("", |(name, _)| name),
        }
    }

    /// Returns what the method needs of a loss, and the spaces that it works in: the one declaration of
    /// a method.
    ///
    /// ```
    /// use margins_optim::Solver;
    /// use margins_optim::method::SpaceKind;
    ///
    /// assert!(Solver::Newton.requirements().spaces.contains(&SpaceKind::InnerProducts));
    /// assert_eq!(Solver::SDCA.requirements().spaces, [SpaceKind::Features]);
    /// ```
    pub fn requirements(&self) -> Requirements {
        use SpaceKind::{Features, FreeFeatures, InnerProducts, Joint, Parts, Unpenalised};
        const CONVEX: &[Need] = &[Need::Convexity];
        const SMOOTH: &[Need] = &[Need::Convexity, Need::Differentiability];
        const BOUNDED: &[Need] = &[Need::Convexity, Need::Differentiability, Need::Curvature];
        const ALL: &[SpaceKind] =
            &[Features, FreeFeatures, InnerProducts, Parts, Joint, Unpenalised];
        const PENALISED: &[SpaceKind] = &[Features, FreeFeatures, InnerProducts, Parts, Joint];
        const FEATURES: &[SpaceKind] = &[Features];
        const DESCENT: &[SpaceKind] = &[Features, Unpenalised];
        let (loss, spaces) = match self {
            Solver::Auto => (CONVEX, ALL),
            Solver::Newton => (SMOOTH, PENALISED),
            Solver::Mm { .. } | Solver::MmPublished { .. } => {
                (BOUNDED, &[Features, InnerProducts][..])
            }
            Solver::ProximalNewton | Solver::Sdca { .. } | Solver::Bundle => (CONVEX, FEATURES),
            Solver::GradientDescent { step: StepRule::Smooth } => (BOUNDED, DESCENT),
            Solver::Lbfgs | Solver::GradientDescent { .. } => (SMOOTH, DESCENT),
        };
        Requirements { loss, spaces }
    }

    /// Returns true if the method works in such a space.
    pub fn takes(&self, space: SpaceKind) -> bool {
        self.requirements().spaces.contains(&space)
    }

    /// Refuses a space that the method does not work in.
    ///
    /// # Errors
    /// [`Error::SolverSpace`] names the method, the space, and the methods that work in it.
    pub fn check_space(&self, space: SpaceKind) -> Result<(), Error> {
        if self.takes(space) { Ok(()) } else { Err(self.refusal(space)) }
    }

    pub(super) fn refusal(&self, space: SpaceKind) -> Error {
        let takes = |(name, solver): (_, Solver)| solver.takes(space).then_some(name);
        let solvers: Vec<&str> = Self::NAMED.into_iter().filter_map(takes).collect();
        let mut instead = format!("one of {}", solvers.join(", "));
        if space == SpaceKind::InnerProducts {
            instead += ", or an approximation by features: nystrom or rff";
        }
        Error::SolverSpace { solver: self.name(), space: space.to_string(), instead }
    }

    /// Returns true if the method may end a path before its last lambda.
    pub fn ends_paths(&self) -> bool {
        matches!(self, Solver::MmPublished { .. })
    }

    /// Refuses a loss that lacks a property that the method needs.
    ///
    /// # Errors
    /// [`Error::Unsuitable`]: the solver cannot take the loss.
    pub(crate) fn check_loss<L: MarginLoss + ?Sized>(&self, loss: &L) -> Result<(), Error> {
        self.requirements().loss.iter().try_for_each(|need| need.check(loss))
    }

    fn check(&self) -> Result<(), Error> {
        match *self {
            Solver::GradientDescent { step: StepRule::Fixed(step) } => {
                OutOfRange::check_positive("the step of gradient descent", step)?;
                Ok(())
            }
            Solver::MmPublished { change, .. } => check_tolerance(change),
            _ => Ok(()),
        }
    }
}

/// The rule for the steps of gradient descent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum StepRule {
    /// Every step has this length, even if F does not decrease.
    Fixed(f64),
    /// The step is `2/(kappa + v)` with `kappa = 2 lambda` and
    /// `v = L''_max (1/n) sum c_i ||x_i||^2 + 2 lambda`, at which the distance to the minimiser
    /// shrinks by `(v - kappa)/(v + kappa)` or more per step. It needs a finite
    /// [`curvature`](margins_losses::MarginLoss::curvature).
    Smooth,
    /// A search along the gradient finds a step that decreases F.
    #[default]
    LineSearch,
}

/// The settings that every solver shares.
#[derive(Debug, Clone, Copy)]
pub struct Options<'w> {
    /// The method.
    pub solver: Solver,
    /// The relative duality gap to reach.
    pub tolerance: f64,
    /// The largest number of iterations at one lambda; `None` for the default of the solver (10000
    /// for MM, L-BFGS and gradient descent, 200 for Newton, 1000 for proximal Newton and dual ascent, 2000
    /// for the bundle method).
    pub max_iterations: Option<usize>,
    /// The time at which solvers give up; they check it between iterations (dual ascent and the
    /// support vector machine between rounds of them). A fit that is not certified by then ends as
    /// [`Status::TimeLimit`](crate::Status::TimeLimit), every further lambda of a path at once. A
    /// fit that the deadline cuts short depends on the machine; any other does not.
    pub deadline: Option<Instant>,
    /// True if a path may follow the ray in closed form once every margin is on the homogeneous
    /// tail of the loss. The result does not change, it only comes sooner.
    pub closed_form_ray: bool,
    /// True if reports keep one [`HistoryEntry`](crate::HistoryEntry) per iteration.
    pub history: bool,
    /// True if reports of linear fits keep the [duals](crate::Report::duals) that certify them.
    pub keep_duals: bool,
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
            keep_duals: false,
            watch: None,
        }
    }
}

impl Options<'_> {
    /// Returns true if the deadline has passed.
    pub fn is_late(&self) -> bool {
        is_over(self.deadline)
    }

    /// Returns the options of a search that continues after so many iterations: those that a limit was given
    /// for count against it. `None` if that leaves none.
    pub fn after(&self, iterations: usize) -> Option<Self> {
        let left = self.max_iterations.map(|limit| limit.saturating_sub(iterations));
        (left != Some(0)).then_some(Options { max_iterations: left, ..*self })
    }

    /// Refuses settings out of their range.
    ///
    /// # Errors
    /// [`Error::Tolerance`]: the tolerance is not positive. [`Error::Parameter`]: a fixed step is
    /// not a finite number greater than 0.
    pub fn check(&self) -> Result<(), Error> {
        check_tolerance(self.tolerance)?;
        self.solver.check()
    }
}

fn check_tolerance(tolerance: f64) -> Result<(), Error> {
    if tolerance.is_finite() && tolerance > 0.0 { Ok(()) } else { Err(Error::Tolerance(tolerance)) }
}
