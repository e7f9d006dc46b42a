//! CSV, svmlight and raw tables, plain and compressed.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use margins_data::blocks::{BlockFile, BlockSettings};
use margins_data::encode::EncodeOptions;
use margins_data::read::{self, FeatureColumns, Format, ReadOptions, Stream};
use margins_data::{Dataset, Error, write};

use super::scratch::Scratch;
use super::{Target, as_they_are};

const CSV: [&str; 6] = [
    "a,b,label\n1,2,no\n3.5,-4e-3,yes\n0,0,yes\n",
    "label,x\nyes,1\nno,2\n\nno,3\r\nyes,-0.0\r\n",
    "\u{feff}\"a,1\",b,label\n1,\"2\",1\n3,4,-1\n",
    "x,label\n1,no\n-1,yes\n",
    "a,label,weight,fold\n1,x,0.5,1\n2,y,1e3,2\n3,x,0,1\n4,y,2,2\n",
    "a,b,c,label\n1,1e-400,3,0\n1,1e308,3,1\n",
];

const SVMLIGHT: [&str; 5] = [
    "+1 1:0.5 3:1\n-1 2:2\n+1\n",
    "yes 1:1e-300 2:-7 # a remark\nno 5:1\n",
    "1 qid:3 1:2\n0 qid:3 4:5\n",
    "1 1:1\r\n2 2:2\r\n1 1:3\r\n",
    "-1 33554432:1\n1 1:1\n",
];

const TABLES: [&str; 4] = [
    "island,mass,sex,label\nDream,3750,male,a\nBiscoe,NA,,b\nDream,3250,female,a\nTorgersen,?,male,b\n",
    "flag,code,label\ntrue,007,yes\nfalse,7,no\nTRUE,70,no\n,7,yes\n",
    "a,a2,label\nx,1,u\n\"x \",2,v\n\"1\",nan,u\n",
    "empty,words,label\n,x,1\n,y,0\n,x,1\n",
];

/// The values that a file without an order of magnitude of its own may stand for.
const WORDS: [&str; 12] =
    ["NA", "nan", "?", "inf", "-0", "1e308", "4294967296:1", "\r\n", ",,", "\"\"", "label", "# x"];

pub(super) fn targets() -> Vec<Target> {
    let plain = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    let packed = |texts: &[&str]| texts.iter().map(|text| packed(text.as_bytes())).collect();
    vec![
        target("csv", plain(&CSV), Format::Csv, numbers()),
        target("svmlight", plain(&SVMLIGHT), Format::Svmlight, numbers()),
        target("raw-table", plain(&TABLES), Format::Csv, raw()),
        target("gzip", packed(&CSV[..5]), Format::Csv, numbers()),
    ]
}

fn numbers() -> ReadOptions {
    ReadOptions::default()
}

fn raw() -> ReadOptions {
    let features = FeatureColumns::Learn(EncodeOptions::default());
    ReadOptions { features, ..ReadOptions::default() }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(bytes).expect("memory");
    out.finish().expect("memory")
}

fn target(
    name: &'static str,
    corpus: Vec<Vec<u8>>,
    format: Format,
    options: ReadOptions,
) -> Target {
    let own = options.clone();
    let scratch = Scratch::new();
    Target {
        name,
        corpus,
        words: &WORDS,
        seal: as_they_are,
        read: Box::new(move |bytes| drop(read::dataset_from(bytes, "x", format, &own))),
        // Compressed bytes stand for up to a thousand others.
        bytes_per_input_byte: if name == "gzip" { 64 << 10 } else { 256 },
        check: Box::new(move |bytes| {
            check(bytes, format, &options, &scratch).map_err(|error| error.to_string())
        }),
    }
}

/// Reads two classes and any number of classes, and compares what else reads or writes the same.
fn check(
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
    scratch: &Scratch,
) -> Result<(), Error> {
    let _ = read::features_from(bytes, "x", format, options);
    // To ask the system for a file and for its room would take most of the time of each execution.
    if bytes.len().is_multiple_of(16) {
        let of_file = ReadOptions { format: Some(format), ..options.clone() };
        let _ = read::features(scratch.holding(bytes), &of_file);
    }
    let _ = read::classes_from(bytes, "x", format, options);
    let data = read::dataset_from(bytes, "x", format, options)?;
    if let Some(encoding) = data.encoding() {
        let features = FeatureColumns::Known(Box::new(encoding.clone()));
        let known = ReadOptions { features, ..options.clone() };
        let again = read::dataset_from(bytes, "x", format, &known).expect("known levels");
        assert_eq!(again.design(), data.design(), "encoded as before");
        return Ok(());
    }
    streamed(bytes, format, options, &data);
    written(format, &data);
    in_blocks(bytes, format, options, &data, &scratch.path("rows.blocks"));
    Ok(())
}

/// A stream has the same rows.
fn streamed(bytes: &[u8], format: Format, options: &ReadOptions, data: &Dataset) {
    let options = ReadOptions { columns: Some(data.columns()), ..options.clone() };
    let classes = [data.labels().negative_class(), data.labels().positive_class()];
    let stream = Stream::from_reader(bytes, "x", format, &options, Some(&classes));
    let mut stream = stream.expect("what is read can be streamed").with_buffer_rows(2);
    let mut rows = 0;
    while let Some(chunk) = stream.next_chunk().expect("what is read can be streamed") {
        let here: Vec<usize> = (rows..rows + chunk.design.rows()).collect();
        assert_eq!(chunk.design, data.design().select(&here), "rows from {rows}");
        let signs: Vec<f64> = here.iter().map(|&i| data.labels().signs()[i]).collect();
        assert_eq!(chunk.labels.signs(), signs, "classes from {rows}");
        rows += here.len();
    }
    assert_eq!(rows, data.rows());
}

/// What is written is read back to the bit.
fn written(format: Format, data: &Dataset) {
    let mut text = Vec::new();
    let done = match format {
        Format::Csv => write::csv(data, &mut text),
        _ => write::svmlight(data, &mut text),
    };
    if done.is_err() {
        return;
    }
    let columns = (format == Format::Svmlight).then(|| data.columns());
    let positive = Some(data.labels().positive_class().to_owned());
    let options = ReadOptions { columns, positive, ..ReadOptions::default() };
    let again = read::dataset_from(&text[..], "x", format, &options).expect("what was written");
    assert_eq!(again.labels(), data.labels());
    for (one, other) in again.design().samples().zip(data.design().samples()) {
        let bits = |sample: margins_data::Sample<'_>| {
            let mut bits = Vec::new();
            sample.for_each(|column, x| {
                if x != 0.0 {
                    bits.push((column, x.to_bits()));
                }
            });
            bits
        };
        assert_eq!(bits(one), bits(other));
    }
}

/// A block file that is made of the text has the same rows.
fn in_blocks(bytes: &[u8], format: Format, options: &ReadOptions, data: &Dataset, path: &Path) {
    let settings = BlockSettings { rows: Some(2), ..BlockSettings::default() };
    read::to_blocks_from(bytes, "x", format, options, settings, path).expect("what is read");
    let file = BlockFile::open(path).expect("what was written");
    let again: Dataset = file.dataset().expect("what was written");
    assert_eq!(again.labels(), data.labels());
    assert_eq!(again.weights(), data.weights());
    assert_eq!(again.folds(), data.folds());
    for (one, other) in again.design().samples().zip(data.design().samples()) {
        let mut row = vec![0.0; data.columns().min(1000)];
        for (sample, sign) in [(one, 1.0), (other, -1.0)] {
            sample.for_each(|column, x| {
                if let Some(own) = row.get_mut(column) {
                    *own += sign * x;
                }
            });
        }
        assert!(row.iter().all(|&x| x == 0.0), "another row: {row:?}");
    }
}
