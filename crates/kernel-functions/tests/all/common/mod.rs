//! Matrices of kernel values for tests.

use margins_data::Design;
use margins_kernel_functions::{Block, Error, Kernel, Points};
use nalgebra::DMatrix;

/// Returns the values of all pairs of samples, from one block.
pub(crate) fn matrix(kernel: &dyn Kernel, design: &Design) -> Result<DMatrix<f64>, Error> {
    let points = Points::new(design);
    let n = points.len();
    let mut out = DMatrix::zeros(n, n);
    Block::new(&points, 0..n, 0..n).evaluate(kernel, out.as_mut_slice())?;
    Ok(out)
}
