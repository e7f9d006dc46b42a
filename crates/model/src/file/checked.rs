//! Values other than models as bytes with a checksum, in the frame of binary models. The first part
//! is the kind of the value, and the second one its JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::frame::{self, Frame, PREFIX};
use crate::Error;

/// The first bytes, as those of a model but for the last letter.
const MAGIC: [u8; 8] = *b"\x89MGV\r\n\x1a\n";

/// The version of the layout.
const CHECKED: u32 = 1;

/// Returns the bytes of a value of a kind such as "an ensemble", with a checksum.
///
/// # Errors
/// [`Error::Bytes`]: a value that JSON cannot hold.
pub fn to_checked_bytes(kind: &str, value: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; PREFIX];
    bytes.extend(kind.as_bytes());
    let written = serde_json::to_writer(&mut bytes, value);
    written.map_err(|error| refused(kind, error.to_string()))?;
    Ok(frame::close(bytes, &MAGIC, CHECKED, kind.len()))
}

/// Returns the value of this kind of the bytes that [`to_checked_bytes`] has made of it. The bytes may
/// come from anywhere: the function does not panic if the reader of the value does not.
///
/// # Errors
/// [`Error::Bytes`]: bytes that were altered, are of another kind or version, or hold no such value.
pub fn from_checked_bytes<T: DeserializeOwned>(kind: &str, bytes: &[u8]) -> Result<T, Error> {
    let refuse = |reason: String| refused(kind, reason);
    if !bytes.starts_with(&MAGIC[..4]) {
        return Err(refuse("it begins otherwise".to_owned()));
    }
    let frame = Frame::of(bytes, &MAGIC).map_err(refuse)?;
    if frame.version != CHECKED {
        return Err(refuse(format!("it has version {}, not {CHECKED}", frame.version)));
    }
    let [found, value] = frame.parts().map_err(refuse)?;
    let (stored, computed) = (frame.stored, frame.computed());
    if stored != computed {
        return Err(refuse(format!(
            "it is damaged: its checksum is {computed:08x}, but {stored:08x} is written in it"
        )));
    }
    if found != kind.as_bytes() {
        return Err(refuse(format!("it holds {}", String::from_utf8_lossy(found))));
    }
    serde_json::from_slice(value).map_err(|error| refuse(error.to_string()))
}

fn refused(kind: &str, reason: String) -> Error {
    Error::Bytes { kind: kind.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &str = "a list of numbers";

    #[test]
    fn values_come_back_and_no_altered_byte_does() {
        let list = vec![0.1, -2.5e-300, f64::MAX];
        let bytes = to_checked_bytes(KIND, &list).unwrap();
        assert_eq!(from_checked_bytes::<Vec<f64>>(KIND, &bytes).unwrap(), list);
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 1;
            let refused = from_checked_bytes::<Vec<f64>>(KIND, &altered).unwrap_err().to_string();
            assert!(refused.starts_with("not the bytes of a list of numbers: "), "{refused}");
            assert!(from_checked_bytes::<Vec<f64>>(KIND, &bytes[..at]).is_err());
        }
        let refused = from_checked_bytes::<Vec<f64>>("a word", &bytes).unwrap_err().to_string();
        assert_eq!(refused, "not the bytes of a word: it holds a list of numbers");
        let refused = from_checked_bytes::<String>(KIND, &bytes).unwrap_err().to_string();
        assert!(refused.contains("invalid type"), "{refused}");
    }
}
