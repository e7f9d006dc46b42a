//! Rows scaled into the unit ball, without a copy of their values.

use margins_data::metrics::{effective_size, equal_weights};
use margins_data::{Dataset, Design, Sample};
use margins_losses::OutOfRange;

use crate::Error;
use margins_optim::online::Direction;

/// The rows of a design, scaled into the unit ball: kept as they are, each with the factor that
/// scales it.
///
/// A halfspace through the origin decides alike on a row and on the scaled row, so that a halfspace
/// learned here applies to rows as they are. A row is divided by its own norm, which brings it to
/// the unit sphere, or all rows are divided by the same number, such as the
/// [largest norm](Self::largest_norm). A zero row stays zero.
#[derive(Debug, Clone)]
pub struct Sphere<'a> {
    design: &'a Design,
    /// The number that all rows are divided by; `None` if it is the norm of each.
    divisor: Option<f64>,
    inverse_norms: Vec<f64>,
    /// The squared norms of the scaled rows.
    squared_norms: Vec<f64>,
}

/// A scaled sample: of norm 1 if it was divided by its own norm and is not zero.
#[derive(Debug, Clone, Copy)]
pub struct UnitSample<'a> {
    sample: Sample<'a>,
    inverse_norm: f64,
    squared_norm: f64,
}

/// Returns the norm of a sample.
fn norm_of(sample: &Sample<'_>) -> f64 {
    // The squared norm is right unless it overflows or loses digits.
    let square = sample.squared_norm();
    if (1e-200..1e200).contains(&square) { square.sqrt() } else { sample.norm() }
}

/// Returns the inverse of a norm, and 0 of the norm 0.
fn inverse(norm: f64) -> Result<f64, Error> {
    if norm == 0.0 {
        return Ok(0.0);
    }
    if norm.is_normal() && norm.recip().is_normal() {
        Ok(norm.recip())
    } else {
        Err(Error::Direction { row: 0, norm })
    }
}

impl<'a> UnitSample<'a> {
    /// Returns a sample divided by its norm; a zero sample stays zero.
    ///
    /// # Errors
    /// The norm is not a finite number, or its inverse is not.
    pub fn new(sample: Sample<'a>) -> Result<Self, Error> {
        let inverse_norm = inverse(norm_of(&sample))?;
        let squared_norm = if inverse_norm > 0.0 { 1.0 } else { 0.0 };
        Ok(UnitSample { sample, inverse_norm, squared_norm })
    }

    /// Returns a sample divided by a number, or by its norm if there is none, as by
    /// [`Sphere::scaled`].
    ///
    /// # Errors
    /// The norm, or the number, has no inverse.
    pub fn divided(sample: Sample<'a>, divisor: Option<f64>) -> Result<Self, Error> {
        divisor.map_or_else(|| Self::new(sample), |divisor| Self::scaled(sample, inverse(divisor)?))
    }

    /// Returns a sample multiplied with a factor.
    fn scaled(sample: Sample<'a>, factor: f64) -> Result<Self, Error> {
        let norm = norm_of(&sample);
        if !norm.is_finite() {
            return Err(Error::Direction { row: 0, norm });
        }
        Ok(UnitSample { sample, inverse_norm: factor, squared_norm: (norm * factor).powi(2) })
    }

    /// Returns the product of `w` and the scaled sample.
    #[inline(always)]
    pub fn dot(&self, w: &[f64]) -> f64 {
        self.inverse_norm * self.sample.dot(w)
    }
}

impl Direction for UnitSample<'_> {
    #[inline(always)]
    fn dot(&self, w: &[f64]) -> f64 {
        UnitSample::dot(self, w)
    }

    #[inline(always)]
    fn add_to(&self, factor: f64, out: &mut [f64]) {
        self.sample.add_to(factor * self.inverse_norm, out);
    }

    #[inline(always)]
    fn squared_norm(&self) -> f64 {
        self.squared_norm
    }
}

impl<'a> Sphere<'a> {
    /// Returns the rows of a design, each divided by its norm.
    ///
    /// # Errors
    /// [`Error::Direction`] names a row that cannot be scaled to norm 1, though it is not zero.
    pub fn new(design: &'a Design) -> Result<Self, Error> {
        Self::scaled(design, None)
    }

    /// Returns the rows of a design, all of them divided by the same number if there is one, else
    /// each by its norm. Divided by 0 they are zero.
    ///
    /// # Errors
    /// [`Error::Direction`] names a row whose norm has no inverse, or overflows.
    pub fn scaled(design: &'a Design, divisor: Option<f64>) -> Result<Self, Error> {
        let factor = divisor.map(inverse).transpose()?;
        let unit = |(row, sample)| {
            let unit = match factor {
                Some(factor) => UnitSample::scaled(sample, factor),
                None => UnitSample::new(sample),
            };
            unit.map(|unit| (unit.inverse_norm, unit.squared_norm))
                .map_err(|error| error.of_row(row))
        };
        let units: Vec<(f64, f64)> =
            design.samples().enumerate().map(unit).collect::<Result<_, _>>()?;
        let (inverse_norms, squared_norms) = units.into_iter().unzip();
        Ok(Sphere { design, divisor, inverse_norms, squared_norms })
    }

    /// Returns the largest norm of a row, which brings all rows into the unit ball; 0 without rows.
    ///
    /// ```
    /// use margins_data::Design;
    /// use margins_massart::Sphere;
    ///
    /// let design = Design::from_rows(&[[3.0, 4.0], [0.0, 0.0], [0.0, 1.0]])?;
    /// let largest = Sphere::largest_norm(&design)?;
    /// let points = Sphere::scaled(&design, Some(largest))?;
    /// assert_eq!((largest, points.scores(&[0.0, 1.0])), (5.0, vec![0.8, 0.0, 0.2]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Direction`] names a row whose norm overflows.
    pub fn largest_norm(design: &Design) -> Result<f64, Error> {
        let mut largest: f64 = 0.0;
        for (row, sample) in design.samples().enumerate() {
            let norm = norm_of(&sample);
            if !norm.is_finite() {
                return Err(Error::Direction { row, norm });
            }
            largest = largest.max(norm);
        }
        Ok(largest)
    }

    /// Returns the number that all rows are divided by; `None` if it is the norm of each.
    pub fn divisor(&self) -> Option<f64> {
        self.divisor
    }

    /// Returns the number of samples n.
    pub fn rows(&self) -> usize {
        self.inverse_norms.len()
    }

    /// Returns the number of features d.
    pub fn columns(&self) -> usize {
        self.design.columns()
    }

    /// Returns the rows as they are.
    pub fn design(&self) -> &'a Design {
        self.design
    }

    /// Returns the factors of the rows, `1/||x_i||` where each is divided by its norm.
    pub(super) fn inverse_norms(&self) -> &[f64] {
        &self.inverse_norms
    }

    /// Returns row `i`, scaled.
    ///
    /// # Panics
    /// The method panics if `i >= n`.
    #[inline(always)]
    pub fn sample(&self, i: usize) -> UnitSample<'a> {
        UnitSample {
            sample: self.design.sample(i),
            inverse_norm: self.inverse_norms[i],
            squared_norm: self.squared_norms[i],
        }
    }

    /// Returns the scores `<w, x_i>` of all scaled rows.
    ///
    /// # Panics
    /// The method panics if `w` is not of length d.
    pub fn scores(&self, w: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.rows()];
        self.design.multiply(w, &mut scores);
        scores.iter_mut().zip(&self.inverse_norms).for_each(|(score, inverse)| *score *= inverse);
        scores
    }
}

/// An empirical distribution in the unit ball: samples with their signs and weights.
#[derive(Debug, Clone)]
pub struct SphereSample<'a> {
    points: Sphere<'a>,
    signs: Vec<f64>,
    /// The weights, of positive sum; they are not scaled, so that counts stay exact.
    weights: Vec<f64>,
    total: f64,
}

impl<'a> SphereSample<'a> {
    /// Returns the samples of a design, of weight 1, each divided by its norm.
    ///
    /// # Errors
    /// The errors of [`scaled`](Self::scaled).
    pub fn new(design: &'a Design, signs: &[f64]) -> Result<Self, Error> {
        Self::scaled(design, signs, None)
    }

    /// Returns the samples of a design, of weight 1, divided as by [`Sphere::scaled`].
    ///
    /// # Errors
    /// [`Error::Direction`]: a row cannot be scaled. [`Error::Shape`]: there is not one sign a row.
    /// [`Error::Sign`]: a sign is neither +1 nor -1.
    pub fn scaled(design: &'a Design, signs: &[f64], divisor: Option<f64>) -> Result<Self, Error> {
        let expected = design.rows();
        if signs.len() != expected {
            return Err(Error::Shape { what: "signs, one per row", expected, found: signs.len() });
        }
        if let Some(row) = signs.iter().position(|sign| sign.abs() != 1.0) {
            return Err(Error::Sign { row, sign: signs[row] });
        }
        let points = Sphere::scaled(design, divisor)?;
        let total = expected as f64;
        Ok(SphereSample { points, signs: signs.to_vec(), weights: vec![1.0; expected], total })
    }

    /// Returns the samples of a data set, with its weights, each divided by its norm.
    ///
    /// # Errors
    /// [`Error::Direction`]: a row cannot be scaled.
    pub fn of(data: &'a Dataset) -> Result<Self, Error> {
        let sample = Self::new(data.design(), data.labels().signs())?;
        match data.weights() {
            Some(weights) => sample.with_weights(weights.to_vec()),
            None => Ok(sample),
        }
    }

    /// Returns the samples with other weights.
    ///
    /// # Errors
    /// [`Error::Shape`]: there is not one weight per row. [`Error::Weight`]: a weight is negative or
    /// not finite. [`Error::Parameter`]: the sum is not positive.
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self, Error> {
        let expected = self.signs.len();
        if weights.len() != expected {
            return Err(Error::Shape {
                what: "weights, one per row",
                expected,
                found: weights.len(),
            });
        }
        if let Some(row) = weights.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
            return Err(Error::Weight { row, value: weights[row] });
        }
        let total = OutOfRange::check_positive("the sum of weights", weights.iter().sum())?;
        Ok(SphereSample { weights, total, ..self })
    }

    /// Returns the unit samples.
    pub fn points(&self) -> &Sphere<'a> {
        &self.points
    }

    /// Returns the number of samples n.
    pub fn rows(&self) -> usize {
        self.signs.len()
    }

    /// Returns the number of features d.
    pub fn columns(&self) -> usize {
        self.points.columns()
    }

    /// Returns the signs, +1 or -1.
    pub fn signs(&self) -> &[f64] {
        &self.signs
    }

    /// Returns the weights, as given.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns the sum of the weights.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// Returns the number of samples of positive weight if these weights are equal.
    pub(super) fn equal_weights(&self) -> Option<usize> {
        equal_weights(&self.weights)
    }

    /// Returns `(sum w)^2 / sum w^2`, the effective number of samples of equal weight.
    pub(super) fn effective_size(&self) -> f64 {
        effective_size(&self.weights)
    }

    /// Returns the share of the samples that the halfspace gets wrong, `sign(<w, x>) != y` with
    /// sign(0) = +1.
    ///
    /// # Panics
    /// The method panics if `w` is not of length d.
    pub fn error(&self, w: &[f64]) -> f64 {
        self.wrong(&self.points.scores(w)) / self.total
    }

    /// Returns the weight of the samples that scores get wrong.
    pub(super) fn wrong(&self, scores: &[f64]) -> f64 {
        let wrong =
            |i: usize| if is_wrong(scores[i], self.signs[i]) { self.weights[i] } else { 0.0 };
        (0..scores.len()).map(wrong).sum()
    }

    /// Returns the mean over the samples of `factor(<w, x>, y) x`, from the scores of w.
    pub(super) fn mean(&self, scores: &[f64], factor: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let term = |i: usize| {
            let weight = self.weights[i] / self.total * self.points.inverse_norms()[i];
            weight * factor(scores[i], self.signs[i])
        };
        let z: Vec<f64> = (0..scores.len()).map(term).collect();
        let mut mean = vec![0.0; self.columns()];
        self.points.design.multiply_transposed(&z, &mut mean);
        mean
    }
}

/// Returns true if a score decides against a sign; sign(0) = +1.
#[inline(always)]
pub(super) fn is_wrong(score: f64, sign: f64) -> bool {
    (score >= 0.0) != (sign > 0.0)
}
