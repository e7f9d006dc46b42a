//! Models of fits that other crates have made.

use margins_data::{Dataset, Design};
use margins_estimators::Error;
use margins_estimators::regularised::model_of_fit;
use margins_losses::{Logistic, MarginLoss};
use margins_optim::{Lambda, Objective, Options};
use margins_test_support::plane;

fn data() -> Dataset {
    plane(40)
}

#[test]
fn models_of_fits_score_as_the_fits_do() {
    let (data, registry) = (data(), margins_model::Registry::standard());
    let lambda = Lambda::new(0.05).unwrap();
    let objective = Objective::of(&Logistic as &dyn MarginLoss, &data).unwrap();
    let fit = margins_optim::fit(&objective, lambda, &Options::default()).unwrap();
    let model = model_of_fit(&Logistic, &data, &fit).unwrap();
    let scores = model.decision_function(data.design(), &registry).unwrap();
    assert_eq!(scores, fit.decision_function(data.design()));
    let member = &model.members()[0];
    assert_eq!((member.lambda, member.training.rows), (Some(0.05), 40));
    assert_eq!(member.training.relative_gap, Some(fit.report.relative_gap));

    let other = data.over(Design::from_rows(&[[1.0]; 40]).unwrap()).unwrap();
    let linear = margins_optim::fit(
        &Objective::of(&Logistic as &dyn MarginLoss, &data).unwrap(),
        lambda,
        &Options::default(),
    );
    let refused = model_of_fit(&Logistic, &other, &linear.unwrap()).unwrap_err();
    assert!(matches!(refused, Error::Data(_)), "{refused}");
}
