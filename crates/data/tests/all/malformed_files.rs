//! Every malformed file is refused with a message that names the place and the remedy.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use margins_data::Error;
use margins_data::read::{self, Format, ReadOptions};

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn refusal(text: &[u8], name: &str, options: &ReadOptions) -> String {
    let format = Format::of(name).unwrap();
    match read::dataset_from(text, name, format, options) {
        Err(error) => error.to_string(),
        Ok(data) => panic!("accepted as {data:?}"),
    }
}

fn report(cases: &[(&str, &[u8])], name: &str) -> String {
    let line = |&(case, text): &(&str, &[u8])| {
        format!("{case}:\n    {}\n", refusal(text, name, &ReadOptions::default()))
    };
    cases.iter().map(line).collect()
}

#[test]
fn csv() {
    let cases: &[(&str, &[u8])] = &[
        ("empty file", b""),
        ("only blank lines", b"\n  \r\n\n"),
        ("header only", b"a,label\n"),
        ("header only, blank lines", b"a,label\n\n\n"),
        ("no header", b"1.5,2,1\n-3,4,-1\n"),
        ("no label column", b"age,height,class\n1,2,x\n"),
        ("many columns, no label", b"a,b,c,d,e,f,g,h,i,j,k,l,m,n\n1,2,3,4,5,6,7,8,9,0,1,2,3,4\n"),
        ("wrong case of label", b"a,Label\n1,x\n"),
        ("semicolons", b"a;b;label\n1;2;x\n"),
        ("tabs", b"a\tb\tlabel\n1\t2\tx\n"),
        ("label column only", b"label\n1\n-1\n"),
        ("duplicate header", b"a,b,a,label\n1,2,3,x\n"),
        ("empty header name", b",a,label\n0,1,x\n1,2,y\n"),
        ("categorical cell", b"size,colour,label\n1,red,x\n2,blue,y\n"),
        ("categorical cell after CR LF and blank lines", b"a,label\r\n1,x\r\n\r\n\r\nred,y\r\n"),
        ("quoted categorical cell", b"a,label\n\"red, dark\",x\n"),
        ("decimal comma", b"a,label\n\"1,5\",x\n"),
        ("row too short", b"a,b,label\n1,2,x\n3,y\n"),
        ("row too long", b"a,b,label\n1,2,x\n3,4,5,y\n"),
        ("trailing comma", b"a,b,label\n1,2,x,\n"),
        ("empty cell", b"a,b,label\n1,2,x\n,4,y\n"),
        ("cell of spaces", b"a,b,label\n1,  ,x\n"),
        ("NA", b"a,label\nNA,x\n"),
        ("question mark", b"a,label\n?,x\n"),
        ("NaN", b"a,label\n1,x\nNaN,y\n"),
        ("inf", b"a,label\n1,x\n-inf,y\n"),
        ("Infinity", b"a,label\n1,x\nInfinity,y\n"),
        ("overflow", b"a,label\n1,x\n1e999,y\n"),
        ("hexadecimal", b"a,label\n0x1F,x\n"),
        ("empty label", b"a,label\n1,x\n2,\n"),
        ("one class", b"a,label\n1,x\n2,x\n"),
        ("three classes", b"a,label\n1,x\n2,y\n3,x\n4,z\n"),
        ("quote never closed", b"a,label\n1,x\n\"2,y\n3,x\n"),
        ("text after a quote", b"a,label\n1,\"x\"y\n"),
        ("quote within a cell", b"a,label\n1,x\"y\"\n"),
        ("not UTF-8 in a cell", b"a,label\n1,caf\xe9\n2,tea\n"),
        ("not UTF-8 in the header", b"gr\xf6\xdfe,label\n1,x\n"),
        ("UTF-16", b"\xff\xfea\0,\0l\0"),
        ("a control character", b"a,label\n1\0,x\n"),
        ("a long cell", b"a,label\n1234567890x1234567890x1234567890x1234567890x1234567890,x\n"),
    ];
    insta::assert_snapshot!(report(cases, "file.csv"));
}

#[test]
fn csv_options() {
    let text = "a,w,f,label\n1,1,x,-1\n2,0.5,y,1\n";
    fn some(name: &str) -> Option<String> {
        Some(name.to_owned())
    }
    let on = |text: &str, set: fn(&mut ReadOptions)| {
        let mut options = ReadOptions::default();
        set(&mut options);
        refusal(text.as_bytes(), "file.csv", &options)
    };
    let with = |set| on(text, set);
    insta::assert_snapshot!(
        [
            with(|o| o.label = some("class")),
            with(|o| (o.label, o.fold_column) = (some("f"), some("f"))),
            with(|o| o.weights_column = some("weight")),
            with(|o| o.weights_column = some("label")),
            with(|o| o.weights_column = some("f")),
            with(|o| (o.weights_column, o.fold_column) = (some("w"), some("w"))),
            with(|o| (o.fold_column, o.positive) = (some("f"), some("2"))),
            with(|o| (o.fold_column, o.columns) = (some("f"), Some(3))),
            with(|o| o.columns = Some(0)),
            on("w,a,label\n1,2,x\n-1,2,y\n", |o| o.weights_column = some("w")),
            on("w,a,label\n1,2,x\n,2,y\n", |o| o.weights_column = some("w")),
            on("w,a,label\n0,2,x\n0,2,y\n", |o| o.weights_column = some("w")),
            on("f,a,label\n1,2,x\n1,2,y\n", |o| o.fold_column = some("f")),
            on("f,a,label\n1,2,x\n,2,y\n", |o| o.fold_column = some("f")),
        ]
        .join("\n")
    );
}

#[test]
fn svmlight() {
    let cases: &[(&str, &[u8])] = &[
        ("empty file", b""),
        ("only comments", b"# a\n\n  # b\n"),
        ("no features", b"1\n-1\n"),
        ("no label", b"1:0.5 2:1\n"),
        ("a CSV file", b"a,b,label\n1,2,x\n"),
        ("several labels", b"1,3 1:2\n"),
        ("index 0", b"1 0:1 1:2\n-1 1:1\n"),
        ("negative index", b"1 -1:1\n"),
        ("index is text", b"1 1:1\n-1 1:1 a:2\n"),
        ("fractional index", b"1 1.5:1\n"),
        ("no index", b"1 :1\n"),
        ("no colon", b"+1 1:1\n-1 7\n"),
        ("blank after colon", b"1 1: 2\n"),
        ("huge index", b"1 3000000000:1\n"),
        ("index beyond 64 bits", b"1 99999999999999999999999:1\n"),
        ("value is text", b"1 1:1\n-1 1:1 2:x\n"),
        ("value NaN", b"1 1:nan\n"),
        ("value inf", b"1 1:inf\n"),
        ("value overflows", b"1 1:1e999\n"),
        ("value missing", b"1 1:?\n"),
        ("two colons", b"1 1:2:3\n"),
        ("duplicate index", b"1 1:1 2:1 1:3\n"),
        ("duplicate index, unsorted", b"1 5:1 3:1 4:2 3:1\n"),
        ("qid not after the label", b"1 1:1 qid:3\n"),
        ("three classes", b"1 1:1\n2 1:1\n\n3 1:1\n"),
        ("one class", b"+1 1:1\n1 1:2\n1.0 1:3\n"),
        ("column in characters after CR LF", "1 1:1\r\n\u{e9}\u{e9} 1:1 2:x\r\n".as_bytes()),
        ("not UTF-8", b"1 1:1\n-1 1:\xff\n"),
    ];
    let mut messages = report(cases, "file.svm");
    let expecting = |columns| ReadOptions { columns: Some(columns), ..ReadOptions::default() };
    let named = ReadOptions { fold_column: Some("fold".to_owned()), ..ReadOptions::default() };
    let text = b"1 1:1 4:1\n-1 2:2\n";
    for (case, options) in [("more columns than expected", expecting(3)), ("a column name", named)]
    {
        messages += &format!("{case}:\n    {}\n", refusal(text, "file.svm", &options));
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn gzip_files() {
    let text: String = (0..2000).map(|i| format!("{} 1:0.{i}\n", i % 2)).collect();
    let whole = gzip(text.as_bytes());
    let mut damaged = whole.clone();
    // After the header of 10 bytes a block of a kind that does not exist.
    damaged[10] = 0b111;
    let mut checksum = whole.clone();
    let end = checksum.len() - 6;
    checksum[end] ^= 1;
    let cases: &[(&str, &[u8])] = &[
        ("cut off", &whole[..whole.len() - 100]),
        ("cut off in the checksum", &whole[..whole.len() - 3]),
        ("cut off in the header", &whole[..5]),
        ("damaged", &damaged),
        ("wrong checksum", &checksum),
        ("wrong content", &gzip(b"1 1:x\n")),
        ("twice compressed", &gzip(&whole)),
    ];
    // How far a cut stream still decodes, and what it says, is the decompressor's business.
    let filters = vec![(r"after \d+", "after [n]"), (r"(damaged after line \d+): .*", "$1: [...]")];
    insta::with_settings!({filters => filters}, {
        insta::assert_snapshot!(report(cases, "file.svm.gz"));
    });
}

#[test]
fn files_that_cannot_be_opened() {
    let directory = tempfile::tempdir().unwrap();
    let options = ReadOptions::default();
    let missing = read::dataset(directory.path().join("missing.csv"), &options).unwrap_err();
    assert!(matches!(missing, Error::Io { .. }));
    assert!(missing.to_string().contains("missing.csv: cannot be read: "), "{missing}");
    let itself = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    let error = read::dataset(directory.path(), &itself).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    let error = read::features("a9a.t", &options).unwrap_err();
    insta::assert_snapshot!(error.to_string());
}
