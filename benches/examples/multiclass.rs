//! One fit of several classes, timed: seconds of training, whether certified, and its errors on
//! other samples, as JSON.
//!
//!     multiclass TRAIN TEST ovr|ovo LOSS LAMBDA KERNEL|none none|loss|platt

use std::error::Error;
use std::time::Instant;

use margins::data::read::{self, ReadOptions};
use margins::{Classifier, Probabilities, Scheme};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [train, test, scheme, loss, lambda, kernel, probabilities] = &arguments[..] else {
        return Err(
            "usage: multiclass TRAIN TEST ovr|ovo LOSS LAMBDA KERNEL|none none|loss|platt".into()
        );
    };
    let read = |path: &String| read::classes(path, &ReadOptions::default());
    let (train, test) = (read(train)?, read(test)?);
    let scheme = if scheme == "ovo" { Scheme::OneVersusOne } else { Scheme::OneVersusRest };
    let mut builder =
        Classifier::builder().loss_named(loss).lambda(lambda.parse()?).scheme(scheme).threads(1);
    if kernel != "none" {
        builder = builder.kernel(kernel);
    }
    if probabilities == "platt" {
        builder = builder.probabilities(Probabilities::Platt { folds: None });
    }
    let estimator = builder.build()?;
    let start = Instant::now();
    let classifier = estimator.fit(&train)?;
    let seconds = start.elapsed().as_secs_f64();
    let list = |values: Vec<String>| format!("[{}]", values.join(","));
    let predicted = classifier.predict(&test)?.into_iter().map(ToOwned::to_owned).collect();
    let certified = classifier.report().is_certified();
    print!("{{\"seconds\":{seconds},\"certified\":{certified},\"predicted\":{}", list(predicted));
    if probabilities != "none" {
        let p = classifier.predict_proba(&test)?;
        let row = |i: usize| list(p.row(i).iter().map(ToString::to_string).collect());
        print!(",\"probabilities\":{}", list((0..p.nrows()).map(row).collect()));
    }
    println!("}}");
    Ok(())
}
