use std::fmt;
use std::str::FromStr;

use margins_data::Design;
use margins_kernels::{KernelRegistry, SigmaRange};
use margins_optim::{Lambda, lambda_grid};

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
    /// [`SigmaRange`] of the data down to a tenth of its low end; a single one is the middle of
    /// that range.
    Auto {
        /// The number of values, at least 1.
        count: usize,
    },
    /// These values.
    Given(Vec<f64>),
}

/// The most values of sigma that a text can ask for.
const MOST: usize = 1000;

impl Sigmas {
    /// Returns the number of values.
    pub(super) fn count(&self) -> usize {
        match self {
            Sigmas::Auto { count } => *count,
            Sigmas::Given(values) => values.len(),
        }
    }

    /// Refuses sigmas of which there is none, or one that is no finite positive number.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.count() == 0 {
            return Err(Error::setting("the number of sigmas", &0, "at least 1"));
        }
        let is_wrong = |sigma: &&f64| !(sigma.is_finite() && **sigma > 0.0);
        match self {
            Sigmas::Given(values) => values.iter().find(is_wrong).map_or(Ok(()), |sigma| {
                Err(Error::setting("a sigma", sigma, "a finite number greater than 0"))
            }),
            Sigmas::Auto { .. } => Ok(()),
        }
    }

    /// Returns the values for samples. The seed draws the pairs whose distances are measured.
    pub(super) fn values(&self, design: &Design, seed: u64) -> Result<Vec<f64>, Error> {
        /// The factor by which the values reach beyond either end of the range.
        const REACH: f64 = 10.0;
        match self {
            Sigmas::Given(values) => Ok(values.clone()),
            Sigmas::Auto { count: 1 } => Ok(vec![SigmaRange::of(design, seed)?.middle()]),
            Sigmas::Auto { count } => {
                let SigmaRange { low, high, .. } = SigmaRange::of(design, seed)?;
                let ends = [(REACH * high).min(f64::MAX), (low / REACH).max(f64::MIN_POSITIVE)];
                evenly_spaced(ends, *count)
            }
        }
    }
}

/// Returns values evenly spaced on a logarithmic scale, by the rule of lambdas.
fn evenly_spaced([first, last]: [f64; 2], count: usize) -> Result<Vec<f64>, Error> {
    Ok(lambda_grid(first, last, count)?.into_iter().map(Lambda::get).collect())
}

impl FromStr for Sigmas {
    type Err = String;

    /// Reads `auto:COUNT`, `FIRST:LAST:COUNT` or a list with commas.
    fn from_str(text: &str) -> Result<Self, String> {
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
                evenly_spaced(ends, many).map(Sigmas::Given).map_err(|error| error.to_string())
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

/// Returns the specifications with every value of sigma where they leave it out.
///
/// # Errors
/// A specification that the registry does not take; none that leaves its sigma out.
pub(super) fn filled_in(
    specifications: &[String],
    sigmas: &[f64],
    registry: &KernelRegistry,
) -> Result<Vec<String>, Error> {
    let mut filled = Vec::new();
    let mut any = false;
    for specification in specifications {
        let mut with_sigmas = Vec::new();
        if specification != PRECOMPUTED {
            for &sigma in sigmas {
                with_sigmas.extend(registry.with_sigma(specification, sigma)?);
            }
        }
        any |= !with_sigmas.is_empty();
        if with_sigmas.is_empty() {
            with_sigmas.push(specification.clone());
        }
        filled.extend(with_sigmas);
    }
    if !any {
        return Err(Error::contradiction(
            "a choice of sigmas".to_owned(),
            format!("the choice of kernels, {}", specifications.join(" and ")),
            "sigmas are for kernels that leave their sigma out, such as gaussian",
        ));
    }
    Ok(filled)
}
