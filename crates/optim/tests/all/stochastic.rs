//! Online learners and stochastic gradient: lazy against plain arithmetic, known steps, known
//! bounds, agreement with Newton, and what is refused.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use margins_data::{Design, Labels, Sample};
use margins_losses::{Hinge, Logistic, MarginLoss, SmoothedHinge, SquaredHinge};
use margins_optim::method::{Iteration, Watch};
use margins_optim::online::stochastic::{
    self, Averaging, Batches, EarlyStopping, Rescaled, Sampling, Schedule, Start,
    StochasticGradient,
};
use margins_optim::online::{
    Aggressiveness, AveragedPerceptron, LinearClassifier, OnlineGradient, OnlineLearner,
    PassiveAggressive, Perceptron, Scorer,
};
use margins_optim::{Error, Objective, Options, Solver, Status, StepRule};
use margins_test_support::{close, lambda, loss, rows_and_signs, sparse};
use proptest::prelude::*;

fn same(a: &LinearClassifier, b: &LinearClassifier) -> bool {
    close(a.intercept, b.intercept, 1e-9)
        && a.coef.iter().zip(&b.coef).all(|(a, b)| close(*a, *b, 1e-9))
}

/// Rows, about half of their entries zero, and signs, both of which occur.
fn samples() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>)> {
    rows_and_signs(4..30, 1..7, prop_oneof![Just(0.0), -2.0..2.0f64].boxed())
}

/// Stochastic gradient as its formulas say, every coefficient touched at every step.
struct Plain {
    now: LinearClassifier,
    sum: LinearClassifier,
    counted: f64,
}

#[derive(Debug, Clone)]
struct Settings {
    loss: &'static str,
    schedule: Schedule,
    lambda: Option<f64>,
    radius: Option<f64>,
    intercept: bool,
    average_after: Option<u64>,
    batch: usize,
}

fn settings() -> impl Strategy<Value = Settings> {
    let loss = proptest::sample::select(vec![
        "hinge",
        "logistic",
        "lhs",
        "margin-pursuit:gamma=1,scale=1",
        "squared-hinge",
    ]);
    let schedule = prop_oneof![
        (0.01..1.0f64).prop_map(Schedule::Constant),
        (0.01..2.0f64).prop_map(Schedule::InverseSqrt),
        Just(Schedule::pegasos(lambda(0.05))),
        Just(Schedule::bottou(&Hinge, lambda(0.05))),
    ];
    let lambda = prop_oneof![Just(None), Just(Some(0.05)), (0.001..0.3f64).prop_map(Some)];
    let radius = proptest::option::of(0.1..3.0f64);
    let average = proptest::option::of(0u64..8);
    (loss, schedule, lambda, radius, any::<bool>(), average, 1usize..4).prop_map(
        |(loss, schedule, lambda, radius, intercept, average_after, batch)| Settings {
            loss,
            schedule,
            lambda,
            radius,
            intercept,
            average_after,
            batch,
        },
    )
}

impl Plain {
    fn run(settings: &Settings, rows: &[Vec<f64>], signs: &[f64]) -> LinearClassifier {
        let p = rows[0].len();
        let zero = LinearClassifier::zero(p);
        let mut plain = Plain { now: zero.clone(), sum: zero, counted: 0.0 };
        let loss = loss(settings.loss);
        let batches = rows.chunks(settings.batch).zip(signs.chunks(settings.batch));
        for (t, (rows, signs)) in (1u64..).zip(batches) {
            let eta = settings.schedule.rate(t);
            let (mut gradient, mut slope) = (vec![0.0; p], 0.0);
            for (x, y) in rows.iter().zip(signs) {
                let margin = y * plain.now.score(&Sample::Dense(x));
                let pull = y * loss.derivative(margin) / rows.len() as f64;
                slope += pull;
                gradient.iter_mut().zip(x).for_each(|(g, x)| *g += pull * x);
            }
            let penalty = 2.0 * settings.lambda.unwrap_or(0.0);
            for (w, g) in plain.now.coef.iter_mut().zip(&gradient) {
                *w -= eta * (g + penalty * *w);
            }
            if settings.intercept {
                plain.now.intercept -= eta * slope;
            }
            let norm = plain.now.coef.iter().map(|w| w * w).sum::<f64>().sqrt();
            if let Some(radius) = settings.radius.filter(|radius| norm > *radius) {
                plain.now.coef.iter_mut().for_each(|w| *w *= radius / norm);
            }
            if settings.average_after.is_some_and(|after| t > after) {
                plain.sum.intercept += plain.now.intercept;
                plain.sum.coef.iter_mut().zip(&plain.now.coef).for_each(|(s, w)| *s += w);
                plain.counted += 1.0;
            }
        }
        if plain.counted > 0.0 {
            plain.sum.intercept /= plain.counted;
            plain.sum.coef.iter_mut().for_each(|w| *w /= plain.counted);
            plain.sum
        } else {
            plain.now
        }
    }
}

fn lazy(
    settings: &Settings,
    design: &Design,
    signs: &[f64],
) -> stochastic::StochasticLearner<Box<dyn MarginLoss>> {
    let p = design.columns();
    let learner = OnlineGradient::new(loss(settings.loss), p, settings.schedule);
    let mut learner = learner.expect("a schedule");
    if let Some(radius) = settings.radius {
        learner = learner.projected(radius).expect("a radius");
    }
    if let Some(value) = settings.lambda {
        learner = learner.penalized(lambda(value));
    }
    if !settings.intercept {
        learner = learner.without_intercept();
    }
    if let Some(after) = settings.average_after {
        learner = learner.averaged_after(after);
    }
    let mut learner = stochastic::StochasticLearner::Gradient(learner);
    take(&mut learner, &mut Batches::new(settings.batch), (design, signs), None, |_, _| ());
    learner
}

/// Takes the steps of a chunk, and of its last batch.
fn take(
    learner: &mut stochastic::StochasticLearner<Box<dyn MarginLoss>>,
    batches: &mut Batches,
    (design, signs): (&Design, &[f64]),
    weights: Option<&[f64]>,
    show: impl FnMut(usize, f64),
) {
    stochastic::pass(learner, design, signs, weights, batches, 0, show).expect("finite");
    batches.finish(learner).expect("finite");
}

proptest! {
    #[test]
    fn lazy_arithmetic_is_plain_arithmetic(
        (rows, signs) in samples(), settings in settings(),
    ) {
        let plain = Plain::run(&settings, &rows, &signs);
        for design in [Design::from_rows(&rows).unwrap(), sparse(&rows)] {
            let learner = lazy(&settings, &design, &signs);
            let classifier = learner.snapshot();
            prop_assert!(same(&classifier, &plain), "{settings:?} {classifier:?} {plain:?}");
            prop_assert_eq!(learner.steps(), rows.len().div_ceil(settings.batch) as u64);
            for x in design.samples() {
                prop_assert!(close(learner.score(&x), classifier.score(&x), 1e-9));
            }
        }
    }

    /// Batches, and the scores before their steps, do not depend on how samples come in chunks; a
    /// sample of weight 0 is as none.
    #[test]
    fn batches_do_not_depend_on_chunks(
        (rows, signs) in samples(), settings in settings(), every in 1usize..9,
    ) {
        for design in [Design::from_rows(&rows).unwrap(), sparse(&rows)] {
            let (n, mut whole) = (rows.len(), Vec::new());
            let mut expected = lazy(&settings, &design.select(&[]), &[]);
            let mut batches = Batches::new(settings.batch);
            take(&mut expected, &mut batches, (&design, &signs), None, |_, score| whole.push(score));
            let mut learner = lazy(&settings, &design.select(&[]), &[]);
            let (mut batches, mut scores) = (Batches::new(settings.batch), vec![f64::NAN; n]);
            for start in (0..n).step_by(every) {
                // The chunk with its first sample once more, with weight 0.
                let end = (start + every).min(n);
                let order: Vec<usize> = (start..end).chain([start]).collect();
                let mut weights = vec![1.0; order.len()];
                weights[end - start] = 0.0;
                let signs: Vec<f64> = order.iter().map(|&i| signs[i]).collect();
                let (chunk, weights) = (design.select(&order), Some(&weights[..]));
                let show = |row: usize, score: f64| scores[start + row] = score;
                stochastic::pass(&mut learner, &chunk, &signs, weights, &mut batches, 0, show)
                    .expect("finite");
            }
            batches.finish(&mut learner).expect("finite");
            prop_assert_eq!(&scores, &whole, "{:?}", settings);
            prop_assert_eq!(learner.map_loss(drop), expected.map_loss(drop), "{:?}", settings);
        }
    }

    #[test]
    fn a_step_is_the_pass_over_one_sample((rows, signs) in samples(), settings in settings()) {
        let design = sparse(&rows);
        let settings = Settings { batch: 1, ..settings };
        let whole = lazy(&settings, &design, &signs).snapshot();
        let mut learner = lazy(&settings, &design.select(&[0]), &signs[..1]);
        for (x, &y) in design.samples().zip(&signs).skip(1) {
            learner.step(&x, y).unwrap();
        }
        // Bit for bit: the instruction set of the pass makes no difference.
        prop_assert_eq!(learner.snapshot(), whole);
    }

    #[test]
    fn projected_iterates_stay_in_the_ball(
        (rows, signs) in samples(), radius in 0.01..2.0f64,
    ) {
        let schedule = Schedule::Constant(0.5);
        let mut learner =
            OnlineGradient::new(SquaredHinge, rows[0].len(), schedule).unwrap().projected(radius).unwrap();
        for (x, &y) in rows.iter().zip(&signs) {
            learner.step(&Sample::Dense(x), y).unwrap();
            let norm = learner.snapshot().coef.iter().map(|w| w * w).sum::<f64>().sqrt();
            prop_assert!(norm <= radius * (1.0 + 1e-12));
        }
    }

    /// Novikoff (1962): on samples of norm at most R that some unit vector separates with the margin
    /// gamma, the perceptron makes at most `(R/gamma)^2` mistakes in any order and any number of passes;
    /// with an intercept, R^2 + 1 for R^2.
    #[test]
    fn the_perceptron_makes_no_more_mistakes_than_novikoffs_bound(
        rows in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 3), 2..40),
        direction in prop::collection::vec(-1.0..1.0f64, 3), margin in 0.02..0.3f64, passes in 1usize..200,
    ) {
        let norm = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>().sqrt();
        prop_assume!(norm(&direction) > 0.1);
        let best: Vec<f64> = direction.iter().map(|w| w / norm(&direction)).collect();
        let product = |x: &[f64]| x.iter().zip(&best).map(|(x, w)| x * w).sum::<f64>();
        // Every sample is moved away from the boundary.
        let rows: Vec<(Vec<f64>, f64)> = rows
            .into_iter()
            .map(|x| {
                let y = if product(&x) >= 0.0 { 1.0 } else { -1.0 };
                (x.iter().zip(&best).map(|(x, w)| x + y * margin * w).collect(), y)
            })
            .collect();
        let largest = rows.iter().map(|(x, _)| norm(x)).fold(0.0, f64::max);
        let gamma = rows.iter().map(|(x, y)| y * product(x)).fold(f64::INFINITY, f64::min);
        for (mut learner, squared) in [
            (Perceptron::new(3).without_intercept(), largest * largest),
            (Perceptron::new(3), largest * largest + 1.0),
        ] {
            let mut mistakes = 0;
            for _ in 0..passes {
                for (x, y) in &rows {
                    mistakes += u32::from(y * learner.score(&Sample::Dense(x)) <= 0.0);
                    learner.step(&Sample::Dense(x), *y).unwrap();
                }
            }
            let bound = squared / (gamma * gamma);
            prop_assert!(f64::from(mistakes) <= bound * (1.0 + 1e-9), "{} {}", mistakes, bound);
        }
    }

    #[test]
    fn averaged_perceptron_is_the_mean_of_the_perceptrons((rows, signs) in samples()) {
        let p = rows[0].len();
        let mut averaged = AveragedPerceptron::new(p);
        let mut perceptron = Perceptron::new(p);
        let mut all = Vec::new();
        for (x, &y) in rows.iter().zip(&signs) {
            averaged.step(&Sample::Dense(x), y).unwrap();
            perceptron.step(&Sample::Dense(x), y).unwrap();
            all.push(perceptron.snapshot());
        }
        let mean = LinearClassifier::mean(&all).unwrap();
        prop_assert!(same(&averaged.snapshot(), &mean));
        for x in &rows {
            prop_assert!(close(averaged.score(&Sample::Dense(x)), mean.score(&Sample::Dense(x)), 1e-9));
        }
    }

    /// PA and its variants solve `min ||w - w_t||^2/2 + penalty(slack)` subject to `1 - u <=
    /// slack`: margin 1, or as near to it as C lets them.
    #[test]
    fn passive_aggressive_steps_are_those_of_their_problem(
        (rows, signs) in samples(), c in 0.01..3.0f64, intercept: bool,
    ) {
        let kinds = [Aggressiveness::Full, Aggressiveness::Capped(c), Aggressiveness::Damped(c)];
        for kind in kinds {
            let mut learner = PassiveAggressive::new(rows[0].len(), kind).unwrap();
            if !intercept {
                learner = learner.without_intercept();
            }
            for (x, &y) in rows.iter().zip(&signs) {
                let sample = Sample::Dense(x);
                let square = sample.squared_norm() + f64::from(u8::from(intercept));
                let before = y * learner.score(&sample);
                learner.step(&sample, y).unwrap();
                let after = y * learner.score(&sample);
                if before >= 1.0 || square == 0.0 {
                    prop_assert_eq!(before, after);
                    continue;
                }
                // The margin after the step gives the multiplier tau back.
                let tau = (after - before) / square;
                let slack = 1.0 - after;
                match kind {
                    Aggressiveness::Full => prop_assert!(close(after, 1.0, 1e-9)),
                    // Optimality: slack at the cap alone; slack = tau/(2 C).
                    Aggressiveness::Capped(c) => {
                        prop_assert!(close(tau, c, 1e-9) && slack > -1e-9 || close(slack, 0.0, 1e-9) && tau <= c + 1e-9);
                    }
                    Aggressiveness::Damped(c) => prop_assert!(close(slack, tau / (2.0 * c), 1e-9)),
                }
            }
        }
    }

    /// Whatever a learner refuses leaves it as it was.
    #[test]
    fn what_is_refused_changes_nothing((rows, signs) in samples()) {
        fn check<L: OnlineLearner + Clone + PartialEq + std::fmt::Debug>(
            mut learner: L, rows: &[Vec<f64>], signs: &[f64],
        ) -> Result<(), TestCaseError> {
            for (x, &y) in rows.iter().zip(signs) {
                learner.step(&Sample::Dense(x), y).unwrap();
            }
            let before = learner.clone();
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut wrong = rows[0].clone();
                wrong[0] = value;
                prop_assert!(learner.step(&Sample::Dense(&wrong), signs[0]).is_err());
                prop_assert_eq!(&learner, &before);
            }
            Ok(())
        }
        let p = rows[0].len();
        check(Perceptron::new(p), &rows, &signs)?;
        check(AveragedPerceptron::new(p), &rows, &signs)?;
        check(PassiveAggressive::new(p, Aggressiveness::Full).unwrap(), &rows, &signs)?;
        let schedule = Schedule::InverseSqrt(0.1);
        let gradient = OnlineGradient::new(Logistic, p, schedule).unwrap().averaged_after(0);
        check(gradient.penalized(lambda(0.1)), &rows, &signs)?;
    }
}

/// Classes that overlap.
fn problem() -> (Design, Labels) {
    let rows: Vec<Vec<f64>> = (0..200)
        .map(|i| (0..5).map(|j| ((i * j + 3 * i + j) as f64 * 0.37).sin()).collect())
        .collect();
    let noise = |i: usize| ((i * i) as f64 * 0.7).cos();
    let sign = |(i, x): (usize, &Vec<f64>)| if x[0] + x[1] + noise(i) > 0.0 { 1.0 } else { -1.0 };
    let signs = rows.iter().enumerate().map(sign).collect();
    (Design::from_rows(&rows).unwrap(), Labels::from_signs(signs).unwrap())
}

/// Every method comes near to the minimum that Newton certifies, and its own gap bounds the
/// distance.
#[test]
fn stochastic_fits_approach_the_certified_minimum() {
    let (design, labels) = problem();
    let at = lambda(0.02);
    let largest = design.samples().map(|x| x.squared_norm()).fold(0.0, f64::max).sqrt();
    for specification in ["logistic", "squared-hinge", "margin-pursuit:gamma=1,scale=1"] {
        let loss = loss(specification);
        let objective = Objective::new(&*loss, &design, &labels).unwrap();
        let least = margins_optim::fit(&objective, at, &Options::default()).unwrap().report;
        let bottou = StochasticGradient {
            epochs: 200,
            averaging: Averaging::Suffix(0.5),
            ..StochasticGradient::new(Schedule::bottou(&*loss, at))
        };
        let batches = StochasticGradient { batch: 10, epochs: 600, ..bottou };
        let replaced = StochasticGradient { sampling: Sampling::WithReplacement, ..bottou };
        for settings in [bottou, batches, replaced] {
            let report =
                stochastic::fit(&objective, at, &settings, &Options::default()).unwrap().report;
            let distance = report.objective - least.dual_objective;
            assert!(
                (-1e-12..=1e-3 * least.objective).contains(&distance),
                "{settings:?} {distance}"
            );
            assert!(report.objective - least.objective <= report.duality_gap);
            // The gradient of a function with curvature at most H is at most sqrt(2 H excess).
            let excess = distance + least.duality_gap;
            let curvature = loss.curvature().unwrap() * largest * largest + 2.0 * at.get();
            assert!(report.duality_gap <= curvature / (2.0 * at.get()) * excess);
        }
    }
}

/// Algorithm 1 of the margin pursuit paper: with the step `2/(kappa + v)` the distance to the
/// minimiser falls by the factor `(v - kappa)/(v + kappa)` a step, and with it the excess of F; the
/// other steps reach the same minimum, and the line search never increases F.
#[test]
fn gradient_descent_has_a_linear_rate() {
    let (design, labels) = problem();
    let at = lambda(0.05);
    let square = design.samples().map(|x| x.squared_norm()).sum::<f64>() / 200.0;
    for specification in ["margin-pursuit:gamma=1,scale=2", "logistic"] {
        let loss = loss(specification);
        let objective = Objective::new(&*loss, &design, &labels).unwrap();
        let tight = Options { tolerance: 1e-12, ..Options::default() };
        let least = margins_optim::fit(&objective, at, &tight).unwrap();
        let solve = |step| {
            let solver = Solver::GradientDescent { step };
            let options = Options { solver, history: true, ..Options::default() };
            let fit = margins_optim::fit(&objective, at, &options).unwrap();
            assert!(fit.report.converged(), "{specification} {step:?}");
            fit.report.history
        };
        let smoothness = loss.curvature().unwrap() * square + 2.0 * at.get();
        let kappa = 2.0 * at.get();
        let start: f64 = least.coef.iter().map(|w| w * w).sum();
        let rate = ((smoothness - kappa) / (smoothness + kappa)).powi(2);
        for (k, entry) in solve(StepRule::Smooth).iter().enumerate() {
            let bound = 0.5 * smoothness * start * rate.powi(k as i32);
            let excess = entry.objective - least.report.objective;
            assert!(excess <= bound + 1e-12, "{specification} {k} {excess} {bound}");
        }
        solve(StepRule::Fixed(1.0 / smoothness));
        let searched = solve(StepRule::LineSearch);
        assert!(searched.windows(2).all(|pair| pair[1].objective <= pair[0].objective));
    }
    let objective = Objective::new(&SquaredHinge as &dyn MarginLoss, &design, &labels).unwrap();
    let with = |step| Options { solver: Solver::GradientDescent { step }, ..Options::default() };
    let options = with(StepRule::Fixed(1e3));
    assert!(matches!(margins_optim::fit(&objective, at, &options), Err(Error::StepTooLong(1e3))));
    let options = with(StepRule::Fixed(0.0));
    assert!(margins_optim::fit(&objective, at, &options).is_err());
    let exponential = loss("exponential");
    let objective = Objective::new(&*exponential, &design, &labels).unwrap();
    let options = with(StepRule::Smooth);
    assert!(matches!(margins_optim::fit(&objective, at, &options), Err(Error::Unsuitable { .. })));
}

/// Pegasos keeps to its bound, `(sqrt(2 lambda) + R)^2 (1 + ln T)/(4 lambda T)` for the mean of T
/// iterates (theorems 1 and 2 of its source, in expectation, with our lambda); the minimum is that
/// of a smoothed hinge, which is at most half of its width below the hinge.
#[test]
fn pegasos_keeps_to_its_bound() {
    const WIDTH: f64 = 1e-4;
    let (design, labels) = problem();
    let objective =
        Objective::new(&Hinge as &dyn MarginLoss, &design, &labels).unwrap().without_intercept();
    let at = lambda(0.05);
    let smoothed = SmoothedHinge::new(WIDTH).unwrap();
    let relative = Objective::new(&smoothed, &design, &labels).unwrap().without_intercept();
    let least = margins_optim::fit(&relative, at, &Options::default()).unwrap().report;
    let largest = design.samples().map(|x| x.squared_norm()).fold(0.0, f64::max).sqrt();
    for epochs in [5usize, 50, 500] {
        for projected in [true, false] {
            let pegasos = StochasticGradient::pegasos(at);
            let projection = pegasos.projection.filter(|_| projected);
            let settings =
                StochasticGradient { epochs, projection, averaging: Averaging::Polyak, ..pegasos };
            let fit = stochastic::fit(&objective, at, &settings, &Options::default()).unwrap();
            let steps = 200.0 * epochs as f64;
            let slope = (2.0 * at.get()).sqrt() + largest;
            let bound = slope * slope * (1.0 + steps.ln()) / (4.0 * at.get() * steps);
            let excess = fit.report.objective - least.dual_objective;
            assert!((-WIDTH..=bound + WIDTH).contains(&excess), "{epochs} {excess} {bound}");
            assert!(excess - WIDTH <= fit.report.duality_gap);
            let norm = fit.coef.iter().map(|w| w * w).sum::<f64>().sqrt();
            assert!(norm <= (2.0 * at.get()).sqrt().recip() || !projected);
        }
    }
}

#[test]
fn runs_repeat_and_depend_on_their_seed() {
    let (design, labels) = problem();
    let objective = Objective::new(&Logistic as &dyn MarginLoss, &design, &labels).unwrap();
    let at = lambda(0.01);
    let settings = StochasticGradient {
        start: Start::Random(1.0),
        ..StochasticGradient::new(Schedule::InverseSqrt(0.5))
    };
    let options = Options { history: true, ..Options::default() };
    let run = |settings: &StochasticGradient| {
        stochastic::fit(&objective, at, settings, &options).unwrap()
    };
    let one = run(&settings);
    assert_eq!(one, run(&settings));
    assert_ne!(one.coef, run(&StochasticGradient { seed: 2, ..settings }).coef);
    assert_eq!(one.report.history.len(), 10);
    let last = one.report.history[9];
    assert_eq!((last.iteration, last.passes, last.objective), (10, 20, one.report.objective));
    assert!(last.margins.error < 0.35 && last.margins.variance > 0.0);
}

/// A callback sees every epoch, and its word to stop, a limit and a deadline end a run after the
/// epoch under way, at the iterate of a run of as many epochs.
#[test]
fn limits_deadlines_and_callbacks_end_runs_after_an_epoch() {
    let (design, labels) = problem();
    let objective = Objective::new(&Logistic as &dyn MarginLoss, &design, &labels).unwrap();
    let at = lambda(0.01);
    let settings = StochasticGradient::new(Schedule::InverseSqrt(0.5));
    let run = |epochs: usize, options: &Options<'_>| {
        stochastic::fit(&objective, at, &StochasticGradient { epochs, ..settings }, options)
            .unwrap()
    };
    let plain = Options::default();
    assert_eq!(run(10, &plain).report.status, Status::RuleMet);

    let seen = AtomicUsize::new(0);
    let see = |iteration: &Iteration| {
        seen.fetch_add(1, Ordering::Relaxed);
        assert_eq!(iteration.passes, 2 * iteration.iteration);
        if iteration.iteration == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let watched = run(10, &Options { watch: Some(Watch::new(&see)), ..plain });
    assert_eq!((watched.report.status, seen.into_inner()), (Status::Interrupted, 3));
    assert_eq!(watched.coef, run(3, &plain).coef);

    let limited = run(10, &Options { max_iterations: Some(4), ..plain });
    assert_eq!((limited.report.status, limited.report.iterations), (Status::IterationLimit, 4));
    assert_eq!(limited.coef, run(4, &plain).coef);

    let late = run(10, &Options { deadline: Some(Instant::now()), ..plain });
    assert_eq!((late.report.status, late.report.iterations), (Status::TimeLimit, 1));
    let long = run(10, &Options { tolerance: 10.0, deadline: Some(Instant::now()), ..plain });
    assert_eq!(long.report.status, Status::Converged, "a certified point is not cut short");
}

/// Replacing the loss by itself changes nothing; by another, the fit is one to that.
#[test]
fn rescaling_goes_on_from_where_the_run_is() {
    let (design, labels) = problem();
    let loss = loss("margin-pursuit:gamma=1,scale=1");
    let objective = Objective::new(&*loss, &design, &labels).unwrap();
    let at = lambda(0.01);
    let settings = StochasticGradient::margin_pursuit(1.0, at);
    let plain = stochastic::fit(&objective, at, &settings, &Options::default()).unwrap();
    let rescaled = |specification: &'static str, step_factor| {
        let rule = |margins: &[f64]| {
            assert_eq!(margins.len(), 200);
            Ok(Rescaled { loss: self::loss(specification), step_factor })
        };
        stochastic::fit_rescaled(&objective, at, &settings, &Options::default(), 701, rule).unwrap()
    };
    let (same, _) = rescaled("margin-pursuit:gamma=1,scale=1", 1.0);
    assert_eq!((same.intercept, &same.coef), (plain.intercept, &plain.coef));
    let (wider, loss) = rescaled("margin-pursuit:gamma=1,scale=5", 0.2);
    assert_ne!(wider.coef, plain.coef);
    let objective = Objective::new(&*loss, &design, &labels).unwrap();
    let certificate = objective.certificate(at, wider.intercept, &wider.coef).unwrap();
    assert_eq!(certificate.objective, wider.report.objective);
    assert_eq!(certificate.duality_gap, wider.report.duality_gap);
}

/// Rows held out are neither trained on nor shown to the rule.
#[test]
fn rescaling_holds_out_what_early_stopping_judges_by() {
    let (design, labels) = problem();
    let loss = loss("margin-pursuit:gamma=1,scale=1");
    let objective = Objective::new(&*loss, &design, &labels).unwrap();
    let at = lambda(0.01);
    let early = EarlyStopping { hold_out: 0.25, patience: 100 };
    let settings = StochasticGradient {
        early_stopping: Some(early),
        ..StochasticGradient::margin_pursuit(1.0, at)
    };
    let plain = stochastic::fit(&objective, at, &settings, &Options::default()).unwrap();
    let rule = |margins: &[f64]| {
        assert_eq!(margins.len(), 150);
        let loss = self::loss("margin-pursuit:gamma=1,scale=1");
        Ok(Rescaled { loss, step_factor: 1.0 })
    };
    // Within the first epoch, so that early stopping misses none.
    let (same, _) =
        stochastic::fit_rescaled(&objective, at, &settings, &Options::default(), 100, rule)
            .unwrap();
    assert_eq!((same.intercept, same.coef), (plain.intercept, plain.coef));
}

/// The epoch that is kept is the best one by the weights of the samples.
#[test]
fn samples_of_no_weight_do_not_judge() {
    let (design, labels) = problem();
    let at = lambda(1e-4);
    let early = EarlyStopping { hold_out: 0.25, patience: 3 };
    let settings = StochasticGradient {
        epochs: 60,
        early_stopping: Some(early),
        ..StochasticGradient::new(Schedule::Constant(0.5))
    };
    // Samples without weight, far on the wrong side or where they were.
    let weights: Vec<f64> = (0..200).map(|i| f64::from(u8::from(i % 3 != 0))).collect();
    let run = |factor: f64| {
        let moved = |i: usize| {
            let mut row = vec![0.0; design.columns()];
            design.sample(i).add_to(if weights[i] == 0.0 { factor } else { 1.0 }, &mut row);
            row
        };
        let design = Design::from_rows(&(0..200).map(moved).collect::<Vec<_>>()).unwrap();
        let objective = Objective::new(&Logistic as &dyn MarginLoss, &design, &labels).unwrap();
        let objective = objective.with_weights(&weights).unwrap();
        stochastic::fit(&objective, at, &settings, &Options::default()).unwrap()
    };
    let (one, other) = (run(1.0), run(-50.0));
    assert_eq!((one.report.iterations, one.coef), (other.report.iterations, other.coef));
}

/// The classifier is that of the epoch with the least held-out loss, and later epochs are not run.
#[test]
fn early_stopping_keeps_the_best_epoch() {
    let (design, labels) = problem();
    let objective = Objective::new(&Logistic as &dyn MarginLoss, &design, &labels).unwrap();
    let at = lambda(1e-6);
    let early = EarlyStopping { hold_out: 0.25, patience: 3 };
    let settings = StochasticGradient {
        epochs: 400,
        early_stopping: Some(early),
        ..StochasticGradient::new(Schedule::Constant(2.0))
    };
    let stopped = stochastic::fit(&objective, at, &settings, &Options::default()).unwrap();
    let epochs = stopped.report.iterations;
    assert!((4..400).contains(&epochs), "{epochs}");
    let best = StochasticGradient { epochs: epochs - 3, ..settings };
    assert_eq!(
        stochastic::fit(&objective, at, &best, &Options::default()).unwrap().coef,
        stopped.coef
    );
}

#[test]
fn refusals_say_what_and_where() {
    let (design, labels) = problem();
    let objective = Objective::new(&SquaredHinge as &dyn MarginLoss, &design, &labels).unwrap();
    let at = lambda(0.01);
    let message = |settings: &StochasticGradient| {
        stochastic::fit(&objective, at, settings, &Options::default()).unwrap_err().to_string()
    };
    let settings = StochasticGradient::new(Schedule::InverseSqrt(1.0));
    let diverges = message(&StochasticGradient::new(Schedule::Constant(1e3)));
    assert!(
        diverges.starts_with("at step ")
            && diverges.contains("row ")
            && diverges.contains("steps are too long"),
        "{diverges}"
    );
    for (settings, expected) in [
        (
            StochasticGradient { projection: Some(0.0), ..settings },
            "the radius of the projection is 0, but must be a finite number greater than 0",
        ),
        (
            StochasticGradient::new(Schedule::Constant(f64::NAN)),
            "the first step is NaN, but must be a finite number greater than 0",
        ),
        (
            StochasticGradient { epochs: 0, ..settings },
            "the number of epochs is 0, but must be at least 1",
        ),
        (
            StochasticGradient { batch: 0, ..settings },
            "the size of a batch is 0, but must be at least 1",
        ),
        (
            StochasticGradient { averaging: Averaging::Suffix(1.5), ..settings },
            "the share of the steps that is averaged is 1.5, but must be above 0 and at most 1",
        ),
        (
            StochasticGradient { start: Start::Random(-1.0), ..settings },
            "the norm of the start is -1, but must be a finite number greater than 0",
        ),
    ] {
        assert_eq!(message(&settings), expected);
    }
    let late = stochastic::fit_rescaled(
        &objective,
        at,
        &settings,
        &Options::default(),
        2000,
        |_| unreachable!(),
    );
    assert_eq!(
        late.unwrap_err().to_string(),
        "the step of the re-scaling is 2000, but must be at least 1 and less than the number of steps"
    );
    assert!(PassiveAggressive::new(2, Aggressiveness::Capped(0.0)).is_err());
    let learner = OnlineGradient::new(Hinge, 2, Schedule::Constant(1.0)).unwrap();
    let start = LinearClassifier::zero(3);
    assert!(matches!(learner.starting_at(start), Err(Error::Shape { expected: 2, found: 3, .. })));
}
