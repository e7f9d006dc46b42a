//! A classifier does what the pieces do that it is made of.

use margins::data::split::fold_indices;
use margins::data::{ClassLabels, Dataset};
use margins::losses::{Hinge, LeakyHockeyStick, Logistic, Squared, SquaredHinge};
use margins::optim::{Lambda, Training, lambda_grid};
use margins::{
    Classifier, ClassifierBuilder, CrossValidation, Error, Probabilities, Scheme, Selection,
    folds_of,
};
use proptest::prelude::*;

use crate::{SPACES, all_coefs, build, corners, prepared, two, within};

#[test]
fn two_classes_are_the_fit_of_the_pieces() {
    let data = two();
    let lambda = Lambda::new(0.02).unwrap();
    let classifier =
        build(Classifier::builder().lambda(0.02).standardize(true)).fit(&data).unwrap();
    let training = Training { standardize: true, ..Training::new(&LeakyHockeyStick) };
    let fit = training.path(&data, &[lambda]).unwrap().swap_remove(0);
    assert_eq!(all_coefs(&classifier), [[&fit.coef[..], &[fit.intercept]].concat()]);
    let scores = classifier.decision_function(&data).unwrap();
    assert_eq!(scores.as_slice(), fit.decision_function(data.design()));
    let report = classifier.report();
    assert!(report.is_certified());
    assert_eq!(report.members[0].report.as_ref(), Some(&fit.report));
    let signs = data.labels().signs().iter();
    let right = signs.zip(scores.iter()).filter(|(y, f)| (**y > 0.0) == (**f > 0.0)).count();
    assert_eq!(classifier.score(&data).unwrap(), right as f64 / 60.0);
}

#[test]
fn cross_validation_is_that_of_the_pieces() {
    let data = two();
    let lambdas = lambda_grid(1.0, 1e-3, 8).unwrap();
    for selection in [Selection::Best, Selection::OneStandardError] {
        let how = CrossValidation { lambdas: lambdas.clone(), selection, ..Default::default() };
        for &space in SPACES {
            let builder =
                Classifier::builder().loss(Logistic).cross_validation(how.clone()).seed(7);
            let classifier = build(within(builder, space)).fit(&data).unwrap();
            let (folds, _) = folds_of(&data, None, 7).unwrap();
            let prepared = prepared(&data, space, 7);
            let training = Training::new(&Logistic);
            let (curve, fits) = prepared.cross_validate(&training, &folds, &lambdas).unwrap();
            let at = selection.of(&curve);
            // Kernels are fitted to all rows at the lambda selected alone.
            let alone = || prepared.path(&training, &lambdas[at..=at]).unwrap().remove(0);
            let fit = &fits.map_or_else(alone, |mut fits| fits.swap_remove(at));
            assert_eq!(classifier.report().curve.as_ref(), Some(&curve));
            assert_eq!(classifier.model().members()[0].lambda, Some(fit.lambda.get()));
            let scores = classifier.decision_function(&data).unwrap();
            for (one, other) in scores.iter().zip(prepared.scores(fit).unwrap()) {
                assert!((one - other).abs() < 1e-9);
            }
        }
    }
}

/// Every member is the classifier of two classes that its name says, by whatever route.
#[test]
fn members_are_binary_classifiers() {
    let data = corners(4, 15);
    let lambda = 0.01;
    for &space in SPACES {
        let builder = || {
            let builder = Classifier::builder().loss(Logistic).lambda(lambda).tolerance(1e-9);
            within(builder, space)
        };
        let fitted = |scheme| build(builder().scheme(scheme)).fit(&data).unwrap();
        let rest = fitted(Scheme::OneVersusRest);
        let scores = rest.decision_function(&data).unwrap();
        for class in 0..4 {
            let own = data.relabelled(data.labels().against_rest(class)).unwrap();
            let alone = build(builder()).fit(&own).unwrap().decision_function(&data).unwrap();
            assert!((scores.column(class) - alone.column(0)).amax() < 1e-9);
        }
        if matches!(space, Some(("gaussian", _) | (_, "nystrom:m=20"))) {
            // Sigma and landmarks are drawn from all rows, not from those of a pair.
            continue;
        }
        let pairs = fitted(Scheme::OneVersusOne);
        let scores = pairs.decision_function(&data).unwrap();
        for (member, (i, j)) in Scheme::pairs(4).enumerate() {
            let own = data.relabelled(data.labels().between(i, j)).unwrap();
            let rows: Vec<usize> =
                (0..60).filter(|&row| [i, j].contains(&data.labels().index(row))).collect();
            let alone = build(builder()).fit(&own.select(&rows)).unwrap();
            let alone = alone.decision_function(&data).unwrap();
            // Objectives within 1e-9 of each other, of a penalty of 0.01 ||f||^2.
            assert!((scores.column(member) - alone.column(0)).amax() < 2e-3, "{space:?} {i} {j}");
        }
    }
}

/// The curve of several classes, by hand.
#[test]
fn errors_of_several_classes_are_held_out_errors() {
    let data = corners(3, 20);
    let lambdas = lambda_grid(0.1, 0.001, 3).unwrap();
    for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne] {
        let builder = Classifier::builder().loss(Logistic).scheme(scheme).seed(3);
        let how =
            CrossValidation { lambdas: lambdas.clone(), folds: Some(4), ..Default::default() };
        let classifier = build(builder.clone().cross_validation(how)).fit(&data).unwrap();
        let curve = classifier.report().curve.clone().unwrap();
        let (folds, _) = folds_of(&data, Some(4), 3).unwrap();
        for (k, lambda) in lambdas.iter().enumerate() {
            let mut wrong = 0.0;
            for fold in 0..4 {
                let (train, test) = fold_indices(&folds, fold);
                let alone = build(builder.clone().lambda(lambda.get()));
                let alone = alone.fit(&data.select(&train)).unwrap();
                let test = data.select(&test);
                wrong += (1.0 - alone.score(&test).unwrap()) * test.rows() as f64;
            }
            assert!((curve.mean_error[k] - wrong / 60.0).abs() < 1e-12);
        }
        assert!(curve.certified.iter().all(|&certified| certified));
        assert_eq!(classifier.model().members()[0].lambda, Some(lambdas[curve.best].get()));
    }
}

#[cfg(feature = "rayon")]
#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let data = corners(3, 20);
    let how = CrossValidation { lambdas: lambda_grid(1.0, 1e-3, 5).unwrap(), ..Default::default() };
    for &space in SPACES {
        for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne] {
            let fit = |threads| {
                let builder = Classifier::builder().cross_validation(how.clone()).scheme(scheme);
                let builder =
                    builder.threads(threads).probabilities(Probabilities::Platt { folds: None });
                let classifier = build(within(builder, space)).fit(&data).unwrap();
                (all_coefs(&classifier), classifier.predict_proba(&data).unwrap())
            };
            assert_eq!(fit(1), fit(3));
        }
    }
}

#[test]
fn probabilities_follow_their_rules() {
    let data = corners(3, 25);
    let binary = two();
    let logistic = || Classifier::builder().loss(Logistic).lambda(0.01);
    let classifier = build(logistic()).fit(&binary).unwrap();
    let scores = classifier.decision_function(&binary).unwrap();
    let p = classifier.predict_proba(&binary).unwrap();
    for row in 0..binary.rows() {
        assert!((p[(row, 1)] - 1.0 / (1.0 + (-scores[row]).exp())).abs() < 1e-12);
        assert!((p[(row, 0)] + p[(row, 1)] - 1.0).abs() < 1e-15);
    }
    for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne] {
        for platt in [false, true] {
            let mut builder = logistic().scheme(scheme);
            if platt {
                builder =
                    builder.loss(Hinge).probabilities(Probabilities::Platt { folds: Some(5) });
            }
            let classifier = build(builder).fit(&data).unwrap();
            let p = classifier.predict_proba(&data).unwrap();
            assert_eq!(p.shape(), (75, 3));
            assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
            assert!(p.row_iter().all(|row| (row.sum() - 1.0).abs() < 1e-12));
            // The most probable class is right about as often as the one decided.
            let own = data.labels().indices();
            let right =
                (0..75).filter(|&row| p.row(row).transpose().imax() == own[row] as usize).count();
            let score = 75.0 * classifier.score(&data).unwrap();
            assert!((right as f64 - score).abs() <= 3.0 * 75f64.sqrt() / 2.0);
        }
    }
    let hinge = build(Classifier::builder().loss(Hinge).lambda(0.1)).fit(&data).unwrap();
    assert!(matches!(
        hinge.predict_proba(&data),
        Err(Error::Model(margins::model::Error::NoProbabilities(_)))
    ));
}

/// Of several losses the selected one gives the probabilities, whatever its place.
#[test]
fn probabilities_are_those_of_the_selected_loss() {
    let data = two();
    let lambdas = lambda_grid(1.0, 1e-3, 4).unwrap();
    let how = CrossValidation { lambdas, folds: Some(3), ..CrossValidation::default() };
    let search = || Classifier::builder().cross_validation(how.clone());
    let orders =
        [search().loss(Squared).or_loss(Logistic), search().loss(Logistic).or_loss(Squared)];
    let mut second = 0;
    for (place, order) in orders.into_iter().enumerate() {
        let chosen = build(order).fit(&data).unwrap();
        let is_logistic = chosen.report().loss == "logistic";
        let alone = if is_logistic { search().loss(Logistic) } else { search().loss(Squared) };
        let alone = build(alone).fit(&data).unwrap();
        assert_eq!(chosen.predict_proba(&data).unwrap(), alone.predict_proba(&data).unwrap());
        second += usize::from(is_logistic == (place == 0));
    }
    assert!(second > 0, "the first loss was selected in both orders");
}

#[test]
fn weights_and_costs_are_weights() {
    let data = two();
    let fit = |builder: ClassifierBuilder, data: &Dataset| {
        all_coefs(&build(builder.loss(SquaredHinge).lambda(0.1)).fit(data).unwrap())
    };
    let weights: Vec<f64> =
        data.labels().signs().iter().map(|y| if *y > 0.0 { 3.0 } else { 0.5 }).collect();
    let weighted = data.clone().with_weights(weights.clone()).unwrap();
    let expected = fit(Classifier::builder(), &weighted);
    assert_eq!(fit(Classifier::builder().sample_weights(weights), &data), expected);
    let costs = Classifier::builder().class_cost("class 1", 3.0).class_cost("class 0", 0.5);
    assert_eq!(fit(costs, &data), expected);
    assert_ne!(fit(Classifier::builder(), &data), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The names of classes decide their order and nothing else.
    #[test]
    fn names_do_not_matter(shift in 1usize..4, ovo: bool) {
        let data = corners(4, 8);
        let scheme = if ovo { Scheme::OneVersusOne } else { Scheme::OneVersusRest };
        let fit = |shift: usize| {
            let labels = data.labels().indices().iter().map(|&class| (class as usize + shift) % 4);
            let estimator = build(Classifier::builder().loss(Logistic).lambda(0.01).scheme(scheme));
            let classifier = estimator.fit_samples(&data, labels).unwrap();
            classifier.predict_index(&data).unwrap()
        };
        let back: Vec<usize> = fit(shift).iter().map(|class| (class + 4 - shift) % 4).collect();
        prop_assert_eq!(back, fit(0));
    }
}

/// A weight of k is k repetitions for the scaling of every member, a weight of 0 a removed row;
/// costs of classes are for the fits alone.
#[test]
fn weights_of_samples_count_in_platt_scaling() {
    use margins::data::{Dataset, Design};

    let data = corners(3, 12);
    // Rows are of the three classes in turn.
    let times = |row: usize| row / 3 % 3;
    let weights: Vec<f64> = (0..data.rows()).map(|row| times(row) as f64).collect();
    let repeated: Vec<usize> =
        (0..data.rows()).flat_map(|row| std::iter::repeat_n(row, times(row))).collect();
    // The repetitions of a row are in its fold.
    let folds = |rows: &[usize]| rows.iter().map(|row| row / 3 % 4).collect::<Vec<_>>();
    let all: Vec<usize> = (0..data.rows()).collect();
    let set = |rows: &[usize]| {
        let names: Vec<&str> = rows
            .iter()
            .map(|&row| data.labels().names()[data.labels().index(row)].as_str())
            .collect();
        let design: Design = data.design().select(rows);
        let labels = margins::data::Classes::new(&names).unwrap();
        Dataset::new(design, labels).unwrap().with_folds(folds(rows)).unwrap()
    };
    for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne] {
        let builder = || {
            let platt = Probabilities::Platt { folds: None };
            Classifier::builder().loss(Logistic).lambda(0.05).scheme(scheme).probabilities(platt)
        };
        let weighted = build(builder().sample_weights(weights.clone())).fit(&set(&all)).unwrap();
        let plain = build(builder()).fit(&set(&repeated)).unwrap();
        let p = weighted.predict_proba(&data).unwrap();
        let q = plain.predict_proba(&data).unwrap();
        assert!((&*p - &*q).amax() < 1e-4, "{}", (&*p - &*q).amax());
        let unweighted = build(builder()).fit(&set(&all)).unwrap();
        assert!((&*p - &*unweighted.predict_proba(&data).unwrap()).amax() > 1e-3);
    }
}
