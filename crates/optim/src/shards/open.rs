//! The entry points for fits to samples in shards.

use std::sync::Arc;

use margins_data::Standardizer;
use margins_losses::MarginLoss;

use crate::Error;
use crate::method::Fit;
use crate::method::SpaceKind;
use crate::path::training::{factors, unscale, unscale_coefficients};
use crate::path::{ClassWeights, JointFit, Start, Training, path_from};
use crate::problem::{FreeColumns, JointForm, Lambda};
use crate::shards::sharded::State;
use crate::shards::slots::Slots;
use crate::shards::{
    Ask, Description, Failure, FoldDraw, JointProblem, PointStore, Sharded, Weighting, Workers,
};
use crate::space::{Extent, Scores};

/// The binary problem that a fit to samples in shards is about, or one for all classes, to which the class
/// does not matter.
#[derive(Debug, Clone, PartialEq)]
pub struct BinaryProblem {
    /// The class whose samples are positive; those of all others are negative.
    pub class: u32,
    /// The only class whose samples are negative, where those of further classes are left out.
    pub against: Option<u32>,
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
        BinaryProblem { class: 1, against: None, costs: Vec::new(), draw: None, held_out: None }
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

/// Returns the minimisers at every lambda, largest first, of one [problem](crate::problem::JointObjective)
/// for all classes, of which there are so many, over samples in shards; otherwise it is
/// [`path_over_shards`]. No shard keeps a score: its memory is that of a few thousand rows times the
/// number of classes, and for a loss with a kink of one dual a sample and rival.
///
/// # Errors
/// [`Error::OneClass`]: one class alone, whose number it names, or none has a sample of positive weight.
/// [`Error::FreeColumns`]: a feature has a penalty factor of 0. The errors of
/// [`joint_path`](crate::path::joint_path) and [`path_over_shards`].
pub fn joint_path_over_shards(
    workers: &mut dyn Workers,
    training: &Training<'_, dyn MarginLoss + '_>,
    (form, classes): (JointForm, usize),
    problem: &BinaryProblem,
    lambdas: &[Lambda],
    points: Option<&dyn PointStore>,
) -> Result<Vec<JointFit>, Error> {
    training.options.check()?;
    training.options.solver.check_space(SpaceKind::Joint)?;
    if lambdas.contains(&Lambda::NONE) {
        return Err(Error::Lambda(0.0));
    }
    let joint = JointProblem {
        form,
        classes: (0..classes as u32).collect(),
        intercepts: training.intercept,
    };
    let (mut sharded, scalings) = Sharded::open_joint(workers, training, problem, &joint)?;
    sharded.points = points;
    let features = sharded.features();
    let joint = sharded.weighting.joint.clone();
    let classes: Vec<usize> =
        joint.iter().flat_map(|joint| &joint.classes).map(|&class| class as usize).collect();
    let point = sharded.known(Lambda::descending(lambdas)?[0]);
    let start = Start { point, nearness: None };
    let fits = path_from(sharded, start, lambdas, &training.options, training.observer)?;
    let features = (features, &FreeColumns::default());
    let of = |fit| JointFit::of((fit, None), &classes, features, None);
    let mut fits: Vec<JointFit> = fits.into_iter().map(of).collect();
    for coef in fits.iter_mut().flat_map(|fit| &mut fit.coefs) {
        unscale_coefficients(coef, &scalings);
    }
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

/// The samples of all partitions in short.
struct Whole {
    /// The number of rows that take part and are not held out.
    rows: usize,
    features: usize,
    /// The sums of the weights of the classes.
    totals: Vec<f64>,
    squares: Vec<f64>,
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
        let mut sharded = Sharded::unopened(workers, training, problem);
        let (mut whole, scalings, free) = sharded.set_factors(training)?;
        if sharded.factors.is_some() {
            whole = sharded.whole().map_err(Error::Shards)?;
        }
        sharded.weigh(&whole, training.class_weights, training.of_rows.unwrap_or(whole.rows))?;
        (sharded.shape, sharded.sparse) = ((whole.rows, whole.features), whole.sparse);
        (sharded.extent, sharded.stored) = (whole.extent, whole.stored);
        sharded.set_free(free);
        Ok((sharded, scalings))
    }

    /// Returns the samples of shards for a problem for all classes, of which those without weight are taken
    /// out, and how their features are scaled.
    fn open_joint(
        workers: &'a mut dyn Workers,
        training: &Training<'a, dyn MarginLoss + 'a>,
        problem: &BinaryProblem,
        joint: &JointProblem,
    ) -> Result<(Self, Vec<Standardizer>), Error> {
        let mut sharded = Sharded::unopened(workers, training, problem);
        (sharded.intercept, sharded.weighting.joint) = (false, Some(Arc::new(joint.clone())));
        let (whole, scalings, free) = sharded.set_factors(training)?;
        if !free.is_empty() {
            return Err(Error::FreeColumns { found: free.get().len(), limit: 0 });
        }
        let n = training.of_rows.unwrap_or(whole.rows) as f64;
        let present: Vec<u32> =
            joint.classes.iter().copied().filter(|&c| whole.totals[c as usize] > 0.0).collect();
        if present.len() < 2 {
            let alone = present.first().map(u32::to_string);
            return Err(Error::OneClass(alone.unwrap_or_default()));
        }
        if training.class_weights == ClassWeights::Balanced {
            let mean = whole.totals.iter().sum::<f64>() / present.len() as f64;
            let costs = &mut sharded.weighting.costs;
            costs.resize(costs.len().max(joint.classes.len()), 1.0);
            for &class in &present {
                costs[class as usize] *= mean / whole.totals[class as usize];
            }
        }
        let joint = JointProblem { classes: present, ..joint.clone() };
        let (k, intercepts) = (joint.classes.len(), joint.intercepts);
        sharded.weighting.joint = Some(Arc::new(joint));
        (sharded.weighting.positive, sharded.weighting.negative) = (1.0 / n, 1.0 / n);
        let whole = sharded.whole().map_err(Error::Shards)?;
        let penalised = k * whole.features;
        let order = penalised + if intercepts { k - 1 } else { 0 };
        (sharded.shape, sharded.sparse) = ((whole.rows * (k - 1), order), whole.sparse);
        (sharded.extent, sharded.stored) = (whole.extent, whole.stored);
        sharded.mean_square = 2.0 * (k - 1) as f64 * whole.squares.iter().sum::<f64>();
        sharded.totals = whole.totals;
        sharded.free = FreeColumns::of((penalised..order).collect());
        if let Some(factors) = &mut sharded.factors {
            *factors = factors.repeat(k);
            factors.resize(order, 1.0);
        }
        Ok((sharded, scalings))
    }

    /// Returns the number of features, of which a problem for all classes has a coefficient for each class.
    pub(super) fn features(&self) -> usize {
        let k = self.weighting.joint.as_ref().map_or(1, |joint| joint.classes.len());
        (self.shape.1 - self.free.get().len()) / k
    }

    fn unopened(
        workers: &'a mut dyn Workers,
        training: &Training<'a, dyn MarginLoss + 'a>,
        problem: &BinaryProblem,
    ) -> Self {
        let BinaryProblem { class, against, draw, held_out, .. } = *problem;
        let costs = problem.costs.clone();
        let weighting = Weighting { class, against, costs, draw, held_out, ..Weighting::default() };
        Sharded {
            workers,
            loss: training.loss,
            weighting,
            intercept: training.intercept,
            free: FreeColumns::default(),
            partitions: 0,
            shape: (0, 0),
            sparse: false,
            stored: 0,
            extent: Extent::default(),
            totals: Vec::new(),
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
        }
    }

    /// Sets the factors of the features; returns all partitions in short, as they were before, how features
    /// are scaled, and those that no penalty acts on.
    fn set_factors(
        &mut self,
        training: &Training<'a, dyn MarginLoss + 'a>,
    ) -> Result<(Whole, Vec<Standardizer>, FreeColumns), Error> {
        let whole = self.whole().map_err(Error::Shards)?;
        let standardizer = match training.standardize {
            true => Some(self.spreads(&whole).map_err(Error::Shards)?),
            false => None,
        };
        let penalty = training.penalty_on(None, whole.features)?;
        let scalings: Vec<_> = standardizer.into_iter().chain(penalty.roots().cloned()).collect();
        self.factors = factors(&scalings);
        Ok((whole, scalings, penalty.free().clone()))
    }

    /// Returns all partitions in short.
    fn whole(&mut self) -> Result<Whole, Failure> {
        let held_out = self.weighting.held_out;
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
        let joint = self.weighting.joint.as_ref();
        let classes = joint.map_or(2, |joint| joint.classes.len());
        let order = joint.map_or(first.features, |joint| joint.coefficients(first.features));
        let misfits = |one: &Description| {
            one.totals.len() != classes
                || one.squares.len() != classes
                || one.extent.features() != order
        };
        if let Some(k) = all.iter().position(misfits) {
            return Err(format!("partition {k} is not of {classes} classes").into());
        }
        let sum = |of: fn(&Description) -> &[f64]| {
            all.iter().map(of).fold(vec![0.0; classes], |mut sums, of_one| {
                sums.iter_mut().zip(of_one).for_each(|(sum, x)| *sum += x);
                sums
            })
        };
        Ok(Whole {
            rows: all.iter().map(|one| one.rows).sum(),
            features: first.features,
            totals: sum(|one| &one.totals),
            squares: sum(|one| &one.squares),
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
        let factor = |total: f64| -> f64 {
            let of_class = match class_weights {
                ClassWeights::AsGiven => 1.0,
                ClassWeights::Balanced => all / (2.0 * total),
            };
            of_class / of_rows as f64
        };
        let (positive, negative) = (factor(whole.totals[0]), factor(whole.totals[1]));
        (self.weighting.positive, self.weighting.negative) = (positive, negative);
        self.totals = vec![positive * whole.totals[0], negative * whole.totals[1]];
        self.mean_square = positive * whole.squares[0] + negative * whole.squares[1];
        Ok(())
    }

    /// Returns the means and deviations of the features.
    fn spreads(&mut self, whole: &Whole) -> Result<Standardizer, Failure> {
        let p = whole.features;
        let total: f64 = whole.totals.iter().sum();
        let mut magnitudes = whole.extent.magnitudes();
        // Differences between classes repeat the features.
        magnitudes.truncate(p);
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
