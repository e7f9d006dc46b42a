//! Fits and paths to data in memory.

use std::time::Duration;

use margins_data::{ClassLabels, Classes, Dataset, Memory, parallel};
use margins_model::Scheme;
use margins_optim::Fit;

use super::contests::{Contests, Fitting};
use super::cross_validation::{DEFAULT_FOLDS, Folds};
use super::fitted::{Choice, FittedClassifier, InMemory, Path, TrainingData};
use super::platt::PlattFolds;
use super::scale_rule::AutoScale;
use super::search::Selected;
use super::settings::{ClassifierSettings, Probabilities, Regularisation};
use super::time_limit::TimeLimit;
use crate::Error;

impl ClassifierSettings {
    /// Fits a classifier to data of two classes or more.
    ///
    /// # Errors
    /// [`check`](Self::check) says which settings are refused. [`Error::Contradiction`]: weights or folds both of
    /// the data and of the settings. [`Error::SeveralClasses`]: more than two classes for
    /// [`Scheme::Binary`]. [`Error::Members`]: more members than fit in memory. A cost of a class
    /// that the data do not have; data that the loss, the kernel, the solver or the folds cannot
    /// take; a fit whose numbers overflowed. [`Error::PathEnded`]: the path ends before the lambda asked for.
    pub fn fit<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Result<FittedClassifier, Error> {
        self.fit_classes(&data.relabelled(Classes::from(data.labels()))?)
    }

    /// Fits at every lambda of [`Regularisation::Path`], down to the one at its index, or to the last one
    /// that [`Solver::MmPublished`](margins_optim::Solver::MmPublished) reaches.
    ///
    /// # Errors
    /// [`fit`](Self::fit) says which. [`Error::Contradiction`]: the settings do not ask for a path, or
    /// probabilities of a path.
    ///
    /// ```
    /// use margins_data::generate::{Example, GaussianMixture};
    /// use margins_estimators::regularised::{ClassifierSettings, Regularisation};
    /// use margins_optim::lambda_grid;
    ///
    /// let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
    /// let regularisation = Regularisation::path(lambda_grid(1.0, 1e-3, 10)?)?;
    /// let settings = ClassifierSettings { regularisation, ..ClassifierSettings::default() };
    /// let path = settings.path(&data)?;
    /// assert_eq!(path.fits.len(), 10);
    /// assert!(path.fits.iter().flatten().all(|fit| fit.report.converged()));
    /// let norms = path.norms(&settings)?;
    /// assert!(norms[9] > norms[0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn path<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Result<Path, Error> {
        self.path_classes(data.relabelled(Classes::from(data.labels()))?)
    }

    // The labels have one type from here on, so that callers do not compile the solvers again.
    fn path_classes(&self, data: Dataset<Classes>) -> Result<Path, Error> {
        self.check()?;
        self.check_path()?;
        self.check_features(data.feature_names(), data.columns())?;
        self.on_threads(|| {
            let limit = self.time_limit.map(TimeLimit::new);
            let contests = self.contests(data)?;
            self.check_dual_solutions(&contests)?;
            let Selected { prepared, path, .. } = self.search(&contests, None, limit)?;
            let prepared = prepared.into_owned();
            let here = Box::new(InMemory { contests, prepared });
            Path::new(path, TrainingData::InMemory(here)).certified(self)
        })
    }

    /// Refuses settings that are not for the fits of a path.
    pub(super) fn check_path(&self) -> Result<(), Error> {
        let refuse = |other: &str, reason| {
            Err(Error::contradiction("the fits of a path".to_owned(), other.to_owned(), reason))
        };
        if !matches!(self.regularisation, Regularisation::Path { .. }) {
            return refuse("another choice of lambda", "give the lambdas as a path");
        }
        if self.probabilities != Probabilities::OfTheLoss {
            return refuse("Platt scaling", "scores are scaled at one lambda: fit a classifier");
        }
        Ok(())
    }

    #[cfg(feature = "rayon")]
    pub(super) fn on_threads<T: Send>(
        &self,
        job: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        crate::on_threads(self.threads, job)
    }

    #[cfg(not(feature = "rayon"))]
    pub(super) fn on_threads<T>(&self, job: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        job()
    }

    fn fit_classes(&self, data: &Dataset<Classes>) -> Result<FittedClassifier, Error> {
        self.check()?;
        self.on_threads(|| self.fit_here(data.clone()))
    }

    fn fit_here(&self, data: Dataset<Classes>) -> Result<FittedClassifier, Error> {
        let limit = self.time_limit.map(TimeLimit::new);
        let rows = data.rows();
        data.design().check_fits(1, 0, 0)?;
        self.check_features(data.feature_names(), data.columns())?;
        let contests = self.contests(data)?;
        let (folds, note_on_folds) = self.folds_and_note(&contests)?.unzip();
        self.auto_scale.map_or(Ok(()), |_| AutoScale::check_data(&contests))?;
        self.check_dual_solutions(&contests)?;
        let mut selected = self.search(&contests, folds.as_ref(), limit)?;
        let settle = |rule: AutoScale| rule.settle(&contests, &mut selected, limit);
        let scale = self.auto_scale.map(settle).transpose()?;
        let Selected { settings, prepared, approach, mut path, curve, losses, kernels } = selected;
        let fits = path.pop().unwrap_or_default();
        if let (Some(last), Some(wanted)) = (fits.first(), approach.last())
            && last.lambda != *wanted
        {
            return Err(Error::PathEnded { last: last.lambda, wanted: *wanted });
        }
        let (mut platt, mut note) = (None, None);
        if let Probabilities::Platt { folds } = self.probabilities {
            let folds = PlattFolds::new(contests.classes(), folds, self.seed)?;
            let deadline = limit.and_then(|limit| limit.of_fit());
            let training = settings.training(rows, deadline);
            let fitting = Fitting::unseen(&contests, &prepared, &training);
            platt = Some(fitting.platt(&folds.of_rows, &approach)?);
            note = folds.note;
        }
        let prepared = prepared.into_owned();
        let choice = Choice { curve, losses, kernels, folds };
        let mut fitted =
            FittedClassifier::new(&settings, (contests, prepared), fits, choice, platt.as_deref())?;
        let of_scale = scale.and_then(|scale| scale.note());
        let notes = [note, note_on_folds.flatten(), of_scale];
        fitted.report.notes.extend(notes.into_iter().flatten());
        fitted.report.scale = scale;
        fitted.certified(&settings)
    }

    /// Refuses contests whose duals cannot be had, before their fits.
    fn check_dual_solutions(&self, contests: &Contests) -> Result<(), Error> {
        if !self.options.keep_duals {
            return Ok(());
        }
        if contests.len() > 1 && contests.scheme() == Scheme::OneVersusOne {
            return Err(Error::contradiction(
                "keep_duals".to_owned(),
                "one-versus-one".to_owned(),
                "take one-versus-rest, whose members have a dual for every row",
            ));
        }
        let training = self.training(contests.classes().rows(), None);
        contests.datasets()?.iter().try_for_each(|contest| {
            training.risk(&contest.data)?;
            Ok(())
        })
    }

    /// Refuses penalty factors of features that the data do not have.
    pub(super) fn check_features(
        &self,
        names: Option<&[String]>,
        columns: usize,
    ) -> Result<(), Error> {
        let factors = self.penalty_factors.as_ref();
        Ok(factors.map_or(Ok(()), |factors| factors.check(names, columns))?)
    }

    /// Returns the folds of a cross-validation, with a sentence on those that lack a class, if some do.
    fn folds_and_note(
        &self,
        contests: &Contests,
    ) -> Result<Option<(Folds, Option<String>)>, Error> {
        let Regularisation::CrossValidated(how) = &self.regularisation else { return Ok(None) };
        let data = contests.classes();
        how.check_classes(data.labels().names().len())?;
        let folds = Folds::new(data, how, self.seed)?;
        let is_folds = how.leave_one_out.is_none();
        let note = if is_folds { folds.untrained_classes(data)? } else { None };
        Ok(Some((folds, note)))
    }

    /// Returns the binary problems that the classes of the data are broken into, with all weights.
    fn contests(&self, data: Dataset<Classes>) -> Result<Contests, Error> {
        let scheme = self.scheme_for(data.labels().names().len())?;
        self.check_joint(scheme)?;
        self.check_members(scheme, &data)?;
        Contests::new(scheme, self.weighted(data)?, self.learner)
    }

    /// Refuses more members than there is memory for, or time to fit them.
    fn check_members(&self, scheme: Scheme, data: &Dataset<Classes>) -> Result<(), Error> {
        let classes = data.labels().names().len();
        if classes == 2 {
            return Ok(());
        }
        check_members(scheme, classes, self.bytes_of_members(scheme, classes, data))?;
        let paths = match &self.regularisation {
            Regularisation::CrossValidated(how) => 1 + how.folds.unwrap_or(DEFAULT_FOLDS),
            _ => 1,
        };
        let Some(limit) = self.time_limit else { return Ok(()) };
        check_time(limit, scheme, classes, paths, (data.rows(), data.design().stored()))
    }

    /// Returns the bytes of the fits of all members, and of the model and the scores that are made of them.
    pub(super) fn bytes_of_members(
        &self,
        scheme: Scheme,
        classes: usize,
        data: &Dataset<Classes>,
    ) -> usize {
        let of_samples =
            !self.kernels.specifications.is_empty() && !self.kernels.approximation.has_features();
        // A model has coefficients of its own, and scores take another copy.
        const COPIES: usize = 2;
        let coefs = if of_samples { data.rows() } else { data.columns() };
        bytes_of_members(scheme, classes, coefs, self.fits_at_once() + COPIES)
    }

    /// Returns the number of fits of a member that are in memory at the same time.
    fn fits_at_once(&self) -> usize {
        match &self.regularisation {
            Regularisation::Single(_) => 1,
            Regularisation::Path { index, .. } => index + 1,
            Regularisation::CrossValidated(how) => {
                how.lambdas.len() * parallel::threads().min(how.folds.unwrap_or(DEFAULT_FOLDS))
            }
        }
    }

    pub(super) fn scheme_for(&self, classes: usize) -> Result<Scheme, Error> {
        match (classes, self.scheme) {
            (2, _) => Ok(Scheme::Binary),
            (_, Some(scheme)) if scheme == Scheme::Binary || scheme.scores_together() => {
                Err(Error::SeveralClasses(classes))
            }
            (_, scheme) => Ok(scheme.unwrap_or(Scheme::OneVersusOne)),
        }
    }

    /// Returns the data with all weights that the settings give them.
    fn weighted(&self, data: Dataset<Classes>) -> Result<Dataset<Classes>, Error> {
        if let (Some(weights), Some(_)) = (&self.sample_weights, data.weights()) {
            return Err(Error::contradiction(
                format!("{} sample_weights", weights.len()),
                "the weights of the data".to_owned(),
                "leave one of them out",
            ));
        }
        let data = match &self.sample_weights {
            Some(weights) => data.with_weights(weights.clone())?,
            None => data,
        };
        self.class_costs.weigh(data)
    }
}

/// Refuses members of a scheme that take more bytes than there is memory for.
pub(crate) fn check_members(scheme: Scheme, classes: usize, bytes: usize) -> Result<(), Error> {
    let members = scheme.scores(classes).unwrap_or(usize::MAX);
    let refused = |shortage| Error::Members { scheme, classes, members, shortage };
    Memory::from_bytes(bytes).check_free().map_err(refused)
}

/// Returns the bytes of the members of a scheme, each with this number of fits with so many coefficients.
pub(crate) fn bytes_of_members(scheme: Scheme, classes: usize, coefs: usize, fits: usize) -> usize {
    /// The bytes of a member beside its fits, most of it for names and reports: the peak was 1.1 GB for the
    /// 499,500 pairs of 1000 classes with two features.
    const MEMBER: usize = 1400;
    let members = scheme.scores(classes).unwrap_or(usize::MAX);
    let fit = coefs.saturating_mul(size_of::<f64>()).saturating_add(size_of::<Fit>());
    let bytes = members.saturating_mul(fit.saturating_mul(fits).saturating_add(MEMBER));
    // What the allocator loses between pieces of different sizes.
    bytes.saturating_add(bytes / 8)
}

/// Refuses members of a scheme that cannot all be fitted in the time, each along so many paths to data with
/// these numbers of rows and stored values. Without fits, members would only take memory.
pub(super) fn check_time(
    limit: Duration,
    scheme: Scheme,
    classes: usize,
    paths: usize,
    (rows, stored): (usize, usize),
) -> Result<(), Error> {
    /// The seconds that a fit takes at least: 190 us were measured for pairs of classes with two rows each.
    const FIT: f64 = 50e-6;
    /// The seconds that it takes a row and a value of a feature at least.
    const ROW: f64 = 5e-9;
    const VALUE: f64 = 2e-9;
    /// The seconds by which an estimate may exceed the limit.
    const SHORT: f64 = 0.5;
    let members = scheme.scores(classes).unwrap_or(usize::MAX);
    // A row takes part in the contests of its own class.
    let share = if scheme == Scheme::OneVersusOne { 2.0 / classes as f64 } else { 1.0 };
    let fit = FIT + share * (ROW * rows as f64 + VALUE * stored as f64);
    let seconds = fit * members as f64 * paths as f64 / parallel::threads() as f64;
    if seconds <= limit.as_secs_f64() + SHORT {
        return Ok(());
    }
    Err(Error::MembersTime { scheme, classes, members, seconds, limit })
}
