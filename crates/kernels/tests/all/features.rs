//! Nystrom features against the kernels that they stand for.

use margins_data::{Dataset, Design, Labels};
use margins_kernels::features::{LandmarkSampling, NystromMap};
use margins_kernels::{Gram, combine};
use margins_losses::{LeakyHockeyStick, MarginLoss};
use margins_optim::{Lambda, Objective, Options, fit};
use margins_test_support::{kernel, on_threads};
use nalgebra::DMatrix;
use nalgebra_sparse::CsrMatrix;

const KERNELS: [&str; 6] = [
    "linear",
    "gaussian:sigma=0.5",
    "laplacian:sigma=0.7",
    "matern52:length=2",
    "poly:degree=2",
    "anova:sigma=0.5,degree=2+gaussian:sigma=1",
];

/// Rows of three features with zeros among them, the last three of which repeat others.
fn rows(n: usize) -> Vec<Vec<f64>> {
    let entry = |i: usize, j: usize| {
        let value = 1.5 * ((i * 3 + j) as f64 * 1.7).sin();
        if value.abs() < 0.4 { 0.0 } else { value }
    };
    (0..n)
        .map(|i| if i + 3 < n { i } else { n - 1 - i })
        .map(|i| (0..3).map(|j| entry(i, j)).collect())
        .collect()
}

fn dense(n: usize) -> Design {
    Design::from_rows(&rows(n)).unwrap()
}

fn sparse(n: usize) -> Design {
    let matrix = DMatrix::from_row_iterator(n, 3, rows(n).into_iter().flatten());
    Design::sparse(CsrMatrix::from(&matrix)).unwrap()
}

/// `Phi Phi'`.
fn products(features: &Design) -> DMatrix<f64> {
    let phi = features.to_dense();
    &phi * phi.transpose()
}

#[test]
fn all_samples_as_landmarks_reproduce_the_kernel() {
    for design in [dense(40), sparse(40)] {
        for specification in KERNELS {
            let kernel = kernel(specification);
            let gram = Gram::new(&*kernel, &design).unwrap();
            for m in [40, 1000] {
                let map =
                    NystromMap::new(&*kernel, &design, m, LandmarkSampling::Uniform, 3).unwrap();
                // Rows 37 to 39 are copies, which add no dimension.
                assert!(map.features() <= 37, "{specification}: {}", map.features());
                assert_eq!(map.landmarks().rows(), map.features());
                let features = map.transform(&*kernel, &design).unwrap();
                assert_eq!((features.rows(), features.columns()), (40, map.features()));
                let error = (products(&features) - gram.matrix().unwrap()).amax();
                assert!(error <= 1e-8 * gram.matrix().unwrap().amax(), "{specification}: {error}");
            }
        }
    }
}

#[test]
fn features_have_the_rank_of_the_kernel() {
    let design = dense(40);
    for (specification, rank) in [("linear", 3), ("poly:degree=2", 10), ("poly:degree=1", 4)] {
        let kernel = kernel(specification);
        let map = NystromMap::new(&*kernel, &design, 40, LandmarkSampling::Uniform, 0).unwrap();
        assert_eq!(map.features(), rank, "{specification}");
    }
}

#[test]
fn fewer_landmarks_are_exact_between_landmarks_and_never_above_the_kernel() {
    let design = dense(50);
    let sparse = sparse(50);
    for specification in KERNELS {
        let kernel = kernel(specification);
        let map = NystromMap::new(&*kernel, &design, 12, LandmarkSampling::Uniform, 5).unwrap();
        let gram = Gram::new(&*kernel, map.landmarks()).unwrap();
        let between = products(&map.transform(&*kernel, map.landmarks()).unwrap());
        assert!(map.features() <= 12);
        let error = (between - gram.matrix().unwrap()).amax();
        assert!(error <= 1e-8 * gram.matrix().unwrap().amax(), "{specification}: {error}");
        // The kernel less its projection is positive semidefinite.
        let whole = Gram::new(&*kernel, &design).unwrap();
        let features = map.transform(&*kernel, &design).unwrap();
        let rest = whole.matrix().unwrap() - products(&features);
        let least = rest.symmetric_eigenvalues().min();
        assert!(least >= -1e-9 * whole.matrix().unwrap().trace(), "{specification}: {least}");
        // Dense landmarks serve sparse samples.
        let other = map.transform(&*kernel, &sparse).unwrap();
        let difference = (features.to_dense() - other.to_dense()).amax();
        assert!(difference <= 1e-6, "{specification}: {difference} sparse");
    }
}

#[test]
fn features_do_not_depend_on_threads_or_blocks() {
    // 300 rows and 270 landmarks cross the block of 256.
    let design = dense(300);
    let kernel = kernel("gaussian:sigma=2");
    let make = || {
        let map = NystromMap::new(&*kernel, &design, 270, LandmarkSampling::Uniform, 5).unwrap();
        let features = map.transform(&*kernel, &design).unwrap();
        (map, features)
    };
    let (map, features) = on_threads(1, make);
    assert!(on_threads(2, make) == (map.clone(), features.clone()));
    let landmarks = Gram::new(&*kernel, map.landmarks()).unwrap();
    let between = products(&map.transform(&*kernel, map.landmarks()).unwrap());
    assert!((between - landmarks.matrix().unwrap()).amax() <= 1e-8);
    let first: Vec<usize> = (0..5).chain(295..300).collect();
    let alone = map.transform(&*kernel, &design.select(&first)).unwrap();
    let difference = (alone.to_dense() - features.select(&first).to_dense()).amax();
    assert!(difference <= 1e-6, "{difference}");
}

#[test]
fn leverage_landmarks_are_as_many_as_asked_and_the_same_for_a_seed() {
    let design = dense(60);
    let kernel = kernel("gaussian:sigma=5");
    let leverage = LandmarkSampling::Leverage { lambda: 1e-3 };
    for m in [4, 9, 59, 60, 61] {
        let on = |seed| NystromMap::new(&*kernel, &design, m, leverage, seed).unwrap();
        let map = on(11);
        // Three of the samples are copies of others.
        assert!((m.min(60) - 3..=m.min(57)).contains(&map.landmarks().rows()));
        assert_eq!(on_threads(2, || on(11)), map);
    }
    let on = |seed| NystromMap::new(&*kernel, &design, 9, leverage, seed).unwrap();
    assert_ne!(on(11).landmarks(), on(12).landmarks());
}

#[test]
fn leverage_prefers_samples_that_others_do_not_explain() {
    // 90 samples that are about the same, and ten apart from these with only a neighbour or two.
    let rows: Vec<[f64; 2]> =
        (0..100)
            .map(|i| {
                if i < 90 { [1e-3 * f64::from(i % 7), 0.0] } else { [0.0, 5.0 + f64::from(i - 89)] }
            })
            .collect();
    let design = Design::from_rows(&rows).unwrap();
    let kernel = kernel("gaussian:sigma=0.5");
    let apart = |landmarks| -> usize {
        let count = |seed| {
            let map = NystromMap::new(&*kernel, &design, 20, landmarks, seed).unwrap();
            map.landmarks().samples().filter(|x| x.dot(&[0.0, 1.0]) > 0.0).count()
        };
        (0..50).map(count).sum()
    };
    // A uniform draw finds each with probability 0.2: 100 of 500, with a deviation below 9.
    let uniform = apart(LandmarkSampling::Uniform);
    let leverage = apart(LandmarkSampling::Leverage { lambda: 1e-4 });
    assert!(uniform < 130 && leverage > 200, "{uniform} uniform, {leverage} leverage");
}

#[test]
fn kernel_coefficients_score_as_the_linear_classifier_on_features() {
    let design = dense(60);
    let signs: Vec<f64> =
        rows(60).iter().map(|x| if x[0] * x[1] + 0.3 * x[2] > 0.1 { 1.0 } else { -1.0 }).collect();
    let data = Dataset::new(design, Labels::from_signs(signs).unwrap()).unwrap();
    for specification in KERNELS {
        let kernel = kernel(specification);
        let map =
            NystromMap::new(&*kernel, data.design(), 15, LandmarkSampling::Uniform, 1).unwrap();
        let features = map.transform(&*kernel, data.design()).unwrap();
        let objective =
            Objective::new(&LeakyHockeyStick as &dyn MarginLoss, &features, data.labels()).unwrap();
        let fit = fit(&objective, Lambda::new(0.01).unwrap(), &Options::default()).unwrap();
        assert!(fit.report.converged());
        let coef = map.kernel_coefficients(&fit.coef);
        assert_eq!(coef.len(), map.landmarks().rows());
        let scores = combine(&*kernel, data.design(), map.landmarks(), &coef).unwrap();
        for (ours, theirs) in scores.iter().zip(fit.decision_function(&features)) {
            let (ours, size) = (ours + fit.intercept, theirs.abs().max(1.0));
            assert!((ours - theirs).abs() <= 1e-7 * size, "{specification}: {ours} {theirs}");
        }
    }
}

#[test]
#[should_panic(expected = "one coefficient per feature")]
fn kernel_coefficients_need_one_coefficient_a_feature() {
    let design = dense(10);
    let kernel = kernel("linear");
    let map = NystromMap::new(&*kernel, &design, 10, LandmarkSampling::Uniform, 1).unwrap();
    map.kernel_coefficients(&[1.0; 4]);
}

#[test]
fn equal_landmarks_and_a_kernel_of_zeros_still_make_a_map() {
    let design = Design::from_rows(&[[1.0, 2.0]; 5]).unwrap();
    let map = NystromMap::on(&*kernel("gaussian:sigma=1"), &design).unwrap();
    assert_eq!(map.features(), 1);
    let features = map.transform(&*kernel("gaussian:sigma=1"), &design).unwrap();
    assert!(products(&features).iter().all(|k| (k - 1.0).abs() < 1e-14));
    let zeros = Design::from_rows(&[[0.0, 0.0]; 5]).unwrap();
    let map = NystromMap::on(&*kernel("linear"), &zeros).unwrap();
    let features = map.transform(&*kernel("linear"), &zeros).unwrap();
    assert!(products(&features).iter().all(|&k| k == 0.0));
}

#[test]
fn maps_that_cannot_be_made_are_refused() {
    let design = dense(10);
    let kernel = kernel("gaussian:sigma=1");
    let none = NystromMap::new(&*kernel, &design, 0, LandmarkSampling::Uniform, 0).unwrap_err();
    assert_eq!(none.to_string(), "a feature map needs at least 1 features, found 0");
    let narrow = Design::from_rows(&[[1.0, 2.0]]).unwrap();
    let map = NystromMap::new(&*kernel, &design, 5, LandmarkSampling::Uniform, 0).unwrap();
    let error = map.transform(&*kernel, &narrow).unwrap_err();
    assert_eq!(error.to_string(), "features: expected 3, found 2");
    let huge = Design::from_rows(&[[1e200], [1.0]]).unwrap();
    let linear = self::kernel("linear");
    let error = NystromMap::on(&*linear, &huge).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel 'linear' of rows 0 and 0 is inf; scale the features first"
    );
}
