//! A halfspace and uniform points of the sphere with a margin to it.

use nalgebra::DMatrix;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Adversary, RandomStream, generator, normal};
use crate::{Design, Error, Sample};

/// A halfspace `{x : <w*, x> > 0}` and the part of the unit sphere in R^d that is at least gamma
/// away from its boundary, `|<w*, x>| >= gamma`.
///
/// Source: Diakonikolas and Zarifis (2024), definition 1.2.
#[derive(Debug, Clone, PartialEq)]
pub struct MarginHalfspace {
    normal: Vec<f64>,
    margin: f64,
}

impl MarginHalfspace {
    /// Draws a halfspace of R^d whose unit normal `w*` is uniform on the sphere.
    ///
    /// # Errors
    /// d is less than 2, or gamma is not strictly between 0 and 1.
    pub fn new(d: usize, margin: f64, seed: u64) -> Result<Self, Error> {
        if d < 2 {
            return Err(Error::parameter("the number of features", d, "at least 2"));
        }
        if !(margin > 0.0 && margin < 1.0) {
            return Err(Error::parameter("the margin", margin, "strictly between 0 and 1"));
        }
        let mut random = generator(seed, RandomStream::Halfspace);
        Ok(MarginHalfspace { normal: unit_vector(d, &[], &mut random), margin })
    }

    /// Returns the unit normal `w*`.
    pub fn normal(&self) -> &[f64] {
        &self.normal
    }

    /// Returns gamma.
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// Draws `n` independent points, uniform on the part of the sphere with the margin.
    ///
    /// # Errors
    /// `n` is zero.
    pub fn points(&self, n: usize, seed: u64) -> Result<Design, Error> {
        let d = self.normal.len();
        let mut random = generator(seed, RandomStream::Points);
        Design::check_room(n, d)?;
        let mut values = Vec::with_capacity(n * d);
        for _ in 0..n {
            let along = if random.random() { 1.0 } else { -1.0 } * self.height(&mut random);
            let across = (1.0 - along * along).max(0.0).sqrt();
            let direction = unit_vector(d, std::slice::from_ref(&self.normal), &mut random);
            values.extend(self.normal.iter().zip(direction).map(|(w, v)| along * w + across * v));
        }
        Design::from_samples(DMatrix::from_vec(d, n, values))
    }

    /// Draws `n` independent points that lead convex surrogates astray when the noise is
    /// [`Adversary::Region`] with the direction that comes back, and `eta <= bound`.
    ///
    /// With a direction u orthogonal to w* and `y x` for a clean label y: a share of the points is
    /// `gamma w* + sqrt(1 - gamma^2) u`, clean; the others are `gamma w* - beta u + rest v`, noisy,
    /// where v is a random direction orthogonal to both, of which the mean is 0. The minimiser of
    /// the LeakyReLU loss with slope eta is near u because the pull of the noisy points, in the
    /// mean, is only that of `gamma w* - beta u`, times `1 - 2 eta`: it gets all of them wrong, an
    /// error of their share times `1 - eta`. That happens if the ratio of the noisy to the clean
    /// share is below `eta/(1 - 2 eta) (b beta - gamma^2)/(gamma^2 + beta^2)` with `b = sqrt(1 -
    /// gamma^2)`, which is largest for `beta = gamma (1 + gamma)/b`; here it is four fifths of
    /// that.
    ///
    /// In the plane there is no v: the noisy points are `gamma w* - b u`, and the minimiser has
    /// them on its boundary.
    ///
    /// # Errors
    /// `n` is zero, or the bound is not strictly between 0 and 1/2.
    pub fn trap(&self, n: usize, bound: f64, seed: u64) -> Result<(Design, Adversary), Error> {
        if !(bound > 0.0 && bound < 0.5) {
            return Err(Error::parameter("the noise bound", bound, "strictly between 0 and 1/2"));
        }
        let (d, gamma) = (self.normal.len(), self.margin);
        let b = (1.0 - gamma * gamma).sqrt();
        let beta = if d == 2 { b } else { (gamma * (1.0 + gamma) / b).min(b) };
        let leverage = (b * beta - gamma * gamma) / (gamma * gamma + beta * beta);
        let ratio = 0.8 * bound / (1.0 - 2.0 * bound) * leverage;
        let mut random = generator(seed, RandomStream::Points);
        let u = unit_vector(d, std::slice::from_ref(&self.normal), &mut random);
        let frame = [self.normal.clone(), u.clone()];
        let rest = (b * b - beta * beta).max(0.0).sqrt();
        Design::check_room(n, d)?;
        let mut values = Vec::with_capacity(n * d);
        for _ in 0..n {
            let sign = if random.random() { 1.0 } else { -1.0 };
            let noisy = random.random::<f64>() * (1.0 + ratio) < ratio;
            let along = if noisy { -beta } else { b };
            let start = values.len();
            values.extend(self.normal.iter().zip(&u).map(|(w, u)| sign * (gamma * w + along * u)));
            if noisy && d > 2 {
                let v = unit_vector(d, &frame, &mut random);
                values[start..].iter_mut().zip(v).for_each(|(x, v)| *x += sign * rest * v);
            }
        }
        let points = Design::from_samples(DMatrix::from_vec(d, n, values))?;
        Ok((points, Adversary::Region(u.into_iter().map(|u| -u).collect())))
    }

    /// Draws `|<w*, x>|`, of density proportional to `(1 - t^2)^((d-3)/2)` on [gamma, 1]: its
    /// square is drawn from `(1 - s)^((d-3)/2)` and accepted with probability `gamma/t`, which
    /// leaves the factor `ds/dt` over `2t`.
    fn height(&self, random: &mut ChaCha8Rng) -> f64 {
        let exponent = 2.0 / (self.normal.len() as f64 - 1.0);
        loop {
            let share: f64 = random.random::<f64>().powf(exponent);
            let t = (1.0 - (1.0 - self.margin * self.margin) * share).sqrt().max(self.margin);
            if random.random::<f64>() * t < self.margin {
                return t;
            }
        }
    }
}

/// Draws a uniform unit vector orthogonal to fewer than d orthonormal ones.
fn unit_vector(d: usize, orthogonal_to: &[Vec<f64>], random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut vector: Vec<f64> = (0..d).map(|_| normal(random)).collect();
    // The second round removes what rounding leaves where most of a vector was along the others.
    for _ in 0..2 {
        for other in orthogonal_to {
            let along: f64 = vector.iter().zip(other).map(|(v, w)| v * w).sum();
            vector.iter_mut().zip(other).for_each(|(v, w)| *v -= along * w);
        }
        let norm = Sample::Dense(&vector).norm();
        vector.iter_mut().for_each(|v| *v /= norm);
    }
    vector
}
