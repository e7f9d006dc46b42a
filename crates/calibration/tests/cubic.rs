//! Roots of cubics against reference values, and by their residuals at every scale.

use margins_calibration::cubic::getroot;
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    real_roots: Vec<f64>,
}

/// The residual relative to the sum of the absolute terms, in powers of two that cannot overflow.
fn relative_residual([a, b, c, d]: [f64; 4], u: f64) -> f64 {
    // Halve the exponents: |terms| only matter relative to each other.
    let terms = [a * u * u * u, b * u * u, c * u, d];
    let size: f64 = terms.iter().map(|term| term.abs()).sum();
    let sum: f64 = terms.iter().sum();
    if size == 0.0 { 0.0 } else { sum.abs() / size }
}

#[test]
fn reference_roots() {
    let text = include_str!("fixtures/getroot.json");
    let cases: Vec<Case> = serde_json::from_str(text).expect("the reference file");
    for case in &cases {
        let coefficients = [case.a, case.b, case.c, case.d];
        let [a, b, c, d] = coefficients;
        let roots = getroot(a, b, c, d).unwrap();
        for &root in roots.as_slice() {
            assert!(
                relative_residual(coefficients, root) <= 1e-14,
                "{coefficients:?}: {root:e} of {roots:?}, not {:?}",
                case.real_roots
            );
        }
        for &want in &case.real_roots {
            let distance = |root: &f64| (root - want).abs() / want.abs().max(1.0);
            let nearest = roots.as_slice().iter().map(distance).fold(f64::INFINITY, f64::min);
            // Of a nearly multiple root the reference has the one before its coefficients were
            // rounded to doubles.
            let tolerance = if relative_slope(coefficients, want) > 1e-3 { 1e-12 } else { 1e-4 };
            assert!(
                nearest <= tolerance,
                "{coefficients:?}: {want:e} is missing from {roots:?} ({nearest:e})"
            );
        }
    }
    assert!(cases.len() > 100);
}

/// `|u p'(u)|` relative to the sum of the absolute terms: small at multiple roots.
fn relative_slope([a, b, c, d]: [f64; 4], u: f64) -> f64 {
    let size = (a * u * u * u).abs() + (b * u * u).abs() + (c * u).abs() + d.abs();
    let slope = (3.0 * a * u + 2.0 * b) * u + c;
    if u == 0.0 { 1.0 } else { (u * slope).abs() / size }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn residuals_vanish_at_every_scale(
        mantissas in proptest::array::uniform4(-1.0..1.0f64),
        exponents in proptest::array::uniform4(-60..60i32),
    ) {
        let k = |i: usize| mantissas[i] * 10f64.powi(exponents[i]);
        let coefficients = [k(0), k(1), k(2), k(3)];
        let roots = getroot(k(0), k(1), k(2), k(3)).unwrap();
        prop_assert!(roots.as_slice().windows(2).all(|pair| pair[0] < pair[1]));
        if k(0) != 0.0 {
            prop_assert!(!roots.as_slice().is_empty(), "a cubic has a real root");
        }
        for &root in roots.as_slice() {
            let residual = relative_residual(coefficients, root);
            prop_assert!(residual <= 1e-14, "{coefficients:?} {root:e}: {residual:e}");
        }
    }

    #[test]
    fn roots_are_found_again(
        mut roots in proptest::array::uniform3(-1.0..1.0f64),
        exponents in proptest::array::uniform3(-8..8i32),
        leading in prop_oneof![0.1..10.0f64, -10.0..-0.1f64],
    ) {
        for (root, e) in roots.iter_mut().zip(exponents) {
            *root *= 10f64.powi(e);
        }
        roots.sort_by(f64::total_cmp);
        let separated = roots.windows(2).all(|pair| {
            (pair[1] - pair[0]).abs() > 0.01 * pair[0].abs().max(pair[1].abs())
        });
        prop_assume!(separated);
        let [x, y, z] = roots;
        let found = getroot(leading, -leading * (x + y + z), leading * (x * y + y * z + z * x), -leading * x * y * z).unwrap();
        prop_assert_eq!(found.as_slice().len(), 3);
        // The coefficients are rounded, which moves a root by the condition of the problem.
        for (found, want) in found.as_slice().iter().zip(roots) {
            let slope = roots.iter().filter(|&&other| other != want).map(|other| (want - other).abs()).product::<f64>();
            let size = [x, y, z].iter().map(|other| want.abs() + other.abs()).product::<f64>();
            let condition = size / slope;
            prop_assert!((found - want).abs() <= 1e-15 * condition + 1e-15 * want.abs(), "{found:e} {want:e} {condition:e}");
        }
    }

    #[test]
    fn one_real_root_is_one_root(root in -10.0..10.0f64, real in -10.0..10.0f64, imaginary in 0.01..10.0f64) {
        // (u - root)(u^2 - 2 real u + real^2 + imaginary^2)
        let modulus = real * real + imaginary * imaginary;
        let found = getroot(1.0, -root - 2.0 * real, 2.0 * root * real + modulus, -root * modulus).unwrap();
        prop_assert_eq!(found.as_slice().len(), 1, "{:?}", found);
        prop_assert!((found.as_slice()[0] - root).abs() <= 1e-9);
    }
}

#[test]
fn lower_degrees_and_nonsense() {
    let roots = |a, b, c, d| getroot(a, b, c, d).unwrap().as_slice().to_vec();
    assert_eq!(roots(0.0, 1.0, -3.0, 2.0), [1.0, 2.0]);
    assert_eq!(roots(0.0, 1.0, 2.0, 1.0), [-1.0]);
    assert_eq!(roots(0.0, 0.0, 2.0, 1.0), [-0.5]);
    assert!(roots(0.0, 0.0, 0.0, 1.0).is_empty());
    assert!(roots(0.0, 1.0, 0.0, 1.0).is_empty());
    assert_eq!(roots(1.0, 0.0, 0.0, 0.0), [0.0]);
    assert_eq!(roots(1.0, 0.0, -1.0, 0.0), [-1.0, 0.0, 1.0]);
    assert_eq!(roots(2.0, -6.0, 6.0, -2.0), [1.0]);
    // Largest and smallest numbers.
    assert_eq!(roots(1e300, 0.0, 0.0, -8e300), [2.0]);
    assert_eq!(roots(1e-300, 0.0, 0.0, -8e-300), [2.0]);
    let huge = roots(1e-300, 1.0, -3.0, 2.0);
    assert_eq!(huge.len(), 3);
    assert!(
        (huge[0] + 1e300).abs() <= 1e285
            && (huge[1] - 1.0).abs() < 1e-15
            && (huge[2] - 2.0).abs() < 1e-15
    );
    assert!(getroot(0.0, 0.0, 0.0, 0.0).is_err());
    assert!(getroot(f64::NAN, 0.0, 0.0, 1.0).is_err());
    assert!(getroot(1.0, f64::INFINITY, 0.0, 1.0).is_err());
}
