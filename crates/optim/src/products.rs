//! Products of matrices with a design: inner products of its features and of its samples, and some
//! rows times several vectors. They are here and not in `margins-data` because they need faer, which
//! a program that only reads data should not compile.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};
use margins_data::{Design, Sample, parallel};
use nalgebra::DMatrix;

/// Computes the lower triangle of the (p+1) x (p+1) matrix `Z' diag(d) Z` with `Z = [1 X]`, the
/// constant first, for nonnegative weights `d` of length n. What stands above the diagonal has
/// no meaning.
///
/// # Panics
/// If the shapes differ from these.
pub fn weighted_gram(design: &Design, d: &[f64], out: &mut DMatrix<f64>) {
    let q = design.columns() + 1;
    assert_eq!(d.len(), design.rows(), "weights of a Gram matrix");
    assert_eq!(out.shape(), (q, q), "shape of a Gram matrix");
    out.fill(0.0);
    // From this share of stored features on, products of dense strips take less time.
    const DENSE: f64 = 0.25;
    let is_thin = |stored: usize| (stored as f64) < DENSE * (design.rows() * q) as f64;
    if design.is_sparse() && is_thin(design.stored()) {
        add_sparse_gram(design, d, out);
    } else {
        add_gram_by_strips(design, d, out);
    }
}

/// Adds `Z' diag(d) Z` by products of dense matrices. Only samples of positive weight, scaled
/// by its root, take part; so many at a time that the scaled ones stay in the cache.
fn add_gram_by_strips(design: &Design, d: &[f64], out: &mut DMatrix<f64>) {
    const BYTES: usize = 1 << 22;
    let q = design.columns() + 1;
    let strip = (BYTES / (size_of::<f64>() * q)).max(256);
    let mut weighted = design.samples().zip(d).filter(|(_, d)| **d > 0.0);
    let mut scaled: Vec<f64> = Vec::with_capacity(q * strip.min(design.rows()));
    loop {
        scaled.clear();
        for (sample, &d) in weighted.by_ref().take(strip) {
            let root = d.sqrt();
            scaled.push(root);
            match sample {
                Sample::Dense(x) => scaled.extend(x.iter().map(|x| root * x)),
                Sample::Sparse { columns, values, .. } => {
                    let first = scaled.len();
                    scaled.resize(first + q - 1, 0.0);
                    let row = &mut scaled[first..];
                    columns.iter().zip(values).for_each(|(&j, x)| row[j] = root * x);
                }
            }
        }
        if scaled.is_empty() {
            break;
        }
        let count = scaled.len() / q;
        add_lower_product(out, MatRef::from_column_major_slice(&scaled, q, count));
    }
}

/// Adds `Z' diag(d) Z` by the pairs of features that a sample stores.
fn add_sparse_gram(design: &Design, d: &[f64], out: &mut DMatrix<f64>) {
    const UNROLLED: usize = 4;
    let q = design.columns() + 1;
    let entries = out.as_mut_slice();
    for (sample, &d) in design.samples().zip(d).filter(|(_, d)| **d > 0.0) {
        let Sample::Sparse { columns, values, .. } = sample else { continue };
        entries[0] += d;
        for (&column, &value) in columns.iter().zip(values) {
            entries[column + 1] += d * value;
        }
        for (k, (&column, &value)) in columns.iter().zip(values).enumerate() {
            let scaled = d * value;
            let below = &mut entries[(column + 1) * q + 1..(column + 2) * q];
            let (rows, last_rows) = columns[k..].as_chunks::<UNROLLED>();
            let (others, last_others) = values[k..].as_chunks::<UNROLLED>();
            for (rows, others) in rows.iter().zip(others) {
                for (&row, &other) in rows.iter().zip(others) {
                    below[row] += scaled * other;
                }
            }
            for (&row, &other) in last_rows.iter().zip(last_others) {
                below[row] += scaled * other;
            }
        }
    }
}

/// Returns the n x n matrix `X X'` of inner products between samples.
pub fn sample_gram(design: &Design) -> DMatrix<f64> {
    let n = design.rows();
    let mut gram = DMatrix::zeros(n, n);
    match design.dense_samples() {
        Some(samples) => {
            let x = MatRef::from_column_major_slice(samples, design.columns(), n);
            add_lower_product(&mut gram, x.transpose());
        }
        None => gather_products(design, design, true, gram.as_mut_slice()),
    }
    gram.fill_upper_triangle_with_lower_triangle();
    gram
}

/// Returns the matrix of inner products of the samples, one per row, with those of another design,
/// one per column.
///
/// # Panics
/// If the designs have different numbers of features, or one is sparse and the other is not.
pub fn sample_products(design: &Design, others: &Design) -> DMatrix<f64> {
    assert_eq!(design.columns(), others.columns(), "samples with as many features");
    let (n, m, p) = (design.rows(), others.rows(), design.columns());
    let mut products = DMatrix::zeros(n, m);
    match (design.dense_samples(), others.dense_samples()) {
        (Some(samples), Some(others)) => matmul(
            MatMut::from_column_major_slice_mut(products.as_mut_slice(), n, m),
            Accum::Replace,
            MatRef::from_column_major_slice(samples, p, n).transpose(),
            MatRef::from_column_major_slice(others, p, m),
            1.0,
            Par::Seq,
        ),
        (None, None) => gather_products(design, others, false, products.as_mut_slice()),
        _ => panic!("samples that are stored in one way"),
    }
    products
}

/// Writes the inner products of sparse samples with others, one column for each of the others,
/// in parallel; of the square matrix of a design with itself the lower triangle if that is
/// enough.
fn gather_products(design: &Design, others: &Design, lower: bool, out: &mut [f64]) {
    const COLUMNS: usize = 64;
    let n = design.rows();
    parallel::for_each_chunk(out, (COLUMNS * n).max(1), |k, chunk| {
        // One of the others is scattered into a dense vector, from which all samples gather.
        let mut dense = vec![0.0; design.columns()];
        for (i, out) in (k * COLUMNS..).zip(chunk.chunks_exact_mut(n)) {
            let other = others.sample(i);
            other.for_each(|column, x| dense[column] = x);
            let first = if lower { i } else { 0 };
            for (j, out) in out.iter_mut().enumerate().skip(first) {
                *out = design.sample(j).dot(&dense);
            }
            other.for_each(|column, _| dense[column] = 0.0);
        }
    });
}

/// Computes the products of some rows with k vectors, each of length p and one after the other:
/// `<x_i, v_c>` for the first row and all vectors, then for the second row. Dense rows are
/// multiplied as a block.
///
/// # Panics
/// If a row is not below n, or the lengths differ from these.
pub fn multiply_rows(design: &Design, rows: &[usize], vectors: &[f64], out: &mut [f64]) {
    let (p, k) = (design.columns(), out.len() / rows.len().max(1));
    assert_eq!((k * p, k * rows.len()), (vectors.len(), out.len()), "shapes of rows times vectors");
    match design.dense_samples() {
        Some(samples) if p > 0 => {
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
                out.iter_mut().zip(vectors).for_each(|(o, v)| *o = design.sample(i).dot(v));
            }
        }
    }
}

/// Returns the products of all samples with k vectors of length p, given one after the other: n x k
/// numbers, those of a sample one after another.
///
/// # Panics
/// If there are not k p numbers.
///
/// ```
/// use margins_data::Design;
/// use margins_optim::products::{multiply_all, multiply_all_transposed};
///
/// let design = Design::from_rows(&[[1.0, 2.0], [0.0, 3.0], [4.0, 0.0]])?;
/// assert_eq!(multiply_all(&design, &[1.0, 0.0, 1.0, 1.0], 2), [1.0, 3.0, 0.0, 3.0, 4.0, 4.0]);
/// let mut sums = [0.0; 4];
/// multiply_all_transposed(&design, &[1.0, 0.0, 0.0, 1.0, 0.0, 1.0], 2, &mut sums);
/// assert_eq!(sums, [1.0, 2.0, 4.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn multiply_all(design: &Design, vectors: &[f64], k: usize) -> Vec<f64> {
    const ROWS: usize = 1 << 10;
    let (n, p) = (design.rows(), design.columns());
    assert_eq!(vectors.len(), k * p, "vectors of length p");
    let mut products = vec![0.0; n * k];
    let by_feature = if design.is_sparse() { transposed(vectors, p, k) } else { Vec::new() };
    parallel::for_each_chunk(&mut products, (ROWS * k).max(1), |part, out| {
        let (first, rows) = (part * ROWS, out.len() / k);
        match design.dense_samples() {
            Some(samples) => matmul(
                MatMut::from_column_major_slice_mut(out, k, rows),
                Accum::Replace,
                MatRef::from_column_major_slice(vectors, p, k).transpose(),
                MatRef::from_column_major_slice(&samples[first * p..(first + rows) * p], p, rows),
                1.0,
                Par::Seq,
            ),
            None => {
                for (i, out) in (first..).zip(out.chunks_exact_mut(k)) {
                    let add = |j: usize, x: f64| {
                        let of_feature = &by_feature[j * k..(j + 1) * k];
                        out.iter_mut().zip(of_feature).for_each(|(o, w)| *o += x * w);
                    };
                    design.sample(i).for_each(add);
                }
            }
        }
    });
    products
}

/// Computes k sums over all samples, each times a number: of n x k numbers, those of a sample one after
/// another, k vectors of length p one after the other.
///
/// # Panics
/// If the lengths differ from these.
pub fn multiply_all_transposed(design: &Design, z: &[f64], k: usize, out: &mut [f64]) {
    let (n, p) = (design.rows(), design.columns());
    assert_eq!((z.len(), out.len()), (n * k, k * p), "shapes of sums over samples");
    if out.is_empty() {
        return;
    }
    let of_part = |rows: Range<usize>| {
        let (first, last) = (rows.start, rows.end);
        let mut sums = vec![0.0; k * p];
        let z = &z[first * k..last * k];
        match design.dense_samples() {
            Some(samples) => matmul(
                MatMut::from_column_major_slice_mut(&mut sums, p, k),
                Accum::Replace,
                MatRef::from_column_major_slice(&samples[first * p..last * p], p, last - first),
                MatRef::from_column_major_slice(z, k, last - first).transpose(),
                1.0,
                Par::Seq,
            ),
            None => {
                for (i, z) in (first..last).zip(z.chunks_exact(k)) {
                    let add = |j: usize, x: f64| {
                        let of_feature = &mut sums[j * k..(j + 1) * k];
                        of_feature.iter_mut().zip(z).for_each(|(o, z)| *o += x * z);
                    };
                    design.sample(i).for_each(add);
                }
            }
        }
        sums
    };
    let sums = sum_of_parts(n, of_part);
    let sums = if design.is_sparse() { transposed(&sums, k, p) } else { sums };
    out.copy_from_slice(&sums);
}

/// Returns k sums over all samples of the squares of their features, each times a number: of n x k numbers,
/// those of a sample one after another, k vectors of length p one after the other.
pub(crate) fn sums_of_squares(design: &Design, z: &[f64], k: usize) -> Vec<f64> {
    let p = design.columns();
    let of_part = |rows: Range<usize>| {
        let mut sums = vec![0.0; k * p];
        for i in rows {
            let z = &z[i * k..(i + 1) * k];
            design.sample(i).for_each(|j, x| {
                let of_feature = sums[j * k..(j + 1) * k].iter_mut().zip(z);
                of_feature.for_each(|(sum, z)| *sum += z * (x * x));
            });
        }
        sums
    };
    transposed(&sum_of_parts(design.rows(), of_part), k, p)
}

/// Returns the sum of what parts of n rows give, in parallel.
fn sum_of_parts(n: usize, of_part: impl Fn(Range<usize>) -> Vec<f64> + Sync) -> Vec<f64> {
    const ROWS: usize = 1 << 10;
    const MOST_PARTS: usize = 8;
    let parts = n.div_ceil(ROWS).clamp(1, MOST_PARTS);
    let rows = n.div_ceil(parts);
    let of_part = |part: usize| of_part((part * rows).min(n)..((part + 1) * rows).min(n));
    let mut parts = parallel::map(0..parts, of_part).into_iter();
    let mut sums = parts.next().unwrap_or_default();
    parts.for_each(|part| sums.iter_mut().zip(&part).for_each(|(sum, x)| *sum += x));
    sums
}

/// Returns the k x k matrix `sum_i a_i b_i'` of vectors of length k, given one after the other.
pub(crate) fn sum_of_outer_products(a: &[f64], b: &[f64], k: usize) -> DMatrix<f64> {
    let mut sum = DMatrix::zeros(k, k);
    matmul(
        MatMut::from_column_major_slice_mut(sum.as_mut_slice(), k, k),
        Accum::Replace,
        MatRef::from_column_major_slice(a, k, a.len() / k),
        MatRef::from_column_major_slice(b, k, b.len() / k).transpose(),
        1.0,
        Par::Seq,
    );
    sum
}

/// Returns the transpose of a `rows x columns` matrix; both are stored column by column.
fn transposed(matrix: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    (0..rows).flat_map(|i| (0..columns).map(move |j| matrix[j * rows + i])).collect()
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
    use nalgebra::DVector;
    use nalgebra_sparse::CsrMatrix;
    use proptest::prelude::*;

    use super::*;

    fn both() -> impl Strategy<Value = (Design, Design)> {
        (1usize..9, 1usize..9).prop_flat_map(|(n, p)| {
            let cell = prop_oneof![Just(0.0), -3.0..3.0f64];
            prop::collection::vec(cell, n * p).prop_map(move |flat| {
                let matrix = DMatrix::from_row_slice(n, p, &flat);
                let sparse = Design::sparse(CsrMatrix::from(&matrix)).expect("finite");
                (Design::dense(&matrix).expect("finite"), sparse)
            })
        })
    }

    proptest! {
        #[test]
        fn products_agree_with_nalgebra((dense, sparse) in both()) {
            let x = dense.to_dense();
            let (n, p) = x.shape();
            let d: Vec<f64> = (0..n).map(|i| (i % 3) as f64 * 0.7).collect();
            let with_constant = x.clone().insert_column(0, 1.0);
            let weighted = with_constant.transpose()
                * DMatrix::from_diagonal(&DVector::from_vec(d.clone())) * &with_constant;
            for design in [&dense, &sparse] {
                let mut gram = DMatrix::zeros(p + 1, p + 1);
                weighted_gram(design, &d, &mut gram);
                prop_assert!((gram.lower_triangle() - weighted.lower_triangle()).amax() < 1e-12);
                prop_assert!((sample_gram(design) - &x * x.transpose()).amax() < 1e-12);
                let last = design.select(&[n - 1, 0]);
                let with_last = &x * last.to_dense().transpose();
                prop_assert!((sample_products(design, &last) - with_last).amax() < 1e-12);
            }
        }

        #[test]
        fn products_of_some_rows_with_several_vectors((dense, sparse) in both(), k in 0usize..5) {
            let (n, p) = (dense.rows(), dense.columns());
            let (rows, vectors) = ([n - 1, 0, n - 1], DMatrix::from_fn(p, k, |i, j| i as f64 - 0.4 * j as f64));
            let want = dense.select(&rows).to_dense() * &vectors;
            for design in [&dense, &sparse] {
                let mut out = vec![f64::NAN; 3 * k];
                multiply_rows(design, &rows, vectors.as_slice(), &mut out);
                let out = DMatrix::from_row_slice(3, k, &out);
                prop_assert!((out - &want).amax() < 1e-12);
                let all = multiply_all(design, vectors.as_slice(), k);
                let scores = DMatrix::from_row_slice(n, k, &all);
                prop_assert!((&scores - dense.to_dense() * &vectors).amax() < 1e-12);
                let mut sums = vec![f64::NAN; k * p];
                multiply_all_transposed(design, &all, k, &mut sums);
                let want = dense.to_dense().transpose() * &scores;
                prop_assert!((DMatrix::from_column_slice(p, k, &sums) - want).amax() < 1e-11);
            }
        }
    }

    /// Large enough for tiles and strips.
    #[test]
    fn large_products_are_those_of_the_definition_on_any_number_of_threads() {
        let (n, p) = (7001, 150);
        let matrix = DMatrix::from_fn(n, p, |i, j| ((i * 31 + j * 17) as f64 * 0.01).sin());
        let d: Vec<f64> = (0..n).map(|i| (i % 5) as f64).collect();
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
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                pool.expect("a pool").install(|| {
                    let mut h = DMatrix::zeros(p + 1, p + 1);
                    weighted_gram(design, &d, &mut h);
                    h
                })
            };
            let h = on(1);
            assert!(h == on(3));
            for j in 0..=p {
                assert!(close(&h.column(j).as_slice()[j..], &gram.column(j).as_slice()[j..]));
            }
        }
    }
}
