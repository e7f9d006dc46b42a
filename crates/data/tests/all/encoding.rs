//! Raw tables as features: what an encoding is by definition, in files and in folds.

use margins_data::encode::{
    ColumnEncoding, EncodeOptions, Encoding, Kind, MOST_LEVELS, Missing, MissingWords, RawColumn,
    RawTable, Unknown,
};
use margins_data::read::{self, FeatureColumns, Format, ReadOptions};
use margins_data::{Classes, Dataset, Design, Error};
use proptest::prelude::*;

const TABLE: &str = "\
age,town,member,code,label
31,Bern,true,1,a
NA,Basel,False,2,b
45,,TRUE,1,a
28,Bern,?,2,b
";

fn learning(options: EncodeOptions) -> ReadOptions {
    ReadOptions { features: FeatureColumns::Learn(options), ..ReadOptions::default() }
}

fn read(text: &str, options: EncodeOptions) -> Result<Dataset<Classes>, Error> {
    read::classes_from(text.as_bytes(), "t.csv", Format::Csv, &learning(options))
}

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn columns_become_features_by_their_kinds() {
    let options = EncodeOptions { categorical: named(&["code"]), ..EncodeOptions::default() };
    let data = read(TABLE, options).unwrap();
    let names = [
        "age",
        "age (missing)",
        "town=Bern",
        "town=Basel",
        "town (missing)",
        "member",
        "member (missing)",
        "code=1",
        "code=2",
    ];
    assert_eq!(data.feature_names().unwrap(), names);
    let expected = [
        [31.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
        [31.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        [45.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0],
        [28.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0],
    ];
    assert_eq!(data.design(), &Design::from_rows(&expected).unwrap());
    let kinds: Vec<&Kind> =
        data.encoding().unwrap().columns().iter().map(ColumnEncoding::kind).collect();
    assert_eq!(*kinds[0], Kind::Number(31.0));
    assert_eq!(*kinds[2], Kind::Boolean(1.0));
    assert_eq!(*kinds[3], Kind::Codes(named(&["1", "2"])));
}

const CODES: &str = "\
code,x,label
7,1,a
007,2,b
7.0,3,a
9007199254740992,4,b
9007199254740993, inf,a
 NA,6,b
inf,7,a
";

/// Columns of codes keep the texts of their cells; of others numbers are compared as numbers.
#[test]
fn codes_keep_their_texts() {
    let options = EncodeOptions { categorical: named(&["code", "x"]), ..EncodeOptions::default() };
    let data = read(CODES, options).unwrap();
    let names = data.feature_names().unwrap();
    let texts = ["7", "007", "7.0", "9007199254740992", "9007199254740993", "inf"];
    let expected: Vec<String> = texts.iter().map(|text| format!("code={text}")).collect();
    assert_eq!(names[..6], expected);
    assert_eq!(names[6], "code (missing)");
    assert_eq!(names[11], "x=inf");
    let encoding = data.encoding().unwrap().clone();
    assert_eq!(encoding.codes(), ["code", "x"]);
    let known = ReadOptions {
        features: FeatureColumns::Known(Box::new(encoding)),
        ..ReadOptions::default()
    };
    let again = read::features_from(CODES.as_bytes(), "t.csv", Format::Csv, &known).unwrap();
    assert_eq!(&again.design, data.design());
    let near = read::features_from("code,x\n0007,1\n".as_bytes(), "t.csv", Format::Csv, &known);
    assert!(near.unwrap_err().to_string().contains("'0007' is not a category of the fit"));

    // A word among numbers makes names of them.
    let mixed = read("code,label\n7,a\n007,b\nx7,a\n", EncodeOptions::default()).unwrap();
    assert_eq!(mixed.feature_names().unwrap(), ["code=7", "code=x7"]);
}

#[test]
fn an_encoding_is_learned_from_the_rows_named() {
    let data = read(TABLE, EncodeOptions::default()).unwrap();
    let learned = data.learned_on(&[0, 2]).unwrap();
    // Of rows 0 and 2: the median of the ages is 38, Bern is the only town, no age is missing.
    let names = ["age", "town=Bern", "town (missing)", "member", "code"];
    assert_eq!(learned.feature_names().unwrap(), names);
    let expected = [
        [31.0, 1.0, 0.0, 1.0, 1.0],
        [38.0, 0.0, 0.0, 0.0, 2.0],
        [45.0, 0.0, 1.0, 1.0, 1.0],
        [28.0, 1.0, 0.0, 1.0, 2.0],
    ];
    assert_eq!(learned.design(), &Design::from_rows(&expected).unwrap());
    assert_eq!(learned.labels(), data.labels());
    // Rows are chosen with their raw cells.
    let some = data.select(&[2, 0]);
    assert_eq!(some.learned_on(&[0, 1]).unwrap().feature_names().unwrap(), names);
}

#[test]
fn a_known_encoding_takes_raw_rows() {
    let data = read(TABLE, EncodeOptions::default()).unwrap();
    let encoding = data.encoding().unwrap().clone();
    let known = |encoding: &Encoding| ReadOptions {
        features: FeatureColumns::Known(Box::new(encoding.clone())),
        ..ReadOptions::default()
    };
    let from = |text: &str, encoding: &Encoding| {
        read::features_from(text.as_bytes(), "new.csv", Format::Csv, &known(encoding))
    };
    let again = from(TABLE, &encoding).unwrap();
    assert_eq!(&again.design, data.design());
    assert_eq!(again.feature_names.as_deref(), data.feature_names());
    // Columns are found by their names; labels may be missing.
    let turned = from("town,code,member,age\nBasel,7,1,\n", &encoding).unwrap();
    assert_eq!(
        turned.design,
        Design::from_rows(&[[31.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 7.0]]).unwrap()
    );
    let rome = "age,town,member,code\n31,Rome,true,1\n";
    let lenient = encoding.clone().with_unknown(Unknown::None);
    let taken = from(rome, &lenient).unwrap();
    let towns: Vec<f64> = (2..5).map(|k| taken.design.to_dense()[(0, k)]).collect();
    assert_eq!(towns, [0.0; 3]);
    assert_eq!((turned.unknown_levels, taken.unknown_levels), (0, 1));
    // Neither a missing value nor a category that was learned counts.
    let more = from(&format!("{rome}31,,true,1\n31,Bern,true,1\n31,Oslo,,1\n"), &lenient).unwrap();
    assert_eq!(more.unknown_levels, 2);
    let message = |text: &str| from(text, &encoding).unwrap_err().to_string();
    insta::assert_snapshot!(
        [
            message(rome),
            message("age,town,member,code\nold,Bern,true,1\n"),
            message("age,town,member,code\n31,Bern,perhaps,1\n"),
            message("age,town,member,code,size\n31,Bern,true,1,2\n"),
            message("age,town,member\n31,Bern,true\n"),
        ]
        .join("\n")
    );
}

#[test]
fn refusals() {
    let message = |text: &str, options: EncodeOptions| read(text, options).unwrap_err().to_string();
    let names: String = (0..=MOST_LEVELS).map(|k| format!("n{k},{}\n", k % 2)).collect();
    let refusing = EncodeOptions { missing: Missing::Refuse, ..EncodeOptions::default() };
    let both = EncodeOptions {
        categorical: named(&["age"]),
        drop: named(&["age"]),
        ..EncodeOptions::default()
    };
    insta::assert_snapshot!(
        [
            message(&format!("name,label\n{names}"), EncodeOptions::default()),
            message(TABLE, refusing),
            message(TABLE, EncodeOptions { drop: named(&["size"]), ..EncodeOptions::default() }),
            message(TABLE, both),
            message("x,label\n1e999,a\n2,b\n", EncodeOptions::default()),
            message(
                "x,label\n1,a\n2,b\n",
                EncodeOptions { drop: named(&["x"]), ..EncodeOptions::default() }
            ),
            message("a,a=b,label\nb,1,x\nc,2,y\n", EncodeOptions::default()),
        ]
        .join("\n")
    );
}

#[test]
fn the_words_for_gaps_are_told() {
    let text = "x,label\n-,a\n2,b\nna,a\n";
    let options =
        EncodeOptions { missing_words: MissingWords::new(&["-"]), ..EncodeOptions::default() };
    let data = read(text, options).unwrap();
    assert_eq!(data.feature_names().unwrap(), ["x=2", "x=na", "x (missing)"]);
}

#[test]
fn several_files_are_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (header, rows) = TABLE.split_once('\n').unwrap();
    let (first, rest) = rows.split_at(rows.find("45").unwrap());
    let one = write("one.csv", &format!("{header}\n{first}"));
    let two = write("two.csv", &format!("{header}\n{rest}"));
    let options = |further| ReadOptions {
        further_files: vec![further],
        ..learning(EncodeOptions::default())
    };
    let whole = read(TABLE, EncodeOptions::default()).unwrap();
    assert_eq!(read::classes(&one, &options(two)).unwrap(), whole);
    let other = write("other.csv", "age,label\n1,a\n");
    let message = read::classes(&one, &options(other)).unwrap_err().to_string();
    assert!(message.contains("other.csv, line 1: the header is not that of the first file"));

    let svm = write("a.svm", "1 1:2\n-1 2:3\n");
    let more = write("b.svm", "1 4:1\n");
    let options = ReadOptions { further_files: vec![more], ..ReadOptions::default() };
    let data = read::dataset(&svm, &options).unwrap();
    assert_eq!((data.rows(), data.columns()), (3, 4));

    let message = read::dataset(&one, &options).unwrap_err().to_string();
    let reason =
        "b.svm: its name stands for svmlight, but the first file is csv: all files need one format";
    assert!(message.ends_with(reason), "{message}");
}

#[test]
fn many_levels_are_stored_sparse() {
    let words: Vec<Option<String>> = (0..40).map(|k| Some(format!("w{}", k % 10))).collect();
    let table = RawTable::from_columns(vec![RawColumn::words("w", words)]).unwrap();
    let encoding = Encoding::learn(&table, None, EncodeOptions::default()).unwrap();
    let design = encoding.encode(&table).unwrap();
    assert!(design.is_sparse());
    assert_eq!((design.rows(), design.columns(), design.stored()), (40, 10, 40));
    let dense = design.to_dense();
    assert!((0..40).all(|row| dense[(row, row % 10)] == 1.0));
}

proptest! {
    /// Every row has one category or the indicator; numbers are kept; the median splits the values.
    #[test]
    fn features_are_what_the_cells_say(
        cells in prop::collection::vec(
            (prop::option::of(-5i32..5), prop::option::of(0usize..4)), 1..40,
        ),
    ) {
        let numbers: Vec<f64> =
            cells.iter().map(|(x, _)| x.map_or(f64::NAN, f64::from)).collect();
        let words = cells.iter().map(|(_, word)| word.map(|word| ["p", "q", "r", "s"][word]));
        let table = RawTable::from_columns(vec![
            RawColumn::numbers("x", &numbers).unwrap(),
            RawColumn::words("w", words),
        ]).unwrap();
        let encoding = Encoding::learn(&table, None, EncodeOptions::default()).unwrap();
        let names = encoding.feature_names();
        let design = encoding.encode(&table).unwrap().to_dense();
        let value = |row: usize, name: &str| {
            names.iter().position(|other| other == name).map_or(0.0, |k| design[(row, k)])
        };
        let mut known: Vec<f64> = numbers.iter().copied().filter(|x| !x.is_nan()).collect();
        known.sort_by(f64::total_cmp);
        for (row, (x, word)) in cells.iter().enumerate() {
            match x {
                Some(x) => prop_assert_eq!(value(row, "x"), f64::from(*x)),
                None => {
                    let median = value(row, "x");
                    let below = known.iter().filter(|&&x| x < median).count();
                    let above = known.iter().filter(|&&x| x > median).count();
                    prop_assert!(2 * below <= known.len() && 2 * above <= known.len());
                }
            }
            prop_assert_eq!(value(row, "x (missing)"), f64::from(u8::from(x.is_none())));
            prop_assert_eq!(value(row, "w (missing)"), f64::from(u8::from(word.is_none())));
            for (k, level) in ["p", "q", "r", "s"].iter().enumerate() {
                let expected = f64::from(u8::from(*word == Some(k)));
                prop_assert_eq!(value(row, &format!("w={level}")), expected);
            }
        }
    }
}

#[test]
fn a_file_without_rows_does_not_end_a_table_in_several() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    for (kind, [first, empty, last]) in [
        ("svm", ["1 1:2\n", "# no samples\n", "-1 2:3\n"]),
        ("csv", ["x,y,label\n2,0,1\n", "x,y,label\n", "x,y,label\n0,3,-1\n"]),
    ] {
        let path = |name: &str, text| write(&format!("{name}.{kind}"), text);
        let further_files = vec![path("empty", empty), path("last", last)];
        let options = ReadOptions { further_files, ..ReadOptions::default() };
        let data = read::dataset(path("first", first), &options).unwrap();
        assert_eq!(data.design().to_dense().as_slice(), [2.0, 0.0, 0.0, 3.0], "{kind}");
    }
}

/// Tables of several blocks of rows have the features that the definition gives, dense and sparse, on any
/// number of threads.
#[test]
fn long_tables_are_encoded_alike_on_any_number_of_threads() {
    const ROWS: usize = 1300;
    for levels in [2, 60] {
        let number = |row: usize| (row % 7 != 3).then(|| (row * 37 % 101) as f64 / 8.0);
        let level = |row: usize| (row % 11 != 5).then(|| row * 13 % levels);
        let numbers: Vec<f64> = (0..ROWS).map(|row| number(row).unwrap_or(f64::NAN)).collect();
        let words = (0..ROWS).map(|row| level(row).map(|k| format!("town {k}")));
        let columns =
            vec![RawColumn::numbers("size", &numbers).unwrap(), RawColumn::words("town", words)];
        let table = RawTable::from_columns(columns).unwrap();

        let mut sorted: Vec<f64> = (0..ROWS).filter_map(number).collect();
        sorted.sort_by(f64::total_cmp);
        let (half, odd) = (sorted.len() / 2, sorted.len() % 2 == 1);
        let median = if odd { sorted[half] } else { (sorted[half - 1] + sorted[half]) / 2.0 };
        let mut seen: Vec<usize> = Vec::new();
        for level in (0..ROWS).filter_map(level) {
            if !seen.contains(&level) {
                seen.push(level);
            }
        }
        let is = |yes: bool| f64::from(u8::from(yes));
        let row = |row: usize| -> Vec<f64> {
            let size = [number(row).unwrap_or(median), is(number(row).is_none())];
            let towns = seen.iter().map(|&town| is(level(row) == Some(town)));
            size.into_iter().chain(towns).chain([is(level(row).is_none())]).collect()
        };
        let expected = Design::from_rows(&(0..ROWS).map(row).collect::<Vec<_>>()).unwrap();

        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let encode = || Encoding::learn(&table, None, EncodeOptions::default())?.encode(&table);
            let design = pool.install(encode).unwrap();
            assert_eq!(design.is_sparse(), levels == 60);
            assert_eq!(design.to_dense(), expected.to_dense());
        }
    }
}

/// The error is that of the first faulty column, and names its first faulty row.
#[test]
fn the_first_fault_of_several_columns_is_reported() {
    let column = |name: &str, cells: [&str; 4]| {
        RawColumn::cells(name, cells.map(Some), &MissingWords::default()).unwrap()
    };
    let options = EncodeOptions { missing: Missing::Refuse, ..EncodeOptions::default() };
    let known = [column("a", ["1", "2", "3", "4"]), column("b", ["x", "y", "x", "y"])];
    let encoding =
        Encoding::learn(&RawTable::from_columns(known.to_vec()).unwrap(), None, options).unwrap();
    let of = |columns: [RawColumn; 2]| {
        let table = RawTable::from_columns(columns.to_vec()).unwrap();
        encoding.encode(&table).unwrap_err().to_string()
    };
    let message = of([column("a", ["1", "2", "3", ""]), column("b", ["x", "z", "x", "y"])]);
    assert!(message.starts_with("row 3, column 'a': the cell is empty"), "{message}");
    let message = of([column("a", ["1", "2", "3", "4"]), column("b", ["x", "", "z", "y"])]);
    assert!(message.starts_with("row 1, column 'b': the cell is empty"), "{message}");
    let message = of([column("a", ["1", "2", "w", "v"]), column("b", ["x", "", "z", "y"])]);
    assert!(message.starts_with("row 2, column 'a': 'w' is not a number"), "{message}");
}
