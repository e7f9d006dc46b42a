//! Blocks of pairs of samples, whose kernel values are computed together from their inner products
//! and distances.

use std::borrow::Cow;
use std::ops::Range;

use faer::{Accum, MatMut, MatRef, Par};
use margins_data::{Design, Sample};
use pulp::{Arch, Simd, WithSimd};

use crate::Error;

/// Samples with the norms from which the distances between them are computed.
#[derive(Debug, Clone)]
pub struct Points<'a> {
    design: &'a Design,
    /// The dense samples less a centre, so that the norms are no larger than they have to be.
    centered: Cow<'a, [f64]>,
    /// The squared distances `||x - centre||^2`.
    norms: Vec<f64>,
}

/// Returns what is subtracted from dense samples: the mean of one design.
pub(crate) fn center(design: &Design) -> Vec<f64> {
    let mut center = vec![0.0; design.columns()];
    if !design.is_sparse() {
        design.samples().for_each(|x| x.add_to(1.0 / design.rows() as f64, &mut center));
    }
    center
}

impl<'a> Points<'a> {
    /// Prepares the samples of a design for values among themselves.
    pub fn new(design: &'a Design) -> Self {
        Self::less(&center(design), design)
    }

    /// Prepares samples for values with others that are prepared around the same centre.
    ///
    /// # Errors
    /// Another number of features than the centre has.
    pub(crate) fn around(center: &[f64], design: &'a Design) -> Result<Self, Error> {
        let (expected, found) = (center.len(), design.columns());
        if expected != found {
            return Err(Error::Shape { what: "features", expected, found });
        }
        Ok(Self::less(center, design))
    }

    fn less(center: &[f64], design: &'a Design) -> Self {
        let Some(samples) = design.dense_samples() else {
            let norms = design.samples().map(|x| x.squared_norm()).collect();
            return Points { design, centered: Cow::Borrowed(&[]), norms };
        };
        let p = center.len();
        let centered: Vec<f64> =
            samples.iter().enumerate().map(|(at, x)| x - center[at % p]).collect();
        let norms = centered.chunks_exact(p).map(|x| x.iter().map(|x| x * x).sum()).collect();
        Points { design, centered: Cow::Owned(centered), norms }
    }

    /// Returns the number of samples.
    pub fn len(&self) -> usize {
        self.norms.len()
    }

    /// Returns true if there are no samples.
    pub fn is_empty(&self) -> bool {
        self.norms.is_empty()
    }
}

/// A block of pairs of samples whose kernel values are computed together: some samples, the rows,
/// with some others, the columns. Values are stored column after column.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    rows: &'a Points<'a>,
    pub(crate) first_row: usize,
    pub(crate) row_count: usize,
    columns: &'a Points<'a>,
    pub(crate) first_column: usize,
    column_count: usize,
}

impl<'a> Block<'a> {
    /// The number of samples on a side of blocks whose values stay in the cache.
    pub const SIDE: usize = 256;

    /// Returns the block of some samples with some others, or the same ones.
    ///
    /// # Panics
    /// If there are no such samples.
    pub fn new(points: &'a Points<'a>, rows: Range<usize>, columns: Range<usize>) -> Self {
        Self::between((points, rows), (points, columns))
    }

    /// Returns the block of samples that are prepared around the same centre.
    ///
    /// # Panics
    /// If there are no such samples.
    pub(crate) fn between(
        (rows, of_rows): (&'a Points<'a>, Range<usize>),
        (columns, of_columns): (&'a Points<'a>, Range<usize>),
    ) -> Self {
        let is_within = of_rows.end <= rows.len() && of_columns.end <= columns.len();
        assert!(is_within, "samples of a block");
        Block {
            rows,
            first_row: of_rows.start,
            row_count: of_rows.len(),
            columns,
            first_column: of_columns.start,
            column_count: of_columns.len(),
        }
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.row_count * self.column_count
    }

    /// Returns true if there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of features p.
    pub fn features(&self) -> usize {
        self.rows.design.columns()
    }

    pub(crate) fn row(&self, i: usize) -> Sample<'_> {
        self.rows.design.sample(self.first_row + i)
    }

    pub(crate) fn column(&self, j: usize) -> Sample<'_> {
        self.columns.design.sample(self.first_column + j)
    }

    /// Fills a value for each pair, by a function of it.
    pub fn pairs(&self, value: impl Fn(&Sample<'_>, &Sample<'_>) -> f64, out: &mut [f64]) {
        for (j, out) in out.chunks_exact_mut(self.row_count.max(1)).enumerate() {
            let z = self.column(j);
            for (i, out) in out.iter_mut().enumerate() {
                *out = value(&self.row(i), &z);
            }
        }
    }

    /// Fills `<x, z>` for each pair, as a matrix product.
    pub fn inner_products(&self, out: &mut [f64]) {
        let dense = self.rows.design.dense_samples().zip(self.columns.design.dense_samples());
        match dense {
            Some((rows, columns)) => self.product(rows, columns, out),
            None => self.sparse_products(out),
        }
    }

    /// Fills `||x - z||` for each pair: the roots of
    /// [`squared_distances`](Self::squared_distances), but from the differences where the squares
    /// overflow or vanish.
    pub fn distances(&self, out: &mut [f64]) {
        /// The square below which a sum of squares may have lost digits or vanished.
        const LEAST: f64 = 1e-290;
        self.squared_distances(out);
        for (j, out) in out.chunks_exact_mut(self.row_count.max(1)).enumerate() {
            for (i, out) in out.iter_mut().enumerate() {
                let faithful = (LEAST..=f64::MAX).contains(out);
                *out = if faithful { out.sqrt() } else { self.row(i).distance(&self.column(j)) };
            }
        }
    }

    /// Fills `||x - z||^2` for each pair, as a matrix product, but from the differences where that
    /// would cancel or is no number: equal samples have the distance 0. A square may overflow to
    /// infinity or vanish where the distance does not; see [`distances`](Self::distances).
    pub fn squared_distances(&self, out: &mut [f64]) {
        if self.rows.centered.is_empty() || self.columns.centered.is_empty() {
            self.inner_products(out);
        } else {
            self.product(&self.rows.centered, &self.columns.centered, out);
        }
        let row_norms = &self.rows.norms[self.first_row..][..self.row_count];
        let arch = Arch::new();
        for (j, out) in out.chunks_exact_mut(self.row_count.max(1)).enumerate() {
            let column_norm = self.columns.norms[self.first_column + j];
            if arch.dispatch(Squares { row_norms, column_norm, out }) {
                continue;
            }
            let z = self.column(j);
            for (i, (out, row_norm)) in out.iter_mut().zip(row_norms).enumerate() {
                if !is_far(*out, row_norm + column_norm) {
                    *out = self.row(i).squared_distance(&z);
                }
            }
        }
    }

    /// Fills inner products of dense samples, `R'C` for samples as columns.
    fn product(&self, rows: &[f64], columns: &[f64], out: &mut [f64]) {
        let p = self.rows.design.columns();
        let of = |first: usize, count: usize| first * p..(first + count) * p;
        let rows = &rows[of(self.first_row, self.row_count)];
        let columns = &columns[of(self.first_column, self.column_count)];
        faer::linalg::matmul::matmul(
            MatMut::from_column_major_slice_mut(out, self.row_count, self.column_count),
            Accum::Replace,
            MatRef::from_column_major_slice(rows, p, self.row_count).transpose(),
            MatRef::from_column_major_slice(columns, p, self.column_count),
            1.0,
            Par::Seq,
        );
    }

    /// Fills inner products of sparse samples: each column is scattered once into a dense vector,
    /// from which the rows are gathered.
    fn sparse_products(&self, out: &mut [f64]) {
        let mut dense = vec![0.0; self.columns.design.columns()];
        for (j, out) in out.chunks_exact_mut(self.row_count.max(1)).enumerate() {
            let z = self.column(j);
            z.add_to(1.0, &mut dense);
            for (i, out) in out.iter_mut().enumerate() {
                *out = self.row(i).dot(&dense);
            }
            z.for_each(|column, _| dense[column] = 0.0);
        }
    }
}

/// The share of the norms below which a square has lost six of its sixteen digits.
const NEAR: f64 = 1e-6;

/// Returns true if a squared distance is a number of enough digits, given the sum of the norms.
fn is_far(square: f64, norms: f64) -> bool {
    square > NEAR * norms
}

/// Turns the inner products of one sample with others into squared distances; returns true if all
/// of them [are far](is_far).
struct Squares<'a> {
    row_norms: &'a [f64],
    column_norm: f64,
    out: &'a mut [f64],
}

impl WithSimd for Squares<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let (norms, last_norms) = S::as_simd_f64s(self.row_norms);
        let (out, last_out) = S::as_mut_simd_f64s(self.out);
        let (column_norm, near) = (simd.splat_f64s(self.column_norm), simd.splat_f64s(NEAR));
        let zero = simd.splat_f64s(0.0);
        let mut all_far = simd.splat_f64s(1.0);
        for (out, norm) in out.iter_mut().zip(norms) {
            let norms = simd.add_f64s(*norm, column_norm);
            *out = simd.sub_f64s(norms, simd.add_f64s(*out, *out));
            let far = simd.greater_than_f64s(*out, simd.mul_f64s(near, norms));
            all_far = simd.select_f64s(far, all_far, zero);
        }
        let mut far = simd.reduce_min_f64s(all_far) > 0.0;
        for (out, norm) in last_out.iter_mut().zip(last_norms) {
            let norms = norm + self.column_norm;
            *out = norms - 2.0 * *out;
            far &= is_far(*out, norms);
        }
        far
    }
}

/// Returns true if all numbers are finite.
pub(crate) fn all_finite(values: &[f64]) -> bool {
    Arch::new().dispatch(Finite { values })
}

struct Finite<'a> {
    values: &'a [f64],
}

impl WithSimd for Finite<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let (vectors, last) = S::as_simd_f64s(self.values);
        let (zero, largest) = (simd.splat_f64s(0.0), simd.splat_f64s(f64::MAX));
        let mut all = simd.splat_f64s(1.0);
        for values in vectors {
            let finite = simd.less_than_or_equal_f64s(simd.abs_f64s(*values), largest);
            all = simd.select_f64s(finite, all, zero);
        }
        simd.reduce_min_f64s(all) > 0.0 && last.iter().all(|value| value.is_finite())
    }
}
