//! The state of a game in a file.

use std::collections::BTreeMap;
use std::path::Path;

use margins_model::write_atomically;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Error;

/// A file with one line on the game and one with its state.
pub(super) struct CheckpointFile<'a> {
    pub(super) path: &'a Path,
    /// The settings that make the game, by name.
    pub(super) settings: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckpointHeader {
    format: String,
    version: u32,
    settings: BTreeMap<String, String>,
    /// The hash of the state, by which a damaged one is found.
    hash: u64,
}

const FORMAT: &str = "margins-fol-checkpoint";

/// The version of the layout; that of version 1 has settings by the names of options.
const VERSION: u32 = 2;

/// Returns the FNV-1a hash.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl CheckpointFile<'_> {
    fn fail(&self, reason: impl std::fmt::Display) -> Error {
        Error::Checkpoint { path: self.path.to_owned(), reason: reason.to_string() }
    }

    /// Returns the state, if the file is there.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<Option<T>, Error> {
        let text = match std::fs::read_to_string(self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| self.fail(error))?,
        };
        let (header, state) = text.split_once('\n').unwrap_or((&text, ""));
        let header: CheckpointHeader = serde_json::from_str(header)
            .ok()
            .filter(|header: &CheckpointHeader| header.format == FORMAT)
            .ok_or_else(|| self.fail("it is no checkpoint of focused online learning"))?;
        if header.version != VERSION {
            return Err(self.fail(format!("it has version {}, not {VERSION}", header.version)));
        }
        for (name, value) in &self.settings {
            let found = header.settings.get(name).map_or("", String::as_str);
            if found != value {
                let reason = format!("it is of a game with {name} '{found}', not '{value}'");
                return Err(self.fail(reason));
            }
        }
        if header.hash != hash(state.trim_end()) {
            return Err(self.fail("it is damaged"));
        }
        serde_json::from_str(state).map(Some).map_err(|error| self.fail(error))
    }

    /// Writes the state, so that an interruption leaves the old one or the new one.
    pub(super) fn write(&self, state: &impl Serialize) -> Result<(), Error> {
        let state = serde_json::to_string(state).map_err(|error| self.fail(error))?;
        let header = CheckpointHeader {
            format: FORMAT.to_owned(),
            version: VERSION,
            settings: self.settings.clone(),
            hash: hash(&state),
        };
        let header = serde_json::to_string(&header).map_err(|error| self.fail(error))?;
        write_atomically(self.path, |out| write!(out, "{header}\n{state}\n"))
            .map_err(|error| self.fail(error))
    }
}
