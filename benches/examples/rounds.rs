//! Counts the messages of fits over shards: `cargo run --release -p margins-benches --example rounds
//! -- FILE LOSS LAMBDA[,LAMBDA...] [standardize] [sampled=VALUES]`, over eight partitions, to a relative
//! gap of 1e-6. The driver may fetch so many values of a sample.

use std::collections::BTreeMap;
use std::sync::Arc;

use margins::data::read::{self, ReadOptions};
use margins::losses::{LossRegistry, MarginLoss};
use margins::optim::shards::{
    Ask, BinaryProblem, Block, Failure, MOST_SAMPLED, Message, Reply, Resident, Shard, Threads,
    Workers, path_over_shards,
};
use margins::optim::{Fit, Lambda, Training};

const PARTITIONS: usize = 8;

/// Workers that count the messages of each kind.
struct Counted<'c> {
    workers: Threads<Resident, dyn MarginLoss>,
    messages: &'c mut BTreeMap<&'static str, usize>,
}

impl Workers for Counted<'_> {
    fn most_sampled(&self) -> usize {
        self.workers.most_sampled()
    }

    fn round(&mut self, message: &Message<'_>) -> Result<Vec<Reply>, Failure> {
        *self.messages.entry(kind(&message.request().ask)).or_default() += 1;
        self.workers.round(message)
    }
}

fn kind(ask: &Ask) -> &'static str {
    match ask {
        Ask::Describe { .. } => "describe",
        Ask::Columns { .. } => "columns",
        Ask::Risks(_) => "risks",
        Ask::Slopes { .. } => "slopes",
        Ask::Sums { gradient: true, .. } => "gradient",
        Ask::Sums { .. } => "sums",
        Ask::Diagonal(_) => "diagonal",
        Ask::Normal { .. } => "product",
        Ask::Gram(_) => "gram",
        Ask::Sample { .. } => "sample",
        Ask::Margins(_) => "margins",
        Ask::Moments { .. } => "moments",
        _ => "duals",
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, loss, lambdas, rest @ ..] = &arguments[..] else {
        return Err("FILE LOSS LAMBDA[,LAMBDA...] [standardize] [sampled=VALUES]".into());
    };
    let (mut standardize, mut most_sampled) = (false, MOST_SAMPLED);
    for option in rest {
        match option.strip_prefix("sampled=") {
            Some(values) => most_sampled = values.parse()?,
            None if option == "standardize" => standardize = true,
            None => return Err(format!("what is {option}?").into()),
        }
    }
    let data = read::dataset(path, &ReadOptions::default())?;
    let loss: Arc<dyn MarginLoss> = Arc::from(LossRegistry::standard().parse(loss)?);
    let mut resident = Resident::default();
    for k in 0..PARTITIONS {
        let bounds = [k, k + 1].map(|k| k * data.rows() / PARTITIONS);
        let rows: Vec<usize> = (bounds[0]..bounds[1]).collect();
        resident.insert(k, Block::of(data.select(&rows)));
    }
    let mut messages = BTreeMap::new();
    let workers = Threads::new(vec![Shard::new(Arc::clone(&loss), resident)]);
    let workers = workers.with_most_sampled(most_sampled);
    let counted = Counted { workers, messages: &mut messages };
    let training = Training { standardize, ..Training::new(&*loss) };
    let lambdas = lambdas.split(',').map(|lambda| Ok(Lambda::new(lambda.parse()?)?));
    let lambdas = lambdas.collect::<Result<Vec<_>, Box<dyn std::error::Error>>>()?;
    let fits = path_over_shards(counted, &training, &BinaryProblem::default(), &lambdas, None)?;
    for Fit { lambda, report, .. } in &fits {
        let (status, gap, rounds) = (report.status, report.relative_gap, report.rounds);
        println!(
            "lambda {lambda}: {status:?}, gap {gap:.1e}, {rounds} rounds, F {}",
            report.objective
        );
    }
    println!("{} messages: {messages:?}", messages.values().sum::<usize>());
    Ok(())
}
