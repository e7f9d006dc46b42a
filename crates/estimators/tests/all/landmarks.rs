//! Fits on Nystrom landmarks to samples that shards hold: the same bits for any number of shards, also
//! where some are lost, and the minima that fits in memory have.

use std::ops::Range;
use std::sync::Arc;

use margins_data::{ClassLabels, Classes, Dataset, Design};
use margins_estimators::regularised::{
    ClassifierSettings, CrossValidation, DataSummary, FittedClassifier, KernelChoice,
    LandmarkBlocks, Regularisation,
};
use margins_kernels::KernelRegistry;
use margins_losses::{Hinge, Logistic, MarginLoss};
use margins_model::Registry;
use margins_optim::problem::PenaltyFactors;
use margins_optim::shards::{Block, Failure, Message, Reply, Resident, Shard, Threads, Workers};
use margins_optim::{Lambda, Options, lambda_grid};
use margins_test_support::mixture;

type Loss = Arc<dyn MarginLoss>;
type Partitions = LandmarkBlocks<Resident>;

const ROWS: usize = 240;

/// Returns weighted samples of two classes with folds.
fn data() -> Dataset<Classes> {
    let data = mixture(ROWS, 10);
    let indices = (0..ROWS).map(|i| data.labels().index(i) as u32).collect();
    let names = ["ape", "bee"].map(str::to_owned).to_vec();
    let classes = Classes::from_indices(indices, names).expect("classes");
    let data = data.relabelled(classes).expect("one per row");
    let data = data.with_weights((0..ROWS).map(|i| 0.5 + (i % 4) as f64).collect());
    data.and_then(|data| data.with_folds((0..ROWS).map(|i| i * 7 % 5).collect()))
        .expect("one per row")
}

/// Returns the data with half of the values zero and not stored.
fn sparse(data: &Dataset<Classes>) -> Dataset<Classes> {
    let row = |i: usize| -> Vec<(usize, f64)> {
        let mut row = Vec::new();
        data.design().sample(i).for_each(|column, x| row.push((column, x)));
        row.retain(|(column, _)| (i + column).is_multiple_of(2));
        row
    };
    let rows: Vec<_> = (0..ROWS).map(row).collect();
    let design = Design::from_sparse_rows(&rows, data.columns()).expect("finite");
    data.clone().with_design(design).expect("as many rows")
}

/// Returns the bounds of partitions of unlike sizes, one of them without rows.
const BOUNDS: [usize; 8] = [0, 3, 3, 60, 61, 150, 200, ROWS];

fn table(data: &Dataset<Classes>) -> DataSummary {
    let partitions = BOUNDS.windows(2).map(|ends| ends[1] - ends[0]).collect();
    DataSummary { partitions, ..DataSummary::of(data) }
}

/// Returns a partition, which has weights and folds unless it is empty.
fn block(data: &Dataset<Classes>, rows: Range<usize>) -> Block {
    let (weights, folds) = (data.weights().expect("weights"), data.folds().expect("folds"));
    let design = data.design().select(&rows.clone().collect::<Vec<_>>());
    let classes = rows.clone().map(|i| data.labels().index(i) as u32).collect();
    let block = Block::new(design, classes).expect("classes");
    if rows.is_empty() {
        return block;
    }
    let block = block.with_weights(weights[rows.clone()].to_vec()).expect("weights");
    block.with_folds(folds[rows].iter().map(|&fold| fold as u32).collect()).expect("folds")
}

/// Returns the k-th of so many shards.
fn shard(
    data: &Dataset<Classes>,
    loss: &Loss,
    k: usize,
    count: usize,
) -> Shard<Partitions, dyn MarginLoss> {
    let mut blocks = Resident::default();
    for (number, ends) in BOUNDS.windows(2).enumerate().filter(|(number, _)| number % count == k) {
        blocks.insert(number, block(data, ends[0]..ends[1]));
    }
    let blocks = LandmarkBlocks::new(blocks, KernelRegistry::standard());
    Shard::new(Arc::clone(loss), if k == 0 { blocks.kept() } else { blocks })
}

fn threads(
    data: &Dataset<Classes>,
    loss: &Loss,
    count: usize,
) -> Threads<Partitions, dyn MarginLoss> {
    Threads::new((0..count).map(|k| shard(data, loss, k, count)).collect())
}

fn settings(loss: &Loss, regularisation: Regularisation) -> ClassifierSettings {
    let kernels = KernelChoice {
        specifications: vec!["gaussian:sigma=0.1".to_owned()],
        approximation: "nystrom:m=40".parse().expect("an approximation"),
        ..KernelChoice::default()
    };
    let options = Options { tolerance: 1e-8, ..Options::default() };
    ClassifierSettings {
        loss: Arc::clone(loss),
        kernels,
        options,
        regularisation,
        ..ClassifierSettings::default()
    }
}

/// Returns the settings with these features beside the kernel.
fn beside(free: &[usize], settings: ClassifierSettings) -> ClassifierSettings {
    let named = free.iter().map(|j| ((j + 1).to_string(), 0.0)).collect();
    let factors = PenaltyFactors::of_names(named).expect("factors");
    ClassifierSettings { penalty_factors: Some(factors), ..settings }
}

fn single() -> Regularisation {
    Regularisation::Single(Lambda::new(0.01).expect("positive"))
}

fn crossed() -> Regularisation {
    let lambdas = lambda_grid(1.0, 1e-2, 3).expect("a grid");
    Regularisation::CrossValidated(CrossValidation { lambdas, ..CrossValidation::default() })
}

fn bits(fitted: &FittedClassifier) -> Vec<u64> {
    let of = |fit: &margins_optim::Fit| {
        let numbers = [fit.intercept, fit.report.objective, fit.report.duality_gap];
        numbers.into_iter().chain(fit.coef.clone()).map(f64::to_bits).collect::<Vec<_>>()
    };
    fitted.fits.iter().flat_map(of).collect()
}

#[test]
fn fits_have_the_bits_of_one_shard_and_the_minimum_of_memory() {
    let dense = data();
    let registry = Registry::standard();
    for data in [sparse(&dense), dense] {
        let table = table(&data);
        for (loss, standardize, way, free) in [
            (Arc::new(Logistic) as Loss, false, single(), &[][..]),
            (Arc::new(Logistic) as Loss, true, crossed(), &[]),
            (Arc::new(Hinge) as Loss, false, single(), &[]),
            (Arc::new(Logistic) as Loss, true, single(), &[1, 9]),
            (Arc::new(Hinge) as Loss, false, single(), &[0]),
        ] {
            let settings = beside(free, settings(&loss, way));
            let settings = ClassifierSettings { standardize, ..settings };
            let solve = |count| settings.fit_distributed(&mut threads(&data, &loss, count), &table);
            let one = solve(1).expect("a fit");
            for count in [2, 3, 8] {
                assert_eq!(bits(&solve(count).expect("a fit")), bits(&one), "{count} shards");
            }
            let here = settings.fit(&data).expect("a fit");
            assert!(one.report.is_certified() && here.report.is_certified());
            let [a, b] = [&one, &here].map(|fitted| fitted.fits[0].report.objective);
            assert!((a - b).abs() <= 2e-8 * a, "{a} and {b}");
            assert_eq!(
                (&one.report.kernel, one.dimension()),
                (&here.report.kernel, here.dimension())
            );
            let linear = |of: &FittedClassifier| of.model.basis().unwrap().linear().to_vec();
            assert!(linear(&one) == free && linear(&here) == free);
            let scores = |fitted: &FittedClassifier| {
                fitted.model.decision_functions(data.design(), &registry).expect("scores")
            };
            for (a, b) in scores(&one).iter().zip(scores(&here).iter()) {
                assert!((a - b).abs() <= 1e-2, "{a} and {b}");
            }
            let best =
                |fitted: &FittedClassifier| fitted.report.curve.as_ref().map(|curve| curve.best);
            assert_eq!(best(&one), best(&here));
        }
    }
}

/// Workers of which a shard is lost and rebuilt before some of the rounds.
struct Forgetful<'d> {
    data: &'d Dataset<Classes>,
    loss: Loss,
    shards: Vec<Shard<Partitions, dyn MarginLoss>>,
    rounds: usize,
    /// The messages with landmarks.
    told: usize,
}

impl Workers for Forgetful<'_> {
    fn round(&mut self, message: &Message<'_>) -> Result<Vec<Reply>, Failure> {
        self.rounds += 1;
        let count = self.shards.len();
        let lost = self.rounds.is_multiple_of(3).then_some(self.rounds % count);
        let mut replies = Vec::new();
        for k in 0..count {
            let mut request = message.request().clone();
            if lost == Some(k) {
                self.shards[k] = shard(self.data, &self.loss, k, count);
                request = message.for_new_shard();
            } else if matches!(request.features, margins_optim::shards::FeatureSource::Of(_)) {
                self.told += 1;
            }
            replies.extend(self.shards[k].answer(&request)?);
        }
        Ok(replies)
    }
}

#[test]
fn lost_shards_get_the_landmarks_again_and_others_once() {
    let (data, loss) = (data(), Arc::new(Logistic) as Loss);
    let table = table(&data);
    let settings = beside(&[2], settings(&loss, crossed()));
    let expected = settings.fit_distributed(&mut threads(&data, &loss, 1), &table).expect("a fit");
    let shards = (0..3).map(|k| shard(&data, &loss, k, 3)).collect();
    let mut workers =
        Forgetful { data: &data, loss: Arc::clone(&loss), shards, rounds: 0, told: 0 };
    let found = settings.fit_distributed(&mut workers, &table).expect("a fit");
    assert_eq!(bits(&found), bits(&expected));
    assert!(workers.rounds > 30, "{}", workers.rounds);
    assert_eq!(workers.told, 3, "every shard gets the landmarks once");
}

/// Shards whose samples had the features of landmarks serve a linear fit after that.
#[test]
fn shards_serve_linear_fits_and_kernels_in_turn() {
    let (data, loss) = (data(), Arc::new(Logistic) as Loss);
    let table = table(&data);
    let kernel = settings(&loss, single());
    let linear = ClassifierSettings { kernels: KernelChoice::default(), ..kernel.clone() };
    let mut workers = threads(&data, &loss, 2);
    let mut fits = Vec::new();
    for settings in [&linear, &kernel, &linear, &kernel] {
        fits.push(bits(&settings.fit_distributed(&mut workers, &table).expect("a fit")));
    }
    assert!(fits[0] == fits[2] && fits[1] == fits[3] && fits[0].len() != fits[1].len());
}

#[test]
fn what_shards_cannot_make_is_refused() {
    let (data, loss) = (data(), Arc::new(Logistic) as Loss);
    let table = table(&data);
    let mut blocks = Resident::default();
    for (number, ends) in BOUNDS.windows(2).enumerate() {
        blocks.insert(number, block(&data, ends[0]..ends[1]));
    }
    let mut linear = Threads::new(vec![Shard::new(Arc::clone(&loss), blocks)]);
    let refusal = |settings: &ClassifierSettings, workers: &mut dyn Workers| {
        settings.fit_distributed(workers, &table).expect_err("refused").to_string()
    };
    let message = refusal(&settings(&loss, single()), &mut linear);
    assert!(message.contains("this shard makes no features of landmarks"), "{message}");
    let kernels = KernelChoice {
        specifications: vec!["gaussian:sigma=1".to_owned()],
        ..KernelChoice::default()
    };
    let exact = ClassifierSettings { kernels, ..settings(&loss, single()) };
    let message = refusal(&exact, &mut threads(&data, &loss, 2));
    assert!(message.contains("Nystrom features with uniform landmarks"), "{message}");
    let all: Vec<usize> = (0..data.columns()).collect();
    let unseen = beside(&all, settings(&loss, single()));
    let message = refusal(&unseen, &mut threads(&data, &loss, 2));
    assert!(message.starts_with("every feature has the penalty factor 0"), "{message}");
}
