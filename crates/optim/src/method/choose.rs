//! The only place that chooses a method.
//!
//! * [`choose`]: for features in memory, the method that is predicted to take the fewest processor
//!   seconds, from the shape of the data, the loss and the lambdas. `docs/linear-classifiers.md` has a
//!   table of the choices.
//! * [`Route`]: for a matrix of inner products of the samples, by the loss.
//! * [`over_parts`]: for samples in the blocks of a file or on workers, and for free columns, by the
//!   loss; [`coordinates_beside_free`]: for free columns in memory, the coordinates;
//!   [`coordinates_of_classes`]: those of several classes in one problem.

use std::time::Instant;

use margins_losses::{MarginLoss, SpecialCase};

use crate::method::costs::{Shape, reflections};
use crate::method::prediction::Problem;
use crate::method::{Choice, Coordinates, LARGEST_DENSE_ORDER, Method, Options, SpaceKind};
use crate::problem::{JointForm, JointObjective, Objective};
use crate::space::{Extent, Samples};
use crate::{Error, Lambda, Solver};

/// The predicted seconds below which the dense systems are not worth a comparison.
const SHORT: f64 = 0.002;

/// The predicted seconds of reflections beyond which features of very different sizes are left as they
/// are: other methods may certify such a problem, and nothing interrupts the reflections.
const LONG: f64 = 5.0;

/// The method that solves a problem.
pub(crate) struct Plan {
    /// The steps of L-BFGS by which it is tried first, with that choice.
    pub(crate) trial: Option<(usize, Choice)>,
    /// The method that continues from there, or solves the whole problem.
    pub(crate) choice: Choice,
}

impl Plan {
    /// Returns the plan of one method.
    pub(crate) fn of(choice: Choice) -> Self {
        Plan { trial: None, choice }
    }
}

/// Returns the plan for a problem at some lambdas, largest first, with features of this extent.
///
/// Features of very different sizes need the dense systems, whose equations are scaled; all other
/// problems take the shortest predicted time. Methods that would not be ready for their first step
/// before the deadline are left out if another one would. How many steps L-BFGS takes depends on more
/// than shapes: it has a trial of about the seconds that are predicted for the method.
pub(crate) fn choose<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    extent: &Extent,
    lambdas: &[Lambda],
    options: &Options,
) -> Plan {
    let is_wide = lambdas.last().is_some_and(|&lambda| extent.is_wide(lambda));
    let left = options.deadline.map_or(f64::INFINITY, |deadline| {
        deadline.saturating_duration_since(Instant::now()).as_secs_f64()
    });
    let problem = Problem { is_wide, ..Problem::new(objective, lambdas) };
    let Shape { n, p, .. } = problem.shape;
    let reflects = is_wide && (p <= n || reflections(n, p) <= left.min(LONG));
    let problem = Problem { reflects, ..problem };
    let usual = problem.usual(options.solver);
    let seconds = problem.seconds(usual);
    let alone = Choice { method: usual, after_trial: false, seconds, next: None };
    let is_open = matches!(options.solver, Solver::Auto | Solver::Newton | Solver::ProximalNewton);
    if !is_open
        || seconds < SHORT
        || (usual.solver == Solver::SDCA
            && problem.curvature.is_none()
            && problem.is_quick_for_ascent())
    {
        return Plan::of(alone);
    }
    let problem = problem.by_values(&objective.design, extent, options.solver);
    if reflects {
        return problem.tried_first(alone, options.solver);
    }
    let mut found: Vec<(Method, f64)> = problem
        .candidates(options.solver)
        .map(|method| (method, problem.seconds(method)))
        .collect();
    found.sort_by(|(a, one), (b, other)| {
        let is_late = |method: &Method| problem.before_first_step(*method) > left;
        is_late(a).cmp(&is_late(b)).then(one.total_cmp(other))
    });
    let choice = match found[..] {
        [(method, seconds), ref rest @ ..] => {
            Choice { method, seconds, next: rest.first().copied(), ..alone }
        }
        [] => alone,
    };
    problem.tried_first(choice, options.solver)
}

/// The methods on a matrix of inner products of the samples, such as a kernel matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Newton's method in sample space.
    SampleSpace,
    /// The same, and the scores of samples left out one at a time.
    LeaveOneOut,
    /// Sequential minimal optimisation.
    SupportVectors,
    /// Majorisation-minimisation in the eigenspace of the matrix.
    Eigenspace,
}

impl Route {
    /// Returns the method of a solver for a loss: for the hinge sequential minimal optimisation.
    ///
    /// # Errors
    /// [`Error::SolverSpace`]: the solver does not work on inner products. [`Error::Unsuitable`]: a
    /// solver other than [`Solver::Auto`] for the hinge.
    pub fn of<L: MarginLoss + ?Sized>(loss: &L, solver: Solver) -> Result<Self, Error> {
        let is_hinge = loss.special_case() == Some(SpecialCase::Hinge);
        solver.check_space(SpaceKind::InnerProducts)?;
        match solver {
            Solver::Auto if is_hinge => Ok(Route::SupportVectors),
            _ if is_hinge => Err(Error::Unsuitable {
                loss: loss.specification(),
                lacks: "has a kink, which this solver cannot take",
                alternative: "Use the automatic choice, which takes sequential minimal optimisation",
            }),
            Solver::Mm { .. } | Solver::MmPublished { .. } => Ok(Route::Eigenspace),
            Solver::Auto | Solver::Newton => Ok(Route::SampleSpace),
            Solver::ProximalNewton
            | Solver::Sdca { .. }
            | Solver::Bundle
            | Solver::Lbfgs
            | Solver::GradientDescent { .. } => Err(solver.refusal(SpaceKind::InnerProducts)),
        }
    }

    /// Returns the largest rank of a factor `K = Z Z'` of a matrix of order n in memory whose
    /// coordinates are a faster way to a minimum than the matrix; `None` if no factor is tried.
    pub fn largest_rank(self, solver: Solver, n: usize) -> Option<usize> {
        const SHARE: usize = 3;
        // Where the columns of the factor no longer stay in the cache it may cost what a few
        // products with the matrix do: r^2 n as against n^2.
        const LARGE: usize = 4000;
        const PRODUCTS: usize = 16;
        let is_tried = self == Route::SampleSpace && solver == Solver::Auto;
        is_tried.then(|| if n <= LARGE { n / SHARE } else { (PRODUCTS * n).isqrt() })
    }

    /// Returns true if [dual ascent](crate::path::joint_path_on_matrix) is the fastest way to the minimum of
    /// several classes in one problem, by the matrix itself: for a loss with a kink.
    pub fn ascends<L: MarginLoss + ?Sized>(form: JointForm, loss: &L, solver: Solver) -> bool {
        solver == Solver::Auto && form.has_kink(loss)
    }

    /// Returns true if [Newton's method with products](crate::path::joint_path_by_products) of the kernel matrix
    /// of n samples is a faster way to the minimum of k classes in one problem than coordinates of its
    /// eigenspace: for a differentiable loss, unless these are so few that one dense system has them all.
    pub fn multiplies<L: MarginLoss + ?Sized>(
        form: JointForm,
        loss: &L,
        solver: Solver,
        (n, k): (usize, usize),
    ) -> bool {
        let is_asked = matches!(solver, Solver::Auto | Solver::Newton);
        is_asked && !form.has_kink(loss) && n * k > LARGEST_DENSE_ORDER
    }

    /// Returns true if the inner products of `rows` samples in features, so many `columns`, are a faster
    /// way to a minimum than the features themselves: for the hinge, if there are at most 64 samples per
    /// feature.
    pub fn suits_features<L: MarginLoss + ?Sized>(
        loss: &L,
        solver: Solver,
        (rows, columns): (usize, usize),
    ) -> bool {
        let is_sequential = matches!(Route::of(loss, solver), Ok(Route::SupportVectors));
        is_sequential && suits_ascent((rows, columns))
    }
}

/// Returns true if dual ascent on the inner products of `rows` samples in so many features takes fewer seconds
/// than Newton's method in the features, for a loss with a kink: with at most 64 samples per feature.
pub(crate) fn suits_ascent((rows, columns): (usize, usize)) -> bool {
    const MOST: usize = 64;
    rows <= MOST * columns
}

/// The methods over samples of which sums alone are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OverParts {
    Newton,
    /// The proximal point method on the dual, with Newton's method on smoothed losses for its steps.
    SmoothedNewton,
}

/// Returns Newton's method over samples of which sums alone are known, or that have free columns: on
/// smoothed losses where the loss has a kink.
///
/// # Errors
/// [`Error::SolverSpace`]: the solver needs the samples themselves. [`Error::Unsuitable`]: the loss is
/// not convex, or has a kink that the samples cannot smooth.
pub(crate) fn over_parts<S: Samples>(samples: &S, solver: Solver) -> Result<OverParts, Error> {
    solver.check_space(SpaceKind::Parts)?;
    samples.check_loss()?;
    Ok(if samples.is_smoothed() { OverParts::SmoothedNewton } else { OverParts::Newton })
}

/// Returns the coordinates for an objective with free columns: of fewer samples than features the row
/// space, for a loss with a kink, whose proximal steps need many equations each.
pub(crate) fn coordinates_beside_free<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
) -> Coordinates {
    let Objective { risk, design, free } = objective;
    let (n, p) = (design.rows(), design.columns() - free.get().len());
    let is_wide = p > n && n <= LARGEST_DENSE_ORDER;
    let in_row_space = is_wide && !risk.loss().is_differentiable();
    if in_row_space { Coordinates::RowSpace } else { Coordinates::Features }
}

/// Returns the coordinates for several classes in one problem: of few samples with twice as many
/// features the row space, for losses without a kink and features that all have a penalty.
pub(crate) fn coordinates_of_classes<L: MarginLoss + ?Sized>(
    objective: &JointObjective<'_, L>,
) -> Coordinates {
    /// The largest number of samples whose row space is computed, in a few seconds.
    const MOST: usize = 1000;
    let (n, p) = (objective.design.rows(), objective.design.columns());
    let has_kink = objective.form.has_kink(objective.loss);
    let is_wide = n <= MOST && p >= 2 * n;
    let in_row_space = is_wide && !has_kink && objective.free.get().is_empty();
    if in_row_space { Coordinates::RowSpace } else { Coordinates::Features }
}

impl Problem {
    /// Returns the method of a solver in the coordinates that suit it whatever the features: for the
    /// automatic one Newton's method on dense systems, up to an order.
    fn usual(&self, solver: Solver) -> Method {
        let Shape { n, p, .. } = self.shape;
        let most = LARGEST_DENSE_ORDER as f64;
        let has_dense = n.min(p) <= most;
        let solver = match (solver, self.curvature) {
            (Solver::Auto, Some(_)) if has_dense || self.count > 1.0 => Solver::Newton,
            (Solver::Auto, None) if has_dense && !self.is_quick_for_ascent() => {
                Solver::ProximalNewton
            }
            (Solver::Auto, _) => Solver::SDCA,
            (solver, _) => solver,
        };
        // These take the same steps in the row space, whose basis costs more than they do, unless
        // features of very different sizes call for it.
        let as_well = !solver.takes(SpaceKind::InnerProducts) && solver != Solver::ProximalNewton;
        let in_row_space =
            p > n && n <= most && (!as_well || self.reflects) && self.reflects == self.is_wide;
        let coordinates = if in_row_space { Coordinates::RowSpace } else { Coordinates::Features };
        Method { solver, coordinates, is_dense: in_row_space || p <= most }
    }

    /// Returns true if dual ascent needs few epochs at a single lambda: there is no intercept, whose
    /// constraint slows it down, and the condition `(1/n) sum c_i ||x_i||^2 / (n lambda)`, to which
    /// the number of epochs is proportional (Shalev-Shwartz and Zhang 2013, theorem 2), is at most 8.
    fn is_quick_for_ascent(&self) -> bool {
        const CONDITION: f64 = 8.0;
        !self.has_intercept && self.count == 1.0 && self.ascent_condition() <= CONDITION
    }

    /// Returns the plan of a choice with a trial of L-BFGS, if the automatic solver was asked for and the
    /// loss is differentiable.
    ///
    /// Where F [is flat](Self::is_flat), steps are about as many as the root of the condition number: no
    /// trial begins that has no time for them.
    fn tried_first(&self, choice: Choice, asked: Solver) -> Plan {
        /// The share of the predicted seconds that the trial may take.
        const SHARE: f64 = 0.9;
        /// The steps that the first lambda takes at least, and every other one of a path.
        const FEWEST: f64 = 4.0;
        const A_LAMBDA: f64 = 1.0;
        let steps = (SHARE * choice.seconds / self.step_of_lbfgs()).floor();
        let expected = if self.is_flat() { self.condition().sqrt() } else { FEWEST };
        let is_tried = asked == Solver::Auto && self.curvature.is_some();
        if !is_tried || steps < expected.max(FEWEST) + A_LAMBDA * (self.count - 1.0) {
            return Plan::of(choice);
        }
        let (coordinates, is_dense) = (Coordinates::Features, false);
        let of_trial = Choice {
            method: Method { solver: Solver::Lbfgs, coordinates, is_dense },
            after_trial: false,
            seconds: SHARE * choice.seconds,
            next: Some((choice.method, choice.seconds)),
        };
        let trial = Some((steps as usize, of_trial));
        Plan { trial, choice: Choice { after_trial: true, ..choice } }
    }

    fn candidates(&self, asked: Solver) -> impl Iterator<Item = Method> {
        let Shape { n, p, .. } = self.shape;
        let most = LARGEST_DENSE_ORDER as f64;
        let newton = match (asked, self.curvature) {
            (Solver::Auto, None) | (Solver::ProximalNewton, _) => Solver::ProximalNewton,
            _ => Solver::Newton,
        };
        let on_features =
            |solver, is_dense| Method { solver, coordinates: Coordinates::Features, is_dense };
        let in_row_space =
            Method { solver: newton, coordinates: Coordinates::RowSpace, is_dense: true };
        let is_auto = asked == Solver::Auto;
        let has_kink = self.curvature.is_none();
        [
            (p <= n && p <= most, on_features(newton, true)),
            (p > n && n <= most, in_row_space),
            (!(is_auto && has_kink), on_features(newton, false)),
            (is_auto, on_features(Solver::SDCA, p <= most)),
        ]
        .into_iter()
        .filter_map(|(is_one, method)| is_one.then_some(method))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use margins_data::{Design, Labels};
    use margins_losses::{Hinge, Logistic, MarginLoss};
    use nalgebra::DMatrix;

    use super::{Plan, choose};
    use crate::method::{Choice, Coordinates};
    use crate::space::Extent;
    use crate::{Objective, Options, Solver, lambda_grid};

    /// Returns the plan for sparse samples of four features each, or for dense ones.
    fn plan(
        loss: &dyn MarginLoss,
        (n, p, is_sparse): (usize, usize, bool),
        (from, count): (f64, usize),
        options: &Options<'_>,
    ) -> Plan {
        let row = |i: usize| (0..4).map(|k| ((97 * i + 31 * k * k + k) % p, 0.5)).collect();
        let design = if is_sparse {
            let mut rows: Vec<Vec<(usize, f64)>> = (0..n).map(row).collect();
            rows.iter_mut().for_each(|row| {
                row.sort_by_key(|(column, _)| *column);
                row.dedup_by_key(|(column, _)| *column);
            });
            Design::from_sparse_rows(&rows, p)
        } else {
            let value = |j: usize, i: usize| ((i * p + j) as f64 * 0.7).sin();
            Design::from_samples(DMatrix::from_fn(p, n, value))
        }
        .expect("finite");
        let signs = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let labels = Labels::from_signs(signs).expect("two classes");
        let objective = Objective::new(loss, &design, &labels).expect("fits");
        let to = if count == 1 { from } else { 1e-4 * from };
        let lambdas = lambda_grid(from, to, count).expect("a grid");
        choose(&objective, &Extent::of(&design), &lambdas, options)
    }

    fn of(
        loss: &dyn MarginLoss,
        shape: (usize, usize, bool),
        lambdas: (f64, usize),
        options: &Options<'_>,
    ) -> Choice {
        plan(loss, shape, lambdas, options).choice
    }

    /// L-BFGS is tried first where the loss has a derivative and no method was asked for.
    #[test]
    fn large_smooth_problems_have_a_trial() {
        let auto = Options::default();
        let (table, lambdas) = ((2500, 6000, true), (1e-4, 3));
        let Plan { trial, choice } = plan(&Logistic, table, lambdas, &auto);
        let (steps, first) = trial.expect("a trial");
        assert!(steps > 3 && first.method.solver == Solver::Lbfgs && choice.after_trial);
        assert!(first.seconds < choice.seconds, "{first} {choice}");
        assert!(plan(&Hinge, table, lambdas, &auto).trial.is_none());
        let newton = Options { solver: Solver::Newton, ..auto };
        assert!(plan(&Logistic, table, lambdas, &newton).trial.is_none());
    }

    /// Wide and sparse samples are not rotated, whatever the loss, small problems are solved by dense
    /// systems, and a solver that was asked for is taken.
    #[test]
    fn the_shape_of_the_data_decides() {
        let auto = Options::default();
        for loss in [&Logistic as &dyn MarginLoss, &Hinge] {
            for lambdas in [(1e-2, 1), (1e-2, 20)] {
                let choice = of(loss, (2500, 6000, true), lambdas, &auto);
                assert_eq!(choice.method.coordinates, Coordinates::Features, "{choice}");
                assert!(choice.next.is_some_and(|(_, seconds)| seconds >= choice.seconds));
            }
            let small = of(loss, (20, 50, false), (1e-2, 1), &auto);
            assert_eq!(small.method.coordinates, Coordinates::RowSpace, "{small}");
        }
        let tall = of(&Logistic, (4000, 60, false), (1e-3, 20), &auto);
        assert_eq!((tall.method.solver, tall.method.is_dense), (Solver::Newton, true), "{tall}");
        let options = Options { solver: Solver::Newton, ..auto };
        let asked = of(&Logistic, (2500, 6000, true), (1e-2, 1), &options);
        assert_eq!(asked.method.solver, Solver::Newton);
        assert_eq!(asked.method.coordinates, Coordinates::Features, "{asked}");
        assert!(asked.to_string().starts_with("newton on the features by conjugate gradients"));
        let options = Options { solver: Solver::Bundle, ..auto };
        assert_eq!(of(&Hinge, (300, 60, false), (1e-2, 1), &options).next, None);
    }

    /// A preparation that nothing interrupts does not begin where the deadline would come first.
    #[test]
    fn what_cannot_be_ready_before_the_deadline_is_left_out() {
        let options = |seconds| {
            let deadline = Some(Instant::now() + Duration::from_secs_f64(seconds));
            Options { solver: Solver::Newton, deadline, ..Options::default() }
        };
        let coordinates = |seconds| {
            let choice = of(&Logistic, (400, 800, false), (1e-9, 1), &options(seconds));
            choice.method.coordinates
        };
        assert_eq!(coordinates(3600.0), Coordinates::RowSpace);
        assert_eq!(coordinates(0.0), Coordinates::Features);
    }
}
