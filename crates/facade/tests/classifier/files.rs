//! Saved and loaded.

use margins::data::Design;
use margins::losses::{Hinge, Logistic};
use margins::{Classifier, Probabilities, Scheme};

use crate::{FILES, SPACES, build, corners, two, within};

#[test]
fn saved_classifiers_decide_alike() {
    let directory = tempfile::tempdir().unwrap();
    let data = corners(3, 20);
    for &space in SPACES {
        let builder = Classifier::builder().loss(Logistic).lambda(0.01);
        let classifier = build(within(builder, space)).fit(&data).unwrap();
        let by_file = FILES.map(|name| {
            let path = directory.path().join(name);
            classifier.save(&path).unwrap();
            Classifier::load(&path, &margins::Registry::standard()).unwrap()
        });
        let text = serde_json::to_string(&classifier).unwrap();
        let by_serde: Classifier = serde_json::from_str(&text).unwrap();
        for read in by_file.into_iter().chain([by_serde]) {
            assert_eq!(
                read.predict_proba(&data).unwrap(),
                classifier.predict_proba(&data).unwrap()
            );
            assert_eq!(read.predict(&data).unwrap(), classifier.predict(&data).unwrap());
            assert!(read.report().is_certified());
        }
    }
}

/// The scalings of each member come back to the bit in either format.
#[test]
fn saved_classifiers_keep_their_scalings() {
    let directory = tempfile::tempdir().unwrap();
    let registry = margins::Registry::standard();
    let builder = Classifier::builder().loss(Hinge).lambda(0.01);
    let builder = builder.probabilities(Probabilities::Platt { folds: Some(3) });
    let binary = build(builder.clone()).fit(&two()).unwrap();
    let of = |scheme| build(builder.clone().scheme(scheme)).fit(&corners(3, 20)).unwrap();
    let several = [of(Scheme::OneVersusRest), of(Scheme::OneVersusOne)];
    for (classifier, members) in std::iter::once(&binary).chain(&several).zip([1, 3, 3]) {
        let samples = Design::from_rows(&[[0.1, 0.7, -2.0], [1e6, 0.0, 1.0], [0.0; 3]]).unwrap();
        let probabilities = classifier.predict_proba(&samples).unwrap();
        let scalings = |classifier: &Classifier| -> Vec<_> {
            classifier.model().members().iter().map(|member| member.platt.unwrap()).collect()
        };
        assert_eq!(scalings(classifier).len(), members);
        for name in FILES {
            let path = directory.path().join(name);
            classifier.save(&path).unwrap();
            let read = Classifier::load(&path, &registry).unwrap();
            let from_model = Classifier::from_model(classifier.model().clone(), &registry).unwrap();
            for other in [read, from_model] {
                assert_eq!(other.model(), classifier.model());
                assert_eq!(scalings(&other), scalings(classifier));
                assert_eq!(other.predict_proba(&samples).unwrap(), probabilities);
            }
        }
    }
}
