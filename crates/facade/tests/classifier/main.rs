//! Classifiers by the builder: the same as the pieces that they are made of, on two classes and on
//! several.

#[cfg(feature = "serde")]
mod files;
mod fits;
mod invariants;
mod kernels;
mod labels;
#[cfg(feature = "rayon")]
mod refusals;
mod reports;

use margins::data::{Classes, Dataset, Design};
use margins::{Classifier, ClassifierBuilder, Estimator, Prepared};

/// `per_class` points around each of `k` corners, the same on every call.
fn corners(k: usize, per_class: usize) -> Dataset<Classes> {
    let n = k * per_class;
    let (mut rows, mut names) = (Vec::new(), Vec::new());
    for i in 0..n {
        let (class, t) = (i % k, i as f64);
        let angle = class as f64 * std::f64::consts::TAU / k as f64;
        let noise = [(t * 1.7).sin(), (t * 2.3).cos(), (t * 0.9).sin()];
        rows.push([
            angle.cos() + 0.8 * noise[0],
            angle.sin() + 0.8 * noise[1],
            0.3 * class as f64 + noise[2],
        ]);
        names.push(format!("class {class}"));
    }
    Dataset::new(Design::from_rows(&rows).unwrap(), Classes::new(&names).unwrap()).unwrap()
}

fn two() -> Dataset {
    let data = corners(2, 30);
    data.relabelled(data.labels().against_rest(1)).unwrap()
}

fn two_of_classes() -> Dataset<Classes> {
    let data = two();
    data.relabelled(Classes::from(data.labels())).unwrap()
}

/// Model files of both formats.
#[cfg(feature = "serde")]
const FILES: [&str; 2] = ["model.json", "model.margins"];

/// A kernel and its approximation, or linear classifiers.
type Space = Option<(&'static str, &'static str)>;

const SPACES: &[Space] = &[
    None,
    Some(("gaussian:sigma=0.5", "none")),
    Some(("gaussian", "none")),
    Some(("laplacian:sigma=1", "none")),
    Some(("gaussian:sigma=0.5", "cholesky:tol=1e-12")),
    Some(("gaussian:sigma=0.5", "nystrom:m=20")),
];

fn within(builder: ClassifierBuilder, space: Space) -> ClassifierBuilder {
    match space {
        Some((kernel, how)) => builder.kernel(kernel).approximation(how.parse().unwrap()),
        None => builder,
    }
}

fn prepared(data: &Dataset, space: Space, seed: u64) -> Prepared<'_> {
    use margins::Preparation;
    let Some((kernel, how)) = space else { return Prepared::linear(data) };
    let kernels = margins::kernels::KernelRegistry::standard();
    let approximation = how.parse().unwrap();
    let preparation = Preparation { approximation, seed, ..Preparation::default() };
    Prepared::for_kernel(kernel, &kernels, data, preparation).unwrap()
}

fn build(builder: ClassifierBuilder) -> Estimator {
    builder.build().unwrap()
}

fn all_coefs(classifier: &Classifier) -> Vec<Vec<f64>> {
    let members = classifier.model().members().iter();
    members.map(|m| [&m.coef[..], &[m.intercept]].concat()).collect()
}
