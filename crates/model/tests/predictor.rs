//! A predictor gives what the model gives, sample by sample and in batches.

use std::sync::Arc;

use margins_calibration::probability::PlattScaling;
use margins_kernel_functions::{Gaussian, KernelRegistry};
use margins_losses::{Hinge, Logistic, LossRegistry};
use margins_model::{
    Basis, Design, Error, Functions, MarginLoss, Member, Model, Predictor, Registry, Scheme,
    TrainingSummary,
};

const ROWS: [[f64; 2]; 4] = [[0.3, -1.0], [2.0, 0.1], [-0.7, 0.4], [0.0, 3.0]];

fn member(intercept: f64, coef: &[f64]) -> Member {
    let training = TrainingSummary::uncertified(10);
    Member { lambda: Some(0.1), intercept, coef: coef.to_vec(), training, platt: None }
}

fn model(loss: &dyn MarginLoss, members: Vec<Member>, basis: Option<Basis>) -> Model {
    let scheme = if members.len() == 1 { Scheme::Binary } else { Scheme::OneVersusOne };
    let names = ["a", "b", "c"].iter().take(if members.len() == 1 { 2 } else { 3 });
    let classes = names.map(|name| (*name).to_owned()).collect();
    Model::from_members(loss, classes, scheme, None, basis, members).unwrap()
}

fn models() -> [Model; 3] {
    let pairs = [(0.1, [1.0, -1.0]), (-0.2, [0.5, 2.0]), (0.0, [-1.5, 0.3])];
    let pairs: Vec<Member> = pairs.iter().map(|(b, w)| member(*b, w)).collect();
    let sections = Functions::Sections(Design::from_rows(&ROWS[..3]).unwrap());
    let basis = Basis::new(&Gaussian::new(0.7).unwrap(), Some(vec![1.0, 0.5]), sections).unwrap();
    [
        model(&Logistic, vec![member(0.5, &[1.0, -2.0])], None),
        model(&Logistic, pairs, None),
        model(&Logistic, vec![member(-0.5, &[1.0, -2.0, 0.25])], Some(basis)),
    ]
}

#[test]
fn rows_and_batches_agree_with_the_model() {
    let registry = Registry::standard();
    let design = Design::from_rows(&ROWS).unwrap();
    for model in models() {
        let predictor = Predictor::new(model.clone(), &registry).unwrap();
        let scores = model.decision_functions(&design, &registry).unwrap();
        assert_eq!(predictor.decision_functions(&design).unwrap(), scores);
        let classes = model.predict(&design, &registry).unwrap();
        assert_eq!(predictor.predict(&design).unwrap(), classes);
        let table = predictor.probabilities(&design).unwrap();
        assert_eq!(*table, model.class_probabilities(&scores, &Logistic).unwrap());
        assert_eq!(table.classes(), model.classes());
        for (i, row) in ROWS.iter().enumerate() {
            assert_eq!(predictor.predict_row(row).unwrap(), classes[i]);
            let p = predictor.row_probabilities(row).unwrap();
            assert!(p.iter().zip(table.row(i).iter()).all(|(p, q)| (p - q).abs() < 1e-15));
        }
    }
}

#[test]
fn rows_that_are_no_samples_are_refused() {
    for model in models() {
        let predictor = Predictor::new(model, &Registry::standard()).unwrap();
        let error = predictor.predict_row(&[1.0]).unwrap_err();
        assert!(matches!(error, Error::Columns { expected: 2, found: 1, .. }), "{error}");
        let error = predictor.predict_row(&[1.0, f64::NAN]).unwrap_err();
        assert!(matches!(error, Error::Data(_)), "{error}");
    }
}

#[test]
fn names_are_looked_up_once_and_given_losses_never() {
    let [linear, _, kernel] = models();
    let nothing = Registry { losses: LossRegistry::empty(), kernels: KernelRegistry::empty() };
    let error = Predictor::new(linear.clone(), &nothing).unwrap_err();
    assert!(matches!(error, Error::Loss(_)), "{error}");
    let predictor = Predictor::with_loss(linear, Arc::new(Logistic), &nothing).unwrap();
    assert!(predictor.row_probabilities(&[0.0, 0.0]).unwrap()[1] > 0.5);
    let error = Predictor::with_loss(kernel, Arc::new(Logistic), &nothing).unwrap_err();
    assert!(matches!(error, Error::Kernel(_)), "{error}");
}

#[test]
fn losses_without_probabilities_take_a_scaling() {
    let hinge = model(&Hinge, vec![member(0.5, &[1.0, -2.0])], None);
    let predictor = Predictor::new(hinge.clone(), &Registry::standard()).unwrap();
    let error = predictor.row_probabilities(&[0.0, 0.0]).unwrap_err();
    assert!(matches!(error, Error::NoProbabilities(_)), "{error}");
    let scaling = PlattScaling::fit(&[-1.0, 0.5, -0.2, 1.0], &[-1.0, -1.0, 1.0, 1.0]).unwrap();
    let predictor = Predictor::new(hinge.with_platt(scaling), &Registry::standard()).unwrap();
    let expected = scaling.probability(0.5);
    assert_eq!(predictor.row_probabilities(&[0.0, 0.0]).unwrap(), [1.0 - expected, expected]);
    assert_eq!(predictor.loss().name(), "hinge");
}
