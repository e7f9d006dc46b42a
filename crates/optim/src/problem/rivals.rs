//! The margins of samples of several classes over the other classes.

use std::borrow::Cow;

use margins_data::parallel;
use nalgebra::DMatrix;

/// The samples of a part that a thread takes.
pub(crate) const ROWS: usize = 1 << 10;

/// The classes of n samples, of k, with the layout of their margins: those of sample i are the
/// k - 1 numbers `u_ic = s_y(x_i) - s_c(x_i)` for its class y and its rivals c, ascending.
///
/// Scores are n x k numbers, those of a sample one after another.
#[derive(Debug, Clone)]
pub(crate) struct Rivals<'a> {
    classes: Cow<'a, [u32]>,
    count: usize,
}

impl<'a> Rivals<'a> {
    /// Returns the rivals of samples whose classes are below `count`.
    pub(crate) fn new(classes: Cow<'a, [u32]>, count: usize) -> Self {
        debug_assert!(count >= 2 && classes.iter().all(|&class| (class as usize) < count));
        Rivals { classes, count }
    }

    /// Returns the number of samples.
    pub(crate) fn samples(&self) -> usize {
        self.classes.len()
    }

    /// Returns the number k of classes.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of margins, n (k - 1).
    pub(crate) fn pairs(&self) -> usize {
        self.samples() * (self.count - 1)
    }

    /// Returns the class of a sample.
    pub(crate) fn class(&self, i: usize) -> usize {
        self.classes[i] as usize
    }

    /// Returns the class of every sample.
    pub(crate) fn classes(&self) -> impl Iterator<Item = usize> {
        self.classes.iter().map(|&class| class as usize)
    }

    /// Returns the rivals of a class, ascending.
    pub(crate) fn of(&self, class: usize) -> impl Iterator<Item = usize> + use<> {
        (0..class).chain(class + 1..self.count)
    }

    /// Writes the margins of scores.
    pub(crate) fn margins(&self, scores: &[f64], out: &mut [f64]) {
        let k = self.count;
        parallel::for_each_chunk(out, ROWS * (k - 1), |part, out| {
            let scores = scores[part * ROWS * k..].chunks_exact(k);
            for (i, (scores, out)) in (part * ROWS..).zip(scores.zip(out.chunks_exact_mut(k - 1))) {
                let own = self.class(i);
                out.iter_mut().zip(self.of(own)).for_each(|(u, c)| *u = scores[own] - scores[c]);
            }
        });
    }

    /// Writes the margins of scores that are each the sum of two numbers, as such sums themselves.
    pub(crate) fn margins_accurately(
        &self,
        (high, low): (&[f64], &[f64]),
        (out, rest): (&mut [f64], &mut [f64]),
    ) {
        let mut pair = 0;
        for (i, class) in self.classes().enumerate() {
            let own = i * self.count + class;
            for other in self.of(class).map(|c| i * self.count + c) {
                // The difference and what rounding takes from it (Knuth 1969).
                let difference = high[own] - high[other];
                let part = difference - high[own];
                let lost = (high[own] - (difference - part)) - (high[other] + part);
                out[pair] = difference;
                rest[pair] = lost + (low[own] - low[other]);
                pair += 1;
            }
        }
    }

    /// Writes the derivatives in the scores of a function of the margins, given those in the margins.
    pub(crate) fn pulls(&self, of_margin: impl Fn(usize) -> f64, out: &mut [f64]) {
        let mut pair = 0;
        for (class, out) in self.classes().zip(out.chunks_exact_mut(self.count)) {
            let mut own = 0.0;
            for c in self.of(class) {
                let pull = of_margin(pair);
                (out[c], own, pair) = (-pull, own + pull, pair + 1);
            }
            out[class] = own;
        }
    }
}

/// Returns the Laplacian matrix over the classes whose edge between a and b has the weight `W_ab + W_ba`: second
/// derivatives of a function of differences of scores. The diagonal of W does not count.
pub(crate) fn laplacian(weights: &DMatrix<f64>) -> DMatrix<f64> {
    let mut matrix = -(weights + weights.transpose());
    matrix.fill_diagonal(0.0);
    let sums = -matrix.column_sum();
    matrix.set_diagonal(&sums);
    matrix
}
