//! Block files.

use margins_data::blocks::{self, BlockFile, BlockSettings, Precision};
use margins_data::{ClassLabels, Classes, Dataset, Design, Error, Labels};

use super::Target;
use super::scratch::Scratch;

const TAG: &[u8; 4] = b"BLCK";
const INDEX: &[u8; 4] = b"INDX";
/// The bytes of the head of the file, of the head of a block, and of the foot.
const HEAD: usize = 20;
const BLOCK_HEAD: usize = 20;
const FOOT: usize = 24;

pub(super) fn target() -> Target {
    let (to_read, to_check) = (Scratch::new(), Scratch::new());
    Target {
        name: "block-file",
        corpus: corpus(),
        words: &["BLCK", "INDX", "MGB end\n", "\u{89}MGB"],
        seal: sealed,
        read: Box::new(move |bytes| {
            if let Ok(file) = BlockFile::open(to_read.holding(bytes)) {
                drop(file.dataset::<Classes>());
            }
        }),
        bytes_per_input_byte: 64,
        check: Box::new(move |bytes| check(bytes, &to_check).map_err(|error| error.to_string())),
    }
}

/// What is a block file can be written again, and has the same rows then.
fn check(bytes: &[u8], scratch: &Scratch) -> Result<(), Error> {
    let file = BlockFile::open(scratch.holding(bytes))?;
    for partition in 0..file.partitions() {
        let _ = file.read::<Labels>(partition);
    }
    let data: Dataset<Classes> = file.dataset()?;
    assert_eq!((data.rows(), data.columns()), (file.rows(), file.features()));
    if data.encoding().is_some() {
        return Ok(());
    }
    let to = scratch.path("again");
    blocks::write(&data, &to, BlockSettings::default())?;
    let again: Dataset<Classes> = BlockFile::open(&to)?.dataset()?;
    assert_eq!(again.design(), data.design());
    assert_eq!(again.labels().shared_indices(), data.labels().shared_indices());
    assert_eq!(again.weights(), data.weights());
    assert_eq!(again.folds(), data.folds());
    Ok(())
}

/// Returns small files of every layout.
fn corpus() -> Vec<Vec<u8>> {
    let rows = [[0.5, 0.0, -2.0], [1e-3, 4.0, 0.0], [0.0, 0.0, 7.5], [3.0, 1.0, 1.0]];
    let labels = Labels::new(&["no", "yes", "yes", "no"]).expect("two classes");
    let design = Design::from_rows(&rows).expect("finite rows");
    let data = Dataset::new(design, labels).expect("as many labels");
    let full = data.clone().with_weights(vec![1.0, 0.5, 2.0, 0.0]).expect("weights");
    let full = full.with_folds(vec![0, 1, 1, 0]).expect("folds");
    let full = full.with_feature_names(["a", "b", "c"].map(String::from).to_vec()).expect("names");
    let mut corpus = Vec::new();
    for data in [&data, &full] {
        for sparse in [false, true] {
            for precision in [Precision::Single, Precision::Double] {
                let file = tempfile::NamedTempFile::new().expect("a file");
                let settings = BlockSettings { precision, rows: Some(2), sparse: Some(sparse) };
                blocks::write(data, file.path(), settings).expect("a small file");
                corpus.push(std::fs::read(file.path()).expect("a small file"));
            }
        }
    }
    corpus
}

/// Returns the bytes with the checksums of head, blocks, index and foot, and the place of the index,
/// as they should be.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let Some(index) = find(&bytes, INDEX, HEAD) else { return bytes };
    if bytes.len() < index + FOOT {
        return bytes;
    }
    let end = bytes.len() - FOOT;
    let head = crc32fast::hash(&bytes[..16]);
    put(&mut bytes, 16, head);
    let mut at = find(&bytes, TAG, HEAD);
    while let Some(start) = at.filter(|&start| start + BLOCK_HEAD <= index) {
        at = find(&bytes, TAG, start + 4);
        let stop = at.unwrap_or(index).min(index).max(start + BLOCK_HEAD);
        let old: [u8; 4] = [0, 1, 2, 3].map(|k| bytes[start + 16 + k]);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[start..start + 16]);
        hasher.update(&bytes[start + BLOCK_HEAD..stop]);
        let new = hasher.finalize();
        put(&mut bytes, start + 16, new);
        if let Some(place) = find(&bytes[..end], &old, index) {
            put(&mut bytes, place, new);
        }
    }
    bytes[end..end + 8].copy_from_slice(&(index as u64).to_le_bytes());
    let of_index = crc32fast::hash(&bytes[index..end]);
    put(&mut bytes, end + 8, of_index);
    let of_foot = crc32fast::hash(&bytes[end..end + 12]);
    put(&mut bytes, end + 12, of_foot);
    bytes
}

fn put(bytes: &mut [u8], at: usize, number: u32) {
    bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
}

fn find(bytes: &[u8], piece: &[u8; 4], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(4).position(|window| window == piece).map(|at| from + at)
}
