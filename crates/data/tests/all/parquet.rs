//! Parquet files against CSV files of the same content.
#![cfg(feature = "parquet")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use margins_data::blocks::{BlockFile, BlockSettings};
use margins_data::encode::EncodeOptions;
use margins_data::read::{self, Chunk, FeatureColumns, Format, ReadOptions, Stream};
use margins_data::{ClassLabels, Classes, Dataset, Design};
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

const ROWS: usize = 60;

const SCHEMA: &str = "message table {
    optional double income;
    optional float half;
    required int32 rooms;
    optional int64 code;
    required int64 large (INTEGER(64, false));
    optional boolean owner;
    optional binary town (UTF8);
    optional binary digits (UTF8);
    required int32 day (DATE);
    required double weight;
    required int32 fold;
    required binary label (UTF8);
}";

/// A cell of the table that both files say.
#[derive(Clone)]
enum Cell {
    Gap,
    Number(f64),
    Bool(bool),
    Word(&'static str),
}

fn cell(column: usize, row: usize) -> Cell {
    let t = row as f64;
    let gap = |every: usize, cell: Cell| if row % every == every - 1 { Cell::Gap } else { cell };
    match column {
        0 => gap(7, Cell::Number((1.7 * t).sin() * 1e3)),
        1 => gap(11, Cell::Number(0.25 * t)),
        2 => Cell::Number((row % 5) as f64 - 2.0),
        3 => gap(5, Cell::Number((row * row % 4) as f64)),
        4 => Cell::Number((1u64 << 63) as f64 + 4096.0 * t),
        5 => gap(6, Cell::Bool(row.is_multiple_of(3))),
        6 => gap(9, Cell::Word(["Bern", " Basel", "Chur, GR", "n/a"][row * row % 7 % 4])),
        7 => gap(8, Cell::Word(["01", "2", "3.5"][row % 3])),
        8 => Cell::Number(20_000.0 + t),
        9 => Cell::Number((row % 4) as f64),
        10 => Cell::Number((row % 3) as f64),
        _ => Cell::Word(["no", "yes", "perhaps"][(row + row / 7) % 3]),
    }
}

/// The columns of the schema, but for those that are left out.
fn columns(without: &[&str]) -> Vec<(usize, String)> {
    let fields = SCHEMA.lines().filter(|line| line.ends_with(';'));
    let name = |line: &str| line.split_whitespace().nth(2).unwrap().replace(';', "");
    let named = fields.map(name).enumerate();
    named.filter(|(_, name)| !without.contains(&name.as_str())).collect()
}

fn write_csv(path: &Path, without: &[&str], rows: impl IntoIterator<Item = usize>) {
    let columns = columns(without);
    let names: Vec<&str> = columns.iter().map(|(_, name)| name.as_str()).collect();
    let mut text = names.join(",") + "\n";
    for row in rows {
        let cells = columns.iter().map(|&(column, _)| match cell(column, row) {
            Cell::Gap => String::new(),
            Cell::Number(x) => x.to_string(),
            Cell::Bool(b) => b.to_string(),
            Cell::Word(word) => format!("\"{word}\""),
        });
        text += &(cells.collect::<Vec<_>>().join(",") + "\n");
    }
    std::fs::write(path, text).unwrap();
}

/// Writes rows in groups of 17.
fn write_parquet(
    path: &Path,
    without: &[&str],
    rows: impl IntoIterator<Item = usize>,
    compression: Compression,
) {
    let left_out = |line: &&str| {
        let name = line.split_whitespace().nth(2).map(|name| name.replace(';', ""));
        !name.is_some_and(|name| without.contains(&name.as_str()))
    };
    let schema: Vec<&str> = SCHEMA.lines().filter(left_out).collect();
    let schema = Arc::new(parse_message_type(&schema.join("\n")).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let rows: Vec<usize> = rows.into_iter().collect();
    for group in rows.chunks(17) {
        let mut groups = writer.next_row_group().unwrap();
        let mut columns = columns(without).into_iter();
        while let Some(mut column) = groups.next_column().unwrap() {
            let (number, _) = columns.next().unwrap();
            let cells: Vec<Cell> = group.iter().map(|&row| cell(number, row)).collect();
            write_cells(column.untyped(), &cells);
            column.close().unwrap();
        }
        groups.close().unwrap();
    }
    writer.close().unwrap();
}

fn write_cells(column: &mut ColumnWriter<'_>, cells: &[Cell]) {
    let present = |cell: &Cell| i16::from(!matches!(cell, Cell::Gap));
    let levels: Vec<i16> = cells.iter().map(present).collect();
    let levels = Some(&levels[..]);
    let numbers: Vec<f64> = cells
        .iter()
        .filter_map(|c| if let Cell::Number(x) = c { Some(*x) } else { None })
        .collect();
    let written = match column {
        ColumnWriter::DoubleColumnWriter(writer) => writer.write_batch(&numbers, levels, None),
        ColumnWriter::FloatColumnWriter(writer) => {
            let values: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
            writer.write_batch(&values, levels, None)
        }
        ColumnWriter::Int32ColumnWriter(writer) => {
            let values: Vec<i32> = numbers.iter().map(|&x| x as i32).collect();
            writer.write_batch(&values, levels, None)
        }
        ColumnWriter::Int64ColumnWriter(writer) => {
            let whole = |x: f64| if x < 0.0 { x as i64 } else { x as u64 as i64 };
            let values: Vec<i64> = numbers.iter().map(|&x| whole(x)).collect();
            writer.write_batch(&values, levels, None)
        }
        ColumnWriter::BoolColumnWriter(writer) => {
            let value = |c: &Cell| if let Cell::Bool(b) = c { Some(*b) } else { None };
            let values: Vec<bool> = cells.iter().filter_map(value).collect();
            writer.write_batch(&values, levels, None)
        }
        ColumnWriter::ByteArrayColumnWriter(writer) => {
            let value =
                |c: &Cell| if let Cell::Word(w) = c { Some(ByteArray::from(*w)) } else { None };
            let values: Vec<ByteArray> = cells.iter().filter_map(value).collect();
            writer.write_batch(&values, levels, None)
        }
        _ => panic!("a type that the schema does not have"),
    };
    assert!(written.is_ok(), "{written:?}");
}

/// A folder for files, which is removed at the end.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn encoded() -> ReadOptions {
    let options = EncodeOptions {
        categorical: vec!["code".to_owned()],
        drop: vec!["day".to_owned()],
        ..EncodeOptions::default()
    };
    ReadOptions {
        features: FeatureColumns::Learn(options),
        weights_column: Some("weight".to_owned()),
        fold_column: Some("fold".to_owned()),
        ..ReadOptions::default()
    }
}

/// Refuses any difference, between numbers in their bits, but for raw columns that are dropped.
fn assert_same(one: &Dataset<Classes>, other: &Dataset<Classes>) {
    assert_eq!(one.design(), other.design());
    assert_eq!(one.labels(), other.labels());
    assert_eq!((one.weights(), one.folds()), (other.weights(), other.folds()));
    assert_eq!((one.feature_names(), one.encoding()), (other.feature_names(), other.encoding()));
    let bits = |data: &Dataset<Classes>| -> Vec<u64> {
        data.design().to_dense().iter().map(|x| x.to_bits()).collect()
    };
    assert_eq!(bits(one), bits(other));
}

#[test]
fn a_raw_table_is_the_same_as_from_csv() {
    let folder = Folder::new();
    write_csv(&folder.path("all.csv"), &[], 0..ROWS);
    let csv = read::classes(folder.path("all.csv"), &encoded()).unwrap();
    assert!(csv.columns() > 10 && csv.encoding().is_some());
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(Default::default()),
        Compression::GZIP(Default::default()),
        Compression::LZ4_RAW,
    ] {
        write_parquet(&folder.path("all.parquet"), &[], 0..ROWS, compression);
        let data = read::classes(folder.path("all.parquet"), &encoded()).unwrap();
        assert_same(&data, &csv);
    }
    // Folds learn from the raw table, which must be the same too.
    let rows: Vec<usize> = (0..40).collect();
    let data = read::classes(folder.path("all.parquet"), &encoded()).unwrap();
    assert_eq!(data.learned_on(&rows).unwrap().design(), csv.learned_on(&rows).unwrap().design());
}

#[test]
fn numbers_are_the_same_as_from_csv_in_one_file_or_two() {
    const WORDS: [&str; 7] = ["income", "half", "code", "owner", "town", "digits", "day"];
    let folder = Folder::new();
    write_csv(&folder.path("all.csv"), &WORDS, 0..ROWS);
    write_parquet(&folder.path("a.parquet"), &WORDS, 0..25, Compression::SNAPPY);
    write_parquet(&folder.path("b.parquet"), &WORDS, 25..ROWS, Compression::SNAPPY);
    let options = ReadOptions { features: FeatureColumns::Numbers, ..encoded() };
    let csv = read::classes(folder.path("all.csv"), &options).unwrap();
    assert_eq!(csv.columns(), 2);
    let further_files = vec![folder.path("b.parquet")];
    let both = ReadOptions { further_files, ..options };
    assert_same(&read::classes(folder.path("a.parquet"), &both).unwrap(), &csv);
}

#[test]
fn rows_to_predict_go_by_the_encoding() {
    let folder = Folder::new();
    write_csv(&folder.path("all.csv"), &[], 0..ROWS);
    write_parquet(&folder.path("new.parquet"), &["label", "fold"], 0..ROWS, Compression::SNAPPY);
    let csv = read::classes(folder.path("all.csv"), &encoded()).unwrap();
    let encoding = Box::new(csv.encoding().unwrap().clone());
    let options = ReadOptions { features: FeatureColumns::Known(encoding), ..encoded() };
    let new = read::features(folder.path("new.parquet"), &options).unwrap();
    assert_eq!(&new.design, csv.design());
    assert_eq!((new.labels, new.weights), (None, None));
    let mut blocks = Vec::new();
    let take = |block| {
        blocks.push(block);
        Ok::<(), margins_data::Error>(())
    };
    let design = |block: read::Unlabelled| block.design;
    read::each_block(folder.path("new.parquet"), &options, design, take).unwrap();
    assert_eq!(blocks.iter().map(Design::rows).collect::<Vec<_>>(), [17, 17, 17, 9]);
    assert_eq!(&Design::stack(&blocks).unwrap(), csv.design());
}

/// Writes three labels and a column of whole numbers, whatever they stand for.
fn write_whole_numbers(path: &Path, column: &str, cells: [i64; 3]) {
    let schema = format!("message table {{ {column} required binary label (UTF8); }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    if let ColumnWriter::Int64ColumnWriter(writer) = column.untyped() {
        writer.write_batch(&cells, None, None).unwrap();
    }
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    if let ColumnWriter::ByteArrayColumnWriter(labels) = column.untyped() {
        labels.write_batch(&["a", "b", "a"].map(ByteArray::from), None, None).unwrap();
    }
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn a_type_that_is_not_read_is_told_by_its_name_alone() {
    let folder = Folder::new();
    let path = folder.path("times.parquet");
    for (column, name) in [
        ("required int64 at (TIMESTAMP(MILLIS,true));", "Timestamp"),
        ("required int64 price (DECIMAL(9,2));", "Decimal"),
    ] {
        write_whole_numbers(&path, column, [1, 2, 3]);
        let message = read::classes(&path, &ReadOptions::default()).unwrap_err().to_string();
        assert!(message.contains(&format!("values of the type {name}, which")), "{message}");
    }
}

/// Whole numbers that are codes keep all of their digits, which doubles would not.
#[test]
fn large_codes_differ() {
    let folder = Folder::new();
    let path = folder.path("codes.parquet");
    write_whole_numbers(&path, "required int64 code;", [1 << 53, (1 << 53) + 1, -7]);
    let learn = EncodeOptions { categorical: vec!["code".to_owned()], ..EncodeOptions::default() };
    let options = ReadOptions { features: FeatureColumns::Learn(learn), ..ReadOptions::default() };
    let data = read::classes(&path, &options).unwrap();
    let names = ["code=9007199254740992", "code=9007199254740993", "code=-7"];
    assert_eq!(data.feature_names().unwrap(), names);
}

/// Labels that are whole numbers keep all of their digits too.
#[test]
fn large_labels_differ() {
    let folder = Folder::new();
    let path = folder.path("labels.parquet");
    let names = ["9007199254740992", "9007199254740993"];
    write_whole_numbers(&path, "required int64 class;", [(1 << 53) + 1, 1 << 53, (1 << 53) + 1]);
    let labelled = ReadOptions {
        label: Some("class".to_owned()),
        features: FeatureColumns::Learn(EncodeOptions::default()),
        ..ReadOptions::default()
    };
    let data = read::classes(&path, &labelled).unwrap();
    assert_eq!(
        (data.labels().names(), data.labels().indices()),
        (&names.map(String::from)[..], &[1, 0, 1][..])
    );
}

/// An error in the second group names the row in the file.
#[test]
fn an_unknown_level_is_reported_with_its_row() {
    let folder = Folder::new();
    write_csv(&folder.path("three.csv"), &[], 0..3);
    // The first of the three rows has no weight.
    let of_three = ReadOptions { weights_column: None, ..encoded() };
    let csv = read::classes(folder.path("three.csv"), &of_three).unwrap();
    let rows = (0..20).map(|row| row % 3).chain([3]);
    write_parquet(&folder.path("new.parquet"), &["label", "fold"], rows, Compression::SNAPPY);
    let encoding = Box::new(csv.encoding().unwrap().clone());
    let options = ReadOptions { features: FeatureColumns::Known(encoding), ..of_three };
    let whole = read::features(folder.path("new.parquet"), &options).unwrap_err().to_string();
    let take = |()| Ok::<(), margins_data::Error>(());
    let blocks = read::each_block(folder.path("new.parquet"), &options, |_| (), take);
    let expected = "new.parquet, row 20, column 'town'";
    assert!(whole.contains(expected), "{whole}");
    assert_eq!(blocks.unwrap_err().to_string(), whole);
}

/// The columns that hold no numbers, or are not read by a stream.
const NOT_STREAMED: [&str; 8] =
    ["income", "half", "code", "owner", "town", "digits", "day", "fold"];

/// Returns the first rows of two classes.
fn rows_of_two_classes(rows: usize) -> Vec<usize> {
    let is_third = |row: &usize| matches!(cell(11, *row), Cell::Word("perhaps"));
    (0..).filter(|row| !is_third(row)).take(rows).collect()
}

fn chunks(path: &Path, options: &ReadOptions, buffer: usize) -> Vec<Chunk> {
    let mut stream = Stream::open(path, options, None).unwrap().with_buffer_rows(buffer);
    std::iter::from_fn(|| stream.next_chunk().unwrap()).collect()
}

/// The chunks are those of CSV, wherever row groups and files end.
#[test]
fn a_stream_is_the_same_as_from_csv() {
    let folder = Folder::new();
    let rows = rows_of_two_classes(61);
    let (first, second) = rows.split_at(40);
    write_csv(&folder.path("all.csv"), &NOT_STREAMED, rows.clone());
    write_parquet(&folder.path("a.parquet"), &NOT_STREAMED, first.to_vec(), Compression::SNAPPY);
    write_parquet(&folder.path("b.parquet"), &NOT_STREAMED, second.to_vec(), Compression::SNAPPY);
    let options =
        ReadOptions { weights_column: Some("weight".to_owned()), ..ReadOptions::default() };
    let both = ReadOptions { further_files: vec![folder.path("b.parquet")], ..options.clone() };
    for buffer in [1 << 12, 40, 23, 17, 6] {
        let csv = chunks(&folder.path("all.csv"), &options, buffer);
        let parquet = chunks(&folder.path("a.parquet"), &both, buffer);
        assert_eq!(csv, parquet, "{buffer}");
        assert!(parquet.iter().all(|chunk| chunk.design.rows() <= buffer));
        let bits = |chunks: &[Chunk]| -> Vec<u64> {
            let designs = chunks.iter().map(|chunk| chunk.design.to_dense());
            designs.flat_map(|x| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>()).collect()
        };
        assert_eq!(bits(&csv), bits(&parquet), "{buffer}");
    }
    let stream = Stream::open(folder.path("a.parquet"), &both, None).unwrap();
    assert_eq!(stream.feature_names().unwrap(), ["rooms", "large"]);
    assert_eq!(stream.columns(), 2);
}

/// Errors in the third row group, and in a further file, name their rows.
#[test]
fn a_stream_reports_errors_with_their_row() {
    let folder = Folder::new();
    let without = &NOT_STREAMED[1..];
    let good: Vec<usize> = [0, 1, 3, 4].into_iter().cycle().take(40).collect();
    let path = |name: &str| folder.path(name);
    for (name, last) in [("gap", 6), ("third", 2)] {
        let rows = good.iter().copied().chain([last]);
        write_parquet(&path(&format!("{name}.parquet")), without, rows, Compression::SNAPPY);
    }
    write_parquet(&path("good.parquet"), without, good.clone(), Compression::SNAPPY);
    let content = std::fs::read(path("good.parquet")).unwrap();
    let mut messages = Vec::new();
    let mut fault = |name: &str, options: &ReadOptions| {
        let mut stream = Stream::open(path(name), options, None).unwrap().with_buffer_rows(8);
        let fault = loop {
            match stream.next_chunk() {
                Ok(chunk) => assert!(chunk.is_some(), "{name} has no fault"),
                Err(fault) => break fault,
            }
        };
        messages.push(format!("{} rows, then {fault}", stream.rows()));
    };
    let alone = ReadOptions::default();
    fault("gap.parquet", &alone);
    fault("third.parquet", &alone);
    let further_files = vec![path("gap.parquet")];
    fault("good.parquet", &ReadOptions { further_files, ..alone.clone() });
    // The header of a page of the last group becomes what no page has.
    let file = SerializedFileReader::new(std::fs::File::open(path("good.parquet")).unwrap());
    let metadata = file.unwrap().metadata().row_group(2).column(1).byte_range();
    let (start, length) = (metadata.0 as usize, metadata.1 as usize);
    let mut broken = content;
    broken[start..start + length].fill(0xff);
    std::fs::write(path("broken.parquet"), broken).unwrap();
    fault("broken.parquet", &alone);
    let folder = folder.0.path().display().to_string() + "/";
    insta::assert_snapshot!(messages.join("\n").replace(&folder, ""));
}

/// Rows without a label are those of the same table as CSV, words, numbers and booleans alike.
#[test]
fn rows_without_a_label_are_left_out() {
    let folder = Folder::new();
    write_csv(&folder.path("all.csv"), &[], 0..ROWS);
    write_parquet(&folder.path("all.parquet"), &[], 0..ROWS, Compression::SNAPPY);
    for (label, dropped) in [("town", 6), ("code", 12), ("owner", 10)] {
        let name = Some(label.to_owned());
        let mut options = ReadOptions { label: name, drop_unlabelled: true, ..encoded() };
        if let (FeatureColumns::Learn(learn), "code") = (&mut options.features, label) {
            learn.categorical.clear();
        }
        let csv = read::classes(folder.path("all.csv"), &options).unwrap();
        let data = read::classes(folder.path("all.parquet"), &options).unwrap();
        assert_same(&data, &csv);
        assert_eq!((data.rows(), data.dropped_rows()), (ROWS - dropped, dropped), "{label}");
        let refused = ReadOptions { drop_unlabelled: false, ..options.clone() };
        let message = read::classes(folder.path("all.parquet"), &refused).unwrap_err().to_string();
        assert!(message.contains(&format!("column '{label}': the cell is empty")), "{message}");

        let out = folder.path("all.blocks");
        let settings = BlockSettings::default();
        let counted = read::to_blocks(folder.path("all.parquet"), &options, settings, &out);
        assert_eq!(counted.unwrap(), dropped);
        let blocks: Dataset<Classes> = BlockFile::open(&out).unwrap().dataset().unwrap();
        assert_eq!((blocks.design(), blocks.labels()), (csv.design(), csv.labels()));
        assert_eq!((blocks.weights(), blocks.folds()), (csv.weights(), csv.folds()));
    }
}

#[test]
fn a_stream_goes_over_rows_without_a_label() {
    let folder = Folder::new();
    let without = ["income", "half", "code", "town", "digits", "day", "fold", "label"];
    write_csv(&folder.path("all.csv"), &without, 0..ROWS);
    write_parquet(&folder.path("all.parquet"), &without, 0..ROWS, Compression::SNAPPY);
    let label = Some("owner".to_owned());
    let options = ReadOptions { label, drop_unlabelled: true, ..ReadOptions::default() };
    for buffer in [1 << 12, 7] {
        let csv = chunks(&folder.path("all.csv"), &options, buffer);
        assert_eq!(chunks(&folder.path("all.parquet"), &options, buffer), csv);
        assert_eq!(csv.iter().map(|chunk| chunk.design.rows()).sum::<usize>(), ROWS - 10);
    }
    // The gap of the last row of a file is counted too.
    let mut stream = Stream::open(folder.path("all.parquet"), &options, None).unwrap();
    while stream.next_chunk().unwrap().is_some() {}
    assert_eq!((stream.rows(), stream.dropped_rows()), (ROWS as u64 - 10, 10));
}

/// An error after rows that were left out names the row in the file.
#[test]
fn rows_left_out_are_counted_in_the_row_of_an_error() {
    let folder = Folder::new();
    let path = folder.path("all.parquet");
    let without = ["half", "code", "town", "digits", "day", "fold", "label"];
    write_parquet(&path, &without, 0..ROWS, Compression::SNAPPY);
    let label = Some("owner".to_owned());
    let options = ReadOptions { label, drop_unlabelled: true, ..ReadOptions::default() };
    let expected = "all.parquet, row 6, column 'income': the cell is empty";
    let whole = read::dataset(&path, &options).unwrap_err().to_string();
    assert!(whole.contains(expected), "{whole}");
    let mut stream = Stream::open(&path, &options, None).unwrap().with_buffer_rows(2);
    let fault = std::iter::repeat_with(|| stream.next_chunk()).find_map(Result::err).unwrap();
    assert_eq!(fault.to_string(), whole);
}

#[test]
fn refusals() {
    let folder = Folder::new();
    let path = folder.path("all.parquet");
    write_parquet(&path, &[], 0..ROWS, Compression::SNAPPY);
    let plain = ReadOptions::default();
    let without_drop =
        ReadOptions { features: FeatureColumns::Learn(EncodeOptions::default()), ..encoded() };
    let label = |name: &str| ReadOptions { label: Some(name.to_owned()), ..encoded() };
    let weights =
        ReadOptions { weights_column: Some("income".to_owned()), fold_column: None, ..encoded() };
    let numbers = folder.path("numbers.parquet");
    write_parquet(&numbers, &["day", "owner", "town"], 0..ROWS, Compression::SNAPPY);
    let words = folder.path("words.parquet");
    write_parquet(&words, &["day", "income", "half", "code"], 0..ROWS, Compression::SNAPPY);
    let other = ReadOptions { further_files: vec![numbers.clone()], ..encoded() };
    let cut = folder.path("cut.parquet");
    let content = std::fs::read(&path).unwrap();
    std::fs::write(&cut, &content[..content.len() / 2]).unwrap();
    let mut broken = content.clone();
    broken[100..400].fill(0xff);
    std::fs::write(folder.path("broken.parquet"), broken).unwrap();
    let found = [
        read::classes(&path, &plain),
        read::classes(&path, &without_drop),
        read::classes(&path, &label("town")),
        read::classes(&path, &label("size")),
        read::classes(&path, &weights),
        read::classes(&numbers, &plain),
        read::classes(&words, &plain),
        read::classes(&path, &other),
        read::classes(&cut, &encoded()),
        read::classes(folder.path("broken.parquet"), &encoded()),
    ];
    let mut messages: Vec<String> = found.into_iter().map(|r| r.unwrap_err().to_string()).collect();
    messages.push(Stream::open(&path, &plain, None).map(|_| ()).unwrap_err().to_string());
    let text = read::classes_from(&b"a,label\n1,x\n"[..], "text", Format::Parquet, &plain);
    messages.push(text.unwrap_err().to_string());
    let folder = folder.0.path().display().to_string() + "/";
    insta::assert_snapshot!(messages.join("\n").replace(&folder, ""));
}
