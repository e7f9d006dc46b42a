//! Kernels, their values, specifications and the width of a kernel from data.

use crate::common::matrix;
use margins_data::{Design, Sample};
use margins_kernel_functions::{
    Anova, Bessel, Gaussian, Kernel, KernelRegistry, Laplacian, Linear, Matern32, Matern52,
    Polynomial, Product, SigmaRange, Sigmoid, Spline, Sum, combine, combine_all, diagonal,
};
use margins_test_support::{KERNELS, dense, kernel, relatively_close, rows_with_zeros, sparse};
use nalgebra::DMatrix;

#[test]
fn kernels_have_the_formulas_of_their_documentation() {
    let design = Design::from_rows(&[[1.0, 2.0], [3.0, -1.0]]).unwrap();
    let of = |kernel: &dyn Kernel| kernel.value(&design.sample(0), &design.sample(1));
    // <x, z> = 1, ||x - z||^2 = 4 + 9 = 13.
    let root = 13f64.sqrt();
    let (three, five) = (39f64.sqrt() / 2.0, 65f64.sqrt() / 2.0);
    let cases = [
        ("linear", 1.0),
        ("gaussian:sigma=0.1", (-1.3f64).exp()),
        ("laplacian:sigma=0.1", (-0.1 * root).exp()),
        ("matern32:length=2", (1.0 + three) * (-three).exp()),
        ("matern52:length=2", (1.0 + five + five * five / 3.0) * (-five).exp()),
        ("poly:degree=3,scale=2,offset=0.5", 2.5 * 2.5 * 2.5),
        ("sigmoid:scale=0.5,offset=0.25", 0.75f64.tanh()),
        ("anova:sigma=0.1,degree=2", ((-0.4f64).exp() + (-0.9f64).exp()).powi(2)),
        ("bessel:sigma=0.3,order=0.5,degree=2", ((0.3 * root).sin() / (0.3 * root)).powi(2)),
        ("linear+linear*poly:degree=1,scale=2,offset=3", 1.0 + 5.0),
    ];
    for (specification, want) in cases {
        let value = of(&*kernel(specification));
        assert!(relatively_close(value, want, 1e-15), "{specification}: {value} {want}");
    }
}

#[test]
fn positive_semidefinite_kernels_have_no_negative_eigenvalue() {
    let rows = rows_with_zeros(60, 3);
    for design in [dense(&rows), sparse(&rows)] {
        for specification in &KERNELS[..KERNELS.len() - 1] {
            let gram = matrix(&*kernel(specification), &design).unwrap();
            let least = gram.symmetric_eigenvalues().min();
            let trace = gram.trace();
            assert!(least >= -1e-10 * trace, "{specification}: {least} of {trace}");
        }
    }
}

/// The points of a cross have a matrix of negative eigenvalues if they are in more than `2 V + 2`
/// dimensions, and of none in as many.
#[test]
fn a_bessel_kernel_is_positive_semidefinite_up_to_twice_its_order_and_two() {
    let cross = |p: usize| -> Vec<Vec<f64>> {
        let row = |i: usize, sign: f64| (0..p).map(|j| if i == j { sign } else { 0.0 }).collect();
        (0..p).flat_map(|i| [row(i, 1.0), row(i, -1.0)]).collect()
    };
    for order in [0.0, 0.5, 1.0, 3.0] {
        let p = (2.0 * order + 2.0) as usize;
        for sigma in [0.5, 1.0, 2.0, 3.0, 5.0] {
            let gram = matrix(&Bessel::new(sigma, order, 1.0).unwrap(), &dense(&cross(p))).unwrap();
            let least = gram.symmetric_eigenvalues().min();
            assert!(least >= -1e-13, "{order} {sigma}: {least}");
        }
    }
    // sin(t)/t in four dimensions: the sum over the cross is an eigenvalue, 1 + k(2) + 6 k(sqrt 2).
    let shape = |t: f64| if t == 0.0 { 1.0 } else { t.sin() / t };
    let least = (1..60).map(|k| {
        let rows = cross(4);
        let sigma = 0.1 * f64::from(k);
        let distance = |i: usize, j: usize| {
            let square: f64 = rows[i].iter().zip(&rows[j]).map(|(x, z)| (x - z).powi(2)).sum();
            sigma * square.sqrt()
        };
        let gram = DMatrix::from_fn(8, 8, |i, j| shape(distance(i, j)));
        gram.symmetric_eigenvalues().min()
    });
    assert!(least.fold(f64::INFINITY, f64::min) < -0.1);
}

#[test]
fn samples_outside_the_domain_are_refused_with_the_reason() {
    let bessel = kernel("bessel:sigma=1,order=0.5");
    let four = dense(&rows_with_zeros(6, 4));
    let message = "kernel 'bessel:sigma=1,order=0.5,degree=1' of rows 0 and 0: the order 0.5 is \
                   positive semidefinite for at most 3 features, and these are 4. Set order=1 or more.";
    assert_eq!(matrix(&*bessel, &four).unwrap_err().to_string(), message);
    assert_eq!(diagonal(&*bessel, &four).unwrap_err().to_string(), message);
    let rows = vec![vec![0.0, 1.0, 2.0], vec![0.5, 0.0, 0.0], vec![0.0, 3.0, -0.25]];
    let reason = "feature 2 is -0.25, but must not be negative. Scale the features to numbers from 0 \
                  to 1, and leave out standardisation.";
    for design in [dense(&rows), sparse(&rows)] {
        let error = matrix(&Spline, &design).unwrap_err().to_string();
        assert_eq!(error, format!("kernel 'spline' of rows 2 and 0: {reason}"));
        let new = combine(&Spline, &design, &design.select(&[0]), &[1.0]).unwrap_err().to_string();
        assert_eq!(new, format!("kernel 'spline' of rows 2 and 0: {reason}"));
        // Whatever holds the kernel refuses the sample as well, and a strip knows its first row.
        let sum = Sum(Box::new(Linear), Box::new(Product(Box::new(Spline), Box::new(Linear))));
        let error = diagonal(&sum, &design).unwrap_err().to_string();
        assert_eq!(error, format!("kernel 'linear+spline*linear' of rows 2 and 2: {reason}"));
        let many: Vec<usize> = (0..400).map(|i| if i == 300 { 2 } else { i % 2 }).collect();
        let coef = DMatrix::from_element(1, 1, 1.0);
        let error = combine_all(&Spline, &design.select(&many), &design.select(&[0]), &coef);
        let error = error.unwrap_err().to_string();
        assert_eq!(error, format!("kernel 'spline' of rows 300 and 0: {reason}"));
    }
}

#[test]
fn duplicated_rows_have_distance_zero_exactly() {
    // Offsets and irrational entries: a product of samples would not cancel exactly.
    let mut rows: Vec<Vec<f64>> = (0..30)
        .map(|i| (0..4).map(|j| 10.0 + ((i * 4 + j) as f64 * 0.37).sin() / 3.0).collect())
        .collect();
    rows[29] = rows[3].clone();
    rows[17] = rows[3].clone();
    let twin = |i: usize| if i == 17 || i == 29 { 3 } else { i };
    for design in [dense(&rows), sparse(&rows)] {
        let narrow = ["gaussian:sigma=1e12", "laplacian:sigma=1e12", "matern32:length=1e-12"];
        for specification in narrow {
            let gram = matrix(&*kernel(specification), &design).unwrap();
            for i in 0..30 {
                for j in 0..30 {
                    let want = if twin(i) == twin(j) { 1.0 } else { 0.0 };
                    assert_eq!(gram[(i, j)], want, "{specification} {i} {j}");
                }
            }
        }
        let wide = matrix(&*kernel("gaussian:sigma=1e-12"), &design).unwrap();
        assert!(wide.iter().all(|k| (k - 1.0).abs() <= 1e-11 && *k <= 1.0));
        assert_eq!(wide[(3, 29)], 1.0);
    }
}

#[test]
fn a_large_offset_of_features_leaves_distances_right() {
    // In units of 2^-16 the offset is added without rounding, so that the distances are the same.
    let unit = 2f64.powi(-16);
    let small: Vec<Vec<f64>> = (0..50)
        .map(|i| {
            (0..3).map(|j| (((i * 3 + j) as f64).sin() * 4e4).round() * unit).collect::<Vec<f64>>()
        })
        .collect();
    let offset: Vec<Vec<f64>> = small.iter().map(|x| x.iter().map(|x| x + 1e6).collect()).collect();
    let near = matrix(&Gaussian::new(1.0).unwrap(), &dense(&small)).unwrap();
    for design in [dense(&offset), sparse(&offset)] {
        let far = matrix(&Gaussian::new(1.0).unwrap(), &design).unwrap();
        for (a, b) in near.iter().zip(&far) {
            let (a, b) = (-a.ln(), -b.ln());
            assert!(relatively_close(a, b, 1e-9) || (a - b).abs() < 1e-15, "{a} {b}");
        }
    }
}

#[test]
fn combine_is_the_kernel_matrix_times_coefficients() {
    let rows = rows_with_zeros(300, 3);
    let coef: Vec<f64> = (0..300).map(|i| (i as f64 * 0.7).cos()).collect();
    let (dense, sparse) = (dense(&rows), sparse(&rows));
    // A matrix of the sigmoid, the last one, is refused unless it happens to be positive
    // semidefinite.
    for specification in &KERNELS[..KERNELS.len() - 1] {
        let kernel = kernel(specification);
        let gram = matrix(&*kernel, &dense).unwrap();
        let want = &gram * DMatrix::from_column_slice(300, 1, &coef);
        let size = gram.amax() * 300.0;
        for (one, other) in
            [(&dense, &dense), (&sparse, &sparse), (&dense, &sparse), (&sparse, &dense)]
        {
            let scores = combine(&*kernel, one, other, &coef).unwrap();
            for (a, b) in scores.iter().zip(want.iter()) {
                let storage = (one.is_sparse(), other.is_sparse());
                assert!((a - b).abs() <= 1e-13 * size, "{specification} {storage:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn combine_refuses_what_does_not_fit() {
    let two = Design::from_rows(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).unwrap();
    let one = Design::from_rows(&[[1.0], [2.0]]).unwrap();
    let message = |rows: &Design, columns: &Design, coef: &[f64]| {
        combine(&Linear, rows, columns, coef).unwrap_err().to_string()
    };
    assert_eq!(message(&two, &two, &[1.0]), "coefficients: expected 3, found 1");
    assert_eq!(message(&one, &two, &[1.0; 3]), "features: expected 2, found 1");
    let huge = Design::from_rows(&[[1e200, 0.0]]).unwrap();
    assert_eq!(
        combine(&Linear, &two, &huge, &[1.0]).unwrap().len(),
        3,
        "large but finite values are accepted"
    );
    assert_eq!(
        message(&huge, &huge, &[1.0]),
        "kernel 'linear' of rows 0 and 0 is inf; scale the features first"
    );
}

#[test]
fn a_kernel_value_that_overflows_names_the_rows() {
    let design = Design::from_rows(&[[0.0], [3.0]]).unwrap();
    let kernel = Polynomial::new(1000.0, 1.0, 1.0).unwrap();
    assert_eq!(
        matrix(&kernel, &design).unwrap_err().to_string(),
        "kernel 'poly:degree=1000,scale=1,offset=1' of rows 1 and 1 is inf; scale the features first"
    );
}

#[test]
fn specifications_come_back_as_they_were() {
    for specification in KERNELS {
        let once = kernel(specification).specification();
        assert_eq!(kernel(&once).specification(), once);
        if specification != "poly" && specification != "anova:sigma=0.3" {
            assert_eq!(once, specification);
        }
    }
    let full = [
        ("poly", "poly:degree=3,scale=1,offset=1"),
        ("sigmoid", "sigmoid:scale=1,offset=0"),
        ("anova:sigma=2", "anova:sigma=2,degree=1"),
        (" poly : offset = 2 , degree = 4 ", "poly:degree=4,scale=1,offset=2"),
        ("gaussian:sigma=1e+3 + linear * linear", "gaussian:sigma=1000+linear*linear"),
        ("gaussian:sigma=1E+3+laplacian:sigma=2.e+0", "gaussian:sigma=1000+laplacian:sigma=2"),
    ];
    for (given, want) in full {
        assert_eq!(kernel(given).specification(), want);
    }
    let registry = KernelRegistry::default();
    let names: Vec<&str> = registry.names().collect();
    let known = [
        "anova",
        "bessel",
        "gaussian",
        "laplacian",
        "linear",
        "matern32",
        "matern52",
        "poly",
        "sigmoid",
        "spline",
    ];
    assert_eq!(names, known);
    assert!(format!("{registry:?}").contains("matern52"));
    assert_eq!(KernelRegistry::empty().names().count(), 0);
}

#[test]
fn products_bind_tighter_than_sums() {
    let design = Design::from_rows(&[[2.0]]).unwrap();
    let x = design.sample(0);
    let value = |specification: &str| kernel(specification).value(&x, &x);
    // linear is 4 here, poly:degree=1,scale=1,offset=1 is 5.
    assert_eq!(value("linear+linear*poly:degree=1"), 24.0);
    assert_eq!(value("linear*linear+poly:degree=1*linear"), 36.0);
    assert_eq!(value("linear*linear*linear"), 64.0);
}

#[test]
fn wrong_specifications_say_what_is_wrong() {
    let known =
        "anova, bessel, gaussian, laplacian, linear, matern32, matern52, poly, sigmoid, spline";
    let syntax = |given: &str, reason: &str| {
        (given.to_owned(), format!("kernel specification '{given}': {reason}"))
    };
    let missing = format!("the name of a kernel is missing; known are {known}");
    let cases = [
        syntax("", &missing),
        syntax("linear+", &missing),
        syntax("linear**linear", &missing),
        syntax(":sigma=1", &missing),
        syntax("gaussian:", "'' is not of the form parameter=value"),
        syntax("gaussian:0.5", "'0.5' is not of the form parameter=value"),
        syntax("gaussian:sigma=half", "the value 'half' of 'sigma' is not a number, 'scale' or 'auto'"),
        syntax("linear+gaussian:sigma=1,sigma=2", "the parameter 'sigma' is given twice"),
        (
            "gausian".to_owned(),
            format!("unknown kernel 'gausian': known are {known}; did you mean 'gaussian'?"),
        ),
        (
            "Polynomial".to_owned(),
            format!("unknown kernel 'Polynomial': known are {known}; did you mean 'poly'?"),
        ),
        (
            "linear:sigma=1".to_owned(),
            "kernel 'linear' has no parameter 'sigma': it takes none".to_owned(),
        ),
        (
            "anova:gamma=1".to_owned(),
            "kernel 'anova' has no parameter 'gamma': it takes sigma, degree (1 by default); \
             did you mean 'sigma'?"
                .to_owned(),
        ),
        (
            "sigmoid:gamma=1".to_owned(),
            "kernel 'sigmoid' has no parameter 'gamma': it takes scale (1 by default), offset (0 by \
             default); did you mean 'scale'?"
                .to_owned(),
        ),
        (
            "linear*matern32".to_owned(),
            "kernel 'matern32' needs its length, as in matern32:length=0.5".to_owned(),
        ),
    ];
    for (given, want) in cases {
        let error = KernelRegistry::standard().parse(&given).unwrap_err();
        assert_eq!(error.to_string(), want);
    }
}

#[test]
fn a_width_comes_from_the_first_data() {
    let registry = KernelRegistry::standard();
    let (design, other) = (dense(&rows_with_zeros(30, 3)), dense(&rows_with_zeros(30, 2)));
    let weights: Vec<f64> = (0..30).map(|i| f64::from(i % 3)).collect();
    let mut kernel = registry.parse("linear+gaussian").unwrap();
    assert_eq!(kernel.specification(), "linear+gaussian");
    assert_eq!(
        matrix(&*kernel, &design).unwrap_err().to_string(),
        "kernel 'linear+gaussian' takes a parameter from the training data, which it does not have yet. Call \
         Kernel::adapt_to with the data, or set the parameter, as in gaussian:sigma=0.5."
    );
    kernel.adapt_to(&design, Some(&weights), 7).unwrap();
    let sigma = SigmaRange::of(&design, Some(&weights), 7).unwrap().middle();
    let fixed = registry.parse(&format!("linear+gaussian:sigma={sigma}")).unwrap();
    assert_eq!(matrix(&*kernel, &design).unwrap(), matrix(&*fixed, &design).unwrap());
    for mut kernel in [kernel, fixed] {
        let before = kernel.specification();
        kernel.adapt_to(&other, None, 7).unwrap();
        assert_eq!(kernel.specification(), before);
    }
}

#[track_caller]
fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-14 * b.abs(), "{a} and {b}");
}

/// The values of `gamma="scale"` and `"auto"` of scikit-learn, and a parameter beside them.
#[test]
fn rules_of_scikit_learn_take_parameters_from_data() {
    let registry = KernelRegistry::standard();
    let values = rows_with_zeros(30, 3);
    let design = dense(&values);
    let entries: Vec<f64> = values.iter().flatten().copied().collect();
    let mean = entries.iter().sum::<f64>() / 90.0;
    let variance = entries.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 90.0;
    let sparse: Vec<Vec<(usize, f64)>> =
        values.iter().map(|row| row.iter().copied().enumerate().collect()).collect();
    let designs = [design, Design::from_sparse_rows(&sparse, 3).unwrap()];
    for design in &designs {
        for (given, want) in [
            ("gaussian:sigma=scale", (3.0 * variance).recip()),
            ("gaussian:sigma=auto", 1.0 / 3.0),
            ("poly:degree=2,scale=scale,offset=0", (3.0 * variance).recip()),
        ] {
            let mut kernel = registry.parse(given).unwrap();
            assert!(kernel.needs_data() && kernel.is_positive_semidefinite(), "{given}");
            assert_eq!(kernel.specification(), given);
            kernel.adapt_to(design, None, 1).unwrap();
            let parameters = kernel.parameters();
            let found = parameters.iter().find(|(name, _)| matches!(*name, "sigma" | "scale"));
            assert_close(found.unwrap().1, want);
        }
        // A weight counts rows, and equal entries have no variance.
        let mut kernel = registry.parse("gaussian:sigma=scale").unwrap();
        let mut repeated = registry.parse("gaussian:sigma=scale").unwrap();
        let weights: Vec<f64> = (0..30).map(|i| f64::from(i % 3)).collect();
        let copies: Vec<usize> = (0..30).flat_map(|i| vec![i; i % 3]).collect();
        kernel.adapt_to(design, Some(&weights), 1).unwrap();
        repeated.adapt_to(&design.select(&copies), None, 1).unwrap();
        let (a, b) = (kernel.parameters()[0].1, repeated.parameters()[0].1);
        assert_close(a, b);
    }
    let mut kernel = registry.parse("rbf:sigma=scale").unwrap();
    kernel.adapt_to(&dense(&vec![vec![2.0, 2.0]; 4]), None, 1).unwrap();
    assert_eq!(kernel.specification(), "gaussian:sigma=1");
}

#[test]
fn parameters_out_of_range_are_refused() {
    let positive = "a finite number greater than 0";
    let degree = "a whole number from 1 to 1000";
    let cases = [
        (Gaussian::new(0.0).err(), "gaussian", "sigma", "0", positive),
        (Gaussian::new(f64::NAN).err(), "gaussian", "sigma", "NaN", positive),
        (Laplacian::new(f64::INFINITY).err(), "laplacian", "sigma", "inf", positive),
        (Matern32::new(-1.0).err(), "matern32", "length", "-1", positive),
        (Matern52::new(-0.5).err(), "matern52", "length", "-0.5", positive),
        (Polynomial::new(1.5, 1.0, 1.0).err(), "poly", "degree", "1.5", degree),
        (Polynomial::new(0.0, 1.0, 1.0).err(), "poly", "degree", "0", degree),
        (Polynomial::new(2.0, 0.0, 1.0).err(), "poly", "scale", "0", positive),
        (
            Polynomial::new(2.0, 1.0, -1.0).err(),
            "poly",
            "offset",
            "-1",
            "a finite number of at least 0",
        ),
        (Sigmoid::new(-1.0, 0.0).err(), "sigmoid", "scale", "-1", positive),
        (Sigmoid::new(1.0, f64::INFINITY).err(), "sigmoid", "offset", "inf", "a finite number"),
        (Anova::new(0.0, 1.0).err(), "anova", "sigma", "0", positive),
        (Anova::new(1.0, 1001.0).err(), "anova", "degree", "1001", degree),
        (Bessel::new(0.0, 1.0, 1.0).err(), "bessel", "sigma", "0", positive),
        (Bessel::new(1.0, 100.5, 1.0).err(), "bessel", "order", "100.5", "a number from 0 to 100"),
        (Bessel::new(1.0, 1.0, 0.5).err(), "bessel", "degree", "0.5", degree),
    ];
    for (error, kernel, parameter, value, requirement) in cases {
        assert_eq!(
            error.expect("a refusal").to_string(),
            format!(
                "kernel '{kernel}': parameter {parameter} is {value}, but must be {requirement}"
            )
        );
    }
    let error = KernelRegistry::standard().parse("gaussian:sigma=nan").unwrap_err().to_string();
    assert!(error.starts_with("kernel 'gaussian': parameter sigma is NaN"), "{error}");
}

#[test]
fn missing_parameters_can_be_supplied() {
    let registry = KernelRegistry::standard();
    let supply = |kernel: &str, parameter: &str| {
        Ok(match (kernel, parameter) {
            ("gaussian", "sigma") => Some(0.25),
            ("anova", "sigma") => Some(3.0),
            _ => None,
        })
    };
    let kernel = registry.parse_with("gaussian+anova:degree=2+gaussian:sigma=1", supply).unwrap();
    assert_eq!(
        kernel.specification(),
        "gaussian:sigma=0.25+anova:sigma=3,degree=2+gaussian:sigma=1"
    );
    assert!(registry.parse_with("laplacian", supply).is_err());
}

/// Counts the features that two samples have alike.
#[derive(Debug)]
struct Alike {
    worth: f64,
}

impl Kernel for Alike {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        let mut count = 0.0;
        x.for_each_pair(z, |x, z| count += f64::from(u8::from(x == z)));
        self.worth * count
    }
    fn name(&self) -> &str {
        "alike"
    }
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("worth", self.worth)]
    }
}

#[test]
fn a_kernel_of_ones_own_is_used_like_any_other() {
    let registry = KernelRegistry::standard()
        .with("alike", &[("worth", Some(2.0))], |p| Ok(Box::new(Alike { worth: p[0] })));
    let kernel = registry.parse("alike*alike:worth=3+linear").unwrap();
    assert_eq!(kernel.specification(), "alike:worth=2*alike:worth=3+linear");
    let design = Design::from_rows(&[[1.0, 2.0], [1.0, 5.0], [7.0, 5.0]]).unwrap();
    let gram = matrix(&*kernel, &design).unwrap();
    assert_eq!(gram[(0, 0)], 4.0 * 6.0 + 5.0);
    assert_eq!(gram[(1, 0)], 6.0 + 11.0);
    assert_eq!(gram[(2, 0)], 17.0);
    let replaced = registry.with("linear", &[], |_| Ok(Box::new(Alike { worth: 1.0 })));
    assert_eq!(replaced.parse("linear").unwrap().specification(), "alike:worth=1");
    assert_eq!(replaced.names().count(), 11);
}

#[test]
fn sigma_comes_from_quantiles_of_the_squared_distances() {
    // Squared distances of 0, 1, 3, 7: 1, 4, 9, 16, 36, 49. Quantiles at positions 0.5, 2.5, 4.5.
    let rows: Vec<Vec<f64>> = [0.0, 1.0, 3.0, 7.0].iter().map(|&x| vec![x]).collect();
    for design in [dense(&rows), sparse(&rows)] {
        let range = SigmaRange::of(&design, None, 1).unwrap();
        assert!(relatively_close(range.high, 1.0 / 2.5, 1e-15));
        assert!(relatively_close(range.median, 1.0 / 12.5, 1e-15));
        assert!(relatively_close(range.low, 1.0 / 42.5, 1e-15));
        assert!(relatively_close(range.middle(), 0.5 * (1.0 / 2.5 + 1.0 / 42.5), 1e-15));
    }
    // Copies of a row add no distance of 0.
    let twice = Design::from_rows(&[[0.0], [0.0], [2.0]]).unwrap();
    let range = SigmaRange::of(&twice, None, 1).unwrap();
    assert_eq!((range.low, range.median, range.high), (0.25, 0.25, 0.25));
}

#[test]
fn sigma_counts_a_sample_of_weight_k_as_k_samples() {
    // All pairs, and pairs that are drawn.
    for n in [20, 400] {
        let samples = rows_with_zeros(n, 3);
        let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
        let copies: Vec<Vec<f64>> = samples
            .iter()
            .zip(&weights)
            .flat_map(|(row, &weight)| vec![row.clone(); weight as usize])
            .collect();
        let weighted = SigmaRange::of(&dense(&samples), Some(&weights), 1).unwrap();
        assert_eq!(weighted, SigmaRange::of(&dense(&copies), None, 1).unwrap());
        assert_ne!(weighted, SigmaRange::of(&dense(&samples), None, 1).unwrap());
        let shares: Vec<f64> = weights.iter().map(|weight| 0.3 * weight).collect();
        let scaled = SigmaRange::of(&dense(&samples), Some(&shares), 1).unwrap();
        assert!(relatively_close(scaled.median, weighted.median, 0.1), "{scaled:?} {weighted:?}");
    }
}

#[test]
fn rbf_is_the_gaussian_kernel() {
    let registry = KernelRegistry::standard();
    let kernel = registry.parse("rbf:sigma=0.5+linear").unwrap();
    assert_eq!(kernel.specification(), "gaussian:sigma=0.5+linear");
    let filled = registry.with_sigma("rbf", 2.0).unwrap();
    assert_eq!(filled.as_deref(), Some("gaussian:sigma=2"));
}

#[test]
fn sigma_needs_rows_that_differ() {
    let message = "all rows are the same, so their distances suggest no width: set it, as in gaussian:sigma=0.5";
    for n in [1, 2, 300] {
        let design = Design::from_rows(&vec![[1.0, 0.1]; n]).unwrap();
        assert_eq!(SigmaRange::of(&design, None, 0).unwrap_err().to_string(), message);
    }
}

#[test]
fn sigma_of_many_rows_depends_on_the_seed_alone() {
    let design = dense(&rows_with_zeros(400, 3));
    let on = |seed| SigmaRange::of(&design, None, seed).unwrap();
    assert_eq!(on(7), on(7));
    assert_ne!(on(7), on(8));
    let (range, other) = (on(7), on(8));
    assert!(range.low <= range.median && range.median <= range.high);
    // Ten thousand pairs: the share below a quantile is known to half a percent.
    assert!(relatively_close(range.median, other.median, 0.05), "{range:?} {other:?}");
}
