//! Model files.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use margins_data::{Dataset, Design, Sample};
use margins_kernels::combine;
use margins_kernels::features::RandomFourierMap;
use margins_losses::MarginLoss;
use margins_optim::online::LinearClassifier;
use margins_optim::{Fit, Lambda, Status};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use thiserror::Error;

use crate::{Prepared, Registry};

/// First field of every model file.
const FORMAT: &str = "margins-model";

/// Version of the layout that this crate writes.
const VERSION: u32 = 2;

/// What can be wrong with a model file or with the data that a model is applied to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The text is not a model.
    #[error("{path} is not a model file: {reason}")]
    NotAModel {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The fit has no usable numbers.
    #[error("{path} is not written, for the fit is of no use: {reason}")]
    NotFinite {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The layout is newer than this program.
    #[error("{path} has model version {found}; this program reads versions up to {VERSION}")]
    Version {
        /// The file.
        path: String,
        /// The version found.
        found: u32,
    },
    /// The loss is not registered.
    #[error("{path}: {source}")]
    Loss {
        /// The file.
        path: String,
        /// What the registry says.
        source: margins_losses::Error,
    },
    /// The kernel is not registered.
    #[error("{path}: {source}")]
    Kernel {
        /// The file.
        path: String,
        /// What the registry says.
        source: margins_kernels::Error,
    },
    /// A kernel cannot be evaluated.
    #[error(transparent)]
    Kernels(#[from] margins_kernels::Error),
    /// Features overflow when they are scaled.
    #[error(transparent)]
    Data(#[from] margins_data::Error),
    /// Another number of features than the model has.
    #[error("the model has {expected} features, the data {found}{}", unknown(extra))]
    Columns {
        /// Features of the model.
        expected: usize,
        /// Features of the data.
        found: usize,
        /// Names in the data that the model does not know.
        extra: Vec<String>,
    },
    /// Another feature than the model has in this place.
    #[error("feature {position} is '{found}' in the data, but '{expected}' in the model")]
    FeatureName {
        /// One-based position.
        position: usize,
        /// Name in the model.
        expected: String,
        /// Name in the data.
        found: String,
    },
}

/// The first few names that a model does not know, in words.
fn unknown(extra: &[String]) -> String {
    const MOST: usize = 5;
    if extra.is_empty() {
        return String::new();
    }
    let names: Vec<String> = extra.iter().take(MOST).map(|name| format!("'{name}'")).collect();
    let more = if extra.len() > MOST { ", ..." } else { "" };
    format!("; it does not know {}{more}", names.join(", "))
}

/// A classifier with what is needed to apply it and to know where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    format: String,
    version: u32,
    /// Specification of the loss, such as `l-r:r=2`.
    pub loss: String,
    /// Name of the class of positive scores.
    pub positive_class: String,
    /// Name of the other class.
    pub negative_class: String,
    /// Names of the features, if the data had any.
    pub feature_names: Option<Vec<String>>,
    /// The regularisation.
    pub lambda: f64,
    /// `b`.
    pub intercept: f64,
    /// `w`, for the features as given, or the coefficients of the functions of the basis.
    pub coef: Vec<f64>,
    /// The functions that the classifier is made of, if it is not linear in the features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// How the fit ended.
    pub training: TrainingSummary,
}

/// The functions of a sample that a classifier combines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Basis {
    /// Kernel sections at samples.
    Kernel {
        /// Specification of the kernel.
        kernel: String,
        /// What features are multiplied with before the kernel sees them.
        scales: Option<Vec<f64>>,
        /// The samples, scaled.
        samples: Samples,
    },
    /// Random Fourier features.
    Fourier {
        /// Specification of the kernel that they approximate.
        kernel: String,
        /// What features are multiplied with first.
        scales: Option<Vec<f64>>,
        /// The frequencies, p numbers each.
        frequencies: Vec<Vec<f64>>,
    },
}

/// Samples in a model file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Samples {
    /// Every feature of every sample.
    Dense(Vec<Vec<f64>>),
    /// Columns, counted from 0, with their values.
    Sparse {
        /// Number of features.
        columns: usize,
        /// The stored features of every sample, columns ascending.
        rows: Vec<Vec<(usize, f64)>>,
    },
}

impl From<&Design> for Samples {
    fn from(design: &Design) -> Self {
        let stored = |sample: Sample<'_>| {
            let mut row = Vec::new();
            sample.for_each(|column, value| row.push((column, value)));
            row
        };
        if design.is_sparse() {
            let rows = design.samples().map(stored).collect();
            Samples::Sparse { columns: design.columns(), rows }
        } else {
            let values = |sample| stored(sample).into_iter().map(|(_, value)| value).collect();
            Samples::Dense(design.samples().map(values).collect())
        }
    }
}

impl Samples {
    fn rows(&self) -> usize {
        match self {
            Samples::Dense(rows) => rows.len(),
            Samples::Sparse { rows, .. } => rows.len(),
        }
    }

    fn columns(&self) -> usize {
        match self {
            Samples::Dense(rows) => rows.first().map_or(0, Vec::len),
            Samples::Sparse { columns, .. } => *columns,
        }
    }

    fn design(&self) -> Result<Design, margins_data::Error> {
        match self {
            Samples::Dense(rows) => Design::from_rows(rows),
            Samples::Sparse { columns, rows } => Design::from_sparse_rows(rows, *columns),
        }
    }
}

impl Basis {
    /// Number of features of the samples that the functions are of.
    fn columns(&self) -> usize {
        match self {
            Basis::Kernel { samples, .. } => samples.columns(),
            Basis::Fourier { frequencies, .. } => frequencies.first().map_or(0, Vec::len),
        }
    }

    /// Number of functions.
    fn functions(&self) -> usize {
        match self {
            Basis::Kernel { samples, .. } => samples.rows(),
            Basis::Fourier { frequencies, .. } => 2 * frequencies.len(),
        }
    }

    fn check(&self) -> Result<(), String> {
        let (Basis::Kernel { scales, .. } | Basis::Fourier { scales, .. }) = self;
        if let Some(scales) = scales
            && (scales.len() != self.columns() || !scales.iter().all(|s| s.is_finite() && *s > 0.0))
        {
            return Err(format!(
                "its {} scales are not finite positive numbers for its {} features",
                scales.len(),
                self.columns()
            ));
        }
        match self {
            Basis::Kernel { samples, .. } => {
                samples.design().map(drop).map_err(|error| format!("its samples: {error}"))
            }
            Basis::Fourier { frequencies, .. } => {
                let design = Design::from_rows(frequencies);
                design.map(drop).map_err(|error| format!("its frequencies: {error}"))
            }
        }
    }
}

/// The certificate that a model was saved with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingSummary {
    /// Rows of the training data.
    pub rows: usize,
    /// Whether features were scaled to unit standard deviation during the fit.
    pub standardize: bool,
    /// The objective reached; unknown of a stream.
    pub objective: Option<f64>,
    /// A lower bound on its minimum, where one is known.
    pub dual_objective: Option<f64>,
    /// The gap between them relative to their size, where it is known.
    pub relative_gap: Option<f64>,
    /// Whether that gap is at most the tolerance.
    pub converged: bool,
}

impl Model {
    /// The model of a fit to `data`.
    pub fn new(
        loss: &dyn MarginLoss,
        data: &Dataset,
        prepared: &Prepared<'_>,
        standardize: bool,
        fit: &Fit,
    ) -> Self {
        let report = &fit.report;
        // A method without certificate has no bound to report, however it ended; any other that has none has
        // met numbers that overflowed, and says so.
        let uncertified =
            report.status != Status::NumericalTrouble && report.duality_gap == f64::INFINITY;
        let bound = |value: f64| (!uncertified).then_some(value);
        let (basis, coef) = prepared.basis(fit);
        Model {
            format: FORMAT.to_owned(),
            version: VERSION,
            loss: loss.specification(),
            positive_class: data.labels().positive_class().to_owned(),
            negative_class: data.labels().negative_class().to_owned(),
            feature_names: data.feature_names().map(<[String]>::to_vec),
            lambda: fit.lambda.get(),
            intercept: fit.intercept,
            coef,
            basis,
            training: TrainingSummary {
                rows: data.rows(),
                standardize,
                objective: Some(report.objective),
                dual_objective: bound(report.dual_objective),
                relative_gap: bound(report.relative_gap),
                converged: report.status == Status::Converged,
            },
        }
    }

    /// The model of a linear classifier learnt from a stream of `rows` samples, of the negative and the
    /// positive class. What the objective is there nobody knows.
    pub fn of_stream(
        loss: &dyn MarginLoss,
        lambda: Lambda,
        (negative, positive): (&str, &str),
        feature_names: Option<Vec<String>>,
        rows: usize,
        classifier: &LinearClassifier,
    ) -> Self {
        Model {
            format: FORMAT.to_owned(),
            version: VERSION,
            loss: loss.specification(),
            positive_class: positive.to_owned(),
            negative_class: negative.to_owned(),
            feature_names,
            lambda: lambda.get(),
            intercept: classifier.intercept,
            coef: classifier.coef.clone(),
            basis: None,
            training: TrainingSummary {
                rows,
                standardize: false,
                objective: None,
                dual_objective: None,
                relative_gap: None,
                converged: false,
            },
        }
    }

    /// Writes the model as JSON, to a temporary file first that then takes the name `path`.
    ///
    /// # Errors
    /// A fit whose numbers overflowed and that no program could apply; what the system says.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        self.check()
            .map_err(|reason| Error::NotFinite { path: path.display().to_string(), reason })?;
        let io = |source| Error::Io { path: path.display().to_string(), source };
        write_atomically(path, |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        })
        .map_err(io)
    }

    /// Reads a model and checks that it makes sense.
    ///
    /// # Errors
    /// A file that cannot be read, is no model, has a newer version, holds numbers that are not
    /// finite or contradicts itself, or whose loss or kernel is not in the registry.
    pub fn load(path: &Path, registry: &Registry) -> Result<Self, Error> {
        let name = || path.display().to_string();
        let file = File::open(path).map_err(|source| Error::Io { path: name(), source })?;
        let refuse = |reason: String| Error::NotAModel { path: name(), reason };
        let value: serde_json::Value = serde_json::from_reader(BufReader::new(file))
            .map_err(|error| refuse(error.to_string()))?;
        match value.get("format").and_then(serde_json::Value::as_str) {
            Some(FORMAT) => {}
            Some(other) => return Err(refuse(format!("its format is '{other}', not '{FORMAT}'"))),
            None => return Err(refuse("it has no field 'format'".to_owned())),
        }
        let Some(version) = value.get("version").and_then(serde_json::Value::as_u64) else {
            return Err(refuse("its field 'version' is missing or not a number".to_owned()));
        };
        if !(1..=u64::from(VERSION)).contains(&version) {
            let found = u32::try_from(version).unwrap_or(u32::MAX);
            return Err(Error::Version { path: name(), found });
        }
        let model: Model =
            serde_json::from_value(value).map_err(|error| refuse(error.to_string()))?;
        model.check().map_err(refuse)?;
        let losses = &registry.losses;
        losses.parse(&model.loss).map_err(|source| Error::Loss { path: name(), source })?;
        if let Some(Basis::Kernel { kernel, .. } | Basis::Fourier { kernel, .. }) = &model.basis {
            let kernel = registry.kernels.parse(kernel);
            kernel.map_err(|source| Error::Kernel { path: name(), source })?;
        }
        Ok(model)
    }

    fn check(&self) -> Result<(), String> {
        if !(self.lambda.is_finite() && self.lambda > 0.0) {
            return Err(format!("its lambda is {:?}", self.lambda));
        }
        if self.coef.is_empty() {
            return Err("it has no coefficients".to_owned());
        }
        if let Some(basis) = &self.basis {
            if basis.functions() != self.coef.len() {
                return Err(format!(
                    "it has {} functions for {} coefficients",
                    basis.functions(),
                    self.coef.len()
                ));
            }
            basis.check()?;
        }
        if let Some(names) = &self.feature_names
            && names.len() != self.columns()
        {
            return Err(format!(
                "it has {} feature names for {} features",
                names.len(),
                self.columns()
            ));
        }
        if !(self.intercept.is_finite() && self.coef.iter().all(|w| w.is_finite())) {
            return Err("a coefficient is not finite".to_owned());
        }
        let training = &self.training;
        let numbers = [training.objective, training.dual_objective, training.relative_gap];
        if !numbers.iter().flatten().all(|x| x.is_finite()) {
            return Err("its objective or the gap of it is not finite".to_owned());
        }
        if self.positive_class == self.negative_class {
            return Err(format!("both of its classes are '{}'", self.positive_class));
        }
        Ok(())
    }

    /// Number of features.
    pub fn columns(&self) -> usize {
        self.basis.as_ref().map_or(self.coef.len(), Basis::columns)
    }

    /// Whether the model can be applied to features with these names, or to as many without names.
    ///
    /// # Errors
    /// Another number of features; another name in some place.
    pub fn accept(&self, columns: usize, names: Option<&[String]>) -> Result<(), Error> {
        if columns != self.columns() {
            let unknown = |name: &&String| !self.feature_names.iter().flatten().any(|n| n == *name);
            let extra = match self.feature_names {
                Some(_) => names.unwrap_or_default().iter().filter(unknown).cloned().collect(),
                None => Vec::new(),
            };
            return Err(Error::Columns { expected: self.columns(), found: columns, extra });
        }
        if let (Some(ours), Some(theirs)) = (&self.feature_names, names) {
            for (k, (expected, found)) in ours.iter().zip(theirs).enumerate() {
                if expected != found {
                    return Err(Error::FeatureName {
                        position: k + 1,
                        expected: expected.clone(),
                        found: found.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// The score of every sample, `b + <w, x>` or `b + sum_j a_j k(z_j, x)`; kernel values are computed in
    /// blocks on the current rayon pool.
    ///
    /// # Errors
    /// Another number of features; a kernel that is not in the registry; values that overflow.
    pub fn decision_function(
        &self,
        design: &Design,
        registry: &Registry,
    ) -> Result<Vec<f64>, Error> {
        self.accept(design.columns(), None)?;
        let scale = |scales: &Option<Vec<f64>>| match scales {
            Some(scales) => {
                let mut scaled = design.clone();
                scaled.scale_columns(scales);
                Cow::Owned(scaled)
            }
            None => Cow::Borrowed(design),
        };
        let linear = |design: &Design| {
            let mut scores = vec![0.0; design.rows()];
            design.multiply(&self.coef, &mut scores);
            scores
        };
        let mut scores = match &self.basis {
            None => linear(design),
            Some(Basis::Kernel { kernel, scales, samples }) => {
                let kernel = registry.kernels.parse(kernel)?;
                combine(&*kernel, &scale(scales), &samples.design()?, &self.coef)?
            }
            Some(Basis::Fourier { scales, frequencies, .. }) => {
                let columns = frequencies.concat();
                let (p, count) = (self.columns(), frequencies.len());
                let map = RandomFourierMap::from(DMatrix::from_vec(p, count, columns));
                linear(&map.transform(&scale(scales))?)
            }
        };
        for score in &mut scores {
            *score += self.intercept;
        }
        Ok(scores)
    }

    /// The sign of a label, compared as numbers where both are numbers; `None` for no class of the
    /// model.
    pub fn sign(&self, label: &str) -> Option<f64> {
        let equal = |class: &str| {
            class == label
                || match (class.trim().parse::<f64>(), label.trim().parse::<f64>()) {
                    (Ok(class), Ok(label)) => class == label,
                    _ => false,
                }
        };
        if equal(&self.positive_class) {
            Some(1.0)
        } else if equal(&self.negative_class) {
            Some(-1.0)
        } else {
            None
        }
    }

    /// The class of a score: the positive one if it is greater than 0.
    pub fn label(&self, score: f64) -> &str {
        if score > 0.0 { &self.positive_class } else { &self.negative_class }
    }
}

/// Writes a file so that an interruption leaves either the old file or the new one: to a temporary file
/// in the same directory that takes the name, and the permissions of the old file, when all is
/// written. Symbolic links are followed; what is no regular file (a device, a pipe) is written to
/// directly.
///
/// # Errors
/// What the system or `write` says.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let existing = std::fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
        let mut out = BufWriter::new(File::options().write(true).open(path)?);
        write(&mut out)?;
        return out.flush();
    }
    let path = if existing.is_some() { path.canonicalize()? } else { path.to_path_buf() };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let temporary = new_file_in(directory)?;
    if let Some(existing) = existing {
        temporary.as_file().set_permissions(existing.permissions())?;
    }
    let mut out = BufWriter::new(temporary);
    write(&mut out)?;
    let temporary = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    temporary.as_file().sync_all()?;
    temporary.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

/// A temporary file with the permissions of any new file, not the private ones of a temporary file.
fn new_file_in(directory: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666))
    };
    builder.tempfile_in(directory)
}
