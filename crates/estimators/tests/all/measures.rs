//! Searches by other measures than the error, over any splits, and with classes of one row.

use std::sync::Arc;

use margins_data::metrics::Measure;
use margins_data::split::Split;
use margins_data::{ClassLabels, Classes, Dataset, Design};
use margins_estimators::Error;
use margins_estimators::regularised::{
    Approximation, ClassifierSettings, CrossValidation, KernelChoice, LeaveOneOut, Probabilities,
    Regularisation,
};
use margins_losses::{Hinge, Logistic, MarginLoss};
use margins_model::Scheme;
use margins_optim::{ErrorCurve, Options, Solver, lambda_grid};

fn grid() -> CrossValidation {
    CrossValidation {
        lambdas: lambda_grid(1.0, 1e-4, 7).unwrap(),
        folds: Some(3),
        ..CrossValidation::default()
    }
}

fn search(how: CrossValidation) -> ClassifierSettings {
    let regularisation = Regularisation::CrossValidated(how);
    ClassifierSettings { loss: Arc::new(Logistic), regularisation, ..ClassifierSettings::default() }
}

/// Points around as many corners as there are classes, which overlap the more the wider they spread.
fn corners(names: &[&str], rows: usize, spread: f64) -> Dataset<Classes> {
    labelled(names, spread, &(0..rows).map(|i| names[i % names.len()]).collect::<Vec<_>>())
}

/// The points of which the first one has a class of its own.
fn with_single(names: &[&str], rows: usize, spread: f64) -> Dataset<Classes> {
    let name = |i: usize| if i == 0 { "single" } else { names[i % names.len()] };
    labelled(names, spread, &(0..rows).map(name).collect::<Vec<_>>())
}

fn labelled(corners: &[&str], spread: f64, labels: &[&str]) -> Dataset<Classes> {
    let count = corners.len();
    let point = |i: usize| {
        let angle = (i % count) as f64 * std::f64::consts::TAU / count as f64;
        let t = i as f64;
        [angle.cos() + spread * (1.7 * t).sin(), angle.sin() + spread * (2.3 * t).cos()]
    };
    let points: Vec<[f64; 2]> = (0..labels.len()).map(point).collect();
    Dataset::new(Design::from_rows(&points).unwrap(), Classes::new(labels).unwrap()).unwrap()
}

fn curve_of(settings: &ClassifierSettings, data: &Dataset<Classes>) -> ErrorCurve {
    settings.fit(data).unwrap().report.curve.unwrap()
}

/// On separable classes many lambdas have no error; the one with the smallest log-loss is taken, and
/// without probabilities the largest.
#[test]
fn ties_in_error_go_to_the_smaller_log_loss() {
    for (names, scheme) in [
        (&["a", "b"][..], None),
        (&["a", "b", "c"], None),
        (&["a", "b", "c"], Some(Scheme::OneVersusOne)),
    ] {
        let data = corners(names, 60, 0.2);
        let settings = ClassifierSettings { scheme, ..search(grid()) };
        let curve = curve_of(&settings, &data);
        let tied: Vec<usize> = (0..7).filter(|&k| curve.mean_error[k] == 0.0).collect();
        assert!(tied.len() > 1, "{:?}", curve.mean_error);
        let log_loss = |k: usize| curve.mean_log_loss[k].unwrap();
        assert!(tied.iter().all(|&k| log_loss(curve.best) <= log_loss(k)));
        assert!(log_loss(curve.best) < 0.5 * log_loss(tied[0]));
        assert_eq!(curve.one_standard_error, tied[0]);
        let hinge = ClassifierSettings { loss: Arc::new(Hinge), ..settings };
        let curve = curve_of(&hinge, &data);
        assert_eq!(curve.mean_log_loss, [None; 7]);
        assert_eq!(Some(curve.best), (0..7).find(|&k| curve.mean_error[k] == 0.0));
    }
}

/// One of several kernels is taken by the measure as well.
#[test]
fn kernels_are_compared_by_the_measure() {
    let data = corners(&["a", "b"], 60, 1.2);
    let specifications = ["gaussian:sigma=30", "linear", "gaussian:sigma=0.5"].map(str::to_owned);
    let kernels =
        KernelChoice { specifications: specifications.to_vec(), ..KernelChoice::default() };
    for measure in Measure::ALL {
        let settings = ClassifierSettings {
            kernels: kernels.clone(),
            ..search(CrossValidation { measure, ..grid() })
        };
        let report = settings.fit(&data).unwrap().report;
        let best = |curve: &ErrorCurve| curve.rank(curve.best);
        let chosen = best(report.curve.as_ref().unwrap());
        assert_eq!(report.kernels.len(), 3);
        assert!(report.kernels.iter().all(|tried| chosen <= best(&tried.curve)), "{measure}");
    }
}

/// The bits of a search do not depend on the number of threads, nor its measures on the route: two
/// classes and any scheme for them give the same values.
#[cfg(feature = "rayon")]
#[test]
fn the_bits_are_the_same_on_any_number_of_threads() {
    for (names, measures) in
        [(&["a", "b"][..], &Measure::ALL[..]), (&["a", "b", "c"], &Measure::ALL[..4])]
    {
        let data = corners(names, 90, 1.0);
        for &measure in measures {
            let on = |threads: usize| {
                let how = CrossValidation { measure, ..grid() };
                ClassifierSettings { threads: Some(threads), ..search(how) }.fit(&data).unwrap()
            };
            let [one, three] = [on(1), on(3)];
            assert_eq!(one.report.curve, three.report.curve, "{measure}");
            assert_eq!(one.model, three.model, "{measure}");
            let curve = one.report.curve.unwrap();
            let rank = curve.rank(curve.best);
            assert!((0..7).all(|k| rank <= curve.rank(k)), "{measure}");
        }
    }
}

/// A row may be held out twice or never.
#[test]
fn any_splits_are_taken() {
    let data = corners(&["a", "b", "c"], 90, 0.8);
    let split = |k: usize| Split {
        train: (0..60).filter(|i| i % 4 != k).collect(),
        test: (40..90).filter(|i| i % 4 == k).collect(),
    };
    let splits = Some((0..3).map(split).collect());
    let how = CrossValidation { splits: splits.clone(), folds: None, ..grid() };
    let fitted = search(how).fit(&data).unwrap();
    let folds = fitted.folds.unwrap();
    assert_eq!((folds.count, &folds.given, folds.of_rows.len()), (3, &splits, 0));
    // The last split has half as many rows to learn from, and lacks a class.
    let few = Split { train: (0..60).filter(|i| i % 3 != 2).collect(), test: (60..90).collect() };
    let splits = Some(splits.into_iter().flatten().chain([few]).collect());
    let how = CrossValidation { splits, folds: None, ..grid() };
    let notes = search(how).fit(&data).unwrap().report.notes;
    let expected = "1 of 4 folds misclassify every sample of a class at any lambda: fold '3' leaves no \
                    sample of class 'c' to train on.";
    assert_eq!(notes, [expected]);
}

/// A row that is trained on twice, as in a bootstrap sample, counts as two rows.
#[test]
fn bootstrap_splits_train_on_copies() {
    for names in [&["a", "b"][..], &["a", "b", "c"]] {
        let data = corners(names, 60, 0.8);
        let train: Vec<usize> = (0..60).map(|i| i * i % 41).collect();
        let test: Vec<usize> = (0..60).filter(|row| !train.contains(row)).collect();
        let copies = data.select(&[&train[..], &test].concat());
        let apart = Split { train: (0..60).collect(), test: (60..60 + test.len()).collect() };
        let bootstrap = Split { train, test };
        let [logistic, hinge]: [Arc<dyn MarginLoss>; 2] = [Arc::new(Logistic), Arc::new(Hinge)];
        let cholesky = Approximation::Cholesky { tolerance: 1e-10, gigabytes: 1.0 };
        for (kernel, approximation, loss) in [
            (None, Approximation::None, &logistic),
            (Some("gaussian:sigma=1"), Approximation::None, &logistic),
            (Some("gaussian:sigma=1"), Approximation::None, &hinge),
            (Some("gaussian:sigma=1"), cholesky, &logistic),
        ] {
            let kernels = KernelChoice {
                specifications: kernel.iter().map(|&kernel| kernel.to_owned()).collect(),
                approximation,
                ..KernelChoice::default()
            };
            let curve = |data: &Dataset<Classes>, split: &Split| {
                let splits = Some(vec![split.clone()]);
                let how = CrossValidation { splits, folds: None, ..grid() };
                let settings = ClassifierSettings {
                    loss: Arc::clone(loss),
                    kernels: kernels.clone(),
                    ..search(how)
                };
                curve_of(&settings, data)
            };
            let (one, other) = (curve(&data, &bootstrap), curve(&copies, &apart));
            assert!(one.certified.iter().chain(&other.certified).all(|&certified| certified));
            assert_eq!(one.mean_error, other.mean_error, "{kernel:?} {approximation:?}");
            for (one, other) in one.mean_log_loss.iter().zip(&other.mean_log_loss) {
                let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
                assert!((one - other).abs() < 1e-4, "{kernel:?}: {one} {other}");
            }
        }
    }
}

/// A class of one row lacks in the training rows of its own fold, where it counts as an error.
#[test]
fn a_class_of_one_row_does_not_end_a_search() {
    for names in [&["a", "b"][..], &["a"]] {
        let data = with_single(names, 60, 0.2);
        for measure in [Measure::Error, Measure::LogLoss, Measure::BalancedError] {
            let how = CrossValidation { folds: Some(5), measure, ..grid() };
            let fitted = search(how).fit(&data).unwrap();
            assert_eq!(fitted.model.classes().len(), names.len() + 1);
            let note = &fitted.report.notes[0];
            assert!(note.contains("leaves no sample of class 'single' to train on"), "{note}");
            let curve = fitted.report.curve.unwrap();
            assert!(curve.mean_error.iter().all(|&error| error >= 1.0 / 60.0 - 1e-12));
        }
        let platt = Probabilities::Platt { folds: Some(3) };
        let refused =
            ClassifierSettings { probabilities: platt, ..search(grid()) }.fit(&data).unwrap_err();
        assert!(refused.to_string().contains("1 ('single')"), "{refused}");
    }
}

/// Paths of the published stopping rule end at lambdas of their own: those that not all have reached are
/// never selected, whatever their error, and the fit on all rows is the one of its path.
#[test]
fn a_lambda_that_a_path_does_not_reach_is_never_selected() {
    let solver = Solver::MmPublished { change: 1e-5, path_iterations: 40 };
    let options = Options { solver, ..Options::default() };
    let (two, three) = (corners(&["a", "b"], 90, 2.0), corners(&["a", "b", "c"], 90, 2.0));
    for kernel in [None, Some("gaussian:sigma=2")] {
        for data in [&two, &three] {
            let lambdas = lambda_grid(1.0, 1e-7, 50).unwrap();
            let how = CrossValidation { lambdas: lambdas.clone(), ..grid() };
            let kernels = KernelChoice {
                specifications: kernel.map(str::to_owned).into_iter().collect(),
                ..KernelChoice::default()
            };
            let settings = ClassifierSettings { options, kernels, ..search(how) };
            let fitted = settings.fit(data).unwrap();
            let note = &fitted.report.notes[0];
            assert!(note.contains("of 50 lambdas have a fit in every fold"), "{note}");
            let curve = fitted.report.curve.unwrap();
            let reached = curve.reached.iter().filter(|&&reached| reached).count();
            assert!((2..50).contains(&reached) && curve.reached.is_sorted_by(|a, b| a >= b));
            assert!(curve.best < reached && curve.one_standard_error < reached);

            let index = curve.best;
            let regularisation = Regularisation::Path { lambdas: lambdas.clone(), index };
            let path =
                ClassifierSettings { regularisation, ..settings.clone() }.path(data).unwrap();
            assert_eq!(fitted.fits, path.fits[index]);
            let all = Regularisation::path(lambdas).unwrap();
            let settings = ClassifierSettings { regularisation: all, ..settings };
            let path = settings.path(data).unwrap();
            assert!((reached..50).contains(&path.fits.len()));
            let refused = settings.fit(data).unwrap_err().to_string();
            assert!(refused.starts_with("the path ends at lambda "), "{refused}");
        }
    }
    let limited = ClassifierSettings {
        options,
        time_limit: Some(std::time::Duration::from_secs(1)),
        ..search(grid())
    };
    let refused = limited.fit(&two).unwrap_err().to_string();
    assert!(refused.contains("the published stopping rule") && refused.contains("a time limit"));
}

#[test]
fn measures_that_cannot_be_had_are_refused() {
    let (two, three) = (corners(&["a", "b"], 30, 0.5), corners(&["a", "b", "c"], 30, 0.5));
    let measured = |measure| CrossValidation { measure, ..grid() };
    let refusal = |settings: ClassifierSettings, data: &Dataset<Classes>| {
        let refused = settings.fit(data).unwrap_err();
        assert!(
            matches!(
                refused,
                Error::Contradiction { .. } | Error::Optim(_) | Error::Setting { .. }
            ),
            "{refused:?}"
        );
        refused.to_string()
    };
    let hinge = ClassifierSettings { loss: Arc::new(Hinge), ..search(measured(Measure::LogLoss)) };
    let alone = CrossValidation {
        folds: None,
        leave_one_out: Some(LeaveOneOut::OneStep),
        ..measured(Measure::Auc)
    };
    let hopeless = CrossValidation { abandon_hopeless: true, ..measured(Measure::Brier) };
    let split = Split { train: (0..20).collect(), test: (20..30).collect() };
    let both = CrossValidation { splits: Some(vec![split]), ..grid() };
    let one_sided = Split { train: (0..20).collect(), test: (20..30).step_by(2).collect() };
    let undefined =
        CrossValidation { splits: Some(vec![one_sided]), folds: None, ..measured(Measure::Auc) };
    for (settings, data, expected) in [
        (hinge, &two, "the measure needs probabilities"),
        (search(measured(Measure::Auc)), &three, "the area under the curve needs two classes"),
        (search(alone), &two, "single samples are counted as errors"),
        (search(hopeless), &two, "lambdas are abandoned by their errors"),
        (search(both), &two, "leave one of them out"),
        (search(undefined), &two, "no fold holds out samples of both classes"),
    ] {
        let message = refusal(settings, data);
        assert!(message.contains(expected), "{message}");
    }
}

/// Decisions by the held-out scores make the mistakes that the cross-validation has counted.
#[test]
fn held_out_scores_have_the_error_of_the_cross_validation() {
    let gaussian = || KernelChoice {
        specifications: vec!["gaussian".to_owned(), "gaussian:sigma=20".to_owned()],
        ..KernelChoice::default()
    };
    let losses: [Arc<dyn MarginLoss>; 2] = [Arc::new(Hinge), Arc::new(Logistic)];
    let mut second = 0;
    for (names, kernels, scheme, order) in [
        (&["a", "b"][..], KernelChoice::default(), None, [0, 1]),
        (&["a", "b"], KernelChoice::default(), None, [1, 0]),
        (&["a", "b"], gaussian(), None, [0, 1]),
        (&["a", "b", "c"], KernelChoice::default(), Some(Scheme::OneVersusRest), [1, 0]),
        (&["a", "b", "c"], gaussian(), Some(Scheme::OneVersusOne), [0, 1]),
    ] {
        let data = corners(names, 90, 1.2);
        let [loss, or_loss] = order.map(|place| Arc::clone(&losses[place]));
        let or_losses = vec![or_loss];
        let settings = ClassifierSettings {
            loss,
            or_losses,
            kernels,
            scheme,
            standardize: true,
            ..search(grid())
        };
        let fitted = settings.fit(&data).unwrap();
        let scores = fitted.held_out_scores(&settings).unwrap().unwrap();
        let decide =
            |row: usize| fitted.model.decide(&scores.row(row).iter().copied().collect::<Vec<_>>());
        let wrong = (0..90).filter(|&row| decide(row) != data.labels().index(row)).count();
        let curve = fitted.report.curve.as_ref().unwrap();
        let error = curve.mean_error[curve.best];
        assert!(wrong > 0 && (wrong as f64 / 90.0 - error).abs() < 1e-12, "{wrong} of 90, {error}");
        let without =
            ClassifierSettings { time_limit: Some(std::time::Duration::from_secs(9)), ..settings };
        assert!(fitted.held_out_scores(&without).unwrap().is_none());
        second += usize::from(fitted.report.loss != fitted.report.losses[0].specification);
    }
    assert!(second > 0, "the first loss was selected in every search");
}
