//! Stochastic dual coordinate ascent.
//!
//! Shalev-Shwartz and Zhang, *Stochastic dual coordinate ascent methods for regularized loss
//! minimization*, JMLR 14 (2013); Hsieh et al., *A dual coordinate descent method for large-scale
//! linear SVM*, ICML 2008, for permutations and shrinking.
//!
//! A step sets one `s_i` to the maximiser of the dual over it, in closed form
//! ([`MarginLoss::dual_step`]), and keeps `w = v/(2 lambda)` up to date at the cost of the stored
//! features of the sample. No single coordinate can keep the constraint that an intercept puts on
//! the dual, `r = (1/n) sum c_i s_i y_i = 0`. Instead `mu (b - b_0)^2` holds the intercept to a
//! centre, which makes it one more coefficient, `b = b_0 + r/(2 mu)`, and the centre follows it:
//! the proximal point method on b, which is the method of multipliers on the constraint.
//! Certificates are taken at balanced duals.
//!
//! Where epochs are slow, Newton's method ends the search: on F itself for a loss without kinks,
//! else in proximal steps on the dual.

use margins_data::Design;
use margins_losses::MarginLoss;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::certificate::Evaluator;
use crate::certificate::dual::{DualPoint, coefficients};
use crate::method::newton::{Newton, System};
use crate::method::proximal_newton::ProximalSteps;
use crate::method::{Ending, Monitor, Status};
use crate::problem::Point;
use crate::space::{Duals, InMemory, Scores, Space};
use crate::{Certificate, Lambda, Objective, Options};

const DEFAULT_ITERATIONS: usize = 1000;
/// The most passes over the samples between two certificates.
const LONGEST_ROUND: usize = 16;

/// Dual coordinate ascent along a path of lambdas.
pub(crate) struct DualAscent {
    /// The steps that take over where the epochs are slow.
    steps: ProximalSteps,
    random: ChaCha8Rng,
    /// The squares `||x_i||^2`.
    squares: Vec<f64>,
    duals: Option<Vec<f64>>,
}

impl DualAscent {
    /// Returns the method for a design; `system` is the system of the Newton steps at the end.
    pub(crate) fn new(design: &Design, system: System, seed: u64) -> Self {
        /// The strength of the first step, as the epochs have come near the minimiser.
        const FIRST: f64 = 0.1;
        DualAscent {
            steps: ProximalSteps::new(system, FIRST, FIRST),
            random: ChaCha8Rng::seed_from_u64(seed),
            squares: design.samples().map(|x| x.squared_norm()).collect(),
            duals: None,
        }
    }

    pub(crate) fn duals(&self) -> Option<&[f64]> {
        self.duals.as_deref()
    }

    /// Minimises F; `point` is another place to start from than the duals of the last lambda.
    pub(crate) fn minimize<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        point: &mut Point,
        options: &Options,
    ) -> Ending {
        let mut monitor = Monitor::new(options, lambda, DEFAULT_ITERATIONS);
        let mut best = self.start(evaluator, lambda, point);
        let mut ascent = Ascent::new(evaluator.samples.objective, lambda, &self.squares, &best);
        let patience = self.patience(evaluator.samples.objective);
        let mut pace = Pace::new(best.certificate.duality_gap, patience * self.squares.len());
        let mut epochs = 1;
        let status = loop {
            if options.history {
                evaluator.intercept_slope(&best.point);
            }
            if let Some(status) =
                monitor.judge(evaluator.passes, &best.certificate, || evaluator.samples.summary())
            {
                break status;
            }
            let most = LONGEST_ROUND.min(monitor.left()) * self.squares.len();
            let (run, visits) = ascent.round(epochs, most, &mut self.random);
            monitor.count(visits.div_ceil(self.squares.len()));
            evaluator.passes += (2 * visits).div_ceil(self.squares.len());
            let next = DualPoint::at(evaluator, lambda, ascent.duals.clone(), ascent.intercept);
            // The point has the coefficients of the duals once these are balanced.
            let coef = match evaluator.samples.objective.risk.intercept {
                true => coefficients(&mut evaluator.samples, lambda, &ascent.duals).0,
                false => next.point.coef.clone(),
            };
            if next.certificate.is_broken() || !ascent.is_finite() {
                break Status::NumericalTrouble;
            }
            let before = best.certificate;
            if next.certificate.duality_gap <= before.duality_gap || next.certificate.contradicted {
                best = next;
            }
            let gaps = [before, best.certificate].map(|certificate| certificate.relative_gap());
            epochs = epochs_to(monitor.tolerance(), gaps, run).clamp(1, 2 * run);
            let is_slow = pace.is_slow(best.certificate.duality_gap, visits) || visits == 0;
            // Where no iteration is left, the monitor says so.
            if is_slow && monitor.left() > 0 {
                break Status::Stalled;
            }
            ascent.recentre(coef);
        };
        let (status, certificate) = match status {
            Status::Stalled => {
                let given = [ascent.point(), point.clone()];
                evaluator.passes += 1;
                self.finish(evaluator, lambda, &mut best, given, &mut monitor)
            }
            status => (status, best.certificate),
        };
        let mut ending = monitor.end(status, certificate);
        ending.certificate.gradient_norm = best.gradient_norm(evaluator, lambda);
        *point = best.point;
        self.duals = Some(best.duals);
        ending
    }

    /// Returns the passes over the samples in which the gap has to fall to a half, beyond which Newton's
    /// method is the faster one: its steps are cheap where they have a factor of a small system, and few
    /// where the loss has no kink.
    fn patience<L: MarginLoss + ?Sized>(&self, objective: &Objective<'_, L>) -> usize {
        const LITTLE: usize = LONGEST_ROUND;
        const MUCH: usize = 8 * LONGEST_ROUND;
        let is_cheap = matches!(self.steps.system, System::Dense(_));
        if is_cheap || objective.risk.loss.is_differentiable() { LITTLE } else { MUCH }
    }

    /// Improves duals and point until the monitor ends it, from the lowest of the points: those given,
    /// as balancing may take duals far from where the epochs have led, and that of the duals. For a
    /// loss without kinks Newton's method on F itself takes fewer steps than proximal ones, if it gets
    /// there.
    fn finish<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        best: &mut DualPoint,
        given: [Point; 2],
        monitor: &mut Monitor<'_>,
    ) -> (Status, Certificate) {
        /// The number of Newton steps after which the monitor looks again.
        const STEPS: usize = 4;
        let values = given.each_ref().map(|point| evaluator.value_at(lambda, point));
        let [reached, kept] = given;
        let given = if values[0] <= values[1] { reached } else { kept };
        let least = values[0].min(values[1]);
        let is_nearer = least <= best.certificate.objective;
        let mut point = if is_nearer { given.clone() } else { best.point.clone() };
        let mut value = least.min(best.certificate.objective);
        let mut goes_on = evaluator.samples.check_loss().is_ok();
        while goes_on {
            let limit = Some(monitor.left().min(STEPS));
            let options = Options { max_iterations: limit, ..monitor.within(1.0) };
            let mut newton = Newton::new(evaluator, &mut self.steps.system);
            let ending = newton.minimize(lambda, &mut point, &options);
            let duals = newton.into_duals();
            monitor.count(ending.iterations.max(1));
            best.improve(&duals, &point, ending.certificate);
            let margins = || evaluator.samples.summary();
            if let Some(status) = monitor.judge(evaluator.passes, &best.certificate, margins) {
                return (status, best.certificate);
            }
            // Steps that creep along kinks are left to the proximal ones.
            let reached = ending.certificate.objective;
            let creeps = value - reached <= options.tolerance * reached.abs();
            goes_on = ending.status == Status::IterationLimit && !creeps;
            value = reached;
        }
        self.steps.polish(evaluator, lambda, best, given, monitor)
    }

    /// Returns the better of the duals of the last lambda, or the least duals for the first one, and
    /// those of a point.
    fn start<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        point: &mut Point,
    ) -> DualPoint {
        let risk = &evaluator.samples.objective.risk;
        let (domain, n) = (risk.domain(), risk.weights.len());
        let duals = self.duals.take();
        let duals = duals.unwrap_or_else(|| vec![0.0f64.clamp(domain.lower, domain.upper); n]);
        let intercept = point.intercept;
        evaluator.settle_intercept(point);
        let slopes = evaluator.samples.duals();
        let given = (slopes, point.intercept);
        DualPoint::better_of(evaluator, lambda, [given, (duals, intercept)])
    }
}

/// Returns the epochs after which the relative gap has fallen to a tolerance, if it continues to fall as it
/// has in the last so many epochs.
fn epochs_to(tolerance: f64, [before, after]: [f64; 2], epochs: usize) -> usize {
    let needed = epochs as f64 * (after / tolerance).ln() / (before / after).ln();
    needed.ceil().min(f64::MAX) as usize
}

/// How fast the gap falls.
struct Pace {
    /// The gap when it was last half of what it had been.
    mark: f64,
    /// The visits of samples since then.
    visits: usize,
    /// The visits in which the gap has to fall to a half.
    patience: usize,
}

impl Pace {
    fn new(gap: f64, patience: usize) -> Self {
        Pace { mark: gap, visits: 0, patience }
    }

    /// Returns true if the gap falls too slowly, after so many further visits.
    fn is_slow(&mut self, gap: f64, visits: usize) -> bool {
        self.visits += visits;
        if gap <= 0.5 * self.mark {
            (self.mark, self.visits) = (gap, 0);
        }
        self.visits >= self.patience
    }
}

/// Coordinate steps at one lambda.
///
/// Invariant, up to rounding: `coef = v/(2 lambda)` and, if there is one,
/// `intercept = centre + r/(2 mu)`.
struct Ascent<'o, 'a, L: MarginLoss + ?Sized> {
    objective: &'o Objective<'a, L>,
    lambda: Lambda,
    /// The curvatures of the dual in `s_i`.
    curvatures: Vec<f64>,
    /// The factor `mu`.
    hold: f64,
    duals: Vec<f64>,
    coef: Vec<f64>,
    intercept: f64,
    centre: f64,
    /// The samples of positive weight.
    samples: Vec<usize>,
    /// The margin of each sample when it was visited last.
    seen: Vec<f64>,
}

impl<'o, 'a, L: MarginLoss + ?Sized> Ascent<'o, 'a, L> {
    fn new(
        objective: &'o Objective<'a, L>,
        lambda: Lambda,
        squares: &[f64],
        start: &DualPoint,
    ) -> Self {
        /// The square of the constant, in units of the mean square of a sample: the smaller it is, the faster
        /// epochs reach their end, and the more slowly the centre moves.
        const SMALL: f64 = 0.01;
        let risk = &objective.risk;
        let samples: Vec<usize> =
            (0..squares.len()).filter(|&i| risk.weights.get(i) > 0.0).collect();
        let square = samples.iter().map(|&i| squares[i]).sum::<f64>() / samples.len() as f64;
        let hold = lambda.get() / if square > 0.0 { SMALL * square } else { 1.0 };
        let constant = if risk.intercept { 0.5 / hold } else { 0.0 };
        let curvatures = (squares.iter().zip(risk.weights()))
            .map(|(square, c)| c * (0.5 * square / lambda.get() + constant))
            .collect();
        Ascent {
            objective,
            lambda,
            curvatures,
            hold,
            duals: start.duals.clone(),
            coef: start.point.coef.clone(),
            intercept: start.point.intercept,
            centre: start.point.intercept,
            samples,
            seen: vec![f64::INFINITY; squares.len()],
        }
    }

    /// Returns the point where the steps have led.
    fn point(&self) -> Point {
        Point::at(&self.objective.design, self.intercept, self.coef.clone())
    }

    fn is_finite(&self) -> bool {
        self.intercept.is_finite() && self.coef.iter().all(|w| w.is_finite())
    }

    /// Moves the centre of the intercept to the intercept, and takes the coefficients recomputed from
    /// the duals, which removes their rounding.
    fn recentre(&mut self, coef: Vec<f64>) {
        self.coef = coef;
        let risk = &self.objective.risk;
        if risk.intercept {
            let pull = 0.5 * risk.imbalance(&self.duals) / self.hold;
            self.centre += pull;
            self.intercept = self.centre + pull;
        }
    }

    /// Runs at most `epochs` epochs, at least 1, which visit at most `most` samples after the first epoch;
    /// returns the numbers of epochs run and of samples visited.
    fn round(&mut self, epochs: usize, most: usize, random: &mut ChaCha8Rng) -> (usize, usize) {
        let mut active = self.samples.clone();
        let (mut run, mut visits) = (0, 0);
        loop {
            (run, visits) = (run + 1, visits + active.len());
            let moves = self.epoch(&mut active, random);
            if !moves || run == epochs || visits + active.len() > most {
                return (run, visits);
            }
        }
    }

    /// Takes one step on every active sample, in random order; returns true if a dual has changed.
    /// Samples at an end of the domain are set aside if they would stay there were their margin to
    /// change a few times as much as it has since the last visit.
    fn epoch(&mut self, active: &mut Vec<usize>, random: &mut ChaCha8Rng) -> bool {
        /// The largest change of a margin that is reckoned with, in units of the last one.
        const AMPLE: f64 = 10.0;
        let risk = &self.objective.risk;
        let domain = risk.domain();
        active.shuffle(random);
        let mut moves = false;
        active.retain(|&i| {
            let x = self.objective.design.sample(i);
            let (y, c, curvature) = (risk.signs.get(i), risk.weights.get(i), self.curvatures[i]);
            let margin = y * (x.dot(&self.coef) + self.intercept);
            let slack = AMPLE * (margin - self.seen[i]).abs();
            self.seen[i] = margin;
            let dual = self.duals[i];
            let next = risk.loss.dual_step(dual, margin, curvature);
            if next == dual {
                let at_end = dual == domain.lower || dual == domain.upper;
                let stays = |margin| risk.loss.dual_step(dual, margin, curvature) == dual;
                return !(at_end && stays(margin - slack) && stays(margin + slack));
            }
            let pull = 0.5 * c * y * (next - dual);
            x.add_to(pull / self.lambda.get(), &mut self.coef);
            if risk.intercept {
                self.intercept += pull / self.hold;
            }
            self.duals[i] = next;
            moves = true;
            true
        });
        moves
    }
}
