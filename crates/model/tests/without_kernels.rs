//! Model files in a crate without the feature `kernels`: those of linear classifiers are read, of
//! the others it says why not. `cargo test -p margins-model --no-default-features --features
//! serde`.

#![cfg(all(feature = "serde", not(feature = "kernels")))]

use std::path::Path;

use margins_data::read;
use margins_model::{Error, Model, Registry};

const LINEAR: [&str; 7] = [
    "v1-linear.json",
    "v2-linear.json",
    "v3-linear.json",
    "v3-linear.mgn",
    "v3-platt.json",
    "v3-platt.mgn",
    "v3-rest.mgn",
];

const KERNEL: [(&str, &str); 6] = [
    ("v2-fourier.json", "gaussian:sigma=0.5"),
    ("v2-kernel.json", "gaussian:sigma=0.5"),
    ("v3-fourier.mgn", "gaussian:sigma=0.5"),
    ("v3-kernel.json", "gaussian:sigma=0.5"),
    ("v3-kernel.mgn", "gaussian:sigma=0.5"),
    ("v3-sparse-kernel.mgn", "gaussian:sigma=0.5+linear"),
];

#[test]
fn files_of_linear_classifiers_are_read() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let data = read::dataset(fixtures.join("dense.csv"), &Default::default()).unwrap();
    let registry = Registry::standard();
    for name in LINEAR {
        let path = fixtures.join(name);
        let model = Model::load(&path, &registry).unwrap();
        let recorded = std::fs::read_to_string(path.with_extension("scores")).unwrap();
        let scores = model.decision_functions(data.design(), &registry).unwrap();
        assert_eq!(recorded.lines().count(), scores.nrows(), "{name}");
        for (line, row) in recorded.lines().zip(scores.row_iter()) {
            let recorded = line.split(',').map(|number| number.parse::<f64>().unwrap());
            // What scalings make of the scores may follow them.
            let recorded: Vec<f64> = recorded.take(row.len()).collect();
            assert!(row.iter().eq(&recorded), "{name}");
        }
    }
}

#[test]
fn files_of_kernel_classifiers_are_refused() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for (name, kernel) in KERNEL {
        let path = fixtures.join(name);
        let error = Model::load(&path, &Registry::standard()).unwrap_err();
        let expected = format!(
            "{}: the model is of the kernel '{kernel}', but the crate margins was built without its feature `kernels`",
            path.display()
        );
        assert_eq!(error.to_string(), expected);
        let Error::File { source, .. } = error else { panic!("{error:?}") };
        assert!(matches!(*source, Error::WithoutKernels(_)), "{source:?}");
    }
}
