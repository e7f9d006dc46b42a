//! Fits of several classes in one problem, one per class.

use std::sync::Arc;

use margins_data::{ClassLabels, Classes, Dataset};
use margins_losses::MarginLoss;
use margins_optim::path::JointFit;
use margins_optim::problem::{JointForm, PenaltyFactors};
use margins_optim::shards::{
    BinaryProblem, Block, Resident, Shard, Threads, joint_path_over_shards,
};
use margins_optim::{Error, Fit, Lambda, Training};

use super::constant::constant_fits;

/// The largest number of scores, those of every row for every class, that solvers keep of a point, 128 MB;
/// so few in tests that a few rows have more.
const SCORES: usize = if cfg!(test) { 100 } else { 1 << 24 };

/// Returns the minimisers of a problem for all classes: with the scores of all rows in memory, of which
/// solvers have ten copies, or where these are too many some rows at a time, as for rows in a file, which
/// takes neither the largest hinge nor features without a penalty, and keeps no duals.
pub(in crate::regularised) fn fits(
    training: &Training<'_, dyn MarginLoss>,
    form: JointForm,
    data: &Dataset<Classes>,
    lambdas: &[Lambda],
) -> Result<Vec<JointFit>, Error> {
    let classes = data.labels().names().len();
    let is_for_memory = form == JointForm::CrammerSinger
        || training.options.keep_duals
        || lambdas.contains(&Lambda::NONE)
        || training.penalty.is_some_and(PenaltyFactors::has_free);
    if is_for_memory || data.rows().saturating_mul(classes) <= SCORES {
        return training.joint_path(form, data, lambdas);
    }
    let names = data.feature_names();
    let numbered = training.penalty.map(|factors| factors.numbered(names, data.columns()));
    let training = &Training { penalty: numbered.as_ref(), ..*training };
    let mut rows = Resident::default();
    rows.insert(0, Block::of(data.clone()));
    let mut workers = Threads::new(vec![Shard::new(Arc::new(training.loss), rows)]);
    let of = (form, classes);
    joint_path_over_shards(&mut workers, training, of, &BinaryProblem::default(), lambdas, None)
}

/// Returns the fits of every class at every lambda where all samples with weight are of one class.
pub(in crate::regularised) fn all_of(
    class: usize,
    classes: usize,
    features: usize,
    lambdas: &[Lambda],
) -> Vec<Vec<Fit>> {
    let sign = |other| if other == class { 1.0 } else { -1.0 };
    (0..classes).map(|other| constant_fits(sign(other), features, lambdas)).collect()
}

/// Returns the fits of every class at every lambda from those of a problem for all classes with weight. No
/// sample is decided for another class; it shares the certificate of the others.
pub(in crate::regularised) fn by_class(
    fits: Vec<JointFit>,
    classes: usize,
    features: usize,
    lambdas: &[Lambda],
) -> Vec<Vec<Fit>> {
    let mut paths = vec![constant_fits(-1.0, features, lambdas); classes];
    for (k, JointFit { lambda, classes, intercepts, coefs, report, pulls }) in
        fits.into_iter().enumerate()
    {
        paths.iter_mut().for_each(|path| path[k].report.clone_from(&report));
        for ((class, intercept), coef) in classes.iter().zip(intercepts).zip(coefs) {
            paths[*class][k] = Fit { lambda, intercept, coef, report: report.clone() };
        }
        for (class, pulls) in classes.into_iter().zip(pulls.into_iter().flatten()) {
            paths[class][k].report.duals = Some(pulls);
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use margins_data::Design;
    use margins_losses::Logistic;

    use super::*;

    /// Rows whose scores are computed some at a time have the minimum of all.
    #[test]
    fn many_scores_are_not_kept() {
        let entry = |i: usize, j: usize| ((i * 37 + j * 101 + i * i * 13) % 199) as f64 / 99.5;
        let rows: Vec<Vec<f64>> = (0..90).map(|i| (0..3).map(|j| entry(i, j)).collect()).collect();
        let names: Vec<String> = (0..90).map(|i| format!("class {}", i * i / 3 % 3)).collect();
        let design = Design::from_rows(&rows).unwrap();
        let data = Dataset::new(design, Classes::new(&names).unwrap()).unwrap();
        let data = data.with_weights((0..90).map(|i| f64::from(i % 4)).collect()).unwrap();
        let named = ["a", "b", "c"].map(str::to_owned).to_vec();
        let data = data.with_feature_names(named).unwrap();
        let factors = PenaltyFactors::of_names(vec![("b".to_owned(), 0.5)]).unwrap();
        let lambdas = [0.1, 0.01].map(|lambda| Lambda::new(lambda).unwrap());
        let training = Training {
            standardize: true,
            penalty: Some(&factors),
            ..Training::new(&Logistic as &dyn MarginLoss)
        };
        for form in [JointForm::Pairwise, JointForm::Multinomial] {
            let (some, all) = (
                fits(&training, form, &data, &lambdas).unwrap(),
                training.joint_path(form, &data, &lambdas).unwrap(),
            );
            for (a, b) in some.iter().zip(&all).map(|(a, b)| (&a.report, &b.report)) {
                assert!(a.converged() && a.rounds > 0 && b.rounds == 0);
                let gaps = a.duality_gap + b.duality_gap;
                assert!((a.objective - b.objective).abs() <= gaps, "{a:?} {b:?}");
            }
        }
    }
}
