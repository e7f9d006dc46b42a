//! Samples in shards: the same bits for any number of shards, and the certificates of the whole.

mod joint;
mod merged;
mod pairs;
mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use margins_calibration::probability::Scheme;
use margins_data::blocks::{BlockFile, BlockSettings};
use margins_data::metrics::{self, Judged, Measure};
use margins_data::{Dataset, Design, Labels, Memory};
use margins_losses::MarginLoss;
use margins_optim::path::ClassWeights;
use margins_optim::problem::PenaltyFactors;
use margins_optim::shards::{
    Answer, Ask, BinaryProblem, Block, Failure, FeatureSource, FoldDraw, Message, OnDisk,
    PointStore, Reply, Request, Resident, Rule, RuleOutcome, Shard, Sharded, Threads, Weighting,
    Workers, errors_over_shards, path_over_shards,
};
use margins_optim::{Error, Fit, Lambda, Measured, Options, Training, lambda_grid};
use margins_test_support::{mixture, weighted};

use support::{Forgetful, Loss, bits, data, loss, partitions, sparse, threads};

/// How rules of two classes decide.
const TWO: (Scheme, usize) = (Scheme::Binary, 2);

fn options() -> Options<'static> {
    Options { tolerance: 1e-9, ..Options::default() }
}

fn grid() -> Vec<Lambda> {
    lambda_grid(1.0, 1e-5, 12).expect("a grid")
}

fn training(loss: &Loss) -> Training<'_, dyn MarginLoss> {
    Training { options: options(), ..Training::new(&**loss) }
}

/// Returns the fits to all samples, in so many shards.
fn solve(
    data: &Dataset,
    loss: &Loss,
    training: &Training<'_, dyn MarginLoss>,
    count: usize,
) -> Vec<Fit> {
    let mut workers = threads(data, loss, count);
    path_over_shards(&mut workers, training, &BinaryProblem::default(), &grid(), None)
        .expect("a path")
}

/// Returns the number of rows of every partition.
fn sizes(data: &Dataset) -> Vec<usize> {
    partitions(data).iter().map(|block| block.rows().len()).collect()
}

fn is_near(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() <= 1e-12,
        (found, expected) => found == expected,
    }
}

fn assert_agree(fits: &[Fit], expected: &[Fit], what: &str) {
    assert_eq!(fits.len(), expected.len());
    for (one, other) in fits.iter().zip(expected) {
        let what = format!("{what} at {}", one.lambda);
        assert!(one.report.converged() && other.report.converged(), "{what}: {:?}", one.report);
        let (a, b) = (one.report.objective, other.report.objective);
        assert!((a - b).abs() <= 2e-9 * a.abs().max(b.abs()), "{what}: {a} and {b}");
    }
}

#[test]
fn standardisation_and_class_weights_are_those_in_memory() {
    for data in [weighted(data()), sparse(&weighted(data())), data()] {
        for (standardize, class_weights) in [
            (true, ClassWeights::AsGiven),
            (false, ClassWeights::Balanced),
            (true, ClassWeights::Balanced),
        ] {
            let loss = loss("logistic");
            let training = Training { standardize, class_weights, ..training(&loss) };
            let fits = solve(&data, &loss, &training, 2);
            let expected = training.path(&data, &grid()).expect("a path");
            assert_agree(&fits, &expected, &format!("{standardize} {class_weights:?}"));
            // The bound of the gap on the distance of coefficients, of the standardised features.
            for (one, other) in fits.iter().zip(&expected).take(6) {
                for (a, b) in one.coef.iter().zip(&other.coef) {
                    assert!((a - b).abs() <= 1e-3 * (1.0 + b.abs()), "{a} and {b}");
                }
            }
        }
    }
}

/// Penalty factors, those of 0 too, dense and sparse, with kinks and without.
#[test]
fn penalty_factors_are_those_in_memory() {
    let data = weighted(data());
    let factors: Vec<f64> =
        (0..data.columns()).map(|j| [1.0, 0.0, 3.0, 0.0, 0.5][j.min(4)]).collect();
    let factors = PenaltyFactors::of_columns(factors).expect("factors");
    for name in ["logistic", "lhs", "hinge", "margin-pursuit:gamma=1,scale=1"] {
        let loss = loss(name);
        for (intercept, standardize) in [(true, false), (true, true), (false, false)] {
            let sparse = (intercept && standardize).then(|| sparse(&data));
            for data in [Some(&data), sparse.as_ref()].into_iter().flatten() {
                let training =
                    Training { intercept, standardize, penalty: Some(&factors), ..training(&loss) };
                let fits = solve(data, &loss, &training, 3);
                let expected = training.path(data, &grid()).expect("a path");
                let statuses =
                    |fits: &[Fit]| fits.iter().map(|fit| fit.report.status).collect::<Vec<_>>();
                assert_eq!(
                    statuses(&fits),
                    statuses(&expected),
                    "{name} {intercept} {standardize}"
                );
                assert_agree(&fits, &expected, &format!("{name} {intercept} {standardize}"));
            }
        }
    }
}

/// Samples that are held out weigh nothing: the fit is that of the others.
#[test]
fn a_fold_is_held_out() {
    let data = weighted(data());
    let rows: Vec<usize> = {
        // The blocks number folds by the row in the whole.
        (0..data.rows()).filter(|i| i % 3 != 1).collect()
    };
    let part = data.select(&rows);
    let loss = loss("lhs");
    for standardize in [false, true] {
        for of_rows in [None, Some(data.rows())] {
            let training = Training { standardize, of_rows, ..training(&loss) };
            let problem = BinaryProblem { held_out: Some(1), ..BinaryProblem::default() };
            let mut workers = threads(&data, &loss, 3);
            let fits =
                path_over_shards(&mut workers, &training, &problem, &grid(), None).expect("a path");
            assert_agree(&fits, &training.path(&part, &grid()).expect("a path"), "held out");
        }
    }
}

/// Errors and measures of rules are those of the scores in memory, with costs.
#[test]
fn errors_are_those_in_memory() {
    let data = weighted(data());
    let loss = loss("logistic");
    let mut workers = threads(&data, &loss, 3);
    let costs = [2.0, 0.5];
    let training = training(&loss);
    let problem = BinaryProblem { costs: costs.to_vec(), ..BinaryProblem::default() };
    let fits = path_over_shards(&mut workers, &training, &problem, &grid(), None).expect("a path");
    let rules: Vec<Rule> =
        fits.iter().map(|fit| Rule(vec![(fit.intercept, fit.coef.clone())])).collect();
    let problem = BinaryProblem { held_out: Some(2), ..problem };
    let cost_of = |y: &f64| costs[usize::from(*y > 0.0)];
    let of_rows: Vec<f64> = data.labels().signs().iter().map(cost_of).collect();
    let costly = data.clone().with_costs(&of_rows).expect("one per row");
    let fold: Vec<usize> = (0..data.rows()).filter(|i| i % 3 == 2).collect();
    let of_fold = |values: &[f64]| -> Vec<f64> { fold.iter().map(|&i| values[i]).collect() };
    let (signs, weights) =
        (of_fold(data.labels().signs()), of_fold(costly.weights().expect("some")));
    let classes: Vec<usize> = signs.iter().map(|&y| usize::from(y > 0.0)).collect();
    // Sizes for which each round asks for one rule.
    let (sizes, large) = (sizes(&data), [&[1 << 40][..], &sizes(&data)[1..]].concat());
    for measure in Measure::ALL {
        let mut errors = |sizes: &[usize]| {
            errors_over_shards(&mut workers, sizes, &problem, Some(measure), TWO, &rules)
                .expect("errors")
        };
        let (weight, outcomes) = errors(&sizes);
        assert_eq!(outcomes, errors(&large).1);
        let total: f64 = weights.iter().sum();
        assert!((weight - total).abs() <= 1e-12 * total, "{weight} and {total}");
        for (fit, RuleOutcome { error, measured }) in fits.iter().zip(outcomes) {
            let scores = of_fold(&fit.decision_function(data.design()));
            let wrong: Vec<bool> =
                scores.iter().zip(&signs).map(|(&u, &y)| metrics::is_mistake(u, y)).collect();
            let second = |&score: &f64| loss.probability(score).expect("logistic");
            let probabilities: Vec<f64> =
                scores.iter().map(second).flat_map(|p| [1.0 - p, p]).collect();
            let judged = Judged {
                count: 2,
                classes: &classes,
                wrong: &wrong,
                scores: Some(&scores),
                probabilities: Some(&probabilities),
                weights: Some(&weights),
            };
            let expected = Measured::of(&judged, measure);
            for (found, expected) in [
                (Some(error), judged.measure(Measure::Error)),
                (measured.log_loss, expected.log_loss),
                (measured.value, expected.value),
            ] {
                assert!(is_near(found, expected), "{measure}: {found:?} and {expected:?}");
            }
        }
    }
    assert_agree(&fits, &training.path(&costly, &grid()).expect("a path"), "costs");
}

/// The largest of several scores decides, of equal ones the first; a row may be of any class.
#[test]
fn several_scores_decide_by_the_largest() {
    let rows = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [1.0, 1.0]];
    let design = Design::from_rows(&rows).expect("finite");
    let block = Block::new(design, vec![0, 1, 2, 0]).expect("one per row");
    let mut blocks = Resident::default();
    blocks.insert(0, block);
    let mut workers = Threads::new(vec![Shard::new(loss("logistic"), blocks)]);
    let members = vec![(0.0, vec![1.0, 0.0]), (0.0, vec![0.0, 1.0]), (0.0, vec![-1.0, -1.0])];
    let rules = vec![Rule(members.clone()), Rule(members.into_iter().rev().collect())];
    let (all, of) = (BinaryProblem::default(), (Scheme::OneVersusRest, 3));
    let infinite = [Rule(vec![(0.0, vec![f64::MAX; 2]); 3])];
    let refused = errors_over_shards(&mut workers, &[4], &all, None, of, &infinite);
    let refused = refused.expect_err("a score that overflows").to_string();
    assert!(refused.starts_with("partition 0, row 3: the score is -inf"), "{refused}");
    let mut errors = |measure: Measure| {
        errors_over_shards(&mut workers, &[4], &all, Some(measure), of, &rules)
            .map_err(|e| e.to_string())
    };
    let (weight, outcomes) = errors(Measure::Error).expect("errors");
    assert_eq!((weight, outcomes[0].error, outcomes[1].error), (4.0, 0.0, 0.75));
    // Not -0, as which no error would be printed with a sign.
    assert!(outcomes[0].error.is_sign_positive());
    assert_eq!(outcomes[0].measured.value, None);
    let second = |u: f64| 1.0 / (1.0 + (-u).exp());
    let [half, one, less] = [0.0, 1.0, -1.0].map(second);
    let normal = |p: [f64; 3]| p.map(|of_class| of_class / p.iter().sum::<f64>());
    let probabilities =
        [[one, half, less], [half, one, less], [less, less, second(2.0)], [one, one, second(-2.0)]]
            .map(normal);
    let judged = Judged {
        count: 3,
        classes: &[0, 1, 2, 0],
        wrong: &[false; 4],
        scores: None,
        probabilities: Some(probabilities.as_flattened()),
        weights: None,
    };
    for measure in [Measure::LogLoss, Measure::Brier, Measure::BalancedError] {
        let (found, expected) =
            (errors(measure).expect("errors").1[0].measured, Measured::of(&judged, measure));
        assert!(is_near(found.value, expected.value), "{measure}: {found:?} and {expected:?}");
        assert!(is_near(found.log_loss, expected.log_loss), "{measure}: {found:?}");
    }
    // The second rule errs on every row of the first and of the last class.
    let balanced = errors(Measure::BalancedError).expect("errors").1[1].measured.value;
    assert_eq!(balanced, Some(2.0 / 3.0));
    let refused = errors(Measure::Auc).expect_err("three classes");
    assert!(refused.contains("by the scores of two classes alone"), "{refused}");
}

#[test]
fn bits_do_not_depend_on_the_number_of_shards() {
    let data = weighted(data());
    for name in ["logistic", "lhs", "squared-hinge", "hinge"] {
        let loss = loss(name);
        let training = Training { standardize: true, ..training(&loss) };
        let one = bits(&solve(&data, &loss, &training, 1));
        for count in [2, 3, 8] {
            assert_eq!(bits(&solve(&data, &loss, &training, count)), one, "{name} {count}");
        }
    }
}

/// A rebuilt shard recomputes products, and the duals about which a loss with a kink is smoothed.
#[test]
fn lost_shards_change_no_bit() {
    let data = weighted(data());
    for name in ["logistic", "hinge"] {
        let loss = loss(name);
        let expected = bits(&solve(&data, &loss, &training(&loss), 3));
        let mut workers = Forgetful::new(&data, &loss);
        let problem = BinaryProblem::default();
        let fits = path_over_shards(&mut workers, &training(&loss), &problem, &grid(), None);
        assert_eq!(bits(&fits.expect("a path")), expected, "{name}");
    }
}

/// Workers that answer a number of rounds and then never again.
struct Mortal(Threads<Resident, dyn MarginLoss>, usize);

impl Workers for Mortal {
    fn round(&mut self, message: &Message<'_>) -> Result<Vec<Reply>, Failure> {
        if self.1 == 0 {
            return Err("the worker of partition 3 has died".into());
        }
        self.1 -= 1;
        self.0.round(message)
    }
}

#[test]
fn a_failure_ends_a_path_with_its_reason() {
    let data = data();
    for name in ["logistic", "lhs"] {
        for rounds in [0, 1, 2, 3, 4, 7, 20, 50] {
            let loss = loss(name);
            let mut workers = Mortal(threads(&data, &loss, 2), rounds);
            let problem = BinaryProblem::default();
            let fits = path_over_shards(&mut workers, &training(&loss), &problem, &grid(), None);
            let Err(Error::Shards(reason)) = fits else { panic!("{rounds}: {fits:?}") };
            assert_eq!(reason.to_string(), "the worker of partition 3 has died", "{rounds}");
        }
    }
}

#[test]
fn shards_that_do_not_fit_are_refused() {
    let block = |columns: usize, classes: Vec<u32>| {
        let rows = vec![vec![1.0; columns]; classes.len()];
        Block::new(Design::from_rows(&rows).expect("finite"), classes).expect("a block")
    };
    let open = |parts: Vec<(usize, Block)>, problem: BinaryProblem| {
        let mut blocks = Resident::default();
        parts.into_iter().for_each(|(k, block)| blocks.insert(k, block));
        let mut workers = Threads::new(vec![Shard::new(loss("logistic"), blocks)]);
        match Sharded::open(&mut workers, &training(&loss("logistic")), &problem) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    let plain = BinaryProblem::default;
    let both = || vec![1, 0];
    assert_eq!(open(vec![(0, block(2, both()))], plain()), "");
    let message = open(vec![(0, block(2, both())), (1, block(3, both()))], plain());
    assert_eq!(message, "partition 1 has 3 features, partition 0 has 2");
    assert_eq!(open(Vec::new(), plain()), "there are no partitions");
    let message = open(vec![(0, block(2, both())), (2, block(2, both()))], plain());
    assert_eq!(message, "no shard answered for partition 1");
    let message = open(vec![(0, block(2, vec![1]))], plain());
    assert_eq!(message, "no sample of class '-1' has a positive weight: two classes are needed");
    let held_out = BinaryProblem { held_out: Some(0), ..plain() };
    assert_eq!(open(vec![(0, block(2, both()))], held_out), "partition 0 has no fold numbers");
}

/// The history shows the same margins as in memory.
#[test]
fn histories_are_those_in_memory() {
    let data = weighted(data());
    let loss = loss("logistic");
    let options = Options { history: true, ..options() };
    let lambda = [Lambda::new(0.01).expect("positive")];
    let mut workers = threads(&data, &loss, 2);
    let training = Training { options, ..training(&loss) };
    let fits = path_over_shards(&mut workers, &training, &BinaryProblem::default(), &lambda, None);
    let expected = training.path(&data, &lambda).expect("a path");
    let last = |fit: &Fit| fit.report.history.last().map(|entry| entry.margins);
    let (one, other) =
        (last(&fits.expect("a path")[0]).expect("kept"), last(&expected[0]).expect("kept"));
    for (a, b) in [
        (one.error, other.error),
        (one.mean, other.mean),
        (one.variance, other.variance),
        (one.skewness, other.skewness),
    ] {
        assert!((a - b).abs() <= 1e-3 * b.abs(), "{one:?} and {other:?}");
    }
}

#[cfg(feature = "serde")]
mod bytes {
    use margins_optim::problem::JointForm;
    use margins_optim::shards::{
        Answer, Ask, Definition, FoldDraw, JointProblem, Kept, Landmarks, Partial, ProximalStep,
        Request, Spot, StoredRows, Weighting,
    };

    use super::*;

    fn request() -> Request {
        let spot = Spot {
            terms: vec![(1.0, 3), (-0.25, 7)],
            intercept: f64::NEG_INFINITY,
            smoothing: 0.5,
            centre: Some(4),
        };
        Request {
            reset: true,
            define: vec![
                Definition { slot: 3, kept: Kept::Products(Arc::new(vec![0.1, -2.0, 1e300])) },
                Definition {
                    slot: 4,
                    kept: Kept::Duals {
                        from: Some(2),
                        steps: vec![ProximalStep {
                            coef: Arc::new(vec![1.0, 0.0, -3.0]),
                            intercept: -0.5,
                            strength: 0.125,
                        }],
                    },
                },
            ],
            forget: vec![1, 2],
            features: FeatureSource::Of(Arc::new(Landmarks {
                kernel: "gaussian:sigma=0.5".to_owned(),
                features: 3,
                beside: vec![0, 3],
                scales: Some(vec![1.0, 0.5, 2.0]),
                sparse: true,
                samples: StoredRows {
                    lengths: vec![1, 2],
                    columns: vec![2, 0, 1],
                    values: vec![0.25, -1.0, 3.5],
                },
                factor: vec![1.0, 0.5, 0.0, 0.75],
            })),
            weighting: Weighting {
                class: 3,
                against: Some(1),
                positive: 0.5,
                negative: 0.25,
                costs: vec![1.5, 2.0],
                draw: Some(FoldDraw { count: 5, seed: 1 << 60 }),
                held_out: Some(2),
                joint: Some(Arc::new(JointProblem {
                    form: JointForm::Multinomial,
                    classes: vec![0, 2, 3],
                    intercepts: true,
                })),
            },
            ask: Ask::Slopes { at: vec![spot.clone(), Spot::default()], direction: Some(spot) },
        }
    }

    #[test]
    fn messages_return_as_they_were() {
        let bytes = request().to_bytes().expect("bytes");
        assert_eq!(Request::from_bytes(&bytes).expect("a message"), request());
        let partial =
            Partial { added: vec![1.0, f64::INFINITY], largest: vec![-0.0], listed: Vec::new() };
        let replies = [Reply { partition: 4, answer: Answer::Sums(partial) }];
        let bytes = Reply::all_to_bytes(&replies).expect("bytes");
        assert_eq!(Reply::all_from_bytes(&bytes).expect("answers"), replies);
    }

    #[test]
    fn other_bytes_are_refused() {
        let bytes = request().to_bytes().expect("bytes");
        let refusal = |bytes: &[u8]| Request::from_bytes(bytes).expect_err("refused").to_string();
        assert_eq!(refusal(b"abc"), "the message is cut short");
        assert_eq!(refusal(b"abcdefghij"), "the bytes are no message to or from a shard");
        let mut other = bytes.clone();
        other[4] = 9;
        assert!(refusal(&other).starts_with("the message has version 9, this program speaks 4"));
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(refusal(&longer), "1 bytes stand behind the message");
        for len in 6..bytes.len() {
            assert!(Request::from_bytes(&bytes[..len]).is_err(), "{len}");
        }
    }
}

/// Drawn folds depend on seed and partition alone, and every class is spread evenly.
#[test]
fn drawn_folds_hold_out_every_sample_once() {
    let data = data();
    let loss = loss("logistic");
    let sizes = sizes(&data);
    let all = |shards: usize, seed: u64| -> Vec<(f64, Vec<RuleOutcome>)> {
        let mut workers = threads(&data, &loss, shards);
        let fold = |k: u32| {
            let draw = Some(FoldDraw { count: 4, seed });
            let problem = BinaryProblem { draw, held_out: Some(k), ..BinaryProblem::default() };
            // Every sample is decided to be positive: the error is the share of the negative ones.
            let rules = vec![Rule(vec![(1.0, vec![0.0; data.columns()])])];
            errors_over_shards(&mut workers, &sizes, &problem, None, TWO, &rules).expect("errors")
        };
        (0..4).map(fold).collect()
    };
    let folds = all(1, 7);
    assert_eq!(folds, all(3, 7));
    assert_ne!(folds, all(1, 8));
    let rows: f64 = folds.iter().map(|(weight, _)| weight).sum();
    assert_eq!(rows, data.rows() as f64);
    let negative = data.labels().signs().iter().filter(|&&y| y < 0.0).count() as f64;
    for (weight, errors) in &folds {
        // Every partition is off by at most one sample per class.
        let slack = 2.0 * sizes.len() as f64;
        assert!((weight - rows / 4.0).abs() <= slack, "{folds:?}");
        assert!((weight * errors[0].error - negative / 4.0).abs() <= slack, "{folds:?}");
    }
}

/// Workers that sample rows with one sign too few.
struct Careless(Threads<Resident, dyn MarginLoss>);

impl Workers for Careless {
    fn round(&mut self, message: &Message<'_>) -> Result<Vec<Reply>, Failure> {
        let mut replies = self.0.round(message)?;
        for reply in &mut replies {
            if let Answer::Sampled(sampled) = &mut reply.answer {
                sampled.signs.pop();
            }
        }
        Ok(replies)
    }
}

#[test]
fn sampled_rows_whose_parts_do_not_fit_are_refused() {
    let (data, loss) = (mixture(14_000, 10), loss("logistic"));
    let mut workers = Careless(threads(&data, &loss, 2));
    let problem = BinaryProblem::default();
    let refused = path_over_shards(&mut workers, &training(&loss), &problem, &grid(), None);
    let message = refused.expect_err("a sign is missing").to_string();
    assert!(message.contains("whose parts do not fit"), "{message}");
}

/// A message that asks for features in no units is refused; fuzzing found a panic.
#[test]
fn factors_that_are_not_finite_are_refused() {
    let (data, loss) = (data(), loss("logistic"));
    let factors = Some(vec![f64::INFINITY; data.columns()]);
    let request = Request {
        reset: true,
        define: Vec::new(),
        forget: Vec::new(),
        features: FeatureSource::Own,
        weighting: Weighting::default(),
        ask: Ask::Describe { factors },
    };
    let mut blocks = Resident::default();
    blocks.insert(0, Block::of(data));
    let refused = Shard::new(loss, blocks).answer(&request).expect_err("no factors");
    assert_eq!(refused.to_string(), "inf is no factor of a feature");
}

/// Rows of a file have the same bits as those in memory, however many of them are kept.
#[test]
fn a_file_has_the_bits_of_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = weighted(data());
    for (name, data) in [("dense", whole.clone()), ("sparse", sparse(&whole))] {
        let path = folder.path().join(name);
        let settings = BlockSettings { rows: Some(16), ..BlockSettings::default() };
        margins_data::blocks::write(&data, &path, settings).expect("a file");
        let file = BlockFile::open(&path).expect("a block file");
        let loss = loss("lhs");
        let training = Training { standardize: true, ..training(&loss) };
        let path = |memory: usize, shares: usize| {
            let shares = OnDisk::open(&file, shares, Memory::from_bytes(memory)).expect("enough");
            let kept: usize = shares.iter().map(OnDisk::kept).sum();
            let shards = shares.into_iter().map(|share| Shard::new(Arc::clone(&loss), share));
            let mut workers = Threads::new(shards.collect());
            let problem = BinaryProblem::default();
            (
                kept,
                path_over_shards(&mut workers, &training, &problem, &grid(), None).expect("a path"),
            )
        };
        let enough = 1 << 20;
        let (kept, expected) = path(enough, 1);
        assert_eq!(kept, file.partitions());
        assert_agree(&expected, &training.path(&data, &grid()).expect("a path"), name);
        let least = OnDisk::least(&file, 2).bytes();
        for (memory, shares) in [(enough, 2), (least + 3 * file.bytes_of(0), 1), (least, 2)] {
            let (kept, fits) = path(memory, shares);
            assert_eq!(memory == enough, kept == file.partitions(), "{kept}");
            assert_eq!(bits(&fits), bits(&expected), "{name} {memory} {shares}");
        }
        let refused = OnDisk::open(&file, 1, Memory::from_bytes(1000)).expect_err("too little");
        assert!(refused.to_string().contains("cannot be used in"), "{refused}");
    }
}

/// Many samples begin with a fit to some of them, which saves steps over all, and the same bits come
/// out for any number of shards.
#[test]
fn many_samples_begin_with_some_of_them() {
    let loss = loss("logistic");
    let lambda = [Lambda::new(1e-3).expect("positive")];
    let report = |rows: usize, count: usize| {
        let data = mixture(rows, 10);
        let problem = BinaryProblem::default();
        let mut workers = threads(&data, &loss, count);
        let fits = path_over_shards(&mut workers, &training(&loss), &problem, &lambda, None)
            .expect("a path");
        let whole = training(&loss).path(&data, &lambda).expect("a path");
        assert_agree(&fits, &whole, "many");
        (bits(&fits), fits[0].report.iterations)
    };
    let (few, many) = (report(1000, 2), report(14_000, 2));
    assert!(many.1 < few.1, "{} and {}", many.1, few.1);
    assert_eq!(many, report(14_000, 3));
}

/// Returns texts of some topics: sparse samples with more features than Gram matrices take.
fn texts() -> Dataset {
    const TOPICS: usize = 16;
    const WORDS: usize = 200;
    const ROWS: usize = 1000;
    let row = |i: usize| -> Vec<(usize, f64)> {
        let (topic, other) = (i * 7 % TOPICS, i * i % TOPICS);
        let word = |k: usize| {
            let of = if k.is_multiple_of(3) { other } else { topic };
            // A few words are in most texts of a topic, others in few.
            of * WORDS + (i * (k + 1) * 31 % WORDS) * k / 40
        };
        let mut words: Vec<usize> = (0..40).map(word).collect();
        words.sort_unstable();
        words.dedup();
        words.into_iter().map(|word| (word, 0.2 + (word % 5) as f64 * 0.1)).collect()
    };
    let rows: Vec<_> = (0..ROWS).map(row).collect();
    let design = Design::from_sparse_rows(&rows, TOPICS * WORDS).expect("finite");
    let sign =
        |i: usize| if (i * 7 % TOPICS).is_multiple_of(2) == (i % 5 != 1) { 1.0 } else { -1.0 };
    let labels = Labels::from_signs((0..ROWS).map(sign).collect()).expect("two classes");
    Dataset::new(design, labels).expect("as many labels")
}

/// Where every product takes a round, samples that the driver has fetched save rounds.
#[test]
fn fetched_samples_precondition_products() {
    let (data, loss) = (texts(), loss("logistic"));
    let lambdas = [1e-4, 1e-6].map(|lambda| Lambda::new(lambda).expect("positive"));
    let options = Options { tolerance: 1e-6, ..Options::default() };
    let training = Training { options, ..Training::new(&*loss) };
    let solve = |most: usize, count: usize| {
        let mut workers = threads(&data, &loss, count).with_most_sampled(most);
        path_over_shards(&mut workers, &training, &BinaryProblem::default(), &lambdas, None)
            .expect("a path")
    };
    let stored = data.design().stored();
    let (without, with) = (solve(0, 2), solve(stored / 2, 2));
    for (one, other) in with.iter().zip(&without) {
        assert!(one.report.converged() && other.report.converged());
        let (a, b) = (one.report.objective, other.report.objective);
        assert!((a - b).abs() <= 2e-6 * a, "{a} and {b}");
    }
    let rounds = |fits: &[Fit]| fits.iter().map(|fit| fit.report.rounds).sum::<usize>();
    let (few, many) = (rounds(&with), rounds(&without));
    assert!(2 * few < many, "{few} rounds with samples, {many} without");
    assert_eq!(bits(&solve(stored / 2, 1)), bits(&with));
    // All of the samples: the fit begins at its end.
    assert!(rounds(&solve(stored, 3)) < few);
}

/// Points in memory.
#[derive(Default)]
struct Kept(Mutex<BTreeMap<u64, (f64, Vec<f64>)>>);

impl PointStore for Kept {
    fn find(&self, lambda: Lambda) -> Option<(f64, Vec<f64>)> {
        self.0.lock().expect("not poisoned").get(&lambda.get().to_bits()).cloned()
    }

    fn keep(&self, lambda: Lambda, intercept: f64, coef: &[f64]) -> Result<(), Failure> {
        let point = (intercept, coef.to_vec());
        self.0.lock().expect("not poisoned").insert(lambda.get().to_bits(), point);
        Ok(())
    }
}

/// Workers that fail from some round on, and count the rounds.
struct Counted<'c> {
    workers: Threads<Resident, dyn MarginLoss>,
    rounds: &'c mut usize,
    last: usize,
}

impl Workers for Counted<'_> {
    fn round(&mut self, message: &Message<'_>) -> Result<Vec<Reply>, Failure> {
        *self.rounds += 1;
        if *self.rounds > self.last {
            return Err("the driver was killed".into());
        }
        self.workers.round(message)
    }

    /// A driver that could hold all samples would start again in as few rounds.
    fn most_sampled(&self) -> usize {
        0
    }
}

/// An interrupted path continues from its stored points, in fewer rounds, to the same minima.
#[test]
fn a_path_goes_on_from_its_places() {
    for name in ["logistic", "hinge"] {
        let (data, loss) = (weighted(data()), loss(name));
        let options = Options { tolerance: 1e-7, ..Options::default() };
        let training = Training { options, standardize: true, ..training(&loss) };
        let lambdas = lambda_grid(1.0, 1e-3, 6).expect("a grid");
        let run = |last: usize, kept: &Kept| {
            let mut rounds = 0;
            let mut workers =
                Counted { workers: threads(&data, &loss, 2), rounds: &mut rounds, last };
            let problem = BinaryProblem::default();
            let fits = path_over_shards(&mut workers, &training, &problem, &lambdas, Some(kept));
            (fits, rounds)
        };
        let (whole, all) = run(usize::MAX, &Kept::default());
        let whole = whole.expect("a path");
        for share in [0.3, 0.6, 0.9] {
            let kept = Kept::default();
            let (killed, _) = run((share * all as f64) as usize, &kept);
            assert!(killed.is_err());
            let (fits, rounds) = run(usize::MAX, &kept);
            assert!(rounds < all, "{name}: {rounds} of {all}");
            for (fit, other) in fits.expect("a path").iter().zip(&whole) {
                let (a, b) = (fit.report.objective, other.report.objective);
                assert!(fit.report.converged(), "{name} {:?}", fit.report);
                assert!((a - b).abs() <= 2e-7 * a.abs().max(b.abs()), "{name}: {a} and {b}");
            }
        }
    }
}
