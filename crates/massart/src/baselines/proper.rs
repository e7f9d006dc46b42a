//! The learner of Chen, Koehler, Moitra and Yau, *Classification under misspecification:
//! halfspaces, generalized linear models, and connections to evolvability*, NeurIPS 2020.

use margins_losses::{LeakyRelu, MarginLoss};

use crate::cuts::search_sample;
use crate::cutting_planes::Cut;
use crate::sphere::is_wrong;
use crate::{CutOptions, LearnedHalfspace, Problem, Separation, SphereSample};

/// Returns the halfspace of cutting planes with the oracle [`separate`] instead of the
/// reweighted one.
pub fn learn(
    problem: &Problem,
    options: &CutOptions<'_>,
    sample: &SphereSample<'_>,
) -> LearnedHalfspace {
    search_sample(problem, options, sample, separate)
}

/// Returns the error of a halfspace w and, if that is above `eta + epsilon/2`, a cut: the gradient
/// of the LeakyReLU loss with `lambda = eta`, restricted to the slab `|<w, x>| <= r` on which its
/// mean is largest.
///
/// A slab with a positive mean exists if the error is above lambda, because
/// `err(w) - lambda = integral of r^-2 E[(1[wrong] - lambda) |s| 1[|s| <= r]] dr` with
/// `s = <w, x>`, whereas w* has a mean of at most 0 on every slab. (Integrated over r, with
/// `1/max(|s|, gamma/2)` for `1/|s|`, the slabs become the reweighting of algorithm 1.)
pub fn separate(problem: &Problem, sample: &SphereSample<'_>, w: &[f64]) -> Separation {
    let eta = problem.noise.get();
    let scores = sample.points().scores(w);
    let error = sample.wrong(&scores) / sample.total();
    if error <= eta + problem.target.epsilon() / 2.0 {
        return Separation { error, cut: None };
    }
    let slab = widest_loss(sample, &scores, eta);
    let loss = LeakyRelu::new(eta).expect("a noise rate is below 1/2, and so a slope of the loss");
    let restricted =
        |s: f64, y: f64| if s.abs() <= slab { y * loss.derivative(y * s) } else { 0.0 };
    let normal = sample.mean(&scores, restricted);
    Separation { error, cut: Some(Cut { normal, depth: 0.0 }) }
}

/// Returns the width r of the slab with the largest sum of `(1[wrong] - lambda) |s|`.
fn widest_loss(sample: &SphereSample<'_>, scores: &[f64], lambda: f64) -> f64 {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[a].abs().total_cmp(&scores[b].abs()));
    let (mut sum, mut best) = (0.0, (0.0, 0.0));
    for (at, &i) in order.iter().enumerate() {
        let wrong = f64::from(u8::from(is_wrong(scores[i], sample.signs()[i])));
        sum += sample.weights()[i] * (wrong - lambda) * scores[i].abs();
        let next = order.get(at + 1).map(|&j| scores[j].abs());
        if sum > best.0 && next != Some(scores[i].abs()) {
            best = (sum, scores[i].abs());
        }
    }
    best.1
}
