//! What no fit depends on, as far as its certificates reach.
//!
//! F is 2 lambda strongly convex in w, also after minimisation over the intercept, so that `lambda
//! ||w - w*||^2 <= F(w, b) - F* <= gap`: two fits of the same problem are at most
//! `sqrt(gap_1/lambda_1) + sqrt(gap_2/lambda_2)` apart. F has the factor 1/n with n the number of
//! rows, whatever they weigh: a problem keeps its minimiser where rows become more and lambda less
//! in proportion.

use margins::data::{ClassLabels, Classes, Dataset};
use margins::{Classifier, CrossValidation, Scheme};

use crate::{SPACES, Space, build, corners, within};

/// How far from the minimiser of its problem a member can be: `sqrt(gap/lambda)`.
fn radius(classifier: &Classifier, member: usize) -> f64 {
    let member = &classifier.report().members[member];
    (member.report.as_ref().unwrap().duality_gap / member.lambda.unwrap()).sqrt()
}

/// Three classes in which every second row of a class and a fold weighs 3, and the same with those
/// rows three times: twice as many rows, in every class, fold and pair.
fn weighted_and_repeated() -> [Dataset<Classes>; 2] {
    let data = corners(3, 20);
    let fold = |i: usize| i / 6 % 5;
    let weight = |i: usize| if (i / 3).is_multiple_of(2) { 3.0 } else { 1.0 };
    let n = data.rows();
    let repeated: Vec<usize> =
        (0..n).flat_map(|i| std::iter::repeat_n(i, weight(i) as usize)).collect();
    assert_eq!(repeated.len(), 2 * n);
    let folds = repeated.iter().map(|&i| fold(i)).collect();
    let twice = data.select(&repeated).with_folds(folds).unwrap();
    let weighted = data.with_folds((0..n).map(fold).collect()).unwrap();
    [weighted.with_weights((0..n).map(weight).collect()).unwrap(), twice]
}

/// The spaces whose functions do not depend on how often a row is there.
fn spaces() -> impl Iterator<Item = Space> {
    let by_rows = |how: &str| how.starts_with("nystrom");
    SPACES.iter().copied().filter(move |space| {
        !space.is_some_and(|(kernel, how)| by_rows(how) || !kernel.contains("sigma"))
    })
}

/// Weights reach every member of several classes, the error that they have together, and the
/// cross-validated one.
#[test]
fn weights_are_repetitions_for_several_classes() {
    let [weighted, repeated] = weighted_and_repeated();
    for (scheme, balanced, space) in [Scheme::OneVersusRest, Scheme::OneVersusOne]
        .into_iter()
        .flat_map(|scheme| [false, true].map(|balanced| (scheme, balanced)))
        .flat_map(|(scheme, balanced)| spaces().map(move |space| (scheme, balanced, space)))
    {
        let case = format!("{scheme}, balanced {balanced}, {space:?}");
        let fit = |data: &Dataset<Classes>, share: f64| {
            let builder = within(Classifier::builder(), space).loss_named("logistic");
            let builder = builder.scheme(scheme).intercept(false).tolerance(1e-9);
            let builder = if balanced { builder.balanced_classes() } else { builder };
            let lambdas =
                [0.1, 0.01].map(|lambda| margins::optim::Lambda::new(share * lambda).unwrap());
            let how = CrossValidation { lambdas: lambdas.to_vec(), ..CrossValidation::default() };
            build(builder.cross_validation(how)).fit(data).unwrap()
        };
        let (one, other) = (fit(&weighted, 1.0), fit(&repeated, 0.5));
        let curves = [&one, &other].map(|classifier| classifier.report().curve.clone().unwrap());
        for (error, again) in curves[0].mean_error.iter().zip(&curves[1].mean_error) {
            assert!((error - again).abs() < 1e-14, "{case}: {error} but {again}");
        }
        let errors =
            [one.error_rate(&weighted), other.error_rate(&repeated)].map(|e| e.unwrap().rate);
        assert!((errors[0] - errors[1]).abs() < 1e-14, "{case}: {errors:?}");
        assert!(errors[0] > 0.0, "{case}: an error to speak of");
        let scores = one.decision_function(weighted.design()).unwrap();
        let again = other.decision_function(weighted.design()).unwrap();
        for (row, sample) in weighted.design().samples().enumerate() {
            // `k(x, x)` of the two kernels is 1.
            let size = if space.is_some() { 1.0 } else { sample.norm() };
            for member in 0..scores.ncols() {
                let most = size * (radius(&one, member) + radius(&other, member));
                let difference = (scores[(row, member)] - again[(row, member)]).abs();
                assert!(
                    difference <= most,
                    "{case}: row {row}, member {member}: {difference:e} > {most:e}"
                );
            }
        }
    }
}

/// Weights of the settings are weights of the data; those of data count in the error of any fit to
/// them.
#[test]
fn weights_of_the_settings_are_weights_of_the_data() {
    let [weighted, _] = weighted_and_repeated();
    let weights = weighted.weights().unwrap().to_vec();
    let plain = corners(3, 20);
    for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne] {
        let builder = || Classifier::builder().scheme(scheme).lambda(0.01);
        let one = build(builder()).fit(&weighted).unwrap();
        let other = build(builder().sample_weights(weights.clone())).fit(&plain).unwrap();
        assert_eq!(crate::all_coefs(&one), crate::all_coefs(&other));
        let classes = one.predict_index(&plain).unwrap();
        let wrong = |i: &usize| classes[*i] != plain.labels().index(*i);
        let by_hand: f64 = (0..plain.rows()).filter(wrong).map(|i| weights[i]).sum::<f64>()
            / weights.iter().sum::<f64>();
        assert!((one.error_rate(&weighted).unwrap().rate - by_hand).abs() < 1e-15);
        assert!((one.score(&weighted).unwrap() - (1.0 - by_hand)).abs() < 1e-15);
        assert_ne!(one.score(&plain).unwrap(), one.score(&weighted).unwrap());
    }
}
