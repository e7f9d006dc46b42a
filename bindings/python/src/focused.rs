//! Focused online learning.

use margins::Registry;
use margins::boost::PlayerKind;
use margins::data::ClassLabels;
use margins::data::metrics::HeldOutError;
use margins::estimators::focused::{
    self, Checkpointing, EnsembleSettings, FittedEnsemble, FittedEnsembles, FocusedLearner,
    Guarantee, MistakeBound, Output,
};
use numpy::{IntoPyArray, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use crate::data::{Data, Samples};
use crate::dictionary::Given;
use crate::doorway::{Stop, run};
use crate::encode::Encode;
use crate::errors::refuse;
use crate::model::{Model, to_array};
use crate::regularised::Watchers;
use crate::settings::{Weights, limit_of, loss_of};

/// The classifiers of a game, which decide together.
#[pyclass(frozen, module = "margins_learn._native")]
pub(crate) struct Ensemble(Arc<focused::Committee>);

#[pymethods]
impl Ensemble {
    /// Returns the ensemble of bytes that `to_bytes` has made.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let bytes = bytes.to_vec();
        let read = move || focused::Committee::from_bytes(&bytes);
        run(py, 1, &Stop::default(), read).map(|ensemble| Ensemble(Arc::new(ensemble)))
    }

    /// Returns the bytes of the ensemble, with a checksum.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let ensemble = Arc::clone(&self.0);
        let bytes = run(py, 1, &Stop::default(), move || ensemble.to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<Ensemble>().getattr("from_bytes")?;
        Ok((read, (self.to_bytes(py)?,)))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Returns the scores of samples, one per row, or a column for each of several classes.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        samples: &Samples,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (ensemble, design) = (Arc::clone(&self.0), samples.0.clone());
        let scores = move || ensemble.scores(&design, &Registry::standard().kernels);
        Ok(to_array(py, &run(py, threads, &Stop::default(), scores)?))
    }
}

/// Returns the ensemble of a game.
#[pyfunction]
pub(crate) fn fit_focused<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
    watchers: Watchers,
) -> PyResult<Bound<'py, PyDict>> {
    let mut given = Given::new(settings)?;
    let stop = Stop::default();
    let iterations = stop.observer(watchers.callback);
    let settings = EnsembleSettings { iterations, ..settings_of(&mut given)? };
    let multi_class: String = given.take("multi_class")?;
    let is_joint = match multi_class.as_str() {
        "ovr" => false,
        "joint" => true,
        other => return Err(refuse("multi_class", format!("'{other}'"), "'ovr' or 'joint'")),
    };
    let threads = given.take("n_jobs")?;
    given.finish()?;
    settings.check().map_err(crate::errors::to_python)?;
    let data = Data::take(data, Encode(None))?;
    let several = data.classes().names().len() > 2;
    if several && is_joint {
        let fitted = run(py, threads, &stop, move || settings.fit_joint(&data.dataset()?))?;
        return report_of_game(py, fitted);
    }
    if several {
        let fitted = run(py, threads, &stop, move || settings.fit_classes(&data.dataset()?))?;
        return report_of_classes(py, fitted);
    }
    let fitted = run(py, threads, &stop, move || settings.fit(&data.dataset_of_two()?))?;
    report_of_game(py, fitted)
}

/// Returns the ensemble of one game.
fn report_of_game(py: Python<'_>, fitted: FittedEnsemble) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("rounds", fitted.ending.rounds)?;
    result.set_item("max_steps", fitted.max_steps)?;
    result.set_item("consistent_at", fitted.ending.consistent_at)?;
    result.set_item("finished", fitted.is_finished())?;
    result.set_item("status", fitted.status.name())?;
    result.set_item("max_loss", fitted.evaluation.max_loss())?;
    result.set_item("error", fitted.training_error)?;
    result.set_item("baseline", fitted.baseline)?;
    result.set_item("mean_loss", fitted.evaluation.mean_loss())?;
    result.set_item("seen_loss", fitted.seen.mean)?;
    result.set_item("loss_bound", fitted.seen.bound)?;
    result.set_item("theorem", theorem(py, &fitted.guarantee)?)?;
    result.set_item("validation", fitted.validation.map(|v| validation(py, v)).transpose()?)?;
    result.set_item("slack", fitted.slack.map(|slack| slack.to_string()))?;
    result.set_item("outliers", fitted.outliers)?;
    result.set_item("learner", fitted.learner)?;
    result.set_item("kernel", fitted.kernel)?;
    result.set_item("model", fitted.model.map(Model::new))?;
    result.set_item("ensemble", Ensemble(Arc::new(fitted.ensemble)))?;
    Ok(result)
}

/// Returns the ensembles of the games of several classes: for each class a list, in their order.
fn report_of_classes(py: Python<'_>, fitted: FittedEnsembles) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    let (classes, error) = (&fitted.classes, fitted.training_error);
    result.set_item("rounds", classes.iter().map(|class| class.ending.rounds).max())?;
    result.set_item("max_steps", classes.iter().map(|class| class.max_steps).max())?;
    result.set_item("consistent_at", fitted.consistent_at())?;
    result.set_item("finished", fitted.is_finished())?;
    result.set_item("status", fitted.status.name())?;
    result.set_item("max_loss", f64::from(u8::from(!fitted.wrong.is_empty())))?;
    result.set_item("error", error)?;
    result.set_item("mean_loss", error)?;
    result.set_item("baseline", fitted.baseline)?;
    let seen: Vec<f64> = classes.iter().map(|class| class.seen.mean).collect();
    result.set_item("seen_loss", seen.into_pyarray(py))?;
    let bounds: Option<Vec<f64>> = classes.iter().map(|class| class.seen.bound).collect();
    result.set_item("loss_bound", bounds.map(|bounds| bounds.into_pyarray(py)))?;
    let theorems = classes.iter().map(|class| theorem(py, &class.guarantee));
    result.set_item("theorem", theorems.collect::<PyResult<Vec<_>>>()?)?;
    let choices: Option<Vec<HeldOutError>> = classes.iter().map(|class| class.validation).collect();
    let choices = choices.map(|all| {
        all.into_iter().map(|choice| validation(py, choice)).collect::<PyResult<Vec<_>>>()
    });
    result.set_item("validation", choices.transpose()?)?;
    let slack = |class: &FittedEnsemble| class.slack.map(|slack| slack.to_string());
    let slack: Vec<Option<String>> = classes.iter().map(slack).collect();
    let has_slack = slack.iter().any(Option::is_some);
    result.set_item("slack", has_slack.then_some(slack))?;
    let outliers = classes.iter().map(|class| class.outliers.clone().unwrap_or_default());
    result.set_item("outliers", has_slack.then(|| outliers.collect::<Vec<_>>()))?;
    let learners: Vec<&str> = classes.iter().map(|class| class.learner.as_str()).collect();
    result.set_item("learner", learners)?;
    result.set_item("kernel", classes.first().and_then(|class| class.kernel.clone()))?;
    result.set_item("model", fitted.model.clone().map(Model::new))?;
    result.set_item("ensemble", Ensemble(Arc::new(fitted.into_committee())))?;
    Ok(result)
}

/// Returns theorem 1 for a game.
fn theorem<'py>(py: Python<'py>, guarantee: &Guarantee) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("delta", guarantee.delta)?;
    result.set_item("mistakes", guarantee.mistakes)?;
    result.set_item("steps", guarantee.theory.rounds())?;
    result.set_item("outputs", guarantee.theory.outputs())?;
    result.set_item("failure", guarantee.failure)?;
    result.set_item("subsample_failure", guarantee.of_subsample)?;
    Ok(result)
}

/// Returns the choice of a classifier on rows held out.
fn validation(py: Python<'_>, choice: HeldOutError) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("rows", choice.rows)?;
    result.set_item("candidates", choice.candidates)?;
    result.set_item("error", choice.error)?;
    result.set_item("error_bound", choice.bound)?;
    Ok(result)
}

/// Returns the error for an unknown text; the reason lists the known ones.
fn unknown(name: &str, value: &str, reason: &str) -> PyErr {
    PyValueError::new_err(format!("{name} is '{value}': {reason}"))
}

/// Returns the value that a text stands for.
fn parsed<T: FromStr<Err = String>>(name: &'static str, text: &str) -> PyResult<T> {
    text.parse().map_err(|reason: String| unknown(name, text, &reason))
}

/// Returns the classifier that comes out.
fn output_of(given: &mut Given<'_>) -> PyResult<Output> {
    let combine: String = given.take("combine")?;
    Output::named(&combine).ok_or_else(|| {
        let names = Output::NAMED.map(|(name, _)| format!("'{name}'")).join(", ");
        refuse("combine", format!("'{combine}'"), &format!("one of {names}"))
    })
}

/// Returns the player.
fn player_of(given: &mut Given<'_>) -> PyResult<PlayerKind> {
    let player: String = given.take("player")?;
    PlayerKind::named(&player).ok_or_else(|| {
        let names = PlayerKind::NAMED.map(|(name, _)| format!("'{name}'")).join(", ");
        refuse("player", format!("'{player}'"), &format!("one of {names}"))
    })
}

/// Returns the bound on the mistakes of the learner.
fn mistakes_of(given: &mut Given<'_>) -> PyResult<MistakeBound> {
    Ok(match (given.take("mistakes")?, given.take("margin")?) {
        (None, None) => MistakeBound::Samples,
        (Some(mistakes), None) => MistakeBound::Mistakes(mistakes),
        (None, Some(margin)) => MistakeBound::Margin(margin),
        (Some(_), Some(_)) => {
            return Err(PyValueError::new_err(
                "mistakes and margin are two forms of one bound: leave one of them out",
            ));
        }
    })
}

fn settings_of(given: &mut Given<'_>) -> PyResult<EnsembleSettings> {
    let name: String = given.take("learner")?;
    let kernel: Option<String> = given.take("kernel")?;
    let learner = FocusedLearner::parse(&name, kernel.as_deref(), &Registry::standard())
        .map_err(|reason| unknown("learner", &name, &reason))?;
    match (&learner, &kernel) {
        (FocusedLearner::KernelPerceptron { .. }, None) => {
            return Err(PyValueError::new_err(
                "learner is 'kernel-perceptron', which needs a kernel",
            ));
        }
        (FocusedLearner::KernelPerceptron { .. }, Some(_)) | (_, None) => {}
        (_, Some(kernel)) => {
            let message =
                format!("kernel is '{kernel}', but only the learner kernel-perceptron takes one");
            return Err(PyValueError::new_err(message));
        }
    }
    // The ramp is the hinge loss clipped to [0, 1], as every loss of a game is.
    let (class_weights, class_costs) = given.take::<Weights>("class_weight")?.parts()?;
    let loss: String = given.take("loss")?;
    let loss = if loss.trim() == "ramp" { "hinge" } else { &loss };
    let path: Option<PathBuf> = given.take("checkpoint")?;
    let pause_at: Option<u64> = given.take("pause_at")?;
    if pause_at.is_some() && path.is_none() {
        return Err(PyValueError::new_err(
            "pause_at needs a checkpoint, from which the game resumes",
        ));
    }
    Ok(EnsembleSettings {
        loss: loss_of(loss)?,
        learner,
        epsilon: given.take("epsilon")?,
        standardize: given.take("standardize")?,
        intercept: given.take("fit_intercept")?,
        max_steps: given.take("max_steps")?,
        outputs: given.take("outputs")?,
        output: output_of(given)?,
        delta: given.take("delta")?,
        mistakes: mistakes_of(given)?,
        player: player_of(given)?,
        slack: parsed("slack", &given.take::<String>("slack")?)?,
        subsample: given
            .take::<Option<String>>("subsample")?
            .map(|text| parsed("subsample", &text))
            .transpose()?,
        class_weights,
        class_costs,
        seed: given.take("random_state")?,
        time_limit: limit_of(given.take("time_limit")?)?,
        checkpoint: path.map(|path| Checkpointing { path, pause_at }),
        ..EnsembleSettings::default()
    })
}
