//! Small tables, a loss and a lambda that bytes choose, for two solvers.

use margins_data::{Design, Labels};
use margins_losses::{LossRegistry, MarginLoss};
use margins_optim::{Lambda, Objective, Options, Report, Solver};

use super::{Target, as_they_are};

const SOLVERS: [Solver; 9] = [
    Solver::Auto,
    Solver::Newton,
    Solver::ProximalNewton,
    Solver::SDCA,
    Solver::Bundle,
    Solver::Lbfgs,
    Solver::GRADIENT_DESCENT,
    Solver::MM,
    Solver::MM_ACCELERATED,
];

/// What two solvers are given.
struct Problem {
    loss: usize,
    solvers: [usize; 2],
    lambda: f64,
    rows: Vec<[f64; 2]>,
    signs: Vec<f64>,
    weights: Vec<f64>,
}

/// Returns the target, whose bytes are the loss, the two solvers, lambda, and four for each row.
pub(super) fn target() -> Target {
    let registry = LossRegistry::standard();
    let losses =
        registry.names().map(|name| registry.parse(name).expect("a loss by its name alone"));
    let losses: Vec<_> = losses.filter(|loss| loss.is_convex()).collect();
    let rows = [[0, 3, 12, 1], [1, 250, 7, 2], [1, 20, 130, 1], [0, 9, 200, 3], [1, 77, 80, 1]];
    let bytes = |loss: u8, one: u8, other: u8, lambda: u8| {
        [&[loss, one, other, lambda], rows.as_flattened()].concat()
    };
    Target {
        name: "solvers",
        // Dual ascent takes every convex loss.
        corpus: (0..losses.len() as u8).map(|loss| bytes(loss, 0, 3, 2 * loss)).collect(),
        words: &[],
        seal: as_they_are,
        // A table is as large as its bytes; what its fits take is their own.
        read: Box::new(|bytes| drop(Problem::of(bytes))),
        bytes_per_input_byte: 64,
        check: Box::new(move |bytes| {
            let problem = Problem::of(bytes).ok_or("too few bytes or rows")?;
            problem.solve(&*losses[problem.loss % losses.len()])
        }),
    }
}

impl Problem {
    fn of(bytes: &[u8]) -> Option<Self> {
        let ([loss, one, other, lambda], bytes) = bytes.split_first_chunk()?;
        let rows = bytes.as_chunks::<4>().0;
        let feature = |byte: u8| (f64::from(byte) - 128.0) / 32.0;
        (2..=40).contains(&rows.len()).then(|| Problem {
            loss: usize::from(*loss),
            solvers: [one, other].map(|&solver| usize::from(solver) % SOLVERS.len()),
            lambda: 10f64.powf(-f64::from(lambda % 17) / 4.0),
            rows: rows.iter().map(|&[_, x, z, _]| [feature(x), feature(z)]).collect(),
            signs: rows.iter().map(|&[y, ..]| if y % 2 == 0 { -1.0 } else { 1.0 }).collect(),
            weights: rows.iter().map(|&[.., weight]| f64::from(weight % 5)).collect(),
        })
    }

    /// Fits by both solvers: neither has an objective below the lower bound of the other, and two fits
    /// that are certified have the same minimum within their gaps.
    fn solve(&self, loss: &dyn MarginLoss) -> Result<(), String> {
        let design = Design::from_rows(&self.rows).map_err(|error| error.to_string())?;
        let labels = Labels::from_signs(self.signs.clone()).map_err(|error| error.to_string())?;
        let objective =
            Objective::new(loss, &design, &labels).map_err(|error| error.to_string())?;
        let objective = objective.with_weights(&self.weights).map_err(|error| error.to_string())?;
        let lambda = Lambda::new(self.lambda).map_err(|error| error.to_string())?;
        let fit = |solver: usize| {
            let solver = SOLVERS[solver];
            let options = Options { solver, max_iterations: Some(100), ..Options::default() };
            margins_optim::fit(&objective, lambda, &options).map(|fit| fit.report)
        };
        let [one, other] = self.solvers.map(fit);
        let (one, other) =
            (one.map_err(|error| error.to_string())?, other.map_err(|error| error.to_string())?);
        assert_agree(&one, &other);
        Ok(())
    }
}

fn assert_agree(one: &Report, other: &Report) {
    let rounding = 2.0 * (one.rounding + other.rounding);
    for (lower, upper) in [(one, other), (other, one)] {
        assert!(
            lower.dual_objective <= upper.objective + rounding,
            "a lower bound above an objective: {lower:?} and {upper:?}"
        );
    }
    if one.converged() && other.converged() {
        let most = one.duality_gap.max(0.0) + other.duality_gap.max(0.0) + rounding;
        let apart = (one.objective - other.objective).abs();
        assert!(apart <= most, "{apart} apart: {one:?} and {other:?}");
    }
}
