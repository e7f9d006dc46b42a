//! The median of means of the losses, minimised.

use margins_losses::{MarginLoss, OutOfRange};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::Error;
use crate::estimated_risk::{EstimatedObjective, MeanEstimate};
use crate::{uncertain, uncertified};
use margins_optim::method::{Monitor, Rule};
use margins_optim::problem::MarginSummary;
use margins_optim::{Fit, Lambda, Objective, Options};

/// Minimises the median of the mean losses over K blocks of samples.
///
/// Every step divides the N samples of positive weight among K blocks at random, finds the block B whose
/// risk `(N/|B|) sum_{i in B} (c_i/n) l_i` is the (lower) median of those of all blocks, and
/// descends on
///
/// `F_B(b, w) = (N/|B|) sum_{i in B} (c_i/n) L(y_i (b + <w, x_i>)) + lambda ||w||^2`.
///
/// A sample pulls only from within the median block, so that up to `(K - 1)/2` outliers never move
/// the median beyond the values that sound blocks allow. With one block F is the objective of
/// empirical risk minimisation, and the steps are plain subgradient steps. The source minimises the
/// median of means like this, and has no penalty; the minmax form of Lecue and Lerasle (the median
/// of differences between two classifiers) is another method.
///
/// Step t has the length `1/(kappa R^2 + 2 lambda (t + 1))`, with the curvature `kappa` of the loss
/// (1 if it has none) and the median `R^2` of `1 + ||x_i||^2`, which outliers do not shorten. The
/// result is the mean of the second half of the iterates. Features of unlike scales make the method
/// slow: standardise them.
///
/// Source: Lecue, Lerasle and Mathieu, *Robust classification via MOM minimization*, arXiv
/// 1808.03106 (2018); Machine Learning 109 (2020).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MedianOfMeans {
    blocks: usize,
    /// The number of steps, each of two passes over the data.
    pub steps: usize,
    /// The seed of the blocks.
    pub seed: u64,
}

impl MedianOfMeans {
    /// Returns the learner with 2000 steps. Outliers are no majority if the blocks are more than
    /// twice as many.
    ///
    /// # Errors
    /// [`Error::Parameter`]: there are no blocks.
    pub fn new(blocks: usize) -> Result<Self, Error> {
        if blocks == 0 {
            let requirement = "at least 1";
            return Err(OutOfRange { parameter: "blocks", value: 0.0, requirement }.into());
        }
        Ok(MedianOfMeans { blocks, steps: 2000, seed: 1 })
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Returns the mean of the second half of the iterates, which nothing certifies. The objective
    /// of the report is the median of the risks of the blocks, dealt once more, with the penalty,
    /// and its gradient is that of the median block.
    /// [`Status::RuleMet`](margins_optim::Status::RuleMet) means that all steps were made. The
    /// tolerance has no say in that; of the most iterations, [`steps`](Self::steps) at most are
    /// made.
    ///
    /// # Errors
    /// [`Error::Blocks`]: the samples of positive weight are fewer than the blocks.
    pub fn fit<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
        lambda: Lambda,
        options: &Options,
    ) -> Result<Fit, Error> {
        options.check()?;
        let estimate = MedianBlock::new(self, objective)?;
        let steps = options.max_iterations.unwrap_or(self.steps).min(self.steps);
        let curvature = objective.risk().loss().curvature().unwrap_or(1.0);
        let weights = objective.risk().weights();
        let counted = weights.iter().filter(|d| **d > 0.0).count().max(1) as f64;
        // The risk of a block is about the mean weight times the risk of its samples.
        let weight = weights.iter().sum::<f64>() * weights.len() as f64 / counted;
        let stiffness = weight * curvature * median_squared_norm(objective);
        let mut problem = EstimatedObjective::new(objective, lambda, estimate);
        let mut point = vec![0.0; problem.dimension()];
        let mut gradient = point.clone();
        let mut sum = point.clone();
        let first_averaged = steps / 2;
        // The history of medians of ever new blocks would say little.
        let quiet = Options { history: false, max_iterations: Some(steps), ..*options };
        let mut monitor = Monitor::new(&quiet, lambda, steps);
        let none = MarginSummary::unknown;
        let mut stopped = monitor.exhausted();
        while stopped.is_none() {
            let t = monitor.iterations();
            problem.estimate.deal();
            let value = problem.value_and_gradient(&point, &mut gradient);
            let length = 1.0 / (stiffness + 2.0 * lambda.get() * (t + 1) as f64);
            point.iter_mut().zip(&gradient).for_each(|(x, g)| *x -= length * g);
            if t >= first_averaged {
                sum.iter_mut().zip(&point).for_each(|(sum, x)| *sum += x);
            }
            let (passes, seen) = (problem.passes, uncertain(value, &gradient));
            monitor.count(1);
            monitor.stepped(length);
            let unmet = Rule::Own { met: false };
            stopped = monitor.judge_by(unmet, passes, &seen, &seen, none);
        }
        let made = monitor.iterations();
        if made > first_averaged {
            sum.iter_mut().for_each(|x| *x /= (made - first_averaged) as f64);
        } else {
            sum = point;
        }
        problem.estimate.deal();
        let value = problem.value_and_gradient(&sum, &mut gradient);
        let certificate = uncertain(value, &gradient);
        let passes = problem.passes;
        let cut = stopped.filter(|_| made < self.steps);
        Ok(uncertified(lambda, &sum, monitor.end_by_rule(cut, certificate), passes))
    }
}

/// Returns the median of `1 + ||x_i||^2` over samples of positive weight, the 1 for an intercept.
fn median_squared_norm<L: MarginLoss + ?Sized>(objective: &Objective<'_, L>) -> f64 {
    let samples = objective.design().samples().zip(objective.risk().weights());
    let mut squares: Vec<f64> =
        samples.filter(|(_, d)| **d > 0.0).map(|(x, _)| x.squared_norm()).collect();
    let middle = squares.len() / 2;
    1.0 + *squares.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The risk of the block of median risk.
struct MedianBlock {
    blocks: usize,
    /// The samples of positive weight, in the order of the blocks.
    order: Vec<usize>,
    random: ChaCha8Rng,
}

impl MedianBlock {
    fn new<L: MarginLoss + ?Sized>(
        settings: &MedianOfMeans,
        objective: &Objective<'_, L>,
    ) -> Result<Self, Error> {
        let weights = objective.risk().weights();
        let order: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        let (blocks, samples) = (settings.blocks, order.len());
        if blocks > samples {
            return Err(Error::Blocks { blocks, samples });
        }
        Ok(MedianBlock { blocks, order, random: ChaCha8Rng::seed_from_u64(settings.seed) })
    }

    /// Deals the samples out to new blocks.
    fn deal(&mut self) {
        self.order.shuffle(&mut self.random);
    }

    /// Returns the samples of block k; the sizes of blocks differ by at most one.
    fn block(&self, k: usize) -> &[usize] {
        let n = self.order.len();
        &self.order[k * n / self.blocks..(k + 1) * n / self.blocks]
    }
}

impl MeanEstimate for MedianBlock {
    fn estimate(&mut self, losses: &[f64], weights: &[f64], influence: &mut [f64]) -> f64 {
        let n = self.order.len() as f64;
        let risk = |k: usize| {
            let block = self.block(k);
            let sum: f64 = block.iter().map(|&i| weights[i] * losses[i]).sum();
            n / block.len() as f64 * sum
        };
        let mut risks: Vec<(f64, usize)> = (0..self.blocks).map(|k| (risk(k), k)).collect();
        let middle = (self.blocks - 1) / 2;
        let by_risk = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let (_, &mut (value, median), _) = risks.select_nth_unstable_by(middle, by_risk);
        influence.fill(0.0);
        let block = self.block(median);
        for &i in block {
            influence[i] = n / block.len() as f64 * weights[i];
        }
        value
    }
}
