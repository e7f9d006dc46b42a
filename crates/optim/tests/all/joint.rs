//! Several classes in one problem.

use margins_data::{Classes, Dataset, Design, Labels};
use margins_losses::{Logistic, MarginLoss};
use margins_optim::path::{
    JointFit, joint_path, joint_path_by_products, joint_path_on_matrix, path_over,
};
use margins_optim::problem::{FreeColumns, JointForm, JointObjective};
use margins_optim::space::InMemory;
use margins_optim::{Error, Lambda, Objective, Options, Solver, Status, Training, fit, path};
use margins_test_support::{CONVEX_LOSSES, dense, lambda, loss, on_threads, sparse};
use nalgebra::DMatrix;

const FORMS: [JointForm; 2] = [JointForm::Pairwise, JointForm::Multinomial];

/// Returns true if a form takes a loss.
fn takes(form: JointForm, loss: &str) -> bool {
    match form {
        JointForm::Pairwise => true,
        JointForm::Multinomial => loss == "logistic",
        JointForm::CrammerSinger => loss == "hinge",
    }
}

fn noise(i: usize, j: usize) -> f64 {
    ((i * 37 + j * 101 + i * i * 13 + i * j * 7) % 199) as f64 / 99.5 - 1.0
}

/// Rows of k overlapping classes, a third of whose entries are 0.
fn rows(n: usize, p: usize, k: usize) -> (Vec<Vec<f64>>, Vec<u32>) {
    let class = |i: usize| (i * i + i / 3) % k;
    let entry = |i: usize, j: usize| {
        let shift = if class(i) == j % k { 0.8 } else { 0.0 };
        if (i + 2 * j).is_multiple_of(3) { 0.0 } else { noise(i, j) + shift }
    };
    let rows = (0..n).map(|i| (0..p).map(|j| entry(i, j)).collect()).collect();
    (rows, (0..n).map(|i| class(i) as u32).collect())
}

fn classes(indices: &[u32], k: usize) -> Classes {
    let names = (0..k).map(|class| format!("class {class}")).collect();
    Classes::from_indices(indices.to_vec(), names).expect("classes")
}

fn options(tolerance: f64) -> Options<'static> {
    Options { tolerance, ..Options::default() }
}

fn joint(
    objective: &JointObjective<'_, dyn MarginLoss>,
    lambdas: &[Lambda],
    tolerance: f64,
) -> Vec<JointFit> {
    let fits = joint_path(objective, lambdas, &options(tolerance), &|_| {}).expect("fits");
    for fit in &fits {
        let what = (objective.form(), objective.loss().specification(), fit.lambda);
        assert!(fit.report.converged(), "{what:?} {:?}", fit.report);
        let total: f64 = fit.intercepts.iter().sum();
        let size = fit.intercepts.iter().fold(0.0f64, |size, b| size.max(b.abs()));
        assert!(total.abs() <= 1e-14 * (1.0 + size) * fit.intercepts.len() as f64);
    }
    fits
}

/// Computes F from its definition, and its gradient: k rows of an intercept and coefficients.
fn value(
    (form, loss): (JointForm, &dyn MarginLoss),
    (rows, y): (&[Vec<f64>], &[u32]),
    lambda: f64,
    point: &[Vec<f64>],
) -> (f64, Vec<Vec<f64>>) {
    let n = rows.len() as f64;
    let mut gradient: Vec<Vec<f64>> = point
        .iter()
        .map(|w| {
            w.iter().enumerate().map(|(j, w)| if j == 0 { 0.0 } else { 2.0 * lambda * w }).collect()
        })
        .collect();
    let square = |w: &Vec<f64>| w[1..].iter().map(|w| w * w).sum::<f64>();
    let mut value = lambda * point.iter().map(square).sum::<f64>();
    for (x, &y) in rows.iter().zip(y) {
        let y = y as usize;
        let score = |w: &Vec<f64>| w[0] + w[1..].iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        let scores: Vec<f64> = point.iter().map(score).collect();
        let mut slopes = vec![0.0; scores.len()];
        match form {
            JointForm::Pairwise => {
                for c in (0..scores.len()).filter(|&c| c != y) {
                    let u = scores[y] - scores[c];
                    value += loss.value(u) / n;
                    slopes[y] += loss.derivative(u) / n;
                    slopes[c] -= loss.derivative(u) / n;
                }
            }
            JointForm::Multinomial => {
                let total: f64 = scores.iter().map(|s| s.exp()).sum();
                value += (total.ln() - scores[y]) / n;
                for (c, slope) in slopes.iter_mut().enumerate() {
                    *slope = (scores[c].exp() / total - f64::from(u8::from(c == y))) / n;
                }
            }
            JointForm::CrammerSinger => {
                let hinge = |c: usize| if c == y { 0.0 } else { 1.0 - scores[y] + scores[c] };
                let largest = (0..scores.len()).map(|c| (c, hinge(c)));
                let (c, hinge) = largest.fold((y, 0.0), |a, b| if b.1 > a.1 { b } else { a });
                value += hinge / n;
                slopes[c] += 1.0 / n;
                slopes[y] -= 1.0 / n;
            }
        }
        for (gradient, slope) in gradient.iter_mut().zip(&slopes) {
            gradient[0] += slope;
            gradient[1..].iter_mut().zip(x).for_each(|(g, x)| *g += slope * x);
        }
    }
    (value, gradient)
}

/// Minimises F by plain gradient steps with momentum that restarts where F rises.
fn plain_minimum(
    of: (JointForm, &dyn MarginLoss),
    data: (&[Vec<f64>], &[u32]),
    lambda: f64,
    k: usize,
) -> f64 {
    let zero = vec![vec![0.0; data.0[0].len() + 1]; k];
    let (mut point, mut ahead, mut momentum) = (zero.clone(), zero, 1.0f64);
    let (mut step, mut last) = (1.0, f64::INFINITY);
    for _ in 0..6000 {
        let (at, gradient) = value(of, data, lambda, &ahead);
        let square: f64 = gradient.iter().flatten().map(|g| g * g).sum();
        let moved = |step: f64| -> Vec<Vec<f64>> {
            let row = |(w, g): (&Vec<f64>, &Vec<f64>)| {
                w.iter().zip(g).map(|(w, g)| w - step * g).collect()
            };
            ahead.iter().zip(&gradient).map(row).collect()
        };
        let mut next = moved(step);
        while value(of, data, lambda, &next).0 > at - 0.5 * step * square && step > 1e-9 {
            step *= 0.5;
            next = moved(step);
        }
        let reached = value(of, data, lambda, &next).0;
        let larger = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        let share = if reached > last { 0.0 } else { (momentum - 1.0) / larger };
        momentum = if reached > last { 1.0 } else { larger };
        let row = |(a, b): (&Vec<f64>, &Vec<f64>)| {
            a.iter().zip(b).map(|(a, b)| a + share * (a - b)).collect()
        };
        ahead = next.iter().zip(&point).map(row).collect();
        (point, last) = (next, reached);
    }
    last
}

/// The fit has the value that the definition gives it, and it is the minimum that plain steps find.
#[test]
fn minima_are_those_of_plain_steps() {
    let (rows, y) = rows(40, 3, 3);
    let (design, classes) = (dense(&rows), classes(&y, 3));
    for name in ["logistic", "squared-hinge", "lhs", "squared"] {
        let loss = loss(name);
        for form in FORMS {
            if !takes(form, name) {
                continue;
            }
            let objective = JointObjective::new(&*loss, form, &design, &classes).expect("fits");
            for fit in joint(&objective, &[1.0, 0.03].map(lambda), 1e-10) {
                let of = fit.intercepts.iter().zip(&fit.coefs);
                let point: Vec<Vec<f64>> = of.map(|(b, w)| [&[*b][..], &w[..]].concat()).collect();
                let at = fit.lambda.get();
                let (own, _) = value((form, &*loss), (&rows, &y), at, &point);
                let found = plain_minimum((form, &*loss), (&rows, &y), at, 3);
                let what = format!("{name} {form:?} {at}: {own} {found} {:?}", fit.report);
                assert!((own - fit.report.objective).abs() <= 1e-13 * own.abs(), "{what}");
                assert!((own - found).abs() <= 1e-8 * own.abs(), "{what}");
                assert!(fit.report.dual_objective <= found + 1e-13 * own.abs(), "{what}");
            }
        }
    }
}

/// With two classes, the sum at lambda is the binary problem at half of it, the multinomial loss the
/// logistic one, and the largest hinge the only one.
#[test]
fn two_classes_are_the_binary_problem() {
    let (rows, y) = rows(50, 4, 2);
    let (design, classes) = (dense(&rows), classes(&y, 2));
    let signs = y.iter().map(|&y| if y == 1 { 1.0 } else { -1.0 }).collect();
    let labels = Labels::from_signs(signs).expect("two classes");
    let weights: Vec<f64> = (0..50).map(|i| 0.5 + (i % 4) as f64).collect();
    for name in CONVEX_LOSSES {
        let loss = loss(name);
        for form in FORMS.into_iter().chain([JointForm::CrammerSinger]) {
            if !takes(form, name) {
                continue;
            }
            for intercept in [true, false] {
                let several = JointObjective::new(&*loss, form, &design, &classes).expect("fits");
                let several = several.with_weights(&weights).expect("weights");
                let binary = Objective::new(&*loss, &design, &labels).expect("fits");
                let binary = binary.with_weights(&weights).expect("weights");
                let (several, binary) = match intercept {
                    true => (several, binary),
                    false => (several.without_intercepts(), binary.without_intercept()),
                };
                for at in [1.0, 0.02] {
                    let binary = fit(&binary, lambda(0.5 * at), &options(1e-9)).expect("a fit");
                    if binary.report.status == Status::Unbounded {
                        let fits = joint_path(&several, &[lambda(at)], &options(1e-9), &|_| {});
                        assert_eq!(fits.expect("a fit")[0].report.status, Status::Unbounded);
                        continue;
                    }
                    let several = &joint(&several, &[lambda(at)], 1e-9)[0];
                    let (a, b) = (several.report.objective, binary.report.objective);
                    let what = format!("{name} {intercept} {at}: {a} {b}");
                    let gaps = several.report.duality_gap + binary.report.duality_gap;
                    assert!((a - b).abs() <= gaps, "{what}");
                    // An objective within the gap holds coefficients to the root of gap/lambda.
                    let most = 2.0 * (gaps / at).sqrt() + 1e-14;
                    for (j, w) in binary.coef.iter().enumerate() {
                        assert!((several.coefs[1][j] - 0.5 * w).abs() <= most, "{what}");
                        assert!((several.coefs[0][j] + 0.5 * w).abs() <= most, "{what}");
                    }
                }
            }
        }
    }
}

/// The pairs, formed and given to the other methods as samples, have the same minimum: their features
/// are those of k classes, and behind them the intercepts without a penalty.
#[test]
fn pairs_have_the_minimum_that_other_methods_find() {
    const K: usize = 3;
    let (rows, y) = rows(36, 4, K);
    let classes = classes(&y, K);
    let p = rows[0].len();
    let (mut pairs, mut signs) = (Vec::new(), Vec::new());
    for (i, (x, &y)) in rows.iter().zip(&y).enumerate() {
        for c in (0..K).filter(|&c| c != y as usize) {
            // A pair and minus it with the other label are the same.
            let sign = if (i + c).is_multiple_of(2) { 1.0 } else { -1.0 };
            let mut row = vec![0.0; K * p + K - 1];
            for (class, part) in [(y as usize, sign), (c, -sign)] {
                row[class * p..(class + 1) * p].iter_mut().zip(x).for_each(|(z, x)| *z = part * x);
                if class < K - 1 {
                    row[K * p + class] = part;
                }
            }
            pairs.push(row);
            signs.push(sign);
        }
    }
    let labels = Labels::from_signs(signs).expect("both signs");
    let formed = dense(&pairs);
    let features: Vec<usize> = (0..K * p).collect();
    let without = formed.select_columns(&features).expect("columns");
    let lambdas = [0.5, 0.01].map(lambda);
    for name in CONVEX_LOSSES {
        let loss = loss(name);
        // Means over pairs have half the terms of sums over rivals.
        let halved: Vec<Lambda> = lambdas.map(|at| lambda(at.get() / (K - 1) as f64)).to_vec();
        for design in [dense(&rows), sparse(&rows)] {
            let objective =
                JointObjective::new(&*loss, JointForm::Pairwise, &design, &classes).expect("fits");
            let of_pairs = Objective::new(&*loss, &formed, &labels).expect("fits");
            let free = FreeColumns::new((K * p..K * p + K - 1).collect()).expect("few");
            let of_pairs = of_pairs.without_intercept().with_free(free).expect("columns");
            let others = path_over(InMemory::new(&of_pairs), &halved, &options(1e-8), &|_| {});
            for (one, other) in joint(&objective, &lambdas, 1e-8).iter().zip(others.expect("fits"))
            {
                let (a, b) = (one.report.objective, (K - 1) as f64 * other.report.objective);
                let gaps = one.report.duality_gap + (K - 1) as f64 * other.report.duality_gap;
                assert!(other.report.converged(), "{name} {:?}", other.report);
                assert!((a - b).abs() <= gaps, "{name} {}: {a} {b}", one.lambda);
            }
            let objective = objective.without_intercepts();
            let fits = joint(&objective, &lambdas, 1e-8);
            let of_pairs = Objective::new(&*loss, &without, &labels).expect("fits");
            let of_pairs = of_pairs.without_intercept();
            for solver in [Solver::ProximalNewton, Solver::SDCA] {
                let options = Options { solver, ..options(1e-7) };
                let others = path(&of_pairs, &halved, &options, &|_| {}).expect("fits");
                for (one, other) in fits.iter().zip(others) {
                    let (a, b) = (one.report.objective, (K - 1) as f64 * other.report.objective);
                    let gaps = one.report.duality_gap + (K - 1) as f64 * other.report.duality_gap;
                    assert!((a - b).abs() <= gaps, "{name} {solver:?} {}: {a} {b}", one.lambda);
                }
            }
        }
    }
}

/// Pairs with the copies of a free feature, of all classes but the last, as free columns have the minimum of
/// the classes with this feature free, whose coefficients add up to 0.
#[test]
fn free_features_have_the_minimum_of_free_pairs() {
    const K: usize = 3;
    const FREE: usize = 1;
    let (rows, y) = rows(40, 3, K);
    let (three, p) = (classes(&y, K), rows[0].len());
    let (mut pairs, mut signs) = (Vec::new(), Vec::new());
    for (i, (x, &y)) in rows.iter().zip(&y).enumerate() {
        for c in (0..K).filter(|&c| c != y as usize) {
            let sign = if (i + c).is_multiple_of(2) { 1.0 } else { -1.0 };
            let mut row = vec![0.0; K * p + K - 1];
            for (class, part) in [(y as usize, sign), (c, -sign)] {
                row[class * p..(class + 1) * p].iter_mut().zip(x).for_each(|(z, x)| *z = part * x);
                if class < K - 1 {
                    row[K * p + class] = part;
                }
            }
            row[(K - 1) * p + FREE] = 0.0;
            pairs.push(row);
            signs.push(sign);
        }
    }
    let labels = Labels::from_signs(signs).expect("both signs");
    let formed = dense(&pairs);
    let lambdas = [2.0, 0.02].map(lambda);
    let halved: Vec<Lambda> = lambdas.map(|at| lambda(at.get() / (K - 1) as f64)).to_vec();
    for name in CONVEX_LOSSES {
        let loss = loss(name);
        for intercept in [true, false] {
            let mut free: Vec<usize> = (0..K - 1).map(|class| class * p + FREE).collect();
            free.extend((K * p..K * p + K - 1).filter(|_| intercept));
            let columns: Vec<usize> = (0..K * p + if intercept { K - 1 } else { 0 }).collect();
            let formed = formed.select_columns(&columns).expect("columns");
            let of_pairs = Objective::new(&*loss, &formed, &labels).expect("fits");
            let of_pairs = of_pairs.without_intercept();
            let of_pairs =
                of_pairs.with_free(FreeColumns::new(free).expect("few")).expect("columns");
            let others = path_over(InMemory::new(&of_pairs), &halved, &options(1e-8), &|_| {});
            let design = sparse(&rows);
            let objective = JointObjective::new(&*loss, JointForm::Pairwise, &design, &three);
            let free = FreeColumns::new(vec![FREE]).expect("one");
            let objective = objective.expect("fits").with_free(free).expect("a column");
            let objective = if intercept { objective } else { objective.without_intercepts() };
            let fits = joint_path(&objective, &lambdas, &options(1e-8), &|_| {}).expect("fits");
            for (one, other) in fits.iter().zip(others.expect("fits")) {
                let (a, b) = (one.report.objective, (K - 1) as f64 * other.report.objective);
                let gaps = one.report.duality_gap + (K - 1) as f64 * other.report.duality_gap;
                let what = format!("{name} {intercept} {}: {a} {b}", one.lambda);
                assert_eq!(one.report.status, other.report.status, "{what}");
                // A feature that nearly separates the classes lets the leaky ReLU fall for ever.
                let may_fall = name.starts_with("leaky-relu");
                assert!(one.report.converged() || may_fall, "{what} {:?}", one.report);
                assert!((a - b).abs() <= gaps, "{what}");
                let free = || one.coefs.iter().map(|coef| coef[FREE]);
                let (total, size) =
                    (free().sum::<f64>(), free().fold(1.0, |size, w| w.abs().max(size)));
                assert!(total.abs() <= 1e-14 * size * K as f64, "{what}: {total}");
            }
        }
    }
    let free = FreeColumns::new(vec![3]).expect("one");
    let design = dense(&rows);
    let objective =
        JointObjective::new(&Logistic as &dyn MarginLoss, JointForm::Multinomial, &design, &three);
    assert!(matches!(objective.expect("fits").with_free(free), Err(Error::Shape { .. })));
}

/// Features in other units, and one that others make up, leave the minimum of a fit with these free as it is.
#[test]
fn units_of_free_features_do_not_matter() {
    const K: usize = 3;
    let (rows, y) = rows(45, 3, K);
    let three = classes(&y, K);
    let changed = |row: &Vec<f64>| vec![row[0], 1e3 * row[1], row[2], row[1] + 2.0];
    let other: Vec<Vec<f64>> = rows.iter().map(changed).collect();
    for (name, form) in [("logistic", FORMS[0]), ("hinge", FORMS[0]), ("logistic", FORMS[1])] {
        let loss = loss(name);
        let fit = |rows: &[Vec<f64>], free: Vec<usize>| {
            let design = dense(rows);
            let objective = JointObjective::new(&*loss, form, &design, &three).expect("fits");
            let free = FreeColumns::new(free).expect("few");
            let objective = objective.with_free(free).expect("columns");
            joint(&objective, &[lambda(0.05)], 1e-8).remove(0)
        };
        let (one, other) = (fit(&rows, vec![1]), fit(&other, vec![1, 3]));
        let gaps = one.report.duality_gap + other.report.duality_gap;
        let (a, b) = (one.report.objective, other.report.objective);
        assert!((a - b).abs() <= gaps, "{name} {form:?}: {a} {b}");
    }
}

/// Without a penalty the minimum is that of the mean loss, which small lambdas come near to; classes that a
/// plane each separates have none.
#[test]
fn no_penalty_has_the_minimum_of_the_mean_loss() {
    let (rows, y) = rows(60, 3, 3);
    let data = Dataset::new(dense(&rows), classes(&y, 3)).expect("as many");
    for form in FORMS {
        for name in ["logistic", "squared-hinge"] {
            let loss = loss(name);
            let training = Training { options: options(1e-9), ..Training::new(&*loss) };
            let fits = training.joint_path(form, &data, &[Lambda::NONE]).expect("fits");
            let [fit] = &fits[..] else { panic!("one fit") };
            assert!(fit.report.converged() && fit.lambda == Lambda::NONE, "{:?}", fit.report);
            let near = training.joint_path(form, &data, &[lambda(1e-8)]).expect("fits");
            let (a, b) = (&fit.report, &near[0].report);
            assert!(a.dual_objective <= b.objective, "{form:?} {name} {a:?} {b:?}");
            assert!((a.objective - b.objective).abs() <= 1e-5, "{form:?} {name} {a:?} {b:?}");
            let at = |fit: &JointFit| -> Vec<Vec<f64>> {
                let of = fit.intercepts.iter().zip(&fit.coefs);
                of.map(|(b, w)| [&[*b][..], &w[..]].concat()).collect()
            };
            let (own, gradient) = value((form, &*loss), (&rows, &y), 0.0, &at(fit));
            assert!((own - a.objective).abs() <= 1e-12, "{form:?} {name}");
            let slope = gradient.iter().flatten().fold(0.0f64, |slope, g| slope.max(g.abs()));
            assert!(slope < 1e-3, "{form:?} {name} {slope}");
        }
    }
    let apart: Vec<Vec<f64>> =
        y.iter().map(|&y| (0..3).map(|j| f64::from(u8::from(j == y))).collect()).collect();
    let separable = Dataset::new(dense(&apart), classes(&y, 3)).expect("as many");
    let loss: &dyn MarginLoss = &Logistic;
    let fits = Training::new(loss).joint_path(FORMS[0], &separable, &[Lambda::NONE]);
    assert_eq!(fits.expect("fits")[0].report.status, Status::NoMinimum);
    // Rounding leaves margins just short of where the loss is 0.
    let bent = apart.iter().enumerate();
    let bent: Vec<Vec<f64>> = bent
        .map(|(i, x)| x.iter().enumerate().map(|(j, x)| x + 0.2 * noise(i, j)).collect())
        .collect();
    let separable = Dataset::new(dense(&bent), classes(&y, 3)).expect("as many");
    let ends = margins_test_support::loss("squared-hinge");
    let fits = Training::new(&*ends).joint_path(FORMS[0], &separable, &[Lambda::NONE]);
    let report = &fits.expect("fits")[0].report;
    assert!(report.converged() && report.objective < 1e-30, "{report:?}");
    assert!(report.iterations < 100, "{report:?}");
    let wide = dense(&vec![vec![1.0; 65]; 60]);
    let wide = data.over(wide).expect("as many");
    let refused = Training::new(loss).joint_path(FORMS[0], &wide, &[Lambda::NONE]);
    assert!(matches!(refused, Err(Error::FreeColumns { found: 65, limit: 64 })), "{refused:?}");
}

/// The order of the classes does not matter, nor do shifts of the features, and with features in other
/// units lambda is in the square of these.
#[test]
fn orders_shifts_and_units_do_not_matter() {
    const K: usize = 4;
    let (rows, y) = rows(60, 3, K);
    let order = [2, 0, 3, 1];
    let permuted: Vec<u32> = y.iter().map(|&y| order[y as usize]).collect();
    let changed = |change: &dyn Fn(f64) -> f64| -> Design {
        dense(&rows.iter().map(|x| x.iter().map(|x| change(*x)).collect()).collect::<Vec<_>>())
    };
    for (name, form) in [
        ("logistic", JointForm::Pairwise),
        ("hinge", JointForm::Pairwise),
        ("lhs", JointForm::Pairwise),
        ("logistic", JointForm::Multinomial),
        ("hinge", JointForm::CrammerSinger),
    ] {
        let loss = loss(name);
        let fits = |design: &Design, y: &[u32], factor: f64| -> Vec<JointFit> {
            let classes = classes(y, K);
            let objective = JointObjective::new(&*loss, form, design, &classes).expect("fits");
            joint(&objective, &[1.0, 0.01].map(|at| lambda(factor * at)), 1e-9)
        };
        let as_given = fits(&dense(&rows), &y, 1.0);
        for (one, other) in as_given.iter().zip(fits(&dense(&rows), &permuted, 1.0)) {
            let gaps = one.report.duality_gap + other.report.duality_gap;
            let what = format!("{name} {form:?} {}", one.lambda);
            assert!((one.report.objective - other.report.objective).abs() <= gaps, "{what}");
            let most = 2.0 * (gaps / one.lambda.get()).sqrt() + 1e-14;
            for (class, coef) in one.coefs.iter().enumerate() {
                let of_other = &other.coefs[order[class] as usize];
                let near = |(a, b): (&f64, &f64)| (a - b).abs() <= most;
                assert!(coef.iter().zip(of_other).all(near), "{what}");
            }
        }
        for (design, factor) in [
            (changed(&|x| x + 1e3), 1.0),
            (changed(&|x| 1024.0 * x), 1024.0f64.powi(2)),
            (changed(&|x| x / 1024.0), 1024.0f64.powi(-2)),
        ] {
            for (one, other) in as_given.iter().zip(fits(&design, &y, factor)) {
                let (a, b) = (one.report.objective, other.report.objective);
                // The sum with the shift has rounded the features.
                let gaps = one.report.duality_gap + other.report.duality_gap + 1e-9 * a;
                assert!((a - b).abs() <= gaps, "{name} {form:?} {factor}: {a} {b}");
            }
        }
    }
}

/// Returns the nearest numbers that are at least 0 and have the sum 1, from the sorted ones.
fn onto_the_simplex(numbers: &[f64]) -> Vec<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut total, mut threshold) = (0.0, 0.0);
    for (m, x) in sorted.iter().enumerate() {
        total += x;
        let next = (total - 1.0) / (m + 1) as f64;
        threshold = if *x > next { next } else { threshold };
    }
    numbers.iter().map(|x| (x - threshold).max(0.0)).collect()
}

/// Without intercepts, block coordinate ascent on the dual finds the same maximum of the largest hinge: the
/// best dual of one sample is a projection.
#[test]
fn the_largest_hinge_is_that_of_dual_ascent() {
    const K: usize = 3;
    let (rows, y) = rows(40, 4, K);
    let (n, p) = (rows.len(), rows[0].len());
    let (design, classes) = (dense(&rows), classes(&y, K));
    let loss = loss("hinge");
    let objective = JointObjective::new(&*loss, JointForm::CrammerSinger, &design, &classes);
    let objective = objective.expect("fits").without_intercepts();
    for fit in joint(&objective, &[0.5, 0.05].map(lambda), 1e-8) {
        let at = fit.lambda.get();
        let start = |i: usize| -> Vec<f64> {
            (0..K).map(|c| f64::from(u8::from(c == y[i] as usize))).collect()
        };
        let mut duals: Vec<Vec<f64>> = (0..n).map(start).collect();
        let mut point = vec![vec![0.0; p]; K];
        for i in (0..4000).flat_map(|_| 0..n) {
            let (x, class) = (&rows[i], y[i] as usize);
            // With w_c the sum of ([c = y] - p_c) x/(2 lambda n), -n D is a square of p of this curvature.
            let curvature = x.iter().map(|x| x * x).sum::<f64>() / (2.0 * at * n as f64);
            let gain = |c: usize| {
                let score: f64 = point[c].iter().zip(x).map(|(w, x)| w * x).sum();
                score + f64::from(u8::from(c != class))
            };
            let ahead: Vec<f64> = (0..K).map(|c| duals[i][c] + gain(c) / curvature).collect();
            let next = onto_the_simplex(&ahead);
            for c in 0..K {
                let step = (duals[i][c] - next[c]) / (2.0 * at * n as f64);
                point[c].iter_mut().zip(x).for_each(|(w, x)| *w += step * x);
            }
            duals[i] = next;
        }
        let square: f64 = point.iter().flatten().map(|w| w * w).sum();
        let others = duals.iter().zip(&y).map(|(p, &y)| 1.0 - p[y as usize]);
        let bound = others.sum::<f64>() / n as f64 - at * square;
        let with_zero: Vec<Vec<f64>> = point.iter().map(|w| [&[0.0][..], w].concat()).collect();
        let of = (JointForm::CrammerSinger, &*loss);
        let (reached, _) = value(of, (&rows, &y), at, &with_zero);
        assert!(reached - bound <= 1e-6 * reached, "{at}: {reached} {bound}");
        let (report, slack) = (&fit.report, 1e-13 * reached);
        assert!(report.objective >= bound - slack, "{at}: {bound} {report:?}");
        assert!(report.dual_objective <= reached + slack, "{at}: {reached} {report:?}");
        let own: Vec<Vec<f64>> = fit.coefs.iter().map(|w| [&[0.0][..], w].concat()).collect();
        let (own, _) = value(of, (&rows, &y), at, &own);
        assert!((own - report.objective).abs() <= slack, "{at}: {own} {report:?}");
    }
}

/// With intercepts, no point near the fit has a value below the bound, and the value is that of the
/// definition.
#[test]
fn the_largest_hinge_is_certified_with_intercepts() {
    const K: usize = 4;
    let (rows, y) = rows(60, 3, K);
    let (design, classes) = (sparse(&rows), classes(&y, K));
    let loss = loss("hinge");
    let of = (JointForm::CrammerSinger, &*loss);
    let objective = JointObjective::new(&*loss, of.0, &design, &classes).expect("fits");
    for fit in joint(&objective, &[1.0, 0.1, 0.001].map(lambda), 1e-7) {
        let (at, parts) = (fit.lambda.get(), fit.intercepts.iter().zip(&fit.coefs));
        let point: Vec<Vec<f64>> = parts.map(|(b, w)| [&[*b][..], &w[..]].concat()).collect();
        let (own, _) = value(of, (&rows, &y), at, &point);
        assert!((own - fit.report.objective).abs() <= 1e-13 * own, "{at}: {own} {:?}", fit.report);
        for size in [1e-3, 1e-1] {
            for k in 0..20 {
                let mut moved = point.clone();
                let moves = moved.iter_mut().flatten().enumerate();
                moves.for_each(|(j, w)| *w += size * noise(k, j));
                let (other, _) = value(of, (&rows, &y), at, &moved);
                assert!(other >= fit.report.dual_objective, "{at}: {other} {:?}", fit.report);
            }
        }
    }
}

/// A weight of 2 is a sample twice, one of 0 none, and a class without a weight takes no part. Sparse
/// samples and any number of threads have the same fit.
#[test]
fn weights_count_samples() {
    const K: usize = 3;
    let (rows, mut y) = rows(45, 4, K);
    let weights: Vec<f64> = (0..45).map(|i| (i % 3) as f64).collect();
    let repeated: Vec<usize> = (0..45).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let of_repeated: Vec<u32> = repeated.iter().map(|&i| y[i]).collect();
    let factor = repeated.len() as f64 / 45.0;
    for form in FORMS {
        let loss: &dyn MarginLoss = &Logistic;
        let (all, classes_of_all) = (sparse(&rows), classes(&y, K));
        let objective = JointObjective::new(loss, form, &all, &classes_of_all).expect("fits");
        let objective = objective.with_weights(&weights).expect("weights");
        let run = || joint(&objective, &[lambda(0.02 * factor)], 1e-9);
        let one = on_threads(1, run);
        assert_eq!(one, on_threads(3, run));
        let (part, classes_of_part) = (dense(&rows).select(&repeated), classes(&of_repeated, K));
        let objective = JointObjective::new(loss, form, &part, &classes_of_part).expect("fits");
        let other = &joint(&objective, &[lambda(0.02)], 1e-9)[0];
        let (a, b) = (one[0].report.objective, factor * other.report.objective);
        let gaps = one[0].report.duality_gap + factor * other.report.duality_gap;
        assert!((a - b).abs() <= gaps, "{form:?}: {a} {b}");
    }
    // The rows of weight 0 become a class of their own.
    y.iter_mut().zip(&weights).filter(|(_, c)| **c == 0.0).for_each(|(y, _)| *y = 3);
    let (design, four) = (dense(&rows), classes(&y, 4));
    let objective = JointObjective::new(&Logistic as &dyn MarginLoss, FORMS[0], &design, &four);
    let objective = objective.expect("fits").with_weights(&weights).expect("weights");
    let fit = &joint(&objective, &[lambda(0.1)], 1e-6)[0];
    assert_eq!((&fit.classes[..], fit.coefs.len()), (&[0, 1, 2][..], 3));
}

/// Without features, the multinomial probabilities are the shares of the classes; and a loss with a
/// slope everywhere has a minimum as long as no class outweighs the others.
#[test]
fn intercepts_alone_are_those_of_the_shares() {
    let y: Vec<u32> = (0..20).map(|i| [0, 1, 1, 2, 2, 2, 2, 0, 1, 2][i % 10]).collect();
    let (design, classes) = (dense(&vec![vec![0.0]; 20]), classes(&y, 3));
    let loss: &dyn MarginLoss = &Logistic;
    for form in FORMS {
        let objective = JointObjective::new(loss, form, &design, &classes).expect("fits");
        let fit = &joint(&objective, &[lambda(1.0)], 1e-12)[0];
        let total: f64 = fit.intercepts.iter().map(|b| b.exp()).sum();
        for (b, share) in fit.intercepts.iter().zip([0.2, 0.3, 0.5]) {
            // Pairs of logistic losses have these probabilities, too.
            assert!((b.exp() / total - share).abs() <= 1e-5, "{form:?} {fit:?}");
        }
    }
    // The slopes of leaky-relu:lambda=l are from -(1 - l) to -l: a third is the largest l.
    for (slope, is_unbounded) in [("0.3", false), ("0.4", true)] {
        let loss = margins_test_support::loss(&format!("leaky-relu:lambda={slope}"));
        let objective = JointObjective::new(&*loss, FORMS[0], &design, &classes).expect("fits");
        let fits = joint_path(&objective, &[lambda(1.0)], &options(1e-6), &|_| {}).expect("a fit");
        let status = fits[0].report.status;
        assert_eq!(status == Status::Unbounded, is_unbounded, "{slope} {status:?}");
    }
}

/// Many coefficients have conjugate gradients for their equations.
#[test]
fn more_coefficients_than_a_dense_system_takes() {
    const K: usize = 3;
    let (mut rows, y) = rows(30, 3, K);
    rows.iter_mut().enumerate().for_each(|(i, x)| {
        x.resize(1200, 0.0);
        (0..20).for_each(|j| x[3 + (i * 53 + j * 97) % 1197] = noise(i, j));
    });
    let (design, classes) = (sparse(&rows), classes(&y, K));
    for form in FORMS {
        let loss: &dyn MarginLoss = &Logistic;
        let objective = JointObjective::new(loss, form, &design, &classes).expect("fits");
        joint(&objective, &[1.0, 0.1, 0.01].map(lambda), 1e-8);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let (rows, y) = rows(12, 2, 3);
    let (design, three) = (dense(&rows), classes(&y, 3));
    let loss: &dyn MarginLoss = &Logistic;
    let objective = JointObjective::new(loss, FORMS[0], &design, &three).expect("fits");
    for (name, solver) in Solver::NAMED {
        let options = Options { solver, ..Options::default() };
        let fits = joint_path(&objective, &[lambda(0.1)], &options, &|_| {});
        match solver {
            Solver::Auto | Solver::Newton => assert!(fits.expect("a fit")[0].report.converged()),
            _ => {
                let error = fits.expect_err(name).to_string();
                assert!(error.contains("several classes in one problem"), "{error}");
            }
        }
    }
    assert!(joint_path(&objective, &[], &Options::default(), &|_| {}).is_err());
    let none = joint_path(&objective, &[Lambda::NONE], &Options::default(), &|_| {});
    assert!(matches!(none, Err(Error::Lambda(0.0))));
    let zero_one = margins_test_support::loss("zero-one");
    let not_convex = JointObjective::new(&*zero_one, FORMS[0], &design, &three).expect("fits");
    let fits = joint_path(&not_convex, &[lambda(0.1)], &Options::default(), &|_| {});
    assert!(matches!(fits, Err(Error::Unsuitable { .. })));
    let one_class: Vec<f64> = y.iter().map(|&y| f64::from(u8::from(y == 1))).collect();
    let data = Dataset::new(design.clone(), three.clone()).expect("as many");
    let data = data.with_weights(one_class).expect("weights");
    let error = JointObjective::of(loss, FORMS[0], &data).expect_err("one class");
    assert!(matches!(error, Error::OneClass(_)), "{error}");
    let few = dense(&rows[..5]);
    assert!(JointObjective::new(loss, FORMS[0], &few, &three).is_err());
}

/// Problems of many coefficients are solved by conjugate gradients with the blocks of the classes, dense and
/// sparse, with and without intercepts, along a path.
#[test]
fn many_coefficients_are_certified() {
    let (k, p) = (24, 12);
    let (rows, y) = rows(500, p, k);
    let classes = classes(&y, k);
    for (name, form, tolerance) in [
        ("logistic", JointForm::Multinomial, 1e-8),
        ("squared-hinge", JointForm::Pairwise, 1e-8),
        ("hinge", JointForm::Pairwise, 1e-5),
    ] {
        let loss = loss(name);
        for design in [dense(&rows), sparse(&rows)] {
            let objective = JointObjective::new(&*loss, form, &design, &classes).expect("fits");
            let fits = joint(&objective, &[0.1, 1e-2].map(lambda), tolerance);
            for fit in &fits {
                let of_feature = |j: usize| fit.coefs.iter().map(|w| w[j]).sum::<f64>();
                let size = fit.coefs.iter().flatten().fold(0.0f64, |size, w| size.max(w.abs()));
                assert!((0..p).all(|j| of_feature(j).abs() <= 1e-6 * (1.0 + size)), "{name}");
            }
            let objective = JointObjective::new(&*loss, form, &design, &classes).expect("fits");
            joint(&objective.without_intercepts(), &[1e-2].map(lambda), tolerance);
        }
    }
}

/// With more features than samples, the minimum is that of samples in which every feature occurs once: copies
/// of a feature, each divided by the root of their number, leave every inner product as it is.
#[test]
fn many_features_have_the_minimum_of_their_row_space() {
    let (n, p, copies) = (30, 4, 20);
    let (rows, y) = rows(n, p, 3);
    let scale = 1.0 / (copies as f64).sqrt();
    let wide: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| row.iter().map(|x| x * scale).collect::<Vec<_>>().repeat(copies))
        .collect();
    let classes = classes(&y, 3);
    let (design, wide) = (dense(&rows), [dense(&wide), sparse(&wide)]);
    for (name, form) in [
        ("logistic", JointForm::Multinomial),
        ("logistic", JointForm::Pairwise),
        ("lhs", JointForm::Pairwise),
    ] {
        let loss = loss(name);
        let lambdas = [0.1, 1e-3].map(lambda);
        let narrow = JointObjective::new(&*loss, form, &design, &classes).expect("fits");
        let narrow = joint(&narrow, &lambdas, 1e-9);
        for wide in &wide {
            let objective = JointObjective::new(&*loss, form, wide, &classes).expect("fits");
            for (a, b) in joint(&objective, &lambdas, 1e-9).iter().zip(&narrow) {
                let gaps = a.report.duality_gap + b.report.duality_gap;
                let (a, b) = (a, b.report.objective);
                assert!((a.report.objective - b).abs() <= gaps, "{name} {form:?}");
                assert_eq!(a.coefs[0].len(), p * copies);
                // Copies of a feature share its coefficient.
                let first = a.coefs.iter().flat_map(|w| w[..p].iter());
                let last = a.coefs.iter().flat_map(|w| w[p * (copies - 1)..].iter());
                first.zip(last).for_each(|(a, b)| assert!((a - b).abs() <= 1e-8 * (1.0 + a.abs())));
            }
        }
    }
}

/// Returns inner products of rows.
fn products(rows: &[Vec<f64>]) -> DMatrix<f64> {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum();
    DMatrix::from_fn(rows.len(), rows.len(), |i, j| product(&rows[i], &rows[j]))
}

/// Newton's method in the features, of which there are few, that with products of a kernel matrix, and dual
/// ascent on this have the same minimum, for losses with and without kinks, weights of which some are 0, and
/// along a path.
#[test]
fn fits_on_inner_products_agree_with_newton_in_the_features() {
    let (n, p, k) = (210, 3, 4);
    let (rows, y) = rows(n, p, k);
    let (design, classes) = (dense(&rows), classes(&y, k));
    let matrix = products(&rows);
    let weights: Vec<f64> = (0..n).map(|i| (i % 4) as f64).collect();
    let (by_ascent, by_products) = (true, false);
    for (form, case, ascends) in [
        (JointForm::Pairwise, "hinge", by_ascent),
        (JointForm::CrammerSinger, "hinge", by_ascent),
        (JointForm::Pairwise, "logistic", by_products),
        (JointForm::Pairwise, "squared-hinge", by_products),
        (JointForm::Pairwise, "lhs", by_products),
        (JointForm::Multinomial, "logistic", by_products),
    ] {
        let loss = loss(case);
        let lambdas = [1.0, 0.1, 0.01].map(lambda);
        for (intercepts, weighted) in [(true, false), (false, true), (true, true)] {
            // For so few features the ascent stalls beside intercepts.
            if intercepts && form == JointForm::CrammerSinger {
                continue;
            }
            let mut objective =
                JointObjective::new(&*loss, form, &design, &classes).expect("an objective");
            if weighted {
                objective = objective.with_weights(&weights).expect("weights");
            }
            if !intercepts {
                objective = objective.without_intercepts();
            }
            let options = Options { keep_duals: true, ..options(1e-6) };
            let fits = match ascends {
                true => joint_path_on_matrix(&objective, &matrix, &lambdas, &options, &|_| {}),
                false => {
                    let (diagonal, multiply) = (matrix.diagonal(), |x: &_| &matrix * x);
                    let diagonal = diagonal.as_slice();
                    joint_path_by_products(
                        &objective,
                        diagonal,
                        &multiply,
                        &lambdas,
                        &options,
                        &|_| {},
                    )
                }
            };
            let others = joint_path(&objective, &lambdas, &options, &|_| {}).expect("fits");
            for (one, other) in fits.expect("fits").iter().zip(&others) {
                let what = (form, case, intercepts, weighted, one.lambda);
                let (a, b) = (&one.report, &other.report);
                assert!(a.converged() && b.converged(), "{what:?} {a:?} {b:?}");
                assert!(a.dual_objective <= b.objective + 1e-12, "{what:?} {a:?} {b:?}");
                assert!(b.dual_objective <= a.objective + 1e-12, "{what:?} {a:?} {b:?}");
                let scores: Vec<Vec<f64>> = (one.coefs.iter().zip(&one.intercepts))
                    .map(|(a, b)| {
                        let f = &matrix * DMatrix::from_column_slice(n, 1, a);
                        f.iter().map(|f| f + b).collect()
                    })
                    .collect();
                let of_others = other.scores(&design);
                let apart = scores.iter().zip(&of_others).flat_map(|(a, b)| a.iter().zip(b));
                let farthest = apart.fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
                // Strong convexity: f is within sqrt(gap/lambda) of the minimiser, twice.
                let radius = matrix.diagonal().max().sqrt();
                let near = [a, b].map(|r| (r.duality_gap / one.lambda.get()).sqrt() * radius);
                if !intercepts {
                    assert!(farthest <= near[0] + near[1] + 1e-12, "{what:?} {farthest} {near:?}");
                }
                let pulls = one.pulls.as_ref().expect("kept");
                let half = 0.5 / one.lambda.get();
                for (pulls, coef) in pulls.iter().zip(&one.coefs) {
                    // The functions of an ascent are those of its duals.
                    assert!(!ascends || pulls.iter().zip(coef).all(|(r, a)| half * r == *a));
                    assert!(!intercepts || pulls.iter().sum::<f64>().abs() <= 1e-12);
                }
            }
        }
    }
}

/// What a matrix cannot stand for is refused, and a loss that falls without bound is reported as such.
#[test]
fn fits_on_inner_products_are_refused_and_reported() {
    let (rows, y) = rows(40, 2, 3);
    let (design, classes) = (dense(&rows), classes(&y, 3));
    let loss = loss("hinge");
    let objective = JointObjective::new(&*loss, JointForm::Pairwise, &design, &classes);
    let objective = objective.expect("an objective");
    let on = |matrix: &DMatrix<f64>, lambdas: &[Lambda]| {
        joint_path_on_matrix(&objective, matrix, lambdas, &options(1e-6), &|_| {})
    };
    let few = products(&rows[..39]);
    assert!(matches!(on(&few, &[lambda(1.0)]), Err(Error::Shape { found: 39, .. })));
    let matrix = products(&rows);
    let smooth: &dyn MarginLoss = &Logistic;
    let smooth = JointObjective::new(smooth, JointForm::Pairwise, &design, &classes);
    let smooth = smooth.expect("an objective");
    let fits = joint_path_on_matrix(&smooth, &matrix, &[lambda(1.0)], &options(1e-6), &|_| {});
    assert!(matches!(fits, Err(Error::Unsuitable { .. })));
    assert!(matches!(on(&matrix, &[Lambda::NONE]), Err(Error::Lambda(0.0))));
    assert!(matches!(on(&matrix, &[]), Err(Error::NoLambdas)));
    let multiply = |x: &DMatrix<f64>| &matrix * x;
    let by_products = |diagonal: &[f64]| {
        let lambdas = [lambda(1.0)];
        joint_path_by_products(&objective, diagonal, &multiply, &lambdas, &options(1e-6), &|_| {})
    };
    assert!(matches!(by_products(&[1.0; 39]), Err(Error::Shape { found: 39, .. })));
    assert!(matches!(by_products(&[1.0; 40]), Err(Error::Unsuitable { .. })));
    let zero = DMatrix::zeros(40, 40);
    let fits = on(&zero, &[lambda(0.5)]).expect("fits");
    assert!(fits[0].report.converged(), "intercepts alone: {:?}", fits[0].report);
    // Of two classes in three, no duals of this loss balance the intercepts.
    let unequal: Vec<u32> = (0..40).map(|i| u32::from(i == 0) + 2 * u32::from(i == 1)).collect();
    let unequal = self::classes(&unequal, 3);
    let falls = self::loss("leaky-relu:lambda=0.4");
    let falls = JointObjective::new(&*falls, JointForm::Pairwise, &design, &unequal);
    let fits = joint_path_on_matrix(
        &falls.expect("an objective"),
        &matrix,
        &[lambda(0.5)],
        &options(1e-6),
        &|_| {},
    );
    assert_eq!(fits.expect("a fit")[0].report.status, Status::Unbounded);
}
