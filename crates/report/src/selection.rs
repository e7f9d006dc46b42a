//! The choice of lambda and of a kernel by cross-validation.

use margins_optim::ErrorCurve;
use serde::Serialize;

/// The choice of lambda, and of a kernel, by cross-validation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Selection {
    /// The name of the measure by which the choice was made.
    pub measure: &'static str,
    /// The error along the lambdas, with the kernel chosen, largest lambda first.
    pub lambdas: Vec<LambdaError>,
    /// The index of the best mean of the measure.
    pub best: usize,
    /// The index of the largest lambda within one standard error of it.
    pub one_standard_error: usize,
    /// The kernels that there were to choose from; empty for fewer than two.
    pub kernels: Vec<KernelErrors>,
}

/// The cross-validated error at a lambda.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LambdaError {
    /// The regularisation.
    pub lambda: f64,
    /// The share of held-out samples misclassified.
    pub mean_error: Option<f64>,
    /// The standard error of the mean error over the folds.
    pub standard_error: Option<f64>,
    /// The mean of the measure by which lambda was chosen; `None` where it is not defined.
    pub mean_measure: Option<f64>,
    /// The standard error of that mean over the folds.
    pub measure_standard_error: Option<f64>,
    /// The mean log-loss, where the loss has probabilities.
    pub mean_log_loss: Option<f64>,
    /// The largest relative duality gap of the fits.
    pub worst_relative_gap: f64,
    /// A bound on the distance between the mean error and that of exact minimisers:
    /// [`ErrorCurve::unproven`].
    pub unproven: Option<f64>,
    /// True if all fits are certified.
    pub certified: bool,
    /// True if the lambda was given up after the first folds.
    pub abandoned: bool,
    /// True if there was time for the lambda in every fold.
    pub reached: bool,
}

impl LambdaError {
    /// Returns the errors along a curve, largest lambda first.
    pub fn all(curve: &ErrorCurve) -> Vec<Self> {
        let number = |x: f64| x.is_finite().then_some(x);
        let at = |k: usize| LambdaError {
            lambda: curve.lambdas[k].get(),
            mean_error: number(curve.mean_error[k]),
            standard_error: number(curve.standard_error[k]),
            mean_measure: number(curve.mean_measure[k]),
            measure_standard_error: number(curve.measure_standard_error[k]),
            mean_log_loss: curve.mean_log_loss[k],
            worst_relative_gap: curve.worst_relative_gap[k],
            unproven: curve.unproven[k],
            certified: curve.certified[k],
            abandoned: curve.abandoned[k],
            reached: curve.reached[k],
        };
        (0..curve.lambdas.len()).map(at).collect()
    }
}

/// The cross-validated errors of a kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelErrors {
    /// The specification of the kernel.
    pub kernel: String,
    /// True for the kernel that was taken.
    pub chosen: bool,
    /// The mean of the measure at each lambda.
    pub values: Vec<f64>,
}

impl Selection {
    /// Returns the choice that a curve shows, among kernels with their curves.
    pub fn new<'c>(
        curve: &ErrorCurve,
        kernels: impl IntoIterator<Item = (&'c str, &'c ErrorCurve)>,
        chosen: Option<&str>,
    ) -> Self {
        let kernels = kernels.into_iter().map(|(kernel, curve)| KernelErrors {
            kernel: kernel.to_owned(),
            chosen: chosen == Some(kernel),
            values: curve.mean_measure.clone(),
        });
        Selection {
            measure: curve.measure.name(),
            lambdas: LambdaError::all(curve),
            best: curve.best,
            one_standard_error: curve.one_standard_error,
            kernels: kernels.collect(),
        }
    }
}
