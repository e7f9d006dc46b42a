//! The large-margin distribution machine in kernel spaces, beside independent solvers.

use margins_data::generate::{Example, GaussianMixture};
use margins_estimators::regularised::margin_distribution;
use margins_kernels::{Gaussian, Gram, KernelFit, KernelObjective, Linear, svm};
use margins_losses::{Hinge, MarginLoss};
use margins_optim::{Lambda, Objective, Options};
use margins_robust::MarginDistribution;
use nalgebra::{DMatrix, DVector};

fn options() -> Options<'static> {
    Options { tolerance: 1e-8, ..Options::default() }
}

fn fit(
    machine: &MarginDistribution,
    objective: &KernelObjective<'_, dyn MarginLoss>,
    lambda: Lambda,
) -> KernelFit {
    let fits = margin_distribution(machine, objective, &[lambda], &options(), &|_| {});
    fits.expect("convex").swap_remove(0)
}

#[test]
fn without_moments_it_is_the_support_vector_machine() {
    let data = GaussianMixture::example(Example::One, 1).and_then(|m| m.sample(80, 2));
    let data = data.expect("valid");
    let gram = Gram::new(&Gaussian::new(2.0).expect("valid"), data.design()).expect("finite");
    let objective =
        KernelObjective::new(&Hinge as &dyn MarginLoss, &gram, data.labels()).expect("fits");
    let machine = MarginDistribution::new(0.0, 0.0).expect("valid");
    let objective = objective.without_intercept();
    for lambda in [0.1, 0.01, 0.001] {
        let lambda = Lambda::new(lambda).expect("positive");
        let ours = fit(&machine, &objective, lambda);
        let signs = data.labels().signs();
        let theirs = svm::fit(&gram, signs, None, false, lambda, &options()).expect("fits");
        assert!(ours.report.converged() && theirs.report.converged());
        let (one, other) = (ours.report.objective, theirs.report.objective);
        assert!((one - other).abs() <= 1e-6 * other, "{lambda}: {one} is not {other}");
    }
}

/// With an intercept and moments: the objective by its definition, no lower than the bound and no
/// higher than at points nearby.
#[test]
fn the_certificate_is_that_of_the_kernel_problem() {
    let data = GaussianMixture::example(Example::One, 3).and_then(|m| m.sample(60, 4));
    let data = data.expect("valid");
    let gram = Gram::new(&Gaussian::new(1.0).expect("valid"), data.design()).expect("finite");
    let objective =
        KernelObjective::new(&Hinge as &dyn MarginLoss, &gram, data.labels()).expect("fits");
    let (mu, nu, lambda) = (0.4, 0.9, 0.01);
    let machine = MarginDistribution::new(mu, nu).expect("valid");
    let strength = Lambda::new(lambda).expect("positive");
    let fit = fit(&machine, &objective, strength);
    assert!(fit.report.converged(), "{:?}", fit.report);
    let value = |b: f64, a: &[f64]| {
        let products = gram.matrix().unwrap() * DVector::from_column_slice(a);
        let signs = data.labels().signs();
        let margins: Vec<f64> = products.iter().zip(signs).map(|(f, y)| y * (b + f)).collect();
        let n = margins.len() as f64;
        let mean = margins.iter().sum::<f64>() / n;
        let terms = margins.iter().map(|u| (1.0 - u).max(0.0) - mu * u + nu * (u - mean).powi(2));
        let penalty = products.dot(&DVector::from_column_slice(a));
        terms.sum::<f64>() / n + lambda * penalty
    };
    let at_fit = value(fit.intercept, &fit.coef);
    assert!((at_fit - fit.report.objective).abs() <= 1e-10 * at_fit.abs());
    for k in 0..60 {
        let mut moved = fit.coef.clone();
        moved[k] += if k % 2 == 0 { 1e-2 } else { -1e-2 };
        assert!(value(fit.intercept, &moved) >= fit.report.dual_objective);
    }
}

#[test]
fn the_linear_kernel_gives_the_linear_machine() {
    let data = GaussianMixture::example(Example::One, 5).and_then(|m| m.sample(50, 6));
    let data = data.expect("valid");
    let gram = Gram::new(&Linear, data.design()).expect("finite");
    let machine = MarginDistribution::new(1.0, 0.5).expect("valid");
    let lambda = Lambda::new(0.05).expect("positive");
    let objective =
        KernelObjective::new(&Hinge as &dyn MarginLoss, &gram, data.labels()).expect("fits");
    let kernel = fit(&machine, &objective, lambda);
    let objective =
        Objective::new(&Hinge as &dyn MarginLoss, data.design(), data.labels()).expect("fits");
    let linear = machine.fit(&objective, lambda, &options()).expect("convex");
    let coef = DMatrix::from_row_slice(1, 50, &kernel.coef);
    let scores = gram.matrix().unwrap() * coef.transpose();
    let expected = linear.decision_function(data.design());
    for (f, g) in scores.iter().zip(&expected) {
        assert!((f + kernel.intercept - g).abs() < 1e-3, "{f} {g}");
    }
    assert!((kernel.report.objective - linear.report.objective).abs() <= 2e-8);
}
