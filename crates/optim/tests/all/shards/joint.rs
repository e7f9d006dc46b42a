//! Several classes in one problem over samples in shards.

use margins_data::{ClassLabels, Classes, Dataset};
use margins_losses::MarginLoss;
use margins_optim::path::{ClassWeights, JointFit};
use margins_optim::problem::{JointForm, PenaltyFactors};
use margins_optim::shards::{BinaryProblem, Block, Workers, joint_path_over_shards};
use margins_optim::{Error, Lambda, Options, Status, Training};
use margins_test_support::{dense, lambda};

use super::support::{Forgetful, Loss, in_shards, loss};

const FORMS: [JointForm; 2] = [JointForm::Pairwise, JointForm::Multinomial];

/// Returns weighted samples of four classes, of which the last has no weight.
pub(crate) fn data() -> Dataset<Classes> {
    let class = |i: usize| if i.is_multiple_of(17) { 3 } else { (i * i + i / 3) % 3 };
    let entry = |i: usize, j: usize| {
        let noise = ((i * 37 + j * 101 + i * i * 13 + i * j * 7) % 199) as f64 / 99.5 - 1.0;
        if (i + 2 * j).is_multiple_of(5) { 0.0 } else { noise + f64::from(u8::from(class(i) == j)) }
    };
    let rows: Vec<Vec<f64>> = (0..120).map(|i| (0..4).map(|j| entry(i, j)).collect()).collect();
    let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    let classes = Classes::from_indices((0..120).map(|i| class(i) as u32).collect(), names);
    let weight = |i: usize| if class(i) == 3 { 0.0 } else { 0.5 + (i % 3) as f64 };
    Dataset::new(dense(&rows), classes.expect("classes"))
        .and_then(|data| data.with_weights((0..120).map(weight).collect()))
        .expect("one per row")
}

/// Returns partitions, with folds: one without rows, one of one class alone.
pub(crate) fn partitions(data: &Dataset<Classes>) -> Vec<Block> {
    let class = |i: usize| data.labels().index(i);
    let (one, mixed): (Vec<usize>, Vec<usize>) =
        (0..data.rows()).partition(|&i| class(i) == 1 && i < 40);
    let mut parts = vec![one, Vec::new()];
    parts.extend(mixed.chunks(23).map(<[usize]>::to_vec));
    let block = |rows: &Vec<usize>| {
        let classes = rows.iter().map(|&i| class(i) as u32).collect();
        let weights = rows.iter().map(|&i| data.weights().map_or(1.0, |c| c[i])).collect();
        let folds = rows.iter().map(|i| (i % 3) as u32).collect();
        Block::new(data.design().select(rows), classes)
            .and_then(|block| block.with_weights(weights))
            .and_then(|block| block.with_folds(folds))
            .expect("a block")
    };
    parts.iter().map(block).collect()
}

fn lambdas() -> [Lambda; 2] {
    [0.3, 0.01].map(lambda)
}

fn solve(
    workers: &mut dyn Workers,
    training: &Training<'_, dyn MarginLoss>,
    form: JointForm,
    problem: &BinaryProblem,
) -> Vec<JointFit> {
    joint_path_over_shards(workers, training, (form, 4), problem, &lambdas(), None).expect("fits")
}

fn bits(fits: &[JointFit]) -> Vec<u64> {
    let of = |fit: &JointFit| {
        let numbers = [fit.report.objective, fit.report.duality_gap];
        let coefs = fit.coefs.iter().flatten().chain(&fit.intercepts).copied();
        coefs.chain(numbers).map(f64::to_bits).collect::<Vec<_>>()
    };
    fits.iter().flat_map(of).collect()
}

fn assert_agree(fits: &[JointFit], expected: &[JointFit], what: &str) {
    assert_eq!(fits.len(), expected.len());
    for (one, other) in fits.iter().zip(expected) {
        let (one, other) = ((one, &one.report), (other, &other.report));
        assert_eq!(one.0.classes, other.0.classes, "{what}");
        let unbounded = |report: &margins_optim::Report| report.status == Status::Unbounded;
        if unbounded(one.1) && unbounded(other.1) {
            continue;
        }
        assert!(one.1.converged() && other.1.converged(), "{what}: {:?} {:?}", one.1, other.1);
        let (a, b) = (one.1.objective, other.1.objective);
        assert!((a - b).abs() <= one.1.duality_gap + other.1.duality_gap, "{what}: {a} and {b}");
    }
}

/// Every loss, with and without intercepts, has the minimum that it has in memory, and the same bits for
/// any number of shards, lost ones too.
#[test]
fn fits_are_those_in_memory_for_any_number_of_shards() {
    let data = data();
    for (name, tolerance) in
        [("logistic", 1e-9), ("lhs", 1e-9), ("hinge", 1e-6), ("squared-hinge", 1e-9)]
    {
        let loss = loss(name);
        for form in FORMS {
            if form == JointForm::Multinomial && name != "logistic" {
                continue;
            }
            for intercept in [true, false] {
                let options = Options { tolerance, ..Options::default() };
                let training = Training { options, intercept, ..Training::new(&*loss) };
                let problem = BinaryProblem::default();
                let of = |count| {
                    let mut workers = in_shards(partitions(&data), &loss, count);
                    solve(&mut workers, &training, form, &problem)
                };
                let fits = of(1);
                let what = format!("{name} {form:?} {intercept}");
                let expected = training.joint_path(form, &data, &lambdas()).expect("fits");
                assert_agree(&fits, &expected, &what);
                assert_eq!(bits(&of(3)), bits(&fits), "{what}");
                let mut forgetful = Forgetful::of(partitions(&data), &loss);
                let kept = solve(&mut forgetful, &training, form, &problem);
                assert_agree(&kept, &fits, &what);
            }
        }
    }
}

#[test]
fn scales_weights_and_folds_are_those_in_memory() {
    let data = data();
    let rows: Vec<usize> = (0..data.rows()).filter(|i| i % 3 != 1).collect();
    let part = data.select(&rows);
    let loss: Loss = loss("logistic");
    let factors = PenaltyFactors::of_columns(vec![1.0, 3.0, 0.5, 1.0]).expect("factors");
    let options = Options { tolerance: 1e-9, ..Options::default() };
    for form in FORMS {
        for class_weights in [ClassWeights::AsGiven, ClassWeights::Balanced] {
            let training = Training {
                options,
                class_weights,
                standardize: true,
                penalty: Some(&factors),
                of_rows: Some(data.rows()),
                ..Training::new(&*loss)
            };
            let problem = BinaryProblem { held_out: Some(1), ..BinaryProblem::default() };
            let mut workers = in_shards(partitions(&data), &loss, 2);
            let fits = solve(&mut workers, &training, form, &problem);
            let expected = training.joint_path(form, &part, &lambdas()).expect("fits");
            assert_agree(&fits, &expected, &format!("{form:?} {class_weights:?}"));
            for (one, other) in fits.iter().zip(&expected) {
                let both = one.coefs.iter().flatten().zip(other.coefs.iter().flatten());
                both.for_each(|(a, b)| assert!((a - b).abs() <= 1e-3 * (1.0 + b.abs())));
            }
        }
    }
}

#[test]
fn one_class_alone_is_refused_by_its_number() {
    let data = data();
    let alone = |i: usize| f64::from(u8::from(data.labels().index(i) == 2));
    let alone = data.clone().with_weights((0..120).map(alone).collect()).expect("weights");
    let loss = loss("logistic");
    let training = Training::new(&*loss);
    let mut workers = in_shards(partitions(&alone), &loss, 2);
    let problem = BinaryProblem::default();
    let fits = joint_path_over_shards(
        &mut workers,
        &training,
        (JointForm::Pairwise, 4),
        &problem,
        &lambdas(),
        None,
    );
    assert!(matches!(fits, Err(Error::OneClass(class)) if class == "2"));
}
