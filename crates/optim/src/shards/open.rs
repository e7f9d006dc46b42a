//! The entry points for fits to samples in shards.

use margins_data::Standardizer;
use margins_data::metrics::{self, Measure};
use margins_losses::MarginLoss;

use crate::Error;
use crate::method::Fit;
use crate::path::training::{factors, unscale};
use crate::path::{ClassWeights, Measured, Training, path_from};
use crate::problem::{FreeColumns, Lambda};
use crate::shards::sharded::State;
use crate::shards::slots::Slots;
use crate::shards::workers::sums;
use crate::shards::{
    Ask, Description, Failure, FeatureSource, FoldDraw, Message, PointStore, Request, Rule,
    Sharded, Weighting, Workers,
};
use crate::space::{Extent, Scores};

/// The binary problem that a fit to samples in shards is about.
#[derive(Debug, Clone, PartialEq)]
pub struct BinaryProblem {
    /// The class whose samples are positive; those of all others are negative.
    pub class: u32,
    /// The costs of the classes, one each, by which the weights of their samples are multiplied; 1
    /// for classes beyond them.
    pub costs: Vec<f64>,
    /// The folds of the samples; by default those stored with them.
    pub draw: Option<FoldDraw>,
    /// The fold whose samples weigh nothing, if there is one.
    pub held_out: Option<u32>,
}

impl Default for BinaryProblem {
    fn default() -> Self {
        BinaryProblem { class: 1, costs: Vec::new(), draw: None, held_out: None }
    }
}

/// Returns the minimisers of `F` at every lambda, largest first, over samples in shards, with
/// coefficients for the features as given. The observer of the training sees every fit as it is
/// made; that the training has an encoding or folds to keep does not count. A path with stored
/// points keeps each point that it reaches, and starts at those that it finds: each is certified again.
///
/// # Errors
/// [`Error::Shards`]: a round of messages failed. [`Error::OneClass`]: no positive, or no negative
/// sample has a positive weight. The errors of [`path_over`](crate::path::path_over).
pub fn path_over_shards(
    workers: &mut dyn Workers,
    training: &Training<'_, dyn MarginLoss + '_>,
    problem: &BinaryProblem,
    lambdas: &[Lambda],
    points: Option<&dyn PointStore>,
) -> Result<Vec<Fit>, Error> {
    let (mut sharded, scalings) = Sharded::open(workers, training, problem)?;
    let first = Lambda::descending(lambdas)?[0];
    sharded.points = points;
    let few = sharded.sample()?;
    let mut start = few
        .as_ref()
        .and_then(|few| sharded.start(few, first, &training.options))
        .unwrap_or_default();
    start.point = sharded.known(first).or(start.point);
    sharded.few = few.filter(|_| sharded.has_many_features());
    let mut fits = path_from(sharded, start, lambdas, &training.options, training.observer)?;
    fits.iter_mut().for_each(|fit| unscale(fit, &scalings));
    Ok(fits)
}

/// Returns the means and deviations of the features of all samples, by their weights times the costs of a
/// problem.
///
/// # Errors
/// The errors of [`Sharded::open`].
pub fn spreads_over_shards(
    workers: &mut dyn Workers,
    loss: &dyn MarginLoss,
    problem: &BinaryProblem,
) -> Result<Option<Standardizer>, Error> {
    let training = Training { standardize: true, ..Training::new(loss) };
    let (_, mut scalings) = Sharded::open(workers, &training, problem)?;
    Ok(scalings.pop())
}

/// How a rule decides samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RuleOutcome {
    /// The share of the samples that it decides wrongly, by weight.
    pub error: f64,
    /// The values of measures of the samples.
    pub measured: Measured,
}

/// Returns the weight of the samples that a problem holds out, or of all if it holds out none, and how
/// each rule decides them, by the weights that samples come with times the costs of the problem. The
/// rules are for the same classes; `partitions` has the number of rows of each partition.
///
/// A round of messages asks for as many rules as have a million coefficients. Only the area under the
/// curve brings numbers of single samples to the driver, four million in a round or those of one rule:
/// the weight and the score of each sample held out.
///
/// # Errors
/// [`Error::Shards`]: a round of messages failed, or the area under the curve is asked of rules for
/// more than two classes.
pub fn errors_over_shards(
    workers: &mut dyn Workers,
    partitions: &[usize],
    problem: &BinaryProblem,
    measure: Measure,
    rules: &[Rule],
) -> Result<(f64, Vec<RuleOutcome>), Error> {
    const COEFFICIENTS: usize = 1 << 20;
    const SCORES: usize = 1 << 22;
    let Some(first) = rules.first() else { return Ok((0.0, Vec::new())) };
    let scores = measure == Measure::Auc;
    let size: usize = first.0.iter().map(|(_, w)| w.len()).sum();
    let rows = if scores { partitions.iter().sum() } else { 0 };
    let most = (COEFFICIENTS / size.max(1)).min(SCORES / rows.max(1)).max(1);
    let of_rule = 2 * first.classes() + 2;
    let mut weight = 0.0;
    let mut outcomes = Vec::with_capacity(rules.len());
    for some in rules.chunks(most) {
        let request = Request {
            reset: false,
            define: Vec::new(),
            forget: Vec::new(),
            features: FeatureSource::Same,
            weighting: Weighting {
                costs: problem.costs.clone(),
                draw: problem.draw,
                ..Weighting::default()
            },
            ask: Ask::Errors { fold: problem.held_out, rules: some.to_vec(), scores },
        };
        let replies = workers.round(&Message::of(&request)).map_err(Error::Shards)?;
        let sums = sums(replies, partitions.len()).map_err(Error::Shards)?;
        let is_whole = sums.added.len() == of_rule * some.len()
            && sums.listed.len().is_multiple_of(some.len() + 1);
        if !is_whole {
            return Err(Error::Shards("a shard answered another question".into()));
        }
        for (k, of_rule) in sums.added.chunks(of_rule).enumerate() {
            let (of_classes, costs) = of_rule.split_at(of_rule.len() - 2);
            weight = of_classes.iter().step_by(2).sum();
            let mean = |sum: f64| if weight > 0.0 { sum / weight } else { 0.0 };
            let known = |sum: f64| Some(mean(sum)).filter(|mean| !mean.is_nan());
            let log_loss = known(costs[0]);
            let value = match measure {
                Measure::Error => None,
                Measure::BalancedError => mean_rate(of_classes),
                Measure::LogLoss => log_loss,
                Measure::Brier => known(costs[1]),
                Measure::Auc => area(&sums.listed, some.len(), k),
            };
            let wrong = of_classes.iter().skip(1).step_by(2).sum();
            let measured = Measured { log_loss, value };
            outcomes.push(RuleOutcome { error: mean(wrong), measured });
        }
    }
    Ok((weight, outcomes))
}

/// Returns the mean error rate of the classes that have weight, given the weight of each class and of
/// its samples decided wrongly.
fn mean_rate(of_classes: &[f64]) -> Option<f64> {
    let with_weight = of_classes.chunks(2).filter(|of_class| of_class[0] > 0.0);
    let rates: Vec<f64> = with_weight.map(|of_class| of_class[1] / of_class[0]).collect();
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
}

/// Returns the area under the curve of the k-th of some rules, given the samples that
/// [`Ask::Errors`] lists; `None` unless both classes have weight.
fn area(listed: &[f64], rules: usize, k: usize) -> Option<f64> {
    let samples = || listed.chunks(rules + 1);
    let scores: Vec<f64> = samples().map(|of_row| of_row[k + 1]).collect();
    let signs: Vec<f64> = samples().map(|of_row| of_row[0].signum()).collect();
    let weights: Vec<f64> = samples().map(|of_row| of_row[0].abs()).collect();
    metrics::auc(&scores, &signs, Some(&weights)).ok()
}

/// The samples of all partitions in short.
struct Whole {
    /// The number of rows that are not held out.
    rows: usize,
    features: usize,
    totals: [f64; 2],
    squares: [f64; 2],
    sparse: bool,
    stored: usize,
    extent: Extent,
}

impl<'a> Sharded<'a> {
    /// Returns the samples of shards, and how their features are scaled, one scaling after another.
    ///
    /// # Errors
    /// [`Error::Shards`]: the shards cannot be asked, or do not fit together. [`Error::OneClass`]:
    /// no sample of a class has a positive weight.
    pub fn open(
        workers: &'a mut dyn Workers,
        training: &Training<'a, dyn MarginLoss + 'a>,
        problem: &BinaryProblem,
    ) -> Result<(Self, Vec<Standardizer>), Error> {
        let BinaryProblem { class, draw, held_out, .. } = *problem;
        let costs = problem.costs.clone();
        let mut sharded = Sharded {
            workers,
            loss: training.loss,
            weighting: Weighting { class, positive: 1.0, negative: 1.0, costs, draw, held_out },
            intercept: training.intercept,
            free: FreeColumns::default(),
            partitions: 0,
            shape: (0, 0),
            sparse: false,
            stored: 0,
            extent: Extent::default(),
            totals: [0.0; 2],
            mean_square: 0.0,
            factors: None,
            smoothing: 0.0,
            centre: None,
            points: None,
            few: None,
            slots: Slots::default(),
            state: State::default(),
            rounds: 0,
            failure: None,
        };
        let mut whole = sharded.whole(held_out).map_err(Error::Shards)?;
        let standardizer = match training.standardize {
            true => Some(sharded.spreads(&whole).map_err(Error::Shards)?),
            false => None,
        };
        let penalty = training.penalty_on(None, whole.features)?;
        let scalings: Vec<_> = standardizer.into_iter().chain(penalty.roots().cloned()).collect();
        sharded.factors = factors(&scalings);
        if sharded.factors.is_some() {
            whole = sharded.whole(held_out).map_err(Error::Shards)?;
        }
        sharded.weigh(&whole, training.class_weights, training.of_rows.unwrap_or(whole.rows))?;
        (sharded.shape, sharded.sparse) = ((whole.rows, whole.features), whole.sparse);
        (sharded.extent, sharded.stored) = (whole.extent, whole.stored);
        sharded.set_free(penalty.free().clone());
        Ok((sharded, scalings))
    }

    /// Returns all partitions in short.
    fn whole(&mut self, held_out: Option<u32>) -> Result<Whole, Failure> {
        let all = self.describe()?;
        self.partitions = all.len();
        let Some(first) = all.first() else { return Err("there are no partitions".into()) };
        let loss = self.loss.specification();
        for (k, one) in all.iter().enumerate() {
            let Description { features, .. } = *first;
            if one.features != features {
                let found = one.features;
                return Err(format!(
                    "partition {k} has {found} features, partition 0 has {features}"
                )
                .into());
            }
            if one.loss != loss {
                return Err(format!("partition {k} has loss '{}', not '{loss}'", one.loss).into());
            }
            // No rows need no folds.
            if held_out.is_some() && !one.has_folds && one.rows > 0 {
                return Err(format!("partition {k} has no fold numbers").into());
            }
        }
        let sum = |of: fn(&Description) -> [f64; 2]| {
            all.iter().map(of).fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d])
        };
        Ok(Whole {
            rows: all.iter().map(|one| one.rows).sum(),
            features: first.features,
            totals: sum(|one| one.totals),
            squares: sum(|one| one.squares),
            sparse: all.iter().any(|one| one.sparse),
            stored: all.iter().map(|one| one.stored).sum(),
            extent: Extent::of_parts(all.iter().map(|one| &one.extent)),
        })
    }

    /// Sets the weights of the samples, and what follows from them.
    fn weigh(
        &mut self,
        whole: &Whole,
        class_weights: ClassWeights,
        of_rows: usize,
    ) -> Result<(), Error> {
        for (total, name) in whole.totals.iter().zip(["+1", "-1"]) {
            if *total <= 0.0 {
                return Err(Error::OneClass(name.to_owned()));
            }
        }
        let all: f64 = whole.totals.iter().sum();
        let factor = |total: f64| {
            let of_class = match class_weights {
                ClassWeights::AsGiven => 1.0,
                ClassWeights::Balanced => all / (2.0 * total),
            };
            of_class / of_rows as f64
        };
        let [positive, negative] = whole.totals.map(factor);
        (self.weighting.positive, self.weighting.negative) = (positive, negative);
        self.totals = [positive * whole.totals[0], negative * whole.totals[1]];
        self.mean_square = positive * whole.squares[0] + negative * whole.squares[1];
        Ok(())
    }

    /// Returns the means and deviations of the features.
    fn spreads(&mut self, whole: &Whole) -> Result<Standardizer, Failure> {
        let p = whole.features;
        let total: f64 = whole.totals.iter().sum();
        let magnitudes = whole.extent.magnitudes();
        let mut ask = |centres: Vec<f64>| {
            let ask = Ask::Columns { magnitudes: magnitudes.clone(), centres };
            let answer = self.sum(ask, 3 * p, 2 * p);
            self.failure.take().map_or(Ok(answer), Err)
        };
        let first = ask(vec![0.0; p])?;
        let centres: Vec<f64> = (0..p).map(|j| first.added[3 * j + 1] / total).collect();
        let second = ask(centres.clone())?;
        let columns = (0..p).map(|j| {
            let [stored, residual, squares] =
                [second.added[3 * j], second.added[3 * j + 1], second.added[3 * j + 2]];
            let (least, most) = (-second.largest[2 * j], second.largest[2 * j + 1]);
            let (centre, zeros) = (centres[j], (total - stored).max(0.0));
            // What rounding left in the mean is taken out of the squares, and of the mean.
            let residual = residual - zeros * centre;
            let squares = squares + zeros * centre * centre - residual * residual / total;
            let deviation = magnitudes[j] * (squares.max(0.0) / total).sqrt();
            let is_constant = least >= most || !deviation.recip().is_finite();
            let mean = (centre + residual / total) * magnitudes[j];
            (mean, if is_constant { 0.0 } else { deviation })
        });
        let (means, deviations) = columns.unzip();
        Ok(Standardizer::of(means, deviations))
    }
}
