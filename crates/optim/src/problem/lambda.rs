//! The regularisation lambda, and grids of it.

use std::fmt;

use crate::Error;

/// The regularisation `lambda > 0` of `F = mean loss + lambda ||w||^2`.
///
/// Other conventions, for n samples: LIBSVM, LIBLINEAR and scikit-learn use `C = 1/(2 n lambda)`,
/// Pegasos `2 lambda`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "f64", into = "f64"))]
pub struct Lambda(f64);

impl Lambda {
    /// No penalty at all, which `margins_robust::unpenalised` and stochastic gradient take: without
    /// a penalty no dual point bounds the distance to the minimum.
    pub const NONE: Lambda = Lambda(0.0);

    /// Returns the regularisation of this strength.
    ///
    /// # Errors
    /// [`Error::Lambda`]: the value is not finite or not positive.
    pub fn new(lambda: f64) -> Result<Self, Error> {
        if lambda.is_finite() && lambda > 0.0 {
            Ok(Lambda(lambda))
        } else {
            Err(Error::Lambda(lambda))
        }
    }

    /// Returns the regularisation of this strength, or [`NONE`](Self::NONE) for 0.
    ///
    /// # Errors
    /// [`Error::Lambda`]: the value is not finite or below 0.
    pub fn new_or_none(lambda: f64) -> Result<Self, Error> {
        if lambda == 0.0 { Ok(Lambda::NONE) } else { Lambda::new(lambda) }
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Returns lambdas in the order of a path: each once, largest first.
    ///
    /// # Errors
    /// [`Error::NoLambdas`]: there are no lambdas.
    pub fn descending(lambdas: &[Lambda]) -> Result<Vec<Lambda>, Error> {
        if lambdas.is_empty() {
            return Err(Error::NoLambdas);
        }
        let mut lambdas = lambdas.to_vec();
        lambdas.sort_by(|a, b| b.0.total_cmp(&a.0));
        lambdas.dedup();
        Ok(lambdas)
    }
}

impl TryFrom<f64> for Lambda {
    type Error = Error;

    fn try_from(lambda: f64) -> Result<Self, Error> {
        Lambda::new_or_none(lambda)
    }
}

impl From<Lambda> for f64 {
    fn from(lambda: Lambda) -> f64 {
        lambda.0
    }
}

impl fmt::Display for Lambda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The first, the last and the number of lambdas of the default grid: 1 down to 1e-7, as in the R
/// package of the leaky hockey stick paper.
pub const DEFAULT_GRID: (f64, f64, usize) = (1.0, 1e-7, 100);

/// Returns `count` lambdas evenly spaced on a logarithmic scale, both ends included, largest first,
/// whatever the order of the ends. A value within rounding of a decimal of at most nine digits is
/// that decimal, so that decades are exact.
///
/// ```
/// use margins_optim::lambda_grid;
///
/// let grid = lambda_grid(1.0, 1e-4, 5)?;
/// assert!(grid.iter().map(|lambda| lambda.get()).eq([1.0, 0.1, 0.01, 0.001, 0.0001]));
/// # Ok::<(), margins_optim::Error>(())
/// ```
///
/// # Errors
/// [`Error::Lambda`]: an end is no lambda. [`Error::LambdaGrid`]: there are no values, more than a
/// million, or one value between different ends.
pub fn lambda_grid(from: f64, to: f64, count: usize) -> Result<Vec<Lambda>, Error> {
    Lambda::new(from)?;
    Lambda::new(to)?;
    const MOST: usize = 1_000_000;
    let refuse = |reason| Err(Error::LambdaGrid { from, to, count, reason });
    if count == 0 {
        return refuse("at least one value is needed");
    }
    if count > MOST {
        return refuse("at most a million values are allowed");
    }
    if count == 1 && from != to {
        return refuse("one value cannot reach both ends");
    }
    let (high, low) = (from.max(to), from.min(to));
    let step = (low / high).ln() / (count.max(2) - 1) as f64;
    (0..count)
        .map(|k| {
            // The last value is the end itself, without the rounding of its logarithm.
            let last = k > 0 && k == count - 1;
            Lambda::new(if last { low } else { decimal_near(high * (step * k as f64).exp()) })
        })
        .collect()
}

/// Returns the decimal of at most nine digits that equals a positive number up to rounding; else the
/// number itself.
fn decimal_near(x: f64) -> f64 {
    // Exponents of e are at most 1420 in size, so that rounding them changes the power by 3e-13.
    const ROUNDING: f64 = 4e-13;
    let decimal = format!("{x:.8e}").parse().unwrap_or(x);
    if (decimal - x).abs() <= ROUNDING * x { decimal } else { x }
}

#[cfg(test)]
mod tests {
    use super::{Lambda, lambda_grid};

    #[test]
    fn decades_and_powers_of_two_are_exact() {
        for (from, to, count, step) in [
            (1.0, 1e-4, 5, "0.1"),
            (1e3, 1e-12, 16, "0.1"),
            (1.0, 1e-100, 101, "0.1"),
            (4.0, 2f64.powi(-10), 13, "0.5"),
        ] {
            let grid = lambda_grid(from, to, count).unwrap();
            for (k, lambda) in grid.iter().enumerate() {
                let exact = if step == "0.5" {
                    from * 0.5f64.powi(k as i32)
                } else {
                    format!("1e{}", from.log10().round() as i32 - k as i32).parse().unwrap()
                };
                assert_eq!(lambda.get(), exact, "{from} {to} {count}: {k}");
            }
        }
    }

    #[test]
    fn grid_runs_down_and_hits_its_ends() {
        let grid = lambda_grid(1e-7, 1.0, 100).unwrap();
        assert_eq!((grid[0].get(), grid[99].get(), grid.len()), (1.0, 1e-7, 100));
        assert!(grid.windows(2).all(|pair| pair[0] > pair[1]));
        let ratio = grid[1].get() / grid[0].get();
        assert!(
            grid.windows(2).all(|pair| (pair[1].get() / pair[0].get() / ratio - 1.0).abs() < 1e-12)
        );
        assert_eq!(lambda_grid(0.5, 0.5, 1).unwrap(), [Lambda::new(0.5).unwrap()]);
    }

    #[test]
    fn wrong_grids_are_refused() {
        for (from, to, count) in [
            (0.0, 1.0, 3),
            (1.0, -1.0, 3),
            (1.0, f64::NAN, 3),
            (1.0, 0.1, 0),
            (1.0, 0.1, 1),
            (1.0, 0.1, 1_000_001),
        ] {
            assert!(lambda_grid(from, to, count).is_err(), "{from}:{to}:{count}");
        }
    }
}
