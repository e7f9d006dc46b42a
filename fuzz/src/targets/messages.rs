//! Messages to shards, and their answers.

use std::cell::RefCell;
use std::sync::Arc;

use margins_data::Design;
use margins_data::metrics::Measure;
use margins_losses::{LossRegistry, MarginLoss};
use margins_model::Scheme;
use margins_optim::problem::JointForm;
use margins_optim::shards::{
    BinaryProblem, Block, Failure, Message, Reply, Request, Resident, Rule, Shard, Threads,
    Workers, errors_over_shards, joint_path_over_shards, path_over_shards,
};
use margins_optim::{Lambda, Options, Training};

use super::{Target, as_they_are};

type Loss = Arc<dyn MarginLoss>;

pub(super) fn targets() -> Vec<Target> {
    let loss: Loss = Arc::from(LossRegistry::standard().parse("logistic").expect("a loss"));
    let mut recorder =
        Recorder { workers: workers(&loss), requests: Vec::new(), replies: Vec::new() };
    drop(fit(&mut recorder, &loss));
    let Recorder { requests, replies, .. } = recorder;
    let shard = RefCell::new(shard(&loss, 0));
    vec![
        Target {
            name: "request",
            corpus: requests,
            words: &[],
            seal: as_they_are,
            read: Box::new(|bytes| drop(Request::from_bytes(bytes))),
            bytes_per_input_byte: 64,
            check: Box::new(move |bytes| {
                let request = Request::from_bytes(bytes).map_err(|error| error.to_string())?;
                let again = request.to_bytes().expect("what was read can be written");
                let again = Request::from_bytes(&again).expect("what was written can be read");
                assert_eq!(again.to_bytes().ok(), request.to_bytes().ok());
                let answer = shard.borrow_mut().answer(&request);
                let replies = answer.map_err(|error| error.to_string())?;
                drop(Reply::all_to_bytes(&replies).expect("an answer can be written"));
                Ok(())
            }),
        },
        Target {
            name: "reply",
            corpus: replies,
            words: &[],
            seal: as_they_are,
            read: Box::new(|bytes| drop(Reply::all_from_bytes(bytes.get(1..).unwrap_or_default()))),
            bytes_per_input_byte: 64,
            check: Box::new(move |bytes| {
                let Some((&round, bytes)) = bytes.split_first() else {
                    return Err("there is no round".to_owned());
                };
                let mut liar =
                    Liar { workers: workers(&loss), rounds: 0, round: round.into(), bytes };
                fit(&mut liar, &loss).map_err(|error| error.to_string())
            }),
        },
    ]
}

/// Returns a shard with one partition of a few rows.
fn shard(loss: &Loss, partition: usize) -> Shard<Resident, dyn MarginLoss> {
    let row = |i: usize| {
        let x = (7 * i + 3 * partition) % 11;
        [x as f64 - 5.0, ((i * i) % 5) as f64]
    };
    let design = Design::from_rows(&(0..6).map(row).collect::<Vec<_>>()).expect("finite rows");
    let block = Block::new(design, vec![0, 1, 0, 1, 1, 0]).expect("as many classes");
    let block = block.with_folds(vec![0, 0, 1, 1, 0, 1]).expect("as many folds");
    let mut blocks = Resident::default();
    blocks.insert(partition, block);
    Shard::new(Arc::clone(loss), blocks)
}

fn workers(loss: &Loss) -> Threads<Resident, dyn MarginLoss> {
    Threads::new(vec![shard(loss, 0), shard(loss, 1)])
}

/// Fits to the rows of workers, whatever they answer.
fn fit(workers: &mut dyn Workers, loss: &Loss) -> Result<(), margins_optim::Error> {
    let options = Options { max_iterations: Some(20), ..Options::default() };
    let training = Training { options, standardize: true, ..Training::new(&**loss) };
    let problem = BinaryProblem { held_out: Some(0), ..BinaryProblem::default() };
    let lambdas = [1e-1, 1e-3].map(|lambda| Lambda::new(lambda).expect("positive"));
    let fits = path_over_shards(workers, &training, &problem, &lambdas, None)?;
    let rules: Vec<Rule> =
        fits.iter().map(|fit| Rule(vec![(fit.intercept, fit.coef.clone())])).collect();
    errors_over_shards(
        workers,
        &[6, 6],
        &problem,
        Some(Measure::Auc),
        (Scheme::Binary, 2),
        &rules,
    )?;
    let pair = BinaryProblem { against: Some(0), ..problem.clone() };
    path_over_shards(workers, &training, &pair, &lambdas[..1], None)?;
    let of = (JointForm::Pairwise, 2);
    joint_path_over_shards(workers, &training, of, &problem, &lambdas[..1], None).map(drop)
}

/// Workers whose messages and answers are written down.
struct Recorder {
    workers: Threads<Resident, dyn MarginLoss>,
    requests: Vec<Vec<u8>>,
    /// The answers, behind a byte for their round.
    replies: Vec<Vec<u8>>,
}

impl Workers for Recorder {
    fn round(&mut self, message: &Message<'_>) -> Result<Vec<Reply>, Failure> {
        self.requests.push(message.for_new_shard().to_bytes()?);
        let replies = self.workers.round(message)?;
        let round = u8::try_from(self.replies.len()).unwrap_or(u8::MAX);
        self.replies.push([vec![round], Reply::all_to_bytes(&replies)?].concat());
        Ok(replies)
    }
}

/// Workers that answer one round with other bytes.
struct Liar<'b> {
    workers: Threads<Resident, dyn MarginLoss>,
    rounds: usize,
    round: usize,
    bytes: &'b [u8],
}

impl Workers for Liar<'_> {
    fn round(&mut self, message: &Message<'_>) -> Result<Vec<Reply>, Failure> {
        let replies = self.workers.round(message)?;
        self.rounds += 1;
        if self.rounds - 1 == self.round { Reply::all_from_bytes(self.bytes) } else { Ok(replies) }
    }
}
