use std::fmt;
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use margins_data::{ClassLabels, Classes, Dataset};
use margins_losses::MarginLoss;
use margins_optim::{ClassWeights, ErrorCurve, Fit, Lambda, Observed, Options, Report, Training};

use crate::contest::{Contests, Watcher};
use crate::model::Scheme;
use crate::space::{Space, way_to};
use crate::training_report::{KernelReport, member_names};
use crate::{
    ClassCosts, Classifier, CrossValidation, Error, Features, Prepared, Registry, Selection,
    TimeLimit, folds_of,
};

/// Checked settings, from [`Classifier::builder`], that fit a [`Classifier`] to data; as often as wanted.
///
/// Results do not depend on the number of threads.
#[derive(Debug, Clone)]
pub struct Estimator {
    pub(crate) loss: Arc<dyn MarginLoss>,
    pub(crate) registry: Registry,
    /// To choose from by cross-validation, or a single one.
    pub(crate) spaces: Vec<Space>,
    pub(crate) regularization: Regularization,
    pub(crate) scheme: Option<Scheme>,
    pub(crate) intercept: bool,
    pub(crate) standardize: bool,
    pub(crate) class_weights: ClassWeights,
    pub(crate) costs: ClassCosts,
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
    /// Platt scaling of scores that samples get when their fold is held out, for any loss. Weights of
    /// samples count there too, costs of classes do not.
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
    /// The kernel as it was specified; `None` of a linear classifier.
    pub kernel: Option<&'a str>,
    /// Which classes are told apart, as [`MemberReport::name`](crate::MemberReport::name) has it.
    pub member: &'a str,
    /// The fold held out, counted from 0; `None` of a fit to all rows.
    pub fold: Option<usize>,
    /// The regularisation.
    pub lambda: f64,
    /// How it ended.
    pub report: &'a Report,
}

type Watch = dyn Fn(&Progress<'_>) + Send + Sync;

/// Who is told of progress.
#[derive(Clone, Default)]
pub(crate) struct Observer(pub(crate) Option<Arc<Watch>>);

/// What the search for lambda has come to in one space.
struct Selected {
    /// The lambdas by way of which it was reached, itself last.
    way: Vec<Lambda>,
    /// The fits there, one a contest.
    fits: Vec<Fit>,
    /// Of a cross-validation.
    curve: Option<ErrorCurve>,
    /// The least error on the curve, by which spaces are compared; 0 without one.
    least_error: f64,
}

/// The search for lambda in one space.
struct Search<'a> {
    contests: &'a Contests,
    prepared: &'a Prepared<'a>,
    /// With the deadline of the last fit.
    training: Training<'a, dyn MarginLoss>,
    watcher: &'a Watcher<'a>,
    /// Of every row.
    folds: &'a [usize],
    limit: Option<TimeLimit>,
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
    /// [`Error::AllClassesDiffer`]: as many classes as samples, and more than two.
    /// [`Error::Contradiction`]: weights or folds both of the data and of the settings. A cost of a class that the
    /// data do not have; more than two classes for [`Scheme::Binary`]; what the loss, the kernel, the solver or the
    /// folds cannot take.
    pub fn fit<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Result<Classifier, Error> {
        #[cfg(feature = "rayon")]
        let classifier = crate::on_threads(self.threads, || self.fit_here(data));
        #[cfg(not(feature = "rayon"))]
        let classifier = self.fit_here(data);
        classifier
    }

    /// Fits a classifier to samples in any form and their labels, which may be anything that can be displayed: strings,
    /// whole numbers, booleans. Classes are in numeric order if all of them are numbers, else in alphabetical order;
    /// [`Classifier::predict_labels`] gives values of the type back.
    ///
    /// Numbers that are not whole are refused where all labels are numbers, in whatever type or text they come, as
    /// [`Classes::of_labels`] does it: they are measurements as a rule. Classes that do go by such names, versions
    /// say, are told by [`fit`](Self::fit) and [`Classes::new`].
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
    /// As [`fit`](Self::fit); labels that are measurements; another number of labels than of samples, one class only, and
    /// what [`Features::design`] refuses.
    pub fn fit_samples<X: Features + ?Sized, T: Display>(
        &self,
        samples: &X,
        labels: impl IntoIterator<Item = T>,
    ) -> Result<Classifier, Error> {
        self.fit(&dataset(samples, labels)?)
    }

    fn fit_here<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Result<Classifier, Error> {
        let classes = Classes::from(data.labels());
        check_repeated(&classes)?;
        let scheme = self.scheme_for(classes.names().len())?;
        let sample_weights = self.sample_weights.as_deref().or(data.weights());
        let contests = Contests::new(scheme, self.weighted(data.relabelled(classes)?)?)?;
        let data = contests.classes();
        let limit = self.time_limit.map(TimeLimit::new);
        let folds = match &self.regularization {
            Regularization::CrossValidated(how) => folds_of(data, how.folds, self.options.seed)?.0,
            _ => Vec::new(),
        };
        let members = member_names(scheme, data.labels().names());
        let count = self.spaces.len();
        let total = count * self.fits_at_most(&contests, &folds);
        let done = AtomicUsize::new(0);
        let mut best: Option<(Prepared<'_>, Selected)> = None;
        let mut kernels = Vec::new();
        for (place, space) in self.spaces.iter().enumerate() {
            let limit = limit.map(|limit| limit.part(place, count));
            let prepared = self.prepare(space, contests.any())?;
            let watcher = |member: usize, made: &Observed<'_>| {
                if let Some(observer) = &self.progress.0 {
                    let done = 1 + done.fetch_add(1, Ordering::Relaxed);
                    let (kernel, member) = (space.kernel(), members[member].as_str());
                    let &Observed { lambda, fold, report, .. } = made;
                    let lambda = lambda.get();
                    observer(&Progress { done, total, kernel, member, fold, lambda, report });
                }
            };
            let search = Search {
                contests: &contests,
                prepared: &prepared,
                training: self.training(limit.and_then(|limit| limit.of_fit())),
                watcher: &watcher,
                folds: &folds,
                limit,
            };
            let selected = match &self.regularization {
                Regularization::CrossValidated(how) => search.cross_validate(how),
                Regularization::Path(lambdas) => search.along(lambdas.clone()),
                Regularization::Single(lambda) => search.along(vec![*lambda]),
            };
            let selected = match selected {
                // Another kernel may have had the time.
                Err(Error::TimeLimit(_)) => continue,
                selected => selected?,
            };
            if let (Some(kernel), Some(curve)) = (prepared.kernel_specification(), &selected.curve)
                && count > 1
            {
                kernels.push(KernelReport { kernel, curve: curve.clone() });
            }
            if best.as_ref().is_none_or(|(_, best)| selected.least_error < best.least_error) {
                best = Some((prepared, selected));
            }
        }
        let Some((prepared, Selected { way, fits, curve, .. })) = best else {
            return Err(Error::TimeLimit(self.time_limit.unwrap_or_default()));
        };
        let platt = match self.probabilities {
            Probabilities::OfTheLoss => None,
            Probabilities::Platt { folds } => {
                let (folds, _) = folds_of(data, folds, self.options.seed)?;
                let training = self.training(limit.and_then(|limit| limit.of_fit()));
                Some(contests.platt(&prepared, &training, &folds, &way, sample_weights)?)
            }
        };
        let selection = (curve, kernels);
        Classifier::assemble(self, scheme, data, &prepared, &fits, selection, platt.as_deref())
    }

    fn training(&self, deadline: Option<Instant>) -> Training<'_, dyn MarginLoss> {
        Training {
            intercept: self.intercept,
            standardize: self.standardize,
            class_weights: self.class_weights,
            options: Options { deadline, ..self.options },
            ..Training::new(&*self.loss)
        }
    }

    fn prepare<'d>(&self, space: &Space, data: &'d Dataset) -> Result<Prepared<'d>, Error> {
        match space {
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
        self.costs.weigh(data)
    }

    /// How many fits the observer sees at most.
    fn fits_at_most(&self, contests: &Contests, folds: &[usize]) -> usize {
        let each = match &self.regularization {
            Regularization::CrossValidated(how) => {
                let folds = folds.iter().max().map_or(0, |last| last + 1);
                // The path on all rows is one of those for two classes in terms of features.
                let all = contests.len() == 1 && self.spaces.iter().all(Space::has_features);
                how.lambdas.len() * (folds + usize::from(all))
            }
            Regularization::Path(lambdas) => lambdas.len(),
            Regularization::Single(_) => 1,
        };
        each * contests.len()
    }
}

impl Search<'_> {
    /// The fits at the last of the lambdas.
    fn along(&self, way: Vec<Lambda>) -> Result<Selected, Error> {
        let fits = self.contests.fits(self.prepared, &self.training, self.watcher, None, &way)?;
        Ok(Selected { way, fits, curve: None, least_error: 0.0 })
    }

    fn cross_validate(&self, how: &CrossValidation) -> Result<Selected, Error> {
        let Search { contests, prepared, folds, limit, .. } = *self;
        let observer = |made: &Observed<'_>| (self.watcher)(0, made);
        let training = Training {
            abandon_hopeless: how.abandon_hopeless,
            observer: &observer,
            ..self.training
        };
        let (rule, lambdas) = (how.selection, &how.lambdas);
        let (curve, at, fits) = if contests.len() == 1 {
            let chosen = prepared.cross_validate_within(&training, folds, lambdas, rule, limit)?;
            let (curve, at, fit) = chosen;
            (curve, at, vec![fit])
        } else {
            let of_folds = Training {
                options: Options {
                    deadline: limit.and_then(|limit| limit.of_folds()),
                    ..self.training.options
                },
                ..training
            };
            let curve =
                contests.cross_validate(prepared, &of_folds, self.watcher, folds, lambdas)?;
            let at = TimeLimit::choose(limit, rule, &curve)?;
            let way = way_to(&curve.lambdas, at);
            let fits = contests.fits(prepared, &self.training, &|_, _| {}, None, &way)?;
            (curve, at, fits)
        };
        let way = way_to(&curve.lambdas, at);
        let best = limit.map_or(curve.best, |limit| limit.select(Selection::Best, &curve));
        let least_error = curve.mean_error[best];
        Ok(Selected { way, fits, curve: Some(curve), least_error })
    }
}

/// Samples with labels of any type.
pub(crate) fn dataset<X: Features + ?Sized, T: Display>(
    samples: &X,
    labels: impl IntoIterator<Item = T>,
) -> Result<Dataset<Classes>, Error> {
    let labels: Vec<String> = labels.into_iter().map(|label| label.to_string()).collect();
    let design = samples.design()?.into_owned();
    let (found, expected) = (labels.len(), design.rows());
    if found != expected {
        let (what, places) = ("labels", "rows");
        return Err(margins_data::Error::Count { what, found, places, expected }.into());
    }
    let data = Dataset::new(design, Classes::of_labels(&labels)?)?;
    Ok(match samples.feature_names() {
        Some(names) => data.with_feature_names(names.to_vec())?,
        None => data,
    })
}

/// Refuses more than two classes without a class of which there are two samples.
fn check_repeated(classes: &Classes) -> Result<(), Error> {
    let rows = classes.indices().len();
    let mut seen = vec![false; classes.names().len()];
    let repeated = classes.indices().iter().any(|&class| std::mem::replace(&mut seen[class], true));
    if repeated || rows <= 2 { Ok(()) } else { Err(Error::AllClassesDiffer(rows)) }
}
