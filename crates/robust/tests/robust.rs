//! Robust and distributional learners: gradients, limits that are known problems, duality, and what
//! outliers do to them.

use margins_data::generate::GaussianMixture;
use margins_data::metrics::error_rate;
use margins_data::{Dataset, Design, Labels};
use margins_losses::{
    GargRoth, Hinge, Logistic, LossRegistry, MarginLoss, MarginPursuit, Squared, SquaredHinge,
    catoni,
};
use margins_optim::{Fit, Lambda, Objective, Options, Solver, Status, StepRule, fit};
use margins_robust::{
    CatoniRisk, Error, GargRothDescent, MarginDistribution, MedianOfMeans, Restarts, RobustLearner,
    unpenalised, unpenalised_from,
};
use margins_test_support::lambda;
use nalgebra::DMatrix;
use proptest::prelude::*;

fn precise() -> Options<'static> {
    Options { tolerance: 1e-12, max_iterations: Some(5000), ..Options::default() }
}

/// Two normal classes two standard deviations from the line between them.
fn clean(n: usize, seed: u64) -> Dataset {
    let centres = |sign: f64| vec![vec![2.0 * sign, 0.0, 0.0]];
    let mixture = GaussianMixture::with_centres(centres(1.0), centres(-1.0), 1.0).expect("valid");
    mixture.sample(n, seed).expect("enough samples")
}

/// Every `period`-th sample moved `factor` times as far, to the wrong side.
fn contaminated(data: &Dataset, period: usize, factor: f64) -> Dataset {
    let moved = |(i, x): (usize, margins_data::Sample<'_>)| {
        let mut row = vec![0.0; data.columns()];
        x.add_to(if i % period == 0 { -factor } else { 1.0 }, &mut row);
        row
    };
    let rows: Vec<Vec<f64>> = data.design().samples().enumerate().map(moved).collect();
    data.clone().with_design(Design::from_rows(&rows).expect("finite")).expect("same shape")
}

fn test_error(fit: &Fit) -> f64 {
    let test = clean(4000, 99);
    let scores = fit.decision_function(test.design());
    error_rate(&scores, test.labels().signs(), None).expect("as many scores").rate
}

fn small_problem() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>, Vec<f64>)> {
    (6usize..20, 1usize..5).prop_flat_map(|(n, p)| {
        let rows = proptest::collection::vec(proptest::collection::vec(-2.0..2.0f64, p), n);
        let signs = proptest::collection::vec(prop_oneof![Just(-1.0), Just(1.0)], n - 2);
        let point = proptest::collection::vec(-1.5..1.5f64, p + 1);
        (rows, signs, point).prop_map(|(rows, mut signs, point)| {
            signs.extend([1.0, -1.0]);
            (rows, signs, point)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn gradient_of_the_catoni_risk_is_that_of_differences(
        (rows, signs, point) in small_problem(),
        alpha in 0.1..4.0f64,
        loss in proptest::sample::select(vec!["logistic", "squared-hinge", "lhs"]),
    ) {
        let loss = LossRegistry::standard().parse(loss).expect("a standard loss");
        let design = Design::from_rows(&rows).expect("finite");
        let labels = Labels::from_signs(signs).expect("two classes");
        let objective = Objective::new(&*loss, &design, &labels).expect("fits");
        let learner = CatoniRisk::new(alpha).expect("valid");
        let value = |point: &[f64]| {
            learner.objective(&objective, lambda(0.1), point[0], &point[1..]).expect("fits")
        };
        let (centre, gradient) = value(&point);
        // Where psi' vanishes at nearly all losses the estimate turns within less than h.
        let h = 1e-6;
        for (k, g) in gradient.iter().enumerate() {
            let shifted = |by: f64| {
                let mut point = point.clone();
                point[k] += by;
                value(&point)
            };
            let ((above, after), (below, before)) = (shifted(h), shifted(-h));
            let bend = (after[k] - before[k]).abs();
            let difference = (above - below) / (2.0 * h);
            prop_assert!(
                (difference - g).abs() <= bend + 1e-7 * (1.0 + centre.abs() + g.abs()),
                "{difference} is not {g}"
            );
        }
    }

    #[test]
    fn the_gap_of_the_distribution_machine_bounds_every_classifier(
        (rows, signs, point) in small_problem(),
        (mean, variance) in (0.0..2.0f64, 0.01..3.0f64),
        exponent in -3.0..0.5f64,
        loss in proptest::sample::select(vec!["hinge", "logistic", "squared-hinge", "smoothed-hinge:width=0.5"]),
        intercept in any::<bool>(),
    ) {
        let loss = LossRegistry::standard().parse(loss).expect("a standard loss");
        let design = Design::from_rows(&rows).expect("finite");
        let labels = Labels::from_signs(signs).expect("two classes");
        let mut objective = Objective::new(&*loss, &design, &labels).expect("fits");
        if !intercept {
            objective = objective.without_intercept();
        }
        let lambda = lambda(10f64.powf(exponent));
        let machine = MarginDistribution::new(mean, variance).expect("valid");
        let few = Options { max_iterations: Some(3), ..Options::default() };
        for options in [few, Options::default()] {
            let fit = machine.fit(&objective, lambda, &options).expect("convex");
            let signs = labels.signs();
            let at = |b: f64, w: &[f64]| machine_objective(&*loss, &machine, &rows, signs, lambda, b, w);
            let value = at(fit.intercept, &fit.coef);
            prop_assert!((value - fit.report.objective).abs() <= 1e-9 * (1.0 + value.abs()));
            prop_assert!(fit.report.duality_gap >= 0.0);
            let b = if intercept { point[0] } else { 0.0 };
            let bound = fit.report.dual_objective;
            prop_assert!(at(b, &point[1..]) >= bound - 1e-9 * (1.0 + bound.abs()));
            // Near the fit as well.
            let near: Vec<f64> = fit.coef.iter().zip(&point[1..]).map(|(w, x)| w + 1e-3 * x).collect();
            prop_assert!(at(fit.intercept, &near) >= bound - 1e-9 * (1.0 + bound.abs()));
            if options.max_iterations.is_none() {
                prop_assert!(fit.report.converged(), "{:?}", fit.report);
            }
        }
    }
}

/// `F` of the machine by its definition.
fn machine_objective(
    loss: &dyn MarginLoss,
    machine: &MarginDistribution,
    rows: &[Vec<f64>],
    signs: &[f64],
    lambda: Lambda,
    b: f64,
    w: &[f64],
) -> f64 {
    let dot = |a: &[f64]| a.iter().zip(w).map(|(a, w)| a * w).sum::<f64>();
    let margins: Vec<f64> = rows.iter().zip(signs).map(|(x, y)| y * (b + dot(x))).collect();
    let n = margins.len() as f64;
    let mean = margins.iter().sum::<f64>() / n;
    let variance = margins.iter().map(|u| (u - mean).powi(2)).sum::<f64>() / n;
    let risk = margins.iter().map(|&u| loss.value(u)).sum::<f64>() / n;
    risk - machine.mean() * mean + machine.variance() * variance + lambda.get() * dot(w)
}

/// The samples `y (1, x)`, or `y x` without an intercept, as rows.
fn signed_rows(rows: &[Vec<f64>], signs: &[f64], intercept: bool) -> DMatrix<f64> {
    let first = usize::from(intercept);
    DMatrix::from_fn(rows.len(), rows[0].len() + first, |i, j| {
        signs[i] * if j < first { 1.0 } else { rows[i][j - first] }
    })
}

/// The products `z_i' Q^-1 z_j` of the machine for samples of equal weight.
fn products(
    z: &DMatrix<f64>,
    machine: &MarginDistribution,
    lambda: Lambda,
    first: usize,
) -> DMatrix<f64> {
    let n = z.nrows() as f64;
    let mean = z.row_mean().transpose();
    let mut metric = (z.transpose() * z / n - &mean * mean.transpose()) * machine.variance();
    (first..z.ncols()).for_each(|j| metric[(j, j)] += lambda.get());
    z * metric.try_inverse().expect("positive definite") * z.transpose()
}

/// The duals and the margins at the minimum for the hinge by plain coordinate ascent, without the loss of a
/// row, whose margin stays in the moments.
fn minimum_without(left_out: Option<usize>, k: &DMatrix<f64>, mean: f64) -> (Vec<f64>, Vec<f64>) {
    let n = k.nrows();
    let mut s = vec![0.0; n];
    let margin = |i: usize, s: &[f64]| {
        (0..n).map(|j| (s[j] + mean) * k[(i, j)]).sum::<f64>() / (2.0 * n as f64)
    };
    for _ in 0..100_000 {
        let mut change = 0.0_f64;
        for i in (0..n).filter(|&i| Some(i) != left_out) {
            let dual: f64 = s[i] + (1.0 - margin(i, &s)) * 2.0 * n as f64 / k[(i, i)];
            let dual = dual.clamp(0.0, 1.0);
            change = change.max((dual - s[i]).abs());
            s[i] = dual;
        }
        if change < 1e-13 {
            break;
        }
    }
    let margins = (0..n).map(|i| margin(i, &s)).collect();
    (s, margins)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The margin of a row falls by at most `a_i U_ii` where its loss is left out, so that no more rows are
    /// wrong than the bound of Zhang and Zhou says.
    #[test]
    fn rows_whose_losses_are_left_out_keep_to_their_bound(
        rows in (1usize..4).prop_flat_map(|p| {
            proptest::collection::vec(proptest::collection::vec(-2.0..2.0f64, p), 4..9)
        }),
        (mean, variance) in (0.0..2.0f64, 0.05..3.0f64),
        exponent in -1.5..0.5f64,
        intercept in any::<bool>(),
    ) {
        let signs: Vec<f64> = (0..rows.len()).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let (n, lambda) = (rows.len() as f64, lambda(10f64.powf(exponent)));
        let design = Design::from_rows(&rows).expect("finite");
        let labels = Labels::from_signs(signs.clone()).expect("two classes");
        let mut objective = Objective::new(&Hinge as &dyn MarginLoss, &design, &labels).expect("fits");
        if !intercept {
            objective = objective.without_intercept();
        }
        let machine = MarginDistribution::new(mean, variance).expect("valid");
        let options = Options { tolerance: 1e-10, ..Options::default() };
        let solution = machine.solve(&objective, lambda, &options).expect("convex");
        let bound = solution.fixed_moments_leave_one_out_bound.expect("of the hinge");
        let z = signed_rows(&rows, &signs, intercept);
        let k = products(&z, &machine, lambda, usize::from(intercept));
        let most = |i: usize, s: f64| s * k[(i, i)] / (2.0 * n);
        let in_bound = |(i, &s): (usize, &f64)| if s < 1.0 { most(i, s) } else { 1.0 };
        let expected = solution.duals.iter().enumerate().map(in_bound).sum::<f64>() / n;
        prop_assert!((bound - expected).abs() <= 1e-9 * (1.0 + expected), "{bound} {expected}");
        let (duals, before) = minimum_without(None, &k, mean);
        let mut mistakes = 0;
        for (i, &s) in duals.iter().enumerate() {
            let after = minimum_without(Some(i), &k, mean).1[i];
            let (fall, most) = (before[i] - after, most(i, s));
            prop_assert!(fall >= -1e-6 && fall <= most + 1e-6 * (1.0 + most), "{fall} {most}");
            mistakes += usize::from(after <= -1e-6);
        }
        // The solution has its duals to the root of its gap.
        prop_assert!(mistakes as f64 <= n * bound + 1e-3 * n, "{mistakes} {bound}");
    }
}

/// The bound keeps the moments of all rows. Of four rows on a line whose mean decides the sign, 3 have a
/// margin below 1, so that at most 3 are wrong without their loss; all 4 are wrong where the moments are
/// computed without them.
#[test]
fn moments_without_the_row_exceed_the_bound() {
    let (rows, signs) = ([[1.2], [1.7], [-1.3], [-0.6]], [1.0, -1.0, 1.0, -1.0]);
    let machine = MarginDistribution::by_letters(1.0, 10.0, 0.1).expect("valid");
    let lambda = machine.lambda().expect("by letters");
    let fit = |kept: &[usize]| {
        let rows: Vec<[f64; 1]> = kept.iter().map(|&i| rows[i]).collect();
        let labels = Labels::from_signs(kept.iter().map(|&i| signs[i]).collect()).expect("two");
        let design = Design::from_rows(&rows).expect("finite");
        let objective = Objective::new(&Hinge as &dyn MarginLoss, &design, &labels)
            .expect("fits")
            .without_intercept();
        machine.fit(&objective, lambda, &Options::default()).expect("convex")
    };
    let whole = fit(&[0, 1, 2, 3]);
    assert_eq!(whole.report.fixed_moments_leave_one_out_bound, Some(0.75));
    let is_wrong = |i: usize| {
        let kept: Vec<usize> = (0..4).filter(|&row| row != i).collect();
        signs[i] * fit(&kept).coef[0] * rows[i][0] <= 0.0
    };
    assert_eq!((0..4).filter(|&i| is_wrong(i)).count(), 4);
}

/// The letters of section 2.1 are those of its objective, and set lambda.
#[test]
fn letters_are_those_of_the_objective() {
    let data = clean(50, 7);
    let [l1, l2, l3] = [0.3, 0.2, 4.0];
    let machine = MarginDistribution::by_letters(l1, l2, l3).expect("valid");
    let objective =
        Objective::of(&Hinge as &dyn MarginLoss, &data).expect("fits").without_intercept();
    let own = machine.lambda().expect("by letters");
    let fit = machine.fit(&objective, own, &Options::default()).expect("convex");
    let signs = data.labels().signs();
    let margins: Vec<f64> =
        fit.decision_function(data.design()).iter().zip(signs).map(|(f, y)| f * y).collect();
    let mean = margins.iter().sum::<f64>() / 50.0;
    let variance = margins.iter().map(|u| (u - mean).powi(2)).sum::<f64>() / 50.0;
    let losses: f64 = margins.iter().map(|u| (1.0 - u).max(0.0)).sum();
    let square: f64 = fit.coef.iter().map(|w| w * w).sum();
    let expected = 0.5 * square + l1 * variance - l2 * mean + l3 / 50.0 * losses;
    let found = fit.report.objective / (2.0 * own.get());
    assert!((found - expected).abs() < 1e-9 * expected.abs(), "{found} {expected}");
    assert!(machine.fit(&objective, lambda(0.1), &Options::default()).is_err());

    let text = "margin-distribution:lambda1=0.3,lambda2=0.2,lambda3=4,seed=1";
    let learner: RobustLearner = text.parse().expect("valid");
    assert_eq!((learner.to_string().as_str(), learner.lambda()), (text, Some(own)));
    assert_eq!(learner, RobustLearner::MarginDistribution(machine));
    assert_eq!("margin-distribution".parse::<RobustLearner>().expect("valid").lambda(), None);
    for (wrong, told) in [
        ("lambda1=1,mean=1", "no parameter 'mean': it takes lambda1, lambda2, lambda3 and seed"),
        ("lambda3=0", "lambda3 is 0"),
        ("lambda2=-1", "lambda2 is -1"),
    ] {
        let refused = format!("margin-distribution:{wrong}").parse::<RobustLearner>();
        let refused = refused.expect_err("wrong").to_string();
        assert!(refused.contains(told), "{refused}");
    }
}

#[test]
fn a_wide_scale_is_empirical_risk_minimisation() {
    let data = contaminated(&clean(80, 1), 10, 2.0);
    let objective = Objective::of(&Logistic as &dyn MarginLoss, &data).expect("fits");
    let plain = fit(&objective, lambda(0.02), &precise()).expect("convex");
    let mut before = f64::INFINITY;
    for alpha in [1.0, 0.1, 1e-2, 1e-6] {
        let learner = CatoniRisk::new(alpha).expect("valid");
        let robust = learner.fit(&objective, lambda(0.02), &precise()).expect("fits");
        let apart: f64 =
            robust.coef.iter().zip(&plain.coef).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        assert!(apart < before, "alpha {alpha}: {apart} after {before}");
        before = apart;
        if alpha == 1e-6 {
            let (one, other) = (robust.report.objective, plain.report.objective);
            assert!((one - other).abs() <= 1e-9 * other, "{one} is not {other}");
        }
    }
}

#[test]
fn one_block_is_empirical_risk_minimisation() {
    let data = clean(60, 2);
    let objective = Objective::of(&SquaredHinge as &dyn MarginLoss, &data).expect("fits");
    let plain = fit(&objective, lambda(0.1), &precise()).expect("convex");
    let robust = MedianOfMeans::new(1).expect("valid").fit(&objective, lambda(0.1), &precise());
    let (one, other) = (robust.expect("fits").report.objective, plain.report.objective);
    assert!(one >= other * (1.0 - 1e-12) && one <= other * (1.0 + 1e-6), "{one} is not {other}");
}

#[test]
fn outliers_ruin_the_mean_and_not_its_estimates() {
    let sound = clean(300, 3);
    let spoilt = contaminated(&sound, 20, 30.0);
    let lambda = lambda(0.01);
    let options = Options::default();
    let plain_error = |data: &Dataset| {
        let machine = MarginDistribution::new(0.0, 0.0).expect("valid");
        let objective =
            Objective::of(&Hinge as &dyn MarginLoss, data).expect("fits").without_intercept();
        test_error(&machine.fit(&objective, lambda, &options).expect("convex"))
    };
    let (clean_error, ruined_error) = (plain_error(&sound), plain_error(&spoilt));
    assert!(clean_error < 0.04, "{clean_error}");
    assert!(ruined_error > 0.2, "{ruined_error}");
    let objective = Objective::of(&Hinge as &dyn MarginLoss, &spoilt).expect("fits");
    let catoni = CatoniRisk::new(1.0).expect("valid").fit(&objective, lambda, &options);
    let median = MedianOfMeans::new(41).expect("valid").fit(&objective, lambda, &options);
    for (name, robust) in [("catoni", catoni), ("median of means", median)] {
        let robust = robust.expect("fits");
        let error = test_error(&robust);
        assert!(error < 0.05, "{name}: {error}");
        assert_eq!(robust.report.relative_gap, f64::INFINITY);
        assert!(!robust.report.converged());
    }
}

#[test]
fn weights_of_mean_and_variance_trade_them_off() {
    let data = clean(120, 4);
    let moments = |mean: f64, variance: f64| {
        let machine = MarginDistribution::new(mean, variance).expect("valid");
        let objective = Objective::of(&Hinge as &dyn MarginLoss, &data).expect("fits");
        let options = Options { tolerance: 1e-9, ..Options::default() };
        let fit = machine.fit(&objective, lambda(0.01), &options).expect("convex");
        assert!(fit.report.converged(), "{:?}", fit.report);
        let signs = data.labels().signs();
        let margins: Vec<f64> =
            fit.decision_function(data.design()).iter().zip(signs).map(|(f, y)| f * y).collect();
        let n = margins.len() as f64;
        let mean = margins.iter().sum::<f64>() / n;
        (mean, margins.iter().map(|u| (u - mean).powi(2)).sum::<f64>() / n)
    };
    let along_mean: Vec<f64> = [0.0, 0.3, 1.0, 3.0].map(|mu| moments(mu, 0.5).0).to_vec();
    assert!(along_mean.windows(2).all(|pair| pair[1] > pair[0]), "{along_mean:?}");
    let along_variance: Vec<f64> = [0.01, 0.1, 1.0, 10.0].map(|nu| moments(0.5, nu).1).to_vec();
    assert!(along_variance.windows(2).all(|pair| pair[1] < pair[0]), "{along_variance:?}");
}

#[test]
fn the_machine_without_moments_minimises_the_loss() {
    let data = clean(90, 5);
    let objective =
        Objective::of(&Logistic as &dyn MarginLoss, &data).expect("fits").without_intercept();
    let plain = fit(&objective, lambda(0.01), &precise()).expect("convex");
    let machine = MarginDistribution::new(0.0, 0.0).expect("valid");
    let options = Options { tolerance: 1e-9, ..Options::default() };
    let other = machine.fit(&objective, lambda(0.01), &options).expect("convex");
    assert!(other.report.converged());
    let (one, other) = (plain.report.objective, other.report.objective);
    assert!((one - other).abs() <= 2e-9 * one, "{one} is not {other}");
}

#[test]
fn sparse_wide_and_weighted_samples_give_the_same_machine() {
    let data = clean(40, 6);
    let machine = MarginDistribution::new(0.3, 0.7).expect("valid");
    let options = Options { tolerance: 1e-10, ..Options::default() };
    let signs = data.labels().signs();
    let rows: Vec<Vec<(usize, f64)>> = data
        .design()
        .samples()
        .map(|x| {
            let mut row = Vec::new();
            x.for_each(|column, value| row.push((column, value)));
            row
        })
        .collect();
    // A sample of weight 2 counts as two samples, one of weight 0 not at all.
    let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 3)).collect();
    let repeated: Vec<usize> = (0..40).flat_map(|i| vec![i; i % 3]).collect();
    let twice = data.select(&repeated);
    let n_ratio = 40.0 / repeated.len() as f64;
    let dense = Objective::of(&Hinge as &dyn MarginLoss, &twice).expect("fits");
    let expected = machine.fit(&dense, lambda(0.05), &options).expect("convex");
    let labels = Labels::from_signs(signs.to_vec()).expect("two classes");
    // 50 columns, of which 3 are used: fewer samples than features take the other route.
    for columns in [3, 50] {
        let design = Design::from_sparse_rows(&rows, columns).expect("valid");
        let objective = Objective::new(&Hinge as &dyn MarginLoss, &design, &labels).expect("fits");
        let objective = objective.with_weights(&weights).expect("valid");
        let scaled = lambda(0.05 / n_ratio);
        let fit = machine.fit(&objective, scaled, &options).expect("convex");
        assert!(fit.report.converged());
        let value = fit.report.objective * n_ratio;
        assert!((value - expected.report.objective).abs() <= 1e-9 * value.abs(), "{columns}");
        for (a, b) in fit.coef.iter().zip(&expected.coef) {
            assert!((a - b).abs() < 1e-4);
        }
    }
}

#[test]
fn more_restarts_are_never_worse() {
    let data = contaminated(&clean(80, 7), 9, 1.0);
    let loss = GargRoth::new(1.0, 0.4).expect("valid");
    let objective = Objective::of(&loss, &data).expect("fits");
    let of = |count: usize| {
        let learner = GargRothDescent { restarts: Restarts { count, seed: 8 } };
        learner.fit(&objective, lambda(0.01), &Options::default()).expect("fits")
    };
    let values: Vec<f64> = [0, 1, 3, 8].map(|count| of(count).report.objective).to_vec();
    assert!(values.windows(2).all(|pair| pair[1] <= pair[0]), "{values:?}");
    // No function at all has the risk 1.
    assert!(values[0] < 0.9, "{values:?}");
    assert!(test_error(&of(3)) < 0.06);
    assert_eq!(of(3), of(3));
}

#[test]
fn specifications_are_read_back() {
    for text in [
        "catoni:alpha=0.5,restarts=2,seed=3",
        "median-of-means:blocks=7,steps=100,seed=4",
        "margin-distribution:mean=0.5,variance=2,seed=1",
        "garg-roth:restarts=5,seed=2",
    ] {
        let learner: RobustLearner = text.parse().expect("valid");
        assert_eq!(learner.to_string(), text);
    }
    for name in RobustLearner::NAMES {
        assert!(name.parse::<RobustLearner>().is_ok());
    }
    let message = |text: &str| text.parse::<RobustLearner>().expect_err("wrong").to_string();
    assert_eq!(
        message("catony"),
        "solver specification 'catony': 'catony' is unknown: known are catoni, median-of-means, \
         margin-distribution, garg-roth; did you mean 'catoni'?"
    );
    assert_eq!(
        message("catoni:alpha=-1"),
        "alpha is -1, but must be a number from 1e-100 to 1e100"
    );
    assert_eq!(message("median-of-means:blocks=0"), "blocks is 0, but must be at least 1");
    assert!(message("median-of-means:blocks=1.5").contains("a whole number"));
    assert!(message("catoni:beta=1").contains("has no parameter 'beta'"));
    assert!(message("catoni:alpha").contains("parameter=value"));
    assert!(message("catoni:alpha=x").contains("is not a number"));
    assert!(message("margin-distribution:mean=NaN").contains("a number from 0"));
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let data = clean(20, 9);
    let objective = Objective::of(&Hinge as &dyn MarginLoss, &data).expect("fits");
    let refusal = |text: &str| {
        let learner: RobustLearner = text.parse().expect("valid");
        learner.fit(&objective, lambda(0.1), &Options::default()).expect_err("refused")
    };
    assert!(matches!(
        refusal("median-of-means:blocks=21"),
        Error::Blocks { blocks: 21, samples: 20 }
    ));
    assert!(matches!(refusal("margin-distribution:variance=0"), Error::FreeIntercept));
    assert!(matches!(refusal("garg-roth"), Error::Optim(margins_optim::Error::Unsuitable { .. })));
    let loss = GargRoth::new(1.0, 1.0).expect("valid");
    let objective = Objective::of(&loss, &data).expect("fits");
    let machine = MarginDistribution::new(1.0, 1.0).expect("valid");
    let refused = machine.fit(&objective, lambda(0.1), &Options::default());
    assert!(matches!(refused, Err(Error::Optim(margins_optim::Error::Unsuitable { .. }))));
}

#[test]
fn features_beyond_floating_point_are_no_fit() {
    let design = Design::from_rows(&[[1e200, 1.0], [-1e200, 2.0], [1e180, 0.5]]).expect("finite");
    let labels = Labels::from_signs(vec![1.0, -1.0, -1.0]).expect("two classes");
    let objective = Objective::new(&Hinge as &dyn MarginLoss, &design, &labels).expect("fits");
    let machine = MarginDistribution::new(1.0, 1.0).expect("valid");
    let refused = machine.fit(&objective, lambda(0.1), &Options::default());
    assert!(
        matches!(refused, Err(Error::Optim(margins_optim::Error::Overflow) | Error::Singular(_))),
        "{refused:?}"
    );
    let catoni = CatoniRisk::new(1.0).expect("valid");
    let fit = catoni.fit(&objective, lambda(0.1), &Options::default()).expect("a report");
    assert_ne!(fit.report.status, Status::Converged);
    let median = MedianOfMeans::new(1).expect("valid");
    let fit = median.fit(&objective, lambda(0.1), &Options::default()).expect("a report");
    assert_ne!(fit.report.status, Status::Converged);
}

/// Weights times 100 with lambda times 100 is the same problem in other units.
#[test]
fn the_median_of_means_does_not_depend_on_the_unit_of_the_weights() {
    let data = clean(120, 5);
    let run = |factor: f64| {
        let objective =
            Objective::of(&SquaredHinge as &dyn MarginLoss, &data).expect("both classes");
        let objective = objective.with_weights(&[factor; 120]).expect("valid");
        let learner = MedianOfMeans::new(5).expect("valid");
        learner.fit(&objective, lambda(1e-2 * factor), &Options::default()).expect("a fit")
    };
    let (one, hundred) = (run(1.0), run(100.0));
    for (a, b) in one.coef.iter().zip(&hundred.coef) {
        assert!((a - b).abs() <= 1e-9 * a.abs(), "{a} {b}");
    }
}

#[test]
fn the_machine_takes_four_thousand_features_and_rows() {
    let machine = MarginDistribution::new(1.0, 1.0).unwrap();
    assert!(machine.check_order(4000).is_ok());
    assert!(matches!(machine.check_order(8001), Err(Error::TooLarge { order: 8001, limit: 8000 })));
}

#[test]
fn a_fit_without_a_penalty_has_a_gradient_of_zero() {
    let data = clean(200, 5);
    let mut signs = data.labels().signs().to_vec();
    signs.iter_mut().step_by(7).for_each(|y| *y = -*y);
    let labels = Labels::from_signs(signs).unwrap();
    for specification in ["logistic", "squared-hinge", "lhs", "squared"] {
        let loss = LossRegistry::standard().parse(specification).unwrap();
        let objective = Objective::new(&*loss, data.design(), &labels).unwrap();
        let free = unpenalised(&objective, &Options::default()).unwrap();
        assert_eq!(free.report.status, Status::RuleMet, "{specification}");
        let nearly = fit(&objective, lambda(1e-9), &precise()).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-3 * (1.0 + b.abs());
        assert!(close(free.intercept, nearly.intercept), "{specification}");
        assert!(free.coef.iter().zip(&nearly.coef).all(|(a, b)| close(*a, *b)), "{specification}");
    }
}

/// Gradient descent by any rule for its steps ends at the minimum that L-BFGS finds, from any start.
#[test]
fn gradient_descent_without_a_penalty_reaches_the_minimum() {
    let data = clean(200, 5);
    let mut signs = data.labels().signs().to_vec();
    signs.iter_mut().step_by(7).for_each(|y| *y = -*y);
    let labels = Labels::from_signs(signs).unwrap();
    let precise = Options { tolerance: 1e-9, ..Options::default() };
    for specification in ["margin-pursuit:gamma=1,scale=2", "logistic", "squared"] {
        let loss = LossRegistry::standard().parse(specification).unwrap();
        for intercept in [true, false] {
            let mut objective = Objective::new(&*loss, data.design(), &labels).unwrap();
            if !intercept {
                objective = objective.without_intercept();
            }
            let expected = unpenalised(&objective, &precise).unwrap();
            let mut start = vec![0.0; data.columns() + 1];
            for step in [StepRule::Smooth, StepRule::LineSearch, StepRule::Fixed(0.01)] {
                let solver = Solver::GradientDescent { step };
                let options = Options { solver, max_iterations: Some(200_000), ..precise };
                let found = unpenalised_from(&objective, &start, &options).unwrap();
                let place = format!("{specification} {intercept} {step:?}: {:?}", found.report);
                let is_end = |status| matches!(status, Status::RuleMet | Status::Stalled);
                assert!(is_end(found.report.status), "{place}");
                let close = |a: f64, b: f64| (a - b).abs() <= 1e-5 * (1.0 + b.abs());
                assert!(close(found.intercept, expected.intercept), "{place}");
                let mut coefs = found.coef.iter().zip(&expected.coef);
                assert!(coefs.all(|(a, b)| close(*a, *b)), "{place}");
                // The next rule starts elsewhere; an objective without intercept ignores the first.
                start.iter_mut().enumerate().for_each(|(k, x)| *x += 0.3 - 0.1 * k as f64);
            }
            let at_end = [&[expected.intercept], &expected.coef[..]].concat();
            let solver = Solver::GradientDescent { step: StepRule::Smooth };
            let options = Options { solver, tolerance: 1e-6, ..precise };
            let same = unpenalised_from(&objective, &at_end, &options).unwrap();
            assert_eq!((same.report.iterations, &same.coef), (0, &expected.coef));
        }
    }
}

/// The update of algorithm 1, `w + (s alpha/n) sum psi((gamma - u_i)/s) y_i x_i`.
#[test]
fn a_step_of_gradient_descent_by_hand() {
    let data = clean(30, 2);
    let (gamma, scale, alpha) = (1.0, 0.7, 0.2);
    let loss = MarginPursuit::new(gamma, scale).unwrap();
    let objective =
        Objective::new(&loss, data.design(), data.labels()).unwrap().without_intercept();
    let solver = Solver::GradientDescent { step: StepRule::Fixed(alpha) };
    let options = Options { solver, max_iterations: Some(1), ..Options::default() };
    let mut start = vec![0.5; data.columns() + 1];
    start[1] = -1.0;
    let found = unpenalised_from(&objective, &start, &options).unwrap();
    assert_eq!((found.report.iterations, found.intercept), (1, 0.0));
    let mut expected = start[1..].to_vec();
    for (x, y) in data.design().samples().zip(data.labels().signs()) {
        let pull = catoni::psi((gamma - y * x.dot(&start[1..])) / scale) * y;
        x.add_to(scale * alpha / 30.0 * pull, &mut expected);
    }
    assert!(found.coef.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14));
    // A step that is too long overflows, and the report says so.
    let solver = Solver::GradientDescent { step: StepRule::Fixed(1e300) };
    let squared =
        Objective::new(&Squared as &dyn MarginLoss, data.design(), data.labels()).unwrap();
    let wild = unpenalised(&squared, &Options { solver, ..Options::default() }).unwrap();
    assert_eq!(wild.report.status, Status::NumericalTrouble);
}

/// Where the origin is the minimum its gradient is rounding alone, with which no rule can compare.
#[test]
fn a_descent_to_the_origin_meets_its_rule() {
    // Both classes have the same samples, whose sums round.
    let features: Vec<[f64; 2]> = (0..7).map(|i| [0.1 * f64::from(i) - 0.3, 0.7]).collect();
    let rows = [&features[..], &features[..]].concat();
    let signs = (0..14).map(|i| if i < 7 { 1.0 } else { -1.0 }).collect();
    let design = Design::from_rows(&rows).unwrap();
    let labels = Labels::from_signs(signs).unwrap();
    for specification in ["squared", "logistic", "margin-pursuit:gamma=1,scale=2"] {
        let loss = LossRegistry::standard().parse(specification).unwrap();
        let objective = Objective::new(&*loss, &design, &labels).unwrap().without_intercept();
        for solver in [Solver::Auto, Solver::GradientDescent { step: StepRule::Smooth }] {
            let options = Options { solver, max_iterations: Some(100_000), ..Options::default() };
            for start in [[0.0, 3.0, -2.0], [0.0; 3]] {
                let found = unpenalised_from(&objective, &start, &options).unwrap();
                let place = format!("{specification} {solver:?}: {:?}", found.report);
                assert_eq!(found.report.status, Status::RuleMet, "{place}");
                assert!(found.coef.iter().all(|w| w.abs() < 1e-4), "{place}");
            }
        }
    }
    // Elsewhere a far start, of a large gradient, does not loosen the rule.
    let data = clean(30, 2);
    let objective =
        Objective::new(&Squared as &dyn MarginLoss, data.design(), data.labels()).unwrap();
    let near = unpenalised(&objective, &Options::default()).unwrap();
    let start = vec![1e6; data.columns() + 1];
    let far = unpenalised_from(&objective, &start, &Options::default()).unwrap();
    assert_eq!(far.report.status, Status::RuleMet);
    let mut pairs = near.coef.iter().zip(&far.coef);
    assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-4), "{near:?} {far:?}");
}

#[test]
fn starts_that_do_not_fit_are_refused() {
    let data = clean(30, 2);
    let objective =
        Objective::new(&Squared as &dyn MarginLoss, data.design(), data.labels()).unwrap();
    let refused = |start: &[f64]| {
        unpenalised_from(&objective, start, &Options::default()).unwrap_err().to_string()
    };
    let features = data.columns();
    let expected = format!("the start has 1 coefficients, but the data have {features} features");
    assert_eq!(refused(&[0.0, 1.0]), expected);
    let mut start = vec![0.0; features + 1];
    start[1] = f64::NAN;
    assert!(refused(&start).contains("NaN at index 1"));
    let exponential = LossRegistry::standard().parse("exponential").unwrap();
    let objective = Objective::new(&*exponential, data.design(), data.labels()).unwrap();
    let solver = Solver::GradientDescent { step: StepRule::Smooth };
    let options = Options { solver, ..Options::default() };
    assert!(unpenalised(&objective, &options).unwrap_err().to_string().contains("curvature"));
}

/// Where samples of both classes lie on the boundary and all others are separated, a direction proves
/// that there is no minimum; where one sample is on its wrong side there is a minimum.
#[test]
fn classes_separated_but_for_the_boundary_have_no_minimum() {
    for far in [1.0, -1.0] {
        // The first feature parts all rows but the first four, where it is 0 and the second overlaps.
        let mut rows = vec![[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0]];
        let mut signs = vec![1.0, -1.0, 1.0, -1.0];
        for i in 0..12 {
            let (t, sign) = (f64::from(i), if i % 2 == 0 { 1.0 } else { -1.0 });
            rows.push([sign * (1.0 + 0.3 * t), 50.0 * (1.7 * t).sin()]);
            signs.push(sign);
        }
        rows[15][0] *= far;
        let design = Design::from_rows(&rows).unwrap();
        let labels = Labels::from_signs(signs).unwrap();
        for (specification, falls_for_ever) in
            [("logistic", true), ("exponential", true), ("lhs", true), ("squared-hinge", false)]
        {
            let loss = LossRegistry::standard().parse(specification).unwrap();
            let objective = Objective::new(&*loss, &design, &labels).unwrap();
            let free = unpenalised(&objective, &Options::default()).unwrap();
            let none = far > 0.0 && falls_for_ever;
            let expected = if none { Status::NoMinimum } else { Status::RuleMet };
            assert_eq!(free.report.status, expected, "{specification} {far}");
        }
    }
}

#[test]
fn separated_classes_have_no_minimum_without_a_penalty() {
    let design = Design::from_rows(&[[-2.0], [-1.0], [1.0], [3.0]]).unwrap();
    let labels = Labels::from_signs(vec![-1.0, -1.0, 1.0, 1.0]).unwrap();
    for (specification, status) in [
        ("logistic", Status::NoMinimum),
        ("lhs", Status::NoMinimum),
        ("squared-hinge", Status::RuleMet),
        ("smoothed-hinge", Status::RuleMet),
    ] {
        let loss = LossRegistry::standard().parse(specification).unwrap();
        let objective = Objective::new(&*loss, &design, &labels).unwrap();
        let free = unpenalised(&objective, &Options::default()).unwrap();
        assert_eq!(free.report.status, status, "{specification}");
    }
    let objective = Objective::new(&Hinge as &dyn MarginLoss, &design, &labels).unwrap();
    let refused = unpenalised(&objective, &Options::default()).unwrap_err().to_string();
    assert!(refused.contains("hinge"), "{refused}");
}
