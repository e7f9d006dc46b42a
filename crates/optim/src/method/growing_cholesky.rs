//! A Cholesky factor that rows and columns are added to and removed from.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::traits::RealField;
use faer::{Accum, Mat, MatMut, Par};

/// The Cholesky factor of a symmetric matrix to which rows and columns are added, b of them at the
/// cost of b substitutions, and of which they are removed, each at the cost of one; neither takes a
/// new factorisation.
#[derive(Debug, Clone)]
pub struct GrowingCholesky<T: RealField> {
    /// The factor in the upper left corner of room for more.
    entries: Mat<T>,
    order: usize,
}

impl<T: RealField + Copy> GrowingCholesky<T> {
    /// Returns a factor of order 0, with room for `capacity`.
    pub fn new(capacity: usize) -> Self {
        GrowingCholesky { entries: Mat::zeros(capacity, capacity), order: 0 }
    }

    /// Returns the number of rows.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Returns the number of rows that there is room for.
    pub fn capacity(&self) -> usize {
        self.entries.nrows()
    }

    /// Brings the factor back to order 0.
    pub fn clear(&mut self) {
        self.order = 0;
    }

    /// Adds `count` rows whose entries are those of the symmetric `entry(i, j)`, read with i
    /// running fastest. False, and nothing changes, if the matrix is not numerically positive
    /// definite.
    ///
    /// # Panics
    /// If there is no room for the rows.
    pub fn extend(&mut self, count: usize, entry: impl Fn(usize, usize) -> T) -> bool {
        let (old, new) = (self.order, self.order + count);
        let (factor, below) = self.entries.as_mut().split_at_row_mut(old);
        let factor = factor.subcols(0, old);
        let (mut cross, corner) = below.subrows_mut(0, count).split_at_col_mut(old);
        let mut corner = corner.subcols_mut(0, count);
        // The rows of the factor beside the old ones: L X' = K'.
        let mut sides = Mat::from_fn(old, count, |j, k| entry(j, old + k));
        solve_lower_triangular_in_place(factor.as_ref(), sides.as_mut(), Par::Seq);
        for j in 0..count {
            for i in j..count {
                corner[(i, j)] = entry(old + i, old + j);
            }
        }
        triangular::matmul(
            corner.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Add,
            sides.transpose(),
            BlockStructure::Rectangular,
            sides.as_ref(),
            BlockStructure::Rectangular,
            -T::one_impl(),
            Par::Seq,
        );
        let mut memory = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<T>(
            count,
            Par::Seq,
            Default::default(),
        ));
        let factored = llt::factor::cholesky_in_place(
            corner,
            Default::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        if factored.is_err() {
            return false;
        }
        for j in 0..old {
            for k in 0..count {
                cross[(k, j)] = sides[(j, k)];
            }
        }
        self.order = new;
        true
    }

    /// Solves in place, for right-hand sides one after the other.
    ///
    /// # Panics
    /// If the length is no multiple of the order.
    pub fn solve(&self, right: &mut [T]) {
        let m = self.order;
        let factor = self.entries.as_ref().submatrix(0, 0, m, m);
        let count = right.len().checked_div(m).unwrap_or(0);
        let mut right = MatMut::from_column_major_slice_mut(right, m, count);
        solve_lower_triangular_in_place(factor, right.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(factor.transpose(), right, Par::Seq);
    }
}

impl GrowingCholesky<f64> {
    /// Removes row and column `at` of the matrix.
    ///
    /// Without its row `at` the factor has entries right of its diagonal in the rows below, one in
    /// each. A rotation of two neighbouring columns takes each of them away, which changes no
    /// product of the factor with its transpose (Golub and Van Loan, *Matrix Computations*, section
    /// 6.5).
    ///
    /// # Panics
    /// If there is no such row.
    pub fn remove(&mut self, at: usize) {
        let order = self.order;
        for j in 0..order {
            let from = at.max(j.saturating_sub(1));
            let column = self.entries.col_as_slice_mut(j);
            if at < order {
                column.copy_within(from + 1..order, from);
            }
        }
        self.order = order - 1;
        for k in at..self.order {
            let (left, right) = self.entries.two_cols_mut(k, k + 1);
            let left = &mut left
                .try_as_col_major_mut()
                .expect("the rows of one column lie together")
                .as_slice_mut()[k..];
            let right = &mut right
                .try_as_col_major_mut()
                .expect("the rows of one column lie together")
                .as_slice_mut()[k..];
            let length = left[0].hypot(right[0]);
            let (cos, sin) = (left[0] / length, right[0] / length);
            for (l, r) in left.iter_mut().zip(right).take(order - 1 - k) {
                (*l, *r) = (cos * *l + sin * *r, cos * *r - sin * *l);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::GrowingCholesky;

    #[test]
    fn with_rows_removed_it_solves_like_the_rest() {
        let entry = |i: usize, j: usize| {
            let distance = i.abs_diff(j) as f64;
            (-0.3 * distance).exp() + if i == j { 0.1 } else { 0.0 }
        };
        let mut kept: Vec<usize> = (0..31).collect();
        let mut factor = GrowingCholesky::new(31);
        assert!(factor.extend(31, entry));
        for at in [30, 0, 12, 12, 26, 1] {
            kept.remove(at);
            factor.remove(at);
            let right: Vec<f64> = kept.iter().map(|&i| (i as f64).sin()).collect();
            let mut solution = right.clone();
            factor.solve(&mut solution);
            for (&i, value) in kept.iter().zip(&right) {
                let image: f64 = kept.iter().zip(&solution).map(|(&j, s)| entry(i, j) * s).sum();
                assert!((image - value).abs() < 1e-12, "row {i} after {at}: {image} {value}");
            }
        }
    }

    #[test]
    fn grown_in_parts_it_solves_like_the_whole() {
        let n = 37;
        let entry = |i: usize, j: usize| {
            let distance = i.abs_diff(j) as f64;
            (-0.3 * distance).exp() + if i == j { 0.1 } else { 0.0 }
        };
        let right: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        for parts in [vec![37], vec![1, 36], vec![20, 5, 0, 12]] {
            let mut factor = GrowingCholesky::new(n);
            for part in parts {
                assert!(factor.extend(part, entry));
            }
            let mut solution = right.clone();
            factor.solve(&mut solution);
            for (i, right) in right.iter().enumerate() {
                let product: f64 = (0..n).map(|j| entry(i, j) * solution[j]).sum();
                assert!((product - right).abs() < 1e-12);
            }
        }
        let mut factor = GrowingCholesky::<f32>::new(3);
        assert!(factor.extend(1, |_, _| 1.0));
        assert!(!factor.extend(1, |_, _| 1.0), "singular");
        assert_eq!(factor.order, 1);
    }
}
