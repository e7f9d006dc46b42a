//! Labels, categories and folds that are whole numbers of more digits than 64 bits of floating point hold.

use margins_data::blocks::{BlockFile, BlockSettings};
use margins_data::encode::{EncodeOptions, MissingWords, RawColumn, RawTable};
use margins_data::read::{self, Chunk, FeatureColumns, Format, ReadOptions, Stream};
use margins_data::{ClassLabels, Classes, Dataset, Error};

/// Labels that are 2^53 and its successor, in several spellings.
const LABELS: [&str; 4] =
    ["9007199254740993", "9007199254740992", "9007199254740993.0", "+9007199254740992"];
const CLASSES: [&str; 2] = ["9007199254740992", "9007199254740993"];

fn csv(column: &str, cells: &[&str]) -> String {
    let rows = cells.iter().enumerate();
    let rows: String = rows.map(|(row, cell)| format!("{row},{cell},{}\n", row % 2)).collect();
    format!("x,{column},other\n{rows}")
}

#[test]
fn labels_of_every_source_keep_their_digits() {
    let labelled = ReadOptions { label: Some("class".to_owned()), ..ReadOptions::default() };
    let text = csv("class", &LABELS);
    let svmlight: String = LABELS.iter().map(|label| format!("{label} 1:0.5\n")).collect();
    let sparse = ReadOptions { columns: Some(1), ..ReadOptions::default() };
    for (text, format, options) in
        [(&text, Format::Csv, &labelled), (&svmlight, Format::Svmlight, &sparse)]
    {
        let bytes = text.as_bytes();
        let data = read::classes_from(bytes, "t", format, options).unwrap();
        assert_eq!(
            (data.labels().names(), data.labels().indices()),
            (&named(&CLASSES)[..], &[1, 0, 1, 0][..])
        );
        let two = read::dataset_from(bytes, "t", format, options).unwrap();
        assert_eq!(two.labels().signs(), [1.0, -1.0, 1.0, -1.0]);
        let mut stream = Stream::from_reader(bytes, "t", format, options, None).unwrap();
        let Chunk { labels, .. } = stream.next_chunk().unwrap().unwrap();
        assert_eq!(&labels, two.labels());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.blocks");
        read::to_blocks_from(bytes, "t", format, options, BlockSettings::default(), &path).unwrap();
        let blocks: Dataset<Classes> = BlockFile::open(&path).unwrap().dataset().unwrap();
        assert_eq!(blocks.labels(), data.labels());
    }
}

#[test]
fn a_third_class_may_differ_in_the_last_digit() {
    let text = csv("class", &["5", "12345678901234567890", "12345678901234567891"]);
    let options = ReadOptions { label: Some("class".to_owned()), ..ReadOptions::default() };
    let refused = read::dataset_from(text.as_bytes(), "t", Format::Csv, &options).unwrap_err();
    assert!(matches!(refused, Error::ThirdClassInFile { .. }), "{refused}");
    let data = read::classes_from(text.as_bytes(), "t", Format::Csv, &options).unwrap();
    assert_eq!(data.labels().names().len(), 3);
    // Between two whole numbers that have one value in 64 bits.
    let text = csv("class", &["9007199254740992", "9007199254740992.5", "9007199254740993"]);
    let refused = read::classes_from(text.as_bytes(), "t", Format::Csv, &options).unwrap_err();
    assert!(refused.to_string().contains("9007199254740992.5"), "{refused}");
}

#[test]
fn levels_keep_their_digits_wherever_the_word_is() {
    let numbers =
        ["9007199254740992", "9007199254740993", "9007199254740994.0", "-5", "9007199254740995"];
    let names =
        ["9007199254740992", "9007199254740993", "9007199254740994", "-5", "9007199254740995", "x"];
    let learn = || FeatureColumns::Learn(EncodeOptions::default());
    let options = ReadOptions {
        label: Some("other".to_owned()),
        features: learn(),
        ..ReadOptions::default()
    };
    for word in 0..=numbers.len() {
        let mut cells = numbers.to_vec();
        cells.insert(word, "x");
        let expected: Vec<String> =
            (["x"].iter().filter(|_| word == 0).chain(&names[..word.min(5)]))
                .chain(["x"].iter().filter(|_| word > 0))
                .chain(&names[word.min(5)..5])
                .map(|level| format!("c={level}"))
                .collect();
        let text = csv("c", &cells);
        let data = read::classes_from(text.as_bytes(), "t", Format::Csv, &options).unwrap();
        assert_eq!(data.feature_names().unwrap()[1..], expected);
        let known = FeatureColumns::Known(Box::new(data.encoding().unwrap().clone()));
        let known = ReadOptions { features: known, ..options.clone() };
        let again = read::features_from(text.as_bytes(), "t", Format::Csv, &known).unwrap();
        assert_eq!(&again.design, data.design());

        let folder = tempfile::tempdir().unwrap();
        let [path, out] = ["t.csv", "t.blocks"].map(|name| folder.path().join(name));
        std::fs::write(&path, &text).unwrap();
        read::to_blocks(&path, &options, BlockSettings::default(), &out).unwrap();
        let blocks: Dataset<Classes> = BlockFile::open(&out).unwrap().dataset().unwrap();
        assert_eq!(blocks.feature_names(), data.feature_names());
    }
}

#[test]
fn selected_rows_keep_their_digits() {
    let cells = ["9007199254740993", "1", "9007199254740992"].map(Some);
    let column = RawColumn::cells("c", cells, &MissingWords::default()).unwrap();
    assert_eq!(column.distinct(), 3);
    let table = RawTable::from_columns(vec![column]).unwrap().select(&[2, 0, 0]);
    assert_eq!(table.columns()[0].distinct(), 2);
}

/// Folds are compared as classes are: by their exact numbers.
#[test]
fn folds_are_compared_as_classes_are() {
    let cells = ["1", "1.0", "9007199254740993", "9007199254740992", "+1", "9007199254740993.0"];
    let text = csv("part", &cells);
    let options = ReadOptions {
        label: Some("other".to_owned()),
        fold_column: Some("part".to_owned()),
        ..ReadOptions::default()
    };
    let data = read::classes_from(text.as_bytes(), "t", Format::Csv, &options).unwrap();
    assert_eq!(data.folds().unwrap(), [0, 0, 2, 1, 0, 2]);
    assert_eq!(data.fold_names().unwrap(), ["1", "9007199254740992", "9007199254740993"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.blocks");
    let settings = BlockSettings { rows: Some(2), ..BlockSettings::default() };
    read::to_blocks_from(text.as_bytes(), "t", Format::Csv, &options, settings, &path).unwrap();
    let file = BlockFile::open(&path).unwrap();
    assert_eq!(file.folds(), data.fold_names().unwrap());
    let blocks: Dataset<Classes> = file.dataset().unwrap();
    assert_eq!((blocks.folds(), blocks.fold_names()), (data.folds(), data.fold_names()));
    let one = csv("part", &["1", "1.0", "+1"]);
    let refused = read::classes_from(one.as_bytes(), "t", Format::Csv, &options).unwrap_err();
    assert!(refused.to_string().contains("every row is in fold '1'"), "{refused}");
}

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}
