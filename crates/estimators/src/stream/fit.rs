use std::sync::Arc;
use std::time::Instant;

use margins_data::metrics::{MistakeTally, is_mistake};
use margins_data::read::{Chunk, Stream};
use margins_data::{Dataset, parallel};
use margins_losses::MarginLoss;
use margins_model::Model;
use margins_optim::online::LinearClassifier;
use margins_optim::online::stochastic::{Averaging, Sampling, StochasticGradient};
use margins_optim::{ClassWeights, Fit, Options, Training};

use super::class_order::ClassOrder;
use super::learner::State;
use super::rescaling::data_driven_scale;
use super::settings::{Settings, margin_pursuit};
use crate::certificate::{evidence, summary};
use crate::regularised::ClassCosts;
use crate::{Error, Evidence, linear_model};

/// A classifier fitted to data in memory by stochastic gradient.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fitted {
    /// The classifier.
    pub model: Model,
    /// The relative duality gap at the end, for a convex loss with a conjugate.
    pub evidence: Evidence,
    /// The fit, with coefficients for the features as given; its report counts epochs as
    /// iterations.
    pub fit: Fit,
    /// The loss at the end: another one where the scale of margin pursuit was set from the data.
    pub loss: Arc<dyn MarginLoss>,
    /// The state after the last step, from which a learner of chunks [goes on](Settings::resumed), if
    /// the settings are for chunks as well.
    pub state: Option<State>,
}

/// A classifier learnt from a stream by stochastic gradient.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Streamed {
    /// The classifier.
    pub model: Model,
    /// [`Evidence::None`]: nobody knows the objective of a stream.
    pub evidence: Evidence,
    /// The rows read.
    pub rows: u64,
    /// The steps taken.
    pub steps: u64,
    /// Share of the rows that the classifier before them got wrong, by weight; before their batch if
    /// there are batches.
    pub progressive_error: f64,
    /// The order in which the classes came: a classifier forgets the first of sorted rows.
    pub class_order: ClassOrder,
}

/// A fit with the loss and the state at its end.
struct Solved {
    fit: Fit,
    loss: Arc<dyn MarginLoss>,
    state: Option<State>,
}

impl Settings {
    /// Fits a classifier of two classes to data in memory.
    ///
    /// # Errors
    /// [`gradient`](Self::gradient) says which settings are refused. [`Error::Contradiction`]:
    /// re-scaling of another loss than margin pursuit. [`Error::UnknownClass`]: a cost of a class
    /// that the data do not have. [`Error::Optim`]: steps that diverge, with step and row; too few
    /// samples of a class to hold some out.
    pub fn fit(&self, data: &Dataset) -> Result<Fitted, Error> {
        let gradient = self.gradient()?;
        data.design().check_fits(1, usize::from(self.standardize))?;
        let data = self.class_costs.weigh(data.clone())?;
        let Solved { fit, loss, state } = self.solve(&data, &gradient)?;
        let labels = data.labels();
        let classifier = LinearClassifier { intercept: fit.intercept, coef: fit.coef.clone() };
        let model = linear_model(
            &*loss,
            Some(self.lambda),
            (labels.negative_class(), labels.positive_class()),
            data.feature_names().map(<[String]>::to_vec),
            summary(&fit.report, data.rows(), self.standardize),
            &classifier,
        )?;
        let model = model.with_encoding(data.encoding().cloned())?;
        let evidence = evidence(std::slice::from_ref(&fit.report));
        Ok(Fitted { model, evidence, fit, loss, state })
    }

    /// Returns the fit with what it leaves.
    fn solve(&self, data: &Dataset, gradient: &StochasticGradient) -> Result<Solved, Error> {
        let training = Training {
            intercept: self.intercept,
            standardize: self.standardize,
            class_weights: self.class_weights,
            options: Options {
                tolerance: self.tolerance,
                history: self.history,
                deadline: self.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
                watch: self.iterations.watch(),
                ..Options::default()
            },
            ..Training::new(&*self.loss)
        };
        let Some(at) = self.rescale_at else {
            let (fit, learner) = training.stochastic(data, self.lambda, gradient)?;
            let state = self
                .check_chunks()
                .is_ok()
                .then(|| State::new(data.rows(), gradient.batch, learner));
            return Ok(Solved { fit, loss: Arc::clone(&self.loss), state });
        };
        let Some((gamma, scale)) = margin_pursuit(&*self.loss) else {
            return Err(Error::contradiction(
                "re-scaling".to_owned(),
                format!("the loss {}", self.loss.specification()),
                "it is for the loss margin-pursuit",
            ));
        };
        let rule = data_driven_scale(gamma, scale, self.lambda);
        let (fit, loss) = training.stochastic_rescaled(data, self.lambda, gradient, at, rule)?;
        Ok(Solved { fit, loss: Arc::from(loss), state: None })
    }

    /// Learns a classifier of two classes in one pass over a stream, in bounded memory.
    ///
    /// # Errors
    /// [`gradient`](Self::gradient) says which settings are refused. [`Error::Contradiction`]: a
    /// setting that is for data in memory alone. [`Error::Data`]: a row that cannot be read.
    /// [`Error::Optim`]: steps that diverge, with the row. [`Error::EmptyStream`],
    /// [`Error::ZeroWeights`]: no rows, or none that counts.
    pub fn fit_stream(&self, stream: &mut Stream<'_>) -> Result<Streamed, Error> {
        self.check_stream()?;
        let mut learner = self.learner(stream.columns())?;
        let mut classes = None;
        let (mut tally, mut class_order) = (MistakeTally::default(), ClassOrder::default());
        let mut chunk = stream.next_chunk()?;
        while let Some(Chunk { design, labels, weights, .. }) = &chunk {
            let names = || (labels.negative_class().to_owned(), labels.positive_class().to_owned());
            classes.get_or_insert_with(names);
            let (signs, weights) = (labels.signs(), weights.as_deref());
            class_order.take(signs);
            let learn = || {
                learner.take_and_show(design, signs, weights, |row, score| {
                    let weight = weights.map_or(1.0, |weights| weights[row]);
                    tally.add(is_mistake(score, signs[row]), weight);
                })
            };
            // The next rows are read while these are learnt.
            let (next, learnt) = parallel::beside(|| stream.next_chunk(), learn);
            learnt?;
            chunk = next?;
        }
        let (negative, positive) = classes.ok_or(Error::EmptyStream)?;
        let progressive_error = tally.rate().ok_or(Error::ZeroWeights)?;
        learner.finish()?;
        let (rows, steps) = (stream.rows(), learner.steps());
        let names = stream.feature_names().map(<[String]>::to_vec);
        let model = learner.model((&negative, &positive), names)?;
        let model = model.with_encoding(stream.encoding().cloned())?;
        let evidence = Evidence::None;
        Ok(Streamed { model, evidence, rows, steps, progressive_error, class_order })
    }

    /// Refuses the settings of a fit to data in memory that one pass over a stream has no use for.
    fn check_stream(&self) -> Result<(), Error> {
        refuse_for_streams(&[
            (self.epochs.is_some_and(|epochs| epochs != 1), "several epochs", ONCE),
            (self.sampling == Sampling::WithReplacement, "sampling with replacement", ONCE),
            (self.history, "a history", ONCE),
        ])
    }

    /// Refuses the settings that need all rows at once.
    pub(super) fn check_chunks(&self) -> Result<(), Error> {
        let suffix = "the mean of the last steps needs their number, which a stream does not tell";
        refuse_for_streams(&[
            (matches!(self.averaging, Averaging::Suffix(_)), "the mean of a suffix", suffix),
            (self.early_stopping.is_some(), "early stopping", ONCE),
            (self.rescale_at.is_some(), "re-scaling", ONCE),
            (self.standardize, "standardisation", ONCE),
            (self.class_weights != ClassWeights::AsGiven, "balanced classes", ONCE),
            (self.class_costs != ClassCosts::default(), "costs of classes", ONCE),
        ])
    }
}

const ONCE: &str = "a stream passes by once: read the rows into memory";

/// Refuses the first of the settings that is given, with the reason.
fn refuse_for_streams(settings: &[(bool, &str, &'static str)]) -> Result<(), Error> {
    match settings.iter().find(|(given, ..)| *given) {
        Some((_, one, reason)) => {
            Err(Error::contradiction((*one).to_owned(), "a stream".to_owned(), reason))
        }
        None => Ok(()),
    }
}
