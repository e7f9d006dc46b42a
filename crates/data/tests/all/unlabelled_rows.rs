//! Rows without a label: refused unless they are to be left out, and then as if they were not there.

use std::path::PathBuf;

use margins_data::blocks::{BlockFile, BlockSettings};
use margins_data::encode::{EncodeOptions, MissingWords};
use margins_data::read::{
    self, FeatureColumns, Format, ReadOptions, RowLabels, Stream, Unlabelled,
};
use margins_data::{ClassLabels, Classes, Dataset, Error};

/// Six of twelve rows have no label, and nothing in them is looked at; `na` and `none` are classes.
const GAPS: &str = "\
size,w,f,label
1,1,a,na
x,-1,,
2,2,b,none

,,,NaN
3,1,a,none
?,y,\"q,\",NA
4,0.5,c,na
\"5\"\"\",1,a,\" N/A \"
5,1,b,none
6,1,c,?
7,9,d,-nan
8,1,a,na
";

/// The table without the rows that have no label.
const WHOLE: &str =
    "size,w,f,label\n1,1,a,na\n2,2,b,none\n3,1,a,none\n4,0.5,c,na\n5,1,b,none\n8,1,a,na\n";

fn dropping() -> ReadOptions {
    ReadOptions {
        weights_column: Some("w".to_owned()),
        fold_column: Some("f".to_owned()),
        drop_unlabelled: true,
        ..ReadOptions::default()
    }
}

fn classes(text: &str, options: &ReadOptions) -> Result<Dataset<Classes>, Error> {
    read::classes_from(text.as_bytes(), "t.csv", Format::Csv, options)
}

fn message<T>(result: Result<T, Error>) -> String {
    result.err().expect("a refusal").to_string()
}

fn assert_same(one: &Dataset<Classes>, other: &Dataset<Classes>) {
    assert_eq!((one.design(), one.labels()), (other.design(), other.labels()));
    assert_eq!((one.weights(), one.folds()), (other.weights(), other.folds()));
    assert_eq!((one.feature_names(), one.encoding()), (other.feature_names(), other.encoding()));
}

#[test]
fn they_are_left_out_with_their_weights_and_folds() {
    let data = classes(GAPS, &dropping()).unwrap();
    assert_eq!(data.dropped_rows(), 6);
    let whole = classes(WHOLE, &dropping()).unwrap();
    assert_same(&data, &whole);
    assert_eq!(whole.dropped_rows(), 0);
    let two = read::dataset_from(GAPS.as_bytes(), "t.csv", Format::Csv, &dropping()).unwrap();
    assert_eq!((two.rows(), two.dropped_rows()), (6, 6));
    assert_eq!(two.select(&[0, 1]).dropped_rows(), 0);
}

#[test]
fn they_are_refused_by_default() {
    let options = ReadOptions { drop_unlabelled: false, ..dropping() };
    let text = |label: &str| format!("size,label\n1,a\n\n2,b\n3,{label}\n");
    let options = ReadOptions { weights_column: None, fold_column: None, ..options };
    let advice = "Add --drop-unlabelled to drop rows without a label";
    for label in ["NaN", "nan", "NA", "N/A", "?"] {
        assert_eq!(
            message(classes(&text(label), &options)),
            format!("t.csv, line 5, column 'label': label '{label}' is a missing value. {advice}")
        );
    }
    assert_eq!(
        message(classes(&text(" "), &options)),
        format!(
            "t.csv, line 5, column 'label': the cell is empty, but every row needs a label. {advice}"
        )
    );
}

/// Words given instead of the default ones count among labels too.
#[test]
fn given_words_are_missing_labels() {
    let text = "size,label\n1,a\n2,Unknown\n-,b\n4,none\n";
    let with = |words: MissingWords, drop_unlabelled| {
        let features =
            FeatureColumns::Learn(EncodeOptions { missing_words: words, ..Default::default() });
        classes(text, &ReadOptions { features, drop_unlabelled, ..ReadOptions::default() })
    };
    let usual = with(MissingWords::default(), true).unwrap();
    assert_eq!((usual.rows(), usual.dropped_rows()), (4, 0));
    let told = with(MissingWords::new(&["unknown", "-"]), true).unwrap();
    assert_eq!((told.rows(), told.dropped_rows()), (3, 1));
    assert_eq!(told.labels().names(), ["a", "b", "none"]);
    assert_eq!(told.feature_names().unwrap(), ["size", "size (missing)"]);
    assert_eq!(
        message(with(MissingWords::new(&["unknown"]), false)),
        "t.csv, line 3, column 'label': label 'Unknown' is a missing value. Add --drop-unlabelled \
         to drop rows without a label"
    );
}

/// Categories and medians are those of the rows that stay.
#[test]
fn an_encoding_learns_nothing_from_them() {
    let raw = "size,town,label\n1,Bern,a\n900,Chur,\n3,Basel,b\n,Genf,NA\n5,Bern,a\n";
    let whole = "size,town,label\n1,Bern,a\n3,Basel,b\n5,Bern,a\n";
    let features = FeatureColumns::Learn(EncodeOptions::default());
    let options = ReadOptions { features, drop_unlabelled: true, ..ReadOptions::default() };
    let data = classes(raw, &options).unwrap();
    assert_same(&data, &classes(whole, &options).unwrap());
    assert_eq!(data.feature_names().unwrap(), ["size", "town=Bern", "town=Basel"]);
}

#[test]
fn later_faults_keep_their_lines() {
    let of = |last: &str| message(classes(&format!("{GAPS}{last}\n"), &dropping()));
    assert!(of("x,1,a,na").starts_with("t.csv, line 15, column 'size': 'x' is not a number"));
    assert!(of("1,1,a").starts_with("t.csv, line 15: the row has 3 cells"));
    let two = read::dataset_from(
        format!("{GAPS}9,1,a,third\n").as_bytes(),
        "t.csv",
        Format::Csv,
        &dropping(),
    );
    assert!(message(two).starts_with("t.csv, line 15, column 'label': label 'third' is a third"));
    // The error for a missing value among the features of a raw table names its line as well.
    let missing = margins_data::encode::Missing::Refuse;
    let features = FeatureColumns::Learn(EncodeOptions { missing, ..Default::default() });
    let options = ReadOptions { features, drop_unlabelled: true, ..ReadOptions::default() };
    let refused = message(classes("size,label\n1,a\n2,\n3,b\n,b\n", &options));
    assert!(refused.starts_with("t.csv, line 5, column 'size'"), "{refused}");
    assert_eq!(
        message(classes("size,w,f,label\n1,1,a,\n1,1,a,?\n", &dropping())),
        "t.csv: none of its rows has a label (2 are left out)"
    );
}

#[test]
fn predictions_are_made_of_the_others() {
    let options = ReadOptions { fold_column: None, label: None, ..dropping() };
    let text = GAPS.replace(",f,", ",").replace(",\"q,\",", ",");
    let text: String = text.lines().map(|line| without_third(line) + "\n").collect();
    let told = read::features_from(text.as_bytes(), "t.csv", Format::Csv, &options).unwrap();
    assert_eq!(told.dropped, [1, 3, 5, 7, 9, 10]);
    let labels: Vec<&str> = told.labels.iter().flat_map(RowLabels::iter).collect();
    assert_eq!(labels, ["na", "none", "none", "na", "none", "na"]);
    assert_eq!(told.weights.as_deref().unwrap(), [1.0, 2.0, 1.0, 0.5, 1.0, 1.0]);
    let rows: Vec<usize> = (0..6).map(|sample| told.row_of(sample)).collect();
    assert_eq!(rows, [0, 2, 4, 6, 8, 11]);
    let mut blocks = Vec::new();
    let dropped = read::each_block_from(
        text.as_bytes(),
        "t.csv",
        Format::Csv,
        &options,
        |block: Unlabelled| block,
        |block| {
            blocks.push(block);
            Ok::<(), Error>(())
        },
    );
    assert_eq!((dropped.unwrap(), blocks), (6, vec![told]));
    // Without the option, words that are not labels do not affect predictions.
    let plain = ReadOptions::default();
    let some = read::features_from(&b"size,label\n1,NA\n"[..], "t.csv", Format::Csv, &plain);
    assert_eq!(some.unwrap().labels, Some(RowLabels::from_iter(["NA"])));
}

/// Returns a line without its third cell, unless it has three cells only.
fn without_third(line: &str) -> String {
    let cells: Vec<&str> = line.split(',').collect();
    match cells[..] {
        [size, weight, _, label] => [size, weight, label].join(","),
        _ => line.to_owned(),
    }
}

#[test]
fn a_stream_goes_over_them() {
    let options = ReadOptions { fold_column: None, weights_column: None, ..dropping() };
    let text = "size,label\n1,a\n2,\n3,b\nx,NA\n4,a\n5,?\n6,\n7,b\n8,\n";
    let mut stream =
        Stream::from_reader(text.as_bytes(), "t.csv", Format::Csv, &options, None).unwrap();
    stream = stream.with_buffer_rows(2);
    let mut sizes = Vec::new();
    while let Some(chunk) = stream.next_chunk().unwrap() {
        assert_eq!(chunk.design.rows(), 2);
        sizes.extend(chunk.design.to_dense().iter().copied());
    }
    assert_eq!(sizes, [1.0, 3.0, 4.0, 7.0]);
    assert_eq!((stream.rows(), stream.dropped_rows()), (4, 5));
}

#[test]
fn block_files_are_made_of_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    std::fs::write(path("gaps.csv"), GAPS).unwrap();
    let (settings, out) = (BlockSettings::default(), path("t.blocks"));
    let dropped = read::to_blocks(path("gaps.csv"), &dropping(), settings, &out).unwrap();
    assert_eq!(dropped, 6);
    let data: Dataset<Classes> = BlockFile::open(&out).unwrap().dataset().unwrap();
    assert_same(&data, &classes(WHOLE, &dropping()).unwrap());
    // An encoding is learned in passes of their own.
    std::fs::write(path("raw.csv"), "town,label\nBern,a\nChur,\nBasel,b\n").unwrap();
    let features = FeatureColumns::Learn(EncodeOptions::default());
    let raw = ReadOptions { features, drop_unlabelled: true, ..ReadOptions::default() };
    let (settings, out) = (BlockSettings::default(), path("raw.blocks"));
    assert_eq!(read::to_blocks(path("raw.csv"), &raw, settings, &out).unwrap(), 1);
    assert_eq!(BlockFile::open(&out).unwrap().features(), 2);
    let refused = message(read::dataset(out, &raw_numbers()));
    assert_eq!(
        refused,
        "the option for rows without a label is 'to drop them', but must be left out for a block file, \
         which stores it"
    );
}

fn raw_numbers() -> ReadOptions {
    ReadOptions { drop_unlabelled: true, ..ReadOptions::default() }
}

#[test]
fn svmlight_has_no_such_rows() {
    let read = |text: &str, options: &ReadOptions| {
        message(read::dataset_from(text.as_bytes(), "t.svm", Format::Svmlight, options))
    };
    assert_eq!(
        read("1 1:1\n-1 1:2\n", &raw_numbers()),
        "the option for rows without a label is to drop them, but must be left out for svmlight files, \
         whose lines begin with a label"
    );
    assert!(
        read("1 1:1\nnan 1:2\n", &ReadOptions::default())
            .starts_with("t.svm, line 2, character 1: label 'nan' is a missing value")
    );
}
