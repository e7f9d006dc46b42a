//! One trial: both classifiers tuned on the same folds and tested on the same samples.

use std::fmt;
use std::str::FromStr;

use margins::data::metrics::error_rate;
use margins::data::split::stratified_folds;
use margins::data::{Dataset, Labels};
use margins::losses::{Hinge, LeakyHockeyStick, MarginLoss};
use margins::optim::{self, DEFAULT_GRID, ErrorCurve, Lambda, Options, Training, lambda_grid};
use margins_kernels::{
    Error as KernelError, Gaussian, Gram, Kernel, KernelFit, Linear, SigmaRange, combine,
    cross_validate, training_path,
};

use crate::Failure;

/// Folds of the cross-validation.
pub(crate) const FOLDS: usize = 5;

/// Most steps of a support vector machine at one lambda: with those the source stops both
/// algorithms, and without a limit a linear machine at the smallest lambdas takes minutes.
pub(crate) const MACHINE_STEPS: usize = 100_000;

/// Relative duality gap that a support vector machine is to reach. An error rate does not see more
/// digits.
const MACHINE_TOLERANCE: f64 = 1e-3;

/// Every so many lambdas are on the path that leads to the selected one.
const COARSE: usize = 10;

/// What a trial is made of.
pub(crate) struct Samples {
    pub(crate) train: Dataset,
    pub(crate) test: Dataset,
    /// For the folds and, in large samples, for the pairs whose distances give sigma.
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

    /// The Gaussian kernel has the sigma of kernlab's automatic choice.
    fn kernel(self, train: &Dataset, seed: u64) -> Result<Box<dyn Kernel>, KernelError> {
        Ok(match self {
            Space::Linear => Box::new(Linear),
            Space::Gaussian => {
                Box::new(Gaussian::new(SigmaRange::of(train.design(), seed)?.middle())?)
            }
        })
    }
}

/// A tuned classifier on the test samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tested {
    /// Share of the test samples misclassified.
    pub(crate) error: f64,
    /// The lambda selected.
    pub(crate) lambda: f64,
    /// Lambdas at which the fit of a fold did not reach its tolerance.
    pub(crate) uncertified: usize,
    /// Whether the classifier that was tested did.
    pub(crate) certified: bool,
}

/// Both classifiers in one trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trial {
    pub(crate) lhs: Tested,
    pub(crate) svm: Tested,
}

impl Trial {
    /// The two in the order of the tables.
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

/// What the results depend on beside the samples, for the journal.
pub(crate) fn protocol() -> String {
    let (from, to, count) = DEFAULT_GRID;
    format!(
        "folds={FOLDS} lambdas={from:e}:{to:e}:{count} machine-steps={MACHINE_STEPS} \
         machine-tolerance={MACHINE_TOLERANCE:e}"
    )
}

/// The 100 lambdas of the authors' package, 1 down to 1e-7.
pub(crate) fn lambdas() -> Result<Vec<Lambda>, optim::Error> {
    let (from, to, count) = DEFAULT_GRID;
    lambda_grid(from, to, count)
}

/// Tunes and tests both classifiers.
pub(crate) fn compare(samples: &Samples, space: Space) -> Result<Trial, Failure> {
    let train = &samples.train;
    let kernel = space.kernel(train, samples.seed)?;
    let gram = Gram::new(&*kernel, train.design())?;
    let folds = stratified_folds(train.labels(), FOLDS, samples.seed)?;
    let grid = lambdas()?;
    let test = |curve: &ErrorCurve, fit: &KernelFit| {
        let mut scores = combine(&*kernel, samples.test.design(), train.design(), &fit.coef)?;
        scores.iter_mut().for_each(|score| *score += fit.intercept);
        tested(curve, &scores, samples.test.labels(), fit.report.converged())
    };
    let lhs = match space {
        Space::Linear => linear(samples, &folds, &grid)?,
        Space::Gaussian => {
            let training = Training::new(&LeakyHockeyStick);
            let (curve, fit) = kernel_classifier(&training, train, &gram, &folds, &grid)?;
            test(&curve, &fit)?
        }
    };
    let (curve, fit) = kernel_classifier(&machine(), train, &gram, &folds, &grid)?;
    Ok(Trial { lhs, svm: test(&curve, &fit)? })
}

/// The linear leaky hockey stick classifier in the space of the features.
fn linear(samples: &Samples, folds: &[usize], grid: &[Lambda]) -> Result<Tested, Failure> {
    let training = Training::new(&LeakyHockeyStick);
    let selection = optim::cross_validate(&training, &samples.train, folds, grid)?;
    let fit = &selection.fits[selection.curve.best];
    let scores = fit.decision_function(samples.test.design());
    tested(&selection.curve, &scores, samples.test.labels(), fit.report.converged())
}

/// A kernel classifier at the selected lambda.
pub(crate) fn kernel_classifier<L: MarginLoss>(
    training: &Training<'_, L>,
    train: &Dataset,
    gram: &Gram,
    folds: &[usize],
    grid: &[Lambda],
) -> Result<(ErrorCurve, KernelFit), Failure> {
    let curve = cross_validate(training, train, gram, folds, grid)?;
    let fits = training_path(training, train, gram, &leading_to(&curve))?;
    Ok((curve, last(fits)?))
}

/// How a support vector machine is trained.
fn machine() -> Training<'static, Hinge> {
    let options = Options {
        tolerance: MACHINE_TOLERANCE,
        max_iterations: Some(MACHINE_STEPS),
        ..Options::default()
    };
    Training { options, ..Training::new(&Hinge) }
}

/// A few lambdas down to the selected one: a fit there from nothing would take longer.
fn leading_to(curve: &ErrorCurve) -> Vec<Lambda> {
    let lambdas = curve.lambdas[..curve.best].iter().step_by(COARSE);
    lambdas.chain([&curve.lambdas[curve.best]]).copied().collect()
}

fn last(mut fits: Vec<KernelFit>) -> Result<KernelFit, Failure> {
    fits.pop().ok_or_else(|| "a path of lambdas without a fit".into())
}

fn tested(
    curve: &ErrorCurve,
    scores: &[f64],
    labels: &Labels,
    certified: bool,
) -> Result<Tested, Failure> {
    Ok(Tested {
        error: error_rate(scores, labels.signs(), None)?.rate,
        lambda: curve.lambdas[curve.best].get(),
        uncertified: curve.certified.iter().filter(|&&certified| !certified).count(),
        certified,
    })
}
