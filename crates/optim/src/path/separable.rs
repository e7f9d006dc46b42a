//! The limit of a path of separable classes as lambda falls to 0, in closed form up to a direction.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use margins_data::Design;
use margins_losses::{HomogeneousTail, MarginLoss, OutOfRange};
use nalgebra::DMatrix;

use super::fit;
use crate::method::LARGEST_DENSE_ORDER;
use crate::problem::summation::dot;
use crate::products::{sample_gram, weighted_gram};
use crate::{Error, Lambda, Objective, Options};

/// The minimisers of `(1/n) sum c_i L(m_i) + lambda ||w||_q^q` for all small lambdas, `m_i = y_i <w,
/// x_i>`, where a direction through the origin separates the classes: they are `B(lambda) w*`, with the
/// same direction `w*` of norm 1.
///
/// For a loss with a [tail](HomogeneousTail) `L'(u) = -k u^(-d)` from `u_0` on, `w*` maximises the mean of
/// `c_i m_i^(1-d)/(1-d)`, of `c_i log m_i` if d = 1, over `||w||_q = 1`. For the leaky hockey stick that
/// is the product of the margins; for `L_r`, where `1 - d = 1/r`, the sum of `m_i^(1/r)`. With M the
/// mean of `c_i m_i^(1-d)`,
///
/// `B(lambda) = (k M/(q lambda))^(1/(q-1+d))` for `lambda <= (k M/q) (min m_i/u_0)^(q-1+d)`.
///
/// Source: Kwon and Zou, *Leaky hockey stick loss*, JMLR 24 (2023), theorem 3, (7), lemmas 5 and 6, for
/// the leaky hockey stick and as a limit. The statement here and its proof are those of the page on
/// linear classifiers.
#[derive(Debug, Clone, PartialEq)]
pub struct SeparableLimit {
    /// The direction `w*`, with `||w*||_q = 1`.
    pub coef: Vec<f64>,
    /// The exponent q of the penalty.
    pub exponent: f64,
    /// The smallest margin of `w*`, which is positive.
    pub least_margin: f64,
    /// The criterion at `w*`: the mean of `c_i log m_i` for a tail of degree 1, and of `c_i
    /// m_i^(1-d)/(1-d)` for others.
    pub criterion: f64,
    /// The largest lambda at which the minimiser has this direction.
    pub first_lambda: f64,
    /// An upper bound on the distance of the criterion to its maximum, relative to the mean of `c_i
    /// m_i^(1-d)`.
    pub relative_gap: f64,
    /// The Newton steps.
    pub iterations: usize,
    /// `k M/q`, and the power `1/(q-1+d)`.
    growth: (f64, f64),
}

impl SeparableLimit {
    /// Returns the size `B` of the minimiser at a lambda; `None` above
    /// [`first_lambda`](Self::first_lambda), where the minimiser has another direction.
    pub fn size(&self, lambda: Lambda) -> Option<f64> {
        let (factor, power) = self.growth;
        (lambda.get() <= self.first_lambda).then(|| (factor / lambda.get()).powf(power))
    }

    /// Returns the size of the minimiser at [`first_lambda`](Self::first_lambda): at a lambda below, it is
    /// larger by the factor `(first_lambda/lambda)` to the [power](Self::power).
    pub fn first_size(&self) -> f64 {
        let (factor, power) = self.growth;
        (factor / self.first_lambda).powf(power)
    }

    /// Returns the power `1/(q-1+d)`, by which the minimiser grows as lambda falls.
    pub fn power(&self) -> f64 {
        self.growth.1
    }
}

/// Returns the limit of the path of an objective without intercept with the penalty `lambda ||w||_q^q`,
/// `q >= 1`.
///
/// Newton's method minimises `- mean of the criterion + (mu/q) sum (w_j^2 + e^2)^(q/2)` at smaller and
/// smaller e; for q = 2 there is nothing to smooth. The bound is by the concavity of the criterion: with
/// `g = (1/n) sum c_i m_i^(-d) y_i x_i` no direction of norm 1 exceeds it by more than `||g||_q' - <g,
/// w>`, `1/q + 1/q' = 1`.
///
/// ```
/// use margins_data::{Design, Labels};
/// use margins_losses::LeakyHockeyStick;
/// use margins_optim::path::separable_limit;
/// use margins_optim::{Lambda, Objective};
///
/// let design = Design::from_rows(&[[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])?;
/// let labels = Labels::from_signs(vec![1.0, 1.0, -1.0])?;
/// let objective = Objective::new(&LeakyHockeyStick, &design, &labels)?.without_intercept();
/// let limit = separable_limit(&objective, 2.0)?;
/// // By symmetry; the size is 1/sqrt(2 lambda).
/// assert!(limit.coef.iter().all(|w| (w - 0.5f64.sqrt()).abs() < 1e-9));
/// assert!((limit.first_lambda - 0.25).abs() < 1e-9 && limit.relative_gap < 1e-9);
/// assert!((limit.size(Lambda::new(0.02)?).expect("small enough") - 5.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`]: q is not a number from 1 to 100. [`Error::Unsuitable`]: the loss is not convex,
/// or has no tail on which its slope falls as a power of the margin. [`Error::Limit`]: an intercept, a
/// feature without a penalty, or too many features. [`Error::NotSeparable`]: no direction was found that
/// separates the classes.
pub fn separable_limit<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    exponent: f64,
) -> Result<SeparableLimit, Error> {
    let requirement = "a number from 1 to 100";
    let q = OutOfRange::check("q", exponent, requirement, |q| (1.0..=100.0).contains(&q))?;
    let (risk, loss) = (&objective.risk, objective.risk.loss);
    risk.check_convex()?;
    let tail = tail_of(loss)?;
    if risk.intercept || !objective.free.get().is_empty() {
        return Err(Error::Limit("needs the intercept fixed at 0, and a penalty on every feature"));
    }
    let counted: Vec<usize> =
        (0..risk.sample_count()).filter(|&i| risk.weights.get(i) > 0.0).collect();
    let start = separating_direction(objective, &counted)?;
    let design = objective.design.select(&counted);
    let problem = Problem {
        signs: counted.iter().map(|&i| risk.signs.get(i)).collect(),
        weights: counted.iter().map(|&i| risk.weights.get(i)).collect(),
        degree: tail.degree,
        q,
        rows: Rows::of(&design, q)?,
        design: &design,
    };
    let slope = -loss.derivative(tail.from) * tail.from.powf(tail.degree);
    Ok(problem.solve(start).limit(&problem, slope, tail.from))
}

/// Returns the tail of a loss, if its slope falls there.
fn tail_of<L: MarginLoss + ?Sized>(loss: &L) -> Result<HomogeneousTail, Error> {
    loss.homogeneous_tail().filter(HomogeneousTail::falls).ok_or_else(|| Error::Unsuitable {
        loss: loss.specification(),
        lacks: "has no tail on which its slope falls as a power of the margin",
        alternative: "Use lhs, l-r or dwd",
    })
}

/// Returns coefficients for which all margins of the samples that count are positive: those of the first
/// fit that separates, on the way to smaller lambdas.
fn separating_direction<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    counted: &[usize],
) -> Result<Vec<f64>, Error> {
    const FITS: i32 = 13;
    let design = &objective.design;
    let square = design.samples().map(|x| x.squared_norm()).sum::<f64>() / design.rows() as f64;
    let options = Options { tolerance: 1e-6, ..Options::default() };
    let mut last = f64::NAN;
    for k in 0..FITS {
        last = square.max(f64::MIN_POSITIVE) * 10f64.powi(-k);
        let Ok(lambda) = Lambda::new(last) else { break };
        let found = fit(objective, lambda, &options)?;
        let scores = found.decision_function(design);
        if counted.iter().all(|&i| objective.risk.signs.get(i) * scores[i] > 0.0) {
            return Ok(found.coef);
        }
    }
    Err(Error::NotSeparable(last))
}

/// The maximisation of the criterion over the samples that count.
struct Problem<'p> {
    design: &'p Design,
    signs: Vec<f64>,
    /// `c_i/n`.
    weights: Vec<f64>,
    degree: f64,
    q: f64,
    rows: Rows,
}

/// The order in which the systems of Newton's method are solved.
enum Rows {
    /// By features.
    Features,
    /// By samples, with their inner products: for the quadratic penalty and more features than samples.
    Samples(DMatrix<f64>),
}

impl Rows {
    fn of(design: &Design, q: f64) -> Result<Self, Error> {
        let (n, p) = (design.rows(), design.columns());
        if q == 2.0 && p > n && n <= LARGEST_DENSE_ORDER {
            return Ok(Rows::Samples(sample_gram(design)));
        }
        if p > LARGEST_DENSE_ORDER {
            return Err(Error::Limit("takes at most 3000 features, or as many samples if q is 2"));
        }
        Ok(Rows::Features)
    }
}

/// A direction with its margins.
#[derive(Clone)]
struct Candidate {
    w: Vec<f64>,
    margins: Vec<f64>,
    relative_gap: f64,
    iterations: usize,
}

impl Candidate {
    fn limit(self, problem: &Problem<'_>, slope: f64, from: f64) -> SeparableLimit {
        let (q, d) = (problem.q, problem.degree);
        let Candidate { w, margins, relative_gap, iterations } = self;
        let least_margin = margins.iter().copied().fold(f64::INFINITY, f64::min);
        let factor = slope * problem.mean(&margins, |m| m.powf(1.0 - d)) / q;
        SeparableLimit {
            coef: w,
            exponent: q,
            least_margin,
            criterion: problem.mean(&margins, |m| problem.criterion(m)),
            first_lambda: factor * (least_margin / from).powf(q - 1.0 + d),
            relative_gap,
            iterations,
            growth: (factor, 1.0 / (q - 1.0 + d)),
        }
    }
}

impl Problem<'_> {
    /// The relative gap that is small enough.
    const TOLERANCE: f64 = 1e-14;

    /// Returns the best direction that was found, from coefficients that separate.
    fn solve(&self, start: Vec<f64>) -> Candidate {
        /// The factor by which the smoothing falls, and how often it does.
        const NEXT: f64 = 0.1;
        const TIMES: usize = 14;
        let mut best = self.candidate(start, 0);
        let mu = self.mean(&best.margins, |m| m.powf(1.0 - self.degree));
        let mut w = best.w.clone();
        let mut smoothing = largest(&w);
        for stage in 0..TIMES {
            let steps = self.newton(&mut w, mu, smoothing);
            let iterations = best.iterations + steps;
            let found = self.candidate(w.clone(), iterations);
            best.iterations = iterations;
            if found.relative_gap < best.relative_gap {
                best = found;
            }
            // The quadratic penalty is smooth.
            if best.relative_gap <= Self::TOLERANCE || self.q == 2.0 && stage > 0 {
                break;
            }
            // Coefficients that tend to 0 do so in proportion to the smoothing.
            let small = |x: &&mut f64| x.abs() <= 10.0 * smoothing;
            w.iter_mut().filter(small).for_each(|x| *x *= NEXT);
            smoothing *= NEXT;
            if self.margins(&w).iter().any(|m| *m <= 0.0) {
                w.clone_from(&best.w);
            }
        }
        self.without_remains(best)
    }

    /// Returns the candidate with tiny coefficients set to 0, as many as leave the gap small.
    fn without_remains(&self, best: Candidate) -> Candidate {
        let (size, most) = (largest(&best.w), best.relative_gap.max(Self::TOLERANCE));
        let cleared = |k: i32| {
            let remains = size * 10f64.powi(-k);
            let w = best.w.iter().map(|x| if x.abs() <= remains { 0.0 } else { *x }).collect();
            self.candidate(w, best.iterations)
        };
        let found = (7..=16).map(cleared).find(|found| found.relative_gap <= most);
        found.unwrap_or(best)
    }

    /// Returns coefficients scaled to norm 1, with their margins and the bound on the criterion.
    fn candidate(&self, mut w: Vec<f64>, iterations: usize) -> Candidate {
        let size = power_norm(&w, self.q);
        w.iter_mut().for_each(|x| *x /= size);
        let margins = self.margins(&w);
        let relative_gap = if margins.iter().all(|m| *m > 0.0) {
            let g = self.ascent(&margins);
            let conjugate = if self.q > 1.0 { self.q / (self.q - 1.0) } else { f64::INFINITY };
            let reached = dot(&g, &w);
            (power_norm(&g, conjugate) - reached).max(0.0) / reached
        } else {
            f64::INFINITY
        };
        Candidate { w, margins, relative_gap, iterations }
    }

    fn margins(&self, w: &[f64]) -> Vec<f64> {
        let mut margins = vec![0.0; self.signs.len()];
        self.design.multiply(w, &mut margins);
        margins.iter_mut().zip(&self.signs).for_each(|(m, y)| *m *= y);
        margins
    }

    /// Returns `(1/n) sum c_i f(m_i)`.
    fn mean(&self, margins: &[f64], f: impl Fn(f64) -> f64) -> f64 {
        margins.iter().zip(&self.weights).map(|(m, c)| c * f(*m)).sum()
    }

    /// Returns the criterion of a margin.
    fn criterion(&self, m: f64) -> f64 {
        let power = 1.0 - self.degree;
        if power == 0.0 { m.ln() } else { m.powf(power) / power }
    }

    /// Returns the gradient of the criterion.
    fn ascent(&self, margins: &[f64]) -> Vec<f64> {
        let pull = |((m, y), c): ((&f64, &f64), &f64)| y * c * m.powf(-self.degree);
        let pulls: Vec<f64> =
            margins.iter().zip(&self.signs).zip(&self.weights).map(pull).collect();
        let mut gradient = vec![0.0; self.design.columns()];
        self.design.multiply_transposed(&pulls, &mut gradient);
        gradient
    }

    /// Returns the penalty less the criterion; infinite where a margin is not positive.
    fn value(&self, w: &[f64], margins: &[f64], mu: f64, smoothing: f64) -> f64 {
        if margins.iter().any(|m| *m <= 0.0 || m.is_nan()) {
            return f64::INFINITY;
        }
        let penalty: f64 = w.iter().map(|x| x.hypot(smoothing).powf(self.q)).sum();
        mu / self.q * penalty - self.mean(margins, |m| self.criterion(m))
    }

    /// Minimises the penalty less the criterion in place, and returns the number of steps.
    fn newton(&self, w: &mut Vec<f64>, mu: f64, smoothing: f64) -> usize {
        const STEPS: usize = 100;
        /// The decrement, relative to the criterion, that no value shows: the last step is a full one.
        const LEAST: f64 = 1e-16;
        let size = |x: f64| x.hypot(smoothing);
        let pull = |x: f64| mu * size(x).powf(self.q - 2.0) * x;
        let curve = |x: f64| {
            // Of a sum of squares, so that nothing cancels for q near 1.
            let (share, rest) = (x / size(x), smoothing / size(x));
            mu * size(x).powf(self.q - 2.0) * (rest * rest + (self.q - 1.0) * share * share)
        };
        for step in 0..STEPS {
            let margins = self.margins(w);
            let ascent = self.ascent(&margins);
            let gradient: Vec<f64> = w.iter().zip(&ascent).map(|(x, g)| pull(*x) - g).collect();
            let diagonal: Vec<f64> = w.iter().map(|x| curve(*x)).collect();
            let Some(direction) = self.direction(&margins, &diagonal, &gradient) else {
                return step;
            };
            let slope = dot(&gradient, &direction);
            if slope.is_nan() {
                return step;
            }
            if -slope <= LEAST * mu {
                let full: Vec<f64> = w.iter().zip(&direction).map(|(x, d)| x + d).collect();
                if self.margins(&full).iter().all(|m| *m > 0.0) {
                    *w = full;
                }
                return step + 1;
            }
            let value = |w: &[f64], margins: &[f64]| self.value(w, margins, mu, smoothing);
            if !self.advance(w, &margins, &direction, slope, value) {
                return step + 1;
            }
        }
        STEPS
    }

    /// Moves along a direction to where the value has fallen enough, inside of the cone of positive
    /// margins; returns false if it has not fallen.
    fn advance(
        &self,
        w: &mut Vec<f64>,
        margins: &[f64],
        direction: &[f64],
        slope: f64,
        value: impl Fn(&[f64], &[f64]) -> f64,
    ) -> bool {
        const ARMIJO: f64 = 1e-4;
        /// The share of the way to the first margin of 0.
        const INSIDE: f64 = 0.99;
        let before = value(w, margins);
        let changes = self.margins(direction);
        let ends = margins.iter().zip(&changes).filter(|(_, change)| **change < 0.0);
        let end = ends.map(|(m, change)| -m / change).fold(f64::INFINITY, f64::min);
        let mut t = (INSIDE * end).min(1.0);
        while t > f64::EPSILON {
            let ahead: Vec<f64> = w.iter().zip(direction).map(|(x, d)| x + t * d).collect();
            let next = value(&ahead, &self.margins(&ahead));
            if next <= before + ARMIJO * t * slope {
                *w = ahead;
                return next < before;
            }
            t *= 0.5;
        }
        false
    }

    /// Returns the direction of a Newton step; `None` if the system cannot be solved.
    fn direction(&self, margins: &[f64], diagonal: &[f64], gradient: &[f64]) -> Option<Vec<f64>> {
        let d = self.degree;
        let bends: Vec<f64> =
            margins.iter().zip(&self.weights).map(|(m, c)| c * d * m.powf(-1.0 - d)).collect();
        match &self.rows {
            Rows::Features => {
                let p = diagonal.len();
                let mut gram = DMatrix::zeros(p + 1, p + 1);
                weighted_gram(self.design, &bends, &mut gram);
                // A trace of ridge keeps dependent columns solvable, and moves no minimum.
                let ridge = (1..=p).map(|j| gram[(j, j)]).fold(0.0, f64::max) * 1e-14;
                let entry = |i: usize, j: usize| {
                    let own = if i == j { diagonal[i] + ridge } else { 0.0 };
                    gram[(i.max(j) + 1, i.min(j) + 1)] + own
                };
                let right: Vec<f64> = gradient.iter().map(|g| -g).collect();
                solved(p, entry, &right)
            }
            Rows::Samples(gram) => {
                // The formula of Sherman, Morrison and Woodbury, for a diagonal that is a multiple of 1.
                let mu = diagonal[0];
                let mut products = vec![0.0; bends.len()];
                self.design.multiply(gradient, &mut products);
                let entry =
                    |i: usize, j: usize| gram[(i, j)] + if i == j { mu / bends[i] } else { 0.0 };
                let inner = solved(bends.len(), entry, &products)?;
                let mut back = vec![0.0; gradient.len()];
                self.design.multiply_transposed(&inner, &mut back);
                Some(gradient.iter().zip(&back).map(|(g, b)| (b - g) / mu).collect())
            }
        }
    }
}

/// Returns the solution of a symmetric positive definite system scaled to a unit diagonal; `None` if it is
/// not definite.
fn solved(order: usize, entry: impl Fn(usize, usize) -> f64, right: &[f64]) -> Option<Vec<f64>> {
    let scales: Vec<f64> = (0..order).map(|j| entry(j, j).sqrt().recip()).collect();
    if !scales.iter().all(|scale| scale.is_finite()) {
        return None;
    }
    let matrix = Mat::from_fn(order, order, |i, j| entry(i, j) * scales[i] * scales[j]);
    let factor = matrix.llt(Side::Lower).ok()?;
    let mut solution = Mat::from_fn(order, 1, |j, _| right[j] * scales[j]);
    factor.solve_in_place(&mut solution);
    Some((0..order).map(|j| solution[(j, 0)] * scales[j]).collect())
}

/// Returns the largest size of some numbers.
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |size, x| x.abs().max(size))
}

/// Returns the norm of an exponent from 1 to infinity.
fn power_norm(x: &[f64], exponent: f64) -> f64 {
    let size = largest(x);
    if exponent.is_infinite() || size == 0.0 {
        return size;
    }
    let sum: f64 = x.iter().map(|x| (x.abs() / size).powf(exponent)).sum();
    size * sum.powf(exponent.recip())
}
