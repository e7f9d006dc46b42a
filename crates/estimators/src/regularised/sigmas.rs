//! The values of sigma to choose from, for kernels without one.

use std::fmt;
use std::str::FromStr;

use margins_data::Design;
use margins_kernels::{KernelRegistry, SigmaRange};
use margins_optim::lambda_grid;

use super::prepared::PRECOMPUTED;
use crate::Error;

/// The values of sigma to choose from, for kernels that leave their sigma out.
///
/// ```
/// use margins_estimators::regularised::Sigmas;
///
/// assert_eq!("auto:10".parse(), Ok(Sigmas::Auto { count: 10 }));
/// assert_eq!("4:1:3".parse::<Sigmas>()?.to_string(), "4.0,2.0,1.0");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Sigmas {
    /// Values evenly spaced on a logarithmic scale, from ten times the high end of the
    /// [`SigmaRange`] of the data down to a tenth of its low end, rounded to six digits; a single one
    /// is the middle of that range. They are for Gaussian kernels.
    Auto {
        /// The number of values, from 1 to 1000.
        count: usize,
    },
    /// The values to try, from 1 to 1000 finite positive numbers.
    Given(Vec<f64>),
}

/// The most values of sigma: each of them is a kernel to fit.
const MOST: usize = 1000;

impl Sigmas {
    pub(super) fn count(&self) -> usize {
        match self {
            Sigmas::Auto { count } => *count,
            Sigmas::Given(values) => values.len(),
        }
    }

    /// Returns an error if there are no sigmas or too many, or one is not a finite positive number.
    pub(super) fn check(&self) -> Result<(), Error> {
        let count = self.count();
        if !(1..=MOST).contains(&count) {
            let requirement = format!("from 1 to {MOST}");
            return Err(Error::setting("the number of sigmas", &count, requirement));
        }
        let is_wrong = |sigma: &&f64| !(sigma.is_finite() && **sigma > 0.0);
        match self {
            Sigmas::Given(values) => values.iter().find(is_wrong).map_or(Ok(()), |sigma| {
                Err(Error::setting("a sigma", sigma, "a finite number greater than 0"))
            }),
            Sigmas::Auto { .. } => Ok(()),
        }
    }

    /// Returns the values; `samples` are asked for where these depend on them, with their weights, and
    /// the seed draws the pairs whose distances are measured.
    pub(super) fn values(
        &self,
        samples: impl FnOnce() -> Result<Design, Error>,
        weights: Option<&[f64]>,
        seed: u64,
    ) -> Result<Vec<f64>, Error> {
        /// The factor by which the values reach beyond either end of the range.
        const REACH: f64 = 10.0;
        /// The digits of values that come from the data.
        const DIGITS: usize = 6;
        let count = match self {
            Sigmas::Given(values) => return Ok(values.clone()),
            Sigmas::Auto { count } => *count,
        };
        let range = SigmaRange::of(&samples()?, weights, seed)?;
        if count == 1 {
            return Ok(vec![range.middle()]);
        }
        let first = (REACH * range.high).min(f64::MAX);
        let last = (range.low / REACH).max(f64::MIN_POSITIVE);
        Ok(evenly_spaced([first, last], count, DIGITS)?)
    }
}

/// Returns values evenly spaced on a logarithmic scale, by the rule of lambdas, but rounded to this
/// number of significant digits: they are printed as parts of kernels.
fn evenly_spaced(
    [first, last]: [f64; 2],
    count: usize,
    digits: usize,
) -> Result<Vec<f64>, margins_optim::Error> {
    Ok(lambda_grid(first, last, count)?.into_iter().map(|at| rounded(at.get(), digits)).collect())
}

fn rounded(value: f64, digits: usize) -> f64 {
    // Rust reads every number that it prints.
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

impl FromStr for Sigmas {
    type Err = String;

    /// Reads `auto:COUNT`, `FIRST:LAST:COUNT` or a list with commas.
    fn from_str(text: &str) -> Result<Self, String> {
        /// The digits of values between ends that somebody has chosen.
        const DIGITS: usize = 12;
        let count = |text: &str| match text.trim().parse() {
            Ok(count) if (1..=MOST).contains(&count) => Ok(count),
            _ => Err(format!("'{text}' is not a number of sigmas from 1 to {MOST}")),
        };
        let sigma = |text: &str| match text.trim().parse::<f64>() {
            Ok(sigma) if sigma.is_finite() && sigma > 0.0 => Ok(sigma),
            _ => Err(format!("'{text}' is not a finite number greater than 0")),
        };
        match text.split(':').collect::<Vec<_>>().as_slice() {
            ["auto", many] => Ok(Sigmas::Auto { count: count(many)? }),
            [list] => list.split(',').map(sigma).collect::<Result<_, _>>().map(Sigmas::Given),
            [first, last, many] => {
                let (ends, many) = ([sigma(first)?, sigma(last)?], count(many)?);
                if many == 1 && ends[0] != ends[1] {
                    return Err("one sigma cannot reach both ends".to_owned());
                }
                let values = evenly_spaced(ends, many, DIGITS);
                values.map(Sigmas::Given).map_err(|error| error.to_string())
            }
            _ => Err("expected auto:COUNT, FIRST:LAST:COUNT or a list with commas".to_owned()),
        }
    }
}

impl fmt::Display for Sigmas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sigmas::Auto { count } => write!(f, "auto:{count}"),
            Sigmas::Given(values) => {
                let values: Vec<String> = values.iter().map(|sigma| format!("{sigma:?}")).collect();
                write!(f, "{}", values.join(","))
            }
        }
    }
}

/// Returns the specifications with every value of sigma where they leave it out; `None` if none of
/// them does.
///
/// # Errors
/// A specification that the registry does not take.
pub(super) fn filled_in(
    specifications: &[String],
    sigmas: &[f64],
    registry: &KernelRegistry,
) -> Result<Option<Vec<String>>, Error> {
    let mut filled = Vec::new();
    let mut is_any = false;
    for specification in specifications {
        let mut with_sigmas = Vec::new();
        if specification != PRECOMPUTED {
            for &sigma in sigmas {
                with_sigmas.extend(registry.with_sigma(specification, sigma)?);
            }
        }
        is_any |= !with_sigmas.is_empty();
        if with_sigmas.is_empty() {
            with_sigmas.push(specification.clone());
        }
        filled.extend(with_sigmas);
    }
    Ok(is_any.then_some(filled))
}
