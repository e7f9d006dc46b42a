//! Fits the leaky hockey stick classifier to a file of two classes or more (CSV with a column
//! `label`, or svmlight), and prints the error along lambda and how exact every fit is. Without a
//! file it takes three kinds of flowers.
//!
//!     cargo run --release -p margins --example classify_file -- train.csv

use margins::Classifier;
use margins::data::read::{self, Format, ReadOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = match std::env::args().nth(1) {
        Some(path) => read::classes(path, &ReadOptions::default())?,
        None => {
            let options = ReadOptions::default();
            read::classes_from(flowers().as_bytes(), "flowers", Format::Csv, &options)?
        }
    };
    let estimator = Classifier::builder().loss_named("lhs").standardize(true).seed(1).build()?;
    let classifier = estimator.fit(&data)?;
    println!("{}", classifier.report());
    Ok(())
}

/// Returns a table of two measurements and the kind of 90 flowers.
fn flowers() -> String {
    let row = |i: usize| {
        let (kind, step) = (i % 3, i as f64);
        let (stem, leaf) = (kind as f64 + 0.6 * step.sin(), (1.7 * step).cos());
        format!("{stem:.3},{leaf:.3},{}\n", ["iris", "poppy", "rose"][kind])
    };
    format!("stem,leaf,label\n{}", (0..90).map(row).collect::<String>())
}
