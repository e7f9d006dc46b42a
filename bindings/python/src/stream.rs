//! Stochastic gradient.

use margins::data::Classes;
use margins::estimators::stream::{
    self, Projection, RescaleSteps, State, StepSchedule, StreamMethod, StreamSettings,
};
use margins::optim::Lambda;
use margins::optim::online::stochastic::{Averaging, EarlyStopping, Sampling, Start};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::calibration;
use crate::data::{Data, Samples};
use crate::dictionary::Given;
use crate::doorway::{Stop, run};
use crate::encode::Encode;
use crate::errors::{of_data, refuse, to_python};
use crate::model::Model;
use crate::regularised::Watchers;
use crate::report;
use crate::settings::{Weights, limit_of, loss_of};

/// Returns the settings of the library.
fn settings_of(settings: &Bound<'_, PyDict>) -> PyResult<StreamSettings> {
    let mut given = Given::new(settings)?;
    let refused = |error: margins::optim::Error| PyValueError::new_err(error.to_string());
    let (class_weights, class_costs) = given.take::<Weights>("class_weight")?.parts()?;
    let lambda = Lambda::new_or_none(given.take("lam")?).map_err(refused)?;
    let defaults = StreamSettings::new(lambda);
    let hold_out: Option<f64> = given.take("hold_out")?;
    let patience = given.take("patience")?;
    let settings = StreamSettings {
        loss: loss_of(&given.take::<String>("loss")?)?,
        method: method_of(&mut given)?,
        intercept: given.take("fit_intercept")?,
        epochs: given.take("epochs")?,
        sampling: given.take::<bool>("replacement")?.then_some(Sampling::WithReplacement),
        batch: given.take("batch")?,
        averaging: averaging_of(&given.take::<String>("average")?)?,
        projection: given.take::<Option<f64>>("radius")?.map_or(
            Projection::OfTheMethod,
            |radius| {
                if radius == f64::INFINITY { Projection::None } else { Projection::Radius(radius) }
            },
        ),
        start: given.take::<Option<f64>>("start_norm")?.map_or(Start::Origin, Start::Random),
        early_stopping: hold_out.map(|hold_out| EarlyStopping { hold_out, patience }),
        rescale_at: given.take("rescale_at")?,
        rescale_steps: match given.take::<String>("rescale_steps")?.as_str() {
            "divide" => RescaleSteps::Divide,
            "keep" => RescaleSteps::Keep,
            other => {
                return Err(refuse("rescale_steps", format!("'{other}'"), "'divide' or 'keep'"));
            }
        },
        balanced_rows: given.take("balanced_rows")?,
        standardize: given.take("standardize")?,
        class_weights,
        class_costs,
        seed: given.take("random_state")?,
        tolerance: given.take::<Option<f64>>("tol")?.unwrap_or(defaults.tolerance),
        time_limit: limit_of(given.take("time_limit")?)?,
        ..defaults
    };
    given.finish()?;
    Ok(settings)
}

fn method_of(given: &mut Given<'_>) -> PyResult<StreamMethod> {
    let (method, schedule): (String, String) = (given.take("method")?, given.take("schedule")?);
    let first: Option<f64> = given.take("first_step")?;
    let schedule = match schedule.as_str() {
        "constant" => StepSchedule::Constant,
        "inverse-sqrt" => StepSchedule::InverseSqrt,
        "inverse-time" => StepSchedule::InverseTime,
        "bottou" => StepSchedule::Bottou,
        "margin-pursuit" => StepSchedule::MarginPursuit,
        _ => {
            let known = "'constant', 'inverse-sqrt', 'inverse-time', 'bottou' or 'margin-pursuit'";
            return Err(refuse("schedule", format!("'{schedule}'"), known));
        }
    };
    let is_default = schedule == StepSchedule::Bottou && first.is_none();
    match method.as_str() {
        "adaptive" | "coin" | "pegasos" | "margin-pursuit" if !is_default => {
            Err(PyValueError::new_err(format!(
                "method is '{method}', which sets its own steps: leave schedule and first_step out, or pass method='sgd'"
            )))
        }
        "adaptive" => Ok(StreamMethod::Adaptive),
        "coin" => Ok(StreamMethod::Coin),
        "sgd" => Ok(StreamMethod::Gradient { schedule, first }),
        "pegasos" => Ok(StreamMethod::Pegasos),
        "margin-pursuit" => Ok(StreamMethod::MarginPursuit),
        _ => {
            let known = "'adaptive', 'coin', 'sgd', 'pegasos' or 'margin-pursuit'";
            Err(refuse("method", format!("'{method}'"), known))
        }
    }
}

/// Reads `none`, `polyak` or `suffix:SHARE`.
fn averaging_of(text: &str) -> PyResult<Averaging> {
    let share = text.strip_prefix("suffix:").and_then(|share| share.parse().ok());
    match (text, share) {
        ("none", _) => Ok(Averaging::None),
        ("polyak", _) => Ok(Averaging::Polyak),
        (_, Some(share)) => Ok(Averaging::Suffix(share)),
        _ => Err(refuse("average", format!("'{text}'"), "'none', 'polyak' or 'suffix:SHARE'")),
    }
}

/// Returns the classifier of several epochs over data in memory.
#[pyfunction]
pub(crate) fn fit_stream<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = settings_of(settings)?;
    let data = Data::take(data, Encode(None))?;
    let certifiable = settings.lambda != Lambda::NONE;
    let stop = Stop::default();
    // Observing an epoch takes as long as the epoch, so that it needs a callback.
    let iterations = watchers.callback.is_some().then(|| watchers.of_iterations(&stop));
    let settings = StreamSettings { iterations: iterations.unwrap_or_default(), ..settings };
    let fitted = run(py, 1, &stop, move || settings.fit(&data.dataset()?))?;
    let result = report::of_reports(py, fitted.fits.iter().map(|fit| &fit.report))?;
    result.set_item("certifiable", certifiable)?;
    let locations = fitted.margin_locations.iter();
    let locations = locations.map(|found| calibration::of_margins(py, *found));
    result.set_item("margin_locations", locations.collect::<PyResult<Vec<_>>>()?)?;
    result.set_item("model", Model::new(fitted.model))?;
    result.set_item("state", fitted.state.map(StreamState))?;
    result.set_item("too_long_step", fitted.too_long_step)?;
    Ok(result)
}

/// The state of stochastic gradient between two chunks.
#[pyclass(frozen, module = "margins_learn._native")]
pub(crate) struct StreamState(State);

#[pymethods]
impl StreamState {
    /// Returns the state of bytes that `to_bytes` has made.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let bytes = bytes.to_vec();
        let read = move || State::from_bytes(&bytes);
        run(py, 1, &Stop::default(), read).map(StreamState)
    }

    /// Returns the bytes of the state, with a checksum.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.0.clone();
        let bytes = run(py, 1, &Stop::default(), move || state.to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<StreamState>().getattr("from_bytes")?;
        Ok((read, (self.to_bytes(py)?,)))
    }

    /// The number of rows taken; those of a fit count once.
    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows()
    }
}

/// Stochastic gradient on chunks of samples as they come.
#[pyclass(module = "margins_learn._native")]
pub(crate) struct StreamLearner(stream::StreamLearner);

#[pymethods]
impl StreamLearner {
    /// Returns a learner of samples of these classes, with this many features.
    #[new]
    fn new(settings: &Bound<'_, PyDict>, classes: Vec<String>, features: usize) -> PyResult<Self> {
        let settings = settings_of(settings)?;
        settings.learner(&classes, features).map(StreamLearner).map_err(to_python)
    }

    /// Returns the learner that continues from a state.
    #[staticmethod]
    fn resumed(
        settings: &Bound<'_, PyDict>,
        classes: Vec<String>,
        features: usize,
        state: &StreamState,
    ) -> PyResult<Self> {
        let settings = settings_of(settings)?;
        let learner = settings.resumed(&classes, features, state.0.clone());
        learner.map(StreamLearner).map_err(to_python)
    }

    /// Takes the steps of a chunk of samples with their classes, given by index. A chunk that is refused leaves the
    /// learner as it was.
    fn take(
        &mut self,
        py: Python<'_>,
        samples: &Samples,
        targets: PyReadonlyArray1<'_, u32>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let (design, targets) = (samples.0.clone(), targets.as_array().to_vec());
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let mut learner = self.0.clone();
        let labels = Classes::from_indices(targets, learner.classes().to_vec()).map_err(of_data)?;
        let job = move || {
            learner.take(&design, &labels, weights.as_deref())?;
            Ok(learner)
        };
        self.0 = run(py, 1, &Stop::default(), job)?;
        Ok(())
    }

    /// Returns the model.
    fn model(&self, names: Option<Vec<String>>) -> PyResult<Model> {
        self.0.model(names).map(Model::new).map_err(to_python)
    }

    /// The number of steps taken.
    #[getter]
    fn steps(&self) -> PyResult<u64> {
        Ok(self.0.steps())
    }

    /// The length of the first step if it was given and may be too long.
    #[getter]
    fn too_long_step(&self) -> Option<f64> {
        self.0.too_long_step()
    }

    /// Returns the state from which the learner continues later.
    fn state(&self) -> StreamState {
        StreamState(self.0.state())
    }
}
