//! Models: scores, decisions, probabilities and files.

use std::path::PathBuf;
use std::sync::Arc;

use margins::Registry;
use margins::model::{Format, Functions};
use margins::nalgebra::DMatrix;
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::data::Samples;
use crate::doorway::{Stop, run, run_sized};
use crate::encode;
use crate::settings::loss_of;

/// A classifier, as files keep it.
#[pyclass(frozen, module = "margins_learn._native")]
pub(crate) struct Model(Arc<margins::Model>);

#[pymethods]
impl Model {
    /// Returns the model of bytes that were written by this package or by the command.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let bytes = bytes.to_vec();
        let read = move || Ok(margins::Model::from_bytes(&bytes, &Registry::standard())?);
        run(py, 1, &Stop::default(), read).map(Model::new)
    }

    /// Returns the model of a file, of a path at this C.
    #[staticmethod]
    #[pyo3(signature = (path, C=None))]
    #[allow(non_snake_case)]
    fn load(py: Python<'_>, path: PathBuf, C: Option<f64>) -> PyResult<Self> {
        let read = move || {
            let models = margins::model::ModelPath::load(&path, &Registry::standard())?;
            let rows = models.first().members()[0].training.rows;
            let model = match C {
                Some(c) => models.at(1.0 / (2.0 * rows as f64 * c)),
                None => models.into_only(),
            };
            let of_file = |source| margins::model::Error::File { path, source: Box::new(source) };
            Ok(model.map_err(of_file)?)
        };
        run(py, 1, &Stop::default(), read).map(Model::new)
    }

    /// Writes the model to a file, as JSON if its name ends in .json, else binary, with the type that
    /// the labels had.
    fn save(&self, py: Python<'_>, path: PathBuf, label_type: Option<String>) -> PyResult<()> {
        let model = Arc::clone(&self.0);
        let write = move || Ok((*model).clone().with_label_type(label_type).save(path)?);
        run(py, 1, &Stop::default(), write)
    }

    /// Returns the bytes of the model, with a checksum.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let model = Arc::clone(&self.0);
        let written = move || Ok(model.to_bytes(Format::Binary)?);
        let bytes = run(py, 1, &Stop::default(), written)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __repr__(&self) -> String {
        let Model(model) = self;
        let (loss, classes, columns) = (model.loss(), model.classes().len(), model.columns());
        let kernel = model.basis().map_or_else(String::new, |basis| {
            let count = model.members()[0].coef.len();
            format!(", kernel='{}', functions={count}", basis.kernel())
        });
        let scheme = model.scheme();
        format!("<Model: loss='{loss}'{kernel}, classes={classes}, features={columns}, {scheme}>")
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<Model>().getattr("from_bytes")?;
        Ok((read, (self.to_bytes(py)?,)))
    }

    /// The specification of the loss.
    #[getter]
    fn loss(&self) -> &str {
        self.0.loss()
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    /// The type that the labels had, if it is known.
    #[getter]
    fn label_type(&self) -> Option<&str> {
        self.0.label_type()
    }

    /// The number of votes in each score; empty unless the members vote.
    #[getter]
    fn votes(&self) -> Vec<usize> {
        self.0.votes().into_owned()
    }

    /// The thresholds of the members of a decision list.
    #[getter]
    fn thresholds<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.0.decision_list().map(|list| list.thresholds.to_pyarray(py))
    }

    /// The scheme by which the members decide: binary, one-versus-rest, one-versus-one, joint, multinomial,
    /// crammer-singer, majority, majority-versus-rest, plurality or decision-list.
    #[getter]
    fn scheme(&self) -> String {
        self.0.scheme().to_string()
    }

    /// The names of the features, if there are any.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.0.feature_names().map(<[String]>::to_vec)
    }

    /// The options of the encoding of raw columns and its columns, if there is an encoding.
    #[getter]
    fn encoding<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.0.encoding().map(|encoding| encode::describe(py, encoding)).transpose()
    }

    /// Returns the features of the columns of a raw table, as the encoding makes them.
    fn encode(&self, py: Python<'_>, columns: &Bound<'_, PyAny>) -> PyResult<Samples> {
        let Some(encoding) = self.0.encoding().cloned() else {
            return Err(PyValueError::new_err("the model was fitted to numbers, without encode"));
        };
        let columns = encode::columns(columns)?;
        let encoded = move || {
            let table =
                encode::table(columns, &encoding.options().missing_words, &encoding.codes())?;
            Ok(encoding.encode(&table)?)
        };
        run(py, 1, &Stop::default(), encoded).map(Samples)
    }

    /// The number of features.
    #[getter]
    fn columns(&self) -> usize {
        self.0.columns()
    }

    /// The intercept of every member.
    #[getter]
    fn intercept<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let intercepts: Vec<f64> = self.0.members().iter().map(|member| member.intercept).collect();
        intercepts.into_pyarray(py)
    }

    /// The coefficients of every member, one per row: of the features, or of the functions of a kernel.
    #[getter]
    fn coef<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let members = self.0.members();
        let first = self.0.basis().map_or(0, |basis| basis.linear().len());
        let shape = (members.len(), members[0].coef.len() - first);
        Array2::from_shape_fn(shape, |(m, j)| members[m].coef[first + j]).into_pyarray(py)
    }

    /// The coefficients of the features, one member per row, where the members combine sections of the
    /// linear kernel, or features beside a kernel; those of the features that another kernel sees are 0.
    #[getter]
    fn linear_coef<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        let basis = self.0.basis()?;
        let sections = match basis.functions() {
            Functions::Sections(sections) if basis.kernel() == "linear" => Some(sections),
            _ if basis.linear().is_empty() => return None,
            _ => None,
        };
        let (members, beside) = (self.0.members(), basis.linear());
        let seen: Vec<usize> =
            (0..basis.columns()).filter(|j| beside.binary_search(j).is_err()).collect();
        let scale = |k: usize| basis.scales().map_or(1.0, |scales| scales[k]);
        let mut coef = Array2::zeros((members.len(), basis.columns()));
        for (mut row, member) in coef.rows_mut().into_iter().zip(members) {
            let (of_features, of_kernel) = member.coef.split_at(beside.len());
            beside.iter().zip(of_features).for_each(|(&j, w)| row[j] = *w);
            for (sample, a) in sections.iter().flat_map(|design| design.samples()).zip(of_kernel) {
                sample.for_each(|k, value| row[seen[k]] += a * value * scale(k));
            }
        }
        Some(coef.into_pyarray(py))
    }

    /// The Platt scaling of every member, as slope and intercept, if there is one.
    #[getter]
    fn platt(&self) -> Option<Vec<(f64, f64)>> {
        let scaling = |member: &margins::model::Member| {
            member.platt.map(|platt| (platt.slope(), platt.intercept()))
        };
        self.0.members().iter().map(scaling).collect()
    }

    /// The summary of the fit of every member, from a file.
    #[getter]
    fn training<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let of_member = |member: &margins::model::Member| {
            let result = PyDict::new(py);
            result.set_item("lambda", member.lambda)?;
            result.set_item("rows", member.training.rows)?;
            result.set_item("objective", member.training.objective)?;
            result.set_item("lower_bound", member.training.dual_objective)?;
            result.set_item("relative_gap", member.training.relative_gap)?;
            result.set_item("converged", member.training.converged)?;
            Ok(result)
        };
        self.0.members().iter().map(of_member).collect()
    }

    /// The functions that the members combine, if they are not linear in the features: the kernel,
    /// the factors of the features, and samples or frequencies.
    #[getter]
    fn basis<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(basis) = self.0.basis() else { return Ok(None) };
        let (name, design) = match basis.functions() {
            Functions::Sections(design) => ("sections", design),
            Functions::Fourier(design) => ("frequencies", design),
        };
        let result = PyDict::new(py);
        result.set_item("kernel", basis.kernel())?;
        result.set_item("scales", basis.scales().map(<[f64]>::to_vec))?;
        result.set_item("linear", basis.linear().to_vec())?;
        result.set_item(name, to_array(py, &design.to_dense()))?;
        Ok(Some(result))
    }

    /// Returns the scores of every sample, one sample per row: one per member, or one of a majority or a
    /// decision list.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        samples: &Samples,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (model, design) = (Arc::clone(&self.0), samples.0.clone());
        let members = model.members();
        let functions = if model.basis().is_some() { members[0].coef.len() } else { members.len() };
        let size = design.rows().saturating_mul(functions).saturating_mul(design.columns());
        let scores = move || Ok(model.decision_functions(&design, &Registry::standard())?);
        Ok(to_array(py, &run_sized(py, Some(threads), size, scores)?))
    }

    /// Returns the class of every sample, by its index, from its scores.
    fn decide<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (model, scores) = (Arc::clone(&self.0), self.checked(&scores)?);
        let rows = scores.nrows();
        let decide = move |row: usize| {
            let of_row: Vec<f64> = scores.row(row).iter().copied().collect();
            model.decide(&of_row) as i64
        };
        let classes = move || Ok((0..rows).map(decide).collect::<Vec<_>>());
        Ok(run_sized(py, None, rows, classes)?.into_pyarray(py))
    }

    /// Returns the probabilities of all classes for every sample, from its scores: the class that
    /// the scores decide is the most probable one.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (model, scores) = (Arc::clone(&self.0), self.checked(&scores)?);
        let rows = scores.nrows();
        let loss = loss_of(self.0.loss())?;
        let probabilities = move || Ok(model.deciding_probabilities(&scores, &*loss)?);
        Ok(to_array(py, &run_sized(py, None, rows, probabilities)?))
    }

    /// True if the model has probabilities.
    #[getter]
    fn has_probabilities(&self) -> PyResult<bool> {
        let loss = loss_of(self.0.loss())?;
        let of_member = |member: &margins::model::Member| member.probability(&*loss, 0.0).is_some();
        Ok(!self.0.scheme().scores_together() && self.0.members().iter().all(of_member))
    }
}

impl Model {
    /// Returns the model for Python.
    pub(crate) fn new(model: margins::Model) -> Self {
        Model(Arc::new(model))
    }

    /// Returns scores as the library has them.
    fn checked(&self, scores: &PyReadonlyArray2<'_, f64>) -> PyResult<DMatrix<f64>> {
        let scores = scores.as_array();
        let (found, expected) = (scores.ncols(), self.0.scores_per_sample());
        if found != expected {
            let message = format!("there are {found} columns of scores, but must be {expected}");
            return Err(PyValueError::new_err(message));
        }
        Ok(DMatrix::from_fn(scores.nrows(), scores.ncols(), |i, j| scores[(i, j)]))
    }
}

/// The classifiers along a path of C, as files keep them.
#[pyclass(frozen, module = "margins_learn._native")]
pub(crate) struct ModelPath(Arc<margins::model::ModelPath>);

#[pymethods]
impl ModelPath {
    /// Returns the models of bytes that [`to_bytes`](Self::to_bytes) has written.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let bytes = bytes.to_vec();
        let read =
            move || Ok(margins::model::ModelPath::from_bytes(&bytes, &Registry::standard())?);
        run(py, 1, &Stop::default(), read).map(ModelPath::new)
    }

    /// Returns the bytes of the models, with a checksum.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let models = Arc::clone(&self.0);
        let written = move || Ok(models.to_bytes(Format::Binary)?);
        let bytes = run(py, 1, &Stop::default(), written)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = py.get_type::<ModelPath>().getattr("from_bytes")?;
        Ok((read, (self.to_bytes(py)?,)))
    }

    fn __repr__(&self) -> String {
        let lambdas = self.0.lambdas().len();
        format!("<ModelPath: loss='{}', lambdas={lambdas}>", self.0.first().loss())
    }

    /// Writes the models to a file, as JSON if its name ends in .json, else binary, with the type that
    /// the labels had.
    fn save(&self, py: Python<'_>, path: PathBuf, label_type: Option<String>) -> PyResult<()> {
        let models = Arc::clone(&self.0);
        let write = move || {
            let typed = (*models).clone().try_map(|model| Ok(model.with_label_type(label_type)))?;
            Ok(typed.save(path)?)
        };
        run(py, 1, &Stop::default(), write)
    }

    /// Returns the model at a lambda that was fitted.
    fn at(&self, py: Python<'_>, penalty: f64) -> PyResult<Model> {
        let models = Arc::clone(&self.0);
        run_sized(py, None, 0, move || Ok(models.at(penalty)?)).map(Model::new)
    }
}

impl ModelPath {
    /// Returns the models for Python.
    pub(crate) fn new(models: margins::model::ModelPath) -> Self {
        ModelPath(Arc::new(models))
    }
}

/// Returns a matrix as an array.
pub(crate) fn to_array<'py>(py: Python<'py>, matrix: &DMatrix<f64>) -> Bound<'py, PyArray2<f64>> {
    Array2::from_shape_fn(matrix.shape(), |at| matrix[at]).into_pyarray(py)
}
