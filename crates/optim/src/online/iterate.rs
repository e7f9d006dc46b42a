//! A weight vector with lazy scaling and averaging, so that a sparse step costs only its stored
//! values.

use margins_data::Sample;

use crate::Error;
use crate::online::LinearClassifier;
use crate::problem::summation::dot;

/// A vector that an iterate moves along: a sample as it is, or scaled to norm 1.
pub trait Direction {
    /// Returns `<x, w>`.
    fn dot(&self, w: &[f64]) -> f64;

    /// Adds `factor x` to `out`.
    fn add_to(&self, factor: f64, out: &mut [f64]);

    /// Returns `||x||^2`.
    fn squared_norm(&self) -> f64;
}

impl Direction for Sample<'_> {
    #[inline(always)]
    fn dot(&self, w: &[f64]) -> f64 {
        Sample::dot(self, w)
    }

    #[inline(always)]
    fn add_to(&self, factor: f64, out: &mut [f64]) {
        Sample::add_to(self, factor, out);
    }

    #[inline(always)]
    fn squared_norm(&self) -> f64 {
        Sample::squared_norm(self)
    }
}

/// The iterate of a stochastic method, `f(x) = b + <w, x>`, scaled and averaged lazily: a step on a
/// sparse sample costs O(nonzeros).
///
/// The coefficients are `w = a v`, so that shrinking and projecting change the number `a` alone.
/// The sum of the iterates so far is `A v + r`: a step that adds `d` to `v` subtracts `A d` from
/// `r`, and the new iterate adds `a` to `A`. (Shalev-Shwartz, Singer, Srebro and Cotter 2011,
/// section 4, for the scale; Xu 2011, section 5.2, for the mean.)
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Unchecked"))]
pub struct Iterate {
    /// The intercept `b`.
    pub intercept: f64,
    /// The scale `a`.
    scale: f64,
    /// The vector `v`.
    vector: Vec<f64>,
    /// The square `||w||^2`, updated with every step and computed afresh now and then.
    squared_norm: f64,
    /// The number of steps until the square is computed afresh.
    until_refresh: usize,
    sum: Option<Sum>,
}

/// The sum of iterates, `A v + r`.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
struct Sum {
    intercept: f64,
    /// The factor `A`.
    factor: f64,
    /// The rest `r`.
    rest: Vec<f64>,
    count: f64,
}

/// The fields of an [`Iterate`] as they are read from a file.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    intercept: f64,
    scale: f64,
    vector: Vec<f64>,
    squared_norm: f64,
    until_refresh: usize,
    sum: Option<Sum>,
}

#[cfg(feature = "serde")]
impl TryFrom<Unchecked> for Iterate {
    type Error = Error;

    fn try_from(read: Unchecked) -> Result<Self, Error> {
        let Unchecked { intercept, scale, vector, squared_norm, until_refresh, sum } = read;
        let (expected, found) = (vector.len(), sum.as_ref().map_or(vector.len(), |s| s.rest.len()));
        if expected != found {
            return Err(Error::Shape { what: "sums of coefficients", expected, found });
        }
        if until_refresh == 0 {
            let (parameter, requirement) = ("the steps until a norm is computed", "at least 1");
            return Err(margins_losses::OutOfRange { parameter, value: 0.0, requirement }.into());
        }
        Ok(Iterate { intercept, scale, vector, squared_norm, until_refresh, sum })
    }
}

impl Iterate {
    /// Returns the iterate of a method that starts from a classifier.
    pub fn new(start: LinearClassifier) -> Self {
        let squared_norm = dot(&start.coef, &start.coef);
        let until_refresh = Self::refresh_interval(start.coef.len());
        let (intercept, vector) = (start.intercept, start.coef);
        Iterate { intercept, scale: 1.0, vector, squared_norm, until_refresh, sum: None }
    }

    /// Returns the number of steps between two computations of the norm, so that these cost an
    /// operation a step or less.
    fn refresh_interval(features: usize) -> usize {
        const AT_LEAST: usize = 1 << 12;
        features.max(AT_LEAST)
    }

    /// Returns the number of features.
    pub fn features(&self) -> usize {
        self.vector.len()
    }

    /// Returns `||w||^2`.
    pub fn squared_norm(&self) -> f64 {
        self.squared_norm
    }

    /// Lets the mean begin with the next iterate.
    pub fn start_averaging(&mut self) {
        let rest = vec![0.0; self.vector.len()];
        self.sum = Some(Sum { intercept: 0.0, factor: 0.0, rest, count: 0.0 });
    }

    /// Returns `<w, x>`.
    #[inline(always)]
    pub fn product(&self, x: &impl Direction) -> f64 {
        self.scale * x.dot(&self.vector)
    }

    /// Sets `w <- factor w`.
    #[inline(always)]
    pub fn shrink(&mut self, factor: f64) {
        // If a is far smaller than A, `A v` and `r` cancel and digits are lost; a = 0 has no
        // inverse.
        const RANGE: std::ops::RangeInclusive<f64> = 1e-4..=1e4;
        if factor == 1.0 {
            return;
        }
        self.scale *= factor;
        self.squared_norm *= factor * factor;
        if !RANGE.contains(&self.scale.abs()) {
            self.fold();
        }
    }

    /// Sets `w <- factor w + g x` and `b <- b + g_b`, where `product` is `<w, x>` before.
    ///
    /// # Errors
    /// The coefficients or the intercept would not be finite; nothing is changed then.
    #[inline(always)]
    pub fn advance(
        &mut self,
        factor: f64,
        (g, g_b): (f64, f64),
        x: &impl Direction,
        product: f64,
    ) -> Result<(), Error> {
        let mut squared_norm = factor * factor * self.squared_norm;
        if g != 0.0 {
            squared_norm += 2.0 * factor * g * product + g * g * x.squared_norm();
        }
        let size = squared_norm + (self.intercept + g_b).abs();
        if !size.is_finite() {
            return Err(Error::Unbounded(size));
        }
        self.shrink(factor);
        if g != 0.0 {
            let change = g / self.scale;
            x.add_to(change, &mut self.vector);
            if let Some(sum) = &mut self.sum {
                x.add_to(-sum.factor * change, &mut sum.rest);
            }
            self.intercept += g_b;
            // Rounding may make a norm of nearly 0 negative.
            self.squared_norm = squared_norm.max(0.0);
        }
        Ok(())
    }

    /// Ends a step: projects on the ball of this radius around 0, if there is one, and counts the
    /// iterate in the mean.
    #[inline(always)]
    pub fn finish(&mut self, radius: Option<f64>) {
        self.until_refresh -= 1;
        if self.until_refresh == 0 {
            self.fold();
        }
        if let Some(radius) = radius
            && self.squared_norm > radius * radius
        {
            self.shrink(radius / self.squared_norm.sqrt());
        }
        if let Some(sum) = &mut self.sum {
            sum.factor += self.scale;
            sum.intercept += self.intercept;
            sum.count += 1.0;
        }
    }

    /// Makes the scale 1 again and the squared norm exact.
    #[cold]
    #[inline(never)]
    fn fold(&mut self) {
        if let Some(sum) = &mut self.sum {
            sum.rest.iter_mut().zip(&self.vector).for_each(|(r, v)| *r += sum.factor * v);
            sum.factor = 0.0;
        }
        self.vector.iter_mut().for_each(|v| *v *= self.scale);
        self.scale = 1.0;
        self.squared_norm = dot(&self.vector, &self.vector);
        self.until_refresh = Self::refresh_interval(self.vector.len());
    }

    /// Returns the score of a sample by the mean of the iterates, or by the last iterate where
    /// there is no mean.
    pub fn score(&self, x: &Sample<'_>) -> f64 {
        match &self.sum {
            Some(sum) if sum.count > 0.0 => {
                let product = sum.factor * x.dot(&self.vector) + x.dot(&sum.rest);
                (sum.intercept + product) / sum.count
            }
            _ => self.intercept + self.product(x),
        }
    }

    /// Returns the mean of the iterates, or the last iterate where there is no mean.
    pub fn classifier(&self) -> LinearClassifier {
        match &self.sum {
            Some(sum) if sum.count > 0.0 => {
                let pairs = self.vector.iter().zip(&sum.rest);
                let coef = pairs.map(|(v, r)| (sum.factor * v + r) / sum.count).collect();
                LinearClassifier { intercept: sum.intercept / sum.count, coef }
            }
            _ => self.last(),
        }
    }

    /// Returns the last iterate.
    pub fn last(&self) -> LinearClassifier {
        LinearClassifier {
            intercept: self.intercept,
            coef: self.vector.iter().map(|v| self.scale * v).collect(),
        }
    }
}
