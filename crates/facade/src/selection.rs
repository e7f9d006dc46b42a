use margins_data::split::stratified_folds;
use margins_data::{ClassLabels, Dataset};
use margins_optim::{DEFAULT_GRID, ErrorCurve, Lambda, lambda_grid};

use crate::Error;

/// Which lambda of a cross-validated path a classifier takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Selection {
    /// That of the least mean error; of several the largest.
    #[default]
    Best,
    /// The largest whose mean error is within one standard error of the least.
    OneStandardError,
}

impl Selection {
    /// Its index in the curve.
    pub fn of(self, curve: &ErrorCurve) -> usize {
        match self {
            Selection::Best => curve.best,
            Selection::OneStandardError => curve.one_standard_error,
        }
    }

    /// Its index among the lambdas whose fits are all certified, in a curve that a time limit cut short; if none is,
    /// its index among all.
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

/// How lambda is chosen by cross-validation.
///
/// ```
/// use margins::{CrossValidation, Selection};
/// use margins::optim::lambda_grid;
///
/// let how = CrossValidation {
///     lambdas: lambda_grid(1.0, 1e-4, 20)?,
///     folds: Some(10),
///     selection: Selection::OneStandardError,
///     ..CrossValidation::default()
/// };
/// assert_eq!(how.lambdas.len(), 20);
/// # Ok::<(), margins::optim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidation {
    /// The lambdas to choose from; 100 from 1 down to 1e-7 unless told.
    pub lambdas: Vec<Lambda>,
    /// The number of folds, stratified by class and drawn by the seed of the builder; the folds of the data unless
    /// told, [`DEFAULT_FOLDS`] if they have none.
    pub folds: Option<usize>,
    /// The rule.
    pub selection: Selection,
    /// Whether lambdas that the earlier folds show to be hopeless are left out of the later ones; see
    /// [`error_curve`](margins_optim::error_curve).
    pub abandon_hopeless: bool,
}

impl Default for CrossValidation {
    fn default() -> Self {
        let (from, to, count) = DEFAULT_GRID;
        CrossValidation {
            lambdas: lambda_grid(from, to, count).unwrap_or_default(),
            folds: None,
            selection: Selection::default(),
            abandon_hopeless: false,
        }
    }
}

/// The number of folds unless told.
pub const DEFAULT_FOLDS: usize = 5;

/// The cross-validation fold of every row: stratified ones of the number asked for, else those of the data, else
/// [`DEFAULT_FOLDS`] stratified ones. The second part says whether the seed has drawn them.
///
/// # Errors
/// A number of folds for data that have folds already; a number that is less than 2 or more than the size of the
/// smallest class.
pub fn folds_of<Y: ClassLabels>(
    data: &Dataset<Y>,
    count: Option<usize>,
    seed: u64,
) -> Result<(Vec<usize>, bool), Error> {
    match (data.folds(), count) {
        (Some(_), Some(count)) => Err(Error::Contradiction {
            one: format!("{count} folds"),
            other: "the folds of the data".to_owned(),
            reason: "leave one of them out",
        }),
        (Some(folds), None) => Ok((folds.to_vec(), false)),
        (None, count) => {
            let folds = stratified_folds(data.labels(), count.unwrap_or(DEFAULT_FOLDS), seed)?;
            Ok((folds, true))
        }
    }
}
