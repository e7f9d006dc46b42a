//! Dual coordinate ascent and cutting planes: two solvers that share no code but the objective.

use std::path::Path;

use margins_data::read::{self, ReadOptions};
use margins_data::{Dataset, Design, Labels};
use margins_optim::{
    Fit, Objective, Options, Report, Solver, Status, Training, cross_validate, fit, lambda_grid,
};
use margins_test_support::{CONVEX_LOSSES, lambda, loss};
use nalgebra::DMatrix;

fn options(solver: Solver) -> Options<'static> {
    Options { solver, ..Options::default() }
}

fn agree(one: &Report, other: &Report, case: &str) {
    assert!(one.converged() && other.converged(), "{case}: {one:?} {other:?}");
    // Each objective is at least any lower bound, from either solver.
    assert!(one.dual_objective <= other.objective + other.rounding, "{case}: {one:?} {other:?}");
    assert!(other.dual_objective <= one.objective + one.rounding, "{case}: {one:?} {other:?}");
}

/// Two overlapping clouds, the first feature far from the origin.
fn clouds(shift: f64) -> Dataset {
    let rows: Vec<Vec<f64>> = (0..80)
        .map(|i| {
            let side = if i % 2 == 0 { 0.6 } else { -0.6 };
            let noise = |k: usize| ((i * (3 * k + 7) + i * i) as f64 * 0.61).sin() * 1.5;
            vec![shift + side + noise(1), side + noise(2), noise(3)]
        })
        .collect();
    let signs = (0..80).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    Dataset::new(Design::from_rows(&rows).unwrap(), Labels::from_signs(signs).unwrap()).unwrap()
}

#[test]
fn an_intercept_far_from_zero_is_found() {
    for name in ["hinge", "logistic", "lhs"] {
        let loss = loss(name);
        let near = clouds(0.0);
        let solve = |data: &Dataset, solver| {
            let objective = Objective::of(&*loss, data).unwrap();
            fit(&objective, lambda(1e-3), &options(solver)).unwrap()
        };
        let reference = solve(&near, Solver::SDCA);
        // The cuts of the bundle method suffer from bad scaling, coordinate ascent ends with
        // Newton.
        for (solver, shift) in
            [(Solver::SDCA, 1000.0), (Solver::ProximalNewton, 1000.0), (Solver::Bundle, 10.0)]
        {
            // The minimum does not depend on where the origin is.
            agree(&reference.report, &solve(&clouds(shift), solver).report, name);
        }
    }
}

/// Rows enough that a fit begins at the minimiser for a part of them. A rare feature tells apart a few
/// samples, most of which the part lacks.
fn rows_with_a_rare_feature() -> Dataset {
    let rows = 16_000usize;
    let noise = |i: usize, k: usize| {
        let hash = ((i * 31 + k) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) as f64 / u64::MAX as f64 - 0.5
    };
    let samples = DMatrix::from_fn(9, rows, |j, i| match j {
        8 if i % 400 == 7 => 10.0,
        8 => 0.0,
        _ => noise(i, j) + if i % 2 == 0 { 0.1 } else { -0.1 },
    });
    let signs = (0..rows).map(|i| if i % 2 == 0 && i % 400 != 7 { 1.0 } else { -1.0 }).collect();
    let labels = Labels::from_signs(signs).unwrap();
    Dataset::new(Design::from_samples(samples).unwrap(), labels).unwrap()
}

#[test]
fn merged_samples_that_leave_their_line_are_taken_alone() {
    let data = rows_with_a_rare_feature();
    let cases: [(&str, &[f64]); 3] =
        [("hinge", &[1e-1, 1e-5]), ("leaky-relu:lambda=0.1", &[1e-3]), ("squared-hinge", &[1e-3])];
    for (name, lambdas) in cases {
        let loss = loss(name);
        let objective = Objective::of(&*loss, &data).unwrap();
        for lambda in lambdas.iter().copied().map(lambda) {
            let proximal = fit(&objective, lambda, &options(Solver::ProximalNewton)).unwrap();
            let bundle = fit(&objective, lambda, &options(Solver::Bundle)).unwrap();
            agree(&proximal.report, &bundle.report, name);
        }
    }
}

#[test]
fn results_depend_on_the_seed_alone_and_certificates_not_even_on_that() {
    let data = clouds(0.0);
    let loss = loss("hinge");
    let objective = Objective::of(&*loss, &data).unwrap();
    let solve = |seed| {
        let options = Options { tolerance: 1e-3, ..options(Solver::Sdca { seed }) };
        fit(&objective, lambda(1e-2), &options).unwrap()
    };
    assert_eq!(solve(1), solve(1));
    assert_ne!(solve(1).coef, solve(2).coef);
    agree(&solve(1).report, &solve(2).report, "seeds");
}

/// Features times 32 and lambda times 32^2 make the same problem, and numbers of the same digits.
#[test]
fn epochs_do_not_depend_on_the_units_of_features() {
    let data = clouds(0.0);
    let loss = loss("hinge");
    let solve = |unit: f64| {
        let design = Design::dense(&(data.design().to_dense() * unit)).unwrap();
        let objective = Objective::new(&*loss, &design, data.labels()).unwrap();
        let options = Options { tolerance: 1e-3, ..options(Solver::SDCA) };
        fit(&objective, lambda(1e-2 * unit * unit), &options).unwrap()
    };
    let (one, other) = (solve(1.0), solve(32.0));
    assert!(one.report.converged());
    assert_eq!(one.report.iterations, other.report.iterations);
    assert_eq!(one.intercept, other.intercept);
    assert_eq!(one.coef, other.coef.iter().map(|w| 32.0 * w).collect::<Vec<_>>());
}

/// A solver that takes several steps between two certificates counts no more of them than it may.
#[test]
fn no_solver_counts_more_iterations_than_its_limit() {
    let data = clouds(0.0);
    let (smooth, kinked) = (loss("logistic"), loss("hinge"));
    let cases = [
        (&kinked, Solver::SDCA),
        (&smooth, Solver::SDCA),
        (&kinked, Solver::Bundle),
        (&kinked, Solver::ProximalNewton),
        (&smooth, Solver::Newton),
        (&smooth, Solver::MM_ACCELERATED),
    ];
    for (loss, solver) in cases {
        let objective = Objective::new(&**loss, data.design(), data.labels()).unwrap();
        for limit in 1..=40 {
            let options =
                Options { max_iterations: Some(limit), tolerance: 1e-12, ..options(solver) };
            let report = fit(&objective, lambda(1e-5), &options).unwrap().report;
            assert!(report.iterations <= limit, "{solver:?} {limit}: {report:?}");
        }
    }
}

/// Weights, scaled features and folds reach these solvers as they do every other.
#[test]
fn the_linear_support_vector_machine_is_cross_validated() {
    let data = clouds(5.0);
    let hinge = loss("hinge");
    let training = Training { standardize: true, ..Training::new(&*hinge) };
    let folds: Vec<usize> = (0..80).map(|i| i / 2 % 4).collect();
    let cv = cross_validate(&training, &data, &folds, &lambda_grid(1.0, 1e-3, 5).unwrap()).unwrap();
    assert!(cv.curve.certified.iter().all(|&certified| certified));
    assert!(cv.curve.mean_error[cv.curve.best] < 0.45);
}

#[test]
fn every_iteration_has_its_gap() {
    let data = clouds(0.0);
    let hinge = loss("hinge");
    let objective = Objective::of(&*hinge, &data).unwrap();
    for solver in [Solver::SDCA, Solver::Bundle] {
        let options = Options { history: true, ..options(solver) };
        let Fit { report, .. } = fit(&objective, lambda(1e-3), &options).unwrap();
        let (first, last) = (report.history[0], report.history[report.history.len() - 1]);
        assert!(report.history.len() > 2 && first.relative_gap > 1e-2, "{report:?}");
        assert_eq!(last.relative_gap, report.relative_gap);
        if solver == Solver::Bundle {
            assert_eq!(report.history.len(), report.iterations + 1);
            for k in 1..report.history.len() {
                assert!(report.history[k].objective <= report.history[k - 1].objective);
            }
        }
    }
}

#[test]
fn limits_and_unbounded_problems_are_reported() {
    let data = clouds(0.0);
    let hinge = loss("hinge");
    let objective = Objective::of(&*hinge, &data).unwrap();
    for solver in [Solver::SDCA, Solver::Bundle] {
        let options = Options { max_iterations: Some(1), tolerance: 1e-9, ..options(solver) };
        let report = fit(&objective, lambda(1e-4), &options).unwrap().report;
        assert_eq!(report.status, Status::IterationLimit, "{report:?}");
        assert!(report.relative_gap > 1e-9);
    }
    // One sample in twenty against a slope of 1/10: the intercept runs away.
    let rows: Vec<[f64; 1]> = (0..40).map(|i| [i as f64]).collect();
    let signs = (0..40).map(|i| if i % 20 == 0 { 1.0 } else { -1.0 }).collect();
    let (design, labels) = (Design::from_rows(&rows).unwrap(), Labels::from_signs(signs).unwrap());
    let leaky = loss("leaky-relu:lambda=0.1");
    let objective = Objective::new(&*leaky, &design, &labels).unwrap();
    for solver in [Solver::SDCA, Solver::Bundle] {
        let report = fit(&objective, lambda(1e-2), &options(solver)).unwrap().report;
        assert!(!report.converged(), "{report:?}");
    }
}

#[test]
fn the_two_agree_on_real_data() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../test-support/fixtures/data");
    agree_on(Path::new(folder), &["bupa", "heart_hungarian", "hepatitis", "spect"], 1e-2);
}

/// The table of the book: `MARGINS_DATA=folder cargo test -p margins-optim --test all dual -- --ignored
/// --nocapture`.
#[test]
#[ignore = "reads data sets from the folder that MARGINS_DATA names, and takes half a minute"]
fn the_two_agree_on_ten_data_sets() {
    let names = [
        "arrhythmia68",
        "australian",
        "banknote",
        "bupa",
        "heart_cleveland",
        "heart_hungarian",
        "hepatitis",
        "sonar",
        "spect",
        "arrhythmia",
    ];
    let folder = std::env::var("MARGINS_DATA").expect("MARGINS_DATA names a folder");
    agree_on(Path::new(&folder), &names, 1e-2);
}

/// On every convex loss; says by how much the objectives differ at most.
fn agree_on(folder: &Path, names: &[&str], at: f64) {
    for name in names {
        let file = folder.join(format!("{name}.csv.gz"));
        let data = read::dataset(&file, &ReadOptions::default()).unwrap();
        let mut most = 0.0f64;
        for specification in CONVEX_LOSSES {
            let loss = loss(specification);
            let solve = |solver| {
                let training = Training {
                    standardize: true,
                    options: options(solver),
                    ..Training::new(&*loss)
                };
                training.path(&data, &[lambda(at)]).unwrap().swap_remove(0).report
            };
            let (sdca, bundle) = (solve(Solver::SDCA), solve(Solver::Bundle));
            agree(&sdca, &bundle, &format!("{name} {specification}"));
            let difference = (sdca.objective - bundle.objective).abs();
            if difference > 1e-12 {
                most = most.max(difference / sdca.objective.abs());
            }
        }
        eprintln!("{name}: {} losses, at most {most:.1e} apart", CONVEX_LOSSES.len());
    }
}
