//! Losses by their specifications: several to choose from, and a scale from the data.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use margins_calibration::location::variance_bound;
use margins_calibration::scale::bias_bounded;
use margins_data::{ClassLabels, Classes, Dataset, Labels, Sample};
use margins_estimators::regularised::{
    AutoScale, ClassCosts, ClassifierSettings, CrossValidation, FittedClassifier, KernelChoice,
    LeaveOneOut, Regularisation,
};
use margins_kernels::{Kernel, KernelRegistry};
use margins_losses::{LossRegistry, MarginPursuit};
use margins_model::Registry;
use margins_optim::{ClassWeights, Lambda, lambda_grid};
use margins_test_support::plane;

/// A Gaussian kernel that counts its values.
#[derive(Debug)]
struct Counted {
    sigma: f64,
    values: Arc<AtomicUsize>,
}

impl Kernel for Counted {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        self.values.fetch_add(1, Ordering::Relaxed);
        let [x, z] = [x, z].map(|sample| [sample.dot(&[1.0, 0.0]), sample.dot(&[0.0, 1.0])]);
        let square: f64 = x.iter().zip(&z).map(|(a, b)| (a - b) * (a - b)).sum();
        (-self.sigma * square).exp()
    }

    fn name(&self) -> &str {
        "counted"
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("sigma", self.sigma)]
    }

    fn is_positive_semidefinite(&self) -> bool {
        true
    }
}

/// Returns counted kernels of these widths, with the number of values computed.
fn counted(sigmas: &[f64]) -> (KernelChoice, Arc<AtomicUsize>) {
    let values = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&values);
    let registry = KernelRegistry::standard().with("counted", &[("sigma", None)], move |given| {
        Ok(Box::new(Counted { sigma: given[0], values: Arc::clone(&counter) }))
    });
    let specifications = sigmas.iter().map(|sigma| format!("counted:sigma={sigma}")).collect();
    (KernelChoice { specifications, registry, ..KernelChoice::default() }, values)
}

fn with_losses(settings: ClassifierSettings, losses: &[&str]) -> ClassifierSettings {
    let others: Vec<String> = losses[1..].iter().map(|&loss| loss.to_owned()).collect();
    settings.with_losses(losses[0], &others, &[], &LossRegistry::standard()).unwrap()
}

fn validated(how: CrossValidation) -> ClassifierSettings {
    let lambdas = lambda_grid(1.0, 1e-3, 4).unwrap();
    let how = CrossValidation { lambdas, ..how };
    ClassifierSettings {
        regularisation: Regularisation::CrossValidated(how),
        ..ClassifierSettings::default()
    }
}

fn folds() -> CrossValidation {
    CrossValidation { folds: Some(3), ..CrossValidation::default() }
}

/// The matrix of each kernel is computed once, however many losses there are, and each loss finds what it
/// finds alone, to the bit.
#[test]
fn several_losses_share_each_kernel_matrix() {
    let data = plane(60);
    let exact =
        CrossValidation { leave_one_out: Some(LeaveOneOut::Exact), ..CrossValidation::default() };
    let all = ["hinge", "lhs", "squared", "margin-pursuit:scale=2", "lhs"];
    for (how, losses) in [(folds(), &all[..]), (exact, &all[1..])] {
        let fit = |losses: &[&str]| {
            let (kernels, values) = counted(&[0.5, 2.0]);
            let settings = ClassifierSettings { kernels, ..validated(how.clone()) };
            let fitted = with_losses(settings, losses).fit(&data).unwrap();
            (fitted, values.load(Ordering::Relaxed))
        };
        let (together, values) = fit(losses);
        let alone: Vec<(FittedClassifier, usize)> =
            losses[..losses.len() - 1].iter().map(|&loss| fit(&[loss])).collect();
        let tried = &together.report.losses;
        assert_eq!(tried.len(), alone.len());
        for (tried, (alone, values_alone)) in tried.iter().zip(&alone) {
            assert_eq!(values, *values_alone);
            assert_eq!(Some(&tried.curve), alone.report.curve.as_ref());
            assert_eq!(tried.specification, alone.report.loss);
        }
        let is_chosen =
            |(alone, _): &&(FittedClassifier, usize)| alone.report.loss == together.report.loss;
        let (chosen, _) = alone.iter().find(is_chosen).unwrap();
        assert_eq!(together.report.kernels, chosen.report.kernels);
        assert_eq!(together.report.kernels.len(), 2);
        for (fit, alone) in together.fits.iter().zip(&chosen.fits) {
            assert_eq!((fit.intercept, &fit.coef), (alone.intercept, &alone.coef));
        }
        let errors = |fitted: &FittedClassifier| {
            let curve = fitted.report.curve.as_ref().unwrap();
            curve.mean_error[curve.best]
        };
        let least = alone.iter().map(|(alone, _)| errors(alone)).fold(f64::INFINITY, f64::min);
        assert_eq!(errors(&together), least);
    }
}

/// By `L_{c gamma, c s}(c u) = c^2 L_{gamma, s}(u)` gamma is a unit of scores: the fits at c gamma and
/// c s are c times those at gamma and s, with the same errors, for the same lambdas.
#[test]
fn only_the_ratio_of_scale_and_gamma_matters() {
    let data = plane(60);
    let registry = LossRegistry::standard();
    let search = |gamma: f64| {
        let scales = [0.5, 2.0, 8.0].map(|scale| gamma * scale);
        let first = format!("margin-pursuit:gamma={gamma}");
        let settings = validated(folds()).with_losses(&first, &[], &scales, &registry).unwrap();
        settings.fit(&data).unwrap()
    };
    let one = search(1.0);
    assert_eq!(one.report.losses.len(), 3);
    for c in [0.25, 3.0] {
        let other = search(c);
        for (one, other) in one.report.losses.iter().zip(&other.report.losses) {
            assert_eq!(one.curve.mean_error, other.curve.mean_error);
        }
        let (one, other) = (&one.fits[0], &other.fits[0]);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 * (1.0 + a.abs());
        assert_eq!(one.lambda, other.lambda);
        assert!(one.coef.iter().zip(&other.coef).all(|(&one, other)| near(one, other / c)));
        let difference = one.report.objective - other.report.objective / (c * c);
        assert!(difference.abs() <= 2e-6 * one.report.objective, "{difference}");
    }
}

#[test]
fn scales_are_for_losses_that_leave_theirs_out() {
    let registry = LossRegistry::standard();
    let losses = |first: &str, others: &[&str], scales: &[f64]| {
        let others: Vec<String> = others.iter().map(|&loss| loss.to_owned()).collect();
        let settings = ClassifierSettings::default();
        let settings = settings.with_losses(first, &others, scales, &registry)?;
        let all = std::iter::once(&settings.loss).chain(&settings.or_losses);
        Ok::<_, margins_estimators::Error>(all.map(|loss| loss.specification()).collect::<Vec<_>>())
    };
    let expected = [
        "margin-pursuit:gamma=2,scale=0.5",
        "margin-pursuit:gamma=2,scale=4",
        "hinge",
        "margin-pursuit:gamma=1,scale=3",
        "log-cosh:gamma=1,scale=0.5",
        "log-cosh:gamma=1,scale=4",
    ];
    let others = ["hinge", "margin-pursuit:scale=3", "log-cosh"];
    assert_eq!(losses("margin-pursuit:gamma=2", &others, &[0.5, 4.0]).unwrap(), expected);
    assert_eq!(losses("hinge", &[], &[]).unwrap(), ["hinge"]);
    for (first, scales, told) in [
        ("hinge", &[1.0][..], "scales 1 cannot be combined with loss hinge"),
        ("margin-pursuit:scale=1", &[1.0], "that leave their scale out"),
        ("margin-pursuit", &[1.0, -2.0], "parameter scale is -2"),
        ("margin-pursuit:scale=automatic", &[], "'automatic' of 'scale' is not a number"),
        ("log-cosh:scale=auto", &[], "scale=auto is for the loss margin-pursuit"),
        ("margin-pursuit:scale=auto,l=3", &[], "no parameter 'l': it takes gamma, scale and k"),
        ("margin-pursuit:scale=auto,gamma=-1", &[], "parameter gamma is -1"),
    ] {
        let error = losses(first, &[], scales).unwrap_err().to_string();
        assert!(error.contains(told), "{first}: {error}");
    }
}

/// Returns the fit to the data with the scale from the data.
fn scaled(gamma: f64, k: f64, data: &Dataset, kernels: KernelChoice) -> FittedClassifier {
    let loss = format!("margin-pursuit:gamma={gamma},scale=auto,k={k}");
    let regularisation = Regularisation::Single(Lambda::new(1e-3).unwrap());
    let settings = ClassifierSettings { kernels, regularisation, ..ClassifierSettings::default() };
    with_losses(settings, &[&loss]).fit(data).unwrap()
}

/// The scale is that of the rule for the margins of the fit itself, which is the fit with this scale, and
/// every fit of the search for it uses the same kernel matrix.
#[test]
fn a_scale_from_the_data_is_that_of_the_rule() {
    let data = plane(80);
    for (sigmas, gamma, k) in [(&[][..], 1.0, 10.0), (&[], 0.5, 1.0), (&[1.0], 2.0, 30.0)] {
        let (kernels, values) = counted(sigmas);
        let registry = Registry { kernels: kernels.registry.clone(), ..Registry::standard() };
        let fitted = scaled(gamma, k, &data, kernels.clone());
        let computed = values.load(Ordering::Relaxed);
        let found = fitted.report.scale.unwrap();
        assert!(found.settled && found.fits > 1 && found.k == k, "{found:?}");
        let scores = fitted.model.decision_function(data.design(), &registry).unwrap();
        let signs = data.labels().signs();
        let margins: Vec<f64> = scores.iter().zip(signs).map(|(f, y)| f * y).collect();
        let v = variance_bound(&margins, 0.05, 1).unwrap();
        assert!((v / found.variance_bound - 1.0).abs() < 1e-9, "{v} {found:?}");
        let rule = bias_bounded(v, gamma, k).unwrap();
        assert!((rule / found.scale - 1.0).abs() <= 0.0101, "{rule} {found:?}");
        let regularisation = Regularisation::Single(Lambda::new(1e-3).unwrap());
        let settings = ClassifierSettings {
            loss: Arc::new(MarginPursuit::new(gamma, found.scale).unwrap()),
            kernels,
            regularisation,
            ..ClassifierSettings::default()
        };
        values.store(0, Ordering::Relaxed);
        let given = settings.fit(&data).unwrap();
        assert_eq!(values.load(Ordering::Relaxed), computed);
        assert_eq!(given.model, fitted.model);
        assert_eq!(given.report.scale, None);
        let location = fitted.margin_locations().unwrap()[0];
        assert_eq!((location.gamma, location.scale), (gamma, found.scale));
        assert!(fitted.report.to_string().contains("from the data: k"));
    }
}

/// Gamma is a unit of scores for the rule too, and a smaller share of gamma for the bias needs a larger
/// scale.
#[test]
fn a_scale_from_the_data_has_the_unit_of_gamma_and_rises_with_k() {
    let data = plane(80);
    let scale = |gamma, k| scaled(gamma, k, &data, KernelChoice::default()).report.scale.unwrap();
    let (one, twice) = (scale(1.0, 10.0), scale(2.0, 10.0));
    assert!((twice.scale / one.scale - 2.0).abs() < 1e-4, "{one:?} {twice:?}");
    assert!((twice.variance_bound / one.variance_bound - 4.0).abs() < 1e-3);
    let scales = [1.0, 10.0, 100.0].map(|k| scale(1.0, k).scale);
    assert!(scales[0] < scales[1] && scales[1] < scales[2], "{scales:?}");
}

/// Where the rule alone goes around in circles, as for a fit that interpolates, the scale is the smallest
/// one that satisfies the rule, to 1 %.
#[test]
fn a_scale_from_the_data_settles_where_the_rule_jumps() {
    let data = plane(80);
    let (kernels, _) = counted(&[5.0]);
    let lambda = Regularisation::Single(Lambda::new(1e-5).unwrap());
    let auto = |auto_scale, scale| {
        let loss = Arc::new(MarginPursuit::new(1.0, scale).unwrap());
        let settings = ClassifierSettings {
            loss,
            auto_scale,
            kernels: kernels.clone(),
            regularisation: lambda.clone(),
            ..ClassifierSettings::default()
        };
        settings.fit(&data).unwrap()
    };
    let found = auto(Some(AutoScale { k: 10.0 }), 1.0).report.scale.unwrap();
    assert!(found.settled && found.required <= 1.01 * found.scale, "{found:?}");
    // From another start as well.
    let other = auto(Some(AutoScale { k: 10.0 }), 1e-3).report.scale.unwrap();
    assert!(other.settled && other.required <= 1.01 * other.scale, "{other:?}");
}

#[test]
fn a_scale_from_the_data_is_refused_where_it_is_not_defined() {
    let data = plane(60);
    let base = with_losses(
        ClassifierSettings {
            regularisation: Regularisation::Single(Lambda::new(0.01).unwrap()),
            ..ClassifierSettings::default()
        },
        &["margin-pursuit:scale=auto"],
    );
    let path = Regularisation::path(lambda_grid(1.0, 0.1, 3).unwrap()).unwrap();
    let check = |settings: ClassifierSettings, told: &str| {
        let error = settings.fit(&data).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    };
    let base = || base.clone();
    let validated = Regularisation::CrossValidated(folds());
    for (regularisation, told) in
        [(validated, "scale=auto cannot be combined with cross-validation"), (path, "a path of 3")]
    {
        check(ClassifierSettings { regularisation, ..base() }, told);
    }
    let learner = Some("catoni:alpha=1".parse().unwrap());
    check(ClassifierSettings { learner, ..base() }, "objective catoni");
    let class_weights = ClassWeights::Balanced;
    check(ClassifierSettings { class_weights, ..base() }, "balanced classes");
    let names = data.labels().names();
    let class_costs = ClassCosts::new(vec![(names[0].clone(), 2.0)]).unwrap();
    check(ClassifierSettings { class_costs, ..base() }, "costs of classes");
    let sample_weights = Some(vec![1.0; 60]);
    check(ClassifierSettings { sample_weights, ..base() }, "sample_weights");
    let loss = LossRegistry::standard().parse("hinge").unwrap().into();
    check(
        ClassifierSettings { loss, ..base() },
        "loss hinge: the rule is for the loss margin-pursuit",
    );
    for k in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        check(
            ClassifierSettings { auto_scale: Some(AutoScale { k }), ..base() },
            "k of scale=auto is",
        );
    }
    let weighted = data.clone().with_weights(vec![2.0; 60]).unwrap();
    let error = base().fit(&weighted).unwrap_err().to_string();
    assert!(error.contains("weights of samples"), "{error}");
    let three: Vec<&str> = (0..60).map(|row| ["a", "b", "c"][row % 3]).collect();
    let three = data.relabelled(Classes::new(&three).unwrap()).unwrap();
    let error = base().fit(&three).unwrap_err().to_string();
    assert!(error.contains("several classes: a model has one loss"), "{error}");
    let same: Vec<[f64; 1]> = vec![[0.0]; 60];
    let same = margins_data::Design::from_rows(&same).unwrap();
    let signs: Vec<f64> = (0..60).map(|row| if row % 10 == 0 { -1.0 } else { 1.0 }).collect();
    let same = Dataset::new(same, Labels::from_signs(signs).unwrap()).unwrap();
    let error = base().fit(&same).unwrap_err().to_string();
    assert!(error.contains("the variance estimated from the sample"), "{error}");
}
