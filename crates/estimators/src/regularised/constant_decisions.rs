//! The warning about a loss whose best constant score exceeds all that features can add.

use margins_data::digits::number;
use margins_losses::{HomogeneousTail, MarginLoss};
use margins_optim::Fit;

use super::contests::Contests;
use super::prepared::Prepared;
use super::settings::ClassifierSettings;
use crate::Error;

/// Returns a sentence on the first member whose training decisions are all the same because the loss
/// makes its best constant score huge, as `L_r` with r near 1 does; `None` if there is none.
///
/// Without features the best score is `rho^(r/(r - 1))`, with rho the larger total weight of a class
/// over the smaller one (theorem 6 of Kwon and Zou, *Leaky hockey stick loss*, JMLR 24, 2023). Beyond
/// the largest number, for `r < 1/(1 - ln(rho)/709.78)`, the fit is unbounded.
pub(super) fn of_constant_decisions(
    settings: &ClassifierSettings,
    contests: &Contests,
    prepared: &Prepared<'_>,
    fits: &[Fit],
) -> Result<Option<String>, Error> {
    if contests.scheme().is_joint() {
        return Ok(None);
    }
    // A tail of degree 0, as of leaky-relu, has no best score that grows with rho.
    let has_power = |tail: &HomogeneousTail| tail.falls() && tail.degree < 1.0;
    let tail = settings.loss.homogeneous_tail().filter(has_power);
    let Some(tail) = tail.filter(|_| settings.intercept && settings.learner.is_none()) else {
        return Ok(None);
    };
    let training = settings.training(contests.classes().rows(), None);
    let datasets = contests.datasets()?;
    for (contest, fit) in datasets.iter().zip(fits) {
        let data = &contest.data;
        // A contest without weight on one side has no best score.
        let Ok(risk) = training.risk(data) else { continue };
        let total = |sign: f64| -> f64 {
            let of_side = risk.signs().iter().zip(risk.weights()).filter(|(y, _)| **y == sign);
            of_side.map(|(_, weight)| weight).sum()
        };
        let (positive, negative) = (total(1.0), total(-1.0));
        let rho = positive.max(negative) / positive.min(negative);
        let Some(score) = huge_score(rho, tail.degree) else { continue };
        let all: Vec<usize> = (0..data.rows()).collect();
        let rows = contest.rows.as_ref().unwrap_or(&all);
        let scores = prepared.scores_of(std::slice::from_ref(fit), rows)?;
        let is_positive = scores[0].first().is_some_and(|score| *score > 0.0);
        if scores[0].iter().all(|score| (*score > 0.0) == is_positive) {
            let labels = data.labels();
            let class = if is_positive { labels.positive_class() } else { labels.negative_class() };
            return Ok(Some(format!(
                "Every training row is decided as class '{class}'. With loss {} the best constant score is {score}, \
                 because the weights of the classes differ by the factor {}, and no feature matters beside it: use \
                 a larger r, balanced class weights, or no intercept.",
                settings.loss.specification(),
                number(rho, 3)
            )));
        }
    }
    Ok(None)
}

/// Returns the best constant score in words, if it is large, and far larger than that of the loss of
/// degree 1.
fn huge_score(rho: f64, degree: f64) -> Option<String> {
    /// The size from which a score is large.
    const LARGE: f64 = 1e3;
    /// The factor by which the degree has to increase it.
    const FACTOR: f64 = 100.0;
    let score = rho.powf(degree.recip());
    (score >= LARGE && score >= FACTOR * rho).then(|| match score.is_finite() {
        true => number(score, 3),
        false => "beyond the largest number".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::huge_score;

    /// `rho^(r/(r - 1))` overflows exactly for `r < 1/(1 - ln(rho)/709.78)`.
    #[test]
    fn the_score_overflows_where_its_bound_says() {
        for rho in [1.168f64, 2.0, 30.0] {
            let bound = 1.0 / (1.0 - rho.ln() / f64::MAX.ln());
            let at = |factor: f64| {
                let r = 1.0 + (bound - 1.0) * factor;
                huge_score(rho, (r - 1.0) / r).expect("a huge score")
            };
            assert_eq!(at(0.999), "beyond the largest number");
            assert!(at(1.001).contains('e'), "{}", at(1.001));
        }
        // A rare class alone is no reason, nor is a moderate r.
        for (rho, r) in [(1e6, 1e9), (1.168, 1.1), (2.0, 2.0), (1.0, 1.0001)] {
            assert_eq!(huge_score(rho, (r - 1.0) / r), None, "{rho} {r}");
        }
    }
}
