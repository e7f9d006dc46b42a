//! Models as bytes: the only place that knows bincode. `docs/model-files.md` has the layout.
//!
//! Nothing here trusts a length that it has read. Text is borrowed from the file; lists grow as
//! their elements are read (serde reserves at most a mebibyte at once), so that a length beyond the
//! end of the file is an error before it is an allocation.

use std::borrow::Cow;
use std::fmt::Display;

use bincode::config::{Configuration, Fixint, Limit, LittleEndian};
use bincode::error::DecodeError;
use margins_calibration::probability::PlattScaling;
use margins_data::Design;
use margins_data::encode::Encoding;
use nalgebra::DMatrix;
use nalgebra_sparse::CsrMatrix;
use serde::{Deserialize, Serialize};

use super::frame::{self, Frame, PREFIX};
use super::scheme::SchemeInFile;
use super::{Format, Header, Parts, Steps, check_version};
use crate::{Basis, Error, Functions, Member, ModelPath, Registry, TrainingSummary};

/// The first bytes, made as those of PNG: a byte that no text has, the name, and line ends that a
/// transfer as text would change.
const MAGIC: [u8; 8] = *b"\x89MGN\r\n\x1a\n";

/// The most bytes that the description may have: 1 GiB.
const MOST_DESCRIPTION: usize = 1 << 30;

/// The most bytes that the numbers may have: as many as memory can hold.
const MOST_NUMBERS: usize = isize::MAX as usize;

type Bytes<const MOST: usize> = Configuration<LittleEndian, Fixint, Limit<MOST>>;

/// Returns the encoding of bytes: integers and lengths in 8 bytes, little-endian.
fn encoding<const MOST: usize>() -> Bytes<MOST> {
    bincode::config::standard().with_fixed_int_encoding().with_limit::<MOST>()
}

/// All but the numbers of a model. Texts are borrowed: for owned ones bincode reserves whatever
/// length the file states.
#[derive(Serialize, Deserialize)]
struct Description<'a> {
    crate_version: &'a str,
    loss: &'a str,
    kernel: Option<&'a str>,
    scheme: SchemeInFile,
    #[serde(borrow)]
    classes: Vec<&'a str>,
    #[serde(borrow)]
    feature_names: Option<Vec<&'a str>>,
    fits: Vec<FitDescription>,
    /// The encoding, as JSON.
    encoding: Option<&'a str>,
    label_type: Option<&'a str>,
}

/// A member but for its coefficients.
#[derive(Serialize, Deserialize)]
struct FitDescription {
    /// The regularisation; 0 stands for none.
    lambda: f64,
    training: TrainingSummary,
    platt: Option<PlattScaling>,
}

/// The numbers of a model.
#[derive(Serialize, Deserialize)]
struct Numbers<'a> {
    /// The intercepts, one per member.
    intercepts: Vec<f64>,
    /// The coefficients, one list a member.
    coefs: Vec<Cow<'a, [f64]>>,
    scales: Option<Cow<'a, [f64]>>,
    /// The features that are functions by themselves, before the others.
    linear: Vec<u32>,
    functions: FunctionNumbers<'a>,
}

#[derive(Serialize, Deserialize)]
enum FunctionNumbers<'a> {
    /// The features themselves.
    None,
    /// Dense samples, one after the other.
    Dense { columns: u32, values: Cow<'a, [f64]> },
    /// Sparse samples, in compressed rows.
    Sparse { columns: u32, offsets: Vec<u64>, indices: Vec<u32>, values: Vec<f64> },
    /// Frequencies, one after the other.
    Fourier { columns: u32, values: Cow<'a, [f64]> },
}

/// Returns true if the bytes are meant to be a binary model; the rest of the magic may be damaged.
pub(super) fn starts(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC[..4])
}

pub(super) fn write(steps: Steps<'_>) -> Result<Vec<u8>, Error> {
    let model = steps.model;
    let fit = |member: &Member| FitDescription {
        lambda: member.lambda.unwrap_or(0.0),
        training: member.training.clone(),
        platt: member.platt,
    };
    let columns = model.encoding().map(serde_json::to_string).transpose();
    let columns = columns.map_err(|error| Error::Invalid(error.to_string()))?;
    let description = Description {
        crate_version: env!("CARGO_PKG_VERSION"),
        loss: model.loss(),
        kernel: model.basis().map(Basis::kernel),
        scheme: SchemeInFile::of(model),
        classes: borrowed(model.classes()),
        feature_names: model.feature_names().map(borrowed),
        fits: steps.members().map(fit).collect(),
        encoding: columns.as_deref(),
        label_type: model.label_type(),
    };
    let numbers = Numbers {
        intercepts: steps.members().map(|member| member.intercept).collect(),
        coefs: steps.members().map(|member| Cow::from(&member.coef)).collect(),
        scales: model.basis().and_then(Basis::scales).map(Cow::from),
        // A basis has no more features than fit in 32 bits.
        linear: model
            .basis()
            .map_or(Vec::new(), |basis| basis.linear().iter().map(|&j| j as u32).collect()),
        functions: FunctionNumbers::of(model.basis().map(Basis::functions)),
    };
    let mut bytes = vec![0; PREFIX];
    append(&mut bytes, &description, encoding::<MOST_DESCRIPTION>())?;
    let description_length = bytes.len() - PREFIX;
    if description_length > MOST_DESCRIPTION {
        return Err(Error::Invalid(format!(
            "its description has {description_length} bytes, more than {MOST_DESCRIPTION}"
        )));
    }
    append(&mut bytes, &numbers, encoding::<MOST_NUMBERS>())?;
    Ok(frame::close(bytes, &MAGIC, steps.version(), description_length))
}

fn borrowed(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

fn owned(list: Vec<&str>) -> Vec<String> {
    list.into_iter().map(str::to_owned).collect()
}

fn append<const MOST: usize>(
    bytes: &mut Vec<u8>,
    part: &impl Serialize,
    encoding: Bytes<MOST>,
) -> Result<(), Error> {
    let written = bincode::serde::encode_into_std_write(part, bytes, encoding);
    written.map(drop).map_err(|error| Error::Invalid(error.to_string()))
}

pub(super) fn read(bytes: &[u8], registry: &Registry) -> Result<(Header, ModelPath), Error> {
    let (frame, [description, numbers]) = split(bytes)?;
    let (stored, computed) = (frame.stored, frame.computed());
    if stored != computed {
        return Err(Error::Checksum { stored, computed });
    }
    let description: Description<'_> =
        decode("description", description, encoding::<MOST_DESCRIPTION>())?;
    let numbers: Numbers<'_> = decode("numbers", numbers, encoding::<MOST_NUMBERS>())?;
    let header = Header {
        format: Format::Binary,
        version: frame.version,
        crate_version: description.crate_version.to_owned(),
        length: bytes.len(),
        checksum: Some(stored),
    };
    let models = parts(description, numbers, frame.version, registry)?.models()?;
    Ok((header, models))
}

/// Returns the frame, and the bytes of description and numbers.
fn split(bytes: &[u8]) -> Result<(Frame<'_>, [&[u8]; 2]), Error> {
    let frame = Frame::of(bytes, &MAGIC).map_err(Error::NotAModel)?;
    let (version, [description, _]) = (frame.version, frame.lengths);
    check_version(version.into())?;
    if description > MOST_DESCRIPTION as u64 {
        return Err(Error::NotAModel(format!(
            "its description has {description} bytes, more than {MOST_DESCRIPTION}"
        )));
    }
    let parts = frame.parts().map_err(Error::NotAModel)?;
    Ok((frame, parts))
}

/// Reads a part, which must take up its bytes to the last.
fn decode<'a, T: Deserialize<'a>, const MOST: usize>(
    what: &str,
    bytes: &'a [u8],
    encoding: Bytes<MOST>,
) -> Result<T, Error> {
    match bincode::serde::borrow_decode_from_slice(bytes, encoding) {
        Ok((part, read)) if read == bytes.len() => Ok(part),
        Ok((_, read)) => Err(Error::NotAModel(format!(
            "its {what}: {} of {} bytes are left over",
            bytes.len() - read,
            bytes.len()
        ))),
        Err(error) => Err(Error::NotAModel(format!("its {what}: {}", explain(&error)))),
    }
}

fn explain(error: &DecodeError) -> String {
    match error {
        DecodeError::UnexpectedEnd { .. } | DecodeError::LimitExceeded => {
            "a length in it goes beyond its end".to_owned()
        }
        DecodeError::Utf8 { .. } => "a text in it is not UTF-8".to_owned(),
        DecodeError::InvalidBooleanValue(value) => format!("{value} is neither 0 nor 1"),
        DecodeError::UnexpectedVariant { type_name, found, .. } => {
            format!("{found} is no variant of {type_name}")
        }
        DecodeError::Other(reason) => (*reason).to_owned(),
        DecodeError::OtherString(reason) => reason.clone(),
        other => format!("{other:?}"),
    }
}

fn parts(
    description: Description<'_>,
    numbers: Numbers<'_>,
    version: u32,
    registry: &Registry,
) -> Result<Parts, Error> {
    let encoding: Option<Encoding> = description
        .encoding
        .map(serde_json::from_str)
        .transpose()
        .map_err(|error| Error::NotAModel(format!("its encoding: {error}")))?;
    let fits = description.fits.len();
    for (what, found) in
        [("intercepts", numbers.intercepts.len()), ("lists of coefficients", numbers.coefs.len())]
    {
        if found != fits {
            return Err(Error::Invalid(format!("it has {found} {what} for {fits} members")));
        }
    }
    let basis = match (description.kernel, numbers.functions.functions()?) {
        (Some(kernel), Some(functions)) => {
            let linear = numbers.linear.iter().map(|&j| j as usize).collect();
            let scales = numbers.scales.map(Cow::into_owned);
            Some(Basis::read(kernel, scales, functions, linear, registry)?)
        }
        (None, None) if numbers.scales.is_none() && numbers.linear.is_empty() => None,
        _ => return Err(Error::Invalid("it has half of a basis".to_owned())),
    };
    let loss = registry.losses.parse(description.loss).map_err(Error::Loss)?;
    let member = |((fit, intercept), coef): ((FitDescription, f64), Cow<'_, [f64]>)| Member {
        lambda: (fit.lambda != 0.0).then_some(fit.lambda),
        intercept,
        coef: coef.into_owned(),
        training: fit.training,
        platt: fit.platt,
    };
    let members = description.fits.into_iter().zip(numbers.intercepts).zip(numbers.coefs);
    Ok(Parts {
        version,
        loss,
        classes: owned(description.classes),
        scheme: description.scheme,
        feature_names: description.feature_names.map(owned),
        basis,
        members: members.map(member).collect(),
        encoding,
        label_type: description.label_type.map(str::to_owned),
    })
}

impl<'a> FunctionNumbers<'a> {
    fn of(functions: Option<&'a Functions>) -> Self {
        // A basis has no more features than fit in 32 bits.
        let columns = |design: &Design| design.columns() as u32;
        let values = |design: &'a Design| design.dense_samples().unwrap_or_default().into();
        match functions {
            None => FunctionNumbers::None,
            Some(Functions::Fourier(frequencies)) => FunctionNumbers::Fourier {
                columns: columns(frequencies),
                values: values(frequencies),
            },
            Some(Functions::Sections(samples)) if samples.is_sparse() => {
                let mut offsets = vec![0];
                let (mut indices, mut stored) = (Vec::new(), Vec::new());
                for sample in samples.samples() {
                    sample.for_each(|column, value| {
                        indices.push(column as u32);
                        stored.push(value);
                    });
                    offsets.push(indices.len() as u64);
                }
                let columns = columns(samples);
                FunctionNumbers::Sparse { columns, offsets, indices, values: stored }
            }
            Some(Functions::Sections(samples)) => {
                FunctionNumbers::Dense { columns: columns(samples), values: values(samples) }
            }
        }
    }

    fn functions(self) -> Result<Option<Functions>, Error> {
        Ok(Some(match self {
            FunctionNumbers::None => return Ok(None),
            FunctionNumbers::Dense { columns, values } => {
                Functions::Sections(dense("samples", columns, values)?)
            }
            FunctionNumbers::Fourier { columns, values } => {
                Functions::Fourier(dense("frequencies", columns, values)?)
            }
            FunctionNumbers::Sparse { columns, offsets, indices, values } => {
                Functions::Sections(sparse(columns, &offsets, &indices, values)?)
            }
        }))
    }
}

fn wrong(what: &str, reason: impl Display) -> Error {
    Error::Invalid(format!("its {what}: {reason}"))
}

fn dense(what: &str, columns: u32, values: Cow<'_, [f64]>) -> Result<Design, Error> {
    let (p, count) = (columns as usize, values.len());
    if p == 0 || count % p != 0 {
        return Err(wrong(what, format!("{count} numbers are no rows of {p}")));
    }
    let samples = DMatrix::from_vec(p, count / p, values.into_owned());
    Design::from_samples(samples).map_err(|error| wrong(what, error))
}

fn sparse(
    columns: u32,
    offsets: &[u64],
    indices: &[u32],
    values: Vec<f64>,
) -> Result<Design, Error> {
    let stored = indices.len() as u64;
    // Seen to here, for offsets out of order would make the matrix panic.
    if offsets.first() != Some(&0) || offsets.last() != Some(&stored) || !offsets.is_sorted() {
        return Err(wrong("samples", format!("their offsets do not ascend from 0 to {stored}")));
    }
    // None is larger than the length of a list.
    let offsets: Vec<usize> = offsets.iter().map(|&at| at as usize).collect();
    let indices = indices.iter().map(|&column| column as usize).collect();
    let (rows, columns) = (offsets.len() - 1, columns as usize);
    let matrix = CsrMatrix::try_from_csr_data(rows, columns, offsets, indices, values);
    let matrix = matrix.map_err(|error| wrong("samples", error))?;
    Design::sparse(matrix).map_err(|error| wrong("samples", error))
}
