//! Specifications of losses, kernels, learners and grids, and settings in words.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use margins_data::Memory;
use margins_estimators::focused::{self, SlackRule, Subsampling};
use margins_estimators::regularised::{Approximation, Sigmas};
use margins_kernel_functions::KernelRegistry;
use margins_losses::LossRegistry;
use margins_model::Registry;
use margins_optim::lambda_grid;
use margins_robust::RobustLearner;

use super::{Target, as_they_are};

const LOSSES: [&str; 6] =
    ["lhs", "l-r:r=2", "logistic", "squared-hinge", "smoothed-hinge:width=0.01", "dwd:q=1"];

const KERNELS: [&str; 5] = [
    "gaussian:sigma=0.1",
    "poly:degree=3,scale=2,offset=1",
    "linear",
    "gaussian:sigma=1*linear+poly:degree=2",
    "(gaussian:sigma=1+linear)*anova:degree=2,sigma=1",
];

const LEARNERS: [&str; 8] = [
    "perceptron",
    "passive-aggressive:capped=1",
    "online-gradient:inverse-sqrt=1,radius=5,lambda=1e-3,loss=hinge",
    "stump:thresholds=20,eta=0.1",
    "mlp:hidden=32x16,step=0.05,loss=logistic",
    "catoni:alpha=0.5,restarts=3,seed=7",
    "median-of-means:blocks=11,steps=100,seed=1",
    "margin-distribution:mean=1,variance=2,seed=1",
];

const SETTINGS: [&str; 10] = [
    "auto:10",
    "10:0.01:5",
    "1,0.5,0.25",
    "cholesky:tol=1e-8,memory=4",
    "nystrom:m=1000,leverage=1e-4",
    "rff:m=2000",
    "500MB",
    "1.5GiB",
    "additive-sum:budget=5",
    "outliers=5,rare=200",
];

const WORDS: [&str; 20] = [
    ":",
    "=",
    ",",
    "+",
    "*",
    "(",
    ")",
    "sigma",
    "loss=",
    "seed=",
    "NaN",
    "inf",
    "-inf",
    "-0",
    "1e-320",
    "1e308",
    "0x10",
    "((((((((((((((((",
    "linear",
    "auto:",
];

pub(super) fn targets() -> Vec<Target> {
    let losses = LossRegistry::standard();
    let kernels = KernelRegistry::standard();
    let registry = Registry::standard();
    vec![
        target("loss", &LOSSES, move |text| {
            let loss = losses.parse(text).map_err(|error| error.to_string())?;
            let name = loss.specification();
            let again = losses.parse(&name).expect("a specification parses");
            assert_eq!(again.specification(), name, "of '{text}'");
            let values = [loss.value(-1.5), loss.value(0.0), loss.value(2.5)];
            assert!(values.iter().all(|value| !value.is_nan()), "'{name}': {values:?}");
            Ok(())
        }),
        target("kernel", &KERNELS, move |text| {
            let kernel = kernels.parse(text).map_err(|error| error.to_string())?;
            let name = kernel.specification();
            let again = kernels.parse(&name).expect("a specification parses");
            assert_eq!(again.specification(), name, "of '{text}'");
            Ok(())
        }),
        target("learner", &LEARNERS, move |text| {
            let robust = displayed::<RobustLearner>(text);
            let kernel = Some("gaussian:sigma=1");
            let learner = focused::FocusedLearner::parse(text, kernel, &registry);
            // What shows itself in words is no specification of every learner.
            let learner = learner.map(|learner| drop(learner.to_string()));
            robust.or(learner)
        }),
        target("setting", &SETTINGS, |text| {
            let outcomes = [
                displayed::<Sigmas>(text),
                displayed::<Approximation>(text),
                text.parse::<Memory>().map(|memory| drop(memory.to_string())),
                displayed::<SlackRule>(text),
                text.parse::<Subsampling>().map(drop),
                lambdas(text),
            ];
            outcomes.into_iter().reduce(Result::or).unwrap_or(Ok(()))
        }),
    ]
}

/// The lambdas of FIRST:LAST:COUNT lie between the ends, of which each is there, and fall.
fn lambdas(text: &str) -> Result<(), String> {
    let parts: Vec<&str> = text.split(':').collect();
    let [from, to, count] = parts[..] else { return Err("no grid of lambdas".to_owned()) };
    let number = |text: &str| text.parse::<f64>().map_err(|error| error.to_string());
    let count: usize = count.parse().map_err(|_| "not a number of lambdas".to_owned())?;
    let (from, to) = (number(from)?, number(to)?);
    // Longer grids have nothing more to show.
    let grid = lambda_grid(from, to, count.min(1000)).map_err(|error| error.to_string())?;
    let values: Vec<f64> = grid.iter().map(|lambda| lambda.get()).collect();
    assert!(values.is_sorted_by(|one, next| one >= next), "{text}: {values:?}");
    assert_eq!(values.first(), Some(&from.max(to)), "{text}");
    assert_eq!(values.last(), Some(&from.min(to)), "{text}");
    Ok(())
}

/// A value in words is read back as the same value.
fn displayed<T: FromStr + Display + PartialEq + Debug>(text: &str) -> Result<(), String>
where
    T::Err: Display,
{
    let value: T = text.parse().map_err(|error: T::Err| error.to_string())?;
    let words = value.to_string();
    match words.parse::<T>() {
        Ok(again) => assert_eq!(again, value, "'{text}' shows itself as '{words}'"),
        Err(error) => panic!("'{text}' shows itself as '{words}', which is refused: {error}"),
    }
    Ok(())
}

fn target(
    name: &'static str,
    texts: &[&str],
    check: impl Fn(&str) -> Result<(), String> + 'static,
) -> Target {
    Target {
        name,
        corpus: texts.iter().map(|text| text.as_bytes().to_vec()).collect(),
        words: &WORDS,
        seal: as_they_are,
        // The values are small whatever their words; the check is measured by its time alone.
        read: Box::new(|_| ()),
        bytes_per_input_byte: 0,
        check: Box::new(move |bytes| {
            check(std::str::from_utf8(bytes).map_err(|error| error.to_string())?)
        }),
    }
}
