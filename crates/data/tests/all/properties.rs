//! What holds for all data: weights are repetitions, formats do not matter, scaling is as exact as
//! its numbers.

use margins_data::metrics::{
    self, Confusion, MarginStatistics, balanced_error, brier, confusion, error_rate, log_loss,
};
use margins_data::read::{self, Format, ReadOptions};
use margins_data::{Classes, Dataset, Design, Error, Standardizer};
use proptest::collection::vec;
use proptest::prelude::*;

/// What a measure sees of a sample.
#[derive(Debug, Clone, Copy)]
struct Seen {
    score: f64,
    sign: f64,
    probability: f64,
    weight: u8,
}

fn seen() -> impl Strategy<Value = Seen> {
    (-6i8..7, any::<bool>(), 0u8..=8, 0u8..5).prop_map(|(score, positive, eighths, weight)| Seen {
        score: f64::from(score) / 2.0,
        sign: if positive { 1.0 } else { -1.0 },
        probability: f64::from(eighths) / 8.0,
        weight,
    })
}

fn column(rows: &[Seen], of: impl Fn(&Seen) -> f64) -> Vec<f64> {
    rows.iter().map(of).collect()
}

/// All measures of some rows. Those that are exact ratios of whole numbers first, then those that
/// are rounded.
fn measures(
    rows: &[Seen],
    weights: Option<&[f64]>,
) -> Result<(Vec<f64>, Confusion, Vec<f64>), Error> {
    let (scores, signs) = (column(rows, |row| row.score), column(rows, |row| row.sign));
    let probabilities = column(rows, |row| row.probability);
    let margins = MarginStatistics::new(&scores, &signs, weights)?;
    let mut exact = vec![
        error_rate(&scores, &signs, weights)?.rate,
        balanced_error(&scores, &signs, weights)?,
        metrics::auc(&scores, &signs, weights)?,
        margins.minimum(),
        margins.fraction_below(0.5),
    ];
    exact.extend(margins.quantiles(&[0.0, 0.25, 0.5, 1.0])?);
    let rounded = vec![
        log_loss(&probabilities, &signs, weights)?,
        brier(&probabilities, &signs, weights)?,
        margins.mean,
        margins.variance,
        margins.skewness,
    ];
    Ok((exact, confusion(&scores, &signs, weights)?, rounded))
}

fn all_close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())))
}

proptest! {
    /// A sample of weight k is k samples, one of weight 0 none, in every measure.
    #[test]
    fn weights_are_repetitions(rows in vec(seen(), 1..12)) {
        let weights = column(&rows, |row| f64::from(row.weight));
        let times = |row: &Seen| std::iter::repeat_n(*row, row.weight.into());
        let repeated: Vec<Seen> = rows.iter().flat_map(times).collect();
        match (measures(&rows, Some(&weights)), measures(&repeated, None)) {
            (Ok((exact, counts, rounded)), Ok((exact_again, counts_again, rounded_again))) => {
                prop_assert_eq!(exact, exact_again);
                prop_assert_eq!(counts, counts_again);
                // Sums of at most 48 terms; the skewness divides by a variance of at least 0.2/48.
                prop_assert!(all_close(&rounded, &rounded_again, 1e-10));
            }
            (Err(_), Err(_)) => {}
            (weighted, repeated) => prop_assert!(false, "{:?} but {:?}", weighted, repeated),
        }
    }

    /// Only the proportions of weights matter, however large they are; quantiles count repetitions.
    #[test]
    fn huge_weights_are_weights(rows in vec(seen(), 1..12), size in prop::sample::select(vec![1e12, 1e-12, 1e300])) {
        let weights = column(&rows, |row| f64::from(row.weight));
        let huge = column(&rows, |row| f64::from(row.weight) * size);
        match (measures(&rows, Some(&weights)), measures(&rows, Some(&huge))) {
            (Ok((exact, _, rounded)), Ok((exact_again, _, rounded_again))) => {
                prop_assert!(all_close(&exact[..5], &exact_again[..5], 1e-14));
                prop_assert!(all_close(&rounded, &rounded_again, 1e-10));
                let (scores, signs) = (column(&rows, |row| row.score), column(&rows, |row| row.sign));
                let errors = [&weights, &huge].map(|c| error_rate(&scores, &signs, Some(c)).unwrap());
                prop_assert!((errors[0].standard_error - errors[1].standard_error).abs() <= 1e-14);
            }
            (Err(_), Err(_)) => {}
            (some, other) => prop_assert!(false, "{:?} but {:?}", some, other),
        }
    }

    /// A table is the same data set in either format.
    #[test]
    fn formats_do_not_matter(
        rows in vec((prop::array::uniform3(-3i32..4), -9i32..9, 0usize..4), 2..12),
    ) {
        let names = ["-1", "0", "2", "10"];
        let value = |mantissa: i32, exponent: i32| f64::from(mantissa) * 10f64.powi(exponent);
        let mut csv = "a,b,c,label\n".to_owned();
        let mut svmlight = String::new();
        for &(x, exponent, class) in &rows {
            let name = names[class];
            let [a, b, c] = x.map(|x| value(x, exponent));
            csv += &format!("{a:?},{b:?},{c:?},{name}\n");
            let stored = [a, b, c].into_iter().enumerate().filter(|(_, x)| *x != 0.0);
            let stored: String = stored.map(|(k, x)| format!(" {}:{x:?}", k + 1)).collect();
            svmlight += &format!("{name}{stored}\n");
        }
        let options = ReadOptions { columns: Some(3), ..ReadOptions::default() };
        let of = |text: &str, format| read::classes_from(text.as_bytes(), "memory", format, &options);
        match (of(&csv, Format::Csv), of(&svmlight, Format::Svmlight)) {
            (Ok(dense), Ok(sparse)) => {
                prop_assert_eq!(dense.labels(), sparse.labels());
                prop_assert_eq!(dense.design().to_dense(), sparse.design().to_dense());
            }
            (Err(one), Err(other)) => prop_assert_eq!(one.to_string(), other.to_string()),
            (one, other) => prop_assert!(false, "{:?} but {:?}", one, other),
        }
    }

    /// Means and deviations are those of the numbers as they are, whatever their scale and offset.
    /// With u the unit roundoff, n rows, a range R and a mean m: sums of n differences are off by n
    /// u R, the mean is rounded once more.
    #[test]
    fn scaling_is_as_exact_as_its_numbers(
        scale in -12.0..12.0f64,
        offset in 0.0..10.0f64,
        rows in vec((-1.0..1.0f64, 0u8..4), 2..20),
        weighted: bool,
    ) {
        let spread = 10f64.powf(scale);
        let shift = spread * 10f64.powf(offset);
        let x: Vec<f64> = rows.iter().map(|(z, _)| shift + spread * z).collect();
        let weights: Vec<f64> = rows.iter().map(|(_, c)| if weighted { f64::from(*c) } else { 1.0 }).collect();
        prop_assume!(weights.iter().any(|c| *c > 0.0));
        let design = Design::from_samples(nalgebra::DMatrix::from_row_slice(1, x.len(), &x)).unwrap();
        let standardizer = Standardizer::fit(&design, weighted.then_some(&weights[..]));
        let (mean, deviation) = moments(&x, &weights);
        let counted = || x.iter().zip(&weights).filter(|(_, c)| **c > 0.0).map(|(x, _)| *x);
        let range = counted().fold(f64::MIN, f64::max) - counted().fold(f64::MAX, f64::min);
        let n = x.len() as f64;
        let rounding = (n + 8.0) * f64::EPSILON;
        let error = (standardizer.means()[0] - mean).abs();
        prop_assert!(error <= 4.0 * f64::EPSILON * mean.abs() + rounding * range, "{error:e} of {mean:e}");
        let error = (standardizer.deviations()[0] - deviation).abs();
        prop_assert!(error <= rounding * deviation, "{error:e} of {deviation:e}");
    }
}

/// An unevaluated sum of two doubles, the second at most half a unit in the last place of the
/// first.
#[derive(Clone, Copy)]
struct Double(f64, f64);

impl Double {
    /// `a + b` exactly (Knuth).
    fn sum(a: f64, b: f64) -> Self {
        let sum = a + b;
        let of_b = sum - a;
        Double(sum, (a - (sum - of_b)) + (b - of_b))
    }

    /// `a b` exactly, by the fused product.
    fn product(a: f64, b: f64) -> Self {
        Double(a * b, a.mul_add(b, -(a * b)))
    }

    fn plus(self, other: Double) -> Self {
        let Double(high, low) = Double::sum(self.0, other.0);
        Double::sum(high, low + self.1 + other.1)
    }

    fn times(self, other: Double) -> Self {
        let Double(high, low) = Double::product(self.0, other.0);
        Double::sum(high, low + (self.0 * other.1 + self.1 * other.0))
    }

    fn over(self, divisor: f64) -> Self {
        let quotient = self.0 / divisor;
        let rest = self.plus(Double(-1.0, 0.0).times(Double::product(quotient, divisor)));
        Double::sum(quotient, (rest.0 + rest.1) / divisor)
    }
}

/// Mean and standard deviation by weight, in twice the precision.
fn moments(x: &[f64], weights: &[f64]) -> (f64, f64) {
    let total: f64 = weights.iter().sum();
    let sum_of =
        |terms: &mut dyn Iterator<Item = Double>| terms.fold(Double(0.0, 0.0), Double::plus);
    let mean = sum_of(&mut x.iter().zip(weights).map(|(x, c)| Double::product(*x, *c))).over(total);
    let square = |(x, c): (&f64, &f64)| {
        let d = Double(*x, 0.0).plus(Double(-mean.0, -mean.1));
        d.times(d).times(Double(*c, 0.0))
    };
    let variance = sum_of(&mut x.iter().zip(weights).map(square)).over(total);
    (mean.0, variance.0.sqrt())
}

/// Reading, naming and finding classes takes time in proportion to their number: a comparison by
/// pairs would take 2e10 steps here.
#[test]
fn many_classes_are_read_in_one_pass() {
    const CLASSES: usize = 200_000;
    let mut text = "x,label\n".to_owned();
    for i in (0..CLASSES).chain(0..CLASSES) {
        text += &format!("{},class {}\n", i % 7, (i * 77_777) % CLASSES);
    }
    let data = read::classes_from(text.as_bytes(), "memory", Format::Csv, &ReadOptions::default())
        .unwrap();
    let classes = data.labels();
    assert!(classes.rows_by_class().iter().all(|rows| rows.len() == 2));
    let (indices, names) =
        (classes.indices().to_vec(), margins_data::ClassLabels::names(classes).to_vec());
    assert_eq!(&Classes::from_indices(indices, names).unwrap(), classes);
    let numbers: Vec<String> = (0..CLASSES).map(|k| k.to_string()).collect();
    let index = margins_data::ClassIndex::new(&numbers).unwrap();
    assert!((0..CLASSES).all(|k| index.get(&format!("+{k}.0")) == Some(k)));
    let design = Design::from_rows(&vec![[1.0]; CLASSES]).unwrap();
    assert_eq!(Dataset::new(design, Classes::new(&numbers).unwrap()).unwrap().rows(), CLASSES);
}

/// Labels that are numbers and not all whole are measurements, however often one of them is
/// repeated; names are classes, be they many or look like versions.
#[test]
fn measurements_are_told_from_classes() {
    let of = |text: &str, format| {
        read::classes_from(text.as_bytes(), "y.csv", format, &ReadOptions::default())
            .map(|data| margins_data::ClassLabels::names(data.labels()).len())
            .map_err(|error| error.to_string())
    };
    let csv = |labels: &[&str]| {
        let rows: String = labels.iter().map(|label| format!("1,{label}\n")).collect();
        of(&format!("x,label\n{rows}"), Format::Csv)
    };
    assert_eq!(csv(&["1", "2", "2.0", "+3"]), Ok(3));
    assert_eq!(csv(&["1e3", "-4", "10"]), Ok(3));
    assert_eq!(csv(&["0.5", "high", "0.5", "low"]), Ok(3));
    assert_eq!(csv(&["v1.1", "v1.2", "v1.1"]), Ok(2));
    let refused = "column 'label': the label '0.37' is not a whole number, and all labels are numbers, \
                   so they look like measurements instead of classes. Name classes with letters, such as v1.2";
    assert_eq!(csv(&["1", "0.37", "0.37", "1.92"]), Err(format!("y.csv, line 3, {refused}")));
    let svmlight = of("2 1:1\n0.37 1:2\n1 1:3\n", Format::Svmlight).unwrap_err();
    assert!(
        svmlight.starts_with("y.csv, line 2, character 1: the label '0.37' is not a whole"),
        "{svmlight}"
    );

    // Two classes, where the third of the labels tells, or the end of the file.
    let two = |labels: &str| {
        let text = format!("x,label\n{labels}");
        read::dataset_from(text.as_bytes(), "y.csv", Format::Csv, &ReadOptions::default())
            .map(|data| data.rows())
            .map_err(|error| error.to_string())
    };
    assert_eq!(two("1,2\n1,0.37\n1,0.5\n"), Err(format!("y.csv, line 3, {refused}")));
    assert_eq!(two("1,1\n1,0.37\n1,1\n"), Err(format!("y.csv, line 3, {refused}")));
    assert_eq!(two("1,1\n1,2\n1,1.0\n"), Ok(3));

    // A stream: at its first buffer, unless the classes are given.
    let stream = |classes| {
        let text = "x,label\n1,1\n1,0.37\n1,1\n";
        let options = ReadOptions::default();
        let mut stream =
            read::Stream::from_reader(text.as_bytes(), "y.csv", Format::Csv, &options, classes)
                .unwrap();
        stream.next_chunk().map(|chunk| chunk.map(|chunk| chunk.design.rows()))
    };
    assert_eq!(stream(None).unwrap_err().to_string(), format!("y.csv, line 3, {refused}"));
    assert_eq!(stream(Some(&["0.37", "1"][..])).unwrap(), Some(3));
}
