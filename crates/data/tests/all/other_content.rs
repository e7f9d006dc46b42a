//! Files as other programs write them: what can be read is read, and the rest is named.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use margins_data::encode::EncodeOptions;
use margins_data::read::{self, FeatureColumns, Format, ReadOptions};
use margins_data::{Dataset, Error};

const TABLE: &str = "a,b,label\n1,2,no\n2,1,yes\n";

fn data(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<Dataset, Error> {
    read::dataset_from(bytes, "t", format, options)
}

fn csv(bytes: &[u8]) -> Result<Dataset, Error> {
    data(bytes, Format::Csv, &ReadOptions::default())
}

fn refusal<T>(result: Result<T, Error>) -> String {
    result.err().expect("a refusal").to_string()
}

#[test]
fn files_that_are_not_text_are_named_by_their_first_bytes() {
    let mut tar = vec![b'x'; 257];
    tar.extend(b"ustar  \0");
    let cases: [(&[u8], &str); 13] = [
        (b"BZh91AY&SY\x01\x02", "is compressed by bzip2: unpack it first, or compress it by gzip"),
        (b"\xfd7zXZ\0\0\x04", "is compressed by xz: unpack"),
        (b"\x28\xb5\x2f\xfd\x04", "is compressed by zstd: unpack"),
        (
            b"PK\x03\x04\x14\0",
            "is a ZIP archive, as .zip, .xlsx and .npz files are: write it as CSV",
        ),
        (&tar, "is a tar archive: extract"),
        (b"PAR1\x15\x04\x15", "is Parquet: name it .parquet, or pass --data-format parquet"),
        (b"\x89PNG\r\n\x1a\n\0\0", "is a PNG image: write it as CSV"),
        (b"\xff\xfea\0,\0", "is text in UTF-16: convert it to UTF-8"),
        (b"\xfe\xff\0a\0,", "is text in UTF-16: convert it to UTF-8"),
        (b"a,b\n\x01\0\x02", "is binary, not text: write it as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1", "is a document of an older Microsoft Office"),
        (b"\x93NUMPY\x01\0", "is a NumPy array"),
        (b"\x89HDF\r\n\x1a\n", "is an HDF5 file"),
    ];
    for (bytes, expected) in cases {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes).unwrap();
        for bytes in [bytes.to_vec(), packed.finish().unwrap()] {
            for format in [Format::Csv, Format::Svmlight] {
                let message = refusal(data(&bytes, format, &ReadOptions::default()));
                let named = message.strip_prefix("t: the file ");
                assert!(named.is_some_and(|named| named.starts_with(expected)), "{message}");
            }
        }
    }
    // The usual name of a compressed file.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv.bz2");
    std::fs::write(&path, b"BZh91AY&SY\x01\x02").unwrap();
    let message = refusal(read::dataset(&path, &ReadOptions::default()));
    assert!(message.contains("t.csv.bz2: the file is compressed by bzip2: unpack"), "{message}");
    // Text that begins as such a file does is text.
    for name in ["PAR1", "FEA1", "ARROW1", "GIF8", "BZh9"] {
        let text = TABLE.replacen('a', name, 1);
        assert_eq!(csv(text.as_bytes()).unwrap().feature_names().unwrap()[0], name);
    }
}

#[test]
fn lines_may_end_in_a_carriage_return_alone() {
    let returns = TABLE.replace('\n', "\r");
    assert_eq!(csv(returns.as_bytes()).unwrap(), csv(TABLE.as_bytes()).unwrap());
    let lines = "1 1:2\n-1 2:1\n";
    let of = |text: &str| data(text.as_bytes(), Format::Svmlight, &ReadOptions::default()).unwrap();
    assert_eq!(of(&lines.replace('\n', "\r")), of(lines));
    // Lines are counted, also far from the beginning, and a carriage return in quotes stays.
    let long = "a,label\r".to_owned() + &"1,no\r2,yes\r".repeat(20_000) + "x,no\r";
    let message = refusal(csv(long.as_bytes()));
    assert!(message.starts_with("t, line 40002, column 'a': 'x' is not a number"), "{message}");
    let mixed = refusal(csv(b"a,label\n1,no\r2,yes\n3,no\n"));
    let expected = "line 2: the line contains a carriage return without a line feed";
    assert!(mixed.contains(expected), "{mixed}");
    // A header, a line of svmlight, and a comment, behind which a row would be lost.
    for text in ["a,label\r1,no\n2,yes\n3,no\n", "a,label\r1,no\n"] {
        let mixed = refusal(csv(text.as_bytes()));
        assert!(mixed.contains("line 1: the line contains a carriage return"), "{mixed}");
    }
    for text in ["1 1:1\r-1 1:2\n-1 1:3\n", "1 1:1 # c\r-1 1:2\n-1 1:3\n"] {
        let read = data(text.as_bytes(), Format::Svmlight, &ReadOptions::default());
        let mixed = read.unwrap_err().to_string();
        assert!(mixed.contains("line 1: the line contains a carriage return"), "{mixed}");
    }
    assert_eq!(csv(b"\"a\rb\",label\n1,no\n2,yes\n").unwrap().feature_names().unwrap(), ["a\rb"]);
}

#[test]
fn the_separator_of_spreadsheets_is_skipped_or_named() {
    for start in ["sep=,\n", "\"sep=,\"\n", "\u{feff}sep=,\r\n", "SEP=,\n\n"] {
        assert_eq!(
            csv(format!("{start}{TABLE}").as_bytes()).unwrap(),
            csv(TABLE.as_bytes()).unwrap()
        );
    }
    let message = refusal(csv(b"sep=;\na;b;label\n1;2;no\n"));
    let expected =
        "t, line 1: cells are separated by ';' (sep=): write the file with commas between them";
    assert_eq!(message, expected);
    assert_eq!(refusal(csv(b"sep=,\n")), "t: the file is empty");
    let tab = refusal(csv(b"sep=\t\na\tb\n"));
    assert!(tab.contains("separated by '\\t'"), "{tab}");
}

/// pandas and R write the numbers of rows as a first column without a name.
#[test]
fn a_column_without_a_name_can_be_left_out() {
    let text = ",a,b,label\n0,1,2,no\n1,2,1,yes\n2,3,5,no\n";
    let advice = "t, line 1: column 1 of the header has no name: name it, or leave it out by --drop '' at \
                  the fit";
    assert_eq!(refusal(csv(text.as_bytes())), advice);
    let drop = vec![String::new()];
    let learn = EncodeOptions { drop, ..EncodeOptions::default() };
    let options = ReadOptions { features: FeatureColumns::Learn(learn), ..ReadOptions::default() };
    let dropped = data(text.as_bytes(), Format::Csv, &options).unwrap();
    assert_eq!(dropped.feature_names().unwrap(), ["a", "b"]);
    // Rows to predict may have the column or not.
    let known = FeatureColumns::Known(Box::new(dropped.encoding().unwrap().clone()));
    let options = ReadOptions { features: known, ..ReadOptions::default() };
    for text in [",a,b\n7,1,2\n", "a,b\n1,2\n"] {
        let rows = read::features_from(text.as_bytes(), "t", Format::Csv, &options).unwrap();
        assert_eq!(rows.design.columns(), 2);
    }
    let two = data(b",a,,b,label\n0,1,2,2,no\n1,2,2,1,yes\n", Format::Csv, &options).unwrap();
    assert_eq!(two.feature_names().unwrap(), ["a", "b"]);
}

#[test]
fn predictions_need_no_label_in_an_empty_cell() {
    let text = b"a,label\n1,\n2,yes\n";
    let rows = read::features_from(&text[..], "t", Format::Csv, &ReadOptions::default()).unwrap();
    assert_eq!(rows.labels.unwrap().iter().collect::<Vec<_>>(), ["", "yes"]);
    assert!(refusal(csv(text)).contains("the cell is empty, but every row needs a label"));
}

#[test]
fn more_features_than_expected_say_how_to_have_them() {
    let options = ReadOptions { columns: Some(2), ..ReadOptions::default() };
    let rows = read::features_from(&b"0 1:1 3:5\n"[..], "t", Format::Svmlight, &options);
    let expected = "t, line 1, character 7: feature index 3, but only 2 features are expected: pass \
                    --columns 3 or more at the fit";
    assert_eq!(refusal(rows), expected);
}

#[test]
fn a_feature_named_like_a_column_is_told_by_both_columns() {
    let text = "a,a=p,label\np,0,0\nq,1,1\n";
    let learn = FeatureColumns::Learn(EncodeOptions::default());
    let options = ReadOptions { features: learn, ..ReadOptions::default() };
    let expected = "t: column 'a=p' would have a feature named 'a=p', and so would column 'a': rename one \
                    of them";
    assert_eq!(refusal(data(text.as_bytes(), Format::Csv, &options)), expected);
}

#[test]
fn rows_that_are_kept_know_their_numbers_in_the_file() {
    let text = b"a,label\n1,\n2,yes\n3,NA\n4,\n5,no\n6,yes\n";
    let options = ReadOptions { drop_unlabelled: true, ..ReadOptions::default() };
    let kept = data(text, Format::Csv, &options).unwrap();
    assert_eq!([0, 1, 2].map(|sample| kept.row_of(sample)), [1, 4, 5]);
}

/// The name of a file need not be text.
#[cfg(target_os = "linux")]
#[test]
fn names_of_files_need_not_be_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(OsStr::from_bytes(b"caf\xe9.csv"));
    std::fs::write(&path, TABLE).unwrap();
    assert_eq!(read::dataset(&path, &ReadOptions::default()).unwrap().rows(), 2);
}
