//! The largest smallest margin of a weighted vote, with a duality gap.

use margins_data::{Design, Labels};
use margins_losses::OutOfRange;
use margins_optim::online::Scorer;

use super::ada_boost::WeightedVote;
use crate::Error;
use crate::ensemble::vote;

/// A weighted vote whose smallest margin is the largest one up to a gap, and the proof.
#[derive(Debug, Clone, PartialEq)]
pub struct LargestMargin<S> {
    /// The vote.
    pub vote: WeightedVote<S>,
    /// Its smallest margin `min_i y_i f(x_i)`, which the largest one is not below.
    pub lower: f64,
    /// The largest edge `max_h sum_i p_i y_i h(x_i)` at the weights, which the smallest margin of no vote
    /// exceeds.
    pub upper: f64,
    /// The weights p of the samples that prove it, of sum 1.
    pub weights: Vec<f64>,
}

/// Solves the matrix game of boosting, `max_w min_i y_i sum_h w_h h(x_i)` over the simplex of weights of
/// classifiers, by multiplicative weights: it minimises the maximal loss `-y <w, x>`, where the
/// predictions `h(x)`, +1 or -1, are the features of a sample.
///
/// Every round asks for the classifier of the largest edge `sum_i p_i y_i h(x_i)` at the weights p, with
/// this edge, and multiplies the weight of sample i by `exp(-eta y_i h(x_i))`. With
/// `eta = tolerance`, the mean of the edges exceeds the smallest margin of the even vote of all
/// classifiers so far by at most `eta/2 + ln(m)/(eta T)` after T rounds. So the gap is at most the
/// tolerance after `2 ln(m)/tolerance^2` rounds, if the classifiers have the largest edges of a class
/// that has the negative of each.
///
/// ```
/// use margins_boost::{StumpSearch, opponents::largest_margin};
/// use margins_data::{Design, Labels};
///
/// // The majority of three features: no vote has a margin above 1/3 on all of its samples.
/// let rows: Vec<[f64; 3]> = (0..8)
///     .map(|k| std::array::from_fn(|j| if k >> j & 1 == 1 { 1.0 } else { -1.0 }))
///     .collect();
/// let signs = rows.iter().map(|x| x.iter().sum::<f64>().signum()).collect();
/// let (design, labels) = (Design::from_rows(&rows)?, Labels::from_signs(signs)?);
/// let search = StumpSearch::new(&design);
/// let found = largest_margin(&design, &labels, 0.05, |p| search.best(&labels, p))?;
/// assert!(found.lower <= 1.0 / 3.0 && 1.0 / 3.0 <= found.upper + 1e-12);
/// assert!(found.upper - found.lower <= 0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A tolerance that is not a finite number greater than 0, another number of labels than of samples,
/// the errors of the search.
///
/// Source: Freund and Schapire, *Adaptive game playing using multiplicative weights* (1999).
pub fn largest_margin<S: Scorer + PartialEq>(
    design: &Design,
    labels: &Labels,
    tolerance: f64,
    mut best: impl FnMut(&[f64]) -> Result<(S, f64), Error>,
) -> Result<LargestMargin<S>, Error> {
    let eta = OutOfRange::check_positive("the tolerance", tolerance)?;
    Error::check_len("labels", design.rows(), labels.len())?;
    let m = design.rows();
    let rounds = (2.0 * (m as f64).ln() / (eta * eta)).ceil().max(1.0);
    let mut sums = vec![0.0f64; m];
    let mut members: Vec<(f64, S)> = Vec::new();
    let (mut upper, mut proof) = (f64::INFINITY, Vec::new());
    let mut round = 0.0;
    loop {
        let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
        if round >= rounds || (round > 0.0 && upper - least / round <= tolerance) {
            let vote = WeightedVote { members };
            return Ok(LargestMargin { vote, lower: least / round, upper, weights: proof });
        }
        let mut weights: Vec<f64> = sums.iter().map(|u| (eta * (least - u)).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        let (classifier, edge) = best(&weights)?;
        for ((sum, x), y) in sums.iter_mut().zip(design.samples()).zip(labels.signs()) {
            *sum += y * vote(classifier.score(&x));
        }
        if edge < upper {
            (upper, proof) = (edge, weights);
        }
        match members.iter_mut().find(|(_, member)| *member == classifier) {
            Some((count, _)) => *count += 1.0,
            None => members.push((1.0, classifier)),
        }
        round += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::StumpSearch;
    use crate::opponents::AdaBoost;

    /// The bounds are those of the vote and of the weights returned, and no vote of AdaBoost is above them.
    #[test]
    fn both_bounds_hold_and_no_vote_is_above() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..5 {
            let mut sign = || if random.random() { 1.0 } else { -1.0 };
            let rows: Vec<[f64; 7]> = (0..40).map(|_| std::array::from_fn(|_| sign())).collect();
            let score = |x: &[f64; 7]| 2.0 * x[0] + x[1] + x[2] + x[3];
            let signs = rows.iter().map(|x| (score(x) + 0.5).signum()).collect();
            let design = Design::from_rows(&rows).unwrap();
            let labels = Labels::from_signs(signs).unwrap();
            let search = StumpSearch::new(&design);
            let found =
                largest_margin(&design, &labels, 0.05, |p| search.best(&labels, p)).unwrap();
            assert!(0.0 <= found.upper - found.lower && found.upper - found.lower <= 0.05);
            let smallest = |vote: &dyn Scorer| {
                let pairs = design.samples().zip(labels.signs());
                pairs.map(|(x, y)| y * vote.score(&x)).fold(f64::INFINITY, f64::min)
            };
            assert!((smallest(&found.vote) - found.lower).abs() < 1e-9);
            assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let edge = search.best(&labels, &found.weights).unwrap().1;
            assert!((edge - found.upper).abs() < 1e-12);
            let mut boost = AdaBoost::new(&design, &labels).unwrap();
            for _ in 0..300 {
                boost.round(|p| Ok(search.best(&labels, p)?.0)).unwrap();
            }
            assert!(smallest(boost.vote()) <= found.upper + 1e-9);
        }
    }

    #[test]
    fn a_tolerance_is_positive() {
        let design = Design::from_rows(&[[1.0], [-1.0]]).unwrap();
        let labels = Labels::from_signs(vec![1.0, -1.0]).unwrap();
        let search = StumpSearch::new(&design);
        for tolerance in [0.0, -1.0, f64::NAN] {
            let refused = largest_margin(&design, &labels, tolerance, |p| search.best(&labels, p));
            assert!(refused.unwrap_err().to_string().contains("tolerance"));
        }
        let found = largest_margin(&design, &labels, 0.1, |p| search.best(&labels, p)).unwrap();
        assert_eq!((found.lower, found.upper), (1.0, 1.0));
    }
}
