//! What no fit depends on, as far as its certificates reach.
//!
//! F is 2 lambda strongly convex in w, also after minimisation over the intercept, so that `lambda
//! ||w - w*||^2 <= F(w, b) - F* <= gap`: two fits of the same problem are at most
//! `sqrt(gap_1/lambda_1) + sqrt(gap_2/lambda_2)` apart. F has the factor 1/n with n the number of
//! rows, whatever they weigh: a problem keeps its minimiser where rows become more and lambda less
//! in proportion.

use margins::data::{ClassLabels, Classes, Dataset, Design};
use margins::{Classifier, ClassifierBuilder, CrossValidation, Scheme};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{SPACES, Space, build, corners, within};

/// How far from the minimiser of its problem a member can be: `sqrt(gap/lambda)`.
fn radius(classifier: &Classifier, member: usize) -> f64 {
    let member = &classifier.report().members[member];
    (member.report.as_ref().unwrap().duality_gap / member.lambda.unwrap()).sqrt()
}

fn distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn norm(x: &[f64]) -> f64 {
    distance(x, &vec![0.0; x.len()])
}

/// Samples of two classes with weights.
#[derive(Debug, Clone)]
struct Problem {
    rows: Vec<Vec<f64>>,
    labels: Vec<bool>,
    weights: Vec<f64>,
    loss: &'static str,
    lambda: f64,
}

fn problem() -> impl Strategy<Value = Problem> {
    let sample = (vec(-2.0..2.0f64, 3), any::<bool>(), 1u8..4);
    let loss = prop::sample::select(vec![
        "logistic",
        "lhs",
        "squared-hinge",
        "modified-huber",
        "dwd",
        "hinge",
    ]);
    (vec(sample, 4..10), loss, -3.0..0.0f64).prop_map(|(samples, loss, exponent)| {
        let mut labels: Vec<bool> = samples.iter().map(|sample| sample.1).collect();
        (labels[0], labels[1]) = (false, true);
        Problem {
            labels,
            rows: samples.iter().map(|sample| sample.0.clone()).collect(),
            weights: samples.iter().map(|sample| f64::from(sample.2)).collect(),
            loss,
            lambda: 10f64.powf(exponent),
        }
    })
}

impl Problem {
    fn builder(&self) -> ClassifierBuilder {
        Classifier::builder().loss_named(self.loss)
    }

    fn fit_by(&self, builder: ClassifierBuilder) -> Classifier {
        let labels = Classes::new(&self.labels.iter().map(bool::to_string).collect::<Vec<_>>());
        let data = Dataset::new(Design::from_rows(&self.rows).unwrap(), labels.unwrap()).unwrap();
        let data = data.with_weights(self.weights.clone()).unwrap();
        build(builder.lambda(self.lambda)).fit(&data).unwrap()
    }

    fn fit(&self) -> Classifier {
        self.fit_by(self.builder())
    }

    /// The rows with these indices.
    fn select(&self, indices: &[usize]) -> Self {
        Problem {
            rows: indices.iter().map(|&i| self.rows[i].clone()).collect(),
            labels: indices.iter().map(|&i| self.labels[i]).collect(),
            weights: indices.iter().map(|&i| self.weights[i]).collect(),
            ..self.clone()
        }
    }
}

fn coef(classifier: &Classifier) -> &[f64] {
    &classifier.model().members()[0].coef
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_weight_is_a_number_of_rows(problem in problem(), standardize: bool) {
        let n = problem.rows.len();
        let times = |i: usize| std::iter::repeat_n(i, problem.weights[i] as usize);
        let indices: Vec<usize> = (0..n).flat_map(times).collect();
        let mut repeated = problem.select(&indices);
        repeated.weights.fill(1.0);
        repeated.lambda *= n as f64 / indices.len() as f64;
        let fit = |problem: &Problem| problem.fit_by(problem.builder().standardize(standardize));
        let (one, other) = (fit(&problem), fit(&repeated));
        // The penalty acts on the coefficients of the scaled features; deviations are at most 2
        // here.
        let scale = if standardize { least_deviation(&repeated.rows).recip() } else { 1.0 };
        let most = scale * (radius(&one, 0) + radius(&other, 0));
        prop_assert!(distance(coef(&one), coef(&other)) <= most);
    }

    #[test]
    fn the_order_of_rows_and_columns_does_not_matter(problem in problem(), by in 1usize..9) {
        let n = problem.rows.len();
        let indices: Vec<usize> = (0..n).map(|i| (i + by) % n).rev().collect();
        let mut permuted = problem.select(&indices);
        permuted.rows.iter_mut().for_each(|row| row.rotate_left(by % 3));
        let (one, other) = (problem.fit(), permuted.fit());
        let mut expected = coef(&one).to_vec();
        expected.rotate_left(by % 3);
        prop_assert!(distance(&expected, coef(&other)) <= radius(&one, 0) + radius(&other, 0));
    }

    #[test]
    fn all_rows_twice_are_the_same_problem(problem in problem()) {
        let n = problem.rows.len();
        let twice = problem.select(&(0..2 * n).map(|i| i % n).collect::<Vec<_>>());
        let (one, other) = (problem.fit(), twice.fit());
        prop_assert!(distance(coef(&one), coef(&other)) <= radius(&one, 0) + radius(&other, 0));
    }

    #[test]
    fn the_unit_of_the_features_does_not_matter(problem in problem(), exponent in -2.0..2.0f64) {
        let c = 10f64.powf(exponent);
        let mut scaled = problem.clone();
        scaled.rows.iter_mut().flatten().for_each(|x| *x *= c);
        scaled.lambda *= c * c;
        let without = |problem: &Problem| problem.fit_by(problem.builder().intercept(false));
        let (one, other) = (without(&problem), without(&scaled));
        let scores = one.decision_function(&problem.rows).unwrap();
        let again = other.decision_function(&scaled.rows).unwrap();
        for (i, x) in problem.rows.iter().enumerate() {
            // The second radius is one of w/c.
            let most = norm(x) * (radius(&one, 0) + c * radius(&other, 0));
            prop_assert!((scores[i] - again[i]).abs() <= most + 1e-13 * scores[i].abs());
        }
    }
}

/// The least standard deviation of a column.
fn least_deviation(rows: &[Vec<f64>]) -> f64 {
    let design = Design::from_rows(rows).unwrap();
    let standardizer = margins::data::Standardizer::fit(&design, None);
    standardizer.deviations().iter().copied().fold(f64::INFINITY, f64::min)
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
