//! The constrained form of fits with their dual variables, and the intervals of best intercepts.

use margins_data::{Design, Labels};
use margins_losses::{LeakyHockeyStick, MarginLoss};
use margins_optim::certificate::DualSolution;
use margins_optim::problem::EmpiricalRisk;
use margins_optim::{Fit, Objective, Options, Solver, fit};
use margins_test_support::{any_lambda, close, lambda, loss, losses_of, rows_and_signs};
use proptest::prelude::*;

fn tight() -> Options<'static> {
    Options { tolerance: 1e-12, keep_duals: true, ..Options::default() }
}

/// The numbers of (3) and (4) in the letters of the paper, from the samples alone.
struct Paper {
    primal: f64,
    dual: f64,
    /// `X'Y sigma`.
    direction: Vec<f64>,
    /// `sum c_i y_i sigma_i`.
    balance: f64,
}

fn paper(rows: &[Vec<f64>], weights: &[f64], solution: &DualSolution) -> Paper {
    let form = solution.constrained.as_ref().expect("coefficients other than 0");
    let slacks = form.slacks.as_ref().expect("the leaky hockey stick");
    let mut direction = vec![0.0; rows[0].len()];
    let (mut primal, mut dual, mut balance) = (0.0, 0.0, 0.0);
    for (i, x) in rows.iter().enumerate() {
        let (sigma, (d, eta), c) = (form.multipliers[i], slacks[i], weights[i]);
        let y = solution.samples[i].sign;
        primal += c * (form.norm * eta - d.ln());
        dual += c * sigma.ln();
        balance += c * y * sigma;
        direction.iter_mut().zip(x).for_each(|(v, x)| *v += c * sigma * y * x);
    }
    dual -= direction.iter().map(|v| v * v).sum::<f64>().sqrt();
    Paper { primal, dual, direction, balance }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Lemmas 1 and 2 with (17), with weights and without intercept as well.
    #[test]
    fn fits_of_the_leaky_hockey_stick_solve_both_problems(
        (rows, y) in rows_and_signs(4..25, 1..8, -2.0..2.0f64),
        weights in proptest::collection::vec(0.5..2.0f64, 25),
        at in any_lambda(),
        intercept in any::<bool>(),
    ) {
        let (design, labels) = (Design::from_rows(&rows).unwrap(), Labels::from_signs(y).unwrap());
        let weights = &weights[..rows.len()];
        let objective = Objective::new(&LeakyHockeyStick as &dyn MarginLoss, &design, &labels).unwrap();
        let objective = objective.with_weights(weights).unwrap();
        let objective = if intercept { objective } else { objective.without_intercept() };
        let fit = fit(&objective, lambda(at), &tight()).unwrap();
        prop_assume!(fit.report.relative_gap <= 1e-11);
        let solution = fit.dual_solution(&objective);
        let Some(form) = &solution.constrained else { return Ok(()) };
        prop_assume!(form.norm > 1e-3);
        let (total, numbers) = (weights.iter().sum::<f64>(), paper(&rows, weights, &solution));
        let size = numbers.primal.abs() + numbers.dual.abs() + total;
        // The values as the paper prints them differ by the total weight, n without weights.
        prop_assert!((form.primal - numbers.primal).abs() <= 1e-10 * size);
        prop_assert!((form.dual - total - numbers.dual).abs() <= 1e-10 * size);
        prop_assert!(form.gap >= 0.0);
        prop_assert!((form.primal - form.dual - form.gap).abs() <= 1e-10 * size);
        prop_assert!(form.gap <= 1e-4 * size, "{} of {size}", form.gap);
        // (17), each to the root of the gap.
        let direction = numbers.direction.iter().map(|v| v * v).sum::<f64>().sqrt();
        for (v, w) in numbers.direction.iter().zip(&fit.coef) {
            prop_assert!((v / direction - w / form.norm).abs() <= 1e-3);
        }
        for (sigma, &(d, eta)) in form.multipliers.iter().zip(form.slacks.as_ref().unwrap()) {
            prop_assert!(*sigma > 0.0 && *sigma <= form.norm * (1.0 + 1e-12) && eta >= 0.0 && d > 0.0);
            prop_assert!((sigma * d - 1.0).abs() <= 1e-5, "{sigma} {d}");
            prop_assert!(eta * (form.norm - sigma).abs() <= 1e-5, "{eta} {sigma}");
        }
        if intercept {
            prop_assert!(numbers.balance.abs() <= 1e-9 * form.norm * total);
            // Appendix B: the classes have points whose difference is the direction.
            let hulls = form.hulls.unwrap();
            prop_assert!(close(hulls.total * hulls.distance, direction, 1e-9));
            let dual = total * (hulls.total.ln() + hulls.geometric_mean.ln()) - direction;
            prop_assert!(close(dual, numbers.dual, 1e-9));
        } else {
            prop_assert_eq!(form.hulls, None);
        }
        // The duals alone give the classifier.
        prop_assert!((solution.norm / form.norm - 1.0).abs() <= 1e-3);
        if let Some(b) = solution.intercept {
            prop_assert!((b - fit.intercept).abs() <= 1e-2 * (1.0 + fit.intercept.abs()), "{b}");
        }
    }

    /// For any loss and any point, the two values bound each other, and the point with its duals is a
    /// solution of both problems only at the minimum.
    #[test]
    fn the_two_values_are_a_gap_apart_at_any_point(
        (rows, y) in rows_and_signs(4..25, 1..8, -2.0..2.0f64),
        name in proptest::sample::select(losses_of(Solver::ProximalNewton)),
        at in any_lambda(),
        apart in -1.0..1.0f64,
    ) {
        let loss = loss(name);
        let (design, labels) = (Design::from_rows(&rows).unwrap(), Labels::from_signs(y).unwrap());
        let objective = Objective::new(&*loss, &design, &labels).unwrap();
        let best = fit(&objective, lambda(at), &tight()).unwrap();
        prop_assume!(best.report.relative_gap <= 1e-9);
        let moved = Fit { coef: best.coef.iter().map(|w| w + apart).collect(), ..best.clone() };
        let of = |fit: &Fit| fit.dual_solution(&objective).constrained;
        let Some(form) = of(&moved) else { return Ok(()) };
        let size = form.primal.abs() + form.dual.abs() + rows.len() as f64;
        prop_assert!(form.gap >= 0.0);
        if form.gap.is_finite() {
            prop_assert!((form.primal - form.dual - form.gap).abs() <= 1e-6 * size, "{form:?}");
        }
        // The constrained problem bounds the norm by that of the fit.
        if let Some(form) = of(&best).filter(|form| form.norm > 1e-2) {
            let size = form.primal.abs() + form.dual.abs() + rows.len() as f64;
            prop_assert!(form.gap <= 1e-3 * size, "{form:?}");
        }
    }

    /// Every intercept of the interval has the lowest risk, and no other one has.
    #[test]
    fn best_intercepts_are_all_and_no_others(
        scores in proptest::collection::vec(-1.5..1.5f64, 8),
        shift in -3.0..3.0f64,
        name in proptest::sample::select(vec!["lhs", "l-r:r=2", "hinge", "squared-hinge", "logistic", "smoothed-hinge:width=0.5"]),
        balanced in any::<bool>(),
    ) {
        let positives = if balanced { 4 } else { 3 };
        let signs: Vec<f64> = (0..8).map(|i| if i < positives { 1.0 } else { -1.0 }).collect();
        let scores: Vec<f64> = scores.iter().map(|f| 0.3 * f + shift).collect();
        let (loss, labels) = (loss(name), Labels::from_signs(signs).unwrap());
        let risk = EmpiricalRisk::new(&*loss, &labels).unwrap();
        let best = risk.margins().best_intercepts(&scores, 0.0);
        let mut margins = risk.margins();
        let mut value = |b: f64| margins.risk_at(&scores, b);
        let least = value(best.lower);
        let slack = 1e-13 * (1.0 + least.abs());
        for share in [0.25, 0.5, 1.0] {
            let b = best.lower + share * (best.upper - best.lower);
            prop_assert!((value(b) - least).abs() <= slack);
        }
        for k in -200..=200 {
            let b = f64::from(k) / 20.0 - shift;
            prop_assert!(value(b) >= least - slack, "{b}");
            let beyond = (b - best.upper).max(best.lower - b);
            if beyond > 1e-3 {
                prop_assert!(value(b) > least + 1e-9, "{b} {best:?}");
            }
        }
    }
}

/// Remark 2: the four points have beta = 0 and every intercept from -1 to 1; a sample in the curved
/// part, or other weights, leave one.
#[test]
fn the_four_points_of_remark_2_have_all_intercepts_up_to_1() {
    let rows = [[-1.0], [1.0], [-1.0], [1.0]];
    let design = Design::from_rows(&rows).unwrap();
    let labels = Labels::from_signs(vec![-1.0, -1.0, 1.0, 1.0]).unwrap();
    let objective = Objective::new(&LeakyHockeyStick as &dyn MarginLoss, &design, &labels).unwrap();
    let fit = fit(&objective, lambda(0.1), &tight()).unwrap();
    assert!(fit.coef[0].abs() < 1e-9, "{fit:?}");
    let solution = fit.dual_solution(&objective);
    if let Some(form) = solution.constrained {
        assert!(form.norm < 1e-9);
    }
    let risk = EmpiricalRisk::new(&LeakyHockeyStick as &dyn MarginLoss, &labels).unwrap();
    let best = |scores: &[f64]| risk.margins().best_intercepts(scores, 0.0);
    let all = best(&[0.0; 4]);
    assert!((all.lower + 1.0).abs() < 1e-15 && (all.upper - 1.0).abs() < 1e-15, "{all:?}");
    // By the formula of the remark, and without a score in between.
    let some = best(&[-0.5, 0.25, 0.0, 0.5]);
    assert!((some.lower + 0.5).abs() < 1e-14 && (some.upper - 0.5).abs() < 1e-14, "{some:?}");
    let one = best(&[-2.0, 2.0, -2.0, 3.0]);
    assert_eq!(one.lower, one.upper);
    let skewed = risk.clone().with_weights(&[1.0, 1.0, 1.0, 2.0]).unwrap();
    let one = skewed.margins().best_intercepts(&[0.0; 4], 0.0);
    assert_eq!(one.lower, one.upper);
    let none = risk.without_intercept();
    assert_eq!(none.margins().best_intercepts(&[0.0; 4], 0.0).upper, 0.0);
}

/// Worked by hand: two points, whose minimiser is `w = 1/(2 lambda)^(1/2)` with both margins beyond 1.
#[test]
fn two_points_have_their_form_in_closed_form() {
    let design = Design::from_rows(&[[1.0], [-1.0]]).unwrap();
    let labels = Labels::from_signs(vec![1.0, -1.0]).unwrap();
    let objective = Objective::new(&LeakyHockeyStick as &dyn MarginLoss, &design, &labels).unwrap();
    let fit = fit(&objective, lambda(0.02), &tight()).unwrap();
    let solution = fit.dual_solution(&objective);
    let form = solution.constrained.unwrap();
    // w = 5, so that C = 5, d = 1, eta = 0, sigma = 1, and (3) is 0; (4) is 0 - 2.
    assert!((form.norm - 5.0).abs() < 1e-6 && (solution.norm - 5.0).abs() < 1e-6);
    assert!(form.primal.abs() < 1e-6 && form.dual.abs() < 1e-6);
    assert!(form.multipliers.iter().all(|sigma| (sigma - 1.0).abs() < 1e-6));
    let hulls = form.hulls.unwrap();
    assert!((hulls.distance - 2.0).abs() < 1e-12 && (hulls.geometric_mean - 1.0).abs() < 1e-9);
    assert!(solution.intercept.unwrap().abs() < 1e-6);
    let margin: f64 = solution.samples[0].margin;
    assert!((LeakyHockeyStick.derivative(margin) + solution.samples[0].dual).abs() < 1e-9);
}
