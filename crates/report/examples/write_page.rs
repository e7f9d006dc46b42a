//! Fits a classifier, and writes a page with its pictures on rows that it has not seen.
//!
//!     cargo run -p margins-report --example write_page -- page.html

use margins_data::generate::{Example, GaussianMixture};
use margins_estimators::regularised::{ClassifierSettings, Regularisation};
use margins_model::Registry;
use margins_optim::Lambda;
use margins_report::{Labelled, Origin, Report};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mixture = GaussianMixture::example(Example::One, 1)?;
    let (train, test) = (mixture.sample(100, 2)?, mixture.sample(400, 3)?);
    let regularisation = Regularisation::Single(Lambda::new(0.01)?);
    let model =
        ClassifierSettings { regularisation, ..ClassifierSettings::default() }.fit(&train)?.model;

    let mut report = Report::new("A mixture of normal distributions", Origin::default());
    report.describe(&model, Some(train.design()));
    report.evaluate(&Labelled::new("test", &test, &model)?, &model, &Registry::standard())?;
    report.warnings = report.found_warnings(None);
    println!("error on new rows: {:.1} %", 100.0 * report.evaluations[0].error.value);
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(&path, report.page())?;
        println!("the page is in {path}");
    }
    Ok(())
}
