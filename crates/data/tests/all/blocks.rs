//! Files of many blocks: their rows are those of a file read line by line, and so are their faults.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use margins_data::encode::{EncodeOptions, MissingWords, RawTable};
use margins_data::read::{
    self, FeatureColumns, Format, ReadOptions, RowLabels, Stream, Unlabelled,
};
use margins_data::{Dataset, Design, Error};
use proptest::prelude::*;

/// The bytes of several blocks.
const SEVERAL: usize = 3 << 20;

/// Returns rows of CSV, some with quoted cells that run over lines, and the rows' features.
fn text(rows: usize, quotes: bool) -> (String, Vec<[f64; 3]>) {
    let mut text = "x,note,y,label,z\n".replace("note,", if quotes { "\"w\"," } else { "w," });
    let mut features = Vec::new();
    for i in 0..rows {
        let (x, y) = ((i * 7919 % 1009) as f64, i as f64 / 64.0 - 3.0);
        let w = if quotes && i % 11 == 0 { "\"5\"" } else { "5" };
        let label = match i % 3 {
            0 if quotes => "\"a\nb, c\"",
            0 => "d",
            _ => "e",
        };
        text += &format!("{x},{w},{y:?},{label},{i}\n");
        features.push([x, y, i as f64]);
    }
    (text, features)
}

fn dataset(text: &[u8]) -> Result<Dataset, Error> {
    read::dataset_from(text, "t.csv", Format::Csv, &ReadOptions::default())
}

/// Returns the rows of blocks, one after the other, with their number of blocks.
fn joined(text: &[u8], format: Format, options: &ReadOptions) -> (Vec<Unlabelled>, usize) {
    let mut blocks = Vec::new();
    let take = |block: Unlabelled| {
        blocks.push(block);
        Ok::<(), Error>(())
    };
    read::each_block_from(text, "t", format, options, |block| block, take).unwrap();
    let count = blocks.len();
    (blocks, count)
}

fn dense(design: &Design) -> Vec<Vec<f64>> {
    let row = |sample: margins_data::Sample<'_>| {
        let mut row = vec![0.0; design.columns()];
        sample.for_each(|column, value| row[column] = value);
        row
    };
    design.samples().map(row).collect()
}

#[test]
fn blocks_are_the_rows_in_order() {
    for quotes in [false, true] {
        let (text, features) = text(SEVERAL / 20, quotes);
        let data = dataset(text.as_bytes()).unwrap();
        let rows = dense(data.design());
        assert_eq!(rows.len(), features.len());
        let expected = features.iter().map(|&[x, y, z]| vec![x, 5.0, y, z]);
        assert!(rows.iter().cloned().eq(expected), "quotes: {quotes}");
        assert_eq!(data.labels().negative_class(), if quotes { "a\nb, c" } else { "d" });

        let options = ReadOptions::default();
        let (blocks, count) = joined(text.as_bytes(), Format::Csv, &options);
        assert!(count > 5, "{count}");
        let of_blocks: Vec<Vec<f64>> =
            blocks.iter().flat_map(|block| dense(&block.design)).collect();
        assert_eq!(of_blocks, rows);
        let labels = blocks.iter().flat_map(|b| b.labels.iter().flat_map(RowLabels::iter));
        let signs = labels.map(|label| if label == "e" { 1.0 } else { -1.0 });
        assert!(signs.eq(data.labels().signs().iter().copied()));
        // The chunks of a stream are read line by line.
        let mut stream =
            Stream::from_reader(text.as_bytes(), "t.csv", Format::Csv, &options, None).unwrap();
        let mut streamed = Vec::new();
        while let Some(chunk) = stream.next_chunk().unwrap() {
            streamed.extend(dense(&chunk.design));
        }
        assert_eq!(streamed, rows);
    }
}

/// A raw column has one kind, whichever block its first word stands in, and a fault its line.
#[test]
fn raw_tables_of_many_blocks_are_those_of_their_rows() {
    let features = FeatureColumns::Learn(EncodeOptions::default());
    let options = ReadOptions { features, ..ReadOptions::default() };
    // More blocks than are read at a time, twice.
    let rows = 3 * SEVERAL / 96;
    let note = "long ".repeat(14);
    let cells = |i: usize| -> [String; 5] {
        let late =
            if i > rows / 2 && i.is_multiple_of(5) { "late" } else { ["1", "2.50", ""][i % 3] };
        let early = if i < 9 { ["b", "a", "3"][i % 3] } else { ["3.0", "NA"][i % 2] };
        let size = (i as f64 / 8.0).to_string();
        [(i % 1000).to_string(), late.to_owned(), early.to_owned(), note.clone(), size]
    };
    let names = ["code", "late", "early", "note", "size"].map(str::to_owned);
    let mut text = names.join(",") + ",label\n";
    let mut table = RawTable::new(names.to_vec());
    for i in 0..rows {
        text += &format!("{},{}\n", cells(i).join(","), ["no", "yes"][i % 7 % 2]);
        table.push(&cells(i), &MissingWords::default()).unwrap();
    }
    assert!(text.len() > 8 << 20, "{}", text.len());
    let read = |text: &str| read::dataset_from(text.as_bytes(), "t.csv", Format::Csv, &options);
    let data = read(&text).unwrap();
    let labels = data.labels().clone();
    assert_eq!(data, Dataset::encoded(table, labels, EncodeOptions::default()).unwrap());

    let line = text[..text.len() - 999].lines().count();
    let faulty: Vec<&str> = text
        .lines()
        .enumerate()
        .map(|(at, l)| if at == line { "1,2,3,4,inf,no" } else { l })
        .collect();
    let message = read(&faulty.join("\n")).unwrap_err().to_string();
    let expected = format!("t.csv, line {}, column 'size': 'inf' is not a finite number", line + 1);
    assert_eq!(message, expected);
}

#[test]
fn sparse_blocks_are_the_rows_in_order() {
    let line = |i: usize| format!("{} {}:{} 40:{i}\n", ["-1", "+1"][i % 2], 1 + i % 39, i % 5);
    let text: String = (0..SEVERAL / 20).map(line).collect();
    let options = ReadOptions { columns: Some(40), ..ReadOptions::default() };
    let whole = read::features_from(text.as_bytes(), "t", Format::Svmlight, &options).unwrap();
    let (blocks, count) = joined(text.as_bytes(), Format::Svmlight, &options);
    assert!(count > 5, "{count}");
    let rows: Vec<Vec<f64>> = blocks.iter().flat_map(|block| dense(&block.design)).collect();
    assert_eq!(rows, dense(&whole.design));
    let mut labels = RowLabels::default();
    blocks.iter().for_each(|block| labels.append(block.labels.as_ref().unwrap()));
    assert_eq!(Some(labels), whole.labels);
}

/// Errors name their line, and come after the blocks before them.
#[test]
fn faults_far_down_have_their_line() {
    let (text, features) = text(SEVERAL / 20, true);
    let lines: Vec<&str> = text.lines().collect();
    let message = |text: &str| dataset(text.as_bytes()).unwrap_err().to_string();
    // Rows of one line each, well within the last blocks.
    let row = (features.len() - 500) / 3 * 3 + 1;
    let ending = format!(",e,{row}");
    let at = lines.iter().position(|line| line.ends_with(&ending)).expect("the row is there");
    let with = |line: &str| {
        let mut lines = lines.clone();
        lines[at] = line;
        lines.join("\n")
    };
    let number = at + 1;
    assert!(message(&with("1,x,1,e,1")).starts_with(&format!("t.csv, line {number}, column 'w'")));
    let third = message(&with("1,1,1,f,1"));
    assert!(third.starts_with(&format!("t.csv, line {number}, column 'label'")), "{third}");
    // Of two faults in a block the one of the earlier row counts.
    let both = with("1,1,1,f,1").replace(lines[at + 1], "1,1");
    assert_eq!(message(&both), third);
    let short = message(&with("1,1"));
    assert_eq!(short, format!("t.csv, line {number}: the row has 2 cells, but the header has 5"));
}

#[test]
fn a_gzip_file_that_ends_too_early_says_how_many_lines_it_has() {
    let (text, _) = text(SEVERAL / 20, false);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(dataset(&packed).unwrap(), dataset(text.as_bytes()).unwrap());
    let cut = &packed[..packed.len() / 2];
    let message = dataset(cut).unwrap_err().to_string();
    let mut before = Vec::new();
    let _ = flate2::read::GzDecoder::new(cut).read_to_end(&mut before);
    let lines = before.iter().filter(|&&byte| byte == b'\n').count();
    let expected = format!("t.csv: the gzip data ends too early, after {lines} whole lines");
    assert_eq!(message, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Records that are longer than a block are whole as well.
    #[test]
    fn long_records_are_not_cut(lengths in proptest::collection::vec(1usize..400_000, 2..9)) {
        let mut text = "x,label\n".to_owned();
        for (k, length) in lengths.iter().enumerate() {
            text += &format!("{k},\"{}{}\"\n", "\n,".repeat(length / 2), k % 2);
        }
        let options = ReadOptions::default();
        let (blocks, _) = joined(text.as_bytes(), Format::Csv, &options);
        let labels = blocks.iter().flat_map(|b| b.labels.iter().flat_map(RowLabels::iter));
        let labels: Vec<usize> = labels.map(str::len).collect();
        // The blank before a label is no part of it.
        let expected: Vec<usize> = lengths.iter().map(|length| (length / 2 * 2).max(1)).collect();
        prop_assert_eq!(labels, expected);
    }
}
