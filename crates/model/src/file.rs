//! Models in files.

mod binary;
mod checked;
mod frame;
mod json;
mod scheme;

use std::ffi::OsStr;
use std::path::Path;

use margins_data::AtomicFile;
use margins_data::encode::Encoding;
use margins_losses::MarginLoss;

use self::scheme::SchemeInFile;
use crate::error::{VERSION, VERSION_OF_PATHS, VERSION_OF_PATHS_OF_SCHEMES, VERSION_OF_SCHEMES};
use crate::{Basis, Error, Member, Model, ModelPath, Registry, Scheme, write_atomically};

pub use checked::{from_checked_bytes, to_checked_bytes};

/// The form in which a model is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// JSON, for people and other programs.
    Json,
    /// Compact, with a checksum.
    Binary,
}

impl Format {
    /// Returns the format that the name of a file asks for: JSON if it ends in `.json`, in any case, or
    /// leads to a descriptor of this process, such as `/dev/stdout`; binary otherwise.
    pub fn of_path(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let is_json = |extension: &OsStr| extension.eq_ignore_ascii_case("json");
        match path.extension().is_some_and(is_json) || AtomicFile::descriptor(path).is_some() {
            true => Format::Json,
            false => Format::Binary,
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Format::Json => "JSON",
            Format::Binary => "binary",
        })
    }
}

/// The statements of a model file about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The form of the file.
    pub format: Format,
    /// The version of the layout.
    pub version: u32,
    /// The version of the crate that wrote the file.
    pub crate_version: String,
    /// The number of bytes.
    pub length: usize,
    /// The CRC-32 of a binary file.
    pub checksum: Option<u32>,
}

impl Model {
    /// Writes the model, as JSON where the name of the file ends in `.json`, else binary; to a
    /// temporary file first that then takes the name `path`.
    ///
    /// # Errors
    /// [`Error::File`] with what the system says.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.save_as(&path, Format::of_path(&path))
    }

    /// Writes the model in a format, for any name of the file, as [`save`](Self::save) does.
    ///
    /// # Errors
    /// [`save`](Self::save) says which.
    pub fn save_as(&self, path: impl AsRef<Path>, format: Format) -> Result<(), Error> {
        Steps { model: self, further: &[] }.save(path.as_ref(), format)
    }

    /// Returns the bytes that [`save_as`](Self::save_as) writes.
    ///
    /// # Errors
    /// A model whose description takes more bytes than a header may have, 2^30.
    pub fn to_bytes(&self, format: Format) -> Result<Vec<u8>, Error> {
        Steps { model: self, further: &[] }.to_bytes(format)
    }

    /// Reads a model in either format, recognised by its content, and checks that it is consistent.
    ///
    /// # Errors
    /// [`Error::File`] with the reason: the file cannot be read, is not a model, is damaged, has
    /// another version, contains numbers that are not finite or contradicts itself, has the models of
    /// a [path](ModelPath), or its loss or kernel is not in the registry.
    pub fn load(path: impl AsRef<Path>, registry: &Registry) -> Result<Self, Error> {
        Self::load_with_header(path, registry).map(|(_, model)| model)
    }

    /// Reads a model, as [`load`](Self::load) does, with the statements of the file about itself.
    ///
    /// # Errors
    /// [`load`](Self::load) says which.
    pub fn load_with_header(
        path: impl AsRef<Path>,
        registry: &Registry,
    ) -> Result<(Header, Self), Error> {
        let path = path.as_ref();
        let (header, steps) = ModelPath::load_with_header(path, registry)?;
        Ok((header, steps.into_only().map_err(of_file(path))?))
    }

    /// Reads the model that [`to_bytes`](Self::to_bytes) has written, in either format. The bytes
    /// may come from anywhere: the function does not panic, and allocates no more than a multiple
    /// of their number.
    ///
    /// # Errors
    /// [`load`](Self::load) says which.
    pub fn from_bytes(bytes: &[u8], registry: &Registry) -> Result<Self, Error> {
        ModelPath::from_bytes(bytes, registry)?.into_only()
    }
}

/// With the feature `serde`. A path of one lambda has the file of its model.
impl ModelPath {
    /// Writes the models to one file, as [`Model::save`] does.
    ///
    /// # Errors
    /// [`Error::File`] with what the system says.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Steps::of(self).save(path.as_ref(), Format::of_path(&path))
    }

    /// Returns the bytes that [`save`](Self::save) writes in this format.
    ///
    /// # Errors
    /// [`Model::to_bytes`] says which.
    pub fn to_bytes(&self, format: Format) -> Result<Vec<u8>, Error> {
        Steps::of(self).to_bytes(format)
    }

    /// Reads the models of a file: those of a path, or a model alone.
    ///
    /// # Errors
    /// Those of [`Model::load`] that do not concern the number of lambdas.
    pub fn load(path: impl AsRef<Path>, registry: &Registry) -> Result<Self, Error> {
        Self::load_with_header(path, registry).map(|(_, path)| path)
    }

    /// Reads the models of a file, as [`load`](Self::load) does, with the statements of the file about
    /// itself.
    ///
    /// # Errors
    /// [`load`](Self::load) says which.
    pub fn load_with_header(
        path: impl AsRef<Path>,
        registry: &Registry,
    ) -> Result<(Header, Self), Error> {
        let path = path.as_ref();
        let read = || Self::read(&std::fs::read(path)?, registry);
        read().map_err(of_file(path))
    }

    /// Reads models from bytes, as [`Model::from_bytes`] does.
    ///
    /// # Errors
    /// [`load`](Self::load) says which.
    pub fn from_bytes(bytes: &[u8], registry: &Registry) -> Result<Self, Error> {
        Self::read(bytes, registry).map(|(_, path)| path)
    }

    fn read(bytes: &[u8], registry: &Registry) -> Result<(Header, Self), Error> {
        if binary::starts(bytes) {
            return binary::read(bytes, registry);
        }
        match bytes.trim_ascii_start().first() {
            Some(b'{') => json::read(bytes, registry),
            Some(_) => Err(Error::NotAModel(
                "it begins neither as a binary model nor with the { of JSON".to_owned(),
            )),
            None => Err(Error::NotAModel("it is empty".to_owned())),
        }
    }
}

/// The members at each lambda as files hold them: a model with the members at further lambdas.
#[derive(Clone, Copy)]
struct Steps<'a> {
    model: &'a Model,
    further: &'a [Vec<Member>],
}

impl<'a> Steps<'a> {
    fn of(path: &'a ModelPath) -> Self {
        Steps { model: path.first(), further: path.further() }
    }

    /// Returns the smallest version of the layout that has what the models need.
    fn version(self) -> u32 {
        let (alone, path) = match self.model.scheme() {
            Scheme::Binary | Scheme::OneVersusRest | Scheme::OneVersusOne | Scheme::Majority => {
                (VERSION, VERSION_OF_PATHS)
            }
            Scheme::MajorityVersusRest
            | Scheme::Joint
            | Scheme::Multinomial
            | Scheme::Plurality
            | Scheme::DecisionList
            | Scheme::CrammerSinger => (VERSION_OF_SCHEMES, VERSION_OF_PATHS_OF_SCHEMES),
        };
        if self.further.is_empty() { alone } else { path }
    }

    /// Returns the members, lambda after lambda.
    fn members(self) -> impl Iterator<Item = &'a Member> {
        self.model.members().iter().chain(self.further.iter().flatten())
    }

    fn save(self, path: &Path, format: Format) -> Result<(), Error> {
        let write = || match format {
            // As it is made: the text of a large model takes several times its memory.
            Format::Json => Ok(write_atomically(path, |out| json::write(self, out))?),
            Format::Binary => {
                let bytes = binary::write(self)?;
                Ok(write_atomically(path, |out| out.write_all(&bytes))?)
            }
        };
        write().map_err(of_file(path))
    }

    fn to_bytes(self, format: Format) -> Result<Vec<u8>, Error> {
        match format {
            Format::Json => {
                let mut text = Vec::new();
                json::write(self, &mut text)?;
                Ok(text)
            }
            Format::Binary => binary::write(self),
        }
    }
}

/// The parts of a file of either format, which make the models of its version.
struct Parts {
    version: u32,
    loss: Box<dyn MarginLoss>,
    classes: Vec<String>,
    scheme: SchemeInFile,
    feature_names: Option<Vec<String>>,
    basis: Option<Basis>,
    members: Vec<Member>,
    encoding: Option<Encoding>,
    label_type: Option<String>,
}

impl Parts {
    fn models(self) -> Result<ModelPath, Error> {
        let Parts { version, loss, classes, scheme, feature_names, basis, members, .. } = self;
        let scheme = scheme.parts();
        let path = match version {
            VERSION_OF_PATHS | VERSION_OF_PATHS_OF_SCHEMES => {
                ModelPath::from_members(&*loss, classes, scheme.0, feature_names, basis, members)
            }
            _ => Model::from_parts(&*loss, classes, scheme, feature_names, basis, members)
                .map(ModelPath::from),
        }?;
        let (encoding, label_type) = (self.encoding, self.label_type);
        path.try_map(|model| Ok(model.with_encoding(encoding)?.with_label_type(label_type)))
    }
}

/// Refuses a version that is not read.
fn check_version(found: u64) -> Result<(), Error> {
    match (u64::from(VERSION)..=u64::from(VERSION_OF_PATHS_OF_SCHEMES)).contains(&found) {
        true => Ok(()),
        false => Err(Error::Version { found }),
    }
}

/// Returns a function that names the file in an error.
fn of_file(path: &Path) -> impl Fn(Error) -> Error {
    move |source| Error::File { path: path.to_owned(), source: Box::new(source) }
}
