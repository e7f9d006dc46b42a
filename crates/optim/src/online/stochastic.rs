//! Stochastic (sub)gradient on `F(b, w) = (1/n) sum c_i L(y_i (b + <w, x_i>)) + lambda ||w||^2`,
//! for any loss, convex or not, with a kink or without.
//!
//! Step t takes a sample through [`Adaptive`](crate::online::Adaptive), which chooses the length of
//! the step itself, or a sample or the mean over a mini-batch through
//! [`OnlineGradient`](crate::online::OnlineGradient), of which [`Schedule`] gives the length. Pegasos (Shalev-Shwartz, Singer, Srebro and
//! Cotter 2011) is the hinge loss with [`StochasticGradient::pegasos`]; the stochastic projected
//! form of margin pursuit (Holland 2019, section 4) is the margin-pursuit loss with
//! [`StochasticGradient::margin_pursuit`].
//!
//! A fit comes with the certificate of its result if the loss is convex; else its gap is infinite.
//! The gap of a loss with a kink does not go to 0: its dual point takes one subgradient where
//! samples at the kink would need different ones.
//!
//! ```
//! use margins_data::{Design, Labels};
//! use margins_losses::Hinge;
//! use margins_optim::online::stochastic::{self, StochasticGradient};
//! use margins_optim::{Lambda, Objective, Options};
//!
//! let design = Design::from_rows(&[[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 1.0]])?;
//! let labels = Labels::from_signs(vec![-1.0, -1.0, 1.0, 1.0])?;
//! let objective = Objective::new(&Hinge, &design, &labels)?.without_intercept();
//! let lambda = Lambda::new(0.1)?;
//! let settings = StochasticGradient { epochs: 500, ..StochasticGradient::pegasos(lambda) };
//! let fit = stochastic::fit(&objective, lambda, &settings, &Options::default())?;
//! assert!(fit.score(&design.sample(3)) > 0.0 && fit.score(&design.sample(1)) < 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batches;
mod epochs;
mod learner;
mod run;
mod settings;

use std::borrow::Cow;

use margins_data::Design;
use margins_losses::{MarginLoss, OutOfRange};

use crate::online::OnlineLearner;
use crate::problem::Point;
use crate::{Error, Fit, Lambda, Objective, Options};
use epochs::Visits;
use run::Run;

pub use crate::online::schedule::Schedule;
pub use batches::Batches;
pub use learner::StochasticLearner;
pub use settings::{Averaging, EarlyStopping, Sampling, Start, Steps, StochasticGradient};

/// Returns the fit of the method to an objective. The report counts epochs as iterations, two
/// passes each; history and certificate are those of the samples trained on.
///
/// The method heeds these of the `options`: the tolerance at which a fit counts as converged, the largest
/// number of epochs, the deadline, which it checks after each epoch, the history and the callback.
/// The last two see one certificate an epoch, which costs as much as an epoch or two.
///
/// # Errors
/// The errors of [`StochasticGradient::check`] and [`Options::check`]. A class has too few samples
/// to hold some out. [`Error::AtSample`]: a number is not finite, as when steps diverge; the error
/// names step and row.
pub fn fit<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambda: Lambda,
    settings: &StochasticGradient,
    options: &Options<'_>,
) -> Result<Fit, Error> {
    fit_and_learner(objective, lambda, settings, options).map(|(fit, _)| fit)
}

/// Returns the fit of [`fit`], and the learner after the last step, without its loss, so that more
/// steps can follow. Early stopping may keep the classifier of an epoch before.
///
/// # Errors
/// The errors of [`fit`].
pub fn fit_and_learner<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambda: Lambda,
    settings: &StochasticGradient,
    options: &Options<'_>,
) -> Result<(Fit, StochasticLearner<()>), Error> {
    options.check()?;
    let (objective, held_out) = settings.set_aside(objective)?;
    let run = Run::new(&objective, held_out, lambda, settings, options);
    let mut learner = run.learner(&objective)?;
    let fit = run.finish(&objective, &mut learner)?;
    Ok((fit, learner.map_loss(drop)))
}

/// A loss that takes the place of another in the course of a run.
#[derive(Debug)]
pub struct Rescaled {
    /// The new loss.
    pub loss: Box<dyn MarginLoss>,
    /// The factor by which the steps of the schedule are multiplied from then on.
    pub step_factor: f64,
}

/// Returns a fit during which `rule` replaces the loss once, after the step `at`, by a function of
/// the margins of the samples trained on, and the new loss. The one-time data-driven scale of
/// margin pursuit (Holland 2019, section 4) is such a rule. The fit belongs to the objective with
/// the new loss; early stopping begins after the step.
///
/// # Errors
/// The errors of [`fit`] and of `rule`. [`Error::Parameter`]: the run has no more than `at` steps.
pub fn fit_rescaled<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambda: Lambda,
    settings: &StochasticGradient,
    options: &Options<'_>,
    at: u64,
    rule: impl FnOnce(&[f64]) -> Result<Rescaled, Error>,
) -> Result<(Fit, Box<dyn MarginLoss>), Error> {
    options.check()?;
    let (objective, held_out) = settings.set_aside(objective)?;
    let mut run = Run::new(&objective, held_out, lambda, settings, options);
    let held_out = run.held_out.take();
    if at == 0 || at >= run.total_steps() {
        return Err(OutOfRange {
            parameter: "the step of the re-scaling",
            value: at as f64,
            requirement: "at least 1 and less than the number of steps",
        }
        .into());
    }
    let mut learner = run.learner(&objective)?;
    run.follow(&objective, &mut learner, at)?;
    let classifier = learner.snapshot();
    let point = Point::at(&objective.design, classifier.intercept, classifier.coef);
    let margins: Vec<f64> =
        run.epochs.rows().map(|i| point.margin(i, objective.risk.signs())).collect();
    let Rescaled { loss, step_factor } = rule(&margins)?;
    run.held_out = held_out;
    let mut learner = learner.with_loss(&*loss, step_factor)?;
    let fit = run.finish(&objective.with_loss(&*loss), &mut learner)?;
    Ok((fit, loss))
}

/// Takes a learner over the samples of a part of a stream once, in order; `before` samples came
/// before this part. Weights, if there are any, multiply the losses; a sample of weight 0 takes no
/// part. The samples of an incomplete batch at the end wait for the next part, or for
/// [`Batches::finish`]. `show` receives each sample that takes part, by its place in this part, with
/// its score before the step of its batch.
///
/// # Errors
/// [`Error::AtSample`]: a number is not finite; the error names step and row.
///
/// # Panics
/// The function panics if signs or weights are not one per sample, or the features are not those of
/// the learner.
pub fn pass<L: MarginLoss>(
    learner: &mut StochasticLearner<L>,
    design: &Design,
    signs: &[f64],
    weights: Option<&[f64]>,
    batches: &mut Batches,
    before: u64,
    mut show: impl FnMut(usize, f64),
) -> Result<(), Error> {
    assert_eq!(signs.len(), design.rows(), "one sign a sample");
    let count = weights.map_or(signs.len(), <[f64]>::len);
    assert_eq!(count, design.rows(), "one weight per sample");
    let weights = weights.map_or_else(|| Cow::Owned(vec![1.0; signs.len()]), Cow::Borrowed);
    let order: Vec<usize> = (0..design.rows()).filter(|&i| weights[i] != 0.0).collect();
    let mut rows = order.iter();
    let show_row = |score| rows.next().into_iter().for_each(|&row| show(row, score));
    let samples = Visits { design, signs, weights: &weights };
    batches.take(learner, &samples, &order, before, show_row)
}
