//! Kernel matrices that are never held, against those that are.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use margins_data::{Dataset, Design, Labels, Memory, Sample};
use margins_kernel_functions::Error as KernelError;
use margins_kernels::{
    Block, Error, Gaussian, Gram, Kernel, KernelFit, KernelObjective, KnownFunction, Laplacian,
    PlannedPaths, Route, Watched, certify, cross_validate, leave_one_out, path, svm,
};
use margins_losses::{LeakyHockeyStick, Logistic, MarginLoss};
use margins_optim::{Options, Training, lambda_grid};
use margins_test_support::lambda;
use nalgebra::DMatrix;

/// Two noisy rings, some points of which are there twice.
fn rings(n: usize) -> (Design, Vec<f64>) {
    let point = |i: usize| {
        let i = i - usize::from(i % 50 == 49);
        let (t, noise) = (i as f64, ((i * i) as f64 * 0.7).sin());
        let radius = if i.is_multiple_of(2) { 1.0 } else { 1.6 } + 0.5 * noise;
        [radius * t.cos(), radius * t.sin()]
    };
    let rows: Vec<[f64; 2]> = (0..n).map(point).collect();
    let signs = (0..n).map(|i| if i.is_multiple_of(2) { 1.0 } else { -1.0 });
    (Design::from_rows(&rows).unwrap(), signs.collect())
}

/// So little memory that working sets are of the least size and ranks are small.
const LITTLE: Memory = Memory::from_bytes(1 << 18);

fn both(kernel: impl Kernel + 'static, design: &Design) -> (Gram, Gram) {
    let held = Gram::new(&kernel, design).unwrap();
    (held, Gram::matrix_free(Arc::new(kernel), design.clone(), LITTLE).unwrap())
}

/// Products of n terms of size at most 1 differ by their rounding.
#[test]
fn products_agree_with_the_matrix() {
    for n in [1, 2, 255, 256, 257, 600] {
        let (design, _) = rings(n);
        let (held, free) = both(Laplacian::new(1.0).unwrap(), &design);
        assert!(free.matrix().is_none());
        for share in [1, 3, n + 1] {
            let entry = |i: usize, k: usize| {
                if (i + 1).is_multiple_of(share) { ((3 * i + k) as f64).cos() } else { 0.0 }
            };
            let x = DMatrix::from_fn(n, 3, entry);
            let apart = (held.multiply(&x) - free.multiply(&x)).amax();
            assert!(apart <= 4.0 * f64::EPSILON * n as f64, "{n} {share}: {apart}");
            let column: Vec<f64> = x.column(0).iter().copied().collect();
            let (one, other) = (held.quadratic_form(&column), free.quadratic_form(&column));
            assert!((one - other).abs() <= 4.0 * f64::EPSILON * (n * n) as f64, "{one} {other}");
        }
        let some: Vec<usize> = (0..n).step_by(3).collect();
        let all: Vec<usize> = (0..n).collect();
        // Samples are centred otherwise. Squares down to 1e-6 of the norms come from products, with
        // an error of some 8 u of the norms: 1e-12 of their root is that of the distance.
        assert!((held.cross_of(&some, &all) - free.cross_of(&some, &all)).amax() <= 1e-11);
        let part = free.select(&some);
        assert_eq!(part.cross_of(&[0], &[0]), held.cross_of(&[0], &[0]));
    }
}

/// The minimum lies between F less the gap and F, for either solver.
fn agree(one: &KernelFit, other: &KernelFit) {
    for fit in [one, other] {
        assert!(fit.report.converged(), "{:?}", fit.report);
    }
    let (one, other) = (&one.report, &other.report);
    let slack = |report: &margins_optim::Report| report.duality_gap.max(0.0) + report.rounding;
    let apart = one.objective - other.objective;
    assert!(apart <= slack(one) && -apart <= slack(other), "{one:?} {other:?}");
}

/// Enough samples for several working sets and for a start from a fourth of the samples.
#[test]
fn the_support_vector_machine_has_the_same_minima() {
    let n = 1300;
    let (design, signs) = rings(n);
    let (held, free) = both(Gaussian::new(2.0).unwrap(), &design);
    let weights: Vec<f64> = (0..n).map(|i| f64::from(u8::try_from(i % 5).unwrap())).collect();
    let lambdas = lambda_grid(0.1, 1e-5, 5).unwrap();
    for (weights, intercept) in [(None, true), (None, false), (Some(&weights[..]), true)] {
        let fits = |gram| {
            svm::path(gram, &signs, weights, intercept, &lambdas, &Options::default()).unwrap()
        };
        let (held, free) = (fits(&held), fits(&free));
        for (one, other) in held.iter().zip(&free) {
            agree(one, other);
            if let Some(weights) = weights {
                let held_out = other.coef.iter().zip(weights).filter(|(_, c)| **c == 0.0);
                assert!(held_out.into_iter().all(|(a, _)| *a == 0.0));
            }
        }
    }
}

/// The certificate counts the rounding of updates: it must hold for recomputed scores.
#[test]
fn certificates_hold_for_scores_computed_anew() {
    let n = 1300;
    let (design, signs) = rings(n);
    let (held, free) = both(Gaussian::new(2.0).unwrap(), &design);
    let options = Options { tolerance: 1e-9, ..Options::default() };
    let fits = svm::path(&free, &signs, None, true, &lambda_grid(0.1, 1e-4, 3).unwrap(), &options);
    for fit in fits.unwrap() {
        assert!(fit.report.converged());
        let scores = held.multiply(&DMatrix::from_column_slice(n, 1, &fit.coef));
        let risk: f64 =
            signs.iter().zip(&scores).map(|(y, f)| (1.0 - y * (fit.intercept + f)).max(0.0)).sum();
        let square: f64 = fit.coef.iter().zip(&scores).map(|(a, f)| a * f).sum();
        let objective = risk / n as f64 + fit.lambda.get() * square;
        let apart = (objective - fit.report.objective).abs();
        assert!(apart <= fit.report.rounding, "{apart:e} {:?}", fit.report);
    }
}

#[test]
fn cross_validation_needs_no_matrix() {
    let n = 200;
    let (design, signs) = rings(n);
    let labels = Labels::from_signs(signs).unwrap();
    let (held, free) = both(Gaussian::new(1.0).unwrap(), &design);
    let data = Dataset::new(design, labels).unwrap();
    let folds: Vec<usize> = (0..n).map(|i| (i / 2) % 4).collect();
    // At a looser tolerance the score of a sample may have either sign.
    let options = Options { tolerance: 1e-10, ..Options::default() };
    let training = Training { options, ..Training::new(&Logistic) };
    let lambdas = lambda_grid(0.1, 1e-3, 3).unwrap();
    let curve = |gram| cross_validate(&training, &data, gram, &folds, &lambdas).unwrap();
    assert_eq!(curve(&held).mean_error, curve(&free).mean_error);
}

#[test]
fn what_needs_the_matrix_says_so() {
    let (design, signs) = rings(40);
    let labels = Labels::from_signs(signs).unwrap();
    let (_, free) = both(Gaussian::new(1.0).unwrap(), &design);
    let refused = free.eigenspace().unwrap_err().to_string();
    assert!(refused.contains("its eigenspace needs the kernel matrix of 40 rows"), "{refused}");
    assert!(refused.contains("Allow 12.8 kB, or use Nystrom"), "{refused}");
    let objective = KernelObjective::new(&Logistic as &dyn MarginLoss, &free, &labels).unwrap();
    let options = Options::default();
    let fit = margins_kernels::fit(&objective, lambda(0.01), &options).unwrap();
    let refused = leave_one_out(&objective, &fit, &options).unwrap_err().to_string();
    assert!(refused.contains("leave-one-out needs the kernel matrix"), "{refused}");
}

/// A kernel that claims to be one and has no value between distant samples, for a reason or not.
#[derive(Debug)]
struct Torn(Option<&'static str>);

impl Kernel for Torn {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        let square = x.squared_distance(z);
        if square > 6.0 { f64::NAN } else { (-square).exp() }
    }

    fn refusal(&self, _sample: &Sample<'_>) -> Option<String> {
        self.0.map(str::to_owned)
    }

    fn is_positive_semidefinite(&self) -> bool {
        true
    }
}

#[test]
fn a_value_that_is_no_number_is_named() {
    let (design, signs) = rings(300);
    let labels = Labels::from_signs(signs.clone()).unwrap();
    let of = |kernel: Torn| Gram::matrix_free(Arc::new(kernel), design.clone(), LITTLE).unwrap();
    let free = || of(Torn(None));
    let gram = free();
    let objective = KernelObjective::new(&Logistic as &dyn MarginLoss, &gram, &labels).unwrap();
    let options = Options::default();
    let refused = margins_kernels::fit(&objective, lambda(0.01), &options).unwrap_err();
    let of_hinge = svm::fit(&free(), &signs, None, true, lambda(0.01), &options).unwrap_err();
    for error in [refused, of_hinge] {
        let Error::Kernel(KernelError::KernelValue { one, other, value, .. }) = error else {
            panic!("{error}")
        };
        let (x, z) = (design.sample(one), design.sample(other));
        assert!(value.is_nan() && x.squared_distance(&z) > 6.0);
    }
    let refused = svm::fit(&of(Torn(Some("too far"))), &signs, None, true, lambda(0.01), &options);
    let Error::Kernel(KernelError::Refused { one, other, reason, .. }) = refused.unwrap_err()
    else {
        panic!("another error")
    };
    assert_eq!(reason, "too far");
    assert!(design.sample(one).squared_distance(&design.sample(other)) > 6.0);
}

#[test]
fn the_memory_decides_what_is_held() {
    let (design, _) = rings(100);
    let kernel: Arc<dyn Kernel> = Arc::new(Gaussian::new(1.0).unwrap());
    let planned = PlannedPaths::one(Route::SampleSpace, 1);
    let memory = |bytes| Some(Memory::from_bytes(bytes));
    let within = |bytes| Gram::within(&kernel, &design, memory(bytes), &planned, None).unwrap();
    assert!(within(80_000).matrix().is_some());
    assert!(within(79_999).matrix().is_none());
    // What else is planned counts, in one total.
    for route in [Route::SampleSpace, Route::Eigenspace, Route::LeaveOneOut] {
        let planned = PlannedPaths { beside: 1 << 46, ..PlannedPaths::one(route, 1) };
        let refused = Gram::within(&kernel, &design, None, &planned, None).unwrap_err();
        assert!(matches!(refused, Error::Memory { n: 100, .. }), "{refused}");
        assert!(refused.to_string().contains("about 70368."), "{refused}");
    }
    let sigmoid: Arc<dyn Kernel> = Arc::new(margins_kernels::Sigmoid::new(1.0, 0.0).unwrap());
    let refused = Gram::within(&sigmoid, &design, memory(1), &planned, None).unwrap_err();
    assert!(matches!(refused, Error::NotHeld { n: 100, .. }), "{refused}");
    let words = refused.to_string();
    assert!(words.contains("Allow 80 kB, or use Nystrom"), "{words}");
}

/// A function of other coefficients than the best is a function of the space, whose norm is known.
fn known<'r, 'a, L: MarginLoss + ?Sized>(
    objective: &'r KernelObjective<'a, L>,
    fit: &KernelFit,
    share: f64,
) -> KnownFunction<'r, 'a, L> {
    let n = fit.coef.len();
    let coef = DMatrix::from_fn(n, 1, |i, _| share * fit.coef[i]);
    let scores = objective.gram().multiply(&coef).as_slice().to_vec();
    let square_norm = coef.iter().zip(&scores).map(|(a, f)| a * f).sum();
    let KernelFit { lambda, intercept, .. } = *fit;
    let risk = objective.risk();
    KnownFunction { risk, lambda, intercept, scores, square_norm, duals: None }
}

#[test]
fn known_functions_are_certified_for_the_kernel() {
    let (design, signs) = rings(300);
    let labels = Labels::from_signs(signs).unwrap();
    let (held, free) = both(Gaussian::new(1.0).unwrap(), &design);
    let objective =
        KernelObjective::new(&LeakyHockeyStick as &dyn MarginLoss, &held, &labels).unwrap();
    let options = Options { tolerance: 1e-10, ..Options::default() };
    for fit in path(&objective, &lambda_grid(0.1, 1e-3, 3).unwrap(), &options, &|_| {}).unwrap() {
        let minimum = fit.report.objective;
        let shares = [1.0, 0.99, 0.5, 0.0];
        let functions: Vec<_> = shares.iter().map(|&s| known(&objective, &fit, s)).collect();
        let certificates = certify(&free, &functions).unwrap();
        assert!(certificates[0].relative_gap() <= 1e-8, "{:?}", certificates[0]);
        for certificate in &certificates[1..] {
            assert!(certificate.objective > minimum, "{certificate:?}");
            assert!(certificate.dual_objective() <= minimum, "{certificate:?}");
        }
        // Nearer functions have smaller gaps.
        assert!(certificates.is_sorted_by(|a, b| a.duality_gap < b.duality_gap));
    }
}

/// A Gaussian kernel that counts the blocks that it has filled.
#[derive(Debug)]
struct Counted(Gaussian, Arc<AtomicUsize>);

impl Kernel for Counted {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        self.0.value(x, z)
    }

    fn is_positive_semidefinite(&self) -> bool {
        true
    }

    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.fill(block, out);
    }
}

#[test]
fn work_that_is_interrupted_ends_before_the_next_block() {
    let (design, signs) = rings(600);
    let labels = Labels::from_signs(signs.clone()).unwrap();
    let options = Options { tolerance: 1e-9, ..Options::default() };
    // The matrix that is never held asks for 600 values of samples with themselves first.
    for limit in [600, 601, 603, 607, 612] {
        let filled = Arc::new(AtomicUsize::new(0));
        let watched = || -> Arc<dyn Kernel> {
            filled.store(0, Ordering::Relaxed);
            let so_far = filled.clone();
            let kernel = Counted(Gaussian::new(1.0).unwrap(), filled.clone());
            Arc::new(Watched::new(kernel, move || match so_far.load(Ordering::Relaxed) < limit {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }))
        };
        let free = || Gram::matrix_free(watched(), design.clone(), LITTLE).unwrap();
        let gram = free();
        let objective = KernelObjective::new(&Logistic as &dyn MarginLoss, &gram, &labels).unwrap();
        let smooth = margins_kernels::fit(&objective, lambda(0.01), &options).unwrap_err();
        assert!(smooth.is_interrupted(), "{smooth}");
        let in_time = |filled: usize| assert!((limit..limit + 8).contains(&filled), "{filled}");
        in_time(filled.load(Ordering::Relaxed));
        let hinge = svm::fit(&free(), &signs, None, true, lambda(0.01), &options).unwrap_err();
        assert!(hinge.is_interrupted(), "{hinge}");
        in_time(filled.load(Ordering::Relaxed));
    }
}
