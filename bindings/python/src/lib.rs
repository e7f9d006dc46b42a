//! The native module of `margins_learn`: passes settings, arrays and errors between Python
//! and the crate `margins`, which does all of the work.

mod blocks;
mod bounds;
mod calibration;
mod copies;
mod data;
mod dictionary;
mod distributed;
mod doorway;
mod encode;
mod errors;
mod focused;
mod limit;
mod losses;
mod massart;
mod model;
mod regressor;
mod regularised;
mod report;
mod sampler;
mod settings;
mod simulate;
mod stream;

use pyo3::prelude::*;

#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use super::blocks::{BlockWriter, block_file};
    #[pymodule_export]
    use super::bounds::{
        focused_failure, focused_horizon, gap_samples, rare_samples, risk_bound, subsample_failure,
        typical_and_rare_samples,
    };
    #[pymodule_export]
    use super::calibration::{
        conditional_risk, estimated_bound, getroot, least_risk, location, margin_location,
        misclassification_bound, not_calibrated, projection_bound, psi, psi_inverse, reliability,
        share_without_noise,
    };
    #[pymodule_export]
    use super::data::{DenseRows, Samples, SparseRows};
    #[pymodule_export]
    use super::distributed::{Shard, folds_named, landmarks};
    #[pymodule_export]
    use super::focused::{Ensemble, fit_focused};
    #[pymodule_export]
    use super::limit::separable_limit;
    #[pymodule_export]
    use super::losses::{
        conjugate, curvature, derivative, lipschitz, loss_names, loss_specification,
        population_minimizer, probability, proximal, second_derivative, undecided_scores, value,
    };
    #[pymodule_export]
    use super::massart::{
        HalfspaceState, audit_massart, fit_massart, massart_cut_plan, massart_plan,
        massart_reweighted_loss, massart_seconds, massart_simulation, partial_fit_massart,
    };
    #[pymodule_export]
    use super::model::{Model, ModelPath};
    #[pymodule_export]
    use super::regressor::{clipped_mean, fit_focused_regressor};
    #[pymodule_export]
    use super::regularised::{
        fit_classifier, fit_cross_validated, fit_path, fit_robust, kernel_names,
    };
    #[pymodule_export]
    use super::sampler::Sampler;
    #[pymodule_export]
    use super::simulate::mixture_simulation;
    #[pymodule_export]
    use super::stream::{StreamLearner, StreamState, fit_stream};

    use pyo3::prelude::*;

    /// Adds the names of the settings of each estimator.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("SETTINGS", super::settings::names(module.py())?)?;
        module.add("MOST_SIMULATED", margins::data::generate::MOST_SIMULATED)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
