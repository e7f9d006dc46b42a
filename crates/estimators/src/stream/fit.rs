//! Stochastic gradient over data in memory and over streams.

use std::sync::Arc;
use std::time::Instant;

use margins_calibration::location::MarginLocation;
use margins_data::metrics::MistakeTally;
use margins_data::read::{Chunk, Stream};
use margins_data::split::balanced_subsample;
use margins_data::{ClassLabels, Classes, Dataset, Labels, parallel};
use margins_losses::MarginLoss;
use margins_model::Model;
use margins_optim::certificate::contradicts_itself;
use margins_optim::online::LinearClassifier;
use margins_optim::online::stochastic::{self, Averaging, Sampling, StochasticGradient};
use margins_optim::{ClassWeights, Fit, Options, Status, Training};

use super::class_order::ClassOrder;
use super::learner::{State, positive_class, scheme_for, side};
use super::rescaling::rescaled;
use super::settings::{StreamSettings, margin_pursuit};
use crate::certificate::{evidence, summary};
use crate::linear_model::linear_model_of_classes;
use crate::regularised::{ClassCosts, constant_fits, decided_sign};
use crate::{Error, Evidence};

/// A classifier fitted to data in memory by stochastic gradient.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FittedStream {
    /// The classifier.
    pub model: Model,
    /// The largest relative duality gap at the end, for a convex loss with a conjugate and a lambda
    /// above 0.
    pub evidence: Evidence,
    /// The fit of each member of the model, with coefficients for the features as given; its report
    /// counts epochs as iterations.
    pub fits: Vec<Fit>,
    /// The loss at the end: another one where the scale of margin pursuit was set from the data.
    pub loss: Arc<dyn MarginLoss>,
    /// The state after the last step, from which a learner of chunks
    /// [continues](StreamSettings::resumed), if the settings are for chunks as well.
    pub state: Option<State>,
    /// The length of the first step if it was given and may be too long: the objective of a fit is above
    /// that of w = 0.
    pub too_long_step: Option<f64>,
    /// For every member the location of the margins of the samples beside the level that margin pursuit aims
    /// at; none for another loss.
    pub margin_locations: Vec<MarginLocation>,
}

/// A classifier learned from a stream by stochastic gradient.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Streamed {
    /// The classifier.
    pub model: Model,
    /// [`Evidence::None`]: the objective of a stream is unknown.
    pub evidence: Evidence,
    /// [`Status::RuleMet`], or [`Status::Contradicted`] if the loss contradicts itself at the margins
    /// of the last chunk.
    pub status: Status,
    /// The rows read.
    pub rows: u64,
    /// The steps taken.
    pub steps: u64,
    /// Share of the rows that the classifier before them got wrong, by weight; before their batch if
    /// there are batches.
    pub progressive_error: f64,
    /// The length of the first step if it [may be too long](super::StreamLearner::too_long_step).
    pub too_long_step: Option<f64>,
    /// The order in which the classes came: a classifier forgets the first of sorted rows.
    pub class_order: ClassOrder,
}

/// The fit of a member with the loss and the learner at its end.
struct Solved {
    fit: Fit,
    loss: Arc<dyn MarginLoss>,
    state: Option<stochastic::StochasticLearner<()>>,
}

/// Returns for every fit the location of the margins of all samples, for a loss that aims at a level.
fn margin_locations(
    data: &Dataset<Classes>,
    loss: &dyn MarginLoss,
    fits: &[Fit],
) -> Result<Vec<MarginLocation>, Error> {
    if margin_pursuit(loss).is_none() {
        return Ok(Vec::new());
    }
    let mut found = Vec::with_capacity(fits.len());
    for (member, fit) in fits.iter().enumerate() {
        let side = side(data.labels(), member);
        let scores = fit.decision_function(data.design());
        let margins: Vec<f64> = scores.iter().zip(side.signs()).map(|(f, y)| f * y).collect();
        found.extend(MarginLocation::of_loss(loss, &margins, data.own_weights())?);
    }
    Ok(found)
}

impl StreamSettings {
    /// Fits a classifier to data in memory, of two classes or one-versus-rest of several.
    ///
    /// # Errors
    /// [`gradient`](Self::gradient) says which settings are refused. [`Error::Contradiction`]:
    /// re-scaling of another loss than margin pursuit, or for several classes. [`Error::UnknownClass`]: a
    /// cost of a class that the data do not have. [`Error::Members`]: more classes than fit in memory.
    /// [`Error::Optim`]: steps that diverge, with step and row; too few samples of a class to hold some
    /// out.
    pub fn fit<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Result<FittedStream, Error> {
        self.fit_classes(data.relabelled(Classes::from(data.labels()))?)
    }

    /// Returns the rows that [`fit`](Self::fit) takes, ascending, of labels of two classes; `None` for all
    /// of them.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: balanced rows of several classes. [`Error::Data`]: fewer than two rows, or
    /// more than there are.
    pub fn drawn_rows<Y: ClassLabels>(&self, labels: &Y) -> Result<Option<Vec<usize>>, Error> {
        let Some(size) = self.balanced_rows else { return Ok(None) };
        let labels = Classes::from(labels);
        let count = labels.names().len();
        if count > 2 {
            let reason = "a balanced subsample is of two classes: leave balanced rows out";
            let one = format!("{size} balanced rows");
            return Err(Error::contradiction(one, format!("{count} classes"), reason));
        }
        Ok(Some(balanced_subsample(&side(&labels, 0), size, self.seed)?))
    }

    fn fit_classes(&self, data: Dataset<Classes>) -> Result<FittedStream, Error> {
        let gradient = self.gradient()?;
        let data = match self.drawn_rows(data.labels())? {
            Some(rows) => data.select(&rows),
            None => data,
        };
        let classes = data.labels().names().to_vec();
        let (scheme, members) = scheme_for(classes.len(), data.columns())?;
        if members > 1 && self.rescale_at.is_some() {
            let other = format!("{} classes", classes.len());
            let reason = "re-scaling gives each class its own loss, and a model has one";
            return Err(Error::contradiction("re-scaling".to_owned(), other, reason));
        }
        let copies = if self.standardize { members.min(parallel::threads()) } else { 0 };
        data.design().check_fits(1, copies, 0)?;
        let data = self.class_costs.weigh(data)?;
        let deadline = self.time_limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut solved = parallel::try_map_large(0..members, |member| {
            let own = data.relabelled(side(data.labels(), member))?;
            self.solve(&own, &gradient, deadline)
        })?;
        let states = solved.iter_mut().map(|solved| solved.state.take());
        let state = states.collect::<Option<_>>();
        let state = state.map(|states| State::new(data.rows(), gradient.batch, states));
        let loss = Arc::clone(&solved[0].loss);
        let fits: Vec<Fit> = solved.into_iter().map(|solved| solved.fit).collect();
        let classifier = |fit: &Fit| {
            let (intercept, coef) = (fit.intercept, fit.coef.clone());
            let training = summary(&fit.report, data.rows(), self.standardize);
            (LinearClassifier { intercept, coef }, training)
        };
        let members = fits.iter().map(classifier).collect();
        let names = data.feature_names().map(<[String]>::to_vec);
        let classes = (classes, scheme);
        let model = linear_model_of_classes(&*loss, Some(self.lambda), classes, names, members)?;
        let model = model.with_encoding(data.encoding().cloned())?;
        let evidence = evidence(&fits.iter().map(|fit| &fit.report).collect::<Vec<_>>());
        let weight = data.weights().map_or(1.0, |all| all.iter().sum::<f64>() / all.len() as f64);
        let at_origin = weight * loss.value(0.0);
        let has_grown =
            |fit: &Fit| fit.report.objective.is_nan() || fit.report.objective > at_origin;
        let too_long_step = self.given_step().filter(|_| fits.iter().any(has_grown));
        let margin_locations = margin_locations(&data, &*loss, &fits)?;
        Ok(FittedStream { model, evidence, fits, loss, state, too_long_step, margin_locations })
    }

    /// Returns the fit of a member with what it leaves. Where one of the two sides has no weight, it
    /// decides the other for every sample.
    fn solve(
        &self,
        data: &Dataset,
        gradient: &StochasticGradient,
        deadline: Option<Instant>,
    ) -> Result<Solved, Error> {
        if let Some(sign) = decided_sign(data, None) {
            let fits = constant_fits(sign, data.columns(), &[self.lambda]);
            let fit = fits.into_iter().next().expect("one lambda, one fit");
            return Ok(Solved { fit, loss: Arc::clone(&self.loss), state: None });
        }
        let training = Training {
            intercept: self.intercept,
            standardize: self.standardize,
            class_weights: self.class_weights,
            options: Options {
                tolerance: self.tolerance,
                history: self.history,
                deadline,
                watch: self.iterations.watch(),
                ..Options::default()
            },
            ..Training::new(&*self.loss)
        };
        let Some(at) = self.rescale_at else {
            let (fit, learner) = training.stochastic(data, self.lambda, gradient)?;
            let state = self.check_chunks().is_ok().then_some(learner);
            return Ok(Solved { fit, loss: Arc::clone(&self.loss), state });
        };
        let Some((gamma, scale)) = margin_pursuit(&*self.loss) else {
            return Err(Error::contradiction(
                "re-scaling".to_owned(),
                format!("the loss {}", self.loss.specification()),
                "re-scaling is for the loss margin-pursuit",
            ));
        };
        let rule = rescaled(gamma, scale, self.lambda, self.rescale_steps);
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
        self.fit_chunks::<Labels>(stream)
    }

    /// Learns a classifier as [`fit_stream`](Self::fit_stream) does, of two classes or one-versus-rest
    /// of several: those that the stream was given, or those of its first chunk.
    ///
    /// # Errors
    /// The errors of [`fit_stream`](Self::fit_stream). [`Error::Members`]: more classes than fit in
    /// memory.
    pub fn fit_stream_of_classes(&self, stream: &mut Stream<'_>) -> Result<Streamed, Error> {
        self.fit_chunks::<Classes>(stream)
    }

    fn fit_chunks<Y: ClassLabels>(&self, stream: &mut Stream<'_>) -> Result<Streamed, Error> {
        self.check_stream()?;
        self.check_chunks()?;
        self.gradient()?;
        let mut chunk = stream.next_chunk_of::<Y>()?;
        let first = chunk.as_ref().ok_or(Error::EmptyStream)?;
        let names = first.labels.names();
        let classes = names.len();
        let (scheme, _) = scheme_for(classes, stream.columns())?;
        let mut learner = self.learner(names, stream.columns())?;
        let (mut tally, mut class_order) = (MistakeTally::default(), ClassOrder::default());
        let mut last_margins = Vec::new();
        while let Some(Chunk { design, labels, weights, .. }) = &chunk {
            let weights = weights.as_deref();
            class_order.take(labels);
            last_margins.clear();
            let learn = || {
                learner.take_and_show(design, labels, weights, |row, scores| {
                    let weight = weights.map_or(1.0, |weights| weights[row]);
                    let class = labels.index(row);
                    tally.add(scheme.decide(classes, scores) != class, weight);
                    let is_positive = class == positive_class(classes, 0);
                    last_margins.push(if is_positive { scores[0] } else { -scores[0] });
                })
            };
            // The next rows are read while these are learned.
            let (next, learned) = parallel::beside(|| stream.next_chunk_of(), learn);
            learned?;
            chunk = next?;
        }
        let progressive_error = tally.rate().ok_or(Error::ZeroWeights)?;
        learner.finish()?;
        let contradicted = contradicts_itself(&*self.loss, &last_margins);
        let model = learner.model(stream.feature_names().map(<[String]>::to_vec))?;
        Ok(Streamed {
            model: model.with_encoding(stream.encoding().cloned())?,
            evidence: Evidence::None,
            status: if contradicted { Status::Contradicted } else { Status::RuleMet },
            rows: stream.rows(),
            steps: learner.steps(),
            progressive_error,
            too_long_step: learner.too_long_step(),
            class_order,
        })
    }

    /// Refuses the settings of a fit to data in memory that one pass over a stream has no use for.
    fn check_stream(&self) -> Result<(), Error> {
        refuse_for_streams(&[
            (self.epochs.is_some_and(|epochs| epochs != 1), "several epochs", ONCE),
            (self.sampling == Some(Sampling::WithReplacement), "sampling with replacement", ONCE),
            (self.history, "a history", ONCE),
        ])
    }

    /// Refuses the settings that need all rows at once.
    pub(super) fn check_chunks(&self) -> Result<(), Error> {
        let suffix =
            "the mean of the last steps needs the number of steps, which is unknown for a stream";
        refuse_for_streams(&[
            (matches!(self.averaging, Averaging::Suffix(_)), "the mean of a suffix", suffix),
            (self.early_stopping.is_some(), "early stopping", ONCE),
            (self.rescale_at.is_some(), "re-scaling", ONCE),
            (self.balanced_rows.is_some(), "a balanced subsample", ONCE),
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
