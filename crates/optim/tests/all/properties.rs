//! What must hold for any data: duality, invariances, agreement of routes to the same minimum.

use margins_data::{Dataset, Design, Labels};
use margins_losses::MarginLoss;
use margins_optim::{
    ClassWeights, Error, Objective, Options, Solver, Status, Training, cross_validate, fit,
    lambda_grid, path,
};
use margins_test_support::{
    SOLVERS, any_lambda, close, lambda, loss, losses_of, on_threads, rows_and_signs,
};
use proptest::prelude::*;

/// Rows and labels of both classes.
fn samples() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>)> {
    rows_and_signs(4..25, 1..8, -2.0..2.0f64)
}

fn any_loss() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(losses_of(Solver::MM))
}

/// The dual objective from the conjugate, and by how much its constraint is violated.
fn dual(
    loss: &dyn MarginLoss,
    rows: &[Vec<f64>],
    y: &[f64],
    lambda: f64,
    intercept: f64,
    coef: &[f64],
) -> (f64, f64) {
    let n = y.len() as f64;
    let (mut value, mut residual) = (0.0, 0.0);
    let mut v = vec![0.0; coef.len()];
    for (x, &y) in rows.iter().zip(y) {
        let score = intercept + x.iter().zip(coef).map(|(x, w)| x * w).sum::<f64>();
        let s = -loss.derivative(y * score);
        value -= loss.conjugate(s) / n;
        residual += s * y / n;
        for (v, x) in v.iter_mut().zip(x) {
            *v += s * y * x / n;
        }
    }
    (value - v.iter().map(|v| v * v).sum::<f64>() / (4.0 * lambda), residual)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_gap_is_primal_minus_dual((rows, y) in samples(), name in any_loss(), at in any_lambda()) {
        let loss = loss(name);
        let design = Design::from_rows(&rows).unwrap();
        let labels = Labels::from_signs(y.clone()).unwrap();
        let objective = Objective::new(&*loss, &design, &labels).unwrap();
        // A loose fit leaves a gap worth measuring.
        let options = Options { tolerance: 1e-2, ..Options::default() };
        let fit = fit(&objective, lambda(at), &options).unwrap();
        let (value, residual) = dual(&*loss, &rows, &y, at, fit.intercept, &fit.coef);
        prop_assert!(residual.abs() <= 1e-12);
        let certificate = objective.certificate(lambda(at), fit.intercept, &fit.coef).unwrap();
        prop_assert!(
            close(certificate.dual_objective(), value, 1e-9),
            "{} {value}", certificate.dual_objective()
        );
        // The solver may know a better dual point than the slopes at its solution.
        let slack = 1e-12 * value.abs().max(1.0);
        prop_assert!(fit.report.dual_objective >= value - slack, "{:?} {value}", fit.report);
        prop_assert!(fit.report.duality_gap >= 0.0);
    }

    #[test]
    fn the_ray_is_the_path((mut rows, y) in samples(), name in any_loss()) {
        // A feature that is the label separates the classes.
        for (x, y) in rows.iter_mut().zip(&y) {
            x.push(3.0 * y);
        }
        let loss = loss(name);
        let design = Design::from_rows(&rows).unwrap();
        let labels = Labels::from_signs(y).unwrap();
        let objective = Objective::new(&*loss, &design, &labels).unwrap();
        let grid = lambda_grid(1.0, 1e-6, 25).unwrap();
        let solve = |closed_form_ray| {
            let options = Options { closed_form_ray, tolerance: 1e-8, ..Options::default() };
            path(&objective, &grid, &options, &|_| {}).unwrap()
        };
        let (ray, plain) = (solve(true), solve(false));
        for (ray, plain) in ray.iter().zip(&plain) {
            prop_assert!(ray.report.converged(), "{:?}", ray.report);
            prop_assert!(plain.report.converged(), "{:?}", plain.report);
            prop_assert!(close(ray.report.objective, plain.report.objective, 1e-7));
        }
        // Once every margin is on the tail the next solution is the last one scaled, and hardly
        // anything is left to iterate.
        let Some(tail) = loss.homogeneous_tail() else { return Ok(()) };
        let beyond = |fit: &margins_optim::Fit| {
            let scores = fit.decision_function(&design);
            scores.iter().zip(labels.signs()).all(|(f, y)| f * y >= tail.from)
        };
        for pair in ray.windows(2).filter(|pair| beyond(&pair[0])) {
            prop_assert!(beyond(&pair[1]));
            let iterations = pair[1].report.iterations;
            prop_assert!(iterations <= 2, "{iterations} iterations on the ray");
            if iterations == 0 {
                let ratio = pair[0].lambda.get() / pair[1].lambda.get();
                let factor = ratio.powf(1.0 / (1.0 + tail.degree));
                for (last, next) in pair[0].coef.iter().zip(&pair[1].coef) {
                    prop_assert!((factor * last - next).abs() <= 1e-12 * next.abs());
                }
            }
        }
    }

    #[test]
    fn no_step_of_mm_increases_the_objective((rows, y) in samples(), name in any_loss(), at in any_lambda()) {
        let loss = loss(name);
        let design = Design::from_rows(&rows).unwrap();
        let labels = Labels::from_signs(y).unwrap();
        let objective = Objective::new(&*loss, &design, &labels).unwrap();
        for solver in [Solver::MM, Solver::MM_ACCELERATED] {
            let options =
                Options { solver, history: true, max_iterations: Some(300), ..Options::default() };
            let report = fit(&objective, lambda(at), &options).unwrap().report;
            for pair in report.history.windows(2) {
                let slack = 1e-12 * pair[0].objective.abs().max(1.0);
                prop_assert!(pair[1].objective <= pair[0].objective + slack, "{solver:?} {pair:?}");
            }
        }
    }

    #[test]
    fn a_certificate_bounds_any_classifier(
        (rows, y) in samples(), name in any_loss(), at in any_lambda(), b in -2.0..2.0f64, w in -2.0..2.0f64
    ) {
        let loss = loss(name);
        let design = Design::from_rows(&rows).unwrap();
        let labels = Labels::from_signs(y).unwrap();
        let with = Objective::new(&*loss, &design, &labels).unwrap();
        let without = with.clone().without_intercept();
        prop_assert!(without.certificate(lambda(at), 0.5, &vec![w; design.columns()]).is_err());
        for (objective, b) in [(with, b), (without, 0.0)] {
            let best = fit(&objective, lambda(at), &Options::default()).unwrap().report;
            let coef = vec![w; design.columns()];
            let certificate = objective.certificate(lambda(at), b, &coef).unwrap();
            let above = certificate.objective - best.objective;
            let slack = 1e-9 * (1.0 + best.objective.abs());
            prop_assert!(certificate.duality_gap + slack >= above, "{certificate:?} {best:?}");
            prop_assert!(above >= -best.duality_gap - slack);
        }
    }
}

/// Sixty samples of two overlapping classes, the second feature on a much larger scale.
fn overlapping() -> Dataset {
    let rows: Vec<[f64; 3]> = (0..60)
        .map(|i| {
            let t = i as f64;
            [(t * 0.7).sin() + t / 40.0, 1e3 * (t * 1.3).cos(), (t * 2.1).sin()]
        })
        .collect();
    let signs = (0..60).map(|i| if (i * 7) % 60 < 2 * i - 30 { 1.0 } else { -1.0 });
    Dataset::new(Design::from_rows(&rows).unwrap(), Labels::from_signs(signs.collect()).unwrap())
        .unwrap()
}

#[test]
fn standardised_fits_do_not_depend_on_the_units_of_features() {
    let data = overlapping();
    let loss = loss("lhs");
    let training = Training { standardize: true, ..Training::new(&*loss) };
    let grid = lambda_grid(1.0, 1e-4, 5).unwrap();
    let fits = training.path(&data, &grid).unwrap();
    let mut design = data.design().clone();
    design.scale_columns(&[5.0, 1e-3, 0.2]);
    let other_units = data.clone().with_design(design).unwrap();
    let others = training.path(&other_units, &grid).unwrap();
    for (fit, other) in fits.iter().zip(&others) {
        assert!(close(fit.report.objective, other.report.objective, 1e-9));
        let scores = fit.decision_function(data.design());
        for (a, b) in scores.iter().zip(other.decision_function(other_units.design())) {
            assert!(close(*a, b, 1e-6), "{a} {b}");
        }
    }
}

#[test]
fn balanced_classes_weigh_the_same() {
    let data = overlapping();
    let loss = loss("logistic");
    let training = Training { class_weights: ClassWeights::Balanced, ..Training::new(&*loss) };
    let fit = &training.path(&data, &[lambda(0.01)]).unwrap()[0];
    let n = data.rows() as f64;
    let positives = data.labels().count_positive() as f64;
    let weights: Vec<f64> = (data.labels().signs().iter())
        .map(|&y| n / (2.0 * if y > 0.0 { positives } else { n - positives }))
        .collect();
    let by_hand = training_by_weights(&data, &*loss, &weights);
    assert!(close(fit.intercept, by_hand.intercept, 1e-9));
    assert!(positives != n - positives, "the example must not be balanced already");
}

fn training_by_weights(
    data: &Dataset,
    loss: &dyn MarginLoss,
    weights: &[f64],
) -> margins_optim::Fit {
    let objective = Objective::of(loss, data).unwrap().with_weights(weights).unwrap();
    fit(&objective, lambda(0.01), &Options::default()).unwrap()
}

#[test]
fn cross_validation_is_the_same_on_any_number_of_threads_and_by_hand() {
    let data = overlapping();
    let loss = loss("lhs");
    let training = Training { standardize: true, ..Training::new(&*loss) };
    let folds: Vec<usize> = (0..60).map(|i| i % 4).collect();
    let grid = lambda_grid(1.0, 1e-4, 12).unwrap();
    let on =
        |threads| on_threads(threads, || cross_validate(&training, &data, &folds, &grid)).unwrap();
    let cv = on(1);
    assert_eq!(cv, on(3));
    assert!(cv.curve.certified.iter().all(|&certified| certified));

    let signs = data.labels().signs();
    for (k, &error) in cv.curve.mean_error.iter().enumerate() {
        let mut rates = Vec::new();
        for fold in 0..4 {
            let rest: Vec<usize> = (0..60).filter(|i| i % 4 != fold).collect();
            let fit = &training.path(&data.select(&rest), &grid).unwrap()[k];
            let held_out = (0..60).filter(|i| i % 4 == fold);
            let wrong = held_out
                .filter(|&i| (fit.score(&data.design().sample(i)) > 0.0) != (signs[i] > 0.0));
            rates.push(wrong.count() as f64 / 15.0);
        }
        let mean = rates.iter().sum::<f64>() / 4.0;
        let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / 3.0;
        assert!(close(error, mean, 1e-12));
        assert!(close(cv.curve.standard_error[k], (variance / 4.0).sqrt(), 1e-12));
    }
    let least = cv.curve.mean_error.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(cv.curve.mean_error[cv.curve.best], least);
    assert!(cv.curve.one_standard_error <= cv.curve.best);
    let within = least + cv.curve.standard_error[cv.curve.best];
    assert!(cv.curve.mean_error[cv.curve.one_standard_error] <= within);
    assert!(cv.curve.mean_error[..cv.curve.one_standard_error].iter().all(|&error| error > within));
}

/// Only what is far worse is given up, and nothing else changes.
#[test]
fn hopeless_lambdas_are_left_out_of_the_later_folds() {
    let rows: Vec<[f64; 2]> =
        (0..400).map(|i| [(f64::from(i) * 0.7).sin(), (f64::from(i) * 1.3).cos()]).collect();
    // Nine in ten are positive, and without coefficients so are all.
    let signs = rows.iter().map(|x| if x[0] + 0.2 * x[1] < -0.6 { -1.0 } else { 1.0 }).collect();
    let design = Design::from_rows(&rows).unwrap();
    let data = Dataset::new(design, Labels::from_signs(signs).unwrap()).unwrap();
    let folds: Vec<usize> = (0..400).map(|i| i % 5).collect();
    let grid = lambda_grid(1e3, 1e-4, 8).unwrap();
    let loss = loss("logistic");
    let run = |abandon_hopeless| {
        let training = Training { abandon_hopeless, ..Training::new(&*loss) };
        cross_validate(&training, &data, &folds, &grid).unwrap().curve
    };
    let (whole, part) = (run(false), run(true));
    assert!(whole.abandoned.iter().all(|&abandoned| !abandoned));
    assert!(part.abandoned[0] && !part.abandoned[7], "{part:?}");
    assert_eq!((whole.best, whole.one_standard_error), (part.best, part.one_standard_error));
    for k in 0..8 {
        if part.abandoned[k] {
            assert!(whole.mean_error[k] > whole.mean_error[whole.best] + 0.05);
        } else {
            let gap = (whole.mean_error[k] - part.mean_error[k]).abs();
            assert!(gap < 1e-12, "{k}: {gap}");
        }
    }
    // Of two folds there is no earlier half.
    let halves: Vec<usize> = (0..400).map(|i| i % 2).collect();
    let training = Training { abandon_hopeless: true, ..Training::new(&*loss) };
    let curve = cross_validate(&training, &data, &halves, &grid).unwrap().curve;
    assert!(curve.abandoned.iter().all(|&abandoned| !abandoned));
}

#[test]
fn what_cannot_be_solved_is_refused_by_name() {
    let data = overlapping();
    let refusal = |specification: &str, solver| {
        let loss = loss(specification);
        let objective = Objective::of(&*loss, &data).unwrap();
        let options = Options { solver, ..Options::default() };
        fit(&objective, lambda(0.1), &options).unwrap_err().to_string()
    };
    assert_eq!(
        refusal("hinge", Solver::Newton),
        "loss 'hinge' has a kink, and this solver needs a differentiable loss. Use proximal-newton, sdca or bundle \
         (linear classifiers), or a differentiable loss, such as smoothed-hinge or squared-hinge"
    );
    for solver in [Solver::Auto, Solver::SDCA, Solver::Bundle] {
        assert!(refusal("garg-roth", solver).contains("is not convex"));
    }
    assert!(refusal("exponential", Solver::MM).contains("has no finite curvature"));

    let loss = loss("lhs");
    let objective = Objective::of(&*loss, &data).unwrap();
    assert!(matches!(path(&objective, &[], &Options::default(), &|_| {}), Err(Error::NoLambdas)));
    let options = Options { tolerance: 0.0, ..Options::default() };
    assert!(matches!(fit(&objective, lambda(0.1), &options), Err(Error::Tolerance(_))));
    for weights in [vec![1.0; 3], vec![-1.0; 60], vec![f64::NAN; 60], vec![0.0; 60]] {
        assert!(Objective::of(&*loss, &data).unwrap().with_weights(&weights).is_err());
    }
    let training = Training::new(&*loss);
    let one_fold = vec![0; 60];
    let skipped: Vec<usize> = (0..60).map(|i| 2 * (i % 2)).collect();
    let all_of_a_class: Vec<usize> =
        data.labels().signs().iter().map(|&y| usize::from(y > 0.0)).collect();
    for folds in [&one_fold[..], &one_fold[..3], &skipped, &all_of_a_class] {
        assert!(cross_validate(&training, &data, folds, &[lambda(0.1)]).is_err());
    }
}

#[test]
fn collinear_features_of_large_scale_are_solved() {
    let base = overlapping();
    let rows: Vec<[f64; 3]> = (base.design().samples())
        .map(|x| {
            let t = 1e5 * x.dot(&[1.0, 0.0, 0.0]);
            [t, 2.0 * t, t + x.dot(&[0.0, 0.0, 1e5])]
        })
        .collect();
    let design = Design::from_rows(&rows).unwrap();
    for name in ["lhs", "logistic", "squared-hinge", "squared"] {
        let loss = loss(name);
        let objective = Objective::new(&*loss, &design, base.labels()).unwrap();
        let fits =
            path(&objective, &lambda_grid(1.0, 1e-7, 20).unwrap(), &Options::default(), &|_| {});
        for fit in fits.unwrap() {
            assert!(fit.report.converged(), "{name} {} {:?}", fit.lambda, fit.report);
        }
    }
}

#[test]
fn what_cannot_be_bounded_has_an_infinite_gap() {
    let data = overlapping();
    let exponential = loss("exponential");
    let objective = Objective::of(&*exponential, &data).unwrap();
    let certificate = objective.certificate(lambda(0.1), 800.0, &[0.0; 3]).unwrap();
    assert_eq!(certificate.relative_gap(), f64::INFINITY);
    let training = Training::new(&*exponential);
    let folds: Vec<usize> = (0..60).map(|i| i % 3).collect();
    let cv = cross_validate(&training, &data, &folds, &[lambda(1e308), lambda(1e-308)]).unwrap();
    for (gap, certified) in cv.curve.worst_relative_gap.iter().zip(&cv.curve.certified) {
        assert_eq!(*certified, *gap <= 1e-6, "{gap}");
    }
    let beyond = vec![usize::MAX; 60];
    let training_folds = cross_validate(&training, &data, &beyond, &[lambda(1.0)]);
    assert!(matches!(training_folds, Err(Error::EmptyFold(fold)) if fold == "0"));
}

/// Coarse fits bound how far their errors are from those of fine ones, and see through most of
/// their decisions. A tolerance of 0.1 makes some of them differ.
#[test]
fn errors_are_as_near_to_those_of_minimisers_as_is_proven() {
    let data = overlapping();
    let weights = (0..60).map(|i| f64::from(i % 4)).collect();
    let weighted = data.clone().with_weights(weights).unwrap();
    let folds: Vec<usize> = (0..60).map(|i| (i / 2) % 3).collect();
    let lambdas = lambda_grid(1.0, 1e-5, 8).unwrap();
    let (mut proven, mut apart) = (0, 0);
    for (name, data, standardize, intercept) in [
        ("lhs", &data, false, true),
        ("logistic", &weighted, true, true),
        ("squared-hinge", &weighted, true, false),
        ("hinge", &data, false, true),
    ] {
        let loss = loss(name);
        let curve = |tolerance| {
            let options = Options { tolerance, ..Options::default() };
            let training = Training { standardize, intercept, options, ..Training::new(&*loss) };
            cross_validate(&training, data, &folds, &lambdas).unwrap().curve
        };
        let (coarse, fine) = (curve(0.1), curve(1e-9));
        for k in 0..lambdas.len() {
            let (open, of_fine) = (coarse.unproven[k].unwrap(), fine.unproven[k].unwrap());
            let apart_here = (coarse.mean_error[k] - fine.mean_error[k]).abs();
            assert!(apart_here <= open + of_fine + 1e-12, "{name} {k}: {apart_here} {open}");
            proven += usize::from(of_fine == 0.0);
            apart += usize::from(apart_here > 0.0);
        }
    }
    assert!(proven >= 16 && apart >= 3, "{proven} {apart}");
}

/// A row of the reference solutions as a literal, for clones without them: n = 4 by hand. With one
/// feature x = y every margin is the same u = w, and the minimiser of -log w + lambda w^2 is
/// w = 1/sqrt(2 lambda).
#[test]
fn a_minimiser_in_closed_form() {
    let design = Design::from_rows(&[[1.0], [-1.0], [1.0], [-1.0]]).unwrap();
    let labels = Labels::from_signs(vec![1.0, -1.0, 1.0, -1.0]).unwrap();
    let loss = loss("lhs");
    let objective = Objective::new(&*loss, &design, &labels).unwrap();
    for at in [0.25, 1e-2, 1e-6] {
        // Plain MM would take millions of steps to a far minimum.
        let plain = (at > 1e-6).then_some(Solver::MM);
        for solver in [Solver::Newton, Solver::MM_ACCELERATED].into_iter().chain(plain) {
            let options = Options {
                solver,
                tolerance: 1e-12,
                max_iterations: Some(10_000_000),
                ..Options::default()
            };
            let fit = fit(&objective, lambda(at), &options).unwrap();
            let w = (2.0 * at).sqrt().recip();
            assert!(fit.report.converged(), "{solver:?} {:?}", fit.report);
            assert!(close(fit.coef[0], w, 1e-5), "{} {w}", fit.coef[0]);
            assert!(close(fit.report.objective, 0.5 - w.ln(), 1e-11));
        }
    }
}

#[test]
fn limits_are_reported_and_not_hidden() {
    let data = overlapping();
    let loss = loss("lhs");
    let objective = Objective::of(&*loss, &data).unwrap();
    for solver in [Solver::MM, Solver::MM_ACCELERATED, Solver::Newton] {
        let options =
            Options { solver, tolerance: 1e-12, max_iterations: Some(1), ..Options::default() };
        let report = fit(&objective, lambda(1e-6), &options).unwrap().report;
        assert_eq!(report.status, margins_optim::Status::IterationLimit);
        assert!(report.relative_gap > 1e-12);
    }
}

/// A sample of weight 0 does not count, even if its loss overflows.
#[test]
fn a_sample_of_no_weight_may_have_any_loss() {
    let rows = [[0.5, 1.0], [-1.0, 0.5], [1.0, 2.0], [-0.5, -1.5], [2.0, -0.5], [-1e6, 3e6]];
    let signs = [1.0, -1.0, 1.0, -1.0, -1.0, -1.0];
    let exponential = loss("exponential");
    let fitted = |count: usize| {
        let design = Design::from_rows(&rows[..count]).unwrap();
        let labels = Labels::from_signs(signs[..count].to_vec()).unwrap();
        // n counts the sample of weight 0.
        let weights: Vec<f64> =
            (0..count).map(|i| if i < 5 { count as f64 / 5.0 } else { 0.0 }).collect();
        let objective = Objective::new(&*exponential, &design, &labels).unwrap();
        let objective = objective.with_weights(&weights).unwrap();
        // Far from the solution, so that the steps themselves see the loss overflow.
        let options = Options { tolerance: 1e-10, ..Options::default() };
        fit(&objective, lambda(1e-3), &options).unwrap()
    };
    let (with, without) = (fitted(6), fitted(5));
    assert!(with.report.converged(), "{:?}", with.report);
    assert!(close(with.report.objective, without.report.objective, 1e-9));
    let product = -1e6 * with.coef[0] + 3e6 * with.coef[1];
    assert!(product + with.intercept > 710.0, "the loss would not overflow: {product}");
}

/// Without intercept the derivative in the coefficients is that of differences, for a loss that no
/// gap bounds as well.
#[test]
fn gradient_norms_of_losses_that_are_not_convex_are_those_of_differences() {
    let rows = [[0.5, 1.0], [-1.0, 0.5], [1.0, 2.0], [-0.5, -1.5], [2.0, -0.5]];
    let design = Design::from_rows(&rows).unwrap();
    let labels = Labels::from_signs(vec![1.0, -1.0, 1.0, -1.0, -1.0]).unwrap();
    let loss = loss("garg-roth:alpha=1,beta=0.4");
    let objective = Objective::new(&*loss, &design, &labels).unwrap().without_intercept();
    let at = lambda(0.05);
    let schedule = margins_optim::online::stochastic::Schedule::Constant(0.05);
    let settings = margins_optim::online::stochastic::StochasticGradient {
        epochs: 3,
        ..margins_optim::online::stochastic::StochasticGradient::new(schedule)
    };
    let fit =
        margins_optim::online::stochastic::fit(&objective, at, &settings, &Options::default())
            .unwrap();
    let value = |coef: &[f64]| -> f64 {
        let risk: f64 = (design.samples().zip(labels.signs()))
            .map(|(x, y)| loss.value(y * x.dot(coef)) / 5.0)
            .sum();
        risk + at.get() * coef.iter().map(|w| w * w).sum::<f64>()
    };
    let slope = |j: usize| {
        let moved = |step: f64| {
            let mut coef = fit.coef.clone();
            coef[j] += step;
            value(&coef)
        };
        (moved(1e-6) - moved(-1e-6)) / 2e-6
    };
    assert!(close(fit.report.gradient_norm, slope(0).hypot(slope(1)), 1e-7), "{:?}", fit.report);
}

/// A deadline that has passed leaves every solver with what it starts from, and says so; one that
/// is far away changes nothing.
#[test]
fn deadlines_are_kept_and_reported() {
    let data = overlapping();
    let logistic = loss("logistic");
    let lambdas = lambda_grid(1.0, 1e-3, 4).unwrap();
    let now = std::time::Instant::now();
    let far = now + std::time::Duration::from_secs(3600);
    for solver in SOLVERS {
        let fits = |deadline| {
            let options = Options { solver, deadline, ..Options::default() };
            let objective = Objective::of(&*logistic, &data).unwrap();
            path(&objective, &lambdas, &options, &|_| {}).unwrap()
        };
        for fit in fits(Some(now)) {
            assert_eq!((fit.report.status, fit.report.iterations), (Status::TimeLimit, 0));
            assert!(!fit.report.converged() && fit.report.objective.is_finite());
        }
        assert_eq!(fits(Some(far)), fits(None));
    }
}

/// With this many samples Newton starts from the minimiser for a part of them; here the part has both
/// classes, or, where only one sample in 20,000 is positive, most likely not.
#[test]
fn newton_reaches_the_same_from_a_part_of_many_samples() {
    let rows: Vec<[f64; 2]> = (0..70_000)
        .map(|k| {
            let k = f64::from(k);
            [(0.7 * k).sin(), (1.3 * k).cos()]
        })
        .collect();
    let design = Design::from_rows(&rows).unwrap();
    for (rare, name) in [(2, "lhs"), (20_000, "logistic")] {
        let signs = rows
            .iter()
            .enumerate()
            .map(|(k, x)| if k % rare == 0 && x[0] + 0.3 * x[1] > -0.9 { 1.0 } else { -1.0 });
        let labels = Labels::from_signs(signs.collect()).unwrap();
        let loss = loss(name);
        let objective = Objective::new(&*loss, &design, &labels).unwrap();
        let run = |solver| {
            let options = Options { solver, tolerance: 1e-9, ..Options::default() };
            fit(&objective, lambda(1e-3), &options).unwrap().report
        };
        let (newton, mm) = (run(Solver::Newton), run(Solver::MM_ACCELERATED));
        assert!(newton.converged() && mm.converged(), "{name}, one in {rare}");
        assert!(close(newton.objective, mm.objective, 2e-9), "{name}, one in {rare}");
        assert!(newton.iterations <= 4 || rare > 2, "{name}: {}", newton.iterations);
    }
}

/// A single sample, most likely not in the part that Newton starts from, can make the part's
/// minimiser a point where the loss of all samples overflows.
#[test]
fn newton_does_not_start_from_a_part_that_knows_too_little() {
    let mut rows: Vec<[f64; 2]> =
        (0..70_000).map(|k| [if k % 2 == 0 { 1.0 } else { -1.0 }, 1.0]).collect();
    let mut signs: Vec<f64> = rows.iter().map(|x| x[0]).collect();
    (rows[12_345], signs[12_345]) = ([1e5, 1.0], -1.0);
    let (design, labels) = (Design::from_rows(&rows).unwrap(), Labels::from_signs(signs).unwrap());
    let loss = loss("exponential");
    let objective = Objective::new(&*loss, &design, &labels).unwrap();
    let options = Options { solver: Solver::Newton, ..Options::default() };
    let fits = path(&objective, &lambda_grid(1.0, 0.1, 3).unwrap(), &options, &|_| {}).unwrap();
    assert!(fits.iter().all(|fit| fit.report.converged()));
}

/// Every solver shows its iterations to the callback, and ends with its best point where that
/// breaks.
#[test]
fn a_callback_sees_and_stops_every_solver() {
    use std::ops::ControlFlow;
    use std::sync::Mutex;

    use margins_data::generate::{Example, GaussianMixture};
    use margins_optim::method::{Iteration, Watch};

    let mixture = GaussianMixture::example(Example::One, 1).unwrap();
    let (data, loss) = (mixture.sample(60, 2).unwrap(), loss("lhs"));
    let objective = Objective::of(&*loss, &data).unwrap();
    for solver in SOLVERS {
        let seen: Mutex<Vec<Iteration>> = Mutex::new(Vec::new());
        let see = |iteration: &Iteration| {
            seen.lock().unwrap().push(*iteration);
            ControlFlow::Continue(())
        };
        let watch = Some(Watch::new(&see));
        let options = Options { solver, watch, tolerance: 1e-8, ..Options::default() };
        let fit = margins_optim::fit(&objective, lambda(0.1), &options).unwrap();
        assert!(fit.report.converged(), "{solver:?}");
        let seen = seen.lock().unwrap().clone();
        let (first, last) = (seen.first().unwrap(), seen.last().unwrap());
        assert_eq!((first.iteration, first.step), (0, None), "{solver:?}");
        assert_eq!(last.iteration, fit.report.iterations, "{solver:?}");
        assert!(last.relative_gap <= 1e-8, "{solver:?}: {}", last.relative_gap);
        assert!(seen.windows(2).all(|pair| pair[0].iteration < pair[1].iteration), "{solver:?}");
        assert!(fit.report.elapsed.0 >= last.elapsed, "{solver:?}");

        let stop = |_: &Iteration| ControlFlow::Break(());
        let options = Options { watch: Some(Watch::new(&stop)), ..options };
        let grid = lambda_grid(1e-1, 1e-3, 3).unwrap();
        for fit in path(&objective, &grid, &options, &|_| {}).unwrap() {
            assert_eq!(fit.report.status, Status::Interrupted, "{solver:?}");
            assert_eq!(fit.report.iterations, 0, "{solver:?}");
        }
    }
}
