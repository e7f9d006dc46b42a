//! Fits to rows of a block file agree with fits to the same rows in memory.

use margins_data::blocks::{self, BlockFile, BlockSettings};
use margins_data::metrics::Measure;
use margins_data::{ClassLabels, Classes, Dataset, Design, Memory};
use margins_estimators::regularised::{
    Approximation, ClassCosts, ClassifierSettings, CrossValidation, DataSummary, FileRows,
    FittedClassifier, FixedParameter, IterationObserver, KernelChoice, Probabilities,
    Regularisation,
};
use margins_losses::{Hinge, Logistic, MarginLoss, ZeroOne};
use margins_model::{Registry, Scheme};
use margins_optim::problem::PenaltyFactors;
use margins_optim::shards::{Failure, Message, Reply, Workers};
use margins_optim::{ClassWeights, Lambda, Options, lambda_grid};
use margins_test_support::mixture;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Returns samples of three classes with weights and folds.
fn three() -> Dataset<Classes> {
    let data = mixture(300, 10);
    let class = |i: usize| (data.labels().index(i) + usize::from(i.is_multiple_of(7))) as u32;
    let names = ["ape", "bee", "cat"].map(str::to_owned).to_vec();
    let classes = Classes::from_indices((0..300).map(class).collect(), names).expect("classes");
    let data = data.relabelled(classes).expect("one per row");
    let data = data.with_weights((0..300).map(|i| 0.5 + (i % 4) as f64).collect());
    data.and_then(|data| data.with_folds((0..300).map(|i| i * 7 % 5).collect()))
        .expect("one per row")
}

fn two() -> Dataset<Classes> {
    let data = three();
    let classes = (0..300).map(|i| (data.labels().index(i) as u32).min(1)).collect();
    let names = ["ape", "bee"].map(str::to_owned).to_vec();
    data.relabelled(Classes::from_indices(classes, names).expect("classes")).expect("one per row")
}

fn fit(data: &Dataset<Classes>, settings: &ClassifierSettings) -> Result<FittedClassifier, String> {
    let (_folder, mut rows) = on_disk(data);
    assert_eq!(rows.table().rows(), data.rows());
    settings.fit_file(&mut rows).map_err(|error| error.to_string())
}

/// Returns the rows in a block file, and its folder.
fn on_disk<Y: ClassLabels>(data: &Dataset<Y>) -> (TempDir, FileRows) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.blocks");
    let of_blocks = BlockSettings { rows: Some(32), ..BlockSettings::default() };
    blocks::write(data, &path, of_blocks).expect("a file");
    let file = BlockFile::open(&path).expect("a block file");
    let rows = FileRows::open(&file, Memory::from_bytes(1 << 20)).expect("enough");
    (folder, rows)
}

fn settings(regularisation: Regularisation) -> ClassifierSettings {
    let options = Options { tolerance: 1e-9, ..Options::default() };
    ClassifierSettings {
        loss: Arc::new(Logistic),
        options,
        regularisation,
        ..ClassifierSettings::default()
    }
}

fn single() -> Regularisation {
    Regularisation::Single(Lambda::new(0.01).expect("positive"))
}

fn assert_agree(data: &Dataset<Classes>, settings: &ClassifierSettings) {
    let elsewhere = fit(data, settings).expect("a fit");
    let here = settings.fit(data).expect("a fit");
    assert!(elsewhere.report.is_certified() && here.report.is_certified());
    assert_eq!(elsewhere.model.classes(), here.model.classes());
    for (one, other) in elsewhere.model.members().iter().zip(here.model.members()) {
        assert_eq!(one.lambda, other.lambda);
        let (a, b) = (one.training.objective, other.training.objective);
        let (a, b) = (a.expect("an objective"), b.expect("an objective"));
        assert!((a - b).abs() <= 2e-9 * a, "{a} and {b}");
    }
    let [a, b] = [&elsewhere, &here].map(|fitted| fitted.training_error().expect("scores"));
    assert!((a - b).abs() <= 1e-12, "{a} and {b}");
    assert_eq!(elsewhere.dimension(), here.dimension());
    assert_eq!(elsewhere.report.curve.is_some(), here.report.curve.is_some());
    if let (Some(one), Some(other)) = (&elsewhere.report.curve, &here.report.curve) {
        assert_eq!((one.best, one.one_standard_error), (other.best, other.one_standard_error));
        for (a, b) in
            [(&one.mean_error, &other.mean_error), (&one.standard_error, &other.standard_error)]
        {
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12), "{a:?} and {b:?}");
        }
        // Probabilities are those of coefficients that the gap leaves open a little.
        for (a, b) in [
            (&one.mean_measure, &other.mean_measure),
            (&one.measure_standard_error, &other.measure_standard_error),
        ] {
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6), "{a:?} and {b:?}");
        }
    }
}

#[test]
fn fits_agree_with_those_in_memory() {
    let lambdas = lambda_grid(1.0, 1e-3, 8).expect("a grid");
    let crossed = CrossValidation { lambdas: lambdas.clone(), ..CrossValidation::default() };
    let path = Regularisation::path(lambdas).expect("lambdas");
    let pairs = Some(Scheme::OneVersusOne);
    for (data, scheme) in [(two(), None), (three(), None), (three(), pairs)] {
        for way in [single(), path.clone(), Regularisation::CrossValidated(crossed.clone())] {
            let plain = ClassifierSettings { scheme, ..settings(way) };
            assert_agree(&data, &plain);
            assert_agree(&data, &ClassifierSettings { standardize: true, ..plain.clone() });
            let fixed_parameter = FixedParameter::C;
            assert_agree(&data, &ClassifierSettings { fixed_parameter, ..plain.clone() });
            let class_weights = ClassWeights::Balanced;
            assert_agree(&data, &ClassifierSettings { class_weights, ..plain.clone() });
            let class_costs = ClassCosts::new(vec![("bee".to_owned(), 3.0)]).expect("a cost");
            assert_agree(&data, &ClassifierSettings { class_costs, ..plain });
        }
    }
    let log_loss = CrossValidation { measure: Measure::LogLoss, ..crossed };
    let by_log_loss = settings(Regularisation::CrossValidated(log_loss));
    assert_agree(&three(), &ClassifierSettings { scheme: pairs, ..by_log_loss });
}

/// A fold that holds out all samples of a class is noted or refused as in memory.
#[test]
fn folds_that_lack_a_class_are_those_in_memory() {
    let lambdas = lambda_grid(1.0, 1e-2, 3).expect("a grid");
    let how = CrossValidation { lambdas, ..CrossValidation::default() };
    let settings = settings(Regularisation::CrossValidated(how));
    let in_fold = |data: &Dataset<Classes>, class: usize, of_class: usize| {
        let index = |i: usize| data.labels().index(i);
        let of_row = |i: usize| if index(i) == class { of_class } else { i % of_class };
        data.clone().with_folds((0..300).map(of_row).collect()).expect("one per row")
    };
    let data = in_fold(&three(), 2, 4);
    for scheme in [None, Some(Scheme::OneVersusOne)] {
        let settings = ClassifierSettings { scheme, ..settings.clone() };
        assert_agree(&data, &settings);
        let notes = settings.fit(&data).expect("a fit").report.notes;
        assert!(notes[0].starts_with("1 of 5 folds"), "{notes:?}");
        assert_eq!(fit(&data, &settings).expect("a fit").report.notes, notes);
    }
    let notes = settings.fit(&data).expect("a fit").report.notes;
    assert!(notes[0].starts_with("1 of 5 folds misclassify every sample of a class"), "{notes:?}");
    assert_eq!(fit(&data, &settings).expect("a fit").report.notes, notes);
    // Two folds, each of which holds out all samples of a class; and two classes.
    let halves = three().with_folds((0..300).map(|i| three().labels().index(i).min(1)).collect());
    for data in [halves.expect("one per row"), in_fold(&two(), 0, 4), in_fold(&two(), 1, 4)] {
        let here = settings.fit(&data).expect_err("folds that lack a class").to_string();
        assert!(here.contains("leaves no sample of class"), "{here}");
        assert_eq!(fit(&data, &settings).expect_err("folds that lack a class"), here);
    }
}

/// Every measure has the values that it has in memory, with weights and costs, and chooses the same
/// lambda.
#[test]
fn measures_are_those_in_memory() {
    let lambdas = lambda_grid(1.0, 1e-3, 8).expect("a grid");
    for (data, measures) in [(two(), &Measure::ALL[..]), (three(), &Measure::ALL[..4])] {
        for &measure in measures {
            let how =
                CrossValidation { lambdas: lambdas.clone(), measure, ..CrossValidation::default() };
            let class_costs = ClassCosts::new(vec![("bee".to_owned(), 3.0)]).expect("a cost");
            let settings = settings(Regularisation::CrossValidated(how));
            assert_agree(&data, &ClassifierSettings { class_costs, ..settings });
        }
    }
}

/// Folds are drawn where the samples have none: the seed says which, the partitions do not.
#[test]
fn folds_are_drawn() {
    let classes = two();
    let data = Dataset::new(classes.design().clone(), classes.labels().clone()).expect("data");
    let lambdas = lambda_grid(1.0, 1e-2, 3).expect("a grid");
    let how = CrossValidation { lambdas, folds: Some(4), ..CrossValidation::default() };
    let with =
        |seed| ClassifierSettings { seed, ..settings(Regularisation::CrossValidated(how.clone())) };
    let one = fit(&data, &with(1)).expect("a fit");
    let folds = one.folds.as_ref().expect("folds");
    assert_eq!((folds.count, folds.seed), (4, Some(1)));
    let curve = |fitted: &FittedClassifier| fitted.report.curve.clone().expect("a curve");
    assert_eq!(curve(&one), curve(&fit(&data, &with(1)).expect("a fit")));
    assert_ne!(curve(&one), curve(&fit(&data, &with(2)).expect("a fit")));
    // The folds in memory are others, of the same samples: both estimate one error.
    let here = with(1).fit(&data).expect("a fit").report.curve.expect("a curve");
    for (k, (a, b)) in curve(&one).mean_error.iter().zip(&here.mean_error).enumerate() {
        assert!((a - b).abs() <= 4.0 * here.standard_error[k], "{a} and {b}");
    }
}

#[test]
fn what_needs_the_samples_is_refused() {
    let data = two();
    let refusal = |settings: ClassifierSettings| fit(&data, &settings).expect_err("refused");
    let platt = Probabilities::Platt { folds: None };
    let message = refusal(ClassifierSettings { probabilities: platt, ..settings(single()) });
    assert!(
        message.starts_with("Platt scaling cannot be combined with samples that are not in memory"),
        "{message}"
    );
    let message =
        refusal(ClassifierSettings { sample_weights: Some(vec![1.0]), ..settings(single()) });
    assert!(message.starts_with("sample_weights cannot be combined with samples"), "{message}");
    let message = refusal(ClassifierSettings { loss: Arc::new(ZeroOne), ..settings(single()) });
    assert!(message.contains("is not convex"), "{message}");
    let how = CrossValidation { folds: Some(3), ..CrossValidation::default() };
    let message = refusal(settings(Regularisation::CrossValidated(how)));
    assert!(message.contains("the samples have folds of their own"), "{message}");
    let auc = CrossValidation { measure: Measure::Auc, ..CrossValidation::default() };
    let by_auc = settings(Regularisation::CrossValidated(auc));
    let message = fit(&three(), &by_auc).expect_err("three classes");
    assert!(message.contains("the area under the curve needs two classes"), "{message}");
    // Every fold holds out samples of one class.
    let folds = (0..300).map(|i| data.labels().index(i) + 2 * (i % 2)).collect();
    let message =
        fit(&data.with_folds(folds).expect("one per row"), &by_auc).expect_err("undefined");
    assert!(message.contains("no fold holds out samples of both classes"), "{message}");
}

#[test]
fn pairs_of_too_many_classes_are_refused_before_any_fit() {
    let classes: Vec<String> = (0..1_000_000).map(|class| class.to_string()).collect();
    let (_folder, rows) = on_disk(&three());
    let table = DataSummary { class_rows: vec![1; classes.len()], classes, ..rows.table().clone() };
    let refused = settings(single()).fit_distributed(&mut Nobody, &table);
    let refused = refused.expect_err("499,999,500,000 classifiers").to_string();
    assert!(refused.contains("needs 499999500000 classifiers"), "{refused}");
}

/// Workers that nobody asks.
struct Nobody;

impl Workers for Nobody {
    fn round(&mut self, _: &Message<'_>) -> Result<Vec<Reply>, Failure> {
        unreachable!("no message")
    }
}

/// The linear support vector machine has the minimum that it has in memory.
#[test]
fn the_hinge_agrees_with_that_in_memory() {
    let options = Options { tolerance: 1e-6, ..Options::default() };
    for data in [two(), three()] {
        let hinge = ClassifierSettings { loss: Arc::new(Hinge), options, ..settings(single()) };
        let elsewhere = fit(&data, &hinge).expect("a fit");
        let here = hinge.fit(&data).expect("a fit");
        assert!(elsewhere.report.is_certified() && here.report.is_certified());
        for (one, other) in elsewhere.fits.iter().zip(&here.fits) {
            let (a, b) = (one.report.objective, other.report.objective);
            assert!((a - b).abs() <= 2e-6 * a, "{a} and {b}");
        }
    }
}

/// Pairs of classes share the time, so that the last ones have their part of it.
#[test]
fn pairs_share_the_time() {
    let slow = IterationObserver::new(|_| {
        std::thread::sleep(Duration::from_millis(200));
        ControlFlow::Continue(())
    });
    let settings = ClassifierSettings {
        time_limit: Some(Duration::from_millis(1800)),
        iterations: slow,
        ..settings(Regularisation::Single(Lambda::new(1e-8).expect("positive")))
    };
    let fitted = fit(&three(), &settings).expect("fits");
    assert_eq!(fitted.fits.len(), 3);
    assert!(fitted.fits.iter().all(|fit| fit.coef.iter().any(|w| *w != 0.0)));
}

/// The point of an interrupted fit is kept, certified again by the next run, and refused for
/// other settings and other fits.
#[test]
fn fits_go_on_from_their_points() {
    let (data, folder) = (two(), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("points.json");
    let lambdas = lambda_grid(1.0, 1e-3, 4).expect("a grid");
    let way = Regularisation::path(lambdas).expect("lambdas");
    let whole = settings(way.clone());
    let kept = ClassifierSettings { checkpoint: Some(path.clone()), ..whole.clone() };
    let expected = fit(&data, &whole).expect("a fit");
    let seen = AtomicUsize::new(0);
    let iterations = IterationObserver::new(move |_| {
        let is_early = seen.fetch_add(1, Ordering::Relaxed) < 4;
        if is_early { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let cut = fit(&data, &ClassifierSettings { iterations, ..kept.clone() }).expect("a fit");
    assert!(!cut.report.is_certified());
    let resumed = fit(&data, &kept).expect("a fit");
    let iterations = |fitted: &FittedClassifier| fitted.fits[0].report.iterations;
    for (fitted, most) in [(resumed, usize::MAX), (fit(&data, &kept).expect("a fit"), 1)] {
        assert!(fitted.report.is_certified() && iterations(&fitted) <= most);
        let [a, b] = [&fitted, &expected].map(|fitted| fitted.fits[0].report.objective);
        assert!((a - b).abs() <= 2e-9 * a, "{a} and {b}");
    }
    let text = std::fs::read_to_string(&path).expect("a file");
    assert!(text.contains(r#""scheme":"binary""#), "the scheme that is fitted: {text}");
    let other = ClassifierSettings { standardize: true, ..kept.clone() };
    let message = fit(&data, &other).expect_err("other settings");
    assert!(message.contains("it is of a fit with standardize 'false', not 'true'"), "{message}");
    let message = kept.fit(&data).expect_err("in memory").to_string();
    assert!(message.contains("a fit in memory without folds"), "{message}");
    std::fs::write(&path, "height,width\n").expect("a file");
    let message = fit(&data, &kept).expect_err("no checkpoint");
    assert!(message.contains("it is no checkpoint of fits to samples"), "{message}");
}

/// Nystrom features are made of blocks with the landmarks that a fit in memory draws.
#[test]
fn nystrom_features_are_those_in_memory() {
    let kernels = KernelChoice {
        specifications: vec!["gaussian:sigma=2".to_owned()],
        approximation: "nystrom:m=40".parse().expect("an approximation"),
        ..KernelChoice::default()
    };
    let lambdas = lambda_grid(1.0, 1e-3, 4).expect("a grid");
    let crossed = CrossValidation { lambdas, ..CrossValidation::default() };
    for data in [two(), three()] {
        for way in [single(), Regularisation::CrossValidated(crossed.clone())] {
            let settings = ClassifierSettings { kernels: kernels.clone(), ..settings(way) };
            assert_agree(&data, &settings);
            let (elsewhere, here) =
                (fit(&data, &settings).expect("a fit"), settings.fit(&data).expect("a fit"));
            assert_eq!(elsewhere.report.kernel, here.report.kernel);
            let registry = Registry::standard();
            let scores = |fitted: &FittedClassifier| {
                fitted.model.decision_functions(data.design(), &registry).expect("scores")
            };
            for (a, b) in scores(&elsewhere).iter().zip(scores(&here).iter()) {
                assert!((a - b).abs() <= 1e-3, "{a} and {b}");
            }
        }
    }
    let standardised =
        ClassifierSettings { kernels: kernels.clone(), standardize: true, ..settings(single()) };
    assert_agree(&two(), &standardised);
    let class_costs = ClassCosts::new(vec![("bee".to_owned(), 9.0)]).expect("a cost");
    assert_agree(&two(), &ClassifierSettings { class_costs, ..standardised });
    let approximation = "nystrom:m=40,leverage=1e-3".parse().expect("an approximation");
    let kernels = KernelChoice { approximation, ..kernels };
    let message =
        fit(&two(), &ClassifierSettings { kernels, ..settings(single()) }).expect_err("refused");
    assert!(
        message.starts_with("a kernel cannot be combined with samples that are not in memory"),
        "{message}"
    );
}

/// What several classes in one problem cannot have on disk is refused in the words of the table.
#[test]
fn joint_classes_are_refused_by_name() {
    let joint = || ClassifierSettings { scheme: Some(Scheme::Joint), ..settings(single()) };
    let kernels = KernelChoice {
        specifications: vec!["gaussian:sigma=0.5".to_owned()],
        approximation: Approximation::Nystrom { landmarks: 20, leverage: None },
        ..KernelChoice::default()
    };
    let free = PenaltyFactors::of_names(vec![("1".to_owned(), 0.0)]).ok();
    let lambda_0 = Regularisation::Single(Lambda::NONE);
    for (refused, words) in [
        (ClassifierSettings { kernels, ..joint() }, "a kernel with several classes in one problem"),
        (
            ClassifierSettings { penalty_factors: free, ..joint() },
            "a penalty factor of 0 with several",
        ),
        (
            ClassifierSettings { regularisation: lambda_0, ..joint() },
            "lambda 0 with several classes",
        ),
        (
            ClassifierSettings {
                scheme: Some(Scheme::CrammerSinger),
                loss: Arc::new(Hinge),
                ..joint()
            },
            "crammer-singer classes",
        ),
    ] {
        let message = fit(&three(), &refused).expect_err("refused");
        assert!(message.starts_with(words), "{message}");
        let of_other_schemes = "one-versus-one or one-versus-rest, or rows in memory";
        assert!(message.contains(of_other_schemes), "{message}");
        assert_eq!(message.contains("take joint, "), words.starts_with("crammer"), "{message}");
    }
}

/// The objective is the mean loss and lambda times the square of the norm, whatever the penalty acts on.
#[test]
fn the_norms_of_a_path_are_those_of_its_penalty() {
    let data = mixture(120, 4);
    let (signs, registry) = (data.labels().signs(), Registry::standard());
    let factors = |factors: [f64; 4]| PenaltyFactors::of_columns(factors.to_vec()).ok();
    let kernel = |approximation: Approximation| KernelChoice {
        specifications: vec!["gaussian:sigma=0.5".to_owned()],
        approximation,
        ..KernelChoice::default()
    };
    let nystrom = Approximation::Nystrom { landmarks: 20, leverage: None };
    let linear = KernelChoice::default();
    for (kernels, penalty_factors, standardize) in [
        (linear.clone(), None, false),
        (linear.clone(), None, true),
        (linear.clone(), factors([0.0, 4.0, 1.0, 0.25]), false),
        (linear, factors([0.0, 4.0, 1.0, 0.25]), true),
        (kernel(Approximation::None), factors([0.0, 1.0, 1.0, 0.0]), true),
        (kernel(nystrom), None, true),
        (kernel(nystrom), factors([0.0, 1.0, 1.0, 0.0]), true),
    ] {
        let is_kernel = !kernels.specifications.is_empty();
        let is_exact = is_kernel && kernels.approximation == Approximation::None;
        let lambdas = lambda_grid(1.0, 1e-3, 3).expect("a grid");
        let settings = ClassifierSettings {
            kernels,
            penalty_factors,
            standardize,
            ..settings(Regularisation::path(lambdas).expect("lambdas"))
        };
        let mut paths = vec![settings.path(&data).expect("a path")];
        if !is_exact {
            let (_folder, mut rows) = on_disk(&data);
            paths.push(settings.path_file(&mut rows).expect("a path"));
        }
        for path in paths {
            let models = path.models(&settings).expect("models");
            let norms = path.norms(&settings).expect("norms");
            for (fits, norms) in path.fits.iter().zip(&norms) {
                let (lambda, objective) = (fits[0].lambda.get(), fits[0].report.objective);
                let scores = models.at(lambda).expect("a model");
                let scores = scores.decision_function(data.design(), &registry).expect("scores");
                let losses = scores.iter().zip(signs).map(|(score, y)| Logistic.value(y * score));
                let risk = losses.sum::<f64>() / 120.0;
                let found = risk + lambda * norms[0].powi(2);
                assert!((found - objective).abs() <= 1e-9 * objective, "{found}, {objective}");
            }
        }
    }
}

/// A path names the direction that a fit names, in memory and on disk.
#[test]
fn a_path_names_the_direction_without_a_minimum() {
    let rows: Vec<[f64; 2]> = (0..40).map(|i| [f64::from(i), f64::from(i * 7 % 5)]).collect();
    let names: Vec<&str> = (0..40).map(|i| if i < 20 { "ape" } else { "bee" }).collect();
    let design = Design::from_rows(&rows).expect("rows");
    let data = Dataset::new(design, Classes::new(&names).expect("classes")).expect("data");
    let penalty_factors = PenaltyFactors::of_columns(vec![0.0, 1.0]).ok();
    let one = ClassifierSettings { penalty_factors, ..settings(single()) };
    let lambdas = vec![Lambda::new(0.1).unwrap(), Lambda::new(0.01).unwrap()];
    let regularisation = Regularisation::path(lambdas).expect("lambdas");
    let several = ClassifierSettings { regularisation, ..one.clone() };
    let note = one.fit(&data).expect("a fit").report.notes.pop().expect("a note");
    assert!(note.contains(" feature 1 - "), "{note}");
    let (_folder, mut rows) = on_disk(&data);
    for path in [several.path(&data), several.path_file(&mut rows)] {
        let found = path.expect("a path").separation(&several).expect("a model").expect("a note");
        let words = |note: &str| note.split(" along ").next().map(str::to_owned);
        assert!(words(&found) == words(&note) && found.contains(" feature 1 - "), "{found}");
    }
    let with_minimum = ClassifierSettings { loss: Arc::new(Hinge), ..several };
    let path = with_minimum.path(&data).expect("a path");
    assert_eq!(path.separation(&with_minimum).expect("no model"), None);
}

/// Fits, paths and cross-validations of several classes in one problem, standardised, with weights and
/// costs, give the same numbers as in memory, also for a loss with a kink.
#[test]
fn joint_classes_agree_with_those_in_memory() {
    let lambdas = lambda_grid(1.0, 1e-2, 3).expect("a grid");
    let crossed = CrossValidation {
        lambdas: lambdas.clone(),
        measure: Measure::LogLoss,
        ..CrossValidation::default()
    };
    let path = Regularisation::path(lambdas).expect("lambdas");
    let data = three();
    for scheme in [Scheme::Joint, Scheme::Multinomial].map(Some) {
        for way in [single(), path.clone(), Regularisation::CrossValidated(crossed.clone())] {
            let class_costs = ClassCosts::new(vec![("bee".to_owned(), 3.0)]).expect("a cost");
            let plain = ClassifierSettings { scheme, ..settings(way) };
            assert_agree(&data, &ClassifierSettings { class_costs, ..plain.clone() });
            let class_weights = ClassWeights::Balanced;
            assert_agree(&data, &ClassifierSettings { class_weights, standardize: true, ..plain });
        }
    }
    let (scheme, loss) = (Some(Scheme::Joint), Arc::new(Hinge));
    let options = Options { tolerance: 1e-6, ..Options::default() };
    let hinge = ClassifierSettings { scheme, loss, options, ..settings(single()) };
    let (elsewhere, here) = (fit(&data, &hinge).expect("a fit"), hinge.fit(&data).expect("a fit"));
    assert!(elsewhere.report.is_certified() && here.report.is_certified());
    let [a, b] = [&elsewhere, &here].map(|fitted| fitted.fits[0].report.objective);
    assert!((a - b).abs() <= 2e-6 * a, "{a} and {b}");
}

/// Folds that hold out all samples of a class, and a class alone that has weight, are those in memory; an
/// interrupted fit goes on from its point.
#[test]
fn joint_classes_without_weight_are_those_in_memory() {
    let lambdas = lambda_grid(1.0, 1e-2, 3).expect("a grid");
    let how = CrossValidation { lambdas, ..CrossValidation::default() };
    let data = three();
    let index = |i: usize| data.labels().index(i);
    let of_row = |i: usize| if index(i) == 2 { 4 } else { i % 4 };
    let folded = data.clone().with_folds((0..300).map(of_row).collect()).expect("one per row");
    for scheme in [Scheme::Joint, Scheme::Multinomial].map(Some) {
        let crossed = Regularisation::CrossValidated(how.clone());
        let crossed = ClassifierSettings { scheme, ..settings(crossed) };
        assert_agree(&folded, &crossed);
        let notes = crossed.fit(&folded).expect("a fit").report.notes;
        assert!(notes[0].starts_with("1 of 5 folds"), "{notes:?}");
        assert_eq!(fit(&folded, &crossed).expect("a fit").report.notes, notes);
        let one = ClassifierSettings { scheme, ..settings(single()) };
        let alone = (0..300).map(|i| f64::from(u8::from(index(i) == 1))).collect();
        let alone = data.clone().with_weights(alone).expect("one per row");
        let classes = |fitted: FittedClassifier| {
            fitted.model.predict(data.design(), &Registry::standard()).expect("classes")
        };
        let elsewhere = classes(fit(&alone, &one).expect("a fit"));
        assert_eq!(elsewhere, classes(one.fit(&alone).expect("a fit")));
        let folder = tempfile::tempdir().expect("a folder");
        let checkpoint = Some(folder.path().join("points.json"));
        let kept = ClassifierSettings { checkpoint, ..one };
        let first = fit(&data, &kept).expect("a fit");
        let again = fit(&data, &kept).expect("a fit");
        let iterations = again.fits[0].report.iterations;
        assert!(again.report.is_certified() && iterations <= 1, "{iterations}");
        let [a, b] = [&first, &again].map(|fitted| fitted.fits[0].report.objective);
        assert!((a - b).abs() <= 2e-9 * a, "{a} and {b}");
    }
}
