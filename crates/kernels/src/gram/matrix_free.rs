//! A kernel matrix that is never stored: products with it recompute its entries, block by block.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use faer::{Accum, MatMut, MatRef, Par};
use margins_data::{Design, Memory, parallel};
use margins_kernel_functions::{
    Block, Error as KernelError, Kernel, Points, combine_all, diagonal, fill_strips,
};
use nalgebra::DMatrix;

use crate::Error;

const SIDE: usize = Block::SIDE;

/// The number of blocks that one task computes, in the same room.
const TOGETHER: usize = 8;

/// The kernel and the samples that stand for the matrix of their values.
#[derive(Debug, Clone)]
pub(crate) struct MatrixFree {
    kernel: Arc<dyn Kernel>,
    design: Design,
    diagonal: Vec<f64>,
    /// The memory that solvers may take for parts of the matrix.
    memory: Memory,
    fault: OnceLock<Fault>,
}

/// The reason why a product is no product.
#[derive(Debug, Clone)]
enum Fault {
    /// The value of two samples is not finite.
    Value { one: usize, other: usize, value: f64 },
    /// The kernel is not defined for one of two samples.
    Refused { one: usize, other: usize, reason: String },
    /// The product was cancelled.
    Interrupted,
}

impl MatrixFree {
    /// # Errors
    /// A kernel that is not known to be positive semidefinite; values of samples with themselves
    /// that are not finite.
    pub(super) fn new(
        kernel: Arc<dyn Kernel>,
        design: Design,
        memory: Memory,
    ) -> Result<Self, Error> {
        if !kernel.is_positive_semidefinite() {
            let specification = kernel.specification();
            return Err(Error::NotHeld {
                purpose: format!(
                    "kernel '{specification}', not known to be positive semidefinite,"
                ),
                n: design.rows(),
            });
        }
        let diagonal = diagonal(&*kernel, &design)?;
        Ok(MatrixFree { kernel, design, diagonal, memory, fault: OnceLock::new() })
    }

    pub(crate) fn memory(&self) -> Memory {
        self.memory
    }

    /// Returns the memory of one of several parts that share it.
    pub(crate) fn share(memory: Memory) -> Memory {
        // The share is the same on any number of threads, as results are.
        const PARTS: usize = 4;
        Memory::from_bytes(memory.bytes() / PARTS)
    }

    pub(crate) fn design_bytes(&self) -> usize {
        self.design.memory().bytes()
    }

    /// Returns the bytes that a product takes: samples that are used, all and these centred, and for
    /// every thread a block of values with what their computation takes.
    pub(crate) fn product_bytes(&self) -> usize {
        3 * self.design_bytes() + parallel::threads() * 2 * SIDE * SIDE * size_of::<f64>()
    }

    pub(super) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Returns the matrix of some of the samples, one of several parts that share the memory.
    pub(super) fn select(&self, samples: &[usize]) -> Self {
        MatrixFree {
            kernel: self.kernel.clone(),
            design: self.design.select(samples),
            diagonal: samples.iter().map(|&i| self.diagonal[i]).collect(),
            memory: Self::share(self.memory),
            fault: OnceLock::new(),
        }
    }

    /// Returns the values of some samples, one per row, with others, one per column.
    pub(super) fn block(&self, rows: &[usize], columns: &[usize]) -> DMatrix<f64> {
        let mut out = DMatrix::zeros(rows.len(), columns.len());
        let (one, other) = (self.design.select(rows), self.design.select(columns));
        let filled = fill_strips(&*self.kernel, &one, &other, out.as_mut_slice(), |_| {});
        self.note(filled, rows, columns);
        out
    }

    /// Returns true if a product was cancelled.
    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(self.fault.get(), Some(Fault::Interrupted))
    }

    /// Returns `K X`. Samples whose row of X is 0 cost nothing as columns of K, and pairs of the
    /// others are computed once.
    pub(super) fn multiply(&self, x: &DMatrix<f64>) -> DMatrix<f64> {
        /// The samples for each one that is used from which on their pairs are computed twice, and no
        /// sample is copied.
        const FEW: usize = 16;
        let (n, count) = x.shape();
        let is_used = |i: &usize| x.row(*i).iter().any(|&x| x != 0.0);
        let (used, rest): (Vec<usize>, Vec<usize>) = (0..n).partition(is_used);
        let mut out = DMatrix::zeros(n, count);
        if used.is_empty() {
            return out;
        }
        if self.is_interrupted() {
            // Preparing the first block takes time, which a cancelled product need not spend.
            out.fill(f64::NAN);
            return out;
        }
        let coefs = DMatrix::from_fn(count, used.len(), |k, j| x[(used[j], k)]);
        let columns = self.design.select(&used);
        if FEW * used.len() <= n {
            let scores = combine_all(&*self.kernel, &self.design, &columns, &coefs);
            let all: Vec<usize> = (0..n).collect();
            return self.or_no_number(scores, &all, &used, count).transpose();
        }
        let mut place = |rows: &[usize], products: &DMatrix<f64>| {
            for (&i, product) in rows.iter().zip(products.column_iter()) {
                product.iter().enumerate().for_each(|(k, &p)| out[(i, k)] = p);
            }
        };
        let products = self.symmetric_product(&columns, &coefs);
        place(&used, &self.or_no_number(products, &used, &used, count));
        if !rest.is_empty() {
            place(&rest, &self.combine(&rest, &used, &coefs));
        }
        out
    }

    /// Returns the scores of the samples `rows` by functions of the kernel sections of `columns`,
    /// one per row of `coefs` and of the result.
    pub(super) fn combine(
        &self,
        rows: &[usize],
        columns: &[usize],
        coefs: &DMatrix<f64>,
    ) -> DMatrix<f64> {
        let (of_rows, of_columns) = (self.design.select(rows), self.design.select(columns));
        let scores = combine_all(&*self.kernel, &of_rows, &of_columns, coefs);
        self.or_no_number(scores, rows, columns, coefs.nrows())
    }

    /// Returns the products of the rows of `coefs` with the kernel matrix of a design, each pair of
    /// samples computed once.
    ///
    /// A block of pairs changes the products of both of its strips of samples. Blocks go by rounds,
    /// as in a tournament where every strip meets one other: those of a round may be computed at
    /// the same time, and sums do not depend on the number of threads.
    fn symmetric_product(
        &self,
        design: &Design,
        coefs: &DMatrix<f64>,
    ) -> Result<DMatrix<f64>, KernelError> {
        let (count, n) = coefs.shape();
        let mut out = DMatrix::zeros(count, n);
        let points = Points::new(design);
        let strips: Vec<Mutex<&mut [f64]>> =
            out.as_mut_slice().chunks_mut(SIDE * count).map(Mutex::new).collect();
        let strip = |k: usize| strips[k].lock().unwrap_or_else(PoisonError::into_inner);
        let side = |k: usize| SIDE.min(n - k * SIDE);
        let coefs_of = |k: usize| {
            let coefs = &coefs.as_slice()[k * SIDE * count..][..side(k) * count];
            MatRef::from_column_major_slice(coefs, count, side(k))
        };
        let meet = |(one, other): (usize, usize), room: &mut [f64]| {
            let samples = |k: usize| k * SIDE..k * SIDE + side(k);
            let block = Block::new(&points, samples(one), samples(other));
            let values = &mut room[..block.len()];
            block.evaluate(&*self.kernel, values)?;
            let values = MatRef::from_column_major_slice(values, side(one), side(other));
            let add = |to: usize, coefs: MatRef<'_, f64>, values: MatRef<'_, f64>| {
                let mut out = strip(to);
                let out = MatMut::from_column_major_slice_mut(&mut out, count, side(to));
                faer::linalg::matmul::matmul(out, Accum::Add, coefs, values, 1.0, Par::Seq);
            };
            add(other, coefs_of(one), values);
            if one != other {
                add(one, coefs_of(other), values.transpose());
            }
            Ok::<(), KernelError>(())
        };
        for pairs in rounds(strips.len()) {
            parallel::try_map(0..pairs.len().div_ceil(TOGETHER), |turn| {
                let mut room = vec![0.0; SIDE * SIDE];
                let pairs = pairs.iter().skip(turn * TOGETHER).take(TOGETHER);
                pairs.into_iter().try_for_each(|&pair| meet(pair, &mut room))
            })?;
        }
        drop(strips);
        Ok(out)
    }

    /// Returns `count` products per row of the samples `rows`, which are no numbers after a fault.
    fn or_no_number(
        &self,
        products: Result<DMatrix<f64>, KernelError>,
        rows: &[usize],
        columns: &[usize],
        count: usize,
    ) -> DMatrix<f64> {
        products.unwrap_or_else(|error| {
            self.note(Err(error), rows, columns);
            DMatrix::from_element(count, rows.len(), f64::NAN)
        })
    }

    /// Keeps in mind the first fault; the products that it is in are no numbers.
    fn note(&self, outcome: Result<(), KernelError>, rows: &[usize], columns: &[usize]) {
        let _ = match outcome {
            Err(KernelError::KernelValue { one, other, value, .. }) => {
                self.fault.set(Fault::Value { one: rows[one], other: columns[other], value })
            }
            Err(KernelError::Refused { one, other, reason, .. }) => {
                self.fault.set(Fault::Refused { one: rows[one], other: columns[other], reason })
            }
            Err(KernelError::Interrupted) => self.fault.set(Fault::Interrupted),
            _ => Ok(()),
        };
    }

    /// Refuses what was computed if some kernel value was not finite or the work was interrupted.
    pub(super) fn check(&self) -> Result<(), Error> {
        let Some(fault) = self.fault.get() else { return Ok(()) };
        let kernel = self.kernel.specification();
        Err(match fault.clone() {
            Fault::Interrupted => KernelError::Interrupted,
            Fault::Value { one, other, value } => {
                KernelError::KernelValue { kernel, one, other, value }
            }
            Fault::Refused { one, other, reason } => {
                KernelError::Refused { kernel, one, other, reason }
            }
        }
        .into())
    }
}

/// Returns rounds of pairs of `count` things such that every pair is in one round, every thing at
/// most once in a round, and everything with itself in the first round.
fn rounds(count: usize) -> Vec<Vec<(usize, usize)>> {
    let even = count.next_multiple_of(2);
    let mut rounds = vec![(0..count).map(|k| (k, k)).collect()];
    for round in 0..even.saturating_sub(1) {
        // One place stays, the others move on around it.
        let at = |k: usize| if k == 0 { 0 } else { 1 + (k - 1 + round) % (even - 1) };
        let pairs = (0..even / 2).map(|k| (at(k), at(even - 1 - k)));
        rounds.push(pairs.filter(|&(one, other)| one < count && other < count).collect());
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_meets_once_and_nobody_twice_in_a_round() {
        for count in 0..9 {
            let mut met = vec![0; count * count];
            for round in rounds(count) {
                let mut busy = vec![false; count];
                for (one, other) in round {
                    assert!(!busy[one] && !busy[other]);
                    (busy[one], busy[other]) = (true, true);
                    met[one.min(other) * count + one.max(other)] += 1;
                }
            }
            for one in 0..count {
                assert!((one..count).all(|other| met[one * count + other] == 1), "{count}");
            }
        }
    }
}
