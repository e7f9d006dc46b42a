//! A borrowed sample, dense or sparse, with its inner products and norms.

use crate::inner_loops::{axpy, dot, dot_sparse};

/// A sample, borrowed from a [`Design`](crate::Design).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sample<'a> {
    /// The values of all features.
    Dense(&'a [f64]),
    /// The stored features only.
    Sparse {
        /// The zero-based columns, strictly increasing and below `features`.
        columns: &'a [usize],
        /// The values in those columns.
        values: &'a [f64],
        /// The number of features p, of which those that are not stored are 0.
        features: usize,
    },
}

impl Sample<'_> {
    /// Returns the number of features p, stored or not.
    ///
    /// ```
    /// use margins_data::Sample;
    ///
    /// assert_eq!(Sample::Dense(&[0.0, 2.0, 0.0]).features(), 3);
    /// assert_eq!(Sample::Sparse { columns: &[1], values: &[2.0], features: 3 }.features(), 3);
    /// ```
    pub fn features(&self) -> usize {
        match *self {
            Sample::Dense(x) => x.len(),
            Sample::Sparse { features, .. } => features,
        }
    }

    /// Returns `<x, w>`.
    #[inline(always)]
    pub fn dot(&self, w: &[f64]) -> f64 {
        match *self {
            Sample::Dense(x) => dot(x, w),
            Sample::Sparse { columns, values, .. } => dot_sparse(columns, values, w),
        }
    }

    /// Computes `out += factor x`.
    #[inline(always)]
    pub fn add_to(&self, factor: f64, out: &mut [f64]) {
        match *self {
            Sample::Dense(x) => axpy(factor, x, out),
            Sample::Sparse { columns, values, .. } => {
                for (&column, &value) in columns.iter().zip(values) {
                    out[column] += factor * value;
                }
            }
        }
    }

    /// Returns the number of stored features: all of them if dense.
    pub fn stored(&self) -> usize {
        match self {
            Sample::Dense(x) => x.len(),
            Sample::Sparse { values, .. } => values.len(),
        }
    }

    /// Calls `visit(column, value)` for every stored feature, columns ascending.
    #[inline]
    pub fn for_each(&self, mut visit: impl FnMut(usize, f64)) {
        match *self {
            Sample::Dense(x) => {
                for (column, &value) in x.iter().enumerate() {
                    visit(column, value);
                }
            }
            Sample::Sparse { columns, values, .. } => {
                for (&column, &value) in columns.iter().zip(values) {
                    visit(column, value);
                }
            }
        }
    }

    /// Returns `||x - z||^2`, from the differences: no cancellation between near samples.
    pub fn squared_distance(&self, other: &Sample<'_>) -> f64 {
        let mut sum = 0.0;
        self.for_each_pair(other, |x, z| sum += (x - z) * (x - z));
        sum
    }

    /// Calls `visit(x_k, z_k)` for every feature that one of the samples stores. The features that
    /// neither stores are pairs of zeros; there are [`features`](Self::features) of all kinds.
    pub fn for_each_pair(&self, other: &Sample<'_>, mut visit: impl FnMut(f64, f64)) {
        match (*self, *other) {
            (Sample::Dense(x), Sample::Dense(z)) => {
                x.iter().zip(z).for_each(|(&x, &z)| visit(x, z));
            }
            (Sample::Dense(x), Sample::Sparse { columns, values, .. }) => {
                densify(x.len(), columns, values).zip(x).for_each(|(z, &x)| visit(x, z));
            }
            (Sample::Sparse { columns, values, .. }, Sample::Dense(z)) => {
                densify(z.len(), columns, values).zip(z).for_each(|(x, &z)| visit(x, z));
            }
            (
                Sample::Sparse { columns: xs, values: x, .. },
                Sample::Sparse { columns: zs, values: z, .. },
            ) => {
                let (mut i, mut j) = (0, 0);
                while i < xs.len() || j < zs.len() {
                    let next = |columns: &[usize], at: usize| columns.get(at).copied();
                    match (next(xs, i), next(zs, j)) {
                        (Some(a), Some(b)) if a == b => {
                            visit(x[i], z[j]);
                            (i, j) = (i + 1, j + 1);
                        }
                        (Some(a), b) if b.is_none_or(|b| a < b) => {
                            visit(x[i], 0.0);
                            i += 1;
                        }
                        _ => {
                            visit(0.0, z[j]);
                            j += 1;
                        }
                    }
                }
            }
        }
    }

    /// Returns `||x||^2`.
    #[inline(always)]
    pub fn squared_norm(&self) -> f64 {
        match *self {
            Sample::Dense(x) => dot(x, x),
            Sample::Sparse { values, .. } => dot(values, values),
        }
    }

    /// Returns `||x||`, without overflow where only its square has it.
    pub fn norm(&self) -> f64 {
        norm(|visit| self.for_each(|_, x| visit(x)))
    }

    /// Returns `||x - z||`, from the differences, without overflow or underflow where only the
    /// square has it.
    ///
    /// ```
    /// use margins_data::Sample;
    ///
    /// let distance = Sample::Dense(&[4e200, 0.0]).distance(&Sample::Dense(&[1e200, 4e200]));
    /// assert!((distance / 5e200 - 1.0).abs() < 1e-15);
    /// ```
    pub fn distance(&self, other: &Sample<'_>) -> f64 {
        norm(|visit| self.for_each_pair(other, |x, z| visit(x - z)))
    }
}

/// Returns the norm of the values that `for_each` visits, without overflow or underflow on the way.
fn norm(for_each: impl Fn(&mut dyn FnMut(f64))) -> f64 {
    let mut largest = 0.0f64;
    for_each(&mut |x| largest = largest.max(x.abs()));
    if largest == 0.0 || largest.is_infinite() {
        return largest;
    }
    let mut sum = 0.0;
    for_each(&mut |x| sum += (x / largest).powi(2));
    largest * sum.sqrt()
}

fn densify<'a>(
    p: usize,
    columns: &'a [usize],
    values: &'a [f64],
) -> impl Iterator<Item = f64> + 'a {
    let mut stored = columns.iter().zip(values).peekable();
    (0..p).map(move |k| stored.next_if(|(column, _)| **column == k).map_or(0.0, |(_, z)| *z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_neither_overflow_nor_vanish() {
        for (row, norm) in [([3e300, 4e300], 5e300), ([3e-300, 4e-300], 5e-300), ([0.0; 2], 0.0)] {
            let (sample, half) = (Sample::Dense(&row), [row[0] / 2.0, row[1] / 2.0]);
            assert!((sample.norm() - norm).abs() <= 1e-15 * norm);
            let distance = sample.distance(&Sample::Dense(&half));
            assert!((distance - norm / 2.0).abs() <= 1e-15 * norm);
            let stored = Sample::Sparse { columns: &[0, 1], values: &half, features: 2 };
            assert_eq!(stored.distance(&sample), distance);
        }
    }
}
