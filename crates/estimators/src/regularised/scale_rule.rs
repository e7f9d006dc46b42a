//! The rule for a scale of margin pursuit from the data, and what a fit reports of it.

use margins_losses::{MarginPursuit, Specification};

/// The rule `s >= v k/gamma` by which the scale s of margin pursuit follows from the training data.
///
/// v bounds the variance of the margins, and the bias v/s of their location is then at most
/// gamma/k. The first fit has the scale of the loss, which is gamma where a specification says
/// `scale=auto`. After each fit v is estimated again, as
/// [`variance_bound`](margins_calibration::location::variance_bound) does it at confidence 95 %: twice
/// the median over blocks of the means of `(u_i - u_j)^2/2` over disjoint pairs. The next fit has
/// `s = v k/gamma`, or the middle between a scale that is too small and one that is not, as v changes with
/// s. The fits end when `v k/gamma` is within 1 % of s, when s satisfies the rule and a scale 1 % smaller
/// does not, or after 40 of them.
///
/// Source: Holland, *Classification using margin pursuit* (2019), below equation 6 and algorithm 1, which
/// takes v as known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AutoScale {
    /// The share of gamma that the bias may be is 1/k.
    pub k: f64,
}

/// The scale that a fit has taken from the training data, by the rule of [`AutoScale`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ScaleReport {
    /// The scale s of the loss of the fit.
    pub scale: f64,
    /// The k of the rule.
    pub k: f64,
    /// The bound v on the variance of the margins of the fit.
    pub variance_bound: f64,
    /// The scale `v k/gamma` that the rule asks for.
    pub required: f64,
    /// The number of fits.
    pub fits: usize,
    /// True if the scale is within 1 % of what the rule asks for, or satisfies the rule while one 1 %
    /// smaller does not.
    pub settled: bool,
}

impl AutoScale {
    /// Reads `margin-pursuit:gamma=1,scale=auto,k=10`; `None` for a specification without `scale=auto`.
    pub(super) fn parse(
        specification: &str,
    ) -> Result<Option<(MarginPursuit, Self)>, margins_losses::Error> {
        /// The k at which the location of the margins may be a tenth of gamma from their mean.
        const DEFAULT: f64 = 10.0;
        let wrong = |reason: String| margins_losses::Error::Syntax {
            specification: specification.to_owned(),
            reason,
        };
        let Ok(mut given) = Specification::parse(specification) else { return Ok(None) };
        if given.take_text("scale") != Some("auto") {
            return Ok(None);
        }
        if given.name() != "margin-pursuit" {
            return Err(wrong("scale=auto is for the loss margin-pursuit".to_owned()));
        }
        let mut number = |key| given.take::<f64>(key, "a number").map_err(wrong);
        let gamma = number("gamma")?.unwrap_or(1.0);
        let k = number("k")?.unwrap_or(DEFAULT);
        given.finish("gamma, scale and k").map_err(wrong)?;
        Ok(Some((MarginPursuit::new(gamma, gamma)?, AutoScale { k })))
    }
}

impl ScaleReport {
    /// Returns a sentence on a scale that has not settled.
    pub(super) fn note(&self) -> Option<String> {
        let ScaleReport { scale, required, fits, settled, .. } = *self;
        (!settled).then(|| {
            format!(
                "The scale from the data has not settled in {fits} fits: it is {scale}, and the rule asks for \
                 {required}. Give a scale instead of auto."
            )
        })
    }
}
