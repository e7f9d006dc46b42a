//! The statements of the proof of theorem 2.1 and of appendix B, one by one: at a point, in
//! expectation over the labels, and over many draws.

use margins_data::Design;
use margins_data::generate::{MarginHalfspace, MassartDistribution};
use margins_data::metrics::binomial::at_least;
use margins_losses::{LeakyRelu, MarginLoss};
use margins_massart::cutting_planes::{Cut, End, Method, localize};
use margins_massart::{
    CutOptions, CutPlan, MarginBound, Problem, Sgd, Sphere, SphereSample, Target, audit,
    learn_by_fresh_cuts, learn_by_tested_cuts, reweighted_risk, separate,
};
use margins_optim::method::Limits;
use proptest::prelude::*;

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

fn squared_distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Returns the expected gradient factor over the label of a point with the clean label f.
fn expected_factor(problem: &Problem, score: f64, f: f64, rate: f64) -> f64 {
    (1.0 - rate) * problem.gradient_factor(score, f) + rate * problem.gradient_factor(score, -f)
}

fn sign(score: f64) -> f64 {
    if score >= 0.0 { 1.0 } else { -1.0 }
}

proptest! {
    /// (1) and claim C.1: the LeakyReLU loss is `(1[sign(s) != y] - lambda) |s|`, also at s = 0.
    #[test]
    fn leaky_relu_is_the_error_times_the_distance(
        lambda in 0.0..0.5f64, score in prop_oneof![Just(0.0), -1.0..1.0f64], positive: bool,
    ) {
        let y = if positive { 1.0 } else { -1.0 };
        let wrong = f64::from(u8::from(sign(score) != y));
        let loss = LeakyRelu::new(lambda).unwrap().value(y * score);
        prop_assert!((loss - (wrong - lambda) * score.abs()).abs() < 1e-15);
    }

    /// Before algorithm 1: g is twice the derivative of the loss reweighted by the present score.
    #[test]
    fn the_gradient_is_twice_a_numerical_derivative(
        eta in 0.0..0.5f64, gamma in 0.01..0.9f64, score in -1.0..1.0f64, positive: bool,
    ) {
        let step = 1e-3 * score.abs();
        prop_assume!(step > 1e-6);
        let (loss, y) = (LeakyRelu::new(eta).unwrap(), if positive { 1.0 } else { -1.0 });
        let weight = score.abs().max(gamma / 2.0).recip();
        let value = |score: f64| weight * loss.value(y * score);
        let derivative = (value(score + step) - value(score - step)) / (2.0 * step);
        let factor = Problem::new(eta, gamma).unwrap().gradient_factor(score, y);
        prop_assert!((factor - 2.0 * derivative).abs() < 1e-9 * weight, "{factor} {derivative}");
    }

    /// (3): the loss is convex in w, `1[sign(s) != y] - eta` off the slab at v = w, at most 0 in expectation
    /// at w*, and its derivative at v = w is half of g.
    #[test]
    fn the_reweighted_loss_is_that_of_the_paper(
        eta in 0.0..0.5f64, gamma in 0.01..0.9f64, share in 0.0..=1.0f64, positive: bool,
        one in -1.0..1.0f64, other in -1.0..1.0f64, reference in -1.0..1.0f64,
    ) {
        let (problem, y) = (Problem::new(eta, gamma).unwrap(), if positive { 1.0 } else { -1.0 });
        let loss = |score: f64| problem.reweighted_loss(score, reference, y);
        let middle = loss((one + other) / 2.0);
        prop_assert!(middle <= (loss(one) + loss(other)) / 2.0 + 1e-12 / gamma, "{middle}");
        let own = problem.reweighted_loss(one, one, y);
        let wrong = f64::from(u8::from(sign(one) != y));
        if one.abs() >= gamma / 2.0 {
            prop_assert!((own - (wrong - eta)).abs() < 1e-14, "{own}");
        } else {
            prop_assert!(own.abs() <= (wrong - eta).abs() + 1e-14, "{own}");
        }
        // The clean label of a score one of w* is its sign, flipped with a probability of at most eta.
        let (rate, f) = (share * eta, sign(one));
        let flipped = problem.reweighted_loss(one, reference, -f);
        let expected = (1.0 - rate) * problem.reweighted_loss(one, reference, f) + rate * flipped;
        prop_assert!(expected <= 1e-14 / gamma, "{expected}");
        let step = 1e-3 * one.abs();
        prop_assume!(step > 1e-6);
        let at = |score: f64| problem.reweighted_loss(score, one, y);
        let derivative = (at(one + step) - at(one - step)) / (2.0 * step);
        let factor = problem.gradient_factor(one, y) / 2.0;
        prop_assert!((derivative - factor).abs() < 1e-8 / gamma, "{derivative} {factor}");
    }

    /// After theorem 2.1: g^1 is the expectation of g over the label, so that E g^2 = 0. Claim 2.9:
    /// the norm of g is at most 4/gamma.
    #[test]
    fn the_second_part_of_the_gradient_has_mean_zero(
        eta in 0.0..0.5f64, gamma in 0.01..0.9f64, share in 0.0..=1.0f64, positive: bool,
        score in prop_oneof![Just(0.0), -1.0..1.0f64],
    ) {
        let (rate, f) = (share * eta, if positive { 1.0 } else { -1.0 });
        let problem = Problem::new(eta, gamma).unwrap();
        let first = ((1.0 - 2.0 * eta) * sign(score) - (1.0 - 2.0 * rate) * f)
            / score.abs().max(gamma / 2.0);
        let expected = expected_factor(&problem, score, f, rate);
        prop_assert!((expected - first).abs() < 1e-13 / gamma, "{expected} {first}");
        for y in [f, -f] {
            prop_assert!(problem.gradient_factor(score, y).abs() <= 4.0 / gamma * (1.0 + 1e-15));
        }
    }

    /// Claims 2.3, where `|<w, x>|` is at least gamma/2, and 2.4, where it is not: at every point
    /// `<g^1, w - w*>` is at least `2 (err(w, x) - eta)`.
    #[test]
    fn the_claims_hold_at_every_point(
        eta in 0.0..0.5f64, gamma in 0.01..0.9f64, share in 0.0..=1.0f64, height in 0.0..=1.0f64,
        score in -1.0..1.0f64, inside: bool, positive: bool,
    ) {
        let rate = share * eta;
        let best = (gamma + height * (1.0 - gamma)) * if positive { 1.0 } else { -1.0 };
        let score = if inside { score * gamma / 2.0 } else { score };
        prop_assume!(inside == (score.abs() < gamma / 2.0));
        let error = if sign(score) == sign(best) { rate } else { 1.0 - rate };
        let problem = Problem::new(eta, gamma).unwrap();
        let moved = expected_factor(&problem, score, sign(best), rate) * (score - best);
        prop_assert!(moved >= 2.0 * (error - eta) - 1e-12, "{moved} {error}");
    }
}

/// The bound of claim 2.9 is attained.
#[test]
fn the_largest_gradient_has_the_norm_four_over_gamma() {
    let problem = Problem::new(0.0, 0.2).unwrap();
    assert_eq!(problem.gradient_factor(0.0, -1.0), 20.0);
}

fn simulated(adversary: &str, seed: u64) -> (MarginHalfspace, MassartDistribution) {
    MassartDistribution::simulated(4, GAMMA, ETA, adversary, 60, seed).unwrap()
}

const GAMMA: f64 = 0.2;
const ETA: f64 = 0.25;

/// Claim 2.5: a step changes the mean squared distance from w* to at most
/// `before - 4 step (err - eta) + 16 step^2/gamma^2`, exactly, with the projection.
#[test]
fn a_step_brings_the_iterate_nearer_on_average() {
    let problem = Problem::new(ETA, GAMMA).unwrap();
    let mut fell = 0;
    for (seed, adversary) in ["random", "far", "near", "greedy", "trap"].iter().enumerate() {
        let (halfspace, noisy) = simulated(adversary, seed as u64);
        let points = Sphere::new(noisy.design()).unwrap();
        let (rows, signs, weights) = noisy.as_sample();
        for step in [0.25 * GAMMA * GAMMA, 0.05 * GAMMA * GAMMA, 0.002] {
            let mut sgd = Sgd::new(problem, 4, step).unwrap();
            let draws = noisy.draw(60, seed as u64);
            for draw in draws.rows.into_iter().zip(draws.signs) {
                let before = squared_distance(&sgd.coef(), halfspace.normal());
                let error = SphereSample::new(noisy.design(), noisy.clean()).unwrap();
                let wrong = error.points().scores(&sgd.coef());
                let rate = |i: usize| match sign(wrong[i]) == noisy.clean()[i] {
                    true => noisy.rates()[i],
                    false => 1.0 - noisy.rates()[i],
                };
                let error = (0..60).map(rate).sum::<f64>() / 60.0;
                let after: f64 = (0..rows.len())
                    .map(|k| {
                        let mut next = sgd.clone();
                        next.run(&points, std::iter::once((rows[k], signs[k]))).unwrap();
                        weights[k] * squared_distance(&next.coef(), halfspace.normal())
                    })
                    .sum();
                let bound =
                    before - 4.0 * step * (error - ETA) + 16.0 * step * step / (GAMMA * GAMMA);
                assert!(after <= bound + 1e-12, "{adversary} {step}: {after} {bound}");
                fell += usize::from(bound < before);
                sgd.run(&points, std::iter::once(draw)).unwrap();
            }
        }
    }
    assert!(fell > 50, "{fell}");
}

/// Lemma 2.8, as `Plan::proven` uses it: `<g, w - w*>` is at most `2 + 4/gamma` either way, and comes near
/// it. So the deviations `2 step <G - g, w - w*>` of the steps from their means, whose mean is 0, add up to
/// at most `range sqrt(2 T log(1/delta))`, for the range `2 step (2 + 4/gamma)`, on all but a share delta of
/// the runs. The inequality is for the worst martingale: of these runs the share delta exceeds about a
/// fiftieth of it.
#[test]
fn deviations_add_up_to_little() {
    const STEPS: usize = 400;
    let problem = Problem::new(ETA, GAMMA).unwrap();
    let (step, delta) = (0.01, 0.3f64);
    let most = 2.0 + 4.0 / GAMMA;
    let range = 2.0 * step * most;
    let (mut largest, mut sums) = (0.0f64, Vec::new());
    for seed in 0..200 {
        let (halfspace, noisy) = simulated(["random", "trap"][seed as usize % 2], seed);
        let points = Sphere::new(noisy.design()).unwrap();
        let (rows, signs, weights) = noisy.as_sample();
        let mut sgd = Sgd::new(problem, 4, step).unwrap();
        let draws = noisy.draw(STEPS, seed);
        let mut sum = 0.0;
        for (row, y) in draws.rows.into_iter().zip(draws.signs) {
            let w = sgd.coef();
            let scores = points.scores(&w);
            let best = points.scores(halfspace.normal());
            let moved = |row: usize, y: f64| {
                problem.gradient_factor(scores[row], y) * (scores[row] - best[row])
            };
            let mean: f64 = (0..rows.len()).map(|k| weights[k] * moved(rows[k], signs[k])).sum();
            let drawn = moved(row, y);
            assert!(drawn.abs() <= most, "{drawn} {most}");
            largest = largest.max(drawn.abs());
            sum += 2.0 * step * (mean - drawn);
            sgd.run(&points, std::iter::once((row, y))).unwrap();
        }
        sums.push(sum);
    }
    assert!(largest > 0.6 * most, "{largest} {most}");
    sums.sort_by(f64::total_cmp);
    let quantile = sums[((1.0 - delta) * sums.len() as f64) as usize];
    let share = quantile / (range * (2.0 * STEPS as f64 * delta.recip().ln()).sqrt());
    assert!((0.01..0.03).contains(&share), "{share}");
    let n = sums.len() as f64;
    let mean = sums.iter().sum::<f64>() / n;
    let variance = sums.iter().map(|sum| (sum - mean) * (sum - mean)).sum::<f64>() / (n - 1.0);
    assert!(mean.abs() < 4.0 * (variance / n).sqrt(), "{mean} {variance}");
}

/// Proposition B.5 from samples: the cut of a bad halfspace is between it and w*, as deep as it
/// says, on all but a few draws.
#[test]
fn cuts_of_drawn_samples_keep_the_true_halfspace() {
    let target = Target::new(0.15, 0.05).unwrap();
    let problem = Problem::new(ETA, GAMMA).unwrap().with_target(target);
    let (mut cuts, mut lost) = (0, 0);
    for seed in 0..60 {
        let (halfspace, noisy) = simulated(["far", "greedy", "trap"][seed as usize % 3], seed);
        let draws = noisy.draw(3000, seed);
        let design = noisy.design().select(&draws.rows);
        let sample = SphereSample::new(&design, &draws.signs).unwrap();
        for axis in 0..4 {
            for side in [0.7, -0.7] {
                let mut w = halfspace.normal().iter().map(|v| 0.3 * v).collect::<Vec<f64>>();
                w[axis] += side;
                let Some(cut) = separate(&problem, &sample, &w).cut else { continue };
                cuts += 1;
                let kept = dot(&cut.normal, &w) - dot(&cut.normal, halfspace.normal());
                lost += usize::from(kept < cut.depth);
            }
        }
    }
    assert!(cuts > 150 && lost * 50 <= cuts, "{lost} of {cuts}");
}

/// Fact B.4 with the constants of ellipsoids: an oracle that keeps a ball of radius r in the unit ball, and
/// cuts as little else as it can, cuts at most `2 d (d+1) ln(1/r)` times before the centre is in the ball.
#[test]
fn ellipsoids_find_a_ball_within_their_calls() {
    let mut most = 0.0f64;
    for (seed, (d, r)) in
        (0..24usize).zip([(1, 0.3), (2, 0.05), (3, 0.2), (5, 0.01)].iter().cycle())
    {
        let (d, r) = (*d, *r);
        let wave =
            |k: usize, call: usize| (0.37 * (seed + 7 * k + 3 * call + 2).pow(2) as f64).sin();
        let ball: Vec<f64> = (0..d).map(|k| (1.0 - r) * wave(k, 0) / (d as f64).sqrt()).collect();
        let (limits, mut call) = (Limits::default(), 0);
        let bound = Method::Ellipsoid.most_cuts(d, r);
        let (end, calls) = localize(Method::Ellipsoid, d, bound + 1, &limits, |w| {
            call += 1;
            let away: Vec<f64> = w.iter().zip(&ball).map(|(w, p)| w - p).collect();
            let distance = dot(&away, &away).sqrt();
            if distance <= r {
                return Err(End::Accepted);
            }
            // A normal near `away`, so far from it that the ball just touches the cut through w.
            let side: Vec<f64> = (0..d).map(|k| wave(k, call)).collect();
            let along = dot(&side, &away) / distance;
            let across: Vec<f64> =
                side.iter().zip(&away).map(|(s, a)| s - along * a / distance).collect();
            let norm = dot(&across, &across).sqrt();
            let cosine = r / distance;
            let sine = if norm > 1e-9 { (1.0 - cosine * cosine).sqrt() / norm } else { 0.0 };
            let normal = away.iter().zip(&across).map(|(a, s)| cosine * a / distance + sine * s);
            Ok(Cut { normal: normal.collect(), depth: 0.0 })
        });
        assert_eq!(end, End::Accepted, "{d} {r}: {calls} of {bound}");
        most = most.max(calls as f64 / bound as f64);
    }
    assert!(most > 0.1, "{most}");
}

/// Returns the mean of g over a sample of unit rows.
fn mean_gradient(
    problem: &Problem,
    (design, signs, weights): &(Design, Vec<f64>, Vec<f64>),
    w: &[f64],
) -> Vec<f64> {
    let (mut scores, mut mean) = (vec![0.0; design.rows()], vec![0.0; w.len()]);
    design.multiply(w, &mut scores);
    let total: f64 = weights.iter().sum();
    let terms = scores.iter().zip(signs).zip(weights);
    let z: Vec<f64> =
        terms.map(|((&s, &y), c)| c / total * problem.gradient_factor(s, y)).collect();
    design.multiply_transposed(&z, &mut mean);
    mean
}

/// Theorem B.3 on drawn samples, as `CutPlan::proven` counts them: the mean of g over the fresh rows of a call
/// is within 2 epsilon/5 of its expectation, as fact B.6 promises, and the error within epsilon/10; no cut
/// takes a part of the ball of radius gamma/4 around `(1 - gamma/4) w*` away; and what is accepted has an
/// error of at most eta + 3 epsilon/5.
#[test]
fn fresh_rows_keep_the_ball_of_the_proof() {
    let (gamma, eta, epsilon) = (0.5, 0.1, 0.4);
    let target = Target::new(epsilon, 0.1).unwrap();
    let problem = Problem::new(eta, gamma).unwrap().with_target(target);
    let plan = CutPlan::proven(&problem, 3);
    let of_calls = 51 * 31_206;
    assert_eq!((plan.calls, plan.rows_per_call, plan.rows()), (51, 31_206, of_calls + 15));
    let (mut accepted, mut largest) = (0, 0.0f64);
    for seed in 0..8 {
        let adversary = ["random", "far", "near", "greedy"][seed as usize % 4];
        let (halfspace, noisy) =
            MassartDistribution::simulated(3, gamma, eta, adversary, 60, seed).unwrap();
        let of = |(rows, signs, weights): (Vec<usize>, Vec<f64>, Vec<f64>)| {
            (noisy.design().select(&rows), signs, weights)
        };
        let centre: Vec<f64> = halfspace.normal().iter().map(|v| (1.0 - gamma / 4.0) * v).collect();
        let keeps_the_ball = |cut: &Cut, w: &[f64]| {
            let least = dot(&cut.normal, w) - dot(&cut.normal, &centre);
            least - gamma / 4.0 * dot(&cut.normal, &cut.normal).sqrt() >= cut.depth
        };
        let exact = of(noisy.as_sample());
        for call in 0..12 {
            let drawn = of(noisy.draw(plan.rows_per_call, 100 * seed + call).tally());
            let sample = SphereSample::new(&drawn.0, &drawn.1).unwrap();
            let sample = sample.with_weights(drawn.2.clone()).unwrap();
            // The first call.
            let pulls: Vec<f64> = drawn
                .1
                .iter()
                .zip(&drawn.2)
                .map(|(y, c)| -y * c / plan.rows_per_call as f64)
                .collect();
            let mut normal = vec![0.0; 3];
            drawn.0.multiply_transposed(&pulls, &mut normal);
            assert!(keeps_the_ball(&Cut { normal, depth: 0.0 }, &[0.0; 3]), "{adversary} {call}");
            // The others, about any w.
            let wave =
                |k: usize| (0.37 * (31 * seed + 17 * call + 7 * k as u64 + 3).pow(2) as f64).sin();
            let near = if call % 3 == 0 { 0.4 } else { 0.0 };
            let w = halfspace.normal().iter().enumerate();
            let w: Vec<f64> = w.map(|(k, v)| near * v + 0.3 * wave(k)).collect();
            let error = noisy.linear_error(&w).unwrap();
            assert!((sample.error(&w) - error).abs() <= epsilon / 10.0, "{adversary} {call}");
            let [mean, expected] = [&drawn, &exact].map(|rows| mean_gradient(&problem, rows, &w));
            let distance = squared_distance(&mean, &expected).sqrt();
            assert!(distance <= 0.4 * epsilon, "{adversary} {call}: {distance}");
            largest = largest.max(distance);
            match separate(&problem, &sample, &w).cut {
                Some(cut) => assert!(keeps_the_ball(&cut, &w), "{adversary} {call}: {cut:?}"),
                None => {
                    accepted += 1;
                    assert!(error <= eta + 0.6 * epsilon, "{adversary} {call}: {error}");
                }
            }
        }
    }
    // The inequality is for the worst distribution: the deviations are several times as small.
    assert!((20..90).contains(&accepted) && largest > 0.02 * epsilon, "{accepted} {largest}");
}

/// The search of theorem B.3 over the rows of a sample accepts a halfspace as good as it promises, and a call
/// that takes more rows than there are takes all, as other cutting planes do.
#[test]
fn cuts_with_fresh_rows_accept_a_halfspace() {
    let target = Target::new(0.4, 0.1).unwrap();
    let problem = Problem::new(0.1, 0.5).unwrap().with_target(target);
    let limits = Limits::default();
    for (seed, adversary) in ["random", "far", "near", "greedy"].iter().enumerate() {
        let seed = seed as u64;
        let (_, noisy) = MassartDistribution::simulated(3, 0.5, 0.1, adversary, 60, seed).unwrap();
        let draws = noisy.draw(130_000, seed);
        let design = noisy.design().select(&draws.rows);
        let sample = SphereSample::new(&design, &draws.signs).unwrap();
        let plan = CutPlan::proven(&problem, 3);
        let (found, held_out) =
            learn_by_fresh_cuts(&problem, &plan, &sample, seed, &limits).unwrap();
        assert!(found.end == End::Accepted && (2..=51).contains(&found.calls), "{found:?}");
        let error = noisy.linear_error(&found.classifier.coef).unwrap();
        assert!(error <= 0.1 + 0.6 * 0.4 && error <= held_out.bound, "{adversary}: {error}");
        // A target that no halfspace meets: every call cuts, each with other rows.
        let hard = Problem::new(0.0, 0.5).unwrap().with_target(Target::new(0.01, 0.1).unwrap());
        for (method, rows_per_call) in
            [(Method::Ellipsoid, usize::MAX), (Method::AnalyticCentre, 104_000)]
        {
            let plan = CutPlan::new(&hard, 3, method, Some(6));
            let plan = CutPlan { rows_per_call, ..plan };
            let options = CutOptions { method, most_calls: Some(6), limits };
            let all = learn_by_tested_cuts(&hard, &options, &sample, None, seed).unwrap();
            let fresh = learn_by_fresh_cuts(&hard, &plan, &sample, seed, &limits).unwrap();
            assert_eq!(fresh == all, rows_per_call == usize::MAX, "{fresh:?} {all:?}");
        }
        let few = CutPlan { rows_per_call: 500, calls: 6, ..plan };
        let (found, _) = learn_by_fresh_cuts(&hard, &few, &sample, seed, &limits).unwrap();
        assert_ne!(found.end, End::Accepted);
    }
}

/// H is never above the share of flips, for every sample and with weights. Of random noise the bound on
/// eta is above 0; clean labels have 0.
#[test]
fn the_audit_bounds_the_noise_from_below() {
    let (gamma, eta, delta) = (0.3, 0.2, 0.05);
    let (margin, limits) = (MarginBound::new(gamma).unwrap(), Limits::default());
    for seed in 0..40 {
        let adversary = ["random", "far", "near", "greedy", "trap"][seed as usize % 5];
        let (_, noisy) =
            MassartDistribution::simulated(5, gamma, eta, adversary, 400, seed).unwrap();
        let draws = noisy.draw(1500, seed);
        let design = noisy.design().select(&draws.rows);
        let sample = SphereSample::new(&design, &draws.signs).unwrap();
        let is_flipped = |i: usize| draws.signs[i] != noisy.clean()[draws.rows[i]];
        let found = audit(margin, delta, &sample, &limits).unwrap();
        let flips = (0..1500).filter(|&i| is_flipped(i)).count() as f64 / 1500.0;
        assert!(found.flipped <= flips + 1e-12, "{adversary}: {} {flips}", found.flipped);
        assert!(found.terms.iter().all(|term| (0.0..=1.0 + 1e-12).contains(term)), "{adversary}");
        if adversary == "random" {
            assert!(found.eta_bound > 0.03 && found.eta_bound < found.flipped, "{found:?}");
            // Of all labels one in five is flipped; of those that contradict most, nearly every one.
            let mut suspects: Vec<usize> = (0..1500).collect();
            suspects.sort_by(|&i, &j| found.terms[j].total_cmp(&found.terms[i]));
            let right = suspects[..100].iter().filter(|&&i| is_flipped(i)).count();
            assert!(right > 95, "{right}");
        }
        // The mean of the terms is the value of the minimum, within its gap of H.
        let mean = found.terms.iter().sum::<f64>() / 1500.0;
        assert!(mean >= found.flipped && mean <= found.flipped + 1e-3 + 1e-12, "{mean}");
        let weights: Vec<f64> = (0..1500).map(|i| (1 + i % 4) as f64).collect();
        let total: f64 = weights.iter().sum();
        let share = (0..1500).filter(|&i| is_flipped(i)).map(|i| weights[i]).sum::<f64>() / total;
        let weighted = sample.clone().with_weights(weights).unwrap();
        let found = audit(margin, delta, &weighted, &limits).unwrap();
        assert!(found.flipped <= share + 1e-12 && found.eta_bound < found.flipped, "{share}");
        let clean: Vec<f64> = draws.rows.iter().map(|&row| noisy.clean()[row]).collect();
        let sample = SphereSample::new(&design, &clean).unwrap();
        let found = audit(margin, delta, &sample, &limits).unwrap();
        assert_eq!((found.flipped, found.eta_bound), (0.0, 0.0), "{adversary}");
    }
    let design = Design::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
    let sample = SphereSample::new(&design, &[1.0, -1.0]).unwrap();
    let refused = audit(margin, 1.0, &sample, &limits).unwrap_err().to_string();
    assert_eq!(refused, "delta is 1, but must be strictly between 0 and 1");
    let late = Limits { deadline: Some(std::time::Instant::now()), ..limits };
    assert!(audit(margin, 0.1, &sample, &late).unwrap().stopped.is_some());
}

/// (3) on a sample: the mean of the losses by weight; off the slab the error less eta.
#[test]
fn the_reweighted_risk_is_the_mean_of_the_losses() {
    let halfspace = MarginHalfspace::new(4, 0.2, 3).unwrap();
    let points = halfspace.points(300, 3).unwrap();
    let weights: Vec<f64> = (0..300).map(|row| f64::from(row % 4)).collect();
    let signs: Vec<f64> = points
        .samples()
        .enumerate()
        .map(|(row, x)| sign(x.dot(halfspace.normal())) * if row % 5 == 4 { -1.0 } else { 1.0 })
        .collect();
    let sample = SphereSample::new(&points, &signs).unwrap();
    let sample = sample.with_weights(weights.clone()).unwrap();
    let (problem, best) = (Problem::new(0.3, 0.2).unwrap(), halfspace.normal());
    let of_best = reweighted_risk(&problem, &sample, best, best);
    assert!((of_best - (sample.error(best) - 0.3)).abs() < 1e-12, "{of_best}");
    let w = [0.5, -0.5, 0.5, 0.5];
    let by_hand = points
        .samples()
        .zip(&signs)
        .zip(&weights)
        .map(|((x, &y), c)| c * problem.reweighted_loss(x.dot(best), x.dot(&w), y));
    let mean = by_hand.sum::<f64>() / weights.iter().sum::<f64>();
    let found = reweighted_risk(&problem, &sample, best, &w);
    assert!((found - mean).abs() < 1e-12 && found < 0.0, "{found} {mean}");
}

/// Of two opposite points H is nearly the share of flips, so that the bound on eta is the binomial one:
/// it is above eta with the largest probability of a binomial tail that is below delta.
#[test]
fn the_bound_of_the_audit_fails_as_often_as_a_binomial_limit() {
    let (eta, delta, rows, samples) = (0.2, 0.2, 200, 400);
    let (margin, limits) = (MarginBound::new(0.999).unwrap(), Limits::default());
    let points = Design::from_rows(&[[1.0, 0.0], [-1.0, 0.0]]).unwrap();
    let noisy = MassartDistribution::new(points, None, vec![1.0, -1.0], vec![eta; 2]).unwrap();
    let is_wrong = |seed: &u64| {
        let draws = noisy.draw(rows, *seed);
        let design = noisy.design().select(&draws.rows);
        let sample = SphereSample::new(&design, &draws.signs).unwrap();
        let found = audit(margin, delta, &sample, &limits).unwrap();
        assert_eq!(found.stopped, None);
        found.eta_bound > eta
    };
    let wrong = (0..samples).filter(is_wrong).count() as f64 / samples as f64;
    let mut tails = (0..).map(|flips| at_least(flips, rows as u64, eta));
    let expected = tails.find(|&tail| tail < delta).unwrap();
    let deviation = (expected * (1.0 - expected) / samples as f64).sqrt();
    assert!(expected > 0.15 && (wrong - expected).abs() < 3.0 * deviation, "{wrong} {expected}");
}
