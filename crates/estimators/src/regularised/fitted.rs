//! The results of fits, and the scores and errors that they give on the training data.

use std::sync::Arc;
use std::time::{Duration, Instant};

use margins_calibration::location::MarginLocation;
use margins_calibration::probability::PlattScaling;
use margins_losses::{MarginLoss, SpecialCase};
use margins_model::Model;
use margins_optim::{Certificate, ErrorCurve, Fit, Lambda, Report};
use nalgebra::DMatrix;

use super::contests::{Contests, Fitting};
use super::cross_validation::Folds;
use super::model::model_of_fits;
use super::prepared::{Prepared, norm};
use super::report::{KernelReport, TrainingReport, of_ended_paths};
use super::settings::ClassifierSettings;
use crate::certificate::evidence;
use crate::{Error, Evidence};

/// A classifier fitted to the regularised risk.
#[derive(Debug)]
#[non_exhaustive]
pub struct FittedClassifier {
    /// The classifier.
    pub model: Model,
    /// The largest relative duality gap of the members, or [`Evidence::None`] for a learner
    /// without.
    pub evidence: Evidence,
    /// The report, which is displayed as a page of text.
    pub report: TrainingReport,
    /// The fits, one per member, with a coefficient for every function of the training data.
    pub fits: Vec<Fit>,
    /// The loss of the classifier, the selected one of several.
    pub loss: Arc<dyn MarginLoss>,
    /// The folds of a cross-validation.
    pub folds: Option<Folds>,
    /// The certificates of the fits for the kernel that their features approximate, one per member,
    /// if they were asked for.
    pub exact: Option<Vec<Certificate>>,
    training_data: TrainingData,
}

/// The fits at every lambda of a path.
#[derive(Debug)]
#[non_exhaustive]
pub struct Path {
    /// The fits, largest lambda first; at each lambda one per member, with a coefficient for every
    /// function of the training data.
    pub fits: Vec<Vec<Fit>>,
    /// The certificates of the fits for the kernel that their features approximate, if they were
    /// asked for.
    pub exact: Option<Vec<Vec<Certificate>>>,
    training_data: TrainingData,
}

/// Data in memory, in the space of the functions of the fits.
#[derive(Debug)]
pub(super) struct InMemory {
    pub(super) contests: Contests,
    pub(super) prepared: Prepared<'static>,
}

/// The training data of fits, or what is known of them.
#[derive(Debug)]
pub(super) enum TrainingData {
    /// The data.
    InMemory(Box<InMemory>),
    /// The errors on distributed training data, of classifiers that are linear in features.
    Distributed {
        /// The kernel whose features the fits are linear in, if there is one.
        kernel: Option<String>,
        /// The share of training samples whose class is not decided, at each lambda.
        errors: Vec<f64>,
    },
}

/// The choice that a cross-validation has made, for the report.
pub(super) struct Choice {
    pub(super) curve: Option<ErrorCurve>,
    pub(super) kernels: Vec<KernelReport>,
    pub(super) folds: Option<Folds>,
}

impl FittedClassifier {
    pub(super) fn new(
        settings: &ClassifierSettings,
        (contests, prepared): (Contests, Prepared<'static>),
        fits: Vec<Fit>,
        choice: Choice,
        platt: Option<&[PlattScaling]>,
    ) -> Result<Self, Error> {
        let (loss, standardize) = (&*settings.loss, settings.standardize);
        let (classes, scheme) = (contests.classes(), contests.scheme());
        let model = model_of_fits(loss, classes, scheme, &prepared, standardize, &fits, platt)?;
        let kernel = prepared.kernel_specification();
        let training_data = TrainingData::InMemory(Box::new(InMemory { contests, prepared }));
        let mut fitted =
            FittedClassifier::of_model(settings, model, kernel, fits, choice, training_data);
        if settings.options.solver.ends_paths() {
            let curve = fitted.report.curve.as_ref();
            fitted.report.notes = curve.and_then(of_ended_paths).into_iter().collect();
        }
        Ok(fitted)
    }

    /// Returns the classifier of a model with its fits.
    pub(super) fn of_model(
        settings: &ClassifierSettings,
        model: Model,
        kernel: Option<String>,
        fits: Vec<Fit>,
        choice: Choice,
        training_data: TrainingData,
    ) -> Self {
        let reports: Vec<Report> = fits.iter().map(|fit| fit.report.clone()).collect();
        let evidence = evidence(&reports.iter().collect::<Vec<_>>());
        let Choice { curve, kernels, folds } = choice;
        let report =
            TrainingReport { kernels, ..TrainingReport::new(&model, kernel, reports, curve) };
        let loss = Arc::clone(&settings.loss);
        FittedClassifier { model, evidence, report, fits, loss, folds, exact: None, training_data }
    }

    /// Returns true if the best lambda of the cross-validation is better here than there.
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        match (&self.report.curve, &other.report.curve) {
            (Some(here), Some(there)) => here.rank(here.best) < there.rank(there.best),
            _ => false,
        }
    }

    /// Certifies the fits for the kernel itself if the settings ask for it.
    pub(super) fn certified(mut self, settings: &ClassifierSettings) -> Result<Self, Error> {
        let fits = std::slice::from_ref(&self.fits);
        let exact = settings.exact_certificates(&self.training_data, fits)?;
        self.exact = exact.and_then(|mut exact| exact.pop());
        Ok(self)
    }

    /// Returns the share of training samples whose class the members together do not decide, by the
    /// weights of the samples. Costs of classes do not count.
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    pub fn training_error(&self) -> Result<f64, Error> {
        Ok(self.training_data.training_error(0, &self.fits, None)?.unwrap_or(f64::NAN))
    }

    /// Returns the [training error](Self::training_error) if it takes no longer than this time, as that of
    /// thousands of classes may; of so few scores that they are counted at once in any case.
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    pub fn training_error_within(&self, time: Duration) -> Result<Option<f64>, Error> {
        self.training_data.training_error(0, &self.fits, Instant::now().checked_add(time))
    }

    /// Returns the location of the margins of the training samples beside the level that margin pursuit
    /// aims at; `None` for another loss, several classes, or data that are not in memory.
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    pub fn margin_location(&self) -> Result<Option<MarginLocation>, Error> {
        let Some(SpecialCase::MarginPursuit { gamma, scale }) = self.loss.special_case() else {
            return Ok(None);
        };
        let TrainingData::InMemory(here) = &self.training_data else { return Ok(None) };
        let InMemory { contests, prepared } = &**here;
        let weights = contests.classes().own_weights();
        let margins = contests.margins(prepared, &self.fits)?;
        let of = |margins: Vec<f64>| MarginLocation::new(&margins, weights, gamma, scale);
        Ok(margins.map(of).transpose()?)
    }

    /// Returns the scores of the training samples from fits to the samples of the other folds, with the
    /// lambda and the kernel that the cross-validation has chosen: a row per sample, a column per member.
    /// `None` without a cross-validation of folds of the rows, as of splits or where every sample is a
    /// fold, for data that are not in memory, and with a time limit.
    ///
    /// It repeats the fits of every fold along the lambdas down to the chosen one; `settings` are the
    /// settings of the fit.
    ///
    /// # Errors
    /// The errors of [`ClassifierSettings::fit`].
    pub fn held_out_scores(
        &self,
        settings: &ClassifierSettings,
    ) -> Result<Option<DMatrix<f64>>, Error> {
        let (Some(folds), Some(curve)) = (&self.folds, &self.report.curve) else { return Ok(None) };
        let TrainingData::InMemory(here) = &self.training_data else { return Ok(None) };
        let InMemory { contests, prepared } = &**here;
        let rows = contests.classes().rows();
        if folds.of_rows.is_empty() || folds.count == rows || settings.time_limit.is_some() {
            return Ok(None);
        }
        let chosen = self.fits[0].lambda;
        let lambdas: Vec<Lambda> =
            curve.lambdas.iter().copied().filter(|lambda| *lambda >= chosen).collect();
        let settings = settings.with_loss(Arc::clone(&self.loss));
        settings.on_threads(|| {
            let training = settings.training(rows, None);
            let fitting = Fitting::unseen(contests, prepared, &training);
            fitting.held_out_scores(&folds.of_rows, &lambdas).map(Some)
        })
    }

    /// Returns the number of coefficients that a fit has to choose: features, samples, or features
    /// of a map.
    pub fn dimension(&self) -> usize {
        self.training_data.dimension(&self.fits)
    }
}

impl Path {
    pub(super) fn new(fits: Vec<Vec<Fit>>, training_data: TrainingData) -> Self {
        Path { fits, exact: None, training_data }
    }

    /// Certifies the fits for the kernel itself if the settings ask for it.
    pub(super) fn certified(mut self, settings: &ClassifierSettings) -> Result<Self, Error> {
        self.exact = settings.exact_certificates(&self.training_data, &self.fits)?;
        Ok(self)
    }

    /// Returns the share of training samples whose class the members at a lambda, given by its
    /// index, together do not decide, by the weights of the samples. Costs of
    /// classes do not count.
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    ///
    /// # Panics
    /// If there is no such lambda.
    pub fn training_error(&self, at: usize) -> Result<f64, Error> {
        Ok(self.training_data.training_error(at, &self.fits[at], None)?.unwrap_or(f64::NAN))
    }

    /// Returns the norms of the functions at a lambda, given by its index, one per member: `||w||` or
    /// the root of `a'Ka`.
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    ///
    /// # Panics
    /// If there is no such lambda.
    pub fn norms(&self, at: usize) -> Result<Vec<f64>, Error> {
        self.fits[at].iter().map(|fit| self.training_data.norm(fit)).collect()
    }

    /// Returns the specification of the kernel; `None` for linear classifiers.
    pub fn kernel_specification(&self) -> Option<String> {
        match &self.training_data {
            TrainingData::InMemory(here) => here.prepared.kernel_specification(),
            TrainingData::Distributed { kernel, .. } => kernel.clone(),
        }
    }

    /// Returns the number of coefficients that a fit has to choose: features, samples, or features
    /// of a map.
    pub fn dimension(&self) -> usize {
        self.training_data.dimension(&self.fits[0])
    }
}

impl TrainingData {
    /// Returns the norm of the function of a fit.
    fn norm(&self, fit: &Fit) -> Result<f64, Error> {
        match self {
            TrainingData::InMemory(here) => here.prepared.norm(fit),
            TrainingData::Distributed { .. } => Ok(norm(&fit.coef)),
        }
    }

    /// Returns the number of coefficients of fits.
    fn dimension(&self, fits: &[Fit]) -> usize {
        match self {
            TrainingData::InMemory(here) => here.prepared.dimension(),
            TrainingData::Distributed { .. } => fits.first().map_or(0, |fit| fit.coef.len()),
        }
    }

    /// Returns the training error of the fits at the lambda of an index; `None` if the deadline comes
    /// first.
    fn training_error(
        &self,
        at: usize,
        fits: &[Fit],
        deadline: Option<Instant>,
    ) -> Result<Option<f64>, Error> {
        match self {
            TrainingData::InMemory(here) => {
                here.contests.training_error(&here.prepared, fits, deadline)
            }
            TrainingData::Distributed { errors, .. } => Ok(Some(errors[at])),
        }
    }
}
