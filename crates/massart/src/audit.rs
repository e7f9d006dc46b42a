//! A lower bound on the noise rate from labelled samples, and the samples that speak for noise.

use margins_data::metrics::binomial::upper_limit;
use margins_losses::OutOfRange;
use margins_optim::Status;
use margins_optim::method::Limits;
use margins_optim::online::Direction;

use crate::cutting_planes::{Method, minimize_on_unit_ball};
use crate::{Error, MarginBound, SphereSample};

/// The result of [`audit`].
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// With probability at least `1 - delta` some label is flipped at no lower rate, if there is a
    /// halfspace with the margin.
    pub eta_bound: f64,
    /// The share of the labels that is certainly flipped, by weight, if there is one: H less the gap
    /// of its minimisation.
    pub flipped: f64,
    /// The vector w of the minimum.
    pub halfspace: Vec<f64>,
    /// The term of every sample in H, from 0 to 1: how much its label contradicts w.
    pub terms: Vec<f64>,
    /// The reason why the minimisation ended before its gap was 0.001, if it did; the bound holds, and
    /// may be too low.
    pub stopped: Option<Status>,
}

/// Returns a lower bound on the noise rate eta of a sample whose clean labels are those of a halfspace
/// w* with the margin gamma.
///
/// H, the minimum over `||w|| <= 1` of the mean of `(gamma - y <w, x>)_+/(gamma + ||x||)`, is at most
/// the share of flipped labels: in the sum for w* a flipped sample adds at most 1, and any other
/// sample 0. Each label is flipped with a probability of at most eta, independently, so that the
/// number of flips is at most binomial. The bound on eta is the lower limit of Clopper and Pearson
/// for the smallest number of flips that H leaves; with weights that differ, Hoeffding's. H is
/// minimised by cutting planes, and its gap subtracted.
///
/// The bound is weak, because a w that follows the flipped labels has a lower sum than w*. It says
/// nothing about where labels are flipped: w may be misled as any minimiser of a convex loss.
///
/// ```
/// use margins_data::generate::MassartDistribution;
/// use margins_massart::{MarginBound, SphereSample, audit};
/// use margins_optim::method::Limits;
///
/// let (_, noisy) = MassartDistribution::simulated(5, 0.3, 0.2, "random", 2000, 1)?;
/// let draws = noisy.draw(4000, 1);
/// let design = noisy.design().select(&draws.rows);
/// let sample = SphereSample::new(&design, &draws.signs)?;
/// let found = audit(MarginBound::new(0.3)?, 0.05, &sample, &Limits::default())?;
/// assert!(found.eta_bound > 0.05 && found.eta_bound < 0.2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`]: delta is not strictly between 0 and 1.
pub fn audit(
    margin: MarginBound,
    delta: f64,
    sample: &SphereSample<'_>,
    limits: &Limits<'_>,
) -> Result<Audit, Error> {
    /// The largest gap of H, which is a share.
    const TOLERANCE: f64 = 1e-3;
    let open = |delta: f64| delta > 0.0 && delta < 1.0;
    let delta = OutOfRange::check("delta", delta, "strictly between 0 and 1", open)?;
    let gamma = margin.get();
    let scales: Vec<f64> = (0..sample.rows())
        .map(|row| (gamma + sample.points().sample(row).squared_norm().sqrt()).recip())
        .collect();
    let weights = sample.weights().iter().zip(&scales).map(|(c, scale)| c * scale).collect();
    let scaled = sample.clone().with_weights(weights)?;
    let share = scaled.total() / sample.total();
    let lacks = |score: f64, y: f64| (gamma - y * score).max(0.0);
    let terms = |w: &[f64]| -> Vec<f64> {
        let scores = sample.points().scores(w);
        let lacks = scores.iter().zip(sample.signs()).map(|(&score, &y)| lacks(score, y));
        lacks.zip(&scales).map(|(lack, scale)| lack * scale).collect()
    };
    let columns = sample.columns();
    let most_calls = 4.0 * (columns as f64 + 1.0) * ((columns as f64 + 1.0) / TOLERANCE).ln();
    let method = Method::AnalyticCentre;
    let calls = most_calls.ceil() as usize;
    let minimum = minimize_on_unit_ball(method, columns, TOLERANCE, calls, limits, |w| {
        let scores = scaled.points().scores(w);
        let pairs = scores.iter().zip(scaled.signs()).zip(scaled.weights());
        let sum: f64 = pairs.map(|((&score, &y), c)| c * lacks(score, y)).sum();
        let slope = |score: f64, y: f64| if lacks(score, y) > 0.0 { -share * y } else { 0.0 };
        (sum / sample.total(), scaled.mean(&scores, slope))
    });
    let flipped = (minimum.value - minimum.gap).clamp(0.0, 1.0);
    let eta_bound = match sample.equal_weights() {
        Some(n) => {
            // A share of k/n that rounding moved is not the next number of flips.
            let flips = (flipped * n as f64 - 1e-9).ceil().max(0.0) as usize;
            1.0 - upper_limit(n - flips, n, delta.ln())
        }
        None => flipped - (delta.recip().ln() / (2.0 * sample.effective_size())).sqrt(),
    };
    Ok(Audit {
        eta_bound: eta_bound.max(0.0),
        flipped,
        terms: terms(&minimum.point),
        halfspace: minimum.point,
        stopped: minimum.stopped,
    })
}
