//! Copies of Python arrays, which Ctrl-C interrupts.

use numpy::ndarray::Axis;
use numpy::{Element, PyReadonlyArray1};
use pyo3::prelude::*;

/// The number of values that are copied between two looks for signals.
const BETWEEN_LOOKS: usize = 1 << 20;

/// Returns the values of an array, and looks for signals on the way.
pub(crate) fn copied<T: Element + Copy + Sync, U: Send>(
    py: Python<'_>,
    array: &PyReadonlyArray1<'_, T>,
    convert: impl Fn(T) -> U + Sync,
) -> PyResult<Vec<U>> {
    let array = array.as_array();
    let mut values = Vec::with_capacity(array.len());
    for some in array.axis_chunks_iter(Axis(0), BETWEEN_LOOKS) {
        py.detach(|| values.extend(some.iter().map(|&x| convert(x))));
        py.check_signals()?;
    }
    Ok(values)
}
