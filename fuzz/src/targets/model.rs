//! Model files, binary and JSON.

use std::path::Path;

use margins_data::Design;
use margins_model::{Error, Format, ModelPath, Registry};

use super::Target;

/// The bytes of the magic, the version, the checksum and two lengths.
const PREFIX: usize = 32;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/model/tests/fixtures");

pub(super) fn target() -> Target {
    let registry = Registry::standard();
    let own = Registry::standard();
    Target {
        name: "model",
        corpus: files(Path::new(FIXTURES)).expect("the fixtures of models"),
        words: &[
            "null",
            "-0.0",
            "\"dense\"",
            "\"sparse\"",
            "NaN",
            "one-versus-one",
            "gaussian:sigma=1*linear+poly:degree=2",
        ],
        seal: sealed,
        read: Box::new(move |bytes| drop(ModelPath::from_bytes(bytes, &own))),
        bytes_per_input_byte: 64,
        check: Box::new(move |bytes| check(bytes, &registry).map_err(|error| error.to_string())),
    }
}

/// Reads the bytes. What is a model must be written and read again without loss, and apply to
/// samples or say why not.
fn check(bytes: &[u8], registry: &Registry) -> Result<(), Error> {
    let models = ModelPath::from_bytes(bytes, registry)?;
    for format in [Format::Binary, Format::Json] {
        let written = models.to_bytes(format).expect("a model that was read can be written");
        let read = ModelPath::from_bytes(&written, registry).expect("what was written can be read");
        assert_eq!(read, models, "written as {format} and read again");
    }
    let model = models.first();
    // Of more features nothing else is to be learned.
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

/// Returns the bytes with the checksum of a binary model and the length of its second part as they
/// should be.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
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

/// Returns the models in a folder and in the folders of it.
fn files(folder: &Path) -> std::io::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    let mut models = Vec::new();
    for path in paths {
        if path.is_dir() {
            models.extend(files(&path)?);
        } else if path.extension().is_some_and(|name| name == "mgn" || name == "json") {
            models.push(std::fs::read(path)?);
        }
    }
    Ok(models)
}

/// Returns long files of models that say as much in as few bytes as can be.
pub fn adversaries() -> Vec<(&'static str, Vec<u8>)> {
    const COUNT: usize = 1 << 19;
    let many = |element: &str| vec![element; COUNT].join(",");
    let json = |classes: &str, basis: &str| {
        let start = r#"{"format":"margins-model","version":1,"crate_version":"","loss":"lhs""#;
        format!(
            r#"{start},"scheme":"binary","classes":[{classes}],"feature_names":null,"basis":{basis},"members":[]}}"#
        )
        .into_bytes()
    };
    let samples = |samples: String| {
        json(
            "",
            &format!(r#"{{"kind":"kernel","kernel":"linear","scales":null,"samples":{samples}}}"#),
        )
    };
    let sparse = |rows| samples(format!(r#"{{"sparse":{{"columns":9,"rows":[{rows}]}}}}"#));
    let long = |number: usize| (number as u64).to_le_bytes().to_vec();
    let list = [long(COUNT), vec![0; 8 * COUNT]].concat();
    // No crate, loss, kernel, names, fits, encoding or type of labels; the scheme is the first.
    let description =
        |classes: Vec<u8>| [vec![0; 8 + 8 + 1 + 4], classes, vec![0; 1 + 8 + 1 + 1]].concat();
    let binary = |description: Vec<u8>, numbers: Vec<u8>| {
        let prefix =
            [b"\x89MGN\r\n\x1a\n\x01\0\0\0\0\0\0\0".to_vec(), long(description.len())].concat();
        sealed([prefix, long(numbers.len()), description, numbers].concat())
    };
    let coefs = [long(0), list.clone(), vec![0; 1 + 4]].concat();
    vec![
        ("JSON, empty samples", samples(format!(r#"{{"dense":[{}]}}"#, many("[]")))),
        ("JSON, samples of one number", samples(format!(r#"{{"dense":[{}]}}"#, many("[0]")))),
        ("JSON, samples of zeros", samples(format!(r#"{{"dense":[[{}]]}}"#, many("0")))),
        ("JSON, sparse samples", sparse(many("[[0,1]]"))),
        ("JSON, an unknown field", json("", &format!(r#"{{"junk":[{}]}}"#, many("{}")))),
        ("JSON, empty names", json(&many("\"\""), "null")),
        ("binary, empty names", binary(description(list), vec![])),
        ("binary, empty coefficients", binary(description(long(0)), coefs)),
    ]
}
