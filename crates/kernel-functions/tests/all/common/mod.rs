//! Kernels, designs and matrices of kernel values for tests.

use margins_data::Design;
use margins_kernel_functions::{Block, Error, Kernel, KernelRegistry, Points};
use nalgebra::DMatrix;
use nalgebra_sparse::CsrMatrix;

pub(crate) fn kernel(specification: &str) -> Box<dyn Kernel> {
    KernelRegistry::standard().parse(specification).expect("a kernel of the registry")
}

pub(crate) fn dense(rows: &[Vec<f64>]) -> Design {
    Design::from_rows(rows).unwrap()
}

pub(crate) fn sparse(rows: &[Vec<f64>]) -> Design {
    let matrix =
        DMatrix::from_row_iterator(rows.len(), rows[0].len(), rows.iter().flatten().copied());
    Design::sparse(CsrMatrix::from(&matrix)).unwrap()
}

/// Returns the values of all pairs of samples, from one block.
pub(crate) fn matrix(kernel: &dyn Kernel, design: &Design) -> Result<DMatrix<f64>, Error> {
    let points = Points::new(design);
    let n = points.len();
    let mut out = DMatrix::zeros(n, n);
    Block::new(&points, 0..n, 0..n).evaluate(kernel, out.as_mut_slice())?;
    Ok(out)
}

pub(crate) fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}
