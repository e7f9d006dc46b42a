//! Limited-memory BFGS in the coefficients, the intercept settled exactly after every step: a
//! quasi-Newton method on `G(w) = min_b F(b, w)`, whose gradient is that of F in w at the best
//! intercept. A search along the line costs no product with the data.
//!
//! Along a direction d the intercept moves by `-1' D X d / 1' D 1`, with the curvatures D, as that of
//! the lowest F does to first order: features that are far from zero make no search along a line short.
//!
//! *One reading a step.* The direction depends on the gradient, so that a step needs a product `X d` and
//! one with `X'` at its end. Of the full step, which most steps are, only the intercept is not known in
//! advance: it moves by about `-<m, d>`, where m are the means of the features weighted by curvature
//! at some earlier point. So the product `X d` and the gradient at that intercept come from one reading
//! of the samples, which matters where they do not stay in the cache. What is left of the derivative in
//! the intercept, r, changes the gradient at the best intercept by `-r m`, but for the change of m: an
//! estimate, which leads the search unless r is large. A search never ends by an estimate.
//!
//! Source: Liu and Nocedal, *On the limited memory BFGS method for large scale optimization*,
//! Mathematical Programming 45, 1989.

use margins_losses::MarginLoss;

use crate::certificate::Evaluator;
use crate::method::{Descent, Ending, LimitedMemory, descend};
use crate::problem::summation::{dot, norm};
use crate::problem::{MarginSummary, Point};
use crate::space::{Curvature, InMemory, Scores, Space};
use crate::{Certificate, Lambda, Options};

const DEFAULT_ITERATIONS: usize = 10_000;

/// The number of steps that are remembered.
const MEMORY: usize = 5;

/// The parts of the method that serve a whole path.
#[derive(Debug)]
pub(crate) struct Lbfgs {
    memory: LimitedMemory,
    /// The lambda of the steps that are remembered.
    lambda: Option<Lambda>,
    budget: Option<Budget>,
    means: Option<Means>,
}

/// The steps that are left for the lambdas that are left.
#[derive(Debug)]
struct Budget {
    steps: usize,
    lambdas: usize,
}

impl Lbfgs {
    pub(crate) fn new() -> Self {
        Lbfgs { memory: LimitedMemory::new(MEMORY), lambda: None, budget: None, means: None }
    }

    /// Returns the method for so many steps at so many lambdas. It ends with
    /// [`Status::IterationLimit`](crate::Status::IterationLimit) as soon as a lambda seems to take
    /// more than its share of the steps.
    pub(crate) fn within(steps: usize, lambdas: usize) -> Self {
        Lbfgs { budget: Some(Budget { steps, lambdas }), ..Lbfgs::new() }
    }

    /// Minimises F from a point, in place. The point returned has a settled intercept.
    pub(crate) fn minimize<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        point: &mut Point,
        options: &Options,
    ) -> Ending {
        let reads_once = evaluator.samples.objective.design.stored() >= READ_ONCE;
        self.minimize_reading(evaluator, lambda, point, options, reads_once)
    }

    /// Minimises F, reading the samples once a step or twice.
    fn minimize_reading<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        point: &mut Point,
        options: &Options,
        reads_once: bool,
    ) -> Ending {
        if let Some(before) = self.lambda.replace(lambda) {
            self.memory.add_curvature(2.0 * (lambda.get() - before.get()));
        }
        // Features of very different sizes are brought to one size.
        let metric = evaluator.samples.extent().metric(lambda);
        let limit = options.max_iterations.unwrap_or(DEFAULT_ITERATIONS);
        let forecast = self.budget.as_ref().map(|budget| Forecast {
            share: budget.steps / budget.lambdas.max(1),
            steps: 0,
            gap: f64::INFINITY,
            before: f64::INFINITY,
        });
        let (memory, means) = (&mut self.memory, &mut self.means);
        let mut search = Search {
            evaluator,
            memory,
            means,
            metric,
            forecast,
            tolerance: options.tolerance,
            reads_once,
            coef: Vec::new(),
            last: None,
            ahead: None,
            is_estimate: false,
        };
        let ending = descend(&mut search, lambda, point, options, limit);
        if let Some(budget) = &mut self.budget {
            budget.steps = budget.steps.saturating_sub(ending.iterations);
            budget.lambdas = budget.lambdas.saturating_sub(1);
        }
        ending
    }
}

/// The number of steps that a lambda will take, from the rate at which the gap shrinks.
struct Forecast {
    /// The steps that it may take.
    share: usize,
    steps: usize,
    /// The smallest duality gap so far, which rises in some steps, and its value at the last look.
    gap: f64,
    before: f64,
}

impl Forecast {
    /// Returns true if a step at the point of a certificate is one too many: at the end of the share,
    /// and earlier if the gap shrinks too slowly to reach the tolerance by then.
    fn is_beyond(&mut self, certificate: &Certificate, tolerance: f64) -> bool {
        /// The steps between two checks of the gap.
        const STRIDE: usize = 10;
        let taken = self.steps;
        self.steps += 1;
        self.gap = self.gap.min(certificate.duality_gap);
        if taken >= self.share || !taken.is_multiple_of(STRIDE) {
            return taken >= self.share;
        }
        let (gap, before) = (self.gap, std::mem::replace(&mut self.before, self.gap));
        let rate = (before / gap).ln() / STRIDE as f64;
        let rest = (gap / (tolerance * certificate.objective.abs())).ln() / rate;
        taken > 0 && !(rate > 0.0 && rest <= (self.share - taken) as f64)
    }
}

/// The number of stored values, 32 MB of them, from which on samples do not stay in the cache from one
/// product to the next.
pub(crate) const READ_ONCE: usize = 1 << 22;

/// The means of the features weighted by curvature, `m = X' D 1 / 1' D 1`; zeros without an intercept.
#[derive(Debug)]
struct Means {
    values: Vec<f64>,
    /// The root of the mean squared distance of the samples from the means, weighted by curvature.
    spread: f64,
}

impl Means {
    /// Returns the means at the margins that are set.
    fn of<L: MarginLoss + ?Sized>(evaluator: &mut Evaluator<InMemory<'_, '_, L>>) -> Self {
        let Evaluator { samples, passes, .. } = evaluator;
        let mut values = vec![0.0; samples.shape().1];
        if !samples.has_intercept() {
            return Means { values, spread: 0.0 };
        }
        let zeros = values.clone();
        samples.keep_curvatures();
        let total = samples.normal(1.0, &zeros, &mut values);
        let square: f64 = samples.curved().map_or(0.0, |(design, curvatures)| {
            design.samples().zip(curvatures).map(|(x, d)| d * x.squared_norm()).sum()
        });
        samples.forget_curvatures();
        *passes += 2;
        let scale = if total > 0.0 { 1.0 / total } else { 0.0 };
        values.iter_mut().for_each(|m| *m *= scale);
        let spread = (scale * square - dot(&values, &values)).max(0.0).sqrt();
        Means { values, spread }
    }
}

/// The gradient of the risk at the end of the full step along a direction.
struct Ahead {
    /// In the coefficients.
    gradient: Vec<f64>,
    /// In the intercept.
    residual: f64,
}

/// The method at work at one lambda.
struct Search<'e, 'o, 'a, L: MarginLoss + ?Sized> {
    evaluator: &'e mut Evaluator<InMemory<'o, 'a, L>>,
    memory: &'e mut LimitedMemory,
    means: &'e mut Option<Means>,
    metric: Option<Vec<f64>>,
    forecast: Option<Forecast>,
    /// The relative gap to reach.
    tolerance: f64,
    /// True to read the samples once a step.
    reads_once: bool,
    /// The coefficients of the point that was certified last.
    coef: Vec<f64>,
    /// The coefficients and the gradient that the last direction began from.
    last: Option<(Vec<f64>, Vec<f64>)>,
    ahead: Option<Ahead>,
    /// True if the gradient at the point that was certified last is an estimate.
    is_estimate: bool,
}

impl<L: MarginLoss + ?Sized> Search<'_, '_, '_, L> {
    /// Returns `X d`, with the gradient at the end of the full step where the samples are read once for
    /// both: not before the first step, which has no length yet and is rarely the full one.
    fn products(&mut self, coef: &[f64]) -> Vec<f64> {
        self.ahead = None;
        if self.memory.is_empty() || !self.reads_once {
            self.evaluator.passes += 1;
            return self.evaluator.samples.products(coef);
        }
        let means = self.means.get_or_insert_with(|| Means::of(self.evaluator));
        let mut gradient = vec![0.0; coef.len()];
        let shift = -dot(&means.values, coef);
        let (products, residual) = self.evaluator.samples.ahead(coef, shift, &mut gradient);
        self.evaluator.passes += 2;
        self.ahead = Some(Ahead { gradient, residual });
        products
    }

    /// Sets the gradient at the end of the full step to its estimate, and returns true if that is good
    /// enough to go on by.
    fn estimate_gradient(&mut self, lambda: Lambda) -> bool {
        /// The largest error, as if the means had moved by their whole spread, beside the gradient.
        const LARGEST_ERROR: f64 = 3.0;
        let (Some(ahead), Some(means)) = (&self.ahead, &*self.means) else { return false };
        let Ahead { gradient, residual } = ahead;
        let residual = if self.evaluator.samples.has_intercept() { *residual } else { 0.0 };
        let parts = gradient.iter().zip(&means.values).zip(&self.coef);
        let estimate = &mut self.evaluator.gradient;
        for (g, ((ahead, m), w)) in estimate.iter_mut().zip(parts) {
            *g = ahead - residual * m + 2.0 * lambda.get() * w;
        }
        residual.abs() * means.spread <= LARGEST_ERROR * norm(estimate)
    }
}

impl<L: MarginLoss + ?Sized> Descent for Search<'_, '_, '_, L> {
    type Products = Vec<f64>;

    fn certify(&mut self, lambda: Lambda, point: &mut Point) -> Certificate {
        if self.evaluator.has_drifted(point) {
            self.evaluator.refresh(point);
        }
        self.evaluator.settle_intercept(point);
        self.coef.clone_from(&point.coef);
        self.is_estimate = false;
        self.evaluator.certificate(lambda, point)
    }

    fn certify_step(
        &mut self,
        lambda: Lambda,
        point: &Point,
        direction: &Point,
        t: f64,
    ) -> (Point<()>, Certificate) {
        let next = self.evaluator.settle_step(point, direction, t);
        self.coef.clone_from(&next.coef);
        if t == 1.0 && self.estimate_gradient(lambda) {
            let certificate = self.evaluator.certificate_of_gradient(lambda, &next);
            self.is_estimate = certificate.relative_gap() > self.tolerance;
            if self.is_estimate {
                return (next, certificate);
            }
        }
        self.is_estimate = false;
        let certificate = self.evaluator.certificate(lambda, &next);
        (next, certificate)
    }

    fn confirm(&mut self, lambda: Lambda, point: &Point, certificate: Certificate) -> Certificate {
        if !self.is_estimate {
            return certificate;
        }
        self.evaluator.certificate_alone(lambda, point)
    }

    fn gives_up(&mut self, certificate: &Certificate, tolerance: f64) -> bool {
        let forecast = self.forecast.as_mut();
        forecast.is_some_and(|forecast| forecast.is_beyond(certificate, tolerance))
    }

    fn restart(&mut self) -> bool {
        let is_another = !self.memory.is_empty();
        self.memory.clear();
        self.last = None;
        is_another
    }

    /// The few steps remembered say nothing about other directions: the gap alone bounds the decrease.
    fn expected_decrease(&self, _slope: f64, from: &Certificate) -> f64 {
        from.duality_gap
    }

    fn slope_along(&mut self, lambda: Lambda, point: &Point, direction: &Point, t: f64) -> f64 {
        self.evaluator.slope_along(lambda, point, direction, t)
    }

    fn direction(
        &mut self,
        _lambda: Lambda,
        _certificate: &Certificate,
        _tolerance: f64,
    ) -> (Point, f64) {
        let gradient = &self.evaluator.gradient;
        if let Some((mut step, mut change)) = self.last.take() {
            step.iter_mut().zip(&self.coef).for_each(|(before, now)| *before = now - *before);
            change.iter_mut().zip(gradient).for_each(|(before, now)| *before = now - *before);
            self.memory.learn(step, change);
        }
        self.last = Some((self.coef.clone(), gradient.clone()));
        let coef = self.memory.direction(gradient, self.metric.as_deref());
        let slope = dot(gradient, &coef);
        let products = self.products(&coef);
        let intercept = self.evaluator.samples.intercept_along(&products);
        (Point { intercept, coef, products }, slope)
    }

    fn passes(&self) -> usize {
        self.evaluator.passes
    }

    fn margins(&mut self) -> MarginSummary {
        self.evaluator.samples.summary()
    }
}

#[cfg(test)]
mod tests {
    use margins_data::{Design, Labels};
    use margins_losses::{Logistic, MarginLoss, SquaredHinge};

    use super::Lbfgs;
    use crate::certificate::Evaluator;
    use crate::method::Ending;
    use crate::problem::Point;
    use crate::{Lambda, Objective, Options};

    /// Samples of two classes, the features of which are this far from zero.
    fn samples(offset: f64) -> (Design, Labels) {
        let (n, p) = (200, 12);
        let x = |i: usize, j: usize| (1.7 * i as f64 + 2.3 * (j * j) as f64 + 0.4).sin();
        let row = |i: usize| (0..p).map(|j| x(i, j) + offset * (j + 1) as f64).collect();
        let rows: Vec<Vec<f64>> = (0..n).map(row).collect();
        let sign = |i: usize| if x(i, 0) + x(i, 3) + 0.8 * x(i, 20) > 0.3 { 1.0 } else { -1.0 };
        let labels = Labels::from_signs((0..n).map(sign).collect()).expect("signs");
        (Design::from_rows(&rows).expect("finite"), labels)
    }

    fn minimum(
        loss: &dyn MarginLoss,
        (design, labels): &(Design, Labels),
        intercept: bool,
        options: &Options<'_>,
        reads_once: bool,
    ) -> (Point, Ending) {
        let objective = Objective::new(loss, design, labels).expect("as many labels");
        let objective = if intercept { objective } else { objective.without_intercept() };
        let mut evaluator = Evaluator::in_memory(&objective);
        let mut point = Point::zero(design.rows(), design.columns());
        let lambda = Lambda::new(1e-4).expect("positive");
        let mut method = Lbfgs::new();
        let ending =
            method.minimize_reading(&mut evaluator, lambda, &mut point, options, reads_once);
        (point, ending)
    }

    /// One reading a step leads to the same minimum in about as many steps, and ends by a certificate that
    /// holds.
    #[test]
    fn one_reading_a_step_leads_to_the_minimum() {
        let options = Options { tolerance: 1e-8, ..Options::default() };
        for loss in [&Logistic as &dyn MarginLoss, &SquaredHinge] {
            for (offset, intercept) in [(0.0, true), (2.0, true), (0.0, false)] {
                let data = samples(offset);
                let (_, twice) = minimum(loss, &data, intercept, &options, false);
                let (point, once) = minimum(loss, &data, intercept, &options, true);
                let objective = Objective::new(loss, &data.0, &data.1).expect("as many labels");
                let objective = if intercept { objective } else { objective.without_intercept() };
                let lambda = Lambda::new(1e-4).expect("positive");
                let mut own = Evaluator::in_memory(&objective);
                let mut point = Point::at(&data.0, point.intercept, point.coef);
                own.settle_intercept(&mut point);
                let exact = own.certificate(lambda, &point);
                let found = once.certificate;
                assert!(exact.relative_gap() <= 1e-8 && found.relative_gap() <= 1e-8);
                assert!((exact.objective - found.objective).abs() <= 1e-12);
                assert!((twice.certificate.objective - found.objective).abs() <= 2e-8);
                let most = twice.iterations + twice.iterations / 4 + 2;
                assert!(once.iterations <= most, "{} {}", once.iterations, twice.iterations);
            }
        }
    }

    /// A limit of steps ends by the certificate of the point as well, and whoever watches sees no estimate
    /// and changes nothing.
    #[test]
    fn no_estimate_is_reported() {
        let data = samples(1.0);
        let objective =
            Objective::new(&Logistic as &dyn MarginLoss, &data.0, &data.1).expect("as many labels");
        let lambda = Lambda::new(1e-4).expect("positive");
        for steps in 2..12 {
            let options =
                Options { max_iterations: Some(steps), tolerance: 1e-12, ..Options::default() };
            let (point, ending) = minimum(&Logistic, &data, true, &options, true);
            let mut evaluator = Evaluator::in_memory(&objective);
            let mut own = Point::at(&data.0, point.intercept, point.coef.clone());
            evaluator.settle_intercept(&mut own);
            let exact = evaluator.certificate(lambda, &own).duality_gap;
            let found = ending.certificate.duality_gap;
            assert!((exact - found).abs() <= 1e-9 * exact, "{steps} steps: {found} {exact}");
            let watched = Options { history: true, ..options };
            let (same, _) = minimum(&Logistic, &data, true, &watched, true);
            assert_eq!((same.intercept, same.coef), (point.intercept, point.coef));
        }
    }

    /// Features far from zero take as many steps as features about zero.
    #[test]
    fn an_offset_costs_no_steps() {
        let options = Options { tolerance: 1e-8, ..Options::default() };
        let [centred, far] = [0.0, 5.0]
            .map(|offset| minimum(&Logistic, &samples(offset), true, &options, false).1.iterations);
        assert!(far <= centred + centred / 4 + 2, "{far} steps instead of {centred}");
    }
}
