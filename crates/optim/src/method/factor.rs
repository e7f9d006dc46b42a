//! Cholesky factors in place.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::prelude::ReborrowMut;
use faer::{MatMut, MatRef, Par};
use nalgebra::DMatrix;

/// Solves an equation in place, given the Cholesky factor of its matrix.
pub(super) fn solve_factored(factor: &DMatrix<f64>, right: &mut [f64]) {
    let q = right.len();
    let factor = MatRef::from_column_major_slice(factor.as_slice(), q, q);
    let mut column = MatMut::from_column_major_slice_mut(right, q, 1);
    solve_lower_triangular_in_place(factor, column.rb_mut(), Par::Seq);
    solve_upper_triangular_in_place(factor.transpose(), column, Par::Seq);
}

/// Replaces the lower half of a matrix by its Cholesky factor; returns false if it has none.
pub(super) fn cholesky(matrix: &mut DMatrix<f64>) -> bool {
    let order = matrix.nrows();
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>;
    let mut memory = MemBuffer::new(scratch(order, Par::Seq, Default::default()));
    let factored = llt::factor::cholesky_in_place(
        MatMut::from_column_major_slice_mut(matrix.as_mut_slice(), order, order),
        Default::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    factored.is_ok()
}
