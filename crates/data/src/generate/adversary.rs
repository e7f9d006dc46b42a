//! Adversaries that choose the noise rates of a Massart distribution.

use crate::error::{check_len, check_signs};
use crate::{Design, Error};

/// The adversary who chooses the noise rates `eta(x) <= eta`.
#[derive(Debug, Clone, PartialEq)]
pub enum Adversary {
    /// Random classification noise: `eta(x) = eta` everywhere.
    Random,
    /// No noise at the half of the points that are nearest to the boundary, eta at the other half.
    FarAway,
    /// The rate eta at the half of the points that are nearest to the boundary, none at the other
    /// half.
    NearBoundary,
    /// The rate eta where `y <u, x> > 0` for a vector u, none elsewhere: the clean points pull a
    /// convex surrogate towards -u, the noisy ones hold it less.
    Region(Vec<f64>),
    /// A choice from the data, greedy, against the average `mean (1 - 2 eta(x)) y x`. In every
    /// round noise goes to the points whose pull helps the quarter of the points that the average
    /// serves worst; of all rounds, the rates with the largest error of the average are kept.
    Greedy,
}

impl Adversary {
    /// Returns the rates at points with clean labels, +1 or -1, that the halfspace with the normal
    /// given has or nearly has; at most `bound`.
    ///
    /// # Errors
    /// Lengths that differ, a sign other than +1 and -1, or a bound outside \[0, 1/2).
    pub fn rates(
        &self,
        design: &Design,
        clean: &[f64],
        normal: &[f64],
        bound: f64,
    ) -> Result<Vec<f64>, Error> {
        check_len("clean labels, one per row", design.rows(), clean.len())?;
        check_len("entries of a normal", design.columns(), normal.len())?;
        check_signs(clean)?;
        if !(0.0..0.5).contains(&bound) {
            return Err(Error::parameter("the noise bound", bound, "at least 0 and below 1/2"));
        }
        let field = Field { design, clean, bound };
        Ok(match self {
            Adversary::Random => vec![bound; design.rows()],
            Adversary::FarAway => field.by_height(normal, true),
            Adversary::NearBoundary => field.by_height(normal, false),
            Adversary::Region(direction) => {
                check_len("entries of a direction", design.columns(), direction.len())?;
                field.noisy_where(field.margins(direction).into_iter().map(|u| u > 0.0))
            }
            Adversary::Greedy => field.greedy(),
        })
    }
}

/// The points with clean labels that an adversary chooses rates for.
struct Field<'a> {
    design: &'a Design,
    clean: &'a [f64],
    bound: f64,
}

impl Field<'_> {
    /// Returns the rates of which the noisy ones are all as large as they may be.
    fn noisy_where(&self, noisy: impl Iterator<Item = bool>) -> Vec<f64> {
        noisy.map(|noisy| if noisy { self.bound } else { 0.0 }).collect()
    }

    /// Returns `<w, x>` for every point.
    fn scores(&self, w: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.design.rows()];
        self.design.multiply(w, &mut scores);
        scores
    }

    /// Returns `y <w, x>` for every point.
    fn margins(&self, w: &[f64]) -> Vec<f64> {
        self.scores(w).iter().zip(self.clean).map(|(f, y)| f * y).collect()
    }

    /// Returns rates with noise at the farther or at the nearer half of the points.
    fn by_height(&self, normal: &[f64], far: bool) -> Vec<f64> {
        let heights: Vec<f64> = self.scores(normal).into_iter().map(f64::abs).collect();
        let middle = quantile(heights.clone(), 0.5);
        self.noisy_where(heights.into_iter().map(|t| (t >= middle) == far))
    }

    /// Returns the sum of `weight(i) y_i x_i`.
    fn weighted_sum(&self, weight: impl Fn(usize) -> f64) -> Vec<f64> {
        let z: Vec<f64> = (0..self.clean.len()).map(|i| weight(i) * self.clean[i]).collect();
        let mut sum = vec![0.0; self.design.columns()];
        self.design.multiply_transposed(&z, &mut sum);
        sum
    }

    /// Returns the rates of [`Adversary::Greedy`].
    fn greedy(&self) -> Vec<f64> {
        const ROUNDS: usize = 20;
        let (mut rates, mut worst) = (vec![0.0; self.clean.len()], (f64::NEG_INFINITY, vec![]));
        for _ in 0..ROUNDS {
            let served = self.margins(&self.weighted_sum(|i| 1.0 - 2.0 * rates[i]));
            let errors =
                served.iter().zip(&rates).map(|(&u, r)| if u > 0.0 { *r } else { 1.0 - r });
            let error: f64 = errors.sum();
            if error > worst.0 {
                worst = (error, rates);
            }
            let level = quantile(served.clone(), 0.25);
            let target = self.weighted_sum(|i| f64::from(u8::from(served[i] <= level)));
            rates = self.noisy_where(self.margins(&target).into_iter().map(|u| u > 0.0));
        }
        worst.1
    }
}

/// Returns the value that a share `level` of the values is below.
fn quantile(mut values: Vec<f64>, level: f64) -> f64 {
    let at = ((values.len() - 1) as f64 * level) as usize;
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}
