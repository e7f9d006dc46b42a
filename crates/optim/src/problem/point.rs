//! A point of an objective with its products.

use margins_data::Design;

/// The products `X w`, one number per sample, wherever the samples are: a vector in memory, or a
/// handle on numbers kept elsewhere.
pub trait Products: Clone {
    /// Returns `self + t other`.
    #[must_use]
    fn plus(&self, t: f64, other: &Self) -> Self;

    /// Returns `factor self`.
    #[must_use]
    fn times(&self, factor: f64) -> Self;

    /// Adds `t other`: self is what [`plus`](Self::plus) returns.
    fn add(&mut self, t: f64, other: &Self) {
        *self = self.plus(t, other);
    }
}

impl Products for Vec<f64> {
    fn plus(&self, t: f64, other: &Self) -> Self {
        self.iter().zip(other).map(|(a, d)| a + t * d).collect()
    }

    fn times(&self, factor: f64) -> Self {
        self.iter().map(|x| factor * x).collect()
    }

    fn add(&mut self, t: f64, other: &Self) {
        self.iter_mut().zip(other).for_each(|(a, d)| *a += t * d);
    }
}

/// An intercept and coefficients with the products, `X w` or `K a`, that belong to them.
#[derive(Debug, Clone)]
pub struct Point<P = Vec<f64>> {
    /// The intercept `b`.
    pub intercept: f64,
    /// The coefficients: `w`, or `a` of a kernel classifier.
    pub coef: Vec<f64>,
    /// The scores less the intercept, one per sample.
    pub products: P,
}

impl Point {
    /// Returns the origin, for this number of samples and of coefficients.
    pub fn zero(samples: usize, coefficients: usize) -> Self {
        Point { intercept: 0.0, coef: vec![0.0; coefficients], products: vec![0.0; samples] }
    }

    /// Returns a point with the products of a design.
    pub fn at(design: &Design, intercept: f64, coef: Vec<f64>) -> Self {
        let mut products = vec![0.0; design.rows()];
        design.multiply(&coef, &mut products);
        Point { intercept, coef, products }
    }

    /// Returns the margin `y_i f(x_i)`.
    pub(crate) fn margin(&self, i: usize, signs: &[f64]) -> f64 {
        signs[i] * (self.products[i] + self.intercept)
    }
}

impl<P> Point<P> {
    /// Returns the point without its products.
    pub(crate) fn bare(self) -> Point<()> {
        Point { intercept: self.intercept, coef: self.coef, products: () }
    }
}

impl<P: Products> Point<P> {
    /// Makes it `self + t direction`, whose coefficients and best intercept are known.
    pub(crate) fn advance(&mut self, t: f64, direction: &Self, to: Point<()>) {
        self.products.add(t, &direction.products);
        (self.intercept, self.coef) = (to.intercept, to.coef);
    }

    /// Returns `self + t direction`.
    #[must_use]
    pub fn step(&self, t: f64, direction: &Self) -> Self {
        Point {
            intercept: self.intercept + t * direction.intercept,
            coef: self.coef.plus(t, &direction.coef),
            products: self.products.plus(t, &direction.products),
        }
    }

    /// Returns the point without its products.
    pub(crate) fn place(&self) -> Point<()> {
        Point { intercept: self.intercept, coef: self.coef.clone(), products: () }
    }

    /// Returns `factor self`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Point {
            intercept: factor * self.intercept,
            coef: self.coef.times(factor),
            products: self.products.times(factor),
        }
    }
}
