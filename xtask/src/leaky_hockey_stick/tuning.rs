//! A trial: both classifiers tuned on the same folds and tested on the same samples.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use margins::Registry;
use margins::data::Dataset;
use margins::data::metrics::error_rate;
use margins::estimators::regularised::{
    ClassifierSettings, CrossValidation, KernelChoice, Regularisation,
};
use margins::losses::{Hinge, LeakyHockeyStick, MarginLoss};
use margins::optim::{self, DEFAULT_GRID, Lambda, Options, lambda_grid};

use crate::Failure;

/// The number of folds of the cross-validation.
pub(crate) const FOLDS: usize = 5;

/// The most steps of a support vector machine at one lambda, with which the source stops both
/// algorithms; without a limit a linear SVM at the smallest lambdas takes minutes.
pub(crate) const MACHINE_STEPS: usize = 100_000;

/// The relative duality gap that a support vector machine is to reach. An error rate does not see
/// more digits.
const MACHINE_TOLERANCE: f64 = 1e-3;

/// The samples of a trial.
pub(crate) struct Samples {
    pub(crate) train: Dataset,
    pub(crate) test: Dataset,
    /// The seed of the folds and, in large samples, of the pairs whose distances give sigma.
    pub(crate) seed: u64,
}

/// The functions that a classifier is chosen from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Linear,
    Gaussian,
}

impl Space {
    pub(crate) const BOTH: [Space; 2] = [Space::Linear, Space::Gaussian];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Space::Linear => "linear",
            Space::Gaussian => "Gaussian",
        }
    }

    /// Returns the name with a capital letter.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Space::Linear => "Linear",
            Space::Gaussian => "Gaussian",
        }
    }

    /// Returns the kernel of a classifier in the function space of one. The Gaussian kernel has the
    /// sigma of kernlab's automatic choice.
    fn kernel(self) -> &'static str {
        match self {
            Space::Linear => "linear",
            Space::Gaussian => "gaussian",
        }
    }
}

/// A tuned classifier on the test samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tested {
    /// The share of the test samples misclassified.
    pub(crate) error: f64,
    /// The lambda selected.
    pub(crate) lambda: f64,
    /// The number of lambdas at which the fit of a fold did not reach its tolerance.
    pub(crate) uncertified: usize,
    /// True if the classifier that was tested did.
    pub(crate) certified: bool,
}

/// The two classifiers in a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trial {
    pub(crate) lhs: Tested,
    pub(crate) svm: Tested,
}

impl Trial {
    /// Returns the two in the order of the tables.
    pub(crate) fn both(&self) -> [&Tested; 2] {
        [&self.lhs, &self.svm]
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [lhs, svm] = self.both().map(|Tested { error, lambda, uncertified, certified }| {
            format!("{error} {lambda:e} {uncertified} {certified}")
        });
        write!(f, "{lhs} {svm}")
    }
}

impl FromStr for Trial {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        fn read<T: FromStr>(cell: &str, what: &str) -> Result<T, String> {
            cell.parse().map_err(|_| format!("'{cell}' is not {what}"))
        }
        let tested = |cells: &[&str]| {
            Ok::<_, String>(Tested {
                error: read(cells[0], "an error rate")?,
                lambda: read(cells[1], "a lambda")?,
                uncertified: read(cells[2], "a number of lambdas")?,
                certified: read(cells[3], "true or false")?,
            })
        };
        let cells: Vec<&str> = text.split(' ').collect();
        if cells.len() != 8 {
            return Err(format!("'{text}' has {} results, not 8", cells.len()));
        }
        Ok(Trial { lhs: tested(&cells[..4])?, svm: tested(&cells[4..])? })
    }
}

/// Returns all that the results depend on beside the samples, for the journal.
pub(crate) fn protocol() -> String {
    let (from, to, count) = DEFAULT_GRID;
    format!(
        "folds={FOLDS} lambdas={from:e}:{to:e}:{count} machine-steps={MACHINE_STEPS} \
         machine-tolerance={MACHINE_TOLERANCE:e}"
    )
}

/// Returns the 100 lambdas of the authors' package, 1 down to 1e-7.
pub(crate) fn lambdas() -> Result<Vec<Lambda>, optim::Error> {
    let (from, to, count) = DEFAULT_GRID;
    lambda_grid(from, to, count)
}

/// Tunes and tests both classifiers.
pub(crate) fn compare(samples: &Samples, space: Space) -> Result<Trial, Failure> {
    let test = |settings| tested(settings, samples);
    let lhs = test(leaky_hockey_stick(space, samples.seed)?)?;
    Ok(Trial { lhs, svm: test(machine(space, samples.seed)?)? })
}

/// Returns the settings of the leaky hockey stick classifier, the linear one in the space of the
/// features.
pub(crate) fn leaky_hockey_stick(space: Space, seed: u64) -> Result<ClassifierSettings, Failure> {
    let kernel = if space == Space::Linear { None } else { Some(space.kernel()) };
    tuned(LeakyHockeyStick, kernel, Options::default(), seed)
}

/// Returns the settings of a support vector machine.
pub(super) fn machine(space: Space, seed: u64) -> Result<ClassifierSettings, Failure> {
    let options = Options {
        tolerance: MACHINE_TOLERANCE,
        max_iterations: Some(MACHINE_STEPS),
        ..Options::default()
    };
    tuned(Hinge, Some(space.kernel()), options, seed)
}

/// Returns the settings of a classifier at the lambda that cross-validation selects.
fn tuned(
    loss: impl MarginLoss + 'static,
    kernel: Option<&str>,
    options: Options<'static>,
    seed: u64,
) -> Result<ClassifierSettings, Failure> {
    let how =
        CrossValidation { lambdas: lambdas()?, folds: Some(FOLDS), ..CrossValidation::default() };
    let specifications = kernel.into_iter().map(str::to_owned).collect();
    Ok(ClassifierSettings {
        loss: Arc::new(loss),
        kernels: KernelChoice { specifications, ..KernelChoice::default() },
        regularisation: Regularisation::CrossValidated(how),
        options,
        seed,
        ..ClassifierSettings::default()
    })
}

/// Tunes a classifier and tests it. Of lambdas with the lowest error the largest is taken, for the
/// SVM has no log-loss by which our own rule decides among them.
pub(super) fn tested(
    settings: ClassifierSettings,
    Samples { train, test, .. }: &Samples,
) -> Result<Tested, Failure> {
    let mut fitted = settings.fit(train)?;
    let curve = fitted.report.curve.take().ok_or("a classifier without cross-validation")?;
    let first_least = curve.mean_error.iter().position(|e| *e == curve.mean_error[curve.best]);
    let index = first_least.unwrap_or(curve.best);
    if index != curve.best {
        let regularisation = Regularisation::Path { lambdas: curve.lambdas.clone(), index };
        fitted = ClassifierSettings { regularisation, ..settings }.fit(train)?;
    }
    let scores = fitted.model.decision_function(test.design(), &Registry::standard())?;
    Ok(Tested {
        error: error_rate(&scores, test.labels().signs(), None)?.rate,
        lambda: curve.lambdas[index].get(),
        uncertified: curve.certified.iter().filter(|&&certified| !certified).count(),
        certified: fitted.report.is_certified(),
    })
}
