//! Kernel matrices and data for tests.

use margins_data::{Dataset, Design, Labels};
use margins_kernels::Gram;
use margins_test_support::kernel;

pub(crate) fn gram(specification: &str, design: &Design) -> Gram {
    Gram::new(&*kernel(specification), design).expect("finite values")
}

/// Sixty samples of two classes that no line separates, some on the wrong side.
pub(crate) fn circles() -> Dataset {
    let rows: Vec<[f64; 2]> = (0..60)
        .map(|i| {
            let t = f64::from(i);
            let radius = if i % 2 == 0 { 1.0 } else { 2.0 } + 0.6 * (t * 1.9).sin();
            [radius * (t * 0.7).cos(), radius * (t * 0.7).sin()]
        })
        .collect();
    let signs = (0..60).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    Dataset::new(Design::from_rows(&rows).unwrap(), Labels::from_signs(signs).unwrap()).unwrap()
}
