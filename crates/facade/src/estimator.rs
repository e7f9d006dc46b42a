use std::fmt;
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use margins_data::{Classes, Dataset, Target, same_class};
use margins_losses::MarginLoss;
use margins_optim::{ClassWeights, ErrorCurve, Fit, Lambda, Options, Report, Training};

use crate::contest::Contests;
use crate::model::Scheme;
use crate::space::{Space, way_to};
use crate::{Classifier, CrossValidation, Error, Features, Prepared, Registry, folds_of};

/// Checked settings, from [`Classifier::builder`], that fit a [`Classifier`] to data; as often as wanted.
///
/// Results do not depend on the number of threads.
#[derive(Debug, Clone)]
pub struct Estimator {
    pub(crate) loss: Arc<dyn MarginLoss>,
    pub(crate) registry: Registry,
    pub(crate) space: Space,
    pub(crate) regularization: Regularization,
    pub(crate) scheme: Option<Scheme>,
    pub(crate) intercept: bool,
    pub(crate) standardize: bool,
    pub(crate) class_weights: ClassWeights,
    /// Of classes by name, all finite and greater than 0.
    pub(crate) costs: Vec<(String, f64)>,
    pub(crate) sample_weights: Option<Vec<f64>>,
    pub(crate) probabilities: Probabilities,
    pub(crate) options: Options,
    #[cfg(feature = "rayon")]
    pub(crate) threads: Option<usize>,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) progress: Observer,
}

/// How lambda is found.
#[derive(Debug, Clone)]
pub(crate) enum Regularization {
    Single(Lambda),
    /// Descending; the last one is it.
    Path(Vec<Lambda>),
    CrossValidated(CrossValidation),
}

/// Where the probabilities of a [`Classifier`] come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Probabilities {
    /// From the score, as the loss has it: the probability of which it is the population minimiser,
    /// [`MarginLoss::probability`]. A loss such as hinge has none.
    #[default]
    OfTheLoss,
    /// Platt scaling of scores that samples get when their fold is held out, for any loss.
    Platt {
        /// The number of folds, as in [`CrossValidation::folds`].
        folds: Option<usize>,
    },
}

/// A fit on the way, as [`progress`](crate::ClassifierBuilder::progress) sees it.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The fits made so far, this one included.
    pub done: usize,
    /// The most that there can be.
    pub total: usize,
    /// How it ended.
    pub report: &'a Report,
}

type Watch = dyn Fn(&Progress<'_>) + Send + Sync;

/// Who is told of progress.
#[derive(Clone, Default)]
pub(crate) struct Observer(pub(crate) Option<Arc<Watch>>);

/// What the search for lambda has come to.
struct Selected {
    /// The lambdas by way of which it was reached, itself last.
    way: Vec<Lambda>,
    /// The fits there, one a contest.
    fits: Vec<Fit>,
    curve: Option<ErrorCurve>,
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Observer" } else { "None" })
    }
}

impl Estimator {
    /// Fits a classifier to data of two classes or more.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: weights or folds both of the data and of the settings. A cost of a class that the
    /// data do not have; more than two classes for [`Scheme::Binary`]; what the loss, the kernel, the solver or the
    /// folds cannot take.
    pub fn fit<Y: Target>(&self, data: &Dataset<Y>) -> Result<Classifier, Error> {
        #[cfg(feature = "rayon")]
        let classifier = crate::on_threads(self.threads, || self.fit_here(data));
        #[cfg(not(feature = "rayon"))]
        let classifier = self.fit_here(data);
        classifier
    }

    /// Fits a classifier to samples in any form and their labels, which may be anything that can be displayed: strings,
    /// whole numbers, booleans. Classes are in numeric order if all of them are numbers, else in alphabetical order.
    ///
    /// ```
    /// use margins::Classifier;
    ///
    /// let rows = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 1.0]];
    /// let classifier = Classifier::builder().lambda(0.01).build()?.fit_samples(&rows, [false, false, true, true])?;
    /// assert_eq!(classifier.predict(&rows)?, ["false", "false", "true", "true"]);
    /// # Ok::<(), margins::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`fit`](Self::fit); another number of labels than of samples, one class only, and what [`Features::design`]
    /// refuses.
    pub fn fit_samples<X: Features + ?Sized, T: Display>(
        &self,
        samples: &X,
        labels: impl IntoIterator<Item = T>,
    ) -> Result<Classifier, Error> {
        self.fit(&dataset(samples, labels)?)
    }

    fn fit_here<Y: Target>(&self, data: &Dataset<Y>) -> Result<Classifier, Error> {
        let classes = Classes::from(data.labels());
        let scheme = self.scheme_for(classes.names().len())?;
        let contests = Contests::new(scheme, self.weighted(data.relabelled(classes)?)?)?;
        let data = contests.classes();
        let start = Instant::now();
        let within =
            |share: f64| self.time_limit.and_then(|limit| start.checked_add(limit.mul_f64(share)));
        let folds = match &self.regularization {
            Regularization::CrossValidated(how) => folds_of(data, how.folds, self.options.seed)?.0,
            _ => Vec::new(),
        };
        let total = self.fits_at_most(&contests, &folds);
        let done = AtomicUsize::new(0);
        let observer = |report: &Report| {
            if let Some(observer) = &self.progress.0 {
                let done = 1 + done.fetch_add(1, Ordering::Relaxed);
                observer(&Progress { done, total, report });
            }
        };
        let training = Training {
            intercept: self.intercept,
            standardize: self.standardize,
            class_weights: self.class_weights,
            options: Options { deadline: within(1.0), ..self.options },
            observer: &observer,
            ..Training::new(&*self.loss)
        };
        let prepared = self.prepare(contests.any())?;
        let silent = Training { observer: &|_| {}, ..training };
        let along = |way: Vec<Lambda>| -> Result<Selected, Error> {
            let fits = contests.fits(&prepared, &training, None, &way)?;
            Ok(Selected { way, fits, curve: None })
        };
        let Selected { way, fits, curve } = match &self.regularization {
            Regularization::CrossValidated(how) => {
                // The rest is for the fit at the lambda that is chosen.
                const SHARE: f64 = 0.8;
                self.cross_validate(&contests, &prepared, &training, within(SHARE), how, &folds)?
            }
            Regularization::Path(lambdas) => along(lambdas.clone())?,
            Regularization::Single(lambda) => along(vec![*lambda])?,
        };
        let platt = match self.probabilities {
            Probabilities::OfTheLoss => None,
            Probabilities::Platt { folds } => {
                let (folds, _) = folds_of(data, folds, self.options.seed)?;
                Some(contests.platt(&prepared, &silent, &folds, &way)?)
            }
        };
        Classifier::assemble(self, scheme, data, &prepared, &fits, curve, platt.as_deref())
    }

    fn prepare<'d>(&self, data: &'d Dataset) -> Result<Prepared<'d>, Error> {
        match &self.space {
            Space::Linear => Ok(Prepared::linear(data)),
            #[cfg(feature = "kernels")]
            Space::Kernel { specification, approximation } => Prepared::for_kernel(
                specification,
                *approximation,
                &self.registry.kernels,
                data,
                self.standardize,
                self.options.seed,
            ),
        }
    }

    fn cross_validate(
        &self,
        contests: &Contests,
        prepared: &Prepared<'_>,
        training: &Training<'_, dyn MarginLoss>,
        deadline: Option<Instant>,
        how: &CrossValidation,
        folds: &[usize],
    ) -> Result<Selected, Error> {
        let of_folds = Training {
            abandon_hopeless: how.abandon_hopeless,
            options: Options { deadline, ..training.options },
            ..*training
        };
        let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let select = |curve: &ErrorCurve| {
            if is_late() { how.selection.of_certified(curve) } else { how.selection.of(curve) }
        };
        if contests.len() == 1 {
            let (curve, fit) = prepared.cross_validate(&of_folds, folds, &how.lambdas, select)?;
            if !is_late() {
                let way = way_to(&curve.lambdas, select(&curve));
                return Ok(Selected { way, fits: vec![fit], curve: Some(curve) });
            }
            return self.fit_late(contests, prepared, training, curve, select);
        }
        let curve = contests.cross_validate(prepared, &of_folds, folds, &how.lambdas)?;
        if is_late() {
            return self.fit_late(contests, prepared, training, curve, select);
        }
        let way = way_to(&curve.lambdas, select(&curve));
        let silent = Training { observer: &|_| {}, ..*training };
        let fits = contests.fits(prepared, &silent, None, &way)?;
        Ok(Selected { way, fits, curve: Some(curve) })
    }

    /// The fit after a cross-validation that the time limit ended, at a lambda that was certified in all folds.
    fn fit_late(
        &self,
        contests: &Contests,
        prepared: &Prepared<'_>,
        training: &Training<'_, dyn MarginLoss>,
        curve: ErrorCurve,
        select: impl Fn(&ErrorCurve) -> usize,
    ) -> Result<Selected, Error> {
        let at = select(&curve);
        if !curve.certified[at] {
            return Err(Error::TimeLimit(self.time_limit.unwrap_or_default()));
        }
        let way = way_to(&curve.lambdas, at);
        let silent = Training { observer: &|_| {}, ..*training };
        let fits = contests.fits(prepared, &silent, None, &way)?;
        Ok(Selected { way, fits, curve: Some(curve) })
    }

    fn scheme_for(&self, classes: usize) -> Result<Scheme, Error> {
        match (classes, self.scheme) {
            (2, _) => Ok(Scheme::Binary),
            (_, Some(Scheme::Binary)) => Err(Error::SeveralClasses(classes)),
            (_, scheme) => Ok(scheme.unwrap_or(Scheme::OneVersusRest)),
        }
    }

    /// The data with all weights that the settings give them.
    fn weighted(&self, data: Dataset<Classes>) -> Result<Dataset<Classes>, Error> {
        if let (Some(weights), Some(_)) = (&self.sample_weights, data.weights()) {
            return Err(Error::Contradiction {
                one: format!("{} sample_weights", weights.len()),
                other: "the weights of the data".to_owned(),
                reason: "leave one of them out",
            });
        }
        let data = match &self.sample_weights {
            Some(weights) => data.with_weights(weights.clone())?,
            None => data,
        };
        if self.costs.is_empty() {
            return Ok(data);
        }
        let names = data.labels().names();
        let mut factors = vec![1.0; names.len()];
        for (class, cost) in &self.costs {
            let Some(k) = names.iter().position(|name| same_class(name, class)) else {
                let (class, classes) = (class.clone(), names.to_vec());
                return Err(Error::UnknownClass { class, row: None, classes });
            };
            factors[k] = *cost;
        }
        let weight = |row: usize| data.weights().map_or(1.0, |weights| weights[row]);
        let weights = (0..data.rows()).map(|row| factors[data.labels().index(row)] * weight(row));
        let weights = weights.collect();
        Ok(data.with_weights(weights)?)
    }

    /// How many fits the observer sees at most.
    fn fits_at_most(&self, contests: &Contests, folds: &[usize]) -> usize {
        let each = match &self.regularization {
            Regularization::CrossValidated(how) => {
                let folds = folds.iter().max().map_or(0, |last| last + 1);
                // The path on all rows is one of those for two classes in terms of features.
                let all = contests.len() == 1 && self.space.has_features();
                how.lambdas.len() * (folds + usize::from(all))
            }
            Regularization::Path(lambdas) => lambdas.len(),
            Regularization::Single(_) => 1,
        };
        each * contests.len()
    }
}

/// Samples with labels of any type.
pub(crate) fn dataset<X: Features + ?Sized, T: Display>(
    samples: &X,
    labels: impl IntoIterator<Item = T>,
) -> Result<Dataset<Classes>, Error> {
    let labels: Vec<String> = labels.into_iter().map(|label| label.to_string()).collect();
    let data = Dataset::new(samples.design()?.into_owned(), Classes::new(&labels)?)?;
    Ok(match samples.feature_names() {
        Some(names) => data.with_feature_names(names.to_vec())?,
        None => data,
    })
}
