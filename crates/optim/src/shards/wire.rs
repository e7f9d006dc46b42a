//! Messages as bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::shards::{Failure, Reply, Request};

/// The version of the messages, which both ends must share.
pub const VERSION: u16 = 4;

const MAGIC: [u8; 4] = *b"mgsh";

impl Request {
    /// Returns the message as bytes.
    ///
    /// # Errors
    /// The memory does not suffice.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        to_bytes(self)
    }

    /// Returns the message of bytes.
    ///
    /// # Errors
    /// The bytes are no message of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Failure> {
        from_bytes(bytes)
    }
}

impl Reply {
    /// Returns answers as bytes.
    ///
    /// # Errors
    /// The memory does not suffice.
    pub fn all_to_bytes(replies: &[Reply]) -> Result<Vec<u8>, Failure> {
        to_bytes(replies)
    }

    /// Returns the answers of bytes.
    ///
    /// # Errors
    /// The bytes are no answers of this version.
    pub fn all_from_bytes(bytes: &[u8]) -> Result<Vec<Self>, Failure> {
        from_bytes(bytes)
    }
}

fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Failure> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    Ok(postcard::to_extend(value, bytes)?)
}

fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    let Some((magic, rest)) = bytes.split_first_chunk() else {
        return Err("the message is cut short".into());
    };
    if *magic != MAGIC {
        return Err("the bytes are no message to or from a shard".into());
    }
    let Some((version, rest)) = rest.split_first_chunk() else {
        return Err("the message is cut short".into());
    };
    let version = u16::from_le_bytes(*version);
    if version != VERSION {
        return Err(format!(
            "the message has version {version}, this program speaks {VERSION}: install the same \
             release at both ends"
        )
        .into());
    }
    match postcard::take_from_bytes(rest)? {
        (value, []) => Ok(value),
        (_, rest) => Err(format!("{} bytes stand behind the message", rest.len()).into()),
    }
}
