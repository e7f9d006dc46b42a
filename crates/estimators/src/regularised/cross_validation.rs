use margins_data::split::{grouped_folds, stratified_folds};
use margins_data::{ClassLabels, Dataset};
use margins_optim::{DEFAULT_GRID, ErrorCurve, Lambda, lambda_grid};

use crate::Error;

/// The rule by which a classifier takes a lambda of a cross-validated path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Selection {
    /// The lambda of the least mean error; of several the largest.
    #[default]
    Best,
    /// The largest lambda whose mean error is within one standard error of the least.
    OneStandardError,
}

impl Selection {
    /// Returns the index in the curve of the lambda that the rule takes.
    pub fn of(self, curve: &ErrorCurve) -> usize {
        match self {
            Selection::Best => curve.best,
            Selection::OneStandardError => curve.one_standard_error,
        }
    }

    /// Returns the index of the lambda that the rule takes among those whose fits are all
    /// certified, in a curve that a time limit cut short; if none is, among all.
    pub(crate) fn of_certified(self, curve: &ErrorCurve) -> usize {
        let certified = (0..curve.lambdas.len()).filter(|&k| curve.certified[k]);
        let error = |k: usize| curve.mean_error[k];
        let Some(best) = certified.clone().reduce(|a, b| if error(b) < error(a) { b } else { a })
        else {
            return self.of(curve);
        };
        match self {
            Selection::Best => best,
            Selection::OneStandardError => {
                let most = error(best) + curve.standard_error[best];
                certified.into_iter().find(|&k| error(k) <= most).unwrap_or(best)
            }
        }
    }
}

/// The way to get the fits without one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveOneOut {
    /// Each is fitted anew, from the fit to all samples.
    Exact,
    /// Each is one Newton step from the fit to all samples: an approximation.
    OneStep,
}

/// The settings of a choice of lambda by cross-validation.
///
/// ```
/// use margins_estimators::regularised::{CrossValidation, Selection};
/// use margins_optim::lambda_grid;
///
/// let how = CrossValidation {
///     lambdas: lambda_grid(1.0, 1e-4, 20)?,
///     folds: Some(10),
///     selection: Selection::OneStandardError,
///     ..CrossValidation::default()
/// };
/// assert_eq!(how.lambdas.len(), 20);
/// # Ok::<(), margins_optim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidation {
    /// The lambdas to choose from; 100 from 1 down to 1e-7 unless told.
    pub lambdas: Vec<Lambda>,
    /// The number of folds, stratified by class and drawn by the seed. The folds of the data, if they
    /// have some, are distributed over so many folds. `None` takes the folds of the data, or
    /// [`DEFAULT_FOLDS`] if they have none.
    pub folds: Option<usize>,
    /// The rule.
    pub selection: Selection,
    /// True to leave lambdas that the earlier folds show to be hopeless out of the later ones; see
    /// [`error_curve`](margins_optim::error_curve).
    pub abandon_hopeless: bool,
    /// The way to leave one sample out at a time in the place of a fold: for two classes, and for
    /// kernels without approximation.
    pub leave_one_out: Option<LeaveOneOut>,
}

impl Default for CrossValidation {
    fn default() -> Self {
        let (from, to, count) = DEFAULT_GRID;
        CrossValidation {
            lambdas: lambda_grid(from, to, count).unwrap_or_default(),
            folds: None,
            selection: Selection::default(),
            abandon_hopeless: false,
            leave_one_out: None,
        }
    }
}

impl CrossValidation {
    /// Refuses an empty list of lambdas, a number of folds below 2, and folds beside leave-one-out.
    pub(super) fn check(&self) -> Result<(), Error> {
        Lambda::descending(&self.lambdas)?;
        match (self.folds, self.leave_one_out, self.abandon_hopeless) {
            (Some(count), Some(_), _) => Err(Error::contradiction(
                format!("{count} folds"),
                "leave_one_out".to_owned(),
                "every sample is a fold",
            )),
            (None, Some(_), true) => Err(Error::contradiction(
                "abandon_hopeless".to_owned(),
                "leave_one_out".to_owned(),
                "no lambda is left out of single samples",
            )),
            (folds, ..) => check_folds(folds),
        }
    }
}

/// Refuses a number of folds below 2.
pub(super) fn check_folds(folds: Option<usize>) -> Result<(), Error> {
    match folds {
        Some(count) if count < 2 => {
            Err(Error::setting("the number of folds", &count, "at least 2"))
        }
        _ => Ok(()),
    }
}

/// The folds of a cross-validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    /// The fold of every row, counted from 0.
    pub of_rows: Vec<usize>,
    /// The number of folds.
    pub count: usize,
    /// The seed that has drawn them; `None` if the data say them, or if every sample is one.
    pub seed: Option<u64>,
}

impl Folds {
    /// Returns the folds that the settings ask for.
    pub(super) fn new<Y: ClassLabels>(
        data: &Dataset<Y>,
        how: &CrossValidation,
        seed: u64,
    ) -> Result<Self, Error> {
        if how.leave_one_out.is_some() {
            let count = data.rows();
            return Ok(Folds { of_rows: (0..count).collect(), count, seed: None });
        }
        let (of_rows, drawn) = folds_of(data, how.folds, seed)?;
        let count = of_rows.iter().max().map_or(0, |last| last + 1);
        Ok(Folds { of_rows, count, seed: drawn.then_some(seed) })
    }
}

/// The number of folds unless told.
pub const DEFAULT_FOLDS: usize = 5;

/// Returns the cross-validation fold of every row: the folds of the data, [distributed](grouped_folds)
/// over the number of folds asked for if there is one; else so many stratified folds, or
/// [`DEFAULT_FOLDS`]. The second part is true if the seed has drawn them.
///
/// # Errors
/// A number that is less than 2, or more than the folds of the data or than the size of the smallest
/// class.
pub fn folds_of<Y: ClassLabels>(
    data: &Dataset<Y>,
    count: Option<usize>,
    seed: u64,
) -> Result<(Vec<usize>, bool), Error> {
    match (data.folds(), count) {
        (Some(groups), Some(count)) => {
            Ok((grouped_folds(data.labels(), groups, count, seed)?, true))
        }
        (Some(folds), None) => Ok((folds.to_vec(), false)),
        (None, count) => {
            let folds = stratified_folds(data.labels(), count.unwrap_or(DEFAULT_FOLDS), seed)?;
            Ok((folds, true))
        }
    }
}
