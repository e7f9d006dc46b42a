//! Online gradient descent.

use margins_data::Sample;
use margins_losses::{MarginLoss, OutOfRange};

use super::{LinearClassifier, OnlineLearner, Scorer};
use crate::online::iterate::Iterate;
use crate::online::schedule::Schedule;
use crate::{Error, Lambda};

/// Online gradient descent on any loss: at the t-th sample, with the step `eta_t` of a
/// [`Schedule`],
///
/// `w <- (1 - 2 lambda eta_t) w - eta_t L'(u) y x`, `b <- b - eta_t L'(u) y`,
///
/// then, if [`projected`](Self::projected), the projection of w on a ball around 0. Without lambda
/// there is no penalty. A step costs O(nonzeros), with or without penalty, projection and mean, a
/// snapshot O(p).
///
/// The classifier is the present iterate, or the mean of the iterates after
/// [`averaged_after`](Self::averaged_after) steps.
///
/// Sources: Zinkevich (2003) for the projected method; Polyak and Juditsky (1992) for the mean.
///
/// ```
/// use margins_data::Sample;
/// use margins_losses::Logistic;
/// use margins_optim::online::{OnlineGradient, OnlineLearner, Scorer};
/// use margins_optim::online::stochastic::Schedule;
///
/// let mut learner = OnlineGradient::new(Logistic, 2, Schedule::InverseSqrt(1.0))?.projected(5.0)?;
/// for _ in 0..20 {
///     learner.step(&Sample::Dense(&[1.0, 0.5]), 1.0)?;
///     learner.step(&Sample::Sparse { columns: &[1], values: &[-1.0], features: 2 }, -1.0)?;
/// }
/// assert!(learner.score(&Sample::Dense(&[0.0, 1.0])) > 0.0);
/// let message = learner.step(&Sample::Dense(&[f64::NAN, 1.0]), 1.0).unwrap_err().to_string();
/// assert!(message.starts_with("the score of a sample is NaN"));
/// # Ok::<(), margins_optim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct OnlineGradient<L> {
    loss: L,
    schedule: Schedule,
    /// The factor `2 lambda`.
    shrinkage: f64,
    radius: Option<f64>,
    has_intercept: bool,
    average_after: Option<u64>,
    steps: u64,
    iterate: Iterate,
    /// The factors by which the samples of a batch move coefficients and intercept.
    #[cfg_attr(feature = "serde", serde(skip))]
    pulls: Vec<(f64, f64)>,
}

#[derive(Clone, Copy)]
pub(crate) struct Example<'a> {
    pub(crate) x: Sample<'a>,
    pub(crate) y: f64,
    pub(crate) weight: f64,
}

impl<L> OnlineGradient<L> {
    /// Returns the learner with its loss in another form, such as `()` for a file, which cannot
    /// hold a function.
    pub fn map_loss<M>(self, form: impl FnOnce(L) -> M) -> OnlineGradient<M> {
        OnlineGradient {
            loss: form(self.loss),
            schedule: self.schedule,
            shrinkage: self.shrinkage,
            radius: self.radius,
            has_intercept: self.has_intercept,
            average_after: self.average_after,
            steps: self.steps,
            iterate: self.iterate,
            pulls: self.pulls,
        }
    }

    /// Returns true if both have the same steps, penalty, projection, intercept and mean.
    pub(crate) fn has_settings_of<M>(&self, other: &OnlineGradient<M>) -> bool {
        self.schedule == other.schedule
            && self.shrinkage == other.shrinkage
            && self.radius == other.radius
            && self.has_intercept == other.has_intercept
            && self.average_after == other.average_after
    }
}

impl<L: MarginLoss> OnlineGradient<L> {
    /// Returns a learner at the origin, with an intercept, without penalty, projection and mean.
    ///
    /// # Errors
    /// [`Error::Parameter`]: the first step of the schedule is not a finite number greater than 0.
    pub fn new(loss: L, features: usize, schedule: Schedule) -> Result<Self, Error> {
        schedule.check()?;
        Ok(OnlineGradient {
            loss,
            schedule,
            shrinkage: 0.0,
            radius: None,
            has_intercept: true,
            average_after: None,
            steps: 0,
            iterate: Iterate::new(LinearClassifier::zero(features)),
            pulls: Vec::new(),
        })
    }

    /// Starts from a classifier.
    ///
    /// # Errors
    /// [`Error::Shape`]: the classifier has another number of features. [`Error::Intercept`]: it
    /// has an intercept where the learner has none. [`Error::Unbounded`]: the squared norm of its
    /// coefficients is not a finite number.
    pub fn starting_at(mut self, start: LinearClassifier) -> Result<Self, Error> {
        let (expected, found) = (self.iterate.features(), start.coef.len());
        if expected != found {
            return Err(Error::Shape { what: "coefficients", expected, found });
        }
        if !self.has_intercept && start.intercept != 0.0 {
            return Err(Error::Intercept(start.intercept));
        }
        self.iterate = Iterate::new(start);
        let norm = self.iterate.squared_norm();
        if !norm.is_finite() {
            return Err(Error::Unbounded(norm));
        }
        self.average_if_due();
        Ok(self)
    }

    /// Adds the penalty `lambda ||w||^2` to the loss of every sample.
    #[must_use]
    pub fn penalized(self, lambda: Lambda) -> Self {
        OnlineGradient { shrinkage: 2.0 * lambda.get(), ..self }
    }

    /// Keeps w in the ball of this radius around 0.
    ///
    /// # Errors
    /// [`Error::Parameter`]: the radius is not a finite number greater than 0.
    pub fn projected(self, radius: f64) -> Result<Self, Error> {
        let radius = Some(OutOfRange::check_positive("the radius of the projection", radius)?);
        Ok(OnlineGradient { radius, ..self })
    }

    /// Fixes the intercept at 0.
    #[must_use]
    pub fn without_intercept(mut self) -> Self {
        self.has_intercept = false;
        self.iterate.intercept = 0.0;
        self
    }

    /// Makes the classifier the mean of the iterates after this number of steps, once there is one.
    #[must_use]
    pub fn averaged_after(mut self, steps: u64) -> Self {
        self.average_after = Some(steps);
        self.average_if_due();
        self
    }

    /// Returns the number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the loss.
    pub fn loss(&self) -> &L {
        &self.loss
    }

    /// Continues with another loss, and with all steps of the schedule multiplied by a factor.
    ///
    /// # Errors
    /// [`Error::Parameter`]: the factor makes a step 0 or no finite number.
    pub fn with_loss<M: MarginLoss>(
        self,
        loss: M,
        step_factor: f64,
    ) -> Result<OnlineGradient<M>, Error> {
        let schedule = self.schedule.times(step_factor);
        schedule.check()?;
        Ok(OnlineGradient { schedule, ..self.map_loss(|_| loss) })
    }

    /// Returns `-eta c L'(u) y`, by which a sample with the product `<w, x>` moves the intercept
    /// and, times x, the coefficients.
    #[inline(always)]
    fn pull(&self, rate: f64, example: &Example<'_>, product: f64) -> Result<(f64, f64), Error> {
        let margin = example.y * (self.iterate.intercept + product);
        if !margin.is_finite() {
            return Err(Error::Diverged(margin));
        }
        let g = -rate * example.weight * self.loss.derivative(margin) * example.y;
        Ok((g, if self.has_intercept { g } else { 0.0 }))
    }

    /// Takes a step on one example and returns the score of the sample before it.
    ///
    /// # Errors
    /// A number is not finite; the learner is then as it was before.
    #[inline(always)]
    pub(crate) fn learn(&mut self, example: &Example<'_>) -> Result<f64, Error> {
        let rate = self.schedule.rate(self.steps + 1);
        let product = self.iterate.product(&example.x);
        let pull = self.pull(rate, example, product)?;
        let score = self.score_before(example, product);
        self.iterate.advance(1.0 - self.shrinkage * rate, pull, &example.x, product)?;
        self.finish_step();
        Ok(score)
    }

    /// Returns the score of an example by the classifier, given its product with the iterate.
    #[inline(always)]
    fn score_before(&self, example: &Example<'_>, product: f64) -> f64 {
        if self.average_after.is_some_and(|after| after < self.steps) {
            return self.iterate.score(&example.x);
        }
        self.iterate.intercept + product
    }

    /// Takes a step on the mean of the gradients of a batch, and shows the scores of its samples
    /// before it.
    ///
    /// # Errors
    /// A number is not finite: the error comes with the place of the sample in the batch, and the
    /// learner may have taken a part of the step.
    #[inline(always)]
    pub(crate) fn learn_batch<'x>(
        &mut self,
        batch: impl ExactSizeIterator<Item = Example<'x>> + Clone,
        show: &mut impl FnMut(f64),
    ) -> Result<(), (usize, Error)> {
        let step = self.schedule.rate(self.steps + 1);
        let rate = step / batch.len() as f64;
        let mut pulls = std::mem::take(&mut self.pulls);
        pulls.clear();
        for (k, example) in batch.clone().enumerate() {
            let product = self.iterate.product(&example.x);
            pulls.push(self.pull(rate, &example, product).map_err(|error| (k, error))?);
            show(self.score_before(&example, product));
        }
        let mut factor = 1.0 - self.shrinkage * step;
        for (k, (example, &pull)) in batch.zip(&pulls).enumerate() {
            let product = self.iterate.product(&example.x);
            let advanced = self.iterate.advance(factor, pull, &example.x, product);
            advanced.map_err(|error| (k, error))?;
            factor = 1.0;
        }
        self.pulls = pulls;
        self.finish_step();
        Ok(())
    }

    #[inline(always)]
    fn finish_step(&mut self) {
        self.iterate.finish(self.radius);
        self.steps += 1;
        self.average_if_due();
    }

    #[inline(always)]
    fn average_if_due(&mut self) {
        if self.average_after == Some(self.steps) {
            self.iterate.start_averaging();
        }
    }
}

impl<L: MarginLoss> Scorer for OnlineGradient<L> {
    fn score(&self, x: &Sample<'_>) -> f64 {
        self.iterate.score(x)
    }

    fn columns(&self) -> Option<usize> {
        Some(self.iterate.features())
    }
}

impl<L: MarginLoss> OnlineLearner for OnlineGradient<L> {
    type Snapshot = LinearClassifier;

    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), Error> {
        self.learn(&Example { x: *x, y, weight: 1.0 }).map(drop)
    }

    fn snapshot(&self) -> LinearClassifier {
        self.iterate.classifier()
    }
}
