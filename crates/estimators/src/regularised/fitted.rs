//! The results of fits, and the scores and errors that they give on the training data.

use std::sync::Arc;
use std::time::{Duration, Instant};

use margins_calibration::location::MarginLocation;
use margins_calibration::probability::PlattScaling;
use margins_losses::{MarginLoss, SpecialCase};
use margins_model::{Basis, Model, ModelPath, Scheme};
use margins_optim::problem::PenaltyFactors;
use margins_optim::{
    Certificate, ErrorCurve, Fit, Lambda, LeaveOneOutBounds, Report, Training, leave_one_out_bounds,
};
use nalgebra::DMatrix;

use super::constant_decisions::of_constant_decisions;
use super::contests::{Contests, Fitting, MemberMargins};
use super::cross_validation::Folds;
use super::data_summary::DataSummary;
use super::landmarks::LandmarkFeatures;
use super::model::{model_of_fits, models_of_functions};
use super::prepared::{Prepared, duals_of_coefficients};
use super::report::{CandidateReport, TrainingReport, of_ended_paths, of_separation};
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
    pub(super) training_data: TrainingData,
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
    pub(super) training_data: TrainingData,
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
    InMemory(Box<InMemory>),
    /// Distributed training data of classifiers that are linear in features.
    Distributed(Box<DistributedData>),
}

/// What is known of distributed training data after the fits.
#[derive(Debug)]
pub(super) struct DistributedData {
    pub(super) table: DataSummary,
    pub(super) scheme: Scheme,
    /// The features that take the place of those of the samples.
    pub(super) features: Option<LandmarkFeatures>,
    /// The share of training samples whose class is not decided, at each lambda.
    pub(super) errors: Vec<f64>,
    /// The norms of the functions at each lambda of a path, one per member.
    pub(super) norms: Vec<Vec<f64>>,
}

impl DistributedData {
    /// Returns the functions that a model of fits has to hold, and the coefficients of every fit.
    pub(super) fn basis(&self, fits: &[&Fit]) -> Result<(Option<Basis>, Vec<Vec<f64>>), Error> {
        match &self.features {
            Some(features) => features.basis(fits),
            None => Ok((None, fits.iter().map(|fit| fit.coef.clone()).collect())),
        }
    }
}

/// The choice that a cross-validation has made, for the report.
pub(super) struct Choice {
    pub(super) curve: Option<ErrorCurve>,
    pub(super) losses: Vec<CandidateReport>,
    pub(super) kernels: Vec<CandidateReport>,
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
        let constant = of_constant_decisions(settings, &contests, &prepared, &fits)?;
        let training_data = TrainingData::InMemory(Box::new(InMemory { contests, prepared }));
        let mut fitted =
            FittedClassifier::of_model(settings, model, kernel, fits, choice, training_data);
        fitted.report.warnings.extend(constant);
        if settings.options.solver.ends_paths() {
            let curve = fitted.report.curve.as_ref();
            fitted.report.notes = curve.and_then(of_ended_paths).into_iter().collect();
        }
        Ok(fitted)
    }

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
        let Choice { curve, losses, kernels, folds } = choice;
        let report = TrainingReport::new(&model, kernel, reports, curve);
        let report = TrainingReport { losses, kernels, ..report };
        let loss = Arc::clone(&settings.loss);
        FittedClassifier { model, evidence, report, fits, loss, folds, exact: None, training_data }
    }

    /// Returns the settings of fits to data of this number of rows, with the selected loss.
    pub(super) fn training<'a>(
        &'a self,
        settings: &'a ClassifierSettings,
        rows: usize,
    ) -> Training<'a, dyn MarginLoss> {
        Training { loss: &*self.loss, ..settings.training(rows, None) }
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

    /// Returns for every member the location of the margins of its training samples beside the level that
    /// margin pursuit aims at; none for another loss, several classes in one problem, and data that are not
    /// in memory.
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    pub fn margin_locations(&self) -> Result<Vec<MarginLocation>, Error> {
        self.training_data.margin_locations(&*self.loss, &self.fits)
    }

    /// Returns [bounds](leave_one_out_bounds) on the leave-one-out error, with the scales, the encoding
    /// and the kernel of all samples. `None` with an intercept, with features that no penalty acts on,
    /// without a penalty, for several classes or one, a robust objective, and data that are not in memory.
    /// `settings` are the settings of the fit.
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    pub fn leave_one_out_bounds(
        &self,
        settings: &ClassifierSettings,
    ) -> Result<Option<LeaveOneOutBounds>, Error> {
        let has_free = settings.penalty_factors.as_ref().is_some_and(PenaltyFactors::has_free);
        let TrainingData::InMemory(here) = &self.training_data else { return Ok(None) };
        let InMemory { contests, prepared } = &**here;
        if settings.intercept
            || has_free
            || settings.learner.is_some()
            || contests.first_is_decided()
        {
            return Ok(None);
        }
        let Some(margins) = contests.margins(prepared, &self.fits)? else { return Ok(None) };
        let training = self.training(settings, contests.classes().rows());
        let squares = prepared.squared_norms(&training)?;
        let risk = training.risk(contests.any())?;
        let Fit { lambda, report, .. } = &self.fits[0];
        Ok(leave_one_out_bounds(&risk, *lambda, report.duality_gap, &margins, &squares))
    }

    /// Returns the scores of the training samples from fits to the samples of the other folds, with the
    /// lambda, the loss and the kernel that the cross-validation has chosen: a row per sample, a column per member.
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
        settings.on_threads(|| {
            let training = self.training(settings, rows);
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

    /// Returns the scheme by which the members decide between the classes.
    pub fn scheme(&self) -> Scheme {
        match &self.training_data {
            TrainingData::InMemory(here) => here.contests.scheme(),
            TrainingData::Distributed(there) => there.scheme,
        }
    }

    /// Returns at each lambda the fits that have a certificate of their own: one per member, or the
    /// first where all come from one [joint](Scheme::is_joint) problem.
    pub fn problems(&self) -> impl Iterator<Item = &[Fit]> {
        let is_joint = self.scheme().is_joint();
        self.fits.iter().map(move |fits| if is_joint { &fits[..1] } else { &fits[..] })
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

    /// Returns the locations of the training margins at the lambda of an index, as
    /// [`FittedClassifier::margin_locations`] does. `settings` are the settings of the path.
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    ///
    /// # Panics
    /// If there is no such lambda.
    pub fn margin_locations(
        &self,
        settings: &ClassifierSettings,
        at: usize,
    ) -> Result<Vec<MarginLocation>, Error> {
        self.training_data.margin_locations(&*settings.loss, &self.fits[at])
    }

    /// Returns the duals of the samples at every lambda, `s_i = -L'(u_i)` at the minimum: as
    /// `2 n lambda y_i a_i/c_i` for the coefficients `a_i`, which grow as `1/lambda`. For the leaky hockey
    /// stick they are in [0, 1]: 1 up to the margin 1, and one over the margin beyond. `None` unless the
    /// classes are two, and the fits [keep the duals](margins_optim::Options::keep_duals) or the coefficients
    /// are those of kernel sections at the samples, which give 0 for a sample of weight 0.
    /// `settings` are the settings of the path.
    ///
    /// Source: Kwon and Zou, *Leaky hockey stick loss*, JMLR 24 (2023), (18).
    ///
    /// # Errors
    /// The errors of [`Training::risk`].
    pub fn duals(&self, settings: &ClassifierSettings) -> Result<Option<Vec<Vec<f64>>>, Error> {
        let TrainingData::InMemory(here) = &self.training_data else { return Ok(None) };
        let InMemory { contests, prepared } = &**here;
        if contests.len() > 1 || contests.first_is_decided() || settings.learner.is_some() {
            return Ok(None);
        }
        let kept = |fits: &Vec<Fit>| fits[0].report.duals.clone();
        let kept: Option<Vec<_>> = self.fits.iter().map(kept).collect();
        if kept.is_some() || !prepared.is_in_sample_space() {
            return Ok(kept);
        }
        let training = settings.training(contests.classes().rows(), None);
        let risk = training.risk(contests.any())?;
        let of = |fits: &Vec<Fit>| duals_of_coefficients(&risk, fits[0].lambda, &fits[0].coef);
        Ok(Some(self.fits.iter().map(of).collect()))
    }

    /// Returns the norms of the functions at every lambda, one per member: those whose squares the penalty
    /// has, `sqrt(sum_j W_j w_j^2)` for the penalty factors W and features as the fit scales them, or the
    /// root of `a'Ka`. Coefficients without a penalty do not count. `settings` are the settings of the
    /// path.
    ///
    /// # Errors
    /// Kernel values or scores that are not finite.
    pub fn norms(&self, settings: &ClassifierSettings) -> Result<Vec<Vec<f64>>, Error> {
        let here = match &self.training_data {
            TrainingData::InMemory(here) => &**here,
            TrainingData::Distributed(there) => return Ok(there.norms.clone()),
        };
        let data = here.contests.classes();
        let scales = settings.standardize.then(|| here.contests.scales());
        let factors = settings.penalty_factors.as_ref();
        let penalty = factors.map(|factors| factors.on(data.feature_names(), data.columns()));
        let penalty = penalty.transpose()?.unwrap_or_default();
        let norm = |(member, fit): (usize, &Fit)| {
            let scales = scales.as_ref().map(|scales| &scales[member][..]);
            let linear = || Ok(penalty.norm(&fit.coef, scales));
            here.prepared.kernel_norm(fit).unwrap_or_else(linear)
        };
        self.fits.iter().map(|fits| fits.iter().enumerate().map(norm).collect()).collect()
    }

    /// Returns a sentence on the direction in the features without a penalty along which the objective of
    /// the first fit without a minimum decreases, if there is such a fit. `settings` are the settings of
    /// the path.
    ///
    /// # Errors
    /// [`Error::Model`]: a fit whose numbers overflowed.
    pub fn separation(&self, settings: &ClassifierSettings) -> Result<Option<String>, Error> {
        let has_none = |fit: &Fit| fit.report.status.has_no_minimum();
        let Some(fits) = self.fits.iter().find(|fits| fits.iter().any(has_none)) else {
            return Ok(None);
        };
        let all: Vec<&Fit> = fits.iter().collect();
        let model = self.models_of(settings, &all)?.at(fits[0].lambda.get())?;
        Ok(of_separation(&model, fits.iter().map(|fit| &fit.report)))
    }

    /// Returns the models at all lambdas, over the functions that any of them has a use for. `settings`
    /// are the settings of the fits.
    ///
    /// ```
    /// use margins_data::generate::{Example, GaussianMixture};
    /// use margins_estimators::regularised::{ClassifierSettings, Regularisation};
    /// use margins_model::Registry;
    /// use margins_optim::lambda_grid;
    ///
    /// let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
    /// let regularisation = Regularisation::path(lambda_grid(1.0, 1e-3, 4)?)?;
    /// let settings = ClassifierSettings { regularisation, ..ClassifierSettings::default() };
    /// let path = settings.path(&data)?;
    /// let model = path.models(&settings)?.at(0.1)?;
    /// let scores = model.decision_function(data.design(), &Registry::standard())?;
    /// assert_eq!(scores, path.fits[1][0].decision_function(data.design()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Model`]: a fit whose numbers overflowed, and that no program could apply.
    pub fn models(&self, settings: &ClassifierSettings) -> Result<ModelPath, Error> {
        let fits: Vec<&Fit> = self.fits.iter().flatten().collect();
        self.models_of(settings, &fits)
    }

    fn models_of(&self, settings: &ClassifierSettings, fits: &[&Fit]) -> Result<ModelPath, Error> {
        let (loss, standardize) = (&*settings.loss, settings.standardize);
        match &self.training_data {
            TrainingData::InMemory(here) => {
                let InMemory { contests, prepared } = &**here;
                let (table, functions) =
                    (DataSummary::of(contests.classes()), prepared.basis(fits)?);
                models_of_functions(loss, &table, contests.scheme(), functions, standardize, fits)
            }
            TrainingData::Distributed(there) => {
                let (table, functions) = (&there.table, there.basis(fits)?);
                models_of_functions(loss, table, there.scheme, functions, standardize, fits)
            }
        }
    }

    /// Returns the specification of the kernel; `None` for linear classifiers.
    pub fn kernel_specification(&self) -> Option<String> {
        match &self.training_data {
            TrainingData::InMemory(here) => here.prepared.kernel_specification(),
            TrainingData::Distributed(there) => {
                there.features.as_ref().map(LandmarkFeatures::specification)
            }
        }
    }

    /// Returns the number of coefficients that a fit has to choose: features, samples, or features
    /// of a map.
    pub fn dimension(&self) -> usize {
        self.training_data.dimension(&self.fits[0])
    }
}

impl TrainingData {
    fn dimension(&self, fits: &[Fit]) -> usize {
        match self {
            TrainingData::InMemory(here) => here.prepared.dimension(),
            TrainingData::Distributed(there) => {
                let beside = there.features.as_ref().map_or(0, LandmarkFeatures::count_beside);
                fits.first().map_or(0, |fit| fit.coef.len() - beside)
            }
        }
    }

    /// Returns the locations of the training margins, one a member, for a loss that aims at a level.
    fn margin_locations(
        &self,
        loss: &dyn MarginLoss,
        fits: &[Fit],
    ) -> Result<Vec<MarginLocation>, Error> {
        let (TrainingData::InMemory(here), Some(SpecialCase::MarginPursuit { .. })) =
            (self, loss.special_case())
        else {
            return Ok(Vec::new());
        };
        let InMemory { contests, prepared } = &**here;
        if contests.scheme().is_joint() {
            return Ok(Vec::new());
        }
        let weights = contests.classes().own_weights();
        let mut found = Vec::with_capacity(fits.len());
        for MemberMargins { rows, margins } in contests.margins_of_members(prepared, fits)? {
            let weights: Option<Vec<f64>> =
                weights.map(|weights| rows.iter().map(|&row| weights[row]).collect());
            found.extend(MarginLocation::of_loss(loss, &margins, weights.as_deref())?);
        }
        Ok(found)
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
            TrainingData::Distributed(there) => Ok(Some(there.errors[at])),
        }
    }
}
