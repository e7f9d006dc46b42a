//! Models as JSON text; `docs/json.md` has the fields.

use std::borrow::Cow;
use std::io::Write;

use margins_data::encode::Encoding;
use margins_data::{Design, Sample};
use serde::de::{DeserializeSeed, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::scheme::SchemeInFile;
use super::{Format, Header, Parts, Steps, check_version};
use crate::{Basis, Error, Functions, Member, Model, ModelPath, Registry};

/// The first field of every model in JSON.
const FORMAT: &str = "margins-model";

/// The fields that identify a model, read before the rest so that a file of another version is
/// reported as one.
#[derive(Deserialize)]
struct Preamble {
    format: Option<String>,
    version: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<'a> {
    format: Cow<'a, str>,
    version: u32,
    crate_version: Cow<'a, str>,
    loss: Cow<'a, str>,
    scheme: SchemeInFile,
    classes: Cow<'a, [String]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label_type: Option<Cow<'a, str>>,
    feature_names: Option<Cow<'a, [String]>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoding: Option<Cow<'a, Encoding>>,
    basis: Option<BasisDocument>,
    members: Cow<'a, [Member]>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum BasisDocument {
    Kernel {
        kernel: String,
        scales: Option<Vec<f64>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        linear: Vec<usize>,
        samples: Samples,
    },
    Fourier {
        kernel: String,
        scales: Option<Vec<f64>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        linear: Vec<usize>,
        frequencies: Vec<Vec<f64>>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Samples {
    Dense(Vec<Vec<f64>>),
    Sparse { columns: usize, rows: Vec<Vec<(usize, f64)>> },
}

impl Serialize for Model {
    /// Writes the document that JSON files contain. It is for self-describing formats such as
    /// JSON; [`to_bytes`](Self::to_bytes) returns a compact form.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Document::of(Steps { model: self, further: &[] }).serialize(serializer)
    }
}

impl Serialize for ModelPath {
    /// Writes the document that JSON files contain, as that of a [`Model`].
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Document::of(Steps::of(self)).serialize(serializer)
    }
}

/// Reads models of the losses and kernels of this project. For others the [`Registry`] that knows
/// them is a [`DeserializeSeed`].
impl<'de> Deserialize<'de> for Model {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Registry::standard().deserialize(deserializer)
    }
}

/// Reads a [`Model`] of the losses and kernels of this registry.
impl<'de> DeserializeSeed<'de> for &Registry {
    type Value = Model;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Model, D::Error> {
        let document = Document::deserialize(deserializer)?;
        check(&document.format, Ok(document.version.into()))
            .and_then(|()| document.models(self)?.into_only())
            .map_err(D::Error::custom)
    }
}

pub(super) fn write(steps: Steps<'_>, mut out: impl Write) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut out, &Document::of(steps))?;
    out.write_all(b"\n")
}

pub(super) fn read(text: &[u8], registry: &Registry) -> Result<(Header, ModelPath), Error> {
    let refuse = |error: serde_json::Error| Error::NotAModel(error.to_string());
    let missing = |field: &str| Error::NotAModel(format!("it has no field '{field}'"));
    let Preamble { format, version } = serde_json::from_slice(text).map_err(refuse)?;
    let format = format.ok_or_else(|| missing("format"))?;
    check(&format, version.ok_or_else(|| missing("version")))?;
    let document: Document<'_> = serde_json::from_slice(text).map_err(refuse)?;
    let header = Header {
        format: Format::Json,
        version: document.version,
        crate_version: document.crate_version.to_string(),
        length: text.len(),
        checksum: None,
    };
    Ok((header, document.models(registry)?))
}

fn check(format: &str, version: Result<u64, Error>) -> Result<(), Error> {
    if format != FORMAT {
        return Err(Error::NotAModel(format!("its format is '{format}', not '{FORMAT}'")));
    }
    check_version(version?)
}

impl<'a> Document<'a> {
    fn of(steps: Steps<'a>) -> Self {
        let model = steps.model;
        Document {
            format: FORMAT.into(),
            version: steps.version(),
            crate_version: env!("CARGO_PKG_VERSION").into(),
            loss: model.loss().into(),
            scheme: SchemeInFile::of(model),
            classes: model.classes().into(),
            label_type: model.label_type().map(Cow::Borrowed),
            feature_names: model.feature_names().map(Cow::Borrowed),
            encoding: model.encoding().map(Cow::Borrowed),
            basis: model.basis().map(BasisDocument::of),
            members: match steps.further {
                [] => model.members().into(),
                _ => steps.members().cloned().collect(),
            },
        }
    }

    fn models(self, registry: &Registry) -> Result<ModelPath, Error> {
        Parts {
            version: self.version,
            loss: registry.losses.parse(&self.loss).map_err(Error::Loss)?,
            classes: self.classes.into_owned(),
            scheme: self.scheme,
            feature_names: self.feature_names.map(Cow::into_owned),
            basis: self.basis.map(|basis| basis.basis(registry)).transpose()?,
            members: self.members.into_owned(),
            encoding: self.encoding.map(Cow::into_owned),
            label_type: self.label_type.map(Cow::into_owned),
        }
        .models()
    }
}

impl BasisDocument {
    fn of(basis: &Basis) -> Self {
        let (kernel, scales) = (basis.kernel().to_owned(), basis.scales().map(<[f64]>::to_vec));
        let linear = basis.linear().to_vec();
        match basis.functions() {
            Functions::Sections(design) => {
                BasisDocument::Kernel { kernel, scales, linear, samples: Samples::of(design) }
            }
            Functions::Fourier(design) => {
                BasisDocument::Fourier { kernel, scales, linear, frequencies: rows(design) }
            }
        }
    }

    fn basis(self, registry: &Registry) -> Result<Basis, Error> {
        let wrong = |what: &str, error| Error::Invalid(format!("its {what}: {error}"));
        let (kernel, scales, linear, functions) = match self {
            BasisDocument::Kernel { kernel, scales, linear, samples } => {
                let samples = samples.design().map_err(|error| wrong("samples", error))?;
                (kernel, scales, linear, Functions::Sections(samples))
            }
            BasisDocument::Fourier { kernel, scales, linear, frequencies } => {
                let frequencies = Design::from_rows(&frequencies);
                let frequencies = frequencies.map_err(|error| wrong("frequencies", error))?;
                (kernel, scales, linear, Functions::Fourier(frequencies))
            }
        };
        Basis::read(&kernel, scales, functions, linear, registry)
    }
}

impl Samples {
    fn of(design: &Design) -> Self {
        if design.is_sparse() {
            let rows = design.samples().map(stored).collect();
            Samples::Sparse { columns: design.columns(), rows }
        } else {
            Samples::Dense(rows(design))
        }
    }

    fn design(&self) -> Result<Design, margins_data::Error> {
        match self {
            Samples::Dense(rows) => Design::from_rows(rows),
            Samples::Sparse { columns, rows } => Design::from_sparse_rows(rows, *columns),
        }
    }
}

fn stored(sample: Sample<'_>) -> Vec<(usize, f64)> {
    let mut row = Vec::new();
    sample.for_each(|column, value| row.push((column, value)));
    row
}

fn rows(design: &Design) -> Vec<Vec<f64>> {
    let values = |sample| stored(sample).into_iter().map(|(_, value)| value).collect();
    design.samples().map(values).collect()
}
