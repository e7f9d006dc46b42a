//! One trial: certified fits, the published rule and the SVM on the same split.

use std::time::Instant;

use margins::Registry;
use margins::data::metrics::error_rate;
use margins::estimators::regularised::{Preparation, Prepared, folds_of};
use margins::kernels::{PlannedPaths, Route, combine_all};
use margins::losses::LeakyHockeyStick;
use margins::nalgebra::DMatrix;
use margins::optim::{Options, Solver, Training};
use margins_experiments::Numbers;

use super::numbers::{HEAD, Head};
use crate::Failure;
use crate::leaky_hockey_stick::tuning::{FOLDS, Samples, Space, lambdas, machine, tested};

/// What a rule does in a trial.
struct Along {
    /// The [head](Head) and the test error at each lambda, NaN after the end of the path.
    numbers: Vec<f64>,
    /// The cross-validated error at each lambda.
    cross_validated: Vec<f64>,
}

impl Along {
    /// Returns the test error at the largest lambda of the lowest cross-validated error among the first
    /// lambdas.
    fn within(&self, count: usize) -> f64 {
        let errors = &self.cross_validated[..count];
        let best = (0..count).min_by(|&a, &b| errors[a].total_cmp(&errors[b]));
        best.map_or(f64::NAN, |k| self.numbers[HEAD + k])
    }
}

/// Fits the samples at all lambdas, and tests the fits.
fn along(samples: &Samples, space: Space, solver: Solver) -> Result<Along, Failure> {
    let Samples { train, test, seed } = samples;
    let (registry, lambdas) = (Registry::standard(), lambdas()?);
    let (folds, _) = folds_of(train, Some(FOLDS), *seed)?;
    let options = Options { solver, ..Options::default() };
    let training = Training { options, ..Training::new(&LeakyHockeyStick) };
    let began = Instant::now();
    let prepared = match space {
        Space::Linear => Prepared::linear(train),
        Space::Gaussian => {
            let planned = PlannedPaths::one(Route::of(&LeakyHockeyStick, solver)?, lambdas.len());
            let preparation =
                Preparation { seed: *seed, planned, solver, ..Preparation::default() };
            Prepared::for_kernel("gaussian", &registry.kernels, train, preparation)?
        }
    };
    let (mut curve, fits) = prepared.cross_validate(&training, &folds, &lambdas)?;
    let on_all = || prepared.subset(None).path(&training, None, train, &lambdas);
    let fits = fits.map_or_else(on_all, Ok)?;
    curve.leave_out(|k| k >= fits.len());
    let seconds = began.elapsed().as_secs_f64();

    let of_linear = |fits: &[margins::optim::Fit]| -> Vec<Vec<f64>> {
        fits.iter().map(|fit| fit.decision_function(test.design())).collect()
    };
    let scores = match prepared.kernel_specification() {
        None => of_linear(&fits),
        Some(kernel) => {
            let kernel = registry.kernels.parse(&kernel)?;
            let coefs = DMatrix::from_fn(fits.len(), train.rows(), |k, i| fits[k].coef[i]);
            let scores = combine_all(&*kernel, test.design(), train.design(), &coefs)?;
            let with_intercept = |k: usize| scores.row(k).add_scalar(fits[k].intercept);
            (0..fits.len()).map(|k| with_intercept(k).iter().copied().collect()).collect()
        }
    };
    let least = curve.mean_error[curve.best];
    let mut equal =
        (0..lambdas.len()).filter(|&k| curve.reached[k] && curve.mean_error[k] == least);
    let largest = equal.next().unwrap_or(curve.best);
    let smallest = equal.next_back().unwrap_or(largest);
    let reached = curve.reached.iter().filter(|&&reached| reached).count();
    let certified = curve.certified.iter().filter(|&&certified| certified).count();
    let indices = [largest, curve.best, smallest, curve.one_standard_error];
    let mut numbers = vec![seconds];
    numbers.extend(indices.into_iter().chain([reached, reached - certified]).map(|n| n as f64));
    for scores in &scores {
        numbers.push(error_rate(scores, test.labels().signs(), None)?.rate);
    }
    numbers.resize(HEAD + lambdas.len(), f64::NAN);
    Ok(Along { numbers, cross_validated: curve.mean_error })
}

/// Returns the numbers of a trial: those of both rules, the published one NaN unless it is wanted, error
/// and seconds of the SVM, and the error of certified fits at the lambdas that the published rule reaches.
pub(super) fn trial(samples: &Samples, space: Space, with_rule: bool) -> Result<Numbers, Failure> {
    let certified = along(samples, space, Solver::Auto)?;
    let (rule, limited) = if with_rule {
        let rule = along(samples, space, Solver::MM_PUBLISHED)?.numbers;
        let reached = rule[Head::Reached as usize] as usize;
        (rule, certified.within(reached))
    } else {
        (vec![f64::NAN; certified.numbers.len()], f64::NAN)
    };
    let began = Instant::now();
    let machine = tested(machine(space, samples.seed)?, samples)?;
    let others = [machine.error, began.elapsed().as_secs_f64(), limited];
    Ok(Numbers(certified.numbers.into_iter().chain(rule).chain(others).collect()))
}

#[cfg(test)]
mod tests {
    use super::{Along, HEAD};

    /// The largest of several lambdas with the lowest cross-validated error, without those after the
    /// limit.
    #[test]
    fn a_limit_leaves_out_the_lambdas_after_it() {
        let mut numbers = vec![0.0; HEAD];
        numbers.extend([0.4, 0.3, 0.2, 0.1]);
        let along = Along { numbers, cross_validated: vec![0.5, 0.25, 0.25, 0.125] };
        assert_eq!([1, 2, 3, 4].map(|count| along.within(count)), [0.4, 0.3, 0.3, 0.1]);
    }
}
