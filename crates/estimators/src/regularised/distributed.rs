//! Fits classifiers that are linear in features to distributed samples: workers hold the samples and
//! answer messages with sums.

mod folds;
mod joint;

use std::collections::BTreeMap;
use std::time::Instant;

use margins_losses::MarginLoss;
use margins_model::Scheme;
use margins_optim::method::SpaceKind;
use margins_optim::path::TimeShares;
use margins_optim::problem::PenaltyFactors;
use margins_optim::shards::{
    BinaryProblem, FoldDraw, OnLandmarks, PointStore, Workers, path_over_shards,
};
use margins_optim::{ErrorCurve, Fit, Lambda, Observed, Training};

use super::cross_validation::{CrossValidation, DEFAULT_FOLDS, Folds, note_on_untrained};
use super::data_summary::DataSummary;
use super::fit::{bytes_of_members, check_members, check_time};
use super::fitted::{Choice, DistributedData, FittedClassifier, Path, TrainingData};
use super::landmarks::{LandmarkFeatures, scales_over};
use super::model::model_of_functions;
use super::prepared::constant_fits;
use super::progress::Count;
use super::search::{Found, Search, by_lambda};
use super::settings::{ClassifierSettings, Probabilities, Regularisation};
use super::time_limit::TimeLimit;
use crate::Error;

/// The points that fits have reached, in a file.
pub(super) trait PointFile {
    /// Returns the points of the problem of a member, with a fold held out or none.
    fn of(&self, member: usize, fold: Option<u32>) -> Box<dyn PointStore + '_>;

    /// Writes the points that the file lacks.
    fn write(&self) -> Result<(), Error>;
}

/// The search for lambda on distributed samples.
struct Distributed<'s> {
    settings: &'s ClassifierSettings,
    table: &'s DataSummary,
    scheme: Scheme,
    /// The names of the problems that are solved: of one for all classes, or of the members.
    problems: Vec<String>,
    /// The pairs of classes of the members, if these are for pairs.
    pairs: Vec<(usize, usize)>,
    costs: Vec<f64>,
    /// True if features are scaled; what kernels see has been.
    standardize: bool,
    /// The features that take the place of those of the samples.
    features: Option<LandmarkFeatures>,
    /// The penalty factors, one per feature.
    penalty: Option<PenaltyFactors>,
    /// The folds that train on no sample of a class, with the last such class.
    untrained: BTreeMap<usize, usize>,
    workers: &'s mut dyn Workers,
    /// The points that an earlier run has reached, and this one.
    points: Option<Box<dyn PointFile + 's>>,
    /// The fits that the observer has seen.
    count: Count<'s>,
    limit: Option<TimeLimit>,
    /// A sentence on folds that lack a class, if some do.
    note: Option<String>,
}

impl ClassifierSettings {
    /// Fits a classifier to samples that workers hold, with a certificate over all of them: a linear one,
    /// or one in Nystrom features. Their landmarks are the rows that a fit in memory draws; every shard
    /// gets them once, and makes the features where the samples are, for which it must hold
    /// [`LandmarkBlocks`](super::LandmarkBlocks). Features with the penalty factor 0 stand beside the kernel.
    ///
    /// # Errors
    /// The settings ask for what needs the samples here: other kernels, learners, Platt scaling, weights
    /// that are not those of the samples, leave-one-out, another solver than Newton's
    /// method. A cross-validation with a number of folds for samples that have folds.
    /// A loss that is not convex. The workers fail, or a class has no samples.
    pub fn fit_distributed(
        &self,
        workers: &mut dyn Workers,
        table: &DataSummary,
    ) -> Result<FittedClassifier, Error> {
        self.check()?;
        self.check_distributed(table)?;
        let Some(features) = self.features_of(workers, table)? else {
            return Distributed::new(self, workers, table, None)?.fitted();
        };
        let workers = &mut OnLandmarks::new(workers, features.message());
        Distributed::new(self, workers, table, Some(features))?.fitted()
    }

    /// Fits at every lambda of [`Regularisation::Path`] to samples that workers hold, down to the one
    /// at its index.
    ///
    /// # Errors
    /// The errors of [`fit_distributed`](Self::fit_distributed). The settings do not ask for a path.
    pub fn path_distributed(
        &self,
        workers: &mut dyn Workers,
        table: &DataSummary,
    ) -> Result<Path, Error> {
        self.check()?;
        self.check_path()?;
        self.check_distributed(table)?;
        let Some(features) = self.features_of(workers, table)? else {
            return Distributed::new(self, workers, table, None)?.whole_path();
        };
        let workers = &mut OnLandmarks::new(workers, features.message());
        Distributed::new(self, workers, table, Some(features))?.whole_path()
    }

    /// Refuses what needs the samples here.
    fn check_distributed(&self, table: &DataSummary) -> Result<(), Error> {
        let how = match &self.regularisation {
            Regularisation::CrossValidated(how) => Some(how),
            _ => None,
        };
        let linear = "samples that are not in memory are fitted by linear functions of their features or of \
             Nystrom features with uniform landmarks, such as nystrom:m=1000";
        let hopeless = "it compares the mistakes on single samples, which workers do not report";
        let is_mapped = self.landmarks()?.is_some();
        let scheme = self.scheme_for(table.classes.len())?;
        let in_memory = "take one-versus-one or one-versus-rest, or rows in memory";
        let refused = [
            (!is_mapped && self.has_kernel()?, "a kernel", linear),
            (
                is_mapped && scheme.is_joint(),
                "a kernel with several classes in one problem",
                in_memory,
            ),
            (
                scheme == Scheme::CrammerSinger,
                "crammer-singer classes",
                "take joint, one-versus-one or one-versus-rest, or rows in memory",
            ),
            (
                scheme.is_joint()
                    && self.penalty_factors.as_ref().is_some_and(PenaltyFactors::has_free),
                "a penalty factor of 0 with several classes in one problem",
                in_memory,
            ),
            (
                scheme.is_joint() && self.regularisation == Regularisation::Single(Lambda::NONE),
                "lambda 0 with several classes in one problem",
                in_memory,
            ),
            (self.learner.is_some(), "a robust learner", "it sorts all margins"),
            (self.options.keep_duals, "keep_duals", "there is one dual for every sample"),
            (
                !self.or_losses.is_empty(),
                "several losses",
                "workers have one: cross-validate each, with the same seed",
            ),
            (
                self.auto_scale.is_some(),
                "scale=auto",
                "it needs the margins of all samples: give a scale, or take rows in memory",
            ),
            (
                self.sample_weights.is_some(),
                "sample_weights",
                "give the weights to the samples where they are",
            ),
            (
                self.probabilities != Probabilities::OfTheLoss,
                "Platt scaling",
                "it sorts the scores of all samples: take a loss that has probabilities",
            ),
            (
                !self.options.solver.takes(SpaceKind::Parts),
                "the solver",
                "Newton's method is the one that asks for sums alone",
            ),
            (how.is_some_and(|how| how.leave_one_out.is_some()), "leave-one-out", "take folds"),
            (how.is_some_and(|how| how.abandon_hopeless), "abandon_hopeless", hopeless),
            (how.is_some_and(|how| how.splits.is_some()), "splits", "take folds"),
            (
                how.is_some_and(|how| how.folds.is_some()) && !table.folds.is_empty(),
                "a number of folds",
                "the samples have folds of their own",
            ),
        ];
        match refused.into_iter().find(|(given, ..)| *given) {
            None => {
                self.check_features(table.feature_names.as_deref(), table.features)?;
                how.map_or(Ok(()), |how| how.check_classes(table.classes.len()))
            }
            Some((_, one, reason)) => {
                let other = "samples that are not in memory".to_owned();
                Err(Error::contradiction(one.to_owned(), other, reason))
            }
        }
    }

    /// Returns no points: there are no files of them in this build.
    #[cfg(not(feature = "serde"))]
    fn stored_points(&self, _: &DataSummary) -> Result<Option<Box<dyn PointFile + '_>>, Error> {
        Ok(None)
    }

    /// Returns true if functions are those of a kernel.
    fn has_kernel(&self) -> Result<bool, Error> {
        Ok(self.spaces()?.iter().any(|space| space.kernel().is_some()))
    }

    /// Returns the most fits of a member that there can be.
    fn fits_distributed(&self, table: &DataSummary) -> usize {
        match &self.regularisation {
            Regularisation::Single(_) => 1,
            Regularisation::Path { index, .. } => index + 1,
            Regularisation::CrossValidated(how) => how.lambdas.len() * (folds(how, table) + 1),
        }
    }
}

fn folds(how: &CrossValidation, table: &DataSummary) -> usize {
    match table.folds.len() {
        0 => how.folds.unwrap_or(DEFAULT_FOLDS),
        own => own,
    }
}

impl<'s> Distributed<'s> {
    fn new(
        settings: &'s ClassifierSettings,
        workers: &'s mut dyn Workers,
        table: &'s DataSummary,
        features: Option<LandmarkFeatures>,
    ) -> Result<Self, Error> {
        let classes = table.classes.len();
        let scheme = settings.scheme_for(classes)?;
        settings.check_joint(scheme)?;
        if classes > 2 {
            // The fits of one fold at a time, the model, and a copy of it for scores.
            let fits = 2 + match &settings.regularisation {
                Regularisation::CrossValidated(how) => how.lambdas.len(),
                _ => settings.fits_distributed(table),
            };
            let coefs = features.as_ref().map_or(table.features, LandmarkFeatures::count);
            check_members(scheme, classes, bytes_of_members(scheme, classes, coefs, fits))?;
        }
        if let (3.., Some(limit)) = (classes, settings.time_limit) {
            // How fast workers are with their rows is not known.
            check_time(limit, scheme, classes, 1, (0, 0))?;
        }
        let problems = scheme.problem_names(&table.classes);
        let pairs = match scheme {
            Scheme::OneVersusOne => Scheme::pairs(classes).collect(),
            _ => Vec::new(),
        };
        let total = problems.len() * settings.fits_distributed(table);
        let costs = settings.class_costs.of(&table.classes)?;
        let names = table.feature_names.as_deref();
        let penalty = settings.penalty_factors.as_ref().map(|factors| match &features {
            Some(features) => features.penalty(),
            None => Ok(factors.numbered(names, table.features)),
        });
        let points = settings.stored_points(table)?;
        Ok(Distributed {
            settings,
            table,
            scheme,
            problems,
            pairs,
            costs,
            standardize: settings.standardize && !settings.has_kernel()?,
            features,
            penalty: penalty.transpose()?,
            untrained: BTreeMap::new(),
            workers,
            points,
            count: settings.progress.count(total),
            limit: settings.time_limit.map(TimeLimit::new),
            note: None,
        })
    }

    /// Returns the folds of a cross-validation; the rows know theirs.
    fn folds(&self) -> Option<Folds> {
        let Regularisation::CrossValidated(how) = &self.settings.regularisation else {
            return None;
        };
        let seed = self.table.folds.is_empty().then_some(self.settings.seed);
        Some(Folds { of_rows: Vec::new(), given: None, count: folds(how, self.table), seed })
    }

    /// Returns the fits to all rows at every lambda of the way to the one given or selected.
    fn run(&mut self) -> Result<(Vec<Vec<Fit>>, Option<ErrorCurve>), Error> {
        let Found { approach, path, curve } = self.by(&self.settings.regularisation)?;
        let path = path.map_or_else(|| self.paths(None, &approach, self.deadline()), Ok)?;
        Ok((path, curve))
    }

    /// Returns the classifier at the lambda given or selected.
    fn fitted(mut self) -> Result<FittedClassifier, Error> {
        let (mut path, curve) = self.run()?;
        let fits = path.pop().unwrap_or_default();
        let data = self.data(std::slice::from_ref(&fits))?;
        let folds = self.folds();
        let choice = Choice { curve, losses: Vec::new(), kernels: Vec::new(), folds };
        let Distributed { settings, table, scheme, note, .. } = self;
        let (loss, standardize) = (&*settings.loss, settings.standardize);
        let of: Vec<&Fit> = fits.iter().collect();
        let functions = data.basis(&of)?;
        let model = model_of_functions(loss, table, scheme, functions, standardize, &of, None)?;
        let kernel = model.basis().map(|basis| basis.kernel().to_owned());
        let training_data = TrainingData::Distributed(Box::new(data));
        let mut fitted =
            FittedClassifier::of_model(settings, model, kernel, fits, choice, training_data);
        fitted.report.notes.extend(note);
        Ok(fitted)
    }

    /// Returns the fits at every lambda of a path.
    fn whole_path(mut self) -> Result<Path, Error> {
        let (path, _) = self.run()?;
        let norms = self.norms(&path)?;
        let data = DistributedData { norms, ..self.data(&path)? };
        Ok(Path::new(path, TrainingData::Distributed(Box::new(data))))
    }

    /// Returns what is to be known of the samples after these fits.
    fn data(&mut self, path: &[Vec<Fit>]) -> Result<DistributedData, Error> {
        let (errors, features) = (self.training_errors(path)?, self.features.take());
        let (table, scheme, norms) = (self.table.clone(), self.scheme, Vec::new());
        Ok(DistributedData { table, scheme, features, errors, norms })
    }

    /// Returns the norms of fits, one per member, as the penalty has them.
    fn norms(&mut self, path: &[Vec<Fit>]) -> Result<Vec<Vec<f64>>, Error> {
        let factors = self.penalty.as_ref().map(|factors| factors.on(None, self.coefs()));
        let penalty = factors.transpose()?.unwrap_or_default();
        // Pairs have rows of their own.
        let problems: Vec<BinaryProblem> = match self.pairs.len() {
            0 => vec![self.problem(None)],
            pairs => (0..pairs).map(|member| self.problem_of(member, None)).collect(),
        };
        let mut scales = vec![None; problems.len()];
        if self.standardize {
            for (scales, problem) in scales.iter_mut().zip(&problems) {
                *scales = scales_over(self.workers, &*self.settings.loss, problem)?;
            }
        }
        let norm =
            |(fit, scales): (&Fit, &Option<Vec<f64>>)| penalty.norm(&fit.coef, scales.as_deref());
        let norms = |fits: &Vec<Fit>| fits.iter().zip(scales.iter().cycle()).map(norm).collect();
        Ok(path.iter().map(norms).collect())
    }

    /// Returns the number of coefficients of a fit.
    fn coefs(&self) -> usize {
        self.features.as_ref().map_or(self.table.features, LandmarkFeatures::count)
    }

    fn training_errors(&mut self, path: &[Vec<Fit>]) -> Result<Vec<f64>, Error> {
        let (_, errors) = self.errors(&BinaryProblem::default(), None, path)?;
        Ok(errors.into_iter().map(|of| of.error).collect())
    }

    /// Returns the time at which all must end.
    fn deadline(&self) -> Option<Instant> {
        self.limit.and_then(|limit| limit.of_fit())
    }

    fn problem(&self, held_out: Option<usize>) -> BinaryProblem {
        let draw = match &self.settings.regularisation {
            Regularisation::CrossValidated(how) if self.table.folds.is_empty() => {
                Some(FoldDraw { count: folds(how, self.table) as u32, seed: self.settings.seed })
            }
            _ => None,
        };
        let held_out = held_out.map(|fold| fold as u32);
        BinaryProblem { costs: self.costs.clone(), draw, held_out, ..BinaryProblem::default() }
    }

    /// Returns the problem of a member.
    fn problem_of(&self, member: usize, held_out: Option<usize>) -> BinaryProblem {
        let (class, against) = match self.scheme {
            Scheme::Binary => (1, None),
            Scheme::OneVersusOne => {
                let (first, second) = self.pairs[member];
                (second as u32, Some(first as u32))
            }
            _ => (member as u32, None),
        };
        BinaryProblem { class, against, ..self.problem(held_out) }
    }

    /// Returns the fits at each lambda, one per member, to the rows that are not held out. The members
    /// share the time.
    fn paths(
        &mut self,
        held_out: Option<usize>,
        lambdas: &[Lambda],
        deadline: Option<Instant>,
    ) -> Result<Vec<Vec<Fit>>, Error> {
        if self.scheme.is_joint() {
            let fits = self.joint_path(&self.problem(held_out), lambdas, deadline)?;
            return Ok(by_lambda(fits));
        }
        let count = self.problems.len();
        let shares = TimeShares::new(deadline, count, 1);
        let of_member = |member: usize| {
            self.path(member, &self.problem_of(member, held_out), lambdas, shares.begin())
        };
        let of_members: Result<_, Error> = (0..count).map(of_member).collect();
        Ok(by_lambda(of_members?))
    }

    fn path(
        &mut self,
        member: usize,
        problem: &BinaryProblem,
        lambdas: &[Lambda],
        deadline: Option<Instant>,
    ) -> Result<Vec<Fit>, Error> {
        let fits = self.solve(member, problem, deadline, |workers, training, points| {
            path_over_shards(workers, training, problem, lambdas, points)
        })?;
        match fits {
            Err(margins_optim::Error::OneClass(sign)) => self.without(&sign, problem, lambdas),
            fits => Ok(fits?),
        }
    }

    /// Returns what a function makes of one of the problems, given workers, settings and the points that are
    /// kept.
    fn solve<T>(
        &mut self,
        of_problem: usize,
        problem: &BinaryProblem,
        deadline: Option<Instant>,
        fit: impl FnOnce(
            &mut dyn Workers,
            &Training<'_, dyn MarginLoss>,
            Option<&dyn PointStore>,
        ) -> Result<T, margins_optim::Error>,
    ) -> Result<Result<T, margins_optim::Error>, Error> {
        let (settings, count, name) = (self.settings, &self.count, &self.problems[of_problem]);
        let observer = |made: &Observed<'_>| {
            let made = problem.held_out.map_or(*made, |fold| made.without(fold as usize));
            count.show(&made, name, None, None);
        };
        let standardize = self.standardize;
        let training = settings.training(self.table.rows(), deadline);
        let penalty = self.penalty.as_ref();
        let training = Training { observer: &observer, standardize, penalty, ..training };
        let fits = {
            let points = self.points.as_ref().map(|points| points.of(of_problem, problem.held_out));
            fit(&mut *self.workers, &training, points.as_deref())
        };
        if let Some(points) = &self.points {
            points.write()?;
        }
        Ok(fits)
    }

    /// Returns constant fits for a fold whose training samples lack those of a sign; an error with the
    /// name of the class where all samples lack it.
    fn without(
        &mut self,
        sign: &str,
        problem: &BinaryProblem,
        lambdas: &[Lambda],
    ) -> Result<Vec<Fit>, Error> {
        let class = problem.class as usize;
        let missing = match (sign, problem.against) {
            ("+1", _) => Some(class),
            (_, Some(other)) => Some(other as usize),
            (_, None) if self.scheme == Scheme::Binary => Some(0),
            // All samples are of the class: the other ones lack their own.
            (_, None) => None,
        };
        let Some(fold) = problem.held_out else {
            let classes = &self.table.classes;
            let of = |missing: usize| classes[missing].clone();
            let name = missing.map_or_else(|| format!("other than {}", classes[class]), of);
            return Err(margins_optim::Error::OneClass(name).into());
        };
        if let Some(missing) = missing {
            let last = self.untrained.entry(fold as usize).or_insert(missing);
            *last = missing.max(*last);
        }
        Ok(constant_fits(if sign == "+1" { -1.0 } else { 1.0 }, self.coefs(), lambdas))
    }

    /// Returns a sentence on the folds so far, of so many, that lack a class, if some do; refuses those
    /// that a fit in memory refuses.
    fn note_on_folds(&self, folds: usize) -> Result<Option<String>, Error> {
        let DataSummary { classes, class_rows, .. } = self.table;
        let of_fold = |(&fold, &class): (&usize, &usize)| {
            let fold = self.fold_name(fold);
            (class, margins_optim::Error::Fold { fold, class: classes[class].clone() })
        };
        let untrained = self.untrained.iter().map(of_fold).collect();
        note_on_untrained(untrained, folds, classes.len(), |class| class_rows[class])
    }

    /// Returns the name of a fold, or its number if the samples do not name it.
    fn fold_name(&self, fold: usize) -> String {
        self.table.folds.get(fold).cloned().unwrap_or_else(|| fold.to_string())
    }
}
