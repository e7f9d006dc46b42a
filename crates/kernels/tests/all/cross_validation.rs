//! Errors of kernel classifiers on samples that they were not fitted to: by folds and by leaving
//! one out.

use crate::common::{circles, gram};
use margins_data::{Dataset, Design, Labels};
use margins_kernels::{
    Gaussian, Gram, KernelObjective, combine, cross_validate, fit, leave_one_out,
    one_step_leave_one_out, training_path,
};
use margins_losses::MarginLoss;
use margins_optim::{
    ClassWeights, Lambda, Options, Solver, Training, lambda_grid, leave_one_out_bounds,
};
use margins_test_support::{close, lambda, loss, losses_of, on_threads};

/// Coarse fits bound how far their errors are from those of fine ones, for every way to solve on a
/// kernel matrix.
#[test]
fn errors_are_as_near_to_those_of_minimisers_as_is_proven() {
    let data = circles();
    let matrix = gram("gaussian:sigma=0.7", data.design()).matrix().unwrap() * 3.0;
    let gram = Gram::precomputed(matrix).unwrap();
    let folds: Vec<usize> = (0..60).map(|i| (i / 2) % 4).collect();
    let grid = lambda_grid(1.0, 1e-5, 12).unwrap();
    let mut proven = 0;
    for (name, solver, intercept) in [
        ("hinge", Solver::Auto, true),
        ("hinge", Solver::Auto, false),
        ("lhs", Solver::Auto, true),
        ("lhs", Solver::Newton, true),
        ("logistic", Solver::Auto, false),
    ] {
        let loss = loss(name);
        let curve = |tolerance| {
            let options = Options { solver, tolerance, ..Options::default() };
            let training = Training { intercept, options, ..Training::new(&*loss) };
            cross_validate(&training, &data, &gram, &folds, &grid).unwrap()
        };
        let (coarse, fine) = (curve(0.1), curve(1e-8));
        for k in 0..grid.len() {
            let (open, of_fine) = (coarse.unproven[k].unwrap(), fine.unproven[k].unwrap());
            let apart = (coarse.mean_error[k] - fine.mean_error[k]).abs();
            assert!(apart <= open + of_fine + 1e-12, "{name} {k}: {apart} {open} {of_fine}");
            proven += usize::from(of_fine == 0.0);
        }
    }
    assert!(proven >= 30, "{proven}");
}

/// The decisions of the hinge are those of the functions that the coefficients are, as the folds keep
/// scores: in steps of either precision, and for functions far smaller than the labels.
#[test]
fn errors_of_support_vector_machines_are_those_of_their_coefficients() {
    let data = circles();
    let hinge = loss("hinge");
    let folds: Vec<usize> = (0..60).map(|i| (i / 2) % 4).collect();
    let grid = lambda_grid(1.0, 1e-5, 12).unwrap();
    for (size, intercept) in [(1.0, true), (1.0, false), (1e-30, false)] {
        let matrix = gram("gaussian:sigma=0.7", data.design()).matrix().unwrap() * size;
        let gram = Gram::precomputed(matrix).unwrap();
        let training = Training { intercept, ..Training::new(&*hinge) };
        let curve = cross_validate(&training, &data, &gram, &folds, &grid).unwrap();
        assert!(curve.certified.iter().all(|&certified| certified));
        for (k, error) in curve.mean_error.iter().enumerate() {
            let wrong = |fold: usize| {
                let rows: Vec<usize> = (0..60).filter(|&i| folds[i] != fold).collect();
                let test: Vec<usize> = (0..60).filter(|&i| folds[i] == fold).collect();
                let tight = Options { tolerance: 1e-8, ..Options::default() };
                let training = Training { options: tight, ..training };
                let fits =
                    training_path(&training, &data.select(&rows), &gram.select(&rows), &grid);
                let fit = &fits.unwrap()[k];
                let coefs = nalgebra::DMatrix::from_row_slice(1, rows.len(), &fit.coef);
                let scores = gram.combine(&test, &rows, &coefs);
                let signs = data.labels().signs();
                let is_wrong =
                    |(t, &i): (usize, &usize)| signs[i] * (scores[(0, t)] + fit.intercept) <= 0.0;
                test.iter().enumerate().filter(|&pair| is_wrong(pair)).count()
            };
            let count: usize = (0..4).map(wrong).sum();
            assert!(close(60.0 * error, count as f64, 1e-12), "{size} {k}: {error} {count}");
        }
    }
}

#[test]
fn cross_validation_is_the_same_on_any_number_of_threads_and_by_hand() {
    let weights: Vec<f64> = (0..60).map(|i| f64::from(1 + i % 3)).collect();
    let data = circles().with_weights(weights.clone()).unwrap();
    let kernel = Gaussian::new(0.7).unwrap();
    let gram = Gram::new(&kernel, data.design()).unwrap();
    let loss = loss("lhs");
    let training = Training { class_weights: ClassWeights::Balanced, ..Training::new(&*loss) };
    let folds: Vec<usize> = (0..60).map(|i| (i / 2) % 4).collect();
    let grid = lambda_grid(1.0, 1e-5, 12).unwrap();
    let on = |threads| {
        on_threads(threads, || cross_validate(&training, &data, &gram, &folds, &grid)).unwrap()
    };
    let curve = on(1);
    assert_eq!(curve, on(2));
    assert!(curve.certified.iter().all(|&certified| certified));
    assert_eq!(curve.lambdas, grid);

    let signs = data.labels().signs();
    let total: f64 = weights.iter().sum();
    let mut wrong = [0.0; 12];
    for fold in 0..4 {
        let (rest, held_out): (Vec<usize>, Vec<usize>) = (0..60).partition(|&i| folds[i] != fold);
        let part = data.select(&rest);
        // A matrix of its own, and scores without one.
        let own = Gram::new(&kernel, part.design()).unwrap();
        let fits = training_path(&training, &part, &own, &grid).unwrap();
        for (k, fit) in fits.iter().enumerate() {
            let test = data.design().select(&held_out);
            let scores = combine(&kernel, &test, part.design(), &fit.coef).unwrap();
            for (&i, score) in held_out.iter().zip(scores) {
                if (score + fit.intercept > 0.0) != (signs[i] > 0.0) {
                    wrong[k] += weights[i];
                }
            }
        }
    }
    for (k, wrong) in wrong.iter().enumerate() {
        assert!(close(curve.mean_error[k], wrong / total, 1e-12), "{k}");
    }
    assert!(curve.mean_error[curve.best] < 0.3, "{curve:?}");
}

#[test]
fn cross_validation_refuses_folds_that_leave_a_class_out() {
    let signs = (0..60).map(|i| if i < 20 { "yes" } else { "no" });
    let labels = Labels::with_positive(&signs.collect::<Vec<_>>(), "yes").unwrap();
    let data = Dataset::new(circles().design().clone(), labels).unwrap();
    let gram = gram("gaussian:sigma=1", data.design());
    let loss = loss("lhs");
    let training = Training::new(&*loss);
    let refusal = |folds: &[usize], gram: &Gram| {
        cross_validate(&training, &data, gram, folds, &[lambda(0.1)]).unwrap_err().to_string()
    };
    let folds: Vec<usize> = (0..60).map(|i| if i < 20 { 1 } else { 2 * (i % 2) }).collect();
    assert_eq!(refusal(&folds, &gram), "fold '1' leaves no sample of class 'yes' to train on");
    assert_eq!(refusal(&[0; 60], &gram), "cross-validation needs at least 2 folds, found 1");
    assert_eq!(refusal(&[0; 6], &gram), "folds, one per row: expected 60, found 6");
    assert_eq!(refusal(&folds, &gram.select(&[0, 1])), "rows: expected 2, found 60");
}

/// Without one sample: the refits from a common start are those from scratch, and for the squared
/// loss, whose Newton step is the whole way, so is the one step.
#[test]
fn leaving_one_out_is_a_fit_without_it() {
    let n = 24;
    let rows: Vec<Vec<f64>> =
        (0..n).map(|i| (0..3).map(|j| ((i * (j + 2) + j) as f64 * 0.7).sin()).collect()).collect();
    let signs: Vec<f64> =
        rows.iter().map(|x| if x[0] * x[1] + 0.2 * x[2] > 0.0 { 1.0 } else { -1.0 }).collect();
    let design = Design::from_rows(&rows).unwrap();
    let labels = Labels::from_signs(signs).unwrap();
    let gram = Gram::new(&Gaussian::new(0.8).unwrap(), &design).unwrap();
    let losses: [&dyn MarginLoss; 3] =
        [&margins_losses::Squared, &margins_losses::LeakyHockeyStick, &margins_losses::Logistic];
    let options = Options { tolerance: 1e-12, ..Options::default() };
    for (loss, intercept) in losses.into_iter().flat_map(|loss| [(loss, true), (loss, false)]) {
        let mut objective = KernelObjective::new(loss, &gram, &labels).unwrap();
        if !intercept {
            objective = objective.without_intercept();
        }
        for lambda in [0.1, 1e-3] {
            let lambda = Lambda::new(lambda).unwrap();
            let whole = fit(&objective, lambda, &options).unwrap();
            let (exact, converged) = leave_one_out(&objective, &whole, &options).unwrap();
            let one_step = one_step_leave_one_out(&objective, &whole).unwrap();
            let case = format!("{} {lambda} {intercept}", loss.specification());
            // Rounding of the penalty may be above such a tolerance.
            let is_visible = whole.report.relative_rounding() <= options.tolerance;
            assert!(converged || !is_visible, "{case}");
            let whole_scores = whole.scores(gram.matrix().unwrap());
            let (mut step, mut whole_way) = (0.0, 0.0);
            for i in 0..n {
                let mut weights = vec![1.0; n];
                weights[i] = 0.0;
                let mut without =
                    KernelObjective::new(loss, &gram, &labels).unwrap().with_weights(&weights);
                if !intercept {
                    without = without.map(KernelObjective::without_intercept);
                }
                let without = fit(&without.unwrap(), lambda, &options).unwrap();
                let score = without.scores(&gram.cross_of(&[i], &(0..n).collect::<Vec<_>>()))[0];
                assert!((score - exact[i]).abs() < 1e-4, "{case}: {score} {}", exact[i]);
                let off = (score - one_step[i]).abs();
                assert!(loss.name() != "squared" || off < 1e-6, "{case}: {score} {}", one_step[i]);
                // Elsewhere an approximation, but nearer than the fit with the sample.
                step += off;
                whole_way += (score - whole_scores[i]).abs();
            }
            assert!(step < 0.7 * whole_way, "{case}: {step} {whole_way}");
        }
    }
}

/// The refits without one sample have an error between the bounds, and each margin moves against its
/// loss by no more than they allow, for every convex loss, kernel and weights.
#[test]
fn leave_one_out_errors_are_within_their_bounds() {
    let n = 24;
    let rows: Vec<Vec<f64>> =
        (0..n).map(|i| (0..3).map(|j| ((i * (j + 2) + j) as f64 * 0.7).sin()).collect()).collect();
    let signs: Vec<f64> = (0..n)
        .map(|i| if rows[i][0] * rows[i][1] + 0.2 * rows[i][2] > 0.1 { 1.0 } else { -1.0 })
        .collect();
    let design = Design::from_rows(&rows).unwrap();
    let labels = Labels::from_signs(signs.clone()).unwrap();
    let options = Options { tolerance: 1e-12, ..Options::default() };
    let given: Vec<f64> = (0..n).map(|i| f64::from(1 + i as u32 % 3)).collect();
    let (mut narrow, mut wide) = (0, 0);
    for kernel in ["gaussian:sigma=0.8", "linear", "bessel:sigma=2,order=1"] {
        let gram = gram(kernel, &design);
        let all: Vec<usize> = (0..n).collect();
        for name in losses_of(Solver::Newton) {
            let loss = loss(name);
            for (weights, at) in [(vec![1.0; n], 0.1), (given.clone(), 0.1), (given.clone(), 0.01)]
            {
                let case = format!("{kernel} {name} {at} {:?}", &weights[..2]);
                let fit_to = |weights: &[f64]| {
                    let risk = KernelObjective::new(&*loss, &gram, &labels).unwrap();
                    let risk = risk.with_weights(weights).unwrap().without_intercept();
                    let fitted = fit(&risk, lambda(at), &options).unwrap();
                    (risk.risk().clone(), fitted)
                };
                let (risk, whole) = fit_to(&weights);
                let scores = whole.scores(gram.matrix().unwrap());
                let margins: Vec<f64> = scores.iter().zip(&signs).map(|(f, y)| y * f).collect();
                let squares = gram.diagonal();
                let gap = whole.report.duality_gap;
                let bounds = leave_one_out_bounds(&risk, lambda(at), gap, &margins, &squares);
                let bounds = bounds.expect("convex, without an intercept");
                let mut wrong = 0.0;
                for k in 0..n {
                    let mut without = weights.clone();
                    without[k] = 0.0;
                    let (_, refit) = fit_to(&without);
                    let score = refit.scores(&gram.cross_of(&[k], &all))[0];
                    let drop = margins[k] - signs[k] * score;
                    let slope = -loss.derivative(margins[k]);
                    let most = weights[k] * slope.abs() * squares[k] / (2.0 * n as f64 * at);
                    assert!(drop * slope.signum() >= -1e-4, "{case} {k}: {drop} {slope}");
                    assert!(drop.abs() <= most + 1e-4, "{case} {k}: {drop} {most}");
                    wrong += if signs[k] * score <= 0.0 { weights[k] } else { 0.0 };
                }
                let error = wrong / weights.iter().sum::<f64>();
                let within = bounds.lower - 1e-12..=bounds.upper + 1e-12;
                assert!(within.contains(&error), "{case}: {error} {bounds:?}");
                narrow += usize::from(bounds.upper < 0.3);
                wide += usize::from(bounds.lower < bounds.upper);
            }
            let risk = KernelObjective::new(&*loss, &gram, &labels).unwrap();
            let zeros = vec![0.0; n];
            assert_eq!(leave_one_out_bounds(risk.risk(), lambda(0.1), 0.0, &zeros, &zeros), None);
        }
    }
    assert!(narrow > 5 && wide > 5, "{narrow} {wide}");
}
