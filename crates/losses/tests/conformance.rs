//! Every standard loss, over the range of its parameters, keeps the contract of the trait.

use margins_losses::{Error, LossRegistry, testkit};

const SPECIFICATIONS: &[&str] = &[
    "lhs",
    "l-r:r=1.01",
    "l-r:r=1.5",
    "l-r:r=2",
    "l-r:r=10",
    "l-r:r=1e4",
    "margin-pursuit",
    "margin-pursuit:gamma=0.5,scale=1",
    "margin-pursuit:gamma=2.75,scale=0.5",
    "margin-pursuit:gamma=1,scale=7.3",
    "margin-pursuit:gamma=3.766,scale=0.05",
    "log-cosh",
    "log-cosh:gamma=2.75,scale=0.5",
    "log-cosh:gamma=0.3,scale=7.3",
    "leaky-relu",
    "leaky-relu:lambda=0",
    "leaky-relu:lambda=0.49",
    "leaky-relu:lambda=0.5",
    "hinge",
    "squared-hinge",
    "smoothed-hinge",
    "smoothed-hinge:width=0.1",
    "smoothed-hinge:width=1.7",
    "smoothed-hinge:width=5",
    "modified-huber",
    "dwd",
    "dwd:q=0.01",
    "dwd:q=0.1",
    "dwd:q=0.5",
    "dwd:q=4",
    "dwd:q=100",
    "logistic",
    "exponential",
    "squared",
    "garg-roth",
    "garg-roth:alpha=0.7,beta=1.3",
    "garg-roth:alpha=4,beta=0.98",
    "garg-roth:alpha=100,beta=0.1",
    "zero-one",
];

#[test]
fn standard_losses_conform() -> Result<(), Error> {
    let registry = LossRegistry::standard();
    let mut faults = Vec::new();
    for specification in SPECIFICATIONS {
        let loss = registry.parse(specification)?;
        for violation in testkit::violations(&loss) {
            faults.push(format!("{specification}: {violation}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    for name in registry.names() {
        assert!(
            SPECIFICATIONS.iter().any(|s| s.split(':').next() == Some(name)),
            "{name} is not run"
        );
    }
    Ok(())
}
