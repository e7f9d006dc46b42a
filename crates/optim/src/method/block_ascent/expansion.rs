//! The functions of the classes, as sums over the samples.

use margins_data::Design;
use nalgebra::DMatrix;

use crate::products::sample_gram;

/// The k functions `f_c = sum_i a_ic k(x_i, .)`, known by their values at the samples.
pub(crate) trait Expansion {
    /// Returns the inner product `K_ii` of a sample with itself.
    fn square(&self, i: usize) -> f64;

    /// Returns the inner products of some samples.
    fn products(&self, samples: &[usize]) -> DMatrix<f64>;

    /// Writes the values of all functions at a sample.
    fn write_scores(&self, i: usize, out: &mut [f64]);

    /// Adds an amount to the coefficient `a_ic`.
    fn add(&mut self, i: usize, class: usize, amount: f64);

    /// Multiplies all functions by a number.
    fn scale(&mut self, factor: f64);

    /// Computes all functions again from their coefficients, n numbers a class.
    fn renew(&mut self, coefs: &DMatrix<f64>);
}

/// Functions of the space of a kernel, by a matrix in memory.
pub(crate) struct OnMatrix<'m> {
    matrix: &'m DMatrix<f64>,
    /// The values at the samples, a column a class.
    scores: DMatrix<f64>,
}

impl<'m> OnMatrix<'m> {
    pub(crate) fn new(matrix: &'m DMatrix<f64>, classes: usize) -> Self {
        OnMatrix { matrix, scores: DMatrix::zeros(matrix.nrows(), classes) }
    }
}

impl Expansion for OnMatrix<'_> {
    fn square(&self, i: usize) -> f64 {
        self.matrix[(i, i)]
    }

    fn products(&self, samples: &[usize]) -> DMatrix<f64> {
        let count = samples.len();
        DMatrix::from_fn(count, count, |a, b| self.matrix[(samples[a], samples[b])])
    }

    fn write_scores(&self, i: usize, out: &mut [f64]) {
        out.iter_mut().zip(self.scores.row(i).iter()).for_each(|(out, s)| *out = *s);
    }

    fn add(&mut self, i: usize, class: usize, amount: f64) {
        let n = self.matrix.nrows();
        let scores = &mut self.scores.as_mut_slice()[class * n..(class + 1) * n];
        let column = &self.matrix.as_slice()[i * n..(i + 1) * n];
        scores.iter_mut().zip(column).for_each(|(s, k)| *s += amount * k);
    }

    fn scale(&mut self, factor: f64) {
        self.scores *= factor;
    }

    fn renew(&mut self, coefs: &DMatrix<f64>) {
        self.matrix.mul_to(coefs, &mut self.scores);
    }
}

/// Linear functions of features, by their coefficients.
pub(crate) struct OnFeatures<'d> {
    design: &'d Design,
    classes: usize,
    /// The coefficients of all classes for one feature after another: those of a sample are near each other.
    coefs: Vec<f64>,
}

impl<'d> OnFeatures<'d> {
    pub(crate) fn new(design: &'d Design, classes: usize) -> Self {
        OnFeatures { design, classes, coefs: vec![0.0; design.columns() * classes] }
    }

    /// Returns the coefficients, p numbers a class.
    pub(crate) fn coefs(&self) -> Vec<f64> {
        let of_class = |c: usize| self.coefs.iter().skip(c).step_by(self.classes).copied();
        (0..self.classes).flat_map(of_class).collect()
    }
}

impl Expansion for OnFeatures<'_> {
    fn square(&self, i: usize) -> f64 {
        self.design.sample(i).squared_norm()
    }

    fn products(&self, samples: &[usize]) -> DMatrix<f64> {
        sample_gram(&self.design.select(samples))
    }

    fn write_scores(&self, i: usize, out: &mut [f64]) {
        let k = self.classes;
        out.fill(0.0);
        self.design.sample(i).for_each(|j, x| {
            let of_feature = &self.coefs[j * k..(j + 1) * k];
            out.iter_mut().zip(of_feature).for_each(|(out, w)| *out += x * w);
        });
    }

    fn add(&mut self, i: usize, class: usize, amount: f64) {
        let (k, coefs) = (self.classes, &mut self.coefs);
        self.design.sample(i).for_each(|j, x| coefs[j * k + class] += amount * x);
    }

    fn scale(&mut self, factor: f64) {
        self.coefs.iter_mut().for_each(|w| *w *= factor);
    }

    fn renew(&mut self, coefs: &DMatrix<f64>) {
        let mut of_class = vec![0.0; self.design.columns()];
        for (class, coefs) in coefs.column_iter().enumerate() {
            self.design.multiply_transposed(coefs.as_slice(), &mut of_class);
            let places = self.coefs.iter_mut().skip(class).step_by(self.classes);
            places.zip(&of_class).for_each(|(w, sum)| *w = *sum);
        }
    }
}
