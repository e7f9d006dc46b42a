//! Takes fits in row-space coordinates back to the features, and certifies them there.

use margins_losses::MarginLoss;

use crate::Lambda;
use crate::certificate::{Certificate, Evaluator, dual};
use crate::method::{Ending, Fit, Newton, Options, Solver, Status, System};
use crate::path::engine::assemble;
use crate::problem::Point;
use crate::space::{Duals, InMemory, RowSpace, Scores};

/// Takes fits in row-space coordinates back to the original features and certifies them there,
/// against the true data and not their factorisation.
pub(super) struct Lift<'o, 'a, L: MarginLoss + ?Sized> {
    pub(super) evaluator: Evaluator<InMemory<'o, 'a, L>>,
    pub(super) row_space: RowSpace,
}

impl<L: MarginLoss + ?Sized> Lift<'_, '_, L> {
    pub(super) fn fit(
        &mut self,
        lambda: Lambda,
        reduced: &Point,
        mut duals: Option<Vec<f64>>,
        ending: Ending,
        passes: usize,
        options: &Options,
    ) -> Fit {
        let objective = self.evaluator.samples.objective;
        let coef = self.row_space.coefficients(&objective.design, &reduced.coef);
        let mut point = Point::at(&objective.design, reduced.intercept, coef);
        let before = self.evaluator.passes;
        self.evaluator.settle_intercept(&mut point);
        let mut certificate = self.evaluator.appraise_settled(lambda, &point);
        if certificate.relative_gap() > options.tolerance {
            let duals = duals.get_or_insert_with(|| self.slopes_at(reduced));
            let gradient_norm = certificate.gradient_norm;
            let (by_duals, _) = dual::certify(&mut self.evaluator, lambda, &point, duals);
            certificate = Certificate { gradient_norm, ..certificate.or(by_duals) };
        }
        let mut ending = Ending { certificate, ..ending };
        let clear = duals.and_then(|duals| {
            ending.clear_of_kinks(&mut self.evaluator, lambda, &point, &duals, options.tolerance)
        });
        point = clear.unwrap_or(point);
        let certificate = ending.certificate;
        let certified = certificate.relative_gap() <= options.tolerance;
        let by_newton = options.solver == Solver::Newton && self.row_space.is_lossy();
        if certified {
            ending.status = Status::Converged;
        } else if ending.status == Status::Converged && !by_newton {
            ending.status = Status::Stalled;
        } else if by_newton
            && ending.status != Status::IterationLimit
            && let Some(options) = options.after(ending.iterations)
        {
            // A few steps on the true data win back the digits that the factorisation lost.
            let system = &mut System::conjugate_gradients();
            let mut newton = Newton::new(&mut self.evaluator, system);
            let polish = newton.minimize(lambda, &mut point, &options);
            let history = ending.history.clone();
            ending = Ending { history, ..polish.after(ending) };
        }
        let passes = passes + 2 + self.evaluator.passes - before;
        assemble(&objective.risk, lambda, &point, ending, passes, options.tolerance)
    }

    /// Returns the feasible duals of the slopes at a point in row-space coordinates, by the scores
    /// of these coordinates.
    fn slopes_at(&mut self, reduced: &Point) -> Vec<f64> {
        let samples = &mut self.evaluator.samples;
        samples.set(&reduced.products, reduced.intercept);
        let mut duals = samples.duals();
        samples.balance(&mut duals);
        duals
    }
}
