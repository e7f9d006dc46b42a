//! The state of a game in a file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::output::files::emit;
use crate::output::{VERSION, write_json};

/// A file with one line on what game it is of and one with its state.
pub(super) struct CheckpointFile<'a> {
    pub(super) path: &'a Path,
    pub(super) settings: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckpointHeader {
    format: String,
    version: u32,
    settings: BTreeMap<String, String>,
    /// The hash of the state, so that a damaged one is never taken.
    hash: u64,
}

const CHECKPOINT_FORMAT: &str = "margins-fol-checkpoint";

/// Returns the FNV-1a hash of a text.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl CheckpointFile<'_> {
    fn fail(&self, reason: impl std::fmt::Display) -> Failure {
        Failure::job(format!("{}: {reason}", self.path.display()))
    }

    /// Returns the state, if the file is there.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<Option<T>, Failure> {
        let text = match std::fs::read_to_string(self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| self.fail(error))?,
        };
        let (header, state) = text.split_once('\n').unwrap_or((&text, ""));
        let header: CheckpointHeader = serde_json::from_str(header)
            .ok()
            .filter(|header: &CheckpointHeader| header.format == CHECKPOINT_FORMAT)
            .ok_or_else(|| self.fail("it is no checkpoint of focused online learning"))?;
        if header.version != VERSION {
            return Err(self.fail(format!("it has version {}, not {VERSION}", header.version)));
        }
        for (option, value) in &self.settings {
            let found = header.settings.get(option).map_or("", String::as_str);
            if found != value {
                let reason = format!("it is of a game with {option} '{found}', not '{value}'");
                return Err(self.fail(reason));
            }
        }
        if header.hash != hash(state.trim_end()) {
            return Err(self.fail("it is damaged"));
        }
        serde_json::from_str(state).map(Some).map_err(|error| self.fail(error))
    }

    pub(super) fn write(&self, state: &impl Serialize) -> Result<(), Failure> {
        let state = serde_json::to_string(state).map_err(|error| self.fail(error))?;
        let header = CheckpointHeader {
            format: CHECKPOINT_FORMAT.to_owned(),
            version: VERSION,
            settings: self.settings.clone(),
            hash: hash(&state),
        };
        emit(Some(self.path), |out| {
            write_json(out, &header)?;
            writeln!(out, "{state}")
        })
    }
}
