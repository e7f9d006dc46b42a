//! Two classes among several over samples in shards, and the schemes that decide between all.

use margins_calibration::probability::Scheme;
use margins_data::metrics::Measure;
use margins_data::{ClassLabels, Dataset, Labels};
use margins_losses::MarginLoss;
use margins_optim::path::{ClassWeights, Measured};
use margins_optim::shards::{
    BinaryProblem, Block, FoldDraw, Rule, Workers, errors_over_shards, path_over_shards,
};
use margins_optim::{Error, Fit, Options, Training, lambda_grid};

use super::joint::{data, partitions};
use super::support::{Forgetful, Loss, bits, in_shards, loss};

const TOLERANCE: f64 = 1e-9;

fn training(loss: &Loss) -> Training<'_, dyn MarginLoss> {
    let options = Options { tolerance: TOLERANCE, ..Options::default() };
    let class_weights = ClassWeights::Balanced;
    Training { options, standardize: true, class_weights, ..Training::new(&**loss) }
}

fn solve(workers: &mut dyn Workers, loss: &Loss, problem: &BinaryProblem) -> Vec<Fit> {
    let grid = lambda_grid(0.3, 1e-3, 4).expect("a grid");
    path_over_shards(workers, &training(loss), problem, &grid, None).expect("fits")
}

/// A problem of two classes is that of their rows alone, with folds, costs and scales of their own.
#[test]
fn a_pair_is_that_of_its_rows_in_memory() {
    let data = data();
    let costs = vec![1.0, 2.0, 0.5, 3.0];
    let grid = lambda_grid(0.3, 1e-3, 4).expect("a grid");
    for (name, first, second, held_out) in
        [("logistic", 0, 1, None), ("hinge", 2, 1, Some(1)), ("lhs", 0, 2, Some(0))]
    {
        let loss: Loss = loss(name);
        let class = |i: usize| data.labels().index(i);
        let takes_part = |i: &usize| {
            [first, second].contains(&class(*i)) && held_out.is_none_or(|fold| i % 3 != fold)
        };
        let rows: Vec<usize> = (0..data.rows()).filter(takes_part).collect();
        let sign = |&i: &usize| if class(i) == second { 1.0 } else { -1.0 };
        let weights = data.weights().expect("weights");
        let labels = Labels::from_signs(rows.iter().map(sign).collect()).expect("signs");
        let weights = rows.iter().map(|&i| costs[class(i)] * weights[i]).collect();
        let pair = Dataset::new(data.design().select(&rows), labels)
            .and_then(|pair| pair.with_weights(weights))
            .expect("one per row");
        let problem = BinaryProblem {
            class: second as u32,
            against: Some(first as u32),
            costs: costs.clone(),
            draw: None,
            held_out: held_out.map(|fold| fold as u32),
        };
        let fits = solve(&mut in_shards(partitions(&data), &loss, 1), &loss, &problem);
        let again = solve(&mut in_shards(partitions(&data), &loss, 3), &loss, &problem);
        assert_eq!(bits(&again), bits(&fits), "{name}");
        let kept = solve(&mut Forgetful::of(partitions(&data), &loss), &loss, &problem);
        let expected = training(&loss).path(&pair, &grid).expect("fits");
        for (fit, expected) in fits.iter().chain(&kept).zip(expected.iter().cycle()) {
            let (found, least) = (fit.report.objective, expected.report.objective);
            assert!(fit.report.converged());
            assert!(
                (found - least).abs() <= 2.0 * TOLERANCE * least.abs(),
                "{name}: {found} {least}"
            );
        }
    }
}

/// The folds that are drawn for all rows are those of a pair: a constant rule errs on the rows of both
/// classes as often in a fold as the objective of the others at zero says.
#[test]
fn a_pair_has_the_folds_that_are_drawn_for_all() {
    let data = data();
    let loss = loss("hinge");
    let sizes: Vec<usize> = partitions(&data).iter().map(|block| block.rows().len()).collect();
    let of_pair = |i: &usize| [1, 2].contains(&data.labels().index(*i));
    let rows = (0..data.rows()).filter(of_pair).count() as f64;
    let weight: f64 =
        (0..data.rows()).filter(of_pair).map(|i| data.weights().expect("weights")[i]).sum();
    let (mut held_out, mut trained) = (0.0, 0.0);
    for fold in 0..3 {
        let mut workers = in_shards(partitions(&data), &loss, 2);
        let draw = Some(FoldDraw { count: 3, seed: 5 });
        let held = BinaryProblem { draw, held_out: Some(fold), ..BinaryProblem::default() };
        // Classes 1 and 2 weigh something, and every row is decided to be of class 0.
        let costs = vec![0.0, 1.0, 1.0, 0.0];
        let rule = [Rule(vec![
            (1.0, vec![0.0; 4]),
            (0.0, vec![0.0; 4]),
            (0.0, vec![0.0; 4]),
            (0.0, vec![0.0; 4]),
        ])];
        let of = (Scheme::OneVersusRest, 4);
        let problem = BinaryProblem { costs, ..held.clone() };
        let found = errors_over_shards(&mut workers, &sizes, &problem, None, of, &rule);
        held_out += found.expect("errors").0;
        // With n fixed and a penalty that leaves nothing but the intercept, a hinge of equal sides is 1.
        let pair = BinaryProblem { class: 2, against: Some(1), ..held };
        let training = Training { of_rows: Some(1), ..training(&loss) };
        let grid = lambda_grid(1e9, 1e8, 2).expect("a grid");
        let fits = path_over_shards(&mut workers, &training, &pair, &grid, None).expect("fits");
        trained += fits[0].report.objective;
    }
    assert!((held_out - weight).abs() <= 1e-12 * weight);
    assert!((trained - 2.0 * weight).abs() <= 1e-6 * weight, "{trained} {weight} {rows}");
}

/// Decisions and probabilities of rules are those of their scheme.
#[test]
fn rules_decide_by_their_scheme() {
    let data = data();
    let loss = loss("logistic");
    let sizes: Vec<usize> = partitions(&data).iter().map(|block| block.rows().len()).collect();
    let (all, measure) = (BinaryProblem::default(), Measure::LogLoss);
    for scheme in [Scheme::OneVersusRest, Scheme::OneVersusOne, Scheme::Joint, Scheme::Multinomial]
    {
        let members = scheme.scores(4).expect("of four");
        let functions: Vec<(f64, Vec<f64>)> = (0..members)
            .map(|c| (0.1 * c as f64, (0..4).map(|j| ((c * j) as f64).sin()).collect()))
            .collect();
        let mut workers = in_shards(partitions(&data), &loss, 2);
        let mut errors = |functions: &[(f64, Vec<f64>)]| {
            let rules = [Rule(functions.to_vec())];
            errors_over_shards(&mut workers, &sizes, &all, Some(measure), (scheme, 4), &rules)
        };
        let (weight, found) = errors(&functions).expect("errors");
        let (mut total, mut expected, mut wrong) = (0.0, 0.0, 0.0);
        for (i, c) in data.weights().expect("weights").iter().enumerate() {
            let score = |(b, w): &(f64, Vec<f64>)| b + data.design().sample(i).dot(w);
            let scores: Vec<f64> = functions.iter().map(score).collect();
            let (mut p, class) = ([0.0; 4], data.labels().index(i));
            scheme.class_probabilities(&scores, &*loss, &mut p).expect("probabilities");
            total += c;
            expected -= c * p[class].ln();
            wrong += if scheme.decide(4, &scores) == class { 0.0 } else { *c };
        }
        let log_loss = found[0].measured.log_loss.expect("probabilities");
        assert!((weight - total).abs() <= 1e-12 * total);
        assert!((log_loss - expected / total).abs() <= 1e-12 * log_loss, "{scheme}");
        assert!((found[0].error - wrong / total).abs() <= 1e-12, "{scheme}");
        let refused = match errors(&functions[1..]) {
            Err(Error::Shards(refused)) => refused.to_string(),
            other => panic!("{other:?}"),
        };
        let expected = format!("{} functions are no {scheme} rule of 4 classes", members - 1);
        assert!(refused.contains(&expected), "{refused}");
    }
}

/// A partition of more rows than are decided at a time has the errors of all of them, and probabilities
/// only for a measure.
#[test]
fn a_large_partition_is_decided_in_parts() {
    let (data, loss, scheme) = (data(), loss("logistic"), Scheme::OneVersusOne);
    let rows: Vec<usize> = (0..3000).map(|i| i * 7 % data.rows()).collect();
    let classes = rows.iter().map(|&i| data.labels().index(i) as u32).collect();
    let block = Block::new(data.design().select(&rows), classes).expect("one per row");
    let functions: Vec<(f64, Vec<f64>)> = (0..6)
        .map(|c| (0.1 * c as f64, (0..4).map(|j| ((c * j) as f64).sin()).collect()))
        .collect();
    let score = |i: usize, (b, w): &(f64, Vec<f64>)| b + data.design().sample(i).dot(w);
    let is_wrong = |&&i: &&usize| {
        let scores: Vec<f64> = functions.iter().map(|function| score(i, function)).collect();
        scheme.decide(4, &scores) != data.labels().index(i)
    };
    let wrong = rows.iter().filter(is_wrong).count() as f64;
    let rules = [Rule(functions.clone())];
    let all = BinaryProblem::default();
    let errors = |measure: Option<Measure>| {
        let mut workers = in_shards(vec![block.clone()], &loss, 1);
        errors_over_shards(&mut workers, &[3000], &all, measure, (scheme, 4), &rules)
    };
    let (weight, outcomes) = errors(None).expect("errors");
    assert_eq!((weight, outcomes[0].error), (3000.0, wrong / 3000.0));
    assert_eq!(outcomes[0].measured, Measured { log_loss: None, value: None });
    let (_, measured) = errors(Some(Measure::LogLoss)).expect("errors");
    assert_eq!(measured[0].error, outcomes[0].error);
    assert!(measured[0].measured.log_loss.is_some());
}
