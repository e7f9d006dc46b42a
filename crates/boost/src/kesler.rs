//! Several classes in one game: the perceptron on the vectors of Kesler's construction.

use std::iter::once;

use margins_data::{ClassLabels, Classes, DenseRows, Design, Labels, Sample, SparseRows};
use margins_optim::online::{LinearClassifier, OnlineLearner, Scorer};
use serde::{Deserialize, Serialize};

use crate::{Combination, Ensemble, Error};

/// Returns samples of several classes in the form of Kesler's construction, for a
/// [`Game`](crate::Game) of a [`KeslerPerceptron`].
///
/// A sample x of class y stands for a vector `z_r` for each rival class `r != y`, with x in the
/// coordinates of y, `-x` in those of r and 0 in all others. Linear functions `f_k(x) = <W_k, x>`
/// decide for y if `<W, z_r> = f_y(x) - f_r(x) > 0` for all r, so that every vector is positive. The
/// design has the number of the class, from 1, behind the features of each sample, and all labels are
/// +1.
///
/// # Errors
/// Another number of classes than of samples; samples that do not fit into memory.
///
/// Source: Duda and Hart, *Pattern classification and scene analysis* (1973), section 5.12.
pub fn kesler_samples(design: &Design, classes: &Classes) -> Result<(Design, Labels), Error> {
    Error::check_len("classes", design.rows(), classes.len())?;
    let (rows, features) = (design.rows(), design.columns());
    let number = |row: usize| (classes.index(row) + 1) as f64;
    let labelled = if design.is_sparse() {
        let counts = design.samples().map(|x| x.stored() + 1);
        let mut labelled = SparseRows::new(counts, features + 1)?;
        for (row, x) in design.samples().enumerate() {
            if let Sample::Sparse { columns, values, .. } = x {
                labelled.place_row(row, columns.iter().copied(), values)?;
            }
            labelled.place(row, features, number(row))?;
        }
        labelled.finish()?
    } else {
        let mut labelled = DenseRows::new(rows, features + 1)?;
        for (row, x) in design.samples().enumerate() {
            if let Sample::Dense(values) = x {
                labelled.append(values.iter().copied().chain(once(number(row))))?;
            }
        }
        labelled.finish()?
    };
    Ok((labelled, Labels::with_classes(&vec!["right"; rows], "wrong", "right")?))
}

/// Returns the features of a sample of [`kesler_samples`] and its class, from 0; `None` if it has none.
pub fn kesler_sample<'a>(x: &Sample<'a>) -> (Sample<'a>, Option<usize>) {
    let class = |number: f64| (number >= 1.0).then(|| number as usize - 1);
    match *x {
        Sample::Dense(values) => match values.split_last() {
            Some((&number, values)) => (Sample::Dense(values), class(number)),
            None => (*x, None),
        },
        Sample::Sparse { columns, values, features } => {
            let features = features.saturating_sub(1);
            match (columns.split_last(), values.split_last()) {
                (Some((&last, columns)), Some((&number, values))) if last == features => {
                    (Sample::Sparse { columns, values, features }, class(number))
                }
                _ => (Sample::Sparse { columns, values, features }, None),
            }
        }
    }
}

/// Returns the place of the largest score, the first of several.
fn largest(scores: &[f64]) -> usize {
    (1..scores.len()).fold(0, |best, k| if scores[k] > scores[best] { k } else { best })
}

/// A linear function `f_k(x) = b_k + <W_k, x>` for each class, of which the largest decides; of several
/// the first.
///
/// Its score of a sample of [`kesler_samples`] of class y is the margin `f_y(x) - max f_r(x)` over the
/// rivals `r != y`, NaN if some f_k(x) is not finite. It is right where the margin is above 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearClasses {
    functions: Vec<LinearClassifier>,
}

/// The margin of a sample, its class, and the best of the rivals.
struct Contest {
    margin: f64,
    class: usize,
    rival: usize,
}

impl LinearClasses {
    /// Returns the classifier of the functions of the classes, in their order.
    pub fn new(functions: Vec<LinearClassifier>) -> Self {
        LinearClasses { functions }
    }

    /// Returns the functions of the classes.
    pub fn functions(&self) -> &[LinearClassifier] {
        &self.functions
    }

    /// Returns the scores `f_k(x)` of a sample without its class.
    pub fn scores(&self, x: &Sample<'_>) -> Vec<f64> {
        self.functions.iter().map(|function| function.score(x)).collect()
    }

    /// Returns the contest of a sample of a class with its rivals; `None` without a class, or if a
    /// score is not finite.
    fn contest(&self, (x, class): (Sample<'_>, Option<usize>)) -> Option<Contest> {
        let scores = self.scores(&x);
        let class = class.filter(|&class| class < scores.len())?;
        let rivals = (0..scores.len()).filter(|&rival| rival != class);
        let better = |best: usize, rival: usize| {
            if scores[rival] > scores[best] { rival } else { best }
        };
        let rival = rivals.reduce(better)?;
        let finite = scores.iter().all(|score| score.is_finite());
        finite.then(|| Contest { margin: scores[class] - scores[rival], class, rival })
    }
}

impl Scorer for LinearClasses {
    fn score(&self, x: &Sample<'_>) -> f64 {
        self.contest(kesler_sample(x)).map_or(f64::NAN, |contest| contest.margin)
    }

    fn columns(&self) -> Option<usize> {
        let features = self.functions.first().map_or(0, |function| function.coef.len());
        // Functions that were read from a file may differ; no design has 0 columns.
        let agree = self.functions.iter().all(|function| function.coef.len() == features);
        Some(if agree { features + 1 } else { 0 })
    }
}

/// The perceptron of several classes, on samples of [`kesler_samples`]: on a mistake, where the function
/// of class y is not larger than that of the best rival r, `W_y` moves by x and `W_r` by `-x`.
///
/// It is the perceptron on the vectors `z_r` of Kesler's construction, of which the one of the best
/// rival is the furthest on the wrong side. As `||z_r||^2 = 2 ||x||^2`, it makes at most
/// `2 (R/gamma)^2` mistakes on samples of norm at most R if some W with `sum_k ||W_k||^2 = 1` has
/// `f_y(x) - f_r(x) >= gamma` for all of them and all rivals; R and gamma count an intercept as a feature
/// of value 1. With two classes, `W_2 - W_1` is twice the [perceptron](margins_optim::online::Perceptron).
///
/// ```
/// use margins_boost::{Fol, FocusedPlayer, Horizon, KeslerPerceptron, Stop, kesler_samples};
/// use margins_data::{Classes, Design};
///
/// let design = Design::from_rows(&[[1.0, 0.0], [-0.5, 0.8], [-0.4, -0.9], [0.9, 0.3]])?;
/// let classes = Classes::new(&["a", "b", "c", "a"])?;
/// let (samples, labels) = kesler_samples(&design, &classes)?;
/// let (player, learner) = (FocusedPlayer::new(4)?, KeslerPerceptron::new(2, 3));
/// let horizon = Horizon::classification(4, 0.01, 50.0)?;
/// let mut game = Fol::new(player, learner, &samples, &labels, horizon, 1)?;
/// assert!(game.run(Stop::Consistent)?.consistent_at.is_some());
/// // The share of votes for a class less those against it.
/// let shares = game.ensemble().class_scores(&design.sample(1));
/// assert!(shares[1] > shares[0] && shares[1] > shares[2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Source: Crammer and Singer, *Ultraconservative online algorithms for multiclass problems* (JMLR
/// 2003), for the update of the best rival.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeslerPerceptron {
    classifier: LinearClasses,
    has_intercept: bool,
}

impl KeslerPerceptron {
    /// Returns a perceptron at the origin, with an intercept for each class, for samples of so many
    /// features without their class.
    pub fn new(features: usize, classes: usize) -> Self {
        let functions = vec![LinearClassifier::zero(features); classes];
        KeslerPerceptron { classifier: LinearClasses::new(functions), has_intercept: true }
    }

    /// Fixes the intercepts at 0.
    #[must_use]
    pub fn without_intercept(self) -> Self {
        KeslerPerceptron { has_intercept: false, ..self }
    }
}

impl Scorer for KeslerPerceptron {
    fn score(&self, x: &Sample<'_>) -> f64 {
        self.classifier.score(x)
    }

    fn columns(&self) -> Option<usize> {
        self.classifier.columns()
    }
}

impl OnlineLearner for KeslerPerceptron {
    type Snapshot = LinearClasses;

    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), margins_optim::Error> {
        let (x, class) = kesler_sample(x);
        let contest = self.classifier.contest((x, class));
        let contest = contest.ok_or(margins_optim::Error::Diverged(f64::NAN))?;
        if y * contest.margin <= 0.0 {
            for (class, sign) in [(contest.class, y), (contest.rival, -y)] {
                let function = &mut self.classifier.functions[class];
                x.add_to(sign, &mut function.coef);
                if self.has_intercept {
                    function.intercept += sign;
                }
            }
        }
        Ok(())
    }

    fn snapshot(&self) -> LinearClasses {
        self.classifier.clone()
    }
}

impl Ensemble<LinearClasses> {
    /// Returns the score of every class for a sample without its class, of which the largest decides,
    /// the first of several; NaN if a score of a member is not finite, which a vote would hide.
    ///
    /// Of a majority it is the share of the members that decide for the class less the share of those
    /// that do not, of an average the mean of the functions. Where more than half of the members are
    /// right, so is this plurality (corollary 1); where the mean of the margins is above 0, so is the
    /// average, because `max_r f_r` is convex.
    pub fn class_scores(&self, x: &Sample<'_>) -> Vec<f64> {
        let members = self.members();
        let mut sums = vec![0.0; members.first().map_or(0, |member| member.functions.len())];
        for member in members {
            let scores = member.scores(x);
            match self.combination() {
                _ if !scores.iter().all(|score| score.is_finite()) => sums.fill(f64::NAN),
                Combination::Majority => {
                    sums.get_mut(largest(&scores)).into_iter().for_each(|sum| *sum += 1.0);
                }
                Combination::Average => sums.iter_mut().zip(scores).for_each(|(sum, s)| *sum += s),
            }
        }
        let count = members.len().max(1) as f64;
        let score = |sum: f64| match self.combination() {
            Combination::Majority => (2.0 * sum - count) / count,
            Combination::Average => sum / count,
        };
        sums.into_iter().map(score).collect()
    }

    /// Returns the one classifier whose functions are the means of those of the members; `None` without
    /// members. For a majority it is another classifier than the ensemble.
    pub fn mean_classes(&self) -> Option<LinearClasses> {
        let count = self.members().first()?.functions.len();
        let of = |class: usize| self.members().iter().map(move |member| &member.functions[class]);
        let means = (0..count).map(|class| LinearClassifier::mean(of(class)));
        means.collect::<Option<Vec<_>>>().map(LinearClasses::new)
    }
}

#[cfg(test)]
mod tests {
    use margins_optim::online::Perceptron;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::{FocusedPlayer, Fol, Horizon, Stop};

    /// Samples of the cube [-1, 1]^p whose functions `<W_k, x>`, of sum `||W||^2 = 1`, have margins of at
    /// least gamma.
    fn separable(m: usize, p: usize, k: usize, gamma: f64, seed: u64) -> (Design, Classes) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut point = |count: usize| -> Vec<f64> {
            (0..count).map(|_| 2.0 * random.random::<f64>() - 1.0).collect()
        };
        let w = point(k * p);
        let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
        let (mut rows, mut indices) = (Vec::new(), Vec::new());
        while rows.len() < m {
            let x = point(p);
            let dot = |w: &[f64]| w.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>() / norm;
            let scores: Vec<f64> = w.chunks_exact(p).map(dot).collect();
            let class = largest(&scores);
            let rivals = (0..k).filter(|&rival| rival != class).map(|rival| scores[rival]);
            if scores[class] - rivals.fold(f64::NEG_INFINITY, f64::max) >= gamma {
                rows.push(x);
                indices.push(class as u32);
            }
        }
        let names = (0..k).map(|class| format!("class {class}")).collect();
        (Design::from_rows(&rows).unwrap(), Classes::from_indices(indices, names).unwrap())
    }

    /// Returns the samples stored sparsely.
    fn sparse(design: &Design) -> Design {
        let row = |x: Sample<'_>| {
            let mut row = Vec::new();
            x.for_each(|column, value| row.push((column, value)));
            row
        };
        let rows: Vec<Vec<(usize, f64)>> = design.samples().map(row).collect();
        Design::from_sparse_rows(&rows, design.columns()).unwrap()
    }

    #[test]
    fn mistakes_keep_to_the_bound_of_kesler() {
        for seed in 0..20 {
            let (p, k, gamma) = (3, 2 + seed as usize % 4, 0.1);
            let (design, classes) = separable(40, p, k, gamma, seed);
            let (samples, labels) = kesler_samples(&design, &classes).unwrap();
            let mut learner = KeslerPerceptron::new(p, k).without_intercept();
            let (mut mistakes, mut before) = (0, usize::MAX);
            while mistakes != before {
                before = mistakes;
                for (x, &y) in samples.samples().zip(labels.signs()) {
                    mistakes += usize::from(learner.score(&x) <= 0.0);
                    learner.step(&x, y).unwrap();
                }
            }
            let largest = design.samples().map(|x| x.squared_norm()).fold(0.0, f64::max);
            assert!(mistakes as f64 <= 2.0 * largest / (gamma * gamma), "{mistakes}");
            assert!(samples.samples().all(|x| learner.score(&x) > 0.0));
        }
    }

    /// The perceptron on the vectors themselves, of k p features, fed with that of the best rival.
    #[test]
    fn it_is_the_perceptron_on_the_vectors_of_the_construction() {
        let (p, k) = (3, 4);
        let (design, classes) = separable(60, p, k, 0.01, 7);
        let (samples, labels) = kesler_samples(&design, &classes).unwrap();
        let mut learner = KeslerPerceptron::new(p, k).without_intercept();
        let mut plain = Perceptron::new(k * p).without_intercept();
        for (row, (x, &y)) in samples.samples().zip(labels.signs()).enumerate() {
            let own = classes.index(row);
            let vector = |rival: usize| {
                let mut vector = vec![0.0; k * p];
                design.sample(row).add_to(1.0, &mut vector[own * p..][..p]);
                design.sample(row).add_to(-1.0, &mut vector[rival * p..][..p]);
                vector
            };
            let rivals = (0..k).filter(|&rival| rival != own).map(vector);
            let score = |vector: &[f64]| plain.score(&Sample::Dense(vector));
            let worst = rivals.min_by(|a, b| score(a).total_cmp(&score(b))).unwrap();
            assert!((score(&worst) - learner.score(&x)).abs() < 1e-12);
            learner.step(&x, y).unwrap();
            plain.step(&Sample::Dense(&worst), 1.0).unwrap();
            let rows: Vec<f64> =
                learner.snapshot().functions.iter().flat_map(|f| f.coef.clone()).collect();
            let plain = plain.snapshot().coef;
            let differences = rows.iter().zip(&plain).map(|(a, b)| (a - b).abs());
            assert!(differences.fold(0.0, f64::max) < 1e-12);
        }
    }

    /// With two classes the updates coincide, and with them draws, losses and classifiers.
    #[test]
    fn with_two_classes_it_is_the_binary_game() {
        let (design, classes) = separable(50, 3, 2, 0.02, 4);
        let horizon = Horizon::new(900, 21).unwrap();
        let player = || FocusedPlayer::new(50).unwrap();
        let labels = classes.against_rest(1);
        let binary = Perceptron::new(3);
        let mut binary = Fol::new(player(), binary, &design, &labels, horizon, 3).unwrap();
        let (samples, positive) = kesler_samples(&design, &classes).unwrap();
        let several = KeslerPerceptron::new(3, 2);
        let mut several = Fol::new(player(), several, &samples, &positive, horizon, 3).unwrap();
        assert_eq!(several.run(Stop::Never).unwrap(), binary.run(Stop::Never).unwrap());
        assert!(binary.ending().seen_loss > 0.0);
        let pairs = several.ensemble().members().iter().zip(binary.ensemble().members());
        for (several, binary) in pairs {
            assert_eq!(&several.functions[1], binary);
            let negated = |w: &f64| -w;
            assert_eq!(
                several.functions[0].coef,
                binary.coef.iter().map(negated).collect::<Vec<_>>()
            );
        }
    }

    /// Theorem 1 with the bound of Kesler's construction, and corollary 1 for the plurality.
    #[test]
    fn where_most_members_are_right_so_is_the_plurality() {
        for seed in 0..10 {
            let (m, p, k, gamma) = (30, 3, 3, 0.2);
            let (design, classes) = separable(m, p, k, gamma, seed);
            let (samples, labels) = kesler_samples(&design, &classes).unwrap();
            let mistakes = 2.0 * p as f64 / (gamma * gamma);
            let horizon = Horizon::classification(m, 1e-3, mistakes).unwrap();
            let learner = KeslerPerceptron::new(p, k).without_intercept();
            let player = FocusedPlayer::new(m).unwrap();
            let mut game = Fol::new(player, learner, &samples, &labels, horizon, seed).unwrap();
            assert!(game.run(Stop::Never).unwrap().seen_loss <= mistakes);
            let ensemble = game.ensemble();
            for (row, x) in samples.samples().enumerate() {
                let wrong = ensemble.members().iter().filter(|h| h.score(&x) <= 0.0).count();
                assert!(wrong as f64 <= 0.49 * ensemble.members().len() as f64, "{row}: {wrong}");
                let shares = ensemble.class_scores(&design.sample(row));
                assert_eq!(largest(&shares), classes.index(row));
                assert!((shares.iter().sum::<f64>() - (2.0 - k as f64)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn sparse_samples_have_their_class_and_the_same_game() {
        let (design, classes) = separable(30, 4, 3, 0.05, 2);
        let both = [design.clone(), sparse(&design)].map(|design| {
            let (samples, labels) = kesler_samples(&design, &classes).unwrap();
            for (row, x) in samples.samples().enumerate() {
                let (own, class) = kesler_sample(&x);
                assert_eq!((own, class), (design.sample(row), Some(classes.index(row))));
            }
            let (player, learner) = (FocusedPlayer::new(30).unwrap(), KeslerPerceptron::new(4, 3));
            let horizon = Horizon::new(300, 7).unwrap();
            let mut game = Fol::new(player, learner, &samples, &labels, horizon, 1).unwrap();
            game.run(Stop::Never).unwrap();
            game.ensemble().class_scores(&design.sample(3))
        });
        assert_eq!(both[0], both[1]);
        assert!(kesler_samples(&design.select(&[0, 1]), &classes).is_err());
    }

    #[test]
    fn votes_count_by_hand_and_hide_no_overflow() {
        let function = |w: f64| LinearClassifier { intercept: 0.0, coef: vec![w] };
        let member = |w: [f64; 3]| LinearClasses::new(w.map(function).to_vec());
        let members =
            vec![member([1.0, 0.0, 2.0]), member([0.0, 0.0, 0.0]), member([0.0, 0.5, 1.0])];
        let x = Sample::Dense(&[1.0]);
        let of = |how| Ensemble::new(how, members.clone()).class_scores(&x);
        let third = 1.0 / 3.0;
        for (found, expected) in [
            (of(Combination::Majority), [-third, -1.0, third]),
            (of(Combination::Average), [third, 0.5 * third, 1.0]),
        ] {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?}");
        }
        let mean = Ensemble::new(Combination::Average, members.clone()).mean_classes().unwrap();
        assert_eq!(mean.scores(&x), of(Combination::Average));
        let overflow = [members, vec![member([f64::MAX, f64::MAX, 0.0])]].concat();
        let overflow = Ensemble::new(Combination::Majority, overflow);
        assert!(overflow.class_scores(&Sample::Dense(&[2.0])).iter().all(|score| score.is_nan()));
        // A number that is no class, and functions of different features.
        assert!(member([1.0, 0.0, 0.0]).score(&Sample::Dense(&[1.0, 4.0])).is_nan());
        assert!(member([1.0, 0.0, 0.0]).score(&Sample::Dense(&[1.0, 0.0])).is_nan());
        let uneven = LinearClasses::new(vec![function(1.0), LinearClassifier::zero(2)]);
        assert_eq!(uneven.columns(), Some(0));
    }
}
