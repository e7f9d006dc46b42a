//! The state of an unfinished job in a file, from which another run continues.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use margins_data::{AtomicFile, ClassLabels, Dataset};
use margins_model::write_atomically;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::Error;

/// A kind of checkpoint: the properties that its files share.
pub(crate) struct Kind {
    /// The name of the format.
    pub(crate) format: &'static str,
    /// The version of the layout.
    pub(crate) version: u32,
    /// The job, as in "a game".
    pub(crate) job: &'static str,
    /// The method that does such jobs.
    pub(crate) method: &'static str,
}

/// A file with one line on the job and one with its state.
pub(crate) struct CheckpointFile<'a> {
    pub(crate) kind: &'static Kind,
    pub(crate) path: &'a Path,
    /// The settings that make the job, by name.
    pub(crate) settings: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
    settings: BTreeMap<String, String>,
    /// The hash of the state, by which a damaged one is found.
    hash: u64,
}

/// The FNV-1a hash of what is written to it.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl std::fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}

fn hash(text: &str) -> u64 {
    let mut hash = Hash::new();
    hash.add(text.as_bytes());
    hash.0
}

/// Returns the hash of a text in words for settings.
pub(crate) fn digest(text: &str) -> String {
    format!("{:016x}", hash(text))
}

/// Returns true for a text that looks like a [`digest`], which means nothing to a reader.
fn is_digest(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns a hash of all that a fit reads from data: features, labels, weights and the table that
/// the features are learned from.
pub(crate) fn digest_of<Y: ClassLabels>(data: &Dataset<Y>) -> String {
    let mut hash = Hash::new();
    let (design, labels) = (data.design(), data.labels());
    // Writing to a hash cannot fail.
    let _ = write!(hash, "{} {} {:?}", data.rows(), data.columns(), labels.names());
    for (row, sample) in design.samples().enumerate() {
        hash.add(&labels.index(row).to_le_bytes());
        sample.for_each(|column, value| {
            if design.is_sparse() {
                hash.add(&column.to_le_bytes());
            }
            hash.add(&value.to_bits().to_le_bytes());
        });
    }
    for weight in data.weights().unwrap_or_default() {
        hash.add(&weight.to_bits().to_le_bytes());
    }
    let _ = write!(hash, "{:?} {:?}", data.raw_table(), data.encoding());
    format!("{:016x}", hash.0)
}

impl CheckpointFile<'_> {
    fn fail(&self, reason: impl std::fmt::Display) -> Error {
        Error::Checkpoint { path: self.path.to_owned(), reason: reason.to_string(), kind: None }
    }

    /// Returns the refusal of the system.
    fn refused(&self, error: &std::io::Error) -> Error {
        let kind = Some(error.kind());
        Error::Checkpoint { path: self.path.to_owned(), reason: error.to_string(), kind }
    }

    /// Returns the state, if the file is there.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<Option<T>, Error> {
        // A pipe would wait for a writer, and a device forgets what is written to it.
        match std::fs::metadata(self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Ok(about) if !about.is_file() || AtomicFile::descriptor(self.path).is_some() => {
                return Err(
                    self.fail("a checkpoint must be a regular file, which can be read again")
                );
            }
            about => about.map_err(|error| self.refused(&error))?,
        };
        let text = std::fs::read_to_string(self.path).map_err(|error| self.refused(&error))?;
        let Kind { format, version, job, method } = self.kind;
        let (header, state) = text.split_once('\n').unwrap_or((&text, ""));
        let header: Header = serde_json::from_str(header)
            .ok()
            .filter(|header: &Header| header.format == *format)
            .ok_or_else(|| self.fail(format!("it is no checkpoint of {method}")))?;
        if header.version != *version {
            return Err(self.fail(format!("it has version {}, not {version}", header.version)));
        }
        for (name, value) in &self.settings {
            let found = header.settings.get(name).map_or("", String::as_str);
            if found != value {
                let difference = if is_digest(value) {
                    format!("other {name}")
                } else {
                    format!("{name} '{found}', not '{value}'")
                };
                let reason = format!(
                    "it is of {job} with {difference}; use another file name to start from scratch"
                );
                return Err(self.fail(reason));
            }
        }
        if header.hash != hash(state.trim_end()) {
            return Err(self.fail("it is damaged; use another file name to start from scratch"));
        }
        serde_json::from_str(state).map(Some).map_err(|error| self.fail(error))
    }

    /// Returns a part of a state in the form of the file.
    pub(crate) fn encoded(&self, part: &impl Serialize) -> Result<Box<RawValue>, Error> {
        serde_json::value::to_raw_value(part).map_err(|error| self.fail(error))
    }

    /// Returns the part of a state that [`encoded`](Self::encoded) has made.
    pub(crate) fn decoded<T: DeserializeOwned>(&self, part: &RawValue) -> Result<T, Error> {
        serde_json::from_str(part.get()).map_err(|error| self.fail(error))
    }

    /// Writes the state, so that an interruption leaves the old one or the new one.
    pub(crate) fn write(&self, state: &impl Serialize) -> Result<(), Error> {
        let state = serde_json::to_string(state).map_err(|error| self.fail(error))?;
        let header = Header {
            format: self.kind.format.to_owned(),
            version: self.kind.version,
            settings: self.settings.clone(),
            hash: hash(&state),
        };
        let header = serde_json::to_string(&header).map_err(|error| self.fail(error))?;
        write_atomically(self.path, |out| write!(out, "{header}\n{state}\n"))
            .map_err(|error| self.refused(&error))
    }
}
