//! Models as JSON text: every version is read, the latest written.

use std::borrow::Cow;

use margins_data::encode::Encoding;
use margins_data::{Design, Sample};
use serde::de::{DeserializeSeed, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{FIRST_SEVERAL, Format, Header, version_of};
use crate::error::VERSION;
use crate::{Basis, Error, Functions, LabelType, Member, Model, Registry, Scheme, TrainingSummary};

/// The first field of every model in JSON.
const FORMAT: &str = "margins-model";

/// The fields that tell the versions apart.
#[derive(Deserialize)]
struct Preamble {
    format: Option<String>,
    version: Option<u64>,
}

/// A model in version 3, in version 4, which may have an encoding, or in version 5, which may have a
/// type of labels too.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<'a> {
    format: Cow<'a, str>,
    version: u32,
    crate_version: Cow<'a, str>,
    loss: Cow<'a, str>,
    scheme: Scheme,
    classes: Cow<'a, [String]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label_type: Option<LabelType>,
    feature_names: Option<Cow<'a, [String]>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoding: Option<Cow<'a, Encoding>>,
    basis: Option<BasisDocument>,
    members: Cow<'a, [Member]>,
}

/// A model in version 2, or in version 1, which has no basis.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BinaryDocument {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u32,
    loss: String,
    positive_class: String,
    negative_class: String,
    feature_names: Option<Vec<String>>,
    lambda: f64,
    intercept: f64,
    coef: Vec<f64>,
    basis: Option<BasisDocument>,
    training: TrainingSummary,
}

/// A basis, from version 2.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum BasisDocument {
    Kernel { kernel: String, scales: Option<Vec<f64>>, samples: Samples },
    Fourier { kernel: String, scales: Option<Vec<f64>>, frequencies: Vec<Vec<f64>> },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Samples {
    Dense(Vec<Vec<f64>>),
    Sparse { columns: usize, rows: Vec<Vec<(usize, f64)>> },
}

impl Serialize for Model {
    /// Writes the document that JSON files hold. The function is for formats
    /// that describe themselves, as JSON does; [`to_bytes`](Self::to_bytes) makes a compact form.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document = Document {
            format: FORMAT.into(),
            version: version_of(self),
            crate_version: env!("CARGO_PKG_VERSION").into(),
            loss: self.loss().into(),
            scheme: self.scheme(),
            classes: self.classes().into(),
            label_type: self.label_type(),
            feature_names: self.feature_names().map(Cow::Borrowed),
            encoding: self.encoding().map(Cow::Borrowed),
            basis: self.basis().map(BasisDocument::of),
            members: self.members().into(),
        };
        document.serialize(serializer)
    }
}

/// Models of losses and kernels of this project are read from the document of version 3 or later.
/// For others the [`Registry`] that knows them is a [`DeserializeSeed`].
impl<'de> Deserialize<'de> for Model {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Registry::standard().deserialize(deserializer)
    }
}

/// A [`Model`] from the document of version 3 or later, of losses and kernels of this registry.
impl<'de> DeserializeSeed<'de> for &Registry {
    type Value = Model;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Model, D::Error> {
        let document = Document::deserialize(deserializer)?;
        document.check().and_then(|()| document.model(self)).map_err(D::Error::custom)
    }
}

pub(super) fn write(model: &Model) -> Result<Vec<u8>, Error> {
    let mut text = serde_json::to_vec_pretty(model).map_err(std::io::Error::from)?;
    text.push(b'\n');
    Ok(text)
}

pub(super) fn read(text: &[u8], registry: &Registry) -> Result<(Header, Model), Error> {
    let refuse = |error: serde_json::Error| Error::NotAModel(error.to_string());
    let preamble: Preamble = serde_json::from_slice(text).map_err(refuse)?;
    match preamble.format {
        Some(format) => check_format(&format)?,
        None => return Err(Error::NotAModel("it has no field 'format'".to_owned())),
    }
    let header = |version| Header {
        format: Format::Json,
        version,
        crate_version: None,
        length: text.len(),
        checksum: None,
    };
    match preamble.version {
        Some(version @ 1..=2) => {
            let document: BinaryDocument = serde_json::from_slice(text).map_err(refuse)?;
            Ok((header(version as u32), document.model(registry)?))
        }
        Some(version @ 3..=5) => {
            let document: Document<'_> = serde_json::from_slice(text).map_err(refuse)?;
            let crate_version = Some(document.crate_version.to_string());
            Ok((Header { crate_version, ..header(version as u32) }, document.model(registry)?))
        }
        Some(found) => Err(Error::Version { found }),
        None => Err(Error::NotAModel("its field 'version' is missing".to_owned())),
    }
}

fn check_format(format: &str) -> Result<(), Error> {
    match format {
        FORMAT => Ok(()),
        _ => Err(Error::NotAModel(format!("its format is '{format}', not '{FORMAT}'"))),
    }
}

impl Document<'_> {
    fn check(&self) -> Result<(), Error> {
        check_format(&self.format)?;
        match self.version {
            FIRST_SEVERAL..=VERSION => Ok(()),
            other => Err(Error::Version { found: other.into() }),
        }
    }

    fn model(self, registry: &Registry) -> Result<Model, Error> {
        let basis = self.basis.map(|basis| basis.basis(registry)).transpose()?;
        let loss = registry.losses.parse(&self.loss).map_err(Error::Loss)?;
        Model::from_members(
            &*loss,
            self.classes.into_owned(),
            self.scheme,
            self.feature_names.map(Cow::into_owned),
            basis,
            self.members.into_owned(),
        )?
        .with_encoding(self.encoding.map(Cow::into_owned))
        .map(|model| model.with_label_type(self.label_type))
    }
}

impl BinaryDocument {
    fn model(self, registry: &Registry) -> Result<Model, Error> {
        let BinaryDocument { lambda, intercept, coef, training, .. } = self;
        let basis = self.basis.map(|basis| basis.basis(registry)).transpose()?;
        let loss = registry.losses.parse(&self.loss).map_err(Error::Loss)?;
        Model::from_members(
            &*loss,
            vec![self.negative_class, self.positive_class],
            Scheme::Binary,
            self.feature_names,
            basis,
            vec![Member { lambda: Some(lambda), intercept, coef, training, platt: None }],
        )
    }
}

impl BasisDocument {
    fn of(basis: &Basis) -> Self {
        let (kernel, scales) = (basis.kernel().to_owned(), basis.scales().map(<[f64]>::to_vec));
        match basis.functions() {
            Functions::Sections(design) => {
                BasisDocument::Kernel { kernel, scales, samples: Samples::of(design) }
            }
            Functions::Fourier(design) => {
                BasisDocument::Fourier { kernel, scales, frequencies: rows(design) }
            }
        }
    }

    fn basis(self, registry: &Registry) -> Result<Basis, Error> {
        let wrong = |what: &str, error| Error::Invalid(format!("its {what}: {error}"));
        let (kernel, scales, functions) = match self {
            BasisDocument::Kernel { kernel, scales, samples } => {
                let samples = samples.design().map_err(|error| wrong("samples", error))?;
                (kernel, scales, Functions::Sections(samples))
            }
            BasisDocument::Fourier { kernel, scales, frequencies } => {
                let frequencies = Design::from_rows(&frequencies);
                let frequencies = frequencies.map_err(|error| wrong("frequencies", error))?;
                (kernel, scales, Functions::Fourier(frequencies))
            }
        };
        Basis::read(&kernel, scales, functions, registry)
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
