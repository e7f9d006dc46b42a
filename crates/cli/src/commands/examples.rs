//! The command that prints commands to try.

use crate::failure::Failure;
use crate::output::files::emit;
use crate::program;

/// The description of an example, and its command line after the name of the program. Later ones
/// read what earlier ones write.
const EXAMPLES: [(&str, &str); 10] = [
    (
        "Describe simulated data: their size, their classes and their columns.",
        "inspect --data mixture:example=1,n=200,seed=1",
    ),
    (
        "Choose the penalty lambda by cross-validation, and save the classifier in model.json.",
        "cv --data mixture:example=1,n=200,seed=1 --loss lhs --out model.json",
    ),
    (
        "Apply the classifier: a score, a label and a probability for every row.",
        "predict --model model.json --data mixture:example=1,n=20,seed=1",
    ),
    (
        "Show in page.html how good the classifier is on a larger sample of the same kind.",
        "report --model model.json --data mixture:example=1,n=1000,seed=1 --out page.html",
    ),
    (
        "Describe the classifier itself: its coefficients and how it was fitted.",
        "inspect --model model.json",
    ),
    (
        "Fit logistic regression at twenty lambdas, and print a table of the fits.",
        "path --data mixture:example=2,n=200,seed=1 --loss logistic --lambdas 1:1e-4:20",
    ),
    (
        "Fit a support vector machine in which both classes have the same total weight.",
        "fit --data mixture:example=2,n=200,seed=1 --loss hinge --lambda 0.01 \
         --class-weight balanced",
    ),
    (
        "Fit a curved boundary, by a Gaussian kernel whose width is chosen together with lambda.",
        "cv --data mixture:example=3,p=10,n=100,seed=1 --kernel gaussian --sigmas auto:3 \
         --lambdas 1:1e-4:10",
    ),
    (
        "Learn a halfspace from labels of which some are wrong.",
        "massart --data mixture:example=1,n=200,seed=1 --learner auto",
    ),
    (
        "Bound the error above the Bayes error, for a logistic risk within 0.02 of its minimum over all \
         functions.",
        "psi --loss logistic --at 0.02 --inverse",
    ),
];

pub(super) fn examples() -> Result<(), Failure> {
    emit(None, |out| {
        let name = program::name();
        let mut examples = EXAMPLES.iter();
        examples.try_for_each(|(words, line)| writeln!(out, "# {words}\n{name} {line}\n"))
    })
}
