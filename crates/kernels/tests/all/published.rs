//! The published stopping rule against a program of a few lines that follows the paper.

use margins_kernels::KernelObjective;
use margins_losses::{LeakyHockeyStick, MarginLoss};
use margins_optim::{Lambda, Objective, Options, Solver, Status, lambda_grid};
use nalgebra::{DMatrix, DVector};

use crate::common::{circles, gram};

const CHANGE: f64 = 1e-5;
const PATH_ITERATIONS: usize = 120;

/// Returns iterations, intercept and coefficients at each lambda before the end of the path, for the
/// penalty `lambda theta' penalty theta`.
fn emulate(
    features: &DMatrix<f64>,
    penalty: &DMatrix<f64>,
    signs: &[f64],
    lambdas: &[Lambda],
) -> Vec<(usize, DVector<f64>)> {
    let n = signs.len() as f64;
    let z = features.clone().insert_column(0, 1.0);
    let penalty = penalty.clone().insert_row(0, 0.0).insert_column(0, 0.0);
    let mut theta = DVector::zeros(z.ncols());
    let (mut path, mut all) = (Vec::new(), 0);
    for lambda in lambdas {
        let majorizer = z.transpose() * &z + &penalty * (2.0 * n * lambda.get());
        let inverse = majorizer.lu();
        let mut iterations = 0;
        loop {
            if all == PATH_ITERATIONS {
                return path;
            }
            let scores = &z * &theta;
            let slope = |(f, y): (&f64, &f64)| y * LeakyHockeyStick.derivative(y * f) / n;
            let slopes = DVector::from_iterator(signs.len(), scores.iter().zip(signs).map(slope));
            let gradient = z.transpose() * slopes + &penalty * &theta * (2.0 * lambda.get());
            let step = inverse.solve(&gradient).expect("regular") * n;
            theta -= &step;
            (iterations, all) = (iterations + 1, all + 1);
            if step.norm_squared() < CHANGE {
                break;
            }
        }
        path.push((iterations, theta.clone()));
    }
    path
}

/// The same iterations at each lambda, the same points and the same end of the path, for coefficients of
/// features and of samples.
#[test]
fn the_published_rule_follows_the_paper_iterate_by_iterate() {
    let data = circles().select(&(0..14).collect::<Vec<_>>());
    let (design, labels) = (data.design(), data.labels());
    let signs = labels.signs().to_vec();
    let lambdas = lambda_grid(1.0, 1e-6, 60).expect("a grid");
    let solver = Solver::MmPublished { change: CHANGE, path_iterations: PATH_ITERATIONS };
    let options = Options { solver, ..Options::default() };
    let check = |emulated: Vec<(usize, DVector<f64>)>, fits: Vec<(Vec<f64>, f64, _, usize)>| {
        assert_eq!(fits.len(), emulated.len());
        assert!((2..lambdas.len()).contains(&fits.len()), "{}", fits.len());
        for ((coef, intercept, status, iterations), (expected, theta)) in fits.iter().zip(emulated)
        {
            assert_eq!(*iterations, expected);
            assert!(matches!(status, Status::RuleMet | Status::Converged), "{status}");
            assert!((intercept - theta[0]).abs() < 1e-9);
            let far = coef.iter().zip(&theta.as_slice()[1..]).map(|(a, b)| (a - b).abs());
            assert!(far.fold(0.0, f64::max) < 1e-7);
        }
    };

    let features = design.to_dense();
    let identity = DMatrix::identity(features.ncols(), features.ncols());
    let objective =
        Objective::new(&LeakyHockeyStick as &dyn MarginLoss, design, labels).expect("fits");
    let fits = margins_optim::path(&objective, &lambdas, &options, &|_| {}).expect("a path");
    let fits = fits.into_iter();
    let fits = fits.map(|f| (f.coef, f.intercept, f.report.status, f.report.iterations));
    check(emulate(&features, &identity, &signs, &lambdas), fits.collect());

    let gram = gram("gaussian:sigma=4", design);
    let kernel = gram.matrix().expect("held");
    let objective =
        KernelObjective::new(&LeakyHockeyStick as &dyn MarginLoss, &gram, labels).expect("fits");
    let fits = margins_kernels::path(&objective, &lambdas, &options, &|_| {}).expect("a path");
    let fits = fits.into_iter();
    let fits = fits.map(|f| (f.coef, f.intercept, f.report.status, f.report.iterations));
    check(emulate(kernel, kernel, &signs, &lambdas), fits.collect());
}
