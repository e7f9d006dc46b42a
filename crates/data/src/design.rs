use std::ops::Range;
use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};
use nalgebra::DMatrix;
use nalgebra_sparse::CsrMatrix;
use prefetch_index::prefetch_index;

use crate::error::check_len;
use crate::inner_loops::{self, axpy, dot, dot_sparse};
use crate::{Error, parallel};

/// Parts of a product that threads share.
const PARTS: usize = 8;

/// A samples x features matrix whose samples are contiguous in memory.
///
/// It answers the few questions that solvers ask (`X w`, `X'z`, a sample against a vector, weighted
/// Gram products) and hides how it is stored: dense samples one after the other, or compressed
/// sparse rows. All values are finite. Clones share their values until one of them is changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    storage: Storage,
}

#[derive(Debug, Clone, PartialEq)]
enum Storage {
    /// Features x samples: nalgebra is column-major, so that a column is a sample.
    Dense(Arc<DMatrix<f64>>),
    Sparse(Arc<CsrMatrix<f64>>),
}

/// One sample, borrowed from a [`Design`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sample<'a> {
    /// Every feature.
    Dense(&'a [f64]),
    /// The stored features only.
    Sparse {
        /// Zero-based columns, strictly increasing.
        columns: &'a [usize],
        /// The values in those columns.
        values: &'a [f64],
    },
}

impl Sample<'_> {
    /// `<x, w>`.
    #[inline(always)]
    pub fn dot(&self, w: &[f64]) -> f64 {
        match *self {
            Sample::Dense(x) => dot(x, w),
            Sample::Sparse { columns, values } => dot_sparse(columns, values, w),
        }
    }

    /// `out += factor x`.
    #[inline(always)]
    pub fn add_to(&self, factor: f64, out: &mut [f64]) {
        match *self {
            Sample::Dense(x) => axpy(factor, x, out),
            Sample::Sparse { columns, values } => {
                for (&column, &value) in columns.iter().zip(values) {
                    out[column] += factor * value;
                }
            }
        }
    }

    /// Calls `visit(column, value)` for every stored feature, columns ascending.
    pub fn for_each(&self, mut visit: impl FnMut(usize, f64)) {
        match *self {
            Sample::Dense(x) => {
                for (column, &value) in x.iter().enumerate() {
                    visit(column, value);
                }
            }
            Sample::Sparse { columns, values } => {
                for (&column, &value) in columns.iter().zip(values) {
                    visit(column, value);
                }
            }
        }
    }

    /// `||x - z||^2`, from the differences: no cancellation between near samples.
    pub fn squared_distance(&self, other: &Sample<'_>) -> f64 {
        let mut sum = 0.0;
        self.for_each_pair(other, |x, z| sum += (x - z) * (x - z));
        sum
    }

    /// Calls `visit(x_k, z_k)` for every feature that one of the samples stores.
    pub fn for_each_pair(&self, other: &Sample<'_>, mut visit: impl FnMut(f64, f64)) {
        match (*self, *other) {
            (Sample::Dense(x), Sample::Dense(z)) => {
                x.iter().zip(z).for_each(|(&x, &z)| visit(x, z));
            }
            (Sample::Dense(x), Sample::Sparse { columns, values }) => {
                densify(x.len(), columns, values).zip(x).for_each(|(z, &x)| visit(x, z));
            }
            (Sample::Sparse { columns, values }, Sample::Dense(z)) => {
                densify(z.len(), columns, values).zip(z).for_each(|(x, &z)| visit(x, z));
            }
            (
                Sample::Sparse { columns: xs, values: x },
                Sample::Sparse { columns: zs, values: z },
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

    /// `||x||^2`.
    #[inline(always)]
    pub fn squared_norm(&self) -> f64 {
        match *self {
            Sample::Dense(x) => dot(x, x),
            Sample::Sparse { values, .. } => dot(values, values),
        }
    }

    /// `||x||`, without overflow where only its square has it.
    pub fn norm(&self) -> f64 {
        match *self {
            Sample::Dense(values) | Sample::Sparse { values, .. } => norm(values),
        }
    }
}

/// `||x||` without overflow or underflow on the way.
fn norm(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * values.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt()
}

/// All p features of a sparse sample.
fn densify<'a>(
    p: usize,
    columns: &'a [usize],
    values: &'a [f64],
) -> impl Iterator<Item = f64> + 'a {
    let mut stored = columns.iter().zip(values).peekable();
    (0..p).map(move |k| stored.next_if(|(column, _)| **column == k).map_or(0.0, |(_, z)| *z))
}

impl Design {
    /// From an n x p matrix, one row a sample.
    ///
    /// # Errors
    /// No rows, no columns, or a value that is not finite.
    pub fn dense(matrix: &DMatrix<f64>) -> Result<Self, Error> {
        Self::from_samples(matrix.transpose())
    }

    /// From a p x n matrix whose columns are the samples; takes it over without a copy.
    ///
    /// # Errors
    /// No rows, no columns, or a value that is not finite.
    pub fn from_samples(samples: DMatrix<f64>) -> Result<Self, Error> {
        let p = samples.nrows();
        Self::check_size(samples.ncols(), p)?;
        match samples.as_slice().iter().position(|x| !x.is_finite()) {
            Some(at) => {
                Err(Error::NotFinite { row: at / p, column: at % p, value: samples.as_slice()[at] })
            }
            None => Ok(Design { storage: Storage::Dense(Arc::new(samples)) }),
        }
    }

    /// From rows of equal length, one a sample.
    ///
    /// # Errors
    /// No rows, no columns, rows of different lengths, or a value that is not finite.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self, Error> {
        let p = rows.first().map_or(0, |row| row.as_ref().len());
        let mut flat = Vec::with_capacity(rows.len() * p);
        for (row, features) in rows.iter().enumerate() {
            let features = features.as_ref();
            if features.len() != p {
                return Err(Error::Ragged { row, found: features.len(), expected: p });
            }
            flat.extend_from_slice(features);
        }
        Self::from_samples(DMatrix::from_vec(p, rows.len(), flat))
    }

    /// From compressed sparse rows, one a sample.
    ///
    /// # Errors
    /// No rows, no columns, or a value that is not finite.
    pub fn sparse(matrix: CsrMatrix<f64>) -> Result<Self, Error> {
        Self::check_size(matrix.nrows(), matrix.ncols())?;
        match matrix.triplet_iter().find(|(_, _, x)| !x.is_finite()) {
            Some((row, column, &value)) => Err(Error::NotFinite { row, column, value }),
            None => Ok(Design { storage: Storage::Sparse(Arc::new(matrix)) }),
        }
    }

    /// From the stored features of every sample, as pairs of a zero-based column and a value, columns
    /// ascending.
    ///
    /// # Errors
    /// No rows, no columns, a value that is not finite, a column out of order or beyond the last.
    pub fn from_sparse_rows(rows: &[Vec<(usize, f64)>], columns: usize) -> Result<Self, Error> {
        let mut offsets = vec![0];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for (row, stored) in rows.iter().enumerate() {
            for (k, &(column, value)) in stored.iter().enumerate() {
                if column >= columns || (k > 0 && stored[k - 1].0 >= column) {
                    return Err(Error::SparseColumn { row, column, columns });
                }
                indices.push(column);
                values.push(value);
            }
            offsets.push(indices.len());
        }
        let matrix = CsrMatrix::try_from_csr_data(rows.len(), columns, offsets, indices, values);
        Self::sparse(matrix.expect("ascending columns in range form a CSR matrix"))
    }

    fn check_size(rows: usize, columns: usize) -> Result<(), Error> {
        if rows == 0 {
            Err(Error::Empty("rows"))
        } else if columns == 0 {
            Err(Error::Empty("columns"))
        } else {
            Ok(())
        }
    }

    /// Number of samples n.
    pub fn rows(&self) -> usize {
        match &self.storage {
            Storage::Dense(samples) => samples.ncols(),
            Storage::Sparse(matrix) => matrix.nrows(),
        }
    }

    /// Number of features p.
    pub fn columns(&self) -> usize {
        match &self.storage {
            Storage::Dense(samples) => samples.nrows(),
            Storage::Sparse(matrix) => matrix.ncols(),
        }
    }

    /// Whether only nonzero features are stored.
    pub fn is_sparse(&self) -> bool {
        matches!(self.storage, Storage::Sparse(_))
    }

    /// Number of stored values: `n p` if dense.
    pub fn stored(&self) -> usize {
        match &self.storage {
            Storage::Dense(samples) => samples.len(),
            Storage::Sparse(matrix) => matrix.nnz(),
        }
    }

    /// The values of all samples one after the other; `None` if sparse.
    pub fn dense_samples(&self) -> Option<&[f64]> {
        match &self.storage {
            Storage::Dense(samples) => Some(samples.as_slice()),
            Storage::Sparse(_) => None,
        }
    }

    /// Sample `i`.
    ///
    /// # Panics
    /// If `i >= n`.
    #[inline(always)]
    pub fn sample(&self, i: usize) -> Sample<'_> {
        match &self.storage {
            Storage::Dense(samples) => {
                let p = samples.nrows();
                Sample::Dense(&samples.as_slice()[i * p..(i + 1) * p])
            }
            Storage::Sparse(matrix) => {
                let range = matrix.row_offsets()[i]..matrix.row_offsets()[i + 1];
                Sample::Sparse {
                    columns: &matrix.col_indices()[range.clone()],
                    values: &matrix.values()[range],
                }
            }
        }
    }

    /// Asks the memory for sample `i`, for passes in random order that will need it soon; nothing if
    /// there is no such sample. Of long samples it is the beginning: the processor goes on by itself.
    #[inline(always)]
    pub fn prefetch(&self, i: usize) {
        const LINE: usize = 8;
        // Of columns and values each; more cost as much as they save.
        const SPARSE_LINES: usize = 4;
        const DENSE_LINES: usize = 16;
        if i >= self.rows() {
            return;
        }
        match &self.storage {
            Storage::Dense(samples) => {
                let p = samples.nrows();
                for at in (0..p).step_by(LINE).take(DENSE_LINES) {
                    prefetch_index(samples.as_slice(), i * p + at);
                }
            }
            Storage::Sparse(matrix) => {
                let [start, end] = [i, i + 1].map(|row| matrix.row_offsets()[row]);
                for at in (start..end).step_by(LINE).take(SPARSE_LINES) {
                    prefetch_index(matrix.col_indices(), at);
                    prefetch_index(matrix.values(), at);
                }
            }
        }
    }

    /// All samples in order.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = Sample<'_>> {
        (0..self.rows()).map(|i| self.sample(i))
    }

    /// `<x_i, w>`.
    ///
    /// # Panics
    /// If `i >= n` or `w` is not of length p.
    pub fn dot(&self, i: usize, w: &[f64]) -> f64 {
        assert_eq!(w.len(), self.columns(), "the vector is not of length p");
        self.sample(i).dot(w)
    }

    /// `out = X w`, with `w` of length p and `out` of length n.
    ///
    /// # Panics
    /// If the lengths differ from these.
    pub fn multiply(&self, w: &[f64], out: &mut [f64]) {
        assert_eq!((w.len(), out.len()), (self.columns(), self.rows()), "shapes of X w");
        self.each_part(1, out, |rows, out| match &self.storage {
            Storage::Dense(samples) => {
                inner_loops::multiply(&samples.as_slice()[rows.start * w.len()..], w, out);
            }
            Storage::Sparse(_) => {
                for (i, o) in rows.zip(out) {
                    *o = self.sample(i).dot(w);
                }
            }
        });
    }

    /// `coefs X'` for k vectors of length p, one a row of `coefs`: one row a vector, one column a sample. The
    /// numbers of a single vector are those of [`multiply`](Self::multiply).
    ///
    /// # Panics
    /// If the number of columns is not p.
    pub fn multiply_all(&self, coefs: &DMatrix<f64>) -> DMatrix<f64> {
        let (count, p) = coefs.shape();
        assert_eq!(p, self.columns(), "one coefficient a feature");
        let mut out = DMatrix::zeros(count, self.rows());
        if count == 1 {
            self.multiply(coefs.as_slice(), out.as_mut_slice());
            return out;
        }
        self.each_part(count, out.as_mut_slice(), |rows, out| match &self.storage {
            Storage::Dense(samples) => matmul(
                MatMut::from_column_major_slice_mut(out, count, rows.len()),
                Accum::Replace,
                MatRef::from_column_major_slice(coefs.as_slice(), count, p),
                MatRef::from_column_major_slice(
                    &samples.as_slice()[rows.start * p..rows.end * p],
                    p,
                    rows.len(),
                ),
                1.0,
                Par::Seq,
            ),
            Storage::Sparse(_) => {
                for (i, out) in rows.zip(out.chunks_exact_mut(count.max(1))) {
                    self.sample(i).for_each(|column, x| {
                        let coefs = &coefs.as_slice()[column * count..(column + 1) * count];
                        out.iter_mut().zip(coefs).for_each(|(out, w)| *out += x * w);
                    });
                }
            }
        });
        out
    }

    /// The products of some rows with k vectors, each of length p and one after the other: `<x_i, v_c>` for the first row
    /// and all vectors, then for the second row. Dense rows are multiplied as a block.
    ///
    /// # Panics
    /// If a row is not below n, or the lengths differ from these.
    pub fn multiply_rows(&self, rows: &[usize], vectors: &[f64], out: &mut [f64]) {
        let (p, k) = (self.columns(), out.len() / rows.len().max(1));
        assert_eq!(
            (k * p, k * rows.len()),
            (vectors.len(), out.len()),
            "shapes of rows times vectors"
        );
        match &self.storage {
            Storage::Dense(samples) if p > 0 => {
                let samples = samples.as_slice();
                let mut block = Vec::with_capacity(rows.len() * p);
                rows.iter().for_each(|i| block.extend_from_slice(&samples[i * p..(i + 1) * p]));
                matmul(
                    MatMut::from_column_major_slice_mut(out, k, rows.len()),
                    Accum::Replace,
                    MatRef::from_column_major_slice(vectors, p, k).transpose(),
                    MatRef::from_column_major_slice(&block, p, rows.len()),
                    1.0,
                    Par::Seq,
                );
            }
            _ => {
                for (&i, out) in rows.iter().zip(out.chunks_exact_mut(k.max(1))) {
                    let vectors = vectors.chunks_exact(p.max(1));
                    out.iter_mut().zip(vectors).for_each(|(o, v)| *o = self.sample(i).dot(v));
                }
            }
        }
    }

    /// `out = X'z`, with `z` of length n and `out` of length p.
    ///
    /// # Panics
    /// If the lengths differ from these.
    pub fn multiply_transposed(&self, z: &[f64], out: &mut [f64]) {
        assert_eq!((z.len(), out.len()), (self.rows(), self.columns()), "shapes of X'z");
        self.sum_of_parts(out, |rows, out| {
            match &self.storage {
                Storage::Dense(samples) => {
                    let samples = &samples.as_slice()[rows.start * out.len()..];
                    inner_loops::multiply_transposed(samples, &z[rows], out);
                }
                Storage::Sparse(_) => {
                    for i in rows.filter(|&i| z[i] != 0.0) {
                        self.sample(i).add_to(z[i], out);
                    }
                }
            }
            0.0
        });
    }

    /// `out = X' diag(d) (X w + shift 1)`, with `d` of length n, `w` and `out` of length p; every sample is
    /// read once, those with `d_i = 0` not at all. Returns `1' diag(d) (X w + shift 1)`.
    ///
    /// # Panics
    /// If the lengths differ from these.
    pub fn multiply_normal(&self, d: &[f64], shift: f64, w: &[f64], out: &mut [f64]) -> f64 {
        let shapes = (d.len(), w.len(), out.len());
        assert_eq!(
            shapes,
            (self.rows(), self.columns(), self.columns()),
            "shapes of X' diag(d) X w"
        );
        self.sum_of_parts(out, |rows, out| match &self.storage {
            Storage::Dense(samples) => {
                let samples = &samples.as_slice()[rows.start * out.len()..];
                inner_loops::multiply_normal(samples, &d[rows], shift, w, out)
            }
            Storage::Sparse(_) => rows
                .filter(|&i| d[i] != 0.0)
                .map(|i| {
                    let sample = self.sample(i);
                    let factor = d[i] * (sample.dot(w) + shift);
                    sample.add_to(factor, out);
                    factor
                })
                .sum(),
        })
    }

    /// Whether a product with the matrix is worth sharing among threads, where every part has `width` numbers
    /// of its own to sum up.
    fn is_shared(&self, width: usize) -> bool {
        const WORTH: usize = 1 << 20;
        const NUMBERS_A_SUM: usize = 16;
        self.stored() >= WORTH.max(NUMBERS_A_SUM * PARTS * width)
    }

    /// Calls `fill` with parts of the rows, which are always the same, and of `out`, which has `width` numbers a
    /// row.
    fn each_part(
        &self,
        width: usize,
        out: &mut [f64],
        fill: impl Fn(Range<usize>, &mut [f64]) + Sync,
    ) {
        let n = self.rows();
        if !self.is_shared(0) || width == 0 {
            return fill(0..n, out);
        }
        let part = n.div_ceil(PARTS);
        parallel::for_each_chunk(out, part * width, |k, out| {
            fill(k * part..k * part + out.len() / width, out);
        });
    }

    /// `out` and the result as sums of what `add` makes of parts of the rows, which are always the same: the
    /// result must not depend on the number of threads.
    fn sum_of_parts(
        &self,
        out: &mut [f64],
        add: impl Fn(Range<usize>, &mut [f64]) -> f64 + Sync,
    ) -> f64 {
        out.fill(0.0);
        let n = self.rows();
        if !self.is_shared(out.len()) {
            return add(0..n, out);
        }
        let sums = parallel::map(0..PARTS, |k| {
            let mut sums = vec![0.0; out.len()];
            let sum = add(k * n / PARTS..(k + 1) * n / PARTS, &mut sums);
            (sum, sums)
        });
        for (_, sums) in &sums {
            out.iter_mut().zip(sums).for_each(|(o, sum)| *o += sum);
        }
        sums.iter().map(|(sum, _)| sum).sum()
    }

    /// Lower triangle of the (p+1) x (p+1) matrix `Z' diag(d) Z` with `Z = [1 X]`, the constant
    /// first, for nonnegative weights `d` of length n. What stands above the diagonal has no meaning.
    ///
    /// # Panics
    /// If the shapes differ from these.
    pub fn weighted_gram(&self, d: &[f64], out: &mut DMatrix<f64>) {
        let q = self.columns() + 1;
        assert_eq!(d.len(), self.rows(), "weights of a Gram matrix");
        assert_eq!(out.shape(), (q, q), "shape of a Gram matrix");
        match &self.storage {
            Storage::Dense(samples) => {
                // Only samples of positive weight, scaled by its root, take part in the product; so many at a
                // time that the scaled ones stay in the cache.
                const BYTES: usize = 1 << 22;
                let strip = (BYTES / (size_of::<f64>() * q)).max(256);
                let mut weighted =
                    samples.as_slice().chunks_exact(q - 1).zip(d).filter(|(_, d)| **d > 0.0);
                out.fill(0.0);
                let mut scaled = Vec::new();
                loop {
                    scaled.clear();
                    for (sample, &d) in weighted.by_ref().take(strip) {
                        let root = d.sqrt();
                        scaled.push(root);
                        scaled.extend(sample.iter().map(|x| root * x));
                    }
                    if scaled.is_empty() {
                        break;
                    }
                    let count = scaled.len() / q;
                    add_lower_product(out, MatRef::from_column_major_slice(&scaled, q, count));
                }
            }
            Storage::Sparse(_) => {
                out.fill(0.0);
                let entries = out.as_mut_slice();
                for (sample, &d) in self.samples().zip(d) {
                    let Sample::Sparse { columns, values } = sample else { continue };
                    if d <= 0.0 {
                        continue;
                    }
                    entries[0] += d;
                    for (&column, &value) in columns.iter().zip(values) {
                        entries[column + 1] += d * value;
                    }
                    for (k, (&column, &value)) in columns.iter().zip(values).enumerate() {
                        let scaled = d * value;
                        let below = &mut entries[(column + 1) * q..(column + 2) * q];
                        for (&row, &other) in columns[k..].iter().zip(&values[k..]) {
                            below[row + 1] += scaled * other;
                        }
                    }
                }
            }
        }
    }

    /// The n x n matrix `X X'` of inner products between samples.
    pub fn sample_gram(&self) -> DMatrix<f64> {
        let n = self.rows();
        let mut gram = DMatrix::zeros(n, n);
        match &self.storage {
            Storage::Dense(samples) => {
                let p = samples.nrows();
                let x = MatRef::from_column_major_slice(samples.as_slice(), p, n);
                add_lower_product(&mut gram, x.transpose());
            }
            Storage::Sparse(matrix) => {
                // Row i is scattered once into a dense vector; the rows below it are gathered.
                let mut dense = vec![0.0; matrix.ncols()];
                for i in 0..n {
                    let Sample::Sparse { columns, values } = self.sample(i) else { continue };
                    for (&column, &value) in columns.iter().zip(values) {
                        dense[column] = value;
                    }
                    for j in i..n {
                        gram[(j, i)] = self.sample(j).dot(&dense);
                    }
                    for &column in columns {
                        dense[column] = 0.0;
                    }
                }
            }
        }
        gram.fill_upper_triangle_with_lower_triangle();
        gram
    }

    /// The samples with the given indices, in their order; an index may repeat.
    ///
    /// # Panics
    /// If an index is not below n.
    pub fn select(&self, indices: &[usize]) -> Design {
        let storage = match &self.storage {
            Storage::Dense(samples) => Storage::Dense(Arc::new(samples.select_columns(indices))),
            Storage::Sparse(matrix) => {
                let mut offsets = Vec::with_capacity(indices.len() + 1);
                let (mut columns, mut values) = (Vec::new(), Vec::new());
                offsets.push(0);
                for &i in indices {
                    let Sample::Sparse { columns: c, values: v } = self.sample(i) else { continue };
                    columns.extend_from_slice(c);
                    values.extend_from_slice(v);
                    offsets.push(columns.len());
                }
                let selected = CsrMatrix::try_from_csr_data(
                    indices.len(),
                    matrix.ncols(),
                    offsets,
                    columns,
                    values,
                );
                let selected = selected.expect("rows of a valid CSR matrix form a valid one");
                Storage::Sparse(Arc::new(selected))
            }
        };
        Design { storage }
    }

    /// The samples of several designs, one after the other; sparse if all of them are.
    ///
    /// # Errors
    /// No designs, or another number of columns than that of the first.
    pub fn stack(designs: &[Design]) -> Result<Self, Error> {
        let columns = designs.first().ok_or(Error::Empty("rows"))?.columns();
        for design in designs {
            check_len("columns", columns, design.columns())?;
        }
        let samples = || designs.iter().flat_map(Design::samples);
        if designs.iter().all(Design::is_sparse) {
            let mut rows = Vec::new();
            for sample in samples() {
                let mut row = Vec::new();
                sample.for_each(|column, x| row.push((column, x)));
                rows.push(row);
            }
            return Self::from_sparse_rows(&rows, columns);
        }
        let mut values = vec![0.0; columns * samples().count()];
        for (out, sample) in values.chunks_exact_mut(columns).zip(samples()) {
            sample.for_each(|column, x| out[column] = x);
        }
        let rows = values.len() / columns;
        Self::from_samples(DMatrix::from_vec(columns, rows, values))
    }

    /// Multiplies column `j` by `factors[j]`, in place.
    ///
    /// # Panics
    /// If there is not one finite factor for each column.
    pub fn scale_columns(&mut self, factors: &[f64]) {
        assert_eq!(factors.len(), self.columns(), "one factor a column");
        assert!(factors.iter().all(|f| f.is_finite()), "column factors must be finite");
        match &mut self.storage {
            Storage::Dense(samples) => {
                for mut sample in Arc::make_mut(samples).column_iter_mut() {
                    for (x, factor) in sample.iter_mut().zip(factors) {
                        *x *= factor;
                    }
                }
            }
            Storage::Sparse(matrix) => {
                for (_, column, x) in Arc::make_mut(matrix).triplet_iter_mut() {
                    *x *= factors[column];
                }
            }
        }
    }

    /// The n x p matrix, densified if sparse.
    pub fn to_dense(&self) -> DMatrix<f64> {
        match &self.storage {
            Storage::Dense(samples) => samples.transpose(),
            Storage::Sparse(matrix) => DMatrix::from(&**matrix),
        }
    }
}

/// Adds the lower triangle of `a a'` to that of `out`, tile by tile in parallel.
fn add_lower_product(out: &mut DMatrix<f64>, a: MatRef<'_, f64>) {
    const TILE: usize = 128;
    let n = out.nrows();
    let add = |k: usize, columns: &mut [f64]| {
        let (first, width) = (k * TILE, columns.len() / n);
        let tile =
            MatMut::from_column_major_slice_mut(columns, n, width).subrows_mut(first, n - first);
        let (square, below) = tile.split_at_row_mut(width);
        let (a_square, a_below) = a.subrows(first, n - first).split_at_row(width);
        triangular::matmul(
            square,
            BlockStructure::TriangularLower,
            Accum::Add,
            a_square,
            BlockStructure::Rectangular,
            a_square.transpose(),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        matmul(below, Accum::Add, a_below, a_square.transpose(), 1.0, Par::Seq);
    };
    let tiles = out.as_mut_slice();
    if n <= TILE {
        add(0, tiles);
    } else {
        parallel::for_each_chunk(tiles, TILE * n, add);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same small random matrix in both storages.
    fn both() -> impl Strategy<Value = (Design, Design)> {
        (1usize..9, 1usize..9).prop_flat_map(|(n, p)| {
            let cell = prop_oneof![Just(0.0), -3.0..3.0f64];
            proptest::collection::vec(cell, n * p).prop_map(move |flat| {
                let matrix = DMatrix::from_row_slice(n, p, &flat);
                let sparse = Design::sparse(CsrMatrix::from(&matrix)).expect("finite");
                (Design::dense(&matrix).expect("finite"), sparse)
            })
        })
    }

    fn weights(n: usize) -> Vec<f64> {
        (0..n).map(|i| (i % 3) as f64 * 0.7).collect()
    }

    proptest! {
        #[test]
        fn products_agree_with_nalgebra((dense, sparse) in both()) {
            let x = dense.to_dense();
            prop_assert_eq!(&x, &sparse.to_dense());
            let (n, p) = x.shape();
            let w: Vec<f64> = (0..p).map(|j| j as f64 - 1.5).collect();
            let z: Vec<f64> = (0..n).map(|i| 2.0 - i as f64).collect();
            let d = weights(n);
            let with_constant = x.clone().insert_column(0, 1.0);
            let weighted = with_constant.transpose()
                * DMatrix::from_diagonal(&nalgebra::DVector::from_vec(d.clone())) * &with_constant;
            for design in [&dense, &sparse] {
                let mut xw = vec![f64::NAN; n];
                design.multiply(&w, &mut xw);
                let mut xz = vec![f64::NAN; p];
                design.multiply_transposed(&z, &mut xz);
                let want_xw = &x * DMatrix::from_vec(p, 1, w.clone());
                let want_xz = x.transpose() * DMatrix::from_vec(n, 1, z.clone());
                for (a, b) in xw.iter().zip(&want_xw).chain(xz.iter().zip(&want_xz)) {
                    prop_assert!((a - b).abs() < 1e-12);
                }
                let one = DMatrix::from_row_slice(1, p, &w);
                prop_assert_eq!(design.multiply_all(&one), DMatrix::from_row_slice(1, n, &xw));
                let several = DMatrix::from_fn(3, p, |k, j| w[j] * (k as f64 + 0.5));
                let error = design.multiply_all(&several) - &several * x.transpose();
                prop_assert!(error.amax() < 1e-12);
                let mut gram = DMatrix::zeros(p + 1, p + 1);
                design.weighted_gram(&d, &mut gram);
                prop_assert!((gram.lower_triangle() - weighted.lower_triangle()).amax() < 1e-12);
                prop_assert!((design.sample_gram() - &x * x.transpose()).amax() < 1e-12);
            }
        }

        #[test]
        fn products_of_some_rows_with_several_vectors((dense, sparse) in both(), k in 0usize..5) {
            let (n, p) = (dense.rows(), dense.columns());
            let (rows, vectors) = ([n - 1, 0, n - 1], DMatrix::from_fn(p, k, |i, j| i as f64 - 0.4 * j as f64));
            let want = dense.select(&rows).to_dense() * &vectors;
            for design in [&dense, &sparse] {
                let mut out = vec![f64::NAN; 3 * k];
                design.multiply_rows(&rows, vectors.as_slice(), &mut out);
                let out = DMatrix::from_row_slice(3, k, &out);
                prop_assert!((out - &want).amax() < 1e-12);
            }
        }

        #[test]
        fn stacks_hold_the_samples_of_all((dense, sparse) in both()) {
            let n = dense.rows();
            let twice: Vec<usize> = (0..n).chain(0..n).collect();
            for pair in [[&dense, &dense], [&dense, &sparse], [&sparse, &sparse]] {
                let stacked = Design::stack(&pair.map(Clone::clone)).expect("the same columns");
                prop_assert_eq!(stacked.is_sparse(), pair.iter().all(|design| design.is_sparse()));
                prop_assert_eq!(stacked.to_dense(), dense.select(&twice).to_dense());
            }
            let wider = Design::from_rows(&[vec![1.0; dense.columns() + 1]]).expect("finite");
            prop_assert!(Design::stack(&[dense, wider]).is_err() && Design::stack(&[]).is_err());
        }

        #[test]
        fn selection_and_scaling_agree_between_storages((mut dense, mut sparse) in both()) {
            let n = dense.rows();
            let chosen = [n - 1, 0, n / 2, 0];
            prop_assert_eq!(dense.select(&chosen).to_dense(), sparse.select(&chosen).to_dense());
            let factors: Vec<f64> = (0..dense.columns()).map(|j| 0.5 + j as f64).collect();
            dense.scale_columns(&factors);
            sparse.scale_columns(&factors);
            prop_assert_eq!(dense.to_dense(), sparse.to_dense());
        }
    }

    /// Large enough to be shared among threads, whose number changes no bit.
    #[test]
    fn products_of_large_designs_are_those_of_their_rows() {
        let (n, p, count) = (2_100, 500, 3);
        let entry = |i: usize, j: usize| (((i * 7919 + j * 104_729) % 1009) as f64 - 504.0) / 504.0;
        let samples = DMatrix::from_fn(p, n, |j, i| entry(i, j));
        let sparse = Design::sparse(CsrMatrix::from(&samples.transpose())).expect("finite");
        let dense = Design::from_samples(samples).expect("finite");
        let coefs = DMatrix::from_fn(count, p, |k, j| entry(j, k));
        for design in [dense, sparse] {
            assert!(design.is_shared(0), "{} entries", design.stored());
            let product = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                pool.expect("threads").install(|| design.multiply_all(&coefs))
            };
            let all = product(1);
            assert_eq!(all, product(3));
            for (k, row) in coefs.row_iter().enumerate() {
                let w: Vec<f64> = row.iter().copied().collect();
                let mut one = vec![0.0; n];
                design.multiply(&w, &mut one);
                for (i, one) in one.iter().enumerate() {
                    assert!((all[(k, i)] - one).abs() < 1e-11, "{k} {i}");
                    assert!((design.dot(i, &w) - one).abs() < 1e-11, "{k} {i}");
                }
            }
        }
    }

    #[test]
    fn norms_neither_overflow_nor_vanish() {
        for (row, norm) in [([3e300, 4e300], 5e300), ([3e-300, 4e-300], 5e-300), ([0.0; 2], 0.0)] {
            assert!((Sample::Dense(&row).norm() - norm).abs() <= 1e-15 * norm);
        }
    }

    #[test]
    fn values_that_are_not_finite_are_refused_by_place() {
        let error = Design::from_rows(&[[1.0, 2.0], [3.0, f64::NAN]]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "row 1, column 1: the value is NaN, but features must be finite"
        );
    }

    /// Large enough for products to be shared among threads and for matrices to be made in tiles and strips.
    #[test]
    fn large_products_are_those_of_the_definition_on_any_number_of_threads() {
        let (n, p) = (7001, 150);
        let matrix = DMatrix::from_fn(n, p, |i, j| ((i * 31 + j * 17) as f64 * 0.01).sin());
        let w: Vec<f64> = (0..p).map(|j| (j as f64 * 0.3).cos()).collect();
        let z: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
        let d: Vec<f64> = (0..n).map(|i| (i % 5) as f64).collect();
        let (w_column, z_column) =
            (DMatrix::from_column_slice(p, 1, &w), DMatrix::from_column_slice(n, 1, &z));
        let scores = &matrix * &w_column;
        let weighted = DMatrix::from_fn(n, 1, |i, _| d[i] * (scores[i] + 0.5));
        let normal = matrix.tr_mul(&weighted);
        let transposed = matrix.tr_mul(&z_column);
        let bordered = DMatrix::from_fn(n, p + 1, |i, j| {
            d[i].sqrt() * if j == 0 { 1.0 } else { matrix[(i, j - 1)] }
        });
        let gram = bordered.tr_mul(&bordered);
        let close = |ours: &[f64], theirs: &[f64]| {
            let size = theirs.iter().fold(1.0f64, |size, x| size.max(x.abs()));
            ours.iter().zip(theirs).all(|(a, b)| (a - b).abs() <= 1e-11 * size)
        };
        let dense = Design::dense(&matrix).expect("finite");
        let sparse = Design::sparse(CsrMatrix::from(&matrix)).expect("finite");
        for design in [&dense, &sparse] {
            let run = || {
                let (mut a, mut b, mut c) = (vec![0.0; n], vec![0.0; p], vec![0.0; p]);
                design.multiply(&w, &mut a);
                design.multiply_transposed(&z, &mut b);
                let sum = design.multiply_normal(&d, 0.5, &w, &mut c);
                let mut h = DMatrix::zeros(p + 1, p + 1);
                design.weighted_gram(&d, &mut h);
                (a, b, c, sum, h)
            };
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                pool.expect("a pool").install(run)
            };
            let (a, b, c, sum, h) = on(1);
            assert!((a.clone(), b.clone(), c.clone(), sum, h.clone()) == on(3));
            assert!(close(&a, scores.as_slice()) && close(&b, transposed.as_slice()));
            assert!(close(&c, normal.as_slice()) && close(&[sum], &[weighted.sum()]));
            for j in 0..=p {
                assert!(close(&h.column(j).as_slice()[j..], &gram.column(j).as_slice()[j..]));
            }
        }
    }
}
