//! Figure 2: separators of the plane, through the origin as in section 3.3 of the source.
//!
//! A direction is an angle `t`, `u(t) = (cos t, sin t)`, and the margin of sample i is `y_i <x_i,
//! u(t)> = |x_i| cos(t - phi_i)` with `phi_i` the angle of `y_i x_i`. The directions that separate
//! are those within a quarter turn of every `phi_i`, an open interval, on which the logarithm of
//! every margin is concave in `t`.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use margins::data::generate::GaussianMixture;
use margins::data::{Dataset, Design, Labels};
use margins::losses::LeakyHockeyStick;
use margins::optim::{self, Lambda, Objective, Options, lambda_grid};
use margins_kernels::{Gram, Linear, svm};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::Failure;

/// The points that the centres of each class scatter around, with unit variance.
const POSITIVE: [f64; 2] = [-1.8, 1.8];
const CENTRES: usize = 3;
const VARIANCE: f64 = 0.6;
/// Samples of each normal distribution.
const SAMPLES: usize = 10;

/// Samples that a line through the origin separates.
pub(crate) struct Geometry {
    pub(crate) mixture: GaussianMixture,
    pub(crate) data: Dataset,
    /// Least and greatest angle that separates.
    interval: (f64, f64),
}

impl Geometry {
    /// Returns centres and samples, drawn until they are separable.
    pub(crate) fn draw(random: &mut ChaCha8Rng) -> Result<Self, Failure> {
        const MOST_DRAWS: usize = 10_000;
        for _ in 0..MOST_DRAWS {
            let (mixture, data) = sample(random)?;
            if let Some(interval) = separating_angles(&data) {
                return Ok(Geometry { mixture, data, interval });
            }
        }
        Err(format!("none of {MOST_DRAWS} samples is separable through the origin").into())
    }

    /// Returns the direction of the largest product of margins, on the unit circle itself: the
    /// derivative of the sum of logarithms, `- sum_i tan(t - phi_i)`, falls from infinity to minus
    /// infinity over the interval, and bisection finds where it vanishes.
    pub(crate) fn product_of_margins(&self) -> f64 {
        let slope = |t: f64| -> f64 { angles(&self.data).map(|phi| -(t - phi).tan()).sum() };
        let (mut low, mut high) = self.interval;
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                return middle;
            }
            if slope(middle) > 0.0 { low = middle } else { high = middle }
        }
    }

    /// Returns the direction of the largest product of margins as the limit of the leaky hockey
    /// stick classifier without intercept: once all margins are beyond 1 its direction does not
    /// change any more (theorem 3 of the source).
    pub(crate) fn limit_of_the_path(&self) -> Result<f64, Failure> {
        let objective = Objective::of(&LeakyHockeyStick, &self.data)?.without_intercept();
        let options = Options { tolerance: 1e-12, ..Options::default() };
        let fits = optim::path(&objective, &lambda_grid(1.0, 1e-8, 50)?, &options, &|_| {})?;
        let fit = fits.last().ok_or("a path without a fit")?;
        self.inside(fit.coef[1].atan2(fit.coef[0]))
    }

    /// Returns the direction of the largest least margin: the support vector machine without
    /// intercept, once lambda is so small that no sample is within the margin.
    pub(crate) fn largest_margin(&self) -> Result<f64, Failure> {
        let gram = Gram::new(&Linear, self.data.design())?;
        let signs = self.data.labels().signs();
        let options = Options { tolerance: 1e-9, ..Options::default() };
        let fit = svm::fit(&gram, signs, None, false, Lambda::new(HARD_MARGIN)?, &options)?;
        let mut w = [0.0; 2];
        self.data.design().multiply_transposed(&fit.coef, &mut w);
        self.inside(w[1].atan2(w[0]))
    }

    /// Returns the angle, up to full turns, between the ends of the interval.
    fn inside(&self, angle: f64) -> Result<f64, Failure> {
        let (low, high) = self.interval;
        let angle = low + (angle - low).rem_euclid(TAU);
        if angle < high {
            return Ok(angle);
        }
        Err(format!("the direction {angle} does not separate, as those from {low} to {high} do")
            .into())
    }

    /// Returns the direction of the largest least margin by a ternary search: the logarithm of the least
    /// margin is concave on the interval.
    pub(crate) fn largest_least_margin(&self) -> f64 {
        const STEPS: usize = 100;
        let (mut low, mut high) = self.interval;
        for _ in 0..STEPS {
            let third = (high - low) / 3.0;
            let [left, right] = [low + third, high - third];
            if self.least_margin(left) < self.least_margin(right) {
                low = left;
            } else {
                high = right;
            }
        }
        0.5 * (low + high)
    }

    /// Returns the least margin of a direction.
    pub(crate) fn least_margin(&self, angle: f64) -> f64 {
        let margin = |(x, y): ([f64; 2], f64)| y * (x[0] * angle.cos() + x[1] * angle.sin());
        samples(&self.data).map(margin).fold(f64::INFINITY, f64::min)
    }
}

/// Below the lambda from which on samples as those here have all margins at 1 or more.
const HARD_MARGIN: f64 = 1e-7;

/// Returns the samples of the plane with their signs.
pub(crate) fn samples(data: &Dataset) -> impl Iterator<Item = ([f64; 2], f64)> + '_ {
    let design = data.design();
    let point = |i: usize| [design.dot(i, &[1.0, 0.0]), design.dot(i, &[0.0, 1.0])];
    data.labels().signs().iter().enumerate().map(move |(i, &sign)| (point(i), sign))
}

/// Returns the angles of `y_i x_i`.
fn angles(data: &Dataset) -> impl Iterator<Item = f64> + '_ {
    samples(data).map(|([x, y], sign)| (sign * y).atan2(sign * x))
}

/// Returns the angles within a quarter turn of all those of `y_i x_i`, if there are any: the
/// largest gap between these is more than half a turn.
fn separating_angles(data: &Dataset) -> Option<(f64, f64)> {
    let mut sorted: Vec<f64> = angles(data).collect();
    sorted.sort_by(f64::total_cmp);
    let following = sorted[1..].iter().copied().chain([sorted[0] + TAU]);
    let (before, after) = (sorted.iter().copied().zip(following))
        .max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)))?;
    // All lie from `after` to `before + TAU`.
    (after - before > PI).then_some((before + TAU - FRAC_PI_2, after + FRAC_PI_2))
}

fn sample(random: &mut ChaCha8Rng) -> Result<(GaussianMixture, Dataset), Failure> {
    let negative = POSITIVE.map(|mean| -mean);
    let positive = normal_points(POSITIVE, 1.0, CENTRES, random);
    let negative = normal_points(negative, 1.0, CENTRES, random);
    let mut rows = Vec::new();
    let mut signs = Vec::new();
    for (centres, sign) in [(&positive, 1.0), (&negative, -1.0)] {
        for centre in centres {
            let centre = [centre[0], centre[1]];
            rows.extend(normal_points(centre, VARIANCE.sqrt(), SAMPLES, random));
            signs.extend([sign; SAMPLES]);
        }
    }
    let data = Dataset::new(Design::from_rows(&rows)?, Labels::from_signs(signs)?)?;
    Ok((GaussianMixture::with_centres(positive, negative, VARIANCE.sqrt())?, data))
}

/// Returns points of `N(centre, deviation^2 I)`.
fn normal_points(
    centre: [f64; 2],
    deviation: f64,
    count: usize,
    random: &mut ChaCha8Rng,
) -> Vec<Vec<f64>> {
    let mut normal = || -> f64 { StandardNormal.sample(random) };
    (0..count).map(|_| centre.map(|mean| mean + deviation * normal()).to_vec()).collect()
}
