//! Several classes in one problem, with a kernel.

use margins_data::{Classes, Dataset, Design};
use margins_kernels::features::{LandmarkSampling, NystromMap};
use margins_kernels::{Error, Gram, JointPulls, PivotedCholesky, joint_certificates, joint_path};
use margins_losses::{Hinge, LeakyHockeyStick, Logistic, MarginLoss};
use margins_optim::path::JointFit;
use margins_optim::problem::{JointForm, PenaltyFactors};
use margins_optim::{Lambda, Options, Status, Training};
use margins_test_support::{dense, kernel, lambda, loss, reference};
use nalgebra::DMatrix;
use serde::Deserialize;

/// Rows of three classes, two of which no plane separates, with weights of which one is 0.
fn three(n: usize) -> Dataset<Classes> {
    let row = |i: usize| {
        let t = i as f64;
        let radius = [0.5, 1.5, 1.5][i % 3] + 0.5 * (1.9 * t).sin();
        let angle = if i % 3 == 1 { 0.3 } else { 2.1 } * t;
        vec![radius * angle.cos(), radius * angle.sin(), (0.7 * t).cos()]
    };
    let names: Vec<&str> = (0..n).map(|i| ["a", "b", "c"][i % 3]).collect();
    let rows: Vec<Vec<f64>> = (0..n).map(row).collect();
    let data = Dataset::new(dense(&rows), Classes::new(&names).expect("three")).expect("as many");
    data.with_weights((0..n).map(|i| (i % 5) as f64).collect()).expect("weights")
}

fn training<'l>(
    loss: &'l (dyn MarginLoss + 'static),
    tolerance: f64,
) -> Training<'l, dyn MarginLoss> {
    let options = Options { tolerance, keep_duals: true, ..Options::default() };
    Training { options, ..Training::new(loss) }
}

const LAMBDAS: [f64; 3] = [1.0, 0.03, 1e-3];

fn lambdas() -> Vec<Lambda> {
    LAMBDAS.map(lambda).to_vec()
}

/// Fails unless neither of two certified fits is below what the other proves.
fn assert_compatible(one: &JointFit, other: &JointFit, case: &str) {
    let (a, b) = (&one.report, &other.report);
    let slack = 1e-10 * a.objective.abs().max(1.0);
    assert!(a.converged() && b.converged(), "{case}: {a:?} {b:?}");
    assert!(a.dual_objective <= b.objective + slack, "{case}: {a:?} {b:?}");
    assert!(b.dual_objective <= a.objective + slack, "{case}: {a:?} {b:?}");
}

/// With the linear kernel the fits are those of linear functions, `w_c = X'a_c`, and the matrix has a
/// factor of low rank.
#[test]
fn the_linear_kernel_has_the_linear_fits() {
    let data = three(60);
    let gram = Gram::new(&*kernel("linear"), data.design()).expect("finite");
    let losses: [&dyn MarginLoss; 3] = [&Logistic, &LeakyHockeyStick, &Hinge];
    for loss in losses {
        let training = training(loss, 1e-8);
        let of_kernel = joint_path(&training, JointForm::Pairwise, &data, &gram, &lambdas());
        let linear = training.joint_path(JointForm::Pairwise, &data, &lambdas()).expect("fits");
        for (one, other) in of_kernel.expect("fits").iter().zip(&linear) {
            let case = format!("{} {}", loss.specification(), one.lambda);
            assert_compatible(one, other, &case);
            let gaps = one.report.duality_gap + other.report.duality_gap;
            let most = 2.0 * (gaps / one.lambda.get()).sqrt() + 1e-10;
            for (a, w) in one.coefs.iter().zip(&other.coefs) {
                let mut of_features = vec![0.0; w.len()];
                data.design().multiply_transposed(a, &mut of_features);
                assert!(of_features.iter().zip(w).all(|(x, w)| (x - w).abs() <= most), "{case}");
            }
        }
    }
}

/// Returns F of coefficients of kernel sections by its definition.
fn value(
    (form, loss): (JointForm, &dyn MarginLoss),
    data: &Dataset<Classes>,
    gram: &Gram,
    fit: &JointFit,
) -> f64 {
    let (n, k) = (data.rows(), fit.coefs.len());
    let coefs = DMatrix::from_fn(n, k, |i, c| fit.coefs[c][i]);
    let products = gram.matrix().expect("held") * &coefs;
    let mut value = fit.lambda.get() * coefs.dot(&products);
    for i in 0..n {
        let (y, weight) = (data.labels().indices()[i] as usize, data.weights().expect("some")[i]);
        let score = |c: usize| products[(i, c)] + fit.intercepts[c];
        let rivals = (0..k).filter(|&c| c != y).map(|c| score(y) - score(c));
        let of_row = match form {
            JointForm::Pairwise => rivals.map(|u| loss.value(u)).sum::<f64>(),
            JointForm::Multinomial => (1.0 + rivals.map(|u| (-u).exp()).sum::<f64>()).ln(),
            JointForm::CrammerSinger => rivals.map(|u| 1.0 - u).fold(0.0, f64::max),
        };
        value += weight / n as f64 * of_row;
    }
    value
}

/// The eigenspace, a factor of the kernel and features of all landmarks have the same minimum, which is
/// that of the definition; the pulls of the duals give the coefficients.
#[test]
fn coordinates_of_one_kernel_agree() {
    let data = three(50);
    let kernel = kernel("gaussian:sigma=0.8");
    let gram = Gram::new(&*kernel, data.design()).expect("finite");
    let map = NystromMap::new(&*kernel, data.design(), 50, LandmarkSampling::Uniform, 1);
    let features = map.and_then(|map| map.transform(&*kernel, data.design())).expect("features");
    let factor = PivotedCholesky::new(&*kernel, data.design(), 1e-13, 50).expect("a factor");
    for (form, loss) in [
        (JointForm::Pairwise, &Logistic as &dyn MarginLoss),
        (JointForm::Pairwise, &LeakyHockeyStick),
        (JointForm::Pairwise, &Hinge),
        (JointForm::Multinomial, &Logistic),
        (JointForm::CrammerSinger, &Hinge),
    ] {
        let training = training(loss, 1e-8);
        let fits = joint_path(&training, form, &data, &gram, &lambdas()).expect("fits");
        let on_features = data.over(features.clone()).expect("as many rows");
        let on_features = training.joint_path(form, &on_features, &lambdas()).expect("fits");
        let of_factor = (&*kernel, data.design());
        let of_factor = factor.joint_path(&training, form, &data, None, of_factor, &lambdas());
        for ((one, two), three) in fits.iter().zip(&on_features).zip(of_factor.expect("fits")) {
            let case = format!("{form:?} {} {}", loss.specification(), one.lambda);
            assert_compatible(one, two, &case);
            assert_compatible(one, &three, &case);
            for fit in [one, &three] {
                let (own, report) = (value((form, loss), &data, &gram, fit), &fit.report);
                assert!((own - report.objective).abs() <= 1e-10 * own.abs(), "{case}: {own}");
            }
            let pulls = one.pulls.as_ref().expect("kept");
            let scale = 0.5 / one.lambda.get();
            let apart = |(a, r): (&Vec<f64>, &Vec<f64>)| {
                let apart: Vec<f64> = a.iter().zip(r).map(|(a, r)| a - scale * r).collect();
                gram.quadratic_form(&apart)
            };
            let square: f64 = one.coefs.iter().zip(pulls).map(apart).sum();
            let most = one.report.duality_gap + 1e-12 * one.report.objective.abs();
            assert!(one.lambda.get() * square <= most, "{case}: {square}");
            for row in 0..50 {
                let total: f64 = pulls.iter().map(|of_class| of_class[row]).sum();
                assert!(total.abs() <= 1e-15, "{case}: {total}");
            }
        }
    }
}

/// Where a factor leaves a part of the kernel out, the bounds still hold for the whole kernel, and the gap
/// says so.
#[test]
fn truncated_kernels_are_bounded_for_the_whole() {
    let data = three(60);
    let kernel = kernel("gaussian:sigma=0.8");
    let gram = Gram::new(&*kernel, data.design()).expect("finite");
    let losses: [&dyn MarginLoss; 2] = [&Logistic, &Hinge];
    for loss in losses {
        let training = training(loss, 1e-7);
        let exact = joint_path(&training, JointForm::Pairwise, &data, &gram, &lambdas());
        let exact = exact.expect("fits");
        for (tolerance, is_truncated) in [(0.2, true), (1e-3, true), (1e-13, false)] {
            let factor = PivotedCholesky::new(&*kernel, data.design(), tolerance, 60);
            let factor = factor.expect("a factor");
            let of_kernel = (&*kernel, data.design());
            let fits = factor.joint_path(
                &training,
                JointForm::Pairwise,
                &data,
                None,
                of_kernel,
                &lambdas(),
            );
            let fits = fits.expect("fits");
            for (fit, exact) in fits.iter().zip(&exact) {
                let case = format!("{} {tolerance} {}", loss.specification(), fit.lambda);
                let (found, bound) = (&fit.report, exact.report.objective);
                assert!(found.dual_objective <= bound + 1e-12, "{case}: {found:?} {bound}");
                assert!(found.objective >= exact.report.dual_objective - 1e-12, "{case}");
                assert_eq!(found.converged(), !is_truncated, "{case}: {found:?}");
                assert_eq!(found.status == Status::Truncated, is_truncated, "{case}: {found:?}");
            }
            // The same bounds for what is known of the fits on the coordinates alone.
            let coordinates = data.over(factor.coordinates().clone()).expect("as many rows");
            let known = training.joint_path(JointForm::Pairwise, &coordinates, &lambdas());
            let known = known.expect("fits");
            let known: Vec<JointPulls<'_>> = known
                .iter()
                .map(|fit| JointPulls {
                    lambda: fit.lambda,
                    certificate: fit.report.certificate(),
                    pulls: fit.pulls.iter().flatten().map(Vec::as_slice).collect(),
                })
                .collect();
            let certificates = joint_certificates(&gram, factor.coordinates(), &known);
            for (certificate, fit) in certificates.expect("certificates").iter().zip(&fits) {
                let (a, b) = (certificate.duality_gap, fit.report.duality_gap);
                assert!((a - b).abs() <= 1e-9 * (a + b) + 1e-12, "{tolerance}: {a} {b}");
            }
        }
    }
}

/// Samples of three classes with the minima of `F` that another program has found.
#[derive(Deserialize)]
struct References {
    x_rows: Vec<Vec<f64>>,
    y: Vec<u32>,
    weights: Vec<f64>,
    sigma: f64,
    solutions: Vec<Minimum>,
}

#[derive(Deserialize)]
struct Minimum {
    functions: String,
    form: String,
    loss: String,
    lambda: f64,
    objective: f64,
}

impl Minimum {
    /// Returns the fit to the data, whose features the kernel sees but for the last one if that is free.
    fn fit(&self, data: &Dataset<Classes>, sigma: f64, tolerance: f64) -> JointFit {
        let form = match self.form.as_str() {
            "joint" => JointForm::Pairwise,
            "multinomial" => JointForm::Multinomial,
            other => panic!("form {other} of the reference file"),
        };
        let (loss, lambdas) = (loss(&self.loss), [lambda(self.lambda)]);
        let options = Options { tolerance, ..Options::default() };
        let training = Training { options, ..Training::new(&*loss) };
        let kernel = kernel(&format!("gaussian:sigma={sigma}"));
        let last_free = PenaltyFactors::of_columns(vec![1.0, 0.0]).expect("factors");
        let fits = match self.functions.as_str() {
            "linear" => training.joint_path(form, data, &lambdas),
            "last-free" => {
                let training = Training { penalty: Some(&last_free), ..training };
                training.joint_path(form, data, &lambdas)
            }
            "gaussian" => {
                let gram = Gram::new(&*kernel, data.design()).expect("finite");
                Ok(joint_path(&training, form, data, &gram, &lambdas).expect("fits"))
            }
            "gaussian, last-free" => {
                let seen = data.design().select_columns(&[0]).expect("a column");
                let n = seen.rows();
                let map = NystromMap::new(&*kernel, &seen, n, LandmarkSampling::Uniform, 1);
                let features =
                    map.and_then(|map| map.transform(&*kernel, &seen)).expect("features");
                let beside = data.design().select_columns(&[1]).expect("a column");
                let mut factors = vec![1.0; features.columns() + 1];
                factors[0] = 0.0;
                let factors = PenaltyFactors::of_columns(factors).expect("factors");
                let data = data.over(beside.beside(&features).expect("as many rows"));
                let training = Training { penalty: Some(&factors), ..training };
                training.joint_path(form, &data.expect("as many rows"), &lambdas)
            }
            other => panic!("functions {other} of the reference file"),
        };
        fits.expect("a fit").remove(0)
    }
}

/// Fits reach the minima that another program has found, to 1e-9, in any order of the classes.
#[test]
fn fits_reach_the_reference_minima() {
    let References { x_rows, y, weights, sigma, solutions } = reference("joint_solutions.json");
    let names = || (0..3).map(|class| format!("class {class}")).collect::<Vec<_>>();
    let data = |y: Vec<u32>| {
        let classes = Classes::from_indices(y, names()).expect("classes");
        let data = Dataset::new(dense(&x_rows), classes).expect("as many rows");
        data.with_weights(weights.clone()).expect("weights")
    };
    const ORDER: [usize; 3] = [2, 0, 1];
    let (as_given, permuted) =
        (data(y.clone()), data(y.iter().map(|&y| ORDER[y as usize] as u32).collect()));
    assert!(solutions.len() >= 72, "{}", solutions.len());
    for minimum in &solutions {
        let Minimum { functions, form, loss, lambda, objective } = minimum;
        let case = format!("{functions} {form} {loss} {lambda}: {objective}");
        let fits = [&as_given, &permuted].map(|data| minimum.fit(data, sigma, 5e-10));
        for fit in &fits {
            let report = &fit.report;
            let ends = [Status::Converged, Status::RoundingLimit];
            assert!(ends.contains(&report.status), "{case} {report:?}");
            let size = objective.abs().max(1.0);
            assert!((report.objective - objective).abs() <= 1e-9 * size, "{case} {report:?}");
            assert!(report.dual_objective <= objective + 1e-11 * size, "{case} {report:?}");
        }
        let [one, other] = fits;
        let gaps = one.report.duality_gap + other.report.duality_gap;
        let free = usize::from(functions == "gaussian, last-free");
        for (class, coef) in one.coefs.iter().enumerate() {
            let of_other = &other.coefs[ORDER[class]];
            let apart: Vec<f64> = coef.iter().zip(of_other).map(|(a, b)| a - b).collect();
            let square = match functions.as_str() {
                "gaussian" => {
                    let kernel = kernel(&format!("gaussian:sigma={sigma}"));
                    Gram::new(&*kernel, as_given.design()).expect("finite").quadratic_form(&apart)
                }
                "last-free" => apart[0] * apart[0],
                _ => apart[free..].iter().map(|w| w * w).sum(),
            };
            assert!(lambda * square <= 2.0 * gaps + 1e-12, "{case}: {square}");
        }
    }
}

/// A matrix without a factor of low rank has to be in memory.
#[test]
fn a_matrix_that_is_not_held_is_refused() {
    let data = three(30);
    let memory = margins_data::Memory::from_bytes(1 << 18);
    let kernel = std::sync::Arc::from(kernel("gaussian:sigma=5"));
    let gram = Gram::matrix_free(kernel, data.design().clone(), memory).expect("a matrix");
    let training = training(&Logistic, 1e-6);
    let fits = joint_path(&training, JointForm::Pairwise, &data, &gram, &lambdas());
    assert!(matches!(fits, Err(Error::NotHeld { .. })), "{fits:?}");
    let few = data.select(&[0, 1, 2]);
    let fits = joint_path(&training, JointForm::Pairwise, &few, &gram, &lambdas());
    assert!(matches!(fits, Err(Error::Shape { expected: 30, found: 3, .. })), "{fits:?}");
    let features: Design = dense(&[vec![0.0]]);
    assert!(joint_certificates(&gram, &features, &[]).is_err());
}
