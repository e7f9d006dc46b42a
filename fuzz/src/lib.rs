//! What must hold of any bytes that are read as a model.

use margins_data::Design;
use margins_model::{Error, Format, Model, Registry};

/// Bytes of the magic, the version, the checksum and two lengths.
const PREFIX: usize = 32;

/// Reads the bytes. What is a model must be written and read again without loss, and apply to
/// samples or say why not.
///
/// # Panics
/// If that does not hold.
pub fn check(bytes: &[u8], registry: &Registry) -> Result<(), Error> {
    let model = Model::from_bytes(bytes, registry)?;
    for format in [Format::Binary, Format::Json] {
        let written = model.to_bytes(format).expect("a model that was read can be written");
        let read = Model::from_bytes(&written, registry).expect("what was written can be read");
        assert_eq!(read, model, "written as {format} and read again");
    }
    // Of more features nothing else is to be learnt.
    const MOST_FEATURES: usize = 100;
    let features = model.columns();
    if features <= MOST_FEATURES {
        let rows = [vec![0.0; features], vec![1.5; features], vec![-1e200; features]];
        let design = Design::from_rows(&rows).expect("finite rows");
        if let Ok(classes) = model.predict(&design, registry) {
            assert!(classes.iter().all(|&class| class < model.classes().len()));
        }
    }
    Ok(())
}

/// The bytes with the checksum of a binary model and the length of its second part as they should
/// be, so that what stands behind them is reached.
pub fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() < PREFIX || bytes[0] != 0x89 {
        return bytes;
    }
    let description = u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|k| bytes[16 + k]));
    let numbers = ((bytes.len() - PREFIX) as u64).wrapping_sub(description);
    bytes[24..PREFIX].copy_from_slice(&numbers.to_le_bytes());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..12]);
    hasher.update(&bytes[16..]);
    bytes[12..16].copy_from_slice(&hasher.finalize().to_le_bytes());
    bytes
}
