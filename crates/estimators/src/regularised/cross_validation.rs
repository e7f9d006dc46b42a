//! The settings of cross-validation.

use margins_data::metrics::Measure;
use margins_data::split::{Split, Splits, grouped_folds, stratified_folds};
use margins_data::{ClassLabels, Classes, Dataset};
use margins_losses::MarginLoss;
use margins_optim::path::untrained_classes;
use margins_optim::{DEFAULT_GRID, ErrorCurve, Lambda, lambda_grid};

use crate::Error;

/// The rule by which a classifier takes a lambda of a cross-validated path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Selection {
    /// The lambda of the lowest mean error; of several the largest.
    #[default]
    Best,
    /// The largest lambda whose mean error is within one standard error of the lowest.
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
}

/// How the fits without one sample are obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveOneOut {
    /// Each fit is solved exactly, starting at the fit to all samples.
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
    /// The lambdas to choose from; by default 100 from 1 down to 1e-7.
    pub lambdas: Vec<Lambda>,
    /// The number of folds, stratified by class and drawn by the seed. The folds of the data, if they
    /// have some, are distributed over so many folds. `None` takes the folds of the data, or
    /// [`DEFAULT_FOLDS`] if they have none.
    pub folds: Option<usize>,
    /// The splits of the rows, instead of folds; such as random, repeated or time series splits.
    pub splits: Option<Vec<Split>>,
    /// The measure by which lambda and the kernel are chosen. Of equal errors the one with the smaller
    /// log-loss is taken, where the loss has probabilities.
    pub measure: Measure,
    /// The rule.
    pub selection: Selection,
    /// True to leave lambdas that the earlier folds show to be hopeless out of the later ones; see
    /// [`error_curve`](margins_optim::error_curve).
    pub abandon_hopeless: bool,
    /// How one sample at a time is left out instead of a fold, if so: for two classes, and for
    /// kernels without approximation.
    pub leave_one_out: Option<LeaveOneOut>,
}

impl Default for CrossValidation {
    fn default() -> Self {
        let (from, to, count) = DEFAULT_GRID;
        CrossValidation {
            lambdas: lambda_grid(from, to, count).unwrap_or_default(),
            folds: None,
            splits: None,
            measure: Measure::default(),
            selection: Selection::default(),
            abandon_hopeless: false,
            leave_one_out: None,
        }
    }
}

impl CrossValidation {
    /// Refuses an empty list of lambdas, a number of folds below 2, folds beside leave-one-out or
    /// splits, and a measure that the loss or the other settings do not have.
    pub(super) fn check(&self, loss: &dyn MarginLoss) -> Result<(), Error> {
        Lambda::descending(&self.lambdas)?;
        let measure = self.measure;
        let by_other = measure != Measure::Error;
        let folds = self.folds.map(|count| format!("{count} folds"));
        let measured = by_other.then(|| format!("measure {measure}"));
        let given = |given: bool, name: &str| given.then(|| name.to_owned());
        let alone = given(self.leave_one_out.is_some(), "leave_one_out");
        let hopeless = given(self.abandon_hopeless, "abandon_hopeless");
        let splits = given(self.splits.is_some(), "splits");
        for (one, other, reason) in [
            (&folds, &alone, "every sample is a fold"),
            (&splits, &alone, "every sample is a fold"),
            (&folds, &splits, "leave one of them out"),
            (&hopeless, &alone, "no lambda is left out of single samples"),
            (&measured, &alone, "single samples are counted as errors"),
            (&measured, &hopeless, "lambdas are abandoned by their errors"),
        ] {
            if let (Some(one), Some(other)) = (one, other) {
                return Err(Error::contradiction(one.clone(), other.clone(), reason));
            }
        }
        if measure.needs_probabilities() && loss.probability(0.0).is_none() {
            let reason = "the measure needs probabilities, which the loss does not have";
            let loss = format!("loss {}", loss.specification());
            return Err(Error::contradiction(format!("measure {measure}"), loss, reason));
        }
        check_folds(self.folds)
    }

    /// Refuses the area under the curve for more than two classes.
    pub(super) fn check_classes(&self, count: usize) -> Result<(), Error> {
        if self.measure != Measure::Auc || count == 2 {
            return Ok(());
        }
        let reason =
            "the area under the curve needs two classes: choose balanced-error or log-loss";
        Err(Error::contradiction("measure auc".to_owned(), format!("{count} classes"), reason))
    }

    /// Returns the curve; refuses one whose measure is defined in no fold.
    pub(super) fn defined(&self, curve: ErrorCurve) -> Result<ErrorCurve, Error> {
        if !curve.mean_measure.iter().all(|value| value.is_nan()) {
            return Ok(curve);
        }
        let requirement =
            "one that is defined in a fold: no fold holds out samples of both classes";
        Err(Error::setting("the measure", &self.measure, requirement))
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
    /// The fold of every row, counted from 0; empty if there are other splits.
    pub of_rows: Vec<usize>,
    /// The splits, if the settings have given them.
    pub given: Option<Vec<Split>>,
    /// The number of folds or splits.
    pub count: usize,
    /// The seed that has drawn them; `None` if the data say them, or if every sample is one.
    pub seed: Option<u64>,
}

impl Folds {
    pub(super) fn new<Y: ClassLabels>(
        data: &Dataset<Y>,
        how: &CrossValidation,
        seed: u64,
    ) -> Result<Self, Error> {
        if let Some(splits) = &how.splits {
            let (given, count) = (Some(splits.clone()), splits.len());
            return Ok(Folds { of_rows: Vec::new(), given, count, seed: None });
        }
        if how.leave_one_out.is_some() {
            let count = data.rows();
            return Ok(Folds { of_rows: (0..count).collect(), given: None, count, seed: None });
        }
        let (of_rows, drawn) = folds_of(data, how.folds, seed)?;
        let count = of_rows.iter().max().map_or(0, |last| last + 1);
        Ok(Folds { of_rows, given: None, count, seed: drawn.then_some(seed) })
    }

    /// Returns a sentence on the folds that test on a class without training on it; `None` if there are
    /// none. Refuses folds that all do, and those of two classes unless the class has one row.
    pub(super) fn untrained_classes(
        &self,
        data: &Dataset<Classes>,
    ) -> Result<Option<String>, Error> {
        let classes = data.labels();
        let rows_of =
            |class: usize| classes.indices().iter().filter(|&&c| c as usize == class).count();
        let untrained = untrained_classes(data, self.splits())?;
        note_on_untrained(untrained, self.count, classes.names().len(), rows_of)
    }

    /// Returns the splits of the rows.
    pub fn splits(&self) -> Splits<'_> {
        self.given.as_deref().map_or(Splits::Folds(&self.of_rows), Splits::Each)
    }
}

/// Returns a sentence on the folds, among `folds`, that test on a class without training on it;
/// `untrained` has the class and the error of each. Returns `None` if it is empty.
///
/// # Errors
/// The first of these errors, if every fold lacks a class, or if there are two classes and the missing
/// one has more than one row.
pub(super) fn note_on_untrained(
    untrained: Vec<(usize, margins_optim::Error)>,
    folds: usize,
    classes: usize,
    rows_of: impl Fn(usize) -> usize,
) -> Result<Option<String>, Error> {
    let number = untrained.len();
    let is_refused = |class: usize| number == folds || classes == 2 && rows_of(class) > 1;
    match untrained.into_iter().next() {
        Some((class, error)) if is_refused(class) => Err(error.into()),
        Some((_, error)) => Ok(Some(format!(
            "{number} of {folds} folds misclassify every sample of a class at any lambda: {error}."
        ))),
        None => Ok(None),
    }
}

/// The default number of folds.
pub const DEFAULT_FOLDS: usize = 5;

/// Returns the cross-validation fold of every row: the folds of the data, [distributed](grouped_folds)
/// over the number of folds asked for if there is one; else so many stratified folds, or
/// [`DEFAULT_FOLDS`]. The second part is true if the seed has drawn them.
///
/// # Errors
/// A number that is less than 2, or more than the folds or the rows of the data.
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
