//! Block files: what is written is read back, and nothing damaged is taken.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::bits;
use margins_data::blocks::{self, BlockFile, BlockSettings, BlockWriter, LabelledRows, Precision};
use margins_data::encode::{EncodeOptions, MissingWords, RawTable};
use margins_data::{ClassLabels, Classes, Dataset, Design, Error, Labels};
use proptest::prelude::*;

/// Returns data of any kind: dense or sparse, two classes or more, with weights and folds or not.
fn data() -> impl Strategy<Value = Dataset<Classes>> {
    let shape = (1usize..40, 1usize..6, 2usize..5);
    (shape, any::<bool>(), any::<bool>(), any::<bool>()).prop_flat_map(
        |((n, p, k), sparse, weighed, folded)| {
            let value = prop_oneof![2 => Just(0.0), 1 => Just(-0.0), 3 => any::<f64>().prop_filter("finite", |x| x.is_finite())];
            let values = proptest::collection::vec(value, n * p);
            let labels = proptest::collection::vec(0..k as u32, n);
            let weights = proptest::collection::vec(0.1..9.0f64, n);
            (values, labels, weights).prop_map(move |(values, labels, weights)| {
                let design = if sparse {
                    let row = |row: &[f64]| {
                        (0..).zip(row.iter().copied()).filter(|&(_, x)| x.to_bits() != 0).collect()
                    };
                    let rows: Vec<Vec<(usize, f64)>> = values.chunks(p).map(row).collect();
                    Design::from_sparse_rows(&rows, p).unwrap()
                } else {
                    Design::from_rows(&values.chunks(p).collect::<Vec<_>>()).unwrap()
                };
                let names = (0..k).map(|class| format!("class {class}")).collect();
                let labels = Classes::from_indices(labels, names).unwrap();
                let mut data = Dataset::new(design, labels).unwrap();
                let all = (0..k).all(|class| !data.labels().rows_of(class).is_empty());
                if weighed && all {
                    data = data.with_weights(weights).unwrap();
                }
                if folded && n >= 3 {
                    data = data.with_folds((0..n).map(|row| row % 3).collect()).unwrap();
                }
                if !sparse {
                    let names = (0..p).map(|column| format!("x {column}")).collect();
                    data = data.with_feature_names(names).unwrap();
                }
                data
            })
        },
    )
}

/// Writes data to a file of its own, in blocks of this many rows.
fn written<Y: ClassLabels>(
    data: &Dataset<Y>,
    rows: usize,
    precision: Precision,
) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.blocks");
    let settings = BlockSettings { rows: Some(rows), precision, sparse: None };
    blocks::write(data, &path, settings).unwrap();
    (folder, path)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_written_is_read_back_to_the_bit(data in data(), rows in 1usize..50) {
        let (_folder, path) = written(&data, rows, Precision::Double);
        let file = BlockFile::open(&path).unwrap();
        prop_assert_eq!((file.rows(), file.features()), (data.rows(), data.columns()));
        prop_assert_eq!((file.stored(), file.is_sparse()), (data.design().stored(), data.design().is_sparse()));
        prop_assert_eq!(file.classes(), data.labels().names());
        prop_assert_eq!(file.partitions(), data.rows().div_ceil(rows));

        let whole: Dataset<Classes> = file.dataset().unwrap();
        prop_assert_eq!(&whole, &data);
        prop_assert_eq!(bits(whole.design()), bits(data.design()));

        let mut from = 0;
        for partition in 0..file.partitions() {
            let part: Dataset<Classes> = file.read(partition).unwrap();
            prop_assert_eq!(file.rows_of(partition), part.rows());
            prop_assert_eq!(file.stored_of(partition), part.design().stored());
            let to = from + part.rows();
            let range: Vec<usize> = (from..to).collect();
            prop_assert_eq!(bits(part.design()), bits(&data.design().select(&range)));
            prop_assert_eq!(part.labels(), &data.labels().select(&range));
            prop_assert_eq!(part.weights(), data.weights().map(|weights| &weights[from..to]));
            prop_assert_eq!(part.folds(), data.folds().map(|folds| &folds[from..to]));
            from = to;
        }
    }

    #[test]
    fn single_precision_rounds_every_value(data in data()) {
        let single = |x: f64| f64::from(x as f32);
        let fits = data.design().samples().all(|sample| {
            let mut fits = true;
            sample.for_each(|_, x| fits &= single(x).is_finite());
            fits
        });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("single.blocks");
        let settings = BlockSettings { precision: Precision::Single, ..BlockSettings::default() };
        let result = blocks::write(&data, &path, settings);
        if !fits {
            let refused = matches!(result, Err(Error::Entry { what: "value", .. }));
            prop_assert!(refused && !path.exists());
            return Ok(());
        }
        let whole: Dataset<Classes> = BlockFile::open(&path).unwrap().dataset().unwrap();
        let rounded: Vec<Vec<(usize, u64)>> = bits(data.design())
            .into_iter()
            .map(|row| row.into_iter().map(|(j, x)| (j, single(f64::from_bits(x)).to_bits())).collect())
            .collect();
        prop_assert_eq!(bits(whole.design()), rounded);
        prop_assert_eq!(whole.labels(), data.labels());
    }
}

/// Returns small data with all that a file can hold.
fn small(sparse: bool) -> Dataset {
    let rows = [
        vec![(0, 1.0), (2, -2.5)],
        vec![],
        vec![(1, 3.0)],
        vec![(0, 0.5), (1, 4.0)],
        vec![(2, 7.0)],
    ];
    let design = Design::from_sparse_rows(&rows, 3).unwrap();
    let design = if sparse { design } else { Design::dense(&design.to_dense()).unwrap() };
    let labels = Labels::with_positive(&["no", "yes", "yes", "no", "yes"], "no").unwrap();
    Dataset::new(design, labels)
        .and_then(|data| data.with_weights(vec![1.0, 2.0, 0.5, 0.0, 3.0]))
        .and_then(|data| data.with_folds(vec![0, 1, 2, 0, 1]))
        .and_then(|data| data.with_feature_names(["a", "b", "c"].map(str::to_owned).to_vec()))
        .unwrap()
}

/// Returns the number of the block that holds a byte of a file, if one does.
fn block_at(path: &Path, at: usize, length: usize) -> Option<usize> {
    let file = BlockFile::open(path).unwrap();
    let head = 20;
    let row = 4 + 4 + 8 + if file.is_sparse() { 4 } else { 0 };
    let value = 8 + if file.is_sparse() { 4 } else { 0 };
    let mut start = head;
    for block in 0..file.partitions() {
        let end = start + 20 + file.rows_of(block) * row + file.stored_of(block) * value;
        if (start..end).contains(&at) {
            return Some(block);
        }
        start = end;
    }
    assert!(at < length);
    None
}

#[test]
fn every_flipped_byte_is_refused_by_its_block() {
    for sparse in [false, true] {
        let (folder, path) = written(&small(sparse), 2, Precision::Double);
        let bytes = fs::read(&path).unwrap();
        let damaged = folder.path().join("damaged.blocks");
        for at in 0..bytes.len() {
            let expected = block_at(&path, at, bytes.len());
            for mask in [1, 0x80, 0xff] {
                let mut flipped = bytes.clone();
                flipped[at] ^= mask;
                fs::write(&damaged, &flipped).unwrap();
                let result = BlockFile::open(&damaged).and_then(|file| {
                    for block in (0..file.partitions()).filter(|&block| Some(block) != expected) {
                        file.read::<Labels>(block).expect("this block is sound");
                    }
                    file.dataset::<Labels>()
                });
                match (result, expected) {
                    (Err(Error::Block { block, .. }), Some(expected)) => {
                        assert_eq!(block, expected);
                    }
                    (Err(Error::Malformed { .. }), None) => {}
                    (other, _) => panic!("byte {at} of block {expected:?}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn every_truncation_is_refused_by_the_block_it_ends_in() {
    for sparse in [false, true] {
        let (folder, path) = written(&small(sparse), 2, Precision::Double);
        let bytes = fs::read(&path).unwrap();
        let cut = folder.path().join("cut.blocks");
        for length in 0..bytes.len() {
            fs::write(&cut, &bytes[..length]).unwrap();
            let error = BlockFile::open(&cut).unwrap_err();
            // The byte before the cut stands in the block, unless it is the last of one.
            let ends_in = block_at(&path, length, bytes.len());
            let starts = length > 0 && block_at(&path, length - 1, bytes.len()) == ends_in;
            match (error, ends_in.filter(|_| starts)) {
                (Error::Block { block, .. }, Some(expected)) => {
                    assert_eq!(block, expected);
                }
                (Error::Malformed { .. }, None) => {}
                (other, expected) => panic!("{length} bytes, in block {expected:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn appended_bytes_are_refused() {
    let (_folder, path) = written(&small(true), 2, Precision::Double);
    let mut bytes = fs::read(&path).unwrap();
    bytes.push(0);
    fs::write(&path, &bytes).unwrap();
    assert!(matches!(BlockFile::open(&path), Err(Error::Malformed { .. })));
}

#[test]
fn rows_come_in_pieces_and_blocks_have_their_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pieces.blocks");
    let settings = BlockSettings { rows: Some(3), ..BlockSettings::default() };
    let mut writer = BlockWriter::create(&path, settings).unwrap();
    for piece in 0..4 {
        let x = f64::from(piece);
        let design = Design::from_rows(&[[x, 1.0], [x, -1.0]]).unwrap();
        let label = if piece == 0 { "9" } else { "10" };
        let rows = LabelledRows {
            design: &design,
            labels: &[label, "9.0"],
            weights: None,
            folds: Some(&["b", "a"]),
        };
        writer.push(&rows).unwrap();
        assert!(!path.exists(), "the file has its name when it is complete");
    }
    writer.finish(None).unwrap();
    let file = BlockFile::open(&path).unwrap();
    let rows: Vec<usize> = (0..file.partitions()).map(|k| file.rows_of(k)).collect();
    assert_eq!((rows, file.classes()), (vec![3, 3, 2], &["9".to_owned(), "10".to_owned()][..]));
    let data: Dataset = file.dataset().unwrap();
    assert_eq!(data.labels().signs(), [-1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]);
    assert_eq!(data.folds(), Some(&[1, 0, 1, 0, 1, 0, 1, 0][..]));
    let swapped: Dataset = file.with_positive("9").unwrap().dataset().unwrap();
    assert_eq!(swapped.labels().positive_class(), "9");
    assert_eq!(swapped.labels().signs()[..3], [1.0, 1.0, -1.0]);
}

#[test]
fn an_encoding_is_kept() {
    let mut table = RawTable::new(vec!["age".to_owned(), "town".to_owned(), "member".to_owned()]);
    for row in [["31", "Bern", "true"], ["NA", "Basel", "FALSE"], ["45", "", "true"]] {
        table.push(&row, &MissingWords::default()).unwrap();
    }
    let labels = Labels::new(&["a", "b", "a"]).unwrap();
    let options = EncodeOptions { drop: vec![], ..EncodeOptions::default() };
    let data = Dataset::encoded(table, labels, options).unwrap();
    let (_folder, path) = written(&data, 2, Precision::Double);
    let read: Dataset = BlockFile::open(&path).unwrap().dataset().unwrap();
    assert_eq!(read.encoding(), data.encoding());
    assert_eq!(read.raw_table(), None);
    assert_eq!(read.design(), data.design());
    assert_eq!(read.learned_on(&[0]).unwrap().design(), data.design());
}

#[test]
fn threads_read_different_partitions() {
    let (_folder, path) = written(&small(false), 1, Precision::Double);
    let file = BlockFile::open(&path).unwrap();
    let parts = margins_data::parallel::try_map(0..5, |k| file.read::<Labels>(k)).unwrap();
    let designs: Vec<Design> = parts.iter().map(|part| part.design().clone()).collect();
    assert_eq!(&Design::stack(&designs).unwrap(), small(false).design());
}

#[test]
fn refusals() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.blocks");
    let begin = |settings: BlockSettings| BlockWriter::create(&path, settings);
    let design = Design::from_rows(&[[1.0, 1e300], [2.0, 3.0]]).unwrap();
    let finish = |labels: [&str; 2],
                  weights: Option<&[f64]>,
                  folds: Option<&[&str]>,
                  precision,
                  positive| {
        let mut writer = begin(BlockSettings { precision, ..BlockSettings::default() })?;
        writer.push(&LabelledRows { design: &design, labels: &labels, weights, folds })?;
        writer.finish(positive)
    };
    let double = Precision::Double;
    let mut messages = vec![
        begin(BlockSettings { rows: Some(0), ..BlockSettings::default() }).err().unwrap(),
        begin(BlockSettings::default()).unwrap().finish(None).unwrap_err(),
        finish(["a", "a"], None, None, double, None).unwrap_err(),
        finish(["a", "b"], None, None, double, Some("c")).unwrap_err(),
        finish(["0.5", "1.5"], None, None, double, None).unwrap_err(),
        finish(["a", "b"], Some(&[1.0, -1.0]), None, double, None).unwrap_err(),
        finish(["a", "b"], None, Some(&["x", "x"]), double, None).unwrap_err(),
        finish(["a", "b"], None, None, Precision::Single, None).unwrap_err(),
    ];
    assert!(!path.exists() && fs::read_dir(folder.path()).unwrap().next().is_none());

    let three = Classes::new(&["a", "b", "c"]).unwrap();
    let three = Dataset::new(Design::from_rows(&[[1.0], [2.0], [3.0]]).unwrap(), three).unwrap();
    blocks::write(&three, &path, BlockSettings::default()).unwrap();
    let file = BlockFile::open(&path).unwrap();
    messages.push(file.read::<Labels>(0).unwrap_err());
    messages.push(file.clone().with_features(2).unwrap_err());
    messages.push(file.with_positive("a").unwrap_err());
    messages.push(BlockFile::open(folder.path().join("none.blocks")).unwrap_err());
    let text = folder.path().join("text.blocks");
    fs::write(&text, "label,x1,x2,x3,x4,x5,x6\n1,2,3,4\n").unwrap();
    messages.push(BlockFile::open(&text).unwrap_err());
    assert!(BlockFile::is_one(&path) && !BlockFile::is_one(&text));
    let place = format!("{}/", folder.path().display());
    let lines: Vec<String> =
        messages.iter().map(|error| error.to_string().replace(&place, "")).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// The bytes as lines of sixteen.
fn dump(bytes: &[u8]) -> String {
    let line = |line: &[u8]| line.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    bytes.chunks(16).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_bytes_are_those_that_readers_of_this_version_know() {
    let folder = tempfile::tempdir().unwrap();
    for (name, sparse) in [("dense", false), ("sparse", true)] {
        let path = folder.path().join(name);
        let settings = BlockSettings { rows: Some(2), ..BlockSettings::default() };
        blocks::write(&small(sparse), &path, settings).unwrap();
        insta::assert_snapshot!(name, dump(&std::fs::read(&path).unwrap()));
    }
}
