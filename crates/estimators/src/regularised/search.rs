//! The search for lambda, among several spaces of functions and several losses.

mod tried;

use std::borrow::Cow;
use std::time::Instant;

use margins_data::split::Splits;
use margins_data::{Dataset, Memory, parallel};
use margins_kernels::PlannedPaths;
use margins_losses::MarginLoss;
use margins_optim::method::is_over;
use margins_optim::path::untrained_classes;
use margins_optim::{ErrorCurve, FinishedFolds, Fit, Lambda, Observed, Options, Training};

use super::contests::{Contests, Fitting};
use super::cross_validation::{CrossValidation, Folds};
use super::prepared::{Preparation, Prepared, approach_to};
use super::progress::Count;
use super::report::CandidateReport;
use super::settings::{ClassifierSettings, Regularisation};
use super::space::FunctionSpace;
use super::time_limit::TimeLimit;
use crate::Error;
pub(super) use tried::is_better;
use tried::{Tried, reports};

/// The finished folds of a cross-validation, in a file.
pub(super) trait FoldFile: Sync {
    /// Returns the folds that are finished with the loss in the space.
    fn of<'k>(
        &'k self,
        loss: &dyn MarginLoss,
        space: &'k FunctionSpace,
    ) -> Box<dyn FinishedFolds + 'k>;
}

/// The loss, the space and the lambda that a search has selected.
pub(super) struct Selected<'s, 'd> {
    /// The settings with the selected loss alone.
    pub(super) settings: Cow<'s, ClassifierSettings>,
    /// The data in that space.
    pub(super) prepared: Prepared<'d>,
    /// The lambdas of warm starts; the last is the one selected.
    pub(super) approach: Vec<Lambda>,
    /// The fits on all rows: at each lambda of a path, or at the one selected alone, one per contest.
    pub(super) path: Vec<Vec<Fit>>,
    /// The error along the lambdas of a cross-validation.
    pub(super) curve: Option<ErrorCurve>,
    /// The losses that there were to choose from, if there were several.
    pub(super) losses: Vec<CandidateReport>,
    /// The kernels that there were to choose from with the selected loss, if there were several.
    pub(super) kernels: Vec<CandidateReport>,
}

/// A space with the ends of the searches in it, each with the index of its loss.
type InSpace<'d> = (Prepared<'d>, Vec<(usize, Found)>);

/// The end of the search for lambda in one space.
pub(super) struct Found {
    pub(super) approach: Vec<Lambda>,
    /// The fits on all rows, if they came with the search: those of the best space alone are needed.
    pub(super) path: Option<Vec<Vec<Fit>>>,
    pub(super) curve: Option<ErrorCurve>,
}

/// A search for lambda in one space, whose rows are in memory or on workers.
pub(super) trait Search {
    /// Returns the fits at every one of the lambdas, of which the last is the one selected.
    fn along(&mut self, approach: Vec<Lambda>) -> Result<Found, Error>;

    /// Returns the lambda that a cross-validation selects.
    fn cross_validate(&mut self, how: &CrossValidation) -> Result<Found, Error>;

    /// Returns the lambda that is given or selected.
    fn by(&mut self, choice: &Regularisation) -> Result<Found, Error> {
        match choice {
            Regularisation::CrossValidated(how) => self.cross_validate(how),
            Regularisation::Path { lambdas, index } => {
                self.along(Lambda::descending(lambdas)?[..=*index].to_vec())
            }
            Regularisation::Single(lambda) => self.along(vec![*lambda]),
        }
    }
}

/// The search for lambda in one space, on rows in memory.
struct InMemory<'a> {
    /// The fits, with the deadline of the last one.
    fitting: Fitting<'a>,
    folds: Option<&'a Folds>,
    /// The folds that are finished in this space, if they are kept.
    kept: Option<&'a dyn FinishedFolds>,
    limit: Option<TimeLimit>,
}

/// The data that the searches in all spaces with all losses share.
struct Common<'a, 'd> {
    settings: &'a ClassifierSettings,
    /// The settings with each loss alone.
    alone: &'a [Cow<'a, ClassifierSettings>],
    contests: &'d Contests,
    folds: Option<&'a Folds>,
    /// The names of the contests.
    members: &'a [String],
    /// The fits that the observer has seen.
    count: Count<'a>,
    /// The memory for the matrix of a kernel.
    memory: Option<Memory>,
    /// The paths of the search in a space.
    planned: PlannedPaths,
    /// The folds that are finished, if they are kept.
    kept: Option<&'a (dyn FoldFile + 'a)>,
}

impl<'d> Common<'_, 'd> {
    /// Returns the space with the ends of the searches in it, each with the index of its loss. Searches
    /// whose time is over are missing, and so is the space if there was no time to prepare it. The best
    /// error is that of the spaces searched before.
    fn search(
        &self,
        space: &FunctionSpace,
        limit: Option<TimeLimit>,
        best_error: Option<f64>,
    ) -> Result<Option<InSpace<'d>>, Error> {
        let Common { settings, contests, alone, .. } = *self;
        let of_search = |limit: TimeLimit| match settings.regularisation {
            Regularisation::CrossValidated(_) => limit.of_folds(),
            _ => limit.of_fit(),
        };
        let deadline = limit.map_or(settings.options.deadline, of_search);
        let prepared =
            match settings.prepare(space, contests.any(), self.memory, self.planned, deadline) {
                Err(Error::Kernels(error)) if error.is_interrupted() && is_over(deadline) => {
                    return Ok(None);
                }
                prepared => prepared?,
            };
        let mut ends = Vec::new();
        for (loss, settings) in alone.iter().enumerate() {
            let limit = limit.map(|limit| limit.part(loss, alone.len()));
            match self.search_with(settings, (space, &prepared), limit, best_error) {
                Ok(found) => ends.push((loss, found)),
                Err(Error::TimeLimit(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some((prepared, ends)))
    }

    /// Returns the end of the search with one loss in a space.
    fn search_with(
        &self,
        settings: &ClassifierSettings,
        (space, prepared): (&FunctionSpace, &Prepared<'d>),
        limit: Option<TimeLimit>,
        best_error: Option<f64>,
    ) -> Result<Found, Error> {
        let Common { contests, folds, .. } = *self;
        let watcher = |member: usize, made: &Observed<'_>| {
            self.count.show(made, &self.members[member], space.kernel(), best_error);
        };
        let kept = self.kept.map(|kept| kept.of(&*settings.loss, space));
        let deadline = limit.and_then(|limit| limit.of_fit());
        let training = &settings.training(contests.any().rows(), deadline);
        let mut search = InMemory {
            fitting: Fitting { contests, prepared, training, watcher: &watcher },
            folds,
            kept: kept.as_deref(),
            limit,
        };
        search.by(&settings.regularisation)
    }
}

impl ClassifierSettings {
    /// Returns no finished folds: there are no files of them in this build.
    #[cfg(not(feature = "serde"))]
    fn kept_folds(
        &self,
        _: &Dataset<margins_data::Classes>,
        _: Option<&Folds>,
    ) -> Result<Option<Box<dyn FoldFile + '_>>, Error> {
        Ok(None)
    }

    /// Returns the best loss and space with the fits at the lambda selected there. Each space is prepared
    /// once, for all losses.
    pub(super) fn search<'d>(
        &self,
        contests: &'d Contests,
        folds: Option<&Folds>,
        limit: Option<TimeLimit>,
    ) -> Result<Selected<'_, 'd>, Error> {
        let spaces = self.spaces_for(contests.any())?;
        let mut alone = self.with_each_loss();
        let members = contests.problems();
        let searches = spaces.len() * alone.len();
        let total = searches * self.fits_at_most(&spaces, (contests.len(), members.len()), folds);
        let kept = self.kept_folds(contests.classes(), folds)?;
        // Measured once: free memory changes while kernels are at work, and with it which matrices are held.
        let memory = self.memory_of_matrix(spaces.len());
        let at_once = self.spaces_at_once(contests, folds, memory).clamp(1, spaces.len().max(1));
        let others = if spaces.len() > 1 { at_once } else { 0 };
        let planned = self.planned_paths(contests, folds, others);
        let common = Common {
            settings: self,
            alone: &alone,
            contests,
            folds,
            members: &members,
            count: self.progress.count(total),
            memory,
            planned,
            kept: kept.as_deref(),
        };
        let groups = spaces.len().div_ceil(at_once);
        let mut tried = Tried::new(spaces.len(), alone.len());
        for (place, group) in spaces.chunks(at_once).enumerate() {
            let limit = limit.map(|limit| limit.part(place, groups));
            let best_error = tried.best.as_ref().and_then(|(_, (_, found))| found.least_error());
            let searched =
                parallel::try_map(0..group.len(), |i| common.search(&group[i], limit, best_error))?;
            searched.into_iter().flatten().for_each(|(prepared, ends)| tried.add(prepared, ends));
        }
        let late = || match self.regularisation {
            Regularisation::CrossValidated(_) => {
                Error::TimeLimit(self.time_limit.unwrap_or_default())
            }
            _ => Error::Unprepared(self.time_limit.unwrap_or_default()),
        };
        let (prepared, (loss, Found { approach, path, curve })) = tried.best.ok_or_else(late)?;
        let losses =
            if self.or_losses.is_empty() { Vec::new() } else { reports(&alone, tried.curves) };
        let settings = alone.swap_remove(loss);
        let path = match path {
            Some(path) => path,
            None => vec![settings.last_fits(contests, &prepared, limit, &approach)?],
        };
        let kernels = tried.kernels.swap_remove(loss);
        Ok(Selected { settings, prepared, approach, path, curve, losses, kernels })
    }

    /// Returns the number of kernels that are searched at the same time: so many that their folds and
    /// contests keep all threads busy, as far as their matrices fit in the memory beside that of the
    /// best kernel so far and the folds at work. Kernels that share a limit on time come one after the
    /// other.
    fn spaces_at_once(
        &self,
        contests: &Contests,
        folds: Option<&Folds>,
        memory: Option<Memory>,
    ) -> usize {
        /// The tasks for each thread that leave it without one for a small part of the time.
        const TASKS: usize = 4;
        /// The bytes an entry of a matrix, in both precisions.
        const BYTES: usize = size_of::<f64>() + size_of::<f32>();
        let (Some(folds), Some(memory), None) = (folds, memory, self.time_limit) else { return 1 };
        let (rows, threads) = (contests.any().rows(), parallel::threads());
        let tasks = (folds.count * contests.len()).max(1);
        let wanted = (TASKS * threads).div_ceil(tasks).min(threads);
        let matrix = rows.saturating_mul(rows).saturating_mul(BYTES).max(1);
        wanted.min((memory.bytes() / matrix).saturating_sub(1 + threads))
    }

    /// Returns the fits on all rows at the last of the lambdas.
    pub(super) fn last_fits(
        &self,
        contests: &Contests,
        prepared: &Prepared<'_>,
        limit: Option<TimeLimit>,
        approach: &[Lambda],
    ) -> Result<Vec<Fit>, Error> {
        let deadline = limit.and_then(|limit| limit.of_fit());
        let training = self.training(contests.any().rows(), deadline);
        Fitting::unseen(contests, prepared, &training).fits(None, approach)
    }

    /// Returns the data made ready for the space.
    pub(super) fn prepare<'d>(
        &self,
        space: &FunctionSpace,
        data: &'d Dataset,
        memory: Option<Memory>,
        planned: PlannedPaths,
        deadline: Option<Instant>,
    ) -> Result<Prepared<'d>, Error> {
        match space {
            FunctionSpace::Linear => Ok(Prepared::linear(data)),
            FunctionSpace::Kernel { specification, approximation } => {
                let preparation = Preparation {
                    approximation: *approximation,
                    memory,
                    standardize: self.standardize,
                    seed: self.seed,
                    deadline,
                    planned,
                    solver: self.options.solver,
                    penalty_factors: self.penalty_factors.clone(),
                };
                Prepared::for_kernel(specification, &self.kernels.registry, data, preparation)
            }
        }
    }

    /// Returns the most fits that the observer can see in one space, of so many contests in so many
    /// problems.
    fn fits_at_most(
        &self,
        spaces: &[FunctionSpace],
        (contests, problems): (usize, usize),
        folds: Option<&Folds>,
    ) -> usize {
        let each = match &self.regularisation {
            Regularisation::CrossValidated(how) if how.leave_one_out.is_some() => how.lambdas.len(),
            Regularisation::CrossValidated(how) => {
                // The path on all rows is one of those for two classes in terms of features.
                let all = contests == 1 && spaces.iter().all(FunctionSpace::has_features);
                how.lambdas.len() * (folds.map_or(0, |folds| folds.count) + usize::from(all))
            }
            Regularisation::Path { index, .. } => index + 1,
            Regularisation::Single(_) => 1,
        };
        each * problems
    }
}

/// Returns the fits of several members at each lambda, one per member, up to the end of the shortest
/// path.
pub(super) fn by_lambda(of_members: Vec<Vec<Fit>>) -> Vec<Vec<Fit>> {
    let count = of_members.iter().map(Vec::len).min().unwrap_or(0);
    let mut path = vec![Vec::new(); count];
    for fits in of_members {
        path.iter_mut().zip(fits).for_each(|(at, fit): (&mut Vec<Fit>, Fit)| at.push(fit));
    }
    path
}

impl Search for InMemory<'_> {
    fn along(&mut self, approach: Vec<Lambda>) -> Result<Found, Error> {
        let of_members = self.fitting.paths(None, &approach)?;
        Ok(Found { approach, path: Some(by_lambda(of_members)), curve: None })
    }

    fn cross_validate(&mut self, how: &CrossValidation) -> Result<Found, Error> {
        let InMemory { fitting, limit, .. } = *self;
        let Fitting { contests, prepared, training, watcher } = fitting;
        let observer = |made: &Observed<'_>| watcher(0, made);
        let options = training.options;
        let deadline = limit.map_or(options.deadline, |limit| limit.of_folds());
        let training = &Training {
            options: Options { deadline, ..options },
            measure: how.measure,
            abandon_hopeless: how.abandon_hopeless,
            finished: self.kept,
            observer: &observer,
            ..*training
        };
        let (splits, lambdas, is_one) = (self.splits(), &how.lambdas, contests.len() == 1);
        let (mut curve, fits) = match how.leave_one_out {
            Some(method) if is_one => prepared.leave_one_out(training, lambdas, method)?,
            Some(_) => return Err(Error::LeaveOneOut),
            None if is_one && !self.lacks_a_class()? => {
                prepared.cross_validate(training, splits, lambdas)?
            }
            None => (Fitting { training, ..fitting }.cross_validate(splits, lambdas)?, None),
        };
        let is_late = limit.is_some_and(|limit| limit.is_late());
        let leaves_one_out = how.leave_one_out.is_some();
        if is_late && leaves_one_out {
            let is_certified = curve.certified.clone();
            curve.leave_out(|k| !is_certified[k]);
        }
        let at = TimeLimit::choose(limit, how.selection, &curve)?;
        // Beside folds the fits of all rows ended with their time, and have more for themselves.
        let fits = fits.filter(|_| leaves_one_out || !is_late);
        let path = fits.map(|mut fits| vec![vec![fits.swap_remove(at)]]);
        if options.solver.ends_paths() && path.is_none() {
            return self.choose_on_path(how, curve);
        }
        let approach = approach_to(&curve.lambdas, at);
        Ok(Found { approach, path, curve: Some(how.defined(curve)?) })
    }
}

impl InMemory<'_> {
    /// Returns the fits at the lambda that the rule takes among those that the path on all rows reaches.
    fn choose_on_path(&self, how: &CrossValidation, mut curve: ErrorCurve) -> Result<Found, Error> {
        let mut path = by_lambda(self.fitting.paths(None, &curve.lambdas)?);
        curve.leave_out(|k| k >= path.len());
        let at = how.selection.of(&curve);
        let (approach, path) = (curve.lambdas[..=at].to_vec(), Some(vec![path.swap_remove(at)]));
        Ok(Found { approach, path, curve: Some(how.defined(curve)?) })
    }

    /// Returns true if all samples, or the training samples of a fold, are of one class; contests take
    /// constants then.
    fn lacks_a_class(&self) -> Result<bool, Error> {
        let untrained = untrained_classes(self.fitting.contests.any(), self.splits())?;
        Ok(self.fitting.contests.first_is_decided() || !untrained.is_empty())
    }

    /// Returns the splits of the rows.
    fn splits(&self) -> Splits<'_> {
        self.folds.map_or(Splits::Folds(&[]), Folds::splits)
    }
}
