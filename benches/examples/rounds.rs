//! Counts the messages of fits over shards: `cargo run --release -p margins-benches --example rounds
//! -- FILE LOSS LAMBDA[,LAMBDA...] [standardize] [sampled=VALUES] [trials=COUNT] [copies=COUNT] [turns=COUNT]`,
//! over eight partitions on two threads, to a relative gap of 1e-6. The driver may fetch so many values of a
//! sample, a message asks for this many trial steps (by default 4, as for the workers of Dask), and the
//! rows are repeated this many times. With turns, the same fits in memory and
//! these take turns, and the medians of their times are printed (RAYON_NUM_THREADS=2 gives both as many
//! threads).

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use margins::data::Dataset;
use margins::data::read::{self, ReadOptions};
use margins::losses::{LossRegistry, MarginLoss};
use margins::optim::shards::{
    Ask, BinaryProblem, Block, Failure, MOST_SAMPLED, Message, Reply, Resident, Shard, Threads,
    Workers, path_over_shards,
};
use margins::optim::{Fit, Lambda, Training};

const PARTITIONS: usize = 8;
const WORKERS: usize = 2;

/// The number of messages of each kind.
type Messages = BTreeMap<&'static str, usize>;

/// Workers that count the messages of each kind.
struct Counted<'c> {
    workers: Threads<Resident, dyn MarginLoss>,
    trials: usize,
    messages: &'c mut Messages,
}

impl Workers for Counted<'_> {
    fn most_sampled(&self) -> usize {
        self.workers.most_sampled()
    }

    fn trials(&self) -> usize {
        self.trials
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
        Ask::ClassGrams { .. } => "grams of classes",
        Ask::Sample { .. } => "sample",
        Ask::Margins(_) => "margins",
        Ask::Merged { .. } => "merged",
        Ask::Moments { .. } => "moments",
        _ => "duals",
    }
}

/// What is counted and timed.
struct Settings {
    loss: Arc<dyn MarginLoss>,
    lambdas: Vec<Lambda>,
    standardize: bool,
    most_sampled: usize,
    trials: usize,
    copies: usize,
    turns: usize,
}

impl Settings {
    fn of(loss: &str, lambdas: &str, options: &[String]) -> Result<Self, Box<dyn Error>> {
        let lambdas = lambdas.split(',').map(|lambda| Ok(Lambda::new(lambda.parse()?)?));
        let mut settings = Settings {
            loss: Arc::from(LossRegistry::standard().parse(loss)?),
            lambdas: lambdas.collect::<Result<_, Box<dyn Error>>>()?,
            standardize: false,
            most_sampled: MOST_SAMPLED,
            trials: 4,
            copies: 1,
            turns: 0,
        };
        for option in options {
            match option.split_once('=') {
                None if option == "standardize" => settings.standardize = true,
                Some(("sampled", values)) => settings.most_sampled = values.parse()?,
                Some(("trials", count)) => settings.trials = count.parse()?,
                Some(("copies", count)) => settings.copies = count.parse()?,
                Some(("turns", count)) => settings.turns = count.parse()?,
                _ => return Err(format!("what is {option}?").into()),
            }
        }
        Ok(settings)
    }

    fn training(&self) -> Training<'_, dyn MarginLoss> {
        Training { standardize: self.standardize, ..Training::new(&*self.loss) }
    }

    /// Deals the partitions of the data to two threads, whose shards keep theirs.
    fn workers(&self, data: &Dataset) -> Threads<Resident, dyn MarginLoss> {
        let shard = |worker: usize| {
            let mut resident = Resident::default();
            for k in (worker..PARTITIONS).step_by(WORKERS) {
                let bounds = [k, k + 1].map(|k| k * data.rows() / PARTITIONS);
                let rows: Vec<usize> = (bounds[0]..bounds[1]).collect();
                resident.insert(k, Block::of(data.select(&rows)));
            }
            Shard::new(Arc::clone(&self.loss), resident)
        };
        let workers = Threads::new((0..WORKERS).map(shard).collect());
        workers.with_most_sampled(self.most_sampled)
    }

    /// Fits over the workers, and counts the messages.
    fn fits(
        &self,
        workers: Threads<Resident, dyn MarginLoss>,
    ) -> Result<(Vec<Fit>, Messages), Box<dyn Error>> {
        let mut messages = Messages::new();
        let mut counted = Counted { workers, trials: self.trials, messages: &mut messages };
        let problem = BinaryProblem::default();
        let fits = path_over_shards(&mut counted, &self.training(), &problem, &self.lambdas, None)?;
        Ok((fits, messages))
    }

    /// Times the fits in memory and over shards, alternating.
    fn time(&self, data: &Dataset) -> Result<(), Box<dyn Error>> {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..self.turns {
            let began = Instant::now();
            let fits = self.training().path(data, &self.lambdas)?;
            times[0].push(began.elapsed().as_secs_f64());
            let workers = self.workers(data);
            let began = Instant::now();
            let (shared, _) = self.fits(workers)?;
            times[1].push(began.elapsed().as_secs_f64());
            for (fit, shared) in fits.iter().zip(&shared) {
                println!(
                    "F {} in memory, {} over shards",
                    fit.report.objective, shared.report.objective
                );
            }
        }
        let [memory, shards] = times.map(median);
        println!(
            "medians of {}: {memory:.2} s in memory, {shards:.2} s over two shards, {:.2} times",
            self.turns,
            shards / memory
        );
        Ok(())
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, loss, lambdas, options @ ..] = &arguments[..] else {
        return Err("FILE LOSS LAMBDA[,LAMBDA...] [OPTION...]".into());
    };
    let settings = Settings::of(loss, lambdas, options)?;
    let data: Dataset = read::dataset(path, &ReadOptions::default())?;
    let rows: Vec<usize> = (0..settings.copies).flat_map(|_| 0..data.rows()).collect();
    let data = data.select(&rows);
    let (fits, messages) = settings.fits(settings.workers(&data))?;
    for Fit { lambda, report, .. } in &fits {
        let (status, gap, rounds) = (report.status, report.relative_gap, report.rounds);
        println!(
            "lambda {lambda}: {status:?}, gap {gap:.1e}, {rounds} rounds, F {}",
            report.objective
        );
    }
    println!("{} messages: {messages:?}", messages.values().sum::<usize>());
    if settings.turns > 0 { settings.time(&data) } else { Ok(()) }
}
