//! Margins where careless formulas overflow, cancel or divide 0 by 0. The literals were computed
//! with 700 digits from the doubles as they are.

use margins_losses::{Error, LossRegistry, MarginLoss, ModifiedHuber, Squared, SquaredHinge};

const BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;
const ABOVE_ONE: f64 = 1.0 + f64::EPSILON;

/// Specification, margin, value and first and second derivative.
const ROWS: &[(&str, f64, [f64; 3])] = &[
    ("lhs", -1e6, [1000001.0, -1.0, 0.0]),
    ("lhs", BELOW_ONE, [1.1102230246251565e-16, -1.0, 0.0]),
    ("lhs", 1.0, [0.0, -1.0, 1.0]),
    ("lhs", ABOVE_ONE, [-2.2204460492503128e-16, -0.9999999999999998, 0.9999999999999996]),
    ("lhs", 1e6, [-13.815510557964274, -1e-06, 1e-12]),
    ("l-r:r=1.01", -1e6, [1000001.0, -1.0, 0.0]),
    ("l-r:r=1.01", BELOW_ONE, [1.1102230246251565e-16, -1.0, 0.0]),
    ("l-r:r=1.01", 1.0, [0.0, -1.0, 0.00990099009900991]),
    ("l-r:r=1.01", ABOVE_ONE, [-2.220446049250313e-16, -1.0, 0.009900990099009908]),
    ("l-r:r=1.01", 1e6, [-880876.3198654383, -0.8721557721439983, 8.63520566479207e-09]),
    ("l-r:r=2", -1e6, [1000001.0, -1.0, 0.0]),
    ("l-r:r=2", BELOW_ONE, [1.1102230246251565e-16, -1.0, 0.0]),
    ("l-r:r=2", 1.0, [0.0, -1.0, 0.5]),
    ("l-r:r=2", ABOVE_ONE, [-2.220446049250313e-16, -0.9999999999999999, 0.49999999999999983]),
    ("l-r:r=2", 1e6, [-1998.0, -0.001, 5e-10]),
    ("l-r:r=10000", -1e6, [1000001.0, -1.0, 0.0]),
    ("l-r:r=10000", BELOW_ONE, [1.1102230246251565e-16, -1.0, 0.0]),
    ("l-r:r=10000", 1.0, [0.0, -1.0, 0.9999]),
    ("l-r:r=10000", ABOVE_ONE, [-2.2204460492503128e-16, -0.9999999999999998, 0.9998999999999996]),
    ("l-r:r=10000", 1e6, [-13.82505837098726, -1.0013825058370988e-06, 1.001282367586515e-12]),
    ("margin-pursuit:gamma=1,scale=1", -1e6, [942809.4843911049, -0.9428090415820634, 0.0]),
    (
        "margin-pursuit:gamma=1,scale=1",
        BELOW_ONE,
        [6.162975822039155e-33, -1.1102230246251565e-16, 1.0],
    ),
    ("margin-pursuit:gamma=1,scale=1", 1.0, [0.0, 0.0, 1.0]),
    (
        "margin-pursuit:gamma=1,scale=1",
        ABOVE_ONE,
        [2.465190328815662e-32, 2.220446049250313e-16, 1.0],
    ),
    ("margin-pursuit:gamma=1,scale=1", 1e6, [942807.5987730218, 0.9428090415820634, 0.0]),
    ("log-cosh:gamma=1,scale=1", -1e6, [1000000.3068528194, -1.0, 0.0]),
    ("log-cosh:gamma=1,scale=1", BELOW_ONE, [6.162975822039155e-33, -1.1102230246251565e-16, 1.0]),
    ("log-cosh:gamma=1,scale=1", 1.0, [0.0, 0.0, 1.0]),
    ("log-cosh:gamma=1,scale=1", ABOVE_ONE, [2.465190328815662e-32, 2.220446049250313e-16, 1.0]),
    ("log-cosh:gamma=1,scale=1", 1e6, [999998.3068528194, 1.0, 0.0]),
    (
        "log-cosh:gamma=1,scale=1",
        -0.5,
        [0.8554401710137968, -0.9051482536448664, 0.18070663892364852],
    ),
    (
        "log-cosh:gamma=1,scale=1",
        1.0001,
        [4.999999991665566e-09, 9.999999966665565e-05, 0.9999999900000001],
    ),
    ("log-cosh:gamma=1,scale=1", 25.0, [23.306852819440056, 1.0, 5.7006563309637406e-21]),
    (
        "log-cosh:gamma=2.75,scale=0.5",
        -3.0,
        [2.7017132048856682, -0.4999999998973812, 4.1047518518383067e-10],
    ),
    (
        "log-cosh:gamma=2.75,scale=0.5",
        2.7,
        [0.0012479222054116237, -0.049833997312477736, 0.9900662908474398],
    ),
    ("log-cosh:gamma=2.75,scale=0.5", 1e6, [499998.45171320485, 0.5, 0.0]),
    ("smoothed-hinge:width=0.25", -1e6, [1000000.875, -1.0, 0.0]),
    ("smoothed-hinge:width=0.25", BELOW_ONE, [2.465190328815662e-32, -4.440892098500626e-16, 4.0]),
    ("smoothed-hinge:width=0.25", 1.0, [0.0, 0.0, 4.0]),
    ("smoothed-hinge:width=0.25", ABOVE_ONE, [0.0, 0.0, 0.0]),
    ("smoothed-hinge:width=0.25", 1e6, [0.0, 0.0, 0.0]),
    ("smoothed-hinge:width=0.25", 0.8, [0.07999999999999996, -0.7999999999999998, 4.0]),
    ("logistic", -1e6, [1000000.0, -1.0, 0.0]),
    ("logistic", -745.0, [745.0, -1.0, 0.0]),
    ("logistic", -36.5, [36.5, -0.9999999999999999, 1.4068617124461464e-16]),
    ("logistic", 36.5, [1.4068617124461467e-16, -1.4068617124461467e-16, 1.4068617124461464e-16]),
    ("logistic", 700.0, [9.85967654375977e-305, -9.85967654375977e-305, 9.85967654375977e-305]),
    (
        "garg-roth:alpha=0.7,beta=1.3",
        -30.0,
        [8.659340042399386e+16, -1.1257142055119203e+17, 1.4634284671654963e+17],
    ),
    (
        "garg-roth:alpha=0.7,beta=1.3",
        -0.1,
        [1.1388283833246218, -1.4804768983220085, 1.924619967818611],
    ),
    (
        "garg-roth:alpha=0.7,beta=1.3",
        0.1,
        [0.9930244429332351, -0.1390234220106529, -1.3707709410250377],
    ),
    ("garg-roth:alpha=0.7,beta=1.3", 1e6, [0.0, 0.0, 0.0]),
];

/// Specification, t and `L*(-t)`.
const CONJUGATES: &[(&str, f64, f64)] = &[
    ("l-r:r=1.01", 0.5, 1.2676506002281525e+28),
    ("l-r:r=1.01", 0.999999999, -0.999999999),
    ("l-r:r=1.01", 1.0, -1.0),
    ("l-r:r=10000", 0.001, 5.91014192130915),
    ("l-r:r=10000", 0.999999999, -0.999999999),
    ("l-r:r=10000", 1.0, -1.0),
    ("log-cosh:gamma=1,scale=1", 0.9, -0.40536806278592724),
    ("log-cosh:gamma=1,scale=1", 1e-05, -9.99995e-06),
    ("log-cosh:gamma=2.75,scale=0.5", -0.2, 0.570570719626263),
];

#[test]
fn values_and_derivatives() -> Result<(), Error> {
    let registry = LossRegistry::standard();
    for &(specification, u, want) in ROWS {
        let loss = registry.parse(specification)?;
        let mut batch = [[f64::NAN]; 3];
        loss.values(&[u], &mut batch[0]);
        loss.derivatives(&[u], &mut batch[1]);
        loss.second_derivatives(&[u], &mut batch[2]);
        let scalar = [loss.value(u), loss.derivative(u), loss.second_derivative(u)];
        for i in 0..3 {
            for got in [scalar[i], batch[i][0]] {
                // Batch forms take what is below 1e-307 for 0.
                let close = (got - want[i]).abs() <= 1e-14 * want[i].abs() + 1e-307;
                assert!(
                    close,
                    "{specification} at {u:e}, derivative {i}: {got:e}, not {:e}",
                    want[i]
                );
            }
        }
    }
    Ok(())
}

#[test]
fn conjugates() -> Result<(), Error> {
    for &(specification, t, want) in CONJUGATES {
        let got = LossRegistry::standard().parse(specification)?.conjugate(t);
        assert!(
            (got - want).abs() <= 1e-13 * want.abs(),
            "{specification} at {t}: {got:e}, not {want:e}"
        );
    }
    Ok(())
}

#[test]
fn limits_at_infinity_are_not_nan() -> Result<(), Error> {
    let registry = LossRegistry::standard();
    for name in registry.names() {
        let loss = registry.parse(name)?;
        for u in [f64::NEG_INFINITY, f64::INFINITY, -1e300, 1e300] {
            let mut batch = [[0.0]; 3];
            loss.values(&[u], &mut batch[0]);
            loss.derivatives(&[u], &mut batch[1]);
            loss.second_derivatives(&[u], &mut batch[2]);
            let scalar = [loss.value(u), loss.derivative(u), loss.second_derivative(u)];
            for i in 0..3 {
                assert!(!scalar[i].is_nan() && !batch[i][0].is_nan(), "{name} at {u}: {i}");
                let same = scalar[i] == batch[i][0]
                    || (scalar[i] - batch[i][0]).abs() <= 1e-11 * scalar[i].abs();
                assert!(same, "{name} at {u}: {i}: {:e} and {:e}", scalar[i], batch[i][0]);
            }
        }
    }
    // The perceptron's flat side.
    assert_eq!(registry.parse("leaky-relu:lambda=0")?.value(f64::INFINITY), 0.0);
    Ok(())
}

#[test]
fn probabilities_at_the_ends() -> Result<(), Error> {
    let registry = LossRegistry::standard();
    for name in [
        "lhs",
        "l-r",
        "dwd",
        "margin-pursuit",
        "log-cosh",
        "smoothed-hinge",
        "modified-huber",
        "logistic",
        "exponential",
    ] {
        let loss = registry.parse(name)?;
        assert_eq!(loss.probability(f64::INFINITY), Some(1.0), "{name}");
        assert_eq!(loss.probability(f64::NEG_INFINITY), Some(0.0), "{name}");
        assert_eq!(loss.probability(0.0), Some(0.5), "{name}");
    }
    for loss in [&Squared as &dyn MarginLoss, &SquaredHinge, &ModifiedHuber] {
        assert_eq!(loss.probability(-7.0), Some(0.0));
        assert_eq!(loss.probability(0.5), Some(0.75));
        assert_eq!(loss.probability(1e6), Some(1.0));
    }
    for name in ["hinge", "leaky-relu", "garg-roth", "zero-one"] {
        assert_eq!(registry.parse(name)?.probability(0.5), None, "{name}");
    }
    assert_eq!(registry.parse("exponential")?.probability(-1e6), Some(0.0));
    Ok(())
}

#[test]
fn population_minimizers_of_certain_classes() -> Result<(), Error> {
    let registry = LossRegistry::standard();
    for name in ["lhs", "l-r", "dwd", "leaky-relu", "logistic", "exponential", "garg-roth"] {
        let loss = registry.parse(name)?;
        assert_eq!(loss.population_minimizer(1.0), f64::INFINITY, "{name}");
        assert_eq!(loss.population_minimizer(0.0), f64::NEG_INFINITY, "{name}");
    }
    for name in [
        "margin-pursuit",
        "log-cosh",
        "hinge",
        "squared",
        "squared-hinge",
        "smoothed-hinge",
        "modified-huber",
    ] {
        let u = registry.parse(name)?.population_minimizer(1.0);
        assert!((u - 1.0).abs() < 1e-15, "{name}: {u}");
    }
    // Odds of 1e-20 do not round to a certain class.
    let u = registry.parse("logistic")?.population_minimizer(1e-20);
    assert!((u + 46.051_701_859_880_91).abs() < 1e-13, "{u}");
    // Where sinh overflows.
    let u = registry.parse("log-cosh:gamma=1000,scale=1")?.population_minimizer(0.75);
    assert!((u - (1000.0 - 0.5 * std::f64::consts::LN_2)).abs() < 1e-12, "{u}");
    Ok(())
}

/// Rows of the reference vectors.
#[test]
fn representative_rows() -> Result<(), Error> {
    let registry = LossRegistry::standard();
    let rows: &[(&str, f64, [f64; 3])] = &[
        (
            "margin-pursuit:gamma=2.75,scale=0.5",
            3.0,
            [0.030598958333333332, 0.23958333333333334, 0.875],
        ),
        ("lhs", 1.5, [-0.4054651081081644, -0.6666666666666666, 0.4444444444444444]),
        ("l-r:r=1.5", 1e6, [-14998.5, -0.01, 3.3333333333333334e-9]),
        ("leaky-relu:lambda=0.05", -3.0, [2.85, -0.95, 0.0]),
        ("squared-hinge", -0.1, [1.21, -2.2, 2.0]),
        ("logistic", 3.0, [0.04858735157374206, -0.04742587317756678, 0.04517665973091213]),
        ("exponential", -1.0, [std::f64::consts::E, -std::f64::consts::E, std::f64::consts::E]),
        (
            "garg-roth:alpha=0.7,beta=1.3",
            0.5,
            [0.8394570207692074, -0.5876199145384451, -0.7639058888999787],
        ),
    ];
    for &(specification, u, want) in rows {
        let loss = registry.parse(specification)?;
        let got = [loss.value(u), loss.derivative(u), loss.second_derivative(u)];
        for (got, want) in got.into_iter().zip(want) {
            assert!(
                (got - want).abs() <= (1e-14 * want.abs()).max(1e-15),
                "{specification}: {got:e}, not {want:e}"
            );
        }
    }
    let conjugates = [
        ("l-r:r=1.5", 0.01, 4998.5),
        ("logistic", 0.2, -0.5004024235381879),
        ("margin-pursuit:gamma=0.5,scale=3", 2.825598697621444, 3.0754078827722293),
        ("squared-hinge", 0.9, -0.6975),
    ];
    for (specification, t, want) in conjugates {
        let got: f64 = registry.parse(specification)?.conjugate(t);
        assert!((got - want).abs() <= 1e-13 * want.abs(), "{specification}: {got:e}, not {want:e}");
    }
    Ok(())
}

/// Where the probability is 1/2 and no more is known: the flat part of the conditional risk.
#[test]
fn undecided_scores_are_the_minimisers_at_even_odds() {
    let registry = LossRegistry::standard();
    for (specification, end) in [
        ("lhs", 1.0),
        ("l-r:r=2", 1.0),
        ("l-r:r=1.01", 1.0),
        ("logistic", 0.0),
        ("exponential", 0.0),
        ("squared", 0.0),
        ("squared-hinge", 0.0),
        ("modified-huber", 0.0),
        ("dwd:q=1", 0.5),
        ("dwd:q=4", 0.8),
        ("margin-pursuit:gamma=1,scale=1", 0.0),
        ("margin-pursuit:gamma=3,scale=1", 3.0 - std::f64::consts::SQRT_2),
    ] {
        let loss = registry.parse(specification).expect("a standard loss");
        let found = loss.undecided_scores().expect("it has probabilities");
        assert_eq!((found.lower, found.upper), (-end, end), "{specification}");
    }
    for specification in ["hinge", "leaky-relu:lambda=0.1", "zero-one"] {
        let loss = registry.parse(specification).expect("a standard loss");
        assert!(loss.undecided_scores().is_none(), "{specification}");
    }
}

/// Margins of either sign from 1e-300 to 1e300, ascending, with 0 and 1 and their neighbours.
fn every_size() -> Vec<f64> {
    let sizes = (-300..=300).step_by(3).map(|k| 10f64.powi(k));
    let mut margins: Vec<f64> = sizes.flat_map(|u| [-u, u]).collect();
    margins.extend([0.0, BELOW_ONE, 1.0, ABOVE_ONE]);
    margins.sort_by(f64::total_cmp);
    margins
}

#[test]
fn losses_are_sound_at_margins_of_every_size() -> Result<(), Error> {
    let mut faults = Vec::new();
    let registry = LossRegistry::standard();
    let others = [
        "l-r:r=1.01",
        "l-r:r=1e6",
        "dwd:q=0.01",
        "dwd:q=100",
        "log-cosh:gamma=1e-3,scale=1e3",
        "smoothed-hinge:width=1e-3",
    ];
    for specification in registry.names().chain(others) {
        let loss = registry.parse(specification)?;
        let mut fault = |text: String| faults.push(format!("{specification}: {text}"));
        let margins = every_size();
        for pair in margins.windows(2) {
            let (low, high) = (loss.derivative(pair[0]), loss.derivative(pair[1]));
            let rising = low <= high || low - high <= 4.0 * f64::EPSILON * high.abs();
            if loss.is_convex() && !rising {
                fault(format!("slopes {low:e} and {high:e} at {:e} and {:e}", pair[0], pair[1]));
            }
        }
        for &u in &margins {
            let (value, slope, bend) =
                (loss.value(u), loss.derivative(u), loss.second_derivative(u));
            if value.is_nan() || slope.is_nan() || bend.is_nan() || (loss.is_convex() && bend < 0.0)
            {
                fault(format!("{value:e}, {slope:e}, {bend:e} at {u:e}"));
            }
            let bounded = loss.lipschitz().is_some();
            if bounded && !(value.is_finite() && slope.is_finite()) {
                fault(format!("{value:e}, {slope:e} at {u:e}"));
            }
            let conjugate = loss.conjugate(-slope);
            if loss.is_convex() && value.is_finite() && slope.is_finite() {
                // Fenchel and Young: L(u) + L*(-t) + t u is 0 at t = -L'(u).
                let sum = value + conjugate - slope * u;
                let size = value.abs() + conjugate.abs() + (slope * u).abs();
                // A slope that underflows where the value does not is no dual of this margin.
                let has_dual = slope.abs() >= f64::MIN_POSITIVE || value.abs() < f64::MIN_POSITIVE;
                let far = has_dual && conjugate.is_finite() && sum > 1e-9 * size;
                if sum < -1e-13 * size || far {
                    fault(format!("Fenchel-Young {sum:e} of {size:e} at {u:e}"));
                }
            }
            for (dual, curvature) in
                [(0.0, 1e-300), (0.3, 1e-9), (0.3, 1.0), (0.3, 1e9), (0.3, 1e300)]
            {
                let step = loss.dual_step(dual, u, curvature);
                let domain = loss.conjugate_domain();
                if loss.is_convex() && (step.is_nan() || !domain.is_some_and(|d| d.contains(step)))
                {
                    fault(format!(
                        "dual step {step:e} from {dual} at {u:e}, curvature {curvature:e}"
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    Ok(())
}
