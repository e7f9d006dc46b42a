//! Makes numbers of a table with words and missing values, learned on the training rows alone.
//!
//!     cargo run -p margins-data --example clean_table

use margins_data::encode::EncodeOptions;
use margins_data::read::{self, FeatureColumns, Format, ReadOptions};
use margins_data::{Dataset, Error, Standardizer, split};

const TABLE: &str = "\
island,bill,mass,species
Biscoe,37.8,3400,Adelie
Dream,39.5,3250,Adelie
Torgersen,,3800,Adelie
Torgersen,39.1,3750,Adelie
Biscoe,46.1,4500,Gentoo
Biscoe,50.0,,Gentoo
Biscoe,48.7,4450,Gentoo
NA,47.6,5400,Gentoo
";

fn main() -> Result<(), Error> {
    let options = ReadOptions {
        label: Some("species".to_owned()),
        features: FeatureColumns::Learn(EncodeOptions::default()),
        ..ReadOptions::default()
    };
    let data = read::dataset_from(TABLE.as_bytes(), "penguins", Format::Csv, &options)?;
    show("the whole table", &data);

    // Levels, medians and scales come from the training rows, as in every fold of a cross-validation.
    let (train, test) = split::hold_out(data.labels(), 0.25, 1)?;
    let learned = data.learned_on(&train)?;
    let (train, test) = (learned.select(&train), learned.select(&test));
    let standardizer = Standardizer::fit(train.design(), train.weights());
    let scaled = standardizer.scale(test.design().clone())?;
    show("test rows as the training rows are scaled", &test.with_design(scaled)?);
    Ok(())
}

/// Prints the features and the class of every row.
fn show(title: &str, data: &Dataset) {
    println!("{title}: {}", data.feature_names().unwrap_or_default().join(", "));
    for (row, sign) in data.design().to_dense().row_iter().zip(data.labels().signs()) {
        let values: Vec<String> = row.iter().map(|x| format!("{x:8.2}")).collect();
        println!("{} class {sign:+}", values.join(" "));
    }
}
