//! Fits of contests, and how these together decide the classes of rows held out.

use margins_calibration::probability::PlattScaling;
use margins_data::split::Splits;
use margins_data::{ClassLabels, parallel};
use margins_losses::MarginLoss;
use margins_model::Scheme;
use margins_optim::path::TimeShares;
use margins_optim::problem::JointForm;
use margins_optim::{
    ErrorCurve, Fit, FoldRows, Lambda, Observed, Options, Report, Training, held_out_curve,
};
use nalgebra::DMatrix;

use super::{Contest, Contests};
use crate::Error;
use crate::regularised::judge::Judge;
use crate::regularised::platt::platt_scaling;
use crate::regularised::prepared::{Prepared, constant_fits};

/// The most scores that are held at the same time; so few in tests that rows take several turns.
const SCORES: usize = if cfg!(test) { 100 } else { 1 << 20 };

/// Returns the number of rows whose scores under so many fits are held at the same time.
fn rows_at_a_time(fits: usize) -> usize {
    (SCORES / fits.max(1)).max(1)
}

/// A function that sees every fit of a contest, given by its index; the observer of the training
/// sees none.
type Watcher<'a> = dyn Fn(usize, &Observed<'_>) + Sync + 'a;

/// Contests in a space, with the settings of their fits.
#[derive(Clone, Copy)]
pub(in crate::regularised) struct Fitting<'a> {
    pub(in crate::regularised) contests: &'a Contests,
    pub(in crate::regularised) prepared: &'a Prepared<'a>,
    pub(in crate::regularised) training: &'a Training<'a, dyn MarginLoss>,
    pub(in crate::regularised) watcher: &'a Watcher<'a>,
}

/// Returns the form of the problem of a scheme that fits all classes at once.
pub(in crate::regularised) fn form_of(scheme: Scheme) -> Option<JointForm> {
    match scheme {
        Scheme::Joint => Some(JointForm::Pairwise),
        Scheme::Multinomial => Some(JointForm::Multinomial),
        Scheme::CrammerSinger => Some(JointForm::CrammerSinger),
        _ => None,
    }
}

/// Returns paths without the lambdas that some of them end before.
fn equally_long(mut paths: Vec<Vec<Fit>>) -> Vec<Vec<Fit>> {
    let shortest = paths.iter().map(Vec::len).min().unwrap_or(0);
    paths.iter_mut().for_each(|path| path.truncate(shortest));
    paths
}

impl<'a> Fitting<'a> {
    /// Returns fits that no function sees.
    pub(in crate::regularised) fn unseen(
        contests: &'a Contests,
        prepared: &'a Prepared<'a>,
        training: &'a Training<'a, dyn MarginLoss>,
    ) -> Self {
        Fitting { contests, prepared, training, watcher: &|_, _| {} }
    }

    /// Returns the fits of every contest at every lambda, largest first, to the rows named or to
    /// all, up to the end of the shortest path. After the first one, a contest that begins after the
    /// deadline has the origin for its fits.
    pub(in crate::regularised) fn paths(
        &self,
        rows: Option<&[usize]>,
        lambdas: &[Lambda],
    ) -> Result<Vec<Vec<Fit>>, Error> {
        let Fitting { contests, prepared, training, .. } = *self;
        let origin = || training.origin(&contests.first, prepared.coefficients(), lambdas);
        let paths = self.paths_in_time(rows, lambdas)?;
        Ok(equally_long(paths.into_iter().map(|path| path.unwrap_or_else(origin)).collect()))
    }

    /// Returns the fits of every contest; `None` for one but the first that begins after the deadline.
    /// Contests run in parallel, share the time, and share their rows where all take part.
    fn paths_in_time(
        &self,
        rows: Option<&[usize]>,
        lambdas: &[Lambda],
    ) -> Result<Vec<Option<Vec<Fit>>>, Error> {
        let Fitting { contests, prepared, training, watcher } = *self;
        if let Some(form) = form_of(contests.scheme) {
            let observer = |made: &Observed<'_>| watcher(0, made);
            let training = &Training { observer: &observer, ..*training };
            let paths =
                prepared.subset(rows).joint_path(training, form, &contests.data, lambdas)?;
            return Ok(paths.into_iter().map(Some).collect());
        }
        let all_take_part = contests.scheme != Scheme::OneVersusOne;
        let shared = all_take_part.then(|| prepared.subset(rows));
        let by_class = if all_take_part { Vec::new() } else { contests.rows_by_class(rows) };
        let shares =
            TimeShares::new(training.options.deadline, contests.len(), parallel::threads());
        parallel::try_map_large(0..contests.len(), |member| {
            let deadline = shares.begin();
            if member > 0 && training.options.is_late() {
                return Ok(None);
            }
            let contest = &contests.each[member];
            let observer = |made: &Observed<'_>| watcher(member, made);
            let options = Options { deadline, ..training.options };
            let training = &Training { observer: &observer, options, ..*training };
            let learner = contests.learner.as_ref();
            let path = match (&shared, prepared.linear_design()) {
                (Some(subset), _) => {
                    subset.path(training, learner, &*contests.data_of(member)?, lambdas)
                }
                (None, Some(design)) => {
                    // All rows take longer to label for each pair than those of a pair to fit.
                    let own = contest.rows(&by_class).unwrap_or_default();
                    let weights = contests.first.weights();
                    let weighs = |row: &usize| weights.is_none_or(|weights| weights[*row] > 0.0);
                    if !own.iter().any(weighs) {
                        let all = prepared.coefficients();
                        return Ok(Some(constant_fits(-1.0, all, lambdas)));
                    }
                    let mut pair = contests.first.select_as(&own, design.select(&own))?;
                    if let Some(names) = prepared.feature_names() {
                        pair = pair.with_feature_names(names.to_vec())?;
                    }
                    let pair =
                        pair.relabelled(contest.labels(contests.data.labels(), Some(&own)))?;
                    Prepared::linear(&pair).subset(None).path(training, learner, &pair, lambdas)
                }
                (None, None) => {
                    let own = contest.rows(&by_class);
                    let subset = prepared.subset(own.as_deref());
                    subset.path(training, learner, &*contests.data_of(member)?, lambdas)
                }
            };
            path.map(Some)
        })
    }

    pub(in crate::regularised) fn fits(
        &self,
        rows: Option<&[usize]>,
        lambdas: &[Lambda],
    ) -> Result<Vec<Fit>, Error> {
        let paths = self.paths(rows, lambdas)?;
        Ok(paths.into_iter().filter_map(|mut path| path.pop()).collect())
    }

    /// Returns the cross-validated error along the lambdas of the class that all contests together
    /// decide.
    pub(in crate::regularised) fn cross_validate(
        &self,
        splits: Splits<'_>,
        lambdas: &[Lambda],
    ) -> Result<ErrorCurve, Error> {
        let Fitting { contests, prepared, training, watcher } = *self;
        let (scheme, data) = (contests.scheme, &contests.data);
        held_out_curve(training, data, splits, lambdas, |fold, lambdas, deadline| {
            let FoldRows { fold, rows, held_out: test } = fold;
            let options = Options { deadline, ..training.options };
            let training = &Training { options, ..*training };
            let of_fold = |member: usize, made: &Observed<'_>| {
                watcher(member, &made.without(fold));
            };
            let learned = prepared.learned_on(rows)?;
            let prepared = learned.as_ref().unwrap_or(prepared);
            let fitting = Fitting { contests, prepared, training, watcher: &of_fold };
            let paths = fitting.paths_in_time(Some(rows), lambdas)?;
            let Some(paths) = paths.into_iter().collect::<Option<Vec<_>>>().map(equally_long)
            else {
                return Ok(Vec::new());
            };
            let judge = || Judge::new(training, scheme, data);
            let mut judges: Vec<_> = paths[0].iter().map(|_| judge()).collect();
            for rows in test.chunks(rows_at_a_time(paths.len() * judges.len())) {
                let scores = paths.iter().map(|fits| prepared.scores_of(fits, rows));
                let scores: Vec<Vec<Vec<f64>>> = scores.collect::<Result<_, Error>>()?;
                for (k, judge) in judges.iter_mut().enumerate() {
                    for (t, &row) in rows.iter().enumerate() {
                        let of_row: Vec<f64> = scores.iter().map(|scores| scores[k][t]).collect();
                        judge.add(row, &of_row);
                    }
                }
            }
            let of_lambda = |(k, judge): (usize, Judge<'_, dyn MarginLoss>)| {
                let reports: Vec<&Report> = paths.iter().map(|fits| &fits[k].report).collect();
                judge.held_out(test, &reports)
            };
            Ok(judges.into_iter().enumerate().map(of_lambda).collect())
        })
    }

    /// Calls `take` for some rows after others, with the scores that they get from the fits at the last
    /// of the lambdas to the rows of the other folds, one list a contest.
    fn each_held_out(
        &self,
        folds: &[usize],
        lambdas: &[Lambda],
        take: impl FnMut(&[usize], Vec<Vec<f64>>),
    ) -> Result<(), Error> {
        let fits = |prepared: &Prepared<'_>, train: &[usize]| {
            Fitting { prepared, ..*self }.fits(Some(train), lambdas)
        };
        self.prepared.each_held_out(folds, rows_at_a_time(self.contests.len()), fits, take)
    }

    /// Returns the scores of all rows from fits at the last of the lambdas to the rows of the other
    /// folds: a row per sample, a column per contest.
    pub(in crate::regularised) fn held_out_scores(
        &self,
        folds: &[usize],
        lambdas: &[Lambda],
    ) -> Result<DMatrix<f64>, Error> {
        let mut all = DMatrix::zeros(self.contests.data.rows(), self.contests.len());
        self.each_held_out(folds, lambdas, |rows, scores| {
            for (contest, scores) in scores.iter().enumerate() {
                rows.iter().zip(scores).for_each(|(&row, &score)| all[(row, contest)] = score);
            }
        })?;
        Ok(all)
    }

    /// Returns the Platt scaling of every contest, by the scores that its rows get when their fold
    /// is held out, from fits at the last of the lambdas. A sample of weight k counts as k samples;
    /// costs of classes are for the fits alone.
    pub(in crate::regularised) fn platt(
        &self,
        folds: &[usize],
        lambdas: &[Lambda],
    ) -> Result<Vec<PlattScaling>, Error> {
        let Contests { data, each, .. } = self.contests;
        let labels = data.labels();
        // The rows that take part in each contest, with their scores.
        let mut scored: Vec<Vec<(usize, f64)>> = vec![Vec::new(); each.len()];
        self.each_held_out(folds, lambdas, |rows, scores| {
            for ((contest, scored), scores) in each.iter().zip(&mut scored).zip(scores) {
                let own = rows.iter().copied().zip(scores);
                scored.extend(own.filter(|&(row, _)| contest.has(labels.index(row))));
            }
        })?;
        let scale = |(contest, mut scored): (&Contest, Vec<(usize, f64)>)| {
            scored.sort_unstable_by_key(|&(row, _)| row);
            let (rows, scores): (Vec<usize>, Vec<f64>) = scored.into_iter().unzip();
            let own = contest.data(data)?;
            let of = |values: &[f64]| -> Vec<f64> { rows.iter().map(|&row| values[row]).collect() };
            let weights = data.own_weights().map(of);
            platt_scaling(&scores, &of(own.labels().signs()), weights.as_deref())
        };
        each.iter().zip(scored).map(scale).collect()
    }
}
