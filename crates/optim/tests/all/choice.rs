//! The choice among lambdas: the measure, its ties, and the splits that it is made by.

use margins_data::metrics::{self, Measure};
use margins_data::split::Split;
use margins_data::{Dataset, Design, Labels};
use margins_optim::path::{FoldError, FoldErrors};
use margins_optim::{
    ErrorCurve, FoldRows, Measured, Training, cross_validate, held_out_curve, lambda_grid,
};
use margins_test_support::loss;
use proptest::prelude::*;

fn data() -> Dataset {
    let rows: Vec<[f64; 2]> =
        (0..60).map(f64::from).map(|t| [(t * 0.7).sin() + t / 40.0, (t * 1.3).cos()]).collect();
    let signs = (0..60).map(|i| if (i * 7) % 60 < 2 * i - 30 { 1.0 } else { -1.0 }).collect();
    let labels = Labels::from_signs(signs).unwrap();
    let data = Dataset::new(Design::from_rows(&rows).unwrap(), labels).unwrap();
    data.with_weights((0..60).map(|i| f64::from(1 + i % 3)).collect()).unwrap()
}

fn folds() -> Vec<usize> {
    (0..60).map(|i| i / 2 % 4).collect()
}

/// Returns random splits: rows are tested on several times or never, in any order.
fn random_splits() -> Vec<Split> {
    let split = |k: usize| {
        let place = |i: &usize| (i * (2 * k + 7)) % 60;
        let test = (0..60).filter(|i| place(i) < 15).collect();
        Split { train: (0..60).rev().filter(|i| (20..58).contains(&place(i))).collect(), test }
    };
    (0..3).map(split).collect()
}

proptest! {
    /// By brute force: the best mean, of equal ones the smallest log-loss, of equal ones the largest
    /// lambda. Without ties that is the least mean, as without probabilities.
    #[test]
    fn ties_go_to_the_smaller_log_loss_then_to_the_larger_lambda(
        values in proptest::collection::vec((0usize..4, 0usize..4), 2..9),
        has_probabilities: bool,
        measure in proptest::sample::select(Measure::ALL.to_vec()),
    ) {
        let at = |&(value, log_loss): &(usize, usize)| {
            let (value, log_loss) = (value as f64 / 4.0, log_loss as f64);
            let measured = Measured {
                log_loss: has_probabilities.then_some(log_loss),
                value: (measure != Measure::Error).then_some(value),
            };
            let error = if measure == Measure::Error { value } else { 0.5 };
            Some(FoldError { error, unproven: None, measured, relative_gap: 0.0, converged: true })
        };
        let fold = |weight| FoldErrors { weight, at: values.iter().map(at).collect() };
        let lambdas = lambda_grid(1.0, 0.01, values.len()).unwrap();
        let curve = ErrorCurve::of_folds(measure, lambdas, &[fold(1.0), fold(2.0)]);
        let loss_of = |k: usize| if has_probabilities { values[k].1 } else { 0 };
        let rank = |&k: &usize| {
            let value = values[k].0;
            (if measure == Measure::Auc { 4 - value } else { value }, loss_of(k), k)
        };
        let expected = (0..values.len()).min_by_key(rank);
        prop_assert_eq!(Some(curve.best), expected);
        let same_value = |k: &usize| values[*k].0 == values[curve.best].0;
        prop_assert_eq!(Some(curve.one_standard_error), (0..values.len()).find(same_value));
    }
}

/// Folds written as splits are the same folds, to the bit.
#[test]
fn folds_are_splits() {
    let (data, folds) = (data(), folds());
    let loss = loss("logistic");
    let lambdas = lambda_grid(1.0, 1e-3, 6).unwrap();
    let split = |fold: usize| Split {
        train: (0..60).filter(|&i| folds[i] != fold).collect(),
        test: (0..60).filter(|&i| folds[i] == fold).collect(),
    };
    let splits: Vec<Split> = (0..4).map(split).collect();
    for measure in Measure::ALL {
        let training = Training { measure, ..Training::new(&*loss) };
        let by_folds = cross_validate(&training, &data, &folds, &lambdas).unwrap();
        let by_splits = cross_validate(&training, &data, &splits[..], &lambdas).unwrap();
        assert_eq!(by_folds, by_splits, "{measure}");
    }
}

/// The means of every measure by hand, over splits that are no folds.
#[test]
fn measures_are_means_over_any_splits() {
    let data = data();
    let loss = loss("logistic");
    let lambdas = lambda_grid(1.0, 1e-3, 5).unwrap();
    let (signs, weights) = (data.labels().signs(), data.weights().unwrap());
    let pick =
        |from: &[f64], rows: &[usize]| -> Vec<f64> { rows.iter().map(|&i| from[i]).collect() };
    for measure in Measure::ALL {
        let training = Training { measure, ..Training::new(&*loss) };
        let curve = cross_validate(&training, &data, &random_splits()[..], &lambdas).unwrap().curve;
        let (mut sums, mut log_losses, mut total) = (vec![0.0; 5], vec![0.0; 5], 0.0);
        for Split { train, test } in random_splits() {
            let (y, c) = (pick(signs, &test), pick(weights, &test));
            let weight: f64 = c.iter().sum();
            total += weight;
            for (k, fit) in
                training.path(&data.select(&train), &lambdas).unwrap().iter().enumerate()
            {
                let scores = pick(&fit.decision_function(data.design()), &test);
                let p: Vec<f64> = scores.iter().map(|s| 1.0 / (1.0 + (-s).exp())).collect();
                let c = Some(&c[..]);
                let log_loss = metrics::log_loss(&p, &y, c).unwrap();
                log_losses[k] += weight * log_loss;
                sums[k] += weight
                    * match measure {
                        Measure::Error => metrics::error_rate(&scores, &y, c).unwrap().rate,
                        Measure::BalancedError => metrics::balanced_error(&scores, &y, c).unwrap(),
                        Measure::LogLoss => log_loss,
                        Measure::Brier => metrics::brier(&p, &y, c).unwrap(),
                        Measure::Auc => metrics::auc(&scores, &y, c).unwrap(),
                    };
            }
        }
        for k in 0..5 {
            let (found, expected) = (curve.mean_measure[k], sums[k] / total);
            assert!((found - expected).abs() < 1e-12, "{measure}: {found} {expected}");
            let (found, expected) = (curve.mean_log_loss[k].unwrap(), log_losses[k] / total);
            assert!((found - expected).abs() < 1e-12, "log-loss: {found} {expected}");
        }
    }
}

#[test]
fn splits_that_do_not_fit_the_rows_are_refused() {
    let data = data();
    let loss = loss("logistic");
    let training = Training::new(&*loss);
    let lambdas = lambda_grid(1.0, 1e-3, 2).unwrap();
    let positive: Vec<usize> = (0..60).filter(|&i| data.labels().signs()[i] > 0.0).collect();
    let all: Vec<usize> = (0..60).collect();
    for (train, test, expected) in [
        (&all[..], &[][..], "split 0 has no row to test on"),
        (&[], &all, "split 0 has no row to train on"),
        (
            &all,
            &[2, 3, 2],
            "split 0: row 2 to test on is beyond the 60 rows of the data, or repeats",
        ),
        (&[0, 1, 60], &[2], "split 0: row 60 to train on is beyond the 60 rows of the data"),
        (&all, &[60], "split 0: row 60 to test on is beyond the 60 rows of the data, or repeats"),
        (&positive, &all, "fold '0' leaves no sample of class '-1' to train on"),
    ] {
        let split = Split { train: train.to_vec(), test: test.to_vec() };
        let refused = cross_validate(&training, &data, &[split][..], &lambdas).unwrap_err();
        assert_eq!(refused.to_string(), expected);
    }
    let none = cross_validate(&training, &data, &[][..] as &[Split], &lambdas).unwrap_err();
    assert_eq!(none.to_string(), "there are no splits of the rows: give at least one");
}

/// A classifier of several classes may train on rows that lack one.
#[test]
fn outcomes_of_any_classifier_may_lack_a_class() {
    let data = data();
    let loss = loss("logistic");
    let training = Training::new(&*loss);
    let lambdas = lambda_grid(1.0, 1e-3, 2).unwrap();
    let by_class: Vec<usize> =
        data.labels().signs().iter().map(|&y| usize::from(y > 0.0)).collect();
    let curve = held_out_curve(&training, &data, &by_class, &lambdas, |fold, lambdas, _| {
        let FoldRows { rows, held_out, .. } = fold;
        assert_eq!(rows.len() + held_out.len(), 60);
        let at = |_: &_| {
            let wrong = vec![true; held_out.len()];
            margins_optim::FoldOutcome::new(wrong, None, Measured::default(), &[])
        };
        Ok::<_, margins_optim::Error>(lambdas.iter().map(at).collect())
    });
    assert_eq!(curve.unwrap().mean_error, [1.0, 1.0]);
}
