//! What well-formed files become, and that what is written reads back.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use margins_data::read::{self, Format, ReadOptions, RowLabels, Stream, Unlabelled};
use margins_data::{ClassLabels, Dataset, Design, Labels, Sample, write};
use nalgebra::DMatrix;
use nalgebra_sparse::CsrMatrix;
use proptest::prelude::*;

fn csv(text: &str, options: &ReadOptions) -> Dataset {
    read::dataset_from(text.as_bytes(), "file.csv", Format::Csv, options).unwrap()
}

fn svmlight(text: &str, options: &ReadOptions) -> Dataset {
    read::dataset_from(text.as_bytes(), "file.svm", Format::Svmlight, options).unwrap()
}

fn name(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn forms_of_csv_are_the_same() {
    let options = ReadOptions::default();
    let plain = csv("a,b,label\n1,-2.5,no\n3e2,0,yes\n", &options);
    assert_eq!(plain.feature_names(), Some(&["a".to_owned(), "b".to_owned()][..]));
    assert_eq!(plain.design(), &Design::from_rows(&[[1.0, -2.5], [300.0, 0.0]]).unwrap());
    assert_eq!(plain.labels().signs(), [-1.0, 1.0]);
    for text in [
        "a,b,label\r\n1,-2.5,no\r\n3e2,0,yes\r\n",
        "\u{feff}a,b,label\n1,-2.5,no\n3e2,0,yes",
        "\n\na,b,label\n\n1,-2.5,no\n   \n3e2,0,yes\n\n",
        " a , b,label\n 1 ,\t-2.5, no\n+300.,0e5 ,yes \n",
        "\"a\",\"b\",\"label\"\n\"1\",\"-2.5\",\"no\"\n\"3e2\",0,yes\n",
    ] {
        assert_eq!(csv(text, &options), plain, "{text}");
    }
    let moved = csv("label,a,b\nno,1,-2.5\nyes,3e2,0\n", &options);
    assert_eq!(moved, plain);
}

#[test]
fn quoted_cells_may_hold_anything() {
    let data =
        csv("\"a \"\"b\"\"\",\"c,\nd\",label\n1,2,\"x\n\"\n3,4,\"y,z\"\n", &ReadOptions::default());
    assert_eq!(data.feature_names(), Some(&["a \"b\"".to_owned(), "c,\nd".to_owned()][..]));
    assert_eq!((data.labels().negative_class(), data.labels().positive_class()), ("x", "y,z"));
}

#[test]
fn column_roles() {
    let options = ReadOptions {
        label: name("y"),
        weights_column: name("w"),
        fold_column: name("part"),
        positive: name("no"),
        columns: Some(1),
        ..ReadOptions::default()
    };
    let data = csv("w,part,x,y\n1,10,5,no\n0.5,9,6,yes\n2,10,7,no\n", &options);
    assert_eq!(data.design(), &Design::from_rows(&[[5.0], [6.0], [7.0]]).unwrap());
    assert_eq!(data.weights(), Some(&[1.0, 0.5, 2.0][..]));
    assert_eq!(data.folds(), Some(&[1, 0, 1][..]));
    assert_eq!(data.labels().positive_class(), "no");
    assert_eq!(data.labels().signs(), [1.0, -1.0, 1.0]);

    let predict = |text: &str| -> Unlabelled {
        read::features_from(text.as_bytes(), "file.csv", Format::Csv, &options).unwrap()
    };
    let bare = predict("x\n5\n6\n7\n");
    assert_eq!(&bare.design, data.design());
    assert_eq!((bare.labels, bare.feature_names), (None, Some(vec!["x".to_owned()])));
    assert_eq!(bare.weights, None);
    let full = predict("w,part,x,y\n1,,5,a\n0.5,?,6,b\n0,0,7,c\n");
    assert_eq!(&full.design, data.design());
    assert_eq!(full.labels, Some(RowLabels::from_iter(["a", "b", "c"])));
    assert_eq!(full.weights, Some(vec![1.0, 0.5, 0.0]));
    let unlabelled = predict("w,part,x\n,,5\nbad,?,6\n0,0,7\n");
    assert_eq!((&unlabelled.design, unlabelled.weights), (data.design(), None));
    // A given name that differs only in case is a mistake; a feature with the default name of labels is not.
    let slip = read::features_from("w,part,x,Y\n".as_bytes(), "f.csv", Format::Csv, &options);
    assert!(slip.unwrap_err().to_string().starts_with("f.csv: no column 'y' for the label"));
    let untold = ReadOptions::default();
    let feature = read::features_from("Label,x\n1,5\n".as_bytes(), "f.csv", Format::Csv, &untold);
    assert_eq!(feature.unwrap().design.columns(), 2);
    let text = "w,part,x,y\n1,,5,a\nbad,?,6,b\n";
    let refused = read::features_from(text.as_bytes(), "file.csv", Format::Csv, &options);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "file.csv, line 3, column 'w': weight 'bad' is not a number that is 0 or more"
    );
}

#[test]
fn forms_of_svmlight_are_the_same() {
    let options = ReadOptions::default();
    let plain = svmlight("+1 1:1 3:-2.5\n-1\n-1 2:3e2\n", &options);
    assert!(plain.design().is_sparse());
    let expected = Design::from_rows(&[[1.0, 0.0, -2.5], [0.0, 0.0, 0.0], [0.0, 300.0, 0.0]]);
    assert_eq!(plain.design().to_dense(), expected.unwrap().to_dense());
    assert_eq!(plain.labels().signs(), [1.0, -1.0, -1.0]);
    for text in [
        "+1 1:1 3:-2.5\r\n-1\r\n-1 2:3e2\r\n",
        "\u{feff}+1 3:-2.5 1:1\n-1 # nothing\n# a comment\n\n -1\t2:3e2  # 5:6",
        "+1 qid:7 1:1 2:0 3:-2.5\n-1 qid:8\n-1 qid:8 1:-0.0 2:300 3:0",
    ] {
        assert_eq!(svmlight(text, &options), plain, "{text}");
    }
}

#[test]
fn svmlight_columns() {
    let expecting = |columns| ReadOptions { columns: Some(columns), ..ReadOptions::default() };
    assert_eq!(svmlight("0 1:1\n2 2:1\n", &expecting(5)).columns(), 5);
    let zero = svmlight("0 1:1\n2 4:0\n", &ReadOptions::default());
    assert_eq!((zero.columns(), zero.design().stored()), (4, 1));
    let one_class = read::features_from(
        "0 1:1\n0 2:1\n".as_bytes(),
        "file.svm",
        Format::Svmlight,
        &expecting(2),
    );
    assert_eq!(one_class.unwrap().labels, Some(RowLabels::from_iter(["0", "0"])));
}

#[test]
fn gzip_is_told_by_its_content() {
    let directory = tempfile::tempdir().unwrap();
    let text = "a,label\n1,x\n2,y\n";
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let compressed = encoder.finish().unwrap();
    // Members one after the other are one file.
    let (head, tail) = text.split_at(9);
    let member = |part: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(part.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let members = [member(head), member(tail)].concat();
    let options = ReadOptions::default();
    for (name, bytes) in [
        ("plain.csv", text.as_bytes()),
        ("plain.csv.gz", text.as_bytes()),
        ("compressed.csv", &compressed),
        ("COMPRESSED.CSV.GZ", &compressed),
        ("members.csv.gz", &members),
    ] {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(read::dataset(&path, &options).unwrap(), csv(text, &options), "{name}");
    }
}

#[test]
fn formats_of_names() {
    for (name, format) in [
        ("a.csv", Some(Format::Csv)),
        ("dir.csv/a.svm.gz", Some(Format::Svmlight)),
        ("a.b.TXT", Some(Format::Svmlight)),
        ("a.libsvm", Some(Format::Svmlight)),
        ("a.svmlight", Some(Format::Svmlight)),
        ("a.gz", None),
        ("a9a", None),
        ("", None),
    ] {
        assert_eq!(Format::of(name), format, "{name}");
    }
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => Just(0.0),
        3 => -10.0..10.0f64,
        2 => proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL,
        1 => Just(-3.0),
    ]
}

/// Any data set: both storages, with or without weights, names and folds.
fn dataset() -> impl Strategy<Value = Dataset> {
    (2usize..8, 1usize..6).prop_flat_map(|(n, p)| {
        let weights = proptest::option::of(proptest::collection::vec(0.1..9.0f64, n));
        (
            proptest::collection::vec(number(), n * p),
            proptest::collection::vec(any::<bool>(), n - 2),
            weights,
            any::<(bool, bool, bool)>(),
        )
            .prop_map(move |(cells, positive, weights, (named, folded, sparse))| {
                let matrix = DMatrix::from_row_slice(n, p, &cells);
                let design = if sparse {
                    Design::sparse(CsrMatrix::from(&matrix)).unwrap()
                } else {
                    Design::dense(&matrix).unwrap()
                };
                let mut labels = vec!["no", "yes"];
                labels.extend(positive.iter().map(|&yes| if yes { "yes" } else { "no" }));
                let mut data = Dataset::new(design, Labels::new(&labels).unwrap()).unwrap();
                if let Some(weights) = weights {
                    data = data.with_weights(weights).unwrap();
                }
                if named {
                    let names = (0..p).map(|j| format!("column \"{j}\", or so")).collect();
                    data = data.with_feature_names(names).unwrap();
                }
                if folded {
                    data = data.with_folds((0..n).map(|i| i % 2).collect()).unwrap();
                }
                data
            })
    })
}

/// Equal bit for bit, but for the sign of zero in sparse text.
fn same_values(a: &Design, b: &Design) -> bool {
    a.to_dense() == b.to_dense()
}

proptest! {
    #[test]
    fn csv_reads_back(data in dataset()) {
        let mut text = Vec::new();
        write::csv(&data, &mut text).unwrap();
        let options = ReadOptions {
            weights_column: data.weights().and(name("weight")),
            fold_column: data.folds().and(name("fold")),
            ..ReadOptions::default()
        };
        let again = read::dataset_from(&text[..], "memory", Format::Csv, &options).unwrap();
        prop_assert!(same_values(again.design(), data.design()));
        prop_assert_eq!(again.labels(), data.labels());
        prop_assert_eq!(again.weights(), data.weights());
        prop_assert_eq!(again.folds(), data.folds());
        if data.feature_names().is_some() {
            prop_assert_eq!(again.feature_names(), data.feature_names());
        }
    }

    #[test]
    fn svmlight_reads_back(data in dataset()) {
        let mut text = Vec::new();
        write::svmlight(&data, &mut text).unwrap();
        let options = ReadOptions { columns: Some(data.columns()), ..ReadOptions::default() };
        let again = read::dataset_from(&text[..], "memory", Format::Svmlight, &options).unwrap();
        prop_assert!(same_values(again.design(), data.design()));
        prop_assert_eq!(again.labels(), data.labels());
    }

    #[test]
    fn unsorted_svmlight_is_sorted_svmlight(
        features in proptest::collection::btree_map(1usize..40, number(), 1..10),
        order in proptest::collection::vec(any::<u32>(), 10),
    ) {
        let sorted: Vec<(usize, f64)> = features.into_iter().collect();
        let mut shuffled: Vec<_> = sorted.iter().zip(order).collect();
        shuffled.sort_by_key(|&(_, key)| key);
        let line = |features: Vec<&(usize, f64)>| {
            let cells = features.iter().map(|(index, value)| format!(" {index}:{value:?}"));
            format!("1{}\n0 1:1\n", cells.collect::<String>())
        };
        let shuffled = line(shuffled.into_iter().map(|(feature, _)| feature).collect());
        let data = svmlight(&shuffled, &ReadOptions::default());
        prop_assert_eq!(&data, &svmlight(&line(sorted.iter().collect()), &ReadOptions::default()));
        let Sample::Sparse { columns, .. } = data.design().sample(0) else { unreachable!() };
        prop_assert!(columns.is_sorted_by(|a, b| a < b));
    }

    /// Whatever the bytes, a reader returns.
    #[test]
    fn arbitrary_bytes_never_panic(
        text in "([-+0-9a,:.\" \r\n#\u{e9}]|1:|label|nan){0,60}", bytes: Vec<u8>,
    ) {
        let options = ReadOptions { weights_column: name("a"), ..ReadOptions::default() };
        let headed = format!("a,b,label\n{text}");
        for bytes in [text.as_bytes(), headed.as_bytes(), &bytes] {
            for format in [Format::Csv, Format::Svmlight] {
                for options in [&options, &ReadOptions::default()] {
                    let _ = read::dataset_from(bytes, "bytes", format, options);
                    let _ = read::features_from(bytes, "bytes", format, options);
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    let design = Design::from_rows(&[[1.0], [2.0]]).unwrap();
    let with_classes =
        |a: &str, b: &str| Dataset::new(design.clone(), Labels::new(&[a, b]).unwrap()).unwrap();
    let names =
        |name: &str| with_classes("0", "1").with_feature_names(vec![name.to_owned()]).unwrap();
    let to_csv = |data: &Dataset| write::csv(data, Vec::new()).unwrap_err().to_string();
    let to_svmlight = |data: &Dataset| write::svmlight(data, Vec::new()).unwrap_err().to_string();
    insta::assert_snapshot!(
        [
            to_csv(&names("label")),
            to_csv(&names("")),
            to_csv(&names("\u{feff}x")),
            to_csv(&with_classes(" no", "yes")),
            to_svmlight(&with_classes("not so", "yes")),
            to_svmlight(&with_classes("", "yes")),
            to_svmlight(&with_classes("\u{feff}no", "yes")),
            write::csv(&names("x"), FullDisk).unwrap_err().to_string(),
        ]
        .join("\n")
    );
}

struct FullDisk;

impl Write for FullDisk {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("the disk is full"))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Real tables, with the sizes that their manifest states.
#[test]
fn real_files_have_the_stated_sizes() {
    check_manifest(Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../test-support/fixtures/data"
    )));
}

/// For release builds: `MARGINS_DATA=folder cargo test --release -p margins-data -- --ignored`.
#[test]
#[ignore = "reads a folder of data sets with a MANIFEST.csv, named by MARGINS_DATA"]
fn files_of_a_folder_have_the_stated_sizes() {
    check_manifest(Path::new(&std::env::var("MARGINS_DATA").expect("MARGINS_DATA names a folder")));
}

fn check_manifest(directory: &Path) {
    let manifest = std::fs::read_to_string(directory.join("MANIFEST.csv")).unwrap();
    let mut checked = 0;
    for line in manifest.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |cell: usize| cells[cell].parse::<usize>().unwrap();
        let (path, n, p, positives) = (directory.join(cells[1]), number(2), number(3), number(4));
        let options = ReadOptions { columns: Some(p), ..ReadOptions::default() };
        let start = std::time::Instant::now();
        let data = read::dataset(&path, &options).unwrap();
        eprintln!("{:?} {}", start.elapsed(), cells[1]);
        assert_eq!((data.rows(), data.columns()), (n, p), "{}", cells[0]);
        assert_eq!(data.labels().count_positive(), positives, "{}", cells[0]);
        checked += 1;
    }
    assert!(checked > 0);
}

/// A stream whose buffers end anywhere gives the rows of the whole file.
#[test]
fn streams_give_the_rows_of_the_file() {
    let text: String = (0..50)
        .map(|i| format!("{} {}:{}.5 9:1\n", if i % 3 == 0 { "b" } else { "a" }, 1 + i % 7, i))
        .collect();
    let table: String = std::iter::once("x,label,c,z\n".to_owned())
        .chain((0..50).map(|i| format!("{i},{},{},{}\n", i % 3 % 2, 1.0 + f64::from(i), i * i)))
        .collect();
    let options = ReadOptions { columns: Some(9), ..ReadOptions::default() };
    let weighted = ReadOptions { weights_column: name("c"), ..ReadOptions::default() };
    let forms = [(text, Format::Svmlight, options), (table, Format::Csv, weighted)];
    for (text, format, options) in &forms {
        let whole = read::dataset_from(text.as_bytes(), "file", *format, options).unwrap();
        for rows in [2, 7, 49, 50, 51] {
            let stream = Stream::from_reader(text.as_bytes(), "file", *format, options, None);
            let mut stream = stream.unwrap().with_buffer_rows(rows);
            let mut before = 0;
            while let Some(chunk) = stream.next_chunk().unwrap() {
                assert_eq!(chunk.before, before as u64);
                for (i, x) in chunk.design.samples().enumerate() {
                    assert_eq!(x, whole.design().sample(before + i));
                    assert_eq!(chunk.labels.signs()[i], whole.labels().signs()[before + i]);
                    let weight = chunk.weights.as_ref().map(|weights| weights[i]);
                    assert_eq!(weight, whole.weights().map(|weights| weights[before + i]));
                }
                before += chunk.design.rows();
                assert!(chunk.design.rows() <= rows);
                assert_eq!(chunk.labels.positive_class(), whole.labels().positive_class());
            }
            assert_eq!((before, stream.rows(), stream.columns()), (50, 50, whole.columns()));
            assert_eq!(stream.feature_names(), whole.feature_names());
        }
    }
}

#[test]
fn streams_refuse_what_they_cannot_know() {
    let read = |text: &str, options: &ReadOptions, classes, rows| {
        let stream =
            Stream::from_reader(text.as_bytes(), "x.svm", Format::Svmlight, options, classes);
        let mut stream = stream.map_err(|error| error.to_string())?.with_buffer_rows(rows);
        while stream.next_chunk().map_err(|error| error.to_string())?.is_some() {}
        Ok::<u64, String>(stream.rows())
    };
    let told = ReadOptions { columns: Some(3), ..ReadOptions::default() };
    let ordered = "1 1:1\n1 2:1\n0 3:1\n";
    assert_eq!(read(ordered, &told, None, 3), Ok(3));
    assert_eq!(read(ordered, &told, Some(&["0", "1"][..]), 2), Ok(3));
    insta::assert_snapshot!(
        [
            read(ordered, &ReadOptions::default(), None, 3),
            read(ordered, &told, None, 2),
            read(ordered, &told, Some(&["1", "1.0"]), 2),
            read("1 1:1\n0 2:1\n1 1:1\n2 1:1\n", &told, None, 2),
            read("1 1:1\n0 2:1\n1 1:nan\n", &told, None, 2),
            read("1 1:1\n0 2:1\n1 4:1\n", &told, None, 2),
            read(ordered, &ReadOptions { fold_column: name("f"), ..told.clone() }, None, 2),
        ]
        .map(|result| result.unwrap_err())
        .join("\n")
    );
}

#[test]
fn files_of_several_classes() {
    let options = ReadOptions {
        weights_column: Some("w".to_owned()),
        fold_column: Some("f".to_owned()),
        ..ReadOptions::default()
    };
    let text = "x,w,f,label\n1,1,a,10\n2,2,b,9\n3,1,a,1e1\n4,0.5,b,11\n";
    let data = read::classes_from(text.as_bytes(), "k.csv", Format::Csv, &options).unwrap();
    assert_eq!(data.labels().names(), ["9", "10", "11"]);
    assert_eq!(data.labels().indices(), [1, 0, 1, 2]);
    assert_eq!(data.weights(), Some(&[1.0, 2.0, 1.0, 0.5][..]));
    assert_eq!(data.folds(), Some(&[0, 1, 0, 1][..]));
    // Two classes are those of the reader of two.
    let two = "yes 1:2\nno 2:1\nyes 3:1\n";
    let options = ReadOptions::default();
    let format = Format::Svmlight;
    let classes = read::classes_from(two.as_bytes(), "two.svm", format, &options).unwrap();
    let labels = read::dataset_from(two.as_bytes(), "two.svm", format, &options).unwrap();
    assert_eq!(classes.relabelled(classes.labels().against_rest(1)).unwrap(), labels);

    let message = |text: &str, options: &ReadOptions| {
        let result = read::classes_from(text.as_bytes(), "k.csv", Format::Csv, options);
        result.unwrap_err().to_string()
    };
    let positive = ReadOptions { positive: Some("a".to_owned()), ..ReadOptions::default() };
    let weights = ReadOptions { weights_column: Some("w".to_owned()), ..ReadOptions::default() };
    assert_eq!(
        [
            message("x,label\n1,a\n2,a\n", &options),
            message("x,label\n1,a\n2,\n", &options),
            message("x,label\n1,a\n2,b\n3,NaN\n", &options),
            message("x,label\n1,a\n2,b\n", &positive),
            message("x,w,label\n1,0,a\n2,0,b\n3,0,c\n", &weights),
        ],
        [
            "k.csv: the only class among 2 label(s) is 'a', but two classes are needed",
            "k.csv, line 3, column 'label': the cell is empty, but every row needs a label. \
             Add --drop-unlabelled to drop rows without a label",
            "k.csv, line 4, column 'label': label 'NaN' is a missing value. \
             Add --drop-unlabelled to drop rows without a label",
            "the positive class is 'a', but must be left out where there may be several classes",
            "k.csv: all weights are 0, but at least one must be positive",
        ]
    );
}
